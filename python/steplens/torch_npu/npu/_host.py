"""`torch_npu.npu` where torch_npu is not installed: streams and events on the host's clock.

Without a device the CPU is the device: there is one, its work is done when a call returns, and a stream is only a name.
"""

from __future__ import annotations

import os
import time

from ..._marks import native
from ._stream import Stream

NAMES = ("Event", "Stream", "current_device", "current_stream", "default_stream", "device_count", "is_available", "set_device",
         "synchronize")

_default_stream = Stream()


def is_available() -> bool:
    """Whether there is an NPU."""
    return any(name.startswith("davinci") and name[7:].isdigit() for name in os.listdir("/dev"))


def device_count() -> int:
    return 1


def current_device() -> int:
    return 0


def set_device(_device) -> None:
    pass


def synchronize(_device=None) -> None:
    pass


def current_stream(_device=None) -> Stream:
    return _default_stream


def default_stream(_device=None) -> Stream:
    return _default_stream


class Event:
    """A moment on the host's clock. Its calls appear in captures as ranges `Event::<method>`."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        self._time_ns = None

    def record(self, stream=None) -> None:
        with _EventRange("record"):
            self._time_ns = time.monotonic_ns()

    def wait(self, stream=None) -> None:
        with _EventRange("wait"):
            pass

    def query(self) -> bool:
        with _EventRange("query"):
            return True

    def synchronize(self) -> None:
        with _EventRange("synchronize"):
            pass

    def elapsed_time(self, end_event: "Event") -> float:
        """Milliseconds from this event to `end_event`."""
        with _EventRange("elapsed_time"):
            if self._time_ns is None or end_event._time_ns is None:
                raise RuntimeError("Both events must be recorded before calculating elapsed time.")
            return (end_event._time_ns - self._time_ns) / 1e6


class _EventRange:
    def __init__(self, method: str):
        self._name = "Event::" + method

    def __enter__(self):
        native().range_begin(self._name)

    def __exit__(self, *_):
        native().range_end()
