"""From the arguments of `profile` to the internal configuration."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Callable, Optional

from ... import _log
from ..._check import Checker, shown
from ..._config import Config
from ._constants import AiCMetrics, ProfilerActivity, members, supported_activities
from ._experimental import _ExperimentalConfig
from ._schedule import schedule

RECORDED_VARIABLES = ("ASCEND_GLOBAL_LOG_LEVEL", "HCCL_RDMA_TC", "HCCL_RDMA_SL", "ACLNN_CACHE_LIMIT",
                      "HOST_CACHE_CAPACITY", "ASCEND_ENHANCE_ENABLE", "PYTORCH_NPU_ALLOC_CONF",
                      "ASCEND_LAUNCH_BLOCKING", "HCCL_ALGO")


@dataclasses.dataclass
class Settings:
    """The arguments of `profile`, as given."""

    activities: Any = None
    schedule: Any = None
    on_trace_ready: Any = None
    record_shapes: Any = False
    profile_memory: Any = False
    with_stack: Any = False
    with_modules: Any = False
    with_flops: Any = False
    experimental_config: Any = None
    custom_trace_id_callback: Any = None
    use_cuda: Any = None


@dataclasses.dataclass
class Checked:
    config: Config
    schedule: Optional[Callable[[int], Any]]
    on_trace_ready: Optional[Callable[[Any], None]]


def check(given: Settings) -> Checked:
    """Checks in the order of the parameters; wrong ones warn and are replaced."""
    checker = Checker(_log.warning)
    activities = _checked_activities(given.activities, checker)
    schedule_fn = _checked_callable("schedule", given.schedule, checker)
    on_ready = _checked_callable("on_trace_ready", given.on_trace_ready, checker)
    flags = {name: checker.boolean(f"Parameter {name}", getattr(given, name))
             for name in ("record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops")}
    experimental = _checked_experimental(given.experimental_config, activities, checker)
    if given.use_cuda is not None:
        checker.note("Parameter use_cuda is deprecated and has no effect, use activities instead.")
    config = _make_config(activities, schedule_fn, flags, experimental)
    config.analyse = getattr(on_ready, "mode", "no")
    config.changes = list(getattr(schedule_fn, "_changes", [])) + experimental.changes + checker.changes
    return Checked(config, schedule_fn, on_ready)


def _checked_activities(value: Any, checker: Checker) -> set:
    if value is None:
        return supported_activities()
    try:
        activities = set(value)
    except TypeError:
        activities = {None}  # not a list, or members that are not activities
    if not activities or not activities <= supported_activities():
        checker.note(f"Parameter activities is {shown(value)}, which is not a list of {'one or more ' if not activities else ''}supported "
                     "activities; CPU and NPU are used.")
        return supported_activities()
    return activities


def _checked_callable(name: str, value: Any, checker: Checker) -> Optional[Callable]:
    if value is None or callable(value):
        return value
    checker.note(f"Parameter {name} is {shown(value)}, which cannot be called; it is ignored.")
    return None


def _checked_experimental(value: Any, activities: set, checker: Checker) -> _ExperimentalConfig:
    if value is not None and not isinstance(value, _ExperimentalConfig):
        checker.note("Parameter experimental_config is not an _ExperimentalConfig; the default is used.")
        value = None
    if value is not None and ProfilerActivity.NPU not in activities:
        checker.note("Experimental config will not be used for the device while ProfilerActivity.NPU is not set.")
    experimental = value if value is not None else _ExperimentalConfig()
    if experimental._gc_detect_threshold is not None and ProfilerActivity.CPU not in activities:
        checker.note("GC detect will not take effect while ProfilerActivity.CPU is not set.")
    return experimental


def _make_config(activities: set, schedule_fn: Any, flags: dict, experimental: _ExperimentalConfig) -> Config:
    has_cpu = ProfilerActivity.CPU in activities
    level = experimental._profiler_level.replace("Level_", "").replace("Level", "")
    metrics = next(name for name, value in members(AiCMetrics).items() if value == experimental._aic_metrics)
    return Config(
        framework="pytorch",
        activities={activity.name.lower() for activity in activities},
        level=level,
        aic_metrics="None" if metrics == "AiCoreNone" else metrics,
        record_shapes=flags["record_shapes"] and has_cpu,
        with_stack=flags["with_stack"] and has_cpu,
        with_modules=flags["with_modules"] and has_cpu,
        with_flops=flags["with_flops"],
        profile_memory=flags["profile_memory"],
        l2_cache=experimental._l2_cache,
        op_attr=experimental._op_attr,
        record_op_args=experimental.record_op_args,
        mstx=experimental._mstx or experimental._msprof_tx,
        mstx_include=list(experimental._mstx_domain_include),
        mstx_exclude=list(experimental._mstx_domain_exclude),
        sys_io=experimental._sys_io,
        sys_interconnection=experimental._sys_interconnection,
        host_sys=list(experimental._host_sys),
        export=list(experimental._export_type),
        data_simplification=bool(experimental._data_simplification),
        gc_detect_threshold=experimental._gc_detect_threshold if has_cpu else None,
        schedule=schedule_fn._cycle() if isinstance(schedule_fn, schedule) else None,
        info={"common_config": {**_common_info(activities, schedule_fn), **flags},
              "experimental_config": experimental()},
    )


def _common_info(activities: set, schedule_fn: Any) -> dict:
    if schedule_fn is None:
        steps = None
    else:
        steps = schedule_fn._as_dict() if isinstance(schedule_fn, schedule) else {}
    return {"activities": [str(activity) for activity in sorted(activities, key=lambda item: item.value)],
            "schedule": steps}


def environment_metadata() -> dict:
    """Variables that explain results, "" where unset."""
    return {name: os.environ.get(name, "") for name in RECORDED_VARIABLES}
