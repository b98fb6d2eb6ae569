// The pages of the app, in menu order. A page is one line here and one folder or file with a component as default export;
// it is loaded when it is first shown.
import type { ComponentType } from "preact";
import type { Dataset } from "../api";
import type { DatasetMeta, ViewName } from "../api_types";

export interface PageProps {
  ds: Dataset;
  meta: DatasetMeta;
}

export interface PageDef {
  /** Name in the address: #/{id} */
  id: string;
  /** Catalogue key of its title. */
  title: string;
  icon: string;
  /** The view of the dataset that must be available; null = works with any. */
  needs: ViewName | null;
  /** Its name is dimmed without this view; it explains itself when opened. */
  dims?: ViewName;
  /** What it takes from the scope bar. */
  uses: readonly ScopePart[];
  load(): Promise<{ default: ComponentType<PageProps> }>;
}

export type ScopePart = "ranks" | "step" | "range" | "baseline";

export const pages: PageDef[] = [
  { id: "overview", title: "page.overview", icon: "overview", needs: "overview", uses: ["ranks", "step", "range", "baseline"], load: () => import("./overview") },
  {
    id: "timeline",
    title: "page.timeline",
    icon: "timeline",
    needs: "timeline",
    uses: ["ranks", "step", "range"],
    load: () => import("../timeline/page"),
  },
  { id: "operators", title: "page.operators", icon: "operators", needs: "operator", uses: ["ranks", "step", "range"], load: () => import("./operators/index") },
  { id: "memory", title: "page.memory", icon: "memory", needs: "memory", uses: ["ranks", "range", "baseline"], load: () => import("./memory/index") },
  {
    id: "communication",
    title: "page.communication",
    icon: "communication",
    needs: "communication",
    uses: ["step"],
    load: () => import("./communication/index"),
  },
  { id: "cluster", title: "page.cluster", icon: "cluster", needs: "cluster", uses: ["step"], load: () => import("./cluster/index") },
  { id: "pipeline", title: "page.pipeline", icon: "pipeline", needs: "pipeline", uses: ["ranks"], load: () => import("./pipeline") },
  { id: "rl", title: "page.rl", icon: "rl", needs: null, dims: "rl", uses: ["ranks"], load: () => import("./rl") },
  { id: "findings", title: "page.findings", icon: "findings", needs: "overview", uses: ["ranks"], load: () => import("./findings") },
  { id: "whatif", title: "page.whatif", icon: "pipeline", needs: "timeline", uses: ["ranks", "step"], load: () => import("./whatif") },
  { id: "compare", title: "page.compare", icon: "compare", needs: "overview", uses: ["ranks", "step", "baseline"], load: () => import("./compare/index") },
  { id: "sql", title: "page.sql", icon: "sql", needs: null, uses: [], load: () => import("./sql/index") },
  { id: "data", title: "page.data", icon: "data", needs: null, uses: [], load: () => import("./data") },
];

/** What an address about a place on the timeline has. */
const kPlaceKeys = ["t", "sel", "area", "lane", "q", "v", "view", "pins", "filter", "sqllanes"];

/** The page of an address that names none: the timeline if it says where; else the Overview, or Cluster where there is no timeline. */
export function firstPage(meta: DatasetMeta, params: ReadonlyMap<string, string>): string {
  const has = (view: ViewName) => meta.views[view]?.available === true;
  if (kPlaceKeys.some((key) => params.has(key)) && has("timeline")) return "timeline";
  if (has("timeline")) return has("overview") ? "overview" : "timeline";
  return has("cluster") ? "cluster" : has("overview") ? "overview" : "data";
}

/** Whether the menu lists a page: one about pipelines only where there is a pipeline. */
export function isListed(page: PageDef, meta: DatasetMeta | null): boolean {
  return page.id !== "pipeline" || meta === null || !meta.ready || meta.views.pipeline?.available === true;
}
