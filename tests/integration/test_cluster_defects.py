"""The numbered defects of the reference in docs/differences.md, from outside: the default is right, --compat has the reference's number.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_cluster_defects.py [-k defect_18]

Each test plants what triggers the defect. The others are tested where they are made, with and without --compat:

    1 to 6    test_cluster.py (Usage, BadInput, BadOutput); 6 here too
    22        communication_bottleneck_test.cc       23  p2p_pairing_test.cc, test_cluster.py (in place)
    24        freq_analysis_test.cc                  25  free_analysis_test.cc
    26        mstx2commop_test.cc                    27  operator_mfu_test.cc
    28        export_summary_test.cc                 29  computational_op_masking_test.cc
    30        calibrate_npu_gpu_test.cc              31  test_cluster.py (notebooks, report)
    32        cluster_time_summary_test.cc
"""

import contextlib
import csv
import json
import math
import sqlite3
import statistics
import unittest

from test_cluster import OUTPUT, ClusterCase, generate, rank_folder, read_db

US, MS = 1_000, 1_000_000


def profiler_db(cluster, rank):
    [path] = (rank_folder(cluster, rank) / "ASCEND_PROFILER_OUTPUT").glob("ascend_*_profiler_*.db")
    return path


def analysis_db(cluster, rank):
    [path] = [path for path in (rank_folder(cluster, rank) / "ASCEND_PROFILER_OUTPUT").glob("*.db") if "profiler" not in path.name]
    return path


def edit(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(*statement) if isinstance(statement, tuple) else db.execute(statement)
        db.commit()


def select(path, query, *values):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(query, values).fetchall()


def without_groups(cluster):
    """The captures no longer tell who is in a group."""
    for rank in range(8):
        with contextlib.suppress(ValueError):
            folder = rank_folder(cluster, rank)
            path = folder / "profiler_metadata.json"
            metadata = json.loads(path.read_text())
            metadata["parallel_group_info"] = {}
            path.write_text(json.dumps(metadata))
            for db in folder.glob("*/ascend_*_profiler_*.db"):
                edit(db, "DELETE FROM META_DATA WHERE name = 'parallel_group_info'")


def as_mindspore(cluster):
    """The same captures as MindSpore leaves them: other names, no step table, no steps, a row of the matrix for each operation."""
    for folder in sorted(cluster.iterdir()):
        output = folder / "ASCEND_PROFILER_OUTPUT"
        [profiler] = output.glob("ascend_pytorch_profiler_*.db")
        profiler.rename(output / profiler.name.replace("pytorch", "mindspore"))
        analysis = output / "communication_analyzer.db"
        (output / "analysis.db").rename(analysis)
        edit(analysis, "DROP TABLE StepTraceTime", "UPDATE CommAnalyzerMatrix SET hccl_op_name = op_name, op_name = ''",
             *(f"ALTER TABLE {table} DROP COLUMN {column}" for table in ("CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix")
               for column in ("step", "type")))
        folder.rename(folder.with_name(folder.name.replace("ascend_pt", "ascend_ms")))
    return cluster


class DefectCase(ClusterCase):
    def both(self, source, mode, table, *words):
        """The rows of a table by default and as the reference has them."""
        return self.rows_of(source, table, *words, mode=mode), self.rows_of(source, table, *words, "--compat", mode=mode)

    def file_of(self, source, name, *words, mode="all"):
        out = self.scratch / f"out{len(list(self.scratch.iterdir()))}"
        self.cluster(source, *words, mode=mode, out=out)
        return (out / OUTPUT / name).read_text()


class Steps(DefectCase):
    CLUSTERS = {"db": ("--format", "db"), "text": ("--format", "text")}

    def test_defect_06_an_unknown_step(self):
        self.cluster(self.made / "db", "--step_id", "99", mode="hccl_sum", expect=2)
        self.assertEqual(self.tables_of(self.made / "db", "--step_id", "99", "--compat", mode="hccl_sum"),
                         self.tables_of(self.made / "db", "--compat", mode="hccl_sum"))

    def test_defect_09_bubbles_where_receives_overlap(self):
        """A receive of 1 ms at the head of communication of 3 ms."""
        cluster = as_mindspore(self.copy("db"))
        path = profiler_db(cluster, 2)
        [(begin,)] = select(path, "SELECT startNs + 50000000 FROM STEP_TIME WHERE id = 10")  # the device is at work
        [(name_of_one, kind)] = select(path, "SELECT opName, opType FROM COMMUNICATION_OP LIMIT 1")
        edit(path, "DELETE FROM COMMUNICATION_OP WHERE rowid > 2",
             ("INSERT INTO STRING_IDS VALUES (900000, 'hcom_receive__111_0_1'), (900001, 'hcom_receive_')",),
             ("UPDATE COMMUNICATION_OP SET startNs = ?, endNs = ?, opName = 900000, opType = 900001 WHERE rowid = 1",
              (begin + MS, begin + 2 * MS)),
             ("UPDATE COMMUNICATION_OP SET startNs = ?, endNs = ?, opName = ?, opType = ? WHERE rowid = 2",
              (begin + MS + 500 * US, begin + 4 * MS, name_of_one, kind)))
        right, reference = self.both(cluster, "all", "ClusterStepTraceTime")
        self.assertEqual(sum(row["bubble"] for row in right if row["index"] == "2" and row["type"] == "rank"), 1000)
        [row] = [row for row in reference if row["index"] == "2" and row["type"] == "rank"]
        self.assertEqual(row["bubble"], 3000)
        self.assertFalse(row["step"])
        self.assertEqual(row["communication"], 3000)
        self.assertAlmostEqual(row["stage"], row["free"] + row["computing"] + row["communication_not_overlapped"] - 3000)

    def test_defect_11_context_parallel(self):
        cluster = generate(self.scratch / "cp", "--format", "text", "--cp", "2")
        right = list(csv.DictReader(self.file_of(cluster, "cluster_step_trace_time.csv").splitlines()))
        # tp grows fastest, then cp, dp, pp
        self.assertEqual([[row[f"{name} Index"] for name in ("TP", "CP", "DP", "PP")] for row in right if row["Step"] == "10"][:8],
                         [[str(rank % 2), str(rank // 2 % 2), "0", str(rank // 4)] for rank in range(8)])
        self.assertNotIn("DP Index", self.file_of(cluster, "cluster_step_trace_time.csv", "--compat"))

    def test_defect_12_an_index_that_nobody_tells(self):
        cluster = self.copy("db")
        for rank in range(8):
            path = rank_folder(cluster, rank) / "profiler_metadata.json"
            metadata = json.loads(path.read_text())
            del metadata["distributed_args"]
            path.write_text(json.dumps(metadata))
            edit(profiler_db(cluster, rank), "DELETE FROM META_DATA WHERE name = 'distributed_args'")
        right, reference = self.both(cluster, "all", "ClusterStepTraceTime")
        self.assertEqual({row["dp_index"] for row in right}, {None})
        self.assertEqual({int(row["dp_index"]) for row in reference if row["type"] == "rank"}, {0})


class Stages(DefectCase):
    """Chains 0-5, 1-2 and 2-5 of a pipeline are one, but the first pass over them does not see it."""
    GROUPS = {"a": ("pp", [0, 5]), "b": ("pp", [1, 2]), "c": ("pp", [2, 5]), "d": ("dp", [0, 1]), "e": ("dp", [3, 4])}

    def write_rank(self, rank):
        folder = f"data/rank{rank}_1_20240101000000000_ascend_pt"
        groups = {f"id_{name}": {"group_name": kind, "group_rank": ranks.index(rank), "global_ranks": ranks}
                  for name, (kind, ranks) in self.GROUPS.items() if rank in ranks}
        self.write(f"{folder}/profiler_info_{rank}.json", "{}")
        self.write(f"{folder}/profiler_metadata.json", json.dumps({"parallel_group_info": groups}))
        self.write(f"{folder}/ASCEND_PROFILER_OUTPUT/step_trace_time.csv",
                   "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
                   f"Communication(Not Overlapped and Exclude Receive),Preparing\n{rank},1,{10 + rank},2,3,5,1,13,0,2,0\n")
        times = {"Start Timestamp(us)": 5, "Elapse Time(ms)": 1, "Transit Time(ms)": 1, "Wait Time(ms)": 0, "Synchronization Time(ms)": 0,
                 "Idle Time(ms)": 0, "Wait Time Ratio": 0, "Synchronization Time Ratio": 0}
        operators = {"p2p": {}, "collective": {}}
        for name in groups:
            is_p2p = groups[name]["group_name"] == "pp"
            key = f"hcom_{'send' if is_p2p else 'allReduce'}__000_0_1@{group_hash(name)}"
            operators["p2p" if is_p2p else "collective"][key] = {"Communication Time Info": times, "Communication Bandwidth Info": {}}
        self.write(f"{folder}/ASCEND_PROFILER_OUTPUT/communication.json", json.dumps({"step1": operators}))

    def stages(self, *words):
        rows = csv.DictReader(self.file_of(self.scratch / "data", "cluster_step_trace_time.csv", *words).splitlines())
        return {row["Index"]: float(row["Computing"]) for row in rows if row["Type"] == "stage"}

    def test_defect_10_chains_that_meet_late(self):
        for rank in range(6):
            self.write_rank(rank)
        self.assertEqual(self.stages(), {"(3, 4)": 14, "()": 15})
        self.assertEqual(self.stages("--compat"), {"(0, 1)": 11, "(3, 4)": 14, "()": 15})


def group_hash(name):
    a = b = 0
    for c in name.encode():
        a, b = (a * 29 + c) % 2**32, (b * 131 + c) % 2**32
    return str(a * 2**32 + b)


class Matrix(DefectCase):
    CLUSTERS = {"db": ("--format", "db"), "text": ("--format", "text")}

    def test_defect_07_operations_whose_name_begins_another(self):
        """What msprof leaves: a flat list of operations, which is put together by type."""
        link = {"Transport Type": "HCCS", "Transit Size(MB)": 8.0, "Transit Time(ms)": 2.0, "Bandwidth(GB/s)": 4.0}
        for rank in range(2):
            folder = f"data/PROF_00000{rank}_20240101000000000_AB{rank}"
            links = {"0-1" if rank == 0 else "1-0": link, f"{rank}-{rank}": link}
            names = [f"hcom_{name}__563_0_1@3703241067009432563" for name in ("reduceScatter", "alltoAllV", "reduce")]
            self.write(f"{folder}/device_{rank}/info.json.{rank}", json.dumps({"rank_id": rank, "hostUid": "7"}))
            self.write(f"{folder}/mindstudio_profiler_output/msprof_20240101000000.json", "[]")
            times = {"Communication Time Info": {"Start Timestamp(us)": 5, "Elapse Time(ms)": 1, "Transit Time(ms)": 1},
                     "Communication Bandwidth Info": {}}
            self.write(f"{folder}/analyze/communication.json", json.dumps({name: times for name in names}))
            self.write(f"{folder}/analyze/communication_matrix.json", json.dumps({name: links for name in names}))
        def kinds(*words):
            matrix = json.loads(self.file_of(self.scratch / "data", "cluster_communication_matrix.json", *words, mode="communication_matrix"))
            self.assertEqual(list(matrix), ["(0, 1)"])
            self.assertEqual(list(matrix["(0, 1)"]), ["step"])
            return {name.split("@")[0]: links["0-1"]["Transit Size(MB)"] for name, links in matrix["(0, 1)"]["step"].items()
                    if "-total" in name}
        self.assertEqual(kinds(), {"reducescatter-total": 8, "alltoallv-total": 8, "reduce-total": 8})
        self.assertEqual(kinds("--compat"), {"reduce-total": 16, "alltoall-total": 8})

    def test_matrices_of_early_profilers(self):
        """Operations where later ones have types and kinds: put together by type; the reference keeps the names."""
        for rank in range(2):
            folder = f"data/host_{rank}_20240101000000000_ascend_pt"
            links = {"0-1" if rank == 0 else "1-0": {"Transport Type": "HCCS", "Transit Size(MB)": 8.0, "Transit Time(ms)": 2.0, "Bandwidth(GB/s)": 4.0},
                     f"{rank}-{rank}": {"Transport Type": "LOCAL", "Transit Size(MB)": 1.0, "Transit Time(ms)": 0.5, "Bandwidth(GB/s)": 2.0}}
            matrix = {f"hcom_allReduce__563_{i}_1@3703241067009432563": links for i in range(2)}
            self.write(f"{folder}/profiler_info_{rank}.json", "{}")
            self.write(f"{folder}/ASCEND_PROFILER_OUTPUT/step_trace_time.csv", "Step,Computing\n10,1\n")
            times = {"Communication Time Info": {"Start Timestamp(us)": 5, "Elapse Time(ms)": 1, "Transit Time(ms)": 1},
                     "Communication Bandwidth Info": {}}
            for name, operations in (("communication", {op: times for op in matrix}), ("communication_matrix", matrix)):
                self.write(f"{folder}/ASCEND_PROFILER_OUTPUT/{name}.json", json.dumps({"step10": {"p2p": {}, "collective": operations}}))
        def operations(*words):
            matrix = json.loads(self.file_of(self.scratch / "data", "cluster_communication_matrix.json", *words, mode="communication_matrix"))
            return {name.split("@")[0]: links["0-1"]["Transit Size(MB)"] for name, links in matrix["(0, 1)"]["step10"].items()}
        self.assertEqual(operations(), {"allreduce-top1": 8, "allreduce-middle": 8, "allreduce-bottom1": 8, "allreduce-bottom2": 8,
                                        "allreduce-total": 16, "Total Op Info": 16})
        self.assertEqual(operations("--compat"), {"hcom_allReduce__563_0_1": 8, "hcom_allReduce__563_1_1": 8, "Total Op Info": 16})

    def p2p_links(self, rows):
        return {(row["src_rank"], row["dst_rank"], row.get("mapped")) for row in rows if row["hccl_op_name"].startswith(("send", "receive"))}

    def test_defect_08_links_point_to_point(self):
        """Stage 0 is ranks 0 to 3, stage 1 the others; no rank has a link with itself in these groups."""
        right, reference = self.both(self.made / "db", "communication_matrix", "ClusterCommunicationMatrix")
        expected = {(rank, rank + 4, 1) for rank in range(4)} | {(rank + 4, rank, 1) for rank in range(4)}
        self.assertLessEqual({(rank, rank + 4, 1) for rank in range(4)}, self.p2p_links(right))
        self.assertLessEqual(self.p2p_links(right), expected)
        self.assertEqual(self.p2p_links(reference), set())

    def test_defect_08_without_metadata(self):
        """All members were captured: the n-th of a group is the n-th by rank."""
        told = self.p2p_links(self.rows_of(self.made / "db", "ClusterCommunicationMatrix", mode="communication_matrix"))
        cluster = self.copy("db")
        without_groups(cluster)
        self.assertEqual(self.p2p_links(self.rows_of(cluster, "ClusterCommunicationMatrix", mode="communication_matrix")), told)
        self.assertEqual(len(self.rows_of(cluster, "ClusterLinkBandwidth")), len(self.rows_of(self.made / "db", "ClusterLinkBandwidth")))

    def test_defect_08_groups_seen_in_part(self):
        cluster = generate(self.scratch / "data", "--format", "db", "--missing", "6")
        without_groups(cluster)
        right, reference = self.both(cluster, "communication_matrix", "ClusterCommunicationMatrix")
        self.assertTrue([row for row in right if row["mapped"] == 0])
        ends = {(row["src_rank"], row["dst_rank"]) for row in reference}
        self.assertFalse([pair for pair in ends if 6 in pair])
        strict = self.rows_of(cluster, "ClusterCommunicationMatrix", "--strict_reference", mode="communication_matrix")
        self.assertEqual([row for row in right if row["mapped"] == 1], strict)
        text = generate(self.scratch / "text", "--format", "text", "--missing", "6")
        without_groups(text)
        self.assertRegex(self.file_of(text, "cluster_communication_matrix.json"), r'"\d+-L\d+"|"L\d+-\d+"')
        self.assertNotRegex(self.file_of(text, "cluster_communication_matrix.json", "--compat"), r'"L\d+-|-L\d+"')

    def test_defect_17_the_fastest_is_the_top(self):
        cluster = as_mindspore(self.copy("db"))
        right, reference = self.both(cluster, "communication_matrix", "ClusterCommunicationMatrix")
        def ends_of(rows, kind):
            return {(row["group_name"], row["src_rank"], row["dst_rank"]): row["bandwidth"] for row in rows if row["hccl_op_name"] == kind}
        fastest, slowest = ends_of(right, "allreduce-top1"), ends_of(right, "allreduce-bottom1")
        self.assertTrue(fastest)
        self.assertTrue(all(fastest[link] >= slowest[link] for link in fastest))
        self.assertTrue(any(fastest[link] > slowest[link] for link in fastest))
        self.assertEqual({row["step"] for row in right + reference}, {"step"})
        # A database is asked for the name before "__", and sorted the other way round.
        self.assertEqual(ends_of(reference, "hcom_allReduce-top1"), {link: slowest[link] for link in ends_of(reference, "hcom_allReduce-top1")})
        self.assertTrue(ends_of(reference, "hcom_allReduce-top1"))

    def test_defect_33_links_without_time(self):
        cluster = self.copy("db")
        for rank in range(8):
            edit(analysis_db(cluster, rank), "UPDATE CommAnalyzerMatrix SET transit_time = 0, bandwidth = 0")
        right, reference = self.both(cluster, "communication_matrix", "ClusterCommunicationMatrix")
        self.assertEqual({row["bandwidth"] for row in right}, {0})
        self.assertEqual({row["bandwidth"] for row in reference if row["hccl_op_name"] == "Total Op Info"}, {math.inf})
        self.assertEqual({row["bandwidth"] for row in reference if row["hccl_op_name"] != "Total Op Info"}, {0})


class Statistics(DefectCase):
    CLUSTERS = {"db": ("--format", "db", "--slow-rank", "5")}

    def calls(self, rank):
        """{(name, layer): durations} of a rank."""
        out = {}
        for name, layer, duration in select(profiler_db(self.made / "db", rank), """SELECT s.value, e.name, c.endNs - c.startNs FROM CANN_API c
                JOIN STRING_IDS s ON s.id = c.name JOIN ENUM_API_TYPE e ON e.id = c.type"""):
            out.setdefault((name, layer), []).append(duration)
        return out

    def test_defect_13_quartiles_and_deviation(self):
        right, reference = self.both(self.made / "db", "cann_api_sum", "CannApiSum")
        ranks = [self.calls(rank) for rank in range(8)]
        for row in right:
            durations = [value for calls in ranks for value in calls[row["name"], row["apiType"]]]
            low, middle, high = statistics.quantiles(durations, n=4, method="inclusive")
            for column, value in (("Q1Ns", low), ("medNs", middle), ("Q3Ns", high), ("stdev", statistics.stdev(durations))):
                self.assertAlmostEqual(row[column], value, delta=0.051, msg=(row["name"], column))
        self.assertTrue(right)
        for row in reference:
            of_rank = [[value for (name, _), values in calls.items() if name == row["name"] for value in values] for calls in ranks]
            quartiles = [statistics.quantiles(values, n=4, method="inclusive") for values in of_rank]
            self.assertAlmostEqual(row["Q1Ns"], min(low for low, _, _ in quartiles), delta=0.051)
            self.assertAlmostEqual(row["medNs"], statistics.median(middle for _, middle, _ in quartiles), delta=0.11)
            self.assertAlmostEqual(row["Q3Ns"], max(high for _, _, high in quartiles), delta=0.051)

    def test_defect_14_groups_whose_names_end_alike(self):
        cluster = self.copy("db")
        for rank in range(8):
            names = select(profiler_db(cluster, rank), "SELECT id, value FROM STRING_IDS WHERE value LIKE 'hcom_%__%_1'")
            edit(profiler_db(cluster, rank), *(("UPDATE STRING_IDS SET value = ? WHERE id = ?",
                                               ("{}__777_{}".format(*(value.split("__")[0], value.split("__")[1].split("_", 1)[1])), number))
                                              for number, value in names))
        right, reference = self.both(cluster, "hccl_sum", "HcclTopOpStats", "--top_num", "1000")
        name = "hcom_allReduce__777_0_1"
        of_groups = [row for row in right if row["OpName"] == name]
        [merged] = [row for row in reference if row["OpName"] == name]
        self.assertGreater(len(of_groups), 1)
        self.assertEqual(len({row["GroupName"] for row in of_groups}), len(of_groups))
        self.assertEqual(merged["Count"], sum(row["Count"] for row in of_groups))
        self.assertAlmostEqual(merged["SumNs"], sum(row["SumNs"] for row in of_groups))

    def test_defect_15_marks_have_times_on_the_device(self):
        cluster = self.copy("db")
        path = profiler_db(cluster, 0)
        launches = select(path, """SELECT c.startNs, c.connectionId, t.startNs, t.endNs, p.startNs, p.endNs FROM CANN_API c
                JOIN TASK t ON t.connectionId = c.connectionId JOIN CONNECTION_IDS i ON i.connectionId = c.connectionId
                JOIN PYTORCH_API p ON p.connectionId = i.id ORDER BY c.startNs LIMIT 2""")
        edit(path, "DELETE FROM MSTX_EVENTS", "INSERT INTO STRING_IDS VALUES (900000, 'work_start'), (900001, 'work_stop')",
             *(("""INSERT INTO MSTX_EVENTS (startNs, endNs, eventType, rangeId, category, message, globalTid, endGlobalTid, domainId, connectionId)
                   VALUES (?, ?, 3, 0, 0, ?, 7, 7, 65535, ?)""", (start, start, 900000 + i, connection))
               for i, (start, connection, *_) in enumerate(launches)))
        right, reference = self.both(cluster, "mstx_sum", "MSTXMarkStats")
        [right] = [row for row in right if row["Name"] == "work"]
        [reference] = [row for row in reference if row["Name"] == "work"]
        self.assertEqual(right["CannDurationNs"], launches[1][0] - launches[0][0])
        self.assertEqual(right["CannDurationNs"], reference["CannDurationNs"])
        self.assertGreater(right["DeviceDurationNs"], 0)
        self.assertEqual((reference["DeviceDurationNs"], reference["FrameworkDurationNs"]), (0, 0))

    def test_defect_16_ratios_of_operators(self):
        right, reference = self.both(self.made / "db", "communication_time", "ClusterCommunicationTime")
        waiting = [row for row in right if row["hccl_op_name"] != "Total Op Info" and row["wait_time"] > 0]
        self.assertTrue(waiting)
        for row in waiting:
            self.assertAlmostEqual(row["wait_time_ratio"], row["wait_time"] / (row["wait_time"] + row["transit_time"]), delta=0.00006)
        self.assertEqual({row["wait_time_ratio"] for row in reference if row["hccl_op_name"] != "Total Op Info"}, {0})


class TimeSummary(DefectCase):
    CLUSTERS = {"some": ("--format", "db", "--missing", "1,6")}

    def test_defect_18_groups_seen_in_part(self):
        right, reference = self.both(self.made / "some", "cluster_time_summary", "ClusterTimeSummary")
        for row in right:
            [(transit, wait)] = select(analysis_db(self.made / "some", row["rank"]), """SELECT 1000 * sum(transit_time), 1000 * sum(wait_time)
                FROM CommAnalyzerTime WHERE step = 'step' || ?""", row["step"])
            self.assertAlmostEqual(row["communicationTransmitStageTime"], transit, delta=0.002)
            self.assertAlmostEqual(row["communicationWaitStageTime"], wait, delta=0.002)
        # The shortest duration among those seen, whoever was not.
        operators = {}
        for rank in (0, 2, 3, 4, 5, 7):
            for group, name, start, duration in select(profiler_db(self.made / "some", rank), """SELECT o.groupName, s.value, c.startNs,
                    o.endNs - o.startNs FROM COMMUNICATION_OP o JOIN STRING_IDS s ON s.id = o.opName JOIN CANN_API c USING (connectionId)"""):
                for step, begin, end in select(profiler_db(self.made / "some", rank), "SELECT id, startNs, endNs FROM STEP_TIME"):
                    if begin <= start <= end:
                        operators.setdefault((name, step), []).append((rank, duration))
        transmit = {}
        for (_, step), calls in operators.items():
            for rank, _ in calls:
                transmit[rank, step] = transmit.get((rank, step), 0) + min(duration for _, duration in calls) / 1000
        for row in reference:
            self.assertAlmostEqual(row["communicationTransmitStageTime"], transmit[row["rank"], row["step"]], delta=0.002)

    def test_defect_18_level_0(self):
        cluster = generate(self.scratch / "zero", "--format", "db", "--level", "0")
        rows = self.rows_of(cluster, "ClusterTimeSummary", mode="cluster_time_summary")
        self.assertEqual(len(rows), 16)
        self.assertTrue(all(row["computation"] > 0 for row in rows))


class SlowRank(DefectCase):
    CLUSTERS = {"dp": ("--format", "db", "--tp", "1", "--pp", "1", "--slow-rank", "5")}

    def test_defect_19_a_call_that_one_rank_did_not_record(self):
        cluster = self.copy("dp")
        all_right, all_reference = self.both(cluster, "slow_rank", "SlowRank")
        self.assertEqual([row["rankId"] for row in all_right], [5])
        self.assertEqual([row["rankId"] for row in all_reference], [5])
        edit(profiler_db(cluster, 3), "DELETE FROM COMMUNICATION_OP WHERE opId IN (SELECT max(opId) FROM COMMUNICATION_OP GROUP BY groupName)")
        [right] = self.rows_of(cluster, "SlowRank", mode="slow_rank")
        self.assertEqual(right["rankId"], 5)
        self.assertIn(all_right[0]["slowAffectCount"] - right["slowAffectCount"], (0, 1, 2))
        self.cluster(cluster, "--compat", mode="slow_rank", out=self.scratch / "compat", expect=3)

    def test_defect_20_units(self):
        right, reference = self.both(self.made / "dp", "slow_rank", "SlowOpStats")
        key = lambda row: (row["OpName"], row["GroupName"])  # noqa: E731
        right = {key(row): row for row in right}
        self.assertTrue(reference)
        for row in reference:
            for column in ("MeanNs", "MinNs", "MaxNs", "SumNs"):
                self.assertAlmostEqual(right[key(row)][column], 1000 * row[column], delta=1)

    def test_defect_21_no_outlier(self):
        cluster = generate(self.scratch / "healthy", "--format", "db")
        done = self.cluster(cluster, mode="slow_link")
        self.assertIn("outlier", done.err)
        self.assertEqual(read_db(self.out)["SlowLinkSum"][1], [])
        self.cluster(cluster, "--export_type", "text", mode="slow_link", out=self.scratch / "text")
        self.assertTrue((self.scratch / "text" / OUTPUT / "SlowLink" / "slow_link_sum.csv").exists())
        self.cluster(cluster, "--compat", mode="slow_link", out=self.scratch / "compat", expect=3)
        self.assertFalse((self.scratch / "compat" / OUTPUT / "cluster_analysis.db").exists())


if __name__ == "__main__":
    unittest.main()
