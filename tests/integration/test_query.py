"""SQL over the store: the tables people are promised, and nothing but reading."""

import unittest

from support import DATA, SAMPLE, Case, needs_shared

TABLES = ["ranks", "tracks", "slices", "flows", "kernels", "comm_ops", "comm_links", "allocations", "memory_samples",
          "counters", "steps"]


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

    def test_formats_and_schema(self):
        self.assertEqual(self.run_program("query", SAMPLE, "SELECT 1 AS a, 'x,y' AS b", "--format", "csv", expect=0).out, 'a,b\n1,"x,y"\n')
        schema = self.run_program("query", SAMPLE, "--schema", expect=0).out
        for table in TABLES:
            self.assertIn(f"CREATE TABLE {table} (", schema)

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
