"""`steplens record`: settings, the program's own exit code, exactly the steps and ranks asked for, and steering a job that runs."""

import json
import os
import pathlib
import re
import shutil
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


NATIVE_STEPS = r"""
#include <steplens/collect.h>
#include <unistd.h>
int main(void) {
  for (int step = 1; step < 100000; ++step) {
    sl_step_begin(step);
    sl_range_begin(sl_intern("work", 4));
    usleep(5000);
    sl_range_end();
    sl_step_end();
  }
  return 0;
}
"""

MSTX_STEPS = r"""
#include <stdio.h>
#include <steplens/mstx.h>
#include <unistd.h>
int main(void) {
  for (int step = 1; step < 100000; ++step) {
    char name[32];
    snprintf(name, sizeof(name), "step %d", step);
    uint64_t range = mstxRangeStartA(name, 0);
    usleep(5000);
    mstxRangeEnd(range);
  }
  return 0;
}
"""


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

    def test_dry_run_says_what_has_no_effect_here(self):
        rows = self.rows("record", "--dry-run", "--l2-cache", "--sys-io", "--sys-interconnection", "--aic-metrics", "Memory",
                         "--profile-export-type", "db", "--op-attr", "--record-op-args", "--host-sys", "cpu", "osrt", "numa")
        reasons = {row["Option"]: row["Changed, because"] for row in rows}
        for option in ("--l2-cache", "--sys-io", "--sys-interconnection", "--aic-metrics", "--op-attr"):
            self.assertEqual(reasons[option], "no effect: there is no NPU here", option)
        self.assertIn("not dumped", reasons["--record-op-args"])
        self.assertIn("osrt, numa", reasons["--host-sys"])
        quiet = self.rows("record", "--dry-run", "--aic-metrics", "AiCoreNone", "--host-sys", "cpu", "mem", "disk", "network")
        self.assertEqual([row["Option"] for row in quiet if row["Changed, because"]], ["--profile-with-cpu"])

    def test_flags_of_mindspeed_llm_are_taken_as_they_are_written_there(self):
        rows = self.rows("record", "--dry-run", "--profile", "--profile-step-start", "5", "--profile-step-end", "6", "--profile-ranks", "0",
                         "--profile-level", "level1", "--profile-with-cpu")
        self.assertEqual([row["Option"] for row in rows if row["Changed, because"]], [])

    def test_with_profile_the_defaults_are_those_of_mindspeed_llm(self):
        def values(*options):
            return {row["Option"]: row["Value"] for row in self.rows("record", "--dry-run", *options)}

        names = ("--profile-step-start", "--profile-step-end", "--profile-ranks", "--profile-level")
        documented, ours = values("--profile"), values()
        self.assertEqual([documented[name] for name in names], ["1", "-1 (to the end)", "0", "level0"])
        self.assertEqual(os.path.basename(documented["--profile-save-path"]), "profile")
        self.assertEqual([ours[name] for name in names], ["2", "5", "-1 (all)", "level1"])
        given = values("--profile", "--profile_step_start", "0", "--profile_step_end=0", "--profile_ranks", "3", "-1", "--profile_with_stack")
        self.assertEqual([given[name] for name in names], ["1", "2", "-1 (all)", "level0"])
        self.assertEqual(given["--profile-with-stack"], "on")

    def test_words_are_completed(self):
        script = self.run_program("auto-completion", "bash").out
        for words in ("start stop status", "cpu mem disk network osrt numa", "text db"):
            self.assertIn(words, script)

    def test_options_of_another_use_are_refused(self):
        for words, text in ((("--at-step", "5", "--dry-run", "--", "true"), "--at-step is for 'steplens record start' and 'stop'"),
                            (("--steps", "5", "--dry-run", "--", "true"), "--steps is for 'steplens record start'"),
                            (("start", "--profile-with-stack"), "--profile-with-stack: a running job records what it was started with"),
                            (("stop", "--steps", "5"), "--steps is for 'steplens record start'"),
                            (("--job", "a/b", "--dry-run", "--", "true"), "'a/b' cannot be the name of a job")):
            with self.subTest(words=words):
                self.assertIn(text, self.run_program("record", *words, expect=2).err)

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

    def test_the_end_follows_a_start_that_is_given(self):
        for options, steps in (((), ("2", "5")), (("--profile-step-start", "100"), ("100", "103")),
                               (("--profile-step-end", "9"), ("2", "9"))):
            values = {row["Option"]: row["Value"] for row in self.rows("record", "--dry-run", *options)}
            self.assertEqual((values["--profile-step-start"], values["--profile-step-end"]), steps)

    def test_a_save_path_that_cannot_be_is_refused_before_the_program_runs(self):
        ran = self.scratch / "ran"
        (self.scratch / "file").touch()
        for path in (self.scratch / "file", self.scratch / "file" / "below"):
            self.saved = path
            self.assertIn("is not a folder", self.record(program=["touch", str(ran)], expect=2).err)
        if os.getuid() != 0:
            self.saved = "/proc/steplens"
            self.assertIn("nothing can be written", self.record(program=["touch", str(ran)], expect=6).err)
        self.assertFalse(ran.exists())

    def test_without_a_program_it_says_how(self):
        self.assertIn("steplens record -- python", self.run_program("record", expect=2).err)

    # ---- the program

    def test_captures_of_a_native_program_are_analysed(self):
        program = self.compile(NATIVE_STEPS.replace("100000", "8"), "-lsteplens_collect")
        for mode, has_results in (("sync", True), ("async", True), ("no", False)):
            with self.subTest(mode):
                self.saved = self.scratch / mode
                done = self.record("--analyse", mode, "--profile-step-end", "4", program=[program])
                self.assertIn("recorded 1 capture", done.err)
                results = self.captures()[0] / "ASCEND_PROFILER_OUTPUT"
                self.assertEqual((results / "trace_view.json").exists(), has_results, done.err)

    def test_a_capture_whose_results_do_not_fit_is_named_with_what_to_do(self):
        # A limit on the size of files stands for a full disk; the raw data are far smaller than trace_view.json.
        program = self.compile(NATIVE_STEPS.replace("100000", "300").replace("5000", "10"), "-lsteplens_collect")
        limited = ["bash", "-c", "trap '' XFSZ; ulimit -f 48; exec \"$@\"", "-", PROGRAM, "record", "--profile-save-path", self.saved,
                   "--profile-step-start", "1", "--profile-step-end", "-1", "--", program]
        done = subprocess.run(limited, env=self.environment, capture_output=True, text=True, check=False)
        self.assertIn("recorded 1 capture", done.stderr)
        self.assertIn("1 of them without result files; next: steplens analyse", done.stderr)
        self.assertNotIn("steplens breakdown", done.stderr)
        self.run_program("analyse", self.saved)
        self.assertEqual(len(self.steps_of(self.captures()[0])), 299)

    def test_the_last_line_says_what_was_lost(self):
        killed = NATIVE_STEPS.replace("sl_step_end();", "sl_step_end();\n    if (step == 100) kill(getpid(), SIGKILL);").replace(
            "#include <unistd.h>", "#include <signal.h>\n#include <unistd.h>")
        program = self.compile(killed, "-lsteplens_collect")
        done = subprocess.run([PROGRAM, "record", "--profile-save-path", self.saved, "--profile-step-start", "1", "--profile-step-end", "-1", "--",
                               program], env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 137)
        self.assertIn("recorded 1 capture", done.stderr)
        self.assertIn("1 of 1 captures is not whole. The recording was not ended", done.stderr.splitlines()[-1])

    def test_exit_code_is_the_programs(self):
        self.record(program=["sh", "-c", "exit 7"], expect=7)
        done = subprocess.run([PROGRAM, "record", "--", "sh", "-c", "kill -9 $$"], capture_output=True, env=self.environment, check=False)
        self.assertEqual(done.returncode, 137)

    def test_a_program_that_is_not_there(self):
        self.assertIn("cannot start 'no-such-program'", self.record(program=["no-such-program"], expect=3).err)

    @unittest.skipUnless(PACKAGE.is_dir(), "the recording package is not built")
    def test_inside_the_python_package_it_finds_the_package(self):
        package = self.scratch / "site/steplens"
        for folder in ("bin", "_bootstrap"):
            (package / folder).mkdir(parents=True)
        shutil.copy(PROGRAM, package / "bin/steplens")
        shutil.copy(PACKAGE.parent / "libsteplens_collect.so", package)
        done = subprocess.run([package / "bin/steplens", "record", "--", "sh", "-c", "echo $PYTHONPATH; echo $STEPLENS_COLLECT_LIBRARY"],
                              capture_output=True, text=True, env={**self.environment, "PYTHONPATH": "mine"}, check=True)
        self.assertEqual(done.stdout.split(), [f"{package}/_bootstrap:{package.parent}:mine", f"{package}/libsteplens_collect.so"])

    def test_a_program_that_records_nothing_is_told_so(self):
        done = self.record(program=["true"])
        self.assertIn("nothing was recorded", done.err)

    # ---- recording

    @needs_torch
    def test_records_the_steps_and_ranks_asked_for(self):
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2"]
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

    def launch(self, *program):
        """A job that waits for a command."""
        job = subprocess.Popen([PROGRAM, "record", "--wait-for-start", "--job", "steered", "--profile-save-path", self.saved, "--",
                                *map(str, program)], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.terminate)
        self.wait_for(lambda rows: rows[0]["Step"] > 0 and rows[0]["Step Time(s)"])
        return job

    def start(self, *options):
        """The step at which the job will start."""
        done = self.run_program("record", "start", "--job", "steered", *options, expect=0)
        return int(re.search(r"at step (\d+)", done.out).group(1))

    def test_a_start_that_will_be_refused_is_told(self):
        self.launch(self.compile(NATIVE_STEPS, "-lsteplens_collect"))
        self.start("--steps", "1000000")
        self.wait_for(lambda rows: rows[0]["State"] == "recording")
        done = self.run_program("record", "start", "--job", "steered", expect=0)
        self.assertIn("rank 0 is recording already and will refuse", done.err)

    def refused(self):
        self.assertIn("rank 7", self.run_program("record", "start", "--job", "steered", "--profile-ranks", "7", expect=3).err)
        self.assertIn("too near", self.run_program("record", "start", "--job", "steered", "--at-step", "1", expect=2).err)

    @needs_torch
    def test_a_running_job_is_steered(self):
        job = self.launch(sys.executable, TRAIN, "--steps", "100000", "--width", "32", "--length", "16")
        first = self.start("--steps", "2")
        self.refused()
        self.wait_for(lambda rows: rows[0]["Capture"] and rows[0]["State"] == "idle")
        job.terminate()
        job.wait(timeout=60)
        (capture,) = sorted(self.saved.rglob("*_ascend_pt"))
        self.assertEqual(self.steps_of(capture), [first, first + 1])

    def compile(self, source, *options):
        (self.scratch / "program.c").write_text(source)
        program = self.scratch / "program"
        build = pathlib.Path(PROGRAM).parent
        subprocess.run(["cc", "-Wall", "-Werror", f"-I{ROOT / 'include'}", self.scratch / "program.c", "-o", program,
                        *options, f"-L{build}", f"-Wl,-rpath,{build}", "-ldl", "-pthread"], check=True)
        return program

    def test_a_native_program_is_steered_as_often_as_one_likes(self):
        job = self.launch(self.compile(NATIVE_STEPS, "-lsteplens_collect"))
        self.refused()
        ranges = []
        for count in (2, 3):
            before = self.status()[0]["Capture"]
            first = self.start("--steps", str(count))
            ranges.append(list(range(first, first + count)))
            self.wait_for(lambda rows: rows[0]["Capture"] not in ("", before) and rows[0]["State"] == "idle")
        self.start("--steps", "1000000")
        self.wait_for(lambda rows: rows[0]["State"] == "recording")
        stopped = self.run_program("record", "stop", "--job", "steered", expect=0)
        end = int(re.search(r"step (\d+)", stopped.out).group(1))
        self.wait_for(lambda rows: rows[0]["State"] == "idle")
        job.terminate()
        job.wait(timeout=60)
        *captures, last = sorted(self.saved.rglob("*_ascend_pt"))
        self.assertEqual([self.steps_of(capture) for capture in captures], ranges)
        self.assertEqual(self.steps_of(last)[-1], end - 1)

    def test_a_job_stays_until_the_last_of_its_launchers_ends(self):
        # mpirun starts `steplens record` once a rank; all of them meet in one job.
        self.launch(self.compile(NATIVE_STEPS, "-lsteplens_collect"))
        self.record("--job", "steered", program=["true"])
        self.assertEqual([row["State"] for row in self.status()], ["idle"])

    def test_steps_that_are_marked_with_mstx_are_steps(self):
        job = self.launch(self.compile(MSTX_STEPS))
        first = self.start("--steps", "2")
        self.wait_for(lambda rows: rows[0]["Capture"] and rows[0]["State"] == "idle")
        job.terminate()
        job.wait(timeout=60)
        (capture,) = sorted(self.saved.rglob("*_ascend_pt"))
        marks = (capture / "FRAMEWORK" / "steplens.mark").read_bytes()
        self.assertEqual(re.findall(rb"step \d+", marks), [f"step {first}".encode(), f"step {first + 1}".encode()])

    def test_without_a_job_it_says_so(self):
        self.assertIn("no job", self.run_program("record", "start", expect=3).err)
        self.assertIn("no job 'x'", self.run_program("record", "stop", "--job", "x", expect=3).err)


if __name__ == "__main__":
    unittest.main()
