"""A small sample of tools/measure_advice.py: a planted cause is named first, its saving is right, and clean twins stay clean."""

import dataclasses
import random
import sys
import unittest

from step_simulator import Settings, simulate, write
from support import PROGRAM, ROOT, Case

sys.path.insert(0, str(ROOT / "tools"))
import measure_advice  # noqa: E402

# Cause, the job without it, and what plants it. The last collective of "exposed" is short: its twin does not overlap it either.
PLANTED = (
    ("item", Settings(operator=120), {"items": 8}), ("tiny", Settings(ranks=2), {"tiny": 400}), ("cast", Settings(), {"casts": 200}),
    ("alloc", Settings(), {"allocations": 12}), ("jitter", Settings(steps=6), {"jitter": 10000}), ("loader", Settings(loader=20), {"loader": 6000}),
    ("buckets", Settings(ranks=2, buckets=40, is_merged=True), {"is_merged": False}), ("gc", Settings(), {"collections": 3000}),
    ("exposed", Settings(ranks=2, half_transfer=3000, transfer=60), {"is_overlapped": False}), ("again", Settings(), {"is_again": True}),
    ("slow kernels", Settings(ranks=3), {"slow_rank": 1.5}), ("slow host", Settings(ranks=2), {"slow_host": 12.0}),
)
NEAR = 0.05  # how far a predicted saving may be from the truth


class Planted(Case):
    def judged(self, cause, planted, clean):
        def make(folder):
            return (write(planted, folder) - simulate(clean)[1]) / 1000

        return measure_advice.judge(PROGRAM, measure_advice.Case(cause, "gpu", cause, make), self.scratch / cause.replace(" ", "_"))

    def test_the_cause_comes_first_with_its_saving(self):
        for cause, clean, fault in PLANTED:
            with self.subTest(cause=cause):
                row = self.judged(cause, dataclasses.replace(clean, **fault), clean)
                self.assertTrue(row["is_first"], row["found"])
                if row["saving_error"] is not None:
                    self.assertLess(row["saving_error"], NEAR)

    def test_a_simulated_cluster(self):
        cases = [case for case in measure_advice.cluster_cases(random.Random(1), 1) if case.name.startswith("cluster-0-8-")]
        self.assertGreater(len(cases), 9)
        for case in cases:
            with self.subTest(case=case.name):
                row = measure_advice.judge(PROGRAM, case, self.scratch / case.name)
                if not case.cause:
                    self.assertEqual(row["found"], [])
                    continue
                self.assertTrue(row["is_first"], row["found"])
                self.assertLess(row["saving_error"], NEAR)

    def test_clean_jobs_have_no_findings(self):
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                case = measure_advice.Case("clean", "gpu", "", lambda folder, ranks=ranks: write(Settings(ranks=ranks), folder) and None)
                row = measure_advice.judge(PROGRAM, case, self.scratch / f"clean{ranks}")
                self.assertEqual(row["found"], [])

    def test_text_and_db_blame_the_same_rank_for_as_much(self):
        findings = {}
        for form in ("text", "db"):
            folder = self.scratch / f"same_{form}"
            measure_advice.synthesise(folder, ["--ranks", 4, "--tp", 2, "--steps", 3, "--level", 1, "--seed", 3, "--timeline", "--format", form,
                                               "--slow-rank", "2:1.5"])
            findings[form] = [(one["rule"], one["ranks"], one["saving_ms_per_step"]) for one in
                              measure_advice.advise(PROGRAM, folder)["findings"] if one["rule"] in ("late_rank", "slow_rank")]
        self.assertTrue(findings["text"])
        self.assertEqual(findings["text"], findings["db"])


if __name__ == "__main__":
    unittest.main()
