#!/usr/bin/env python3
"""Encodes raw captures (FRAMEWORK/ and profiler_info) from lists of records or from an analysed capture.

    python3 tools/make_framework.py CAPTURE OUT [--counter] [--no-end] [--no-device]
    python3 tools/make_framework.py --synthetic N OUT [--stack]      (N operators, for measurements)
    python3 tools/make_framework.py --training STEPS OUT             (a training loop on a CPU, small enough to check by hand)

CAPTURE is a rank folder with ASCEND_PROFILER_OUTPUT in text form; its operators, queue items, Python functions and memory
rows are written as the recorder would have written them, and its device part as msprof's export (PROF_*/mindstudio_profiler_output).
Written from the description of the format (docs/formats/framework.md), not from the program's own code, so that each checks the other.
"""

import argparse
import csv
import json
import pathlib
import random
import shutil
import struct

ENQUEUE_START, ENQUEUE_END, DEQUEUE_START, DEQUEUE_END = range(4)
MALLOC, FREE, BLOCK_FREE = range(3)
NPU = 20


# ---- Records --------------------------------------------------------------------------------------------------------

def field(tag, text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<HI", tag, len(data)) + data


def record(kind, fixed, fields=()):
    """`fields`: (tag, text) pairs; those whose text is None are left out."""
    value = fixed + b"".join(field(tag, text) for tag, text in fields if text is not None)
    return struct.pack("<HI", kind, len(value)) + value


def op_range(name, start, end, *, sequence=-1, pid=1, tid=1, end_tid=None, fwd_tid=0, scope=0, is_async=0, dtypes=None,
             shapes=None, stack=None, modules=None, extra=(), era="now"):
    fixed = struct.pack("<qqqQQQQ", start, end, sequence, pid, tid, tid if end_tid is None else end_tid, fwd_tid)
    if era == "now":
        tags = {"name": 2, "dtypes": 3, "shapes": 4, "stack": 8, "modules": 9}
        fixed += struct.pack("<BB", scope, is_async)
    else:
        tags = {"name": 3, "dtypes": 4, "shapes": 5, "stack": 6, "modules": 7}
        fixed += struct.pack("<B", is_async)
    return record(1, fixed, [(tags["name"], name), (tags["dtypes"], dtypes), (tags["shapes"], shapes),
                             (tags["stack"], stack), (tags["modules"], modules), *extra])


def op_mark(name, time, category, correlation, *, pid=1, tid=1):
    return record(2, struct.pack("<qQQQQ", time, category, correlation, tid, pid), [(1, name)])


def memory(address, time, size, allocated, reserved, active, *, stream=0, device_type=NPU, device=0, component=0,
           kind=MALLOC, allocator=0, pid=1, tid=1, era="now"):
    small = {"2023": [kind], "2024": [kind, allocator], "now": [component, kind, allocator]}[era]
    fixed = struct.pack("<qqqqqqqbb", address, time, size, allocated, reserved, active, stream, device_type, device)
    return record(3, fixed + bytes(small) + struct.pack("<QQ", tid, pid))


def python_event(time, key, tag, *, pid=1, tid=1):
    return struct.pack("<QQQQB", time, tid, pid, key, tag)


def python_name(key, text):
    return record(4, struct.pack("<Q", key), [(1, text)])


def old_python_event(time, tag, name, *, pid=1, tid=1):
    return record(4, struct.pack("<QQQB", time, tid, pid, tag), [(2, name)])


def old_module_call(index, module_id, name, *, pid=1, tid=1):
    return record(5, struct.pack("<QQQ", index, tid, pid), [(2, module_id), (3, name)])


def gc(start, end, *, pid=1):
    return struct.pack("<QQQ", pid, start, end)


def mark(identifier, start, end, message, domain=None, *, kind=1, pid=1, tid=1):
    fixed = struct.pack("<QqqQQQB", identifier, start, end, tid, tid, pid, kind)
    return record(32, fixed, [(1, message), (2, domain)])


def counter_series(key, name):
    return record(33, struct.pack("<Q", key), [(1, name)])


def counter_sample(key, time, value):
    return record(34, struct.pack("<Qqd", key, time, value))


def collective(group, size, count, dtype, ranks, kind, peer=None):
    """The extra fields of a collective's operator."""
    return [(32, group), (33, str(size)), (34, str(count)), (35, dtype), (36, ranks), (37, kind), (38, peer)]


# ---- A capture's folder ---------------------------------------------------------------------------------------------

def write_capture(folder, files, *, rank=0, info=None, metadata=None, clock=None, end=True, export_type=("text",),
                  level="Level1", activities=("CPU",), simplify=True):
    """`files`: name -> list of records or bytes. `clock`: members of profiler_info that describe it."""
    folder = pathlib.Path(folder)
    (folder / "FRAMEWORK").mkdir(parents=True, exist_ok=True)
    for name, records in files.items():
        data = records if isinstance(records, bytes) else b"".join(records)
        if data:
            (folder / "FRAMEWORK" / name).write_bytes(data)
    document = {
        "config": {"common_config": {"activities": [f"ProfilerActivity.{a}" for a in activities]},
                   "experimental_config": {"_profiler_level": level, "_export_type": list(export_type),
                                           "_data_simplification": simplify}},
        "start_info": {"syscnt_enable": False, "freq": 100, "start_cnt": 0, "start_monotonic": 0},
        "rank_id": rank, **(info or {})}
    if clock:
        document.update(clock)
    if end and "end_info" not in document:
        document["end_info"] = {"collectionTimeEnd": 0, "MonotonicTimeEnd": 0}
    name = "profiler_info.json" if rank is None else f"profiler_info_{rank}.json"
    if rank is None:
        del document["rank_id"]
    (folder / name).write_text(json.dumps(document, indent=4) + "\n")
    (folder / "profiler_metadata.json").write_text(json.dumps(metadata or {}) + "\n")
    return folder


def to_ns(text):
    """'1736408883704643.212' microseconds to nanoseconds; further digits are dropped, missing ones zero."""
    whole, _, fraction = text.strip().partition(".")
    return int(whole) * 1000 + int((fraction + "000")[:3])


def dur_ns(event):
    return round(float(event["dur"]) * 1000)


# ---- From an analysed capture ---------------------------------------------------------------------------------------

class Encoder:
    """The framework part of a text capture as raw records. `raw` turns nanoseconds into the raw clock."""

    def __init__(self, output, raw=lambda ns: ns):
        self.output = pathlib.Path(output)
        self.raw = raw
        self.events = json.loads((self.output / "trace_view.json").read_text())
        self.ops = [e for e in self.events if e.get("cat") == "cpu_op"]
        self.pid = self.ops[0]["pid"]

    def op_ranges(self):
        def flat(text):
            return None if text is None else text.replace("\r\n", "")

        out = []
        for event in self.ops:
            args = event["args"]
            start = to_ns(event["ts"])
            out.append(op_range(event["name"], self.raw(start), self.raw(start + dur_ns(event)),
                                sequence=args["Sequence number"], pid=event["pid"], tid=event["tid"],
                                fwd_tid=args["Fwd thread id"], dtypes=flat(args.get("Input type")),
                                shapes=flat(args.get("Input Dims")), stack=flat(args.get("Call stack"))))
        return out

    def op_marks(self):
        names = {e["args"]["correlation_id"]: e["name"].partition("@")[2]
                 for e in self.events if e.get("cat") == "dequeue"}
        marks = []
        for event in self.events:
            if event.get("cat") not in ("enqueue", "dequeue"):
                continue
            first = ENQUEUE_START if event["cat"] == "enqueue" else DEQUEUE_START
            correlation = event["args"]["correlation_id"]
            start = to_ns(event["ts"])
            ids = {"pid": event["pid"], "tid": event["tid"]}
            name = names.get(correlation, "unknown")
            marks.append((start, op_mark(name, self.raw(start), first, 0 if first == ENQUEUE_START else correlation, **ids)))
            end = start + dur_ns(event)
            marks.append((end, op_mark(name, self.raw(end), first + 1, correlation, **ids)))
        return [data for _, data in sorted(marks, key=lambda item: item[0])]

    def python(self):
        """Calls and returns in an order that nests as the functions did, and the names."""
        keys = {}
        records = []
        threads = {}
        for event in self.events:
            if event.get("cat") == "python_function":
                threads.setdefault(event["tid"], []).append(event)
        for tid, events in threads.items():
            spans = sorted(((to_ns(e["ts"]), -dur_ns(e), e["args"]["Python id"], e["name"]) for e in events))
            stack = []
            ids = {"pid": self.pid, "tid": tid}

            def close(until):
                while stack and stack[-1] <= until:
                    records.append(python_event(self.raw(stack.pop()), 0, 1, **ids))

            for start, minus_dur, _, name in spans:
                close(start)
                text = name
                if name.startswith("nn.Module: "):  # the k-th object of its class: any address will do
                    kind, _, number = name[len("nn.Module: "):].rpartition("_")
                    text = f"{kind}######{1000 + int(number)}"
                key = keys.setdefault(text, len(keys) + 1)
                records.append(python_event(self.raw(start), key, 0, **ids))
                stack.append(start - minus_dur)
            close(float("inf"))
        names = [python_name(key, text) for text, key in keys.items()]
        names.append(python_name(0, "__torch_npu_profiler_python_tracer_exit"))
        return records, names

    def memory(self):
        """The allocator's events: every PTA row is one; blocks tell which kind it is and whose."""
        dequeues = [e for e in self.events if e.get("cat") == "dequeue"]
        enqueue_of = {e["args"]["correlation_id"]: e for e in self.events if e.get("cat") == "enqueue"}
        finder = ThreadFinder(self.ops, dequeues, enqueue_of)
        kinds = {}
        with open(self.output / "operator_memory.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if not row["Name"].startswith("cann::")]
        for number, row in enumerate(rows):
            size = round(float(row["Size(KB)"]) * 1024)
            address = 0x10000 + number * 0x1000
            tid = finder.thread_of(row["Name"], to_ns(row["Allocation Time(us)"]))
            for column, kind in (("Allocation Time(us)", MALLOC), ("Release Time(us)", FREE),
                                 ("Active Release Time(us)", BLOCK_FREE)):
                if row[column].strip():
                    kinds.setdefault(to_ns(row[column]), []).append((kind, address, size if kind == MALLOC else -size, tid))
        out = []
        with open(self.output / "memory_record.csv", newline="") as file:
            for row in csv.DictReader(file):
                if row["Component"] != "PTA":
                    continue
                time = to_ns(row["Timestamp(us)"])
                known = kinds.get(time)
                kind, address, size, tid = known.pop(0) if known else (FREE, 0x8, -1, self.ops[0]["tid"])
                totals = [round(float(row[f"Total {what}(MB)"]) * 1024 * 1024) for what in ("Allocated", "Reserved", "Active")]
                device = int(row["Device Type"].partition(":")[2])
                out.append(memory(address, self.raw(time), size, *totals, stream=int(row["Stream Ptr"] or 0),
                                  kind=kind, device=device, pid=self.pid, tid=tid))
        return out

    def files(self):
        calls, names = self.python()
        files = {"torch.op_range": self.op_ranges(), "torch.op_mark": self.op_marks(),
                 "torch.python_tracer_func": calls, "torch.python_tracer_hash": names}
        if (self.output / "operator_memory.csv").exists():
            files["torch.memory_usage"] = self.memory()
        return files

    def device_events(self):
        """What the exporter of the device wrote into the trace: all but the framework's part."""
        ours = {"cpu_op", "enqueue", "dequeue", "python_function", "async_task_queue", "fwdbwd", "async_npu"}
        return [e for e in self.events if e["pid"] != self.pid and e.get("cat") not in ours]


class ThreadFinder:
    """The thread of a memory event, which no result file has: one on which the operator of that name explains it."""

    def __init__(self, ops, dequeues, enqueue_of):
        self.ops = sorted((to_ns(e["ts"]), to_ns(e["ts"]) + dur_ns(e), e["tid"], e["name"]) for e in ops)
        self.dequeues = [(to_ns(e["ts"]), to_ns(e["ts"]) + dur_ns(e), e["tid"], e["args"]["correlation_id"]) for e in dequeues]
        self.enqueue_of = enqueue_of
        self.threads = sorted({op[2] for op in self.ops})

    def thread_of(self, name, time):
        for tid in self.threads:
            started = [op for op in self.ops if op[2] == tid and op[0] <= time and op[3] not in ("empty_tensor", "malloc_workspace")]
            running = [op for op in started if op[1] >= time]
            if running and running[-1][3] == name:
                return tid
        for start, end, tid, _ in self.dequeues:
            if start <= time <= end:
                return tid
        return self.threads[0]


def write_prof(folder, encoder):
    """The device part as `msprof --export=on` leaves it."""
    output = pathlib.Path(folder) / "PROF_000001_20250109150800000_ABCDEFGHIJKLMNOP" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (output / "msprof_20250109150800.json").write_text(json.dumps(encoder.device_events()))
    renamed = {"Name": "Op Name", "Type": "OP Type", "Accelerator Core": "Task Type", "Start Time(us)": "Task Start Time(us)",
               "Duration(us)": "Task Duration(us)", "Wait Time(us)": "Task Wait Time(us)"}
    with open(encoder.output / "kernel_details.csv", newline="") as source, \
            open(output / "op_summary_20250109150800.csv", "w", newline="") as target:
        rows = list(csv.DictReader(source))
        columns = [c for c in rows[0] if c != "Step Id"]
        writer = csv.writer(target)
        writer.writerow([renamed.get(c, c) for c in columns])
        writer.writerows([row[c] for c in columns] for row in rows)
    if (encoder.output / "operator_memory.csv").exists():
        write_prof_memory(output, encoder)


def write_prof_memory(output, encoder):
    """Memory of the graph engine and of CANN, in KB and without release times, as the exporter has it."""
    def in_kb(text):
        return "" if not text.strip() else repr(float(text) * 1024)

    with open(encoder.output / "memory_record.csv", newline="") as source, \
            open(output / "memory_record_20250109150800.csv", "w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["Component", "Timestamp(us)", "Total Allocated(KB)", "Total Reserved(KB)", "Device"])
        for row in csv.DictReader(source):
            if row["Component"] == "GE":
                writer.writerow(["GE", row["Timestamp(us)"], in_kb(row["Total Allocated(MB)"]), in_kb(row["Total Reserved(MB)"]),
                                 row["Device Type"]])
    totals = [f"{when} Total {what}" for when in ("Allocation", "Release") for what in ("Allocated", "Reserved")]
    with open(encoder.output / "operator_memory.csv", newline="") as source, \
            open(output / "operator_memory_20250109150800.csv", "w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["Name", "Size(KB)", "Allocation Time(us)", "Duration(us)", *(f"{total}(KB)" for total in totals), "Device"])
        for row in csv.DictReader(source):
            if row["Name"].startswith("cann::"):
                writer.writerow([row["Name"][len("cann::"):], row["Size(KB)"], row["Allocation Time(us)"], row["Duration(us)"],
                                 *(in_kb(row[f"{total}(MB)"]) for total in totals), row["Device Type"]])


def encode_capture(capture, out, *, counter=False, end=True, device=True, export_type=("text",), simplify=False):
    capture = pathlib.Path(capture)
    info = json.loads(next(capture.glob("profiler_info*.json")).read_text())
    start = {"syscnt_enable": False, "freq": 100, "start_cnt": 0, "start_monotonic": 0}
    wall_minus_monotonic = info["end_info"]["collectionTimeEnd"] - info["end_info"]["MonotonicTimeEnd"]
    clock = {"start_info": start, "end_info": info["end_info"]}
    if counter:  # 100 MHz: ten nanoseconds a tick, as the capture itself has it
        start.update(info["start_info"], syscnt_enable=True)

        def raw(ns):
            return start["start_cnt"] + (ns - wall_minus_monotonic - start["start_monotonic"]) // 10
    else:
        def raw(ns):
            return ns - wall_minus_monotonic
    if not end:
        base = wall_minus_monotonic
        first = start["start_monotonic"] if counter else 0
        clock["steplens_clock"] = [[start["start_cnt"] + step * 100_000_000, first + step * 1_000_000_000,
                                    first + step * 1_000_000_000 + base] for step in range(3)]
        del clock["end_info"]
    encoder = Encoder(capture / "ASCEND_PROFILER_OUTPUT", raw)
    activities = ("CPU", "NPU") if device else ("CPU",)
    level = info["config"]["experimental_config"]["_profiler_level"]
    write_capture(out, encoder.files(), rank=int(info["rank_id"]), clock=clock, end=end, activities=activities, level=level,
                  export_type=export_type, simplify=simplify)
    if device:
        write_prof(out, encoder)
    return out


# ---- Synthetic, for measurements ------------------------------------------------------------------------------------

def synthetic(count, out, *, stack=False, seed=1):
    """`count` operators in steps of 10,000: aten::linear with addmm and t inside, shapes, a few names."""
    rng = random.Random(seed)
    names = [("aten::linear", ["aten::t", "aten::addmm"]), ("aten::relu", ["aten::clamp_min"]), ("aten::softmax", ["aten::_softmax"])]
    frames = [";".join(f"/site/torch/nn/modules/m{i}.py({10 * d}): forward" for d in range(8)) for i in range(40)]
    folder = pathlib.Path(out) / "FRAMEWORK"
    folder.mkdir(parents=True, exist_ok=True)
    now, step_start, done, step = 1_000_000, 1_000_000, 0, 0
    with open(folder / "torch.op_range", "wb") as file:
        while done < count:
            outer, inner = names[rng.randrange(3)]
            texts = {"dtypes": "float;float;float", "shapes": f"{rng.randrange(8)},128;128,128;128"}
            if stack:
                texts["stack"] = frames[rng.randrange(len(frames))]
            start = now
            for name in inner:
                now += 500
                file.write(op_range(name, now, now + 2000, sequence=done, pid=7, tid=7, **texts))
                now += 2000
            now += 300
            file.write(op_range(outer, start, now, sequence=done, pid=7, tid=7, **texts))
            now += 100
            done += len(inner) + 1
            if done >= (step + 1) * 10_000 or done >= count:
                file.write(op_range(f"ProfilerStep#{step}", step_start, now, pid=7, tid=7, scope=7))
                step, step_start = step + 1, now
    write_capture(out, {}, clock={"end_info": {"collectionTimeEnd": 1_700_000_000_000_000_000, "MonotonicTimeEnd": 0}})


# Where the invented captures are in time.
TRAINING_CLOCK = {"end_info": {"collectionTimeEnd": 1_700_000_000_000_000_000 + 10_000_000, "MonotonicTimeEnd": 10_000_000},
                  "steplens_version": "example"}


def training(folder, rank, *, steps=3, **options):
    """A training loop on a CPU: per step two layers, an all-reduce of gloo, and memory."""
    ops, events, now = [], [], 1_000_000
    for step in range(steps):
        begin = now
        for layer in range(2):
            ops.append(op_range("aten::addmm", now + 100, now + 900, tid=10, shapes="8,4;4,4", dtypes="float;float"))
            events.append(memory(64 * (layer + 1), now + 200, 128, 128, 256, 128, device=rank, tid=10))
            ops.append(op_range("aten::linear", now, now + 1000, tid=10, sequence=step * 2 + layer))
            now += 1100
        extra = collective("17522688603477080586", 4096, 1024, "float", "0,1", "all_reduce")
        ops.append(op_range("c10d::allreduce_", now, now + 50, tid=10))
        ops.append(op_range("gloo:all_reduce", now + 10, now + 2000 + 100 * rank, tid=10, end_tid=11, is_async=1, extra=extra))
        now += 2200
        for layer in range(2):
            events.append(memory(64 * (layer + 1), now, -128, 0, 256, 0, kind=FREE, device=rank, tid=10))
        ops.append(op_range(f"ProfilerStep#{step}", begin, now, tid=10, scope=7))
    files = {"torch.op_range": ops, "torch.memory_usage": events,
             "torch.gc_record": [gc(1_000_300, 1_000_400)],
             "steplens.mark": [mark(1, 1_000_000, 1_000_500, "forward", "mine")],
             "steplens.counter": [counter_series(1, "CPU Usage/0"), counter_sample(1, 1_000_100, 50.0)]}
    return write_capture(folder, files, rank=rank, clock=TRAINING_CLOCK, **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture", nargs="?", help="an analysed rank folder in text form")
    parser.add_argument("out", help="the capture's folder; must not exist")
    parser.add_argument("--synthetic", type=int, metavar="N", help="N invented operators instead of a capture")
    parser.add_argument("--training", type=int, metavar="STEPS", help="an invented training loop instead of a capture")
    parser.add_argument("--stack", action="store_true", help="with --synthetic: call stacks")
    parser.add_argument("--counter", action="store_true", help="raw times are ticks of the system counter")
    parser.add_argument("--no-end", action="store_true", help="as after kill -9: no end_info, but clock samples")
    parser.add_argument("--no-device", action="store_true", help="the host's part only")
    arguments = parser.parse_args()
    if pathlib.Path(arguments.out).exists():
        parser.error(f"{arguments.out}: exists already")
    try:
        if arguments.synthetic is not None:
            synthetic(arguments.synthetic, arguments.out, stack=arguments.stack)
        elif arguments.training is not None:
            training(arguments.out, 0, steps=arguments.training)
        elif arguments.capture:
            encode_capture(arguments.capture, arguments.out, counter=arguments.counter, end=not arguments.no_end,
                           device=not arguments.no_device)
        else:
            parser.error("a capture, --synthetic or --training was expected")
    except (OSError, KeyError, StopIteration, ValueError) as error:
        shutil.rmtree(arguments.out, ignore_errors=True)
        parser.exit(1, f"{arguments.capture}: cannot be encoded: {error!r}\n")


if __name__ == "__main__":
    main()
