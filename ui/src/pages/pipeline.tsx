// Stages of a pipeline-parallel job: forward and backward passes of micro batches, transfers between stages, bubbles with their cause.
import { useMemo, useState } from "preact/hooks";
import type { Cell, MetricReply } from "../api_types";
import { type Block, type BlockArrow, BlockLanes } from "../charts/block_lanes";
import { ColorKey } from "../charts/legend";
import { formatDuration } from "../format";
import { hasMessage, t } from "../i18n";
import { openRange } from "../state/jump";
import { formatRanks, scope } from "../state/session";
import { DataTable } from "../table/data_table";
import { localSource } from "../table/source";
import { Markers, markersKey } from "../timeline/markers";
import { EmptyState, ErrorState, Loading } from "../widgets/states";
import { asNumber, asText, Card, rowsOf, tableOf, useMetric, Warnings } from "./parts";
import type { PageProps } from "./registry";

const kColors = { FP: "#6aa6e8", BP: "#5cbf9f", p2p: "#e39a4a", bubble: "#b07a1a", ideal: "#8a5cd1" };

type Row = Record<string, Cell>;

/** The rows of the chart: ranks that have blocks, in the order of their stages. */
function ranksOf(reply: MetricReply | null): number[] {
  const stages = rowsOf(reply, "stages");
  const order = new Map(stages.map((row) => [asNumber(row["rank"]), asNumber(row["stage"])]));
  const ranks = [...new Set(rowsOf(reply, "blocks").map((row) => asNumber(row["rank"])))];
  return ranks.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0) || a - b);
}

function cause(row: Row): string {
  const key = `pipeline.cause.${asText(row["cause"])}`;
  return hasMessage(key) ? t(key) : asText(row["cause"]);
}

function blocksOf(reply: MetricReply | null, ranks: number[], ideal: boolean): Block[] {
  const make = (row: Row, color: string, top: number, bottom: number, label: string): Block => {
    const begin = asNumber(row["start_ns"]);
    const end = row["end_ns"] === undefined ? begin + asNumber(row["dur_ns"]) : asNumber(row["end_ns"]);
    const rank = asNumber(row["rank"]);
    const text = `${t("rank")} ${rank} · ${label} · ${formatDuration(begin)} + ${formatDuration(end - begin)}`;
    return { row: ranks.indexOf(rank), begin, end, label, text, color, top, bottom };
  };
  const passColor = (row: Row) => (asText(row["type"]) === "BP" ? kColors.BP : kColors.FP);
  const passes = rowsOf(reply, "blocks").map((row) => make(row, passColor(row), 0, 0.66, asText(row["name"])));
  const bubbles = rowsOf(reply, "bubbles").map((row) => ({
    ...make(row, kColors.bubble, 0, 0.66, cause(row)),
    hatched: true,
  }));
  const transfers = rowsOf(reply, "p2p").map((row) => make(row, kColors.p2p, 0.66, 1, asText(row["name"])));
  const plan = ideal
    ? rowsOf(reply, "ideal").map((row) => ({
        ...make(row, kColors.ideal, 0.05, 0.6, asText(row["name"])),
        outline: true,
      }))
    : [];
  return [...bubbles, ...passes, ...transfers, ...plan].filter((block) => block.row >= 0);
}

function arrowsOf(reply: MetricReply | null, ranks: number[]): BlockArrow[] {
  return rowsOf(reply, "arrows")
    .map((row) => ({
      fromRow: ranks.indexOf(asNumber(row["from_rank"])),
      from: asNumber(row["from_ns"]),
      toRow: ranks.indexOf(asNumber(row["to_rank"])),
      to: asNumber(row["to_ns"]),
    }))
    .filter((arrow) => arrow.fromRow >= 0 && arrow.toRow >= 0);
}

function Stages({ reply }: { reply: MetricReply | null }) {
  const table = tableOf(reply, "stages");
  const source = useMemo(() => localSource("pipeline/stages", table.columns, table.rows), [reply]);
  if (table.rows.length === 0) return null;
  return (
    <Card title={t("pipeline.stages")} definition={reply?.definition}>
      <DataTable name="pipeline_stages" source={source} height={Math.min(420, 90 + table.rows.length * 26)} />
    </Card>
  );
}

export default function PipelinePage({ ds, meta }: PageProps) {
  const { ranks: wanted } = scope.value;
  const reply = useMetric(ds, "pipeline", wanted ? { ranks: formatRanks(wanted) } : {});
  const [ideal, setIdeal] = useState(false);
  const ranks = useMemo(() => ranksOf(reply.data), [reply.data]);
  const blocks = useMemo(() => blocksOf(reply.data, ranks, ideal), [reply.data, ranks, ideal, t("pipeline.title")]);
  const arrows = useMemo(() => arrowsOf(reply.data, ranks), [reply.data, ranks]);
  const markers = useMemo(() => new Markers(markersKey(meta)).list.value.map(({ t0, t1, name, color }) => ({ begin: t0, end: t1, name, color })), [meta.path]);
  if (reply.error) return <ErrorState error={reply.error} onRetry={reply.reload} />;
  if (!reply.data) return <Loading />;
  if (ranks.length === 0)
    return (
      <EmptyState title={t("pipeline.none")}>
        <p>{t("pipeline.none_text")}</p>
        <code class="block">torch_npu.npu.mstx.range_start("FP0") · experimental_config: mstx=True</code>
      </EmptyState>
    );
  const hasIdeal = tableOf(reply.data, "ideal").rows.length > 0;
  const legend = [
    { name: t("pipeline.fp"), color: kColors.FP },
    { name: t("pipeline.bp"), color: kColors.BP },
    { name: t("pipeline.p2p"), color: kColors.p2p },
    { name: t("pipeline.bubble"), color: kColors.bubble },
  ];
  return (
    <div class="page-body">
      <Card
        title={t("pipeline.title")}
        definition={reply.data.definition}
        extra={
          hasIdeal && (
            <label>
              <input type="checkbox" checked={ideal} onChange={(event) => setIdeal(event.currentTarget.checked)} />{" "}
              {t("pipeline.ideal")}
            </label>
          )
        }
      >
        <Warnings reply={reply.data} />
        <ColorKey items={legend} />
        <BlockLanes
          title={t("pipeline.title")}
          rows={ranks.map((rank) => `${t("rank")} ${rank}`)}
          blocks={blocks}
          arrows={arrows}
          markers={markers}
          table={tableOf(reply.data, "blocks")}
          onPick={(block) => openRange(block.begin, block.end)}
        />
        <p class="muted">{t("pipeline.hint")}</p>
      </Card>
      <Stages reply={reply.data} />
    </div>
  );
}
