// Level of detail. Level L has buckets of 2^L ns; a tile is 1024 buckets of one track.

export const kBuckets = 1024;
const kMaxLevel = 44;

/** The level whose bucket is half to one device pixel at `nsPerPx`. */
export function levelFor(nsPerPx: number): number {
  if (!(nsPerPx > 1)) return 0;
  return Math.min(kMaxLevel, Math.floor(Math.log2(nsPerPx)));
}

export function bucketNs(level: number): number {
  return 2 ** level;
}

export function tileNs(level: number): number {
  return kBuckets * 2 ** level;
}

/** Index of the tile that holds time t. */
export function tileAt(t: number, level: number): number {
  return Math.floor(t / tileNs(level));
}

/** Indexes [first, last] of the tiles that touch [t0, t1); tiles before time 0 do not exist. */
export function tileRange(t0: number, t1: number, level: number): [number, number] {
  const first = Math.max(0, tileAt(t0, level));
  const last = Math.max(first, Math.ceil(t1 / tileNs(level)) - 1);
  return [first, last];
}
