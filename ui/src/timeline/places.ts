// Where a slice is on screen.
import type { SliceRef } from "../api_types";
import { laneTop } from "./bands";
import { rowOfSlice } from "./hit";
import type { Lane } from "./layout";
import type { TimelineModel } from "./model";

export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** The lane that shows a track: pinned, its own, or the nearest collapsed parent. */
export function shownLane(model: TimelineModel, track: number): Lane | null {
  const pinned = model.layout.pinned.find((lane) => lane.track.id === track);
  if (pinned) return pinned;
  for (let at = model.tree.byId.get(track); at; at = model.tree.byId.get(at.parent)) {
    const lane = model.layout.byTrack.get(at.id);
    if (lane) return lane;
  }
  return null;
}

export function rowOf(model: TimelineModel, slice: SliceRef): number {
  if (slice.row !== undefined) return slice.row;
  const middle = slice.begin + slice.dur / 2;
  const row = rowOfSlice(model.cache, slice.track, slice.i, middle, model.scale());
  return row >= 0 ? row : Math.max(0, rowOfSlice(model.cache, slice.track, slice.i, slice.begin, model.scale()));
}

/** Rectangle in css px of the canvas; may lie outside of it. Null if no lane stands for the track. */
export function sliceRect(model: TimelineModel, slice: SliceRef): Rect | null {
  const lane = shownLane(model, slice.track);
  if (!lane) return null;
  const own = lane.track.id === slice.track;
  const row = own ? Math.min(rowOf(model, slice), lane.rows - 1) : 0;
  const x = model.xOf(slice.begin);
  return {
    x,
    y: laneTop(model, lane) + 2 + row * lane.rowHeight,
    w: Math.max(1, model.xOf(slice.begin + slice.dur) - x),
    h: lane.rowHeight - 1,
  };
}

/** True if the rectangle lies in the part of the canvas where its lane may be drawn. */
export function isOnScreen(model: TimelineModel, rect: Rect, pinned: boolean): boolean {
  const top = pinned ? 0 : model.pinnedShown;
  return rect.y + rect.h > top && rect.y < model.height && rect.x + rect.w > 0 && rect.x < model.width;
}
