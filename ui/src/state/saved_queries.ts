// Queries the user keeps, in the browser.
import { signal } from "@preact/signals";

export interface SavedQuery {
  name: string;
  query: string;
}

const kStored = "steplens.queries";

/** Queries of a stored text; what is not one is left out. */
export function readQueries(text: string | null): SavedQuery[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return (Array.isArray(found) ? found : []).filter(
      (each: Partial<SavedQuery> | null): each is SavedQuery =>
        typeof each?.name === "string" && typeof each.query === "string",
    );
  } catch {
    return [];
  }
}

export const savedQueries = signal<SavedQuery[]>(readQueries(globalThis.localStorage?.getItem(kStored) ?? null));

function keep(queries: SavedQuery[]): void {
  savedQueries.value = queries;
  localStorage.setItem(kStored, JSON.stringify(queries));
}

/** Keeps a query; one of the same name is replaced. */
export function saveQuery(name: string, query: string): void {
  keep([...savedQueries.value.filter((each) => each.name !== name), { name, query }]);
}

export function forgetQuery(name: string): void {
  keep(savedQueries.value.filter((each) => each.name !== name));
}
