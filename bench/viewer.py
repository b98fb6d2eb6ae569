"""How fast the viewer's server answers on a generated job: start, tiles, search, range statistics, memory.

    python3 bench/viewer.py [--slices 10000000] [--ranks 64] [--trace-mb 500] [--program build/steplens] [--keep DIR] [--only job|traces|clicks]

Prints one line a measurement, the budget of docs/performance.md beside it. The job is made once in a scratch folder: every rank
is the same GPU-like trace (two host threads with nested operators, four streams) under its own number. Beside it one large trace
of one rank, as PyTorch writes it on a GPU and as torch_npu does on an NPU: how long until its first lanes can be drawn. Last,
one rank that has all the slices: how long a click on a kernel takes.
"""

import argparse
import http.client
import json
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time


def rank_events(count, seed):
    """Events of one rank as JSON text, about `count` slices."""
    rng = random.Random(seed)
    out = ['{"ph":"M","pid":1,"name":"process_name","args":{"name":"python"}}',
           '{"ph":"M","pid":1,"name":"process_labels","args":{"labels":"CPU"}}',
           '{"ph":"M","pid":0,"name":"process_labels","args":{"labels":"GPU 0"}}']
    names = [f"aten::op_{i}" for i in range(300)]
    kernels = [f"void kernel_{i}<float>(float const*, int)" for i in range(200)]
    ts = 1_700_000_000_000_000.0
    for i in range(count // 4):
        dur = rng.random() * 40 + 2
        name = rng.choice(names)
        tid = 1 + i % 2
        out.append(f'{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":{tid},"ts":{ts:.3f},"dur":{dur:.3f}}}')
        out.append(f'{{"ph":"X","cat":"cpu_op","name":"{rng.choice(names)}","pid":1,"tid":{tid},"ts":{ts + dur * .1:.3f},"dur":{dur * .5:.3f}}}')
        for k in range(2):
            out.append(f'{{"ph":"X","cat":"kernel","name":"{rng.choice(kernels)}","pid":0,"tid":{7 + i % 4},'
                       f'"ts":{ts + dur * (.2 + .4 * k):.3f},"dur":{dur * .35:.3f},"args":{{"stream":{7 + i % 4}}}}}')
        ts += dur * 0.55
    return ",\n".join(out)


def make_job(folder, slices, ranks):
    folder.mkdir(parents=True)
    text = rank_events(slices // ranks, 1)
    for rank in range(ranks):
        (folder / f"rank{rank}.json").write_text(
            f'{{"schemaVersion":1,"distributedInfo":{{"rank":{rank},"world_size":{ranks}}},"traceEvents":[{text}]}}')


def ascend_events(count, seed):
    """The same for one rank of torch_npu: operators with arguments, CANN calls, streams, arrows."""
    rng = random.Random(seed)
    out = [f'{{"ph":"M","pid":{pid},"tid":0,"name":"process_name","args":{{"name":"{name}"}}}}'
           for pid, name in ((1, "Python"), (2, "CANN"), (3, "Ascend Hardware"))]
    out += [f'{{"ph":"M","pid":3,"tid":{tid},"name":"thread_name","args":{{"name":"Stream {tid}"}}}}' for tid in (2, 3)]
    names = [f"aten::op_{i}" for i in range(300)]
    types = [f"MatMul{i}" for i in range(60)]
    ts = 1_700_000_000_000_000.0
    for i in range(count // 3):
        dur = rng.random() * 40 + 2
        stream = 2 + i % 2
        out.append(f'{{"ph":"X","cat":"cpu_op","name":"{rng.choice(names)}","pid":1,"tid":1,"ts":"{ts:.3f}","dur":{dur:.3f},'
                   f'"args":{{"Sequence number":{i},"Fwd thread id":0,"Input Dims":"8,1024;1024","Call stack":""}}}}')
        out.append(f'{{"ph":"X","name":"Node@launch","pid":2,"tid":1,"ts":"{ts + dur * .5:.3f}","dur":{dur * .2:.3f},'
                   f'"args":{{"Thread Id":1,"Mode":"launch","level":"node","id":"0","item_id":"{rng.choice(types)}","connection_id":{i}}}}}')
        out.append(f'{{"ph":"X","name":"{rng.choice(types)}","pid":3,"tid":{stream},"ts":"{ts + dur:.3f}","dur":{dur * .45:.3f},'
                   f'"args":{{"Model Id":4294967295,"Task Type":"AI_CORE","Physic Stream Id":{stream},"Task Id":{i},"Batch Id":0,"connection_id":{i}}}}}')
        ts += dur * 0.55
    return ",\n".join(out)


def repeated(part, times):
    """The part that many times, each with later times: the first ten digits are seconds."""
    for k in range(times):
        yield (",\n" if k else "") + part.replace("17000000", f"17{k:06d}")


def make_traces(folder, megabytes):
    """One large trace of each kind: {kind: folder}. A part is made and repeated with later times."""
    made = {"Kineto": folder / "kineto", "Ascend": folder / "ascend"}
    if all(path.exists() for path in made.values()):
        return made
    for kind, path in made.items():
        path.mkdir(parents=True, exist_ok=True)
        events = rank_events if kind == "Kineto" else ascend_events
        part = events(120_000, 3)
        repeats = max(1, round(megabytes * 1e6 / len(part)))
        where = path / "trace.json" if kind == "Kineto" else path / "rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
        where.parent.mkdir(parents=True, exist_ok=True)
        with where.open("w") as out:
            out.write('{"schemaVersion":1,"traceEvents":[' if kind == "Kineto" else "[")
            out.writelines(repeated(part, repeats))
            out.write("]}" if kind == "Kineto" else "]")
        if kind == "Ascend":
            (where.parent.parent / "profiler_info_0.json").write_text('{"rank_id":0,"config":{"common_config":{}}}')
    return made


def measure_traces(program, scratch, megabytes):
    for kind, folder in make_traces(scratch / "traces", megabytes).items():
        for state, budget in (("cold", "1.5 s"), ("cached", "0.5 s")):
            process, client, ds, first, ready = start(program, folder, scratch / f"cache_{kind}")
            tracks = [row for row in client.get(f"/ds/{ds}/tracks")["rows"] if row[2] == "slices"]
            report(f"{kind} trace of {megabytes} MB, {state}: first lanes", f"{first:.2f} s", budget)
            report(f"{kind} trace of {megabytes} MB, {state}: all of it", f"{ready:.2f} s", "-")
            assert tracks, "no lanes"
            # The cache is written after the rank is shown.
            process.send_signal(signal.SIGINT)
            process.wait()


def measure_clicks(program, scratch, slices):
    """Clicks on kernels of a trace with all slices in one rank: what the page asks when one is selected."""
    folder = scratch / "clicks"
    if not folder.exists():
        folder.mkdir(parents=True)
        with (folder / "trace.json").open("w") as out:
            out.write('{"schemaVersion":1,"traceEvents":[')
            out.writelines(repeated(rank_events(100_000, 3), max(1, slices // 100_000)))
            out.write("]}")
    process, client, ds, _, _ = start(program, folder, scratch / "cache_clicks")
    rng = random.Random(4)
    walls = []
    reasons = []
    for name in rng.sample(range(200), 50):
        hits = client.post(f"/ds/{ds}/search", {"q": f"kernel_{name}<", "limit": 20})["hits"]
        hit = rng.choice(hits)
        began = time.perf_counter()
        found = client.get(f"/ds/{ds}/slice?track={hit['track']}&i={hit['i']}")
        walls.append((time.perf_counter() - began) * 1000)
        assert found["kernel"]["name"] == found["name"]
        began = time.perf_counter()
        client.post(f"/ds/{ds}/explain", {"kind": "slice", "track": hit["track"], "i": hit["i"]})
        reasons.append((time.perf_counter() - began) * 1000)
    report(f"click on a kernel of {slices:,} slices: first / median / p95",
           f"{walls[0]:.0f} / {percentile(walls[1:], .5):.1f} / {percentile(walls[1:], .95):.1f} ms", "20 ms")
    report("its explanation: first / median / p95",
           f"{reasons[0]:.0f} / {percentile(reasons[1:], .5):.1f} / {percentile(reasons[1:], .95):.1f} ms", "20 ms")
    process.send_signal(signal.SIGINT)
    process.wait()


class Client:
    def __init__(self, port, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self.connection.request("GET", f"/?token={token}")
        answer = self.connection.getresponse()
        answer.read()
        self.headers = {"Cookie": answer.getheader("Set-Cookie").split(";")[0], "X-Steplens": "1", "Content-Type": "application/json"}

    def ask(self, method, path, body=None):
        self.connection.request(method, "/api/v1" + path, json.dumps(body) if body is not None else None, self.headers)
        answer = self.connection.getresponse()
        data = answer.read()
        assert answer.status == 200, (path, answer.status, data[:300])
        self.timing = answer.getheader("Server-Timing") or ""
        return data

    def get(self, path):
        return json.loads(self.ask("GET", path))

    def post(self, path, body):
        return json.loads(self.ask("POST", path, body))


def rss_mb(pid):
    """Resident memory, and what of it is the process' own (not pages of the mapped cache file)."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return [int(re.search(rf"{name}:\s+(\d+)", status).group(1)) / 1024 for name in ("VmRSS", "RssAnon")]


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def draw_lanes(client, ds, meta):
    """Asks for what the page draws first: the lanes with slices, over all of the time."""
    lanes = [row[0] for row in client.get(f"/ds/{ds}/tracks")["rows"] if row[2] == "slices"][:40]
    level = max(0, int(meta["extent"][1] / 1600).bit_length() - 1)
    tiles = [[lane, level, index] for lane in lanes for index in range((meta["extent"][1] >> (level + 10)) + 1)]
    client.ask("POST", "/tiles", {"ds": ds, "align": 0, "keys": tiles[:256]})


def start(program, folder, environment_cache):
    began = time.time()
    process = subprocess.Popen([program, "view", str(folder), "--no-browser"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, env={"STEPLENS_CACHE_DIR": str(environment_cache), "PATH": "/usr/bin"})
    port, token = re.match(r"http://127\.0\.0\.1:(\d+)/\?token=(\w+)", process.stdout.readline().decode()).groups()
    client = Client(int(port), token)
    ds = client.get("/info")["datasets"][0]["ds"]
    first = None
    while True:
        meta = client.get(f"/ds/{ds}")
        if meta["ranks"] and first is None:
            draw_lanes(client, ds, meta)
            first = time.time() - began
        if meta["ready"]:
            return process, client, ds, first, time.time() - began
        time.sleep(0.02)


def server_cpu_ms(timing):
    """CPU of the thread that answered, from the header Server-Timing."""
    return float(re.search(r"cpu;dur=([\d.]+)", timing).group(1))


def measure_tiles(client, ds, tracks, end, rounds=500):
    """Batches of 64 tiles as panning and zooming ask for them: the server's CPU for each."""
    rng = random.Random(2)
    ids = [row[0] for row in tracks if row[2] in ("slices", "rank", "group")]
    cpus = []
    for _ in range(rounds):
        width = end * 2 ** -rng.uniform(0, 14)
        level = max(0, int(width / 1600).bit_length() - 1)
        left = int(rng.random() * (end - width))
        lanes = rng.sample(ids, min(32, len(ids)))
        index = left >> (level + 10)
        keys = [[lane, level, index + i] for lane in lanes for i in range(2)]
        data = client.ask("POST", "/tiles", {"ds": ds, "align": 0, "keys": keys})
        cpus.append(server_cpu_ms(client.timing))
        assert struct.unpack_from("<I", data)[0] <= len(data)
    return percentile(cpus, .5), percentile(cpus, .95), max(cpus)


def best_cpu(process, action, times=7):
    """Least CPU of the whole server for one request, ms: all of its threads."""
    def spent():
        tasks = pathlib.Path(f"/proc/{process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6
    values = []
    for _ in range(times):
        before = spent()
        action()
        values.append(spent() - before)
    return min(values)


def best(action, times=5):
    walls = []
    for _ in range(times):
        began = time.perf_counter()
        action()
        walls.append((time.perf_counter() - began) * 1000)
    return min(walls)


def report(name, value, budget):
    print(f"{name:48} {value:>12}   budget {budget}", flush=True)


def measure_job(arguments, scratch):
    if not (scratch / "job").exists():
        make_job(scratch / "job", arguments.slices, arguments.ranks)
    for state in ("cold", "cached"):
        process, client, ds, first, ready = start(arguments.program, scratch / "job", scratch / "cache")
        report(f"{state}: first rank can be seen", f"{first:.2f} s", "1.5 s on a 500 MB trace; 0.5 s cached")
        report(f"{state}: all ranks can be seen", f"{ready:.2f} s", "-")
        if state == "cold":
            process.send_signal(signal.SIGINT)
            process.wait()
    tracks = client.get(f"/ds/{ds}/tracks")["rows"]
    meta = client.get(f"/ds/{ds}")
    end = meta["extent"][1]
    slices = sum(rank["counts"]["slices"] for rank in meta["ranks"])
    report("slices", f"{slices:,}", "-")
    median, p95, most = measure_tiles(client, ds, tracks, end)
    report("64 tiles, server CPU: median / p95 / most", f"{median:.1f} / {p95:.1f} / {most:.1f} ms", "p95 10 ms")
    lane_ids = [row[0] for row in tracks if row[2] == "rank"]
    report("search, all slices", f"{best(lambda: client.post(f'/ds/{ds}/search', {'q': 'kernel_17', 'limit': 200})):.0f} ms", "200 ms")
    wanted = lane_ids[:max(1, round(1_000_000 / slices * len(lane_ids)))]
    range_body = {"tracks": wanted, "t0": 0, "t1": end}
    count = client.post(f"/ds/{ds}/range", range_body)["total"]["count"]
    ask_range = lambda: client.post(f"/ds/{ds}/range", range_body)
    report(f"range statistics, {count:,} slices: wall / CPU",
           f"{best(ask_range):.0f} / {best_cpu(process, ask_range):.0f} ms", "60 ms for 1 M")
    visible = [row[0] for row in tracks][:40]
    busy = lambda: client.post(f"/ds/{ds}/lanes", {"tracks": visible, "t0": end // 7, "t1": end // 2})
    report("how busy 40 lanes are", f"{best(busy):.1f} ms", "-")
    store = sum(path.stat().st_size for path in (scratch / "cache").rglob("*") if path.is_file()) / 2**20
    rss, own = rss_mb(process.pid)
    report("store / resident / own memory", f"{store:.0f} / {rss:.0f} / {own:.0f} MB", f"{1.3 * store:.0f} MB (1.3 x store)")
    process.send_signal(signal.SIGINT)
    process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--slices", type=int, default=10_000_000)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--trace-mb", type=int, default=500)
    parser.add_argument("--only", choices=("job", "traces", "clicks"), help="measure only these")
    parser.add_argument("--program", default="build/steplens")
    parser.add_argument("--keep", help="folder for the job; reused if it is there")
    arguments = parser.parse_args()
    scratch = pathlib.Path(arguments.keep or tempfile.mkdtemp(prefix="steplens_viewer_"))
    try:
        if arguments.only in (None, "traces"):
            measure_traces(arguments.program, scratch, arguments.trace_mb)
        if arguments.only in (None, "job"):
            measure_job(arguments, scratch)
        if arguments.only in (None, "clicks"):
            measure_clicks(arguments.program, scratch, arguments.slices)
    finally:
        if not arguments.keep:
            shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
