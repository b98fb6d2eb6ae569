// Modal dialogs: one at a time, closed by Escape or a click outside. Focus goes in and comes back.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../i18n";

interface Open {
  title: string;
  body: () => ComponentChildren;
}

const current = signal<Open | null>(null);

export function openDialog(title: string, body: () => ComponentChildren): void {
  current.value = { title, body };
}

export function closeDialog(): void {
  current.value = null;
}

export function isDialogOpen(): boolean {
  return current.value !== null;
}

function Frame({ open }: { open: Open }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  // The browser tells late that a dialog was closed: another one may be open by then.
  const closed = () => {
    if (current.value === open) closeDialog();
  };
  const outside = (event: MouseEvent) => {
    if (event.target === ref.current) closeDialog();
  };
  return (
    <dialog ref={ref} class="dialog" aria-label={open.title} onClose={closed} onMouseDown={outside}>
      <header>
        <h2>{open.title}</h2>
        <button class="icon" aria-label={t("close")} onClick={closeDialog}>
          ×
        </button>
      </header>
      <div class="dialog-body">{open.body()}</div>
    </dialog>
  );
}

export function Dialogs() {
  return current.value && <Frame key={current.value} open={current.value} />;
}

interface AskProps {
  label: string;
  value: string;
  onDone(value: string): void;
}

function Ask({ label, value, onDone }: AskProps) {
  const input = useRef<HTMLInputElement>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    closeDialog();
    onDone(input.current?.value ?? "");
  };
  return (
    <form class="column" onSubmit={submit}>
      <label class="field">
        <span>{label}</span>
        <input ref={input} type="text" defaultValue={value} autofocus />
      </label>
      <div class="row end">
        <button type="button" onClick={closeDialog}>
          {t("cancel")}
        </button>
        <button type="submit" class="primary">
          {t("ok")}
        </button>
      </div>
    </form>
  );
}

/** Asks for one line of text; nothing happens if the user cancels. */
export function askText(title: string, label: string, value: string, onDone: (value: string) => void): void {
  openDialog(title, () => <Ask label={label} value={value} onDone={onDone} />);
}
