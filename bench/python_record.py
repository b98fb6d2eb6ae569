"""What recording costs a PyTorch program, side by side with torch.profiler, in one run.

    PYTHONPATH=build/python /usr/bin/python3 bench/python_record.py [--repeat N]

Times are CPU time of this thread, the best of N alternating runs, so that a busy machine does not matter. Prints a table and
exits with 1 if a budget (docs/performance.md) is missed.
"""

import argparse
import contextlib
import gc
import os
import shutil
import sys
import tempfile
import time

import torch

from steplens import _native, _ranges
from steplens._capture import Capture
from steplens._config import Config

OPERATORS = 150  # calls of an operator in one burst: short, so that some bursts are undisturbed
RANGES = 2000
SWITCHES = [("times", {}), ("shapes", {"record_shapes": True}),
            ("shapes, memory, stacks", {"record_shapes": True, "profile_memory": True, "with_stack": True})]


def thread_ns(function):
    begin = time.thread_time_ns()
    function()
    return time.thread_time_ns() - begin


def small_operators():
    """Each call is one recorded operator with two tensors and, with memory, one allocation and one free."""
    x, y = torch.ones(8), torch.ones(8)
    for _ in range(OPERATORS):
        x.mul(y)


def burst_ns():
    small_operators()  # warm
    return thread_ns(small_operators) / OPERATORS


@contextlib.contextmanager
def steplens_capture(folder, **switches):
    """A capture that is open; `start` and `stop` switch it on and off."""
    capture = Capture(Config(activities={"cpu"}, **switches), os.path.join(folder, "capture"))
    capture.warmup()
    try:
        yield capture
    finally:
        capture.discard()


def steplens_burst(capture):
    capture.start()
    cost = burst_ns()
    capture.stop()
    return cost


def torch_burst(switches):
    profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **switches)
    profiler.start()
    cost = burst_ns()
    torch.autograd._disable_profiler()  # without its post-processing, which is measured on its own
    profiler.profiler.entered = False
    profiler.profiler = None
    return cost


def added_per_operator(folder, repeat):
    """{switches: (undisturbed, steplens, torch)} in ns per call of an operator."""
    out = {}
    for name, switches in SWITCHES:
        plain, ours, theirs = [], [], []
        with steplens_capture(folder, **switches) as capture:
            for _ in range(repeat):
                plain.append(burst_ns())
                ours.append(steplens_burst(capture))
                theirs.append(torch_burst(switches))
        out[name] = (min(plain), min(ours) - min(plain), min(theirs) - min(plain))
    return out


def model_step(model, optimizer, data):
    loss = model(data).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def closing_times(folder):
    """(steplens, torch) seconds of wall time to close a capture of 5 steps with everything on."""
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.randn(4, 16, 64)
    switches = SWITCHES[-1][1]
    model_step(model, optimizer, data)
    capture = Capture(Config(activities={"cpu"}, **switches), os.path.join(folder, "closing"))
    capture.start()
    for _ in range(5):
        model_step(model, optimizer, data)
    begin = time.perf_counter()
    capture.stop()
    capture.finalize({})
    ours = time.perf_counter() - begin
    profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **switches)
    profiler.start()
    for _ in range(5):
        model_step(model, optimizer, data)
    begin = time.perf_counter()
    profiler.stop()
    return ours, time.perf_counter() - begin


def idle_share(repeat):
    """How much slower the loop is with a profiler constructed and not recording, in percent."""
    import steplens.torch_npu as torch_npu

    steps = torch_npu.profiler.schedule(wait=1000, warmup=1, active=1)
    plain, with_profiler = [], []
    for _ in range(repeat):
        plain += [burst_ns() for _ in range(3)]
        profiler = torch_npu.profiler.profile(schedule=steps)
        profiler.start()
        with_profiler += [burst_ns() for _ in range(3)]
        profiler.stop()
    return 100.0 * (min(with_profiler) - min(plain)) / min(plain)


def range_costs(folder, repeat):
    """(begin+end, context manager) in ns, without the loop around them."""
    begin, end, scope = _native.range_begin, _native.range_end, _ranges.range

    def calls():
        for _ in range(RANGES):
            begin("forward")
            end()

    def contexts():
        for _ in range(RANGES):
            with scope("forward"):
                pass

    def empty():
        for _ in range(RANGES):
            pass

    best = {}
    with steplens_capture(folder) as capture:
        capture.start()
        for _ in range(repeat):
            for function in (calls, contexts, empty):
                time.sleep(0.02)  # the writer empties the rings
                cost = thread_ns(function) / RANGES
                best[function] = min(cost, best.get(function, cost))
    return best[calls] - best[empty], best[contexts] - best[empty]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=300)
    repeat = parser.parse_args().repeat
    torch.set_num_threads(1)
    gc.disable()
    folder = tempfile.mkdtemp(prefix="steplens_bench_")
    missed = []

    def report(name, value, unit, budget):
        missed.extend([name] if value > budget else [])
        print(f"{name:<58} {value:10.2f} {unit:<4} (budget {budget:g}){'  MISSED' if value > budget else ''}")

    try:
        print(f"undisturbed operator and time added, ns of CPU time, best of {repeat}:")
        for name, (plain, ours, theirs) in added_per_operator(folder, repeat).items():
            print(f"  {name:<26} operator {plain:7.0f}   steplens {ours:+7.0f}   torch.profiler {theirs:+7.0f}")
            report(f"added per operator, {name}: share of torch.profiler's", ours / theirs, "", 0.75)
        ours, theirs = closing_times(folder)
        print(f"closing 5 steps: steplens {ours * 1e3:.1f} ms, torch.profiler {theirs * 1e3:.1f} ms")
        report("closing: share of torch.profiler's", ours / theirs, "", 0.05)
        report("idle profiler slows the loop by", idle_share(repeat), "%", 0.2)
        calls, contexts = range_costs(folder, repeat)
        report("range_begin + range_end", calls, "ns", 200)
        print(f"with steplens.range(...):          {contexts:.0f} ns")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
