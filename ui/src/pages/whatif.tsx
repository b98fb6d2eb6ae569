// What a change would save: the recorded step replayed with the changes that the sliders stand for, and what decides how long it takes now.
import { useState } from "preact/hooks";
import type { Dataset } from "../api";
import type { Cell, SqlReply } from "../api_types";
import { formatDuration } from "../format";
import { t } from "../i18n";
import { navigate } from "../state/router";
import { scope } from "../state/session";
import { laneQueries, queriesText, withQuery } from "../state/query_lanes";
import { useLoad } from "../widgets/async";
import { ErrorState, Loading } from "../widgets/states";
import { asNumber, asText, Card } from "./parts";
import type { PageProps } from "./registry";

/** A part of the step, and how long it takes against what was recorded. */
export const kParts = { kernel: "kernel", comm: "comm", host: "host", copy: "copy", loader: "host:*DataLoader*" } as const;
export const kSwitches = { sync: "arg_remove='sync'", overlap: "arg_overlap='comm'", balance: "arg_balance='ranks'" } as const;
export type PartName = keyof typeof kParts;
export type SwitchName = keyof typeof kSwitches;

export interface Change {
  percent: Partial<Record<PartName, number>>;
  on: Partial<Record<SwitchName, boolean>>;
}

/** The query that replays the step with a change; null if nothing is changed. */
export function changeQuery(change: Change, place: readonly string[]): string | null {
  const scales = (Object.keys(kParts) as PartName[])
    .filter((name) => (change.percent[name] ?? 100) !== 100)
    .map((name) => `${kParts[name]}=${(change.percent[name] ?? 100) / 100}`);
  const switches = (Object.keys(kSwitches) as SwitchName[]).filter((name) => change.on[name]).map((name) => kSwitches[name]);
  if (scales.length + switches.length === 0) return null;
  const scale = scales.length === 0 ? [] : [`arg_scale='${scales.join("; ")}'`];
  return `SELECT * FROM whatif WHERE ${[...scale, ...switches, ...place].join(" AND ")}`;
}

const rowsOf = (reply: SqlReply | null): Record<string, Cell>[] =>
  reply?.rows.map((row) => Object.fromEntries(reply.columns.map((column, i) => [column.name, row[i] ?? null]))) ?? [];

/** Which ranks and step the scope bar names: all ranks meet in their collectives unless one is chosen. */
function placeOf(): string[] {
  const { ranks, step } = scope.value;
  return [...(ranks?.length === 1 ? [`arg_rank=${ranks[0]}`] : []), ...(step === null ? [] : [`arg_step=${step}`])];
}

function Result({ row }: { row: Record<string, Cell> }) {
  const saved = asNumber(row["saving_per_step_ns"]);
  const time = formatDuration(Math.abs(saved));
  const percent = Math.abs(asNumber(row["saving_percent"])).toFixed(1);
  return (
    <p class="whatif-result">
      {t("whatif.step")} <b>{formatDuration(asNumber(row["replayed_per_step_ns"]))}</b>{" "}
      <span class={saved >= 0 ? "ok" : "bad"}>{t(saved >= 0 ? "whatif.saves" : "whatif.more", { time, percent })}</span>
      <span class="muted">
        {" "}
        · {t("whatif.now", { time: formatDuration(asNumber(row["measured_per_step_ns"])) })} · {t("whatif.bound", { time: formatDuration(asNumber(row["bound_per_step_ns"])) })}
      </span>
    </p>
  );
}

function Sliders({ ds }: { ds: Dataset }) {
  const [change, setChange] = useState<Change>({ percent: {}, on: {} });
  const query = changeQuery(change, placeOf());
  const answer = useLoad((signal) => (query === null ? null : ds.sql({ query, limit: 100, timeout_ms: 60_000 }, signal)), [ds.ds, query]);
  const row = query === null ? undefined : rowsOf(answer.data).at(-1);
  return (
    <Card
      title={t("page.whatif")}
      extra={
        <button disabled={query === null} onClick={() => setChange({ percent: {}, on: {} })}>
          {t("whatif.reset")}
        </button>
      }
    >
      <p class="muted">{t("whatif.text")}</p>
      {(Object.keys(kParts) as PartName[]).map((name) => (
        <label key={name} class="whatif-slider">
          <span>{t(`whatif.${name}`)}</span>
          <input
            type="range"
            min="0"
            max="200"
            step="5"
            value={change.percent[name] ?? 100}
            onInput={(event) => setChange({ ...change, percent: { ...change.percent, [name]: Number(event.currentTarget.value) } })}
          />
          <output>{change.percent[name] ?? 100} %</output>
        </label>
      ))}
      {(Object.keys(kSwitches) as SwitchName[]).map((name) => (
        <label key={name} class="whatif-switch">
          <input type="checkbox" checked={change.on[name] ?? false} onChange={(event) => setChange({ ...change, on: { ...change.on, [name]: event.currentTarget.checked } })} />{" "}
          {t(`whatif.${name}`)}
        </label>
      ))}
      {answer.error ? <ErrorState error={answer.error} onRetry={answer.reload} /> : row ? <Result row={row} /> : query !== null && <Loading />}
    </Card>
  );
}

function Path({ ds }: { ds: Dataset }) {
  const place = placeOf();
  const where = place.length === 0 ? "" : ` WHERE ${place.join(" AND ")}`;
  const answer = useLoad((signal) => ds.sql({ query: `SELECT * FROM critical_path${where}`, limit: 100, timeout_ms: 60_000 }, signal), [ds.ds, where]);
  const toTimeline = async () => {
    const lane = { name: t("whatif.path"), query: `SELECT rank, class || ': ' || name AS name, begin_ns, dur_ns FROM critical_path_pieces${where}` };
    const made = await ds.sqlLanes(lane);
    navigate("timeline", { sqllanes: queriesText(withQuery(laneQueries.value, lane)), lane: made.lanes[0]?.path ?? null, v: null });
  };
  const rows = rowsOf(answer.data).filter((row) => asNumber(row["on_path_per_step_ns"]) > 0);
  return (
    <Card
      title={t("whatif.path")}
      extra={
        <button class="primary" disabled={rows.length === 0} onClick={() => void toTimeline()}>
          {t("whatif.to_timeline")}
        </button>
      }
    >
      <p class="muted">{t("whatif.path_text")}</p>
      {answer.error ? (
        <ErrorState error={answer.error} onRetry={answer.reload} />
      ) : answer.data ? (
        <table class="plain">
          <thead>
            <tr>
              <th>{t("whatif.part")}</th>
              <th class="num">{t("whatif.per_step")}</th>
              <th class="num">{t("whatif.share")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={asText(row["class"])}>
                <td>{t(`whatif.class.${asText(row["class"])}`)}</td>
                <td class="num">{formatDuration(asNumber(row["on_path_per_step_ns"]))}</td>
                <td class="num">{asNumber(row["share_percent"]).toFixed(1)} %</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <Loading />
      )}
    </Card>
  );
}

export default function WhatIfPage({ ds }: PageProps) {
  return (
    <div class="page-body">
      <Sliders ds={ds} />
      <Path ds={ds} />
    </div>
  );
}
