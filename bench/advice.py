#!/usr/bin/env python3
"""CPU time and memory of the step graph and of the advisor, above opening the capture.

    bench/advice.py PROGRAM [--layers 1900] [--ranks 1024]

One simulated GPU trace of 40 steps (about 90 MB, a step graph of about a million nodes), and a job of many ranks without timelines.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "integration"))

import step_simulator  # noqa: E402


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--layers", type=int, default=1900)
    parser.add_argument("--ranks", type=int, default=1024)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
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
        if arguments.ranks:
            job = pathlib.Path(scratch) / "job"
            subprocess.run([sys.executable, "-B", ROOT / "tools" / "synth_cluster.py", "--ranks", str(arguments.ranks), "--tp", "8", "--steps", "2",
                            "--level", "1", "--format", "text", "--no-timeline", job], check=True, capture_output=True)
            show(f"advisor on {arguments.ranks} ranks, CPU s", measured(arguments.program, "advisor", "all", "-d", job, "--json", "--no-cache")[0], "10.00")


if __name__ == "__main__":
    main()
