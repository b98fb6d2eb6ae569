"""Makes the large inputs, runs the measurements, prints them and writes docs/performance.md.

    python3 bench/run.py BUILD [INPUTS]

The inputs are made with the generators in ../shared/tools (once; they are kept in INPUTS, by default below BUILD). Times are CPU
seconds, best of 5, and every rate stands beside the limit measured in the same run: machines are noisy, ratios much less so.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

import cluster
import compare_speed
import damage
import sections

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = pathlib.Path(os.environ.get("STEPLENS_SHARED", ROOT.parent / "shared"))
CAPTURE = SHARED / "data/ascend_pt"
KINETO_COPIES = 15  # of a 32 MB trace: the first whole number beyond 470 MB


def kineto_path(folder):
    return folder / f"kineto_{KINETO_COPIES}.json"


def make_inputs(folder):
    """A 500 MB trace with its csv files, the same rank as db, a Kineto trace of 470 MB or more and its gzip form."""
    tools = SHARED / "tools"
    text = folder / "text/rank0_ascend_pt"
    if not text.is_dir():
        subprocess.run([sys.executable, tools / "scale_trace.py", "--src", CAPTURE / "text/level1/rank0_ascend_pt", "--out",
                        folder / "text", "--rank", "0", "--size-mb", "480"], check=True, stdout=subprocess.DEVNULL)
    if not (folder / "db").is_dir():
        subprocess.run([sys.executable, tools / "scale_trace.py", "--src", CAPTURE / "db/level1/rank0_ascend_pt", "--out",
                        folder / "db", "--rank", "0", "--copies", "228"], check=True, stdout=subprocess.DEVNULL)
    kineto = kineto_path(folder)
    if not kineto.is_file():
        source = next((SHARED / "data/kineto/tb_plugin/resnet50_num_workers_0").glob("*.gz"))
        subprocess.run([sys.executable, tools / "scale_kineto.py", source, kineto, str(KINETO_COPIES)], check=True, stdout=subprocess.DEVNULL)
    if not kineto.with_suffix(".json.gz").is_file():
        subprocess.run(["gzip", "-1", "-k", kineto], check=True)


def machine_name():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")),
                 platform.machine())
    return f"{model}, {os.cpu_count()} cores"


class Bench:
    def __init__(self, build):
        self.program = build / "steplens"
        self.bench = build / "bench/steplens_bench"
        self.rows = []

    def measure(self, *words, environment=None):
        done = subprocess.run([self.bench, *map(str, words)], check=True, capture_output=True, env=environment)
        return json.loads(done.stdout)

    def alternate(self, *commands, rounds=3):
        """The best of several rounds of each command, taken in turn: what disturbs the machine disturbs all of them."""
        best = {}
        for _ in range(rounds):
            for words in commands:
                times = self.measure(*words)
                before = best.setdefault(words, times)
                for key in times:
                    if key.endswith("_s"):
                        before[key] = min(before[key], times[key])
        return [best[words] for words in commands]

    def two_at_once(self, *words, alone):
        """How much more two independent processes get done than one: what the machine's second core is worth."""
        best = 0
        for _ in range(3):
            pair = [subprocess.Popen([self.bench, *map(str, words)], stdout=subprocess.PIPE) for _ in range(2)]
            walls = [json.loads(process.communicate()[0])["wall_s"] for process in pair]
            best = max(best, 2 * alone / max(walls))
        return best

    def add(self, what, value, target, holds):
        self.rows.append((what, value, target, "yes" if holds else "**no**"))
        print(f"{what}: {value} (target {target}) {'' if holds else 'MISSED'}", flush=True)


def measure_traces(bench, folder):
    for kind, path in (("trace_view.json", folder / "text/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"),
                       ("Kineto trace", kineto_path(folder))):
        size = path.stat().st_size
        label = f"{size / 1e6:.0f} MB {kind}"
        both, one, two = bench.alternate(("compare", path), ("trace", path, 1), ("trace", path, 2))
        rate = size / one["cpu_s"] / 1e9
        bench.add(f"{label} to store, one core", f"{rate:.2f} GB/s", "0.5 GB/s", rate >= 0.5)
        share = both["walk_file_s"] / both["read_file_s"]
        bench.add(f"{label}: share of simdjson On-Demand alone, each from the file into new memory ({size / both['walk_file_s'] / 1e9:.2f} GB/s)",
                  f"{share:.2f}", "0.6", share >= 0.6)
        bench.add(f"{label}: the same, text in memory and simdjson's index kept from walk to walk ({size / both['walk_memory_s'] / 1e9:.2f} GB/s)",
                  f"{both['walk_memory_s'] / both['read_memory_s']:.2f}", "-", True)
        speedup = one["wall_s"] / two["wall_s"]
        bench.add(f"{label}: two cores against one (wall time)", f"{speedup:.2f}", "1.8", speedup >= 1.8)
        limit = bench.two_at_once("trace", path, 1, alone=one["wall_s"])
        bench.add(f"{label}: the same, share of what two independent processes gain here ({limit:.2f})",
                  f"{speedup / limit:.2f}", "-", True)
        share = one["peak_mb"] * 1048576 / size
        bench.add(f"{label}: peak memory, share of the file", f"{share:.2f}", "at most 0.6", share <= 0.6)
    kineto = kineto_path(folder)
    packed = bench.measure("trace", kineto.with_suffix(".json.gz"), 1)
    rate = kineto.stat().st_size / packed["cpu_s"] / 1e9
    bench.add("the Kineto trace as .json.gz, one core", f"{rate:.2f} GB/s of JSON", "0.3 GB/s", rate >= 0.3)


def measure_others(bench, folder):
    output = folder / "text/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT"
    db = bench.measure("db", folder / "db/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db")
    rate = db["rows"] / db["cpu_s"] / 1e6
    bench.add(f"the same rank as db to store ({db['rows'] / 1e6:.1f} M rows)", f"{rate:.1f} M rows/s", "2 M rows/s", rate >= 2)
    (csv,) = bench.alternate(("csv", output / "kernel_details.csv"))
    rate = csv["bytes"] / csv["cpu_s"] / 1e9
    bench.add("kernel_details.csv typed", f"{rate:.2f} GB/s", "0.4 GB/s", rate >= 0.4)
    with tempfile.TemporaryDirectory() as cache:
        times = bench.measure("cache", folder / "text", environment=dict(os.environ, STEPLENS_CACHE_DIR=cache))
    share = times["second_cpu_s"] / times["first_cpu_s"]
    bench.add(f"second open of the 500 MB rank ({times['second_cpu_s'] * 1e3:.0f} ms), share of the first's CPU time", f"{share * 100:.1f} %",
              "at most 3 %", share <= 0.03)
    for form in ("text", "db"):
        (breakdown,) = bench.alternate(("breakdown", 1000000, form))
        bench.add(f"breakdown over 1 M device events, {form} capture", f"{breakdown['cpu_s'] * 1e3:.1f} ms", "under 50 ms",
                  breakdown["cpu_s"] < 0.05)


def measure_info(bench):
    best = 1e9
    for _ in range(5):
        with tempfile.TemporaryDirectory() as cache:
            start = time.perf_counter()
            subprocess.run([bench.program, "info", CAPTURE / "text/level1/rank0_ascend_pt"], check=True, stdout=subprocess.DEVNULL,
                           env=dict(os.environ, STEPLENS_CACHE_DIR=cache))
            best = min(best, time.perf_counter() - start)
    bench.add("`steplens info` on the 2 MB real capture, start to finish, nothing cached", f"{best * 1e3:.1f} ms", "under 30 ms", best < 0.03)


def cpu_of(words, cache):
    """CPU seconds of one process."""
    process = subprocess.Popen([*map(str, words)], stdout=subprocess.DEVNULL, env=dict(os.environ, STEPLENS_CACHE_DIR=str(cache)))
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"bench: {words} failed")
    return usage.ru_utime + usage.ru_stime


def measure_many_ranks(bench, folder):
    """What writing the cache adds to reading. In memory: what a disk's file system needs for a new file depends on what was deleted before."""
    words = [bench.program, "info", cluster.make_cluster(folder, 1024, "text")]
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory) as caches:
        times = [(cpu_of(words, f"{caches}/{i}"), cpu_of([*words, "--no-cache"], caches)) for i in range(5)]
    cold, none = map(min, zip(*times))
    bench.add(f"`steplens info` on 1,024 ranks, nothing cached ({cold:.2f} CPU s), against `--no-cache`", f"{cold / none:.2f}", "at most 1.3",
              cold <= 1.3 * none)


def measure_python(bench, folder):
    """CPython's own json on the same file, for scale."""
    path = folder / "text/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
    code = ("import json,time,resource,sys\nt=time.process_time()\njson.load(open(sys.argv[1], encoding='utf-8'))\n"
            "print(time.process_time()-t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024)")
    seconds, peak = map(float, subprocess.run([sys.executable, "-c", code, path], check=True, capture_output=True).stdout.split())
    size = path.stat().st_size
    bench.add("for comparison, CPython's json.load of the same trace", f"{size / seconds / 1e9:.3f} GB/s, {peak / (size / 1048576):.1f} x the file in memory",
              "-", True)


def write_report(bench, further):
    lines = ["# Performance", "", "Written by `make bench`; do not edit by hand. CPU time, best of 5 (traces: best of 15, alternating with the limit); each rate is shown with the limit measured in the same run.", "",
             f"Machine: {machine_name()}; load average {os.getloadavg()[0]:.1f} at the end of the run (other processes affect wall times).", "", "| what | measured | target | holds |", "|---|---|---|---|"]
    lines += [f"| {what} | {value} | {target} | {holds} |" for what, value, target, holds in bench.rows]
    lines += ["", "Inputs: the real level 1 capture and a ResNet50 trace, repeated with the generators of the shared tools (`bench/run.py`).",
              "What stands between us and the limit: a walk by simdjson alone touches each field and forgets it; the reader also parses times to integer",
              "nanoseconds, interns names, and writes eight columns a slice. The limit needs memory for the whole text and an index of its tokens; new",
              "pages for them are half of its time, so both ways are shown. All large memory is of 2 MB pages (`bench/large_memory.cc`).", ""] + further
    (ROOT / "docs/performance.md").write_text("\n".join(lines), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Measures everything and writes docs/performance.md.")
    parser.add_argument("build", type=pathlib.Path, help="folder of a release build with STEPLENS_BUILD_BENCH=ON")
    parser.add_argument("inputs", type=pathlib.Path, nargs="?", help="where the inputs are kept, 5 GB (default: BUILD/bench/data)")
    words = parser.parse_args()
    build = words.build.resolve()
    if not (build / "bench/steplens_bench").is_file():
        sys.exit(f"bench: {build}: there is no bench/steplens_bench; expected a build made by `make bench`")
    if not SHARED.is_dir():
        print(f"bench: the inputs are made from {SHARED}, which is not on this machine; nothing measured")
        return
    folder = words.inputs or build / "bench/data"
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder).free < 5e9:
        sys.exit(f"bench: {folder}: 5 GB of free space are needed for the inputs")
    make_inputs(folder)
    bench = Bench(build)
    measure_traces(bench, folder)
    damage.measure_damage(bench, SHARED, folder)
    measure_others(bench, folder)
    measure_info(bench)
    measure_many_ranks(bench, folder)
    measure_python(bench, folder)
    cluster.measure_cluster(bench.add, bench.program, CAPTURE, folder)
    compare_speed.measure_compare(bench.add, bench.measure, bench.program, folder)
    write_report(bench, sections.sections(build))


if __name__ == "__main__":
    main()
