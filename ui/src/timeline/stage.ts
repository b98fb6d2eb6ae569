// Where frames are painted: in a worker, so that the page stays free for its user; without one, right here.
import type { FromWorker, ToWorker } from "./paint_worker";
import { type Frame, Screen, type TexelPlanes } from "./screen";

/** Name of the worker's file beside this one; set by the build, "" in tests. */
declare const PAINT_WORKER: string;

/** Frames that may be on their way: one is painted while the next is worked out. */
const kAhead = 2;

export class Stage {
  private worker: Worker | null = null;
  private screen: Screen | null = null;
  private ready = false;
  private flying = 0;
  private waiting = false;
  private readonly returned: TexelPlanes[] = [];

  /** `onFree` is called when a frame that was refused can be drawn. */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly onFree: () => void,
  ) {
    const able = typeof Worker !== "undefined" && "transferControlToOffscreen" in canvas && PAINT_WORKER !== "";
    if (able) this.startWorker();
    else this.paintHere();
  }

  /** False while frames wait to be painted: there is no use in drawing another one. onFree() follows. */
  get free(): boolean {
    this.waiting = !this.ready || this.flying >= kAhead;
    return !this.waiting;
  }

  /** To be called when `free` only. The frame's texels are copied. */
  show(frame: Frame): void {
    if (this.screen) return this.screen.paint(frame);
    this.flying++;
    const texels = frame.texels && this.copy(frame.texels);
    this.send({ frame: { ...frame, texels } }, texels ? [texels.body.buffer, texels.edge.buffer] : []);
  }

  /** A copy to give away, in arrays that came back if there are some: new ones with every frame would pile up until they are collected. */
  private copy(from: TexelPlanes): TexelPlanes {
    const { width, rows } = from;
    const size = width * rows;
    const old = this.returned.pop();
    const fits = old?.body.length === size;
    const [body, edge] = fits ? [old!.body, old!.edge] : [new Uint32Array(size), new Uint32Array(size)];
    body.set(from.body);
    edge.set(from.edge);
    return { width, rows, body, edge };
  }

  close(): void {
    this.worker?.terminate();
  }

  private startWorker(): void {
    try {
      this.worker = new Worker(new URL(PAINT_WORKER, import.meta.url), { type: "module" });
    } catch {
      return this.paintHere();
    }
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.heard(event.data);
    // A proxy may not let the worker's file through.
    this.worker.onerror = () => !this.ready && this.paintHere();
  }

  private heard(message: FromWorker): void {
    if ("ready" in message) {
      const canvas = this.canvas.transferControlToOffscreen();
      this.send({ canvas }, [canvas]);
      this.ready = true;
    } else {
      this.flying--;
      if (message.texels && this.returned.length < kAhead) this.returned.push(message.texels);
    }
    if (this.waiting) this.onFree();
  }

  private send(message: ToWorker, transfer: Transferable[] = []): void {
    this.worker?.postMessage(message, transfer);
  }

  private paintHere(): void {
    this.worker = null;
    this.screen = new Screen(this.canvas, () => document.createElement("canvas"));
    this.ready = true;
    this.onFree();
  }
}
