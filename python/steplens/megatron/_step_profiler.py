"""`StepProfiler`: the profiler that the flags ask for."""

from __future__ import annotations

from typing import Any, Optional

from .. import _command
from ..torch_npu.profiler import schedule
from . import _groups
from ._base import BaseStepProfiler

_SIZES = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "data_parallel_size", "context_parallel_size",
          "expert_model_parallel_size", "sequence_parallel")


class _NamedGroupsProfile(_command.CommandProfile):
    """Its metadata names the process groups as people do: tp, dp, ..."""

    def _all_metadata(self) -> dict:
        metadata = super()._all_metadata()
        groups = _groups.parallel_group_info()
        return {**metadata, "parallel_group_info": groups} if groups else metadata


class StepProfiler(BaseStepProfiler):
    """Does nothing unless --profile is given and this rank is selected.

    `iteration`: iterations done before this process started (from a checkpoint); by default `args.iteration`, or 0. Raises
    AssertionError if the steps cannot be reached and ValueError on a wrong level or export type; nothing raises afterwards.
    """

    def __init__(self, args: Any, iteration: Optional[int] = None):
        super().__init__()
        ranks = list(args.profile_ranks)
        if not args.profile or not _command.is_selected(ranks, all_ranks=ranks == [-1]):
            return
        done = getattr(args, "iteration", 0) if iteration is None else iteration
        steps = _steps(args.profile_step_start, args.profile_step_end, done)
        self._make(args, steps, "all" if ranks == [-1] else ranks, _SIZES, _NamedGroupsProfile)
        self._profile._step_label = done + 1
        self._profile._config.base_iteration = done


def _steps(start: int, end: int, done: int) -> schedule:
    """Iterations start, ..., end-1, counted from 1. If start is the next iteration recording begins at once, without a warm-up.
    An end that is not after start records one step, with a warning."""
    assert start >= 1, f"profile_step_start should be greater than 0, it is {start}"
    assert start > done, f"profile_step_start should be greater than the iterations already done ({done}), it is {start}"
    warmup = 0 if start == done + 1 else 1
    return schedule(wait=0, warmup=warmup, active=_command.length_of(start, end), repeat=1, skip_first=max(0, start - done - 2))
