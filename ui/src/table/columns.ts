// How a table shows its columns.
import type { Cell, ColumnInfo } from "../api_types";
import { formatCell, isNumeric } from "../format";
import { hasMessage, t } from "../i18n";

export interface ColumnSpec {
  title?: string;
  hidden?: boolean;
  /** Draws a bar behind the number: its share of `bar`. */
  bar?: number;
  width?: number;
  format?: (value: Cell, row: Cell[]) => string;
}

export type ColumnSpecs = Record<string, ColumnSpec>;

/** A row as the callbacks of a table see it. */
export interface RowView {
  cells: Cell[];
  columns: ColumnInfo[];
  /** The cell of a column by name; null if there is none. */
  get(name: string): Cell;
}

export function viewOf(cells: Cell[], columns: ColumnInfo[]): RowView {
  return { cells, columns, get: (name) => cells[columns.findIndex((column) => column.name === name)] ?? null };
}

/** A column that is shown: where its cells are, and how wide it is. */
export interface ShownColumn {
  at: number;
  column: ColumnInfo;
  spec: ColumnSpec;
  title: string;
  width: number;
}

/** Columns of our own have names for programs; those of the reference viewer keep theirs. */
export function columnTitle(name: string): string {
  const key = `column.${name}`;
  return hasMessage(key) ? t(key) : name;
}

function firstWidth(column: ColumnInfo, title: string): number {
  const words = title.length * 7.4 + 46;
  if (isNumeric(column)) return Math.max(104, words);
  return Math.max(/name|path|lane|text/i.test(column.name) ? 240 : 110, words);
}

/** The columns that are not hidden, in order. `widths` are those the user chose. */
export function shownColumns(columns: ColumnInfo[], specs: ColumnSpecs, widths: Record<string, number>): ShownColumn[] {
  return columns.flatMap((column, at) => {
    const spec = specs[column.name] ?? {};
    if (spec.hidden) return [];
    const title = spec.title ?? columnTitle(column.name);
    return [{ at, column, spec, title, width: widths[column.name] ?? spec.width ?? firstWidth(column, title) }];
  });
}

export function cellText(cells: Cell[], shown: ShownColumn): string {
  const value = cells[shown.at] ?? null;
  return shown.spec.format ? shown.spec.format(value, cells) : formatCell(value, shown.column);
}
