// The table of kernels as the page asks for it: which rows, grouped by what, and what can be measured of one.
import type { Cell, ColumnInfo, TableFilter, TableMeasure } from "../../api_types";

/** What kernels can be grouped by: columns of the table. */
export const kKeys = ["type", "name", "core", "input_shapes", "input_types", "stream", "step", "rank", "device", "block_dim", "module", "python"] as const;
export type GroupKey = (typeof kKeys)[number];

/** Keys that say where in the model and the program a kernel was launched; the plain table of kernels does not have them. */
const kPlaces: readonly string[] = ["module", "python"];

/** The table that has all of these columns. */
export function kernelSource(columns: readonly string[]): string {
  return columns.some((column) => kPlaces.includes(column)) ? "metric:kernel_places" : "kernels";
}

/** Measures of the durations, beside the total. */
export const kFunctions = ["avg", "min", "max", "p50", "p90", "p99"] as const;
export type MeasureFunction = (typeof kFunctions)[number];

export const measuresOf = (functions: readonly (MeasureFunction | "sum")[]): TableMeasure[] => functions.map((fn) => ({ fn, col: "dur_ns" }));

export interface KernelScope {
  ranks: readonly number[] | null;
  step: number | null;
}

/** The rows of the scope. */
export function scopeFilter({ ranks, step }: KernelScope): TableFilter[] {
  return [
    ...(ranks ? [{ col: "rank", op: "in" as const, value: ranks.map(String) }] : []),
    ...(step !== null ? [{ col: "step", op: "=" as const, value: step }] : []),
  ];
}

/** The rows of a group: each key as the group has it. */
export function groupFilter(keys: readonly string[], cells: Readonly<Record<string, Cell>>): TableFilter[] {
  return keys.map((col) => ({ col, op: "in" as const, value: [String(cells[col] ?? "")] }));
}

/** The columns that hold a measured number of a kernel: those the chip's counters gave. */
export function counterColumns(columns: readonly ColumnInfo[], rows: readonly Cell[][]): string[] {
  return columns.flatMap(({ name, type }, at) => (type === "double" && rows.some((row) => Number(row[at] ?? 0) !== 0) ? [name] : []));
}
