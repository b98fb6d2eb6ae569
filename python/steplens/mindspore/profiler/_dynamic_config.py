"""The configuration file of the dynamic profiler: its defaults, its checks, and the text form of the host daemon."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

from ..._check import is_int
from ._constants import (METRICS_BY_NUMBER, AicoreMetrics, ExportType, HostSystem, ProfilerActivity, ProfilerLevel,
                         by_value)

DEFAULT = {
    "start_step": -1, "stop_step": -1, "aic_metrics": "AiCoreNone", "profiler_level": "Level0", "analyse_mode": -1,
    "activities": ["CPU", "NPU"], "export_type": ["text"], "profile_memory": False, "mstx": False,
    "parallel_strategy": False, "with_stack": False, "data_simplification": True, "l2_cache": False, "analyse": False,
    "record_shapes": False, "prof_path": "./", "mstx_domain_include": [], "mstx_domain_exclude": [], "host_sys": [],
    "sys_io": False, "sys_interconnection": False,
}
_FLAGS = ("profile_memory", "mstx", "l2_cache", "parallel_strategy", "with_stack", "record_shapes", "sys_io",
          "sys_interconnection")
_LEVELS = {-1: ProfilerLevel.LevelNone, 0: ProfilerLevel.Level0, 1: ProfilerLevel.Level1, 2: ProfilerLevel.Level2}
_BOTH = [ProfilerActivity.CPU, ProfilerActivity.NPU]
_ACTIVITIES = {0: _BOTH, 1: [ProfilerActivity.CPU], 2: [ProfilerActivity.NPU]}
_EXPORTS = {1: [ExportType.Db], 2: [ExportType.Text, ExportType.Db]}
_MODES = {0: "sync", 1: "async", -1: "no"}


@dataclasses.dataclass(frozen=True)
class DynamicConfig:
    start_step: int
    stop_step: int
    analyse: bool
    analyse_mode: str  # no, sync or async
    prof_path: str
    parameters: dict  # for Profiler

    @property
    def steps(self) -> tuple[int, int]:
        return self.start_step, self.stop_step

    @property
    def mode_of_step_use(self) -> str:
        """`analyse_mode` sets how; `analyse` alone means immediately."""
        return "sync" if self.analyse and self.analyse_mode == "no" else self.analyse_mode


def parse(config: dict[str, Any], warn: Callable[[str], None]) -> DynamicConfig:
    """Wrong values warn and are replaced by their defaults."""
    checks = _Checks(config, warn)
    parameters: dict[str, Any] = {name: checks.boolean(name, False) for name in _FLAGS}
    parameters["data_simplification"] = checks.boolean("data_simplification", True)
    parameters["aic_metrics"] = checks.metrics()
    parameters["profiler_level"] = checks.level()
    parameters["activities"] = checks.members("activities", ProfilerActivity, _ACTIVITIES, _BOTH)
    parameters["export_type"] = checks.members("export_type", ExportType, _EXPORTS, [ExportType.Text])
    parameters["host_sys"] = checks.members("host_sys", HostSystem, {}, [])
    for name in ("mstx_domain_include", "mstx_domain_exclude"):
        parameters[name] = checks.of_type(name, list, [])
    return DynamicConfig(
        start_step=checks.integer("start_step"), stop_step=checks.integer("stop_step"),
        analyse=checks.boolean("analyse", False), analyse_mode=checks.mode(), prof_path=checks.of_type("prof_path", str, "./"),
        parameters=parameters)


class _Checks:
    def __init__(self, config: dict, warn: Callable[[str], None]):
        self._config = dict(config)
        self._warn = warn
        if "aicore_metrics" in config and "aic_metrics" not in config:
            self._config["aic_metrics"] = config["aicore_metrics"]  # the name in older files

    def boolean(self, key: str, default: bool) -> bool:
        return self.of_type(key, bool, default)

    def of_type(self, key: str, kind: type, default: Any) -> Any:
        value = self._config.get(key, default)
        return value if isinstance(value, kind) else self._fall_back(key, default, default)

    def integer(self, key: str) -> int:
        value = self._config.get(key, -1)
        return value if is_int(value) else self._fall_back(key, -1, -1)

    def metrics(self) -> AicoreMetrics:
        value = self._config.get("aic_metrics", "AiCoreNone")
        none = AicoreMetrics.AiCoreNone
        if is_int(value):
            self._warn("aic_metrics as a number is deprecated, use a name.")
            if 0 <= value < len(METRICS_BY_NUMBER):
                return METRICS_BY_NUMBER[value]
            return none if value == -1 else self._fall_back("aic_metrics", none, none.name)
        member = none if value == "AiCoreNone" else by_value(AicoreMetrics, value)
        return member or self._fall_back("aic_metrics", none, none.name)

    def level(self) -> ProfilerLevel:
        value = self._config.get("profiler_level", "Level0")
        member = _LEVELS.get(value) if is_int(value) else by_value(ProfilerLevel, value)
        return member or self._fall_back("profiler_level", ProfilerLevel.Level0, "Level0")

    def mode(self) -> str:
        value = self._config.get("analyse_mode", -1)
        mode = _MODES.get(value) if is_int(value) else None
        return mode or self._fall_back("analyse_mode", "no", -1)

    def members(self, key: str, kind: Any, numbers: dict[int, list], default: list) -> list:
        """A list of names, or a number of the older kind."""
        value = self._config.get(key)
        if value is None and key not in self._config:
            return list(default)
        if is_int(value) and numbers and (value in numbers or kind is ExportType):
            return list(numbers.get(value, default))
        found = [by_value(kind, item) for item in value] if isinstance(value, list) else [None]
        if None in found or (not found and default):  # of activities and export types none is none
            return self._fall_back(key, list(default), [member.value for member in default])
        return found

    def _fall_back(self, key: str, default: Any, shown_default: Any) -> Any:
        self._warn(f"{key} is {self._config.get(key)!r}, which is not valid; it is set to {shown_default!r}.")
        return default


def from_daemon_text(text: str) -> dict | None:
    """The object of the file from the lines KEY=VALUE of a host daemon. None: the text starts no profile."""
    if "NPU_MONITOR_START" in text:
        return None
    values = {}
    for line in text.splitlines():
        key, separator, value = (part.strip() for part in line.partition("="))
        if separator:
            values[key.split("_", 1)[1].lower() if "_" in key and ("PROFILE" in key or "ACTIVITIES" in key) else key] = value
    start = _number(values.get("start_step"))
    config: dict[str, Any] = {"start_step": start, "stop_step": start + _number(values.get("iterations")) - 1,
                              "prof_path": values.get("log_file", "./")}
    for name in (*_FLAGS, "data_simplification", "analyse"):
        source = "msprof_tx" if name == "mstx" else name
        config[name] = values.get(source, "false").lower() == "true"
    if "profiler_level" in values:
        config["profiler_level"] = values["profiler_level"].replace("Level_none", "LevelNone")
    if "aic_metrics" in values:
        config["aic_metrics"] = values["aic_metrics"]
    config["activities"] = {"CPU": ["CPU"], "NPU": ["NPU"]}.get(values.get("activities", ""), ["CPU", "NPU"])
    config["export_type"] = ["db"] if values.get("export_type") == "Db" else ["text"]
    for name in ("host_sys", "mstx_domain_include", "mstx_domain_exclude"):
        items = values.get(name, "None")
        config[name] = [] if items == "None" else [item.strip() for item in items.split(",") if item.strip()]
    return config


def _number(text: str | None) -> int:
    try:
        return int(text)
    except (TypeError, ValueError):
        return 0
