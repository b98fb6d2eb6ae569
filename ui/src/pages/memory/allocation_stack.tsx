// Who allocated: the calls that led to the operator of an allocation.
import type { Dataset } from "../../api";
import type { SliceDetail } from "../../api_types";
import { t } from "../../i18n";
import { openSlice } from "../../state/jump";
import { useLoad } from "../../widgets/async";
import { closeDialog, openDialog } from "../../widgets/dialog";
import { copyText, EmptyState, ErrorState, Loading } from "../../widgets/states";
import { sliceAround } from "../parts";

interface Allocation {
  rank: number;
  name: string;
  /** As shown on the timeline. */
  t_ns: number;
}

async function detailOf(ds: Dataset, { rank, name, t_ns }: Allocation, signal: AbortSignal): Promise<SliceDetail | undefined> {
  const hit = await sliceAround(ds, rank, name, t_ns);
  return hit && ds.slice(hit.track, hit.i, signal);
}

function Stack({ ds, allocation }: { ds: Dataset; allocation: Allocation }) {
  const { data, error, busy } = useLoad((signal) => detailOf(ds, allocation, signal), []);
  if (error) return <ErrorState error={error} />;
  if (busy) return <Loading />;
  if (!data) return <EmptyState title={t("memory.stack_no_operator")} />;
  const show = () => {
    closeDialog();
    openSlice(data.track, data.i);
  };
  const calls = data.stack.length > 0 ? data.stack : data.parents.map((parent) => parent.name);
  return (
    <div class="column">
      <p>
        <b>{data.name}</b> <span class="muted">{data.lane}</span>
      </p>
      {data.stack.length === 0 && <p class="muted">{t("memory.stack_none")}</p>}
      <ol class="mono stack-lines">
        {calls.map((call, at) => (
          <li key={at}>{call}</li>
        ))}
      </ol>
      <div class="row end">
        <button onClick={() => void copyText(calls.join("\n"))}>{t("copy")}</button>
        <button class="primary" onClick={show}>
          {t("table.jump")}
        </button>
      </div>
    </div>
  );
}

export function showAllocationStack(ds: Dataset, allocation: Allocation): void {
  openDialog(t("memory.stack"), () => <Stack ds={ds} allocation={allocation} />);
}
