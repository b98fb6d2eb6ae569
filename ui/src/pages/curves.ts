// Points of a named result as curves.
import { hasMessage, t } from "../i18n";
import { smallest } from "../charts/ticks";
import type { MetricReply } from "../api_types";
import { asNumber, asText, rowsOf } from "./parts";

export interface Curves {
  x: number[];
  series: { name: string; values: (number | null)[]; stepped: boolean }[];
}

/** Before the names of the baseline's curves. */
export const kBaselineCurves = "baseline/";

/** Points (series, time, value) of some answers as curves over one axis; `prefix` goes before the names of each. Several are laid over each other: each begins at `from`. */
export function curvesOf(replies: readonly (MetricReply | null)[], prefix: readonly string[] = [""], from = 0): Curves {
  const points = replies.flatMap((reply, side) => {
    const rows = rowsOf(reply, "points");
    const begin = replies.length > 1 ? smallest(rows.map((row) => asNumber(row["time_ms"])), Infinity) - from : 0;
    return rows.map((row) => ({
      name: (prefix[side] ?? "") + asText(row["series"]),
      time: asNumber(row["time_ms"]) - (Number.isFinite(begin) ? begin : 0),
      value: asNumber(row["value_mb"]),
    }));
  });
  const x = [...new Set(points.map((point) => point.time))].sort((a, b) => a - b);
  const place = new Map(x.map((time, at) => [time, at]));
  const series = new Map<string, (number | null)[]>();
  for (const { name, time, value } of points) {
    let values = series.get(name);
    if (!values) series.set(name, (values = new Array<number | null>(x.length).fill(null)));
    values[place.get(time) ?? 0] = value;
  }
  return { x, series: [...series].map(([name, values]) => ({ name, values, stepped: true })) };
}

/** "PTA Reserved", "Allocated of 897357296" in the user's language. */
export function seriesText(name: string): string {
  if (name.startsWith(kBaselineCurves)) return `${t("scope.baseline")}: ${seriesText(name.slice(kBaselineCurves.length))}`;
  const kind = `memory.kind.${name}`;
  if (hasMessage(kind)) return t(kind);
  const match = /^(A |B )?(?:(\w+) )?(Allocated|Activated|Reserved)(?: of (.*))?$/.exec(name);
  if (!match || !hasMessage(`memory.what.${match[3]}`)) return name;
  const [, side = "", owner = "", what = "", stream] = match;
  const who = hasMessage(`memory.owner.${owner}`) ? t(`memory.owner.${owner}`) : owner;
  return side + (stream === undefined ? t("memory.series", { who, what: t(`memory.what.${what}`) }) : t("memory.series_of", { stream, what: t(`memory.what.${what}`) })).trim();
}

/** What each curve holds at a time; curves that have not begun are left out. */
export function valuesAt({ x, series }: Curves, time: number): { name: string; value: number }[] {
  const end = x.filter((each) => each <= time).length;
  return series.flatMap(({ name, values }) => {
    for (let at = end - 1; at >= 0; at--) {
      const value = values[at];
      if (value !== null && value !== undefined) return [{ name, value }];
    }
    return [];
  });
}

/** The curves under names for people. */
export const named = (curves: Curves): Curves => ({ ...curves, series: curves.series.map((series) => ({ ...series, name: seriesText(series.name) })) });

/** Each "... Reserved" less its "... Allocated": memory the allocator holds and nobody uses. Curves hold their values between points. */
export function unusedReserve({ series }: Curves, name: string): Curves["series"] {
  const held = (values: (number | null)[]) => {
    let last: number | null = null;
    return values.map((value) => (last = value ?? last));
  };
  return series.flatMap((reserved) => {
    if (!/reserved/i.test(reserved.name)) return [];
    const partner = series.find((each) => each.name === reserved.name.replace(/reserved/i, "Allocated"));
    if (!partner) return [];
    const used = held(partner.values);
    const values = held(reserved.values).map((value, at) => (value === null || used[at] === null ? null : value - used[at]!));
    return [{ name: `${reserved.name.replace(/\s*reserved/i, "")} ${name}`, values, stepped: true }];
  });
}
