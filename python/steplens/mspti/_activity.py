"""The one subscription of the process to the vendor's activities, shared by all monitors.

The vendor asks for buffers and hands them back full on threads of its own. The first monitor subscribes; the last one that stops ends the
subscription, waits for what is under way, and flushes.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
import traceback
from typing import Any, Callable, Optional

from .. import _log
from .._device import vendor_function
from ._constants import MsptiActivityKind, MsptiResult
from ._records import as_dictionary

_MIB = 1 << 20
_BUDGET_MIB = 256
_DEFAULT_MIB = 8
_WAIT_S = 0.05

_Request = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t))
_Complete = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)

_lock = threading.RLock()
_handlers: dict[MsptiActivityKind, Callable[[dict[str, Any]], None]] = {}
_subscriber = ctypes.c_void_p()
_buffers: dict[int, Any] = {}  # with the vendor now, by address
_buffer_mib = _DEFAULT_MIB
_told_missing = False


def call(name: str, *arguments: Any) -> MsptiResult:
    """Calls a function of the vendor. MSPTI_ERROR_INNER, and one warning, where it is missing."""
    global _told_missing
    address = vendor_function(name)
    if not address:
        if not _told_missing:
            _told_missing = True
            _log.warning(f"mspti: {name} is not in the vendor's libraries on this machine; nothing is monitored.")
        return MsptiResult.MSPTI_ERROR_INNER
    code = ctypes.CFUNCTYPE(ctypes.c_int)(address)(*arguments)
    try:
        return MsptiResult(code)
    except ValueError:
        return MsptiResult.MSPTI_ERROR_INNER


def set_buffer_size(mib: Any) -> MsptiResult:
    global _buffer_mib
    with _lock:
        is_size = isinstance(mib, int) and not isinstance(mib, bool) and 1 <= mib <= _BUDGET_MIB
        if not is_size or _handlers:
            return MsptiResult.MSPTI_ERROR_INVALID_PARAMETER
        _buffer_mib = mib
        return MsptiResult.MSPTI_SUCCESS


def start(kind: MsptiActivityKind, handler: Callable[[dict[str, Any]], None]) -> MsptiResult:
    """Has `handler` called with the fields of each activity of a kind; one a kind: the later takes over."""
    with _lock:
        if not _handlers:
            result = _subscribe()
            if result is not MsptiResult.MSPTI_SUCCESS:
                return result
        result = call("msptiActivityEnable", ctypes.c_int(kind))
        if result is MsptiResult.MSPTI_SUCCESS:
            _handlers[kind] = handler
        elif not _handlers:
            call("msptiUnsubscribe", _subscriber)
        return result


def stop(kind: MsptiActivityKind) -> MsptiResult:
    with _lock:
        if kind not in _handlers:
            return MsptiResult.MSPTI_SUCCESS
        is_last = len(_handlers) == 1
        if not is_last:
            result = call("msptiActivityDisable", ctypes.c_int(kind))
            del _handlers[kind]
            return result
    # Without the lock: deliveries look the handler up.
    flush_all()
    result = call("msptiActivityDisable", ctypes.c_int(kind))
    call("msptiUnsubscribe", _subscriber)
    time.sleep(_WAIT_S)
    flush_all()
    with _lock:
        _handlers.pop(kind, None)
    return result


def _stop_all() -> None:
    """Before the interpreter goes: afterwards no thread of the vendor may call into it."""
    for kind in list(_handlers):
        stop(kind)


def _forget_in_child() -> None:
    global _lock
    _lock = threading.RLock()  # a thread of the parent may have held it
    _handlers.clear()
    _buffers.clear()


atexit.register(_stop_all)
os.register_at_fork(after_in_child=_forget_in_child)


def flush_all() -> MsptiResult:
    return call("msptiActivityFlushAll", ctypes.c_uint32(1))


def flush_period(milliseconds: Any) -> MsptiResult:
    if not isinstance(milliseconds, int) or isinstance(milliseconds, bool) or not 0 <= milliseconds < 1 << 32:
        return MsptiResult.MSPTI_ERROR_INVALID_PARAMETER
    return call("msptiActivityFlushPeriod", ctypes.c_uint32(milliseconds))


def _subscribe() -> MsptiResult:
    result = call("msptiSubscribe", ctypes.byref(_subscriber), None, None)
    if result is not MsptiResult.MSPTI_SUCCESS:
        return result
    result = call("msptiActivityRegisterCallbacks", _request, _complete)
    if result is not MsptiResult.MSPTI_SUCCESS:
        call("msptiUnsubscribe", _subscriber)
    return result


@_Request
def _request(buffer, size, max_records) -> None:
    max_records[0] = 0
    with _lock:
        if (len(_buffers) + 1) * _buffer_mib > _BUDGET_MIB:
            buffer[0], size[0] = None, 0  # the vendor drops and counts
            return
        memory = ctypes.create_string_buffer(_buffer_mib * _MIB)
        address = ctypes.addressof(memory)
        _buffers[address] = memory
    buffer[0], size[0] = address, len(memory)


@_Complete
def _complete(buffer, _size, valid) -> None:
    """Walks the buffer to its end on this thread: the vendor keeps the position."""
    record = ctypes.c_void_p()
    while buffer and valid:
        if call("msptiActivityGetNextRecord", ctypes.c_void_p(buffer), ctypes.c_size_t(valid), ctypes.byref(record)) != 0:
            break
        if record.value:
            _hand_on(record.value)
    with _lock:
        _buffers.pop(buffer, None)


def _hand_on(address: int) -> None:
    fields = as_dictionary(address)
    handler: Optional[Callable] = _handlers.get(fields["kind"]) if fields else None
    if handler is None:
        return
    try:
        handler(fields)
    except Exception:  # a callback of the user's; the next activity is handed on
        traceback.print_exc()
