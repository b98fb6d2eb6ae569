"""What `steplens analyse` costs: captures of one training run with different switches, to text and to db, beside what it takes to
write as many bytes and nothing else.

    python3 bench/analyse.py PROGRAM
"""

import itertools
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PYTHON = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable
KINDS = [("times alone", []), ("shapes", ["--profile-record-shapes"]),
         ("shapes, memory, stacks", ["--profile-record-shapes", "--profile-with-memory", "--profile-with-stack"])]
SIZES = [(40, 5), (200, 2)]  # steps of the training, and how often its capture is analysed: some 200,000 and a million operators


def record_training(program, folder, switches, steps=SIZES[0][0]):
    """A real recording: a small transformer, some 5,400 operators a step."""
    subprocess.run([program, "record", "--profile-step-start", "2", "--profile-step-end", str(2 + steps), *switches, "--analyse", "no",
                    "--profile-save-path", folder, "--", PYTHON, ROOT / "examples/train/train.py", "--steps", str(4 + steps), "--width", "32",
                    "--length", "16"], check=True, capture_output=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
    return next(folder.glob("*_ascend_pt"))


def cost_of(command):
    """(CPU seconds, peak memory in bytes) of one process."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def plain_write_cost(folder, size):
    """CPU seconds to write that many bytes that lie in memory already."""
    piece = bytes(1 << 18)
    path = folder / "plain"
    before = resource.getrusage(resource.RUSAGE_SELF)
    with open(path, "wb", buffering=0) as file:
        for _ in range(size // len(piece)):
            file.write(piece)
    after = resource.getrusage(resource.RUSAGE_SELF)
    path.unlink()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def size_of(folder):
    return sum(path.stat().st_size for path in folder.iterdir())


def measure_kind(program, scratch, name, switches, steps, rounds):
    capture = record_training(program, scratch, switches, steps)
    raw = size_of(capture / "FRAMEWORK")
    answer = subprocess.run([program, "query", capture, "SELECT count(*) AS n FROM host_ops", "--format", "json"], check=True, capture_output=True)
    operators = int(json.loads(answer.stdout)[0]["n"])
    yield f"{name}: {operators} operators, {raw / 1e6:.1f} MB raw"
    sizes = {}
    for form in ("text", "db"):
        best, peak, plain = 1e9, 0, 1e9
        for _ in range(rounds):
            shutil.rmtree(capture / "ASCEND_PROFILER_OUTPUT", ignore_errors=True)  # to remove old results is no part of an analysis
            seconds, memory = cost_of([program, "analyse", capture, "--force", "--jobs", "1", "--export-type", form])
            best, peak = min(best, seconds), max(peak, memory)
            sizes[form] = size_of(capture / "ASCEND_PROFILER_OUTPUT")
            plain = min(plain, plain_write_cost(scratch, sizes[form]))
        target = " (target 1)" if form == "text" else ""
        yield (f"  to {form}: {best:.3f} CPU s, {operators / best / 1e6:.2f} M operators/s{target}, {sizes[form] / 1e6:.1f} MB written "
               f"(writing alone: {plain:.3f} CPU s); memory {peak / 1e6:.0f} MB, {peak / raw:.2f} x raw (target at most 1.5)")
    yield f"  db / text: {sizes['db'] / sizes['text']:.2f} (target at most 0.35)"


def measure_analyse(program):
    lines = []
    for (steps, rounds), (name, switches) in itertools.product(SIZES, KINDS):
        with tempfile.TemporaryDirectory() as scratch:
            lines += measure_kind(program, pathlib.Path(scratch), name, switches, steps, rounds)
    return "\n".join(lines)


if __name__ == "__main__":
    print(measure_analyse(pathlib.Path(sys.argv[1]).resolve()))
