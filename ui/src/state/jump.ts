// Ways from a page to the timeline.
import { navigate } from "./router";

/** Shows one slice on the timeline, selected and, if wanted, explained. `i` is its ordinal in the track. */
export function openSlice(track: number, i: number, explained = false): void {
  navigate("timeline", { sel: `~${track}/${i}`, t: null, area: null, v: null, tab: explained ? "explain" : null });
}

/** Shows a time range (ns); with paths, only these lanes are filtered in. */
export function openRange(t0: number, t1: number, filter = ""): void {
  navigate("timeline", { t: `${Math.round(t0)},${Math.round(t1)}`, filter, sel: null, v: null });
}

/** Shows a time range as a selected area of some lanes, with what it is made of. */
export function openArea(t0: number, t1: number, lanes: readonly string[]): void {
  const room = Math.max(1000, (t1 - t0) * 0.2);
  const area = [Math.round(t0), Math.round(t1), ...lanes].join("|");
  navigate("timeline", { t: `${Math.round(t0 - room)},${Math.round(t1 + room)}`, area: lanes.length > 0 ? area : null, lane: lanes[0] ?? null, filter: "", sel: null, v: null, tab: null });
}

/** Shows all slices of a name: the timeline's search. */
export function openSearch(query: string): void {
  navigate("timeline", { q: query });
}
