// What differs between two areas, by name.
import { useMemo } from "preact/hooks";
import type { RangeReply } from "../../api_types";
import { formatDuration } from "../../format";
import { t } from "../../i18n";
import { DataTable, type RowView } from "../../table/data_table";
import { localSource } from "../../table/source";
import { useLoad } from "../../widgets/async";
import { ErrorState, Loading } from "../../widgets/states";
import { diffAreas, diffCells, diffColumns } from "../area_diff";
import type { Area, TimelineModel } from "../model";
import { viewAround } from "../view";
import { swapAreas, setAreaB } from "../selecting";
import { rangeQuery } from "./area";

interface Props {
  model: TimelineModel;
  a: Area;
  b: Area;
  onFind(row: RowView): void;
}

function Side({ name, reply, area }: { name: "A" | "B"; reply: RangeReply; area: Area }) {
  return (
    <span>
      <b class={`area-badge area-${name}`}>{name}</b>
      {` ${formatDuration(reply.total.range)} · ${t("tl.area.lanes", { n: area.tracks.length })} · `}
      {`${t("tl.area.slices", { n: reply.total.count })} · ${t("tl.area.sum")}: `}
      <strong>{formatDuration(reply.total.sum)}</strong>
      {` · ${t("tl.area.covered")}: ${formatDuration(reply.total.covered)}`}
    </span>
  );
}

export function AreaCompare({ model, a, b, onFind }: Props) {
  const clip = model.clip.value;
  const [queryA, queryB] = [rangeQuery(a, clip), rangeQuery(b, clip)];
  const key = JSON.stringify([queryA, queryB]);
  const loaded = useLoad(
    (signal) => Promise.all([model.ds.range(queryA, signal), model.ds.range(queryB, signal)]),
    [key],
  );
  const source = useMemo(
    () => loaded.data && localSource(`diff ${key}`, diffColumns(), diffAreas(...loaded.data).map(diffCells)),
    [loaded.data],
  );
  if (loaded.error) return <ErrorState error={loaded.error} onRetry={loaded.reload} />;
  if (!loaded.data || !source) return <Loading />;
  const both = () => model.setView(viewAround(Math.min(a.t0, b.t0), Math.max(a.t1, b.t1), 0.02));
  return (
    <div class="area-panel area-compare">
      <div class="row wrap">
        <div class="totals">
          <Side name="A" reply={loaded.data[0]} area={a} />
          <Side name="B" reply={loaded.data[1]} area={b} />
        </div>
        <span class="grow" />
        <label title={t("tl.area.clip_hint")}>
          <input type="checkbox" checked={clip} onChange={(e) => (model.clip.value = e.currentTarget.checked)} />{" "}
          {t("tl.area.clip")}
        </label>
        <button onClick={both}>{t("tl.sel.zoom")}</button>
        <button onClick={() => swapAreas(model)}>{t("tl.diff.swap")}</button>
        <button onClick={() => setAreaB(model, null)}>{t("tl.diff.end")}</button>
      </div>
      <DataTable
        source={source}
        name={t("tl.diff.title")}
        columns={{ [t("tl.area.name")]: { width: 280 } }}
        onSelect={onFind}
      />
    </div>
  );
}
