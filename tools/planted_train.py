#!/usr/bin/env python3
"""Runs examples/train/train.py with a change planted, so that two recordings of it differ in a known way.

    planted_train.py [--plant NAME[=VALUE]] [options of train.py]

    operator=N so many more operators in every layer norm: cumulative sums over the hidden state (default 1)
    memory=F   a block of memory held from the first step on, as a share of what the model's parameters need (default 1)
    held=MB    every step holds a block of so many MB until the next one
    rank=S     rank 1 sleeps so many seconds before every step (default 0.01)
    bucket=MB  gradients are reduced in buckets of this size (default 0.05)
    loader=S   reading a batch takes so many seconds longer (default 0.02)
    item=N     every step reads so many numbers out of a tensor, one by one, with .item() (default 2000)
    tiny=N     every step calls so many operators on a few numbers (default 2000)
               what loader, item and tiny took is printed at the end: "planted: 20.3 20.1 ..." (ms, by step)
    again      the blocks compute their forward pass again in the backward pass (activation checkpointing)
"""

import argparse
import pathlib
import runpy
import sys
import time

import torch
import torch.utils.data

TRAIN = pathlib.Path(__file__).resolve().parents[1] / "examples" / "train" / "train.py"
DEFAULTS = {"operator": 1, "memory": 1.0, "held": 1.0, "rank": 0.01, "bucket": 0.05, "loader": 0.02, "item": 2000, "tiny": 2000, "again": None}
held = []
spent_ms = []


def plant_operator(count):
    forward = torch.nn.LayerNorm.forward

    def with_sum(self, x):
        return forward(self, x) + sum(0 * torch.cumsum(x, dim=-1) for _ in range(int(count)))

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


def timed(work):
    """What work() returns; how long it takes is noted."""
    begin = time.perf_counter()
    result = work()
    spent_ms.append(1000 * (time.perf_counter() - begin))
    return result


def plant_loader(seconds):
    collate = torch.utils.data.default_collate

    def slow(pieces):
        timed(lambda: time.sleep(seconds))
        return collate(pieces)

    loader = torch.utils.data.DataLoader.__init__

    def with_slow(self, *args, **kwargs):
        loader(self, *args, collate_fn=slow, **kwargs)

    torch.utils.data.DataLoader.__init__ = with_slow


def before_each_step(work):
    """Calls work() in the training loop, where the gradients are set to zero."""
    zero = torch.optim.Optimizer.zero_grad

    def with_work(self, *args, **kwargs):
        timed(work)
        zero(self, *args, **kwargs)

    torch.optim.Optimizer.zero_grad = with_work


def plant_held(megabytes):
    def hold():
        held.clear()
        held.append(torch.zeros(int(megabytes * 1024 * 256)))

    before_each_step(hold)


def plant_item(count):
    numbers = torch.rand(int(count))

    def read():
        return sum(number.item() for number in numbers.unbind())

    before_each_step(read)


def plant_tiny(count):
    few = torch.rand(8)

    def add():
        for _ in range(int(count)):
            torch.add(few, 1)

    before_each_step(add)


def plant_again(_value):
    from torch.utils.checkpoint import checkpoint
    sequential = torch.nn.Sequential.forward

    def twice(self, x):
        return checkpoint(lambda y: sequential(self, y), x, use_reentrant=False)

    torch.nn.Sequential.forward = twice


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
    if spent_ms:
        print("planted:", " ".join(f"{ms:.3f}" for ms in spent_ms), flush=True)


if __name__ == "__main__":
    main()
