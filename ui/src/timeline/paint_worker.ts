// Paints the lanes on a thread of its own. Says when it is loaded and when a frame is painted; texels go back to be used again.
import { type Frame, Screen, type TexelPlanes } from "./screen";

/** The page sends the canvas once, then frames. */
export type ToWorker = { canvas: OffscreenCanvas } | { frame: Frame };
export type FromWorker = { ready: true } | { texels: TexelPlanes | null };

const say = (message: FromWorker, transfer: Transferable[] = []) => postMessage(message, { transfer });
let screen: Screen | null = null;

onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if ("canvas" in message) {
    screen = new Screen(message.canvas, () => new OffscreenCanvas(1, 1));
    return;
  }
  const { texels } = message.frame;
  screen?.paint(message.frame);
  say({ texels }, texels ? [texels.body.buffer, texels.edge.buffer] : []);
};

say({ ready: true });
