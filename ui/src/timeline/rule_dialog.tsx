// The rules that colour slices: filters in order, each with a colour.
import { useState } from "preact/hooks";
import { ApiError } from "../api";
import { formatInt } from "../format";
import { t } from "../i18n";
import { closeDialog, openDialog } from "../widgets/dialog";
import { type FilterColor, kMostRules, storeFilterColors } from "./filter_colors";
import type { TimelineModel } from "./model";

const kColors = ["#d6453d", "#e08a2b", "#1f9e89", "#b35bc4", "#3b7dd8", "#8a6d3b"];

const newRule = (at: number): FilterColor => ({ filter: "", color: kColors[at % kColors.length]! });

function Rules({ model }: { model: TimelineModel }) {
  const [rules, setRules] = useState<FilterColor[]>(model.shading.rules.value.length > 0 ? [...model.shading.rules.value] : [newRule(0)]);
  const [said, setSaid] = useState<ReadonlyMap<number, string>>(new Map());
  const change = (at: number, patch: Partial<FilterColor>) => setRules(rules.map((rule, k) => (k === at ? { ...rule, ...patch } : rule)));
  /** What each filter finds, or what is wrong with it; true if all are sound. */
  const check = async (used: readonly FilterColor[]): Promise<boolean> => {
    const answers = await Promise.all(
      used.map(({ filter }) =>
        model.ds.search({ q: filter, mode: "contains", limit: 1, cursor: null }).then(
          (reply) => ({ text: t("tl.area.slices", { n: reply.count }), sound: true }),
          (error: unknown) => ({ text: error instanceof ApiError ? error.message : String(error), sound: false }),
        ),
      ),
    );
    setSaid(new Map(answers.map((answer, at) => [at, answer.text])));
    return answers.every((answer) => answer.sound);
  };
  const apply = async (event: Event) => {
    event.preventDefault();
    const used = rules.filter((rule) => rule.filter.trim() !== "");
    setRules(used.length > 0 ? used : [newRule(0)]);
    if (!(await check(used))) return;
    storeFilterColors(used);
    closeDialog();
    if (used.length > 0) model.setRules(used);
    else {
      model.shading.setRules([]);
      model.setColoring("family");
    }
  };
  return (
    <form class="column rules" onSubmit={(event) => void apply(event)}>
      <p class="muted">{t("tl.rules.text")}</p>
      {rules.map((rule, at) => (
        <div class="row" key={at}>
          <input type="color" value={rule.color} aria-label={t("tl.rules.color", { n: at + 1 })} onInput={(event) => change(at, { color: event.currentTarget.value })} />
          <input
            class="grow"
            value={rule.filter}
            placeholder={'name~"matmul" dur>50us'}
            aria-label={t("tl.rules.filter", { n: at + 1 })}
            onInput={(event) => change(at, { filter: event.currentTarget.value })}
          />
          <span class="muted">{said.get(at) ?? ""}</span>
          <button type="button" class="icon" aria-label={t("tl.rules.remove", { n: at + 1 })} onClick={() => setRules(rules.filter((_, k) => k !== at))}>
            ×
          </button>
        </div>
      ))}
      <div class="row end">
        <button type="button" disabled={rules.length >= kMostRules} onClick={() => setRules([...rules, newRule(rules.length)])}>
          {t("tl.rules.add")}
        </button>
        <span class="grow muted">{rules.length > 1 ? t("tl.rules.first", { n: formatInt(rules.length) }) : ""}</span>
        <button class="primary">{t("apply")}</button>
      </div>
    </form>
  );
}

export function editRules(model: TimelineModel): void {
  openDialog(t("tl.rules.edit"), () => <Rules model={model} />);
}
