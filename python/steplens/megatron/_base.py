"""What both kinds of step profilers are: a profile that may not be there."""

from __future__ import annotations

from typing import Any, Optional

from .. import _command, _log, _rank
from .._config import Config
from ..torch_npu.profiler._schedule import quiet_schedule, schedule
from ._keys import ProfileArguments

_TO_THE_END = 1_000_000


class BaseStepProfiler:
    """Does nothing where this process is not to record: `_profile` is None then."""

    def __init__(self) -> None:
        self._profile: Optional[_command.CommandProfile] = None

    def _make(self, keys: ProfileArguments, first: int, names: tuple, sizes: Any = None, kind: type = _command.CommandProfile) -> None:
        """The profile that the keys ask for. `first`: the number of the iteration that comes next; `names`: the attributes of `sizes` that
        go to the metadata. Without one where that fails: a training does not end because of it."""
        try:
            self._profile = self._new_profile(keys, first, kind)
            self._profile.add_metadata_json("distributed_args", _command.distributed_args(sizes, names))
        except Exception as problem:
            _log.error(f"Nothing is recorded: {_log.describe(problem)}")
            self._profile = None

    @staticmethod
    def _new_profile(keys: ProfileArguments, first: int, kind: type) -> _command.CommandProfile:
        if _rank.global_rank() == 0 or not keys.all_ranks:
            keys.tell_sources()
        made = _command.make_profile(
            level=keys.profile_level, export_type=keys.profile_export_type, save_path=keys.profile_save_path,
            with_cpu=keys.profile_with_cpu, data_simplification=keys.profile_data_simplification, steps=_steps(keys, first),
            kind=kind, with_stack=keys.profile_with_stack, profile_memory=keys.profile_with_memory,
            record_shapes=keys.profile_record_shapes)
        made._config.ranks = "all" if keys.all_ranks else list(keys.profile_ranks)
        made._step_label = first
        return made

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

    def __enter__(self) -> "BaseStepProfiler":
        self.start()
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        self.stop()


def _steps(keys: ProfileArguments, first: int) -> schedule:
    """Iterations start, ..., end-1, in the numbers of the training, whose next one is `first`. One that is warmed up in comes before a
    start that is not `first`."""
    start, end = keys.profile_step_start, keys.profile_step_end
    if start < first:
        if start > 0:
            _log.warning(f"profile_step_start is {start}, and iteration {first} is the first of this run; recording begins there.")
        start = first
    active = _TO_THE_END if end == -1 else _command.length_of(start, end)
    return quiet_schedule(active, warmup=int(start > first), skip_first=max(0, start - first - 1))
