"""The device of the vendor, through steplens/device.h; without it the CPU is the device.

A device that refuses costs one warning: the host is recorded all the same.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Optional

from . import _log
from ._config import Config
from ._rank import local_rank

_LIBRARY = "libsteplens_collect.so"
_PROFILING, _MSPTI = 1, 32
_UNSUPPORTED = 200007
_LEVELS = {"none": -1, "0": 0, "1": 1, "2": 2}
_METRICS = {"ArithmeticUtilization": 0, "PipeUtilization": 1, "Memory": 2, "MemoryL0": 3, "ResourceConflictRatio": 4,
            "MemoryUB": 5, "L2Cache": 6, "PipelineExecuteUtilization": 7, "MemoryAccess": 8}
_NO_METRICS = 255


class _DeviceConfig(ctypes.Structure):
    """sl_device_config of steplens/device.h."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("device_ids", ctypes.POINTER(ctypes.c_uint32)),
                ("device_count", ctypes.c_uint32)] + [
        (name, ctypes.c_int) for name in ("level", "aic_metrics", "l2_cache", "mstx", "profile_memory", "record_shapes",
                                          "op_attr", "sys_io", "sys_interconnection")] + [
        ("host_sys", ctypes.c_char_p), ("use_mspti", ctypes.c_int), ("mindspore", ctypes.c_int), ("hardware_memory", ctypes.c_int)]


def current_stream() -> int:
    """The handle of the stream on which the framework launches now, 0 where it has none."""
    framework = sys.modules.get("torch_npu")
    try:
        return int(framework.npu.current_stream().npu_stream) if framework is not None else 0
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return 0


def vendor_function(name: str) -> Optional[int]:
    """The address of a function of the vendor's libraries, None where none has it."""
    library = _library()
    return library.sl_device_function(name.encode()) if library is not None else None


def _library() -> Optional[ctypes.CDLL]:
    """The recorder's library, which knows devices; None where it was built without them."""
    try:
        library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), _LIBRARY))
        library.sl_device_capabilities.restype = ctypes.c_uint32
        library.sl_last_error.restype = ctypes.c_char_p
        library.sl_device_function.restype = ctypes.c_void_p
        library.sl_device_function.argtypes = [ctypes.c_char_p]
        library.sl_device_init.argtypes = [ctypes.c_char_p]
        library.sl_device_configure.argtypes = [ctypes.POINTER(_DeviceConfig)]
        library.sl_device_step_mark.argtypes = [ctypes.c_int, ctypes.c_void_p]
    except (OSError, AttributeError):
        return None
    return library


def look_for_libraries() -> None:
    """What takes time once: whether there are libraries of the vendor."""
    library = _library()
    if library is not None:
        library.sl_device_capabilities()


def open_device(config: Config, directory: str) -> Optional["Device"]:
    """The device, ready to start; None if the configuration does not want one or there is none."""
    if "npu" not in config.activities:
        return None
    library = _library()
    if library is None or not library.sl_device_capabilities() & (_PROFILING | _MSPTI):
        return None
    device = Device(library)
    if device.set_up(config, directory):
        return device
    device.finalize()
    return None


class Device:
    """A device that fails warns once in the life of the object, and no method raises. Whatever happened, finalize() leaves the device
    free for the next capture."""

    def __init__(self, library: ctypes.CDLL):
        self._library = library
        self._working = True
        self._is_open = False
        self._in_step = False

    def set_up(self, config: Config, directory: str) -> bool:
        os.makedirs(directory, mode=0o750, exist_ok=True)
        capabilities = self._library.sl_device_capabilities()
        if config.device_id is None and config.framework == "mindspore":
            _log.warning("The device's number is not known (set_context(device_id=...), LOCAL_RANK, DEVICE_ID); device 0 is recorded.")
        ids = (ctypes.c_uint32 * 1)(local_rank() if config.device_id is None else config.device_id)
        host = ",".join(config.host_sys)
        wish = _DeviceConfig(
            struct_size=ctypes.sizeof(_DeviceConfig), device_ids=ids, device_count=1, level=_LEVELS[config.level],
            aic_metrics=_METRICS.get(config.aic_metrics, _NO_METRICS), l2_cache=config.l2_cache, mstx=config.mstx,
            profile_memory=config.profile_memory, record_shapes=config.record_shapes, op_attr=config.op_attr,
            sys_io=config.sys_io, sys_interconnection=config.sys_interconnection, host_sys=host.encode() or None,
            use_mspti=not capabilities & _PROFILING, mindspore=config.framework == "mindspore",
            hardware_memory=config.hardware_memory)
        self._is_open = self._call("init", os.fsencode(directory))
        return self._is_open and self._call("configure", ctypes.byref(wish))

    def warmup(self) -> None:
        self._call("warmup", optional=True)

    def start(self) -> None:
        self._call("start")

    def step_begin(self) -> None:
        self._in_step = self._call("step_mark", 0, None, optional=True)

    def step_end(self) -> None:
        if self._in_step:
            self._in_step = False
            self._call("step_mark", 1, None, optional=True)

    def stop(self) -> None:
        self._call("stop")

    def finalize(self) -> None:
        if self._is_open:
            self._is_open = False
            self._check("finalize", self._library.sl_device_finalize())

    def _call(self, name: str, *arguments: object, optional: bool = False) -> bool:
        if not self._working:
            return False
        return self._check(name, getattr(self._library, "sl_device_" + name)(*arguments), optional)

    def _check(self, name: str, code: int, optional: bool = False) -> bool:
        said = self._library.sl_last_error().decode("utf-8", "replace")
        if code == 0 or (optional and code == _UNSUPPORTED):
            if code == 0 and said:
                _log.warning(f"The device records less than was asked for: {said}.")
            return code == 0
        if self._working:
            _log.warning(f"The device is not recorded: {name} failed with code {code}{': ' + said if said else ''}. "
                         "The host is recorded.")
        self._working = False
        return False
