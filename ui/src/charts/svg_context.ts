// A drawing context that writes SVG: what a chart draws on a canvas, it can draw here. It knows the calls the charts make.

const round = (value: number) => String(Math.round(value * 100) / 100);

/** Text for an attribute or between tags; what XML forbids altogether is left out. */
export function escapeXml(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "").replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);
}

const kAnchors: Record<string, string> = { center: "middle", right: "end", end: "end" };
const kBaselines: Record<string, string> = { middle: "central", top: "text-before-edge", bottom: "text-after-edge" };

/** Part of an image as one of its own. */
function cutOut(image: HTMLCanvasElement, x: number, y: number, w: number, h: number): HTMLCanvasElement {
  const part = document.createElement("canvas");
  part.width = w;
  part.height = h;
  part.getContext("2d")?.drawImage(image, x, y, w, h, 0, 0, w, h);
  return part;
}

interface Pen {
  fillStyle: string;
  strokeStyle: string;
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: string;
  textBaseline: string;
  clip: string;
  transform: string;
}

export class SvgContext {
  fillStyle = "#000000";
  strokeStyle = "#000000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "12px sans-serif";
  textAlign = "left";
  textBaseline = "alphabetic";
  imageSmoothingEnabled = true;
  private clipPath = "";
  /** Where the drawing that `place` was told begins, and what setTransform adds to it. */
  private origin = "";
  private transform = "";
  private path = "";
  private clips = 0;
  private readonly kept: Pen[] = [];
  private readonly parts: string[] = [];

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  fillRect(x: number, y: number, w: number, h: number): void {
    this.add(`<rect x="${round(Math.min(x, x + w))}" y="${round(Math.min(y, y + h))}" width="${round(Math.abs(w))}" height="${round(Math.abs(h))}" fill="${escapeXml(this.fillStyle)}"`);
  }

  strokeRect(x: number, y: number, w: number, h: number): void {
    this.add(`<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" fill="none" ${this.line()}`);
  }

  fillText(text: string, x: number, y: number): void {
    const anchor = kAnchors[this.textAlign] ?? "start";
    const baseline = kBaselines[this.textBaseline] ?? "auto";
    this.add(`<text x="${round(x)}" y="${round(y)}" style="font:${escapeXml(this.font)}" text-anchor="${anchor}" dominant-baseline="${baseline}" fill="${escapeXml(this.fillStyle)}"`, escapeXml(text));
  }

  /** About as wide as the text will be; Chinese characters are square. */
  measureText(text: string): { width: number } {
    const size = Number(/(\d+(?:\.\d+)?)px/.exec(this.font)?.[1] ?? 12);
    const square = text.match(/[\u2e80-\u9fff\uf900-\uffef]/g)?.length ?? 0;
    return { width: size * (square + (text.length - square) * 0.56) };
  }

  /** From now on setTransform counts from (x, y), in units of `scale`. */
  place(x: number, y: number, scale: number): void {
    this.origin = `translate(${round(x)} ${round(y)}) scale(${round(scale)})`;
    this.transform = this.origin;
  }

  setTransform(...matrix: [number, number, number, number, number, number]): void {
    const own = matrix.join() === "1,0,0,1,0,0" ? "" : ` matrix(${matrix.map(round).join(" ")})`;
    this.transform = (this.origin + own).trim();
  }

  beginPath(): void {
    this.path = "";
  }

  moveTo(x: number, y: number): void {
    this.path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `${this.path === "" ? "M" : "L"}${round(x)} ${round(y)}`;
  }

  bezierCurveTo(ax: number, ay: number, bx: number, by: number, x: number, y: number): void {
    this.path += `C${[ax, ay, bx, by, x, y].map(round).join(" ")}`;
  }

  rect(x: number, y: number, w: number, h: number): void {
    this.path += `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}Z`;
  }

  /** Corners are quarters of a circle. */
  roundRect(x: number, y: number, w: number, h: number, r: number): void {
    const corner = (dx: number, dy: number) => `a${round(r)} ${round(r)} 0 0 1 ${round(dx)} ${round(dy)}`;
    this.path += `M${round(x + r)} ${round(y)}h${round(w - 2 * r)}${corner(r, r)}v${round(h - 2 * r)}${corner(-r, r)}h${round(2 * r - w)}${corner(-r, -r)}v${round(2 * r - h)}${corner(r, -r)}Z`;
  }

  closePath(): void {
    this.path += "Z";
  }

  /** Clockwise. A whole circle is two halves: an arc that ends where it begins is none. */
  arc(x: number, y: number, r: number, from: number, to: number): void {
    const end = Math.min(to, from + 2 * Math.PI);
    const place = (angle: number) => `${round(x + r * Math.cos(angle))} ${round(y + r * Math.sin(angle))}`;
    const middle = (from + end) / 2;
    this.path += `${this.path === "" ? "M" : "L"}${place(from)}A${round(r)} ${round(r)} 0 0 1 ${place(middle)}A${round(r)} ${round(r)} 0 0 1 ${place(end)}`;
  }

  fill(): void {
    this.add(`<path d="${this.path}" fill="${escapeXml(this.fillStyle)}"`);
  }

  stroke(): void {
    this.add(`<path d="${this.path}" fill="none" ${this.line()}`);
  }

  clip(): void {
    const id = `clip${++this.clips}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"${this.moved()}/></clipPath>`);
    this.clipPath = id;
  }

  /** As on a canvas: the place, or a part of the image and then the place. */
  drawImage(image: HTMLCanvasElement, ...places: number[]): void {
    if (places.length === 8) {
      const [sx, sy, sw, sh, ...place] = places as [number, number, number, number, ...number[]];
      return this.drawImage(cutOut(image, sx, sy, sw, sh), ...place);
    }
    const [x, y, w, h] = places as [number, number, number, number];
    this.add(`<image x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" preserveAspectRatio="none" style="image-rendering:pixelated" href="${image.toDataURL()}"`);
  }

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, transform } = this;
    this.kept.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, transform, clip: this.clipPath });
  }

  restore(): void {
    const pen = this.kept.pop();
    if (!pen) return;
    const { clip, ...rest } = pen;
    Object.assign(this, rest);
    this.clipPath = clip;
  }

  /** The whole picture. */
  text(): string {
    const size = `width="${this.width}" height="${this.height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${this.width} ${this.height}">\n${this.parts.join("\n")}\n</svg>\n`;
  }

  private line(): string {
    return `stroke="${escapeXml(this.strokeStyle)}" stroke-width="${round(this.lineWidth)}"`;
  }

  private moved(): string {
    return this.transform === "" ? "" : ` transform="${this.transform}"`;
  }

  private add(head: string, body = ""): void {
    const alpha = this.globalAlpha < 1 ? ` opacity="${round(this.globalAlpha)}"` : "";
    const tag = `${head}${alpha}${this.moved()}`;
    const shape = body === "" ? `${tag}/>` : `${tag}>${body}</text>`;
    // The clip has a place of its own, so it must not move with the shape.
    this.parts.push(this.clipPath === "" ? shape : `<g clip-path="url(#${this.clipPath})">${shape}</g>`);
  }
}
