"""Modules that stand for another one ("steplens.torch_npu" for "torch_npu") hand on the names that are not theirs, where the other one
is installed. What they hand on are the real objects: isinstance, pickling and settings work as with the real import.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any, Callable, Optional, Sequence

_real_names: dict[str, str] = {}  # our package -> the real one


class Forward:
    """The way from our module `own` to `real`, which is imported when a name of it is first asked for."""

    def __init__(self, own: str, real: str):
        self._own = own
        self._real = real
        self._is_absent = False

    def module(self) -> Optional[ModuleType]:
        """The real module; None where it is not installed. Whatever else stops its import is raised, as by `import`."""
        if self._is_absent:
            return None
        found = _import(self._real)
        self._is_absent = found is None
        return found

    def get(self, name: str, fallback: Optional[Callable[[str], Any]] = None) -> Any:
        """For __getattr__ of `own`: the real value, or that of `fallback` (which raises KeyError) where there is no real module."""
        if name.startswith("__") and name.endswith("__"):  # of a module itself: ours has them all
            raise AttributeError(f"module {self._own!r} has no attribute {name!r}")
        real = self.module()
        if real is not None:
            return _attribute(real, name)
        if fallback is not None:
            try:
                return fallback(name)
            except KeyError:
                pass
        raise AttributeError(f"module {self._own!r} has no attribute {name!r}, and {self._real} is not installed")

    def names(self, own: Sequence[str]) -> list[str]:
        """For __dir__."""
        real = self.module()
        return sorted({*own, *(dir(real) if real is not None else ())})


def _attribute(real: ModuleType, name: str) -> Any:
    """An attribute of a module, or a submodule that is not imported yet."""
    try:
        return getattr(real, name)
    except AttributeError:
        submodule = _import(f"{real.__name__}.{name}") if hasattr(real, "__path__") else None
        if submodule is None:
            raise
        return submodule


def _import(name: str) -> Optional[ModuleType]:
    """A module, None where it, or what holds it, is not installed. One that is ours under another's name counts as not installed."""
    try:
        if importlib.import_module(name.split(".")[0]).__name__.split(".")[0] == "steplens":
            return None
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name is not None and (name + ".").startswith(problem.name + "."):
            return None
        raise


def forward_imports(own: str, real: str) -> None:
    """`import own.x` imports `real.x` where `own` has no module x itself."""
    if not _real_names:
        sys.meta_path.append(_Finder())
    _real_names[own] = real


class _Finder(importlib.abc.MetaPathFinder):
    """Asked last, so that modules of ours come first."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Optional[importlib.machinery.ModuleSpec]:
        for own, real in _real_names.items():
            if fullname.startswith(own + "."):
                module = _import(real + fullname[len(own):])
                return None if module is None else importlib.machinery.ModuleSpec(fullname, _Loader(module))
        return None


class _Loader(importlib.abc.Loader):
    """Hands out a module that is loaded already, as it is."""

    def __init__(self, module: ModuleType):
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put ours in its place


def is_imported_by_us() -> bool:
    """Whether the module that calls this is being imported by a module of ours, not by the user's program."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("importlib", "_frozen_importlib",
                                                                                     "_frozen_importlib_external"):
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "steplens"
