"""The --profile* flags of MindSpeed-LLM and the keys of its FSDP2 trainer: defaults, steps, ranks, errors."""

import argparse
import contextlib
import io
import os
import unittest
from unittest import mock

from support import FakeCapture, FrontTest, needs, silently
from steplens import _analyse
from steplens._session import Source
from steplens.megatron import ProfileArguments, StepProfiler, _groups, _keys, add_profile_arguments, fsdp2, name_group

I, W, S, P, F = "init", "warmup", "start", "stop", "finalize"


class FlagsTest(FrontTest):
    def setUp(self):
        super().setUp()
        self.analysed = []
        patch = mock.patch.object(_analyse, "analyse", side_effect=lambda path, *args, **kwargs: self.analysed.append(path) or True)
        patch.start()
        self.addCleanup(patch.stop)

    def iterations(self, profiler, first, last):
        """Runs iterations first, ..., last; the list of those that were recorded."""
        recorded = []
        with self.said() as self.lines:
            profiler.start()
            for number in range(first, last + 1):
                if profiler.enabled and profiler._profile._machine._recording:
                    recorded.append(number)
                profiler.step()
            profiler.stop()
        return recorded


class Megatron(FlagsTest):
    def args(self, *words):
        return add_profile_arguments(argparse.ArgumentParser()).parse_args(words)

    def make(self, *words, iteration=None):
        return silently(lambda: StepProfiler(self.args("--profile", *words), iteration))

    def test_defaults_are_those_of_the_documents(self):
        defaults = {
            "profile": False, "profile_step_start": 0, "profile_step_end": -1, "profile_ranks": [0], "profile_level": "level0",
            "profile_export_type": "text", "profile_data_simplification": False, "profile_with_cpu": False,
            "profile_with_stack": False, "profile_with_memory": False, "profile_record_shapes": False,
            "profile_save_path": "./profile"}
        self.assertEqual(vars(self.args()), defaults)
        self.assertEqual(vars(ProfileArguments()), defaults)

    def test_help_shows_the_defaults(self):
        text = " ".join(add_profile_arguments(argparse.ArgumentParser()).format_help().split())
        for part in ("(default: 0)", "(default: -1)", "(default: level0)", "(default: text)", "(default: ./profile)", "(default: off)",
                     "--profile-step-start N, --profile_step_start N"):
            self.assertIn(part, text)

    def test_dashes_underscores_lists_and_yaml_say_the_same(self):
        words = ["--profile", "--profile-step-start", "5", "--profile-step-end", "7", "--profile-ranks", "0", "3", "--profile-level", "level1",
                 "--profile-with-cpu", "--profile-save-path", "p"]
        dashes = self.args(*words)
        underscores = self.args(*(word.replace("-", "_").replace("__", "--", 1) if word.startswith("--") else word for word in words))
        yaml = ProfileArguments.from_mapping({
            "profile": "true", "profile-step-start": "5", "profile_step_end": 7, "profile_ranks": "0,3", "profile_level": "level1",
            "profile_with_cpu": True, "profile_save_path": "p", "lr": 1})
        self.assertEqual(vars(dashes), vars(underscores))
        self.assertEqual(vars(ProfileArguments.from_namespace(dashes)), vars(yaml))
        for ranks in (["0,3"], ["[0,", "3]"], ["0", "3"]):
            self.assertEqual(ProfileArguments.from_namespace(self.args("--profile", "--profile-ranks", *ranks)).profile_ranks, [0, 3])
        self.assertEqual(ProfileArguments(profile=True, profile_ranks=2).profile_ranks, [2])

    def test_a_parser_that_has_some_of_them_keeps_them_and_the_log_says_so(self):
        parser = argparse.ArgumentParser()
        parser.add_argument("--profile", action="store_true")
        parser.add_argument("--profile-step-start", type=int, default=10)
        parser.add_argument("--profile-step-end", type=int, default=12)
        self.addCleanup(_keys._kept.clear)
        add_profile_arguments(parser)
        args = parser.parse_args(["--profile", "--profile_step_end", "14", "--profile-level", "level1"])
        self.assertEqual((args.profile_step_start, args.profile_step_end), (10, 14))
        with self.said() as lines:
            profiler = StepProfiler(args)
        self.assertEqual([text for level, text in lines if text.startswith("Profile settings")], [
            "Profile settings: profile_step_start 10 (default of the program), profile_step_end 14 (given), profile_level level1 (given); "
            "all others: documented defaults"])
        self.assertEqual(self.iterations(profiler, 1, 20), [10, 11, 12, 13])

    def test_wrong_words_warn_and_are_replaced(self):
        for words, key, value in ((["--profile-level", "level3"], "profile_level", "level0"),
                                  (["--profile-export-type", "json"], "profile_export_type", "text"),
                                  (["--profile-step-start", "x"], "profile_step_start", 0), (["--profile-step-start", "-3"], "profile_step_start", 0),
                                  (["--profile-step-end", "1.5"], "profile_step_end", -1), (["--profile-ranks", "a"], "profile_ranks", [0])):
            with self.subTest(words):
                args = self.args("--profile", *words)
                keys = self.warns(f"{key} is ", lambda: ProfileArguments.from_namespace(args))
                self.assertEqual(getattr(keys, key), value)
                self.assertTrue(silently(lambda: StepProfiler(args)).enabled)

    def test_a_place_where_nothing_can_be_made_ends_no_training(self):
        open("file", "w").close()
        profiler = self.make("--profile-save-path", "file/below")
        self.iterations(profiler, 1, 3)

    def test_without_the_switch_nothing_happens(self):
        profiler = StepProfiler(self.args())
        self.assertEqual((self.iterations(profiler, 1, 15), profiler.enabled, profiler.config), ([], False, None))

    def test_which_iterations_are_recorded(self):
        to_15 = lambda first: list(range(first, 16))
        for start, end, done, expected in [(10, 12, 0, [10, 11]), (5, 6, 0, [5]), (2, 4, 0, [2, 3]), (1, 3, 0, [1, 2]), (0, 3, 0, [1, 2]),
                                           (0, -1, 0, to_15(1)), (5, -1, 0, to_15(5)), (5, 5, 0, [5]), (5, 2, 0, [5]),
                                           (105, 107, 100, [105, 106]), (101, 103, 100, [101, 102]), (102, 103, 100, [102]),
                                           (5, 103, 100, [101, 102]), (5, 7, 100, [101])]:
            profiler = self.make("--profile-step-start", str(start), "--profile-step-end", str(end), iteration=done)
            self.assertEqual(self.iterations(profiler, done + 1, done + 15), expected, (start, end, done))
            self.assertEqual(len(self.analysed), 1)
            self.analysed.clear()

    def test_steps_that_cannot_be_are_told_in_the_words_of_the_flags(self):
        for words, done, text in ((["--profile-step-start", "5", "--profile-step-end", "4"], 0,
                                   "profile_step_end (4) is not after profile_step_start (5); one step is recorded."),
                                  (["--profile-step-start", "5"], 100,
                                   "profile_step_start is 5, and iteration 101 is the first of this run; recording begins there.")):
            with self.said() as lines:
                StepProfiler(self.args("--profile", *words), done)
            self.assertEqual([said for level, said in lines if level == "WARNING"], [text])
        with self.said() as lines:
            StepProfiler(self.args("--profile"))
        self.assertEqual([said for level, said in lines if level == "WARNING"], [])

    def test_step_ranges_carry_the_number_of_the_iteration(self):
        self.iterations(self.make("--profile-step-start", "5", "--profile-step-end", "7"), 1, 8)
        self.assertEqual([item[1] for item in self.log if isinstance(item, tuple)], [4, 5, 6])

    def test_the_iteration_may_be_in_the_arguments(self):
        args = self.args("--profile", "--profile-step-start", "8", "--profile-step-end", "9")
        args.iteration = 5
        profiler = StepProfiler(args)
        self.assertEqual(self.iterations(profiler, 6, 12), [8])
        self.assertEqual(profiler.config.base_iteration, 5)

    def test_ranks(self):
        for ranks, rank, expected in [(["0"], None, True), (["0"], "0", True), (["0"], "1", False), (["1", "3"], "3", True),
                                      (["-1"], "7", True), (["0", "-1"], "7", True), (["-1", "0"], "0", True)]:
            with mock.patch.dict(os.environ, {"RANK": rank} if rank else {}):
                self.assertEqual(self.make("--profile-ranks", *ranks).enabled, expected, (ranks, rank))

    def test_switches_reach_the_internal_record(self):
        config = self.make("--profile-level", "level1", "--profile-with-cpu", "--profile-with-stack", "--profile-with-memory",
                           "--profile-record-shapes", "--profile-data-simplification", "--profile-export-type", "db").config
        self.assertEqual((config.level, config.activities, config.export, config.aic_metrics),
                         ("1", {"cpu", "npu"}, ["db"], "PipeUtilization"))
        self.assertTrue(config.with_stack and config.profile_memory and config.record_shapes and config.data_simplification)
        plain = self.make().config
        self.assertEqual((plain.level, plain.activities, plain.aic_metrics, plain.data_simplification), ("0", {"npu"}, "None", False))
        self.assertEqual(plain.ranks, [0])
        self.assertEqual(self.make("--profile-level", "level_none").config.level, "none")

    def test_place_and_metadata(self):
        args = self.args("--profile", "--profile-step-start", "1", "--profile-step-end", "2", "--profile-save-path", "p")
        args.tensor_model_parallel_size, args.sequence_parallel = 4, True
        with mock.patch.dict(os.environ, {"RANK": "0", "WORLD_SIZE": "8"}):
            self.iterations(silently(lambda: StepProfiler(args)), 1, 3)
        self.assertEqual(os.path.dirname(FakeCapture.made[0].directory), os.path.abspath("p"))
        self.assertEqual(FakeCapture.made[0].metadata["distributed_args"], {
            "tensor_model_parallel_size": 4, "pipeline_model_parallel_size": 1, "data_parallel_size": 1,
            "context_parallel_size": 1, "expert_model_parallel_size": 1, "sequence_parallel": True, "rank": 0, "world_size": 8})

    def test_an_explicit_profile_has_precedence(self):
        self.assertEqual(self.make()._profile._machine._source, Source.COMMAND)


@needs("torch")
class Groups(FlagsTest):
    """With torch.distributed in this process: one rank, gloo."""

    def test_named_groups_are_in_the_metadata(self):
        import torch.distributed as distributed

        store = distributed.FileStore(os.path.join(self.folder, "store"), 1)
        distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
        self.addCleanup(distributed.destroy_process_group)
        group = distributed.new_group([0])
        name_group(group, "tp")
        self.addCleanup(_groups._named.clear)
        args = add_profile_arguments(argparse.ArgumentParser()).parse_args(
            ["--profile", "--profile-step-start", "1", "--profile-step-end", "2"])
        self.iterations(silently(lambda: StepProfiler(args)), 1, 3)
        info = FakeCapture.made[0].metadata["parallel_group_info"]
        self.assertEqual(sorted(entry["group_name"] for entry in info.values()), ["default_group", "tp"])
        self.assertEqual([entry["global_ranks"] for entry in info.values()], [[0], [0]])
        self.assertEqual((FakeCapture.made[0].config.rank, FakeCapture.made[0].config.rank_is_text), (0, False))

    def test_a_name_must_be_one(self):
        with self.assertRaises(ValueError):
            name_group(None, "")


class Fsdp2(FlagsTest):
    def make(self, **values):
        return silently(lambda: fsdp2.StepProfiler(fsdp2.ProfileArguments(profile=True, **values)))

    def test_defaults_are_the_same(self):
        args = fsdp2.add_profile_arguments(argparse.ArgumentParser()).parse_args([])
        self.assertEqual(vars(args), vars(ProfileArguments()))
        self.assertIs(fsdp2.ProfileArguments, ProfileArguments)

    def test_a_section_with_other_keys(self):
        section = {"profile": True, "profile_level": "level1", "lr": 0.1, "profile_ranks": [0, 1]}
        args = fsdp2.ProfileArguments.from_mapping(section)
        self.assertEqual((args.profile_level, args.profile_ranks), ("level1", [0, 1]))

    def test_the_command_line(self):
        parser = fsdp2.add_profile_arguments(argparse.ArgumentParser())
        args = fsdp2.ProfileArguments.from_namespace(parser.parse_args(
            ["--profile", "true", "--profile_with_cpu", "--profile_step_end", "3", "--profile_ranks", "0", "2"]))
        self.assertEqual((args.profile, args.profile_with_cpu, args.profile_step_end, args.profile_ranks), (True, True, 3, [0, 2]))

    def test_wrong_values_warn_only_if_it_is_on_and_are_replaced(self):
        defaults = ProfileArguments()
        for name, value in (("profile_step_start", "two"), ("profile_step_start", -1), ("profile_step_end", True), ("profile_ranks", {}),
                            ("profile_ranks", ["a"]), ("profile_with_cpu", "maybe"), ("profile_save_path", 5), ("profile_level", "x"),
                            ("profile_export_type", "x")):
            with self.subTest(name):
                with self.said() as lines:
                    args = ProfileArguments(profile=True, **{name: value})
                    ProfileArguments(profile=False, **{name: value})
                self.assertEqual(getattr(args, name), getattr(defaults, name))
                self.assertEqual([name in text for _, text in lines], [True], lines)

    def test_which_iterations_are_recorded(self):
        for start, end, expected in [(0, 2, [0, 1]), (1, 3, [1, 2]), (3, 5, [3, 4]), (4, 4, [4])]:
            self.assertEqual(self.iterations(self.make(profile_step_start=start, profile_step_end=end), 0, 9), expected)
        self.assertEqual(self.iterations(self.make(profile_step_start=2), 0, 9), list(range(2, 10)))

    def test_minus_one_anywhere_means_all_ranks(self):
        with mock.patch.dict(os.environ, {"RANK": "7"}):
            self.assertTrue(self.make(profile_ranks=[0, -1]).enabled)
            self.assertFalse(self.make(profile_ranks=[0]).enabled)

    def test_place_and_metadata(self):
        self.iterations(self.make(profile_step_end=1, profile_save_path="a/b"), 0, 2)
        self.assertEqual(os.path.dirname(FakeCapture.made[0].directory), os.path.abspath("a/b"))
        self.assertEqual(FakeCapture.made[0].metadata["distributed_args"], {"rank": 0, "world_size": 1})
        self.assertEqual([text for level, text in self.lines if level == "INFO" and text.startswith("Profiler")],
                         ["Profiler starts.", "Profiler stopped."])


if __name__ == "__main__":
    unittest.main()
