"""The result files of a simulated rank, but for the trace: csv and json, with the conventions of the real ones
(CRLF rows and TAB-suffixed times where the framework writes, LF where the exporter does)."""

import csv
import json

from sample_communication import communication, communication_matrix
from sample_steps import step_of, step_ranges
from sample_trace import overlap_slices, sample_times, us_text, write_trace

CUBE_CORES = 24
AIC_PARTS = {"mac": 0.62, "scalar": 0.21, "mte1": 0.48, "mte2": 0.71, "fixpipe": 0.12}
AIV_PARTS = {"vec": 0.41, "scalar": 0.09, "mte2": 0.57, "mte3": 0.33}
MODULES = {"APP": 524288, "GE": 24576, "HCCL": 204800, "RUNTIME": 40960, "SLOG": 0}
STREAM_POINTER = 187650913


def us(ns):
    """Microseconds as the tools write them: at most three decimals."""
    return round(ns / 1000, 3)


def tabbed(ns):
    return us_text(ns) + "\t"


def write_csv(path, header, rows, row_end):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator=row_end)
        writer.writerow(header)
        writer.writerows(rows)


# Kernels.

def pmu_header():
    aic = [text for part in AIC_PARTS for text in (f"aic_{part}_time(us)", f"aic_{part}_ratio")]
    aiv = [text for part in AIV_PARTS for text in (f"aiv_{part}_time(us)", f"aiv_{part}_ratio")]
    return ["aicore_time(us)", "aic_total_cycles", *aic, "aic_icache_miss_rate",
            "aiv_time(us)", "aiv_total_cycles", *aiv, "aiv_icache_miss_rate", "cube_utilization(%)"]


def pmu_part(active, task, parts, miss_rate):
    """Time, cycles and pipe usage of one kind of core."""
    if not active:
        return [0.0, 0, *[0.0] * (2 * len(parts)), 0.0], 0
    busy = task.end - task.begin - 1600
    cycles = busy * task.mhz * task.kernel.blocks // 1000
    usage = [value for ratio in parts.values() for value in (us(round(busy * ratio)), ratio)]
    return [us(busy), cycles, *usage, miss_rate], cycles


def pmu(task):
    core = task.kernel.core
    aic, cycles = pmu_part(core != "AI_VECTOR_CORE", task, AIC_PARTS, 0.002)
    aiv, _ = pmu_part(core != "AI_CORE", task, AIV_PARTS, 0.017)
    utilization = cycles * 100_000 / (task.mhz * CUBE_CORES * (task.end - task.begin))
    return [*aic, *aiv, round(utilization, 3)]


def texts(shapes, text):
    return ";".join(text for _ in shapes.split(";"))


def kernel_row(task):
    k = task.kernel
    return [4294967295, task.task_id, task.stream, k.name, k.type, "dynamic", k.core], \
           [k.blocks, 2 * k.blocks if k.core == "MIX_AIC" else 0, "NO",
            f'"{k.inputs}"', texts(k.inputs, "DT_BF16"), texts(k.inputs, "ND"),
            f'"{k.outputs}"', texts(k.outputs, "DT_BF16"), texts(k.outputs, "ND"),
            0 if task.subtask == 0 else "N/A", *pmu(task)]


def collective_row(collective):
    return [4294967295, "N/A", "N/A", collective.name, collective.name.split("__")[0] + "_", "N/A", "HCCL"], \
           [0, *["N/A"] * (9 + len(pmu_header()))]


def write_kernel_details(rank, path):
    header = ["Step Id", "Model ID", "Task ID", "Stream ID", "Name", "Type", "OP State", "Accelerator Core", "Start Time(us)",
              "Duration(us)", "Wait Time(us)", "Block Dim", "Mix Block Dim", "HF32 Eligible", "Input Shapes", "Input Data Types",
              "Input Formats", "Output Shapes", "Output Data Types", "Output Formats", "Context ID", *pmu_header()]
    found = [(t, kernel_row(t)) for t in rank.tasks if t.kernel] + [(c, collective_row(c)) for c in rank.collectives]
    ranges = step_ranges(rank)
    rows, previous_end = [], None
    for item, (left, right) in sorted(found, key=lambda pair: pair[0].begin):
        wait = 0 if previous_end is None else max(0, item.begin - previous_end)
        rows.append([step_of(ranges, item.begin), *left, tabbed(item.begin), us(item.end - item.begin), us(wait), *right])
        previous_end = item.end
    write_csv(path, header, rows, "\r\n")


def write_l2_cache(rank, path):
    kernels = [t for t in rank.tasks if t.kernel][1:]  # the first one is never there
    rows = [[t.stream, t.task_id, "N/A", round(0.02 + 0.0007 * (t.task_id % 300), 6), t.name] for t in kernels]
    write_csv(path, ["Stream Id", "Task Id", "Hit Rate", "Victim Rate", "Op Name"], rows, "\n")


# Statistics.

def grouped(pairs):
    groups = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def write_op_statistic(rank, path):
    groups = grouped(((t.kernel.type, t.kernel.core), t.end - t.begin) for t in rank.tasks if t.kernel)
    whole = sum(map(sum, groups.values()))
    rows = [[*key, len(d), us(sum(d)), us(min(d)), us(sum(d) / len(d)), us(max(d)), round(sum(d) / whole * 100, 3)]
            for key, d in sorted(groups.items(), key=lambda group: -sum(group[1]))]
    write_csv(path, ["OP Type", "Core Type", "Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)", "Ratio(%)"],
              rows, "\n")


def write_api_statistic(rank, path):
    groups = grouped(((c.level, c.name), (c.end - c.begin) / 1000) for c in rank.calls)
    rows = []
    for key, d in sorted(groups.items()):
        mean = sum(d) / len(d)
        variance = sum((x - mean) ** 2 for x in d) / len(d)
        rows.append([*key, round(sum(d), 3), len(d), round(mean, 3), min(d), max(d), round(variance, 3)])
    write_csv(path, ["Level", "API Name", "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)", "Variance"], rows, "\n")


# Operators and steps.

def device_ns(op, only_aicore):
    return sum(t.end - t.begin for t in op.tasks if not only_aicore or getattr(t, "task_type", "") == "AI_CORE")


def write_operator_details(rank, path):
    header = ["Name", "Input Shapes", "Call Stack", "Host Self Duration(us)", "Host Total Duration(us)", "Device Self Duration(us)",
              "Device Total Duration(us)", "Device Self Duration With AICore(us)", "Device Total Duration With AICore(us)"]
    children = {}
    for op in rank.ops:
        children.setdefault(id(op.parent), []).append(op)

    def device_total(op, only_aicore):
        return device_ns(op, only_aicore) + sum(device_total(child, only_aicore) for child in children.get(id(op), []))

    rows = []
    for op in sorted(rank.ops, key=lambda op: op.begin):
        if op.name.startswith("ProfilerStep#"):
            continue
        total = op.end - op.begin
        own = total - sum(child.end - child.begin for child in children.get(id(op), []))
        rows.append([op.name, op.dims, op.stack, us(own), us(total), us(device_ns(op, False)), us(device_total(op, False)),
                     us(device_ns(op, True)), us(device_total(op, True))])
    write_csv(path, header, rows, "\r\n")


def write_step_trace(rank, path):
    header = ["Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Free", "Stage", "Bubble",
              "Communication(Not Overlapped and Exclude Receive)", "Preparing"]
    rows = []
    for number, host_begin, begin, end in step_ranges(rank):
        slices = [(kind, part) for kind, part in overlap_slices(rank) if begin <= part[0] < end]
        total = {kind: sum(p[1] - p[0] for k, p in slices if k == kind) for kind in
                 ("Computing", "Communication", "Communication(Not Overlapped)", "Free")}
        exposed = total["Communication(Not Overlapped)"]
        stage = max(part[1] for _, part in slices) - min(part[0] for _, part in slices)
        preparing = min(part[0] for kind, part in slices if kind in ("Computing", "Communication")) - host_begin
        rows.append([number, us(total["Computing"]), us(exposed), us(total["Communication"] - exposed), us(total["Communication"]),
                     us(total["Free"]), us(stage), 0, us(exposed), us(preparing)])
    write_csv(path, header, rows, "\r\n")


# Memory.

def mb(size):
    return size / (1 << 20)


def write_memory_record(rank, path):
    device = f"NPU:{rank.rank}"
    rows = [["APP", tabbed(time), "", 512.0, "", "", device] for time in sample_times(rank)]
    records = sorted([(time, 0, totals) for time, totals in rank.memory] + [(time, 1, totals) for time, totals in rank.ge_memory])
    latest = {0: (0, 0, 0), 1: (0, 0)}
    for time, kind, totals in records:
        latest[kind] = totals
        active = "" if kind else mb(totals[2])
        pointer = STREAM_POINTER if latest[0][1] else ""
        rows.append([("PTA", "GE")[kind], tabbed(time), mb(totals[0]), mb(totals[1]), active, "" if kind else pointer, device])
        rows.append(["PTA+GE", tabbed(time), *(mb(latest[0][i] + latest[1][i]) for i in (0, 1)), mb(latest[0][2]), pointer, device])
    write_csv(path, ["Component", "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)", "Total Active(MB)", "Stream Ptr",
                     "Device Type"], rows, "\r\n")


def write_operator_memory(rank, path):
    header = ["Name", "Size(KB)", "Allocation Time(us)", "Release Time(us)", "Active Release Time(us)", "Duration(us)",
              "Active Duration(us)", "Allocation Total Allocated(MB)", "Allocation Total Reserved(MB)",
              "Allocation Total Active(MB)", "Release Total Allocated(MB)", "Release Total Reserved(MB)",
              "Release Total Active(MB)", "Stream Ptr", "Device Type"]
    device = f"NPU:{rank.rank}"
    rows = [[b.name, b.size / 1024, tabbed(b.begin), tabbed(b.end), tabbed(b.active_end), tabbed(b.end - b.begin),
             tabbed(b.active_end - b.begin), *map(mb, b.totals), *map(mb, b.end_totals), STREAM_POINTER, device] for b in rank.blocks]
    rows += [[f"cann::{b.name}", b.size / 1024, tabbed(b.begin), tabbed(b.end), "", us(b.end - b.begin), "",
              *map(mb, b.totals), "", *map(mb, b.end_totals), "", "", device] for b in rank.ge_blocks]
    write_csv(path, header, rows, "\r\n")


def write_module_memory(rank, path):
    rows = [[module, tabbed(time), kilobytes / 1024, f"NPU:{rank.rank}"]
            for module, kilobytes in MODULES.items() for time in sample_times(rank)]
    write_csv(path, ["Component", "Timestamp(us)", "Total Reserved(MB)", "Device"], rows, "\n")


# Facts about the run.

def profiler_info(rank):
    monotonic = 86_400_000_000_000
    return {
        "config": {
            "common_config": {
                "activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"],
                "schedule": {"wait": 0, "active": len(rank.steps), "warmup": 1, "repeat": 1, "skip_first": rank.steps[0][0] - 1},
                "record_shapes": True, "profile_memory": True, "with_stack": True, "with_flops": False, "with_modules": True},
            "experimental_config": {
                "_profiler_level": "Level1", "_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION", "_l2_cache": True,
                "_msprof_tx": False, "_data_simplification": True, "record_op_args": False, "_export_type": "text",
                "_op_attr": False, "_gc_detect_threshold": None}},
        "start_info": {"syscnt_enable": True, "freq": 100, "start_cnt": monotonic // 10, "start_monotonic": monotonic},
        "end_info": {"collectionTimeEnd": rank.now, "MonotonicTimeEnd": monotonic + rank.now - rank.begin},
        "rank_id": rank.rank,
    }


def profiler_metadata(rank, group):
    return {"parallel_group_info": {group: {"group_name": "default_group", "group_rank": rank.rank, "global_ranks": [0, 1]}},
            "ENV_VARIABLES": {"ASCEND_GLOBAL_LOG_LEVEL": "", "HCCL_RDMA_TC": "", "HCCL_RDMA_SL": "", "ACLNN_CACHE_LIMIT": ""}}


def write_rank(rank, folder, group):
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True, exist_ok=True)
    info, metadata = profiler_info(rank), profiler_metadata(rank, group)
    (folder / f"profiler_info_{rank.rank}.json").write_text(json.dumps(info, indent=4))
    (folder / "profiler_metadata.json").write_text(json.dumps(metadata, indent=4))
    write_trace(rank, output / "trace_view.json")
    write_kernel_details(rank, output / "kernel_details.csv")
    write_l2_cache(rank, output / "l2_cache.csv")
    write_op_statistic(rank, output / "op_statistic.csv")
    write_api_statistic(rank, output / "api_statistic.csv")
    write_operator_details(rank, output / "operator_details.csv")
    write_step_trace(rank, output / "step_trace_time.csv")
    write_memory_record(rank, output / "memory_record.csv")
    write_operator_memory(rank, output / "operator_memory.csv")
    write_module_memory(rank, output / "npu_module_mem.csv")
    (output / "communication.json").write_text(json.dumps(communication(rank, group)))
    (output / "communication_matrix.json").write_text(json.dumps(communication_matrix(rank, group)))
