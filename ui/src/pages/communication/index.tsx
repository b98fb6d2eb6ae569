// Communication: choose step, group and operator; look at the matrix, the durations or the operators in time.
import { useState } from "preact/hooks";
import { t } from "../../i18n";
import { noteState, route } from "../../state/router";
import { scope } from "../../state/session";
import { ErrorState } from "../../widgets/states";
import { asNumber, asText, Pick, rowsOf, useMetric } from "../parts";
import type { PageProps } from "../registry";
import { Bandwidth } from "./bandwidth";
import { Durations } from "./durations";
import { OperatorLanes } from "./lanes";
import { Matrix } from "./matrix";

export interface CommChoice {
  step: number | null;
  group: string;
}

const TABS = ["matrix", "durations", "bandwidth", "lanes"] as const;
type Tab = (typeof TABS)[number];

export default function CommunicationPage({ ds }: PageProps) {
  const first = (route.value.params.get("tab") ?? "durations") as Tab;
  const [tab, setTab] = useState<Tab>(TABS.includes(first) ? first : "durations");
  const [step, setStep] = useState<string>(scope.value.step === null ? "" : String(scope.value.step));
  const [group, setGroup] = useState("");
  const steps = useMetric(ds, "comm_steps", {});
  const choice: CommChoice = { step: step === "" ? null : Number(step), group };
  const groups = useMetric(ds, "comm_groups", { step: choice.step });
  const stepOptions = rowsOf(steps.data, "steps")
    .filter((row) => row["step"] !== null)
    .map((row) => ({ value: String(asNumber(row["step"])), text: asText(row["step"]) }));
  const groupOptions = rowsOf(groups.data, "groups").map((row) => ({ value: asText(row["group"]), text: `${asText(row["label"])} (${asText(row["type"])})` }));
  const show = (next: Tab) => {
    setTab(next);
    noteState({ tab: next });
  };
  if (steps.error) return <ErrorState error={steps.error} onRetry={steps.reload} />;
  return (
    <div class="page-body">
      <div class="controls">
        <div class="tabs" role="tablist">
          {TABS.map((name) => (
            <button key={name} role="tab" aria-selected={tab === name} class={`toggle ${tab === name ? "on" : ""}`} onClick={() => show(name)}>
              {t(`comm.${name}`)}
            </button>
          ))}
        </div>
        <Pick label={t("step")} value={step} options={[{ value: "", text: t("all") }, ...stepOptions]} onPick={(value) => setStep(value)} />
        <Pick label={t("comm.group")} value={group} options={[{ value: "", text: t("all") }, ...groupOptions]} onPick={(value) => setGroup(value)} />
      </div>
      {tab === "matrix" && <Matrix ds={ds} choice={choice} />}
      {tab === "durations" && <Durations ds={ds} choice={choice} />}
      {tab === "bandwidth" && <Bandwidth ds={ds} choice={choice} />}
      {tab === "lanes" && <OperatorLanes ds={ds} choice={choice} />}
    </div>
  );
}
