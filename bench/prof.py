"""What raw device data cost (PROF_*, made by ../shared/tools/gen_prof.py): to open, and to make all results of.

    python3 bench/prof.py PROGRAM [--large]

259,000 tasks (0.38 GB raw) are measured, with --large 1.04 million (1.5 GB): at most 3 CPU seconds to open, 10 for all results, 1.0 GB of memory,
and a quarter of the seconds for the smaller one. One core and two are compared, and a tiny capture is timed; so are the second open, from the cache,
and many small ranks.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from analyse import cost_of

GENERATOR = pathlib.Path(os.environ.get("STEPLENS_SHARED", pathlib.Path(__file__).resolve().parents[2] / "shared")) / "tools" / "gen_prof.py"
SIZES = {"tiny": (1, 12, 1), "middle": (10, 20000, 4), "large": (20, 40000, 1), "rank": (2, 500, 1)}  # steps, operators a step, part of the budget


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


def measure_again(program, scratch):
    """The second open takes the store from the cache."""
    prof = make(scratch / "again", "middle")
    os.environ["STEPLENS_CACHE_DIR"] = str(scratch / "again_cache")
    command = [program, "query", prof, "select count(*) from kernels"]
    first, _ = cost_of(command)
    second, _ = cost_of(command)
    yield f"middle: first open {first:.2f} CPU s with writing the cache, second {second:.2f}"


def measure_ranks(program, scratch):
    """Ranks of 2 MB: what one costs does not depend on how many there are."""
    one = make(scratch / "rank", "rank")
    size = sum(path.stat().st_size for path in one.rglob("*") if path.is_file())
    costs = []
    for count in (32, 256):
        folder = scratch / f"ranks_{count}"
        for rank in range(count):
            copy = folder / f"PROF_{rank + 1:06d}_20240517080000123_{rank:08d}ABCDEFGH"
            shutil.copytree(one, copy)
            for path in copy.glob("device_*/info.json.*"):
                if not path.name.endswith(".done"):
                    path.write_text(json.dumps(dict(json.loads(path.read_text()), rank_id=rank)))
        seconds, memory = cost_of([program, "query", folder, "select count(*) from kernels", "--no-cache"])
        costs.append(seconds / count)
        yield f"{count} ranks of {size / 1e6:.1f} MB: open {seconds:.2f} CPU s, {1000 * seconds / count:.1f} ms a rank, memory {memory / 1e6:.0f} MB"
        shutil.rmtree(folder)
    yield f"a rank among 256 costs {costs[1] / costs[0]:.2f} times one among 32"


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
        for measured in (measure_again, measure_ranks):
            for line in measured(program, scratch):
                print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
