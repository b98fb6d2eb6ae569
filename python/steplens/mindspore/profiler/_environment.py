"""MS_PROFILER_OPTIONS: a profiler without a change in the program. Read once, when the package is imported."""

from __future__ import annotations

import atexit
import json
import os
import sys
from typing import Any, Optional

from ... import _log
from ..._check import Checker
from ..._session import Source
from ._constants import AicoreMetrics, ExportType, HostSystem, ProfilerActivity, ProfilerLevel, by_value
from ._parameters import KEYS
from .profiler import Profiler

VARIABLE = "MS_PROFILER_OPTIONS"


class _EnvironmentProfiler(Profiler):
    """Calls of the API and dynamic profiling have precedence over it."""

    _source = Source.ENVIRONMENT


class EnvProfiler:
    """The profiler of this process that the variable asks for. Its capture is analysed when the process ends."""

    _profiler: Optional[Profiler] = None  # of the process

    def init(self) -> None:
        options = read_options()
        if not options or EnvProfiler._profiler is not None:
            return
        check = Checker(_log.warning)
        starts = check.boolean(f"{VARIABLE}: start", options.pop("start", False))
        if "start_profile" in options:
            starts = check.boolean(f"{VARIABLE}: start_profile", options.pop("start_profile"), True)
        if not starts:
            return
        _load_framework()
        try:
            EnvProfiler._profiler = _EnvironmentProfiler(start_profile=True, **options)
        except Exception as problem:  # the program did not ask for it: it must not die of it
            _log.error(f"{VARIABLE} cannot be used: {_log.describe(problem)}")
            return
        atexit.register(self.finish)

    @staticmethod
    def finish() -> None:
        profiler, EnvProfiler._profiler = EnvProfiler._profiler, None
        if profiler is not None and profiler._machine is not None and profiler._machine._pid == os.getpid():
            profiler.analyse()


def _load_framework() -> None:
    """Operators are seen only if their framework is there when recording starts. Importing this package stands for importing
    the framework, so it is done now; a program without PyTorch has none to see."""
    if "mindspore" not in sys.modules:
        try:
            import torch  # noqa: F401
        except Exception as problem:
            if not isinstance(problem, ModuleNotFoundError):
                _log.warning(f"PyTorch cannot be imported, its operators are not recorded: {_log.describe(problem)}")


def read_options() -> dict[str, Any]:
    """The parameters of Profiler that the variable holds, and `start`. {} if it is unset or wrong."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return {}
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict) or not given:
        _log.error(f"Failed to load {VARIABLE}, json decode error.")
        return {}
    options = {key: value for key, value in given.items()
               if key in KEYS and key not in ("schedule", "on_trace_ready") or key == "start"}
    _convert(options)
    return options


def _convert(options: dict[str, Any]) -> None:
    """Texts to enums. What cannot be converted warns here or, if its type is wrong, in the checks of Profiler."""
    _convert_list(options, "activities", ProfilerActivity, [ProfilerActivity.CPU, ProfilerActivity.NPU])
    _convert_list(options, "host_sys", HostSystem, [])
    _convert_one(options, "aic_metrics", AicoreMetrics, AicoreMetrics.AiCoreNone)
    _convert_one(options, "profiler_level", ProfilerLevel, ProfilerLevel.Level0)
    if "export_type" in options:
        given = options["export_type"]
        options["export_type"] = [given] if isinstance(given, str) else given if isinstance(given, list) else ["?"]
        _convert_list(options, "export_type", ExportType, [ExportType.Text])


def _convert_list(options: dict, key: str, kind: Any, default: list) -> None:
    if not isinstance(options.get(key), list):
        return
    members = [by_value(kind, item) for item in options[key]]
    if None in members:
        _log.warning(f"{VARIABLE}: {key} has members that are not valid; it is set to "
                     f"{[member.value for member in default]}.")
        members = default
    options[key] = members


def _convert_one(options: dict, key: str, kind: Any, default: Any) -> None:
    if key not in options:
        return
    member = by_value(kind, options[key])
    if member is None:
        _log.warning(f"{VARIABLE}: {key} {options[key]!r} is not valid; it is set to {default.value}.")
    options[key] = member or default
