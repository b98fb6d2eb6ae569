// Round numbers for axes, and the ends of what they show.

/** The largest of the values, at least `floor`. A list of any length: Math.max takes only as many as the stack has room for. */
export function largest(values: readonly number[], floor: number): number {
  return values.reduce((most, value) => (value > most ? value : most), floor);
}

/** The smallest of the values, at most `ceiling`. */
export function smallest(values: readonly number[], ceiling: number): number {
  return values.reduce((least, value) => (value < least ? value : least), ceiling);
}

/** About `count` round values that cover [low, high]: steps of 1, 2 or 5 times a power of ten. */
export function niceTicks(low: number, high: number, count: number): number[] {
  const span = high - low;
  if (!(span > 0) || count < 1) return [low];
  const step = niceStep(span / count);
  const ticks: number[] = [];
  for (let tick = Math.ceil(low / step - 1e-9); tick * step <= high + step * 1e-9; tick++) ticks.push(tick * step || 0);
  return ticks;
}

/** The smallest 1, 2 or 5 times a power of ten that is at least `raw`. */
export function niceStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(raw));
  const lead = raw / power;
  const factor = lead <= 1 + 1e-9 ? 1 : lead <= 2 + 1e-9 ? 2 : lead <= 5 + 1e-9 ? 5 : 10;
  return factor * power;
}
