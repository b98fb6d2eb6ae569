"""`breakdown` gives the numbers of step_trace_time.csv and StepTraceTime, computed from the timeline."""

import contextlib
import csv
import fcntl
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import termios
import unittest

from support import DATA, PROGRAM, SAMPLE, Case, needs_shared

COLUMNS = ["Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Free", "Stage", "Bubble",
           "Communication(Not Overlapped and Exclude Receive)", "Preparing"]


def digits(value):
    """A value of the reference as breakdown prints it. Its sums of doubles end in noise (8827.472999999998)."""
    return f"{float(value):.3f}"


@needs_shared
class Breakdown(Case):
    def text_captures(self):
        paths = sorted(DATA.glob("**/ASCEND_PROFILER_OUTPUT/step_trace_time.csv"))
        self.assertEqual(len(paths), 5)
        for path in paths:
            with self.subTest(path=str(path.relative_to(DATA))):
                yield path.parents[1], list(csv.DictReader(path.read_text().splitlines()))

    def printed(self, folder, *options):
        out = self.run_program("breakdown", folder, "--csv", *options, expect=0).out
        return list(csv.DictReader(out.splitlines()))

    def test_text_to_the_last_digit(self):
        for folder, expected in self.text_captures():
            rows = self.printed(folder)
            self.assertEqual([row["Step"] for row in rows], [row["Step"] for row in expected])
            for row, values in zip(rows, expected):
                for column in COLUMNS:
                    if column in ("Stage", "Preparing"):  # in the reference multiples of 0.25
                        self.assertAlmostEqual(float(row[column]), float(values[column]), delta=0.25)
                    else:
                        self.assertEqual(row[column], digits(values[column]), column)

    def test_text_compat_is_equal_in_every_column(self):
        for folder, expected in self.text_captures():
            rows = self.printed(folder, "--compat")
            self.assertEqual([[row[column] for column in COLUMNS] for row in rows],
                             [[digits(row[column]) for column in COLUMNS] for row in expected])

    def test_iterations_of_a_whole_graph_are_steps(self):
        [device] = (DATA / "mindinsight" / "profiler").glob("PROF_*/device_0")
        events = [event for path in device.glob("timeline/msprof_*.json") for event in json.loads(path.read_text()) if event["ph"] == "X"]
        iterations = sorted((event for event in events if event.get("cat") == "Iteration Time"), key=lambda event: event["ts"])
        rows = self.rows("breakdown", device)
        self.assertEqual([row["Step"] for row in rows], [event["args"]["Iteration ID"] for event in iterations])
        for row, iteration in zip(rows, iterations):
            for kind in ("Computing", "Communication"):
                inside = [event["dur"] for event in events if event["name"] == kind
                          and iteration["ts"] <= event["ts"] < iteration["ts"] + iteration["dur"]]
                self.assertAlmostEqual(row[kind], sum(inside), delta=0.01)
        for options, rows_of_rank in ([], 10), (["--compat"], 1):
            self.run_program("cluster", "-m", "communication_time", "-d", device, "-o", self.scratch / "out", *options, expect=0)
            table = self.scratch / "out/cluster_analysis_output/cluster_step_trace_time.csv"
            self.assertEqual(len(table.read_text().splitlines()), 1 + rows_of_rank, options)
        # The marks of iterations are no kernels, and without op_summary kernels have no types to go by.
        names = {row["Name"] for row in self.rows("ops", device)}
        self.assertIn("Default/optimizer-Momentum/FusedMulApplyMomentum-op292", names)
        self.assertFalse([name for name in names if name.startswith(("Iteration", "FP_BP", "Reduce_"))])

    def test_parts_sum_to_the_stage(self):
        for folder, _ in self.text_captures():
            for row in self.rows("breakdown", folder):
                self.assertAlmostEqual(row["Computing"] + row["Communication(Not Overlapped)"] + row["Free"],
                                       row["Stage"] + row["Bubble"], delta=0.0005)

    def test_db_to_the_nanosecond(self):
        for path in sorted(DATA.glob("ascend_pt/db/*/*/ASCEND_PROFILER_OUTPUT/analysis.db")):
            with self.subTest(path=str(path.relative_to(DATA))):
                db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
                db.row_factory = sqlite3.Row
                stored = db.execute("SELECT * FROM StepTraceTime").fetchone()
                db.close()
                values = dict(zip(COLUMNS, list(stored)[1:]))
                row = self.printed(path.parents[1])[0]
                self.assertEqual([row[column] for column in COLUMNS], [digits(values[column]) for column in COLUMNS])

    def test_two_ranks_at_once(self):
        rows = self.rows("breakdown", DATA / "ascend_pt/text/level1")
        self.assertEqual([row["Rank"] for row in rows], [0, 1])

    def test_parts_fill_the_step_of_gpu_traces(self):
        for path in sorted((DATA / "kineto/hta").rglob("*.json.gz")):
            with self.subTest(path=str(path.relative_to(DATA))):
                for row in self.rows("breakdown", path):
                    parts = row["Computing"] + row["Communication(Not Overlapped)"] + (row.get("Memory") or 0) + row["Free"]
                    self.assertAlmostEqual(parts, row["Stage"] + row["Bubble"], delta=0.0005)


class WithoutATimeline(Case):
    """Result files answer where there is no timeline to compute from."""

    def sample_without_trace(self):
        folder = self.scratch / "rank0_ascend_pt"
        shutil.copytree(SAMPLE / "rank0_ascend_pt", folder)
        for trace in folder.rglob("trace_view.json*"):
            trace.unlink()
        return folder

    def test_the_step_table(self):
        folder = self.sample_without_trace()
        with open(folder / "ASCEND_PROFILER_OUTPUT/step_trace_time.csv", newline="", encoding="utf-8") as file:
            expected = list(csv.DictReader(file))
        rows = self.rows("breakdown", folder)
        self.assertEqual([str(row["Step"]) for row in rows], [row["Step"] for row in expected])
        for row, values in zip(rows, expected):
            for column in COLUMNS:
                self.assertAlmostEqual(row[column], float(values[column]), places=3, msg=column)
        self.assertEqual(len(self.rows("breakdown", folder, "--step", expected[0]["Step"])), 1)

    def test_the_steps_of_kernels(self):
        folder = self.sample_without_trace()
        expected = self.rows("breakdown", SAMPLE, "--rank", 0)
        (folder / "ASCEND_PROFILER_OUTPUT/step_trace_time.csv").unlink()
        rows = self.rows("breakdown", folder)
        self.assertEqual([row["Step"] for row in rows], [row["Step"] for row in expected])

    def test_the_api_table(self):
        folder = self.sample_without_trace()
        with open(folder / "ASCEND_PROFILER_OUTPUT/api_statistic.csv", newline="", encoding="utf-8") as file:
            expected = {(row["Level"], row["API Name"]): row for row in csv.DictReader(file)}
        rows = self.rows("ops", folder, "--by", "api")
        self.assertEqual({(row["Level"], row["API Name"]) for row in rows}, set(expected))
        for row in rows:
            values = expected[row["Level"], row["API Name"]]
            self.assertAlmostEqual(row["Time(us)"], float(values["Time(us)"]), places=3)
            self.assertEqual(row["Count"], int(values["Count"]))

    def test_analysis_db_alone(self):
        self.run_program("convert", SAMPLE, "--to", "db", "--output", self.scratch / "db", expect=0)
        folder = self.scratch / "db/rank0_ascend_pt"
        expected = self.rows("breakdown", folder)
        for database in folder.rglob("ascend_pytorch_profiler*.db"):
            database.unlink()
        self.assertEqual(self.info(folder)["ranks"][0]["format"], "db")
        rows = self.rows("breakdown", folder)
        # The table does not say when the host began a step: the step time is that of the device.
        for row, whole in zip(rows, expected):
            self.assertAlmostEqual(row.pop("Step Time"), row["Stage"] + row["Bubble"], delta=0.001)
            self.assertGreaterEqual(whole.pop("Step Time"), row["Stage"] + row["Bubble"] - 0.001)
        self.assertEqual(rows, expected)


class Ops(Case):
    """Without --by, the grouping that says most of the input."""

    def trace(self, name, *slices):
        return self.write(name, json.dumps([{"ph": "X", "name": slice_name, "cat": cat, "pid": 1, "tid": tid, "ts": ts, "dur": 5, "args": {}}
                                            for slice_name, cat, tid, ts in slices]))

    def test_gpu_kernels_by_name(self):
        trace = self.trace("gpu.json", ("gemm", "kernel", 7, 1), ("relu", "kernel", 7, 10), ("Memcpy HtoD", "gpu_memcpy", 7, 20))
        self.assertEqual({row["Name"] for row in self.rows("ops", trace)}, {"gemm", "relu", "Memcpy HtoD"})
        self.assertEqual({row["OP Type"] for row in self.rows("ops", trace, "--by", "type")}, {"kernel", "gpu_memcpy"})

    def test_communication_is_never_dropped_without_a_word(self):
        trace = self.trace("nccl.json", ("gemm", "kernel", 7, 1), ("ncclDevKernel_AllReduce", "kernel", 9, 2))
        names = lambda *words: {row["Name"] for row in self.rows("ops", trace, *words)}
        self.assertEqual(names(), {"gemm", "ncclDevKernel_AllReduce"})
        self.assertEqual({row["Ratio(%)"] for row in self.rows("ops", trace)}, {50})
        self.assertEqual(names("--communication", "only"), {"ncclDevKernel_AllReduce"})
        self.assertEqual(names("--communication", "exclude"), {"gemm"})
        self.assertIn("1 communication operation (5.000 us) not listed and not in Ratio(%)\n",
                      self.run_program("ops", trace, "--communication", "exclude", expect=0).err)
        self.assertEqual({row["name"] for row in self.query(trace, "SELECT name FROM kernel_stats_by_name")}, names())
        self.assertIn("--by operator lists operators of the host",
                      self.run_program("ops", trace, "--by", "operator", "--communication", "only", expect=2).err)

    def test_collectives_of_ascend_are_counted_where_they_are_not_listed(self):
        only = self.rows("ops", SAMPLE, "--communication", "only")
        self.assertEqual({row["Core Type"] for row in only}, {"HCCL"})
        note = self.run_program("ops", SAMPLE, expect=0).err
        self.assertIn(f"{sum(row['Count'] for row in only)} communication operations (", note)
        self.assertIn("as in op_statistic.csv; --communication include lists them", note)
        included = self.rows("ops", SAMPLE, "--communication", "include")
        self.assertEqual(len(included), len(only) + len(self.rows("ops", SAMPLE)))

    def test_operators_where_no_device_was_recorded(self):
        trace = self.trace("cpu.json", ("aten::mm", "cpu_op", 1, 1), ("aten::add", "cpu_op", 1, 10))
        self.assertEqual({row["Name"] for row in self.rows("ops", trace)}, {"aten::mm", "aten::add"})
        self.assertIn("--by operator", self.run_program("ops", trace, "--by", "type", expect=0).err)

    def test_ascend_kernels_by_type(self):
        self.assertEqual(self.rows("ops", SAMPLE), self.rows("ops", SAMPLE, "--by", "type"))


class Backends(Case):
    """Devices of every back end of Kineto, and one that nobody knows."""

    def trace(self, label, device_slices):
        host = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 99, "tid": 99, "ts": 0, "dur": 90}
        labels = [{"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "ts": 0, "args": {"labels": text}} for pid, text in ((99, "CPU"), (0, label))]
        device = [{"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": 10, "args": {"device": 0, "stream": 7}}
                  for category, name, ts in device_slices]
        return self.write("trace.json", json.dumps({"distributedInfo": {"rank": 0}, "traceEvents": [host, *labels, *device]}))

    def test_work_of_every_back_end(self):
        for label, kernel, copy, collective in (
                ("GPU 0", "kernel", "gpu_memcpy", "ncclDevKernel_AllReduce"), ("GPU 0", "Kernel", "Memcpy", "ncclKernel_AllReduce"),
                ("XPU 0", "kernel", "xpu_memcpy", "oneccl_allreduce"), ("NPU 0", "kernel", "gpu_memcpy", "hcom_allReduce__586_0_1"),
                ("MTIA 0", "mtia_ccp_events", "mtia_memcpy", "hccl_all_reduce"), ("GCU 0", "kernel", "GCU_MEMCPY", "eccl_allreduce"),
                ("ODD 0", "concurrent_kernel", "odd_memset", "nccl")):
            with self.subTest(kernel=kernel, copy=copy):
                trace = self.trace(label, [(kernel, "mm", 100), (copy, "copy", 120), (kernel, collective, 140)])
                [row] = self.rows("breakdown", trace)
                self.assertEqual([row[part] for part in ("Computing", "Memory", "Communication", "Free")], [10, 10, 10, 20])
                [rank] = self.info(trace)["ranks"]
                self.assertEqual((rank["counts"]["kernels"], rank["counts"]["comm_ops"], rank["issues"]), (2, 1, []))
                self.assertEqual(self.query(trace, "SELECT count(*) n FROM copies"), [{"n": 1}])

    def test_dma_requests_of_mtia_are_copies(self):
        trace = self.trace("MTIA 0", [("mtia_ccp_events", "dma_request", 100), ("mtia_ccp_events", "mm", 120)])
        [row] = self.rows("breakdown", trace)
        self.assertEqual((row["Computing"], row["Memory"]), (10, 10))

    def test_the_host_is_not_a_device_that_nobody_knows(self):
        for label, category in ("GPU 0", "cuda_profiler_range"), ("TPU 3", "tpu_job"), ("", "mystery"):
            with self.subTest(category=category):
                trace = self.trace(label, [(category, "gemm", 100), (category, "relu", 120)])
                done = self.run_program("breakdown", trace, "--json", expect=0)
                self.assertEqual(json.loads(done.out), [])
                self.assertIn("no kernels or copies of a device that steplens knows", done.err)
                [issue] = self.info(trace)["ranks"][0]["issues"]
                self.assertEqual((issue["name"], issue["severity"], issue["count"]), ("DeviceUnknown", "data_loss", 2))
                self.assertIn(category, issue["example"])
                self.assertEqual(self.query(trace, "SELECT count(*) n FROM temporal_breakdown"), [{"n": 0}])
                self.run_program("breakdown", trace, "--strict", expect=4)

    def test_without_a_device_the_host_computes(self):
        [row] = self.rows("breakdown", self.trace("GPU 0", []))
        self.assertEqual(row["Computing"], 90)
        self.assertEqual(self.info(self.scratch / "trace.json")["ranks"][0]["issues"], [])

    @needs_shared
    def test_shared_traces_have_no_unknown_device(self):
        for path in sorted((DATA / "kineto").rglob("*.json*")):
            with self.subTest(path=path.name):
                [rank] = self.info(path)["ranks"]
                self.assertNotIn("DeviceUnknown", [issue["name"] for issue in rank["issues"]])


class OnATerminal(Case):
    def output(self, *words, columns=80):
        """What the program writes to a terminal of that width."""
        main, side = os.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        run = subprocess.Popen([PROGRAM, *map(str, words)], stdout=side, stderr=subprocess.DEVNULL, env=self.environment)
        os.close(side)
        out = b""
        with contextlib.suppress(OSError):  # the other end closes
            while piece := os.read(main, 65536):
                out += piece
        os.close(main)
        self.assertEqual(run.wait(timeout=60), 0)
        return out.decode().replace("\r\n", "\n")

    def test_tables_fit_the_terminal(self):
        for words in (("breakdown", SAMPLE), ("ops", SAMPLE), ("ops", "--by", "name", SAMPLE)):
            with self.subTest(words=words[:-1]):
                wide = [line for line in self.output(*words, "--no-cache").splitlines() if len(line) > 80]
                self.assertEqual(wide, [])

    def test_nothing_is_cut_in_a_pipe(self):
        self.assertNotIn("…", self.run_program("ops", "--by", "name", SAMPLE, expect=0).out)


if __name__ == "__main__":
    unittest.main()
