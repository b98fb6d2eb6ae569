"""SQL over the store: the tables people are promised, and nothing but reading."""

import csv
import os
import re
import signal
import subprocess
import time
import unittest

from support import DATA, PROGRAM, SAMPLE, Case, needs_shared

TABLES = ["ranks", "tracks", "slices", "flows", "kernels", "comm_ops", "comm_links", "allocations", "memory_samples",
          "counters", "steps"]
ABOUT_ALL_RANKS = {"comm_steps", "kernel_places", "summary_base_base", "summary_base_steps"}  # questions about the job as a whole


class Query(Case):
    def test_promised_tables_have_a_rank(self):
        for table in TABLES:
            with self.subTest(table=table):
                rows = self.query(SAMPLE, f"SELECT DISTINCT rank FROM {table} ORDER BY rank")
                self.assertEqual([row["rank"] for row in rows], [0, 1])

    def test_slices_have_the_promised_columns_in_order(self):
        rows = self.query(SAMPLE, "SELECT * FROM slices LIMIT 1")
        self.assertEqual(list(rows[0])[:9], ["id", "rank", "track_id", "begin_ns", "dur_ns", "name", "category", "depth", "parent_id"])

    def test_info_and_sql_agree(self):
        ranks = self.info(SAMPLE)["ranks"]
        for table in ("slices", "flows", "kernels", "comm_ops", "allocations", "memory_samples", "counters"):
            rows = self.query(SAMPLE, f"SELECT rank, count(*) AS n FROM {table} GROUP BY rank ORDER BY rank")
            self.assertEqual([row["n"] for row in rows], [rank["counts"][table] for rank in ranks], table)

    def test_nothing_but_reading(self):
        for sql in ("DELETE FROM slices", "CREATE TABLE x (y)", "ATTACH 'x.db' AS x", "PRAGMA journal_mode=WAL",
                    "SELECT 1; SELECT 2", "INSERT INTO slices VALUES (1)", "SELECT load_extension('x')", "VACUUM"):
            with self.subTest(sql=sql):
                done = self.run_program("query", SAMPLE, sql)
                self.assertNotEqual(done.returncode, 0)
                self.assertTrue(done.err)

    def test_errors_help(self):
        done = self.run_program("query", SAMPLE, "SELECT * FROM slicse", expect=3)
        self.assertIn("slices", done.err)
        done = self.run_program("query", SAMPLE, "SELECT nme FROM slices", expect=3)
        self.assertIn("name", done.err)

    def test_mistyped_names_get_a_suggestion(self):
        for sql, wanted in (("SELECT * FROM slicse", "slices"), ("SELECT nme FROM slices", "name"),
                            ("SELECT s.begin FROM slices s", "begin_ns"), ("SELECT * FROM brekdown", "breakdown")):
            with self.subTest(sql=sql):
                done = self.run_program("query", SAMPLE, sql, expect=3)
                self.assertIn(f"did you mean '{wanted}'?", done.err)
                self.assertEqual(done.out, "")

    def test_csv_and_json_say_what_the_table_says(self):
        sql = "SELECT id, name, NULL AS unknown, dur_ns / 7.0 AS share, 'a\"b' AS quoted FROM slices ORDER BY id LIMIT 50"
        rows = self.query(SAMPLE, sql)
        out = self.run_program("query", SAMPLE, sql, "--format", "csv", expect=0).out
        cells = [list(row.values()) for row in csv.DictReader(out.splitlines())]
        self.assertEqual(len(rows), 50)
        self.assertEqual(cells, [["" if cell is None else str(cell).removesuffix(".0") for cell in row.values()] for row in rows])
        self.assertEqual(self.query(SAMPLE, "SELECT 1 WHERE 0"), [])

    ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, printf('%0100d', i) FROM n"

    def start(self, *words):
        return subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment)

    def wait_until_interrupts_are_caught(self, pid):
        while not int(re.search(r"SigCgt:\s*(\w+)", open(f"/proc/{pid}/status").read())[1], 16) & 2:
            time.sleep(0.01)

    def test_rows_are_printed_while_they_are_found(self):
        # Two million rows of 100 bytes take no memory: they go out as they come.
        sql = self.ENDLESS + " LIMIT 2000000"
        run = self.start("query", SAMPLE, sql, "--format", "csv")
        lines = sum(1 for _ in run.stdout)
        peak_kb = os.wait4(run.pid, 0)[2].ru_maxrss
        run.stdout.close()
        run.stderr.close()
        self.assertEqual(lines, 2000001)
        self.assertLess(peak_kb, 150_000)

    def test_ctrl_c_ends_an_endless_query(self):
        for form in ("csv", "json", "table"):
            with self.subTest(form=form):
                run = self.start("query", SAMPLE, self.ENDLESS, "--format", form)
                if form == "table":
                    self.wait_until_interrupts_are_caught(run.pid)
                else:
                    self.assertTrue(run.stdout.readline())
                run.send_signal(signal.SIGINT)
                out, err = run.communicate(timeout=60)
                self.assertEqual(run.returncode, 130)
                self.assertIn(err.decode(), ("steplens: the query was cancelled\n", "steplens: interrupted\n"))
                if form != "table":
                    self.assertTrue(out.endswith(b"\n" if form == "csv" else b"}"), out[-100:])

    def test_a_reader_that_has_enough_ends_it(self):
        run = self.start("query", SAMPLE, self.ENDLESS, "--format", "csv")
        run.stdout.readline()
        run.stdout.close()
        self.assertEqual(run.wait(timeout=60), -signal.SIGPIPE)
        run.stderr.close()

    def test_formats_and_schema(self):
        self.assertEqual(self.run_program("query", SAMPLE, "SELECT 1 AS a, 'x,y' AS b", "--format", "csv", expect=0).out, 'a,b\n1,"x,y"\n')
        schema = self.run_program("query", SAMPLE, "--schema", expect=0).out
        for table in TABLES:
            self.assertIn(f"CREATE TABLE {table} (", schema)

    def test_the_schema_and_sqlite_master_name_every_table_and_rank(self):
        schema = self.run_program("query", SAMPLE, "--schema", expect=0).out
        described = dict(re.findall(r"CREATE TABLE (\w+) \((.*?)\n\);", schema, re.DOTALL))
        about_one_rank = set(re.findall(r"CREATE TABLE (\w+) \([^;]*\);\n-- argument", schema))
        listed = [row["name"] for row in self.query(SAMPLE, "SELECT name FROM sqlite_master WHERE type = 'table'")]
        self.assertEqual(sorted(listed), sorted(described))
        for table, columns in described.items():
            with self.subTest(table=table):
                if table not in about_one_rank and table not in ABOUT_ALL_RANKS:
                    self.assertRegex(columns, r"\n  rank INTEGER", table)
                names = re.findall(r'^  ("[^"]+"|\w+)', columns, re.MULTILINE)
                found = self.query(SAMPLE, f"SELECT name FROM pragma_table_info('{table}')")
                self.assertEqual([name.strip('"') for name in names], [row["name"] for row in found])

    def test_times_of_analyses_need_no_quotes(self):
        row = self.query(SAMPLE, "SELECT step, computing_ns, communication_not_overlapped_ns FROM breakdown LIMIT 1")[0]
        self.assertIsInstance(row["computing_ns"], int)
        for table in ("op_stats", "kernel_stats_by_name", "operator_stats", "operator_tree", "api_stats", "temporal_breakdown"):
            for name in self.query(SAMPLE, f"SELECT name FROM pragma_table_info('{table}')"):
                self.assertRegex(name["name"], r"^[a-z_0-9]+$", table)

    def test_a_parameter_without_a_value(self):
        self.assertIn("parameter", self.run_program("query", SAMPLE, "SELECT * FROM slices WHERE rank = ?", expect=2).err)

    def test_tables_show_every_digit(self):
        for value in ("0.00049", "0.000000001", "1736410576431645.2", "2.5", "7.0", "1e-300", "0.14285714285714285"):
            with self.subTest(value=value):
                out = self.run_program("query", SAMPLE, f"SELECT {value} AS a", expect=0).out
                self.assertEqual(out.splitlines()[2].strip(), value)

    def test_analyses_are_tables(self):
        rows = self.query(SAMPLE, "SELECT * FROM breakdown")
        self.assertEqual(len(rows), 6)

    @needs_shared
    def test_push_down_gives_the_same_rows(self):
        path = DATA / "ascend_pt/text/level1"
        everything = self.query(path, "SELECT id, rank, begin_ns, name FROM slices")
        middle = sorted(row["begin_ns"] for row in everything)[len(everything) // 2]
        for where, test in ((f"begin_ns >= {middle}", lambda r: r["begin_ns"] >= middle),
                            ("rank = 1 AND name = 'aten::add_'", lambda r: r["rank"] == 1 and r["name"] == "aten::add_"),
                            ("id BETWEEN 10 AND 20", lambda r: 10 <= r["id"] <= 20),
                            ("name = 'absent'", lambda r: False)):
            rows = self.query(path, f"SELECT id, rank, begin_ns, name FROM slices WHERE {where}")
            self.assertEqual(rows, [row for row in everything if test(row)], where)


if __name__ == "__main__":
    unittest.main()
