"""Damages captures at random and runs every command and the viewer's server on them.

    python3 tools/fuzz_all.py [--program build/asan/steplens] [--seconds 180] [--seed N] [--only N]

A mutant is a capture with one to three damaged files. It goes through one command after the other; every tenth is served, and the server gets
generated requests. A run that ends by a signal, with a report of a sanitizer, with a code that the docs do not name, after its time or beyond its
memory is a find, as is a byte changed by a command that only reads. Finds are kept below --keep with the command line; --seed with --only N makes
mutant N again. Exits with 1 if there was a find.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

from . import captures, mutants, runs, server

SERVED_ONE_IN = 10
REQUESTS = 40


class Tally:
    """What all workers count."""

    def __init__(self, keep):
        self.lock = threading.Lock()
        self.keep = keep
        self.counts = collections.Counter()
        self.finds = []

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] += number

    def find(self, name, number, why, errors, folder):
        with self.lock:
            place = self.keep / f"{number}_{name.replace(' ', '_')}"
            self.finds.append(f"mutant {number}, {name}: {why}")
            print(f"FIND: mutant {number}, {name}: {why}\n{runs.first_report(errors)}\n  kept: {place}", flush=True)
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            (place / "errors").write_bytes(errors)
            if folder is not None:
                os.system(f"cp -a '{folder}' '{place}/mutant'")  # FIFOs and links as they are


class Worker:
    def __init__(self, options, sound, tally):
        self.options = options
        self.sound = sound
        self.tally = tally
        self.questions = runs.questions_of(options.program)

    def run(self, number):
        chance = random.Random(f"{self.options.seed}/{number}")
        with tempfile.TemporaryDirectory(prefix="fuzz_all_", ignore_cleanup_errors=True) as name:
            scratch = pathlib.Path(name)
            kind = chance.choice(sorted(self.sound))
            mutant = scratch / "mutant"
            shutil.copytree(self.sound[kind], mutant)
            decoy = scratch / "decoy"
            shutil.copytree(self.sound["raw"], decoy)
            log = [kind, *mutants.damage(chance, mutant, decoy)]
            (scratch / "log").write_text("\n".join(log) + "\n", encoding="utf-8")
            self.tally.count("mutants")
            if number % SERVED_ONE_IN == 0:
                self.serve(number, mutant, scratch, chance)
            else:
                self.run_commands(number, kind, mutant, scratch, chance)

    def run_commands(self, number, kind, mutant, scratch, chance):
        inputs = [mutant] + sorted(path for path in mutant.rglob("*") if path.suffix in (".json", ".gz", ".db", ".sqlite") and path.is_file())
        target = chance.choice(inputs) if chance.random() < 0.2 else mutant
        lines = runs.words_of(chance, target, self.sound[kind], scratch, self.questions)
        names = list(lines)
        chance.shuffle(names)
        for name in names:
            if time.monotonic() > self.options.end:
                return
            kept = ["decoy"] if name in runs.WRITES_INTO_THE_CAPTURE else ["decoy", "mutant"]
            before = [runs.stamp_of(scratch / folder) for folder in kept]
            said = runs.spoken_to_mcp(target.name) if name == "mcp" else b""
            find, errors = runs.run_command(self.options.program, lines[name], scratch, self.options.timeout, self.options.memory_mb, said)
            self.tally.count(" ".join(name.split()[:1] if name.startswith("ask") else name.split()[:2]))
            if find is None and before != [runs.stamp_of(scratch / folder) for folder in kept]:
                find = "it changed the capture, or what a link in it leads to"
            if find:
                (scratch / "command").write_text(" ".join(map(str, lines[name])) + "\n", encoding="utf-8")
                self.tally.find(name, number, find, errors + (scratch / "log").read_bytes(), mutant)

    def serve(self, number, mutant, scratch, chance):
        find, errors, answered = server.run_server(self.options.program, mutant, scratch, chance, REQUESTS, self.options.timeout,
                                                   self.options.memory_mb)
        self.tally.count("view")
        self.tally.count("requests", answered)
        if find:
            self.tally.find("view", number, find, errors + (scratch / "log").read_bytes(), mutant)


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=runs.default_program(), help="the program, built with sanitizers")
    parser.add_argument("--seconds", type=int, default=180, help="when to stop (default: 180)")
    parser.add_argument("--seed", type=int, default=None, help="the same seed makes the same mutants (default: from the clock)")
    parser.add_argument("--only", type=int, default=None, metavar="N", help="mutant N alone")
    parser.add_argument("--timeout", type=int, default=60, help="seconds of CPU time per command (default: 60)")
    parser.add_argument("--memory-mb", type=int, default=2048, help="memory per command (default: 2048)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="commands at once (default: one per core)")
    parser.add_argument("--keep", type=pathlib.Path, default=None, help="where finds are kept (default: finds beside the program)")
    options = parser.parse_args(arguments)
    options.program = options.program.resolve()
    if not options.program.is_file():
        parser.error(f"{options.program}: there is no such program; `make fuzz-all` builds it")
    options.keep = (options.keep or options.program.parent / "finds").resolve()
    if options.seed is None:
        options.seed = int(time.time())
    options.end = time.monotonic() + options.seconds
    return options


def main(arguments=None):
    options = options_of(arguments)
    unknown = server.missing_routes(server.read_grammar()[0])
    if unknown:
        print(f"fuzz_all: no requests are generated for {', '.join(unknown)}; add them to {server.GRAMMAR}")
        return 1
    unknown = runs.missing_commands(options.program)
    if unknown:
        print(f"fuzz_all: no mutant goes through {', '.join(unknown)}; add them to runs.py")
        return 1
    print(f"fuzz_all: seed {options.seed}", flush=True)
    tally = Tally(options.keep)
    with tempfile.TemporaryDirectory(prefix="fuzz_all_") as name:
        worker = Worker(options, captures.make_captures(pathlib.Path(name)), tally)
        if options.only is not None:
            worker.run(options.only)
        else:
            numbers = iter(range(10**9))
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                list(pool.map(lambda _: run_until_end(worker, numbers, options, tally.lock), range(options.jobs)))
    print(f"fuzz_all: seed {options.seed}: " + ", ".join(f"{count} {what}" for what, count in sorted(tally.counts.items())))
    print(f"fuzz_all: {len(tally.finds)} finds")
    return 1 if tally.finds else 0


def run_until_end(worker, numbers, options, lock):
    while time.monotonic() < options.end:
        with lock:
            number = next(numbers)
        worker.run(number)


if __name__ == "__main__":
    sys.exit(main())
