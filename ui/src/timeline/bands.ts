// Which lines of the bitmap belong to which lane on screen.
import { type Lane, lanesIn } from "./layout";
import type { TimelineModel } from "./model";

/** A lane on screen and its lines in the bitmap. */
export interface Band {
  lane: Lane;
  /** Top of the drawn rows, css px on the canvas. */
  y: number;
  /** First line in the bitmap. */
  at: number;
  /** Lines in the bitmap. */
  lines: number;
  /** First slice row drawn. */
  firstRow: number;
  /** Height of one line on screen, css px. */
  lineHeight: number;
  pinned: boolean;
}

function bandOf(
  lane: Lane,
  top: number,
  at: number,
  low: number,
  high: number,
  ratio: number,
  pinned: boolean,
): Band | null {
  const y = top + 2;
  if (lane.form === "header") return null;
  if (lane.form === "counter") {
    const lines = Math.round(lane.rowHeight * ratio);
    return { lane, y, at, lines, firstRow: 0, lineHeight: lane.rowHeight / lines, pinned };
  }
  const first = Math.max(0, Math.min(lane.rows - 1, Math.floor((low - y) / lane.rowHeight)));
  const last = Math.max(first, Math.min(lane.rows - 1, Math.floor((high - y) / lane.rowHeight)));
  return {
    lane,
    y: y + first * lane.rowHeight,
    at,
    lines: last - first + 1,
    firstRow: first,
    lineHeight: lane.rowHeight,
    pinned,
  };
}

/** Screen position of a lane's top, css px. */
export function laneTop(model: TimelineModel, lane: Lane): number {
  return lane.pinned ? lane.y : lane.y - model.scrollY + model.pinnedShown;
}

/** The bands on screen, pinned ones last (they are drawn over the others). */
export function visibleBands(model: TimelineModel): Band[] {
  const bands: Band[] = [];
  let at = 0;
  const add = (lane: Lane, low: number, high: number) => {
    const band = bandOf(lane, laneTop(model, lane), at, low, high, model.ratio, lane.pinned);
    if (!band) return;
    bands.push(band);
    at += band.lines;
  };
  const split = model.pinnedShown;
  for (const lane of lanesIn(model.layout.lanes, model.scrollY, model.scrollY + model.height - split))
    add(lane, split, model.height);
  for (const lane of lanesIn(model.layout.pinned, 0, split)) add(lane, 0, split);
  return bands;
}

/** Lanes on screen with their tops, for hit tests: pinned ones first. */
export function laneUnder(model: TimelineModel, y: number): Lane | null {
  const pinned = y < model.pinnedShown;
  const lanes = pinned ? model.layout.pinned : model.layout.lanes;
  const at = pinned ? y : y - model.pinnedShown + model.scrollY;
  return lanesIn(lanes, at, at + 1)[0] ?? null;
}

/** The slice row of a lane at y; -1 outside. */
export function rowUnder(model: TimelineModel, lane: Lane, y: number): number {
  const row = Math.floor((y - laneTop(model, lane) - 2) / lane.rowHeight);
  return row >= 0 && row < lane.rows ? row : -1;
}
