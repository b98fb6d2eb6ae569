"""Whole runs against each other: baselines, verdicts and the gate, on simulated jobs with planted changes."""

import csv
import json
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from support import ROOT, SAMPLE, Case

STEPS = 12


class CompareGate(Case):
    def job(self, name, *words, ranks=4, seed=1):
        folder = self.scratch / name
        subprocess.run([sys.executable, "-B", ROOT / "tools/synth_cluster.py", folder, "--ranks", str(ranks), "--tp", "2",
                        "--steps", str(STEPS), "--seed", str(seed), "--jobs", "1", *words], check=True, stdout=subprocess.DEVNULL)
        return folder

    def baseline(self, *words, expect=0):
        return self.run_program("baseline", *words, "--dir", self.scratch / "baselines", expect=expect)

    def check(self, path, *rules, options=(), expect=0):
        words = [word for rule in rules for word in ("--fail-on", rule)]
        return self.baseline("check", "old", path, *words, *options, expect=expect)

    def test_an_unchanged_job_passes_and_a_slow_rank_does_not(self):
        self.baseline("save", "old", self.job("old"))
        rules = ("e2e>3%", "computing>3%", "rank:*>3%", "comm:*>10%")
        done = self.check(self.job("same", seed=2), *rules)
        self.assertNotIn("regression", done.out)
        slow = self.job("slow", "--slow-rank", "2:1.05", seed=3)
        done = self.check(slow, *rules, expect=3)
        self.assertIn("'rank:*>3%' is breached by rank 2", done.err)
        ranks = done.out[done.out.index("Own time of ranks"):].splitlines()
        self.assertIn("paired by parallel position", ranks[0])
        self.assertIn("rank 2 ", ranks[3], "the slow rank is first")
        self.assertIn("regression", ranks[3])
        self.assertNotIn("regression", ranks[4])

    def test_a_job_of_another_size_is_compared_by_role(self):
        self.baseline("save", "old", self.job("old"))
        done = self.check(self.job("large", ranks=8, seed=2), "computing>3%")
        self.assertIn("new:  ", done.out)
        self.assertIn("8 ranks", done.out)

    def test_the_whole_job_is_in_every_form(self):
        old, slow = self.job("old", ranks=18), self.job("slow", "--slow-rank", "5:1.05", ranks=18, seed=2)
        done = self.run_program("compare", "-bp", old, "-d", slow, "-o", self.scratch / "out", "--output_name", "r", "--format", "csv,json,html,xlsx,db", expect=0)
        self.assertIn("has 18 ranks; rank 0 is compared", done.err)
        with open(self.scratch / "out" / "r" / "RunRanks.csv", newline="", encoding="utf-8") as file:
            ranks = list(csv.DictReader(file))
        self.assertEqual(len(ranks), 18)
        self.assertRegex(ranks[0]["Name"], "^rank 5 ")
        self.assertEqual([row["Verdict"] for row in ranks[:2]], ["regression", "within noise"])
        tables = json.loads((self.scratch / "out" / "r.json").read_text())
        self.assertEqual(len(tables["RunRanks"]), 18)
        self.assertGreater(len(tables["RunChanges"]), 3)
        self.assertIn("e2e", [row["Name"] for row in tables["RunOverview"]])
        self.assertGreater(len(tables["RunGroups"]), 4)
        page = (self.scratch / "out" / "r.html").read_text(encoding="utf-8")
        for words in ("The whole job", "整个作业", "Own time of ranks", "各卡自身耗时", "rank 5 "):
            self.assertIn(words, page)

    def test_how_honest_the_gate_is_on_a_run(self):
        self.baseline("save", "old", self.job("old", "--steps", "40", seed=4))
        done = self.baseline("noise", "old", "--json", "--fail-on", "e2e>1%", "--fail-on", "rank:*>2%", "--fail-on", "kernel:Nope>1%")
        rows = json.loads(done.out)
        self.assertEqual([row["Rule"] for row in rows], ["e2e>1%", "rank:*>2%", "kernel:Nope>1%", "(any of them)"])
        self.assertIn("200 comparisons of 20 steps with 20 others of the same run", done.err)
        self.assertLessEqual(rows[-1]["False Alarms"], 2)
        self.assertLessEqual(rows[0]["Smallest Change Found(%)"], 10)
        self.assertIsNone(rows[2]["Smallest Change Found(%)"])
        self.baseline("noise", "old", "--fail-on", "e2e", expect=2)
        self.baseline("noise", "old", "--steps", "-1", expect=2)
        self.baseline("noise", expect=2)

    def test_reports_for_ci(self):
        self.baseline("save", "old", self.job("old"))
        slow = self.job("slow", "--slow-rank", "0:1.2", seed=2)
        junit, page = self.scratch / "gate.xml", self.scratch / "gate.md"
        self.check(slow, "e2e>3%", "kernel:None*>1%", "preparing>50%", options=("--junit", junit, "--markdown", page), expect=3)
        suite = ElementTree.parse(junit).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("skipped")), ("3", "1", "1"))
        self.assertEqual(suite[0].get("name"), "e2e>3%")
        self.assertEqual(suite[0][0].tag, "failure")
        self.assertIn("**Gate: breached**", page.read_text())
        self.assertIn("| part | e2e |", page.read_text())

    def test_few_steps_decide_nothing(self):
        self.baseline("save", "old", SAMPLE)
        self.assertEqual(self.check(SAMPLE, "e2e>3%").err.count("cannot be decided"), 0)
        shown = self.run_program("baseline", "list", "--json", "--dir", self.scratch / "baselines", expect=0)
        [row] = json.loads(shown.out)
        self.assertEqual((row["Name"], row["Ranks"], row["Steps"]), ("old", 2, 3))
        self.assertLess(row["Size(KB)"], 10)

    def test_exit_codes_and_messages(self):
        self.baseline("save", "old", SAMPLE)
        self.assertIn("--fail-on 'e2e': there is no '>'", self.check(SAMPLE, "e2e", expect=2).err)
        self.assertIn("matches nothing", self.check(SAMPLE, "kernel:Nope*>1%").err)
        self.check(SAMPLE, "kernel:Nope*>1%", options=("--strict",), expect=2)
        self.assertIn("no baseline 'odl'", self.baseline("check", "odl", SAMPLE, expect=1).err)
        self.baseline("check", "old", self.scratch / "missing", expect=1)
        self.baseline("check", "old", expect=2)
        self.baseline("save", "../x", SAMPLE, expect=2)
        self.check(SAMPLE, "e2e>3%", options=("--junit", self.scratch / "no" / "folder.xml"), expect=1)
        self.check(SAMPLE, options=("--noise-level", "200%"), expect=2)
        file = self.scratch / "baselines" / "old.baseline"
        file.write_bytes(file.read_bytes()[:-3])
        self.assertIn("damaged", self.check(SAMPLE, expect=1).err)
        self.assertIn("damaged", self.baseline("list").err)
        self.baseline("remove", "old")
        self.baseline("remove", "old", expect=3)

    def test_a_rank_that_cannot_be_read_is_named(self):
        self.baseline("save", "old", self.job("old", "--format", "db"))
        damaged = self.job("damaged", "--format", "db", "--damaged", "1")
        done = self.check(damaged)
        self.assertIn("steplens: rank 1: ", done.err)
        self.assertIn("of its records could not be used (ascend_pytorch_profiler_1.db: ", done.err)
        self.check(damaged, options=("--strict",), expect=1)


if __name__ == "__main__":
    unittest.main()
