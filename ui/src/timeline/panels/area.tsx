// Statistics of a range of time on some lanes, by name.
import { useEffect, useMemo } from "preact/hooks";
import type { Cell, ColumnInfo, RangeQuery, RangeReply } from "../../api_types";
import { formatDuration, formatPercent } from "../../format";
import { largest } from "../../charts/ticks";
import { t } from "../../i18n";
import { partColors } from "../../charts/palette";
import { DataTable, type RowView } from "../../table/data_table";
import { localSource } from "../../table/source";
import { setScope } from "../../state/session";
import { useLoad } from "../../widgets/async";
import { EmptyState, ErrorState, Loading } from "../../widgets/states";
import type { Area, TimelineModel } from "../model";
import { zoomToSelection } from "../moving";
import type { TimelineSearch } from "../searching";
import { AreaCompare } from "./area_compare";

interface Props {
  model: TimelineModel;
  search: TimelineSearch;
}

const kTimes = new Set(["wall", "self", "avg", "min", "max", "p50", "p90", "p99"]);

/** Columns under the reference's words, times in us with all digits. */
function columnsOf(reply: RangeReply): ColumnInfo[] {
  return reply.columns.map((name) => {
    if (name === "name") return { name: t("tl.area.name"), type: "text" };
    if (name === "count") return { name: t("tl.area.count"), type: "int" };
    if (name === "share") return { name: t("tl.area.share"), type: "double", decimals: 2 };
    return { name: `${t(`tl.area.${name}`)}(us)`, type: "time_us", decimals: 3 };
  });
}

function rowsOf(reply: RangeReply): Cell[][] {
  return reply.rows.map((row) =>
    row.map((value, at) => {
      const name = reply.columns[at] ?? "";
      if (typeof value !== "number") return value;
      return kTimes.has(name) ? value / 1000 : name === "share" ? value * 100 : value;
    }),
  );
}

/** Computing, communication, exposed and free of the range as one bar. */
function Parts({ total }: { total: RangeReply["total"] }) {
  const exposed = total.not_overlapped ?? 0;
  const parts = [
    { name: "computing", ns: total.computing ?? 0 },
    { name: "not_overlapped", ns: exposed },
    { name: "free", ns: total.free ?? 0 },
  ];
  const sum = parts.reduce((all, part) => all + part.ns, 0);
  if (sum <= 0) return null;
  return (
    <div
      class="parts"
      role="img"
      aria-label={parts.map((part) => `${t(`tl.part.${part.name}`)} ${formatPercent(part.ns / sum)}`).join(", ")}
    >
      {parts.map((part) => (
        <i
          key={part.name}
          style={{ width: `${(100 * part.ns) / sum}%`, background: partColors[part.name] ?? "" }}
          title={`${t(`tl.part.${part.name}`)} ${formatDuration(part.ns)}`}
        />
      ))}
    </div>
  );
}

/** The share of a range that is covered: of several ranks on average. */
export function coveredShare(total: { covered: number; range: number }, ranks: number): number {
  const all = total.range * Math.max(1, ranks);
  return all > 0 ? total.covered / all : 0;
}

function Totals({ model, reply, area }: { model: TimelineModel; reply: RangeReply; area: Area }) {
  const { total } = reply;
  const ranks = new Set(area.tracks.map((track) => model.tree.byId.get(track)?.rank)).size;
  return (
    <div class="totals">
      <span>
        {`${t("range")}: `}
        <strong>{formatDuration(total.range)}</strong>
      </span>
      <span>{t("tl.area.lanes", { n: area.tracks.length })}</span>
      <span>{t("tl.area.slices", { n: total.count })}</span>
      <span title={t("tl.area.sum_hint")}>
        {`${t("tl.area.sum")}: `}
        <strong>{formatDuration(total.sum)}</strong>
      </span>
      <span title={t("tl.area.covered_hint")}>
        {`${t("tl.area.covered")}: `}
        <strong>{formatDuration(total.covered)}</strong>
        {` (${formatPercent(coveredShare(total, ranks))})`}
      </span>
      <Parts total={total} />
    </div>
  );
}

export function rangeQuery(area: Area, clip: boolean): RangeQuery {
  const { tracks, t0, t1, rows } = area;
  return { tracks, t0, t1, clip, by: "name", ...(rows ? { rows } : {}) };
}

export function AreaPanel(props: Props) {
  const { model, search } = props;
  const [a, b] = [model.area.value, model.areaB.value];
  if (!a || !b || a.tracks.length === 0) return <OneArea {...props} />;
  const find = (row: RowView) => search.type(`name="${String(row.cells[0]).replace(/["\\]/g, "\\$&")}"`);
  return <AreaCompare model={model} a={a} b={b} onFind={find} />;
}

function OneArea({ model, search }: Props) {
  const area = model.area.value;
  const clip = model.clip.value;
  const query = area && rangeQuery(area, clip);
  const loaded = useLoad(
    (signal) => (query && query.tracks.length > 0 ? model.ds.range(query, signal) : null),
    [JSON.stringify(query)],
  );
  const reply = loaded.data;
  useEffect(() => {
    model.areaStats.value = reply;
  }, [reply]);
  const source = useMemo(() => reply && localSource(JSON.stringify(query), columnsOf(reply), rowsOf(reply)), [reply]);
  if (!area)
    return (
      <EmptyState title={t("tl.area.none")}>
        <p class="muted">{t("tl.area.none_text")}</p>
      </EmptyState>
    );
  if (area.tracks.length === 0) return <EmptyState title={t("tl.area.no_lanes")} />;
  if (loaded.error) return <ErrorState error={loaded.error} onRetry={loaded.reload} />;
  if (!reply || !source) return <Loading />;
  const find = (row: RowView) => search.type(`name="${String(row.cells[0]).replace(/["\\]/g, "\\$&")}"`);
  const list = (row: RowView) => {
    find(row);
    model.showTab("search");
  };
  const most = (at: number) => largest(reply.rows.map((row) => Number(row[at]) / 1000), 1e-9);
  const columns = columnsOf(reply);
  return (
    <div class="area-panel">
      <div class="row wrap">
        <Totals model={model} reply={reply} area={area} />
        <span class="grow" />
        <label title={t("tl.area.clip_hint")}>
          <input type="checkbox" checked={clip} onChange={(e) => (model.clip.value = e.currentTarget.checked)} />{" "}
          {t("tl.area.clip")}
        </label>
        <button onClick={() => zoomToSelection(model)}>{t("tl.sel.zoom")}</button>
        <button title={t("tl.menu.scope")} onClick={() => setScope({ range: [area.t0, area.t1] })}>
          {t("tl.area.scope")}
        </button>
      </div>
      <DataTable
        source={source}
        name={t("tl.tab.area")}
        columns={{ [columns[0]?.name ?? ""]: { width: 300 }, [columns[2]?.name ?? ""]: { bar: most(2) } }}
        onSelect={find}
        onJump={list}
      />
    </div>
  );
}
