// Moving ranks against each other. The server keeps the offsets; their id goes with every request.
import { t } from "../i18n";
import type { AlignQuery } from "../api_types";
import { noteState } from "../state/router";
import { toast } from "../widgets/toast";
import { signal } from "@preact/signals";
import type { TimelineModel } from "./model";
import { complain, selectSlice } from "./selecting";

/** Offset and uncertainty per rank, ns. */
export const offsets = signal<ReadonlyMap<number, { offset: number; residual: number | null }>>(new Map());

/** Takes over another alignment: everything on screen is asked for again. */
export function useAlignment(model: TimelineModel, id: number): void {
  if (model.ds.align === id) return;
  model.ds.align = id;
  model.cache.clear();
  model.loader.reset();
  noteState({ align: id === 0 ? null : String(id) });
  const selected = model.selected.value;
  if (selected) void selectSlice(model, selected.track, selected.i, false);
  model.invalidate();
}

export async function align(model: TimelineModel, query: AlignQuery): Promise<void> {
  try {
    const reply = await model.ds.setAlign(query);
    const found = new Map<number, { offset: number; residual: number | null }>();
    for (const [rank, offset] of Object.entries(reply.offsets))
      found.set(Number(rank), { offset, residual: reply.residual_ns?.[rank] ?? null });
    offsets.value = query.mode === "reset" ? new Map() : found;
    useAlignment(model, reply.align);
    const failed = Object.entries(reply.failed ?? {});
    if (failed.length > 0)
      toast("error", t("tl.align.failed", { ranks: failed.map(([rank]) => rank).join(", ") }), failed[0]?.[1] ?? "");
    else toast("ok", t(query.mode === "reset" ? "tl.align.reset_done" : "tl.align.done"));
  } catch (error) {
    complain(error);
  }
}

/** Moves the selected slice's rank so that its start (left) or end (right) meets the base slice's. */
export async function alignToBase(model: TimelineModel, side: "left" | "right"): Promise<void> {
  const base = model.base.value;
  const detail = model.detail.value;
  if (!base || !detail) return toast("info", t("tl.align.need_base"));
  if (base.rank === detail.rank) return toast("info", t("tl.align.same_rank"));
  const anchor = (slice: { begin: number; dur: number }) => (side === "left" ? slice.begin : slice.begin + slice.dur);
  const now = offsets.value.get(detail.rank)?.offset ?? 0;
  const all = Object.fromEntries([...offsets.value].map(([rank, each]) => [String(rank), each.offset]));
  // A positive offset moves a rank to the left.
  await align(model, {
    mode: "manual",
    offsets: { ...all, [String(detail.rank)]: Math.round(now + anchor(detail) - anchor(base)) },
  });
}

export function setBase(model: TimelineModel): void {
  const detail = model.detail.value;
  if (!detail) return;
  const same = model.base.value?.track === detail.track && model.base.value.i === detail.i;
  model.base.value = same
    ? null
    : { track: detail.track, i: detail.i, begin: detail.begin, dur: detail.dur, rank: detail.rank };
  model.invalidate();
}
