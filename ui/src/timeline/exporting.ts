// Pictures, self-contained snapshots, view files.
import { t } from "../i18n";
import { readQueries, type SavedQuery, savedQueries, saveQuery } from "../state/saved_queries";
import type { Track, TrackTree } from "../state/tracks";
import { downloadBlob, downloadCanvas, downloadUrl } from "../widgets/download";
import { toast } from "../widgets/toast";
import { SvgContext } from "../charts/svg_context";
import { kAxisHeight, paintAxis } from "./axis";
import { BaseLayer, readColors } from "./base_layer";
import type { TimelineCanvas } from "./canvas";
import { laneTop } from "./bands";
import { fitText } from "./labels";
import { lanesIn } from "./layout";
import { linkState } from "./links";
import type { TimelineModel } from "./model";
import { type Planes, replay } from "./paint_list";
import type { TexelPlanes } from "./screen";
import { complain } from "./selecting";

/** Width of the lane names in pictures, css px. */
const kNames = 240;

/** Names of the lanes on screen, left of them; `g` is scaled to css px. */
function paintNames(g: CanvasRenderingContext2D, model: TimelineModel, ink: string): void {
  g.font = "12px system-ui, sans-serif";
  g.fillStyle = ink;
  g.textBaseline = "top";
  const lanes = [
    ...model.layout.pinned,
    ...lanesIn(model.layout.lanes, model.scrollY, model.scrollY + model.scrollHeight),
  ];
  for (const lane of lanes) {
    const y = laneTop(model, lane) + kAxisHeight;
    if (lane.height < 16 || (!lane.pinned && y < kAxisHeight + model.pinnedShown)) continue;
    const left = 8 + lane.level * 12;
    g.fillText(fitText((text) => g.measureText(text).width, model.shortName(lane.track), kNames - 8 - left), left, y + 4);
  }
}

/** What is on screen as an SVG file: text and lines as such, slices as the image of their lane. */
export function pictureSvg(model: TimelineModel): string {
  const colors = readColors();
  const svg = new SvgContext(model.width + kNames, model.height + kAxisHeight);
  const g = svg as unknown as CanvasRenderingContext2D;
  g.fillStyle = colors.panel;
  g.fillRect(0, 0, model.width + kNames, model.height + kAxisHeight);
  paintNames(g, model, colors.ink);
  svg.place(kNames, 0, 1);
  paintAxis(g, model, colors);
  svg.place(kNames, kAxisHeight, 1 / model.ratio);
  // A layer of its own: the one on screen counts on having seen every frame.
  const { frame } = new BaseLayer().draw(model, colors, () => undefined);
  if (frame.texels) replay(frame.calls, g, planesOf(frame.texels));
  return svg.text();
}

function planesOf({ width, rows, body, edge }: TexelPlanes): Planes {
  const paint = (pixels: Uint32Array) => {
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = rows;
    canvas.getContext("2d")?.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer as ArrayBuffer), width, rows), 0, 0);
    return canvas;
  };
  return { body: paint(body), edge: paint(edge) };
}

export function saveSvg(model: TimelineModel): void {
  downloadBlob("timeline.svg", new Blob([pictureSvg(model)], { type: "image/svg+xml" }));
}

/** What is on screen as one picture: lane names, axis, lanes. */
export function savePicture(model: TimelineModel, view: TimelineCanvas): void {
  const ratio = model.ratio;
  const picture = document.createElement("canvas");
  picture.width = Math.round((model.width + kNames) * ratio);
  picture.height = Math.round((model.height + kAxisHeight) * ratio);
  const g = picture.getContext("2d");
  if (!g) return;
  const style = getComputedStyle(document.documentElement);
  g.fillStyle = style.getPropertyValue("--panel");
  g.fillRect(0, 0, picture.width, picture.height);
  g.drawImage(view.surfaces.axis, kNames * ratio, 0);
  g.drawImage(view.surfaces.base, kNames * ratio, kAxisHeight * ratio);
  g.scale(ratio, ratio);
  paintNames(g, model, style.getPropertyValue("--ink"));
  downloadCanvas("timeline.png", picture);
}

/** The area, or what is on screen: times and lanes with data. */
function chosenPart(model: TimelineModel): { t0: number; t1: number; tracks: number[] } {
  const area = model.area.value;
  const shown = lanesIn(model.layout.lanes, model.scrollY, model.scrollY + model.scrollHeight);
  const onScreen = () => [...model.layout.pinned, ...shown].flatMap((lane) => model.tree.leaves(lane.track).map((leaf) => leaf.id));
  const tracks = area?.tracks.length ? area.tracks : [...new Set(onScreen())];
  return { t0: Math.max(0, Math.round(area?.t0 ?? model.view.t0)), t1: Math.round(area?.t1 ?? model.view.t1), tracks };
}

/** One HTML file of the area, or of what is on screen. */
export async function saveSnapshot(model: TimelineModel): Promise<void> {
  try {
    downloadBlob("snapshot.html", await model.ds.snapshot(chosenPart(model)));
  } catch (error) {
    complain(error);
  }
}

/** The same lanes in fewer words: a group whose lanes are all among them stands for them. */
export function fewestTracks(tree: Pick<TrackTree, "roots" | "leaves">, tracks: readonly number[]): number[] {
  const wanted = new Set(tracks);
  const cover = (track: Track): number[] => {
    if (track.children.length === 0) return wanted.has(track.id) ? [track.id] : [];
    const leaves = tree.leaves(track);
    return leaves.length > 0 && leaves.every((leaf) => wanted.has(leaf.id)) ? [track.id] : track.children.flatMap(cover);
  };
  return tree.roots.flatMap(cover);
}

/** The area, or what is on screen, as a Chrome trace for other tools. */
export function saveTrace(model: TimelineModel): void {
  const part = chosenPart(model);
  downloadUrl("trace.json", model.ds.traceUrl({ ...part, tracks: fewestTracks(model.tree, part.tracks) }));
}

/** The state as a small file that can be opened on this or a similar dataset. */
export function saveViewFile(model: TimelineModel): void {
  const state = {
    steplens: "view",
    dataset: model.meta.name,
    path: model.meta.path,
    state: linkState(model),
    markers: model.markers.list.value,
    queries: savedQueries.value,
  };
  downloadBlob(
    `${model.meta.name}.slview.json`,
    new Blob([JSON.stringify(state, null, 2)], { type: "application/json" }),
  );
}

/** Reads a view file; null if it is none. */
export function parseViewFile(text: string): { state: Record<string, string>; markers: unknown[]; queries: SavedQuery[] } | null {
  try {
    const file = JSON.parse(text) as { steplens?: unknown; state?: unknown; markers?: unknown; queries?: unknown };
    if (file.steplens !== "view" || typeof file.state !== "object" || file.state === null) return null;
    const state = Object.fromEntries(
      Object.entries(file.state).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
    );
    return { state, markers: Array.isArray(file.markers) ? file.markers : [], queries: readQueries(JSON.stringify(file.queries ?? [])) };
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
  for (const { name, query } of file.queries) saveQuery(name, query);
  apply(new Map(Object.entries(file.state)));
}
