// The app's words in English and Chinese. Reading `locale` inside a component makes it follow the language switch.
import { signal } from "@preact/signals";
import enPages from "./en/pages.json";
import enShell from "./en/shell.json";
import enTimeline from "./en/timeline.json";
import enShared from "../../../src/analysis/text/en.json";
import zhShared from "../../../src/analysis/text/zh.json";
import type { Scalar, Wording } from "../api_types";
import { formatMessage, type MessageArgs } from "./message";
import zhPages from "./zh/pages.json";
import zhShell from "./zh/shell.json";
import zhTimeline from "./zh/timeline.json";

export type Locale = "en" | "zh";

const catalogues: Record<Locale, Record<string, string>> = {
  en: { ...enShell, ...enTimeline, ...enPages, ...enShared },
  zh: { ...zhShell, ...zhTimeline, ...zhPages, ...zhShared },
};

const KEY = "steplens.locale";

function initial(): Locale {
  const stored = globalThis.localStorage?.getItem(KEY);
  if (stored === "en" || stored === "zh") return stored;
  return globalThis.navigator?.language?.toLowerCase().startsWith("zh") ? "zh" : "en";
}

export const locale = signal<Locale>(initial());

export function setLocale(next: Locale): void {
  locale.value = next;
  localStorage.setItem(KEY, next);
  document.documentElement.lang = next === "zh" ? "zh-CN" : "en";
}

/** The tag for Intl of the current language. */
export function localeTag(): string {
  return locale.value === "zh" ? "zh-CN" : "en-US";
}

export function hasMessage(key: string): boolean {
  return key in catalogues[locale.value];
}

/** A fixed word of the data (a series, a category, a verdict) in the user's language; others stay as they are. */
export function valueText(text: string): string {
  const key = `value.${text}`;
  return hasMessage(key) ? t(key) : text;
}

/** The text of `key`; a key nobody translated shows itself. */
export function t(key: string, args: MessageArgs = {}): string {
  const text = catalogues[locale.value][key] ?? catalogues.en[key];
  return text === undefined ? key : formatMessage(text, args, localeTag());
}

/** A sentence of the server in the user's language: the catalogue is the server's own (src/analysis/text). */
export function wordingText(wording: Wording): string {
  if (!wording.key || !hasMessage(wording.key)) return wording.text ?? wording.key ?? "";
  const shown = (value: Scalar | Wording) => (typeof value === "object" && value !== null ? wordingText(value) : value);
  return t(wording.key, Object.fromEntries(Object.entries(wording.args ?? {}).map(([name, value]) => [name, shown(value)])));
}
