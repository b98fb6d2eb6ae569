// How a table shows its columns.
import type { Cell, ColumnInfo } from "../api_types";
import { formatCell, isNumeric } from "../format";
import { hasMessage, t, valueText } from "../i18n";
import { kernelLabel } from "../kernel_label";
import { deviceWord } from "../state/device_words";
import { sinceOrigin } from "../state/origin";

export interface ColumnSpec {
  title?: string;
  hidden?: boolean;
  /** Draws a bar behind the number: its share of `bar`. */
  bar?: number;
  width?: number;
  /** Shown as it is: no short names, no times counted from the begin. */
  raw?: boolean;
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
  /** Values at the tenths of all rows, ascending; cells are coloured by them. */
  tenths?: readonly number[] | undefined;
}

/** Columns of our own have names for programs; those of the reference viewer keep theirs. */
export function columnTitle(name: string): string {
  const measure = /^(sum|avg|min|max|p\d+)\((.*)\)$/.exec(name);
  if (measure) return `${t(`table.fn.${measure[1]}`)} ${columnTitle(measure[2]!)}`;
  const key = `column.${name}`;
  return hasMessage(key) ? t(key) : name;
}

/** How the user arranged the columns of a table. */
export interface ColumnChoice {
  hidden: readonly string[];
  /** Those that were moved, in order; others follow as the data has them. */
  order: readonly string[];
  /** So many stay in view at the left. */
  frozen: number;
  /** Widths in px, by name. */
  widths: Readonly<Record<string, number>>;
  /** Columns whose cells are coloured by how large their value is among all. */
  colored: readonly string[];
}

export const kPlainColumns: ColumnChoice = { hidden: [], order: [], frozen: 0, widths: {}, colored: [] };

/** Columns whose cells are a few fixed words. */
const kVerdicts = new Set(["Result", "metric"]);

const kDigit = 8.3;
const kSquare = 13.6;
const kWidest = 360;

/** About as wide as a text is drawn: Chinese characters are square. */
function textWidth(text: string): number {
  const square = text.match(/[\u2e80-\u9fff\uf900-\uffef]/g)?.length ?? 0;
  return square * kSquare + (text.length - square) * kDigit;
}

/** As wide as the title, with its buttons, and the longest of some cells. */
function firstWidth(column: ColumnInfo, title: string, texts: readonly string[]): number {
  const cells = Math.max(0, ...texts.map(textWidth)) + 18;
  const least = isNumeric(column) ? 76 : 90;
  return Math.ceil(Math.max(least, textWidth(title) + 48, Math.min(kWidest, cells)));
}

/** The columns that are not hidden, in order. `rows` are some of the table's, for the widths. */
export function shownColumns(columns: ColumnInfo[], specs: ColumnSpecs, choice: ColumnChoice = kPlainColumns, rows: Cell[][] = []): ShownColumn[] {
  const shown = columns.flatMap((column, at): ShownColumn[] => {
    const spec = specs[column.name] ?? {};
    if (spec.hidden || choice.hidden.includes(column.name)) return [];
    const each = { at, column, spec, title: spec.title ?? columnTitle(column.name), width: 0 };
    const width = choice.widths[column.name] ?? spec.width;
    return [{ ...each, width: width ?? firstWidth(column, each.title, rows.map((cells) => cellText(cells, each))) }];
  });
  const place = (each: ShownColumn) => {
    const at = choice.order.indexOf(each.column.name);
    return at < 0 ? choice.order.length + each.at : at;
  };
  return shown.sort((a, b) => place(a) - place(b));
}

/** Gives text columns the room that is left, or takes what little is missing from the widest; widths the user chose stay. */
export function fitColumns(shown: ShownColumn[], room: number, choice: ColumnChoice): ShownColumn[] {
  const free = shown.filter((each) => !isNumeric(each.column) && choice.widths[each.column.name] === undefined);
  const missing = room - shown.reduce((sum, each) => sum + each.width, 0);
  const least = (each: ShownColumn) => Math.min(each.width, 150);
  const give = missing >= 0 ? free.reduce((sum, each) => sum + each.width, 0) : free.reduce((sum, each) => sum + each.width - least(each), 0);
  if (room <= 0 || give <= 0 || missing < -give) return shown;
  const share = missing / give;
  const next = (each: ShownColumn) => Math.floor(each.width + share * (missing >= 0 ? each.width : each.width - least(each)));
  return shown.map((each) => (free.includes(each) ? { ...each, width: next(each) } : each));
}

export function cellText(cells: Cell[], shown: ShownColumn): string {
  const value = cells[shown.at] ?? null;
  if (shown.spec.format) return shown.spec.format(value, cells);
  if (shown.spec.raw) return formatCell(value, shown.column);
  // Moments are counted from the begin of the data, not since 1970.
  const moment = typeof value === "number" ? sinceOrigin(shown.column.name, value) : null;
  const text = formatCell(moment ?? value, shown.column);
  if (kVerdicts.has(shown.column.name)) return valueText(text);
  return typeof value === "string" ? deviceWord(kernelLabel(text)) : text;
}

/** What the cell is called when the pointer rests on it: all of its name, and the moment as it was written. */
export function cellTitle(cells: Cell[], shown: ShownColumn): string {
  const full = formatCell(cells[shown.at] ?? null, shown.column);
  const text = cellText(cells, shown);
  return shown.spec.format || full === text || kVerdicts.has(shown.column.name) ? text : `${text}\n${full}`;
}
