"""The profiler_config of MindSpeed-RL: keys, YAML, which hook records, marks of functions."""

import builtins
import os
import unittest
from unittest import mock

from support import FakeCapture, FrontTest, needs, silently
from steplens import _analyse, rl
from steplens.rl import ProfilerConfig, load_config, profiler_start, profiler_step, profiler_stop

I, S, P, F = "init", "start", "stop", "finalize"
SAMPLE = """
profiler_config:
  integrated:
    profile: true
    mstx: false
    stage: all
    profile-save-path: ./prof
    profile_export_type: db
    profile_step_start: 2
    profile_step_end: 4
    profile_level: level1
    profile_with_memory: true
    profile_record_shapes: true
    profile_with_cpu: true
    profile_with_npu: false
    profile_with_module: true
    profile_analysis: true
    profile_ranks: [0, 2]
"""


class RlTest(FrontTest):
    def setUp(self):
        super().setUp()
        self.analysed = []
        patch = mock.patch.object(_analyse, "analyse", side_effect=lambda path, *args, **kwargs: self.analysed.append(path) or True)
        patch.start()
        self.addCleanup(patch.stop)

    def write(self, text):
        with open("job.yaml", "w", encoding="utf-8") as file:
            file.write(text)
        return "job.yaml"


class Keys(RlTest):
    def test_defaults(self):
        config = ProfilerConfig()
        self.assertEqual({key: value for key, value in vars(config).items() if key != "role"}, {
            "profile": False, "mstx": False, "stage": "all", "profile_save_path": "", "profile_export_type": "text",
            "profile_step_start": 1, "profile_step_end": 2, "profile_level": "level0", "profile_with_memory": False,
            "profile_record_shapes": False, "profile_with_cpu": True, "profile_with_npu": True, "profile_with_module": False,
            "profile_analysis": False, "profile_ranks": "all"})
        self.assertEqual((config.role, config.base_path, config.ranks), ("integrated", "./profiler_data", None))

    @needs("yaml")
    def test_every_key_of_a_file(self):
        config = load_config(self.write(SAMPLE))
        self.assertEqual((config.profile, config.profile_save_path, config.profile_export_type, config.profile_step_start,
                          config.profile_step_end, config.profile_level, config.ranks),
                         (True, "./prof", "db", 2, 4, "level1", [0, 2]))
        self.assertTrue(config.profile_with_memory and config.profile_record_shapes and config.profile_with_cpu
                        and config.profile_with_module and config.profile_analysis)
        self.assertFalse(config.profile_with_npu or config.mstx)

    def test_an_unknown_key_raises(self):
        with self.assertRaisesRegex(ValueError, "The key: profile_stage is missing, causing the setup to fail"):
            ProfilerConfig({"profile_stage": "all"})

    def test_wrong_levels_and_types_raise(self):
        for values in (dict(profile_level="level9"), dict(profile_export_type="json")):
            with self.assertRaises(ValueError):
                ProfilerConfig(values)

    def test_a_stage_that_nobody_knows_is_told(self):
        with self.said() as lines:
            for stage in ("all", "actor_update", ["actor_update", "critic_update"], 5):
                ProfilerConfig({"profile": True, "stage": stage})
            ProfilerConfig({"profile": False, "stage": "actor_updaet"})
            ProfilerConfig({"profile": True, "stage": ["actor_update", "actor_updaet"]})
        self.assertEqual([text.split(" is none")[0] for _, text in lines], ["stage 'actor_updaet'"])

    def test_ranks_that_are_no_list_count_as_rank_0(self):
        self.assertEqual(ProfilerConfig({"profile_ranks": 3}).ranks, [0])

    @needs("yaml")
    def test_files_that_are_none(self):
        for text, part in (("a: [", "not YAML"), ("- 1", "mapping"), ("profiler_config: 5", "not a mapping"),
                           ("profiler_config: {integrated: [1]}", "not a mapping")):
            with self.assertRaisesRegex(ValueError, part):
                load_config(self.write(text))
        with self.assertRaises(OSError):
            load_config("nowhere.yaml")
        for text in ("", "other: 1", "profiler_config:"):
            self.assertFalse(load_config(self.write(text)).profile)

    def test_without_pyyaml_the_message_says_what_to_do(self):
        real = builtins.__import__

        def refuse(name, *args, **kwargs):
            if name == "yaml":
                raise ImportError
            return real(name, *args, **kwargs)

        with mock.patch.object(builtins, "__import__", refuse), self.assertRaisesRegex(ImportError, "python3-yaml"):
            load_config(self.write(SAMPLE))


class Hooks(RlTest):
    def config(self, **values):
        return ProfilerConfig({"profile": True, "profile_save_path": "prof", **values})

    def starts(self, config, role="integrated", iteration=None):
        got = silently(lambda: profiler_start(config, role, iteration))
        silently(lambda: profiler_stop(got))
        return got is not None

    def test_which_hooks_act(self):
        listed = ["actor_update", "actor_generate"]
        for values, role, iteration, expected in [
                ({}, "integrated", None, True), ({}, "actor_update", None, False),
                (dict(profile=False), "integrated", None, False),
                (dict(stage="actor_update"), "actor_update", 1, True), (dict(stage="actor_update"), "actor_update", 2, False),
                (dict(stage="actor_update"), "actor_update", 0, False),
                (dict(stage="actor_update"), "actor_generate", 1, False),
                (dict(stage="actor_update"), "integrated", None, False), (dict(stage=listed), "actor_generate", 1, True),
                (dict(stage=listed), "critic_update", 1, False),
                (dict(stage="actor_update", profile_step_end=5), "actor_update", 4, True),
                (dict(profile_ranks=[1]), "integrated", None, False), (dict(profile_ranks=[0]), "integrated", None, True)]:
            self.assertEqual(self.starts(self.config(**values), role, iteration), expected, (values, role, iteration))
        self.assertFalse(self.starts(None))

    def test_a_stage_that_is_none_warns(self):
        self.assertIsNone(self.warns("stage", lambda: profiler_start(self.config(stage=5), "actor_update", 1)))

    def test_values_nobody_checks_are_a_message_and_no_exception(self):
        with self.said() as lines:
            self.assertIsNone(profiler_start(self.config(profile_step_start="two"), "actor_update", 1))
        self.assertEqual([level for level, _ in lines], ["ERROR"])
        self.assertIn("profile_step_start must be an int, it is 'two'", lines[0][1])

    def test_an_end_that_is_not_after_the_start_is_told_in_the_words_of_the_keys(self):
        with self.said() as lines:
            profiler_stop(profiler_start(self.config(profile_step_start=3, profile_step_end=3)))
        self.assertEqual(lines[0][1], "profile_step_end (3) is not after profile_step_start (3); one step is recorded.")

    def test_a_start_below_1_is_told_and_the_end_stays_excluded(self):
        with self.said() as lines:
            whole = profiler_start(self.config(profile_step_start=0, profile_step_end=3))
            recorded = []
            for iteration in range(1, 5):
                if whole._machine._recording:
                    recorded.append(iteration)
                profiler_step(whole)
            profiler_stop(whole)
        self.assertEqual(recorded, [1, 2])
        self.assertEqual([text for _, text in lines], ["profile_step_start is 0, and iterations count from 1; it is set to 1."])

    def test_both_sources_off_records_marks_alone_and_says_so(self):
        with self.said() as lines:
            profiler_stop(profiler_start(self.config(profile_with_cpu=False, profile_with_npu=False)))
        self.assertEqual([text for level, text in lines if level == "WARNING"][:1],
                         ["profile_with_cpu and profile_with_npu are both false; nothing but marks (mstx) is recorded."])
        config = FakeCapture.made[0].config
        self.assertEqual((config.level, config.activities, config.mstx), ("none", {"npu"}, True))

    def test_the_whole_step(self):
        with self.said() as lines:
            whole = profiler_start(self.config(profile_step_start=2, profile_step_end=4))
            recorded = []
            for iteration in range(1, 7):
                if whole._machine._recording:
                    recorded.append(iteration)
                profiler_step(whole)
            profiler_stop(whole)
        self.assertEqual((recorded, lines), ([2, 3], []))
        self.assertEqual(os.listdir("prof"), ["integrated"])
        self.assertEqual([item[1] for item in self.log if isinstance(item, tuple)], [2, 3])
        self.assertEqual(self.analysed, [])

    def test_a_stage_has_a_capture_for_each_iteration(self):
        config = self.config(stage=["actor_update", "critic_update"], profile_step_end=3, profile_analysis=True)
        with self.said() as lines:
            for iteration in range(1, 5):
                for role in rl.STAGES:
                    profiler_step(profiler_start(config, role, iteration))
        self.assertEqual([text for level, text in lines if level != "INFO"], [])
        self.assertEqual(self.operations, [I, S, P, F] * 4)
        self.assertEqual(sorted(os.listdir("prof")), ["actor_update", "critic_update"])
        self.assertEqual([len(os.listdir("prof/" + name)) for name in sorted(os.listdir("prof"))], [2, 2])
        self.assertEqual(len(self.analysed), 4)

    def test_switches_reach_the_internal_record(self):
        values = dict(mstx=True, profile_level="level_none", profile_with_cpu=False, profile_with_module=True,
                      profile_export_type="db")
        silently(lambda: profiler_stop(profiler_start(self.config(**values))))
        config = FakeCapture.made[0].config
        self.assertEqual((config.level, config.activities, config.mstx, config.export), ("none", {"npu"}, True, ["db"]))
        self.assertEqual((config.data_simplification, config.with_stack, config.stages), (True, False, "all"))

    def test_offline_analysis_finds_all_stages(self):
        for role in ("actor_update", "critic_update"):
            os.makedirs(f"prof/{role}/host_1_20240101000000000_ascend_pt/FRAMEWORK")
        silently(lambda: rl.analyse("prof"))
        self.assertEqual([path.split("/prof/")[1].split("/")[0] for path in self.analysed], ["actor_update", "critic_update"])

    def test_none_is_no_profiler(self):
        self.quiet(lambda: (profiler_step(None), profiler_stop(None)))


class Decorator(RlTest):
    def test_ranges_are_named_after_class_and_method_and_close_when_it_raises(self):
        class Worker:
            @rl.mstx_timer_decorator
            def update(self, value):
                if value is None:
                    raise ValueError("none")
                return value

        self.assertEqual(Worker().update(3), 3)
        with self.assertRaises(ValueError):
            Worker().update(None)
        name = Worker.update.__qualname__
        self.assertTrue(name.endswith("Worker.update"))
        self.assertEqual(self.native.log, [("start", name, "default"), ("end", 1), ("start", name, "default"), ("end", 2)])


if __name__ == "__main__":
    unittest.main()
