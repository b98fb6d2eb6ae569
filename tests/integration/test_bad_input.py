"""Bad input is normal input: one clear sentence or a counted issue, an honest exit code, nothing written beside the data."""

import contextlib
import gzip
import json
import os
import re
import shutil
import sqlite3
import subprocess
import unittest

from support import DATA, PROGRAM, SAMPLE, Case, needs_shared, snapshot

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

    def odd_rank(self, make, name, **others):
        """A rank folder in which `make` puts something in the place of a file."""
        output = self.scratch / f"{name}_job" / "r0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        make(output / name)
        for other, text in others.items():
            (output / f"{other}.csv").write_text(text)
        return output.parents[1]

    def test_a_folder_or_pipe_in_place_of_a_file(self):
        names = ["trace_view.json", "kernel_details.csv", "communication.json", "ascend_pytorch_profiler_0.db", "analysis.db"]
        for make, found in ((lambda path: path.mkdir(), "is a directory"), (os.mkfifo, "is a pipe")):
            for name in names:
                with self.subTest(name=name, found=found):
                    folder = self.odd_rank(make, name, step_trace_time="Step,Computing,Free\n1,2,3\n", op_statistic="OP Type,Count\na,1\n")
                    rank = self.info(folder)["ranks"][0]
                    file = next(file for file in rank["files"] if file["path"].endswith(name))
                    self.assertFalse(file["used"])
                    if name != "analysis.db":  # left out, as step_trace_time.csv says the same
                        issue = next(issue for issue in rank["issues"] if issue["name"] == "FileUnreadable")
                        self.assertIn(f"{name}: {found}, a file was expected", issue["example"])
                        self.run_program("verify", folder, expect=1)
                    shutil.rmtree(folder)
                    folder = self.odd_rank(make, name)
                    self.fails(folder, 4, f"{name}: {found}, a file was expected")
                    shutil.rmtree(folder)

    def test_a_folder_in_place_of_profiler_info(self):
        shutil.copytree(SAMPLE / "rank0_ascend_pt", self.scratch / "r0_ascend_pt")
        path = self.scratch / "r0_ascend_pt/profiler_info_0.json"
        path.unlink()
        path.mkdir()
        rank = self.info(path.parent)["ranks"][0]
        self.assertEqual([file["path"] for file in rank["files"] if not file["used"]], [str(path)])
        self.assertEqual([issue["name"] for issue in rank["issues"]], ["FileUnreadable"])

    def test_a_folder_is_known_however_its_path_is_written(self):
        shutil.copytree(SAMPLE / "rank1_ascend_pt", self.scratch / "r1_ascend_ms")
        output = self.scratch / "r1_ascend_ms/ASCEND_PROFILER_OUTPUT"
        for cwd, path in ((output, "."), (output, "./"), (output.parent, output.name), (output.parent, f"{output.name}/"),
                          (output.parent, f"./{output.name}"), (output.parent, "."), (output, "..")):
            with self.subTest(cwd=cwd.name, path=path):
                [rank] = json.loads(self.run_program("info", "--json", path, cwd=cwd, expect=0).out)["ranks"]
                self.assertEqual((rank["rank"], rank["source"], rank["level"], rank["issues"]), (1, "ascend_ms", "Level1", []))
                self.assertRegex(self.run_program("info", path, cwd=cwd, expect=0).out, r"\n    (\.\./)?profiler_info_1.json ")

    def test_a_pipe_or_device_given_by_name(self):
        os.mkfifo(self.scratch / "t.json")
        self.fails(self.scratch / "t.json", 6, "t.json: is a pipe, a file was expected")
        self.fails("/dev/null", 6, "is a device or socket, a file was expected")

    def test_a_file_replaced_behind_an_equal_size_and_date_is_read_again(self):
        path = self.write("t.json", f"[{EVENT}]")
        def replace(name, text, into):
            into.write_text(text.replace('"a"', f'"{name}"'))
            os.utime(into, ns=(10**18, 10**18))
            os.replace(into, path)
        names = []
        for name in "abc":
            replace(name, f"[{EVENT}]", self.scratch / "new.json")
            names += [row["name"] for row in self.query(path, "SELECT name FROM slices")]
        self.assertEqual(names, ["a", "b", "c"])
        # In place, the date set back: the time of the change tells.
        path.write_text(f"[{EVENT}]".replace('"a"', '"d"'))
        os.utime(path, ns=(10**18, 10**18))
        self.assertEqual(self.query(path, "SELECT name FROM slices"), [{"name": "d"}])

    def run_as_stranger(self, *words, **options):
        """As somebody who is not root, who may read everything."""
        self.scratch.chmod(0o755)
        return self.run_program(*words, "--no-cache", user=65534 if os.geteuid() == 0 else None, **options)

    def test_no_permission(self):
        path = self.write("t.json", f"[{EVENT}]")
        path.chmod(0)
        self.assertEqual(self.run_as_stranger("info", path, expect=6).err, f"steplens: {path}: cannot open: Permission denied\n")

    def test_no_permission_for_the_folder_of_results(self):
        shutil.copytree(SAMPLE, self.scratch / "job")
        folder = self.scratch / "job/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT"
        folder.chmod(0)
        said = f"{folder}: cannot list the folder: Permission denied"
        self.assertEqual(self.run_as_stranger("info", folder.parent, expect=6).err, f"steplens: {said}\n")
        job = json.loads(self.run_as_stranger("info", "--json", self.scratch / "job", expect=0).out)
        self.assertEqual([rank["rank"] for rank in job["ranks"]], [1])
        self.assertEqual([file["path"] for file in job["ignored"]], [str(folder)])
        folder.chmod(0o755)

    def test_a_single_file_that_is_no_profile(self):
        path = self.write("notes.txt", "hello")
        self.assertEqual(self.run_program("info", path, expect=3).err,
                         f"steplens: {path}: no profile found: not a trace, database or result file that steplens knows\n")
        sheet = next(SAMPLE.rglob("l2_cache.csv"))
        self.assertIn("give the folder around it", self.run_program("info", sheet, expect=3).err)

    def test_of_several_exports_the_newest_is_read(self):
        output = "PROF_000001_20240101000000000_A/mindstudio_profiler_output"
        old, new = "20240101093035", "20240102093035"
        for time, events in ((old, 5), (new, 2)):
            for number in range(2):
                self.write(f"{output}/msprof_slice_{number}_{time}.json", f"[{','.join([EVENT] * events)}]")
            self.write(f"{output}/op_summary_{time}.csv", "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),"
                       "Task Wait Time(us)\n" + "k,t,AI_CORE,1,1,0\n" * events)
        rank = self.info(self.scratch / output)["ranks"][0]
        self.assertEqual((rank["counts"]["slices"], rank["counts"]["kernels"]), (4, 2))
        self.assertEqual([file.get("reason") for file in rank["files"] if old in file["path"]], [f"the export of {new} is newer"] * 3)

    def test_parts_of_an_export_are_not_read_once_more(self):
        output = "PROF_000001_20240101000000000_A/mindstudio_profiler_output"
        parts = [f"{part}_20240101093035.json" for part in ("hccl", "msprof_tx", "step_trace", "task_time")]
        for name in ["msprof_20240101093035.json", *parts]:
            self.write(f"{output}/{name}", f"[{EVENT}]")
        rank = self.info(self.scratch / output)["ranks"][0]
        self.assertEqual(rank["counts"]["slices"], 1)
        reasons = {os.path.basename(file["path"]): file.get("reason") for file in rank["files"] if not file["used"]}
        self.assertEqual(reasons, dict.fromkeys(parts, "msprof_*.json has the same events"))

    def test_files_beside_the_timeline_of_an_older_msprof(self):
        device = "PROF_000001_20230818142704322_A/device_3"
        for number in range(5):
            self.write(f"{device}/timeline/msprof_3_2_{number}.json", f"[{EVENT}]")
            self.write(f"{device}/timeline/step_trace_3_2_{number}.json", f"[{EVENT}]")
        self.write(f"{device}/info.json.3", "{}")
        self.write(f"{device}/info.json.3.done", "")
        self.write(f"{device}/nic_3.csv", "a\n1\n")
        job = self.info(self.scratch / device)
        self.assertEqual({os.path.basename(file["path"]): file["reason"] for file in job["ignored"]},
                         {"info.json.3.done": "marker", "nic_3.csv": "a result file outside a rank folder"})
        self.assertEqual(job["ranks"][0]["counts"]["slices"], 5)
        out = self.run_program("info", self.scratch / device, expect=0).out
        self.assertIn("\n    ../info.json.3  ", out)
        self.assertRegex(out, r"\n    step_trace_3_2_0.json and 4 more +left out: msprof_\*.json has the same events\n")

    def test_a_compressed_trace_in_a_rank_folder(self):
        shutil.copytree(SAMPLE / "rank0_ascend_pt", self.scratch / "r0_ascend_pt")
        expected = self.issues(self.scratch / "r0_ascend_pt")
        path = next((self.scratch / "r0_ascend_pt").rglob("trace_view.json"))
        packed = path.with_name("trace_view.json.gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        self.assertEqual(self.issues(self.scratch / "r0_ascend_pt"), expected)
        path.unlink()
        self.assertEqual(self.issues(self.scratch / "r0_ascend_pt"), expected)
        self.assertEqual(self.info(packed.parent)["ranks"][0]["counts"], expected[1])
        self.run_program("verify", self.scratch / "r0_ascend_pt", expect=0)

    def test_keys_that_repeat_in_result_files(self):
        shutil.copytree(SAMPLE / "rank0_ascend_pt", self.scratch / "r0_ascend_pt")
        path = next((self.scratch / "r0_ascend_pt").rglob("communication.json"))
        text = path.read_text()
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())  # a byte order mark is no damage
        self.assertNotIn("JsonKeyRepeated", self.issues(self.scratch / "r0_ascend_pt")[0])
        path.write_text(f"{text.rstrip()[:-1]},{text.lstrip()[1:]}")
        issues = self.issues(self.scratch / "r0_ascend_pt")[0]
        self.assertEqual(issues["JsonKeyRepeated"], len(json.loads(text)))

    def test_ranks_and_base_times_that_are_no_numbers(self):
        path = self.write("t.json", f'{{"baseTimeNanoseconds": "abc", "traceEvents": [{EVENT}]}}')
        self.assertEqual(self.issues(path)[0]["JsonFieldInvalid"], 1)
        shutil.copytree(SAMPLE / "rank0_ascend_pt", self.scratch / "r0_ascend_pt")
        path = self.scratch / "r0_ascend_pt/profiler_info_0.json"
        info = json.loads(path.read_text())
        info["rank_id"] = 1.5
        path.write_text(json.dumps(info))
        self.assertEqual(self.issues(path.parent)[0]["JsonFieldInvalid"], 1)

    def test_problems_of_events_name_their_file(self):
        path = self.write("t.json", f"[{EVENT},{EVENT.replace('1}', '-1}')}]")
        [issue] = [issue for issue in self.info(path)["ranks"][0]["issues"] if issue["name"] == "NegativeDuration"]
        self.assertTrue(issue["example"].startswith(f"{path}: byte "), issue["example"])

    def test_truncated_trace(self):
        issues, counts = self.issues(self.write("t.json", f"[{EVENT}, {EVENT[:30]}"))
        self.assertEqual(counts["slices"], 1)
        self.assertIn("TraceTruncated", issues)
        self.assertEqual(self.run_program("info", self.scratch / "t.json", expect=0).err, "")
        self.assertIn("'steplens info' lists them", self.run_program("ops", self.scratch / "t.json", expect=0).err)

    def test_truncated_gzip(self):
        packed = gzip.compress(f"[{','.join([EVENT] * 5000)}]".encode())
        issues, counts = self.issues(self.write("t.json.gz", packed[:-20]))
        self.assertIn("TraceTruncated", issues)
        self.assertLess(counts["slices"], 5001)
        self.run_program("info", "--strict", self.scratch / "t.json.gz", expect=4)

    def test_gzip_without_a_byte_of_text(self):
        self.fails(self.write("t.json.gz", gzip.compress(f"[{EVENT}]".encode())[:8]), 4, "the gzip data is damaged or cut off")

    def test_forms_that_can_be_made_readable_are_named(self):
        for data, said in ((b"PK\3\4...", "a zip archive"), (b"\xfd7zXZ\0...", "compressed with xz"),
                           (b"\x28\xb5\x2f\xfd...", "compressed with zstd"), (b"BZh9...", "compressed with bzip2"),
                           (f"[{EVENT}]".encode("utf-16"), "a text in UTF-16")):
            self.fails(self.write("t.json", data), 3, f"t.json: no profile found: {said}")

    def test_bytes_behind_the_end_of_gzip(self):
        packed = gzip.compress(f"[{EVENT}]".encode())
        for behind, count in ((b"garbage", 1), (b"\0" * 512, None), (gzip.compress(b""), None)):
            with self.subTest(behind=behind[:8]):
                issues, counts = self.issues(self.write("t.json.gz", packed + behind))
                self.assertEqual(counts["slices"], 1)
                self.assertEqual(issues.get("TextBehindEnd"), count)

    def test_keys_that_repeat(self):
        twice = EVENT.replace("1}", '1,"dur":2}')
        issues, counts = self.issues(self.write("t.json", f"[{EVENT}, {twice}]"))
        self.assertEqual((issues["JsonKeyRepeated"], counts["slices"]), (1, 2))
        issues, counts = self.issues(self.write("t.json", f'{{"traceEvents":[{EVENT}],"traceEvents":[{EVENT},{EVENT}]}}'))
        self.assertEqual((issues["JsonKeyRepeated"], counts["slices"]), (1, 1))

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

    def test_links_inside_a_folder_do_not_leave_it(self):
        self.write("secret/other.json", f"[{EVENT}]")
        self.write("secret/notes.txt", "the secret")
        self.write("given/real/t.json", f"[{EVENT}]")
        for name, target in (("inside", "real"), ("rank7", "../secret"), ("root", "/"), ("file.json", "../secret/other.json"),
                             ("notes.json", "../secret/notes.txt")):
            os.symlink(target, self.scratch / "given" / name)
        for given in ("given", "alias"):  # the path itself may be a link
            if given == "alias":
                os.symlink("given", self.scratch / "alias")
            done = self.run_program("info", "--json", self.scratch / given, expect=0)
            self.assertNotIn("the secret", done.out + done.err)
            info = json.loads(done.out)
            self.assertEqual([rank["path"] for rank in info["ranks"]], [str(self.scratch / given / "inside" / "t.json")])
            left_out = {os.path.basename(file["path"]): file["reason"] for file in info["ignored"]}
            self.assertEqual(set(left_out), {"rank7", "root", "file.json", "notes.json"})
            self.assertEqual(set(left_out.values()), {"a link that leaves the given folder; --follow-links follows it"})
        os.remove(self.scratch / "given" / "root")
        followed = self.info(self.scratch / "given", options=["--follow-links"])
        self.assertEqual({os.path.relpath(rank["path"], self.scratch / "given") for rank in followed["ranks"]},
                         {"file.json", "inside/t.json", "rank7/other.json"})
        # What was named on the command line may lie anywhere, and links may lead there.
        self.assertEqual(len(self.info(self.scratch / "given", self.scratch / "given" / "rank7")["ranks"]), 3)

    def test_links_in_the_folders_of_a_rank_do_not_leave_it(self):
        capture = self.scratch / "x_ascend_pt"
        shutil.copytree(SAMPLE / "rank0_ascend_pt", capture)
        outside = self.write("outside.csv", "Step,secret\n1,2\n")
        output = capture / "ASCEND_PROFILER_OUTPUT"
        table = output / "step_trace_time.csv"
        table.unlink(missing_ok=True)
        table.symlink_to(outside)
        info = self.info(capture)
        self.assertNotIn(str(table), [file["path"] for file in info["ranks"][0]["files"] if file["used"]])
        self.assertIn({"path": str(table), "note": "a link that leaves the given folder; --follow-links follows it"},
                      [{"path": file["path"], "note": file["reason"]} for file in info["ignored"]])

    def test_usage_errors(self):
        for words in (["info"], ["nonsense"], ["ops", SAMPLE, "--by", "color"], ["ops", SAMPLE, "--top", "x"],
                      ["ops", SAMPLE, "--top", "-1"], ["info", SAMPLE, "--threads", "-3"], ["query", SAMPLE],
                      ["breakdown", SAMPLE, "--json", "--csv"]):
            done = self.run_program(*words, expect=2)
            self.assertEqual(done.out, "")
            self.assertIn("steplens", done.err)

    def test_mistyped_words_get_a_suggestion(self):
        for words, wanted in ((["brekdown", SAMPLE], "breakdown"), (["Info", SAMPLE], "info"),
                              (["info", SAMPLE, "--jsn"], "--json"), (["info", SAMPLE, "--no_cache"], "--no-cache"),
                              (["ops", SAMPLE, "--by", "shpe"], "shape"), (["ops", SAMPLE, "--by=NMAE"], "name"),
                              (["query", SAMPLE, "SELECT 1", "--format", "jsn"], "json"),
                              (["query", SAMPLE, "SELECT 1", "--fromat=csv"], "--format"),
                              (["auto-completion", "bsh"], "bash")):
            with self.subTest(words=words):
                done = self.run_program(*words, expect=2)
                self.assertEqual(done.out, "")
                self.assertIn(f"did you mean '{wanted}'?", done.err)
                self.assertRegex(done.err, r"\ATry '|\nTry 'steplens( [a-z-]+)? --help'\.\n\Z")
        for words in (["nonsense"], ["info", SAMPLE, "--nonsense"], ["ops", SAMPLE, "--by", "color"]):
            self.assertNotIn("did you mean", self.run_program(*words, expect=2).err)

    def test_ranks_and_steps_that_are_not_there(self):
        for command in ("ops", "breakdown"):
            self.assertIn("there is no rank 7; ranks: 0, 1", self.run_program(command, SAMPLE, "--rank", 7, expect=3).err)
            self.assertIn("there is no step 99; steps: 10, 11, 12", self.run_program(command, SAMPLE, "--step", 99, expect=3).err)
        trace = self.write("t.json", f"[{EVENT}]")
        self.assertIn("there is no step 1; none is marked", self.run_program("ops", trace, "--step", 1, expect=3).err)
        self.assertIn("no operators of the host in the input", self.run_program("ops", trace, expect=0).err)

    def test_no_command(self):
        overview = self.run_program("--help", expect=0).out
        for words in ([], ["-H"], ["help"]):
            self.assertEqual(self.run_program(*words, expect=0).out, overview, words)
        self.assertEqual(self.run_program("help", "info", expect=0).out, self.run_program("info", "--help", expect=0).out)
        self.assertEqual(self.run_program("-v", expect=0).out, self.run_program("--version", expect=0).out)

    def test_options_with_too_many_or_too_few_values(self):
        self.assertIn("--top: a value was expected", self.run_program("ops", SAMPLE, "--top", expect=2).err)
        self.assertIn("more than once", self.run_program("ops", SAMPLE, "--top", "1", "--top", "2", expect=2).err)

    def test_a_rank_that_cannot_be_read_is_said_by_every_command(self):
        folder = self.scratch / "job"
        shutil.copytree(SAMPLE, folder)
        ranks = sorted(path for path in folder.rglob("*_ascend_pt") if path.is_dir())
        lost = ranks[0]
        shutil.rmtree(lost / "ASCEND_PROFILER_OUTPUT")
        (lost / "ASCEND_PROFILER_OUTPUT").mkdir()
        for command in ("breakdown", "ops"):
            done = self.run_program(command, folder, expect=0)
            self.assertIn("1 capture could not be read and is left out", done.err)
            self.assertIn(str(lost), done.err)
            self.run_program(command, folder, "--strict", expect=4)
        self.assertIn("could not be read", self.run_program("verify", folder, expect=1).err)
        done = self.run_program("cluster", "-d", folder, "-o", self.scratch / "out", expect=0)
        self.assertIn("ranks: 2 found, 1 used, 1 failed", done.err)
        self.assertIn(str(lost), done.err)

    def test_a_path_with_nothing_in_it_is_said_where_another_has_a_rank(self):
        empty = self.scratch / "empty"
        empty.mkdir()
        self.assertIn(f"{empty}: the folder is empty", self.run_program("breakdown", SAMPLE, empty, expect=0).err)
        self.assertIn(str(empty), self.run_program("info", SAMPLE, empty, expect=0).out)

    def test_captures_of_one_rank_are_said_to_have_got_numbers(self):
        again = self.scratch / "again"
        shutil.copytree(SAMPLE, again)
        self.assertIn("2 captures repeat ranks of another path and got numbers of their own",
                      self.run_program("ops", SAMPLE, again, expect=0).err)

    def test_every_command_takes_the_newest_of_two_captures_of_a_rank(self):
        job = self.scratch / "job"
        shutil.copytree(SAMPLE, job)
        first = sorted(path for path in job.rglob("*_ascend_pt") if path.is_dir())[0]
        newer = first.with_name("later_1_20990101000000000_ascend_pt")
        shutil.copytree(first, newer)
        said = f"1 capture of ranks that were captured more than once is left out, the newest is used (rank 0: {newer} is used, {first} is not)"
        for command in ("breakdown", "ops", "verify"):
            self.assertIn(said, self.run_program(command, job, expect=0).err)
        self.assertIn(said, self.run_program("cluster", "-d", job, "-o", self.scratch / "out", expect=0).err)
        info = json.loads(self.run_program("info", job, "--json", expect=0).out)
        self.assertEqual([(rank["rank"], rank["path"]) for rank in info["ranks"]][0], (0, str(newer)))
        self.assertEqual(len(info["ranks"]), 2)
        self.assertIn(str(first), [file["path"] for file in info["ignored"]])
        rows = json.loads(self.run_program("query", job, "SELECT rank, path FROM ranks", "--format", "json", expect=0).out)
        self.assertEqual(rows[0]["path"], str(newer))

    def test_numbers_beyond_64_bits_in_options(self):
        for words in (["ops", SAMPLE, "--top"], ["ops", SAMPLE, "--rank"], ["breakdown", SAMPLE, "--step"],
                      ["info", SAMPLE, "--threads"]):
            for number in ("9" * 30, "-" + "9" * 30, "9223372036854775808", "1e3", "0x10", "1.5", ""):
                with self.subTest(words=words, number=number):
                    done = self.run_program(*words, number, expect=2)
                    self.assertIn(words[2], done.err)
            self.assertIn("is not a whole number", self.run_program(*words, "9" * 30, expect=2).err)

    def run_with(self, *words, **streams):
        with contextlib.ExitStack() as stack:
            opened = {name: stack.enter_context(open(target, "wb")) if isinstance(target, str) else target
                      for name, target in streams.items()}
            return subprocess.run([PROGRAM, *map(str, words)], env=self.environment, check=False, timeout=60,
                                  **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **opened})

    COMMANDS = (["info"], ["info", "--json"], ["breakdown"], ["ops", "--csv"], ["verify"], ["query", "SELECT * FROM slices"],
                ["query", "SELECT * FROM slices", "--format", "csv"], ["query", "--schema"])

    def command_lines(self):
        for command, *rest in self.COMMANDS:
            yield [command, SAMPLE, *rest]
        yield from (["--help"], ["--version"], ["info", "--help"], ["auto-completion", "bash"], ["docs", "commands"])

    def test_stdout_is_full(self):
        for words in self.command_lines():
            with self.subTest(words=words):
                done = self.run_with(*words, stdout="/dev/full")
                self.assertEqual(done.returncode, 6, done.stderr)
                self.assertRegex(done.stderr.decode(), r"\Asteplens: the result could not be written to stdout(: No space left on device)?\n\Z")

    def test_stdout_or_stderr_is_closed(self):
        for words in self.command_lines():
            with self.subTest(words=words):
                shell = ["sh", "-c", '"$@" >&-', "sh"]
                done = subprocess.run([*shell, PROGRAM, *map(str, words)], env=self.environment, check=False, capture_output=True)
                self.assertEqual(done.returncode, 6, done.stderr)
                self.assertIn(b"the result could not be written to stdout", done.stderr)
                done = subprocess.run([*shell[:2], '"$@" 2>&- <&-', "sh", PROGRAM, *map(str, words)], env=self.environment, check=False, capture_output=True)
                self.assertEqual(done.returncode, 0)
                self.assertTrue(done.stdout)

    def test_errors_without_a_stderr_keep_their_exit_code(self):
        damaged = self.write("t.json", f"[{EVENT}, {EVENT[:30]}")
        for words, code in ((["info", self.scratch / "absent"], 3), (["nonsense"], 2), (["info", damaged], 0),
                            (["breakdown", damaged], 0), (["query", SAMPLE, "SELECT * FROM absent"], 3)):
            with self.subTest(words=words):
                for redirect in ("2>&-", "2>/dev/full"):
                    done = subprocess.run(["sh", "-c", f'"$@" {redirect}', "sh", PROGRAM, *map(str, words)], env=self.environment, check=False, capture_output=True)
                    self.assertEqual(done.returncode, code)

    def test_closed_streams_never_let_output_into_a_file(self):
        # The first file that is opened would take the place of a closed stdout.
        subprocess.run(["sh", "-c", '"$@" <&- >&- 2>&-', "sh", PROGRAM, "info", str(SAMPLE)], env=self.environment, check=False)
        for path in (self.scratch / "cache").glob("*.slc"):
            self.assertTrue(path.read_bytes().startswith(b"SLENS"))
        self.info(SAMPLE)

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
    def test_every_column_and_table_of_a_db_is_missed(self):
        source = next(DATA.glob("ascend_pt/db/level1/rank0*/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db"))
        path = self.scratch / source.name
        def damaged(sql):
            shutil.copyfile(source, path)
            with contextlib.closing(sqlite3.connect(path)) as db:
                db.executescript(sql)
            return self.issues(path)[0]
        self.assertEqual(damaged("SELECT 1"), {})
        for table, column in (("TASK", "connectionId"), ("TASK", "streamId"), ("COMPUTE_TASK_INFO", "inputShapes"),
                              ("COMMUNICATION_TASK_INFO", "size"), ("OP_MEMORY", "releaseTime"), ("HBM", "bandwidth"),
                              ("PYTORCH_API", "sequenceNumber")):
            with self.subTest(table=table, column=column):
                self.assertEqual(damaged(f"ALTER TABLE {table} RENAME COLUMN {column} TO other")["DbColumnMissing"], 1)
        for table in ("CONNECTION_IDS", "PYTORCH_CALLCHAINS", "ENUM_MODULE", "ENUM_HCCL_LINK_TYPE"):
            with self.subTest(table=table):
                self.assertIn("DbTableUnreadable", damaged(f"DROP TABLE {table}"))

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

    def test_ranks_without_a_readable_file_are_not_used(self):
        shutil.copytree(SAMPLE, self.scratch / "job")
        for folder in ("rank0_ascend_pt", "rank1_ascend_pt"):
            for path in (self.scratch / "job" / folder / "ASCEND_PROFILER_OUTPUT").iterdir():
                path.write_bytes(b"garbage\n\x1b[2J\xff")
            if folder == "rank0_ascend_pt":
                job = self.info(self.scratch / "job")
                self.assertEqual([rank["rank"] for rank in job["ranks"]], [1])
                self.assertIn("trace_view.json", next(file["reason"] for file in job["ignored"] if file["path"].endswith("rank0_ascend_pt")))
        for command in ("info", "breakdown", "ops", "verify"):
            self.fails(self.scratch / "job", 4, "none of 2 ranks could be read", "trace_view.json", command=command)

    def test_damage_reaches_the_terminal_as_text_only(self):
        shutil.copytree(SAMPLE, self.scratch / "job")
        output = self.scratch / "job/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT"
        (output / "op_statistic.csv").write_bytes(b"\x1b[2Jgarbage\x07\xff\n")
        (output / "kernel_details.csv").write_bytes((output / "kernel_details.csv").read_bytes().replace(b"MatMulV2", b"\x1b[2J"))
        for command in ("info", "verify", "ops"):
            done = self.run_program(command, self.scratch / "job")
            self.assertNotIn("\x1b", done.out + done.err)
            self.assertNotIn("\x07", done.out + done.err)

    def test_odd_numbers_in_result_files(self):
        shutil.copytree(SAMPLE / "rank0_ascend_pt", self.scratch / "r0_ascend_pt")
        output = self.scratch / "r0_ascend_pt/ASCEND_PROFILER_OUTPUT"
        def change(name, old, new):
            text = (output / name).read_text()
            self.assertIn(old, text)
            (output / name).write_text(text.replace(old, new, 1))
        change("communication.json", '"Transit Time(ms)": ', '"Transit Time(ms)": NaN, "x": ')
        change("communication_matrix.json", '"Transit Size(MB)": ', '"Transit Size(MB)": 999999999999999999999999999, "x": ')
        rows = (output / "op_statistic.csv").read_text().splitlines()
        rows[1] = rows[1].replace(rows[1].split(",")[2], "9" * 40, 1)
        (output / "op_statistic.csv").write_text("\n".join(rows) + "\n")
        rows = (output / "l2_cache.csv").read_text().splitlines()
        rows[1:4] = ["?" + rows[1], "2,1,nan,-inf,x", "9" * 400 + "," + rows[3].split(",", 1)[1]]
        (output / "l2_cache.csv").write_text("\n".join(rows) + "\n")
        issues, counts = self.issues(self.scratch / "r0_ascend_pt")
        self.assertGreater(counts["slices"], 0)
        self.assertEqual(issues["JsonFieldInvalid"], 1)
        self.assertEqual(issues["CsvCellNotANumber"], 4)
        self.run_program("verify", self.scratch / "r0_ascend_pt", expect=1)

    def test_odd_values_of_steps_are_counted(self):
        folder = self.scratch / "odd_steps"
        shutil.copytree(SAMPLE / "rank0_ascend_pt", folder)
        self.assertNotIn("StepValueInvalid", self.issues(folder)[0])
        path = next(folder.rglob("step_trace_time.csv"))
        lines = path.read_text().splitlines()
        cells = lines[1].split(",")
        cells[lines[0].split(",").index("Free")] = "-30"
        lines[1] = ",".join(cells)
        path.write_text("\n".join(lines) + "\n")
        (issue,) = [issue for issue in self.info(folder)["ranks"][0]["issues"] if issue["name"] == "StepValueInvalid"]
        self.assertEqual(issue["count"], 1)
        self.assertIn("step_trace_time row 1: Free is -30 us", issue["example"])

    def test_a_cell_without_end_ends_the_file_and_no_more(self):
        shutil.copytree(SAMPLE / "rank0_ascend_pt", self.scratch / "r0_ascend_pt")
        path = self.scratch / "r0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv"
        lines = path.read_text().splitlines(keepends=True)
        lines[3] = '"' + "x" * (40 << 20) + lines[3]
        path.write_text("".join(lines))
        rank = self.info(self.scratch / "r0_ascend_pt")["ranks"][0]
        self.assertEqual(rank["counts"]["kernels"], 2)
        self.assertTrue(next(file for file in rank["files"] if file["path"].endswith(path.name))["used"])
        self.assertIn("kernel_details.csv:4", next(issue for issue in rank["issues"] if issue["name"] == "FileUnreadable")["example"])

    def test_counters_that_are_no_numbers(self):
        counter = '{"ph":"C","name":"AI Core Freq","pid":1,"tid":0,"ts":%d,"args":{"MHz":%s}}'
        events = [counter % (i, value) for i, value in enumerate(("NaN", '"abc"', "1e400", "1800", "null", "-Infinity"))]
        issues, counts = self.issues(self.write("t.json", f"[{EVENT},{','.join(events)}]"))
        self.assertEqual(counts["counters"], 1)
        self.assertEqual(issues["JsonFieldInvalid"], 5)

    def test_odd_integers_in_a_db(self):
        path = self.scratch / "ascend_pytorch_profiler_0.db"
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)")
        db.execute("CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, "
                   "sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, type INTEGER)")
        db.execute("CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER)")
        for start, end in (("1000", "2000"), ("9" * 30, "9" * 31), ("-5", "99999999999999999999"), ("x", "y"), (1e300, -1e300), (None, None)):
            db.execute("INSERT INTO PYTORCH_API VALUES (?, ?, 1, NULL, 1, -1, 0, NULL, NULL, NULL, 50001)", (start, end))
            db.execute("INSERT INTO STEP_TIME VALUES (1, ?, ?)", (start, end))
        db.execute("INSERT INTO STRING_IDS VALUES (1, 'op')")
        db.commit()
        db.close()
        issues, counts = self.issues(path)
        self.assertGreaterEqual(counts["slices"], 1)
        self.assertIn("DbRowInvalid", issues)
        for command in ("breakdown", "ops", "verify"):
            self.run_program(command, path)

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
        commands = re.findall(r"^  ([a-z-]+) +[A-Z]", self.run_program("--help", expect=0).out, re.M)
        self.assertGreaterEqual(len(commands), 12)
        for command in commands:
            self.assertRegex(self.run_program(command, "--help", expect=0).out, rf"(?s)Usage: steplens {command} .*Example")
            self.assertRegex(self.run_program(command, "--version", expect=0).out, r"^steplens \d")

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
        self.assertEqual(complete("steplens", "record", "st"), ["start", "stop", "status"])
        for command, option, words in (
                ("record", "--analyse", ["sync", "async", "no"]), ("record", "--host-sys", ["cpu", "mem", "disk", "network", "osrt", "numa"]),
                ("record", "--profile-export-type", ["text", "db"]), ("analyse", "--export-type", ["text", "db", "text,db"]),
                ("analyse", "--data-simplification", ["on", "off"]), ("analyse", "--metric", ["self_cpu_time_total", "self_npu_time_total"]),
                ("advisor", "--format", ["html", "xlsx", "md", "json", "none"]), ("whatif", "--overlap", ["comm", "copy"])):
            self.assertEqual(complete("steplens", command, option, ""), words, option)
        rules = self.run_program("advisor", "rules", "--list", expect=0).out
        for option in ("--only", "--skip", "--show"):
            (rule,) = complete("steplens", "advisor", option, "late_r")
            self.assertIn(rule, rules)
        self.assertEqual(complete("steplens", "record", "--host-sys", "cpu", "me"), ["mem"])  # a list goes on
        self.assertIn("--host-sys", complete("steplens", "record", "--host-sys", "cpu", "--host"))
        self.assertIn("--no-cache", complete("steplens", "info", "--n"))
        self.assertEqual(complete("steplens", "cluster", "-m", "hccl_"), ["hccl_sum"])
        folder = str(self.scratch / "captures of today")
        os.mkdir(folder)
        for words in (["-d"], ["cluster", "--output_path"], ["info"], ["convert", "x", "-o"]):
            self.assertEqual(" ".join(complete("steplens", *words, folder[:-3])), folder)

    def test_choices_are_taken_in_any_case(self):
        script = self.run_program("auto-completion", expect=0).out
        self.assertEqual(self.run_program("auto-completion", "Bash", expect=0).out, script)


if __name__ == "__main__":
    unittest.main()
