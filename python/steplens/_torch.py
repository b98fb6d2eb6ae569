"""PyTorch's operators, allocations and collectives: libsteplens_torch-VERSION.so, the one built for the version that runs.

The library is loaded after torch and never unloaded. If none fits, one warning says so and the rest of the capture
(ranges, marks, Python, host) is recorded all the same. A program that has not imported torch has no operators and gets no warning.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from typing import Any, Optional

from . import _groups, _log, _rank
from ._config import Config

_LIBRARY = "libsteplens_torch-{}.so"
_library: Optional[ctypes.CDLL] = None
_told = False


class _Options(ctypes.Structure):
    """slt_options of torch_adapter.h."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("operators", ctypes.c_int), ("shapes", ctypes.c_int),
                ("tensors", ctypes.c_int), ("inputs", ctypes.c_int), ("memory", ctypes.c_int), ("marks", ctypes.c_int),
                ("device_index", ctypes.c_int), ("stack", ctypes.c_void_p)]


def release(version: str) -> str:
    """The part of a version that stands for the layout of classes: "1.13.0a0+git1" -> "1.13.0"."""
    match = re.match(r"\d+(\.\d+)*", version)
    return match.group() if match else version


def _load() -> ctypes.CDLL:
    """The library; raises OSError with a sentence if it cannot be used with this torch."""
    running = release(str(sys.modules["torch"].__version__))
    folder = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(folder, _LIBRARY.format(running))
    if not os.path.exists(path):
        versions = built_versions(folder)
        raise OSError(f"this is torch {running}, and this steplens was built for " +
                      (", ".join(versions) if versions else "no version of torch") +
                      "; install steplens with this Python to build it for this torch (docs/recording.md, Install)")
    library = ctypes.CDLL(path)
    library.slt_version.restype = ctypes.c_char_p
    built = release(library.slt_version().decode())
    if built != running:
        raise OSError(f"{path} was built for torch {built}, and this is {running}")
    library.slt_start.argtypes = [ctypes.POINTER(_Options)]
    library.slt_stop.restype = None
    library.slt_parameters.argtypes = [ctypes.c_uint64, ctypes.c_uint16, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p,
                                       ctypes.c_size_t]
    library.slt_parameters.restype = None
    library.slt_group.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_char_p]
    library.slt_group.restype = None
    library.slt_unknown_group_hook.restype = None
    library.slt_prepare.restype = None
    library.slt_prepare()
    return library


def built_versions(folder: str) -> list:
    """The versions of torch that the package has an adapter for, the oldest first."""
    found = [re.fullmatch(re.escape(_LIBRARY).replace(r"\{\}", r"(\d+(?:\.\d+)*)"), name) for name in os.listdir(folder)]
    return sorted((match.group(1) for match in found if match), key=lambda version: [int(part) for part in version.split(".")])


def adapter() -> Optional[ctypes.CDLL]:
    """The library if torch is loaded and it fits; else None, after one warning."""
    global _library, _told
    if _library is not None or "torch" not in sys.modules:
        return _library
    try:
        _library = _load()
    except (OSError, AttributeError) as problem:
        if not _told:
            _told = True
            _log.warning(f"PyTorch's operators are not recorded: {problem}. Everything else is.")
        return None
    _groups.connect(_library)
    os.register_at_fork(after_in_child=_library.slt_stop)  # a child is not recorded, and may record itself
    return _library


def preload() -> None:
    """Loads the library if there is one for this torch; that there is none is told by the first capture."""
    torch = sys.modules.get("torch")
    version = getattr(torch, "__version__", None)
    folder = os.path.dirname(os.path.abspath(__file__))
    if version is not None and os.path.exists(os.path.join(folder, _LIBRARY.format(release(str(version))))):
        adapter()


class Operators:
    """Operators, memory and collectives while started. `stacks` gives the address of the function that returns stacks."""

    name = "torch"

    def __init__(self, config: Config, operators: bool, details: bool, stacks: Any):
        self._config = config
        self._operators = operators
        self._details = details  # shapes belong to the CPU's activity
        self._stacks = stacks
        self._library: Optional[ctypes.CDLL] = None

    def prepare(self) -> None:
        adapter()

    def start(self) -> None:
        library = adapter()
        if library is None:
            return
        config = self._config
        shapes = self._details and config.record_shapes
        options = _Options(ctypes.sizeof(_Options), int(self._operators), int(shapes), int(config.records_tensors),
                           int(_groups.initialised()), int(config.profile_memory), int(config.mstx), _rank.local_rank(),
                           self._stacks.stack_function() if self._stacks is not None else None)
        _groups.tell(library)
        if library.slt_start(ctypes.byref(options)) != 0:
            _log.warning("PyTorch's operators are recorded by another capture of this process already.")
            return
        self._library = library

    def stop(self) -> None:
        if self._library is None:
            return
        library, self._library = self._library, None
        library.slt_stop()
        if self._config.records_tensors and self._stacks is not None:
            self._stacks.record_parameters(library)

    def close(self) -> None:
        pass
