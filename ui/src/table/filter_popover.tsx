// The filter of one column: contains or regular expression for text, limits for numbers, or some of its values.
import { useState } from "preact/hooks";
import type { ColumnInfo, FilterOp, TableFilter } from "../api_types";
import { formatInt, isNumeric, parseDuration } from "../format";
import { t } from "../i18n";
import { useLoad } from "../widgets/async";
import { closeMenu } from "../widgets/menu";

interface Props {
  column: ColumnInfo;
  title: string;
  now: TableFilter[];
  /** What the column holds, the most frequent first. */
  values(signal: AbortSignal): Promise<{ value: string; count: number }[]>;
  onApply(filters: TableFilter[]): void;
}

const TEXT_OPS: FilterOp[] = ["contains", "!contains", "=", "!=", "regex", "in"];
const NUMBER_OPS: FilterOp[] = [">=", "<=", "=", "!=", "in"];

const kUnits: Record<string, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

/** What a user writes for a number of a column: "1.5ms" is 1500 where the column has us. Text stays text. */
export function numberFor(column: ColumnInfo, text: string): number | string {
  if (!Number.isNaN(Number(text))) return Number(text);
  const unit = /(?:\(|_)(ns|us|ms|s)\)?$/.exec(column.name)?.[1] ?? (column.type === "time_us" ? "us" : "");
  const ns = unit === "" ? null : parseDuration(text);
  return ns === null ? text : ns / kUnits[unit]!;
}

function Values({ values, chosen, onChoose }: Pick<Props, "values"> & { chosen: ReadonlySet<string>; onChoose(chosen: Set<string>): void }) {
  const { data, error } = useLoad((signal) => values(signal), []);
  const toggle = (value: string) => {
    const next = new Set(chosen);
    if (!next.delete(value)) next.add(value);
    onChoose(next);
  };
  if (error) return <p class="warn">{String(error)}</p>;
  return (
    <div class="value-list" role="group" aria-label={t("table.value")}>
      {(data ?? []).map(({ value, count }) => (
        <label key={value}>
          <input type="checkbox" checked={chosen.has(value)} onChange={() => toggle(value)} />
          <span class="grow">{value || "–"}</span>
          <span class="muted">{formatInt(count)}</span>
        </label>
      ))}
      {!data && <p class="muted">{t("loading")}</p>}
    </div>
  );
}

export function FilterPopover({ column, title, now, values, onApply }: Props) {
  const numeric = isNumeric(column);
  const first = now[0];
  const [op, setOp] = useState<FilterOp>(first?.op ?? (numeric ? ">=" : "contains"));
  const [value, setValue] = useState(Array.isArray(first?.value) ? "" : String(first?.value ?? ""));
  const [upper, setUpper] = useState(String(now[1]?.value ?? ""));
  const [chosen, setChosen] = useState(new Set(Array.isArray(first?.value) ? first.value.map(String) : []));
  const make = (kind: FilterOp, text: string): TableFilter[] =>
    text === "" ? [] : [{ col: column.name, op: kind, value: numeric ? numberFor(column, text) : text }];
  const some = (): TableFilter[] => (chosen.size === 0 ? [] : [{ col: column.name, op: "in", value: [...chosen] }]);
  const apply = (event: Event) => {
    event.preventDefault();
    closeMenu();
    onApply(op === "in" ? some() : [...make(op, value), ...(op === ">=" ? make("<=", upper) : [])]);
  };
  const clear = () => {
    closeMenu();
    onApply([]);
  };
  return (
    <form class="popover" onSubmit={apply}>
      <strong>{title}</strong>
      <div class="row">
        <select value={op} aria-label={t("table.operator")} onChange={(e) => setOp(e.currentTarget.value as FilterOp)}>
          {(numeric ? NUMBER_OPS : TEXT_OPS).map((each) => (
            <option key={each} value={each}>
              {t(`table.op.${each}`)}
            </option>
          ))}
        </select>
        {op !== "in" && <input value={value} aria-label={t("table.value")} onInput={(e) => setValue(e.currentTarget.value)} />}
      </div>
      {op === ">=" && (
        <div class="row">
          <span class="muted">{t("table.op.<=")}</span>
          <input value={upper} aria-label={t("table.value")} onInput={(e) => setUpper(e.currentTarget.value)} />
        </div>
      )}
      {op === "in" && <Values values={values} chosen={chosen} onChoose={setChosen} />}
      <div class="row end">
        <button type="button" onClick={clear}>
          {t("clear")}
        </button>
        <button class="primary">{t("apply")}</button>
      </div>
    </form>
  );
}
