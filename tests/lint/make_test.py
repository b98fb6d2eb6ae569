"""`make t` builds on the preset that is fast where its compiler is installed."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@unittest.skipUnless(shutil.which("make"), "make is not installed")
class MakeT(unittest.TestCase):
    def steps(self, compilers):
        """What `make t` would run with these programs, and no others, in PATH."""
        with tempfile.TemporaryDirectory() as folder:
            for name in compilers:
                program = pathlib.Path(folder) / name
                program.write_text("#!/bin/sh\n")
                program.chmod(0o755)
            return subprocess.run([shutil.which("make"), "-n", "t", "ROOM=base", "T=Csv*"], cwd=ROOT, capture_output=True, text=True, check=True,
                                  env={**os.environ, "PATH": folder}).stdout

    def test_it_is_the_quick_one_with_clang_and_the_debug_one_without(self):
        self.assertIn("build/quick/tests/base_test --gtest_brief=1 --gtest_filter='Csv*'", self.steps(["clang++-16"]))
        self.assertIn("build/debug/tests/base_test --gtest_brief=1 --gtest_filter='Csv*'", self.steps([]))


if __name__ == "__main__":
    unittest.main()
