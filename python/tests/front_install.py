"""pip install ./python, with stand-ins for cmake and make: what is built, with which settings, and what is said when that fails."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Writes down its words; a build leaves the files that the real one leaves.
CMAKE = """#!/bin/sh
echo "cmake $*" >> "$LOG"
if [ "$1" = --build ]; then
  mkdir -p "$2/python/steplens"
  touch "$2/python/steplens/_native.abi3.so" "$2/python/steplens/libsteplens_torch-1.2.3.so"
fi
"""
MAKE = """#!/bin/sh
echo "make $*" >> "$LOG"
[ -z "$MAKE_FAILS" ] || exit 2
mkdir -p "$2/build"
printf '#!/bin/sh\\necho "the program: $*"\\n' > "$2/build/steplens"
chmod +x "$2/build/steplens"
"""


class Install(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.tree = os.path.join(scratch.name, "tree")
        self.target = os.path.join(scratch.name, "target")
        self.log = os.path.join(scratch.name, "log")
        shutil.copytree(os.path.join(TREE, "python", "steplens"), os.path.join(self.tree, "python", "steplens"),
                        ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(os.path.join(TREE, "python", "setup.py"), os.path.join(self.tree, "python"))
        shutil.copy(os.path.join(TREE, "VERSION"), self.tree)
        tools = os.path.join(scratch.name, "bin")
        os.mkdir(tools)
        for name, text in (("cmake", CMAKE), ("make", MAKE)):
            with open(os.path.join(tools, name), "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(os.path.join(tools, name), 0o755)
        self.environment = {**os.environ, "PATH": f"{tools}:/usr/bin:/bin", "LOG": self.log, "HOME": scratch.name,
                            "PYTHONPATH": "", "STEPLENS_TORCH_ROOTS": "/some/torch"}
        self.environment.pop("STEPLENS_PROGRAM", None)

    def install(self, **environment):
        return subprocess.run(
            [sys.executable, "-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps",
             "--disable-pip-version-check", "--target", self.target, os.path.join(self.tree, "python")],
            env={**self.environment, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def called(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def test_a_tree_never_built_gives_a_working_command(self):
        run = self.install()
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn(f"make -C {self.tree} program SETUP=true", self.called())
        self.assertIn(f"-DPython3_EXECUTABLE={sys.executable} -DSTEPLENS_TORCH_ROOTS=/some/torch", self.called())
        said = subprocess.run([os.path.join(self.target, "bin", "steplens"), "info", "x"], stdout=subprocess.PIPE, text=True,
                              env={**self.environment, "PYTHONPATH": self.target}, check=True)
        self.assertEqual(said.stdout, "the program: info x\n")
        self.assertTrue(os.path.exists(os.path.join(self.target, "steplens", "libsteplens_torch-1.2.3.so")))

    def test_a_program_that_is_there_is_taken(self):
        program = os.path.join(self.tree, "mine")
        shutil.copy("/bin/true", program)
        self.assertEqual(self.install(STEPLENS_PROGRAM=program).returncode, 0)
        self.assertNotIn("make", self.called().split())
        self.assertTrue(os.path.exists(os.path.join(self.target, "steplens", "bin", "steplens")))

    def test_what_cannot_be_built_is_said_in_one_sentence(self):
        run = self.install(MAKE_FAILS="1")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn(f"Run make in {self.tree} first: it installs what the build needs.", run.stdout)
        self.assertFalse(os.path.exists(self.target))

    def test_a_program_that_is_not_there_is_an_error(self):
        run = self.install(STEPLENS_PROGRAM="/nowhere/steplens")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("/nowhere/steplens is not a file (STEPLENS_PROGRAM names the program to install)", run.stdout)


if __name__ == "__main__":
    unittest.main()
