"""steplens cluster map and reduce, and the tables of who waited for whom.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_cluster_parts.py [-k reduce]
"""

import contextlib
import json
import pathlib
import resource
import shutil
import signal
import sqlite3
import subprocess
import unittest

from support import PROGRAM
from test_cluster import OUTPUT, ClusterCase, generate, rank_folder, read_db


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".html"}


class MapAndReduce(ClusterCase):
    CLUSTERS = {"text": ("--format", "text", "--slow-rank", "3"), "db": ("--format", "db", "--slow-rank", "3")}
    MODES = "all,hccl_sum,slow_rank,free_analysis"

    def halves(self, name):
        """The cluster as two machines have it: ranks 0-3 and 4-7."""
        for rank in range(8):
            source = rank_folder(self.made / name, rank)
            shutil.copytree(source, self.scratch / f"node{rank // 4}" / source.name)
        return self.scratch / "node0", self.scratch / "node1"

    def map(self, source, out, *words, expect=0):
        return self.run_program("cluster", "map", "-d", source, "--out", out, *words, expect=expect)

    def reduce(self, *files, expect=0):
        return self.run_program("cluster", "reduce", *files, "-o", self.out, expect=expect)

    def test_parts_of_two_machines_give_the_result_of_one_run(self):
        for name in ("text", "db"):
            with self.subTest(name):
                parts = []
                for node in self.halves(name):
                    parts.append(self.scratch / f"{name}_{node.name}.part")
                    done = self.map(node, parts[-1], "-m", self.MODES)
                    self.assertEqual(done.out.strip(), str(parts[-1]))
                self.reduce(*reversed(parts))
                whole = self.scratch / f"whole_{name}"
                self.cluster(self.made / name, mode=self.MODES, out=whole)
                ours, theirs = files_of(self.out), files_of(whole)
                self.assertEqual(ours.keys(), theirs.keys())
                for path, content in ours.items():
                    if path.suffix != ".db":
                        self.assertEqual(content, theirs[path], path)
                found, expected = read_db(self.out), read_db(whole)
                del found["RankDeviceMap"], expected["RankDeviceMap"]  # paths
                self.assertEqual(found, expected)
                for folder in (self.out, self.scratch / "node0", self.scratch / "node1"):
                    shutil.rmtree(folder)

    def test_parts_know_the_clock(self):
        """The machine that puts parts together cannot look at the timelines of the others."""
        for form in ("text", "db"):
            source = generate(self.scratch / f"clock_{form}", "--ranks", "16", "--format", form, "--timeline", "--freq-drop", "3")
            part = self.scratch / f"{form}.part"
            for words in ((), ("-m", "summary")):
                self.map(source, part, *words)
                shutil.rmtree(self.out, ignore_errors=True)
                self.reduce(part)
                found = read_db(self.out)["ClusterFindings"]
                self.assertRegex(str(found), r"frequency of rank 3 is \d+ MHz .*, that of rank \d+ 1800 MHz")
                whole = self.scratch / "whole"
                shutil.rmtree(whole, ignore_errors=True)
                self.cluster(source, mode="summary" if words else "all", out=whole)
                self.assertEqual(found, read_db(whole)["ClusterFindings"])

    def test_what_was_asked_travels_with_the_parts(self):
        part = self.scratch / "a.part"
        self.map(self.made / "db", part, "-m", "hccl_sum", "--top_num", "2")
        self.reduce(part)
        self.assertEqual(len(read_db(self.out)["HcclTopOpStats"][1]), 2)

    def test_files_that_are_no_parts_are_refused(self):
        part, other = self.scratch / "a.part", self.scratch / "b.part"
        self.map(self.made / "text", part, "-m", "summary")
        self.map(self.made / "text", other, "-m", "slow_rank")
        cut = self.scratch / "cut.part"
        cut.write_bytes(part.read_bytes()[:-7])
        text = self.scratch / "text.part"
        text.write_text("hello")
        for files, code, said in (((part, other), 2, "different modes"), ((cut,), 1, "damaged or cut off"), ((text,), 1, "is not a parts file"),
                                  ((self.scratch / "absent",), 3, "absent"), ((), 2, "files were expected")):
            with self.subTest(said):
                done = self.reduce(*files, expect=code)
                self.assertIn(said, done.err)
                self.assertEqual(len(done.err.splitlines()), 1, done.err)
                self.assertFalse(self.out.exists())

    def test_a_rank_in_two_files_counts_once(self):
        part = self.scratch / "a.part"
        self.map(self.made / "text", part, "-m", "summary")
        done = self.reduce(part, part)
        self.assertIn("8 parts are left out", done.err)
        self.assertEqual(len(read_db(self.out)["ClusterRankScore"][1]), 8)

    def test_map_says_what_is_missing(self):
        done = self.run_program("cluster", "map", "-d", self.made / "text", expect=2)
        self.assertIn("--out FILE was expected", done.err)
        self.assertIn("-d DIR", self.run_program("cluster", "-m", "summary", expect=2).err)
        done = self.map(self.scratch, self.scratch / "x.part", expect=3)
        self.assertFalse((self.scratch / "x.part").exists())


class WaitTables(ClusterCase):
    CLUSTERS = {"slow": ("--ranks", "16", "--hosts-of", "4", "--slow-rank", "6:1.5", "--format", "db")}

    def test_the_slow_rank_is_the_one_blamed(self):
        pairs = self.rows_of(self.made / "slow", "ClusterWaitPairs")
        caused = {}
        for row in pairs:
            self.assertNotEqual(row["waitingRank"], row["blamedRank"])
            caused[row["blamedRank"]] = caused.get(row["blamedRank"], 0) + row["wait(ms/step)"]
        self.assertEqual(max(caused, key=caused.get), 6)
        self.assertEqual([row["wait(ms/step)"] for row in pairs], sorted((row["wait(ms/step)"] for row in pairs), reverse=True))

    def test_sums_of_places_are_those_of_their_ranks(self):
        tables = self.tables_of(self.made / "slow")
        dicts = {name: [dict(zip(columns, row)) for row in rows] for name, (columns, rows) in tables.items()}
        for column in ("waitSuffered(ms)", "waitCaused(ms)"):
            whole = sum(row[column] for row in dicts["ClusterRankScore"])
            self.assertAlmostEqual(sum(row[column] for row in dicts["ClusterHostSum"]), whole, 6)
            for dimension in ("tp", "pp", "dp"):
                parts = [row[column] for row in dicts["ClusterParallelSum"] if row["dimension"] == dimension]
                self.assertAlmostEqual(sum(parts), whole, 6)
        [host] = [row for row in dicts["ClusterHostSum"] if row["host"] == "host0001"]
        self.assertEqual((host["ranks"], host["mostBlamedRank"]), (4, 6))
        self.assertGreater(host["computingMax(ms)"], 1.2 * host["computingMean(ms)"])

    def test_groups_name_who_they_waited_for(self):
        groups = [row for row in self.rows_of(self.made / "slow", "ClusterGroupWait") if row["dimension"] == "tp"]
        self.assertEqual(groups[0]["mostBlamedRank"], 6)
        self.assertEqual(groups[0]["ranks"], "6-7")

    def test_tables_come_as_csv_and_json(self):
        for form in ("csv", "json"):
            out = self.scratch / form
            self.cluster(self.made / "slow", "--export_type", form, out=out)
            for name in ("cluster_wait_pairs", "cluster_host_sum", "cluster_parallel_sum", "cluster_group_wait"):
                self.assertTrue((out / OUTPUT / "Summary" / f"{name}.{form}").is_file(), name)


class Database(ClusterCase):
    CLUSTERS = {"db": ("--format", "db")}

    def indexes(self, *words):
        self.cluster(self.made / "db", *words, mode="all")
        with contextlib.closing(sqlite3.connect(self.out / OUTPUT / "cluster_analysis.db")) as db:
            return {row[0] for row in db.execute("SELECT tbl_name FROM sqlite_master WHERE type = 'index'")}

    def test_has_indexes(self):
        for _ in range(2):  # the second run replaces tables that have some
            self.assertLessEqual({"ClusterCommunicationTime", "ClusterCommunicationMatrix", "ClusterWaitPairs"}, self.indexes())

    def test_has_none_where_the_reference_has_none(self):
        self.assertEqual(self.indexes("--compat"), set())

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_a_kill_while_it_is_written_leaves_nothing(self):
        """Neither beside nor in place of a database that is there."""
        source = self.scratch / "die.c"
        source.write_text("#include <signal.h>\n#include <unistd.h>\n"
                          "long pwrite64(int f, const void *b, size_t n, long o) { return kill(getpid(), SIGKILL); }\n"
                          "long pwrite(int f, const void *b, size_t n, long o) { return kill(getpid(), SIGKILL); }\n")
        library = self.scratch / "die.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
        words = [PROGRAM, "cluster", "-m", "hccl_sum", "-d", str(self.made / "db"), "-o", str(self.out), "--no-cache"]

        def run(**variables):
            return subprocess.run(words, capture_output=True, text=True, env={**self.environment, **variables}, timeout=60, check=False)

        self.assertEqual(run(LD_PRELOAD=str(library)).returncode, -signal.SIGKILL)
        self.assertTrue((self.out / OUTPUT).is_dir(), "nobody began to write")
        self.assertEqual(files_of(self.out), {})
        self.assertEqual(run().returncode, 0)
        before = files_of(self.out)
        self.assertEqual(run(LD_PRELOAD=str(library)).returncode, -signal.SIGKILL)
        self.assertEqual(files_of(self.out), before)


class NoRoom(ClusterCase):
    CLUSTERS = {"text": ("--format", "text")}

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_a_kill_before_an_excel_file_has_its_name_leaves_nothing(self):
        source = self.scratch / "die.c"
        source.write_text("#include <signal.h>\n#include <unistd.h>\n"
                          "int linkat(int a, const char *b, int c, const char *d, int e) { return kill(getpid(), SIGKILL); }\n"
                          "int rename(const char *a, const char *b) { return kill(getpid(), SIGKILL); }\n")
        library = self.scratch / "die.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
        words = [PROGRAM, "cluster", "-m", "hccl_sum", "-d", str(self.made / "text"), "-o", str(self.out), "--export_type", "xlsx", "--no-cache"]
        done = subprocess.run(words, capture_output=True, text=True, env={**self.environment, "LD_PRELOAD": str(library)}, timeout=60, check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
        self.assertTrue((self.out / OUTPUT).is_dir(), "nobody began to write")
        self.assertEqual(files_of(self.out), {})

    def test_an_excel_file_that_cannot_be_written_is_said_once(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

        words = [PROGRAM, "cluster", "-m", "summary", "-d", str(self.made / "text"), "-o", str(self.out), "--export_type", "xlsx", "--no-cache"]
        done = subprocess.run(words, preexec_fn=limit, capture_output=True, text=True, env=self.environment, timeout=60, check=False)
        if "built without Excel files" in done.stderr:
            self.skipTest("steplens was built without Excel files")
        self.assertEqual(done.returncode, 1, done.stderr)
        said = [line for line in done.stderr.splitlines() if not line.startswith("ranks: ")]
        self.assertEqual(len(said), 1, said)
        self.assertIn("cannot write", said[0])


class Discovery(ClusterCase):
    """More folders than one thread looks through at once."""
    CLUSTERS = {"many": ("--ranks", "40", "--format", "text")}

    def result(self, *words, before=()):
        out = self.scratch / "same"
        shutil.rmtree(out, ignore_errors=True)
        done = subprocess.run([*before, PROGRAM, "cluster", "-d", str(self.made / "many"), "-o", str(out), "--no-cache", *words],
                              capture_output=True, text=True, env=self.environment, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ranks: 40 found, 40 used", done.stderr)
        return files_of(out)

    def test_any_number_of_threads(self):
        one = self.result("--threads", "1")
        self.assertEqual(self.result("--threads", "3"), one)

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
    @unittest.skipUnless((pathlib.Path(PROGRAM).parent / "libsteplens_mpi.so").exists(), "steplens was built without MPI")
    def test_any_number_of_processes(self):
        self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        one = self.result()
        self.assertEqual(self.result(before=("mpirun", "--oversubscribe", "-n", "3")), one)

    def test_a_stray_file_changes_nothing(self):
        one = self.result()
        (self.made / "many" / "notes.txt").write_text("hello")
        self.addCleanup((self.made / "many" / "notes.txt").unlink)
        self.assertEqual(self.result(), one)


class Order(ClusterCase):
    def test_the_metadata_may_say_which_dimension_grows_fastest(self):
        source = generate(self.scratch / "data", "--format", "text")
        for path in source.glob("*/profiler_metadata.json"):
            metadata = json.loads(path.read_text())
            metadata["distributed_args"]["order"] = "tp-ep-pp-dp"
            path.write_text(json.dumps(metadata))
        rows = {row["rank"]: row for row in self.rows_of(source, "ClusterRankScore")}
        self.assertEqual([(rows[rank]["tpIndex"], rows[rank]["ppIndex"], rows[rank]["dpIndex"]) for rank in range(5)],
                         [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1)])


if __name__ == "__main__":
    unittest.main()
