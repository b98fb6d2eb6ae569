"""What users add to profiler_metadata.json: limits and the two ways to give it."""

from __future__ import annotations

import json
import sys
from typing import Any, Callable, Optional


class Metadata:
    """Keys and values of one profiler, in the order they were added. Refusals and replacements are passed to `warn`.

    `max_chars`: of a key and of a value given as text, None: no limit; `max_bytes`: of all, as objects in memory.
    """

    def __init__(self, warn: Callable[[str], None], max_chars: Optional[int], max_bytes: int):
        self.values: dict[str, Any] = {}
        self._warn = warn
        self._max_chars = max_chars
        self._max_bytes = max_bytes
        self._sizes: dict[str, int] = {}

    def add(self, key: Any, value: Any) -> None:
        if self._accepts(key, value):
            self._put(key, value, value)

    def add_json(self, key: Any, value: Any) -> None:
        if not self._accepts(key, value):
            return
        try:
            decoded = json.loads(value)
            json.dumps(decoded, allow_nan=False)  # NaN and Infinity are of Python, not of JSON
        except (ValueError, RecursionError):
            self._warn(f"The value of metadata {key!r} is not JSON text; it is skipped.")
            return
        self._put(key, value, decoded)

    def _accepts(self, key: Any, value: Any) -> bool:
        if not isinstance(key, str) or not isinstance(value, str):
            self._warn("Key and value of metadata must be str; the item is skipped.")
            return False
        if self._max_chars is not None and max(len(key), len(value)) > self._max_chars:
            self._warn(f"Key and value of metadata must not be longer than {self._max_chars} characters; "
                       "the item is skipped.")
            return False
        others = sum(size for name, size in self._sizes.items() if name != key)
        if others + sys.getsizeof(key) + sys.getsizeof(value) >= self._max_bytes:
            self._warn(f"All metadata together must be smaller than {self._max_bytes} bytes; the item is skipped.")
            return False
        return True

    def _put(self, key: str, text: str, value: Any) -> None:
        if key in self.values:
            self._warn(f"Metadata {key!r} is there already; its value is replaced.")
        self.values[key] = value
        self._sizes[key] = sys.getsizeof(key) + sys.getsizeof(text)
