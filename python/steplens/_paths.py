"""Names of capture folders and rules about paths. Nothing here creates anything."""

from __future__ import annotations

import datetime
import os
import re
from typing import Optional

from . import _rank

MAX_PATH = 4096
MAX_COMPONENT = 255
MAX_WORKER = 226
_LEGAL = re.compile(r"[./_\-~\s0-9a-zA-Z\u4e00-\u9fa5]*")
_PROF = re.compile(r"PROF_\d+_\d+_[0-9a-zA-Z]+")


def has_legal_characters(path: str) -> bool:
    return _LEGAL.fullmatch(path) is not None


def too_long(path: str) -> Optional[str]:
    """What is too long about a path, in words; None if nothing is."""
    if len(path) > MAX_PATH:
        return f"it has {len(path)} characters, at most {MAX_PATH} are allowed"
    if any(len(part) > MAX_COMPONENT for part in path.split("/")):
        return f"one of its parts has more than {MAX_COMPONENT} characters"
    return None


def is_worker_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) < MAX_WORKER and "/" not in name and "\0" not in name


def new_capture_directory(root: str, worker: Optional[str], suffix: str, utc: bool = False) -> str:
    """`<root>/<worker>_<pid>_<YYYYmmddHHMMSSmmm>_<suffix>`, absolute, and not there yet."""
    now = datetime.datetime.now(datetime.timezone.utc if utc else None)
    while True:
        stamp = now.strftime("%Y%m%d%H%M%S") + f"{now.microsecond // 1000:03d}"
        name = f"{worker or _rank.host_name()}_{os.getpid()}_{stamp}_{suffix}"
        path = os.path.join(os.path.abspath(root), name)
        if not os.path.lexists(path):
            return path
        now += datetime.timedelta(milliseconds=1)


def is_capture(path: str) -> bool:
    """Whether `path` is the folder of one capture: FRAMEWORK or a PROF folder is in it, or, where MindSpore's data_simplification
    removed them, its results."""
    try:
        with os.scandir(path) as entries:
            if any(entry.is_dir() and (entry.name == "FRAMEWORK" or _PROF.match(entry.name)) for entry in entries):
                return True
    except OSError:
        return False
    return path.rstrip("/").endswith("_ascend_ms") and os.path.exists(os.path.join(path, "ASCEND_PROFILER_OUTPUT", "analyse.done"))


def captures(path: str, deep: bool = False) -> list[str]:
    """The capture at `path`, or those directly below it, or else (`deep`: and) those farther down; in order of their paths."""
    if is_capture(path):
        return [path]
    try:
        children = [os.path.join(path, name) for name in sorted(os.listdir(path))]
    except OSError:
        return []
    folders = [child for child in children if os.path.isdir(child) and not os.path.islink(child)]
    direct = [child for child in folders if is_capture(child)]
    if direct and not deep:
        return direct
    return [capture for child in folders for capture in captures(child, deep)]
