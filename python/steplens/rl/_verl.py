"""verl's `global_profiler` and `<role>.profiler` sections: the same captures as verl's own npu and torch tools make.

    config = steplens.rl.load_config("verl.yaml")              # or VerlConfig({...}), the merged dict
    profiler = steplens.rl.VerlProfiler(config, role="actor")
    for step in range(1, 11):
        profiler.start(step)                                   # acts in the steps of global_profiler.steps
        update_actor()                                         # decorated with @profiler.annotate(role="actor_update")
        profiler.stop()
"""

from __future__ import annotations

import functools
import os
from typing import Any, Callable, Mapping, Optional

from .. import _command, _log
from .._check import Checker, is_int
from .._rank import global_rank
from ..torch_npu.npu import mstx
from ..torch_npu.profiler._schedule import quiet_schedule

_TOOLS = ("npu", "torch")
_CONTENTS = {"npu": ("npu", "cpu", "memory", "shapes", "module", "stack"), "torch": ("cuda", "npu", "cpu", "memory", "shapes", "stack")}
_ROLES = {"actor": ("actor_rollout_ref", "actor"), "rollout": ("actor_rollout_ref", "rollout"), "ref": ("actor_rollout_ref", "ref"),
          "critic": ("critic",), "reward_model": ("reward_model",)}
_FOLLOWERS = ("rollout", "ref")  # have the section of the actor where they have none
_EXCLUDED_DOMAIN = "communication"


class RoleConfig:
    """What one role records. Wrong values warn, in the words of their keys, and are replaced."""

    def __init__(self, section: Mapping[str, Any], tool: str, name: str):
        check = Checker()

        def key(path: str) -> str:
            return f"{name}.profiler.{path}"

        self.enable = check.boolean(key("enable"), section.get("enable", False))
        self.all_ranks = check.boolean(key("all_ranks"), section.get("all_ranks", False))
        self.ranks = check.member_list(key("ranks"), _or(section.get("ranks"), []), is_int, [])
        settings = _mapping(_mapping(section.get("tool_config")).get(tool))
        path = f"tool_config.{tool}."
        allowed = _CONTENTS[tool]
        self.contents = check.member_list(key(path + "contents"), _or(settings.get("contents"), []), lambda item: item in allowed, [])
        self.level = check.one_of(key(path + "level"), _or(settings.get("level"), "level0"), _command.LEVELS, "level0")
        self.analysis = check.boolean(key(path + "analysis"), _or(settings.get("analysis"), True), True)
        self.discrete = check.boolean(key(path + "discrete"), _or(settings.get("discrete"), False))
        for window in ("profile_token_start", "profile_token_end"):
            if settings.get(window) is not None:
                check.note(f"{key(path + window)} is ignored: a window of response tokens is the rollout engine's own matter.")
        self.changes = check.changes

    def has_rank(self, rank: int) -> bool:
        return self.all_ranks or rank in self.ranks


class VerlConfig:
    """`content`: the whole configuration of a job as verl merges it. Nothing raises."""

    def __init__(self, content: Mapping[str, Any]):
        self._content = content
        section = _mapping(content.get("global_profiler"))
        check = Checker()
        self.tool: Optional[str] = section.get("tool")
        if self.tool is not None and self.tool not in _TOOLS:
            check.note(f"global_profiler.tool is {self.tool!r}, which is not one of ours ({', '.join(_TOOLS)}); nothing is recorded here.")
            self.tool = None
        self.steps = check.member_list("global_profiler.steps", _or(section.get("steps"), []), _is_step, [])
        self.continuous = check.boolean("global_profiler.profile_continuous_steps", _or(section.get("profile_continuous_steps"), False))
        self.save_path = _or(section.get("save_path"), "outputs/profile")
        if not isinstance(self.save_path, str):
            check.note(f"global_profiler.save_path is {self.save_path!r}, which is not a path; it is set to outputs/profile.")
            self.save_path = "outputs/profile"
        self.changes = check.changes

    def role(self, name: str) -> RoleConfig:
        section = self._section(name)
        if section is None and name in _FOLLOWERS:
            section = self._section("actor")
        return RoleConfig(section or {}, self.tool or "npu", ".".join(_ROLES.get(name, (name,))))

    def _section(self, name: str) -> Optional[Mapping[str, Any]]:
        place: Any = self._content
        for key in (*_ROLES.get(name, (name,)), "profiler"):
            place = _mapping(place).get(key)
        return place if isinstance(place, Mapping) else None


class VerlProfiler:
    """The captures of one role in this process. `rank`: the global rank, by default this process's. Nothing raises, nothing is recorded
    unless the tool, the role, the rank and the step are asked for."""

    def __init__(self, config: Any, rank: Optional[int] = None, role: str = "actor"):
        self._config = config if isinstance(config, VerlConfig) else VerlConfig(_mapping(config))
        self._role = self._config.role(role)
        rank = global_rank() if rank is None else rank
        self.enabled = bool(self._config.tool and self._config.steps and self._role.enable and self._role.has_rank(rank))
        self._step = 0
        self._profile: Optional[_command.CommandProfile] = None
        if self.enabled and self._config.continuous and self._role.discrete:
            _log.warning("global_profiler.profile_continuous_steps needs discrete false; each stage has a capture of its own.")

    @property
    def step_number(self) -> int:
        """The training step, from 1."""
        return self._step

    @_log.guarded()
    def start(self, step: Optional[int] = None, role: Optional[str] = None) -> None:
        """A training step begins, by default the next one. `role`: the label of the stage, for a capture below a folder of that name."""
        self._step = step if is_int(step) else self._step + 1
        if self._is_due() and not self._role.discrete and self._profile is None:
            self._profile = self._open(role)

    @_log.guarded()
    def stop(self) -> None:
        """The training step ends. Steps that follow each other stay in one capture if profile_continuous_steps says so."""
        if self._profile is not None and not (self._config.continuous and self._step + 1 in self._config.steps):
            self._close()
        elif self._profile is not None:
            self._profile.step()

    @_log.guarded()
    def step(self) -> None:
        """For loops that call nothing else: ends a training step and begins the next."""
        if self._step == 0:
            self._step = 1  # the ending step was not announced
        self.stop()
        self.start()

    def annotate(self, message: Optional[str] = None, role: Optional[str] = None) -> Callable[[Callable], Callable]:
        """A decorator for the functions of a stage: a mark in the capture of the step, or (discrete) a capture per call."""

        def decorate(function: Callable) -> Callable:
            name = role or message or function.__name__

            @functools.wraps(function)
            def call(*args: Any, **kwargs: Any) -> Any:
                with _Stage(self, name):
                    return function(*args, **kwargs)

            return call

        return decorate

    def _is_due(self) -> bool:
        return self.enabled and self._step in self._config.steps

    def _open(self, role: Optional[str]) -> _command.CommandProfile:
        settings = self._role
        path = os.path.join(self._config.save_path, role) if role else self._config.save_path
        made = _command.make_profile(
            level=settings.level, export_type="db", save_path=path, with_cpu=True,  # stages are marks of the CPU
            with_npu=bool({"npu", "cuda"} & set(settings.contents)), data_simplification=True, mstx=True, analyses=settings.analysis,
            steps=quiet_schedule(active=1_000_000), with_modules="module" in settings.contents, with_stack="stack" in settings.contents,
            profile_memory="memory" in settings.contents, record_shapes="shapes" in settings.contents)
        made._config.mstx_exclude = [_EXCLUDED_DOMAIN]
        made._config.ranks = "all" if settings.all_ranks else list(settings.ranks)
        made._step_label = self._step
        made.start()
        return made

    def _close(self) -> None:
        finished, self._profile = self._profile, None
        if finished is not None:
            finished._machine.stop(complains=False)


class _Stage:
    """One call of a stage."""

    def __init__(self, profiler: VerlProfiler, name: str):
        self._profiler = profiler
        self._name = name
        self._own: Optional[_command.CommandProfile] = None
        self._range = 0

    def __enter__(self) -> None:
        self._begin()

    @_log.guarded()
    def _begin(self) -> None:
        profiler = self._profiler
        if profiler._is_due() and profiler._role.discrete:
            self._own = profiler._open(self._name)
        if self._own is not None or profiler._profile is not None:
            self._range = mstx.range_start(self._name)

    def __exit__(self, *_: Any) -> None:
        self._end()

    @_log.guarded()
    def _end(self) -> None:
        if self._range:
            mstx.range_end(self._range)
        if self._own is not None:
            self._own._machine.stop(complains=False)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _is_step(value: Any) -> bool:
    return is_int(value) and value >= 1
