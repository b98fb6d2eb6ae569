import assert from "node:assert/strict";
import { test } from "node:test";
import { changeQuery } from "../../src/pages/whatif";

test("nothing is asked as long as nothing is changed", () => {
  assert.equal(changeQuery({ percent: {}, on: {} }, []), null);
  assert.equal(changeQuery({ percent: { kernel: 100 }, on: { sync: false } }, ["arg_rank=1"]), null);
});

test("sliders are factors, switches are changes of their own, and the scope is part of the question", () => {
  assert.equal(
    changeQuery({ percent: { kernel: 50, loader: 0 }, on: { overlap: true } }, ["arg_rank=1"]),
    "SELECT * FROM whatif WHERE arg_scale='kernel=0.5; host:*DataLoader*=0' AND arg_overlap='comm' AND arg_rank=1",
  );
});
