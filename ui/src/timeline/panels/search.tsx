// The hits of the search as a table.
import { useMemo } from "preact/hooks";
import type { ColumnInfo } from "../../api_types";
import { formatInt } from "../../format";
import { t } from "../../i18n";
import { DataTable } from "../../table/data_table";
import { localSource } from "../../table/source";
import { EmptyState } from "../../widgets/states";
import type { TimelineModel } from "../model";
import type { TimelineSearch } from "../searching";
import { eventMenu, jumpOf } from "./events";

export function SearchPanel({ model, search }: { model: TimelineModel; search: TimelineSearch }) {
  const reply = search.reply.value;
  const source = useMemo(() => {
    const columns: ColumnInfo[] = [
      { name: t("tl.area.name"), type: "text" },
      { name: `${t("tl.sel.start")}(us)`, type: "time_us" },
      { name: `${t("tl.sel.dur")}(us)`, type: "time_us" },
      { name: t("tl.sel.lane"), type: "text" },
      { name: "track", type: "int" },
      { name: "i", type: "int" },
    ];
    const rows = (reply?.hits ?? []).map((hit) => [
      hit.name,
      hit.begin / 1000,
      hit.dur / 1000,
      hit.lane ?? model.laneName(hit.track),
      hit.track,
      hit.i,
    ]);
    return localSource(`${search.text.value}/${rows.length}`, columns, rows);
  }, [reply]);
  if (!reply)
    return (
      <EmptyState title={t("tl.search.none")}>
        <p class="muted">{t("tl.search.none_text")}</p>
      </EmptyState>
    );
  return (
    <div class="area-panel">
      <div class="row">
        <span>{t("tl.search.found", { n: formatInt(reply.count), shown: formatInt(reply.hits.length) })}</span>
        {reply.cursor && <button onClick={() => void search.more()}>{t("tl.search.more")}</button>}
      </div>
      <DataTable
        source={source}
        name={t("tl.tab.search")}
        columns={{ track: { hidden: true }, i: { hidden: true }, [t("tl.sel.lane")]: { width: 320 } }}
        onJump={jumpOf(model)}
        onSelect={jumpOf(model)}
        rowMenu={eventMenu(model, { name: t("tl.area.name"), begin: `${t("tl.sel.start")}(us)`, dur: `${t("tl.sel.dur")}(us)`, unit_ns: 1000 })}
      />
    </div>
  );
}
