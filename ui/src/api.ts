// The typed client of the HTTP API. URLs are relative, so the app works behind a proxy's base path;
// the session cookie set by the start link is sent by the browser. Every failure is an ApiError.
import { signal } from "@preact/signals";
import type * as T from "./api_types";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** True when the request was given up by us; nobody wants to hear about that. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Ready for a query string or undefined to leave out. */
type Params = Record<string, string | number | undefined>;

const BASE = "./api/v1";

async function failure(response: Response): Promise<ApiError> {
  try {
    const body = (await response.json()) as { error?: T.ApiErrorBody };
    if (body.error) return new ApiError(response.status, body.error.code, body.error.message, body.error.hint ?? "");
  } catch {
    // The answer is not ours (a proxy's page, a cut connection): the status line says what there is to say.
  }
  return new ApiError(response.status, "http", `${response.status} ${response.statusText}`, "");
}

const kSlowMs = 1000;

/** Rows of a window of a table at most. */
const kMostRows = 10_000;

/** Ways to give up the requests that somebody has been waiting for longer than a moment. */
export const slowRequests = signal<ReadonlySet<AbortController>>(new Set());

/** Gives them all up; whoever waits for one gets an error that says so. */
export function cancelSlow(): void {
  for (const control of slowRequests.value) control.abort();
}

function noteSlow(control: AbortController, isSlow: boolean): void {
  if (slowRequests.value.has(control) === isSlow) return;
  const next = new Set(slowRequests.value);
  if (isSlow) next.add(control);
  else next.delete(control);
  slowRequests.value = next;
}

/** Tiles are asked for again by themselves: nobody waits for one of them. */
const isWaitedFor = (path: string): boolean => path !== "/tiles" && path !== "/info";

async function send(path: string, init: RequestInit): Promise<Response> {
  const control = new AbortController();
  const outer = init.signal;
  const either = outer ? AbortSignal.any([outer, control.signal]) : control.signal;
  const timer = isWaitedFor(path) ? setTimeout(() => noteSlow(control, true), kSlowMs) : 0;
  let response: Response;
  try {
    response = await fetch(BASE + path, { credentials: "same-origin", ...init, signal: either });
  } catch (error) {
    if (isAbort(error) && !outer?.aborted) throw new ApiError(0, "cancelled", "cancelled", "");
    if (isAbort(error)) throw error;
    throw new ApiError(0, "unreachable", "the server does not answer", "");
  } finally {
    clearTimeout(timer);
    noteSlow(control, false);
  }
  if (!response.ok) throw await failure(response);
  return response;
}

async function get<R>(path: string, params: Params = {}, signal?: AbortSignal): Promise<R> {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) if (value !== undefined) query.set(key, String(value));
  const text = query.toString();
  const response = await send(text ? `${path}?${text}` : path, { signal: signal ?? null });
  return (await response.json()) as R;
}

function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  return send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Steplens": "1" },
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
}

async function query<R>(path: string, body: unknown, signal?: AbortSignal): Promise<R> {
  return (await (await post(path, body, signal)).json()) as R;
}

export const getInfo = () => get<T.Info>("/info");
export const listFolder = (path: string) => get<{ path: string; entries: T.FsEntry[] }>("/fs", { path });
export const openPath = (path: string) => query<{ ds: string }>("/open", { path });
/** A piece of a file for the server's machine, base64; `at` is where it begins. Returns where the file is there. */
export const uploadPiece = (name: string, at: number, data: string) => query<{ path: string }>("/upload", { name, at, data });

/** All requests about one dataset. `align` is the id of the rank offsets that times refer to; 0 = as recorded. */
export class Dataset {
  align = 0;

  constructor(readonly ds: string) {}

  private path(rest: string): string {
    return `/ds/${encodeURIComponent(this.ds)}${rest}`;
  }

  /** Times are whole ns; a place on the screen need not be. */
  private timed(body: object): object {
    const whole = Object.entries(body).map(([key, value]) => [key, /^t[01]?$/.test(key) && typeof value === "number" ? Math.round(value) : value]);
    return { align: this.align, ...Object.fromEntries(whole) };
  }

  meta = () => get<T.DatasetMeta>(this.path(""), { align: this.align || undefined });
  tracks = () => get<T.TracksReply>(this.path("/tracks"));

  /** `shade` is what runs are to be coloured by; "" = nothing beside their name. */
  async tiles(keys: [number, number, number][], shade: string, rules: readonly string[], signal?: AbortSignal): Promise<ArrayBuffer> {
    const colored = { ...(shade === "" ? {} : { shade }), ...(shade === "rules" ? { rules } : {}) };
    return (await post("/tiles", this.timed({ ds: this.ds, keys, ...colored }), signal)).arrayBuffer();
  }

  modules = (rank: number) => get<{ modules: string[] }>(this.path("/modules"), { rank });

  strings = (ids: number[]) => query<{ strings: Record<string, string> }>(this.path("/strings"), { ids });
  topStrings = (top: number) => get<{ strings: Record<string, string> }>(this.path("/strings"), { top });

  slice = (track: number, i: number, signal?: AbortSignal) =>
    get<T.SliceDetail>(this.path("/slice"), { track, i, align: this.align || undefined }, signal);

  at = (track: number, row: number, t: number, w: number) =>
    get<{ slices: T.SliceRef[]; count: number }>(this.path("/at"), {
      track,
      row,
      t: Math.round(t),
      w: Math.max(1, Math.round(w)),
      align: this.align || undefined,
    });

  range = (body: T.RangeQuery, signal?: AbortSignal) =>
    query<T.RangeReply>(this.path("/range"), this.timed(body), signal);

  hist = (body: { name: number | string; tracks?: number[]; bins: number; log: boolean; by?: "rank" }, signal?: AbortSignal) =>
    query<T.HistReply>(this.path("/hist"), body, signal);

  search = (body: T.SearchQuery, signal?: AbortSignal) =>
    query<T.SearchReply>(this.path("/search"), this.timed(body), signal);

  /** The same collective, or the k-th slice of that name, on every rank. */
  peers = (track: number, i: number, signal?: AbortSignal) =>
    get<T.PeersReply>(this.path("/peers"), { track, i, align: this.align || undefined }, signal);

  next = (body: { track: number; i: number; dir: 1 | -1; same: "name" | "track" | "row" }) =>
    query<T.SliceRef>(this.path("/next"), this.timed(body));

  flows = (body: { cats: string[]; tracks: number[]; t0: number; t1: number; max: number }, signal?: AbortSignal) =>
    query<T.FlowsReply>(this.path("/flows"), this.timed(body), signal);

  table = (body: T.TableQuery, signal?: AbortSignal) =>
    query<T.TableReply>(this.path("/table"), this.timed(body), signal);

  /** All rows of a table, in windows of the largest size that the server gives. */
  async wholeTable(source: string, signal?: AbortSignal): Promise<T.TableReply> {
    const window = (offset: number) => this.table({ source, args: {}, filter: [], sort: [], offset, limit: kMostRows }, signal);
    const whole = await window(0);
    while (whole.rows.length < whole.total) {
      const { rows } = await window(whole.rows.length);
      if (rows.length === 0) break;
      whole.rows.push(...rows);
    }
    return whole;
  }

  /**
   * Address of a whole filtered table as a file; the browser downloads it while the server writes it. Texts that a
   * spreadsheet would run as a formula are guarded.
   */
  exportUrl(body: T.TableQuery, format: "csv" | "tsv" | "json"): string {
    const text = JSON.stringify(this.timed({ ...body, format, guard: true }));
    return `${BASE}${this.path("/export")}?body=${encodeURIComponent(text)}`;
  }

  sql = (body: { query: string; limit: number; timeout_ms: number }, signal?: AbortSignal) =>
    query<T.SqlReply>(this.path("/sql"), body, signal);

  schema = () => get<T.SchemaReply>(this.path("/schema"));

  metric = (name: string, args: Record<string, unknown> = {}, signal?: AbortSignal) =>
    query<T.MetricReply>(this.path("/metric"), { name, args }, signal);

  /** Two sides of this or other datasets next to each other. */
  compare = (body: T.CompareQuery, signal?: AbortSignal) =>
    query<T.MetricReply>(this.path("/compare"), this.timed(body), signal);

  /** One lane with the slices of several lanes of a rank; its track holds for this run of the server. */
  merge = (tracks: number[]) => query<T.MergeReply>(this.path("/merge"), { tracks });

  /** The rows of a query as lanes. */
  sqlLanes = (body: { query: string; name: string }) => query<T.SqlLanesReply>(this.path("/sql_lanes"), body);

  lanes = (body: { tracks: number[]; t0: number; t1: number }, signal?: AbortSignal) =>
    query<T.LanesReply>(this.path("/lanes"), this.timed(body), signal);

  setAlign = (body: T.AlignQuery) => query<T.AlignReply>(this.path("/align"), this.timed(body));

  explainNumber = (body: T.NumberQuery) =>
    query<T.NumberReply>(this.path("/explain"), this.timed({ kind: "number", ...body }));

  explain = (body: T.ExplainQuery) => query<T.ExplainReply>(this.path("/explain"), this.timed(body));

  async snapshot(body: { t0: number; t1: number; tracks: number[] }): Promise<Blob> {
    return (await post(this.path("/snapshot"), this.timed(body))).blob();
  }

  /** Address of a range as a Chrome trace; the browser downloads it while the server writes it. */
  traceUrl(body: { t0: number; t1: number; tracks: number[] }): string {
    return `${BASE}${this.path("/trace")}?body=${encodeURIComponent(JSON.stringify(this.timed(body)))}`;
  }

  /** Ranks that nobody reads yet are left out. */
  stopReading = () => post(this.path("/stop"), {});
  /** The same captures with other rank numbers, by path: another dataset. */
  renumber = (ranks: Record<string, number>) => query<{ ds: string }>(this.path("/ranks"), { ranks });
  focus = (body: { ranks: number[] }) => post(this.path("/focus"), body);
  saveView = (state: unknown) => query<{ id: string }>(this.path("/view"), state);
  loadView = (id: string) => get<unknown>(this.path(`/view/${encodeURIComponent(id)}`));
}

export interface EventHandlers {
  onProgress(progress: T.Progress): void;
  onChanged(changed: T.Changed): void;
  /** The stream is up (true) or was lost and is being retried by the browser (false). */
  onConnection(up: boolean): void;
}

/** Follows the server's events until the returned function is called. */
export function followEvents(handlers: EventHandlers): () => void {
  const source = new EventSource(`${BASE}/events`);
  const read = <D>(event: Event): D => JSON.parse((event as MessageEvent<string>).data) as D;
  source.addEventListener("open", () => handlers.onConnection(true));
  source.addEventListener("error", () => handlers.onConnection(false));
  source.addEventListener("progress", (event) => handlers.onProgress(read<T.Progress>(event)));
  source.addEventListener("changed", (event) => handlers.onChanged(read<T.Changed>(event)));
  return () => source.close();
}
