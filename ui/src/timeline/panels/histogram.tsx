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
  const name = detail?.name ?? "";
  const loaded = useLoad(
    (signal) =>
      detail ? model.ds.hist({ name, bins: 40, log, ...(lane ? { tracks: [detail.track] } : {}) }, signal) : null,
    [name, log, lane, lane ? detail?.track : 0],
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
  const pick = (at: number) => {
    const bin = reply.bins[at];
    if (!bin) return;
    search.type(`name="${name.replace(/["\\]/g, "\\$&")}" dur>=${Math.floor(bin.from)}ns dur<=${Math.ceil(bin.to)}ns`);
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
        <span class="muted">{t("tl.area.slices", { n: reply.count })}</span>
      </div>
      <Histogram title={name} bins={reply.bins} format={formatDuration} lines={histogramLines(reply, detail.dur)} height={128} onPick={pick} />
    </div>
  );
}
