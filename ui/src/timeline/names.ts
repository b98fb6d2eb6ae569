// Names of slices by id, with the colour of each family, fetched as they are met.
import { ColorRules } from "./color_rules";
import { type ColorMode, families, type Family, mix, type Pixel, sliceColor, sliceFamily } from "./colors";

const kBatch = 2000;

export class NameTable {
  /** Grows when names arrived or colours changed. */
  version = 0;
  private readonly texts: (string | undefined)[] = [];
  private colors: Uint32Array[] = [];
  private hatched: Uint8Array[] = [];
  /** Names that a search does not leave bright. */
  private faded: boolean[] = [];
  private missing = new Set<number>();
  private timer = 0;
  private mode: ColorMode = "family";
  private dark = false;
  private ground: Pixel = 0;
  /** Which names a search leaves bright; null = all. */
  private bright: ((name: string) => boolean) | null = null;
  private dimmed = 1;
  /** Colours the user gave. */
  private readonly rules = new ColorRules();

  constructor(
    private readonly fetchNames: (ids: number[]) => Promise<Record<string, string>>,
    private readonly onArrived: () => void,
  ) {}

  /** The name, or undefined while it is on its way. */
  text(id: number): string | undefined {
    const text = this.texts[id];
    if (text === undefined) this.ask(id);
    return text;
  }

  add(names: Record<string, string>): void {
    for (const [id, text] of Object.entries(names)) this.texts[Number(id)] = text;
    this.reset();
  }

  setMode(mode: ColorMode): void {
    this.mode = mode;
    this.reset();
  }

  style(dark: boolean, ground: Pixel): void {
    this.dark = dark;
    this.ground = ground;
    this.reset();
  }

  get ownColors(): number {
    return this.rules.size;
  }

  /** Gives slices of that name a colour, whatever their running number. */
  setColor(name: string, color: string): void {
    this.rules.set(name, color);
    this.reset();
  }

  clearColors(): void {
    this.rules.clear();
    this.reset();
  }

  /** Names that do not pass keep `share` of their colour; 0 makes them vanish. */
  dimExcept(bright: ((name: string) => boolean) | null, share: number): void {
    this.bright = bright;
    this.dimmed = share;
    this.reset();
  }

  /** True if a search makes slices of that name vanish. */
  isHidden(name: string): boolean {
    return this.bright !== null && this.dimmed === 0 && !this.bright(name);
  }

  /** What a search leaves of the colour of slices with that name, of 256. Valid after color(). */
  brightness(id: number): number {
    return this.faded[id] ? Math.round(this.dimmed * 256) : 256;
  }

  /** Colour of slices called `id` on a lane of `family`; a plain one while the name is unknown. */
  color(family: Family, id: number): Pixel {
    const table = this.tableOf(family, id);
    const known = table[id]!;
    if (known !== 0) return known;
    const text = this.text(id);
    if (text === undefined) return sliceColor(family, "", "family", this.dark);
    const own = sliceFamily(family, text);
    let color = this.rules.of(text) ?? sliceColor(own, text, this.mode, this.dark);
    if (this.bright && !this.bright(text)) {
      color = mix(this.ground, color, this.dimmed);
      this.faded[id] = true;
    }
    table[id] = color;
    this.hatched[families.indexOf(family)]![id] = own === "wait" ? 1 : own === "free" ? 2 : 0;
    return color;
  }

  /** The colours of a family by name id, 0 where color() was not asked yet. Valid until `version` changes. */
  colorTable(family: Family): Uint32Array {
    return this.tableOf(family, 0);
  }

  /** The patterns that belong to colorTable(). */
  patternTable(family: Family): Uint8Array {
    this.tableOf(family, 0);
    return this.hatched[families.indexOf(family)]!;
  }

  /** 1 = waits (striped), 2 = free time (dotted), 0 = plain. Valid after color(). */
  pattern(family: Family, id: number): number {
    return this.hatched[families.indexOf(family)]?.[id] ?? 0;
  }

  private tableOf(family: Family, id: number): Uint32Array {
    const at = families.indexOf(family);
    let table = this.colors[at];
    if (!table || table.length <= id) {
      const size = Math.max(1024, 2 ** Math.ceil(Math.log2(id + 1)));
      const colors = new Uint32Array(size);
      const hatched = new Uint8Array(size);
      if (table) colors.set(table);
      if (table) hatched.set(this.hatched[at]!);
      this.colors[at] = table = colors;
      this.hatched[at] = hatched;
    }
    return table;
  }

  private reset(): void {
    this.colors = [];
    this.hatched = [];
    this.faded = [];
    this.version++;
  }

  private ask(id: number): void {
    this.missing.add(id);
    if (this.timer) return;
    this.timer = setTimeout(() => void this.flush(), 16) as unknown as number;
  }

  private async flush(): Promise<void> {
    this.timer = 0;
    const ids = [...this.missing].slice(0, kBatch);
    for (const id of ids) this.missing.delete(id);
    try {
      const names = await this.fetchNames(ids);
      // An id the server does not know must not be asked for again and again.
      for (const id of ids) this.texts[id] = names[id] ?? "?";
      this.reset();
      this.onArrived();
    } catch {
      // They stay unknown and are asked for again when they are drawn next.
    }
  }
}
