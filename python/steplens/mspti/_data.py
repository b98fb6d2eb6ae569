"""What callbacks get. Each is made of a dictionary whose keys are the names of the C structure's fields."""

from __future__ import annotations

from typing import Any

from ._constants import MsptiActivityFlag, MsptiActivityKind, MsptiActivitySourceKind, MsptiCommunicationDataType

_NONE = -1


class MsptiObjectId:
    """Where something happened: a process and thread, or a device and stream; the others are -1."""

    def __init__(self, fields: dict[str, Any]):
        self.process_id = fields.get("processId", _NONE)
        self.thread_id = fields.get("threadId", _NONE)
        self.device_id = fields.get("deviceId", _NONE)
        self.stream_id = fields.get("streamId", _NONE)


class _Activity:
    def __init__(self, fields: dict[str, Any]):
        self.kind = MsptiActivityKind(fields.get("kind", 0))
        self._read(fields)

    def _read(self, fields: dict[str, Any]) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in vars(self).items())})"


class KernelData(_Activity):
    def _read(self, fields):
        self.start = fields.get("start", 0)
        self.end = fields.get("end", 0)
        self.device_id = fields.get("deviceId", _NONE)
        self.stream_id = fields.get("streamId", _NONE)
        self.correlation_id = fields.get("correlationId", _NONE)
        self.type = fields.get("type", "")
        self.name = fields.get("name", "")


class HcclData(_Activity):
    def _read(self, fields):
        self.start = fields.get("start", 0)
        self.end = fields.get("end", 0)
        self.device_id = fields.get("deviceId", _NONE)
        self.stream_id = fields.get("streamId", _NONE)
        self.bandwidth = fields.get("bandWidth", 0.0)
        self.name = fields.get("name", "")
        self.comm_name = fields.get("commName", "")


class CommunicationData(_Activity):
    def _read(self, fields):
        self.data_type = MsptiCommunicationDataType(fields.get("dataType", 0xFFFF))
        self.count = fields.get("count", 0)
        self.device_id = fields.get("deviceId", _NONE)
        self.stream_id = fields.get("streamId", _NONE)
        self.start = fields.get("start", 0)
        self.end = fields.get("end", 0)
        self.alg_type = fields.get("algType", "")
        self.name = fields.get("name", "")
        self.comm_name = fields.get("commName", "")
        self.correlation_id = fields.get("correlationId", _NONE)


class MarkerData(_Activity):
    def _read(self, fields):
        self.flag = MsptiActivityFlag(fields.get("flag", 0))
        self.source_kind = MsptiActivitySourceKind(fields.get("sourceKind", 0))
        self.timestamp = fields.get("timestamp", 0)
        self.id = fields.get("id", 0)
        self.object_id = MsptiObjectId(fields.get("objectId", {}))
        self.name = fields.get("name", "")
        self.domain = fields.get("domain", "")


class RangeMarkerData:
    """Both ends of a range. The end has neither name nor domain."""

    def __init__(self, start: MarkerData, end: MarkerData):
        self.kind = start.kind
        self.source_kind = start.source_kind
        self.id = start.id
        self.object_id = start.object_id
        self.name = start.name
        self.domain = start.domain
        self.start = start.timestamp
        self.end = end.timestamp
