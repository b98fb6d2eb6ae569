"""The state machine: every transition, failures of a capture, who may record, forks."""

import os
import unittest

from support import FakeCapture, FrontTest, silently
from steplens import _session
from steplens._config import Config
from steplens._machine import Machine
from steplens._schedule import Action
from steplens._session import Source

NONE, WARMUP, RECORD, SAVE, END = Action
I, W, S, P, F, R, D = "init", "warmup", "start", "stop", "finalize", "ready", "discard"

# (from, to) -> operations and a part of the warning.
TABLE = {
    (NONE, NONE): ([], None), (NONE, WARMUP): ([I, W], None), (NONE, RECORD): ([I, S], None), (NONE, SAVE): ([I, S], None),
    (NONE, END): ([], None),
    (WARMUP, NONE): ([S, P, F], "WARMUP followed by NONE"), (WARMUP, WARMUP): ([], None), (WARMUP, RECORD): ([S], None),
    (WARMUP, SAVE): ([S], None), (WARMUP, END): ([D], "current state is WARMUP which will result in empty parsed data."),
    (RECORD, NONE): ([P, F], "RECORD followed by NONE"), (RECORD, WARMUP): ([P, F], "RECORD followed by WARMUP"),
    (RECORD, RECORD): ([], None), (RECORD, SAVE): ([], None),
    (RECORD, END): ([P, F, R], "current state is RECORD which may result in incomplete parsed data."),
    (SAVE, NONE): ([P, F, R], None), (SAVE, WARMUP): ([P, F, R, I, W], None), (SAVE, RECORD): ([P, F, R, I, S], None),
    (SAVE, SAVE): ([P, F, R, I, S], None),
    (SAVE, END): ([P, F, R], "Stop profiler while current state is RECORD_AND_SAVE, perhaps the scheduling cycle"),
}


class MachineCase(FrontTest):
    def setUp(self):
        super().setUp()
        self.count = 0

    def machine(self, source=Source.API, on_ready=None, **options):
        def new_directory():
            self.count += 1
            return os.path.join(self.folder, f"capture{self.count}")

        made = Machine(Config(), source, new_directory, lambda: {"k": "v"},
                       on_ready or (lambda directory: FakeCapture.log.append("ready")), **options)
        self.addCleanup(lambda: silently(lambda: made.stop(complains=False)))
        return made


class Transitions(MachineCase):
    def test_every_transition_does_what_the_table_says(self):
        for (before, after), (operations, warning) in TABLE.items():
            machine = self.machine()
            with self.said():
                machine.start(before)
            self.log
            with self.said() as lines:
                machine.stop() if after is END else machine.step(after)
            self.assertEqual(self.operations, operations, (before, after))
            if warning is None:
                self.assertEqual(lines, [], (before, after))
            else:
                self.assertTrue(any(warning in text for _, text in lines), (before, after, lines))
            with self.said():
                machine.stop()

    def test_after_record_then_warm_up_nothing_runs(self):
        machine = self.machine()
        machine.start(RECORD)
        with self.said():
            machine.step(WARMUP)
        self.log
        machine.step(RECORD)
        self.assertEqual(self.operations, [])

    def test_steps_are_ranges_inside_a_capture_only(self):
        machine = self.machine()
        machine.start(NONE, 0)
        machine.step(RECORD, 1)
        machine.step(SAVE, 2)
        machine.step(NONE, 3)
        machine.stop()
        self.assertEqual(self.log, [I, S, ("step_begin", 1), "step_end", ("step_begin", 2), "step_end", P, F, R])

    def test_a_capture_that_cannot_be_made_is_reported_and_the_next_is_tried(self):
        FakeCapture.fails = {"init"}
        machine = self.machine()
        with self.said() as lines:
            machine.start(SAVE, 0)
            FakeCapture.fails = set()
            machine.step(SAVE, 1)
        self.assertEqual(lines, [("ERROR", "Call start failed. Exception: init was told to fail")])
        self.assertEqual(self.operations, [I, I, S])
        self.assertTrue(_session.running())

    def test_a_start_that_fails_costs_the_capture_and_frees_the_process(self):
        FakeCapture.fails = {"start"}
        machine = self.machine()
        with self.said():
            machine.start(RECORD)
        self.assertEqual(self.operations, [I, S, D])
        self.assertFalse(_session.running())
        self.assertEqual(os.listdir(self.folder), [])
        with self.said() as lines:
            machine.stop()
        self.assertEqual(self.operations, [])
        self.assertEqual(len(lines), 1)

    def test_failures_at_the_end_are_reported_and_the_rest_is_done(self):
        FakeCapture.fails = {"stop", "finalize"}
        machine = self.machine()
        machine.start(SAVE)
        with self.said() as lines:
            machine.step(NONE)
        self.assertEqual(self.operations, [I, S, P, F, R])
        self.assertEqual([level for level, _ in lines], ["ERROR", "ERROR"])
        self.assertFalse(_session.running())

    def test_a_handler_that_raises_does_not_stop_the_next_cycle(self):
        def handler(_directory):
            raise ValueError("mine")

        machine = self.machine(on_ready=handler)
        machine.start(SAVE)
        with self.said() as lines:
            machine.step(SAVE)
        self.assertEqual(lines, [("ERROR", "Call on_trace_ready failed. Exception: mine")])
        self.assertEqual(self.operations, [I, S, P, F, I, S])

    def test_a_capture_stopped_in_its_warm_up_may_be_kept(self):
        machine = self.machine(keeps_empty=True)
        machine.start(WARMUP)
        with self.said():
            machine.stop()
        self.assertEqual(self.operations, [I, W, F])

    def test_a_forked_child_leaves_the_capture_of_its_parent_alone(self):
        machine = self.machine()
        machine.start(RECORD, 0)
        before = len(FakeCapture.log)
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            machine.step(SAVE, 1)
            machine.stop()
            os.write(write, bytes([len(FakeCapture.log) - before, not _session.running()]))
            os._exit(0)
        os.waitpid(pid, 0)
        self.assertEqual(os.read(read, 2), bytes([0, 1]))
        os.close(read)
        os.close(write)


class Precedence(MachineCase):
    def test_the_same_or_a_lower_surface_is_refused(self):
        for running in Source:
            for second in Source:
                if second > running:
                    continue
                first = self.machine(running)
                first.start(RECORD)
                other = self.machine(second)
                self.log
                self.warns("is refused", lambda: other.start(RECORD))
                other.step(SAVE)
                other.stop(complains=False)
                self.assertEqual(self.operations, [], (running, second))
                first.stop(complains=False)
                self.assertEqual(self.operations, [P, F, R])

    def test_a_higher_surface_takes_over_and_what_was_recorded_is_kept(self):
        first = self.machine(Source.ENVIRONMENT)
        first.start(RECORD, 0)
        self.log
        second = self.machine(Source.API)
        self.warns("has precedence", lambda: second.start(RECORD))
        self.assertEqual(self.log, ["step_end", P, F, R, I, S])
        first.step(SAVE, 1)
        first.stop(complains=False)
        self.assertEqual(self.log, [])
        second.stop(complains=False)
        self.assertEqual(self.operations, [P, F, R])

    def test_a_warm_up_that_is_overtaken_leaves_nothing(self):
        first = self.machine(Source.COMMAND)
        first.start(WARMUP)
        with self.said():
            self.machine(Source.DYNAMIC).start(RECORD)
        self.assertEqual(os.listdir(self.folder), ["capture2"])


if __name__ == "__main__":
    unittest.main()
