// Pin, hide, solo, expand.
import { t } from "../i18n";
import { rankGroupName } from "../pages/cluster/strategy";
import { asText, rowsOf } from "../pages/parts";
import type { Track } from "../state/tracks";
import { askText } from "../widgets/dialog";
import { toast } from "../widgets/toast";
import { childrenOf, isOpen, type LaneHeight, type RankGrouping } from "./layout";
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

/** How much of what their strips show the ranks have: the time of it, or the largest value of a counter. */
async function stripLoads(model: TimelineModel): Promise<{ rank: number; load: number }[]> {
  const strips = model.tree.roots.map((root) => ({ rank: root.rank, track: model.stripTrack(root).id }));
  const [t0, t1] = model.meta.extent;
  const loads = new Map<number, number>();
  for (let at = 0; at < strips.length; at += kLanesAsked) {
    const tracks = strips.slice(at, at + kLanesAsked).map((strip) => strip.track);
    for (const [track, , ns, peak] of (await model.ds.lanes({ tracks, t0, t1 })).rows) loads.set(track, peak ?? ns);
  }
  return strips.map(({ rank, track }) => ({ rank, load: loads.get(track) ?? 0 }));
}

/** Ranks in the order of what their strips show, most first; false = by number. */
export async function sortRanks(model: TimelineModel, byStrip: boolean): Promise<void> {
  if (!byStrip) return model.arrange({ order: null });
  try {
    model.arrange({ order: (await stripLoads(model)).sort((a, b) => b.load - a.load).map((strip) => strip.rank) });
  } catch (error) {
    complain(error);
  }
}

/** Strips of memory have one scale, so that ranks can be compared. */
async function scaleStrips(model: TimelineModel): Promise<void> {
  if (model.stripMetric.value !== "Memory") return;
  const { tree } = model;
  const high = Math.max(0, ...(await stripLoads(model)).map((strip) => strip.load));
  // Ranks that came meanwhile are asked about in turn.
  if (model.stripMetric.value === "Memory" && model.tree === tree) model.stripHigh = high;
  model.invalidate();
}

/** Strips show something else. */
export async function showStrips(model: TimelineModel, metric: string): Promise<void> {
  model.stripMetric.value = metric;
  model.stripHigh = 0;
  model.invalidate();
  try {
    await scaleStrips(model);
  } catch {
    // Each strip keeps a scale of its own.
  }
}

/** Ranks that were read later take part in what was chosen for all: the scale of strips, the groups. In an order they come last. */
export async function includeNewRanks(model: TimelineModel): Promise<void> {
  const { groups } = model.lanes.value;
  try {
    await scaleStrips(model);
    if (groups) model.changeLanes({ groups: { by: groups.by, of: await groupsOf(model, groups.by) } });
  } catch {
    // The next rank, or the user, asks again.
  }
}

/** The group of each rank: its host, its stage of the pipeline, or those it shares tensors with. */
async function groupsOf(model: TimelineModel, grouping: RankGrouping): Promise<Map<number, string>> {
  if (grouping === "node") return new Map(model.meta.ranks.map((rank) => [rank.rank, rank.host || "–"]));
  const reply = await model.ds.metric("summary_arrangement", { dimension: "DP+PP+CP+TP" });
  const groups = new Map<number, string>();
  for (const row of rowsOf(reply, "elements")) {
    const name = rankGroupName(asText(row["name"]), grouping);
    for (const rank of asText(row["ranks"]).split(",").filter((text) => text !== "")) groups.set(Number(rank), name);
  }
  return groups;
}

/** Shows ranks below a header for each group; null = in one list. */
export async function groupRanks(model: TimelineModel, by: RankGrouping | null): Promise<void> {
  if (by === null) return model.arrange({ groups: null });
  try {
    const of = await groupsOf(model, by);
    if (of.size === 0) return toast("info", t("tl.group.unknown"));
    model.arrange({ groups: { by, of } });
  } catch (error) {
    complain(error);
  }
}

/** Pins the lanes on which the other ranks of a communication group do the same collectives, or takes them off. */
export async function togglePinGroup(model: TimelineModel, track: Track): Promise<void> {
  try {
    const first = await model.ds.table({ source: "events", args: { tracks: [track.id] }, filter: [], sort: [], offset: 0, limit: 1 });
    const i = first.rows[0]?.[first.columns.findIndex(({ name }) => name === "i")];
    if (i === undefined) return;
    const { slices } = await model.ds.peers(track.id, Number(i));
    pinTogether(model, [track.path, ...slices.flatMap((slice) => model.tree.byId.get(slice.track)?.path ?? [])]);
  } catch (error) {
    complain(error);
  }
}

/** Pins all of the lanes, or, if they are, takes them off. */
function pinTogether(model: TimelineModel, paths: readonly string[]): void {
  const { pinned } = model.lanes.value;
  const all = paths.every((path) => pinned.includes(path));
  model.arrange({ pinned: all ? pinned.filter((path) => !paths.includes(path)) : [...new Set([...pinned, ...paths])] });
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
  pinTogether(model, same);
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
