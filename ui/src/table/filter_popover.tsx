// The filter of one column: contains or regular expression for text, limits for numbers.
import { useState } from "preact/hooks";
import type { ColumnInfo, FilterOp, TableFilter } from "../api_types";
import { isNumeric } from "../format";
import { t } from "../i18n";
import { closeMenu } from "../widgets/menu";

interface Props {
  column: ColumnInfo;
  now: TableFilter[];
  onApply(filters: TableFilter[]): void;
}

const TEXT_OPS: FilterOp[] = ["contains", "!contains", "=", "!=", "regex"];
const NUMBER_OPS: FilterOp[] = [">=", "<=", "=", "!="];

export function FilterPopover({ column, now, onApply }: Props) {
  const numeric = isNumeric(column);
  const [op, setOp] = useState<FilterOp>(now[0]?.op ?? (numeric ? ">=" : "contains"));
  const [value, setValue] = useState(String(now[0]?.value ?? ""));
  const [upper, setUpper] = useState(String(now[1]?.value ?? ""));
  const make = (kind: FilterOp, text: string): TableFilter[] =>
    text === ""
      ? []
      : [{ col: column.name, op: kind, value: numeric && !Number.isNaN(Number(text)) ? Number(text) : text }];
  const apply = (event: Event) => {
    event.preventDefault();
    closeMenu();
    onApply([...make(op, value), ...(op === ">=" ? make("<=", upper) : [])]);
  };
  const clear = () => {
    closeMenu();
    onApply([]);
  };
  return (
    <form class="popover" onSubmit={apply}>
      <strong>{column.name}</strong>
      <div class="row">
        <select value={op} aria-label={t("table.operator")} onChange={(e) => setOp(e.currentTarget.value as FilterOp)}>
          {(numeric ? NUMBER_OPS : TEXT_OPS).map((each) => (
            <option key={each} value={each}>
              {t(`table.op.${each}`)}
            </option>
          ))}
        </select>
        <input value={value} aria-label={t("table.value")} onInput={(e) => setValue(e.currentTarget.value)} />
      </div>
      {op === ">=" && (
        <div class="row">
          <span class="muted">{t("table.op.<=")}</span>
          <input value={upper} aria-label={t("table.value")} onInput={(e) => setUpper(e.currentTarget.value)} />
        </div>
      )}
      <div class="row end">
        <button type="button" onClick={clear}>
          {t("clear")}
        </button>
        <button class="primary">{t("apply")}</button>
      </div>
    </form>
  );
}
