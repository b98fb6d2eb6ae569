// Folders and files below the roots that the server allows, and the dialog that opens one of them.
import { useState } from "preact/hooks";
import { listFolder } from "../api";
import { formatBytes } from "../format";
import { t } from "../i18n";
import { info, openBaseline, openDataset } from "../state/session";
import { useLoad } from "../widgets/async";
import { closeDialog, openDialog } from "../widgets/dialog";
import { ErrorState } from "../widgets/states";

/** The folder above, or "" where the roots end. */
export function folderAbove(path: string, roots: readonly string[]): string {
  const above = path.replace(/\/[^/]*\/?$/, "");
  return above !== "" && roots.some((root) => above === root.replace(/\/$/, "") || above.startsWith(root.replace(/\/?$/, "/"))) ? above : "";
}

/** `onPath` follows the folder one is in; `onFile` takes a file that was clicked. */
export function FileBrowser({ path, onPath, onFile }: { path: string; onPath(path: string): void; onFile(path: string): void }) {
  const roots = info.value?.roots ?? [];
  const folder = useLoad(() => (path === "" ? null : listFolder(path)), [path]);
  const above = folderAbove(path, roots);
  const inside = (name: string) => `${path.replace(/\/$/, "")}/${name}`;
  return (
    <div class="browser">
      <div class="row">
        <button type="button" disabled={above === ""} aria-label={t("open.above")} title={t("open.above")} onClick={() => onPath(above)}>
          ↑
        </button>
        <span class="mono grow">{path}</span>
        {roots.length > 1 && (
          <select aria-label={t("open.roots")} value="" onChange={(event) => onPath(event.currentTarget.value)}>
            <option value="">{t("open.roots")}</option>
            {roots.map((root) => (
              <option key={root} value={root}>
                {root}
              </option>
            ))}
          </select>
        )}
      </div>
      {folder.error ? <ErrorState error={folder.error} onRetry={folder.reload} /> : null}
      <ul class="files">
        {folder.data?.entries.map((entry) => (
          <li key={entry.name}>
            <button type="button" class="link" onClick={() => (entry.kind === "dir" ? onPath : onFile)(inside(entry.name))}>
              {entry.kind === "dir" ? `${entry.name}/` : entry.name}
            </button>
            <span class="muted">{entry.recognised || (entry.kind === "file" ? formatBytes(entry.size) : "")}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function OpenForm() {
  const [path, setPath] = useState(info.value?.roots[0] ?? "");
  const [folder, setFolder] = useState(path);
  const go = (next: string) => (setPath(next), setFolder(next));
  const done = (open: (path: string) => Promise<void>) => {
    closeDialog();
    if (path.trim() !== "") void open(path.trim());
  };
  return (
    <form class="column open-form" onSubmit={(event) => (event.preventDefault(), done(openDataset))}>
      <label class="field">
        <span>{t("open.path")}</span>
        <input type="text" value={path} autofocus onInput={(event) => setPath(event.currentTarget.value)} />
      </label>
      {folder !== "" && <FileBrowser path={folder} onPath={go} onFile={setPath} />}
      <div class="row end">
        <button type="button" onClick={closeDialog}>
          {t("cancel")}
        </button>
        <button type="button" onClick={() => done(openBaseline)}>
          {t("open.as_baseline")}
        </button>
        <button type="submit" class="primary">
          {t("open")}
        </button>
      </div>
    </form>
  );
}

export function askForDataset(): void {
  openDialog(t("open.title"), () => <OpenForm />);
}
