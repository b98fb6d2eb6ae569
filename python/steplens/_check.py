"""Warn-and-default checks of user values. Each correction is printed and kept as a sentence in `changes`."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterable

from . import _log


class Checker:
    """Collects what was corrected. One per configuration; `warn` prints a sentence."""

    def __init__(self, warn: Callable[[str], None] = _log.warning):
        self.changes: list[str] = []
        self._warn = warn

    def note(self, text: str) -> None:
        self.changes.append(text)
        self._warn(text)

    def boolean(self, name: str, value: Any, default: bool = False) -> bool:
        if isinstance(value, bool):
            return value
        self.note(f"{name} is {shown(value)}, which is not a bool; it is set to {default}.")
        return default

    def integer(self, name: str, value: Any, default: int, at_least: int | None = 0) -> int:
        """An int that is not a bool, `at_least` or more."""
        if is_int(value) and (at_least is None or value >= at_least):
            return value
        bound = "" if at_least is None else f" of at least {at_least}"
        self.note(f"{name} is {shown(value)}, which is not an int{bound}; it is set to {default}.")
        return default

    def one_of(self, name: str, value: Any, allowed: Iterable, default: Any) -> Any:
        allowed = list(allowed)
        if is_one_of(value, allowed):
            return value
        self.note(f"{name} is {shown(value)}, which is none of {', '.join(map(str, allowed))}; it is set to {default}.")
        return default

    def member_list(self, name: str, value: Any, is_member: Callable[[Any], bool], default: list) -> list:
        """A list whose members all pass; equal ones count once, order is kept."""
        if isinstance(value, list) and all(map(is_member, value)):
            return list(dict.fromkeys(value))
        names = [getattr(item, "value", item) for item in default]
        self.note(f"{name} is {shown(value)}, which is not a list of valid members; it is set to {names}.")
        return list(default)


def is_one_of(value: Any, allowed: Iterable) -> bool:
    """Equal to a member and of its type: 1 is not True, and values of strange types are never compared."""
    return any(type(value) is type(item) and value == item for item in allowed)


def is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """An int or a float that has a size; bools, NaN and infinities are none."""
    return is_int(value) or (isinstance(value, float) and math.isfinite(value))


def shown(value: Any) -> str:
    """A value as a message shows it: its repr, not longer than a line."""
    try:
        text = repr(value)
    except Exception as problem:  # a repr of the user's own
        text = f"<{type(value).__name__}, whose repr fails: {problem}>"
    return text if len(text) <= 200 else text[:200] + "..."
