// The whole trace in one line: how busy it is, steps, search hits, markers, and the part on screen. Drag to move it, its edges to zoom.
import { useEffect, useRef } from "preact/hooks";
import { t } from "../i18n";
import { theme } from "../state/theme";
import { readColors } from "./base_layer";
import { kBuckets, levelFor, tileNs, tileRange } from "./lod";
import type { TimelineModel } from "./model";
import { fit } from "./moving";
import type { TimelineSearch } from "./searching";
import type { TileKey } from "./tile_cache";
import { decodeTiles } from "./tile_codec";

const kHeight = 34;
const kRanks = 8;
const kEdge = 6;

interface Props {
  model: TimelineModel;
  search: TimelineSearch;
}

/** Busy shares per column, kept while nothing about them changed. */
interface Busy {
  key: string;
  columns: Float32Array;
  missing: TileKey[];
}

const known = new WeakMap<TimelineModel, Busy>();

function addRank(
  model: TimelineModel,
  rank: number,
  level: number,
  nsPerPx: number,
  columns: Float32Array,
  weight: number,
): TileKey[] {
  const [e0, e1] = model.meta.extent;
  const own = new Float32Array(columns.length);
  const missing: TileKey[] = [];
  const [first, last] = tileRange(e0, e1, level);
  for (let index = first; index <= last; index++) {
    const tile = model.cache.get(rank, level, index);
    if (!tile) missing.push([rank, level, index]);
    if (tile?.kind !== "summary") continue;
    const base = (index * tileNs(level) - e0) / nsPerPx;
    const step = tileNs(level) / kBuckets / nsPerPx;
    for (let k = 0; k < tile.runs.n; k++) {
      const from = Math.max(0, Math.floor(base + tile.runs.x0[k]! * step));
      const to = Math.min(own.length, Math.max(from + 1, Math.floor(base + tile.runs.x1[k]! * step)));
      for (let c = from; c < to; c++) own[c] = Math.max(own[c]!, tile.runs.cov[k]! / 255);
    }
  }
  for (let c = 0; c < own.length; c++) columns[c]! += own[c]! * weight;
  return missing;
}

/** Mean busy share of the first ranks per column, from summary tiles. */
function busyColumns(model: TimelineModel, width: number): Busy {
  const [e0, e1] = model.meta.extent;
  const ranks = model.tree.roots.slice(0, kRanks);
  const key = `${width} ${e0} ${e1} ${ranks.length} ${model.ds.align}`;
  const before = known.get(model);
  if (before?.key === key && before.missing.length === 0) return before;
  const nsPerPx = Math.max(1, (e1 - e0) / width);
  const columns = new Float32Array(width);
  const missing = ranks.flatMap((rank) =>
    addRank(model, rank.id, levelFor(nsPerPx), nsPerPx, columns, 1 / ranks.length),
  );
  const busy = { key, columns, missing };
  known.set(model, busy);
  return busy;
}

let picture: { of: Float32Array; color: string; canvas: HTMLCanvasElement } | null = null;

/** The bars, drawn once: they stay the same while the view moves. One px a column. */
function busyPicture(busy: Float32Array, color: string): HTMLCanvasElement {
  if (picture?.of === busy && picture.color === color) return picture.canvas;
  const canvas = document.createElement("canvas");
  canvas.width = busy.length;
  canvas.height = kHeight;
  const g = canvas.getContext("2d");
  if (g) {
    g.fillStyle = color;
    g.globalAlpha = 0.55;
    for (let c = 0; c < busy.length; c++) {
      if (busy[c]! <= 0) continue;
      const height = Math.max(2, Math.min(1, busy[c]!) * (kHeight - 8));
      g.fillRect(c, kHeight - 2 - height, 1, height);
    }
  }
  picture = { of: busy, color, canvas };
  return canvas;
}

export function drawMinimap(canvas: HTMLCanvasElement, model: TimelineModel, search: TimelineSearch): TileKey[] {
  const g = canvas.getContext("2d", { alpha: false });
  if (!g) return [];
  const width = model.width;
  const colors = readColors();
  if (canvas.width !== Math.round(width * model.ratio) || canvas.height !== Math.round(kHeight * model.ratio)) {
    canvas.width = Math.round(width * model.ratio);
    canvas.height = Math.round(kHeight * model.ratio);
  }
  g.setTransform(model.ratio, 0, 0, model.ratio, 0, 0);
  g.fillStyle = colors.panel;
  g.fillRect(0, 0, width, kHeight);
  const { columns: busy, missing } = busyColumns(model, Math.floor(width));
  g.drawImage(busyPicture(busy, colors.muted), 0, 0);
  const [e0, e1] = model.meta.extent;
  const x = (time: number) => ((time - e0) / Math.max(1, e1 - e0)) * width;
  for (const step of model.steps.slice(0, 1000)) {
    g.fillStyle = colors.accent;
    g.fillRect(x(step.begin), 0, 1, 6);
  }
  g.fillStyle = "#d6453d";
  for (const hit of search.reply.value?.hits ?? []) g.fillRect(x(hit.begin), 0, 1.5, 5);
  for (const marker of model.markers.list.value) {
    g.fillStyle = marker.color;
    g.fillRect(x(marker.t0), kHeight - 5, Math.max(2, x(marker.t1) - x(marker.t0)), 4);
  }
  const x0 = Math.max(0, x(model.view.t0));
  const x1 = Math.min(width, x(model.view.t1));
  g.fillStyle = colors.accent;
  g.globalAlpha = 0.16;
  g.fillRect(x0, 0, Math.max(2, x1 - x0), kHeight);
  g.globalAlpha = 1;
  g.fillRect(x0, 0, 2, kHeight);
  g.fillRect(Math.max(x0 + 2, x1 - 2), 0, 2, kHeight);
  return missing;
}

/** Pointer handling: inside the window moves, at its edges zooms, elsewhere jumps there. */
function startDrag(event: PointerEvent, canvas: HTMLCanvasElement, model: TimelineModel): void {
  const [e0, e1] = model.meta.extent;
  const time = (clientX: number) => e0 + ((clientX - canvas.getBoundingClientRect().left) / model.width) * (e1 - e0);
  const x = (at: number) => ((at - e0) / (e1 - e0)) * model.width + canvas.getBoundingClientRect().left;
  const { t0, t1 } = model.view;
  const nearLeft = Math.abs(event.clientX - x(t0)) < kEdge;
  const nearRight = Math.abs(event.clientX - x(t1)) < kEdge;
  const inside = event.clientX > x(t0) && event.clientX < x(t1);
  const half = (t1 - t0) / 2;
  const from = time(event.clientX);
  if (!nearLeft && !nearRight && !inside) model.setView({ t0: from - half, t1: from + half });
  const start = { ...model.view };
  canvas.setPointerCapture(event.pointerId);
  canvas.onpointermove = (move) => {
    const now = time(move.clientX);
    if (nearLeft) model.setView({ t0: Math.min(now, t1 - 1), t1 });
    else if (nearRight) model.setView({ t0, t1: Math.max(now, t0 + 1) });
    else model.setView({ t0: start.t0 + now - from, t1: start.t1 + now - from });
  };
  canvas.onpointerup = () => (canvas.onpointermove = null);
}

export function Minimap({ model, search }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  void theme.value;
  void model.viewVersion.value;
  void model.layoutVersion.value;
  void model.markers.list.value;
  void search.reply.value;
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const missing = drawMinimap(element, model, search);
    // They are coarse and few; the next drawing finds them.
    if (missing.length > 0) {
      const timer = setTimeout(() => {
        void model.ds.tiles(missing.slice(0, 128)).then(
          (buffer) => {
            for (const tile of decodeTiles(buffer)) model.cache.put(tile);
            drawMinimap(element, model, search);
          },
          () => undefined,
        );
      }, 60);
      return () => clearTimeout(timer);
    }
    return undefined;
  });
  return (
    <canvas
      ref={canvas}
      class="minimap"
      style={{ height: `${kHeight}px` }}
      aria-label={t("tl.minimap")}
      role="img"
      onPointerDown={(e) => startDrag(e, e.currentTarget, model)}
      onDblClick={() => fit(model)}
    />
  );
}
