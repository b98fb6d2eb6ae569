"""Text and db captures of the same run give the same store.

The databases are written from the text files of the sample, in the form real ones have. Where a column or a row is left
out of a comparison, the reason stands beside it; the sections are those of the deliverables specification.
"""

import json
import shutil
import unittest

from sample_db import GROUP_NAME, write_db
from support import DATA, SAMPLE, Case, needs_shared

# Columns that both forms cannot share, by table. Every other column must be equal, also one that is new.
TEXT_OR_DB_ONLY = {
    "kernels": {
        "device",  # db only: kernel_details.csv has Device_id since CANN 8.1 (5)
        "correlation",  # db only: kernel_details.csv has no connection id (5)
        "slice_id",  # row numbers differ; test_slices_of_kernels compares the slices
        "cube_utilization(%)",  # kernel_details.csv only: TASK_PMU_INFO does not have it
    },
    "comm_ops": {
        "track_id",  # row numbers differ; test_slices compares the tracks by name
        "group_name",  # text has the hash of what the db has (10, 11.3); test_groups compares them
    },
    "comm_tasks": {
        "track_id", "group_name",  # as in comm_ops
        "op_name",  # db only: the tasks on a plane do not say it (4.3)
        "rdma_type",  # db only: the args of plane tasks lack it (4.3)
    },
}
# COMMUNICATION_OP has no blocks and no model; kernel_details.csv fills in 0 and 'none' (5, 11.3).
TEXT_ONLY_OF_COLLECTIVES = {"block_dim", "model_id"}

# Facts that only a db has.
DB_FACTS = {"SCHEMA_VERSION", "SCHEMA_VERSION_MAJOR", "SCHEMA_VERSION_MINOR", "SCHEMA_VERSION_MICRO", "hostUid", "hostName",
            "npuName", "startTimeNs", "endTimeNs", "RANK_DEVICE_MAP.rankId"}

ON_TRACK = ("JOIN tracks t ON t.rank = x.rank AND t.id = x.{column} "
            "JOIN tracks p ON p.rank = t.rank AND p.id = t.parent_id")
# Only text has these; a db leaves them to be derived (13).
NOT_OVERLAP = "p.name != 'Overlap Analysis'"


class TextAndDb(Case):
    def setUp(self):
        super().setUp()
        self.text, self.db = SAMPLE, self.scratch / "db"
        self.write_dbs()

    def write_dbs(self):
        shutil.rmtree(self.db, ignore_errors=True)
        for folder in sorted(self.text.iterdir()):
            write_db(folder, self.db)

    def both(self, sql):
        return self.query(self.text, sql), self.query(self.db, sql)

    def check_table(self, table, order, where="1", left_out=()):
        """Every column that both forms can have is equal, row by row."""
        text, db = self.both(f"SELECT * FROM {table} WHERE {where} ORDER BY rank, {order}")
        self.assertTrue(text)
        self.assertEqual(len(text), len(db), table)
        left_out = TEXT_OR_DB_ONLY.get(table, set()) | set(left_out) | {"id"}
        for column in {**text[0], **db[0]}:
            if column not in left_out:
                with self.subTest(table=table, column=column):
                    self.assertEqual([row.get(column) for row in text], [row.get(column) for row in db])

    def check_rows(self, sql):
        """The same rows, in any order."""
        text, db = (sorted(rows, key=json.dumps) for rows in self.both(sql))
        self.assertTrue(text)
        self.assertEqual(text, db)

    def test_all_of_the_db_is_used(self):
        text, db = self.info(self.text, options=["--strict"]), self.info(self.db, options=["--strict"])
        self.assertEqual([rank["rank"] for rank in db["ranks"]], [0, 1])
        for table in ("kernels", "comm_ops", "allocations", "memory_samples"):
            self.assertEqual([rank["counts"][table] for rank in text["ranks"]],
                             [rank["counts"][table] for rank in db["ranks"]], table)

    def test_ranks(self):
        # Not compared: format and path, which name the form; device, which text up to CANN 8.0 does not name (4.2, 5);
        # slices, since only text has Overlap Analysis.
        self.check_rows("SELECT rank, source, level, begin_ns, end_ns, kernels FROM ranks")

    # Device

    def test_compute_kernels(self):
        self.check_table("kernels", "begin_ns, name", "core != 'HCCL'")

    def test_collectives_among_kernels(self):
        self.check_table("kernels", "begin_ns, name", "core = 'HCCL'", TEXT_ONLY_OF_COLLECTIVES)

    def test_slices_of_kernels(self):
        self.check_rows("SELECT k.rank, k.name AS kernel, s.name, s.begin_ns, s.dur_ns, t.name AS track, p.name AS process "
                        "FROM kernels k JOIN slices s ON s.rank = k.rank AND s.id = k.slice_id " +
                        ON_TRACK.format(column="track_id").replace("x.", "s.") + f" WHERE {NOT_OVERLAP}")
        text, db = self.both("SELECT count(*) AS n FROM kernels WHERE slice_id IS NULL")
        self.assertEqual([text[0]["n"], db[0]["n"]], [0, 0])

    def test_metrics_are_there(self):
        text, db = self.both('SELECT count("aicore_time(us)") AS n, sum("aiv_time(us)") AS us FROM kernels')
        self.assertEqual(text, db)
        self.assertEqual(text[0]["n"], 102)

    def test_collectives_and_their_tasks(self):
        self.check_table("comm_ops", "begin_ns")
        text, db = self.both("SELECT count, data_type, size_bytes FROM comm_ops ORDER BY rank, begin_ns")
        self.assertEqual(text, db)
        for op in text:
            self.assertEqual(op["size_bytes"], op["count"] * {"FP32": 4, "FP16": 2, "BFP16": 2}[op["data_type"]])
        self.check_table("comm_tasks", "begin_ns, plane")

    def test_tasks_without_notify(self):
        # In real captures a Memcpy has no notify: 2^64 - 1 in the text, 2^63 - 1 in the db. The sample has no such task.
        self.text = self.scratch / "text"
        shutil.copytree(SAMPLE, self.text)
        for path in self.text.rglob("trace_view.json"):
            events = json.loads(path.read_text())
            for event in events:
                if event["name"] == "Memcpy":
                    event["args"]["notify_id"] = "18446744073709551615"
            path.write_text(json.dumps(events))
        self.write_dbs()
        self.check_rows("SELECT rank, name, begin_ns, plane, notify_id FROM comm_tasks")

    def test_groups(self):
        # A db names a group by its identifier, the other files of both forms by the hash of that (10).
        groups = self.query(self.text, "SELECT DISTINCT group_name FROM comm_times WHERE op_name != 'Total Op Info'")
        self.assertEqual(len(groups), 1)
        for table in ("comm_ops", "comm_tasks"):
            text, db = self.both(f"SELECT DISTINCT group_name FROM {table}")
            self.assertEqual(text, groups)
            self.assertEqual(db, [{"group_name": GROUP_NAME}])

    @needs_shared
    def test_groups_of_a_real_timeline(self):
        folder = next(DATA.glob("ascend_pt/text/level1/rank0*"))
        for table in ("comm_ops", "comm_tasks"):
            self.assertEqual(self.query(folder, f"SELECT DISTINCT group_name FROM {table}"), [{"group_name": "17522688603477080586"}])

    @needs_shared
    def test_totals_of_a_real_db(self):
        folder = next(DATA.glob("ascend_pt/db/level1/rank0*"))
        self.assertEqual(self.query(folder, "SELECT count(*) AS n FROM comm_times WHERE op_name = 'Total Op Info'"), [{"n": 1}])
        self.assertEqual(self.query(folder, "SELECT count(*) AS n FROM kernels WHERE step = 50"), [{"n": 191}])

    # Timeline

    def test_slices(self):
        # Not compared: where the args are (args_offset, args_size), since a db has no args, and the task types on streams,
        # which a db has as the driver calls them (MEMCPY_ASYNC) and a trace as the exporter does (PCIE_DMA_SQE).
        self.check_rows(f"SELECT x.rank, p.name AS process, t.name AS thread, "
                        f"iif(p.name = 'Ascend Hardware', '', x.category) AS category, x.name, x.begin_ns, x.dur_ns, "
                        f"x.depth, x.correlation FROM slices x {ON_TRACK.format(column='track_id')} WHERE {NOT_OVERLAP}")

    def test_parents_of_slices(self):
        self.check_rows(f"SELECT x.rank, x.name, x.begin_ns, o.name AS parent, o.begin_ns AS parent_ns FROM slices x "
                        f"JOIN slices o ON o.rank = x.rank AND o.id = x.parent_id {ON_TRACK.format(column='track_id')} "
                        f"WHERE {NOT_OVERLAP}")

    def test_threads(self):
        # Not compared: pid and the order of processes, whose index is not the same in every generation (4.2).
        self.check_rows(f"SELECT x.rank, p.name AS process, p.label AS of, x.name, x.tid, x.sort_index FROM tracks x "
                        f"JOIN tracks p ON p.rank = x.rank AND p.id = x.parent_id "
                        f"WHERE x.kind = 'thread' AND {NOT_OVERLAP}")

    def test_host_ops(self):
        self.check_rows("SELECT x.rank, s.name, s.begin_ns, x.sequence_number, x.fwd_thread, x.input_shapes, x.input_types, "
                        "x.call_stack FROM host_ops x JOIN slices s ON s.rank = x.rank AND s.id = x.slice_id")

    def test_flows(self):
        # Left out: async_npu to copies. Text follows every launch, a db only those of the node level (3.3, 11.2).
        ends = "a.name AS from_thread, x.from_ns, t.name AS to_thread, x.to_ns"
        self.check_rows(f"SELECT x.rank, x.kind, p.name AS process, {ends} FROM flows x "
                        f"{ON_TRACK.format(column='to_track_id')} "
                        f"JOIN tracks a ON a.rank = x.rank AND a.id = x.from_track_id "
                        f"WHERE x.kind IN ('async_task_queue', 'fwdbwd') OR (x.kind = 'async_npu' AND EXISTS "
                        f"(SELECT 1 FROM kernels k WHERE k.rank = x.rank AND k.begin_ns = x.to_ns))")

    def test_flows_from_apis(self):
        # Not compared: from_ns. Text has a moment within the call, a db only the call (4.4).
        self.check_rows(f"SELECT x.rank, a.name AS from_thread, t.name AS to_thread, x.to_ns FROM flows x "
                        f"{ON_TRACK.format(column='to_track_id')} "
                        f"JOIN tracks a ON a.rank = x.rank AND a.id = x.from_track_id WHERE x.kind = 'HostToDevice'")

    def test_counters(self):
        # Left out: DDR and Memory of NPU MEM, which the sample's trace does not have.
        self.check_rows(f"SELECT x.rank, p.name AS process, t.name AS series, t.label, x.ts_ns, x.value FROM counters x "
                        f"{ON_TRACK.format(column='track_id')} "
                        f"WHERE t.name NOT LIKE '%/DDR' AND t.name NOT LIKE '%/Memory'")

    # Memory

    def test_memory(self):
        self.check_table("allocations", "id")
        self.check_table("module_memory", "id")
        self.check_table("memory_samples", "id", "component != 'GE'")
        self.check_table("memory_samples", "id", "component = 'GE'", {"active_bytes"})

    def test_ge_has_no_active_memory(self):
        self.check_rows("SELECT rank, ts_ns, active_bytes FROM memory_samples WHERE component = 'GE'")

    # Results

    def test_communication_results(self):
        # Left out: links without traffic, which a db does not have (12).
        self.check_table("comm_times", "step, op_name", "op_name != 'Total Op Info'")
        self.check_table("comm_bandwidths", "step, op_name, transport", "op_name != 'Total Op Info' AND transit_size_mb > 0")
        self.check_rows("SELECT x.rank, b.step, b.op_name, b.group_name, b.transport, x.package_size_mb, x.count, round(x.total_ms, 9) AS ms "
                        "FROM comm_packets x JOIN comm_bandwidths b ON b.rank = x.rank AND b.id = x.bandwidth_row")
        # Totals: sums of doubles, which the sample's text has rounded.
        times = ", ".join(f"round({part}_ms, 9) AS {part}" for part in ("elapse", "transit", "wait", "synchronization", "idle"))
        self.check_rows(f"SELECT rank, step, kind, group_name, start_us, {times}, wait_ratio, synchronization_ratio "
                        f"FROM comm_times WHERE op_name = 'Total Op Info'")
        self.check_rows("SELECT rank, step, kind, transport, round(transit_size_mb, 9) AS mb, round(transit_ms, 9) AS ms, bandwidth_gbps, "
                        "large_packet_ratio FROM comm_bandwidths WHERE op_name = 'Total Op Info' AND transit_size_mb > 0")
        self.check_table("comm_links", "step, op_name, src_rank, dst_rank")

    def test_steps(self):
        self.check_table("steps", "step")
        # Not here: Free and Stage, which text counts with the time up to the next step; test_breakdown compares them.
        self.check_table("step_traces", "step", left_out={"free_us", "stage_us"})

    def test_breakdown(self):
        text, db = self.rows("breakdown", self.text), self.rows("breakdown", self.db)
        self.assertEqual(len(text), 6)
        self.assertEqual(len(text), len(db))
        begins = {(row["rank"], row["step"]): row["begin_ns"] for row in self.query(self.text, "SELECT * FROM steps")}
        free = {(row["rank"], row["begin_ns"]): row["dur_ns"]
                for row in self.query(self.text, "SELECT rank, begin_ns, dur_ns FROM slices WHERE name = 'Free'")}
        for row, other in zip(text, db):
            # Text counts a piece of Free where it starts, so a step has the time up to the next one; a db counts the
            # gaps within the step (7, 12). Nothing else may differ.
            end_ns = begins[row["Rank"], row["Step"]] + round((other["Preparing"] + other["Stage"] + other["Bubble"]) * 1000)
            after_ns = free.get((row["Rank"], end_ns), 0)
            in_text = {name: round((value + after_ns / 1000) * 1000) if name in ("Free", "Stage") else round(value * 1000)
                       for name, value in other.items()}
            self.assertEqual({name: round(value * 1000) for name, value in row.items()}, in_text)
        self.assertEqual(len([row for row, other in zip(text, db) if row["Free"] > other["Free"]]), 4)

    def test_stored_steps_are_those_of_breakdown(self):
        for path in (self.text, self.db):
            stored = self.query(path, "SELECT * FROM step_traces ORDER BY rank, step")
            for row, values in zip(self.rows("breakdown", path), stored, strict=True):
                del row["Step Time"]  # of the marks and the device, not of the table
                self.assertEqual(list(row.values()), [values[column] for column in values if column not in ("id", "device")])

    def test_operators(self):
        for by in ("type", "name", "shape", "core", "api"):
            text, db = (self.rows("ops", path, "--by", by) for path in (self.text, self.db))
            self.assertTrue(text)
            self.assertEqual(text, db, by)

    # Facts

    def test_facts(self):
        text, db = ({(row["rank"], row["name"], row["value"]) for row in rows}
                    for rows in self.both("SELECT rank, name, value FROM meta"))
        self.assertTrue(text)
        self.assertEqual(text - db, set())
        self.assertEqual({name for _, name, _ in db} - {name for _, name, _ in text}, DB_FACTS)

    def test_facts_come_once(self):
        names = ", ".join(f"'{name}'" for name in sorted(DB_FACTS))
        self.check_rows(f"SELECT rank, name, value FROM meta WHERE name NOT IN ({names})")


if __name__ == "__main__":
    unittest.main()
