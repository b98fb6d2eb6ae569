// Kernels and collectives of a rank: grouped as the reference viewer does or as one likes, with members, points and other ranks.
import { useState } from "preact/hooks";
import type { TableFilter } from "../../api_types";
import { BarChart } from "../../charts/bars";
import { Donut } from "../../charts/donut";
import { oneUnit } from "../../format";
import { largest } from "../../charts/ticks";
import { t } from "../../i18n";
import { scope, scopeRank } from "../../state/session";
import { DataTable, type RowView } from "../../table/data_table";
import { timeMenu } from "../../table/row_actions";
import { localSource, serverSource } from "../../table/source";
import { Markers, markersKey } from "../../timeline/markers";
import { ErrorState } from "../../widgets/states";
import { numberMenu } from "../number";
import { asNumber, asText, Card, kernelJump, known, Pick, RankPick, rowJump, rowsOf, shownTime, tableOf, useMetric, Warnings } from "../parts";
import type { PageProps } from "../registry";
import { Elsewhere } from "./elsewhere";
import { type GroupKey, kernelSource, type MeasureFunction, scopeFilter } from "./kernels";
import { Chips, OwnGroups } from "./own_grouping";
import { KernelScatter } from "./scatter";

const GROUPINGS = [
  "Computing Operator Type",
  "Computing Operator",
  "Computing Operator Name and Input Shape",
  "Communication Operator Type",
  "Communication Operator",
];
const kOwn = "own";
/** Columns of the table of kernels that say nothing to people. */
const kHidden = ["id", "device", "task_id", "context_id", "model_id", "state", "mix_block_dim", "hf32", "correlation", "begin_ns"];
const TOPS = [15, 30, 50, 100, -1];

/** What was chosen in the statistics: its name, which kernels it has, and the arguments that choose its members. */
interface Group {
  name: string;
  filter: TableFilter[];
  args: Record<string, string>;
}

/** A group of the reference's; keys that the grouping leaves open are not given. */
function groupOf(row: RowView, grouping: string): Group {
  const [type, name, shape, core] = ["Type", "Name", "Input Shape", "Accelerator Core"].map((column) => asText(row.get(column)));
  const args: Record<string, string> = grouping.endsWith("Type") ? { type: type!, core: core! } : { name: name!, shape: shape!, core: core! };
  const columns: Record<string, string> = { type: "type", name: "name", shape: "input_shapes", core: "core" };
  const filter = Object.entries(args).map(([key, value]) => ({ col: columns[key]!, op: "in" as const, value: [value] }));
  return { name: grouping.endsWith("Type") ? type! : name!, filter, args };
}

/** Kernels of a GPU have no type; the reference's grouping by type takes their names. */
function typeless(filter: TableFilter[], hasTypes: boolean): TableFilter[] {
  return hasTypes ? filter : filter.map((one) => (one.col === "type" ? { ...one, col: "name" } : one));
}

interface PresetProps extends PageProps {
  grouping: string;
  top: number;
  ring: boolean;
  group: Group | null;
  onGroup(group: Group | null): void;
}

function PresetGroups({ ds, grouping, top, ring, onGroup }: PresetProps) {
  const rank = scopeRank.value;
  const range = scope.value.range;
  const common = { rank, step: scope.value.step, t0: range?.[0], t1: range?.[1], group_by: grouping };
  const groups = useMetric(ds, "operator_groups", { ...common, top });
  const shares = (name: string) => {
    const rows = rowsOf(groups.data, name);
    const write = oneUnit(rows.map((row) => asNumber(row["duration_us"]) * 1000));
    return rows.map((row) => ({ name: asText(row["name"]), value: asNumber(row["duration_us"]), label: write(asNumber(row["duration_us"]) * 1000) }));
  };
  // One core of all work says nothing: a CPU, or the kernels of a GPU.
  const cores = shares("cores");
  const table = tableOf(groups.data, "groups");
  const byType = grouping.endsWith("Type");
  const Chart = ring ? Donut : BarChart;
  if (groups.error) return <ErrorState error={groups.error} onRetry={groups.reload} />;
  return (
    <>
      <Warnings reply={groups.data} />
      <div class={cores.length > 1 ? "grid-2" : ""}>
        <Card title={t("operators.shares")} definition={groups.data?.definition}>
          <Chart title={t("operators.shares")} items={shares("pie")} unit="us" />
        </Card>
        {cores.length > 1 && (
          <Card title={t("operators.cores")}>
            <Donut title={t("operators.cores")} items={cores} unit="us" />
          </Card>
        )}
      </div>
      <Card title={t("operators.statistics")} definition={groups.data?.definition}>
        <DataTable
          name={`operators_rank${rank}`}
          source={localSource(`groups/${rank}/${grouping}/${top}/${JSON.stringify(common)}/${groups.busy}`, table.columns, table.rows)}
          columns={{
            Type: { width: 240 },
            Name: { hidden: byType },
            "Input Shape": { hidden: byType },
            "Total Time(us)": { bar: largest(rowsOf(groups.data, "groups").map((row) => asNumber(row["Total Time(us)"])), 0) },
          }}
          sort={[{ col: "Total Time(us)", desc: true }]}
          onSelect={(row) => onGroup(groupOf(row, grouping))}
          rowMenu={numberMenu(ds, "operator_groups", { ...known(common), top: -1 })}
          height={320}
        />
      </Card>
    </>
  );
}

export default function OperatorsPage(props: PageProps) {
  const { ds, meta } = props;
  const [grouping, setGrouping] = useState(GROUPINGS[0]!);
  const [keys, setKeys] = useState<GroupKey[]>(["type", "core"]);
  const [functions, setFunctions] = useState<MeasureFunction[]>(["avg", "max", "p90"]);
  const [top, setTop] = useState(15);
  const [ring, setRing] = useState(false);
  const [group, setGroup] = useState<Group | null>(null);
  const own = grouping === kOwn;
  const marks = () => new Markers(markersKey(meta));
  const rank = scopeRank.value;
  const { step, ranks, range } = scope.value;
  const here = scopeFilter({ ranks: own ? ranks : [rank], step });
  const hasTypes = !/kineto/.test(meta.ranks.find((each) => each.rank === rank)?.source ?? "");
  const chosen = typeless(group?.filter ?? [], hasTypes);
  const args = known({ rank, step, t0: range?.[0], t1: range?.[1], group_by: grouping, ...group?.args });
  return (
    <div class="page-body">
      <div class="controls">
        {!own && <RankPick />}
        <Pick
          label={t("operators.group_by")}
          value={grouping}
          options={[...GROUPINGS, kOwn].map((name) => ({ value: name, text: t(`operators.${name}`) }))}
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
      {own ? (
        <>
          <Chips
            keys={keys}
            onKeys={(next) => {
              setKeys(next);
              setGroup(null);
            }}
            functions={functions}
            onFunctions={setFunctions}
          />
          <OwnGroups ds={ds} keys={keys} functions={functions} filter={here} top={top} ring={ring} onGroup={(name, filter) => setGroup({ name, filter, args: {} })} />
        </>
      ) : (
        <PresetGroups {...props} grouping={grouping} top={top} ring={ring} group={group} onGroup={setGroup} />
      )}
      <Card title={group ? t("operators.members", { name: group.name }) : t("operators.details")} extra={group && <button onClick={() => setGroup(null)}>{t("operators.show_all")}</button>}>
        {own ? (
          <DataTable
            key="own"
            name="kernels"
            source={serverSource(ds, { source: kernelSource(chosen.map(({ col }) => col)), filter: [...here, ...chosen] })}
            columns={Object.fromEntries(kHidden.map((name) => [name, { hidden: true }]))}
            sort={[{ col: "dur_ns", desc: true }]}
            onJump={rowJump(ds, meta)}
            rowMenu={timeMenu(ds, marks, (row) => ({ name: asText(row["name"]), begin: shownTime(row["begin_ns"] ?? null, meta), dur: asNumber(row["dur_ns"]) }))}
            height={420}
          />
        ) : (
          <DataTable
            key="preset"
            name={`operator_details_rank${rank}`}
            source={serverSource(ds, { source: "metric:operator_details", args })}
            columns={{ "Start Time(ns)": { hidden: true }, kernel: { hidden: true } }}
            onJump={kernelJump(ds, rank)}
            rowMenu={timeMenu(ds, marks, (row) => ({ name: asText(row["Name"]), begin: asNumber(row["Start Time(ns)"]), dur: asNumber(row["Duration(us)"]) * 1000 }))}
            height={420}
          />
        )}
      </Card>
      <KernelScatter ds={ds} meta={meta} filter={[...here, ...chosen]} />
      {group && <Elsewhere ds={ds} filter={[...scopeFilter({ ranks: null, step: null }), ...chosen]} />}
    </div>
  );
}
