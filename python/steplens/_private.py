"""Files and folders that other users of the machine can reach: only our own are used.

Ours is what belongs to this user. Links are not followed, and nothing is opened that would be waited for. Configurations that people
write may also belong to root, who can do what he likes anyway.
"""

from __future__ import annotations

import os
import stat
import tempfile
from typing import Optional

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def why_not_folder(path: str) -> Optional[str]:
    """Why a folder cannot be trusted with commands; None if it can. Raises OSError if it cannot be looked at."""
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a folder, or a link"
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    return "other users may write to it" if status.st_mode & _OTHERS_WRITE else None


def why_not_file(status: os.stat_result, trusts_root: bool = False) -> Optional[str]:
    if not stat.S_ISREG(status.st_mode):
        return "it is not a file"
    if status.st_uid != os.geteuid() and not (trusts_root and status.st_uid == 0):
        return "it belongs to another user"
    return None


def read(path: str, max_bytes: int) -> bytes:
    """The file's bytes. Raises OSError; a PermissionError with the reason if it is a link, not ours, no file, or too large."""
    if stat.S_ISLNK(os.lstat(path).st_mode):
        raise PermissionError(0, "it is a link", path)
    return _read(path, max_bytes, os.O_NOFOLLOW, False)


def read_written_by_people(path: str, max_bytes: int) -> bytes:
    """The same of a file that people write: it may be root's, and a link that is ours or root's, as a mounted configuration is."""
    if os.lstat(path).st_uid not in (0, os.geteuid()):
        raise PermissionError(0, "it belongs to another user", path)
    return _read(path, max_bytes, 0, True)


def _read(path: str, max_bytes: int, flags: int, trusts_root: bool) -> bytes:
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    try:
        why = why_not_file(os.fstat(opened), trusts_root)
        if why is None:
            data = os.read(opened, max_bytes + 1)
            if len(data) <= max_bytes:
                return data
            why = f"it has more than {max_bytes} bytes"
        raise PermissionError(0, why, path)
    finally:
        os.close(opened)


def create(path: str, mode: int) -> int:
    """A descriptor of a new file. One that a killed process of ours has left under this name goes first. Raises OSError."""
    try:
        if os.lstat(path).st_uid == os.geteuid():
            os.unlink(path)
    except FileNotFoundError:
        pass
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)


def runtime_folder() -> str:
    """A folder of this user alone on this machine: below XDG_RUNTIME_DIR if that is ours, else below the home. Raises OSError."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and os.path.isdir(runtime) and why_not_folder(os.path.realpath(runtime)) is None:
        folder = os.path.join(runtime, "steplens")
    else:
        folder = os.path.join(os.path.expanduser("~"), ".local", "state", "steplens", "run", os.uname().nodename)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    why = why_not_folder(folder)
    if why is not None:
        raise PermissionError(0, why, folder)
    return folder


def socket_folder() -> str:
    """A new folder for a socket, with an unguessable name and a short enough path. Raises OSError."""
    return tempfile.mkdtemp(prefix="steplens_")
