// Keeps the arrows of the chosen categories up to date with the view.
import { LaneFlag, type Track } from "../state/tracks";
import { lanesIn } from "./layout";
import type { TimelineModel } from "./model";
import { complain } from "./selecting";

const kMost = 2000;
const kMostLanes = 1000;
const kBetweenRanks = new Set(["collective", "send_receive"]);

export class FlowArrows {
  private timer = 0;
  private control = new AbortController();
  private shown = "";

  constructor(private readonly model: TimelineModel) {}

  /** Asks for the arrows on screen a moment after the view came to rest. */
  follow(): void {
    const { model } = this;
    const cats = model.flowCats.value;
    const wanted =
      cats.length === 0
        ? ""
        : `${cats.join()} ${model.view.t0} ${model.view.t1} ${model.scrollY} ${model.ds.align} ${model.layout.lanes.length}`;
    if (wanted === this.shown) return;
    this.shown = wanted;
    clearTimeout(this.timer);
    if (cats.length === 0) {
      model.flows.value = null;
      model.invalidate();
      return;
    }
    this.timer = setTimeout(() => void this.load(cats), 120) as unknown as number;
  }

  /** Arrows between ranks lead far: the other ranks' lanes are rarely on screen. */
  private collectiveLanes(): number[] {
    const isGroup = ({ kind, flags }: Track) => kind === "slices" && (flags & LaneFlag.commGroup) !== 0;
    return this.model.tree.all.filter(isGroup).map((track) => track.id);
  }

  private async load(cats: string[]): Promise<void> {
    const { model } = this;
    this.control.abort();
    this.control = new AbortController();
    // Arrows may lead to lanes a screen away: one sees at least where they go.
    const screen = model.scrollHeight;
    const lanes = [
      ...model.layout.pinned,
      ...lanesIn(model.layout.lanes, model.scrollY - screen, model.scrollY + 2 * screen),
    ];
    // A collapsed group stands for the lanes below it.
    const tracks = lanes
      .flatMap((lane) => (lane.form === "header" ? [] : model.tree.leaves(lane.track).map((leaf) => leaf.id)))
      .concat(cats.some((cat) => kBetweenRanks.has(cat)) ? this.collectiveLanes() : [])
      .slice(0, kMostLanes);
    if (tracks.length === 0) return;
    try {
      model.flows.value = await model.ds.flows(
        {
          cats,
          tracks: [...new Set(tracks)],
          t0: Math.max(0, Math.floor(model.view.t0)),
          t1: Math.ceil(model.view.t1),
          max: kMost,
        },
        this.control.signal,
      );
      model.invalidate();
    } catch (error) {
      complain(error);
    }
  }
}
