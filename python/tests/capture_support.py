"""What the tests of the native part share: captures in folders that vanish, and programs in processes of their own."""

import contextlib
import os
import subprocess
import sys
import tempfile
import unittest

from steplens._capture import Capture
from steplens._config import Config


@contextlib.contextmanager
def captured(**switches):
    """Records the block; yields the folder, to be read after the block."""
    with tempfile.TemporaryDirectory() as root:
        directory = os.path.join(root, "capture")
        capture = Capture(Config(**{"activities": {"cpu"}, **switches}), directory)
        capture.start()
        result = Recorded(directory)
        try:
            yield result
        finally:
            capture.stop()
            capture.finalize({})
            result.statistics = capture.statistics
            result.read()


class Recorded:
    """A capture, read as soon as it is closed."""

    def __init__(self, directory):
        self.directory = directory
        self.statistics = {}

    def read(self):
        import raw_reader

        self.ops = raw_reader.ops(self.directory)
        self.memory = raw_reader.memory(self.directory)
        self.calls = raw_reader.calls(self.directory)
        self.call_names = raw_reader.call_names(self.directory)
        self.parameters = raw_reader.parameters(self.directory)
        self.collections = raw_reader.collections_of_garbage(self.directory)
        self.info = raw_reader.info(self.directory)
        self.files = set(os.listdir(os.path.join(self.directory, "FRAMEWORK")))

    def named(self, name):
        return [op for op in self.ops if op.name == name]


def run_python(code, *arguments, timeout=120, environment=None):
    """Runs a program with the package in its path."""
    here = os.path.dirname(os.path.abspath(__file__))
    values = {**os.environ, **(environment or {})}
    values["PYTHONPATH"] = os.pathsep.join(filter(None, [values.get("PYTHONPATH"), here]))
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=timeout, env=values)


class NativeTest(unittest.TestCase):
    def assert_ran(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
