// Traffic from rank to rank.
import { useMemo, useState } from "preact/hooks";
import type { Dataset } from "../../api";
import { HeatMap } from "../../charts/heat_map";
import { t } from "../../i18n";
import { DataTable } from "../../table/data_table";
import { localSource } from "../../table/source";
import { ErrorState } from "../../widgets/states";
import { asNumber, asText, Card, Pick, rowsOf, tableOf, useMetric, Warnings } from "../parts";
import type { CommChoice } from "./index";

const METRICS = ["Bandwidth(GB/s)", "Transit Size(MB)", "Transit Time(ms)", "Transport Type"];

export function Matrix({ ds, choice }: { ds: Dataset; choice: CommChoice }) {
  const [metric, setMetric] = useState(METRICS[0]!);
  const [operator, setOperator] = useState("Total Op Info");
  const [inner, setInner] = useState(false);
  const reply = useMetric(ds, "comm_matrix", { ...choice, operator, inner: inner ? 1 : 0 });
  const links = rowsOf(reply.data, "matrix");
  const operators = rowsOf(reply.data, "operators").map((row) => asText(row["operator"]));
  const names = operators.includes(operator) ? operators : [operator, ...operators];
  const transports = useMemo(() => [...new Set(links.map((link) => asText(link["Transport Type"])))].sort(), [reply.data]);
  const { ranks, values } = useMemo(() => {
    const all = [...new Set(links.flatMap((link) => [asNumber(link["src_rank"]), asNumber(link["dst_rank"])]))].sort((a, b) => a - b);
    const cells = new Float64Array(all.length * all.length).fill(NaN);
    const place = new Map(all.map((rank, at) => [rank, at]));
    for (const link of links) {
      const cell = (place.get(asNumber(link["dst_rank"])) ?? 0) * all.length + (place.get(asNumber(link["src_rank"])) ?? 0);
      const value = metric === "Transport Type" ? transports.indexOf(asText(link["Transport Type"])) : asNumber(link[metric]);
      cells[cell] = Number.isNaN(cells[cell] ?? NaN) ? value : Math.max(cells[cell] ?? 0, value);
    }
    return { ranks: all.map((rank) => `${t("rank")} ${rank}`), values: cells };
  }, [reply.data, metric]);
  if (reply.error) return <ErrorState error={reply.error} onRetry={reply.reload} />;
  const table = tableOf(reply.data, "matrix");
  const unit = metric === "Transport Type" ? transports.map((name, at) => `${at}=${name}`).join(" ") : (/\((.*)\)/.exec(metric)?.[1] ?? "");
  return (
    <>
      <div class="controls">
        <Pick label={t("comm.metric")} value={metric} options={METRICS.map((name) => ({ value: name, text: name }))} onPick={(name) => setMetric(name)} />
        <Pick label={t("comm.operator")} value={operator} options={names.map((name) => ({ value: name, text: name }))} onPick={(name) => setOperator(name)} />
        <label class="pick">
          <input type="checkbox" checked={inner} onChange={(event) => setInner(event.currentTarget.checked)} />
          {t("comm.inner")}
        </label>
      </div>
      <Warnings reply={reply.data} />
      <Card title={t("comm.matrix_title")} definition={reply.data?.definition}>
        {links.length > 0 && <HeatMap title={t("comm.matrix_title")} rows={ranks} columns={ranks} values={values} unit={unit} height={Math.min(640, 90 + ranks.length * 28)} />}
      </Card>
      <Card title={t("comm.links")}>
        <DataTable
          name="communication_matrix"
          source={localSource(`matrix/${JSON.stringify(choice)}/${operator}/${inner}/${reply.busy}`, table.columns, table.rows)}
          columns={{ mapped: { hidden: true } }}
          sort={[{ col: "Bandwidth(GB/s)", desc: false }]}
          height={360}
        />
      </Card>
    </>
  );
}
