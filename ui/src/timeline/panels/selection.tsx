// All about one slice.
import { useState } from "preact/hooks";
import type { FlowEnd, SliceDetail } from "../../api_types";
import { formatBytes, formatDuration, formatInt, formatShort } from "../../format";
import { t } from "../../i18n";
import { kernelWork } from "../../kernel_sizes";
import { copyText, EmptyState } from "../../widgets/states";
import { explainHere } from "../explaining";
import { mark } from "../keys";
import type { TimelineModel } from "../model";
import { zoomToSelection } from "../moving";
import type { TimelineSearch } from "../searching";
import { goTo, step } from "../selecting";
import { Peers } from "./peers";

interface Props {
  model: TimelineModel;
  search: TimelineSearch;
}

interface Pair {
  key: string;
  value: string;
}

/** Args as lines; nested objects with dotted keys. */
export function flattenArgs(args: Record<string, unknown>, prefix = ""): Pair[] {
  return Object.entries(args).flatMap(([key, value]): Pair[] => {
    const name = prefix + key;
    if (value !== null && typeof value === "object" && !Array.isArray(value))
      return flattenArgs(value as Record<string, unknown>, `${name}.`);
    return [{ key: name, value: typeof value === "string" ? value : JSON.stringify(value) }];
  });
}

function Pairs({ pairs }: { pairs: Pair[] }) {
  return (
    <table class="plain pairs">
      <tbody>
        {pairs.map((pair) => (
          <tr key={pair.key}>
            <th>{pair.key}</th>
            <td>{pair.value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What the kernel moved and computed, and how fast that was. */
function work({ kernel, dur }: SliceDetail): Pair[] {
  if (!kernel || dur <= 0) return [];
  const { bytes, flops } = kernelWork(kernel);
  return [
    ...(bytes > 0 ? [{ key: t("tl.sel.bytes"), value: t("tl.sel.bytes_text", { size: formatBytes(bytes), rate: `${formatShort(bytes / dur)} GB/s` }) }] : []),
    ...(flops > 0 ? [{ key: t("tl.sel.flops"), value: `${formatShort(flops / 1e9)} GFLOP · ${formatShort(flops / dur / 1000)} TFLOP/s` }] : []),
  ];
}

function facts(model: TimelineModel, detail: SliceDetail): Pair[] {
  const same = detail.same_name;
  const step = model.meta.ranks
    .find((rank) => rank.rank === detail.rank)
    ?.steps.find((span) => span.step === detail.step);
  const pairs: Pair[] = [
    { key: t("tl.sel.lane"), value: model.laneName(detail.track) || detail.lane },
    { key: t("tl.sel.start"), value: `${formatDuration(detail.begin)} (${formatInt(detail.begin)} ns)` },
    { key: t("tl.sel.wall"), value: detail.wall },
    { key: t("tl.sel.dur"), value: `${formatDuration(detail.dur)} (${formatInt(detail.dur)} ns)` },
    { key: t("tl.self"), value: `${formatDuration(detail.self)} (${formatInt(detail.self)} ns)` },
  ];
  if (detail.step !== null && detail.step !== undefined) {
    pairs.push({
      key: t("step"),
      value: step ? `${detail.step} + ${formatDuration(detail.begin - step.begin)}` : String(detail.step),
    });
  }
  if (same) {
    pairs.push({
      key: t("tl.sel.same"),
      value: t("tl.sel.same_text", {
        at: formatInt(same.rank_of_duration),
        count: formatInt(same.count),
        ratio: same.ratio_to_median?.toFixed(2) ?? "–",
      }),
    });
    pairs.push({ key: "p50 / p90 / p99", value: [same.p50, same.p90, same.p99].map(formatDuration).join(" / ") });
  }
  pairs.push(...work(detail));
  if (detail.category) pairs.push({ key: t("tl.sel.category"), value: detail.category });
  return pairs;
}

function Flows({
  model,
  title,
  ends,
  detail,
}: {
  model: TimelineModel;
  title: string;
  ends: FlowEnd[];
  detail: SliceDetail;
}) {
  if (ends.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class="links">
        {ends.slice(0, 60).map((end, at) => {
          // From start to start: a task may begin before the call that queued it returns.
          const delay = Math.abs(end.begin - detail.begin);
          return (
            <li key={at}>
              <button class="link" onClick={() => goTo(model, end)}>
                {end.name}
              </button>
              <span class="muted">{`${end.kind} · ${formatDuration(end.dur)} · ${t("tl.sel.delay")} ${formatDuration(delay)} · ${end.lane ?? ""}`}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** "/home/me/train.py(45): step" -> "/home/me/train.py:45", as editors take it; null for frames without a place. */
export function sourcePlace(frame: string): string | null {
  const place = /^(.+?)\((\d+)\)/.exec(frame);
  return place && !place[1]!.startsWith("<") ? `${place[1]}:${place[2]}` : null;
}

/** A frame of a call stack; a click copies its place for an editor. */
function Frame({ text }: { text: string }) {
  const place = sourcePlace(text);
  if (!place) return <>{text}</>;
  return (
    <button class="link mono" title={t("tl.sel.copy_place", { place })} onClick={() => void copyText(place)}>
      {text}
    </button>
  );
}

function Family({
  model,
  title,
  items,
}: {
  model: TimelineModel;
  title: string;
  items: { track: number; i: number; name: string }[];
}) {
  if (items.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <div class="crumbs">
        {items.map((item, at) => (
          <button key={at} class="link" onClick={() => goTo(model, item)}>
            {item.name}
          </button>
        ))}
      </div>
    </section>
  );
}

function Args({ detail }: { detail: SliceDetail }) {
  const [wanted, setWanted] = useState("");
  const all = [
    ...Object.entries(detail.kernel ?? {}).map(([key, value]) => ({
      key,
      value: value === null ? "N/A" : String(value),
      kernel: true,
    })),
    ...flattenArgs(detail.args ?? {})
      .filter((pair) => !(pair.key === "Call stack" && (detail.stack?.length ?? 0) > 0))
      .map((pair) => ({ ...pair, kernel: false })),
  ].filter((pair) => `${pair.key} ${pair.value}`.toLowerCase().includes(wanted.toLowerCase()));
  const kernel = all.filter((pair) => pair.kernel);
  const args = all.filter((pair) => !pair.kernel);
  return (
    <div class="sel-column">
      <input
        type="search"
        value={wanted}
        placeholder={t("tl.sel.search_args")}
        aria-label={t("tl.sel.search_args")}
        onInput={(e) => setWanted(e.currentTarget.value)}
      />
      {kernel.length > 0 && <h3>{t("tl.sel.kernel")}</h3>}
      <Pairs pairs={kernel} />
      {args.length > 0 && <h3>{t("tl.sel.args")}</h3>}
      <Pairs pairs={args} />
      {all.length === 0 && <p class="muted">{t("tl.sel.no_args")}</p>}
    </div>
  );
}

export function SelectionPanel({ model, search }: Props) {
  const detail = model.detail.value;
  if (!detail)
    return (
      <EmptyState title={t("tl.sel.none")}>
        <p class="muted">{t("tl.sel.none_text")}</p>
      </EmptyState>
    );
  const histogram = () => model.showTab("histogram");
  return (
    <div class="sel-panel">
      <div class="sel-column">
        <h2 class="sel-name">{detail.name}</h2>
        <div class="row wrap">
          <button onClick={() => void step(model, -1, "name")} title="[">{`‹ ${t("tl.sel.prev_same")}`}</button>
          <button onClick={() => void step(model, 1, "name")} title="]">{`${t("tl.sel.next_same")} ›`}</button>
          <button onClick={() => zoomToSelection(model)} title="F">
            {t("tl.sel.zoom")}
          </button>
          <button onClick={() => search.type(detail.name)}>{t("tl.menu.find_same")}</button>
          <button onClick={histogram}>{t("tl.tab.histogram")}</button>
          <button onClick={() => mark(model)} title="K">
            {t("tl.sel.mark")}
          </button>
          <button onClick={() => ((model.hover.value = null), explainHere(model))} title="E">
            {t("tl.menu.explain")}
          </button>
          <button onClick={() => void copyText(JSON.stringify(detail, null, 2))}>{t("copy")}</button>
        </div>
        <Pairs pairs={facts(model, detail)} />
        <Peers model={model} detail={detail} />
        <Family model={model} title={t("tl.sel.parents")} items={detail.parents ?? []} />
        <Family model={model} title={t("tl.sel.children")} items={detail.children ?? []} />
      </div>
      <div class="sel-column">
        <Flows model={model} title={t("tl.sel.flows_in")} ends={detail.flows_in ?? []} detail={detail} />
        <Flows model={model} title={t("tl.sel.flows_out")} ends={detail.flows_out ?? []} detail={detail} />
        {(detail.stack?.length ?? 0) > 0 && (
          <section>
            <h3>{t("tl.sel.stack")}</h3>
            <ol class="stack mono">
              {detail.stack.map((frame, at) => (
                <li key={at}>
                  <Frame text={frame} />
                </li>
              ))}
            </ol>
          </section>
        )}
      </div>
      <Args detail={detail} />
    </div>
  );
}
