"""Processes that start the ranks of a job and are none themselves."""

from __future__ import annotations

import os
import sys
from typing import Any, Sequence

PROGRAMS = ("torchrun", "torch_npu_run")
_MODULES = ("torch.distributed.run", "torch.distributed.launch", "torch_npu.distributed.run")


def command_line() -> list:
    """The words this process was started with, the interpreter first."""
    words = getattr(sys, "orig_argv", None)
    if words is not None:
        return words
    with open("/proc/self/cmdline", "rb") as file:  # Python 3.9
        return [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]


def is_launcher(words: Sequence[str], environment: Any, programs: Sequence[str], at_most: int) -> bool:
    """`words`: the command line, the interpreter first; `programs`: scripts that are launchers, looked for among the first `at_most`
    words. Who has a RANK is no launcher."""
    if "RANK" in environment:
        return False
    if any(os.path.basename(word) in programs for word in words[:at_most]):
        return True
    return any(first == "-m" and second in _MODULES for first, second in zip(words, words[1:]))


ELASTIC = "torch.distributed.elastic.multiprocessing.api"  # what `repair` repairs


def repair(elastic: Any) -> None:
    """torchrun of torch 1.13 cannot start ranks on Python 3.11 and newer: a flag enum does not list its zero any more, and the default
    of -r and -t is zero. `elastic` is the module ELASTIC; one that is whole is left alone."""
    flags = elastic.Std
    if flags.from_str("0") is not None:
        return
    check = flags.from_str

    def from_str(text: str) -> Any:
        check(text)  # raises if it is neither a number nor pairs of numbers
        if ":" not in text:
            return flags(int(text))
        return {int(rank): flags(int(value)) for rank, value in (pair.split(":") for pair in text.split(","))}

    flags.from_str = staticmethod(from_str)
