// The line above the lanes: views, search, lane filter, and menus.
import type { RefObject } from "preact";
import { formatInt } from "../format";
import { t } from "../i18n";
import { Icon } from "../shell/icons";
import { showAll } from "./lane_actions";
import { fit, redo, undo, zoom } from "./moving";
import type { TimelineModel } from "./model";
import type { TimelineSearch } from "./searching";
import { alignMenu, colorMenu, flowMenu, markerMenu, type MoreMenu, moreMenu, ranksMenu, searchMenu } from "./toolbar_menus";

export interface ToolbarProps extends MoreMenu {
  search: TimelineSearch;
  searchBox: RefObject<HTMLInputElement | null>;
  filterBox: RefObject<HTMLInputElement | null>;
}

function SearchBox({ model, search, searchBox }: ToolbarProps) {
  const reply = search.reply.value;
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") void search.go(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      search.clear();
      searchBox.current?.blur();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const count = !reply
    ? ""
    : search.at.value >= 0
      ? `${search.at.value + 1}/${formatInt(reply.count)}`
      : formatInt(reply.count);
  return (
    <div class="tl-search">
      <input
        ref={searchBox}
        type="search"
        value={search.text.value}
        placeholder={t("tl.search.hint")}
        aria-label={t("tl.search.hint")}
        onInput={(e) => search.type(e.currentTarget.value)}
        onKeyDown={onKey}
      />
      {search.text.value !== "" && (
        <span class="tl-count" aria-live="polite">
          {search.busy.value ? "…" : count}
          {search.place.value !== "" && model.tree.roots.length > 1 && (
            <span class="tl-place" title={search.place.value}>{` · ${search.place.value.split(" / ")[0]}`}</span>
          )}
        </span>
      )}
      <button
        class="icon"
        aria-label={t("tl.cmd.search_previous")}
        title={`${t("tl.cmd.search_previous")} (Shift+Enter)`}
        onClick={() => void search.go(-1)}
      >
        <Icon name="prev" />
      </button>
      <button
        class="icon"
        aria-label={t("tl.cmd.search_next")}
        title={`${t("tl.cmd.search_next")} (Enter)`}
        onClick={() => void search.go(1)}
      >
        <Icon name="next" />
      </button>
      <button
        class="icon"
        aria-label={t("tl.search.options")}
        onClick={(e) => searchMenu(e.currentTarget, model, search)}
      >
        ▾
      </button>
    </div>
  );
}

/** How far one is zoomed in: left is everything, right the closest there is. It follows the length of time on screen, not every move. */
function ZoomSlider({ model }: { model: TimelineModel }) {
  void model.spanText.value;
  const [most, least] = [Math.max(2, model.meta.extent[1] - model.meta.extent[0]), Math.max(1, model.width / 20)];
  const depth = Math.max(1e-9, Math.log(most / least));
  const now = Math.log(most / (model.view.t1 - model.view.t0)) / depth;
  const change = (share: number) => {
    const span = most / Math.exp(share * depth);
    zoom(model, span / (model.view.t1 - model.view.t0));
  };
  return (
    <input
      class="tl-zoom"
      type="range"
      min={0}
      max={1000}
      value={Math.round(Math.max(0, Math.min(1, now)) * 1000)}
      aria-label={t("tl.zoom")}
      title={t("tl.zoom")}
      onInput={(event) => change(Number(event.currentTarget.value) / 1000)}
    />
  );
}

export function Toolbar(props: ToolbarProps) {
  const { model, filterBox } = props;
  // Not the view itself: this bar must not be made anew with every frame.
  void model.lanes.value;
  const [back, forward] = model.historyDepth.value;
  return (
    <div class="tl-toolbar" role="toolbar" aria-label={t("tl.toolbar")}>
      <button
        class="icon"
        aria-label={t("tl.cmd.undo")}
        title={`${t("tl.cmd.undo")} (Backspace)`}
        disabled={back === 0}
        onClick={() => undo(model)}
      >
        <Icon name="undo" />
      </button>
      <button
        class="icon"
        aria-label={t("tl.cmd.redo")}
        title={`${t("tl.cmd.redo")} (Shift+Backspace)`}
        disabled={forward === 0}
        onClick={() => redo(model)}
      >
        <Icon name="redo" />
      </button>
      <button
        class="icon"
        aria-label={t("tl.cmd.fit")}
        title={`${t("tl.cmd.fit")} (Ctrl+0)`}
        onClick={() => fit(model)}
      >
        <Icon name="fit" />
      </button>
      <button
        class="icon"
        aria-label={t("tl.cmd.zoom_out")}
        title={`${t("tl.cmd.zoom_out")} (S)`}
        onClick={() => zoom(model, 2)}
      >
        −
      </button>
      <ZoomSlider model={model} />
      <button
        class="icon"
        aria-label={t("tl.cmd.zoom_in")}
        title={`${t("tl.cmd.zoom_in")} (W)`}
        onClick={() => zoom(model, 0.5)}
      >
        +
      </button>
      <span class="tl-span" title={t("tl.span")}>
        {model.spanText}
      </span>
      <SearchBox {...props} />
      <input
        ref={filterBox}
        class="tl-filter"
        type="search"
        value={model.laneFilterText.value}
        placeholder={t("tl.filter.hint")}
        aria-label={t("tl.filter.hint")}
        onInput={(e) => model.setLaneFilter(e.currentTarget.value)}
      />
      {model.lanes.value.solo && (
        <button class="chip" onClick={() => showAll(model)}>{`${t("tl.menu.solo")} ×`}</button>
      )}
      {model.layout.hiddenCount > 0 && (
        <button
          class="chip"
          onClick={() => showAll(model)}
        >{`${t("tl.hidden", { n: model.layout.hiddenCount })} ×`}</button>
      )}
      <span class="grow" />
      <button
        onClick={(e) => void flowMenu(e.currentTarget, model)}
        class={model.flowCats.value.length > 0 ? "toggle on" : ""}
      >{`${t("tl.flows")} ▾`}</button>
      <button
        onClick={(e) => colorMenu(e.currentTarget, model)}
        class={model.coloring.value === "family" ? "" : "toggle on"}
      >{`${t("tl.color")} ▾`}</button>
      {model.tree.roots.length > 1 && (
        <button onClick={(e) => ranksMenu(e.currentTarget, model)}>{`${t("tl.ranks")} ▾`}</button>
      )}
      {model.tree.roots.length > 1 && (
        <button onClick={(e) => alignMenu(e.currentTarget, model)}>{`${t("tl.align")} ▾`}</button>
      )}
      <button onClick={(e) => markerMenu(e.currentTarget, model)}>{`${t("tl.markers")} ▾`}</button>
      <button class="icon" aria-label={t("tl.more")} onClick={(e) => moreMenu(e.currentTarget, props)}>
        <Icon name="more" />
      </button>
    </div>
  );
}
