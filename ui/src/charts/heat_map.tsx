// A matrix as an image: one texel a cell, stretched. Works for thousands of rows and columns.
import { formatShort, middleEllipsis } from "../format";
import { t } from "../i18n";
import { CanvasChart, type Mark, type Surface } from "./canvas_chart";
import { heatColor } from "./palette";

/** A cell with a coloured border; several of one cell lie inside each other. */
export interface HeatOutline {
  row: number;
  column: number;
  color: string;
}

export interface HeatMapProps {
  title: string;
  rows: string[];
  columns: string[];
  /** Row after row; NaN = no value. */
  values: ArrayLike<number>;
  unit: string;
  /** Colour scale; without it from the smallest to the largest value. */
  range?: [number, number];
  height?: number;
  outlines?: HeatOutline[];
  onPick?: (row: number, column: number) => void;
}

const kTop = 18;
const kLeft = 72;

export function valueRange(values: ArrayLike<number>): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (let at = 0; at < values.length; at++) {
    const value = values[at]!;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** A scale on which values that hardly differ look alike: it begins at half of the largest at the latest. */
export function calmRange(values: ArrayLike<number>): [number, number] {
  const [low, high] = valueRange(values);
  return [Math.min(low, high / 2), high];
}

function paintCells(props: HeatMapProps, low: number, high: number): HTMLCanvasElement {
  const image = new ImageData(props.columns.length, props.rows.length);
  for (let at = 0; at < props.values.length; at++) {
    const value = props.values[at]!;
    if (Number.isNaN(value)) continue;
    const [r, green, b] = heatColor(high > low ? (value - low) / (high - low) : 0.5);
    image.data.set([r, green, b, 255], at * 4);
  }
  const cells = document.createElement("canvas");
  cells.width = props.columns.length;
  cells.height = props.rows.length;
  cells.getContext("2d")?.putImageData(image, 0, 0);
  return cells;
}

function drawOutlines(g: CanvasRenderingContext2D, props: HeatMapProps, cellW: number, cellH: number): void {
  const drawn = new Map<number, number>();
  g.lineWidth = 2;
  for (const { row, column, color } of props.outlines ?? []) {
    const cell = row * props.columns.length + column;
    const inset = 1 + 3 * (drawn.get(cell) ?? 0);
    drawn.set(cell, (drawn.get(cell) ?? 0) + 1);
    g.strokeStyle = color;
    g.strokeRect(kLeft + column * cellW + inset, kTop + row * cellH + inset, Math.max(1, cellW - 2 * inset), Math.max(1, cellH - 2 * inset));
  }
}

/** Writes the values into cells that have room for them. */
function drawValues({ g }: Surface, props: HeatMapProps, [low, high]: [number, number], cellW: number, cellH: number): void {
  if (cellW < 56 || cellH < 15) return;
  g.textAlign = "center";
  for (let cell = 0; cell < props.values.length; cell++) {
    const value = props.values[cell]!;
    if (Number.isNaN(value)) continue;
    const [column, row] = [cell % props.columns.length, Math.floor(cell / props.columns.length)];
    g.fillStyle = high > low && (value - low) / (high - low) < 0.45 ? "#1b2733" : "#ffffff";
    g.fillText(formatShort(value), kLeft + (column + 0.5) * cellW, kTop + (row + 0.5) * cellH);
  }
}

/** What the colours mean; a scale that does not start at 0 says so. */
export function scaleText(low: number, high: number, unit: string): string {
  const range = `${formatShort(low)} – ${formatShort(high)} ${unit}`;
  return low > 0 ? t("chart.scale_not_zero", { range }) : range;
}

function drawHeat(surface: Surface, props: HeatMapProps): Mark[] {
  const { g, width, height, muted } = surface;
  if (props.rows.length === 0 || props.columns.length === 0) return [];
  const [low, high] = props.range ?? valueRange(props.values);
  const w = width - kLeft - 4;
  const h = height - kTop - 18;
  g.imageSmoothingEnabled = false;
  g.drawImage(paintCells(props, low, high), kLeft, kTop, w, h);
  g.fillStyle = muted;
  g.textBaseline = "middle";
  const cellW = w / props.columns.length;
  const cellH = h / props.rows.length;
  const everyRow = Math.max(1, Math.ceil(14 / cellH));
  const everyColumn = Math.max(1, Math.ceil(40 / cellW));
  g.textAlign = "right";
  for (let r = 0; r < props.rows.length; r += everyRow)
    g.fillText(middleEllipsis(props.rows[r] ?? "", 10), kLeft - 5, kTop + (r + 0.5) * cellH);
  g.textAlign = "center";
  for (let c = 0; c < props.columns.length; c += everyColumn)
    g.fillText(middleEllipsis(props.columns[c] ?? "", Math.max(6, Math.floor((cellW * everyColumn) / 7))), kLeft + (c + 0.5) * cellW, 8);
  drawOutlines(g, props, cellW, cellH);
  drawValues(surface, props, [low, high], cellW, cellH);
  g.fillStyle = muted;
  g.textAlign = "left";
  g.fillText(scaleText(low, high, props.unit), kLeft, height - 7);
  return cellMarks(props, cellW, cellH);
}

/** One mark a cell while they are few enough to be walked with the keyboard; else one for the whole, answered by arithmetic. */
function cellMarks(props: HeatMapProps, cellW: number, cellH: number): Mark[] {
  const columns = props.columns.length;
  const textOf = (cell: number) => {
    const value = props.values[cell] ?? NaN;
    const shown = Number.isNaN(value) ? "–" : `${formatShort(value)} ${props.unit}`;
    return `${props.rows[Math.floor(cell / columns)]} · ${props.columns[cell % columns]}: ${shown}`;
  };
  if (props.values.length <= 4096) {
    return Array.from({ length: props.rows.length * columns }, (_, cell) => ({
      x: kLeft + (cell % columns) * cellW,
      y: kTop + Math.floor(cell / columns) * cellH,
      w: cellW,
      h: cellH,
      text: textOf(cell),
      key: cell,
    }));
  }
  const whole: Mark = { x: kLeft, y: kTop, w: cellW * columns, h: cellH * props.rows.length, text: "", key: -1 };
  whole.contains = (x, y) => {
    const column = Math.floor((x - kLeft) / cellW);
    const row = Math.floor((y - kTop) / cellH);
    if (column < 0 || row < 0 || column >= columns || row >= props.rows.length) return false;
    whole.key = row * columns + column;
    whole.text = textOf(whole.key);
    return true;
  };
  return [whole];
}

export function HeatMap(props: HeatMapProps) {
  const columns = props.columns.length;
  const table = {
    columns: [
      { name: "row", type: "text" as const },
      { name: "column", type: "text" as const },
      { name: props.unit || "value", type: "double" as const },
    ],
    rows: Array.from({ length: Math.min(props.values.length, 10_000) }, (_, cell) => {
      const value = props.values[cell] ?? NaN;
      return [
        props.rows[Math.floor(cell / columns)] ?? "",
        props.columns[cell % columns] ?? "",
        Number.isNaN(value) ? null : value,
      ];
    }),
  };
  return (
    <CanvasChart
      title={props.title}
      height={props.height ?? 260}
      draw={(surface) => drawHeat(surface, props)}
      deps={[props.values, props.rows, props.columns, props.range, props.outlines]}
      table={table}
      onPick={props.onPick && ((cell) => props.onPick?.(Math.floor(cell / columns), cell % columns))}
    />
  );
}
