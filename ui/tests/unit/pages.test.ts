// What the pages work out themselves: the place of a mistake in SQL, the sides of a comparison and their differences.
import assert from "node:assert/strict";
import { test } from "node:test";
import { matchedBlocks, ratioColor } from "../../src/pages/compare/matched";
import { firstSides, formatSide, parseSide } from "../../src/pages/compare/sides";
import { curvesOf } from "../../src/pages/curves";
import { findingKey, gainText, words } from "../../src/pages/findings";
import { barsOf } from "../../src/pages/sql/chart";
import { readQueries } from "../../src/pages/sql/saved";
import { errorPlace } from "../../src/pages/sql/error_place";

test("a mistake in SQL is found by its byte or its name", () => {
  const place = (message: string, query: string) => {
    const found = errorPlace(message, query);
    return found && query.slice(found.from, found.to);
  };
  const syntax = 'near "kernels": syntax error (at byte 18 of the query)';
  assert.equal(place(syntax, "SELECT name FORM  kernels"), "kernels");
  const letters = 'near "x": syntax error (at byte 12 of the query)';
  assert.equal(place(letters, "SELECT 'é' x y"), "x", "bytes, not letters");
  assert.equal(place("no such column: k.nme\ncolumns of k: name", "SELECT name, k.nme FROM kernels k"), "nme");
  assert.equal(place("no such column: nme; did you mean 'name'?\ncolumns: name", "SELECT name, nme FROM kernels"), "nme");
  assert.equal(place("no such table: t", "SELECT tt, t FROM t"), "t");
  assert.equal(errorPlace("no such table: t", "SELECT tt, t FROM t")?.from, 11);
  assert.equal(errorPlace("the query took too long", "SELECT 1"), null);
  assert.deepEqual(errorPlace("incomplete input (at byte 99 of the query)", "SELECT"), { from: 6, to: 6 });
});

test("the sides of a comparison are in the address", () => {
  const side = { ds: "00c0ffee", rank: 3, step: null };
  assert.deepEqual(parseSide(formatSide(side)), side);
  assert.deepEqual(parseSide("00c0ffee,3,12"), { ...side, step: 12 });
  for (const wrong of [undefined, "", "x,1,2", "00,1", "00,-1,"]) assert.equal(parseSide(wrong), null);
});

test("two ranks are compared first, else two steps", () => {
  const steps = [{ step: 5 }, { step: 6 }];
  assert.deepEqual(
    firstSides("aa", [
      { rank: 0, steps },
      { rank: 4, steps },
    ]).map(formatSide),
    ["aa,0,", "aa,4,"],
  );
  assert.deepEqual(firstSides("aa", [{ rank: 2, steps }]).map(formatSide), ["aa,2,5", "aa,2,6"]);
  assert.deepEqual(firstSides("aa", [{ rank: 2, steps: [{ step: 5 }] }]).map(formatSide), ["aa,2,", "aa,2,"]);
});

test("kernels of both sides are blocks, B under A, joined where they differ", () => {
  const row = (name: string, core: string, a: [number, number] | null, b: [number, number] | null) => ({
    name,
    core,
    a_start_ns: a?.[0] ?? null,
    a_dur_ns: a?.[1] ?? null,
    b_start_ns: b?.[0] ?? null,
    b_dur_ns: b?.[1] ?? null,
    ratio: a && b ? b[1] / a[1] : null,
  });
  const { blocks, sides, arrows } = matchedBlocks([
    row("MatMul", "AI_CORE", [0, 100], [0, 200]),
    row("hcom_allReduce", "HCCL", [100, 50], [200, 50]),
    row("Cast", "AIV", null, [300, 10]),
  ]);
  assert.deepEqual(
    blocks.map((block, at) => [block.row, block.begin, block.end, sides[at]]),
    [
      [0, 0, 100, 0],
      [1, 0, 200, 1],
      [2, 100, 150, 0],
      [3, 200, 250, 1],
      [1, 300, 310, 1],
    ],
  );
  assert.deepEqual(arrows, [{ fromRow: 0, from: 50, toRow: 1, to: 100 }]);
  assert.notEqual(ratioColor(2), ratioColor(0.5));
  assert.equal(ratioColor(1.001), ratioColor(0.999), "as good as equal");
});

test("curves of two sides begin together", () => {
  const reply = (begin: number) => ({
    tables: {
      points: {
        columns: ["series", "time_ms", "value_mb"].map((name) => ({ name, type: "text" as const })),
        rows: [
          ["Allocated", begin, 1],
          ["Allocated", begin + 5, 2],
        ],
      },
    },
    definition: "",
    query: "",
    warnings: [],
  });
  const { x, series } = curvesOf([reply(10), reply(70)], ["A ", "B "]);
  assert.deepEqual(x, [0, 5]);
  assert.deepEqual(
    series.map(({ name, values }) => [name, values]),
    [
      ["A Allocated", [1, 2]],
      ["B Allocated", [1, 2]],
    ],
  );
  assert.deepEqual(curvesOf([reply(10)]).x, [10, 15], "one side keeps its times");
});

test("a finding says what it would bring, in the user's language", () => {
  const row = { kind: "aicpu", subject: "32 operators", subjectZh: "32 个算子", rank: 0, gain_us: 1500, share: 12.34 };
  assert.equal(gainText(row), "−1.500 ms a step (12.3 %)");
  assert.equal(gainText({ ...row, gain_us: null }), "");
  assert.equal(words(row, "subject"), "32 operators");
  assert.notEqual(findingKey("/a", row), findingKey("/b", row));
});

test("a result of SQL with names and numbers can be bars", () => {
  const columns = [
    { name: "rank", type: "int" as const },
    { name: "name", type: "text" as const },
    { name: "total_us", type: "double" as const },
  ];
  const reply = { columns, rows: [[0, "MatMul", 12.5]], truncated: false, elapsed_us: 1 };
  assert.deepEqual(barsOf(reply), { items: [{ name: "0 MatMul", value: 12.5 }], unit: "total_us" });
  assert.equal(barsOf({ ...reply, columns: columns.slice(0, 2), rows: [[0, "MatMul"]] }), null);
  assert.equal(barsOf({ ...reply, rows: [] }), null);
});

test("queries that were kept are read, whatever else is stored", () => {
  assert.deepEqual(readQueries('[{"name":"a","query":"SELECT 1"},{"name":2},null]'), [{ name: "a", query: "SELECT 1" }]);
  assert.deepEqual(readQueries("no json"), []);
});
