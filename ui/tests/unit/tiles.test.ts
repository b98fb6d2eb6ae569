import assert from "node:assert/strict";
import { test } from "node:test";
import { Dataset } from "../mock/dataset.mjs";
import { encodeTile, encodeTiles, rowRuns } from "../mock/tiles.mjs";
import { levelFor, tileNs, tileRange } from "../../src/timeline/lod";
import { TileCache } from "../../src/timeline/tile_cache";
import { decodeTiles, firstRunAfter } from "../../src/timeline/tile_codec";
import { TileLoader } from "../../src/timeline/tile_loader";

const dataset = new Dataset({ ranks: 1, kernels: 60 });
const stream = dataset.tracks.find((track) => track.path === "r0/hw/stream2")!;
const buffer = (bytes: Uint8Array): ArrayBuffer => bytes.slice().buffer as ArrayBuffer;

test("level is the one whose bucket is half to one pixel", () => {
  for (const ns of [0.05, 0.9, 1, 1.5, 2, 3, 1000, 1e6, 123456789]) {
    const bucket = 2 ** levelFor(ns);
    if (ns >= 1) assert.ok(bucket <= ns && bucket > ns / 2, `${ns} ns/px -> ${bucket}`);
    else assert.equal(bucket, 1);
  }
  assert.equal(levelFor(Infinity), 44);
});

test("tile range covers a view and never begins before time 0", () => {
  assert.deepEqual(tileRange(-500, 10, 0), [0, 0]);
  assert.deepEqual(tileRange(1024, 2048, 0), [1, 1]);
  assert.deepEqual(tileRange(1023, 2049, 0), [0, 2]);
});

test("slice tiles decode to the runs that were encoded", () => {
  const level = 15;
  const tiles = decodeTiles(buffer(encodeTiles(dataset, [[stream.id, level, 0]])));
  const tile = tiles[0]!;
  assert.equal(tile.kind, "slices");
  if (tile.kind !== "slices") return;
  assert.equal(tile.rows.length, stream.rows);
  const expected = rowRuns(
    stream.slices!.filter((slice) => slice.row === 0),
    0,
    2 ** level,
  );
  const row = tile.rows[0]!;
  assert.equal(row.n, expected.length);
  expected.forEach((run, k) => {
    assert.deepEqual(
      [row.x0[k], row.x1[k], row.name[k], row.ord[k], row.cnt[k], row.cov[k], row.fl[k]],
      [run.x0, run.x1, run.name, run.ord, run.cnt, run.cov, run.fl],
    );
  });
});

test("every slice that starts in a tile is counted once", () => {
  for (const level of [8, 12, 15, 20]) {
    let counted = 0;
    const last = Math.floor(dataset.extent[1]! / tileNs(level));
    for (let index = 0; index <= last; index++) {
      const tile = decodeTiles(buffer(encodeTile(dataset, [stream.id, level, index])))[0]!;
      if (tile.kind === "slices") for (const row of tile.rows) for (const count of row.cnt) counted += count;
    }
    assert.equal(counted, stream.slices!.length, `level ${level}`);
  }
});

test("summary and counter tiles decode, unknown tracks are empty", () => {
  const hw = dataset.tracks.find((track) => track.path === "r0/hw")!;
  const hbm = dataset.tracks.find((track) => track.kind === "counter")!;
  const tiles = decodeTiles(
    buffer(
      encodeTiles(dataset, [
        [hw.id, 15, 0],
        [hbm.id, 15, 0],
        [999, 15, 0],
      ]),
    ),
  );
  assert.deepEqual(
    tiles.map((tile) => tile.kind),
    ["summary", "counter", "empty"],
  );
  const counter = tiles[1]!;
  if (counter.kind !== "counter") return;
  const series = counter.series[0]!;
  for (let k = 0; k < series.n; k++) assert.ok(series.min[k]! <= series.last[k]! && series.last[k]! <= series.max[k]!);
});

test("a summary tile may have waits beside the work", () => {
  const bytes = new Uint8Array(16 + 4 + 4 + 4 + 4 + 4);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length, true);
  view.setUint8(9, 2);
  view.setUint16(10, 2, true);
  view.setUint32(16, 1, true);
  view.setUint16(20, 3, true);
  view.setUint16(24, 7, true);
  view.setUint8(28, 0);
  view.setUint8(32, 255);
  const [tile] = decodeTiles(bytes.buffer);
  assert.ok(tile?.kind === "summary");
  assert.deepEqual([...tile.runs.x0, ...tile.runs.x1, ...tile.runs.cov, ...(tile.runs.wait ?? [])], [3, 7, 0, 255]);
  view.setUint16(10, 0, true);
  const [plain] = decodeTiles(bytes.buffer);
  assert.ok(plain?.kind === "summary" && plain.runs.wait === null);
});

test("bytes that are cut off anywhere are refused, not misread", () => {
  const whole = encodeTile(dataset, [stream.id, 15, 0]);
  for (let length = 1; length < whole.length; length += 7) {
    assert.throws(() => decodeTiles(buffer(whole.slice(0, length))), RangeError, `length ${length}`);
  }
  const wrong = whole.slice();
  wrong[9] = 77;
  assert.throws(() => decodeTiles(buffer(wrong)), /unknown kind 77/);
});

test("first run after a bucket is found by bisection", () => {
  const x1 = Uint16Array.from([2, 5, 9]);
  assert.deepEqual(
    [0, 1, 2, 4, 5, 8, 9].map((x) => firstRunAfter(x1, x)),
    [0, 0, 1, 1, 2, 2, 3],
  );
});

test("a missing tile is drawn from a coarser one, else from finer ones", () => {
  const cache = new TileCache();
  const put = (level: number, index: number) => cache.put({ kind: "empty", track: 1, level, index, bytes: 16 });
  assert.deepEqual(cache.sources(1, 10, 4), []);
  put(9, 8);
  assert.deepEqual(
    cache.sources(1, 10, 4).map((source) => source.tile.level),
    [9],
  );
  put(12, 1);
  const coarse = cache.sources(1, 10, 4)[0]!;
  assert.equal(coarse.tile.level, 12);
  assert.deepEqual([coarse.from, coarse.to], [4 * tileNs(10), 5 * tileNs(10)]);
  put(10, 4);
  assert.equal(cache.sources(1, 10, 4)[0]!.tile.level, 10);
});

test("the cache keeps what was drawn last when it is full", () => {
  const cache = new TileCache(1000);
  for (let index = 0; index < 20; index++) {
    cache.tick();
    cache.get(1, 0, 0);
    cache.put({ kind: "empty", track: 1, level: 0, index, bytes: 100 });
  }
  assert.ok(cache.size_bytes <= 1000);
  assert.ok(cache.get(1, 0, 19));
  assert.ok(cache.get(1, 0, 0), "drawn in every frame");
  assert.equal(cache.get(1, 0, 3), null);
});

test("the loader asks for a tile once and drops wishes that changed", async () => {
  const cache = new TileCache();
  const asked: string[] = [];
  const loader = new TileLoader(
    cache,
    (keys) => {
      asked.push(...keys.map((key) => key.join("/")));
      return Promise.resolve(buffer(encodeTiles(dataset, keys)));
    },
    () => undefined,
    (error) => assert.fail(String(error)),
  );
  loader.want([[stream.id, 15, 0]]);
  loader.want([[stream.id, 15, 0]]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  loader.want([[stream.id, 15, 0]]);
  assert.deepEqual(asked, [`${stream.id}/15/0`]);
  assert.ok(cache.get(stream.id, 15, 0));
});
