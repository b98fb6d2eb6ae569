"""A framework's capture with raw device data (FRAMEWORK + PROF_*), joined and turned into results without the vendor's exporter.

    STEPLENS_PROGRAM=build/steplens python3 tests/integration/test_raw_join.py -v

The device data are the sets of ../shared/golden/prof_raw; FRAMEWORK is made to fit: an operator around every launch that the exporter's
timeline shows, in ticks of the host's counter. What must come out is worked out here from the exporter's own files.
"""

import csv
import json
import shutil
import sys
import unittest

from support import ROOT, SHARED, Case, snapshot
from test_mindspore_raw import LAUNCH_TASK, PYNATIVE, op_range

sys.path.insert(0, str(ROOT / "tools"))
import make_framework as raw  # noqa: E402

GOLDEN = SHARED / "golden" / "prof_raw"
NAME = "l1_pt"
HOST_MHZ, COUNT, MONOTONIC_NS = 100, 100_000_000_000, 1_000_000_002_000  # host_start.log with cntvct_diff
UTC_MINUS_MONOTONIC_NS = 1_715_932_800_123_456_000 - 1_000_000_500_000  # start_info
PID = 4321


def ticks(utc_ns):
    return COUNT + (utc_ns - UTC_MINUS_MONOTONIC_NS - MONOTONIC_NS) * HOST_MHZ // 1000


def tree(name=NAME):
    return next((GOLDEN / name / "raw").glob("PROF_*"))


def timeline(name=NAME):
    return json.loads((GOLDEN / name / "expected_cpp" / "msprof.json").read_text())


def ns(text):
    return raw.to_ns(str(text))


def launches(name=NAME):
    """(thread, begin, end, connection) of the launches, outermost only, by begin."""
    found = [(e["args"]["Thread Id"], ns(e["ts"]), ns(e["ts"]) + raw.dur_ns(e), e["args"]["connection_id"])
             for e in timeline(name) if e["ph"] == "X" and e["name"] == "Node@launch"]
    found.sort(key=lambda one: (one[1], -one[2]))
    return [one for i, one in enumerate(found) if i == 0 or one[1] >= found[i - 1][2]]


class Truth:
    """What was recorded: an operator of 200 ns more than its launch, in two steps of equal numbers of launches."""

    def __init__(self, name=NAME):
        self.launches = launches(name)
        half = len(self.launches) // 2
        parts = [self.launches[:half], self.launches[half:]]
        self.steps = [(number, part[0][1] - 1000, part[-1][2] + 1000) for number, part in zip((5, 6), parts)]
        self.ops = [(f"aten::op{i % 7}", thread, begin - 100, end + 100, connection)
                    for i, (thread, begin, end, connection) in enumerate(self.launches)]

    def framework(self, queue=False):
        main = self.launches[0][0]
        records, marks = [], []
        for i, (name, thread, begin, end, _) in enumerate(self.ops):
            if not queue:
                records.append(raw.op_range(name, ticks(begin), ticks(end), pid=PID, tid=thread))
                continue
            # The queue: the operator runs on a thread of its own before the dequeue that launches.
            records.append(raw.op_range(name, ticks(begin) - 4, ticks(begin) + 4, pid=PID, tid=77))
            for time, kind, tid in ((begin - 20, 0, 77), (begin, 1, 77), (begin + 10, 2, thread), (end, 3, thread)):
                marks.append(raw.op_mark(name, ticks(time), kind, i + 1, pid=PID, tid=tid))
        for number, begin, end in self.steps:
            records.append(raw.op_range(f"ProfilerStep#{number}", ticks(begin), ticks(end), pid=PID, tid=77 if queue else main))
        return {"torch.op_range": records, "torch.op_mark": marks}


def csv_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [{key: value.strip() for key, value in row.items()} for row in csv.DictReader(file)]


def us(text):
    return ns(text.strip())


@unittest.skipUnless((GOLDEN / NAME).is_dir(), f"the golden raw data is not on this machine ({GOLDEN})")
class RawJoin(Case):
    def capture(self, name="host_1_20240517080000_ascend_pt", *, prof=NAME, framework=True, exported=False, queue=False,
                level="Level1", truth=None):
        folder = self.scratch / name
        info = {"syscnt_enable": True, "freq": HOST_MHZ, "start_cnt": 0, "start_monotonic": 0}
        end_ns = 10**9 + UTC_MINUS_MONOTONIC_NS + MONOTONIC_NS
        ends = {"collectionTimeEnd": end_ns, "MonotonicTimeEnd": end_ns - UTC_MINUS_MONOTONIC_NS}
        raw.write_capture(folder, (truth or Truth()).framework(queue) if framework else {}, level=level, activities=("CPU", "NPU"),
                          clock={"start_info": info, "end_info": ends})
        if not framework:
            shutil.rmtree(folder / "FRAMEWORK")
        if prof:
            target = folder / tree(prof).name
            shutil.copytree(tree(prof), target)
            if exported:
                self.export(prof, target)
        return folder

    @staticmethod
    def export(name, target):
        """The exporter's results beside the raw data, under the names it gives them."""
        output, analyze = target / "mindstudio_profiler_output", target / "analyze"
        output.mkdir()
        analyze.mkdir()
        for path in (GOLDEN / name / "expected_cpp").iterdir():
            if path.name in ("communication.json", "communication_matrix.json"):
                shutil.copy(path, analyze)
            elif path.suffix in (".csv", ".json"):
                shutil.copy(path, output / f"{path.stem}_20240517080100{path.suffix}")

    def analyse(self, folder, *words, expect=0):
        done = self.run_program("analyse", folder, *words, expect=expect)
        return folder / "ASCEND_PROFILER_OUTPUT", done

    # ---- Joining --------------------------------------------------------------------------------

    @staticmethod
    def kernels_of_connections():
        """The arrows of the exporter's timeline: (id, thread and time of the launch, begin on the device); without those to the tasks of
        collectives, which steplens does not draw: the collective itself has one."""
        tasks = {(e["args"]["stream id"], e["ts"]) for e in timeline() if "stream id" in e.get("args", {})}
        starts = {e["id"]: e for e in timeline() if e["ph"] == "s" and e.get("cat") == "HostToDevice"}
        return [(e["id"], starts[e["id"]]["tid"], ns(starts[e["id"]]["ts"]), ns(e["ts"])) for e in timeline()
                if e["ph"] == "f" and e.get("cat") == "HostToDevice" and e["id"] in starts and (e["tid"], e["ts"]) not in tasks]

    @staticmethod
    def operator_at(truth, thread, at, queue):
        """When the operator began that the launch is part of: with a queue the one behind the dequeue, else the innermost on the thread."""
        for _, tid, begin, end, _ in truth.ops:
            if queue and begin + 10 <= at <= end:
                return begin - 40
            if not queue and tid == thread and begin <= at < end:
                return begin
        if not queue and thread == truth.launches[0][0]:
            return next((begin for _, begin, end in truth.steps if begin <= at < end), None)
        return None

    def check_links(self, queue):
        truth = Truth()
        folder = self.capture(queue=queue, truth=truth)
        output, _ = self.analyse(folder)
        trace = json.loads((output / "trace_view.json").read_text())
        expected = [(self.operator_at(truth, thread, at, queue), device) for _, thread, at, device in self.kernels_of_connections()]
        expected = sorted(pair for pair in expected if pair[0] is not None)
        starts = {e["id"]: ns(e["ts"]) for e in trace if e.get("cat") == "async_npu" and e["ph"] == "s"}
        found = sorted((starts[e["id"]], ns(e["ts"])) for e in trace if e.get("cat") == "async_npu" and e["ph"] == "f")
        self.assertGreater(len(expected), 10)
        self.assertEqual(expected, found)

    def test_each_operator_leads_to_its_kernels(self):
        self.check_links(queue=False)

    def test_a_task_queue_stands_between_operator_and_launch(self):
        self.check_links(queue=True)

    def test_kernels_are_those_of_the_exporter_with_their_steps(self):
        truth = Truth()
        output, _ = self.analyse(self.capture(truth=truth))
        ours = csv_rows(output / "kernel_details.csv")
        theirs = csv_rows(GOLDEN / NAME / "expected_cpp" / "op_summary.csv")
        self.assertEqual([(r["Op Name"], r["OP Type"], r["Task Start Time(us)"], r["Input Shapes"]) for r in theirs],
                         [(r["Name"], r["Type"], r["Start Time(us)"], r["Input Shapes"]) for r in ours])
        self.assertEqual("Step Id", list(ours[0])[0])
        for header in ("aicore_time(us)", "aic_total_cycles", "aiv_vec_ratio", "cube_utilization(%)", "Mix Block Num"):
            self.assertEqual([self.number(r[header]) for r in theirs], [self.number(r[header]) for r in ours], header)
        # The step of a kernel: the first whose range, from the first kernel it launched to its last, holds the start.
        reached = [(at, device) for _, _, at, device in self.kernels_of_connections()]
        durations = {us(r["Task Start Time(us)"]): us(r["Task Duration(us)"]) for r in theirs}
        ranges = []
        for number, begin, end in truth.steps:
            starts = [device for at, device in reached if begin <= at <= end]
            ranges.append((number, min(starts), max([end] + [at + durations.get(at, 0) for at in starts])))
        for row in ours:
            at = us(row["Start Time(us)"])
            steps = [str(number) for number, begin, end in ranges if begin <= at <= end]
            self.assertEqual(steps[0] if steps else "", row["Step Id"], row["Name"])

    @staticmethod
    def number(text):
        return None if text in ("", "N/A") else round(float(text), 2)

    def test_every_file_of_the_level_is_there(self):
        output, done = self.analyse(self.capture(), "--export-type", "text,db")
        names = {path.name for path in output.iterdir()}
        self.assertLessEqual({"trace_view.json", "kernel_details.csv", "operator_details.csv", "step_trace_time.csv", "op_statistic.csv",
                              "api_statistic.csv", "task_time.csv", "data_preprocess.csv", "communication.json", "communication_matrix.json",
                              "ascend_pytorch_profiler_0.db", "analysis.db", "analyse.done"}, names)
        self.assertEqual("", done.err)
        self.assertEqual("", self.run_program("verify", output.parent, expect=0).err)

    def test_communication_is_what_the_exporter_says(self):
        output, _ = self.analyse(self.capture())
        ours = json.loads((output / "communication.json").read_text())
        theirs = json.loads((GOLDEN / NAME / "expected_cpp" / "communication.json").read_text())
        found = {name.split("@")[0]: facts for step in ours.values() for kind in step.values() for name, facts in kind.items()
                 if not name.lower().startswith("total")}
        wanted = {name.split("@")[0]: facts for name, facts in self.flat(theirs).items()}
        self.assertTrue(wanted)
        for name, facts in found.items():
            for key in ("Elapse Time(ms)", "Transit Time(ms)", "Wait Time(ms)"):
                self.assertAlmostEqual(wanted[name]["Communication Time Info"][key], facts["Communication Time Info"][key], 5, (name, key))

    @staticmethod
    def flat(document):
        """Operations of communication.json, whatever lies around them."""
        found = {}
        for key, value in document.items():
            if not isinstance(value, dict):
                continue
            if "Communication Time Info" in value:
                if not key.lower().startswith("total"):
                    found[key] = value
            else:
                found.update(RawJoin.flat(value))
        return found

    # ---- The same numbers from raw data and from results -----------------------------------------

    def test_raw_data_and_its_results_say_the_same(self):
        a = self.capture("raw/host_1_20240517080000_ascend_pt")
        b = self.capture("results/host_1_20240517080000_ascend_pt")
        self.analyse(b)
        for words in (("breakdown",), ("ops",), ("ops", "--by", "type")):
            first, second = (self.run_program(*words, path, "--json") for path in (a, b))
            self.assertEqual(json.loads(second.out), json.loads(first.out), words)
        for table in ("kernels", "comm_ops", "steps"):
            count = f"select count(*) as n from {table}"
            self.assertEqual(self.query(b, count), self.query(a, count), table)
        kernels = "select name, type, begin_ns, dur_ns, step, stream, task_id, block_dim from kernels order by begin_ns, name"
        self.assertEqual(self.query(b, kernels), self.query(a, kernels))

    def test_raw_data_and_the_exporters_results_say_the_same(self):
        a, b = self.capture("a_ascend_pt"), self.capture("b_ascend_pt", exported=True)
        kernels = "select name, type, core, begin_ns, dur_ns, step from kernels order by begin_ns, name"
        self.assertEqual(self.query(b, kernels), self.query(a, kernels))
        ops = "select name, begin_ns, dur_ns from comm_ops order by begin_ns, name"
        self.assertEqual(self.query(b, ops), self.query(a, ops))

    def test_every_command_opens_it(self):
        folder = self.capture()
        before = snapshot(folder)
        info = self.info(folder)
        self.assertEqual(1, len(info["ranks"]))
        for words in (("breakdown", folder), ("ops", folder), ("advisor", "all", "-d", folder), ("cluster", folder, "-o", self.scratch / "out"),
                      ("query", folder, "select count(*) from kernels")):
            self.run_program(*words, expect=0)
        self.run_program("compare", "-d", folder, "-bp", folder, "-o", self.scratch / "compared", expect=0)
        self.assertEqual(before, snapshot(folder), "nothing is written into the capture")

    # ---- MindSpore -------------------------------------------------------------------------------

    def test_mindspore_names_kernels_after_the_range_that_launched_them(self):
        truth = Truth()
        folder = self.scratch / "host_1_20240517080000_ascend_ms"
        (folder / "FRAMEWORK").mkdir(parents=True)
        info = {"profiler_parameters": {"profiler_level": "Level1", "export_type": ["text"]}, "ms_profiler_info": {"rank_id": "0", "device_id": "0"}}
        (folder / "profiler_info_0.json").write_text(json.dumps(info))
        shutil.copytree(tree(), folder / tree().name)
        main = truth.launches[0][0]
        records = [op_range(name, ticks(begin), ticks(end), tid=thread, module=PYNATIVE, event=LAUNCH_TASK)
                   for name, thread, begin, end, _ in truth.ops]
        records += [op_range(f"ProfilerStep#{number}", ticks(begin), ticks(end), tid=main) for number, begin, end in truth.steps]
        records.append(op_range("fetch", ticks(truth.steps[0][1]), ticks(truth.steps[0][1]) + 100, tid=5, graph=("Dataset", "Batch")))
        (folder / "FRAMEWORK" / "mindspore.op_range").write_bytes(b"".join(records))
        output, _ = self.analyse(folder)
        reached = {}
        for _, thread, at, device in self.kernels_of_connections():
            for name, tid, begin, end, _ in truth.ops:
                if tid == thread and begin <= at <= end:
                    reached[device] = name, next(number for number, first, last in truth.steps if first <= begin <= last)
        rows = csv_rows(output / "kernel_details.csv")
        linked = 0
        for theirs, ours in zip(csv_rows(GOLDEN / NAME / "expected_cpp" / "op_summary.csv"), rows, strict=True):
            launch = reached.get(us(ours["Start Time(us)"]))
            prefix = f"PynativeFramework::PyNativeLaunchTask::{launch[0]}/" if launch else ""
            self.assertEqual(prefix + theirs["Op Name"], ours["Name"])
            if launch:
                linked += 1
                self.assertEqual(str(launch[1]), ours["Step ID"])
        self.assertGreater(linked, 10)
        self.assertEqual("Batch", csv_rows(output / "dataset.csv")[0]["Operation"])
        self.assertFalse((output / "operator_details.csv").exists(), "no shapes were recorded")
        self.assertTrue((output / "communication.json").is_file())

    # ---- Several folders and devices --------------------------------------------------------------

    def test_two_folders_are_one_rank(self):
        folder = self.capture()
        alone = self.query(folder, "select count(*) as n from kernels")[0]["n"]
        second = folder / "PROF_000002_20240517080001123_00012345ABCDEFGH"
        shutil.copytree(tree(), second)
        (second / "device_0").rename(second / "device_1")
        for path in list((second / "device_1").rglob("*")):
            name = path.name.replace(".0", ".1", 1) if path.name.count(".0") else path.name
            path.rename(path.with_name(name))
        for path in second.glob("host/data/*.compact.task_track.slice_*[0-9]"):
            data = bytearray(path.read_bytes())
            for at in range(24, len(data), 64):
                data[at] = 1  # the device that the task is for
            path.write_bytes(data)
        self.assertEqual(1, len(self.info(folder)["ranks"]))
        devices = self.query(folder, "select device, count(*) as n from kernels group by device order by device")
        self.assertEqual([0, 1], [row["device"] for row in devices])
        self.assertEqual(alone, devices[0]["n"])
        shared = self.query(folder, "select count(*) as n from kernels a join kernels b on a.correlation = b.correlation "
                                    "where a.device = 0 and b.device = 1")
        self.assertEqual(0, shared[0]["n"], "connections of the two are different calls")
        self.analyse(folder)

    # ---- Bad input -------------------------------------------------------------------------------

    def test_without_framework_the_device_is_shown(self):
        folder = self.capture(framework=False)
        self.assertGreater(self.query(folder, "select count(*) as n from kernels")[0]["n"], 10)
        output, _ = self.analyse(folder)
        self.assertTrue((output / "kernel_details.csv").is_file())
        self.assertEqual(1, len(self.info(folder)["ranks"]))

    def test_without_the_device_it_is_said(self):
        folder = self.capture(prof=None)
        output, done = self.analyse(folder)
        self.assertIn("there is no PROF_*", done.err)
        self.assertFalse((output / "kernel_details.csv").exists())
        self.assertTrue((output / "operator_details.csv").is_file())

    def test_an_empty_folder_of_the_device_is_named(self):
        folder = self.capture(prof=None)
        (folder / "PROF_000001_20240517080000123_00012345ABCDEFGH").mkdir()
        _, done = self.analyse(folder)
        self.assertIn("PROF_", done.err)
        self.assertIn("device is missing", done.err)
        _, done = self.analyse(folder, "--force", expect=5)
        self.assertIn("hold less than the old ones", done.err)

    def test_half_of_the_device_data_is_used(self):
        folder = self.capture()
        whole = self.query(folder, "select count(*) as n from kernels")[0]["n"]
        log = next(folder.glob("PROF_*/device_0/data/stars_soc.data.0.slice_0"))
        data = log.read_bytes()
        log.write_bytes(data[:len(data) // 128 * 64])
        for marker in folder.glob("PROF_*/**/*.done"):
            marker.unlink()
        left = self.query(folder, "select count(*) as n from kernels")[0]["n"]
        self.assertLess(0, left)
        self.assertLess(left, whole)
        self.analyse(folder)

    def test_a_device_side_that_is_gone_leaves_the_host(self):
        folder = self.capture()
        shutil.rmtree(next(folder.glob("PROF_*/device_0")))
        _, done = self.analyse(folder)
        self.assertIn("PROF_* holds no task of a device", done.err)

    def test_old_results_are_passed_over_until_the_raw_data_change(self):
        folder = self.capture()
        self.analyse(folder)
        _, done = self.analyse(folder)
        self.assertIn("up to date", done.out)
        first = snapshot(folder / "ASCEND_PROFILER_OUTPUT")
        self.analyse(folder, "--force", "--jobs", "1")
        self.assertEqual(first, snapshot(folder / "ASCEND_PROFILER_OUTPUT"), "the same bytes with one thread")


if __name__ == "__main__":
    unittest.main()
