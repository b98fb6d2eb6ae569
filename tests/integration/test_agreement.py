"""One capture, one truth: pages, commands and explanations give the same numbers on every capture of the shared data."""

import collections
import csv
import unittest

import support
from test_server import ServerCase

# Folders and files that are one capture each.
CAPTURES = [
    "ascend_pt/text/level0", "ascend_pt/text/level1", "ascend_pt/db/level0", "ascend_pt/db/level1",
    "ascend_small/ascend_npu_operator_profiler/standalone_real_output",
    "kineto/hta/amd_trace", "kineto/hta/cpu_only", "kineto/hta/critical_path/alexnet", "kineto/hta/nccl_parser_config",
    "kineto/hta/ns_resolution_trace", "kineto/hta/timeline_analysis", "kineto/hta/trace_diff", "kineto/hta/triton_example",
    "kineto/tb_plugin",
]
PARTS = {"Computing": "computing_us", "Communication(Not Overlapped)": "not_overlapped_us", "Overlapped": "overlapped_us",
         "Free": "free_us", "Memory": "memory_us"}


@support.needs_shared
class Agreement(ServerCase):
    def test_on_every_capture(self):
        seen = collections.Counter()
        for name in CAPTURES:
            path = support.DATA / name
            self.assertTrue(path.exists(), name)
            with self.subTest(capture=name):
                self.check(path, seen)
        # What was compared is there: a loop over nothing agrees with everything.
        self.assertGreater(seen["steps"], 20, seen)
        self.assertGreater(seen["collectives"], 20, seen)
        self.assertGreater(seen["cluster"], 4, seen)
        self.assertGreater(seen["findings"], 10, seen)

    def check(self, path, seen):
        self.server = self.start(path)
        self.ds = self.server.wait_ready()
        self.ranks = sorted(rank["rank"] for rank in self.server.get(f"/ds/{self.ds}")[1]["ranks"])
        steps = self.steps(path, seen)
        times = self.communication(seen)
        self.findings(path, steps, seen)
        self.cluster(path, steps, times, seen)
        self.server.stop()

    def metric(self, name, table, **args):
        status, answer = self.server.post(f"/ds/{self.ds}/metric", {"name": name, "args": args})
        self.assertEqual(status, 200, answer)
        reply = answer["tables"][table]
        names = [column["name"] for column in reply["columns"]]
        return [dict(zip(names, row)) for row in reply["rows"]]

    def steps(self, path, seen):
        """`breakdown` and the Overview: the parts of each step."""
        commanded = self.rows("breakdown", path)
        shown = self.metric("overview", "steps", rank=self.ranks[0])
        self.assertEqual(len(commanded), len(shown))
        for row, page in zip(commanded, shown):
            self.assertEqual((row["Rank"], row["Step"]), (page["rank"], page["step"]))
            for column, key in PARTS.items():
                self.assertAlmostEqual(row.get(column) or 0, page[key] or 0, delta=0.0005, msg=column)
            seen["steps"] += 1
        return commanded

    def communication(self, seen):
        """The Communication page and the explanation of each collective: {(rank, step): (transit, wait)} in ms."""
        totals = collections.defaultdict(lambda: [0.0, 0.0])
        for rank in self.ranks:
            for row in self.metric("comm_durations", "operators", rank=rank):
                if row["Transit Time(ms)"] is None:
                    continue
                totals[rank, row["step"]][0] += row["Transit Time(ms)"]
                totals[rank, row["step"]][1] += row["Wait Time(ms)"]
                self.explained(rank, row, seen)
        return totals

    def explained(self, rank, row, seen):
        name = row["operator"]
        if "#" in name or seen[rank, "explained"] > 40:  # NCCL names stand for many calls
            return
        hits = self.server.post(f"/ds/{self.ds}/search", {"q": f'name="{name}"', "limit": 10})[1]["hits"]
        for hit in hits:
            if hit.get("rank", rank) != rank:
                continue
            status, why = self.server.post(f"/ds/{self.ds}/explain", {"kind": "wait", "track": hit["track"], "i": hit["i"]})
            if status != 200 or abs(hit["dur"] / 1e6 - row["Elapsed Time(ms)"]) > 0.0001:
                continue  # not the collective itself, or that of another step
            parts = {item["key"]: item["ns"] / 1e6 for item in why["items"]}
            self.assertAlmostEqual(parts.get("wait.transfer", 0), row["Transit Time(ms)"], delta=0.0001, msg=name)
            by_arrival = parts.get("wait.skew", 0) if row["source"] == "arrivals" else 0
            waited = parts.get("wait.others", parts.get("wait.others_at_least", by_arrival))
            self.assertAlmostEqual(waited, row["Wait Time(ms)"], delta=0.0001, msg=name)
            self.assertAlmostEqual(parts.get("wait.idle", 0), row["Idle Time(ms)"], delta=0.0001, msg=name)
            self.assertIn(f"wait.source_{row['source']}", parts)
            seen["collectives"] += 1
            seen[rank, "explained"] += 1

    def findings(self, path, steps, seen):
        """Findings: shares are of the step time that the Overview and SQL show; no saving is more than its category has."""
        asked = {(row["rank"], row["step"]): row["step_time_ns"] for row in self.query(path, "SELECT * FROM step_times")}
        shown = {(row["Rank"], row["Step"]): row["Step Time(us)"] for row in self.metric("overview", "step_times", rank=self.ranks[0])}
        self.assertEqual(set(asked), set(shown))
        for key, step_us in shown.items():
            self.assertAlmostEqual(asked[key] / 1000, step_us, delta=0.0005)
        for rank in self.ranks:
            own = [row for row in steps if row["Rank"] == rank]
            for row in self.metric("findings", "findings", rank=rank):
                if row["gain_us"] is None or (rank, None) not in shown:
                    continue
                self.assertAlmostEqual(row["share"], 100 * row["gain_us"] / shown[rank, None], delta=0.011, msg=row["kind"])
                most = {"exposed_communication": "Communication(Not Overlapped)", "host_bound": "Free", "launch": "Free", "dependency": "Free"}
                if row["kind"] in most:
                    self.assertLessEqual(row["gain_us"], max(step[most[row["kind"]]] for step in own) + 0.001, row["kind"])
                seen["findings"] += 1

    def cluster(self, path, steps, times, seen):
        done = self.run_program("cluster", "-m", "summary", "-d", path, "-o", self.scratch / "out", "--export_type", "text")
        table = next((self.scratch / "out").rglob("cluster_rank_steps.csv"), None)
        if done.returncode != 0 or table is None:
            return  # no capture of a cluster
        by_step = {(row["Rank"], row["Step"]): row for row in steps}
        for row in self.csv_rows(table):
            own = by_step.get((int(row["rank"]), int(row["step"]) if row["step"] else None))
            self.assertIsNotNone(own, row)
            for column, key in (("Computing", "computing(ms)"), ("Communication(Not Overlapped)", "communicationNotOverlapped(ms)"),
                                ("Free", "free(ms)")):
                self.assertAlmostEqual(own[column] / 1000, float(row[key]), delta=0.000001, msg=key)
            transit, wait = times.get((own["Rank"], own["Step"]), (0, 0))
            self.assertAlmostEqual(transit, float(row["transit(ms)"]), delta=0.001)
            self.assertAlmostEqual(wait, float(row["waitSuffered(ms)"]), delta=0.001)
            seen["cluster"] += 1

    @staticmethod
    def csv_rows(path):
        with open(path, encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))


if __name__ == "__main__":
    unittest.main()
