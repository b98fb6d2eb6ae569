"""The parameters of modules and optimizers, for the memory timeline (FRAMEWORK/torch.param_tensor_info).

Recorded once, when a capture ends, of the modules that were called and the optimizers that stepped while it ran. Keys are those of
the Python trace. A tensor is handed over as its address; the recorder's writer makes a text of it.
"""

from __future__ import annotations

import array
import sys
from typing import Any, Iterable

from . import _log

_MODULE_TAG = 1
_OPTIMIZER_TAG = 2
_TENSOR = "\x01"  # stands for the next tensor


class _Text:
    """A text with places for tensors."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._tensors = array.array("Q")

    def item(self) -> None:
        """What follows is the next item of the list."""
        if self._parts:
            self._parts.append("}")

    def name(self, name: str, end: str) -> None:
        self._parts.append(name.replace(_TENSOR, "?") + end)

    def tensor(self, tensor: Any, end: str = "") -> None:
        self._tensors.append(tensor._cdata)
        self._parts.append(_TENSOR + end)

    def with_gradient(self, tensor: Any) -> None:
        self.tensor(tensor, ")")
        gradient = tensor.grad if tensor.is_leaf else None
        if gradient is not None:
            self.tensor(gradient)

    def end(self, text: str) -> None:
        self._parts.append(text)

    def send(self, library: Any, key: int, tag: int) -> None:
        text = "".join(self._parts).encode("utf-8", "replace")
        address, count = self._tensors.buffer_info()
        library.slt_parameters(key, tag, text, len(text), address, count)


def _record_module(module: Any, library: Any, pytrace: Any) -> None:
    text = _Text()
    for name, tensor in module._parameters.items():
        if tensor is not None:
            text.item()
            text.name(name, ")")
            text.with_gradient(tensor)
    text.send(library, pytrace.module_key(module), _MODULE_TAG)


def _record_optimizer(optimizer: Any, library: Any, tensor_class: type) -> None:
    text = _Text()
    for group in optimizer.param_groups:
        for tensor in group["params"]:
            text.item()
            text.with_gradient(tensor)
            text.end(")")
            for name, value in optimizer.state.get(tensor, {}).items():
                if isinstance(value, tensor_class):
                    text.name(str(name), ">")
                    text.tensor(value, "]")
    step = type(optimizer).step
    text.send(library, id(getattr(getattr(step, "__wrapped__", step), "__code__", None)), _OPTIMIZER_TAG)


def record(library: Any, pytrace: Any, modules: Iterable[Any], optimizers: Iterable[Any]) -> None:
    """Records their parameters; a failure costs these records only."""
    tensor_class = sys.modules["torch"].Tensor
    try:
        for module in modules:
            if module.__dict__.get("_parameters"):
                _record_module(module, library, pytrace)
        for optimizer in optimizers:
            if optimizer.__dict__.get("param_groups"):
                _record_optimizer(optimizer, library, tensor_class)
    except (RuntimeError, AttributeError, KeyError, TypeError) as problem:
        _log.warning(f"Parameters of modules and optimizers are not complete: {problem}")
