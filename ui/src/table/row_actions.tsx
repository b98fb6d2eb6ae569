// What can be done with a row that stands for a stretch of time: its durations, a marker, the same name on the timeline.
import { useState } from "preact/hooks";
import type { Dataset } from "../api";
import type { Cell, HistReply } from "../api_types";
import { Histogram } from "../charts/bars";
import { formatDuration, middleEllipsis } from "../format";
import { t } from "../i18n";
import { openSearch } from "../state/jump";
import type { Markers } from "../timeline/markers";
import { useLoad } from "../widgets/async";
import { openDialog } from "../widgets/dialog";
import type { MenuEntry } from "../widgets/menu";
import { ErrorState, Loading } from "../widgets/states";
import { toast } from "../widgets/toast";

/** Times as the timeline shows them, in ns. */
export interface RowTime {
  name: string;
  begin: number;
  dur: number;
}

/** The percentiles, and the slice one looks at. */
export function histogramLines(reply: HistReply, dur: number) {
  return [
    { value: reply.p50, name: "p50", color: "#1f9e89" },
    { value: reply.p90, name: "p90", color: "#c77f16" },
    { value: reply.p99, name: "p99", color: "#b35bc4" },
    { value: dur, name: t("tl.hist.this"), color: "#d6453d" },
  ];
}

function NameHistogram({ ds, name, dur }: { ds: Dataset; name: string; dur: number }) {
  const [log, setLog] = useState(true);
  const { data, error } = useLoad((signal) => ds.hist({ name, bins: 40, log }, signal), [name, log]);
  if (error) return <ErrorState error={error} />;
  if (!data) return <Loading />;
  return (
    <div class="name-histogram">
      <div class="row">
        <label>
          <input type="checkbox" checked={log} onChange={(event) => setLog(event.currentTarget.checked)} /> {t("tl.hist.log")}
        </label>
        <span class="muted">{t("tl.area.slices", { n: data.count })}</span>
      </div>
      <Histogram title={name} bins={data.bins} format={formatDuration} lines={histogramLines(data, dur)} height={220} />
    </div>
  );
}

/** Entries of a row's menu; none for rows that `timeOf` has no time for. */
export function timeMenu(ds: Dataset, markers: () => Markers, timeOf: (row: Record<string, Cell>) => RowTime | null) {
  return (row: Record<string, Cell>): MenuEntry[] => {
    const time = timeOf(row);
    if (!time || time.name === "" || !Number.isFinite(time.begin)) return [];
    const mark = () => {
      const list = markers();
      list.change(list.add(time.begin, time.begin + time.dur).id, { name: middleEllipsis(time.name, 40) });
      toast("info", t("table.marked", { name: middleEllipsis(time.name, 60) }));
    };
    return [
      { label: t("table.histogram"), run: () => openDialog(t("tl.tab.histogram"), () => <NameHistogram ds={ds} name={time.name} dur={time.dur} />) },
      { label: t("table.mark"), run: mark },
      { label: t("table.same_name"), run: () => openSearch(`name="${time.name.replace(/["\\]/g, "\\$&")}"`) },
    ];
  };
}
