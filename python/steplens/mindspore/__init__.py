"""The profiler of MindSpore, name by name, for any training loop in Python: `import steplens.mindspore as mindspore`.

MindSpore itself is not needed. With MS_PROFILER_OPTIONS set, importing this starts a profiler as that variable says.
"""

from . import profiler
from .profiler import Profiler

__all__ = ["Profiler", "profiler"]

profiler.EnvProfiler().init()
