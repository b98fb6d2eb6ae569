"""The interpreter's own life: its calls and returns, the stacks of operators, its garbage collections."""

from __future__ import annotations

import gc
import os
import sys
import threading
from typing import Any, Optional

from . import _log, _native, _parameters

_told = False
_tracing: Optional["Calls"] = None  # what runs in this process


def _stop_in_child() -> None:
    if _tracing is not None:
        _tracing.stop()


os.register_at_fork(after_in_child=_stop_in_child)


def _pytrace() -> Optional[Any]:
    """The native part; None, after one warning, where it was built for another version of Python."""
    global _told
    try:
        from . import _pytrace as module
    except ImportError as problem:
        if not _told:
            _told = True
            _log.warning(f"Python calls and call stacks are not recorded: {problem}. Everything else is.")
        return None
    return module


def module_code() -> Optional[Any]:
    """The code object that every call of an nn.Module runs."""
    torch = sys.modules.get("torch")
    module = getattr(getattr(torch, "nn", None), "Module", None)
    return getattr(getattr(module, "__call__", None), "__code__", None)


def step_code() -> Optional[Any]:
    """The code object that every optimizer calls after a step, with itself; None where torch has none."""
    optimizer = getattr(getattr(sys.modules.get("torch"), "optim", None), "Optimizer", None)
    return getattr(getattr(optimizer, "_optimizer_step_code", None), "__code__", None)


def library_prefixes() -> list[str]:
    """Folders that say nothing about a function: those modules are imported from."""
    return [os.path.join(folder, "") for folder in sys.path if folder and os.path.isabs(folder)]


class Calls:
    """Every call of all threads, and stacks for operators, while started."""

    name = "python"

    def __init__(self, with_stack: bool, with_modules: bool):
        self._with_stack = with_stack
        self._with_modules = with_modules
        self._pytrace: Optional[Any] = None
        self._stacks = False
        self._thread_profile: Any = None
        self._enable_profiler: Any = None  # torch's own, while it is wrapped
        self._seen: tuple = ([], [])  # modules and optimizers that ran, between stop() and record_parameters()

    def prepare(self) -> None:
        self._pytrace = _pytrace()

    def stack_function(self) -> Optional[int]:
        """The address of the function that returns the calling thread's stack; called once per capture, before start()."""
        self._pytrace = self._pytrace or _pytrace()
        if self._pytrace is None:
            return None
        self._stacks = True
        return self._pytrace.stacks_begin(self._with_stack, self._with_modules, module_code())

    def start(self) -> None:
        global _tracing
        if self._pytrace is None:
            return
        _tracing = self
        self._thread_profile = getattr(threading, "_profile_hook", None)
        threading.setprofile(self._pytrace.thread_hook)
        self._step_aside_for_torch()
        self._pytrace.start(module_code(), step_code(), library_prefixes())

    def stop(self) -> None:
        global _tracing
        if self._pytrace is None or _tracing is not self:
            return
        _tracing = None
        self._seen = self._pytrace.stop()
        threading.setprofile(self._thread_profile)
        if self._enable_profiler is not None:
            sys.modules["torch.autograd.profiler"]._enable_profiler = self._enable_profiler
            self._enable_profiler = None

    def _step_aside_for_torch(self) -> None:
        """torch.profiler's own trace fails if another one is on while it starts: ours ends on that thread then."""
        profiler = sys.modules.get("torch.autograd.profiler")
        enable = getattr(profiler, "_enable_profiler", None)
        if enable is None:
            return

        def enable_alone(*args: Any, **kwargs: Any) -> Any:
            if sys.getprofile() is None:  # not one of the user, which torch replaces anyway
                sys.setprofile(None)
            return enable(*args, **kwargs)

        self._enable_profiler = enable
        profiler._enable_profiler = enable_alone

    def record_parameters(self, library: Any) -> None:
        """Those of what ran; after stop(), while records are still kept."""
        if self._pytrace is not None:
            _parameters.record(library, self._pytrace, *self._seen)
        self._seen = ([], [])

    def close(self) -> None:
        self._seen = ([], [])
        if self._stacks and self._pytrace is not None:
            self._pytrace.stacks_end()
            self._stacks = False


class Collections:
    """Garbage collections of at least `threshold_ms`."""

    name = "gc"

    def __init__(self, threshold_ms: float):
        self._threshold_ms = threshold_ms

    def prepare(self) -> None:
        _native.gc_threshold(self._threshold_ms)

    def start(self) -> None:
        gc.callbacks.append(_native.gc_hook)

    def stop(self) -> None:
        if _native.gc_hook in gc.callbacks:
            gc.callbacks.remove(_native.gc_hook)

    def close(self) -> None:
        pass
