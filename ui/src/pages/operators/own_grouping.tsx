// Kernels grouped by any columns, in any order, with any measures: chips, bars, a table; a group that is chosen shows its members.
import { useState } from "preact/hooks";
import type { Dataset } from "../../api";
import type { TableFilter } from "../../api_types";
import { BarChart } from "../../charts/bars";
import { Donut } from "../../charts/donut";
import { oneUnit } from "../../format";
import { hasMessage, t } from "../../i18n";
import { DataTable, type RowView } from "../../table/data_table";
import { columnTitle } from "../../table/columns";
import { serverSource } from "../../table/source";
import { useLoad } from "../../widgets/async";
import { ErrorState } from "../../widgets/states";
import { asNumber, asText, Card } from "../parts";
import { type GroupKey, groupFilter, kernelSource, kFunctions, kKeys, measuresOf, type MeasureFunction } from "./kernels";

export const keyTitle = (key: string): string => (hasMessage(`operators.key.${key}`) ? t(`operators.key.${key}`) : columnTitle(key));

interface ChipsProps {
  keys: readonly GroupKey[];
  onKeys(keys: GroupKey[]): void;
  functions: readonly MeasureFunction[];
  onFunctions(functions: MeasureFunction[]): void;
}

/** `key` moved to where `before` is. */
export function moved<K>(keys: readonly K[], key: K, before: K): K[] {
  if (key === before) return [...keys];
  const from = keys.indexOf(key);
  const to = keys.indexOf(before);
  const rest = keys.filter((each) => each !== key);
  rest.splice(rest.indexOf(before) + (from >= 0 && from < to ? 1 : 0), 0, key);
  return rest;
}

export function Chips({ keys, onKeys, functions, onFunctions }: ChipsProps) {
  const free = kKeys.filter((key) => !keys.includes(key));
  const [dragged, setDragged] = useState<GroupKey | null>(null);
  const toggle = (fn: MeasureFunction) => onFunctions(kFunctions.filter((each) => (each === fn) !== functions.includes(each)));
  return (
    <div class="controls">
      <div class="chips" role="group" aria-label={t("operators.group_by")}>
        <span class="muted">{t("operators.group_by")}</span>
        {keys.map((key, at) => (
          <span
            key={key}
            class="chip"
            draggable
            onDragStart={() => setDragged(key)}
            onDragOver={(event) => event.preventDefault()}
            onDrop={() => dragged && onKeys(moved(keys, dragged, key))}
          >
            {at > 0 && (
              <button class="icon" aria-label={t("operators.earlier", { name: keyTitle(key) })} onClick={() => onKeys(moved(keys, key, keys[at - 1]!))}>
                ‹
              </button>
            )}
            {keyTitle(key)}
            {keys.length > 1 && (
              <button class="icon" aria-label={t("operators.without", { name: keyTitle(key) })} onClick={() => onKeys(keys.filter((each) => each !== key))}>
                ×
              </button>
            )}
          </span>
        ))}
        <select aria-label={t("operators.add_key")} value="" onChange={(event) => event.currentTarget.value && onKeys([...keys, event.currentTarget.value as GroupKey])}>
          <option value="">{t("operators.add_key")}</option>
          {free.map((key) => (
            <option key={key} value={key}>
              {keyTitle(key)}
            </option>
          ))}
        </select>
      </div>
      <div class="chips" role="group" aria-label={t("operators.measures")}>
        <span class="muted">{t("operators.measures")}</span>
        {kFunctions.map((fn) => (
          <button key={fn} class="toggle" aria-pressed={functions.includes(fn)} onClick={() => toggle(fn)}>
            {t(`operators.fn.${fn}`)}
          </button>
        ))}
      </div>
    </div>
  );
}

interface OwnGroupsProps {
  ds: Dataset;
  keys: readonly GroupKey[];
  functions: readonly MeasureFunction[];
  filter: TableFilter[];
  top: number;
  ring: boolean;
  onGroup(name: string, filter: TableFilter[]): void;
}

export function OwnGroups({ ds, keys, functions, filter, top, ring, onGroup }: OwnGroupsProps) {
  const table = { source: kernelSource(keys), group: [...keys], measures: measuresOf(["sum", ...functions]), filter };
  const sort = [{ col: "sum(dur_ns)", desc: true }];
  const first = useLoad((signal) => ds.table({ ...table, args: {}, sort, offset: 0, limit: top < 0 ? 50 : top }, signal), [ds.ds, JSON.stringify(table), top]);
  if (first.error) return <ErrorState error={first.error} onRetry={first.reload} />;
  const columns = first.data?.columns ?? [];
  const sumAt = columns.findIndex(({ name }) => name === "sum(dur_ns)");
  const nameOf = (row: readonly unknown[]) => keys.map((_, at) => String(row[at] ?? "") || "–").join(" · ");
  const write = oneUnit((first.data?.rows ?? []).map((row) => asNumber(row[sumAt])));
  const items = (first.data?.rows ?? []).map((row) => ({ name: nameOf(row), value: asNumber(row[sumAt]) / 1000, label: write(asNumber(row[sumAt])) }));
  const choose = (row: RowView) => {
    const cells = Object.fromEntries(keys.map((key) => [key, row.get(key)]));
    onGroup(nameOf(keys.map((key) => asText(cells[key]))), groupFilter(keys, cells));
  };
  const Chart = ring ? Donut : BarChart;
  const unknown = (["module", "python"] as const).filter((key) => keys.includes(key) && items.length > 0 && first.data?.rows.every((row) => (row[keys.indexOf(key)] ?? "") === ""));
  const us = (value: unknown) => (value === null || value === undefined ? "" : (Number(value) / 1000).toFixed(3));
  return (
    <>
      {unknown.map((key) => (
        <p key={key} class="warn">
          {t(`operators.no_${key}`)}
        </p>
      ))}
      <Card title={t("operators.shares")}>
        <Chart title={t("operators.shares")} items={items} unit="us" />
      </Card>
      <Card title={t("operators.statistics")}>
        <DataTable
          name="operators_grouped"
          source={serverSource(ds, table)}
          sort={sort}
          columns={Object.fromEntries([
            ...keys.map((key) => [key, { title: keyTitle(key) }]),
            ["count", { title: columnTitle("count"), width: 90 }],
            ["sum(dur_ns)", { title: `${t("operators.fn.sum")}(us)`, format: us, bar: (items[0]?.value ?? 0) * 1000 }],
            ...functions.map((fn) => [`${fn}(dur_ns)`, { title: `${t(`operators.fn.${fn}`)}(us)`, format: us }]),
          ])}
          onSelect={choose}
          height={320}
        />
      </Card>
    </>
  );
}
