"""The monitors. Each exists once per process, for any number of objects, because the vendor allows one subscriber."""

from __future__ import annotations

import ctypes
from typing import Any, Callable

from . import _activity
from ._constants import MsptiActivityFlag as Flag
from ._constants import MsptiActivityKind as Kind
from ._constants import MsptiResult
from ._data import CommunicationData, HcclData, KernelData, MarkerData, RangeMarkerData

_MAX_DOMAIN_BYTES = 255


class _Monitor:
    KIND: Kind

    @classmethod
    def flush_all(cls) -> MsptiResult:
        """Has everything delivered that was recorded so far."""
        return _activity.flush_all()

    @classmethod
    def flush_period(cls, time_ms: int) -> MsptiResult:
        """Has full buffers delivered that often; 0: not at all."""
        return _activity.flush_period(time_ms)

    @classmethod
    def set_buffer_size(cls, size: int) -> MsptiResult:
        """Size of a buffer in MB, 1 to 256; before the first start."""
        return _activity.set_buffer_size(size)

    def stop(self) -> MsptiResult:
        return _activity.stop(self.KIND)


class _SimpleMonitor(_Monitor):
    DATA: type

    def start(self, cb: Callable[[Any], None]) -> MsptiResult:
        if not callable(cb):
            return MsptiResult.MSPTI_ERROR_INVALID_PARAMETER
        return _activity.start(self.KIND, lambda fields: cb(self.DATA(fields)))


class KernelMonitor(_SimpleMonitor):
    KIND, DATA = Kind.MSPTI_ACTIVITY_KIND_KERNEL, KernelData


class HcclMonitor(_SimpleMonitor):
    KIND, DATA = Kind.MSPTI_ACTIVITY_KIND_HCCL, HcclData


class CommunicationMonitor(_SimpleMonitor):
    KIND, DATA = Kind.MSPTI_ACTIVITY_KIND_COMMUNICATION, CommunicationData


class MstxMonitor(_Monitor):
    """Marks go to `mark_cb` as MarkerData, ranges to `range_cb` as RangeMarkerData once both of their ends have arrived, in any order."""

    KIND = Kind.MSPTI_ACTIVITY_KIND_MARKER
    _STARTS = (Flag.MSPTI_ACTIVITY_FLAG_MARKER_START, Flag.MSPTI_ACTIVITY_FLAG_MARKER_START_WITH_DEVICE)
    _ENDS = (Flag.MSPTI_ACTIVITY_FLAG_MARKER_END, Flag.MSPTI_ACTIVITY_FLAG_MARKER_END_WITH_DEVICE)

    def start(self, mark_cb: Callable[[MarkerData], None], range_cb: Callable[[RangeMarkerData], None]) -> MsptiResult:
        if not callable(mark_cb) and not callable(range_cb):
            return MsptiResult.MSPTI_ERROR_INVALID_PARAMETER
        waiting: dict[tuple[int, int], MarkerData] = {}  # first end that came, by id and source

        def handle(fields: dict[str, Any]) -> None:
            marker = MarkerData(fields)
            if marker.flag not in self._STARTS and marker.flag not in self._ENDS:
                if callable(mark_cb):
                    mark_cb(marker)
                return
            other = waiting.pop((marker.id, marker.source_kind), None)
            if other is None:
                waiting[(marker.id, marker.source_kind)] = marker
            elif callable(range_cb):
                first, last = (marker, other) if marker.flag in self._STARTS else (other, marker)
                range_cb(RangeMarkerData(first, last))

        return _activity.start(self.KIND, handle)

    @classmethod
    def enable_domain(cls, domain_name: str) -> MsptiResult:
        return cls._switch_domain("msptiActivityEnableMarkerDomain", domain_name)

    @classmethod
    def disable_domain(cls, domain_name: str) -> MsptiResult:
        return cls._switch_domain("msptiActivityDisableMarkerDomain", domain_name)

    @staticmethod
    def _switch_domain(function: str, name: Any) -> MsptiResult:
        if not isinstance(name, str) or len(name.encode()) >= _MAX_DOMAIN_BYTES:
            return MsptiResult.MSPTI_ERROR_INVALID_PARAMETER
        return _activity.call(function, ctypes.c_char_p(name.encode()))
