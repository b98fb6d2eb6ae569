// Bar list (one bar a row, names at the left), stacked bars (one column an item) and histogram.
import { useState } from "preact/hooks";
import type { ColumnInfo, HistBin } from "../api_types";
import { formatShort, middleEllipsis } from "../format";
import { distinctLabels } from "../kernel_label";
import { t } from "../i18n";
import { CanvasChart, type Mark, type Surface } from "./canvas_chart";
import { ColorKey, Legend, toggled } from "./legend";
import { seriesColor } from "./palette";
import { largest, niceTicks } from "./ticks";

const text = (name: string): ColumnInfo => ({ name, type: "text" });
const number = (name: string): ColumnInfo => ({ name, type: "double", decimals: 3 });

export interface BarItem {
  name: string;
  value: number;
  /** Written after the bar; without it the value. */
  label?: string;
  color?: string;
}

interface BarProps {
  title: string;
  items: BarItem[];
  unit: string;
  onPick?: (index: number) => void;
}

const kBar = 22;

function drawBars({ g, width, ink, muted }: Surface, items: BarItem[], unit: string): Mark[] {
  const names = Math.min(Math.round(width * 0.42), 280);
  const most = largest(items.map((item) => item.value), 1e-12);
  const words = items.map((item) => item.label ?? `${formatShort(item.value)} ${unit}`);
  const room = Math.max(20, width - names - 8 - Math.max(60, ...words.map((each) => g.measureText(each).width)));
  const labels = distinctLabels(items.map((item) => item.name), Math.floor(names / 7));
  g.textBaseline = "middle";
  return items.map((item, at) => {
    const y = at * kBar;
    const w = Math.max(1, (Math.max(0, item.value) / most) * room);
    g.fillStyle = ink;
    g.textAlign = "right";
    g.fillText(labels[at] ?? "", names - 8, y + kBar / 2, names - 8);
    g.fillStyle = item.color ?? seriesColor(0);
    g.fillRect(names, y + 3, w, kBar - 6);
    const label = words[at]!;
    g.fillStyle = muted;
    g.textAlign = "left";
    g.fillText(label, names + w + 6, y + kBar / 2);
    return {
      x: names,
      y: y + 3,
      w,
      h: kBar - 6,
      text: `${item.name}: ${label}`,
      key: at,
      contains: (_: number, py: number) => py >= y && py < y + kBar,
    };
  });
}

export function BarChart({ title, items, unit, onPick }: BarProps) {
  const table = { columns: [text("name"), number(unit)], rows: items.map((item) => [item.name, item.value]) };
  return (
    <CanvasChart
      title={title}
      height={Math.max(40, items.length * kBar + 4)}
      draw={(surface) => drawBars(surface, items, unit)}
      deps={[items, unit]}
      table={table}
      onPick={onPick}
    />
  );
}

export interface StackProps {
  title: string;
  /** One column each. */
  names: string[];
  series: { name: string; values: number[]; color?: string }[];
  unit: string;
  height?: number;
  onPick?: (index: number) => void;
}

const kLeft = 56;
const kBottom = 22;

function drawAxis(
  { g, width, height, line, muted }: Surface,
  most: number,
  unit: string,
  whole = false,
): (value: number) => number {
  const y = (value: number) => height - kBottom - (value / most) * (height - kBottom - 10);
  g.textBaseline = "middle";
  g.textAlign = "right";
  for (const tick of niceTicks(0, most, 4).filter((each) => !whole || Number.isInteger(each))) {
    g.fillStyle = line;
    g.fillRect(kLeft, Math.round(y(tick)), width - kLeft, 1);
    g.fillStyle = muted;
    g.fillText(formatShort(tick), kLeft - 6, y(tick));
  }
  g.fillText(unit, kLeft - 6, height - 8);
  return y;
}

function drawStack(surface: Surface, props: StackProps, hidden: ReadonlySet<number>): Mark[] {
  const { g, width, height, muted } = surface;
  const shown = props.series.map((series, at) => ({ ...series, at })).filter((series) => !hidden.has(series.at));
  const sums = props.names.map((_, k) => shown.reduce((sum, series) => sum + Math.max(0, series.values[k] ?? 0), 0));
  const most = largest(sums, 1e-12);
  const y = drawAxis(surface, most, props.unit);
  const slot = (width - kLeft) / Math.max(1, props.names.length);
  const bar = slot < 3 ? slot : Math.min(48, Math.max(1, slot * 0.72));
  const every = Math.max(1, Math.ceil(44 / slot));
  const marks: Mark[] = [];
  props.names.forEach((name, k) => {
    const x = kLeft + k * slot + (slot - bar) / 2;
    let base = 0;
    const lines = shown.map((series) => {
      const value = Math.max(0, series.values[k] ?? 0);
      g.fillStyle = series.color ?? seriesColor(series.at);
      g.fillRect(x, y(base + value), bar, Math.max(0, y(base) - y(base + value)));
      base += value;
      return `${series.name} ${formatShort(value)}`;
    });
    g.fillStyle = muted;
    g.textAlign = "center";
    if (k % every === 0)
      g.fillText(middleEllipsis(name, Math.max(3, Math.floor((slot * every) / 7))), x + bar / 2, height - 9);
    marks.push({
      x,
      y: y(base),
      w: bar,
      h: y(0) - y(base),
      text: `${name}: ${lines.join(" · ")} ${props.unit}`,
      key: k,
      contains: (px) => px >= x - (slot - bar) / 2 && px < x + bar + (slot - bar) / 2,
    });
  });
  return marks;
}

export function StackedBars(props: StackProps) {
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const table = {
    columns: [text("name"), ...props.series.map((series) => number(`${series.name}(${props.unit})`))],
    rows: props.names.map((name, k) => [name, ...props.series.map((series) => series.values[k] ?? null)]),
  };
  return (
    <CanvasChart
      title={props.title}
      height={props.height ?? 220}
      draw={(surface) => drawStack(surface, props, hidden)}
      deps={[props.names, props.series, hidden]}
      table={table}
      onPick={props.onPick}
    >
      <Legend
        names={props.series.map((series) => series.name)}
        colors={props.series.map((series) => series.color)}
        hidden={hidden}
        onToggle={(at) => setHidden(toggled(hidden, at))}
      />
    </CanvasChart>
  );
}

/** As many colours as can be told apart. */
const kRankKeys = 10;

export interface HistogramProps {
  title: string;
  bins: HistBin[];
  /** Wording of a bin's edge. */
  format(value: number): string;
  /** Values to mark on the axis: percentiles, the selected slice. */
  lines: { value: number; name: string; color: string }[];
  height?: number;
  onPick?: (bin: number) => void;
  /** Several bins next to each other. */
  onBrush?: (first: number, last: number) => void;
}

/** The ranks that bins name, in order. */
const ranksOf = (bins: readonly HistBin[]) => [...new Set(bins.flatMap((bin) => bin.ranks?.map(([rank]) => rank) ?? []))].sort((a, b) => a - b);

/** A bin's bar, in parts where it says how many are of which rank. */
function drawBin(g: CanvasRenderingContext2D, bin: HistBin, ranks: number[], x: number, w: number, y: (count: number) => number): void {
  let below = 0;
  for (const [rank, count] of bin.ranks ?? [[-1, bin.count] as const]) {
    g.fillStyle = seriesColor(Math.max(0, ranks.indexOf(rank)));
    g.fillRect(x, y(below + count), w, y(below) - y(below + count));
    below += count;
  }
}

function drawHistogram(surface: Surface, props: HistogramProps): Mark[] {
  const { g, width, height, muted } = surface;
  const { bins } = props;
  const most = Math.max(...bins.map((bin) => bin.count), 1);
  const y = drawAxis(surface, most, "", true);
  const ranks = ranksOf(bins);
  const slot = (width - kLeft) / Math.max(1, bins.length);
  const every = Math.max(1, Math.ceil(90 / slot));
  const marks = bins.map((bin, k): Mark => {
    const x = kLeft + k * slot;
    drawBin(g, bin, ranks, x, Math.max(1, slot - 1), y);
    g.fillStyle = muted;
    g.textAlign = "left";
    if (k % every === 0 && x + 80 < width) g.fillText(props.format(bin.from), x, height - 9);
    return {
      x,
      y: y(bin.count),
      w: slot,
      h: y(0) - y(bin.count),
      text: `${props.format(bin.from)} – ${props.format(bin.to)}: ${bin.count}`,
      key: k,
      contains: (px) => px >= x && px < x + slot,
    };
  });
  props.lines.forEach((mark, row) => {
    const k = bins.findIndex((bin) => mark.value >= bin.from && mark.value <= bin.to);
    const bin = bins[k];
    if (!bin) return;
    const x = kLeft + (k + (bin.to > bin.from ? (mark.value - bin.from) / (bin.to - bin.from) : 0.5)) * slot;
    g.fillStyle = mark.color;
    g.fillRect(Math.round(x), 4, 2, y(0) - 4);
    const room = g.measureText(mark.name).width + 6;
    const at = x > width - room - 8 ? x - room - 2 : x + 3;
    g.fillStyle = surface.ground;
    g.fillRect(at, 3 + row * 14, room, 14);
    g.fillStyle = mark.color;
    g.textAlign = "left";
    g.fillText(mark.name, at + 3, 10 + row * 14);
  });
  return marks;
}

export function Histogram(props: HistogramProps) {
  const table = {
    columns: [number("from"), number("to"), { name: "count", type: "int" } as ColumnInfo],
    rows: props.bins.map((bin) => [bin.from, bin.to, bin.count]),
  };
  const ranks = ranksOf(props.bins);
  return (
    <CanvasChart
      title={props.title}
      height={props.height ?? 200}
      draw={(surface) => drawHistogram(surface, props)}
      deps={[props.bins, props.lines]}
      table={table}
      onPick={props.onPick}
      onBrush={props.onBrush}
    >
      {ranks.length > 1 && <ColorKey items={ranks.slice(0, kRankKeys).map((rank, at) => ({ name: `${t("rank")} ${rank}`, color: seriesColor(at) }))} />}
    </CanvasChart>
  );
}
