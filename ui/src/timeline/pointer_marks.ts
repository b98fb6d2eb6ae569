// What follows the pointer: the line through it, the outline of the slice under it, the box of a drag. Elements that the browser moves
// without painting, so that the lanes need not be drawn again for them.
import type { TimelineModel } from "./model";
import { sliceRect } from "./places";

export interface DragBox {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
  zoom: boolean;
}

function mark(parent: HTMLElement, name: string): HTMLElement {
  const element = document.createElement("i");
  element.className = name;
  element.hidden = true;
  parent.append(element);
  return element;
}

function place(element: HTMLElement, x: number, y: number, w: number, h: number): void {
  element.hidden = false;
  element.style.transform = `translate(${x}px, ${y}px)`;
  element.style.width = `${w}px`;
  element.style.height = `${h}px`;
}

export class PointerMarks {
  private readonly line: HTMLElement;
  private readonly outline: HTMLElement;
  private readonly box: HTMLElement;

  constructor(parent: HTMLElement) {
    this.line = mark(parent, "tl-hairline");
    this.outline = mark(parent, "tl-hovered");
    this.box = mark(parent, "tl-drag");
  }

  close(): void {
    for (const element of [this.line, this.outline, this.box]) element.remove();
  }

  update(model: TimelineModel, drag: DragBox | null): void {
    this.follow(model);
    this.box.hidden = drag === null;
    if (!drag) return;
    this.box.classList.toggle("zoom", drag.zoom);
    const [x, y] = [Math.min(drag.x0, drag.x1), Math.min(drag.y0, drag.y1)];
    place(this.box, x, y, Math.abs(drag.x1 - drag.x0), Math.abs(drag.y1 - drag.y0));
  }

  private follow(model: TimelineModel): void {
    const hover = model.hover.peek();
    this.line.hidden = !hover || hover.x < 0;
    if (hover && hover.x >= 0) place(this.line, hover.x, 0, 1, model.height);
    const run = hover?.run;
    const slice = run && { track: run.track, i: run.ord, name: "", begin: run.t0, dur: run.t1 - run.t0, row: run.row };
    const rect = slice && sliceRect(model, slice);
    this.outline.hidden = !rect;
    if (!rect) return;
    // A slice may be far wider than the screen.
    const left = Math.max(-4, rect.x);
    const right = Math.min(model.width + 4, rect.x + Math.max(2, rect.w));
    place(this.outline, left, rect.y, Math.max(2, right - left), rect.h);
  }
}
