"""The parameters of modules and optimizers, for the memory timeline (FRAMEWORK/torch.param_tensor_info).

Recorded once, when a capture ends: modules and optimizers live for many steps. Keys are those of the Python trace.
"""

from __future__ import annotations

import gc
import sys
from typing import Any, Iterator

from . import _log, _native

_MODULE_TAG = 1
_OPTIMIZER_TAG = 2
# C++ names of torch's types, as operators carry them.
_TYPE_NAMES = {"float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "uint8": "unsigned char",
               "int8": "signed char", "int16": "short int", "int32": "int", "int64": "long int", "bool": "bool",
               "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}


def tensor_text(tensor: Any) -> str:
    """impl address;storage address;dtype;element size;sizes;strides;device type;device index"""
    name = str(tensor.dtype).rpartition(".")[2]
    try:
        storage = hex(tensor.data_ptr() - tensor.storage_offset() * tensor.element_size())
        strides = ",".join(map(str, tensor.stride()))
    except RuntimeError:  # no storage: sparse, meta
        storage, strides = "", ""
    device = tensor.device
    index = -1 if device.index is None else device.index
    return ";".join([hex(tensor._cdata), storage, _TYPE_NAMES.get(name, name), str(tensor.element_size()),
                     ",".join(map(str, tensor.shape)), strides, "0" if device.type == "cpu" else "20", str(index)])


def _gradient(tensor: Any) -> str:
    gradient = tensor.grad if tensor.is_leaf else None
    return "" if gradient is None else tensor_text(gradient)


def module_text(module: Any) -> str:
    return "}".join(f"{name}){tensor_text(tensor)}){_gradient(tensor)}"
                    for name, tensor in module._parameters.items() if tensor is not None)


def optimizer_text(optimizer: Any, tensor_class: type) -> str:
    items = []
    for group in optimizer.param_groups:
        for tensor in group["params"]:
            state = optimizer.state.get(tensor, {})
            texts = [f"{name}>{tensor_text(value)}]" for name, value in state.items() if isinstance(value, tensor_class)]
            items.append(f"{tensor_text(tensor)}){_gradient(tensor)}){''.join(texts)}")
    return "}".join(items)


def record() -> None:
    """Records the parameters of all modules and optimizers of this process; a failure costs these records only."""
    if "torch" not in sys.modules:
        return
    try:
        for key, tag, text in _records():
            _native.param_info(key, tag, text)
    except (ImportError, RuntimeError, AttributeError, KeyError, UnicodeError) as problem:
        _log.warning(f"Parameters of modules and optimizers are not complete: {problem}")


def _records() -> Iterator[tuple[int, int, str]]:
    from . import _pytrace

    torch = sys.modules["torch"]
    module_class, optimizer_class = torch.nn.Module, torch.optim.Optimizer
    for thing in gc.get_objects():
        kind = type(thing)  # not isinstance: it would ask proxies
        if issubclass(kind, module_class) and thing.__dict__.get("_parameters"):
            yield _pytrace.module_key(thing), _MODULE_TAG, module_text(thing)
        elif issubclass(kind, optimizer_class) and thing.__dict__.get("param_groups"):
            code = getattr(getattr(kind.step, "__wrapped__", kind.step), "__code__", None)
            yield id(code), _OPTIMIZER_TAG, optimizer_text(thing, torch.Tensor)
