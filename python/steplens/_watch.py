"""Watches one file: a thread that calls back soon after the file was replaced or closed by a writer.

inotify wakes the thread at once; on file systems whose changes inotify does not see (other nodes write to a shared folder) the
time of change is compared every `interval_s` seconds. Costs nothing while nothing happens.
"""

from __future__ import annotations

import ctypes
import os
import select
import threading
from typing import Callable, Optional

_IN_CLOSE_WRITE, _IN_MOVED_TO = 0x8, 0x80


class FileWatcher:
    """`changed()` is called on the watcher's thread; it must not raise. The first call is for a change after construction."""

    def __init__(self, path: str, changed: Callable[[], None], interval_s: float):
        self._path = path
        self._changed = changed
        self.interval_s = interval_s
        self._seen = self._state()
        self._notify = _open_inotify(os.path.dirname(path))
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._thread = threading.Thread(target=self._run, name="steplens-watch", daemon=True)
        self._pid = os.getpid()
        self._thread.start()

    def stop(self) -> None:
        if os.getpid() != self._pid or self._wake_write < 0:
            return
        os.write(self._wake_write, b"x")
        self._thread.join(timeout=5)
        for descriptor in (self._wake_read, self._wake_write, self._notify):
            if descriptor >= 0:
                os.close(descriptor)
        self._wake_write = -1

    def _run(self) -> None:
        watched = [self._wake_read] + ([self._notify] if self._notify >= 0 else [])
        while True:
            ready, _, _ = select.select(watched, [], [], self.interval_s)
            if self._wake_read in ready:
                return
            if ready:
                os.read(self._notify, 65536)  # which file it was does not matter; the state shows it
            state = self._state()
            if state != self._seen:
                self._seen = state
                if state is not None:
                    self._changed()

    def _state(self) -> Optional[tuple]:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino


def _open_inotify(folder: str) -> int:
    """A descriptor that becomes readable when a file in `folder` was written or moved in; -1 if there is none to have."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if descriptor < 0:
            return -1
        if libc.inotify_add_watch(descriptor, os.fsencode(folder), _IN_CLOSE_WRITE | _IN_MOVED_TO) < 0:
            os.close(descriptor)
            return -1
        return descriptor
    except (OSError, AttributeError):
        return -1
