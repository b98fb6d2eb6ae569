"""pip install ./python takes the module that reads captures from the build of the program, and does without where there is none."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import front_install

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "sample"


class ReadingInstalled(unittest.TestCase):
    def setUp(self):
        self.pip = front_install.Install()
        self.pip.setUp()
        self.addCleanup(self.pip.doCleanups)

    def run_installed(self, text):
        return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, cwd="/",
                              env={**self.pip.environment, "PYTHONPATH": self.pip.target, "STEPLENS_CACHE_DIR": self.pip.target + "/cache"})

    def test_an_installed_package_opens_captures(self):
        run = self.pip.install(STEPLENS_PROGRAM=os.environ["STEPLENS_PROGRAM"])
        self.assertEqual(run.returncode, 0, run.stdout)
        done = self.run_installed(f"import steplens; job = steplens.open({str(SAMPLE)!r}); print(steplens.__file__, len(job.ranks), len(job.ops()))")
        self.assertEqual(done.stderr, "")
        file, ranks, ops = done.stdout.split()
        self.assertTrue(file.startswith(self.pip.target))
        self.assertEqual((ranks, int(ops) > 0), ("2", True))
        for name in ("_questions.pyi", "py.typed"):
            self.assertTrue(os.path.exists(os.path.join(self.pip.target, "steplens", name)), name)

    def test_without_the_module_the_package_still_records(self):
        program = os.path.join(self.pip.tree, "mine")
        shutil.copy("/bin/true", program)
        self.assertEqual(self.pip.install(STEPLENS_PROGRAM=program).returncode, 0)
        done = self.run_installed("import steplens; steplens.open('x')")
        self.assertIn("this installation of steplens cannot read captures", done.stderr)


if __name__ == "__main__":
    unittest.main()
