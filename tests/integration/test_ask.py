"""The questions of the viewer on the command line and in SQL: one list, the same numbers."""

import json
import re
import unittest

from support import SAMPLE, Case


class Ask(Case):
    def questions(self):
        """{name: [arguments]} as --list has them."""
        listed = {}
        for line in self.run_program("ask", "--list", expect=0).out.splitlines():
            name = line.split()[0]
            if line.startswith("  "):
                listed[next(reversed(listed))].append(name)
            else:
                listed[name] = []
        return listed

    def test_every_question_is_listed_and_answers(self):
        questions = self.questions()
        self.assertEqual(questions["overview"], ["rank", "step", "top"])
        self.assertGreater(len(questions), 45)
        for name in questions:
            with self.subTest(question=name):
                self.assertTrue(self.run_program("ask", name, SAMPLE, expect=0).out)

    def test_the_command_and_sql_give_the_same_numbers(self):
        for rank in (0, 1):
            asked = json.loads(self.run_program("ask", "overall", SAMPLE, "--arg", f"rank={rank}", "--json", expect=0).out)
            for sql in (f"SELECT * FROM overall WHERE arg_rank = {rank}", f"SELECT * FROM overall({rank})"):
                rows = self.query(SAMPLE, sql)
                self.assertEqual([row["path"] for row in rows], [row["path"] for row in asked])
                self.assertEqual([row["count"] for row in rows], [row["count"] for row in asked])

    def test_arguments_come_from_a_join(self):
        rows = self.query(SAMPLE, "SELECT r.rank, count(*) AS n FROM ranks r JOIN kernel_details k ON k.arg_rank = r.rank GROUP BY 1")
        self.assertEqual(rows, self.query(SAMPLE, "SELECT rank, count(*) AS n FROM kernels GROUP BY 1"))

    def test_times_are_those_of_the_other_tables(self):
        [first] = self.query(SAMPLE, "SELECT min(start_time_ns) AS ns FROM kernel_details(0)")
        [kernel] = self.query(SAMPLE, "SELECT min(begin_ns) AS ns FROM kernels WHERE rank = 0")
        self.assertEqual(first, kernel)

    def test_what_is_wrong_is_said(self):
        for words, code, said in ((["overvew", SAMPLE], 3, "did you mean 'overview'?"),
                                  (["overview"], 2, "a question and a path were expected"),
                                  (["overview", SAMPLE, "--arg", "tpo=3"], 2, "did you mean 'top'?"),
                                  (["overview", SAMPLE, "--arg", "top"], 2, "is not of the form NAME=VALUE"),
                                  (["overview", SAMPLE, "--arg", "rank=9"], 3, "there is no rank 9"),
                                  (["overview", SAMPLE, "--json"], 2, "name it with --table"),
                                  (["overview", SAMPLE, "--table", "step"], 3, "did you mean 'steps'?")):
            with self.subTest(words=words):
                self.assertIn(said, self.run_program("ask", *words, expect=code).err)
        done = self.run_program("query", SAMPLE, "SELECT * FROM overview_steps(9)", expect=2)
        self.assertIn("overview_steps: there is no rank 9", done.err)

    def test_schema_names_the_arguments(self):
        schema = self.run_program("query", SAMPLE, "--schema", expect=0).out
        self.assertRegex(schema, r"CREATE TABLE overview_steps \([^;]*\);\n-- argument arg_rank INTEGER: the rank; without it the first\n")
        self.assertTrue(re.search(r"-- argument arg_top INTEGER: how many rows \(default 15\)", schema))


if __name__ == "__main__":
    unittest.main()
