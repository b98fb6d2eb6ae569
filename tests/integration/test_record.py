"""`steplens record`: settings, the program's own exit code, exactly the steps and ranks asked for, and steering a job that runs."""

import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

from support import PROGRAM, ROOT, Case

TRAIN = ROOT / "examples/train/train.py"
PACKAGE = pathlib.Path(PROGRAM).parent / "python/steplens/_bootstrap"


def has_torch():
    return subprocess.run([sys.executable, "-c", "import torch"], capture_output=True, check=False).returncode == 0


needs_torch = unittest.skipUnless(has_torch() and PACKAGE.is_dir(), "PyTorch or the recording package is not on this machine")


class Record(Case):
    def setUp(self):
        super().setUp()
        self.environment["STEPLENS_JOBS"] = str(self.scratch / "jobs")
        self.environment["OMP_NUM_THREADS"] = "1"
        self.saved = self.scratch / "prof"

    def record(self, *options, program, expect=0):
        return self.run_program("record", "--profile-save-path", self.saved, *options, "--", *program, expect=expect)

    def captures(self):
        """rank -> its capture's folder; every rank recorded once."""
        found = {}
        for folder in sorted(self.saved.rglob("*_ascend_pt")):
            named = re.search(r"_(\d+)\.json", next(folder.glob("profiler_info*.json")).name)
            rank = int(named.group(1)) if named else 0
            self.assertNotIn(rank, found)
            found[rank] = folder
        return found

    def steps_of(self, folder):
        return [row["step"] for row in self.query(folder, "SELECT step FROM steps ORDER BY step")]

    # ---- settings

    def test_dry_run_shows_the_settings_and_why_one_was_changed(self):
        rows = self.rows("record", "--dry-run", "--profile-step-start", "5", "--profile-step-end", "7", "--profile-ranks", "0", "3")
        values = {row["Option"]: row for row in rows}
        self.assertEqual(values["--profile-step-start"]["Value"], "5")
        self.assertEqual(values["--profile-ranks"]["Value"], "0 3")
        self.assertIn("no NPU", values["--profile-with-cpu"]["Changed, because"])
        self.assertFalse(self.saved.exists())

    def test_impossible_settings_are_refused(self):
        for options, text in ((("--profile-step-start", "0"), "first training step is 1"),
                              (("--profile-step-start", "4", "--profile-step-end", "3"), "--profile-step-end is 3"),
                              (("--profile-ranks", "-1", "2"), "stands alone"),
                              (("--profile-ranks", "one"), "not a whole number"),
                              (("--profile-export-type", "csv"), "neither text nor db"),
                              (("--gc-detect-threshold", "soon"), "not a number")):
            with self.subTest(options=options):
                done = self.run_program("record", "--dry-run", *options, expect=2)
                self.assertIn(text, done.err)

    def test_without_a_program_it_says_how(self):
        self.assertIn("steplens record -- python", self.run_program("record", expect=2).err)

    # ---- the program

    def test_exit_code_is_the_programs(self):
        self.record(program=["sh", "-c", "exit 7"], expect=7)
        done = subprocess.run([PROGRAM, "record", "--", "sh", "-c", "kill -9 $$"], capture_output=True, env=self.environment, check=False)
        self.assertEqual(done.returncode, 137)

    def test_a_program_that_is_not_there(self):
        self.assertIn("cannot start 'no-such-program'", self.record(program=["no-such-program"], expect=3).err)

    def test_a_program_that_records_nothing_is_told_so(self):
        done = self.record(program=["true"])
        self.assertIn("nothing was recorded", done.err)

    # ---- recording

    @needs_torch
    def test_records_the_steps_and_ranks_asked_for(self):
        torchrun = [sys.executable, "-m", "torch.distributed.run", "-r", "2", "-t", "2", "--nproc_per_node", "2"]
        self.record("--profile-step-start", "2", "--profile-step-end", "4", "--profile-ranks", "1", "--profile-with-memory",
                    "--profile-record-shapes", program=[*torchrun, TRAIN, "--steps", "5", "--width", "32", "--length", "16"])
        captures = self.captures()
        self.assertEqual(list(captures), [1])
        self.assertEqual(self.steps_of(captures[1]), [2, 3])
        self.assertTrue((captures[1] / "ASCEND_PROFILER_OUTPUT/analyse.done").is_file())
        self.run_program("verify", captures[1], expect=0)
        collectives = self.query(captures[1], "SELECT count(*) AS n FROM comm_ops WHERE count > 0")
        self.assertGreater(collectives[0]["n"], 0)

    @needs_torch
    def test_a_program_that_ends_early_keeps_what_was_recorded(self):
        self.record("--profile-step-start", "2", "--profile-step-end", "-1", "--profile-export-type", "db",
                    program=[sys.executable, TRAIN, "--steps", "4", "--width", "32", "--length", "16"])
        (capture,) = self.captures().values()
        self.assertEqual(self.steps_of(capture), [2, 3, 4])
        self.assertEqual(len(list(capture.glob("ASCEND_PROFILER_OUTPUT/*.db"))), 2)

    # ---- steering

    def status(self):
        done = self.run_program("record", "status", "--job", "steered", "--json")
        return json.loads(done.out) if done.returncode == 0 and done.out.strip() else []

    def wait_for(self, what, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            rows = self.status()
            if rows and what(rows):
                return rows
            time.sleep(0.2)
        self.fail(f"the job never got there: {self.status()}")

    @needs_torch
    def test_a_running_job_is_steered(self):
        job = subprocess.Popen([PROGRAM, "record", "--wait-for-start", "--job", "steered", "--profile-save-path", self.saved, "--",
                                sys.executable, TRAIN, "--steps", "100000", "--width", "32", "--length", "16"],
                               env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.terminate)
        self.wait_for(lambda rows: rows[0]["Step"] > 0 and rows[0]["Step Time(s)"])
        done = self.run_program("record", "start", "--job", "steered", "--steps", "2", expect=0)
        first = int(re.search(r"at step (\d+)", done.out).group(1))
        self.assertIn("rank 7", self.run_program("record", "start", "--job", "steered", "--profile-ranks", "7", expect=3).err)
        self.assertIn("too near", self.run_program("record", "start", "--job", "steered", "--at-step", "1", expect=2).err)
        self.wait_for(lambda rows: rows[0]["Capture"] and rows[0]["State"] == "idle")
        job.terminate()
        job.wait(timeout=60)
        (capture,) = sorted(self.saved.rglob("*_ascend_pt"))
        self.assertEqual(self.steps_of(capture), [first, first + 1])

    def test_without_a_job_it_says_so(self):
        self.assertIn("no job", self.run_program("record", "start", expect=3).err)
        self.assertIn("no job 'x'", self.run_program("record", "stop", "--job", "x", expect=3).err)


if __name__ == "__main__":
    unittest.main()
