// Colours that the user gave to names. They are kept in the browser and hold for every dataset.
import { type Pixel, parseColor } from "./colors";

const kKey = "steplens.colors";

/** "#rrggbb" by name; what is stored and is no colour is left out. */
export function readRules(text: string | null): Map<string, string> {
  try {
    const pairs = Object.entries(JSON.parse(text ?? "{}") as Record<string, unknown>);
    return new Map(pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string" && /^#[0-9a-f]{6}$/i.test(pair[1])));
  } catch {
    return new Map();
  }
}

/** Running numbers do not matter: the same collective of another step has the same colour. */
export const ruleName = (name: string): string => name.replace(/[\d_]+$/, "");

export class ColorRules {
  private rules = readRules(globalThis.localStorage?.getItem(kKey) ?? null);

  get size(): number {
    return this.rules.size;
  }

  of(name: string): Pixel | null {
    const color = this.rules.size > 0 ? this.rules.get(ruleName(name)) : undefined;
    return color ? parseColor(color) : null;
  }

  set(name: string, color: string): void {
    this.rules.set(ruleName(name), color);
    this.store();
  }

  clear(): void {
    this.rules.clear();
    this.store();
  }

  private store(): void {
    localStorage.setItem(kKey, JSON.stringify(Object.fromEntries(this.rules)));
  }
}
