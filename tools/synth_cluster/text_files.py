"""The text form of a capture: CSV and JSON files."""

import csv
import io
import json

from .measures import gbps, matrix, step_trace_ns
from .trace_view import trace_events

STEP_TRACE_HEADER = ("Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
                     "Communication(Not Overlapped and Exclude Receive),Preparing")
KERNEL_HEADER = ["Step Id", "Device_id", "Model ID", "Task ID", "Stream ID", "Name", "Type", "OP State", "Accelerator Core",
                 "Start Time(us)", "Duration(us)", "Wait Time(us)", "Block Dim", "Mix Block Dim", "HF32 Eligible",
                 "Input Shapes", "Input Data Types", "Input Formats", "Output Shapes", "Output Data Types",
                 "Output Formats", "Context ID"]
KERNEL_HEADER_LEVEL0 = ["Step Id", "Device_id", "Name", "Type", "Accelerator Core", "Start Time(us)", "Duration(us)",
                        "Wait Time(us)", "Block Dim"]
TRANSPORTS = ("RDMA", "HCCS", "PCIE", "SDMA", "SIO")


def us(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def write_text(capture, output):
    """Writes the files of ASCEND_PROFILER_OUTPUT into the folder `output`."""
    if capture.timeline:
        (output / "trace_view.json").write_text(json.dumps(trace_events(capture)))
    if capture.options.level == "none":
        return
    (output / "step_trace_time.csv").write_text(_step_trace(capture))
    if capture.timeline:
        (output / "kernel_details.csv").write_text(_kernel_details(capture), newline="")
    if capture.options.level == "1" and capture.groups:
        (output / "communication.json").write_text(json.dumps(_communication(capture)))
        (output / "communication_matrix.json").write_text(json.dumps(_matrix(capture)))


def _step_trace(capture):
    rows = [",".join([str(capture.device), str(captured.id), *map(us, step_trace_ns(captured.step))])
            for captured in capture.steps]
    return "\n".join([STEP_TRACE_HEADER, *rows]) + "\n"


def _kernel_details(capture):
    out = io.StringIO()
    writer = csv.writer(out)
    full = capture.options.level == "1"
    writer.writerow(KERNEL_HEADER if full else KERNEL_HEADER_LEVEL0)
    previous_end = None
    for captured in capture.steps:
        for launch in captured.launches:
            start, end = launch.device_start_ns, launch.device_end_ns
            wait = 0 if previous_end is None else max(0, start - previous_end)
            previous_end = end
            times = [us(start) + "\t", us(end - start), us(wait)]
            head = [captured.id, capture.device]
            writer.writerow(head + (_kernel_row(launch, times) if full else _kernel_row_level0(launch, times)))
    return out.getvalue()


def _kernel_row(launch, times):
    work = launch.work
    if launch.is_communication:
        return [4294967295, "N/A", "N/A", work.op.name, f"hcom_{work.op.type}_", "N/A", "COMMUNICATION", *times, 0, *["N/A"] * 9]
    inputs, outputs = work.inputs, work.outputs
    count = inputs.count(";") + 1
    return [4294967295, launch.connection, 2, work.shape.name, work.shape.type, "dynamic", work.shape.core, *times, 24, 0, "NO",
            f'"{inputs}"', ";".join(["DT_BF16"] * count), ";".join(["ND"] * count), f'"{outputs}"', "DT_BF16", "ND", "N/A"]


def _kernel_row_level0(launch, times):
    if launch.is_communication:
        return [launch.work.op.name, "N/A", "COMMUNICATION", *times, 0]
    return [launch.work.shape.name, "N/A", "N/A", *times, 0]


def _communication(capture):
    return {f"step{captured.id}": _by_class(captured.measures, lambda measure: measure.op.is_p2p, _communication_ops)
            for captured in capture.steps}


def _by_class(items, is_p2p, make):
    items = list(items)
    return {"p2p": make([item for item in items if is_p2p(item)]),
            "collective": make([item for item in items if not is_p2p(item)])}


def _communication_ops(measures):
    result = {f"{measure.op.name}@{measure.op.group.name}": _communication_op(measure) for measure in measures}
    if result:
        result["Total Op Info"] = _total(result.values())
    return result


def _times(elapse, transit, wait, idle):
    ratio = round(wait / (wait + transit), 4) if wait + transit else 0
    return {"Elapse Time(ms)": elapse, "Transit Time(ms)": transit, "Wait Time(ms)": wait, "Synchronization Time(ms)": wait,
            "Idle Time(ms)": idle, "Wait Time Ratio": ratio, "Synchronization Time Ratio": ratio}


def _communication_op(measure):
    times = {"Start Timestamp(us)": measure.op.start_ns / 1e3}
    times.update(_times(*(ns / 1e6 for ns in (measure.elapse_ns, measure.transit_ns, measure.wait_ns, measure.idle_ns))))
    return {"Communication Time Info": times, "Communication Bandwidth Info": _bandwidth(measure.bandwidth())}


def _bandwidth(traffic):
    info = {kind: {"Transit Size(MB)": 0, "Transit Time(ms)": 0, "Bandwidth(GB/s)": 0, "Large Packet Ratio": 0,
                   "Size Distribution": {}} for kind in TRANSPORTS}
    for kind, sent in traffic.items():
        info[kind] = {"Transit Size(MB)": sent.size_bytes / 1e6, "Transit Time(ms)": sent.transfer_ns / 1e6,
                      "Bandwidth(GB/s)": gbps(sent.size_bytes, sent.transfer_ns),
                      "Large Packet Ratio": sent.large_packet_ratio(kind),
                      "Size Distribution": {str(size / 1e6): [count, ns / 1e6] for size, (count, ns) in sent.packets.items()}}
    if "HCCS" in traffic:
        info["SDMA"] = dict(info["HCCS"], **{"Large Packet Ratio": 0, "Size Distribution": {}})
    return info


def _total(ops):
    sums = {}
    links = {kind: {"Transit Time(ms)": 0, "Transit Size(MB)": 0, "Size Distribution": {}} for kind in TRANSPORTS}
    for op in ops:
        for name, value in op["Communication Time Info"].items():
            sums[name] = sums.get(name, 0) + value
        for kind, info in op["Communication Bandwidth Info"].items():
            for name in ("Transit Time(ms)", "Transit Size(MB)"):
                links[kind][name] += info[name]
            for size, (count, ms) in info["Size Distribution"].items():
                entry = links[kind]["Size Distribution"].setdefault(size, [0, 0])
                entry[0] += count
                entry[1] += ms
    times = _times(*(sums[name] for name in ("Elapse Time(ms)", "Transit Time(ms)", "Wait Time(ms)", "Idle Time(ms)")))
    return {"Communication Time Info": times, "Communication Bandwidth Info": links}


def _matrix(capture):
    return {f"step{captured.id}": _by_class(matrix(capture.rank, captured.measures), lambda row: row[0],
                                            lambda rows: _matrix_rows(capture.rank, rows))
            for captured in capture.steps}


def _matrix_rows(rank, rows):
    result = {}
    for _, kind, pick, group, peer, link, op_name in rows:
        entry = {"Transport Type": link.transport, "Transit Size(MB)": link.size_bytes / 1e6,
                 "Transit Time(ms)": link.transfer_ns / 1e6, "Bandwidth(GB/s)": gbps(link.size_bytes, link.transfer_ns)}
        if op_name:
            entry["Op Name"] = op_name
        result.setdefault(f"{kind}-{pick}@{group.name}", {})[f"{group.local(rank)}-{group.local(peer)}"] = entry
    return result
