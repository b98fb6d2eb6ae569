// What could be made faster, the largest gain first: why, where to look, what to do. Each can be muted.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Dataset } from "../api";
import type { Cell, DatasetMeta, MetricReply } from "../api_types";
import { formatDuration, middleEllipsis } from "../format";
import { locale, t } from "../i18n";
import { navigate } from "../state/router";
import { findingCount, scopeRank, setScope } from "../state/session";
import type { Loaded } from "../widgets/async";
import { EmptyState, ErrorState, Loading } from "../widgets/states";
import { asNumber, asText, Card, RankPick, rowsOf, showEvidence, useMetric, Warnings } from "./parts";
import type { PageProps } from "./registry";

const kStored = "steplens.muted";
/** Names of kernels can be longer than a line. */
const kMostLetters = 64;

type Row = Record<string, Cell>;

function readMuted(): ReadonlySet<string> {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(kStored) ?? "[]");
    return new Set(Array.isArray(list) ? list.map(String) : []);
  } catch {
    return new Set();
  }
}

const muted = signal<ReadonlySet<string>>(readMuted());
const showMuted = signal(false);

/** Names a finding of a dataset, whatever its numbers are next time. */
export function findingKey(path: string, row: Row): string {
  return [path, asText(row["kind"]), asText(row["subject"]), asText(row["rank"])].join("\n");
}

function toggleMuted(key: string): void {
  const next = new Set(muted.value);
  if (!next.delete(key)) next.add(key);
  muted.value = next;
  localStorage.setItem(kStored, JSON.stringify([...next]));
}

/** A text of the row in the user's language. */
export function words(row: Row, name: string): string {
  const own = locale.value === "zh" ? asText(row[`${name}Zh`]) : "";
  return own || asText(row[name]);
}

/** "−1.2 ms per step (12 %)", "at most −1.2 ms per step"; "" where the gain is not known. */
export function gainText(row: Row): string {
  if (row["gain_us"] === null || row["gain_us"] === undefined) return "";
  const share = row["share"] === null || row["share"] === undefined ? "" : ` (${asNumber(row["share"]).toFixed(1)} %)`;
  return t(row["is_bound"] === 1 ? "findings.at_most" : "findings.gain", { time: formatDuration(asNumber(row["gain_us"]) * 1000) }) + share;
}

function Where({ ds, meta, row }: { ds: Dataset; meta: DatasetMeta; row: Row }) {
  const [page, name, rank] = [asText(row["page"]), asText(row["name"]), asNumber(row["rank"])];
  const hasPlace = meta.views.timeline?.available === true && row["t0_ns"] !== null && row["t0_ns"] !== undefined;
  const show = () => void showEvidence(ds, rank, name, asNumber(row["t0_ns"]), asNumber(row["t1_ns"]));
  const open = () => {
    setScope({ ranks: [rank] });
    navigate(page);
  };
  return (
    <div class="row">
      {hasPlace && (
        <button title={name} onClick={show}>
          {t("findings.show")}
        </button>
      )}
      {page !== "timeline" && <button onClick={open}>{t(`page.${page}`)}</button>}
    </div>
  );
}

/** The numbers behind a finding, and the SQL that gives them. */
function Behind({ row }: { row: Row }) {
  const [evidence, query] = [words(row, "evidence"), asText(row["query"])];
  if (evidence === "") return null;
  return (
    <details>
      <summary>{t("findings.evidence", { text: evidence })}</summary>
      <pre class="mono">{query}</pre>
    </details>
  );
}

function Finding({ ds, meta, row, muteKey }: { ds: Dataset; meta: DatasetMeta; row: Row; muteKey: string }) {
  const isMuted = muted.value.has(muteKey);
  const kind = asText(row["kind"]);
  return (
    <Card
      title={t("findings.title", { kind: t(`rule.${kind}`), subject: middleEllipsis(words(row, "subject"), kMostLetters) })}
      extra={
        <>
          <b>{gainText(row)}</b>
          <span class="tag">{t(`findings.confidence.${asText(row["confidence"])}`)}</span>
          <span class="tag">{t(`findings.effort.${asText(row["effort"])}`)}</span>
          <button aria-pressed={isMuted} onClick={() => toggleMuted(muteKey)}>
            {t(isMuted ? "findings.unmute" : "findings.mute")}
          </button>
        </>
      }
    >
      {words(row, "subject").length > kMostLetters && <p class="mono">{words(row, "subject")}</p>}
      <p>{words(row, "reason")}</p>
      <p>
        <b>{t("findings.todo")}</b> {words(row, "advice")}
      </p>
      <Behind row={row} />
      <Where ds={ds} meta={meta} row={row} />
    </Card>
  );
}

/** The findings of the rank in scope; the menu says how many there are once they are known. */
export function useFindings(ds: Dataset): Loaded<MetricReply> {
  const reply = useMetric(ds, "findings", { rank: scopeRank.value });
  useEffect(() => {
    if (reply.data) findingCount.value = { ds: ds.ds, count: rowsOf(reply.data, "findings").length };
  }, [reply.data]);
  return reply;
}

export default function FindingsPage({ ds, meta }: PageProps) {
  const reply = useFindings(ds);
  if (reply.error) return <ErrorState error={reply.error} onRetry={reply.reload} />;
  if (!reply.data) return <Loading />;
  const rows = rowsOf(reply.data, "findings").map((row) => ({ row, key: findingKey(meta.path, row) }));
  const hidden = rows.filter(({ key }) => muted.value.has(key)).length;
  const shown = rows.filter(({ key }) => showMuted.value || !muted.value.has(key));
  return (
    <div class="page-body">
      <div class="controls">
        <RankPick />
        <span class="muted">{t("findings.text")}</span>
        {hidden > 0 && (
          <button aria-pressed={showMuted.value} onClick={() => (showMuted.value = !showMuted.value)}>
            {t("findings.muted", { n: hidden })}
          </button>
        )}
      </div>
      <Warnings reply={reply.data} />
      {shown.length === 0 && (
        <EmptyState title={t("findings.none")}>
          <p class="muted">{t("findings.none_text")}</p>
        </EmptyState>
      )}
      {shown.map(({ row, key }) => (
        <Finding key={key} ds={ds} meta={meta} row={row} muteKey={key} />
      ))}
    </div>
  );
}
