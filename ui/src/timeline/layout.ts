// Which lanes are shown where. Pure: tree and lane state in, rectangles out. All lengths in css px.
import type { Track, TrackTree } from "../state/tracks";

export const kRowHeight = 18;
const kHeader = 22;
const kCounter = 38;
const kStrip = 10;
const kThumb = 40;
/** Lanes with more rows start as a thumbnail. */
const kManyRows = 8;

export type LaneForm = "header" | "summary" | "slices" | "thumb" | "counter" | "strip";

export interface Lane {
  track: Track;
  form: LaneForm;
  y: number;
  height: number;
  /** Slice rows drawn; 1 for summaries. */
  rows: number;
  rowHeight: number;
  level: number;
  expandable: boolean;
  expanded: boolean;
  pinned: boolean;
}

/** How tall a lane with several rows is: one row, a thumbnail, or every row. */
export type LaneHeight = "one" | "compact" | "full";

export const kHeights: LaneHeight[] = ["one", "compact", "full"];

export type RankGrouping = "node" | "pp" | "tp";

export const kGroupings: RankGrouping[] = ["node", "pp", "tp"];

export interface LaneState {
  /** Paths whose state differs from the default. */
  opened: ReadonlySet<string>;
  closed: ReadonlySet<string>;
  hidden: ReadonlySet<string>;
  /** In the order shown. */
  pinned: readonly string[];
  /** Only lanes below this path; "" = all. */
  solo: string;
  /** Whether a leaf passes the lane filter; null = no filter. */
  filter: ((track: Track) => boolean) | null;
  ranks: ReadonlySet<number> | null;
  /** Ranks in the order shown; null = as in the data. */
  order: readonly number[] | null;
  /** What ranks are grouped by, and the group of each by its number; null = they are in one list. */
  groups: { by: RankGrouping; of: ReadonlyMap<number, string> } | null;
  /** Lanes that were moved among their siblings: the order of the children, by the parent's path. */
  moved: ReadonlyMap<string, readonly string[]>;
  /** Tracks that a search found, while it hides the others; null = all. */
  found: ReadonlySet<number> | null;
  /** Lanes that stand for several; each part by its path. */
  merged: ReadonlyMap<string, Track>;
  /** Names the user gave, by path. */
  names: ReadonlyMap<string, string>;
  /** Heights the user gave, by path. */
  heights: ReadonlyMap<string, LaneHeight>;
}

export const kPlainLanes: LaneState = {
  opened: new Set(),
  closed: new Set(),
  hidden: new Set(),
  pinned: [],
  solo: "",
  filter: null,
  ranks: null,
  order: null,
  groups: null,
  moved: new Map(),
  found: null,
  merged: new Map(),
  names: new Map(),
  heights: new Map(),
};

export interface Layout {
  pinned: Lane[];
  pinnedHeight: number;
  lanes: Lane[];
  height: number;
  hiddenCount: number;
  /** The lane of a track in the tree; pinned ones are in `pinned`. */
  byTrack: ReadonlyMap<number, Lane>;
}

export const kManyRanks = 32;

/** What is open before anybody touched it: few ranks and the groups one looks at first. */
export function openByDefault(track: Track, ranks: number): boolean {
  if (track.kind === "rank") return ranks <= 4 || (ranks <= kManyRanks && track.rank === 0);
  if (track.kind === "slices") return track.rows <= kManyRows;
  return !/^(CANN|CPU metrics|NPU metrics|Counters|Memory|other)/i.test(track.name);
}

export function isOpen(track: Track, state: LaneState, ranks: number): boolean {
  if (state.opened.has(track.path)) return true;
  if (state.closed.has(track.path)) return false;
  return openByDefault(track, ranks);
}

type LeafShape = Pick<Lane, "form" | "height" | "rows" | "rowHeight" | "expandable">;

function leafLane(track: Track, height: LaneHeight): LeafShape {
  if (track.kind === "counter")
    return { form: "counter", height: kCounter, rows: 1, rowHeight: kCounter - 4, expandable: false };
  const rows = Math.max(1, track.rows);
  if (height === "full")
    return { form: "slices", height: rows * kRowHeight + 4, rows, rowHeight: kRowHeight, expandable: rows > 1 };
  const room = height === "one" ? kRowHeight : kThumb;
  const rowHeight = Math.max(1, Math.min(kRowHeight, Math.floor(room / rows)));
  return { form: "thumb", height: rows * rowHeight + 4, rows, rowHeight, expandable: rows > 1 };
}

function makeLane(track: Track, state: LaneState, ranks: number, pinned: boolean): Lane {
  const height = state.heights.get(track.path);
  const open = height ? height === "full" : isOpen(track, state, ranks);
  const common = { track, y: 0, level: pinned ? 0 : track.level, expanded: open, pinned };
  if (track.kind === "slices" || track.kind === "counter")
    return { ...common, ...leafLane(track, height ?? (open ? "full" : "compact")) };
  const strip = track.kind === "rank" && !open && ranks > kManyRanks;
  return {
    ...common,
    form: open && !pinned ? "header" : strip ? "strip" : "summary",
    height: strip ? kStrip + 2 : kHeader,
    rows: 1,
    rowHeight: strip ? kStrip : kHeader - 6,
    expandable: track.children.length > 0,
  };
}

/** The lane drawn in a track's place: itself, the lane it was merged into, or none if another part stands for that. */
function standIn(track: Track, state: LaneState): Track | null {
  const merged = state.merged.get(track.path);
  if (!merged) return track;
  return merged.parts?.[0]?.path === track.path ? merged : null;
}

function isFound(track: Track, state: LaneState): boolean {
  return state.found === null || (track.parts ?? [track]).some((part) => state.found?.has(part.id));
}

/** Tracks to show: those that pass, and the parents of those. */
function shownTracks(tree: TrackTree, state: LaneState): Set<Track> {
  const shown = new Set<Track>();
  const visit = (track: Track, inSolo: boolean): boolean => {
    if (state.hidden.has(track.path) || (state.ranks && !state.ranks.has(track.rank))) return false;
    const solo = inSolo || state.solo === "" || track.path === state.solo;
    const below = track.children.map((child) => visit(child, solo)).some(Boolean);
    const lane = standIn(track, state);
    const passes = lane !== null && !state.hidden.has(lane.path) && isFound(lane, state);
    const leaf = track.children.length === 0;
    const self = leaf && solo && passes && (state.filter === null || state.filter(lane));
    if (below || self || (track.kind === "slices" && solo && passes && state.filter?.(lane))) shown.add(track);
    return shown.has(track);
  };
  for (const root of tree.roots) visit(root, false);
  return shown;
}

function place(lanes: Lane[]): number {
  let y = 0;
  for (const lane of lanes) {
    lane.y = y;
    y += lane.height;
  }
  return y;
}

/** Ranks that the order does not know come last. */
function inOrder(roots: readonly Track[], order: readonly number[] | null): readonly Track[] {
  if (!order) return roots;
  const place = new Map(order.map((rank, at) => [rank, at]));
  const of = (track: Track) => place.get(track.rank) ?? order.length;
  return [...roots].sort((a, b) => of(a) - of(b));
}

/** The children of a track in the order shown; those that were not there when they were moved come last. */
export function childrenOf(track: Track, state: LaneState): readonly Track[] {
  const paths = state.moved.get(track.path);
  if (!paths) return track.children;
  const of = (child: Track) => (paths.includes(child.path) ? paths.indexOf(child.path) : paths.length);
  return [...track.children].sort((a, b) => of(a) - of(b));
}

/** Ranks by group, groups by name ("pp2" before "pp10"); without groups one list without a name. */
function rankGroups(roots: readonly Track[], groups: ReadonlyMap<number, string> | null): [string, Track[]][] {
  if (!groups) return [["", [...roots]]];
  const found = new Map<string, Track[]>();
  for (const root of roots) {
    const name = groups.get(root.rank) ?? "–";
    const known = found.get(name);
    if (known) known.push(root);
    else found.set(name, [root]);
  }
  return [...found].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
}

/** The header of a group of ranks: a lane that is on the screen only. Its number is none of the server's. */
function groupTrack(name: string, ranks: readonly Track[], at: number): Track {
  const n = ranks.reduce((sum, rank) => sum + rank.n, 0);
  return { id: -1 - at, parent: 0, kind: "group", name: `${name} · ${ranks.length}`, path: `@${name}`, rank: -1, rows: 0, n, flags: 0, level: 0, children: [] };
}

/** Whether a lane is of the data, and not a header that stands for several ranks. */
export const isOfData = (track: Track): boolean => track.id > 0;

export function computeLayout(tree: TrackTree, state: LaneState): Layout {
  const ranks = tree.roots.length;
  const shown = shownTracks(tree, state);
  const lanes: Lane[] = [];
  const visit = (track: Track) => {
    if (!shown.has(track)) return;
    const lane = makeLane(standIn(track, state) ?? track, state, ranks, false);
    lanes.push(lane);
    // A filter opens what it found, except whole ranks of a large job.
    const filtered = state.filter !== null && track.kind !== "slices";
    if (lane.expanded || filtered || track.kind === "slices") {
      if (filtered && lane.form !== "header") Object.assign(lane, { form: "header", expanded: true, height: kHeader });
      for (const child of childrenOf(track, state)) visit(child);
    }
  };
  const roots = inOrder(tree.roots, state.order).filter((root) => shown.has(root));
  rankGroups(roots, state.groups?.of ?? null).forEach(([name, members], at) => {
    if (state.groups) {
      const track = groupTrack(name, members, at);
      const expanded = isOpen(track, state, ranks);
      lanes.push({ track, form: "header", y: 0, height: kHeader, rows: 1, rowHeight: kHeader - 6, level: 0, expandable: true, expanded, pinned: false });
      if (!expanded) return;
    }
    members.forEach(visit);
  });
  const pinned = state.pinned.flatMap((path) => {
    const track = tree.byPath.get(path);
    return track ? [makeLane(track, state, ranks, true)] : [];
  });
  const hiddenCount = [...state.hidden].filter((path) => tree.byPath.has(path)).length;
  return {
    pinned,
    pinnedHeight: place(pinned),
    lanes,
    height: place(lanes),
    hiddenCount,
    byTrack: new Map(lanes.map((lane) => [lane.track.id, lane])),
  };
}

/** The lane at y, by bisection; null below the last. */
export function laneAt(lanes: readonly Lane[], y: number): Lane | null {
  let low = 0;
  let high = lanes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const lane = lanes[middle]!;
    if (lane.y + lane.height <= y) low = middle + 1;
    else high = middle;
  }
  const lane = lanes[low];
  return lane && y >= lane.y ? lane : null;
}

/** Lanes that touch [y0, y1). */
export function lanesIn(lanes: readonly Lane[], y0: number, y1: number): Lane[] {
  const first = laneAt(lanes, Math.max(0, y0));
  if (!first) return [];
  const found: Lane[] = [];
  for (let at = lanes.indexOf(first); at < lanes.length && lanes[at]!.y < y1; at++) found.push(lanes[at]!);
  return found;
}
