"""convert: result files written from a store say what the files it was read from say.

Real captures are converted to text and to db and compared with the originals, cell by cell and event by event; the exports
are read again and compared with each other. Where something is left out of a comparison, the reason stands beside it; docs/export.md
has the whole list.
"""

import collections
import csv
import json
import pathlib
import shutil
import sqlite3
import subprocess
import unittest

from support import DATA, PROGRAM, SAMPLE, Case, needs_shared, snapshot

CAPTURES = DATA / "ascend_pt"
LEVELS = ("level0", "level1")
TOLERANCE_US = 0.002  # durations come from doubles in the originals, some are cut and some rounded

# Columns of db tables that are numbers of rows, written by viewers, or not kept by the store.
NOT_COMPARED = {
    "TASK": {"globalTaskId", "contextId", "depth", "taskId"},
    "COMPUTE_TASK_INFO": {"globalTaskId", "attrInfo", "waitNs"},
    "COMMUNICATION_TASK_INFO": {"globalTaskId", "opId"},
    "COMMUNICATION_OP": {"opId", "waitNs"},
    "TASK_PMU_INFO": {"globalTaskId"},
    "PYTORCH_API": {"connectionId", "callchainId", "depth", "inputDtypes", "inputShapes"},  # exchanged up to CANN 8.0
    "PYTORCH_CALLCHAINS": {"id"},
    "CANN_API": {"depth"},
    "CONNECTION_IDS": {"id", "connectionId"},  # the framework's have an offset since CANN 8.1
}
STRINGS = {
    "PYTORCH_API": {"name"}, "TASK": {"taskType"}, "CANN_API": {"name"}, "TASK_PMU_INFO": {"name"},
    "COMPUTE_TASK_INFO": {"name", "taskType", "opType", "inputFormats", "inputDataTypes", "inputShapes", "outputFormats",
                          "outputDataTypes", "outputShapes"},
    "COMMUNICATION_OP": {"opName", "groupName", "algType", "opType"},
    "COMMUNICATION_TASK_INFO": {"name", "taskType", "groupName"},
    "NPU_MEM": {"type"}, "HBM": {"type"}, "LLC": {"mode"}, "MEMORY_RECORD": {"component"}, "OP_MEMORY": {"name"},
    "PYTORCH_CALLCHAINS": {"stack"},
}
# Not kept by the store, or a viewer's own.
LEFT_OUT_TABLES = {"NPU_OP_MEM", "OVERLAP_ANALYSIS", "sqlite_sequence", "status_info", "connectionCats", "STRING_IDS"}


def output(folder, rank):
    return folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return rows[0], [[cell.strip().replace("\r\n", "\n") for cell in row] for row in rows[1:]]


def same_cell(a, b):
    if a == b:
        return True
    try:
        return abs(float(a) - float(b)) <= TOLERANCE_US
    except ValueError:
        return False


def read_trace(path):
    """(slices, counters and metadata with their durations, flows by their ends as a multiset)"""
    events = collections.defaultdict(list)
    ends = collections.defaultdict(lambda: ([], []))
    for event in json.loads(path.read_text(encoding="utf-8")):
        if event["ph"] in "sf":
            ends[event["cat"], str(event["id"])][event["ph"] == "f"].append((event["pid"], event["tid"], event["ts"]))
            continue
        args = {key: float(value) if isinstance(value, (int, float)) else value
                for key, value in event.get("args", {}).items()}
        ts = event.get("ts")
        if ts is not None and "." not in ts:
            ts += ".000"  # one counter of the originals lacks the decimals
        events[event["ph"], event["name"], event["pid"], event["tid"], ts, event.get("cat"),
               json.dumps(args, sort_keys=True)].append(float(event.get("dur", 0)))
    flows = collections.Counter((kind, start, end) for (kind, _), (starts, stops) in ends.items()
                                for start in starts for end in stops)
    return events, flows


def read_table(path, table, columns):
    """Rows as a multiset, ids of strings as texts."""
    with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as db:
        try:
            texts = dict(db.execute("SELECT id, value FROM STRING_IDS"))
        except sqlite3.OperationalError:
            texts = {}
        strings = STRINGS.get(table, set())

        def cell(column, value):
            if value is None or column not in strings:
                return float(f"{value:.11g}") if isinstance(value, float) else value
            return texts.get(value, "")

        return collections.Counter(tuple(cell(column, value) for column, value in zip(columns, row))
                                   for row in db.execute(f"SELECT {', '.join(columns) or 1} FROM {table}"))


def schema(path):
    """table -> {column: declared type}"""
    with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {table: {row[1]: row[2].upper() for row in db.execute(f"PRAGMA table_info({table})")} for table in tables}


class Export(Case):
    def convert(self, source, form, name=None, options=()):
        folder = self.scratch / (name or form)
        self.run_program("convert", source, "--to", form, "--output", folder, *options, expect=0)
        return folder

    def check_verify(self, folder):
        done = self.run_program("verify", "--json", folder)
        broken = [(rank["rank"], check["id"], check["detail"], check["offending"][:1])
                  for rank in json.loads(done.out)["ranks"] for check in rank["checks"] if check["state"] == "broken"]
        self.assertEqual(broken, [], folder)

    def check_csv(self, original, written):
        header, rows = read_csv(original)
        written_header, written_rows = read_csv(written)
        self.assertEqual(header, written_header, written.name)
        self.assertEqual(len(rows), len(written_rows), written.name)
        for number, (row, written_row) in enumerate(zip(rows, written_rows), 1):
            for column, cell, written_cell in zip(header, row, written_row):
                self.assertTrue(same_cell(cell, written_cell),
                                f"{written.name} row {number}, {column}: {cell!r} became {written_cell!r}")

    def check_same(self, expected, found, what):
        """Two multisets are equal; shows a few rows of each side if not."""
        self.assertEqual((list(expected - found)[:2], list(found - expected)[:2]), ([], []), what)

    def check_trace(self, original, written):
        (events, flows), (written_events, written_flows) = read_trace(original), read_trace(written)
        self.check_same(flows, written_flows, "flows")
        self.check_same(collections.Counter({key: len(durs) for key, durs in events.items()}),
                        collections.Counter({key: len(durs) for key, durs in written_events.items()}), "events")
        for key, durs in events.items():
            for dur, written_dur in zip(sorted(durs), sorted(written_events[key])):
                self.assertAlmostEqual(dur, written_dur, delta=TOLERANCE_US, msg=str(key)[:200])

    def check_json(self, a, b, where):
        if isinstance(a, dict):
            self.assertEqual(list(a), list(b), where)
            for key in a:
                self.check_json(a[key], b[key], f"{where}/{key}")
        elif isinstance(a, (int, float)):
            self.assertAlmostEqual(a, b, delta=1e-6 * max(1, abs(a)), msg=where)
        elif isinstance(a, list):
            self.assertEqual(len(a), len(b), where)
            for index, (x, y) in enumerate(zip(a, b)):
                self.check_json(x, y, f"{where}[{index}]")
        else:
            self.assertEqual(a, b, where)


class RealCaptures(Export):
    @needs_shared
    def test_args_of_every_trace_of_a_rank_are_kept(self):
        folder = self.scratch / "mindstudio_profiler_output"
        folder.mkdir()
        for part in range(2):
            (folder / f"msprof_slice_{part}_20250109.json").write_text(json.dumps([
                {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "CANN"}}] + [
                {"ph": "X", "name": f"n{i}", "pid": 1, "tid": 2, "ts": f"{1000 + i}.000", "dur": 0.5, "args": {"n": i}}
                for i in range(part * 10, part * 10 + 10)]))
        written = next(self.convert(folder, "text", "both").rglob("trace_view.json"))
        found = {event["name"]: event["args"] for event in json.loads(written.read_text())
                 if event["ph"] == "X" and event["name"].startswith("n")}
        self.assertEqual(found, {f"n{i}": {"n": i} for i in range(20)})

    def test_text_to_text_is_the_original(self):
        for level in LEVELS:
            folder = self.convert(CAPTURES / "text" / level, "text", level)
            self.check_verify(folder)
            for rank in (0, 1):
                original, written = output(CAPTURES / "text" / level, rank), output(folder, rank)
                names = {path.name for path in original.iterdir()}
                self.assertEqual(names, {path.name for path in written.iterdir()})
                for name in sorted(names):
                    with self.subTest(level=level, rank=rank, file=name):
                        if name.endswith(".csv"):
                            self.check_csv(original / name, written / name)
                        elif name == "trace_view.json":
                            self.check_trace(original / name, written / name)
                        else:
                            self.check_json(json.loads((original / name).read_text()),
                                            json.loads((written / name).read_text()), name)

    @needs_shared
    def test_csv_files_have_crlf_and_no_blank_lines(self):
        folder = self.convert(CAPTURES / "text" / "level1", "text")
        for path in output(folder, 0).glob("*.csv"):
            data = path.read_bytes()
            self.assertTrue(data.endswith(b"\r\n"), path.name)
            self.assertNotIn(b"\r\n\r\n", data.replace(b";\r\n", b""), path.name)

    @needs_shared
    def test_db_to_db_is_the_original(self):
        for level in LEVELS:
            folder = self.convert(CAPTURES / "db" / level, "db", level)
            self.check_verify(folder)
            for rank in (0, 1):
                for name in (f"ascend_pytorch_profiler_{rank}.db", "analysis.db"):
                    self.check_db(output(CAPTURES / "db" / level, rank) / name, output(folder, rank) / name, level)

    def check_db(self, original, written, level):
        before, after = schema(original), schema(written)
        self.assertEqual(set(before) - LEFT_OUT_TABLES, set(after) - LEFT_OUT_TABLES)
        for table in sorted(set(before) - LEFT_OUT_TABLES):
            if table == "META_DATA" or table.startswith("ENUM_"):
                continue
            columns = [column for column in before[table] if column in after[table]
                       and column not in NOT_COMPARED.get(table, ())]
            with self.subTest(level=level, db=written.name, table=table):
                self.assertEqual({c: before[table][c] for c in columns}, {c: after[table][c] for c in columns})
                expected, found = (read_table(path, table, columns) for path in (original, written))
                if table == "TASK":
                    # A task whose sub-tasks show is not on the timeline.
                    self.assertEqual(list(found - expected)[:2], [])
                    self.assertLessEqual(sum((expected - found).values()), 17)
                elif table == "PYTORCH_CALLCHAINS":
                    self.assertEqual(set(expected) ^ set(found), set())  # equal stacks are one chain here
                else:
                    self.check_same(expected, found, table)

    @needs_shared
    def test_the_other_form_holds_the_same_facts(self):
        tables = {
            "memory_samples": "component, ts_ns, allocated_bytes, reserved_bytes, active_bytes, stream_ptr, device",
            "allocations": "name, size_bytes, alloc_ns, release_ns, active_release_ns, dur_ns, active_dur_ns, "
                           "alloc_total_allocated_bytes, release_total_active_bytes, stream_ptr, device",
            "module_memory": "component, ts_ns, reserved_bytes, device",
            "comm_ops": "name, op_type, begin_ns, dur_ns, data_type, alg_type, count, correlation",
            "comm_links": "step, kind, op_name, group_name, src_rank, dst_rank, transport, transit_size_mb, transit_ms, picked_op",
            "steps": "step, begin_ns, end_ns",
            "host_ops": "sequence_number, fwd_thread, input_shapes, input_types, call_stack",
        }
        # Level0 text has no tasks of collectives and no CANN calls.
        level1 = {"comm_tasks": "name, plane, begin_ns, dur_ns, src_rank, dst_rank, transport, link, data_type, size_bytes, "
                                "notify_id, stream, task_id"}
        slices = ("SELECT s.rank, p.name AS process, s.name, s.begin_ns FROM slices s "
                  "JOIN tracks t ON t.rank = s.rank AND t.id = s.track_id "
                  "JOIN tracks p ON p.rank = t.rank AND p.id = t.parent_id "
                  "WHERE p.name IN ('Python', 'CANN', 'Ascend Hardware', 'HCCL') ORDER BY 1, 2, 4, 3")
        for form, other in (("text", "db"), ("db", "text")):
            for level in LEVELS:
                original = CAPTURES / form / level
                written = self.convert(original, other, f"{form}_{level}")
                for table, columns in (tables | (level1 if level == "level1" else {})).items():
                    sql = f"SELECT rank, {columns} FROM {table} ORDER BY 1, 3, 2, 4, 5"
                    if table == "steps" or table == "module_memory":
                        sql = f"SELECT rank, {columns} FROM {table} ORDER BY 1, 3, 2"
                    with self.subTest(source=form, level=level, table=table):
                        self.check_rows_equal(self.query(original, sql), self.query(written, sql))
                if level == "level1":
                    self.check_rows_equal(self.query(original, slices), self.query(written, slices))
                self.check_kernels(original, written)

    def check_rows_equal(self, expected, found):
        rows = [collections.Counter(json.dumps(row, sort_keys=True) for row in side) for side in (expected, found)]
        self.check_same(*rows, "rows")

    def check_kernels(self, original, written):
        """Collectives of kernel_details.csv may differ from the timeline, which a db has, by 1 ns."""
        sql = "SELECT rank, name, type, core, begin_ns, dur_ns, wait_ns FROM kernels ORDER BY rank, begin_ns, name"
        expected, found = self.query(original, sql), self.query(written, sql)
        self.assertEqual(len(expected), len(found))
        for row, written_row in zip(expected, found):
            for column in ("rank", "name", "type", "core"):
                self.assertEqual(row[column], written_row[column], row)
            for column in ("begin_ns", "dur_ns", "wait_ns"):
                self.assertAlmostEqual(row[column], written_row[column], delta=2, msg=f"{row['name']} {column}")

    @needs_shared
    def test_counts_of_the_specification(self):
        text = output(self.convert(CAPTURES / "db" / "level1", "text"), 0)
        db = output(self.convert(CAPTURES / "text" / "level1", "db"), 0)
        counts = {path.name: len(read_csv(path)[1]) for path in text.glob("*.csv")}
        self.assertEqual((counts["kernel_details.csv"], counts["operator_details.csv"], counts["operator_memory.csv"]),
                         (191, 859, 184))
        self.assertEqual((counts["op_statistic.csv"], counts["npu_module_mem.csv"]), (33, 1078))
        with sqlite3.connect(f"file:{db}/ascend_pytorch_profiler_0.db?immutable=1", uri=True) as file:
            found = {table: file.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                     for table in ("PYTORCH_API", "CONNECTION_IDS", "COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO",
                                   "TASK_PMU_INFO", "OP_MEMORY")}
            chains = file.execute("SELECT count(DISTINCT id) FROM PYTORCH_CALLCHAINS").fetchone()[0]
        self.assertEqual(found, {"PYTORCH_API": 2460, "CONNECTION_IDS": 563, "COMPUTE_TASK_INFO": 187,
                                 "COMMUNICATION_TASK_INFO": 296, "TASK_PMU_INFO": 185 * 24, "OP_MEMORY": 184})
        trace = json.loads((output(CAPTURES / "text" / "level1", 0) / "trace_view.json").read_text())
        # The reference has a chain for each operator with a stack, 316; equal stacks are one chain here.
        self.assertEqual(chains, len({event["args"]["Call stack"] for event in trace
                                      if event.get("cat") == "cpu_op" and "Call stack" in event["args"]}))

    @needs_shared
    def test_exports_hold_the_invariants(self):
        for level in LEVELS:
            self.check_verify(self.convert(CAPTURES / "db" / level, "text", level + "_text"))
            self.check_verify(self.convert(CAPTURES / "text" / level, "db", level + "_db"))

    @needs_shared
    def test_communication_derived_from_tasks_is_that_of_the_reference(self):
        # Without communication.json it is derived; the reference derived its own from the same tasks.
        copy = self.scratch / "copy"
        shutil.copytree(CAPTURES / "text" / "level1" / "rank0_ascend_pt", copy / "rank0_ascend_pt")
        original = json.loads((output(copy, 0) / "communication.json").read_text())
        matrix = json.loads((output(copy, 0) / "communication_matrix.json").read_text())
        for name in ("communication.json", "communication_matrix.json"):
            path = output(copy, 0) / name
            path.chmod(0o644)
            path.parent.chmod(0o755)
            path.unlink()
        written = output(self.convert(copy, "text"), 0)
        self.compare_derived(original, json.loads((written / "communication.json").read_text()))
        self.compare_derived(matrix, json.loads((written / "communication_matrix.json").read_text()))

    def compare_derived(self, expected, found):
        """The group has a number instead of its name, and times are whole nanoseconds."""
        def strip(value):
            if not isinstance(value, dict):
                return value
            return {key.split("@")[0]: strip(item) for key, item in value.items()}

        def compare(a, b, where):
            if isinstance(a, dict):
                self.assertEqual(set(a), set(b), where)
                for key in a:
                    compare(a[key], b[key], f"{where}/{key}")
            elif isinstance(a, list):
                self.assertEqual(a[0], b[0], where)
                self.assertAlmostEqual(a[1], b[1], delta=1e-4, msg=where)
            elif isinstance(a, str):
                self.assertEqual(a, b, where)
            elif where.endswith("Bandwidth(GB/s)"):
                self.assertAlmostEqual(a, b, delta=0.001 * max(a, 1), msg=where)
            else:
                self.assertAlmostEqual(a, b, delta=0.5 if "Start" in where else 1e-4, msg=where)
        compare(strip(expected), strip(found), "")

    @needs_shared
    def test_same_bytes_for_any_number_of_threads(self):
        for form in ("text", "db"):
            results = [snapshot(self.convert(CAPTURES / "text" / "level1", form, f"{form}{threads}{run}",
                                             options=["--threads", threads]))
                       for run, threads in enumerate((1, 2, 7, 2))]
            for other in results[1:]:
                self.assertEqual(results[0], other, form)

    @needs_shared
    def test_db_is_small(self):
        for level in LEVELS:
            text, db = (sum(path.stat().st_size for path in
                            output(self.convert(CAPTURES / "text" / level, form, f"{level}_{form}"), 0).iterdir())
                        for form in ("text", "db"))
            self.assertLessEqual(db / text, 0.35, level)

    @needs_shared
    def test_traces_of_other_tools_become_text(self):
        for path in ("kineto/hta/cpu_only", "kineto/hta/nccl_parser_config", "ascend_small"):
            folder = self.convert(DATA / path, "text", path.replace("/", "_"))
            before, after = self.info(DATA / path), self.info(folder)
            self.assertEqual([rank["counts"]["slices"] for rank in before["ranks"]][:1],
                             [rank["counts"]["slices"] for rank in after["ranks"]][:1], path)


class Sample(Export):
    """What needs no shared data."""

    def test_text_and_db_of_one_store_agree(self):
        text, db = self.convert(SAMPLE, "text"), self.convert(SAMPLE, "db")
        for folder in (text, db):
            self.check_verify(folder)
        for table, columns, order in (
                ("kernels", "name, type, core, state, begin_ns, dur_ns, wait_ns, task_id, stream, input_shapes", "begin_ns, name"),
                ("memory_samples", "component, ts_ns, allocated_bytes, reserved_bytes, active_bytes, device", "ts_ns, component"),
                ("allocations", "name, size_bytes, alloc_ns, release_ns, dur_ns, device", "alloc_ns, name, size_bytes"),
                ("comm_ops", "name, op_type, begin_ns, dur_ns, data_type, alg_type, count, correlation", "begin_ns, name"),
                ("comm_tasks", "name, plane, begin_ns, dur_ns, src_rank, dst_rank, transport, link, size_bytes", "begin_ns, plane, name"),
                ("comm_times", "step, kind, op_name, group_name, elapse_ms, transit_ms, wait_ms, idle_ms", "op_name, step, kind"),
                ("steps", "step, begin_ns, end_ns", "step"),
                ("host_ops", "sequence_number, fwd_thread, input_shapes, input_types, call_stack", "2, 3, 4, 5, 6")):
            sql = f"SELECT rank, {columns} FROM {table}{{}} ORDER BY rank, {order}"
            if table == "comm_times":
                sql = sql.format(" WHERE op_name != 'Total Op Info'")  # not in a db
            with self.subTest(table=table):
                rows = self.query(text, sql.format(""))
                self.assertTrue(rows)
                self.assertEqual(rows, self.query(db, sql.format("")))

    def test_counters_survive_both_forms(self):
        # NPU_MEM always has both kinds of memory and their sum.
        sql = ("SELECT c.rank, p.name AS process, t.name, t.label, c.ts_ns, c.value FROM counters c "
               "JOIN tracks t ON t.rank = c.rank AND t.id = c.track_id "
               "JOIN tracks p ON p.rank = t.rank AND p.id = t.parent_id "
               "WHERE t.name NOT LIKE '%/DDR' AND t.name NOT LIKE '%/Memory' ORDER BY 1, 2, 3, 4, 5")
        rows = self.query(SAMPLE, sql)
        self.assertTrue(rows)
        for form in ("text", "db"):
            self.assertEqual(rows, self.query(self.convert(SAMPLE, form), sql), form)

    def test_there_and_back_again(self):
        there = self.convert(self.convert(SAMPLE, "db"), "text")
        self.check_verify(there)
        again = self.convert(there, "db", "again")
        self.check_verify(again)
        sql = "SELECT rank, name, begin_ns, dur_ns, category FROM slices ORDER BY 1, 3, 2, 4"
        self.assertEqual(self.query(self.scratch / "db", sql), self.query(again, sql))

    def test_input_is_not_changed(self):
        before = snapshot(SAMPLE)
        self.convert(SAMPLE, "db")
        self.assertEqual(before, snapshot(SAMPLE))

    def test_refuses_to_write_into_the_input(self):
        copy = self.scratch / "copy"
        shutil.copytree(SAMPLE, copy)
        before = snapshot(copy)
        for inside in (copy, copy / "out", copy / "x" / ".." / "out"):
            done = self.run_program("convert", copy, "--to", "text", "--output", inside, expect=2)
            self.assertIn("lies in the input", done.err)
            self.assertEqual(len(done.err.strip().splitlines()), 1)
        self.assertEqual(before, snapshot(copy))

    def test_refuses_to_replace_the_input(self):
        copy = self.scratch / "copy"
        shutil.copytree(SAMPLE, copy)
        before = snapshot(copy)
        rank = next(path for path in copy.rglob("*_ascend_pt") if path.is_dir())
        for path in (rank, rank / "ASCEND_PROFILER_OUTPUT"):
            for form in ("text", "db"):
                done = self.run_program("convert", path, "--to", form, "--output", rank.parent, expect=2)
                self.assertIn("would be replaced", done.err)
                self.assertEqual(len(done.err.strip().splitlines()), 1)
        self.assertEqual(before, snapshot(copy))

    def test_says_what_is_wrong_with_options(self):
        self.assertNotEqual(self.run_program("convert", SAMPLE, "--to", "text").returncode, 0)
        self.assertNotEqual(self.run_program("convert", SAMPLE, "--to", "xml", "--output", self.scratch / "o").returncode, 0)
        self.run_program("convert", self.scratch / "nothing", "--to", "db", "--output", self.scratch / "o", expect=3)
        self.assertFalse((self.scratch / "o").exists())

    def test_folder_that_cannot_be_written_is_one_sentence(self):
        file = self.write("file", "x")
        for form in ("text", "db"):
            done = self.run_program("convert", SAMPLE, "--to", form, "--output", file, expect=6)
            self.assertEqual(len(done.err.strip().splitlines()), 1, done.err)
        self.assertEqual(pathlib.Path(file).read_text(), "x")

    def test_a_full_disk_leaves_nothing_that_looks_like_results(self):
        # A limit on the size of files stands for the disk: the system refuses to write in the same way.
        out = self.scratch / "new" / "out"
        for form in ("text", "db"):
            command = ["bash", "-c", "trap '' XFSZ; ulimit -f 16; exec \"$@\"", "-", PROGRAM, "convert", str(SAMPLE), "--to", form, "--output", str(out)]
            done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertFalse(out.parent.exists())


def gpu_trace():
    """Two steps of rank 5 on a GPU that overlap there: a kernel of step 1 runs after the first one of step 2."""
    events = [{"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "python"}},
              {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}}]

    def add(name, cat, pid, tid, ts, dur, **args):
        events.append({"ph": "X", "name": name, "cat": cat, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})

    def launch(correlation, host_us, name, cat, ts, dur, stream=7):
        add("cudaLaunchKernel", "cuda_runtime", 9, 9, host_us, 1, correlation=correlation)
        add(name, cat, 0, stream, ts, dur, correlation=correlation, stream=stream, device=0)

    for step, begin in (1, 1000), (2, 1100):
        add(f"ProfilerStep#{step}", "user_annotation", 9, 9, begin, 100)
        add(f"ProfilerStep#{step}", "gpu_user_annotation", 0, 7, begin + 20, 100)
        add("aten::mm", "cpu_op", 9, 9, begin + 5, 50)
    launch(2, 1020, "late_gemm", "kernel", 1250, 50)
    launch(1, 1010, "gemm", "kernel", 1020, 40)
    launch(3, 1025, "ncclDevKernel_AllReduce_Sum", "kernel", 1050, 30, stream=20)
    launch(4, 1030, "Memcpy HtoD", "gpu_memcpy", 1090, 20)
    launch(5, 1110, "gemm", "kernel", 1120, 40)
    launch(6, 1120, "gemm", "kernel", 1310, 90)
    launch(7, 1130, "ncclDevKernel_AllReduce_Sum", "kernel", 1380, 40, stream=20)
    return json.dumps({"distributedInfo": {"rank": 5, "world_size": 8}, "traceEvents": events})


class GpuTrace(Export):
    SAME_IN_DB = ("Rank", "Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Preparing")

    def check(self, source, folder, columns):
        # The overlap of steps must not make work count twice, whatever the form.
        expected, found = self.info(source)["ranks"], self.info(folder)["ranks"]
        for key in ("rank", "steps"):
            self.assertEqual([rank[key] for rank in expected], [rank[key] for rank in found], key)
        self.assertEqual([rank["counts"]["kernels"] for rank in expected], [rank["counts"]["kernels"] for rank in found])

        def cells(path):
            return [{name: row[name] for name in columns or row} for row in self.rows("breakdown", path)]

        self.assertEqual(cells(source), cells(folder))

    def test_text_and_db_say_what_the_trace_says(self):
        source = self.write("trace/gpu.json", gpu_trace())
        text, db = self.convert(source, "text"), self.convert(source, "db")
        self.check(source, text, None)
        self.check(source, db, self.SAME_IN_DB)
        self.check_verify(text)
        self.check_verify(db)

    def without_repeats(self, members):
        self.assertEqual(len(dict(members)), len(members))
        return dict(members)

    @needs_shared
    def test_so_do_real_ones(self):
        for name in ("hta/trace_diff/test", "hta/amd_trace", "hta/negative_queue_length_values_check"):
            source = DATA / "kineto" / name
            text = self.convert(source, "text", name.replace("/", "_"))
            self.check(source, text, None)
            self.check_verify(text)
            for path in text.rglob("communication.json"):
                json.loads(path.read_text(), object_pairs_hook=self.without_repeats)
            self.check(source, self.convert(source, "db", name.replace("/", "_") + "_db"), self.SAME_IN_DB[:-1])


if __name__ == "__main__":
    unittest.main()
