"""steplens: records where the time of a training step goes.

    import steplens.torch_npu as torch_npu      # profiler and mstx as in torch_npu
    import steplens.mindspore as mindspore      # Profiler as in MindSpore
    import steplens.megatron                    # --profile* flags for any argparse parser
    import steplens.rl                          # profiler_config YAML

Importing this package loads no framework and nothing native.
"""

__version__ = "0.3.0"
