// The bitmap of all lanes on screen, kept between frames: a pan moves it and fills only what came into view.
import { type Band } from "./bands";
import { type Pixel } from "./colors";
import type { TimelineModel } from "./model";
import {
  type Bitmap,
  type Columns,
  counterColumns,
  type CounterColumns,
  fillCounter,
  fillHeat,
  fillRow,
  makeBitmap,
  type Paint,
  type Scale,
  shiftBitmap,
} from "./raster";

export class SliceBitmap {
  bitmap: Bitmap = makeBitmap(1, 1);
  /** Values of the counters on screen, by track. */
  readonly counters = new Map<number, CounterColumns>();
  private signature = "";
  private t0 = 0;

  /** Brings the bitmap up to date. Returns the number of columns that were filled. */
  update(model: TimelineModel, bands: Band[], scale: Scale, paint: Paint): number {
    const signature = this.sign(model, bands, scale, paint.ground);
    const moved = (scale.t0 - this.t0) / scale.nsPerPx;
    const columns = this.exposed(signature, moved, bands, scale);
    this.signature = signature;
    this.t0 = scale.t0;
    if (!columns) return 0;
    for (const band of bands) this.fillBand(model, band, scale, paint, columns);
    return columns.to - columns.from;
  }

  private sign(model: TimelineModel, bands: Band[], scale: Scale, ground: Pixel): string {
    const rows = bands.map((band) => `${band.lane.track.id}:${band.firstRow}:${band.lines}`).join(" ");
    return `${scale.width} ${scale.nsPerPx} ${model.cache.version} ${model.names.version} ${model.shading.version} ${ground} ${model.stripMetric.value} ${model.stripHigh} ${rows}`;
  }

  /** Which columns must be filled; null = none. */
  private exposed(signature: string, moved: number, bands: Band[], scale: Scale): Columns | null {
    const whole = { from: 0, to: scale.width };
    const lines = bands.reduce((sum, band) => sum + band.lines, 0);
    if (signature === this.signature) {
      if (moved === 0) return null;
      const columns = Math.round(moved);
      if (Math.abs(moved - columns) < 1e-3 && Math.abs(columns) < scale.width && columns !== 0)
        return shiftBitmap(this.bitmap, columns);
      return whole;
    }
    if (this.bitmap.width !== scale.width || this.bitmap.rows < lines || this.bitmap.rows > 2 * lines + 64) {
      this.bitmap = makeBitmap(scale.width, Math.max(1, lines));
    }
    return whole;
  }

  private fillBand(model: TimelineModel, band: Band, scale: Scale, paint: Paint, columns: Columns): void {
    const { track, form } = band.lane;
    if (form === "counter") {
      const values = counterColumns(model.cache, track.id, scale);
      this.counters.set(track.id, values);
      fillCounter(this.bitmap, band.at, band.lines, values, paint);
      return;
    }
    const shown = form === "strip" || form === "summary" ? model.stripTrack(track) : track;
    if (shown.kind === "counter") {
      const values = counterColumns(model.cache, shown.id, scale);
      fillHeat(this.bitmap, band.at, values, model.stripHigh || values.high, paint);
      return;
    }
    const family = model.family(shown);
    const shades = model.shading.table(shown.rank);
    for (let line = 0; line < band.lines; line++) {
      const job = { track: shown.id, row: band.firstRow + line, family, at: band.at + line, kind: "slices" as const, shades };
      if (columns.to - columns.from === scale.width) this.bitmap.edged[job.at] = 0;
      fillRow(this.bitmap, job, model.cache, scale, paint, columns);
    }
  }
}
