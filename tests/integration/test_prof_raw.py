"""Raw device data (PROF_*) against the answers of the vendor's exporter in ../shared/golden/prof_raw, set by set.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_prof_raw.py [-k l1_pt]

Each set has a raw tree and what the exporter made of it. Rows are compared by value: numbers within 0.001 (waits within 0.25, which the
exporter computes in doubles of 16 digits), texts exactly, in any order among rows that begin together. What differs on purpose is in docs/differences.md.
"""

import csv
import json
import random
import shutil
import sqlite3
import unittest

from support import SHARED, Case, snapshot

GOLDEN = SHARED / "golden" / "prof_raw"
SETS = sorted(path.name for path in GOLDEN.glob("*") if (path / "expected_cpp").is_dir())
needs_golden = unittest.skipUnless(SETS, f"the reference's answers are not on this machine ({GOLDEN})")

NO_CONTEXT = 4294967295
FIXED = {
    "Model ID": "model_id", "Task ID": "task_id", "Stream ID": "stream", "Op Name": "name", "OP Type": "type", "OP State": "state",
    "Task Type": "core", "Task Start Time(us)": "begin_ns", "Task Duration(us)": "dur_ns", "Task Wait Time(us)": "wait_ns",
    "Block Num": "block_dim", "Mix Block Num": "mix_block_dim", "HF32 Eligible": "hf32", "Input Shapes": "input_shapes",
    "Input Data Types": "input_types", "Input Formats": "input_formats", "Output Shapes": "output_shapes", "Output Data Types": "output_types",
    "Output Formats": "output_formats", "Context ID": "context_id",
}
TIMES = {"begin_ns", "dur_ns", "wait_ns"}


def raw_of(name):
    return next((GOLDEN / name / "raw").glob("PROF_*"))


def table(name, file):
    path = GOLDEN / name / "expected_cpp" / file
    if not path.is_file():
        return None
    with open(path, newline="") as opened:
        return list(csv.DictReader(opened))


def cell(text):
    """A cell of the exporter: a number, a text, or None for N/A."""
    text = (text or "").strip()
    if text in ("N/A", ""):
        return None
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    try:
        return float(text)
    except ValueError:
        return text


def nanoseconds(text):
    whole, _, decimals = text.strip().partition(".")
    return int(whole) * 1000 + int((decimals + "000")[:3])


def without_repeats(rows, key):
    """910A: the exporter lists each kernel of AI CPU twice, once from each of two sources."""
    seen = set()
    out = []
    for row in rows:
        if row.get("Task Type", row.get("kernel_type")) in ("AI_CPU",) and key(row) in seen:
            continue
        seen.add(key(row))
        out.append(row)
    return out


@needs_golden
class Golden(Case):
    def close(self, ours, theirs, within, what):
        if ours is None and theirs is None:
            return
        if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
            self.assertLessEqual(abs(ours - theirs), within + 1e-9 * abs(theirs), what)
        else:
            self.assertEqual(ours if ours != "" else None, theirs, what)

    def for_each_set(self, check):
        for name in SETS:
            with self.subTest(set=name):
                check(name)

    def test_kernels_are_those_of_op_summary(self):
        def check(name):
            theirs = without_repeats(table(name, "op_summary.csv"), lambda row: (row["Stream ID"], row["Task ID"], row["Task Start Time(us)"]))
            ours = self.query(raw_of(name), "select * from kernels order by begin_ns, dur_ns")
            theirs.sort(key=lambda row: (nanoseconds(row["Task Start Time(us)"]), float(row["Task Duration(us)"])))
            self.assertEqual(len(ours), len(theirs), name)
            previous_repeated = name == "chip1"
            for mine, row in zip(ours, theirs):
                for header, text in row.items():
                    if header == "Device_id":
                        self.assertEqual(mine["device"], int(text))
                        continue
                    column = FIXED.get(header, header)
                    self.assertIn(column, mine, name)
                    value = mine[column]
                    expected = cell(text)
                    what = f"{name}: {header} of {row['Op Name']}"
                    if column == "begin_ns":
                        self.assertLessEqual(abs(value - nanoseconds(text)), 1, what)
                        continue
                    if column in TIMES:
                        value = value / 1000
                    if column == "wait_ns" and previous_repeated:
                        continue
                    if column == "block_dim" and row["Task Type"] == "COMMUNICATION":
                        value = value or 0
                    self.close(value, expected, 0.2501 if column == "wait_ns" else 0.0011, what)

        self.for_each_set(check)

    def test_tasks_are_those_of_the_database(self):
        def check(name):
            with sqlite3.connect(f"file:{GOLDEN / name / 'expected_cpp' / 'msprof.db'}?immutable=1", uri=True) as db:
                texts = dict(db.execute("select id, value from STRING_IDS"))
                tasks = db.execute("select startNs, endNs, streamId, taskType, connectionId, contextId, taskId from TASK").fetchall()
            with_parts = {(start, stream, task) for start, _, stream, _, _, context, task in tasks if context != NO_CONTEXT}
            expected = set()
            for start, end, stream, kind, connection, context, task in tasks:
                has_parts = context == NO_CONTEXT and any(s >= start and s <= end and (stream, task) == (st, ta) for s, st, ta in with_parts)
                if not has_parts:
                    expected.add((start, stream, texts[kind], connection if connection > 0 else None))
            rows = self.query(raw_of(name), "select s.begin_ns, t.tid, s.category, s.correlation from slices s join tracks t on t.id = s.track_id "
                                            "join tracks p on p.id = t.parent_id where p.name = 'Ascend Hardware'")
            ours = {(row["begin_ns"], int(row["tid"]), row["category"], row["correlation"]) for row in rows if "Step" not in str(row["category"])}
            ours = {row for row in ours if row[1] < 70000}
            self.assertEqual(ours, expected, name)

        self.for_each_set(check)

    def test_calls_are_those_of_the_database(self):
        layers = {5000: "Runtime", 5500: "Communication", 10000: "Node", 15000: "Model", 20000: "AscendCL"}
        def check(name):
            with sqlite3.connect(f"file:{GOLDEN / name / 'expected_cpp' / 'msprof.db'}?immutable=1", uri=True) as db:
                texts = dict(db.execute("select id, value from STRING_IDS"))
                expected = {(start, end - start, f"{layers[kind]}@{texts[call]}", tid & 0xFFFFFFFF, connection) for start, end, kind, tid, connection, call in
                            db.execute("select startNs, endNs, type, globalTid, connectionId, name from CANN_API")}
            rows = self.query(raw_of(name), "select s.begin_ns, s.dur_ns, s.name, t.tid, s.correlation from slices s join tracks t on t.id = s.track_id "
                                            "join tracks p on p.id = t.parent_id where p.name = 'CANN'")
            ours = {(row["begin_ns"], row["dur_ns"], row["name"], int(row["tid"]), row["correlation"]) for row in rows}
            self.assertEqual(ours, expected, name)

        self.for_each_set(check)

    def open_database(self, name):
        """The exporter's database as a capture of its own."""
        folder = self.scratch / name / "PROF_result"
        folder.mkdir(parents=True)
        shutil.copyfile(GOLDEN / name / "expected_cpp" / "msprof.db", folder / "msprof_20240517080100.db")
        return folder

    def rows_of(self, path, sql):
        return sorted(json.dumps(row, sort_keys=True) for row in self.query(path, sql))

    def test_raw_and_database_give_the_same_rows(self):
        same = {
            "comm_ops": "select name, op_type, group_name, begin_ns, dur_ns, data_type, alg_type, count, correlation from comm_ops",
            "comm_tasks": "select name, op_name, group_name, plane, begin_ns, dur_ns, src_rank, dst_rank, transport, link, data_type, rdma_type, size_bytes, "
                          "stream, task_id, is_master from comm_tasks",
            "markers": "select s.name, s.begin_ns, s.dur_ns, m.event_type, m.domain, m.correlation from markers m join slices s on s.id = m.slice_id",
            "flows": "select f.kind, f.from_ns, f.to_ns from flows f",
            "module_memory": "select component, ts_ns, reserved_bytes, device from module_memory",
        }
        def check(name):
            database = self.open_database(name)
            for what, sql in same.items():
                theirs = self.rows_of(database, sql)
                if name == "chip1" and what == "flows":
                    theirs = sorted(set(theirs))  # kernels of AI CPU are there twice
                with self.subTest(table=what):
                    self.assertEqual(self.rows_of(raw_of(name), sql), theirs)

        self.for_each_set(check)

    def test_statistics_of_operators(self):
        def check(name):
            theirs = table(name, "op_statistic.csv")
            if theirs is None:
                return
            rows = self.query(raw_of(name), "select type, core, count(*) as n, sum(dur_ns) / 1000.0 as total, min(dur_ns) / 1000.0 as least, max(dur_ns) / 1000.0 as most "
                                            "from kernels where core <> 'COMMUNICATION' and type <> '' group by type, core")
            ours = {(row["type"], row["core"]): row for row in rows}
            self.assertEqual(set(ours), {(row["OP Type"], row["Core Type"]) for row in theirs}, name)
            for row in theirs:
                mine = ours[row["OP Type"], row["Core Type"]]
                if name == "chip1" and row["Core Type"] == "AI_CPU":
                    continue  # listed twice there
                self.assertEqual(mine["n"], int(row["Count"]))
                for column, header in (("total", "Total Time(us)"), ("least", "Min Time(us)"), ("most", "Max Time(us)")):
                    self.close(mine[column], float(row[header]), 0.0011, f"{name}: {header} of {row['OP Type']}")

        self.for_each_set(check)

    def test_statistics_of_calls(self):
        def check(name):
            theirs = table(name, "api_statistic.csv")
            layers = {"runtime": "Runtime", "communication": "Communication", "node": "Node", "model": "Model", "acl": "AscendCL"}
            rows = self.query(raw_of(name), "select s.name, count(*) as n, sum(s.dur_ns) / 1000.0 as total from slices s join tracks t on t.id = s.track_id "
                                            "join tracks p on p.id = t.parent_id where p.name = 'CANN' group by s.name")
            ours = {row["name"]: row for row in rows}
            for row in theirs:
                mine = ours[f"{layers[row['Level']]}@{row['API Name']}"]
                self.assertEqual(mine["n"], int(row["Count"]), name)
                self.close(mine["total"], float(row["Time(us)"]), 0.0011, name)
            self.assertEqual(len(ours), len(theirs), name)

        self.for_each_set(check)

    def test_counters_are_those_of_the_database(self):
        """Times of HBM, LLC and memory pass through doubles of 256 ns there, and rates of HCCS through doubles of seconds."""
        sql = ("select p.name as process, t.name, t.label, c.ts_ns, c.value from counters c join tracks t on t.id = c.track_id "
               "join tracks p on p.id = t.parent_id")

        def check(name):
            def series(path):
                out = {}
                for row in self.query(path, sql):
                    out.setdefault((row["process"], row["name"], row["label"]), set()).add((row["ts_ns"], row["value"]))
                return {key: sorted(values) for key, values in out.items()}  # what was written twice counts once

            ours, theirs = series(raw_of(name)), series(self.open_database(name))
            ours = {key: rows for key, rows in ours.items() if key[0] != "Stars Chip Trans"}  # which the exporter leaves out
            self.assertEqual(sorted(ours), sorted(theirs))
            for key, rows in theirs.items():
                last = 1 if key[0] == "HCCS" else 0  # the exporter leaves out the last sample
                self.assertEqual(len(ours[key]) - last, len(rows), key)
                for mine, row in zip(ours[key], rows):
                    self.assertLessEqual(abs(mine[0] - row[0]), 256, key)
                    self.assertLessEqual(abs(mine[1] - row[1]), 1e-4 * abs(row[1]) + 1e-5, key)

        self.for_each_set(check)

    def test_system_calls_and_memory_are_those_of_the_database(self):
        same = {
            "calls": "select s.name, s.begin_ns, s.dur_ns, t.tid from slices s join tracks t on t.id = s.track_id join tracks p on p.id = t.parent_id "
                     "where p.name = 'OS Runtime API'",
            "memory": "select component, reserved_bytes, device from memory_samples where component = 'APP'",
        }
        for what, sql in same.items():
            with self.subTest(table=what):
                self.assertEqual(self.rows_of(raw_of("l1_full"), sql), self.rows_of(self.open_database("l1_full"), sql))
                shutil.rmtree(self.scratch / "l1_full")

    def test_steps_are_the_iterations_of_the_graph(self):
        theirs = table("l1_full", "step_trace.csv")
        ours = self.query(raw_of("l1_full"), "select step, begin_ns, end_ns from steps order by step")
        self.assertEqual([row["step"] for row in ours], [int(row["Iteration ID"]) for row in theirs])
        for mine, row in zip(ours, theirs):
            self.assertEqual(mine["end_ns"], nanoseconds(row["Iteration End(us)"]))
            self.assertEqual(mine["end_ns"] - mine["begin_ns"], round(float(row["Iteration Time(us)"]) * 1000))

    def test_allocations_are_those_of_operator_memory(self):
        theirs = table("l1_full", "operator_memory.csv")
        ours = self.query(raw_of("l1_full"), "select name, size_bytes, alloc_ns, dur_ns, release_total_allocated_bytes from allocations order by alloc_ns")
        self.assertEqual(len(ours), len(theirs))
        for mine, row in zip(ours, theirs):
            self.assertEqual(mine["name"], row["Name"])
            self.assertEqual(mine["size_bytes"], float(row["Size(KB)"]) * 1024)
            self.assertEqual(mine["alloc_ns"], nanoseconds(row["Allocation Time(us)"]))
            self.close(mine["dur_ns"] / 1000, float(row["Duration(us)"]), 0.0011, row["Name"])
            self.assertEqual(mine["release_total_allocated_bytes"], float(row["Release Total Allocated(KB)"]) * 1024)

    def test_sheets_are_the_csv_files(self):
        def check(name):
            for sheet in ("aicpu", "dp", "aicpu_mi", "l2_cache", "fusion_op"):
                theirs = table(name, f"{sheet}.csv")
                if theirs is None:
                    continue
                ours = self.query(raw_of(name), f"select * from {sheet}")
                self.assertEqual(len(ours), len(theirs), f"{name}: {sheet}")
                for mine, row in zip(ours, theirs):
                    for header, text in row.items():
                        if sheet == "fusion_op" and header == "Device_id":
                            continue  # the script's files have a number there
                        within = 0.26 if header in ("Timestamp(us)",) else 0.0011  # a double of 16 digits
                        self.close(mine[header], cell(text), within, f"{name}: {sheet}: {header}")

        self.for_each_set(check)

    def test_number_of_threads_does_not_matter(self):
        for sql in ("select * from slices", "select * from kernels", "select * from comm_tasks", "select * from counters", "select * from flows"):
            answers = [self.run_program("query", raw_of("l1_full"), sql, "--format", "json", "--threads", threads, expect=0).out for threads in (1, 4)]
            self.assertEqual(answers[0], answers[1])
            shutil.rmtree(self.scratch / "cache", ignore_errors=True)

    def test_nothing_is_written(self):
        for name in SETS[:1]:
            copy = self.scratch / "copy" / raw_of(name).name
            shutil.copytree(raw_of(name), copy)
            before = snapshot(copy)
            self.run_program("info", copy, expect=0)
            self.run_program("breakdown", copy, expect=0)
            self.run_program("ops", copy, expect=0)
            self.assertEqual(snapshot(copy), before)


@needs_golden
class Damage(Case):
    """A small tree with something wrong: what is left is read, and nothing dies."""

    def setUp(self):
        super().setUp()
        self.folder = self.scratch / "PROF_1"
        shutil.copytree(raw_of("l1_full"), self.folder)
        for path in self.folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)

    def opens(self):
        done = self.run_program("info", self.folder)
        self.assertIn(done.returncode, (0, 2, 3, 4), done.err)
        return done

    def test_every_file_cut_in_the_middle(self):
        for path in sorted(self.folder.rglob("*")):
            if not path.is_file() or path.name.endswith(".done"):
                continue
            whole = path.read_bytes()
            with self.subTest(file=path.name):
                for size in (0, 1, len(whole) // 2, len(whole) - 1):
                    path.write_bytes(whole[:size])
                    self.opens()
            path.write_bytes(whole)

    def test_every_file_gone(self):
        for path in sorted(self.folder.rglob("*")):
            if not path.is_file() or path.name.endswith(".done"):
                continue
            whole = path.read_bytes()
            path.unlink()
            with self.subTest(file=path.name):
                self.opens()
            path.write_bytes(whole)

    def test_random_bytes_in_every_record_family(self):
        noise = random.Random(5)
        for path in sorted((self.folder).glob("*/data/*slice_0")):
            whole = path.read_bytes()
            broken = bytearray(whole)
            for _ in range(max(4, len(whole) // 40)):
                broken[noise.randrange(len(whole))] = noise.randrange(256)
            path.write_bytes(bytes(broken))
            with self.subTest(file=path.name):
                self.opens()
            path.write_bytes(whole)

    def test_no_clock_is_said(self):
        for path in self.folder.glob("*/start_info*"):
            path.unlink()
        self.assertIn("clock relates to the time of day", self.opens().out)

    def test_sides_alone(self):
        rows = len(self.query(self.folder, "select * from slices"))
        shutil.rmtree(self.folder / "host")
        device_rows = len(self.query(self.folder, "select * from slices"))
        self.assertTrue(0 < device_rows < rows)


if __name__ == "__main__":
    unittest.main()
