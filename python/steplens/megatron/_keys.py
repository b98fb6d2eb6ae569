"""The keys of MindSpeed-LLM's documents, their defaults and their checks: one set for flags with dashes, flags with underscores and YAML.

Wrong values warn and are replaced by their defaults: nothing here ends a training.
"""

from __future__ import annotations

import argparse
import dataclasses
from dataclasses import dataclass, field
from typing import Any, Mapping

from .. import _command, _log
from .._check import Checker, is_int, shown

_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")
_kept: dict[str, Any] = {}  # defaults of options that a parser had before ours were added


@dataclass
class ProfileArguments:
    """The keys and their defaults. Checked only if `profile` is true: who does not profile hears nothing."""

    profile: bool = False
    profile_step_start: int = 0  # included
    profile_step_end: int = -1  # not included; -1: to the end
    profile_ranks: list = field(default_factory=lambda: [0])  # -1 in it: all
    profile_level: str = "level0"
    profile_export_type: str = "text"
    profile_data_simplification: bool = False
    profile_with_cpu: bool = False
    profile_with_stack: bool = False
    profile_with_memory: bool = False
    profile_record_shapes: bool = False
    profile_save_path: str = "./profile"

    def __post_init__(self) -> None:
        self.profile = Checker().boolean("profile", boolean_word(self.profile))
        if not self.profile:
            return
        check = Checker()
        for item in dataclasses.fields(self):
            setattr(self, item.name, _checked(check, item, getattr(self, item.name)))
        if self.profile_step_start < 0:
            check.note(f"profile_step_start is {self.profile_step_start}, which is negative; it is set to 0.")
            self.profile_step_start = 0

    @property
    def all_ranks(self) -> bool:
        return -1 in self.profile_ranks

    @classmethod
    def from_mapping(cls, section: Mapping[str, Any]) -> "ProfileArguments":
        """From a section that may have other keys. Keys may have dashes."""
        names = {item.name for item in dataclasses.fields(cls)}
        plain = {str(key).replace("-", "_"): value for key, value in section.items()}
        return cls(**{key: value for key, value in plain.items() if key in names and value is not None})

    @classmethod
    def from_namespace(cls, args: Any) -> "ProfileArguments":
        """From what a parser made, ours or the user's. Keys it lacks get their defaults."""
        return args if isinstance(args, cls) else cls.from_mapping(vars(args))

    def tell_sources(self) -> None:
        """One line about the values that are not our defaults, and where they came from."""
        ours = ProfileArguments()
        told = []
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            if item.name == "profile" or value == getattr(ours, item.name):
                continue
            is_kept = item.name in _kept and _kept[item.name] == value
            told.append(f"{item.name} {value} ({'default of the program' if is_kept else 'given'})")
        _log.info("Profile settings: " + (", ".join(told) + "; all others: documented defaults" if told else "documented defaults"))


def add_arguments(parser: argparse.ArgumentParser, switch: Mapping[str, Any]) -> argparse.ArgumentParser:
    """Adds an option per key, with dashes and with underscores. Options that the parser has keep their defaults. `switch`: how a bool is
    added. Words that are wrong are taken, and replaced with a warning later: a parser would end the program."""
    group = parser.add_argument_group(title="profile")
    for item in dataclasses.fields(ProfileArguments):
        names = ["--" + item.name.replace("_", "-"), "--" + item.name]
        names = list(dict.fromkeys(names))
        missing = [name for name in names if name not in parser._option_string_actions]
        if not missing:
            _keep(parser, names[0], item.name)
            continue
        default: Any = _default_of(item)
        if len(missing) < len(names):  # the parser has the other spelling
            known = next(name for name in names if name not in missing)
            _keep(parser, known, item.name)
            default = argparse.SUPPRESS
        options: dict[str, Any] = {"dest": item.name, "default": default, "help": _HELP[item.name]}
        if item.name == "profile_ranks":
            options.update(nargs="+", metavar="RANK", type=_number)
        elif isinstance(item.default, bool):
            options.update(switch)
        else:
            options.update(metavar=_METAVARS.get(item.name, "N"), type=_number if is_int(item.default) else str)
        group.add_argument(*missing, **options)
    return parser


_METAVARS = {"profile_level": "{" + ",".join(_command.LEVELS) + "}", "profile_export_type": "{" + ",".join(_command.EXPORT_TYPES) + "}",
             "profile_save_path": "DIR"}
_HELP = {
    "profile": "record a profile (default: off)",
    "profile_step_start": "first iteration to record, in the numbers of the training; 0: the first (default: 0)",
    "profile_step_end": "stop before this iteration; -1: record to the end (default: -1)",
    "profile_ranks": "global ranks that record; -1: all (default: 0)",
    "profile_level": "how much of the device is recorded (default: level0)",
    "profile_export_type": "form of the results (default: text)",
    "profile_data_simplification": "remove intermediate files after the analysis (default: off)",
    "profile_with_cpu": "record the operators on the host (default: off)",
    "profile_with_stack": "record the Python call stacks of operators (default: off)",
    "profile_with_memory": "record allocations (default: off)",
    "profile_record_shapes": "record the shapes of inputs (default: off)",
    "profile_save_path": "folder of the captures (default: ./profile)",
}


def _keep(parser: argparse.ArgumentParser, option: str, key: str) -> None:
    _kept[key] = parser._option_string_actions[option].default


def _default_of(item: dataclasses.Field) -> Any:
    return item.default_factory() if item.default is dataclasses.MISSING else item.default


def _checked(check: Checker, item: dataclasses.Field, value: Any) -> Any:
    default = _default_of(item)
    if item.name == "profile_ranks":
        return check.member_list(item.name, _numbers(value), is_int, default)
    if isinstance(default, bool):
        return check.boolean(item.name, boolean_word(value), default)
    if is_int(default):
        return check.integer(item.name, _number(value), default, at_least=None)
    if item.name == "profile_level":
        return check.one_of(item.name, value, _command.LEVELS, default)
    if item.name == "profile_export_type":
        return check.one_of(item.name, value, _command.EXPORT_TYPES, default)
    if isinstance(value, str) and value:
        return value
    check.note(f"{item.name} is {shown(value)}, which is not a path; it is set to {default}.")
    return default


def boolean_word(value: Any) -> Any:
    """A text that says yes or no as a bool; anything else as it is."""
    text = value.lower() if isinstance(value, str) else ""
    return True if text in _TRUE else False if text in _FALSE else value


def _number(value: Any) -> Any:
    try:
        return int(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _numbers(value: Any) -> Any:
    """0, "0", "0,1", "[0, 1]", [0, "1"], ["0,1"] -> a list of ints; anything else as it is."""
    items = [value] if isinstance(value, str) or is_int(value) else value
    if not isinstance(items, (list, tuple)):
        return value
    out: list = []
    for item in items:
        words = item.strip(" []()").replace(",", " ").split() if isinstance(item, str) else [item]
        out.extend(map(_number, words))
    return out or value
