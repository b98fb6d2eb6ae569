// Short messages in the corner. Errors stay until closed, the rest goes after a few seconds.
import { signal } from "@preact/signals";
import { t } from "../i18n";

export type ToastKind = "info" | "ok" | "error";

interface Toast {
  id: number;
  kind: ToastKind;
  text: string;
  hint: string;
}

const toasts = signal<Toast[]>([]);
let lastId = 0;

function close(id: number): void {
  toasts.value = toasts.value.filter((item) => item.id !== id);
}

export function toast(kind: ToastKind, text: string, hint = ""): void {
  const id = ++lastId;
  toasts.value = [...toasts.value.slice(-4), { id, kind, text, hint }];
  if (kind !== "error") setTimeout(() => close(id), 4000);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((item) => (
        <div key={item.id} class={`toast toast-${item.kind}`}>
          <div>
            <div>{item.text}</div>
            {item.hint && <div class="muted">{item.hint}</div>}
          </div>
          <button class="icon" aria-label={t("close")} onClick={() => close(item.id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
