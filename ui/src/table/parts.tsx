// The pieces of a table: header, rows, footer.
import type { Cell, TableFilter } from "../api_types";
import { formatInt, isNumeric, middleEllipsis } from "../format";
import { hasMessage, t } from "../i18n";
import { openPopover } from "../widgets/menu";
import { cellText, cellTitle, columnTitle, type ShownColumn } from "./columns";
import { FilterPopover } from "./filter_popover";
import type { TableModel } from "./model";
import { tenthOf } from "./percentiles";
import { canSum, type GroupFunction, kGroupFunctions } from "./source";

interface HeaderProps {
  model: TableModel;
  shown: ShownColumn;
  /** Distance from the left at which it stays; null = it scrolls. */
  stays: number | null;
  onResize(width: number): void;
  onMenu(event: MouseEvent): void;
}

/** Where each of the first `frozen` columns stays; null for the others. */
function placesToStay(shown: readonly ShownColumn[], frozen: number): (number | null)[] {
  let left = 0;
  return shown.map((each, at) => {
    const here = left;
    left += each.width;
    return at < frozen ? here : null;
  });
}

function HeaderCell({ model, shown, stays, onResize, onMenu }: HeaderProps) {
  const { column, title, width } = shown;
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
      class={`th ${isNumeric(column) ? "num" : ""} ${stays === null ? "" : "stays"}`}
      role="columnheader"
      onContextMenu={onMenu}
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
        onClick={(e) => openPopover(e.currentTarget, () => <FilterPopover column={column} title={title} now={own} values={(signal) => model.valuesOf(column.name, signal)} onApply={apply} />)}
      >
        ▾
      </button>
      <span class="th-grip" onPointerDown={drag} />
    </div>
  );
}

export function TableHeader({
  model,
  shown,
  frozen,
  onResize,
  onMenu,
}: {
  model: TableModel;
  shown: ShownColumn[];
  frozen: number;
  onResize(name: string, width: number): void;
  onMenu(event: MouseEvent, at: number): void;
}) {
  const stays = placesToStay(shown, frozen);
  return (
    <>
      {shown.map((each, at) => (
        <HeaderCell
          key={each.column.name}
          model={model}
          shown={each}
          stays={stays[at] ?? null}
          onResize={(width) => onResize(each.column.name, width)}
          onMenu={(event) => onMenu(event, at)}
        />
      ))}
    </>
  );
}

function BodyCell({ cells, shown, stays }: { cells: Cell[]; shown: ShownColumn; stays: number | null }) {
  const value = cells[shown.at] ?? null;
  const text = cellText(cells, shown);
  const { bar } = shown.spec;
  const share = bar && typeof value === "number" ? Math.max(0, Math.min(1, value / bar)) : 0;
  const tenth = shown.tenths && value !== null && value !== "" ? `tenth-${tenthOf(Number(value), shown.tenths)}` : "";
  return (
    <div
      class={`td ${isNumeric(shown.column) ? "num" : ""} ${stays === null ? "" : "stays"} ${tenth}`}
      role="gridcell"
      style={{ width: `${shown.width}px`, ...(stays === null ? {} : { left: `${stays}px` }) }}
      title={cellTitle(cells, shown)}
    >
      {share > 0 && <span class="td-bar" style={{ width: `${share * 100}%` }} />}
      <span>{text}</span>
    </div>
  );
}

interface RowProps {
  index: number;
  cells: Cell[] | null;
  shown: ShownColumn[];
  selected: boolean;
  cursor: boolean;
  frozen: number;
  onSelect(index: number, extend: boolean): void;
  onJump(index: number): void;
  /** `column` is the one under the pointer. */
  onMenu(event: MouseEvent, index: number, column: ShownColumn | undefined): void;
}

export function TableRow({ index, cells, shown, selected, cursor, frozen, onSelect, onJump, onMenu }: RowProps) {
  const menu = (event: MouseEvent) => {
    const row = event.currentTarget as HTMLElement;
    const at = [...row.children].findIndex((cell) => cell.contains(event.target as Node));
    onMenu(event, index, shown[at]);
  };
  const stays = placesToStay(shown, frozen);
  return (
    <div
      class={`tr ${selected ? "on" : ""} ${cursor ? "cursor" : ""}`}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={selected ? "true" : "false"}
      onClick={(e) => onSelect(index, e.shiftKey)}
      onDblClick={() => onJump(index)}
      onContextMenu={menu}
    >
      {cells ? shown.map((each, at) => <BodyCell key={each.at} cells={cells} shown={each} stays={stays[at] ?? null} />) : "…"}
    </div>
  );
}

const kMostSummed = 5000;

/** The sum over the selected rows of the column that sorts, else of the first that can be summed; "" if there is none. */
function sumOfSelected(model: TableModel, shown: readonly ShownColumn[]): string {
  const selection = model.selection();
  if (!selection || selection[0] === selection[1] || selection[1] - selection[0] > kMostSummed) return "";
  const able = shown.filter((each) => canSum(each.column) || each.column.name.startsWith("sum("));
  const column = able.find((each) => each.column.name === model.sort.value[0]?.col) ?? able[0];
  if (!column) return "";
  let sum = 0;
  for (let index = selection[0]; index <= selection[1]; index++) sum += Number(model.row(index)?.[column.at] ?? 0);
  return t("table.sum", { name: column.title, sum: Number.isInteger(sum) ? String(sum) : sum.toFixed(3), n: selection[1] - selection[0] + 1 });
}

function filterText({ col, op, value }: TableFilter): string {
  const key = `table.op.${op}`;
  const text = Array.isArray(value) ? value.join(", ") : String(value);
  return `${columnTitle(col)} ${hasMessage(key) ? t(key) : op} ${middleEllipsis(text, 60)}`;
}

interface FooterProps {
  model: TableModel;
  shown: ShownColumn[];
  name: string;
  onCopy(): void;
  /** What the rows are grouped by. */
  grouped?: string | undefined;
  fn?: GroupFunction | undefined;
  onFunction?: ((fn: GroupFunction) => void) | undefined;
  onWhole?: (() => void) | undefined;
}

export function TableFooter({ model, shown, name, onCopy, grouped, fn, onFunction, onWhole }: FooterProps) {
  const { filtered, total, filter } = model;
  const count =
    filtered.value === total.value
      ? t("table.count", { n: total.value })
      : t("table.filtered", { n: formatInt(filtered.value), total: formatInt(total.value) });
  const drop = (index: number) => model.setFilter(filter.value.filter((_, other) => other !== index));
  return (
    <footer class="tfoot">
      <span>{count}</span>
      {grouped && (
        <button class="chip" title={t("clear")} onClick={onWhole}>
          {`${t("table.grouped", { name: grouped })} ×`}
        </button>
      )}
      {fn && (
        <select value={fn} aria-label={t("table.aggregate")} onChange={(event) => onFunction?.(event.currentTarget.value as GroupFunction)}>
          {kGroupFunctions.map((each) => (
            <option key={each} value={each}>
              {t(`table.fn.${each}`)}
            </option>
          ))}
        </select>
      )}
      {filter.value.map((each, at) => (
        <button key={at} class="chip" title={t("clear")} onClick={() => drop(at)}>
          {`${filterText(each)} ×`}
        </button>
      ))}
      <span>{sumOfSelected(model, shown)}</span>
      <span class="grow" />
      <button class="link" onClick={onCopy} disabled={model.cursor.value < 0}>
        {t("copy")}
      </button>
      <button class="link" onClick={() => model.source.save(name, model.query(0, 0))}>
        {t("table.export_csv")}
      </button>
    </footer>
  );
}
