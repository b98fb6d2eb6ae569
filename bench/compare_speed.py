"""How long `steplens compare` takes beyond opening both sides, in CPU seconds, and how much memory: the lines of the compare issue.

    python3 bench/compare_speed.py BUILD [INPUTS]     measures these alone and prints them

The inputs are made once with the generators of the shared tools and tools/synth_cluster.py: a real rank repeated to 300 MB of text for each side, two real GPU
traces of 34 MB, the real pair of ranks as it is, two jobs of 1,024 ranks of light captures.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import cluster

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = pathlib.Path(os.environ.get("STEPLENS_SHARED", ROOT.parent / "shared"))
LEVEL1 = SHARED / "data/ascend_pt/text/level1"
RESNET = SHARED / "data/kineto/tb_plugin"
COPIES = 142  # of a real rank: 300 MB
ROUNDS = 3


def cost(words, cache):
    """(CPU seconds, peak MB) of one process."""
    process = subprocess.Popen([*map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=dict(os.environ, STEPLENS_CACHE_DIR=str(cache)))
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"bench: {words} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def best(words, cache, rounds=ROUNDS):
    return tuple(map(min, zip(*(cost(words, cache) for _ in range(rounds)))))


def text_pair(folder):
    sides = []
    for rank in (1, 0):
        out = folder / f"compare_text_{rank}"
        if not out.is_dir():
            making = out.with_suffix(".making")
            shutil.rmtree(making, ignore_errors=True)
            subprocess.run([sys.executable, SHARED / "tools/scale_trace.py", "--src", LEVEL1 / f"rank{rank}_ascend_pt", "--out", making, "--rank", str(rank),
                            "--copies", str(COPIES)], check=True, stdout=subprocess.DEVNULL)
            making.rename(out)
        sides.append(next(out.rglob("*_ascend_pt")))
    return sides


def gpu_pair(folder):
    sides = []
    for workers in (0, 4):
        path = folder / f"compare_gpu_{workers}.json"
        if not path.is_file():
            source = max((RESNET / f"resnet50_num_workers_{workers}").glob("*.gz"), key=lambda file: file.stat().st_size)
            subprocess.run([sys.executable, SHARED / "tools/scale_kineto.py", source, path, "1"], check=True, stdout=subprocess.DEVNULL)
        sides.append(path)
    return sides


def size_mb(path):
    return cluster.input_bytes(path) / 1e6 if path.is_dir() else path.stat().st_size / 1e6


def measure_pair(add, program, title, base, new, scratch, seconds, memory_mb=None, above_opening=True):
    """All sheets as csv and the html report; what opening both takes alone is left out, except where the target is of the whole."""
    cache = scratch / "cache"
    open_s = sum(best([program, "info", "--no-cache", path], cache)[0] for path in (base, new)) if above_opening else 0
    label = f"`compare`, {title} ({size_mb(base):.0f} and {size_mb(new):.0f} MB)"
    for form in ("csv", "html"):
        cpu_s, peak_mb = best([program, "compare", "-bp", base, "-d", new, "-o", scratch / "out", "--output_name", "r", "--format", form, "--no-cache"], cache)
        what = f"{label}, {'all sheets' if form == 'csv' else 'html report'}"
        value = f"{cpu_s - open_s:.2f} CPU s above opening both ({open_s:.2f})" if above_opening else f"{cpu_s * 1000:.0f} ms of CPU time"
        target = (f"at most {seconds} s" if above_opening else f"under {seconds * 1000:.0f} ms") if form == "csv" else "-"
        add(what, value, target, form != "csv" or cpu_s - open_s <= seconds)
        if memory_mb and form == "csv":
            add(f"{what}: peak memory", f"{peak_mb:.0f} MB", f"at most {memory_mb} MB", peak_mb <= memory_mb)


def measure_jobs(add, program, folder, scratch):
    jobs = [cluster.make_cluster(folder, 1024, "text", steps) for steps in (2, 3)]
    words = [program, "compare", "-bp", jobs[0], "-d", jobs[1], "-o", scratch / "out", "--output_name", "r", "--format", "csv", "--no-cache"]
    cpu_s, peak_mb = best(words, scratch / "cache", 2)
    add("`compare`, two jobs of 1,024 ranks, light captures", f"{cpu_s:.2f} CPU s, {peak_mb:.0f} MB", "under 10 s", cpu_s < 10)


def measure_compare(add, measure, program, folder):
    """`add(what, value, target, holds)` takes a row; `measure(words...)` runs steplens_bench."""
    matching = measure("match", 100000)
    add("matching 100,000 operators of 10 names with 100,003", f"{matching['cpu_s'] * 1e3:.0f} ms", "under 1 s", matching["cpu_s"] < 1)
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        measure_pair(add, program, "real Level1 pair", LEVEL1 / "rank1_ascend_pt", LEVEL1 / "rank0_ascend_pt", scratch, 0.06, above_opening=False)
        measure_pair(add, program, "two GPU traces", *gpu_pair(folder), scratch, 0.4)
        measure_pair(add, program, f"text, {COPIES} steps", *text_pair(folder), scratch, 1.5, memory_mb=700)
        measure_jobs(add, program, folder, scratch)


def main():
    import run
    build = pathlib.Path(sys.argv[1]).resolve()
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else build / "bench/data"
    folder.mkdir(parents=True, exist_ok=True)
    bench = run.Bench(build)
    measure_compare(bench.add, bench.measure, bench.program, folder)


if __name__ == "__main__":
    main()
