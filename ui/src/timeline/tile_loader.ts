// Asks the server for the tiles a view wants: newest wish first, a wish nobody has any more is never sent.
import type { TileCache, TileKey } from "./tile_cache";
import { decodeTiles } from "./tile_codec";

const kBatch = 128;
const kInFlight = 3;
const kRetryMs = 1500;

export class TileLoader {
  private wanted: TileKey[] = [];
  private readonly flying = new Set<string>();
  private readonly failed = new Map<string, number>();
  private requests = 0;
  private generation = 0;

  constructor(
    private readonly cache: TileCache,
    private readonly fetchTiles: (keys: TileKey[]) => Promise<ArrayBuffer>,
    private readonly onArrived: () => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** True while answers are on their way. */
  get busy(): boolean {
    return this.requests > 0;
  }

  /** Replaces what is wanted, most urgent first. */
  want(keys: TileKey[]): void {
    this.wanted = keys;
    this.pump();
  }

  /** Answers to requests made before are dropped: they speak of other times. */
  reset(): void {
    this.generation++;
    this.flying.clear();
    this.failed.clear();
    this.wanted = [];
  }

  private pump(): void {
    while (this.requests < kInFlight) {
      const batch = this.takeBatch();
      if (batch.length === 0) return;
      void this.request(batch);
    }
  }

  private takeBatch(): TileKey[] {
    const batch: TileKey[] = [];
    const now = Date.now();
    for (const key of this.wanted) {
      if (batch.length >= kBatch) break;
      const name = key.join("/");
      if (this.flying.has(name) || now - (this.failed.get(name) ?? 0) < kRetryMs || this.cache.get(...key)) continue;
      this.flying.add(name);
      batch.push(key);
    }
    return batch;
  }

  private async request(batch: TileKey[]): Promise<void> {
    const generation = this.generation;
    this.requests++;
    try {
      const tiles = decodeTiles(await this.fetchTiles(batch));
      if (generation !== this.generation) return;
      for (const tile of tiles) this.cache.put(tile);
      for (const key of batch) this.flying.delete(key.join("/"));
      this.onArrived();
    } catch (error) {
      if (generation !== this.generation) return;
      for (const key of batch) {
        this.flying.delete(key.join("/"));
        this.failed.set(key.join("/"), Date.now());
      }
      this.onError(error);
    } finally {
      this.requests--;
      this.pump();
    }
  }
}
