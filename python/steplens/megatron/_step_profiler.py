"""`StepProfiler`: the profiler that the flags ask for."""

from __future__ import annotations

from typing import Any, Optional

from .. import _command, _log
from .._check import is_int, shown
from . import _groups
from ._base import BaseStepProfiler
from ._keys import ProfileArguments

_SIZES = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "data_parallel_size", "context_parallel_size",
          "expert_model_parallel_size", "sequence_parallel")


class _NamedGroupsProfile(_command.CommandProfile):
    """Its metadata names the process groups as people do: tp, dp, ..."""

    def _all_metadata(self) -> dict:
        metadata = super()._all_metadata()
        groups = _groups.parallel_group_info()
        return {**metadata, "parallel_group_info": groups} if groups else metadata


class StepProfiler(BaseStepProfiler):
    """Does nothing unless --profile is given and this rank is selected. Iterations count from 1, as Megatron's training loop does.

    `args`: what a parser made, or a ProfileArguments. `iteration`: iterations done before this process started (from a checkpoint); by
    default `args.iteration`, or 0. Wrong values warn and are replaced; nothing raises.
    """

    def __init__(self, args: Any, iteration: Optional[int] = None):
        super().__init__()
        keys = ProfileArguments.from_namespace(args)
        if not keys.profile or not _command.is_selected(keys.profile_ranks, keys.all_ranks):
            return
        done = getattr(args, "iteration", 0) if iteration is None else iteration
        if not is_int(done) or done < 0:
            _log.warning(f"The number of iterations already done is {shown(done)}, which is not an int of at least 0; 0 is used.")
            done = 0
        self._make(keys, first=done + 1, names=_SIZES, sizes=args, kind=_NamedGroupsProfile)
        if self._profile is not None:
            self._profile._config.base_iteration = done
