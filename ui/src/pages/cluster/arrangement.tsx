// The grid of parallel elements, coloured by a time; a chosen one shows the groups it belongs to.
import { useMemo, useState } from "preact/hooks";
import type { Dataset } from "../../api";
import type { Cell } from "../../api_types";
import { calmRange, HeatMap, type HeatOutline, valueRange } from "../../charts/heat_map";
import { ColorKey } from "../../charts/legend";
import { t } from "../../i18n";
import { navigate } from "../../state/router";
import { setScope } from "../../state/session";
import { columnTitle } from "../../table/columns";
import { ErrorState } from "../../widgets/states";
import { asNumber, asText, Card, Pick, rowsOf, tableOf, useMetric, Warnings } from "../parts";
import { groupOf, type Strategy } from "./strategy";

const kKinds: Record<string, string> = { tp: "#e08a2b", cp: "#b35bc4", dp: "#1f9e89", pp: "#d6453d" };

interface Element {
  name: string;
  x: number;
  y: number;
  ranks: number[];
  value: number;
}

function elementsOf(rows: Record<string, Cell>[], metric: string): Element[] {
  return rows.map((row) => ({
    name: asText(row["name"]),
    x: asNumber(row["x"]),
    y: asNumber(row["y"]),
    ranks: asText(row["ranks"]).split(",").filter((text) => text !== "").map(Number),
    value: row[metric] === null || row[metric] === undefined ? NaN : asNumber(row[metric]) / 1000,
  }));
}

/** The groups of the chosen element, a colour each. */
function outlinesOf(elements: readonly Element[], chosen: Element | undefined): HeatOutline[] {
  if (!chosen) return [];
  const names = elements.map(({ name }) => name);
  return Object.entries(kKinds).flatMap(([kind, color]) => {
    const group = groupOf(names, chosen.name, kind);
    return group.length < 2 ? [] : elements.filter(({ name }) => group.includes(name)).map(({ x, y }) => ({ row: y, column: x, color }));
  });
}

function Chosen({ element, elements }: { element: Element; elements: readonly Element[] }) {
  const names = elements.map(({ name }) => name);
  const key = Object.entries(kKinds).filter(([kind]) => groupOf(names, element.name, kind).length > 1);
  const show = (page: string) => {
    setScope({ ranks: element.ranks });
    navigate(page);
  };
  return (
    <div class="controls">
      <b>{element.name}</b>
      <span class="muted">{element.ranks.length > 0 && `${t("rank")} ${element.ranks.slice(0, 8).join(", ")}${element.ranks.length > 8 ? ", …" : ""}`}</span>
      <ColorKey items={key.map(([kind, color]) => ({ name: t("cluster.group", { kind, n: groupOf(names, element.name, kind).length }), color }))} />
      <button onClick={() => show("timeline")}>{t("page.timeline")}</button>
      <button onClick={() => show("communication")}>{t("page.communication")}</button>
    </div>
  );
}

export function Arrangement({ ds, step, strategy }: { ds: Dataset; step: number | null; strategy: Strategy }) {
  const [dimension, setDimension] = useState("DP+PP+CP+TP");
  const [metric, setMetric] = useState("");
  const [wanted, setWanted] = useState("");
  const [limits, setLimits] = useState<[string, string]>(["", ""]);
  const [name, setName] = useState("");
  const reply = useMetric(ds, "summary_arrangement", { ...strategy, step, dimension });
  const metrics = tableOf(reply.data, "elements").columns.map((column) => column.name).filter((each) => each.endsWith("(us)"));
  const shown = metrics.includes(metric) ? metric : (metrics[0] ?? "");
  const elements = useMemo(() => elementsOf(rowsOf(reply.data, "elements"), shown), [reply.data, shown]);
  const grid = useMemo(() => {
    const width = Math.max(0, ...elements.map(({ x }) => x)) + 1;
    const height = Math.max(0, ...elements.map(({ y }) => y)) + 1;
    const values = new Float64Array(elements.length > 0 ? width * height : 0).fill(NaN);
    const [low, high] = limits.map((text) => (text.trim() === "" ? NaN : Number(text)));
    for (const { x, y, value } of elements) if (!(value < low!) && !(value > high!)) values[y * width + x] = value;
    return { values, width, height, range: calmRange(elements.map(({ value }) => value).filter((value) => !Number.isNaN(value))) };
  }, [elements, limits]);
  const found = /^\s*\d+\s*$/.test(wanted) ? elements.find(({ ranks }) => ranks.includes(Number(wanted))) : undefined;
  const chosen = found ?? elements.find((element) => element.name === name);
  const outlines = useMemo(() => outlinesOf(elements, chosen), [elements, chosen]);
  if (reply.error) return <ErrorState error={reply.error} onRetry={reply.reload} />;
  const pick = (row: number, column: number) => {
    setWanted("");
    setName(elements.find(({ x, y }) => x === column && y === row)?.name ?? "");
  };
  const columns = Array.from({ length: grid.width }, (_, at) => elements.find(({ x, y }) => x === at && y === 0)?.name || String(at));
  const [least, most] = valueRange(elements.map(({ value }) => value));
  const limit = (at: 0 | 1) => (
    <input
      type="number"
      value={limits[at]}
      placeholder={(at === 0 ? least : most).toPrecision(4)}
      aria-label={t(at === 0 ? "cluster.from" : "cluster.to")}
      onInput={(event) => setLimits(at === 0 ? [event.currentTarget.value, limits[1]] : [limits[0], event.currentTarget.value])}
    />
  );
  return (
    <Card
      title={t("cluster.arrangement")}
      definition={reply.data?.definition}
      extra={
        <>
          <Pick label={t("cluster.dimension")} value={dimension} options={["DP+PP", "DP+PP+CP", "DP+PP+CP+TP"].map((each) => ({ value: each, text: each }))} onPick={(each) => setDimension(each)} />
          <Pick label={t("overview.metric")} value={shown} options={metrics.map((each) => ({ value: each, text: columnTitle(each) }))} onPick={(each) => setMetric(each)} />
        </>
      }
    >
      <Warnings reply={reply.data} />
      {elements.length > 0 && (
        <>
          <div class="controls">
            <label class="pick">
              {t("cluster.range")} {limit(0)} – {limit(1)} ms
            </label>
            <label class="pick">
              {t("cluster.find")} <input type="search" class="short" value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
            </label>
            {wanted.trim() !== "" && !found && <span class="warn">{t("cluster.not_found")}</span>}
          </div>
          <HeatMap
            title={t("cluster.arrangement")}
            rows={Array.from({ length: grid.height }, (_, at) => `pp${at}`)}
            columns={columns}
            values={grid.values}
            range={grid.range}
            unit="ms"
            height={Math.min(480, 90 + grid.height * 32)}
            outlines={outlines}
            onPick={pick}
          />
          {chosen && <Chosen element={chosen} elements={elements} />}
        </>
      )}
    </Card>
  );
}
