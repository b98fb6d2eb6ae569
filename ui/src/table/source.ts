// Where a table's rows come from: the server (any size) or memory (results that are already here).
import type { Dataset } from "../api";
import type { Cell, ColumnInfo, TableFilter, TableMeasure, TableReply, TableSort } from "../api_types";
import { formatCell } from "../format";
import { downloadBlob, downloadUrl, guardField, toCsv, toTsv } from "../widgets/download";

export interface RowQuery {
  filter: TableFilter[];
  sort: TableSort[];
  offset: number;
  limit: number;
}

export interface RowSource {
  /** Two sources with the same key have the same rows; the table starts over when it changes. */
  key: string;
  load(query: RowQuery, signal: AbortSignal): Promise<TableReply>;
  /** Saves all filtered rows in order as a file. */
  save(name: string, query: RowQuery, format?: SaveFormat): void;
  /** One row a value of the column: how many there are, and what the columns that are given come to. */
  grouped(column: string, measured: readonly string[], fn?: GroupFunction): RowSource;
}

/** Columns whose sum says something: times, sizes, counts. */
export function canSum({ name, type }: ColumnInfo): boolean {
  return type !== "text" && /\((us|ms|ns|s|KB|MB|B)\)|_(ns|us|ms|bytes)$|^count$/i.test(name) && !/(begin|start|end|alloc|release|^t)_ns$|time\(ms\)|timestamp/i.test(name);
}

/** What the values of a group come to. */
export type GroupFunction = Exclude<TableMeasure["fn"], "count">;

export const kGroupFunctions: GroupFunction[] = ["sum", "avg", "min", "max", "p50", "p90", "p99"];

export type SaveFormat = "csv" | "tsv" | "json";

export interface ServerTable {
  source: string;
  args?: Record<string, unknown>;
  cols?: string[];
  group?: string[];
  measures?: TableMeasure[];
  /** Rows that count at all; what the user filters comes on top. */
  filter?: TableFilter[];
}

/** A table of the server; see the API's `table`. */
export function serverSource(ds: Dataset, table: ServerTable): RowSource {
  const body = (query: RowQuery) => ({ ...table, args: table.args ?? {}, ...query, filter: [...(table.filter ?? []), ...query.filter] });
  return {
    key: `${ds.ds}/${ds.align}/${JSON.stringify(table)}`,
    load: (query, signal) => ds.table(body(query), signal),
    save: (name, query, format = "csv") => downloadUrl(`${name}.${format}`, ds.exportUrl(body(query), format)),
    grouped: (column, measured, fn = "sum") => serverSource(ds, { ...table, group: [column], measures: measured.map((col) => ({ fn, col })) }),
  };
}

function matches(cell: Cell, filter: TableFilter): boolean {
  const text = String(cell ?? "");
  const wanted = Array.isArray(filter.value) ? "" : String(filter.value ?? "");
  const numbers = typeof cell === "number" && wanted !== "" && !Number.isNaN(Number(wanted));
  const order = numbers ? cell - Number(wanted) : text < wanted ? -1 : text > wanted ? 1 : 0;
  switch (filter.op) {
    case "contains":
      return text.toLowerCase().includes(wanted.toLowerCase());
    case "!contains":
      return !text.toLowerCase().includes(wanted.toLowerCase());
    case "=":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    case "in":
      return Array.isArray(filter.value) && filter.value.some((value) => String(value ?? "") === text);
    case "regex":
      return safeRegex(wanted)?.test(text) ?? false;
  }
}

/** null while a pattern is being typed and not yet one. */
export function safeRegex(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern, "i");
  } catch {
    return null;
  }
}

export function compareCells(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

/** Filters and sorts rows in memory as the server would. */
export function selectRows(columns: ColumnInfo[], rows: Cell[][], query: Pick<RowQuery, "filter" | "sort">): Cell[][] {
  const at = (name: string) => columns.findIndex((column) => column.name === name);
  const filters = query.filter.map((filter) => ({ filter, at: at(filter.col) })).filter((f) => f.at >= 0);
  const kept = rows.filter((row) => filters.every((f) => matches(row[f.at] ?? null, f.filter)));
  const sorts = query.sort.map((sort) => ({ at: at(sort.col), sign: sort.desc ? -1 : 1 })).filter((s) => s.at >= 0);
  if (sorts.length === 0) return kept;
  return kept.sort((a, b) => {
    for (const sort of sorts) {
      const order = compareCells(a[sort.at] ?? null, b[sort.at] ?? null);
      if (order !== 0) return order * sort.sign;
    }
    return 0;
  });
}

/** Percentiles are nearest ranks, as the server's are. */
export function aggregate(values: readonly number[], fn: GroupFunction): number {
  const sum = values.reduce((total, value) => total + value, 0);
  if (fn === "sum") return sum;
  if (values.length === 0) return NaN;
  if (fn === "avg") return sum / values.length;
  const sorted = [...values].sort((a, b) => a - b);
  const share = fn === "min" ? 0 : fn === "max" ? 1 : Number(fn.slice(1)) / 100;
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

/** Groups rows in memory as the server would, in order of first appearance. */
export function groupRows(columns: ColumnInfo[], rows: Cell[][], column: string, measured: readonly string[], fn: GroupFunction = "sum"): { columns: ColumnInfo[]; rows: Cell[][] } {
  const at = (name: string) => columns.findIndex((each) => each.name === name);
  const groups = new Map<string, Cell[][]>();
  for (const row of rows) {
    const key = String(row[at(column)] ?? "");
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  const valuesOf = (group: Cell[][], name: string) => group.map((row) => row[at(name)] ?? null).filter((cell) => cell !== null).map(Number);
  const own = columns[at(column)];
  return {
    columns: [...(own ? [own] : []), { name: "count", type: "int" }, ...measured.map((name): ColumnInfo => ({ name: `${fn}(${name})`, type: "double", decimals: 3 }))],
    rows: [...groups.values()].map((group) => [group[0]![at(column)] ?? null, group.length, ...measured.map((name) => aggregate(valuesOf(group, name), fn))]),
  };
}

/** Rows that are already here. `key` must change with the rows. */
export function localSource(key: string, columns: ColumnInfo[], rows: Cell[][]): RowSource {
  return {
    grouped: (column, measured, fn = "sum") => {
      const made = groupRows(columns, rows, column, measured, fn);
      return localSource(`${key}/by/${column}/${fn}`, made.columns, made.rows);
    },
    key: `local/${key}/${rows.length}`,
    load: (query) => {
      const kept = selectRows(columns, rows, query);
      const window = kept.slice(query.offset, query.offset + query.limit);
      return Promise.resolve({ columns, rows: window, total: rows.length, filtered: kept.length });
    },
    save: (name, query, format = "csv") => {
      const kept = selectRows(columns, rows, query);
      const header = columns.map((column) => column.name);
      const texts = kept.map((row) => columns.map((column, at) => formatCell(row[at] ?? null, column)));
      const objects = () => kept.map((row) => Object.fromEntries(header.map((each, at) => [each, row[at] ?? null])));
      const text = format === "json" ? JSON.stringify(objects(), null, 1) : format === "tsv" ? toTsv([header, ...texts].map((row) => row.map(guardField))) : toCsv(header, texts);
      downloadBlob(`${name}.${format}`, new Blob([text], { type: format === "json" ? "application/json" : `text/${format}` }));
    },
  };
}
