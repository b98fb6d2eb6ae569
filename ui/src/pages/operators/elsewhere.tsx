// How long the same operator takes on other ranks and in other steps.
import type { Dataset } from "../../api";
import type { TableFilter } from "../../api_types";
import { calmRange, HeatMap } from "../../charts/heat_map";
import { t } from "../../i18n";
import { setScope } from "../../state/session";
import { useLoad } from "../../widgets/async";
import { asNumber, asText, Card } from "../parts";
import { kernelSource, measuresOf } from "./kernels";

/** Mean duration by rank and step of what `filter` leaves; nothing where there is but one of both. */
export function Elsewhere({ ds, filter }: { ds: Dataset; filter: TableFilter[] }) {
  const reply = useLoad(
    (signal) => ds.table({ source: kernelSource(filter.map(({ col }) => col)), args: {}, filter, group: ["rank", "step"], measures: measuresOf(["avg"]), sort: [{ col: "rank", desc: false }], offset: 0, limit: 5000 }, signal),
    [ds.ds, JSON.stringify(filter)],
  );
  const cells = (reply.data?.rows ?? []).map(([rank, step, , mean]) => ({ rank: asNumber(rank), step: asText(step), mean: asNumber(mean) / 1000 }));
  const ranks = [...new Set(cells.map(({ rank }) => rank))].sort((a, b) => a - b);
  const steps = [...new Set(cells.map(({ step }) => step))].sort((a, b) => Number(a) - Number(b));
  if (ranks.length * steps.length < 2) return null;
  const values = new Float64Array(ranks.length * steps.length).fill(NaN);
  for (const { rank, step, mean } of cells) values[ranks.indexOf(rank) * steps.length + steps.indexOf(step)] = mean;
  return (
    <Card title={t("operators.elsewhere")}>
      <HeatMap
        title={t("operators.elsewhere")}
        rows={ranks.map((rank) => `${t("rank")} ${rank}`)}
        columns={steps.map((step) => (step === "" ? t("operators.no_step") : `${t("step")} ${step}`))}
        values={values}
        range={calmRange(values)}
        unit="us"
        height={Math.min(320, 40 + ranks.length * 22)}
        onPick={(row) => setScope({ ranks: [ranks[row]!] })}
      />
    </Card>
  );
}
