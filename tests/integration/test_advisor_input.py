"""`steplens advisor` and input that is bad, partial or hostile; and its document for machines, completely."""

import csv
import html
import json
import re
import shutil
import unittest

from sample_db import write_db
from support import DATA, SAMPLE, SHARED, Case, needs_shared, snapshot

CONFIG = json.dumps({"rank_id": 0, "config": {"common_config": {"activities": ["ProfilerActivity.NPU"]}}})
BEGIN_US = 1_700_000_000_000_000
FIXTURES = SHARED / "golden" / "advisor" / "fixtures"


class Input(Case):
    def advise(self, path, *words):
        return json.loads(self.run_program("advisor", "all", "-d", path, "--json", *words, expect=0).out)

    def capture(self, events, name="rank0_ascend_pt", config=CONFIG, files=None):
        """A capture of torch_npu with these events."""
        start = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "Python"}}]
        if config:
            self.write(f"{name}/profiler_info_0.json", config)
        self.write(f"{name}/ASCEND_PROFILER_OUTPUT/trace_view.json", json.dumps(start + events))
        for file, text in (files or {}).items():
            self.write(f"{name}/ASCEND_PROFILER_OUTPUT/{file}", text)
        return self.scratch / name

    @staticmethod
    def event(name, ts, dur, **more):
        return {"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": str(BEGIN_US + ts), "dur": dur, **more}


class Blind(Input):
    """What was not recorded is said once, with the rules that see nothing and what to record."""

    def blind(self, path, *words):
        found = self.advise(path, *words)["blind"]
        missing = [one["missing"] for one in found]
        self.assertEqual(len(missing), len(set(missing)), "said more than once")
        for one in found:
            self.assertTrue(one["text"])
            self.assertTrue(one["rules"] or one["missing"] == "steps")
        return {one["missing"]: one for one in found}

    def test_a_capture_of_nothing_but_host_operators(self):
        blind = self.blind(self.capture([self.event("aten::add", 0, 20, cat="cpu_op")]))
        for missing, rule in (("stacks", "affinity_api"), ("shapes", "core_performance"), ("metrics", "no_bound"), ("kernels", "aicpu")):
            self.assertIn(rule, blind[missing]["rules"], missing)
        self.assertIn("steps", blind)

    def test_ranks_without_communication(self):
        for rank in (0, 1):
            self.capture([self.event("ProfilerStep#1", 0, 1000), self.event("aten::add", 0, 20, cat="cpu_op")], f"job/rank{rank}_ascend_pt",
                         config=None)
            self.write(f"job/rank{rank}_ascend_pt/profiler_info_{rank}.json", json.dumps({"rank_id": rank, **{
                key: value for key, value in json.loads(CONFIG).items() if key != "rank_id"}}))
        blind = self.blind(self.scratch / "job")
        self.assertIn("communication", blind)
        self.assertIn("packet", blind["communication"]["rules"])
        self.assertNotIn("steps", blind)

    def test_it_is_said_on_the_terminal_in_both_languages(self):
        path = self.capture([self.event("aten::add", 0, 20, cat="cpu_op")])
        for language, word in (("en", "with_stack"), ("cn", "with_stack")):
            done = self.run_program("advisor", "all", "-d", path, "--format", "none", "-l", language, expect=0)
            lines = [line for line in done.err.splitlines() if word in line]
            self.assertEqual(len(lines), 1, done.err)

    def test_what_is_there_is_not_missed(self):
        self.assertNotIn("steps", self.blind(SAMPLE))
        self.assertNotIn("kernels", self.blind(SAMPLE))
        self.assertNotIn("communication", self.blind(SAMPLE))


class Environment(Input):
    def job(self, *variables):
        for rank, values in enumerate(variables):
            self.capture([self.event("aten::add", 0, 20, cat="cpu_op")], f"job/rank{rank}_ascend_pt", config=None)
            self.write(f"job/rank{rank}_ascend_pt/profiler_info_{rank}.json", json.dumps({"rank_id": rank}))
            self.write(f"job/rank{rank}_ascend_pt/profiler_metadata.json", json.dumps({"ENV_VARIABLES": values}))
        return self.scratch / "job"

    def test_ranks_that_are_not_set_alike(self):
        found = self.advise(self.job({"TASK_QUEUE_ENABLE": "1"}, {"TASK_QUEUE_ENABLE": "2"}, {"TASK_QUEUE_ENABLE": "1"}))["findings"]
        found = [one for one in found if one["rule"] == "environment"]
        self.assertEqual([(one["ranks"], one["priority"], one["subject"]) for one in found], [([1], "high", "TASK_QUEUE_ENABLE")])
        self.assertIn("'1' on 0,2, '2' on 1", found[0]["reason"])

    def test_ranks_that_are(self):
        found = self.advise(self.job(*[{"TASK_QUEUE_ENABLE": "1", "CPU_AFFINITY_CONF": str(rank + 1)} for rank in range(3)]))["findings"]
        self.assertNotIn("environment", {one["rule"] for one in found})

    def test_settings_that_cost_time(self):
        slow = {"TASK_QUEUE_ENABLE": "0", "HCCL_BUFFSIZE": "100", "MULTI_STREAM_MEMORY_REUSE": "0", "INF_NAN_MODE_ENABLE": "0", "CPU_AFFINITY_CONF": "0"}
        answer = self.advise(self.job(slow))
        self.assertEqual({row["Environment"] for row in answer["tables"]["environment rank 0"]}, set(slow))
        found = next(one for one in answer["findings"] if one["rule"] == "environment")
        self.assertEqual(found["priority"], "low")


class Damaged(Input):
    def sample(self):
        job = self.scratch / "job"
        shutil.copytree(SAMPLE, job)
        return job, sorted(job.iterdir())

    def test_an_empty_or_foreign_folder_says_what_was_expected(self):
        (self.scratch / "empty").mkdir()
        self.write("foreign/notes.txt", "nothing of a profiler")
        for name in ("empty", "foreign"):
            done = self.run_program("advisor", "all", "-d", self.scratch / name, expect=1)
            self.assertEqual(done.out, "")
            self.assertEqual(len(done.err.strip().splitlines()), 1, done.err)

    def test_a_trace_that_was_cut_off_is_advised_with_a_note(self):
        job, ranks = self.sample()
        trace = next(ranks[0].rglob("trace_view.json"))
        trace.write_bytes(trace.read_bytes()[:-5000])
        done = self.run_program("advisor", "all", "-d", job, "--json", expect=0)
        self.assertTrue(json.loads(done.out)["findings"])
        self.assertIn("rank 0", done.err)
        self.assertRegex(self.run_program("info", job, expect=0).out, r"trace_view\.json[^\n]*\d{4}")

    def test_numbers_in_every_form(self):
        events = [self.event("ProfilerStep#1", 0, 100000), self.event("AscendCL@aclMallocMemInner", 10, "20000.0"),
                  {**self.event("AscendCL@aclrtFree", 40000, 15000), "ts": BEGIN_US + 40000},
                  {**self.event("aten::add", 1, 1, cat="cpu_op"), "dur": "NaN"}]
        found = {one["rule"] for one in self.advise(self.capture(events))["findings"]}
        self.assertIn("memory_calls", found)

    def test_missing_values_of_kernels_are_no_zeros(self):
        fixture = FIXTURES / "nobound_pos" / "input"
        if not fixture.is_dir():
            self.skipTest("the advisor fixtures are not on this machine")
        job = self.scratch / "job"
        shutil.copytree(fixture, job)
        path = next(job.rglob("kernel_details.csv"))
        with open(path, newline="") as file:
            head, *rows = list(csv.reader(file))
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([head] + [["N/A" if "ratio" in name else cell for name, cell in zip(head, row)] for row in rows])
        self.assertNotIn("no_bound", {one["rule"] for one in self.advise(job)["findings"]})

    def test_a_rank_without_its_number(self):
        job, ranks = self.sample()
        for rank in ranks:
            for path in rank.glob("profiler_info*.json"):
                path.unlink()
        self.assertTrue(self.advise(job)["findings"])

    def test_ranks_of_both_forms(self):
        job, ranks = self.sample()
        db = self.scratch / "db"
        write_db(ranks[0], db)
        shutil.rmtree(ranks[0])
        for folder in db.iterdir():
            shutil.move(folder, job)
        answer = self.advise(job)
        self.assertEqual(len({row["rank_id"] for row in answer["tables"]["slow rank"]}), len(ranks))

    def test_nothing_is_written_to_the_input(self):
        job, _ = self.sample()
        before = snapshot(job)
        self.run_program("advisor", "all", "-d", job, "-bp", job, "-o", self.scratch / "out", expect=0)
        self.assertEqual(snapshot(job), before)


class RuleFiles(Input):
    MISTAKES = (
        ("memory_call: {enabled: true}\n", ":1: there is no rule 'memory_call'"),
        ("chips: 24\n", ":1: a map of chips was expected"),
        ("chips:\n  Ascend910B: 24\n", ":2: "),
        ("chips:\n  Ascend910B: {cores: 24}\n", ":2: 'cores: 24' was found; ai_core_num"),
        ("gc: 5\n", ":1: 'gc' needs"),
        ("gc:\n  limits: {pause_us: 5}\n", ":2: 'limits' was found"),
        ("gc:\n  thresholds: {pause_us: -1}\n", ":2: '-1' was found"),
        ("gc:\n  thresholds: {pause_us: nan}\n", ":2: 'nan' was found"),
        ("gc:\n  thresholds: {pause_us: 1e999}\n", ":2: "),
        ("gc:\n  thresholds: [1]\n", ":2: a map of thresholds was expected"),
        ("affinity: words\n", ":1: a list of {words, by} was expected"),
        ("fusion:\n- {words: a b}\n", ":2: 'words' and 'by' were expected"),
        ("GraphFusion:\n- P: {nodes: [{a: [A]}, {b: [B]}], edges: [[a, c]]}\n", ":2: there is no node 'c'"),
        ("GraphFusion:\n- P: {version: 0}\n", ":2: 'P' needs 'struct'"),
        ("- cann_version: 8.0.0\n", ":1: 'operator_rules' was expected"),
        ("[]]\n", ":1: "), ("gc: {enabled: true\n", ":"), ("\tgc: 1\n", ":1: "), ("gc: \"\x01\n", ":"),
    )

    def test_mistakes_are_named_with_file_and_line(self):
        for text, message in self.MISTAKES:
            path = self.write("rules.yaml", text)
            with self.subTest(text=text):
                done = self.run_program("advisor", "rules", "--check", path, expect=2)
                self.assertIn(f"rules.yaml{message}", done.err)
                self.assertEqual(done.out, "")

    def test_files_that_are_none(self):
        for path in (self.scratch / "absent.yaml", self.scratch):
            done = self.run_program("advisor", "all", "-d", SAMPLE, "--rules", path)
            self.assertEqual(done.returncode, 2)
            self.assertIn(str(path), done.err)
            self.assertEqual(done.out, "")

    def test_deep_and_long_files_are_refused_or_read(self):
        for text in ("[" * 100_000, "a: " * 50_000, "x" * 3_000_000, "- " * 100_000, "{" * 100_000 + "}" * 100_000):
            done = self.run_program("advisor", "rules", "--check", self.write("rules.yaml", text), expect=2)
            self.assertIn("rules.yaml", done.err)


HOSTILE = ('"><img src=x onerror=alert(1)>', "</script><script>alert(1)</script>", "]]>&lt;b&gt;", "=cmd|' /C calc'!A0", "\u202egnp.exe", "x\u0000y\r\n# h")


class Hostile(Input):
    def test_names_in_a_page_are_texts(self):
        events = [self.event("ProfilerStep#1", 0, 400000)]
        for i, name in enumerate(HOSTILE):
            events.append(self.event(f"enumerate(DataLoader)#{name}", 1000 + 50000 * i, 30000, cat="cpu_op"))
        header = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,Input Shapes,Input Data Types\n"
        kernels = "".join(f'1,"{name.translate({34: 39, 13: 32, 10: 32, 0: 32})}",Index,AI_CPU,{BEGIN_US + 1000 * i}\t,900,0,1,"""{name.translate({34: 39, 13: 32, 10: 32, 0: 32})}""",DOUBLE\n'
                          for i, name in enumerate(HOSTILE))
        out = self.scratch / "out"
        path = self.capture(events, files={"kernel_details.csv": header + kernels})
        self.run_program("advisor", "all", "-d", path, "-o", out, "--format", "html,md,xlsx,json", expect=0)
        page = next(out.glob("*.html")).read_text()
        self.assertNotIn("<img src=x", page)
        self.assertNotIn("</script><script>alert", page)
        self.assertNotIn("\u202e", re.sub(r"&#[^;]*;", "", html.unescape("")) + page.replace("\\u202e", ""))
        json.loads(next(out.glob("*.json")).read_text())


# The keys of the document and of its parts, and the types of their values.
NUMBER = (int, float)
DOCUMENT = {"schema": int, "step_ms": NUMBER, "replay_error_percent": NUMBER, "is_trusted": bool, "findings": list,
            "cumulative_saving_ms_per_step": NUMBER, "warnings": list, "blind": list, "tables": dict}
FINDING = {"rule": str, "priority": str, "ranks": list, "subject": str, "reason": str, "advice": str,
           "saving_ms_per_step": (*NUMBER, type(None)), "bound_ms_per_step": (*NUMBER, type(None)), "share_percent": NUMBER, "confidence": str,
           "effort": str, "risk": str, "verify": str, "places": list, "evidence": list}
EVIDENCE = {"text": str, "value": dict, "sql": str}
PLACE = {"rank": int, "begin_ns": int, "end_ns": int, "name": str}
BLINDNESS = {"missing": str, "rules": list, "text": str}


class Document(Input):
    def check_keys(self, value, keys):
        self.assertEqual(set(value), set(keys))
        for key, kind in keys.items():
            self.assertIsInstance(value[key], kind, key)

    def check(self, path, *words):
        answer = self.advise(path, *words)
        self.check_keys(answer, DOCUMENT)
        self.assertEqual(answer["schema"], 1)
        rules = {row["rule"] for row in json.loads(self.run_program("advisor", "rules", "--list", "--json", expect=0).out)}
        for finding in answer["findings"]:
            self.check_keys(finding, FINDING)
            self.assertIn(finding["rule"], rules)
            self.assertIn(finding["priority"], ("high", "medium", "low"))
            self.assertIn(finding["confidence"], ("measured", "estimated", "hint"))
            self.assertIn(finding["effort"], ("setting", "code", "model", "hardware"))
            self.assertIn(finding["risk"], ("none", "numerics", "memory"))
            for text in ("subject", "reason", "advice"):
                self.assertTrue(finding[text], finding["rule"])
                self.assertNotIn("{", finding[text])
            for one in finding["evidence"]:
                self.check_keys(one, EVIDENCE)
                self.assertTrue(one["text"])
            for one in finding["places"]:
                self.check_keys(one, PLACE)
                self.assertLessEqual(one["begin_ns"], one["end_ns"])
            saving, bound = finding["saving_ms_per_step"], finding["bound_ms_per_step"]
            if saving is not None and bound is not None:
                self.assertLessEqual(saving, bound + 1e-6, finding["rule"])
                self.assertTrue(finding["verify"], finding["rule"])
        for blind in answer["blind"]:
            self.check_keys(blind, BLINDNESS)
        return answer

    def test_every_key_is_there_with_its_type(self):
        for words in ((), ("-l", "cn"), ("--ruleset", "reference"), ("--top", "1")):
            self.check(SAMPLE, *words)

    @needs_shared
    def test_of_captures_of_all_kinds(self):
        for name in ("ascend_pt/text/level1", "ascend_pt/db/level1", "kineto/hta/trace_diff/control", "kineto/hta/amd_trace", "mindinsight/profiler"):
            with self.subTest(capture=name):
                self.check(DATA / name)

    def test_agent_is_another_word_for_it(self):
        one = self.run_program("advisor", "all", "-d", SAMPLE, "--agent", expect=0)
        self.assertEqual(json.loads(one.out), self.advise(SAMPLE))

    def test_the_sql_of_every_number_runs(self):
        paths = [SAMPLE]
        if FIXTURES.is_dir():
            paths += [path / "input" for path in sorted(FIXTURES.iterdir()) if path.name.endswith("_pos")]
        asked = {}
        for path in paths:
            for finding in self.advise(path)["findings"]:
                for one in finding["evidence"]:
                    if one["sql"] and finding["rule"] not in asked:
                        asked[finding["rule"]] = (path, one["sql"])
        self.assertGreater(len(asked), 1)
        for rule, (path, sql) in asked.items():
            with self.subTest(rule=rule):
                self.query(path, sql)


if __name__ == "__main__":
    unittest.main()
