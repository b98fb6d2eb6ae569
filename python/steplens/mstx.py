"""The vendor's Python module `mstx`: marks and ranges in the default domain.

    import steplens.mstx as mstx
    range_id = mstx.range_start("load data")
    mstx.range_end(range_id)

A stream is the device's handle, an int. While nothing records the calls do nothing and ids are 0.
"""

from __future__ import annotations

from typing import Optional

from ._marks import is_native, is_silent, native

__all__ = ["get_tool_id", "mark", "range_end", "range_start"]

_PROFILER = 0x1000
_DOMAIN = "default"


def _stream(stream: Optional[int]) -> int:
    if stream is None:
        return 0
    if not isinstance(stream, int) or isinstance(stream, bool):
        raise TypeError("stream must be an int, the handle of a stream, or None")
    return stream if is_native(stream) else 0


def _is_message(message: Optional[str]) -> bool:
    if message is not None and not isinstance(message, str):
        raise TypeError("message must be a str or None")
    return bool(message)


def mark(message: Optional[str] = None, stream: Optional[int] = None) -> None:
    handle = _stream(stream)
    if _is_message(message):
        native().mark(message, _DOMAIN, handle)


def range_start(message: Optional[str] = None, stream: Optional[int] = None) -> int:
    """The range's id, for range_end on any thread; 0: it is not recorded."""
    handle = _stream(stream)
    return native().mark_start(message, _DOMAIN, handle) if _is_message(message) else 0


def range_end(rangeId: int = 0) -> None:  # noqa: N803 - the vendor's name
    if not isinstance(rangeId, int) or isinstance(rangeId, bool):
        raise TypeError("rangeId must be an int")
    if is_native(rangeId):
        native().mark_end(rangeId, _DOMAIN)


def get_tool_id() -> int:
    """Who receives the marks: 0x1000 is a profiler, 0 is none."""
    return 0 if is_silent() else _PROFILER
