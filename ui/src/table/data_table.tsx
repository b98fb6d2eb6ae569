// A table of any size: rows are asked for as they come into view; sort and filter happen where the rows are.
//
//   <DataTable source={serverSource(ds, {source: "kernels"})} name="kernels" onJump={row => ...} />
//
// Keys: arrows, PgUp/PgDn, Home/End move; Shift extends; Enter jumps; Ctrl+C copies the selection as TSV; Ctrl+F filters.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Cell, ColumnInfo, TableFilter, TableSort } from "../api_types";
import { formatCell, formatInt, isNumeric } from "../format";
import { t } from "../i18n";
import { toTsv } from "../widgets/download";
import { type MenuEntry, openMenu, openPopover } from "../widgets/menu";
import { mapScroll, scrollBy, scrollTopOf } from "../widgets/scroller";
import { copyText, ErrorState, Loading } from "../widgets/states";
import { FilterPopover } from "./filter_popover";
import { TableModel } from "./model";
import type { RowSource } from "./source";

const kRow = 24;

export interface ColumnSpec {
  title?: string;
  hidden?: boolean;
  /** Draws a bar behind the number: its share of `bar`. */
  bar?: number;
  width?: number;
  format?: (value: Cell, row: Cell[]) => string;
}

export interface RowView {
  cells: Cell[];
  columns: ColumnInfo[];
  /** The cell of a column by name; null if there is none. */
  get(name: string): Cell;
}

export interface DataTableProps {
  source: RowSource;
  /** File name of exports, and the label read by screen readers. */
  name: string;
  columns?: Record<string, ColumnSpec>;
  sort?: TableSort[];
  onSelect?: (row: RowView) => void;
  onJump?: (row: RowView) => void;
  rowMenu?: (row: RowView) => MenuEntry[];
  /** Height in px; without it the table fills its parent. */
  height?: number;
}

function viewOf(cells: Cell[], columns: ColumnInfo[]): RowView {
  return { cells, columns, get: (name) => cells[columns.findIndex((column) => column.name === name)] ?? null };
}

function firstWidth(column: ColumnInfo, spec: ColumnSpec | undefined): number {
  if (spec?.width) return spec.width;
  const title = (spec?.title ?? column.name).length * 7 + 44;
  return isNumeric(column) ? Math.max(104, title) : /name|path|lane|text/i.test(column.name) ? Math.max(240, title) : Math.max(110, title);
}

interface HeaderProps {
  model: TableModel;
  column: ColumnInfo;
  title: string;
  width: number;
  onResize(width: number): void;
}

function HeaderCell({ model, column, title, width, onResize }: HeaderProps) {
  const at = model.sort.value.findIndex((sort) => sort.col === column.name);
  const sort = model.sort.value[at];
  const own = model.filter.value.filter((filter) => filter.col === column.name);
  const apply = (filters: TableFilter[]) =>
    model.setFilter([...model.filter.value.filter((filter) => filter.col !== column.name), ...filters]);
  const drag = (event: PointerEvent) => {
    const grip = event.currentTarget as HTMLElement;
    const from = event.clientX;
    grip.setPointerCapture(event.pointerId);
    grip.onpointermove = (move) => onResize(Math.max(40, width + move.clientX - from));
    grip.onpointerup = () => (grip.onpointermove = null);
    event.stopPropagation();
  };
  return (
    <div
      class={`th ${isNumeric(column) ? "num" : ""}`}
      role="columnheader"
      style={{ width: `${width}px` }}
      aria-sort={sort ? (sort.desc ? "descending" : "ascending") : "none"}
    >
      <button class="th-name" title={title} onClick={(e) => model.toggleSort(column.name, e.shiftKey)}>
        {title}
        {sort && <span class="th-sort">{(sort.desc ? "▼" : "▲") + (model.sort.value.length > 1 ? at + 1 : "")}</span>}
      </button>
      <button
        class={`th-filter ${own.length > 0 ? "on" : ""}`}
        aria-label={t("table.filter", { name: title })}
        onClick={(e) => openPopover(e.currentTarget, () => <FilterPopover column={column} now={own} onApply={apply} />)}
      >
        ▾
      </button>
      <span class="th-grip" onPointerDown={drag} />
    </div>
  );
}

interface CellProps {
  cells: Cell[];
  at: number;
  column: ColumnInfo;
  spec: ColumnSpec | undefined;
  width: number;
}

function BodyCell({ cells, at, column, spec, width }: CellProps) {
  const value = cells[at] ?? null;
  const text = spec?.format ? spec.format(value, cells) : formatCell(value, column);
  const share = spec?.bar && typeof value === "number" ? Math.max(0, Math.min(1, value / spec.bar)) : 0;
  return (
    <div class={`td ${isNumeric(column) ? "num" : ""}`} role="gridcell" style={{ width: `${width}px` }} title={text}>
      {share > 0 && <span class="td-bar" style={{ width: `${share * 100}%` }} />}
      <span>{text}</span>
    </div>
  );
}

/** Copies the selected rows (all loaded columns that show) with a header line. */
function copySelection(model: TableModel, shown: number[], specs: Record<string, ColumnSpec>): void {
  const selection = model.selection();
  if (!selection) return;
  const columns = model.columns.value;
  const rows: string[][] = [shown.map((at) => columns[at]?.name ?? "")];
  for (let index = selection[0]; index <= selection[1]; index++) {
    const cells = model.row(index);
    if (!cells) continue;
    rows.push(
      shown.map((at) => {
        const column = columns[at];
        if (!column) return "";
        const value = cells[at] ?? null;
        return specs[column.name]?.format?.(value, cells) ?? formatCell(value, column);
      }),
    );
  }
  void copyText(toTsv(rows));
}

export function DataTable(props: DataTableProps) {
  const model = useMemo(() => new TableModel(props.source, props.sort ?? []), []);
  useEffect(() => model.setSource(props.source), [props.source.key]);
  const body = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const [viewport, setViewport] = useState(props.height ?? 300);
  const [widths, setWidths] = useState<Record<string, number>>({});
  const specs = props.columns ?? {};
  const columns = model.columns.value;
  const shown = columns.map((_, at) => at).filter((at) => !specs[columns[at]?.name ?? ""]?.hidden);
  const widthOf = (column: ColumnInfo) => widths[column.name] ?? firstWidth(column, specs[column.name]);
  const rows = model.filtered.value;
  void model.version.value;

  useEffect(() => {
    const element = body.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setViewport(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const scroll = mapScroll(scrollTop, viewport, rows, kRow);
  const reveal = (index: number) => {
    const element = body.current;
    if (!element) return;
    const now = mapScroll(element.scrollTop, viewport, rows, kRow);
    const lastFull = now.first + Math.floor((viewport + now.y) / kRow) - 1;
    if (index < now.first - now.y / kRow) element.scrollTop = scrollTopOf(index, viewport, rows, kRow);
    else if (index > lastFull) element.scrollTop = scrollTopOf(index + 1 - viewport / kRow, viewport, rows, kRow);
  };
  const jump = (index: number) => {
    const cells = model.row(index);
    if (cells) props.onJump?.(viewOf(cells, columns));
  };
  const select = (index: number, extend: boolean) => {
    model.moveCursor(index, extend);
    reveal(index);
    const cells = model.row(model.cursor.value);
    if (cells) props.onSelect?.(viewOf(cells, columns));
  };
  const onKey = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(viewport / kRow) - 1);
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows, End: rows };
    const delta = moves[event.key];
    if (delta !== undefined) select(Math.max(0, Math.min(model.cursor.value + delta, rows - 1)), event.shiftKey);
    else if (event.key === "Enter") jump(model.cursor.value);
    else if (event.key === "c" && (event.ctrlKey || event.metaKey)) copySelection(model, shown, specs);
    else if (event.key === "f" && (event.ctrlKey || event.metaKey)) head.current?.querySelector<HTMLElement>(".th-filter")?.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onWheel = (event: WheelEvent) => {
    const element = body.current;
    if (!element || rows * kRow <= scroll.height || event.deltaY === 0 || event.shiftKey) return;
    element.scrollTop = scrollBy(element.scrollTop, event.deltaY / kRow, viewport, rows, kRow);
    event.preventDefault();
  };
  const menu = (event: MouseEvent, index: number) => {
    const cells = model.row(index);
    if (!cells) return;
    event.preventDefault();
    select(index, false);
    const at = shown[[...(event.currentTarget as HTMLElement).children].findIndex((cell) => cell.contains(event.target as Node))];
    const column = at === undefined ? undefined : columns[at];
    const value = at === undefined ? null : (cells[at] ?? null);
    const add = (op: "=" | "!=") => column && model.setFilter([...model.filter.value, { col: column.name, op, value }]);
    openMenu(event.clientX, event.clientY, [
      ...(props.onJump ? [{ label: t("table.jump"), hint: "Enter", run: () => jump(index) }] : []),
      ...(props.rowMenu ? props.rowMenu(viewOf(cells, columns)) : []),
      { label: t("copy"), hint: "Ctrl+C", run: () => copySelection(model, shown, specs) },
      { label: t("table.filter_in"), disabled: !column, run: () => add("=") },
      { label: t("table.filter_out"), disabled: !column, run: () => add("!=") },
    ]);
  };

  const totalWidth = shown.reduce((sum, at) => sum + (columns[at] ? widthOf(columns[at]) : 0), 0);
  const selection = model.selection();
  const visible = Array.from({ length: Math.max(0, scroll.count) }, (_, k) => scroll.first + k);
  return (
    <div class="data-table" style={props.height ? { height: `${props.height}px` } : {}}>
      <div class="th-clip">
        <div class="thead" role="row" ref={head} style={{ width: `${totalWidth}px` }}>
          {shown.map((at) => {
            const column = columns[at];
            return (
              column && (
                <HeaderCell
                  key={column.name}
                  model={model}
                  column={column}
                  title={specs[column.name]?.title ?? column.name}
                  width={widthOf(column)}
                  onResize={(width) => setWidths({ ...widths, [column.name]: width })}
                />
              )
            );
          })}
        </div>
      </div>
      <div
        class="tbody"
        ref={body}
        role="grid"
        aria-label={props.name}
        aria-rowcount={rows}
        tabIndex={0}
        onKeyDown={onKey}
        onWheel={onWheel}
        onScroll={(event) => {
          setScrollTop(event.currentTarget.scrollTop);
          if (head.current) head.current.style.transform = `translateX(${-event.currentTarget.scrollLeft}px)`;
        }}
      >
        {model.error.value ? (
          <ErrorState error={model.error.value} onRetry={() => model.restart()} />
        ) : model.busy.value && columns.length === 0 ? (
          <Loading />
        ) : (
          <div class="tspace" style={{ height: `${scroll.height}px`, width: `${totalWidth}px` }}>
            <div class="tview" style={{ transform: `translateY(${Math.min(scrollTop, Math.max(0, scroll.height - viewport)) + scroll.y}px)` }}>
              {visible.map((index) => {
                const cells = model.row(index);
                const on = selection && index >= selection[0] && index <= selection[1];
                return (
                  <div
                    key={index}
                    class={`tr ${on ? "on" : ""} ${index === model.cursor.value ? "cursor" : ""}`}
                    role="row"
                    aria-rowindex={index + 1}
                    aria-selected={on ? "true" : "false"}
                    onClick={(e) => select(index, e.shiftKey)}
                    onDblClick={() => jump(index)}
                    onContextMenu={(e) => menu(e, index)}
                  >
                    {cells
                      ? shown.map((at) => {
                          const column = columns[at];
                          return (
                            column && (
                              <BodyCell key={at} cells={cells} at={at} column={column} spec={specs[column.name]} width={widthOf(column)} />
                            )
                          );
                        })
                      : "…"}
                  </div>
                );
              })}
              {rows === 0 && !model.busy.value && <p class="muted pad">{t("table.empty")}</p>}
            </div>
          </div>
        )}
      </div>
      <footer class="tfoot">
        <span>
          {model.filtered.value === model.total.value
            ? t("table.count", { n: model.total.value })
            : t("table.filtered", { n: formatInt(model.filtered.value), total: formatInt(model.total.value) })}
        </span>
        {model.filter.value.map((filter, at) => (
          <button
            key={at}
            class="chip"
            title={t("clear")}
            onClick={() => model.setFilter(model.filter.value.filter((_, other) => other !== at))}
          >
            {`${filter.col} ${filter.op} ${String(filter.value)} ×`}
          </button>
        ))}
        <span class="grow" />
        <button class="link" onClick={() => copySelection(model, shown, specs)} disabled={!selection}>
          {t("copy")}
        </button>
        <button class="link" onClick={() => model.source.save(props.name, model.query(0, 0))}>
          {t("table.export_csv")}
        </button>
      </footer>
    </div>
  );
}
