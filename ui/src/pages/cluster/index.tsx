// All ranks of the job: how their time divides, how they are arranged in parallel groups, and what stands out.
import { useMemo, useState } from "preact/hooks";
import type { Dataset } from "../../api";
import { StackedBars } from "../../charts/bars";
import { calmRange, HeatMap } from "../../charts/heat_map";
import { partColors } from "../../charts/palette";
import { formatBytes, formatDuration } from "../../format";
import { t } from "../../i18n";
import { navigate } from "../../state/router";
import { scope, setScope } from "../../state/session";
import { DataTable } from "../../table/data_table";
import { localSource } from "../../table/source";
import { ErrorState } from "../../widgets/states";
import { asNumber, asText, Card, Pick, rowsOf, tableOf, useMetric, Warnings } from "../parts";
import type { PageProps } from "../registry";
import { Arrangement } from "./arrangement";
import { RankDetail } from "./rank_detail";
import { SIZES, type Sizes, type Strategy } from "./strategy";

const PARTS: [string, string, string][] = [
  ["Computing(Not Overlapped)(us)", "cluster.computing_only", partColors["computing"]!],
  ["Overlapped(us)", "part.overlapped", partColors["overlapped"]!],
  ["Communication(Not Overlapped)(us)", "part.not_overlapped", partColors["not_overlapped"]!],
  ["Free(us)", "part.free", partColors["free"]!],
  ["Preparing(us)", "part.preparing", partColors["preparing"]!],
];
const ORDERS = ["rank", "Total(us)", "Computing(us)", "Communication(Not Overlapped)(us)", "Free(us)"];
function Base({ ds }: { ds: Dataset }) {
  const base = useMetric(ds, "summary_base", {});
  const row = rowsOf(base.data, "base")[0];
  if (!row) return null;
  return (
    <ul class="facts">
      <li>{t("ranks", { n: asNumber(row["ranks"]) })}</li>
      <li>{t("steps", { n: asNumber(row["steps"]) })}</li>
      <li>{formatBytes(asNumber(row["size_bytes"]))}</li>
      <li>{formatDuration(asNumber(row["duration_us"]) * 1000)}</li>
    </ul>
  );
}

function RankBars({ ds, step }: { ds: Dataset; step: number | null }) {
  const reply = useMetric(ds, "summary_ranks", { step });
  const [order, setOrder] = useState("rank");
  const [top, setTop] = useState(64);
  const rows = useMemo(() => {
    const all = rowsOf(reply.data, "ranks");
    const sorted = order === "rank" ? all : [...all].sort((a, b) => asNumber(b[order]) - asNumber(a[order]));
    return top < 0 ? sorted : sorted.slice(0, top);
  }, [reply.data, order, top]);
  const chart = useMemo(
    () => ({
      names: rows.map((row) => asText(row["rank"])),
      series: PARTS.map(([column, key, color]) => ({ name: t(key), color, values: rows.map((row) => Math.max(0, asNumber(row[column])) / 1000) })),
    }),
    [rows, t("part.free")],
  );
  if (reply.error) return <ErrorState error={reply.error} onRetry={reply.reload} />;
  const table = tableOf(reply.data, "ranks");
  const [shown, setShown] = useState<number | null>(null);
  const detail = rowsOf(reply.data, "ranks").find((row) => asNumber(row["rank"]) === shown);
  const open = (rank: number) => {
    setScope({ ranks: [rank] });
    navigate("overview", { ranks: String(rank) });
  };
  return (
    <Card
      title={t("cluster.ranks")}
      definition={reply.data?.definition}
      extra={
        <>
          <Pick label={t("cluster.order")} value={order} options={ORDERS.map((name) => ({ value: name, text: name === "rank" ? t("rank") : name }))} onPick={(name) => setOrder(name)} />
          <Pick label={t("operators.top")} value={top} options={[16, 64, 256, -1].map((n) => ({ value: n, text: n < 0 ? t("all") : String(n) }))} onPick={(n) => setTop(n)} />
        </>
      }
    >
      <Warnings reply={reply.data} />
      <StackedBars title={t("cluster.ranks")} names={chart.names} series={chart.series} unit="ms" onPick={(at) => setShown(asNumber(rows[at]?.["rank"] ?? null))} />
      <DataTable
        name="cluster_ranks"
        source={localSource(`ranks/${String(step)}/${reply.busy}`, table.columns, table.rows)}
        onSelect={(row) => setShown(asNumber(row.get("rank")))}
        onJump={(row) => open(asNumber(row.get("rank")))}
        height={Math.min(420, 90 + table.rows.length * 24)}
      />
      {detail && <RankDetail ds={ds} step={step} row={detail} onOpen={open} />}
    </Card>
  );
}

function Advice({ ds, step, strategy }: { ds: Dataset; step: number | null; strategy: Strategy }) {
  const reply = useMetric(ds, "summary_advice", { ...strategy, step });
  const tables = ["differences", "slow_groups"].map((name) => ({ name, table: tableOf(reply.data, name) })).filter((each) => each.table.rows.length > 0);
  if (tables.length === 0) return null;
  return (
    <Card title={t("cluster.advice")} definition={reply.data?.definition}>
      {tables.map(({ name, table }) => (
        <DataTable key={name} name={name} source={localSource(`${name}/${String(step)}/${reply.busy}`, table.columns, table.rows)} height={Math.min(240, 90 + table.rows.length * 24)} />
      ))}
    </Card>
  );
}

/** The experts of a mixture: how long each layer takes them on each rank. */
function Experts({ ds }: { ds: Dataset }) {
  const [layers, setLayers] = useState(1);
  const reply = useMetric(ds, "experts", { layers });
  const rows = rowsOf(reply.data, "load");
  const grid = useMemo(() => {
    const ranks = [...new Set(rows.map((row) => asNumber(row["rank"])))];
    const values = new Float64Array(ranks.length * layers).fill(NaN);
    for (const row of rows) values[asNumber(row["layer"]) * ranks.length + ranks.indexOf(asNumber(row["rank"]))] = asNumber(row["time_us"]) / 1000;
    return { ranks, values };
  }, [reply.data]);
  if (grid.ranks.length === 0) return null;
  const balance = tableOf(reply.data, "balance");
  return (
    <Card
      title={t("cluster.experts")}
      definition={reply.data?.definition}
      extra={
        <label class="pick">
          {t("cluster.layers")}
          <input type="number" min={1} max={500} value={layers} onChange={(event) => setLayers(Math.max(1, Math.min(500, Number(event.currentTarget.value) || 1)))} />
        </label>
      }
    >
      <HeatMap
        title={t("cluster.experts")}
        rows={Array.from({ length: layers }, (_, at) => String(at))}
        columns={grid.ranks.map(String)}
        values={grid.values}
        range={calmRange(grid.values)}
        unit="ms"
        height={Math.min(480, 90 + layers * 24)}
        onPick={(_, column) => setScope({ ranks: [grid.ranks[column]!] })}
      />
      <DataTable name="experts" source={localSource(`experts/${layers}/${reply.busy}`, balance.columns, balance.rows)} height={Math.min(300, 90 + balance.rows.length * 24)} />
    </Card>
  );
}

function StrategyForm({ strategy, algorithms, onChange }: { strategy: Strategy; algorithms: string[]; onChange(next: Strategy): void }) {
  return (
    <div class="controls">
      <Pick label={t("cluster.algorithm")} value={strategy.algorithm} options={algorithms.map((name) => ({ value: name, text: name }))} onPick={(name) => onChange({ ...strategy, algorithm: name })} />
      {SIZES.map((size) => (
        <label key={size} class="pick">
          {size}
          <input
            type="number"
            min={1}
            max={10000}
            value={strategy[size]}
            onChange={(event) => onChange({ ...strategy, [size]: Math.max(1, Math.min(10000, Number(event.currentTarget.value) || 1)) })}
          />
        </label>
      ))}
    </div>
  );
}

export default function ClusterPage({ ds }: PageProps) {
  const found = useMetric(ds, "summary_strategy", {});
  const [own, setOwn] = useState<Strategy | null>(null);
  const row = rowsOf(found.data, "strategy")[0];
  const fromData = row && { algorithm: asText(row["algorithm"]), ...(Object.fromEntries(SIZES.map((size) => [size, asNumber(row[size])])) as Sizes) };
  const strategy = own ?? fromData ?? null;
  const step = scope.value.step;
  const algorithms = rowsOf(found.data, "algorithms").map((each) => asText(each["algorithm"]));
  return (
    <div class="page-body">
      <Base ds={ds} />
      <RankBars ds={ds} step={step} />
      <Experts ds={ds} />
      {strategy && (
        <>
          <StrategyForm strategy={strategy} algorithms={algorithms} onChange={setOwn} />
          <Warnings reply={found.data} />
          <Arrangement ds={ds} step={step} strategy={strategy} />
          <Advice ds={ds} step={step} strategy={strategy} />
        </>
      )}
    </div>
  );
}
