// Tiles in the binary layout of the API, computed slice by slice.

const kBuckets = 1024;

/** Runs of one row of a tile: {x0, x1, name, ord, cnt, cov, fl}. */
export function rowRuns(slices, begin, width) {
  const runs = [];
  for (const slice of slices) {
    const from = (slice.begin - begin) / width;
    const to = (slice.begin + slice.dur - begin) / width;
    if (to <= 0 || from >= kBuckets) continue;
    const x0 = Math.max(0, Math.floor(from));
    const x1 = Math.min(kBuckets, Math.max(x0 + 1, Math.ceil(to)));
    const starts = from >= 0 ? 1 : 0;
    const last = runs.at(-1);
    if (last && x0 < last.x1 && x1 <= last.x1) {
      last.cnt += starts;
      last.sum += Math.min(to, kBuckets) - Math.max(from, 0);
      if (slice.dur > last.dur) Object.assign(last, { name: slice.name, ord: slice.ord, dur: slice.dur });
      continue;
    }
    const at = last ? Math.max(x0, last.x1) : x0;
    const fl = (from < 0 ? 1 : 0) | (to > kBuckets ? 2 : 0);
    runs.push({
      x0: at,
      x1,
      name: slice.name,
      ord: slice.ord,
      dur: slice.dur,
      cnt: starts,
      sum: Math.min(to, kBuckets) - Math.max(from, at),
      fl,
    });
  }
  return runs.map((run) => ({
    ...run,
    cov: Math.max(1, Math.min(255, Math.round((255 * run.sum) / (run.x1 - run.x0)))),
  }));
}

class Writer {
  constructor() {
    this.bytes = [];
  }
  u8(v) {
    this.bytes.push(v & 255);
  }
  u16(v) {
    this.u8(v);
    this.u8(v >> 8);
  }
  u32(v) {
    this.u16(v & 65535);
    this.u16(v >>> 16);
  }
  f32(v) {
    for (const byte of new Uint8Array(new Float32Array([v]).buffer)) this.u8(byte);
  }
  align() {
    while (this.bytes.length % 4) this.u8(0);
  }
  array(values, kind) {
    for (const value of values) this[kind](value);
    this.align();
  }
}

function slicesPayload(out, track, begin, width) {
  out.u16(track.rows);
  out.u16(0);
  for (let row = 0; row < track.rows; row++) {
    const runs = rowRuns(
      track.slices.filter((slice) => slice.row === row),
      begin,
      width,
    );
    out.u32(runs.length);
    for (const [field, kind] of [
      ["x0", "u16"],
      ["x1", "u16"],
      ["name", "u32"],
      ["ord", "u32"],
      ["cnt", "u16"],
      ["cov", "u8"],
      ["fl", "u8"],
    ]) {
      out.array(
        runs.map((run) => run[field]),
        kind,
      );
    }
  }
}

function summaryPayload(out, dataset, track, begin, width) {
  const cover = new Float64Array(kBuckets);
  for (const leaf of dataset.leaves(track.id)) {
    for (const run of rowRuns(leaf.slices, begin, width)) {
      for (let x = run.x0; x < run.x1; x++) cover[x] = Math.max(cover[x], run.cov);
    }
  }
  const runs = [];
  for (let x = 0; x < kBuckets; x++) {
    if (cover[x] === 0) continue;
    const last = runs.at(-1);
    if (last && last.x1 === x && last.cov === cover[x]) last.x1++;
    else runs.push({ x0: x, x1: x + 1, cov: cover[x] });
  }
  out.u32(runs.length);
  for (const [field, kind] of [
    ["x0", "u16"],
    ["x1", "u16"],
    ["cov", "u8"],
  ])
    out.array(
      runs.map((run) => run[field]),
      kind,
    );
}

function counterPayload(out, track, begin, width) {
  const buckets = new Map();
  let before = null;
  for (const [t, value] of track.points) {
    const x = Math.floor((t - begin) / width);
    if (x < 0) before = value;
    if (x < 0 || x >= kBuckets) continue;
    const now = buckets.get(x) ?? { min: value, max: value, last: value };
    buckets.set(x, { min: Math.min(now.min, value), max: Math.max(now.max, value), last: value });
  }
  if (before !== null && !buckets.has(0)) buckets.set(0, { min: before, max: before, last: before });
  const xs = [...buckets.keys()].sort((a, b) => a - b);
  out.u16(1);
  out.u16(0);
  out.u32(xs.length);
  out.array(xs, "u16");
  for (const field of ["min", "max", "last"])
    out.array(
      xs.map((x) => buckets.get(x)[field]),
      "f32",
    );
}

/** One tile with its header. */
export function encodeTile(dataset, [id, level, index]) {
  const track = dataset.tracks[id - 1];
  const width = 2 ** level;
  const begin = index * kBuckets * width;
  const out = new Writer();
  let kind = 4;
  if (track?.kind === "slices") {
    kind = 1;
    slicesPayload(out, track, begin, width);
  } else if (track?.kind === "counter") {
    kind = 3;
    counterPayload(out, track, begin, width);
  } else if (track) {
    kind = 2;
    summaryPayload(out, dataset, track, begin, width);
  }
  const head = new Writer();
  head.u32(16 + out.bytes.length);
  head.u32(id);
  head.u8(level);
  head.u8(kind);
  head.u16(0);
  head.u32(index);
  return Uint8Array.from([...head.bytes, ...out.bytes]);
}

export function encodeTiles(dataset, keys) {
  const tiles = keys.map((key) => encodeTile(dataset, key));
  const all = new Uint8Array(tiles.reduce((sum, tile) => sum + tile.length, 0));
  let at = 0;
  for (const tile of tiles) {
    all.set(tile, at);
    at += tile.length;
  }
  return all;
}
