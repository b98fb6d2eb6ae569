// The lane tree of the open dataset. Tracks are addressed by their stable path in links and by id in requests.
import { computed, effect, signal } from "@preact/signals";
import type { TrackKind, TracksReply } from "../api_types";
import { t } from "../i18n";
import type { LaneQuery } from "./query_lanes";
import { deviceWord } from "./device_words";
import { dataset, revision } from "./session";

export interface Track {
  id: number;
  parent: number;
  kind: TrackKind;
  name: string;
  path: string;
  rank: number;
  /** Number of slice rows; 0 for groups. */
  rows: number;
  /** Number of slices or points. */
  n: number;
  /** What the lane shows, as bits; see LaneFlag. */
  flags: number;
  /** Distance from the root; ranks have 0. */
  level: number;
  children: Track[];
  /** Lanes this one was merged from; absent for lanes of the capture. */
  parts?: readonly Track[];
  /** The query whose rows it shows; absent for other lanes. */
  query?: LaneQuery;
}

/** Bits of Track.flags. */
export const LaneFlag = {
  host: 1,
  device: 2,
  commGroup: 4,
  commPlane: 8,
  overlap: 16,
  cann: 32,
  pythonStack: 64,
  derived: 128,
  counter: 256,
  memory: 512,
  annotation: 4096,
} as const;

/** Where a group stands below its rank: what the device did first, then its host, then the rest. */
function placeOf({ flags }: Track): number {
  if (flags & LaneFlag.commGroup) return 1;
  if (flags & LaneFlag.device) return 0;
  if (flags & LaneFlag.overlap) return 2;
  if (flags & LaneFlag.cann) return 4;
  if (flags & LaneFlag.host) return 3;
  return 5;
}

export class TrackTree {
  readonly byId = new Map<number, Track>();
  readonly byPath = new Map<string, Track>();
  readonly roots: Track[] = [];
  /** All tracks, parents before children, in display order. */
  readonly all: Track[] = [];

  constructor(reply: TracksReply) {
    const at = Object.fromEntries(reply.cols.map((name, index) => [name, index]));
    const read = (row: (string | number)[], name: string) => row[at[name] ?? -1];
    for (const row of reply.rows) {
      const track: Track = {
        id: Number(read(row, "id")),
        parent: Number(read(row, "parent") ?? 0),
        kind: String(read(row, "kind")) as TrackKind,
        name: String(read(row, "name") ?? ""),
        path: String(read(row, "path") ?? ""),
        rank: Number(read(row, "rank") ?? 0),
        rows: Number(read(row, "rows") ?? 0),
        n: Number(read(row, "n") ?? 0),
        flags: Number(read(row, "flags") || 0),
        level: 0,
        children: [],
      };
      this.byId.set(track.id, track);
      this.byPath.set(track.path, track);
    }
    for (const track of this.byId.values()) {
      const parent = this.byId.get(track.parent);
      if (parent && parent !== track) parent.children.push(track);
      else this.roots.push(track);
    }
    for (const root of this.roots) {
      root.children.sort((a, b) => placeOf(a) - placeOf(b));
      this.order(root, 0);
    }
  }

  /** Leaves with slices below `track`, itself included. */
  leaves(track: Track): Track[] {
    return track.kind === "slices"
      ? [track, ...track.children.flatMap((child) => this.leaves(child))]
      : track.children.flatMap((child) => this.leaves(child));
  }

  ancestors(track: Track): Track[] {
    const found: Track[] = [];
    for (let at = this.byId.get(track.parent); at; at = this.byId.get(at.parent)) found.push(at);
    return found;
  }

  /** "rank 0 / Ascend Hardware / Stream 2" */
  label(track: Track): string {
    return [...this.ancestors(track).reverse(), track].map((each) => displayName(each)).join(" / ");
  }

  /** Makes a lane known that stands for several lanes with one parent; the lanes stay where they are. */
  addMerged(id: number, name: string, rows: number, n: number, parts: readonly Track[]): Track {
    const first = parts[0]!;
    const ends = parts.slice(1).map((part) => part.path.slice(part.path.lastIndexOf("/") + 1));
    const track: Track = { ...first, id, name, path: [first.path, ...ends].join("+"), rows, n, children: [], parts };
    this.byId.set(id, track);
    this.byPath.set(track.path, track);
    return track;
  }

  /** Shows a lane first below its parent. */
  addFirst(track: Track): void {
    const parent = this.byId.get(track.parent);
    if (!parent) return;
    parent.children.unshift(track);
    this.all.splice(this.all.indexOf(parent) + 1, 0, track);
    this.byId.set(track.id, track);
    this.byPath.set(track.path, track);
  }

  remove(track: Track): void {
    const parent = this.byId.get(track.parent);
    if (parent) parent.children = parent.children.filter((each) => each !== track);
    const at = this.all.indexOf(track);
    if (at >= 0) this.all.splice(at, 1);
    this.byId.delete(track.id);
    this.byPath.delete(track.path);
  }

  private order(track: Track, level: number): void {
    track.level = level;
    this.all.push(track);
    for (const child of track.children) this.order(child, level + 1);
  }
}

/** Ranks are named by their number alone in the data. */
export function displayName(track: Track): string {
  return track.kind === "rank" && /^\d+$/.test(track.name) ? `${t("rank")} ${track.name}` : deviceWord(track.name);
}

const loaded = signal<{ ds: string; tree: TrackTree } | null>(null);

/** The tree of the open dataset; null while it is loading. It is replaced when more ranks were read. */
export const trackTree = computed(() => (loaded.value?.ds === dataset.value?.ds ? (loaded.value?.tree ?? null) : null));

export function startTracks(): void {
  effect(() => {
    const open = dataset.value;
    void revision.value;
    if (!open) return;
    open.tracks().then(
      (reply) => {
        if (dataset.value === open) loaded.value = { ds: open.ds, tree: new TrackTree(reply) };
      },
      () => undefined, // The page that needs the tree shows the dataset's own error.
    );
  });
}
