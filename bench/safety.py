#!/usr/bin/env python3
"""What two promises of docs/safety.md cost: that results are on the disk before they get their name (fsync), and that memory which runs out is an
exception (our operators new and delete in front of the allocator's).

    python3 bench/safety.py BUILD_DIR [--megabytes 40]

Each beside the same without it, in turn, in one run. Without fsync: the same program with a library in front that does nothing instead. The
operators: allocation_bench times a pair, and the same way of a library in front counts how many a command needs.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROUNDS = 7
NO_FSYNC = "int fsync(int fd) { (void)fd; return 0; } int fdatasync(int fd) { (void)fd; return 0; }\n"
COUNT = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static unsigned long calls;
void *malloc(size_t size) {
  static void *(*next)(size_t);
  if (!next) next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
  __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  return next(size);
}
__attribute__((destructor)) static void tell(void) {
  const char *path = getenv("COUNT_TO");
  FILE *out = path ? fopen(path, "w") : 0;
  if (out) { fprintf(out, "%lu", calls); fclose(out); }
}
"""


def library(folder, name, source):
    path = folder / f"{name}.so"
    (folder / f"{name}.c").write_text(source, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", folder / f"{name}.c", "-o", path, "-ldl"], check=True)
    return path


def run(words, **environment):
    """CPU and wall seconds of a command."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, **environment))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - begin


def make_capture(folder, megabytes):
    """The sample with a longer trace."""
    capture = folder / "rank0_ascend_pt"
    shutil.copytree(ROOT / "examples/sample/rank0_ascend_pt", capture)
    trace = capture / "ASCEND_PROFILER_OUTPUT/trace_view.json"
    events = json.loads(trace.read_text(encoding="utf-8"))
    copies = max(1, (megabytes << 20) // trace.stat().st_size)
    body = ",".join(json.dumps(event) for event in events if event.get("ph") == "X")
    with open(trace, "w", encoding="utf-8") as out:
        out.write("[" + ",".join(json.dumps(event) for event in events if event.get("ph") == "M"))
        for _ in range(copies):
            out.write("," + body)
        out.write("]")
    return capture


def measure_fsync(program, capture, folder):
    shim = library(folder, "no_fsync", NO_FSYNC)
    for form in ("text", "db"):
        best = {}
        for _ in range(ROUNDS):
            for name, environment in (("with", {}), ("without", {"LD_PRELOAD": str(shim)})):
                out = folder / "out"
                cpu, wall = run([program, "convert", capture, "--to", form, "-o", out, "--no-cache", "--threads", "1"], **environment)
                size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
                shutil.rmtree(out)
                old = best.get(name, (1e9, 1e9))
                best[name] = (min(old[0], cpu), min(old[1], wall))
        (cpu, wall), (cpu_without, wall_without) = best["with"], best["without"]
        print(f"convert --to {form}, {size / 1e6:.0f} MB written: CPU {cpu:.3f} s, without fsync {cpu_without:.3f} s (times {cpu / cpu_without:.3f}); "
              f"wall {wall:.3f} s, without {wall_without:.3f} s")


def measure_operators(program, bench, capture, folder):
    pair = json.loads(subprocess.run([bench], check=True, capture_output=True).stdout)
    shim, told = library(folder, "count", COUNT), folder / "calls"
    more_ns = pair["ours_ns"] - pair["own_ns"]
    print(f"new and delete: {pair['ours_ns']:.1f} ns a pair, the allocator's own {pair['own_ns']:.1f} ns")
    for words in (["info", capture], ["breakdown", capture], ["convert", capture, "--to", "text", "-o", folder / "out"]):
        words = [program, *words, "--no-cache", "--threads", "1"]
        cpu = min(run(words)[0] for _ in range(ROUNDS))
        run(words, LD_PRELOAD=str(shim), COUNT_TO=str(told))
        calls = int(told.read_text(encoding="utf-8"))
        print(f"{words[1]}: {calls:,} allocations in {cpu:.3f} s of CPU time: {calls * more_ns / 1e9 / cpu * 100:+.2f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--megabytes", type=int, default=40, help="size of the trace (default: 40)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench_safety_") as name:
        folder = pathlib.Path(name)
        capture = make_capture(folder, options.megabytes)
        program = options.build.resolve() / "steplens"
        measure_fsync(program, capture, folder)
        measure_operators(program, options.build.resolve() / "bench/allocation_bench", capture, folder)


if __name__ == "__main__":
    main()
