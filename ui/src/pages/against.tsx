// How what is in scope differs from the baseline of the scope bar, in a few lines.
import { Dataset } from "../api";
import { formatPercent, signedDuration } from "../format";
import { t } from "../i18n";
import { navigate } from "../state/router";
import { scope, scopeSide, sideName } from "../state/session";
import { formatSide, type Side } from "../state/sides";
import { useLoad } from "../widgets/async";
import { ErrorState, Loading } from "../widgets/states";
import { partTimes } from "./compare/parts";
import { asText, Card, rowsOf } from "./parts";

const kNames: Record<string, string> = {
  Computing: "part.computing",
  "Communication(Not Overlapped)": "part.not_overlapped",
  Overlapped: "part.overlapped",
  Free: "part.free",
  Preparing: "part.preparing",
};

export const partTitle = (part: string): string => (kNames[part] ? t(kNames[part]) : part);

const asked = ({ ds, rank, step }: Side) => ({ ds, rank, ...(step === null ? {} : { step }) });

/** Nothing without a baseline. */
export function Against() {
  const { baseline } = scope.value;
  const here = scopeSide.value;
  const loaded = useLoad(
    (signal) => (baseline ? new Dataset(baseline.ds).compare({ a: asked(baseline), b: asked(here) }, signal) : null),
    [baseline && formatSide(baseline), formatSide(here)],
  );
  if (!baseline) return null;
  const rows = rowsOf(loaded.data, "parts");
  return (
    <Card title={t("overview.against", { name: sideName(baseline) })} definition="overview.step_parts" extra={<button onClick={() => navigate("compare", { a: null, b: null })}>{t("page.compare")}</button>}>
      {loaded.error ? <ErrorState error={loaded.error} onRetry={loaded.reload} /> : !loaded.data ? <Loading /> : null}
      <ul class="facts">
        {partTimes(rows).map(({ part, a, b }, at) => (
          <li key={part}>
            {partTitle(part)}{" "}
            {a === null || b === null ? (
              <span class="muted">{t("compare.missing")}</span>
            ) : (
              <>
                <b>{signedDuration((b - a) * 1000)}</b> <span class="muted">{`${a > 0 ? formatPercent((b - a) / a) : "–"} · ${t(`compare.${asText(rows[at]?.["verdict"] ?? null)}`)}`}</span>
              </>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
