// Where frames are painted: in a worker, so that the page stays free for its user; without one, right here.
import type { FromWorker, ToWorker } from "./paint_worker";
import { type Frame, Screen } from "./screen";

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
    this.send({ frame });
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

  private heard(word: FromWorker): void {
    if (word === "ready") {
      const canvas = this.canvas.transferControlToOffscreen();
      this.send({ canvas }, [canvas]);
      this.ready = true;
    } else this.flying--;
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
