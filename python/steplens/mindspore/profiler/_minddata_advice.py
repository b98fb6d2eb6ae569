"""Which operation of a data pipeline holds the others up, and what to do about it."""

from __future__ import annotations

from typing import Any

_BUSY_PCT, _LAZY_PCT = 75, 20  # CPU time a worker
_STARVED_LEAF_PCT = 50  # use of the output queue
_EMPTY_DEVICE_QUEUE_PCT = 60
_FAR_APART_PCT = 50  # between the queues before and after an operation
_NEARLY_EMPTY_PCT = 10
_NO_WORK = ("Barrier", "Concat", "EpochCtrl", "Rename", "Repeat", "Shuffle", "Skip", "Take", "Zip", "DeviceQueue")


def advice(pipeline: Any, summary: dict) -> dict[str, list]:
    """Sentences; the last two lists are empty where nothing holds the pipeline up."""
    per_worker = dict(zip(summary["op_ids"], summary["avg_cpu_pct_per_worker"]))
    ops = [pipeline.ops[key] for key in sorted(pipeline.ops)]
    warning, suggestion = _bottleneck(pipeline, ops, per_worker)
    return {"cpu_analysis_details": [text for op in ops for text in _cpu(op, per_worker[op.id])],
            "queue_analysis_details": [text for op in ops for text in _queues(pipeline, op)],
            "bottleneck_warning": warning, "bottleneck_suggestion": suggestion}


def _cpu(op: Any, percent: float) -> list[str]:
    if percent > _BUSY_PCT:
        return [f"{op.name}(id={op.id}) is using {percent}% CPU per worker. Setting num_parallel_workers>{op.workers} might bring extra "
                "performance"]
    if 0 <= percent < _LAZY_PCT and op.workers > 1:
        return [f"{op.name}(id={op.id}) is using {percent}% CPU per worker. Using num_parallel_workers={op.workers} might not bring any "
                "extra performance"]
    return []


def _input_pct(pipeline: Any, op: Any) -> float:
    """Use of the queue an operation takes from: that of its first child; -1 if there is none."""
    return pipeline.ops[op.children[0]].utilization_pct if op.children else -1


def _queues(pipeline: Any, op: Any) -> list[str]:
    name = f"{op.name}(id={op.id})"
    if op.name == "Batch":
        return []
    if op.name == "DeviceQueue":
        empty = pipeline.ops[op.children[0]].empty_pct if op.children else -1
        return [f"The input queue of {name} is empty {empty}% of the time; the dataset cannot keep up with the device"] \
            if empty > _EMPTY_DEVICE_QUEUE_PCT else []
    if not op.children:
        return [f"The output queue of leaf {name} is used to {op.utilization_pct}%; more workers may help if it waits for I/O"] \
            if 0 <= op.utilization_pct < _STARVED_LEAF_PCT else []
    before = _input_pct(pipeline, op)
    if before >= 0 and op.utilization_pct >= 0 and before - op.utilization_pct > _FAR_APART_PCT:
        return [f"{name} is slower than what it takes from (queue before it {before}%, after it {op.utilization_pct}%); raise its "
                "prefetch_size or workers"]
    return []


def _bottleneck(pipeline: Any, ops: list, per_worker: dict) -> tuple[list[str], list[str]]:
    warning, suggestion = [], []
    for op in reversed(ops):  # a finding nearer to the root wins
        if op.name in _NO_WORK:
            continue
        percent = per_worker[op.id]
        name = f"{op.name}(id={op.id})"
        if percent > _BUSY_PCT:
            warning = [f"{name} is the bottleneck: it uses {percent}% CPU per worker"]
            suggestion = [f"Set num_parallel_workers>{op.workers} for {name}"]
        elif 0 <= percent < _LAZY_PCT and op.name != "Batch" and _waits(pipeline, op):
            warning = [f"{name} is the bottleneck: its queues are not in balance"]
            suggestion = [f"Raise prefetch_size of {name}"]
    return warning, suggestion


def _waits(pipeline: Any, op: Any) -> bool:
    before, after = _input_pct(pipeline, op), op.utilization_pct
    return 0 <= before < _NEARLY_EMPTY_PCT or (before >= 0 and after >= 0 and after - before > _FAR_APART_PCT)
