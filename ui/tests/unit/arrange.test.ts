// Merged and named lanes, lanes a search hides, differences of areas, drawing calls that are kept, sets of keys.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RangeReply } from "../../src/api_types";
import { keyNames } from "../../src/state/commands";
import { TrackTree } from "../../src/state/tracks";
import { diffAreas, diffCells } from "../../src/timeline/area_diff";
import { nameTest } from "../../src/timeline/filter";
import { includeNewRanks, moveLane, movedTo } from "../../src/timeline/lane_actions";
import { keysFor } from "../../src/timeline/key_presets";
import { computeLayout, kPlainLanes, type LaneHeight, type LaneState } from "../../src/timeline/layout";
import type { TimelineModel } from "../../src/timeline/model";
import { partsOf } from "../../src/timeline/merging";
import { makePreset, presetLanes, readPresets } from "../../src/timeline/own_presets";
import { PaintList, type Planes, replay, type Target } from "../../src/timeline/paint_list";
import * as answers from "../mock/answers.mjs";
import { Dataset } from "../mock/dataset.mjs";

const dataset = new Dataset({ ranks: 2, kernels: 20, streams: 3 });

function shown(tree: TrackTree, state: Partial<LaneState>): string[] {
  return computeLayout(tree, { ...kPlainLanes, ...state }).lanes.map((lane) => lane.track.path);
}

test("a merged lane stands where its first part was; the others are gone", () => {
  const tree = new TrackTree(answers.tracks(dataset));
  const parts = partsOf({ tree }, "r0/hw/stream2+stream4");
  assert.deepEqual(
    parts.map((part) => part.path),
    ["r0/hw/stream2", "r0/hw/stream4"],
  );
  const track = tree.addMerged(1000, "both", 4, 40, parts);
  const merged = new Map(parts.map((part) => [part.path, track]));
  const paths = shown(tree, { merged, solo: "r0/hw" });
  assert.deepEqual(paths, ["r0", "r0/hw", "r0/hw/stream2+stream4", "r0/hw/stream3"]);
  assert.equal(tree.label(track), "rank 0 / Ascend Hardware / both");
  assert.deepEqual(partsOf({ tree }, "r0/hw/stream2+stream9"), [], "a part that is missing");
  assert.deepEqual(partsOf({ tree }, "r0/hw/stream2"), [], "one lane is none merged");
});

test("lanes are moved among their siblings, ranks among ranks", () => {
  assert.deepEqual(movedTo(["a", "b", "c"], "a", "c"), ["b", "c", "a"], "down: behind it");
  assert.deepEqual(movedTo(["a", "b", "c"], "c", "a"), ["c", "a", "b"], "up: before it");
  const tree = new TrackTree(answers.tracks(dataset));
  let state: LaneState = { ...kPlainLanes, solo: "r0/hw" };
  const model = { tree, lanes: { get value() { return state; } }, arrange: (patch: Partial<LaneState>) => void (state = { ...state, ...patch }) } as unknown as TimelineModel;
  moveLane(model, "r0/hw/stream4", "r0/hw/stream2");
  assert.deepEqual(shown(tree, state), ["r0", "r0/hw", "r0/hw/stream4", "r0/hw/stream2", "r0/hw/stream3"]);
  moveLane(model, "r0/hw/stream4", "r1/hw/stream2");
  assert.deepEqual(shown(tree, state).slice(2), ["r0/hw/stream4", "r0/hw/stream2", "r0/hw/stream3"], "not into another rank");
  moveLane(model, "r0", "r1/hw/stream2");
  assert.deepEqual(state.order, [1, 0], "a lane below a rank stands for the rank");
});

test("ranks that are read later count for the scale of memory strips and have a group", async () => {
  let state: LaneState = { ...kPlainLanes, groups: { by: "node", of: new Map([[0, "a"]]) } };
  const model = {
    tree: new TrackTree(answers.tracks(dataset)),
    meta: { extent: [0, 100], ranks: [{ rank: 0, host: "a" }, { rank: 1, host: "b" }] },
    stripMetric: { value: "Memory" },
    stripHigh: 10,
    stripTrack: (root: { id: number }) => root,
    ds: { lanes: async ({ tracks }: { tracks: number[] }) => ({ rows: tracks.map((track, at) => [track, 0, 0, 10 * (at + 1)]) }) },
    lanes: { get value() { return state; } },
    changeLanes: (patch: Partial<LaneState>) => void (state = { ...state, ...patch }),
    invalidate: () => undefined,
  } as unknown as TimelineModel;
  await includeNewRanks(model);
  assert.equal(model.stripHigh, 20);
  assert.deepEqual([...(state.groups?.of ?? [])], [[0, "a"], [1, "b"]]);
  // An answer about fewer ranks that comes late does not count.
  const late = includeNewRanks(model);
  model.tree = new TrackTree(answers.tracks(dataset));
  model.stripHigh = 99;
  await late;
  assert.equal(model.stripHigh, 99);
});

test("a search that hides others leaves lanes with hits, merged ones by their parts", () => {
  const tree = new TrackTree(answers.tracks(dataset));
  const stream = tree.byPath.get("r1/hw/stream3")!;
  assert.deepEqual(shown(tree, { found: new Set([stream.id]) }), ["r1", "r1/hw", "r1/hw/stream3"]);
  const parts = partsOf({ tree }, "r1/hw/stream2+stream3");
  const track = tree.addMerged(1000, "both", 4, 40, parts);
  const merged = new Map(parts.map((part) => [part.path, track]));
  assert.deepEqual(shown(tree, { merged, found: new Set([stream.id]) }), ["r1", "r1/hw", "r1/hw/stream2+stream3"]);
});

test("areas are compared name by name, B - A, largest difference first", () => {
  const reply = (rows: (string | number)[][]): RangeReply => ({
    columns: ["name", "count", "wall"],
    rows,
    total: { sum: 0, covered: 0, range: 0, count: 0 },
    definition: "",
    elapsed_us: 0,
  });
  const rows = diffAreas(
    reply([
      ["same", 2, 4000],
      ["gone", 1, 1000],
    ]),
    reply([
      ["same", 4, 6000],
      ["new", 1, 9000],
    ]),
  );
  assert.deepEqual(
    rows.map((row) => row.name),
    ["new", "same", "gone"],
  );
  assert.deepEqual(diffCells(rows[1]!), ["same", 4, 6, 2, 1.5, 2, 4, 2, 2, 1.5]);
  assert.deepEqual(diffCells(rows[0]!), ["new", 0, 9, 9, null, 0, 1, 1, null, 9]);
});

test("drawing calls are made as they were asked for, and a value that is set already is not set again", () => {
  const list = new PaintList();
  list.fillStyle = "red";
  list.fillStyle = "red";
  list.save();
  list.fillStyle = "blue";
  list.fillRect(1, 2, 3, 4);
  list.restore();
  list.fillStyle = "red";
  list.band("edge", 5, 1, 100, 7, 2);
  list.fillText("text", 8, 9);
  const seen: unknown[] = [];
  const target = new Proxy(
    {},
    {
      get:
        (_, name) =>
        (...args: unknown[]) =>
          seen.push([name, ...args]),
      set: (_, name, value) => (seen.push([name, "=", value]), true),
    },
  );
  const planes = { body: "body canvas", edge: "edge canvas" } as unknown as Planes;
  replay(list.calls, target as Target, planes);
  assert.deepEqual(seen, [
    ["fillStyle", "=", "red"],
    ["save"],
    ["fillStyle", "=", "blue"],
    ["fillRect", 1, 2, 3, 4],
    ["restore"],
    ["drawImage", "edge canvas", 0, 5, 100, 1, 0, 7, 100, 2],
    ["fillText", "text", 8, 9],
  ]);
});

test("the keys of Perfetto replace those of Insight where they differ", () => {
  assert.deepEqual(keysFor("insight", "marker", ["K"]), ["K"]);
  assert.deepEqual(keysFor("perfetto", "marker", ["K"]), ["M", "Shift+M"]);
  assert.deepEqual(keysFor("perfetto", "explain", ["E"]), ["E"]);
  const event = { key: ">", code: "Period", ctrlKey: false, metaKey: false, altKey: false, shiftKey: true };
  assert.ok(keyNames(event).includes(keysFor("perfetto", "next_same", ["]"])[0]!));
});

test("what only the server can decide dims nothing", () => {
  assert.equal(nameTest("name~a or name~b", "contains"), null);
  assert.equal(nameTest("not (dur<10us)", "contains"), null);
  assert.ok(nameTest("add(int)", "contains")?.("aten::Add(int)"), "brackets in a plain name");
  assert.ok(nameTest("name~mat dur>5us", "contains")?.("MatMul"));
});

test("a lane is as tall as the user says", () => {
  const tree = new TrackTree(answers.tracks(dataset));
  const track = tree.all.find((each) => each.kind === "slices" && each.rows > 1)!;
  const height = (given: LaneHeight | null) => {
    const state = { ...kPlainLanes, heights: new Map(given ? [[track.path, given]] : []), solo: track.path };
    return computeLayout(tree, state).byTrack.get(track.id)!;
  };
  assert.equal(height("full").height, track.rows * 18 + 4);
  assert.ok(height("one").height <= 22, "one row");
  assert.ok(height("one").height < height("compact").height);
  assert.equal(height("compact").form, "thumb");
  assert.equal(height(null).height, height("full").height, "as before, without one");
});

test("an arrangement that was kept fits other ranks and datasets", () => {
  const tree = new TrackTree(answers.tracks(dataset));
  const preset = makePreset(
    "mine",
    {
      ...kPlainLanes,
      pinned: ["r0/hw/stream2", "r0/nowhere"],
      hidden: new Set(["r1/python"]),
      heights: new Map([["r0/hw/stream3", "one"]]),
    },
    "stream",
  );
  assert.deepEqual(preset.pinned, ["r*/hw/stream2", "r*/nowhere"]);
  const lanes = presetLanes(tree, readPresets(JSON.stringify([preset]))[0]!);
  assert.deepEqual(lanes.pinned, ["r0/hw/stream2", "r1/hw/stream2"]);
  assert.deepEqual([...lanes.hidden!], ["r0/python", "r1/python"]);
  assert.deepEqual([...lanes.heights!.keys()], ["r0/hw/stream3", "r1/hw/stream3"]);
  assert.deepEqual(readPresets("no json"), []);
  assert.deepEqual(readPresets('[{"name":1}, 7, {"name":"a","pinned":[1]}]'), []);
});
