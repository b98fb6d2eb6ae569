// Values under the pointer on lanes that have no slices of their own.
import type { Track } from "../state/tracks";
import { tileFor } from "./hit";
import { bucketNs, tileNs } from "./lod";
import type { TimelineModel } from "./model";
import { firstRunAfter } from "./tile_codec";

/** Share of the pixel's time that a collapsed group is busy, 0..1; null if unknown. */
export function summaryAt(model: TimelineModel, track: number, t: number): number | null {
  const tile = tileFor(model.cache, track, t, model.scale());
  if (tile?.kind === "empty") return 0;
  if (tile?.kind !== "summary") return null;
  const x = Math.floor((t - tile.index * tileNs(tile.level)) / bucketNs(tile.level));
  const k = firstRunAfter(tile.runs.x1, x);
  return k < tile.runs.n && tile.runs.x0[k]! <= x ? tile.runs.cov[k]! / 255 : 0;
}

/** What the strip or summary of a lane shows at t: a share, or the value of the counter that stands for the rank. */
export function stripValue(model: TimelineModel, track: Track, t: number): number | null {
  const shown = model.stripTrack(track);
  return shown.kind === "counter" ? counterAt(model, shown.id, t) : summaryAt(model, shown.id, t);
}

/** The value a counter has at t; null before its first point. */
export function counterAt(model: TimelineModel, track: number, t: number): number | null {
  const tile = tileFor(model.cache, track, t, model.scale());
  const series = tile?.kind === "counter" ? tile.series[0] : undefined;
  if (!tile || !series) return null;
  const x = Math.floor((t - tile.index * tileNs(tile.level)) / bucketNs(tile.level));
  let value: number | null = null;
  for (let k = 0; k < series.n && series.x[k]! <= x; k++) value = series.last[k]!;
  return value;
}
