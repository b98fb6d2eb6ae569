// What a new user meets first: the page that opens, readable names, one unit, and nothing that claims more than the data says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { scaleText } from "../../src/charts/heat_map";
import { oneUnit, signedDuration } from "../../src/format";
import { distinctLabels, kernelLabel } from "../../src/kernel_label";
import { durationSeries, sizeRows } from "../../src/pages/communication/calls";
import { missingSides, partTimes } from "../../src/pages/compare/parts";
import { firstPage, isListed, pages } from "../../src/pages/registry";
import { folderAbove } from "../../src/shell/file_browser";
import { groupedCommands } from "../../src/state/commands";
import { setOrigin, sinceOrigin } from "../../src/state/origin";
import { runsAsSides } from "../../src/state/sides";
import { TrackTree } from "../../src/state/tracks";
import { callsDown, callsUp, openRows } from "../../src/timeline/call_tree";
import { readNodes } from "../../src/timeline/flame_layout";
import { nameShift } from "../../src/timeline/headers";

type Meta = Parameters<typeof firstPage>[0];
const metaWith = (...views: string[]) =>
  ({ ready: true, views: Object.fromEntries(["overview", "timeline", "cluster", "pipeline"].map((view) => [view, { available: views.includes(view), missing: [] }])) }) as unknown as Meta;

test("the app opens on the Overview, on Cluster without a timeline, and where a link says", () => {
  assert.equal(firstPage(metaWith("overview", "timeline", "cluster"), new Map()), "overview");
  assert.equal(firstPage(metaWith("overview", "cluster"), new Map()), "cluster");
  assert.equal(firstPage(metaWith(), new Map()), "data");
  assert.equal(firstPage(metaWith("overview", "timeline"), new Map([["t", "0,5000"]])), "timeline");
});

test("the menu has a Pipeline only where there is one", () => {
  const pipeline = pages.find((page) => page.id === "pipeline")!;
  assert.equal(isListed(pipeline, metaWith("pipeline")), true);
  assert.equal(isListed(pipeline, metaWith("timeline")), false);
  assert.equal(isListed(pages[0]!, metaWith()), true);
});

test("kernel names are short as on the console", () => {
  const source = readFileSync("../src/base/kernel_label_test.cc", "utf8");
  const lines = /R"labels\(\n([\s\S]*?)\)labels"/.exec(source)![1]!.trimEnd().split("\n");
  assert.equal(lines.length, 34);
  for (let at = 0; at < lines.length; at += 2) assert.equal(kernelLabel(lines[at]!), lines[at + 1], lines[at]);
  assert.equal(kernelLabel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, ncclWork*)#12"), "ncclKernel_AllReduce_RING_LL_Sum_float#12");
});

test("labels that a cut would make alike differ", () => {
  const names = ["a", "b", "c"].map((tail) => `void at::native::cunn_SoftMaxForward<8, ${"x".repeat(60)}${tail}${"y".repeat(60)}>(int)`);
  const labels = distinctLabels([...names, names[0]!], 40);
  assert.equal(new Set(labels).size, 3);
  assert.equal(labels[0], labels[3]);
  assert.ok(labels.every((label) => label.length <= 40 && label.startsWith("cunn_SoftMax")));
});

test("durations of one chart have one unit, small ones do not vanish", () => {
  const write = oneUnit([2.616e9, 3.824e6]);
  assert.deepEqual([2.616e9, 3.824e6].map(write), ["2616.000 ms", "3.824 ms"]);
  assert.equal(oneUnit([1.5e9, 1.2e9])(1.2e9), "1.200 s");
  assert.deepEqual([28e3, -1.043e6, 0].map((ns) => signedDuration(ns, oneUnit([98.6e6, 17.2e6]))), ["+0.028 ms", "−1.043 ms", "0.000 ms"]);
  assert.equal(oneUnit([])(12), "12 ns");
});

test("moments since the epoch are counted from the begin of the data", () => {
  setOrigin("1716423322000000000");
  assert.equal(sinceOrigin("start_us", 1716423322965734), 965734);
  assert.equal(sinceOrigin("Start Time(us)", 1716423322000010), 10);
  assert.equal(sinceOrigin("dur_us", 5000), null);
  assert.equal(sinceOrigin("count", 1716423322965734), null);
  setOrigin("0");
});

test("a colour scale that does not start at 0 says so", () => {
  assert.equal(scaleText(0, 5, "ms"), "0 – 5 ms");
  assert.match(scaleText(2, 5, "ms"), /2 – 5 ms.*0/);
});

test("a side without data is missing, not faster", () => {
  const parts = partTimes([
    { part: "Computing", a_us: 90, b_us: 0 },
    { part: "Free", a_us: 112, b_us: 0 },
  ]);
  assert.deepEqual(parts.map(({ b }) => b), [null, null]);
  assert.deepEqual(missingSides(parts), [1]);
  assert.deepEqual(missingSides(partTimes([{ part: "Computing", a_us: 1, b_us: 2 }, { part: "Free", a_us: 0, b_us: 0 }])), []);
});

test("the run opened second is side B, with the same rank", () => {
  assert.deepEqual(runsAsSides([{ ds: "a" }, { ds: "b" }], 3), [{ ds: "a", rank: 3, step: null }, { ds: "b", rank: 3, step: null }]);
  assert.equal(runsAsSides([{ ds: "a" }], 3), null);
});

test("calls that cannot be divided are shown whole; sizes come from the calls", () => {
  const rows = [{ "Elapsed Time(ms)": 46.9, "Transit Time(ms)": null, "Wait Time(ms)": null, "Idle Time(ms)": null }];
  const series = durationSeries(rows, (key) => key);
  assert.deepEqual(series.at(-1), { name: "comm.undivided", color: "#7d8fb3", values: [46.9] });
  assert.equal(durationSeries([{ "Elapsed Time(ms)": 3, "Transit Time(ms)": 1, "Wait Time(ms)": 2, "Idle Time(ms)": 0 }], (key) => key).length, 3);
  const call = { rank: 0, name: "n", type: "allreduce", group: "0", dataType: "Float", bytes: 2e6, dur_ns: 1e6 };
  assert.deepEqual(sizeRows([call, { ...call, dur_ns: 3e6 }]), [["allreduce", "0", "Float", 2, 4, 4, 1]]);
});

test("lanes of the device stand before those of the host", () => {
  const cols = ["id", "parent", "kind", "name", "path", "rank", "rows", "n", "flags"];
  const group = (id: number, name: string, flags: number) => [id, 1, "group", name, `r0/${name}`, 0, 0, 1, flags];
  const tree = new TrackTree({ cols, rows: [[1, 0, "rank", "0", "r0", 0, 0, 1, 0], group(2, "py", 1), group(3, "cann", 33), group(4, "hw", 2), group(5, "comm", 6), group(6, "overlap", 16)] } as never);
  assert.deepEqual(tree.roots[0]!.children.map(({ name }) => name), ["hw", "comm", "overlap", "py", "cann"]);
});

test("the name of a lane that is scrolled stays visible below what covers its top", () => {
  assert.equal(nameShift(30, 22, 22), 0);
  assert.equal(nameShift(-60, 200, 22), 82);
  assert.equal(nameShift(-200, 200, 22), 178);
});

test("calls go down to callees and up to callers", () => {
  const columns = ["id", "parent", "name", "total_ns", "self_ns", "count"].map((name) => ({ name, type: "int" }));
  //   step 100: mm 60, add 30: mm 10
  const table = { columns, rows: [[0, -1, "step", 100, 10, 1], [1, 0, "mm", 60, 60, 2], [2, 0, "add", 30, 20, 1], [3, 2, "mm", 10, 10, 1]] };
  const nodes = readNodes(table as never);
  const down = openRows(callsDown(nodes), new Set(["/step", "/step/add"]));
  assert.deepEqual(down.map(({ node, depth }) => [node.name, depth, node.total_ns]), [["step", 0, 100], ["mm", 1, 60], ["add", 1, 30], ["mm", 2, 10]]);
  const up = openRows(callsUp(nodes), new Set(["/mm"]));
  assert.deepEqual(up.map(({ node, depth }) => [node.name, depth, node.self_ns]), [["mm", 0, 70], ["step", 1, 60], ["add", 1, 10], ["add", 0, 20], ["step", 0, 10]]);
  assert.equal(up.reduce((sum, { node, depth }) => sum + (depth === 0 ? node.self_ns : 0), 0), 100);
});

test("keys are grouped by what they are about", () => {
  const command = (id: string) => ({ id, title: id, keys: [], run: () => undefined });
  assert.deepEqual(
    groupedCommands(["palette", "page.overview", "tl.zoom_in", "tl.explain"].map(command)).map(([group, members]) => [group, members.length]),
    [["move", 1], ["select", 1], ["pages", 1], ["app", 1]],
  );
});

test("the file browser ends at the allowed folders", () => {
  assert.equal(folderAbove("/data/runs/a", ["/data/runs"]), "/data/runs");
  assert.equal(folderAbove("/data/runs", ["/data/runs"]), "");
  assert.equal(folderAbove("/data/runs2", ["/data/runs"]), "");
});
