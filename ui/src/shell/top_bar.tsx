// Name and size of what is open, the search box, language, theme, help.
import { middleEllipsis } from "../format";
import { t, locale, setLocale } from "../i18n";
import { datasetColor, info, meta, openDataset, scopeRank, setScope } from "../state/session";
import { recentPaths } from "../state/recent";
import { noteState } from "../state/router";
import { nextTheme, themeChoice } from "../state/theme";
import { type MenuEntry, openMenuAt } from "../widgets/menu";
import { askForDataset } from "./file_browser";
import { showHelp } from "./help";
import { Icon } from "./icons";
import { openPalette } from "./palette";

function chooseDataset(anchor: Element): void {
  const entries: MenuEntry[] = (info.value?.datasets ?? []).map((each) => ({
    label: each.name,
    hint: each.path,
    color: datasetColor(each.ds),
    checked: each.ds === meta.value?.ds,
    run: () =>
      noteState({ ds: each.ds, ranks: null, step: null, range: null, t: null, sel: null, area: null, align: null }),
  }));
  const others: MenuEntry[] = (info.value?.datasets ?? [])
    .filter((each) => each.ds !== meta.value?.ds)
    .map((each) => ({ label: t("open.use_baseline", { name: each.name }), run: () => setScope({ baseline: { ds: each.ds, rank: scopeRank.value, step: null } }) }));
  const open = new Set(info.value?.datasets.map((each) => each.path));
  const before: MenuEntry[] = recentPaths()
    .filter((path) => !open.has(path))
    .map((path) => ({ label: middleEllipsis(path, 60), hint: t("start.before"), run: () => void openDataset(path) }));
  openMenuAt(anchor, [...entries, "-", ...others, ...before, { label: t("open.other"), run: askForDataset }]);
}

const themeGlyph = { system: "◐", light: "☀", dark: "☾", contrast: "◑" };

export function TopBar() {
  const open = meta.value;
  const steps = Math.max(0, ...(open?.ranks.map((rank) => rank.steps.length) ?? []));
  return (
    <header class="top-bar">
      <span class="brand">◇ steplens</span>
      <button class="dataset" onClick={(e) => chooseDataset(e.currentTarget)} title={open?.path ?? ""}>
        {open && (info.value?.datasets.length ?? 0) > 1 && <i class="ds-chip" style={{ background: datasetColor(open.ds) }} />}
        <strong>{open?.name ?? "–"}</strong>
        {open && (
          <span class="muted">{` · ${t("ranks", { n: open.ranks.length })} · ${t("steps", { n: steps })}`}</span>
        )}
        {" ▾"}
      </button>
      <button class="search-box" onClick={() => openPalette("")}>
        <Icon name="search" />
        <span>{t("palette.hint")}</span>
        <kbd>Ctrl+P</kbd>
      </button>
      <button
        class="icon wide"
        aria-label={`${t("language")}: ${locale.value === "en" ? "中" : "En"}`}
        title={`${t("language")}: ${locale.value === "en" ? "中" : "En"}`}
        onClick={() => setLocale(locale.value === "en" ? "zh" : "en")}
      >
        <Icon name="language" />
      </button>
      <button
        class="icon wide"
        aria-label={t("theme")}
        title={`${t("theme")}: ${t(`theme.${themeChoice.value}`)}`}
        onClick={nextTheme}
      >
        {themeGlyph[themeChoice.value]}
      </button>
      <button class="icon wide" aria-label={t("help")} title={`${t("help")} (?)`} onClick={showHelp}>
        ?
      </button>
    </header>
  );
}
