"""`Profiler` and `profile`, the trace handlers, and offline analysis.

Paths that break the rules raise; everything else that goes wrong is a message, and the training goes on.
"""

from __future__ import annotations

import glob
import os
from typing import Any, Optional

from ... import _analyse, _log, _paths, _rank
from ..._check import is_int
from ..._machine import Machine
from ..._metadata import Metadata
from ..._places import place_of
from ..._schedule import Action, idle_until
from ..._session import Source
from . import _output
from ._experimental import _ExperimentalConfig
from ._parameters import Parameters
from ._path_rules import ProfilerPathError, check_input_directory, check_input_file

__all__ = ["Profiler", "analyse", "profile", "tensor_board_trace_handler", "tensorboard_trace_handler"]

_MAX_METADATA_BYTES = 100 << 20
_MODES = ("sync", "async")


class Profiler:
    """Records from start() to stop(), or the steps that `schedule` chooses. Parameters: `_parameters.KEYS`; unknown keywords
    are ignored. Starts at once unless start_profile=False."""

    _source = Source.API
    _machine: Optional[Machine] = None  # None: another profiler owns the process, or the constructor raised

    def __init__(self, **kwargs):
        if _log.in_conflict():
            return
        self._parameters = Parameters(kwargs)
        self._handler = self._parameters.on_trace_ready
        self._has_schedule = self._parameters.is_set_schedule
        self._set_output("output_path" in kwargs and kwargs["output_path"] is not None)
        self._config = self._parameters.config()
        self._config.analyse = getattr(self._handler, "mode", "no")
        self._metadata = Metadata(_log.warning, max_chars=None, max_bytes=_MAX_METADATA_BYTES)
        self._step_number = 0
        self._machine = Machine(self._config, self._source, *self._listeners(), keeps_empty=True)
        if self._parameters.start_profile:
            self.start()

    # ---- Life -----------------------------------------------------------------------------------------------------

    @_log.guarded()
    def start(self) -> None:
        machine = self._running_machine()
        if machine.started:
            _log.warning("Profiler is started already; the second start is refused.")
            return
        machine.start(self._action(), self._range_number())
        self._look_ahead()

    def step(self) -> None:
        number = self._step_number + 1
        if number < self._idle_until:  # as short as can be: most steps of a training are like this
            self._step_number = number
            return
        self._step()

    @_log.guarded(looks_for_conflict=False)
    def _step(self) -> None:
        machine = self._machine
        if machine is None:
            return  # the constructor has said why
        if not self._has_schedule:
            _log.error("Profiler has no schedule; step() has no effect.")
            return
        if not machine.started:
            _log.error("Profiler is not started; step() has no effect.")
            return
        self._step_number += 1
        machine.step(self._action(), self._range_number())
        self._look_ahead()

    @_log.guarded()
    def stop(self) -> None:
        machine = self._running_machine()
        if self._has_schedule and self._step_number == 0:
            _log.warning("Profiler has schedule, please use step() to collect data.")
            return
        if not machine.started:
            _log.error("Profiler is not started; stop() has no effect.")
            return
        self._idle_until = 0
        machine.stop(complains=self._has_schedule)
        if self._has_schedule:
            machine.tell_if_idle(self._step_number)

    @_log.guarded()
    def analyse(self, offline_path=None, pretty=False, step_list=None, mode="sync") -> None:
        """Stops, and analyses what was recorded. With a schedule that is the handler's work."""
        machine = self._running_machine()
        if offline_path is not None:
            _log.warning("Parameter offline_path is deprecated and has no effect, use Profiler.offline_analyse.")
        _check_pretty(pretty)
        steps = _checked_steps(step_list)
        if mode not in _MODES:
            _log.warning("Parameter mode must be sync or async; it is set to sync.")
            mode = "sync"
        if machine.started:
            self._idle_until = 0
            machine.stop(complains=self._has_schedule)
        if self._has_schedule:
            _log.warning("Profiler has schedule, please use on_trace_ready to analyse the data.")
            return
        if machine.directory is None:
            _log.error("Nothing was recorded; there is nothing to analyse.")
            return
        _analyse_capture(machine.directory, self._config.export, mode, steps)

    @classmethod
    def offline_analyse(cls, path: str, pretty=False, step_list=None, data_simplification=True) -> None:
        analyse(path, pretty=pretty, step_list=step_list, data_simplification=data_simplification)

    def op_analyse(self, op_name, device_id=None) -> str:
        """Statistics of operators by name were a service of CPU and GPU targets; `steplens ops` has them for all."""
        _log.error("op_analyse is deprecated and not available on this device; use: steplens ops PATH --by name")
        return "{}"

    def __enter__(self) -> "Profiler":
        if self._machine is not None and not self._machine.started:
            self.start()
        return self

    def __exit__(self, exc_type, exc_value, traceback) -> None:
        if self._machine is not None and self._machine.started:
            self.stop()

    def __del__(self):
        machine = self._machine
        try:
            if machine is not None and machine.started and machine.is_of_this_process:
                _log.warning("Profiler is stopped at the end of the object.")
                machine.listen(*self._listeners())
                machine.stop(complains=False)
        except Exception:  # the interpreter may be half gone
            pass

    # ---- Metadata -------------------------------------------------------------------------------------------------

    @_log.guarded()
    def add_metadata(self, key: str, value: str) -> None:
        self._metadata.add(key, value)

    @_log.guarded()
    def add_metadata_json(self, key: str, value: str) -> None:
        self._metadata.add_json(key, value)

    # ---- Parts ----------------------------------------------------------------------------------------------------

    def _set_output(self, is_given: bool) -> None:
        """Decides where captures go. Raises ProfilerPathError."""
        place = place_of(self._handler)
        if place is None:
            has_own_handler = self._handler is not None and not is_given
            place = _output.last_place() if has_own_handler else _output.Place()
        if place.directory and is_given:
            _log.warning("output_path and the folder of on_trace_ready are both given; the latter is used.")
        self._root = place.directory or _output.absolute(self._parameters.output_path)
        self._worker = place.worker
        self._parameters.output_path = self._root

    def _listeners(self) -> tuple:
        return self._new_directory, self._all_metadata, self._trace_ready

    def _all_metadata(self) -> dict:
        return dict(self._metadata.values)

    def _new_directory(self) -> str:
        rank = _rank.mindspore_rank()
        self._config.rank = int(rank)
        self._config.rank_is_text = True
        self._config.device_id = _rank.mindspore_device()
        self._config.output_dir = self._root
        self._config.worker_name = self._worker
        self._config.info = self._parameters.info(rank)
        return _output.new_directory(self._root, self._worker)

    def _trace_ready(self, _directory: str) -> None:
        if self._handler is not None and (self._has_schedule or self._calls_handler_without_schedule):
            self._handler(self)

    _calls_handler_without_schedule = False
    _idle_until = 0  # steps before it do nothing
    _step_number = 0
    _step_label = 0  # added to the step number in the names of step ranges

    def _look_ahead(self) -> None:
        """Until when no step has anything to do."""
        if self._has_schedule:
            self._idle_until = idle_until(self._parameters.schedule, self._step_number)

    def _action(self) -> Action:
        return Action(self._parameters.schedule(self._step_number).value) if self._has_schedule else Action.RECORD

    def _range_number(self) -> Optional[int]:
        return self._step_number + self._step_label if self._has_schedule else None

    def _running_machine(self) -> Machine:
        if self._machine is None:
            raise RuntimeError("the profiler could not be constructed")
        return self._machine


class _ProfilerOfProfile(Profiler):
    """`profile` has no analyse(): its handler is also called without a schedule."""

    _calls_handler_without_schedule = True


class profile:
    """The newer interface: switches of general use as parameters, the others in `experimental_config`. Without a handler
    captures go to ./data."""

    def __init__(self, activities=None, with_stack=False, profile_memory=False, data_process=False,
                 parallel_strategy=False, start_profile=True, hbm_ddr=False, pcie=False, sync_enable=True,
                 record_shapes=False, schedule=None, on_trace_ready=None, experimental_config=None):
        if experimental_config is not None and not isinstance(experimental_config, _ExperimentalConfig):
            _log.warning("experimental_config is not an _ExperimentalConfig; the default is used.")
            experimental_config = None
        self._profiler = _ProfilerOfProfile(
            activities=activities, with_stack=with_stack, profile_memory=profile_memory, data_process=data_process,
            parallel_strategy=parallel_strategy, start_profile=start_profile, hbm_ddr=hbm_ddr, pcie=pcie,
            sync_enable=sync_enable, record_shapes=record_shapes, schedule=schedule, on_trace_ready=on_trace_ready,
            **vars(experimental_config or _ExperimentalConfig()))

    def start(self) -> None:
        self._profiler.start()

    def stop(self) -> None:
        self._profiler.stop()

    def step(self) -> None:
        self._profiler.step()

    def add_metadata(self, key: str, value: str) -> None:
        self._profiler.add_metadata(key, value)

    def add_metadata_json(self, key: str, value: str) -> None:
        self._profiler.add_metadata_json(key, value)

    def __enter__(self) -> "profile":
        self._profiler.__enter__()
        return self

    def __exit__(self, exc_type, exc_value, traceback) -> None:
        self._profiler.__exit__(exc_type, exc_value, traceback)


class TraceHandler:
    """Analyses a finished capture. `mode`: no, sync or async; `place`: where captures go."""

    has_place = True

    def __init__(self, mode: str, place: _output.Place):
        self.mode = mode
        self.place = place

    def __call__(self, finished: Profiler) -> None:
        if self.mode != "no":
            _analyse_capture(finished._machine.directory, finished._config.export, self.mode)


def _analyse_capture(directory: str, export: list, mode: str, steps: Optional[list] = None) -> None:
    """`mode`: sync or async."""
    _analyse.analyse(directory, export, wait=mode == "sync", steps=steps)


def tensorboard_trace_handler(dir_name=None, worker_name=None, analyse_flag=True, async_mode=False) -> Optional[TraceHandler]:
    """A handler for on_trace_ready. The place is set now; a path that breaks the rules raises ProfilerPathError.

    May also be passed to on_trace_ready without being called, as older programs do."""
    if isinstance(dir_name, Profiler):
        return TraceHandler("sync", _output.Place())(dir_name)
    place = _output.set_place(dir_name, worker_name)
    analyses = _boolean("analyse_flag", analyse_flag, True)
    in_background = _boolean("async_mode", async_mode, False)
    return TraceHandler(("async" if in_background else "sync") if analyses else "no", place)


tensor_board_trace_handler = tensorboard_trace_handler


def analyse(profiler_path: str, max_process_number: int = max(1, (os.cpu_count() or 1) // 2), pretty: bool = False,
            step_list: Any = None, data_simplification: bool = True) -> None:
    """Analyses the capture at `profiler_path`, or those directly below it. One that fails does not stop the others."""
    if _analyse.refuses(profiler_path):
        return
    if not is_int(max_process_number) or max_process_number <= 0:
        max_process_number = max(1, (os.cpu_count() or 1) // 2)
        _log.warning(f"Parameter max_process_number must be a positive int; it is set to {max_process_number}.")
    _check_pretty(pretty)
    steps = _checked_steps(step_list)
    simplify = _boolean("data_simplification", data_simplification, True)
    if not isinstance(profiler_path, str):
        raise ProfilerPathError("profiler_path must be a str.")
    path = os.path.realpath(os.path.expanduser(profiler_path))
    check_input_directory(path)
    captures = _paths.captures(path)
    if not captures:
        _log.error(f"Invalid path: {path}. Expected a *_ascend_ms_* directory or a parent of such directories.")
        return
    captures = [capture for capture in captures if _is_trusted(capture)]
    if captures:
        _analyse.analyse_all(captures, None, max_process_number, steps, simplify)


def _is_trusted(capture: str) -> bool:
    """Whether the raw files of a capture are the user's own, and of a size that can be read; the first that is not is reported."""
    try:
        for pattern in ("profiler_info*.json", os.path.join("FRAMEWORK", "*")):
            for path in sorted(glob.glob(os.path.join(glob.escape(capture), pattern))):
                check_input_file(path)
    except ProfilerPathError as problem:
        _log.error(f"{capture} is not analysed: {problem}")
        return False
    return True


def _boolean(name: str, value: Any, default: bool) -> bool:
    if isinstance(value, bool):
        return value
    _log.warning(f"Parameter {name} is not a bool; it is set to {default}.")
    return default


def _check_pretty(pretty: Any) -> None:
    if not isinstance(pretty, bool):
        _log.warning("Parameter pretty is not a bool; it is set to False.")


def _checked_steps(step_list: Any) -> Optional[list]:
    """Steps that follow each other, in order; None: all."""
    if step_list is None:
        return None
    if not isinstance(step_list, list) or not step_list or not all(map(is_int, step_list)):
        _log.error("Parameter step_list must be a list of ints; all steps are analysed.")
        return None
    steps = sorted(step_list)
    if steps != list(range(steps[0], steps[0] + len(steps))):
        _log.error("Parameter step_list must be steps that follow each other; all steps are analysed.")
        return None
    return steps
