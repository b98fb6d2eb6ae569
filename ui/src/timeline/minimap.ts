// The whole trace in one line: how busy it is, waits of streams, steps, search hits, markers, and the part on screen. Drag to move it, its edges to zoom.
// Its picture stays while the view moves; the part on screen is elements over it that the browser moves without painting.
import type { SliceRef } from "../api_types";
import type { Colors } from "./base_layer";
import { kBuckets, levelFor, tileNs, tileRange } from "./lod";
import type { TimelineModel } from "./model";
import { fit } from "./moving";
import type { TimelineSearch } from "./searching";
import type { TileKey } from "./tile_cache";
import { decodeTiles } from "./tile_codec";

export const kMinimapHeight = 34;
const kNoHits: readonly SliceRef[] = [];
const kRanks = 8;
const kEdge = 6;
const kWaitColor = "#d9932f";

/** Shares per column. */
interface Shares {
  busy: Float32Array;
  /** In which streams only waited. */
  wait: Float32Array;
}

/** Shares, kept while nothing about them changed. */
interface Busy {
  key: string;
  /** Of the tile cache: with tiles missing, a later one may have more. */
  version: number;
  columns: Shares;
  missing: TileKey[];
}

const sharesOf = (width: number): Shares => ({ busy: new Float32Array(width), wait: new Float32Array(width) });

function addRank(
  model: TimelineModel,
  rank: number,
  level: number,
  nsPerPx: number,
  columns: Shares,
  weight: number,
): TileKey[] {
  const [e0, e1] = model.meta.extent;
  const width = columns.busy.length;
  const own = sharesOf(width);
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
      const to = Math.min(width, Math.max(from + 1, Math.floor(base + tile.runs.x1[k]! * step)));
      for (let c = from; c < to; c++) {
        own.busy[c] = Math.max(own.busy[c]!, tile.runs.cov[k]! / 255);
        own.wait[c] = Math.max(own.wait[c]!, (tile.runs.wait?.[k] ?? 0) / 255);
      }
    }
  }
  for (let c = 0; c < width; c++) {
    columns.busy[c]! += own.busy[c]! * weight;
    columns.wait[c]! += own.wait[c]! * weight;
  }
  return missing;
}

/** Mean shares of the first ranks per column, from summary tiles. */
function busyColumns(model: TimelineModel, width: number, before: Busy | null): Busy {
  const [e0, e1] = model.meta.extent;
  const ranks = model.tree.roots.slice(0, kRanks);
  const key = `${width} ${e0} ${e1} ${ranks.length} ${model.ds.align}`;
  const { version } = model.cache;
  if (before?.key === key && (before.missing.length === 0 || before.version === version)) return before;
  const nsPerPx = Math.max(1, (e1 - e0) / width);
  const columns = sharesOf(width);
  const missing = ranks.flatMap((rank) =>
    addRank(model, rank.id, levelFor(nsPerPx), nsPerPx, columns, 1 / ranks.length),
  );
  return { key, version, columns, missing };
}

/** Bars, steps, hits and markers. */
function drawPicture(
  canvas: HTMLCanvasElement,
  model: TimelineModel,
  colors: Colors,
  { busy, wait }: Shares,
  hits: readonly SliceRef[],
): void {
  const g = canvas.getContext("2d", { alpha: false });
  if (!g) return;
  const { width, ratio } = model;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(kMinimapHeight * ratio);
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.fillStyle = colors.panel;
  g.fillRect(0, 0, width, kMinimapHeight);
  const foot = kMinimapHeight - 2;
  const heightOf = (share: number) => (share <= 0 ? 0 : Math.max(2, Math.min(1, share) * (kMinimapHeight - 8)));
  g.globalAlpha = 0.55;
  for (let c = 0; c < busy.length; c++) {
    const height = heightOf(busy[c]!);
    g.fillStyle = colors.muted;
    g.fillRect(c, foot - height, 1, height);
    // Waits stand on the work, in every other column, as they are striped on lanes.
    const whole = Math.min(kMinimapHeight - 8, height + heightOf(wait[c]!));
    if (whole <= height || c % 2 === 1) continue;
    g.fillStyle = kWaitColor;
    g.fillRect(c, foot - whole, 1, whole - height);
  }
  g.globalAlpha = 1;
  const [e0, e1] = model.meta.extent;
  const x = (time: number) => ((time - e0) / Math.max(1, e1 - e0)) * width;
  g.fillStyle = colors.accent;
  for (const step of model.steps.slice(0, 1000)) g.fillRect(x(step.begin), 0, 1, 6);
  g.fillStyle = "#d6453d";
  for (const hit of hits) g.fillRect(x(hit.begin), 0, 1.5, 5);
  for (const marker of model.markers.list.value) {
    g.fillStyle = marker.color;
    g.fillRect(x(marker.t0), kMinimapHeight - 5, Math.max(2, x(marker.t1) - x(marker.t0)), 4);
  }
}

/** Pointer handling: inside the window moves, at its edges zooms, elsewhere jumps there. */
function startDrag(event: PointerEvent, box: HTMLElement, model: TimelineModel): void {
  const [e0, e1] = model.meta.extent;
  const time = (clientX: number) => e0 + ((clientX - box.getBoundingClientRect().left) / model.width) * (e1 - e0);
  const x = (at: number) => ((at - e0) / (e1 - e0)) * model.width + box.getBoundingClientRect().left;
  const { t0, t1 } = model.view;
  const nearLeft = Math.abs(event.clientX - x(t0)) < kEdge;
  const nearRight = Math.abs(event.clientX - x(t1)) < kEdge;
  const inside = event.clientX > x(t0) && event.clientX < x(t1);
  const half = (t1 - t0) / 2;
  const from = time(event.clientX);
  if (!nearLeft && !nearRight && !inside) model.setView({ t0: from - half, t1: from + half });
  const start = { ...model.view };
  box.setPointerCapture(event.pointerId);
  box.onpointermove = (move) => {
    const now = time(move.clientX);
    if (nearLeft) model.setView({ t0: Math.min(now, t1 - 1), t1 });
    else if (nearRight) model.setView({ t0, t1: Math.max(now, t0 + 1) });
    else model.setView({ t0: start.t0 + now - from, t1: start.t1 + now - from });
  };
  box.onpointerup = () => (box.onpointermove = null);
}

function child<K extends keyof HTMLElementTagNameMap>(
  box: HTMLElement,
  tag: K,
  name: string,
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = name;
  box.append(element);
  return element;
}

export class MinimapView {
  private readonly canvas: HTMLCanvasElement;
  private readonly shade: HTMLElement;
  private readonly edges: [HTMLElement, HTMLElement];
  /** What the picture shows; drawn again when one of these is another one. */
  private drawn: unknown[] = [];
  private busy: Busy | null = null;
  private timer = 0;

  constructor(
    private readonly box: HTMLElement,
    private readonly model: TimelineModel,
    private readonly search: TimelineSearch,
  ) {
    this.canvas = child(box, "canvas", "minimap-picture");
    this.shade = child(box, "i", "minimap-shade");
    this.edges = [child(box, "i", "minimap-edge"), child(box, "i", "minimap-edge")];
    box.onpointerdown = (event) => startDrag(event, box, model);
    box.ondblclick = () => fit(model);
  }

  close(): void {
    clearTimeout(this.timer);
    this.box.onpointerdown = this.box.ondblclick = null;
    this.box.replaceChildren();
  }

  draw(colors: Colors): void {
    const { model } = this;
    const busy = (this.busy = busyColumns(model, Math.floor(model.width), this.busy));
    const hits = this.search.reply.peek()?.hits ?? kNoHits;
    const shown = [busy.columns, hits, model.markers.list.peek(), model.meta, model.width, model.ratio, colors];
    if (shown.some((value, at) => value !== this.drawn[at]))
      drawPicture(this.canvas, model, colors, busy.columns, hits);
    this.drawn = shown;
    this.placeWindow();
    if (busy.missing.length > 0) this.load(busy.missing);
  }

  private placeWindow(): void {
    const { width, view, meta } = this.model;
    const [e0, e1] = meta.extent;
    const x = (time: number) => Math.max(0, Math.min(width, ((time - e0) / Math.max(1, e1 - e0)) * width));
    const [x0, x1] = [x(view.t0), x(view.t1)];
    this.shade.style.transform = `translateX(${x0}px) scaleX(${Math.max(2, x1 - x0)})`;
    this.edges[0].style.transform = `translateX(${x0}px)`;
    this.edges[1].style.transform = `translateX(${Math.max(x0 + 2, x1 - 2)}px)`;
  }

  /** The tiles are coarse and few; the next frame finds them. */
  private load(missing: TileKey[]): void {
    if (this.timer) return;
    this.timer = setTimeout(() => {
      this.model.ds
        .tiles(missing.slice(0, 128), "", [])
        .then(
          (buffer) => {
            for (const tile of decodeTiles(buffer)) this.model.cache.put(tile);
            this.model.invalidate();
          },
          () => undefined,
        )
        .finally(() => (this.timer = 0));
    }, 60) as unknown as number;
  }
}
