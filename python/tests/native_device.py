"""The device back end from Python, against the stand-in of the vendor's libraries (tests/standin)."""

import os
import tempfile
import unittest

import raw_reader
from capture_support import NativeTest, run_python

BUILD = os.path.dirname(os.path.abspath(os.environ.get("STEPLENS_PROGRAM", "build/steplens")))
STANDIN = os.path.join(BUILD, "tests", "standin")

SET_UP = """
import os, sys, torch
from steplens._capture import Capture
from steplens._config import Config
def new(directory=sys.argv[1], **more):
    return Capture(Config(activities={"cpu", "npu"}, level="1", aic_metrics="PipeUtilization", profile_memory=True, **more), directory)
"""

CODE = """
capture = new()
capture.warmup()
capture.step_begin(0)
capture.step_end()
capture.start()
capture.step_begin(1)
torch.ones(2).add(1)
capture.step_end()
capture.stop()
capture.finalize({})
"""


@unittest.skipUnless(os.path.isdir(os.path.join(STANDIN, "whole")), "the stand-in is not built")
class Device(NativeTest):
    def run_with(self, make, code=CODE, **environment):
        """What the vendor's libraries were asked, what was said, the kind of device, operators recorded."""
        with tempfile.TemporaryDirectory() as root:
            directory, log = os.path.join(root, "capture"), os.path.join(root, "calls")
            values = {"STEPLENS_ASCEND_LIB": os.path.join(STANDIN, make), "STANDIN_LOG": log, **environment}
            result = run_python(SET_UP + code, directory, environment=values)
            self.assert_ran(result)
            calls = ""
            if os.path.exists(log):
                with open(log, encoding="utf-8") as file:
                    calls = file.read()
            device = raw_reader.info(directory)["steplens_host"]["device"]
            has_data = any(name.startswith("PROF_") for name in os.listdir(directory))
            return calls, result.stderr, device, [op.name for op in raw_reader.ops(directory)], has_data

    def test_the_device_is_driven_in_order(self):
        calls, said, device, operators, has_data = self.run_with("whole")
        self.assertEqual((device, has_data, said), ("npu", True, ""))
        order = [calls.find(name) for name in ("aclprofInit", "aclprofCreateConfig", "aclprofStart", "aclprofStop",
                                               "aclprofFinalize")]
        self.assertNotIn(-1, order, calls)
        self.assertEqual(order, sorted(order), calls)
        self.assertIn("aten::add", operators)

    def test_online_analysis_reads_the_raw_data(self):
        code = """
import csv, ctypes, glob, os, sys, torch
from steplens import torch_npu
standin = ctypes.CDLL(os.environ["STEPLENS_ASCEND_LIB"] + "/libmsprofiler.so")
profiler = torch_npu.profiler
experimental = profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.Level1)
with profiler.profile(activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU], experimental_config=experimental,
                      schedule=profiler.schedule(wait=0, warmup=0, active=2, repeat=1),
                      on_trace_ready=profiler.tensorboard_trace_handler(sys.argv[1])) as prof:
    for _ in range(2):
        standin.standin_kernel(b"MatMul1", b"MatMulV2", 2, ctypes.c_uint64(500))
        prof.step()
(path,) = glob.glob(sys.argv[1] + "/*_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv")
rows = list(csv.DictReader(open(path)))
assert [row["Name"] for row in rows] == ["MatMul1"] * 2, rows
assert [row["Duration(us)"].strip() for row in rows] == ["10.000"] * 2, rows
"""
        with tempfile.TemporaryDirectory() as root:
            values = {"STEPLENS_ASCEND_LIB": os.path.join(STANDIN, "whole"), "STANDIN_PROF": "1"}
            self.assert_ran(run_python(code, root, environment=values))

    def test_a_device_that_refuses_costs_one_warning(self):
        _, said, device, operators, _ = self.run_with("whole", STANDIN_FAIL="aclprofInit:500005:1")
        self.assertEqual(device, "cpu")
        self.assertEqual(said.count("aclprofInit failed with code 500005"), 1, said)
        self.assertIn("aten::add", operators)
        _, said, _, operators, _ = self.run_with("whole", STANDIN_FAIL="aclprofStart:500005:1")
        self.assertEqual(said.count("The device is not recorded: start failed with code 500005"), 1, said)
        self.assertIn("aten::add", operators)

    def test_a_step_is_marked_on_the_device_only_while_it_records(self):
        calls, said, _, _, has_data = self.run_with("whole")  # its warm-up has a step
        self.assertEqual((said, has_data), ("", True))
        self.assertEqual([line for line in calls.splitlines() if "StepTimestamp" in line],
                         ["aclprofGetStepTimestamp step=1 tag=0", "aclprofGetStepTimestamp step=1 tag=1"])

    def test_a_device_that_failed_is_there_for_the_next_capture(self):
        first = "first = new(sys.argv[1] + '.first'); first.start(); first.finalize({})\n"
        for call in ("aclprofInit", "aclprofCreateConfig", "aclprofStart", "aclprofStop"):
            with self.subTest(call):
                calls, said, device, _, has_data = self.run_with("whole", first + CODE, STANDIN_FAIL=f"{call}:500005:1")
                self.assertEqual(said.count("The device is not recorded"), 1, said)
                self.assertEqual((device, has_data), ("npu", True), calls)
                if call != "aclprofInit":
                    self.assertEqual(calls.count("aclprofFinalize"), 2, calls)

    def test_mindspore_has_its_own_settings(self):
        code = CODE.replace("new()", "new(framework='mindspore', device_id=5)")
        calls, said, _, _, has_data = self.run_with("whole", code)
        self.assertEqual((said, has_data), ("", True))
        self.assertIn("aclprofSetConfig 3=100\n", calls)
        self.assertIn("aclprofGetStepTimestamp step=1 tag=60000\n", calls)
        self.assertIn("aclprofGetStepTimestamp step=1 tag=60001\n", calls)

    def test_a_setting_that_is_refused_costs_only_its_own_data(self):
        calls, said, device, _, has_data = self.run_with("whole", STANDIN_FAIL="aclprofSetConfig:100000:1")
        self.assertIn("The device records less than was asked for: aclprofSetConfig failed with code 100000.", said)
        self.assertEqual((said.count("WARNING"), device, has_data), (1, "npu", True), calls)

    def test_a_discarded_capture_leaves_nothing(self):
        code = """
capture = new(sys.argv[1] + ".gone")
capture.warmup()
os.mkdir(os.path.join(capture.directory, "PROF_of_the_device"))
capture.discard()
assert not os.path.exists(capture.directory), os.listdir(capture.directory)
os.mkdir(capture.directory)
capture = new(capture.directory)
capture.discard()
assert os.path.isdir(capture.directory), "it was there before"
"""
        self.run_with("whole", code + CODE)

    MARKS = """
import types
import steplens.mstx as plain
from steplens.torch_npu.npu import mstx
from steplens.torch_npu.npu._stream import Stream
class NpuStream(Stream):
    npu_stream = 77
sys.modules["torch_npu"] = types.SimpleNamespace(npu=types.SimpleNamespace(current_stream=NpuStream))
capture = new(mstx=True)
mstx.mark("too early", NpuStream())
capture.start()
capture.step_begin(4)
mstx.mark("host only")
mstx.mark("m", NpuStream())
mstx.mark("n", NpuStream(), "d")
outer = mstx.range_start("r", NpuStream(), "d")
mstx.range_end(outer)  # of another domain
mstx.range_push("p", NpuStream())
mstx.range_pop()
mstx.range_end(outer, "d")
plain.mark("q", 99)
plain.range_end(plain.range_start("s", stream=99))
lost = mstx.range_start("open", NpuStream())
capture.step_end()
capture.stop()
mstx.range_end(lost)
capture.finalize({})
"""

    def test_marks_with_a_stream_reach_the_stream(self):
        calls, said, _, _, has_data = self.run_with("whole", self.MARKS)
        self.assertEqual((said, has_data), ("", True))
        self.assertEqual([line for line in calls.splitlines() if line.startswith("mstx")], [
            "mstxRangeStartA ProfilerStep#4 stream=1", "mstxMarkA m stream=1", "mstxDomainCreateA d", "mstxDomainMarkA d n stream=1",
            "mstxDomainRangeStartA d r stream=1", "mstxRangeStartA p stream=1", "mstxRangeEnd 3", "mstxDomainRangeEnd d 2",
            "mstxMarkA q stream=1", "mstxRangeStartA s stream=1", "mstxRangeEnd 4", "mstxRangeStartA open stream=1", "mstxRangeEnd 1"])
        self.assertNotIn("aclprofMarkEx", calls)

    def test_without_the_vendors_receiver_both_ends_of_a_range_are_marks(self):
        calls, _, _, _, _ = self.run_with("whole", self.MARKS, STANDIN_FAIL="InitInjectionMstx:1")
        marks = [line.split(" ", 1)[1] for line in calls.splitlines() if line.startswith("aclprofMarkEx")]
        self.assertEqual(marks, ["ProfilerStep#4", "m", "n", "r", "p", "p", "r", "q", "s", "s", "open", "ProfilerStep#4"])

    def test_the_dump_of_arguments_is_said_to_be_missing_once(self):
        first = "new(sys.argv[1] + '.first', record_op_args=True).discard()\n"
        said = self.run_with("whole", first + CODE.replace("new()", "new(record_op_args=True)"))[1]
        self.assertEqual(said.count("record_op_args has no effect"), 1, said)

    def test_without_a_device_the_cpu_is_the_device_and_nothing_is_said(self):
        _, said, device, operators, has_data = self.run_with("nowhere")
        self.assertEqual((said, device, has_data), ("", "cpu", False))
        self.assertIn("aten::add", operators)


if __name__ == "__main__":
    unittest.main()
