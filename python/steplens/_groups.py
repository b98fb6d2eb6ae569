"""The process groups of torch.distributed: who they are, for the adapter and for profiler_metadata.json."""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any, Iterator, NamedTuple, Optional


class Group(NamedTuple):
    address: int  # of the C++ object
    name: str  # of the communicator, the same on all ranks
    group_name: str  # for people
    group_rank: int
    global_ranks: list


_POINTER_OFFSET = 2 * ctypes.sizeof(ctypes.c_void_p)  # behind reference count and type: where pybind11 keeps its object


def _module() -> Any:
    return sys.modules.get("torch.distributed.distributed_c10d")


def initialised() -> bool:
    distributed = sys.modules.get("torch.distributed")
    try:
        return bool(distributed is not None and distributed.is_available() and distributed.is_initialized())
    except (AttributeError, RuntimeError, ValueError):
        return False


def groups() -> Iterator[Group]:
    """The groups this process belongs to; empty before torch.distributed is initialised."""
    module = _module()
    if module is None or not initialised():
        return
    world = getattr(module, "_world", module)
    names = getattr(world, "pg_names", None) or getattr(module, "_pg_names", {})
    ranks = getattr(world, "pg_group_ranks", None) or getattr(module, "_pg_group_ranks", {})
    backends = getattr(world, "pg_map", None) or getattr(module, "_pg_map", {})
    default = module._get_default_group()
    for group, name in list(names.items()):
        if not isinstance(group, module.ProcessGroup):
            continue
        members = ranks.get(group) or {rank: rank for rank in range(group.size())}
        backend = str(backends.get(group, ("group",))[0])
        yield Group(_address(group), f"{backend}_{name or 0}", "default_group" if group is default else str(name),
                    int(group.rank()), sorted(members, key=lambda rank: members[rank]))


def _address(group: Any) -> int:
    return ctypes.c_uint64.from_address(id(group) + _POINTER_OFFSET).value


def tell(library: ctypes.CDLL) -> None:
    """Tells the adapter which groups there are."""
    for group in groups():
        library.slt_group(group.address, group.name.encode(), ",".join(map(str, group.global_ranks)).encode())


_HOOK_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_uint64)
_hook: Optional[Any] = None  # called by the adapter for the life of the process


def connect(library: ctypes.CDLL) -> None:
    """From now on the adapter asks when it meets a group that it does not know."""
    global _hook

    def unknown(_address_of_group: int) -> None:
        try:
            tell(library)
        except Exception:  # a collective must not fail because of a name
            pass

    _hook = _HOOK_TYPE(unknown)
    library.slt_unknown_group_hook(_hook)
    _watch_initialisation(library)


def _watch_initialisation(library: ctypes.CDLL) -> None:
    """A capture may be running when the process joins its job: from then on the inputs of operators matter."""
    module = _module()
    if module is None or initialised():
        return
    join = module.init_process_group

    @functools.wraps(join)
    def join_and_tell(*args: Any, **kwargs: Any) -> Any:
        result = join(*args, **kwargs)
        library.slt_watch_groups()
        return result

    for owner in (module, sys.modules["torch.distributed"]):
        if owner.init_process_group is join:
            owner.init_process_group = join_and_tell


def parallel_group_info() -> dict[str, Any]:
    """As in profiler_metadata.json."""
    try:
        return {group.name: {"group_name": group.group_name, "group_rank": group.group_rank,
                             "global_ranks": group.global_ranks} for group in groups()}
    except Exception:  # groups are being taken down, or their tables look different in this version
        return {}
