// Zoom, pan, steps, back and forward.
import type { SliceRef, StepSpan } from "../api_types";
import type { TimelineModel } from "./model";
import { rowOf, shownLane } from "./places";
import { fitView, homeView, panView, sameView, type View, viewAround, zoomView } from "./view";

/** The moment zooming holds on to: under the pointer, else the middle. */
function focus(model: TimelineModel): number {
  const x = model.hover.value?.x ?? -1;
  return model.timeAt(x >= 0 ? x : model.width / 2);
}

export function zoom(model: TimelineModel, factor: number, at = focus(model)): void {
  model.setView(zoomView(model.view, at, factor));
}

/** Pans by css px, held to whole device pixels so that the bitmap can be moved. */
export function panPixels(model: TimelineModel, px: number): void {
  const columns = Math.round(px * model.ratio);
  if (columns !== 0) model.setView(panView(model.view, columns * model.scale().nsPerPx));
}

export function panShare(model: TimelineModel, share: number): void {
  panPixels(model, model.width * share);
}

/** Shows everything; from there, all slices. */
export function fit(model: TimelineModel): void {
  const all = fitView(model.meta.extent);
  model.setView(sameView(model.view, all) ? homeView(model.meta) : all);
}

export function undo(model: TimelineModel): void {
  model.travel(-1);
}

export function redo(model: TimelineModel): void {
  model.travel(1);
}

/** Zooms to the area, else to the selected slice. */
export function zoomToSelection(model: TimelineModel): void {
  const area = model.area.value;
  const detail = model.detail.value;
  if (area) model.setView(viewAround(area.t0, area.t1, 0.02));
  else if (detail) model.setView(viewAround(detail.begin, detail.begin + detail.dur, 0.5));
}

/** Index of the step that N (1) or Shift+N (-1) goes to; -1 or too large = none. */
export function stepToShow(steps: StepSpan[], view: View, dir: 1 | -1): number {
  const middle = (view.t0 + view.t1) / 2;
  const inside = steps.findIndex((span) => middle >= span.begin && middle < span.end);
  const span = steps[inside];
  if (!span) {
    const after = steps.findIndex((each) => each.begin > middle);
    return dir > 0 ? after : after < 0 ? steps.length - 1 : after - 1;
  }
  const wide = (view.t1 - view.t0) / (span.end - span.begin);
  // From far out the first press shows a step at the edge, then the one that is looked at; the next ones walk.
  if (wide > 2) return dir > 0 ? 0 : steps.length - 1;
  const shown =
    wide > 0.98 && wide < 1.25 && Math.abs(middle - (span.begin + span.end) / 2) < (span.end - span.begin) * 0.1;
  return shown ? inside + dir : inside;
}

/** Goes to the next (1) or previous (-1) step. */
export function goStep(model: TimelineModel, dir: 1 | -1): void {
  const span = model.steps[stepToShow(model.steps, model.view, dir)];
  if (span) model.setView(viewAround(span.begin, span.end, 0.05));
}

/** Opens the parents of a track so that it is shown. */
export function openParents(model: TimelineModel, track: number): void {
  const found = model.tree.byId.get(track);
  if (!found) return;
  const paths = model.tree.ancestors(found).map((each) => each.path);
  const state = model.lanes.value;
  const shown = model.layout.byTrack.get(track) ?? model.layout.pinned.find((lane) => lane.track.id === track);
  if (shown) return;
  model.changeLanes({
    opened: new Set([...state.opened, ...paths]),
    closed: new Set([...state.closed].filter((path) => !paths.includes(path))),
    hidden: new Set([...state.hidden].filter((path) => path !== found.path && !paths.includes(path))),
    solo: "",
  });
  if (!model.layout.byTrack.has(track)) model.setLaneFilter("");
}

/** Scrolls lanes so that the row of a track is in view. */
export function revealTrack(model: TimelineModel, track: number, row = 0): void {
  openParents(model, track);
  const lane = shownLane(model, track);
  if (!lane || lane.pinned) return;
  const y = lane.y + Math.min(row, lane.rows - 1) * lane.rowHeight;
  if (y < model.scrollY + 8 || y + lane.rowHeight > model.scrollY + model.scrollHeight - 8)
    model.setScroll(y - model.scrollHeight / 3);
}

const kLeastWindow_ns = 2000;

/** Brings a slice into view, zooming only when it would be too thin to see or does not fit; `keepZoom` only moves. */
export function revealSlice(model: TimelineModel, slice: SliceRef, keepZoom = false): void {
  revealTrack(model, slice.track, rowOf(model, slice));
  const px = slice.dur / model.nsPerCssPx;
  const end = slice.begin + slice.dur;
  const inView = slice.begin >= model.view.t0 && end <= model.view.t1;
  // A slice of no length gets a window of some microseconds: its neighbours say more than it does.
  const air = Math.max(3, kLeastWindow_ns / Math.max(1, slice.dur));
  if (!keepZoom && (px < 4 || px > model.width)) model.setView(viewAround(slice.begin, end, air));
  else if (!inView) {
    const half = (model.view.t1 - model.view.t0) / 2;
    // Of one that does not fit, its begin.
    const middle = px > model.width ? slice.begin + half * 0.8 : (slice.begin + end) / 2;
    model.setView({ t0: middle - half, t1: middle + half });
  }
}
