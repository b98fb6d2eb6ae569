// What is open: the dataset, what the server says about it, the scope all pages share, and the connection.
import { computed, effect, signal } from "@preact/signals";
import { ApiError, Dataset, followEvents, getInfo, openPath } from "../api";
import type { DatasetMeta, Info, Progress, RankMeta, StepSpan } from "../api_types";
import { seriesColor } from "../charts/palette";
import { t } from "../i18n";
import { askText } from "../widgets/dialog";
import { toast } from "../widgets/toast";
import { setDevice } from "./device_words";
import { setOrigin } from "./origin";
import { noteRecent } from "./recent";
import { noteState, route } from "./router";
import { formatSide, parseSide, type Side } from "./sides";

export const info = signal<Info | null>(null);
export const startError = signal<ApiError | null>(null);
export const meta = signal<DatasetMeta | null>(null);
export const progress = signal<Progress | null>(null);
export const connected = signal(true);
/** Grows whenever the server says that more of the dataset became visible. */
export const revision = signal(0);

const dsId = computed(() => route.value.params.get("ds") ?? info.value?.datasets[0]?.ds ?? "");

/** The client of the open dataset; null until one is chosen. */
export const dataset = computed(() => (dsId.value === "" ? null : new Dataset(dsId.value)));

export interface Scope {
  /** Ranks in scope; null = all. */
  ranks: number[] | null;
  /** Step in scope; null = all. */
  step: number | null;
  /** Time range in ns; null = all. */
  range: [number, number] | null;
  /** What pages compare with; null = nothing. */
  baseline: Side | null;
}

/** "0,3-7" -> [0,3,4,5,6,7]; null if there is nothing usable. */
export function parseRanks(text: string): number[] | null {
  const ranks = new Set<number>();
  for (const part of text.split(",")) {
    const match = /^\s*(\d+)(?:\s*-\s*(\d+))?\s*$/.exec(part);
    if (!match) continue;
    const first = Number(match[1]);
    const last = Math.min(Number(match[2] ?? first), first + 65535);
    for (let rank = first; rank <= last; rank++) ranks.add(rank);
  }
  return ranks.size > 0 ? [...ranks].sort((a, b) => a - b) : null;
}

export function formatRanks(ranks: number[]): string {
  const parts: string[] = [];
  for (let at = 0; at < ranks.length;) {
    let end = at;
    while (ranks[end + 1] === (ranks[end] ?? 0) + 1) end++;
    parts.push(end > at ? `${ranks[at]}-${ranks[end]}` : `${ranks[at]}`);
    at = end + 1;
  }
  return parts.join(",");
}

export const scope = computed<Scope>(() => {
  const params = route.value.params;
  const step = params.get("step");
  const range = params.get("range")?.split(",").map(Number) ?? [];
  const [t0, t1] = range;
  return {
    ranks: parseRanks(params.get("ranks") ?? ""),
    step: step !== undefined && /^\d+$/.test(step) ? Number(step) : null,
    range: t0 !== undefined && t1 !== undefined && t1 > t0 ? [t0, t1] : null,
    baseline: parseSide(params.get("base")),
  };
});

export function setScope(patch: Partial<Scope>): void {
  const params: Record<string, string | null> = {};
  if (patch.ranks !== undefined) params["ranks"] = patch.ranks ? formatRanks(patch.ranks) : null;
  if (patch.step !== undefined) params["step"] = patch.step === null ? null : String(patch.step);
  if (patch.range !== undefined) params["range"] = patch.range ? patch.range.map(Math.round).join(",") : null;
  if (patch.baseline !== undefined) params["base"] = patch.baseline && formatSide(patch.baseline);
  noteState(params);
}

/** The rank a page about one rank shows: the first in scope, else the first there is. */
export const scopeRank = computed(() => scope.value.ranks?.[0] ?? meta.value?.ranks[0]?.rank ?? 0);

/** What is in scope as a side of a comparison. */
export const scopeSide = computed<Side>(() => ({ ds: dsId.value, rank: scopeRank.value, step: scope.value.step }));

/** The colour that a dataset has wherever several are told apart. */
export const datasetColor = (ds: string): string => seriesColor(Math.max(0, info.value?.datasets.findIndex((each) => each.ds === ds) ?? 0));

/** "run_B, rank 0, step 3" */
export function sideName({ ds, rank, step }: Side): string {
  const run = ds === dsId.value ? "" : (info.value?.datasets.find((each) => each.ds === ds)?.name ?? ds);
  return [run, `${t("rank")} ${rank}`, step === null ? "" : `${t("step")} ${step}`].filter((part) => part !== "").join(", ");
}

/** How many findings were last seen, and of which dataset. */
export const findingCount = signal<{ ds: string; count: number } | null>(null);

/** The steps of the rank in scope, in time order. */
export const scopeSteps = computed<StepSpan[]>(() => {
  const ranks = meta.value?.ranks ?? [];
  return (ranks.find((rank) => rank.rank === scopeRank.value) ?? ranks[0])?.steps ?? [];
});

/** The ranks that an address is about: those in scope, and those of the lanes it names ("r5/hw/stream2"). */
export function ranksLookedAt(params: ReadonlyMap<string, string>): number[] {
  const ranks = new Set(parseRanks(params.get("ranks") ?? "") ?? []);
  for (const key of ["sel", "pins", "area", "solo", "open"]) {
    for (const lane of (params.get(key) ?? "").matchAll(/(?:^|\|)r(\d+)(?=[/|]|$)/g)) ranks.add(Number(lane[1]));
  }
  return [...ranks].sort((a, b) => a - b);
}

const rankWishes = computed(() => (meta.value?.pending?.length ? ranksLookedAt(route.value.params).join() : ""));

/** While ranks are being read, those that are looked at come first. */
function followWishes(): void {
  effect(() => {
    const wishes = rankWishes.value;
    if (wishes !== "") void dataset.peek()?.focus({ ranks: wishes.split(",").map(Number) });
  });
}

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, "internal", String(error), "");
}

const told = new Set<string>();

/** Says once that files were left out; the Data page says which and why. */
function tellUnread({ ds, ignored }: DatasetMeta): void {
  if (ignored.length === 0 || told.has(ds)) return;
  told.add(ds);
  toast("info", t("data.toast", { n: ignored.length }), t("data.toast_text"));
}

/** Asks again what the server knows of the open dataset. */
export async function refreshMeta(): Promise<void> {
  const open = dataset.value;
  if (!open) return;
  try {
    const reply = await open.meta();
    if (dataset.value !== open) return;
    setOrigin(reply.origin_ns);
    setDevice(reply);
    meta.value = reply;
    noteRecent(reply.path);
    if (reply.ready) progress.value = null;
    if (reply.ready && reply.ranks.length > 0) tellUnread(reply);
    revision.value++;
  } catch (error) {
    const problem = asApiError(error);
    // The alignment of a link may be that of another run of the server.
    if (problem.status === 400 && open.align !== 0) {
      open.align = 0;
      noteState({ align: null });
      return refreshMeta();
    }
    startError.value = problem;
  }
}

export async function refreshInfo(): Promise<void> {
  try {
    info.value = await getInfo();
    startError.value = null;
  } catch (error) {
    startError.value = asApiError(error);
  }
}

/** Opens a path on the server's machine and shows it. */
export async function openDataset(path: string): Promise<void> {
  try {
    const { ds } = await openPath(path);
    await refreshInfo();
    noteState({ ds, ranks: null, step: null, range: null, align: null });
  } catch (error) {
    const problem = asApiError(error);
    toast("error", problem.message, problem.hint);
  }
}

/** Opens a path beside what is shown, and compares with it: the same rank, all of its steps. */
export async function openBaseline(path: string): Promise<void> {
  try {
    const { ds } = await openPath(path);
    await refreshInfo();
    setScope({ baseline: { ds, rank: scopeRank.value, step: null } });
  } catch (error) {
    const problem = asApiError(error);
    toast("error", problem.message, problem.hint);
  }
}

/** Asks which rank a capture is, and shows the dataset again with that number. */
export function askRankNumber(ds: Dataset, rank: RankMeta): void {
  askText(t("rank.renumber"), t("rank.renumber_text", { path: rank.path }), String(rank.rank), (text) => {
    if (!/^\s*\d+\s*$/.test(text) || Number(text) === rank.rank) return;
    ds.renumber({ [rank.path]: Number(text) }).then(
      async (reply) => {
        await refreshInfo();
        noteState({ ds: reply.ds, ranks: null, align: null });
      },
      (error: unknown) => toast("error", asApiError(error).message, asApiError(error).hint),
    );
  });
}

let refreshTimer = 0;

/** Several ranks that become ready at once cost one request. */
function refreshSoon(): void {
  if (refreshTimer) return;
  refreshTimer = setTimeout(() => {
    refreshTimer = 0;
    void refreshMeta();
  }, 120) as unknown as number;
}

function noteConnection(up: boolean): void {
  if (up && !connected.peek()) refreshSoon();
  connected.value = up;
}

const kLookMs = 5000;

/** Asks now and then whether the server is still there, and what else is open. Returns the end of it. */
function lookAfterServer(): () => void {
  const look = async () => {
    if (document.hidden) return;
    try {
      const now = await getInfo();
      if (JSON.stringify(now) !== JSON.stringify(info.peek())) info.value = now;
      noteConnection(true);
    } catch {
      noteConnection(false);
    }
  };
  const timer = setInterval(() => void look(), kLookMs);
  return () => clearInterval(timer);
}

const isRead = computed(() => meta.value?.ready ?? false);

/**
 * A stream of events while ranks are being read. A browser opens six connections to a server for all of its tabs: a stream that every tab held
 * for ever would leave the seventh tab without any.
 */
function followServer(): void {
  effect(() => {
    if (isRead.value) return lookAfterServer();
    return followEvents({
      onProgress: (value) => {
        if (value.ds === dsId.peek()) progress.value = value;
      },
      onChanged: (value) => {
        if (value.ds === dsId.peek()) refreshSoon();
      },
      onConnection: noteConnection,
    });
  });
}

export async function startSession(): Promise<void> {
  await refreshInfo();
  effect(() => {
    if (!dataset.value) return;
    meta.value = null;
    startError.value = null;
    void refreshMeta();
  });
  followWishes();
  followServer();
}
