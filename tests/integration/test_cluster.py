"""steplens cluster from outside: bad input is normal input, and the same captures always give the same result.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_cluster.py [-k slow_link]

The clusters come from tools/synth_cluster.py: each class generates the ones its tests share once.
"""

import contextlib
import csv
import importlib.util
import io
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from support import DATA, PROGRAM, ROOT, SAMPLE, Case, needs_shared, snapshot

sys.path.insert(0, str(ROOT / "tools"))
from synth_cluster.command import main as synth_cluster  # noqa: E402

OUTPUT = "cluster_analysis_output"
ALL_MODES = ("all", "cann_api_sum", "compute_op_sum", "freq_analysis", "ep_load_balance", "computational_op_masking", "free_analysis",
             "mstx_sum", "hccl_sum", "module_statistic", "operator_mfu", "export_summary", "cluster_time_summary", "slow_rank", "slow_link",
             "communication_bottleneck", "p2p_pairing", "pp_chart", "mstx2commop")


def generate(folder, *options):
    """Writes a synthetic cluster of eight ranks with tp=2 pp=2; `options` may say otherwise."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = synth_cluster([str(folder), "--ranks", "8", "--tp", "2", "--pp", "2", "--jobs", "1", *options])
    if code != 0:
        raise AssertionError(f"{options}: {said.getvalue()}")
    return folder


def read_db(folder):
    """{table: (columns, rows)} of the results below an output folder, rows in their order."""
    db = sqlite3.connect(f"file:{folder / OUTPUT / 'cluster_analysis.db'}?mode=ro", uri=True)
    with contextlib.closing(db):
        tables = {}
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            cursor = db.execute(f'SELECT * FROM "{name}"')
            tables[name] = [column[0] for column in cursor.description], cursor.fetchall()
        return tables


def read_table(folder, name):
    """The rows of one result table as dictionaries."""
    columns, rows = read_db(folder)[name]
    return [dict(zip(columns, row)) for row in rows]


def rank_folder(cluster, rank):
    [info] = cluster.glob(f"*/profiler_info_{rank}.json")
    return info.parent


def wreck(cluster, rank):
    """Nothing of what the profiler wrote for this rank can be read any more."""
    for path in (rank_folder(cluster, rank) / "ASCEND_PROFILER_OUTPUT").iterdir():
        path.write_bytes(b"\xff" * 300)


class ClusterCase(Case):
    CLUSTERS = {}  # name -> options of the generator

    @classmethod
    def setUpClass(cls):
        cls.made = pathlib.Path(tempfile.mkdtemp(prefix="steplens_test_clusters_"))
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        for name, options in cls.CLUSTERS.items():
            generate(cls.made / name, *options)

    def setUp(self):
        super().setUp()
        self.out = self.scratch / "out"

    def cluster(self, source, *words, mode="summary", out=None, expect=0):
        return self.run_program("cluster", "-d", source, "-m", mode, "-o", out or self.out, *words, expect=expect)

    def copy(self, name):
        """A copy of a cluster of the class that the test may damage."""
        return pathlib.Path(shutil.copytree(self.made / name, self.scratch / "data"))

    def assert_no_remains(self, folder):
        for path in folder.rglob("*"):
            self.assertNotRegex(path.name, r"\.tmp|-journal|-wal|\.[A-Za-z0-9]{6}$", f"{path} was left behind")

    def tables_of(self, source, *words, **more):
        """The results of a run of its own."""
        out = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        self.cluster(source, *words, out=out, **more)
        return read_db(out)

    def findings(self, source):
        return [(row["kind"], row["subject"], row["reason"]) for row in self.rows_of(source, "ClusterFindings")]

    def overview(self, source, *words):
        [row] = self.rows_of(source, "ClusterOverview", *words)
        return row

    def rows_of(self, source, table, *words, mode="summary"):
        columns, rows = self.tables_of(source, *words, mode=mode)[table]
        return [dict(zip(columns, row)) for row in rows]


class BadInput(ClusterCase):
    CLUSTERS = {"text": ("--format", "text"), "db": ("--format", "db"), "mixed": ("--format", "mixed")}

    def fails(self, source, code, *texts):
        done = self.cluster(source, expect=code)
        self.assertEqual(done.out, "")
        self.assertEqual(len(done.err.splitlines()), 1, done.err)
        for text in texts:
            self.assertIn(text, done.err)
        self.assertFalse(self.out.exists(), "a run without data left an output folder")

    def scores(self, source, *words):
        return {row["rank"]: row for row in self.rows_of(source, "ClusterRankScore", *words)}

    def test_a_rank_with_one_damaged_file_is_named(self):
        for form in ("text", "db", "mixed"):
            with self.subTest(form):
                done = self.cluster(generate(self.scratch / form, "--format", form, "--damaged", "3"), mode="all,hccl_sum,slow_rank")
                self.assertRegex(done.err, r"\brank 3\b")
                self.assertLessEqual({0, 1, 2, 4, 5, 6, 7}, {row["rank"] for row in read_table(self.out, "ClusterRankScore")})

    def test_an_unreadable_rank_is_named_and_left_out(self):
        for form in ("text", "db"):
            with self.subTest(form):
                cluster = pathlib.Path(shutil.copytree(self.made / form, self.scratch / form))
                wreck(cluster, 3)
                self.assertRegex(self.cluster(cluster).err, rf"\brank 3\b.* {re.escape(str(cluster))}/\S*100003")
                self.assertEqual(self.overview(cluster)["step(ms)"], self.overview(self.made / form, "--rank_list", "0-2,4-7")["step(ms)"])

    def test_all_ranks_unreadable(self):
        for form in ("text", "db"):
            with self.subTest(form):
                cluster = pathlib.Path(shutil.copytree(self.made / form, self.scratch / form))
                for rank in range(8):
                    wreck(cluster, rank)
                self.cluster(cluster, expect=1)

    def test_ranks_with_different_steps(self):
        cluster = generate(self.scratch / "steps", "--format", "mixed", "--missing-steps", "1:11", "--missing-steps", "2:10")
        self.cluster(cluster, mode="all")
        steps = {(row["step"], row["index"]) for row in read_table(self.out, "ClusterStepTraceTime") if row["type"] == "rank"}
        everything = {(step, str(rank)) for step in ("10", "11") for rank in range(8)}
        self.assertEqual(steps, everything - {("11", "1"), ("10", "2")})

    def test_shares_of_the_step_add_up_where_steps_are_missing(self):
        for words in ((), ("--missing-steps", "1:11", "--missing-steps", "2:10")):
            with self.subTest(words=words):
                job = self.overview(generate(self.scratch / f"steps{len(words)}", *words))
                self.assertAlmostEqual(job["computing(%)"] + job["communicationNotOverlapped(%)"] + job["free(%)"], 100, delta=0.1)

    def test_copies_of_a_gpu_are_a_share_of_the_step(self):
        events = [{"ph": "X", "name": name, "cat": cat, "pid": 0, "tid": 7, "ts": ts, "dur": dur, "args": {"device": 0, "stream": 7}}
                  for name, cat, ts, dur in (("gemm", "kernel", 0, 60), ("Memcpy HtoD", "gpu_memcpy", 60, 25), ("gemm", "kernel", 95, 5))]
        for rank in range(2):
            self.write(f"gpu/rank{rank}.json", json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": events}))
        job = self.overview(self.scratch / "gpu")
        shares = [job[f"{part}(%)"] for part in ("computing", "communicationNotOverlapped", "copies", "free")]
        self.assertEqual([round(share) for share in shares], [65, 0, 25, 10])
        self.assertIn("copies 25.0 %, free 10.0 %", self.cluster(self.scratch / "gpu", mode="summary").out)

    def test_text_and_db_ranks_side_by_side(self):
        scores = [self.scores(self.made / form) for form in ("mixed", "text", "db")]
        self.assertEqual(set(scores[0]), set(range(8)))
        for rank in range(8):
            for column in ("computing(ms)", "transit(ms)", "waitSuffered(ms)"):
                for other in scores[1:]:
                    self.assertAlmostEqual(scores[0][rank][column], other[rank][column], places=2)

    def test_one_rank_without_communication_json(self):
        cluster = self.copy("text")
        whole = self.scores(cluster)
        (rank_folder(cluster, 3) / "ASCEND_PROFILER_OUTPUT" / "communication.json").unlink()
        self.cluster(cluster, mode="all")
        without = self.scores(cluster)
        for rank in set(range(8)) - {3}:
            # What a rank recorded of its own part does not depend on who else was captured.
            self.assertEqual(without[rank]["transit(ms)"], whole[rank]["transit(ms)"])
        communication = json.loads((self.out / OUTPUT / "cluster_communication.json").read_text())
        seen = {int(rank) for members in communication for rank in re.findall(r"\d+", members)}
        self.assertEqual(seen, {0, 1, 2, 4, 5, 6, 7})

    def test_ranks_without_links_are_counted(self):
        cluster = self.copy("text")
        for count, says in ((1, "1 of 8 ranks has no links"), (8, "8 of 8 ranks have no links")):
            for rank in range(count):
                (rank_folder(cluster, rank) / "ASCEND_PROFILER_OUTPUT" / "communication_matrix.json").unlink(missing_ok=True)
            self.assertIn(says, self.cluster(cluster, mode="all").err)
            self.assertNotIn("no links", self.cluster(cluster, mode="communication_time").err)
        self.assertNotIn("no links", self.cluster(self.made / "text", mode="all").err)

    def test_groups_seen_in_part_say_so(self):
        cluster = generate(self.scratch / "holes", "--format", "db", "--missing", "6")
        done = self.cluster(cluster, mode="all")
        self.assertIn("7 of 8 ranks", done.err)
        [job] = read_table(self.out, "ClusterOverview")
        self.assertEqual((job["ranksSeen"], job["ranksExpected"]), (7, 8))
        self.assertGreater(job["callsPartlySeen"], 0)
        for group in read_table(self.out, "CommunicationGroupMapping"):
            ranks = [int(rank) for rank in re.findall(r"\d+", group["rank_set"])]
            self.assertEqual(group["expected_ranks"], len(ranks))
            self.assertEqual(group["seen_ranks"], len(set(ranks) - {6}), group)

    def test_of_two_captures_of_a_rank_the_newest_counts(self):
        for form in ("text", "db"):
            done = self.cluster(generate(self.scratch / form, "--format", form, "--duplicate", "5"), "--export_type", "db", mode="all")
            self.assertEqual(done.err.count("captured more than once"), 1)
            steps = {row["step"] for row in read_table(self.out, "ClusterStepTraceTime") if row["index"] == "5"}
            self.assertEqual(steps, {"10", "11"})

    def test_nothing_there(self):
        (self.scratch / "empty").mkdir()
        self.fails(self.scratch / "empty", 3, "no profile found", "empty")
        self.assertEqual(list((self.scratch / "empty").iterdir()), [])
        self.fails(self.scratch / "absent", 3, "no such file or folder")

    def test_captures_without_steps_and_communication(self):
        for rank in range(2):
            something = {"ph": "X", "name": "something", "pid": 1, "tid": 1, "ts": 10, "dur": 5}
            self.write(f"host/rank{rank}.json", json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": [something]}))
        for mode, code in (("summary", 3), ("all", 0)):  # which has a table of the ranks
            done = self.cluster(self.scratch / "host", mode=mode, expect=code)
            self.assertIn("2 found, 2 used", done.err)
            self.assertIn("\nNo capture has steps or communication to compare.\n", done.out)
            self.assertNotIn("A step takes", done.out)

    def test_a_file_that_is_no_capture(self):
        self.fails(self.write("notes.txt", "hello"), 3, "notes.txt")

    def test_damage_anywhere_is_survived(self):
        files = sorted(path for path in self.copy("mixed").rglob("*") if path.is_file())
        for seed in range(20):
            chance = random.Random(seed)
            path = chance.choice(files)
            whole = path.read_bytes()
            damaged = bytearray(whole)
            for _ in range(chance.randint(1, 30)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            path.write_bytes(damaged if seed % 2 else damaged[:chance.randrange(len(damaged))])
            with self.subTest(seed=seed, file=path.name):
                self.cluster(self.scratch / "data", "--no-cache", mode=",".join(ALL_MODES), expect=0)
            path.write_bytes(whole)

    def test_the_captures_are_never_changed(self):
        for form in ("text", "db"):
            before = snapshot(self.made / form)
            self.cluster(self.made / form, mode=",".join(ALL_MODES))
            self.assertEqual(snapshot(self.made / form), before)

    def test_in_place_changes_the_databases_only(self):
        cluster = self.copy("db")
        before = snapshot(cluster)
        self.cluster(cluster, "--in_place", mode="p2p_pairing")
        after = snapshot(cluster)
        self.assertEqual(set(after), set(before))
        changed = {pathlib.Path(name).name for name in after if after[name] != before[name]}
        self.assertEqual(changed, {f"ascend_pytorch_profiler_{rank}.db" for rank in range(8)})


    def test_in_place_a_rank_that_cannot_be_changed_stops_no_other(self):
        cluster = self.copy("db")
        before = snapshot(cluster)
        [open_db] = (rank_folder(cluster, 3) / "ASCEND_PROFILER_OUTPUT").glob("ascend_pytorch_profiler_3.db")
        open_db.with_name(open_db.name + "-journal").write_bytes(b"somebody writes")
        done = self.cluster(cluster, "--in_place", mode="p2p_pairing", expect=1)
        self.assertRegex(done.err, r"1 of 8 ranks was not changed \(rank 3: .*another program has it open")
        changed = [name for name, content in snapshot(cluster).items() if name in before and content != before[name]]
        self.assertEqual([int(re.search(r"_(\d)\.db", name)[1]) for name in sorted(changed)], [0, 1, 2, 4, 5, 6, 7])
        for name in changed:
            self.assertIn(name, done.out)

    def test_in_place_captures_that_cannot_be_changed(self):
        cluster = self.copy("db")
        for db in cluster.rglob("ascend_pytorch_profiler_*.db"):
            db.with_name(db.name + "-journal").write_bytes(b"somebody writes")
        before = snapshot(cluster)
        for mode in ("p2p_pairing", "pp_chart"):
            self.assertIn("8 of 8 ranks were not changed", self.cluster(cluster, "--in_place", mode=mode, expect=1).err)
        self.assertEqual(snapshot(cluster), before)


class Stranger(ClusterCase):
    """Somebody who is not root, owns nothing here and may not write the cache either."""
    CLUSTERS = {"text": ("--format", "text"), "db": ("--format", "db")}

    def setUp(self):
        super().setUp()
        self.stranger = 65534 if os.geteuid() == 0 else None
        for folder in (self.made, self.scratch):
            folder.chmod(0o755)
        self.out.mkdir()
        self.out.chmod(0o777)

    def cluster(self, source, *words, mode="all", out=None, expect=0):
        return self.run_program("cluster", "-d", source, "-m", mode, "-o", out or self.out, *words, expect=expect, user=self.stranger)

    def test_the_answer_is_that_of_the_owner(self):
        done = self.cluster(self.made / "db")
        self.assertEqual(done.out, self.run_program("cluster", "-d", self.made / "db", "-o", self.out, expect=0).out)

    def test_an_output_without_permission(self):
        self.out.chmod(0o555)
        for form in ("text", "db"):
            done = self.cluster(self.made / form, expect=1)
            self.assertRegex(done.err, rf"{re.escape(str(self.out))}\S*: cannot make the folder: Permission denied")
            self.assertIn("communication groups", done.out)
        self.assertEqual(snapshot(self.out), {})

    def test_what_may_not_be_read_is_named_and_the_rest_is_used(self):
        for form in ("text", "db"):
            for place in ("", "ASCEND_PROFILER_OUTPUT"):
                with self.subTest(form, place=place):
                    cluster = self.copy(form)
                    locked = rank_folder(cluster, 3) / place
                    locked.chmod(0)
                    done = self.cluster(cluster)
                    locked.chmod(0o755)
                    shutil.rmtree(cluster)
                    self.assertIn("8 found, 7 used, 1 failed", done.err)
                    self.assertIn(f"{locked} is left out: cannot list the folder", done.err)

    def test_files_that_may_not_be_read(self):
        for form in ("text", "db"):
            with self.subTest(form):
                cluster = self.copy(form)
                for path in (rank_folder(cluster, 3) / "ASCEND_PROFILER_OUTPUT").iterdir():
                    path.chmod(0)
                done = self.cluster(cluster)
                shutil.rmtree(cluster)
                self.assertRegex(done.err, "rank 3 is left out: .*Permission denied")

    def test_nothing_may_be_read(self):
        cluster = self.copy("text")
        cluster.chmod(0)
        self.assertIn("Permission denied", self.cluster(cluster, expect=1).err)
        cluster.chmod(0o755)


class BadOutput(ClusterCase):
    CLUSTERS = {"text": ("--format", "text"), "db": ("--format", "db")}

    def test_the_output_is_a_file(self):
        path = self.write("file", "mine")
        for out in (path, path / "below"):
            done = self.cluster(self.made / "db", out=out, expect=1)
            self.assertIn("file", done.err)
        self.assertEqual(path.read_text(), "mine")

    def test_the_results_folder_is_a_file(self):
        path = self.write(f"out/{OUTPUT}", "mine")
        self.cluster(self.made / "db", expect=1)
        self.assertEqual(path.read_text(), "mine")

    def test_an_output_that_cannot_be_made(self):
        self.assertIn("/proc", self.cluster(self.made / "db", out="/proc/absent", expect=1).err)

    def test_what_was_found_is_told_although_it_cannot_be_written(self):
        told = self.cluster(self.made / "db").out.split("\n\n")[1]
        self.assertIn("No slow rank, group or link was found.", told)
        self.assertEqual(self.cluster(self.made / "db", out="/proc/absent", expect=1).out, told)

    def test_an_old_database_that_is_none_stays_as_it_is(self):
        path = self.write(f"out/{OUTPUT}/cluster_analysis.db", "not a database")
        self.cluster(self.made / "db", expect=1)
        self.assertEqual(path.read_text(), "not a database")
        self.assert_no_remains(self.out)

    def check_size_limit(self, on_signal):
        """With files limited to 8 KiB a run fails, and leaves what was there as it was."""
        def limit():
            signal.signal(signal.SIGXFSZ, on_signal)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        for form in ("text", "db"):
            with self.subTest(form):
                self.cluster(self.made / form, mode="hccl_sum,cluster_time_summary", expect=None)
                before = snapshot(self.out)
                words = [PROGRAM, "cluster", "-d", str(self.made / form), "-m", "all,hccl_sum", "-o", str(self.out)]
                done = subprocess.run(words, preexec_fn=limit, capture_output=True, env=self.environment, timeout=60, check=False)
                after = snapshot(self.out)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(b"cannot write", done.stderr)
                self.assert_no_remains(self.out)
                self.assertEqual({name: after.get(name) for name in before}, before)

    def test_files_that_may_not_grow(self):
        self.check_size_limit(signal.SIG_IGN)

    def test_files_that_may_not_grow_and_a_signal_that_says_so(self):
        self.check_size_limit(signal.SIG_DFL)

    def test_a_full_disk(self):
        disk = self.scratch / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "none", str(disk)], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("a small disk cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", str(disk)], check=True)
        self.cluster(self.made / "db", mode="hccl_sum", out=disk)
        before = snapshot(disk)
        self.cluster(self.made / "db", mode="all,hccl_sum", out=disk, expect=1)
        self.assert_no_remains(disk)
        self.assertEqual(snapshot(disk), before)

    def test_tables_and_files_of_others_are_kept(self):
        folder = self.out / OUTPUT
        folder.mkdir(parents=True)
        with contextlib.closing(sqlite3.connect(folder / "cluster_analysis.db")) as db:
            db.execute("CREATE TABLE Mine (a INTEGER, b TEXT)")
            db.execute("INSERT INTO Mine VALUES (1, 'x')")
            db.execute("CREATE TABLE HcclAllRankStats (old TEXT)")
            db.commit()
        self.write(f"out/{OUTPUT}/mine.csv", "a,b\n")
        self.cluster(self.made / "db", mode="hccl_sum")
        self.cluster(self.made / "db", mode="all")
        tables = read_db(self.out)
        self.assertEqual(tables["Mine"], (["a", "b"], [(1, "x")]))
        self.assertEqual(tables["HcclAllRankStats"][0][0], "OpType")
        self.assertIn("ClusterStepTraceTime", tables)
        self.assertEqual((folder / "mine.csv").read_text(), "a,b\n")


class Usage(ClusterCase):
    CLUSTERS = {"text": ("--format", "text"), "db": ("--format", "db", "--slow-rank", "5")}

    def refused(self, *words, says=(), **more):
        done = self.cluster(self.made / "db", *words, expect=2, **more)
        self.assertEqual(done.out, "")
        for text in says:
            self.assertIn(text, done.err)
        self.assertFalse(self.out.exists())

    def test_paths_of_ranks_are_absolute(self):
        def paths(source, cwd):
            self.run_program("cluster", "-d", source, "-m", "all", "-o", self.scratch / "from", "--compat", expect=0, cwd=cwd)
            columns, rows = read_db(self.scratch / "from")["RankDeviceMap"]
            shutil.rmtree(self.scratch / "from")
            return [row[columns.index("profilePath")] for row in rows]
        expected = paths(self.made / "db", cwd=None)
        self.assertEqual(sorted(expected), sorted(str(path) for path in (self.made / "db").iterdir()))
        self.assertEqual(paths("db", cwd=self.made), expected)
        self.assertEqual(paths(".", cwd=self.made / "db"), expected)

    def test_an_unknown_mode_lists_the_modes(self):
        self.refused(mode="nonsense", says=("'nonsense'", *ALL_MODES))
        self.refused(mode="hccl_sum,nonsense", says=("'nonsense'",))
        self.refused(mode="", says=("mode",))

    def test_a_rank_list_that_is_none(self):
        for ranks in ("x", "1-", "3-1", "1,,2", "-1", "1.5", ""):
            with self.subTest(ranks):
                self.refused("--rank_list", ranks, says=("--rank_list",))

    def test_an_unknown_step_names_those_there_are(self):
        self.refused("--step_id", "99", says=("99", "10, 11"))

    def test_choices_and_numbers(self):
        self.refused("--export_type", "pdf", says=("pdf", "xlsx"))
        self.refused("--lang", "fr", says=("fr",))
        self.refused("--step_id", "x", says=("--step_id",))
        self.refused("--threads", "-1", says=("--threads",))
        self.refused("--parallel_mode", "serial", says=("concurrent",))

    def test_options_of_single_modes(self):
        for rank in ("x", "-1", "1.5", ""):
            self.refused("--rank_id", rank, mode="communication_bottleneck", says=("--rank_id",))
        for types in ("", ";", "dp;", "dp,,tp"):
            self.refused("--parallel_types", types, mode="computational_op_masking", says=("--parallel_types",))

    def test_a_number_of_rows_that_is_none_is_said(self):
        usual = self.tables_of(self.made / "db", mode="hccl_sum")
        for number in ("x", "0", "-3", ""):
            out = self.scratch / f"out{number}"
            self.assertIn(f"--top_num: '{number}'", self.cluster(self.made / "db", "--top_num", number, mode="hccl_sum", out=out).err)
            self.assertEqual(read_db(out), usual)
        self.assertNotIn("--top_num", self.cluster(self.made / "db", "--top_num", "3", mode="hccl_sum").err)

    def test_a_rank_list_with_ranges_and_blanks(self):
        self.cluster(self.made / "db", "--rank_list", "0-1, 3")
        self.assertEqual([row["rank"] for row in read_table(self.out, "ClusterRankScore")], [0, 1, 3])

    def test_ranks_that_are_not_there_are_named(self):
        self.assertRegex(self.cluster(self.made / "db", "--rank_list", "0,1,77").err, r"--rank_list: .*\b77\b")
        self.assertIn("none of the ranks", self.cluster(self.made / "db", "--rank_list", "77", expect=3).err)

    def test_one_step(self):
        self.cluster(self.made / "db", "--step_id", "11", mode="all")
        self.assertEqual({row["step"] for row in read_table(self.out, "ClusterStepTraceTime")}, {"11"})

    def test_several_modes_at_once_equal_runs_of_their_own(self):
        for form in ("text", "db"):
            for mode in ("summary", "communication_matrix", "slow_rank", "cluster_time_summary"):
                self.cluster(self.made / form, "--export_type", "db", mode=mode, out=self.scratch / form, expect=None)
            at_once = self.tables_of(self.made / form, "--export_type", "db", mode="summary,communication_matrix,slow_rank,cluster_time_summary")
            self.assertEqual(at_once, read_db(self.scratch / form))

    def test_cluster_is_the_command_meant_without_one(self):
        named = self.cluster(self.made / "db", mode="all")
        tables = read_db(self.out)
        shutil.rmtree(self.out)
        meant = self.run_program("-d", self.made / "db", "-o", self.out, expect=0)
        self.assertEqual(meant.out, named.out)
        self.assertEqual(read_db(self.out), tables)

    def test_results_go_beside_the_captures_if_no_output_is_named(self):
        cluster = self.copy("text")
        before = snapshot(cluster)
        for _ in range(2):  # the results of the first run are no captures for the second
            self.assertIn("8 found, 8 used", self.run_program("-d", cluster, expect=0).err)
        after = snapshot(cluster)
        self.assertEqual({name: after[name] for name in before}, before)
        self.assertTrue(all(name.startswith(OUTPUT) for name in set(after) - set(before)))

    def test_an_unknown_option_warns(self):
        done = self.cluster(self.made / "db", "--frobnicate", "3")
        self.assertIn("Invalid parameters: --frobnicate 3.", done.err)
        self.assertNotIn("Invalid parameters", self.cluster(self.made / "db", "--force", "--data_simplification").err)

    def agent(self, *words, expect, **more):
        done = self.cluster(*words, "--agent", expect=expect, **more)
        self.assertEqual(done.out.count("\n"), 1, done.out)
        answer = json.loads(done.out)
        self.assertEqual(answer["code"], expect)
        self.assertEqual(answer["status"], "success" if expect == 0 else "error")
        return answer

    def test_agent_gets_one_object(self):
        answer = self.agent(self.made / "db", mode="hccl_sum", expect=0)
        self.assertEqual(answer["message"]["db_path"], str(self.out / OUTPUT / "cluster_analysis.db"))
        self.assertEqual(set(answer["message"]["tables"]), set(read_db(self.out)))
        self.assertTrue(answer["suggestion"])
        files = self.agent(self.made / "db", "--export_type", "csv", mode="hccl_sum", expect=0)["message"]["csv_path"]
        self.assertTrue(files and all(os.path.isfile(path) for path in files))

    def test_agent_hears_of_failures(self):
        self.assertIn("no such file", self.agent(self.scratch / "absent", expect=3)["message"]["err"])
        self.assertIn("99", self.agent(self.made / "db", "--step_id", "99", expect=2)["message"]["err"])
        self.agent(self.made / "db", out=self.write("file", ""), expect=1)

    def test_agent_hears_of_wrong_usage(self):
        self.assertIn("nonsense", self.agent(self.made / "db", mode="nonsense", expect=2)["message"]["err"])

    def test_chinese(self):
        done = self.cluster(self.made / "db", "--lang", "zh", mode="all")
        self.assertIn("每步", done.out)
        self.assertNotIn("keeps the others waiting", done.out)
        self.assertIn("集群分析", (self.out / OUTPUT / "cluster_report.html").read_text())


class Exports(ClusterCase):
    CLUSTERS = {"db": ("--format", "db")}
    FILES = {"all_stats": "HcclAllRankStats", "rank_stats": "HcclPerRankStats", "top_op_stats": "HcclTopOpStats",
             "group_name_map": "HcclGroupNameMap"}

    def export(self, form):
        out = self.scratch / form
        self.cluster(self.made / "db", "--export_type", form, mode="hccl_sum", out=out)
        return out / OUTPUT / "HcclSum"

    def as_microseconds(self, table):
        """The rows of a table of the database in the units and names of the files."""
        columns, rows = table
        names = [re.sub("Ns$", "(Us)", name) for name in columns]
        return [{name: cell / 1000 if name.endswith("(Us)") and cell is not None else cell for name, cell in zip(names, row)} for row in rows]

    def assert_same_rows(self, got, expected):
        self.assertEqual(len(got), len(expected))
        for mine, theirs in zip(got, expected):
            self.assertEqual(list(mine), list(theirs))
            for name, value in theirs.items():
                if isinstance(value, float):
                    self.assertAlmostEqual(float(mine[name]), value, delta=abs(value) * 1e-9, msg=name)
                else:
                    self.assertEqual("" if mine[name] is None else str(mine[name]), "" if value is None else str(value), name)

    def test_every_form_holds_the_same_numbers(self):
        self.cluster(self.made / "db", "--export_type", "db", mode="hccl_sum")
        expected = read_db(self.out)
        csv_files, text_files, notebook_files, json_files = map(self.export, ("csv", "text", "notebook", "json"))
        for name, table in self.FILES.items():
            rows = self.as_microseconds(expected[table])
            self.assertTrue(rows, table)
            with open(csv_files / f"{name}.csv", newline="", encoding="utf-8-sig") as file:
                self.assert_same_rows(list(csv.DictReader(file)), rows)
            for other in (text_files, notebook_files):
                self.assertEqual((other / f"{name}.csv").read_bytes(), (csv_files / f"{name}.csv").read_bytes())
            self.assert_same_rows(json.loads((json_files / f"{name}.json").read_text()), rows)

    @unittest.skipUnless(importlib.util.find_spec("openpyxl"), "openpyxl is not installed")
    def test_xlsx_holds_the_same_numbers(self):
        import openpyxl
        self.cluster(self.made / "db", "--export_type", "db", mode="hccl_sum")
        expected = read_db(self.out)
        folder = self.export("xlsx")
        for name, table in self.FILES.items():
            header, *rows = openpyxl.load_workbook(folder / f"{name}.xlsx").worksheets[0].iter_rows(values_only=True)
            self.assert_same_rows([dict(zip(header, row)) for row in rows], self.as_microseconds(expected[table]))

    def test_xlsx_files_are_whole_archives(self):
        import zipfile
        folder = self.export("xlsx")
        for name in self.FILES:
            with zipfile.ZipFile(folder / f"{name}.xlsx") as book:
                self.assertIsNone(book.testzip())
                self.assertIn("xl/workbook.xml", book.namelist())

    def test_console_writes_no_file(self):
        done = self.cluster(self.made / "db", "--export_type", "console", mode="hccl_sum")
        for table in self.FILES.values():
            self.assertIn(table, done.out)
        self.assertFalse(self.out.exists())

    def test_notebooks_are_notebooks(self):
        self.cluster(self.made / "db", "--export_type", "notebook", mode="cann_api_sum,compute_op_sum,hccl_sum,slow_rank")
        notebooks = sorted((self.out / OUTPUT).glob("*/stats.ipynb"))
        self.assertEqual([path.parent.name for path in notebooks], ["CannApiSum", "ComputeOpSum", "HcclSum", "SlowRankAnalysis"])
        for path in notebooks:
            notebook = json.loads(path.read_text())
            self.assertEqual(notebook["nbformat"], 4)
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    compile("".join(cell["source"]), str(path), "exec")


class SameResult(ClusterCase):
    CLUSTERS = {"text": ("--format", "text", "--slow-rank", "5"), "db": ("--format", "db", "--missing", "6"),
                "mixed": ("--format", "mixed", "--slow-link", "0-1")}
    MODES = "all,hccl_sum,compute_op_sum,slow_rank,slow_link,cluster_time_summary,p2p_pairing"

    def results(self, form, *words, before=()):
        """Every file's bytes, the database's contents, and what was printed but for the time it took."""
        out = self.scratch / "same"
        shutil.rmtree(out, ignore_errors=True)
        command = [*before, PROGRAM, "cluster", "-d", str(self.made / form), "-m", self.MODES, "-o", str(out), *words]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr
        files = {name: data for name, data in snapshot(out).items() if not name.endswith(".db")}
        self.assertGreater(len(files), 0)
        return files, read_db(out), done.stdout

    def test_any_number_of_threads(self):
        for form in self.CLUSTERS:
            one = self.results(form, "--threads", "1", "--no-cache")
            for threads in ("2", "7"):
                self.assertEqual(self.results(form, "--threads", threads, "--no-cache"), one)

    def test_with_and_without_the_cache(self):
        for form in self.CLUSTERS:
            cold = self.results(form, "--no-cache")
            self.assertNotIn("unchanged", self.said)
            self.assertEqual(self.results(form), cold)
            self.assertNotIn("unchanged", self.said)
            self.assertEqual(self.results(form), cold)
            self.assertIn(f"({7 if form == 'db' else 8} unchanged, not read again)", self.said)

    def test_without_the_cache_none_is_written(self):
        self.results("text", "--no-cache")
        self.assertFalse((self.scratch / "cache").exists())

    def test_a_damaged_cache_is_not_used(self):
        before = self.results("text")
        for path in (self.scratch / "cache").rglob("*"):
            if path.is_file():
                data = bytearray(path.read_bytes())
                data[len(data) // 2] ^= 1
                path.write_bytes(data)
        self.assertEqual(self.results("text"), before)

    def test_only_a_rank_that_changed_is_read_again(self):
        cluster = self.copy("text")
        self.cluster(cluster)
        os.utime(rank_folder(cluster, 2) / "ASCEND_PROFILER_OUTPUT" / "communication.json", (1, 1))
        self.assertIn("(7 unchanged, not read again)", self.cluster(cluster).err)
        self.assertIn("(8 unchanged, not read again)", self.cluster(cluster).err)
        shutil.rmtree(rank_folder(cluster, 2))
        self.assertIn("7 used (7 unchanged, not read again)", self.cluster(cluster).err)

    def test_an_answer_follows_what_changed(self):
        cluster = self.copy("text")
        self.assertEqual([finding[:2] for finding in self.findings(cluster)], [("late_rank", "rank 5")])
        generate(cluster, "--force", "--format", "text", "--slow-rank", "2")
        self.assertEqual([finding[:2] for finding in self.findings(cluster)], [("late_rank", "rank 2")])

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
    @unittest.skipUnless((pathlib.Path(PROGRAM).parent / "libsteplens_mpi.so").exists(), "steplens was built without MPI")
    def test_any_number_of_processes(self):
        self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        for form in self.CLUSTERS:
            alone = self.results(form, "--no-cache")
            for processes in ("2", "3"):
                before = ("mpirun", "--oversubscribe", "-n", processes)
                self.assertEqual(self.results(form, "--no-cache", before=before), alone)

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
    @unittest.skipUnless((pathlib.Path(PROGRAM).parent / "libsteplens_mpi.so").exists(), "steplens was built without MPI")
    def test_processes_agree_when_there_is_nothing_to_do(self):
        self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        for words, code in ((("-d", str(self.scratch / "absent")), 3), (("-d", str(self.made / "text"), "--step_id", "99"), 2),
                            (("-d", str(self.made / "text"), "-m", "nonsense"), 2)):
            command = ["mpirun", "--oversubscribe", "-n", "2", PROGRAM, "cluster", *words, "-o", str(self.out)]
            done = subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=60, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(done.stderr.count("steplens: "), 1, done.stderr)
            self.assertFalse(self.out.exists())


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
@unittest.skipUnless((pathlib.Path(PROGRAM).parent / "libsteplens_mpi.so").exists(), "steplens was built without MPI")
class SeveralProcesses(ClusterCase):
    """All of them write the result files, and what goes wrong in one is told once by the first."""
    CLUSTERS = {"text": ("--format", "text")}

    def setUp(self):
        super().setUp()
        self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def words(self):
        return [PROGRAM, "cluster", "-d", str(self.made / "text"), "-m", "all", "-o", str(self.out), "--no-cache"]

    def run_two(self, first="", second=""):
        """Two processes, with what the shell does before in the root and in the other."""
        script = f'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then {first or "true"}; else {second or "true"}; fi; exec {shlex.join(self.words())}'
        return subprocess.run(["mpirun", "--oversubscribe", "-n", "2", "sh", "-c", script], capture_output=True, text=True,
                              env=self.environment, timeout=60, check=False)

    def expected(self):
        alone = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        self.cluster(self.made / "text", "--no-cache", mode="all", out=alone)
        return {name: data for name, data in snapshot(alone).items() if name.endswith(".json")}

    def assert_same(self, done, out):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_no_remains(out)
        found = snapshot(out)
        for name, data in self.expected().items():
            self.assertEqual(found[name], data, name)

    def test_both_write(self):
        self.assert_same(self.run_two(), self.out)

    def test_one_that_cannot_reach_the_folder_sends_its_share(self):
        self.out.mkdir()
        mount = f"mount -t tmpfs none {shlex.quote(str(self.out))}"
        if subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True, check=False).returncode != 0:
            self.skipTest("a process cannot have a file system of its own here")
        empty = shlex.quote(str(self.write("empty", "")))
        elsewhere = f"{mount}; mount --bind {empty} /proc/sys/kernel/random/boot_id; exec {shlex.join(self.words())}"
        self.assert_same(self.run_two(second=f"exec unshare -m sh -c {shlex.quote(elsewhere)}"), self.out)

    def assert_nothing_written(self, done):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("cannot write"), 1, done.stderr)
        self.assert_no_remains(self.out)
        self.assertEqual([name for name in snapshot(self.out) if name.endswith(".json")], [])

    def test_a_file_that_may_not_grow_at_the_first(self):
        self.assert_nothing_written(self.run_two(first="ulimit -f 8"))

    def run_apart(self, before="true"):
        """Two processes that cannot look into each other's memory, so that each writes its own share; with what the shell does before in the second."""
        apart = ["unshare", "--pid", "--fork"]
        if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("a process cannot have process numbers of its own here")
        self.environment["OMPI_MCA_btl"] = "self,tcp"  # Open MPI's shared memory is files as well, and looks for others by number
        return self.run_two(second=f"exec {shlex.join(apart)} sh -c {shlex.quote(f'{before}; exec {shlex.join(self.words())}')}")

    def test_who_cannot_look_into_others_writes_its_own(self):
        self.assert_same(self.run_apart(), self.out)

    def test_a_file_that_may_not_grow_at_the_second(self):
        self.assert_nothing_written(self.run_apart("ulimit -f 8"))

    def test_a_folder_that_cannot_be_made(self):
        self.write("out", "a file")
        done = self.run_two()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("cannot make the folder"), 1, done.stderr)

    def test_a_part_file_that_cannot_be_made(self):
        command = ["mpirun", "--oversubscribe", "-n", "2", PROGRAM, "cluster", "map", "-d", str(self.made / "text"),
                   "--out", str(self.scratch / "absent" / "x.part")]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=60, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("cannot create"), 1, done.stderr)

    def test_one_that_is_killed_ends_all(self):
        done = self.run_two(second="kill -9 $$")
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(self.out.exists())

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_one_that_is_killed_while_it_writes_leaves_nothing(self):
        libraries = {}
        # The other has not written its file until the first is dead. Memory for others is written as well, before.
        for name, deed in (("die", "kill(getpid(), SIGKILL)"), ("wait", "sleep(30)")):
            source = self.write(f"{name}.c", "#include <signal.h>\n#include <stdio.h>\n#include <string.h>\n#include <sys/syscall.h>\n"
                                "#include <unistd.h>\n"
                                "long pwrite(int f, const void *b, size_t n, long o) {\n"
                                "  char path[40], target[200] = {0};\n"
                                '  snprintf(path, sizeof path, "/proc/self/fd/%d", f);\n'
                                "  readlink(path, target, sizeof target - 1);\n"
                                f'  return strstr(target, "memfd:") ? syscall(SYS_pwrite64, f, b, n, o) : {deed}; }}\n'
                                "long pwrite64(int f, const void *b, size_t n, long o) { return pwrite(f, b, n, o); }\n")
            libraries[name] = self.scratch / f"{name}.so"
            subprocess.run(["cc", "-shared", "-fPIC", "-o", str(libraries[name]), str(source)], check=True)
        for who, other in (("first", "second"), ("second", "first")):
            with self.subTest(who):
                done = self.run_two(**{one: f"export LD_PRELOAD={shlex.quote(str(libraries[name]))}" for one, name in ((who, "die"), (other, "wait"))})
                self.assertNotEqual(done.returncode, 0)
                self.assertTrue(self.out.exists(), "nobody began to write")
                self.assertEqual(snapshot(self.out), {})
                shutil.rmtree(self.out)


class OtherCaptures(ClusterCase):
    @needs_shared
    def test_kineto_traces(self):
        folder = self.scratch / "kineto"
        for name in ("test", "control"):  # ranks 1 and 3 by their distributedInfo
            self.write(f"kineto/{name}.json.gz", (DATA / f"kineto/hta/trace_diff/{name}/{name}.json.gz").read_bytes())
        for mode in ("all", "hccl_sum", "slow_rank"):
            done = self.cluster(folder, mode=mode, expect=None)
            self.assertIn(done.returncode, (0, 3), done.err)
            self.assertIn("ranks: 2 found, 2 used", done.err)
        self.assertEqual({row["Rank"] for row in read_table(self.out, "HcclPerRankStats")}, {1, 3})

    @needs_shared
    def test_every_mode_survives_kineto_traces(self):
        trace = DATA / "kineto/hta/nccl_parser_config/nccl_data.json.gz"
        for mode in ALL_MODES:
            self.assertIn(self.cluster(trace.parent, mode=mode, expect=None).returncode, (0, 3), mode)

    @needs_shared
    def test_text_captures_answer_the_modes_of_databases(self):
        modes = "hccl_sum,compute_op_sum,cann_api_sum,free_analysis,slow_rank,cluster_time_summary"
        self.cluster(DATA / "ascend_pt/text/level1", mode=modes)
        tables = read_db(self.out)
        for name in ("HcclAllRankStats", "ComputeOpAllRankStats", "CannApiSum", "FreeAnalysis", "ClusterTimeSummary"):
            self.assertTrue(tables[name][1], name)
        self.assertEqual(tables["RankWait"][1], [])  # 2 of 8 ranks were captured: nobody is known to be waited for


class Report(ClusterCase):
    CLUSTERS = {"db": ("--format", "db", "--slow-rank", "5")}
    EVIL = "<script>alert(1)</script>"

    def report(self, source, mode="all"):
        self.cluster(source, mode=mode)
        return (self.out / OUTPUT / "cluster_report.html").read_text()

    def test_one_file_that_needs_no_other(self):
        page = self.report(self.made / "db")
        self.assertNotRegex(page, r"""(?i)(src|href)\s*=\s*["']?\s*(https?:)?//""")
        self.assertNotRegex(page, r"(?i)<link\b|@import|url\(\s*['\"]?(https?:)?//")
        self.assertEqual([path.name for path in (self.out / OUTPUT).glob("*.js")], [])

    def test_it_tells_the_findings(self):
        page = self.report(self.made / "db")
        [finding] = read_table(self.out, "ClusterFindings")
        self.assertIn("rank 5 keeps the others waiting", page)
        self.assertIn(finding["advice"], page)

    def test_the_ranks_of_findings_stand_out(self):
        """Others that are late with them do not."""
        page = self.report(generate(self.scratch / "job", "--ranks", "64", "--tp", "4", "--slow-rank", "21:1.3", "--slow-nic", "40:3"))
        [figure] = re.findall(r"<figure>\s*<figcaption>[^/]*Slow ranks.*?</figure>", page, re.S)
        self.assertEqual(len(re.findall(r'class="hot"', figure)), 2)

    def test_many_ranks_share_a_column(self):
        page = self.report(generate(self.scratch / "job", "--ranks", "72", "--tp", "4", "--pp", "1"))
        for says in ("Rank (the longest of up to 2)", "Rank (the shortest of up to 2)", " 70–71: "):  # who waits least is late
            self.assertTrue(says in page, says)

    def test_sections_are_told_apart(self):
        page = self.report(self.made / "db", mode="all,op_duration,hccl_sum")
        links = re.findall(r'<a href="#[^"]*">(.*?)</a>', re.search(r"<nav>.*?</nav>", page, re.S).group(0), re.S)
        titles = [re.sub(r"<[^>]*>", " ", link).split()[0].lower() for link in links]
        self.assertEqual(len(set(titles)), len(titles), titles)

    def test_an_operator_has_a_plot_with_a_box_a_rank(self):
        page = self.report(self.made / "db", mode="all,hccl_sum")
        [figure] = re.findall(r"<figure>\s*<figcaption>hcom_allReduce_<.*?</figure>", page, re.S)
        self.assertEqual(len(re.findall(r'class="median"', figure)), 8)

    def evil_trace(self, rank):
        kernel = {"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "dur": 50, "args": {"stream": 7, "device": 0}}
        names = (f"gemm{self.EVIL}", f"ncclKernel_AllReduce_{self.EVIL}", "<img src=x onerror=alert(2)>", "]]>--><!--'\"")
        events = [dict(kernel, name=name, ts=1000 * step + 100 * i) for step in range(3) for i, name in enumerate(names)]
        events += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": 1000 * step, "dur": 900}
                   for step in range(3)]
        return json.dumps({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}, "traceEvents": events})

    def test_names_cannot_become_markup(self):
        folder = "a<script>alert(3)<b>&amp;"
        for rank in range(2):
            self.write(f"{folder}/rank{rank}.json", self.evil_trace(rank))
        page = self.report(self.scratch / folder, mode="all,hccl_sum,compute_op_sum")
        self.assertIn("alert(1)", page)  # the name is shown, as text
        self.assertNotRegex(page, r"(?i)<script>alert|</script>[^<]*alert|<img src=x|<script>alert\(3\)")
        self.assertNotIn("-->", re.sub(r"<!--.*?-->", "", page, flags=re.S))


class OwnResults(ClusterCase):
    def test_results_beside_the_captures_are_no_captures(self):
        captures = self.scratch / "captures"
        shutil.copytree(SAMPLE, captures)
        first = self.run_program("cluster", "-m", "export_summary,hccl_sum", "-d", captures, expect=0)
        second = self.run_program("cluster", "-m", "export_summary,hccl_sum", "-d", captures, expect=0)
        found = [re.search(r"ranks: (\d+) found", done.err).group(1) for done in (first, second)]
        self.assertEqual(found[0], found[1])


if __name__ == "__main__":
    unittest.main()
