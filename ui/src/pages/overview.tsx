// One screen about the run: step time, where it goes, which rank and step stand out, what costs most, how good the data are.
import { useMemo, useState } from "preact/hooks";
import type { Cell, DatasetMeta, TableReply } from "../api_types";
import { BarChart, StackedBars } from "../charts/bars";
import { calmRange, HeatMap } from "../charts/heat_map";
import { partColors } from "../charts/palette";
import { formatDuration, formatPercent, middleEllipsis, oneUnit } from "../format";
import { t, valueText } from "../i18n";
import { openRange, openSearch } from "../state/jump";
import { navigate } from "../state/router";
import { revision, scope, scopeRank, setScope } from "../state/session";
import { useLoad } from "../widgets/async";
import { ErrorState, Loading, missingWords } from "../widgets/states";
import { Against } from "./against";
import { gainText, useFindings, words } from "./findings";
import { explainNumber } from "./number";
import { asNumber, asText, Card, Pick, RankPick, rowsOf, useMetric } from "./parts";
import type { PageProps } from "./registry";
import { Speed } from "./speed";

/** One row of the step table, in us. */
interface StepRow {
  rank: number;
  step: number | null;
  computing: number;
  not_overlapped: number;
  overlapped: number;
  memory: number;
  free: number;
  bubble: number;
  preparing: number;
  total: number;
}

const COLUMNS: [keyof StepRow, string][] = [
  ["computing", "Computing"],
  ["not_overlapped", "Communication(Not Overlapped)"],
  ["overlapped", "Overlapped"],
  ["memory", "Memory"],
  ["free", "Free"],
  ["bubble", "Bubble"],
  ["preparing", "Preparing"],
];
const PARTS = ["computing", "not_overlapped", "memory", "free", "preparing"] as const;
const METRICS = ["total", "computing", "not_overlapped", "overlapped", "memory", "free", "preparing"] as const;
type Metric = (typeof METRICS)[number];

/** The total is the time on the device, as `breakdown`, findings and the cluster have it; Preparing comes before it. */
export function stepRows(reply: TableReply | null): StepRow[] {
  if (!reply) return [];
  const at = (name: string) => reply.columns.findIndex((column) => column.name === name);
  const places = COLUMNS.map(([key, name]) => [key, at(name)] as const);
  return reply.rows.map((cells: Cell[]) => {
    const row: StepRow = { rank: asNumber(cells[at("Rank")]), step: null, computing: 0, not_overlapped: 0, overlapped: 0, memory: 0, free: 0, bubble: 0, preparing: 0, total: 0 };
    const step = cells[at("Step")];
    row.step = step === null || step === undefined || step === "" ? null : asNumber(step);
    for (const [key, place] of places) if (key !== "step") row[key] = Math.max(0, place < 0 ? 0 : asNumber(cells[place] ?? 0));
    row.total = row.computing + row.not_overlapped + row.memory + row.free;
    return row;
  });
}

const stepName = (row: StepRow) => (row.step === null ? t("overview.whole") : String(row.step));
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** Relative spread of the step times around their mean. */
function spread(values: number[]): number {
  const middle = mean(values);
  return middle > 0 ? Math.sqrt(mean(values.map((value) => (value - middle) ** 2))) / middle : 0;
}

/** How long a step took, in us, on the host and on the device; 0 = not known. Without a step: the rank's average. */
export interface StepTimeRow {
  rank: number;
  step: number | null;
  us: number;
  host: number;
  device: number;
}

export function stepTimeRows(reply: TableReply | null): StepTimeRow[] {
  if (!reply) return [];
  const at = (name: string) => reply.columns.findIndex((column) => column.name === name);
  const [rank, step, us, host, device] = ["Rank", "Step", "Step Time(us)", "Host(us)", "Device(us)"].map(at) as [number, number, number, number, number];
  return reply.rows.map((cells: Cell[]) => ({
    rank: asNumber(cells[rank]),
    step: cells[step] === null || cells[step] === undefined || cells[step] === "" ? null : asNumber(cells[step]),
    us: asNumber(cells[us] ?? 0),
    host: asNumber(cells[host] ?? 0),
    device: asNumber(cells[device] ?? 0),
  }));
}

/** The average of a rank, and the times of its steps. The last step has no period: it counts only where it is the only one. */
export function stepTimes(rows: readonly StepTimeRow[], rank: number): { mean: StepTimeRow | null; periods: number[] } {
  const own = rows.filter((row) => row.rank === rank && row.step !== null && row.us > 0);
  return {
    mean: rows.find((row) => row.rank === rank && row.step === null) ?? null,
    periods: (own.length > 1 && own[0]!.host > 0 ? own.slice(0, -1) : own).map((row) => row.us),
  };
}

/** Whether a rank has a device whose events nobody knows: its steps are missing, not empty. */
export function hasUnknownDevice(meta: Pick<DatasetMeta, "ranks">): boolean {
  return meta.ranks.some((rank) => rank.issues.some((issue) => issue.name === "DeviceUnknown"));
}

/** Rows whose total is the step time, where it is known: the parts of the device need not fill it. */
export function withStepTimes(rows: StepRow[], times: readonly StepTimeRow[]): StepRow[] {
  const known = new Map(times.map((time) => [`${time.rank}/${time.step}`, time.us]));
  return rows.map((row) => ({ ...row, total: known.get(`${row.rank}/${row.step}`) || row.total }));
}

function StepTime({ meta, rows, times, rank }: { meta: DatasetMeta; rows: StepRow[]; times: StepTimeRow[]; rank: number }) {
  const { mean: average, periods } = stepTimes(times, rank);
  // A run without marked steps is as long as its parts.
  const step_us = average && average.us > 0 ? average.us : mean(rows.filter((row) => row.rank === rank).map((row) => row.total));
  const ranks = [...new Set(rows.map((row) => row.rank))];
  const computing = ranks.map((each) => ({ rank: each, us: mean(rows.filter((row) => row.rank === each).map((row) => row.computing)) }));
  const slowest = computing.reduce((worst, each) => (each.us > worst.us ? each : worst), computing[0] ?? { rank, us: 0 });
  const others = mean(computing.filter((each) => each.rank !== slowest.rank).map((each) => each.us));
  return (
    <Card title={t("overview.step_time")} definition="overview.step_time">
      <div class="big">{formatDuration(step_us * 1000)}</div>
      {average && average.host > 0 && average.device > 0 && (
        <p class="muted">{t("overview.host_and_device", { host: formatDuration(average.host * 1000), device: formatDuration(average.device * 1000) })}</p>
      )}
      {periods.length > 1 && <p class="muted">± {formatPercent(spread(periods))} · {t("steps", { n: periods.length })}</p>}
      {ranks.length > 1 && slowest.us > others && (
        <p>
          {t("overview.slowest")}{" "}
          <button class="link" onClick={() => setScope({ ranks: [slowest.rank] })}>
            {t("rank")} {slowest.rank}
          </button>{" "}
          <span class="muted">+{formatDuration((slowest.us - others) * 1000)}</span>
        </p>
      )}
      <Speed meta={meta} step_us={step_us} />
    </Card>
  );
}

function WhereItGoes({ rows, rank }: { rows: StepRow[]; rank: number }) {
  const own = rows.filter((row) => row.rank === rank);
  const names = useMemo(() => own.map(stepName), [rows, rank]);
  const series = useMemo(
    () => PARTS.filter((part) => part !== "memory" || own.some((row) => row.memory > 0)).map((part) => ({ name: t(`part.${part}`), color: partColors[part] ?? "#888", values: own.map((row) => row[part] / 1000) })),
    [rows, rank, t("part.free")],
  );
  const pick = (at: number) => setScope({ step: own[at]?.step ?? null });
  return (
    <Card title={t("overview.where", { rank })} definition="overview.step_parts">
      <StackedBars title={t("overview.where", { rank })} names={names} series={series} unit="ms" onPick={pick} />
    </Card>
  );
}

function Heat({ rows }: { rows: StepRow[] }) {
  const [metric, setMetric] = useState<Metric>("total");
  const ranks = useMemo(() => [...new Set(rows.map((row) => row.rank))].sort((a, b) => a - b), [rows]);
  const steps = useMemo(() => [...new Set(rows.map(stepName))], [rows]);
  const values = useMemo(() => {
    const cells = new Float64Array(ranks.length * steps.length).fill(NaN);
    const rankAt = new Map(ranks.map((rank, at) => [rank, at]));
    const stepAt = new Map(steps.map((step, at) => [step, at]));
    for (const row of rows) cells[rankAt.get(row.rank)! * steps.length + stepAt.get(stepName(row))!] = row[metric] / 1000;
    return cells;
  }, [rows, metric, ranks, steps]);
  const pick = (row: number, column: number) => {
    const found = rows.find((each) => each.rank === ranks[row] && stepName(each) === steps[column]);
    if (found) setScope({ ranks: [found.rank], step: found.step });
  };
  const options = METRICS.map((name) => ({ value: name, text: t(`part.${name}`) }));
  return (
    <Card title={t("overview.heat")} extra={<Pick label={t("overview.metric")} value={metric} options={options} onPick={(name) => setMetric(name)} />}>
      <HeatMap title={t("overview.heat")} rows={ranks.map((rank) => `${t("rank")} ${rank}`)} columns={steps} values={values} range={calmRange(values)} unit="ms" height={Math.min(420, 70 + ranks.length * 18)} onPick={pick} />
    </Card>
  );
}

function Quality({ meta }: { meta: DatasetMeta }) {
  const levels = [...new Set(meta.ranks.map((rank) => rank.level).filter((level) => level !== ""))];
  const issues = meta.ranks.reduce((sum, rank) => sum + rank.issues.filter((issue) => issue.severity !== "info").length, 0);
  // Few jobs have a pipeline or a reinforcement learning loop: that is nothing missing.
  const wanted = Object.entries(meta.views).filter(([name]) => name !== "pipeline" && name !== "rl");
  const missing = [...new Map(wanted.flatMap(([, view]) => (view?.missing ?? []).map((part) => [part.what, part] as const))).values()];
  return (
    <Card title={t("overview.quality")} extra={<button onClick={() => navigate("data")}>{t("page.data")}</button>}>
      <ul class="facts">
        <li>{t("ranks", { n: meta.ranks.length })}</li>
        <li>{[...new Set(meta.ranks.map((rank) => rank.source))].join(", ")}</li>
        {levels.length > 0 && <li>{levels.join(", ")}</li>}
        <li class={issues > 0 ? "warn" : "ok"}>{issues > 0 ? t("data.issues", { n: issues }) : t("data.sound")}</li>
      </ul>
      {missing.slice(0, 6).map((part) => (
        <p key={part.what} class="muted">
          {missingWords(part.what)} {part.flag && <span class="mono">({missingWords(part.flag)})</span>}
        </p>
      ))}
    </Card>
  );
}

function TopKernels({ ds, rank }: { ds: PageProps["ds"]; rank: number }) {
  const groups = useMetric(ds, "operator_groups", { rank, step: scope.value.step, group_by: "Computing Operator Type", top: 10 });
  const rows = rowsOf(groups.data, "groups");
  const items = useMemo(
    () => {
      const write = oneUnit(rows.map((row) => asNumber(row["Total Time(us)"]) * 1000));
      return rows.map((row) => ({ name: asText(row["Type"]), value: asNumber(row["Total Time(us)"]), label: `${write(asNumber(row["Total Time(us)"]) * 1000)} ×${asText(row["Count"])}` }));
    },
    [groups.data],
  );
  if (items.length === 0) return null;
  return (
    <Card title={t("overview.top_kernels")} extra={<button onClick={() => navigate("operators")}>{t("page.operators")}</button>}>
      <BarChart title={t("overview.top_kernels")} items={items} unit="us" onPick={(at) => openSearch(items[at]?.name ?? "")} />
    </Card>
  );
}

/**
 * The tree with the parts of a communication group as the model of waiting has them. The reference's Wait Time and Transmit Time, which take a call
 * without a waiting plane for a transfer, stay in the tables of SQL and of the interface.
 */
export function overallRows(rows: readonly Record<string, Cell>[]): Record<string, Cell>[] {
  const groups = new Map(rows.filter((row) => asText(row["source"] ?? "") !== "").map((row) => [asText(row["path"]), row]));
  const shown: Record<string, Cell>[] = [];
  for (const row of rows) {
    const path = asText(row["path"]);
    if (groups.has(path.slice(0, path.lastIndexOf(" > ")))) continue;
    shown.push(row);
    if (!groups.has(path) || row["transit_us"] === null) continue;
    const ratio = (us: number) => (asNumber(row["total_us"]) > 0 ? (asNumber(row["ratio"]) * us) / asNumber(row["total_us"]) : 0);
    for (const [name, column] of [["Transmit Time", "transit_us"], ["Wait Time", "wait_us"], ["Idle Time", "idle_us"]] as const) {
      const us = asNumber(row[column] ?? 0);
      shown.push({ path: `${path} > ${name}`, level: asNumber(row["level"]) + 1, total_us: us, ratio: ratio(us), count: null, avg_us: null, min_us: null, max_us: null });
    }
  }
  return shown;
}

/** What the parts of a group rest on, and how many of its ranks were captured. */
function groupNote(row: Record<string, Cell>): string {
  const source = asText(row["source"] ?? "");
  if (source === "") return "";
  const notes = [t(`times_source.${source}`)];
  if (row["members"] === null) notes.push(t("overview.size_unknown"));
  else if (asNumber(row["captured"]) < asNumber(row["members"])) notes.push(t("overview.captured", { captured: asText(row["captured"]), members: asText(row["members"]) }));
  return notes.join(" · ");
}

function Overall({ ds, rank }: { ds: PageProps["ds"]; rank: number }) {
  const range = scope.value.range;
  const overall = useMetric(ds, "overall", { rank, t0: range?.[0], t1: range?.[1] });
  const rows = overallRows(rowsOf(overall.data, "overall"));
  if (rows.length === 0) return null;
  const args = { rank, ...(range ? { t0: range[0], t1: range[1] } : {}) };
  const explain = (row: Record<string, Cell>) => explainNumber(ds, { name: "overall", args, row, column: "total_us" });
  return (
    <Card title={t("overview.overall")} definition={overall.data?.definition}>
      <table class="plain wide">
        <thead>
          <tr>
            <th>{t("overview.category")}</th>
            <th class="num">{t("overview.total_us")}</th>
            <th class="num">%</th>
            <th class="num">{t("overview.count")}</th>
            <th class="num">{t("overview.avg_us")}</th>
            <th class="num">{t("overview.min_us")}</th>
            <th class="num">{t("overview.max_us")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const path = asText(row["path"]).split(" > ");
            const count = asText(row["count"]);
            return (
              <tr key={asText(row["path"])}>
                <td class={`level-${Math.min(4, path.length)}`}>
                  {valueText(path[path.length - 1] ?? "")} <span class="muted">{groupNote(row)}</span>
                </td>
                <td class="num">
                  <button class="link" title={t("number.title")} onClick={() => explain(row)}>
                    {asNumber(row["total_us"]).toFixed(2)}
                  </button>
                </td>
                <td class="num">{row["ratio"] === null ? "" : asNumber(row["ratio"]).toFixed(2)}</td>
                <td class="num">{count}</td>
                {["avg_us", "min_us", "max_us"].map((column) => (
                  <td key={column} class="num">
                    {row[column] === null ? "" : asNumber(row[column]).toFixed(column === "avg_us" ? 2 : 3)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Card>
  );
}

/** What could be made faster, in a line each. */
function TopFindings({ ds }: { ds: PageProps["ds"] }) {
  const reply = useFindings(ds);
  const rows = rowsOf(reply.data, "findings").slice(0, 4);
  if (rows.length === 0) return null;
  return (
    <Card title={t("overview.findings")} definition={reply.data?.definition} extra={<button onClick={() => navigate("findings")}>{t("page.findings")}</button>}>
      <ul class="finding-list">
        {rows.map((row, at) => (
          <li key={at}>
            <b>{t(`rule.${asText(row["kind"])}`)}</b> {middleEllipsis(words(row, "subject"), 48)} <span class="muted">{gainText(row)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

export default function OverviewPage({ ds, meta }: PageProps) {
  const steps = useLoad((signal) => ds.wholeTable("breakdown", signal), [ds.ds, revision.value]);
  const periods = useLoad((signal) => ds.wholeTable("step_times", signal), [ds.ds, revision.value]);
  const times = useMemo(() => stepTimeRows(periods.data), [periods.data]);
  const rows = useMemo(() => withStepTimes(stepRows(steps.data), times), [steps.data, times]);
  const rank = scopeRank.value;
  const show = () => {
    const span = meta.ranks.find((each) => each.rank === rank)?.steps.find((each) => each.step === scope.value.step);
    if (span) openRange(span.begin, span.end);
    else openRange(meta.extent[0], meta.extent[1]);
  };
  if (steps.error) return <ErrorState error={steps.error} onRetry={steps.reload} />;
  if (!steps.data) return <Loading />;
  return (
    <div class="page-body">
      <div class="controls">
        <RankPick />
        {meta.views.timeline?.available && <button onClick={show}>{t("overview.show")}</button>}
      </div>
      <Against />
      <div class="grid-3">
        {rows.length > 0 ? (
          <>
            <StepTime meta={meta} rows={rows} times={times} rank={rank} />
            <WhereItGoes rows={rows} rank={rank} />
          </>
        ) : (
          <Card title={t("overview.step_time")}>
            {hasUnknownDevice(meta) ? <p class="warn">{t("overview.device_unknown")}</p> : <p class="muted">{t("overview.no_steps")}</p>}
          </Card>
        )}
        <div class="card-stack">
          <TopFindings ds={ds} />
          <Quality meta={meta} />
        </div>
      </div>
      <div class="grid-2">
        {rows.length > 0 && <Heat rows={rows} />}
        <TopKernels ds={ds} rank={rank} />
      </div>
      {rows.length > 0 && <Overall ds={ds} rank={rank} />}
    </div>
  );
}
