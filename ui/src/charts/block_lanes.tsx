// Blocks of time in rows, with arrows between them: pipeline stages, tasks of ranks. Zooms and pans with buttons, keys and the wheel.
import { useMemo, useState } from "preact/hooks";
import { formatDuration } from "../format";
import { t } from "../i18n";
import { CanvasChart, type ChartTable, type Mark, type Surface } from "./canvas_chart";

export interface Block {
  row: number;
  begin: number;
  end: number;
  /** Written inside if there is room. */
  label: string;
  /** One line for tooltip and screen reader. */
  text: string;
  color: string;
  /** Part of the row's height it takes, from 0 to 1. */
  top: number;
  bottom: number;
  /** Striped: time that nobody works. */
  hatched?: boolean;
  /** Only its border is drawn. */
  outline?: boolean;
}

export interface BlockArrow {
  fromRow: number;
  from: number;
  toRow: number;
  to: number;
}

/** A named moment (begin = end) or stretch of time. */
export interface BlockMarker {
  begin: number;
  end: number;
  name: string;
  color: string;
}

interface Props {
  title: string;
  rows: readonly string[];
  blocks: readonly Block[];
  arrows?: readonly BlockArrow[];
  markers?: readonly BlockMarker[];
  table: ChartTable;
  onPick?: (block: Block) => void;
}

const kRow = 44;
const kLeft = 72;
const kAxis = 18;
/** No label fits into less. */
const kLeastLabel = 14;
const kInk = "#10202e";

function hatch(g: CanvasRenderingContext2D, x: number, y: number, w: number, h: number): void {
  g.save();
  g.beginPath();
  g.rect(x, y, w, h);
  g.clip();
  g.beginPath();
  for (let at = x - h; at < x + w; at += 6) {
    g.moveTo(at, y + h);
    g.lineTo(at + h, y);
  }
  g.stroke();
  g.restore();
}

function drawBlock(g: CanvasRenderingContext2D, block: Block, x: number, y: number, w: number, h: number): void {
  g.fillStyle = g.strokeStyle = block.color;
  g.lineWidth = 1;
  if (block.outline) return g.strokeRect(x + 0.5, y + 0.5, Math.max(1, w - 1), h - 1);
  if (block.hatched) return hatch(g, x, y, w, h);
  g.fillRect(x, y, w, h);
  if (w < kLeastLabel || g.measureText(block.label).width > w - 6) return;
  g.fillStyle = kInk;
  g.fillText(block.label, x + w / 2, y + h / 2);
}

function drawArrow(g: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  const bend = Math.max(8, Math.abs(x1 - x0) / 2);
  g.beginPath();
  g.moveTo(x0, y0);
  g.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  g.stroke();
  g.beginPath();
  g.moveTo(x1, y1);
  g.lineTo(x1 - 6, y1 - 3);
  g.lineTo(x1 - 6, y1 + 3);
  g.fill();
}

function drawMarker(g: CanvasRenderingContext2D, { name, color }: BlockMarker, x0: number, x1: number, bottom: number): void {
  g.fillStyle = color;
  g.globalAlpha = 0.14;
  g.fillRect(x0, kAxis, x1 - x0, bottom - kAxis);
  g.globalAlpha = 1;
  g.fillRect(x0, 2, 1, bottom - 2);
  if (x1 > x0) g.fillRect(x1 - 1, 2, 1, bottom - 2);
  g.textAlign = "left";
  g.fillText(name, x0 + 4, 8);
}

function draw({ g, width, muted, line }: Surface, props: Props, window: [number, number]): Mark[] {
  const scale = (width - kLeft - 4) / Math.max(1, window[1] - window[0]);
  const x = (time: number) => kLeft + (time - window[0]) * scale;
  const clamp = (at: number) => Math.max(kLeft, Math.min(width - 4, at));
  g.textBaseline = "middle";
  g.textAlign = "right";
  props.rows.forEach((name, row) => {
    g.fillStyle = muted;
    g.fillText(name, kLeft - 6, kAxis + row * kRow + kRow / 2);
    g.fillStyle = line;
    g.fillRect(kLeft, kAxis + (row + 1) * kRow - 1, width - kLeft - 4, 1);
  });
  g.fillStyle = muted;
  g.textAlign = "left";
  g.fillText(formatDuration(window[0]), kLeft, 8);
  g.textAlign = "right";
  g.fillText(formatDuration(window[1]), width - 4, 8);
  g.textAlign = "center";
  const marks: Mark[] = [];
  props.blocks.forEach((block, key) => {
    const [x0, x1] = [clamp(x(block.begin)), clamp(x(block.end))];
    if (block.end < window[0] || block.begin > window[1]) return;
    const y = kAxis + block.row * kRow + block.top * kRow + 2;
    const [w, h] = [Math.max(1, x1 - x0), (block.bottom - block.top) * kRow - 4];
    drawBlock(g, block, x0, y, w, h);
    marks.push({ x: x0, y, w, h, text: block.text, key });
  });
  g.strokeStyle = g.fillStyle = muted;
  const middle = (row: number) => kAxis + (row + 0.5) * kRow;
  for (const { fromRow, from, toRow, to } of props.arrows ?? [])
    if (to >= window[0] && from <= window[1])
      drawArrow(g, clamp(x(from)), middle(fromRow), clamp(x(to)), middle(toRow));
  for (const marker of props.markers ?? []) {
    if (marker.end >= window[0] && marker.begin <= window[1])
      drawMarker(g, marker, clamp(x(marker.begin)), clamp(x(marker.end)), kAxis + props.rows.length * kRow);
  }
  return marks;
}

export function BlockLanes(props: Props) {
  const { title, rows, blocks, table, onPick } = props;
  const [zoom, setZoom] = useState<[number, number] | null>(null);
  const whole = useMemo((): [number, number] => {
    if (blocks.length === 0) return [0, 1];
    let [begin, end] = [Infinity, -Infinity];
    for (const block of blocks) {
      begin = Math.min(begin, block.begin);
      end = Math.max(end, block.end);
    }
    return [begin, end];
  }, [blocks]);
  const [t0, t1] = zoom ?? whole;
  const pan = (share: number) => setZoom([t0 + (t1 - t0) * share, t1 + (t1 - t0) * share]);
  const scaleBy = (factor: number, at = (t0 + t1) / 2) => setZoom([at - (at - t0) * factor, at + (t1 - at) * factor]);
  const wheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
    event.preventDefault();
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - box.left - kLeft) / Math.max(1, box.width - kLeft)));
    if (event.shiftKey) pan((event.deltaX || event.deltaY) / 1500);
    else scaleBy(Math.exp(event.deltaY * 0.002), t0 + (t1 - t0) * share);
  };
  return (
    <div onWheel={wheel}>
      <div class="row">
        <button onClick={() => pan(-0.3)} aria-label={t("comm.earlier")}>
          ◀
        </button>
        <button onClick={() => pan(0.3)} aria-label={t("comm.later")}>
          ▶
        </button>
        <button onClick={() => scaleBy(0.5)} aria-label={t("comm.zoom_in")}>
          +
        </button>
        <button onClick={() => scaleBy(2)} aria-label={t("comm.zoom_out")}>
          −
        </button>
        <button onClick={() => setZoom(null)}>{t("comm.fit")}</button>
      </div>
      <CanvasChart
        title={title}
        height={kAxis + Math.max(1, rows.length) * kRow + 4}
        draw={(surface) => draw(surface, props, [t0, t1])}
        deps={[blocks, props.arrows, props.markers, rows, t0, t1]}
        table={table}
        onPick={(key) => blocks[key] && onPick?.(blocks[key])}
      />
    </div>
  );
}
