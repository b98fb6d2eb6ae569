import assert from "node:assert/strict";
import { test } from "node:test";
import * as answers from "../mock/answers.mjs";
import { Dataset } from "../mock/dataset.mjs";
import { encodeTiles } from "../mock/tiles.mjs";
import { TrackTree } from "../../src/state/tracks";
import { isDark, mix, nameHash, pixel, sliceColor, sliceFamily, trackFamily } from "../../src/timeline/colors";
import { layoutFlame, layoutInTime, sandwich, type FlameNode } from "../../src/timeline/flame_layout";
import { readRules, ruleName } from "../../src/timeline/color_rules";
import { hitRow, rowOfSlice } from "../../src/timeline/hit";
import { computeLayout, kPlainLanes, laneAt, lanesIn, type LaneState } from "../../src/timeline/layout";
import { levelFor } from "../../src/timeline/lod";
import { fitText } from "../../src/timeline/labels";
import { stepToShow } from "../../src/timeline/moving";
import { NameTable } from "../../src/timeline/names";
import { fillRow, makeBitmap, type Scale, shadeColor, shiftBitmap } from "../../src/timeline/raster";
import { moduleColors, moduleKind, percentileColor, Shading } from "../../src/timeline/shading";
import { TileCache } from "../../src/timeline/tile_cache";
import { decodeTiles, type SliceRow } from "../../src/timeline/tile_codec";
import { clampView, fitView, History, homeView, kMinNsPerPx, sameView, type View, zoomView } from "../../src/timeline/view";
import { axisTicks } from "../../src/timeline/axis";

const dataset = new Dataset({ ranks: 2, kernels: 60 });
const tree = new TrackTree(answers.tracks(dataset));
const stream = dataset.tracks.find((track) => track.path === "r0/hw/stream2")!;
const none = kPlainLanes;

function scaleOf(t0: number, t1: number, width: number): Scale {
  const nsPerPx = (t1 - t0) / width;
  return { t0, nsPerPx, width, level: levelFor(nsPerPx) };
}

function cacheFor(scale: Scale, track: number): TileCache {
  const cache = new TileCache();
  const first = Math.max(0, Math.floor(scale.t0 / (1024 * 2 ** scale.level)));
  const last = Math.floor((scale.t0 + scale.width * scale.nsPerPx) / (1024 * 2 ** scale.level));
  const keys: [number, number, number][] = [];
  for (let index = first; index <= last; index++) keys.push([track, scale.level, index]);
  for (const tile of decodeTiles(encodeTiles(dataset, keys).slice().buffer as ArrayBuffer)) cache.put(tile);
  return cache;
}

test("hit test finds the slice at its middle when it is wide enough", () => {
  const scale = scaleOf(0, 200_000, 1600);
  const cache = cacheFor(scale, stream.id);
  const visible = stream.slices!.filter((slice) => slice.begin + slice.dur < 200_000 && slice.dur > 4 * scale.nsPerPx);
  assert.ok(visible.length > 2);
  for (const slice of visible) {
    const hit = hitRow(cache, stream.id, slice.row, slice.begin + slice.dur / 2, scale, 0);
    assert.equal(hit?.ord, slice.ord);
    assert.ok(Math.abs(hit!.t0 - slice.begin) <= 2 ** scale.level);
    assert.equal(rowOfSlice(cache, stream.id, slice.ord, slice.begin + slice.dur / 2, scale), slice.row);
  }
  assert.equal(hitRow(cache, stream.id, 0, -5, scale, 0), null);
  assert.equal(hitRow(cache, stream.id, 77, 1000, scale, 0), null);
});

test("thin slices are met within the slack only", () => {
  const scale = scaleOf(0, 1_000_000, 1000);
  const cache = cacheFor(scale, stream.id);
  const first = stream.slices![0]!;
  const before = first.begin - 2 * scale.nsPerPx;
  if (before > 0) assert.equal(hitRow(cache, stream.id, 0, before, scale, 0), null);
  assert.equal(hitRow(cache, stream.id, 0, Math.max(0, before), scale, 4)?.ord, first.ord);
});

test("lanes are stacked without gaps and found again by height", () => {
  const layout = computeLayout(tree, none);
  let y = 0;
  for (const lane of layout.lanes) {
    assert.equal(lane.y, y);
    assert.equal(laneAt(layout.lanes, y), lane);
    assert.equal(laneAt(layout.lanes, y + lane.height - 0.5), lane);
    y += lane.height;
  }
  assert.equal(layout.height, y);
  assert.equal(laneAt(layout.lanes, y), null);
  assert.equal(lanesIn(layout.lanes, 0, y).length, layout.lanes.length);
});

test("hidden, solo, filter, rank and pin change what is shown", () => {
  const paths = (state: Partial<LaneState>) =>
    computeLayout(tree, { ...none, ...state }).lanes.map((lane) => lane.track.path);
  assert.ok(!paths({ hidden: new Set(["r0/hw"]) }).some((path) => path.startsWith("r0/hw")));
  assert.deepEqual(paths({ solo: "r1/hw" }), ["r1", "r1/hw", "r1/hw/stream2"]);
  assert.deepEqual(paths({ filter: (track) => track.name === "Stream 2" }), [
    "r0",
    "r0/hw",
    "r0/hw/stream2",
    "r1",
    "r1/hw",
    "r1/hw/stream2",
  ]);
  assert.ok(paths({ ranks: new Set([1]) }).every((path) => path.startsWith("r1")));
  const pinned = computeLayout(tree, { ...none, pinned: ["r1/hw/stream2", "gone"] });
  assert.deepEqual(
    pinned.pinned.map((lane) => lane.track.path),
    ["r1/hw/stream2"],
  );
  assert.ok(paths({ closed: new Set(["r0"]) }).includes("r0") && !paths({ closed: new Set(["r0"]) }).includes("r0/hw"));
});

test("many ranks start as strips", () => {
  const many = new TrackTree(answers.tracks(new Dataset({ ranks: 40, kernels: 1 })));
  const layout = computeLayout(many, none);
  assert.equal(layout.lanes.length, 40);
  assert.ok(layout.lanes.every((lane) => lane.form === "strip"));
  const sorted = computeLayout(many, { ...none, order: [7, 3] }).lanes.map((lane) => lane.track.rank);
  assert.deepEqual(sorted.slice(0, 4), [7, 3, 0, 1]);
});

const names = new NameTable(
  () => Promise.resolve({}),
  () => undefined,
);
names.add(Object.fromEntries(dataset.strings.entries()));
const paint = { ground: pixel(255, 255, 255), bar: pixel(0, 0, 0), names };

test("a moved bitmap equals one that was drawn anew", () => {
  const before = scaleOf(0, 400_000, 800);
  const after = { ...before, t0: 37 * before.nsPerPx };
  const cache = cacheFor({ ...before, width: 1000 }, stream.id);
  const job = { track: stream.id, row: 0, family: "vector" as const, at: 0, kind: "slices" as const, shades: null };
  const moved = makeBitmap(800, 1);
  fillRow(moved, job, cache, before, paint, { from: 0, to: 800 });
  const columns = shiftBitmap(moved, 37);
  assert.deepEqual(columns, { from: 763, to: 800 });
  fillRow(moved, job, cache, after, paint, columns);
  const fresh = makeBitmap(800, 1);
  fillRow(fresh, job, cache, after, paint, { from: 0, to: 800 });
  const differing = [...fresh.body].filter((value, at) => value !== moved.body[at]).length;
  assert.equal(differing, 0);
});

test("a slice that is there colours its pixel, empty time keeps the ground", () => {
  const scale = scaleOf(0, 200_000, 1600);
  const cache = cacheFor(scale, stream.id);
  const bitmap = makeBitmap(1600, 1);
  fillRow(bitmap, { track: stream.id, row: 0, family: "vector", at: 0, kind: "slices", shades: null }, cache, scale, paint, {
    from: 0,
    to: 1600,
  });
  const first = stream.slices![0]!;
  assert.notEqual(bitmap.body[Math.floor((first.begin + first.dur / 2) / scale.nsPerPx)], paint.ground);
  assert.equal(bitmap.body[0], paint.ground);
});

test("a number in the tile gives the colour; a search still makes names fade", () => {
  const row = { n: 2, name: new Uint32Array([1, 2]), shade: new Uint8Array([0, 255]) } as unknown as SliceRow;
  const own = new NameTable(() => Promise.resolve({}), () => undefined);
  own.add({ "1": "a", "2": "b" });
  own.style(false, paint.ground);
  const shading = new Shading(() => Promise.resolve([]), () => undefined);
  assert.equal(shading.table(0), null);
  shading.use("percentile");
  const shades = shading.table(0)!;
  assert.equal(shadeColor(shades, row, 1, paint.ground, own), percentileColor(1, false));
  assert.notEqual(shadeColor(shades, row, 0, paint.ground, own), percentileColor(0, false), "alone of its name");
  own.dimExcept((name) => name === "a", 0);
  own.color("vector", 2);
  assert.equal(shadeColor(shades, row, 1, paint.ground, own), paint.ground);
});

test("modules of a kind have one hue, and colours arrive with their names", async () => {
  let arrived = 0;
  const shading = new Shading((rank) => Promise.resolve(rank === 3 ? ["Net/Linear_0", "Net/[Backward]Linear_7"] : []), () => arrived++);
  shading.use("module");
  const before = shading.table(3)![1];
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(arrived, 1);
  assert.equal(moduleKind("Net/[Backward]Linear_7"), "Linear");
  assert.notEqual(shading.table(3)![1], before);
  const [forward, backward, other] = moduleColors(["Net/Linear_0", "Net/[Backward]Linear_7", "Net/GELU_0"], false);
  const hue = (color: number) => Math.atan2(Math.sqrt(3) * (((color >> 8) & 255) - ((color >> 16) & 255)), 2 * (color & 255) - ((color >> 8) & 255) - ((color >> 16) & 255));
  assert.ok(Math.abs(hue(forward!) - hue(backward!)) < 0.1, "one hue a kind");
  assert.ok(Math.abs(hue(forward!) - hue(other!)) > 0.5, "another kind, another hue");
  assert.deepEqual(shading.modules(3), ["Net/Linear_0", "Net/[Backward]Linear_7"]);
});

test("zoom holds the moment under the pointer, and has a floor", () => {
  const view = zoomView({ t0: 0, t1: 1000 }, 250, 0.5);
  assert.deepEqual(view, { t0: 125, t1: 625 });
  const deep = clampView({ t0: 500, t1: 500.0001 }, [0, 1000], 1000);
  assert.ok(Math.abs(deep.t1 - deep.t0 - 1000 * kMinNsPerPx) < 1e-6);
  const far = clampView({ t0: -1e9, t1: 1e9 }, [0, 1000], 1000);
  assert.ok(far.t1 - far.t0 <= 1100);
  assert.ok(fitView([0, 1000]).t0 < 0);
  assert.deepEqual(homeView({ extent: [0, 1000], work: [400, 600] }), { t0: 398, t1: 602 }, "first the slices, not counters before them");
  assert.deepEqual(homeView({ extent: [0, 1000] }), fitView([0, 1000]));
  assert.ok(sameView({ t0: 398.001, t1: 602 }, { t0: 398, t1: 602 }) && !sameView({ t0: 390, t1: 602 }, { t0: 398, t1: 602 }));
});

test("views can be gone back and forth through", () => {
  const history = new History<View>();
  history.leave({ t0: 0, t1: 10 }, 1000, "view");
  history.leave({ t0: 1, t1: 9 }, 1100, "view");
  history.leave({ t0: 2, t1: 8 }, 5000, "view");
  assert.deepEqual(history.undo({ t0: 3, t1: 7 }), { t0: 2, t1: 8 });
  assert.deepEqual(history.undo({ t0: 2, t1: 8 }), { t0: 0, t1: 10 });
  assert.equal(history.undo({ t0: 0, t1: 10 }), null);
  assert.deepEqual(history.redo({ t0: 0, t1: 10 }), { t0: 2, t1: 8 });
});

test("an action of another kind is an entry of its own, however fast it follows", () => {
  const history = new History<string>();
  history.leave("first", 1000, "view");
  history.leave("second", 1010, "lanes 1");
  assert.equal(history.undo("third"), "second");
  assert.equal(history.undo("second"), "first");
});

test("N shows the step that is looked at, then walks", () => {
  const steps = [0, 1, 2].map((k) => ({ step: k, begin: k * 100, end: k * 100 + 100 }));
  assert.equal(stepToShow(steps, { t0: 0, t1: 300 }, 1), 0);
  assert.equal(stepToShow(steps, { t0: 0, t1: 300 }, -1), 2);
  assert.equal(stepToShow(steps, { t0: 110, t1: 130 }, 1), 1);
  assert.equal(stepToShow(steps, { t0: 95, t1: 205 }, 1), 2);
  assert.equal(stepToShow(steps, { t0: 95, t1: 205 }, -1), 0);
  assert.equal(stepToShow([], { t0: 0, t1: 1 }, 1), -1);
});

test("colours: families by place and name, running numbers do not matter", () => {
  const track = tree.byPath.get("r0/hw/stream2")!;
  assert.equal(trackFamily(track, tree.ancestors(track)), "vector");
  assert.equal(sliceFamily("vector", "MatMulV2_12"), "cube");
  assert.equal(sliceFamily("vector", "Notify_Wait"), "wait");
  assert.equal(sliceFamily("comm", "hcom_allReduce__1_2"), "comm");
  assert.equal(nameHash("hcom_allReduce__917_1"), nameHash("hcom_allReduce__918_2"));
  assert.notEqual(sliceColor("cube", "Computing", "family", false), sliceColor("free", "Free", "family", false));
  assert.equal(mix(pixel(0, 0, 0), pixel(200, 100, 50), 0.5), pixel(100, 50, 25));
  assert.ok(isDark(pixel(0, 0, 0)) && !isDark(pixel(255, 255, 255)));
});

test("labels are cut in the middle and never wider than their slice", () => {
  const measure = (text: string) => text.length * 6;
  for (const room of [10, 30, 60, 90, 500])
    assert.ok(measure(fitText(measure, "aten::scaled_dot_product", room)) <= room);
  assert.equal(fitText(measure, "abc", 18), "abc");
  assert.match(fitText(measure, "aten::scaled_dot_product", 72), /^aten.*…/);
});

test("axis ticks are round and lie in view", () => {
  const { step, ticks } = axisTicks(123, 98765, 1000, 100);
  assert.equal(step, 10000);
  assert.ok(ticks.every((tick) => tick >= 123 && tick <= 98765 && tick % step === 0));
});

const nowhere = { count: 1, begin_ns: 0, end_ns: 0, track: 0, depth: 0, x: 0, w: 0 };

test("a flame in order of time puts bars where they were, tracks below each other", () => {
  const node = (id: number, parent: number, track: number, begin_ns: number, end_ns: number): FlameNode => ({ ...nowhere, id, parent, name: `n${id}`, total_ns: 0, self_ns: 0, begin_ns, end_ns, track });
  const placed = layoutInTime([node(0, -1, 7, 100, 200), node(1, 0, 7, 150, 200), node(2, -1, 9, 0, 100)], 0, 200);
  assert.deepEqual(
    placed.map(({ depth, x, w }) => [depth, x, w]),
    [
      [0, 0.5, 0.5],
      [1, 0.75, 0.25],
      [2, 0, 0.5],
    ],
  );
});

test("flame children lie inside their parents, widest first", () => {
  const node = (id: number, parent: number, total: number): FlameNode => ({
    id,
    parent,
    name: `n${id}`,
    total_ns: total,
    self_ns: 0,
    ...nowhere,
  });
  const placed = layoutFlame([node(1, 0, 100), node(2, 1, 20), node(3, 1, 60)], null);
  assert.deepEqual(
    placed.map((each) => [each.id, each.depth, Math.round(each.x * 100), Math.round(each.w * 100)]),
    [
      [1, 0, 0, 100],
      [3, 1, 0, 60],
      [2, 1, 60, 20],
    ],
  );
  assert.deepEqual(
    layoutFlame([node(1, 0, 100), node(2, 1, 20)], 2).map((each) => [each.id, each.w]),
    [[2, 1]],
  );
});

test("a name is seen from both sides: its callers and its callees, once where it calls itself", () => {
  const node = (id: number, parent: number, name: string, total_ns: number, self_ns: number) => ({ ...nowhere, id, parent, name, total_ns, self_ns });
  const nodes = [node(0, -1, "main", 100, 10), node(1, 0, "train", 90, 20), node(2, 1, "op", 40, 25), node(3, 2, "op", 15, 5), node(4, 3, "kernel", 10, 10), node(5, 1, "other", 30, 10), node(6, 5, "op", 20, 20)];
  const { callers, callees } = sandwich(nodes, "op");
  const named = (list: typeof nodes) => Object.fromEntries(layoutFlame(list, null).map(({ name, depth, total_ns }) => [`${depth} ${name}`, total_ns]));
  assert.deepEqual(named(callers), { "0 op": 60, "1 train": 40, "2 main": 40, "1 other": 20, "2 train": 20, "3 main": 20 }, "from the name outwards");
  assert.deepEqual(named(callees), { "0 op": 60, "1 op": 15, "2 kernel": 10 });
});

test("colours of one's own hold for a name whatever its running number", () => {
  assert.equal(ruleName("hcom_allReduce__586_0_1"), "hcom_allReduce");
  assert.equal(ruleName("aten::mm"), "aten::mm");
  assert.deepEqual([...readRules('{"a":"#12ab34","b":"red","c":7}')], [["a", "#12ab34"]]);
  assert.deepEqual([...readRules("not json")], []);
});
