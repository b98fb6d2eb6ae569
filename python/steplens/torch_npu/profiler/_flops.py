"""FLOP marks: while recording, each outermost call of a matrix operation is a range `<flops>-<function>` in the domain
`mfu_flops`.

Functions are found by `module:attribute`; those of modules that are not loaded are left alone. `register` adds more.
"""

from __future__ import annotations

import functools
import math
import sys
import threading
from typing import Any, Callable, Optional

from ..._marks import native
from . import _npu_flops

DOMAIN = "mfu_flops"
_inside = threading.local()
_installed: list[tuple[Any, str, Any]] = []  # owner, attribute, what was there; _INHERITED: nothing of its own
_INHERITED = object()


def mm(input, mat2, **_):
    return 2 * input.shape[0] * input.shape[1] * mat2.shape[1]


def addmm(input, mat1, mat2, **_):
    return mm(mat1, mat2)


def bmm(input, mat2, **_):
    return 2 * input.shape[0] * input.shape[1] * input.shape[2] * mat2.shape[2]


def matmul(input, other, **_):
    left, right = tuple(input.shape), tuple(other.shape)
    rows = left[-2] if len(left) > 1 else 1
    columns = right[-1] if len(right) > 1 else 1
    return 2 * math.prod(_broadcast(left[:-2], right[:-2])) * rows * columns * left[-1]


def linear(input, weight, bias=None, **_):
    return 2 * math.prod(input.shape[:-1]) * math.prod(weight.shape)


def _broadcast(left: tuple, right: tuple) -> list:
    length = max(len(left), len(right))
    left = (1,) * (length - len(left)) + left
    right = (1,) * (length - len(right)) + right
    return [b if a == 1 else a for a, b in zip(left, right)]


_formulas: dict[str, Callable[..., Optional[int]]] = {
    "torch:mm": mm, "torch:addmm": addmm, "torch:bmm": bmm, "torch:matmul": matmul,
    "torch.nn.functional:linear": linear,
    "torch:Tensor.mm": mm, "torch:Tensor.addmm": addmm, "torch:Tensor.bmm": bmm, "torch:Tensor.matmul": matmul,
    "torch:Tensor.__matmul__": matmul,
    **_npu_flops.FORMULAS,
}


def register(target: str, formula: Callable[..., Optional[int]]) -> None:
    """Counts another function: `target` is `module:attribute`, `formula` gets the call's arguments and returns the number of
    operations, None for no mark. A later registration of the same target wins; it takes effect with the next capture."""
    if not isinstance(target, str) or target.count(":") != 1 or not callable(formula):
        raise ValueError("register takes 'module:attribute' and a function of the call's arguments")
    _formulas[target] = formula


def install() -> None:
    """Wraps the functions; the inverse is `remove`."""
    for target, formula in _formulas.items():
        owner, name = _resolve(target)
        if owner is None:
            continue
        _installed.append((owner, name, vars(owner).get(name, _INHERITED)))
        setattr(owner, name, _counted(getattr(owner, name), name.strip("_"), formula))


def remove() -> None:
    while _installed:
        owner, name, before = _installed.pop()
        if before is _INHERITED:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


def _resolve(target: str) -> tuple[Any, str]:
    """(the object that has the attribute, the attribute's name), (None, "") if there is none."""
    module, path = target.split(":")
    owner = sys.modules.get(module)
    *parents, name = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent, None)
    return (owner, name) if owner is not None and hasattr(owner, name) else (None, "")


def _counted(function: Callable, name: str, formula: Callable) -> Callable:
    @functools.wraps(function)
    def call(*args, **kwargs):
        if getattr(_inside, "busy", False) or not native().recording():
            return function(*args, **kwargs)
        _inside.busy = True
        range_id = _open_mark(name, formula, args, kwargs)
        try:
            return function(*args, **kwargs)
        finally:
            if range_id:
                native().mark_end(range_id)
            _inside.busy = False

    return call


def _open_mark(name: str, formula: Callable, args: tuple, kwargs: dict) -> int:
    try:
        flops = formula(*args, **kwargs)
    except Exception:  # arguments the formula does not know: the call itself decides whether they are wrong
        return 0
    return native().mark_start(f"{flops}-{name}", DOMAIN) if flops is not None else 0
