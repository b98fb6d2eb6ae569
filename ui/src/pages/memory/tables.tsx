// The allocations behind the curve: all, live at a moment, never freed, by operator; and the components.
import { useEffect, useState } from "preact/hooks";
import type { Dataset } from "../../api";
import type { MetricReply } from "../../api_types";
import { BarChart } from "../../charts/bars";
import { formatShort } from "../../format";
import { t } from "../../i18n";
import { DataTable } from "../../table/data_table";
import { timeMenu } from "../../table/row_actions";
import { type ServerTable, serverSource } from "../../table/source";
import type { Markers } from "../../timeline/markers";
import { asNumber, asText, Card, jumpTo, rowsOf, useMetric } from "../parts";
import { showAllocationStack } from "./allocation_stack";

const kTabs = ["all", "live", "held", "by_operator", "growth", "components"] as const;
type Tab = (typeof kTabs)[number];

export interface Moment {
  /** On the page's axis. */
  ms: number;
  /** As shown on the timeline. */
  t_ns: number;
}

interface TablesProps {
  ds: Dataset;
  rank: number;
  window: { t0?: number; t1?: number };
  /** Where the user clicked on the curve. */
  cursor: Moment | null;
  markers: () => Markers;
}

const neverFreed = { col: "Release Time(ms)", op: "=" as const, value: "" };

function tableOf(tab: Tab, { rank, window, cursor }: TablesProps): ServerTable {
  const source = "metric:memory_operators";
  switch (tab) {
    case "live":
      return { source, args: { rank, live_at: cursor?.t_ns } };
    case "held":
      return { source, args: { rank, ...window }, filter: [neverFreed] };
    case "by_operator":
      return { source, args: { rank, ...window }, group: ["Name"], measures: [{ fn: "sum", col: "Size(KB)" }, { fn: "max", col: "Size(KB)" }, { fn: "count", col: "Release Time(ms)" }] };
    case "growth":
      return { source: "metric:memory_growth:leak_candidates", args: { rank } };
    case "components":
      return { source: "metric:memory_components", args: { rank } };
    default:
      return { source, args: { rank, ...window } };
  }
}

/** What is still held at the end of each step. */
function StepsHeld({ reply }: { reply: MetricReply | null }) {
  const items = rowsOf(reply, "memory_growth").map((row) => ({ name: `${t("step")} ${asText(row["step"])}`, value: asNumber(row["held_kb"]), label: `${formatShort(asNumber(row["held_kb"]) / 1024)} MB` }));
  return (
    <>
      <BarChart title={t("memory.held_by_step")} items={items} unit="KB" />
      {rowsOf(reply, "leak_candidates").length === 0 && <p class="ok">{t("memory.no_leaks")}</p>}
    </>
  );
}

export function AllocationTables(props: TablesProps) {
  const { ds, rank, window, cursor, markers } = props;
  const [tab, setTab] = useState<Tab>("all");
  const components = useMetric(ds, "memory_components", { rank });
  const hasComponents = rowsOf(components.data, "memory_components").length > 0;
  const growth = useMetric(ds, "memory_growth", { rank });
  const hasSteps = rowsOf(growth.data, "memory_growth").length > 1;
  useEffect(() => setTab(cursor === null ? "all" : "live"), [cursor?.t_ns]);
  const shown = kTabs.filter((each) => (each !== "live" || cursor !== null) && (each !== "components" || hasComponents) && (each !== "growth" || hasSteps));
  const now = shown.includes(tab) ? tab : "all";
  const menu = timeMenu(ds, markers, (row) => ({ name: asText(row["Name"]), begin: asNumber(row["alloc_ns"]), dur: row["release_ns"] === null ? 0 : asNumber(row["release_ns"]) - asNumber(row["alloc_ns"]) }));
  const grouped = now === "by_operator";
  const jumps = !grouped && now !== "components" && now !== "growth";
  const sort = now === "components" || now === "growth" ? [] : [{ col: grouped ? "sum(Size(KB))" : "Size(KB)", desc: true }];
  return (
    <Card title={window.t0 === undefined ? t("memory.operators") : t("memory.operators_in_range")} definition={now === "components" ? components.data?.definition : now === "growth" ? growth.data?.definition : undefined}>
      <div class="tabs" role="tablist">
        {shown.map((each) => (
          <button key={each} role="tab" class={`toggle ${each === now ? "on" : ""}`} aria-selected={each === now} onClick={() => setTab(each)}>
            {t(`memory.tab.${each}`, { ms: cursor?.ms.toFixed(3) ?? "" })}
          </button>
        ))}
      </div>
      {now === "growth" && <StepsHeld reply={growth.data} />}
      <DataTable
        key={now}
        name={`memory_${now}_rank${rank}`}
        source={serverSource(ds, tableOf(now, props))}
        columns={{
          alloc_ns: { hidden: true },
          release_ns: { hidden: true },
          t_ns: { hidden: true },
          "sum(Size(KB))": { title: t("memory.sum_kb") },
          "max(Size(KB))": { title: t("memory.max_kb") },
          "count(Release Time(ms))": { title: t("memory.freed") },
        }}
        sort={sort}
        {...(jumps
          ? {
              onJump: (row) => void jumpTo(ds, rank, asText(row.get("Name")), asNumber(row.get("alloc_ns")), 0),
              rowMenu: (row) => [
                { label: t("memory.stack"), run: () => showAllocationStack(ds, { rank, name: asText(row["Name"]), t_ns: asNumber(row["alloc_ns"]) }) },
                ...menu(row),
              ],
            }
          : {})}
        height={420}
      />
    </Card>
  );
}
