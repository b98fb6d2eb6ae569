"""Bad input is normal input: one clear sentence or a counted issue, an honest exit code, nothing written beside the data."""

import gzip
import json
import os
import shutil
import sqlite3
import unittest

from support import DATA, SAMPLE, Case, needs_shared, snapshot

EVENT = '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}'


class BadInput(Case):
    def fails(self, path, code, *texts, command="info"):
        done = self.run_program(command, path, expect=code)
        self.assertEqual(done.out, "")
        self.assertEqual(len(done.err.strip().splitlines()), 1, done.err)
        for text in texts:
            self.assertIn(text, done.err)

    def issues(self, path):
        rank = self.info(path)["ranks"][0]
        return {issue["name"]: issue["count"] for issue in rank["issues"]}, rank["counts"]

    def test_nothing_there(self):
        self.fails(self.scratch / "absent", 3, "no such file or folder")

    def test_empty_folder(self):
        folder = self.scratch / "empty"
        folder.mkdir()
        self.fails(folder, 3, "no profile found", "empty")

    def test_folder_without_a_profile(self):
        self.write("stuff/readme.txt", "hello")
        self.fails(self.scratch / "stuff", 3, "no profile found", "readme.txt")

    def test_empty_file(self):
        self.fails(self.write("t.json", ""), 3, "empty")

    def test_text_file(self):
        self.fails(self.write("t.json", "hello"), 3, "t.json")

    def test_a_folder_in_place_of_a_file(self):
        output = self.scratch / "r0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        (output / "trace_view.json").mkdir(parents=True)
        self.write("r0_ascend_pt/ASCEND_PROFILER_OUTPUT/step_trace_time.csv", "Step,Computing\n1,2\n")
        self.run_program("info", self.scratch, expect=0)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_no_permission(self):
        path = self.write("t.json", f"[{EVENT}]")
        path.chmod(0)
        self.fails(path, 6, "cannot open")

    def test_truncated_trace(self):
        issues, counts = self.issues(self.write("t.json", f"[{EVENT}, {EVENT[:30]}"))
        self.assertEqual(counts["slices"], 1)
        self.assertIn("TraceTruncated", issues)

    def test_truncated_gzip(self):
        packed = gzip.compress(f"[{','.join([EVENT] * 5000)}]".encode())
        issues, counts = self.issues(self.write("t.json.gz", packed[:-20]))
        self.assertIn("TraceTruncated", issues)
        self.assertLess(counts["slices"], 5001)
        self.run_program("info", "--strict", self.scratch / "t.json.gz", expect=4)

    def test_odd_numbers_and_texts(self):
        events = [EVENT, EVENT.replace('"ts":1', '"ts":NaN'), EVENT.replace('"ts":1', '"ts":1e400'),
                  EVENT.replace('"dur":1', '"dur":-5'), EVENT.replace('"a"', '"' + "x" * 1000000 + '"'),
                  EVENT.replace('1}', '1,"args":' + '{"a":' * 10000 + "1" + "}" * 10000 + "}")]
        issues, counts = self.issues(self.write("t.json", f"[{','.join(events)}]"))
        self.assertEqual(counts["slices"], 4)
        self.assertEqual(issues["EventWithoutTs"], 2)
        self.assertEqual(issues["NegativeDuration"], 1)

    def test_invalid_utf8_prints_valid_json(self):
        path = self.write("t.json", f"[{EVENT}]".encode().replace(b'"a"', b'"\xff\xc3"'))
        issues, counts = self.issues(path)
        self.assertEqual(counts["slices"], 1)
        self.assertEqual(issues["InvalidUtf8"], 1)
        self.query(path, "SELECT name FROM slices")

    def test_names_cannot_reach_the_terminal_as_commands(self):
        path = self.write("t.json", f"[{EVENT}]".replace('"a"', '"\\u001b[2J\\u0007evil"'))
        out = self.run_program("query", path, "SELECT name FROM slices", expect=0).out
        self.assertNotIn("\x1b", out)

    def test_path_with_blanks_and_chinese(self):
        path = self.write("训练 结果/rank 0 #%?.json", f"[{EVENT}]")
        self.assertEqual(self.info(path)["ranks"][0]["counts"]["slices"], 1)
        self.assertEqual(self.info(path.parent)["ranks"][0]["counts"]["slices"], 1)

    def test_ranks_that_repeat_get_numbers_of_their_own(self):
        for name in ("a", "b"):
            self.write(f"{name}/rank0.json", f"[{EVENT}]")
        ranks = self.info(self.scratch / "a", self.scratch / "b")["ranks"]
        self.assertEqual([rank["rank"] for rank in ranks], [0, 1])
        self.assertEqual([i["name"] for i in ranks[1]["issues"]], ["DuplicateRank"])

    def test_a_link_back_up_ends(self):
        self.write("d/t.json", f"[{EVENT}]")
        os.symlink(self.scratch / "d", self.scratch / "d" / "again")
        self.assertEqual(len(self.info(self.scratch / "d")["ranks"]), 1)

    def test_usage_errors(self):
        for words in (["info"], ["nonsense"], ["ops", SAMPLE, "--by", "color"], ["ops", SAMPLE, "--top", "x"],
                      ["ops", SAMPLE, "--top", "-1"], ["info", SAMPLE, "--threads", "-3"], ["query", SAMPLE], []):
            done = self.run_program(*words, expect=2)
            self.assertEqual(done.out, "")
            self.assertIn("steplens", done.err)

    def test_csv_with_odd_columns(self):
        header = "Name,Start Time(us),Extra,Duration(us)\r\n"
        path = self.write("x/kernel_details.csv",
                          b"\xef\xbb\xbf" + (header + 'k1,1736408883704643.212\t,z,5.5\r\nk2,abc,z,1\r\nk3,2\r\nk4,3,z,1,9,9\r\nk5,4').encode())
        issues, counts = self.issues(path.parent)
        self.assertGreaterEqual(counts["kernels"], 2)
        self.assertIn("CsvColumnMissing", issues)
        self.assertIn("CsvCellNotANumber", issues)
        self.assertEqual(self.query(path.parent, "SELECT begin_ns, dur_ns FROM kernels WHERE name = 'k1'"),
                         [{"begin_ns": 1736408883704643212, "dur_ns": 5500}])

    def test_db_that_is_no_db(self):
        self.fails(self.write("ascend_pytorch_profiler_0.db", "not a database"), 3, "ascend_pytorch_profiler_0.db")
        self.fails(self.write("b/ascend_pytorch_profiler_0.db", b"SQLite format 3\0" + b"\1" * 5000), 4)

    def test_db_without_tables_or_columns(self):
        path = self.scratch / "ascend_pytorch_profiler_2.db"
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)")
        db.execute("CREATE TABLE TASK (startNs INTEGER, strange TEXT)")
        db.execute("INSERT INTO TASK VALUES (5, 'x')")
        db.commit()
        db.close()
        rank = self.info(path)["ranks"][0]
        self.assertEqual(rank["rank"], 2)
        self.assertIn("DbColumnMissing", [issue["name"] for issue in rank["issues"]])

    @needs_shared
    def test_db_in_wal_mode_read_only_and_locked(self):
        source = next(DATA.glob("ascend_pt/db/level1/rank0*/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db"))
        folder = self.scratch / "data"
        folder.mkdir()
        path = folder / source.name
        shutil.copyfile(source, path)
        db = sqlite3.connect(path)
        db.execute("PRAGMA journal_mode=WAL")
        db.close()
        before = snapshot(folder)
        path.chmod(0o444)
        folder.chmod(0o555)
        self.assertEqual(self.info(path)["ranks"][0]["counts"]["kernels"], 191)
        folder.chmod(0o755)
        self.assertEqual(snapshot(folder), before)
        path.chmod(0o644)
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("PRAGMA locking_mode=EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        self.assertEqual(self.info(path, options=["--no-cache"])["ranks"][0]["counts"]["kernels"], 191)
        holder.close()

    def test_a_damaged_rank_does_not_hide_the_others(self):
        shutil.copytree(SAMPLE, self.scratch / "job")
        trace = self.scratch / "job/rank1_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
        trace.write_bytes(b"\0" * 100)
        job = self.info(self.scratch / "job")
        self.assertEqual([rank["rank"] for rank in job["ranks"]], [0, 1])
        self.assertEqual(job["ranks"][0]["issues"], [])
        self.assertIn("FileUnreadable", [issue["name"] for issue in job["ranks"][1]["issues"]])

    def test_nothing_is_written_beside_the_data(self):
        shutil.copytree(SAMPLE, self.scratch / "job")
        before = snapshot(self.scratch / "job")
        for words in (["info"], ["breakdown"], ["ops"], ["verify"]):
            self.run_program(*words, self.scratch / "job", expect=0, cwd=self.scratch / "job")
        self.run_program("query", self.scratch / "job", "SELECT count(*) FROM slices", expect=0, cwd=self.scratch / "job")
        self.assertEqual(snapshot(self.scratch / "job"), before)

    def test_sample_cut_at_many_bytes_never_crashes(self):
        data = (SAMPLE / "rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json").read_bytes()
        whole = len(json.loads(data))
        for part in range(1, 25):
            path = self.write("cut.json", data[:len(data) * part // 25])
            issues, counts = self.issues(path)
            self.assertIn("TraceTruncated", issues)
            self.assertLess(counts["slices"], whole)


class Help(Case):
    def test_version_and_help_everywhere(self):
        self.assertRegex(self.run_program("--version", expect=0).out, r"^steplens \d+\.\d+\.\d+\n$")
        self.assertIn("breakdown", self.run_program("--help", expect=0).out)
        for command in ("info", "breakdown", "ops", "query", "verify", "auto-completion"):
            self.assertIn("Example", self.run_program(command, "--help", expect=0).out)

    def test_completion_scripts_are_valid_for_their_shell(self):
        import subprocess
        for shell in ("bash", "zsh", "fish"):
            script = self.run_program("auto-completion", shell, expect=0).out
            self.assertIn("breakdown", script)
            if shutil.which(shell):
                flag = "-n"
                done = subprocess.run([shell, flag], input=script.encode(), capture_output=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_bash_completes_commands_and_choices(self):
        import subprocess
        script = self.run_program("auto-completion", "bash", expect=0).out
        def complete(*words):
            quoted = " ".join(f"'{word}'" for word in words)
            run = (script + f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _steplens; "
                   'printf "%s\\n" "${COMPREPLY[@]}"')
            done = subprocess.run(["bash", "-c", run], capture_output=True, check=True)
            return done.stdout.decode().split()
        self.assertEqual(complete("steplens", "bre"), ["breakdown"])
        self.assertEqual(complete("steplens", "ops", "--by", "sh"), ["shape"])
        self.assertIn("--no-cache", complete("steplens", "info", "--n"))


if __name__ == "__main__":
    unittest.main()
