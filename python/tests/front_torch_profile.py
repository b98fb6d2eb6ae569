"""torch_npu: the life of `profile` and `_KinetoProfile`, places, handlers, metadata, exports."""

import functools
import gc
import os
import re
import subprocess
import sys
import unittest
from unittest import mock

from support import FakeCapture, FrontTest, silently
from steplens import _analyse
from steplens.torch_npu import profiler
from steplens.torch_npu.profiler import ProfilerAction, _output, profile, schedule, tensorboard_trace_handler

I, W, S, P, F, R, D = "init", "warmup", "start", "stop", "finalize", "ready", "discard"


def ready(_profile):
    FakeCapture.log.append(R)


class ProfileTest(FrontTest):
    def setUp(self):
        super().setUp()
        _output._last.set(_output.Place())
        patch = mock.patch.object(_analyse, "analyse", side_effect=self.analyse)
        patch.start()
        self.addCleanup(patch.stop)
        self.analysed = []

    def analyse(self, path, export=None, jobs=None, wait=True):
        self.analysed.append((path, list(export), wait))
        return True

    def plan(self, **parameters):
        return silently(lambda: schedule(**{"wait": 0, "warmup": 1, **parameters}))


class Life(ProfileTest):
    def test_a_schedule_makes_a_capture_for_each_cycle(self):
        with self.said() as lines, profile(schedule=self.plan(active=2, wait=1, repeat=2), on_trace_ready=ready) as prof:
            for _ in range(10):
                prof.step()
        self.assertEqual(lines, [])
        cycle = [I, W, "step_end", S, "step_end", "step_end", P, F, R]
        got = [item for item in self.log if not isinstance(item, tuple)]
        self.assertEqual(got, cycle * 2)
        self.assertEqual(len({capture.directory for capture in FakeCapture.made}), 2)

    def test_step_ranges_carry_the_number_of_the_step(self):
        with profile(schedule=self.plan(active=1, repeat=1, skip_first=2), on_trace_ready=ready) as prof:
            for _ in range(5):
                prof.step()
        self.assertEqual([item for item in self.log if isinstance(item, tuple)], [("step_begin", 2), ("step_begin", 3)])

    def test_without_a_schedule_all_is_recorded_without_step_ranges(self):
        with self.said() as lines, profile(on_trace_ready=ready) as prof:
            prof.step()
            prof.step()
        self.assertEqual(self.log, [I, S, P, F, R])
        self.assertEqual(lines, [])

    def test_the_end_of_training_in_a_cycle_warns(self):
        for steps, warning, operations in [(1, "state is WARMUP", [I, W, D]), (2, "state is RECORD which", [I, W, S, P, F, R]),
                                           (3, "perhaps the scheduling cycle", [I, W, S, P, F, R])]:
            def run():
                with profile(schedule=self.plan(active=2, wait=1, repeat=1), on_trace_ready=ready) as prof:
                    for _ in range(steps):
                        prof.step()

            self.warns(warning, run)
            self.assertEqual(self.operations, operations, steps)

    def test_a_schedule_that_never_fires_records_nothing(self):
        with self.said() as lines, profile(schedule=self.plan(active=1, skip_first=100), on_trace_ready=ready) as prof:
            for _ in range(10):
                prof.step()
        self.assertEqual((self.log, os.listdir(".")), ([], []))
        self.assertEqual(lines, [("WARNING", "The schedule recorded nothing: none of the 10 steps of this training was to be recorded.")])

    def test_step_and_stop_without_start_warn(self):
        prof = profile()
        self.warns("step takes no effect", prof.step)
        self.warns("stopped already", prof.stop)
        self.assertEqual(self.log, [])

    def test_a_second_start_is_refused(self):
        prof = profile(on_trace_ready=ready)
        prof.start()
        self.warns("started already", prof.start)
        prof.stop()
        self.assertEqual(self.log, [I, S, P, F, R])

    def test_two_profilers_at_once_the_second_is_refused(self):
        with profile(on_trace_ready=ready):
            self.warns("is refused", lambda: profile(on_trace_ready=ready).__enter__().__exit__(None, None, None))
        self.assertEqual(self.log, [I, S, P, F, R])

    def test_it_can_be_started_again(self):
        prof = profile(on_trace_ready=ready)
        for _ in range(2):
            prof.start()
            prof.stop()
        self.assertEqual(self.log, [I, S, P, F, R] * 2)

    def test_an_object_that_dies_while_recording_is_stopped(self):
        prof = profile(on_trace_ready=ready)
        prof.start()
        del prof
        self.assertEqual(self.log, [I, S, P, F, R])
        with profile(on_trace_ready=ready):  # the process is free
            self.assertEqual(self.log, [I, S])

    def test_an_object_in_a_cycle_is_stopped_by_the_garbage_collector(self):
        prof = profile(on_trace_ready=ready)
        prof.itself = prof
        prof.start()
        del prof
        gc.collect()
        self.assertEqual(self.log, [I, S, P, F, R])

    def test_a_function_may_be_the_schedule(self):
        actions = [ProfilerAction.NONE, ProfilerAction.RECORD_AND_SAVE, ProfilerAction.NONE]
        with profile(schedule=lambda step: actions[step], on_trace_ready=ready) as prof:
            prof.step()
            prof.step()
        self.assertEqual(self.operations, [I, S, P, F, R])

    def test_a_schedule_that_fails_or_returns_nonsense_closes_the_capture(self):
        for bad in (lambda: 1 / 0, lambda: "RECORD"):
            def plan(step):
                return ProfilerAction.RECORD_AND_SAVE if step == 0 else bad()

            prof = profile(schedule=plan, on_trace_ready=ready)
            prof.start()
            with self.said() as lines:
                prof.step()
            self.assertTrue(lines and lines[0][1].startswith("Call schedule failed. Exception: "), lines)
            self.assertEqual(self.operations, [I, S, P, F, R])
            prof.stop()

    def test_an_unknown_keyword_is_a_message_and_an_object_that_does_nothing(self):
        with self.said() as lines, profile(nonsense=1) as prof:
            prof.step()
        self.assertEqual({level for level, _ in lines}, {"ERROR"})
        self.assertIn("Call __init__ failed. Exception: ", lines[0][1])
        self.assertEqual(self.log, [])

    def test_under_the_command_line_profiler_nothing_happens(self):
        with mock.patch.dict(os.environ, {"PROFILING_MODE": "dynamic"}), self.said() as lines:
            with profile(schedule=self.plan(active=1), on_trace_ready=ready) as prof:
                prof.step()
        self.assertEqual(len(lines), 1)
        self.assertEqual(self.log, [])

    def test_the_observer_is_started_and_stopped(self):
        observer = mock.Mock()
        with profile(execution_trace_observer=observer):
            observer.start.assert_called_once_with()
        observer.stop.assert_called_once_with()

    def test_kineto_profile_records_from_start_to_stop_and_cleans_up(self):
        prof = profiler._KinetoProfile()
        prof.start()
        self.assertTrue(os.path.isdir("export_only_prof_dir"))
        prof.stop()
        self.assertEqual(self.log, [I, S, P, F])
        child = os.fork()
        if child == 0:
            del prof  # the capture is the parent's
            os._exit(0)
        os.waitpid(child, 0)
        self.assertTrue(os.path.isdir("export_only_prof_dir"))
        del prof
        self.assertEqual(os.listdir("."), [])


class EndOfProgram(FrontTest):
    CODE = """if True:
        import atexit, sys
        atexit.register(lambda: print(support.FakeCapture.log))  # runs after what is registered later
        import support
        from steplens import _machine
        _machine.new_capture = support.FakeCapture
        from steplens.torch_npu.profiler import profile, schedule
        prof = profile(schedule=schedule(wait=0, active=5), on_trace_ready=lambda prof: support.FakeCapture.log.append("ready"))
        prof.start()
        prof.step()
        {end}
    """

    def test_a_program_that_ends_while_recording_closes_its_capture(self):
        package = os.path.dirname(os.path.dirname(os.path.abspath(_analyse.__file__)))
        path = os.pathsep.join([package, os.path.dirname(os.path.abspath(__file__))])
        for end, code in (("", 0), ("sys.exit(3)", 3), ("raise ValueError", 1)):
            result = subprocess.run([sys.executable, "-c", self.CODE.format(end=end)], env={**os.environ, "PYTHONPATH": path},
                                    capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn("ends while the profiler is running", result.stderr)
            self.assertTrue(result.stdout.endswith(f"'step_end', '{P}', '{F}', '{R}']\n"), result.stdout)


class Places(ProfileTest):
    def run_one(self, **given):
        prof = profile(**given)
        prof.start()
        prof.stop()
        return prof._machine.directory

    def test_the_name_has_worker_pid_and_time(self):
        path = self.run_one(on_trace_ready=tensorboard_trace_handler("out", worker_name="w1", analyse_flag=False))
        self.assertEqual(os.path.dirname(path), os.path.abspath("out"))
        self.assertTrue(re.fullmatch(rf"w1_{os.getpid()}_20\d{{15}}_ascend_pt", os.path.basename(path)), path)

    def test_first_match_handler_then_work_path_then_export_only_then_here(self):
        handler = tensorboard_trace_handler("out", analyse_flag=False)
        with mock.patch.dict(os.environ, {"ASCEND_WORK_PATH": os.path.abspath("work")}):
            self.assertIn("/out/", self.run_one(on_trace_ready=handler))
            self.assertIn("/work/profiling_data/", self.run_one())
        self.assertIn("/export_only_prof_dir/", self.run_one())
        here = self.run_one(on_trace_ready=tensorboard_trace_handler(analyse_flag=False))
        self.assertEqual(os.path.dirname(here), os.path.realpath("."))

    def test_a_handler_of_the_users_own_around_ours_uses_its_place(self):
        handler = tensorboard_trace_handler("out")
        path = silently(lambda: self.run_one(on_trace_ready=lambda prof: handler(prof)))
        self.assertIn("/out/", path)
        self.assertEqual(self.analysed, [(path, ["text"], True)])

    def test_two_handlers_never_share_a_folder(self):
        first, second = (tensorboard_trace_handler(name, analyse_flag=False) for name in ("first", "second"))

        class Own:
            def __init__(self, handler):
                self.handler = handler

            def __call__(self, prof):
                self.handler(prof)

        def around(handler):
            return lambda prof: handler(prof)

        for wrap in (lambda handler: handler, around, functools.partial, Own, lambda handler: Own(handler).__call__,
                     lambda handler: around(around(handler))):
            for handler, folder in ((first, "first"), (second, "second")):
                self.assertEqual(os.path.dirname(self.run_one(on_trace_ready=wrap(handler))), os.path.abspath(folder), wrap)

    def test_a_function_that_refers_to_both_handlers_uses_the_last(self):
        both = [tensorboard_trace_handler(name, analyse_flag=False) for name in ("first", "second")]
        path = self.run_one(on_trace_ready=lambda prof: [handler(prof) for handler in both])
        self.assertEqual(os.path.dirname(path), os.path.abspath("second"))

    def test_worker_names_that_are_no_names_warn(self):
        for name in ("a/b", "", "x" * 226, 5):
            self.warns("worker_name", lambda: tensorboard_trace_handler("out", worker_name=name))
        self.quiet(lambda: tensorboard_trace_handler("out", worker_name="x" * 225))

    def test_folders_that_are_no_folders_warn_and_are_ignored(self):
        for name in (5, "a|b", "a\0b"):
            handler = self.warns("dir_name", lambda: tensorboard_trace_handler(name))
            self.assertIsNone(handler.place.directory)

    def test_long_paths_and_links_only_warn(self):
        os.symlink(".", "link")
        self.assertTrue(self.warns("symbolic link", lambda: tensorboard_trace_handler("link")).place.directory)
        self.assertTrue(self.warns("characters", lambda: tensorboard_trace_handler("x" * 300)).place.directory)
        self.quiet(lambda: tensorboard_trace_handler("data 1/中文_~-.x"))

    def test_two_captures_in_one_millisecond_have_two_folders(self):
        handler = tensorboard_trace_handler("out", analyse_flag=False)
        self.assertEqual(len({self.run_one(on_trace_ready=handler) for _ in range(5)}), 5)

    def test_rank_from_the_environment_is_text_in_the_record(self):
        self.run_one()
        self.assertIsNone(FakeCapture.made[-1].config.rank)
        with mock.patch.dict(os.environ, {"RANK": "3"}):
            self.run_one()
        self.assertEqual((FakeCapture.made[-1].config.rank, FakeCapture.made[-1].config.rank_is_text), (3, True))


class Handler(ProfileTest):
    def test_modes(self):
        for given, mode in [({}, "sync"), (dict(analyse_flag=False), "no"), (dict(async_mode=True), "async"),
                            (dict(analyse_flag=False, async_mode=True), "no")]:
            self.assertEqual(tensorboard_trace_handler("out", **given).mode, mode)

    def test_flags_that_are_no_bools_warn(self):
        self.assertEqual(self.warns("analyse_flag", lambda: tensorboard_trace_handler("o", analyse_flag=0)).mode, "sync")
        self.assertEqual(self.warns("async_mode", lambda: tensorboard_trace_handler("o", async_mode=1)).mode, "sync")

    def test_the_capture_is_analysed_with_its_export_types(self):
        for async_mode in (False, True):
            config = profiler._ExperimentalConfig(export_type=["db", "text"])
            with self.said(), profile(on_trace_ready=tensorboard_trace_handler("out", async_mode=async_mode),
                                      experimental_config=config) as prof:
                pass
            self.assertEqual(self.analysed.pop(), (prof._machine.directory, ["db", "text"], not async_mode))


class Metadata(ProfileTest):
    def metadata(self, fill, **given):
        with self.said() as lines, profile(on_trace_ready=ready, **given) as prof:
            fill(prof)
        return FakeCapture.made[-1].metadata, [text for _, text in lines]

    def test_texts_and_json_reach_the_capture_in_order(self):
        def fill(prof):
            prof.add_metadata("b", "1")
            prof.add_metadata_json("a", '{"x": [1, 2]}')

        got, said = self.metadata(fill)
        self.assertEqual(list(got), ["b", "a", "ENV_VARIABLES", "trace_id"])
        self.assertEqual((got["b"], got["a"]), ("1", {"x": [1, 2]}))
        self.assertEqual(said, [])

    def test_the_environment_is_recorded_for_text_only(self):
        with mock.patch.dict(os.environ, {"HCCL_ALGO": "ring"}):
            got, _ = self.metadata(lambda prof: None)
            self.assertEqual(len(got["ENV_VARIABLES"]), 9)
            self.assertEqual((got["ENV_VARIABLES"]["HCCL_ALGO"], got["ENV_VARIABLES"]["HCCL_RDMA_TC"]), ("ring", ""))
            got, _ = self.metadata(lambda prof: None, experimental_config=profiler._ExperimentalConfig(export_type="db"))
        self.assertNotIn("ENV_VARIABLES", got)

    def test_what_is_refused(self):
        for call, part in [(lambda prof: prof.add_metadata("a", 1), "must be str"),
                           (lambda prof: prof.add_metadata(1, "a"), "must be str"),
                           (lambda prof: prof.add_metadata("a", "x" * 4097), "4096"),
                           (lambda prof: prof.add_metadata("x" * 4097, "a"), "4096"),
                           (lambda prof: prof.add_metadata_json("a", "{"), "not JSON"),
                           (lambda prof: prof.add_metadata_json("a", "NaN"), "not JSON"),
                           (lambda prof: prof.add_metadata_json("a", "[1e999]"), "not JSON"),
                           (lambda prof: prof.add_metadata_json("a", "[" * 4000), "not JSON")]:
            got, said = self.metadata(call)
            self.assertTrue(said and part in said[0], said)
            self.assertEqual(list(got), ["ENV_VARIABLES", "trace_id"])

    def test_the_sum_is_bounded(self):
        def fill(prof):
            for index in range(20):
                prof.add_metadata(f"key{index}", "x" * 4000)

        got, said = self.metadata(fill)
        self.assertEqual(len([key for key in got if key.startswith("key")]), 12)  # 12 * (4049 + 53) < 51200 < 13 * 4102
        self.assertEqual(len(said), 8)

    def test_a_key_that_is_there_is_replaced_with_a_warning(self):
        def fill(prof):
            prof.add_metadata("a", "1")
            prof.add_metadata("a", "2")

        got, said = self.metadata(fill)
        self.assertEqual(got["a"], "2")
        self.assertIn("replaced", said[0])

    def test_the_trace_id_is_a_uuid_and_new_for_each_capture(self):
        first, _ = self.metadata(lambda prof: None)
        second, _ = self.metadata(lambda prof: None)
        self.assertRegex(first["trace_id"], "^[0-9A-F]{32}$")
        self.assertNotEqual(first["trace_id"], second["trace_id"])

    def test_a_callback_may_give_it(self):
        got, _ = self.metadata(lambda prof: None, custom_trace_id_callback=lambda: "mine")
        self.assertEqual(got["trace_id"], "mine")

    def test_wrong_callbacks_warn_and_give_the_default(self):
        for callback in (5, lambda: 5, lambda: "x" * 1025, lambda: 1 / 0):
            with self.said() as lines:
                prof = profile(on_trace_ready=ready, custom_trace_id_callback=callback)
                prof.start()
                prof.stop()
            self.assertIn("default trace id", lines[0][1])
            self.assertRegex(prof.get_trace_id(), "^[0-9A-F]{32}$")


class Exports(ProfileTest):
    def setUp(self):
        super().setUp()
        self.exported = []
        patch = mock.patch.object(_analyse, "export", lambda *args, **kwargs: self.exported.append((args, kwargs)))
        patch.start()
        self.addCleanup(patch.stop)

    def finished(self, **given):
        prof = profile(**given)
        prof.start()
        prof.stop()
        return prof

    def test_chrome_trace(self):
        prof = self.finished()
        prof.export_chrome_trace("trace.json")
        self.assertEqual(self.exported, [((prof._machine.directory, "chrome_trace", os.path.abspath("trace.json")), {})])

    def test_stacks_need_stacks_and_end_in_log(self):
        self.warns("with_stack", lambda: self.finished().export_stacks("a.txt"))
        self.assertEqual(self.exported, [])
        prof = self.finished(with_stack=True)
        prof.export_stacks("a.txt", "self_npu_time_total")
        self.assertEqual(self.exported.pop(), ((prof._machine.directory, "stacks", os.path.abspath("a.log")),
                                               {"metric": "self_npu_time_total"}))
        self.warns("metric", lambda: prof.export_stacks("a.log", "wall"))
        self.assertEqual(self.exported.pop()[1], {"metric": "self_cpu_time_total"})

    def test_memory_timeline_lists_what_is_missing(self):
        prof = self.finished(record_shapes=True)
        self.warns("profile_memory, with_stack or with_modules", lambda: prof.export_memory_timeline("m.html"))
        prof = self.finished(record_shapes=True, profile_memory=True, with_modules=True)
        self.quiet(lambda: prof.export_memory_timeline("m.html"))
        self.assertEqual(self.exported[0][1], {"device": "npu:0"})

    def test_nothing_recorded_or_still_recording_is_an_error(self):
        with self.said() as lines:
            profile().export_chrome_trace("t.json")
            with profile() as prof:
                prof.export_chrome_trace("t.json")
            prof.export_chrome_trace(7)
        self.assertEqual([text.split("Exception: ")[1] for _, text in lines],
                         ["nothing was recorded", "the profiler is still recording, stop it first",
                          "the path of the file to write must be a str"])
        self.assertEqual(self.exported, [])


class ChildThreads(ProfileTest):
    def test_enable_once_and_disable_once_per_thread(self):
        self.warns("not enabled", profile.disable_profiler_in_child_thread)
        self.warns("with_stack", lambda: profile.enable_profiler_in_child_thread(record_shapes=True, with_stack=1))
        self.warns("already", profile.enable_profiler_in_child_thread)
        self.quiet(profile.disable_profiler_in_child_thread)
        self.quiet(profile.enable_profiler_in_child_thread)
        self.quiet(profile.disable_profiler_in_child_thread)


if __name__ == "__main__":
    unittest.main()
