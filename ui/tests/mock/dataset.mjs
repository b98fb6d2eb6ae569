// A made-up training job: `ranks` ranks, 3 steps; host threads with nesting, streams, one communication group, overlap lanes, a counter.

/** Small deterministic generator, so that every run has the same job. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

export class Dataset {
  constructor({ ranks = 2, kernels = 400, streams = 1 } = {}) {
    this.ds = "00c0ffee00c0ffee";
    this.strings = [""];
    this.ids = new Map([["", 0]]);
    this.tracks = [];
    this.flows = [];
    this.extent = [0, 0];
    this.steps = [];
    for (let rank = 0; rank < ranks; rank++) this.addRank(rank, kernels, streams);
    for (const track of this.tracks) if (track.slices) this.stack(track);
  }

  intern(name) {
    if (!this.ids.has(name)) {
      this.ids.set(name, this.strings.length);
      this.strings.push(name);
    }
    return this.ids.get(name);
  }

  add(parent, kind, name, path, rank) {
    const track = { id: this.tracks.length + 1, parent, kind, name, path, rank, rows: 0 };
    if (kind === "slices") track.slices = [];
    if (kind === "counter") track.points = [];
    this.tracks.push(track);
    return track;
  }

  put(track, name, begin, dur) {
    track.slices.push({
      name: this.intern(name),
      begin: Math.round(begin),
      dur: Math.round(dur),
      ord: track.slices.length,
      row: 0,
    });
    this.extent[1] = Math.max(this.extent[1], Math.round(begin + dur));
    return track.slices.length - 1;
  }

  addRank(rank, kernels, streams) {
    const next = random(rank + 7);
    const p = `r${rank}`;
    const root = this.add(0, "rank", String(rank), p, rank);
    const python = this.add(root.id, "group", "Python (30965)", `${p}/python`, rank);
    const main = this.add(python.id, "slices", "Thread 30965", `${p}/python/30965`, rank);
    const cann = this.add(root.id, "group", "CANN", `${p}/cann`, rank);
    const api = this.add(cann.id, "slices", "Thread 30965", `${p}/cann/30965`, rank);
    const hw = this.add(root.id, "group", "Ascend Hardware", `${p}/hw`, rank);
    const stream = this.add(hw.id, "slices", "Stream 2", `${p}/hw/stream2`, rank);
    const others = Array.from({ length: streams - 1 }, (_, k) =>
      this.add(hw.id, "slices", `Stream ${k + 3}`, `${p}/hw/stream${k + 3}`, rank),
    );
    const comm = this.add(root.id, "group", "Communication", `${p}/comm`, rank);
    const group = this.add(comm.id, "slices", "Group tp Communication", `${p}/comm/tp`, rank);
    const overlap = this.add(root.id, "group", "Overlap Analysis", `${p}/overlap`, rank);
    const computing = this.add(overlap.id, "slices", "Computing", `${p}/overlap/computing`, rank);
    const free = this.add(overlap.id, "slices", "Free", `${p}/overlap/free`, rank);
    const counters = this.add(root.id, "group", "NPU metrics", `${p}/npu`, rank);
    const hbm = this.add(counters.id, "counter", "HBM 0/Read", `${p}/npu/hbm0read`, rank);
    hbm.rows = 1;
    let t = 1000;
    for (let step = 0; step < 3; step++) {
      const stepBegin = t;
      const inner = [];
      for (let k = 0; k < kernels; k++) {
        const op = ["MatMulV2", "FlashAttentionScore", "Add", "LayerNorm", "Cast"][Math.floor(next() * 5)];
        const dur = 2000 + next() * 60000;
        const gap = next() < 0.1 ? 30000 * next() : 400;
        const host = t - 20000 * next();
        inner.push([`aten::${op.toLowerCase()}`, host, 9000]);
        const launch = this.put(api, "aclrtLaunchKernel", host + 3000, 2500);
        const task = this.put(stream, `${op}_${k}`, t, dur);
        this.flows.push({ cat: "HostToDevice", from: [api.id, launch], to: [stream.id, task] });
        others.forEach((other, at) => this.put(other, `Memcpy_${at}`, t + dur / 3, dur));
        this.put(computing, "Computing", t, dur);
        if (k % 40 === 20) this.put(group, `hcom_allReduce__${k}`, t + dur / 2, dur * 1.5);
        if (gap > 1000) this.put(free, "Free", t + dur, gap);
        hbm.points.push([Math.round(t), 300 + 600 * next()]);
        t += dur + gap;
      }
      this.put(main, `ProfilerStep#${step + 10}`, stepBegin, t - stepBegin - 10);
      this.put(main, "forward", stepBegin + 50, (t - stepBegin) * 0.4);
      this.put(main, "backward", stepBegin + (t - stepBegin) * 0.45, (t - stepBegin) * 0.5);
      for (const [name, begin, dur] of inner) this.put(main, name, Math.max(begin, stepBegin + 100), dur);
      if (rank === 0) this.steps.push({ step: step + 10, begin: Math.round(stepBegin), end: Math.round(t) });
    }
  }

  /** Rows by the greedy rule: sorted by begin, longer first, each slice takes the first free row. Ordinals follow that order. */
  stack(track) {
    const remap = new Array(track.slices.length);
    const sorted = [...track.slices].sort((a, b) => a.begin - b.begin || b.dur - a.dur);
    const ends = [];
    sorted.forEach((slice, index) => {
      remap[slice.ord] = index;
      slice.ord = index;
      let row = ends.findIndex((end) => end <= slice.begin);
      if (row < 0) row = ends.push(0) - 1;
      ends[row] = slice.begin + slice.dur;
      slice.row = row;
    });
    track.slices = sorted;
    track.rows = ends.length;
    for (const flow of this.flows) {
      if (flow.from[0] === track.id) flow.from[1] = remap[flow.from[1]];
      if (flow.to[0] === track.id) flow.to[1] = remap[flow.to[1]];
    }
  }

  leaves(id) {
    const track = this.tracks[id - 1];
    if (!track) return [];
    if (track.slices) return [track];
    return this.tracks.filter((each) => each.parent === id).flatMap((each) => this.leaves(each.id));
  }
}
