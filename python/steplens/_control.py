"""Commands for a job that runs: a folder that all its ranks and `steplens record start|stop|status` see.

    rank_<r>.json   written by rank r, replaced whole: pid, host, rank, step, state, capture, command, answer, time
    command.json    written by the command line: {"id": 3, "action": "start", "ranks": [0, 1] or "all", "at_step": 120,
                    "steps": 5}; a new id is a new command

The folder must be this user's, and nobody else's to write to; a command that is a link, no file or somebody else's is not read.

`state` is idle, armed, recording or ended. Looking for a command is one stat of a file per step.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any, Optional

from . import _log, _private, _rank

_REPORT_PERIOD_S = 0.5
_MAX_COMMAND = 64 << 10


class Command:
    def __init__(self, values: dict):
        """Raises ValueError with what is wrong."""
        self.id = values.get("id")
        self.action = values.get("action")
        self.ranks = values.get("ranks", "all")
        self.at_step: Optional[int] = values.get("at_step")
        self.steps: Optional[int] = values.get("steps")
        if not isinstance(self.id, int):
            raise ValueError("id is not a number")
        if self.action not in ("start", "stop"):
            raise ValueError(f"action is {self.action!r}, expected start or stop")
        if self.ranks != "all" and not (isinstance(self.ranks, list) and all(isinstance(rank, int) for rank in self.ranks)):
            raise ValueError("ranks is neither 'all' nor a list of numbers")
        for name in ("at_step", "steps"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise ValueError(f"{name} is {value!r}, expected a number from 1 on")

    def is_for(self, rank: int) -> bool:
        return self.ranks == "all" or rank in self.ranks


class Control:
    """Failures of the file system are reported once and never stop the training."""

    def __init__(self, directory: str):
        self._directory = directory
        self._command_path = os.path.join(directory, "command.json")
        self._seen: Optional[tuple] = None
        self._last_id: Optional[int] = None
        self._answer = ""
        self._last_report = 0.0
        self._last_state: Any = None
        self._told = False
        self._is_usable = False
        self._step_began = (1, time.monotonic())  # the first step runs
        self._step_seconds = 0.0  # not known yet
        try:
            os.makedirs(directory, mode=0o700, exist_ok=True)
            why = _private.why_not_folder(directory)
            self._is_usable = why is None
        except OSError as problem:
            why = problem.strerror
        if why is not None:
            self._tell(why)

    def poll(self) -> Optional[Command]:
        """The command that has come since the last call, if any."""
        if not self._is_usable:
            return None
        try:
            status = os.lstat(self._command_path)
        except OSError:
            return None
        mark = (status.st_mtime_ns, status.st_size, status.st_ino)
        if mark == self._seen:
            return None
        self._seen = mark
        try:
            command = Command(json.loads(_private.read(self._command_path, _MAX_COMMAND)))
        except OSError as problem:
            _log.warning(f"{self._command_path} is not used: {problem.strerror}")
            return None
        except (ValueError, AttributeError, RecursionError) as problem:
            _log.warning(f"{self._command_path} is not a command: {problem}")
            return None
        if command.id == self._last_id:
            return None
        return command

    def answer(self, command: Command, text: str) -> None:
        self._last_id = command.id
        self._answer = text
        self._last_report = 0.0  # reported immediately
        _log.info(f"Command {command.id} ({command.action}): {text}")

    def is_due(self, state: str) -> bool:
        """Whether a report is worth its file."""
        return self._is_usable and (state != self._last_state or time.monotonic() - self._last_report >= _REPORT_PERIOD_S)

    def report(self, rank: int, facts: dict, force: bool = False) -> None:
        if not self._is_usable or not (force or self.is_due(facts["state"])):
            return
        now = time.monotonic()
        facts = {"pid": os.getpid(), "host": _rank.host_name(), "rank": rank, "world_size": _rank.world_size(), **facts,
                 "step_seconds": round(self._step_time(facts["step"], now), 6), "command": self._last_id, "answer": self._answer,
                 "time": time.time()}
        self._last_report = now
        self._last_state = facts["state"]
        path = os.path.join(self._directory, f"rank_{rank}.json")
        temporary = f"{path}.{os.getpid()}"
        try:
            with open(_private.create(temporary, 0o600), "w", encoding="utf-8") as file:
                json.dump(facts, file)
            os.replace(temporary, path)
        except OSError as problem:
            self._tell(problem.strerror)

    def _step_time(self, step: int, now: float) -> float:
        """Seconds a step takes, over at least the time between two reports: a common future step is chosen by it, and the few steps
        around the start of a capture take longer than those to come."""
        before, then = self._step_began
        if step > before and (now - then >= _REPORT_PERIOD_S or self._step_seconds == 0):
            self._step_began = (step, now)
            self._step_seconds = (now - then) / (step - before)
        return self._step_seconds

    def _tell(self, why: str) -> None:
        if not self._told:
            self._told = True
            _log.warning(f"{self._directory}: this rank cannot be controlled while it runs ({why}).")
