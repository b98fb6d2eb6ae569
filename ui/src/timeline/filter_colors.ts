// Rules that colour slices: a filter and a colour, the first that holds counts. Kept in the browser and in links.

export interface FilterColor {
  filter: string;
  /** "#rrggbb" */
  color: string;
}

const kKey = "steplens.filter_colors";
/** As many as the server takes. */
export const kMostRules = 32;

const isColor = (text: unknown): text is string => typeof text === "string" && /^#[0-9a-f]{6}$/i.test(text);

/** Rules of a stored text; what is none is left out. */
export function readFilterColors(text: string | null): FilterColor[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return (Array.isArray(found) ? (found as Partial<FilterColor>[]) : [])
      .filter((rule): rule is FilterColor => typeof rule?.filter === "string" && rule.filter.trim() !== "" && isColor(rule.color))
      .map(({ filter, color }) => ({ filter, color }))
      .slice(0, kMostRules);
  } catch {
    return [];
  }
}

export const storedFilterColors = (): FilterColor[] => readFilterColors(globalThis.localStorage?.getItem(kKey) ?? null);

export function storeFilterColors(rules: readonly FilterColor[]): void {
  localStorage.setItem(kKey, JSON.stringify(rules));
}

/** Rules in an address. */
export const rulesText = (rules: readonly FilterColor[]): string => (rules.length === 0 ? "" : JSON.stringify(rules.map(({ filter, color }) => ({ filter, color }))));
