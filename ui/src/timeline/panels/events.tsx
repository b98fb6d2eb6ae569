// All slices of some lanes as a table.
import { useMemo } from "preact/hooks";
import type { Cell } from "../../api_types";
import { t } from "../../i18n";
import { DataTable, type RowView } from "../../table/data_table";
import { timeMenu } from "../../table/row_actions";
import { serverSource } from "../../table/source";
import { EmptyState } from "../../widgets/states";
import type { TimelineModel } from "../model";
import { goTo } from "../selecting";

export function jumpOf(model: TimelineModel): (row: RowView) => void {
  return (row) => {
    const track = row.get("track");
    const i = row.get("i");
    if (typeof track === "number" && typeof i === "number") goTo(model, { track, i });
  };
}

/** Durations of the name, a marker, the same name: for rows of slices. */
export function eventMenu(model: TimelineModel, columns = { name: "name", begin: "start_ns", dur: "dur_ns", unit_ns: 1 }) {
  const number = (cell: Cell | undefined) => Math.round(Number(cell ?? NaN) * columns.unit_ns);
  return timeMenu(model.ds, () => model.markers, (row) => ({ name: String(row[columns.name] ?? ""), begin: number(row[columns.begin]), dur: number(row[columns.dur]) }));
}

export function EventsPanel({ model }: { model: TimelineModel }) {
  const chosen =
    model.eventTracks.value.length > 0
      ? model.eventTracks.value
      : model.selected.value
        ? [model.selected.value.track]
        : [];
  const source = useMemo(
    () => serverSource(model.ds, { source: "events", args: { tracks: chosen } }),
    [chosen.join(",")],
  );
  const columns = {
    name: { title: t("tl.area.name"), width: 300 },
    start_ns: { title: `${t("tl.sel.start")}(ns)` },
    dur_ns: { title: `${t("tl.sel.dur")}(ns)` },
    category: { title: t("tl.sel.category") },
    lane: { title: t("tl.sel.lane"), width: 320 },
    rank: { title: t("rank") },
    track: { hidden: true },
    i: { hidden: true },
  };
  if (chosen.length === 0)
    return (
      <EmptyState title={t("tl.events.none")}>
        <p class="muted">{t("tl.events.none_text")}</p>
      </EmptyState>
    );
  return <DataTable source={source} name={t("tl.tab.events")} columns={columns} onJump={jumpOf(model)} rowMenu={eventMenu(model)} />;
}
