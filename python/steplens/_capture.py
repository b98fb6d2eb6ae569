"""One capture of this process: what a Config asks for, switched on and off in the order a profiler does it.

    capture = Capture(config, directory)     # the folder is made, the writer runs, nothing is kept yet
    capture.warmup(); capture.start(); capture.stop()
    capture.finalize(metadata)               # or capture.discard()

Used by one thread at a time. Every method may raise CaptureError with a sentence for the user; what was recorded until then is
in the folder. Without a device of the vendor the CPU is the device: operators are recorded even if only the device's activity
was asked for, because they are all a device does here.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from typing import Any, Optional

from . import _device, _log, _rank, _versions
from ._config import Config

_LARGE_BUFFER = 4 << 20  # of a thread whose operators carry tensors: records are larger, and the writer may be as late as with small ones
_HOST_BITS = {"cpu": 1, "mem": 2, "disk": 4, "network": 8}


class CaptureError(Exception):
    """Recording is not possible; the text says why."""


def _native() -> Any:
    try:
        from . import _native as module
    except ImportError as problem:
        raise CaptureError(f"the native part of steplens is missing or cannot be loaded ({problem}); build it with "
                           "'pip install ./python' or use the build tree: PYTHONPATH=build/python") from problem
    return module


def preload(with_device: bool = False) -> None:
    """Loads what a capture needs, so that its start costs the training no more than the start itself. Problems are for the start to
    tell."""
    if "STEPLENS_RECORD" in os.environ and f"{__package__}._native" not in sys.modules:
        return  # the native part would begin to record by itself when it is loaded
    try:
        from . import _groups, _python_trace, _torch, _torch_patches  # noqa: F401

        _native()
        _torch.preload()
        from . import _pytrace  # noqa: F401

        if with_device:
            _device.look_for_libraries()
    except Exception:  # of whatever kind: nothing is recorded yet
        pass


class Capture:
    def __init__(self, config: Config, directory: str):
        self.config = config
        self.directory = directory
        self.statistics: dict[str, int] = {}  # of the finished capture: recorded, dropped, lost_on_write, bytes_written
        self._native = _native()
        self._open = False
        self._recording = False
        self._step_mark = 0
        self._groups: dict[str, Any] = {}
        if config.record_op_args:
            _tell_once("record_op_args has no effect: arguments of the device's operators are not dumped.")
        self._is_new = not os.path.lexists(directory)  # discard() removes the folder, with what the device wrote into it
        self._device = _device.open_device(config, directory)
        self._sources = _sources(config, self._device is not None)
        if config.data_process:
            from ._data_pipeline import DataPipeline

            self._sources.append(DataPipeline(directory, config.rank or 0))
        try:
            self._call("start", self._options())
        except CaptureError:
            self.discard()
            raise
        self._open = True

    # ---- The life of a capture ------------------------------------------------------------------------------------

    def warmup(self) -> None:
        """Everything that takes time for the first time: libraries are loaded, the device warms up."""
        for source in self._sources:
            source.prepare()
        if self._device is not None:
            self._device.warmup()

    def start(self) -> None:
        if self._recording or not self._open:
            raise CaptureError("this capture has been started already" if self._recording else "this capture is over")
        config = self.config
        self._native.mark_filter(config.mstx, _name_list(config.mstx_include), _name_list(config.mstx_exclude))
        if self._device is not None:
            self._device.start()
        self._recording = True
        for source in self._sources:
            source.prepare()
        self._native.resume()
        for source in self._sources:
            source.start()

    def stop(self) -> None:
        if not self._recording:
            return
        self._recording = False
        self._groups = _parallel_groups() or self._groups
        for source in reversed(self._sources):
            source.stop()
        self._native.pause()
        if self._device is not None:
            self._device.stop()

    def finalize(self, metadata: Optional[dict] = None) -> None:
        """Writes what belongs to the capture as a whole and closes it."""
        self.stop()
        if not self._open:
            return
        try:
            for source in self._sources:
                source.close()
            if self._device is not None:
                self._device.finalize()
            for key, value in self._metadata(metadata or {}).items():
                self._add_metadata(key, value)
        finally:  # on any failure the writer must end, or no other capture can begin
            self._open = self._is_new = False  # from here on the folder stays
            self.statistics = self._call("stop")
            self._name_info_of_one_card()
        lost = self.statistics["dropped"] + self.statistics["lost_on_write"]
        if lost:
            _log.error(f"{self.directory}: {lost} of {lost + self.statistics['recorded']} records were lost "
                       f"({self.statistics['dropped']} because buffers were full, {self.statistics['lost_on_write']} because "
                       "they could not be written).")

    def _name_info_of_one_card(self) -> None:
        """MindSpore's documents call the file of a job of one card profiler_info.json, its parser wants the rank in the name: it has both."""
        if self.config.framework != "mindspore" or self.config.rank or not _rank.is_one_card():
            return
        source = os.path.join(self.directory, "profiler_info_0.json")
        target = os.path.join(self.directory, "profiler_info.json")
        try:
            if os.path.exists(source) and not os.path.lexists(target):
                os.link(source, target)
        except OSError as problem:
            _log.warning(f"{target} is left out: {problem.strerror}")

    def discard(self) -> None:
        self.stop()
        if self._device is not None:
            self._device.finalize()
        is_open, self._open = self._open, False
        try:
            if is_open:
                self._call("discard")
        finally:
            if self._is_new:
                self._is_new = False
                shutil.rmtree(self.directory, ignore_errors=True)

    # ---- Steps ----------------------------------------------------------------------------------------------------

    def step_begin(self, step: int) -> None:
        if not self._groups:  # a program may take its groups down before the capture ends
            self._groups = _parallel_groups()
        self._native.step_begin(step)
        stream = _device.current_stream() if self._device is not None else 0
        self._step_mark = self._native.mark_start(f"{self.config.step_mark}{step}", None, stream)
        if self._device is not None and self._recording:
            self._device.step_begin()

    def step_end(self) -> None:
        if self._device is not None:
            self._device.step_end()
        self._native.mark_end(self._step_mark)
        self._step_mark = 0
        self._native.step_end()

    # ---- Parts ----------------------------------------------------------------------------------------------------

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self._native, name)(*arguments)
        except (RuntimeError, TypeError, ValueError) as problem:
            raise CaptureError(str(problem)) from problem

    def _add_metadata(self, key: str, value: Any) -> None:
        """An item that cannot be written must not keep the capture from its end."""
        try:
            self._call("metadata", _whole(key), _json(value))
        except CaptureError as problem:
            _log.warning(f"Metadata {key!r} is left out: {problem}")

    def _options(self) -> dict[str, Any]:
        config = self.config
        rank, is_text = (config.rank, config.rank_is_text) if config.rank is not None else _rank.torch_rank()
        mindspore = config.framework == "mindspore"
        return {
            "directory": os.fspath(self.directory),
            "rank": -1 if rank is None else rank,
            "rank_is_text": int(is_text),
            "config_json": None if mindspore else _json(config.info),
            "info_json": _json({**(config.info if mindspore else {}), **self._info()}),
            "host_sources": sum(_HOST_BITS.get(name, 0) for name in set(config.host_sys)),
            "thread_buffer_bytes": _LARGE_BUFFER if config.records_tensors else 0,
            "start_paused": 1,
            "mindspore": int(mindspore),
        }

    def _info(self) -> dict[str, Any]:
        """Members of profiler_info that tell readers what kind of machine this was."""
        versions = {"torch_npu_version": _versions.of("torch_npu"), "cann_version": _versions.cann()}
        return {**(versions if self.config.framework == "pytorch" else {}), "steplens_host": {
            "device": "cpu" if self._device is None else "npu",
            "host": _rank.host_name(),
            "pid": os.getpid(),
            "world_size": _rank.world_size(),
            "python": platform.python_version(),
            "torch": _versions.of("torch"),
            "sources": [source.name for source in self._sources],
        }}

    def _metadata(self, given: dict) -> dict:
        """What was given, in its order, and what the recorder knows; a trace id comes last, as readers expect."""
        out = {**self.config.metadata, **given}
        trace_id = out.pop("trace_id", None)
        if self._groups:
            out.setdefault("parallel_group_info", self._groups)
        if trace_id is not None:
            out["trace_id"] = trace_id
        return out


def _name_list(names: list) -> str:
    return _whole("".join(f"{name}\x1f" for name in names))


def _whole(text: str) -> str:
    """Zeros and halves of characters, which stand for bytes that are no UTF-8, become question marks: no reader takes them."""
    return text.encode("utf-8", "replace").decode().replace("\0", "?")


def _json(value: Any) -> str:
    return _whole(json.dumps(value, ensure_ascii=False))


_told: set[str] = set()


def _tell_once(text: str) -> None:
    if text not in _told:
        _told.add(text)
        _log.warning(text)


def _parallel_groups() -> dict[str, Any]:
    from . import _groups

    return _groups.parallel_group_info()


def _sources(config: Config, has_device: bool) -> list[Any]:
    """What is switched on, in the order in which it starts."""
    from . import _python_trace, _torch, _torch_patches

    cpu = "cpu" in config.activities
    stands_in = "npu" in config.activities and not has_device  # the CPU is the device
    operators = cpu or (stands_in and config.level != "none")
    sources: list[Any] = []
    if cpu and config.gc_detect_threshold is not None:
        sources.append(_python_trace.Collections(config.gc_detect_threshold))
    sources.append(_torch_patches.Patches())
    tracing = _python_trace.Calls(config.with_stack, config.with_modules) if config.needs_python_trace else None
    if operators or config.profile_memory or config.mstx:
        sources.append(_torch.Operators(config, operators, cpu, tracing))
    if tracing is not None:
        sources.append(tracing)
    return sources
