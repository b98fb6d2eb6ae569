"""The programs in examples/python, recorded for real: the folders, steps and ranks that each of them promises.

Needs the package with its native part: PYTHONPATH=build/python. The analysis is a stand-in that writes down its arguments.
"""

import glob
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import raw_reader

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"
PROGRAM = """#!/bin/sh
echo "$@" >> "{log}"
mkdir -p "$2/ASCEND_PROFILER_OUTPUT"
"""


def has_native():
    return importlib.util.find_spec("steplens") is not None and importlib.util.find_spec("steplens._native") is not None


@unittest.skipUnless(has_native(), "the native part is not built, or PYTHONPATH does not name build/python")
class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="steplens_examples_")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.log = os.path.join(self.folder, "calls")
        program = os.path.join(self.folder, "program")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(log=self.log))
        os.chmod(program, 0o755)
        self.environment = {key: value for key, value in os.environ.items()
                            if key not in ("RANK", "RANK_ID", "PROF_CONFIG_PATH", "ASCEND_WORK_PATH")}
        self.environment["STEPLENS_PROGRAM"] = program
        package = importlib.util.find_spec("steplens").submodule_search_locations[0]
        self.environment["PYTHONPATH"] = os.path.dirname(os.path.abspath(package))

    def run_example(self, name, *arguments, **environment):
        result = subprocess.run([sys.executable, str(EXAMPLES / name), *arguments], cwd=self.folder, text=True, check=False,
                                env={**self.environment, **environment}, capture_output=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("[ERROR]", result.stderr)
        return result

    def captures(self, pattern):
        return sorted(glob.glob(os.path.join(self.folder, pattern)))

    def steps(self, capture):
        """The numbers of the recorded steps."""
        return [int(op.name.split("#")[1]) for op in raw_reader.ops(capture) if op.name.startswith("ProfilerStep#")]

    def count(self, capture, name):
        return len([op for op in raw_reader.ops(capture) if op.name == name])

    def calls(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read().splitlines()

    def test_torch_npu_schedule(self):
        self.run_example("torch_npu_schedule.py")
        captures = self.captures("result/*_ascend_pt")
        self.assertEqual(len(captures), 1)
        self.assertEqual(self.steps(captures[0]), [3, 4])
        self.assertEqual(self.count(captures[0], "aten::linear"), 4)  # two layers, two steps
        self.assertTrue(os.path.isfile(os.path.join(captures[0], "profiler_info.json")))
        with open(os.path.join(captures[0], "profiler_metadata.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["model"], "tiny")
        self.assertEqual(self.calls(), [f"analyse {os.path.realpath(captures[0])} --export-type text"])

    def test_torch_npu_dynamic(self):
        self.run_example("torch_npu_dynamic.py")
        captures = self.captures("result/*_ascend_pt")
        self.assertEqual(len(captures), 1)
        steps = self.steps(captures[0])
        self.assertEqual(steps, [steps[0], steps[0] + 1])
        self.assertGreaterEqual(steps[0], 6)
        self.assertEqual(self.count(captures[0], "aten::linear"), 4)

    def test_mindspore_callback(self):
        self.run_example("mindspore_callback.py")
        captures = self.captures("profiler_data/*_ascend_ms")
        self.assertEqual(len(captures), 1)
        self.assertEqual(self.count(captures[0], "aten::linear"), 6)  # steps 3, 4 and 5
        with open(os.path.join(captures[0], "profiler_info_0.json"), encoding="utf-8") as file:
            info = json.load(file)
        self.assertEqual(info["profiler_parameters"]["profiler_level"], "Level0")
        self.assertEqual(info["ms_profiler_info"]["rank_id"], "0")
        self.assertEqual(len(self.calls()), 1)

    def test_mindspore_schedule(self):
        self.run_example("mindspore_schedule.py")
        captures = self.captures("data/*_ascend_ms")
        self.assertEqual([self.steps(capture) for capture in captures], [[2, 3], [5, 6]])
        self.assertEqual(sorted(self.calls()), [f"analyse {os.path.realpath(path)} --export-type text,db" for path in captures])

    def test_mindspore_dynamic(self):
        self.run_example("mindspore_dynamic.py")
        first, second = self.captures("dyn_profile_data/rank0_*/*_ascend_ms")
        self.assertIn("rank0_start2_stop5", first)
        self.assertIn("rank0_start60_stop61", second)
        self.assertEqual((self.count(first, "aten::linear"), self.count(second, "aten::linear")), (8, 4))
        self.assertEqual(len(self.calls()), 2)

    def test_mindspore_environment(self):
        options = {"start": True, "output_path": "./prof", "activities": ["CPU", "NPU"], "profiler_level": "Level0"}
        self.run_example("mindspore_environment.py", MS_PROFILER_OPTIONS=json.dumps(options), RANK_ID="2")
        captures = self.captures("prof/*_ascend_ms")
        self.assertEqual(len(captures), 1)
        self.assertEqual(self.count(captures[0], "aten::linear"), 10)
        self.assertTrue(os.path.isfile(os.path.join(captures[0], "profiler_info_2.json")))
        self.assertEqual(len(self.calls()), 1)

    def test_mindspore_without_the_variable(self):
        self.run_example("mindspore_environment.py")
        self.assertEqual(self.captures("*/*_ascend_ms"), [])

    def test_megatron_flags(self):
        flags = ["--profile", "--profile-step-start", "5", "--profile-step-end", "7", "--profile-level", "level1",
                 "--profile-with-cpu", "--profile-record-shapes", "--profile-save-path", "there", "--profile-ranks", "0", "2"]
        for rank, expected in (("0", 1), ("1", 1), ("2", 2)):
            self.run_example("megatron_flags.py", *flags, RANK=rank, WORLD_SIZE="3")
            self.assertEqual(len(self.captures("there/*_ascend_pt")), expected, rank)
        for capture in self.captures("there/*_ascend_pt"):
            self.assertEqual(self.steps(capture), [5, 6])
            self.assertEqual(self.count(capture, "aten::linear"), 4)
        self.assertEqual(len(self.captures("there/*/profiler_info_0.json") + self.captures("there/*/profiler_info_2.json")), 2)

    def test_rl_yaml(self):
        self.run_example("rl_yaml.py")
        for role, linear in (("actor_generate", 2), ("actor_update", 2)):
            captures = self.captures(f"profiler_data/{role}/*_ascend_pt")
            self.assertEqual([self.steps(capture) for capture in captures], [[2], [3]])
            self.assertEqual([self.count(capture, "aten::linear") for capture in captures], [linear] * 2)
        self.assertEqual(sorted(os.listdir(os.path.join(self.folder, "profiler_data"))), ["actor_generate", "actor_update"])
        self.assertEqual(len(self.calls()), 4)


if __name__ == "__main__":
    unittest.main()
