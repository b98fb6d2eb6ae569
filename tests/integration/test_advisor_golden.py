"""The golden cases of the advisor that are made by changing the real sample: what the reference's figures are, but for its defects."""

import csv
import json
import shutil
import unittest

from support import DATA, SHARED, Case

GOLDEN = SHARED / "golden" / "advisor"
REAL = DATA / "ascend_pt" / "text"
DB = DATA / "ascend_pt" / "db"
UNIT = SHARED / "data" / "advisor_samples" / "ut" / "advisor"
needs_real = unittest.skipUnless(GOLDEN.is_dir() and REAL.is_dir(), f"the shared data is not on this machine ({GOLDEN})")


@needs_real
class Golden(Case):
    def advise(self, path, *words, dimension="all"):
        return json.loads(self.run_program("advisor", dimension, "-d", path, "--json", *words, expect=0).out)

    def sample(self):
        job = self.scratch / "job"
        for rank in (0, 1):
            shutil.copytree(REAL / "level1" / f"rank{rank}_ascend_pt", job / f"rank{rank}_ascend_pt")
        return job

    @staticmethod
    def rules(answer):
        return {one["rule"] for one in answer["findings"]}

    def overall(self, answer):
        return {row["Performance Index"].strip(): row["Duration(ms)"] for row in answer["tables"]["overall rank 0"]}

    def small(self):
        """communication.json: sizes / 100 on both ranks, times x 2 on rank 1."""
        job = self.sample()
        for rank in (0, 1):
            path = job / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "communication.json"
            document = json.loads(path.read_text())
            for kinds in document.values():
                for ops in kinds.values():
                    for op in ops.values():
                        for band in op["Communication Bandwidth Info"].values():
                            band["Transit Size(MB)"] /= 100
                            band["Transit Time(ms)"] *= 2 if rank else 1
                            if band["Transit Time(ms)"]:
                                band["Bandwidth(GB/s)"] = round(band["Transit Size(MB)"] / band["Transit Time(ms)"], 4)
            path.write_text(json.dumps(document))
        return job

    def test_a_slow_link_and_small_packets(self):
        answer = self.advise(self.small())
        links = [(row["rank_id"], row["SDMA bandwidth(GB/s)"]) for row in answer["tables"]["slow link"]]
        self.assertEqual(links, [(0, 0.1565), (1, 0.0775)])
        # the reference counts 'Total Op Info', too, and has twice as much.
        self.assertAlmostEqual(answer["tables"]["slow link"][0]["SDMA size(mb)"], 8.55192192 / 2, places=6)
        self.assertAlmostEqual(answer["tables"]["slow link"][1]["SDMA time(ms)"], 110.335885375 / 2, places=3)
        found = {one["rule"]: one for one in answer["findings"]}
        self.assertIn("link_bandwidth", found)
        self.assertEqual(found["link_bandwidth"]["ranks"], [1])
        self.assertIn("packet", found)

    def test_small_packets_of_one_rank(self):
        answer = self.advise(self.small() / "rank0_ascend_pt")
        packet = next(rows for title, rows in answer["tables"].items() if title.startswith("packet"))
        # the reference counts 5 operations and 54.631 ms.
        self.assertEqual([(row["SDMA total count"], row["Small SDMA count"], row["Small SDMA ratio"]) for row in packet], [(4, 4, 1)])
        self.assertAlmostEqual(packet[0]["Small SDMA duration(ms)"], 54.63141175 / 2, places=3)
        contention = next(rows for title, rows in answer["tables"].items() if title.startswith("contention"))
        self.assertEqual([(row["op name"], round(row["duration(ms)"], 4)) for row in contention], [("hcom_allReduce__586_0_1", 79.0895)])
        self.assertAlmostEqual(self.overall(answer)["E2E Time"], 136.581, places=3)

    def test_kernels_that_the_other_side_does_not_have(self):
        job = self.sample()
        path = job / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
        with open(path, newline="") as file:
            head, *rows = list(csv.reader(file))
        kind = head.index("Type")
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([head] + [row for row in rows if row[kind] not in ("Relu", "MatMulV2")])
        zero, one = job / "rank0_ascend_pt", job / "rank1_ascend_pt"
        answer = self.advise(zero, "-bp", one)
        table = answer["tables"]["Kernel compare of Target and Benchmark"]
        # what only the target has is what it lost most by; the reference lists it last.
        self.assertEqual({table[0]["Kernel Type"], table[1]["Kernel Type"]}, {"Relu", "MatMulV2"})
        by_type = {row["Kernel Type"]: row for row in table}
        self.assertEqual((by_type["MatMulV2"]["Calls"], by_type["MatMulV2"]["Total Duration(us)"]), (8, 921.498))
        self.assertEqual((by_type["NLLLossGrad"]["Total Duration(us)"], by_type["TransData"]["Calls"]), (8.4, 57))
        back = self.advise(one, "-bp", zero)["tables"]["Kernel compare of Target and Benchmark"]
        self.assertEqual({row["Kernel Type"] for row in back[-2:]}, {"Relu", "MatMulV2"})
        self.assertEqual({row["Total Duration(us)"] for row in back[-2:]}, {0})

    def test_level_0(self):
        answer = self.advise(REAL / "level0" / "rank0_ascend_pt")
        for name, ms in (("Computing Time", 8.827), ("Uncovered Communication Time", 81.516), ("Free Time", 25.908), ("E2E Time", 116.251)):
            self.assertAlmostEqual(self.overall(answer)[name], ms, places=3, msg=name)
        self.assertLessEqual({"environment", "overall"}, self.rules(answer))
        self.assertNotIn("dynamic_shape", self.rules(answer))  # a false alarm of the reference

    def test_parts_of_it(self):
        rank = REAL / "level1" / "rank0_ascend_pt"
        computation, schedule, everything = (self.rules(self.advise(rank, dimension=one)) for one in ("computation", "schedule", "all"))
        self.assertNotIn("dispatch", computation)
        self.assertIn("dispatch", schedule)
        self.assertIn("core_performance", computation)
        self.assertNotIn("core_performance", schedule)
        self.assertLessEqual({"overall", "environment"}, computation & schedule)
        self.assertLessEqual(computation | schedule, everything)

    def test_databases(self):
        answer = self.advise(DB / "level1" / "rank0_ascend_pt") if (DB / "level1" / "rank0_ascend_pt").is_dir() else self.advise(DB / "level1")
        self.assertLessEqual({"overall", "environment", "dispatch"}, self.rules(answer))  # the reference ignores their variables
        self.assertAlmostEqual(self.overall(answer)["Computing Time"], 8.903, places=2)

    def test_stages_of_eight_ranks(self):
        """5.3, 3.2: of each stage the rank that computes longest."""
        head = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Communication(Not Overlapped and Exclude Receive),Preparing"
        for rank in range(8):
            folder = f"pp/rank{rank}_ascend_pt"
            self.write(f"{folder}/profiler_info_{rank}.json", json.dumps({"rank_id": rank}))
            groups = {f"pp{rank % 4}": {"group_name": "pp", "group_rank": rank // 4, "global_ranks": [rank % 4, rank % 4 + 4]}}
            self.write(f"{folder}/profiler_metadata.json", json.dumps({"parallel_group_info": groups, "distributed_args": {
                "world_size": 8, "rank": rank, "pipeline_model_parallel_size": 2, "tensor_model_parallel_size": 1, "data_parallel_size": 4}}))
            computing = 80000 + 5000 * (rank % 4)
            self.write(f"{folder}/ASCEND_PROFILER_OUTPUT/step_trace_time.csv",
                       f"{head}\n1,{computing},20000,0,20000,{100000 - computing},{computing + 20000},0,20000,0\n")
        answer = self.advise(self.scratch / "pp")
        slow = [one["ranks"] for one in answer["findings"] if one["rule"] == "stage_compute"]
        self.assertEqual(sorted(slow), [[3], [7]])

    def test_errors(self):
        rank = REAL / "level1" / "rank0_ascend_pt"
        (self.scratch / "empty").mkdir()
        for words, code in ((["-d", REAL / "level1", "-bp", rank], 1), (["-d", self.scratch / "empty"], 1),
                            (["-d", self.scratch / "absent"], 2), (["-d", rank, "-l", "fr"], 2)):
            with self.subTest(words=words):
                self.assertEqual(self.run_program("advisor", "all", *words, expect=code).out, "")


if __name__ == "__main__":
    unittest.main()
