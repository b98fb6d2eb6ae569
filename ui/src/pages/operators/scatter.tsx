// Every kernel of the chosen group as a point: duration against size, and against what the chip counted.
import { useState } from "preact/hooks";
import type { Dataset } from "../../api";
import type { Cell, DatasetMeta, TableFilter, TableReply } from "../../api_types";
import { Scatter } from "../../charts/scatter";
import { formatInt } from "../../format";
import { tensorBytes } from "../../kernel_sizes";
import { t } from "../../i18n";
import { useLoad } from "../../widgets/async";
import { ErrorState, Loading } from "../../widgets/states";
import { asNumber, asText, Card, jumpTo, Pick, shownTime } from "../parts";
import { counterColumns, kernelSource } from "./kernels";

const kMost = 2000;

interface Kernel {
  name: string;
  rank: number;
  /** ns since the epoch, as near as a number can say it. */
  begin: Cell;
  dur_us: number;
  cells: Record<string, Cell>;
}

function kernelsOf(reply: TableReply): Kernel[] {
  return reply.rows.map((row) => {
    const cells = Object.fromEntries(reply.columns.map(({ name }, at) => [name, row[at] ?? null]));
    return { name: asText(cells["name"]), rank: asNumber(cells["rank"]), begin: cells["begin_ns"] ?? 0, dur_us: asNumber(cells["dur_ns"]) / 1000, cells };
  });
}

/** What can stand on an axis beside the duration. */
function valueOf(kernel: Kernel, axis: string, meta: DatasetMeta): number {
  if (axis === "size") return tensorBytes(asText(kernel.cells["input_shapes"]), asText(kernel.cells["input_types"])) / 1024;
  if (axis === "start") return shownTime(kernel.begin, meta) / 1e6;
  if (axis === "wait") return kernel.cells["wait_ns"] === null ? NaN : asNumber(kernel.cells["wait_ns"]) / 1000;
  return kernel.cells[axis] === null ? NaN : asNumber(kernel.cells[axis]);
}

interface PlotProps {
  kernels: Kernel[];
  meta: DatasetMeta;
  axes: string[];
  first: string;
  onPick(kernel: Kernel): void;
}

function axisName(axis: string): string {
  return ["size", "start", "wait"].includes(axis) ? t(`operators.axis.${axis}`) : axis;
}

function Plot({ kernels, meta, axes, first, onPick }: PlotProps) {
  const [picked, setPicked] = useState("");
  const axis = axes.includes(picked) ? picked : first;
  const shown = kernels.map((kernel) => ({ kernel, x: valueOf(kernel, axis, meta) })).filter(({ x, kernel }) => Number.isFinite(x) && Number.isFinite(kernel.dur_us));
  const points = shown.map(({ kernel, x }) => ({ x, y: kernel.dur_us, name: kernel.name }));
  const title = t("operators.scatter_of", { axis: axisName(axis) });
  return (
    <Card title={title} extra={<Pick label={t("operators.against")} value={axis} options={axes.map((name) => ({ value: name, text: axisName(name) }))} onPick={(name) => setPicked(name)} />}>
      <Scatter title={title} xName={axisName(axis)} yName={t("operators.axis.duration")} series={[{ name: "", points }]} onPick={(_, at) => shown[at] && onPick(shown[at].kernel)} />
    </Card>
  );
}

/** Two plots of the kernels that `filter` leaves; nothing if there are none. */
export function KernelScatter({ ds, meta, filter }: { ds: Dataset; meta: DatasetMeta; filter: TableFilter[] }) {
  const reply = useLoad(
    (signal) => ds.table({ source: kernelSource(filter.map(({ col }) => col)), args: {}, filter, sort: [{ col: "dur_ns", desc: true }], offset: 0, limit: kMost }, signal),
    [ds.ds, JSON.stringify(filter)],
  );
  if (reply.error) return <ErrorState error={reply.error} onRetry={reply.reload} />;
  if (!reply.data) return <Loading />;
  const kernels = kernelsOf(reply.data);
  if (kernels.length === 0) return null;
  const counters = counterColumns(reply.data.columns, reply.data.rows);
  const has = (axis: string) => kernels.some((kernel) => valueOf(kernel, axis, meta) > 0);
  const axes = [...["size", "start", "wait"].filter(has), ...counters];
  const ratio = counters.find((name) => /ratio|utilization/.test(name)) ?? (axes.includes("wait") ? "wait" : "start");
  const jump = (kernel: Kernel) => void jumpTo(ds, kernel.rank, kernel.name, shownTime(kernel.begin, meta), kernel.dur_us * 1000);
  const plot = { kernels, meta, axes, onPick: jump };
  return (
    <>
      <div class="grid-2">
        <Plot {...plot} first={axes.includes("size") ? "size" : "start"} />
        {ratio !== "start" && <Plot {...plot} first={ratio} />}
      </div>
      {reply.data.filtered > kMost && <p class="muted">{t("operators.scatter_cut", { n: formatInt(kMost), all: formatInt(reply.data.filtered) })}</p>}
    </>
  );
}
