// The calls of collectives by what they moved.
import type { Cell } from "../../api_types";

/** A call of a collective on one rank. */
export interface Call {
  rank: number;
  name: string;
  type: string;
  group: string;
  dataType: string;
  bytes: number;
  dur_ns: number;
}

/** bytes / ns are GB / s; what the link carries depends on the algorithm and is not known here. */
export const callBandwidth = ({ bytes, dur_ns }: Pick<Call, "bytes" | "dur_ns">): number => (dur_ns > 0 ? bytes / dur_ns : 0);

/** One row per type, group and data type: calls, MB, ms, and the bandwidth of all of them together. */
export function sizeRows(calls: readonly Call[]): Cell[][] {
  const found = new Map<string, Call[]>();
  for (const call of calls) {
    const key = JSON.stringify([call.type, call.group, call.dataType]);
    found.set(key, [...(found.get(key) ?? []), call]);
  }
  const rows = [...found.values()].map((members): Cell[] => {
    const [first] = members;
    const bytes = members.reduce((sum, call) => sum + call.bytes, 0);
    const dur_ns = members.reduce((sum, call) => sum + call.dur_ns, 0);
    return [first!.type, first!.group, first!.dataType, members.length, bytes / 1e6, dur_ns / 1e6, callBandwidth({ bytes, dur_ns })];
  });
  return rows.sort((a, b) => Number(b[5]) - Number(a[5]));
}

type Row = Record<string, Cell>;

/** Column, word and colour of the parts of a call. */
const kParts: [string, string, string][] = [
  ["Transit Time(ms)", "comm.transit", "#3b7dd8"],
  ["Wait Time(ms)", "comm.wait", "#e08a2b"],
  ["Idle Time(ms)", "comm.idle", "#9aa3ad"],
];

const known = (cell: Cell | undefined): number => (cell === null || cell === undefined ? 0 : Math.max(0, Number(cell) || 0));

/** Transit, wait and idle; a part whose division nobody knows (one rank of a group was captured) is shown whole. */
export function durationSeries(rows: readonly Row[], word: (key: string) => string): { name: string; color: string; values: number[] }[] {
  const series = kParts.map(([column, key, color]) => ({ name: word(key), color, values: rows.map((row) => known(row[column])) }));
  const rest = rows.map((row, at) => known(row["Elapsed Time(ms)"]) - series.reduce((sum, part) => sum + part.values[at]!, 0));
  // Rounding leaves a few microseconds.
  if (!rest.some((ms, at) => ms > 0.001 && ms > 0.01 * known(rows[at]!["Elapsed Time(ms)"]))) return series;
  return [...series, { name: word("comm.undivided"), color: "#7d8fb3", values: rest.map((ms) => Math.max(0, ms)) }];
}
