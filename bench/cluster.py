"""Measures `steplens cluster`: the real two-rank sample and synthetic clusters made by tools/synth_cluster.py."""

import mmap
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
# The same groups per rank at every size, so that a rank's input is nearly the same: of longer pipelines fewer ranks stand at an end and lack a
# neighbour, and everybody lists the members of the largest group.
LAYOUTS = {256: ["--tp", "4", "--pp", "4"], 1024: ["--tp", "4", "--pp", "16"], 10000: ["--tp", "4", "--pp", "25"]}
RUNS = 5


def make_cluster(folder, ranks, form, steps=2):
    path = folder / f"cluster_{form}_{ranks}{'' if steps == 2 else f'_{steps}'}"
    if not path.is_dir():
        making = path.with_suffix(".making")
        shutil.rmtree(making, ignore_errors=True)
        subprocess.run([sys.executable, ROOT / "tools/synth_cluster.py", making, "--ranks", str(ranks), *LAYOUTS[ranks], "--steps", str(steps),
                        "--format", form, "--seed", "1", "--jobs", str(os.cpu_count())], check=True, stdout=subprocess.DEVNULL)
        making.rename(path)
    return path


def input_bytes(path):
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def run(words):
    """(CPU seconds, wall seconds, peak MB) of one process."""
    with tempfile.TemporaryDirectory() as out:
        start = time.monotonic()
        process = subprocess.Popen([*map(str, words), "-o", out, "--no-cache"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
    if status != 0:
        sys.exit(f"bench: {words} failed")
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def fetch_memory(size_bytes=3 << 30):
    """A virtual machine gives memory that is free to its host within seconds, and gets it again at seconds a gigabyte: here ten times what a page
    costs that is at hand. So that of several runs not the one pays that comes after a pause, each finds as much as it needs."""
    with mmap.mmap(-1, size_bytes) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        for at in range(0, size_bytes, 2 << 20):
            memory[at] = 1


def best(words, runs=RUNS):
    [one] = best_in_turn([words], runs)
    return one


def best_in_turn(commands, runs=RUNS):
    """The best of each, measured in turn: what new memory costs here changes within seconds, and ratios should not."""
    results = [[run(words) for words in commands] for _ in range(runs)]
    return [tuple(min(of_run[c][i] for of_run in results) for i in range(3)) for c in range(len(commands))]


def measure_mpi(add, program, what, words, is_headline=True):
    """Wall time of two processes of one thread each against one, both under mpirun, and against the program by itself: mpirun needs its time
    to start and to end whatever the input. Where that is a sixth of the whole the line is there to be seen and has no target (is_headline)."""
    if shutil.which("mpirun") is None or not (program.parent / "libsteplens_mpi.so").is_file():
        print("bench: no mpirun or libsteplens_mpi.so; MPI is not measured")
        return
    alone = [program, "cluster", *words, "--threads", "1"]
    os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    commands = {"alone": alone, "one": ["mpirun", "-n", "1", *alone], "two": ["mpirun", "-n", "2", *alone], "threads": [*alone[:-1], "2"]}
    walls = {name: [] for name in commands}
    for _ in range(RUNS):  # in turn, so that noise meets all
        for name, command in commands.items():
            fetch_memory()
            walls[name].append(run(command)[1])
    best_of = {name: min(seconds) for name, seconds in walls.items()}
    gain = best_of["one"] / best_of["two"]
    target = "1.8" if is_headline else "-"
    add(f"two MPI processes against one, {what} (wall time of mpirun, {best_of['two']:.2f} s)", f"{gain:.2f}", target,
        not is_headline or gain >= 1.8)
    add(f"the same against the program without mpirun ({best_of['alone']:.2f} s; mpirun itself takes "
        f"{best_of['one'] - best_of['alone']:.2f} s)", f"{best_of['alone'] / best_of['two']:.2f}", "-", True)
    add("two threads against one, the same input", f"{best_of['alone'] / best_of['threads']:.2f}", "-", True)


def info_seconds(program, ranks, *words):
    """CPU seconds of `info` on all ranks, with a cache that is empty."""
    with tempfile.TemporaryDirectory() as cache:
        process = subprocess.Popen([program, "info", ranks, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, "STEPLENS_CACHE_DIR": cache})
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"bench: info on {ranks} failed")
    return usage.ru_utime + usage.ru_stime


def measure_cold_cache(add, program, folder):
    """What it costs to fill the cache: the folder is looked through once, not for every rank."""
    ranks = make_cluster(folder, 1024, "text")
    rounds = [(info_seconds(program, ranks), info_seconds(program, ranks, "--no-cache")) for _ in range(RUNS)]
    cold, without = (min(times) for times in zip(*rounds))
    add(f"`info` on 1,024 text ranks, cold ({cold:.2f} CPU s) against `--no-cache` ({without:.2f})", f"{cold / without:.2f}", "at most 1.3",
        cold <= 1.3 * without)


def measure_cluster(add, program, capture, folder, with_largest=True):
    """add(what, measured, target, holds) for each line of the report."""
    for form in ("text", "db"):
        cpu, _, peak = best([program, "cluster", "-d", capture / form / "level1"])
        add(f"`cluster` on the real two ranks ({form})", f"{cpu * 1000:.0f} ms, {peak:.0f} MB", "under 50 ms, 40 MB",
            cpu < 0.05 and peak < 40)
    seconds = {}
    for form in ("text", "db"):
        limits_mb = {256: 300, 1024: 600}
        measured = best_in_turn([[program, "cluster", "-d", make_cluster(folder, ranks, form)] for ranks in limits_mb])
        for (ranks, limit_mb), (cpu, _, peak) in zip(limits_mb.items(), measured):
            seconds[form, ranks] = cpu
            target = f"under 1.5 s, {limit_mb} MB" if ranks == 256 else f"{limit_mb} MB"
            add(f"`cluster -m all`, {ranks:,} synthetic ranks ({form})", f"{cpu:.2f} CPU s, {peak:.0f} MB", target,
                peak < limit_mb and (ranks > 256 or cpu < 1.5))
        growth = seconds[form, 1024] / seconds[form, 256] / 4
        of_input = input_bytes(make_cluster(folder, 1024, form)) / input_bytes(make_cluster(folder, 256, form)) / 4
        add(f"1,024 ranks against four times 256 ({form}; their input is {of_input:.2f} of four times)", f"{growth:.2f}", "at most 1.15",
            growth <= 1.15)
    measure_cold_cache(add, program, folder)
    measure_mpi(add, program, "256 ranks, 16 steps, `all` on text", ["-d", make_cluster(folder, 256, "text", steps=16)], is_headline=False)
    measure_mpi(add, program, "1,024 ranks, 16 steps, `all` on text", ["-d", make_cluster(folder, 1024, "text", steps=16)])
    measure_mpi(add, program, "1,024 ranks, 8 steps, four recipes over the timelines of dbs",
                ["-m", "compute_op_sum,hccl_sum,cann_api_sum,slow_rank", "-d", make_cluster(folder, 1024, "db", steps=8)])
    if with_largest:
        cpu, wall, peak = run([program, "cluster", "-d", make_cluster(folder, 10000, "text")])
        add("`cluster -m all`, 10,000 synthetic ranks (text), once", f"{cpu:.1f} CPU s, {wall:.1f} s, {peak / 1024:.2f} GB", "-", True)
        measure_mpi(add, program, "10,000 ranks, 2 steps, `all` on text", ["-d", make_cluster(folder, 10000, "text")], is_headline=False)
