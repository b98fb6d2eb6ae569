"""The data pipeline of a capture: FRAMEWORK/{pipeline_profiling,minddata_cpu_utilization,dataset_iterator_profiling}_<id> to
ASCEND_PROFILER_OUTPUT/minddata_pipeline_{raw,summary}_<id>.{csv,json}.

A file that is missing or damaged costs what depends on it; `write` says so and raises nothing.
"""

from __future__ import annotations

import csv
import json
import os
import re
from typing import Any, Optional

from ... import _log
from . import _minddata_advice

RAW_COLUMNS = ("op_id", "op_type", "num_workers", "output_queue_size", "output_queue_average_size", "output_queue_length",
               "output_queue_usage_rate", "sample_interval", "parent_id", "children_id")
_TIME, _CONNECTOR = 0, 1  # kinds of lines
_PIPELINE, _PUSH, _BATCH = 0, 1, 2  # what a time is of
_SKIPPED_BATCHES = 2  # the first ones warm up


class Op:
    """One operation of the pipeline. `samples`: sizes of its output queue; None: it has none."""

    def __init__(self, given: dict[str, Any]):
        self.id = int(given["op_id"])
        self.type = str(given["op_type"])
        self.workers = int(given["num_workers"])
        self.children = [int(child) for child in given.get("children") or []]
        queue = (given.get("metrics") or {}).get("output_queue")
        self.samples: Optional[list] = None if not queue else [int(size) for size in queue["size"]]
        self.length = 0 if not queue else int(queue["length"])
        self.parent: Optional[int] = None

    @property
    def name(self) -> str:
        return self.type[:-2]

    @property
    def average(self) -> float:
        return sum(self.samples) / len(self.samples) if self.samples else 0.0

    @property
    def utilization_pct(self) -> float:
        return round(100 * self.average / self.length, 2) if self.samples and self.length else -1

    @property
    def empty_pct(self) -> float:
        return round(100 * self.samples.count(0) / len(self.samples), 2) if self.samples else -1


class Pipeline:
    """Raises KeyError, ValueError or TypeError if the description makes no sense."""

    def __init__(self, given: dict[str, Any]):
        self.interval_ms = given["sampling_interval"]
        self.ops = {op.id: op for op in map(Op, given["op_info"])}
        for op in self.ops.values():
            for child in op.children:
                self.ops[child].parent = op.id

    def raw_rows(self) -> list[list]:
        """Breadth first from operation 0. Children without a queue are replaced by their own."""
        rows, waiting, seen = [], [(self.ops[0], "")], {0}
        while waiting:
            op, parent = waiting.pop(0)
            children = [child for child in self._visible(op.children, set()) if child.id not in seen]
            seen.update(child.id for child in children)
            waiting += [(child, op.id) for child in children]
            has_queue = op.samples is not None
            rows.append([op.id, op.type, op.workers, op.samples if has_queue else "", op.average if has_queue else "",
                         op.length if has_queue else "", op.average / op.length if has_queue and op.length else "", self.interval_ms,
                         parent, [child.id for child in children] or ""])
        return rows

    def _visible(self, children: list, seen: set) -> list[Op]:
        out: list[Op] = []
        for child in children:
            if child in seen:
                continue
            seen.add(child)
            op = self.ops[child]
            out += [op] if op.samples is not None else self._visible(op.children, seen)
        return out

    def summary(self) -> dict[str, list]:
        ops = [self.ops[key] for key in sorted(self.ops)]
        return {
            "op_ids": [op.id for op in ops], "op_names": [op.name for op in ops],
            "pipeline_ops": [f"{op.name}(id={op.id})" for op in ops], "num_workers": [op.workers for op in ops],
            "queue_average_size": [round(op.average, 2) if op.samples else -1 for op in ops],
            "queue_utilization_pct": [op.utilization_pct for op in ops],
            "queue_empty_freq_pct": [op.empty_pct for op in ops],
            "children_ids": [op.children for op in ops], "parent_id": [-1 if op.parent is None else op.parent for op in ops],
        }


def cpu_percent(given: dict[str, Any]) -> dict[int, float]:
    """Operation -> mean of user and system time; -1 is the rest of the process and left out."""
    out = {}
    for op in given["op_info"]:
        metrics = op["metrics"]
        both = [user + system for user, system in zip(metrics["user_utilization"], metrics["sys_utilization"])]
        if op["op_id"] != -1:
            out[int(op["op_id"])] = round(sum(both) / len(both), 2) if both else 0.0
    return out


def batch_times(text: str, has_device_queue: bool) -> dict[str, list]:
    """Milliseconds a batch: in the pipeline, of the push to the device, and in all; [-1] where nothing is known."""
    times: dict[int, list[float]] = {_PIPELINE: [], _PUSH: [], _BATCH: []}
    moments: list[float] = []
    for line in text.splitlines():
        kind, extra, batch, value, moment = (float(word) for word in line.split())
        if batch < _SKIPPED_BATCHES:
            continue
        if kind == _TIME:
            times[int(extra)].append(value)
        elif kind == _CONNECTOR:
            moments.append(moment)
    if not has_device_queue and not times[_BATCH]:
        times[_BATCH] = [after - before for before, after in zip(moments, moments[1:])]
    mean = {key: [round(sum(values) / len(values), 3)] if values else [-1] for key, values in times.items()}
    return {"per_pipeline_time": mean[_PIPELINE], "per_push_queue_time": mean[_PUSH], "per_batch_time": mean[_BATCH]}


# ---- Files ------------------------------------------------------------------------------------------------------------


def write(capture: str) -> None:
    """Writes the files of the capture's pipeline, if it has one."""
    raw = os.path.join(capture, "FRAMEWORK")
    try:
        names = sorted(os.listdir(raw))
    except OSError:
        return
    for name in names:
        found = re.fullmatch(r"pipeline_profiling_(\d+)\.json", name)
        if found:
            try:
                _write_one(raw, os.path.join(capture, "ASCEND_PROFILER_OUTPUT"), found.group(1))
            except (OSError, ValueError, KeyError, TypeError, IndexError) as problem:
                _log.error(f"{os.path.join(raw, name)}: the data pipeline cannot be analysed: {_log.describe(problem)}")


def _write_one(raw: str, output: str, number: str) -> None:
    pipeline = Pipeline(_load(os.path.join(raw, f"pipeline_profiling_{number}.json")))
    os.makedirs(output, mode=0o750, exist_ok=True)
    _write_csv(os.path.join(output, f"minddata_pipeline_raw_{number}.csv"), [RAW_COLUMNS, *pipeline.raw_rows()])
    has_device_queue = os.path.exists(os.path.join(raw, f"device_queue_profiling_{number}.txt"))
    times = "device_queue_profiling" if has_device_queue else "dataset_iterator_profiling"
    cpu = cpu_percent(_load(os.path.join(raw, f"minddata_cpu_utilization_{number}.json")))
    with open(os.path.join(raw, f"{times}_{number}.txt"), encoding="utf-8") as file:
        batches = batch_times(file.read(), has_device_queue)
    summary: dict[str, list] = pipeline.summary()
    summary["avg_cpu_pct"] = [cpu.get(op, -1) for op in summary["op_ids"]]
    summary.update(batches)
    summary["avg_cpu_pct_per_worker"] = [round(percent / workers, 2) if workers > 0 and percent >= 0 else -1
                                         for percent, workers in zip(summary["avg_cpu_pct"], summary["num_workers"])]
    if len(cpu) == len(pipeline.ops):
        summary.update(_minddata_advice.advice(pipeline, summary))
    path = os.path.join(output, f"minddata_pipeline_summary_{number}")
    with open(path + ".json", "w", encoding="utf-8", opener=_private) as file:
        json.dump(summary, file, ensure_ascii=False)
    _write_csv(path + ".csv", [[key, *values] for key, values in summary.items()])


def _load(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o640)


def _write_csv(path: str, rows: list) -> None:
    with open(path, "w", encoding="utf-8", newline="", opener=_private) as file:
        csv.writer(file).writerows(rows)
