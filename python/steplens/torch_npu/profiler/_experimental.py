"""`_ExperimentalConfig`: the switches beyond those of `profile`. Wrong values warn and are replaced."""

from __future__ import annotations

from typing import Any

from ... import _log
from ..._check import Checker, is_number, is_one_of, shown
from ._constants import AiCMetrics, ExportType, HostSystem, ProfilerLevel, members

_NO_METRICS_LEVELS = (ProfilerLevel.Level0, ProfilerLevel.Level_none)
_DEFAULT_METRICS = object()  # the user named none: the level decides, without a warning


class _ExperimentalConfig:

    def __init__(self, profiler_level: str = ProfilerLevel.Level0, aic_metrics: Any = _DEFAULT_METRICS,
                 l2_cache: bool = False, msprof_tx: bool = False, mstx: bool = False, data_simplification: bool = True,
                 record_op_args: bool = False, op_attr: bool = False, gc_detect_threshold: float | None = None,
                 export_type: str | list = ExportType.Text, host_sys: list | None = None,
                 mstx_domain_include: list | None = None, mstx_domain_exclude: list | None = None,
                 sys_io: bool = False, sys_interconnection: bool = False, **unknown: Any):
        self._profiler_level = profiler_level
        self._aic_metrics = aic_metrics
        self._l2_cache = l2_cache
        self._msprof_tx = msprof_tx
        self._mstx = mstx
        self._data_simplification = data_simplification
        self.record_op_args = record_op_args
        self._op_attr = op_attr
        self._gc_detect_threshold = gc_detect_threshold
        self._export_type = export_type
        self._host_sys = host_sys
        self._mstx_domain_include = mstx_domain_include
        self._mstx_domain_exclude = mstx_domain_exclude
        self._sys_io = sys_io
        self._sys_interconnection = sys_interconnection
        self._checker = Checker(_log.warning)
        for name in unknown:
            self._checker.note(f"Parameter {name} is not known; it is ignored.")
        self._check()

    def __call__(self) -> dict:
        """The switches under the names they have in profiler_info.json."""
        return {name: value for name, value in vars(self).items() if name != "_checker"}

    @property
    def changes(self) -> list:
        return list(self._checker.changes)

    def _check(self) -> None:
        """The order matters: later checks see what earlier ones corrected."""
        check = self._checker
        self._check_level_against_metrics()
        self._l2_cache = check.boolean("Parameter l2_cache", self._l2_cache)
        self._msprof_tx = check.boolean("Parameter msprof_tx", self._msprof_tx)
        if self._msprof_tx:
            _log.warning("Parameter msprof_tx is deprecated, use mstx instead.")
        self._mstx = check.boolean("Parameter mstx", self._mstx)
        if self._profiler_level == ProfilerLevel.Level_none and not (self._mstx or self._msprof_tx):
            check.note("Nothing would be recorded at Level_none without mstx; mstx is set to True.")
            self._mstx = True
        if self._data_simplification is not None:
            self._data_simplification = check.boolean("Parameter data_simplification", self._data_simplification, True)
        self.record_op_args = check.boolean("Parameter record_op_args", self.record_op_args)
        levels = members(ProfilerLevel).values()
        self._profiler_level = check.one_of("Parameter profiler_level", self._profiler_level, levels, ProfilerLevel.Level0)
        self._check_metrics()
        self._op_attr = check.boolean("Parameter op_attr", self._op_attr)
        self._check_export_type()
        if self._op_attr and ExportType.Db not in self._export_type:
            check.note("op_attr needs the export type db; it is set to False.")
            self._op_attr = False
        self._check_gc_threshold()
        self._sys_io = check.boolean("Parameter sys_io", self._sys_io)
        self._sys_interconnection = check.boolean("Parameter sys_interconnection", self._sys_interconnection)
        self._check_domains()
        self._check_host_sys()

    def _check_level_against_metrics(self) -> None:
        if self._aic_metrics is _DEFAULT_METRICS:
            has_metrics = self._profiler_level in (ProfilerLevel.Level1, ProfilerLevel.Level2)
            self._aic_metrics = AiCMetrics.PipeUtilization if has_metrics else AiCMetrics.AiCoreNone
        elif self._profiler_level in _NO_METRICS_LEVELS and self._aic_metrics != AiCMetrics.AiCoreNone:
            self._checker.note(f"aic_metrics needs Level1 or Level2, the level is {self._profiler_level}; "
                               "it is set to AiCoreNone.")
            self._aic_metrics = AiCMetrics.AiCoreNone

    def _check_metrics(self) -> None:
        is_level0 = self._profiler_level == ProfilerLevel.Level0
        default = AiCMetrics.AiCoreNone if is_level0 else AiCMetrics.PipeUtilization
        allowed = members(AiCMetrics).values()
        self._aic_metrics = self._checker.one_of("Parameter aic_metrics", self._aic_metrics, allowed, default)

    def _check_export_type(self) -> None:
        given = [self._export_type] if isinstance(self._export_type, str) else self._export_type
        allowed = list(members(ExportType).values())
        if isinstance(given, list) and given and all(is_one_of(item, allowed) for item in given):
            self._export_type = list(dict.fromkeys(given))
            return
        self._checker.note(f"Parameter export_type is {shown(self._export_type)}, "
                           "which is neither text nor db nor a list of these; it is set to ['text'].")
        self._export_type = [ExportType.Text]

    def _check_gc_threshold(self) -> None:
        if self._gc_detect_threshold is None:
            return
        if not is_number(self._gc_detect_threshold) or self._gc_detect_threshold < 0:
            self._checker.note(f"Parameter gc_detect_threshold is {shown(self._gc_detect_threshold)}, "
                               "which is not a number of milliseconds; it is set to None.")
            self._gc_detect_threshold = None
        elif self._gc_detect_threshold == 0:
            _log.info("Parameter gc_detect_threshold is 0: all gc events are collected.")

    def _check_domains(self) -> None:
        self._mstx_domain_include = self._checked_domains("mstx_domain_include", self._mstx_domain_include)
        self._mstx_domain_exclude = self._checked_domains("mstx_domain_exclude", self._mstx_domain_exclude)
        if self._mstx_domain_include and self._mstx_domain_exclude:
            self._checker.note("mstx_domain_include and mstx_domain_exclude are both given; mstx_domain_exclude is ignored.")
            self._mstx_domain_exclude = []

    def _checked_domains(self, name: str, value: Any) -> list:
        if value is None or is_one_of(value, [[], (), ""]):
            return []
        if not (self._mstx or self._msprof_tx):
            self._checker.note(f"Parameter {name} has no effect without mstx; it is ignored.")
            return []
        return self._checker.member_list(f"Parameter {name}", value, lambda item: isinstance(item, str), [])

    def _check_host_sys(self) -> None:
        if self._host_sys is None:
            self._host_sys = []
            return
        allowed = list(members(HostSystem).values())
        self._host_sys = self._checker.member_list("Parameter host_sys", self._host_sys, lambda item: is_one_of(item, allowed), [])
