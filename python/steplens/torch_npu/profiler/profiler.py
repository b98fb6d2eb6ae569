"""`profile` and `_KinetoProfile`, the trace handler, and offline analysis.

No public method raises: a failure is a message on standard error, and the training goes on.
"""

from __future__ import annotations

import os
import threading
import uuid
from typing import Any, Callable, Optional

from ... import _analyse, _log, _rank
from ..._check import Checker
from ..._config import Config
from ..._machine import Machine
from ..._metadata import Metadata
from ..._places import place_of
from ..._schedule import Action, idle_until
from ..._session import Source
from . import _flops, _output, _settings
from ._constants import ProfilerAction
from ._handler import tensorboard_trace_handler
from ._offline import analyse
from ._schedule import schedule

__all__ = ["_KinetoProfile", "analyse", "profile", "tensorboard_trace_handler"]

_MAX_TRACE_ID = 1024
_STACK_METRICS = ("self_cpu_time_total", "self_npu_time_total")
_child_threads = threading.local()
_ACTIONS = list(Action)


class _KinetoProfile:
    """Records from start() to stop(), without a schedule. What it wrote is removed when the object dies, unless
    ASCEND_WORK_PATH or a handler gives it a place: it is meant for the exports."""

    _machine: Optional[Machine] = None  # None: the constructor failed, every method says so
    _step_mark = Config.step_mark

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
        self._config.step_mark = self._step_mark
        self._schedule = checked.schedule
        self._on_trace_ready = checked.on_trace_ready
        self._metadata = Metadata(_log.warning, max_chars=4096, max_bytes=50 * 1024)
        self._trace_id = ""
        self._trace_id_callback: Optional[Callable[[], str]] = None
        self._export_only = False
        self._stopped = True
        if given.custom_trace_id_callback is not None:
            self._use_trace_id_callback(given.custom_trace_id_callback)
        machine = Machine(self._config, source, *self._listeners())
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
        machine = self._machine
        if machine is None:
            return
        try:
            machine.listen(*self._listeners())
            self.__exit__(None, None, None)
            if machine.is_of_this_process:
                self._forget_exports()
        except Exception:  # the interpreter may be half gone
            pass

    def _forget_exports(self) -> None:
        _output.remove_export_only(self._running_machine().directory)

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

    def _listeners(self) -> tuple:
        return self._new_directory, self._all_metadata, self._trace_ready

    def _new_directory(self) -> str:
        self._trace_id = self._new_trace_id()
        self._config.rank, self._config.rank_is_text = _rank.torch_rank()
        if self._export_only:  # a handler's folder is for profilers with a handler
            place = _output.Place()
        else:
            place = place_of(self._on_trace_ready) or _output.last_place()
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
    _step_number = 0
    _idle_until = 0  # steps before this one change nothing

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
        self._look_ahead()
        self._call_observer("start")

    def step(self):
        number = self._step_number + 1
        if number < self._idle_until:  # as short as can be: most steps of a training are like this
            self._step_number = number
            return
        self._step()

    @_log.guarded(looks_for_conflict=False)
    def _step(self):
        if self._machine is None:
            return  # the constructor has said why
        if self._stopped:
            _log.warning("Profiler is stopped, step takes no effect!")
            return
        self._step_number += 1
        self._machine.step(self._action(), self._range_number())
        self._look_ahead()

    @_log.guarded()
    def stop(self):
        machine = self._running_machine()
        if self._stopped:
            _log.warning("Profiler is stopped already.")
            return
        self._stopped = True
        self._idle_until = 0
        machine.stop(complains=self._schedule is not None)
        if self._schedule is not None:
            machine.tell_if_idle(self._step_number)
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

    def _look_ahead(self) -> None:
        """Schedules of the user's own may change their mind; ours tell how long nothing will happen."""
        if type(self._schedule) is schedule:
            self._idle_until = idle_until(self._schedule, self._step_number)

    def _call_observer(self, name: str) -> None:
        if self._observer is not None:
            getattr(self._observer, name)()


def _checked_output(path: Any) -> str:
    if not isinstance(path, str) or not path:
        raise ValueError("the path of the file to write must be a str")
    return os.path.abspath(os.path.expanduser(path))
