// Two sets of keys: those of MindStudio Insight, and those of Perfetto where they differ.
import { signal } from "@preact/signals";

export type KeyPreset = "insight" | "perfetto";

const kKey = "steplens.keys";

export const keyPreset = signal<KeyPreset>(
  globalThis.localStorage?.getItem(kKey) === "perfetto" ? "perfetto" : "insight",
);

export function toggleKeyPreset(): void {
  keyPreset.value = keyPreset.value === "insight" ? "perfetto" : "insight";
  localStorage.setItem(kKey, keyPreset.value);
}

/** Keys of Perfetto by command; commands that are not here have the same keys in both. */
const kPerfetto: Readonly<Record<string, readonly string[]>> = {
  fit: ["Home"],
  undo: ["Alt+ArrowLeft"],
  redo: ["Alt+ArrowRight"],
  zoom_selection: ["F"],
  range: ["R"],
  marker: ["M", "Shift+M"],
  align_left: ["Shift+L"],
  align_right: ["Shift+R"],
  next_same: ["Shift+code:Period"],
  previous_same: ["Shift+code:Comma"],
  flow_forward: ["]"],
  flow_back: ["["],
};

/** The keys of a timeline command; `insight` are those of the default set. */
export function keysFor(preset: KeyPreset, command: string, insight: string[]): string[] {
  const other = preset === "perfetto" ? kPerfetto[command] : undefined;
  return other ? [...other] : insight;
}
