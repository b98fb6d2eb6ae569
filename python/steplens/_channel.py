"""A configuration file that reaches every process of the host while the training runs.

One process per host and configuration folder (the owner of a shared block) watches `<folder>/profiler_config.json` and
publishes what is in it; each process looks at the block once a step, which costs a comparison of four bytes or little more.

How the text lies in the block is the framework's business:
  StampedLayout  u32 time of change in seconds (little endian), then JSON padded with blanks   (torch_npu)
  PlainLayout    JSON, then zeros                                                              (MindSpore)
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import threading
import time
from typing import Any, Callable, Optional, Protocol

from . import _log, _private
from ._shm import SIZE, Block
from ._watch import FileWatcher

FILE_NAME = "profiler_config.json"
INVALID = {"is_valid": False}
_MAX_CONFIG = 4 << 20


class Layout(Protocol):
    def put(self, memory: Any, text: bytes, changed_s: int) -> None: ...

    def get(self, memory: Any, seen: Any) -> Optional[tuple[Any, bytes]]:
        """(what to pass as `seen` next time, the text) if there is something new."""


class StampedLayout:
    def put(self, memory: Any, text: bytes, changed_s: int) -> None:
        """The stamp is written last and always grows, so that two changes in one second are two changes."""
        before = struct.unpack_from("<I", memory, 0)[0]
        memory[4:] = text.ljust(SIZE - 4, b" ")
        struct.pack_into("<I", memory, 0, max(changed_s & 0xFFFFFFFF, before + 1))

    def get(self, memory: Any, seen: Any) -> Optional[tuple[Any, bytes]]:
        stamp = struct.unpack_from("<I", memory, 0)[0]
        if stamp == 0 or stamp == seen:
            return None
        text = memory[4:]
        if struct.unpack_from("<I", memory, 0)[0] != stamp:
            return None  # it is being written; the next step sees it
        return stamp, text


class PlainLayout:
    def put(self, memory: Any, text: bytes, changed_s: int) -> None:
        memory[:] = text.ljust(SIZE, b"\0")

    def get(self, memory: Any, seen: Any) -> Optional[tuple[Any, bytes]]:
        end = memory.find(b"\0")
        text = memory[:end if end >= 0 else SIZE]
        return None if not text or text == seen else (text, text)


class Channel:
    """One per process. `poll` is called by the training thread, once per step. Raises OSError if there is no shared memory.

    `marks_valid`: a file that can be read is published with "is_valid": true. `log(text)` is told about every publication.
    """

    def __init__(self, prefix: str, folder: str, layout: Layout, interval_s: float, log: Callable[[str], None],
                 marks_valid: bool = False):
        self.path = os.path.join(folder, FILE_NAME)
        self._layout = layout
        self._log = log
        self._marks_valid = marks_valid
        self._interval_s = interval_s
        self._seen: Any = None
        self._broken: Any = None  # the state of a file that could not be read, which was published
        self._watcher: Optional[FileWatcher] = None
        self._next_check_s = 0.0
        self._publishing = threading.Lock()
        key = f"{os.getuid()}:{os.path.realpath(folder)}"
        self._block = Block(prefix + hashlib.sha256(key.encode()).hexdigest()[:16])
        self._watch_if_owner()

    @property
    def owned(self) -> bool:
        return self._block.owned

    def set_interval(self, seconds: float) -> None:
        self._interval_s = seconds
        if self._watcher is not None:
            self._watcher.interval_s = seconds

    def poll(self) -> Optional[dict]:
        """The configuration, if it changed since the last call; {"is_valid": False} if the file cannot be read."""
        self._look_after_owner()
        found = self._layout.get(self._block.memory, self._seen)
        if found is None:
            return None
        self._seen, text = found
        try:
            config = json.loads(text)
        except ValueError:
            return None  # half of the old and half of the new; the next step sees it whole
        return config if isinstance(config, dict) else dict(INVALID)

    def close(self) -> None:
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None
        self._block.close()

    def _look_after_owner(self) -> None:
        """Once in a while: if the owner is gone this process takes its place."""
        now_s = time.monotonic()
        if not self._block.owned and now_s >= self._next_check_s:
            self._next_check_s = now_s + 1.0
            if self._block.take_over():
                self._watch_if_owner()

    def _watch_if_owner(self) -> None:
        if self._block.owned:
            self._watcher = FileWatcher(self.path, self._publish, self._interval_s)
            self._publish()

    def _publish(self) -> None:
        config, changed_s = read_config(self.path)
        if config is None:
            state = _state_of(self.path)
            if state is None or state == self._broken:
                return  # nothing is asked for, or that it is broken is known
            self._broken = state
            self._log(f"{self.path} is not a JSON object; it is not used.")
            config = dict(INVALID)
        else:
            self._broken = None
            if self._marks_valid:
                config["is_valid"] = True
        text = json.dumps(config).encode()
        if len(text) > SIZE - 4:
            self._log(f"{self.path} has more than {SIZE - 4} bytes; it is not used.")
            text = json.dumps(INVALID).encode()
        with self._publishing:
            self._layout.put(self._block.memory, text, changed_s)
        self._log(f"published {self.path}")


def _state_of(path: str) -> Optional[tuple]:
    """What changes when a file does: several reports come of one change. None: there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def read_config(path: str) -> tuple[Optional[dict], int]:
    """(the object in the file or None, its time of change in seconds). A file that is being written is tried again; one of another
    user (but root) is not read."""
    for attempt in range(2):
        try:
            changed_s = int(os.stat(path).st_mtime)
            config = json.loads(_private.read_written_by_people(path, _MAX_CONFIG))
            return (config if isinstance(config, dict) else None), changed_s
        except PermissionError as problem:
            _log.warning(f"{path} is not used: {problem.strerror}")
            return None, int(time.time())
        except (OSError, ValueError, RecursionError):
            if attempt == 0 and os.path.exists(path):
                time.sleep(0.02)
    return None, int(time.time())


def write_default(path: str, config: dict) -> None:
    """Creates the file with `config` unless there is one; whole or not at all. Raises OSError."""
    if os.path.exists(path):
        return
    os.makedirs(os.path.dirname(path), mode=0o750, exist_ok=True)
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(_private.create(temporary, 0o640), "w", encoding="utf-8") as file:
        json.dump(config, file, indent=4)
    try:
        os.link(temporary, path)  # fails if another worker was faster
    except FileExistsError:
        pass
    except OSError:
        os.replace(temporary, path)  # a file system without links
        return
    os.unlink(temporary)
