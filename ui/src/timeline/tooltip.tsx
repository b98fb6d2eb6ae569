// What is under the pointer: name, count, duration; exact numbers come a moment later.
import { useEffect, useState } from "preact/hooks";
import type { SliceDetail } from "../api_types";
import { formatDuration, formatPercent, formatShort } from "../format";
import { t } from "../i18n";
import { kernelLabel } from "../kernel_label";
import type { Hover, TimelineModel } from "./model";

const kDelayMs = 110;

/** Details of the slice under the pointer, once it rests. */
function useExact(model: TimelineModel, hover: Hover | null): SliceDetail | null {
  const [detail, setDetail] = useState<SliceDetail | null>(null);
  const key = hover?.run ? `${hover.run.track}/${hover.run.ord}` : "";
  useEffect(() => {
    setDetail(null);
    const run = hover?.run;
    if (!run) return;
    const control = new AbortController();
    const timer = setTimeout(() => {
      model.ds.slice(run.track, run.ord, control.signal).then(setDetail, () => undefined);
    }, kDelayMs);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [key]);
  return detail;
}

/** What the colour says, while slices are coloured by more than their name. */
function Shade({ model, hover, shade }: { model: TimelineModel; hover: Hover; shade: number }) {
  const mode = model.shading.mode.value;
  if (mode === "" || shade === 0) return null;
  if (mode === "rules") return <div>{model.shading.rules.value[shade - 1]?.filter ?? ""}</div>;
  if (mode === "module") return <div>{model.shading.modules(hover.track.rank)?.[shade - 1] ?? ""}</div>;
  return <div>{t("tl.tip.percentile", { share: formatPercent((shade - 1) / 254) })}</div>;
}

/** A line of the tooltip: what it is, and its value. */
function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div class="tip-fact">
      <span class="muted">{name}</span>
      <span>{value}</span>
    </div>
  );
}

function Lines({ model, hover, exact }: { model: TimelineModel; hover: Hover; exact: SliceDetail | null }) {
  const { run } = hover;
  if (run) {
    const name = exact?.name ?? model.names.text(run.name) ?? "…";
    const dur = exact ? formatDuration(exact.dur) : `≈ ${formatDuration(run.t1 - run.t0)}`;
    return (
      <>
        <strong>{kernelLabel(name)}</strong>
        {kernelLabel(name) !== name && <div class="tip-full">{name}</div>}
        {run.count > 1 ? <div>{t("tl.tip.many", { n: run.count, dur })}</div> : <Fact name={t("tl.sel.dur")} value={dur} />}
        <Shade model={model} hover={hover} shade={run.shade} />
        {exact && exact.self !== exact.dur && <Fact name={t("tl.self")} value={formatDuration(exact.self)} />}
      </>
    );
  }
  const counter = hover.track.kind === "counter" ? hover.track : model.stripTrack(hover.track);
  if (hover.value !== null && counter.kind === "counter")
    return <strong>{`${counter.name}: ${formatShort(hover.value)}`}</strong>;
  if (hover.value !== null) return <strong>{t("tl.tip.busy", { share: formatPercent(hover.value) })}</strong>;
  return null;
}

export function Tooltip({ model }: { model: TimelineModel }) {
  const hover = model.hover.value;
  const exact = useExact(model, hover);
  if (!hover || hover.x < 0 || (!hover.run && hover.value === null)) return null;
  const right = hover.x > model.width - 340;
  const low = hover.y > model.height - 110;
  return (
    <div
      class="tl-tip"
      style={{
        left: right ? "auto" : `${hover.x + 14}px`,
        right: right ? `${model.width - hover.x + 14}px` : "auto",
        top: low ? "auto" : `${hover.y + 16}px`,
        bottom: low ? `${model.height - hover.y + 10}px` : "auto",
      }}
    >
      <Lines model={model} hover={hover} exact={exact} />
      <Fact name={t(hover.run ? "tl.sel.start" : "tl.tip.time")} value={formatDuration(exact?.begin ?? hover.t)} />
      <Fact name={t("tl.sel.lane")} value={model.fullName(hover.track)} />
    </div>
  );
}
