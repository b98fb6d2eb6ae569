"""User marks, for any framework. Does nothing if the native part is missing or nothing records."""

from __future__ import annotations

from typing import Any

_native: Any = None


_MAX_NATIVE = (1 << 64) - 1


def is_native(number: int) -> bool:
    """Whether a range's id or a stream's handle can be one at all."""
    return 0 < number <= _MAX_NATIVE


class _Silent:
    """Stands in for the native part where it was not built."""

    @staticmethod
    def mark(_message: str, _domain: str = "", _stream: int = 0) -> None:
        pass

    @staticmethod
    def mark_start(_message: str, _domain: str = "", _stream: int = 0) -> int:
        return 0

    @staticmethod
    def mark_end(_range_id: int, _domain: str = "") -> None:
        pass

    @staticmethod
    def range_begin(_name: str) -> None:
        pass

    @staticmethod
    def range_end() -> None:
        pass

    @staticmethod
    def recording() -> bool:
        return False


def native() -> Any:
    """The native part, loaded on first use. Tests set `_native`."""
    global _native
    if _native is None:
        try:
            from . import _native as module
        except ImportError:
            module = _Silent
        _native = module
    return _native


def is_silent() -> bool:
    """Whether marks go nowhere, because the native part was not built."""
    return native() is _Silent
