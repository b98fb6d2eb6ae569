// Kernels and collectives of a rank, grouped five ways: shares, statistics, members.
import { useState } from "preact/hooks";
import { BarChart } from "../charts/bars";
import { Donut } from "../charts/donut";
import { t } from "../i18n";
import { scope, scopeRank } from "../state/session";
import { DataTable, type RowView } from "../table/data_table";
import { localSource, serverSource } from "../table/source";
import { ErrorState } from "../widgets/states";
import { numberMenu } from "./number";
import { asNumber, asText, Card, kernelJump, known, Pick, RankPick, rowsOf, tableOf, useMetric, Warnings } from "./parts";
import type { PageProps } from "./registry";

const GROUPINGS = [
  "Computing Operator Type",
  "Computing Operator",
  "Computing Operator Name and Input Shape",
  "Communication Operator Type",
  "Communication Operator",
];
const TOPS = [15, 30, 50, 100, -1];

interface Group {
  type: string;
  name: string;
  shape: string;
  core: string;
}

function groupOf(row: RowView): Group {
  return { type: asText(row.get("Type")), name: asText(row.get("Name")), shape: asText(row.get("Input Shape")), core: asText(row.get("Accelerator Core")) };
}

/** The arguments that choose the members of a group; keys that the grouping leaves open are not given. */
function memberArgs(group: Group | null, grouping: string): Record<string, string> {
  if (!group) return {};
  if (grouping.endsWith("Type")) return { type: group.type, core: group.core };
  return { name: group.name, shape: group.shape, core: group.core };
}

export default function OperatorsPage({ ds }: PageProps) {
  const [grouping, setGrouping] = useState(GROUPINGS[0]!);
  const [top, setTop] = useState(15);
  const [ring, setRing] = useState(false);
  const [group, setGroup] = useState<Group | null>(null);
  const rank = scopeRank.value;
  const range = scope.value.range;
  const common = { rank, step: scope.value.step, t0: range?.[0], t1: range?.[1], group_by: grouping };
  const groups = useMetric(ds, "operator_groups", { ...common, top });
  const shares = (name: string) => rowsOf(groups.data, name).map((row) => ({ name: asText(row["name"]), value: asNumber(row["duration_us"]) }));
  const table = tableOf(groups.data, "groups");
  const byType = grouping.endsWith("Type");
  const args = Object.fromEntries(Object.entries({ ...common, ...memberArgs(group, grouping) }).filter(([, value]) => value !== null && value !== undefined));
  const Chart = ring ? Donut : BarChart;
  if (groups.error) return <ErrorState error={groups.error} onRetry={groups.reload} />;
  return (
    <div class="page-body">
      <div class="controls">
        <RankPick />
        <Pick
          label={t("operators.group_by")}
          value={grouping}
          options={GROUPINGS.map((name) => ({ value: name, text: t(`operators.${name}`) }))}
          onPick={(name) => {
            setGrouping(name);
            setGroup(null);
          }}
        />
        <Pick label={t("operators.top")} value={top} options={TOPS.map((n) => ({ value: n, text: n < 0 ? t("all") : String(n) }))} onPick={(n) => setTop(n)} />
        <button class="toggle" aria-pressed={ring} onClick={() => setRing(!ring)}>
          {t("operators.ring")}
        </button>
      </div>
      <Warnings reply={groups.data} />
      <div class="grid-2">
        <Card title={t("operators.shares")} definition={groups.data?.definition}>
          <Chart title={t("operators.shares")} items={shares("pie")} unit="us" />
        </Card>
        <Card title={t("operators.cores")}>
          <Donut title={t("operators.cores")} items={shares("cores")} unit="us" />
        </Card>
      </div>
      <Card title={t("operators.statistics")} definition={groups.data?.definition}>
        <DataTable
          name={`operators_rank${rank}`}
          source={localSource(`groups/${rank}/${grouping}/${top}/${JSON.stringify(common)}/${groups.busy}`, table.columns, table.rows)}
          columns={{ Type: { width: 300 }, Name: { hidden: byType }, "Input Shape": { hidden: byType }, "Total Time(us)": { bar: Math.max(...rowsOf(groups.data, "groups").map((row) => asNumber(row["Total Time(us)"])), 0) } }}
          sort={[{ col: "Total Time(us)", desc: true }]}
          onSelect={(row) => setGroup(groupOf(row))}
          rowMenu={numberMenu(ds, "operator_groups", { ...known(common), top: -1 })}
          height={320}
        />
      </Card>
      <Card
        title={group ? t("operators.members", { name: byType ? group.type : group.name }) : t("operators.details")}
        extra={group && <button onClick={() => setGroup(null)}>{t("operators.show_all")}</button>}
      >
        <DataTable
          name={`operator_details_rank${rank}`}
          source={serverSource(ds, { source: "metric:operator_details", args })}
          columns={{ "Start Time(ns)": { hidden: true }, kernel: { hidden: true } }}
          onJump={kernelJump(ds, rank)}
          height={420}
        />
      </Card>
    </div>
  );
}
