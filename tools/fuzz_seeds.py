"""Makes small starting inputs for the fuzz targets out of the sample profile.

    python3 tools/fuzz_seeds.py FOLDER

Writes FOLDER/<target>/<seed>. A seed is short but has every kind of record, so that the fuzzer changes records
instead of first having to find out what one looks like.
"""

import argparse
import json
import pathlib
import re
import sqlite3
import struct

import make_framework as raw

RANK = pathlib.Path(__file__).resolve().parents[1] / "examples/sample/rank0_ascend_pt"
OUTPUT = RANK / "ASCEND_PROFILER_OUTPUT"

# In the order of TextFileKind, which is the first byte of an input of ascend_text_fuzz.
TEXT_FILES = ["kernel_details.csv", "operator_details.csv", "operator_memory.csv", "memory_record.csv", "npu_module_mem.csv",
              "step_trace_time.csv", "op_statistic.csv", "api_statistic.csv", "communication.json",
              "communication_matrix.json", "l2_cache.csv", "profiler_info_0.json", "profiler_metadata.json"]

# The tables of a profiler db, as far as the readers join them, and of an analysis.db.
DB_TABLES = {
    "STRING_IDS": "id, value",
    "ENUM_API_TYPE": "id, name",
    "ENUM_MODULE": "id, name",
    "ENUM_HCCL_DATA_TYPE": "id, name",
    "ENUM_HCCL_LINK_TYPE": "id, name",
    "ENUM_HCCL_TRANSPORT_TYPE": "id, name",
    "META_DATA": "name, value",
    "SESSION_TIME_INFO": "startTimeNs, endTimeNs",
    "RANK_DEVICE_MAP": "rankId, deviceId",
    "PYTORCH_API": "startNs, endNs, globalTid, connectionId, name, sequenceNumber, fwdThreadId, inputDtypes, inputShapes, "
                   "callchainId, type",
    "CONNECTION_IDS": "id, connectionId",
    "PYTORCH_CALLCHAINS": "id, stack, stackDepth",
    "STEP_TIME": "id, startNs, endNs",
    "MEMORY_RECORD": "component, timestamp, totalAllocated, totalReserved, totalActive, streamPtr, deviceId",
    "OP_MEMORY": "name, size, allocationTime, releaseTime, activeReleaseTime, duration, activeDuration, allocationTotalAllocated, "
                 "allocationTotalReserved, allocationTotalActive, releaseTotalAllocated, releaseTotalReserved, releaseTotalActive, "
                 "streamPtr, deviceId",
    "TASK": "startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, streamId, taskId, modelId",
    "COMPUTE_TASK_INFO": "name, globalTaskId, blockDim, mixBlockDim, taskType, opType, inputFormats, inputDataTypes, inputShapes, "
                         "outputFormats, outputDataTypes, outputShapes, attrInfo",
    "COMMUNICATION_OP": "opName, startNs, endNs, connectionId, groupName, opId, relay, retry, dataType, algType, count, opType",
    "COMMUNICATION_TASK_INFO": "name, globalTaskId, taskType, planeId, groupName, notifyId, rdmaType, srcRank, dstRank, "
                               "transportType, size, dataType, linkType, opId",
    "CANN_API": "startNs, endNs, type, globalTid, connectionId, name",
    "TASK_PMU_INFO": "globalTaskId, name, value",
    "NPU_MODULE_MEM": "moduleId, timestampNs, totalReserved, deviceId",
    "HBM": "deviceId, timestampNs, bandwidth, hbmId, type",
    "AICORE_FREQ": "deviceId, timestampNs, freq",
    "StepTraceTime": "step, computing, communication_not_overlapped, overlapped, communication, free, stage, bubble, "
                     "communication_not_overlapped_and_exclude_receive, preparing",
    "CommAnalyzerTime": "hccl_op_name, group_name, start_timestamp, elapse_time, transit_time, wait_time, synchronization_time, "
                        "idle_time, step, type",
    "CommAnalyzerBandwidth": "hccl_op_name, group_name, transport_type, transit_size, transit_time, bandwidth, large_packet_ratio, "
                             "package_size, count, total_duration, step, type",
    "CommAnalyzerMatrix": "hccl_op_name, group_name, src_rank, dst_rank, transport_type, transit_size, transit_time, bandwidth, step, "
                          "type, op_name",
}

# The tables of an Nsight Systems export that are read.
NSYS_TABLES = {
    "StringIds": "id, value",
    "ThreadNames": "nameId, globalTid",
    "NVTX_EVENTS": "start, end, eventType, text, textId, globalTid",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start, end, globalTid, correlationId, nameId",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start, end, deviceId, streamId, correlationId, globalPid, demangledName",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start, end, deviceId, streamId, correlationId, globalPid, copyKind, bytes",
    "CUPTI_ACTIVITY_KIND_MEMSET": "start, end, deviceId, streamId, correlationId, globalPid, bytes",
}


def short_csv(path):
    """The header and the first rows. Rows of the sample have no line break inside a cell but for operator_details."""
    return b"".join(path.read_bytes().splitlines(keepends=True)[:5])


def short_json(path):
    """A result file with its first step only."""
    whole = json.loads(path.read_text())
    first = next(iter(whole))
    return json.dumps({first: whole[first]} if first.startswith("step") else whole).encode()


def text_seed(name):
    path = RANK / name if name.startswith("profiler") else OUTPUT / name
    return short_csv(path) if path.suffix == ".csv" else short_json(path)


def trace_seed():
    """One event of each kind and process."""
    kinds = {}
    for event in json.loads((OUTPUT / "trace_view.json").read_text()):
        kinds.setdefault((event["ph"], event["pid"], event.get("cat"), event["tid"]), event)
    return json.dumps(list(kinds.values())).encode()


def db_seed(path, tables):
    """Two rows a table, whose ids lead from one to the other."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA page_size = 512")
    for table, columns in tables.items():
        connection.execute(f"CREATE TABLE {table} ({columns})")
        names = columns.split(", ")
        for row in (1, 2):
            values = [2 * row if name.startswith(("end", "release")) else row for name in names]
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' for _ in names)})", values)
    strings = next(table for table in tables if table.lower().startswith("string"))
    connection.execute(f"UPDATE {strings} SET value = 'text' || id")
    connection.commit()
    connection.close()


def framework_seed():
    """Each raw file with a record or two, as framework_fuzz takes them: kind, length, bytes, in the order of FrameworkFile."""
    files = [
        raw.op_range("aten::mm", 10, 30, sequence=1, dtypes="float", shapes="2,3", stack="a.py(1): f",
                     extra=raw.collective("g", 8, 2, "float", "0,1", "all_reduce"))
        + raw.op_range("aten::add", 40, 50, sequence=1, tid=2, fwd_tid=1, era="2023"),
        b"".join(raw.op_mark("add", time, kind, 1, tid=1 + kind // 2) for time, kind in ((12, 0), (14, 1), (20, 2), (30, 3))),
        raw.memory(1, 12, 64, 64, 64, 64) + raw.memory(1, 25, -64, 0, 64, 0, kind=raw.FREE, tid=2, era="2024"),
        raw.python_event(5, 1, 0) + raw.python_event(9, 0, 1),
        raw.python_name(1, "Linear######12"),
        raw.record(5, (1).to_bytes(8, "little"), [(1, "w)t)g"), (2, "t)g)s>t]")]),
        raw.gc(3, 4),
        raw.old_python_event(5, 0, "f") + raw.old_python_event(7, 1, ""),
        raw.old_module_call(0, "1", "Conv"),
        raw.mark(1, 5, 9, "ProfilerStep#1", "mine"),
        raw.counter_series(1, "CPU Usage/0") + raw.counter_sample(1, 5, 1.5),
        raw.record(35, (1).to_bytes(8, "little") * 2, [(1, "main")]),
        raw.record(36, struct.pack("<IIqqIIQQQ", 2, 0, 20, 50, 0, 3, 7, 0, 0), [(1, "MatMul"), (2, "KERNEL_AICORE")])
        + raw.record(36, struct.pack("<IIqqIIQQQ", 9, 4, 60, 90, 0, 3, 8, 16, 0), [(1, "hcom_allReduce__1_0_1"), (2, "g")])
        + raw.record(36, struct.pack("<IIqqIIQQQ", 11, 0, 3, 6, 1, 1, 7, 0, 0), [(1, "launch")])]
    return b"".join(bytes([kind]) + len(data).to_bytes(2, "little") + data for kind, data in enumerate(files))


def prof_seed():
    """A kernel with its launch, its counters and a task of a collective, as prof_fuzz takes them: family, length, bytes."""
    def head(level, length, time):
        return struct.pack("<HHIIIQ", 0x5A5A, level, 0, 1, length, time)

    def stars(function, task, time):
        return struct.pack("<HHHHQ48x", function, 0x6BD3, 2, task, time)

    files = {
        0: b"".join(struct.pack("<HHIIIQQQ", 0x5A5A, level, kind, 1, 0, begin, end, item)
                    for level, kind, begin, end, item in ((20000, 0x50001, 1, 90, 0), (10000, 5, 2, 50, 11), (10000, 5, 51, 80, 12), (5500, 0x10001, 52, 70, 13))),
        1: b"".join(head(5000, 40, time) + struct.pack("<HHIQQHHB11x", 0, 2, task, kind, 14, 20, 0, 2) for time, task, kind in ((20, 1, 0), (60, 2, 5))),
        3: head(10000, 28, 50) + struct.pack("<QIQII12x", 11, 0, 15, 20, 0),
        8: head(10000, 232, 50) + struct.pack("<QI", 11, 1) + struct.pack("<III8I", 0, 2, 27, 4, 4, 0, 0, 0, 0, 0, 0) + bytes(176),
        10: head(5500, 120, 70) + struct.pack("<QQQ6IQIId3Q6I", 13, 0, 16, 0, 1, 2, 0, 0, 0xFFFFFFFF, 5, 0, 0, 1.5, 0, 0, 4096, 0, 4, 1, 0, 0, 0) + bytes(112),
        17: b"11:MatMul\n12:hcom_allReduce_\n13:Memcpy\n14:k\n15:MatMulV2\n16:group\n",
        18: b"5000_0:KERNEL_AICORE\n5000_5:MEMCPY_ASYNC\n10000_5:launch\n5500_65537:master\n",
        25: stars(0, 1, 1000) + stars(1, 1, 2000) + stars(0, 2, 3000) + stars(1, 2, 4000),
        28: struct.pack("<HHHHQHHHHQQQ8Q2Q", 40, 0, 2, 1, 0, 0, 0, 0, 0, 0, 500, 0, 1, 2, 3, 4, 5, 6, 7, 8, 1100, 1900),
    }
    return b"".join(bytes([family]) + len(data).to_bytes(2, "little") + data for family, data in files.items())


# Names of record families and the bytes of their records; 1: lines of text. All others of the host: 64 and 256.
PROF_RECORD_BYTES = {"api_event": 40, "stars_soc": 64, "stars_soc_profile": 64, "hwts": 64, "ffts_profile": 128, "aicore": 128, "aiVectorCore": 128,
                     "ts_track": 40, "lpmFreqConv": 888, "aicpu": 256, "l2_cache": 72, "socpmu": 80, "hbm": 24, "llc": 24, "ddr": 20, "npu_mem": 32,
                     "npu_mem.app": 32, "npu_module_mem": 24, "pcie": 96, "qos": 64, "DATA_PREPROCESS.AICPU": 128}


def prof_families():
    """The families in the order of prof_fuzz, whose number is the first byte: their files and names. Control files have no name."""
    source = (pathlib.Path(__file__).resolve().parents[1] / "fuzz/prof_fuzz.cc").read_text()
    files = re.findall(r'"([^"]+)"', source.split("kFamilies[] = {")[1].split("};")[0])
    name = re.compile(r"(?:host/data/(?:un)?(?:aging\.)?(.+?)(?:\.data)?|device_0/data/(.+?)(?:\.data)?\.0)\.slice_\d+")
    matches = [name.fullmatch(file) for file in files]
    return [(file, match and (match[1] or match[2])) for file, match in zip(files, matches)]


def prof_family_seed(number, name):
    """Two records of a family, sound at their beginning, behind the tree that gives them something to belong to."""
    if name.startswith(("compact.", "additional.", "variable.")) and not name.endswith("_dic") or name == "aicpu":
        size = 64 if name.startswith("compact.") else 256
        data = b"".join(struct.pack("<HHIIIQ", 0x5A5A, 10000, kind, 1, size - 24, 50).ljust(size, b"\1") for kind in (0, 13))
    elif name in PROF_RECORD_BYTES:
        magic = {"api_event": 0x5A5A, "DATA_PREPROCESS.AICPU": 0x5A5A | 60 << 16}.get(name, 0x6BD30000)
        data = struct.pack("<I", magic).ljust(PROF_RECORD_BYTES[name], b"\2") * 2
    else:
        data = b"time 5\n1:5 " + b"1 " * 15 + b"\n"
    return prof_seed() + bytes([number]) + len(data).to_bytes(2, "little") + data


def make_seeds(folder):
    def write(target, name, content):
        path = folder / target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    for kind, name in enumerate(TEXT_FILES):
        write("ascend_text_fuzz", name, bytes([kind]) + text_seed(name))
        if name.endswith(".csv"):
            write("csv_fuzz", name, b"\x40" + text_seed(name))
    write("chrome_trace_fuzz", "trace_view.json", trace_seed())
    write("chrome_trace_fuzz", "object.json", b'{"traceEvents": ' + trace_seed() + b', "displayTimeUnit": "ms"}')
    write("framework_fuzz", "capture", framework_seed())
    write("prof_fuzz", "tree", prof_seed())
    for number, (_, name) in enumerate(prof_families()):
        if name:
            write("prof_fuzz", name, prof_family_seed(number, name))
    controls = {file: number for number, (file, name) in enumerate(prof_families()) if not name}
    for chip in (1, 15):
        info = b'{"platform_version":"%d","DeviceInfo":[{"hwts_frequency":"50","aic_frequency":"1000","ai_core_num":2}]}' % chip
        for mode in (b"task-based", b"sample-based"):
            sample = b'{"ai_core_profiling_mode":"%s","ai_core_metrics":"Memory","ai_core_profiling_events":"0x15"}' % mode
            files = {"device_0/info.json.0": info, "device_0/sample.json": sample}
            parts = [prof_family_seed(number, name) for number, (_, name) in enumerate(prof_families())
                     if name in ("stars_soc", "hwts", "ffts_profile", "aicore", "ts_track", "socpmu")]
            parts += [bytes([controls[file]]) + len(text).to_bytes(2, "little") + text for file, text in files.items()]
            write("prof_fuzz", f"chip_{chip}_{mode.decode()}", b"".join(parts))
    write("ascend_db_fuzz", "profiler.db", b"")
    db_seed(folder / "ascend_db_fuzz/profiler.db", DB_TABLES)
    write("nsys_fuzz", "export.sqlite", b"")
    db_seed(folder / "nsys_fuzz/export.sqlite", NSYS_TABLES)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Makes small starting inputs for the fuzz targets.")
    parser.add_argument("folder", type=pathlib.Path, help="gets a folder for each target")
    make_seeds(parser.parse_args().folder)
