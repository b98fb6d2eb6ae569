"""Where a handler sends captures. A handler sets the place when it is made: for the profiler it is given to, and for profilers with
handlers of the user's own."""

from __future__ import annotations

from typing import NamedTuple, Optional


class Place(NamedTuple):
    """A folder for captures and the first part of their names; None: not given."""

    directory: Optional[str] = None
    worker: Optional[str] = None


class LastPlace:
    """The place of the handler that was made last, of one framework."""

    def __init__(self) -> None:
        self._place = Place()

    def set(self, place: Place) -> Place:
        self._place = place
        return place

    def get(self) -> Place:
        return self._place
