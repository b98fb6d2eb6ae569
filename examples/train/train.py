"""Trains a small transformer on one rank or several (gloo, CPU): the next character of a text, a few steps.

    python3 -m torch.distributed.run --nproc_per_node 2 examples/train/train.py [--steps 8] [--slow-rank R]
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

TEXT = "a training step is forward, backward, communication and the optimizer; one of them is the slow one. " * 200


class Characters(Dataset):
    """Pieces of the text, as numbers."""

    def __init__(self, text, length):
        alphabet = {character: i for i, character in enumerate(sorted(set(text)))}
        self.codes = torch.tensor([alphabet[character] for character in text])
        self.size = len(alphabet)
        self.length = length

    def __len__(self):
        return (len(self.codes) - 1) // self.length

    def __getitem__(self, i):
        begin = i * self.length
        piece = self.codes[begin:begin + self.length + 1]
        return piece[:-1], piece[1:]


class Block(nn.Module):
    """Attention and a feed-forward layer, each added to what came in."""

    def __init__(self, width, heads):
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.feed_norm = nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, mask):
        y = self.attention_norm(x)
        x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
        return x + self.feed(self.feed_norm(x))


class Transformer(nn.Module):
    def __init__(self, symbols, length, width, heads, layers):
        super().__init__()
        self.symbol = nn.Embedding(symbols, width)
        self.place = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, symbols)
        self.register_buffer("mask", torch.triu(torch.full((length, length), float("-inf")), diagonal=1))

    def forward(self, codes):
        x = self.symbol(codes) + self.place(torch.arange(codes.shape[1]))
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(x)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--slow-rank", type=int, default=-1, help="a rank that dawdles before every step")
    parser.add_argument("--slow-seconds", type=float, default=0.02)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    rank = int(os.environ.get("RANK", 0))
    ranks = int(os.environ.get("WORLD_SIZE", 1))
    if ranks > 1:
        dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    data = Characters(TEXT, arguments.length)
    model = Transformer(data.size, arguments.length, arguments.width, 4, arguments.layers)
    if ranks > 1:
        model = DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    loader = DataLoader(data, batch_size=arguments.batch, shuffle=True, drop_last=True)
    batches = iter(loader)
    for step in range(1, arguments.steps + 1):
        begin = time.perf_counter()
        try:
            codes, targets = next(batches)
        except StopIteration:
            batches = iter(loader)
            codes, targets = next(batches)
        if rank == arguments.slow_rank:
            time.sleep(arguments.slow_seconds)
        optimizer.zero_grad()
        logits = model(codes)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
        if rank == 0:
            print(f"step {step}: loss {loss.item():.3f}, {1000 * (time.perf_counter() - begin):.0f} ms", flush=True)
    if ranks > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
