// The common part of the small charts: a canvas that follows size and theme, with hover, keyboard focus on its marks,
// a table view, and export as picture or csv. A chart is a function that draws and says where its marks are.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Cell, ColumnInfo } from "../api_types";
import { formatCell } from "../format";
import { t } from "../i18n";
import { cssColor, theme } from "../state/theme";
import { downloadBlob, downloadCanvas, toCsv } from "../widgets/download";
import { type MenuEntry, openMenuAt } from "../widgets/menu";
import { SvgContext } from "./svg_context";

export interface ChartTable {
  columns: ColumnInfo[];
  rows: Cell[][];
}

/** Something on the chart that can be pointed at. Rectangles in css px. */
export interface Mark {
  x: number;
  y: number;
  w: number;
  h: number;
  /** One line for tooltip and screen reader. */
  text: string;
  /** For shapes that are no rectangles. */
  contains?: (x: number, y: number) => boolean;
  /** What a click means; handed to onPick. */
  key: number;
}

export interface Surface {
  g: CanvasRenderingContext2D;
  width: number;
  height: number;
  ink: string;
  muted: string;
  line: string;
  ground: string;
}

export type Draw = (surface: Surface) => Mark[];

export interface CanvasChartProps {
  title: string;
  height: number;
  draw: Draw;
  /** Redraws when one of these changes. */
  deps: unknown[];
  table: ChartTable;
  onPick?: ((key: number) => void) | undefined;
  /** A drag from one mark to another. */
  onBrush?: ((from: number, to: number) => void) | undefined;
  children?: ComponentChildren;
}

export const kFont = "12px system-ui, sans-serif";

function hit(marks: Mark[], x: number, y: number): number {
  for (let at = marks.length - 1; at >= 0; at--) {
    const mark = marks[at]!;
    if (mark.contains ? mark.contains(x, y) : x >= mark.x && x < mark.x + mark.w && y >= mark.y && y < mark.y + mark.h)
      return at;
  }
  return -1;
}

function outline(g: CanvasRenderingContext2D, mark: Mark, color: string): void {
  g.strokeStyle = color;
  g.lineWidth = 2;
  g.strokeRect(mark.x - 1, mark.y - 1, Math.max(4, mark.w) + 2, Math.max(4, mark.h) + 2);
}

export function PlainTable({ table }: { table: ChartTable }) {
  return (
    <div class="scroll">
      <table class="plain">
        <thead>
          <tr>
            {table.columns.map((column) => (
              <th key={column.name}>{column.name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.slice(0, 1000).map((row, index) => (
            <tr key={index}>
              {table.columns.map((column, at) => (
                <td key={at} class={column.type === "text" ? "" : "num"}>
                  {formatCell(row[at] ?? null, column)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function saveTable(name: string, table: ChartTable): void {
  const rows = table.rows.map((row) => table.columns.map((column, at) => formatCell(row[at] ?? null, column)));
  downloadBlob(
    `${name}.csv`,
    new Blob(
      [
        toCsv(
          table.columns.map((c) => c.name),
          rows,
        ),
      ],
      { type: "text/csv" },
    ),
  );
}

/** What a drawing needs to know beside its data. */
function surfaceOf(g: CanvasRenderingContext2D, width: number, height: number): Surface {
  const surface = { g, width, height, ink: cssColor("--ink"), muted: cssColor("--muted"), line: cssColor("--line"), ground: cssColor("--panel") };
  g.font = kFont;
  g.fillStyle = surface.ground;
  g.fillRect(0, 0, width, height);
  return surface;
}

/** What `draw` draws, as an SVG file. */
export function drawnSvg(draw: (surface: Surface) => unknown, width: number, height: number): string {
  const g = new SvgContext(width, height);
  draw(surfaceOf(g as unknown as CanvasRenderingContext2D, width, height));
  return g.text();
}

export interface Exported {
  title: string;
  table: ChartTable;
  picture: () => HTMLCanvasElement | null;
  /** The picture as an SVG file; null = it is not drawn yet. */
  svg: () => string | null;
}

/** Entries of a menu that save a chart. */
export function exportEntries({ title, table, picture, svg }: Exported): MenuEntry[] {
  const canvas = picture();
  const saveSvg = () => {
    const text = svg();
    if (text !== null) downloadBlob(`${title}.svg`, new Blob([text], { type: "image/svg+xml" }));
  };
  return [
    { label: t("chart.png"), disabled: !canvas, run: () => canvas && downloadCanvas(`${title}.png`, canvas) },
    { label: t("chart.svg"), disabled: !canvas, run: saveSvg },
    { label: t("chart.csv"), run: () => saveTable(title, table) },
  ];
}

interface FrameProps extends Exported {
  legend?: ComponentChildren;
  children: ComponentChildren;
}

/** Title line with the table switch and exports around any chart. */
export function ChartFrame({ title, table, picture, svg, legend, children }: FrameProps) {
  const [asTable, setAsTable] = useState(false);
  const menu = (anchor: Element) =>
    openMenuAt(anchor, [{ label: t("chart.table"), checked: asTable, run: () => setAsTable(!asTable) }, ...exportEntries({ title, table, picture, svg })]);
  return (
    <figure class="chart" aria-label={title}>
      <figcaption>
        <span class="chart-title">{title}</span>
        {legend}
        <button class="icon" aria-label={t("chart.menu")} onClick={(e) => menu(e.currentTarget)}>
          ⋯
        </button>
      </figcaption>
      {asTable ? <PlainTable table={table} /> : children}
    </figure>
  );
}

export function CanvasChart({ title, height, draw, deps, table, onPick, onBrush, children }: CanvasChartProps) {
  const pressed = useRef<Mark | undefined>(undefined);
  const canvas = useRef<HTMLCanvasElement>(null);
  const marks = useRef<Mark[]>([]);
  const [focus, setFocus] = useState(-1);
  const [tip, setTip] = useState<{ x: number; y: number; text: string } | null>(null);
  const [width, setWidth] = useState(0);

  // Before the browser paints: a chart is never seen empty.
  useLayoutEffect(() => {
    const box = canvas.current?.parentElement;
    if (!box) return;
    setWidth(box.clientWidth);
    const observer = new ResizeObserver(() => setWidth(box.clientWidth));
    observer.observe(box);
    return () => observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element || width === 0) return;
    const ratio = Math.min(2, devicePixelRatio || 1);
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    const g = element.getContext("2d");
    if (!g) return;
    g.scale(ratio, ratio);
    marks.current = draw(surfaceOf(g, width, height));
    const focused = marks.current[focus];
    if (focused) outline(g, focused, cssColor("--accent"));
  }, [...deps, width, height, theme.value, focus]);

  const point = (event: PointerEvent | MouseEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    return box ? { x: event.clientX - box.left, y: event.clientY - box.top } : { x: 0, y: 0 };
  };
  const onMove = (event: PointerEvent) => {
    const { x, y } = point(event);
    const mark = marks.current[hit(marks.current, x, y)];
    setTip(mark ? { x, y, text: mark.text } : null);
  };
  const onPress = (event: PointerEvent) => {
    const { x, y } = point(event);
    pressed.current = marks.current[hit(marks.current, x, y)];
  };
  const onClick = (event: MouseEvent) => {
    const { x, y } = point(event);
    const mark = marks.current[hit(marks.current, x, y)];
    const from = pressed.current;
    if (mark && from && from.key !== mark.key && onBrush) onBrush(Math.min(from.key, mark.key), Math.max(from.key, mark.key));
    else if (mark) onPick?.(mark.key);
  };
  const onKey = (event: KeyboardEvent) => {
    const step =
      event.key === "ArrowRight" || event.key === "ArrowDown"
        ? 1
        : event.key === "ArrowLeft" || event.key === "ArrowUp"
          ? -1
          : 0;
    if (step !== 0) {
      const next = Math.max(0, Math.min(marks.current.length - 1, focus + step));
      const mark = marks.current[next];
      setFocus(next);
      if (mark) setTip({ x: mark.x + mark.w / 2, y: mark.y, text: mark.text });
    } else if (event.key === "Enter") {
      const mark = marks.current[focus];
      if (mark) onPick?.(mark.key);
    } else return;
    event.preventDefault();
  };
  const blur = () => {
    setFocus(-1);
    setTip(null);
  };
  return (
    <ChartFrame title={title} table={table} picture={() => canvas.current} svg={() => (width > 0 ? drawnSvg(draw, width, height) : null)} legend={children}>
      <div class="chart-box" style={{ height: `${height}px` }}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          aria-label={tip?.text ?? title}
          class={onPick ? "pick" : ""}
          style={{ height: `${height}px`, width: "100%" }}
          onPointerMove={onMove}
          onPointerLeave={() => setTip(null)}
          onPointerDown={onPress}
          onClick={onClick}
          onKeyDown={onKey}
          onBlur={blur}
        />
        {tip && (
          <div
            class="tip"
            style={{ left: `${Math.min(tip.x + 12, Math.max(0, width - 240))}px`, top: `${Math.max(0, tip.y - 30)}px` }}
          >
            {tip.text}
          </div>
        )}
      </div>
    </ChartFrame>
  );
}
