// What is shown while no dataset is open: the recent ones and a way to open a path.
import { useState } from "preact/hooks";
import { t } from "../i18n";
import { recentPaths } from "../state/recent";
import { noteState } from "../state/router";
import { info, openDataset } from "../state/session";
import { openDropped, openSample } from "../state/uploading";
import { FileBrowser } from "./file_browser";

/** Folders below the allowed roots; opens the one that is shown, or a file. */
function Browser() {
  const [path, setPath] = useState(info.value?.roots[0] ?? "");
  if (path === "") return null;
  return (
    <>
      <FileBrowser path={path} onPath={setPath} onFile={(file) => void openDataset(file)} />
      <button class="primary" onClick={() => void openDataset(path)}>
        {t("open.folder")}
      </button>
    </>
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
