// Shares of a whole as a ring, with the names beside it.
import { formatDuration, formatPercent, formatShort, middleEllipsis } from "../format";
import { kernelLabel } from "../kernel_label";
import { CanvasChart, type Mark, type Surface } from "./canvas_chart";
import type { BarItem } from "./bars";
import { seriesColor } from "./palette";

interface Props {
  title: string;
  items: BarItem[];
  unit: string;
  height?: number;
  onPick?: (index: number) => void;
}

function drawDonut({ g, width, height, ink, muted, ground }: Surface, items: BarItem[], unit: string): Mark[] {
  const sum = items.reduce((total, item) => total + Math.max(0, item.value), 0);
  const outer = Math.min(height / 2 - 6, width / 4);
  const cx = outer + 8;
  const cy = height / 2;
  const line = Math.min(20, Math.max(13, (height - 8) / Math.max(1, items.length)));
  let angle = -Math.PI / 2;
  g.textBaseline = "middle";
  const marks = items.map((item, at): Mark => {
    const share = sum > 0 ? Math.max(0, item.value) / sum : 0;
    const from = angle;
    const to = (angle += share * 2 * Math.PI);
    const color = item.color ?? seriesColor(at);
    g.fillStyle = color;
    g.beginPath();
    g.moveTo(cx, cy);
    g.arc(cx, cy, outer, from, to);
    g.fill();
    const y = (height - items.length * line) / 2 + (at + 0.5) * line;
    const x = cx + outer + 18;
    if (y > 4 && y < height - 4) {
      g.fillRect(x, y - 4, 9, 9);
      g.textAlign = "left";
      g.fillStyle = ink;
      g.fillText(middleEllipsis(kernelLabel(item.name), Math.max(6, Math.floor((width - x - 80) / 7))), x + 15, y);
      g.textAlign = "right";
      g.fillStyle = muted;
      g.fillText(formatPercent(share), width - 4, y);
    }
    const text = `${item.name}: ${item.label ?? `${formatShort(item.value)} ${unit}`} (${formatPercent(share)})`;
    const contains = (px: number, py: number) => {
      if (px >= x) return Math.abs(py - y) <= line / 2;
      const far = Math.hypot(px - cx, py - cy);
      let at_angle = Math.atan2(py - cy, px - cx);
      if (at_angle < -Math.PI / 2) at_angle += 2 * Math.PI;
      return far <= outer && far >= outer * 0.58 && at_angle >= from && at_angle < to;
    };
    return { x, y: y - line / 2, w: width - x, h: line, text, contains, key: at };
  });
  g.fillStyle = ground;
  g.beginPath();
  g.arc(cx, cy, outer * 0.58, 0, 2 * Math.PI);
  g.fill();
  g.fillStyle = ink;
  g.textAlign = "center";
  g.fillText(unit === "us" ? formatDuration(sum * 1000) : `${formatShort(sum)} ${unit}`, cx, cy);
  return marks;
}

export function Donut({ title, items, unit, height, onPick }: Props) {
  return (
    <CanvasChart
      title={title}
      height={height ?? 220}
      draw={(surface) => drawDonut(surface, items, unit)}
      deps={[items, unit]}
      table={{
        columns: [
          { name: "name", type: "text" },
          { name: unit, type: "double", decimals: 3 },
        ],
        rows: items.map((item) => [item.name, item.value]),
      }}
      onPick={onPick}
    />
  );
}
