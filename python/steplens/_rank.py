"""Which rank this process is. Looks at torch.distributed only if the program has loaded it."""

from __future__ import annotations

import os
import socket
import sys
from typing import Optional


def environment_rank() -> Optional[int]:
    """The rank the launcher gave in RANK; None if it is unset or no number."""
    text = os.environ.get("RANK", "")
    return int(text) if text.isascii() and text.isdigit() else None


def distributed_rank() -> Optional[int]:
    """The rank of an initialised torch.distributed."""
    distributed = sys.modules.get("torch.distributed")
    try:
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return int(distributed.get_rank())
    except (RuntimeError, AttributeError, ValueError):
        pass  # torch is being imported, or its groups are being taken down
    return None


def torch_rank() -> tuple[Optional[int], bool]:
    """(rank or None, whether it came from the environment and is written as text)."""
    rank = environment_rank()
    return (rank, True) if rank is not None else (distributed_rank(), False)


def global_rank() -> int:
    """The rank for filters: which ranks record. A process alone is rank 0."""
    rank = environment_rank()
    if rank is None:
        rank = distributed_rank()
    return 0 if rank is None else rank


def world_size() -> int:
    distributed = sys.modules.get("torch.distributed")
    if distributed_rank() is not None:
        return int(distributed.get_world_size())
    text = os.environ.get("WORLD_SIZE", "")
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else 1


def mindspore_rank() -> str:
    """The rank of an initialised torch.distributed, else RANK_ID; "0" if there is neither or it is no number. RANK counts where
    RANK_ID is unset: it is how torchrun tells the same."""
    rank = distributed_rank()
    text = os.environ.get("RANK_ID", os.environ.get("RANK", "")) if rank is None else str(rank)
    return text if text.isascii() and text.isdigit() else "0"


def mindspore_device() -> Optional[int]:
    """The device of MindSpore's context, else LOCAL_RANK, else DEVICE_ID; None if nobody tells."""
    get_context = getattr(sys.modules.get("mindspore"), "get_context", None)
    try:
        if get_context is not None:
            return int(get_context("device_id"))
    except (RuntimeError, ValueError, TypeError):
        pass  # the context knows no device
    for name in ("LOCAL_RANK", "DEVICE_ID"):
        text = os.environ.get(name, "")
        if text.isascii() and text.isdigit():
            return int(text)
    return None


def host_name() -> str:
    return socket.gethostname() or "localhost"


def local_rank() -> int:
    """The rank on this host as launchers tell it; 0 where they do not."""
    text = os.environ.get("LOCAL_RANK", "0")
    return int(text) if text.isascii() and text.isdigit() else 0
