// The state of the timeline as parameters of the address. Lanes go by path, so that links survive a new import.
import { offsetsText, restoreOffsets } from "./aligning";
import { explainSelected } from "./explaining";
import { kGroupings, kHeights, type LaneHeight, type RankGrouping } from "./layout";
import { restoreMerged } from "./merging";
import { restoreQueries } from "./query_lanes";
import { readFilterColors, rulesText } from "./filter_colors";
import { groupRanks, showStrips } from "./lane_actions";
import { type Area, kTabs, type Tab, type TimelineModel } from "./model";
import { openParents, revealTrack } from "./moving";
import { selectSlice, setArea, setAreaB } from "./selecting";
import type { TimelineSearch } from "./searching";
import { type Coloring, colorings } from "./shading";
import { homeView, sameView, viewAround } from "./view";
import { t } from "../i18n";
import { laneQueries, queriesText } from "../state/query_lanes";
import { toast } from "../widgets/toast";

const kManyTracks = 40;

function pathOf(model: TimelineModel, track: number): string {
  return model.tree.byId.get(track)?.path ?? `~${track}`;
}

/** "r0/hw/stream2/123" or "~7/123" (track by id) -> track and ordinal. */
export function parseSlice(model: Pick<TimelineModel, "tree">, text: string): { track: number; i: number } | null {
  const at = text.lastIndexOf("/");
  const i = Number(text.slice(at + 1));
  const lane = text.slice(0, at);
  if (at <= 0 || !Number.isInteger(i) || i < 0) return null;
  const track = lane.startsWith("~") ? model.tree.byId.get(Number(lane.slice(1))) : model.tree.byPath.get(lane);
  return track ? { track: track.id, i } : null;
}

/** The parameters linkState() speaks of. */
export const kLinkKeys = [
  ...["t", "sel", "area", "area2", "pins", "hide", "solo", "open", "close", "filter", "merge", "names", "flows", "sqllanes"],
  ...["heights", "moved", "offsets", "color", "rules", "strip", "group"],
  ...["q", "others", "tab", "v"],
];

function areaText(model: TimelineModel, area: Area | null): string {
  return area ? [area.t0, area.t1, ...area.tracks.slice(0, kManyTracks).map((id) => pathOf(model, id))].join("|") : "";
}

/** What the address should say; empty strings are left out. */
export function linkState(model: TimelineModel, search?: TimelineSearch): Record<string, string> {
  const { view } = model;
  const selected = model.selected.value;
  const lanes = model.lanes.value;
  return {
    // With a selection the view is always named: a link without one zooms to the slice.
    t: sameView(view, homeView(model.meta)) && !selected ? "" : `${Math.round(view.t0)},${Math.round(view.t1)}`,
    sel: selected ? `${pathOf(model, selected.track)}/${selected.i}` : "",
    area: areaText(model, model.area.value),
    area2: areaText(model, model.areaB.value),
    pins: lanes.pinned.join("|"),
    hide: [...lanes.hidden].join("|"),
    solo: lanes.solo,
    open: [...lanes.opened].slice(0, kManyTracks).join("|"),
    close: [...lanes.closed].slice(0, kManyTracks).join("|"),
    filter: model.laneFilterText.value,
    merge: [...new Set([...lanes.merged.values()].map((lane) => lane.path))].join("|"),
    names: [...lanes.names].map(([path, name]) => `${path}=${encodeURIComponent(name)}`).join("|"),
    moved: [...lanes.moved].map(([parent, paths]) => [parent, ...paths].join(">")).join("|"),
    heights: [...lanes.heights].map(([path, height]) => `${path}=${height}`).join("|"),
    offsets: offsetsText(),
    color: model.coloring.value === "family" ? "" : model.coloring.value,
    rules: model.coloring.value === "rules" ? rulesText(model.shading.rules.value) : "",
    strip: model.stripMetric.value === "Computing" ? "" : model.stripMetric.value,
    group: lanes.groups?.by ?? "",
    flows: model.flowCats.value.join("|"),
    sqllanes: queriesText(laneQueries.value),
    q: search?.text.value ?? "",
    others: search?.hide.value ? "hide" : "",
    tab: model.tab.value === "selection" ? "" : model.tab.value,
  };
}

/** Longer states are kept by the server; the address names them. */
const kLongState = 1500;

/** The state, or a short one that stands for it if it is too long for an address. */
export async function shortState(model: TimelineModel, state: Record<string, string>): Promise<Record<string, string>> {
  if (Object.values(state).join("").length <= kLongState) return state;
  try {
    const { id } = await model.ds.saveView(state);
    return { v: id, t: state["t"] ?? "", sel: state["sel"] ?? "" };
  } catch {
    return state; // A long address is better than none.
  }
}

/** The parameters of an address with what the server keeps for it. */
export async function longState(
  model: TimelineModel,
  params: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const id = params.get("v");
  if (!id) return params;
  try {
    const kept = (await model.ds.loadView(id)) as Record<string, unknown>;
    const texts = Object.entries(kept).filter((pair): pair is [string, string] => typeof pair[1] === "string");
    return new Map([...texts, ...params]);
  } catch {
    toast("error", t("tl.link.gone"));
    return params;
  }
}

function list(text: string | undefined): string[] {
  return text ? text.split("|") : [];
}

function readArea(model: TimelineModel, text: string | undefined): Area | null {
  const [t0, t1, ...paths] = list(text);
  const tracks = paths.flatMap((path) => model.tree.byPath.get(path)?.id ?? []);
  return Number(t1) > Number(t0) ? { t0: Number(t0), t1: Number(t1), tracks } : null;
}

function applyAreas(model: TimelineModel, params: ReadonlyMap<string, string>): void {
  const [area, second] = [readArea(model, params.get("area")), readArea(model, params.get("area2"))];
  if (area) setArea(model, area);
  if (area && second) setAreaB(model, second);
}

/** "path=name|..." with names percent-encoded. */
function readNames(text: string | undefined): Map<string, string> {
  const names = new Map<string, string>();
  for (const pair of list(text)) {
    const at = pair.lastIndexOf("=");
    try {
      if (at > 0) names.set(pair.slice(0, at), decodeURIComponent(pair.slice(at + 1)));
    } catch {
      // Not ours; the lane keeps its own name.
    }
  }
  return names;
}

/** "parent>child>child|..." */
function readMoved(text: string | undefined): Map<string, string[]> {
  return new Map(list(text).map((entry): [string, string[]] => {
    const [parent = "", ...paths] = entry.split(">");
    return [parent, paths];
  }));
}

function readHeights(text: string | undefined): Map<string, LaneHeight> {
  const pairs = list(text).map((pair): [string, LaneHeight] => {
    const at = pair.lastIndexOf("=");
    return [pair.slice(0, at), pair.slice(at + 1) as LaneHeight];
  });
  return new Map(pairs.filter(([path, height]) => path !== "" && kHeights.includes(height)));
}

/** Brings the timeline into the state of an address. What no longer exists is left out. */
export async function applyLink(
  model: TimelineModel,
  search: TimelineSearch,
  params: ReadonlyMap<string, string>,
): Promise<void> {
  // Merged lanes and those of queries first: pins and areas may be on them.
  await restoreQueries(model, params.get("sqllanes") ?? "");
  await restoreMerged(model, list(params.get("merge")));
  const known = (text: string | undefined) => list(text).filter((path) => model.tree.byPath.has(path));
  model.changeLanes({
    pinned: known(params.get("pins")),
    hidden: new Set(known(params.get("hide"))),
    opened: new Set(known(params.get("open"))),
    closed: new Set(known(params.get("close"))),
    solo: known(params.get("solo"))[0] ?? "",
    names: readNames(params.get("names")),
    heights: readHeights(params.get("heights")),
    moved: readMoved(params.get("moved")),
  });
  const offsets = params.get("offsets") ?? "";
  if (offsets !== "" && offsets !== offsetsText()) await restoreOffsets(model, offsets);
  model.flowCats.value = list(params.get("flows"));
  const color = (params.get("color") ?? "family") as Coloring;
  const rules = readFilterColors(params.get("rules") ?? null);
  if (color === "rules" && rules.length > 0 && rulesText(rules) !== rulesText(model.shading.rules.value)) model.setRules(rules);
  else if (color !== model.coloring.value && colorings.includes(color)) model.setColoring(color);
  const strip = params.get("strip") ?? "Computing";
  if (strip !== model.stripMetric.value) void showStrips(model, strip);
  const group = params.get("group") as RankGrouping | undefined;
  if (group && group !== model.lanes.value.groups?.by && kGroupings.includes(group)) void groupRanks(model, group);
  model.setLaneFilter(params.get("filter") ?? "");
  const [t0, t1] = (params.get("t") ?? "").split(",").map(Number);
  const hasView = t0 !== undefined && t1 !== undefined && t1 > t0;
  if (hasView) model.setView({ t0, t1 }, false);
  applyAreas(model, params);
  search.hide.value = params.get("others") === "hide";
  const q = params.get("q") ?? "";
  if (q !== search.text.value) search.type(q);
  const selected = parseSlice(model, params.get("sel") ?? "");
  if (selected) {
    openParents(model, selected.track);
    void selectSlice(model, selected.track, selected.i, !hasView).then(() => {
      if (params.get("tab") === "explain") explainSelected(model);
    });
  }
  const lane = model.tree.byPath.get(params.get("lane") ?? "");
  if (lane) revealTrack(model, lane.id);
  const tab = params.get("tab") as Tab | undefined;
  if (tab && kTabs.includes(tab)) model.showTab(tab);
  const range = params.get("range")?.split(",").map(Number);
  if (!hasView && !selected && range?.length === 2 && range[1]! > range[0]!)
    model.setView(viewAround(range[0]!, range[1]!, 0.02), false);
}
