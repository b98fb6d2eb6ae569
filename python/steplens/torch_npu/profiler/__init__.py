"""Profiling of PyTorch: `profile`, its schedule and handler, the extended switches, dynamic profiling, offline analysis."""

from . import dynamic_profile
from ._constants import (AiCMetrics, ExportType, HostSystem, ProfilerAction, ProfilerActivity, ProfilerLevel,
                         supported_activities, supported_ai_core_metrics, supported_export_type, supported_profiler_level)
from ._experimental import _ExperimentalConfig
from ._schedule import schedule
from .profiler import _KinetoProfile, analyse, profile, tensorboard_trace_handler

__all__ = [
    "AiCMetrics", "ExportType", "HostSystem", "ProfilerAction", "ProfilerActivity", "ProfilerLevel", "_ExperimentalConfig",
    "_KinetoProfile", "analyse", "dynamic_profile", "profile", "schedule", "supported_activities",
    "supported_ai_core_metrics", "supported_export_type", "supported_profiler_level", "tensorboard_trace_handler",
]
