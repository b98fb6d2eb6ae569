"""MindSpore: the dynamic monitor. Its file, hot reload, use by step() and as a callback."""

import glob
import json
import os
import time
import unittest
from types import SimpleNamespace
from unittest import mock

from support import FakeCapture, FrontTest
from steplens import _analyse
from steplens._shm import SIZE
from steplens.mindspore.profiler import (AicoreMetrics, DynamicProfilerMonitor, ExportType, HostSystem, ProfilerActivity,
                                         ProfilerLevel, _dynamic_config)

I, S, P, F = "init", "start", "stop", "finalize"
CPU, NPU = ProfilerActivity.CPU, ProfilerActivity.NPU
CONFIG = "conf/profiler_config.json"


class MonitorTest(FrontTest):
    def setUp(self):
        super().setUp()
        self.analysed = []
        patch = mock.patch.object(_analyse, "analyse",
                                  side_effect=lambda *args, wait=True, steps=None: self.analysed.append(wait) or True)
        patch.start()
        self.addCleanup(patch.stop)
        self.monitor = None
        self.addCleanup(self.finish)

    def finish(self):
        with self.said():
            if self.monitor is not None:
                self.monitor._finish()

    def write(self, **values):
        os.makedirs("conf", exist_ok=True)
        with open("conf/new", "w", encoding="utf-8") as file:
            json.dump(values, file)
        os.replace("conf/new", CONFIG)
        self.wait_for_publication()

    def wait_for_publication(self):
        """Until the watcher has seen the file, without a step of the loop."""
        if self.monitor is not None:
            channel = self.monitor._channel
            end = time.monotonic() + 5
            while channel._layout.get(channel._block.memory, channel._seen) is None and time.monotonic() < end:
                time.sleep(0.002)

    def make(self, **values):
        if values:
            self.write(**values)
        self.monitor = DynamicProfilerMonitor("conf", output_path="out")
        return self.monitor

    def folders(self):
        return sorted(os.path.relpath(os.path.dirname(path), "out") for path in glob.glob("out/*/*_ascend_ms"))


class Construction(MonitorTest):
    def test_rank_0_makes_the_default_file(self):
        self.make()
        with open(CONFIG, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(list(json.loads(text).items()), list(_dynamic_config.DEFAULT.items()))
        self.assertTrue(text.startswith('{\n    "start_step": -1'))

    def test_other_ranks_do_not(self):
        with mock.patch.dict(os.environ, {"RANK_ID": "1"}):
            self.make()
        self.assertFalse(os.path.exists(CONFIG))
        self.quiet(self.monitor.step)

    def test_wrong_parameters(self):
        with self.assertRaises(TypeError):
            DynamicProfilerMonitor(5)
        with self.said() as lines:
            self.monitor = DynamicProfilerMonitor("conf", output_path=5, poll_interval=0, something="else")
        self.assertEqual([level for level, _ in lines], ["WARNING", "ERROR"])
        self.assertEqual(self.monitor._output_path, os.path.abspath("dyn_profile_data"))

    def test_the_block_holds_text_and_zeros(self):
        self.make(start_step=2)
        with open(self.monitor._channel._block.path, "rb") as file:
            content = file.read()
        self.assertEqual(len(content), SIZE)
        self.assertEqual(json.loads(content[:content.index(b"\0")]), {"start_step": 2, "is_valid": True})
        self.assertTrue(os.path.basename(self.monitor._channel._block.path).startswith("DynamicProfileShm"))


class Config(FrontTest):
    def parse(self, **values):
        told = []
        return _dynamic_config.parse(values, told.append), told

    def test_the_default_says_nothing(self):
        config, told = self.parse(**_dynamic_config.DEFAULT)
        self.assertEqual((told, config.steps, config.mode_of_step_use), ([], (-1, -1), "no"))

    def test_names_and_numbers(self):
        for given, key, expected in [
                (dict(aic_metrics="Memory"), "aic_metrics", AicoreMetrics.Memory),
                (dict(aic_metrics="None"), "aic_metrics", AicoreMetrics.AiCoreNone),
                (dict(profiler_level="LevelNone"), "profiler_level", ProfilerLevel.LevelNone),
                (dict(profiler_level=-1), "profiler_level", ProfilerLevel.LevelNone),
                (dict(profiler_level=2), "profiler_level", ProfilerLevel.Level2),
                (dict(activities=["NPU"]), "activities", [NPU]), (dict(activities=0), "activities", [CPU, NPU]),
                (dict(activities=1), "activities", [CPU]), (dict(activities=2), "activities", [NPU]),
                (dict(export_type=["db"]), "export_type", [ExportType.Db]),
                (dict(export_type=0), "export_type", [ExportType.Text]),
                (dict(export_type=1), "export_type", [ExportType.Db]), (dict(export_type=9), "export_type", [ExportType.Text]),
                (dict(export_type=2), "export_type", [ExportType.Text, ExportType.Db]),
                (dict(host_sys=["cpu", "mem"]), "host_sys", [HostSystem.CPU, HostSystem.MEM])]:
            config, told = self.parse(**given)
            self.assertEqual((config.parameters[key], told), (expected, []), given)

    def test_numbers_of_metric_groups(self):
        order = ["PipeUtilization", "ArithmeticUtilization", "Memory", "MemoryL0", "MemoryUB", "ResourceConflictRatio",
                 "L2Cache", "MemoryAccess"]
        for number, name in enumerate(order):
            config, told = self.parse(aic_metrics=number)
            self.assertEqual(config.parameters["aic_metrics"], AicoreMetrics[name])
            self.assertIn("deprecated", told[0])
        self.assertEqual(self.parse(aicore_metrics=2)[0].parameters["aic_metrics"], AicoreMetrics.Memory)

    def test_wrong_values_warn_and_are_replaced(self):
        for given, key, expected in [
                (dict(aic_metrics="Nothing"), "aic_metrics", AicoreMetrics.AiCoreNone),
                (dict(aic_metrics=[]), "aic_metrics", AicoreMetrics.AiCoreNone),
                (dict(profiler_level="level1"), "profiler_level", ProfilerLevel.Level0),
                (dict(profiler_level=3), "profiler_level", ProfilerLevel.Level0),
                (dict(profiler_level=True), "profiler_level", ProfilerLevel.Level0),
                (dict(activities=["CPU", "x"]), "activities", [CPU, NPU]), (dict(activities=3), "activities", [CPU, NPU]),
                (dict(activities="CPU"), "activities", [CPU, NPU]), (dict(activities=[]), "activities", [CPU, NPU]), (dict(export_type=["x"]), "export_type", [ExportType.Text]),
                (dict(export_type="db"), "export_type", [ExportType.Text]), (dict(host_sys=["cpu", "x"]), "host_sys", []),
                (dict(host_sys=1), "host_sys", []), (dict(mstx_domain_include="a"), "mstx_domain_include", []),
                (dict(data_simplification=0), "data_simplification", True), (dict(with_stack=1), "with_stack", False)]:
            config, told = self.parse(**given)
            self.assertEqual(config.parameters[key], expected, given)
            self.assertEqual(len(told), 1, given)
        for given, attribute, expected in [(dict(start_step="1"), "start_step", -1), (dict(stop_step=True), "stop_step", -1),
                                           (dict(analyse=1), "analyse", False), (dict(analyse_mode=2), "analyse_mode", "no"),
                                           (dict(analyse_mode="0"), "analyse_mode", "no"),
                                           (dict(prof_path=5), "prof_path", "./")]:
            config, told = self.parse(**given)
            self.assertEqual((getattr(config, attribute), len(told)), (expected, 1), given)

    def test_the_mode_says_how_and_analyse_alone_means_at_once(self):
        for analyse, mode, expected in [(False, -1, "no"), (False, 0, "sync"), (False, 1, "async"), (True, 0, "sync"), (True, -1, "sync"),
                                        (True, 1, "async")]:
            self.assertEqual(self.parse(analyse=analyse, analyse_mode=mode)[0].mode_of_step_use, expected)

    def test_the_text_of_a_daemon(self):
        config = _dynamic_config.from_daemon_text(
            "PROFILE_START_STEP=5\nACTIVITIES_ITERATIONS=3\nACTIVITIES_LOG_FILE=/out\nPROFILE_PROFILER_LEVEL=Level_none\n"
            "PROFILE_ACTIVITIES=CPU\nPROFILE_EXPORT_TYPE=Db\nPROFILE_MSPROF_TX=TRUE\nPROFILE_HOST_SYS=cpu,mem\n")
        parsed, told = self.parse(**config)
        self.assertEqual((parsed.steps, parsed.prof_path, told), ((5, 7), "/out", []))
        self.assertEqual(parsed.parameters["profiler_level"], ProfilerLevel.LevelNone)
        self.assertEqual((parsed.parameters["activities"], parsed.parameters["mstx"]), ([CPU], True))
        self.assertFalse(parsed.parameters["data_simplification"])
        self.assertIsNone(_dynamic_config.from_daemon_text("NPU_MONITOR_START=1"))


class StepUse(MonitorTest):
    def steps(self, count):
        """Iterations 0, 1, ...; the list of those that were recorded."""
        recorded = []
        with self.said() as lines:
            for _ in range(count):
                running = self.monitor._profiler is not None
                if running:
                    recorded.append(self.monitor._counter)
                self.monitor.step()
        self.lines = lines
        return recorded

    def test_start_2_stop_5_records_iterations_2_to_5(self):
        self.make(start_step=2, stop_step=5)
        self.assertEqual(self.steps(10), [2, 3, 4, 5])
        self.assertEqual(self.operations, [I, S, P, F])
        self.assertEqual(self.folders(), ["rank0_start2_stop5"])

    def test_two_captures_in_one_job(self):
        self.make(start_step=2, stop_step=5)
        self.steps(7)
        self.write(start_step=8, stop_step=10)
        self.assertEqual(self.steps(6), [8, 9, 10])
        self.assertEqual(self.folders(), ["rank0_start2_stop5", "rank0_start8_stop10"])

    def test_a_late_configuration_still_records_all_its_steps(self):
        self.make()
        self.steps(4)
        self.write(start_step=2, stop_step=5)
        self.assertEqual(self.steps(8), [5, 6, 7, 8])

    def test_too_late_warns_once(self):
        self.make()
        self.steps(9)
        self.write(start_step=2, stop_step=5)
        self.assertEqual(self.steps(3), [])
        self.assertEqual([level for level, _ in self.lines], ["WARNING"])

    def test_start_after_stop_is_an_error(self):
        self.make(start_step=300, stop_step=2)
        self.steps(5)
        self.assertEqual([level for level, _ in self.lines], ["ERROR"])
        self.assertEqual(self.log, [])

    def test_the_default_file_records_nothing(self):
        self.make()
        self.assertEqual((self.steps(5), self.lines), ([], []))

    def test_other_keys_alone_change_nothing(self):
        self.make(start_step=1, stop_step=1)
        self.steps(3)
        self.write(start_step=1, stop_step=1, with_stack=True)
        self.assertEqual(self.steps(3), [])

    def test_prof_path_replaces_the_output(self):
        self.make(start_step=1, stop_step=1, prof_path="elsewhere")
        self.steps(3)
        self.assertEqual(os.listdir("elsewhere"), ["rank0_start1_stop1"])

    def test_the_rank_is_in_the_folder(self):
        self.write(start_step=1, stop_step=1)
        with mock.patch.dict(os.environ, {"RANK_ID": "3"}):
            self.make()
            self.steps(3)
        self.assertEqual(self.folders(), ["rank3_start1_stop1"])

    def test_analysis(self):
        self.make(start_step=1, stop_step=1, analyse=True, analyse_mode=1)
        self.steps(3)
        self.assertEqual(self.analysed, [False])

    def test_a_broken_file_is_told_once_until_it_changes(self):
        self.make()
        self.steps(1)
        with open(CONFIG, "w", encoding="utf-8") as file:
            file.write("{")
        self.wait_for_publication()
        self.steps(3)
        self.assertEqual([level for level, _ in self.lines], ["ERROR"])
        self.write(start_step=-1, stop_step=-1)
        self.steps(2)
        self.assertEqual(self.lines, [])

    def test_steps_have_their_own_numbers(self):
        self.make(start_step=8, stop_step=10)
        self.steps(12)
        self.assertEqual([item[1] for item in self.log if isinstance(item, tuple)], [8, 9, 10])

    def test_late_steps_have_their_own_numbers_too(self):
        self.make()
        self.steps(4)
        self.write(start_step=2, stop_step=5)
        self.assertEqual(self.steps(8), [5, 6, 7, 8])
        self.assertEqual([item[1] for item in self.log if isinstance(item, tuple)], [5, 6, 7, 8])
        self.assertIn("until step 8", " ".join(text for _, text in self.lines))

    def test_parameters_reach_the_capture(self):
        self.make(start_step=1, stop_step=1, with_stack=True, profiler_level="Level1", activities=["CPU"])
        self.steps(2)
        config = FakeCapture.made[0].config
        self.assertEqual((config.with_stack, config.level, config.aic_metrics, config.activities),
                         (True, "1", "PipeUtilization", {"cpu"}))

    def test_a_capture_running_at_exit_is_closed_and_not_analysed(self):
        self.make(start_step=1, stop_step=9, analyse=True)
        self.steps(3)
        self.warns("not analysed", self.monitor._finish)
        self.assertEqual(self.operations, [I, S, P, F])
        self.assertEqual(self.analysed, [])

    def test_progress_lines_have_the_prefix(self):
        self.make(start_step=1, stop_step=1)
        self.steps(3)
        self.assertEqual(len([text for _, text in self.lines if text.startswith("[Dynamic Profiler] ")]), 2)


class CallbackUse(MonitorTest):
    def train(self, first, last):
        recorded = []
        with self.said() as lines:
            for number in range(first, last + 1):
                context = SimpleNamespace(original_args=lambda: SimpleNamespace(cur_step_num=number))
                self.monitor.step_begin(context)
                if self.monitor._profiler is not None:
                    recorded.append(number)
                self.monitor.step_end(context)
        self.errors = [text for level, text in lines if level == "ERROR"]
        return recorded

    def test_from_the_begin_of_start_to_the_end_of_stop(self):
        self.make(start_step=2, stop_step=4, analyse_mode=0)
        self.assertEqual(self.train(1, 6), [2, 3, 4])
        log = self.log
        self.assertEqual([item for item in log if isinstance(item, str) and not item.startswith("step")], [I, S, P, F])
        self.assertEqual([item[1] for item in log if isinstance(item, tuple)], [2, 3, 4])
        self.assertEqual(self.folders(), ["rank0_start2_stop4"])
        self.assertEqual(self.analysed, [True])

    def test_one_configuration_runs_once(self):
        self.make(start_step=2, stop_step=2)
        self.train(1, 3)
        self.write(start_step=2, stop_step=5)
        self.assertEqual((self.train(2, 6), self.analysed), ([], []))

    def test_steps_of_the_past_are_refused(self):
        self.make()
        self.train(1, 5)
        self.write(start_step=3, stop_step=8)
        self.assertEqual(self.train(6, 9), [])
        self.assertEqual(len(self.errors), 1)

    def test_a_new_start_while_recording_is_refused(self):
        self.make(start_step=1, stop_step=4)
        self.train(1, 2)
        self.write(start_step=4, stop_step=6)
        self.assertEqual(self.train(3, 8), [3, 4])
        self.assertEqual(len(self.errors), 1)
        self.assertIn("running", self.errors[0])

    def test_zero_and_minus_one_are_off(self):
        for values in (dict(start_step=0, stop_step=2), dict(start_step=-1, stop_step=-1)):
            self.make(**values)
            self.assertEqual((self.train(1, 4), self.errors), ([], []))
            self.finish()
            self.monitor = None


if __name__ == "__main__":
    unittest.main()
