// A result as bars: what names a row, and its first number.
import type { SqlReply } from "../../api_types";
import type { BarItem } from "../../charts/bars";
import { isNumeric } from "../../format";

const kMostBars = 40;
const isKey = (name: string) => /^(rank|step|id|track|device|stream|.*_id)$/i.test(name);

/** Bars of the first rows; null if the result has no number or nothing that names a row. */
export function barsOf(reply: SqlReply): { items: BarItem[]; unit: string } | null {
  const value = reply.columns.findIndex((column) => isNumeric(column) && !isKey(column.name));
  const names = reply.columns.map((_, at) => at).filter((at) => at !== value && (!isNumeric(reply.columns[at]!) || isKey(reply.columns[at]!.name)));
  if (value < 0 || names.length === 0 || reply.rows.length === 0) return null;
  const items = reply.rows.slice(0, kMostBars).map((row) => ({
    name: names
      .slice(0, 3)
      .map((at) => String(row[at] ?? ""))
      .join(" "),
    value: Number(row[value] ?? 0),
  }));
  return { items, unit: reply.columns[value]!.name };
}
