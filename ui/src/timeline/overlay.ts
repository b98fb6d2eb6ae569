// What is drawn over the lanes, on the same canvas: area, markers, arrows, selection. A second canvas of that size would cost the
// browser a copy of it each frame; what follows the pointer is not here but in pointer_marks.ts.
import { formatDuration } from "../format";
import { laneTop } from "./bands";
import type { Colors } from "./base_layer";
import type { Area, Arrow, TimelineModel } from "./model";
import type { PaintList } from "./paint_list";
import { isOnScreen, type Rect, shownLane, sliceRect } from "./places";

/** Something of the overlay that can be clicked. */
export interface Chip extends Rect {
  run(): void;
}

/** Called when the name of an arrow's far end is clicked. */
export type OnFollow = (end: Arrow["from"]) => void;

function drawMarkers(g: PaintList, model: TimelineModel): void {
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "top";
  for (const marker of model.markers.list.value) {
    const x0 = model.xOf(marker.t0);
    const x1 = model.xOf(marker.t1);
    if (x1 < 0 || x0 > model.width) continue;
    g.fillStyle = marker.color;
    g.globalAlpha = 0.1;
    if (x1 > x0 + 1) g.fillRect(x0, 0, x1 - x0, model.height);
    g.globalAlpha = 1;
    g.fillRect(x0, 0, 1.5, model.height);
    if (x1 > x0 + 1) g.fillRect(x1, 0, 1.5, model.height);
    const text = x1 > x0 + 1 ? `${marker.name} · ${formatDuration(marker.t1 - marker.t0)}` : marker.name;
    const width = g.measureText(text).width + 8;
    const x = Math.max(0, x0);
    g.fillRect(x, 0, width, 15);
    g.fillStyle = "#ffffff";
    g.fillText(text, x + 4, 2);
  }
}

/** Colour of the area that another one is compared with; the badge in the panel has it, too. */
const kSecondArea = "#b8610a";

/** Vertical extent of an area: the lanes it is about, as far as they are shown. */
function areaSpan(model: TimelineModel, area: Area): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const id of area.tracks) {
    const lane = shownLane(model, id);
    if (!lane) continue;
    low = Math.min(low, laneTop(model, lane));
    high = Math.max(high, laneTop(model, lane) + lane.height);
  }
  return low < high ? [low, high] : [0, model.height];
}

/** `letter` tells two areas apart; "" while there is one. */
function drawArea(g: PaintList, model: TimelineModel, colors: Colors, area: Area, color: string, letter: string): void {
  const x0 = model.xOf(area.t0);
  const x1 = model.xOf(area.t1);
  const [y0, y1] = areaSpan(model, area);
  g.fillStyle = color;
  g.globalAlpha = 0.14;
  g.fillRect(x0, y0, x1 - x0, y1 - y0);
  g.globalAlpha = 1;
  g.fillRect(x0, 0, 1, model.height);
  g.fillRect(x1, 0, 1, model.height);
  const text = `${letter} ${formatDuration(area.t1 - area.t0)}`.trim();
  g.font = "12px system-ui, sans-serif";
  const width = g.measureText(text).width + 12;
  const middle = Math.max(
    width / 2,
    Math.min(model.width - width / 2, (Math.max(0, x0) + Math.min(model.width, x1)) / 2),
  );
  if (x1 < 0 || x0 > model.width) return;
  g.fillRect(middle - width / 2, model.height - 20, width, 17);
  g.fillStyle = colors.dark ? "#0b1a28" : "#ffffff";
  g.textBaseline = "middle";
  g.textAlign = "center";
  g.fillText(text, middle, model.height - 11);
  g.textAlign = "left";
}

function arrowHead(g: PaintList, x: number, y: number, left: boolean): void {
  const d = left ? -7 : 7;
  g.beginPath();
  g.moveTo(x, y);
  g.lineTo(x - d, y - 4);
  g.lineTo(x - d, y + 4);
  g.fill();
}

function curve(g: PaintList, x0: number, y0: number, x1: number, y1: number): void {
  const bend = Math.max(20, Math.min(140, Math.abs(x1 - x0) / 2));
  g.beginPath();
  g.moveTo(x0, y0);
  g.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  g.stroke();
  arrowHead(g, x1, y1, false);
}

function drawArrow(
  g: PaintList,
  model: TimelineModel,
  colors: Colors,
  arrow: Arrow,
  onFollow: OnFollow,
  chips: Chip[],
): void {
  const from = sliceRect(model, arrow.from);
  const to = sliceRect(model, arrow.to);
  if (!from || !to) return;
  g.strokeStyle = colors.accent;
  g.fillStyle = colors.accent;
  g.lineWidth = 1.5;
  const startX = Math.min(from.x + from.w, Math.max(from.x, to.x));
  curve(g, startX, from.y + from.h / 2, to.x, to.y + to.h / 2);
  for (const [end, rect] of [
    [arrow.from, from],
    [arrow.to, to],
  ] as const) {
    const pinned = shownLane(model, end.track)?.pinned ?? false;
    if (!isOnScreen(model, rect, pinned)) chips.push(drawChip(g, model, colors, rect, end.name, () => onFollow(end)));
  }
}

/** The name of an end that is off screen, at the edge nearest to it. */
function drawChip(g: PaintList, model: TimelineModel, colors: Colors, rect: Rect, name: string, run: () => void): Chip {
  const text = name.length > 34 ? `${name.slice(0, 32)}…` : name;
  g.font = "11px system-ui, sans-serif";
  const w = g.measureText(text).width + 14;
  const x = Math.max(4, Math.min(model.width - w - 4, rect.x));
  const y = Math.max(model.pinnedShown + 4, Math.min(model.height - 22, rect.y));
  g.fillStyle = colors.panel;
  g.strokeStyle = colors.accent;
  g.beginPath();
  g.roundRect(x, y, w, 18, 9);
  g.fill();
  g.stroke();
  g.fillStyle = colors.accent;
  g.textBaseline = "middle";
  g.fillText(text, x + 7, y + 9);
  return { x, y, w, h: 18, run };
}

const kFlowColors = ["#8a5cd1", "#1f9e89", "#c8553d", "#3b7dd8", "#a0764a"];

/** All arrows of the chosen categories; a bundle is as thick as its count suggests. */
function drawFlows(g: PaintList, model: TimelineModel): void {
  const reply = model.flows.value;
  if (!reply) return;
  g.globalAlpha = 0.55;
  for (const [fromTrack, fromRow, fromT, toTrack, toRow, toT, count, cat] of reply.flows) {
    const from = sliceRect(model, { track: fromTrack, i: -1, name: "", begin: fromT, dur: 0, row: fromRow });
    const to = sliceRect(model, { track: toTrack, i: -1, name: "", begin: toT, dur: 0, row: toRow });
    if (!from || !to) continue;
    const color = kFlowColors[cat % kFlowColors.length]!;
    g.strokeStyle = color;
    g.fillStyle = color;
    g.lineWidth = Math.min(6, 1 + Math.log2(Math.max(1, count)));
    curve(g, from.x, from.y + from.h / 2, to.x, to.y + to.h / 2);
  }
  g.globalAlpha = 1;
}

function outline(g: PaintList, rect: Rect, color: string, width: number): void {
  g.strokeStyle = color;
  g.lineWidth = width;
  g.strokeRect(rect.x - 0.5, rect.y - 0.5, Math.max(2, rect.w), rect.h);
}

function drawSelection(g: PaintList, model: TimelineModel, colors: Colors): void {
  const detail = model.detail.value;
  const rect = detail && sliceRect(model, detail);
  if (rect) {
    outline(g, rect, colors.panel, 4);
    outline(g, rect, colors.ink, 2);
  }
  const base = model.base.value;
  const baseRect = base && sliceRect(model, { ...base, name: "" });
  if (baseRect) outline(g, baseRect, "#d6453d", 2);
}

/** Draws everything and returns what can be clicked. `g` is scaled to css px. */
export function drawOverlay(g: PaintList, model: TimelineModel, colors: Colors, onFollow: OnFollow): Chip[] {
  const chips: Chip[] = [];
  const area = model.area.value;
  const second = model.areaB.value;
  if (area) drawArea(g, model, colors, area, colors.accent, second ? "A" : "");
  if (second) drawArea(g, model, colors, second, kSecondArea, "B");
  drawMarkers(g, model);
  drawFlows(g, model);
  for (const arrow of model.chain.value) drawArrow(g, model, colors, arrow, onFollow, chips);
  drawSelection(g, model, colors);
  return chips;
}
