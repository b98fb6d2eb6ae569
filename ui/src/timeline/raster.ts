// Lanes into pixels: one texel per row and device-pixel column. The cost is bounded by pixels, whatever the number of slices.
import { darker, type Family, kByName, mix, mix256, type Pixel } from "./colors";
import { bucketNs, kBuckets, tileNs, tileRange } from "./lod";
import type { NameTable } from "./names";
import type { TileCache } from "./tile_cache";
import { type CounterSeries, firstRunAfter, kClippedRight, type SliceRow, type Tile } from "./tile_codec";

/** Time to columns: column = (t - t0) / nsPerPx. */
export interface Scale {
  t0: number;
  nsPerPx: number;
  width: number;
  level: number;
}

export interface Paint {
  ground: Pixel;
  /** Colour of summary bars and of counters. */
  bar: Pixel;
  names: NameTable;
}

/** `rows` lines of `width` texels; the edge bitmap marks runs that stand for several slices. */
export interface Bitmap {
  width: number;
  rows: number;
  body: Uint32Array;
  edge: Uint32Array;
  /** Rows that have marks in `edge`. */
  edged: Uint8Array;
}

export function makeBitmap(width: number, rows: number): Bitmap {
  return {
    width,
    rows,
    body: new Uint32Array(width * rows),
    edge: new Uint32Array(width * rows),
    edged: new Uint8Array(rows),
  };
}

/** What one lane row needs to be filled. `row` is the slice row; `at` the line of the bitmap. */
export interface RowJob {
  track: number;
  row: number;
  family: Family;
  at: number;
  kind: "slices" | "summary";
  /** Colours by the number that the tile has for a run; null = by name. */
  shades: Uint32Array | null;
}

/** Part of the columns, [from, to). */
export interface Columns {
  from: number;
  to: number;
}

/** Calls `draw` for each tile that covers a part of the columns, with the columns it may touch. */
export function eachSource(
  cache: TileCache,
  track: number,
  scale: Scale,
  columns: Columns,
  draw: (tile: Tile, from: number, to: number) => void,
): void {
  const t0 = scale.t0 + columns.from * scale.nsPerPx;
  const t1 = scale.t0 + columns.to * scale.nsPerPx;
  if (t1 <= 0) return;
  const [first, last] = tileRange(t0, t1, scale.level);
  for (let index = first; index <= last; index++) {
    for (const source of cache.sources(track, scale.level, index)) {
      const from = Math.max(columns.from, Math.floor((source.from - scale.t0) / scale.nsPerPx));
      const to = Math.min(columns.to, Math.ceil((source.to - scale.t0) / scale.nsPerPx));
      if (from < to) draw(source.tile, from, to);
    }
  }
}

/** Stripes of a tile that is not there yet. */
function fillPending(bitmap: Bitmap, at: number, from: number, to: number, scale: Scale, paint: Paint): void {
  const stripe = mix(paint.ground, paint.bar, 0.18);
  const phase = Math.floor(scale.t0 / scale.nsPerPx);
  const line = at * bitmap.width;
  for (let c = from; c < to; c++) if (((c + phase) & 15) < 6) bitmap.body[line + c] = stripe;
}

/** The inner loop of the timeline: no allocation, no calls that can be avoided. */
function fillRuns(
  bitmap: Bitmap,
  at: number,
  row: SliceRow,
  tile: Tile,
  from: number,
  to: number,
  scale: Scale,
  paint: Paint,
  family: Family,
  shades: Uint32Array | null,
): void {
  const { body, edge } = bitmap;
  const { x0, x1, name, cov, cnt, fl } = row;
  const { ground, names } = paint;
  const line = at * bitmap.width;
  const step = bucketNs(tile.level) / scale.nsPerPx;
  const base = (tile.index * tileNs(tile.level) - scale.t0) / scale.nsPerPx;
  const phase = Math.floor(scale.t0 / scale.nsPerPx);
  const firstBucket = Math.max(0, Math.min(kBuckets, Math.floor((from - base) / step)));
  let colors = names.colorTable(family);
  let patterns = names.patternTable(family);
  let lastColumn = -1;
  let lastCov = 0;
  for (let k = firstRunAfter(x1, firstBucket); k < row.n; k++) {
    const left = Math.floor(base + x0[k]! * step);
    if (left >= to) break;
    const right = Math.max(left + 1, Math.floor(base + x1[k]! * step));
    const covered = cov[k]!;
    // Two buckets can share a column: the fuller one shows.
    if (right - left === 1 && left === lastColumn && covered < lastCov) continue;
    const id = name[k]!;
    let color = id < colors.length ? colors[id]! : 0;
    if (color === 0) {
      color = names.color(family, id);
      colors = names.colorTable(family);
      patterns = names.patternTable(family);
    }
    const isShaded = shades !== null && shades[row.shade ? row.shade[k]! : 0]! !== kByName;
    if (isShaded) color = shadeColor(shades, row, k, ground, names);
    if (covered < 255) color = mix256(ground, color, 77 + ((covered * 179) >> 8));
    const c0 = left > from ? left : from;
    const c1 = right < to ? right : to;
    for (let c = c0; c < c1; c++) body[line + c] = color;
    const pattern = isShaded ? 0 : patterns[id]!;
    if (pattern !== 0) fillPattern(body, line, c0, c1, phase, mix256(ground, color, pattern === 1 ? 178 : 64));
    if (right - left >= 3 && right <= to && right > c0 && !(fl[k]! & kClippedRight)) body[line + right - 1] = ground;
    if (cnt[k]! > 1) {
      const shade = darker(color);
      for (let c = c0; c < c1; c++) edge[line + c] = shade;
      bitmap.edged[at] = 1;
    }
    lastColumn = right - 1;
    lastCov = covered;
  }
}

/** The colour of run k by its number, as bright as a search leaves its name. */
export function shadeColor(shades: Uint32Array, row: SliceRow, k: number, ground: Pixel, names: NameTable): Pixel {
  return mix256(ground, shades[row.shade ? row.shade[k]! : 0]!, names.brightness(row.name[k]!));
}

/** Stripes that stay with the data when it is moved. */
function fillPattern(body: Uint32Array, line: number, c0: number, c1: number, phase: number, color: Pixel): void {
  for (let c = c0; c < c1; c++) if (((c + phase) & 3) < 2) body[line + c] = color;
}

function fillSummary(
  bitmap: Bitmap,
  at: number,
  tile: Tile & { kind: "summary" },
  from: number,
  to: number,
  scale: Scale,
  paint: Paint,
): void {
  const { runs } = tile;
  const line = at * bitmap.width;
  const step = bucketNs(tile.level) / scale.nsPerPx;
  const base = (tile.index * tileNs(tile.level) - scale.t0) / scale.nsPerPx;
  const firstBucket = Math.max(0, Math.min(kBuckets, Math.floor((from - base) / step)));
  for (let k = firstRunAfter(runs.x1, firstBucket); k < runs.n; k++) {
    const left = Math.floor(base + runs.x0[k]! * step);
    if (left >= to) break;
    if (runs.cov[k] === 0) continue; // only waits
    const right = Math.max(left + 1, Math.floor(base + runs.x1[k]! * step));
    bitmap.body.fill(
      mix(paint.ground, paint.bar, 0.15 + (0.85 * runs.cov[k]!) / 255),
      line + Math.max(left, from),
      line + Math.min(right, to),
    );
  }
}

/** A counter as one line: paler where its value is smaller, `high` is full. */
export function fillHeat(bitmap: Bitmap, at: number, columns: CounterColumns, high: number, paint: Paint): void {
  const line = at * bitmap.width;
  for (let c = 0; c < bitmap.width; c++) {
    const value = columns.max[c]!;
    const share = high > 0 && !Number.isNaN(value) ? Math.max(0, Math.min(1, value / high)) : 0;
    bitmap.body[line + c] = share > 0 ? mix(paint.ground, paint.bar, 0.08 + 0.92 * share) : paint.ground;
  }
  bitmap.edge.fill(0, line, line + bitmap.width);
}

/** Fills the columns of one lane row; what was there is overwritten. */
export function fillRow(
  bitmap: Bitmap,
  job: RowJob,
  cache: TileCache,
  scale: Scale,
  paint: Paint,
  columns: Columns,
): void {
  const line = job.at * bitmap.width;
  bitmap.body.fill(paint.ground, line + columns.from, line + columns.to);
  bitmap.edge.fill(0, line + columns.from, line + columns.to);
  eachSource(cache, job.track, scale, columns, (tile, from, to) => {
    if (tile.kind === "pending") fillPending(bitmap, job.at, from, to, scale, paint);
    else if (tile.kind === "summary") fillSummary(bitmap, job.at, tile, from, to, scale, paint);
    else if (tile.kind === "slices") {
      const row = tile.rows[job.row];
      if (row) fillRuns(bitmap, job.at, row, tile, from, to, scale, paint, job.family, job.shades);
    }
  });
}

/** Moves all rows by `columns` (> 0 = to the left) and says which columns are to be filled again. */
export function shiftBitmap(bitmap: Bitmap, columns: number): Columns {
  const { width, rows } = bitmap;
  for (let at = 0; at < rows; at++) {
    const line = at * width;
    for (const plane of [bitmap.body, bitmap.edge]) {
      if (columns > 0) plane.copyWithin(line, line + columns, line + width);
      else plane.copyWithin(line - columns, line, line + width + columns);
    }
  }
  return columns > 0 ? { from: width - columns, to: width } : { from: 0, to: -columns };
}

/** Value of a series per column: min, max and last; NaN where nothing was seen yet. */
export interface CounterColumns {
  min: Float32Array;
  max: Float32Array;
  last: Float32Array;
  low: number;
  high: number;
}

function spread(series: CounterSeries, tile: Tile, from: number, to: number, scale: Scale, out: CounterColumns): void {
  const step = bucketNs(tile.level) / scale.nsPerPx;
  const base = (tile.index * tileNs(tile.level) - scale.t0) / scale.nsPerPx;
  for (let k = 0; k < series.n; k++) {
    const c = Math.floor(base + series.x[k]! * step);
    if (c >= to) break;
    const until = k + 1 < series.n ? Math.floor(base + series.x[k + 1]! * step) : to;
    const begin = Math.max(c, from);
    if (until <= from && c < from) continue;
    if (c >= from) {
      out.min[begin] =
        Number.isNaN(out.min[begin]!) || until > c ? series.min[k]! : Math.min(out.min[begin]!, series.min[k]!);
      out.max[begin] = Number.isNaN(out.max[begin]!) ? series.max[k]! : Math.max(out.max[begin]!, series.max[k]!);
      out.last[begin] = series.last[k]!;
    }
    // The value holds until the next point.
    const hold = c >= from ? begin + 1 : from;
    out.min.fill(series.last[k]!, hold, Math.max(hold, Math.min(until, to)));
    out.max.fill(series.last[k]!, hold, Math.max(hold, Math.min(until, to)));
    out.last.fill(series.last[k]!, hold, Math.max(hold, Math.min(until, to)));
  }
}

export function counterColumns(cache: TileCache, track: number, scale: Scale): CounterColumns {
  const make = () => new Float32Array(scale.width).fill(NaN);
  const out: CounterColumns = { min: make(), max: make(), last: make(), low: 0, high: -Infinity };
  let before = NaN;
  eachSource(cache, track, scale, { from: 0, to: scale.width }, (tile, from, to) => {
    if (!Number.isNaN(before)) for (const plane of [out.min, out.max, out.last]) plane.fill(before, from, to);
    if (tile.kind === "counter" && tile.series[0]) spread(tile.series[0], tile, from, to, scale, out);
    before = out.last[to - 1] ?? NaN;
  });
  for (let c = 0; c < scale.width; c++) {
    if (out.max[c]! > out.high) out.high = out.max[c]!;
    if (out.min[c]! < out.low) out.low = out.min[c]!;
  }
  return out;
}

/** Draws a counter into `height` lines of the bitmap from line `at` on: filled to the value, darker where it moved within a column. */
export function fillCounter(bitmap: Bitmap, at: number, height: number, columns: CounterColumns, paint: Paint): void {
  const { body, width } = bitmap;
  body.fill(paint.ground, at * width, (at + height) * width);
  bitmap.edge.fill(0, at * width, (at + height) * width);
  const span = columns.high - columns.low;
  if (!(span > 0)) return;
  const soft = mix(paint.ground, paint.bar, 0.45);
  const line = (value: number) =>
    Math.max(0, Math.min(height - 1, Math.round((1 - (value - columns.low) / span) * (height - 1))));
  for (let c = 0; c < width; c++) {
    if (Number.isNaN(columns.last[c]!)) continue;
    const top = line(columns.max[c]!);
    const low = line(columns.min[c]!);
    for (let y = top; y < height; y++) body[(at + y) * width + c] = y <= low ? paint.bar : soft;
  }
}
