"""What is derived where the CPU is the device: sound for short steps, data-parallel ranks and killed jobs, and the same kernels whatever the
timing, the rank and the switches."""

import csv
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import raw_reader
from capture_support import NativeTest
from native_distributed import run_ranks

# A training of two ranks with steps of about a millisecond. An all-reduce is waited for in the step after the one that starts it.
TRAINING = """
import os, sys, torch
import torch.distributed as dist
from steplens._capture import Capture
from steplens._config import Config

torch.set_num_threads(1)
torch.manual_seed(1)
dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
pending = None

def train():
    global pending
    optimizer.zero_grad()
    model(torch.ones(8, 16)).sum().backward()
    if pending is not None:
        pending.wait()
    pending = dist.all_reduce(torch.ones(20000), async_op=True)
    optimizer.step()

def record(folder, steps, waits=False, **switches):
    capture = Capture(Config(activities={"cpu", "npu"}, level="1", **switches), folder)
    capture.start()
    for step in range(steps):
        capture.step_begin(step)
        train()
        if waits and step == steps - 1:  # gloo begins a collective on a thread of its own, perhaps after the step that called it
            pending.wait()
        capture.step_end()
    capture.stop()
    capture.finalize({})

for _ in range(3):
    train()
"""
SHORT_STEPS = TRAINING + """
for i in range(25):
    record(os.path.join(sys.argv[1], f"{i}_ascend_pt"), 4)
pending.wait()
"""
# One capture per set of switches.
SETS_OF_SWITCHES = TRAINING + """
import json
for i, switches in enumerate(json.loads(sys.argv[2])):
    pending.wait()
    pending = None
    dist.barrier()
    record(os.path.join(sys.argv[1], f"{i}_ascend_pt"), 5, True, **switches)
pending.wait()
"""
KILLED = """
import sys, torch
from steplens._capture import Capture
from steplens._config import Config

capture = Capture(Config(activities={"cpu", "npu"}, level="1"), sys.argv[1])
capture.start()
model = torch.nn.Linear(4, 4)
for step in range(1_000_000):
    capture.step_begin(step)
    model(torch.ones(2, 4)).sum().backward()
    capture.step_end()
    if step == 50:
        print("recorded", flush=True)
"""


def steplens(*arguments):
    return subprocess.run([os.environ["STEPLENS_PROGRAM"], *arguments], capture_output=True, text=True, timeout=300)


def rows(capture, name):
    with open(os.path.join(capture, "ASCEND_PROFILER_OUTPUT", name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@unittest.skipUnless(os.environ.get("STEPLENS_PROGRAM"), "STEPLENS_PROGRAM names no program")
class CpuDevice(NativeTest):
    def captures(self, root, *arguments):
        """Analysed, all of them."""
        self.assert_ran(steplens("analyse", root, *arguments))
        found = [os.path.join(folder, name) for folder, names, _ in os.walk(root) for name in names if name.endswith("_ascend_pt")]
        return sorted(found)

    def assert_sound(self, capture):
        result = steplens("verify", capture)
        self.assert_ran(result)
        self.assertIn(" 0 broken", result.stdout)

    def test_50_captures_of_short_steps_hold(self):
        with tempfile.TemporaryDirectory() as root:
            run_ranks(root, "", SHORT_STEPS)
            captures = self.captures(root)
            self.assertEqual(len(captures), 50)
            for capture in captures:
                self.assert_sound(capture)
                steps = rows(capture, "step_trace_time.csv")
                self.assertEqual([row["Step"] for row in steps], ["0", "1", "2", "3"])
                for row in steps:
                    values = {key: float(value) for key, value in row.items() if key not in ("Device_id", "Step")}
                    self.assertGreaterEqual(min(values.values()), 0, (capture, row))
                    self.assertGreater(values["Computing"], 0, (capture, row))
                    self.assertAlmostEqual(values["Computing"] + values["Communication(Not Overlapped)"] + values["Free"],
                                           values["Stage"] + values["Bubble"], delta=0.5)
                # A collective of the capture before may begin to move its data before the first step of this one.
                kernels = [row for row in rows(capture, "kernel_details.csv") if row["Accelerator Core"] == "AI_CORE"]
                self.assertEqual({row["Step Id"] for row in kernels}, {"0", "1", "2", "3"})

    def test_kernel_counts_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as root:
            memory = {"record_shapes": True, "profile_memory": True}
            run_ranks(root, json.dumps([{}, memory, {"with_stack": True, "with_modules": True, **memory}]), SETS_OF_SWITCHES)
            captures = self.captures(root)
            self.assertEqual(len(captures), 6)
            counts = [sorted((row["OP Type"], row["Core Type"], row["Count"]) for row in rows(capture, "op_statistic.csv"))
                      for capture in captures]
            for capture, count in zip(captures, counts):
                self.assertEqual(count, counts[0], capture)
            by_type = {kind: int(number) for kind, _, number in counts[0]}
            self.assertEqual((by_type["addmm"], by_type["mm"]), (10, 15))  # of 5 steps: two layers forward, three products backward
            for wrapper in ("linear", "t", "view", "empty", "AccumulateGrad"):
                self.assertNotIn(wrapper, by_type)

    def test_communication_of_a_job(self):
        with tempfile.TemporaryDirectory() as root:
            run_ranks(root, "[{}]", SETS_OF_SWITCHES)
            captures = self.captures(root)
            for rank, capture in enumerate(captures):
                self.assert_sound(capture)
                with open(os.path.join(capture, "ASCEND_PROFILER_OUTPUT", "communication.json"), encoding="utf-8") as file:
                    steps = json.load(file)
                operations = [(name, operation) for step in steps.values() for name, operation in step["collective"].items()
                              if name != "Total Op Info"]
                sizes = sorted(round(1e6 * operation["Communication Bandwidth Info"]["SDMA"]["Transit Size(MB)"])
                               for _, operation in operations)
                # A ring of two sends what it has once: 340 parameters, and 20,000 numbers.
                self.assertEqual(sizes, [1360] * 5 + [80000] * 5)
                for _, operation in operations:
                    link = operation["Communication Bandwidth Info"]["SDMA"]
                    self.assertAlmostEqual(link["Bandwidth(GB/s)"], link["Transit Size(MB)"] / link["Transit Time(ms)"], places=3)
                with open(os.path.join(capture, "ASCEND_PROFILER_OUTPUT", "communication_matrix.json"), encoding="utf-8") as file:
                    matrix = json.load(file)
                links = {link for step in matrix.values() for entry in step["collective"].values() for link in entry}
                self.assertEqual(links, {f"{rank}-{1 - rank}"})

    @staticmethod
    def recorded_steps(folder):
        """Of a capture that is still being written; its last record may be cut."""
        try:
            return sum(op.name.startswith("ProfilerStep#") for op in raw_reader.ops(folder))
        except (OSError, ValueError, IndexError, KeyError, struct.error):
            return 0

    def test_a_killed_job_holds(self):
        with tempfile.TemporaryDirectory() as root:
            folder = os.path.join(root, "killed_ascend_pt")
            program = subprocess.Popen([sys.executable, "-c", KILLED, folder], stdout=subprocess.PIPE, text=True)
            self.assertEqual(program.stdout.readline(), "recorded\n")
            while program.poll() is None and self.recorded_steps(folder) <= 45:  # the writer comes by when it likes
                time.sleep(0.01)
            program.send_signal(signal.SIGKILL)
            program.wait()
            program.stdout.close()
            analysed = steplens("analyse", root)
            self.assert_ran(analysed)
            # That it was killed and up to when its data reaches comes first.
            reaches = r"the process was killed or crashed while recording; its data reaches to 20\d\d-[-0-9 :.]+ UTC, \d+\.\d+ s after the first "
            reaches += r"event, the last complete step is \d+"
            self.assertRegex(analysed.stderr, r"^steplens: [^\n]*_ascend_pt: " + reaches)
            self.assertRegex(steplens("info", folder).stdout, r"^Rank [^\n]*\n  ended:  " + reaches)
            (capture,) = self.captures(root)
            result = steplens("verify", capture)  # that it was killed, and nothing else
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertIn(" 1 broken", result.stdout)
            self.assertIn("CaptureUnfinished", result.stdout)
            self.assertGreater(len(rows(capture, "step_trace_time.csv")), 40)


if __name__ == "__main__":
    unittest.main()
