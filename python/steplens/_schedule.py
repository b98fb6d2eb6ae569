"""Maps a step number to its action: the arithmetic shared by all interfaces."""

from __future__ import annotations

import enum
import sys
from typing import Any


class Action(enum.IntEnum):
    """What happens in a step. Values as in the frameworks' own enums."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    END = 4  # the profiler is stopped; never returned by a schedule


def action_of(cycle: Any, step: int) -> Action:
    """`cycle`: anything with the attributes of `_config.Cycle`; `step` counts from 0. Raises ValueError if it is negative. Called
    in every step of a training, recorded or not."""
    if step < 0:
        raise ValueError(f"Invalid parameter step, which must be not less than 0: {step}.")
    if step < cycle.skip_first:
        return Action.NONE
    step -= cycle.skip_first
    if cycle.skip_first_wait != 0:
        step += cycle.wait  # the first cycle starts after its wait
    length = cycle.wait + cycle.warmup + cycle.active
    if cycle.repeat > 0 and step >= cycle.repeat * length:
        return Action.NONE
    position = step % length
    if position < cycle.wait:
        return Action.NONE
    if position < cycle.wait + cycle.warmup:
        return Action.WARMUP
    return Action.RECORD if position < length - 1 else Action.RECORD_AND_SAVE


def idle_until(cycle: Any, step: int) -> int:
    """The step until which nothing happens: all from `step` on and before it have the action NONE. `step` itself where that has
    another one."""
    if action_of(cycle, step) is not Action.NONE:
        return step
    if step < cycle.skip_first:
        return cycle.skip_first
    length = cycle.wait + cycle.warmup + cycle.active
    position = step - cycle.skip_first + (cycle.wait if cycle.skip_first_wait != 0 else 0)
    if cycle.repeat > 0 and position >= cycle.repeat * length:
        return sys.maxsize
    return step + cycle.wait - position % length
