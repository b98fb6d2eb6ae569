"""The constants users write in their scripts, and what is supported of them."""

from __future__ import annotations

import enum


class ProfilerAction(enum.Enum):
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerActivity(enum.Enum):
    """CPU: the framework's data. NPU: the device's; without a device the CPU's leaf operators stand for its kernels."""

    CPU = 1
    NPU = 2


class ProfilerLevel:
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"
    Level_none = "Level_none"


class AiCMetrics:
    PipeUtilization = "ACL_AICORE_PIPE_UTILIZATION"
    ArithmeticUtilization = "ACL_AICORE_ARITHMETIC_UTILIZATION"
    Memory = "ACL_AICORE_MEMORY_BANDWIDTH"
    MemoryL0 = "ACL_AICORE_L0B_AND_WIDTH"
    ResourceConflictRatio = "ACL_AICORE_RESOURCE_CONFLICT_RATIO"
    MemoryUB = "ACL_AICORE_MEMORY_UB"
    L2Cache = "ACL_AICORE_L2_CACHE"
    MemoryAccess = "ACL_AICORE_MEMORY_ACCESS"
    AiCoreNone = "ACL_AICORE_NONE"


class ExportType:
    Text = "text"
    Db = "db"


class HostSystem:
    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"
    NUMA = "numa"


def members(constants: type) -> dict[str, str]:
    """name -> value of a class of constants, in the order they are declared."""
    return {name: value for name, value in vars(constants).items() if not name.startswith("_")}


def supported_activities() -> set:
    return set(ProfilerActivity)


def supported_profiler_level() -> set:
    return set(members(ProfilerLevel).values())


def supported_ai_core_metrics() -> set:
    return set(members(AiCMetrics).values())


def supported_export_type() -> set:
    return set(members(ExportType).values())
