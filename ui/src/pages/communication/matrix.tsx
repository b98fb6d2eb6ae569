// Traffic from rank to rank.
import { useMemo, useState } from "preact/hooks";
import type { Dataset } from "../../api";
import { HeatMap } from "../../charts/heat_map";
import { largest } from "../../charts/ticks";
import type { Cell, MetricReply } from "../../api_types";
import { locale, t } from "../../i18n";
import { openSearch } from "../../state/jump";
import { deviceWord } from "../../state/device_words";
import { meta } from "../../state/session";
import { DataTable } from "../../table/data_table";
import { localSource } from "../../table/source";
import { ErrorState } from "../../widgets/states";
import { asNumber, asText, Card, Pick, rowsOf, tableOf, useMetric, Warnings } from "../parts";
import type { CommChoice } from "./index";

const METRICS = ["Bandwidth(GB/s)", "Transit Size(MB)", "Transit Time(ms)", "Transport Type"];

/** The links as cells of a square. Of several links of a cell it shows the largest value, or, where hosts stand for their ranks, the mean. */
export function linkCells(links: readonly { src: string; dst: string; value: number }[], names: readonly string[], fold: "max" | "mean"): Float64Array {
  const place = new Map(names.map((name, at) => [name, at]));
  const found = new Map<number, number[]>();
  for (const { src, dst, value } of links) {
    const cell = (place.get(dst) ?? 0) * names.length + (place.get(src) ?? 0);
    const known = found.get(cell);
    if (known) known.push(value);
    else found.set(cell, [value]);
  }
  const cells = new Float64Array(names.length ** 2).fill(NaN);
  for (const [cell, values] of found) cells[cell] = fold === "max" ? largest(values, -Infinity) : values.reduce((sum, value) => sum + value, 0) / values.length;
  return cells;
}

/** Every operator that one rank sent another something with; a double click finds it on the timeline. */
function PairOperators({ pair, reply }: { pair: string; reply: MetricReply | null }) {
  const table = tableOf(reply, "pair");
  const source = useMemo(() => localSource(`pair/${pair}/${table.rows.length}`, table.columns, table.rows), [reply, pair]);
  return (
    <Card title={t("comm.pair_operators", { pair })} definition={reply?.definition}>
      <DataTable
        name="communication_pair"
        source={source}
        sort={[{ col: "Transit Time(ms)", desc: true }]}
        height={320}
        onJump={(row) => openSearch(asText(row.get("Op Name")) || asText(row.get("operator")))}
      />
    </Card>
  );
}

export function Matrix({ ds, choice }: { ds: Dataset; choice: CommChoice }) {
  const [byHost, setByHost] = useState(false);
  const [pair, setPair] = useState<{ src: string; dst: string } | null>(null);
  const [metric, setMetric] = useState(METRICS[0]!);
  const [operator, setOperator] = useState("Total Op Info");
  const [inner, setInner] = useState(false);
  const reply = useMetric(ds, "comm_matrix", { ...choice, operator, inner: inner ? 1 : 0 });
  const ends = pair && !byHost ? [pair.src, pair.dst].map((name) => name.replace(/\D+/g, "")) : null;
  const pairReply = useMetric(ds, "comm_matrix", ends ? { ...choice, operator, inner: 1, src: Number(ends[0]), dst: Number(ends[1]) } : null);
  const links = rowsOf(reply.data, "matrix");
  const operators = rowsOf(reply.data, "operators").map((row) => asText(row["operator"]));
  const names = operators.includes(operator) ? operators : [operator, ...operators];
  const transports = useMemo(() => [...new Set(links.map((link) => asText(link["Transport Type"])))].sort(), [reply.data]);
  const hosts = useMemo(() => new Map((meta.value?.ranks ?? []).map((rank) => [rank.rank, rank.host])), [meta.value]);
  const canFold = new Set([...hosts.values()].filter((host) => host !== "")).size > 1;
  const nameOf = (rank: Cell) => (byHost ? (hosts.get(asNumber(rank)) ?? "") : `${t("rank")} ${asText(rank)}`);
  const { ranks, values } = useMemo(() => {
    const all = [...new Set(links.flatMap((link) => [asNumber(link["src_rank"]), asNumber(link["dst_rank"])]))].sort((a, b) => a - b);
    const names = [...new Set(all.map(nameOf))];
    const valueOf = (link: Record<string, Cell>) => (metric === "Transport Type" ? transports.indexOf(asText(link["Transport Type"])) : asNumber(link[metric] ?? null));
    const cells = linkCells(links.map((link) => ({ src: nameOf(link["src_rank"] ?? null), dst: nameOf(link["dst_rank"] ?? null), value: valueOf(link) })), names, byHost && metric !== "Transport Type" ? "mean" : "max");
    return { ranks: names, values: cells };
  }, [reply.data, metric, byHost, locale.value]);
  if (reply.error) return <ErrorState error={reply.error} onRetry={reply.reload} />;
  const table = tableOf(reply.data, "matrix");
  const columnAt = (name: string) => table.columns.findIndex((column) => column.name === name);
  const rows = pair ? table.rows.filter((row) => nameOf(row[columnAt("src_rank")] ?? null) === pair.src && nameOf(row[columnAt("dst_rank")] ?? null) === pair.dst) : table.rows;
  const unit = metric === "Transport Type" ? transports.map((name, at) => `${at}=${deviceWord(name)}`).join(" ") : (/\((.*)\)/.exec(metric)?.[1] ?? "");
  return (
    <>
      <div class="controls">
        <Pick label={t("comm.metric")} value={metric} options={METRICS.map((name) => ({ value: name, text: name }))} onPick={(name) => setMetric(name)} />
        <Pick label={t("comm.operator")} value={operator} options={names.map((name) => ({ value: name, text: name }))} onPick={(name) => setOperator(name)} />
        <label class="pick">
          <input type="checkbox" checked={inner} onChange={(event) => setInner(event.currentTarget.checked)} />
          {t("comm.inner")}
        </label>
        {canFold && (
          <button class="toggle" aria-pressed={byHost} title={t("comm.by_host_text")} onClick={() => (setByHost(!byHost), setPair(null))}>
            {t("comm.by_host")}
          </button>
        )}
      </div>
      <Warnings reply={reply.data} />
      <Card title={t("comm.matrix_title")} definition={reply.data?.definition}>
        {links.length > 0 && <HeatMap title={t("comm.matrix_title")} rows={ranks} columns={ranks} values={values} unit={unit} height={Math.min(640, 90 + ranks.length * 28)} onPick={(dst, src) => setPair({ src: ranks[src] ?? "", dst: ranks[dst] ?? "" })} />}
      </Card>
      <Card
        title={t("comm.links")}
        extra={
          pair && (
            <button class="chip" title={t("clear")} onClick={() => setPair(null)}>
              {`${pair.src} → ${pair.dst} ×`}
            </button>
          )
        }
      >
        <DataTable
          name="communication_matrix"
          source={localSource(`matrix/${JSON.stringify(choice)}/${operator}/${inner}/${reply.busy}/${pair?.src}/${pair?.dst}`, table.columns, rows)}
          columns={{ mapped: { hidden: true } }}
          sort={[{ col: "Bandwidth(GB/s)", desc: false }]}
          height={360}
        />
      </Card>
      {pair && ends && <PairOperators pair={`${pair.src} → ${pair.dst}`} reply={pairReply.data} />}
    </>
  );
}
