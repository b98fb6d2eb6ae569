// Ranks, step, range and baseline that all pages share, and how far the import is.
import { cancelSlow, slowRequests } from "../api";
import { formatDuration, formatShort } from "../format";
import { t } from "../i18n";
import { type PageDef, pages, type ScopePart } from "../pages/registry";
import { route } from "../state/router";
import { connected, dataset, formatRanks, info, meta, parseRanks, progress, scope, scopeSide, scopeSteps, setScope, sideName } from "../state/session";
import { formatSide, type Side } from "../state/sides";
import { askText } from "../widgets/dialog";
import { askForDataset } from "./file_browser";
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

/** What pages compare with: what is in scope now, another run, rank or step. */
function chooseBaseline(anchor: Element): void {
  const now = scope.value.baseline;
  const here = scopeSide.value;
  const pick = (side: Side | null, label: string): MenuEntry => ({
    label,
    checked: side === null ? now === null : now !== null && formatSide(now) === formatSide(side),
    run: () => setScope({ baseline: side }),
  });
  const sides = [
    ...(info.value?.datasets ?? []).filter((each) => each.ds !== here.ds).map(({ ds }): Side => ({ ds, rank: here.rank, step: null })),
    ...(meta.value?.ranks ?? []).filter(({ rank }) => rank !== here.rank).slice(0, kMenuRanks / 2).map(({ rank }): Side => ({ ...here, rank, step: null })),
    ...scopeSteps.value.slice(0, kMenuRanks / 2).map(({ step }): Side => ({ ...here, step })),
  ];
  openMenuAt(anchor, [
    pick(null, t("scope.no_baseline")),
    { label: t("scope.keep_baseline", { name: sideName(here) }), run: () => setScope({ baseline: here }) },
    { label: t("scope.open_baseline"), run: askForDataset },
    "-",
    ...sides.map((side) => pick(side, sideName(side))),
  ]);
}

function Import() {
  const now = progress.value;
  if (!connected.value) return <span class="warn">{t("connection.lost")}</span>;
  if (!now || meta.value?.ready) return null;
  const share = now.total > 0 ? now.done / now.total : 0;
  const facts = [now.rank === null ? "" : `${t("rank")} ${now.rank}`, now.mb_per_s ? `${formatShort(now.mb_per_s)} MB/s` : "", now.eta_s > 0 ? `${Math.ceil(now.eta_s)} s` : ""];
  return (
    <span class="import">
      {`${t("import")} ${Math.round(share * 100)} %`}
      <progress value={share} max={1} />
      <span class="muted">{facts.filter((fact) => fact !== "").join(" · ")}</span>
      <button title={t("import.stop_text")} onClick={() => void dataset.value?.stopReading()}>
        {t("import.stop")}
      </button>
    </span>
  );
}

/** Somebody has been waiting for more than a moment. */
function Slow() {
  const count = slowRequests.value.size;
  if (count === 0) return null;
  return (
    <span class="import" role="status">
      {t("slow", { n: count })}
      <button onClick={cancelSlow}>{t("cancel")}</button>
    </span>
  );
}

/** A part of the scope that the page on screen does not look at says so; one that was set is struck through. */
function Part({ part, page, isSet, children, onOpen }: { part: ScopePart; page: PageDef | undefined; isSet: boolean; children: string; onOpen(anchor: Element): void }) {
  const used = page?.uses.includes(part) ?? true;
  return (
    <button class={used ? "" : isSet ? "unused set" : "unused"} title={used ? "" : t("scope.unused")} onClick={(event) => onOpen(event.currentTarget)}>
      {children}
    </button>
  );
}

export function ScopeBar() {
  const { ranks, step, range, baseline } = scope.value;
  const page = pages.find((each) => each.id === (route.value.page || "overview"));
  return (
    <footer class="scope-bar">
      <span class="muted">{t("scope")}</span>
      <Part part="ranks" page={page} isSet={ranks !== null} onOpen={chooseRanks}>{`${ranks ? `${t("rank")} ${formatRanks(ranks)}` : t("scope.all_ranks")} ▾`}</Part>
      <Part part="step" page={page} isSet={step !== null} onOpen={chooseStep}>{`${step === null ? t("scope.all_steps") : `${t("step")} ${step}`} ▾`}</Part>
      {range && <Part part="range" page={page} isSet onOpen={() => setScope({ range: null })}>{`${t("range")} ${formatDuration(range[0])} – ${formatDuration(range[1])} ×`}</Part>}
      <Part part="baseline" page={page} isSet={baseline !== null} onOpen={chooseBaseline}>{`${baseline ? `${t("scope.baseline")} ${sideName(baseline)}` : t("scope.no_baseline")} ▾`}</Part>
      <span class="grow" />
      <Slow />
      <Import />
    </footer>
  );
}
