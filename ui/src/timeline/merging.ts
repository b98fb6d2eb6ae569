// Several lanes of a rank as one, stacked anew by the server, and back again.
import { t } from "../i18n";
import { LaneFlag, type Track } from "../state/tracks";
import { toast } from "../widgets/toast";
import type { TimelineModel } from "./model";
import { complain } from "./selecting";

/** As many as the server takes. */
const kMost = 64;

function canMerge(track: Track): boolean {
  return track.kind === "slices" && track.parts === undefined && (track.flags & LaneFlag.derived) === 0;
}

/** The lanes beside `track` that can be merged with it, itself included; streams of a device as a rule. */
export function mergeable(model: TimelineModel, track: Track): Track[] {
  const parent = model.tree.byId.get(track.parent);
  if (!canMerge(track) || !parent) return [];
  return parent.children.filter((each) => canMerge(each) && each.children.length === 0).slice(0, kMost);
}

/** Of some tracks those that can become one lane: they have one parent. Empty if there are fewer than two. */
export function mergeableOf(model: TimelineModel, ids: readonly number[]): Track[] {
  const tracks = ids.flatMap((id) => model.tree.byId.get(id) ?? []).filter(canMerge);
  const same = tracks.filter((track) => track.parent === tracks[0]?.parent);
  return same.length >= 2 && same.length <= kMost ? same : [];
}

async function makeMerged(model: TimelineModel, parts: readonly Track[]): Promise<Track> {
  const reply = await model.ds.merge(parts.map((part) => part.id));
  return model.tree.addMerged(reply.track, reply.name, reply.rows, reply.n, parts);
}

function withMerged(merged: ReadonlyMap<string, Track>, track: Track): Map<string, Track> {
  return new Map([...merged, ...(track.parts ?? []).map((part): [string, Track] => [part.path, track])]);
}

export async function merge(model: TimelineModel, parts: readonly Track[]): Promise<void> {
  if (parts.length < 2) return toast("info", t("tl.merge.none"));
  try {
    const track = await makeMerged(model, parts);
    model.arrange({ merged: withMerged(model.lanes.value.merged, track) });
  } catch (error) {
    complain(error);
  }
}

export function split(model: TimelineModel, track: Track): void {
  const { merged, pinned } = model.lanes.value;
  model.arrange({
    merged: new Map([...merged].filter(([, lane]) => lane.path !== track.path)),
    pinned: pinned.filter((path) => path !== track.path),
  });
}

/** "r0/hw/stream2+stream3" -> the lanes it names; empty if one is missing. */
export function partsOf(model: Pick<TimelineModel, "tree">, path: string): Track[] {
  const [first = "", ...rest] = path.split("+");
  const folder = first.slice(0, first.lastIndexOf("/") + 1);
  const parts = [first, ...rest.map((end) => folder + end)].map((each) => model.tree.byPath.get(each));
  return parts.length >= 2 && parts.every((part) => part !== undefined) ? parts : [];
}

/** Merges the lanes of a link again. What cannot be is left out with a word about it. */
export async function restoreMerged(model: TimelineModel, paths: readonly string[]): Promise<void> {
  let merged: ReadonlyMap<string, Track> = new Map();
  try {
    for (const path of paths) {
      const parts = partsOf(model, path);
      if (parts.length > 0) merged = withMerged(merged, await makeMerged(model, parts));
    }
  } catch (error) {
    complain(error);
  }
  if (merged.size > 0 || model.lanes.value.merged.size > 0) model.changeLanes({ merged });
}
