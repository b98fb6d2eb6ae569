"""The profiler of torch_npu, name by name: `import steplens.torch_npu as torch_npu`.

Works wherever PyTorch does; without an NPU the CPU is the device. With PROF_CONFIG_PATH set, importing this switches on
dynamic profiling: the steps of the program's optimizer are the steps of the profiler.
"""

from .. import __version__
from . import npu, profiler

__all__ = ["npu", "profiler"]

profiler.dynamic_profile._start_from_environment()
