"""The optimizers of a program, without a change in it: who was constructed, and when each has stepped."""

from __future__ import annotations

import functools
import weakref
from typing import Any, Callable, Optional

_on_construction: list[Callable[[Any], None]] = []
_on_step: list[Callable[[Any, bool], None]] = []
_installed = False


def watch(constructed: Callable[[Any], None], stepped: Callable[[Any, bool], None]) -> None:
    """Calls constructed(optimizer) after each construction and stepped(optimizer, failed) after each step, from now on; a step of a
    subclass that calls its parent's is one step. Imports torch; raises ImportError where it is missing."""
    global _installed
    from torch.optim import Optimizer

    _on_construction.append(constructed)
    _on_step.append(stepped)
    if not _installed:
        _installed = True
        Optimizer.__init__ = _noticing(Optimizer.__init__)


def follow_last(listener: Callable[[], None]) -> None:
    """Calls `listener` after each step that succeeds of the optimizer constructed last."""
    last: Optional["weakref.ref[Any]"] = None

    def constructed(optimizer: Any) -> None:
        nonlocal last
        last = weakref.ref(optimizer)

    def stepped(optimizer: Any, failed: bool) -> None:
        if not failed and last is not None and last() is optimizer:
            listener()

    watch(constructed, stepped)


def _noticing(construct: Callable) -> Callable:
    @functools.wraps(construct)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        construct(self, *args, **kwargs)
        _wrap_step(type(self))
        for listener in _on_construction:
            listener(self)

    return __init__


def _wrap_step(cls: type) -> None:
    step = cls.step
    if getattr(step, "_steplens", False):
        return

    @functools.wraps(step)
    def stepped(self: Any, *args: Any, **kwargs: Any) -> Any:
        if getattr(self, "_steplens_stepping", False):
            return step(self, *args, **kwargs)
        self._steplens_stepping = failed = True
        try:
            result = step(self, *args, **kwargs)
            failed = False
            return result
        finally:
            self._steplens_stepping = False
            for listener in _on_step:
                listener(self, failed)

    stepped._steplens = True
    cls.step = stepped
