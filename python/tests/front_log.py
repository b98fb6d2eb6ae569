"""Messages: their form, who prints them, and that nothing reaches the training as an exception."""

import contextlib
import io
import os
import re
import unittest
from unittest import mock

from support import FrontTest
from steplens import _log


def printed(call):
    stream = io.StringIO()
    with contextlib.redirect_stderr(stream):
        call()
    return stream.getvalue()


class Messages(FrontTest):
    def test_a_line_has_time_level_pid_and_text(self):
        line = printed(lambda: _log.error("it broke"))
        self.assertRegex(line, rf"^\[\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\] \[ERROR\] \[{os.getpid()}\] profiler\.py: it broke\n$")

    def test_only_rank_0_warns_but_every_rank_informs(self):
        for rank, warns in ((None, True), ("0", True), ("1", False), ("7", False)):
            with mock.patch.dict(os.environ, {"RANK": rank} if rank else {}):
                self.assertEqual(bool(printed(lambda: _log.warning("w"))), warns, rank)
                self.assertIn("[INFO]", printed(lambda: _log.info("i")))
                self.assertIn("[ERROR]", printed(lambda: _log.error("e")))

    def test_either_switch_silences_warnings(self):
        for name in ("TORCH_NPU_WARNING_DISABLE", "TORCH_NPU_DISABLED_WARNING"):
            with mock.patch.dict(os.environ, {name: "1"}):
                self.assertEqual(printed(lambda: _log.warning("w")), "")
            with mock.patch.dict(os.environ, {name: "0"}):
                self.assertIn("[WARNING]", printed(lambda: _log.warning("w")))

    def test_a_closed_standard_error_is_no_failure(self):
        stream = io.StringIO()
        stream.close()
        with contextlib.redirect_stderr(stream):
            _log.error("nobody hears it")


class Guard(FrontTest):
    def test_an_exception_becomes_a_message_and_the_default(self):
        @_log.guarded(default=5)
        def measure():
            raise ValueError("no such thing")

        with self.said() as lines:
            self.assertEqual(measure(), 5)
        self.assertEqual(lines, [("ERROR", "Call measure failed. Exception: no such thing")])

    def test_another_profiler_in_the_process_makes_calls_no_ops_and_is_told_once(self):
        calls = []
        guarded = _log.guarded()(lambda: calls.append(1))
        for name in ("PROFILER_SAMPLECONFIG", "PROFILING_MODE"):
            _log._conflict_told = False
            with mock.patch.dict(os.environ, {name: "x"}), self.said() as lines:
                guarded()
                guarded()
            self.assertEqual(len([text for _, text in lines if name in text]), 1)
        self.assertEqual(calls, [])

    def test_a_message_is_never_empty(self):
        self.assertTrue(re.fullmatch("KeyError|.+", _log.describe(KeyError())))
        self.assertEqual(_log.describe(AssertionError()), "AssertionError")


if __name__ == "__main__":
    unittest.main()
