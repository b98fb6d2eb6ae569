"""What MindSpore's documents promise of a capture and its results, recorded and analysed by the real program."""

import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

from capture_support import NativeTest

TRAINING = """
import json, sys, torch
import steplens.mindspore as mindspore
from steplens.mindspore.profiler import ProfilerActivity, ProfilerLevel, schedule, tensorboard_trace_handler
import torch.utils.data

def forward_of_mine(model, batch):
    return model(batch).sum()

model = torch.nn.Linear(4, 4)
loader = torch.utils.data.DataLoader(torch.ones(24, 4), batch_size=4)
switches = json.loads(sys.argv[2])
profiler = mindspore.Profiler(output_path=sys.argv[1], profiler_level=ProfilerLevel.Level1,
                              schedule=schedule(wait=0, warmup=1, active=3, repeat=1),
                              on_trace_ready=tensorboard_trace_handler(sys.argv[1]), **switches)
for batch in loader:
    forward_of_mine(model, batch).backward()
    profiler.step()
profiler.stop()
"""


@unittest.skipUnless(os.environ.get("STEPLENS_PROGRAM"), "STEPLENS_PROGRAM names no program")
class Documents(NativeTest):
    def record(self, root, **variables):
        """The capture of the training, analysed by its handler."""
        switches = variables.pop("switches", {})
        done = subprocess.run([sys.executable, "-c", TRAINING, root, json.dumps(switches)], capture_output=True, text=True, timeout=300,
                              env={**os.environ, **variables})
        self.assert_ran(done)
        (name,) = os.listdir(root)
        return os.path.join(root, name), done.stderr

    @staticmethod
    def rows(capture, name):
        with open(os.path.join(capture, "ASCEND_PROFILER_OUTPUT", name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def program(self, *arguments):
        return subprocess.run([os.environ["STEPLENS_PROGRAM"], *arguments], capture_output=True, text=True, timeout=300)

    def test_the_name_of_a_kernel_has_its_call_stack(self):
        with tempfile.TemporaryDirectory() as root:
            capture, _ = self.record(root, switches={"with_stack": True})
            names = [row["Name"] for row in self.rows(capture, "kernel_details.csv")]
            forward = [name for name in names if name.endswith("/aten::addmm")]
            self.assertEqual(len(forward), 3)
            for name in forward:
                self.assertRegex(name, r"\(\d+\): .*forward_of_mine;.*/aten::addmm$")
            self.assert_ran(self.program("verify", capture))
            kernels = self.program("ops", capture, "--by", "name", "--csv").stdout
            self.assertIn("aten::addmm", kernels)
            self.assertNotIn("forward_of_mine", kernels)  # a kernel is one, wherever it is called
        with tempfile.TemporaryDirectory() as root:
            capture, _ = self.record(root)
            self.assertIn("aten::addmm", [row["Name"] for row in self.rows(capture, "kernel_details.csv")])

    def test_the_data_pipeline_has_its_file(self):
        with tempfile.TemporaryDirectory() as root:
            capture, _ = self.record(root)
            (row,) = self.rows(capture, "dataset.csv")
            self.assertEqual(list(row), ["Operation", "Stage", "Occurrences", "Avg. time (us)", "Custom Info"])
            self.assertEqual((row["Operation"], row["Stage"]), ("_SingleProcessDataLoaderIter", "__next__"))
            self.assertIn(int(row["Occurrences"]), (3, 4))  # the first may have begun before the recording
            self.assertGreater(float(row["Avg. time (us)"]), 0)

    def test_data_simplification_leaves_results_and_what_describes_them(self):
        with tempfile.TemporaryDirectory() as root:
            capture, said = self.record(root)
            self.assertEqual(sorted(os.listdir(capture)), ["ASCEND_PROFILER_OUTPUT", "logs", "profiler_info.json", "profiler_info_0.json"], said)
            self.assertIn("the raw data was removed", self.program("analyse", capture).stdout)
            self.assert_ran(self.program("verify", capture))
        with tempfile.TemporaryDirectory() as root:
            capture, _ = self.record(root, switches={"data_simplification": False})
            self.assertIn("FRAMEWORK", os.listdir(capture))

    def test_a_job_of_one_card_has_profiler_info_json(self):
        with tempfile.TemporaryDirectory() as root:
            capture, _ = self.record(root)
            texts = []
            for name in ("profiler_info.json", "profiler_info_0.json"):
                with open(os.path.join(capture, name), encoding="utf-8") as file:
                    texts.append(file.read())
            self.assertEqual(*texts)
            self.assertIn("end_info", texts[0])
        for variables in ({"RANK_ID": "1", "RANK_SIZE": "2"}, {"RANK_ID": "0", "RANK_SIZE": "2"}):
            with tempfile.TemporaryDirectory() as root:
                capture, _ = self.record(root, **variables)
                self.assertIn(f"profiler_info_{variables['RANK_ID']}.json", os.listdir(capture))
                self.assertNotIn("profiler_info.json", os.listdir(capture))


if __name__ == "__main__":
    unittest.main()
