"""Compares the speed and memory of two builds of steplens on the same inputs, in one run.

    python3 bench/two_builds.py OLD_PROGRAM NEW_PROGRAM INPUTS [--rounds N]

INPUTS are those of run.py (made there if missing). Each command runs in turn with the one and the other program, without the cache; shown are the medians
of CPU seconds and of peak memory, and the new one's share of the old one's.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile

import cluster
import run


def commands(inputs):
    text, db = inputs / "text/rank0_ascend_pt", inputs / "db"
    ranks = cluster.make_cluster(inputs, 256, "text")
    for name, words in (("info", ("info", "--no-cache")), ("breakdown", ("breakdown", "--no-cache")), ("ops", ("ops", "--no-cache"))):
        yield f"{name}, 507 MB text", (*words, text)
        yield f"{name}, db", (*words, db)
        yield f"{name}, 483 MB Kineto", (*words, run.kineto_path(inputs))
    yield "cluster -m all, 256 ranks", ("cluster", "-m", "all", "-d", ranks, "-o", None)
    yield "cluster -m summary, 256 ranks", ("cluster", "-m", "summary", "-d", ranks, "-o", None)


def measure(program, words):
    """CPU seconds and peak memory in MB."""
    with tempfile.TemporaryDirectory() as out:
        child = os.posix_spawn(program, [str(program), *(out if word is None else str(word) for word in words)], os.environ,
                               file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
        _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"{program} {' '.join(map(str, words))}: exit status {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("inputs", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    run.make_inputs(options.inputs)
    print("| what | old, CPU s | new, CPU s | new / old | old, MB | new, MB | new / old |\n|---|---|---|---|---|---|---|")
    for name, words in commands(options.inputs):
        found = {options.old: [], options.new: []}
        for _ in range(options.rounds):
            for program, values in found.items():
                values.append(measure(program, words))
        (old_s, old_mb), (new_s, new_mb) = ([statistics.median(column) for column in zip(*values)] for values in found.values())
        print(f"| {name} | {old_s:.3f} | {new_s:.3f} | {new_s / old_s:.2f} | {old_mb:.0f} | {new_mb:.0f} | {new_mb / old_mb:.2f} |", flush=True)


if __name__ == "__main__":
    main()
