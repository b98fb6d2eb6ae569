// Tiles in memory, least recently drawn ones go first. Times of an alignment belong to it: clear() when it changes.
import { tileNs } from "./lod";
import type { Tile } from "./tile_codec";

export type TileKey = [track: number, level: number, index: number];

interface Entry {
  tile: Tile;
  used: number;
}

/** Level and index in one number; index < 2^44 for all times below 2^54 ns. */
function slot(level: number, index: number): number {
  return level * 2 ** 44 + index;
}

/** A tile and the part of time for which it stands in. */
export interface Source {
  tile: Tile;
  from: number;
  to: number;
}

const kCoarser = 14;
const kFiner = 2;

export class TileCache {
  /** Grows with every change, so that a drawing knows that it is out of date. */
  version = 0;
  private bytes = 0;
  private clock = 0;
  private readonly tracks = new Map<number, Map<number, Entry>>();

  constructor(private readonly limit_bytes = 96 * 1024 * 1024) {}

  get size_bytes(): number {
    return this.bytes;
  }

  /** Marks the beginning of a frame; what is used in it is kept longest. */
  tick(): void {
    this.clock++;
  }

  get(track: number, level: number, index: number): Tile | null {
    const entry = this.tracks.get(track)?.get(slot(level, index));
    if (!entry) return null;
    entry.used = this.clock;
    return entry.tile;
  }

  put(tile: Tile): void {
    let slots = this.tracks.get(tile.track);
    if (!slots) this.tracks.set(tile.track, (slots = new Map()));
    const key = slot(tile.level, tile.index);
    this.bytes += tile.bytes - (slots.get(key)?.tile.bytes ?? 0);
    slots.set(key, { tile, used: this.clock });
    this.version++;
    if (this.bytes > this.limit_bytes) this.evict();
  }

  clear(): void {
    this.tracks.clear();
    this.bytes = 0;
    this.version++;
  }

  /** Forgets what was not ready or empty when it was asked for: more of the data has been read. */
  dropPending(): void {
    for (const slots of this.tracks.values()) {
      for (const [key, entry] of slots) {
        if (entry.tile.kind !== "pending" && entry.tile.kind !== "empty") continue;
        this.bytes -= entry.tile.bytes;
        slots.delete(key);
      }
    }
    this.version++;
  }

  /** What to draw for tile (level, index): itself, a coarser one that contains it, else finer ones that cover parts of it. */
  sources(track: number, level: number, index: number): Source[] {
    const from = index * tileNs(level);
    const to = from + tileNs(level);
    let at = index;
    for (let up = level; up <= level + kCoarser; up++, at = Math.floor(at / 2)) {
      const tile = this.get(track, up, at);
      if (tile && (tile.kind !== "pending" || up === level)) return [{ tile, from, to }];
    }
    const found: Source[] = [];
    for (let down = 1; down <= kFiner && level - down >= 0 && found.length === 0; down++) {
      for (let part = 0; part < 2 ** down; part++) {
        const tile = this.get(track, level - down, index * 2 ** down + part);
        const start = tile ? tile.index * tileNs(tile.level) : 0;
        if (tile) found.push({ tile, from: start, to: start + tileNs(tile.level) });
      }
    }
    return found;
  }

  private evict(): void {
    const all: { slots: Map<number, Entry>; key: number; entry: Entry }[] = [];
    for (const slots of this.tracks.values()) for (const [key, entry] of slots) all.push({ slots, key, entry });
    all.sort((a, b) => a.entry.used - b.entry.used);
    for (const { slots, key, entry } of all) {
      if (this.bytes <= this.limit_bytes * 0.8 || entry.used === this.clock) break;
      slots.delete(key);
      this.bytes -= entry.tile.bytes;
    }
  }
}
