// Two areas side by side, name by name.
import type { Cell, ColumnInfo, RangeReply } from "../api_types";
import { t } from "../i18n";

/** What one area has of a name, ns. */
interface Side {
  count: number;
  wall: number;
}

export interface DiffRow {
  name: string;
  a: Side;
  b: Side;
}

function sides(reply: RangeReply): Map<string, Side> {
  const at = (name: string) => reply.columns.indexOf(name);
  const [name, count, wall] = [at("name"), at("count"), at("wall")];
  return new Map(reply.rows.map((row) => [String(row[name]), { count: Number(row[count]), wall: Number(row[wall]) }]));
}

const kNothing: Side = { count: 0, wall: 0 };

/** All names of both areas, those whose time differs most first. */
export function diffAreas(a: RangeReply, b: RangeReply): DiffRow[] {
  const [left, right] = [sides(a), sides(b)];
  const names = new Set([...left.keys(), ...right.keys()]);
  const rows = [...names].map((name) => ({ name, a: left.get(name) ?? kNothing, b: right.get(name) ?? kNothing }));
  const weight = (row: DiffRow) => Math.abs(row.b.wall - row.a.wall);
  return rows.sort((x, y) => weight(y) - weight(x) || x.name.localeCompare(y.name));
}

/** Columns of the table of differences; B - A, times in us. */
export function diffColumns(): ColumnInfo[] {
  const time = (name: string): ColumnInfo => ({ name: `${name}(us)`, type: "time_us", decimals: 3 });
  return [
    { name: t("tl.area.name"), type: "text" },
    time(`${t("tl.area.wall")} A`),
    time(`${t("tl.area.wall")} B`),
    time(t("tl.diff.wall")),
    { name: t("tl.diff.ratio"), type: "double", decimals: 3 },
    { name: `${t("tl.area.count")} A`, type: "int" },
    { name: `${t("tl.area.count")} B`, type: "int" },
    { name: t("tl.diff.count"), type: "int" },
    time(`${t("tl.area.avg")} A`),
    time(`${t("tl.area.avg")} B`),
  ];
}

const average = (side: Side): Cell => (side.count > 0 ? side.wall / side.count / 1000 : null);

export function diffCells({ name, a, b }: DiffRow): Cell[] {
  const ratio = a.wall > 0 ? b.wall / a.wall : null;
  const [wallA, wallB] = [a.wall / 1000, b.wall / 1000];
  return [name, wallA, wallB, wallB - wallA, ratio, a.count, b.count, b.count - a.count, average(a), average(b)];
}
