// What one rank computes on which cores, and how much of its communication is hidden.
import type { Dataset } from "../../api";
import type { Cell } from "../../api_types";
import { Donut } from "../../charts/donut";
import { partColors } from "../../charts/palette";
import { formatDuration } from "../../format";
import { t } from "../../i18n";
import { navigate } from "../../state/router";
import { asNumber, asText, rowsOf, useMetric } from "../parts";

interface DetailProps {
  ds: Dataset;
  step: number | null;
  /** Its row of the ranks' times. */
  row: Record<string, Cell>;
  onOpen(rank: number): void;
}

const item = (name: string, us: number, color?: string) => ({ name, value: us, label: formatDuration(us * 1000), ...(color ? { color } : {}) });

export function RankDetail({ ds, step, row, onOpen }: DetailProps) {
  const rank = asNumber(row["rank"]);
  const groups = useMetric(ds, "operator_groups", { rank, step, group_by: "Computing Operator Type", top: -1 });
  const cores = rowsOf(groups.data, "cores").map((core) => item(asText(core["name"]), asNumber(core["duration_us"])));
  const hidden = asNumber(row["Communication(us)"]) - asNumber(row["Communication(Not Overlapped)(us)"]);
  const communication = [
    item(t("part.overlapped"), Math.max(0, hidden), partColors["overlapped"]),
    item(t("part.not_overlapped"), asNumber(row["Communication(Not Overlapped)(us)"]), partColors["not_overlapped"]),
  ];
  const show = (page: string) => navigate(page, { ranks: String(rank) });
  return (
    <section class="rank-detail" aria-label={`${t("rank")} ${rank}`}>
      <div class="controls">
        <b>
          {t("rank")} {rank}
        </b>
        <button onClick={() => onOpen(rank)}>{t("page.overview")}</button>
        <button onClick={() => show("operators")}>{t("page.operators")}</button>
        <button onClick={() => show("timeline")}>{t("page.timeline")}</button>
      </div>
      <div class="grid-2">
        {cores.length > 0 && (
          <div>
            <h3>{t("cluster.computing_detail")}</h3>
            <Donut title={t("cluster.computing_detail")} items={cores} unit="us" height={170} />
          </div>
        )}
        <div>
          <h3>{t("cluster.communication_detail")}</h3>
          <Donut title={t("cluster.communication_detail")} items={communication} unit="us" height={170} />
        </div>
      </div>
    </section>
  );
}
