// Light, dark or high contrast; follows the system until the user chooses.
import { computed, signal } from "@preact/signals";

export type Theme = "light" | "dark" | "contrast";
export type ThemeChoice = Theme | "system";

const KEY = "steplens.theme";
const CHOICES: ThemeChoice[] = ["system", "light", "dark", "contrast"];

const dark = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
const contrast = globalThis.matchMedia?.("(prefers-contrast: more)");

function stored(): ThemeChoice {
  const value = globalThis.localStorage?.getItem(KEY);
  return CHOICES.find((choice) => choice === value) ?? "system";
}

function fromSystem(): Theme {
  if (contrast?.matches) return "contrast";
  return dark?.matches ? "dark" : "light";
}

const system = signal<Theme>(fromSystem());
export const themeChoice = signal<ThemeChoice>(stored());
export const theme = computed<Theme>(() => (themeChoice.value === "system" ? system.value : themeChoice.value));

export function startTheme(): void {
  for (const query of [dark, contrast]) query?.addEventListener("change", () => (system.value = fromSystem()));
  theme.subscribe((value) => (document.documentElement.dataset["theme"] = value));
}

export function setTheme(choice: ThemeChoice): void {
  themeChoice.value = choice;
  localStorage.setItem(KEY, choice);
}

/** system -> light -> dark -> contrast -> system */
export function nextTheme(): void {
  const at = CHOICES.indexOf(themeChoice.value);
  setTheme(CHOICES[(at + 1) % CHOICES.length] ?? "system");
}

/** The value of a CSS variable of the current theme, for canvases. */
export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
