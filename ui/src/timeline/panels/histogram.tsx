// Durations of all slices with the selection's name.
import { useState } from "preact/hooks";
import { Histogram } from "../../charts/bars";
import { formatDuration } from "../../format";
import { t } from "../../i18n";
import { histogramLines } from "../../table/row_actions";
import { useLoad } from "../../widgets/async";
import { EmptyState, ErrorState, Loading } from "../../widgets/states";
import type { TimelineModel } from "../model";
import type { TimelineSearch } from "../searching";

export function HistogramPanel({ model, search }: { model: TimelineModel; search: TimelineSearch }) {
  const detail = model.detail.value;
  const [log, setLog] = useState(true);
  const [lane, setLane] = useState(false);
  const [byRank, setByRank] = useState(false);
  const name = detail?.name ?? "";
  const loaded = useLoad(
    (signal) =>
      detail ? model.ds.hist({ name, bins: 40, log, ...(lane ? { tracks: [detail.track] } : {}), ...(byRank ? { by: "rank" } : {}) }, signal) : null,
    [name, log, lane, byRank, lane ? detail?.track : 0],
  );
  if (!detail)
    return (
      <EmptyState title={t("tl.hist.none")}>
        <p class="muted">{t("tl.sel.none_text")}</p>
      </EmptyState>
    );
  if (loaded.error) return <ErrorState error={loaded.error} onRetry={loaded.reload} />;
  const reply = loaded.data;
  if (!reply) return <Loading />;
  const brush = (first: number, last: number) => {
    const [from, to] = [reply.bins[first], reply.bins[last]];
    if (!from || !to) return;
    search.type(`name="${name.replace(/["\\]/g, "\\$&")}" dur>=${from.from}ns dur<${to.to}ns`);
    model.showTab("search");
  };
  return (
    <div class="column pad">
      <div class="row">
        <label>
          <input type="checkbox" checked={log} onChange={(e) => setLog(e.currentTarget.checked)} /> {t("tl.hist.log")}
        </label>
        <label>
          <input type="checkbox" checked={lane} onChange={(e) => setLane(e.currentTarget.checked)} />{" "}
          {t("tl.hist.lane")}
        </label>
        {model.tree.roots.length > 1 && (
          <label>
            <input type="checkbox" checked={byRank} onChange={(e) => setByRank(e.currentTarget.checked)} /> {t("tl.hist.by_rank")}
          </label>
        )}
        <span class="muted">{t("tl.area.slices", { n: reply.count })}</span>
        <span class="muted">{t("tl.hist.hint")}</span>
      </div>
      <Histogram title={name} bins={reply.bins} format={formatDuration} lines={histogramLines(reply, detail.dur)} height={128} onPick={(at) => brush(at, at)} onBrush={brush} />
    </div>
  );
}
