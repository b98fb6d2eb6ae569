// Pictures, self-contained snapshots, view files.
import { t } from "../i18n";
import { downloadBlob, downloadCanvas } from "../widgets/download";
import { toast } from "../widgets/toast";
import { kAxisHeight } from "./axis";
import type { TimelineCanvas } from "./canvas";
import { laneTop } from "./bands";
import { lanesIn } from "./layout";
import { linkState } from "./links";
import type { TimelineModel } from "./model";
import { complain } from "./selecting";

/** What is on screen as one picture: lane names, axis, lanes. */
export function savePicture(model: TimelineModel, view: TimelineCanvas): void {
  const names = 240;
  const ratio = model.ratio;
  const picture = document.createElement("canvas");
  picture.width = Math.round((model.width + names) * ratio);
  picture.height = Math.round((model.height + kAxisHeight) * ratio);
  const g = picture.getContext("2d");
  if (!g) return;
  const style = getComputedStyle(document.documentElement);
  g.fillStyle = style.getPropertyValue("--panel");
  g.fillRect(0, 0, picture.width, picture.height);
  g.drawImage(view.surfaces.axis, names * ratio, 0);
  g.drawImage(view.surfaces.base, names * ratio, kAxisHeight * ratio);
  g.scale(ratio, ratio);
  g.font = "12px system-ui, sans-serif";
  g.fillStyle = style.getPropertyValue("--ink");
  g.textBaseline = "top";
  const lanes = [
    ...model.layout.pinned,
    ...lanesIn(model.layout.lanes, model.scrollY, model.scrollY + model.scrollHeight),
  ];
  for (const lane of lanes) {
    const y = laneTop(model, lane) + kAxisHeight;
    if (lane.height >= 16 && (lane.pinned || y >= kAxisHeight + model.pinnedShown))
      g.fillText(model.shortName(lane.track), 8 + lane.level * 12, y + 4, names - 16 - lane.level * 12);
  }
  downloadCanvas("timeline.png", picture);
}

/** One HTML file of the area, or of what is on screen. */
export async function saveSnapshot(model: TimelineModel): Promise<void> {
  const area = model.area.value;
  const shown = lanesIn(model.layout.lanes, model.scrollY, model.scrollY + model.scrollHeight);
  const tracks = area?.tracks.length
    ? area.tracks
    : [
        ...new Set(
          [...model.layout.pinned, ...shown].flatMap((lane) => model.tree.leaves(lane.track).map((leaf) => leaf.id)),
        ),
      ];
  const t0 = Math.max(0, Math.round(area?.t0 ?? model.view.t0));
  const t1 = Math.round(area?.t1 ?? model.view.t1);
  try {
    downloadBlob("snapshot.html", await model.ds.snapshot({ t0, t1, tracks }));
  } catch (error) {
    complain(error);
  }
}

/** The state as a small file that can be opened on this or a similar dataset. */
export function saveViewFile(model: TimelineModel): void {
  const state = {
    steplens: "view",
    dataset: model.meta.name,
    path: model.meta.path,
    state: linkState(model),
    markers: model.markers.list.value,
  };
  downloadBlob(
    `${model.meta.name}.slview.json`,
    new Blob([JSON.stringify(state, null, 2)], { type: "application/json" }),
  );
}

/** Reads a view file; null if it is none. */
export function parseViewFile(text: string): { state: Record<string, string>; markers: unknown[] } | null {
  try {
    const file = JSON.parse(text) as { steplens?: unknown; state?: unknown; markers?: unknown };
    if (file.steplens !== "view" || typeof file.state !== "object" || file.state === null) return null;
    const state = Object.fromEntries(
      Object.entries(file.state).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
    );
    return { state, markers: Array.isArray(file.markers) ? file.markers : [] };
  } catch {
    return null;
  }
}

export function openViewFile(model: TimelineModel, apply: (state: ReadonlyMap<string, string>) => void): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".json";
  input.onchange = () => void applyViewFile(model, input.files?.[0], apply);
  input.click();
}

/** Shows what a view file says; a word about it if it is none. */
export async function applyViewFile(
  model: TimelineModel,
  chosen: File | undefined,
  apply: (state: ReadonlyMap<string, string>) => void,
): Promise<void> {
  if (!chosen) return;
  const file = parseViewFile(await chosen.text());
  if (!file) return toast("error", t("tl.view_file.bad"));
  model.markers.load(file.markers);
  apply(new Map(Object.entries(file.state)));
}
