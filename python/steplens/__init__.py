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

__version__ = "0.1.0"


def __getattr__(name):
    if name in ("range", "step"):
        from . import _ranges

        return getattr(_ranges, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
