"""Analysis of captures that were recorded earlier."""

from __future__ import annotations

import os
from typing import Any, Optional

from ... import _analyse, _log, _paths
from ..._check import is_int, is_one_of
from . import _output


@_log.guarded()
def analyse(profiler_path: str, max_process_number: int = max(1, (os.cpu_count() or 1) // 2),
            export_type: str | list | None = None):
    """Analyses the capture at `profiler_path`, or those directly below it."""
    analyse_below(profiler_path, max_process_number, export_type)


def analyse_below(profiler_path: str, max_process_number: Any, export_type: Any, deep: bool = False) -> None:
    """`deep`: captures at any depth."""
    if _analyse.refuses(profiler_path):
        return
    cores = os.cpu_count() or 1
    if not is_int(max_process_number) or max_process_number <= 0:
        default = max(1, cores // 2)
        _log.warning(f"Parameter max_process_number must be a positive int; it is set to {default}.")
        max_process_number = default
    elif max_process_number > cores:
        _log.warning(f"Parameter max_process_number is larger than the number of cores; it is set to {cores}.")
        max_process_number = cores
    if not isinstance(profiler_path, str) or not profiler_path:
        _log.error("Nothing was analysed: profiler_path must be a str that names a folder.")
        return
    path = os.path.abspath(os.path.expanduser(profiler_path))
    _output.warn_about("profiler_path", path)
    captures = _paths.captures(os.path.realpath(path), deep)
    if captures:
        _analyse.analyse_all(captures, _checked_export(export_type), max_process_number)
    elif not os.path.isdir(path):
        _log.error(f"Nothing was analysed: {path} is {'no folder' if os.path.exists(path) else 'not there'}.")
    else:
        _log.error(f"Nothing was analysed: there is no capture (a folder with FRAMEWORK or PROF_*) in {path} or below it.")


def _checked_export(value: Any) -> Optional[list]:
    if value is None:
        return None
    types = [value] if isinstance(value, str) else value
    if isinstance(types, list) and types and all(is_one_of(item, ("text", "db")) for item in types):
        return list(dict.fromkeys(types))
    _log.warning("Parameter export_type must be text, db or a list of these; the types that were recorded are used.")
    return None
