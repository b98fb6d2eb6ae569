"""A client of the host's monitoring daemon (dynolog and its relatives): it asks for a configuration, again and again.

Client and daemon are unix datagram sockets. The daemon's is "dynolog" in the abstract name space, or a file of that name in
$KINETO_IPC_SOCKET_DIR. A message is a header and a payload, in the machine's byte order:

    header   size u64 (of the payload), type char[32]
    "ctxt"   device i32, process i32, job i64                          registers this process; the answer says nothing of interest
    "req"    kind i32 (3: an NPU's profiler), count i32, job i64, count x process i32    this process and its ancestors

The answer to "req" is a message whose payload is the text of the configuration, empty while there is none. The daemon hands out a text
once, so each one is new. The kernel says who sent it: only root's and this user's own daemon is believed.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from typing import Callable, Optional

from . import _private

_NAME = "dynolog"
_SOCKET_DIR = "KINETO_IPC_SOCKET_DIR"
_HEADER = struct.Struct("=Q32s")
_CONTEXT = struct.Struct("=iiq")
_REQUEST = struct.Struct("=iiq")
_PROFILER_OF_NPU = 3
_JOB = 0
_MAX_TEXT = 1 << 20
_CREDENTIALS = struct.Struct("=iII")  # process, user, group
_ANSWER_S = 0.5  # a daemon that needs longer is asked again


def is_wanted(variable: str, tell_error: Callable[[str], None]) -> bool:
    """Whether the environment asks for the daemon: `variable` is 1. A value that is not a number is reported and counts as 0."""
    value = os.environ.get(variable, "0").strip()
    if not value.lstrip("-").isdigit():
        tell_error(f"{variable} is {value!r}, which is not a number; it counts as 0.")
        return False
    return int(value) == 1


def _address(name: str) -> "str | bytes":
    folder = os.environ.get(_SOCKET_DIR)
    return os.path.join(folder, name) if folder else b"\0" + name.encode() + b"\0"


def message(kind: str, payload: bytes) -> bytes:
    return _HEADER.pack(len(payload), kind.encode()) + payload


def parse(data: bytes) -> Optional[tuple[str, bytes]]:
    """(type, payload); None if it is not a whole message."""
    if len(data) < _HEADER.size:
        return None
    size, kind = _HEADER.unpack_from(data)
    payload = data[_HEADER.size:]
    return (kind.rstrip(b"\0").decode("ascii", "replace"), payload) if len(payload) == size else None


def ancestors() -> list[int]:
    """This process and its ancestors, as far as /proc shows."""
    out, pid = [], os.getpid()
    while pid > 0 and len(out) < 64:
        out.append(pid)
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return out


class DaemonClient:
    """Asks in a thread of its own every `interval_s`; `poll` hands over the text that came last. `tell` gets a line for people when
    the daemon comes or goes. Ends with the process, or with close()."""

    def __init__(self, device: int, interval_s: float, tell: Callable[[str], None]):
        self._pid = os.getpid()
        self._device = device
        self._interval_s = interval_s
        self._tell = tell
        self._lock = threading.Lock()
        self._text: Optional[str] = None
        self._is_there: Optional[bool] = None
        self._strangers: set[int] = set()  # users whose answers were reported
        self._ended = threading.Event()
        self._socket, self._file = self._bind()
        self._thread = threading.Thread(target=self._run, name="steplens daemon", daemon=True)
        self._thread.start()

    def poll(self) -> Optional[str]:
        """The configuration that has come since the last call, if any."""
        if self._text is None:
            return None
        with self._lock:
            text, self._text = self._text, None
        return text

    def close(self) -> None:
        if os.getpid() != self._pid:
            return  # a forked child: all belongs to its parent
        self._ended.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=2 * _ANSWER_S)
        self._socket.close()
        if self._file:
            try:
                os.unlink(self._file)
                os.rmdir(os.path.dirname(self._file))
            except OSError:
                pass

    def _bind(self) -> tuple[socket.socket, Optional[str]]:
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        opened.settimeout(_ANSWER_S)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        if not os.environ.get(_SOCKET_DIR):
            opened.bind(b"")  # any free abstract name
            return opened, None
        path = os.path.join(_private.socket_folder(), "client")
        opened.bind(path)
        return opened, path

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._ask()
                self._set_there(True)
            except OSError:  # not there, not there any more, or too slow
                self._set_there(False)
            self._ended.wait(self._interval_s)

    def _ask(self) -> None:
        daemon = _address(_NAME)
        if not self._is_there:
            self._socket.sendto(message("ctxt", _CONTEXT.pack(self._device, os.getpid(), _JOB)), daemon)
        pids = ancestors()
        request = _REQUEST.pack(_PROFILER_OF_NPU, len(pids), _JOB) + struct.pack(f"={len(pids)}i", *pids)
        self._socket.sendto(message("req", request), daemon)
        end_s = time.monotonic() + _ANSWER_S
        while True:
            if time.monotonic() > end_s:
                raise TimeoutError  # others talk, the daemon does not
            answer = parse(self._receive())
            if answer is None or answer[0] != "req":
                continue  # the answer to "ctxt"
            text = answer[1].rstrip(b"\0").decode("utf-8", "replace")
            if text.strip():
                with self._lock:
                    self._text = text
            return

    def _receive(self) -> bytes:
        """The next message; empty if it is from somebody whom we do not believe."""
        data, extra, _flags, _sender = self._socket.recvmsg(_MAX_TEXT, socket.CMSG_SPACE(_CREDENTIALS.size))
        for level, kind, value in extra:
            if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS and len(value) >= _CREDENTIALS.size:
                _process, user, _group = _CREDENTIALS.unpack_from(value)
                if user in (0, os.geteuid()):
                    return data
                if user not in self._strangers:
                    self._strangers.add(user)
                    self._tell(f"Who answers as the host's monitoring daemon ({_NAME}) is user {user}, neither root nor this user; "
                               "the answers are not used.")
        return b""

    def _set_there(self, is_there: bool) -> None:
        if is_there == self._is_there:
            return
        self._is_there = is_there
        self._tell("The host's monitoring daemon answers." if is_there
                   else f"The host's monitoring daemon ({_NAME}) does not answer; it is asked again every {self._interval_s:g} s.")
