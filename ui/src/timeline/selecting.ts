// Choosing a slice or an area and asking the server about it.
import { isAbort } from "../api";
import type { FlowEnd, SliceDetail, SliceRef } from "../api_types";
import { formatDuration } from "../format";
import { t } from "../i18n";
import { toast } from "../widgets/toast";
import type { Area, Arrow, TimelineModel } from "./model";
import { revealSlice } from "./moving";

let control = new AbortController();

export function complain(error: unknown): void {
  if (!isAbort(error)) toast("error", error instanceof Error ? error.message : String(error));
}

/** Selects a slice and loads all about it; `reveal` also brings it into view, as it is zoomed or as large as it takes. */
export async function selectSlice(model: TimelineModel, track: number, i: number, reveal: boolean | "keep zoom"): Promise<void> {
  control.abort();
  control = new AbortController();
  const { signal } = control;
  model.selected.value = { track, i };
  try {
    const detail = await model.ds.slice(track, i, signal);
    if (signal.aborted) return;
    model.detail.value = detail;
    model.chain.value = firstArrows(detail);
    model.spoken.value = describe(model, detail);
    if (model.tab.value !== "histogram" && model.tab.value !== "selection") model.tab.value = "selection";
    model.offerPanel();
    if (reveal) revealSlice(model, detail, reveal === "keep zoom");
    model.invalidate();
    model.chain.value = await followChain(model, detail, signal);
    model.invalidate();
  } catch (error) {
    if (!signal.aborted) complain(error);
  }
}

function firstArrows(detail: SliceDetail): Arrow[] {
  return [
    ...detail.flows_in.map((end) => ({ kind: end.kind, from: end, to: detail })),
    ...detail.flows_out.map((end) => ({ kind: end.kind, from: detail, to: end })),
  ];
}

const kChain = 24;

/** The arrows before and behind the selection's own, a few hops each way: Python -> op -> runtime -> task. */
async function followChain(model: TimelineModel, detail: SliceDetail, signal: AbortSignal): Promise<Arrow[]> {
  const arrows = firstArrows(detail);
  const seen = new Set([`${detail.track}/${detail.i}`]);
  const walk = async (ends: FlowEnd[], side: "flows_in" | "flows_out"): Promise<void> => {
    for (const end of ends.slice(0, 6)) {
      const key = `${end.track}/${end.i}`;
      if (seen.has(key) || arrows.length >= kChain) continue;
      seen.add(key);
      const next = await model.ds.slice(end.track, end.i, signal);
      for (const far of next[side].slice(0, 4)) {
        arrows.push(
          side === "flows_in" ? { kind: far.kind, from: far, to: next } : { kind: far.kind, from: next, to: far },
        );
      }
      await walk(next[side], side);
    }
  };
  await walk(detail.flows_in, "flows_in");
  await walk(detail.flows_out, "flows_out");
  return arrows;
}

/** What a screen reader says of a slice. */
export function describe(model: TimelineModel, detail: SliceDetail): string {
  const same = detail.same_name;
  const place = same ? ` ${t("tl.spoken.place", { at: same.rank_of_duration, of: same.count })}` : "";
  return `${detail.name}, ${formatDuration(detail.dur)}, ${detail.lane || model.laneName(detail.track)}.${place}`;
}

export function clearSelection(model: TimelineModel): void {
  control.abort();
  model.selected.value = null;
  model.detail.value = null;
  model.chain.value = [];
  model.area.value = null;
  model.areaB.value = null;
  model.areaStats.value = null;
  model.invalidate();
}

/** Next or previous slice of the row, lane or name. */
export async function step(model: TimelineModel, dir: 1 | -1, same: "name" | "track" | "row"): Promise<void> {
  const at = model.selected.value;
  if (!at) return selectFirst(model);
  try {
    const next = await model.ds.next({ ...at, dir, same });
    await selectSlice(model, next.track, next.i, true);
  } catch {
    model.spoken.value = t("tl.spoken.end");
    toast("info", t("tl.spoken.end"));
  }
}

/** The keyboard's way in: the first slice on screen; the zoom stays. */
async function selectFirst(model: TimelineModel): Promise<void> {
  const lane = [...model.layout.pinned, ...model.layout.lanes].find(
    (each) => each.track.kind === "slices" && each.track.n > 0 && (each.pinned || each.y >= model.scrollY),
  );
  if (!lane) return;
  try {
    const { t0, t1 } = model.view;
    const found = await model.ds.at(lane.track.id, 0, Math.max(0, t0), t1 - Math.max(0, t0));
    await selectSlice(model, lane.track.id, found.slices[0]?.i ?? 0, "keep zoom");
  } catch {
    await selectSlice(model, lane.track.id, 0, true);
  }
}

/** The slice one row up (-1) or down (1) at the selection's middle. */
export async function stepRow(model: TimelineModel, dir: 1 | -1): Promise<void> {
  const detail = model.detail.value;
  if (!detail) return selectFirst(model);
  const row = detail.row + dir;
  try {
    const found = await model.ds.at(detail.track, row, detail.begin, Math.max(1, detail.dur));
    const slice = found.slices[0];
    if (slice) await selectSlice(model, detail.track, slice.i, true);
    else model.spoken.value = t("tl.spoken.end");
  } catch {
    model.spoken.value = t("tl.spoken.end");
  }
}

/** Along the arrows: to the first target (1) or source (-1). */
export function followFlow(model: TimelineModel, dir: 1 | -1): void {
  const detail = model.detail.value;
  const end = dir > 0 ? detail?.flows_out[0] : detail?.flows_in[0];
  if (end) void selectSlice(model, end.track, end.i, true);
  else toast("info", t("tl.no_flow"));
}

export function goTo(model: TimelineModel, slice: Pick<SliceRef, "track" | "i">): void {
  void selectSlice(model, slice.track, slice.i, true);
}

function whole(area: Area | null): Area | null {
  return area && { ...area, t0: Math.round(area.t0), t1: Math.round(area.t1) };
}

/** Chooses an area; a second one goes with the first. */
export function setArea(model: TimelineModel, area: Area | null): void {
  model.area.value = whole(area);
  model.areaB.value = null;
  model.areaStats.value = null;
  if (area) model.showTab("area");
  model.invalidate();
}

/** The area that the first one is compared with; null ends the comparison. */
export function setAreaB(model: TimelineModel, area: Area | null): void {
  model.areaB.value = whole(area);
  if (area) model.showTab("area");
  model.invalidate();
}

export function swapAreas(model: TimelineModel): void {
  const { area, areaB } = model;
  [area.value, areaB.value] = [areaB.value, area.value];
  model.invalidate();
}

/** M: an area of the selected slice's time on its lane, or no area. */
export function areaFromSlice(model: TimelineModel): void {
  const detail = model.detail.value;
  if (model.area.value) setArea(model, null);
  else if (detail) setArea(model, { t0: detail.begin, t1: detail.begin + detail.dur, tracks: [detail.track] });
}
