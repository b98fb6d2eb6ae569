"""The one internal record of what to collect. Every surface (torch_npu, MindSpore, flags, YAML, environment) fills it;
the capture reads nothing else.

Plain data, no behaviour beyond conversion. A Config is made complete, after validation, and is not changed while a
capture runs. Why a value differs from what the user asked for is in `changes`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Optional, Union

FRAMEWORKS = ("pytorch", "mindspore")
ACTIVITIES = ("cpu", "npu", "gpu")
LEVELS = ("none", "0", "1", "2")
ANALYSE = ("no", "sync", "async")


@dataclass(frozen=True)
class Cycle:
    """Which steps are recorded, in steps of the training loop; `repeat` 0: without end."""

    wait: int = 0
    warmup: int = 0
    active: int = 1
    repeat: int = 0
    skip_first: int = 0
    skip_first_wait: int = 0


@dataclass
class Config:
    framework: str = "pytorch"  # one of FRAMEWORKS
    activities: set = field(default_factory=lambda: {"cpu", "npu"})  # subset of ACTIVITIES
    level: str = "0"  # one of LEVELS
    aic_metrics: str = "None"  # name of the metric group as users write it, "None": none
    record_shapes: bool = False
    with_stack: bool = False
    with_modules: bool = False
    with_flops: bool = False
    profile_memory: bool = False
    hardware_memory: bool = False  # the counters of the device's memory, without that of tasks
    l2_cache: bool = False
    op_attr: bool = False
    record_op_args: bool = False
    mstx: bool = False
    mstx_include: list = field(default_factory=list)  # domains kept, if not empty
    mstx_exclude: list = field(default_factory=list)  # domains left out, if `mstx_include` is empty
    sys_io: bool = False
    sys_interconnection: bool = False
    host_sys: list = field(default_factory=list)  # of "cpu", "mem", "disk", "network", "osrt", "numa"
    export: list = field(default_factory=lambda: ["text"])  # of "text", "db"
    data_simplification: bool = True
    gc_detect_threshold: Optional[float] = None  # ms; None: off, 0: every collection
    schedule: Optional[Cycle] = None  # None: every step, no step ranges
    ranks: Union[str, list] = "all"  # "all" or a list of global ranks
    stages: Union[str, list] = "all"  # "all" or names of stages (reinforcement learning)
    base_iteration: int = 0  # iterations done before this process started (checkpoint)
    output_dir: Optional[str] = None  # where the capture's folder goes; None: the rules of the surface decide
    worker_name: Optional[str] = None  # None: the host's name
    analyse: str = "no"  # one of ANALYSE
    metadata: dict = field(default_factory=dict)  # of the user, known before the start; JSON values
    data_process: bool = False
    parallel_strategy: bool = False
    step_mark: str = "ProfilerStep#"  # the mark of a step is this and its number
    # Who records. `rank_is_text`: the rank came from the environment and is written as a JSON string.
    rank: Optional[int] = None  # None: not known
    rank_is_text: bool = False
    device_id: Optional[int] = None  # None: the rank on this host
    # JSON-able. PyTorch: the value of "config" in profiler_info. MindSpore: the members of profiler_info_<rank>.json.
    info: dict = field(default_factory=dict)
    changes: list = field(default_factory=list)  # sentences: what was changed or ignored, and why

    @property
    def records_tensors(self) -> bool:
        """Whether operators carry their tensors and parameters are listed: what the memory timeline needs."""
        return ("cpu" in self.activities and self.record_shapes and self.profile_memory
                and (self.with_stack or self.with_modules))

    @property
    def needs_python_trace(self) -> bool:
        return "cpu" in self.activities and (self.with_stack or self.with_modules)

    def as_dict(self) -> dict[str, Any]:
        """For people and files (`--dry-run`): JSON-able, keys in the order above."""
        out: dict[str, Any] = {}
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            if isinstance(value, set):
                value = sorted(value)
            elif isinstance(value, Cycle):
                value = dataclasses.asdict(value)
            out[item.name] = value
        return out

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Config":
        """The inverse of as_dict. Unknown keys raise TypeError: this is not a user interface."""
        values = dict(values)
        if "activities" in values:
            values["activities"] = set(values["activities"])
        if isinstance(values.get("schedule"), dict):
            values["schedule"] = Cycle(**values["schedule"])
        return cls(**values)
