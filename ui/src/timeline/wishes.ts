// Which tiles a view wants, most urgent first: what is on screen, then half a screen around it; when idle the neighbours and the levels above and below.
import { lanesIn } from "./layout";
import { tileNs, tileRange } from "./lod";
import type { TimelineModel } from "./model";
import type { TileKey } from "./tile_cache";

function tracksOnScreen(model: TimelineModel): number[] {
  const lanes = [
    ...model.layout.pinned,
    ...lanesIn(model.layout.lanes, model.scrollY - 40, model.scrollY + model.height + 40),
  ];
  const ids = new Set<number>();
  for (const lane of lanes) {
    if (lane.form === "header") continue;
    ids.add(lane.form === "strip" || lane.form === "summary" ? model.stripTrack(lane.track).id : lane.track.id);
  }
  return [...ids];
}

function addKeys(
  out: TileKey[],
  tracks: number[],
  t0: number,
  t1: number,
  level: number,
  extent: [number, number],
): void {
  const from = Math.max(t0, 0, extent[0] - tileNs(level));
  const to = Math.min(t1, extent[1] + 1);
  if (to <= from) return;
  const [first, last] = tileRange(from, to, level);
  for (let index = first; index <= last; index++) for (const track of tracks) out.push([track, level, index]);
}

/** Wishes for the current view; `idle` adds what may be wanted next. */
export function wishes(model: TimelineModel, idle: boolean): TileKey[] {
  const { view } = model;
  const { level } = model.scale();
  const { extent } = model.meta;
  const span = view.t1 - view.t0;
  const tracks = tracksOnScreen(model);
  const keys: TileKey[] = [];
  addKeys(keys, tracks, view.t0, view.t1, level, extent);
  addKeys(keys, tracks, view.t0 - span / 2, view.t0, level, extent);
  addKeys(keys, tracks, view.t1, view.t1 + span / 2, level, extent);
  if (!idle) return keys;
  addKeys(keys, tracks, view.t0 - span / 2, view.t1 + span / 2, Math.min(44, level + 1), extent);
  if (level > 0) addKeys(keys, tracks, view.t0, view.t1, level - 1, extent);
  return keys;
}
