// Tokens a second and the share of the chips' peak that the model uses, from numbers that only the user knows.
import { signal } from "@preact/signals";
import type { DatasetMeta } from "../api_types";
import { formatPercent, formatShort } from "../format";
import { t } from "../i18n";

export interface SpeedNumbers {
  /** Tokens of a step, over all ranks. */
  tokens: number;
  /** Parameters that a token goes through, in billions. */
  params_b: number;
  /** What one device can do, in 10^12 operations a second. */
  peak_tflops: number;
}

const kNone: SpeedNumbers = { tokens: 0, params_b: 0, peak_tflops: 0 };
const keyOf = (meta: DatasetMeta) => `steplens.speed.${meta.path}`;

function stored(key: string): SpeedNumbers {
  try {
    const value = JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<SpeedNumbers>;
    const number = (n: unknown) => (typeof n === "number" && Number.isFinite(n) && n > 0 ? n : 0);
    return { tokens: number(value.tokens), params_b: number(value.params_b), peak_tflops: number(value.peak_tflops) };
  } catch {
    return kNone;
  }
}

/** Tokens a second, and model FLOPs utilization: 6 operations a parameter and token, forward and backward. 0 = not known. */
export function speedOf({ tokens, params_b, peak_tflops }: SpeedNumbers, step_us: number, ranks: number): { tokens_s: number; mfu: number } {
  const tokens_s = step_us > 0 ? (tokens * 1e6) / step_us : 0;
  const peak = peak_tflops * 1e12 * ranks;
  return { tokens_s, mfu: peak > 0 ? (6 * params_b * 1e9 * tokens_s) / peak : 0 };
}

const numbers = signal<{ key: string; value: SpeedNumbers }>({ key: "", value: kNone });

export function Speed({ meta, step_us }: { meta: DatasetMeta; step_us: number }) {
  const key = keyOf(meta);
  if (numbers.value.key !== key) numbers.value = { key, value: stored(key) };
  const now = numbers.value.value;
  const set = (name: keyof SpeedNumbers, text: string) => {
    const value = { ...now, [name]: Math.max(0, Number(text) || 0) };
    numbers.value = { key, value };
    localStorage.setItem(key, JSON.stringify(value));
  };
  const { tokens_s, mfu } = speedOf(now, step_us, meta.ranks.length);
  return (
    <details class="speed">
      <summary>
        {tokens_s > 0 ? (
          <>
            {t("speed.tokens_s", { n: formatShort(tokens_s) })}
            {mfu > 0 && ` · MFU ${formatPercent(mfu)}`}
          </>
        ) : (
          t("speed.ask")
        )}
      </summary>
      {(["tokens", "params_b", "peak_tflops"] as const).map((name) => (
        <label key={name} class="pick">
          {t(`speed.${name}`)}
          <input type="number" min="0" step="any" value={now[name] || ""} onInput={(event) => set(name, event.currentTarget.value)} />
        </label>
      ))}
      <p class="muted">{t("speed.text")}</p>
    </details>
  );
}
