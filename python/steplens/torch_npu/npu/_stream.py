"""Streams: names for a place where device work is queued."""

from __future__ import annotations

from ..._marks import is_native


class Stream:
    npu_stream = 0  # the device's own handle: there is none

    def __init__(self, device=None, priority=0, **_kwargs):
        self.device = device
        self.priority = priority

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True


def is_stream(value: object) -> bool:
    """Ours, or the stream object of any device of PyTorch."""
    return isinstance(value, Stream) or any(
        base.__name__ == "Stream" and base.__module__.split(".")[0].startswith("torch") for base in type(value).__mro__)


def handle(stream: object) -> int:
    """The device's handle of a stream, 0 where it has none."""
    value = getattr(stream, "npu_stream", 0)
    return value if isinstance(value, int) and is_native(value) else 0
