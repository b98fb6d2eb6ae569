"""The module `mspti` against the stand-in of the vendor's library (tests/standin), and without any."""

import os
import tempfile
import unittest

from capture_support import NativeTest, run_python

BUILD = os.path.dirname(os.path.abspath(os.environ.get("STEPLENS_PROGRAM", "build/steplens")))
STANDIN = os.path.join(BUILD, "tests", "standin")

SET_UP = """
import steplens.mspti as mspti
from steplens.mspti import CommunicationMonitor, HcclMonitor, KernelMonitor, MstxMonitor, MsptiResult
OK, INVALID, INNER = MsptiResult.MSPTI_SUCCESS, MsptiResult.MSPTI_ERROR_INVALID_PARAMETER, MsptiResult.MSPTI_ERROR_INNER
"""


@unittest.skipUnless(os.path.isdir(os.path.join(STANDIN, "whole")), "the stand-in is not built")
class Mspti(NativeTest):
    def run_with(self, code, make="whole", **environment):
        """What was written to standard error; the code fails by raising."""
        result = run_python(SET_UP + code, environment={"STEPLENS_ASCEND_LIB": os.path.join(STANDIN, make), **environment})
        self.assert_ran(result)
        return result.stderr

    def test_kernels_and_communication_reach_their_callbacks(self):
        self.assertEqual(self.run_with("""
kernels, comms = [], []
first, second = KernelMonitor(), CommunicationMonitor()
assert first.start(kernels.append) is OK and second.start(comms.append) is OK
assert first.stop() is OK and second.stop() is OK
# The stand-in scripts ten of each kind that is enabled when it is flushed.
assert not kernels and len(comms) >= 10, (len(kernels), len(comms))
data = comms[0]
assert type(data) is mspti.CommunicationData
assert (data.kind.name, data.data_type.name, data.count) == ("MSPTI_ACTIVITY_KIND_COMMUNICATION", "MSPTI_ACTIVITY_COMMUNICATION_FP32", 1024)
assert (data.device_id, data.stream_id, data.alg_type, data.name, data.comm_name) == (0, 3, "RING", "hcom_allReduce_", "group")
assert data.correlation_id == 1 and data.end - data.start == 5000
assert KernelMonitor().start(kernels.append) is OK
assert KernelMonitor.flush_all() is OK and len(kernels) == 10, len(kernels)
data = kernels[3]
assert (data.device_id, data.stream_id, data.correlation_id, data.type, data.name) == (0, 2, 4, "KERNEL_AICORE", "MatMulV2")
assert KernelMonitor().stop() is OK and KernelMonitor().stop() is OK
"""), "")

    def test_ranges_are_joined_whichever_end_comes_first(self):
        self.run_with("""
marks, ranges = [], []
monitor = MstxMonitor()
assert monitor.start(marks.append, ranges.append) is OK
monitor.flush_all()
assert [mark.name for mark in marks] == ["mark"] * 4 and len(ranges) == 3, (marks, ranges)
found = ranges[0]
assert (found.name, found.domain, found.id) == ("range", "default", 2) and found.end > found.start
assert found.object_id.thread_id == 7 and found.object_id.device_id == -1 and found.source_kind == 0
assert MstxMonitor.disable_domain("d") is OK and MstxMonitor.enable_domain("d") is OK
assert MstxMonitor.enable_domain("d" * 255) is INVALID and MstxMonitor.enable_domain(None) is INVALID
monitor.stop()
""")

    def test_wrong_arguments_are_refused_and_start_nothing(self):
        self.run_with("""
assert KernelMonitor().start(None) is INVALID and HcclMonitor().start(5) is INVALID
assert MstxMonitor().start(None, None) is INVALID
for size in (0, 257, True, "2", None, 1.5):
    assert KernelMonitor.set_buffer_size(size) is INVALID, size
assert KernelMonitor.set_buffer_size(1) is OK
for period in (-1, "1", None, 1 << 32):
    assert KernelMonitor.flush_period(period) is INVALID, period
assert KernelMonitor.flush_period(10) is OK
assert HcclMonitor().start(print) is MsptiResult.MSPTI_ERROR_WITHOUT_LD_PRELOAD
assert MstxMonitor().start(None, print) is OK
assert KernelMonitor.set_buffer_size(2) is INVALID, "too late"
MstxMonitor().stop()
""")

    def test_a_callback_that_raises_is_printed_and_the_next_activity_comes(self):
        said = self.run_with("""
seen = []
def callback(data):
    seen.append(data)
    if len(seen) <= 10:  # the end of the program brings more
        raise ValueError("mine")
KernelMonitor().start(callback)
KernelMonitor.flush_all()
assert len(seen) == 10
""")
        self.assertEqual(said.count("ValueError: mine"), 10)

    def test_a_monitor_that_nobody_stops_ends_with_the_program_and_not_with_a_forked_child(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "calls")
            self.run_with("""
import os, sys
KernelMonitor().start(lambda data: None)
child = os.fork()
if child == 0:
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
""", STANDIN_LOG=log)
            with open(log, encoding="utf-8") as file:
                self.assertEqual(file.read().split().count("msptiUnsubscribe"), 1)

    def test_one_subscriber_a_process(self):
        self.run_with("assert KernelMonitor().start(print) is MsptiResult.MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED\n",
                      STANDIN_FAIL="msptiSubscribe:2")

    def test_without_the_library_start_says_so_once(self):
        said = self.run_with("assert KernelMonitor().start(print) is INNER and MstxMonitor().start(print, None) is INNER\n"
                             "assert KernelMonitor().stop() is OK\n", make="nowhere")
        self.assertEqual(said.count("WARNING"), 1, said)
        self.assertIn("msptiSubscribe is not in the vendor's libraries", said)


if __name__ == "__main__":
    unittest.main()
