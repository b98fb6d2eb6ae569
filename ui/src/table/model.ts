// The state of one table: query, windows of rows as they arrive, selection. No DOM in here.
import { signal } from "@preact/signals";
import { isAbort } from "../api";
import type { Cell, ColumnInfo, TableFilter, TableSort } from "../api_types";
import { toast } from "../widgets/toast";
import type { RowSource } from "./source";

export const kWindow = 200;
const kKeptWindows = 24;

export class TableModel {
  readonly columns = signal<ColumnInfo[]>([]);
  readonly filtered = signal(0);
  readonly total = signal(0);
  readonly sort = signal<TableSort[]>([]);
  readonly filter = signal<TableFilter[]>([]);
  /** The row with the cursor; -1 = none. */
  readonly cursor = signal(-1);
  /** The other end of the selected rows. */
  readonly anchor = signal(-1);
  readonly error = signal<unknown>(null);
  readonly busy = signal(true);
  /** Grows when rows arrived, so that views draw again. */
  readonly version = signal(0);

  private windows = new Map<number, Cell[][]>();
  private pending = new Set<number>();
  private control = new AbortController();

  constructor(
    public source: RowSource,
    sort: TableSort[],
    filter: TableFilter[] = [],
  ) {
    this.sort.value = sort;
    this.filter.value = filter;
    this.restart();
  }

  setSource(source: RowSource): void {
    if (source.key === this.source.key) return;
    this.source = source;
    this.cursor.value = -1;
    this.restart();
  }

  setFilter(filter: TableFilter[]): void {
    this.filter.value = filter;
    this.cursor.value = -1;
    this.restart();
  }

  /** A click on a header: descending, ascending, none; with `add` as a further key. */
  toggleSort(col: string, add: boolean): void {
    const now = this.sort.value.find((sort) => sort.col === col);
    const others = add ? this.sort.value.filter((sort) => sort.col !== col) : [];
    const next = !now ? [{ col, desc: true }] : now.desc ? [{ col, desc: false }] : [];
    this.sort.value = [...others, ...next];
    this.restart();
  }

  restart(): void {
    this.control.abort();
    this.control = new AbortController();
    this.windows.clear();
    this.pending.clear();
    this.busy.value = true;
    void this.fetchWindow(0);
  }

  /** The row at `index`, or null while it is on its way (asking starts the way). */
  row(index: number): Cell[] | null {
    const number = Math.floor(index / kWindow);
    const window = this.windows.get(number);
    if (window) return window[index % kWindow] ?? null;
    if (index < this.filtered.value) void this.fetchWindow(number);
    return null;
  }

  /** The values of a column that the filters of the other columns leave, the most frequent first. */
  async valuesOf(column: string, signal: AbortSignal): Promise<{ value: string; count: number }[]> {
    const filter = this.filter.value.filter((each) => each.col !== column);
    const reply = await this.source.grouped(column, []).load({ filter, sort: [{ col: "count", desc: true }], offset: 0, limit: kWindow }, signal);
    const at = reply.columns.findIndex(({ name }) => name === column);
    const count = reply.columns.findIndex(({ name }) => name === "count");
    return reply.rows.map((row) => ({ value: String(row[at] ?? ""), count: Number(row[count] ?? 0) }));
  }

  query(offset: number, limit: number) {
    return { filter: this.filter.value, sort: this.sort.value, offset, limit };
  }

  /** [first, last] of the selected rows; null = none. */
  selection(): [number, number] | null {
    if (this.cursor.value < 0) return null;
    const anchor = this.anchor.value < 0 ? this.cursor.value : this.anchor.value;
    return [Math.min(anchor, this.cursor.value), Math.max(anchor, this.cursor.value)];
  }

  moveCursor(to: number, extend: boolean): void {
    const next = Math.max(0, Math.min(to, this.filtered.value - 1));
    if (!extend) this.anchor.value = next;
    else if (this.anchor.value < 0) this.anchor.value = this.cursor.value;
    this.cursor.value = next;
  }

  private async fetchWindow(number: number): Promise<void> {
    if (this.pending.has(number)) return;
    this.pending.add(number);
    const control = this.control;
    try {
      const reply = await this.source.load(this.query(number * kWindow, kWindow), control.signal);
      if (control.signal.aborted) return;
      this.keep(number, reply.rows);
      this.columns.value = reply.columns;
      this.filtered.value = reply.filtered;
      this.total.value = reply.total;
      this.error.value = null;
    } catch (error) {
      if (control.signal.aborted || isAbort(error)) return;
      if (number === 0) this.error.value = error;
      else toast("error", error instanceof Error ? error.message : String(error));
    } finally {
      this.pending.delete(number);
      if (!control.signal.aborted) {
        this.busy.value = false;
        this.version.value++;
      }
    }
  }

  private keep(number: number, rows: Cell[][]): void {
    this.windows.set(number, rows);
    for (const old of this.windows.keys()) {
      if (this.windows.size <= kKeptWindows) break;
      if (old !== number) this.windows.delete(old);
    }
  }
}
