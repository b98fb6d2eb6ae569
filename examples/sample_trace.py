"""trace_view.json of a simulated rank."""

import json

from sample_rank import Collective
from sample_steps import subtract, union

# The exporter's processes: name -> (index in the process id, label).
PROCESSES = {
    "CANN": (7, "CPU"),
    "Ascend Hardware": (13, "NPU"),
    "AI Core Freq": (14, "NPU"),
    "HCCL": (15, "NPU"),
    "HBM": (17, "NPU"),
    "NPU MEM": (19, "NPU"),
    "Overlap Analysis": (23, "NPU"),
}
LAYERS = {"acl": "AscendCL", "node": "Node", "hccl": "Hccl"}
OVERLAP_KINDS = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")


def us_text(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def sample_times(rank):
    """When the hardware counters were read: every 5 ms."""
    return range(rank.begin + 137_000, rank.now, 5_000_000)


class Trace:
    def __init__(self, rank):
        self.rank = rank
        self.events = []

    def process(self, name):
        return (self.rank.pid << 10) | (PROCESSES[name][0] << 5) | self.rank.rank

    # The framework's part.

    def framework_slice(self, name, thread, begin, end, category, args):
        self.events.append({"ph": "X", "name": name, "pid": self.rank.pid, "tid": thread, "ts": us_text(begin),
                            "dur": (end - begin) / 1000, "cat": category, "args": args})

    def framework_flow(self, phase, name, flow_id, thread, time, category, process=None):
        self.events.append({"ph": phase, "bp": "e", "name": name, "id": flow_id, "pid": process or self.rank.pid,
                            "tid": thread, "ts": us_text(time), "cat": category})

    def add_ops(self):
        for op in self.rank.ops:
            args = {"Sequence number": op.sequence, "Fwd thread id": op.fwd_thread}
            if op.dims:
                args |= {"Input Dims": op.dims, "Input type": op.types}
            if op.stack:
                args["Call stack"] = op.stack
            self.framework_slice(op.name, op.thread, op.begin, op.end, "cpu_op", args)

    def add_queue(self):
        for q in self.rank.queue:
            self.framework_slice("Enqueue", q.thread, q.begin, q.end, "enqueue", {"correlation_id": q.correlation})
            self.framework_flow("s", "enqueue_to_dequeue", q.correlation, q.thread, q.begin, "async_task_queue")
        for q in self.rank.queue:
            self.framework_slice(f"Dequeue@{q.label}", self.rank.dequeue, q.dequeue_begin, q.dequeue_end, "dequeue",
                                 {"correlation_id": q.correlation})
            self.framework_flow("f", "enqueue_to_dequeue", q.correlation, self.rank.dequeue, q.dequeue_begin, "async_task_queue")

    def add_forward_backward(self):
        forward, backward = {}, {}
        for op in sorted(self.rank.ops, key=lambda op: op.begin):
            if op.sequence >= 0:
                (backward if op.fwd_thread else forward)[op.sequence] = op
        for sequence in sorted(forward.keys() & backward.keys()):
            for phase, op in (("s", forward[sequence]), ("f", backward[sequence])):
                self.framework_flow(phase, "fwdbwd", sequence, op.thread, op.begin, "fwdbwd")

    def add_python(self):
        for frame in self.rank.frames:
            args = {"Python id": frame.id, "Python parent id": frame.parent_id}
            if frame.module_id is not None:
                args["Python module id"] = frame.module_id
            self.framework_slice(frame.name, self.rank.main, frame.begin, frame.end, "python_function", args)

    def add_op_to_kernel(self):
        pairs = [(op, task) for op in self.rank.ops for task in op.tasks]
        for op, task in sorted(pairs, key=lambda pair: pair[1].begin):
            process, thread = self.place(task)
            self.framework_flow("s", "torch_to_npu", task.begin, op.thread, op.begin, "async_npu")
            self.framework_flow("f", "torch_to_npu", task.begin, thread, task.begin, "async_npu", process)

    # The exporter's part.

    def place(self, task):
        """Process and thread of a task or a collective."""
        if isinstance(task, Collective):
            return self.process("HCCL"), 0
        return self.process("Ascend Hardware"), task.stream

    def metadata(self, process, kind, args, thread=0):
        self.events.append({"name": kind, "pid": process, "tid": thread, "args": args, "ph": "M"})

    def name_process(self, process, name, label, sort_index, threads):
        self.metadata(process, "process_name", {"name": name})
        self.metadata(process, "process_labels", {"labels": label})
        self.metadata(process, "process_sort_index", {"sort_index": sort_index})
        for thread, (thread_name, thread_sort) in threads.items():
            self.metadata(process, "thread_name", {"name": thread_name}, thread)
            self.metadata(process, "thread_sort_index", {"sort_index": thread_sort}, thread)

    def add_framework_names(self):
        rank = self.rank
        threads = {tid: (f"Thread {tid}", tid) for tid in (rank.main, rank.autograd)}
        threads[rank.dequeue] = (f"Thread {rank.dequeue}", rank.autograd + 1)
        self.name_process(rank.pid, "Python", "CPU", 0, threads)

    def add_exporter_names(self):
        rank = self.rank
        threads = {
            "CANN": {tid: (f"Thread {tid}", tid) for tid in (rank.main, rank.dequeue)},
            "Ascend Hardware": {s: (f"Stream {s}", s) for s in sorted({t.stream for t in rank.tasks})},
            "HCCL": {0: ("Group 0 Communication", 0), 1: ("Plane 0", 1), 2: ("Plane 1", 2)},
            "Overlap Analysis": {i: (kind, i) for i, kind in enumerate(OVERLAP_KINDS)},
        }
        for name, (index, label) in PROCESSES.items():
            self.name_process(self.process(name), name, label, index, threads.get(name, {}))

    def counter(self, process, name, time, unit, value):
        self.events.append({"name": name, "ts": us_text(time), "pid": self.process(process), "tid": 0,
                            "args": {unit: value}, "ph": "C"})

    def add_counters(self):
        rank = self.rank
        for time, mhz in [*rank.clock_changes, (rank.now, rank.clock_changes[-1][1])]:
            self.counter("AI Core Freq", "AI Core Freq", time, "MHz", mhz)
        for number, time in enumerate(sample_times(rank)):
            self.counter("HBM", "HBM 0/Read", time, "Read(MB/s)", 18000.0 + 371 * number)
            self.counter("HBM", "HBM 0/Write", time, "Write(MB/s)", 9500.0 + 211 * number)
            self.counter("NPU MEM", "APP/HBM", time, "KB", 524288.0)
            self.counter("NPU MEM", "Device/HBM", time, "KB", 786432.0)

    def exporter_slice(self, process, name, thread, begin, end, args=None):
        event = {"name": name, "pid": process, "tid": thread, "ts": us_text(begin), "dur": (end - begin) / 1000}
        if args is not None:
            event["args"] = args
        event["ph"] = "X"
        self.events.append(event)

    def add_calls(self):
        for call in self.rank.calls:
            mode = {"acl": "ACL_RTS" if call.name.startswith("aclrt") else "ACL_NN", "node": "launch", "hccl": "master"}[call.level]
            args = {"Thread Id": call.thread, "Mode": mode, "level": call.level,
                    "id": call.name if call.level == "acl" else "0",
                    "item_id": call.name if call.level == "hccl" else call.item, "connection_id": call.connection}
            self.exporter_slice(self.process("CANN"), f"{LAYERS[call.level]}@{call.name}", call.thread, call.begin, call.end, args)

    def add_tasks(self):
        for task in self.rank.tasks:
            args = {"Model Id": 4294967295, "Task Type": task.task_type, "Physic Stream Id": task.stream, "Task Id": task.task_id,
                    "Batch Id": 0, "Subtask Id": task.subtask, "connection_id": task.connection}
            process, thread = self.place(task)
            self.exporter_slice(process, task.name, thread, task.begin, task.end, args)

    def add_collectives(self):
        for collective in self.rank.collectives:
            args = {"connection_id": collective.connection, "model id": 4294967295, "data_type": "FP32", "alg_type": "MESH-RING",
                    "count": collective.count}
            self.exporter_slice(self.process("HCCL"), collective.name, 0, collective.begin, collective.end, args)
            for step in collective.plane_tasks:
                self.exporter_slice(self.process("HCCL"), step.kind, step.plane + 1, step.begin, step.end, self.plane_args(step))

    def plane_args(self, step):
        duration_us = (step.end - step.begin) / 1000
        return {"notify_id": str(60 + step.task.subtask), "duration estimated(us)": duration_us, "stream id": step.task.stream,
                "task id": step.task.task_id, "context id": step.task.subtask, "task type": step.kind, "src rank": self.rank.rank,
                "dst rank": step.dst, "transport type": step.transport, "size(Byte)": step.size,
                "data type": "FP32" if step.kind == "Reduce_Inline" else "INVALID_TYPE", "link type": step.link,
                "bandwidth(GB/s)": round(step.size / duration_us / 1000, 6), "model id": 4294967295}

    def add_launch_flows(self):
        launched = [t for t in self.rank.tasks if t.flow] + self.rank.collectives
        for task in sorted(launched, key=lambda task: task.begin):
            name = f"HostToDevice{task.flow}"
            process, thread = self.place(task)
            self.events.append({"name": name, "ph": "s", "cat": "HostToDevice", "id": task.flow, "pid": self.process("CANN"),
                                "tid": self.rank.dequeue, "ts": us_text(task.launch)})
            self.events.append({"name": name, "ph": "f", "id": task.flow, "ts": us_text(task.begin), "cat": "HostToDevice",
                                "pid": process, "tid": thread, "bp": "e"})

    def add_overlap(self):
        for kind, (begin, end) in overlap_slices(self.rank):
            self.exporter_slice(self.process("Overlap Analysis"), kind, OVERLAP_KINDS.index(kind), begin, end)


def overlap_slices(rank):
    """The slices of the Overlap Analysis process, (kind, (begin, end)), by kind and time."""
    compute = union((t.begin, t.end) for t in rank.tasks if t.kernel)
    communication = union((c.begin, c.end) for c in rank.collectives)
    busy = union(compute + communication)
    parts = {
        "Computing": compute,
        "Communication": communication,
        "Communication(Not Overlapped)": subtract(communication, compute),
        "Free": subtract([(busy[0][0], busy[-1][1])], busy),
    }
    return [(kind, part) for kind in OVERLAP_KINDS for part in parts[kind]]


def write_trace(rank, path):
    trace = Trace(rank)
    trace.add_ops()
    trace.add_queue()
    trace.add_framework_names()
    trace.add_forward_backward()
    trace.add_python()
    trace.add_exporter_names()
    trace.add_counters()
    trace.add_calls()
    trace.add_tasks()
    trace.add_collectives()
    trace.add_launch_flows()
    trace.add_overlap()
    trace.add_op_to_kernel()
    path.write_text(json.dumps(trace.events), encoding="utf-8")
