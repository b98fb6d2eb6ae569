// How fast the links were: size against bandwidth of every operation by transport, beside what the link should do; and small packets.
import { useMemo } from "preact/hooks";
import type { Dataset } from "../../api";
import type { Cell } from "../../api_types";
import { Scatter, type ScatterSeries } from "../../charts/scatter";
import { largest, smallest } from "../../charts/ticks";
import { t } from "../../i18n";
import { openSearch } from "../../state/jump";
import { useLoad } from "../../widgets/async";
import { ErrorState, Loading } from "../../widgets/states";
import { asNumber, asText, Card, useMetric } from "../parts";
import { CallSizes } from "./call_sizes";
import type { CommChoice } from "./index";
import { ReplyTable } from "./reply_table";

/** GB/s that a link of the kind reaches. */
export const kExpected: Record<string, number> = { RDMA: 12.5, HCCS: 18, PCIE: 20 };
const kMost = 5000;

export interface Transfer {
  transport: string;
  operator: string;
  rank: number;
  size_mb: number;
  bandwidth: number;
}

/** Transfers by transport, each with a line at what is expected of it. */
export function bandwidthSeries(transfers: readonly Transfer[], expected: (name: string) => string): ScatterSeries[] {
  const names = [...new Set(transfers.map(({ transport }) => transport))].sort();
  const points = names.map((name) => ({
    name,
    points: transfers.filter(({ transport }) => transport === name).map((one) => ({ x: one.size_mb, y: one.bandwidth, name: `${name} · ${one.operator} · ${t("rank")} ${one.rank}` })),
  }));
  const sizes = transfers.map(({ size_mb }) => size_mb);
  const [least, most] = [smallest(sizes, Infinity), largest(sizes, -Infinity)];
  const lines = names.flatMap((name) => {
    const y = kExpected[name];
    return y === undefined ? [] : [{ name: expected(name), line: true, points: [least, most].map((x) => ({ x, y, name: "" })) }];
  });
  return [...points, ...lines];
}

export function Bandwidth({ ds, choice }: { ds: Dataset; choice: CommChoice }) {
  const filter = [
    { col: "transit_size_mb", op: ">" as const, value: 0 },
    ...(choice.step === null ? [] : [{ col: "step", op: "=" as const, value: `step${choice.step}` }]),
    ...(choice.group === "" ? [] : [{ col: "group_name", op: "=" as const, value: choice.group }]),
    // The sum of the links of a chip, and of all operations, are no links.
    { col: "transport", op: "!=" as const, value: "SDMA" },
    { col: "op_name", op: "!contains" as const, value: "Total Op Info" },
  ];
  const reply = useLoad((signal) => ds.table({ source: "comm_bandwidths", args: {}, filter, sort: [{ col: "transit_ms", desc: true }], offset: 0, limit: kMost }, signal), [ds.ds, JSON.stringify(filter)]);
  const transfers = useMemo(() => {
    const at = (row: Cell[], name: string) => row[reply.data?.columns.findIndex((column) => column.name === name) ?? -1] ?? null;
    return (reply.data?.rows ?? []).map((row): Transfer => ({
      transport: asText(at(row, "transport")),
      operator: asText(at(row, "op_name")),
      rank: asNumber(at(row, "rank")),
      size_mb: asNumber(at(row, "transit_size_mb")),
      bandwidth: asNumber(at(row, "bandwidth_gbps")),
    }));
  }, [reply.data]);
  if (reply.error) return <ErrorState error={reply.error} onRetry={reply.reload} />;
  if (!reply.data) return <Loading />;
  if (transfers.length === 0) return <CallSizes ds={ds} choice={choice} />;
  return <Links ds={ds} choice={choice} transfers={transfers} />;
}

function Links({ ds, choice, transfers }: { ds: Dataset; choice: CommChoice; transfers: Transfer[] }) {
  const advice = useMetric(ds, "comm_advice", { ...choice });
  const series = useMemo(() => bandwidthSeries(transfers, (name) => t("comm.expected", { name, n: kExpected[name] ?? 0 })), [transfers, t("comm.expected")]);
  const pick = (at: number, point: number) => {
    const one = transfers.filter(({ transport }) => transport === series[at]?.name)[point];
    if (one) openSearch(one.operator);
  };
  return (
    <>
      <Card title={t("comm.size_bandwidth")}>
        <Scatter title={t("comm.size_bandwidth")} xName={t("comm.axis.size")} yName={t("comm.axis.bandwidth")} series={series} height={340} onPick={pick} />
      </Card>
      <div class="grid-2">
        <ReplyTable reply={advice.data} table="bandwidth" title={t("comm.advice_bandwidth")} name="advice_bandwidth" />
        <ReplyTable reply={advice.data} table="packet" title={t("comm.advice_packet")} name="advice_packet" />
      </div>
    </>
  );
}
