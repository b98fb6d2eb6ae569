"""`StepProfiler`: the profiler that the flags ask for."""

from __future__ import annotations

from typing import Any, Optional

from .. import _command
from .._config import Config
from ..torch_npu.profiler import schedule
from . import _groups

_SIZES = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "data_parallel_size", "context_parallel_size",
          "expert_model_parallel_size", "sequence_parallel")


class _NamedGroupsProfile(_command.CommandProfile):
    """Its metadata names the process groups as people do: tp, dp, ..."""

    def _all_metadata(self) -> dict:
        metadata = super()._all_metadata()
        groups = _groups.parallel_group_info()
        return {**metadata, "parallel_group_info": groups} if groups else metadata


class StepProfiler:
    """Does nothing unless --profile is given and this rank is selected.

    `iteration`: iterations done before this process started (from a checkpoint); by default `args.iteration`, or 0. Raises
    AssertionError if the steps cannot be reached and ValueError on a wrong level or export type; nothing raises afterwards.
    """

    def __init__(self, args: Any, iteration: Optional[int] = None):
        self._profile: Optional[_command.CommandProfile] = None
        ranks = list(args.profile_ranks)
        if not args.profile or not _command.is_selected(ranks, all_ranks=ranks == [-1]):
            return
        done = getattr(args, "iteration", 0) if iteration is None else iteration
        steps = _steps(args.profile_step_start, args.profile_step_end, done)
        self._profile = _command.make_profile(
            level=args.profile_level, export_type=args.profile_export_type, save_path=args.profile_save_path,
            with_cpu=args.profile_with_cpu, data_simplification=args.profile_data_simplification, steps=steps,
            kind=_NamedGroupsProfile, with_stack=args.profile_with_stack, profile_memory=args.profile_with_memory,
            record_shapes=args.profile_record_shapes)
        self._profile._step_label = done + 1
        self._profile._config.base_iteration = done
        self._profile._config.ranks = "all" if ranks == [-1] else ranks
        self._profile.add_metadata_json("distributed_args", _command.distributed_args(args, _SIZES))

    @property
    def enabled(self) -> bool:
        return self._profile is not None

    @property
    def config(self) -> Optional[Config]:
        """What is recorded; None if nothing is."""
        return self._profile._config if self._profile is not None else None

    def start(self) -> None:
        """Before the first iteration."""
        if self._profile is not None:
            self._profile.start()

    def step(self) -> None:
        """After each iteration."""
        if self._profile is not None:
            self._profile.step()

    def stop(self) -> None:
        """After the loop."""
        if self._profile is not None:
            self._profile.stop()

    def __enter__(self) -> "StepProfiler":
        self.start()
        return self

    def __exit__(self, exc_type, exc_value, traceback) -> None:
        self.stop()


def _steps(start: int, end: int, done: int) -> schedule:
    """Iterations start, ..., end-1, counted from 1. If start is the next iteration recording begins at once, without a warm-up.
    An end that is not after start records one step: `schedule` corrects it with a warning."""
    assert start >= 1, f"profile_step_start should be greater than 0, it is {start}"
    assert start > done, f"profile_step_start should be greater than the iterations already done ({done}), it is {start}"
    warmup = 0 if start == done + 1 else 1
    return schedule(wait=0, warmup=warmup, active=end - start, repeat=1, skip_first=max(0, start - done - 2))
