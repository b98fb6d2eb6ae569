// Named points and regions of time, kept per dataset in the browser.
import { signal } from "@preact/signals";

export interface Marker {
  id: number;
  name: string;
  t0: number;
  /** Equal to t0 for a point. */
  t1: number;
  color: string;
  /** What the user wrote about it. */
  note?: string;
}

/** Where the markers of a dataset are kept. */
export const markersKey = ({ path }: { path: string }): string => `steplens.markers.${path}`;

const colors = ["#d6453d", "#2f8f5b", "#7a52c7", "#c77f16", "#1a7fb5"];

function isMarker(value: unknown): value is Marker {
  const marker = value as Marker | null;
  return (
    typeof marker === "object" &&
    marker !== null &&
    typeof marker.name === "string" &&
    Number.isFinite(marker.t0) &&
    Number.isFinite(marker.t1) &&
    /^#[0-9a-f]{6}$/i.test(marker.color)
  );
}

export class Markers {
  readonly list = signal<Marker[]>([]);
  private nextId = 1;

  constructor(private readonly key: string) {
    this.read();
  }

  add(t0: number, t1: number): Marker {
    const id = this.nextId++;
    const marker = { id, name: `M${id}`, t0: Math.round(t0), t1: Math.round(t1), color: colors[id % colors.length]! };
    this.save([...this.list.value, marker]);
    return marker;
  }

  change(id: number, patch: Partial<Pick<Marker, "name" | "color" | "note">>): void {
    this.save(this.list.value.map((marker) => (marker.id === id ? { ...marker, ...patch } : marker)));
  }

  remove(id: number): void {
    this.save(this.list.value.filter((marker) => marker.id !== id));
  }

  clear(): void {
    this.save([]);
  }

  /** Takes markers from a view file; what is none is left out. */
  load(values: unknown[]): void {
    this.save(values.filter(isMarker).map((marker) => ({ ...marker, id: this.nextId++ })));
  }

  private save(list: Marker[]): void {
    this.list.value = list;
    localStorage.setItem(this.key, JSON.stringify(list));
  }

  private read(): void {
    try {
      const stored: unknown = JSON.parse(localStorage.getItem(this.key) ?? "[]");
      if (Array.isArray(stored)) this.list.value = stored.filter(isMarker);
    } catch {
      // What is stored is not ours; start without markers.
    }
    this.nextId = Math.max(0, ...this.list.value.map((marker) => marker.id)) + 1;
  }
}
