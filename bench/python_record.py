"""What recording costs a PyTorch program, side by side with torch.profiler, in one run.

    PYTHONPATH=build/python /usr/bin/python3 bench/python_record.py [--repeat N] [--loops TEXT]

Times are CPU time of this thread. Recorders and undisturbed runs alternate N times, in each of some blocks; the best of a block counts, so that a
busy machine does not matter, and of all blocks the one in the middle. Beside both recorders stands the floor: callbacks that do nothing,
with the same inputs asked for, and an empty profile function where stacks are wanted. Prints a table and exits with 1 if a budget
(docs/performance.md) is missed.
"""

import argparse
import contextlib
import ctypes
import gc
import itertools
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import torch

from steplens import _native, _ranges
from steplens._capture import Capture
from steplens._config import Config

CALLS = 150  # of an operator in one burst: short, so that some bursts are undisturbed
STEPS = 3  # of the model in one burst
BLOCKS = 15  # of rounds; the one in the middle counts: of five it was 0.70 to 0.77 for a share of 0.72
RANGES = 2000
IDLE_STEPS = 5  # warm ones and measured ones, of an idle profiler
SWITCHES = [("times", {}), ("shapes", {"record_shapes": True}),
            ("shapes, memory, stacks", {"record_shapes": True, "profile_memory": True, "with_stack": True})]


def thread_ns(function):
    begin = time.thread_time_ns()
    function()
    return time.thread_time_ns() - begin


class Loop:
    """Something that calls operators. `operators`: how many are recorded in one burst."""

    def __init__(self, name, run, operators):
        self.name = name
        self.run = run
        self.operators = operators

    def burst_ns(self):
        """Of the second of two bursts that are called from the same line, as a training calls its steps: to both recorders a call stack
        that was not there before costs more than one that was."""
        for _ in range(2):
            cost = thread_ns(self.run)
        return cost / self.operators


def loops():
    """Out of place (each call allocates and frees), in place, and the training step of a small model."""
    x, y = torch.ones(8), torch.ones(8)

    def out_of_place():
        for _ in range(CALLS):
            x.mul(y)

    def in_place():
        for _ in range(CALLS):
            x.add_(y)

    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    data = torch.randn(4, 8)

    def steps():
        for _ in range(STEPS):
            optimizer.zero_grad()
            model(data).sum().backward()
            optimizer.step()

    steps()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as counted:
        steps()
    return [Loop("x.mul(y)", out_of_place, CALLS), Loop("x.add_(y)", in_place, CALLS),
            Loop("step of a small MLP", steps, len(counted.events()))]


@contextlib.contextmanager
def steplens_capture(folder, **switches):
    """A capture that is open; `start` and `stop` switch it on and off."""
    capture = Capture(Config(activities={"cpu"}, **switches), os.path.join(folder, "capture"))
    capture.warmup()
    try:
        yield capture
    finally:
        capture.discard()


def steplens_burst(capture, loop):
    capture.start()
    cost = loop.burst_ns()
    capture.stop()
    return cost


def torch_burst(switches, loop):
    profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **switches)
    profiler.start()
    cost = loop.burst_ns()
    torch.autograd._disable_profiler()  # without its post-processing, which is measured on its own
    profiler.profiler.entered = False
    profiler.profiler = None
    return cost


def load_floor():
    """bench/torch_floor.cc, which is built beside the package."""
    return ctypes.PyDLL(str(pathlib.Path(_native.__file__).parents[2] / "bench/libtorch_floor.so"))


def floor_burst(library, switches, loop):
    set_profile = ctypes.pythonapi.PyEval_SetProfile
    library.floor_begin(bool(switches.get("record_shapes")))
    if switches.get("with_stack"):
        set_profile(library.floor_profile, None)
    cost = loop.burst_ns()
    set_profile(None, None)
    library.floor_end()
    return cost


class Added:
    """What one block of rounds gives, in ns per operator: undisturbed, and what empty callbacks, steplens and torch.profiler add."""

    def __init__(self, plain, *others):
        self.plain = min(plain)
        self.floor, self.ours, self.theirs = (min(costs) - self.plain for costs in others)
        self.share = self.ours / self.theirs


def added_per_operator(folder, repeat, switches, loop):
    """Of each block, ordered by our share. The smallest of many bursts is one lucky burst: the block in the middle is not."""
    library = load_floor()
    blocks = []
    with steplens_capture(folder, **switches) as capture:
        for _ in range(BLOCKS):
            costs = [(loop.burst_ns(), floor_burst(library, switches, loop), steplens_burst(capture, loop), torch_burst(switches, loop))
                     for _ in range(repeat)]
            blocks.append(Added(*zip(*costs)))
    return sorted(blocks, key=lambda block: block.share)


def report_added(name, blocks, report):
    middle = blocks[len(blocks) // 2]
    print(f"  {name}: operator {middle.plain:.0f}, empty callbacks {middle.floor:+.0f}, steplens {middle.ours:+.0f}, torch.profiler "
          f"{middle.theirs:+.0f}; shares {blocks[0].share:.2f} to {blocks[-1].share:.2f}, of empty callbacks {middle.floor / middle.theirs:.2f}")
    report(f"{name}: share of torch.profiler's", middle.share, "", 0.75)


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


def idle_share(rounds):
    """How much slower a step of 1000 small operators is with a profiler that is started and does not record: (percent, how far two
    equal kinds of steps seem apart in percent).

    In each round steps with such a profiler and two kinds without follow each other, each kind in each place equally often; the best of some
    steps counts, and of that the difference to the neighbours, whatever the machine does meanwhile. The median over all rounds is returned.
    Steps without a profiler end with a call of an empty method, because the interpreter alone takes time for any call there.
    """
    import steplens.torch_npu as torch_npu

    x, y = torch.ones(8), torch.ones(8)

    class Nothing:
        def step(self):
            pass

    def operators():
        for _ in range(1000):
            x.add_(y)

    def step_ns(ender):
        begin = time.thread_time_ns()
        operators()
        ender.step()
        return time.thread_time_ns() - begin

    schedule = torch_npu.profiler.schedule(wait=10**9, warmup=1, active=1)
    profiler, nothing = torch_npu.profiler.profile(schedule=schedule), Nothing()
    orders = list(itertools.permutations(("plain", "idle", "again")))
    costs = {kind: [] for kind in orders[0]}
    for number in range(rounds * len(orders)):
        for kind in orders[number % len(orders)]:
            profiler.start()
            if kind != "idle":
                profiler.stop()  # memory looks the same for all kinds
            for _ in range(IDLE_STEPS):  # after a start or a stop the processor's caches need some milliseconds
                step_ns(nothing)
            ender = profiler if kind == "idle" else nothing
            costs[kind].append(min(step_ns(ender) for _ in range(IDLE_STEPS)))
            if kind == "idle":
                profiler.stop()
    plain = statistics.median(costs["plain"])
    slower = [100 * (idle - (one + other) / 2) / plain for one, idle, other in zip(costs["plain"], costs["idle"], costs["again"])]
    apart = [100 * (one - other) / plain for one, other in zip(costs["plain"], costs["again"])]
    return statistics.median(slower), abs(statistics.median(apart))


def thousand_operators_ns():
    """CPU time of a step of 1000 small operators."""
    x, y = torch.ones(8), torch.ones(8)

    def operators():
        for _ in range(1000):
            x.add_(y)

    return min(thread_ns(operators) for _ in range(50))


def idle_calls(folder):
    """(name, ns of CPU time of one call at the end of a step) of all that may be switched on and not record: the median of 9 loops."""
    import steplens.mindspore as mindspore
    import steplens.torch_npu as torch_npu
    from steplens._autorecord import Recorder
    from steplens.torch_npu.profiler import dynamic_profile

    never = {"wait": 10**9, "warmup": 1, "active": 1}
    of_torch = torch_npu.profiler.profile(schedule=torch_npu.profiler.schedule(**never))
    of_torch.start()
    of_mindspore = mindspore.Profiler(output_path=folder, schedule=mindspore.profiler.schedule(**never))
    dynamic_profile.init(os.path.join(folder, "dynamic"))
    monitor = mindspore.profiler.DynamicProfilerMonitor(os.path.join(folder, "monitor"), output_path=folder)
    steered = Recorder({"profile_step_start": -1, "control_dir": os.path.join(folder, "control"), "profile_save_path": folder})

    def loop(call):
        for _ in range(10000):
            call()

    for name, call in (("profile.step", of_torch.step), ("mindspore Profiler.step", of_mindspore.step),
                       ("dynamic_profile.step", dynamic_profile.step), ("DynamicProfilerMonitor.step", monitor.step),
                       ("steplens record --wait-for-start", steered.step_ended)):
        yield name, statistics.median(thread_ns(lambda call=call: loop(call)) / 10000 for _ in range(9))
    of_torch.stop()
    of_mindspore.stop()
    monitor._finish()
    dynamic_profile._dynamic.close()


def start_times(folder, number):
    """Milliseconds of wall time until a capture records, each after a pause in which the last one is forgotten."""
    for i in range(number):
        directory = os.path.join(folder, f"start_{i}")
        begin = time.perf_counter()
        capture = Capture(Config(activities={"cpu"}, **SWITCHES[-1][1]), directory)
        capture.warmup()
        capture.start()
        yield 1e3 * (time.perf_counter() - begin)
        capture.discard()
        time.sleep(0.05)


def process_cpu(folder, rounds, steps=60):
    """(plain, ours, torch) CPU seconds of the whole process for some steps with everything on, until the recording has ended: medians of
    runs that take turns. torch.profiler's end is that of its recording, without the tables it makes of it."""
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.randn(4, 16, 64)

    def train():
        for _ in range(steps):
            model_step(model, optimizer, data)

    def plain(_):
        train()

    def ours(number):
        capture = Capture(Config(activities={"cpu"}, **SWITCHES[-1][1]), os.path.join(folder, f"process_{number}"))
        capture.start()
        train()
        capture.stop()
        capture.finalize({})

    def theirs(_):
        profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **SWITCHES[-1][1])
        profiler.start()
        train()
        torch.autograd._disable_profiler()
        profiler.profiler.entered = False
        profiler.profiler = None

    train()
    costs = {run: [] for run in (plain, ours, theirs)}
    for number in range(rounds):
        for run in costs:
            begin = time.process_time()
            run(number)
            costs[run].append(time.process_time() - begin)
        shutil.rmtree(os.path.join(folder, f"process_{number}"))
    return [statistics.median(values) for values in costs.values()]


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
    parser.add_argument("--repeat", type=int, default=60)
    parser.add_argument("--loops", default="", metavar="TEXT", help="only operators, and of them only loops with TEXT in their name")
    options = parser.parse_args()
    repeat = options.repeat
    torch.set_num_threads(1)
    gc.disable()
    os.environ["TORCH_NPU_WARNING_DISABLE"] = "1"  # profilers that never record say so
    folder = tempfile.mkdtemp(prefix="steplens_bench_")
    missed = []

    def report(name, value, unit, budget):
        missed.extend([name] if value > budget else [])
        print(f"{name:<58} {value:10.2f} {unit:<4} (budget {budget:g}){'  MISSED' if value > budget else ''}")

    try:
        print(f"undisturbed operator and time added, ns of CPU time, {BLOCKS} times the best of {repeat}:")
        for loop in loops():
            for name, switches in SWITCHES:
                if options.loops not in f"{loop.name}, {name}":
                    continue
                report_added(f"{loop.name}, {name}", added_per_operator(folder, repeat, switches, loop), report)
        if options.loops:
            return 1 if missed else 0
        ours, theirs = closing_times(folder)
        print(f"closing 5 steps: steplens {ours * 1e3:.1f} ms, torch.profiler {theirs * 1e3:.1f} ms")
        report("closing: share of torch.profiler's", ours / theirs, "", 0.05)
        idle, nothing = idle_share(repeat)
        print(f"two equal steps differ by {nothing:.2f} % when measured like the idle profiler")
        report("idle profiler slows a step of 1000 operators by", idle, "%", 0.2)
        step_ns = thousand_operators_ns()
        for name, cost in idle_calls(folder):
            report(f"idle {name} ({cost:.0f} ns) of such a step", 100 * cost / step_ns, "%", 0.2)
        first, *others = start_times(folder, 2 * BLOCKS)
        print(f"start of the first capture of a process: {first:.2f} ms")
        report("start of a capture, median", statistics.median(others), "ms", 2)
        plain, cpu, torch_cpu = process_cpu(folder, BLOCKS)
        print(f"process CPU of 60 steps, everything on: undisturbed {plain:.3f} s, steplens {cpu:.3f} s, torch.profiler {torch_cpu:.3f} s")
        report("process CPU added: share of torch.profiler's", (cpu - plain) / (torch_cpu - plain), "", 1)
        calls, contexts = range_costs(folder, 5 * repeat)
        report("range_begin + range_end", calls, "ns", 200)
        print(f"with steplens.range(...):          {contexts:.0f} ns")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
