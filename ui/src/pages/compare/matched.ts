// Kernels of both sides as blocks: B under A, each side from its first kernel on, coloured by how much longer they take.
import type { Block, BlockArrow } from "../../charts/block_lanes";
import type { Cell } from "../../api_types";
import { formatDuration } from "../../format";
import { asNumber, asText } from "../parts";

type Row = Record<string, Cell>;

const kSame = "#8fa3b5";
const kOnly = "#d9a441";
/** As many arrows as help. */
const kArrows = 12;

/** Red for slower, green for faster, the fuller the more; amber for what only one side has. */
export function ratioColor(ratio: number | null): string {
  if (ratio === null) return kOnly;
  const strength = Math.min(1, Math.abs(Math.log2(Math.max(ratio, 1e-6))));
  if (strength < 0.03) return kSame;
  const [r, g, b] = ratio > 1 ? [200, 85, 61] : [47, 143, 91];
  const mix = (full: number, plain: number) => Math.round(plain + (full - plain) * (0.35 + 0.65 * strength));
  return `rgb(${mix(r!, 143)}, ${mix(g!, 163)}, ${mix(b!, 181)})`;
}

const isCommunication = (row: Row) => /^(HCCL|COMMUNICATION)$/i.test(asText(row["core"])) || /nccl/i.test(asText(row["name"]));
const known = (cell: Cell | undefined): number | null => (cell === null || cell === undefined ? null : asNumber(cell));

export interface Matched {
  /** Side of each block, by its place in `blocks`. */
  sides: (0 | 1)[];
  blocks: Block[];
  arrows: BlockArrow[];
}

/** Rows of the chart: computing of A and B, communication of A and B. */
export function matchedBlocks(rows: readonly Row[]): Matched {
  const out: Matched = { sides: [], blocks: [], arrows: [] };
  const pairs: { weight: number; arrow: BlockArrow }[] = [];
  for (const row of rows) {
    const ratio = known(row["ratio"]);
    const name = asText(row["name"]);
    const lane = isCommunication(row) ? 2 : 0;
    const ends = (["a", "b"] as const).map((side, at) => {
      const [begin, dur] = [known(row[`${side}_start_ns`]), known(row[`${side}_dur_ns`])];
      if (begin === null || dur === null) return null;
      const text = `${at === 0 ? "A" : "B"} ${name}: ${formatDuration(dur)}${ratio === null ? "" : `, B / A ${ratio.toFixed(3)}`}`;
      out.blocks.push({ row: lane + at, begin, end: begin + dur, label: name, text, color: ratioColor(ratio), top: 0.1, bottom: 0.9 });
      out.sides.push(at as 0 | 1);
      return { middle: begin + dur / 2, dur };
    });
    const [a, b] = ends;
    if (a && b)
      pairs.push({ weight: Math.abs(b.dur - a.dur), arrow: { fromRow: lane, from: a.middle, toRow: lane + 1, to: b.middle } });
  }
  pairs.sort((x, y) => y.weight - x.weight);
  out.arrows = pairs.slice(0, kArrows).filter((pair) => pair.weight > 0).map((pair) => pair.arrow);
  return out;
}
