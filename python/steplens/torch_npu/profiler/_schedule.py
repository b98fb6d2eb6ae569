"""`schedule`: which steps are recorded."""

from __future__ import annotations

from ... import _log, _schedule
from ..._check import Checker
from ..._config import Cycle
from ._constants import ProfilerAction


_ACTIONS = list(ProfilerAction)


class schedule:
    """Step number -> ProfilerAction: after `skip_first` steps, `repeat` times (0: without end) `wait` steps of nothing, `warmup`
    steps that are thrown away and `active` steps that are recorded. With `skip_first_wait` the first cycle has no wait.

    Wrong values warn and are replaced.
    """

    def __init__(self, wait, active, warmup=0, repeat=0, skip_first=0, skip_first_wait=0):
        checker = Checker(_log.warning)
        self.wait = checker.integer("Parameter wait", wait, 0)
        self.active = checker.integer("Parameter active", active, 1, at_least=1)
        self.warmup = checker.integer("Parameter warmup", warmup, 0)
        self.repeat = checker.integer("Parameter repeat", repeat, 0)
        self.skip_first = checker.integer("Parameter skip_first", skip_first, 0)
        self.skip_first_wait = checker.integer("Parameter skip_first_wait", skip_first_wait, 0, at_least=None)
        if self.warmup == 0:
            checker.note("Profiler won't be using warmup, this can skew profiler results")
        self._changes = checker.changes

    def __call__(self, step: int) -> ProfilerAction:
        """Raises ValueError if `step` is negative."""
        return _ACTIONS[_schedule.action_of(self, step)]

    def _cycle(self) -> Cycle:
        return Cycle(**self._as_dict())

    def _as_dict(self) -> dict:
        """As profiler_info.json shows it."""
        return {name: getattr(self, name)
                for name in ("wait", "active", "warmup", "repeat", "skip_first", "skip_first_wait")}


def quiet_schedule(active: int, warmup: int = 0, skip_first: int = 0) -> schedule:
    """One cycle, for interfaces without a warm-up setting: no warning if it is missing."""
    steps = schedule(wait=0, active=active, warmup=warmup or 1, repeat=1, skip_first=skip_first)
    steps.warmup = warmup
    return steps
