"""Readable names (tp, dp, pp, ...) of the process groups in profiler_metadata.json."""

from __future__ import annotations

import sys
from typing import Any

from .. import _groups

# Getter of megatron.core.parallel_state -> name.
_GETTERS = {
    "get_tensor_model_parallel_group": "tp", "get_pipeline_model_parallel_group": "pp", "get_data_parallel_group": "dp",
    "get_context_parallel_group": "cp", "get_expert_model_parallel_group": "ep", "get_embedding_group": "embd",
    "get_model_parallel_group": "mp", "get_tensor_and_data_parallel_group": "tp_dp",
    "get_tensor_and_context_parallel_group": "tp_cp",
}
_named: list[tuple[Any, str]] = []  # process groups live as long as the process


def name_group(group: Any, name: str) -> None:
    """Says what a group of torch.distributed is for; `name` as people say it: "tp", "dp", ..."""
    if not isinstance(name, str) or not name:
        raise ValueError("the name of a group must be a text that is not empty")
    _named.append((group, name))


def parallel_group_info() -> dict[str, Any]:
    """As in profiler_metadata.json, with the names given here or known from Megatron; {} without groups."""
    info = _groups.parallel_group_info()
    if not info:
        return {}
    names = {id(group): name for group, name in [*_megatron_groups(), *_named]}
    for group, communicator in _communicators():
        entry = info.get(communicator)
        if entry is not None and id(group) in names and entry["group_name"] != "default_group":
            entry["group_name"] = names[id(group)]
    return info


def _communicators() -> list[tuple[Any, str]]:
    """(group, name of its communicator) of all groups of this process."""
    known = {group.address: group.name for group in _groups.groups()}
    candidates = [group for group, _ in [*_megatron_groups(), *_named]]
    return [(group, known[_groups._address(group)]) for group in candidates if _groups._address(group) in known]


def _megatron_groups() -> list[tuple[Any, str]]:
    state = sys.modules.get("megatron.core.parallel_state")
    found = []
    for getter, name in _GETTERS.items():
        try:
            found.append((getattr(state, getter)(), name))
        except Exception:  # not initialised, or not in this version: the group keeps its number
            continue
    return found
