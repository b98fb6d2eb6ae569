#!/usr/bin/env python3
"""Writes a synthetic cluster capture with planted faults; `--help` lists what can be planted."""

from synth_cluster.command import main

if __name__ == "__main__":
    raise SystemExit(main())
