"""The vendor's activity records (src/collect/device/mspti_records.h has the same for C++). Fields are packed to 4 bytes."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_double, c_int32, c_uint32, c_uint64
from typing import Any, Optional

from ._constants import MsptiActivityKind as Kind


def _layout(*fields: tuple[str, Any]) -> type[ctypes.Structure]:
    return type("Record", (ctypes.Structure,), {"_pack_": 4, "_fields_": [("kind", c_int32), *fields]})


_TIMES = (("start", c_uint64), ("end", c_uint64))
_PLACE = (("deviceId", c_uint32), ("streamId", c_uint32))
_MARKER = _layout(("flag", c_int32), ("sourceKind", c_int32), ("timestamp", c_uint64), ("id", c_uint64), ("first", c_uint32),
                  ("second", c_uint32), ("name", c_char_p), ("domain", c_char_p))
LAYOUTS = {
    Kind.MSPTI_ACTIVITY_KIND_MARKER: _MARKER,
    Kind.MSPTI_ACTIVITY_KIND_KERNEL: _layout(*_TIMES, *_PLACE, ("correlationId", c_uint64), ("type", c_char_p), ("name", c_char_p)),
    Kind.MSPTI_ACTIVITY_KIND_HCCL: _layout(*_TIMES, *_PLACE, ("bandWidth", c_double), ("name", c_char_p), ("commName", c_char_p)),
    Kind.MSPTI_ACTIVITY_KIND_COMMUNICATION: _layout(
        ("dataType", c_int32), ("count", c_uint64), *_PLACE, *_TIMES, ("algType", c_char_p), ("name", c_char_p),
        ("commName", c_char_p), ("correlationId", c_uint64)),
}


def as_dictionary(address: int) -> Optional[dict[str, Any]]:
    """The fields of the record at an address; None for a kind that no monitor hands on."""
    layout = LAYOUTS.get(c_int32.from_address(address).value)
    if layout is None:
        return None
    record = layout.from_address(address)
    fields = {name: getattr(record, name) for name, _ in layout._fields_}
    for name, value in fields.items():
        if isinstance(value, bytes) or value is None:
            fields[name] = (value or b"").decode("utf-8", "replace")
    if layout is _MARKER:
        names = ("deviceId", "streamId") if fields["sourceKind"] else ("processId", "threadId")
        fields["objectId"] = dict(zip(names, (fields.pop("first"), fields.pop("second"))))
    return fields
