// Reinforcement learning: tasks of each role and rank over time, iterations, and the time in which a rank has no task.
import { useMemo, useState } from "preact/hooks";
import type { Cell, MetricReply } from "../api_types";
import { type Block, BlockLanes } from "../charts/block_lanes";
import { ColorKey } from "../charts/legend";
import { seriesColor } from "../charts/palette";
import { formatDuration } from "../format";
import { t } from "../i18n";
import { openRange } from "../state/jump";
import { formatRanks, scope } from "../state/session";
import { DataTable } from "../table/data_table";
import { localSource } from "../table/source";
import { EmptyState, ErrorState, Loading } from "../widgets/states";
import { asNumber, asText, Card, rowsOf, tableOf, useMetric, Warnings } from "./parts";
import type { PageProps } from "./registry";

const kStored = "steplens.rl_config";
const kBubble = "#b07a1a";

type Row = Record<string, Cell>;

/** A role keeps its colour in all charts: by the order in which roles appear. */
function rolesOf(reply: MetricReply | null): string[] {
  return [...new Set(rowsOf(reply, "tasks").map((row) => asText(row["role"])))];
}

function blocksOf(reply: MetricReply | null, ranks: number[], roles: string[]): Block[] {
  const make = (row: Row, label: string, color: string, top: number, bottom: number): Block => {
    const [begin, end, rank] = [asNumber(row["start_ns"]), asNumber(row["end_ns"]), asNumber(row["rank"])];
    const text = `${t("rank")} ${rank} · ${label} · ${t("rl.iteration")} ${asText(row["iteration"])} · ${formatDuration(begin)} + ${formatDuration(end - begin)}`;
    return { row: ranks.indexOf(rank), begin, end, label, text, color, top, bottom };
  };
  const color = (row: Row) => seriesColor(roles.indexOf(asText(row["role"])));
  const tasks = rowsOf(reply, "tasks").map((row) =>
    make(row, `${asText(row["role"])} ${asText(row["task"])}`, color(row), 0, 0.6),
  );
  const batches = rowsOf(reply, "batches").map((row) =>
    make(row, asText(row["type"]), asText(row["type"]) === "BP" ? "#5cbf9f" : "#6aa6e8", 0.6, 1),
  );
  const bubbles = rowsOf(reply, "bubbles").map((row) => ({
    ...make(row, t("pipeline.bubble"), kBubble, 0, 0.6),
    hatched: true,
  }));
  return [...bubbles, ...tasks, ...batches].filter((block) => block.row >= 0);
}

/** Task names of a framework we do not know: the JSON of the reference's RLMstxConfig.json. */
function ConfigEditor({ value, onApply }: { value: string; onApply(text: string): void }) {
  const [text, setText] = useState(value);
  const [wrong, setWrong] = useState("");
  const apply = () => {
    try {
      if (text.trim() !== "") JSON.parse(text);
      setWrong("");
      onApply(text.trim());
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <details class="card">
      <summary>{t("rl.config")}</summary>
      <p class="muted">{t("rl.config_text")}</p>
      <textarea
        class="sql-text mono"
        rows={6}
        spellcheck={false}
        aria-label={t("rl.config")}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        placeholder={
          '{"config":[{"framework":"mine","algorithm":"GRPO","tasks":[{"roleName":"Actor","taskName":"update_actor"}]}]}'
        }
      />
      <div class="row">
        <button class="primary" onClick={apply}>
          {t("rl.apply")}
        </button>
        {wrong && (
          <span class="warn" role="alert">
            {wrong}
          </span>
        )}
      </div>
    </details>
  );
}

function ResultTable({
  reply,
  table,
  title,
  onRow,
}: {
  reply: MetricReply;
  table: string;
  title: string;
  onRow?: (from: number, to: number) => void;
}) {
  const found = tableOf(reply, table);
  const source = useMemo(() => localSource(`rl/${table}`, found.columns, found.rows), [reply]);
  if (found.rows.length === 0) return null;
  const jump = onRow
    ? { onJump: (row: { get(name: string): unknown }) => onRow(Number(row.get("start_ns")), Number(row.get("end_ns"))) }
    : {};
  return (
    <Card title={title} definition={reply.definition}>
      <DataTable name={`rl_${table}`} source={source} height={Math.min(420, 90 + found.rows.length * 26)} {...jump} />
    </Card>
  );
}

export default function RlPage({ ds }: PageProps) {
  const [config, setConfig] = useState(localStorage.getItem(kStored) ?? "");
  const wanted = scope.value.ranks;
  const reply = useMetric(ds, "rl", { ranks: wanted ? formatRanks(wanted) : null, config: config || null });
  const ranks = useMemo(
    () => [...new Set(rowsOf(reply.data, "tasks").map((row) => asNumber(row["rank"])))].sort((a, b) => a - b),
    [reply.data],
  );
  const roles = useMemo(() => rolesOf(reply.data), [reply.data]);
  const blocks = useMemo(() => blocksOf(reply.data, ranks, roles), [reply.data, ranks, roles, t("rl.title")]);
  const apply = (text: string) => {
    localStorage.setItem(kStored, text);
    setConfig(text);
  };
  if (reply.error) return <ErrorState error={reply.error} onRetry={() => (apply(""), reply.reload())} />;
  if (!reply.data) return <Loading />;
  const editor = <ConfigEditor value={config} onApply={apply} />;
  if (ranks.length === 0)
    return (
      <div class="page-body">
        <EmptyState title={t("rl.none")}>
          <p>{t("rl.none_text")}</p>
        </EmptyState>
        {editor}
      </div>
    );
  const found = rowsOf(reply.data, "frameworks")[0];
  return (
    <div class="page-body">
      <Card
        title={t("rl.title")}
        definition={reply.data.definition}
        extra={found && <span class="tag">{`${asText(found["framework"])} ${asText(found["algorithm"])}`}</span>}
      >
        <Warnings reply={reply.data} />
        <ColorKey items={roles.map((role, at) => ({ name: role, color: seriesColor(at) }))} />
        <BlockLanes
          title={t("rl.title")}
          rows={ranks.map((rank) => `${t("rank")} ${rank}`)}
          blocks={blocks}
          table={tableOf(reply.data, "tasks")}
          onPick={(block) => openRange(block.begin, block.end)}
        />
      </Card>
      <ResultTable reply={reply.data} table="iterations" title={t("rl.iterations")} onRow={openRange} />
      <ResultTable reply={reply.data} table="bubbles" title={t("rl.bubbles")} onRow={openRange} />
      {editor}
    </div>
  );
}
