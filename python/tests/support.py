"""What the tests of the front ends share: a capture that only writes down what was asked of it, and a clean process state."""

import contextlib
import importlib.util
import io
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

try:
    import steplens  # noqa: F401 - the build tree is in PYTHONPATH
except ImportError:
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from steplens import _log, _machine, _marks, _session

_VARIABLES = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "RANK_ID", "DEVICE_ID", "ASCEND_WORK_PATH", "PROF_CONFIG_PATH", "MS_PROFILER_OPTIONS",
              "PROFILER_SAMPLECONFIG", "PROFILING_MODE", "TORCH_NPU_WARNING_DISABLE", "TORCH_NPU_DISABLED_WARNING",
              "MSMONITOR_USE_DAEMON", "KINETO_USE_DAEMON")


class FakeCapture:
    """The shape of steplens._capture.Capture. `log` has the calls of all captures; `fails` names calls that raise."""

    log: list = []
    made: list = []
    fails: set = set()

    def __init__(self, config, directory):
        self._call("init")
        self.config = config
        self.directory = directory
        self.metadata = None
        FakeCapture.made.append(self)
        os.makedirs(os.path.join(directory, "FRAMEWORK"))

    def _call(self, *what):
        FakeCapture.log.append(what if len(what) > 1 else what[0])
        if what[0] in FakeCapture.fails:
            raise RuntimeError(f"{what[0]} was told to fail")

    def warmup(self):
        self._call("warmup")

    def start(self):
        self._call("start")

    def stop(self):
        self._call("stop")

    def finalize(self, metadata):
        self._call("finalize")
        self.metadata = metadata

    def discard(self):
        self._call("discard")
        shutil.rmtree(self.directory)

    def step_begin(self, number):
        self._call("step_begin", number)

    def step_end(self):
        self._call("step_end")


class FakeNative:
    """The calls of steplens._native that marks use."""

    def __init__(self, records=True):
        self.log = []
        self.records = records
        self._next = 0

    def mark(self, message, domain="default", stream=0):
        self.log.append(("mark", message, domain) + ((stream,) if stream else ()))

    def mark_start(self, message, domain="default", stream=0):
        if not self.records:
            return 0
        self._next += 1
        self.log.append(("start", message, domain) + ((stream,) if stream else ()))
        return self._next

    def mark_end(self, range_id, domain=None):
        self.log.append(("end", range_id) if domain in (None, "default") else ("end", range_id, domain))

    def range_begin(self, name):
        self.log.append(("begin", name))

    def range_end(self):
        self.log.append("range_end")

    def recording(self):
        return self.records


class FrontTest(unittest.TestCase):
    """A test in an empty folder, with a fake capture, without variables that change what the package does."""

    def setUp(self):
        FakeCapture.log, FakeCapture.made, FakeCapture.fails = [], [], set()
        _log._conflict_told = False
        _session._holder = None
        self.folder = tempfile.mkdtemp(prefix="steplens_front_")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        self.native = FakeNative()
        environment = {key: value for key, value in os.environ.items() if key not in _VARIABLES}
        for patch in (mock.patch.object(_machine, "new_capture", FakeCapture),
                      mock.patch.object(_marks, "_native", self.native),
                      mock.patch.dict(os.environ, environment, clear=True)):
            patch.start()
            self.addCleanup(patch.stop)

    @property
    def log(self):
        """What captures were asked to do since the last look."""
        seen, FakeCapture.log = FakeCapture.log, []
        return seen

    @property
    def operations(self):
        """The same without steps."""
        return [item for item in self.log if isinstance(item, str) and not item.startswith("step")]

    @contextlib.contextmanager
    def said(self):
        """What is written to standard error: a list of (level, text), filled at the end of the block."""
        lines: list = []
        stream = io.StringIO()
        with contextlib.redirect_stderr(stream):
            yield lines
        for line in stream.getvalue().splitlines():
            head, _, text = line.partition("profiler.py: ")
            lines.append((head.split("[")[2].split("]")[0] if head.count("[") > 2 else "", text or line))

    def warns(self, part, call):
        """The result of `call`, which must warn with a text that has `part`."""
        with self.said() as lines:
            result = call()
        self.assertTrue(any(level == "WARNING" and part in text for level, text in lines), (part, lines))
        return result

    def quiet(self, call):
        """The result of `call`, which must say nothing."""
        with self.said() as lines:
            result = call()
        self.assertEqual(lines, [])
        return result


def needs(module):
    """Leaves a test out where a package that users may lack is not installed."""
    return unittest.skipUnless(importlib.util.find_spec(module), f"{module} is not installed")


def silently(call):
    """The result of `call`; what it says does not matter."""
    with contextlib.redirect_stderr(io.StringIO()):
        return call()
