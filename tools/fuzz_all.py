#!/usr/bin/env python3
"""Runs every command, and the viewer's server, on damaged captures; see fuzz_all/command.py."""

import sys

from fuzz_all.command import main

if __name__ == "__main__":
    sys.exit(main())
