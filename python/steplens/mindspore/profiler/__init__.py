"""Profiling as MindSpore offers it: `profile` or the older `Profiler`, schedules, the dynamic monitor, the environment variable."""

from ._constants import AicoreMetrics, DeviceTarget, ExportType, HostSystem, ProfilerActivity, ProfilerLevel
from ._dynamic import DynamicProfilerMonitor
from ._environment import EnvProfiler
from ._experimental import _ExperimentalConfig
from ._mstx import mstx
from ._schedule import ProfilerAction, schedule
from .profiler import Profiler, analyse, profile, tensor_board_trace_handler, tensorboard_trace_handler

__all__ = [
    "AicoreMetrics", "DeviceTarget", "DynamicProfilerMonitor", "EnvProfiler", "ExportType", "HostSystem", "Profiler",
    "ProfilerAction", "ProfilerActivity", "ProfilerLevel", "_ExperimentalConfig", "analyse", "mstx", "profile", "schedule",
    "tensor_board_trace_handler", "tensorboard_trace_handler",
]
