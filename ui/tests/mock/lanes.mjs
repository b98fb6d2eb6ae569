// What the mock server says about lanes: statistics of the time on screen, merged lanes, arrows between ranks.

function busy(slices, t0, t1) {
  let end = t0;
  let sum = 0;
  for (const { begin, dur } of [...slices].sort((a, b) => a.begin - b.begin)) {
    const from = Math.max(begin, end);
    const to = Math.min(begin + dur, t1);
    if (to > from) sum += to - from;
    end = Math.max(end, to);
  }
  return sum;
}

export function lanes(dataset, { tracks, t0, t1 }) {
  return {
    rows: tracks.map((id) => {
      const inside = dataset
        .leaves(id)
        .flatMap((leaf) => leaf.slices)
        .filter((slice) => slice.begin < t1 && slice.begin + slice.dur > t0);
      return [id, inside.length, busy(inside, t0, t1)];
    }),
  };
}

/** The lane is added behind the others and is not listed; the same lanes give the same one. */
export function merge(dataset, { tracks }) {
  const parts = [...tracks].sort((a, b) => a - b).map((id) => dataset.tracks[id - 1]);
  if (parts.length < 2 || parts.some((part) => !part?.slices || part.parent !== parts[0].parent)) return null;
  const path = parts.map((part, at) => (at === 0 ? part.path : part.path.split("/").at(-1))).join("+");
  const known = dataset.tracks.find((track) => track.path === path);
  const made =
    known ?? dataset.add(parts[0].parent, "slices", parts.map((part) => part.name).join(" + "), path, parts[0].rank);
  if (!known) {
    made.merged = true;
    made.slices = parts
      .flatMap((part) => part.slices.map((slice) => ({ ...slice })))
      .map((slice, ord) => ({ ...slice, ord }));
    dataset.stack(made);
  }
  return {
    track: made.id,
    name: made.name,
    path,
    rank: made.rank,
    dev: made.rank,
    rows: made.rows,
    n: made.slices.length,
    flags: 0,
    tracks,
  };
}

/** Arrows between the k-th collectives of the first two ranks. */
export function collectives(dataset, ids) {
  const groups = dataset.tracks.filter((track) => track.path.endsWith("/comm/tp") && ids.has(track.id)).slice(0, 2);
  const [from, to] = groups;
  if (!from || !to) return [];
  return from.slices.slice(0, 20).flatMap((slice, k) => {
    const other = to.slices[k];
    return other ? [[from.id, slice.row, slice.begin, to.id, other.row, other.begin, 1, 1]] : [];
  });
}
