// How numbers and times are written. Times come in as integer ns.
import type { Cell, ColumnInfo } from "./api_types";

const UNITS: [string, number][] = [
  ["s", 1e9],
  ["ms", 1e6],
  ["us", 1e3],
  ["ns", 1],
];

/** A duration in the unit that suits it: 118 ns, 1.250 us, 3.217 ms, 1.204 s. */
export function formatDuration(ns: number): string {
  if (!Number.isFinite(ns)) return "–";
  const size = Math.abs(ns);
  for (const [unit, scale] of UNITS) {
    if (size < scale && unit !== "ns") continue;
    if (unit === "ns") return `${Math.round(ns)} ns`;
    return `${(ns / scale).toFixed(3)} ${unit}`;
  }
  return `${ns} ns`;
}

/** Writes durations of one chart or column in one unit: that of the largest, or smaller where the least would vanish. */
export function oneUnit(durations: readonly number[]): (ns: number) => string {
  const known = durations.map(Math.abs).filter((ns) => Number.isFinite(ns) && ns > 0);
  const [most, least] = [known.reduce((a, b) => Math.max(a, b), 1), known.reduce((a, b) => Math.min(a, b), Infinity)];
  let at = Math.max(0, UNITS.findIndex(([, scale]) => most >= scale));
  while (at < UNITS.length - 1 && least / UNITS[at]![1] < 0.01 && most / UNITS[at + 1]![1] < 1e5) at++;
  const [unit, scale] = UNITS[at]!;
  return (ns) => (Number.isFinite(ns) ? `${(ns / scale).toFixed(unit === "ns" ? 0 : 3)} ${unit}` : "–");
}

/** A difference, written by `write`: +1.250 ms, −28.000 us. */
export function signedDuration(ns: number, write: (ns: number) => string = formatDuration): string {
  return `${ns > 0 ? "+" : ns < 0 ? "−" : ""}${write(Math.abs(ns))}`;
}

/** A moment on the axis with as many digits as `step_ns`, the distance of two ticks, needs. */
export function formatMoment(ns: number, step_ns: number): string {
  const unit = UNITS.find(([, scale]) => Math.max(Math.abs(ns), step_ns) >= scale) ?? ["ns", 1];
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(unit[1] / Math.max(step_ns, 1)) - 1e-9)));
  return `${(ns / unit[1]).toFixed(digits)} ${unit[0]}`;
}

export function formatInt(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, " ");
}

/** 1234567 -> 1.23 M, 12345 -> 12 345; for headers and axes, where the exact value is in the tooltip. */
export function formatShort(value: number): string {
  if (Math.abs(value) >= 1e3 && Math.abs(value) < 1e5) return formatInt(value);
  for (const [unit, scale] of [
    ["G", 1e9],
    ["M", 1e6],
    ["k", 1e3],
  ] as [string, number][]) {
    if (Math.abs(value) >= scale) return `${(value / scale).toPrecision(3)} ${unit}`;
  }
  return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}

export function formatBytes(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

export function formatPercent(share: number, digits = 1): string {
  // "-0.0" would be a sign without a number.
  return Number.isFinite(share) ? `${(share * 100).toFixed(digits).replace(/^-(0\.?0*)$/, "$1").replace("-", "−")} %` : "–";
}

/** A table cell as its column wants it. Empty cells of the data stay empty. */
export function formatCell(value: Cell, column: ColumnInfo): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (column.type === "time_us") return value.toFixed(column.decimals ?? 3);
  if (column.type === "double") return value.toFixed(column.decimals ?? 3);
  return String(value);
}

export function isNumeric(column: ColumnInfo): boolean {
  return column.type !== "text";
}

/** Cuts the middle out of a long name, keeping `keep` characters: both ends of operator names matter. */
export function middleEllipsis(text: string, keep: number): string {
  if (text.length <= keep) return text;
  if (keep < 3) return text.slice(0, Math.max(0, keep));
  const tail = Math.floor((keep - 1) / 2);
  return `${text.slice(0, keep - 1 - tail)}…${tail > 0 ? text.slice(-tail) : ""}`;
}

/** "1.204s", "12 us", "500" (ns) -> ns, or null if it is no time. */
export function parseDuration(text: string): number | null {
  const match = /^\s*([-+]?[0-9]*\.?[0-9]+(?:e[-+]?\d+)?)\s*(ns|us|µs|ms|s)?\s*$/i.exec(text);
  if (!match) return null;
  const unit = (match[2] ?? "ns").toLowerCase().replace("µs", "us");
  const scale = UNITS.find(([name]) => name === unit)?.[1] ?? 1;
  return Math.round(Number(match[1]) * scale);
}

/** Origin (epoch ns as text) plus ns as local wall clock with nine digits; exact, through BigInt. */
export function formatWall(origin_ns: string, ns: number): string {
  const total = BigInt(origin_ns) + BigInt(Math.round(ns));
  const seconds = total / 1_000_000_000n;
  const date = new Date(Number(seconds) * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${day} ${clock}.${String(total % 1_000_000_000n).padStart(9, "0")}`;
}
