"""`info` counts what a few lines of Python count, on every file of the shared data."""

import csv
import json
import sqlite3
import unittest

from support import DATA, Case, load_trace, needs_shared


def is_trace(path):
    """An array of events, or an object with traceEvents, that Python can load."""
    if not path.name.endswith((".json", ".gz")):
        return False
    try:
        events = load_trace(path)
    except (ValueError, KeyError, OSError):
        return False
    return isinstance(events, list) and bool(events) and isinstance(events[0], dict) and "ph" in events[0]


def arrows(events):
    """Flow ends that have a start of the same category and id."""
    def key(event):
        return event.get("cat") or event.get("name"), str(event.get("id"))
    starts = {key(event) for event in events if event.get("ph") == "s"}
    return sum(1 for event in events if event.get("ph") in "tf" and key(event) in starts)


def csv_rows(path):
    csv.field_size_limit(1 << 30)
    with open(path, newline="", encoding="utf-8") as file:
        return sum(1 for _ in csv.reader(file)) - 1


@needs_shared
class Counts(Case):
    def test_device_folders_say_their_rank(self):
        [device] = (DATA / "mindinsight" / "profiler").glob("PROF_*/device_1")
        said = json.loads((device / "info.json.1").read_text())["rank_id"]
        self.assertEqual(self.info(device.parent)["ranks"][0]["rank"], said)

    def test_every_trace(self):
        traces = [path for path in sorted(DATA.rglob("*")) if path.is_file() and is_trace(path)]
        self.assertGreater(len(traces), 60)
        for path in traces:
            with self.subTest(path=str(path.relative_to(DATA))):
                events = load_trace(path)
                counts = self.info(path)["ranks"][0]["counts"]
                self.assertEqual(counts["slices"], sum(e.get("ph") == "X" for e in events))
                self.assertEqual(counts["counters"], sum(e.get("ph") == "C" for e in events))
                self.assertEqual(counts["flows"], arrows(events))
                memory = [e for e in events if e.get("name") == "[memory]"]
                self.assertEqual(counts["memory_samples"], len(memory))
                self.assertEqual(counts["allocations"], sum(e["args"]["Bytes"] > 0 for e in memory))

    def test_kineto_kernels_and_steps(self):
        for path in sorted((DATA / "kineto").rglob("*.gz")):
            if not is_trace(path):
                continue
            with self.subTest(path=str(path.relative_to(DATA))):
                events = load_trace(path)
                rank = self.info(path)["ranks"][0]
                self.assertEqual(rank["source"], "kineto")
                self.assertEqual(rank["format"], "json")
                kernels = [e for e in events if e.get("ph") == "X" and e.get("cat") in ("kernel", "Kernel")]
                self.assertEqual(rank["counts"]["kernels"], len(kernels))
                steps = {int(e["name"].split("#")[1]) for e in events if str(e.get("name")).startswith("ProfilerStep#")}
                self.assertEqual(rank["steps"], sorted(steps))

    def test_text_captures(self):
        for folder in sorted(DATA.glob("ascend_pt/text/*/*_ascend_pt")):
            with self.subTest(folder=str(folder.relative_to(DATA))):
                output = folder / "ASCEND_PROFILER_OUTPUT"
                rank = self.info(folder)["ranks"][0]
                counts = rank["counts"]
                self.assertEqual(rank["level"], json.loads(next(folder.glob("profiler_info_*")).read_text())
                                 ["config"]["experimental_config"]["_profiler_level"])
                self.assertEqual(rank["steps"], [50])
                self.assertEqual(rank["issues"], [])
                self.assertEqual(counts["kernels"], csv_rows(output / "kernel_details.csv"))
                self.assertEqual(counts["allocations"], csv_rows(output / "operator_memory.csv"))
                self.assertEqual(counts["memory_samples"], csv_rows(output / "memory_record.csv"))
                self.assertEqual(counts["comm_ops"], 4)
                events = load_trace(output / "trace_view.json")
                times = [int(e["ts"].replace(".", "")) for e in events if e.get("ph") == "X"]
                self.assertEqual(rank["begin_ns"], min(times))

    def test_db_captures(self):
        for folder in sorted(DATA.glob("ascend_pt/db/*/*_ascend_pt")):
            with self.subTest(folder=str(folder.relative_to(DATA))):
                path = next(folder.glob("ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_*.db"))
                db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
                def count(table):
                    return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                rank = self.info(folder)["ranks"][0]
                counts = rank["counts"]
                self.assertEqual(rank["format"], "db")
                self.assertEqual(rank["issues"], [])
                self.assertEqual(counts["kernels"], count("COMPUTE_TASK_INFO") + count("COMMUNICATION_OP"))
                self.assertEqual(counts["comm_ops"], count("COMMUNICATION_OP"))
                self.assertEqual(counts["allocations"], count("OP_MEMORY"))
                app_rows = db.execute("SELECT count(*) FROM NPU_MEM n JOIN STRING_IDS s ON s.id = n.type "
                                      "WHERE s.value = 'app'").fetchone()[0]
                self.assertEqual(counts["memory_samples"], count("MEMORY_RECORD") + app_rows)
                db.close()

    def test_files_that_are_no_profile_are_named(self):
        for path in sorted(DATA.rglob("*")):
            if not path.is_file() or is_trace(path) or path.suffix in (".db", ".csv"):
                continue
            with self.subTest(path=str(path.relative_to(DATA))):
                done = self.run_program("info", path)
                if done.returncode != 0:
                    self.assertIn(path.name, done.err)
                    self.assertEqual(len(done.err.strip().splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
