// The timeline page: puts model, canvases, headers, toolbar and panel together and keeps the address in step.
import { effect, untracked } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { t } from "../i18n";
import type { PageProps } from "../pages/registry";
import { addCommands } from "../state/commands";
import { laneQueries } from "../state/query_lanes";
import { noteState, route } from "../state/router";
import { scope } from "../state/session";
import { type TrackTree, trackTree } from "../state/tracks";
import { Loading } from "../widgets/states";
import { useAlignment } from "./aligning";
import { kAxisHeight } from "./axis";
import { TimelineCanvas } from "./canvas";
import { ColorLegend } from "./color_legend";
import { applyViewFile } from "./exporting";
import { FlowArrows } from "./flow_arrows";
import { includeNewRanks } from "./lane_actions";
import { LaneStats } from "./lane_stats";
import { LaneHeaders, LaneScrollbar } from "./headers";
import { TimelineInput } from "./input";
import { timelineCommands } from "./keys";
import { applyLink, kLinkKeys, linkState, longState, shortState } from "./links";
import { kMinimapHeight, MinimapView } from "./minimap";
import { TimelineModel } from "./model";
import { BottomPanel } from "./panel";
import { TimelineSearch } from "./searching";
import { selectSlice } from "./selecting";
import { Toolbar } from "./toolbar";
import { Tooltip } from "./tooltip";
import { viewAround } from "./view";

const kStored = { names: "steplens.lane_names", panel: "steplens.panel" };

function stored(key: string, otherwise: number): number {
  const value = Number(localStorage.getItem(key));
  return value > 0 ? value : otherwise;
}

/** The part of an address that is about the timeline. */
function ownPart(params: ReadonlyMap<string, string>): string {
  return [...kLinkKeys, "lane", "align"].map((key) => params.get(key) ?? "").join("\n");
}

/** Keeps the address in step with what the user sees, and what the user sees with links that are followed. Returns the end of it. */
function followAddress(model: TimelineModel, search: TimelineSearch): () => void {
  let noted = ownPart(route.value.params);
  let timer = 0;
  /** Links followed so far, and whether the last one is not applied yet: its state may have to come from the server. */
  let links = 0;
  let isFollowing = false;
  const note = async () => {
    const before = links;
    const state = await shortState(model, linkState(model, search));
    // Keeping a long state takes a request: what it says may be old by now. What is newer will be noted.
    if (isFollowing || before !== links || timer !== 0) return;
    const next = new Map(Object.entries(state));
    if (model.ds.align !== 0) next.set("align", String(model.ds.align));
    noted = ownPart(next);
    const gone = Object.fromEntries([...kLinkKeys, "lane"].map((key) => [key, null]));
    const kept = Object.fromEntries(Object.entries(state).map(([key, value]) => [key, value === "" ? null : value]));
    if (route.value.page === "timeline" || route.value.page === "") noteState({ ...gone, ...kept });
    model.addressIsNoted = timer === 0;
  };
  const noteSoon = () => {
    clearTimeout(timer);
    model.addressIsNoted = false;
    timer = setTimeout(() => {
      timer = 0;
      void note();
    }, 250) as unknown as number;
  };
  const stopNoting = effect(() => {
    void [
      model.viewVersion.value,
      model.selected.value,
      model.area.value,
      model.areaB.value,
      model.flowCats.value,
      model.coloring.value,
      model.shading.rules.value,
      model.stripMetric.value,
      search.hide.value,
      model.lanes.value,
      laneQueries.value,
      model.tab.value,
      search.text.value,
      model.laneFilterText.value,
    ];
    noteSoon();
  });
  // A link followed by hand or a jump from another page changes the address under us.
  const stopReading = effect(() => {
    const { page, params } = route.value;
    const part = ownPart(params);
    if (page !== "timeline" || part === noted) return;
    noted = part;
    const mine = ++links;
    isFollowing = true;
    untracked(() => {
      useAlignment(model, Number(params.get("align") ?? 0) || 0);
      void longState(model, params).then((state) => {
        if (mine !== links) return;
        isFollowing = false;
        applyLink(model, search, state);
        noteSoon();
      });
    });
  });
  return () => {
    clearTimeout(timer);
    stopNoting();
    stopReading();
  };
}

function Timeline({ ds, meta, tree }: PageProps & { tree: TrackTree }) {
  const model = useMemo(() => new TimelineModel(ds, meta, tree), []);
  const search = useMemo(() => new TimelineSearch(model), []);
  const canvas = useRef<TimelineCanvas | null>(null);
  const stats = useRef<LaneStats | null>(null);
  const axisRef = useRef<HTMLCanvasElement>(null);
  const baseRef = useRef<HTMLCanvasElement>(null);
  const overlayRef = useRef<HTMLDivElement>(null);
  const minimapRef = useRef<HTMLDivElement>(null);
  const searchBox = useRef<HTMLInputElement>(null);
  const filterBox = useRef<HTMLInputElement>(null);
  const [names, setNames] = useState(stored(kStored.names, 260));
  const [panel, setPanel] = useState(stored(kStored.panel, 236));

  useEffect(() => {
    if (meta === model.meta && tree === model.tree) return;
    const ranks = model.tree.roots.length;
    model.setData(meta, tree);
    if (tree.roots.length !== ranks) void includeNewRanks(model);
  }, [meta, tree]);
  const { ranks, step } = scope.value;
  const shownStep = useRef(step);
  useEffect(() => {
    const span = model.steps.find((each) => each.step === step);
    // Only a choice moves the view; the step of a link does not, the link has its own view.
    if (span && shownStep.current !== step) model.setView(viewAround(span.begin, span.end, 0.05));
    shownStep.current = step;
  }, [step]);
  useEffect(() => model.changeLanes({ ranks: ranks && new Set(ranks) }), [ranks?.join()]);

  useEffect(() => {
    const [axis, base, overlay, mapBox] = [axisRef.current, baseRef.current, overlayRef.current, minimapRef.current];
    if (!axis || !base || !overlay || !mapBox) return;
    const minimap = new MinimapView(mapBox, model, search);
    const flows = new FlowArrows(model);
    const lanes = (stats.current = new LaneStats(model));
    const onFrame = () => {
      flows.follow();
      lanes.follow();
      input?.refresh();
    };
    let input: TimelineInput | null = null;
    const view = new TimelineCanvas(
      model,
      { axis, base, overlay, minimap },
      (end) => void selectSlice(model, end.track, end.i, true),
      onFrame,
    );
    // The performance test reads frame times here.
    Object.assign(overlay, { timeline: view });
    canvas.current = view;
    input = new TimelineInput(model, view, search);
    const keys = {
      model,
      search,
      focusSearch: () => searchBox.current?.select(),
      focusFilter: () => filterBox.current?.select(),
    };
    // The set of keys can be changed while the page is shown.
    const removeKeys = effect(() => {
      const list = timelineCommands(keys);
      return untracked(() => addCommands(list));
    });
    ds.topStrings(5000).then(
      (reply) => (model.names.add(reply.strings), model.invalidate()),
      () => undefined,
    );
    // Offsets of a link hold for every run of the server, the number of an alignment only for this one.
    ds.align = route.value.params.has("offsets") ? 0 : Number(route.value.params.get("align") ?? 0) || 0;
    let closed = false;
    let stopAddress = () => undefined as void;
    void longState(model, route.value.params).then((state) => {
      if (closed) return undefined;
      return applyLink(model, search, state).then(() => {
        if (!closed) stopAddress = followAddress(model, search);
      });
    });
    return () => {
      closed = true;
      stopAddress();
      removeKeys();
      input?.close();
      lanes.close();
      view.close();
      minimap.close();
    };
  }, []);

  const showView = (state: ReadonlyMap<string, string>) => void applyLink(model, search, state);
  const dropViewFile = (event: DragEvent) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    void applyViewFile(model, file, showView);
  };
  const resizeNames = (event: PointerEvent) => {
    const grip = event.currentTarget as HTMLElement;
    const from = event.clientX;
    grip.setPointerCapture(event.pointerId);
    grip.onpointermove = (move) => {
      const width = Math.max(120, Math.min(600, names + move.clientX - from));
      setNames(width);
      localStorage.setItem(kStored.names, String(width));
    };
    grip.onpointerup = () => (grip.onpointermove = null);
  };
  const resizePanel = (height: number) => {
    setPanel(height);
    localStorage.setItem(kStored.panel, String(height));
  };
  return (
    <div class="timeline" onDragOver={(event) => event.preventDefault()} onDrop={dropViewFile}>
      <Toolbar
        model={model}
        search={search}
        canvas={() => canvas.current}
        laneStats={() => stats.current}
        searchBox={searchBox}
        filterBox={filterBox}
        onView={showView}
      />
      <div class="tl-main" style={{ gridTemplateColumns: `${names}px minmax(0, 1fr)` }}>
        <div class="tl-corner">
          <span class="muted">
            {t("tl.lanes_shown", { n: model.layoutVersion.value >= 0 ? model.layout.lanes.length : 0 })}
          </span>
        </div>
        <div class="tl-top">
          <div
            ref={minimapRef}
            class="minimap"
            style={{ height: `${kMinimapHeight}px` }}
            role="img"
            aria-label={t("tl.minimap")}
          />
          <canvas ref={axisRef} class="tl-axis" style={{ height: `${kAxisHeight}px` }} aria-hidden="true" />
        </div>
        <LaneHeaders model={model} search={search} />
        <div class="tl-lanes">
          <canvas ref={baseRef} class="tl-base" aria-hidden="true" />
          <div ref={overlayRef} class="tl-overlay" tabIndex={0} role="application" aria-label={t("tl.canvas")} />
          <ColorLegend model={model} />
          <Tooltip model={model} />
          <LaneScrollbar model={model} />
        </div>
        <div
          class="tl-names-grip"
          style={{ left: `${names - 3}px` }}
          role="separator"
          aria-orientation="vertical"
          onPointerDown={resizeNames}
        />
      </div>
      <BottomPanel model={model} search={search} height={panel} onHeight={resizePanel} />
      <div class="visually-hidden" role="status" aria-live="polite">
        {model.spoken.value}
      </div>
    </div>
  );
}

export default function TimelinePage(props: PageProps) {
  const tree = trackTree.value;
  if (!tree || tree.all.length === 0) return <Loading text={props.meta.ready && tree ? t("tl.empty") : t("loading")} />;
  return <Timeline key={props.meta.generation} {...props} tree={tree} />;
}
