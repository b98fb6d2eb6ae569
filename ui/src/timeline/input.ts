// Mouse and wheel on the canvas: select, drag an area, pan, zoom.
import { openMenu } from "../widgets/menu";
import { laneTop, laneUnder, rowUnder } from "./bands";
import type { TimelineCanvas } from "./canvas";
import { contextEntries } from "./context_menu";
import { hitRow } from "./hit";
import type { Hover, TimelineModel } from "./model";
import { fit, panPixels, zoom, zoomToSelection } from "./moving";
import { counterAt, stripValue } from "./probe";
import type { TimelineSearch } from "./searching";
import { clearSelection, selectSlice, setArea, setAreaB } from "./selecting";

const kSlack = 3;
const kDragStart = 4;
const kRestMs = 60;

type DragMode = "none" | "area" | "pan" | "zoom";

export class TimelineInput {
  private mode: DragMode = "none";
  private pressed = false;
  private from = { x: 0, y: 0 };
  private last = { x: 0, y: 0 };
  private space = false;
  private rest = 0;
  /** The view the hover belongs to. */
  private seen = "";
  private readonly stops: (() => void)[] = [];

  constructor(
    private readonly model: TimelineModel,
    private readonly view: TimelineCanvas,
    private readonly search: TimelineSearch,
  ) {
    const { overlay, axis } = view.surfaces;
    this.listen(overlay, "pointerdown", (event) => this.down(event));
    this.listen(overlay, "pointermove", (event) => this.move(event));
    this.listen(overlay, "pointerup", (event) => this.up(event));
    this.listen(overlay, "pointerleave", () => this.setHover(null));
    this.listen(overlay, "dblclick", (event) => this.double(event));
    this.listen(overlay, "contextmenu", (event) => this.menu(event));
    this.listen(overlay, "wheel", (event) => this.wheel(event), { passive: false });
    this.listen(axis, "wheel", (event) => this.wheel(event), { passive: false });
    this.listen(axis, "pointerdown", (event) => this.dragAxis(event));
    this.listen(axis, "dblclick", () => fit(model));
    this.listenKey("keydown", true);
    this.listenKey("keyup", false);
  }

  close(): void {
    clearTimeout(this.rest);
    for (const stop of this.stops) stop();
  }

  private listen<K extends keyof HTMLElementEventMap>(
    target: HTMLElement,
    type: K,
    handle: (event: HTMLElementEventMap[K]) => void,
    options?: AddEventListenerOptions,
  ): void {
    target.addEventListener(type, handle, options);
    this.stops.push(() => target.removeEventListener(type, handle, options));
  }

  /** Space held down turns dragging into panning. */
  private listenKey(type: "keydown" | "keyup", down: boolean): void {
    const handle = (event: KeyboardEvent) => {
      if (event.code === "Space" && !(event.target instanceof HTMLInputElement)) this.space = down;
    };
    addEventListener(type, handle);
    this.stops.push(() => removeEventListener(type, handle));
  }

  private point(event: MouseEvent): { x: number; y: number } {
    const box = this.view.surfaces.overlay.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** What is at a place of the canvas; null outside of all lanes. */
  probe(x: number, y: number): Hover | null {
    const { model } = this;
    const lane = laneUnder(model, y);
    if (!lane) return null;
    const t = model.timeAt(x);
    const scale = model.scale();
    const { track } = lane;
    if (lane.form === "counter") return { x, y, t, track, row: 0, run: null, value: counterAt(model, track.id, t) };
    if (track.kind !== "slices")
      return {
        x,
        y,
        t,
        track,
        row: 0,
        run: null,
        value: lane.form === "header" ? null : stripValue(model, track, t),
      };
    const row = rowUnder(model, lane, y);
    const run = row < 0 ? null : hitRow(model.cache, track.id, row, t, scale, kSlack * model.ratio);
    return { x, y, t, track, row, run, value: null };
  }

  /** The view moves under a pointer that rests: what is said about the place goes, and comes back when the view rests, too. */
  refresh(): void {
    const { hover, view, scrollY } = this.model;
    const now = hover.peek();
    const seen = `${view.t0} ${view.t1} ${scrollY}`;
    if (!now || now.x < 0 || seen === this.seen) return;
    this.seen = seen;
    if (now.run || now.value !== null) hover.value = { ...now, run: null, value: null };
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      const at = hover.peek();
      if (at && at.x >= 0 && !this.pressed) this.setHover(this.probe(at.x, at.y));
    }, kRestMs) as unknown as number;
  }

  private setHover(hover: Hover | null): void {
    this.model.hover.value = hover;
    this.view.requestMarks();
  }

  private down(event: PointerEvent): void {
    const at = this.point(event);
    const chip = this.view.chips.find(
      (each) => at.x >= each.x && at.x < each.x + each.w && at.y >= each.y && at.y < each.y + each.h,
    );
    if (chip && event.button === 0) return chip.run();
    if (event.button === 2) return;
    this.pressed = true;
    this.from = this.last = at;
    const pan = event.button === 1 || this.space || event.ctrlKey || event.metaKey;
    this.mode = pan ? "pan" : "none";
    this.view.surfaces.overlay.setPointerCapture(event.pointerId);
    // The middle button would start the browser's own scrolling.
    if (event.button === 1) event.preventDefault();
  }

  private move(event: PointerEvent): void {
    const at = this.point(event);
    if (!this.pressed) return this.setHover(this.probe(at.x, at.y));
    const far = Math.hypot(at.x - this.from.x, at.y - this.from.y) >= kDragStart;
    if (this.mode === "none" && far) this.mode = event.altKey ? "zoom" : "area";
    if (this.mode !== "none" && this.model.hover.peek()) this.setHover(null);
    if (this.mode === "pan") {
      panPixels(this.model, this.last.x - at.x);
      this.model.setScroll(this.model.scrollY + this.last.y - at.y);
      this.last = at;
    } else if (this.mode !== "none") {
      this.view.drag = {
        x0: this.from.x,
        x1: at.x,
        y0: this.mode === "zoom" ? 0 : this.from.y,
        y1: this.mode === "zoom" ? this.model.height : at.y,
        zoom: this.mode === "zoom",
      };
      this.view.requestMarks();
    }
  }

  private up(event: PointerEvent): void {
    if (!this.pressed) return;
    this.pressed = false;
    const at = this.point(event);
    const mode = this.mode;
    this.mode = "none";
    this.view.drag = null;
    const t0 = this.model.timeAt(Math.min(this.from.x, at.x));
    const t1 = this.model.timeAt(Math.max(this.from.x, at.x));
    if (mode === "none") this.click(at.x, at.y);
    else if (mode === "zoom") this.model.setView({ t0, t1 });
    else if (mode === "area")
      this.finishArea(t0, t1, Math.min(this.from.y, at.y), Math.max(this.from.y, at.y), event.shiftKey);
    this.view.requestMarks();
  }

  private click(x: number, y: number): void {
    const hit = this.probe(x, y);
    if (hit?.run) void selectSlice(this.model, hit.run.track, hit.run.ord, false);
    else clearSelection(this.model);
  }

  /** The lanes between two heights; groups stand for all below them. */
  private finishArea(t0: number, t1: number, y0: number, y1: number, second: boolean): void {
    const { model } = this;
    const ids = new Set<number>();
    let lanes = 0;
    let rows: [number, number] | undefined;
    for (let y = y0; y <= y1;) {
      const lane = laneUnder(model, y);
      if (!lane) break;
      lanes++;
      for (const leaf of lane.form === "header" ? [] : model.tree.leaves(lane.track)) ids.add(leaf.id);
      const first = rowUnder(model, lane, y0);
      const last = rowUnder(model, lane, y1);
      if (model.byDepth.value && first >= 0 && last >= 0) rows = [first, last];
      y = laneTop(model, lane) + lane.height;
    }
    const area = { t0, t1, tracks: [...ids], ...(rows && lanes === 1 ? { rows } : {}) };
    // With Shift the first area stays and is compared with this one.
    if (second && model.area.value && ids.size > 0) setAreaB(model, area);
    else setArea(model, area);
  }

  private double(event: MouseEvent): void {
    const at = this.point(event);
    const hit = this.probe(at.x, at.y);
    if (!hit?.run) return;
    void selectSlice(this.model, hit.run.track, hit.run.ord, false).then(() => {
      this.model.area.value = null;
      zoomToSelection(this.model);
    });
  }

  private menu(event: MouseEvent): void {
    event.preventDefault();
    const at = this.point(event);
    const hover = this.probe(at.x, at.y);
    this.model.hover.value = hover;
    openMenu(event.clientX, event.clientY, contextEntries(this.model, hover, this.search));
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 18 : 1;
    const { x } = this.point(event);
    if (event.ctrlKey || event.metaKey) zoom(this.model, Math.exp(event.deltaY * lines * 0.0022), this.model.timeAt(x));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      panPixels(this.model, (event.deltaX || event.deltaY) * lines);
    else this.model.setScroll(this.model.scrollY + event.deltaY * lines);
  }

  private dragAxis(event: PointerEvent): void {
    const { axis } = this.view.surfaces;
    let last = event.clientX;
    axis.setPointerCapture(event.pointerId);
    axis.onpointermove = (move) => {
      panPixels(this.model, last - move.clientX);
      last = move.clientX;
    };
    axis.onpointerup = () => (axis.onpointermove = null);
  }
}
