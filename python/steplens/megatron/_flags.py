"""The flags for a parser of Megatron's kind: switches without a value."""

from __future__ import annotations

import argparse

from ._keys import add_arguments


def add_profile_arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Adds --profile, --profile-step-start (or --profile_step_start), ... to `parser` and returns it. Flags the parser has already keep
    their defaults."""
    return add_arguments(parser, {"action": "store_true"})
