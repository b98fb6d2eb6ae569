// Ranks, step and range that all pages share, and how far the import is.
import { formatDuration } from "../format";
import { t } from "../i18n";
import { connected, formatRanks, meta, parseRanks, progress, scope, scopeSteps, setScope } from "../state/session";
import { askText } from "../widgets/dialog";
import { type MenuEntry, openMenuAt } from "../widgets/menu";

const kMenuRanks = 32;

function chooseRanks(anchor: Element): void {
  const ranks = meta.value?.ranks ?? [];
  const now = scope.value.ranks;
  const entries: MenuEntry[] = ranks.slice(0, kMenuRanks).map((rank) => ({
    label: `${t("rank")} ${rank.rank}${rank.alias ? ` (${rank.alias})` : ""}`,
    checked: now?.includes(rank.rank) ?? false,
    run: () => setScope({ ranks: [rank.rank] }),
  }));
  for (const rank of (meta.value?.pending ?? []).slice(0, kMenuRanks - entries.length)) {
    entries.push({
      label: `${t("rank")} ${rank}`,
      hint: t("scope.reading"),
      checked: now?.includes(rank) ?? false,
      run: () => setScope({ ranks: [rank] }),
    });
  }
  const ask = () =>
    askText(t("scope.ranks"), t("scope.ranks_hint"), now ? formatRanks(now) : "", (text) =>
      setScope({ ranks: parseRanks(text) }),
    );
  openMenuAt(anchor, [
    { label: t("scope.all_ranks"), checked: now === null, run: () => setScope({ ranks: null }) },
    ...entries,
    "-",
    { label: t("scope.some_ranks"), run: ask },
  ]);
}

function chooseStep(anchor: Element): void {
  const now = scope.value.step;
  openMenuAt(anchor, [
    { label: t("scope.all_steps"), checked: now === null, run: () => setScope({ step: null }) },
    ...scopeSteps.value.slice(0, 200).map((span) => ({
      label: `${t("step")} ${span.step}`,
      hint: formatDuration(span.end - span.begin),
      checked: now === span.step,
      run: () => setScope({ step: span.step }),
    })),
  ]);
}

function Import() {
  const now = progress.value;
  if (!connected.value) return <span class="warn">{t("connection.lost")}</span>;
  if (!now || meta.value?.ready) return null;
  const share = now.total > 0 ? now.done / now.total : 0;
  return (
    <span class="import">
      {`${t("import")} ${Math.round(share * 100)} %`}
      <progress value={share} max={1} />
      {now.eta_s > 0 && <span class="muted">{`${Math.ceil(now.eta_s)} s`}</span>}
    </span>
  );
}

export function ScopeBar() {
  const { ranks, step, range } = scope.value;
  return (
    <footer class="scope-bar">
      <span class="muted">{t("scope")}</span>
      <button
        onClick={(e) => chooseRanks(e.currentTarget)}
      >{`${ranks ? `${t("rank")} ${formatRanks(ranks)}` : t("scope.all_ranks")} ▾`}</button>
      <button
        onClick={(e) => chooseStep(e.currentTarget)}
      >{`${step === null ? t("scope.all_steps") : `${t("step")} ${step}`} ▾`}</button>
      {range && (
        <button title={t("clear")} onClick={() => setScope({ range: null })}>
          {`${t("range")} ${formatDuration(range[0])} – ${formatDuration(range[1])} ×`}
        </button>
      )}
      <span class="grow" />
      <Import />
    </footer>
  );
}
