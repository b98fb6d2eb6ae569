// The binary tiles of the API. Little endian; every array starts at a multiple of 4 bytes:
//   u32 bytes | u32 track | u8 L | u8 kind | u16 flags | u32 index | payload
// Decoded arrays are views of a copy of the tile: a view of the whole answer would keep all of its tiles in memory as long as one is used.

export interface SliceRow {
  n: number;
  /** First bucket of the run. */
  x0: Uint16Array;
  /** Bucket after its last one; 1024 = goes on in the next tile. */
  x1: Uint16Array;
  /** Name of the longest slice of the run. */
  name: Uint32Array;
  /** Ordinal of that slice in the track. */
  ord: Uint32Array;
  /** Slices that start in the run. */
  cnt: Uint16Array;
  /** Share of the run's width that is covered, of 255. */
  cov: Uint8Array;
  fl: Uint8Array;
  /** What the run is coloured by, if the tiles were asked for that. */
  shade: Uint8Array | null;
}

export const kClippedLeft = 1;
export const kClippedRight = 2;
export const kError = 4;
export const kHasFlow = 8;

/** Flag of a tile. */
const kHasShades = 1;
const kHasWaits = 2;

export interface CounterSeries {
  n: number;
  x: Uint16Array;
  min: Float32Array;
  max: Float32Array;
  last: Float32Array;
}

export interface SummaryRuns {
  n: number;
  x0: Uint16Array;
  x1: Uint16Array;
  cov: Uint8Array;
  /** Shares in which streams only waited; null where none does. */
  wait: Uint8Array | null;
}

interface Common {
  track: number;
  level: number;
  index: number;
  bytes: number;
}

export type Tile = Common &
  (
    | { kind: "slices"; rows: SliceRow[] }
    | { kind: "summary"; runs: SummaryRuns }
    | { kind: "counter"; series: CounterSeries[] }
    | { kind: "empty" }
    | { kind: "pending" }
  );

const kHeader = 16;

/** Reads arrays one after the other. */
class Cursor {
  constructor(
    private readonly buffer: ArrayBuffer,
    private at: number,
    private readonly end: number,
  ) {}

  /** Where an array of `bytes` begins; the cursor moves behind it to the next multiple of 4. */
  private take(bytes: number): number {
    const from = this.at;
    if (from + bytes > this.end)
      throw new RangeError(`tile cut off: ${bytes} bytes wanted at ${from}, ${this.end - from} there`);
    this.at = (from + bytes + 3) & ~3;
    return from;
  }

  u16pair(): number {
    return new Uint16Array(this.buffer, this.take(4), 2)[0]!;
  }
  u32(): number {
    return new Uint32Array(this.buffer, this.take(4), 1)[0]!;
  }
  u8s(n: number): Uint8Array {
    return new Uint8Array(this.buffer, this.take(n), n);
  }
  u16s(n: number): Uint16Array {
    return new Uint16Array(this.buffer, this.take(2 * n), n);
  }
  u32s(n: number): Uint32Array {
    return new Uint32Array(this.buffer, this.take(4 * n), n);
  }
  f32s(n: number): Float32Array {
    return new Float32Array(this.buffer, this.take(4 * n), n);
  }
}

function readRow(cursor: Cursor, shaded: boolean): SliceRow {
  const n = cursor.u32();
  return {
    n,
    x0: cursor.u16s(n),
    x1: cursor.u16s(n),
    name: cursor.u32s(n),
    ord: cursor.u32s(n),
    cnt: cursor.u16s(n),
    cov: cursor.u8s(n),
    fl: cursor.u8s(n),
    shade: shaded ? cursor.u8s(n) : null,
  };
}

function readSeries(cursor: Cursor): CounterSeries {
  const n = cursor.u32();
  return { n, x: cursor.u16s(n), min: cursor.f32s(n), max: cursor.f32s(n), last: cursor.f32s(n) };
}

function readSummary(cursor: Cursor, hasWaits: boolean): SummaryRuns {
  const n = cursor.u32();
  return { n, x0: cursor.u16s(n), x1: cursor.u16s(n), cov: cursor.u8s(n), wait: hasWaits ? cursor.u8s(n) : null };
}

/** A copy of the tile that begins at `at`. */
function ownPart(buffer: ArrayBuffer, at: number): ArrayBuffer {
  const bytes = new DataView(buffer, at, kHeader).getUint32(0, true);
  if (bytes < kHeader || bytes % 4 !== 0 || at + bytes > buffer.byteLength) {
    throw new RangeError(`tile of ${bytes} bytes at ${at} in an answer of ${buffer.byteLength}`);
  }
  return buffer.slice(at, at + bytes);
}

function decodeOne(buffer: ArrayBuffer): Tile {
  const head = new DataView(buffer, 0, kHeader);
  const bytes = buffer.byteLength;
  const common = { track: head.getUint32(4, true), level: head.getUint8(8), index: head.getUint32(12, true), bytes };
  const cursor = new Cursor(buffer, kHeader, bytes);
  const shaded = (head.getUint16(10, true) & kHasShades) !== 0;
  switch (head.getUint8(9)) {
    case 1:
      return { ...common, kind: "slices", rows: Array.from({ length: cursor.u16pair() }, () => readRow(cursor, shaded)) };
    case 2:
      return { ...common, kind: "summary", runs: readSummary(cursor, (head.getUint16(10, true) & kHasWaits) !== 0) };
    case 3:
      return { ...common, kind: "counter", series: Array.from({ length: cursor.u16pair() }, () => readSeries(cursor)) };
    case 4:
      return { ...common, kind: "empty" };
    case 5:
      return { ...common, kind: "pending" };
    default:
      throw new RangeError(`tile of unknown kind ${head.getUint8(9)}`);
  }
}

/** All tiles of an answer. Throws RangeError if the bytes are not tiles. */
export function decodeTiles(buffer: ArrayBuffer): Tile[] {
  const tiles: Tile[] = [];
  for (let at = 0; at < buffer.byteLength;) {
    if (at + kHeader > buffer.byteLength) throw new RangeError(`answer ends inside a tile's header at ${at}`);
    const tile = decodeOne(ownPart(buffer, at));
    tiles.push(tile);
    at += tile.bytes;
  }
  return tiles;
}

/** Index of the first run of a row that ends after bucket x. */
export function firstRunAfter(x1: Uint16Array, x: number): number {
  let low = 0;
  let high = x1.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x1[middle]! <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}
