// The canvas of the lanes: grounds, slices, counters, names, and what is drawn over them.
import { formatShort } from "../format";
import { cssColor } from "../state/theme";
import { axisTicks } from "./axis";
import { type Band, laneTop, visibleBands } from "./bands";
import { hslPixel, isDark, parseColor, type Pixel, pixelToCss } from "./colors";
import { drawLabels } from "./labels";
import { lanesIn } from "./layout";
import type { TimelineModel } from "./model";
import { type Chip, drawOverlay, type OnFollow } from "./overlay";
import { PaintList } from "./paint_list";
import type { Paint } from "./raster";
import type { Frame } from "./screen";
import { SliceBitmap } from "./slice_bitmap";

export interface Colors {
  lane: string;
  line: string;
  ink: string;
  muted: string;
  accent: string;
  panel: string;
  ground: Pixel;
  dark: boolean;
}

export function readColors(): Colors {
  const ground = parseColor(cssColor("--lane"));
  return {
    lane: cssColor("--lane"),
    line: cssColor("--line"),
    ink: cssColor("--ink"),
    muted: cssColor("--muted"),
    accent: cssColor("--accent"),
    panel: cssColor("--panel"),
    ground,
    dark: isDark(ground),
  };
}

export class BaseLayer {
  readonly bitmap = new SliceBitmap();
  private g = new PaintList();
  private width = 0;

  /** A frame and what can be clicked on it. */
  draw(model: TimelineModel, colors: Colors, onFollow: OnFollow): { frame: Frame; chips: Chip[] } {
    const g = (this.g = new PaintList());
    const scale = model.scale();
    const bands = visibleBands(model);
    const paint: Paint = { ground: colors.ground, bar: hslPixel(212, 30, colors.dark ? 62 : 45), names: model.names };
    const filled = this.bitmap.update(model, bands, scale, paint);
    this.width = scale.width;
    const split = model.pinnedShown;
    this.region(
      model,
      colors,
      bands.filter((band) => !band.pinned),
      split,
      model.height,
    );
    if (split > 0)
      this.region(
        model,
        colors,
        bands.filter((band) => band.pinned),
        0,
        split,
      );
    g.setTransform(model.ratio, 0, 0, model.ratio, 0, 0);
    const chips = drawOverlay(g, model, colors, onFollow);
    const texels = filled > 0 ? this.bitmap.bitmap : null;
    return {
      frame: { width: this.width, height: Math.round(model.height * model.ratio), calls: g.calls, texels },
      chips,
    };
  }

  /** Draws the bands of one part of the canvas, from css y `top` to `bottom`. */
  private region(model: TimelineModel, colors: Colors, bands: Band[], top: number, bottom: number): void {
    const { g } = this;
    const { ratio } = model;
    g.save();
    g.beginPath();
    g.rect(0, top * ratio, this.width, (bottom - top) * ratio);
    g.clip();
    g.fillStyle = colors.lane;
    g.fillRect(0, top * ratio, this.width, (bottom - top) * ratio);
    this.grounds(model, colors, top > 0 || model.pinnedShown === 0);
    for (const band of bands) this.band(model, colors, band);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.grid(model, colors, top, bottom);
    drawLabels(g, model, bands, model.scale());
    this.counterTexts(colors, bands);
    if (model.pinnedShown > 0 && top > 0) {
      g.fillStyle = colors.accent;
      g.fillRect(0, top, model.width, 1);
    }
    g.restore();
  }

  /** Faint lines at the axis' moments, over the lanes and below the names. */
  private grid(model: TimelineModel, colors: Colors, top: number, bottom: number): void {
    const { g } = this;
    g.fillStyle = colors.line;
    g.globalAlpha = 0.28;
    for (const tick of axisTicks(model.view.t0, model.view.t1, model.width, 110).ticks)
      g.fillRect(Math.round(model.xOf(tick)), top, 1, bottom - top);
    g.globalAlpha = 1;
  }

  /** Header lanes are shaded; every lane ends with a line. */
  private grounds(model: TimelineModel, colors: Colors, scrolled: boolean): void {
    const { g } = this;
    const { ratio } = model;
    const lanes = scrolled
      ? lanesIn(model.layout.lanes, model.scrollY, model.scrollY + model.height)
      : model.layout.pinned;
    for (const lane of lanes) {
      const y = laneTop(model, lane);
      if (lane.form === "header" || lane.track.kind === "rank") {
        g.fillStyle = colors.panel;
        g.fillRect(0, y * ratio, this.width, lane.height * ratio);
      }
      if (lane.form === "strip") continue;
      g.fillStyle = colors.line;
      g.fillRect(0, Math.round((y + lane.height - 1) * ratio), this.width, 1);
    }
  }

  private band(model: TimelineModel, colors: Colors, band: Band): void {
    const { g } = this;
    const { ratio } = model;
    const width = this.width;
    const y = Math.round(band.y * ratio);
    const height = Math.round(band.lines * band.lineHeight * ratio);
    g.band("body", band.at, band.lines, width, y, height);
    if (band.lane.form === "counter" || band.lineHeight < 6) return;
    g.fillStyle = colors.lane;
    for (let line = 0; line < band.lines; line++) {
      const end = Math.round((band.y + (line + 1) * band.lineHeight) * ratio);
      if (this.bitmap.bitmap.edged[band.at + line] && band.lineHeight >= 10) {
        g.band("edge", band.at + line, 1, width, end - Math.round(3 * ratio), Math.round(2 * ratio));
      }
      g.fillRect(0, end - Math.max(1, Math.round(ratio)), width, Math.max(1, Math.round(ratio)));
    }
  }

  /** The largest value of each counter on screen, at the left edge. */
  private counterTexts(colors: Colors, bands: Band[]): void {
    const { g } = this;
    g.font = "10px system-ui, sans-serif";
    g.textBaseline = "top";
    for (const band of bands) {
      if (band.lane.form !== "counter") continue;
      const values = this.bitmap.counters.get(band.lane.track.id);
      if (!values || !Number.isFinite(values.high)) continue;
      const text = formatShort(values.high);
      g.fillStyle = pixelToCss(colors.ground);
      g.globalAlpha = 0.75;
      g.fillRect(2, band.y, g.measureText(text).width + 6, 13);
      g.globalAlpha = 1;
      g.fillStyle = colors.muted;
      g.fillText(text, 5, band.y + 1);
    }
  }
}
