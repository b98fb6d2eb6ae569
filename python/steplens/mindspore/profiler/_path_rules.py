"""What paths MindSpore's profiler accepts. A path that is refused raises ProfilerPathError with an error code."""

from __future__ import annotations

import os
import stat

from ... import _paths

_MAX_INPUT_BYTES = 10 << 30
# Bits: 30 and 28 fixed, 17 on the component (profiler), 12 on the kind of module.
_CODE_BASE = (1 << 30) | (1 << 28) | (42 << 17) | (6 << 12)
_GENERAL, _PARSER = 0x80, 0x100


def error_code(value: int) -> str:
    return f"{_CODE_BASE | value:08X}"


class ProfilerError(RuntimeError):
    """An exception of the profiler with a code of eight hex digits."""

    value = _GENERAL

    def __init__(self, text: str):
        self.error_code = error_code(self.value)
        super().__init__(f"code: {self.error_code}, msg: {text}")


class ProfilerParamValueError(ProfilerError):
    value = _GENERAL | 0


class ProfilerPathError(ProfilerError):
    value = _GENERAL | 1

    def __init__(self, text: str):
        super().__init__("Path error. " + text)


class ProfilerParamTypeError(ProfilerError):
    value = _GENERAL | 2


class ProfilerDirNotFoundError(ProfilerError):
    value = _GENERAL | 3


class ProfilerFileNotFoundError(ProfilerError):
    value = _GENERAL | 4


class ProfilerIoError(ProfilerError):
    value = _GENERAL | 5


class ProfilerRawFileError(ProfilerError):
    value = _PARSER | 1


def check_output_directory(path: str) -> None:
    """A folder to write into; it need not exist."""
    _check_name(path)
    if os.path.isfile(path):
        raise ProfilerPathError(f"{path} is a file, a folder is needed.")
    if os.path.isdir(path):
        _check_owner(path)
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise ProfilerPathError(f"No permission to read and write {path}.")


def check_input_directory(path: str) -> None:
    _check_name(path)
    if not os.path.isdir(path):
        raise ProfilerPathError(f"{path} is not a folder.")
    _check_owner(path)
    if not os.access(path, os.R_OK | os.X_OK):
        raise ProfilerPathError(f"No permission to read {path}.")


def check_input_file(path: str) -> None:
    _check_name(path)
    try:
        status = os.stat(path)
    except OSError as problem:
        raise ProfilerPathError(f"{path} cannot be read: {problem.strerror}.") from problem
    if not stat.S_ISREG(status.st_mode):
        raise ProfilerPathError(f"{path} is not a file.")
    if status.st_size >= _MAX_INPUT_BYTES:
        raise ProfilerPathError(f"{path} has {status.st_size} bytes, less than {_MAX_INPUT_BYTES} are allowed.")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ProfilerPathError(f"{path} can be written by others than its owner.")
    _check_owner(path)
    if not os.access(path, os.R_OK):
        raise ProfilerPathError(f"No permission to read {path}.")


def _check_name(path: str) -> None:
    problem = _paths.too_long(path)
    if problem:
        raise ProfilerPathError(f"{path[:80]}...: {problem}.")
    if os.path.islink(path):
        raise ProfilerPathError(f"{path} is a symbolic link.")
    if not _paths.has_legal_characters(path):
        raise ProfilerPathError(f"{path} has characters that are not allowed.")


def _check_owner(path: str) -> None:
    """root may use everybody's folders: that is how containers with mounted folders work."""
    if os.getuid() not in (0, os.stat(path).st_uid):
        raise ProfilerPathError(f"{path} does not belong to the current user.")
