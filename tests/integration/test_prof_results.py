"""Results of raw device data (PROF_*) against those of the vendor's exporter in ../shared/golden/prof_raw, file by file.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_prof_results.py [-k csv]

Csv cells are compared by column: numbers within 0.001 (waits within 0.25, which the exporter computes in doubles of 16 digits), texts exactly,
rows in any order. Events of the timeline are compared as multisets, the database by the texts behind its ids. What differs on purpose is listed
below, each with its reason; docs/differences.md has the same.
"""

import collections
import csv
import json
import re
import shutil
import sqlite3
import unittest

from support import SHARED, Case, snapshot

GOLDEN = SHARED / "golden" / "prof_raw"
SETS = sorted(path.name for path in GOLDEN.glob("*") if (path / "expected_cpp").is_dir())
needs_golden = unittest.skipUnless(SETS, f"the reference's answers are not on this machine ({GOLDEN})")

# Columns that are not compared: (file, column) -> why.
LEFT_OUT = {
    ("nic", "Timestamp(us)"): "not converted with the device's anchor by the reference",
    ("roce", "Timestamp(us)"): "the same",
    ("nic", "rxPacket/s"): "the reference shows 0 for what was sampled", ("nic", "txPacket/s"): "the same",
    ("roce", "rxPacket/s"): "the same", ("roce", "txPacket/s"): "the same",
    ("step_trace", "Reduce Duration(us)"): "start minus end, unsigned, in the reference",
    ("hccs", "Max"): "the reference leaves out the last sample", ("hccs", "Average"): "the same",
    ("pcie", "Min"): "the reference shows its last sample", ("pcie", "Avg"): "the same", ("pcie", "Max"): "the same",
}
WITHIN = {
    ("op_summary", "Task Wait Time(us)"): 0.2501, ("npu_mem", "timestamp(us)"): 0.256,
    ("aicpu", "Timestamp(us)"): 0.2501, ("dp", "Timestamp(us)"): 0.2501,  # doubles of 16 digits
    ("hbm", "Read(MB/s)"): 0.0021, ("hbm", "Write(MB/s)"): 0.0021, ("llc_read_write", "Throughput(MB/s)"): 0.05,  # times in steps of 256 ns
}
# The chip whose results come from scripts: other texts in some columns.
SCRIPT_SETS = {"chip1"}


def raw_of(name):
    return next((GOLDEN / name / "raw").glob("PROF_*"))


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def rows_of(path):
    with open(path, newline="") as opened:
        rows = list(csv.reader(opened))
    return rows[0], [[cell.strip("\t ") for cell in row] for row in rows[1:]]


def exact_time(text):
    """A time of 16 digits in ns: a double holds quarters of a us only."""
    whole, _, decimals = text.partition(".")
    return int(whole) * 1000 + int((decimals + "000")[:3])


def is_time(text):
    return re.fullmatch(r"\d{16}(\.\d{1,3})?", text) is not None


def sort_key(row):
    return [(0, round(number(cell), 1)) if number(cell) is not None else (1, cell) for cell in row]


class Results(Case):
    def export(self, name, *options):
        folder = self.scratch / name / raw_of(name).name
        if not folder.exists():
            shutil.copytree(raw_of(name), folder)
            self.run_program("analyse", folder, *options, expect=0)
        return folder

    def ours(self, folder):
        """type -> file, without the time of the export."""
        return {re.sub(r"_\d{14}\.", ".", path.name): path for path in (folder / "mindstudio_profiler_output").iterdir()}

    def for_each_set(self, check):
        for name in SETS:
            with self.subTest(set=name):
                check(name)


@needs_golden
class Golden(Results):
    def without_twins(self, name, kind, header, rows):
        """910A: the scripts list kernels of AI CPU and copies twice, once from each of two sources."""
        if name not in SCRIPT_SETS or kind not in ("op_summary", "task_time"):
            return rows
        column = header.index("Task Type" if kind == "op_summary" else "kernel_type")
        start = header.index("Task Start Time(us)" if kind == "op_summary" else "task_start(us)")
        seen, out = set(), []
        for row in rows:
            key = (row[column], row[start])
            if row[column] == "AI_CPU" and key in seen or "MemcopyAsync" in row:
                continue
            seen.add(key)
            out.append(row)
        return out

    def compare_cell(self, name, kind, column, ours, theirs):
        what = f"{name}: {kind}: {column}"
        if (kind, column) in LEFT_OUT or (name in SCRIPT_SETS and column in ("Device_id", "Data Aug Bound(us)")):
            return  # scripts: 0 for the host, no bound in front of the first iteration
        within = WITHIN.get((kind, column), 0.0011)
        if is_time(ours) and is_time(theirs):
            self.assertLessEqual(abs(exact_time(ours) - exact_time(theirs)), round(within * 1000), what)
        elif number(ours) is not None and number(theirs) is not None:
            self.assertLessEqual(abs(number(ours) - number(theirs)), within + 1e-9 * abs(number(theirs)), what)
        else:
            self.assertEqual(ours, theirs, what)

    def test_csv_files(self):
        def check(name):
            ours = self.ours(self.export(name))
            expected = sorted(path for path in (GOLDEN / name / "expected_cpp").glob("*.csv"))
            self.assertEqual(sorted(kind for kind in ours if kind.endswith(".csv")), [path.name for path in expected], name)
            for path in expected:
                with self.subTest(set=name, file=path.name):
                    header, theirs = rows_of(path)
                    mine_header, mine = rows_of(ours[path.name])
                    self.assertEqual(mine_header, header)
                    theirs = self.without_twins(name, path.stem, header, theirs)
                    if name in SCRIPT_SETS and path.stem == "op_statistic":
                        theirs = [row for row in theirs if row[header.index("Core Type")] != "AI_CPU"]  # counted twice, and all shares with it
                        mine = [row for row in mine if row[header.index("Core Type")] != "AI_CPU"]
                        theirs, mine = [row[:-1] for row in theirs], [row[:-1] for row in mine]
                    self.assertEqual(len(mine), len(theirs))
                    wait = header.index("Task Wait Time(us)") if "Task Wait Time(us)" in header else None
                    for own, row in zip(sorted(mine, key=sort_key), sorted(theirs, key=sort_key)):
                        for place, (a, b) in enumerate(zip(own, row)):
                            if place == wait and name in SCRIPT_SETS:
                                continue  # gaps to rows that are there twice
                            self.compare_cell(name, path.stem, header[place], a, b)

        self.for_each_set(check)

    def event_key(self, event, names):
        process = names.get(event["pid"], "")
        time = event.get("ts", "")
        if process in ("HBM", "NPU MEM", "LLC"):
            time = str(exact_time(time) // 1_000_000)  # the reference's are multiples of 256 ns
        place = event.get("tid", 0)
        if process == "Ascend Hardware" and event["ph"] in "Xf":  # streams of graphs have their logic number there
            place = event.get("args", {}).get("Physic Stream Id", "arrow")
        return process, event["ph"], place, event["name"], time

    def events(self, path, layers=None):
        with open(path) as opened:
            events = json.load(opened)
        names = {event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "process_name"}
        out = collections.defaultdict(list)
        for event in events:
            if event["ph"] != "M":
                out[self.event_key(event, names)].append(event)
        return out

    def same_args(self, ours, theirs, what):
        self.assertEqual(sorted(ours), sorted(theirs), what)
        for key, value in theirs.items():
            mine = ours[key]
            if isinstance(value, (int, float)) and isinstance(mine, (int, float)):
                self.assertLessEqual(abs(mine - value), 1e-4 * abs(value) + 0.0011, f"{what}: {key}")
            else:
                self.assertEqual(str(mine), str(value), f"{what}: {key}")

    def compare_trace(self, name, kind):
        path = GOLDEN / name / "expected_cpp" / f"{kind}.json"
        if not path.is_file():
            return
        ours, theirs = self.events(self.ours(self.export(name))[f"{kind}.json"]), self.events(path)
        # What was written twice counts once: the reference writes the frequency of AI cores with each of two writers.
        self.assertEqual(sorted(map(str, set(theirs) - set(ours))), [], f"{name}: missing")
        # The reference leaves out the last sample of HCCS, and the links of the chip.
        more = {key for key in set(ours) - set(theirs) if key[0] not in ("HCCS", "Stars Chip Trans")}
        self.assertEqual(sorted(map(str, more)), [], f"{name}: too many")
        for key, events in theirs.items():
            for mine, event in zip(ours[key], events):
                if "dur" in event:
                    self.assertAlmostEqual(mine["dur"], event["dur"], delta=0.0011, msg=f"{name}: {key}")
                self.same_args(mine.get("args", {}), event.get("args", {}), f"{name}: {key}")
                for member in ("id", "cat", "bp"):
                    self.assertEqual(mine.get(member), event.get(member), f"{name}: {key}")

    def test_timeline(self):
        for name in SETS:
            if name not in SCRIPT_SETS:
                for kind in ("msprof", "msprof_tx", "step_trace"):
                    with self.subTest(set=name, file=kind):
                        self.compare_trace(name, kind)

    def test_timeline_of_scripts(self):
        """910A: slices of host and device; arrows and pids are numbered in another way by the scripts."""
        for name in SCRIPT_SETS:
            ours, theirs = self.events(self.ours(self.export(name))["msprof.json"]), self.events(GOLDEN / name / "expected_cpp" / "msprof.json")
            layers = ("CANN", "Communication", "Ascend Hardware")
            mine = {(key[0], key[3], key[4]) for key in ours if key[0] in layers and key[1] == "X" and key[3][:6] != "Reduce"}  # numbered anew in each step there
            expected = {(key[0], key[3], key[4]) for key in theirs if key[0] in layers and key[1] == "X" and key[3] != "MemcopyAsync" and key[3][:6] != "Reduce"}
            self.assertEqual(sorted(map(str, expected - mine)), [])
            self.assertEqual(sorted(map(str, mine - expected)), [])

    def test_communication(self):
        def close(ours, theirs, what):
            if isinstance(theirs, dict):
                self.assertEqual(sorted(ours), sorted(theirs), what)
                for key in theirs:
                    close(ours[key], theirs[key], f"{what}: {key}")
            elif isinstance(theirs, list):
                for mine, value in zip(ours, theirs):
                    close(mine, value, what)
            elif isinstance(theirs, (int, float)):
                self.assertAlmostEqual(ours, theirs, delta=0.2501 if "Timestamp" in what else 1.1e-4, msg=what)
            else:
                self.assertEqual(ours, theirs, what)

        def check(name):
            for file in ("communication.json", "communication_matrix.json"):
                path = GOLDEN / name / "expected_cpp" / file
                mine = self.export(name) / "analyze" / file
                self.assertEqual(mine.is_file(), path.is_file(), f"{name}: {file}")
                if path.is_file():
                    close(json.loads(mine.read_text()), json.loads(path.read_text()), f"{name}: {file}")
            path = GOLDEN / name / "expected_cpp" / "communication_analyzer.db"
            if path.is_file():
                self.compare_tables(name, self.export(name) / "analyze" / path.name, path, {})

        self.for_each_set(check)

    def table_rows(self, path, table, ids):
        """Rows with texts instead of their ids. `ids`: columns that hold such."""
        with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as db:
            texts = dict(db.execute("select id, value from STRING_IDS")) if ids else {}
            cursor = db.execute(f"select * from {table}")
            columns = [column[0] for column in cursor.description]
            rows = [[texts.get(value, value) if column in ids else value for column, value in zip(columns, row)] for row in cursor]
        return columns, rows

    def tables_of(self, path):
        with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as db:
            return {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}

    def compare_tables(self, name, ours, theirs, id_columns, leave_out=()):
        self.assertEqual(sorted(self.tables_of(ours)), sorted(self.tables_of(theirs) - set(leave_out)), name)
        for table in sorted(self.tables_of(theirs) - set(leave_out)):
            if table in ("STRING_IDS", "TASK_PMU_INFO"):
                continue
            with self.subTest(set=name, table=table):
                ids = id_columns.get(table, ())
                columns, expected = self.table_rows(theirs, table, ids)
                own_columns, rows = self.table_rows(ours, table, ids)
                self.assertEqual(sorted(own_columns), sorted(columns))
                kept = [column for column in columns if (table, column) not in DB_LEFT_OUT]
                order = lambda row: [(0, round(cell, -3), "") if isinstance(cell, (int, float)) else (1, 0, str(cell)) for cell in row]
                pick = lambda names, row: [row[names.index(column)] for column in kept]
                mine = sorted((pick(own_columns, row) for row in rows), key=order)
                # Level 0: bytes that are not known, divided by time, are a negative bandwidth there and 0 here.
                known = lambda row: [max(cell, 0) if name == "bandwidth" and cell is not None else cell for name, cell in zip(kept, row)]
                wanted = sorted((known(pick(columns, row)) for row in expected), key=order)
                if table in ("AICORE_FREQ",):  # written twice by the reference
                    mine, wanted = ([list(row) for row in sorted(set(map(tuple, part)))] for part in (mine, wanted))
                if table == "HCCS":
                    mine = mine[:len(wanted)]  # the reference leaves out the last sample
                self.assertEqual(len(mine), len(wanted))
                for own, row in zip(mine, wanted):
                    for column, a, b in zip(kept, own, row):
                        if isinstance(b, (int, float)) and isinstance(a, (int, float)):
                            within = 256 if column == "timestampNs" else 1e-4 * abs(b) + 1e-6 if table not in ("TASK", "CANN_API") else 1
                            self.assertLessEqual(abs(a - b), within, f"{table}.{column}")
                        else:
                            self.assertEqual(a, b, f"{table}.{column}")

    def test_database(self):
        def check(name):
            if name in SCRIPT_SETS:
                return  # kernels of AI CPU are there twice
            folder = self.export(name)
            mine = next(folder.glob("msprof_*.db"))
            self.compare_tables(name, mine, GOLDEN / name / "expected_cpp" / "msprof.db", TEXT_COLUMNS)

        self.for_each_set(check)

    def test_task_ids_join_the_tables(self):
        """globalTaskId and opId are keys only: what they join is compared."""
        sql = {
            "operators": "select t.startNs, n.value, c.blockNum from TASK t join COMPUTE_TASK_INFO c using (globalTaskId) join STRING_IDS n on n.id = c.name",
            "collectives": "select t.startNs, n.value, o.startNs, i.planeId, i.isMaster from COMMUNICATION_TASK_INFO i join TASK t using (globalTaskId) "
                           "join COMMUNICATION_OP o using (opId) join STRING_IDS n on n.id = i.taskType",
            "counters": "select t.startNs, n.value, round(p.value, 3) from TASK_PMU_INFO p join TASK t using (globalTaskId) join STRING_IDS n on n.id = p.name",
            "copies": "select t.startNs, m.size, m.memcpyOperation from MEMCPY_INFO m join TASK t using (globalTaskId)",
        }

        def check(name):
            if name in SCRIPT_SETS:
                return
            for what, query in sql.items():
                answers = []
                for path in (next(self.export(name).glob("msprof_*.db")), GOLDEN / name / "expected_cpp" / "msprof.db"):
                    with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as db:
                        try:
                            answers.append(sorted(set(db.execute(query))))
                        except sqlite3.OperationalError:
                            answers.append([])
                if what == "counters":  # units that a core does not have are not counted here
                    known = {row[1] for row in answers[0]}
                    answers[1] = [row for row in answers[1] if row[1] in known]
                with self.subTest(set=name, what=what):
                    self.assertEqual([row[:2] for row in answers[0]], [row[:2] for row in answers[1]])
                    for mine, theirs in zip(*answers):
                        for a, b in zip(mine, theirs):
                            self.assertAlmostEqual(a, b, delta=0.01) if isinstance(b, float) else self.assertEqual(a, b)

        self.for_each_set(check)


# Columns of the database that hold ids of texts.
TEXT_COLUMNS = {
    "TASK": ("taskType",), "COMPUTE_TASK_INFO": ("name", "taskType", "opType", "inputFormats", "inputDataTypes", "inputShapes", "outputFormats",
                                                 "outputDataTypes", "outputShapes", "attrInfo", "opState", "hf32Eligible", "gridDim", "blockDim"),
    "COMMUNICATION_SCHEDULE_TASK_INFO": ("name", "taskType", "opType"), "COMMUNICATION_TASK_INFO": ("name", "taskType", "groupName"),
    "COMMUNICATION_OP": ("opName", "groupName", "algType", "opType"), "CANN_API": ("name",), "MSTX_EVENTS": ("message", "domainId"),
    "NPU_MEM": ("type",), "NPU_OP_MEM": ("operatorName", "type", "component"), "HBM": ("type",), "LLC": ("mode",), "OSRT_API": ("name",),
    "QOS": ("eventName",), "SIO": ("name",),
}
DB_LEFT_OUT = {("COMMUNICATION_OP", "opId"), ("COMMUNICATION_TASK_INFO", "opId"), ("COMMUNICATION_TASK_INFO", "globalTaskId"), ("TASK", "globalTaskId"),
               ("COMPUTE_TASK_INFO", "globalTaskId"), ("COMMUNICATION_SCHEDULE_TASK_INFO", "globalTaskId"), ("MEMCPY_INFO", "globalTaskId"),
               ("OVERLAP_ANALYSIS", "id"), ("NPU_OP_MEM", "globalTid"), ("MSTX_EVENTS", "domainId")}


@needs_golden
class Commands(Results):
    def copy(self, name="l1_pt"):
        folder = self.scratch / "input" / raw_of(name).name
        shutil.copytree(raw_of(name), folder)
        return folder

    def test_only_results_change(self):
        folder = self.copy()
        before = snapshot(folder)
        self.run_program("analyse", folder, expect=0)
        after = snapshot(folder)
        self.assertEqual({path: after[path] for path in before if path in after and path != "."}, {path: before[path] for path in before if path != "."})
        new = {str(path).split("/")[0] for path in set(after) - set(before)}
        self.assertEqual({re.sub(r"\d{14}", "T", name) for name in new}, {"mindstudio_profiler_output", "msprof_T.db", "analyze"})

    def test_types(self):
        folder = self.copy()
        self.run_program("analyse", folder, "--export-type", "db", expect=0)
        self.assertFalse((folder / "mindstudio_profiler_output").exists())
        self.assertEqual([path.name for path in (folder / "analyze").iterdir()], ["communication_analyzer.db"])
        self.run_program("analyse", folder, "--export-type", "text", expect=0)
        self.assertEqual(len(list(folder.glob("msprof_*.db"))), 1)
        self.assertTrue((folder / "analyze" / "communication.json").exists())
        again = self.run_program("analyse", folder, expect=0)
        self.assertIn("--force", again.out)

    def test_command_lines_of_msprof(self):
        for words in (["--export=on", "--output={}"], ["export", "summary", "-dir", "{}"], ["export", "db", "-dir", "{}"], ["--export=on", "--type=db", "--output={}"]):
            with self.subTest(words=words):
                folder = self.copy()
                self.run_program("msprof", *[word.format(folder) for word in words], expect=0)
                is_db = "db" in words or "--type=db" in words
                self.assertEqual((folder / "mindstudio_profiler_output").exists(), not is_db)
                self.assertEqual(bool(list(folder.glob("msprof_*.db"))), is_db or "--export=on" in words)
                shutil.rmtree(folder)
        folder = self.copy()
        self.run_program("msprof", "--analyze=on", "--rule=communication", f"--output={folder}", expect=0)
        self.assertEqual(sorted(path.name for path in (folder / "analyze").iterdir()), ["communication.json", "communication_analyzer.db"])
        self.assertIn("Ascend910B", self.run_program("msprof", "--query=on", f"--output={folder}", expect=0).out)
        self.run_program("msprof", "--export=on", f"--output={self.scratch / 'nothing'}", expect=3)
        self.run_program("msprof", f"--output={folder}", expect=2)
        self.run_program("msprof", "--analyze=on", "--rule=links", f"--output={folder}", expect=2)

    def test_number_of_threads_does_not_matter(self):
        answers = []
        for jobs in (1, 4):
            folder = self.copy("l1_full")
            self.run_program("analyse", folder, "--jobs", jobs, expect=0)
            answers.append({re.sub(r"\d{14}", "T", path.name): path.read_bytes() for path in folder.rglob("*")
                            if path.is_file() and ("output" in str(path) or "analyze" in str(path) or path.suffix == ".db")})
            shutil.rmtree(folder)
        self.assertEqual(sorted(answers[0]), sorted(answers[1]))
        for name, content in answers[0].items():
            self.assertTrue(content == answers[1][name], name)

    def test_a_folder_that_cannot_be_written(self):
        folder = self.copy()
        (folder / "mindstudio_profiler_output").write_text("in the way")
        self.assertIn("mindstudio_profiler_output", self.run_program("analyse", folder, "--force", expect=6).err)
        self.assertEqual((folder / "mindstudio_profiler_output").read_text(), "in the way")


if __name__ == "__main__":
    unittest.main()
