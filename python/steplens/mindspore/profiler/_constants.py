"""The enums users write; a member's value is what files and environment variables hold."""

from __future__ import annotations

import enum


class ProfilerLevel(enum.Enum):
    LevelNone = "LevelNone"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class ProfilerActivity(enum.Enum):
    NPU = "NPU"
    GPU = "GPU"
    CPU = "CPU"


class AicoreMetrics(enum.Enum):
    PipeUtilization = "PipeUtilization"
    ArithmeticUtilization = "ArithmeticUtilization"
    Memory = "Memory"
    MemoryL0 = "MemoryL0"
    MemoryUB = "MemoryUB"
    ResourceConflictRatio = "ResourceConflictRatio"
    L2Cache = "L2Cache"
    MemoryAccess = "MemoryAccess"
    AiCoreNone = "None"


class ExportType(enum.Enum):
    Db = "db"
    Text = "text"


class HostSystem(enum.Enum):
    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"


class DeviceTarget(enum.Enum):
    CPU = "CPU"
    GPU = "GPU"
    NPU = "Ascend"


# Older versions used numbers for metric groups, in this order; every other number is none.
METRICS_BY_NUMBER = list(AicoreMetrics)[:8]


def by_value(kind: type[enum.Enum], value: object) -> enum.Enum | None:
    """The member with this value; None if there is none."""
    return next((member for member in kind if isinstance(value, str) and member.value == value), None)
