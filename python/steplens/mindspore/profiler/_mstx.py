"""`mindspore.profiler.mstx`: marks and ranges of the user's own. Wrong arguments warn and do nothing."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from ... import _log
from ..._check import is_int
from ..._marks import native

_DEFAULT = "default"
_next_id = itertools.count(1)
_open: dict[int, tuple[int, str]] = {}  # ours -> the native one and the domain, of ranges that are open
_lock = threading.Lock()


def _accepts(message: Any, stream: Any, domain: Any) -> bool:
    if not isinstance(message, str) or not message:
        _log.warning("Invalid message for mstx: it must be a text that is not empty.")
        return False
    if not _accepts_domain(domain):
        return False
    if stream is not None and type(stream).__name__ != "Stream":
        _log.warning("Invalid stream for mstx: it must be a stream of the framework.")
        return False
    return True


def _accepts_domain(domain: Any) -> bool:
    if isinstance(domain, str) and domain:
        return True
    _log.warning("Invalid domain for mstx: it must be a text that is not empty.")
    return False


class mstx:
    @staticmethod
    def mark(message: str, stream=None, domain: str = _DEFAULT) -> None:
        if _accepts(message, stream, domain):
            native().mark(message, domain)

    @staticmethod
    def range_start(message: str, stream=None, domain: str = _DEFAULT) -> int:
        """The range's id, for range_end on any thread; 0: it is not recorded."""
        if not _accepts(message, stream, domain):
            return 0
        native_id = native().mark_start(message, domain)
        if not native_id:
            return 0
        with _lock:
            range_id = next(_next_id)
            _open[range_id] = (native_id, domain)
        return range_id

    @staticmethod
    def range_end(range_id: int, domain: str = _DEFAULT) -> None:
        if not is_int(range_id) or range_id < 0:
            _log.warning("Invalid range id for mstx: it must be an int of at least 0.")
            return
        if range_id == 0 or not _accepts_domain(domain):
            return
        with _lock:
            native_id, opened_in = _open.get(range_id, (0, domain))
            if native_id and opened_in == domain:
                del _open[range_id]
        if opened_in != domain:
            _log.warning(f"Range {range_id} is not open in domain {domain!r}; it is not ended.")
        elif native_id:
            native().mark_end(native_id, domain)
