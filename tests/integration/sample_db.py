"""Stores the run of a text capture the other way: writes the databases that db export makes of it.

Tables, ids and storage are those of real captures of CANN 8.0, which the sample imitates too: startNs of PYTORCH_API is
text, the columns of its shapes and types are exchanged, link ids are raw, absent values of the exporter are the text N/A.
"""

import csv
import itertools
import json
import pathlib
import shutil
import sqlite3
from decimal import Decimal

NO_ID = 4294967295
ABSENT_NOTIFY = {"18446744073709551615": 9223372036854775807}  # how text and db say that a task has none
GROUP_NAME = "127.0.0.1%lo_60000_0_1767225600000000"  # a db has the name where such a text has a running number

API_TYPES = {"Runtime": 5000, "Hccl": 5500, "Node": 10000, "Model": 15000, "AscendCL": 20000}
OP_API, QUEUE_API, PYTHON_API = 50001, 50002, 50003
KERNEL_TASK_TYPES = {"AI_CORE": "KERNEL_AICORE", "AI_VECTOR_CORE": "KERNEL_AIVEC"}

INVALID = {65534: "N/A", 65535: "INVALID_TYPE"}
ENUMS = {
    "ENUM_API_TYPE": {5000: "runtime", 5500: "hccl", 10000: "node", 15000: "model", 20000: "acl", 50001: "op",
                      50002: "queue", 50003: "trace", 50004: "mstx"},
    "ENUM_HCCL_DATA_TYPE": dict(enumerate("INT8 INT16 INT32 FP16 FP32 INT64 UINT64 UINT8 UINT16 UINT32 FP64 BFP16 "
                                          "INT128".split())) | INVALID,
    "ENUM_HCCL_LINK_TYPE": dict(enumerate("ON_CHIP HCCS PCIE ROCE SIO HCCS_SW STANDARD_ROCE RESERVED".split()))
                           | INVALID,
    "ENUM_HCCL_TRANSPORT_TYPE": dict(enumerate("SDMA RDMA LOCAL".split())) | INVALID,
    "ENUM_HCCL_RDMA_TYPE": dict(enumerate("RDMA_SEND_NOTIFY RDMA_SEND_PAYLOAD RDMA_PAYLOAD_PREPARE RDMA_PAYLOAD_CHECK "
                                          "RDMA_PAYLOAD_ACK RDMA_SEND_OP".split())) | INVALID,
    "ENUM_MSTX_EVENT_TYPE": dict(enumerate("marker push/pop start/end marker_ex".split())),
    "ENUM_MODULE": dict(enumerate(
        "SLOG IDEDD IDEDH HCCL FMK HIAIENGINE DVPP RUNTIME CCE HDC DRV MDCFUSION MDCLOCATION MDCPERCEPTION MDCFSM "
        "MDCCOMMON MDCMONITOR MDCBSWP MDCDEFAULT MDCSC MDCPNC MLL DEVMM KERNEL LIBMEDIA CCECPU ASCENDDK ROS HCCP ROCE "
        "TEFUSION PROFILING DP APP TS TSDUMP AICPU LP TDT FE MD MB ME IMU IMP GE MDCFUSA CAMERA ASCENDCL TEEOS ISP SIS "
        "HSM DSS PROCMGR BBOX AIVECTOR TBE FV MDCMAP TUNE HSS FFTS OP UDF HICAID TSYNC AUDIO TPRT ASCENDCKERNEL ASYS "
        "ATRACE RTC SYSMONITOR AMP ADETECT MBUFF CUSTOM".split())),
}

COLUMNS = {  # as db export declares them
    "NPU_INFO": "id INTEGER, name TEXT",
    "HOST_INFO": "hostUid TEXT, hostName TEXT",
    "SESSION_TIME_INFO": "startTimeNs INTEGER, endTimeNs INTEGER",
    "RANK_DEVICE_MAP": "rankId INTEGER, deviceId INTEGER",
    "META_DATA": "name TEXT, value TEXT",
    "STRING_IDS": "id INTEGER PRIMARY KEY, value TEXT",
    "STEP_TIME": "id INTEGER, startNs INTEGER, endNs INTEGER",
    "PYTORCH_API": "startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, "
                   "sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, "
                   "callchainId INTEGER, type INTEGER",
    "CONNECTION_IDS": "id INTEGER, connectionId INTEGER",
    "PYTORCH_CALLCHAINS": "id INTEGER, stack INTEGER, stackDepth INTEGER",
    "CANN_API": "startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER PRIMARY KEY, "
                "name INTEGER",
    "TASK": "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, "
            "globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER",
    # opState and hf32Eligible are of later files: they are here so that their columns of the store are compared too.
    "COMPUTE_TASK_INFO": "name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER, mixBlockDim INTEGER, "
                         "taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, "
                         "inputShapes INTEGER, outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, "
                         "attrInfo INTEGER, opState INTEGER, hf32Eligible INTEGER",
    "TASK_PMU_INFO": "globalTaskId INTEGER, name INTEGER, value NUMERIC",
    "COMMUNICATION_OP": "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, "
                        "opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER, "
                        "count NUMERIC, opType INTEGER",
    "COMMUNICATION_TASK_INFO": "name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, "
                               "groupName INTEGER, notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, "
                               "dstRank INTEGER, transportType INTEGER, size INTEGER, dataType INTEGER, "
                               "linkType INTEGER, opId INTEGER",
    "MEMORY_RECORD": "component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER, "
                     "totalActive INTEGER, streamPtr INTEGER, deviceId INTEGER",
    "OP_MEMORY": "name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER, activeReleaseTime INTEGER, "
                 "duration INTEGER, activeDuration INTEGER, allocationTotalAllocated INTEGER, "
                 "allocationTotalReserved INTEGER, allocationTotalActive INTEGER, releaseTotalAllocated INTEGER, "
                 "releaseTotalReserved INTEGER, releaseTotalActive INTEGER, streamPtr INTEGER, deviceId INTEGER",
    "NPU_MODULE_MEM": "moduleId INTEGER, timestampNs INTEGER, totalReserved NUMERIC, deviceId INTEGER",
    "NPU_MEM": "type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER, deviceId INTEGER",
    "AICORE_FREQ": "deviceId INTEGER, timestampNs NUMERIC, freq INTEGER",
    "HBM": "deviceId INTEGER, timestampNs INTEGER, bandwidth NUMERIC, hbmId INTEGER, type INTEGER",
    "StepTraceTime": "step TEXT, computing NUMERIC, communication_not_overlapped NUMERIC, overlapped NUMERIC, "
                     "communication NUMERIC, free NUMERIC, stage NUMERIC, bubble NUMERIC, "
                     "communication_not_overlapped_and_exclude_receive NUMERIC, preparing NUMERIC",
    "CommAnalyzerTime": "hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, elapse_time NUMERIC, "
                        "transit_time NUMERIC, wait_time NUMERIC, synchronization_time NUMERIC, idle_time NUMERIC, "
                        "step TEXT, type TEXT",
    "CommAnalyzerBandwidth": "hccl_op_name TEXT, group_name TEXT, transport_type TEXT, transit_size NUMERIC, "
                             "transit_time NUMERIC, bandwidth NUMERIC, large_packet_ratio NUMERIC, "
                             "package_size NUMERIC, count NUMERIC, total_duration NUMERIC, step TEXT, type TEXT",
    "CommAnalyzerMatrix": "hccl_op_name TEXT, group_name TEXT, src_rank TEXT, dst_rank TEXT, transport_type TEXT, "
                          "transit_size NUMERIC, transit_time NUMERIC, bandwidth NUMERIC, step TEXT, type TEXT, "
                          "op_name TEXT",
}


def to_ns(us):
    """Microseconds as written to ns: digits after the third decimal are dropped, nothing passes a double."""
    whole, _, decimals = str(us).strip().partition(".")
    return int(whole + (decimals + "000")[:3])


def to_bytes(cell, bytes_per_unit):
    return round(Decimal(cell) * bytes_per_unit)


def known(cell, convert):
    """A cell of a csv; None if it is empty."""
    return convert(cell) if cell.strip() else None


class StringIds:
    """One of the ranges of STRING_IDS."""

    def __init__(self, first):
        self.ids = {}
        self.first = first

    def __call__(self, text):
        return self.ids.setdefault(text, self.first + len(self.ids))


class Span:
    """A slice of the trace with exact times."""

    def __init__(self, event, thread):
        self.name, self.args, self.thread, self.tid = event["name"], event.get("args", {}), thread, event["tid"]
        self.begin = to_ns(event["ts"])
        self.end = self.begin + to_ns(event["dur"])

    def holds(self, other):
        """Strictly, as db export wants it of an operator around its launch."""
        return self.begin < other.begin and other.end < self.end


class TextRank:
    """What the text files of one rank say."""

    def __init__(self, folder):
        self.folder = folder
        self.output = folder / "ASCEND_PROFILER_OUTPUT"
        events = json.loads((self.output / "trace_view.json").read_bytes(), parse_float=str)
        facts = {(e["name"], e["pid"], e["tid"]): e["args"] for e in events if e["ph"] == "M"}
        self.processes = {key[1]: args["name"] for key, args in facts.items() if key[0] == "process_name"}
        threads = {key[1:]: args["name"] for key, args in facts.items() if key[0] == "thread_name"}
        self.spans, self.counters = {}, {}
        for event in events:
            process = self.processes[event["pid"]]
            if event["ph"] == "X":
                kind = event.get("cat", process)
                self.spans.setdefault(kind, []).append(Span(event, threads[event["pid"], event["tid"]]))
            if event["ph"] == "C":
                self.counters.setdefault(process, []).append((event["name"], to_ns(event["ts"]), event["args"]))
        pids = {name: pid for pid, name in self.processes.items()}
        self.os_pid = pids["Python"]
        self.device = pids["Ascend Hardware"] & 31
        self.info = next(folder.glob("profiler_info_*.json"))
        self.rank = json.loads(self.info.read_text())["rank_id"]
        self.metadata = json.loads((folder / "profiler_metadata.json").read_text())

    def rows(self, name):
        with (self.output / name).open(newline="") as file:
            return list(csv.DictReader(file))

    def operations(self, name):
        """(step, kind, operation, group, value) of a communication file."""
        for step, kinds in json.loads((self.output / name).read_text()).items():
            for kind, operations in kinds.items():
                for key, value in operations.items():
                    operation, _, group = key.partition("@")
                    yield step, kind, operation, group, value


class DbWriter:
    """Turns a TextRank into rows of tables."""

    def __init__(self, text):
        self.text = text
        self.exporter, self.framework, self.memory = StringIds(0), StringIds(1 << 28), StringIds(2 << 28)
        self.profiler, self.analysis = {}, {}
        self.write_device_tasks()
        self.write_communication()
        self.write_cann_apis()
        self.write_framework()
        self.write_memory()
        self.write_counters()
        self.write_facts()
        self.write_analysis()

    def global_tid(self, tid):
        return self.text.os_pid << 32 | tid

    # Device

    def write_device_tasks(self):
        kernels = {(row["Name"], to_ns(row["Start Time(us)"])): row for row in self.text.rows("kernel_details.csv")}
        tasks = sorted(self.text.spans["Ascend Hardware"] + self.fused_tasks(), key=lambda task: task.begin)
        self.tasks = list(enumerate(tasks))
        self.kernels = [(index, kernels[task.name, task.begin]) for index, task in self.tasks
                        if (task.name, task.begin) in kernels]
        cores = {index: row["Accelerator Core"] for index, row in self.kernels}
        self.profiler["TASK"] = [
            (task.begin, task.end, self.text.device, task.args["connection_id"], index, self.text.os_pid,
             self.exporter(KERNEL_TASK_TYPES.get(cores[index], cores[index]) if index in cores else task.name),
             task.args["Subtask Id"], task.args["Physic Stream Id"], task.args["Task Id"], task.args["Model Id"])
            for index, task in self.tasks]
        self.profiler["COMPUTE_TASK_INFO"] = [
            (self.exporter(row["Name"]), index, int(row["Block Dim"]), int(row["Mix Block Dim"]),
             *(self.exporter(row[column]) for column in (
                 "Accelerator Core", "Type", "Input Formats", "Input Data Types", "Input Shapes", "Output Formats",
                 "Output Data Types", "Output Shapes")),
             self.exporter("N/A"), self.exporter(row["OP State"]), self.exporter(row["HF32 Eligible"]))
            for index, row in self.kernels]
        self.profiler["TASK_PMU_INFO"] = [self.metric(index, column, row[column])
                                          for column in self.metric_columns() for index, row in self.kernels]

    def fused_tasks(self):
        """The task around sub-tasks; the text trace leaves it out and shows only the sub-tasks."""
        parents = {}
        for task in self.text.spans["Ascend Hardware"]:
            if task.args["Subtask Id"] == NO_ID:
                continue
            key = (task.args["Physic Stream Id"], task.args["Task Id"], task.args["connection_id"])
            if key not in parents:
                parents[key] = Span({"name": "AI_CORE", "ts": "0", "dur": "0", "tid": task.tid,
                                     "args": task.args | {"Subtask Id": NO_ID}}, task.thread)
                parents[key].begin, parents[key].end = task.begin, task.end
            parents[key].begin = min(parents[key].begin, task.begin - 1000)
            parents[key].end = max(parents[key].end, task.end + 1000)
        return list(parents.values())

    def metric_columns(self):
        """The metrics of kernel_details.csv that a db has: they follow the context, the exporter's own rate is not one."""
        columns = list(self.kernels[0][1])
        return [column for column in columns[columns.index("Context ID") + 1:] if column != "cube_utilization(%)"]

    def metric(self, index, column, cell):
        name = {"aicore_time(us)": "aic_total_time", "aiv_time(us)": "aiv_total_time"}.get(column)
        value = Decimal(cell) * (1000 if column.endswith("(us)") else 1)
        number = int(value) if value == int(value) else float(value)
        return index, self.exporter(name or column.removesuffix("(us)")), number

    def write_communication(self):
        ops = [span for span in self.text.spans["HCCL"] if span.thread == "Group 0 Communication"]
        self.collectives = ops
        types = {row["Name"]: row["Type"] for row in self.text.rows("kernel_details.csv")}
        data_types, links, transports = (
            {name: number for number, name in ENUMS[table].items()}
            for table in ("ENUM_HCCL_DATA_TYPE", "ENUM_HCCL_LINK_TYPE", "ENUM_HCCL_TRANSPORT_TYPE"))
        self.profiler["COMMUNICATION_OP"] = [
            (self.exporter(op.name), op.begin, op.end, op.args["connection_id"], self.exporter(GROUP_NAME), op_id, 0, 0,
             data_types[op.args["data_type"]], self.exporter(op.args["alg_type"]), op.args["count"],
             self.exporter(types[op.name]))
            for op_id, op in enumerate(ops, 1)]
        task_ids = {(task.args["Physic Stream Id"], task.args["Task Id"], task.args["Subtask Id"], task.begin): index
                    for index, task in self.tasks}
        rows = self.profiler["COMMUNICATION_TASK_INFO"] = []
        for task in self.text.spans["HCCL"]:
            if task in ops:
                continue
            args = task.args
            op_id, op = next((i, op) for i, op in enumerate(ops, 1) if op.begin <= task.begin and task.end <= op.end)
            rows.append((
                self.exporter(op.name), task_ids[args["stream id"], args["task id"], args["context id"], task.begin],
                self.exporter(task.name), int(task.thread.removeprefix("Plane ")), self.exporter(GROUP_NAME),
                ABSENT_NOTIFY.get(args["notify_id"]) or int(args["notify_id"]), 65535, args["src rank"],
                args["dst rank"], transports[args["transport type"]], args["size(Byte)"],
                data_types[args["data type"]], links[args["link type"]], op_id))

    # Host

    def write_cann_apis(self):
        self.profiler["CANN_API"] = []
        for api in self.text.spans["CANN"]:
            layer, _, name = api.name.partition("@")
            self.profiler["CANN_API"].append((api.begin, api.end, API_TYPES[layer], self.global_tid(api.tid),
                                              api.args["connection_id"], self.exporter(name)))
        self.launches = sorted((api for api in self.text.spans["CANN"] if api.name == "Node@launch"),
                               key=lambda api: api.begin)

    def write_framework(self):
        spans = self.text.spans
        ops = sorted(spans["cpu_op"], key=lambda op: op.begin)
        self.steps = [(int(op.name.rpartition("#")[2]), op) for op in ops if op.name.startswith("ProfilerStep#")]
        self.profiler["STEP_TIME"] = [(step, op.begin, op.end) for step, op in self.steps]
        links = self.links(ops)
        chains = {}
        link_ids = itertools.count()
        rows = self.profiler["PYTORCH_API"] = []
        connections = self.profiler["CONNECTION_IDS"] = []
        for kind, api_type in (("enqueue", QUEUE_API), ("dequeue", QUEUE_API), ("python_function", PYTHON_API),
                               ("cpu_op", OP_API)):
            for span in ops if kind == "cpu_op" else spans[kind]:
                link_id = next(link_ids) if span in links else None
                connections.extend((link_id, connection) for connection in links.get(span, ()))
                rows.append((str(span.begin), str(span.end), self.global_tid(span.tid), link_id,
                             self.framework(span.name), *self.details(span, kind == "cpu_op", chains), api_type))
        self.profiler["PYTORCH_CALLCHAINS"] = [
            (chain, self.framework(frame), depth)
            for stack, chain in chains.items() for depth, frame in enumerate(stack.split(";\r\n"))]

    def details(self, span, is_op, chains):
        if not is_op:
            return None, None, None, None, None
        args = span.args
        stack = args.get("Call stack")
        # The column named for the types holds the shapes and the other way round: files of CANN 8.0 are like this.
        return (int(args["Sequence number"]), int(args["Fwd thread id"]),
                self.framework(args["Input Dims"]) if "Input Dims" in args else None,
                self.framework(args["Input type"]) if "Input type" in args else None,
                chains.setdefault(stack, len(chains)) if stack else None)

    def links(self, ops):
        """The connections of each span: queue items, forward and backward operators, launches."""
        links = {}
        enqueues = {item.args["correlation_id"]: item for item in self.text.spans["enqueue"]}
        for item in self.text.spans["enqueue"] + self.text.spans["dequeue"]:
            links.setdefault(item, []).append(item.args["correlation_id"])
        forward, backward = {}, {}
        for op in self.text.spans["cpu_op"]:  # in the order of the file: the last one counts
            number = int(op.args["Sequence number"])
            if number >= 0:
                (backward if int(op.args["Fwd thread id"]) else forward)[number] = op
        pairs = [number for number in forward if number in backward]
        for connection, number in enumerate(pairs, max(enqueues) + 1):
            links.setdefault(forward[number], []).append(connection)
            links.setdefault(backward[number], []).append(connection)
        for launch in self.launches:
            dequeue = next(item for item in self.text.spans["dequeue"] if item.tid == launch.tid and item.holds(launch))
            enqueue = enqueues[dequeue.args["correlation_id"]]
            op = max((op for op in ops if op.tid == enqueue.tid and op.holds(enqueue)), key=lambda op: op.begin)
            links.setdefault(op, []).append(launch.args["connection_id"])
        return links

    # Memory and counters

    def write_memory(self):
        mb, kb = 1 << 20, 1 << 10
        device = self.text.device
        self.profiler["MEMORY_RECORD"] = [
            (self.memory(row["Component"]), to_ns(row["Timestamp(us)"]),
             to_bytes(row["Total Allocated(MB)"], mb), to_bytes(row["Total Reserved(MB)"], mb),
             to_bytes(row["Total Active(MB)"] or "0", mb),  # a db has 0 where the cell of GE is empty
             known(row["Stream Ptr"], int), device)
            for row in self.text.rows("memory_record.csv") if row["Component"] != "APP"]
        self.profiler["OP_MEMORY"] = [
            (self.exporter(row["Name"].removeprefix("cann::")) if row["Name"].startswith("cann::")
             else self.memory(row["Name"]),
             to_bytes(row["Size(KB)"], kb),
             *(known(row[column], to_ns) for column in (
                 "Allocation Time(us)", "Release Time(us)", "Active Release Time(us)", "Duration(us)",
                 "Active Duration(us)")),
             *(known(row[f"{event} Total {total}(MB)"], lambda cell: to_bytes(cell, mb))
               for event in ("Allocation", "Release") for total in ("Allocated", "Reserved", "Active")),
             known(row["Stream Ptr"], int), device)
            for row in self.text.rows("operator_memory.csv")]
        modules = {name: number for number, name in ENUMS["ENUM_MODULE"].items()}
        self.profiler["NPU_MODULE_MEM"] = [
            (modules[row["Component"]], to_ns(row["Timestamp(us)"]), to_bytes(row["Total Reserved(MB)"], mb), device)
            for row in self.text.rows("npu_module_mem.csv")]

    def write_counters(self):
        device = self.text.device
        self.profiler["NPU_MEM"] = [
            (self.exporter(name.removesuffix("/HBM").lower()), 0, to_bytes(args["KB"], 1 << 10), ts_ns, device)
            for name, ts_ns, args in self.text.counters["NPU MEM"]]
        points = [(device, ts_ns, args["MHz"]) for _, ts_ns, args in self.text.counters["AI Core Freq"]]
        self.profiler["AICORE_FREQ"] = points[1:-1] + [points[0], points[-1]]  # the ends of the capture come last
        self.profiler["HBM"] = []
        for name, ts_ns, args in self.text.counters["HBM"]:
            hbm, _, kind = name.removeprefix("HBM ").partition("/")
            self.profiler["HBM"].append((device, ts_ns, to_bytes(args[f"{kind}(MB/s)"], 1 << 20), int(hbm),
                                         self.exporter(kind.lower())))

    # Facts of the run

    def write_facts(self):
        version = {"SCHEMA_VERSION_MICRO": "0", "SCHEMA_VERSION_MINOR": "0", "SCHEMA_VERSION_MAJOR": "1",
                   "SCHEMA_VERSION": "1.0.0"}
        facts = {name: json.dumps(value) for name, value in self.text.metadata.items()}
        times = [ts_ns for _, ts_ns, _ in self.text.counters["AI Core Freq"]]
        self.profiler["NPU_INFO"] = [(self.text.device, "Ascend910B")]
        self.profiler["HOST_INFO"] = [("3538958389648580163", "sample")]
        self.profiler["SESSION_TIME_INFO"] = [(min(times), max(times))]
        self.profiler["RANK_DEVICE_MAP"] = [(self.text.rank, self.text.device)]
        self.profiler["META_DATA"] = list((version | facts).items())
        for name, values in ENUMS.items():
            self.profiler[name] = list(values.items())
        self.profiler["STRING_IDS"] = [(number, text) for strings in (self.exporter, self.framework, self.memory)
                                       for text, number in strings.ids.items()]

    # analysis.db

    def write_analysis(self):
        self.analysis["StepTraceTime"] = [self.step_trace(step, op) for step, op in self.steps]
        times = self.analysis["CommAnalyzerTime"] = []
        bandwidths = self.analysis["CommAnalyzerBandwidth"] = []
        for step, kind, name, group, value in self.text.operations("communication.json"):
            if name == "Total Op Info":
                continue
            info = value["Communication Time Info"]
            times.append((name, group, info["Start Timestamp(us)"], *(info[f"{part} Time(ms)"] for part in (
                "Elapse", "Transit", "Wait", "Synchronization", "Idle")), step, kind))
            for transport, link in value["Communication Bandwidth Info"].items():
                if not link["Transit Size(MB)"]:
                    continue
                packets = [(float(size), *packet) for size, packet in link["Size Distribution"].items()]
                bandwidths.extend((name, group, transport, link["Transit Size(MB)"], link["Transit Time(ms)"],
                                   link["Bandwidth(GB/s)"], link["Large Packet Ratio"], *packet, step, kind)
                                  for packet in packets or [(0, 0, 0)])
        self.analysis["CommAnalyzerMatrix"] = [
            (name, group, *ends.split("-"), link["Transport Type"], link["Transit Size(MB)"], link["Transit Time(ms)"],
             link["Bandwidth(GB/s)"], step, kind, link.get("Op Name", ""))
            for step, kind, name, group, value in self.text.operations("communication_matrix.json")
            for ends, link in value.items()]

    def step_trace(self, step, op):
        """The rule of db export: what starts in the step, without the time between steps."""
        connections = {launch.args["connection_id"] for launch in self.launches
                       if op.begin <= launch.begin and launch.end <= op.end}
        tasks = [task for _, task in self.tasks if task.args["connection_id"] in connections]
        begin = min((task.begin for task in tasks), default=op.begin)
        end = max([task.end for task in tasks] + [op.end])
        kernels = {index for index, _ in self.kernels}
        compute = [(task.begin, task.end) for index, task in self.tasks if index in kernels and begin <= task.begin < end]
        communication = [(c.begin, c.end) for c in self.collectives if begin <= c.begin < end]
        both = covered(compute + communication)
        first, last = min(compute + communication)[0], max(end for _, end in compute + communication)
        not_overlapped = both - covered(compute)
        values = (covered(compute), not_overlapped, covered(communication) - not_overlapped, covered(communication),
                  last - first - both, last - first, 0, not_overlapped, first - op.begin)
        return (str(step), *(value / 1000 for value in values))


def covered(intervals):
    """Length of the union."""
    length, end = 0, 0
    for begin, stop in sorted(intervals):
        length += max(0, stop - max(begin, end))
        end = max(end, stop)
    return length


def write_tables(path, tables):
    db = sqlite3.connect(path)
    for name, rows in tables.items():
        columns = COLUMNS.get(name, "id INTEGER PRIMARY KEY, name TEXT")
        db.execute(f"CREATE TABLE {name} ({columns})")
        if rows:
            db.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    if "TASK" in tables:
        db.execute("CREATE INDEX TaskIndex ON TASK (startNs, globalTaskId)")
        db.execute("CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId)")
    db.commit()
    db.close()


def write_db(rank_folder, out_folder):
    """Writes <out>/rankN_ascend_pt with the databases of the text capture `rank_folder`; returns that folder."""
    text = TextRank(pathlib.Path(rank_folder))
    writer = DbWriter(text)
    folder = pathlib.Path(out_folder) / f"rank{text.rank}_ascend_pt"
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    write_tables(output / f"ascend_pytorch_profiler_{text.rank}.db", writer.profiler)
    write_tables(output / "analysis.db", writer.analysis)
    shutil.copy(text.info, folder)
    shutil.copy(text.folder / "profiler_metadata.json", folder)
    return folder
