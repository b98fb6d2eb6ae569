"""The data pipeline of a training (MindSpore's `data_process`), seen at torch's DataLoader: how long each batch took, how full the queue of
its workers was, and their CPU time. Three files in FRAMEWORK/, in the layout of MindSpore's own data pipeline.

The loader that delivers the first batch of a capture is the pipeline; others are left alone.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from typing import Any, Optional

from . import _log

_INTERVAL_MS = 10  # between samples of CPU time
_TICKS = os.sysconf("SC_CLK_TCK")
_BATCH_OP, _DATASET_OP = 0, 1


def _cpu_seconds(process_ids: list[int]) -> tuple[float, float]:
    """User and system time of these processes; those that are gone count as 0."""
    user = system = 0
    for process_id in process_ids:
        try:
            with open(f"/proc/{process_id}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            user += int(fields[11])
            system += int(fields[12])
        except (OSError, ValueError, IndexError):
            continue
    return user / _TICKS, system / _TICKS


class DataPipeline:
    name = "data pipeline"

    def __init__(self, directory: str, number: int):
        self._folder = os.path.join(directory, "FRAMEWORK")
        self._number = number
        self._owner: Any = None
        self._original: Any = None
        self._iterator: Any = None  # the one that is followed
        self._lines: list[str] = []
        self._sizes: list[int] = []
        self._user: list[float] = []
        self._system: list[float] = []
        self._moments: list[int] = []
        self._batches = 0
        self._last_end_ns = 0
        self._last_cpu: Optional[tuple[int, float, float]] = None

    def prepare(self) -> None:
        pass

    def start(self) -> None:
        self._owner = getattr(sys.modules.get("torch.utils.data.dataloader"), "_BaseDataLoaderIter", None)
        if self._owner is None:
            _log.warning("data_process: the program has not loaded torch's DataLoader; there is no data pipeline to record.")
            return
        self._original = self._owner.__next__
        self._owner.__next__ = self._observing(self._original)

    def stop(self) -> None:
        if self._owner is not None and getattr(self._owner.__next__, "_steplens_pipeline", None) is self:
            self._owner.__next__ = self._original
        self._owner = None

    def close(self) -> None:
        if not self._batches:
            return
        try:
            self._write(f"pipeline_profiling_{self._number}.json", json.dumps(self._pipeline()))
            self._write(f"minddata_cpu_utilization_{self._number}.json", json.dumps(self._cpu()))
            self._write(f"dataset_iterator_profiling_{self._number}.txt", "".join(self._lines))
        except OSError as problem:
            _log.error(f"The data pipeline is lost: {problem}")
        self._iterator = None

    # ---- One batch --------------------------------------------------------------------------------------------------

    def _observing(self, deliver: Any) -> Any:
        @functools.wraps(deliver)
        def next_batch(iterator: Any) -> Any:
            begin_ns = time.monotonic_ns()
            batch = deliver(iterator)
            if self._iterator is None:
                self._iterator = iterator
            if self._iterator is iterator:
                self._note(begin_ns, time.monotonic_ns())
            return batch

        next_batch._steplens_pipeline = self
        return next_batch

    def _note(self, begin_ns: int, end_ns: int) -> None:
        batch, moment = self._batches, end_ns // 1_000_000
        self._batches += 1
        self._lines.append(f"0 0 {batch} {(end_ns - begin_ns) / 1e6:.3f} {moment}\n")
        if self._last_end_ns:
            self._lines.append(f"0 2 {batch} {(end_ns - self._last_end_ns) / 1e6:.3f} {moment}\n")
        self._last_end_ns = end_ns
        size = self._queue_size()
        if size is not None:
            self._sizes.append(size)
            self._lines.append(f"1 {self._capacity()} {batch} {size} {moment}\n")
        self._sample_cpu(end_ns)

    def _workers(self) -> list:
        return getattr(self._iterator, "_workers", [])

    def _capacity(self) -> int:
        return max(1, len(self._workers())) * int(getattr(self._iterator, "_prefetch_factor", None) or 1)

    def _queue_size(self) -> Optional[int]:
        """None: the program loads its data itself."""
        queue = getattr(self._iterator, "_data_queue", None)
        try:
            return None if queue is None else int(queue.qsize())
        except (NotImplementedError, OSError):
            return None

    def _sample_cpu(self, now_ns: int) -> None:
        if self._last_cpu is not None and now_ns - self._last_cpu[0] < _INTERVAL_MS * 1_000_000:
            return
        ids = [worker.pid for worker in self._workers() if worker.pid] or [os.getpid()]
        user, system = _cpu_seconds(ids)
        if self._last_cpu is not None:
            seconds = (now_ns - self._last_cpu[0]) / 1e9
            self._user.append(round(100 * (user - self._last_cpu[1]) / seconds, 2))
            self._system.append(round(100 * (system - self._last_cpu[2]) / seconds, 2))
            self._moments.append(now_ns // 1_000_000)
        self._last_cpu = (now_ns, user, system)

    # ---- The files --------------------------------------------------------------------------------------------------

    def _pipeline(self) -> dict:
        workers = max(1, len(self._workers()))
        queue = {"output_queue": {"length": self._capacity(), "size": self._sizes}} if self._sizes else None
        return {"sampling_interval": _INTERVAL_MS, "op_info": [
            {"op_id": _BATCH_OP, "op_type": "BatchOp", "num_workers": 1, "children": [_DATASET_OP], "metrics": None},
            {"op_id": _DATASET_OP, "op_type": "DatasetOp", "num_workers": workers, "metrics": queue}]}

    def _cpu(self) -> dict:
        def op(number: int, user: list, system: list) -> dict:
            return {"op_id": number, "metrics": {"user_utilization": user, "sys_utilization": system}}

        nothing = [0.0] * len(self._user)
        return {"cpu_processor_num": os.cpu_count() or 1, "device_info": {}, "sampling_interval": _INTERVAL_MS,
                "time_stamp": self._moments, "process_info": {}, "process_memory_info": {}, "system_memory_info": {},
                "op_info": [op(_BATCH_OP, nothing, nothing), op(_DATASET_OP, self._user, self._system)]}

    def _write(self, name: str, text: str) -> None:
        path = os.path.join(self._folder, name)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o640), "w", encoding="utf-8") as file:
            file.write(text)
