"""Where the steps of a training are, without a change in it.

A step ends when the optimizer has stepped; of several optimizers the one that was constructed first and steps counts. A program
that marks its steps itself (`steplens.step()` or torch.profiler's `step`) knows better: from its first mark on only marks count.
"""

from __future__ import annotations

import functools
import sys
import weakref
from typing import Any, Callable, Optional

from . import _optimizers

_listener: Optional[Callable[[], None]] = None
_beginnings: list[Callable[[], None]] = []
_constructed = 0
_counted: Optional["weakref.ref[Any]"] = None  # the optimizer whose steps count
_marked = False
_installed = False


def on_step(listener: Callable[[], None]) -> None:
    """Calls `listener` after each step. torch has been imported."""
    global _listener
    _listener = listener
    _install()


def on_training(listener: Callable[[], None]) -> None:
    """Calls `listener` once: when this process joins a job or makes an optimizer, so that it is known to train."""
    _beginnings.append(listener)
    _install()


def mark() -> None:
    """The program says that a step ended."""
    global _marked
    _marked = True
    _ended()


def _ended() -> None:
    if _listener is not None:
        _listener()


def _begin_training() -> None:
    while _beginnings:
        _beginnings.pop(0)()


# ---- Hooks ------------------------------------------------------------------------------------------------------------


def _install() -> None:
    global _installed
    if _installed:
        return
    _installed = True
    import torch

    _optimizers.watch(_noticed, _stepped)
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and hasattr(distributed, "init_process_group"):
        joined = _after(distributed.init_process_group, lambda *_: _begin_training())
        distributed.init_process_group = joined
        sys.modules["torch.distributed.distributed_c10d"].init_process_group = joined
    profiler = getattr(getattr(torch, "profiler", None), "profile", None)
    if profiler is not None:
        profiler.step = _after(profiler.step, lambda *_: mark())


def _after(function: Callable, then: Callable) -> Callable:
    """`function`, followed by then(first argument)."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        then(*args[:1])
        return result

    return call


def _noticed(optimizer: Any) -> None:
    """An optimizer was constructed."""
    global _constructed
    _constructed += 1
    optimizer._steplens_order = _constructed
    _begin_training()


def _stepped(optimizer: Any, failed: bool) -> None:
    del failed  # it took its time all the same
    global _counted
    if _marked:
        return
    counted = _counted() if _counted is not None else None
    if counted is None:
        _counted = weakref.ref(optimizer)
    elif _order(optimizer) < _order(counted):
        _counted = weakref.ref(optimizer)  # made earlier, though it steps later: this step has been counted
        return
    elif optimizer is not counted:
        return
    _ended()


def _order(optimizer: Any) -> int:
    return getattr(optimizer, "_steplens_order", 0)  # 0: made before anybody looked
