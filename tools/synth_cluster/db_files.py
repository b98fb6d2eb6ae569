"""The db form of a capture: the profiler db and analysis.db."""

import json
import sqlite3

from .capture import (ALGORITHM, COMPUTE_STREAM, DEVICE_TASK, LAUNCH_NS, data_type, element_count, plane_tasks)
from .measures import gbps, matrix, step_trace_ns
from .topology import double_hash

NONE = 4294967295
INVALID = 65535
NODE, OPERATOR = 10000, 50001
DATA_TYPES = ["INT8", "INT16", "INT32", "FP16", "FP32", "INT64", "UINT64", "UINT8", "UINT16", "UINT32", "FP64", "BFP16", "INT128"]
ENUMS = {
    "ENUM_API_TYPE": {5000: "runtime", 5500: "hccl", NODE: "node", 15000: "model", 20000: "acl", OPERATOR: "op",
                      50002: "queue", 50003: "trace", 50004: "mstx"},
    "ENUM_HCCL_DATA_TYPE": dict(enumerate(DATA_TYPES)),
    "ENUM_HCCL_LINK_TYPE": dict(enumerate(["ON_CHIP", "HCCS", "PCIE", "ROCE", "SIO", "HCCS_SW", "STANDARD_ROCE"])),
    "ENUM_HCCL_TRANSPORT_TYPE": dict(enumerate(["SDMA", "RDMA", "LOCAL"])),
    "ENUM_HCCL_RDMA_TYPE": dict(enumerate(["RDMA_SEND_NOTIFY", "RDMA_SEND_PAYLOAD", "RDMA_PAYLOAD_PREPARE",
                                           "RDMA_PAYLOAD_CHECK", "RDMA_PAYLOAD_ACK", "RDMA_SEND_OP"])),
    "ENUM_MSTX_EVENT_TYPE": dict(enumerate(["marker", "push/pop", "start/end", "marker_ex"])),
}
HCCL_ENUMS = [name for name in ENUMS if name.startswith("ENUM_HCCL")]
LINK_CODE = {"HCCS": 1, "RDMA": 3}
TRANSPORT_CODE = {"HCCS": 0, "RDMA": 1}
LOCAL_TRANSPORT = 2
RDMA_SEND_PAYLOAD = 1
KERNEL_TASK = {"AI_CORE": "KERNEL_AICORE", "AI_VECTOR_CORE": "KERNEL_AIVEC", "MIX_AIC": "KERNEL_AICORE"}
START_END, MARKER_EX = 2, 3

PROFILER_TABLES = {
    "STRING_IDS": "id INTEGER PRIMARY KEY,value TEXT",
    "HOST_INFO": "hostUid TEXT,hostName TEXT",
    "NPU_INFO": "id INTEGER,name TEXT",
    "SESSION_TIME_INFO": "startTimeNs INTEGER,endTimeNs INTEGER",
    "RANK_DEVICE_MAP": "rankId INTEGER,deviceId INTEGER",
    "META_DATA": "name TEXT,value TEXT",
    "STEP_TIME": "id INTEGER,startNs INTEGER,endNs INTEGER",
    "AICORE_FREQ": "deviceId INTEGER,timestampNs NUMERIC,freq INTEGER",
    "TASK": "startNs INTEGER,endNs INTEGER,deviceId INTEGER,connectionId INTEGER,globalTaskId INTEGER,globalPid INTEGER,"
            "taskType INTEGER,contextId INTEGER,streamId INTEGER,taskId INTEGER,modelId INTEGER",
    "COMPUTE_TASK_INFO": "name INTEGER,globalTaskId INTEGER PRIMARY KEY,blockDim INTEGER,mixBlockDim INTEGER,taskType INTEGER,"
                         "opType INTEGER,inputFormats INTEGER,inputDataTypes INTEGER,inputShapes INTEGER,outputFormats INTEGER,"
                         "outputDataTypes INTEGER,outputShapes INTEGER,attrInfo INTEGER",
    "COMMUNICATION_OP": "opName INTEGER,startNs INTEGER,endNs INTEGER,connectionId INTEGER,groupName INTEGER,"
                        "opId INTEGER PRIMARY KEY,relay INTEGER,retry INTEGER,dataType INTEGER,algType INTEGER,count NUMERIC,"
                        "opType INTEGER",
    "COMMUNICATION_TASK_INFO": "name INTEGER,globalTaskId INTEGER,taskType INTEGER,planeId INTEGER,groupName INTEGER,"
                               "notifyId INTEGER,rdmaType INTEGER,srcRank INTEGER,dstRank INTEGER,transportType INTEGER,"
                               "size INTEGER,dataType INTEGER,linkType INTEGER,opId INTEGER",
    "CANN_API": "startNs INTEGER,endNs INTEGER,type INTEGER,globalTid INTEGER,connectionId INTEGER PRIMARY KEY,name INTEGER",
    "PYTORCH_API": "startNs TEXT,endNs TEXT,globalTid INTEGER,connectionId INTEGER,name INTEGER,sequenceNumber INTEGER,"
                   "fwdThreadId INTEGER,inputDtypes INTEGER,inputShapes INTEGER,callchainId INTEGER,type INTEGER",
    "CONNECTION_IDS": "id INTEGER,connectionId INTEGER",
    "MSTX_EVENTS": "startNs INTEGER,endNs INTEGER,eventType INTEGER,rangeId INTEGER,category INTEGER,message INTEGER,"
                   "globalTid INTEGER,endGlobalTid INTEGER,domainId INTEGER,connectionId INTEGER",
} | {name: "id INTEGER PRIMARY KEY,name TEXT" for name in ENUMS}
ANALYSIS_TABLES = {
    "StepTraceTime": "step TEXT,computing NUMERIC,communication_not_overlapped NUMERIC,overlapped NUMERIC,communication NUMERIC,"
                     "free NUMERIC,stage NUMERIC,bubble NUMERIC,communication_not_overlapped_and_exclude_receive NUMERIC,"
                     "preparing NUMERIC",
    "CommAnalyzerTime": "hccl_op_name TEXT,group_name TEXT,start_timestamp NUMERIC,elapse_time NUMERIC,transit_time NUMERIC,"
                        "wait_time NUMERIC,synchronization_time NUMERIC,idle_time NUMERIC,step TEXT,type TEXT",
    "CommAnalyzerBandwidth": "hccl_op_name TEXT,group_name TEXT,transport_type TEXT,transit_size NUMERIC,transit_time NUMERIC,"
                             "bandwidth NUMERIC,large_packet_ratio NUMERIC,package_size NUMERIC,count NUMERIC,"
                             "total_duration NUMERIC,step TEXT,type TEXT",
    "CommAnalyzerMatrix": "hccl_op_name TEXT,group_name TEXT,src_rank TEXT,dst_rank TEXT,transport_type TEXT,"
                          "transit_size NUMERIC,transit_time NUMERIC,bandwidth NUMERIC,step TEXT,type TEXT,op_name TEXT",
}


def write_db(capture, output):
    """Writes the databases of ASCEND_PROFILER_OUTPUT into the folder `output`."""
    rows = _ProfilerRows(capture).fill()
    _save(output / f"ascend_pytorch_profiler_{capture.rank}.db", PROFILER_TABLES, rows)
    if capture.options.level != "none":
        _save(output / "analysis.db", ANALYSIS_TABLES, _analysis_rows(capture))


def _save(path, schemas, rows):
    """Creates the tables that have rows: an absent table means that nothing was recorded."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=OFF")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("BEGIN")
    for table, lines in rows.items():
        if lines:
            connection.execute(f"CREATE TABLE {table} ({schemas[table]})")
            connection.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(lines[0]))})", lines)
    if rows.get("TASK"):
        connection.execute("CREATE INDEX TaskIndex ON TASK (startNs,globalTaskId)")
    connection.execute("COMMIT")
    connection.close()


class _ProfilerRows:
    def __init__(self, capture):
        self.capture = capture
        self.rows = {table: [] for table in PROFILER_TABLES}
        self.strings = {}
        self.global_tid = capture.pid << 32 | capture.pid
        self.mark_connection = 1_000_000

    def fill(self):
        capture = self.capture
        self._describe()
        if capture.options.level != "none":
            self._communication_ops()
        for captured in capture.steps:
            if capture.timeline:
                self._host(captured)
                self._marks(captured)
            if capture.timeline and capture.options.level != "none":
                self._device(captured)
        self.rows["TASK"].sort()
        self.rows["STRING_IDS"] = [(number, text) for text, number in self.strings.items()]
        return self.rows

    def _id(self, text):
        return self.strings.setdefault(text, len(self.strings))

    def _describe(self):
        capture, rows = self.capture, self.rows
        name = f"host{capture.host:04d}"
        rows["HOST_INFO"].append((double_hash(f"02:42:{name}"), name))
        rows["NPU_INFO"].append((capture.device, "Ascend910B"))
        rows["SESSION_TIME_INFO"].append(capture.session_ns)
        rows["RANK_DEVICE_MAP"].append((capture.rank, capture.device))
        rows["META_DATA"] += [("SCHEMA_VERSION", "1.0.0"), ("SCHEMA_VERSION_MAJOR", "1"), ("SCHEMA_VERSION_MINOR", "0"),
                              ("SCHEMA_VERSION_MICRO", "0")]
        rows["META_DATA"] += [(key, json.dumps(value)) for key, value in capture.metadata().items()]
        rows["STEP_TIME"] += [(captured.id, captured.step.host_start_ns, captured.step.host_end_ns) for captured in capture.steps]
        for name, values in ENUMS.items():
            rows[name] = list(values.items())
        for name in HCCL_ENUMS:
            rows[name] += [(65534, "N/A"), (INVALID, "INVALID_TYPE")]
        if capture.options.level != "none":
            rows["AICORE_FREQ"] += [(capture.device, ns, mhz) for ns, mhz in capture.frequency_samples()]

    def _communication_ops(self):
        """Without a timeline nothing launched them, so they have no connection."""
        self.op_ids = {}
        for captured in self.capture.steps:
            connections = {launch.work.op: launch.connection for launch in captured.launches if launch.is_communication}
            for measure in captured.measures:
                op = measure.op
                number = self.op_ids[op] = len(self.op_ids) + 1
                self.rows["COMMUNICATION_OP"].append(
                    (self._id(op.name), op.start_ns, op.end_ns, connections.get(op, NONE), self._id(op.group.id), number, 0, 0,
                     DATA_TYPES.index(data_type(op)), self._id(ALGORITHM), element_count(op), self._id(f"hcom_{op.type}_")))

    def _host(self, captured):
        step = captured.step
        self._operator(f"ProfilerStep#{captured.id}", step.host_start_ns, step.host_end_ns, None)
        has_cann = self.capture.options.level != "none"
        for launch in captured.launches:
            number = len(self.rows["CONNECTION_IDS"])
            self._operator(launch.operator, launch.start_ns, launch.end_ns, number if has_cann else None)
            if has_cann:
                self.rows["CONNECTION_IDS"].append((number, launch.connection))
                self.rows["CANN_API"].append((launch.launch_ns, launch.launch_ns + LAUNCH_NS, NODE, self.global_tid,
                                              launch.connection, self._id("launch")))

    def _operator(self, name, start_ns, end_ns, connection):
        self.rows["PYTORCH_API"].append((str(start_ns), str(end_ns), self.global_tid, connection, self._id(name), -1, 0, None,
                                         None, None, OPERATOR))

    def _marks(self, captured):
        """The phases of a step; at level none also the marks that communication leaves by itself."""
        step = captured.step
        self._mark("dataloader_start", "default", step.host_start_ns + 10_000, step.host_start_ns + 10_000, MARKER_EX)
        self._mark("dataloader_stop", "default", step.host_start_ns + 200_000, step.host_start_ns + 200_000, MARKER_EX)
        for phase in ("forward", "backward"):
            blocks = [block for block in step.blocks if block.kind.endswith(phase)]
            device = blocks[0].start_ns, blocks[-1].end_ns
            host = (ns - self.capture.lead_ns for ns in device)
            self._mark(json.dumps({"name": f"{phase}_step"}), "default", *host, START_END, device)
        if self.capture.options.level == "none":
            for measure in captured.measures:
                self._communication_mark(measure.op)

    def _communication_mark(self, op):
        stream = self.capture.comm_stream(op.group)
        message = json.dumps({"streamId": str(stream), "count": str(element_count(op)), "dataType": data_type(op).lower(),
                              "groupName": op.group.id, "opName": f"hcom_{op.type}_"})
        host_ns = op.start_ns - self.capture.lead_ns
        self._mark(message, "communication", host_ns, host_ns + LAUNCH_NS, START_END, (op.start_ns, op.end_ns), stream)

    def _mark(self, message, domain, start_ns, end_ns, event_type, device=None, stream=COMPUTE_STREAM):
        self.mark_connection += 1
        self.rows["MSTX_EVENTS"].append((start_ns, end_ns, event_type, 0, 0, self._id(message), self.global_tid, self.global_tid,
                                         self._id(domain), self.mark_connection))
        if device:
            self._task("MSTX_EX", *device, self.mark_connection, stream)

    def _device(self, captured):
        for launch in captured.launches:
            if launch.is_communication:
                self._plane_tasks(launch)
            else:
                self._kernel(launch)

    def _task(self, task_type, start_ns, end_ns, connection, stream):
        number = len(self.rows["TASK"])
        self.rows["TASK"].append((start_ns, end_ns, self.capture.device, connection, number, self.capture.pid,
                                  self._id(task_type), NONE, stream, number, NONE))
        return number

    def _kernel(self, launch):
        kernel = launch.work
        shape, text = kernel.shape, self._id
        number = self._task(KERNEL_TASK[shape.core], kernel.start_ns, kernel.end_ns, launch.connection, COMPUTE_STREAM)
        inputs = kernel.inputs
        count = inputs.count(";") + 1
        self.rows["COMPUTE_TASK_INFO"].append(
            (text(shape.name), number, 24, 0, text(shape.core), text(shape.type), text(";".join(["ND"] * count)),
             text(";".join(["DT_BF16"] * count)), text(f'"{inputs}"'), text("ND"), text("DT_BF16"),
             text(f'"{kernel.outputs}"'), text("N/A")))

    def _plane_tasks(self, launch):
        op = launch.work.op
        name, group, here = self._id(op.name), self._id(op.group.id), op.group.local(self.capture.rank)
        stream = self.capture.comm_stream(op.group)
        for task in plane_tasks(launch.work):
            number = self._task(DEVICE_TASK[task.type], task.start_ns, task.end_ns, launch.connection, stream)
            link = task.link
            rdma = RDMA_SEND_PAYLOAD if link and link.transport == "RDMA" else INVALID
            traffic = LOCAL_TRANSPORT, 0, INVALID, INVALID
            if link:
                traffic = (TRANSPORT_CODE[link.transport], link.size_bytes, DATA_TYPES.index(data_type(op)),
                           LINK_CODE[link.transport])
            self.rows["COMMUNICATION_TASK_INFO"].append(
                (name, number, self._id(task.type), task.plane, group, 0, rdma, here, op.group.local(task.peer),
                 *traffic, self.op_ids[op]))


def _analysis_rows(capture):
    rows = {table: [] for table in ANALYSIS_TABLES}
    for captured in capture.steps:
        rows["StepTraceTime"].append((str(captured.id), *(ns / 1e3 for ns in step_trace_ns(captured.step))))
        if capture.options.level == "1":
            _communication_rows(capture, captured, rows)
    return rows


def _communication_rows(capture, captured, rows):
    step = f"step{captured.id}"
    for measure in captured.measures:
        op = measure.op
        tail = step, "p2p" if op.is_p2p else "collective"
        times = (ns / 1e6 for ns in (measure.elapse_ns, measure.transit_ns, measure.wait_ns, measure.wait_ns, measure.idle_ns))
        rows["CommAnalyzerTime"].append((op.name, op.group.name, op.start_ns / 1e3, *times, *tail))
        for kind, traffic in measure.bandwidth().items():
            total = traffic.size_bytes / 1e6, traffic.transfer_ns / 1e6, gbps(traffic.size_bytes, traffic.transfer_ns)
            ratio = traffic.large_packet_ratio(kind)
            rows["CommAnalyzerBandwidth"] += [(op.name, op.group.name, kind, *total, ratio, size / 1e6, count, ns / 1e6, *tail)
                                              for size, (count, ns) in traffic.packets.items()]
            if kind == "HCCS":
                rows["CommAnalyzerBandwidth"].append((op.name, op.group.name, "SDMA", *total, 0, 0, 0, 0, *tail))
    for is_p2p, kind, pick, group, peer, link, op_name in matrix(capture.rank, captured.measures):
        rows["CommAnalyzerMatrix"].append(
            (f"{kind}-{pick}", group.name, str(group.local(capture.rank)), str(group.local(peer)), link.transport,
             link.size_bytes / 1e6, link.transfer_ns / 1e6, gbps(link.size_bytes, link.transfer_ns), step,
             "p2p" if is_p2p else "collective", op_name))
