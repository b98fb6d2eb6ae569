// One box for everything: text finds pages, lanes and slices; ">" commands, "@" lanes, "#" a time or step, ":" SQL.
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatDuration, parseDuration } from "../format";
import { t } from "../i18n";
import { pages } from "../pages/registry";
import { commands, keyLabel, keysOf } from "../state/commands";
import { openRange, openSearch, openSlice } from "../state/jump";
import { navigate } from "../state/router";
import { dataset, meta, scopeSteps } from "../state/session";
import { displayName, trackTree } from "../state/tracks";
import { Markers, markersKey } from "../timeline/markers";
import { words } from "../pages/findings";
import { rowsOf } from "../pages/parts";

interface Choice {
  label: string;
  hint: string;
  run(): void;
}

const opened = signal<string | null>(null);

export function openPalette(text: string): void {
  opened.value = text;
}

const kMost = 12;

function includes(text: string, wanted: string): boolean {
  return text.toLowerCase().includes(wanted.toLowerCase());
}

function commandChoices(text: string): Choice[] {
  return commands.value
    .filter((command) => includes(t(command.title), text))
    .map((command) => ({ label: t(command.title), hint: keysOf(command).map(keyLabel).join(" · "), run: command.run }));
}

function laneChoices(text: string): Choice[] {
  const tree = trackTree.value;
  return (tree?.all ?? [])
    .filter((track) => includes(track.path, text) || includes(displayName(track), text))
    .slice(0, kMost)
    .map((track) => ({
      label: tree?.label(track) ?? "",
      hint: track.path,
      run: () => navigate("timeline", { lane: track.path }),
    }));
}

function timeChoices(text: string): Choice[] {
  const step = /^\s*step\s*(\d+)?/i.exec(text);
  if (step) {
    return scopeSteps.value
      .filter((span) => step[1] === undefined || String(span.step).startsWith(step[1]))
      .slice(0, kMost)
      .map((span) => ({
        label: `${t("step")} ${span.step}`,
        hint: formatDuration(span.end - span.begin),
        run: () => openRange(span.begin, span.end),
      }));
  }
  const at = parseDuration(text);
  if (at === null) return [];
  const width = ((meta.value?.extent[1] ?? 0) - (meta.value?.extent[0] ?? 0)) / 100;
  return [
    {
      label: t("palette.go", { time: formatDuration(at) }),
      hint: "",
      run: () => openRange(at - width / 2, at + width / 2),
    },
  ];
}

function markerChoices(text: string): Choice[] {
  if (!meta.value) return [];
  return new Markers(markersKey(meta.value)).list.value
    .filter((marker) => includes(`${marker.name} ${marker.note ?? ""}`, text))
    .slice(0, kMost)
    .map((marker) => {
      const room = Math.max(1e5, (marker.t1 - marker.t0) * 0.2);
      return { label: marker.name, hint: `${t("tl.marker.title")} · ${formatDuration(marker.t0)}`, run: () => openRange(marker.t0 - room, marker.t1 + room) };
    });
}

function pageChoices(text: string): Choice[] {
  return pages
    .filter((page) => includes(t(page.title), text))
    .map((page) => ({ label: t(page.title), hint: t("palette.page"), run: () => navigate(page.id) }));
}

function choicesFor(text: string): Choice[] {
  const rest = text.slice(1).trim();
  switch (text[0]) {
    case ">":
      return commandChoices(rest);
    case "@":
      return laneChoices(rest);
    case "#":
      return timeChoices(rest);
    case ":":
      return [{ label: t("palette.sql"), hint: rest, run: () => navigate("sql", { sql: rest }) }];
  }
  const search =
    text.trim() === ""
      ? []
      : [{ label: t("palette.search", { text }), hint: "Enter", run: () => openSearch(text.trim()) }];
  return [...search, ...pageChoices(text), ...(text.trim() === "" ? [] : [...markerChoices(text.trim()), ...laneChoices(text.trim()).slice(0, 5)])];
}

/** Slices by name come from the server and arrive later. */
function useSlices(text: string): Choice[] {
  const [found, setFound] = useState<Choice[]>([]);
  useEffect(() => {
    setFound([]);
    const wanted = text.trim();
    if (wanted.length < 2 || /^[>@#:]/.test(wanted)) return;
    const control = new AbortController();
    const timer = setTimeout(() => {
      dataset.value?.search({ q: wanted, mode: "contains", limit: 5, cursor: null }, control.signal).then(
        (reply) =>
          setFound(
            reply.hits.slice(0, 5).map((hit) => ({
              label: hit.name,
              hint: `${formatDuration(hit.dur)} · ${hit.lane ?? ""}`,
              run: () => openSlice(hit.track, hit.i),
            })),
          ),
        () => undefined, // A query half typed may be wrong; the box goes on without slices.
      );
    }, 150);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [text]);
  return found;
}

/** What could be made faster, and kernels by name; asked for once and when a name is typed. */
function useOthers(text: string): Choice[] {
  const [findings, setFindings] = useState<Choice[]>([]);
  const [kernels, setKernels] = useState<Choice[]>([]);
  const wanted = text.trim();
  const isPlain = wanted.length >= 2 && !/^[>@#:]/.test(wanted);
  useEffect(() => {
    const open = dataset.value;
    if (!open || !isPlain || findings.length > 0) return;
    open.metric("findings", {}).then(
      (reply) => setFindings(rowsOf(reply, "findings").map((row) => ({ label: `${t(`rule.${String(row["kind"])}`)}: ${words(row, "subject")}`, hint: t("page.findings"), run: () => navigate("findings") }))),
      () => undefined, // A box without findings still finds the rest.
    );
  }, [isPlain]);
  useEffect(() => {
    setKernels([]);
    if (!isPlain) return;
    const control = new AbortController();
    const filter = [{ col: "name", op: "contains" as const, value: wanted }];
    const timer = setTimeout(() => {
      dataset.value?.table({ source: "kernels", args: {}, filter, group: ["name"], measures: [{ fn: "sum", col: "dur_ns" }], sort: [{ col: "sum(dur_ns)", desc: true }], offset: 0, limit: 4 }, control.signal).then(
        (reply) => setKernels(reply.rows.map(([name, count, sum]) => ({ label: String(name), hint: `${t("page.operators")} · ${formatDuration(Number(sum))} × ${String(count)}`, run: () => openSearch(String(name)) }))),
        () => undefined,
      );
    }, 150);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [text]);
  return isPlain ? [...kernels, ...findings.filter((choice) => includes(choice.label, wanted)).slice(0, 3)] : [];
}

function Box({ start }: { start: string }) {
  const [text, setText] = useState(start);
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const slices = useSlices(text);
  const others = useOthers(text);
  const choices = [...choicesFor(text).slice(0, text.startsWith(">") ? 100 : kMost), ...others, ...slices];
  // Before the next key comes, which is meant for it.
  useLayoutEffect(() => input.current?.focus(), []);
  const close = () => (opened.value = null);
  const run = (choice: Choice | undefined) => {
    close();
    choice?.run();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(at + 1, choices.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (event.key === "Enter") run(choices[at]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="palette-backdrop menu-backdrop" onPointerDown={(e) => e.target === e.currentTarget && close()}>
      <div class="palette" role="dialog" aria-label={t("palette.title")}>
        <input
          ref={input}
          value={text}
          placeholder={t("palette.hint")}
          aria-label={t("palette.hint")}
          onInput={(e) => {
            setText(e.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKey}
        />
        <ul role="listbox">
          {choices.map((choice, index) => (
            <li
              key={index}
              role="option"
              aria-selected={index === at}
              class={index === at ? "on" : ""}
              onPointerMove={() => setAt(index)}
              onClick={() => run(choice)}
            >
              <span>{choice.label}</span>
              <span class="muted">{choice.hint}</span>
            </li>
          ))}
        </ul>
        <p class="muted">{t("palette.help")}</p>
      </div>
    </div>
  );
}

export function Palette() {
  return opened.value !== null && <Box start={opened.value} />;
}
