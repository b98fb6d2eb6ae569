"""What changed between two runs, found and ranked: planted changes in synthetic Kineto traces, the HTML report, --fail-on in compare, bad input.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_compare_report.py
"""

import html.parser
import json
import random
import re
import shutil
import unittest
import xml.etree.ElementTree as ElementTree

from support import DATA, SAMPLE, Case, needs_shared

STEPS = 14
LEVEL1 = DATA / "ascend_pt" / "text" / "level1"


def kineto(seed=1, steps=STEPS, noise=0.004, slower={}, extra=None, memory=1.0, buckets=4, names={}):
    """A GPU trace of a training: three kernels a step, an all-reduce in `buckets` calls, memory. Durations in us.

    `slower`: factor by kernel; `extra`: an operator that is called once a step, with its kernel's time; `names`: other names for kernels.
    """
    rng = random.Random(seed)
    events = []
    ids = iter(range(1, 1 << 30))

    def add(**event):
        events.append({"ph": "X", **event})

    def launch(op, kernel, host, device, dur, stream=7):
        dur = round(dur * slower.get(kernel, 1) * (1 + rng.gauss(0, noise)), 3)
        number = next(ids)
        add(cat="cpu_op", name=op, pid=1, tid=1, ts=host, dur=8, args={"External id": number})
        add(cat="cuda_runtime", name="cudaLaunchKernel", pid=1, tid=1, ts=host + 2, dur=4, args={"correlation": number, "External id": number})
        add(cat="kernel", name=names.get(kernel, kernel), pid=0, tid=stream, ts=device, dur=dur,
            args={"correlation": number, "External id": number, "stream": stream, "device": 0})
        events.append({"ph": "s", "id": number, "pid": 1, "tid": 1, "ts": host + 2, "cat": "ac2g", "name": "ac2g"})
        events.append({"ph": "f", "id": number, "pid": 0, "tid": stream, "ts": device, "cat": "ac2g", "name": "ac2g", "bp": "e"})
        return device + dur

    host = 1000.0
    for step in range(1, steps + 1):
        begin = host
        device = begin + 60
        work = [("aten::mm", "gemm_kernel", 400), ("aten::convolution", "conv_kernel", 200), ("aten::add", "add_kernel", 50)]
        if extra:
            work.insert(2, extra)
        for op, kernel, dur in work:
            device = launch(op, kernel, host, device, dur) + 5
            host += 20
        for _ in range(buckets):
            device = launch("c10d::allreduce_", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", host, device, 40 + 240 / buckets, stream=9) + 3
            host += 20
        reserved = 4 << 30
        allocated = int((1 << 30) * memory * (1 + rng.gauss(0, 0.001)))
        events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": begin + 30, "s": "t",
                       "args": {"Device Id": 0, "Device Type": 1, "Addr": 1000 + step, "Bytes": allocated // 64,
                                "Total Allocated": allocated, "Total Reserved": reserved}})
        host = device + 100
        add(cat="user_annotation", name=f"ProfilerStep#{step}", pid=1, tid=1, ts=begin, dur=host - begin)
    return {"schemaVersion": 1, "traceEvents": events}


class Cells(html.parser.HTMLParser):
    """The tables of a page, as lists of rows of texts, English only."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.skip, self.cell = {}, 0, None
        self.title, self.in_title = "", False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "span" and attrs.get("class") == "zh":
            self.skip += 1
        elif tag == "span" and self.skip:
            self.skip += 1
        if tag == "h3":
            self.in_title, self.title = True, ""
        if tag == "table":
            self.rows = self.tables.setdefault(self.title, [])
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.cell = ""

    def handle_endtag(self, tag):
        if tag == "span" and self.skip:
            self.skip -= 1
        if tag == "h3":
            self.in_title = False
        if tag in ("td", "th"):
            self.rows[-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.skip:
            return
        if self.in_title:
            self.title += data
        if self.cell is not None:
            self.cell += data


class ReportCase(Case):
    def trace(self, name, **changes):
        return self.write(name, json.dumps(kineto(**changes)))

    def compare(self, base, new, *words, expect=0):
        return self.run_program("compare", "-bp", base, "-d", new, "-o", self.scratch / "out", "--output_name", "r", *words, expect=expect)

    def report(self, base, new, *words):
        self.done = self.compare(base, new, "--format", "html", *words)
        page = (self.scratch / "out" / "r.html").read_text(encoding="utf-8")
        return page, Cells(page).tables


class PlantedChanges(ReportCase):
    """Each is the first row of its list, and breaches its rule; nothing else does."""

    def setUp(self):
        super().setUp()
        self.old = self.trace("old.json")

    def found(self, rule, kind, name, **changes):
        done = self.compare(self.old, self.trace("new.json", seed=2, **changes), "--fail-on", rule, "--fail-on", "kernel:conv*>2%", expect=3)
        self.assertIn(f"'{rule}' is breached", done.err)
        self.assertNotIn("'kernel:conv*>2%' is breached", done.err)
        rows = done.out[done.out.index("Largest changes by name"):].splitlines()[3:]
        first = next(row for row in rows if row.split()[0] == kind)
        self.assertIn(name, first)
        self.assertIn("regression", first)

    def test_a_kernel_5_percent_slower(self):
        self.found("kernel:gemm*>3%", "kernel", "gemm_kernel", slower={"gemm_kernel": 1.05})

    def test_an_operator_added(self):
        self.found("kernel:*gelu*>1%", "kernel", "gelu_kernel", extra=("aten::gelu", "gelu_kernel", 30))

    def test_memory_3_percent_up(self):
        done = self.compare(self.old, self.trace("new.json", seed=2, memory=1.03), "--fail-on", "memory>2%", "--fail-on", "e2e>2%", expect=3)
        self.assertIn("'memory>2%' is breached", done.err)
        self.assertNotIn("'e2e>2%' is breached", done.err)

    def test_another_bucket_size(self):  # 4 x 100 us -> 2 x 160 us: fewer calls, less time
        done = self.compare(self.old, self.trace("new.json", seed=2, buckets=2))
        self.assertIn("result was written", done.err)
        _, tables = self.report(self.old, self.scratch / "new.json")
        [row] = [row for row in tables["Communication"] if "llreduce" in row[0].lower() or "nccl" in row[0].lower()]
        self.assertEqual((row[1], row[6], row[7]), ("faster", "4.0", "2.0"))

    def test_an_unchanged_run_breaches_nothing(self):
        rules = [word for rule in ("e2e>1%", "kernel:*>1%", "memory>1%", "comm:*>1%", "operator:*>5%") for word in ("--fail-on", rule)]
        for seed in (2, 3, 4):
            self.compare(self.old, self.trace("same.json", seed=seed), *rules)


class Report(ReportCase):
    def test_the_waterfall_adds_up(self):
        old, new = self.trace("old.json"), self.trace("new.json", seed=2, slower={"gemm_kernel": 1.05}, extra=("aten::gelu", "gelu_kernel", 30))
        page, tables = self.report(old, new)
        rows = [[float(cell.replace(",", "") or 0) for cell in row[1:4]] for row in tables["Step by part"][1:]]
        for column in range(3):
            self.assertAlmostEqual(sum(row[column] for row in rows[:-1]), rows[-1][column], places=6)
        self.assertAlmostEqual(rows[-1][2], 0.055, delta=0.006)  # 20 us of the gemm, 35 of the new kernel and its gap
        parts = {row[0]: row for row in tables["Step by part"][1:]}
        self.assertAlmostEqual(float(parts["Computing: matrix products"][3]) if "Computing: matrix products" in parts else 0.02, 0.02, delta=0.004)
        self.assertIn("gelu_kernel", [row[0] for row in tables["Kernels"] if row[1] == "new"])
        self.assertIn(["gemm_kernel", "slower"], [row[:2] for row in tables["Kernels"]])
        for words in ("差异来源", "Where the difference comes from", "Timelines around the largest difference", "最大差异处的时间线"):
            self.assertIn(words, page)

    def test_it_needs_nothing_else(self):
        page, _ = self.report(SAMPLE, SAMPLE)
        self.assertNotRegex(re.sub(r'<style>.*?</style>|<script>.*?</script>', "", page, flags=re.S), r'(src|href)="(?!#)')
        self.assertNotIn("http", re.sub(r"<script>.*?</script>", "", page, flags=re.S).replace("http-equiv", ""))

    def test_names_are_no_markup(self):
        evil = '<img src=x onerror="alert(1)">'
        old, new = self.trace("old.json", names={"add_kernel": evil}), self.trace("new.json", seed=2, names={"gemm_kernel": evil})
        page, _ = self.report(old, new)
        self.assertNotIn("<img", page)
        self.assertIn("&lt;img", page)

    def test_a_side_without_device_work_is_missing(self):
        trace = kineto()
        trace["traceEvents"] = [event for event in trace["traceEvents"] if event.get("cat") in ("cpu_op", "user_annotation")]
        page, tables = self.report(self.trace("old.json"), self.write("host.json", json.dumps(trace)))
        if "Step by part" not in tables:
            self.assertIn("Side B recorded no device work", page)

    def test_what_has_no_partner_is_listed(self):
        old, new = self.trace("old.json"), self.trace("new.json", seed=2, extra=("aten::gelu", "gelu_kernel", 30))
        self.report(old, new)
        self.compare(old, new, "--format", "csv", "--disable_module")
        text = (self.scratch / "out" / "r" / "Unmatched.csv").read_text()
        self.assertRegex(text, rf"operator,aten::gelu,,,{STEPS},0\.4")
        self.compare(old, new, "--format", "csv", "--disable_module", "--op_name_map", "{'aten::nothing*':'x'}")

    def test_the_console_in_chinese(self):
        done = self.compare(self.trace("old.json"), self.trace("new.json", slower={"gemm_kernel": 1.05}), "--lang", "zh")
        self.assertIn("最大劣化项", done.out)
        self.assertIn("单次", done.out)
        self.assertIn("结果已写入", done.err)

    @needs_shared
    def test_real_captures(self):
        page, tables = self.report(LEVEL1 / "rank1_ascend_pt", LEVEL1 / "rank0_ascend_pt")
        rows = [[float(cell.replace(",", "") or 0) for cell in row[1:4]] for row in tables["Step by part"][1:]]
        for column in range(3):
            self.assertAlmostEqual(sum(row[column] for row in rows[:-1]), rows[-1][column], places=6)


class FailOn(ReportCase):
    def test_exit_codes(self):
        old, new = self.trace("old.json"), self.trace("new.json", seed=2, slower={"gemm_kernel": 1.2})
        self.compare(old, new, "--fail-on", "e2e>3%", expect=3)
        self.compare(new, old, "--fail-on", "e2e>3%")
        self.compare(old, new, "--fail-on", "e2e>50%")
        self.assertIn("there is no '>'", self.compare(old, new, "--fail-on", "e2e", expect=2).err)
        self.assertIn("matches nothing", self.compare(old, new, "--fail-on", "kernel:none*>1%").err)
        self.compare(old, self.write("broken.json", '{"traceEvents": 5}'), "--fail-on", "e2e>3%", expect=1)

    def test_reports_for_ci(self):
        old, new = self.trace("old.json"), self.trace("new.json", seed=2, slower={"gemm_kernel": 1.2})
        junit, page = self.scratch / "gate.xml", self.scratch / "gate.md"
        done = self.compare(old, new, "--fail-on", "e2e>3%", "--fail-on", "memory>2%", "--junit", junit, "--markdown", page, expect=3)
        self.assertEqual(len([line for line in done.err.splitlines() if "is breached" in line]), 1)
        suite = ElementTree.parse(junit).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "1"))
        self.assertIn("**Gate: breached**", page.read_text())

    def test_each_breach_is_one_line(self):
        old, new = self.trace("old.json"), self.trace("new.json", seed=2, slower={"gemm_kernel": 1.2, "conv_kernel": 1.3})
        done = self.compare(old, new, "--fail-on", "e2e>3%", "--fail-on", "kernel:*_kernel>10%", "--fail-on", "computing>90us", "--fail-on", "memory>2%",
                            expect=3)
        lines = [line for line in done.err.splitlines() if "is breached" in line]
        self.assertEqual([re.match(r"steplens: '(.*)' is breached by (\S+): ", line).groups() for line in lines],
                         [("e2e>3%", "e2e"), ("kernel:*_kernel>10%", "gemm_kernel"), ("kernel:*_kernel>10%", "conv_kernel"), ("computing>90us", "computing")])
        for line in lines:
            self.assertRegex(line, r": \d[\d.]* [mu]s -> \d[\d.]* [mu]s \(\+\d+\.\d\d %, 95 % range \+\S+ [mu]s to \+\S+ [mu]s, p \S.*\)$")
        self.assertFalse((self.scratch / "out").exists(), "the gate writes no sheets")

    def test_every_kind_of_target(self):
        old = self.trace("old.json")
        new = self.trace("new.json", seed=2, slower={"gemm_kernel": 1.5, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)": 1.5}, memory=1.1)
        for rule in ("e2e>3%", "computing>3%", "communication>3%", "kernel:gemm*>5%", "comm:*>5%", "group:*>5%", "memory>2%", "memory>20MB"):
            with self.subTest(rule=rule):
                self.assertIn(f"'{rule}' is breached by", self.compare(old, new, "--fail-on", rule, expect=3).err)
        for rule in ("free>50%", "operator:aten::add>50%", "reserved>1%", "jitter>900%", "e2e>1s"):
            with self.subTest(rule=rule):
                self.assertNotIn("is breached", self.compare(old, new, "--fail-on", rule).err)
        uneven = self.trace("uneven.json", seed=3, noise=0.3, steps=40)
        self.assertIn("'jitter>50%' is breached by jitter", self.compare(self.trace("even.json", steps=40), uneven, "--fail-on", "jitter>50%", expect=3).err)

    def test_junit_and_markdown_say_the_same(self):
        old, new = self.trace("old.json"), self.trace("new.json", seed=2, slower={"gemm_kernel": 1.2})
        junit, page = self.scratch / "gate.xml", self.scratch / "gate.md"
        rules = ("kernel:gemm*>3%", "kernel:conv*>3%", "kernel:none*>3%")
        words = [word for rule in rules for word in ("--fail-on", rule)]
        done = self.compare(old, new, *words, "--junit", junit, "--markdown", page, expect=3)
        [line] = [line for line in done.err.splitlines() if "is breached" in line]
        suite = ElementTree.parse(junit).getroot()
        self.assertEqual((suite.tag, suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")), ("testsuite", "3", "1", "0", "1"))
        self.assertEqual([(case.get("classname"), case.get("name"), [child.tag for child in case]) for case in suite],
                         [("steplens.compare", rules[0], ["failure"]), ("steplens.compare", rules[1], []), ("steplens.compare", rules[2], ["skipped"])])
        self.assertEqual("steplens: " + suite[0][0].text, line)
        self.assertIn("matches nothing", suite[2][0].get("message"))
        text = page.read_text()
        table = [row for row in text.splitlines() if row.startswith("| kernel:")]
        self.assertEqual([row.split(" | ")[1] for row in table], ["breached", "passed", "nothing matched"])
        self.assertRegex(text, r"\| kernel \| gemm\\_kernel \| .* \| regression \|")
        # Under --strict what cannot be decided fails as well, in both forms and the exit code.
        self.compare(old, new, "--fail-on", rules[2], "--junit", junit, "--strict", expect=2)
        self.assertEqual(ElementTree.parse(junit).getroot().get("failures"), "1")
        self.compare(old, new, "--fail-on", rules[0], "--junit", self.scratch / "no" / "gate.xml", expect=1)
        self.compare(old, new, "--fail-on", rules[0], "--markdown", self.scratch / "no" / "gate.md", expect=1)

    def test_a_baseline_stands_for_the_base(self):
        old, new = self.trace("old.json"), self.trace("new.json", seed=2, slower={"gemm_kernel": 1.2})
        self.run_program("baseline", "save", "main", old, "--dir", self.scratch / "baselines", expect=0)
        old.unlink()
        words = ("--baseline-dir", self.scratch / "baselines", "--fail-on", "kernel:gemm*>3%")
        self.assertIn("is breached by gemm_kernel", self.compare("baseline:main", new, *words, expect=3).err)
        self.assertIn("no baseline 'other'", self.compare("baseline:other", new, *words, expect=1).err)

    def test_one_step_decides_nothing(self):
        done = self.compare(self.trace("old.json", steps=1), self.trace("new.json", steps=1, slower={"gemm_kernel": 2}), "--fail-on", "e2e>3%")
        self.assertIn("not enough steps to tell noise", done.err)


class BadInput(ReportCase):
    def test_the_same_path_twice_is_said(self):
        done = self.compare(SAMPLE, SAMPLE)
        self.assertIn("both sides are the same path", done.err)

    def test_a_pattern_that_matches_nothing_is_said(self):
        done = self.compare(SAMPLE, SAMPLE, "--op_name_map", "{'no::such*':'x'}")
        self.assertIn("'no::such*' matches no operator", done.err)

    def test_a_step_of_one_side_only(self):
        old, new = self.trace("old.json"), self.trace("short.json", steps=3)
        self.assertIn("there is no step 9", self.compare(old, new, "--base_step", "9", "--comparison_step", "9", expect=2).err)
        self.compare(old, new, "--base_step", "9", "--comparison_step", "3", "--format", "html")

    def test_a_side_without_steps_kernels_or_memory(self):
        trace = kineto()
        trace["traceEvents"] = [event for event in trace["traceEvents"] if event.get("cat") == "cpu_op"]
        done = self.compare(self.trace("old.json"), self.write("ops.json", json.dumps(trace)), "--format", "html,csv")
        self.assertIn("ops.json", done.err)
        self.assertEqual(len([line for line in done.err.splitlines() if "no memory" in line]), 1)

    def test_inputs_that_are_no_profiles(self):
        old = self.trace("old.json")
        self.compare(old, self.scratch / "missing", expect=2)
        empty = self.scratch / "empty"
        empty.mkdir()
        self.assertIn("empty", self.compare(old, empty, expect=1).err)
        cut = self.write("cut.json", json.dumps(kineto())[:5000])
        self.compare(old, cut)  # what is before the cut is read
        self.assertEqual(self.run_program("compare", "-bp", old, expect=2).out, "")

    def without(self, name, is_kept):
        trace = kineto()
        trace["traceEvents"] = [event for event in trace["traceEvents"] if is_kept(event)]
        return self.write(name, json.dumps(trace))

    def sentences(self, done, words):
        return [line for line in done.err.splitlines() if words in line]

    def test_a_side_without_steps(self):
        new = self.without("stepless.json", lambda event: not event["name"].startswith("ProfilerStep"))
        for base, other in ((self.trace("old.json"), new), (new, self.trace("old.json"))):
            done = self.compare(base, other, "--format", "csv,html")
            self.assertIn("E2E Time", (self.scratch / "out" / "r" / "OverallMetrics.csv").read_text())
        done = self.compare(self.trace("old.json"), new, "--fail-on", "e2e>3%")
        self.assertEqual(len(self.sentences(done, "not enough steps to tell noise: 1 against 14")), 1)
        done = self.compare(self.trace("old.json"), new, "--base_step", "2", "--comparison_step", "2", expect=2)
        self.assertIn("has no steps, so step 2 cannot be compared; leave out --base_step", done.err)

    def test_a_side_without_kernels(self):
        new = self.without("host.json", lambda event: event.get("cat") not in ("kernel", "ac2g"))
        done = self.compare(self.trace("old.json"), new, "--format", "csv")
        for words in ("host.json: no kernels", "host.json: no collectives"):
            self.assertEqual(len(self.sentences(done, words)), 1, done.err)
        sheets = {path.stem for path in (self.scratch / "out" / "r").glob("*.csv")}
        self.assertLessEqual({"ApiCompare", "OperatorCompare", "MemoryCompare"}, sheets)
        self.assertNotIn("KernelCompare", sheets)

    def test_a_side_without_memory(self):
        new = self.without("nomemory.json", lambda event: event["name"] != "[memory]")
        done = self.compare(self.trace("old.json"), new, "--format", "csv")
        self.assertEqual(len(self.sentences(done, "nomemory.json: no memory of operators")), 1, done.err)
        self.assertTrue((self.scratch / "out" / "r" / "OverallMetrics.csv").is_file())
        done = self.compare(self.trace("old.json"), new, "--fail-on", "memory>2%")
        self.assertEqual(len(self.sentences(done, "'memory>2%'")), 1, done.err)

    @needs_shared
    def test_a_side_without_stacks(self):
        # No python functions: modules of one side have nothing to stand beside, so operators are compared.
        folder = self.scratch / "plain"
        shutil.copytree(LEVEL1 / "rank0_ascend_pt", folder)
        path = next(folder.rglob("trace_view.json"))
        path.chmod(0o644)
        path.write_text(json.dumps([event for event in json.loads(path.read_text()) if event.get("cat") != "python_function"]))
        self.compare(LEVEL1 / "rank1_ascend_pt", folder, "--format", "csv,html")
        sheets = {path.stem for path in (self.scratch / "out" / "r").glob("*.csv")}
        self.assertIn("OperatorCompare", sheets)
        self.assertNotIn("ModuleCompare", sheets)

    def test_a_damaged_side_is_compared_as_far_as_it_goes(self):
        text = json.dumps(kineto())
        cut = self.write("cut.json", text[:len(text) // 2])
        done = self.compare(self.trace("old.json"), cut, "--format", "csv")
        self.assertRegex(done.err, r"rank 0: \d+ problems? in the input; 'steplens info' lists")
        self.assertTrue((self.scratch / "out" / "r" / "KernelCompare.csv").is_file())
        self.compare(self.trace("old.json"), cut, "--strict", expect=1)

    def test_results_that_cannot_be_written(self):
        old, new = self.trace("old.json"), self.trace("new.json", seed=2)
        for form in ("xlsx", "json", "html", "db"):
            (self.scratch / "out" / f"r.{form}").mkdir(parents=True)
            with self.subTest(form=form):
                done = self.compare(old, new, "--format", form, expect=1)
                self.assertIn(f"r.{form}", done.err)
        (self.scratch / "out" / "r").write_text("a file")
        self.assertIn("out/r", self.compare(old, new, "--format", "csv", expect=1).err)
        self.assertIn("is a file", self.run_program("compare", "-bp", old, "-d", new, "-o", old, expect=2).err)

    @needs_shared
    def test_different_levels_are_said(self):
        done = self.compare(DATA / "ascend_pt" / "db" / "level0" / "rank0_ascend_pt", DATA / "ascend_pt" / "db" / "level1" / "rank0_ascend_pt")
        self.assertIn("different levels (Level0, Level1)", done.err)

    @needs_shared
    def test_one_rank_against_many(self):
        for words in (("html",), ("csv",)):
            done = self.compare(LEVEL1 / "rank1_ascend_pt", LEVEL1, "--format", *words)
            self.assertEqual(len(self.sentences(done, "has 2 ranks; rank 1 is compared")), 1, done.err)
        done = self.compare(LEVEL1, LEVEL1 / "rank1_ascend_pt")
        self.assertIn("has 2 ranks; rank 1 is compared", done.err)

    @needs_shared
    def test_a_rank_that_cannot_be_read_gives_way_to_the_next(self):
        folder = self.scratch / "job"
        for rank in (0, 1):
            output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
            output.mkdir(parents=True)
            name = f"ascend_pytorch_profiler_{rank}.db"
            data = (DATA / "ascend_pt" / "db" / "level1" / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / name).read_bytes()
            (output / name).write_bytes(data if rank == 1 else b"no database")
        done = self.compare(DATA / "ascend_pt" / "db" / "level1", folder, "--enable_api_compare", "--format", "csv")
        self.assertIn(f"{folder} has 2 ranks; rank 1 is compared", done.err)


if __name__ == "__main__":
    unittest.main()
