"""MindSpore: parameters and the rules between them, the life of Profiler and profile, places, the environment variable."""

import gc
import json
import os
import re
import subprocess
import sys
import unittest
from unittest import mock

from support import FakeCapture, FrontTest, silently
from steplens import _analyse, _rank
from steplens._config import Cycle
from steplens.mindspore import profiler
from steplens.mindspore.profiler import (AicoreMetrics, EnvProfiler, ExportType, HostSystem, Profiler, ProfilerActivity,
                                         ProfilerLevel, _environment, _ExperimentalConfig, _output, _path_rules, profile,
                                         schedule, tensor_board_trace_handler, tensorboard_trace_handler)
from steplens.mindspore.profiler._parameters import Parameters

I, W, S, P, F = "init", "warmup", "start", "stop", "finalize"
CPU, NPU = ProfilerActivity.CPU, ProfilerActivity.NPU
LEVEL1 = dict(profiler_level=ProfilerLevel.Level1, aic_metrics=AicoreMetrics.Memory)


class MindSporeTest(FrontTest):
    def setUp(self):
        super().setUp()
        _output._last.set(_output.Place())
        self.analysed = []
        patch = mock.patch.object(_analyse, "analyse", side_effect=self.analyse)
        patch.start()
        self.addCleanup(patch.stop)

    def analyse(self, path, export=None, jobs=None, wait=True, steps=None):
        self.analysed.append((os.path.dirname(path), wait))
        self.steps = steps
        return True

    def plan(self, **parameters):
        return silently(lambda: schedule(**{"wait": 0, "warmup": 1, **parameters}))


class Types(FrontTest):
    FLAGS = ["with_stack", "profile_memory", "data_process", "parallel_strategy", "l2_cache", "hbm_ddr", "pcie", "sys_io",
             "sys_interconnection", "record_shapes", "mstx"]
    # (given, name, what it becomes); each warns with the name
    WRONG = [(dict([(name, value)]), name, False) for name in FLAGS for value in (1, "True", [])]
    WRONG += [(dict([(name, 0)]), name, True) for name in ("start_profile", "sync_enable", "data_simplification")]
    WRONG += [
        (dict(output_path=5), "output_path", "./data"),
        (dict(profiler_level="Level1"), "profiler_level", ProfilerLevel.Level0),
        (dict(activities=CPU), "activities", [CPU, NPU]), (dict(activities=["CPU"]), "activities", [CPU, NPU]),
        (dict(activities=True), "activities", [CPU, NPU]), (dict(activities=[]), "activities", [CPU, NPU]),
        (dict(aic_metrics="Memory"), "aic_metrics", AicoreMetrics.AiCoreNone),
        (dict(host_sys=HostSystem.CPU), "host_sys", []), (dict(host_sys=["cpu"]), "host_sys", []),
        (dict(export_type="json"), "export_type", [ExportType.Text]),
        (dict(export_type=["text"]), "export_type", [ExportType.Text]),
        (dict(export_type=5), "export_type", [ExportType.Text]),
        (dict(mstx=True, mstx_domain_include="a"), "mstx_domain_include", []),
        (dict(mstx=True, mstx_domain_include=["a", ""]), "mstx_domain_include", []),
        (dict(mstx=True, mstx_domain_exclude=["a", 5]), "mstx_domain_exclude", []),
        (dict(on_trace_ready=5), "on_trace_ready", None),
    ]
    RIGHT = [
        (dict(), "activities", [CPU, NPU]), (dict(activities=[CPU, CPU]), "activities", [CPU]),
        (dict(activities=None), "activities", [CPU, NPU]), (dict(host_sys=[]), "host_sys", []),
        (dict(host_sys=[HostSystem.MEM, HostSystem.MEM]), "host_sys", [HostSystem.MEM]),
        (dict(export_type="db"), "export_type", [ExportType.Db]),
        (dict(export_type=ExportType.Db), "export_type", [ExportType.Db]),
        (dict(export_type=[]), "export_type", [ExportType.Text]), (dict(export_type=0), "export_type", [ExportType.Text]),
        (dict(host_sys=0), "host_sys", []), (dict(mstx=True, mstx_domain_include=False), "mstx_domain_include", []),
        (dict(export_type=[ExportType.Db, ExportType.Text]), "export_type", [ExportType.Db, ExportType.Text]),
        (dict(mstx=True, mstx_domain_include=["a", "a"]), "mstx_domain_include", ["a"]),
        (dict(something_unknown=1), "mstx", False), (dict(LEVEL1), "aic_metrics", AicoreMetrics.Memory),
        (dict(LEVEL1, aic_metrics=None, aicore_metrics=3), "aic_metrics", AicoreMetrics.MemoryL0),
        (dict(aicore_metrics=-1), "aic_metrics", AicoreMetrics.AiCoreNone),
    ]

    def test_wrong_values_warn_and_are_replaced(self):
        for given, name, expected in self.WRONG:
            parameters = self.warns(name, lambda: Parameters(given))
            self.assertEqual(getattr(parameters, name), expected, given)

    def test_right_values_say_nothing(self):
        for given, name, expected in self.RIGHT:
            parameters = self.quiet(lambda: Parameters(given))
            self.assertEqual(getattr(parameters, name), expected, given)

    def test_a_schedule_that_is_none_warns_and_counts_as_not_set(self):
        parameters = self.warns("schedule", lambda: Parameters({"schedule": lambda step: 0}))
        self.assertFalse(parameters.is_set_schedule)
        self.assertEqual(parameters.schedule.to_dict(), {"wait": 0, "active": 1, "warmup": 0, "repeat": 0, "skip_first": 0})

    def test_deprecated_keywords_warn(self):
        for name in ("profile_communication", "op_time", "profile_framework", "host_stack", "timeline_limit"):
            self.warns(name, lambda: Parameters({name: True}))
        config = self.warns("use profile_memory", lambda: Parameters({"hbm_ddr": True})).config()
        self.assertEqual((config.hardware_memory, config.profile_memory), (True, False))
        self.warns("use sys_interconnection", lambda: Parameters({"pcie": True}))


class Rules(FrontTest):
    def test_each_warns_and_rewrites(self):
        plan = silently(lambda: schedule(wait=0, active=1))
        for given, warning, name, expected in [
                (dict(schedule=plan, data_process=True), "data_process", "data_process", False),
                (dict(profiler_level=ProfilerLevel.LevelNone), "set to Level0", "profiler_level", ProfilerLevel.Level0),
                (dict(aic_metrics=AicoreMetrics.Memory), "aic_metrics needs", "aic_metrics", AicoreMetrics.AiCoreNone),
                (dict(profiler_level=ProfilerLevel.LevelNone, mstx=True, aic_metrics=AicoreMetrics.Memory), "aic_metrics needs",
                 "aic_metrics", AicoreMetrics.AiCoreNone),
                (dict(profiler_level=ProfilerLevel.Level1), "PipeUtilization", "aic_metrics", AicoreMetrics.PipeUtilization),
                (dict(profiler_level=ProfilerLevel.Level2), "PipeUtilization", "aic_metrics", AicoreMetrics.PipeUtilization),
                (dict(activities=[NPU], record_shapes=True), "record_shapes", "record_shapes", False),
                (dict(mstx_domain_include=["a"]), "without mstx", "mstx_domain_include", []),
                (dict(mstx_domain_exclude=["a"]), "without mstx", "mstx_domain_exclude", []),
                (dict(mstx=True, mstx_domain_include=["a"], mstx_domain_exclude=["b"]), "both given", "mstx_domain_exclude", [])]:
            parameters = self.warns(warning, lambda: Parameters(given))
            self.assertEqual(getattr(parameters, name), expected, given)

    def test_a_level_reset_by_one_rule_is_seen_by_the_next(self):
        with self.said() as lines:
            Parameters(dict(profiler_level=ProfilerLevel.LevelNone, aic_metrics=AicoreMetrics.Memory))
        self.assertEqual(len(lines), 2)

    def test_what_reaches_the_internal_record(self):
        plan = silently(lambda: schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=2))
        config = self.quiet(lambda: Parameters(dict(
            LEVEL1, activities=[CPU], with_stack=True, profile_memory=True, l2_cache=True, mstx=True, mstx_domain_exclude=["x"],
            host_sys=[HostSystem.DISK], export_type=[ExportType.Db], schedule=plan, record_shapes=True, sys_io=True,
            data_simplification=False, parallel_strategy=True))).config()
        self.assertEqual((config.framework, config.level, config.aic_metrics, config.activities),
                         ("mindspore", "1", "Memory", {"cpu"}))
        self.assertEqual(config.schedule, Cycle(wait=1, warmup=1, active=2, repeat=1, skip_first=2))
        self.assertEqual((config.host_sys, config.export, config.mstx_exclude), (["disk"], ["db"], ["x"]))
        for name in ("with_stack", "profile_memory", "l2_cache", "mstx", "record_shapes", "sys_io", "parallel_strategy"):
            self.assertTrue(getattr(config, name), name)
        self.assertFalse(config.data_simplification)

    def test_profiler_info(self):
        info = Parameters({}).info("3")
        self.assertEqual(list(info), ["profiler_parameters", "ms_profiler_info", "cann_profiler_info", "analysis_cost_time",
                                      "ms_version", "cann_version", "jit_level"])
        self.assertEqual(info["ms_profiler_info"], {"rank_id": "3", "device_id": "0"})
        parameters = info["profiler_parameters"]
        self.assertEqual(parameters["aic_metrics"], "None")
        self.assertEqual(parameters["activities"], ["CPU", "NPU"])
        self.assertEqual(parameters["schedule"]["active"], 1)
        self.assertIs(parameters["is_set_schedule"], False)
        self.assertNotIn("on_trace_ready", parameters)
        json.dumps(info)

    def test_the_device_is_the_contexts_or_the_launchers(self):
        def device():
            return Parameters({}).info("0")["ms_profiler_info"]["device_id"]

        with mock.patch.dict(os.environ, {"DEVICE_ID": "3"}):
            self.assertEqual(device(), "3")
            with mock.patch.dict(os.environ, {"OMPI_COMM_WORLD_LOCAL_RANK": "4"}):
                self.assertEqual(device(), "4")
            with mock.patch.dict(os.environ, {"LOCAL_RANK": "2"}):
                self.assertEqual(device(), "2")
                with mock.patch.dict(sys.modules, {"mindspore": mock.Mock(get_context=lambda key: {"device_id": 5}[key])}):
                    self.assertEqual(device(), "5")
        with mock.patch.dict(os.environ, {"DEVICE_ID": "x"}):
            self.assertEqual(device(), "0")

    def test_the_rank_is_that_of_the_group_or_the_launchers(self):
        for variables, rank in (({}, "0"), ({"RANK": "2"}, "2"), ({"RANK": "2", "RANK_ID": "3"}, "3"), ({"RANK_ID": "x"}, "0"),
                                ({"OMPI_COMM_WORLD_RANK": "4"}, "4")):
            with mock.patch.dict(os.environ, variables):
                self.assertEqual(_rank.mindspore_rank(), rank)
                with mock.patch.object(_rank, "distributed_rank", return_value=1):
                    self.assertEqual(_rank.mindspore_rank(), "1")

    def test_the_cann_version_is_read_from_its_file(self):
        with open("ascend_toolkit_install.info", "w", encoding="utf-8") as file:
            file.write("package_name=x\nversion=8.0.1\n")
        with mock.patch.dict(os.environ, {"ASCEND_HOME_PATH": self.folder}):
            self.assertEqual(Parameters({}).info("0")["cann_version"], "8.0.1")
        self.assertEqual(Parameters({}).info("0")["cann_version"], "not known")


class Life(MindSporeTest):
    def test_it_starts_at_once_and_analyse_ends_it(self):
        prof = self.quiet(Profiler)
        self.assertEqual(self.log, [I, S])
        self.quiet(prof.analyse)
        self.assertEqual(self.log, [P, F])
        self.assertEqual(self.analysed, [(os.path.abspath("data"), True)])

    def test_the_callback_way_start_stop_analyse(self):
        prof = Profiler(start_profile=False, output_path="out")
        self.assertEqual(self.log, [])
        for _ in range(2):
            prof.start()
            prof.stop()
            prof.analyse(mode="async")
        self.assertEqual(self.log, [I, S, P, F] * 2)
        self.assertEqual(self.analysed, [(os.path.abspath("out"), False)] * 2)

    def test_a_schedule_steps_and_calls_the_handler(self):
        with self.said() as lines:
            prof = Profiler(schedule=self.plan(active=2, repeat=1, skip_first=1), on_trace_ready=tensorboard_trace_handler("out"))
            for _ in range(6):
                prof.step()
            prof.stop()
        self.assertEqual(lines, [])
        self.assertEqual(self.log, [I, W, ("step_begin", 1), "step_end", S, ("step_begin", 2), "step_end", ("step_begin", 3),
                                    "step_end", P, F])
        self.assertEqual(self.analysed, [(os.path.realpath("out"), True)])

    def test_each_repeat_has_its_folder(self):
        with Profiler(schedule=self.plan(active=1, repeat=2), on_trace_ready=tensorboard_trace_handler("out")) as prof:
            for _ in range(4):
                prof.step()
        self.assertEqual(len(os.listdir("out")), 2)

    def test_a_second_start_is_refused(self):
        prof = Profiler()
        self.warns("second start is refused", prof.start)
        self.warns("is refused", Profiler)
        prof.stop()
        self.assertEqual(self.log, [I, S, P, F])

    def test_misuse_is_told(self):
        prof = Profiler(start_profile=False)
        planned = Profiler(start_profile=False, schedule=self.plan(active=1))
        for call, level, part in [(prof.step, "ERROR", "no schedule"), (prof.stop, "ERROR", "not started"),
                                  (planned.step, "ERROR", "not started"), (planned.stop, "WARNING", "please use step()"),
                                  (planned.analyse, "WARNING", "on_trace_ready"),
                                  (prof.analyse, "ERROR", "Nothing was recorded")]:
            with self.said() as lines:
                call()
            self.assertEqual([entry[0] for entry in lines], [level])
            self.assertIn(part, lines[0][1])
        self.assertEqual(self.log, [])

    def test_a_capture_that_could_not_start_is_not_analysed(self):
        FakeCapture.fails = {I}
        with self.said() as lines:
            Profiler().analyse()
        self.assertEqual([text for _, text in lines][-1:], ["Nothing was recorded; there is nothing to analyse."])

    def test_stop_with_a_schedule_and_no_step_does_nothing(self):
        prof = Profiler(schedule=self.plan(active=1))
        self.warns("has schedule, please use step()", prof.stop)
        self.assertEqual(self.operations, [I, W])
        prof.step()
        with self.said():
            prof.stop()

    def test_a_capture_stopped_in_its_warm_up_stays(self):
        prof = Profiler(schedule=self.plan(active=1, wait=1), output_path="out")
        prof.step()
        self.warns("state is WARMUP", prof.stop)
        self.assertEqual(self.operations, [I, W, F])
        self.assertEqual(len(os.listdir("out")), 1)

    def test_analyse_stops_a_schedule_that_runs(self):
        prof = silently(lambda: Profiler(schedule=self.plan(warmup=0, active=3)))
        prof.step()
        self.log
        self.warns("on_trace_ready", prof.analyse)
        self.assertEqual(self.operations, [P, F])
        self.assertFalse(prof._machine.started)
        self.assertEqual(self.analysed, [])

    def test_analyse_checks_its_parameters(self):
        prof = Profiler()
        prof.stop()
        for given, part in [(dict(mode="later"), "mode"), (dict(mode=5), "mode"), (dict(pretty=1), "pretty"),
                            (dict(offline_path="x"), "offline_path")]:
            self.warns(part, lambda: prof.analyse(**given))
        self.assertTrue(all(wait for _, wait in self.analysed))

    def test_analyse_takes_chosen_steps(self):
        prof = Profiler()
        prof.stop()
        for given, taken in (([3, 2], [2, 3]), (None, None)):
            self.quiet(lambda: prof.analyse(step_list=given))
            self.assertEqual(self.steps, taken)

    def test_the_context_manager_starts_and_stops(self):
        with Profiler(start_profile=False):
            self.assertEqual(self.log, [I, S])
        self.assertEqual(self.log, [P, F])

    def test_an_object_that_dies_while_recording_is_stopped_with_a_warning(self):
        prof = Profiler()

        def die():
            nonlocal prof
            del prof

        self.warns("end of the object", die)
        self.assertEqual(self.log, [I, S, P, F])

    def test_an_object_in_a_cycle_is_stopped_by_the_garbage_collector(self):
        prof = Profiler()
        prof.add_metadata("a", "b")
        prof.itself = prof
        del prof
        self.warns("end of the object", gc.collect)
        self.assertEqual(self.log, [I, S, P, F])
        self.assertEqual(FakeCapture.made[0].metadata, {"a": "b"})

    def test_metadata(self):
        prof = Profiler()
        prof.add_metadata("a", "x" * 5000)
        prof.add_metadata_json("b", "[1]")
        self.warns("must be str", lambda: prof.add_metadata("c", 1))
        self.warns("not JSON", lambda: prof.add_metadata_json("c", "{"))
        self.warns("replaced", lambda: prof.add_metadata("a", "y"))
        prof.stop()
        self.assertEqual(FakeCapture.made[0].metadata, {"a": "y", "b": [1]})

    def test_rank_and_name(self):
        with mock.patch.dict(os.environ, {"RANK_ID": "5"}):
            Profiler(output_path="out").stop()
        capture = FakeCapture.made[0]
        self.assertEqual((capture.config.rank, capture.config.info["ms_profiler_info"]["rank_id"]), (5, "5"))
        self.assertRegex(os.path.basename(capture.directory), rf"^.+_{os.getpid()}_20\d{{15}}_ascend_ms$")

    def test_under_the_command_line_profiler_nothing_happens(self):
        with mock.patch.dict(os.environ, {"PROFILING_MODE": "dynamic"}), self.said() as lines:
            prof = Profiler()
            prof.step()
            prof.stop()
        self.assertEqual((len(lines), self.log), (1, []))


class Handlers(MindSporeTest):
    def run_with(self, **given):
        prof = Profiler(schedule=self.plan(active=1, repeat=1), **given)
        for _ in range(3):
            prof.step()
        prof.stop()
        return os.path.dirname(prof._machine.directory)

    def test_the_older_name_and_the_older_way(self):
        self.assertIs(tensor_board_trace_handler, tensorboard_trace_handler)
        self.assertEqual(self.run_with(on_trace_ready=tensor_board_trace_handler, output_path="out"), os.path.abspath("out"))
        self.assertEqual(self.analysed, [(os.path.abspath("out"), True)])

    def test_the_folder_of_the_handler_wins_with_a_warning(self):
        handler = tensorboard_trace_handler("theirs", worker_name="w")
        got = self.warns("the latter is used", lambda: self.run_with(on_trace_ready=handler, output_path="mine"))
        self.assertEqual(got, os.path.realpath("theirs"))
        self.assertTrue(os.listdir("theirs")[0].startswith("w_"))

    def test_two_handlers_never_share_a_folder(self):
        first, second = tensorboard_trace_handler("first", analyse_flag=False), tensorboard_trace_handler("second", analyse_flag=False)
        for wrap in (lambda handler: handler, lambda handler: lambda prof: handler(prof)):
            for handler, folder in ((second, "second"), (first, "first")):
                self.assertEqual(self.run_with(on_trace_ready=wrap(handler)), os.path.realpath(folder))

    def test_flags(self):
        self.run_with(on_trace_ready=tensorboard_trace_handler("a", analyse_flag=False))
        self.assertEqual(self.analysed, [])
        self.run_with(on_trace_ready=tensorboard_trace_handler("a", async_mode=True))
        self.assertEqual(self.analysed, [(os.path.realpath("a"), False)])
        self.assertEqual(self.warns("analyse_flag", lambda: tensorboard_trace_handler("a", analyse_flag=1)).mode, "sync")
        self.assertEqual(self.warns("async_mode", lambda: tensorboard_trace_handler("a", async_mode=1)).mode, "sync")

    def test_wrong_names_warn_and_wrong_paths_raise(self):
        self.assertIsNone(self.warns("dir_name", lambda: tensorboard_trace_handler(5)).place.directory)
        self.assertIsNone(self.warns("worker_name", lambda: tensorboard_trace_handler("a", "x" * 226)).place.worker)
        with self.assertRaises(_path_rules.ProfilerPathError):
            tensorboard_trace_handler("a|b")

    def test_profile_calls_its_handler_without_a_schedule_too(self):
        config = _ExperimentalConfig(export_type=[ExportType.Db])
        with profile(on_trace_ready=tensorboard_trace_handler("out"), experimental_config=config) as prof:
            prof.add_metadata("a", "b")
        self.assertEqual(self.log, [I, S, P, F])
        self.assertEqual(self.analysed, [(os.path.realpath("out"), True)])
        self.assertEqual(FakeCapture.made[0].config.export, ["db"])

    def test_profile_with_a_wrong_experimental_config_warns(self):
        self.warns("experimental_config", lambda: profile(experimental_config={}, start_profile=False))

    def test_profile_steps(self):
        with profile(schedule=self.plan(active=1, repeat=1), on_trace_ready=tensorboard_trace_handler("out")) as prof:
            for _ in range(3):
                prof.step()
        self.assertEqual(self.operations, [I, W, S, P, F])


class Paths(FrontTest):
    def test_what_is_refused(self):
        open("file", "w", encoding="utf-8").close()
        os.symlink(".", "link")
        for path in ("x" * 256, "a/" * 2048 + "a", "link", "a|b", "a;b", "file"):
            with self.assertRaisesRegex(RuntimeError, "Path error"):
                Profiler(output_path=path, start_profile=False)
        silently(lambda: Profiler(output_path="good path/中文", start_profile=False))

    def test_codes(self):
        self.assertEqual(_path_rules.error_code(0x81), "50546081")
        with self.assertRaisesRegex(RuntimeError, "50546081"):
            Profiler(output_path="a|b", start_profile=False)
        kinds = {kind.__name__: kind("x").error_code[-3:] for kind in (
            _path_rules.ProfilerParamValueError, _path_rules.ProfilerParamTypeError, _path_rules.ProfilerDirNotFoundError,
            _path_rules.ProfilerFileNotFoundError, _path_rules.ProfilerIoError, _path_rules.ProfilerRawFileError)}
        self.assertEqual(list(kinds.values()), ["080", "082", "083", "084", "085", "101"])

    def test_input_files(self):
        open("file", "w", encoding="utf-8").close()
        os.chmod("file", 0o640)
        _path_rules.check_input_file("file")
        os.chmod("file", 0o662)
        for path in ("file", "nowhere", ".", "/dev/null"):
            with self.assertRaises(_path_rules.ProfilerPathError):
                _path_rules.check_input_file(path)


class Environment(MindSporeTest):
    def setUp(self):
        super().setUp()
        patch = mock.patch.object(_environment, "_load_framework")  # takes seconds
        patch.start()
        self.addCleanup(patch.stop)

    def options(self, text):
        with mock.patch.dict(os.environ, {"MS_PROFILER_OPTIONS": text}):
            return _environment.read_options()

    def test_text_that_is_no_object_is_an_error(self):
        for text in ("{", "{}", "[1]", "5", "null"):
            with self.said() as lines:
                self.assertEqual(self.options(text), {})
            self.assertEqual(lines, [("ERROR", "Failed to load MS_PROFILER_OPTIONS, json decode error.")])
        self.assertEqual(self.quiet(lambda: self.options("")), {})

    def test_values_are_converted(self):
        got = self.quiet(lambda: self.options(json.dumps(
            {"start": True, "activities": ["CPU"], "host_sys": ["cpu", "mem"], "aic_metrics": "PipeUtilization",
             "profiler_level": "Level1", "export_type": ["text", "db"], "with_stack": True, "aicore_metrics": 3,
             "schedule": {}, "on_trace_ready": 1, "unknown": 1})))
        self.assertEqual(got, {"start": True, "activities": [CPU], "host_sys": [HostSystem.CPU, HostSystem.MEM],
                               "aic_metrics": AicoreMetrics.PipeUtilization, "profiler_level": ProfilerLevel.Level1,
                               "export_type": [ExportType.Text, ExportType.Db], "with_stack": True})

    def test_wrong_values_warn_and_are_replaced(self):
        for given, key, expected in [
                ({"activities": ["CPU", "TPU"]}, "activities", [CPU, NPU]), ({"host_sys": ["x"]}, "host_sys", []),
                ({"aic_metrics": "AiCoreNone"}, "aic_metrics", AicoreMetrics.AiCoreNone),
                ({"aic_metrics": 1}, "aic_metrics", AicoreMetrics.AiCoreNone),
                ({"profiler_level": 1}, "profiler_level", ProfilerLevel.Level0),
                ({"export_type": "json"}, "export_type", [ExportType.Text]),
                ({"export_type": ["x"]}, "export_type", [ExportType.Text]),
                ({"export_type": 5}, "export_type", [ExportType.Text])]:
            self.assertEqual(self.warns(key, lambda: self.options(json.dumps(given)))[key], expected, given)
        self.assertEqual(self.quiet(lambda: self.options('{"aic_metrics": "None"}'))["aic_metrics"], AicoreMetrics.AiCoreNone)
        self.assertEqual(self.quiet(lambda: self.options('{"export_type": "db"}'))["export_type"], [ExportType.Db])

    def start(self, **options):
        with mock.patch.dict(os.environ, {"MS_PROFILER_OPTIONS": json.dumps(options)}):
            EnvProfiler().init()
        self.addCleanup(EnvProfiler.finish)

    def test_start_decides_and_start_profile_overrides(self):
        for options, starts in [(dict(with_stack=True), False), (dict(start=False), False), (dict(start=1), False),
                                (dict(start=True, start_profile=False), False), (dict(start=False, start_profile=True), True),
                                (dict(start=True), True)]:
            self.start(**options)
            self.assertEqual(self.operations, [I, S] if starts else [], options)
            with self.said():
                EnvProfiler.finish()
            self.log

    def test_a_start_that_is_no_bool_warns_and_does_not_start(self):
        with self.said() as lines, mock.patch.dict(os.environ, {"MS_PROFILER_OPTIONS": '{"start": 1}'}):
            EnvProfiler().init()
        self.assertEqual([text for _, text in lines], ["MS_PROFILER_OPTIONS: start is 1, which is not a bool; it is set to False."])
        self.assertEqual(self.log, [])

    def test_a_wrong_list_is_told_in_the_words_of_the_file(self):
        with self.said() as lines:
            Parameters({"activities": "CPU"})
        self.assertEqual([text.split("; ")[1] for _, text in lines], ["it is set to ['CPU', 'NPU']."])

    def test_a_start_profile_that_is_no_bool_warns_and_starts(self):
        self.warns("start_profile", lambda: self.start(start=False, start_profile="x"))
        self.assertEqual(self.operations, [I, S])

    def test_it_is_analysed_at_the_end(self):
        self.start(start=True, output_path="out")
        EnvProfiler.finish()
        self.assertEqual(self.log, [I, S, P, F])
        self.assertEqual(self.analysed, [(os.path.abspath("out"), True)])

    def test_a_bad_path_is_an_error_and_not_an_exception(self):
        with self.said() as lines:
            self.start(start=True, output_path="a|b")
        self.assertEqual([level for level, _ in lines], ["ERROR"])

    def test_an_explicit_profiler_takes_over(self):
        self.start(start=True)
        with self.said():
            Profiler().stop()
            EnvProfiler.finish()
        self.assertEqual(self.log, [I, S, P, F, I, S, P, F])

    def test_a_whole_program(self):
        code = ("import support; from steplens import _machine, _analyse; _machine.new_capture = support.FakeCapture;"
                "_analyse.analyse = lambda path, *args, **kwargs: print('analysed', path) or True;"
                "import sys; sys.modules['torch'] = None;"
                "import steplens.mindspore; print(support.FakeCapture.log)")
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(profiler.__file__)))))
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "PYTHONPATH": package + os.pathsep + os.path.dirname(os.path.abspath(__file__)),
                 "MS_PROFILER_OPTIONS": '{"start": true, "output_path": "./prof"}'})
        self.assertEqual(result.stderr, "")
        self.assertTrue(re.fullmatch(r"\['init', 'start'\]\nanalysed .*/prof/.*_ascend_ms\n", result.stdout), result.stdout)


if __name__ == "__main__":
    unittest.main()
