"""MindSpeed-LLM's flags in a training script of one's own. A first look at iterations 5 and 6:

    python3 megatron_flags.py --profile --profile-step-start 5 --profile-step-end 7 --profile-level level1 --profile-with-cpu
"""

import argparse

from steplens.megatron import StepProfiler, add_profile_arguments
from tiny import Tiny

parser = argparse.ArgumentParser()
parser.add_argument("--train-iters", type=int, default=15)
add_profile_arguments(parser)
args = parser.parse_args()

model = Tiny()
with StepProfiler(args, iteration=0) as profiler:
    for iteration in range(1, args.train_iters + 1):
        model.train_step()
        profiler.step()
