// JSON answers of the mock server, by brute force.
import { collectives } from "./lanes.mjs";

const percentile = (sorted, p) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? 0;

function label(dataset, track) {
  const names = [];
  for (let at = track; at; at = dataset.tracks[at.parent - 1])
    names.unshift(at.kind === "rank" ? `rank ${at.name}` : at.name);
  return names.join(" / ");
}

function ref(dataset, track, slice) {
  return {
    track: track.id,
    i: slice.ord,
    name: dataset.strings[slice.name],
    begin: slice.begin,
    dur: slice.dur,
    row: slice.row,
    lane: label(dataset, track),
  };
}

function selfTime(track, slice) {
  const end = slice.begin + slice.dur;
  const inner = track.slices.filter(
    (each) => each.row === slice.row + 1 && each.begin >= slice.begin && each.begin + each.dur <= end,
  );
  return Math.max(0, slice.dur - inner.reduce((sum, each) => sum + each.dur, 0));
}

export function meta(dataset) {
  const view = { available: true, missing: [] };
  const none = { available: false, missing: [{ what: "memory records", flag: "profile_memory=True" }] };
  const ranks = dataset.tracks
    .filter((track) => track.kind === "rank")
    .map((track) => ({
      rank: track.rank,
      alias: "",
      source: "mock",
      format: "generated",
      level: "level1",
      host: "node0",
      device: track.rank,
      path: `/mock/rank${track.rank}`,
      ready: true,
      offset_ns: 0,
      steps: dataset.steps,
      counts: { slices: dataset.leaves(track.id).reduce((n, leaf) => n + leaf.slices.length, 0) },
      files: [],
      issues: [],
    }));
  return {
    ds: dataset.ds,
    name: "mock job",
    path: "/mock",
    origin_ns: "1736412083704643212",
    extent: dataset.extent,
    ready: true,
    ranks,
    ignored: [],
    views: { timeline: view, operator: view, memory: none, communication: view, cluster: view, overview: view },
  };
}

export function tracks(dataset) {
  const count = (track) =>
    track.slices
      ? track.slices.length
      : track.points
        ? track.points.length
        : dataset.leaves(track.id).reduce((n, leaf) => n + leaf.slices.length, 0);
  return {
    cols: ["id", "parent", "kind", "name", "path", "rank", "dev", "rows", "n", "flags"],
    rows: dataset.tracks
      .filter((t) => !t.merged)
      .map((t) => [t.id, t.parent, t.kind, t.name, t.path, t.rank, t.rank, t.rows, count(t), ""]),
  };
}

export function slice(dataset, id, i) {
  const track = dataset.tracks[id - 1];
  const found = track?.slices?.[i];
  if (!found) return null;
  const same = track.slices
    .filter((each) => each.name === found.name)
    .map((each) => each.dur)
    .sort((a, b) => a - b);
  const ends = (list, side) =>
    list.map((flow) => ({
      kind: flow.cat,
      ...ref(dataset, dataset.tracks[flow[side][0] - 1], dataset.tracks[flow[side][0] - 1].slices[flow[side][1]]),
    }));
  const p50 = percentile(same, 0.5);
  return {
    ...ref(dataset, track, found),
    category: track.kind,
    self: selfTime(track, found),
    rank: track.rank,
    path: track.path,
    wall: "2025-01-09 07:41:23.704643212",
    step: dataset.steps.find((step) => found.begin >= step.begin && found.begin < step.end)?.step ?? null,
    same_name: {
      count: same.length,
      p50,
      p90: percentile(same, 0.9),
      p99: percentile(same, 0.99),
      rank_of_duration: same.indexOf(found.dur) + 1,
      ratio_to_median: p50 > 0 ? found.dur / p50 : 1,
    },
    args: { "Task Type": "AI_CORE", "Stream Id": 2, nested: { a: 1, b: "<b>no markup</b>" } },
    kernel: track.path.includes("/hw/") ? { "Input Shapes": "[[16,1024],[1024,4096]]", "Block Dim": 24 } : null,
    stack: ["train.py(20): main", "model.py(71): forward"],
    parents: [],
    children: [],
    flows_in: ends(
      dataset.flows.filter((flow) => flow.to[0] === id && flow.to[1] === i),
      "from",
    ),
    flows_out: ends(
      dataset.flows.filter((flow) => flow.from[0] === id && flow.from[1] === i),
      "to",
    ),
  };
}

export function range(dataset, { tracks: ids, t0, t1, clip }) {
  const names = new Map();
  let count = 0;
  for (const id of ids) {
    for (const each of dataset.tracks[id - 1]?.slices ?? []) {
      const end = each.begin + each.dur;
      if (each.begin > t1 || end < t0) continue;
      const dur = clip ? Math.max(0, Math.min(end, t1) - Math.max(each.begin, t0)) : each.dur;
      const list = names.get(each.name) ?? { durs: [], self: 0 };
      list.durs.push(dur);
      list.self += selfTime(dataset.tracks[id - 1], each);
      names.set(each.name, list);
      count++;
    }
  }
  const sum = [...names.values()].reduce((total, list) => total + list.durs.reduce((a, b) => a + b, 0), 0);
  const rows = [...names].map(([name, list]) => {
    const durs = list.durs.sort((a, b) => a - b);
    const wall = durs.reduce((a, b) => a + b, 0);
    return [
      dataset.strings[name],
      durs.length,
      wall,
      list.self,
      Math.floor(wall / durs.length),
      durs[0],
      durs.at(-1),
      percentile(durs, 0.5),
      percentile(durs, 0.9),
      percentile(durs, 0.99),
      sum ? wall / sum : 0,
    ];
  });
  rows.sort((a, b) => b[2] - a[2] || (a[0] < b[0] ? -1 : 1));
  return {
    columns: ["name", "count", "wall", "self", "avg", "min", "max", "p50", "p90", "p99", "share"],
    rows,
    total: {
      sum,
      covered: Math.min(sum, t1 - t0),
      range: t1 - t0,
      count,
      computing: 0,
      communication: 0,
      not_overlapped: 0,
      free: 0,
    },
    definition: "insight.slice_list",
    elapsed_us: 100,
  };
}

export function search(dataset, { q, limit = 200, tracks: ids }) {
  const wanted = q.toLowerCase();
  const hits = [];
  const per = new Map();
  for (const track of dataset.tracks) {
    if (!track.slices || (ids && !ids.includes(track.id))) continue;
    for (const each of track.slices) {
      if (!dataset.strings[each.name].toLowerCase().includes(wanted)) continue;
      hits.push(ref(dataset, track, each));
      per.set(track.id, (per.get(track.id) ?? 0) + 1);
    }
  }
  hits.sort((a, b) => a.begin - b.begin || a.track - b.track || a.i - b.i);
  return { count: hits.length, per_track: [...per], hits: hits.slice(0, limit), cursor: null };
}

export function at(dataset, id, row, t, w) {
  const track = dataset.tracks[id - 1];
  const found = (track?.slices ?? []).filter(
    (each) => each.row === row && each.begin <= t + w && each.begin + each.dur >= t - w,
  );
  return { slices: found.slice(0, 20).map((each) => ref(dataset, track, each)), count: found.length };
}

export function next(dataset, { track: id, i, dir, same }) {
  const track = dataset.tracks[id - 1];
  const from = track?.slices?.[i];
  if (!from) return null;
  for (let at = i + dir; at >= 0 && at < track.slices.length; at += dir) {
    const each = track.slices[at];
    if (same === "track" || (same === "row" && each.row === from.row) || (same === "name" && each.name === from.name))
      return ref(dataset, track, each);
  }
  return null;
}

export function hist(dataset, { name, bins }) {
  const id = typeof name === "number" ? name : dataset.ids.get(name);
  const durs = dataset.tracks
    .flatMap((track) => track.slices ?? [])
    .filter((each) => each.name === id)
    .map((each) => each.dur)
    .sort((a, b) => a - b);
  const low = durs[0] ?? 0;
  const width = Math.max(1, ((durs.at(-1) ?? 1) - low) / bins);
  const out = Array.from({ length: bins }, (_, k) => ({ from: low + k * width, to: low + (k + 1) * width, count: 0 }));
  for (const dur of durs) out[Math.min(bins - 1, Math.floor((dur - low) / width))].count++;
  return {
    bins: out,
    p50: percentile(durs, 0.5),
    p90: percentile(durs, 0.9),
    p99: percentile(durs, 0.99),
    count: durs.length,
  };
}

export function flows(dataset, { tracks: ids, t0, t1, cats }) {
  const wanted = new Set(ids);
  const rows = [];
  for (const flow of dataset.flows) {
    const a = dataset.tracks[flow.from[0] - 1].slices[flow.from[1]];
    const b = dataset.tracks[flow.to[0] - 1].slices[flow.to[1]];
    if (
      !wanted.has(flow.from[0]) ||
      !wanted.has(flow.to[0]) ||
      Math.max(a.begin, b.begin) < t0 ||
      Math.min(a.begin, b.begin) > t1
    )
      continue;
    rows.push([flow.from[0], a.row, a.begin, flow.to[0], b.row, b.begin, 1, 0]);
  }
  const between = collectives(dataset, wanted);
  return {
    cats: [
      { name: "HostToDevice", count: dataset.flows.length },
      { name: "collective", count: between.length, off: true },
    ],
    flows: [...(cats?.includes("HostToDevice") ? rows : []), ...(cats?.includes("collective") ? between : [])],
    bundled: false,
  };
}

/** The `events` table. */
export function events(dataset, { args, offset = 0, limit = 200 }) {
  const rows = (args.tracks ?? []).flatMap((id) =>
    (dataset.tracks[id - 1]?.slices ?? []).map((each) => [
      dataset.strings[each.name],
      each.begin / 1000,
      each.dur / 1000,
      id,
      each.ord,
    ]),
  );
  const columns = [
    ["Name", "text"],
    ["Start Time(us)", "time_us"],
    ["Duration(us)", "time_us"],
    ["track", "int"],
    ["i", "int"],
  ].map(([name, type]) => ({ name, type, decimals: 3 }));
  return { columns, rows: rows.slice(offset, offset + limit), total: rows.length, filtered: rows.length };
}

const time = (name) => ({ name, type: "time_us", decimals: 3 });

/** Nesting of the slices of some lanes, merged by name. */
function flame(dataset, { tracks: ids, t0, t1 }) {
  const nodes = [{ id: 1, parent: 0, name: "all", total: 0, self: 0, count: 0, below: new Map() }];
  for (const id of ids) {
    const open = [];
    for (const each of dataset.tracks[id - 1]?.slices ?? []) {
      if (each.begin > t1 || each.begin + each.dur < t0) continue;
      while (open.length > 0 && open.at(-1).end < each.begin + each.dur) open.pop();
      const parent = open.at(-1)?.node ?? nodes[0];
      let node = parent.below.get(each.name);
      if (!node) {
        node = {
          id: nodes.length + 1,
          parent: parent.id,
          name: dataset.strings[each.name],
          total: 0,
          self: 0,
          count: 0,
          below: new Map(),
        };
        parent.below.set(each.name, node);
        nodes.push(node);
      }
      node.total += each.dur;
      node.count++;
      if (parent === nodes[0]) parent.total += each.dur;
      open.push({ end: each.begin + each.dur, node });
    }
  }
  const columns = ["id", "parent", "name", "total_ns", "self_ns", "count"].map((name) => ({
    name,
    type: name === "name" ? "text" : "int",
  }));
  return {
    nodes: { columns, rows: nodes.map((node) => [node.id, node.parent, node.name, node.total, node.self, node.count]) },
  };
}

export function metric(dataset, { name, args }) {
  const tables =
    name === "flame"
      ? flame(dataset, args)
      : name === "overall"
        ? {
            overall: {
              columns: [
                { name: "path", type: "text" },
                time("total_us"),
                { name: "ratio", type: "double", decimals: 2 },
              ],
              rows: [
                ["Computing Time", 36000.5, 90.1],
                ["Free Time", 3900.25, 9.9],
              ],
            },
          }
        : null;
  return tables && { tables, definition: `insight.${name}`, query: "", warnings: [] };
}
