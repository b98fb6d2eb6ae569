// Arrangements of lanes that the user keeps. Paths are kept without the rank, so that they fit other datasets.
import { t } from "../i18n";
import type { TrackTree } from "../state/tracks";
import { askText } from "../widgets/dialog";
import type { MenuEntry } from "../widgets/menu";
import { kHeights, type LaneHeight, type LaneState } from "./layout";
import type { TimelineModel } from "./model";

const kStored = "steplens.presets";

/** Paths begin with "r*" instead of a rank. */
export interface OwnPreset {
  name: string;
  pinned: string[];
  hidden: string[];
  opened: string[];
  closed: string[];
  heights: [string, LaneHeight][];
  filter: string;
}

const pattern = (path: string) => path.replace(/^r\d+/, "r*");
const patterns = (paths: Iterable<string>) => [...new Set([...paths].map(pattern))];

/** The lanes a pattern means in this dataset. */
function paths(tree: TrackTree, wanted: readonly string[]): string[] {
  return wanted.flatMap((each) =>
    tree.roots.map((root) => each.replace(/^r\*/, root.path)).filter((path) => tree.byPath.has(path)),
  );
}

export function makePreset(name: string, lanes: LaneState, filter: string): OwnPreset {
  return {
    name,
    pinned: patterns(lanes.pinned),
    hidden: patterns(lanes.hidden),
    opened: patterns(lanes.opened),
    closed: patterns(lanes.closed),
    heights: [...new Map([...lanes.heights].map(([path, height]) => [pattern(path), height]))],
    filter,
  };
}

/** What a preset makes of the lanes of a dataset. */
export function presetLanes(tree: TrackTree, preset: OwnPreset): Partial<LaneState> {
  return {
    pinned: [...new Set(paths(tree, preset.pinned))],
    hidden: new Set(paths(tree, preset.hidden)),
    opened: new Set(paths(tree, preset.opened)),
    closed: new Set(paths(tree, preset.closed)),
    heights: new Map(
      preset.heights.flatMap(([each, height]) =>
        paths(tree, [each]).map((path): [string, LaneHeight] => [path, height]),
      ),
    ),
    solo: "",
  };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

/** Presets of a stored text; what is not one is left out. */
export function readPresets(text: string | null): OwnPreset[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return (Array.isArray(found) ? found : []).flatMap((each: Partial<OwnPreset>) => {
      const lists = [each.pinned, each.hidden, each.opened, each.closed];
      if (typeof each.name !== "string" || !lists.every(isTexts)) return [];
      const heights = (Array.isArray(each.heights) ? each.heights : []).filter(
        (pair) => Array.isArray(pair) && typeof pair[0] === "string" && kHeights.includes(pair[1]),
      );
      return [{ ...each, heights, filter: String(each.filter ?? "") } as OwnPreset];
    });
  } catch {
    return [];
  }
}

function keep(presets: OwnPreset[]): void {
  localStorage.setItem(kStored, JSON.stringify(presets));
}

function save(model: TimelineModel): void {
  askText(t("tl.preset.save"), t("tl.preset.name"), "", (text) => {
    const name = text.trim();
    if (name === "") return;
    const rest = readPresets(localStorage.getItem(kStored)).filter((each) => each.name !== name);
    keep([...rest, makePreset(name, model.lanes.value, model.laneFilterText.value)]);
  });
}

function apply(model: TimelineModel, preset: OwnPreset): void {
  model.setLaneFilter(preset.filter);
  model.arrange(presetLanes(model.tree, preset));
}

export function ownPresetEntries(model: TimelineModel): MenuEntry[] {
  const all = readPresets(localStorage.getItem(kStored));
  return [
    ...all.map((preset): MenuEntry => ({ label: preset.name, run: () => apply(model, preset) })),
    { label: t("tl.preset.save"), run: () => save(model) },
    ...all.map(
      (preset): MenuEntry => ({
        label: t("tl.preset.delete", { name: preset.name }),
        run: () => keep(all.filter((each) => each !== preset)),
      }),
    ),
  ];
}
