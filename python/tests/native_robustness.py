"""Bad days: programs that fork, raise, exit or are killed while they record, and wishes that cannot be granted."""

import io
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from contextlib import redirect_stderr

import torch

import raw_reader
from capture_support import NativeTest, captured, run_python
from steplens import _native, _ranges, _torch
from steplens._capture import Capture, CaptureError
from steplens._config import Config

BEGIN = """
import os, sys, torch
from steplens._capture import Capture
from steplens._config import Config
capture = Capture(Config(activities={"cpu"}, record_shapes=True, profile_memory=True, with_stack=True), sys.argv[1])
capture.start()
"""


class Forks(NativeTest):
    def test_workers_of_a_data_loader_go_on_and_write_nothing(self):
        class Squares(torch.utils.data.Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, index):
                return torch.full((2,), float(index)).square()

        loader = torch.utils.data.DataLoader(Squares(), batch_size=2, num_workers=2)
        with captured(record_shapes=True, profile_memory=True, with_stack=True) as recorded:
            sums = [batch.sum().item() for batch in loader]
        self.assertEqual(sums, [2.0, 26.0, 82.0, 170.0])
        self.assertEqual({op.pid for op in recorded.ops}, {os.getpid()})
        self.assertEqual(recorded.named("aten::square"), [])
        self.assertEqual(len([op for op in recorded.ops if op.name.startswith("enumerate(DataLoader)")]), 5)

    def test_a_child_may_record_for_itself(self):
        code = BEGIN + """
torch.ones(2).add(1)
child = os.fork()
if child == 0:
    other = Capture(Config(activities={"cpu"}), sys.argv[1] + "_child")
    other.start()
    torch.ones(2).sub(1)
    other.stop(); other.finalize({})
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
capture.stop(); capture.finalize({})
"""
        with tempfile.TemporaryDirectory() as root:
            directory = os.path.join(root, "capture")
            result = run_python(code, directory)
            self.assert_ran(result)
            self.assertEqual(result.stderr, "")
            parent = [op.name for op in raw_reader.ops(directory)]
            child = [op.name for op in raw_reader.ops(directory + "_child")]
        self.assertIn("aten::add", parent)
        self.assertNotIn("aten::sub", parent)
        self.assertIn("aten::sub", child)
        self.assertNotIn("aten::add", child)


class Ends(NativeTest):
    def test_exit_while_recording_loses_nothing(self):
        with tempfile.TemporaryDirectory() as root:
            directory = os.path.join(root, "capture")
            result = run_python(BEGIN + "for _ in range(100): torch.ones(2).add(1)\nsys.exit(3)\n", directory)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertEqual(sum(op.name == "aten::add" for op in raw_reader.ops(directory)), 100)
            self.assertIn("end_info", raw_reader.info(directory))

    def test_an_exception_that_ends_the_program(self):
        with tempfile.TemporaryDirectory() as root:
            directory = os.path.join(root, "capture")
            result = run_python(BEGIN + "torch.ones(2).add(1)\nraise ValueError('of the user')\n", directory)
            self.assertEqual(result.returncode, 1)
            self.assertIn("of the user", result.stderr)
            self.assertTrue(raw_reader.ops(directory))

    @staticmethod
    def recorded_adds(directory):
        """Of a capture that is still being written; its last record may be cut."""
        try:
            return sum(op.name == "aten::add" for op in raw_reader.ops(directory))
        except (OSError, ValueError, IndexError, KeyError, struct.error):
            return 0

    def test_killed_program_leaves_what_was_flushed(self):
        code = BEGIN + """
for _ in range(1000): torch.ones(2).add(1)
print("ready", flush=True)
while True: torch.ones(2).add(1)
"""
        with tempfile.TemporaryDirectory() as root:
            directory = os.path.join(root, "capture")
            here = os.path.dirname(os.path.abspath(__file__))
            environment = {**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", "") + os.pathsep + here}
            with subprocess.Popen([sys.executable, "-c", code, directory], stdout=subprocess.PIPE, env=environment) as program:
                self.assertEqual(program.stdout.readline().strip(), b"ready")
                # What is on disk stays: the writer has flushed the thousand once they can be read.
                while program.poll() is None and self.recorded_adds(directory) < 1000:
                    time.sleep(0.01)
                program.send_signal(signal.SIGKILL)
            self.assertGreaterEqual(sum(op.name == "aten::add" for op in raw_reader.ops(directory)), 1000)
            self.assertNotIn("end_info", raw_reader.info(directory))

    def test_exception_inside_a_range_closes_it(self):
        with captured() as recorded:
            with self.assertRaises(KeyError):
                with _ranges.range("outer"):
                    with _ranges.range("failing"):
                        raise KeyError("x")

            @_ranges.range("decorated")
            def fail():
                raise KeyError("y")

            with self.assertRaises(KeyError):
                fail()
            with _ranges.range("after"):
                pass
        names = [op.name for op in recorded.ops]
        self.assertEqual(names, ["failing", "outer", "decorated", "after"])

    def test_a_range_that_was_open_at_the_start_closes_nothing(self):
        before = _ranges.range("before")
        before.__enter__()
        with captured() as recorded:
            with _ranges.range("inside"):
                before.__exit__(None, None, None)
        self.assertEqual([op.name for op in recorded.ops], ["inside"])


class Many(NativeTest):
    def test_two_thousand_threads(self):
        def work(number):
            with _ranges.range(f"thread {number}"):
                torch.ones(2)

        def crowd(first):
            threads = [threading.Thread(target=work, args=(first + i,)) for i in range(50)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        with captured() as recorded:
            for first in range(0, 2000, 50):
                crowd(first)
        names = {op.name for op in recorded.ops if op.name.startswith("thread ")}
        self.assertEqual(len(names) + recorded.statistics["dropped"], 2000)
        self.assertEqual(recorded.statistics["dropped"], 0)

    def test_two_thousand_threads_at_once(self):
        begin = threading.Event()

        def work():
            begin.wait()
            with _ranges.range("at once"):
                pass

        threading.stack_size(256 * 1024)
        try:
            threads = [threading.Thread(target=work) for _ in range(2000)]
            with captured() as recorded:
                for thread in threads:
                    thread.start()
                begin.set()
                for thread in threads:
                    thread.join()
        finally:
            threading.stack_size(0)
        self.assertEqual(len(recorded.ops) + recorded.statistics["dropped"], 2000)

    def test_long_and_strange_names(self):
        names = ["x" * 1_000_000, "\x00\x01\n", "\ud800", "漢字", ""]
        with captured() as recorded:
            for name in names:
                with _ranges.range(name):
                    pass
        recorded_names = [op.name for op in recorded.ops]
        self.assertEqual(len(recorded_names), 5)
        self.assertTrue(recorded_names[0].startswith("x" * 1000))
        self.assertEqual(recorded_names[1], "\x00\x01\n")
        self.assertEqual(recorded_names[3], "漢字")

    def test_strange_texts_cost_neither_the_metadata_nor_the_capture(self):
        half = "\udc80"  # what Python makes of a byte of a file name that is no UTF-8
        with tempfile.TemporaryDirectory() as root:
            directory = os.path.join(root, "capture")
            capture = Capture(Config(mstx=True, mstx_include=[half, "a\0b"], info={"name": half}), directory)
            capture.start()
            with redirect_stderr(io.StringIO()) as said:
                capture.finalize({"a\0" + half: "漢" + half, "no number": float("nan"), "sound": 1})
            self.assertEqual(raw_reader.metadata(directory), {"a??": "漢?", "sound": 1})
            self.assertEqual(raw_reader.info(directory)["config"], {"name": "?"})
            self.assertIn("Metadata 'no number' is left out", said.getvalue())
            Capture(Config(), os.path.join(root, "next")).discard()

    def test_a_source_that_fails_at_the_end_does_not_keep_the_next_capture_from_its_start(self):
        with tempfile.TemporaryDirectory() as root:
            capture = Capture(Config(), os.path.join(root, "capture"))
            capture.start()
            capture._sources[0].close = lambda: 1 / 0
            with self.assertRaises(ZeroDivisionError):
                capture.finalize()
            self.assertIn("end_info", raw_reader.info(capture.directory))
            Capture(Config(), os.path.join(root, "next")).discard()

    def test_ranges_ten_thousand_deep(self):
        with captured() as recorded:
            for _ in range(10_000):
                _native.range_begin("deep")
            for _ in range(10_000):
                _native.range_end()
        self.assertEqual(len(recorded.ops) + recorded.statistics["dropped"], 10_000)


class Refusals(NativeTest):
    def test_two_captures_at_once(self):
        with tempfile.TemporaryDirectory() as root:
            first = Capture(Config(), os.path.join(root, "a"))
            with self.assertRaisesRegex(CaptureError, "running"):
                Capture(Config(), os.path.join(root, "b"))
            first.start()
            with self.assertRaisesRegex(CaptureError, "started already"):
                first.start()
            first.discard()
            self.assertEqual(os.listdir(root), [])
            Capture(Config(), os.path.join(root, "c")).discard()

    @unittest.skipIf(os.geteuid() == 0 and not os.path.exists("/proc/1/mem"), "needs /proc")
    def test_folder_that_cannot_be_made(self):
        with self.assertRaisesRegex(CaptureError, "/proc/steplens"):
            Capture(Config(), "/proc/steplens/capture")
        with tempfile.TemporaryDirectory() as root:
            Capture(Config(), os.path.join(root, "works")).discard()

    def test_stop_without_start_and_twice(self):
        with tempfile.TemporaryDirectory() as root:
            capture = Capture(Config(), os.path.join(root, "a"))
            capture.stop()
            capture.start()
            capture.stop()
            capture.stop()
            capture.finalize({})
            capture.finalize({})
            capture.discard()
            self.assertTrue(os.path.isdir(os.path.join(root, "a")))

    def test_wrong_types(self):
        for options in (None, {"directory": 1}, {"rank": "x", "directory": "/tmp/x"}, {"directory": "a\0b"}):
            with self.assertRaises(TypeError):
                _native.start(options)
        with self.assertRaises(RuntimeError):
            _native.stop()
        with self.assertRaises(TypeError):
            _ranges.range(3)
        with captured():
            for call in (lambda: _native.range_begin(1), lambda: _native.mark(b"x"), lambda: _native.mark_start()):
                with self.assertRaises(TypeError):
                    call()

    def test_an_adapter_for_another_torch_is_not_used(self):
        code = """
import sys, torch
torch.__version__ = "2.9.9"
import steplens._torch as t
assert t.adapter() is None and t.adapter() is None
from steplens._capture import Capture
from steplens._config import Config
from steplens import _ranges
capture = Capture(Config(activities={"cpu"}), sys.argv[1])
capture.start()
with _ranges.range("still recorded"): torch.ones(2)
capture.stop(); capture.finalize({})
"""
        with tempfile.TemporaryDirectory() as root:
            directory = os.path.join(root, "capture")
            result = run_python(code, directory)
            self.assert_ran(result)
            self.assertEqual(result.stderr.count("this is torch 2.9.9, and this steplens was built for 1.13.0; install steplens with"), 1,
                             result.stderr)
            self.assertEqual([op.name for op in raw_reader.ops(directory)], ["still recorded"])

    def test_the_versions_of_torch_that_fit_are_those_of_the_adapters(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(_torch.built_versions(folder), [])
            for name in ("libsteplens_torch-2.10.0.so", "libsteplens_torch-2.9.1.so", "libsteplens_torch.so", "libsteplens_collect.so"):
                open(os.path.join(folder, name), "wb").close()
            self.assertEqual(_torch.built_versions(folder), ["2.9.1", "2.10.0"])

    def test_torch_profiler_beside_ours(self):
        with captured(profile_memory=True, with_stack=True) as recorded:
            with torch.profiler.profile(profile_memory=True, with_stack=True) as theirs:
                torch.ones(2).add(1)
            torch.ones(2).add(1)
        self.assertEqual(len(recorded.named("aten::add")), 2)
        self.assertEqual(len([event for event in theirs.events() if event.name == "aten::add"]), 1)

    def test_a_profile_function_of_the_user_stays(self):
        seen = []
        sys.setprofile(lambda frame, event, argument: seen.append(event))
        try:
            with captured(with_stack=True) as recorded:
                time.sleep(0)
            still = sys.getprofile()
        finally:
            sys.setprofile(None)
        self.assertIsNotNone(still)
        self.assertTrue(seen)
        self.assertFalse([call for call in recorded.calls if call.thread == threading.get_native_id()])


if __name__ == "__main__":
    unittest.main()
