// Colours of series: distinguishable for deuteranopes and protanopes, on light and on dark ground.

const SERIES = [
  "#3b7dd8",
  "#e08a2b",
  "#1f9e89",
  "#b35bc4",
  "#c8553d",
  "#7a8b2f",
  "#5c6fb1",
  "#a0764a",
  "#2fa6c9",
  "#8f8f8f",
];

export function seriesColor(index: number): string {
  return SERIES[((index % SERIES.length) + SERIES.length) % SERIES.length] ?? "#3b7dd8";
}

/** The parts of a step wear the same colour everywhere. */
export const partColors: Record<string, string> = {
  computing: "#3b7dd8",
  communication: "#e08a2b",
  overlapped: "#1f9e89",
  not_overlapped: "#e08a2b",
  free: "#9aa3ad",
  preparing: "#b35bc4",
};

/** The two sides of a comparison wear the same colours everywhere; the badges in timeline.css too. */
export const sideColors: readonly [string, string] = ["#1f6fc0", "#b8610a"];

type Rgb = [number, number, number];

// From nearly white over blue to deep violet: lightness falls evenly, so it reads in grey as well.
const RAMP: Rgb[] = [
  [237, 244, 251],
  [172, 206, 232],
  [92, 155, 205],
  [46, 98, 170],
  [44, 42, 110],
];

/** Colour of a share in 0..1 on the heat ramp. */
export function heatColor(share: number): Rgb {
  const at = Math.max(0, Math.min(1, share)) * (RAMP.length - 1);
  const low = RAMP[Math.floor(at)] ?? RAMP[0]!;
  const high = RAMP[Math.min(RAMP.length - 1, Math.floor(at) + 1)] ?? low;
  const part = at - Math.floor(at);
  return [0, 1, 2].map((k) => Math.round(low[k]! + (high[k]! - low[k]!) * part)) as Rgb;
}
