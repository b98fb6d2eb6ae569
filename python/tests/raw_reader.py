"""Reads the raw files of a capture for tests. Written from the description of the format alone, so that a mistake of the
recorder does not hide in shared code. Raises ValueError on anything that is not exactly as described."""

import collections
import glob
import json
import os
import struct

Op = collections.namedtuple("Op", "start end sequence pid thread end_thread forward_thread scope is_async name dtypes shapes "
                                  "stack modules fields")
Memory = collections.namedtuple("Memory", "address time size allocated reserved active stream device_type device_index component "
                                          "kind allocator thread pid")
Call = collections.namedtuple("Call", "time thread pid key tag")
Mark = collections.namedtuple("Mark", "id start end thread end_thread pid kind message domain")


def _bytes(directory, name):
    path = os.path.join(directory, "FRAMEWORK", name)
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


def records(data, kind):
    """(value) of each outer record; a tail that is cut off ends the list."""
    at = 0
    while at + 6 <= len(data):
        record_type, length = struct.unpack_from("<HI", data, at)
        if record_type != kind:
            raise ValueError(f"record type {record_type} at {at}, expected {kind}")
        if at + 6 + length > len(data):
            return
        yield data[at + 6:at + 6 + length]
        at += 6 + length


def fields(value, fixed):
    out, at = {}, fixed
    while at < len(value):
        tag, length = struct.unpack_from("<HI", value, at)
        if at + 6 + length > len(value):
            raise ValueError(f"field {tag} is longer than its record")
        out[tag] = value[at + 6:at + 6 + length].decode("utf-8")
        at += 6 + length
    return out


def ops(directory):
    """In the order of the file: by end."""
    out = []
    for value in records(_bytes(directory, "torch.op_range"), 1):
        fixed = struct.unpack_from("<qqqQQQQBB", value)
        text = fields(value, 58)
        out.append(Op(*fixed[:8], bool(fixed[8]), text[2], text.get(3, ""), text.get(4, ""), text.get(8, ""), text.get(9, ""),
                      text))
    return out


def memory(directory):
    out = []
    for value in records(_bytes(directory, "torch.memory_usage"), 3):
        if len(value) != 77:
            raise ValueError(f"memory record of {len(value)} bytes")
        out.append(Memory(*struct.unpack("<qqqqqqqbbBBBQQ", value)))
    return out


def marks(directory):
    """`domain` None: the default one."""
    out = []
    for value in records(_bytes(directory, "steplens.mark"), 32):
        texts = fields(value, 49)
        out.append(Mark(*struct.unpack_from("<QqqQQQB", value), texts.get(1), texts.get(2)))
    return out


def calls(directory):
    data = _bytes(directory, "torch.python_tracer_func")
    return [Call(*item) for item in struct.iter_unpack("<QQQQB", data[:len(data) // 33 * 33])]


def call_names(directory):
    return {struct.unpack_from("<Q", value)[0]: fields(value, 8)[1]
            for value in records(_bytes(directory, "torch.python_tracer_hash"), 4)}


def parameters(directory):
    return [(struct.unpack_from("<Q", value)[0], fields(value, 8))
            for value in records(_bytes(directory, "torch.param_tensor_info"), 5)]


def collections_of_garbage(directory):
    return list(struct.iter_unpack("<QQQ", _bytes(directory, "torch.gc_record")))


def info(directory):
    (path,) = glob.glob(os.path.join(directory, "profiler_info*.json"))
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def metadata(directory):
    with open(os.path.join(directory, "profiler_metadata.json"), encoding="utf-8") as file:
        return json.load(file)


def depths(items):
    """Name and nesting depth of each operator in order of start; operators of one thread only, none asynchronous."""
    out, open_ends = [], []
    for op in sorted(items, key=lambda op: (op.start, -op.end)):
        while open_ends and open_ends[-1] <= op.start:
            open_ends.pop()
        out.append((op.name, len(open_ends)))
        open_ends.append(op.end)
    return out
