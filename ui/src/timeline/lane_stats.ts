// How busy each lane on screen is in the time on screen, asked for when the view comes to rest.
import { signal } from "@preact/signals";
import { ApiError, isAbort } from "../api";
import { lanesIn } from "./layout";
import type { TimelineModel } from "./model";

const kKey = "steplens.lane_stats";
const kRestMs = 180;
const kMost = 512;

/** Whether the user wants them; kept in the browser. */
export const laneStatsWanted = signal(globalThis.localStorage?.getItem(kKey) !== "off");

export class LaneStats {
  private timer = 0;
  private control = new AbortController();
  private shown = "";
  /** The server has none. */
  private absent = false;

  constructor(private readonly model: TimelineModel) {}

  close(): void {
    clearTimeout(this.timer);
    this.control.abort();
  }

  toggle(): void {
    laneStatsWanted.value = !laneStatsWanted.value;
    localStorage.setItem(kKey, laneStatsWanted.value ? "on" : "off");
    this.follow();
  }

  /** Called with every frame; asks a moment after the last one. */
  follow(): void {
    const { model } = this;
    const tracks = laneStatsWanted.peek() && !this.absent ? this.tracks() : [];
    const wanted = `${tracks.join()} ${model.view.t0} ${model.view.t1} ${model.ds.align} ${model.meta.generation}`;
    if (wanted === this.shown) return;
    this.shown = wanted;
    clearTimeout(this.timer);
    if (tracks.length === 0) model.laneStats.value = null;
    else this.timer = setTimeout(() => void this.load(tracks), kRestMs) as unknown as number;
  }

  private tracks(): number[] {
    const { model } = this;
    const lanes = lanesIn(model.layout.lanes, model.scrollY, model.scrollY + model.scrollHeight);
    const ids = [...model.layout.pinned, ...lanes]
      .filter((lane) => lane.form !== "strip" && model.tree.leaves(lane.track).length > 0)
      .map((lane) => lane.track.id);
    return [...new Set(ids)].slice(0, kMost);
  }

  private async load(tracks: number[]): Promise<void> {
    const { model } = this;
    this.control.abort();
    this.control = new AbortController();
    const [t0, t1] = [Math.max(0, Math.floor(model.view.t0)), Math.ceil(model.view.t1)];
    if (t1 <= t0) return;
    try {
      const { rows } = await model.ds.lanes({ tracks, t0, t1 }, this.control.signal);
      model.laneStats.value = new Map(rows.map(([track, count, busy_ns, , wait_ns]) => [track, { count, busy_ns, wait_ns: wait_ns ?? 0 }]));
    } catch (error) {
      // They are a courtesy: a server that does not have them, or ranks still being read, are no reason to complain.
      if (!isAbort(error)) model.laneStats.value = null;
      if (error instanceof ApiError && error.status === 404) this.absent = true;
    }
  }
}
