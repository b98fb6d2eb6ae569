"""What $STEPLENS_RECORD asks for: the flags of `steplens record` as a Config and the steps to record."""

from __future__ import annotations

from typing import Any, Optional

from . import _log


def make_config(settings: dict) -> Any:
    """The Config that the flags ask for; wrong values warn and are replaced, as in the Python interface."""
    from ._command import LEVELS
    from .torch_npu.profiler import ProfilerActivity, ProfilerLevel, _ExperimentalConfig, _settings

    def flag(name: str) -> bool:
        return bool(settings.get("profile_" + name, False))

    def switch(name: str) -> bool:
        return bool(settings.get(name, False))

    level = LEVELS.get(settings.get("profile_level", "level0"), ProfilerLevel.Level0)
    activities = [ProfilerActivity.NPU] + [ProfilerActivity.CPU] * bool(settings.get("profile_with_cpu", True))
    experimental = _ExperimentalConfig(
        profiler_level=level, **_metrics(settings.get("aic_metrics")),
        l2_cache=switch("l2_cache"), mstx=switch("mstx"), data_simplification=flag("data_simplification"),
        record_op_args=switch("record_op_args"), op_attr=switch("op_attr"), gc_detect_threshold=settings.get("gc_threshold_ms"),
        export_type=settings.get("profile_export_type", "text"), host_sys=settings.get("host_sys") or [],
        mstx_domain_include=settings.get("mstx_domain_include") or None,
        mstx_domain_exclude=settings.get("mstx_domain_exclude") or None,
        sys_io=switch("sys_io"), sys_interconnection=switch("sys_interconnection"))
    config = _settings.check(_settings.Settings(
        activities=activities, record_shapes=flag("record_shapes"), profile_memory=flag("with_memory"),
        with_stack=flag("with_stack"), with_modules=flag("with_modules"), with_flops=flag("with_flops"),
        experimental_config=experimental)).config
    config.analyse = settings.get("profile_analyse", "sync")
    config.output_dir = settings.get("profile_save_path") or "./profile_dir"
    config.worker_name = settings.get("worker_name") or None
    return config


def _metrics(name: Optional[str]) -> dict:
    """The parameter for a group's name; none: the default of the level."""
    from .torch_npu.profiler import AiCMetrics

    return {} if name is None else {"aic_metrics": getattr(AiCMetrics, name, name)}


class Window:
    """The steps first, ..., end-1; `end` None: to the end of the program. `warmup` steps before them are collected and thrown away. The
    window comes `repeat` times (0: without end), with `wait` steps in between."""

    def __init__(self, first: int, end: Optional[int], warmup: int = 0, repeat: int = 1, wait: int = 0):
        self.first = first
        self.end = end
        self.warmup = warmup
        self._repeat = repeat
        self._wait = wait

    def next(self) -> Optional["Window"]:
        """The window after this one, which is over."""
        if self.end is None or self._repeat == 1:
            return None
        first = self.end + self._wait + self.warmup
        return Window(first, first + self.end - self.first, self.warmup, max(0, self._repeat - 1), self._wait)

    def is_near(self, step: int) -> bool:
        """Whether `step` is one of its warm-up, or its own."""
        return step >= self.first - self.warmup and not self.is_over(step)

    def has(self, step: int) -> bool:
        return step >= self.first and (self.end is None or step < self.end)

    def is_over(self, step: int) -> bool:
        return self.end is not None and step >= self.end


def wished_window(settings: dict) -> Optional[Window]:
    """What the flags say; None: nothing until a command comes."""
    first, end = settings.get("profile_step_start"), settings.get("profile_step_end")
    if first is None:
        return Window(1, None)
    if first == -1:
        return None
    if first < 1:
        _log.warning(f"profile_step_start is {first}, steps count from 1; 1 is used.")
        first = 1
    warmup, repeat, wait = (settings.get(f"profile_{name}", default) for name, default in (("warmup", 0), ("repeat", 1), ("wait", 0)))
    if end is None or end == -1:
        return Window(first, None, warmup)
    if end <= first:
        _log.warning(f"profile_step_end ({end}) is not after profile_step_start ({first}); one step is recorded.")
        end = first + 1
    return Window(first, end, warmup, repeat, wait)
