"""The same keys for the FSDP2 trainer: a section of a YAML file, or --profile_* on the command line.

    profiler = StepProfiler(ProfileArguments.from_mapping(yaml_section))

Iterations count from 0, as that trainer does; `profile_step_start: a, profile_step_end: b` records a, ..., b-1, with b = -1 all from a on.
"""

from __future__ import annotations

import argparse
import os

from .. import _command, _log, _rank
from ._base import BaseStepProfiler
from ._keys import ProfileArguments, add_arguments, boolean_word

__all__ = ["ProfileArguments", "StepProfiler", "add_profile_arguments"]


class StepProfiler(BaseStepProfiler):
    """Does nothing unless `profile` is true and this rank is selected. `args`: a ProfileArguments, or what a parser made."""

    def __init__(self, args: ProfileArguments):
        super().__init__()
        keys = ProfileArguments.from_namespace(args)
        if not keys.profile or not _command.is_selected(keys.profile_ranks, keys.all_ranks):
            return
        self._make_folder(keys.profile_save_path)
        self._make(keys, first=0, names=())

    def start(self) -> None:
        if self.enabled:
            self._tell("Profiler starts.")
        super().start()

    def stop(self) -> None:
        super().stop()
        if self.enabled:
            self._tell("Profiler stopped.")

    @staticmethod
    def _tell(text: str) -> None:
        if _rank.global_rank() == 0:
            _log.info(text)

    @staticmethod
    def _make_folder(path: str) -> None:
        try:
            os.makedirs(path, mode=0o750, exist_ok=True)
        except OSError as problem:
            _log.error(f"The folder {path} cannot be made: {problem.strerror}")


def add_profile_arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Adds --profile, --profile_step_start (or --profile-step-start), ... to `parser` and returns it. Switches may have a value: true,
    false."""
    return add_arguments(parser, {"nargs": "?", "const": True, "type": boolean_word})
