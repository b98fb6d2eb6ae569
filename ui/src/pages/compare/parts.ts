// The parts of a step of two sides. A side without data for them is missing, not faster.
import type { Cell } from "../../api_types";
import { asNumber, asText } from "../parts";

export interface PartTimes {
  part: string;
  /** us; null = the side has no data for it. */
  a: number | null;
  b: number | null;
}

type Row = Record<string, Cell>;

const known = (cell: Cell | undefined): number | null =>
    (cell === null || cell === undefined || cell === "" ? null : asNumber(cell));

/**
 * A side of which no part took any time recorded none: a rank without device work, a run without
 * steps.
 */
export function partTimes(rows: readonly Row[]): PartTimes[] {
  const times = rows.map(
      (row) => ({part: asText(row["part"]), a: known(row["a_us"]), b: known(row["b_us"])}));
  const isEmpty = (side: "a"|"b") => times.every((row) => (row[side] ?? 0) === 0);
  const [noA, noB] = [isEmpty("a"), isEmpty("b")];
  return times.map((row) => ({part: row.part, a: noA ? null : row.a, b: noB ? null : row.b}));
}

/** The sides (0 = A, 1 = B) that have no data at all. */
export function missingSides(parts: readonly PartTimes[]): (0 | 1)[] {
  if (parts.length === 0) return [];
  return ([0, 1] as const)
      .filter((side) => parts.every((part) => (side === 0 ? part.a : part.b) === null));
}
