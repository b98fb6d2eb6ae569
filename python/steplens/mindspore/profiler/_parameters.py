"""The parameters of `Profiler`: their types, defaults, checks, and the rules between them."""

from __future__ import annotations

from typing import Any, Callable

from ... import _log, _rank, _versions
from ..._check import Checker, shown
from ..._config import Config
from ._constants import METRICS_BY_NUMBER, AicoreMetrics, ExportType, HostSystem, ProfilerActivity, ProfilerLevel
from ._schedule import quiet_schedule, schedule

_FLAGS_FALSE = ("with_stack", "profile_memory", "data_process", "parallel_strategy", "l2_cache", "hbm_ddr", "pcie",
                "sys_io", "sys_interconnection", "record_shapes", "mstx")
_FLAGS_TRUE = ("start_profile", "sync_enable", "data_simplification")
# The order of profiler_parameters in profiler_info_<rank>.json.
KEYS = ("output_path", "profiler_level", "activities", "aic_metrics", "with_stack", "profile_memory", "data_process",
        "parallel_strategy", "start_profile", "l2_cache", "hbm_ddr", "pcie", "sys_io", "sys_interconnection", "host_sys",
        "sync_enable", "data_simplification", "record_shapes", "export_type", "mstx", "mstx_domain_include",
        "mstx_domain_exclude", "schedule", "on_trace_ready")
_WITHOUT_EFFECT = {
    "profile_communication": "use profiler_level=ProfilerLevel.Level1 or Level2", "op_time": "use activities with NPU",
    "profile_framework": "use activities with CPU", "host_stack": "use with_stack", "timeline_limit": "there is no limit",
}
_DEPRECATED = {"hbm_ddr": "profile_memory", "pcie": "sys_interconnection"}
_NO_METRICS_LEVELS = (ProfilerLevel.LevelNone, ProfilerLevel.Level0)


class Parameters:
    """Checked values as attributes, one per key of KEYS, and `is_set_schedule`, `changes`. Nothing here raises."""

    def __init__(self, given: dict[str, Any]):
        self._checker = Checker(_log.warning)
        given = {key: value for key, value in given.items() if value is not None}
        if "aicore_metrics" in given and "aic_metrics" not in given:
            given["aic_metrics"] = _old_metrics(given["aicore_metrics"])
        for key, advice in _WITHOUT_EFFECT.items():
            if key in given:
                self._checker.note(f"Parameter {key} is deprecated and has no effect, {advice}.")
        self.is_set_schedule = isinstance(given.get("schedule"), schedule)
        for key in KEYS:
            setattr(self, key, self._checked(key, given))
        for key, advice in _DEPRECATED.items():
            if getattr(self, key):
                _log.warning(f"Parameter {key} will be deprecated, use {advice} instead.")
        self._apply_rules()

    @property
    def changes(self) -> list:
        return self._checker.changes

    def _checked(self, key: str, given: dict) -> Any:
        default = _default(key)
        if key not in given:
            return default
        value = given[key]
        if key in _FLAGS_FALSE or key in _FLAGS_TRUE:
            return self._checker.boolean(f"Parameter {key}", value, default)
        return _CHECKS[key](self, key, value, default)

    def _check_type(self, key: str, value: Any, default: Any) -> Any:
        if isinstance(value, type(default)):
            return value
        self._checker.note(f"Parameter {key} is {shown(value)}, which is not a {type(default).__name__}; "
                           f"it is set to {getattr(default, 'value', default)}.")
        return default

    def _check_enums(self, key: str, value: Any, default: list) -> list:
        kind = ProfilerActivity if key == "activities" else HostSystem
        if key == "host_sys" and not value:
            return []
        if key == "activities" and value == []:
            self._checker.note("Parameter activities is [], which records nothing; it is set to "
                               f"{[member.value for member in default]}.")
            return list(default)
        return self._checker.member_list(f"Parameter {key}", value, lambda item: isinstance(item, kind), default)

    def _check_export(self, key: str, value: Any, default: list) -> list:
        if isinstance(value, ExportType):
            return [value]
        if isinstance(value, str) and value in ("text", "db"):
            return [ExportType(value)]
        if not value:
            return default
        return self._checker.member_list(f"Parameter {key}", value, lambda item: isinstance(item, ExportType), default)

    def _check_domains(self, key: str, value: Any, default: list) -> list:
        if not value:
            return []
        return self._checker.member_list(f"Parameter {key}", value, lambda item: isinstance(item, str) and item != "", [])

    def _check_schedule(self, key: str, value: Any, default: schedule) -> schedule:
        return self._check_type(key, value, default)

    def _check_handler(self, key: str, value: Any, default: None) -> Any:
        if callable(value):
            return value
        self._checker.note(f"Parameter {key} is {shown(value)}, which cannot be called; it is ignored.")
        return None

    def _apply_rules(self) -> None:
        """Each rule sees what the ones before it changed."""
        note = self._checker.note
        if self.is_set_schedule and self.data_process:
            note("data_process has no effect with a schedule; it is set to False.")
            self.data_process = False
        if not self.mstx and self.profiler_level is ProfilerLevel.LevelNone:
            note("Nothing would be recorded at LevelNone without mstx; profiler_level is set to Level0.")
            self.profiler_level = ProfilerLevel.Level0
        if self.profiler_level in _NO_METRICS_LEVELS and self.aic_metrics is not AicoreMetrics.AiCoreNone:
            note(f"aic_metrics needs Level1 or Level2, the level is {self.profiler_level.value}; it is set to AiCoreNone.")
            self.aic_metrics = AicoreMetrics.AiCoreNone
        if self.profiler_level not in _NO_METRICS_LEVELS and self.aic_metrics is AicoreMetrics.AiCoreNone:
            note(f"{self.profiler_level.value} needs a metric group; aic_metrics is set to PipeUtilization.")
            self.aic_metrics = AicoreMetrics.PipeUtilization
        if self.record_shapes and ProfilerActivity.CPU not in self.activities:
            note("record_shapes needs the activity CPU; it is set to False.")
            self.record_shapes = False
        if not self.mstx and (self.mstx_domain_include or self.mstx_domain_exclude):
            note("mstx_domain_include and mstx_domain_exclude have no effect without mstx; they are ignored.")
            self.mstx_domain_include, self.mstx_domain_exclude = [], []
        if self.mstx_domain_include and self.mstx_domain_exclude:
            note("mstx_domain_include and mstx_domain_exclude are both given; mstx_domain_exclude is ignored.")
            self.mstx_domain_exclude = []

    # ---- What becomes of them -------------------------------------------------------------------------------------

    def as_dict(self) -> dict:
        """As in profiler_info_<rank>.json: values of enums, the schedule as an object, no handler."""
        values = {key: _plain(getattr(self, key)) for key in KEYS if key != "on_trace_ready"}
        return {**values, "is_set_schedule": self.is_set_schedule}

    def config(self) -> Config:
        return Config(
            framework="mindspore",
            activities={activity.value.lower() for activity in self.activities},
            level=self.profiler_level.value.replace("Level", "").lower(),
            aic_metrics=self.aic_metrics.value,
            record_shapes=self.record_shapes,
            with_stack=self.with_stack,
            profile_memory=self.profile_memory,
            hardware_memory=self.hbm_ddr,
            l2_cache=self.l2_cache,
            mstx=self.mstx,
            mstx_include=list(self.mstx_domain_include),
            mstx_exclude=list(self.mstx_domain_exclude),
            sys_io=self.sys_io,
            sys_interconnection=self.sys_interconnection or self.pcie,
            host_sys=[item.value for item in self.host_sys],
            export=[item.value for item in self.export_type],
            data_simplification=self.data_simplification,
            schedule=self.schedule._cycle() if self.is_set_schedule else None,
            data_process=self.data_process,
            parallel_strategy=self.parallel_strategy,
            changes=list(getattr(self.schedule, "_changes", [])) + self.changes,
        )

    def info(self, rank: str) -> dict:
        """The members of profiler_info_<rank>.json."""
        return {
            "profiler_parameters": self.as_dict(),
            "ms_profiler_info": {"rank_id": rank, "device_id": str(_rank.mindspore_device() or 0)},
            "cann_profiler_info": {}, "analysis_cost_time": {},
            "ms_version": _versions.of("mindspore"), "cann_version": _versions.cann(), "jit_level": "",
        }


_CHECKS: dict[str, Callable] = {
    "output_path": Parameters._check_type, "profiler_level": Parameters._check_type, "aic_metrics": Parameters._check_type,
    "activities": Parameters._check_enums, "host_sys": Parameters._check_enums, "export_type": Parameters._check_export,
    "mstx_domain_include": Parameters._check_domains, "mstx_domain_exclude": Parameters._check_domains,
    "schedule": Parameters._check_schedule, "on_trace_ready": Parameters._check_handler,
}


def _default(key: str) -> Any:
    if key in _FLAGS_FALSE:
        return False
    if key in _FLAGS_TRUE:
        return True
    return {"output_path": "./data", "profiler_level": ProfilerLevel.Level0, "aic_metrics": AicoreMetrics.AiCoreNone,
            "activities": [ProfilerActivity.CPU, ProfilerActivity.NPU], "host_sys": [],
            "export_type": [ExportType.Text], "mstx_domain_include": [], "mstx_domain_exclude": [],
            "schedule": quiet_schedule(active=1, repeat=0), "on_trace_ready": None}[key]


def _old_metrics(value: Any) -> Any:
    """Older versions took a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return METRICS_BY_NUMBER[value] if 0 <= value < len(METRICS_BY_NUMBER) else AicoreMetrics.AiCoreNone
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, schedule):
        return value.to_dict()
    return getattr(value, "value", value)
