"""The keys of `profiler_config.integrated`, their defaults and their few checks."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Union

from .. import _log
from .._command import EXPORT_TYPES, LEVELS
from ._verl import VerlConfig

ROLE = "integrated"
STAGES = ("actor_generate", "actor_compute_log_prob", "actor_image_embeds", "actor_update", "reference_compute_log_prob",
          "critic_compute_values", "critic_update")
_DEFAULTS = {
    "profile": False, "mstx": False, "stage": "all", "profile_save_path": "", "profile_export_type": "text",
    "profile_step_start": 1, "profile_step_end": 2, "profile_level": "level0", "profile_with_memory": False,
    "profile_record_shapes": False, "profile_with_cpu": True, "profile_with_npu": True, "profile_with_module": False,
    "profile_analysis": False, "profile_ranks": "all",
}
_DEFAULT_SAVE_PATH = "./profiler_data"


class ProfilerConfig:
    """The values as attributes, under the names of the keys, and `role`. Raises ValueError on an unknown key, level or export
    type; other values are taken as they are."""

    def __init__(self, config: Optional[Mapping[str, Any]] = None, role: str = ROLE):
        self.role = role
        for key, value in _DEFAULTS.items():
            setattr(self, key, value)
        for key, value in (config or {}).items():
            name = str(key).replace("-", "_")
            if name not in _DEFAULTS:
                raise ValueError(f"The key: {key} is missing, causing the setup to fail: it is not a key of profiler_config. "
                                 f"The keys are {', '.join(_DEFAULTS)}.")
            setattr(self, name, value)
        if self.profile_level not in LEVELS:
            raise ValueError(f"profile_level must be one of {', '.join(LEVELS)}, it is {self.profile_level!r}")
        if self.profile_export_type not in EXPORT_TYPES:
            raise ValueError(f"profile_export_type must be text or db, it is {self.profile_export_type!r}")

        if self.profile:
            self._warn_of_unknown_stages()

    def _warn_of_unknown_stages(self) -> None:
        """A program may have stages of its own; more often the name is misspelt, and then nothing would be recorded silently."""
        stages = self.stage if isinstance(self.stage, (list, tuple, set)) else [self.stage]
        for stage in stages:
            if isinstance(stage, str) and stage not in ("all", *STAGES):
                _log.warning(f"stage {stage!r} is none of all, {', '.join(STAGES)}; it is recorded only where the program begins a "
                             "stage of that name.")

    @property
    def base_path(self) -> str:
        return self.profile_save_path or _DEFAULT_SAVE_PATH

    @property
    def ranks(self) -> Optional[list]:
        """None: all. A value that is not a list counts as rank 0."""
        if self.profile_ranks == "all":
            return None
        return list(self.profile_ranks) if isinstance(self.profile_ranks, (list, tuple, set)) else [0]


def load_config(path: str) -> Union[ProfilerConfig, VerlConfig]:
    """From the section profiler_config.integrated of a YAML file; defaults if it has none. A file with the section global_profiler is one
    of verl, and a VerlConfig. Raises ValueError if the file is no
    YAML or has wrong keys, OSError if it cannot be read, ImportError if there is no PyYAML."""
    try:
        import yaml
    except ImportError as problem:
        raise ImportError("reading a YAML file needs PyYAML (Debian: python3-yaml); or pass the section as a dict to "
                          "steplens.rl.ProfilerConfig") from problem
    with open(path, encoding="utf-8") as file:
        try:
            content = yaml.safe_load(file)
        except yaml.YAMLError as problem:
            raise ValueError(f"{path} is not YAML: {' '.join(str(problem).split())}") from problem
    if isinstance(content, Mapping) and "global_profiler" in content:
        return VerlConfig(content)
    section = _section(_section(content, "profiler_config", path), ROLE, path)
    return ProfilerConfig(section)


def _section(content: Any, name: str, path: str) -> Mapping[str, Any]:
    if content is None:
        return {}
    if not isinstance(content, Mapping):
        raise ValueError(f"{path}: a mapping with the key {name} is expected")
    section = content.get(name)
    if section is not None and not isinstance(section, Mapping):
        raise ValueError(f"{path}: {name} is not a mapping")
    return section or {}
