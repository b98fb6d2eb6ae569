"""Raw device data whose truth is known (tools/make_prof.py): read, exported as text and db, and read again.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_prof_made.py
"""

import csv
import json
import shutil
import struct
import sys
import unittest

from support import ROOT, Case

sys.path.insert(0, str(ROOT / "tools"))
import make_prof  # noqa: E402

SHAPES = (["--steps", 3, "--ops", 9], ["--level", "l0"], ["--chip", 1], ["--chip", 15], ["--wrap", 5, "--ops", 13], ["--no-comm", "--metrics", "Memory"],
          ["--metrics", "ArithmeticUtilization", "--seed", 7], ["--ranks", 2, "--ops", 3])


class Made(Case):
    def make(self, *options):
        """The truth of each rank, and the PROF folder."""
        out = self.scratch / "made"
        shutil.rmtree(out, ignore_errors=True)
        return [(truth, out / truth["folder"]) for truth in make_prof.make([out, *options])]

    def for_each_shape(self, check):
        for options in SHAPES:
            with self.subTest(options=options):
                for truth, folder in self.make(*options):
                    check(truth, folder)

    def exported(self, folder):
        """The results alone, text and db, each as a capture of its own."""
        self.run_program("analyse", folder, expect=0)
        copies = {}
        for kind in ("text", "db"):
            copy = self.scratch / kind / folder.name
            shutil.rmtree(copy.parent, ignore_errors=True)
            copy.mkdir(parents=True)
            if kind == "text":
                shutil.move(folder / "mindstudio_profiler_output", copy)
            else:
                shutil.move(next(folder.glob("msprof_*.db")), copy)
            copies[kind] = copy
        shutil.rmtree(folder / "analyze", ignore_errors=True)
        return copies

    def test_what_was_made_is_read(self):
        def check(truth, folder):
            rows = self.query(folder, "select name, begin_ns, dur_ns, stream, task_id, block_dim, core from kernels order by begin_ns")
            kernels = [row for row in rows if row["core"] != "COMMUNICATION"]
            self.assertEqual([(row["name"], row["begin_ns"], row["dur_ns"], row["stream"], row["task_id"], row["block_dim"]) for row in kernels],
                             [(row["name"], row["begin_ns"], row["dur_ns"], row["stream"], row["task_id"], row["blocks"]) for row in truth["kernels"]])
            ops = self.query(folder, "select name, begin_ns, dur_ns from comm_ops order by begin_ns")
            self.assertEqual([(row["begin_ns"], row["dur_ns"]) for row in ops], [(row["begin_ns"], row["dur_ns"]) for row in truth["collectives"]])
            for row, expected in zip(ops, truth["collectives"]):
                self.assertRegex(row["name"], rf"^{expected['name']}_.*_{expected['number']}_1$")
            calls = self.query(folder, "select count(*) as n from slices s join tracks t on t.id = s.track_id join tracks p on p.id = t.parent_id where p.name = 'CANN'")
            self.assertEqual(calls[0]["n"], truth["calls"])
            flows = self.query(folder, "select f.from_ns, f.to_ns from flows f where kind = 'HostToDevice'")
            arrows = {(row["from_ns"], row["to_ns"]) for row in flows}
            for row in truth["kernels"]:
                self.assertIn((row["launch_ns"], row["begin_ns"]), arrows)

        self.for_each_shape(check)

    def numbers(self, folder):
        """What breakdown and ops say; results do not know which rank they are of."""
        return [{key: value for key, value in row.items() if key not in ("Rank", "rank")} for command in ("breakdown", "ops") for row in self.rows(command, folder)]

    def test_raw_text_and_db_say_the_same(self):
        same = ("select name, begin_ns, dur_ns, stream, task_id from kernels order by begin_ns, name",
                "select name, group_name, begin_ns, dur_ns from comm_ops order by begin_ns",
                "select s.begin_ns, s.dur_ns, s.name, t.tid from slices s join tracks t on t.id = s.track_id join tracks p on p.id = t.parent_id "
                "where p.name in ('CANN', 'Ascend Hardware') order by 1, 2, 3, 4")
        flows = "select f.kind, f.from_ns, f.to_ns from flows f order by 1, 2, 3"
        copies = "select begin_ns from device_tasks where type = 'MEMCPY_ASYNC'"

        def check(_, folder):
            expected = [self.query(folder, sql) for sql in same]
            arrows = {tuple(row.values()) for row in self.query(folder, flows)}
            to_copies = {row["begin_ns"] for row in self.query(folder, copies)}
            numbers = self.numbers(folder)
            for kind, copy in self.exported(folder).items():
                for sql, rows in zip(same, expected):
                    self.assertEqual(self.query(copy, sql), rows, f"{kind}: {sql}")
                found = {tuple(row.values()) for row in self.query(copy, flows)}
                self.assertEqual({row for row in found - arrows if kind != "text" or row[2] not in to_copies}, set(), kind)  # the text has those, too
                self.assertEqual(arrows - found, set(), kind)
                self.assertEqual(self.numbers(copy), numbers, kind)

        self.for_each_shape(check)

    # Questions that are not about the run: verify compares files, and findings name cores that are not full, whose number only raw data say.
    OTHER = {"verify", "findings"}
    # Numbers of rows; what a row is says the rest of it.
    OF_THE_FORM = {"source"}  # "tasks" of raw data, "results" of files made of them
    ROW_NUMBERS = {"id", "parent", "track", "comm_op", "Slice Id", "Parent Slice Id"}
    # A db has no blocks of collectives, no use of the cube unit, and no rows for kinds of links without traffic.
    NOT_IN_DB = {"Block Num", "Mix Block Num", "block_dim", "mix_block_dim", "Model ID", "model_id", "cube_utilization(%)"}

    def answers(self, path, left_out=()):
        """Every question that needs no argument, with the rows of its answer in any order."""
        found = {}
        for line in self.run_program("ask", "--list", expect=0).out.splitlines():
            name = line.split(" ")[0]
            done = self.run_program("ask", name, path, "--json") if name and name not in self.OTHER else None
            if done is None or done.returncode != 0:
                continue
            rows = json.JSONDecoder().raw_decode(done.out)[0] if done.out else []
            # A db has times of counters in ns: the last digits of a double differ.
            rows = [{key: float(f"{value:.12g}") if isinstance(value, float) else value for key, value in row.items()
                     if key not in self.ROW_NUMBERS and key not in self.OF_THE_FORM and key not in left_out} for row in rows]
            if name == "comm_bandwidth" and left_out:
                rows = [row for row in rows if row["Transit Size(MB)"] != 0]
            found[name] = sorted(json.dumps(row) for row in rows)
        return found

    def test_the_viewers_numbers_are_those_of_the_results(self):
        """Every question behind the pages has the same answer from raw data and from the text and db made of them."""
        made = self.scratch / "made"
        make_prof.make([made, "--framework", "--steps", 3, "--ops", 9])
        raw = next(made.glob("*_ascend_pt"))
        for kind, left_out in (("text", ()), ("db", self.NOT_IN_DB)):
            expected = self.answers(raw, left_out)
            self.assertGreater(sum(bool(rows) for rows in expected.values()), 30)
            copy = self.scratch / kind / raw.name
            shutil.copytree(raw, copy)
            self.run_program("analyse", copy, "--export-type", kind, expect=0)
            shutil.rmtree(copy / "FRAMEWORK")
            for prof in copy.glob("PROF_*"):
                shutil.rmtree(prof)
            found = self.answers(copy, left_out)
            self.assertEqual(found.keys(), expected.keys())
            for name, rows in expected.items():
                with self.subTest(kind=kind, question=name):
                    self.assertEqual(found[name], rows)

    def test_the_viewers_numbers_of_a_prof_folder_alone(self):
        # op_summary has three decimals, and the text timeline calls a copy that nobody described 'other'.
        rounded = {"text": {"operator_details", "memcpy_overall"}, "db": set()}
        for options in (["--steps", 3, "--ops", 9], ["--chip", 15]):
            _, folder = self.make(*options)[0]
            expected = {"text": self.answers(folder), "db": self.answers(folder, self.NOT_IN_DB)}
            for kind, copy in self.exported(folder).items():
                found = self.answers(copy, self.NOT_IN_DB if kind == "db" else ())
                for name in expected[kind].keys() - rounded[kind]:
                    with self.subTest(options=options, kind=kind, question=name):
                        self.assertEqual(found[name], expected[kind][name])

    def test_results_hold_what_verify_asks(self):
        for options in SHAPES[:5]:
            with self.subTest(options=options):
                for _, folder in self.make(*options):
                    self.run_program("analyse", folder, expect=0)
                    self.run_program("verify", folder, expect=0)

    def test_damage_is_counted_and_the_rest_is_used(self):
        for kind in ("cut", "magic", "slice", "no_end", "no_host", "no_device", "back"):
            with self.subTest(damage=kind):
                for truth, folder in self.make("--damage", kind, "--ops", 12):
                    info = self.info(folder)
                    rows = self.query(folder, "select count(*) as n from kernels where core <> 'COMMUNICATION'")[0]["n"]
                    self.assertLessEqual(rows, len(truth["kernels"]))
                    if kind in ("no_end", "back"):
                        self.assertEqual(rows, len(truth["kernels"]))
                    if kind in ("cut", "magic", "slice"):
                        self.assertGreater(rows, 0)
                        self.assertTrue(info["ranks"][0]["issues"], kind)
                    done = self.run_program("analyse", folder, expect=0)
                    self.assertEqual("damaged or missing" in done.out, kind in ("cut", "magic", "slice"), done.out)

    def test_turns_of_fused_collectives(self):
        """In the viewer and in the timeline that is exported, but never counted as work of their own."""
        _, folder = self.make()[0]
        before = self.numbers(folder)
        base = make_prof.DEVICE_COUNT + 100_000
        turn = struct.pack("<7QQIHHBBB", *(base + 50 * i for i in range(7)), 0, 0, make_prof.STREAM, 7, 0, 4, 1)
        head = struct.pack("<HHIIIQ", make_prof.MAGIC, 6000, 4, 1, len(turn), base)
        (folder / "device_0" / "data" / "aicpu.data.0.slice_0").write_bytes((head + turn).ljust(256, b"\0"))
        sql = "select name, begin_ns, dur_ns from slices where name glob '* 1' order by begin_ns"
        turns = self.query(folder, sql)
        self.assertEqual([(row["name"], row["dur_ns"]) for row in turns],
                         [(f"{name} 1", 1000) for name in ("StartServer", "TaskWaitRequest", "TaskOrchestration", "TaskLaunch", "TaskExecute", "Finalize")])
        self.assertEqual(self.numbers(folder), before)
        text = self.exported(folder)["text"]
        self.assertEqual(self.query(text, sql), turns)
        self.assertEqual(self.numbers(text), before)

    def test_translations_and_links_of_the_chip(self):
        """Two families that the golden sets do not have, from their layouts."""
        _, folder = self.make()[0]
        sample = folder / "device_0" / "sample.json"
        sample.write_text(json.dumps(dict(json.loads(sample.read_text()), npuEvents="HA:0x0;SMMU:0x2,0x8a,0x8c,0x8d")))
        data = folder / "device_0" / "data"
        (data / "socpmu.data.0.slice_0").write_bytes(struct.pack("<8xHHHH8Q", 0, make_prof.STREAM, 0, 0, 1, 10, 5, 4, 0, 0, 0, 0))
        link = lambda unit, first, second: struct.pack("<HHIQHHIQ4Q", 0b011011, make_prof.STARS_MAGIC, 0, make_prof.DEVICE_COUNT + 50_000, 0, unit, 0, 0,
                                                       first, second, 0, 0)
        (data / "stars_soc_profile.data.0.slice_0").write_bytes(link(0, 7, 9) + link(1, 11, 13))
        rows = self.query(folder, 'select "TLB Hit Rate" as hits, "TLB Miss Rate" as misses, "Op Name" as name from soc_pmu')
        self.assertEqual(rows, [{"hits": 0.9, "misses": 0.1, "name": "aclnnMatMul_0"}])
        rows = self.query(folder, "select t.name, c.ts_ns, c.value from counters c join tracks t on t.id = c.track_id order by c.value")
        at = make_prof.BEGIN_UTC_NS + 1_000_000
        self.assertEqual([(row["name"], row["ts_ns"], row["value"]) for row in rows],
                         [("PA Link Rx", at, 7), ("PA Link Tx", at, 9), ("PCIE Write", at, 11), ("PCIE Read", at, 13)])

    def test_clusters_of_raw_data_and_of_results_say_the_same(self):
        raw = self.scratch / "raw"
        make_prof.make([raw, "--framework", "--ranks", 2, "--steps", 3, "--ops", 9])
        results = self.scratch / "results"
        shutil.copytree(raw, results)
        self.run_program("analyse", results, expect=0)
        for prof in results.rglob("PROF_*"):
            shutil.rmtree(prof)
        found = {}
        for folder in (raw, results):
            out = self.scratch / "out" / folder.name
            self.run_program("cluster", "-m", "all", "-d", folder, "-o", out, "--export_type", "csv", expect=0)
            found[folder.name] = {path.name: self.table(path) for path in out.rglob("*.csv") if path.parent.name != "HostInfo"}  # text names no machine
        compared = 0
        for name, rows in found["raw"].items():
            theirs = found["results"][name]
            self.assertEqual(len(theirs), len(rows), name)
            for row, other in zip(rows, theirs):
                for column in row.keys() & other.keys():
                    # A step table does not say when the host began, so shares are of the device's step there.
                    if column not in ("stepTime(ms)", "shareOfStep(%)"):
                        self.assertEqual(other[column], row[column], (name, column))
                        compared += 1
        self.assertGreater(compared, 300)

    @staticmethod
    def table(path):
        with open(path, newline="") as file:
            return list(csv.DictReader(file))

    def test_several_folders_at_once(self):
        folders = [folder for _, folder in self.make("--ranks", 2)]
        together = self.scratch / "together"
        together.mkdir()
        for folder in folders:
            shutil.move(folder, together)
        done = self.run_program("analyse", together, expect=0)
        self.assertEqual(len(done.out.splitlines()), 2)
        self.assertEqual(len(list(together.glob("PROF_*/msprof_*.db"))), 2)


if __name__ == "__main__":
    unittest.main()
