#!/usr/bin/env python3
"""Runs examples/train/train.py with a change planted, so that two recordings of it differ in a known way.

    planted_train.py [--plant NAME[=VALUE]] [options of train.py]

    operator   one more operator in every forward pass: a cumulative sum over the hidden state
    memory=F   a block of memory held from the first step on, as a share of what the model's parameters need (default 1)
    rank=S     rank 1 sleeps so many seconds before every step (default 0.01)
    bucket=MB  gradients are reduced in buckets of this size (default 0.05)
"""

import argparse
import pathlib
import runpy
import sys

import torch

TRAIN = pathlib.Path(__file__).resolve().parents[1] / "examples" / "train" / "train.py"
DEFAULTS = {"operator": None, "memory": 1.0, "rank": 0.01, "bucket": 0.05}
held = []


def plant_operator(_value):
    forward = torch.nn.LayerNorm.forward

    def with_sum(self, x):
        return forward(self, x) + 0 * torch.cumsum(x, dim=-1)

    torch.nn.LayerNorm.forward = with_sum


def plant_memory(share):
    optimizer = torch.optim.AdamW.__init__

    def with_block(self, parameters, *args, **kwargs):
        parameters = list(parameters)
        needed = sum(parameter.numel() for parameter in parameters)
        held.append(torch.zeros(int(needed * share)))
        optimizer(self, parameters, *args, **kwargs)

    torch.optim.AdamW.__init__ = with_block


def plant_bucket(megabytes):
    wrapped = torch.nn.parallel.DistributedDataParallel.__init__

    def with_bucket(self, module, *args, **kwargs):
        wrapped(self, module, *args, bucket_cap_mb=megabytes, **kwargs)

    torch.nn.parallel.DistributedDataParallel.__init__ = with_bucket


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plant", action="append", default=[], metavar="NAME[=VALUE]")
    known, rest = parser.parse_known_args()
    for word in known.plant:
        name, _, value = word.partition("=")
        if name not in DEFAULTS:
            parser.error(f"--plant: there is no '{name}'; {', '.join(DEFAULTS)} were expected")
        value = float(value) if value else DEFAULTS[name]
        if name == "rank":
            rest += ["--slow-rank", "1", "--slow-seconds", str(value)]
        else:
            globals()[f"plant_{name}"](value)
    sys.argv = [str(TRAIN), *rest]
    runpy.run_path(str(TRAIN), run_name="__main__")


if __name__ == "__main__":
    main()
