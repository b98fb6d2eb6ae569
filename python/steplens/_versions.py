"""Versions of what a capture was made with."""

from __future__ import annotations

import os
import re
import sys


def of(module: str) -> str:
    """The version of a module that the program has loaded; "" if it has not."""
    return str(getattr(sys.modules.get(module), "__version__", ""))


def cann() -> str:
    """From ascend_*_install.info below ASCEND_HOME_PATH."""
    home = os.environ.get("ASCEND_HOME_PATH", "")
    try:
        names = sorted(name for name in os.listdir(home) if re.fullmatch(r"ascend_.*_install\.info", name))
        for name in names:
            with open(os.path.join(home, name), encoding="utf-8", errors="replace") as file:
                for line in file:
                    if "version" in line and "=" in line:
                        return line.split("=", 1)[1].strip()
    except OSError:
        pass  # there is no CANN here
    return "not known"
