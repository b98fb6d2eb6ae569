// The names of the series; a click takes one out of the picture and brings it back.
import { seriesColor } from "./palette";

export interface LegendProps {
  names: string[];
  colors?: (string | undefined)[];
  hidden: ReadonlySet<number>;
  onToggle(index: number): void;
}

export function Legend({ names, colors, hidden, onToggle }: LegendProps) {
  return (
    <div class="legend">
      {names.map((name, at) => (
        <button
          key={at}
          class={hidden.has(at) ? "off" : ""}
          aria-pressed={!hidden.has(at)}
          onClick={() => onToggle(at)}
        >
          <i style={{ background: colors?.[at] ?? seriesColor(at) }} />
          {name}
        </button>
      ))}
    </div>
  );
}

export function toggled(set: ReadonlySet<number>, index: number): ReadonlySet<number> {
  const next = new Set(set);
  if (!next.delete(index)) next.add(index);
  return next;
}

/** What colours mean, where nothing can be switched off. */
export function ColorKey({ items }: { items: readonly { name: string; color: string }[] }) {
  return (
    <ul class="legend color-key">
      {items.map(({ name, color }) => (
        <li key={name}>
          <i style={{ background: color }} />
          {name}
        </li>
      ))}
    </ul>
  );
}
