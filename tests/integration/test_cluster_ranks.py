"""Ranks that are missing, incomplete or of different kinds: what is said of them, and how they come together.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_cluster_ranks.py [-k manifest]
"""

import contextlib
import json
import shutil
import sqlite3
import unittest

from support import DATA, needs_shared
from test_cluster import OUTPUT, ClusterCase, generate, rank_folder, read_table


class Coverage(ClusterCase):
    @needs_shared
    def test_groups_tell_how_many_ranks_there_are(self):
        """Two of eight ranks were captured, and no metadata says so: their links do."""
        for form in ("text", "db"):
            with self.subTest(form):
                done = self.cluster(DATA / "ascend_pt" / form / "level1", "--export_type", "db", mode="all")
                self.assertIn("2 of 8 ranks captured", done.out)
                [job] = read_table(self.out, "ClusterOverview")
                self.assertEqual((job["ranksSeen"], job["ranksExpected"]), (2, 8))
                self.assertEqual((job["callsComplete"], job["callsPartlySeen"]), (0, 4))
                [group] = read_table(self.out, "CommunicationGroupMapping")
                self.assertEqual((group["seen_ranks"], group["expected_ranks"]), (2, 8))

    def test_a_db_without_a_number_in_its_name_is_asked_for_its_rank(self):
        cluster = generate(self.scratch / "unnamed", "--format", "db")
        for folder in sorted(cluster.iterdir()):
            for path in folder.rglob("ascend_pytorch_profiler_*.db"):
                path.rename(path.with_name("ascend_pytorch_profiler.db"))
            for path in folder.glob("profiler_info*.json"):
                path.unlink()
        done = self.cluster(cluster, mode="all")
        self.assertNotIn("say which rank", done.err)
        self.assertEqual({row["rank"] for row in self.rows_of(cluster, "ClusterRankScore")}, set(range(8)))

    def test_ranks_without_the_step_are_left_out_and_counted(self):
        cluster = generate(self.scratch / "steps", "--format", "mixed", "--missing-steps", "1:11", "--missing-steps", "6:11")
        done = self.cluster(cluster, "--step_id", "11", "--export_type", "db", mode="all,hccl_sum")
        self.assertEqual(done.err.count("2 of 8 ranks have no step 11 and are left out (ranks 1, 6)"), 1, done.err)
        self.assertEqual({row["rank"] for row in read_table(self.out, "ClusterRankScore")}, {0, 2, 3, 4, 5, 7})
        self.assertEqual({row["Rank"] for row in read_table(self.out, "HcclPerRankStats")}, {0, 2, 3, 4, 5, 7})
        self.assertEqual(read_table(self.out, "ClusterFindings"), [])
        done = self.cluster(cluster, "--step_id", "12", expect=2)
        self.assertIn("there is no step 12; steps are 10, 11", done.err)

    def test_a_rank_without_communication_results_is_not_late(self):
        """At level 0 without a timeline nobody knows how long a rank waited."""
        cluster = generate(self.scratch / "one", "--format", "text")
        other = generate(self.scratch / "two", "--format", "text", "--level", "0")
        shutil.rmtree(rank_folder(cluster, 3))
        shutil.copytree(rank_folder(other, 3), cluster / rank_folder(other, 3).name)
        self.assertEqual(self.findings(cluster), [])
        said = self.cluster(cluster, mode="all").err
        self.assertEqual(said.count("1 of 8 ranks has no communication results, which need level 1 or higher (rank 3)"), 1, said)
        self.assertEqual(said.count("ranks were captured at different levels: rank 3 Level0"), 1, said)

    def test_levels_that_differ_come_together(self):
        """A rank of level 0 has its calls in the timeline, the others have results."""
        cluster = generate(self.scratch / "one", "--format", "db")
        other = generate(self.scratch / "two", "--format", "db", "--level", "0")
        whole = {row["rank"]: row["waitSuffered(ms)"] for row in self.rows_of(cluster, "ClusterRankScore")}
        shutil.rmtree(rank_folder(cluster, 3))
        shutil.copytree(rank_folder(other, 3), cluster / rank_folder(other, 3).name)
        for row in self.rows_of(cluster, "ClusterRankScore"):
            self.assertAlmostEqual(row["waitSuffered(ms)"], whole[row["rank"]], places=2)
        self.assertEqual(self.overview(cluster)["callsPartlySeen"], 0)


class Groups(ClusterCase):
    CLUSTERS = {form: ("--format", form, "--timeline", "--ep", "2") for form in ("text", "db", "mixed")}

    def test_every_form_has_the_same_groups(self):
        for mode, table, columns in (("communication_group_map", "CommunicationGroupMapping", ("group_name", "rank_set", "pg_name")),
                                     ("hccl_sum", "HcclGroupNameMap", ("GroupName", "Ranks")),
                                     ("summary", "ClusterGroupWait", ("group_name", "ranks", "calls"))):
            with self.subTest(mode):
                groups = [sorted(tuple(row[column] for column in columns) for row in self.rows_of(self.made / form, table, "--export_type", "db", mode=mode))
                          for form in self.CLUSTERS]
                self.assertGreater(len(groups[0]), 3)
                self.assertEqual(groups[0], groups[1])
                self.assertEqual(groups[0], groups[2])

    def test_calls_meet_in_every_form(self):
        """Timelines of text captures have the names of groups, those of db captures their ids: the same calls all the same."""
        for mode, table in (("slow_rank", "SlowRank"), ("slow_rank", "RankWait"), ("slow_link", "SlowLinkSum"), ("p2p_pairing", "P2PPairing"),
                            ("communication_bottleneck", "CommunicationBottleneck")):
            with self.subTest(mode):
                columns, rows = self.tables_of(self.made / "db", mode=mode)[table]
                self.assertTrue(rows or mode == "slow_link")
                for form in ("text", "mixed"):
                    # Host calls of text captures tell more.
                    kept = [i for i, column in enumerate(columns) if column != "reason"]
                    others = self.tables_of(self.made / form, mode=mode)[table][1]
                    self.assertEqual([[row[i] for i in kept] for row in others], [[row[i] for i in kept] for row in rows], form)

    def without_groups(self, form):
        """The same job, of which nobody wrote down its groups."""
        data = shutil.copytree(self.made / form, self.scratch / f"{form}_without_groups")
        for path in data.rglob("profiler_metadata.json"):
            facts = json.loads(path.read_text())
            del facts["parallel_group_info"]
            path.write_text(json.dumps(facts))
        for path in data.rglob("ascend_pytorch_profiler_*.db"):
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                db.execute("DELETE FROM META_DATA WHERE name = 'parallel_group_info'")
        return data

    def test_calls_meet_without_metadata(self):
        """The name of a group is a number made of its id."""
        db, mixed = self.without_groups("db"), self.without_groups("mixed")
        for mode, table in (("slow_rank", "SlowRank"), ("slow_rank", "RankWait"), ("slow_link", "SlowLinkSum"),
                            ("cluster_time_summary", "ClusterTimeSummary"), ("communication_bottleneck", "CommunicationBottleneck")):
            with self.subTest(mode):
                columns, rows = self.tables_of(db, mode=mode)[table]
                self.assertTrue(rows or mode == "slow_link")
                kept = [i for i, column in enumerate(columns) if column != "reason"]
                others = self.tables_of(mixed, mode=mode)[table][1]
                for row, expected in zip(others, rows, strict=True):
                    for i in kept:
                        if isinstance(expected[i], float):
                            self.assertAlmostEqual(row[i], expected[i], places=2, msg=columns[i])
                        elif "group" not in columns[i].lower():  # as the first rank spells it
                            self.assertEqual(row[i], expected[i], columns[i])

    def test_operators_without_a_timeline(self):
        """communication.json has the durations as well."""
        light = generate(self.scratch / "light", "--format", "text", "--no-timeline", "--ep", "2")
        for table in ("HcclAllRankStats", "HcclGroupNameMap"):
            whole = self.rows_of(self.made / "text", table, mode="hccl_sum")
            rows = self.rows_of(light, table, mode="hccl_sum")
            self.assertEqual(len(rows), len(whole))
            for row, expected in zip(rows, whole):
                for column, value in expected.items():
                    if isinstance(value, float):
                        self.assertAlmostEqual(row[column], value, delta=2)
                    elif not isinstance(value, int):
                        self.assertEqual(row[column], value)


class Places(ClusterCase):
    CLUSTERS = {"text": ("--format", "text", "--ranks", "16", "--slow-host", "1")}

    def rank_table(self, host_of):
        servers = {}
        for rank in range(16):
            servers.setdefault(host_of(rank), []).append({"device_id": str(rank % 8), "rank_id": str(rank)})
        table = {"version": "1.0", "server_list": [{"server_id": host, "device": devices} for host, devices in servers.items()]}
        return self.write("ranktable.json", json.dumps(table))

    def test_a_rank_table_names_the_hosts(self):
        table = self.rank_table(lambda rank: f"10.0.0.{rank // 4}")
        rows = self.rows_of(self.made / "text", "ClusterHostSum", "--rank_table", table)
        self.assertEqual([(row["host"], row["ranks"]) for row in rows], [(f"10.0.0.{host}", 4) for host in range(4)])

    def test_a_rank_table_that_is_none(self):
        for text, said in (("{}", "no rank found"), ("{", "ranktable.json"), ('{"server_list": [{"device": [{"rank_id": "0"}]}]}', "no rank found")):
            done = self.cluster(self.made / "text", "--rank_table", self.write("ranktable.json", text), expect=2)
            self.assertIn("--rank_table", done.err)
            self.assertIn(said, done.err)

    def test_traffic_between_hosts(self):
        links = self.rows_of(self.made / "text", "ClusterHostLinks")
        self.assertEqual({(row["srcHost"], row["dstHost"]) for row in links},
                         {(a, b) for a in ("host0000", "host0001") for b in ("host0000", "host0001")})
        pairs = self.rows_of(self.made / "text", "ClusterLinkBandwidth")
        for row in links:
            ends = [pair for pair in pairs if pair["transport"] == row["transport"] and
                    (pair["srcRank"] // 8, pair["dstRank"] // 8) == (int(row["srcHost"][-1]), int(row["dstHost"][-1]))]
            self.assertEqual(row["links"], len(ends))
            self.assertAlmostEqual(row["size(MB)"], sum(pair["size(MB)"] for pair in ends), places=3)
            self.assertAlmostEqual(row["slowest(GB/s)"], min(pair["bandwidth(GB/s)"] for pair in ends), places=6)

    def test_ranks_and_steps(self):
        rows = self.rows_of(self.made / "text", "ClusterRankStep")
        self.assertEqual([(row["rank"], row["step"]) for row in rows], [(rank, step) for rank in range(16) for step in (10, 11)])
        scores = {row["rank"]: row for row in self.rows_of(self.made / "text", "ClusterRankScore")}
        for rank in range(16):
            for column in ("computing(ms)", "waitSuffered(ms)"):
                mean = sum(row[column] for row in rows if row["rank"] == rank) / 2
                self.assertAlmostEqual(mean, scores[rank][column], places=3)

    def test_the_report_shows_ranks_and_steps(self):
        self.cluster(self.made / "text")
        report = (self.out / OUTPUT / "cluster_report.html").read_text()
        for title in ("Computing (ms)", "Waiting for others (ms)", "Free (ms)", "Bandwidth between hosts"):
            self.assertIn(title, report)

    def test_a_manifest_is_made_and_used(self):
        manifest = self.scratch / "manifest.json"
        data = self.copy("text")
        first = self.tables_of(data, "--manifest", manifest)
        listed = json.loads(manifest.read_text())
        self.assertEqual([rank["rank"] for rank in listed["ranks"]], list(range(16)))
        self.assertEqual(listed["ranks"][0]["steps"], [10, 11])
        self.assertEqual({rank["format"] for rank in listed["ranks"]}, {"text"})
        before = manifest.read_bytes()
        generate(data / "more", "--ranks", "32", "--missing", "0-15")  # nobody looks there
        self.assertEqual(self.tables_of(data, "--manifest", manifest), first)
        self.assertEqual(manifest.read_bytes(), before)
        self.assertEqual(len(self.rows_of(data, "ClusterRankScore")), 32)

    def test_a_manifest_of_something_else(self):
        for text, said in (("{}", "not a manifest"), ('{"version": 1, "input": "/elsewhere", "ranks": []}', "/elsewhere"), ("x", "manifest.json")):
            done = self.cluster(self.made / "text", "--manifest", self.write("manifest.json", text), expect=2)
            self.assertIn("--manifest", done.err)
            self.assertIn(said, done.err)

    def test_folders_of_a_manifest_that_are_gone_are_looked_for(self):
        manifest = self.scratch / "manifest.json"
        data = self.copy("text")
        self.cluster(data, "--manifest", manifest)
        shutil.rmtree(rank_folder(data, 3))
        self.assertEqual(len(self.rows_of(data, "ClusterRankScore", "--manifest", manifest)), 15)


if __name__ == "__main__":
    unittest.main()
