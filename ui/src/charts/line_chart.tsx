// Curves over a common x axis (uPlot). Data must be reduced to a few thousand points before they come here.
import uPlot from "uplot";
import { useEffect, useRef } from "preact/hooks";
import { formatShort } from "../format";
import { cssColor, theme } from "../state/theme";
import { ChartFrame } from "./canvas_chart";
import { seriesColor } from "./palette";

export interface LineSeries {
  name: string;
  /** One value per x; null = no point there. */
  values: (number | null)[];
  color?: string;
  /** Holds its value until the next point, as memory does. */
  stepped?: boolean;
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
  onCursor?: (x: number | null) => void;
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
      setCursor: [
        (plot) =>
          props.onCursor?.(
            plot.cursor.left !== undefined && plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, "x") : null,
          ),
      ],
    },
  };
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
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: height - 32 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [props.x, props.series, props.unit, height, theme.value]);
  const table = {
    columns: [
      { name: props.xUnit, type: "double" as const },
      ...props.series.map((series) => ({ name: `${series.name}(${props.unit})`, type: "double" as const })),
    ],
    rows: props.x.map((x, k) => [x, ...props.series.map((series) => series.values[k] ?? null)]),
  };
  return (
    <ChartFrame title={props.title} table={table} picture={() => plot.current?.root.querySelector("canvas") ?? null}>
      <div class="line-chart" ref={box} style={{ minHeight: `${height}px` }} />
    </ChartFrame>
  );
}
