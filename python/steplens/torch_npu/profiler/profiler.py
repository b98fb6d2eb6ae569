"""`profile` and `_KinetoProfile`, the trace handler, and offline analysis.

No public method raises: a failure is a message on standard error, and the training goes on.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from typing import Any, Callable, Optional

from ... import _analyse, _log, _paths, _rank
from ..._check import Checker, is_int, is_one_of
from ..._machine import Machine
from ..._metadata import Metadata
from ..._schedule import Action
from ..._session import Source
from . import _flops, _output, _settings
from ._constants import ProfilerAction

__all__ = ["_KinetoProfile", "analyse", "profile", "tensorboard_trace_handler"]

_MAX_TRACE_ID = 1024
_STACK_METRICS = ("self_cpu_time_total", "self_npu_time_total")
_child_threads = threading.local()
_ACTIONS = list(Action)


class _KinetoProfile:
    """Records from start() to stop(), without a schedule. What it wrote is removed when the object dies, unless
    ASCEND_WORK_PATH or a handler gives it a place: it is meant for the exports."""

    _machine: Optional[Machine] = None  # None: the constructor failed, every method says so

    @_log.guarded()
    def __init__(self, *, activities=None, record_shapes=False, profile_memory=False, with_stack=False,
                 with_modules=False, with_flops=False, experimental_config=None, custom_trace_id_callback=None):
        self._set_up(_settings.Settings(
            activities=activities, record_shapes=record_shapes, profile_memory=profile_memory, with_stack=with_stack,
            with_modules=with_modules, with_flops=with_flops, experimental_config=experimental_config,
            custom_trace_id_callback=custom_trace_id_callback))

    def _set_up(self, given: _settings.Settings, source: Source = Source.API) -> None:
        checked = _settings.check(given)
        self._config = checked.config
        self._schedule = checked.schedule
        self._on_trace_ready = checked.on_trace_ready
        self._metadata = Metadata(_log.warning, max_chars=4096, max_bytes=50 * 1024)
        self._trace_id = ""
        self._trace_id_callback: Optional[Callable[[], str]] = None
        self._export_only = False
        self._stopped = True
        if given.custom_trace_id_callback is not None:
            self._use_trace_id_callback(given.custom_trace_id_callback)
        machine = Machine(self._config, source, self._new_directory, self._all_metadata, self._trace_ready)
        if self._config.with_flops and self._config.mstx:
            machine.on_start, machine.on_stop = _flops.install, _flops.remove
        self._machine = machine

    # ---- Life -----------------------------------------------------------------------------------------------------

    @_log.guarded()
    def start(self):
        if not self._may_start():
            return
        self._export_only = True
        self._stopped = False
        self._running_machine().start(Action.RECORD)

    @_log.guarded()
    def stop(self):
        machine = self._running_machine()
        if self._stopped:
            _log.warning("Profiler is stopped already.")
            return
        self._stopped = True
        machine.stop(complains=False)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if self._machine is not None and not self._stopped:
            self.stop()

    def __del__(self):
        try:
            self.__exit__(None, None, None)
            self._forget_exports()
        except Exception:  # the interpreter may be half gone
            pass

    def _forget_exports(self) -> None:
        if self._machine is not None:
            _output.remove_export_only(self._machine.directory)

    # ---- Exports --------------------------------------------------------------------------------------------------

    @_log.guarded()
    def export_chrome_trace(self, output_path: str):
        _analyse.export(self._finished_capture(), "chrome_trace", _checked_output(output_path))

    @_log.guarded()
    def export_stacks(self, output_path: str, metric: str = _STACK_METRICS[0]):
        if not self._config.with_stack:
            _log.warning("Function export_stacks() requires with_stack=True.")
            return
        metric = Checker().one_of("Parameter metric", metric, _STACK_METRICS, _STACK_METRICS[0])
        output = os.path.splitext(_checked_output(output_path))[0] + ".log"
        _analyse.export(self._finished_capture(), "stacks", output, metric=metric)

    @_log.guarded()
    def export_memory_timeline(self, output_path: str, device: str = "npu:0"):
        missing = [name for name in ("record_shapes", "profile_memory") if not getattr(self._config, name)]
        if not (self._config.with_stack or self._config.with_modules):
            missing.append("with_stack or with_modules")
        if missing:
            _log.warning(f"Function export_memory_timeline() requires {', '.join(missing)} to be True.")
            return
        _analyse.export(self._finished_capture(), "memory_timeline", _checked_output(output_path), device=device)

    def _finished_capture(self) -> str:
        directory = self._running_machine().directory
        if not self._stopped and self._machine.action is not Action.NONE:
            raise RuntimeError("the profiler is still recording, stop it first")
        if directory is None or not os.path.isdir(directory):
            raise RuntimeError("nothing was recorded")
        return directory

    # ---- Metadata -------------------------------------------------------------------------------------------------

    @_log.guarded()
    def add_metadata(self, key: str, value: str):
        self._metadata.add(key, value)

    @_log.guarded()
    def add_metadata_json(self, key: str, value: str):
        self._metadata.add_json(key, value)

    @_log.guarded()
    def set_custom_trace_id_callback(self, callback: Callable[[], str]):
        self._use_trace_id_callback(callback)

    @_log.guarded("")
    def get_trace_id(self) -> str:
        return self._trace_id

    def _use_trace_id_callback(self, callback: Any) -> None:
        if callable(callback):
            self._trace_id_callback = callback
        else:
            _log.warning("custom_trace_id_callback cannot be called; the default trace id is used.")
            self._trace_id_callback = None

    def _new_trace_id(self) -> str:
        if self._trace_id_callback is not None:
            try:
                value = self._trace_id_callback()
                if isinstance(value, str) and len(value) <= _MAX_TRACE_ID:
                    return value
                reason = f"did not return a str of at most {_MAX_TRACE_ID} characters"
            except Exception as problem:  # code of the user
                reason = f"failed: {_log.describe(problem)}"
            _log.warning(f"custom_trace_id_callback {reason}; the default trace id is used.")
        return uuid.uuid4().hex.upper()

    # ---- Called by the machine ------------------------------------------------------------------------------------

    def _new_directory(self) -> str:
        self._trace_id = self._new_trace_id()
        self._config.rank, self._config.rank_is_text = _rank.torch_rank()
        place = getattr(self._on_trace_ready, "place", None) or _output.last_place()
        directory = _output.new_directory(place, self._export_only)
        self._config.output_dir = os.path.dirname(directory)
        self._config.worker_name = place.worker
        return directory

    def _all_metadata(self) -> dict:
        metadata = dict(self._metadata.values)
        if "text" in self._config.export:
            metadata["ENV_VARIABLES"] = _settings.environment_metadata()
        metadata["trace_id"] = self._trace_id
        return metadata

    def _trace_ready(self, _directory: str) -> None:
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)

    def _running_machine(self) -> Machine:
        if self._machine is None:
            raise RuntimeError("the profiler could not be constructed")
        return self._machine

    def _may_start(self) -> bool:
        if self._running_machine().started and not self._stopped:
            _log.warning("Profiler is started already; the second start is refused.")
            return False
        return True

    # ---- Other threads --------------------------------------------------------------------------------------------

    @classmethod
    @_log.guarded()
    def enable_profiler_in_child_thread(cls, record_shapes=False, profile_memory=False, with_stack=False,
                                        with_flops=False, with_modules=False):
        """For programs that ask for it: while a capture runs, operators and Python functions of all threads are recorded
        anyway, with the switches of the capture."""
        given = {"record_shapes": record_shapes, "profile_memory": profile_memory, "with_stack": with_stack,
                 "with_flops": with_flops, "with_modules": with_modules}
        for name, value in given.items():
            Checker().boolean(f"Parameter {name}", value)
        if getattr(_child_threads, "enabled", False):
            _log.warning("The profiler is enabled in this thread already.")
        _child_threads.enabled = True

    @classmethod
    @_log.guarded()
    def disable_profiler_in_child_thread(cls):
        if not getattr(_child_threads, "enabled", False):
            _log.warning("The profiler is not enabled in this thread.")
        _child_threads.enabled = False


class profile(_KinetoProfile):
    """Records the steps that a schedule chooses, each cycle into a folder of its own; without one, all from start() to
    stop(). `on_trace_ready` is called with this object after each finished capture."""

    _source = Source.API
    _step_label = 0  # added to the step number in the names of step ranges

    @_log.guarded()
    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
                 with_stack=False, with_modules=False, with_flops=False, experimental_config=None,
                 execution_trace_observer=None, custom_trace_id_callback=None, use_cuda=None):
        self._set_up(_settings.Settings(
            activities=activities, schedule=schedule, on_trace_ready=on_trace_ready, record_shapes=record_shapes,
            profile_memory=profile_memory, with_stack=with_stack, with_modules=with_modules, with_flops=with_flops,
            experimental_config=experimental_config, custom_trace_id_callback=custom_trace_id_callback,
            use_cuda=use_cuda), self._source)
        self._observer = execution_trace_observer
        self._step_number = 0

    @property
    def step_num(self) -> int:
        return self._step_number

    @_log.guarded()
    def start(self):
        if not self._may_start():
            return
        self._stopped = False
        self._export_only = self._on_trace_ready is None
        self._running_machine().start(self._action(), self._range_number())
        self._call_observer("start")

    @_log.guarded(looks_for_conflict=False)
    def step(self):
        if self._machine is None:
            return  # the constructor has said why
        if self._stopped:
            _log.warning("Profiler is stopped, step takes no effect!")
            return
        self._step_number += 1
        self._machine.step(self._action(), self._range_number())

    @_log.guarded()
    def stop(self):
        machine = self._running_machine()
        if self._stopped:
            _log.warning("Profiler is stopped already.")
            return
        self._stopped = True
        machine.stop(complains=self._schedule is not None)
        self._call_observer("stop")

    def _forget_exports(self) -> None:
        pass  # the capture stays: offline analysis may follow

    def _range_number(self) -> Optional[int]:
        return None if self._schedule is None else self._step_number + self._step_label

    def _action(self) -> Action:
        if self._schedule is None:
            return Action.RECORD
        try:
            action = self._schedule(self._step_number)
            if isinstance(action, ProfilerAction):
                return _ACTIONS[action.value]
            problem = f"it returned {action!r}, which is no ProfilerAction"
        except Exception as raised:  # code of the user
            problem = _log.describe(raised)
        _log.error(f"Call schedule failed. Exception: {problem}")
        return Action.NONE

    def _call_observer(self, name: str) -> None:
        if self._observer is not None:
            getattr(self._observer, name)()


class _TraceHandler:
    """An on_trace_ready that analyses the finished capture. `mode`: no, sync or async; `place`: where captures go."""

    def __init__(self, mode: str, place: _output.Place):
        self.mode = mode
        self.place = place

    def __call__(self, finished: _KinetoProfile) -> None:
        if self.mode == "no":
            return
        directory = finished._machine.directory
        _log.info(f"Start parsing profiling data in {self.mode} mode at: {directory}")
        begin = time.monotonic()
        done = _analyse.analyse(directory, finished._config.export, wait=self.mode == "sync")
        if done and self.mode == "sync":
            _log.info(f"All profiling data parsed in a total time of {time.monotonic() - begin:.3f} s.")


@_log.guarded()
def tensorboard_trace_handler(dir_name: str | None = None, worker_name: str | None = None, analyse_flag: bool = True,
                              async_mode: bool = False) -> Optional[_TraceHandler]:
    """A handler for `on_trace_ready`. The place is set now, not when a capture is finished."""
    place = _output.set_place(dir_name, worker_name)
    checker = Checker(_log.warning)
    analyses = checker.boolean("Parameter analyse_flag", analyse_flag, True)
    in_background = checker.boolean("Parameter async_mode", async_mode, False)
    return _TraceHandler(("async" if in_background else "sync") if analyses else "no", place)


@_log.guarded()
def analyse(profiler_path: str, max_process_number: int = max(1, (os.cpu_count() or 1) // 2),
            export_type: str | list | None = None):
    """Analyses the capture at `profiler_path`, or those directly below it."""
    analyse_below(profiler_path, max_process_number, export_type)


def analyse_below(profiler_path: str, max_process_number: Any, export_type: Any, deep: bool = False) -> None:
    """`deep`: captures at any depth."""
    if _analyse.refuses():
        return
    cores = os.cpu_count() or 1
    if not is_int(max_process_number) or max_process_number <= 0:
        default = max(1, cores // 2)
        _log.warning(f"Parameter max_process_number must be a positive int; it is set to {default}.")
        max_process_number = default
    elif max_process_number > cores:
        _log.warning(f"Parameter max_process_number is larger than the number of cores; it is set to {cores}.")
        max_process_number = cores
    captures = _paths.captures(os.path.realpath(os.path.expanduser(profiler_path)), deep)
    if captures:
        _analyse.analyse_all(captures, _checked_export(export_type), max_process_number)


def _checked_export(value: Any) -> Optional[list]:
    if value is None:
        return None
    types = [value] if isinstance(value, str) else value
    if isinstance(types, list) and types and all(is_one_of(item, ("text", "db")) for item in types):
        return list(dict.fromkeys(types))
    _log.warning("Parameter export_type must be text, db or a list of these; the types that were recorded are used.")
    return None


def _checked_output(path: Any) -> str:
    if not isinstance(path, str) or not path:
        raise ValueError("the path of the file to write must be a str")
    return os.path.abspath(os.path.expanduser(path))
