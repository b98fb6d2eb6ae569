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

const kTypeBytes: [RegExp, number][] = [
  [/64|DOUBLE/, 8],
  [/16|HALF|BF16/, 2],
  [/INT8|UINT8|BOOL|FP8|FLOAT8/, 1],
];

/** "32,3,224,224;64" of "FLOAT;FLOAT" -> bytes of the inputs; NaN if the shapes are not known. */
export function inputBytes(shapes: string, types: string): number {
  if (shapes === "") return NaN;
  const names = types.toUpperCase().split(";");
  const sizes = shapes.split(";").map((shape, at) => {
    const type = names[at] ?? names[0] ?? "";
    const bytes = kTypeBytes.find(([pattern]) => pattern.test(type))?.[1] ?? 4;
    const dims = shape.split(",").filter((dim) => dim.trim() !== "").map(Number);
    return dims.length === 0 ? 0 : bytes * dims.reduce((product, dim) => product * dim, 1);
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The columns that hold a measured number of a kernel: those the chip's counters gave. */
export function counterColumns(columns: readonly ColumnInfo[], rows: readonly Cell[][]): string[] {
  return columns.flatMap(({ name, type }, at) => (type === "double" && rows.some((row) => Number(row[at] ?? 0) !== 0) ? [name] : []));
}
