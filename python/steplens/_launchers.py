"""Processes that start the ranks of a job and are none themselves."""

from __future__ import annotations

import os
from typing import Any, Sequence

PROGRAMS = ("torchrun", "torch_npu_run")
_MODULES = ("torch.distributed.run", "torch.distributed.launch", "torch_npu.distributed.run")


def is_launcher(words: Sequence[str], environment: Any, programs: Sequence[str], at_most: int) -> bool:
    """`words`: the command line, the interpreter first; `programs`: scripts that are launchers, looked for among the first `at_most`
    words. Who has a RANK is no launcher."""
    if "RANK" in environment:
        return False
    if any(os.path.basename(word) in programs for word in words[:at_most]):
        return True
    return any(first == "-m" and second in _MODULES for first, second in zip(words, words[1:]))
