"""Recipes beside the same numbers worked out in Python from the tables of the captures, by the definitions of cluster.md.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_cluster_recomputed.py [-k slow_link]

The captures are those of the golden set with other durations, so that nothing agrees because it is always the same.
"""

import collections
import contextlib
import json
import pathlib
import random
import shutil
import sqlite3
import statistics
import tempfile
import unittest

from support import SHARED, needs_shared
from test_cluster import ClusterCase, read_db

SYNTH = SHARED / "golden/cluster/synth/data/db"
BYTES = {"INT8": 1, "UINT8": 1, "INT16": 2, "UINT16": 2, "FP16": 2, "BFP16": 2, "INT32": 4, "UINT32": 4, "FP32": 4, "INT64": 8, "UINT64": 8,
         "FP64": 8, "INT128": 16}
# Dixon's bounds for the low end, of 4 to 8 values.
DIXON = {4: 0.920, 5: 0.823, 6: 0.744, 7: 0.680, 8: 0.723}
SEEDS = (1, 2, 3)


def database_of(folder):
    [path] = folder.glob("ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_*.db")
    return path


def change_durations(path, chance):
    """Other ends of communication operators and kernels; now and then one that takes far longer, and one that was late."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        for op, start, end in db.execute("SELECT opId, startNs, endNs FROM COMMUNICATION_OP").fetchall():
            factor = chance.choice((0.2, 4)) if chance.random() < 0.06 else chance.uniform(0.97, 1.03)
            db.execute("UPDATE COMMUNICATION_OP SET endNs = ? WHERE opId = ?", (start + round((end - start) * factor), op))
        kernels = db.execute("SELECT globalTaskId, startNs, endNs FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId)").fetchall()
        for task, start, end in kernels:
            db.execute("UPDATE TASK SET endNs = ? WHERE globalTaskId = ?", (start + round((end - start) * chance.uniform(0.6, 1)), task))
        for connection, in db.execute("SELECT connectionId FROM CANN_API").fetchall():
            db.execute("UPDATE CANN_API SET endNs = startNs + ? WHERE connectionId = ?", (chance.randrange(1000, 3000), connection))
        db.execute("UPDATE MSTX_EVENTS SET startNs = startNs + ?, endNs = endNs + ? WHERE eventType = 3 AND message IN "
                   "(SELECT id FROM STRING_IDS WHERE value LIKE '%_stop')", [chance.randrange(5000)] * 2)
        db.commit()


def describe(values):
    """Statistics as pandas has them."""
    ordered = sorted(values)

    def quantile(share):
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    return {"Count": len(ordered), "MeanNs": statistics.fmean(ordered), "StdNs": statistics.stdev(ordered) if len(ordered) > 1 else 0.0,
            "MinNs": ordered[0], "Q1Ns": quantile(0.25), "MedianNs": quantile(0.5), "Q3Ns": quantile(0.75), "MaxNs": ordered[-1],
            "SumNs": sum(ordered)}


@needs_shared
class Recomputed(ClusterCase):
    MODES = "slow_rank,slow_link,mstx_sum,operator_mfu,module_statistic,communication_bottleneck"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.jobs = []
        for seed in SEEDS:
            chance = random.Random(seed)
            job = cls.made / f"seed{seed}"
            shutil.copytree(SYNTH, job)
            for folder in sorted(job.glob("*_ascend_pt")):
                change_durations(database_of(folder), chance)
            cls.jobs.append(job)

    def each_job(self, *words):
        """(captures, {table: rows}) of every job."""
        for job in self.jobs:
            out = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
            self.cluster(job, *words, mode=self.MODES, out=out)
            tables = {name: [dict(zip(columns, row)) for row in rows] for name, (columns, rows) in read_db(out).items()}
            yield job, tables

    def query(self, job, sql):
        """{rank: rows}"""
        rows = {}
        for folder in sorted(job.glob("*_ascend_pt")):
            rank = int(next(folder.glob("profiler_info_*.json")).stem.rsplit("_", 1)[1])
            with contextlib.closing(sqlite3.connect(database_of(folder))) as db:
                rows[rank] = db.execute(sql).fetchall()
        return dict(sorted(rows.items()))

    def operators(self, job):
        """(rank, group, name, type, start, duration, bytes or None) of all communication operators."""
        sql = ("SELECT g.value, n.value, t.value, startNs, endNs - startNs, d.name, count FROM COMMUNICATION_OP o JOIN STRING_IDS g ON g.id = groupName "
               "JOIN STRING_IDS n ON n.id = opName JOIN STRING_IDS t ON t.id = o.opType LEFT JOIN ENUM_HCCL_DATA_TYPE d ON d.id = dataType")
        return [(rank, group, name, kind, start, dur, BYTES[data_type] * count if data_type in BYTES else None)
                for rank, rows in self.query(job, sql).items() for group, name, kind, start, dur, data_type, count in rows]

    def assert_close(self, found, expected, what=""):
        self.assertEqual(found.keys() & expected.keys(), expected.keys(), what)
        for key, value in expected.items():
            if isinstance(value, (int, float)):
                self.assertAlmostEqual(found[key], value, delta=max(1e-6, 1e-9 * abs(value)), msg=f"{what} {key}")
            else:
                self.assertEqual(found[key], value, f"{what} {key}")

    @staticmethod
    def is_p2p(name):
        return "send" in name.lower() or "receive" in name.lower()

    def calls(self, job):
        """{(group, name): {rank: (start, duration)}} of collectives."""
        calls = collections.defaultdict(dict)
        for rank, group, name, _, start, dur, _ in self.operators(job):
            if not self.is_p2p(name):
                calls[group, name][rank] = start, dur
        return calls

    @staticmethod
    def late_by_dixon(members):
        """As the reference finds who came last: the shortest duration, if it lies far from the others."""
        durations = sorted(dur for _, dur in members.values())
        if len(durations) <= 2 or len(set(durations)) <= 3:
            return []
        top = durations[-1] if len(durations) <= 7 else durations[-2]
        ratio = (durations[1] - durations[0]) / (top - durations[0]) if top > durations[0] else 0
        return [rank for rank, (_, dur) in members.items() if dur == durations[0]][:1] if ratio > DIXON[len(durations)] else []

    @staticmethod
    def late_by_scatter(members):
        """As docs/cluster/slow_rank.md has it: below the median of all but the last by three times their scatter, and by 5 %."""
        ordered = sorted(members.items(), key=lambda member: (member[1][1], member[0]))
        others = [dur for _, (_, dur) in ordered[1:]]
        usual = statistics.median(others)
        scatter = 1.4826 * statistics.median(abs(dur - usual) for dur in others)
        return [rank for rank, (_, dur) in ordered if usual - dur > max(3 * scatter, 0.05 * usual)]

    def check_slow_rank(self, late_of, unit_ns, *words):
        votes_seen = 0
        for job, tables in self.each_job(*words):
            votes, rows = collections.Counter(), {}
            for (group, name), members in self.calls(job).items():
                late = late_of(members)
                votes.update(late)
                if late:
                    stats = describe([dur / unit_ns for _, dur in members.values()])
                    rows[name, group] = {"SlowRank": ",".join(map(str, late)), "Timestamp": min(members[rank][0] for rank in late), **stats}
            votes_seen += votes.total()
            self.assertEqual({row["rankId"]: row["slowAffectCount"] for row in tables.get("SlowRank", [])}, dict(votes))
            self.assertEqual(len(tables.get("SlowOpStats", [])), len(rows))
            for row in tables.get("SlowOpStats", []):
                self.assert_close(row, rows[row["OpName"], row["GroupName"]], row["OpName"])
        self.assertGreater(votes_seen, 0, "nobody was late in any job")

    def test_slow_rank(self):
        self.check_slow_rank(self.late_by_scatter, 1)

    def test_slow_rank_of_the_reference(self):
        self.check_slow_rank(self.late_by_dixon, 1000, "--compat")

    def test_rank_wait(self):
        """Who was the last, and what that cost the others."""
        for job, tables in self.each_job():
            waits = {rank: {"calls": 0, "lastCount": 0, "causedWaitNs": 0, "sufferedWaitNs": 0} for rank in range(8)}
            for members in self.calls(job).values():
                last, (_, shortest) = min(members.items(), key=lambda member: (member[1][1], member[0]))
                if len(members) < 2:
                    continue
                waits[last]["lastCount"] += 1
                for rank, (_, dur) in members.items():
                    waits[rank]["calls"] += 1
                    waits[rank]["sufferedWaitNs"] += dur - shortest
                    waits[last]["causedWaitNs"] += dur - shortest
            for row in tables["RankWait"]:
                self.assert_close(row, waits[row["rankId"]], row["rankId"])

    def test_slow_link(self):
        kinds_seen = 0
        for job, tables in self.each_job():
            operators = self.operators(job)
            durations = collections.defaultdict(list)
            for _, group, name, _, _, dur, _ in operators:
                durations[group, name].append(dur)
            kinds = collections.defaultdict(list)
            for rank, group, name, kind, _, dur, size in operators:
                if not self.is_p2p(name):
                    of_call = durations[group, name]
                    kinds[kind, len(of_call), size].append((min(of_call), rank, name, dur))
            sums, single = {}, []
            for (kind, ranks, size), samples in kinds.items():
                times = [sample[0] for sample in samples]
                mean, spread = statistics.fmean(times), statistics.pstdev(times)
                if all(mean - 3 * spread <= time <= mean + 3 * spread for time in times):
                    continue
                stats = describe(times)
                furthest = max(abs(stats["MaxNs"] - mean), abs(stats["MinNs"] - mean)) / stats["StdNs"]
                sums[f"{kind}{ranks}_{size}"] = {
                    **stats, "offsetRatio": furthest, "maxRank": min(rank for time, rank, _, _ in samples if time == max(times)),
                    "minRank": min(rank for time, rank, _, _ in samples if time == min(times))}
                single += [(rank, name, dur, time) for time, rank, name, dur in samples]
            self.assertEqual({row["opTypeRelatedRanksDataSize"] for row in tables["SlowLinkSum"]}, set(sums))
            for row in tables["SlowLinkSum"]:
                self.assert_close(row, sums[row["opTypeRelatedRanksDataSize"]], row["opTypeRelatedRanksDataSize"])
            self.assertEqual(sorted((row["rankId"], row["opName"], row["communicationTime"], row["transmitTime"]) for row in tables["SlowLinkOps"]),
                             sorted(single))
            kinds_seen += len(sums)
        self.assertGreater(kinds_seen, 0, "no link was slow in any job")

    def marks(self, job):
        """(rank, step, name, host, device) of pairs of marks and of ranges that have a device side."""
        steps = self.query(job, "SELECT id, startNs, endNs FROM STEP_TIME ORDER BY startNs")
        events = self.query(job, "SELECT m.eventType, m.startNs, m.endNs, s.value, m.globalTid, min(t.startNs), max(t.endNs), m.connectionId FROM "
                                 "MSTX_EVENTS m JOIN STRING_IDS s ON s.id = m.message LEFT JOIN TASK t USING (connectionId) GROUP BY m.rowid "
                                 "ORDER BY m.startNs")
        out = []
        for rank, rows in events.items():
            opened = collections.defaultdict(list)

            def step_of(start, rank=rank):
                return next((step for step, begin, end in steps[rank] if begin <= start <= end), 0)

            for kind, start, end, text, thread, task_start, task_end, connection in rows:
                if kind == 2 and connection != 4294967295:
                    out.append((rank, step_of(start), text, end - start, task_end - task_start if task_start is not None else 0))
                elif kind == 3 and text.endswith("_start"):
                    opened[thread, text[:-6]].append((start, task_start))
                elif kind == 3 and text.endswith("_stop"):
                    begin, task_begin = opened[thread, text[:-5]].pop()
                    out.append((rank, step_of(begin), text[:-5], start - begin, task_start - task_begin))
        return out

    def test_mstx_sum(self):
        for job, tables in self.each_job():
            marks = self.marks(job)
            host = collections.Counter()
            device = collections.Counter()
            for rank, _, _, host_ns, device_ns in marks:
                host[rank] += host_ns
                device[rank] += device_ns
            found = {(row["Rank"], row["StepId"], row["Name"]): row for row in tables["MSTXMarkStats"]}
            self.assertEqual(len(found), len(marks))
            for rank, step, name, host_ns, device_ns in marks:
                self.assert_close(found[rank, step, name], {
                    "CannDurationNs": host_ns, "CannDurationRatio(%)": 100 * host_ns / host[rank], "DeviceDurationNs": device_ns,
                    "DeviceDurationRatio(%)": 100 * device_ns / device[rank]}, (rank, step, name))
            for table, place in (("MSTXAllCannStats", 3), ("MSTXAllDeviceStats", 4)):
                over_ranks = collections.defaultdict(dict)
                for mark in marks:
                    over_ranks[mark[1], mark[2]][mark[0]] = mark[place]
                self.assertEqual(len(tables[table]), len(over_ranks))
                for row in tables[table]:
                    values = over_ranks[row["StepId"], row["Name"]]
                    stats = describe(list(values.values()))
                    self.assert_close(row, {**stats, "Dispersion(%)": 100 * (stats["MaxNs"] - stats["Q3Ns"]) / stats["SumNs"],
                                            "MinRank": min(rank for rank in values if values[rank] == stats["MinNs"]),
                                            "MaxRank": min(rank for rank in values if values[rank] == stats["MaxNs"])}, row["Name"])

    def kernels(self, job):
        """{rank: [(host start, host end, operator, kernel, start, end, first input type)]}; communication goes by its type."""
        linked = "JOIN CONNECTION_IDS c ON c.connectionId = {0}.connectionId JOIN PYTORCH_API p ON p.connectionId = c.id JOIN STRING_IDS o ON o.id = p.name"
        sql = ("SELECT CAST(p.startNs AS INTEGER), CAST(p.endNs AS INTEGER), o.value, n.value, t.startNs, t.endNs, i.value FROM TASK t "
               "JOIN COMPUTE_TASK_INFO k USING (globalTaskId) " + linked.format("t") + " JOIN STRING_IDS n ON n.id = k.name "
               "JOIN STRING_IDS i ON i.id = k.inputDataTypes UNION ALL SELECT CAST(p.startNs AS INTEGER), CAST(p.endNs AS INTEGER), o.value, n.value, "
               "t.startNs, t.endNs, '' FROM COMMUNICATION_OP t " + linked.format("t") + " JOIN STRING_IDS n ON n.id = t.opType")
        return {rank: sorted(rows) for rank, rows in self.query(job, sql).items()}

    def ranges(self, job, domain):
        return self.query(job, "SELECT m.startNs, m.endNs, s.value FROM MSTX_EVENTS m JOIN STRING_IDS s ON s.id = m.message JOIN STRING_IDS d ON "
                               f"d.id = m.domainId WHERE d.value = '{domain}' AND m.eventType = 2 ORDER BY m.startNs, -m.endNs")

    def test_operator_mfu(self):
        [device] = list(SYNTH.glob("*_0*/PROF_*/device_*/info.json.*"))[:1] or list(SYNTH.rglob("info.json.*"))[:1]
        info = json.loads(device.read_text())["DeviceInfo"][0]
        for job, tables in self.each_job():
            kernels = self.kernels(job)
            expected = []
            for rank, ranges in self.ranges(job, "mfu_flops").items():
                for begin, end, text in ranges:
                    flops = int(text.split("-", 1)[0])
                    of_range = [row for row in kernels[rank] if begin <= row[0] <= end]
                    whole_ns = sum(row[5] - row[4] for row in of_range)
                    for _, _, operator, kernel, start, stop, types in of_range:
                        per_cycle = {"INT8": 16384}.get(types.split(";")[0], 8192)
                        peak = info["ai_core_num"] * int(info["aic_frequency"]) * 1e6 * per_cycle
                        speed = flops / (whole_ns * 1e-9)
                        expected.append((rank, operator, kernel, start, stop, round(speed / peak, 4), round(speed / 1e12, 2), round(peak / 1e12, 2)))
            found = [tuple(row[key] for key in ("rank_id", "op_name", "kernel_name", "kernel_start(ns)", "kernel_end(ns)", "mfu", "actual_tflops",
                                                "chip_peak_tflops")) for row in tables["OperatorMFU"]]
            self.assertGreater(len(expected), 0)
            self.assertEqual(sorted(found), sorted(expected))

    def test_module_statistic(self):
        """The forward pass: what each operator of each module gives the device to do."""
        for job, tables in self.each_job():
            kernels = self.kernels(job)
            expected = collections.defaultdict(list)
            for rank, modules in self.ranges(job, "Module").items():
                operators = collections.defaultdict(list)
                for host_start, host_end, operator, kernel, start, stop, _ in kernels[rank]:
                    operators[host_start, host_end, operator].append((start, kernel, stop - start))
                for (host_start, host_end, operator), launched in operators.items():
                    around = [text for begin, end, text in modules if begin <= host_start and host_end <= end]
                    if around:
                        names = ", ".join(kernel for _, kernel, _ in sorted(launched))
                        expected[rank, "/".join(around[:-1]), around[-1], operator, names].append(sum(dur for _, _, dur in launched))
            found = {(row["rankID"], row["parentModule"], row["module"], row["opName"], row["kernelList"]):
                     (row["totalKernelDuration(ns)"], row["avgKernelDuration(ns)"], row["opCount"])
                     for row in tables["ModuleStatistic"] if "[Backward]" not in row["parentModule"] + row["module"]}
            self.assertEqual(found.keys(), expected.keys())
            for key, durations in expected.items():
                self.assertAlmostEqual(found[key][0], sum(durations), msg=key)
                self.assertAlmostEqual(found[key][1], statistics.fmean(durations), msg=key)
                self.assertEqual(found[key][2], len(durations), key)

    def test_communication_bottleneck(self):
        """Which operators, who is waited for and by whom; the reasons have tests of their own."""
        for job, tables in self.each_job():
            by_name = collections.defaultdict(dict)
            for rank, _, name, _, start, dur, _ in self.operators(job):
                by_name[name][rank] = start, dur
            longest = sorted((members[0][1], -members[0][0], name) for name, members in by_name.items() if 0 in members)[:-11:-1]
            self.assertEqual([row["communicationOp"] for row in tables["CommunicationBottleneck"]], [name for _, _, name in longest])
            for row in tables["CommunicationBottleneck"]:
                members = by_name[row["communicationOp"]]
                self.assertAlmostEqual(row["duration(us)"], members[0][1] / 1000)
                durations = [dur for _, dur in members.values()]
                if len(durations) == 1:
                    self.assertIn("[Failed] Only one rank", row["reason"])
                    continue
                if (max(durations) - min(durations)) / max(durations) < 0.05:
                    self.assertIn("[Completed]", row["reason"])
                    continue
                self.assertEqual(members[row["slowRankId"]][1], min(durations), row)
                self.assertEqual(members[row["fastRankId"]][1], max(durations), row)

    def exported(self, folder, name):
        lines = (folder / "ASCEND_PROFILER_OUTPUT" / name).read_text().splitlines()
        return [dict(zip(lines[0].split(","), line.split(","))) for line in lines[1:]]

    def test_export_summary(self):
        """The files that --in_place adds to captures: every kernel with its times, every call of the host with its sums."""
        job = pathlib.Path(shutil.copytree(self.jobs[0], self.scratch / "data"))
        kernels = self.query(job, "SELECT n.value, t.startNs, t.endNs FROM TASK t JOIN COMPUTE_TASK_INFO k USING (globalTaskId) JOIN STRING_IDS n "
                                  "ON n.id = k.name")
        calls = self.query(job, "SELECT n.value, count(*), sum(endNs - startNs), min(endNs - startNs), max(endNs - startNs) FROM CANN_API "
                                "JOIN STRING_IDS n ON n.id = name GROUP BY name, type")
        self.cluster(job, "--in_place", mode="export_summary")
        for folder in sorted(job.glob("*_ascend_pt")):
            rank = int(next(folder.glob("profiler_info_*.json")).stem.rsplit("_", 1)[1])
            rows = {(row["Name"], row["Start Time(us)"].strip(), float(row["Duration(us)"])) for row in self.exported(folder, "kernel_details.csv")}
            for text, begin, end in kernels[rank]:
                self.assertIn((text, f"{begin // 1000}.{begin % 1000:03d}", (end - begin) / 1000), rows)
            found = [(row["API Name"], int(row["Count"]), *(round(1000 * float(row[key])) for key in ("Time(us)", "Min(us)", "Max(us)")))
                     for row in self.exported(folder, "api_statistic.csv")]
            self.assertEqual(sorted(found), sorted(calls[rank]))


if __name__ == "__main__":
    unittest.main()
