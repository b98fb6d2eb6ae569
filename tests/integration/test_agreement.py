"""One capture, one truth: pages, commands and explanations give the same numbers on every capture of the shared data."""

import collections
import csv
import json
import re
import unittest

import step_simulator
import support
from test_cluster import generate
from test_server import ServerCase

PARTS = {"Computing": "computing_us", "Communication(Not Overlapped)": "not_overlapped_us", "Overlapped": "overlapped_us",
         "Memory": "memory_us", "Free": "free_us", "Bubble": "bubble_us", "Preparing": "preparing_us"}
CLUSTER_PARTS = {"Computing": "computing(ms)", "Communication(Not Overlapped)": "communicationNotOverlapped(ms)", "Free": "free(ms)"}
# What a finding may save at most, as `breakdown` has it.
CATEGORIES = {"exposed_communication": "Communication(Not Overlapped)", "host_bound": "Free", "launch": "Free", "dependency": "Free"}
# Questions of the pages whose answers are compared with SQL, table by table.
PAGES = ("overview", "overall", "findings", "comm_durations", "comm_bandwidth", "summary_ranks")
FROM_ORIGIN = {"t0_ns", "t1_ns", "start_us"}


def close(a, b, digits):
    """Equal in the digits that are shown; not known on both sides is equal as well."""
    if a is None or b is None:
        return a is None and b is None
    return abs(a - b) <= 0.6 * 10 ** -digits


def number(text):
    return float(text) if text else None


class AgreementCase(ServerCase):
    """Compares what is said of one capture in different places; `seen` counts what was compared."""

    seen = collections.Counter()

    def agree(self, a, b, digits, where):
        self.assertTrue(close(a, b, digits), f"{where}: {a} and {b}")
        self.seen[where.split()[0]] += 1

    def check(self, path):
        self.path = path
        self.server = self.start(path)
        self.ds = self.server.wait_ready()
        self.ranks = sorted(rank["rank"] for rank in self.server.get(f"/ds/{self.ds}")[1]["ranks"])
        self.steps = self.rows("breakdown", path)
        try:
            self.check_steps()
            self.check_step_times()
            self.check_overall()
            self.check_findings()
            self.check_explanations()
            self.check_waits()
            self.check_cluster()
            self.check_sql()
        finally:
            self.server.stop()

    def metric(self, name, table, **args):
        status, answer = self.server.post(f"/ds/{self.ds}/metric", {"name": name, "args": args})
        self.assertEqual(status, 200, answer)
        self.warnings = [warning["key"] for warning in answer.get("warnings", [])]
        reply = answer["tables"][table]
        names = [column["name"] for column in reply["columns"]]
        return [dict(zip(names, row)) for row in reply["rows"]]

    def own(self, rank):
        return [row for row in self.steps if row["Rank"] == rank]

    def check_steps(self):
        """`breakdown`, its SQL table and the Overview: the parts of each step."""
        shown = self.metric("overview", "steps", rank=self.ranks[0])
        asked = self.query(self.path, "SELECT * FROM breakdown")
        self.assertEqual(len(self.steps), len(shown))
        self.assertEqual(len(self.steps), len(asked))
        for row, page, sql in zip(self.steps, shown, asked):
            self.assertEqual((row["Rank"], row["Step"]), (page["rank"], page["step"]))
            for column, key in PARTS.items():
                self.agree(row.get(column) or 0, page[key] or 0, 3, f"step {column}")
            for column, value in row.items():
                if column not in ("Rank", "Step", "Device_id"):
                    ns = sql[re.sub(r"\W+", "_", column).strip("_").lower() + "_ns"]
                    self.agree(value, ns if ns is None else ns / 1000, 3, f"sql {column}")
            parts = sum(page[key] for key in ("computing_us", "not_overlapped_us", "memory_us", "free_us"))
            self.agree(parts, page["total_us"], 2, "step total")

    def check_step_times(self):
        """Step times of SQL and of the Overview; {rank: us} of the average step."""
        self.average = {}
        shown = self.metric("overview", "step_times", rank=self.ranks[0])
        asked = self.query(self.path, "SELECT * FROM step_times")
        self.assertEqual([(row["rank"], row["step"]) for row in asked], [(row["Rank"], row["Step"]) for row in shown])
        for sql, page in zip(asked, shown):
            for key, column in (("step_time_ns", "Step Time(us)"), ("host_ns", "Host(us)"), ("device_ns", "Device(us)")):
                self.agree(sql[key] and sql[key] / 1000, page[column], 3, f"step_time {column}")
            if page["Step"] is None:
                self.average[page["Rank"]] = page["Step Time(us)"]
                continue
            for row in self.own(page["Rank"]):
                if row["Step"] == page["Step"]:
                    self.agree(row["Step Time"], page["Step Time(us)"], 3, "step_time of breakdown")

    def check_overall(self):
        """Overall Metrics of a rank whose work is all in its steps, or that has none, are the sum of its steps."""
        for rank in self.ranks:
            own = self.own(rank)
            if not own or any("Device_id" in step for step in own):
                continue
            tree = {row["path"]: row for row in self.metric("overall", "overall", rank=rank)}
            if own[0]["Step"] is None or self.is_all_in_the_steps(tree, own):
                for path, column in (("Computing Time", "Computing"), ("Free Time", "Free"),
                                     ("Communication(Not Overlapped) Time", "Communication(Not Overlapped)")):
                    self.agree(tree[path]["total_us"], sum(step[column] for step in own), 2, f"overall {column}")
            for row in tree.values():
                if row["transit_us"] is not None:
                    self.agree(row["transit_us"] + row["wait_us"] + row["idle_us"], row["total_us"], 1, "overall parts")

    @staticmethod
    def is_all_in_the_steps(tree, steps):
        """Work outside of the steps is none of theirs."""
        return close(tree["E2E Time"]["total_us"], sum(step["Stage"] + step["Bubble"] for step in steps), 2)

    def check_findings(self):
        """Shares are of the step time that the Overview shows; no saving is more than its category has; each has a place to look at."""
        for rank in self.ranks:
            found = self.metric("findings", "findings", rank=rank)
            is_whole = not {"warning.partly_captured", "warning.group_size_unknown"} & set(self.warnings)
            for row in found:
                self.seen["finding"] += 1
                self.assertIsNotNone(row["t0_ns"], row["kind"])
                self.assertGreater(row["t1_ns"], row["t0_ns"], row["kind"])
                self.assertTrue(row["evidence"] and row["query"], row["kind"])
                if row["gain_us"] is None:
                    continue
                if rank in self.average:
                    self.agree(row["share"], 100 * row["gain_us"] / self.average[rank], 2, f"share of {row['kind']}")
                if row["kind"] in CATEGORIES:
                    most = max(step[CATEGORIES[row["kind"]]] for step in self.own(rank))
                    self.assertLessEqual(row["gain_us"], most + 0.001, row["kind"])
                if not is_whole and row["kind"] == "late_rank":
                    self.assertNotIn("no cause found", row["reason"])
                self.check_evidence(rank, row)
                for query in row["query"].split(";\n"):
                    if query:
                        self.assertGreater(len(self.query(self.path, query)), 0, query)

    def check_evidence(self, rank, row):
        """The times that a finding shows as its evidence are those of `breakdown`, on average over the steps, and of Overall Metrics."""
        own = self.own(rank)

        def mean_ms(column):
            return sum(step[column] for step in own) / len(own) / 1000
        free = re.search(r"of ([\d.]+) ms free time per step", row["evidence"])
        if free:
            self.agree(float(free[1]), mean_ms("Free"), 3, "evidence of free time")
        exposed = re.match(r"([\d.]+) ms per step in which only communication", row["evidence"])
        if not exposed:
            return
        self.assertLessEqual(float(exposed[1]), mean_ms("Communication(Not Overlapped)") + 0.001, row["evidence"])
        tree = {one["path"]: one for one in self.metric("overall", "overall", rank=rank)}
        if len(own) > 1 or not self.is_all_in_the_steps(tree, own):
            return
        groups = [one for path, one in tree.items() if path.startswith("Communication(Not Overlapped) Time > ")]
        shown = [one for one in groups if close(one["total_us"] / 1000, float(exposed[1]), 3)]
        self.assertTrue(shown, f"{row['evidence']}: none of {[one['total_us'] for one in groups]}")
        waited = re.search(r"; ([\d.]+) ms of it is waiting or idle", row["reason"])
        if waited:
            self.agree(float(waited[1]), (shown[0]["wait_us"] + shown[0]["idle_us"]) / 1000, 3, "evidence of waiting")

    def check_explanations(self):
        """The Communication page and the explanation of each collective, where the timeline shows it."""
        tracks = self.server.get(f"/ds/{self.ds}/tracks")[1]
        ranks = {track["id"]: track["rank"] for track in (dict(zip(tracks["cols"], row)) for row in tracks["rows"])}
        origin_ns = int(self.server.get(f"/ds/{self.ds}")[1]["origin_ns"])
        for rank in self.ranks:
            calls = {(row["operator"], row["start_us"]): row for row in self.metric("comm_durations", "operators", rank=rank)}
            for row in list(calls.values())[:40]:
                name = row["operator"].rsplit("#", 1)[0]
                hits = self.server.post(f"/ds/{self.ds}/search", {"q": f'name="{name}"', "limit": 1000})[1]["hits"]
                for hit in hits:
                    is_there = ranks[hit["track"]] == rank and abs(origin_ns + hit["begin"] - 1000 * row["start_us"]) <= 1000
                    if is_there and abs(hit["dur"] / 1e6 - row["Elapsed Time(ms)"]) <= 0.0001:
                        self.explain(hit, row)

    def explain(self, hit, row):
        status, why = self.server.post(f"/ds/{self.ds}/explain", {"kind": "wait", "track": hit["track"], "i": hit["i"]})
        if status != 200:
            return  # a task of its own beside the collective
        keys = {item["key"]: item["ns"] / 1e6 for item in why["items"]}
        if row["source"] == "unknown":
            self.assertIn("wait.alone", keys)
            self.assertIsNone(row["Transit Time(ms)"])
        else:
            if row["source"] == "arrivals":
                waited = next((ns for key, ns in keys.items() if key.startswith("wait.skew") or key == "wait.others_at_least"), 0)
            else:
                waited = keys.get("wait.others", 0)
            where = f"explain {row['operator']}"
            self.agree(keys.get("wait.transfer", 0), row["Transit Time(ms)"], 4, where)
            self.agree(waited, row["Wait Time(ms)"], 4, where)
            self.agree(keys.get("wait.idle", 0), row["Idle Time(ms)"], 4, where)
            self.assertIn(f"wait.source_{row['source']}", keys)
        if row["members"] is None:
            self.assertIn("warning.group_size_unknown", keys)
        elif row["captured"] < row["members"]:
            self.assertIn("wait.partial", keys)
            self.assertFalse([key for key in keys if key.startswith(("wait.skew", "wait.last"))], "nobody is blamed")
        self.seen["collective"] += 1

    def check_waits(self):
        """A synchronisation is explained by what ends it: never by its likes, nor by another wait."""
        for text in ("Stream Sync", "Synchronize", "Stream Wait Event", "EVENT_WAIT", "Notify Wait"):
            for hit in self.server.post(f"/ds/{self.ds}/search", {"q": text, "limit": 10})[1]["hits"]:
                if text == "Stream Wait Event" and hit["name"] != text or hit["name"].startswith(("Enqueue", "Dequeue")):
                    continue  # what asks the stream to wait does not wait itself
                status, why = self.server.post(f"/ds/{self.ds}/explain", {"kind": "slice", "track": hit["track"], "i": hit["i"]})
                self.assertEqual(status, 200, why)
                self.assertNotIn("slice.", why["verdict"]["key"], hit)
                self.assertNotIn(why["verdict"]["args"].get("name"), ("Stream Sync", "Event Sync", "Context Sync"), hit)
                self.seen["sync"] += 1

    def check_sql(self):
        """What the pages show is what the SQL tables of the same questions say, cell by cell."""
        for rank in self.ranks:
            for question in PAGES:
                status, answer = self.server.post(f"/ds/{self.ds}/metric", {"name": question, "args": {"rank": rank}})
                self.assertEqual(status, 200, answer)
                for name, page in answer["tables"].items():
                    table = question if name == question else f"{question}_{name}"
                    status, asked = self.server.post(f"/ds/{self.ds}/sql", {"query": f"SELECT * FROM {table} WHERE arg_rank = {rank}", "limit": 100000})
                    self.assertEqual(status, 200, f"{table}: {asked}")
                    self.same_cells(table, page, asked)

    def same_cells(self, table, page, asked):
        columns = [column["name"] for column in page["columns"]]
        in_sql = [column["name"] for column in asked["columns"]]
        self.assertEqual((len(columns), len(page["rows"])), (len(in_sql), len(asked["rows"])), table)
        origins = set()
        for shown, row in zip(page["rows"], asked["rows"]):
            for column, name, a, b in zip(columns, in_sql, shown, row):
                where = f"asked {table}.{name}"
                if column in FROM_ORIGIN and a is not None:
                    origins.add(b - a)  # pages count from the first event of the job
                elif isinstance(a, (int, float)) and isinstance(b, (int, float)):
                    is_time = name.endswith("_ns") and not column.endswith("_ns")
                    self.agree(a, b / 1000 if is_time else b, 6, where)
                else:
                    self.assertEqual(a, b, where)
        self.assertLessEqual(len(origins), 1, table)

    def check_cluster(self):
        out = self.scratch / "out"
        done = self.run_program("cluster", "-m", "summary", "-d", self.path, "-o", out, "--export_type", "text")
        if done.returncode != 0:
            self.assertEqual(self.steps, [], done.err)  # else there is something to say
            return
        tables = {path.stem: self.csv_rows(path) for path in out.rglob("cluster_*.csv")}
        rank_steps = {(int(row["rank"]), number(row["step"])): row for row in tables["cluster_rank_steps"]}
        if any("Device_id" in row for row in self.steps):
            return  # a row per device; the cluster has one per step
        self.assertEqual(set(rank_steps), {(row["Rank"], row["Step"]) for row in self.steps})
        for row in self.steps:
            step = rank_steps[row["Rank"], row["Step"]]
            for column, key in CLUSTER_PARTS.items():
                self.agree(row[column] / 1000, number(step[key]), 6, f"cluster {column}")
            self.check_calls(row, step)
        for row in tables["cluster_rank_scores"]:
            rank = int(row["rank"])
            own = self.own(rank)
            device_ms = sum(sum(step.get(part) or 0 for part in ("Computing", "Communication(Not Overlapped)", "Memory", "Free"))
                            for step in own) / max(1, len(own)) / 1000
            self.agree(number(row["step(ms)"]), device_ms, 6, "cluster_step on the device")
            if row["stepTime(ms)"]:
                self.agree(number(row["stepTime(ms)"]), self.average[rank] / 1000, 6, "cluster_step_time")
        [job] = tables["cluster_overview"]
        if int(job["callsPartlySeen"]) > 0:
            self.assertIn(f"{job['ranksSeen']} of {job['ranksExpected']} ranks captured", done.out)
        if int(job["callsComplete"]) == 0:
            self.assertEqual(tables["cluster_wait_pairs"], [], "nobody is blamed")
            self.assertEqual([row["mostBlamedRank"] for row in tables["cluster_group_wait"] if row["mostBlamedRank"]], [])

        self.check_job_findings(tables)
        for name in ("rank_step", "rank_score"):
            asked = self.query(self.path, f"SELECT * FROM cluster_summary_{name}")
            shown = tables[f"cluster_{name}s"]
            self.assertEqual(len(asked), len(shown), name)
            for sql, row in zip(asked, shown):
                for a, b in zip(sql.values(), row.values()):
                    if isinstance(a, (int, float)):
                        self.agree(a, number(b), 6, f"cluster_sql {name}")
                    else:
                        self.assertEqual(a or "", b, name)

    def check_job_findings(self, tables):
        """What is wrong with the job is on every rank's Findings page as the summary and its SQL table have it."""
        summary = [(row["kind"], row["subject"], row["reason"], row["advice"]) for row in tables["cluster_findings"]]
        asked = self.query(self.path, "SELECT kind, subject, reason, advice FROM cluster_summary_findings")
        self.assertEqual([tuple(row.values()) for row in asked], summary)
        [job] = tables["cluster_overview"] or [None]
        for row in tables["cluster_findings"]:
            if row["msPerStep"]:
                shown = number(job["stepTime(ms)"]) or number(job["step(ms)"])
                self.agree(number(row["shareOfStep(%)"]), 100 * number(row["msPerStep"]) / shown, 4, "share_of_job")
        for rank in self.ranks:
            page = {tuple(row[key] for key in ("kind", "subject", "reason", "advice")): row for row in self.metric("findings", "findings", rank=rank)}
            for row, finding in zip(tables["cluster_findings"], summary):
                self.assertIn(finding, page)
                gain_us = page[finding]["gain_us"]
                self.agree(number(row["msPerStep"]), gain_us and gain_us / 1000, 5, "job_finding")

    def check_calls(self, row, step):
        """What a rank waited and moved in a step, on the Communication page and in the cluster's summary."""
        args = {} if row["Step"] is None else {"step": row["Step"]}
        shown = {one["rank"]: one for one in self.metric("comm_durations", "durations", **args)}.get(row["Rank"])
        if shown is None:
            self.assertIn(number(step["transit(ms)"]), (0, None))
            return
        self.agree(shown["Transit Time(ms)"], number(step["transit(ms)"]), 4, "cluster_transit")
        self.agree(shown["Wait Time(ms)"], number(step["waitSuffered(ms)"]), 4, "cluster_wait")

    @staticmethod
    def csv_rows(path):
        with open(path, encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))


@support.needs_shared
class Agreement(AgreementCase):
    def captures(self):
        """Every capture below the shared data by itself, and the folders around those of several ranks."""
        found = collections.defaultdict(set)
        for folder in [support.DATA, *sorted(path for path in support.DATA.rglob("*") if path.is_dir())]:
            done = self.run_program("info", "--json", "--no-cache", folder)
            if done.returncode == 0:
                for rank in json.loads(done.out)["ranks"]:
                    found[rank["path"]].add(rank["rank"])
        paths = set(map(support.pathlib.Path, found))
        parents = collections.Counter(path.parent for path in paths if path.is_dir() and path.name.endswith("_ascend_pt"))
        return sorted(paths) + [folder for folder, ranks in parents.items() if ranks > 1]

    def test_on_every_capture(self):
        captures = self.captures()
        self.assertGreater(len(captures), 50)
        for path in captures:
            with self.subTest(capture=str(path.relative_to(support.DATA))):
                self.check(path)
        # What was compared is there: a loop over nothing agrees with everything.
        for what, least in (("step", 300), ("sql", 300), ("step_time", 60), ("overall", 60), ("finding", 60), ("asked", 10_000), ("share", 40), ("evidence", 10),
                            ("explain", 60), ("collective", 60), ("sync", 100), ("cluster", 150), ("cluster_step", 40), ("cluster_step_time", 10),
                            ("cluster_transit", 20), ("cluster_wait", 20), ("cluster_sql", 400)):
            self.assertGreater(self.seen[what], least, self.seen)


class AgreementOnPlantedFaults(AgreementCase):
    """Jobs of 16 ranks with a fault: the same sentence in the summary, its SQL table and on the Findings page."""

    def check_fault(self, kind, *options):
        for form in ("text", "db"):
            path = generate(self.scratch / form, "--ranks", "16", "--format", form, "--timeline", *options)
            with self.subTest(form):
                self.check(path)
                self.assertEqual(self.query(path, "SELECT kind FROM cluster_summary_findings"), [{"kind": kind}])
        self.assertGreaterEqual(self.seen["job_finding"], 32)

    def test_a_slow_gpu(self):
        """Here the summary knows how long a step takes from mark to mark; shares are of that."""
        step_simulator.write(step_simulator.Settings(ranks=4, slow_rank=1.5), self.scratch / "gpu")
        self.check(self.scratch / "gpu")
        self.assertEqual(self.query(self.path, "SELECT kind, subject FROM cluster_summary_findings"), [{"kind": "late_rank", "subject": "rank 3"}])
        self.assertGreater(self.seen["cluster_step_time"], 0)
        self.assertGreater(self.seen["share_of_job"], 0)

    def test_small_packets(self):
        self.check_fault("small_packets", "--small-packets", "RDMA")

    def test_a_slow_rank(self):
        self.check_fault("late_rank", "--slow-rank", "5")

    def test_a_low_clock(self):
        self.check_fault("late_rank", "--freq-drop", "3")

    def test_a_slow_link(self):
        self.check_fault("slow_link", "--slow-link", "4-5")


class AgreementOnTheSample(AgreementCase):
    def test_on_the_sample(self):
        self.check(support.SAMPLE)
        self.assertGreater(self.seen["cluster_wait"], 0)


if __name__ == "__main__":
    unittest.main()
