// What the HTTP API sends. Times are integer ns relative to the dataset's origin unless a name says otherwise.

export interface ApiErrorBody {
  code: string;
  message: string;
  hint?: string;
}

export interface DatasetRef {
  ds: string;
  name: string;
  path: string;
  ready: boolean;
}

export interface Info {
  version: string;
  datasets: DatasetRef[];
  roots: string[];
  limits: { tiles: number; rows: number };
}

export interface FsEntry {
  name: string;
  kind: "dir" | "file";
  size: number;
  recognised: string;
}

export interface StepSpan {
  /** From the first device work that the step launched to the end of the last; absent without a timeline. */
  device?: [number, number];
  step: number;
  begin: number;
  end: number;
}

export interface FileUse {
  path: string;
  size: number;
  used: boolean;
  note: string;
  /** How long reading it took; absent where the rank came from the cache. */
  read_ms?: number;
}

export interface ImportIssue {
  name: string;
  severity: string;
  count: number;
  example: string;
  text: string;
}

export interface RankMeta {
  /** Recorded where the host is the device. */
  is_cpu?: boolean;
  rank: number;
  alias: string;
  source: string;
  format: string;
  level: string;
  host: string;
  device: number | string;
  path: string;
  ready: boolean;
  offset_ns: number;
  steps: StepSpan[];
  counts: Record<string, number>;
  files: FileUse[];
  issues: ImportIssue[];
  /** How long reading it took. */
  read_ms?: number;
  cached?: boolean;
  /** The capture does not say which rank it is. */
  guessed?: boolean;
}

export interface MissingPart {
  what: string;
  flag: string;
}

export interface ViewState {
  available: boolean;
  missing: MissingPart[];
}

export type ViewName = "timeline" | "operator" | "memory" | "communication" | "cluster" | "pipeline" | "rl" | "overview";

export interface DatasetMeta {
  ds: string;
  name: string;
  path: string;
  /** Epoch ns of time 0, as a decimal string: it does not fit a double. */
  origin_ns: string;
  /** Grows when a rank that began earlier moves the origin: times known before are void. */
  generation: number;
  /** All that lanes show, from 0. */
  extent: [number, number];
  /** The slices alone: counters may begin earlier and end later. */
  work?: [number, number];
  ready: boolean;
  /** Ranks that are not read yet, as far as their numbers are known. */
  pending?: number[];
  ranks: RankMeta[];
  ignored: { path: string; note: string }[];
  /** Why nothing at all could be read; "" if something could. */
  error?: string;
  views: Partial<Record<ViewName, ViewState>>;
}

export type TrackKind = "rank" | "group" | "slices" | "counter" | "summary";

export interface TracksReply {
  cols: string[];
  rows: (string | number)[][];
}

export interface SliceRef {
  track: number;
  i: number;
  name: string;
  begin: number;
  dur: number;
  lane?: string;
  row?: number;
}

export interface FlowEnd extends SliceRef {
  kind: string;
}

export type Scalar = string | number | boolean | null;

export interface SliceDetail extends SliceRef {
  category: string;
  self: number;
  row: number;
  rank: number;
  lane: string;
  path: string;
  wall: string;
  step: number | null;
  same_name: {
    count: number;
    p50: number;
    p90: number;
    p99: number;
    rank_of_duration: number;
    /** null if the median is 0. */
    ratio_to_median: number | null;
  } | null;
  args: Record<string, unknown>;
  kernel: Record<string, Scalar> | null;
  stack: string[];
  parents: { track: number; i: number; name: string }[];
  children: { track: number; i: number; name: string }[];
  flows_in: FlowEnd[];
  flows_out: FlowEnd[];
}

export interface Peer extends SliceRef {
  rank: number;
  /** Of a collective: the others waited for it. */
  is_last: boolean;
}

export interface PeersReply {
  by: "call" | "ordinal";
  slices: Peer[];
  missing: { rank: number; why: string }[];
}

export interface RangeQuery {
  tracks: number[];
  t0: number;
  t1: number;
  clip: boolean;
  by: string;
  rows?: [number, number];
}

export interface RangeReply {
  columns: string[];
  rows: (string | number)[][];
  total: {
    sum: number;
    covered: number;
    range: number;
    count: number;
    computing?: number;
    communication?: number;
    not_overlapped?: number;
    free?: number;
  };
  definition: string;
  elapsed_us: number;
}

export interface HistBin {
  from: number;
  /** Exclusive. */
  to: number;
  count: number;
  /** Rank and its share of the count, if asked for by rank. */
  ranks?: [number, number][];
}

export interface HistReply {
  bins: HistBin[];
  p50: number;
  p90: number;
  p99: number;
  count: number;
}

export type SearchMode = "contains" | "case" | "whole" | "exact" | "regex";

export interface SearchQuery {
  q: string;
  mode: SearchMode;
  tracks?: number[];
  t0?: number;
  t1?: number;
  limit: number;
  cursor: string | null;
}

export interface SearchReply {
  count: number;
  per_track: [number, number][];
  hits: SliceRef[];
  cursor: string | null;
}

/** [from_track, from_row, from_t, to_track, to_row, to_t, count, category index] */
export type FlowRow = [number, number, number, number, number, number, number, number];

export interface FlowsReply {
  cats: { name: string; count: number }[];
  flows: FlowRow[];
  bundled: boolean;
}

export type ColumnType = "int" | "time_us" | "double" | "text";

export interface ColumnInfo {
  name: string;
  type: ColumnType;
  decimals?: number;
}

export type Cell = string | number | null;

export type FilterOp = "contains" | "!contains" | "=" | "!=" | "<" | "<=" | ">" | ">=" | "regex" | "in";

export interface TableFilter {
  col: string;
  op: FilterOp;
  value: Cell | Cell[];
}

export interface TableSort {
  col: string;
  desc: boolean;
}

export interface TableMeasure {
  col: string;
  fn: "sum" | "avg" | "min" | "max" | "count" | "p50" | "p90" | "p99";
}

export interface TableQuery {
  source: string;
  args: Record<string, unknown>;
  cols?: string[];
  filter: TableFilter[];
  group?: string[];
  measures?: TableMeasure[];
  sort: TableSort[];
  offset: number;
  limit: number;
}

export interface TableReply {
  columns: ColumnInfo[];
  rows: Cell[][];
  total: number;
  filtered: number;
  definition?: string;
  elapsed_us?: number;
}

export interface SqlReply {
  columns: ColumnInfo[];
  rows: Cell[][];
  truncated: boolean;
  elapsed_us: number;
}

export interface SchemaReply {
  tables: { name: string; kind: string; doc: string; columns: { name: string; type: string; doc: string }[] }[];
}

export interface MetricTable {
  columns: ColumnInfo[];
  rows: Cell[][];
}

export interface MetricReply {
  tables: Record<string, MetricTable>;
  definition: string;
  query: string;
  warnings: Wording[];
}

export interface MergeReply {
  track: number;
  name: string;
  path: string;
  rows: number;
  n: number;
}

export interface SqlLanesReply {
  lanes: { track: number; parent: number; name: string; path: string; rank: number; rows: number; n: number; flags: number }[];
}

export interface LanesReply {
  /** [track, slices, busy ns, of counters the largest value, of streams the ns in which they only wait] */
  rows: [number, number, number, (number | null)?, number?][];
}

export interface AlignQuery {
  mode: "auto" | "op" | "manual" | "reset";
  track?: number;
  i?: number;
  side?: "left" | "right";
  offsets?: Record<string, number>;
}

export interface AlignReply {
  align: number;
  offsets: Record<string, number>;
  residual_ns: Record<string, number>;
  failed: Record<string, string>;
}

/** A sentence that the app words in the user's language; `text` is its English form. */
export interface Wording {
  key?: string;
  args?: Record<string, Scalar | Wording>;
  text?: string;
}

export interface ExplainItem {
  text: Wording | string;
  key?: string;
  args?: Wording["args"];
  share?: number;
  ns?: number;
  track?: number;
  i?: number;
  t0?: number;
  t1?: number;
}

export interface ExplainReply {
  title: Wording | string;
  items: ExplainItem[];
  verdict: Wording | string;
}

export interface ExplainQuery {
  kind: "gap" | "wait" | "slice";
  track: number;
  t?: number;
  i?: number;
}

/** A number of a named result: the row it is in, and its column. */
export interface NumberQuery {
  name: string;
  args: Record<string, unknown>;
  row: Record<string, Cell>;
  column: string;
}

export interface NumberReply extends ExplainReply {
  definition: string;
  query: string;
}

export interface CompareSide {
  ds?: string;
  rank?: number;
  step?: number;
}

export interface CompareQuery {
  a: CompareSide;
  b: CompareSide;
  group_by?: string;
  /** A type or name whose durations are compared, and its core. */
  key?: string;
  core?: string;
}

export interface Progress {
  ds: string;
  phase: string;
  rank: number | null;
  done: number;
  total: number;
  eta_s: number;
  mb_per_s?: number;
}

export interface Changed {
  ds: string;
  what: "ranks" | "done";
}
