// Ties the model to its canvases: a frame is drawn when something changed, and only then.
import { theme } from "../state/theme";
import { drawAxis } from "./axis";
import { BaseLayer, type Colors, readColors } from "./base_layer";
import type { TimelineModel } from "./model";
import type { MinimapView } from "./minimap";
import type { Chip, OnFollow } from "./overlay";
import { type DragBox, PointerMarks } from "./pointer_marks";
import { Stage } from "./stage";
import { wishes } from "./wishes";

const kIdleMs = 80;
const kFrames = 240;

export interface Surfaces {
  axis: HTMLCanvasElement;
  base: HTMLCanvasElement;
  /** Takes the pointer and the focus; lies over the lanes. */
  overlay: HTMLElement;
  minimap: MinimapView;
}

export class TimelineCanvas {
  drag: DragBox | null = null;
  chips: Chip[] = [];
  /** Main-thread ms of the last frames that redrew the lanes; read by the performance test. */
  readonly frame_ms: number[] = [];

  private readonly baseLayer: BaseLayer;
  private readonly stage: Stage;
  private colors: Colors = readColors();
  private frame = 0;
  private idle = 0;
  private pointerOnly = false;
  private readonly marks: PointerMarks;
  private readonly observer: ResizeObserver;
  private readonly stopTheme: () => void;

  constructor(
    readonly model: TimelineModel,
    readonly surfaces: Surfaces,
    private readonly onFollow: OnFollow,
    private readonly onFrame: () => void,
  ) {
    this.baseLayer = new BaseLayer();
    this.stage = new Stage(surfaces.base, () => this.request());
    this.marks = new PointerMarks(surfaces.overlay);
    model.onRedraw(() => this.request());
    const box = surfaces.base.parentElement;
    this.observer = new ResizeObserver(() => this.measure());
    if (box) this.observer.observe(box);
    this.stopTheme = theme.subscribe(() => this.restyle());
    this.measure();
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.idle);
    this.observer.disconnect();
    this.stopTheme();
    this.marks.close();
    this.stage.close();
    this.model.onRedraw(() => undefined);
  }

  restyle(): void {
    this.colors = readColors();
    this.model.names.style(this.colors.dark, this.colors.ground);
    this.model.shading.style(this.colors.dark);
    this.request();
  }

  /** Asks for a frame; several requests make one. */
  request(): void {
    this.pointerOnly = false;
    this.schedule();
  }

  /** As request(), when only the pointer moved. */
  requestMarks(): void {
    if (this.frame === 0) this.pointerOnly = true;
    this.schedule();
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private measure(): void {
    const box = this.surfaces.base.parentElement;
    if (!box) return;
    this.model.resize(box.clientWidth, box.clientHeight, Math.min(2, devicePixelRatio || 1));
  }

  private draw(): void {
    this.frame = 0;
    const { model, surfaces, colors } = this;
    if (this.pointerOnly) {
      this.pointerOnly = false;
      return this.marks.update(model, this.drag);
    }
    if (!this.stage.free) return;
    const begin = performance.now();
    model.cache.tick();
    drawAxis(surfaces.axis, model, colors);
    const { frame, chips } = this.baseLayer.draw(model, colors, this.onFollow);
    this.chips = chips;
    this.stage.show(frame);
    surfaces.minimap.draw(colors);
    model.loader.want(wishes(model, false));
    this.prefetchSoon();
    this.onFrame();
    this.marks.update(model, this.drag);
    this.frame_ms.push(performance.now() - begin);
    if (this.frame_ms.length > kFrames) this.frame_ms.shift();
  }

  private prefetchSoon(): void {
    clearTimeout(this.idle);
    this.idle = setTimeout(() => this.model.loader.want(wishes(this.model, true)), kIdleMs) as unknown as number;
  }
}
