"""`torch_npu.npu`: mstx is ours, everything else that of the real module. Where that is not installed, what profiled programs need of it
works on the host (`_host.py`)."""

from ..._forward import Forward as _Forward
from . import _host
from ._mstx import mstx

__all__ = [*_host.NAMES, "mstx"]

_forward = _Forward(__name__, "torch_npu.npu")


def _on_the_host(name):
    if name not in _host.NAMES:
        raise KeyError(name)
    return getattr(_host, name)


def __getattr__(name):
    return _forward.get(name, _on_the_host)


def __dir__():
    return _forward.names([*globals(), *_host.NAMES])
