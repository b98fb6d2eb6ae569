// The allocator over time, and who holds what.
import { useState } from "preact/hooks";
import { LineChart } from "../charts/line_chart";
import type { MetricReply } from "../api_types";
import { formatShort } from "../format";
import { t } from "../i18n";
import { openRange } from "../state/jump";
import { scopeRank } from "../state/session";
import { DataTable } from "../table/data_table";
import { serverSource } from "../table/source";
import { EmptyState, ErrorState, Loading } from "../widgets/states";
import { curvesOf } from "./curves";
import { asNumber, asText, Card, jumpTo, Pick, RankPick, rowsOf, useMetric, Warnings } from "./parts";
import type { PageProps } from "./registry";

const GROUPINGS = ["Overall", "Stream", "Component"];
const kPoints = 1600;

function Peaks({ reply }: { reply: MetricReply | null }) {
  return (
    <ul class="facts">
      {rowsOf(reply, "peaks").map((peak) => (
        <li key={asText(peak["series"])}>
          <button class="link" title={t("memory.show_peak")} onClick={() => openRange(asNumber(peak["t_ns"]) - 1e6, asNumber(peak["t_ns"]) + 1e6)}>
            {asText(peak["series"])}
          </button>{" "}
          <b>{asNumber(peak["peak_mb"]).toFixed(2)} MB</b> <span class="muted">@ {asNumber(peak["time_ms"]).toFixed(3)} ms</span>
        </li>
      ))}
    </ul>
  );
}

export default function MemoryPage({ ds }: PageProps) {
  const [grouping, setGrouping] = useState("Overall");
  const [zoom, setZoom] = useState<[number, number] | null>(null);
  const rank = scopeRank.value;
  const window = zoom ? { t0: Math.round(zoom[0] * 1e6), t1: Math.round(zoom[1] * 1e6) } : {};
  const curve = useMetric(ds, "memory_curve", { rank, group_by: grouping, width: kPoints, ...window });
  const components = useMetric(ds, "memory_components", { rank });
  if (curve.error) return <ErrorState error={curve.error} onRetry={curve.reload} />;
  const { x, series } = curvesOf([curve.data]);
  const jump = (name: string, ns: number) => void jumpTo(ds, rank, name, ns, 0);
  return (
    <div class="page-body">
      <div class="controls">
        <RankPick />
        <Pick label={t("memory.group_by")} value={grouping} options={GROUPINGS.map((name) => ({ value: name, text: t(`memory.${name}`) }))} onPick={(name) => setGrouping(name)} />
        {zoom && (
          <button onClick={() => setZoom(null)}>
            {t("memory.whole", { from: formatShort(zoom[0]), to: formatShort(zoom[1]) })} ✕
          </button>
        )}
      </div>
      <Warnings reply={curve.data} />
      <Card title={t("memory.curve")} definition={curve.data?.definition} extra={<Peaks reply={curve.data} />}>
        {x.length > 0 ? (
          <LineChart title={t("memory.curve")} x={x} xUnit="ms" unit="MB" series={series} height={320} onZoom={(from, to) => setZoom([from, to])} />
        ) : curve.busy ? (
          <Loading />
        ) : (
          <EmptyState title={t("memory.none")} />
        )}
      </Card>
      <Card title={zoom ? t("memory.operators_in_range") : t("memory.operators")}>
        <DataTable
          name={`operator_memory_rank${rank}`}
          source={serverSource(ds, { source: "metric:memory_operators", args: { rank, ...window } })}
          columns={{ alloc_ns: { hidden: true }, release_ns: { hidden: true } }}
          sort={[{ col: "Size(KB)", desc: true }]}
          onJump={(row) => jump(asText(row.get("Name")), asNumber(row.get("alloc_ns")))}
          height={420}
        />
      </Card>
      {rowsOf(components.data, "components").length > 0 && (
        <Card title={t("memory.components")} definition={components.data?.definition}>
          <DataTable name={`memory_components_rank${rank}`} source={serverSource(ds, { source: "metric:memory_components", args: { rank } })} columns={{ t_ns: { hidden: true } }} height={260} />
        </Card>
      )}
    </div>
  );
}
