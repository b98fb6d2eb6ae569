// Numbers of two sides in pairs. Times in us; differences are B - A.
import type { Cell, TableReply } from "../../api_types";
import { asNumber } from "../parts";

/** Columns of `breakdown`, and the key of their name. */
export const kParts: readonly [column: string, key: string][] = [
  ["Computing", "part.computing"],
  ["Communication(Not Overlapped)", "part.not_overlapped"],
  ["Overlapped", "part.overlapped"],
  ["Free", "part.free"],
  ["Preparing", "part.preparing"],
];

/** Of one part: the mean over steps and how far single steps are from it (standard deviation). */
export interface Mean {
  mean: number;
  deviation: number;
  steps: number;
}

/** The mean over the steps of a rank; one step if `step` is given. */
export function partMean(reply: TableReply, column: string, rank: number, step: number | null): Mean {
  const at = (name: string) => reply.columns.findIndex((each) => each.name === name);
  const [ranks, steps, place] = [at("Rank"), at("Step"), at(column)];
  const values = reply.rows
    .filter((row) => asNumber(row[ranks]) === rank && (step === null || asNumber(row[steps]) === step))
    .map((row) => Math.max(0, place < 0 ? 0 : asNumber(row[place] ?? 0)));
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  const square = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length);
  return { mean, deviation: Math.sqrt(square), steps: values.length };
}

/** Whether a difference is larger than steps differ among themselves; null if there are too few steps to say. */
export function isClear(a: Mean, b: Mean): boolean | null {
  if (a.steps < 3 || b.steps < 3) return null;
  const noise = Math.sqrt(a.deviation ** 2 / a.steps + b.deviation ** 2 / b.steps);
  return Math.abs(b.mean - a.mean) > 2 * noise;
}

export type Change = "added" | "removed" | "slower" | "faster" | "same";

export interface OpDiff {
  name: string;
  core: string;
  change: Change;
  total: [number, number];
  count: [number, number];
}

type Row = Record<string, Cell>;

const kSame = 0.005;

function changeOf(a: number, b: number): Change {
  if (a === 0) return b === 0 ? "same" : "added";
  if (b === 0) return "removed";
  const share = (b - a) / a;
  return share > kSame ? "slower" : share < -kSame ? "faster" : "same";
}

/** Operators of both sides by `key` and core, those that differ most first. */
export function diffOperators(a: Row[], b: Row[], key: (row: Row) => string): OpDiff[] {
  const found = new Map<string, OpDiff>();
  [a, b].forEach((rows, side) => {
    for (const row of rows) {
      const [name, core] = [key(row), String(row["Accelerator Core"] ?? "")];
      const id = `${name}\n${core}`;
      const entry = found.get(id) ?? { name, core, change: "same", total: [0, 0], count: [0, 0] };
      entry.total[side]! += asNumber(row["Total Time(us)"]);
      entry.count[side]! += asNumber(row["Count"]);
      found.set(id, entry);
    }
  });
  const list = [...found.values()].map((entry) => ({ ...entry, change: changeOf(...entry.total) }));
  const weight = ({ total }: OpDiff) => Math.abs(total[1] - total[0]);
  return list.sort((x, y) => weight(y) - weight(x) || x.name.localeCompare(y.name));
}
