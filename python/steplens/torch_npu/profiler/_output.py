"""Where captures of PyTorch go."""

from __future__ import annotations

import os
import shutil
from typing import Any, Optional

from ... import _log, _paths
from ..._places import LastPlace, Place

EXPORT_ONLY = "export_only_prof_dir"
SUFFIX = "ascend_pt"

_last = LastPlace()
last_place = _last.get


def set_place(directory: Any, worker: Any) -> Place:
    """What a handler was given; wrong values warn and count as not given."""
    return _last.set(checked_place(directory, worker))


def checked_place(directory: Any, worker: Any) -> Place:
    return Place(_checked_directory(directory), _checked_worker(worker))


def _checked_worker(worker: Any) -> Optional[str]:
    if worker is None or _paths.is_worker_name(worker):
        return worker
    _log.warning(f"worker_name must be a text of 1 to {_paths.MAX_WORKER - 1} characters without a slash; the host's name is used.")
    return None


def _checked_directory(directory: Any) -> Optional[str]:
    if directory is None or directory == "":
        return None
    if not isinstance(directory, str):
        _log.warning("dir_name must be a str; it is ignored.")
        return None
    path = os.path.abspath(os.path.expanduser(directory))
    if not _paths.has_legal_characters(path):
        _log.warning(f"dir_name {path!r} has characters that are not allowed; it is ignored.")
        return None
    warn_about("dir_name", path)
    return path


def warn_about(parameter: str, path: str) -> None:
    """Warns about an unusual path, which is still used."""
    problem = _paths.too_long(path)
    if problem:
        _log.warning(f"{parameter} {path[:80]!r}...: {problem}.")
    elif os.path.islink(path):
        _log.warning(f"{parameter} {path} is a symbolic link.")


def new_directory(place: Place, export_only: bool) -> str:
    """The folder of the next capture. `export_only`: only files made from the capture are wanted, not the capture itself."""
    work_path = os.environ.get("ASCEND_WORK_PATH")
    if place.directory:
        root = place.directory
    elif work_path:
        root = os.path.join(os.path.expanduser(work_path), "profiling_data")
    elif export_only:
        root = EXPORT_ONLY
    else:
        root = "."
    return _paths.new_capture_directory(root, place.worker, SUFFIX)


def remove_export_only(capture: Optional[str]) -> None:
    """Removes a capture that was made for exports only, and its parent if it was the last there."""
    if capture and os.path.basename(os.path.dirname(capture)) == EXPORT_ONLY:
        shutil.rmtree(capture, ignore_errors=True)
        try:
            os.rmdir(os.path.dirname(capture))
        except OSError:
            pass  # other processes have captures there
