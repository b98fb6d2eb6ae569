// What users choose for themselves: keys, colours by filters, groups of ranks, filters and colours of tables, what they drop on the page.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MetricReply } from "../../src/api_types";
import { rankGroupName } from "../../src/pages/cluster/strategy";
import { curvesOf, kBaselineCurves, seriesText } from "../../src/pages/curves";
import { keysOf, readOwnKeys, withKey } from "../../src/state/commands";
import { TrackTree } from "../../src/state/tracks";
import { droppedPath, plainName } from "../../src/state/uploading";
import { numberFor } from "../../src/table/filter_popover";
import { tenthOf } from "../../src/table/percentiles";
import { kByName, mix, pixel } from "../../src/timeline/colors";
import { readFilterColors, rulesText } from "../../src/timeline/filter_colors";
import { computeLayout, isOfData, kPlainLanes } from "../../src/timeline/layout";
import { type CounterColumns, fillHeat, makeBitmap, type Paint } from "../../src/timeline/raster";
import { Shading } from "../../src/timeline/shading";
import * as answers from "../mock/answers.mjs";
import { Dataset } from "../mock/dataset.mjs";

test("a key of one's own is taken from the command that had it", () => {
  const all = [
    { id: "pin", keys: ["P"] },
    { id: "hide", keys: ["H", "Ctrl+H"] },
  ];
  const own = withKey(new Map(), all, "pin", "H");
  assert.deepEqual(all.map((command) => keysOf(command, own)), [["H"], ["Ctrl+H"]]);
  assert.deepEqual(keysOf(all[0]!, withKey(own, all, "hide", "H")), [], "and back again");
  assert.deepEqual([...readOwnKeys('{"pin":["X"],"hide":"Y","other":[1]}')], [["pin", ["X"]]]);
  assert.equal(readOwnKeys("[[").size, 0);
});

test("rules of colours are read from what is stored and from links; what is none is left out", () => {
  const rules = [{ filter: 'name~"a|b" dur>1ms', color: "#ff0000" }];
  assert.deepEqual(readFilterColors(rulesText(rules)), rules);
  assert.deepEqual(readFilterColors('[{"filter":" ","color":"#ff0000"},{"filter":"x","color":"red"},3,null]'), []);
  assert.equal(rulesText([]), "");
});

test("slices that no rule holds for keep the colour of their name", () => {
  const shading = new Shading(() => Promise.resolve([]), () => undefined);
  shading.setRules([{ filter: "dur>1ms", color: "#102030" }]);
  shading.use("rules");
  const table = shading.table(0)!;
  assert.equal(table[0], kByName);
  assert.equal(table[1], pixel(0x10, 0x20, 0x30));
  assert.deepEqual(shading.filters, ["dur>1ms"]);
});

test("ranks in groups stand below a header each, in the order of their names; a closed one hides them", () => {
  const tree = new TrackTree(answers.tracks(new Dataset({ ranks: 3, kernels: 2, streams: 1 })));
  const of = new Map([[0, "pp10"], [1, "pp2"], [2, "pp10"]]);
  const closed = new Set(["r0", "r1", "r2"]);
  const paths = (state: object) => computeLayout(tree, { ...kPlainLanes, groups: { by: "pp", of }, closed, ...state }).lanes.map((lane) => lane.track.path);
  assert.deepEqual(paths({}), ["@pp2", "r1", "@pp10", "r0", "r2"]);
  assert.deepEqual(paths({ closed: new Set([...closed, "@pp10"]) }), ["@pp2", "r1", "@pp10"]);
  assert.deepEqual(paths({ ranks: new Set([1]) }), ["@pp2", "r1"], "no header without ranks");
  const lanes = computeLayout(tree, { ...kPlainLanes, groups: { by: "pp", of } }).lanes;
  assert.deepEqual(lanes.filter((lane) => !isOfData(lane.track)).map((lane) => [lane.track.name, lane.form]), [["pp2 · 1", "header"], ["pp10 · 2", "header"]]);
});

test("groups of ranks are named by what their ranks have in common", () => {
  assert.equal(rankGroupName("dp1-pp3-tp0", "pp"), "pp3");
  assert.equal(rankGroupName("dp1-pp3-tp0", "tp"), "dp1-pp3");
  assert.equal(rankGroupName("tp5", "tp"), "tp");
});

test("a strip of memory is the fuller the more a rank holds, on the scale of all", () => {
  const bitmap = makeBitmap(3, 1);
  const paint = { ground: pixel(255, 255, 255), bar: pixel(0, 0, 0) } as Paint;
  const max = new Float32Array([10, 5, NaN]);
  fillHeat(bitmap, 0, { min: max, max, last: max, low: 0, high: 10 } satisfies CounterColumns, 20, paint);
  assert.deepEqual([...bitmap.body], [mix(paint.ground, paint.bar, 0.08 + 0.92 * 0.5), mix(paint.ground, paint.bar, 0.08 + 0.92 * 0.25), paint.ground]);
});

test("limits are read in the unit of their column", () => {
  assert.equal(numberFor({ name: "Duration(us)", type: "double" }, "1.5ms"), 1500);
  assert.equal(numberFor({ name: "dur_ns", type: "int" }, "2us"), 2000);
  assert.equal(numberFor({ name: "start", type: "time_us" }, "1s"), 1e6);
  assert.equal(numberFor({ name: "count", type: "int" }, "12"), 12);
  assert.equal(numberFor({ name: "count", type: "int" }, "2us"), "2us", "no unit: the server says what is wrong");
});

test("a value is in the tenth that as many rows are below", () => {
  const tenths = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  assert.deepEqual([0, 0.5, 4.5, 9.5].map((value) => tenthOf(value, tenths)), [0, 0, 4, 9]);
  assert.equal(tenthOf(7, new Array<number>(9).fill(7)), 5, "equal values are in the middle");
});

test("a path that is dropped is found, whoever it comes from", () => {
  assert.equal(droppedPath("file:///data/my%20run\r\n", ""), "/data/my run");
  assert.equal(droppedPath("", "/data/run\n/data/other"), "/data/run");
  assert.equal(droppedPath("https://example.org/", "some words"), "");
  assert.equal(plainName("../a b/.hidden/trä ce.json"), "a b/hidden/tr_ ce.json");
});

test("curves of the baseline begin where one's own begin", () => {
  const reply = (times: number[], late = 0): MetricReply => ({
    definition: "",
    query: "",
    warnings: [],
    tables: { points: { columns: ["series", "time_ms", "value_mb"].map((name) => ({ name, type: "double" })), rows: [...(late ? [["APP Reserved", late, 5]] : []), ...times.map((time, at) => ["PTA Allocated", time, at])] } },
  });
  const curves = curvesOf([reply([100, 110]), reply([7, 20])], ["", kBaselineCurves], 100);
  assert.deepEqual(curves.x, [100, 110, 113]);
  assert.deepEqual(curves.series.map((series) => series.values), [[0, 1, null], [0, null, 1]]);
  assert.match(seriesText(curves.series[1]!.name), /^Baseline: .*PTA/);
  assert.deepEqual(curvesOf([reply([100, 110]), reply([7, 20], 15)], ["", kBaselineCurves], 100).x, [100, 108, 110, 113], "its first point need not be its earliest");
});
