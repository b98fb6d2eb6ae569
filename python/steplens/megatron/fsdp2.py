"""The profiling keys of the FSDP2 trainer: a section of a YAML file, or --profile_* on the command line.

    profiler = StepProfiler(ProfileArguments.from_mapping(yaml_section))

Iterations count from 0; `profile_step_start: a, profile_step_end: b` records a, ..., b-1, with b = -1 all from a on.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
from dataclasses import dataclass, field
from typing import Any, Mapping

from .. import _command, _log, _rank
from .._check import Checker, is_int, shown
from ..torch_npu.profiler import schedule
from ._base import BaseStepProfiler

__all__ = ["ProfileArguments", "StepProfiler", "add_profile_arguments"]

_TO_THE_END = 1_000_000


@dataclass
class ProfileArguments:
    """The keys and their defaults. If `profile` is true, values of wrong types warn and are replaced, and wrong values raise
    ValueError."""

    profile: bool = False
    profile_step_start: int = 0
    profile_step_end: int = -1
    profile_ranks: list = field(default_factory=lambda: [-1])
    profile_level: str = "level0"
    profile_export_type: str = "text"
    profile_data_simplification: bool = False
    profile_with_cpu: bool = False
    profile_with_stack: bool = False
    profile_with_memory: bool = False
    profile_record_shapes: bool = False
    profile_save_path: str = "./profile"

    def __post_init__(self) -> None:
        if self.profile:
            self._check_types()
        if not self.profile:
            return
        start, end = self.profile_step_start, self.profile_step_end
        if start < 0:
            raise ValueError(f"profile_step_start must not be negative, it is {start}")
        if end != -1 and end <= start:
            raise ValueError(f"profile_step_end must be -1 or greater than profile_step_start ({start}), it is {end}")
        if self.profile_level not in _command.LEVELS:
            raise ValueError(f"profile_level must be one of {', '.join(_command.LEVELS)}, it is {self.profile_level!r}")
        if self.profile_export_type not in _command.EXPORT_TYPES:
            raise ValueError(f"profile_export_type must be text or db, it is {self.profile_export_type!r}")

    def _check_types(self) -> None:
        check = Checker()
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            if item.name == "profile_ranks":
                value = check.member_list(item.name, value, is_int, [-1])
            elif isinstance(item.default, bool):
                value = check.boolean(item.name, value, item.default)
            elif is_int(item.default):
                value = check.integer(item.name, value, item.default, at_least=None)
            elif item.name == "profile_save_path" and not isinstance(value, str):
                check.note(f"{item.name} is {shown(value)}, which is not a str; it is set to {item.default}.")
                value = item.default
            setattr(self, item.name, value)

    @classmethod
    def from_mapping(cls, section: Mapping[str, Any]) -> "ProfileArguments":
        """From a section that may have other keys, too."""
        names = {item.name for item in dataclasses.fields(cls)}
        return cls(**{key: value for key, value in section.items() if key in names})

    @classmethod
    def from_namespace(cls, args: argparse.Namespace) -> "ProfileArguments":
        return cls.from_mapping(vars(args))


class StepProfiler(BaseStepProfiler):
    """Does nothing unless `profile` is true and this rank is selected."""

    def __init__(self, args: ProfileArguments):
        super().__init__()
        everyone = -1 in args.profile_ranks
        if not args.profile or not _command.is_selected(args.profile_ranks, all_ranks=everyone):
            return
        self._make_folder(args.profile_save_path)
        start, end = args.profile_step_start, args.profile_step_end
        active = _TO_THE_END if end == -1 else end - start
        steps = schedule(wait=0, warmup=0 if start == 0 else 1, active=active, repeat=1, skip_first=max(0, start - 1))
        self._make(args, steps, "all" if everyone else list(args.profile_ranks), ())

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
    """Adds --profile, --profile_step_start, ... to `parser` and returns it."""
    group = parser.add_argument_group(title="profile")
    for item in dataclasses.fields(ProfileArguments):
        name = "--" + item.name
        if name in parser._option_string_actions:
            continue
        if item.name == "profile_ranks":
            group.add_argument(name, nargs="+", type=int, default=[-1])
        elif isinstance(item.default, bool):
            group.add_argument(name, nargs="?", const=True, default=item.default, type=_boolean)
        else:
            group.add_argument(name, type=type(item.default), default=item.default)
    return parser


def _boolean(text: str) -> bool:
    if text.lower() in ("true", "1", "yes"):
        return True
    if text.lower() in ("false", "0", "no"):
        return False
    raise argparse.ArgumentTypeError(f"true or false is expected, not {text!r}")
