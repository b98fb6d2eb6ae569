// "Explain this number": its definition, the query behind it and the slices it is made of.
import type { Dataset } from "../api";
import type { Cell, ExplainItem, NumberQuery, Wording } from "../api_types";
import { formatDuration, formatPercent } from "../format";
import { hasMessage, t } from "../i18n";
import { openRange, openSlice } from "../state/jump";
import { navigate } from "../state/router";
import { columnTitle } from "../table/columns";
import { word } from "../timeline/explaining";
import { useLoad } from "../widgets/async";
import { closeDialog, openDialog } from "../widgets/dialog";
import type { MenuEntry } from "../widgets/menu";
import { ErrorState, Loading } from "../widgets/states";

function Part({ item }: { item: ExplainItem }) {
  const show = () => {
    closeDialog();
    if (item.track !== undefined && item.i !== undefined) return openSlice(item.track, item.i, true);
    const room = Math.max(1000, (item.t1! - item.t0!) * 2);
    openRange(item.t0! - room, item.t1! + room);
  };
  return (
    <tr>
      <td class="num">{formatPercent(item.share ?? 0)}</td>
      <td class="num">{formatDuration(item.ns ?? 0)}</td>
      <td>
        <button class="link" onClick={show}>
          {word(item.text, item.key, item.args)}
        </button>
      </td>
    </tr>
  );
}

/** The title with the column under the name the table shows. */
function titleOf(title: Wording | string, column: string): string {
  return word(typeof title === "string" ? title : { ...title, args: { ...title.args, column: columnTitle(column) } });
}

function NumberCard({ ds, query }: { ds: Dataset; query: NumberQuery }) {
  const { data, error } = useLoad(() => ds.explainNumber(query), [JSON.stringify(query)]);
  if (error) return <ErrorState error={error} />;
  if (!data) return <Loading />;
  const definition = `define.${data.definition}`;
  const openQuery = () => {
    closeDialog();
    navigate("sql", { sql: data.query });
  };
  return (
    <div class="number-card">
      <p>
        <b>{titleOf(data.title, query.column)}</b>
      </p>
      {hasMessage(definition) && <p>{t(definition)}</p>}
      <p>{word(data.verdict)}</p>
      {data.items.length > 0 && (
        <table class="plain wide" aria-label={t("number.parts")}>
          <tbody>
            {data.items.map((item, at) => (
              <Part key={at} item={item} />
            ))}
          </tbody>
        </table>
      )}
      {data.query !== "" && (
        <div class="row">
          <button onClick={openQuery}>{t("number.query")}</button>
        </div>
      )}
    </div>
  );
}

export function explainNumber(ds: Dataset, query: NumberQuery): void {
  openDialog(t("number.title"), () => <NumberCard ds={ds} query={query} />);
}

/** The entry of a table's right-click menu for a named result. */
export function numberMenu(ds: Dataset, name: string, args: Record<string, unknown>) {
  return (row: Record<string, Cell>, column: string): MenuEntry[] => [
    { label: t("number.title"), run: () => explainNumber(ds, { name, args, row, column }) },
  ];
}
