"""Text, db and raw device data of one workload give the same advice: the same findings with the same numbers."""

import json
import shutil
import sys
import unittest

from sample_db import write_db
from support import ROOT, SAMPLE, Case

sys.path.insert(0, str(ROOT / "tools"))
import make_prof  # noqa: E402
import measure_advice  # noqa: E402

# Rules about what one form alone records, with the reason.
ONE_FORM_ONLY = {
    "data_hygiene",   # says what was not recorded
    "dynamic_shape",  # the simulator's databases have no column opState
    "overall",        # the window of the exporter's own lanes, which text alone has
}
# Savings by a replay of the host's timeline: a db has the calls of CANN with their connections, which text does not show.
HOST_TIMELINE = {"kernel_drift", "expert_balance"}


class Forms(Case):
    def findings(self, path, digits=6):
        """Without places and SQL, whose row numbers are those of a form."""
        answer = json.loads(self.run_program("advisor", "all", "-d", path, "--json", expect=0).out)
        found = {}
        for one in answer["findings"]:
            if one["rule"] in ONE_FORM_ONLY:
                continue
            numbers = [one["saving_ms_per_step"], one["bound_ms_per_step"]]
            numbers = [None if ms is None else round(ms, digits) for ms in (numbers[1:] if one["rule"] in HOST_TIMELINE else numbers)]
            # Forms may differ in the step they name where two are alike.
            reason = "" if one["rule"] == "slow_rank" else one["reason"]
            found[one["rule"], tuple(one["ranks"]), one["subject"]] = (reason, one["advice"], one["priority"], one["confidence"], *numbers)
        return found, round(answer["step_ms"], digits)

    def test_the_sample_as_text_and_as_db(self):
        db = self.scratch / "db"
        for folder in sorted(SAMPLE.iterdir()):
            write_db(folder, db)
        text, step_ms = self.findings(SAMPLE)
        self.assertTrue(text)
        self.assertEqual(self.findings(db), (text, step_ms))

    def test_a_simulated_cluster_as_text_and_as_db(self):
        for fault, value in (("slow-rank", "2:1.5"), ("small-packets", "HCCS"), ("slow-nic", "1:4"), ("host-bound", "3"), ("imbalance", "0.8")):
            with self.subTest(fault=fault):
                found = {}
                for form in ("text", "db"):
                    folder = self.scratch / f"{fault}_{form}"
                    measure_advice.synthesise(folder, ["--ranks", 4, "--ep", 2, "--steps", 3, "--level", 1, "--seed", 3, "--timeline",
                                                       "--format", form, f"--{fault}", value])
                    found[form] = self.findings(folder)
                self.assertTrue(found["text"][0])
                self.assertEqual(found["text"], found["db"])

    def test_raw_device_data_and_its_results(self):
        for options in (["--steps", 3, "--ops", 40], ["--ops", 30, "--metrics", "PipeUtilization", "--seed", 7]):
            with self.subTest(options=options):
                out = self.scratch / "made"
                shutil.rmtree(out, ignore_errors=True)
                folder = out / make_prof.make([out, *options])[0]["folder"]
                raw = self.findings(folder, digits=3)  # csv files have ratios of three digits
                self.assertTrue(raw[0])
                self.run_program("analyse", folder, expect=0)
                for kind in ("text", "db"):
                    copy = self.scratch / kind / folder.name
                    shutil.rmtree(copy.parent, ignore_errors=True)
                    copy.mkdir(parents=True)
                    if kind == "text":
                        shutil.move(folder / "mindstudio_profiler_output", copy)
                    else:
                        shutil.move(next(folder.glob("msprof_*.db")), copy)
                    self.assertEqual(self.findings(copy, digits=3), raw, kind)


if __name__ == "__main__":
    unittest.main()
