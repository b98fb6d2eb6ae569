// Curves over a common x axis (uPlot). Data must be reduced to a few thousand points before they come here.
import uPlot from "uplot";
import { useEffect, useRef } from "preact/hooks";
import { formatShort } from "../format";
import { cssColor, theme } from "../state/theme";
import { ChartFrame, drawnSvg, type Surface } from "./canvas_chart";
import { seriesColor } from "./palette";
import { niceTicks } from "./ticks";

export interface LineSeries {
  name: string;
  /** One value per x; null = no point there. */
  values: (number | null)[];
  color?: string;
  /** Holds its value until the next point, as memory does. */
  stepped?: boolean;
}

/** A moment (from = to) or a stretch of the x axis with a name. */
export interface LineMark {
  from: number;
  to: number;
  name: string;
  /** Without one it is in the ground, as a band if `band` is set. */
  color?: string;
  band?: boolean;
}

export interface LineChartProps {
  title: string;
  /** Ascending. */
  x: number[];
  xUnit: string;
  unit: string;
  series: LineSeries[];
  height?: number;
  /** The user dragged over a part of the x axis. */
  onZoom?: (from: number, to: number) => void;
  /** The user clicked on a moment. */
  onPick?: (x: number) => void;
  marks?: LineMark[];
}

function axes(props: LineChartProps): uPlot.Axis[] {
  const common = {
    stroke: cssColor("--muted"),
    grid: { stroke: cssColor("--line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui",
  };
  return [
    {
      ...common,
      label: props.xUnit,
      labelSize: 16,
      size: 28,
      values: (_, ticks) => ticks.map((tick) => formatShort(tick)),
    },
    {
      ...common,
      label: props.unit,
      labelSize: 16,
      size: 56,
      values: (_, ticks) => ticks.map((tick) => formatShort(tick)),
    },
  ];
}

function drawMarks(plot: uPlot, marks: LineMark[]): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `${11 * ratio}px system-ui`;
  ctx.textBaseline = "top";
  for (const mark of marks) {
    const x0 = plot.valToPos(mark.from, "x", true);
    const x1 = plot.valToPos(mark.to, "x", true);
    ctx.fillStyle = mark.color ?? cssColor("--muted");
    ctx.globalAlpha = mark.color ? 0.14 : 0.07;
    if (mark.color || mark.band) ctx.fillRect(x0, bbox.top, x1 - x0, bbox.height);
    ctx.globalAlpha = mark.color ? 1 : 0.4;
    ctx.fillRect(x0, bbox.top, ratio, bbox.height);
    if (x1 > x0) ctx.fillRect(x1 - ratio, bbox.top, ratio, bbox.height);
    ctx.globalAlpha = 1;
    ctx.fillText(mark.name, Math.max(x0, bbox.left) + 4 * ratio, bbox.top + (mark.color ? 16 : 2) * ratio);
  }
  ctx.restore();
}

function makeOptions(props: LineChartProps, width: number, height: number): uPlot.Options {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  return {
    width,
    height,
    scales: { x: { time: false } },
    axes: axes(props),
    legend: { live: true },
    cursor: { drag: { x: true, y: false, setScale: !props.onZoom } },
    series: [
      { label: props.xUnit, value: (_, v) => (v === null ? "" : v.toFixed(3)) },
      ...props.series.map((series, at) => ({
        label: series.name,
        stroke: series.color ?? seriesColor(at),
        width: 1.5,
        spanGaps: true,
        points: { show: props.x.length < 40 },
        value: (_: uPlot, v: number | null) => (v === null ? "–" : `${formatShort(v)} ${props.unit}`),
        ...(series.stepped && stepped ? { paths: stepped } : {}),
      })),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          if (!props.onZoom || plot.select.width < 3) return;
          props.onZoom(plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x"));
        },
      ],
      drawClear: [(plot) => drawMarks(plot, (props.marks ?? []).filter((mark) => !mark.color))],
      draw: [(plot) => drawMarks(plot, (props.marks ?? []).filter((mark) => mark.color))],
    },
  };
}

/** The chart for a file: uPlot draws on canvases alone. */
export function drawLines(props: LineChartProps, { g, width, height, ink, muted, line }: Surface): void {
  const values = props.series.flatMap((series) => series.values.filter((value) => value !== null));
  const extent = (list: number[]): [number, number] => list.reduce<[number, number]>(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const [x0, x1] = extent(props.x);
  const [y0, y1] = extent(values);
  if (!(x1 >= x0) || !(y1 >= y0)) return;
  const box = { left: 64, top: 8, right: width - 8, bottom: height - 28 - 18 * Math.ceil(props.series.length / 4) };
  const px = (x: number) => box.left + ((x - x0) / (x1 - x0 || 1)) * (box.right - box.left);
  const py = (y: number) => box.bottom - ((y - y0) / (y1 - y0 || 1)) * (box.bottom - box.top);
  g.textBaseline = "middle";
  for (const tick of niceTicks(y0, y1, 6)) {
    g.fillStyle = line;
    g.fillRect(box.left, py(tick), box.right - box.left, 1);
    g.fillStyle = muted;
    g.textAlign = "right";
    g.fillText(formatShort(tick), box.left - 6, py(tick));
  }
  for (const tick of niceTicks(x0, x1, 8)) {
    g.fillStyle = muted;
    g.textAlign = "center";
    g.fillText(formatShort(tick), px(tick), box.bottom + 12);
  }
  g.textAlign = "left";
  g.fillText(`${props.unit} / ${props.xUnit}`, 4, box.bottom + 12);
  props.series.forEach((series, at) => {
    g.strokeStyle = g.fillStyle = series.color ?? seriesColor(at);
    g.lineWidth = 1.5;
    g.beginPath();
    let last: number | null = null;
    series.values.forEach((value, k) => {
      if (value === null) return;
      const x = px(props.x[k]!);
      if (last === null) g.moveTo(x, py(value));
      else if (series.stepped) g.lineTo(x, py(last));
      if (last !== null) g.lineTo(x, py(value));
      last = value;
    });
    g.stroke();
    const column = (box.right - box.left) / 4;
    const [x, y] = [box.left + (at % 4) * column, box.bottom + 30 + Math.floor(at / 4) * 18];
    g.fillRect(x, y - 5, 10, 10);
    g.fillStyle = ink;
    g.fillText(series.name, x + 14, y);
  });
}

export function LineChart(props: LineChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const height = props.height ?? 260;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const data = [props.x, ...props.series.map((series) => series.values)] as uPlot.AlignedData;
    const made = new uPlot(makeOptions(props, element.clientWidth, height - 32), data, element);
    plot.current = made;
    made.over.addEventListener("click", () => {
      const { left } = made.cursor;
      if (left !== undefined && left >= 0 && made.select.width < 3) props.onPick?.(made.posToVal(left, "x"));
    });
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: height - 32 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [props.x, props.series, props.unit, props.marks, height, theme.value]);
  const table = {
    columns: [
      { name: props.xUnit, type: "double" as const },
      ...props.series.map((series) => ({ name: `${series.name}(${props.unit})`, type: "double" as const })),
    ],
    rows: props.x.map((x, k) => [x, ...props.series.map((series) => series.values[k] ?? null)]),
  };
  return (
    <ChartFrame title={props.title} table={table} picture={() => plot.current?.root.querySelector("canvas") ?? null} svg={() => drawnSvg((surface) => drawLines(props, surface), box.current?.clientWidth ?? 800, height)}>
      <div class="line-chart" ref={box} style={{ minHeight: `${height}px` }} />
    </ChartFrame>
  );
}
