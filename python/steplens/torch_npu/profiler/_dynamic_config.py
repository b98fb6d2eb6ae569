"""The configuration of dynamic profiling: its defaults, its checks, and the text form of the host daemon."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Callable, Optional

from ..._check import is_int
from ._constants import AiCMetrics, ProfilerActivity, members
from ._experimental import _ExperimentalConfig

DEFAULT = {
    "activities": ["CPU", "NPU"], "prof_dir": "./", "analyse": False, "async_mode": False, "record_shapes": False,
    "profile_memory": False, "with_stack": False, "with_flops": False, "with_modules": False, "active": 1, "warmup": 0,
    "start_step": 0, "is_rank": False, "rank_list": [],
    "experimental_config": {
        "profiler_level": "Level0", "aic_metrics": "AiCoreNone", "l2_cache": False, "op_attr": False,
        "gc_detect_threshold": None, "data_simplification": True, "record_op_args": False, "export_type": ["text"],
        "msprof_tx": False, "mstx": False, "host_sys": [], "mstx_domain_include": [], "mstx_domain_exclude": [],
        "sys_io": False, "sys_interconnection": False,
    },
}
_FLAGS = ("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules")


@dataclasses.dataclass
class DynamicConfig:
    """A checked configuration. `start_step` -1: the next step."""

    start_step: int
    active: int
    warmup: int
    activities: list
    prof_dir: str
    analyse: bool
    async_mode: bool
    ranks: Optional[list]  # None: all
    flags: dict
    metadata: dict
    experimental: _ExperimentalConfig

    @property
    def steps(self) -> int:
        return self.active + self.warmup

    def wants_rank(self, rank: int) -> bool:
        return self.ranks is None or rank in self.ranks


def parse(config: dict, log: Callable[[str], None]) -> Optional[DynamicConfig]:
    """None if the file could not be read. Wrong values are passed to `log` and replaced by their defaults."""
    if config.get("is_valid") is False:
        log("The configuration is not valid JSON; nothing is started.")
        return None
    checks = _Checks(config, log)
    ranks = checks.ranks()
    analyse = checks.boolean("analyse")
    async_mode = checks.boolean("async_mode")
    if async_mode and not analyse:
        log("async_mode has no effect without analyse.")
    if ranks is not None and analyse and not async_mode:
        log("Selected ranks do not analyse their captures without async_mode; analyse is set to false.")
        analyse = False
    return DynamicConfig(
        start_step=checks.integer("start_step", -1, 0), active=checks.integer("active", 1, 1),
        warmup=checks.integer("warmup", 0, 0), activities=checks.activities(), prof_dir=checks.text("prof_dir", "./"),
        analyse=analyse, async_mode=async_mode, ranks=ranks, flags={name: checks.boolean(name) for name in _FLAGS},
        metadata=checks.mapping("metadata"), experimental=_experimental(checks.mapping("experimental_config")))


class _Checks:
    def __init__(self, config: dict, log: Callable[[str], None]):
        self._config = config
        self._log = log

    def boolean(self, key: str) -> bool:
        return self._checked(key, False, lambda value: isinstance(value, bool))

    def integer(self, key: str, at_least: int, default: int) -> int:
        return self._checked(key, default, lambda value: is_int(value) and value >= at_least)

    def text(self, key: str, default: str) -> str:
        return self._checked(key, default, lambda value: isinstance(value, str) and value != "")

    def mapping(self, key: str) -> dict:
        return self._checked(key, {}, lambda value: isinstance(value, dict))

    def activities(self) -> list:
        names = self._checked("activities", ["CPU", "NPU"], lambda value: isinstance(value, list))
        known = {activity.name: activity for activity in ProfilerActivity}
        found = []
        for name in names:
            if isinstance(name, str) and name.upper() in known:
                found.append(known[name.upper()])
            else:
                self._log(f"activities: {name!r} is not known; it is skipped.")
        if not found:
            self._log(f"activities is {names!r}, which records nothing; CPU and NPU are used.")
        return found or list(ProfilerActivity)

    def ranks(self) -> Optional[list]:
        """The ranks that record, None: all."""
        if not self.boolean("is_rank"):
            return None
        given = self._checked("rank_list", [], lambda value: isinstance(value, list))
        wrong = [item for item in given if not is_int(item) or item < 0]
        if wrong:
            self._log(f"rank_list: {wrong} are no ranks; they are skipped.")
        return [item for item in given if item not in wrong]

    def _checked(self, key: str, default: Any, passes: Callable[[Any], bool]) -> Any:
        if key not in self._config:
            return default
        value = self._config[key]
        if passes(value):
            return value
        self._log(f"{key} is {value!r}, which is not valid; it is set to {default!r}.")
        return default


def _experimental(given: dict) -> _ExperimentalConfig:
    """From a file, where metric groups go by their names. Unknown keys are ignored."""
    known = {key: value for key, value in given.items() if key in DEFAULT["experimental_config"]}
    if "aic_metrics" in known:
        names = members(AiCMetrics)
        name = known["aic_metrics"]
        known["aic_metrics"] = names.get(name, name) if isinstance(name, str) else name
    if known.get("export_type") == []:
        known.pop("export_type")
    return _ExperimentalConfig(**known)


# ---- The host daemon's text: lines KEY=VALUE ---------------------------------------------------------------------------

_DAEMON_TOP = {
    "PROFILE_START_STEP": "start_step", "ACTIVITIES_LOG_FILE": "prof_dir", "ACTIVITIES_ITERATIONS": "active",
    "WARMUP_ITERATIONS": "warmup", "PROFILE_ACTIVITIES": "activities", "PROFILE_ANALYSE": "analyse",
    "PROFILE_ASYNC_MODE": "async_mode", "PROFILE_RECORD_SHAPES": "record_shapes",
    "PROFILE_PROFILE_MEMORY": "profile_memory", "PROFILE_WITH_STACK": "with_stack", "PROFILE_WITH_FLOPS": "with_flops",
    "PROFILE_WITH_MODULES": "with_modules", "PROFILE_IS_RANK": "is_rank", "PROFILE_RANK_LIST": "rank_list",
}
_DAEMON_EXPERIMENTAL = {
    "PROFILE_PROFILER_LEVEL": "profiler_level", "PROFILE_AIC_METRICS": "aic_metrics", "PROFILE_L2_CACHE": "l2_cache",
    "PROFILE_OP_ATTR": "op_attr", "PROFILE_GC_DETECT_THRESHOLD": "gc_detect_threshold",
    "PROFILE_DATA_SIMPLIFICATION": "data_simplification", "PROFILE_EXPORT_TYPE": "export_type",
    "PROFILE_MSPROF_TX": "msprof_tx", "PROFILE_MSTX": "mstx", "PROFILE_HOST_SYS": "host_sys",
    "PROFILE_MSTX_DOMAIN_INCLUDE": "mstx_domain_include", "PROFILE_MSTX_DOMAIN_EXCLUDE": "mstx_domain_exclude",
    "PROFILE_SYS_IO": "sys_io", "PROFILE_SYS_INTERCONNECTION": "sys_interconnection",
}
_LISTS = ("activities", "host_sys", "mstx_domain_include", "mstx_domain_exclude")


def from_daemon_text(text: str) -> Optional[dict]:
    """The same object as in the file. None: the message is for the daemon's own monitor and starts no capture."""
    if "NPU_MONITOR_START" in text:
        return None
    config: dict[str, Any] = {}
    experimental: dict[str, Any] = {}
    for line in text.splitlines():
        key, separator, value = (part.strip() for part in line.partition("="))
        if not separator:
            continue
        if key in _DAEMON_TOP:
            config[_DAEMON_TOP[key]] = _daemon_value(_DAEMON_TOP[key], value)
        elif key in _DAEMON_EXPERIMENTAL:
            experimental[_DAEMON_EXPERIMENTAL[key]] = _daemon_value(_DAEMON_EXPERIMENTAL[key], value)
    return {**config, "experimental_config": experimental}


def _daemon_value(key: str, value: str) -> Any:
    if key in _LISTS:
        return [] if value == "None" else [item.strip() for item in value.split(",") if item.strip()]
    if key == "rank_list":
        return [int(item) if item.strip().isdigit() else item.strip() for item in value.split(",") if item.strip()]
    if key == "export_type":
        return [item.strip().lower() for item in value.split(",") if item.strip()]
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    if key in ("start_step", "active", "warmup", "gc_detect_threshold"):
        try:
            return None if value == "None" else json.loads(value)
        except ValueError:
            return value
    return value
