// What the pages share: named results, pickers, cards, and the way from a row to the timeline.
import type { ComponentChildren } from "preact";
import type { Dataset } from "../api";
import type { Cell, ColumnInfo, DatasetMeta, MetricReply, MetricTable, SliceRef } from "../api_types";
import { hasMessage, t, wordingText } from "../i18n";
import { openArea, openRange, openSlice } from "../state/jump";
import { meta, revision, scopeRank, setScope } from "../state/session";
import { LaneFlag, type Track, trackTree } from "../state/tracks";
import { type Loaded, useLoad } from "../widgets/async";
import { toast } from "../widgets/toast";
import type { RowView } from "../table/data_table";

export type Args = Record<string, string | number | null | undefined>;

/** The arguments that are set. */
export function known(args: Args): Record<string, string | number> {
  return Object.fromEntries(Object.entries(args).filter((entry): entry is [string, string | number] => entry[1] !== null && entry[1] !== undefined));
}

/** A named result that follows its arguments and the ranks that become visible; null arguments ask for nothing. */
export function useMetric(ds: Dataset, name: string, args: Args | null): Loaded<MetricReply> {
  return useLoad((signal) => (args ? ds.metric(name, known(args), signal) : null), [ds.ds, name, JSON.stringify(args), revision.value]);
}

/** The rows of a table of the answer as objects; none while it is not there. */
export function rowsOf(reply: MetricReply | null, table: string): Record<string, Cell>[] {
  const found = reply?.tables[table];
  if (!found) return [];
  return found.rows.map((row) => Object.fromEntries(found.columns.map((column, at) => [column.name, row[at] ?? null])));
}

export function tableOf(reply: MetricReply | null, table: string): MetricTable {
  return reply?.tables[table] ?? { columns: [] as ColumnInfo[], rows: [] };
}

export const asNumber = (cell: Cell | undefined): number => (typeof cell === "number" ? cell : Number(cell ?? NaN));
export const asText = (cell: Cell | undefined): string => (cell === null || cell === undefined ? "" : String(cell));

interface CardProps {
  title: string;
  /** Key of the definition of its numbers, shown on demand. */
  definition?: string | undefined;
  extra?: ComponentChildren;
  children: ComponentChildren;
}

export function Card({ title, definition, extra, children }: CardProps) {
  const key = `define.${definition ?? ""}`;
  return (
    <section class="card" aria-label={title}>
      <header class="card-head">
        <h2>{title}</h2>
        {definition && hasMessage(key) && (
          <details class="define">
            <summary aria-label={t("define")}>?</summary>
            <p>{t(key)}</p>
          </details>
        )}
        <span class="grow" />
        {extra}
      </header>
      {children}
    </section>
  );
}

export function Warnings({ reply }: { reply: MetricReply | null }) {
  if (!reply || reply.warnings.length === 0) return null;
  return (
    <ul class="warnings">
      {reply.warnings.map((warning) => (
        <li key={warning.text}>{wordingText(warning)}</li>
      ))}
    </ul>
  );
}

interface PickProps<V extends string | number> {
  label: string;
  value: V;
  options: { value: V; text: string }[];
  onPick(value: V): void;
}

export function Pick<V extends string | number>({ label, value, options, onPick }: PickProps<V>) {
  const pick = (text: string) => {
    const found = options.find((option) => String(option.value) === text);
    if (found) onPick(found.value);
  };
  return (
    <label class="pick">
      {label}
      <select value={String(value)} onChange={(event) => pick(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={String(option.value)}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The rank a page is about; the same as in the scope bar. */
export function RankPick() {
  const ranks = meta.value?.ranks ?? [];
  return (
    <Pick
      label={t("rank")}
      value={scopeRank.value}
      options={ranks.map((rank) => ({ value: rank.rank, text: rank.alias || String(rank.rank) }))}
      onPick={(rank) => setScope({ ranks: [rank] })}
    />
  );
}

/** A time since the epoch, as a table gives it, is a number that may be off by this much (ns). */
const kRounding = 256;

/** The hit on the rank, else any, that is nearest. */
function nearest(hits: readonly SliceRef[], rank: number, away: (hit: SliceRef) => number): SliceRef | undefined {
  const sorted = [...hits].sort((a, b) => away(a) - away(b));
  return sorted.find((each) => each.lane?.startsWith(`rank ${rank} `)) ?? sorted[0];
}

/** The slice of that name on a rank that runs at a moment, the shortest of several; it need not begin there. */
export async function sliceAround(ds: Dataset, rank: number, name: string, t: number): Promise<SliceRef | undefined> {
  const reply = await ds.search({ q: name, mode: "exact", t0: t - kRounding, t1: t + kRounding, limit: 200, cursor: null });
  return nearest(reply.hits.filter((hit) => hit.lane?.startsWith(`rank ${rank} `)), rank, (hit) => hit.dur);
}

/** Shows the slice of that name that begins at `begin` (ns) on the timeline, or the moment if no lane has it. */
export async function jumpTo(ds: Dataset, rank: number, name: string, begin: number, dur: number): Promise<void> {
  try {
    const reply = await ds.search({ q: name, mode: "exact", t0: begin - kRounding, t1: begin + kRounding, limit: 200, cursor: null });
    const away = (hit: { begin: number }) => Math.abs(hit.begin - begin);
    const hit = nearest(reply.hits.filter((each) => away(each) <= kRounding), rank, away);
    if (hit) openSlice(hit.track, hit.i);
    else openRange(begin - dur, begin + 2 * Math.max(dur, 1000));
  } catch (error) {
    toast("error", t("error.title"), String(error));
  }
}

/** The collective of a rank that runs in a range, the one that ends last. */
async function collectiveIn(ds: Dataset, rank: number, t0: number, t1: number): Promise<SliceRef | undefined> {
  const reply = await ds.search({ q: `lane:Communication rank=${rank}`, mode: "contains", t0, t1, limit: 200, cursor: null });
  return nearest(reply.hits, rank, (hit) => t1 - hit.begin);
}

/** The lanes on which a rank's device worked; of a rank without a device, those of its host. */
export function evidenceLanes(tracks: readonly Pick<Track, "rank" | "kind" | "flags" | "path">[], rank: number): string[] {
  const own = tracks.filter((each) => each.rank === rank && each.kind === "slices");
  const device = own.filter((each) => each.flags & LaneFlag.device);
  return (device.length > 0 ? device : own.filter((each) => each.flags & LaneFlag.host)).map((each) => each.path).slice(0, 24);
}

/** Shows evidence on the timeline, selected and explained: the slice of that name, or the collective in the range, else the range. */
export async function showEvidence(ds: Dataset, rank: number, name: string, t0: number, t1: number): Promise<void> {
  try {
    const hit = name === "" ? await collectiveIn(ds, rank, t0, t1) : await sliceAround(ds, rank, name, (t0 + t1) / 2);
    if (hit) return openSlice(hit.track, hit.i, true);
    openArea(t0, t1, evidenceLanes(trackTree.value?.all ?? [], rank));
  } catch (error) {
    toast("error", t("error.title"), String(error));
  }
}

/** ns since the epoch, exact or nearly so, as shown. */
export function shownTime(cell: Cell, meta: DatasetMeta): number {
  return Number(BigInt(String(cell ?? 0)) - BigInt(meta.origin_ns));
}

/** Jump of a row of the store: rank, name, begin_ns and dur_ns. */
export function rowJump(ds: Dataset, meta: DatasetMeta): (row: RowView) => void {
  return (row) => void jumpTo(ds, asNumber(row.get("rank")), asText(row.get("name")), shownTime(row.get("begin_ns"), meta), asNumber(row.get("dur_ns")));
}

/** Jump of a row that has a name, a start in ns and a duration in us. */
export function kernelJump(ds: Dataset, rank: number): (row: RowView) => void {
  return (row) => void jumpTo(ds, rank, asText(row.get("Name")), asNumber(row.get("Start Time(ns)")), asNumber(row.get("Duration(us)")) * 1000);
}
