#!/usr/bin/env python3
"""Measures the advisor: captures with one planted cause each, and their clean twins.

    measure_advice.py PROGRAM [--sample N] [--kinds gpu,cluster,cpu] [--jobs 2] [--out FILE.json] [--keep FOLDER]

gpu      simulated training jobs of 1-8 ranks, as Kineto traces (tests/integration/step_simulator.py)
cluster  simulated Ascend jobs of 4-64 ranks, with timelines (db) and without (text) (tools/synth_cluster.py)
cpu      real trainings of examples/train/train.py on this machine, recorded by the program itself

Of each capture with a cause: is the right rule ranked first, and how far is the saving that it predicts from the truth? The truth of
a simulated job is the simulation without the cause, that of a real training is what the plant took by its own clock.
Of each clean twin: how many findings claim 2 % of the step or more? Prints one line per case, and the counts at the end.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "integration"))
sys.path.insert(0, str(ROOT / "tools"))

import step_simulator  # noqa: E402
from synth_cluster import options as synth_options  # noqa: E402
from synth_cluster.simulate import Simulation  # noqa: E402
from synth_cluster.topology import Topology  # noqa: E402

PYTHON = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable
WORTH_A_LOOK = 2  # percent of the step

# Rules that name the cause.
RIGHT = {
    "loader": {"dataloader", "slow_dataloader"},
    "item": {"host_sync", "sync_stream"},
    "tiny": {"launch_bound"},
    "cast": {"conversion_ops", "conversion"},
    "alloc": {"allocator_calls", "memory"},
    "jitter": {"step_jitter"},
    "exposed": {"exposed_communication"},
    "buckets": {"small_collectives", "small_packets"},
    "slow kernels": {"late_rank", "kernel_drift"},
    "again": {"recompute"},
    "gc": {"gc"},
    "slow host": {"late_rank", "late_group", "host_bound", "slow_rank"},
    "late rank": {"late_rank"},
    "slow-rank": {"late_rank", "kernel_drift", "frequency", "slow_rank"},
    "freq-drop": {"late_rank", "kernel_drift", "frequency", "slow_rank"},
    "host-bound": {"late_rank", "late_group", "host_bound", "slow_rank"},
    "slow-host": {"late_group", "late_rank", "slow_rank"},
    "late-group": {"late_group", "late_rank", "slow_rank"},
    "slow-link": {"slow_link"},
    "slow-nic": {"slow_link"},
    "slow-receiver": {"slow_link"},
    "small-packets": {"small_packets", "packet"},
    "imbalance": {"uneven_load", "expert_balance"},
}


@dataclasses.dataclass
class Case:
    name: str
    kind: str
    cause: str  # a key of RIGHT; empty: a clean twin
    make: object  # (folder) -> what the cause costs in ms per step, or None


def simulated(rng):
    """(cause, settings with it, settings without it): the sizes vary, the cause is always one."""
    def base(**more):
        return step_simulator.Settings(
            steps=6, layers=rng.choice([8, 12, 16]), operator=rng.choice([20, 30, 40]), kernel=rng.choice([150, 180, 220]),
            matmul=rng.choice([200, 240, 300]), **{"transfer": rng.choice([400, 600]), **more})

    cases = []
    for ranks in (1, 1, 2, 4, 8):
        # What an advised loader makes ready beforehand costs nothing.
        cases.append(("loader", base(ranks=ranks, loader=20), {"loader": rng.choice([4000, 8000])}))
        cases.append(("item", base(ranks=ranks), {"items": rng.choice([6, 8]), "operator": 120}))
        cases.append(("tiny", base(ranks=ranks), {"tiny": rng.choice([300, 500])}))
        cases.append(("cast", base(ranks=ranks), {"casts": rng.choice([120, 200])}))
        cases.append(("alloc", base(ranks=ranks), {"allocations": rng.choice([8, 12])}))
        cases.append(("jitter", base(ranks=ranks), {"jitter": rng.choice([8000, 12000])}))
        cases.append(("gc", base(ranks=ranks), {"collections": rng.choice([2500, 5000])}))
        cases.append(("again", base(ranks=ranks), {"is_again": True}))
    for ranks in (2, 4, 8):
        # Of the other collective of the step nothing can be hidden: it is short here.
        cases.append(("exposed", base(ranks=ranks, half_transfer=3000, transfer=60), {"is_overlapped": False}))
        buckets = rng.choice([40, 60])
        cases.append(("buckets", base(ranks=ranks, buckets=buckets, is_merged=True), {"is_merged": False}))
        cases.append(("slow kernels", base(ranks=ranks), {"slow_rank": rng.choice([1.3, 1.6])}))
        cases.append(("slow host", base(ranks=ranks), {"slow_host": rng.choice([12, 16])}))
    out = []
    for cause, clean, fault in cases:
        if cause == "item":  # reading numbers costs time where the host is not far ahead
            clean = dataclasses.replace(clean, operator=fault.pop("operator"))
        out.append((cause, dataclasses.replace(clean, **fault), clean))
    return out


def gpu_cases(rng, rounds):
    cases = []
    for i in range(rounds):
        for number, (cause, planted, clean) in enumerate(simulated(rng)):
            name = f"gpu-{i}-{number}-{cause.replace(' ', '_')}-{planted.ranks}"

            def make(folder, planted=planted, clean=clean):
                return (step_simulator.write(planted, folder) - step_simulator.simulate(clean)[1]) / 1000

            cases.append(Case(name, "gpu", cause, make))
            cases.append(Case(name + "-clean", "gpu", "", lambda folder, clean=clean: step_simulator.write(clean, folder) and None))
    return cases


def job_ms(words):
    """The time that the ranks of a simulated cluster need for a step: from the first begin to the last end."""
    options = synth_options.parse([str(word) for word in words] + ["nowhere"])
    ranks = Simulation(options, Topology(options)).run()
    begin = min(steps[0].host_start_ns for steps in ranks)
    end = max(steps[-1].host_end_ns for steps in ranks)
    return (end - begin) / 1e6 / options.steps


def synthesise(folder, words):
    subprocess.run([sys.executable, "-B", ROOT / "tools" / "synth_cluster.py", *map(str, words), folder], check=True, capture_output=True)


def cluster_cases(rng, rounds):
    cases = []
    for i in range(rounds):
        for ranks, shape in ((4, ["--tp", 2]), (8, ["--tp", 2, "--hosts-of", 4]), (16, ["--tp", 4, "--hosts-of", 8]),
                             (64, ["--tp", 4, "--pp", 2, "--hosts-of", 8])):
            seed = rng.randrange(1000)
            form = ["--format", "db" if i % 2 else "text"] if ranks < 64 else ["--format", "text"]
            shape = ["--ranks", ranks, *shape, "--steps", 3, "--level", 1, "--seed", seed, *form]
            late = rng.randrange(ranks)
            faults = [("slow-rank", f"{late}:1.4"), ("freq-drop", late), ("host-bound", late), ("slow-link", "0-1:4"), ("slow-nic", f"{late}:4"),
                      ("slow-receiver", f"{late}:4"), ("small-packets", "HCCS")]
            if ranks > 4:
                faults += [("slow-host", "1:1.4"), ("late-group", "tp=1:1.4")]

            def plant(fault, value, clean, ranks=ranks, i=i):
                def make(folder):
                    words = [*clean, f"--{fault}", value]
                    synthesise(folder, words)
                    return job_ms(words) - job_ms(clean)

                cases.append(Case(f"cluster-{i}-{ranks}-{fault}", "cluster", fault, make))

            for fault, value in faults:
                plant(fault, value, shape)
            if ranks > 4:
                plant("imbalance", 0.8, [*shape, "--ep", 2])
            cases.append(Case(f"cluster-{i}-{ranks}-clean", "cluster", "", lambda folder, words=shape: synthesise(folder, words)))
    return cases


FIRST_STEP, LAST_STEP = 4, 12  # of a real training: recorded from the first to before the last


def record(program, folder, words, ranks):
    """A training with something planted. Milliseconds per recorded step that the plant took by its own clock; None if it has none."""
    train = [PYTHON, ROOT / "tools" / "planted_train.py", "--steps", LAST_STEP, "--width", 64, "--layers", 2, "--length", 32, "--batch", 4, *words]
    if ranks > 1:
        train = [PYTHON, "-m", "torch.distributed.run", "--nproc_per_node", ranks, *train[1:]]
    words = [program, "record", "--profile-step-start", FIRST_STEP, "--profile-step-end", LAST_STEP, "--profile-level", "level1",
             "--profile-record-shapes", "--profile-save-path", folder, "--", *train]
    # One thread a rank: more of them wait for each other where other programs run, too.
    done = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
    for line in done.stdout.splitlines():
        if line.startswith("planted:"):
            spent = [float(word) for word in line.split()[1:]][FIRST_STEP - 1:LAST_STEP - 1]
            return sum(spent) / len(spent)
    return None


def cpu_cases(program, rng, rounds):
    cases = []
    for i in range(rounds):
        late = rng.choice([0.2, 0.4])
        plants = [("loader", ["--plant", f"loader={rng.choice([0.1, 0.2])}"], 1), ("item", ["--plant", f"item={rng.choice([3000, 6000])}"], 1),
                  ("tiny", ["--plant", f"tiny={rng.choice([3000, 6000])}"], 1), ("again", ["--plant", "again"], 1),
                  ("late rank", ["--plant", f"rank={late}"], 2)]
        for cause, words, ranks in plants:
            def make(folder, words=words, ranks=ranks, slept_ms=1000 * late if ranks > 1 else None):
                return record(program, folder, words, ranks) or slept_ms

            cases.append(Case(f"cpu-{i}-{cause.replace(' ', '_')}", "cpu", cause, make))
        for ranks in (1, 2):
            cases.append(Case(f"cpu-{i}-clean-{ranks}", "cpu", "", lambda folder, ranks=ranks: record(program, folder, [], ranks) and None))
    return cases


def advise(program, folder):
    done = subprocess.run([program, "advisor", "all", "-d", str(folder), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{folder}: {done.stderr}")
    return json.loads(done.stdout)


def judge(program, case, folder):
    truth_ms = case.make(folder)
    report = advise(program, folder)
    step_ms = report["step_ms"]
    counted = [one for one in report["findings"] if one["share_percent"] >= WORTH_A_LOOK]
    first = counted[0]["rule"] if counted else None
    row = {"case": case.name, "kind": case.kind, "cause": case.cause, "step_ms": step_ms, "first": first,
           "found": [(one["rule"], one["share_percent"], one["saving_ms_per_step"]) for one in counted], "saving_error": None}
    if not case.cause:
        return row
    row["is_first"] = first in RIGHT[case.cause]
    right = [one for one in report["findings"] if one["rule"] in RIGHT[case.cause]]
    row["is_found"] = bool(right)
    if truth_ms and right and right[0]["saving_ms_per_step"] is not None:
        row["true_saving_ms"] = truth_ms
        row["saving_error"] = abs(right[0]["saving_ms_per_step"] - truth_ms) / truth_ms
    return row


def run(program, cases, jobs, keep):
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(keep) if keep else pathlib.Path(scratch)

        def one(case):
            return judge(program, case, root / case.name)

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for row in pool.map(one, cases):
                rows.append(row)
                found = ", ".join(f"{rule} {share:.1f} %" for rule, share, _ in row["found"][:4])
                mark = "clean" if not row["cause"] else "first" if row["is_first"] else "found" if row["is_found"] else "MISSED"
                error = "" if row["saving_error"] is None else f"  saving off by {100 * row['saving_error']:.1f} %"
                print(f"{mark:7} {row['case']:40} {found}{error}", flush=True)
    return rows


def summarise(rows):
    """Per kind: how often the right cause came first, false findings per clean capture, and how good savings are."""
    out = {}
    for kind in dict.fromkeys(row["kind"] for row in rows):
        planted = [row for row in rows if row["kind"] == kind and row["cause"]]
        clean = [row for row in rows if row["kind"] == kind and not row["cause"]]
        errors = sorted(row["saving_error"] for row in planted if row["saving_error"] is not None)
        limit = 0.15 if kind == "cpu" else 0.05
        out[kind] = {
            "planted": len(planted), "first": sum(row["is_first"] for row in planted), "found": sum(row["is_found"] for row in planted),
            "clean": len(clean), "false": sum(len(row["found"]) for row in clean),
            "savings": len(errors), "within": sum(error <= limit for error in errors), "worst": errors[-1] if errors else None,
            "by_cause": {cause: f"{sum(row['is_first'] for row in planted if row['cause'] == cause)}/{count}"
                         for cause, count in collections.Counter(row["cause"] for row in planted).items()}}
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--kinds", default="gpu,cluster,cpu")
    parser.add_argument("--rounds", default="3,3,4", help="how often each kind is varied")
    parser.add_argument("--sample", type=int, help="only so many cases, drawn at random")
    parser.add_argument("--only", default="", help="only cases whose name holds this")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out")
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    rounds = [int(word) for word in arguments.rounds.split(",")]
    made = {"gpu": lambda: gpu_cases(rng, rounds[0]), "cluster": lambda: cluster_cases(rng, rounds[1]),
            "cpu": lambda: cpu_cases(arguments.program, rng, rounds[2])}
    cases = [case for kind in arguments.kinds.split(",") for case in made[kind]() if arguments.only in case.name]
    if arguments.sample:
        cases = rng.sample(cases, min(arguments.sample, len(cases)))
    rows = run(arguments.program, cases, arguments.jobs, arguments.keep)
    summary = summarise(rows)
    print(json.dumps(summary, indent=1))
    if arguments.out:
        pathlib.Path(arguments.out).write_text(json.dumps({"summary": summary, "cases": rows}, indent=1))


if __name__ == "__main__":
    main()
