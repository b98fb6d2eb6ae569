// Colours of slices. A family of work has a hue; inside it lightness follows the name, so that a name keeps its colour everywhere.
import { LaneFlag, type Track } from "../state/tracks";

export type Family = "cube" | "vector" | "comm" | "wait" | "memcpy" | "host" | "python" | "free" | "summary";

export const families: Family[] = ["cube", "vector", "comm", "wait", "memcpy", "host", "python", "free", "summary"];

/** Hue and saturation (percent). Compute is blue and teal, communication orange: apart for every kind of colour vision. */
const tones: Record<Family, [number, number]> = {
  cube: [214, 62],
  vector: [178, 46],
  comm: [28, 76],
  wait: [44, 82],
  memcpy: [282, 42],
  host: [146, 22],
  python: [232, 22],
  free: [210, 8],
  summary: [212, 24],
};

/** Byte order of a little-endian canvas: alpha, blue, green, red. */
export type Pixel = number;

/** In a table of shades: the colour comes from the name. */
export const kByName: Pixel = 0;

export function pixel(r: number, g: number, b: number): Pixel {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export function pixelToCss(color: Pixel): string {
  return `rgb(${color & 255} ${(color >> 8) & 255} ${(color >> 16) & 255})`;
}

/** share = 1 gives `color`, 0 gives `ground`. */
export function mix(ground: Pixel, color: Pixel, share: number): Pixel {
  return mix256(ground, color, Math.round(share * 256));
}

/** As mix() with a share of 256, two channels at a time: this runs once per run and frame. */
export function mix256(ground: Pixel, color: Pixel, share: number): Pixel {
  const rest = 256 - share;
  const rb = (Math.imul(color & 0xff00ff, share) + Math.imul(ground & 0xff00ff, rest)) >>> 8;
  const g = (Math.imul(color & 0xff00, share) + Math.imul(ground & 0xff00, rest)) >>> 8;
  return (0xff000000 | (rb & 0xff00ff) | (g & 0xff00)) >>> 0;
}

/** Half as bright. */
export function darker(color: Pixel): Pixel {
  return (0xff000000 | ((color >>> 1) & 0x7f7f7f)) >>> 0;
}

export function parseColor(css: string): Pixel {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(css.trim());
  return hex ? pixel(parseInt(hex[1]!, 16), parseInt(hex[2]!, 16), parseInt(hex[3]!, 16)) : pixel(255, 255, 255);
}

export function hslPixel(h: number, s: number, l: number): Pixel {
  const chroma = (s / 100) * Math.min(l / 100, 1 - l / 100);
  const channel = (n: number) => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l / 100 - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return pixel(channel(0), channel(8), channel(4));
}

/** Hash of a name without its running number: hcom_allReduce__123_7 and ..._124_8 are one thing. */
export function nameHash(name: string): number {
  const stem = name.replace(/[\d_#.:-]+$/, "");
  let hash = 2166136261;
  for (let at = 0; at < stem.length; at++) hash = Math.imul(hash ^ stem.charCodeAt(at), 16777619);
  return hash >>> 0;
}

export function isDark(color: Pixel): boolean {
  return 0.299 * (color & 255) + 0.587 * ((color >> 8) & 255) + 0.114 * ((color >> 16) & 255) < 140;
}

/** The family of all slices of a lane, as far as its place in the tree says. */
export function trackFamily(track: Track, parents: Track[]): Family {
  if (track.query) return "memcpy";
  if (track.flags & (LaneFlag.pythonStack | LaneFlag.annotation)) return "python";
  if (track.flags & (LaneFlag.commGroup | LaneFlag.commPlane)) return "comm";
  if (track.flags & LaneFlag.device && !(track.flags & LaneFlag.overlap)) return "vector";
  const where = [track, ...parents]
    .map((each) => each.name)
    .join(" / ")
    .toLowerCase();
  if (/overlap/.test(where))
    return /free/i.test(track.name) ? "free" : /communication/i.test(track.name) ? "comm" : "cube";
  if (/communication|hccl|nccl|plane|group /.test(where)) return "comm";
  if (/python stack/.test(where)) return "python";
  if (/hardware|stream|gpu|device/.test(where)) return "vector";
  return "host";
}

const kCube = /matmul|gemm|conv|attention|bmm|(^|_)mm(_|$)|cutlass|cudnn|flash|linear/i;
const kWait = /notify_?wait|event_?wait|(^|[^a-z])wait|barrier|synchroni[sz]e/i;
const kCopy = /memcpy|memset|sdma|tensormove|dtod|htod|dtoh/i;
const kComm = /hcom|hccl|nccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|(^|_)(send|recv)/i;

/** The family of one slice: its lane's, refined by its name. */
export function sliceFamily(lane: Family, name: string): Family {
  if (name === "Free") return "free";
  if (lane === "python" || lane === "free" || lane === "summary") return lane;
  if (kWait.test(name)) return "wait";
  if (lane === "host") return kComm.test(name) ? "comm" : kCopy.test(name) ? "memcpy" : "host";
  if (lane === "comm") return "comm";
  if (kComm.test(name)) return "comm";
  if (kCopy.test(name)) return "memcpy";
  return kCube.test(name) || lane === "cube" ? "cube" : "vector";
}

export type ColorMode = "family" | "name";

/** `dark` is the theme's ground: colours step back from it. */
export function sliceColor(family: Family, name: string, mode: ColorMode, dark: boolean): Pixel {
  const hash = nameHash(name);
  if (mode === "name" && family !== "free")
    return hslPixel(hash % 360, 38, dark ? 48 + ((hash >>> 9) % 14) : 56 + ((hash >>> 9) % 16));
  const [hue, saturation] = tones[family];
  const turn = family === "free" ? 0 : ((hash >>> 7) % 17) - 8;
  const light = (dark ? 40 : 52) + (hash % 19);
  return hslPixel((hue + turn + 360) % 360, saturation, family === "free" ? (dark ? 34 : 78) : light);
}
