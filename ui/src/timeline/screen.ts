// The canvas of the lanes and how a frame gets on it. Runs in the worker, or beside the page where there is none.
import { type Planes, replay, type Target } from "./paint_list";

export interface TexelPlanes {
  width: number;
  rows: number;
  body: Uint32Array;
  edge: Uint32Array;
}

/** One frame: size in device px, the calls to make, and the texels if they changed. */
export interface Frame {
  width: number;
  height: number;
  calls: readonly (number | string)[];
  texels: TexelPlanes | null;
}

type AnyCanvas = HTMLCanvasElement | OffscreenCanvas;

function context(canvas: AnyCanvas, options: CanvasRenderingContext2DSettings): Target {
  const g = canvas.getContext("2d", options) as Target | null;
  if (!g) throw new Error("this browser has no 2-D canvas");
  return g;
}

export class Screen {
  private readonly g: Target;
  private readonly planes: { body: AnyCanvas; edge: AnyCanvas };

  constructor(
    private readonly canvas: AnyCanvas,
    makeCanvas: () => AnyCanvas,
  ) {
    this.g = context(canvas, { alpha: false });
    this.planes = { body: makeCanvas(), edge: makeCanvas() };
  }

  paint(frame: Frame): void {
    if (frame.texels) this.upload(frame.texels);
    if (this.canvas.width !== frame.width || this.canvas.height !== frame.height) {
      this.canvas.width = frame.width;
      this.canvas.height = frame.height;
    }
    this.g.save();
    this.g.setTransform(1, 0, 0, 1, 0, 0);
    this.g.imageSmoothingEnabled = false;
    replay(frame.calls, this.g, this.planes as Planes);
    this.g.restore();
  }

  private upload({ width, rows, body, edge }: TexelPlanes): void {
    for (const [canvas, pixels] of [
      [this.planes.body, body],
      [this.planes.edge, edge],
    ] as const) {
      if (canvas.width !== width || canvas.height !== rows) {
        canvas.width = width;
        canvas.height = rows;
      }
      // willReadFrequently keeps the canvas in software, where putImageData is a copy.
      const g = context(canvas, { willReadFrequently: true, alpha: pixels === edge });
      g.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer as ArrayBuffer), width, rows), 0, 0);
    }
  }
}
