// The system view: the reference's statistics of one rank under the reference's names.
import { useMemo, useState } from "preact/hooks";
import type { MetricTable } from "../../api_types";
import { t, valueText } from "../../i18n";
import { scope, scopeRank } from "../../state/session";
import type { ColumnSpecs } from "../../table/columns";
import { DataTable } from "../../table/data_table";
import { localSource } from "../../table/source";
import { numberMenu } from "../../pages/number";
import { useLoad } from "../../widgets/async";
import { EmptyState, ErrorState, Loading } from "../../widgets/states";
import type { TimelineModel } from "../model";
import { eventMenu, jumpOf } from "./events";

interface Choice {
  title: string;
  metric: string;
  args: Record<string, unknown>;
}

const choices: Choice[] = [
  { title: "Overall Metrics", metric: "overall", args: {} },
  ...["Python API", "CANN API", "Ascend Hardware Task", "Communication", "Overlap Analysis"].map((layer) => ({
    title: `${layer} Summary`,
    metric: "layer_summary",
    args: { layer },
  })),
  { title: "Kernel Details", metric: "kernel_details", args: {} },
  { title: "Kernel by type", metric: "kernel_types", args: {} },
  { title: "Memcpy Overall", metric: "memcpy_overall", args: {} },
  { title: "Operator dispatch", metric: "dispatch", args: {} },
  { title: "Expert", metric: "expert", args: {} },
];

/** What the reference's layers hold in traces of GPUs. */
const kGpuTitles: Record<string, string> = { "CANN API Summary": "CUDA API Summary", "Ascend Hardware Task Summary": "GPU Task Summary" };

/** The name of a choice on a capture of this kind. */
export function choiceTitle(title: string, source: string, isCpu = false): string {
  if (isCpu && title === "Ascend Hardware Task Summary") return "CPU Task Summary";
  return (source === "kineto" || source === "nsys" ? kGpuTitles[title] : undefined) ?? title;
}

interface ResultProps {
  model: TimelineModel;
  name: string;
  table: MetricTable;
  menu: ReturnType<typeof numberMenu>;
}

/** "Computing Time > Conv": the last part, as deep as it is. */
function indented(path: string): string {
  const parts = path.split(" > ");
  return "    ".repeat(parts.length - 1) + valueText(parts[parts.length - 1] ?? "");
}

/** The reference's words for the columns of the overall metrics; its levels are indented. */
const kColumns: ColumnSpecs = {
  path: { title: "Category", width: 320, format: (value) => indented(String(value ?? "")) },
  level: { hidden: true },
  total_us: { title: "Total Time(us)" },
  ratio: { title: "Time Ratio(%)" },
  count: { title: "Number" },
  avg_us: { title: "Avg(us)" },
  min_us: { title: "Min(us)" },
  max_us: { title: "Max(us)" },
  id: { hidden: true },
  parent: { hidden: true },
  track: { hidden: true },
  i: { hidden: true },
};

const kKernelTimes = { name: "Name", begin: "Start Time(ns)", dur: "Duration(us)", unit_ns: 1 };

function Result({ model, name, table, menu }: ResultProps) {
  const source = useMemo(
    () => localSource(name + JSON.stringify(table.rows[0] ?? ""), table.columns, table.rows),
    [table],
  );
  const times = eventMenu(model, table.columns.some((column) => column.name === "Start Time(ns)") ? kKernelTimes : undefined);
  return <DataTable source={source} name={name} columns={kColumns} onJump={jumpOf(model)} rowMenu={(row, column) => [...menu(row, column), ...times(row)]} />;
}

export function StatsPanel({ model }: { model: TimelineModel }) {
  const [at, setAt] = useState(0);
  const choice = choices[at] ?? choices[0]!;
  const range = scope.value.range;
  const shown = model.meta.ranks.find((each) => each.rank === scopeRank.value);
  const [source, isCpu] = [shown?.source ?? "", shown?.is_cpu ?? false];
  const args = { ...choice.args, rank: scopeRank.value, ...(range ? { t0: range[0], t1: range[1] } : {}) };
  const loaded = useLoad(
    (signal) => model.ds.metric(choice.metric, args, signal),
    [choice.metric, JSON.stringify(args)],
  );
  const tables = Object.entries(loaded.data?.tables ?? {}).filter(([, table]) => table.rows.length > 0);
  return (
    <div class="stats-panel">
      <div class="stats-list" role="tablist" aria-orientation="vertical">
        {choices.map((each, index) => (
          <button
            key={each.title}
            role="tab"
            aria-selected={index === at}
            class={index === at ? "on" : ""}
            onClick={() => setAt(index)}
          >
            {valueText(choiceTitle(each.title, source, isCpu))}
          </button>
        ))}
      </div>
      <div class="stats-body">
        {loaded.error ? (
          <ErrorState error={loaded.error} onRetry={loaded.reload} />
        ) : loaded.busy ? (
          <Loading />
        ) : tables.length === 0 ? (
          <EmptyState title={t("tl.stats.empty")} />
        ) : null}
        {!loaded.busy &&
          !loaded.error &&
          tables.map(([name, table]) => (
            <Result
              key={`${choice.title}/${name}`}
              model={model}
              name={`${choice.title} ${name}`}
              table={table}
              menu={numberMenu(model.ds, choice.metric, args)}
            />
          ))}
      </div>
    </div>
  );
}
