// What is under the pointer: arithmetic on tile arrays, no pick buffer.
import { bucketNs, kBuckets, tileAt, tileNs } from "./lod";
import type { Scale } from "./raster";
import type { TileCache } from "./tile_cache";
import { firstRunAfter, kClippedLeft, kClippedRight, type SliceRow, type Tile } from "./tile_codec";

export interface RunHit {
  track: number;
  row: number;
  name: number;
  ord: number;
  /** Slices that start in the run; 0 if it began in an earlier tile. */
  count: number;
  /** Borders of the run, exact to a bucket. */
  t0: number;
  t1: number;
  /** What it is coloured by, if the tiles say so; 0 = nothing. */
  shade: number;
}

function runAt(row: SliceRow, x: number, slack: number): number {
  const k = firstRunAfter(row.x1, Math.max(0, x));
  if (k < row.n && row.x0[k]! <= x) return k;
  // Thin slices are hard to meet: the nearest one within `slack` buckets will do.
  const after = k < row.n ? row.x0[k]! - x : Infinity;
  const before = k > 0 ? x - (row.x1[k - 1]! - 1) : Infinity;
  if (Math.min(after, before) > slack) return -1;
  return after < before ? k : k - 1;
}

/** The best tile that is here for time t. */
export function tileFor(cache: TileCache, track: number, t: number, scale: Scale): Tile | null {
  if (t < 0) return null;
  for (const source of cache.sources(track, scale.level, tileAt(t, scale.level))) {
    if (t >= source.from && t < source.to) return source.tile;
  }
  return null;
}

const kReach = 12;

/** Where the slice at the edge of a tile begins (dir -1) or ends (1), following it through the tiles that are here. */
function follow(cache: TileCache, tile: Tile, row: number, ord: number, dir: 1 | -1): number {
  const edge = (at: number) => (dir > 0 ? at : at + 1) * tileNs(tile.level);
  for (let step = 1; step <= kReach; step++) {
    const index = tile.index + dir * step;
    const next = index < 0 ? null : cache.get(tile.track, tile.level, index);
    const runs = next?.kind === "slices" ? next.rows[row] : undefined;
    const k = dir > 0 ? 0 : (runs?.n ?? 0) - 1;
    if (!runs || runs.n === 0 || runs.ord[k] !== ord) return edge(index);
    const far = dir > 0 ? kClippedRight : kClippedLeft;
    if (!(runs.fl[k]! & far))
      return index * tileNs(tile.level) + (dir > 0 ? runs.x1[k]! : runs.x0[k]!) * bucketNs(tile.level);
  }
  return edge(tile.index + dir * kReach);
}

/** The run at time t of a slice row; `slack_px` widens the reach for thin ones. */
export function hitRow(
  cache: TileCache,
  track: number,
  row: number,
  t: number,
  scale: Scale,
  slack_px: number,
): RunHit | null {
  const tile = tileFor(cache, track, t, scale);
  if (tile?.kind !== "slices") return null;
  const runs = tile.rows[row];
  if (!runs) return null;
  const begin = tile.index * tileNs(tile.level);
  const bucket = bucketNs(tile.level);
  const k = runAt(runs, Math.floor((t - begin) / bucket), (slack_px * scale.nsPerPx) / bucket);
  if (k < 0) return null;
  return {
    track,
    row,
    name: runs.name[k]!,
    ord: runs.ord[k]!,
    count: runs.cnt[k]!,
    shade: runs.shade ? runs.shade[k]! : 0,
    t0:
      runs.fl[k]! & kClippedLeft && runs.x0[k] === 0
        ? follow(cache, tile, row, runs.ord[k]!, -1)
        : begin + runs.x0[k]! * bucket,
    t1:
      runs.fl[k]! & kClippedRight && runs.x1[k] === kBuckets
        ? follow(cache, tile, row, runs.ord[k]!, 1)
        : begin + runs.x1[k]! * bucket,
  };
}

/** The row in which a slice of the cached tiles lies; -1 if no tile shows it. */
export function rowOfSlice(cache: TileCache, track: number, ord: number, t: number, scale: Scale): number {
  const tile = tileFor(cache, track, t, scale);
  if (tile?.kind !== "slices") return -1;
  const x = Math.floor((t - tile.index * tileNs(tile.level)) / bucketNs(tile.level));
  for (let row = 0; row < tile.rows.length; row++) {
    const runs = tile.rows[row]!;
    const k = firstRunAfter(runs.x1, x);
    if (k < runs.n && runs.ord[k] === ord) return row;
  }
  return -1;
}
