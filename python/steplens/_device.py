"""The device of the vendor, if there is one; without it the CPU is the device."""

from __future__ import annotations

from typing import Any, Optional

from ._config import Config


def open_device(config: Config, directory: str) -> Optional[Any]:
    return None
