"""Analysis: how the program is found and called, offline analysis of both frameworks."""

import multiprocessing
import os
import subprocess
import sys
import unittest
from unittest import mock

from support import FrontTest
from steplens import _analyse, _paths
from steplens.mindspore.profiler import Profiler
from steplens.mindspore.profiler import profiler as ms_module
from steplens.torch_npu.profiler import analyse
from steplens.torch_npu.profiler import profiler as torch_module

SCRIPT = """#!/bin/sh
echo "$@" >> "{log}"
case "$*" in *broken*) echo "first line" >&2; echo "broken: cannot be read" >&2; exit 4;;
  *slow*) sleep 0.5; echo done >> "{log}";;
  *partly*) echo "steplens: rank 0: not all of it" >&2;; esac
"""


class AnalyseTest(FrontTest):
    def setUp(self):
        super().setUp()
        self.calls_file = os.path.join(self.folder, "calls")
        self.program = os.path.join(self.folder, "program")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(SCRIPT.format(log=self.calls_file))
        os.chmod(self.program, 0o755)
        os.environ["STEPLENS_PROGRAM"] = self.program

    @property
    def calls(self):
        try:
            with open(self.calls_file, encoding="utf-8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def capture(self, name):
        os.makedirs(os.path.join(name, "FRAMEWORK"))
        return os.path.realpath(name)


class Program(AnalyseTest):
    def test_a_named_program_that_is_none_is_told(self):
        for name in ("/nowhere/steplens", self.folder):
            os.environ["STEPLENS_PROGRAM"] = name
            with self.assertRaisesRegex(_analyse.AnalyseError, "not an executable file"):
                _analyse.find_program()

    def test_it_is_found_in_path(self):
        os.rename(self.program, os.path.join(self.folder, "steplens"))
        del os.environ["STEPLENS_PROGRAM"]
        with mock.patch.object(_analyse, "__file__", "/nowhere/python/steplens/_analyse.py"):
            with mock.patch.dict(os.environ, {"PATH": self.folder + ":/usr/bin"}):
                self.assertEqual(_analyse.find_program(), os.path.join(self.folder, "steplens"))
            with mock.patch.dict(os.environ, {"PATH": "/nowhere"}):
                with self.assertRaisesRegex(_analyse.AnalyseError, "STEPLENS_PROGRAM"):
                    _analyse.find_program()

    def test_it_is_found_in_the_build_tree_around_the_package(self):
        del os.environ["STEPLENS_PROGRAM"]
        for place, package in (("build/steplens", "python/steplens"), ("build/steplens", "build/python/steplens")):
            path = os.path.join(self.folder, place)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.path.exists(path) or os.link(self.program, path)
            with mock.patch.object(_analyse, "__file__", os.path.join(self.folder, package, "_analyse.py")):
                self.assertEqual(_analyse.find_program(), path)

    def test_the_command_of_the_package_runs_it(self):
        def command(program):
            return subprocess.run([sys.executable, "-m", "steplens", "analyse", "a path"], capture_output=True, text=True,
                                  env={**os.environ, "STEPLENS_PROGRAM": program,
                                       "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(_analyse.__file__)))})

        self.assertEqual(command(self.program).returncode, 0)
        self.assertEqual(self.calls, ["analyse a path"])
        missing = command("/nowhere")
        self.assertEqual(missing.returncode, 127)
        self.assertIn("steplens: STEPLENS_PROGRAM names /nowhere", missing.stderr)

    def test_arguments(self):
        self.assertTrue(_analyse.analyse("/c", ["text", "db"], 3))
        self.assertTrue(_analyse.analyse("/c"))
        _analyse.export("/c", "stacks", "/o.log", metric="m")
        _analyse.export("/c", "memory_timeline", "/o.html", device="npu:0")
        self.assertEqual(self.calls, [
            "analyse /c --export-type text,db --jobs 3", "analyse /c", "analyse /c --export stacks --output /o.log --metric m",
            "analyse /c --export memory_timeline --output /o.html --device npu:0"])

    def test_a_failure_shows_the_last_line_of_the_program(self):
        with self.said() as lines:
            self.assertFalse(_analyse.analyse("/broken"))
        self.assertEqual(lines, [("ERROR", "Analysis of /broken failed: steplens analyse /broken ended with code 4: "
                                           "broken: cannot be read")])

    def test_paths_in_suggested_commands_are_quoted(self):
        with self.said() as lines:
            self.assertFalse(_analyse.analyse("/broken of mine"))
            del os.environ["STEPLENS_PROGRAM"]
            with mock.patch.object(_analyse, "__file__", "/nowhere/python/steplens/_analyse.py"), \
                    mock.patch.dict(os.environ, {"PATH": "/nowhere"}):
                self.assertFalse(_analyse.analyse("/its mine"))
        self.assertIn("steplens analyse '/broken of mine' ended with code", lines[0][1])
        self.assertIn("later with: steplens analyse '/its mine'", lines[1][1])

    def test_in_the_background_it_is_joined_later(self):
        self.assertTrue(_analyse.analyse("/slow", wait=False))
        self.assertNotIn("done", self.calls)
        _analyse.join()
        self.assertEqual(self.calls, ["analyse /slow", "done"])

    def test_a_failure_in_the_background_is_told_when_it_is_joined(self):
        _analyse.analyse("/broken", wait=False)
        with self.said() as lines:
            _analyse.join()
        self.assertIn("ended with code 4", lines[0][1])

    def test_a_daemonic_process_is_refused_with_advice(self):
        with mock.patch.object(multiprocessing.current_process(), "_config", {"daemon": True}), self.said() as lines:
            self.assertFalse(_analyse.analyse("/c"))
            analyse(self.folder)
        self.assertEqual(self.calls, [])
        self.assertEqual(len(lines), 2)
        self.assertIn("steplens analyse /c", lines[0][1])
        self.assertIn(f"steplens analyse {self.folder}", lines[1][1])


class Captures(AnalyseTest):
    def test_one_or_those_below(self):
        os.makedirs("one/PROF_000001_20240101000000000_ABC")
        self.assertEqual(_paths.captures("one"), ["one"])
        for name in ("many/b", "many/a", "deep/x/c"):
            self.capture(name)
        os.makedirs("many/other")
        self.assertEqual(_paths.captures("many"), ["many/a", "many/b"])
        self.assertEqual(_paths.captures("deep"), ["deep/x/c"])
        self.capture("deep/d")
        self.assertEqual(_paths.captures("deep"), ["deep/d"])
        self.assertEqual(_paths.captures("deep", deep=True), ["deep/d", "deep/x/c"])
        self.assertEqual(_paths.captures("nowhere"), [])


class Torch(AnalyseTest):
    def test_each_capture_has_a_process(self):
        paths = [self.capture(f"all/{name}") for name in "abc"]
        self.quiet(lambda: analyse("all", 2, "db"))
        self.assertEqual(sorted(self.calls), [f"analyse {path} --export-type db --jobs 1" for path in paths])

    def test_one_that_fails_does_not_stop_the_others(self):
        self.capture("all/broken")
        self.capture("all/good")
        with self.said() as lines:
            analyse("all")
        self.assertEqual(len(self.calls), 2)
        self.assertEqual(len(lines), 1)

    def test_a_link_only_warns(self):
        target = self.capture("a_ascend_pt")
        os.symlink(target, "link")
        self.warns("link is a symbolic link", lambda: analyse("link"))
        self.assertEqual(len(self.calls), 1)
        self.assertIn(target, self.calls[0])

    def test_the_number_of_processes_is_checked(self):
        path = self.capture("one")
        cores = os.cpu_count()
        for value, expected in ((0, max(1, cores // 2)), ("2", max(1, cores // 2)), (True, max(1, cores // 2)),
                                (cores + 1, cores)):
            self.warns("max_process_number", lambda: analyse("one", value))
            self.assertEqual(self.calls[-1], f"analyse {path} --jobs {expected}")

    def test_export_types_are_checked(self):
        path = self.capture("one")
        for value in ("json", [], ["x"], 5, [["db"]]):
            self.warns("export_type", lambda: analyse("one", 1, value))
            self.assertEqual(self.calls[-1], f"analyse {path} --jobs 1")
        self.quiet(lambda: analyse("one", 1, ["db", "db", "text"]))
        self.assertEqual(self.calls[-1], f"analyse {path} --export-type db,text --jobs 1")

    def test_a_path_without_captures_is_an_error(self):
        os.makedirs("empty")
        with open("file", "w", encoding="utf-8"):
            pass
        for path, part in (("nowhere", "not there"), ("file", "no folder"), ("empty", "no capture"), ("", "must be a str"), (5, "must be a str")):
            with self.said() as lines:
                analyse(path)
            self.assertEqual([level for level, _ in lines], ["ERROR"], (path, lines))
            self.assertIn(part, lines[0][1])
        self.assertEqual(self.calls, [])

    def test_both_names_are_one_function(self):
        self.assertIs(torch_module.analyse, analyse)


class MindSpore(AnalyseTest):
    def test_captures_are_analysed(self):
        paths = [self.capture(f"all/{name}_ascend_ms") for name in "ab"]
        self.quiet(lambda: ms_module.analyse("all", 1))
        self.assertEqual(sorted(self.calls), [f"analyse {path} --jobs 1 --data-simplification on" for path in paths])
        self.quiet(lambda: Profiler.offline_analyse("all"))
        self.assertEqual(len(self.calls), 4)

    def test_what_the_program_warns_of_is_told(self):
        self.capture("partly_ascend_ms")
        self.warns("rank 0: not all of it", lambda: ms_module.analyse("partly_ascend_ms"))

    def test_none_found_is_an_error(self):
        with self.said() as lines:
            ms_module.analyse(self.folder)
        self.assertIn("Invalid path", lines[0][1])
        self.assertIn("_ascend_ms", lines[0][1])

    def test_a_path_that_breaks_the_rules_raises(self):
        for path in ("nowhere", "a|b", 5):
            with self.assertRaisesRegex(RuntimeError, "Path error"):
                ms_module.analyse(path)

    def test_parameters_are_checked(self):
        self.capture("one")
        for given, part, level in [(dict(max_process_number=0), "max_process_number", "WARNING"),
                                   (dict(pretty=1), "pretty", "WARNING"), (dict(step_list=[1, 3]), "step_list", "ERROR"),
                                   (dict(step_list="x"), "step_list", "ERROR"), (dict(step_list=[]), "step_list", "ERROR"),
                                   (dict(data_simplification=1), "data_simplification", "WARNING")]:
            with self.said() as lines:
                ms_module.analyse("one", **given)
            self.assertEqual([entry[0] for entry in lines], [level], given)
            self.assertIn(part, lines[0][1])
            self.assertNotIn("--step-list", self.calls[-1])

    def test_a_capture_with_files_that_others_may_write_is_left_out(self):
        good, bad = (self.capture(f"all/{name}_ascend_ms") for name in ("good", "bad"))
        for path, mode in ((good, 0o640), (bad, 0o660)):
            name = os.path.join(path, "FRAMEWORK", "mindspore.op_range")
            with open(name, "wb"):
                os.chmod(name, mode)
        with self.said() as lines:
            ms_module.analyse("all", 1)
        self.assertEqual([level for level, _ in lines], ["ERROR"])
        self.assertIn("bad_ascend_ms is not analysed", lines[0][1])
        self.assertIn("can be written by others than its owner", lines[0][1])
        self.assertEqual([call.split()[1] for call in self.calls], [good])

    def test_chosen_steps_reach_the_program(self):
        paths = [self.capture(f"all/{name}_ascend_ms") for name in "ab"]
        self.quiet(lambda: ms_module.analyse("all", 1, step_list=[3, 2], data_simplification=False))
        self.assertEqual(sorted(self.calls),
                         [f"analyse {path} --jobs 1 --step-list 2,3 --data-simplification off" for path in paths])
        self.quiet(lambda: Profiler.offline_analyse(paths[0], step_list=[4], data_simplification=False))
        self.assertTrue(self.calls[-1].endswith("--step-list 4 --data-simplification off"), self.calls[-1])


if __name__ == "__main__":
    unittest.main()
