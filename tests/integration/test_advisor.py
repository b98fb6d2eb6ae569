"""`steplens advisor`: minimal captures in which one rule must fire, or must not, and the forms of the report."""

import json
import unittest

from support import SAMPLE, SHARED, Case

FIXTURES = SHARED / "golden" / "advisor" / "fixtures"
needs_fixtures = unittest.skipUnless(FIXTURES.is_dir(), f"the advisor fixtures are not on this machine ({FIXTURES})")

# Fixture -> the rule that must fire in it.
FIRES = {
    "aicfreq_pos": "frequency", "aicpu_pos": "aicpu", "retrans_pos": "retransmission", "db_schedule_pos": "dispatch",
}
# Fixture -> the rule that must not.
STAYS_QUIET = {
    "aicfreq_neg": "frequency", "retrans_neg": "retransmission", "retrans_desync_neg": "retransmission",
}


class Advisor(Case):
    def advise(self, path, *words):
        return json.loads(self.run_program("advisor", "all", "-d", path, "--json", *words, expect=0).out)

    def rules_of(self, fixture):
        return {finding["rule"] for finding in self.advise(FIXTURES / fixture / "input")["findings"]}

    @needs_fixtures
    def test_rules_fire(self):
        for fixture, rule in FIRES.items():
            with self.subTest(fixture=fixture):
                self.assertIn(rule, self.rules_of(fixture))

    @needs_fixtures
    def test_rules_stay_quiet(self):
        for fixture, rule in STAYS_QUIET.items():
            with self.subTest(fixture=fixture):
                self.assertNotIn(rule, self.rules_of(fixture))

    def test_the_document_is_complete(self):
        answer = self.advise(SAMPLE)
        self.assertEqual(answer["schema"], 1)
        self.assertGreater(answer["step_ms"], 0)
        self.assertLessEqual(answer["cumulative_saving_ms_per_step"], answer["step_ms"])
        self.assertTrue(answer["findings"])
        for finding in answer["findings"]:
            self.assertIn(finding["confidence"], ("measured", "estimated", "hint"))
            if finding["saving_ms_per_step"] is not None:
                self.assertLessEqual(finding["saving_ms_per_step"], answer["step_ms"])

    def test_reports_are_written_whole(self):
        out = self.scratch / "reports"
        self.run_program("advisor", "all", "-d", SAMPLE, "-o", out, "--format", "html,md,json", "-l", "cn", expect=0)
        self.assertEqual(sorted(path.suffix for path in out.iterdir()), [".html", ".json", ".md"])
        self.assertEqual({path.name.rsplit("_", 1)[0] for path in out.iterdir()}, {"mstt_advisor"})
        for path in out.iterdir():
            if path.suffix == ".json":
                self.assertEqual(json.loads(path.read_text())["schema"], 1)
            if path.suffix == ".md":
                self.assertTrue(path.read_text().startswith("# 调优建议"))

    def test_it_can_fail_a_pipeline(self):
        words = ("advisor", "all", "-d", SAMPLE, "--format", "none")
        has_high = any(finding["priority"] == "high" for finding in self.advise(SAMPLE)["findings"])
        self.run_program(*words, "--fail-on", "high", expect=3 if has_high else 0)
        self.run_program(*words, "--fail-on", "low", expect=3)

    def test_what_is_wrong_is_said(self):
        for words, code in ((["all"], 2), (["everything", "-d", SAMPLE], 2), (["all", "-d", self.scratch / "absent"], 3),
                            (["all", "-d", SAMPLE, "-l", "fr"], 2), (["all", "-d", SAMPLE, "--only", "data_loder"], 2),
                            (["all", "-d", SAMPLE, "--format", "pdf"], 2)):
            with self.subTest(words=words):
                done = self.run_program("advisor", *words, expect=code)
                self.assertEqual(done.out, "")
                self.assertTrue(done.err)


if __name__ == "__main__":
    unittest.main()
