// Differences as bars to the left (less) and to the right (more) of a line.
import { middleEllipsis, oneUnit, signedDuration } from "../format";
import { CanvasChart, type Mark, type Surface } from "./canvas_chart";
import { largest } from "./ticks";

export interface Delta {
  name: string;
  /** us */
  value: number;
}

const kBar = 22;
/** Room for a difference beside its bar. */
const kLabel = 96;
/** Between a name and the bars. */
const kGap = 8;
const kMore = "#c8553d";
const kLess = "#2f8f5b";

function draw({ g, width, ink, muted, line }: Surface, items: readonly Delta[]): Mark[] {
  const widest = largest(items.map((item) => g.measureText(item.name).width), 0) + kGap;
  const names = Math.min(Math.ceil(widest), Math.round(width * 0.45), 320);
  const room = Math.max(20, (width - names) / 2 - kLabel);
  const middle = names + room + kLabel;
  const most = largest(items.map((item) => Math.abs(item.value)), 1e-12);
  const write = oneUnit(items.map((item) => item.value * 1000));
  const signed = (us: number) => signedDuration(us * 1000, write);
  g.fillStyle = line;
  g.fillRect(middle, 0, 1, items.length * kBar);
  g.textBaseline = "middle";
  return items.map((item, at) => {
    const y = at * kBar;
    const w = Math.max(1, (Math.abs(item.value) / most) * room);
    const x = item.value < 0 ? middle - w : middle + 1;
    g.fillStyle = ink;
    g.textAlign = "right";
    const fits = Math.min(1, (names - kGap) / g.measureText(item.name).width);
    g.fillText(middleEllipsis(item.name, Math.floor(item.name.length * fits)), names - kGap, y + kBar / 2, names - kGap);
    g.fillStyle = item.value === 0 ? line : item.value > 0 ? kMore : kLess;
    g.fillRect(x, y + 3, w, kBar - 6);
    g.fillStyle = muted;
    g.textAlign = item.value < 0 ? "right" : "left";
    g.fillText(signed(item.value), item.value < 0 ? x - 6 : x + w + 6, y + kBar / 2);
    const contains = (_: number, py: number) => py >= y && py < y + kBar;
    return { x, y: y + 3, w, h: kBar - 6, text: `${item.name}: ${signed(item.value)}`, key: at, contains };
  });
}

export function DeltaBars({
  title,
  items,
  onPick,
}: {
  title: string;
  items: readonly Delta[];
  onPick?: (at: number) => void;
}) {
  const columns = [
    { name: "name", type: "text" as const },
    { name: "B - A(us)", type: "double" as const, decimals: 3 },
  ];
  return (
    <CanvasChart
      title={title}
      height={Math.max(40, items.length * kBar + 4)}
      draw={(surface) => draw(surface, items)}
      deps={[items]}
      table={{ columns, rows: items.map((item) => [item.name, item.value]) }}
      onPick={onPick}
    />
  );
}
