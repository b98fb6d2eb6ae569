"""The synthetic clusters of tools/synth_cluster.py: the same bytes every time, sound files, and faults that show."""

import json
import sqlite3
import subprocess
import sys
import unittest

from support import ROOT, Case, snapshot

SHAPE = ("--ranks", "16", "--tp", "4", "--pp", "2", "--steps", "2")


class SynthCluster(Case):
    def generate(self, name, *options, expect=0):
        folder = self.scratch / name
        done = subprocess.run([sys.executable, "-B", str(ROOT / "tools/synth_cluster.py"), str(folder), *options],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        self.assertEqual(len((done.stdout + done.stderr).splitlines()), 1)
        self.said = done.stdout + done.stderr
        return folder

    def output(self, folder, rank):
        [info] = folder.glob(f"*/profiler_info_{rank}.json")
        return info.parent / "ASCEND_PROFILER_OUTPUT"

    def communication(self, folder, rank):
        return json.loads((self.output(folder, rank) / "communication.json").read_text())

    def waits(self, folder, ranks, step):
        """[{rank: (elapse ms, wait ms)}] of the collectives that all `ranks` take part in."""
        seen = {}
        for rank in ranks:
            for key, op in self.communication(folder, rank)[step]["collective"].items():
                times = op["Communication Time Info"]
                seen.setdefault(key, {})[rank] = times["Elapse Time(ms)"], times["Wait Time(ms)"]
        return [times for key, times in seen.items() if len(times) == len(ranks) and key != "Total Op Info"]

    def test_the_seed_decides_every_byte(self):
        for form in ("text", "db"):
            first = snapshot(self.generate(f"{form}1", *SHAPE, "--format", form, "--timeline", "--jobs", "1"))
            self.assertEqual(first, snapshot(self.generate(f"{form}2", *SHAPE, "--format", form, "--timeline", "--jobs", "2")))
            self.assertNotEqual(first, snapshot(self.generate(f"{form}3", *SHAPE, "--format", form, "--timeline", "--seed", "2")))

    def test_every_form_loads_and_its_files_agree(self):
        for options in (("--format", "text", "--timeline"), ("--format", "db"), ("--format", "mixed", "--ep", "2"),
                        ("--format", "text", "--timeline", "--level", "0"), ("--format", "db", "--level", "none"),
                        ("--format", "db", "--cp", "2", "--pipeline", "single", "--clock-skew", "9000")):
            with self.subTest(options=options):
                folder = self.generate("_".join(options), *SHAPE, *options, "--timeline")
                ranks = self.info(folder)["ranks"]
                self.assertEqual([rank["rank"] for rank in ranks], list(range(16)))
                self.assertFalse(any(rank["issues"] for rank in ranks))
                self.run_program("verify", folder, expect=0)

    def test_text_and_db_say_the_same(self):
        rows = [self.rows("breakdown", self.generate(form, *SHAPE, "--format", form, "--timeline")) for form in ("text", "db")]
        self.assertEqual(len(rows[0]), 32)
        self.assertEqual(*rows)

    def test_everyone_waits_for_the_slow_rank(self):
        folder = self.generate("slow", *SHAPE, "--slow-rank", "5:2", "--clock-skew", "9000")
        self.assertIn("slow-rank 5:2", self.said)
        calls = self.waits(folder, range(4, 8), "step10")
        self.assertEqual(len(calls), 7)  # two per layer, and the one of all ranks
        for times in calls:
            self.assertEqual(times[5][1], 0)
            for elapse, wait in times.values():
                self.assertAlmostEqual(elapse - times[5][0], wait, places=6)
            self.assertGreater(times[4][1], 1)

    def test_a_slow_link_shows_in_the_matrix_of_its_source(self):
        folder = self.generate("link", *SHAPE, "--slow-link", "0-1:5")
        matrix = json.loads((self.output(folder, 0) / "communication_matrix.json").read_text())
        for key, links in matrix["step10"]["collective"].items():
            if "-total@" in key and "0-2" in links and len(links) == 4:
                self.assertLess(links["0-1"]["Bandwidth(GB/s)"] * 4, links["0-2"]["Bandwidth(GB/s)"])
                return
        self.fail("no matrix of the four tensor parallel ranks")

    def test_small_packets_and_frequency_drops_are_recorded(self):
        folder = self.generate("db", *SHAPE, "--format", "db", "--small-packets", "RDMA", "--freq-drop", "3")
        with sqlite3.connect(self.output(folder, 3) / "analysis.db") as db:
            ratios = dict(db.execute("SELECT transport_type, max(large_packet_ratio) FROM CommAnalyzerBandwidth GROUP BY 1"))
        self.assertEqual(ratios["RDMA"], 0)
        self.assertEqual(ratios["HCCS"], 1)
        for rank, expected in ((2, {1800}), (3, {800, 1800})):
            with sqlite3.connect(self.output(folder, rank) / f"ascend_pytorch_profiler_{rank}.db") as db:
                self.assertEqual({freq for freq, in db.execute("SELECT freq FROM AICORE_FREQ")}, expected)

    def test_missing_damaged_and_duplicate_ranks(self):
        folder = self.generate("holes", *SHAPE, "--missing", "3,5-6", "--missing-steps", "1:11", "--damaged", "2",
                               "--duplicate", "4")
        captured = sorted(int(path.stem.rpartition("_")[2]) for path in folder.glob("*/profiler_info_*.json"))
        self.assertEqual(captured, [0, 1, 2, 4, 4, 7, *range(8, 16)])
        self.assertEqual(list(self.communication(folder, 1)), ["step10"])
        self.assertRaises(json.JSONDecodeError, self.communication, folder, 2)

    def test_nonsense_is_refused_in_one_sentence(self):
        for options, said in ((("--ranks", "10", "--tp", "4"), "does not divide 10 ranks"),
                              (("--ranks", "16", "--dp", "3"), "is not the number of ranks"),
                              ((*SHAPE, "--slow-rank", "16"), "there is no rank 16"),
                              ((*SHAPE, "--slow-rank", "1:0.5"), "below 1"),
                              ((*SHAPE, "--late-group", "xp=1"), "not of the form dp=1"),
                              ((*SHAPE, "--missing-steps", "1:12"), "there is no step 12"),
                              ((*SHAPE, "--imbalance", "0.5"), "needs experts"),
                              ((*SHAPE, "--missing", "0-15"), "no rank would be left"),
                              (("--ranks", "x"), "invalid int value"),
                              (("--ranks", "1", "--slow-nic", "0"), "has no links")):
            self.generate("refused", *options, expect=2)
            self.assertIn(said, self.said)
        self.assertFalse((self.scratch / "refused").exists())
        self.write("full/file", "x")
        self.generate("full", *SHAPE, expect=2)
        self.generate("full", *SHAPE, "--force")


if __name__ == "__main__":
    unittest.main()
