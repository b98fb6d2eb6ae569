"""torch_npu: the checks of every parameter, row by row, and what becomes of them."""

import unittest

from support import FrontTest, silently
from steplens._config import Config, Cycle
from steplens.torch_npu import profiler
from steplens.torch_npu.profiler import (AiCMetrics, ExportType, HostSystem, ProfilerActivity, ProfilerLevel,
                                         _ExperimentalConfig)

NAN = float("nan")
L1 = dict(profiler_level="Level1")


class Constants(FrontTest):
    def test_values(self):
        self.assertEqual([member.value for member in profiler.ProfilerAction], [0, 1, 2, 3])
        self.assertEqual(str(ProfilerActivity.CPU), "ProfilerActivity.CPU")
        self.assertEqual((ProfilerActivity.CPU.value, ProfilerActivity.NPU.value), (1, 2))
        self.assertEqual(AiCMetrics.MemoryL0, "ACL_AICORE_L0B_AND_WIDTH")
        self.assertEqual(AiCMetrics.Memory, "ACL_AICORE_MEMORY_BANDWIDTH")
        self.assertEqual(HostSystem.NUMA, "numa")

    def test_supported(self):
        self.assertEqual(profiler.supported_activities(), {ProfilerActivity.CPU, ProfilerActivity.NPU})
        self.assertEqual(profiler.supported_profiler_level(), {"Level0", "Level1", "Level2", "Level_none"})
        self.assertEqual(len(profiler.supported_ai_core_metrics()), 9)
        self.assertEqual(profiler.supported_export_type(), {"db", "text"})


class Experimental(FrontTest):
    # (given, a part of the warning, attribute, what it becomes)
    WRONG = [
        (dict(profiler_level="Level3"), "profiler_level", "_profiler_level", "Level0"),
        (dict(profiler_level=None), "profiler_level", "_profiler_level", "Level0"),
        (dict(profiler_level=["Level1"]), "profiler_level", "_profiler_level", "Level0"),
        (dict(aic_metrics=AiCMetrics.Memory), "aic_metrics needs", "_aic_metrics", AiCMetrics.AiCoreNone),
        (dict(profiler_level="Level_none", mstx=True, aic_metrics="x"), "aic_metrics needs", "_aic_metrics",
         AiCMetrics.AiCoreNone),
        (dict(L1, aic_metrics="nonsense"), "aic_metrics", "_aic_metrics", AiCMetrics.PipeUtilization),
        (dict(L1, aic_metrics=None), "aic_metrics", "_aic_metrics", AiCMetrics.PipeUtilization),
        (dict(profiler_level="Level9", aic_metrics="nonsense"), "aic_metrics", "_aic_metrics", AiCMetrics.AiCoreNone),
        (dict(l2_cache=1), "l2_cache", "_l2_cache", False),
        (dict(msprof_tx="yes"), "msprof_tx", "_msprof_tx", False),
        (dict(msprof_tx=True), "deprecated", "_msprof_tx", True),
        (dict(mstx=1), "mstx", "_mstx", False),
        (dict(profiler_level="Level_none"), "mstx is set to True", "_mstx", True),
        (dict(data_simplification=0), "data_simplification", "_data_simplification", True),
        (dict(record_op_args="a"), "record_op_args", "record_op_args", False),
        (dict(op_attr=1), "op_attr", "_op_attr", False),
        (dict(op_attr=True), "export type db", "_op_attr", False),
        (dict(gc_detect_threshold=-1), "gc_detect_threshold", "_gc_detect_threshold", None),
        (dict(gc_detect_threshold="1"), "gc_detect_threshold", "_gc_detect_threshold", None),
        (dict(gc_detect_threshold=NAN), "gc_detect_threshold", "_gc_detect_threshold", None),
        (dict(gc_detect_threshold=True), "gc_detect_threshold", "_gc_detect_threshold", None),
        (dict(export_type="json"), "export_type", "_export_type", ["text"]),
        (dict(export_type=[]), "export_type", "_export_type", ["text"]),
        (dict(export_type=None), "export_type", "_export_type", ["text"]),
        (dict(export_type=["db", "x"]), "export_type", "_export_type", ["text"]),
        (dict(export_type=[["db"]]), "export_type", "_export_type", ["text"]),
        (dict(export_type=("db",)), "export_type", "_export_type", ["text"]),
        (dict(host_sys="cpu"), "host_sys", "_host_sys", []),
        (dict(host_sys=["cpu", "gpu"]), "host_sys", "_host_sys", []),
        (dict(host_sys=[["cpu"]]), "host_sys", "_host_sys", []),
        (dict(mstx_domain_include=["a"]), "mstx_domain_include", "_mstx_domain_include", []),
        (dict(mstx_domain_exclude=["a"]), "mstx_domain_exclude", "_mstx_domain_exclude", []),
        (dict(mstx=True, mstx_domain_include="a"), "mstx_domain_include", "_mstx_domain_include", []),
        (dict(mstx=True, mstx_domain_include=["a", 1]), "mstx_domain_include", "_mstx_domain_include", []),
        (dict(mstx=True, mstx_domain_include=["a"], mstx_domain_exclude=["b"]), "both given", "_mstx_domain_exclude", []),
        (dict(sys_io=1), "sys_io", "_sys_io", False),
        (dict(of_a_later_version=1), "of_a_later_version", "_sys_io", False),
        (dict(sys_interconnection="x"), "sys_interconnection", "_sys_interconnection", False),
    ]
    # (given, attribute, value)
    RIGHT = [
        (dict(), "_aic_metrics", AiCMetrics.AiCoreNone),
        (dict(), "_export_type", ["text"]),
        (dict(), "_host_sys", []),
        (dict(profiler_level=ProfilerLevel.Level1), "_aic_metrics", AiCMetrics.PipeUtilization),
        (dict(profiler_level="Level2", aic_metrics=AiCMetrics.MemoryUB), "_aic_metrics", AiCMetrics.MemoryUB),
        (dict(L1, aic_metrics=AiCMetrics.AiCoreNone), "_aic_metrics", AiCMetrics.AiCoreNone),
        (dict(export_type=ExportType.Db), "_export_type", ["db"]),
        (dict(export_type=["db", "text", "db"]), "_export_type", ["db", "text"]),
        (dict(export_type="db", op_attr=True), "_op_attr", True),
        (dict(data_simplification=None), "_data_simplification", None),
        (dict(gc_detect_threshold=1.5), "_gc_detect_threshold", 1.5),
        (dict(host_sys=["cpu", "mem", "cpu"]), "_host_sys", ["cpu", "mem"]),
        (dict(mstx=True, mstx_domain_include=["a", "a"]), "_mstx_domain_include", ["a"]),
        (dict(profiler_level="Level_none", mstx=True), "_mstx", True),
    ]

    def test_wrong_values_warn_and_are_replaced(self):
        for given, warning, name, expected in self.WRONG:
            config = self.warns(warning, lambda: _ExperimentalConfig(**given))
            self.assertEqual(getattr(config, name), expected, given)

    def test_right_values_say_nothing(self):
        for given, name, expected in self.RIGHT:
            config = self.quiet(lambda: _ExperimentalConfig(**given))
            self.assertEqual(getattr(config, name), expected, given)

    def test_a_gc_threshold_of_zero_is_told(self):
        with self.said() as lines:
            self.assertEqual(_ExperimentalConfig(gc_detect_threshold=0)._gc_detect_threshold, 0)
        self.assertEqual([level for level, _ in lines], ["INFO"])

    def test_checks_run_in_their_order(self):
        with self.said() as lines:
            _ExperimentalConfig("Level0", "bad", 1, 1, 1, 1, 1, 1, "x", "x", "x", ["d"], ["e"], 1, 1)
        names = ["aic_metrics", "l2_cache", "msprof_tx", "Parameter mstx ", "data_simplification", "record_op_args", "op_attr",
                 "export_type", "gc_detect_threshold", "sys_io", "sys_interconnection", "mstx_domain_include",
                 "mstx_domain_exclude", "host_sys"]
        self.assertEqual(len(lines), len(names), lines)
        for name, (_, text) in zip(names, lines):
            self.assertIn(name, text)

    def test_profiler_info_has_the_keys_in_constructor_order(self):
        self.assertEqual(list(_ExperimentalConfig()()), [
            "_profiler_level", "_aic_metrics", "_l2_cache", "_msprof_tx", "_mstx", "_data_simplification", "record_op_args",
            "_op_attr", "_gc_detect_threshold", "_export_type", "_host_sys", "_mstx_domain_include", "_mstx_domain_exclude",
            "_sys_io", "_sys_interconnection"])


class ProfileParameters(FrontTest):
    def config(self, **given):
        return profiler.profile(**given)._config

    def test_wrong_values_warn_and_are_replaced(self):
        both = {"cpu", "npu"}
        for given, warning, name, expected in [
                (dict(activities=["CPU"]), "activities", "activities", both),
                (dict(activities=5), "activities", "activities", both),
                (dict(activities=[]), "one or more", "activities", both),
                (dict(activities=[ProfilerActivity.CPU, 3]), "activities", "activities", both),
                (dict(schedule=3), "schedule", "schedule", None),
                (dict(on_trace_ready="x"), "on_trace_ready", "analyse", "no"),
                (dict(record_shapes=1), "record_shapes", "record_shapes", False),
                (dict(profile_memory="a"), "profile_memory", "profile_memory", False),
                (dict(with_stack=None), "with_stack", "with_stack", False),
                (dict(with_modules=[]), "with_modules", "with_modules", False),
                (dict(with_flops=0), "with_flops", "with_flops", False),
                (dict(experimental_config={}), "experimental_config", "level", "0"),
                (dict(use_cuda=False), "use_cuda", "level", "0"),
                (dict(activities=[ProfilerActivity.CPU], experimental_config=_ExperimentalConfig()),
                 "Experimental config will not be used", "activities", {"cpu"}),
                (dict(activities=[ProfilerActivity.NPU], experimental_config=_ExperimentalConfig(gc_detect_threshold=1)),
                 "GC detect", "gc_detect_threshold", None)]:
            config = self.warns(warning, lambda: self.config(**given))
            self.assertEqual(getattr(config, name), expected, given)
            self.assertTrue(config.changes, given)

    def test_members_that_cannot_be_hashed_warn(self):
        config = self.warns("activities", lambda: self.config(activities=[[1]]))
        self.assertEqual(config.activities, {"cpu", "npu"})

    def test_nothing_given_means_both_activities_and_no_warning(self):
        self.assertEqual(self.quiet(lambda: self.config()).activities, {"cpu", "npu"})

    def test_everything_reaches_the_internal_record(self):
        plan = silently(lambda: profiler.schedule(wait=1, active=2, warmup=1, repeat=1))
        config = self.quiet(lambda: self.config(
            activities=[ProfilerActivity.CPU, ProfilerActivity.NPU], schedule=plan, record_shapes=True, profile_memory=True,
            with_stack=True, with_modules=True, with_flops=True, experimental_config=_ExperimentalConfig(
                profiler_level="Level2", aic_metrics=AiCMetrics.Memory, l2_cache=True, mstx=True, record_op_args=True,
                data_simplification=False, op_attr=True, gc_detect_threshold=2, export_type=["db"], host_sys=["mem"],
                mstx_domain_include=["d"], sys_io=True, sys_interconnection=True)))
        expected = Config(
            level="2", aic_metrics="Memory", record_shapes=True, with_stack=True, with_modules=True, with_flops=True,
            profile_memory=True, l2_cache=True, op_attr=True, record_op_args=True, mstx=True, mstx_include=["d"], sys_io=True,
            sys_interconnection=True, host_sys=["mem"], export=["db"], data_simplification=False, gc_detect_threshold=2,
            schedule=Cycle(wait=1, active=2, warmup=1, repeat=1), info=config.info)
        self.assertEqual(config, expected)
        self.assertEqual(config.info["common_config"], {
            "activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"],
            "schedule": {"wait": 1, "active": 2, "warmup": 1, "repeat": 1, "skip_first": 0, "skip_first_wait": 0},
            "record_shapes": True, "profile_memory": True, "with_stack": True, "with_modules": True, "with_flops": True})
        self.assertEqual(config.info["experimental_config"]["_aic_metrics"], "ACL_AICORE_MEMORY_BANDWIDTH")

    def test_host_only_switches_need_the_cpu_but_are_shown_as_given(self):
        config = self.config(activities=[ProfilerActivity.NPU], record_shapes=True, with_stack=True)
        self.assertEqual((config.record_shapes, config.with_stack), (False, False))
        self.assertTrue(config.info["common_config"]["record_shapes"])

    def test_a_function_as_schedule_is_an_empty_object_and_none_is_null(self):
        self.assertEqual(self.config(schedule=lambda step: None).info["common_config"]["schedule"], {})
        self.assertIsNone(self.config().info["common_config"]["schedule"])

    def test_the_record_survives_a_round_trip(self):
        plan = silently(lambda: profiler.schedule(wait=1, active=2))
        config = self.config(schedule=plan, record_shapes=True)
        self.assertEqual(Config.from_dict(config.as_dict()), config)


if __name__ == "__main__":
    unittest.main()
