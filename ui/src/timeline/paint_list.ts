// Drawing calls that are kept and made later, on another thread: painting a canvas without a GPU costs more than working out what to paint.
// A PaintList has the part of CanvasRenderingContext2D that the lanes need; `replay` makes its calls.

type Value = number | string;

/** Methods and their number of arguments; the place in this list is their code. */
const kMethods = [
  ["setTransform", 6],
  ["save", 0],
  ["restore", 0],
  ["beginPath", 0],
  ["rect", 4],
  ["clip", 0],
  ["fillRect", 4],
  ["strokeRect", 4],
  ["fillText", 3],
  ["moveTo", 2],
  ["lineTo", 2],
  ["bezierCurveTo", 6],
  ["roundRect", 5],
  ["fill", 0],
  ["stroke", 0],
] as const;

const kProperties = [
  "fillStyle",
  "strokeStyle",
  "globalAlpha",
  "lineWidth",
  "font",
  "textBaseline",
  "textAlign",
] as const;

type Method = (typeof kMethods)[number][0];
type Property = (typeof kProperties)[number];

const kPropertyCode = 100;
const kBandCode = 200;

const methodCode = new Map<Method, number>(kMethods.map(([name], code) => [name, code]));
const propertyCode = new Map<Property, number>(kProperties.map((name, at) => [name, kPropertyCode + at]));

export type Plane = "body" | "edge";

/** The canvases a band is drawn from. */
export type Planes = Record<Plane, CanvasImageSource>;

/** Text is measured here, where it is laid out. */
let ruler: CanvasRenderingContext2D | null = null;

export class PaintList {
  /** Codes and arguments, one behind the other. */
  readonly calls: Value[] = [];
  /** Properties as they are set now; `save` and `restore` bring them back as a canvas does. */
  private state: Partial<Record<Property, Value>> = {};
  private readonly saved: Partial<Record<Property, Value>>[] = [];

  setTransform(a: number, b: number, c: number, d: number, e: number, f: number): void {
    this.call("setTransform", a, b, c, d, e, f);
  }

  save(): void {
    this.saved.push({ ...this.state });
    this.call("save");
  }

  restore(): void {
    this.state = this.saved.pop() ?? {};
    this.call("restore");
  }

  beginPath = () => this.call("beginPath");
  clip = () => this.call("clip");
  fill = () => this.call("fill");
  stroke = () => this.call("stroke");
  rect = (x: number, y: number, w: number, h: number) => this.call("rect", x, y, w, h);
  fillRect = (x: number, y: number, w: number, h: number) => this.call("fillRect", x, y, w, h);
  strokeRect = (x: number, y: number, w: number, h: number) => this.call("strokeRect", x, y, w, h);
  fillText = (text: string, x: number, y: number) => this.call("fillText", text, x, y);
  moveTo = (x: number, y: number) => this.call("moveTo", x, y);
  lineTo = (x: number, y: number) => this.call("lineTo", x, y);
  roundRect = (x: number, y: number, w: number, h: number, r: number) => this.call("roundRect", x, y, w, h, r);
  bezierCurveTo = (ax: number, ay: number, bx: number, by: number, x: number, y: number) =>
    this.call("bezierCurveTo", ax, ay, bx, by, x, y);

  /** Lines [at, at + lines) of a plane stretched over the device px [y, y + height) of the whole width. */
  band(plane: Plane, at: number, lines: number, width: number, y: number, height: number): void {
    this.calls.push(kBandCode, plane, at, lines, width, y, height);
  }

  measureText(text: string): { width: number } {
    ruler ??= document.createElement("canvas").getContext("2d");
    if (!ruler) return { width: text.length * 7 };
    ruler.font = String(this.state.font ?? "10px sans-serif");
    return ruler.measureText(text);
  }

  set fillStyle(value: string) {
    this.set("fillStyle", value);
  }

  set strokeStyle(value: string) {
    this.set("strokeStyle", value);
  }

  set globalAlpha(value: number) {
    this.set("globalAlpha", value);
  }

  set lineWidth(value: number) {
    this.set("lineWidth", value);
  }

  set font(value: string) {
    this.set("font", value);
  }

  set textBaseline(value: CanvasTextBaseline) {
    this.set("textBaseline", value);
  }

  set textAlign(value: CanvasTextAlign) {
    this.set("textAlign", value);
  }

  private call(method: Method, ...args: Value[]): void {
    this.calls.push(methodCode.get(method)!, ...args);
  }

  private set(property: Property, value: Value): void {
    if (this.state[property] === value) return;
    this.state[property] = value;
    this.calls.push(propertyCode.get(property)!, value);
  }
}

/** What `replay` draws on: a canvas here or in a worker. */
export type Target = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

export function replay(calls: readonly Value[], g: Target, planes: Planes): void {
  // The calls are those of the table above, so the types hold by construction.
  const target = g as unknown as Record<string, (...args: Value[]) => void> & Record<Property, Value>;
  for (let k = 0; k < calls.length;) {
    const code = calls[k++] as number;
    if (code === kBandCode) {
      const [plane, at, lines, width, y, height] = calls.slice(k, k + 6) as [
        Plane,
        number,
        number,
        number,
        number,
        number,
      ];
      g.drawImage(planes[plane], 0, at, width, lines, 0, y, width, height);
      k += 6;
    } else if (code >= kPropertyCode) {
      target[kProperties[code - kPropertyCode]!] = calls[k++]!;
    } else {
      const [name, arity] = kMethods[code]!;
      target[name]!(...calls.slice(k, k + arity));
      k += arity;
    }
  }
}
