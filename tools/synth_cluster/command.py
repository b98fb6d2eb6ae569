"""Runs the simulation and lets a few processes write the ranks."""

import json
import multiprocessing
import os
import pathlib
import sys
import time

from .capture import Capture
from .db_files import write_db
from .options import OptionError, parse
from .simulate import MS, Simulation
from .text_files import write_text
from .topology import Topology, Unlinked

STAMP = "20231114221320000"        # in the folder names: when the capture began
OLDER_STAMP = "20231114211320000"  # of a duplicate: an hour earlier
HOUR_NS = 3600 * 1000 * MS
OLDER_STEPS = -5                   # its steps have other numbers, so that mixing the two up shows

_job = {}


def _begin(options, topology, steps):
    _job.update(options=options, topology=topology, steps=steps)


def write_rank(rank):
    """Writes one rank of the job that `_begin` was given."""
    options = _job["options"]
    source = options, _job["topology"], rank, _job["steps"][rank]
    output = _write(Capture(*source), STAMP)
    if rank in options.damaged:
        _damage(output)
    if rank in options.duplicates:
        _write(Capture(*source, shift_ns=-HOUR_NS, shift_step=OLDER_STEPS), OLDER_STAMP)


def _write(capture, stamp):
    folder = pathlib.Path(capture.options.out) / f"host{capture.host:04d}_{capture.pid}_{stamp}_ascend_pt"
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True, exist_ok=True)
    (folder / f"profiler_info_{capture.rank}.json").write_text(json.dumps(capture.profiler_info(), indent=4))
    (folder / "profiler_metadata.json").write_text(json.dumps(capture.metadata()))
    if capture.options.form(capture.rank) == "text":
        write_text(capture, output)
    else:
        write_db(capture, output)
    return output


def _damage(output):
    """Cuts the most important file of a capture in half."""
    for pattern in ("ascend_pytorch_profiler_*.db", "communication.json", "step_trace_time.csv", "trace_view.json"):
        for path in output.glob(pattern):
            os.truncate(path, path.stat().st_size // 2)
            return


def _check_folder(options):
    out = pathlib.Path(options.out)
    if out.exists() and not out.is_dir():
        raise OptionError(f"{out} is not a folder.")
    if out.is_dir() and any(out.iterdir()) and not options.force:
        raise OptionError(f"{out} is not empty; --force writes into it all the same.")


def _write_all(options, job):
    ranks = [rank for rank in range(options.ranks) if rank not in options.missing]
    jobs = min(options.jobs, len(ranks) or 1)
    if jobs == 1:
        _begin(*job)
        for rank in ranks:
            write_rank(rank)
        return
    with multiprocessing.get_context("fork").Pool(jobs, _begin, job) as pool:
        for _ in pool.imap_unordered(write_rank, ranks, chunksize=8):
            pass


def _summary(options, seconds):
    shape = " ".join(f"{name}={getattr(options, name)}" for name in ("tp", "cp", "pp", "dp", "ep"))
    steps = f"steps {options.step_ids[0]}-{options.step_ids[-1]}"
    planted = "; ".join(options.planted) or "nothing"
    return (f"{options.out}: {options.ranks} ranks {shape}, {steps}, {options.format} level {options.level}, "
            f"seed {options.seed}, planted: {planted} ({seconds:.1f} s)")


def main(words=None):
    """Exit code: 0, or 2 for options that make no sense."""
    began = time.monotonic()
    try:
        options = parse(words)
        _check_folder(options)
        topology = Topology(options)
    except (OptionError, Unlinked) as error:
        print(f"synth_cluster.py: {error}", file=sys.stderr)
        return 2
    steps = Simulation(options, topology).run()
    pathlib.Path(options.out).mkdir(parents=True, exist_ok=True)
    _write_all(options, (options, topology, steps))
    print(_summary(options, time.monotonic() - began))
    return 0
