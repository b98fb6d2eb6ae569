// The allocator over time, and who holds what.
import { useEffect, useMemo, useState } from "preact/hooks";
import { Dataset } from "../../api";
import { LineChart, type LineMark } from "../../charts/line_chart";
import type { DatasetMeta, MetricReply, RankMeta } from "../../api_types";
import { formatShort } from "../../format";
import { locale, t } from "../../i18n";
import { openRange } from "../../state/jump";
import { scope, scopeRank } from "../../state/session";
import { formatSide } from "../../state/sides";
import { type Marker, Markers, markersKey } from "../../timeline/markers";
import { useLoad } from "../../widgets/async";
import { EmptyState, ErrorState, Loading } from "../../widgets/states";
import { type Curves, curvesOf, kBaselineCurves, named, seriesText, unusedReserve, valuesAt } from "../curves";
import { asNumber, asText, Card, Pick, RankPick, rowsOf, useMetric, Warnings } from "../parts";
import type { PageProps } from "../registry";
import { StaticMemory } from "./static_graph";
import { AllocationTables } from "./tables";

const GROUPINGS = ["Overall", "Stream", "Component", "Kind"];
const kPoints = 1600;

function Peaks({ reply }: { reply: MetricReply | null }) {
  return (
    <ul class="facts">
      {rowsOf(reply, "peaks").map((peak) => (
        <li key={asText(peak["series"])}>
          <button class="link" title={t("memory.show_peak")} onClick={() => openRange(asNumber(peak["t_ns"]) - 1e6, asNumber(peak["t_ns"]) + 1e6)}>
            {seriesText(asText(peak["series"]))}
          </button>{" "}
          <b>{asNumber(peak["peak_mb"]).toFixed(2)} MB</b> <span class="muted">@ {asNumber(peak["time_ms"]).toFixed(3)} ms</span>
        </li>
      ))}
    </ul>
  );
}

/** The page's axis begins with the rank's memory, the timeline's with its first slice: what to add to a time shown there, in ms. */
export function axisShift(reply: MetricReply | null): number {
  const first = rowsOf(reply, "points")[0] ?? rowsOf(reply, "peaks")[0];
  return first ? asNumber(first["time_ms"]) - asNumber(first["t_ns"]) / 1e6 : 0;
}

/** Steps as bands and the timeline's markers on top, on the page's axis. */
function marksOf(rank: RankMeta | undefined, markers: readonly Marker[], shift: number): LineMark[] {
  const steps = (rank?.steps ?? []).map((step, at) => ({ from: step.begin / 1e6 + shift, to: step.end / 1e6 + shift, name: `${t("step")} ${step.step}`, band: at % 2 === 0 }));
  return [...steps, ...markers.map((marker) => ({ from: marker.t0 / 1e6 + shift, to: marker.t1 / 1e6 + shift, name: marker.name, color: marker.color }))];
}

function MarkerList({ markers }: { markers: Markers }) {
  if (markers.list.value.length === 0) return null;
  return (
    <div class="chips" role="group" aria-label={t("memory.markers")}>
      <span class="muted">{t("memory.markers")}</span>
      {markers.list.value.map((marker) => (
        <span key={marker.id} class="chip">
          <i style={{ background: marker.color }} />
          <button class="link" onClick={() => openRange(marker.t0 - Math.max(1e5, (marker.t1 - marker.t0) * 0.2), marker.t1 + Math.max(1e5, (marker.t1 - marker.t0) * 0.2))}>
            {marker.name}
          </button>
          <button class="icon" aria-label={t("memory.drop_marker", { name: marker.name })} onClick={() => markers.remove(marker.id)}>
            ×
          </button>
        </span>
      ))}
    </div>
  );
}

/** "At 12.300 ms: Activations 3.20 MB · Gradients 1.00 MB": what the curves say where the user clicked. */
export function atCursor(curves: Curves, ms: number): string {
  const values = valuesAt(curves, ms).map(({ name, value }) => `${name} ${value.toFixed(2)} MB`);
  return t("memory.at_cursor", { ms: ms.toFixed(3), values: values.join(" · ") });
}

interface CurveProps {
  meta: DatasetMeta;
  markers: Markers;
  rank: number;
  curves: Curves;
  shift: number;
  cursor: number | null;
  onCursor(ms: number): void;
  onZoom(from: number, to: number): void;
}

function Curve({ meta, markers, rank, curves, shift, cursor, onCursor, onZoom }: CurveProps) {
  const marks = useMemo(
    () => [...marksOf(meta.ranks.find((each) => each.rank === rank), markers.list.value, shift), ...(cursor === null ? [] : [{ from: cursor, to: cursor, name: "", color: "#888888" }])],
    [meta, rank, markers.list.value, shift, cursor],
  );
  return (
    <>
      <LineChart title={t("memory.curve")} x={curves.x} xUnit="ms" unit="MB" series={curves.series} height={320} marks={marks} onZoom={onZoom} onPick={onCursor} />
      <MarkerList markers={markers} />
      <p class="muted">{cursor === null ? t("memory.hint") : atCursor(curves, cursor)}</p>
    </>
  );
}

export default function MemoryPage({ ds, meta }: PageProps) {
  const [grouping, setGrouping] = useState("Overall");
  const [zoom, setZoom] = useState<[number, number] | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const [gap, setGap] = useState(false);
  const rank = scopeRank.value;
  const markers = useMemo(() => new Markers(markersKey(meta)), [meta.path]);
  const whole = useMetric(ds, "memory_curve", { rank, group_by: grouping, width: kPoints });
  const shift = axisShift(whole.data);
  const shown = (ms: number) => Math.round((ms - shift) * 1e6);
  const { range, baseline } = scope.value;
  useEffect(() => setZoom(range && whole.data ? [range[0] / 1e6 + shift, range[1] / 1e6 + shift] : null), [range?.join(), whole.data]);
  const against = useLoad((signal) => (baseline ? new Dataset(baseline.ds).metric("memory_curve", { rank: baseline.rank, group_by: grouping, width: kPoints }, signal) : null), [baseline && formatSide(baseline), grouping]);
  const window = zoom ? { t0: shown(zoom[0]), t1: shown(zoom[1]) } : {};
  const part = useMetric(ds, "memory_curve", zoom ? { rank, group_by: grouping, width: kPoints, ...window } : null);
  const curve = zoom && part.data ? part : whole;
  const curves = useMemo(() => {
    const made = curvesOf([curve.data]);
    const all = baseline && against.data && !zoom ? curvesOf([curve.data, against.data], ["", kBaselineCurves], made.x[0] ?? 0) : made;
    const own = { ...all, series: all.series.filter(({ name }) => !name.startsWith(kBaselineCurves)) };
    const shown = named(all);
    return gap ? { ...shown, series: [...shown.series, ...unusedReserve(own, t("memory.unused"))] } : shown;
  }, [curve.data, against.data, zoom === null, gap, locale.value]);
  if (whole.error) return <ErrorState error={whole.error} onRetry={whole.reload} />;
  return (
    <div class="page-body">
      <div class="controls">
        <RankPick />
        <Pick label={t("memory.group_by")} value={grouping} options={GROUPINGS.map((name) => ({ value: name, text: t(`memory.${name}`) }))} onPick={(name) => setGrouping(name)} />
        <button class="toggle" aria-pressed={gap} title={t("memory.unused_text")} onClick={() => setGap(!gap)}>
          {t("memory.unused")}
        </button>
        {zoom && (
          <button onClick={() => setZoom(null)}>
            {t("memory.whole", { from: formatShort(zoom[0]), to: formatShort(zoom[1]) })} ✕
          </button>
        )}
      </div>
      <Warnings reply={whole.data} />
      <Card title={t("memory.curve")} definition={whole.data?.definition} extra={<Peaks reply={whole.data} />}>
        {curves.x.length > 0 ? (
          <Curve meta={meta} markers={markers} rank={rank} curves={curves} shift={shift} cursor={cursor} onCursor={setCursor} onZoom={(from, to) => setZoom([from, to])} />
        ) : whole.busy ? (
          <Loading />
        ) : (
          <EmptyState title={t("memory.none")} />
        )}
      </Card>
      <AllocationTables ds={ds} rank={rank} window={window} cursor={cursor === null ? null : { ms: cursor, t_ns: shown(cursor) }} markers={() => markers} />
      <StaticMemory ds={ds} rank={rank} />
    </div>
  );
}
