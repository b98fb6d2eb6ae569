// Points in a plane, in series that can be switched off. An axis whose values span more than three powers of ten is logarithmic.
import { useState } from "preact/hooks";
import type { ColumnInfo } from "../api_types";
import { formatShort } from "../format";
import { CanvasChart, type Mark, type Surface } from "./canvas_chart";
import { Legend, toggled } from "./legend";
import { seriesColor } from "./palette";
import { niceTicks } from "./ticks";

export interface ScatterPoint {
  x: number;
  y: number;
  /** What the point is, for tooltip and table. */
  name: string;
}

export interface ScatterSeries {
  name: string;
  points: ScatterPoint[];
  /** Joined by a line without dots: something the points are compared with. */
  line?: boolean;
}

export interface ScatterProps {
  title: string;
  /** Name of an axis, with its unit. */
  xName: string;
  yName: string;
  series: ScatterSeries[];
  height?: number;
  onPick?: (series: number, point: number) => void;
}

export interface Axis {
  log: boolean;
  ticks: number[];
  /** Share of the axis in 0..1. */
  at(value: number): number;
}

/** An axis that shows all values, from 0 if that is near. */
export function axisOf(values: readonly number[], ticks: number): Axis {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(low <= high)) return { log: false, ticks: [0], at: () => 0 };
  if (low > 0 && high / low > 1000) {
    const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
    const every = Math.max(1, Math.ceil((to - from) / ticks));
    const powers = Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, k) => 10 ** (from + k * every));
    return { log: true, ticks: powers, at: (value) => (Math.log10(value) - from) / (to - from) };
  }
  // Some room on both sides, so that no point lies on the frame.
  const room = (high - low) * 0.06 || Math.abs(high) * 0.06 || 1;
  const from = low >= 0 && low < high / 2 ? 0 : low - room;
  const to = high + room;
  return { log: false, ticks: niceTicks(from, to, ticks), at: (value) => (value - from) / (to - from) };
}

const kLeft = 64;
const kBottom = 34;
const kTop = 18;
const kDot = 3;

function drawFrame({ g, width, height, line, muted }: Surface, props: ScatterProps, x: Axis, y: Axis) {
  const xAt = (value: number) => kLeft + x.at(value) * (width - kLeft - 16);
  const yAt = (value: number) => height - kBottom - y.at(value) * (height - kBottom - kTop);
  g.textBaseline = "middle";
  for (const tick of y.ticks) {
    g.fillStyle = line;
    g.fillRect(kLeft, Math.round(yAt(tick)), width - kLeft, 1);
    g.fillStyle = muted;
    g.textAlign = "right";
    g.fillText(formatShort(tick), kLeft - 6, yAt(tick));
  }
  g.textAlign = "center";
  for (const tick of x.ticks) {
    g.fillStyle = line;
    g.fillRect(Math.round(xAt(tick)), kTop, 1, height - kBottom - kTop);
    g.fillStyle = muted;
    g.fillText(formatShort(tick), Math.min(xAt(tick), width - 22), height - kBottom + 10);
  }
  g.textAlign = "left";
  g.fillText(props.yName, 0, 7);
  g.textAlign = "right";
  g.fillText(props.xName, width - 4, height - 7);
  return { xAt, yAt };
}

function drawScatter(surface: Surface, props: ScatterProps, hidden: ReadonlySet<number>): Mark[] {
  const { g } = surface;
  const shown = props.series.map((series, at) => ({ ...series, at })).filter((series) => !hidden.has(series.at));
  const all = shown.flatMap((series) => series.points);
  const x = axisOf(all.map((point) => point.x), 6);
  const y = axisOf(all.map((point) => point.y), 5);
  const { xAt, yAt } = drawFrame(surface, props, x, y);
  const marks: Mark[] = [];
  for (const series of shown) {
    g.fillStyle = g.strokeStyle = seriesColor(series.at);
    g.beginPath();
    g.globalAlpha = series.line ? 1 : 0.65;
    series.points.forEach((point, k) => {
      const [px, py] = [xAt(point.x), yAt(point.y)];
      if (series.line) {
        if (k === 0) g.moveTo(px, py);
        else g.lineTo(px, py);
        return;
      }
      g.moveTo(px + kDot, py);
      g.arc(px, py, kDot, 0, 7);
      const text = `${point.name} · ${props.xName} ${formatShort(point.x)} · ${props.yName} ${formatShort(point.y)}`;
      marks.push({ x: px - kDot, y: py - kDot, w: 2 * kDot, h: 2 * kDot, text, key: series.at * kMany + k });
    });
    if (series.line) g.stroke();
    else g.fill();
  }
  g.globalAlpha = 1;
  return marks;
}

/** More points than a series ever has: keys of marks are series * kMany + point. */
const kMany = 1e6;

export function Scatter(props: ScatterProps) {
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const number = (name: string): ColumnInfo => ({ name, type: "double" });
  const table = {
    columns: [{ name: "name", type: "text" } as ColumnInfo, number(props.xName), number(props.yName)],
    rows: props.series.filter((series) => !series.line).flatMap((series) => series.points.map((point) => [point.name, point.x, point.y])),
  };
  const onPick = props.onPick && ((key: number) => props.onPick?.(Math.floor(key / kMany), key % kMany));
  return (
    <CanvasChart
      title={props.title}
      height={props.height ?? 260}
      draw={(surface) => drawScatter(surface, props, hidden)}
      deps={[props.series, props.xName, props.yName, hidden]}
      table={table}
      onPick={onPick}
    >
      {props.series.length > 1 && (
        <Legend names={props.series.map((series) => series.name)} hidden={hidden} onToggle={(at) => setHidden(toggled(hidden, at))} />
      )}
    </CanvasChart>
  );
}
