"""What raw device data cost (PROF_*, made by ../shared/tools/gen_prof.py): to open, and to make all results of.

    python3 bench/prof.py PROGRAM [--large]

259,000 tasks (0.38 GB raw) are measured, with --large 1.04 million (1.5 GB): at most 3 CPU seconds to open, 10 for all results, 1.0 GB of memory,
and a quarter of the seconds for the smaller one. One core and two are compared, and a tiny capture is timed.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from analyse import cost_of

GENERATOR = pathlib.Path(os.environ.get("STEPLENS_SHARED", pathlib.Path(__file__).resolve().parents[2] / "shared")) / "tools" / "gen_prof.py"
SIZES = {"tiny": (1, 12, 1), "middle": (10, 20000, 4), "large": (20, 40000, 1)}  # steps, operators a step, part of the budget


def make(folder, size):
    steps, operators, _ = SIZES[size]
    subprocess.run([sys.executable, GENERATOR, folder, "--steps", str(steps), "--ops", str(operators)], check=True, capture_output=True)
    return next(folder.glob("PROF_*"))


def without_results(prof):
    for name in ("mindstudio_profiler_output", "analyze"):
        shutil.rmtree(prof / name, ignore_errors=True)
    for path in prof.glob("msprof_*.db"):
        path.unlink()


def wall(command):
    begin = time.perf_counter()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def measure(program, scratch, size):
    prof = make(scratch / size, size)
    part = SIZES[size][2]
    os.environ["STEPLENS_CACHE_DIR"] = str(scratch / "cache")
    seconds, memory = cost_of([program, "query", prof, "select count(*) from kernels", "--threads", "1", "--no-cache"])
    yield f"{size}: open {seconds:.2f} CPU s (target at most {3 / part:.2f}), memory {memory / 1e6:.0f} MB (1000)"
    walls = []
    for jobs in (1, 2):
        without_results(prof)
        seconds, memory = cost_of([program, "analyse", prof, "--jobs", str(jobs)])
        yield f"{size}: all results, {jobs} jobs: {seconds:.2f} CPU s (target at most {10 / part:.2f}), memory {memory / 1e6:.0f} MB (1000)"
        without_results(prof)
        walls.append(wall([program, "analyse", prof, "--jobs", str(jobs)]))
    yield f"{size}: two cores {walls[0] / walls[1]:.2f} times one"
    without_results(prof)


def main(words):
    program = words[0]
    with tempfile.TemporaryDirectory(prefix="steplens_bench_") as scratch:
        scratch = pathlib.Path(scratch)
        tiny = make(scratch / "tiny", "tiny")
        print(f"tiny: info in {min(wall([program, 'info', tiny]) for _ in range(5)) * 1000:.0f} ms (target at most 50)")
        for size in ("middle", "large") if "--large" in words else ("middle",):
            for line in measure(program, scratch, size):
                print(line, flush=True)
            shutil.rmtree(scratch / size)


if __name__ == "__main__":
    main(sys.argv[1:])
