"""The timeline of a capture as Chrome trace events (trace_view.json)."""

from .capture import (ALGORITHM, COMPUTE_STREAM, DEVICE_TASK, LAUNCH_NS, data_type, element_count, plane_tasks)
from .measures import gbps, overlap_parts, subtract, union

# Process number of each part: pid = os pid << 10 | number << 5 | device.
CANN, HARDWARE, FREQUENCY, HCCL, OVERLAP = 7, 14, 15, 16, 31
NO_MODEL = 4294967295


def trace_events(capture):
    """All events; at level none only the host's, at level 0 without the CANN layer and the planes."""
    host, flows = _host_events(capture)
    if capture.options.level == "none":
        return host
    return host + _Device(capture).events() + flows


def _ts(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def _slice(name, pid, tid, start_ns, end_ns, args):
    return {"name": name, "pid": pid, "tid": tid, "ts": _ts(start_ns), "dur": (end_ns - start_ns) / 1000, "args": args, "ph": "X"}


def _name(pid, name, label, order):
    return [{"name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}, "ph": "M"},
            {"name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": label}, "ph": "M"},
            {"name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": order}, "ph": "M"}]


def _thread(pid, tid, name):
    return [{"name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}, "ph": "M"},
            {"name": "thread_sort_index", "pid": pid, "tid": tid, "args": {"sort_index": tid}, "ph": "M"}]


def _host_events(capture):
    """Operators in end order, and the op -> device arrows that need them."""
    pid = capture.pid
    events, flows = [], []
    args = {"Sequence number": -1, "Fwd thread id": 0}
    for captured in capture.steps:
        for launch in captured.launches:
            events.append(dict(_slice(launch.operator, pid, pid, launch.start_ns, launch.end_ns, args), cat="cpu_op"))
            flows += _launch_arrow(capture, launch)
        name, step = f"ProfilerStep#{captured.id}", captured.step
        events.append(dict(_slice(name, pid, pid, step.host_start_ns, step.host_end_ns, args), cat="cpu_op"))
    return events + _name(pid, "Python", "CPU", 0) + _thread(pid, pid, f"Thread {pid}"), flows


def _launch_arrow(capture, launch):
    process, thread = _device_thread(capture, launch)
    start = launch.device_start_ns
    arrow = {"bp": "e", "name": "torch_to_npu", "id": start, "cat": "async_npu"}
    return [{"ph": "s", **arrow, "pid": capture.pid, "tid": capture.pid, "ts": _ts(launch.start_ns)},
            {"ph": "f", **arrow, "pid": process, "tid": thread, "ts": _ts(start)}]


def _process(capture, number):
    return capture.pid << 10 | number << 5 | capture.device & 31


def _device_thread(capture, launch):
    if launch.is_communication:
        return _process(capture, HCCL), _group_thread(capture, launch.work.op.group)
    return _process(capture, HARDWARE), COMPUTE_STREAM


def _group_thread(capture, group):
    """Each group has a thread, followed by one thread per plane."""
    before = capture.groups[:capture.groups.index(group)]
    return sum(1 + _plane_count(capture, other) for other in before)


def _plane_count(capture, group):
    return 1 if group.pg_name == "pp" else len(group.peers(capture.rank))


class _Device:
    def __init__(self, capture):
        self.capture = capture
        self.pids = {number: _process(capture, number) for number in (CANN, HARDWARE, FREQUENCY, HCCL, OVERLAP)}
        self.has_cann = capture.options.level == "1"
        self.threads = {group: _group_thread(capture, group) for group in capture.groups}

    def events(self):
        events = self._names()
        for captured in self.capture.steps:
            for launch in captured.launches:
                events += self._launch(launch)
                events += self._collective(launch) if launch.is_communication else self._kernel(launch)
        return events + self._overlap() + self._frequency()

    def _names(self):
        capture = self.capture
        label = f"NPU {capture.device}"
        events = _name(self.pids[HARDWARE], "Ascend Hardware", label, HARDWARE)
        events += _name(self.pids[OVERLAP], "Overlap Analysis", label, OVERLAP)
        events += _name(self.pids[FREQUENCY], "AI Core Freq", label, FREQUENCY)
        if self.has_cann:
            events += _name(self.pids[CANN], "CANN", "CPU", CANN) + _thread(self.pids[CANN], capture.pid, f"Thread {capture.pid}")
        streams = [COMPUTE_STREAM, *(capture.comm_stream(group) for group in capture.groups)]
        for stream in streams:
            events += _thread(self.pids[HARDWARE], stream, f"Stream {stream}")
        for tid, name in enumerate(("Computing", "Communication", "Communication(Not Overlapped)", "Free")):
            events += _thread(self.pids[OVERLAP], tid, name)
        return events + (self._group_names() if capture.groups else [])

    def _group_names(self):
        events = _name(self.pids[HCCL], "Communication", f"NPU {self.capture.device}", HCCL)
        for group, thread in self.threads.items():
            events += _thread(self.pids[HCCL], thread, f"Group {group.name} Communication")
            if self.has_cann:
                for plane in range(_plane_count(self.capture, group)):
                    events += _thread(self.pids[HCCL], thread + 1 + plane, f"Plane {plane + 1}")
        return events

    def _launch(self, launch):
        """The CANN launch, and the arrow from it to the device; at level 0 only the arrow is left."""
        pid, tid = self.pids[CANN], self.capture.pid
        process, thread = _device_thread(self.capture, launch)
        arrow = {"name": f"HostToDevice{launch.connection << 32}", "cat": "HostToDevice", "id": str(launch.connection << 32)}
        events = [{**arrow, "ph": "s", "pid": pid, "tid": tid, "ts": _ts(launch.launch_ns)},
                  {**arrow, "ph": "f", "bp": "e", "pid": process, "tid": thread, "ts": _ts(launch.device_start_ns)}]
        if not self.has_cann:
            return events
        args = {"Thread Id": tid, "Mode": "launch", "level": "node", "id": "0", "item_id": launch.device_name,
                "connection_id": launch.connection}
        return [_slice("Node@launch", pid, tid, launch.launch_ns, launch.launch_ns + LAUNCH_NS, args), *events]

    def _task(self, name, task_type, stream, start_ns, end_ns, connection):
        args = {"Model Id": NO_MODEL, "Task Type": task_type, "Physic Stream Id": stream, "Task Id": connection, "Batch Id": 0,
                "Subtask Id": NO_MODEL, "connection_id": connection}
        return _slice(name, self.pids[HARDWARE], stream, start_ns, end_ns, args)

    def _kernel(self, launch):
        kernel = launch.work
        shape = kernel.shape
        return [self._task(shape.name, shape.core, COMPUTE_STREAM, kernel.start_ns, kernel.end_ns, launch.connection)]

    def _collective(self, launch):
        measure = launch.work
        op = measure.op
        thread = self.threads[op.group]
        args = {"connection_id": launch.connection, "model id": NO_MODEL, "data_type": data_type(op), "alg_type": ALGORITHM,
                "count": element_count(op), "rank_size": len(op.group.members), "relay": "no", "retry": "no"}
        events = [_slice(op.name, self.pids[HCCL], thread, op.start_ns, op.end_ns, args)]
        if self.has_cann:
            stream = self.capture.comm_stream(op.group)
            for task in plane_tasks(measure):
                events.append(self._plane(op, task, thread, stream, launch.connection))
                kind = DEVICE_TASK[task.type]
                events.append(self._task(kind, kind, stream, task.start_ns, task.end_ns, launch.connection))
        return events

    def _plane(self, op, task, thread, stream, connection):
        link = task.link
        over_rdma = link and link.transport == "RDMA"
        args = {"notify_id": "0", "duration estimated(us)": (task.end_ns - task.start_ns) / 1000, "stream id": stream,
                "task id": connection, "context id": NO_MODEL, "task type": task.type,
                "src rank": op.group.local(self.capture.rank),
                "dst rank": op.group.local(task.peer), "transport type": "RDMA" if over_rdma else "SDMA" if link else "LOCAL",
                "size(Byte)": link.size_bytes if link else 0, "data type": data_type(op) if link else "INVALID_TYPE",
                "link type": ("ROCE" if over_rdma else "HCCS") if link else "INVALID_TYPE",
                "bandwidth(GB/s)": gbps(link.size_bytes, link.transfer_ns) if link else 0.0, "model id": NO_MODEL}
        return _slice(task.type, self.pids[HCCL], thread + task.plane, task.start_ns, task.end_ns, args)

    def _overlap(self):
        computing, communication = [], []
        for captured in self.capture.steps:
            parts = overlap_parts(captured.step)
            computing += parts[0]
            communication += parts[1]
        busy = union(tuple(part) for part in computing + communication)
        free = [[before[1], after[0]] for before, after in zip(busy, busy[1:])]
        tracks = (("Computing", computing), ("Communication", communication),
                  ("Communication(Not Overlapped)", subtract(communication, computing)), ("Free", free))
        events = [_slice(name, self.pids[OVERLAP], tid, begin, end, None)
                  for tid, (name, parts) in enumerate(tracks) for begin, end in parts]
        for event in events:
            del event["args"]
        return events

    def _frequency(self):
        return [{"name": "AI Core Freq", "ph": "C", "pid": self.pids[FREQUENCY], "tid": 0, "ts": _ts(ns), "args": {"MHz": mhz}}
                for ns, mhz in self.capture.frequency_samples()]
