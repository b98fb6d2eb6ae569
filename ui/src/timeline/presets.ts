// Lane layouts for common questions. They go by what lanes are, so they fit every dataset.
import { LaneFlag, type Track } from "../state/tracks";
import type { TimelineModel } from "./model";

export interface Preset {
  title: string;
  apply(model: TimelineModel): void;
}

function topGroups(model: TimelineModel): Track[] {
  return model.tree.roots.flatMap((root) => root.children);
}

/** Shows only the groups that pass, opened. */
function only(model: TimelineModel, keep: (group: Track) => boolean): void {
  const groups = topGroups(model);
  const kept = groups.filter(keep);
  if (kept.length === 0) return;
  model.setLaneFilter("");
  model.arrange({
    hidden: new Set(groups.filter((group) => !keep(group)).map((group) => group.path)),
    opened: new Set([...model.tree.roots.slice(0, 64), ...kept].map((track) => track.path)),
    closed: new Set(),
    solo: "",
  });
}

/** The groups' lanes of every rank; their planes, often dozens, stay away. Without groups all communication lanes. */
function communication(model: TimelineModel): void {
  only(model, has(LaneFlag.commGroup | LaneFlag.commPlane, /communication|hccl|nccl/i));
  if (model.tree.all.some((track) => /^Group .*Communication$/.test(track.name)))
    model.setLaneFilter("/Group .*Communication$/");
}

const has = (bits: number, name: RegExp) => (group: Track) => (group.flags & bits) !== 0 || name.test(group.name);

export const presets: Preset[] = [
  {
    title: "tl.preset.default",
    apply: (model) => (
      model.setLaneFilter(""),
      model.arrange({ hidden: new Set(), opened: new Set(), closed: new Set(), solo: "" })
    ),
  },
  { title: "tl.preset.comm", apply: communication },
  { title: "tl.preset.hardware", apply: (model) => only(model, (group) => /hardware|gpu|stream/i.test(group.name)) },
  {
    title: "tl.preset.host",
    apply: (model) =>
      only(
        model,
        (group) =>
          (group.flags & (LaneFlag.host | LaneFlag.cann)) !== 0 || /python|cann|hardware|gpu/i.test(group.name),
      ),
  },
  { title: "tl.preset.memory", apply: (model) => only(model, has(LaneFlag.memory, /memory|counters|metrics/i)) },
];
