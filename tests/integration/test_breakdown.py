"""`breakdown` gives the numbers of step_trace_time.csv and StepTraceTime, computed from the timeline."""

import csv
import sqlite3
import unittest

from support import DATA, Case, needs_shared

COLUMNS = ["Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Free", "Stage", "Bubble",
           "Communication(Not Overlapped and Exclude Receive)", "Preparing"]


@needs_shared
class Breakdown(Case):
    def check(self, row, expected, tolerance):
        for column in COLUMNS:
            slack = 0.5 if column in ("Stage", "Preparing") and tolerance > 0.001 else tolerance
            self.assertAlmostEqual(row[column], float(expected[column]), delta=slack, msg=column)
        self.assertAlmostEqual(row["Computing"] + row["Communication(Not Overlapped)"] + row["Free"],
                               row["Stage"] + row["Bubble"], delta=0.0005)

    def test_text(self):
        # The reference adds durations of up to 382 slices that were cut to three decimals.
        for path in sorted(DATA.glob("ascend_pt/text/*/*/ASCEND_PROFILER_OUTPUT/step_trace_time.csv")):
            with self.subTest(path=str(path.relative_to(DATA))):
                expected = list(csv.DictReader(path.read_text().splitlines()))
                rows = self.rows("breakdown", path.parents[1])
                self.assertEqual([row["Step"] for row in rows], [int(row["Step"]) for row in expected])
                for row, values in zip(rows, expected):
                    self.check(row, values, 0.05)

    def test_ten_steps(self):
        folder = DATA / "ascend_small/ascend_npu_operator_profiler/standalone_real_output"
        expected = list(csv.DictReader((folder / "ASCEND_PROFILER_OUTPUT/step_trace_time.csv").read_text().splitlines()))
        rows = self.rows("breakdown", folder)
        self.assertEqual(len(rows), 10)
        for row, values in zip(rows, expected):
            self.assertEqual(row["Step"], int(values["Step"]))
            self.check(row, values, 0.01)

    def test_db_to_the_nanosecond(self):
        for path in sorted(DATA.glob("ascend_pt/db/*/*/ASCEND_PROFILER_OUTPUT/analysis.db")):
            with self.subTest(path=str(path.relative_to(DATA))):
                db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
                db.row_factory = sqlite3.Row
                stored = db.execute("SELECT * FROM StepTraceTime").fetchone()
                db.close()
                values = dict(zip(COLUMNS, list(stored)[1:]))
                self.check(self.rows("breakdown", path.parents[1])[0], values, 0.0005)

    def test_two_ranks_at_once(self):
        rows = self.rows("breakdown", DATA / "ascend_pt/text/level1")
        self.assertEqual([row["Rank"] for row in rows], [0, 1])

    def test_parts_fill_the_step_of_gpu_traces(self):
        for path in sorted((DATA / "kineto/hta").rglob("*.json.gz")):
            with self.subTest(path=str(path.relative_to(DATA))):
                for row in self.rows("breakdown", path):
                    parts = row["Computing"] + row["Communication(Not Overlapped)"] + (row.get("Memory") or 0) + row["Free"]
                    self.assertAlmostEqual(parts, row["Stage"] + row["Bubble"], delta=0.0005)


if __name__ == "__main__":
    unittest.main()
