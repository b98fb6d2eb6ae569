"""The command `steplens` of an installed package, and `python -m steplens`: the program, with the same words."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from . import _analyse


def main() -> NoReturn:
    try:
        program = _analyse.find_program(in_path=False)  # the command in PATH may be this one
    except _analyse.AnalyseError as problem:
        sys.stderr.write(f"steplens: {problem}\n")
        sys.exit(127)
    os.execv(program, ["steplens", *sys.argv[1:]])


if __name__ == "__main__":
    main()
