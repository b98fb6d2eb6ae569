import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatBytes,
  formatCell,
  formatDuration,
  formatInt,
  formatMoment,
  formatPercent,
  formatWall,
  middleEllipsis,
  parseDuration,
} from "../../src/format";
import { locale, wordingText } from "../../src/i18n";
import { formatMessage } from "../../src/i18n/message";
import { keyNames } from "../../src/state/commands";
import { formatHash, noteState, parseHash, route, startRouter } from "../../src/state/router";
import { formatRanks, parseRanks, ranksLookedAt } from "../../src/state/session";
import { canSum, groupRows, selectRows } from "../../src/table/source";
import { movedColumn } from "../../src/table/column_choice";
import { fitColumns, kPlainColumns, shownColumns } from "../../src/table/columns";
import { laneFilter, leastDuration, nameTest, parseFilter } from "../../src/timeline/filter";
import { fewestTracks, parseViewFile } from "../../src/timeline/exporting";
import { csvField, guardField, toCsv, toTsv } from "../../src/widgets/download";
import { kMaxHeight, mapScroll, scrollBy, scrollTopOf } from "../../src/widgets/scroller";
import { readRecent, withRecent } from "../../src/state/recent";
import { largest, niceTicks, smallest } from "../../src/charts/ticks";

test("durations choose their unit", () => {
  assert.deepEqual([0, 118, 1250, 3_217_000, 1_204_000_000].map(formatDuration), [
    "0 ns",
    "118 ns",
    "1.250 us",
    "3.217 ms",
    "1.204 s",
  ]);
  assert.equal(formatDuration(-1500), "-1.500 us");
});

test("shares have a sign only with a number", () => {
  assert.deepEqual([0.0551, -0.0551, -0.0001, Number.NaN].map((share) => formatPercent(share)), ["5.5 %", "−5.5 %", "0.0 %", "–"]);
});

test("moments have the digits their step needs", () => {
  assert.equal(formatMoment(1_204_500_000, 100_000_000), "1.2 s");
  assert.equal(formatMoment(1_204_500_000, 1_000), "1.204500 s");
  assert.equal(formatMoment(0, 10_000_000), "0 ms");
});

test("an address says which ranks are looked at", () => {
  const params = (hash: string) => parseHash(hash).params;
  assert.deepEqual(ranksLookedAt(params("#/operators?ranks=2,4-5")), [2, 4, 5]);
  assert.deepEqual(ranksLookedAt(params("#/timeline?sel=r7/hw/stream2/12&pins=r3/hw|r11&area=1|2|r0/py&filter=r9/")), [0, 3, 7, 11]);
  assert.deepEqual(ranksLookedAt(params("#/timeline?sel=rx/hw&pins=err5/a")), []);
});

test("times are read with their unit", () => {
  assert.deepEqual(["500", "12us", "1.204 s", "3ms", "x", "1.2.3", ""].map(parseDuration), [
    500,
    12_000,
    1_204_000_000,
    3_000_000,
    null,
    null,
    null,
  ]);
});

test("cells keep the digits of their column", () => {
  assert.equal(formatCell(12.5, { name: "a", type: "time_us" }), "12.500");
  assert.equal(formatCell(null, { name: "a", type: "int" }), "");
  assert.equal(formatCell(3, { name: "a", type: "double", decimals: 1 }), "3.0");
  assert.equal(formatInt(1234567), "1 234 567");
  assert.equal(formatBytes(1536), "1.5 KB");
  assert.equal(middleEllipsis("abcdefghij", 5), "abc…j".length === 5 ? middleEllipsis("abcdefghij", 5) : "");
  assert.equal(middleEllipsis("abcdefghij", 5).length, 5);
});

test("wall clock is exact to the nanosecond", () => {
  assert.match(formatWall("1736412083704643212", 1), /\.704643213$/);
});

test("a sentence of the server is worded by its key, and so are its parts", () => {
  const speed = { key: "finding.link.speed", args: { transport: "RDMA", gbps: "3.9", usual: "11.8" }, text: "" };
  const links = { key: "finding.link.outgoing", args: { links: "63", speed }, text: "" };
  locale.value = "en";
  assert.equal(wordingText(links), "63 outgoing links are slow: RDMA at 3.9 GB/s (typical 11.8)");
  locale.value = "zh";
  assert.equal(wordingText(links), "作为发送端有 63 条链路慢：RDMA 带宽 3.9 GB/s，通常为 11.8 GB/s");
  locale.value = "en";
  assert.equal(wordingText({ key: "of.a.newer.server", text: "In English." }), "In English.");
});

test("messages fill names and plurals", () => {
  const lanes = "{n, plural, one {# lane} other {# lanes}}";
  assert.equal(formatMessage(lanes, { n: 1 }, "en-US"), "1 lane");
  assert.equal(formatMessage(`x ${lanes} y`, { n: 1200 }, "en-US"), "x 1,200 lanes y");
  assert.equal(formatMessage("go to {time}", { time: "3 s" }, "en-US"), "go to 3 s");
  assert.equal(formatMessage("{gone}", {}, "en-US"), "{gone}");
  assert.equal(formatMessage("{n} 条", { n: 3 }, "zh-CN"), "3 条");
  assert.equal(formatMessage("{n, plural, one {once: {name}} other {# times: {name}}}", { n: 2, name: "a" }, "en-US"), "2 times: a");
});

test("the filter language is read", () => {
  assert.deepEqual(parseFilter('name~"mat mul" dur>50us rank=0,3-7 lane:hardware conv'), [
    { field: "name", op: "~", value: "mat mul" },
    { field: "dur", op: ">", value: "50us" },
    { field: "rank", op: "=", value: "0,3-7" },
    { field: "lane", op: ":", value: "hardware" },
    { field: "", op: "~", value: "conv" },
  ]);
  assert.deepEqual(parseFilter("aten::mm"), [{ field: "", op: "~", value: "aten::mm" }]);
  assert.equal(leastDuration("dur>=50us"), 50_000);
});

test("lane filters go by words, ranks and regular expressions", () => {
  const lane = { name: "Stream 2", label: "rank 3 / Ascend Hardware / Stream 2", path: "r3/hw/stream2", rank: 3 };
  assert.equal(laneFilter("  "), null);
  for (const text of ["hardware", "stream rank=0,2-5", "/stream \\d/", "lane:hw", "/(/"])
    assert.ok(laneFilter(text)!(lane), text);
  for (const text of ["python", "rank=4", "/^stream/ x", "lane!~stream"]) assert.ok(!laneFilter(text)!(lane), text);
});

test("search modes decide which names stay bright", () => {
  assert.ok(nameTest("matmul", "contains")!("MatMulV2"));
  assert.ok(!nameTest("matmul", "case")!("MatMulV2"));
  assert.ok(nameTest("matmulv2", "whole")!("MatMulV2") && !nameTest("matmul", "whole")!("MatMulV2"));
  assert.ok(nameTest("^Mat.*\\d$", "regex")!("MatMulV2") && !nameTest("(", "regex")!("("));
  assert.ok(nameTest('name="Add" dur>1us', "contains")!("add"));
  assert.equal(nameTest("dur>1us", "contains"), null);
  assert.equal(nameTest("", "contains"), null);
});

test("addresses survive the way there and back", () => {
  const hash = "#/timeline?ds=9f&t=10,20&sel=r0/hw/stream2/7&filter=rank%3D1+x";
  const route = parseHash(hash);
  assert.equal(route.page, "timeline");
  assert.equal(route.params.get("filter"), "rank=1 x");
  assert.deepEqual(parseHash(formatHash(route)), route);
  assert.equal(parseHash("").page, "");
});

test("ranks are read and written as ranges", () => {
  assert.deepEqual(parseRanks("0,3-5"), [0, 3, 4, 5]);
  assert.equal(parseRanks("x"), null);
  assert.equal(formatRanks([0, 3, 4, 5, 9]), "0,3-5,9");
});

test("scroll positions map to rows, also where there are too many for pixels", () => {
  assert.deepEqual(mapScroll(0, 240, 5, 24), { height: 120, first: 0, count: 5, y: 0 });
  const small = mapScroll(100, 240, 1000, 24);
  assert.deepEqual([small.first, small.y], [4, -4]);
  const rows = 50_000_000;
  const end = mapScroll(kMaxHeight, 240, rows, 24);
  assert.equal(end.first + end.count, rows);
  for (const row of [0, 1, 12345, 4_999_999, rows - 20]) {
    const at = mapScroll(scrollTopOf(row, 240, rows, 24), 240, rows, 24);
    assert.ok(Math.abs(at.first - row) <= 1, `${row} -> ${at.first}`);
  }
  const top = scrollTopOf(1000, 240, rows, 24);
  const moved = mapScroll(scrollBy(top, 1, 240, rows, 24), 240, rows, 24);
  assert.ok(moved.first - moved.y / 24 - 1000 > 0.9 && moved.first - moved.y / 24 - 1000 < 1.1);
});

test("local rows are filtered and sorted as the server would", () => {
  const columns = [
    { name: "n", type: "text" as const },
    { name: "v", type: "double" as const },
  ];
  const rows = [
    ["a", 3],
    ["b", 1],
    ["ab", 2],
    ["c", null],
  ];
  const pick = (
    filter: Parameters<typeof selectRows>[2]["filter"],
    sort: Parameters<typeof selectRows>[2]["sort"] = [],
  ) => selectRows(columns, rows, { filter, sort }).map((row) => row[0]);
  assert.deepEqual(pick([{ col: "n", op: "contains", value: "A" }]), ["a", "ab"]);
  assert.deepEqual(pick([{ col: "v", op: ">=", value: 2 }]), ["a", "ab"]);
  assert.deepEqual(pick([], [{ col: "v", desc: true }]), ["a", "ab", "b", "c"]);
  assert.deepEqual(pick([{ col: "n", op: "regex", value: "(" }]), []);
});

test("csv and tsv quote what they must", () => {
  assert.equal(csvField('a,"b"'), '"a,""b"""');
  assert.equal(toCsv(["x"], [["1"]]), "x\r\n1\r\n");
  assert.equal(toTsv([["a\tb", "c\nd"]]), "a b\tc d");
});

test("saved tables hold no formulas, and numbers stay numbers", () => {
  for (const text of ["=1+1", "+cmd", "-2+3a", "@SUM(A1)", "\t=1", "-x"]) assert.equal(guardField(text), `'${text}`);
  for (const text of ["", "-1.5", "-1,234.50", "+3 %", "-1e-05", "aten::add", "a=b"]) assert.equal(guardField(text), text);
  assert.equal(toCsv(["=x"], [["-1"], ["=1,2"]]), `'=x\r\n-1\r\n"'=1,2"\r\n`);
});

test("keys have a name by character and by place", () => {
  const key = (over: Partial<KeyboardEvent>) =>
    keyNames({ key: "w", code: "KeyW", ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...over });
  assert.ok(key({}).includes("W") && key({}).includes("code:KeyW"));
  assert.ok(key({ key: "P", code: "KeyP", ctrlKey: true, shiftKey: true }).includes("Ctrl+Shift+P"));
  assert.ok(key({ key: "?", code: "Slash", shiftKey: true }).includes("?"));
  assert.ok(key({ key: "ц", code: "KeyW" }).includes("code:KeyW"));
});

test("view files of others are refused", () => {
  assert.equal(parseViewFile("{"), null);
  assert.equal(parseViewFile('{"steplens":"other","state":{}}'), null);
  assert.deepEqual(parseViewFile('{"steplens":"view","state":{"t":"1,2","bad":3},"queries":[{"name":"n","query":"SELECT 1"},{"name":2}]}'), {
    state: { t: "1,2" },
    markers: [],
    queries: [{ name: "n", query: "SELECT 1" }],
  });
});

test("a group whose lanes are all chosen stands for them", () => {
  const leaf = (id: number) => ({ id, children: [] as unknown[] });
  const group = { id: 2, children: [leaf(3), leaf(4)] };
  const rank = { id: 1, children: [group, leaf(5)] };
  const leaves = (track: { id: number; children: unknown[] }): unknown[] => (track.children.length === 0 ? [track] : track.children.flatMap((child) => leaves(child as typeof track)));
  const tree = { roots: [rank], leaves } as unknown as Parameters<typeof fewestTracks>[0];
  assert.deepEqual(fewestTracks(tree, [3, 4, 5]), [1]);
  assert.deepEqual(fewestTracks(tree, [3, 4]), [2]);
  assert.deepEqual(fewestTracks(tree, [4, 5]), [4, 5]);
  assert.deepEqual(fewestTracks(tree, []), []);
});

test("paths that were looked at come newest first, each once", () => {
  assert.deepEqual(withRecent(["/a", "/b"], "/b"), ["/b", "/a"]);
  assert.equal(withRecent(Array.from({ length: 20 }, (_, k) => `/${k}`), "/new").length, 8);
  assert.deepEqual(readRecent('["/a", 3, ""]'), ["/a"]);
  assert.deepEqual(readRecent("{"), []);
  assert.deepEqual(readRecent(null), []);
});

test("the largest of very many values is found", () => {
  const many = Array.from({ length: 500_000 }, (_, at) => at % 1000);
  assert.equal(largest(many, 0), 999);
  assert.equal(smallest(many, 5), 0);
  assert.equal(largest([], 3), 3);
});

test("ticks are round", () => {
  assert.deepEqual(niceTicks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(niceTicks(0, 0, 5), [0]);
});

test("state that is noted late does not take back a link that was just followed", () => {
  const location = { hash: "#/timeline?ds=1" };
  let arrived = () => {};
  const browser = {
    location,
    history: { replaceState: (_: unknown, __: string, hash: string) => (location.hash = hash) },
    addEventListener: (_: string, listener: () => void) => (arrived = listener),
  };
  Object.assign(globalThis, browser);
  try {
    startRouter();
    arrived();
    noteState({ t: "1,2" });
    assert.equal(location.hash, "#/timeline?ds=1&t=1,2");
    // The address says where the user wants to go; the event about it is on its way.
    for (const link of ["#/operators?ds=1", "#/timeline?ds=1&lane=r0/comm"]) {
      location.hash = link;
      noteState({ t: "3,4", lane: null });
      assert.equal(location.hash, link);
      arrived();
      assert.deepEqual(route.value, parseHash(link));
    }
    noteState({ t: "3,4" });
    assert.equal(location.hash, "#/timeline?ds=1&lane=r0/comm&t=3,4");
  } finally {
    for (const name of Object.keys(browser)) delete (globalThis as Record<string, unknown>)[name];
  }
});

test("rows are grouped by a column, with counts and sums", () => {
  const columns = [{ name: "Type", type: "text" as const }, { name: "Duration(us)", type: "double" as const }, { name: "begin_ns", type: "int" as const }];
  assert.deepEqual(columns.map(canSum), [false, true, false], "a sum of moments says nothing");
  const made = groupRows(columns, [["b", 1, 5], ["a", 2, 6], ["b", 4, null]], "Type", ["Duration(us)"]);
  assert.deepEqual(made.columns.map(({ name }) => name), ["Type", "count", "sum(Duration(us))"]);
  assert.deepEqual(made.rows, [["b", 2, 5], ["a", 1, 2]]);
});

test("columns are as wide as what they hold and fill the table", () => {
  const columns = [{ name: "x", type: "text" as const }, { name: "y", type: "int" as const }, { name: "z", type: "text" as const }];
  const rows = [["short", 1, "a much longer text in here"]];
  const plain = shownColumns(columns, {}, kPlainColumns, rows);
  assert.ok(plain[2]!.width > plain[0]!.width);
  const wide = fitColumns(plain, 1000, kPlainColumns);
  assert.ok(Math.abs(wide.reduce((sum, each) => sum + each.width, 0) - 1000) <= 2);
  assert.equal(wide[1]!.width, plain[1]!.width, "numbers stay as they are");
  assert.deepEqual(fitColumns(plain, 50, kPlainColumns), plain, "what cannot fit scrolls");
  const choice = { ...kPlainColumns, hidden: ["y"], order: ["z"], widths: { x: 77 } };
  assert.deepEqual(shownColumns(columns, {}, choice, rows).map((each) => each.column.name), ["z", "x"]);
  assert.equal(fitColumns(shownColumns(columns, {}, choice, rows), 900, choice)[1]!.width, 77, "the user's widths stay");
  assert.deepEqual(movedColumn(["a", "b", "c"], "c", -1), ["a", "c", "b"]);
});
