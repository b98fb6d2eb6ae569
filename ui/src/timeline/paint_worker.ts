// Paints the lanes on a thread of its own. Says "ready" when it is loaded and "painted" after each frame.
import { type Frame, Screen } from "./screen";

/** The page sends the canvas once, then frames. */
export type ToWorker = { canvas: OffscreenCanvas } | { frame: Frame };
export type FromWorker = "ready" | "painted";

const say = (word: FromWorker) => postMessage(word);
let screen: Screen | null = null;

onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if ("canvas" in message) {
    screen = new Screen(message.canvas, () => new OffscreenCanvas(1, 1));
    return;
  }
  screen?.paint(message.frame);
  say("painted");
};

say("ready");
