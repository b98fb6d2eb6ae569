"""Schedules of both frameworks: truth tables worked out by hand, and their checks."""

import unittest

from support import FrontTest, silently
from steplens._schedule import idle_until
from steplens.mindspore.profiler import ProfilerAction as MsAction
from steplens.mindspore.profiler import schedule as ms_schedule
from steplens.torch_npu.profiler import ProfilerAction, schedule

LETTERS = {0: "-", 1: "w", 2: "r", 3: "S"}

# (parameters, actions of steps 0, 1, ...)
TABLE = [
    (dict(wait=0, active=1), "SSSS"),
    (dict(wait=0, active=3), "rrSrrS"),
    (dict(wait=1, active=2), "-rS-rS"),
    (dict(wait=1, warmup=1, active=2), "-wrS-wrS"),
    (dict(wait=1, warmup=1, active=2, repeat=1), "-wrS----"),
    (dict(wait=1, warmup=1, active=2, repeat=2), "-wrS-wrS--"),
    (dict(wait=0, warmup=1, active=1, repeat=1, skip_first=3), "---wS---"),
    (dict(skip_first=2, wait=1, warmup=1, active=2, repeat=1), "---wrS----"),
    (dict(wait=2, warmup=0, active=1, repeat=2), "--S--S---"),
]


class TruthTables(FrontTest):
    def test_nothing_happens_until_the_step_that_is_told(self):
        for parameters, expected in TABLE:
            plan = silently(lambda: schedule(**parameters))
            for step, action in enumerate(expected):
                until = idle_until(plan, step)
                self.assertEqual(until > step, action == "-", (parameters, step))
                self.assertEqual(set(expected[step:until]), {"-"} if until > step else set(), (parameters, step))

    def test_torch(self):
        for parameters, expected in TABLE:
            plan = silently(lambda: schedule(**parameters))
            got = [plan(step) for step in range(len(expected))]
            self.assertTrue(all(isinstance(action, ProfilerAction) for action in got))
            self.assertEqual("".join(LETTERS[action.value] for action in got), expected, parameters)

    def test_mindspore(self):
        for parameters, expected in TABLE:
            plan = silently(lambda: ms_schedule(**parameters))
            got = [plan(step) for step in range(len(expected))]
            self.assertTrue(all(isinstance(action, MsAction) for action in got))
            self.assertEqual("".join(LETTERS[action.value] for action in got), expected, parameters)

    def test_skip_first_wait_drops_the_wait_of_the_first_cycle_only(self):
        plan = silently(lambda: schedule(wait=2, warmup=1, active=1, skip_first=1, skip_first_wait=1))
        self.assertEqual("".join(LETTERS[plan(step).value] for step in range(9)), "-wS--wS--")

    def test_repeat_counts_the_dropped_wait(self):
        plan = silently(lambda: schedule(wait=2, active=1, repeat=1, skip_first_wait=1))
        self.assertEqual("".join(LETTERS[plan(step).value] for step in range(4)), "S---")

    def test_a_negative_step_raises(self):
        for plan in (silently(lambda: schedule(wait=0, active=1)), silently(lambda: ms_schedule(wait=0, active=1))):
            with self.assertRaises(ValueError):
                plan(-1)


class Checks(FrontTest):
    # (parameter, wrong value, what it becomes)
    ROWS = [(name, value, 0) for name in ("wait", "warmup", "repeat", "skip_first") for value in (-1, "1", 1.0, None, True)]
    ROWS += [("active", value, 1) for value in (0, -3, "2", 2.0, None, True)]

    def test_wrong_values_warn_and_are_replaced_in_both(self):
        for make in (schedule, ms_schedule):
            for name, value, expected in self.ROWS:
                good = dict(wait=1, active=2, warmup=1)
                plan = self.warns(name, lambda: make(**{**good, name: value}))
                self.assertEqual(getattr(plan, name), expected, (name, value))

    def test_skip_first_wait_must_be_an_int_of_any_sign(self):
        make = lambda value: schedule(wait=1, active=2, warmup=1, skip_first_wait=value)
        self.assertEqual(self.warns("skip_first_wait", lambda: make("1")).skip_first_wait, 0)
        self.assertEqual(self.quiet(lambda: make(-1)).skip_first_wait, -1)

    def test_good_values_with_a_warm_up_say_nothing(self):
        self.quiet(lambda: schedule(wait=1, active=2, warmup=1, repeat=3, skip_first=4))
        self.quiet(lambda: ms_schedule(wait=1, active=2, warmup=1, repeat=3, skip_first=4))

    def test_no_warm_up_always_warns(self):
        self.warns("warmup", lambda: schedule(wait=1, active=2))
        self.warns("warmup", lambda: ms_schedule(wait=1, active=2))

    def test_torch_takes_them_by_position(self):
        plan = silently(lambda: schedule(1, 2, 3, 4, 5, 6))
        self.assertEqual(plan._as_dict(), {"wait": 1, "active": 2, "warmup": 3, "repeat": 4, "skip_first": 5,
                                           "skip_first_wait": 6})

    def test_mindspore_takes_keywords_only_and_the_older_name(self):
        with self.assertRaises(TypeError):
            ms_schedule(1, 2)
        plan = self.quiet(lambda: ms_schedule(wait=0, active=1, warm_up=2))
        self.assertEqual(plan.to_dict(), {"wait": 0, "active": 1, "warmup": 2, "repeat": 0, "skip_first": 0})


class Signature(unittest.TestCase):
    def test_the_length_of_the_wait_and_of_the_recording_must_be_said(self):
        for given in ({}, {"wait": 1}, {"active": 1}):
            with self.assertRaises(TypeError):
                schedule(**given)


if __name__ == "__main__":
    unittest.main()
