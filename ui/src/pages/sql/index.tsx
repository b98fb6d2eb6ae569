// Read-only SQL over everything in the profile and over the analyses.
import { useEffect, useRef, useState } from "preact/hooks";
import type { DatasetMeta, SchemaReply, SqlReply } from "../../api_types";
import { type Dataset, isAbort } from "../../api";
import { BarChart } from "../../charts/bars";
import { t } from "../../i18n";
import { laneQueries, queriesText, withQuery } from "../../state/query_lanes";
import { navigate, noteState, route } from "../../state/router";
import { DataTable, type RowView } from "../../table/data_table";
import { localSource } from "../../table/source";
import { useLoad } from "../../widgets/async";
import { askText } from "../../widgets/dialog";
import { ErrorState, Loading } from "../../widgets/states";
import { openRange } from "../../state/jump";
import { asNumber, asText, Card, jumpTo, shownTime } from "../parts";
import type { PageProps } from "../registry";
import { barsOf } from "./chart";
import { QueryBox } from "./query_box";
import { forgetQuery, savedQueries, saveQuery } from "../../state/saved_queries";

const SNIPPETS: { key: string; query: string }[] = [
  { key: "sql.top_kernels", query: "SELECT name, count(*) AS calls, sum(dur_ns) / 1000.0 AS total_us, max(dur_ns) / 1000.0 AS max_us\nFROM kernels GROUP BY name ORDER BY total_us DESC LIMIT 50" },
  { key: "sql.slowest_slices", query: "SELECT rank, name, begin_ns, dur_ns FROM slices ORDER BY dur_ns DESC LIMIT 100" },
  { key: "sql.steps", query: "SELECT * FROM breakdown" },
  { key: "sql.collectives", query: "SELECT rank, name, group_name, begin_ns, dur_ns, size_bytes FROM comm_ops ORDER BY dur_ns DESC LIMIT 100" },
  { key: "sql.allocations", query: "SELECT rank, name, size_bytes, alloc_ns, dur_ns FROM allocations ORDER BY size_bytes DESC LIMIT 100" },
];
const kLimit = 10_000;

function Schema({ schema, onPick }: { schema: SchemaReply; onPick(text: string): void }) {
  const [wanted, setWanted] = useState("");
  const shown = schema.tables.filter((table) => `${table.name} ${table.columns.map((column) => column.name).join(" ")}`.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <div class="schema">
      <input type="search" placeholder={t("sql.find_table")} value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
      <div class="scroll">
        {shown.map((table) => (
          <details key={table.name}>
            <summary class="mono" title={table.doc}>
              {table.name}
            </summary>
            <button class="link mono" onClick={() => onPick(`SELECT * FROM ${table.name} LIMIT 100`)}>
              SELECT * FROM {table.name}
            </button>
            <ul>
              {table.columns.map((column) => (
                <li key={column.name} title={column.doc}>
                  <span class="mono">{column.name}</span> <span class="muted">{column.type}</span>
                </li>
              ))}
            </ul>
          </details>
        ))}
      </div>
    </div>
  );
}

/** The column that is a moment in ns since the epoch, if the rows can be shown on the timeline. */
function timeColumn(reply: SqlReply): string | null {
  return reply.columns.find((column) => /^(begin|start|ts|alloc)(_ns)?$/i.test(column.name))?.name ?? null;
}

/** Shows the slice of a row on the timeline: the one of its name if it has one, else the time. */
function jumpToRow(ds: Dataset, meta: DatasetMeta, row: RowView, when: string): void {
  const begin = shownTime(row.get(when), meta);
  const dur = asNumber(row.get("dur_ns") ?? row.get("dur") ?? 1000);
  const name = asText(row.get("name"));
  if (name !== "") void jumpTo(ds, asNumber(row.get("rank") ?? 0), name, begin, dur);
  else openRange(begin - dur * 0.2, begin + dur * 1.2);
}

export default function SqlPage({ ds, meta }: PageProps) {
  const [text, setText] = useState(route.value.params.get("sql") ?? SNIPPETS[0]!.query);
  const [reply, setReply] = useState<SqlReply | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [runs, setRuns] = useState(0);
  const [ran, setRan] = useState("");
  const [chosen, setChosen] = useState(0);
  const control = useRef<AbortController | null>(null);
  const [busy, setBusy] = useState(false);
  const schema = useLoad(() => ds.schema(), [ds.ds]);
  const run = async (query: string) => {
    control.current?.abort();
    const mine = (control.current = new AbortController());
    setBusy(true);
    noteState({ sql: query });
    try {
      const answer = await ds.sql({ query, limit: kLimit, timeout_ms: 30_000 }, mine.signal);
      setReply(answer);
      setRan(query);
      setError(null);
      setRuns((n) => n + 1);
    } catch (problem) {
      if (isAbort(problem)) return;
      setError(problem);
      setReply(null);
    } finally {
      if (control.current === mine) setBusy(false);
    }
  };
  useEffect(() => {
    if (route.value.params.get("sql")) void run(text);
    return () => control.current?.abort();
  }, []);
  const pick = (query: string) => {
    setText(query);
    setChosen((n) => n + 1);
    void run(query);
  };
  const [chart, setChart] = useState(false);
  const bars = reply ? barsOf(reply) : null;
  const mine = savedQueries.value.find((saved) => saved.query === text);
  const when = reply ? timeColumn(reply) : null;
  const jump = when && ((row: RowView) => jumpToRow(ds, meta, row, when));
  const toTimeline = async () => {
    const snippet = SNIPPETS.find(({ query }) => query === ran);
    const lane = { name: mine?.name ?? (snippet ? t(snippet.key) : "SQL"), query: ran };
    try {
      const made = await ds.sqlLanes(lane);
      navigate("timeline", { sqllanes: queriesText(withQuery(laneQueries.value, lane)), lane: made.lanes[0]?.path ?? null, v: null });
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <div class="page-body sql-page">
      <aside class="card">{schema.data ? <Schema schema={schema.data} onPick={pick} /> : schema.error ? <ErrorState error={schema.error} onRetry={schema.reload} /> : <Loading />}</aside>
      <div class="sql-main">
        <Card
          title={t("sql.query")}
          extra={
            <>
              <select aria-label={t("sql.snippets")} value="" onChange={(event) => event.currentTarget.value && pick(event.currentTarget.value)}>
                <option value="">{t("sql.snippets")}</option>
                {savedQueries.value.map((saved) => (
                  <option key={`saved/${saved.name}`} value={saved.query}>
                    ★ {saved.name}
                  </option>
                ))}
                {SNIPPETS.map((snippet) => (
                  <option key={snippet.key} value={snippet.query}>
                    {t(snippet.key)}
                  </option>
                ))}
              </select>
              <button onClick={() => askText(t("sql.save"), t("sql.save_name"), "", (name) => name.trim() && saveQuery(name.trim(), text))}>{t("sql.save")}</button>
              {busy && <button onClick={() => control.current?.abort()}>{t("cancel")}</button>}
              <button class="primary" onClick={() => void run(text)}>
                {t("sql.run")} <kbd>Ctrl+Enter</kbd>
              </button>
            </>
          }
        >
          {mine && (
            <p class="muted">
              ★ {mine.name}{" "}
              <button class="link" onClick={() => forgetQuery(mine.name)}>
                {t("sql.forget")}
              </button>
            </p>
          )}
          <QueryBox text={text} chosen={chosen} schema={schema.data} error={error} onChange={setText} onRun={(query) => void run(query)} />
        </Card>
        {error !== null && <ErrorState error={error} />}
        {reply && (
          <Card
            title={t("sql.result", { n: reply.rows.length, ms: (reply.elapsed_us / 1000).toFixed(1) })}
            extra={
              <>
                {when && <button onClick={() => void toTimeline()}>{t("sql.to_timeline")}</button>}
                {reply.truncated && <span class="warn">{t("sql.truncated", { n: kLimit })}</span>}
                {bars && (
                  <button class="toggle" aria-pressed={chart} onClick={() => setChart(!chart)}>
                    {t("sql.chart")}
                  </button>
                )}
              </>
            }
          >
            {chart && bars && <BarChart title={bars.unit} items={bars.items} unit={bars.unit} />}
            <DataTable name="query" columns={Object.fromEntries(reply.columns.map(({ name }) => [name, { title: name, raw: true }]))} source={localSource(`sql/${runs}`, reply.columns, reply.rows)} {...(jump ? { onJump: jump } : {})} height={480} />
          </Card>
        )}
      </div>
    </div>
  );
}
