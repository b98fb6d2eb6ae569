// Rows of a table as tall as the data and a browser that cannot make elements that tall.
// Up to kMaxHeight every row has its place; beyond it the scroll position maps to rows by ratio, and steps of wheel and
// keys move by rows (`offset`), so each row can still be reached.

export const kMaxHeight = 8_000_000;

export interface Scroll {
  /** Height of the element that makes the scroll bar, px. */
  height: number;
  /** First row to draw. */
  first: number;
  /** Number of rows to draw. */
  count: number;
  /** Where row `first` is drawn, px from the top of the viewport (<= 0). */
  y: number;
}

export function mapScroll(scrollTop: number, viewport: number, rows: number, rowHeight: number): Scroll {
  const full = rows * rowHeight;
  const height = Math.min(full, kMaxHeight);
  const count = Math.min(rows, Math.ceil(viewport / rowHeight) + 1);
  if (full <= viewport) return { height, first: 0, count: rows, y: 0 };
  const track = height - viewport;
  const at = Math.max(0, Math.min(scrollTop, track));
  const position = full === height ? at : (at / track) * (full - viewport);
  const first = Math.max(0, Math.min(Math.floor(position / rowHeight), rows - 1));
  return { height, first, count: Math.min(count, rows - first), y: first * rowHeight - position };
}

/** The scrollTop that brings `row` to the top of the viewport. */
export function scrollTopOf(row: number, viewport: number, rows: number, rowHeight: number): number {
  const full = rows * rowHeight;
  const height = Math.min(full, kMaxHeight);
  if (full <= viewport) return 0;
  const position = Math.max(0, Math.min(row * rowHeight, full - viewport));
  return full === height ? position : (position / (full - viewport)) * (height - viewport);
}

/** scrollTop after moving by `delta` rows; exact also where the ratio makes a pixel many rows. */
export function scrollBy(scrollTop: number, delta: number, viewport: number, rows: number, rowHeight: number): number {
  const now = mapScroll(scrollTop, viewport, rows, rowHeight);
  return scrollTopOf(now.first - now.y / rowHeight + delta, viewport, rows, rowHeight);
}
