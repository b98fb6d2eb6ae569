"""`torch_npu.npu.mstx`: marks and ranges of the user's own. Wrong arguments give a Python warning and the neutral result.

With a stream the mark is also put on that stream of the device, while it records; without one (or without a device) the host's time is
recorded.
"""

from __future__ import annotations

import functools
import threading
import warnings
from typing import Any

from ..._marks import is_native, native
from ._stream import handle, is_stream

_DEFAULT = "default"
_stacks = threading.local()  # .of: domain -> ids of the ranges pushed by this thread


def _problem(message: Any, stream: Any, domain: Any) -> str:
    """What is wrong with the arguments of a call; "" if nothing is."""
    if not isinstance(message, str) or not message:
        return "Invalid message for mstx: it must be a text that is not empty."
    if not isinstance(domain, str):
        return "Invalid domain for mstx: it must be a str."
    if stream is not None and not is_stream(stream):
        return "Invalid stream for mstx: it must be a stream of the device."
    return ""


def _accepts(message: Any, stream: Any, domain: Any) -> bool:
    problem = _problem(message, stream, domain)
    if problem:
        warnings.warn(problem, stacklevel=3)
    return not problem


def _accepts_domain(domain: Any) -> bool:
    if isinstance(domain, str):
        return True
    warnings.warn("Invalid domain for mstx: it must be a str.", stacklevel=3)
    return False


def _stack(domain: str) -> list:
    if not hasattr(_stacks, "of"):
        _stacks.of = {}
    return _stacks.of.setdefault(domain, [])


class mstx:

    @staticmethod
    def mark(message: str, stream=None, domain: str = _DEFAULT) -> None:
        if _accepts(message, stream, domain):
            native().mark(message, domain, handle(stream))

    @staticmethod
    def range_start(message: str, stream=None, domain: str = _DEFAULT) -> int:
        """The range's id, for range_end on any thread; 0: it is not recorded."""
        return native().mark_start(message, domain, handle(stream)) if _accepts(message, stream, domain) else 0

    @staticmethod
    def range_end(range_id: int, domain: str = _DEFAULT) -> None:
        if not isinstance(range_id, int) or isinstance(range_id, bool):
            warnings.warn("Invalid range id for mstx: it must be an int.", stacklevel=2)
        elif _accepts_domain(domain) and is_native(range_id):
            native().mark_end(range_id, domain)

    @staticmethod
    def range_push(message: str, stream=None, domain: str = _DEFAULT) -> int:
        """Opens a range nested in those of this thread; their number before, -1 if it is not recorded."""
        if not _accepts(message, stream, domain):
            return -1
        range_id = native().mark_start(message, domain, handle(stream))
        if not range_id:
            return -1
        stack = _stack(domain)
        stack.append(range_id)
        return len(stack) - 1

    @staticmethod
    def range_pop(domain: str = _DEFAULT) -> int:
        """Closes the innermost range of this thread; the number of those left, -1 if there was none."""
        if not _accepts_domain(domain):
            return -1
        stack = _stack(domain)
        if not stack:
            return -1
        native().mark_end(stack.pop(), domain)
        return len(stack)

    @staticmethod
    def mstx_range(message: str, stream=None, domain: str = _DEFAULT):
        """A decorator: each call of the function is a range."""
        return annotate(message, stream, domain)


class annotate:
    """A range as a context manager or a decorator; without a message a decorator takes the function's name."""

    def __init__(self, message: str = "", stream=None, domain: str = _DEFAULT):
        self._arguments = (message, stream, domain)
        self._open = threading.local()

    def __enter__(self):
        if not hasattr(self._open, "ids"):
            self._open.ids = []
        self._open.ids.append(mstx.range_start(*self._arguments))
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        mstx.range_end(self._open.ids.pop(), self._arguments[2])
        return False

    def __call__(self, function):
        message, stream, domain = self._arguments
        message = message or getattr(function, "__name__", type(function).__name__)

        @functools.wraps(function)
        def call(*args, **kwargs):
            range_id = mstx.range_start(message, stream, domain)
            try:
                return function(*args, **kwargs)
            finally:
                mstx.range_end(range_id, domain)

        return call


mstx.annotate = annotate
