"""Loads the native module that reads captures, when it is first needed."""

from __future__ import annotations

from typing import Any

from . import _errors

_loaded: Any = None


def reader() -> Any:
    """The module steplens._reader; raises Error where it was not built."""
    global _loaded
    if _loaded is None:
        try:
            from . import _reader  # type: ignore[attr-defined]
        except ImportError as problem:
            raise _errors.UnsupportedError(
                f"this installation of steplens cannot read captures: {problem}. It takes Python 3.10 or newer and a build with "
                "Python's headers (python3-dev); recording works without") from problem
        _reader.set_errors(_errors.BY_CODE)
        _loaded = _reader
    return _loaded
