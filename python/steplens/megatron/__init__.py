"""The --profile* flags of MindSpeed-LLM for any argparse parser and any training loop.

    parser = argparse.ArgumentParser()
    steplens.megatron.add_profile_arguments(parser)
    args = parser.parse_args()
    profiler = steplens.megatron.StepProfiler(args, iteration=0)
    profiler.start()
    for batch in data:
        train(batch)
        profiler.step()
    profiler.stop()

Iterations count from 1, as Megatron's training loop does; --profile-step-start a --profile-step-end b records a, ..., b-1, and 0 and -1 (the
defaults) the first to the last. The trainer built on FSDP2, which counts from 0: `steplens.megatron.fsdp2`.
"""

from . import fsdp2
from ._flags import add_profile_arguments
from ._groups import name_group
from ._keys import ProfileArguments
from ._step_profiler import StepProfiler

__all__ = ["ProfileArguments", "StepProfiler", "add_profile_arguments", "fsdp2", "name_group"]
