// Sizes and bandwidths of the calls themselves, where no transfer was measured: NCCL, RCCL and gloo say what a call moves.
import { useMemo } from "preact/hooks";
import type { Dataset } from "../../api";
import type { Cell, ColumnInfo } from "../../api_types";
import { Scatter } from "../../charts/scatter";
import { t } from "../../i18n";
import { kernelLabel } from "../../kernel_label";
import { openSearch } from "../../state/jump";
import { DataTable } from "../../table/data_table";
import { localSource } from "../../table/source";
import { useLoad } from "../../widgets/async";
import { EmptyState, ErrorState, Loading } from "../../widgets/states";
import { asNumber, asText, Card } from "../parts";
import { type Call, callBandwidth, sizeRows } from "./calls";
import type { CommChoice } from "./index";

const kMost = 1000;

const kColumns: ColumnInfo[] = [
  { name: "comm.call.type", type: "text" },
  { name: "comm.group", type: "text" },
  { name: "comm.call.data_type", type: "text" },
  { name: "comm.call.count", type: "int" },
  { name: "comm.call.size", type: "double", decimals: 3 },
  { name: "comm.call.time", type: "double", decimals: 3 },
  { name: "comm.axis.bandwidth", type: "double", decimals: 2 },
];

export function CallSizes({ ds, choice }: { ds: Dataset; choice: CommChoice }) {
  const filter = [{ col: "size_bytes", op: ">" as const, value: 0 }];
  const reply = useLoad((signal) => ds.table({ source: "comm_ops", args: {}, filter, sort: [{ col: "dur_ns", desc: true }], offset: 0, limit: kMost }, signal), [ds.ds]);
  const calls = useMemo(() => {
    const at = (row: Cell[], name: string) => row[reply.data?.columns.findIndex((column) => column.name === name) ?? -1] ?? null;
    return (reply.data?.rows ?? [])
      .map((row): Call => ({
        rank: asNumber(at(row, "rank")),
        name: asText(at(row, "name")),
        type: asText(at(row, "op_type")) || kernelLabel(asText(at(row, "name"))),
        group: asText(at(row, "group_name")),
        dataType: asText(at(row, "data_type")),
        bytes: asNumber(at(row, "size_bytes")),
        dur_ns: asNumber(at(row, "dur_ns")),
      }))
      .filter((call) => choice.group === "" || call.group === choice.group);
  }, [reply.data, choice.group]);
  const series = useMemo(
    () =>
      [...new Set(calls.map(({ type }) => type))].sort().map((type) => ({
        name: type,
        points: calls.filter((call) => call.type === type).map((call) => ({ x: call.bytes / 1e6, y: callBandwidth(call), name: `${type} · ${t("rank")} ${call.rank} · ${call.group}` })),
      })),
    [calls, t("rank")],
  );
  const columns = kColumns.map((column) => ({ ...column, name: t(column.name) }));
  const rows = useMemo(() => sizeRows(calls), [calls]);
  if (reply.error) return <ErrorState error={reply.error} onRetry={reply.reload} />;
  if (!reply.data) return <Loading />;
  if (calls.length === 0)
    return (
      <Card title={t("comm.size_bandwidth")}>
        <EmptyState title={t("comm.no_transfers")}>{t("comm.no_transfers_text")}</EmptyState>
      </Card>
    );
  return (
    <>
      <Card title={t("comm.size_bandwidth")}>
        <p class="muted">{t("comm.call.text")}</p>
        <Scatter title={t("comm.size_bandwidth")} xName={t("comm.axis.size")} yName={t("comm.axis.bandwidth")} series={series} height={340} onPick={(at) => openSearch(series[at]?.name ?? "")} />
      </Card>
      <Card title={t("comm.call.sizes")}>
        <DataTable name="communication_sizes" source={localSource(`sizes/${choice.group}/${calls.length}/${t("rank")}`, columns, rows)} height={Math.min(360, 90 + rows.length * 24)} />
      </Card>
    </>
  );
}
