// The allocations behind the curve: all, live at a moment, never freed, by operator; and the components.
import { useEffect, useState } from "preact/hooks";
import type { Dataset } from "../../api";
import { t } from "../../i18n";
import { DataTable } from "../../table/data_table";
import { type ServerTable, serverSource } from "../../table/source";
import { asNumber, asText, Card, jumpTo, rowsOf, useMetric } from "../parts";

const kTabs = ["all", "live", "held", "by_operator", "components"] as const;
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
    case "components":
      return { source: "metric:memory_components", args: { rank } };
    default:
      return { source, args: { rank, ...window } };
  }
}

export function AllocationTables(props: TablesProps) {
  const { ds, rank, window, cursor } = props;
  const [tab, setTab] = useState<Tab>("all");
  const components = useMetric(ds, "memory_components", { rank });
  const hasComponents = rowsOf(components.data, "memory_components").length > 0;
  useEffect(() => setTab(cursor === null ? "all" : "live"), [cursor?.t_ns]);
  const shown = kTabs.filter((each) => (each !== "live" || cursor !== null) && (each !== "components" || hasComponents));
  const now = shown.includes(tab) ? tab : "all";
  const grouped = now === "by_operator";
  const sort = now === "components" ? [] : [{ col: grouped ? "sum(Size(KB))" : "Size(KB)", desc: true }];
  return (
    <Card title={window.t0 === undefined ? t("memory.operators") : t("memory.operators_in_range")} definition={now === "components" ? components.data?.definition : undefined}>
      <div class="tabs" role="tablist">
        {shown.map((each) => (
          <button key={each} role="tab" class={`toggle ${each === now ? "on" : ""}`} aria-selected={each === now} onClick={() => setTab(each)}>
            {t(`memory.tab.${each}`, { ms: cursor?.ms.toFixed(3) ?? "" })}
          </button>
        ))}
      </div>
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
        {...(grouped || now === "components" ? {} : { onJump: (row) => void jumpTo(ds, rank, asText(row.get("Name")), asNumber(row.get("alloc_ns")), 0) })}
        height={420}
      />
    </Card>
  );
}
