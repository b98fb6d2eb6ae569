// What a page shows when there is nothing to show: loading, failed, or data that was not collected.
import type { ComponentChildren } from "preact";
import { ApiError } from "../api";
import type { MissingPart } from "../api_types";
import { hasMessage, t } from "../i18n";
import { toast } from "./toast";

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast("ok", t("copied"));
  } catch {
    toast("error", t("copy_failed"));
  }
}

export function Loading({ text }: { text?: string }) {
  return (
    <div class="state" role="status">
      <div class="spinner" />
      <p>{text ?? t("loading")}</p>
    </div>
  );
}

export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const problem = error instanceof ApiError ? error : new ApiError(0, "internal", String(error), "");
  if (problem.code === "cancelled")
    return (
      <EmptyState title={t("error.cancelled")}>{onRetry && <button onClick={onRetry}>{t("retry")}</button>}</EmptyState>
    );
  const details = `${problem.code} (${problem.status}): ${problem.message} ${problem.hint}`.trim();
  return (
    <div class="state" role="alert">
      <h2>{t(problem.status === 0 ? "error.unreachable" : "error.title")}</h2>
      <p class="lines">{problem.message}</p>
      {problem.hint && <p class="muted">{problem.hint}</p>}
      <div class="row">
        {onRetry && <button onClick={onRetry}>{t("retry")}</button>}
        <button onClick={() => void copyText(details)}>{t("copy_details")}</button>
      </div>
    </div>
  );
}

/** The server's words for something that was not collected, in the user's language where we have them. */
export function missingWords(text: string): string {
  const key = `missing.${text}`;
  return hasMessage(key) ? t(key) : text;
}

interface MissingProps {
  missing: MissingPart[];
  /** Why nothing could be read; then nothing is missing but the data as a whole. */
  error: string;
  onDetails(): void;
}

/** A view whose data was not collected: what is missing and which switch brings it. */
export function MissingData({ missing, error, onDetails }: MissingProps) {
  const details = <button onClick={onDetails}>{t("missing.details")}</button>;
  if (error !== "")
    return (
      <EmptyState title={t("missing.unreadable")}>
        <p class="lines">{error}</p>
        {details}
      </EmptyState>
    );
  return (
    <EmptyState title={t("missing.title")}>
      <p>{t("missing.text")}</p>
      <table class="plain">
        <thead>
          <tr>
            <th>{t("missing.what")}</th>
            <th>{t("missing.flag")}</th>
          </tr>
        </thead>
        <tbody>
          {missing.map((part) => (
            <tr key={part.what}>
              <td>{missingWords(part.what)}</td>
              <td>
                {part.flag && (
                  <button class="link mono" title={t("copy")} onClick={() => void copyText(part.flag)}>
                    {missingWords(part.flag)}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {details}
    </EmptyState>
  );
}
