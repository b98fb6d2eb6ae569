// Pin, hide, solo, expand.
import { t } from "../i18n";
import type { Track } from "../state/tracks";
import { askText } from "../widgets/dialog";
import { childrenOf, isOpen, type LaneHeight } from "./layout";
import type { TimelineModel } from "./model";
import { complain } from "./selecting";

function without<T>(set: ReadonlySet<T>, value: T): Set<T> {
  const next = new Set(set);
  next.delete(value);
  return next;
}

export function toggleOpen(model: TimelineModel, track: Track): void {
  const state = model.lanes.value;
  const given = state.heights.get(track.path);
  const open = given ? given === "full" : isOpen(track, state, model.tree.roots.length);
  const heights = new Map(state.heights);
  heights.delete(track.path);
  model.arrange(
    open
      ? { heights, opened: without(state.opened, track.path), closed: new Set(state.closed).add(track.path) }
      : { heights, closed: without(state.closed, track.path), opened: new Set(state.opened).add(track.path) },
  );
}

/** Gives a lane a height; the same again takes it back. */
export function setHeight(model: TimelineModel, track: Track, height: LaneHeight): void {
  const heights = new Map(model.lanes.value.heights);
  if (heights.get(track.path) === height) heights.delete(track.path);
  else heights.set(track.path, height);
  model.arrange({ heights });
}

/** All lanes open, or, if `open` is false, all ranks and groups closed. */
export function openAll(model: TimelineModel, open: boolean): void {
  const paths = model.tree.all
    .filter((track) => track.children.length > 0 || (open && track.rows > 1))
    .map((track) => track.path);
  model.arrange(open ? { opened: new Set(paths), closed: new Set() } : { opened: new Set(), closed: new Set(paths) });
}

/** X with Shift: everything open, unless it is already. */
export function toggleAll(model: TimelineModel): void {
  const anyClosed = model.tree.all.some(
    (track) => track.children.length > 0 && !isOpen(track, model.lanes.value, model.tree.roots.length),
  );
  openAll(model, anyClosed);
}

/** As many lanes as one question takes. */
const kLanesAsked = 512;

/** Ranks in the order of what their strips show, most first; false = by number. */
export async function sortRanks(model: TimelineModel, byStrip: boolean): Promise<void> {
  if (!byStrip) return model.arrange({ order: null });
  const strips = model.tree.roots.map((root) => ({ rank: root.rank, track: model.stripTrack(root).id }));
  const [t0, t1] = model.meta.extent;
  try {
    const busy = new Map<number, number>();
    for (let at = 0; at < strips.length; at += kLanesAsked) {
      const tracks = strips.slice(at, at + kLanesAsked).map((strip) => strip.track);
      for (const [track, , ns] of (await model.ds.lanes({ tracks, t0, t1 })).rows) busy.set(track, ns);
    }
    const of = (strip: { track: number }) => busy.get(strip.track) ?? 0;
    model.arrange({ order: [...strips].sort((a, b) => of(b) - of(a)).map((strip) => strip.rank) });
  } catch (error) {
    complain(error);
  }
}

export function togglePin(model: TimelineModel, track: Track): void {
  const { pinned } = model.lanes.value;
  model.arrange({
    pinned: pinned.includes(track.path) ? pinned.filter((path) => path !== track.path) : [...pinned, track.path],
  });
}

/** Pins the innermost lanes of that name on all ranks, or takes them off. */
export function togglePinByName(model: TimelineModel, track: Track): void {
  const same = model.tree.all
    .filter((each) => each.name === track.name && each.kind === track.kind && each.level === track.level)
    .map((each) => each.path);
  const { pinned } = model.lanes.value;
  const all = same.every((path) => pinned.includes(path));
  model.arrange({
    pinned: all ? pinned.filter((path) => !same.includes(path)) : [...new Set([...pinned, ...same])],
  });
}

export function movePin(model: TimelineModel, path: string, before: string): void {
  const rest = model.lanes.value.pinned.filter((each) => each !== path);
  const at = rest.indexOf(before);
  rest.splice(at < 0 ? rest.length : at, 0, path);
  model.arrange({ pinned: rest });
}

/** `list` with `what` at the place of `to`: behind it on the way down, before it on the way up. */
export function movedTo<T>(list: readonly T[], what: T, to: T): T[] {
  const at = list.indexOf(to);
  const rest = list.filter((each) => each !== what);
  rest.splice(at, 0, what);
  return rest;
}

/** Moves a lane to where a sibling is, or the sibling that the other lane is below of. */
export function moveLane(model: TimelineModel, path: string, to: string): void {
  const { tree } = model;
  // A merged lane stands where its first part is.
  const find = (each: string) => tree.byPath.get(each)?.parts?.[0] ?? tree.byPath.get(each);
  const lane = find(path);
  const target = find(to);
  if (!lane || !target) return;
  const sibling = [target, ...tree.ancestors(target)].find((each) => each.parent === lane.parent);
  if (!sibling || sibling === lane) return;
  const state = model.lanes.value;
  const parent = tree.byId.get(lane.parent);
  if (!parent) {
    const ranks = state.order ?? tree.roots.map((root) => root.rank);
    return model.arrange({ order: movedTo(ranks, lane.rank, sibling.rank) });
  }
  const paths = childrenOf(parent, state).map((child) => child.path);
  model.arrange({ moved: new Map(state.moved).set(parent.path, movedTo(paths, lane.path, sibling.path)) });
}

/** The lane after (1) or before (-1) a lane, among those of the same parent that are shown; null if it is the last. */
export function neighbour(model: TimelineModel, track: Track, dir: 1 | -1): Track | null {
  const siblings = model.layout.lanes.map((lane) => lane.track).filter((each) => each.parent === track.parent);
  return siblings[siblings.indexOf(track) + dir] ?? null;
}

export function unpinAll(model: TimelineModel): void {
  model.arrange({ pinned: [] });
}

export function hide(model: TimelineModel, track: Track): void {
  model.arrange({
    hidden: new Set(model.lanes.value.hidden).add(track.path),
    pinned: model.lanes.value.pinned.filter((path) => path !== track.path),
  });
}

export function showAll(model: TimelineModel): void {
  model.arrange({ hidden: new Set(), solo: "" });
}

export function rename(model: TimelineModel, track: Track): void {
  askText(t("tl.menu.rename"), t("tl.rename.hint"), model.shortName(track), (text) => {
    const names = new Map(model.lanes.value.names);
    if (text.trim() === "") names.delete(track.path);
    else names.set(track.path, text.trim());
    model.arrange({ names });
  });
}

export function toggleSolo(model: TimelineModel, track: Track): void {
  model.arrange({ solo: model.lanes.value.solo === track.path ? "" : track.path });
}
