// E: why is there a gap, what does this collective wait for, why is this slice slow. The server answers; the card shows it.
import { signal } from "@preact/signals";
import type { ExplainQuery, ExplainReply, Wording } from "../api_types";
import { wordingText } from "../i18n";
import { LaneFlag, type Track } from "../state/tracks";
import type { Hover, TimelineModel } from "./model";
import { complain } from "./selecting";

export const explanation = signal<ExplainReply | null>(null);
export const explainBusy = signal(false);

/** Words in the user's language. */
export function word(text: Wording | string, key?: string, args?: Wording["args"]): string {
  return typeof text === "string" ? wordingText({ text, ...(key ? { key } : {}), ...(args ? { args } : {}) }) : wordingText(text);
}

async function ask(model: TimelineModel, query: ExplainQuery): Promise<void> {
  explainBusy.value = true;
  explanation.value = null;
  model.showTab("explain");
  try {
    explanation.value = await model.ds.explain(query);
  } catch (error) {
    complain(error);
  } finally {
    explainBusy.value = false;
  }
}

/** Collectives are explained by who came last; their tasks on planes and all else by comparison with their like. */
function kindOf(model: TimelineModel, track: Track, name: string): "wait" | "slice" {
  if (track.flags & (LaneFlag.commPlane | LaneFlag.host | LaneFlag.cann)) return "slice";
  if (track.flags & LaneFlag.commGroup || /nccl/i.test(name)) return "wait";
  return track.flags === 0 && model.family(track) === "comm" ? "wait" : "slice";
}

/** The slice or gap under the pointer. */
export async function explainAt(model: TimelineModel, hover: Hover): Promise<void> {
  if (!hover.run) return ask(model, { kind: "gap", track: hover.track.id, t: Math.round(hover.t) });
  const name = model.names.text(hover.run.name) ?? "";
  return ask(model, { kind: kindOf(model, hover.track, name), track: hover.run.track, i: hover.run.ord });
}

/** The key: what is under the pointer, else the selection. */
export function explainHere(model: TimelineModel): void {
  const hover = model.hover.value;
  if (hover && (hover.run || hover.track.kind === "slices")) return void explainAt(model, hover);
  explainSelected(model);
}

/** The slice that is selected and known. */
export function explainSelected(model: TimelineModel): void {
  const detail = model.detail.value;
  const track = detail && model.tree.byId.get(detail.track);
  if (track) void ask(model, { kind: kindOf(model, track, detail.name), track: detail.track, i: detail.i });
}
