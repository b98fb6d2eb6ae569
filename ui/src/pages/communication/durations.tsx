// How long each rank communicates, how much of it is waiting, over which links, and who makes the others wait.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Dataset } from "../../api";
import type { MetricReply, MetricTable } from "../../api_types";
import { BarChart, StackedBars } from "../../charts/bars";
import { t } from "../../i18n";
import { DataTable } from "../../table/data_table";
import { localSource } from "../../table/source";
import { ErrorState } from "../../widgets/states";
import { asNumber, asText, Card, Pick, rowsOf, tableOf, useMetric, Warnings } from "../parts";
import { openSearch } from "../../state/jump";
import { deviceWord, isColumnOfDevice, isTransportOfDevice } from "../../state/device_words";
import { noteState, route } from "../../state/router";
import { durationSeries } from "./calls";
import type { CommChoice } from "./index";
import { ReplyTable } from "./reply_table";

/** Without the columns about links that the device does not have. */
function withoutForeignColumns({ columns, rows }: MetricTable): MetricTable {
  const kept = columns.map((_, at) => at).filter((at) => isColumnOfDevice(columns[at]!.name));
  return { columns: kept.map((at) => columns[at]!), rows: rows.map((row) => kept.map((at) => row[at]!)) };
}

/** An answer without the rows of transports that the device does not have. */
function withoutForeignRows(reply: MetricReply | null, table: string): MetricReply | null {
  const found = reply?.tables[table];
  const at = found?.columns.findIndex((column) => column.name === "Transport Type") ?? -1;
  if (!reply || !found || at < 0) return reply;
  return { ...reply, tables: { ...reply.tables, [table]: { ...found, rows: found.rows.filter((row) => isTransportOfDevice(asText(row[at]))) } } };
}

function RankDetail({ ds, choice, operator, rank }: { ds: Dataset; choice: CommChoice; operator: string; rank: number }) {
  const bandwidth = useMetric(ds, "comm_bandwidth", { ...choice, operator, rank });
  const packets = useMetric(ds, "comm_packets", { ...choice, operator, rank });
  const durations = useMetric(ds, "comm_durations", { ...choice, operator, rank });
  const operators = withoutForeignColumns(tableOf(durations.data, "operators"));
  const sizes = useMemo(
    () => rowsOf(packets.data, "packets").map((row) => ({ name: `${deviceWord(asText(row["Transport Type"]))} ${asNumber(row["Package Size(MB)"]).toFixed(3)} MB`, value: asNumber(row["Count"]) })),
    [packets.data],
  );
  return (
    <>
      <div class="grid-2">
        <ReplyTable reply={withoutForeignRows(bandwidth.data, "bandwidth")} table="bandwidth" title={t("comm.bandwidth_of", { rank })} name={`bandwidth_rank${rank}`} />
        {sizes.length > 0 && (
          <Card title={t("comm.packets_of", { rank })}>
            <BarChart title={t("comm.packets_of", { rank })} items={sizes} unit="" />
          </Card>
        )}
      </div>
      {operators.rows.length > 0 && (
        <Card title={t("comm.operators_of", { rank })}>
          <DataTable
            name={`communication_rank${rank}`}
            source={localSource(`ops/${rank}/${JSON.stringify(choice)}/${operator}/${durations.busy}`, operators.columns, operators.rows)}
            sort={[{ col: "Elapsed Time(ms)", desc: true }]}
            onJump={(row) => openSearch(asText(row.get("operator")))}
            height={360}
          />
        </Card>
      )}
    </>
  );
}

export function Durations({ ds, choice }: { ds: Dataset; choice: CommChoice }) {
  const [operator, setOperator] = useState("Total Op Info");
  const [rank, setRank] = useState<number | null>(null);
  const operators = useMetric(ds, "comm_operators", { ...choice });
  const reply = useMetric(ds, "comm_durations", { ...choice, operator });
  const slow = useMetric(ds, "comm_slow_ranks", { ...choice });
  const advice = useMetric(ds, "comm_advice", { ...choice });
  const rows = rowsOf(reply.data, "durations");
  const names = rowsOf(operators.data, "operators").map((row) => asText(row["operator"]));
  // The timeline names an operator without its group.
  const sought = route.value.params.get("op") ?? "";
  useEffect(() => {
    const found = names.find((name) => name === sought || name.startsWith(`${sought}@`));
    if (sought !== "" && found) setOperator(found);
  }, [sought, operators.data]);
  const chart = useMemo(
    () => ({
      names: rows.map((row) => asText(row["rank"])),
      series: durationSeries(rows, t),
    }),
    [reply.data, t("comm.wait")],
  );
  if (reply.error) return <ErrorState error={reply.error} onRetry={reply.reload} />;
  const table = withoutForeignColumns(tableOf(reply.data, "durations"));
  const shown = rank ?? (rows.length > 0 ? asNumber(rows[0]!["rank"]) : null);
  return (
    <>
      <div class="controls">
        <Pick label={t("comm.operator")} value={operator} options={(names.length > 0 ? names : [operator]).map((name) => ({ value: name, text: name }))} onPick={(name) => (noteState({ op: null }), setOperator(name))} />
      </div>
      <Warnings reply={reply.data} />
      <Card title={t("comm.durations_title")} definition={reply.data?.definition}>
        {rows.length === 0 && !reply.busy && <p class="muted">{t("comm.no_durations")}</p>}
        <StackedBars title={t("comm.durations_title")} names={chart.names} series={chart.series} unit="ms" onPick={(at) => setRank(asNumber(rows[at]?.["rank"] ?? null))} />
        <DataTable
          name="communication_durations"
          source={localSource(`durations/${JSON.stringify(choice)}/${operator}/${reply.busy}`, table.columns, table.rows)}
          onSelect={(row) => setRank(asNumber(row.get("rank")))}
          height={Math.min(360, 90 + table.rows.length * 24)}
        />
      </Card>
      <ReplyTable reply={slow.data} table="slow_ranks" title={t("comm.slow_ranks")} name="slow_ranks" />
      {shown !== null && <RankDetail ds={ds} choice={choice} operator={operator} rank={shown} />}
      <div class="grid-2">
        <ReplyTable reply={withoutForeignRows(advice.data, "bandwidth")} table="bandwidth" title={t("comm.advice_bandwidth")} name="advice_bandwidth" />
        <ReplyTable reply={advice.data} table="packet" title={t("comm.advice_packet")} name="advice_packet" />
        <ReplyTable reply={advice.data} table="byte_alignment" title={t("comm.advice_alignment")} name="advice_alignment" />
        <ReplyTable reply={advice.data} table="contention" title={t("comm.advice_contention")} name="advice_contention" />
        <ReplyTable reply={advice.data} table="retransmission" title={t("comm.advice_retransmission")} name="advice_retransmission" />
      </div>
    </>
  );
}
