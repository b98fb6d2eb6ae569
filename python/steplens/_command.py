"""Profilers that were asked for on a command line or in a YAML file: explicit calls have precedence over them."""

from __future__ import annotations

import json
from typing import Any, Iterable

from . import _log, _rank
from ._session import Source
from .torch_npu.profiler import ProfilerActivity, ProfilerLevel, _ExperimentalConfig, _output, profile, schedule
from .torch_npu.profiler._handler import _TraceHandler

LEVELS = {"level_none": ProfilerLevel.Level_none, "level0": ProfilerLevel.Level0, "level1": ProfilerLevel.Level1,
          "level2": ProfilerLevel.Level2}
EXPORT_TYPES = ("text", "db")


class CommandProfile(profile):
    _source = Source.COMMAND


def make_profile(*, level: str, export_type: str, save_path: str, with_cpu: bool, with_npu: bool = True,
                 data_simplification: bool, mstx: bool = False, analyses: bool = True, steps: schedule,
                 kind: type[CommandProfile] = CommandProfile, **flags: Any) -> CommandProfile:
    """A profile with the switches these surfaces have in common. Raises ValueError on a level or an export type that
    does not exist; `flags` go to `kind` as they are."""
    if level not in LEVELS:
        raise ValueError(f"profiler level must be one of {', '.join(LEVELS)}, it is {level!r}")
    if export_type not in EXPORT_TYPES:
        raise ValueError(f"profiler export type must be one of {', '.join(EXPORT_TYPES)}, it is {export_type!r}")
    activities = [ProfilerActivity.NPU] * bool(with_npu) + [ProfilerActivity.CPU] * bool(with_cpu)
    experimental = _ExperimentalConfig(profiler_level=LEVELS[level], export_type=export_type, mstx=mstx,
                                       data_simplification=data_simplification)
    handler = _TraceHandler("sync" if analyses else "no", _output.checked_place(save_path, None))
    return kind(activities=activities, schedule=steps, on_trace_ready=handler, experimental_config=experimental, **flags)


def length_of(start: int, end: int) -> int:
    """How many steps start, ..., end-1 are; one, with a warning, where the end is not after the start."""
    if end > start:
        return end - start
    _log.warning(f"profile_step_end ({end}) is not after profile_step_start ({start}); one step is recorded.")
    return 1


def is_selected(ranks: Iterable[int], all_ranks: bool) -> bool:
    return all_ranks or _rank.global_rank() in list(ranks)


def distributed_args(args: Any, names: Iterable[str]) -> str:
    """JSON text: the sizes of the job's parallelism as the arguments have them, 1 where they do not, rank and world size."""
    values = {name: getattr(args, name, False if name == "sequence_parallel" else 1) for name in names}
    values.update(rank=_rank.global_rank(), world_size=_rank.world_size())
    return json.dumps(values)
