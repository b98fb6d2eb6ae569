// Colours that tiles bring a number for: how long a slice took among its like, or the module it belongs to.
import { signal } from "@preact/signals";
import { hslPixel, kByName, nameHash, parseColor, type Pixel } from "./colors";
import { type FilterColor, storedFilterColors } from "./filter_colors";

export type ShadeMode = "percentile" | "module" | "rules";

/** What slices are coloured by. */
export type Coloring = "family" | "name" | ShadeMode;

export const colorings: Coloring[] = ["family", "name", "percentile", "module", "rules"];

const kModes: readonly string[] = ["percentile", "module", "rules"] satisfies ShadeMode[];

/** Blue is shorter than the median of its name, grey is the median, orange and red are longer. p from 0 to 1. */
export function percentileColor(p: number, dark: boolean): Pixel {
  const away = Math.abs(p - 0.5) * 2;
  if (p < 0.5) return hslPixel(212, 8 + 52 * away, (dark ? 46 : 74) - (dark ? 2 : 12) * away);
  return hslPixel(46 - 42 * away, 8 + 74 * away, (dark ? 46 : 74) + (dark ? 6 : -20) * away);
}

/** "Model/Layer_1/[Backward]MLP_0" -> "MLP": modules of a kind look alike. */
export const moduleKind = (path: string): string => path.slice(path.lastIndexOf("/") + 1).replace("[Backward]", "").replace(/_?\d+$/, "");

/** The colour of each path. The kind gives the hue, neighbours in the list far apart; where in the model it is, and whether it runs backward, how light it is. */
export function moduleColors(paths: readonly string[], dark: boolean): Pixel[] {
  const kinds = [...new Set(paths.map(moduleKind))].sort();
  const hue = new Map(kinds.map((kind, at) => [kind, (210 + at * 137.5) % 360]));
  return paths.map((path) => hslPixel(hue.get(moduleKind(path)) ?? 0, 52, (dark ? 42 : 58) + (nameHash(`${path}.`) % 12) - (path.includes("[Backward]") ? 10 : 0)));
}

export class Shading {
  /** "" = colours come from names. */
  readonly mode = signal<"" | ShadeMode>("");
  /** Grows when modules arrived. */
  readonly arrived = signal(0);
  /** Grows when colours changed. */
  version = 0;
  /** What slices are coloured by in the mode "rules". */
  readonly rules = signal<readonly FilterColor[]>(storedFilterColors());
  private dark = false;
  private tables = new Map<number, Uint32Array>();
  private readonly paths = new Map<number, readonly string[]>();
  private readonly asked = new Set<number>();

  constructor(
    private readonly fetchModules: (rank: number) => Promise<string[]>,
    private readonly onArrived: () => void,
  ) {}

  /** The rules as the server takes them. */
  get filters(): string[] {
    return this.rules.peek().map((rule) => rule.filter);
  }

  setRules(rules: readonly FilterColor[]): void {
    this.rules.value = rules;
    this.reset();
  }

  use(coloring: Coloring): void {
    this.mode.value = kModes.includes(coloring) ? (coloring as ShadeMode) : "";
    this.reset();
  }

  style(dark: boolean): void {
    if (this.dark === dark) return;
    this.dark = dark;
    this.reset();
  }

  /** Colours of a rank by the number in its tiles; null = they come from names. */
  table(rank: number): Uint32Array | null {
    if (this.mode.value === "") return null;
    let table = this.tables.get(rank);
    if (!table) this.tables.set(rank, (table = this.fill(rank)));
    return table;
  }

  /** Modules of a rank; null while they are on their way. */
  modules(rank: number): readonly string[] | null {
    this.ask(rank);
    return this.paths.get(rank) ?? null;
  }

  private fill(rank: number): Uint32Array {
    if (this.mode.value === "rules") {
      const table = new Uint32Array(256).fill(kByName);
      table.set(this.rules.peek().map((rule) => parseColor(rule.color)), 1);
      return table;
    }
    const table = new Uint32Array(256).fill(hslPixel(212, 6, this.dark ? 36 : 82));
    if (this.mode.value === "percentile") for (let k = 1; k < 256; k++) table[k] = percentileColor((k - 1) / 254, this.dark);
    else table.set(moduleColors(this.modules(rank) ?? [], this.dark), 1);
    return table;
  }

  private ask(rank: number): void {
    if (this.asked.has(rank)) return;
    this.asked.add(rank);
    this.fetchModules(rank).then(
      (paths) => {
        this.paths.set(rank, paths);
        this.reset();
        this.arrived.value++;
        this.onArrived();
      },
      () => this.asked.delete(rank), // Asked for again when the rank is drawn next.
    );
  }

  private reset(): void {
    this.tables = new Map();
    this.version++;
  }
}
