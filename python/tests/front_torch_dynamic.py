"""torch_npu: dynamic profiling. The configuration file, the shared block, hot reload, the state machine of steps."""

import glob
import json
import os
import struct
import subprocess
import sys
import time
import unittest
from unittest import mock

from support import FakeCapture, FrontTest, needs
from steplens import _analyse
from steplens._channel import Channel, StampedLayout
from steplens._shm import SIZE, Block
from steplens.torch_npu.profiler import ProfilerActivity, _dynamic_config, dynamic_profile

I, W, S, P, F = "init", "warmup", "start", "stop", "finalize"
CONFIG = "conf/profiler_config.json"


class DynamicTest(FrontTest):
    def setUp(self):
        super().setUp()
        self.dynamic = dynamic_profile._DynamicProfile()
        self.addCleanup(self.close)
        self.analysed = []
        patch = mock.patch.object(_analyse, "analyse", side_effect=lambda *args, **kwargs: self.analysed.append(kwargs) or True)
        patch.start()
        self.addCleanup(patch.stop)

    def close(self):
        with self.said():
            self.dynamic.close()

    def write(self, **values):
        os.makedirs("conf", exist_ok=True)
        with open("conf/new", "w", encoding="utf-8") as file:
            json.dump(values, file)
        os.replace("conf/new", CONFIG)

    def wait_for_publication(self):
        """Until the watcher has seen the file, without a step of the loop."""
        channel = self.dynamic._channel
        end = time.monotonic() + 5
        while channel._layout.get(channel._block.memory, channel._seen) is None and time.monotonic() < end:
            time.sleep(0.002)

    def init(self, **values):
        if values:
            self.write(**values)
        self.dynamic.init("conf")

    def steps(self, count):
        with self.said() as lines:
            for _ in range(count):
                self.dynamic.step()
        return lines


class ConfigFile(DynamicTest):
    def test_the_default_is_made_with_all_keys(self):
        self.init()
        with open(CONFIG, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(json.loads(text), _dynamic_config.DEFAULT)
        self.assertTrue(text.startswith('{\n    "activities": ['))
        self.assertEqual(os.stat(CONFIG).st_mode & 0o777, 0o640 & ~_umask())
        self.assertEqual(sorted(os.listdir("conf")), ["log", "profiler_config.json"])

    def test_a_file_that_is_there_is_kept(self):
        self.init(start_step=7)
        with open(CONFIG, encoding="utf-8") as file:
            self.assertEqual(json.load(file), {"start_step": 7})

    def test_logs_are_named_after_host_pid_and_rank(self):
        with mock.patch.dict(os.environ, {"RANK": "2"}):
            self.init()
        names = sorted(os.path.basename(path) for path in glob.glob("conf/log/*"))
        self.assertRegex(names[0], rf"^dp_.+_{os.getpid()}_rank_2\.log$")
        self.assertEqual(names[1], "monitor_" + names[0])

    def parse(self, **values):
        told = []
        return _dynamic_config.parse(values, told.append), told

    def test_wrong_values_are_told_and_replaced(self):
        for values, attribute, expected in [
                (dict(start_step=-2), "start_step", 0), (dict(start_step="1"), "start_step", 0),
                (dict(start_step=True), "start_step", 0),
                (dict(active=0), "active", 1), (dict(warmup=-1), "warmup", 0), (dict(warmup=1.5), "warmup", 0),
                (dict(activities="CPU"), "activities", [ProfilerActivity.CPU, ProfilerActivity.NPU]),
                (dict(activities=["cpu", "tpu"]), "activities", [ProfilerActivity.CPU]),
                (dict(activities=[]), "activities", [ProfilerActivity.CPU, ProfilerActivity.NPU]),
                (dict(analyse=1), "analyse", False), (dict(async_mode=1), "async_mode", False),
                (dict(async_mode=True), "async_mode", True), (dict(is_rank=1), "ranks", None),
                (dict(is_rank=True, rank_list=[0, -1, "2", 3]), "ranks", [0, 3]),
                (dict(is_rank=True, rank_list=3), "ranks", []),
                (dict(is_rank=True, rank_list=[0], analyse=True), "analyse", False), (dict(prof_dir=5), "prof_dir", "./"),
                (dict(metadata=5), "metadata", {})]:
            config, told = self.parse(**values)
            self.assertEqual(getattr(config, attribute), expected, values)
            self.assertEqual(len(told), 1, (values, told))

    def test_right_values_are_taken(self):
        config, told = self.parse(
            start_step=-1, active=3, warmup=2, activities=["npu"], is_rank=True, rank_list=[1, 2], analyse=True, async_mode=True,
            with_stack=True, experimental_config={"profiler_level": "Level1", "aic_metrics": "Memory", "export_type": ["db"]})
        self.assertEqual(told, [])
        self.assertEqual((config.steps, config.ranks, config.analyse), (5, [1, 2], True))
        self.assertEqual(config.experimental._aic_metrics, "ACL_AICORE_MEMORY_BANDWIDTH")
        self.assertEqual(config.experimental._export_type, ["db"])
        self.assertTrue(config.flags["with_stack"])

    def test_the_default_file_says_nothing(self):
        with self.said() as lines:
            self.assertEqual(self.parse(**_dynamic_config.DEFAULT)[1], [])
        self.assertEqual(lines, [])


class Steps(DynamicTest):
    def test_start_step_n_records_from_iteration_n_on(self):
        self.init(start_step=3, active=2, warmup=1)
        self.steps(2)
        self.assertEqual(self.log, [])
        self.steps(1)
        self.assertEqual(self.log, [I, W, ("step_begin", 3)])
        self.steps(3)
        self.assertEqual(self.log, ["step_end", S, ("step_begin", 4), "step_end", ("step_begin", 5), "step_end", P, F])
        self.steps(10)
        self.assertEqual(self.log, [])

    def test_the_default_file_records_nothing(self):
        self.init()
        self.assertEqual(self.steps(20), [])
        self.assertEqual(self.log, [])

    def test_minus_one_is_the_next_step(self):
        self.init(start_step=0)
        self.steps(4)
        self.write(start_step=-1, active=1)
        self.wait_for_publication()
        self.steps(1)
        self.assertEqual(self.log, [I, S, ("step_begin", 5)])
        self.steps(1)
        self.assertEqual(self.log, ["step_end", P, F])

    def test_a_step_that_is_over_warns_and_is_dropped(self):
        self.init(start_step=0)
        self.steps(4)
        self.write(start_step=2)
        self.wait_for_publication()
        lines = self.steps(1)
        self.assertIn("start_step 2 is over", lines[0][1])
        self.assertEqual(self.log, [])

    def test_two_captures_in_one_job(self):
        self.init(start_step=1, active=1)
        self.steps(2)
        self.write(start_step=4, active=1)
        self.wait_for_publication()
        self.steps(6)
        self.assertEqual(self.operations, [I, S, P, F] * 2)
        self.assertEqual(len(FakeCapture.made), 2)

    def test_a_change_during_a_capture_takes_effect_after_it(self):
        self.init(start_step=1, active=3)
        self.steps(1)
        self.write(start_step=-1, active=1, prof_dir="second")
        self.wait_for_publication()
        self.steps(2)
        self.assertEqual(len(FakeCapture.made), 1)
        self.steps(1)
        self.assertEqual(len(FakeCapture.made), 2)
        self.assertEqual(os.path.dirname(FakeCapture.made[1].directory), os.path.abspath("second"))

    def test_a_broken_file_starts_nothing_and_a_repaired_one_does(self):
        self.init(start_step=0)
        self.steps(1)
        with open(CONFIG, "w", encoding="utf-8") as file:
            file.write("{broken")
        self.wait_for_publication()
        self.steps(1)
        self.write(start_step=-1)
        self.wait_for_publication()
        self.steps(1)
        self.assertEqual(self.operations, [I, S])

    def test_a_broken_file_is_told_once_until_it_changes(self):
        def told():
            with open(glob.glob("conf/log/dp_*.log")[0], encoding="utf-8") as file:
                return file.read().count("not valid JSON")

        self.init(start_step=0)
        self.steps(1)
        with open(CONFIG, "w", encoding="utf-8") as file:
            file.write("{broken")
        self.wait_for_publication()
        lines = []
        for _ in range(3):
            self.dynamic._channel._publish()  # as the watcher does for each event of one change
            lines += self.steps(1)
        self.assertEqual((told(), lines), (1, [("ERROR", "profiler_config.json is not valid JSON; nothing is started.")]))
        with open(CONFIG, "w", encoding="utf-8") as file:
            file.write("{broken in another way")
        self.dynamic._channel._publish()
        self.steps(1)
        self.assertEqual(told(), 2)

    def test_only_listed_ranks_record(self):
        for rank, expected in (("0", []), ("1", [I, S])):
            with mock.patch.dict(os.environ, {"RANK": rank}):
                self.init(start_step=1, is_rank=True, rank_list=[1])
                self.steps(1)
            self.assertEqual(self.operations, expected)
            self.close()
            self.dynamic = dynamic_profile._DynamicProfile()

    def test_start_records_at_once_with_its_own_file(self):
        self.init()
        with open("other.json", "w", encoding="utf-8") as file:
            json.dump({"active": 2, "prof_dir": "there", "start_step": 77}, file)
        with self.said():
            self.dynamic.start("other.json")
        self.assertEqual(self.operations, [I, S])
        self.assertIn("/there/", FakeCapture.made[0].directory)
        with self.said() as lines:
            self.dynamic.start("other.json")
        self.assertEqual(lines, [("ERROR", "A capture is running; start is ignored.")])
        self.steps(2)
        self.assertEqual(self.operations, [P, F])

    def test_start_with_a_missing_file_uses_the_one_of_init(self):
        self.init(start_step=0, active=1, prof_dir="there")
        with self.said():
            self.dynamic.start("nowhere.json")
        self.assertIn("/there/", FakeCapture.made[0].directory)

    def test_start_without_any_file_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no other configuration"):
            self.dynamic.start("nowhere.json")

    def test_set_state_moves_the_counter(self):
        self.init(start_step=101)
        self.dynamic.set_state({"cur_step": 100})
        self.steps(1)
        self.assertEqual(self.log, [I, S, ("step_begin", 101)])
        for state in ({}, {"cur_step": -1}, {"cur_step": True}, 5):
            with self.assertRaises(ValueError):
                self.dynamic.set_state(state)

    def test_metadata_and_switches_reach_the_capture(self):
        self.init(start_step=1, metadata={"job": {"id": 1}}, record_shapes=True, activities=["CPU"])
        self.steps(2)
        self.assertEqual(FakeCapture.made[0].metadata["job"], {"id": 1})
        self.assertTrue(FakeCapture.made[0].config.record_shapes)
        self.assertEqual(FakeCapture.made[0].config.activities, {"cpu"})
        self.assertEqual(FakeCapture.made[0].config.step_mark, "step ")

    def test_the_capture_is_analysed_as_the_file_says(self):
        self.init(start_step=1, analyse=True, async_mode=True)
        self.steps(2)
        self.assertEqual(self.analysed, [{"wait": False}])

    def test_status(self):
        status = lambda: {key: int(value) for key, value in self.dynamic.status().items()}
        self.assertEqual(status()["profiler_status"], -1)
        self.init(start_step=2, active=2)
        self.assertEqual(status(), {"profiler_status": 0, "current_step": 0, "start_step": -1, "stop_step": -1})
        self.steps(1)
        self.assertEqual(status(), {"profiler_status": 2, "current_step": 1, "start_step": 2, "stop_step": -1})
        self.steps(1)
        self.assertEqual(status(), {"profiler_status": 1, "current_step": 2, "start_step": 2, "stop_step": 4})

    def test_the_text_of_a_daemon_starts_a_capture(self):
        self.init()
        self.steps(3)
        self.dynamic.apply_daemon_text("PROFILE_START_STEP=-1\nACTIVITIES_ITERATIONS=2\n")
        self.steps(1)
        self.assertEqual(self.log, [I, S, ("step_begin", 4)])
        self.steps(2)
        self.assertEqual(self.operations, [P, F])
        self.dynamic.apply_daemon_text("PROFILE_START_STEP=8\n")
        self.steps(1)
        self.assertEqual(self.log, [])
        self.steps(2)
        self.assertEqual(self.operations, [I, S, P, F])

    def test_step_before_init_is_told_once(self):
        self.assertEqual([level for level, _ in self.steps(3)], ["ERROR"])

    def test_an_explicit_profile_has_precedence(self):
        from steplens.torch_npu.profiler import profile
        self.init(start_step=1, active=5)
        self.steps(1)
        with self.said() as lines, profile(on_trace_ready=lambda prof: None):
            pass
        self.assertTrue(any("has precedence" in text for _, text in lines))
        self.assertEqual(self.operations, [I, S, P, F, I, S, P, F])
        self.steps(6)


class SharedBlock(DynamicTest):
    def test_layout_stamp_then_text_padded_with_blanks(self):
        self.init(start_step=9)
        with open(self.dynamic._channel._block.path, "rb") as file:
            content = file.read()
        self.assertEqual(len(content), SIZE)
        self.assertEqual(struct.unpack("<I", content[:4])[0], int(os.stat(CONFIG).st_mtime))
        self.assertEqual(json.loads(content[4:]), {"start_step": 9})
        self.assertEqual(content[-1:], b" ")
        self.assertTrue(os.path.basename(self.dynamic._channel._block.path).startswith("DynamicProfileNpuShm"))

    def test_one_owner_others_see_what_it_publishes_and_take_over(self):
        self.write(start_step=9)
        first = Channel("SteplensTest", "conf", StampedLayout(), 1, lambda text: None)
        second = Channel("SteplensTest", "conf", StampedLayout(), 1, lambda text: None)
        self.addCleanup(second.close)
        self.assertEqual((first.owned, second.owned), (True, False))
        self.assertEqual(second.poll(), {"start_step": 9})
        self.assertIsNone(second.poll())
        path = first._block.path
        first._watcher.stop()
        first._block.memory.close()  # the owner dies without a farewell
        os.close(first._block._file)
        first._block._file = -1
        second._next_check_s = 0
        second.poll()
        self.assertTrue(second.owned)
        self.write(start_step=10)
        end = time.monotonic() + 5
        found = None
        while found != {"start_step": 10} and time.monotonic() < end:
            found = second.poll() or found
        self.assertEqual(found, {"start_step": 10})
        second.close()
        self.assertFalse(os.path.exists(path))

    def test_what_a_dead_owner_left_is_no_configuration(self):
        block = Block("SteplensTestLeft")
        block.memory[:8] = b"\1\0\0\0{}  "
        block.memory.close()
        os.close(block._file)  # without removing it
        again = Block("SteplensTestLeft")
        self.assertTrue(again.owned)
        self.assertEqual(again.memory[:8], bytes(8))
        again.close()

    def test_two_changes_in_one_second_are_two(self):
        memory = bytearray(SIZE)
        layout = StampedLayout()
        layout.put(memory, b"{}", 100)
        layout.put(memory, b"{}", 100)
        self.assertEqual(struct.unpack("<I", memory[:4])[0], 101)


class DaemonText(FrontTest):
    def test_lines_become_the_object_of_the_file(self):
        text = ("PROFILE_START_STEP=5\nACTIVITIES_LOG_FILE=/out\nACTIVITIES_ITERATIONS=3\nWARMUP_ITERATIONS=1\n"
                "PROFILE_ACTIVITIES=CPU,NPU\nPROFILE_WITH_STACK=TRUE\nPROFILE_IS_RANK=true\nPROFILE_RANK_LIST=0,2\n"
                "PROFILE_PROFILER_LEVEL=Level1\nPROFILE_AIC_METRICS=PipeUtilization\nPROFILE_GC_DETECT_THRESHOLD=None\n"
                "PROFILE_EXPORT_TYPE=Db\nPROFILE_HOST_SYS=cpu,mem\nPROFILE_MSTX=false\nSOMETHING=else\nnonsense\n")
        config = _dynamic_config.from_daemon_text(text)
        self.assertEqual(config, {
            "start_step": 5, "prof_dir": "/out", "active": 3, "warmup": 1, "activities": ["CPU", "NPU"], "with_stack": True,
            "is_rank": True, "rank_list": [0, 2], "experimental_config": {
                "profiler_level": "Level1", "aic_metrics": "PipeUtilization", "gc_detect_threshold": None,
                "export_type": ["db"], "host_sys": ["cpu", "mem"], "mstx": False}})
        told = []
        self.assertEqual(_dynamic_config.parse(config, told.append).steps, 4)
        self.assertEqual(told, [])

    def test_a_message_for_the_monitor_starts_nothing(self):
        self.assertIsNone(_dynamic_config.from_daemon_text("NPU_MONITOR_START=true"))


class Processes(FrontTest):
    """Whole programs: the environment variable and launchers."""

    @staticmethod
    def with_package(environment):
        package = os.path.dirname(os.path.dirname(os.path.abspath(_dynamic_config.__file__)))
        path = os.pathsep.join([os.path.dirname(os.path.dirname(package)), os.path.dirname(os.path.abspath(__file__))])
        return {**os.environ, "PYTHONPATH": path, **environment}

    def run_python(self, code, *args, **environment):
        return subprocess.run([sys.executable, "-c", code, *args], env=self.with_package(environment),
                              capture_output=True, text=True, timeout=60, check=False)

    @needs("torch")
    def test_the_steps_of_the_last_optimizer_are_the_steps(self):
        os.makedirs("conf")
        with open(CONFIG, "w", encoding="utf-8") as file:
            json.dump({"start_step": 2, "active": 2, "prof_dir": "out"}, file)
        code = """if True:
            import torch, support
            from steplens import _machine
            _machine.new_capture = support.FakeCapture
            from steplens import _channel
            blocks = []
            class NotedBlock(_channel.Block):
                def __init__(self, name):
                    super().__init__(name)
                    blocks.append(self.path)
            _channel.Block = NotedBlock
            import steplens.torch_npu
            first = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
            last = torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
            for _ in range(6):
                first.step()
                last.step()
            print(support.FakeCapture.log)
            print(*blocks)
        """
        result = self.run_python(code, PROF_CONFIG_PATH="conf")
        self.assertEqual(result.returncode, 0, result.stderr)
        log, block = result.stdout.splitlines()
        self.assertEqual(log, str([I, S, ("step_begin", 2), "step_end", ("step_begin", 3), "step_end", P, F]), result.stderr)
        self.assertIn("DynamicProfileNpuShm", block)
        self.assertFalse(os.path.exists(block), "the block is removed with its owner")

    def test_a_launcher_without_a_rank_does_not_attach(self):
        code = "import steplens.torch_npu.profiler.dynamic_profile as d; print(d._is_launcher())"
        with open("torchrun", "w", encoding="utf-8") as file:
            file.write(code)
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(_dynamic_config.__file__)))))
        for environment, expected in (({}, "True"), ({"RANK": "0"}, "False")):
            result = subprocess.run([sys.executable, "torchrun"], env={**os.environ, "PYTHONPATH": package, **environment},
                                    capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(result.stdout.strip(), expected, result.stderr)

    def test_daemon_variables_are_answered(self):
        result = self.run_python("import steplens.torch_npu", KINETO_USE_DAEMON="1")
        self.assertIn("deprecated", result.stderr)
        # It is told from a thread, whenever that comes to it: the program sleeps until it is killed.
        with subprocess.Popen([sys.executable, "-c", "import steplens.torch_npu, time; time.sleep(60)"], stderr=subprocess.PIPE, text=True,
                              env=self.with_package({"KINETO_USE_DAEMON": "1"})) as program:
            self.assertTrue(any("does not answer" in line for line in program.stderr))
            program.kill()
        self.assertIn("not a number", self.run_python("import steplens.torch_npu", MSMONITOR_USE_DAEMON="x").stderr)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


if __name__ == "__main__":
    unittest.main()
