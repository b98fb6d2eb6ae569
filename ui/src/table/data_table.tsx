// A table of any size: rows are asked for as they come into view; sort and filter happen where the rows are.
//
//   <DataTable source={serverSource(ds, {source: "kernels"})} name="kernels" onJump={row => ...} />
//
// Keys: arrows, PgUp/PgDn, Home/End move; Shift extends; Enter jumps; Ctrl+C copies the selection as TSV; Ctrl+F filters.
import type { RefObject } from "preact";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Cell, TableFilter, TableSort } from "../api_types";
import { t } from "../i18n";
import { toTsv } from "../widgets/download";
import { type MenuEntry, openMenu } from "../widgets/menu";
import { mapScroll, scrollBy, scrollTopOf } from "../widgets/scroller";
import { copyText, ErrorState, Loading } from "../widgets/states";
import { columnMenu, storeChoice, storedChoice } from "./column_choice";
import { cellText, type ColumnChoice, type ColumnSpecs, columnTitle, fitColumns, type RowView, type ShownColumn, shownColumns, viewOf } from "./columns";
import { TableModel } from "./model";
import { useTenths } from "./percentiles";
import { TableFooter, TableHeader, TableRow } from "./parts";
import { canSum, type GroupFunction, type RowSource } from "./source";

export type { ColumnSpec, RowView } from "./columns";

const kRow = 24;

export interface DataTableProps {
  source: RowSource;
  /** File name of exports, and the label read by screen readers. */
  name: string;
  columns?: ColumnSpecs;
  sort?: TableSort[];
  onSelect?: (row: RowView) => void;
  onJump?: (row: RowView) => void;
  /** Further entries of a row's menu: the cells by column, and the column that was clicked, "" beside all. */
  rowMenu?: (row: Record<string, Cell>, column: string) => MenuEntry[];
  /** Height in px; without it the table fills its parent. */
  height?: number;
}

function cellsOf({ columns, cells }: RowView): Record<string, Cell> {
  return Object.fromEntries(columns.map((column, at) => [column.name, cells[at] ?? null]));
}

/** Copies the selected rows that are loaded, with a header line. */
function copySelection(model: TableModel, shown: ShownColumn[]): void {
  const selection = model.selection();
  if (!selection) return;
  const rows: string[][] = [shown.map((each) => each.title)];
  for (let index = selection[0]; index <= selection[1]; index++) {
    const cells = model.row(index);
    if (cells) rows.push(shown.map((each) => cellText(cells, each)));
  }
  void copyText(toTsv(rows));
}

/** Scrolls so that a row is in view. */
function reveal(element: HTMLElement, index: number, rows: number): void {
  const viewport = element.clientHeight;
  const now = mapScroll(element.scrollTop, viewport, rows, kRow);
  const lastFull = now.first + Math.floor((viewport + now.y) / kRow) - 1;
  if (index < now.first - now.y / kRow) element.scrollTop = scrollTopOf(index, viewport, rows, kRow);
  else if (index > lastFull) element.scrollTop = scrollTopOf(index + 1 - viewport / kRow, viewport, rows, kRow);
}

/** What the user does with rows, in terms of the model and the caller's wishes. */
class Actions {
  constructor(
    private readonly model: TableModel,
    private readonly props: DataTableProps,
    private readonly shown: ShownColumn[],
    private readonly body: RefObject<HTMLDivElement | null>,
  ) {}

  private view(index: number): RowView | null {
    const cells = this.model.row(index);
    return cells && viewOf(cells, this.model.columns.value);
  }

  jump = (index: number): void => {
    const row = this.view(index);
    if (row) this.props.onJump?.(row);
  };

  select = (index: number, extend: boolean): void => {
    this.model.moveCursor(index, extend);
    if (this.body.current) reveal(this.body.current, this.model.cursor.value, this.model.filtered.value);
    const row = this.view(this.model.cursor.value);
    if (row) this.props.onSelect?.(row);
  };

  copy = (): void => copySelection(this.model, this.shown);

  menu = (event: MouseEvent, index: number, column: ShownColumn | undefined): void => {
    const { model, props } = this;
    const row = this.view(index);
    if (!row) return;
    event.preventDefault();
    this.select(index, false);
    const filter = (op: "=" | "!=") => () => {
      if (column)
        model.setFilter([...model.filter.value, { col: column.column.name, op, value: row.cells[column.at] ?? null }]);
    };
    openMenu(event.clientX, event.clientY, [
      ...(props.onJump ? [{ label: t("table.jump"), hint: "Enter", run: () => this.jump(index) }] : []),
      ...(props.rowMenu?.(cellsOf(row), column?.column.name ?? "") ?? []),
      { label: t("copy"), hint: "Ctrl+C", run: this.copy },
      ...(["tsv", "json"] as const).map((format) => ({ label: t("table.export_as", { format: format.toUpperCase() }), run: () => model.source.save(props.name, model.query(0, 0), format) })),
      { label: t("table.filter_in"), disabled: !column, run: filter("=") },
      { label: t("table.filter_out"), disabled: !column, run: filter("!=") },
    ]);
  };

  key = (event: KeyboardEvent): void => {
    const { cursor, filtered } = this.model;
    const rows = filtered.value;
    const page = Math.max(1, Math.floor((this.body.current?.clientHeight ?? 0) / kRow) - 1);
    const moves: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows,
      End: rows,
    };
    const delta = moves[event.key];
    const control = event.ctrlKey || event.metaKey;
    if (delta !== undefined) this.select(Math.max(0, Math.min(cursor.value + delta, rows - 1)), event.shiftKey);
    else if (event.key === " ") this.select(Math.max(0, cursor.value), event.shiftKey);
    else if (event.key === "Enter") this.jump(cursor.value);
    else if (event.key === "c" && control) this.copy();
    else if (event.key === "f" && control)
      this.body.current?.parentElement?.querySelector<HTMLElement>(".th-filter")?.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
}

/** Size of an element's inside, followed. */
function useSize(ref: RefObject<HTMLElement | null>, first: number): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: first });
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return size;
}

/** Rows that the widths of the columns follow. */
const kSample = 40;

/** The columns as they are shown: as the user arranged them, as wide as what they hold, filling the table. */
function useColumns(model: TableModel, props: DataTableProps, room: number): [ShownColumn[], ColumnChoice, (choice: ColumnChoice) => void] {
  const [choice, setChoice] = useState(() => storedChoice(props.name));
  const change = (next: ColumnChoice) => {
    setChoice(next);
    storeChoice(props.name, next);
  };
  const columns = model.columns.value;
  // Widths stay while one scrolls or sorts; they change with the table.
  const sample = useRef<{ key: string; rows: Cell[][] }>({ key: "", rows: [] });
  const key = `${props.source.key}/${columns.length}/${model.filtered.value > 0}`;
  if (sample.current.key !== key && !model.busy.value) {
    const count = Math.min(kSample, model.filtered.value);
    sample.current = { key, rows: Array.from({ length: count }, (_, at) => model.row(at)).filter((row) => row !== null) };
  }
  const tenths = useTenths(props.source, choice.colored, model.filter.value, model.filtered.value);
  const shown = fitColumns(shownColumns(columns, props.columns ?? {}, choice, sample.current.rows), room, choice).map((each) => ({ ...each, tenths: tenths.get(each.column.name) }));
  return [shown, choice, change];
}

/** What the table needs beside its rows: header, footer and a scroll bar. */
const kFrame = 27 + 26 + 16;

/** A table of few rows is no higher than these. */
function heightFor(wanted: number | undefined, model: TableModel): number | undefined {
  if (wanted === undefined || model.busy.value || model.filter.value.length > 0) return wanted;
  return Math.max(124, Math.min(wanted, model.total.value === 0 ? 0 : model.filtered.value * kRow + kFrame));
}

interface RowsProps {
  model: TableModel;
  shown: ShownColumn[];
  actions: Actions;
  scrollTop: number;
  viewport: number;
  /** Changes when rows arrived; a prop, so that the rows are drawn again. */
  version: number;
  frozen: number;
}

function Rows({ model, shown, actions, scrollTop, viewport, frozen }: RowsProps) {
  const rows = model.filtered.value;
  const scroll = mapScroll(scrollTop, viewport, rows, kRow);
  const selection = model.selection();
  const width = shown.reduce((sum, each) => sum + each.width, 0);
  const top = Math.min(scrollTop, Math.max(0, scroll.height - viewport)) + scroll.y;
  const indexes = Array.from({ length: Math.max(0, scroll.count) }, (_, k) => scroll.first + k);
  return (
    <div class="tspace" style={{ height: `${scroll.height}px`, width: `${width}px` }}>
      <div class="tview" style={{ transform: `translateY(${top}px)` }}>
        {indexes.map((index) => (
          <TableRow
            key={index}
            index={index}
            cells={model.row(index)}
            shown={shown}
            selected={selection !== null && index >= selection[0] && index <= selection[1]}
            cursor={index === model.cursor.value}
            frozen={frozen}
            onSelect={actions.select}
            onJump={actions.jump}
            onMenu={actions.menu}
          />
        ))}
        {rows === 0 && (
          <OneCell>
            <p class="muted pad">{t(model.busy.value ? "loading" : "table.empty")}</p>
          </OneCell>
        )}
      </div>
    </div>
  );
}

/** What stands where rows would be: a table has nothing but rows. */
function OneCell({ children }: { children: ComponentChildren }) {
  return (
    <div role="row">
      <div role="gridcell">{children}</div>
    </div>
  );
}

/** A table, or what its rows come to by the values of a column. */
export function DataTable(props: DataTableProps) {
  const [group, setGroup] = useState<{ column: string; sums: string[]; fn: GroupFunction } | null>(null);
  const [inside, setInside] = useState<TableFilter | null>(null);
  if (!group) return <Table {...props} key="rows" inside={inside} onInside={setInside} onGroup={(column, sums) => setGroup({ column, sums, fn: "sum" })} />;
  const { onSelect: _, onJump: __, rowMenu: ___, columns: ____, ...rest } = props;
  const open = (row: RowView) => {
    setInside({ col: group.column, op: "in", value: [String(row.get(group.column) ?? "")] });
    setGroup(null);
  };
  const first = group.sums[0];
  return (
    <Table
      {...rest}
      key={`by ${group.column} ${group.fn}`}
      name={`${props.name}_by_${group.column}`}
      source={props.source.grouped(group.column, group.sums, group.fn)}
      sort={[{ col: first ? `${group.fn}(${first})` : "count", desc: true }]}
      onJump={open}
      grouped={columnTitle(group.column)}
      fn={first ? group.fn : undefined}
      onFunction={(fn) => setGroup({ ...group, fn })}
      onWhole={() => setGroup(null)}
      inside={null}
      onInside={setInside}
      onGroup={(column) => setGroup({ ...group, column })}
    />
  );
}

interface TableProps extends DataTableProps {
  /** The group that was looked into. */
  inside: TableFilter | null;
  onInside(filter: TableFilter | null): void;
  onGroup(column: string, sums: string[]): void;
  /** What the rows are grouped by. */
  grouped?: string;
  /** What the values of a group come to; absent where there are none. */
  fn?: GroupFunction | undefined;
  onFunction?: (fn: GroupFunction) => void;
  onWhole?: () => void;
}

/** As many sums as fit beside each other. */
const kMostSums = 5;

function Table(props: TableProps) {
  const model = useMemo(() => new TableModel(props.source, props.sort ?? [], props.inside ? [props.inside] : []), []);
  useEffect(() => model.setSource(props.source), [props.source.key]);
  const group = (column: string) => {
    props.onInside(null);
    if (!props.grouped) return props.onGroup(column, model.columns.value.filter((each) => each.name !== column && canSum(each)).slice(0, kMostSums).map((each) => each.name));
  };
  const body = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const { height: viewport, width: room } = useSize(body, props.height ?? 300);
  const [shown, choice, setChoice] = useColumns(model, props, room);
  const actions = new Actions(model, props, shown, body);
  const rows = model.filtered.value;

  const onScroll = (event: Event) => {
    const element = event.currentTarget as HTMLElement;
    setScrollTop(element.scrollTop);
    if (!head.current) return;
    head.current.style.transform = `translateX(${-element.scrollLeft}px)`;
    // Frozen columns go back by as much.
    head.current.style.setProperty("--back", `${element.scrollLeft}px`);
  };
  // Where a pixel of the scroll bar is many rows, the wheel still moves by rows.
  const onWheel = (event: WheelEvent) => {
    const element = body.current;
    if (!element || mapScroll(0, viewport, rows, kRow).height >= rows * kRow || event.deltaY === 0 || event.shiftKey)
      return;
    element.scrollTop = scrollBy(element.scrollTop, event.deltaY / kRow, viewport, rows, kRow);
    event.preventDefault();
  };
  const height = heightFor(props.height, model);
  return (
    <div class="data-table" style={height ? { height: `${height}px` } : {}}>
      <div class="tgrid" role="grid" aria-label={props.name} aria-rowcount={rows}>
        <div class="th-clip" role="rowgroup">
          <div
            class="thead"
            role="row"
            ref={head}
            style={{ width: `${shown.reduce((sum, each) => sum + each.width, 0)}px` }}
          >
            <TableHeader
              model={model}
              shown={shown}
              frozen={choice.frozen}
              onResize={(name, width) => setChoice({ ...choice, widths: { ...choice.widths, [name]: width } })}
              onMenu={(event, at) => {
                event.preventDefault();
                openMenu(event.clientX, event.clientY, columnMenu(shown, at, choice, setChoice, group));
              }}
            />
          </div>
        </div>
        <div
          class="tbody"
          ref={body}
          role="rowgroup"
          aria-label={props.name}
          tabIndex={0}
          onKeyDown={actions.key}
          onWheel={onWheel}
          onScroll={onScroll}
        >
          {model.error.value ? (
            <OneCell>
              <ErrorState error={model.error.value} onRetry={() => model.restart()} />
            </OneCell>
          ) : model.busy.value && shown.length === 0 ? (
            <OneCell>
              <Loading />
            </OneCell>
          ) : (
            <Rows
              model={model}
              shown={shown}
              actions={actions}
              scrollTop={scrollTop}
              viewport={viewport}
              version={model.version.value}
              frozen={choice.frozen}
            />
          )}
        </div>
      </div>
      <TableFooter model={model} shown={shown} name={props.name} onCopy={actions.copy} grouped={props.grouped} fn={props.fn} onFunction={props.onFunction} onWhole={props.onWhole} />
    </div>
  );
}
