// The timeline's commands; the keys written here are those of the Insight set, key_presets.ts has the others. WASD go by physical key, whatever the layout.
import type { Command } from "../state/commands";
import { alignToBase, setBase } from "./aligning";
import { explainHere } from "./explaining";
import { keyPreset, keysFor, toggleKeyPreset } from "./key_presets";
import { hide, toggleAll, toggleOpen, togglePin, toggleSolo } from "./lane_actions";
import { isOfData } from "./layout";
import type { TimelineModel } from "./model";
import { fit, goStep, panShare, redo, undo, zoom, zoomToSelection } from "./moving";
import type { TimelineSearch } from "./searching";
import { areaFromSlice, clearSelection, followFlow, step, stepRow } from "./selecting";
import type { Track } from "../state/tracks";

export interface KeyTargets {
  model: TimelineModel;
  search: TimelineSearch;
  focusSearch(): void;
  focusFilter(): void;
}

/** A region of the area, of the selected slice, else a point under the pointer. */
export function mark(model: TimelineModel): void {
  const area = model.area.value;
  const detail = model.detail.value;
  const hover = model.hover.value;
  if (area) model.markers.add(area.t0, area.t1);
  else if (hover) model.markers.add(hover.t, hover.t);
  else if (detail) model.markers.add(detail.begin, detail.begin + detail.dur);
  model.invalidate();
}

export function timelineCommands({ model, search, focusSearch, focusFilter }: KeyTargets): Command[] {
  const lane = (act: (model: TimelineModel, track: Track) => void) => () => {
    const track = model.hover.value?.track ?? model.tree.byId.get(model.selected.value?.track ?? 0);
    if (track && (isOfData(track) || act === toggleOpen)) act(model, track);
  };
  const command = (id: string, keys: string[], run: () => void): Command => ({
    id: `tl.${id}`,
    title: `tl.cmd.${id}`,
    keys: keysFor(keyPreset.value, id, keys),
    run,
  });
  return [
    command("zoom_in", ["code:KeyW"], () => zoom(model, 0.7)),
    command("zoom_out", ["code:KeyS"], () => zoom(model, 1 / 0.7)),
    command("left", ["code:KeyA", "ArrowLeft"], () => panShare(model, -0.12)),
    command("right", ["code:KeyD", "ArrowRight"], () => panShare(model, 0.12)),
    command("up", ["ArrowUp"], () => model.setScroll(model.scrollY - 60)),
    command("down", ["ArrowDown"], () => model.setScroll(model.scrollY + 60)),
    command("fit", ["Ctrl+0", "Home"], () => fit(model)),
    command("undo", ["Backspace"], () => undo(model)),
    command("redo", ["Shift+Backspace"], () => redo(model)),
    command("zoom_selection", ["Shift+Z", "F"], () => zoomToSelection(model)),
    command("range", ["M"], () => areaFromSlice(model)),
    command("marker", ["K"], () => mark(model)),
    command("set_base", ["B"], () => setBase(model)),
    command("align_left", ["L"], () => void alignToBase(model, "left")),
    command("align_right", ["R"], () => void alignToBase(model, "right")),
    command("next", ["."], () => void step(model, 1, "row")),
    command("previous", [","], () => void step(model, -1, "row")),
    command("row_up", ["Shift+ArrowUp"], () => void stepRow(model, -1)),
    command("row_down", ["Shift+ArrowDown"], () => void stepRow(model, 1)),
    command("next_same", ["]"], () => void step(model, 1, "name")),
    command("previous_same", ["["], () => void step(model, -1, "name")),
    command("flow_forward", ["Ctrl+]"], () => followFlow(model, 1)),
    command("flow_back", ["Ctrl+["], () => followFlow(model, -1)),
    command("search", ["/", "Ctrl+F"], focusSearch),
    command("search_next", ["F3"], () => void search.go(1)),
    command("search_previous", ["Shift+F3"], () => void search.go(-1)),
    command("filter", ["Ctrl+L"], focusFilter),
    command("panel", ["Q"], () => model.togglePanel()),
    command("pin", ["P"], lane(togglePin)),
    command("hide", ["H"], lane(hide)),
    // The lanes move when one is alone, so the second press takes back whatever is under the pointer now.
    command("solo", ["O"], () => (model.lanes.value.solo ? model.arrange({ solo: "" }) : lane(toggleSolo)())),
    command("explain", ["E"], () => explainHere(model)),
    command("expand", ["X"], lane(toggleOpen)),
    command("expand_all", ["Shift+X"], () => toggleAll(model)),
    command("next_step", ["N"], () => goStep(model, 1)),
    command("previous_step", ["Shift+N"], () => goStep(model, -1)),
    command("by_depth", [], () => (model.byDepth.value = !model.byDepth.value)),
    command("keys", [], toggleKeyPreset),
    command("clear", ["Escape"], () => clearSelection(model)),
  ];
}
