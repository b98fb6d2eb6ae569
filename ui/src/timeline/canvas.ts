// Ties the model to its canvases: a frame is drawn when something changed, and only then.
import { theme } from "../state/theme";
import { drawAxis } from "./axis";
import { BaseLayer, type Colors, readColors } from "./base_layer";
import type { TimelineModel } from "./model";
import { type Chip, type DragBox, drawOverlay, isBlank, type OverlayState } from "./overlay";
import { wishes } from "./wishes";

const kIdleMs = 80;
const kFrames = 240;

export interface Canvases {
  axis: HTMLCanvasElement;
  base: HTMLCanvasElement;
  overlay: HTMLCanvasElement;
}

export class TimelineCanvas {
  drag: DragBox | null = null;
  chips: Chip[] = [];
  /** Main-thread ms of the last frames that redrew the lanes; read by the performance test. */
  readonly frame_ms: number[] = [];

  private readonly baseLayer: BaseLayer;
  private colors: Colors = readColors();
  private frame = 0;
  private idle = 0;
  private overlayOnly = false;
  /** The overlay has nothing on it. */
  private blank = false;
  private readonly observer: ResizeObserver;
  private readonly stopTheme: () => void;

  constructor(
    readonly model: TimelineModel,
    readonly canvases: Canvases,
    private readonly onFollow: OverlayState["onFollow"],
    private readonly onFrame: () => void,
  ) {
    this.baseLayer = new BaseLayer(canvases.base);
    model.onRedraw(() => this.request());
    const box = canvases.base.parentElement;
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
    this.model.onRedraw(() => undefined);
  }

  restyle(): void {
    this.colors = readColors();
    this.model.names.style(this.model.names.styleMode, this.colors.dark, this.colors.ground);
    this.request();
  }

  /** Asks for a frame; several requests make one. */
  request(): void {
    this.overlayOnly = false;
    this.schedule();
  }

  /** As request(), when only hover, selection or a drag changed. */
  requestOverlay(): void {
    if (this.frame === 0) this.overlayOnly = true;
    this.schedule();
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private measure(): void {
    const box = this.canvases.base.parentElement;
    if (!box) return;
    this.model.resize(box.clientWidth, box.clientHeight, Math.min(2, devicePixelRatio || 1));
  }

  private draw(): void {
    this.frame = 0;
    const begin = performance.now();
    const overlayOnly = this.overlayOnly;
    this.overlayOnly = false;
    const { model, canvases, colors } = this;
    if (!overlayOnly) {
      model.cache.tick();
      drawAxis(canvases.axis, model, colors);
      this.baseLayer.draw(model, colors);
      model.loader.want(wishes(model, false));
      this.prefetchSoon();
    }
    this.overlay();
    if (overlayOnly) return;
    this.onFrame();
    this.frame_ms.push(performance.now() - begin);
    if (this.frame_ms.length > kFrames) this.frame_ms.shift();
  }

  private overlay(): void {
    const state = { drag: this.drag, onFollow: this.onFollow };
    const blank = isBlank(this.model, state);
    const sized =
      this.canvases.overlay.width === this.canvases.base.width &&
      this.canvases.overlay.height === this.canvases.base.height;
    if (!(blank && this.blank && sized))
      this.chips = drawOverlay(this.canvases.overlay, this.model, this.colors, state);
    this.blank = blank;
  }

  private prefetchSoon(): void {
    clearTimeout(this.idle);
    this.idle = setTimeout(() => this.model.loader.want(wishes(this.model, true)), kIdleMs) as unknown as number;
  }
}
