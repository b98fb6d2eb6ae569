"""The flags and their defaults."""

from __future__ import annotations

import argparse

from .._command import EXPORT_TYPES, LEVELS


def add_profile_arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Adds the flags to `parser` and returns it. Flags the parser has already are left as they are."""
    group = parser.add_argument_group(title="profile")

    def add(name: str, **options) -> None:
        if name not in parser._option_string_actions:
            group.add_argument(name, **options)

    def switch(name: str, text: str) -> None:
        add(name, action="store_true", default=False, help=text)

    switch("--profile", "record a profile")
    add("--profile-step-start", type=int, default=10, help="first iteration to record, from 1 on (default: %(default)s)")
    add("--profile-step-end", type=int, default=12, help="first iteration not to record any more (default: %(default)s)")
    add("--profile-ranks", nargs="+", type=int, default=[0], help="global ranks that record; -1 alone: all (default: 0)")
    add("--profile-level", choices=list(LEVELS), default="level0", help="how much is recorded (default: %(default)s)")
    add("--profile-export-type", choices=list(EXPORT_TYPES), default="text", help="form of the results (default: %(default)s)")
    switch("--profile-data-simplification", "remove intermediate files after the analysis")
    switch("--profile-with-cpu", "record the operators on the host")
    switch("--profile-with-stack", "record the Python call stacks of operators")
    switch("--profile-with-memory", "record allocations")
    switch("--profile-record-shapes", "record the shapes of inputs")
    add("--profile-save-path", type=str, default="./profile_dir", help="folder of the captures (default: %(default)s)")
    return parser
