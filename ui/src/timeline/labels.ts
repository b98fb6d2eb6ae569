// Names inside slices that have room for them.
import type { Band } from "./bands";
import { kernelLabel } from "../kernel_label";
import { isDark } from "./colors";
import { bucketNs, tileNs } from "./lod";
import type { TimelineModel } from "./model";
import type { PaintList } from "./paint_list";
import { type Columns, eachSource, type Scale } from "./raster";
import { firstRunAfter, kClippedLeft } from "./tile_codec";

const kMinWidth = 28;
const kMost = 2500;
const kPad = 4;

const widths = new Map<string, number>();

function textWidth(g: PaintList, text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > 50_000) widths.clear();
    widths.set(text, (width = g.measureText(text).width));
  }
  return width;
}

/** Shortens in the middle until it fits `room` px; "" if not even a few letters do. */
export function fitText(measure: (text: string) => number, text: string, room: number): string {
  const full = measure(text);
  if (full <= room) return text;
  let keep = Math.floor((room / full) * text.length) - 1;
  for (; keep >= 2; keep--) {
    const tail = Math.floor(keep / 3);
    const cut = `${text.slice(0, keep - tail)}…${tail > 0 ? text.slice(-tail) : ""}`;
    if (measure(cut) <= room) return cut;
  }
  return "";
}

interface Run {
  left: number;
  right: number;
  name: number;
  shade: number;
}

/** The runs of a row that are wide enough, pieces of a slice in several tiles joined. Columns are device px. */
function wideRuns(model: TimelineModel, track: number, row: number, scale: Scale, least: number): Run[] {
  const runs: Run[] = [];
  // The run that may go on, as numbers: most runs are a pixel wide, and an object for each would cost more than the rest of the frame.
  let [openLeft, openRight, openName, openOrd, openShade] = [0, 0, 0, -1, 0];
  const close = () => {
    if (openOrd >= 0 && openRight - openLeft >= least) runs.push({ left: openLeft, right: openRight, name: openName, shade: openShade });
  };
  const columns: Columns = { from: 0, to: scale.width };
  eachSource(model.cache, track, scale, columns, (tile, from, to) => {
    const data = tile.kind === "slices" ? tile.rows[row] : undefined;
    if (!data) return;
    const step = bucketNs(tile.level) / scale.nsPerPx;
    const base = (tile.index * tileNs(tile.level) - scale.t0) / scale.nsPerPx;
    for (let k = firstRunAfter(data.x1, Math.max(0, Math.floor((from - base) / step))); k < data.n; k++) {
      const left = Math.max(from, base + data.x0[k]! * step);
      if (left >= to) break;
      const right = Math.min(to, base + data.x1[k]! * step);
      const ord = data.ord[k]!;
      if (openOrd === ord && (data.fl[k]! & kClippedLeft || left <= openRight + 1)) {
        openRight = right;
        continue;
      }
      close();
      openLeft = left;
      openRight = right;
      openName = data.name[k]!;
      openOrd = ord;
      openShade = data.shade ? data.shade[k]! : 0;
    }
  });
  close();
  return runs;
}

export function drawLabels(g: PaintList, model: TimelineModel, bands: Band[], scale: Scale): void {
  let left = kMost;
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  g.textAlign = "left";
  for (const band of bands) {
    if (band.lineHeight < 12 || band.lane.form === "counter" || band.lane.track.kind !== "slices") continue;
    const family = model.family(band.lane.track);
    const shades = model.shading.table(band.lane.track.rank);
    for (let line = 0; line < band.lines; line++) {
      const y = band.y + (line + 0.5) * band.lineHeight - 0.5;
      for (const run of wideRuns(model, band.lane.track.id, band.firstRow + line, scale, kMinWidth * model.ratio)) {
        if (left-- <= 0) return;
        const name = model.names.text(run.name);
        if (!name || model.names.isHidden(name)) continue;
        const x0 = run.left / model.ratio;
        const room = (run.right - run.left) / model.ratio - 2 * kPad;
        const text = fitText((part) => textWidth(g, part), kernelLabel(name), room);
        if (!text) continue;
        g.fillStyle = isDark((shades && shades[run.shade]!) || model.names.color(family, run.name)) ? "#ffffff" : "#10202e";
        g.fillText(text, x0 + kPad, y);
      }
    }
  }
}
