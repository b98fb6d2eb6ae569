"""One capture per process, and who may have it.

A surface acquires the process before it starts a capture and releases it after. While one surface holds it, a surface of the
same or a lower precedence is refused with a warning; one of a higher precedence ends the running capture (with a warning; what
was recorded is kept) and takes over. A forked child holds nothing.

The functions are safe from any thread.
"""

from __future__ import annotations

import enum
import os
import threading
import weakref
from typing import Callable, Optional

from . import _log


class Source(enum.IntEnum):
    """Where the wish to record came from; a larger value has precedence."""

    ENVIRONMENT = 1
    COMMAND = 2  # command line or YAML
    DYNAMIC = 3  # a configuration file that is watched
    API = 4


_TEXT = {
    Source.ENVIRONMENT: "an environment variable",
    Source.COMMAND: "the command line or a YAML file",
    Source.DYNAMIC: "the dynamic configuration",
    Source.API: "a call of the API",
}


class Holder:
    """Somebody who holds the process. `close` is a method that ends their capture; it does not keep its object alive."""

    def __init__(self, source: Source, close: Callable[[], None]):
        self.source = source
        self._close = weakref.WeakMethod(close)

    def close(self) -> None:
        method = self._close()
        if method is not None:
            method()


_lock = threading.Lock()
_holder: Optional[Holder] = None


def acquire(source: Source, close: Callable[[], None]) -> Optional[Holder]:
    """The holder to release later, or None (after a warning) if the process is taken."""
    global _holder
    with _lock:
        running = _holder
        if running is None:
            _holder = Holder(source, close)
            return _holder
    if running.source >= source:
        _log.warning(f"A capture started by {_TEXT[running.source]} is running; "
                     f"the start by {_TEXT[source]} is refused.")
        return None
    _log.warning(f"The capture started by {_TEXT[running.source]} ends here: {_TEXT[source]} has precedence.")
    running.close()
    release(running)
    return acquire(source, close)


def release(holder: Optional[Holder]) -> None:
    """Lets the process go; does nothing if `holder` does not hold it any more."""
    global _holder
    with _lock:
        if holder is not None and _holder is holder:
            _holder = None


def running() -> bool:
    return _holder is not None


def _forget_in_child() -> None:
    global _holder, _lock
    _lock = threading.Lock()  # a thread of the parent may have held it
    _holder = None


os.register_at_fork(after_in_child=_forget_in_child)
