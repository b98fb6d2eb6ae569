// What the user can do, by name and by key. Pages add their commands while they are shown; the palette and the help list them.
import { signal } from "@preact/signals";

export interface Command {
  id: string;
  /** Catalogue key of its name. */
  title: string;
  /**
   * Keys like "Ctrl+Shift+P", "?" or "code:KeyW". "code:" names the physical key, whatever the layout prints on it.
   * Ctrl also stands for Cmd.
   */
  keys: string[];
  run(): void;
}

export const commands = signal<Command[]>([]);

const kOwnKeys = "steplens.own_keys";

export type OwnKeys = ReadonlyMap<string, readonly string[]>;

/** Keys by command of a stored text; what is none is left out. */
export function readOwnKeys(text: string | null): OwnKeys {
  try {
    const found = Object.entries(JSON.parse(text ?? "{}") as Record<string, unknown>);
    return new Map(found.filter((pair): pair is [string, string[]] => Array.isArray(pair[1]) && pair[1].every((key) => typeof key === "string")));
  } catch {
    return new Map();
  }
}

/** Keys that the user gave to commands, kept in the browser. */
export const ownKeys = signal<OwnKeys>(readOwnKeys(globalThis.localStorage?.getItem(kOwnKeys) ?? null));

export const keysOf = (command: Pick<Command, "id" | "keys">, own: OwnKeys = ownKeys.value): readonly string[] => own.get(command.id) ?? command.keys;

/** `key` becomes the one of `id`; whatever had it before has it no longer. */
export function withKey(own: OwnKeys, all: readonly Pick<Command, "id" | "keys">[], id: string, key: string): OwnKeys {
  const next = new Map(own);
  for (const other of all) {
    const keys = keysOf(other, own);
    if (other.id !== id && keys.includes(key)) next.set(other.id, keys.filter((each) => each !== key));
  }
  return next.set(id, [key]);
}

export function keepOwnKeys(own: OwnKeys): void {
  ownKeys.value = own;
  localStorage.setItem(kOwnKeys, JSON.stringify(Object.fromEntries(own)));
}

/** Adds commands until the returned function is called. */
export function addCommands(list: Command[]): () => void {
  commands.value = [...commands.value, ...list];
  return () => (commands.value = commands.value.filter((command) => !list.includes(command)));
}

/** The names a key event answers to: by character and by physical key. */
export function keyNames(
  event: Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">,
): string[] {
  const prefix = (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + (event.altKey ? "Alt+" : "");
  const shift = event.shiftKey ? "Shift+" : "";
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  const names = [`${prefix}${shift}${key}`, `${prefix}${shift}code:${event.code}`];
  // "?" and ":" already say that Shift was down; on other layouts it may not have been.
  if (event.shiftKey && event.key.length === 1 && !/[a-z]/i.test(event.key)) names.push(prefix + key);
  return names;
}

/** How a key is written in menus: "code:KeyW" -> "W". */
export function keyLabel(key: string): string {
  return key
    .replace(/code:(?:Key|Digit)(\w)/, "$1")
    .replace("code:Period", ".")
    .replace("code:Comma", ",")
    .replace("code:", "")
    .replace("Arrow", "");
}

function isTyping(event: Event): boolean {
  // Inside a shadow root the event names the host; its path begins with the element itself.
  const target = event.composedPath()[0] ?? event.target;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || document.querySelector("dialog[open], .menu-backdrop")) return;
  const names = keyNames(event);
  const plain = !(event.ctrlKey || event.metaKey || event.altKey) && event.key !== "F1";
  if (plain && isTyping(event)) return;
  // The page's own keys, added last, win over the shell's.
  const found = [...commands.value].reverse().find((command) => keysOf(command).some((key) => names.includes(key)));
  if (!found) return;
  event.preventDefault();
  found.run();
}

export function startKeys(): void {
  addEventListener("keydown", onKey);
}

/** What the keys are about, in the order shown; commands that are in none belong to the app. */
const kGroups: [string, RegExp][] = [
  ["move", /^tl\.(zoom_in|zoom_out|left|right|up|down|fit|undo|redo|zoom_selection|next_step|previous_step)$/],
  ["select", /^tl\.(next|previous|row_up|row_down|next_same|previous_same|flow_forward|flow_back|range|by_depth|clear|explain|marker)$/],
  ["find", /^tl\.(search|search_next|search_previous|filter)$/],
  ["lanes", /^tl\.(pin|hide|solo|expand|expand_all|set_base|align_left|align_right|panel|keys)$/],
  ["pages", /^page\./],
  ["app", /./],
];

/** Commands by what they are about; groups without any are left out. */
export function groupedCommands(list: readonly Command[]): [string, Command[]][] {
  const of = (command: Command) => kGroups.find(([, pattern]) => pattern.test(command.id))![0];
  return kGroups.map(([group]): [string, Command[]] => [group, list.filter((command) => of(command) === group)]).filter(([, members]) => members.length > 0);
}
