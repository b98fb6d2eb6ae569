"""The device of the vendor, through steplens/device.h; without it the CPU is the device.

A device that refuses costs one warning: the host is recorded all the same.
"""

from __future__ import annotations

import ctypes
import os
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
        ("host_sys", ctypes.c_char_p), ("use_mspti", ctypes.c_int)]


def _library() -> Optional[ctypes.CDLL]:
    """The recorder's library, which knows devices; None where it was built without them."""
    try:
        library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), _LIBRARY))
        library.sl_device_capabilities.restype = ctypes.c_uint32
        library.sl_last_error.restype = ctypes.c_char_p
        library.sl_device_init.argtypes = [ctypes.c_char_p]
        library.sl_device_configure.argtypes = [ctypes.POINTER(_DeviceConfig)]
        library.sl_device_step_mark.argtypes = [ctypes.c_int, ctypes.c_void_p]
    except (OSError, AttributeError):
        return None
    return library


def open_device(config: Config, directory: str) -> Optional["Device"]:
    """The device, ready to start; None if the configuration does not want one or there is none."""
    if "npu" not in config.activities:
        return None
    library = _library()
    if library is None or not library.sl_device_capabilities() & (_PROFILING | _MSPTI):
        return None
    device = Device(library)
    return device if device.set_up(config, directory) else None


class Device:
    """Every method warns at most once in the life of the object and never raises."""

    def __init__(self, library: ctypes.CDLL):
        self._library = library
        self._working = True

    def set_up(self, config: Config, directory: str) -> bool:
        os.makedirs(directory, mode=0o750, exist_ok=True)
        capabilities = self._library.sl_device_capabilities()
        ids = (ctypes.c_uint32 * 1)(local_rank())
        host = ",".join(config.host_sys)
        wish = _DeviceConfig(
            struct_size=ctypes.sizeof(_DeviceConfig), device_ids=ids, device_count=1, level=_LEVELS[config.level],
            aic_metrics=_METRICS.get(config.aic_metrics, _NO_METRICS), l2_cache=config.l2_cache, mstx=config.mstx,
            profile_memory=config.profile_memory, record_shapes=config.record_shapes, op_attr=config.op_attr,
            sys_io=config.sys_io, sys_interconnection=config.sys_interconnection, host_sys=host.encode() or None,
            use_mspti=not capabilities & _PROFILING)
        return (self._call("init", os.fsencode(directory))
                and self._call("configure", ctypes.byref(wish)))

    def warmup(self) -> None:
        self._call("warmup", optional=True)

    def start(self) -> None:
        self._call("start")

    def step(self, is_end: bool) -> None:
        self._call("step_mark", int(is_end), None, optional=True)

    def stop(self) -> None:
        self._call("stop")

    def finalize(self) -> None:
        self._call("finalize")

    def _call(self, name: str, *arguments: object, optional: bool = False) -> bool:
        if not self._working:
            return False
        code = getattr(self._library, "sl_device_" + name)(*arguments)
        if code == 0 or (optional and code == _UNSUPPORTED):
            return code == 0
        self._working = False
        said = self._library.sl_last_error().decode("utf-8", "replace")
        _log.warning(f"The device is not recorded: {name} failed with code {code}{': ' + said if said else ''}. "
                     "The host is recorded.")
        return False
