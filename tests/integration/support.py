"""What the integration tests share: the program, the shared data, and a scratch folder per test."""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("STEPLENS_PROGRAM", str(ROOT / "build" / "steplens"))
SHARED = pathlib.Path(os.environ.get("STEPLENS_SHARED", ROOT.parent / "shared"))
DATA = SHARED / "data"
SAMPLE = ROOT / "examples" / "sample"

needs_shared = unittest.skipUnless(DATA.is_dir(), f"the shared data is not on this machine ({DATA})")


class Case(unittest.TestCase):
    """A test with a scratch folder and a cache of its own."""

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="steplens_test_"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.environment = dict(os.environ, STEPLENS_CACHE_DIR=str(self.scratch / "cache"))

    def run_program(self, *words, expect=None, cwd=None, timeout=300, user=None):
        """Runs steplens; `expect` is the exit code that must come out (None: any)."""
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, timeout=timeout,
                              env=self.environment, cwd=cwd, check=False, user=user)
        done.out = done.stdout.decode("utf-8")
        done.err = done.stderr.decode("utf-8", "replace")
        self.assertIn(done.returncode, range(0, 131), f"died by a signal: {words}\n{done.err}")
        # Messages about our own mistakes ask for a report; the scratch folder's random name may hold any letters.
        self.assertNotIn("bug", done.err.replace(str(self.scratch), ""))
        if expect is not None:
            self.assertEqual(done.returncode, expect, f"{words}\n{done.out[-2000:]}\n{done.err}")
        return done

    def info(self, *paths, options=()):
        return json.loads(self.run_program("info", "--json", *options, *paths, expect=0).out)

    def rows(self, *words):
        return json.loads(self.run_program(*words, "--json", expect=0).out)

    def query(self, path, sql):
        return json.loads(self.run_program("query", path, sql, "--format", "json", expect=0).out)

    def write(self, name, data):
        path = self.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path


def load_trace(path):
    """The events of a trace as Python sees them."""
    raw = path.read_bytes()
    document = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    return document["traceEvents"] if isinstance(document, dict) else document


def snapshot(folder):
    """Every file below a folder with its size and content hash: to see that nothing was written."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
