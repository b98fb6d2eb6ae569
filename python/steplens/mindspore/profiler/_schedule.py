"""`schedule`: which steps are recorded."""

from __future__ import annotations

import enum

from ... import _log, _schedule
from ..._check import Checker
from ..._config import Cycle


class ProfilerAction(enum.Enum):
    NONE = 0
    WARM_UP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


_ACTIONS = list(ProfilerAction)


class schedule:
    """Step number -> ProfilerAction: after `skip_first` steps, `repeat` times (0: without end) `wait` steps of nothing, `warmup`
    steps that are thrown away and `active` steps that are recorded. Wrong values warn and are replaced.

    `warm_up` is the older name of `warmup`.
    """

    skip_first_wait = 0  # a switch of the other framework

    def __init__(self, *, wait, active, warmup=0, repeat=0, skip_first=0, warm_up=None):
        checker = Checker(_log.warning)
        self.wait = checker.integer("Parameter wait", wait, 0)
        self.active = checker.integer("Parameter active", active, 1, at_least=1)
        self.warmup = checker.integer("Parameter warmup", warmup if warm_up is None else warm_up, 0)
        self.repeat = checker.integer("Parameter repeat", repeat, 0)
        self.skip_first = checker.integer("Parameter skip_first", skip_first, 0)
        if self.warmup == 0:
            checker.note("Profiler won't be using warmup, this can skew profiler results")
        self._changes = checker.changes

    def __call__(self, step: int) -> ProfilerAction:
        """Raises ValueError if `step` is negative."""
        return _ACTIONS[_schedule.action_of(self, step)]

    def to_dict(self) -> dict:
        return {"wait": self.wait, "active": self.active, "warmup": self.warmup, "repeat": self.repeat,
                "skip_first": self.skip_first}

    def _cycle(self) -> Cycle:
        return Cycle(**self.to_dict())


def quiet_schedule(active: int, repeat: int = 1, skip_first: int = 0) -> schedule:
    """A schedule without a requested warm-up, and so without a warning about it."""
    steps = schedule(wait=0, active=active, warmup=1, repeat=repeat, skip_first=skip_first)
    steps.warmup = 0
    return steps
