// The frame around the pages.
import { signal } from "@preact/signals";
import { Component, type ComponentChildren, type ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { t } from "../i18n";
import { firstPage, type PageDef, type PageProps, pages } from "../pages/registry";
import { addCommands, type Command } from "../state/commands";
import { navigate, route, settlePage } from "../state/router";
import { connected, dataset, info, meta, refreshInfo, startError } from "../state/session";
import { nextTheme } from "../state/theme";
import { Dialogs } from "../widgets/dialog";
import { Menus } from "../widgets/menu";
import { ErrorState, Loading, MissingData } from "../widgets/states";
import { toast, Toasts } from "../widgets/toast";
import { showHelp } from "./help";
import { openPalette, Palette } from "./palette";
import { ScopeBar } from "./scope_bar";
import { SideMenu } from "./side_menu";
import { StartPage } from "./start";
import { TopBar } from "./top_bar";

const loadedPages = signal<ReadonlyMap<string, ComponentType<PageProps>>>(new Map());
const menuOpen = signal(localStorage.getItem("steplens.menu") !== "closed");

function toggleMenu(): void {
  menuOpen.value = !menuOpen.value;
  localStorage.setItem("steplens.menu", menuOpen.value ? "open" : "closed");
}

function loadPage(page: PageDef): void {
  page.load().then(
    (module) => (loadedPages.value = new Map(loadedPages.value).set(page.id, module.default)),
    (error: unknown) => toast("error", t("error.page"), String(error)),
  );
}

function shellCommands(): Command[] {
  return [
    { id: "palette", title: "cmd.palette", keys: ["Ctrl+Shift+P", "F1"], run: () => openPalette(">") },
    { id: "lanes", title: "cmd.find", keys: ["Ctrl+P"], run: () => openPalette("") },
    { id: "help", title: "help.keys", keys: ["?"], run: showHelp },
    { id: "menu", title: "cmd.menu", keys: ["Ctrl+B"], run: toggleMenu },
    { id: "theme", title: "cmd.theme", keys: [], run: nextTheme },
    ...pages.map((page, at) => ({
      id: `page.${page.id}`,
      title: page.title,
      keys: at < 9 ? [`Alt+code:Digit${at + 1}`] : [],
      run: () => navigate(page.id),
    })),
  ];
}

/** A mistake in a page must not take the app with it. */
class Boundary extends Component<{ children: ComponentChildren }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  override componentDidCatch(error: unknown): void {
    this.setState({ error });
  }

  override render() {
    if (this.state.error) return <ErrorState error={this.state.error} onRetry={() => this.setState({ error: null })} />;
    return this.props.children;
  }
}

function Page({ page }: { page: PageDef }) {
  const open = dataset.value;
  const Component = loadedPages.value.get(page.id);
  useEffect(() => {
    if (!loadedPages.value.has(page.id)) loadPage(page);
  }, [page.id]);
  if (startError.value)
    return <ErrorState error={startError.value} onRetry={() => void refreshInfo().then(() => location.reload())} />;
  if (!open || !meta.value) return <Loading />;
  const view = page.needs === null ? null : meta.value.views[page.needs];
  if (view && !view.available && meta.value.ready) return <MissingData missing={view.missing} error={meta.value.error ?? ""} onDetails={() => navigate("data")} />;
  if (!Component) return <Loading />;
  return <Component key={open.ds} ds={open} meta={meta.value} />;
}

export function App() {
  useEffect(() => addCommands(shellCommands()), []);
  const known = meta.value && (meta.value.ready || meta.value.ranks.length > 0) ? meta.value : null;
  const wanted = route.value.page === "" && known ? firstPage(known, route.value.params) : route.value.page;
  const page = pages.find((each) => each.id === wanted) ?? pages[0]!;
  const isOpen = wanted !== "";
  useEffect(() => {
    if (route.value.page === "" && isOpen) settlePage(page.id);
  }, [page.id, isOpen]);
  const none = info.value !== null && !dataset.value;
  return (
    <div class={`app ${menuOpen.value ? "" : "menu-closed"}`}>
      <TopBar />
      {!connected.value && <div class="banner">{t("connection.lost")}</div>}
      <div class="middle">
        <SideMenu current={isOpen ? page.id : ""} />
        {none ? (
          <StartPage />
        ) : (
          <main class="page" data-page={isOpen ? page.id : ""} aria-label={t(page.title)}>
            <Boundary key={page.id}>{isOpen || startError.value ? <Page page={page} /> : <Loading />}</Boundary>
          </main>
        )}
      </div>
      <ScopeBar />
      <Palette />
      <Menus />
      <Dialogs />
      <Toasts />
    </div>
  );
}
