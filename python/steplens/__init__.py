"""steplens: records where the time of a training step goes, and reads what was recorded.

    job = steplens.open("profiles/run1")        # a capture or a folder of them: docs/python.md
    steplens.compare("run1", "run2")            # what changed between two runs

    import steplens.torch_npu as torch_npu      # profiler and mstx as in torch_npu
    import steplens.mindspore as mindspore      # Profiler as in MindSpore
    import steplens.megatron                    # --profile* flags for any argparse parser
    import steplens.rl                          # profiler_config YAML
    import steplens.mstx as mstx                # marks as in the vendor's module mstx
    import steplens.mspti as mspti              # monitors as in the vendor's module mspti
    with steplens.range("forward"): ...         # a range of your own

Importing this package loads no framework and nothing native.
"""


TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._errors import Error
    from ._ranges import range, step
    from ._reading import Job, Rank, Table, compare, open, questions
    from ._result import Answer, Result

_READING = {"open": "_reading", "compare": "_reading", "questions": "_reading", "Job": "_reading", "Rank": "_reading",
            "Table": "_reading", "Answer": "_result", "Result": "_result"}
_ERRORS = ("Error", "InvalidArgumentError", "NotFoundError", "CorruptDataError", "UnsupportedError", "InputOutputError",
           "OutOfMemoryError", "InternalError")


def __dir__():
    return sorted([*globals(), "__version__", "range", "step", *_READING, *_ERRORS])


def _version():
    """Of the file VERSION, which builds and packages put beside this one; in the tree it is at the top."""
    import os

    here = os.path.dirname(__file__)
    for folder in (here, os.path.join(here, "..", "..")):
        try:
            with open(os.path.join(folder, "VERSION"), encoding="utf-8") as file:
                return file.read().strip()
        except OSError:
            continue
    return "unknown"


def __getattr__(name):
    if name == "__version__":
        return _version()
    if name in ("range", "step"):
        from . import _ranges

        return getattr(_ranges, name)
    if name in _READING or name in _ERRORS:
        import importlib

        return getattr(importlib.import_module(f".{_READING.get(name, '_errors')}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
