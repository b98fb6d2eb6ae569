"""Hooks around the stages of a step. None of them raises."""

from __future__ import annotations

import functools
import os
from typing import Any, Callable, Optional

from .. import _command, _log
from .._check import is_int
from .._rank import global_rank
from ..torch_npu.npu import mstx
from ..torch_npu.profiler._offline import analyse_below
from ..torch_npu.profiler._schedule import quiet_schedule
from ..torch_npu.profiler.profiler import profile
from ._config import ROLE, ProfilerConfig

__all__ = ["analyse", "mstx_timer_decorator", "profiler_start", "profiler_step", "profiler_stop"]


@_log.guarded()
def profiler_start(config: Optional[ProfilerConfig], role: str = ROLE, iteration: Optional[int] = None) -> Optional[profile]:
    """A running profiler if the configuration wants one here, else None. `role`: the stage that begins, or "integrated" for
    the whole step, at the start of the worker; `iteration`: from 1."""
    if config is None or not _wants(config, role, iteration):
        return None
    is_whole = config.stage == "all"
    start, end = _steps_of(config) if is_whole else (1, 2)
    steps = quiet_schedule(active=_command.length_of(start, end), skip_first=start - 1)
    marks_alone = not config.profile_with_cpu and not config.profile_with_npu
    if marks_alone:
        _log.warning("profile_with_cpu and profile_with_npu are both false; nothing but marks (mstx) is recorded.")
    made = _command.make_profile(
        level="level_none" if marks_alone else config.profile_level, export_type=config.profile_export_type,
        save_path=os.path.join(config.base_path, role), with_cpu=config.profile_with_cpu,
        with_npu=config.profile_with_npu or marks_alone, data_simplification=True, mstx=config.mstx or marks_alone,
        analyses=config.profile_analysis, steps=steps, with_modules=config.profile_with_module,
        profile_memory=config.profile_with_memory, record_shapes=config.profile_record_shapes)
    made._config.stages = "all" if is_whole else [role]
    made._config.ranks = "all" if config.ranks is None else config.ranks
    made._step_label = 1 if is_whole else iteration or 1
    made.start()
    return made


@_log.guarded()
def profiler_step(profiler: Optional[profile]) -> None:
    """At the end of a stage, or of each actor update."""
    if profiler is not None:
        profiler.step()


@_log.guarded()
def profiler_stop(profiler: Optional[profile]) -> None:
    """At the end of the worker: closes a running recording."""
    if profiler is not None:
        profiler.stop()


@_log.guarded()
def analyse(path: str = "./profiler_data", max_process_number: int = max(1, (os.cpu_count() or 1) // 2),
            export_type: Any = None) -> None:
    """Analyses all captures below `path`, of all stages; parameters as for torch_npu.profiler.profiler.analyse."""
    analyse_below(path, max_process_number, export_type, deep=True)


def mstx_timer_decorator(function: Callable) -> Callable:
    """Each call is a range named Class.method, closed also when the function raises."""
    name = function.__qualname__

    @functools.wraps(function)
    def call(*args, **kwargs):
        range_id = mstx.range_start(name)
        try:
            return function(*args, **kwargs)
        finally:
            mstx.range_end(range_id)

    return call


def _steps_of(config: ProfilerConfig) -> tuple[int, int]:
    """The first step, and the one before which recording ends, which stays excluded."""
    start = config.profile_step_start
    if start < 1:
        _log.warning(f"profile_step_start is {start}, and iterations count from 1; it is set to 1.")
        start = 1
    return start, config.profile_step_end


def _wants(config: ProfilerConfig, role: str, iteration: Optional[int]) -> bool:
    if not config.profile:
        return False
    for name in ("profile_step_start", "profile_step_end"):
        if not is_int(getattr(config, name)):
            raise ValueError(f"{name} must be an int, it is {getattr(config, name)!r}; nothing is recorded")
    if iteration is not None and not config.profile_step_start <= iteration < config.profile_step_end:
        return False
    if not _is_stage(config.stage, role):
        return False
    return config.ranks is None or global_rank() in config.ranks


def _is_stage(stage: Any, role: str) -> bool:
    if stage == "all":
        return role == ROLE
    if isinstance(stage, str):
        return stage == role
    if isinstance(stage, (list, tuple, set)):
        return role in stage
    _log.warning(f"stage is {stage!r}, which is neither a stage nor a list of stages; nothing is recorded.")
    return False
