"""The device back end against the stand-in of the vendor's libraries: calls, codes, activities and faults."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("STEPLENS_PROGRAM", "build/steplens")).resolve().parent
PROBE = BUILD / "tests" / "device_probe"
STANDIN = BUILD / "tests" / "standin"

PROFILING, WARMUP, SET_CONFIG, FEATURES, MSTX_OUT, MSPTI = 1, 2, 4, 8, 16, 32


def activities(path):
    """(kind, detail, start, end, place, lane, correlation, amount, extra, texts) of each record of steplens.device."""
    data = path.read_bytes() if path.exists() else b""
    found, at = [], 0
    while at < len(data):
        record_type, length = struct.unpack_from("<HI", data, at)
        end = at + 6 + length
        assert record_type == 36 and end <= len(data)
        fixed, at, texts = struct.unpack_from("<IIqqIIQQQ", data, at + 6), at + 6 + 56, {}
        while at < end:
            tag, size = struct.unpack_from("<HI", data, at)
            texts[tag] = data[at + 6:at + 6 + size].decode()
            at += 6 + size
        found.append(fixed + (texts,))
    return found


@unittest.skipUnless(PROBE.exists(), "the stand-in is not built")
class Device(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.capture = self.folder / "capture"

    def probe(self, make, backend, level=1, **environment):
        """Answers of the back end by call: (code, text)."""
        variables = {**os.environ, "STANDIN_LOG": str(self.folder / "calls"), **environment}
        for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "STEPLENS_RECORD"):
            variables.pop(name, None)
        if make:
            variables["STEPLENS_ASCEND_LIB"] = str(STANDIN / make)
        result = subprocess.run([PROBE, self.capture, backend, str(level)], env=variables, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(0, result.returncode, result.stderr)
        answers = {}
        for line in result.stdout.splitlines():
            name, value, *text = line.split(" ", 2)
            answers[name] = (int(value, 0) if name != "mask" else int(value, 16), text[0] if text else "")
        info = json.loads((self.capture / "profiler_info_0.json").read_text())
        self.assertIn("end_info", info)
        self.assertGreater((self.capture / "FRAMEWORK" / "torch.op_range").stat().st_size, 58)
        return answers

    def calls(self):
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def test_acl_calls_come_in_the_order_of_the_vendors_adapter(self):
        answers = self.probe("whole", "acl")
        self.assertEqual(PROFILING | WARMUP | SET_CONFIG | FEATURES | MSTX_OUT | MSPTI, answers["capabilities"][0])
        self.assertEqual(100001, answers["early_start"][0])
        for call in ("init", "configure", "warmup", "start", "step_begin", "mark", "step_end", "stop", "finalize"):
            self.assertEqual(0, answers[call][0], call)
        self.assertEqual(100001, answers["step_end_again"][0])
        self.assertEqual(0x27 | 0x80 | 0x1000 | 0x4000, answers["mask"][0])
        expected = [f"aclprofInit {self.capture} {len(str(self.capture))}", "aclprofGetSupportedFeaturesV2",
                    "aclprofSetConfig 3=50", "aclprofSetConfig 8=cpu,mem",
                    "aclprofCreateConfig devices=1 metrics=1 mask=0x50a7", "aclprofWarmup", "aclprofStart",
                    "aclprofRegisterDeviceCallback", "aclprofCreateStepInfo", "aclprofGetStepTimestamp step=1 tag=0",
                    "aclprofMarkEx hello", "aclprofGetStepTimestamp step=1 tag=1", "aclprofDestroyStepInfo",
                    "aclrtSynchronizeDevice", "aclprofStop", "aclprofDestroyConfig", "aclprofFinalize"]
        self.assertEqual(expected, self.calls())
        self.assertEqual(1, len(list(self.capture.glob("PROF_000001_*"))))

    def test_an_old_library_lacks_capabilities_and_still_records(self):
        answers = self.probe("old", "acl")
        self.assertEqual(PROFILING | MSPTI, answers["capabilities"][0])
        self.assertEqual(200007, answers["warmup"][0])
        self.assertIn("aclprofWarmup is not in the vendor's libraries", answers["warmup"][1])
        self.assertEqual(200007, answers["mark"][0])
        self.assertEqual(0, answers["start"][0])
        self.assertEqual(0, answers["stop"][0])
        self.assertEqual(0x27 | 0x80 | 0x1000, answers["mask"][0], "attributes need a feature the library has not")

    def test_a_library_without_the_essentials_is_no_device(self):
        answers = self.probe("broken", "acl")
        self.assertEqual(0, answers["capabilities"][0])
        self.assertEqual(200007, answers["init"][0])
        self.assertIn("no profiling libraries", answers["init"][1])

    def test_a_machine_without_libraries_records_the_host(self):
        answers = self.probe(None, "acl")
        self.assertEqual(0, answers["capabilities"][0])
        self.assertEqual(200007, answers["init"][0])
        self.assertEqual(1, answers["recorded"][0])

    def test_error_codes_come_through_with_words(self):
        cases = {"aclprofInit:100042": "configure", "aclprofWarmup:148047": "warmup", "aclprofStart:500005": "start",
                 "aclprofStop:500005": "stop", "aclprofFinalize:100043": "finalize", "aclprofGetStepTimestamp:100000:2": "step_end"}
        for fault, call in cases.items():
            with self.subTest(fault):
                self.setUp()
                answers = self.probe("whole", "acl", STANDIN_FAIL=fault)
                function, code = fault.split(":")[:2]
                self.assertEqual((int(code), f"{function} failed with code {code}"), answers[call])

    def test_a_refused_configuration_is_not_started(self):
        answers = self.probe("whole", "acl", STANDIN_FAIL="aclprofCreateConfig:1")
        self.assertEqual(100000, answers["configure"][0])
        self.assertEqual(100001, answers["start"][0])
        self.assertNotIn("aclprofStart", self.calls())
        self.assertEqual("aclprofFinalize", self.calls()[-1])

    def test_a_refused_setting_costs_only_its_own_data(self):
        answers = self.probe("whole", "acl", STANDIN_FAIL="aclprofSetConfig:100010")
        self.assertEqual((0, "aclprofSetConfig failed with code 100010"), answers["configure"])
        self.assertEqual(0, answers["start"][0])

    def test_stopping_slowly_is_waited_for(self):
        self.assertEqual(0, self.probe("whole", "acl", STANDIN_SLOW_STOP_MS="200")["stop"][0])

    def test_libraries_are_found_where_the_vendor_installs_them(self):
        home = self.folder / "ascend"
        home.mkdir()
        (home / "lib64").symlink_to(STANDIN / "whole")
        variables = {**os.environ, "ASCEND_TOOLKIT_HOME": str(home)}
        result = subprocess.run([PROBE, self.capture, "acl", "1"], env=variables, text=True, stdout=subprocess.PIPE, timeout=60)
        self.assertIn("capabilities 63", result.stdout)

    def test_mspti_activities_are_written(self):
        answers = self.probe("whole", "mspti", level=2)
        self.assertEqual(0, answers["start"][0])
        self.assertIn("left out: kinds 5 (needs libmspti.so in LD_PRELOAD)", answers["start"][1])
        records = activities(self.capture / "FRAMEWORK" / "steplens.device")
        by_kind = {kind: [r for r in records if r[0] == kind] for kind in {r[0] for r in records}}
        self.assertEqual({1: 10, 2: 10, 3: 10, 9: 10, 12: 10}, {kind: len(rows) for kind, rows in by_kind.items()})
        kernel = by_kind[2][0]
        self.assertEqual(5000, kernel[3] - kernel[2])
        self.assertEqual((0, 2, 1), kernel[4:7])
        self.assertEqual({1: "MatMulV2", 2: "KERNEL_AICORE"}, kernel[9])
        self.assertEqual({1: "hcom_allReduce_", 2: "group", 3: "RING"}, by_kind[9][0][9])
        self.assertEqual(51, answers["recorded"][0])
        order = [line.split()[0] for line in self.calls()]
        self.assertLess(order.index("msptiActivityFlushAll"), order.index("msptiUnsubscribe"))

    def test_mspti_preloaded_gives_memory_too(self):
        self.probe("whole", "mspti", LD_PRELOAD=str(STANDIN / "whole" / "libmspti.so"))
        kinds = {record[0] for record in activities(self.capture / "FRAMEWORK" / "steplens.device")}
        self.assertEqual({1, 2, 3, 5, 6, 7, 9}, kinds)

    def test_more_activities_than_a_buffer_holds(self):
        self.probe("whole", "mspti", level=0, STANDIN_RECORDS="50000")
        self.assertEqual(100000, len(activities(self.capture / "FRAMEWORK" / "steplens.device")))

    def test_lost_activities_and_a_skewed_clock_are_the_vendors(self):
        self.probe("whole", "mspti", level=0, STANDIN_LOSE_EVERY="2", STANDIN_CLOCK_OFFSET_NS="3600000000000")
        records = activities(self.capture / "FRAMEWORK" / "steplens.device")
        self.assertEqual(10, len(records))
        info = json.loads((self.capture / "profiler_info_0.json").read_text())
        ahead_s = (records[0][2] - info["end_info"]["collectionTimeEnd"]) / 1e9
        self.assertAlmostEqual(3600, ahead_s, delta=60)

    def test_a_second_subscriber_is_refused_with_its_code(self):
        answers = self.probe("whole", "mspti", STANDIN_FAIL="msptiSubscribe:2")
        self.assertEqual((2, "msptiSubscribe failed with code 2"), answers["start"])


# What a program that knows the vendor's library asks of the stand-in, and the codes it gets.
TALK = """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1] + "/libmsprofiler.so")
lib.aclprofCreateConfig.restype = ctypes.c_void_p
lib.aclprofCreateConfig.argtypes = [ctypes.POINTER(ctypes.c_uint32), ctypes.c_uint32, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64]
for name in ("aclprofStart", "aclprofStop", "aclprofWarmup"):
    if hasattr(lib, name):
        getattr(lib, name).argtypes = [ctypes.c_void_p]
def config(ids=(0,), mask=0x27, count=None, events=None):
    array = (ctypes.c_uint32 * len(ids))(*ids) if ids is not None else None
    return lib.aclprofCreateConfig(array, len(ids) if count is None else count, 1, events, mask)
def init(path=sys.argv[2], length=None):
    text = None if path is None else path.encode()
    return lib.aclprofInit(text, ctypes.c_size_t(len(text or b"") if length is None else length))
def setting(key, value, length=None):
    return lib.aclprofSetConfig(key, value.encode(), ctypes.c_size_t(len(value) if length is None else length))
"""


@unittest.skipUnless(PROBE.exists(), "the stand-in is not built")
class Standin(unittest.TestCase):
    """The stand-in is worth what its codes are: those of the vendor's public description."""

    def talk(self, code, make="whole", **environment):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(["/usr/bin/python3", "-c", TALK + code, STANDIN / make, folder], text=True, timeout=60,
                                    env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(0, result.returncode, result.stderr)
            return [int(word) for word in result.stdout.split()]

    def test_states(self):
        normal = "c = config(); print(init(), init(), lib.aclprofWarmup(c), lib.aclprofStart(c), lib.aclprofStart(c), lib.aclprofWarmup(c))\n" \
                 "print(lib.aclprofStart(config(mask=0x12f)), lib.aclprofStop(config(mask=0x12f)), lib.aclprofStop(c), lib.aclprofFinalize())"
        self.assertEqual([0, 100002, 0, 0, 0, 148047, 100010, 100010, 0, 0], self.talk(normal))
        unopened = "c = config(); print(lib.aclprofStop(c), lib.aclprofFinalize(), lib.aclprofStart(None), lib.aclprofStop(None))"
        self.assertEqual([0, 0, 100000, 100000], self.talk(unopened))
        self.assertEqual([100043, 100043, 100000, 100000], self.talk(unopened, make="old"))
        self.assertEqual([100043], self.talk("print(lib.aclprofStart(config()))", make="old"))
        taken = "c = config(); print(init(), lib.aclprofStart(c), lib.aclprofStop(c), lib.aclprofFinalize(), setting(3, '50'))"
        self.assertEqual([100042] * 4 + [0], self.talk(taken, STANDIN_MODE="cmd"))
        self.assertEqual([148047] * 4 + [0], self.talk(taken, STANDIN_MODE="subscribe"))
        self.assertEqual([200006], self.talk("print(init())", PROFILING_MODE="dynamic"))
        self.assertEqual([200007], self.talk("print(lib.aclprofStart(config(mask=0x400)))"))

    def test_arguments(self):
        self.assertEqual([100000] * 4, self.talk("print(init(None), init('', 0), init('x' * 4096), init('x', 2))"))
        wrong = "(None, 0, 1), ((0, 0), 0x27, None), ((8,), 0x27, None), (tuple(range(9)), 0x27, None), ((), 0x27, None)"
        self.assertEqual([0] * 5 + [1], self.talk(f"for ids, mask, count in ({wrong}, ((), 0x80, None)): print(int(bool(config(ids, mask, count))))"))
        self.assertEqual([0], self.talk("print(int(bool(config(events=1))))"))

    def test_settings(self):
        cases = {(0, "1"): 100000, (17, "1"): 100000, (3, "x" * 257): 100000, (3, ""): 100000, (3, "100"): 0, (3, "101"): 100010,
                 (3, "50x"): 100010, (3, "-1"): 100010, (5, "0"): 100010, (6, "50"): 0, (6, "51"): 100010, (13, "51"): 100010,
                 (1, "200MB"): 0, (1, "199MB"): 100010, (1, "200"): 100010, (4, "read"): 0, (4, "both"): 100010, (8, "cpu,mem,osrt"): 0,
                 (8, "cpu,"): 100010, (8, "gpu"): 100010, (9, "mem"): 0, (9, "disk"): 100010, (15, "PipeUtilization"): 0,
                 (15, "Custom:1,65535"): 0, (15, "Custom:"): 100010, (15, "Custom:65536"): 100010,
                 (15, "Custom:" + ",".join("1" * 10)): 0, (15, "Custom:" + ",".join("1" * 11)): 100010}
        self.assertEqual(list(cases.values()), self.talk(f"for key, value in {list(cases)}: print(setting(key, value))"))
        self.assertEqual([100000], self.talk("print(setting(3, '50', 1))"))

    def test_raw_files_are_played_back(self):
        with tempfile.TemporaryDirectory() as raw:
            pathlib.Path(raw, "host").mkdir()
            pathlib.Path(raw, "host", "start_info").write_text("{}")
            code = "import glob; init(); lib.aclprofStart(config()); print(len(glob.glob(sys.argv[2] + '/PROF_*/host/start_info')))"
            self.assertEqual([1], self.talk(code, STANDIN_REPLAY=raw))


if __name__ == "__main__":
    unittest.main()
