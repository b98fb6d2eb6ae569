// The panel below the lanes: one tab a question.
import type { ComponentChildren } from "preact";
import { t } from "../i18n";
import { kTabs, type Tab, type TimelineModel } from "./model";
import { AreaPanel } from "./panels/area";
import { CallsPanel } from "./panels/calls";
import { EventsPanel } from "./panels/events";
import { ExplainPanel } from "./panels/explain";
import { FlamePanel } from "./panels/flame";
import { HistogramPanel } from "./panels/histogram";
import { SearchPanel } from "./panels/search";
import { SelectionPanel } from "./panels/selection";
import { StatsPanel } from "./panels/stats";
import type { TimelineSearch } from "./searching";

interface Props {
  model: TimelineModel;
  search: TimelineSearch;
  height: number;
  onHeight(height: number): void;
}

function content(tab: Tab, model: TimelineModel, search: TimelineSearch): ComponentChildren {
  switch (tab) {
    case "selection":
      return <SelectionPanel model={model} search={search} />;
    case "area":
      return <AreaPanel model={model} search={search} />;
    case "calls":
      return <CallsPanel model={model} search={search} />;
    case "flame":
      return <FlamePanel model={model} search={search} />;
    case "histogram":
      return <HistogramPanel model={model} search={search} />;
    case "events":
      return <EventsPanel model={model} />;
    case "search":
      return <SearchPanel model={model} search={search} />;
    case "stats":
      return <StatsPanel model={model} />;
    case "explain":
      return <ExplainPanel model={model} />;
  }
}

export function BottomPanel({ model, search, height, onHeight }: Props) {
  const open = model.panelOpen.value;
  const drag = (event: PointerEvent) => {
    const grip = event.currentTarget as HTMLElement;
    const from = event.clientY;
    grip.setPointerCapture(event.pointerId);
    grip.onpointermove = (move) => onHeight(Math.max(80, Math.min(innerHeight - 240, height + from - move.clientY)));
    grip.onpointerup = () => (grip.onpointermove = null);
  };
  return (
    <section class="tl-panel" style={{ height: open ? `${height}px` : "auto" }} aria-label={t("tl.panel")}>
      {open && <div class="tl-grip" role="separator" aria-orientation="horizontal" onPointerDown={drag} />}
      <div class="tl-tabs">
        <div role="tablist" aria-label={t("tl.panel")}>
          {kTabs.map((tab) => (
            <button
              key={tab}
              role="tab"
              aria-selected={open && model.tab.value === tab}
              class={open && model.tab.value === tab ? "on" : ""}
              onClick={() => model.showTab(tab)}
            >
              {t(`tl.tab.${tab}`)}
            </button>
          ))}
        </div>
        <span class="grow" />
        <button
          class="icon"
          aria-label={t("tl.cmd.panel")}
          title={`${t("tl.cmd.panel")} (Q)`}
          onClick={() => model.togglePanel()}
        >
          {open ? "▾" : "▴"}
        </button>
      </div>
      {open && (
        <div class="tl-tab" role="tabpanel">
          {content(model.tab.value, model, search)}
        </div>
      )}
    </section>
  );
}
