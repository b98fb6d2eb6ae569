// The part of time on screen, and where one has been.

export interface View {
  t0: number;
  t1: number;
}

/** 1 ns takes at most 20 px. */
export const kMinNsPerPx = 0.05;

/** Keeps a view inside the data with some air around it, and not deeper than the floor. */
export function clampView(view: View, extent: [number, number], width: number): View {
  const whole = Math.max(1, extent[1] - extent[0]);
  const span = Math.min(Math.max(view.t1 - view.t0, width * kMinNsPerPx), whole * 1.1);
  const middle = (view.t0 + view.t1) / 2;
  const centre = Math.max(extent[0], Math.min(extent[1], middle));
  // Zooming out at an edge keeps the edge near; the centre never leaves the data.
  return { t0: centre - span / 2, t1: centre + span / 2 };
}

export function fitView(extent: [number, number]): View {
  const air = (extent[1] - extent[0]) * 0.01;
  return { t0: extent[0] - air, t1: extent[1] + air };
}

/** The first view: all slices. Counters that begin earlier or end later are reached by "fit". */
export function homeView(meta: { extent: [number, number]; work?: [number, number] }): View {
  return fitView(meta.work ?? meta.extent);
}

/** Whether two views are the same to the eye. */
export function sameView(a: View, b: View): boolean {
  const little = (b.t1 - b.t0) / 10000;
  return Math.abs(a.t0 - b.t0) <= little && Math.abs(a.t1 - b.t1) <= little;
}

/** Scales by `factor` (< 1 zooms in) so that time `at` stays where it is. */
export function zoomView(view: View, at: number, factor: number): View {
  return { t0: at - (at - view.t0) * factor, t1: at + (view.t1 - at) * factor };
}

export function panView(view: View, ns: number): View {
  return { t0: view.t0 + ns, t1: view.t1 + ns };
}

/** A view that shows [t0, t1] with air at both sides. */
export function viewAround(t0: number, t1: number, air = 0.15): View {
  const span = Math.max(1, t1 - t0);
  return { t0: t0 - span * air, t1: t1 + span * air };
}

const kKept = 100;

/** Back and forward through places: a view, and whatever else belongs to it. Places are values that nobody changes. */
export class History<Place> {
  private back: Place[] = [];
  private forward: Place[] = [];
  private last_ms = 0;
  private last_kind = "";

  /** Called with the place that is being left. What goes on without a pause (drag, held key, typing) is one entry of its kind. */
  leave(place: Place, now_ms: number, kind: string): void {
    if (now_ms - this.last_ms > 600 || kind !== this.last_kind) {
      this.back.push(place);
      if (this.back.length > kKept) this.back.shift();
      this.forward = [];
    }
    this.last_ms = now_ms;
    this.last_kind = kind;
  }

  undo(current: Place): Place | null {
    const place = this.back.pop();
    if (place) this.forward.push(current);
    this.last_ms = 0;
    return place ?? null;
  }

  redo(current: Place): Place | null {
    const place = this.forward.pop();
    if (place) this.back.push(current);
    this.last_ms = 0;
    return place ?? null;
  }

  get depth(): [number, number] {
    return [this.back.length, this.forward.length];
  }
}
