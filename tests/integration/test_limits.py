"""Limits that hold: memory, packed files, small files; losses that are told; nothing half-written."""

import concurrent.futures
import gzip
import http.client
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from support import PROGRAM, ROOT, SAMPLE, Case
from test_server import ServerCase

RAW = ROOT / "examples" / "raw_ascend_pt"
HAS_SANITIZER = b"__asan_init" in open(PROGRAM, "rb").read()


def one_line(text):
    return len(text.strip().splitlines()) == 1


@unittest.skipIf(HAS_SANITIZER, "builds with sanitizers map more memory than any machine has")
class Memory(Case):
    """A trace whose reading needs more than is allowed."""

    def setUp(self):
        super().setUp()
        event = '{"ph":"X","cat":"cpu_op","name":"op%d","pid":1,"tid":1,"ts":%d,"dur":1}'
        events = ",".join(event % (i, 10 * i) for i in range(400_000))
        self.trace = self.write("trace.json", '{"schemaVersion":1,"traceEvents":[' + events + "]}")

    def test_running_out_is_one_sentence_and_a_code(self):
        out = self.scratch / "out"
        for words in (["info", self.trace], ["breakdown", self.trace], ["ops", self.trace, "--by", "name"], ["verify", self.trace],
                      ["query", self.trace, "SELECT count(*) FROM slices"], ["ask", "overview", self.trace],
                      ["convert", self.trace, "-o", out], ["cluster", "-m", "all", "-d", self.trace, "-o", out]):
            with self.subTest(words[0]):
                done = self.run_program(*words, "--no-cache", "--max-memory", "48M", expect=7)
                self.assertTrue(one_line(done.err), done.err)
                self.assertIn("--max-memory sets the limit", done.err)
                self.assertEqual(list(out.rglob("*")) if out.exists() else [], [])

    def test_a_query_of_its_own_size_runs_out_as_well(self):
        sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000000) SELECT printf('%100d', i) FROM n"
        done = self.run_program("query", SAMPLE, sql, "--max-memory", "200M", "--threads", "1")
        self.assertIn(done.returncode, (4, 7), done.err)
        self.assertTrue(one_line(done.err), done.err)

    def test_sizes_are_checked(self):
        for size in ("0", "8X", "-1G", "G"):
            self.assertIn("is not a size", self.run_program("info", SAMPLE, f"--max-memory={size}", expect=2).err)
        for size in ("none", "2G", "50%", "4096MiB"):
            self.run_program("info", SAMPLE, "--max-memory", size, expect=0)


@unittest.skipIf(HAS_SANITIZER, "builds with sanitizers map more memory than any machine has")
class MemoryOfTheServer(ServerCase):
    """Running out costs the request or the rank, not the process."""

    def heavy_trace(self):
        event = '{"ph":"X","cat":"cpu_op","name":"op%d","pid":1,"tid":1,"ts":%d,"dur":1}'
        return self.write("trace.json", '{"schemaVersion":1,"traceEvents":[' + ",".join(event % (i, 10 * i) for i in range(600_000)) + "]}")

    def start_small(self, *words):
        return self.start(*words, "--token", "none", "--no-cache", "--max-memory", "96M")

    def wait_ready(self, server):
        """As the server's own, for one that may lack the memory to answer while it reads."""
        for _ in range(1200):
            status, answer = server.get("/info")
            self.assertIn(status, (200, 503), answer)
            if status == 200 and answer["datasets"] and all(one["ready"] for one in answer["datasets"]):
                return answer["datasets"][0]["ds"]
            time.sleep(0.05)
        raise AssertionError("not ready after a minute")

    def test_a_small_limit_is_enough_for_small_data(self):
        server = self.start_small(SAMPLE)
        ds = self.wait_ready(server)
        self.assertEqual(len(server.get(f"/ds/{ds}")[1]["ranks"]), 2)
        self.assertEqual(server.post(f"/ds/{ds}/sql", {"query": "SELECT count(*) FROM slices"})[0], 200)
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            answers = set(pool.map(lambda _: self.status_of(server, f"/ds/{ds}/tracks"), range(200)))
        self.assertLessEqual(answers, {"closed", 200, 503})
        self.assertIn(200, answers)
        self.assertEqual(server.get(f"/ds/{ds}/tracks")[0], 200)
        self.assertEqual(server.stop(), 0)

    def status_of(self, server, path):
        """Of a request that others may leave no memory for, not even for its head."""
        try:
            return server.get(path)[0]
        except (OSError, http.client.HTTPException):
            return "closed"

    def test_a_query_that_runs_out_fails_alone(self):
        server = self.start_small(SAMPLE)
        ds = self.wait_ready(server)
        rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000) SELECT printf('%900d', i) AS s FROM n"
        for _ in range(6):  # more often than there are connections
            status, answer = server.post(f"/ds/{ds}/sql", {"query": rows + " ORDER BY s DESC", "limit": 1_000_000, "timeout_ms": 600_000})
            self.assertEqual(status, 503, answer)
            self.assertIn("--max-memory", json.dumps(answer))
        self.assertEqual(server.post(f"/ds/{ds}/sql", {"query": "SELECT count(*) FROM slices"})[0], 200)
        self.assertEqual(server.stop(), 0)

    def test_a_rank_that_needs_too_much_is_left_out(self):
        server = self.start_small(self.heavy_trace(), SAMPLE)
        ds = self.wait_ready(server)
        meta = server.get(f"/ds/{ds}")[1]
        self.assertEqual(len(meta["ranks"]), 2)
        self.assertIn("--max-memory", json.dumps(meta))
        self.assertEqual(server.get(f"/ds/{ds}/tracks")[0], 200)
        self.assertEqual(server.stop(), 0)

    def test_it_starts_or_says_that_it_cannot(self):
        for size in (1, 4, 8, 16, 24, 32, 48):
            with self.subTest(size):
                process = subprocess.Popen([PROGRAM, "view", SAMPLE, "--no-browser", "--token", "none", "--no-cache", "--max-memory", f"{size}M"],
                                           env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                starts = b"http" in process.stdout.readline()
                process.terminate()
                errors = process.communicate(timeout=30)[1].decode()
                self.assertEqual(process.returncode, 0 if starts else 7, errors)
                self.assertTrue(starts or one_line(errors), errors)


class Packed(Case):
    def bomb(self, size):
        head = b'{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"first","pid":1,"tid":1,"ts":1,"dur":1},'
        path = self.scratch / "bomb.json.gz"
        with gzip.open(path, "wb", compresslevel=9) as file:
            file.write(head)
            for _ in range(size >> 20):
                file.write(b" " * (1 << 20))
            file.write(b'{"ph":"X","cat":"cpu_op","name":"last","pid":1,"tid":1,"ts":5,"dur":1}]}')
        return path

    def test_a_file_that_grows_too_much_is_not_unpacked(self):
        bomb = self.bomb(258 << 20)
        done = self.run_program("info", bomb, "--no-cache", "--strict", expect=4)
        self.assertIn("--max-unpacked lifts the limit", done.err)

    def test_the_limit_can_be_set_and_lifted(self):
        bomb = self.bomb(2 << 20)
        names = "SELECT name FROM slices ORDER BY 1"
        done = self.run_program("query", bomb, names, "--no-cache", "--max-unpacked", "1M", expect=0)
        self.assertIn("first", done.out)
        self.assertNotIn("last", done.out)
        self.assertIn("last", self.run_program("query", bomb, names, "--no-cache", "--max-unpacked", "none", expect=0).out)
        self.assertIn("last", self.run_program("query", bomb, names, "--no-cache", expect=0).out)


class SmallFiles(Case):
    def setUp(self):
        super().setUp()
        self.capture = self.scratch / "rank0_ascend_pt"
        shutil.copytree(SAMPLE / "rank0_ascend_pt", self.capture)

    def test_settings_of_any_size_are_not_read(self):
        for name in ("profiler_info_0.json", "profiler_metadata.json"):
            path = self.capture / name
            before = path.read_bytes()
            with open(path, "ab") as file:
                file.truncate(65 << 20)  # takes no room
            done = self.run_program("info", self.capture, "--no-cache", expect=0)
            self.assertIn("a file of its kind is read up to 64 MiB", done.out)
            self.run_program("info", self.capture, "--no-cache", "--strict", expect=4)
            path.write_bytes(before)

    def test_tables_have_a_limit_as_well(self):
        path = self.capture / "ASCEND_PROFILER_OUTPUT" / "communication.json"
        with open(path, "ab") as file:
            file.truncate((2 << 30) + 1)
        self.assertIn("read up to 2048 MiB", self.run_program("info", self.capture, "--no-cache", expect=0).out)


class Losses(Case):
    """What the recorder lost is an issue of the capture."""

    def setUp(self):
        super().setUp()
        self.capture = self.scratch / "host_1_20260101000000000_ascend_pt"
        shutil.copytree(RAW, self.capture)
        self.info_file = next(self.capture.glob("profiler_info*.json"))

    def set_info(self, **members):
        values = json.loads(self.info_file.read_text())
        values.update(members)
        self.info_file.write_text(json.dumps({key: value for key, value in values.items() if value is not None}))

    def issues(self):
        return {issue["name"]: issue for issue in self.info(self.capture, options=["--no-cache"])["ranks"][0]["issues"]}

    def expect_loss(self, kind):
        self.assertIn(kind, self.issues())
        self.assertIn("problem", self.run_program("breakdown", self.capture, "--no-cache", expect=0).err)
        self.run_program("breakdown", self.capture, "--no-cache", "--strict", expect=4)
        self.assertIn("BROKEN", self.run_program("verify", self.capture, "--no-cache", expect=1).out)

    def test_a_whole_capture_has_none(self):
        self.assertFalse({"RecordsDropped", "CaptureUnfinished"} & set(self.issues()))

    def test_records_that_were_dropped(self):
        self.set_info(steplens_pid=1, steplens_drops={"recorded": 90, "dropped": 7, "lost_on_write": 3, "texts_left_out": 0})
        self.expect_loss("RecordsDropped")
        self.assertEqual(self.issues()["RecordsDropped"]["count"], 10)

    def test_a_capture_whose_process_was_killed(self):
        self.set_info(steplens_pid=1, end_info=None)
        self.expect_loss("CaptureUnfinished")

    def test_results_say_so_as_well(self):
        self.set_info(steplens_pid=1, steplens_drops={"recorded": 90, "dropped": 7, "lost_on_write": 3, "texts_left_out": 0})
        self.run_program("analyse", self.capture, expect=0)
        self.expect_loss("RecordsDropped")

    def test_a_rank_lost_to_an_odd_file(self):
        cluster = self.scratch / "cluster"
        shutil.copytree(SAMPLE, cluster)
        trace = cluster / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        shutil.rmtree(trace)
        os.mkfifo(trace)
        done = self.run_program("breakdown", cluster, "--no-cache", expect=0, timeout=30)
        self.assertIn("1 capture could not be read and is left out", done.err)
        self.run_program("breakdown", cluster, "--no-cache", "--strict", expect=4)
        self.run_program("verify", cluster, "--no-cache", expect=1)


class WholeOrNothing(Case):
    """Kill -9 at any moment of a conversion."""

    def files(self, folder):
        return [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []

    def test_a_conversion_that_is_killed_leaves_nothing_under_a_final_name(self):
        for form in ("text", "db"):
            out = self.scratch / form
            delay = 0.002
            while True:
                process = subprocess.Popen([PROGRAM, "convert", SAMPLE, "--to", form, "-o", out], env=self.environment,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    process.wait(timeout=delay)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                done = [path for path in out.iterdir() if not path.name.startswith(".")] if out.exists() else []
                for path in done:  # a rank is there whole or not at all
                    self.assertTrue((path / "profiler_info_0.json").exists() or (path / "profiler_info_1.json").exists(), path)
                    self.assertTrue(all(one.stat().st_size > 0 for one in self.files(path)))
                if process.returncode == 0:
                    break
                delay *= 1.4
            self.run_program("convert", SAMPLE, "--to", form, "-o", out, expect=0)
            self.assertEqual([path.name for path in out.iterdir() if path.name.startswith(".")], [])
            self.assertFalse([path for path in self.files(out) if "tmp" in path.name or path.stat().st_size == 0])

    def test_other_files_of_the_folder_stay(self):
        out = self.scratch / "out"
        self.run_program("convert", SAMPLE, "--to", "text", "-o", out, expect=0)
        (out / "rank0_ascend_pt" / "notes.txt").write_text("mine")
        self.run_program("convert", SAMPLE, "--to", "text", "-o", out, expect=0)
        self.assertEqual((out / "rank0_ascend_pt" / "notes.txt").read_text(), "mine")


if __name__ == "__main__":
    unittest.main()
