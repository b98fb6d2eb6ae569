"""Where a handler sends captures. A handler sets the place when it is made: for the profiler it is given to, and for profilers with
handlers of the user's own."""

from __future__ import annotations

import functools
import types
from typing import Any, Iterator, NamedTuple, Optional


class Place(NamedTuple):
    """A folder for captures and the first part of their names; None: not given."""

    directory: Optional[str] = None
    worker: Optional[str] = None


_DEPTH = 3  # a function of the user's, what it refers to, and that of it


def place_of(handler: Any) -> Optional[Place]:
    """The place of a handler of ours, also of the only one that a function or object of the user's refers to. None: no such place."""
    places = list(dict.fromkeys(_places_in(handler, _DEPTH, set())))
    return places[0] if len(places) == 1 else None


def _places_in(thing: Any, depth: int, seen: set) -> Iterator[Place]:
    if depth == 0 or id(thing) in seen:
        return
    seen.add(id(thing))
    place = getattr(type(thing), "has_place", False) and getattr(thing, "place", None)
    if isinstance(place, Place):
        yield place
        return
    for part in _referred(thing):
        yield from _places_in(part, depth - 1, seen)


def _referred(thing: Any) -> list:
    """What a callable refers to: nothing is called, and no attribute of the user's own is computed."""
    if isinstance(thing, functools.partial):
        return [thing.func, *thing.args, *thing.keywords.values()]
    if isinstance(thing, types.MethodType):
        return [thing.__func__, thing.__self__]
    if isinstance(thing, types.FunctionType):
        cells = [cell.cell_contents for cell in thing.__closure__ or () if _is_filled(cell)]
        names = [thing.__globals__[name] for name in thing.__code__.co_names if name in thing.__globals__]
        return [*cells, *names, *(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values()]
    if isinstance(thing, (list, tuple)):
        return list(thing[:100])
    if isinstance(thing, (types.ModuleType, type)):
        return []
    return list(vars(thing).values()) if hasattr(thing, "__dict__") else []


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # a variable that has no value yet
        return False


class LastPlace:
    """The place of the handler that was made last, of one framework."""

    def __init__(self) -> None:
        self._place = Place()

    def set(self, place: Place) -> Place:
        self._place = place
        return place

    def get(self) -> Place:
        return self._place
