"""`steplens analyse` and raw captures: what real captures hold, encoded as raw data, comes out of the analysis again."""

import collections
import csv
import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
import unittest

from support import DATA, PROGRAM, ROOT, Case, load_trace, needs_shared, snapshot

sys.path.insert(0, str(ROOT / "tools"))
import make_framework as raw  # noqa: E402

OUTPUT = "ASCEND_PROFILER_OUTPUT"
CAPTURES = [DATA / "ascend_pt" / "text" / level / f"rank{rank}_ascend_pt" for level in ("level0", "level1") for rank in (0, 1)]


def rows(folder, name):
    with open(folder / OUTPUT / name, newline="") as file:
        return list(csv.DictReader(file))


def counted(events, category, fields):
    return collections.Counter(tuple(field(e) for field in fields) for e in events if e.get("cat") == category)


def by(*names):
    return [lambda e, n=name: e.get(n) for name in names]


def duration(event):
    return round(float(event.get("dur", 0)) * 1000)


def argument(name):
    # An empty text and no text are one to the store.
    return lambda e: (e.get("args", {}).get(name) or None)


class Oracle(Case):
    """FRAMEWORK files made of a capture's content, analysed, against the capture itself."""

    def analyse(self, capture, **options):
        folder = raw.encode_capture(capture, self.scratch / f"{capture.parent.name}_{capture.name}", **options)
        self.run_program("analyse", folder, expect=0)
        self.assertTrue((folder / OUTPUT / "analyse.done").exists())
        return folder

    def compare_trace(self, capture, folder):
        old = load_trace(capture / OUTPUT / "trace_view.json")
        new = load_trace(folder / OUTPUT / "trace_view.json")
        where = by("ph", "name", "pid", "tid", "ts")
        op = [argument(n) for n in ("Sequence number", "Fwd thread id", "Input Dims", "Input type", "Call stack")]
        for category, fields, count in (
                ("cpu_op", [*where, duration, *op], 860),
                ("dequeue", [*where, duration, argument("correlation_id")], 159),
                ("enqueue", [*by("ph", "pid", "tid", "ts"), duration, argument("correlation_id")], 159),
                ("python_function", [*where, duration], 1282),
                ("async_task_queue", [*where, *by("id")], 318),
                ("fwdbwd", where, 54)):
            expected = counted(old, category, fields)
            self.assertEqual(sum(expected.values()), count, category)
            self.assertEqual(counted(new, category, fields), expected, category)
        # The reference follows one copy of those that share an id, we follow both.
        flows = counted(old, "async_npu", [*where, *by("id")])
        self.assertEqual(sum(flows.values()), 420)
        self.assertFalse(flows - counted(new, "async_npu", [*where, *by("id")]))

    def compare_tables(self, capture, folder):
        def near(a, b, tolerance):
            return a == b or abs(float(a) - float(b)) <= tolerance

        old, new = rows(capture, "operator_details.csv"), rows(folder, "operator_details.csv")
        self.assertEqual(len(new), 859)
        for a, b in zip(old, new):
            self.assertEqual(a["Name"], b["Name"])
            self.assertTrue(near(a["Host Total Duration(us)"], b["Host Total Duration(us)"], 0.002), (a, b))
        old, new = rows(capture, "kernel_details.csv"), rows(folder, "kernel_details.csv")
        self.assertEqual(len(new), 191)
        for a, b in zip(old, new):
            for column in ("Step Id", "Name", "Start Time(us)"):
                self.assertEqual(a[column].strip(), b[column].strip())
            self.assertTrue(near(a["Duration(us)"].strip(), b["Duration(us)"].strip(), 0.001))
        (a,), (b,) = rows(capture, "step_trace_time.csv"), rows(folder, "step_trace_time.csv")
        self.assertEqual(a["Step"], b["Step"])
        for column in ("Computing", "Communication(Not Overlapped)", "Communication", "Free", "Stage", "Bubble", "Preparing"):
            self.assertTrue(near(a[column], b[column], 0.5), (column, a[column], b[column]))

    def compare_memory(self, capture, folder):
        old, new = rows(capture, "operator_memory.csv"), rows(folder, "operator_memory.csv")
        self.assertEqual(len(old), 184)
        for a, b in zip(old, new, strict=True):
            for column in a:
                is_end_of_cann = a["Name"].startswith("cann::") and column == "Release Time(us)"
                if is_end_of_cann and a[column].strip():  # start + duration, which the capture itself has rounded
                    self.assertLessEqual(abs(raw.to_ns(a[column]) - raw.to_ns(b[column])), 1)
                elif column == "Duration(us)" and a[column]:  # CANN's have no zeros at the end
                    self.assertEqual(raw.to_ns(a[column]), raw.to_ns(b[column]))
                else:
                    self.assertEqual(a[column].strip(), b[column].strip(), (column, a, b))
        # APP rows come from a sampler of the device that is no part of the encoded capture.
        old = [row for row in rows(capture, "memory_record.csv") if row["Component"] != "APP"]
        new = rows(folder, "memory_record.csv")
        self.assertEqual(len(old), 990)
        for a, b in zip(old, new, strict=True):
            self.assertEqual({k: v.strip() for k, v in a.items()}, {k: b[k].strip() for k in a})

    @needs_shared
    def test_every_capture_comes_out_as_it_was(self):
        for capture in CAPTURES:
            with self.subTest(capture=str(capture.relative_to(DATA))):
                folder = self.analyse(capture)
                self.compare_trace(capture, folder)
                self.compare_tables(capture, folder)
                self.compare_memory(capture, folder)

    @needs_shared
    def test_ticks_of_the_system_counter_give_the_same_times(self):
        folder = self.analyse(CAPTURES[2], counter=True)
        self.compare_trace(CAPTURES[2], folder)

    @needs_shared
    def test_killed_job_is_read_by_its_clock_samples(self):
        folder = self.analyse(CAPTURES[2], counter=True, end=False)
        self.compare_trace(CAPTURES[2], folder)

    @needs_shared
    def test_analysing_twice_gives_the_same_bytes(self):
        folder = self.analyse(CAPTURES[2], export_type=("text", "db"))
        first = snapshot(folder / OUTPUT)
        self.run_program("analyse", folder, "--force", "--jobs", "3", expect=0)
        self.assertEqual(snapshot(folder / OUTPUT), first)

    @needs_shared
    def test_host_part_alone_gives_no_kernels(self):
        folder = self.analyse(CAPTURES[2], device=False)
        names = {path.name for path in (folder / OUTPUT).iterdir()}
        self.assertIn("operator_details.csv", names)
        self.assertFalse(names & {"kernel_details.csv", "communication.json"}, names)

    @needs_shared
    def test_every_command_opens_raw_captures(self):
        folder = raw.encode_capture(CAPTURES[2], self.scratch / "x_ascend_pt")
        before = snapshot(folder)
        rank = self.info(folder)["ranks"][0]
        self.assertEqual((rank["source"], rank["format"], rank["level"], rank["rank"]), ("ascend_pt", "raw", "Level1", 0))
        self.assertEqual(rank["steps"], [50])
        (step,) = self.rows("breakdown", folder)
        (known,) = self.rows("breakdown", CAPTURES[2])
        for column in ("Computing", "Free", "Communication"):
            self.assertAlmostEqual(step[column], known[column], delta=0.5)
        self.assertTrue(self.rows("ops", folder))
        self.assertEqual(snapshot(folder), before)


class CpuCapture(Case):
    """A capture whose device is the host."""

    def test_results_hold_kernels_streams_and_communication(self):
        folder = raw.training(self.scratch / "a_ascend_pt", 0, export_type=("text", "db"))
        self.run_program("analyse", folder, expect=0)
        kernels = rows(folder, "kernel_details.csv")
        self.assertEqual(collections.Counter(k["Name"] for k in kernels if "hcom" not in k["Name"]), {"aten::addmm": 6})
        self.assertEqual([k["Name"] for k in kernels if "hcom" in k["Name"]], [f"hcom_allReduce__586_{i}_1" for i in range(3)])
        self.assertEqual({k["Step Id"] for k in kernels}, {"0", "1", "2"})
        steps = rows(folder, "step_trace_time.csv")
        self.assertEqual([list(rows(folder, f"{name}.csv")[0].items())[0] for name in ("step_trace_time", "op_statistic")], [("Device_id", "0")] * 2)
        self.assertIn("Mix Block Num", kernels[0])
        for row in steps:
            self.assertAlmostEqual(float(row["Computing"]), 1.6)
            self.assertAlmostEqual(float(row["Communication"]), 1.99)
            self.assertAlmostEqual(float(row["Computing"]) + float(row["Communication(Not Overlapped)"]) + float(row["Free"]),
                                   float(row["Stage"]) + float(row["Bubble"]))
        trace = load_trace(folder / OUTPUT / "trace_view.json")
        processes = {e["args"]["name"] for e in trace if e.get("name") == "process_name"}
        self.assertLessEqual({"Python", "Ascend Hardware", "Communication", "Overlap Analysis", "Python GC", "CPU Usage"}, processes)
        self.assertEqual(len(rows(folder, "operator_memory.csv")), 6)
        tasks = rows(folder, "task_time.csv")
        self.assertEqual([task["kernel_name"] for task in tasks], ["aten::addmm"] * 6)
        self.assertEqual([task["task_start(us)"] for task in tasks], [k["Start Time(us)"] for k in kernels if "hcom" not in k["Name"]])
        communication = json.loads((folder / OUTPUT / "communication.json").read_text())
        self.assertIn("hcom_allReduce__586_0_1@17522688603477080586", communication["step0"]["collective"])
        with sqlite3.connect(folder / OUTPUT / "ascend_pytorch_profiler_0.db") as db:
            begin, end = db.execute("SELECT startTimeNs, endTimeNs FROM SESSION_TIME_INFO").fetchone()
            first, last = db.execute("SELECT min(cast(startNs AS INTEGER)), max(cast(endNs AS INTEGER)) FROM PYTORCH_API").fetchone()
            self.assertTrue(begin <= first < last <= end, (begin, first, last, end))
        with sqlite3.connect(folder / OUTPUT / "analysis.db") as db:
            self.assertEqual(db.execute("SELECT DISTINCT deviceId FROM StepTraceTime").fetchall(), [(0,)])

    def test_raw_and_analysed_capture_agree(self):
        folder = raw.training(self.scratch / "a_ascend_pt", 0)
        before = self.rows("breakdown", folder)
        operators = self.rows("ops", folder)
        self.run_program("analyse", folder, expect=0)
        self.assertEqual(self.info(folder)["ranks"][0]["format"], "text")
        self.assertEqual(self.rows("breakdown", folder), before)
        self.assertEqual(self.rows("ops", folder), operators)
        self.run_program("verify", folder, expect=0)

    def test_level_none_has_no_files_of_a_device(self):
        folder = raw.training(self.scratch / "a_ascend_pt", 0, level="ProfilerLevel.Level_none", export_type=("text", "db"))
        self.run_program("analyse", folder, expect=0)
        names = {path.name for path in (folder / OUTPUT).iterdir()}
        self.assertLessEqual({"trace_view.json", "operator_details.csv", "ascend_pytorch_profiler_0.db"}, names)
        self.assertFalse(names & {"kernel_details.csv", "step_trace_time.csv", "op_statistic.csv", "task_time.csv", "communication.json"}, names)
        self.assertEqual({row["Device Total Duration(us)"] for row in rows(folder, "operator_details.csv")}, {"0"})

    def test_text_and_db_agree(self):
        text = raw.training(self.scratch / "t_ascend_pt", 0, export_type=("text",))
        db = raw.training(self.scratch / "d_ascend_pt", 0, export_type=("db",))
        self.run_program("analyse", self.scratch, expect=0)
        self.assertEqual(self.info(db)["ranks"][0]["format"], "db")
        # The forms differ in one rule: text never splits a piece of free time at the border of a step.
        columns = ("Step", "Computing", "Communication", "Communication(Not Overlapped)", "Overlapped", "Preparing")
        for a, b in zip(self.rows("breakdown", text), self.rows("breakdown", db), strict=True):
            self.assertEqual([a[c] for c in columns], [b[c] for c in columns])
            self.assertGreaterEqual(a["Free"], b["Free"])
        self.run_program("verify", db, expect=0)

    def test_ranks_of_a_job_match(self):
        for rank in range(2):
            raw.training(self.scratch / "job" / f"r{rank}_ascend_pt", rank)
        done = self.run_program("analyse", self.scratch / "job", "--export-type", "text", expect=0)
        self.assertEqual(len(done.out.splitlines()), 2)
        times = [json.loads((self.scratch / "job" / f"r{rank}_ascend_pt" / OUTPUT / "communication.json").read_text())
                 for rank in range(2)]
        self.assertEqual(times[0]["step1"]["collective"].keys(), times[1]["step1"]["collective"].keys())

    def test_mindspore_captures_are_known_by_their_name(self):
        folder = raw.training(self.scratch / "a_ascend_ms", 0)
        self.assertEqual(self.info(folder)["ranks"][0]["source"], "ascend_ms")

    def test_mindspore_names_its_own_memory(self):
        folder = raw.training(self.scratch / "a_ascend_ms", 0)
        self.run_program("analyse", folder, expect=0)
        samples = rows(folder, "memory_record.csv")
        self.assertEqual([row["Component"] for row in samples[:2]], ["MindSpore", "MindSpore+GE"])
        self.assertNotIn("Stream Ptr", samples[0])
        # 128 bytes: 0.125 KB, and 1 MB is 1000 KB in this file alone.
        self.assertEqual(samples[0]["Total Allocated(MB)"], "0.000125")
        self.assertEqual(float(rows(folder, "operator_memory.csv")[0]["Allocation Total Allocated(MB)"]), 128 / 1024 ** 2)

    def test_single_exports(self):
        folder = raw.training(self.scratch / "a_ascend_pt", 0)
        self.run_program("analyse", folder, "--export", "chrome_trace", "--output", self.scratch / "t.json", expect=0)
        self.assertTrue(load_trace(self.scratch / "t.json"))
        self.assertFalse((folder / OUTPUT).exists())
        stack = raw.op_range("aten::mm", 0, 5_000, stack="b.py(2): g;a.py(1): f")
        stacked = raw.write_capture(self.scratch / "s_ascend_pt", {"torch.op_range": [stack]}, clock=raw.TRAINING_CLOCK)
        self.run_program("analyse", stacked, "--export", "stacks", "--output", self.scratch / "s.log", expect=0)
        self.assertEqual((self.scratch / "s.log").read_text(), "a.py(1): f;b.py(2): g 5\n")


class Running(Case):
    """What surrounds the analysis: choosing, resuming, replacing, refusing."""

    def setUp(self):
        super().setUp()
        self.folder = raw.training(self.scratch / "job" / "a_ascend_pt", 0)

    def test_up_to_date_results_are_left_alone(self):
        self.run_program("analyse", self.folder, expect=0)
        stamp = (self.folder / OUTPUT / "trace_view.json").stat().st_mtime_ns
        self.assertIn("up to date", self.run_program("analyse", self.folder, expect=0).out)
        self.assertEqual((self.folder / OUTPUT / "trace_view.json").stat().st_mtime_ns, stamp)
        # Another type, newer raw data or --force: again.
        self.assertIn("written", self.run_program("analyse", self.folder, "--export-type", "text,db", expect=0).out)
        later = time.time() + 5
        os.utime(self.folder / "FRAMEWORK" / "torch.op_range", (later, later))
        self.assertIn("written", self.run_program("analyse", self.folder, expect=0).out)

    def test_export_types_may_be_repeated(self):
        self.run_program("analyse", self.folder, "--export-type", "text", "--export-type", "db", expect=0)
        names = {path.name for path in (self.folder / OUTPUT).iterdir()}
        self.assertLessEqual({"trace_view.json", "ascend_pytorch_profiler_0.db", "analyse.done"}, names)

    def test_old_style_export_type_is_a_plain_text(self):
        info = self.folder / "profiler_info_0.json"
        document = json.loads(info.read_text())
        document["config"]["experimental_config"]["_export_type"] = "db"
        info.write_text(json.dumps(document))
        self.run_program("analyse", self.folder, expect=0)
        self.assertFalse((self.folder / OUTPUT / "trace_view.json").exists())

    def test_old_results_are_replaced_whole(self):
        self.run_program("analyse", self.folder, expect=0)
        (self.folder / OUTPUT / "left_over.csv").write_text("x\n")
        self.run_program("analyse", self.folder, "--force", expect=0)
        self.assertFalse((self.folder / OUTPUT / "left_over.csv").exists())
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith(".")], [])

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_that_cannot_be_written_is_an_error(self):
        self.folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
        self.addCleanup(self.folder.chmod, 0o750)
        done = self.run_program("analyse", self.folder, expect=6)
        self.assertIn("make the folder writable, or analyse a copy", done.err)

    def test_ranks_are_chosen(self):
        raw.training(self.scratch / "job" / "deeper" / "b_ascend_pt", 1)
        done = self.run_program("analyse", self.scratch / "job", "--rank", "1", expect=0)
        self.assertIn("b_ascend_pt", done.out)
        self.assertFalse((self.folder / OUTPUT).exists())
        self.assertIn("none of rank 7", self.run_program("analyse", self.scratch / "job", "--rank", "7", expect=3).err)

    def test_steps_are_chosen(self):
        self.run_program("analyse", self.folder, "--export-type", "text,db", expect=0)
        whole = {name: rows(self.folder, name) for name in ("kernel_details.csv", "operator_details.csv", "operator_memory.csv")}
        done = self.run_program("analyse", self.folder, "--step-list", "1", "--export-type", "text,db", expect=0)
        self.assertEqual((done.err, "written" in done.out), ("", True))
        self.assertEqual([row for row in whole["kernel_details.csv"] if row["Step Id"] == "1"][0]["Name"], "aten::addmm")
        of_step = rows(self.folder, "kernel_details.csv")
        self.assertEqual({row["Step Id"] for row in of_step}, {"1"})
        self.assertEqual(len(of_step), sum(row["Step Id"] == "1" for row in whole["kernel_details.csv"]))
        for name in ("operator_details.csv", "operator_memory.csv"):
            self.assertEqual(len(rows(self.folder, name)), len(whole[name]) // 3, name)
        self.assertEqual([row["Step"] for row in rows(self.folder, "step_trace_time.csv")], ["1"])
        trace = load_trace(self.folder / OUTPUT / "trace_view.json")
        self.assertEqual([e["name"] for e in trace if str(e["name"]).startswith("ProfilerStep#")], ["ProfilerStep#1"])
        self.assertEqual(list(json.loads((self.folder / OUTPUT / "communication.json").read_text())), ["step1"])
        self.run_program("verify", self.folder, expect=0)
        with sqlite3.connect(self.folder / OUTPUT / "ascend_pytorch_profiler_0.db") as db:
            self.assertEqual(db.execute("SELECT id FROM STEP_TIME").fetchall(), [(1,)])
            self.assertEqual(db.execute("SELECT count(*) FROM COMPUTE_TASK_INFO").fetchone()[0], 2)

    def test_results_of_other_steps_are_not_up_to_date(self):
        for words in (["--step-list", "1"], ["--step-list", "0-1"], [], ["--step-list", "all"]):
            done = self.run_program("analyse", self.folder, *words, expect=0)
            self.assertEqual("up to date" in done.out, words == ["--step-list", "all"], words)
        self.assertEqual((self.folder / OUTPUT / "analyse.done").read_text(), "")

    def test_steps_that_were_not_recorded_are_told(self):
        self.assertIn("none of the steps 7 was recorded (only 0, 1, 2)",
                      self.run_program("analyse", self.folder, "--step-list", "7", expect=3).err)
        self.assertFalse((self.folder / OUTPUT).exists())
        done = self.run_program("analyse", self.folder, "--step-list", "2-5", expect=0)
        self.assertIn("3 of 4 steps asked for were not recorded; the results are of 2", done.err)

    def test_a_damaged_capture_does_not_stop_the_others(self):
        bad = self.scratch / "job" / "bad_ascend_pt"
        (bad / "FRAMEWORK" / "torch.op_range").mkdir(parents=True)  # a folder where a file should be
        (bad / "profiler_info_1.json").write_text('{"rank_id": 1}')
        done = self.run_program("analyse", self.scratch / "job")
        self.assertTrue((self.folder / OUTPUT / "analyse.done").exists())
        self.assertFalse((bad / OUTPUT).exists())
        self.assertTrue(done.err)

    def test_wrong_words_are_refused(self):
        for words, code, message in (
                (["--export-type", "xml"], 2, "'xml' is not a type"),
                (["--jobs", "-1"], 2, "out of range"),
                (["--rank", "x"], 2, "--rank"),
                (["--step-list", "x"], 2, "--step-list: 'x' is not a list of steps"),
                (["--step-list", "1", "--export", "stacks", "--output", self.scratch / "o"], 2, "--export writes all steps"),
                (["--export", "stacks"], 2, "--output FILE"),
                (["--export", "stacks", "--metric", "x", "--output", self.scratch / "o"], 2, "x")):
            done = self.run_program("analyse", self.folder, *words, expect=code)
            self.assertIn(message, done.err)
        self.assertIn("no such file", self.run_program("analyse", self.scratch / "nowhere", expect=3).err)
        (self.scratch / "empty").mkdir()
        self.assertIn("no raw capture", self.run_program("analyse", self.scratch / "empty", expect=3).err)
        self.assertIn("is a file", self.run_program("analyse", self.folder / "profiler_info_0.json", expect=2).err)

    def test_a_running_recording_is_refused(self):
        info = self.folder / "profiler_info_0.json"
        document = json.loads(info.read_text())
        del document["end_info"]
        with open(self.folder / "FRAMEWORK" / "torch.op_range", "ab"):
            document["steplens_pid"] = os.getpid()
            info.write_text(json.dumps(document))
            done = self.run_program("analyse", self.folder, expect=2)
            self.assertIn("is running", done.err)
        self.assertFalse((self.folder / OUTPUT).exists())
        self.run_program("analyse", self.folder, expect=0)  # it has closed its files: it was killed

    def test_an_interrupted_analysis_leaves_nothing_half_done(self):
        raw.synthetic(200_000, self.scratch / "big_ascend_pt")
        process = subprocess.Popen([PROGRAM, "analyse", str(self.scratch / "big_ascend_pt")], env=self.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        output = self.scratch / "big_ascend_pt" / OUTPUT
        # Results are written to a folder whose name begins with a dot: once it is there, writing is under way.
        while process.poll() is None and not [p for p in output.parent.iterdir() if p.name.startswith(".")]:
            time.sleep(0.001)
        self.assertIsNone(process.poll(), "the analysis ended before it could be interrupted")
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertTrue(not output.exists() or (output / "analyse.done").exists())
        self.run_program("analyse", self.scratch / "big_ascend_pt", expect=0)
        self.assertEqual([p.name for p in output.parent.iterdir() if p.name.startswith(".")], [])

    def test_ctrl_c_leaves_nothing_half_done(self):
        big = self.scratch / "big_ascend_pt"
        raw.synthetic(400_000, big)
        for form in ("text", "db"):
            process = subprocess.Popen([PROGRAM, "analyse", str(big), "--jobs", "1", "--export-type", form], env=self.environment,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while process.poll() is None and not [p for p in big.iterdir() if p.name.startswith(f".{OUTPUT}")]:
                time.sleep(0.005)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
            self.assertEqual((process.returncode, out), (130, ""), err)
            self.assertIn("interrupted", err)
            self.assertFalse((big / OUTPUT).exists())
            self.assertEqual([p.name for p in big.iterdir() if p.name.startswith(".")], [])

    @needs_shared
    def test_simplification_removes_what_the_exporter_left(self):
        folder = raw.encode_capture(CAPTURES[2], self.scratch / "s_ascend_pt", simplify=True)
        prof = next(folder.glob("PROF_*"))
        (prof / "host" / "sqlite").mkdir(parents=True)
        (prof / "device_0" / "data").mkdir(parents=True)
        self.run_program("analyse", folder, expect=0)
        self.assertFalse((prof / "mindstudio_profiler_output").exists())
        self.assertFalse((prof / "host" / "sqlite").exists())
        self.assertTrue((prof / "device_0" / "data").exists())
        self.assertTrue((folder / "FRAMEWORK" / "torch.op_range").exists())
        results = snapshot(folder / OUTPUT)
        # Without the exporter's files new results would hold less: refused, the old ones stay.
        self.assertIn("no data of the collector", self.run_program("analyse", folder, "--force", expect=5).err)
        self.assertEqual(snapshot(folder / OUTPUT), results)

    def exported(self, name):
        """A capture with the folders that an exporter leaves, its PROF folder."""
        folder = self.scratch / name
        shutil.copytree(self.folder, folder)
        prof = folder / "PROF_000001_1_ABC"
        for place in ("host/sqlite", "device_0/sqlite", "device_0/summary", "device_0/data", "mindstudio_profiler_output",
                      "mindstudio_profiler_log", "analyze"):
            (prof / place).mkdir(parents=True)
        (prof / "device_0/data/all_file.complete").touch()
        return folder, prof

    @staticmethod
    def paths_of(prof):
        return {str(path.relative_to(prof)) for path in prof.rglob("*")}

    def test_what_is_removed_is_the_frameworks_rule_and_can_be_chosen(self):
        rest = {"host", "device_0", "device_0/data"}
        pt_only = {"device_0/summary", "analyze"}
        exporter = {"mindstudio_profiler_output", "mindstudio_profiler_log"}
        sqlite = {"host/sqlite", "device_0/sqlite"}
        complete = {"device_0/data/all_file.complete"}
        for name, switch, left in (("a_1_ascend_pt", "on", rest | complete), ("b_1_ascend_pt", "off", rest | complete | pt_only | exporter),
                                   ("c_1_ascend_ms", "on", rest | pt_only),
                                   ("d_1_ascend_ms", "off", rest | pt_only | exporter | sqlite | complete)):
            with self.subTest(name):
                folder, prof = self.exported(name)
                self.run_program("analyse", folder, "--data-simplification", switch, expect=0)
                self.assertEqual(self.paths_of(prof), left)
                self.assertEqual((folder / "FRAMEWORK").exists(), name != "c_1_ascend_ms")

    def mindspore_capture(self, name, parameters=None):
        """A capture of MindSpore on the host alone, with these profiler_parameters."""
        folder = raw.training(self.scratch / name, 0)
        for path in folder.glob("profiler_info*.json"):
            content = json.loads(path.read_text())
            content.pop("config", None)
            content["profiler_parameters"] = {"export_type": ["text"], **(parameters or {})}
            path.write_text(json.dumps(content))
        return folder

    def test_simplification_of_mindspore_removes_framework_where_it_is_asked_for(self):
        for name, parameters, options, stays in (
                ("says", {"data_simplification": True}, (), False), ("off", {"data_simplification": False}, (), True),
                ("silent", {}, (), True), ("given", {}, ("--data-simplification", "on"), False),
                ("kept", {"data_simplification": True}, ("--data-simplification", "off"), True)):
            folder = self.mindspore_capture(f"{name}_1_ascend_ms", parameters)
            done = self.run_program("analyse", folder, *options, expect=0)
            self.assertEqual(((folder / "FRAMEWORK").exists(), done.err), (stays, ""), name)
            self.run_program("verify", folder, expect=0)

    def test_results_whose_raw_data_was_removed_are_complete(self):
        folder = self.mindspore_capture("a_1_ascend_ms", {"data_simplification": True})
        self.run_program("analyse", folder, expect=0)
        results = snapshot(folder / OUTPUT)
        for options in ((), ("--export-type", "text")):
            self.assertIn("the raw data was removed", self.run_program("analyse", folder, *options, expect=0).out)
        for options in (("--force",), ("--export-type", "db")):
            self.one_sentence(self.run_program("analyse", folder, *options, expect=5), "cannot be made again")
        self.assertEqual(snapshot(folder / OUTPUT), results)
        self.run_program("info", folder, expect=0)

    def test_framework_stays_where_little_or_nothing_was_exported(self):
        folder = self.mindspore_capture("some_1_ascend_ms", {"data_simplification": True})
        self.assertIn("some steps only", self.run_program("analyse", folder, "--step-list", "1", expect=0).err)
        self.assertTrue((folder / "FRAMEWORK").exists())
        empty = self.mindspore_capture("none_1_ascend_ms", {"data_simplification": True})
        for path in (empty / "FRAMEWORK").iterdir():
            path.write_bytes(b"")
        done = self.run_program("analyse", empty)
        self.assertIn("nothing was exported, so data_simplification keeps FRAMEWORK", done.err)
        self.assertTrue((empty / "FRAMEWORK").exists())

    def test_the_configuration_of_one_card_may_have_both_names(self):
        folder = self.mindspore_capture("both_1_ascend_ms")
        (info,) = folder.glob("profiler_info*.json")
        shutil.copy(info, folder / "profiler_info.json")
        self.assertEqual(self.run_program("analyse", folder, expect=0).err, "")
        files = {os.path.basename(file["path"]): file for file in self.info(folder)["ranks"][0]["files"]}
        self.assertTrue(files[info.name]["used"])
        self.assertFalse(files["profiler_info.json"]["used"])

    def test_without_a_word_about_it_a_capture_is_simplified(self):
        folder, prof = self.exported("e_1_ascend_pt")
        (info,) = folder.glob("profiler_info*.json")
        content = json.loads(info.read_text())
        content["config"]["experimental_config"].pop("_data_simplification", None)
        info.write_text(json.dumps(content))
        self.run_program("analyse", folder, expect=0)
        self.assertFalse((prof / "mindstudio_profiler_output").exists())

    def test_the_platforms_data_goes_beside_the_capture(self):
        folder, _ = self.exported("host_12_20260102030405006_ascend_pt")
        (folder / "PLATFORM_17").mkdir()
        (folder / "PLATFORM_17" / "data").touch()
        (folder / "PLATFORM_18").mkdir()
        self.run_program("analyse", folder, expect=0)
        self.assertTrue((self.scratch / "PLATFORM_20260102030405006" / "data").exists())
        self.assertTrue((folder / "PLATFORM_18").exists())

    def test_a_list_of_ranks_that_is_none_is_said_once(self):
        done = self.run_program("analyse", self.folder, "--rank", "a", expect=2)
        self.one_sentence(done, "--rank: 'a' is not a list of ranks")
        self.assertNotIn("rank_list", done.err)

    def test_of_several_configurations_of_mindspore_the_first_is_used(self):
        folder, prof = self.exported("f_1_ascend_ms")
        for path in folder.glob("profiler_info*.json"):
            path.unlink()
        for rank, simplify in ((0, False), (1, True)):
            (folder / f"profiler_info_{rank}.json").write_text(json.dumps(
                {"profiler_parameters": {"activities": ["CPU"], "data_simplification": simplify},
                 "ms_profiler_info": {"rank_id": str(rank)}}))
        done = self.run_program("analyse", folder, expect=0)
        self.assertIn("there are 2 configurations, profiler_info_0.json is used", done.err)
        self.assertTrue((prof / "mindstudio_profiler_output").exists())

    def test_a_capture_of_mindspore_without_a_configuration_is_refused(self):
        folder, _ = self.exported("g_1_ascend_ms")
        for path in folder.glob("profiler_info*.json"):
            path.unlink()
        self.one_sentence(self.run_program("analyse", folder, expect=3), "there is no profiler_info_*.json")
        self.assertFalse((folder / OUTPUT).exists())

    def test_results_are_for_the_user_and_the_group(self):
        self.scratch.chmod(0o755)  # results of a folder that nobody else may enter are for the user alone
        self.run_program("analyse", self.folder, "--export-type", "text,db", expect=0)
        for path in [*(self.folder / OUTPUT).iterdir(), *(self.folder / "logs").iterdir()]:
            self.assertEqual(path.stat().st_mode & 0o7777, 0o640, path)
        trace = self.scratch / "trace.json"
        self.run_program("analyse", self.folder, "--export", "chrome_trace", "--output", trace, expect=0)
        self.assertEqual(trace.stat().st_mode & 0o7777, 0o640)
        for path in (self.folder / OUTPUT, self.folder / "logs"):
            self.assertEqual(path.stat().st_mode & 0o7777, 0o750, path)

    def test_a_device_folder_without_data_is_said(self):
        (self.folder / "PROF_000001_1_ABC" / "device_0").mkdir(parents=True)
        done = self.run_program("analyse", self.folder, expect=0)
        self.assertIn("a PROF_* folder has no data", done.out)
        self.one_sentence(done, "a PROF_* folder has no data of the collector; its device is missing")
        self.assertFalse((self.folder / OUTPUT / "kernel_details.csv").exists())
        self.assertFalse((self.folder / OUTPUT / "step_trace_time.csv").exists())  # what the host did is not the device's computing
        self.assertIn("no rows", self.run_program("breakdown", self.folder, expect=0).err)

    def test_damage_is_counted_and_logged(self):
        with open(self.folder / "FRAMEWORK" / "torch.op_range", "ab") as file:
            file.write(raw.op_range("cut off", 0, 1)[:-3])
        self.run_program("analyse", self.folder, expect=0)
        (log,) = (self.folder / "logs").glob("profiler_*_analyse.log")
        self.assertIn("RecordsTruncated", log.read_text())
        self.assertEqual(len(rows(self.folder, "operator_details.csv")), 18)

    def test_what_was_lost_while_recording_is_told(self):
        info = next(self.folder.glob("profiler_info*.json"))
        values = {**json.loads(info.read_text()), "steplens_drops": {"recorded": 90, "dropped": 7, "lost_on_write": 3, "texts_left_out": 0}}
        info.write_text(json.dumps(values))
        lost = "10 of 100 records were lost while recording (7 because buffers were full, 3 because they could not be written)"
        self.one_sentence(self.run_program("analyse", self.folder, expect=0), lost)
        self.assertIn(f"lost:   {lost}", self.run_program("info", self.folder, expect=0).out)
        self.assertEqual(json.loads(self.run_program("info", self.folder, "--json", expect=0).out)["ranks"][0]["lost"], lost)

    def one_sentence(self, done, *parts):
        self.assertEqual(len(done.err.strip().splitlines()), 1, done.err)
        for part in parts:
            self.assertIn(part, done.err)

    def leftovers(self):
        return [path.name for path in self.folder.iterdir() if path.name.startswith(".")]

    def test_operators_cut_at_every_byte_give_results_and_a_warning(self):
        file = self.folder / "FRAMEWORK" / "torch.op_range"
        records = [raw.op_range("aten::mm", 1_000, 5_000), raw.op_range("aten::add", 6_000, 9_000, shapes="2,3;3")]
        whole = b"".join(records)
        borders = {0, len(records[0]), len(whole)}
        for size in range(len(whole) + 1):
            file.write_bytes(whole[:size])
            done = self.run_program("analyse", self.folder, "--force", "--jobs", "1", expect=0)
            count = sum(border <= size for border in borders) - 1
            self.assertIn(f": {count} operators", done.out)
            if size in borders:
                self.assertEqual(done.err, "")
            else:
                offset = max(border for border in borders if border < size)
                self.one_sentence(done, "not all of the raw data is sound", f"torch.op_range: byte {offset}:")
            self.assertEqual(self.leftovers(), [])

    def test_a_profiler_info_that_is_broken_or_missing_is_said(self):
        info = self.folder / "profiler_info_0.json"
        info.write_text('{"rank_id": 0, "con')
        self.one_sentence(self.run_program("analyse", self.folder, expect=0), "profiler_info_0.json: not valid JSON", "times begin at 0")
        info.unlink()
        self.one_sentence(self.run_program("analyse", self.folder, "--force", expect=0), "times begin at 0")

    def test_a_capture_without_framework_is_no_capture(self):
        for path in (self.folder / "FRAMEWORK").iterdir():
            path.unlink()
        self.one_sentence(self.run_program("analyse", self.folder, expect=3), "FRAMEWORK is empty", "expected a folder with FRAMEWORK/")
        (self.folder / "FRAMEWORK").rmdir()
        self.one_sentence(self.run_program("analyse", self.folder, expect=3), "no raw capture found", "expected a folder with FRAMEWORK/")

    def test_a_full_disk_leaves_the_old_results(self):
        # A limit on the size of files stands for the disk: the system refuses to write in the same way.
        big = self.scratch / "big_ascend_pt"
        raw.synthetic(3_000, big)
        limited = ["bash", "-c", "trap '' XFSZ; ulimit -f 64; exec \"$@\"", "-", PROGRAM, "analyse", str(big), "--force"]
        for form in ("text", "db"):
            done = subprocess.run([*limited, "--export-type", form], env=self.environment, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertIn(f"{OUTPUT}/", done.stderr)
            self.assertNotIn(f".{OUTPUT}", done.stderr)
            self.assertIn("no results were left", done.stderr)
            self.assertEqual(sorted(path.name for path in big.iterdir() if "PROFILER_OUTPUT" in path.name), [])
        self.run_program("analyse", big, expect=0)
        before = snapshot(big / OUTPUT)
        done = subprocess.run(limited, env=self.environment, capture_output=True, text=True, check=False)
        self.assertIn("the results from before are kept", done.stderr)
        self.assertEqual(snapshot(big / OUTPUT), before)

    def test_two_analyses_of_one_capture_at_once(self):
        big = self.scratch / "big_ascend_pt"
        raw.synthetic(20_000, big)
        self.run_program("analyse", big, expect=0)
        before = snapshot(big / OUTPUT)
        command = [PROGRAM, "analyse", str(big), "--force"]
        both = [subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        for process in both:
            _, err = process.communicate()
            self.assertEqual((process.returncode, err), (0, ""))
        self.assertEqual(snapshot(big / OUTPUT), before)
        self.assertEqual([path.name for path in big.iterdir() if path.name.startswith(".")], [])


if __name__ == "__main__":
    unittest.main()
