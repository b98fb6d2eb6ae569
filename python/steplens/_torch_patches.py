"""What a training does between its operators: waits for data and saves checkpoints, as marks while a capture runs.

`torch.utils.data` and `torch.save` are wrapped at start and given back at stop; a wrapper that somebody else has wrapped in the
meantime stays, and does nothing then.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Optional

from . import _native


def _marked(function: Callable, message: str, as_range: bool) -> Callable:
    """`function` inside a mark and, if `as_range`, inside a range of the calling thread."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not _native.recording():
            return function(*args, **kwargs)
        mark = _native.mark_start(message)
        if as_range:
            _native.range_begin(message)
        try:
            return function(*args, **kwargs)
        finally:
            if as_range:
                _native.range_end()
            _native.mark_end(mark)

    return call


class _Patch:
    """One attribute that is replaced."""

    def __init__(self, owner: Any, attribute: str, message: str, as_range: bool):
        self._owner = owner
        self._attribute = attribute
        self._original = getattr(owner, attribute)
        self._ours = _marked(self._original, message, as_range)
        setattr(owner, attribute, self._ours)

    def undo(self) -> None:
        if getattr(self._owner, self._attribute, None) is self._ours:
            setattr(self._owner, self._attribute, self._original)


class Patches:
    name = "patches"

    def __init__(self) -> None:
        self._patches: list[_Patch] = []

    def prepare(self) -> None:
        pass

    def start(self) -> None:
        # A data loader's __next__ is a range of torch's own already (enumerate(DataLoader)#...).
        self._wrap(sys.modules.get("torch.utils.data.dataloader"), "_BaseDataLoaderIter.__next__", "dataloader", False)
        self._wrap(sys.modules.get("torch"), "save", "save_checkpoint", True)

    def stop(self) -> None:
        for patch in reversed(self._patches):
            patch.undo()
        self._patches.clear()

    def close(self) -> None:
        pass

    def _wrap(self, owner: Optional[Any], path: str, message: str, as_range: bool) -> None:
        *parents, attribute = path.split(".")
        for parent in parents:
            owner = getattr(owner, parent, None)
        if owner is not None and hasattr(owner, attribute):
            self._patches.append(_Patch(owner, attribute, message, as_range))
