// What colours mean while slices are coloured by more than their kind of work.
import { middleEllipsis } from "../format";
import { t } from "../i18n";
import { theme } from "../state/theme";
import { readColors } from "./base_layer";
import { pixelToCss } from "./colors";
import type { FilterColor } from "./filter_colors";
import type { TimelineModel } from "./model";
import { moduleColors, moduleKind, percentileColor } from "./shading";

const kSteps = 12;
const kMost = 10;

function Percentiles({ dark }: { dark: boolean }) {
  return (
    <>
      <span>{t("tl.legend.short")}</span>
      <span class="tl-ramp" aria-hidden="true">
        {Array.from({ length: kSteps }, (_, at) => (
          <i key={at} style={{ background: pixelToCss(percentileColor(at / (kSteps - 1), dark)) }} />
        ))}
      </span>
      <span>{t("tl.legend.long")}</span>
    </>
  );
}

/** One entry a kind of module, the first that are met. */
function Modules({ paths, dark }: { paths: readonly string[] | null; dark: boolean }) {
  if (!paths) return <span>{t("loading")}</span>;
  if (paths.length === 0) return <span>{t("tl.legend.no_modules")}</span>;
  const colors = moduleColors(paths, dark);
  const kinds = new Map(paths.flatMap((path, at) => (path.includes("[Backward]") ? [] : [[moduleKind(path), colors[at]!] as const])));
  return (
    <>
      {[...kinds].slice(0, kMost).map(([kind, color]) => (
        <span key={kind}>
          <i class="tl-swatch" style={{ background: pixelToCss(color) }} /> {kind}
        </span>
      ))}
      {kinds.size > kMost && <span class="muted">{`+ ${kinds.size - kMost}`}</span>}
    </>
  );
}

function Rules({ rules }: { rules: readonly FilterColor[] }) {
  return (
    <>
      {rules.slice(0, kMost).map(({ filter, color }) => (
        <span key={filter}>
          <i class="tl-swatch" style={{ background: color }} /> {middleEllipsis(filter, 40)}
        </span>
      ))}
      {rules.length > kMost && <span class="muted">{`+ ${rules.length - kMost}`}</span>}
    </>
  );
}

export function ColorLegend({ model }: { model: TimelineModel }) {
  const mode = model.shading.mode.value;
  void [theme.value, model.shading.arrived.value];
  if (mode === "") return null;
  const { dark } = readColors();
  return (
    <div class="tl-legend" aria-label={t(`tl.color.${mode}`)} role="note">
      {mode === "rules" ? <Rules rules={model.shading.rules.value} /> : mode === "percentile" ? <Percentiles dark={dark} /> : <Modules paths={model.shading.modules(model.tree.roots[0]?.rank ?? 0)} dark={dark} />}
    </div>
  );
}
