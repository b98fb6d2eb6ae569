// Search on the timeline: counts, next and previous, dimming of the rest.
import { computed, signal } from "@preact/signals";
import { isAbort } from "../api";
import type { SearchMode, SearchReply, SliceRef } from "../api_types";
import { nameTest } from "./filter";
import type { TimelineModel } from "./model";
import { complain, selectSlice } from "./selecting";

/** How much of its colour a slice keeps that was not searched for. */
const kDimmed = 0.16;

export type SearchScope = "all" | "rank" | "pinned" | "area";

export class TimelineSearch {
  readonly text = signal("");
  readonly mode = signal<SearchMode>("contains");
  readonly scope = signal<SearchScope>("all");
  readonly dim = signal(true);
  /** Only what was found is drawn, and only lanes that have some of it. */
  readonly hide = signal(false);
  readonly reply = signal<SearchReply | null>(null);
  readonly busy = signal(false);
  /** Position among the loaded hits; -1 before the first step. */
  readonly at = signal(-1);
  /** The lane of the hit that was gone to, rank first; "" before the first step. */
  readonly place = computed(() => {
    const hit = this.at.value < 0 ? undefined : this.reply.value?.hits[this.at.value];
    return hit ? this.model.laneName(hit.track) : "";
  });
  /** Hits by track, for the lane headers. */
  readonly perTrack = computed(() => new Map(this.reply.value?.per_track ?? []));

  private timer = 0;
  /** Something was typed that was not searched for yet. */
  private isPending = false;
  private control = new AbortController();

  constructor(private readonly model: TimelineModel) {}

  /** Searches a moment after the last key stroke. */
  type(text: string): void {
    this.text.value = text;
    this.changed();
  }

  changed(): void {
    clearTimeout(this.timer);
    this.applyDim();
    this.isPending = true;
    this.timer = setTimeout(() => void this.run(), 140) as unknown as number;
  }

  clear(): void {
    this.text.value = "";
    this.reply.value = null;
    this.at.value = -1;
    this.control.abort();
    this.applyDim();
  }

  /** To the next (1) or previous (-1) hit after what is selected or on screen. */
  async go(dir: 1 | -1): Promise<void> {
    // Whoever presses Enter at once does not wait for the pause after typing.
    if (!this.reply.value || this.isPending) await this.run();
    const hits = this.reply.value?.hits ?? [];
    if (hits.length === 0) return;
    const next = this.at.value < 0 ? this.start(hits, dir) : (this.at.value + dir + hits.length) % hits.length;
    if (next === hits.length - 1) await this.more();
    this.at.value = next;
    const hit = hits[next];
    if (hit) await selectSlice(this.model, hit.track, hit.i, "keep zoom");
  }

  applyDim(): void {
    const wanted = this.dim.value || this.hide.value;
    const test = wanted ? nameTest(this.text.value, this.mode.value) : null;
    this.model.names.dimExcept(test, this.hide.value ? 0 : kDimmed);
    this.applyFound();
    this.model.invalidate();
  }

  /** Lanes without hits go while others are hidden, as soon as the answer is here. */
  private applyFound(): void {
    const reply = this.reply.value;
    const found =
      this.hide.value && reply && this.text.value.trim() !== "" ? new Set(this.perTrack.value.keys()) : null;
    const before = this.model.lanes.peek().found;
    if (found !== before && (found || before)) this.model.changeLanes({ found });
  }

  /** Loads the next page of hits. */
  async more(): Promise<void> {
    const reply = this.reply.value;
    if (!reply?.cursor) return;
    try {
      const page = await this.model.ds.search({ ...this.query(), cursor: reply.cursor }, this.control.signal);
      this.reply.value = { ...page, hits: [...reply.hits, ...page.hits] };
    } catch (error) {
      complain(error);
    }
  }

  private start(hits: SliceRef[], dir: 1 | -1): number {
    const from = this.model.detail.value?.begin ?? this.model.view.t0;
    const at = hits.findIndex((hit) => hit.begin >= from);
    if (dir > 0) return at < 0 ? 0 : at;
    return at <= 0 ? hits.length - 1 : at - 1;
  }

  private query() {
    const { model } = this;
    const limits: { tracks?: number[]; t0?: number; t1?: number } = {};
    const detail = model.detail.value;
    const area = model.area.value;
    if (this.scope.value === "rank")
      limits.tracks = model.tree.all
        .filter((each) => each.rank === (detail?.rank ?? model.meta.ranks[0]?.rank) && each.kind === "slices")
        .map((each) => each.id);
    if (this.scope.value === "pinned")
      limits.tracks = model.layout.pinned.flatMap((lane) => model.tree.leaves(lane.track).map((each) => each.id));
    if (this.scope.value === "area" && area) Object.assign(limits, { tracks: area.tracks, t0: area.t0, t1: area.t1 });
    return { q: this.text.value.trim(), mode: this.mode.value, limit: 200, cursor: null, ...limits };
  }

  private async run(): Promise<void> {
    clearTimeout(this.timer);
    this.isPending = false;
    this.control.abort();
    this.control = new AbortController();
    const { signal: stop } = this.control;
    this.at.value = -1;
    if (this.text.value.trim() === "") {
      this.reply.value = null;
      this.applyFound();
      return;
    }
    this.busy.value = true;
    try {
      const reply = await this.model.ds.search(this.query(), stop);
      if (!stop.aborted) this.reply.value = reply;
    } catch (error) {
      if (!isAbort(error)) {
        this.reply.value = { count: 0, per_track: [], hits: [], cursor: null };
        complain(error);
      }
    } finally {
      if (!stop.aborted) this.busy.value = false;
      this.applyFound();
      this.model.invalidate();
    }
  }
}
