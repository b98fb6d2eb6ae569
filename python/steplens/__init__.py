"""steplens: records where the time of a training step goes.

    import steplens.torch_npu as torch_npu      # profiler and mstx as in torch_npu
    import steplens.mindspore as mindspore      # Profiler as in MindSpore
    import steplens.megatron                    # --profile* flags for any argparse parser
    import steplens.rl                          # profiler_config YAML
    import steplens.mstx as mstx                # marks as in the vendor's module mstx
    import steplens.mspti as mspti              # monitors as in the vendor's module mspti
    with steplens.range("forward"): ...         # a range of your own

Importing this package loads no framework and nothing native.
"""


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
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
