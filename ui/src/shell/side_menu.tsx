// The pages. One whose data is missing stays, dimmed, and explains itself when opened.
import { t } from "../i18n";
import { isListed, pages } from "../pages/registry";
import { navigate, route } from "../state/router";
import { findingCount, meta } from "../state/session";
import { Icon } from "./icons";

export function SideMenu({ current }: { current: string }) {
  void route.value;
  return (
    <nav class="side-menu" aria-label={t("pages")}>
      {pages.map((page, at) => {
        if (!isListed(page, meta.value)) return null;
        const view = page.needs ?? page.dims;
        const missing = view !== undefined && meta.value?.views[view]?.available === false;
        return (
          <button
            key={page.id}
            class={`${page.id === current ? "on" : ""} ${missing ? "dim" : ""}`}
            aria-current={page.id === current ? "page" : undefined}
            title={at < 9 ? `${t(page.title)} (Alt+${at + 1})` : t(page.title)}
            onClick={() => navigate(page.id)}
          >
            <Icon name={page.icon} />
            <span>{t(page.title)}</span>
            {page.id === "findings" && findingCount.value?.ds === meta.value?.ds && <span class="menu-count">{findingCount.value?.count}</span>}
          </button>
        );
      })}
    </nav>
  );
}
