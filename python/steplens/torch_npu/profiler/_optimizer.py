"""Steps of the program without a change in it: a call after each step of the optimizer that was constructed last."""

from __future__ import annotations

import functools
import weakref
from typing import Any, Callable, Optional

_last: Optional["weakref.ref[Any]"] = None
_listener: Optional[Callable[[], None]] = None


def on_optimizer_step(listener: Callable[[], None]) -> None:
    """Calls `listener` after each step. Imports torch; raises ImportError where it is missing."""
    global _listener
    from torch.optim import Optimizer

    if _listener is None:
        Optimizer.__init__ = _noticing(Optimizer.__init__)
    _listener = listener


def _noticing(construct: Callable) -> Callable:
    @functools.wraps(construct)
    def __init__(self, *args, **kwargs):
        global _last
        construct(self, *args, **kwargs)
        _last = weakref.ref(self)
        _wrap_step(type(self))

    return __init__


def _wrap_step(cls: type) -> None:
    """Once per class that defines `step`; a subclass that calls its parent's is one step, not two."""
    step = cls.step
    if getattr(step, "_steplens", False):
        return

    @functools.wraps(step)
    def stepped(self, *args, **kwargs):
        outermost = not getattr(self, "_steplens_stepping", False)
        self._steplens_stepping = True
        try:
            result = step(self, *args, **kwargs)
        finally:
            if outermost:
                self._steplens_stepping = False
        if outermost and _last is not None and _last() is self:
            _listener()
        return result

    stepped._steplens = True
    cls.step = stepped
