// One side of a comparison: a dataset, a rank, a step.

export interface Side {
  ds: string;
  rank: number;
  /** null = all steps. */
  step: number | null;
}

/** "ds,rank,step", step "" for all; null if the text is none. */
export function parseSide(text: string | undefined): Side | null {
  const match = /^([0-9a-f]+),(\d+),(\d*)$/.exec(text ?? "");
  if (!match) return null;
  return { ds: match[1]!, rank: Number(match[2]), step: match[3] === "" ? null : Number(match[3]) };
}

export function formatSide({ ds, rank, step }: Side): string {
  return `${ds},${rank},${step ?? ""}`;
}

/** What one looks at first where several runs are open: the first one, and the one opened last as B, with the same rank. */
export function runsAsSides(runs: readonly { ds: string }[], rank: number): [Side, Side] | null {
  const [first, last] = [runs[0], runs.at(-1)];
  return first && last && first !== last ? [{ ds: first.ds, rank, step: null }, { ds: last.ds, rank, step: null }] : null;
}

/** What one looks at first of one run: the first two ranks, else the first two steps of the rank, else the run with itself. */
export function firstSides(ds: string, ranks: { rank: number; steps: { step: number }[] }[]): [Side, Side] {
  const [first, second] = ranks;
  const rank = first?.rank ?? 0;
  if (second)
    return [
      { ds, rank, step: null },
      { ds, rank: second.rank, step: null },
    ];
  const [one, other] = first?.steps ?? [];
  return [
    { ds, rank, step: one && other ? one.step : null },
    { ds, rank, step: one && other ? other.step : null },
  ];
}
