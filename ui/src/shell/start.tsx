// What is shown while no dataset is open: the recent ones and a way to open a path.
import { useState } from "preact/hooks";
import { listFolder } from "../api";
import { formatBytes } from "../format";
import { t } from "../i18n";
import { recentPaths } from "../state/recent";
import { noteState } from "../state/router";
import { info, openDataset } from "../state/session";
import { openDropped, openSample } from "../state/uploading";
import { useLoad } from "../widgets/async";
import { ErrorState } from "../widgets/states";

function Browser() {
  const [path, setPath] = useState(info.value?.roots[0] ?? "");
  const folder = useLoad(() => (path === "" ? null : listFolder(path)), [path]);
  if (path === "") return null;
  const parent = path.replace(/\/[^/]*\/?$/, "");
  return (
    <div class="browser">
      <div class="row">
        <button
          disabled={parent === "" || !info.value?.roots.some((root) => parent.startsWith(root))}
          onClick={() => setPath(parent)}
        >
          ↑
        </button>
        <span class="mono grow">{path}</span>
        <button class="primary" onClick={() => void openDataset(path)}>
          {t("open")}
        </button>
      </div>
      {folder.error ? <ErrorState error={folder.error} onRetry={folder.reload} /> : null}
      <ul class="files">
        {folder.data?.entries.map((entry) => (
          <li key={entry.name}>
            <button
              class="link"
              onClick={() =>
                entry.kind === "dir"
                  ? setPath(`${path.replace(/\/$/, "")}/${entry.name}`)
                  : void openDataset(`${path}/${entry.name}`)
              }
            >
              {entry.kind === "dir" ? `${entry.name}/` : entry.name}
            </button>
            <span class="muted">{entry.recognised || (entry.kind === "file" ? formatBytes(entry.size) : "")}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What was looked at before and is not open now; the server may not let it be opened again. */
function Recent() {
  const open = new Set(info.value?.datasets.map((each) => each.path));
  const paths = recentPaths().filter((path) => !open.has(path));
  if (paths.length === 0) return null;
  return (
    <>
      <h2>{t("start.before")}</h2>
      <ul class="files">
        {paths.map((path) => (
          <li key={path}>
            <button class="link mono" onClick={() => void openDataset(path)}>
              {path}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

export function StartPage() {
  const [path, setPath] = useState("");
  const [isOver, setOver] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    if (path.trim()) void openDataset(path.trim());
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer) void openDropped(event.dataTransfer);
  };
  const over = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <main class={`start ${isOver ? "drop" : ""}`} onDragOver={over} onDragLeave={() => setOver(false)} onDrop={drop}>
      <h1>{t("start.title")}</h1>
      <p class="muted">{t("start.text")}</p>
      <form class="row" onSubmit={submit}>
        <input
          class="grow"
          value={path}
          placeholder={t("open.path")}
          aria-label={t("open.path")}
          onInput={(e) => setPath(e.currentTarget.value)}
        />
        <button class="primary">{t("open")}</button>
        <button type="button" onClick={() => void openSample()}>
          {t("start.sample")}
        </button>
      </form>
      <p class="muted">{t("start.drop")}</p>
      {(info.value?.datasets.length ?? 0) > 0 && <h2>{t("start.recent")}</h2>}
      <ul class="files">
        {info.value?.datasets.map((each) => (
          <li key={each.ds}>
            <button class="link" onClick={() => noteState({ ds: each.ds })}>
              {each.name}
            </button>
            <span class="muted">{each.path}</span>
          </li>
        ))}
      </ul>
      <Recent />
      <Browser />
      <p class="muted">{t("start.collect")}</p>
      <code class="block">steplens record -- python train.py</code>
    </main>
  );
}
