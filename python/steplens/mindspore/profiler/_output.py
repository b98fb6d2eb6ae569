"""Where captures of MindSpore go: `<output_path>/<worker>_<pid>_<UTC time>_ascend_ms`, a handler's folder first."""

from __future__ import annotations

import os
from typing import Any, Optional

from ... import _log, _paths
from ..._places import LastPlace, Place
from ._path_rules import check_output_directory

SUFFIX = "ascend_ms"
DEFAULT = "./data"


_last = LastPlace()
last_place = _last.get


def set_place(directory: Any, worker: Any) -> Place:
    """Wrong types warn and count as not given; a path that breaks the rules raises ProfilerPathError."""
    if worker is not None and not _paths.is_worker_name(worker):
        _log.warning(f"worker_name must be a text of less than {_paths.MAX_WORKER} characters without a slash; it is ignored.")
        worker = None
    if directory is not None and not isinstance(directory, str):
        _log.warning("dir_name must be a str; it is ignored.")
        directory = None
    if directory is not None:
        directory = os.path.realpath(os.path.expanduser(directory))
        check_output_directory(directory)
    return _last.set(Place(directory, worker))


def absolute(path: str) -> str:
    """An output path as it is used; raises ProfilerPathError if it breaks the rules."""
    path = os.path.abspath(os.path.expanduser(path))
    check_output_directory(path)
    return path


def new_directory(root: str, worker: Optional[str]) -> str:
    return _paths.new_capture_directory(root, worker, SUFFIX, utc=True)
