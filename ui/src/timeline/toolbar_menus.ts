// The drop-down menus of the toolbar.
import type { SearchMode } from "../api_types";
import { formatDuration, formatInt, middleEllipsis } from "../format";
import { hasMessage, t } from "../i18n";
import { type MenuEntry, openMenuAt } from "../widgets/menu";
import { copyText } from "../widgets/states";
import { toast } from "../widgets/toast";
import { align, askOffset } from "./aligning";
import type { TimelineCanvas } from "./canvas";
import { openViewFile, savePicture, saveSnapshot, saveSvg, saveTrace, saveViewFile } from "./exporting";
import { keyPreset, toggleKeyPreset } from "./key_presets";
import { type LaneStats, laneStatsWanted } from "./lane_stats";
import { groupRanks, openAll, showAll, showStrips, sortRanks, unpinAll } from "./lane_actions";
import { kGroupings } from "./layout";
import { editMarker } from "./marker_dialog";
import type { TimelineModel } from "./model";
import { ownPresetEntries } from "./own_presets";
import { presets } from "./presets";
import { editRules } from "./rule_dialog";
import { colorings } from "./shading";
import type { SearchScope, TimelineSearch } from "./searching";
import { viewAround } from "./view";

/** What the menu of rare things needs. */
export interface MoreMenu {
  model: TimelineModel;
  canvas: () => TimelineCanvas | null;
  laneStats: () => LaneStats | null;
  /** A view file was opened: its state as parameters of an address. */
  onView(state: ReadonlyMap<string, string>): void;
}

const kModes: SearchMode[] = ["contains", "case", "whole", "exact", "regex"];
const kScopes: SearchScope[] = ["all", "rank", "pinned", "area"];

export function searchMenu(anchor: Element, model: TimelineModel, search: TimelineSearch): void {
  const pick =
    <V>(target: { value: V }, value: V) =>
    () => {
      target.value = value;
      search.changed();
    };
  openMenuAt(anchor, [
    ...kModes.map((mode): MenuEntry => ({
      label: t(`tl.search.${mode}`),
      checked: search.mode.value === mode,
      run: pick(search.mode, mode),
    })),
    "-",
    ...kScopes.map((scope): MenuEntry => ({
      label: t(`tl.search.scope.${scope}`),
      checked: search.scope.value === scope,
      run: pick(search.scope, scope),
    })),
    "-",
    { label: t("tl.search.dim"), checked: search.dim.value, run: pick(search.dim, !search.dim.value) },
    { label: t("tl.search.hide"), checked: search.hide.value, run: pick(search.hide, !search.hide.value) },
    { label: t("tl.search.list"), run: () => model.showTab("search") },
  ]);
}

export async function flowMenu(anchor: Element, model: TimelineModel): Promise<void> {
  let cats: { name: string; count: number }[] = [];
  try {
    const tracks = model.tree.all.filter((track) => track.kind === "slices").map((track) => track.id);
    cats = (
      await model.ds.flows({
        cats: [],
        tracks: tracks.slice(0, 2000),
        t0: model.meta.extent[0],
        t1: model.meta.extent[1],
        max: 1,
      })
    ).cats;
  } catch (error) {
    return toast("error", error instanceof Error ? error.message : String(error));
  }
  const chosen = model.flowCats.value;
  const toggle = (name: string) => () => {
    model.flowCats.value = chosen.includes(name)
      ? chosen.filter((each) => each !== name)
      : [...chosen, name].slice(-10);
    model.invalidate();
  };
  openMenuAt(
    anchor,
    cats.length > 0
      ? cats.map((cat) => ({
          label: hasMessage(`tl.flow.${cat.name}`) ? t(`tl.flow.${cat.name}`) : cat.name,
          hint: formatInt(cat.count),
          checked: chosen.includes(cat.name),
          run: toggle(cat.name),
        }))
      : [{ label: t("tl.flows.none"), disabled: true }],
  );
}

export function alignMenu(anchor: Element, model: TimelineModel): void {
  const selected = model.selected.value;
  const op = (side: "left" | "right") => () => selected && void align(model, { mode: "op", ...selected, side });
  const manual = () => askOffset(model, model.detail.value?.rank ?? model.meta.ranks[0]?.rank ?? 0);
  openMenuAt(anchor, [
    { label: t("tl.align.auto"), run: () => void align(model, { mode: "auto" }) },
    { label: t("tl.menu.align_left"), disabled: !selected, run: op("left") },
    { label: t("tl.menu.align_right"), disabled: !selected, run: op("right") },
    { label: t("tl.align.manual"), run: manual },
    { label: t("tl.align.reset"), run: () => void align(model, { mode: "reset" }) },
  ]);
}

export function markerMenu(anchor: Element, model: TimelineModel): void {
  const { markers } = model;
  const entries: MenuEntry[] = markers.list.value.map((marker) => ({
    label: marker.name,
    hint: [formatDuration(marker.t0), middleEllipsis(marker.note ?? "", 40)].filter((part) => part !== "").join(" · "),
    run: () =>
      model.setView(
        marker.t1 > marker.t0
          ? viewAround(marker.t0, marker.t1, 0.1)
          : {
              t0: marker.t0 - (model.view.t1 - model.view.t0) / 2,
              t1: marker.t0 + (model.view.t1 - model.view.t0) / 2,
            },
      ),
  }));
  const edit: MenuEntry[] = markers.list.value.map((marker) => ({
    label: t("tl.marker.edit", { name: marker.name }),
    run: () => editMarker(marker, markers, () => model.invalidate()),
  }));
  const clear = () => {
    markers.clear();
    model.invalidate();
  };
  openMenuAt(
    anchor,
    entries.length === 0
      ? [{ label: t("tl.marker.none"), disabled: true }]
      : [...entries, "-", ...edit, "-", { label: t("tl.marker.clear"), run: clear }],
  );
}

const kStripMetrics = ["busy", "Computing", "Communication", "Communication(Not Overlapped)", "Wait", "Free", "Memory"];

const stripName = (metric: string): string => (hasMessage(`tl.strip.${metric}`) ? t(`tl.strip.${metric}`) : metric);

/** What ranks that are closed show, in which order and groups they come, and how they are aligned. */
export function ranksMenu(anchor: Element, model: TimelineModel): void {
  const metric = stripName(model.stripMetric.value);
  openMenuAt(anchor, [
    ...kStripMetrics.map((each): MenuEntry => ({
      label: t("tl.strip", { metric: stripName(each) }),
      checked: model.stripMetric.value === each,
      run: () => void showStrips(model, each),
    })),
    "-",
    { label: t("tl.sort.metric", { metric }), run: () => void sortRanks(model, true) },
    { label: t("tl.sort.number"), checked: model.lanes.value.order === null, run: () => void sortRanks(model, false) },
    "-",
    ...[null, ...kGroupings].map((by): MenuEntry => ({
      label: t(`tl.group.${by ?? "none"}`),
      checked: (model.lanes.value.groups?.by ?? null) === by,
      run: () => void groupRanks(model, by),
    })),
  ]);
}

/** What slices are coloured by. */
export function colorMenu(anchor: Element, model: TimelineModel): void {
  const clear = () => {
    model.names.clearColors();
    model.invalidate();
  };
  openMenuAt(anchor, [
    ...colorings.map((coloring): MenuEntry => ({
      label: t(`tl.color.${coloring}`),
      checked: model.coloring.value === coloring,
      disabled: coloring === "rules" && model.shading.rules.value.length === 0,
      run: () => model.setColoring(coloring),
    })),
    "-",
    { label: t("tl.rules.edit"), run: () => editRules(model) },
    { label: t("tl.color.clear", { n: model.names.ownColors }), disabled: model.names.ownColors === 0, run: clear },
  ]);
}

export function moreMenu(anchor: Element, props: MoreMenu): void {
  const { model } = props;
  openMenuAt(anchor, [
    ...presets.map((preset): MenuEntry => ({ label: t(preset.title), run: () => preset.apply(model) })),
    ...ownPresetEntries(model),
    { label: t("tl.menu.expand_all"), run: () => openAll(model, true) },
    { label: t("tl.menu.collapse_all"), run: () => openAll(model, false) },
    {
      label: t("tl.menu.show_all"),
      disabled: model.layout.hiddenCount === 0 && !model.lanes.value.solo,
      run: () => showAll(model),
    },
    { label: t("tl.menu.unpin_all"), disabled: model.lanes.value.pinned.length === 0, run: () => unpinAll(model) },
    "-",
    { label: t("tl.lane_stats"), checked: laneStatsWanted.value, run: () => props.laneStats()?.toggle() },
    { label: t("tl.keys.perfetto"), checked: keyPreset.value === "perfetto", run: toggleKeyPreset },
    "-",
    { label: t("tl.export.link"), run: () => void copyText(location.href) },
    { label: t("tl.export.png"), run: () => ((view) => view && savePicture(model, view))(props.canvas()) },
    { label: t("chart.svg"), run: () => saveSvg(model) },
    { label: t("tl.menu.snapshot"), run: () => void saveSnapshot(model) },
    { label: t("tl.export.trace"), run: () => saveTrace(model) },
    { label: t("tl.export.view"), run: () => saveViewFile(model) },
    { label: t("tl.export.open_view"), run: () => openViewFile(model, props.onView) },
  ]);
}
