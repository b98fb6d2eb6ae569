#!/usr/bin/env python3
"""CPU time and memory of the step graph and of the advisor, above opening the capture.

    bench/advice.py PROGRAM [--layers 1900] [--large 6500] [--ranks 1024]

The real sample of two ranks, if it is on this machine; a simulated GPU trace of 40 steps (about 90 MB, a step graph of about a million
nodes) and one of about 300 MB; and a job of many ranks without timelines.
"""

import argparse
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "integration"))

import step_simulator  # noqa: E402


SHARED = pathlib.Path(os.environ.get("STEPLENS_SHARED", ROOT.parent / "shared"))
SAMPLE = SHARED / "data" / "ascend_pt" / "text" / "level1"


def wall_s(*words):
    """Seconds by the clock, the best of five."""
    def once():
        begin = time.perf_counter()
        subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.perf_counter() - begin

    return min(once() for _ in range(5))


def measured(*words):
    """CPU seconds, the largest memory in MB, and the output."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([str(word) for word in words], stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        if status != 0:
            raise SystemExit(f"{' '.join(map(str, words))}: ended with {status}")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read()


def best(*words):
    return min((measured(*words) for _ in range(3)), key=lambda run: run[0])


def show(what, value, limit):
    print(f"{what:66} {value:8.2f}   {limit}", flush=True)


def show_sample(program):
    if not SAMPLE.is_dir():
        print(f"the real sample is not on this machine ({SAMPLE})")
        return
    for what, path, limit in (("one rank", SAMPLE / "rank0_ascend_pt", "0.10"), ("two ranks", SAMPLE, "0.15")):
        show(f"real sample, {what}, seconds", wall_s(program, "advisor", "all", "-d", path, "--json", "--no-cache"), limit)


def replicate(rank, out, times):
    """The one step of a rank's capture `times` times, one after the other."""
    results = out / "ASCEND_PROFILER_OUTPUT"
    results.mkdir(parents=True)
    for name in ("profiler_info_0.json", "profiler_metadata.json"):
        shutil.copy(rank / name, out)
    source = rank / "ASCEND_PROFILER_OUTPUT"
    events = json.loads((source / "trace_view.json").read_text())
    starts_us = [int(float(event["ts"])) for event in events if "ts" in event]
    span_us = max(starts_us) - min(starts_us) + 10_000
    copies = []
    for i in range(times):
        for event in events:
            if "ts" not in event:
                if i == 0:
                    copies.append(event)
                continue
            whole, _, rest = str(event["ts"]).partition(".")
            event = dict(event, ts=f"{int(whole) + i * span_us}.{rest or 0}")
            if "id" in event:
                event["id"] = event["id"] + i * 10_000_000 if isinstance(event["id"], int) else f"{event['id']}-{i}"
            connection = event.get("args", {}).get("connection_id")
            if isinstance(connection, int):
                event["args"] = dict(event["args"], connection_id=connection + i * 10_000_000)
            if event["name"].startswith("ProfilerStep#"):
                event["name"] = f"ProfilerStep#{int(event['name'][13:]) + i}"
            copies.append(event)
    (results / "trace_view.json").write_text(json.dumps(copies))
    with open(source / "kernel_details.csv", newline="") as file:
        head, *rows = list(csv.reader(file))
    step, start = head.index("Step Id"), head.index("Start Time(us)")
    with open(results / "kernel_details.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        for i in range(times):
            for row in rows:
                row = list(row)
                whole, _, rest = row[start].strip().partition(".")
                row[step], row[start] = str(int(row[step]) + i), f"{int(whole) + i * span_us}.{rest or 0}\t"
                writer.writerow(row)
    calls = {}
    for name, kinds in json.loads((source / "communication.json").read_text()).items():
        for i in range(times):
            copy = json.loads(json.dumps(kinds))
            for ops in copy.values():
                for op in ops.values():
                    if "Start Timestamp(us)" in op.get("Communication Time Info", {}):
                        op["Communication Time Info"]["Start Timestamp(us)"] += i * span_us
            calls[f"step{int(name[4:]) + i}"] = copy
    (results / "communication.json").write_text(json.dumps(calls))


def show_replicated(program, scratch):
    if not SAMPLE.is_dir():
        return
    rank = pathlib.Path(scratch) / "rank0_ascend_pt"
    replicate(SAMPLE / "rank0_ascend_pt", rank, 40)
    size_mb = sum(path.stat().st_size for path in rank.rglob("*") if path.is_file()) / 1e6
    opened, _, _ = best(program, "info", rank, "--no-cache")
    advised, memory, _ = best(program, "advisor", "all", "-d", rank, "--json", "--no-cache")
    show(f"real sample 40 times ({size_mb:.0f} MB), opening, CPU s", opened, "")
    show("real sample 40 times, advisor with opening, CPU s", advised, "1.00")
    show("real sample 40 times, advisor, memory in times of the trace", memory / size_mb, "2.00")


def show_large(program, layers, scratch):
    trace = pathlib.Path(scratch) / "large"
    step_simulator.write(step_simulator.Settings(steps=40, layers=layers), trace)
    size_mb = sum(path.stat().st_size for path in trace.iterdir()) / 1e6
    opened, _, _ = best(program, "info", trace, "--no-cache")
    advised, memory, _ = best(program, "advisor", "all", "-d", trace, "--json", "--no-cache")
    show(f"{size_mb:.0f} MB: advisor, CPU s above opening", advised - opened, "1.00")
    show(f"{size_mb:.0f} MB: advisor, memory in times of the trace", memory / size_mb, "2.00")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--layers", type=int, default=1900)
    parser.add_argument("--large", type=int, default=6500, help="layers of the large trace; 0: none")
    parser.add_argument("--ranks", type=int, default=1024)
    arguments = parser.parse_args()
    show_sample(arguments.program)
    with tempfile.TemporaryDirectory() as scratch:
        show_replicated(arguments.program, scratch)
        trace = pathlib.Path(scratch) / "trace"
        step_simulator.write(step_simulator.Settings(steps=40, layers=arguments.layers), trace)
        size_mb = sum(path.stat().st_size for path in trace.iterdir()) / 1e6
        opened, _, _ = best(arguments.program, "info", trace, "--no-cache")
        replayed, _, out = best(arguments.program, "whatif", trace, "--host", "2x", "--json", "--no-cache")
        nodes = sum(rank["Nodes"] for rank in json.loads(out)["replay"])
        advised, memory, _ = best(arguments.program, "advisor", "all", "-d", trace, "--json", "--no-cache")
        show(f"trace (MB), {nodes} nodes", size_mb, "")
        show("step graph built and replayed, CPU s above opening", replayed - opened, f"{nodes / 1e6:.2f} (1 s a million nodes)")
        show("advisor, CPU s above opening", advised - opened, "1.00")
        show("advisor, memory in times of the trace", memory / size_mb, "2.00")
        if arguments.large:
            show_large(arguments.program, arguments.large, scratch)
        if arguments.ranks:
            job = pathlib.Path(scratch) / "job"
            subprocess.run([sys.executable, "-B", ROOT / "tools" / "synth_cluster.py", "--ranks", str(arguments.ranks), "--tp", "8", "--steps", "2",
                            "--level", "1", "--format", "text", "--no-timeline", job], check=True, capture_output=True)
            show(f"advisor on {arguments.ranks} ranks, CPU s", measured(arguments.program, "advisor", "all", "-d", job, "--json", "--no-cache")[0], "10.00")


if __name__ == "__main__":
    main()
