"""torch_npu with our profiler: `import steplens.torch_npu as torch_npu`.

`profiler` and `npu.mstx` are ours. Every other name is that of the real torch_npu where it is installed; importing this imports it, as its
operators and `torch.npu` exist only then. Where it is not installed the CPU is the device. With PROF_CONFIG_PATH set, importing this
switches on dynamic profiling: the steps of the program's optimizer are the steps of the profiler.
"""

import sys as _sys

from .. import __version__
from .._forward import Forward as _Forward
from .._forward import forward_imports as _forward_imports
from .._forward import is_imported_by_us as _is_imported_by_us
from . import npu, profiler

__all__ = ["npu", "profiler"]

_forward = _Forward(__name__, "torch_npu")
_forward_imports(__name__, "torch_npu")


def __getattr__(name):
    return _forward.get(name)


def __dir__():
    return _forward.names(list(globals()))


if "torch" in _sys.modules and not _is_imported_by_us():
    _forward.module()
profiler.dynamic_profile._start_from_environment()
