// The right-click menu: only what makes sense where it was opened.
import { t } from "../i18n";
import { navigate } from "../state/router";
import { askRankNumber, setScope } from "../state/session";
import { LaneFlag, type Track } from "../state/tracks";
import type { MenuEntry } from "../widgets/menu";
import { copyText } from "../widgets/states";
import { align, askOffset, setBase } from "./aligning";
import { explainAt } from "./explaining";
import { saveSnapshot, saveTrace } from "./exporting";
import { groupRanks, hide, moveLane, neighbour, openAll, rename, setHeight, showAll, togglePin, togglePinByName, togglePinGroup, toggleSolo, unpinAll } from "./lane_actions";
import { isOfData, kHeights } from "./layout";
import { merge, mergeable, mergeableOf, split } from "./merging";
import type { Hover, TimelineModel } from "./model";
import { fit, undo, zoomToSelection } from "./moving";
import { dropQuery } from "./query_lanes";
import type { TimelineSearch } from "./searching";
import { goTo, selectSlice, setArea } from "./selecting";

/** Lets the browser's own picker choose a colour for a name. */
function askColor(model: TimelineModel, track: number, id: number, name: string): void {
  const input = document.createElement("input");
  input.type = "color";
  const lane = model.tree.byId.get(track);
  const now = lane ? model.names.color(model.family(lane), id) : 0;
  input.value = `#${[now, now >> 8, now >> 16].map((part) => (part & 255).toString(16).padStart(2, "0")).join("")}`;
  input.oninput = () => {
    model.names.setColor(name, input.value);
    model.invalidate();
  };
  input.click();
}

function sliceEntries(model: TimelineModel, hover: Hover, search: TimelineSearch): MenuEntry[] {
  const { run } = hover;
  if (!run) return [];
  const name = model.names.text(run.name) ?? "";
  const select = () => selectSlice(model, run.track, run.ord, false);
  return [
    { label: t("tl.menu.zoom_slice"), hint: "F", run: () => void select().then(() => zoomToSelection(model)) },
    { label: t("tl.menu.explain"), hint: "E", run: () => void explainAt(model, hover) },
    { label: t("tl.menu.find_same"), run: () => search.type(name) },
    ...(hover.track.flags & LaneFlag.commGroup ? [{ label: t("tl.menu.find_comm"), run: () => navigate("communication", { tab: "durations", op: name }) }] : []),
    { label: t("tl.menu.color"), run: () => askColor(model, run.track, run.name, name) },
    { label: t("tl.menu.copy_name"), run: () => void copyText(name) },
    { label: t("tl.menu.base"), hint: "B", run: () => void select().then(() => setBase(model)) },
    {
      label: t("tl.menu.align_left"),
      run: () => void align(model, { mode: "op", track: run.track, i: run.ord, side: "left" }),
    },
    {
      label: t("tl.menu.align_right"),
      run: () => void align(model, { mode: "op", track: run.track, i: run.ord, side: "right" }),
    },
    "-",
  ];
}

function linkEntries(model: TimelineModel): MenuEntry[] {
  const detail = model.detail.value;
  if (!detail) return [];
  const ends = [
    ...detail.flows_in.map((end) => ({ end, mark: "←" })),
    ...detail.flows_out.map((end) => ({ end, mark: "→" })),
  ];
  const entries: MenuEntry[] = ends
    .slice(0, 8)
    .map(({ end, mark }) => ({ label: `${mark} ${end.name}`, hint: end.kind, run: () => goTo(model, end) }));
  return entries.length > 0 ? [...entries, "-"] : [];
}

function mergeEntries(model: TimelineModel, track: Track): MenuEntry[] {
  if (track.parts) return [{ label: t("tl.menu.split"), run: () => split(model, track) }];
  const beside = mergeable(model, track);
  if (beside.length < 2) return [];
  return [{ label: t("tl.menu.merge", { n: beside.length }), run: () => void merge(model, beside) }];
}

function heightEntries(model: TimelineModel, track: Track): MenuEntry[] {
  if (track.kind !== "slices" || track.rows < 2) return [];
  return kHeights.map((height) => ({
    label: t(`tl.menu.height.${height}`),
    checked: model.lanes.value.heights.get(track.path) === height,
    run: () => setHeight(model, track, height),
  }));
}

function queryEntries(model: TimelineModel, track: Track): MenuEntry[] {
  const { query } = track;
  if (!query) return [];
  return [
    { label: t("tl.menu.edit_query"), run: () => navigate("sql", { sql: query.query }) },
    { label: t("tl.menu.drop_query"), run: () => dropQuery(model, query) },
  ];
}

function moveEntries(model: TimelineModel, track: Track): MenuEntry[] {
  return ([-1, 1] as const).map((dir) => {
    const other = neighbour(model, track, dir);
    return { label: t(dir < 0 ? "tl.menu.move_up" : "tl.menu.move_down"), disabled: !other, run: () => other && moveLane(model, track.path, other.path) };
  });
}

function rankEntries(model: TimelineModel, rank: number): MenuEntry[] {
  const meta = model.meta.ranks.find((each) => each.rank === rank);
  return [
    { label: t("tl.align.manual"), run: () => askOffset(model, rank) },
    ...(meta ? [{ label: t("rank.renumber"), run: () => askRankNumber(model.ds, meta) }] : []),
  ];
}

export function laneEntries(model: TimelineModel, hover: Pick<Hover, "track">): MenuEntry[] {
  const { track } = hover;
  if (!isOfData(track)) return [{ label: t("tl.group.none"), run: () => void groupRanks(model, null) }];
  const pinned = model.lanes.value.pinned.includes(track.path);
  const leaves = model.tree.leaves(track).map((leaf) => leaf.id);
  const events = () => {
    model.eventTracks.value = leaves;
    model.showTab("events");
  };
  return [
    { label: t("tl.menu.pin"), hint: "P", checked: pinned, run: () => togglePin(model, track) },
    { label: t("tl.menu.pin_name"), run: () => togglePinByName(model, track) },
    ...(track.kind === "slices" && track.flags & LaneFlag.commGroup ? [{ label: t("tl.menu.pin_group"), run: () => void togglePinGroup(model, track) }] : []),
    { label: t("tl.menu.unpin_all"), disabled: model.lanes.value.pinned.length === 0, run: () => unpinAll(model) },
    { label: t("tl.menu.hide"), hint: "H", run: () => hide(model, track) },
    {
      label: t("tl.menu.solo"),
      hint: "O",
      checked: model.lanes.value.solo === track.path,
      run: () => toggleSolo(model, track),
    },
    {
      label: t("tl.menu.show_all"),
      disabled: model.layout.hiddenCount === 0 && model.lanes.value.solo === "",
      run: () => showAll(model),
    },
    { label: t("tl.menu.events"), disabled: leaves.length === 0, run: events },
    {
      label: t("tl.menu.whole_lane"),
      disabled: leaves.length === 0,
      run: () => setArea(model, { t0: model.meta.extent[0], t1: model.meta.extent[1], tracks: leaves }),
    },
    ...queryEntries(model, track),
    ...mergeEntries(model, track),
    ...heightEntries(model, track),
    ...moveEntries(model, track),
    ...(track.kind === "rank" ? rankEntries(model, track.rank) : []),
    { label: t("tl.menu.rename"), run: () => rename(model, track) },
    { label: t("tl.menu.copy_path"), run: () => void copyText(track.path) },
  ];
}

function areaEntries(model: TimelineModel): MenuEntry[] {
  const area = model.area.value;
  if (!area) return [];
  const together = mergeableOf(model, area.tracks);
  return [
    { label: t("tl.menu.zoom_area"), hint: "Shift+Z", run: () => zoomToSelection(model) },
    { label: t("tl.menu.scope"), run: () => setScope({ range: [area.t0, area.t1] }) },
    ...(together.length > 0
      ? [{ label: t("tl.menu.merge", { n: together.length }), run: () => void merge(model, together) }]
      : []),
    { label: t("tl.menu.snapshot"), run: () => void saveSnapshot(model) },
    { label: t("tl.export.trace"), run: () => saveTrace(model) },
    "-",
  ];
}

export function contextEntries(model: TimelineModel, hover: Hover | null, search: TimelineSearch): MenuEntry[] {
  const gap: MenuEntry[] =
    hover && !hover.run && hover.track.kind === "slices"
      ? [{ label: t("tl.menu.explain_gap"), hint: "E", run: () => void explainAt(model, hover) }, "-"]
      : [];
  return [
    ...(hover ? sliceEntries(model, hover, search) : []),
    ...gap,
    ...linkEntries(model),
    ...areaEntries(model),
    ...(hover ? laneEntries(model, hover) : []),
    "-",
    { label: t("tl.menu.expand_all"), run: () => openAll(model, true) },
    { label: t("tl.menu.collapse_all"), run: () => openAll(model, false) },
    {
      label: t("tl.cmd.by_depth"),
      checked: model.byDepth.value,
      run: () => (model.byDepth.value = !model.byDepth.value),
    },
    { label: t("tl.cmd.undo"), hint: "Backspace", disabled: model.history.depth[0] === 0, run: () => undo(model) },
    { label: t("tl.cmd.fit"), hint: "Ctrl+0", run: () => fit(model) },
  ];
}
