"""steplens cluster --compat against the reference's answers in ../shared/golden/cluster, case by case.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_cluster_golden.py [-k hccl_sum]

Values are compared, not bytes: rows in any order, numbers within 1e-9, lists of ranks as sets (the reference writes both in the order its
file system lists directories). What a recipe of the reference writes into its input, ours writes into a copy of it with --in_place.
"""

import csv
import importlib.util
import json
import math
import re
import shutil
import sqlite3
import unittest

from support import DATA, SHARED, Case

GOLDEN = SHARED / "golden" / "cluster"
SYNTH = GOLDEN / "synth" / "data"
INPUTS = {
    "db_level0": DATA / "ascend_pt" / "db" / "level0",
    "db_level1": DATA / "ascend_pt" / "db" / "level1",
    "text_level0": DATA / "ascend_pt" / "text" / "level0",
    "text_level1": DATA / "ascend_pt" / "text" / "level1",
    "synthdb_level1": SYNTH / "db",
    "synthtext_level1": SYNTH / "text",
}
VARIANTS = {"pp_chart.dualpipev": SYNTH / "dualpipev", "mstx2commop.levelnone": SYNTH / "levelnone"}
# Columns that hold paths or lists in the order of the file system.
SKIPPED_COLUMNS = {"profilePath"}
# Row numbers of an order that the reference leaves to chance among equals; ours has no such column.
SKIPPED_OF_TABLE = {"MSTXMarkStats": {"index"}}
# Who holds an extreme; among equals the reference takes whom the file system lists first.
TIE_COLUMNS = {"MinRank", "MaxRank"}
LIST_COLUMNS = {"Ranks", "minRank", "maxRank", "rank_set"}


def input_of(case):
    return VARIANTS.get(case.name, INPUTS[case.parent.name])


def options_of(case):
    """The words behind the mode in cmd.txt, with our paths."""
    words = (case / "cmd.txt").read_text().split()
    out = []
    skip = False
    for word in words[words.index("cluster") + 1:]:
        if skip:
            skip = False
        elif word in ("-d", "-o"):
            skip = True
        elif word.endswith(".sqlite"):
            out.append(str(SYNTH / "gpu.sqlite"))
        else:
            out.append(word)
    return out


def number(value):
    if isinstance(value, (int, float)):
        return float(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def normal(column, value):
    if column in LIST_COLUMNS and value is not None:
        return ",".join(sorted(re.findall(r"\d+", str(value)), key=int))
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return ""
    as_number = number(value)
    return as_number if as_number is not None else str(value)


def sort_key(row):
    return [(0, float(f"{cell:.6g}"), "") if isinstance(cell, float) else (1, 0.0, cell) for cell in row]


def equal(a, b):
    if b == "N/A":  # a level-0 capture does not say the operator's type; ours takes it from the name
        return True
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b


def is_tie(columns, row):
    """All values of the row's statistics are equal, so any rank holds the smallest and the largest."""
    return any(name.startswith("Std") and row[i] in (0.0, "") for i, name in enumerate(columns))


def table_rows(columns, rows, table=None):
    skipped = SKIPPED_COLUMNS | SKIPPED_OF_TABLE.get(table, set())
    kept = [i for i, name in enumerate(columns) if name not in skipped]
    out = [[normal(columns[i], row[i]) for i in kept] for row in rows]
    return [columns[i] for i in kept], sorted(out, key=sort_key)


def with_texts(tables):
    """mstx2commop: the reference numbers new texts and operators in the order of a hash; the texts and rows count."""
    texts = {row[0]: row[1] for row in tables["STRING_IDS"][1]}
    columns, rows = tables["COMMUNICATION_OP"]
    named = [[texts.get(cell, cell) if name in ("opName", "groupName", "opType") else cell
              for name, cell in zip(columns, row) if name != "opId"] for row in rows]
    return {**tables, "STRING_IDS": (["value"], sorted([[str(text)] for text in texts.values()])),
            "COMMUNICATION_OP": ([name for name in columns if name != "opId"], sorted(named, key=sort_key))}


def read_db(path):
    db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    tables = {}
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"):
        cursor = db.execute(f'SELECT * FROM "{name}"')
        tables[name] = table_rows([column[0] for column in cursor.description], cursor.fetchall(), name)
    db.close()
    return tables


def read_csv(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = list(csv.reader(file))
    return table_rows(rows[0], [row + [""] * (len(rows[0]) - len(row)) for row in rows[1:]])


def read_xlsx(path):
    import openpyxl
    sheet = openpyxl.load_workbook(path).worksheets[0]
    for merged in list(sheet.merged_cells.ranges):
        value = sheet.cell(merged.min_row, merged.min_col).value
        sheet.unmerge_cells(str(merged))
        for row in sheet.iter_rows(merged.min_row, merged.max_row, merged.min_col, merged.max_col):
            for cell in row:
                cell.value = value
    rows = [list(row) for row in sheet.iter_rows(values_only=True)]
    return table_rows([str(name) for name in rows[0]], rows[1:])


def has_result(folder):
    """The reference leaves an empty database where it found nothing."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return any(path.suffix != ".db" or read_db(path) for path in files)


class Golden(Case):
    maxDiff = None

    def assert_same_table(self, got, expected, where):
        self.assertEqual(got[0], expected[0], f"{where}: columns")
        self.assertEqual(len(got[1]), len(expected[1]), f"{where}: rows")
        for mine, theirs in zip(got[1], expected[1]):
            if re.search("slow_?link_?sum", where, re.I):  # all ranks of a call have its transmit time: a tie always
                mine, theirs = [[cell for name, cell in zip(got[0], row) if name not in ("minRank", "maxRank")] for row in (mine, theirs)]
            if is_tie(got[0], theirs):
                mine, theirs = [[cell for name, cell in zip(got[0], row) if name not in TIE_COLUMNS] for row in (mine, theirs)]
            self.assertTrue(all(map(equal, mine, theirs)), f"{where}:\n  ours      {mine}\n  reference {theirs}\n  columns   {got[0]}")

    def assert_same_json(self, got, expected, where):
        if isinstance(expected, dict):
            self.assertEqual(sorted(got), sorted(expected), where)
            for key in expected:
                self.assert_same_json(got[key], expected[key], f"{where}.{key}")
        elif isinstance(expected, list):
            self.assertEqual(len(got), len(expected), where)
            if expected and isinstance(expected[0], (dict, list)):
                got = sorted(got, key=lambda item: json.dumps(item, sort_keys=True))
                expected = sorted(expected, key=lambda item: json.dumps(item, sort_keys=True))
            for i, (mine, theirs) in enumerate(zip(got, expected)):
                self.assert_same_json(mine, theirs, f"{where}[{i}]")
        elif isinstance(expected, (int, float)) and not isinstance(expected, bool):
            self.assertTrue(equal(float(got), float(expected)), f"{where}: {got} is not {expected}")
        else:
            self.assertEqual(got, expected, where)

    def assert_same_file(self, got, expected, where):
        if expected.suffix == ".db":
            mine, theirs = read_db(got), read_db(expected)
            if where.startswith("Mstx2Commop"):
                mine, theirs = with_texts(mine), with_texts(theirs)
            self.assertEqual(sorted(mine), sorted(theirs), f"{where}: tables")
            for name in theirs:
                self.assert_same_table(mine[name], theirs[name], f"{where}: {name}")
        elif expected.suffix == ".json":
            self.assert_same_json(json.loads(got.read_text()), json.loads(expected.read_text()), where)
        elif expected.suffix == ".xlsx":
            if importlib.util.find_spec("openpyxl") is None:
                self.skipTest("openpyxl is not installed (python3-openpyxl)")
            self.assert_same_table(read_xlsx(got), read_xlsx(expected), where)
        else:
            mine, theirs = read_csv(got), read_csv(expected)
            if expected.name == "api_statistic.csv" and "synth" not in str(expected):
                # export_summary: the reference adds up tasks that consist of sub-tasks and the sub-tasks; the store has the latter only.
                mine, theirs = [(columns, [row for row in rows if row[0] != "launch"]) for columns, rows in (mine, theirs)]
            self.assert_same_table(mine, theirs, where)

    def assert_same_tree(self, got, expected):
        def files(folder):
            out = {}
            for path in folder.rglob("*"):
                if not path.is_file() or path.suffix in (".ipynb", ".py"):
                    continue
                # Beside csv files the reference leaves a database with the group mapping; ours has a csv of it.
                if path.name == "communication_group_map.csv":
                    continue
                if path.name != "cluster_analysis.db" or path.parent == folder:
                    # "cluster_time_summary_20261116004859.csv": the time varies
                    out[re.sub(r"_\d{14}\.csv$", ".csv", str(path.relative_to(folder)))] = path
            return out
        mine, theirs = files(got), files(expected)
        self.assertEqual(sorted(mine), sorted(theirs), "files written")
        for name, path in theirs.items():
            self.assert_same_file(mine[name], path, name)

    def check(self, case):
        source = input_of(case)
        after = case / "input_after"
        words = options_of(case)
        mode = words[words.index("-m") + 1]
        if after.is_dir() or mode == "cluster_time_compare_summary":
            copy = self.scratch / "data"
            shutil.copytree(source, copy)
            for path in [copy, *copy.rglob("*")]:
                path.chmod(0o755 if path.is_dir() else 0o644)
            source = copy
        out = self.scratch / "out"
        if mode == "cluster_time_compare_summary":  # compares what an earlier run left in both inputs
            self.run_program("cluster", "--compat", "-m", "cluster_time_summary", "-d", source)
            words[words.index("--bp") + 1] = str(source)
        in_place = ["--in_place"] if after.is_dir() else []
        done = self.run_program("cluster", "--compat", *in_place, *words, "-d", source, "-o", out)
        expected = case / "cluster_analysis_output"
        if after.is_dir():
            for path in after.rglob("*"):
                if path.is_file():
                    self.assert_same_file(source / path.relative_to(after), path, str(path.relative_to(after)))
        elif expected.is_dir() and has_result(expected):
            self.assertEqual(done.returncode, 0, done.err)
            self.assert_same_tree(out / "cluster_analysis_output", expected)
        elif "only supports DB as input" in (case / "log.txt").read_text():  # ours takes text as well
            self.assertIn(done.returncode, (0, 1, 3), done.err)
        else:
            self.assertIn(done.returncode, (1, 3), f"the reference found nothing, ours exits {done.returncode}\n{done.out}")


def add_cases():
    for folder in sorted(INPUTS):
        if not (GOLDEN / folder).is_dir():
            continue
        for case in sorted((GOLDEN / folder).iterdir()):
            if (case / "cmd.txt").is_file():
                name = "test_" + re.sub(r"\W", "_", f"{folder}_{case.name}")
                setattr(Golden, name, lambda self, case=case: self.check(case))


if GOLDEN.is_dir():
    add_cases()
else:
    Golden = unittest.skip(f"the shared data is not on this machine ({SHARED})")(Golden)

class Bytes(Case):
    """Where the reference's order does not hang on the file system, its text files are met byte for byte."""

    def check(self, name, mode, *files):
        case = GOLDEN / name / mode
        self.run_program("cluster", "-m", mode, "--compat", "-d", INPUTS[name], "-o", self.scratch / mode, "--no-cache")
        for file in files:
            with self.subTest(f"{name} {mode} {file}"):
                expected = (case / "cluster_analysis_output" / file).read_bytes()
                self.assertEqual((self.scratch / mode / "cluster_analysis_output" / file).read_bytes(), expected)

    def test_captures_with_communication(self):
        self.check("text_level1", "all", "communication_group.json", "cluster_communication.json", "cluster_communication_matrix.json",
                   "cluster_step_trace_time.csv")
        self.check("text_level1", "communication_time", "communication_group.json", "cluster_communication.json", "cluster_step_trace_time.csv")
        self.check("text_level1", "communication_matrix", "communication_group.json", "cluster_communication_matrix.json",
                   "cluster_step_trace_time.csv")

    def test_captures_without_communication(self):
        for mode in ("all", "communication_time", "communication_matrix"):
            self.check("text_level0", mode, "communication_group.json", "cluster_step_trace_time.csv")

    def test_lines_of_ranks_in_another_order(self):
        """The reference's eight ranks come as its file system lists them: lines are equal, and so is what stands inside a group."""
        self.check_lines("cluster_step_trace_time.csv")
        self.check_objects("cluster_communication.json")

    def output(self, file):
        out = self.scratch / "lines"
        if not out.is_dir():
            self.run_program("cluster", "-m", "all", "--compat", "-d", INPUTS["synthtext_level1"], "-o", out, "--no-cache")
        return (out / "cluster_analysis_output" / file).read_bytes()

    def check_lines(self, file):
        expected = (GOLDEN / "synthtext_level1" / "all" / "cluster_analysis_output" / file).read_bytes()
        self.assertEqual(sorted(self.output(file).splitlines(True)), sorted(expected.splitlines(True)))

    def check_objects(self, file):
        expected = json.loads((GOLDEN / "synthtext_level1" / "all" / "cluster_analysis_output" / file).read_text())
        found = json.loads(self.output(file))
        self.assertEqual(found.keys(), expected.keys())
        for members, steps in expected.items():
            self.assertEqual(list(found[members]), list(steps), members)
            for step, operations in steps.items():
                if len(operations) > 3:  # a send and its receive stand in the order of their ranks
                    self.assertEqual(list(found[members][step]), list(operations), (members, step))


if __name__ == "__main__":
    unittest.main()
