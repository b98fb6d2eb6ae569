"""Which rank this process is. Looks at torch.distributed only if the program has loaded it."""

from __future__ import annotations

import os
import socket
import sys
from typing import Optional

# How mpirun and srun tell their processes who they are; src/collect/auto_config.cc knows the same.
_RANK = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
_LOCAL_RANK = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
_WORLD_SIZE = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")


def _number(*names: str) -> Optional[int]:
    """The value of the first of these variables that is a number."""
    texts = (os.environ.get(name, "") for name in names)
    return next((int(text) for text in texts if text.isascii() and text.isdigit()), None)


def environment_rank() -> Optional[int]:
    """The rank the launcher gave in RANK; None if it is unset or no number."""
    return _number("RANK")


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
    if rank is not None:
        return rank, True
    rank = distributed_rank()
    return (_number(*_RANK) if rank is None else rank), False


def global_rank() -> int:
    """The rank for filters: which ranks record. A process alone is rank 0."""
    return torch_rank()[0] or 0


def world_size() -> int:
    distributed = sys.modules.get("torch.distributed")
    if distributed_rank() is not None:
        return int(distributed.get_world_size())
    return _number(*_WORLD_SIZE) or 1


def is_one_card() -> bool:
    """Of MindSpore: whether the job has this process alone."""
    return world_size() == 1 and _number("RANK_SIZE") in (None, 1) and _number("RANK_ID") in (None, 0)


def mindspore_rank() -> str:
    """The rank of an initialised torch.distributed, else RANK_ID; "0" if there is neither or it is not a number. RANK counts where
    RANK_ID is unset: it is how torchrun tells the same, and what mpirun and srun set."""
    rank = distributed_rank()
    if rank is None:
        rank = _number("RANK_ID") if "RANK_ID" in os.environ else _number("RANK", *_RANK)
    return str(rank or 0)


def mindspore_device() -> Optional[int]:
    """The device of MindSpore's context, else the rank on this host, else DEVICE_ID; None if unknown."""
    get_context = getattr(sys.modules.get("mindspore"), "get_context", None)
    try:
        if get_context is not None:
            return int(get_context("device_id"))
    except (RuntimeError, ValueError, TypeError):
        pass  # the context knows no device
    return _number(*_LOCAL_RANK, "DEVICE_ID")


def host_name() -> str:
    return socket.gethostname() or "localhost"


def local_rank() -> int:
    """The rank on this host as launchers tell it; 0 where they do not."""
    return _number(*_LOCAL_RANK) or 0
