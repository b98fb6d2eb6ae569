"""A block of shared memory that the processes of one host use to hand a configuration around.

The block is a file of 1 MiB in /dev/shm, or, if somebody else has made one of that name, in a folder of this user alone. One process owns it: the one that holds the lock on it. The owner writes, all read.
A block whose owner is gone, even after kill -9, is taken over by the next process that asks; nothing has to be deleted by
hand. The owner removes the block when it closes it.
"""

from __future__ import annotations

import fcntl
import mmap
import os

from . import _log, _private

SIZE = 1 << 20


def _open(name: str) -> tuple[int, str]:
    """(descriptor, path) of the block, which only we can open. Raises OSError."""
    if os.path.isdir("/dev/shm"):
        path = os.path.join("/dev/shm", name)
        opened = _open_own(path)
        if opened >= 0:
            return opened, path
        _log.warning(f"{path} is not used: another user has made it.")
    path = os.path.join(_private.runtime_folder(), name)
    opened = _open_own(path)
    if opened < 0:
        raise PermissionError(0, "it belongs to another user", path)
    return opened, path


def _open_own(path: str) -> int:
    """A descriptor, or -1 if the existing one is not exclusively ours."""
    try:
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except OSError:
        if os.path.lexists(path):
            return -1
        raise
    status = os.fstat(opened)
    if _private.why_not_file(status) is None and not status.st_mode & 0o077:
        return opened
    os.close(opened)
    return -1


class Block:
    """Raises OSError if the system refuses the memory."""

    def __init__(self, name: str):
        self._pid = os.getpid()
        self.owned = False
        while True:
            self._file, self.path = _open(name)
            self.owned = self._lock()
            if self._is_current():
                break
            os.close(self._file)  # the last owner removed it in this moment
        if os.fstat(self._file).st_size < SIZE:
            os.ftruncate(self._file, SIZE)
        self.memory = mmap.mmap(self._file, SIZE)
        if self.owned:
            self.memory[:] = bytes(SIZE)  # discard data of an owner that died

    def take_over(self) -> bool:
        """Becomes the owner if the owner is gone. True: this process is the owner now and was not before."""
        if self.owned or os.getpid() != self._pid:
            return False
        self.owned = self._lock()
        return self.owned

    def close(self) -> None:
        if os.getpid() != self._pid or self._file < 0:
            return
        if self.owned and self._is_current():
            os.unlink(self.path)
        self.memory.close()
        os.close(self._file)
        self._file = -1
        self.owned = False

    def _lock(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _is_current(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file), os.stat(self.path))
        except FileNotFoundError:
            return False
