#!/usr/bin/env python3
"""Writes raw device data (PROF_*) with known truth, for tests and measurements.

    python3 tools/make_prof.py OUT [--steps N] [--ops N] [--ranks N] [--level l0|l1] [--metrics GROUP] [--chip 5|1|15]
                               [--wrap N] [--no-comm] [--framework] [--damage KIND ...] [--seed N]

OUT/rank_<r>/PROF_... for each rank; OUT/truth.json says what is in them: kernels with device times, collectives, calls. With --framework each
rank's folder is a capture of torch_npu: FRAMEWORK/ with the operators that launch the kernels, and profiler_info. --damage: cut (the last record
of each file), magic (one in ten records), slice (the middle one is missing), no_end, no_host, no_device, back (the host's clock goes back).
The same options give the same bytes. Written from docs/formats/prof.md, not from the program's own code, so that each checks the other.
"""

import argparse
import json
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import make_framework  # noqa: E402

MAGIC = 0x5A5A
STARS_MAGIC = 0x6BD3
RUNTIME, COMMUNICATION, NODE, ACL = 5000, 5500, 10000, 20000
LAUNCH, MASTER = 5, 0x10001
NO_CONTEXT = 0xFFFFFFFF
HOST_MHZ, DEVICE_MHZ, CORE_MHZ, CUBE_CORES, VECTOR_CORES = 1000, 50, 1800, 24, 48
BEGIN_UTC_NS, BEGIN_MONOTONIC_NS = 1_700_000_000_000_000_000, 5_000_000_000_000
DEVICE_COUNT = 7_000_000_000  # of the device's counter at the capture's beginning
STREAM, COMM_STREAM, THREAD, PID = 3, 9, 811, 800

GROUPS = {
    "PipeUtilization": ([0x416, 0x417, 0x9, 0x302, 0xc, 0x303, 0x54, 0x55], [0x8, 0xa, 0x9, 0xb, 0xc, 0xd, 0x54, 0x55], "PipeUtilizationExct"),
    "ArithmeticUtilization": ([0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f], None, None),
    "Memory": ([0x15, 0x16, 0x31, 0x32, 0xf, 0x10, 0x12, 0x13], None, None),
    "MemoryUB": ([0x10, 0x13, 0x37, 0x38, 0x3d, 0x3e, 0x43, 0x44], None, None),
    "L2Cache": ([0x500, 0x502, 0x504, 0x506, 0x508, 0x50a], None, None),
}
# Name, runtime task type, kind of operator, kind of task on the device, blocks.
KERNELS = [("MatMul", 0, 0, 0, 24), ("Add", 66, 2, 2, 40), ("Softmax", 66, 2, 2, 48), ("Gather", 1, 1, 1, 1)]
TASK_NAMES = {0: "KERNEL_AICORE", 1: "KERNEL_AICPU", 5: "MEMCPY_ASYNC", 14: "NOTIFY_WAIT", 66: "KERNEL_AIVEC", 98: "FLIP_TASK"}


def hash_of(text):
    high = low = 0
    for byte in text.encode():
        byte = byte - 256 if byte > 127 else byte
        high = (high * 29 + byte) & 0xFFFFFFFF
        low = (low * 131 + byte) & 0xFFFFFFFF
    return high << 32 | low


class Tree:
    """The files of one PROF folder, family by family, before they are cut into slices."""

    def __init__(self, rank, options):
        self.rank, self.options = rank, options
        self.host, self.device = {}, {}
        self.texts, self.types = {}, {}
        self.truth = {"rank": rank, "kernels": [], "collectives": [], "calls": 0}

    def hash(self, text):
        self.texts[hash_of(text)] = text
        return hash_of(text)

    def add(self, family, data):
        self.host.setdefault(family, []).append(data)

    def add_device(self, family, data):
        self.device.setdefault(family, []).append(data)

    def api(self, level, kind, begin, end, item=0):
        self.truth["calls"] += 1
        self.add("aging.api_event.data", struct.pack("<HHIIIQQQ", MAGIC, level, kind, THREAD, 0, begin, end, item))

    def compact(self, tag, level, kind, time, payload, bytes_used=40):
        head = struct.pack("<HHIIIQ", MAGIC, level, kind, THREAD, bytes_used, time)
        self.add(f"aging.compact.{tag}", head + payload.ljust(40, b"\0"))

    def additional(self, tag, level, kind, time, payload):
        head = struct.pack("<HHIIIQ", MAGIC, level, kind, THREAD, len(payload), time)
        self.add(f"aging.additional.{tag}", head + payload.ljust(232, b"\0"))

    def launch(self, time, stream, task, kind, kernel, blocks=0):
        self.types[RUNTIME, kind] = TASK_NAMES[kind]
        payload = struct.pack("<HHIQQHHB11x", 0, stream, task, kind, self.hash(kernel) if kernel else 0, blocks, 0, 0)
        self.compact("task_track", RUNTIME, 802, time, payload)

    def run(self, stream, task, kind, begin, end):
        """A task on the device, by its counter."""
        if self.options.chip == 1:
            for tag, time in ((0, begin), (1, end)):
                self.add_device("hwts", struct.pack("<BBHHHQI44x", tag, kind, 0, 0, task, time, stream))
            return
        if self.options.chip >= 15:
            for function, time in ((0, begin), (1, end)):
                self.add_device("stars_soc", struct.pack("<HHIQHH12x", function | kind << 10, STARS_MAGIC, task, time, 0, 0))
            return
        for function, time in ((0, begin), (1, end)):
            self.add_device("stars_soc", struct.pack("<HHHHQHH44x", function | kind << 10, STARS_MAGIC, stream, task, time, 0, 0))

    def count(self, stream, task, kind, end, cycles, counters):
        values = (counters + [0] * 8)[:8]
        if self.options.chip == 1:
            self.add_device("aicore", struct.pack("<HHHHQQQ8QI28x", 0, 0, 0, task, 0, cycles, 0, *values, stream))
        elif self.options.chip >= 15:
            self.add_device("ffts_profile", struct.pack("<HHIQBBHBBHHHI8Q2QQQ", 0b101000, 0, task, cycles, 0, 1, 0, 0 if kind == 0 else 1, 0, 0, 0, 0, 0, *values,
                                                        0, 0, end - 10, end))
        else:
            ffts = 0 if kind == 0 else 1 << 13  # cube cores, else vector cores
            self.add_device("ffts_profile", struct.pack("<HHHHQHHHHIHHQQ8QQQ", 0b101000, 0, stream, task, 0, 0, 0, ffts, 0, 0, 0, 0, cycles, 0, *values,
                                                        end - 10, end))


def device_ns(count):
    """Time of day of a value of the device's counter, rounded down as docs/formats/prof.md says."""
    return BEGIN_UTC_NS + (count - DEVICE_COUNT) * 1000 // DEVICE_MHZ


class Training:
    """Steps of operators on one stream, then a collective on another."""

    def __init__(self, tree, options, rng):
        self.tree, self.options, self.rng = tree, options, rng
        self.host_ns = BEGIN_MONOTONIC_NS + 1_000_000
        self.count = DEVICE_COUNT + 100_000
        self.ids = {STREAM: 0, COMM_STREAM: 0}
        self.wraps = {STREAM: 0, COMM_STREAM: 0}
        self.last_id = 0x1FFFB  # its upper half changes soon
        self.launches = []  # operator, begin and end in ns of the monotonic clock

    def next_id(self, stream):
        if self.options.chip >= 15:  # ids of 32 bits, which do not begin again
            self.last_id += 1
            return self.last_id
        task = self.ids[stream]
        self.ids[stream] += 1
        if self.ids[stream] == self.options.wrap:
            self.ids[stream] = 0
            self.wraps[stream] += 1
        return task

    def flip_if_due(self, stream, task, time):
        """The driver tells both sides that the ids of a stream begin again, after the last one was launched at `time`."""
        if task != self.options.wrap - 1 or self.options.chip >= 15:
            return
        number = self.wraps[stream] - 1
        self.tree.launch(time + 100, stream, number << 16, 98, "")
        self.tree.add_device("ts_track", struct.pack("<BBHIQHHHHQQ", 0, 0x0E, 40, 0, self.count + 5, stream, number, 0, 0, 0, 0))
        self.count += 10

    def operator(self, number):
        name, runtime, kind, device_kind, blocks = KERNELS[number % len(KERNELS)]
        if self.options.chip == 1 and runtime == 66:
            runtime, kind, device_kind = 0, 0, 0
        tree, begin = self.tree, self.host_ns
        kernel = f"aclnn{name}_{number}"
        task = self.next_id(STREAM)
        node = tree.hash(kernel)
        tree.types[ACL, 5 << 16 | 1] = "aclnnRun"
        tree.types[NODE, LAUNCH] = "launch"
        tree.types[RUNTIME, 1001] = "KernelLaunch"
        tree.api(ACL, 5 << 16 | 1, begin, begin + 9_000)
        tree.api(NODE, LAUNCH, begin + 1_000, begin + 8_000, node)
        tree.api(RUNTIME, 1001, begin + 3_000, begin + 6_000)
        if self.options.level != "l0":
            tree.compact("node_basic_info", NODE, 0, begin + 7_000, struct.pack("<QIQII", node, kind, tree.hash(name), blocks, 0), 28)
            shape = [32, 64 + number % 3] + [0] * 6
            tensors = b"".join(struct.pack("<III8I", side, 2, 1, *shape) for side in (0, 1))
            tree.additional("tensor_info", NODE, 1, begin + 7_000, struct.pack("<QI", node, 2) + tensors)
        tree.launch(begin + 5_000, STREAM, task, runtime, name, blocks)
        length = self.rng.randint(200, 4_000)
        start = max(self.count + self.rng.randint(5, 200), DEVICE_COUNT + (begin + 6_000 - BEGIN_MONOTONIC_NS) * DEVICE_MHZ // 1000 + 1)
        tree.run(STREAM, task, device_kind, start, start + length)
        self.count = start + length
        if self.options.level != "l0" and self.options.metrics and device_kind in (0, 2):
            cycles = self.rng.randint(1_000, 9_000_000)
            tree.count(STREAM, task, device_kind, start + length - 2, cycles, [self.rng.randint(0, cycles) for _ in range(8)])
        offset = BEGIN_UTC_NS - BEGIN_MONOTONIC_NS
        begin_ns, end_ns = device_ns(start), device_ns(start + length)
        tree.truth["kernels"].append({"name": kernel, "begin_ns": begin_ns, "dur_ns": end_ns - begin_ns, "stream": STREAM, "task_id": task, "blocks": blocks,
                                      "launch_ns": begin + 1_000 + offset})
        self.launches.append((f"aten::{name.lower()}", begin - 2_000, begin + 10_000))
        self.host_ns = begin + 12_000 + self.rng.randint(0, 5_000)
        self.flip_if_due(STREAM, task, begin + 5_000)

    def collective(self, number):
        tree, begin = self.tree, self.host_ns
        name, group = "hcom_allReduce_", "127.0.0.1%eth0_60000_0"
        node = tree.hash(name)
        tree.types[COMMUNICATION, MASTER] = "master"
        tree.types[NODE, LAUNCH] = "launch"
        plan = (("Notify_Wait", 14, 7, 0), ("Memcpy", 5, 11, 1 << 20), ("Notify_Wait", 14, 7, 0))
        end = begin + 2_000 + 4_000 * len(plan)
        tree.api(NODE, LAUNCH, begin, end, node)
        if self.options.level != "l0":
            tree.compact("node_basic_info", NODE, 0, end - 100, struct.pack("<QIQII", node, 9, node, 0, 0), 28)
            tree.compact("hccl_op_info", NODE, 10, end - 100, struct.pack("<BBQQQ", 0, 4, tree.hash("RING"), 1 << 18, tree.hash(group)), 26)
        first = None
        for place, (item, runtime, device_kind, size) in enumerate(plan):
            at, task = begin + 1_000 + place * 4_000, self.next_id(COMM_STREAM)
            tree.api(COMMUNICATION, MASTER, at, at + 3_000, tree.hash(item))
            if self.options.level != "l0":
                info = struct.pack("<QQQIIIIIIQIIdQQQIIIIII", tree.hash(item), 0, tree.hash(group), self.tree.rank, (self.tree.rank + 1) % max(2, self.options.ranks),
                                   max(2, self.options.ranks), 0, 0, NO_CONTEXT, 7, 0, 0, 1.0, 0, 0, size, 0, 4, 1, 0, 255, 0)
                tree.additional("hccl_info", COMMUNICATION, 0x10000, at + 2_000, info)
            tree.launch(at + 1_500, COMM_STREAM, task, runtime, "")
            start = max(self.count, DEVICE_COUNT + (at + 3_000 - BEGIN_MONOTONIC_NS) * DEVICE_MHZ // 1000 + 1) + 5
            length = self.rng.randint(100, 1_000)
            tree.run(COMM_STREAM, task, device_kind, start, start + length)
            first = start if first is None else first
            self.count = start + length
            self.flip_if_due(COMM_STREAM, task, at + 1_500)
        begin_ns = device_ns(first)
        tree.truth["collectives"].append({"name": name, "number": number, "begin_ns": begin_ns, "dur_ns": device_ns(self.count) - begin_ns})
        self.host_ns = end + 5_000

    def run(self):
        for step in range(self.options.steps):
            begin = self.host_ns
            for number in range(self.options.ops):
                self.operator(number)
            if not self.options.no_comm:
                self.collective(step)
            self.launches.append((f"ProfilerStep#{step}", begin - 3_000, self.host_ns))


SLICE_BYTES = 1 << 21


def control_files(tree, options, side):
    device = [] if side == "host" else [{"id": 0, "ai_core_num": CUBE_CORES, "aiv_num": VECTOR_CORES, "hwts_frequency": str(DEVICE_MHZ),
                                         "aic_frequency": str(CORE_MHZ), "aiv_frequency": str(CORE_MHZ)}]
    aic, aiv, exact = GROUPS.get(options.metrics, ([], None, None))
    texts = lambda events: ",".join(f"{event:#x}" for event in events)
    end_ns = BEGIN_UTC_NS + 60_000_000_000
    info = {"version": "1.0", "hostname": "maker", "platform_version": str(options.chip), "pid": str(PID), "pid_name": "train", "memoryTotal": 1 << 26,
            "cpuNums": 8, "rank_id": tree.rank, "drvVersion": 467473, "hostUid": "1", "CPU": [{"Frequency": str(HOST_MHZ)}], "DeviceInfo": device, "netCard": []}
    sample = {"profLevel": options.level, "ai_core_profiling_mode": "task-based", "ai_core_metrics": exact or options.metrics,
              "ai_core_profiling_events": texts(aic), "aiv_metrics": options.metrics, "aiv_profiling_events": texts(aiv or aic)}
    begin = {"collectionTimeBegin": str(BEGIN_UTC_NS // 1000), "collectionTimeEnd": "", "clockMonotonicRaw": str(BEGIN_MONOTONIC_NS)}
    section = "Host" if side == "host" else "Device0"
    files = {"info.json": json.dumps(info), "sample.json": json.dumps(sample), "start_info": json.dumps(begin),
             "end_info": json.dumps(dict(begin, collectionTimeEnd=str(end_ns // 1000))),
             "host_start.log": f"[{section}]\nclock_monotonic_raw: {BEGIN_MONOTONIC_NS}\ncntvct: {BEGIN_MONOTONIC_NS}\n"}
    if side != "host":
        files["dev_start.log"] = f"clock_monotonic_raw: {BEGIN_MONOTONIC_NS}\ncntvct: {DEVICE_COUNT}\n"
    if "no_end" in options.damage:
        del files["end_info"]
    return files


RECORD_BYTES = {"api_event": 40, "compact": 64, "additional": 256, "stars_soc": 64, "hwts": 64, "ffts_profile": 128, "aicore": 128, "ts_track": 40}


def record_bytes(family):
    return 1 if "_dic" in family else next((bytes_ for kind, bytes_ in RECORD_BYTES.items() if kind in family), 1)


def damaged(family, data, options, rng):
    size = record_bytes(family)
    data = bytearray(data)
    if "magic" in options.damage and size > 1:
        for at in range(0, len(data), size):
            if rng.random() < 0.1:
                data[at:at + 4] = b"\xff\xff\xff\xff"
    if "cut" in options.damage and size > 1:
        data = data[:-(size // 2)]
    return bytes(data)


def write_side(folder, families, suffix, options, rng):
    (folder / "data").mkdir(parents=True)
    for family, parts in families.items():
        data = damaged(family, b"".join(parts), options, rng)
        # Slices of the host are whole numbers of records.
        step = SLICE_BYTES if suffix else SLICE_BYTES // record_bytes(family) * record_bytes(family)
        slices = [data[at:at + step] for at in range(0, len(data), step)] or [b""]
        if "slice" in options.damage and len(slices) < 3 and len(parts) > 2:
            third = (len(parts) + 2) // 3
            slices = [b"".join(parts[at:at + third]) for at in range(0, len(parts), third)]
        for number, piece in enumerate(slices):
            if "slice" in options.damage and number == len(slices) // 2 and len(slices) > 2:
                continue
            (folder / "data" / f"{family}{suffix}.slice_{number}").write_bytes(piece)


def write_rank(out, rank, options):
    rng = random.Random(options.seed * 1009 + rank)
    tree = Tree(rank, options)
    training = Training(tree, options, rng)
    training.run()
    if "back" in options.damage:
        parts = tree.host["aging.api_event.data"]
        parts.append(parts.pop(0))
    tree.add("unaging.additional.hash_dic", "".join(f"{key}:{text}\n" for key, text in tree.texts.items()).encode())
    tree.add("unaging.additional.type_info_dic", "".join(f"{level}_{kind}:{text}\n" for (level, kind), text in tree.types.items()).encode())
    capture = out / f"rank_{rank}"
    if options.framework:
        capture = out / f"maker_{rank}_20231114221320000_ascend_pt"
        write_framework(capture, rank, training.launches)
    folder = capture / f"PROF_{rank + 1:06d}_20231114221320000_{PID:08d}ABCDEFGH"
    if "no_host" not in options.damage:
        write_side(folder / "host", tree.host, "", options, rng)
        for name, text in control_files(tree, options, "host").items():
            (folder / "host" / name).write_text(text)
    if "no_device" not in options.damage:
        write_side(folder / "device_0", {f"{family}.data": parts for family, parts in tree.device.items()}, ".0", options, rng)
        for name, text in control_files(tree, options, "device").items():
            (folder / "device_0" / (name if name == "sample.json" else f"{name}.0")).write_text(text)
    return dict(tree.truth, folder=str(folder.relative_to(out)))


def write_framework(capture, rank, launches):
    """The operators that launched the kernels, as torch_npu records them."""
    (capture / "FRAMEWORK").mkdir(parents=True)
    records = [make_framework.op_range(name, begin, end, pid=PID, tid=THREAD, scope=7 if name.startswith("ProfilerStep") else 0) for name, begin, end in launches]
    (capture / "FRAMEWORK" / "torch.op_range").write_bytes(b"".join(records))
    info = {"config": {"common_config": {"activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"]},
                       "experimental_config": {"_profiler_level": "Level1", "_export_type": ["text"]}},
            "rank_id": rank, "start_info": {"freq": {"base": 100, "freq": 1000}, "start_cnt": BEGIN_MONOTONIC_NS, "start_monotonic": BEGIN_MONOTONIC_NS, "syscnt_enable": False},
            "end_info": {"collectionTimeEnd": BEGIN_UTC_NS + 60_000_000_000}}
    (capture / f"profiler_info_{rank}.json").write_text(json.dumps(info))


def parse(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("out", type=pathlib.Path)
    for name, default in (("--steps", 2), ("--ops", 8), ("--ranks", 1), ("--chip", 5), ("--wrap", 65536), ("--seed", 1)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--level", choices=("l0", "l1"), default="l1")
    parser.add_argument("--metrics", default="PipeUtilization", choices=["", *GROUPS])
    parser.add_argument("--damage", nargs="*", default=[], choices=("cut", "magic", "slice", "no_end", "no_host", "no_device", "back"))
    parser.add_argument("--no-comm", action="store_true")
    parser.add_argument("--framework", action="store_true")
    return parser.parse_args(words)


def make(words):
    options = parse([str(word) for word in words])
    options.out.mkdir(parents=True, exist_ok=True)
    truth = [write_rank(options.out, rank, options) for rank in range(options.ranks)]
    (options.out / "truth.json").write_text(json.dumps(truth, indent=1))
    return truth


if __name__ == "__main__":
    make(sys.argv[1:])
