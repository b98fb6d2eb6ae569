// The time axis: round moments, and the steps of the first rank on a second line.
import { niceStep } from "../charts/ticks";
import type { StepSpan } from "../api_types";
import { formatMoment } from "../format";
import { t } from "../i18n";
import type { Colors } from "./base_layer";
import type { TimelineModel } from "./model";

export const kAxisHeight = 48;
/** Where the band of the host's steps ends and that of the device begins. */
const kHostEnd = 35;
const kDeviceColor = "#1f9e89";

/** Moments for labels about `gap` px apart, and their distance in ns. */
export function axisTicks(t0: number, t1: number, width: number, gap: number): { step: number; ticks: number[] } {
  const step = Math.max(1, niceStep(((t1 - t0) / Math.max(1, width)) * gap));
  const ticks: number[] = [];
  for (let k = Math.ceil(t0 / step); k * step <= t1; k++) ticks.push(k * step || 0);
  return { step, ticks };
}

export function visibleSteps(model: TimelineModel): StepSpan[] {
  return model.steps.filter((span) => span.end > model.view.t0 && span.begin < model.view.t1).slice(0, 400);
}

export function drawAxis(canvas: HTMLCanvasElement, model: TimelineModel, colors: Colors): void {
  const g = canvas.getContext("2d", { alpha: false });
  if (!g) return;
  const width = Math.round(model.width * model.ratio);
  const height = Math.round(kAxisHeight * model.ratio);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  g.setTransform(model.ratio, 0, 0, model.ratio, 0, 0);
  paintAxis(g, model, colors);
}

/** Axis and steps; `g` is scaled to css px. */
export function paintAxis(g: CanvasRenderingContext2D, model: TimelineModel, colors: Colors): void {
  g.fillStyle = colors.panel;
  g.fillRect(0, 0, model.width, kAxisHeight);
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  g.textAlign = "left";
  const { step, ticks } = axisTicks(model.view.t0, model.view.t1, model.width, 110);
  for (const tick of ticks) {
    const x = model.xOf(tick);
    g.fillStyle = colors.line;
    g.fillRect(x, 0, 1, 18);
    g.fillStyle = colors.muted;
    const text = formatMoment(tick, step);
    if (x + 4 + g.measureText(text).width <= model.width) g.fillText(text, x + 4, 10);
  }
  drawSteps(g, model, colors);
}

function drawBand(g: CanvasRenderingContext2D, x0: number, x1: number, top: number, bottom: number, color: string, share: number): void {
  g.fillStyle = color;
  g.fillRect(x0, top, 1.5, bottom - top);
  g.globalAlpha = share;
  g.fillRect(x0, top, Math.max(1, x1 - x0 - 1), bottom - top);
  g.globalAlpha = 1;
}

/** When the device worked on each step: it begins later than the host and may end behind it. */
function drawDeviceSteps(g: CanvasRenderingContext2D, model: TimelineModel, colors: Colors): void {
  for (const { step, device } of model.steps) {
    if (!device || device[1] <= model.view.t0 || device[0] >= model.view.t1 || device[1] <= device[0]) continue;
    const [x0, x1] = [Math.max(-2, model.xOf(device[0])), Math.min(model.width + 2, model.xOf(device[1]))];
    drawBand(g, x0, x1, kHostEnd + 1, kAxisHeight, kDeviceColor, 0.28);
    const text = t("tl.device_step", { step });
    g.font = "9px system-ui, sans-serif";
    g.fillStyle = colors.ink;
    if (x1 - x0 >= g.measureText(text).width + 8) g.fillText(text, x0 + 5, (kHostEnd + kAxisHeight) / 2 + 1);
    g.font = "11px system-ui, sans-serif";
  }
}

function drawSteps(g: CanvasRenderingContext2D, model: TimelineModel, colors: Colors): void {
  g.fillStyle = colors.line;
  g.fillRect(0, 18, model.width, 1);
  for (const span of visibleSteps(model)) {
    const x0 = Math.max(-2, model.xOf(span.begin));
    const x1 = Math.min(model.width + 2, model.xOf(span.end));
    drawBand(g, x0, x1, 20, kHostEnd, colors.accent, 0.1);
    const text = `${t("step")} ${span.step}`;
    if (x1 - x0 < g.measureText(text).width + 8) continue;
    g.fillStyle = colors.ink;
    g.fillText(text, x0 + 5, 28);
  }
  drawDeviceSteps(g, model, colors);
}
