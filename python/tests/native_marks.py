"""User marks as they reach the file: which are refused, where a range ends, what a step is called."""

import os
import tempfile
import unittest

import raw_reader
from capture_support import NativeTest
import steplens.mstx as plain
from steplens import _native
from steplens._capture import Capture
from steplens._config import Config
from steplens.torch_npu.npu import Stream, mstx


class Marks(NativeTest):
    def recorded(self, work, **switches):
        """The marks and the operators of a capture around a call of `work(capture)`."""
        with tempfile.TemporaryDirectory() as root:
            capture = Capture(Config(activities={"cpu"}, mstx=True, **switches), os.path.join(root, "capture"))
            capture.start()
            work(capture)
            capture.finalize({})
            return raw_reader.marks(capture.directory), [op.name for op in raw_reader.ops(capture.directory)]

    def test_what_a_spreadsheet_takes_for_a_formula_is_refused(self):
        def work(_capture):
            for text in ("=a", "+a", "-a", "@a", "\0a"):
                mstx.mark(text)
                self.assertEqual((mstx.range_start(text), mstx.range_push(text)), (0, -1))
            mstx.mark("m", domain="=d")
            mstx.mark("m", domain="")
            mstx.mark("m", domain="d" * 1024)
            mstx.mark("kept", domain="d" * 1023)
            mstx.mark("also kept")

        self.assertEqual([mark.message for mark in self.recorded(work)[0]], ["kept", "also kept"])

    def test_numbers_that_no_range_and_no_stream_has_are_ignored(self):
        class Wide(Stream):
            npu_stream = 2**70

        def work(_capture):
            for call in (lambda: mstx.range_end(2**70), lambda: plain.range_end(2**70), lambda: plain.range_end(-1),
                         lambda: plain.mark("a", 2**70), lambda: plain.mark("b", -1), lambda: mstx.mark("c", Wide())):
                self.assertIsNone(call())
            self.assertGreater(mstx.range_start("d", Wide()), 0)

        self.assertEqual([mark.message for mark in self.recorded(work)[0]], ["a", "b", "c", "d"])

    def test_a_range_ends_only_in_its_own_domain(self):
        def work(_capture):
            outer = mstx.range_start("outer", domain="d")
            mstx.range_end(outer, "other")
            mstx.range_end(outer)
            mstx.range_end(mstx.range_start("inner"))
            mstx.range_end(outer, "d")
            lost = mstx.range_start("lost")
            _native.mark_end(lost)  # whatever its domain

        found = {mark.message: mark for mark in self.recorded(work)[0]}
        self.assertGreaterEqual(found["outer"].end, found["inner"].end)
        self.assertEqual({mark.domain for mark in found.values()}, {"d", None})

    def test_a_domain_with_a_comma_is_one(self):
        def work(_capture):
            for domain in ("a,b", "a", "b", " c"):
                mstx.mark("m", domain=domain)

        self.assertEqual([mark.domain for mark in self.recorded(work, mstx_include=["a,b", " c"])[0]], ["a,b", " c"])
        self.assertEqual([mark.domain for mark in self.recorded(work, mstx_exclude=["a,b"])[0]], ["a", "b", " c"])

    def test_the_mark_of_a_step_is_the_front_ends(self):
        def work(capture):
            capture.step_begin(7)
            capture.step_end()

        for prefix in ("ProfilerStep#", "step "):
            marks, operators = self.recorded(work, step_mark=prefix)
            self.assertEqual([mark.message for mark in marks], [prefix + "7"])
            self.assertIn("ProfilerStep#7", operators)


if __name__ == "__main__":
    unittest.main()
