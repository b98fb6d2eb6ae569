"""MindSpore with our profiler, for any training loop in Python: `import steplens.mindspore as mindspore`.

`Profiler` and `profiler` are ours. Every other name is that of the real MindSpore where it is installed, which is imported when one is
first used; without it there is `Callback`, a plain base class. With MS_PROFILER_OPTIONS set, importing this starts a profiler as that
variable says.
"""

from .._forward import Forward as _Forward
from .._forward import forward_imports as _forward_imports
from . import _host, profiler
from .profiler import Profiler

__all__ = ["Profiler", "profiler"]

_forward = _Forward(__name__, "mindspore")
_forward_imports(__name__, "mindspore")


def __getattr__(name):
    return _forward.get(name, _host.NAMES.__getitem__)


def __dir__():
    return _forward.names([*globals(), *_host.NAMES])


profiler.EnvProfiler().init()
