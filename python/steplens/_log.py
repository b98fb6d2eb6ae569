"""What the package says, and the rule that it never stops a training.

Every message is one line on standard error:

    [2026-01-31 12:00:00] [WARNING] [4711] profiler.py: ...

Warnings are printed by rank 0 only (environment RANK) and can be switched off with TORCH_NPU_WARNING_DISABLE=1.
"""

from __future__ import annotations

import functools
import os
import sys
import time

_CONFLICTS = ("PROFILER_SAMPLECONFIG", "PROFILING_MODE")
_WARNING_SWITCHES = ("TORCH_NPU_WARNING_DISABLE", "TORCH_NPU_DISABLED_WARNING")
_conflict_told = False


def _say(level: str, text: str) -> None:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    try:
        sys.stderr.write(f"[{stamp}] [{level}] [{os.getpid()}] profiler.py: {text}\n")
    except (OSError, ValueError, AttributeError):
        pass  # standard error is closed or gone; there is nowhere to report


def info(text: str) -> None:
    _say("INFO", text)


def warning(text: str) -> None:
    if any(os.environ.get(name) == "1" for name in _WARNING_SWITCHES):
        return
    if os.environ.get("RANK", "0") == "0":
        _say("WARNING", text)


def error(text: str) -> None:
    _say("ERROR", text)


def in_conflict() -> bool:
    """Whether the device's command line profiler owns this process; says so once."""
    global _conflict_told
    name = next((name for name in _CONFLICTS if name in os.environ), None)
    if name is None:
        return False
    if not _conflict_told:
        _conflict_told = True
        warning(f"{name} is set: another profiler owns this process, the calls of this one have no effect.")
    return True


def describe(problem: BaseException) -> str:
    """The text of an exception, never empty."""
    return str(problem) or type(problem).__name__


def guarded(default=None, looks_for_conflict=True):
    """Makes a public function safe for a training: an exception becomes a message and the result `default`.

    `looks_for_conflict` False: for what is called in every step, of objects that were made without a conflict or do nothing."""

    def wrap(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            if looks_for_conflict and in_conflict():
                return default
            try:
                return function(*args, **kwargs)
            except Exception as problem:  # the promise of this module
                error(f"Call {function.__name__} failed. Exception: {describe(problem)}")
                return default

        return call

    return wrap
