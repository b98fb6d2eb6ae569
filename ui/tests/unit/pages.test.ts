// What the pages work out themselves: the place of a mistake in SQL, the sides of a comparison and their differences.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TableReply } from "../../src/api_types";
import { diffOperators, isClear, partMean } from "../../src/pages/compare/diff";
import { firstSides, formatSide, parseSide } from "../../src/pages/compare/sides";
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

test("parts of a step are means over steps, and small differences are noise", () => {
  const columns = ["Rank", "Step", "Computing"].map((name) => ({ name, type: "double" as const }));
  const rows = [
    [0, 1, 100],
    [0, 2, 110],
    [0, 3, 90],
    [1, 1, 104],
    [1, 2, 96],
    [1, 3, 103],
    [2, 1, 200],
    [2, 2, 201],
    [2, 3, 202],
  ];
  const reply: TableReply = { columns, rows, total: rows.length, filtered: rows.length };
  const of = (rank: number, step: number | null = null) => partMean(reply, "Computing", rank, step);
  assert.equal(of(0).mean, 100);
  assert.deepEqual(of(0, 2), { mean: 110, deviation: 0, steps: 1 });
  assert.equal(isClear(of(0), of(1)), false);
  assert.equal(isClear(of(0), of(2)), true);
  assert.equal(isClear(of(0, 1), of(2, 1)), null, "one step says nothing about noise");
});

test("operators are paired by name and core, the largest difference first", () => {
  const row = (name: string, core: string, total: number, count: number) => ({
    Type: name,
    "Accelerator Core": core,
    "Total Time(us)": total,
    Count: count,
  });
  const a = [row("MatMul", "AI_CORE", 100, 2), row("Cast", "AIV", 10, 1), row("Add", "AIV", 5, 1)];
  const b = [row("MatMul", "AI_CORE", 150, 2), row("Cast", "AIV", 10, 1), row("Add", "AI_CORE", 7, 1)];
  const diffs = diffOperators(a, b, (each) => String(each["Type"]));
  assert.deepEqual(
    diffs.map(({ name, core, change }) => `${name} ${core} ${change}`),
    ["MatMul AI_CORE slower", "Add AI_CORE added", "Add AIV removed", "Cast AIV same"],
  );
  assert.deepEqual(diffs[0]?.total, [100, 150]);
});
