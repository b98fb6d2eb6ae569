// Moving ranks against each other. The server keeps the offsets; their id goes with every request.
import { t } from "../i18n";
import type { AlignQuery, AlignReply } from "../api_types";
import { noteState } from "../state/router";
import { refreshMeta } from "../state/session";
import { parseDuration } from "../format";
import { askText } from "../widgets/dialog";
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
  // Steps are where the ranks are.
  void refreshMeta();
  const selected = model.selected.value;
  if (selected) void selectSlice(model, selected.track, selected.i, false);
  model.invalidate();
}

/** The offset a rank has now, ns. */
export function offsetOf(model: TimelineModel, rank: number): number {
  const own = model.meta.ranks.find((each) => each.rank === rank)?.offset_ns ?? 0;
  return offsets.peek().get(rank)?.offset ?? own;
}

/** Gives one rank an offset; the others keep theirs. */
export function moveRank(model: TimelineModel, rank: number, ns: number): Promise<void> {
  return align(model, { mode: "manual", offsets: { [String(rank)]: Math.round(ns) } });
}

export function askOffset(model: TimelineModel, rank: number): void {
  askText(t("tl.align.manual"), t("tl.align.manual_hint", { rank }), String(offsetOf(model, rank)), (text) => {
    const ns = parseDuration(text);
    if (ns === null) return toast("error", t("tl.align.bad_number", { text }));
    return void moveRank(model, rank, ns);
  });
}

/** The offsets of a link, "0:120|1:-5000"; "" if there are none. */
export function offsetsText(): string {
  return [...offsets.value].map(([rank, { offset }]) => `${rank}:${offset}`).join("|");
}

/** Takes over the offsets of a link. */
export async function restoreOffsets(model: TimelineModel, text: string): Promise<void> {
  const pairs = text.split("|").map((pair) => pair.split(":").map(Number));
  const known = new Set(model.meta.ranks.map((each) => each.rank));
  const wanted = pairs.filter(([rank, ns]) => known.has(rank ?? -1) && Number.isFinite(ns));
  if (wanted.length === 0) return;
  try {
    const reply = await model.ds.setAlign({ mode: "manual", offsets: Object.fromEntries(wanted) });
    noteOffsets(reply);
    useAlignment(model, reply.align);
  } catch (error) {
    complain(error);
  }
}

function noteOffsets(reply: AlignReply): void {
  const found = new Map<number, { offset: number; residual: number | null }>();
  for (const [rank, offset] of Object.entries(reply.offsets))
    found.set(Number(rank), { offset, residual: reply.residual_ns?.[rank] ?? null });
  offsets.value = found;
}

export async function align(model: TimelineModel, query: AlignQuery): Promise<void> {
  try {
    const reply = await model.ds.setAlign(query);
    if (query.mode === "reset") offsets.value = new Map();
    else noteOffsets(reply);
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
  // A positive offset moves a rank to the left.
  await moveRank(model, detail.rank, offsetOf(model, detail.rank) + anchor(detail) - anchor(base));
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
