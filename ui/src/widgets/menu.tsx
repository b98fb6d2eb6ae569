// Context menus and drop-downs. One is open at a time; arrows, Enter and Escape work.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface MenuItem {
  label: string;
  /** Shown at the right edge, e.g. the key that does the same. */
  hint?: string;
  checked?: boolean;
  /** A chip before the label. */
  color?: string;
  disabled?: boolean;
  run?: () => void;
}

/** "-" draws a line. */
export type MenuEntry = MenuItem | "-";

interface OpenMenu {
  x: number;
  y: number;
  entries: MenuEntry[];
  body: (() => ComponentChildren) | null;
  returnFocus: Element | null;
}

const current = signal<OpenMenu | null>(null);

export function openMenu(x: number, y: number, entries: MenuEntry[]): void {
  current.value = { x, y, entries, body: null, returnFocus: document.activeElement };
}

/** Opens below a button. */
export function openMenuAt(anchor: Element, entries: MenuEntry[]): void {
  const box = anchor.getBoundingClientRect();
  openMenu(box.left, box.bottom + 2, entries);
}

/** A popover with any content, e.g. the filter of a table column. */
export function openPopover(anchor: Element, body: () => ComponentChildren): void {
  const box = anchor.getBoundingClientRect();
  current.value = { x: box.left, y: box.bottom + 2, entries: [], body, returnFocus: document.activeElement };
}

export function closeMenu(): void {
  const open = current.value;
  current.value = null;
  if (open?.returnFocus instanceof HTMLElement) open.returnFocus.focus({ preventScroll: true });
}

function moveFocus(box: HTMLElement, delta: number): void {
  const items = [...box.querySelectorAll<HTMLElement>("button:not(:disabled)")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  items[(at + delta + items.length) % items.length]?.focus();
}

function onKey(event: KeyboardEvent, box: HTMLElement | null, plain: boolean): void {
  if (event.key === "Escape") closeMenu();
  else if (plain && event.key === "ArrowDown" && box) moveFocus(box, 1);
  else if (plain && event.key === "ArrowUp" && box) moveFocus(box, -1);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function MenuButton({ item }: { item: MenuItem }) {
  const run = () => {
    closeMenu();
    item.run?.();
  };
  const role = item.checked === undefined ? "menuitem" : "menuitemcheckbox";
  return (
    <button role={role} aria-checked={item.checked} disabled={item.disabled} onClick={run}>
      <span class="menu-mark" aria-hidden="true">
        {item.checked ? "✓" : ""}
      </span>
      <span class="menu-label">
        {item.color && <i class="ds-chip" style={{ background: item.color }} />}
        {item.label}
      </span>
      {item.hint && <kbd>{item.hint}</kbd>}
    </button>
  );
}

function Frame({ open }: { open: OpenMenu }) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box) return;
    box.style.left = `${Math.max(4, Math.min(open.x, innerWidth - box.offsetWidth - 4))}px`;
    box.style.top = `${Math.max(4, Math.min(open.y, innerHeight - box.offsetHeight - 4))}px`;
    // The box itself if there is nothing to choose: Escape must reach it.
    (box.querySelector<HTMLElement>("input, select, button:not(:disabled)") ?? box).focus();
  }, []);
  return (
    <div
      class="menu-backdrop"
      onPointerDown={(e) => e.target === e.currentTarget && closeMenu()}
      onContextMenu={(e) => e.preventDefault()}
    >
      <div
        ref={ref}
        class="menu"
        tabIndex={-1}
        role={open.body ? "dialog" : "menu"}
        onKeyDown={(e) => onKey(e, ref.current, !open.body)}
      >
        {open.body?.()}
        {open.entries.map((entry, at) => (entry === "-" ? <hr key={at} /> : <MenuButton key={at} item={entry} />))}
      </div>
    </div>
  );
}

export function Menus() {
  return current.value && <Frame key={current.value} open={current.value} />;
}
