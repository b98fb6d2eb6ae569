// The state of the timeline and the rules that keep it consistent. Drawing and DOM are elsewhere; the other modules of this folder act on it.
import { signal } from "@preact/signals";
import type { Dataset } from "../api";
import type { DatasetMeta, FlowsReply, RangeReply, SliceDetail, SliceRef, StepSpan } from "../api_types";
import { formatDuration } from "../format";
import { displayName, LaneFlag, type Track, TrackTree } from "../state/tracks";
import { toast } from "../widgets/toast";
import { type Family, trackFamily } from "./colors";
import { laneFilter } from "./filter";
import type { FilterColor } from "./filter_colors";
import type { RunHit } from "./hit";
import { computeLayout, kPlainLanes, type LaneState, type Layout } from "./layout";
import { levelFor } from "./lod";
import { Markers, markersKey } from "./markers";
import { NameTable } from "./names";
import type { Scale } from "./raster";
import { type Coloring, Shading } from "./shading";
import { TileCache } from "./tile_cache";
import { TileLoader } from "./tile_loader";
import { clampView, History, homeView, sameView, type View } from "./view";

/** A range of time on some lanes. */
export interface Area {
  t0: number;
  t1: number;
  tracks: number[];
  /** Rows [first, last] of the one lane, in select-by-depth mode. */
  rows?: [number, number];
}

/** An arrow of the selection's chain. */
export interface Arrow {
  kind: string;
  from: SliceRef;
  to: SliceRef;
}

/** What a lane does in the time on screen. */
export interface LaneStat {
  count: number;
  busy_ns: number;
  /** Of a stream: only waits for events ran. */
  wait_ns: number;
}

export type Tab = "selection" | "area" | "calls" | "flame" | "histogram" | "events" | "search" | "stats" | "explain";

export const kTabs: Tab[] = ["selection", "area", "calls", "flame", "histogram", "events", "search", "stats", "explain"];

export interface Hover {
  x: number;
  y: number;
  t: number;
  track: Track;
  row: number;
  run: RunHit | null;
  /** Value of a counter, coverage of a summary. */
  value: number | null;
}

/** What going back brings back: the time on screen and how lanes are arranged. */
export interface Place {
  view: View;
  lanes: LaneState;
  filter: string;
}

/** The lane that says how much memory a rank holds: what is allocated, of all components if there is a sum. */
function memoryLane(rank: Track): Track | undefined {
  if (rank.kind !== "rank") return undefined;
  const lanes = rank.children.flatMap((group) => group.children).filter((lane) => (lane.flags & LaneFlag.memory) !== 0);
  return [/\bPTA\+GE\b.*allocated/i, /allocated/i, /reserved/i].flatMap((wanted) => lanes.filter((lane) => wanted.test(lane.name)))[0];
}

export class TimelineModel {
  readonly cache = new TileCache();
  readonly names: NameTable;
  readonly shading: Shading;
  readonly loader: TileLoader;
  readonly markers: Markers;
  readonly history = new History<Place>();

  view: View;
  scrollY = 0;
  /** Size of the canvas in css px and the pixels per css px. */
  width = 800;
  height = 400;
  ratio = 1;
  /** Whether the address says what is shown; it follows with a delay. */
  addressIsNoted = false;
  layout: Layout = { pinned: [], pinnedHeight: 0, lanes: [], height: 0, hiddenCount: 0, byTrack: new Map() };

  readonly lanes = signal<LaneState>(kPlainLanes);
  readonly laneFilterText = signal("");
  /** Grows when layout or scroll changed: the lane headers follow. */
  readonly layoutVersion = signal(0);
  readonly viewVersion = signal(0);
  /** Views one can go back and forward to. */
  readonly historyDepth = signal<[number, number]>([0, 0]);
  /** The length of time on screen as a text: it stays while one pans. */
  readonly spanText = signal("");
  readonly selected = signal<{ track: number; i: number } | null>(null);
  readonly detail = signal<SliceDetail | null>(null);
  readonly chain = signal<Arrow[]>([]);
  readonly area = signal<Area | null>(null);
  /** The area that the first one is compared with. */
  readonly areaB = signal<Area | null>(null);
  readonly clip = signal(false);
  readonly areaStats = signal<RangeReply | null>(null);
  /** Slices and busy ns of lanes in the time on screen, by track; null while not asked for. */
  readonly laneStats = signal<ReadonlyMap<number, LaneStat> | null>(null);
  readonly hover = signal<Hover | null>(null);
  readonly tab = signal<Tab>("selection");
  /** The panel below the lanes: closed until something is selected. */
  readonly panelOpen = signal(false);
  readonly coloring = signal<Coloring>("family");
  readonly flowCats = signal<string[]>([]);
  readonly flows = signal<FlowsReply | null>(null);
  readonly eventTracks = signal<number[]>([]);
  readonly base = signal<{ track: number; i: number; begin: number; dur: number; rank: number } | null>(null);
  readonly byDepth = signal(false);
  /** What strips of ranks show: a lane of the overlap analysis, "Memory", or "busy" for all lanes together. */
  readonly stripMetric = signal("Computing");
  /** What is full in strips of a counter: the largest value of any rank; 0 = each for itself. */
  stripHigh = 0;
  /** Read aloud by screen readers. */
  readonly spoken = signal("");

  /** Lanes of queries, in the order shown. */
  queryTracks: readonly Track[] = [];

  private redraw: () => void = () => undefined;
  private readonly familyOf = new Map<number, Family>();

  constructor(
    readonly ds: Dataset,
    public meta: DatasetMeta,
    public tree: TrackTree,
  ) {
    this.view = homeView(meta);
    this.spanText.value = formatDuration(this.view.t1 - this.view.t0);
    this.markers = new Markers(markersKey(meta));
    this.names = new NameTable(
      (ids) => ds.strings(ids).then((reply) => reply.strings),
      () => this.invalidate(),
    );
    this.shading = new Shading(
      (rank) => ds.modules(rank).then((reply) => reply.modules),
      () => this.invalidate(),
    );
    let told = false;
    this.loader = new TileLoader(
      this.cache,
      (keys) => ds.tiles(keys, this.shading.mode.peek(), this.shading.filters),
      () => {
        told = false;
        this.invalidate();
      },
      (error) => {
        // One word about it is enough; the retry happens by itself.
        if (!told) toast("error", error instanceof Error ? error.message : String(error));
        told = true;
        setTimeout(() => this.invalidate(), 1600);
      },
    );
    this.relayout();
  }

  /** The canvas says how to get a new frame. */
  onRedraw(redraw: () => void): void {
    this.redraw = redraw;
  }

  invalidate(): void {
    this.redraw();
  }

  setData(meta: DatasetMeta, tree: TrackTree): void {
    const atHome = sameView(this.view, homeView(this.meta));
    this.meta = meta;
    const merged = new Set(this.lanes.peek().merged.values());
    for (const lane of merged) tree.addMerged(lane.id, lane.name, lane.rows, lane.n, lane.parts ?? []);
    this.tree = tree;
    for (const track of [...this.queryTracks].reverse()) tree.addFirst(track);
    this.familyOf.clear();
    this.cache.dropPending();
    if (atHome) this.view = homeView(meta);
    this.relayout();
  }

  /** Colours slices by something else. Tiles have numbers only for what they were asked for. */
  setColoring(coloring: Coloring): void {
    const before = this.shading.mode.peek();
    this.coloring.value = coloring;
    this.names.setMode(coloring === "name" ? "name" : "family");
    this.shading.use(coloring);
    if (this.shading.mode.peek() !== before) this.dropTiles();
    this.invalidate();
  }

  /** Colours slices by rules, the first that holds: filter and colour. */
  setRules(rules: readonly FilterColor[]): void {
    this.shading.setRules(rules);
    this.setColoring("rules");
    this.dropTiles();
    this.invalidate();
  }

  private dropTiles(): void {
    this.cache.clear();
    this.loader.reset();
  }

  /** Shows these lanes of queries instead of those before. */
  showQueryTracks(tracks: readonly Track[]): void {
    for (const track of this.queryTracks) this.tree.remove(track);
    for (const track of [...tracks].reverse()) this.tree.addFirst(track);
    this.queryTracks = tracks;
    this.relayout();
  }

  /** The steps shown on the axis: of the first rank that has some. */
  get steps(): StepSpan[] {
    return this.meta.ranks.find((rank) => rank.steps.length > 0)?.steps ?? [];
  }

  scale(): Scale {
    const width = Math.max(1, Math.round(this.width * this.ratio));
    const nsPerPx = (this.view.t1 - this.view.t0) / width;
    return { t0: this.view.t0, nsPerPx, width, level: levelFor(nsPerPx) };
  }

  /** ns per css px. */
  get nsPerCssPx(): number {
    return (this.view.t1 - this.view.t0) / Math.max(1, this.width);
  }

  timeAt(x: number): number {
    return this.view.t0 + x * this.nsPerCssPx;
  }

  xOf(t: number): number {
    return (t - this.view.t0) / this.nsPerCssPx;
  }

  /** Goes to a view; the one before can be gone back to. */
  setView(view: View, remember = true): void {
    if (remember) this.leave("view");
    this.view = clampView(view, this.meta.extent, this.width * this.ratio);
    this.viewVersion.value++;
    this.spanText.value = formatDuration(this.view.t1 - this.view.t0);
    this.noteDepth();
    this.invalidate();
  }

  private place(): Place {
    return { view: this.view, lanes: this.lanes.peek(), filter: this.laneFilterText.peek() };
  }

  private leave(kind: string): void {
    this.history.leave(this.place(), performance.now(), kind);
  }

  private noteDepth(): void {
    const [back, forward] = this.history.depth;
    const before = this.historyDepth.peek();
    if (back !== before[0] || forward !== before[1]) this.historyDepth.value = [back, forward];
  }

  /** One place back (-1) or forward (1). */
  travel(dir: 1 | -1): void {
    const place = dir < 0 ? this.history.undo(this.place()) : this.history.redo(this.place());
    if (!place) return;
    this.laneFilterText.value = place.filter;
    // What the scope bar and a search ask for is theirs.
    const { ranks, found } = this.lanes.peek();
    this.lanes.value = { ...place.lanes, ranks, found };
    this.relayout();
    this.setView(place.view, false);
  }

  /** Height that the lanes below the pinned ones have. */
  get scrollHeight(): number {
    return Math.max(40, this.height - this.pinnedShown);
  }

  /** Pinned lanes take at most half of the canvas. */
  get pinnedShown(): number {
    return Math.min(this.layout.pinnedHeight, Math.floor(this.height / 2));
  }

  setScroll(y: number): void {
    const most = Math.max(0, this.layout.height - this.scrollHeight + 20);
    const next = Math.max(0, Math.min(Math.round(y), most));
    if (next === this.scrollY) return;
    this.scrollY = next;
    this.layoutVersion.value++;
    this.invalidate();
  }

  resize(width: number, height: number, ratio: number): void {
    this.width = Math.max(50, width);
    this.height = Math.max(50, height);
    this.ratio = ratio;
    this.layoutVersion.value++;
    this.invalidate();
  }

  changeLanes(patch: Partial<LaneState>): void {
    this.lanes.value = { ...this.lanes.value, ...patch };
    this.relayout();
  }

  /** As changeLanes(), as something the user did and may want to take back. */
  arrange(patch: Partial<LaneState>): void {
    // Each is an entry of its own, however fast they follow each other.
    this.leave(`lanes ${performance.now()}`);
    this.noteDepth();
    this.changeLanes(patch);
  }

  setLaneFilter(text: string): void {
    if (text === this.laneFilterText.peek()) return;
    this.leave("filter");
    this.noteDepth();
    this.laneFilterText.value = text;
    const test = laneFilter(text);
    const filter =
      test &&
      ((track: Track) => test({ name: track.name, label: this.fullName(track), path: track.path, rank: track.rank }));
    this.changeLanes({ filter });
  }

  relayout(): void {
    this.layout = computeLayout(this.tree, this.lanes.value);
    const most = Math.max(0, this.layout.height - this.scrollHeight + 20);
    this.scrollY = Math.max(0, Math.min(this.scrollY, most));
    this.layoutVersion.value++;
    this.invalidate();
  }

  family(track: Track): Family {
    let family = this.familyOf.get(track.id);
    if (!family) this.familyOf.set(track.id, (family = trackFamily(track, this.tree.ancestors(track))));
    return family;
  }

  /** The track whose picture stands for a collapsed rank: itself, a lane of its overlap analysis, or its memory. */
  stripTrack(rank: Track): Track {
    if (this.stripMetric.value === "busy") return rank;
    const wanted = this.stripMetric.value;
    if (wanted === "Memory") return memoryLane(rank) ?? rank;
    const overlap = rank.children.find((child) => /overlap/i.test(child.name));
    return overlap?.children.find((child) => child.name === wanted) ?? rank;
  }

  /** Whether the user closed the panel: then a selection leaves it closed. */
  private panelRefused = false;

  showTab(tab: Tab): void {
    this.tab.value = tab;
    this.panelOpen.value = true;
    this.panelRefused = false;
  }

  togglePanel(): void {
    this.panelOpen.value = !this.panelOpen.value;
    this.panelRefused = !this.panelOpen.value;
  }

  /** Something was selected: the panel has something to show. */
  offerPanel(): void {
    if (!this.panelRefused) this.panelOpen.value = true;
  }

  laneName(track: number): string {
    const found = this.tree.byId.get(track);
    return found ? this.fullName(found) : "";
  }

  /** The lane with the groups above it, under the names the user gave. */
  fullName(track: Track): string {
    const { names } = this.lanes.value;
    return [...this.tree.ancestors(track).reverse(), track]
      .map((each) => names.get(each.path) ?? displayName(each))
      .join(" / ");
  }

  /** The name in the lane's header: of a rank its alias, if it has one. */
  shortName(track: Track): string {
    const given = this.lanes.value.names.get(track.path);
    if (given) return given;
    const alias = track.kind === "rank" ? this.meta.ranks.find((rank) => rank.rank === track.rank)?.alias : "";
    return alias || displayName(track);
  }

  /** Where a rank was read from; "" for other lanes. */
  origin(track: Track): string {
    return track.kind === "rank" ? (this.meta.ranks.find((rank) => rank.rank === track.rank)?.path ?? "") : "";
  }
}
