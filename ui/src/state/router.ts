// The address bar is the state: "#/{page}?ds=...&t=...". Reading `route` makes a component follow it.
import { signal } from "@preact/signals";

export interface Route {
  page: string;
  params: ReadonlyMap<string, string>;
}

export function parseHash(hash: string): Route {
  const match = /^#\/?([^?]*)(?:\?(.*))?$/.exec(hash);
  const params = new Map<string, string>();
  for (const [key, value] of new URLSearchParams(match?.[2] ?? "")) params.set(key, value);
  return { page: match?.[1] ?? "", params };
}

export function formatHash(route: Route): string {
  const query = new URLSearchParams();
  for (const [key, value] of route.params) if (value !== "") query.set(key, value);
  // Slashes and commas are legal here and keep lane paths readable.
  const text = query.toString().replaceAll("%2F", "/").replaceAll("%2C", ",");
  return `#/${route.page}${text ? `?${text}` : ""}`;
}

/** The address that `route` was read from. The browser tells of a new one a moment after it stands there. */
let read = globalThis.location?.hash ?? "";

export const route = signal<Route>(parseHash(read));

export function startRouter(): void {
  addEventListener("hashchange", () => {
    read = location.hash;
    route.value = parseHash(read);
  });
}

/** Parameters that belong to the whole app and survive a change of page. */
const GLOBAL = new Set(["ds", "ranks", "step", "range", "align", "base"]);

/** What each page last had in the address, so that coming back finds it as it was. */
const left = new Map<string, ReadonlyMap<string, string>>();

/** Goes to a page as a new entry of the browser's history, with the state it was left in and `patch` on top. */
export function navigate(page: string, patch: Record<string, string | null> = {}): void {
  const now = route.value.params;
  left.set(route.value.page, now);
  const before = left.get(page);
  const same = before?.get("ds") === now.get("ds");
  const own = [...(same && before ? before : [])].filter(([key]) => !GLOBAL.has(key));
  const params = new Map([...[...now].filter(([key]) => GLOBAL.has(key)), ...own]);
  apply(params, patch);
  location.hash = formatHash({ page, params });
}

/** Notes state in the address without a new history entry. Nothing is noted over a link that was just followed and is not read yet. */
export function noteState(patch: Record<string, string | null>): void {
  if (location.hash !== read) return;
  const params = new Map(route.value.params);
  apply(params, patch);
  const next = { page: route.value.page, params };
  const hash = formatHash(next);
  if (hash === location.hash) return;
  history.replaceState(null, "", hash);
  read = location.hash;
  route.value = next;
}

/** Names the page of an address that named none. */
export function settlePage(page: string): void {
  if (route.value.page !== "" || location.hash !== read) return;
  history.replaceState(null, "", formatHash({ page, params: route.value.params }));
  read = location.hash;
  route.value = parseHash(read);
}

function apply(params: Map<string, string>, patch: Record<string, string | null>): void {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) params.delete(key);
    else params.set(key, value);
  }
}
