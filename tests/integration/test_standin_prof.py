"""Round trip of raw device data: what the stand-in of the vendor's library is told comes back from the PROF_* folder it writes, and a capture
that the recorder made with it goes all the way to results. Faults: lost slices, a clock that is off, wrapped task ids, a killed process."""

import csv
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import unittest

from support import PROGRAM, Case
from test_server import Server

BUILD = pathlib.Path(PROGRAM).resolve().parent
STANDIN = pathlib.Path(os.environ.get("STEPLENS_STANDIN", BUILD / "tests" / "standin" / "whole"))
PROBE = BUILD / "tests" / "device_probe"

TELL = """
import ctypes, json, sys
lib = ctypes.CDLL(sys.argv[1])
lib.aclprofCreateConfig.restype = ctypes.c_void_p
lib.aclprofCreateConfig.argtypes = [ctypes.POINTER(ctypes.c_uint32), ctypes.c_uint32, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64]
lib.aclprofStart.argtypes = lib.aclprofStop.argtypes = [ctypes.c_void_p]
lib.standin_kernel.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint16, ctypes.c_uint64]
lib.standin_collective.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint16, ctypes.c_uint64, ctypes.c_uint64]
path = sys.argv[2].encode()
config = lib.aclprofCreateConfig((ctypes.c_uint32 * 1)(0), 1, 1, None, 0x27)
assert lib.aclprofInit(path, ctypes.c_size_t(len(path))) == 0 and lib.aclprofStart(config) == 0
for kind, *words in json.loads(sys.stdin.read()):
    words = [word.encode() if isinstance(word, str) else word for word in words]
    (lib.standin_kernel if kind == "kernel" else lib.standin_collective)(*words)
lib.aclprofStop(config)
"""


def truth_of(path):
    """(kind, name, detail, stream, task, begin, end, launch) of each task, as the stand-in wrote it down."""
    lines = path.read_text().splitlines() if path.exists() else []
    rows = [line.split("\t") for line in lines]
    return [(kind, name, detail, *map(int, numbers)) for kind, name, detail, *numbers in rows]


@unittest.skipUnless((STANDIN / "libmsprofiler.so").exists(), "the stand-in is not built")
class RoundTrip(Case):
    def tell(self, told, **settings):
        """The PROF_* folder of what was told, and the truth about it."""
        folder, truth = self.scratch / "prof", self.scratch / "truth"
        shutil.rmtree(folder, ignore_errors=True)
        truth.unlink(missing_ok=True)
        folder.mkdir()
        environment = {**os.environ, "STANDIN_PROF": "1", "STANDIN_TRUTH": str(truth), **{k: str(v) for k, v in settings.items()}}
        subprocess.run(["/usr/bin/python3", "-c", TELL, STANDIN / "libmsprofiler.so", folder], input=json.dumps(told), text=True,
                       env=environment, check=True, timeout=60)
        return next(folder.glob("PROF_*")), truth_of(truth)

    def check(self, prof, truth):
        self.assertEqual(sorted((name, kind, begin, end - begin, stream, task) for what, name, kind, stream, task, begin, end, _ in truth
                                if what == "kernel"), self.kernels(prof))
        self.assertEqual(sorted((begin, end - begin, group) for what, _, group, _, _, begin, end, _ in truth if what == "collective"),
                         sorted((r["begin_ns"], r["dur_ns"], r["group_name"]) for r in
                                self.query(prof, "select begin_ns, dur_ns, group_name from comm_ops")))
        self.assertEqual(sorted((launch, begin) for *_, begin, _, launch in truth),
                         sorted((r["from_ns"], r["to_ns"]) for r in self.query(prof, "select from_ns, to_ns from flows where kind = 'HostToDevice'")))

    def kernels(self, prof):
        rows = self.query(prof, "select name, type, begin_ns, dur_ns, stream, task_id from kernels where core != 'COMMUNICATION'")
        return sorted((r["name"], r["type"], r["begin_ns"], r["dur_ns"], r["stream"], r["task_id"]) for r in rows)

    @staticmethod
    def random_work(seed, count):
        # As a runtime does it: streams of kernels and streams of communication are apart.
        dice = random.Random(seed)
        told = []
        for _ in range(count):
            if dice.random() < 0.2:
                told.append(["collective", dice.choice(["hcom_allReduce_", "hcom_broadcast_"]), f"group{dice.randrange(2)}",
                             dice.randrange(40, 43), dice.randrange(4, 1 << 30, 4), dice.randrange(1, 100000)])
            else:
                kind = dice.choice(["Add", "MatMulV2", "Cast:new", "Ärger"])
                told.append(["kernel", f"aclnn{kind}_{dice.randrange(5)}", kind, dice.randrange(2, 6), dice.randrange(1, 100000)])
        return told

    def test_what_was_told_comes_back(self):
        for seed in range(4):
            with self.subTest(seed):
                prof, truth = self.tell(self.random_work(seed, 60), STANDIN_SLICE_BYTES=1000 + 777 * seed)
                self.assertEqual(60, len(truth))
                self.check(prof, truth)

    def test_a_skewed_clock_is_taken_out(self):
        prof, truth = self.tell(self.random_work(9, 40), STANDIN_CLOCK_OFFSET_NS=3_600_000_000_000, STANDIN_CLOCK_PPM=350)
        self.check(prof, truth)

    def test_task_ids_that_wrap(self):
        prof, truth = self.tell(self.random_work(3, 80), STANDIN_WRAP_AT=7)
        self.assertLess(len({(row[3], row[4]) for row in truth}), len(truth), "ids repeat")
        self.check(prof, truth)

    def test_a_lost_slice_costs_its_own_tasks(self):
        told = [["kernel", f"k{i}", "Add", 2, 100] for i in range(60)]
        prof, truth = self.tell(told, STANDIN_SLICE_BYTES=64 * 20)  # ten tasks a slice of the device's log
        (prof / "device_0/data/stars_soc.data.0.slice_2").unlink()
        left = self.kernels(prof)
        expected = sorted((name, kind, begin, end - begin, stream, task) for _, name, kind, stream, task, begin, end, _ in truth
                          if task not in range(20, 30))
        self.assertEqual(expected, left)


@unittest.skipUnless(PROBE.exists(), "the stand-in is not built")
class EndToEnd(Case):
    STEPS = 3

    def record(self, kill=False, **settings):
        capture, truth = self.scratch / "host_1_20240517080000_ascend_pt", self.scratch / "truth"
        environment = {**os.environ, "STEPLENS_ASCEND_LIB": str(STANDIN), "STANDIN_PROF": "1", "STANDIN_TRUTH": str(truth),
                       "PROBE_STEPS": str(self.STEPS), **{k: str(v) for k, v in settings.items()}}
        if kill:
            environment["PROBE_KILL"] = "1"
        done = subprocess.run([PROBE, capture, "acl", "1"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(-signal.SIGKILL if kill else 0, done.returncode, done.stderr)
        return capture, truth_of(truth)

    def check(self, capture, truth):
        steps = [int(r["step"]) for r in self.query(capture, "select step from steps order by begin_ns")]
        self.assertEqual([3 + i for i in range(self.STEPS)], steps)
        output = capture / "ASCEND_PROFILER_OUTPUT"
        with open(output / "kernel_details.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(name if what == "kernel" else "hcom_allReduce_", begin) for what, name, _, _, _, begin, _, _ in sorted(truth, key=lambda r: r[5])],
                         [(r["Name"] if "hcom" not in r["Name"] else "hcom_allReduce_",
                           int(r["Start Time(us)"].strip().replace(".", ""))) for r in rows])
        self.assertEqual([3 + i // 4 for i in range(4 * self.STEPS)], sorted(int(r["Step Id"]) for r in rows))
        with open(output / "operator_details.csv", newline="") as file:
            device = {}
            for row in csv.DictReader(file):
                device[row["Name"]] = device.get(row["Name"], 0) + float(row["Device Self Duration(us)"])
        def told(*names):
            return sum(end - begin for _, name, _, _, _, begin, end, _ in truth if name in names) / 1000
        self.assertAlmostEqual(told("MatMul1"), device["aten::mm"], 3)
        self.assertAlmostEqual(told("Mul2", "Tanh3"), device["aten::gelu"], 3)
        self.assertAlmostEqual(told("hcom_allReduce_"), device["c10d::allreduce_"], 3)
        self.assertEqual(0, device["aten::view"])

    def test_record_analyse_verify_view(self):
        capture, truth = self.record()
        self.assertEqual(4 * self.STEPS, len(truth))
        self.run_program("analyse", capture, "--export-type", "text,db", expect=0)
        self.check(capture, truth)
        self.run_program("verify", capture, expect=0)
        self.info(capture)
        raw = self.scratch / "raw" / capture.name
        shutil.copytree(capture, raw)
        shutil.rmtree(raw / "ASCEND_PROFILER_OUTPUT")
        for words in (["breakdown"], ["ops"]):
            self.assertEqual(self.rows(*words, capture), self.rows(*words, raw), words)
        server = Server(self.environment, raw)
        self.addCleanup(server.stop)
        tracks = server.get(f"/ds/{server.wait_ready()}/tracks")[1]
        name = tracks["cols"].index("name")
        self.assertLessEqual({"Stream 2", "Stream 5"}, {row[name] for row in tracks["rows"]})

    def test_killed_in_the_middle(self):
        capture, truth = self.record(kill=True)
        self.run_program("analyse", capture, "--export-type", "text", expect=0)
        self.check(capture, truth)
        self.run_program("verify", capture)

    def test_faults_together(self):
        capture, truth = self.record(STANDIN_WRAP_AT=2, STANDIN_SLICE_BYTES=700, STANDIN_CLOCK_PPM=200, STANDIN_CLOCK_OFFSET_NS=5_000_000_000)
        self.run_program("analyse", capture, "--export-type", "text", expect=0)
        self.check(capture, truth)


if __name__ == "__main__":
    unittest.main()
