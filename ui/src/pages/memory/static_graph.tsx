// Memory of a static graph (MindSpore): what is live at each node.
import { useMemo, useState } from "preact/hooks";
import type { Dataset } from "../../api";
import { LineChart } from "../../charts/line_chart";
import { t } from "../../i18n";
import { DataTable } from "../../table/data_table";
import { serverSource } from "../../table/source";
import { asNumber, asText, Card, Pick, rowsOf, useMetric } from "../parts";

/** Nothing where the capture has no such graph. */
export function StaticMemory({ ds, rank }: { ds: Dataset; rank: number }) {
  const [graph, setGraph] = useState("");
  const reply = useMetric(ds, "memory_static", { rank, graph: graph || null });
  const graphs = rowsOf(reply.data, "graphs").map((row) => asText(row["graph"]));
  const points = rowsOf(reply.data, "points");
  const series = useMemo(
    () => ["Size(MB)", "Total Size(MB)"].map((name) => ({ name, stepped: true, values: points.map((row) => (row[name] === null ? null : asNumber(row[name]))) })),
    [reply.data],
  );
  const x = useMemo(() => points.map((row) => asNumber(row["node"])), [reply.data]);
  if (points.length === 0) return null;
  return (
    <Card
      title={t("memory.static")}
      definition={reply.data?.definition}
      extra={<Pick label={t("memory.graph")} value={graph || graphs[0]!} options={graphs.map((name) => ({ value: name, text: name }))} onPick={(name) => setGraph(name)} />}
    >
      <LineChart title={t("memory.static")} x={x} xUnit={t("memory.node")} unit="MB" series={series} height={240} />
      <DataTable name={`static_memory_rank${rank}`} source={serverSource(ds, { source: "metric:memory_static", args: { rank, ...(graph ? { graph } : {}) } })} sort={[{ col: "Size(MB)", desc: true }]} height={320} />
    </Card>
  );
}
