// The columns of a table as the user wants them, kept in the browser by the table's name.
import { t } from "../i18n";
import { isNumeric } from "../format";
import type { MenuEntry } from "../widgets/menu";
import { type ColumnChoice, columnTitle, kPlainColumns, type ShownColumn } from "./columns";

/** Tables of different ranks have one arrangement. */
const keyOf = (name: string): string => `steplens.columns.${name.replace(/\d+/g, "#")}`;

export function storedChoice(name: string): ColumnChoice {
  try {
    return { ...kPlainColumns, ...(JSON.parse(localStorage.getItem(keyOf(name)) ?? "{}") as Partial<ColumnChoice>) };
  } catch {
    return kPlainColumns;
  }
}

export function storeChoice(name: string, choice: ColumnChoice): void {
  localStorage.setItem(keyOf(name), JSON.stringify(choice));
}

/** A column one place to the left (-1) or right (1). */
export function movedColumn(names: readonly string[], name: string, by: number): string[] {
  const at = names.indexOf(name);
  const rest = names.filter((each) => each !== name);
  rest.splice(Math.max(0, Math.min(rest.length, at + by)), 0, name);
  return rest;
}

/** The menu of a column's header. */
export function columnMenu(shown: ShownColumn[], at: number, choice: ColumnChoice, change: (choice: ColumnChoice) => void, group: (column: string) => void): MenuEntry[] {
  const names = shown.map((each) => each.column.name);
  const name = names[at]!;
  const colored = choice.colored.includes(name);
  const recolor = () => change({ ...choice, colored: colored ? choice.colored.filter((each) => each !== name) : [...choice.colored, name] });
  const move = (by: number) => change({ ...choice, order: movedColumn(names, name, by) });
  return [
    { label: t("table.column.group"), run: () => group(name) },
    { label: t("table.column.hide"), disabled: shown.length < 2, run: () => change({ ...choice, hidden: [...choice.hidden, name] }) },
    { label: t("table.column.left"), disabled: at === 0, run: () => move(-1) },
    { label: t("table.column.right"), disabled: at === shown.length - 1, run: () => move(1) },
    { label: t("table.column.freeze"), checked: choice.frozen === at + 1, run: () => change({ ...choice, frozen: choice.frozen === at + 1 ? 0 : at + 1 }) },
    { label: t("table.column.color"), checked: colored, disabled: !isNumeric(shown[at]!.column), run: recolor },
    "-",
    ...choice.hidden.map((each): MenuEntry => ({ label: t("table.column.show", { name: columnTitle(each) }), run: () => change({ ...choice, hidden: choice.hidden.filter((other) => other !== each) }) })),
    { label: t("table.column.reset"), disabled: choice === kPlainColumns, run: () => change(kPlainColumns) },
  ];
}
