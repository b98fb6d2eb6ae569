"""`verify` holds on sound captures and shows the row that breaks a rule."""

import json
import shutil
import unittest

from support import DATA, SAMPLE, Case, needs_shared


class Verify(Case):
    def test_sample_holds(self):
        self.run_program("verify", SAMPLE, expect=0)

    @needs_shared
    def test_real_captures_hold(self):
        for folder in sorted(DATA.glob("ascend_pt/*/*/*_ascend_pt")):
            with self.subTest(folder=str(folder.relative_to(DATA))):
                done = self.run_program("verify", "--json", folder)
                broken = [check["id"] for rank in json.loads(done.out)["ranks"] for check in rank["checks"] if check["state"] == "broken"]
                # Level0 text: the CANN slices are pruned from the trace but the flows that start on them stay.
                documented = ["trace.dangling_flows"] if "text/level0" in str(folder) else []
                self.assertEqual(broken, [id for id in documented if id in broken])
                self.assertEqual(done.returncode, 1 if broken else 0)

    @needs_shared
    def test_real_gpu_traces_hold(self):
        applied = set()
        for path in sorted((DATA / "kineto").rglob("*trace*.json.gz")) + sorted((DATA / "kineto/hta").rglob("*.json.gz")):
            with self.subTest(path=str(path.relative_to(DATA))):
                done = self.run_program("verify", "--json", "--no-cache", path)
                checks = [check for rank in json.loads(done.out)["ranks"] for check in rank["checks"]]
                self.assertEqual([check for check in checks if check["state"] == "broken"], [])
                applied |= {check["id"] for check in checks if check["state"] == "holds"}
        self.assertLessEqual({"kernels.stream_overlap", "kernels.launch_order", "kernels.launches", "copies.size", "breakdown.parts"}, applied)

    def test_lists_what_is_broken_and_everything_when_asked(self):
        short = self.run_program("verify", SAMPLE, expect=0).out
        ranks = len(json.loads(self.run_program("verify", "--json", SAMPLE, expect=0).out)["ranks"])
        self.assertEqual(len(short.splitlines()), 2 * ranks)
        every = self.run_program("verify", "--all", SAMPLE, expect=0).out
        self.assertIn(" steps.values ", every)
        self.assertEqual([line for line in every.splitlines() if " hold, " in line or line.startswith("Rank")], short.splitlines())

    def test_a_changed_number_is_found(self):
        shutil.copytree(SAMPLE, self.scratch / "job")
        path = self.scratch / "job/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/step_trace_time.csv"
        lines = path.read_text().splitlines()
        cells = lines[1].split(",")
        column = lines[0].split(",").index("Computing")
        cells[column] = str(float(cells[column]) + 100)
        path.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
        done = self.run_program("verify", "--json", self.scratch / "job", expect=1)
        checks = {check["id"]: check for check in json.loads(done.out)["ranks"][0]["checks"]}
        self.assertEqual(checks["1"]["state"], "broken")
        self.assertTrue(checks["1"]["offending"])
        out = self.run_program("verify", self.scratch / "job", expect=1).out
        self.assertIn("BROKEN 1 ", out)
        self.assertIn("step_trace_time row 1", out)
        self.assertNotIn("  ok ", out)


if __name__ == "__main__":
    unittest.main()
