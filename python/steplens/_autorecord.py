"""`steplens record -- python train.py`: recording without a change in the program.

`install` is called when Python starts (see _bootstrap). In a process that is a rank it waits until torch is imported and then
records what $STEPLENS_RECORD asks for: the steps profile_step_start, ..., profile_step_end-1 (counted from 1), or without
profile_step_start the whole run; profile_step_start -1 waits for a command (see _control). A program that has no steps is
recorded as a whole. A process in which no operator ran leaves no folder.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import shlex
import shutil
import sys
import time
import uuid
from typing import Any, Callable, Optional

from . import _analyse, _control, _launchers, _log, _paths, _rank, _session, _steps
from ._machine import preload_capture
from ._wishes import Window, make_config, wished_window

VARIABLE = "STEPLENS_RECORD"
_LAUNCHERS = (*_launchers.PROGRAMS, "torch-model-archiver", "accelerate", "deepspeed")
_LOOK_PERIOD_S = 0.002  # between looks for a command: a look costs microseconds, and steps may be shorter
_recorder: Optional["Recorder"] = None


# ---- Where to record --------------------------------------------------------------------------------------------------


def is_launcher(arguments: list, environment: Any) -> bool:
    """A process that starts the ranks and is none."""
    return _launchers.is_launcher(arguments, environment, _LAUNCHERS, at_most=2)


def is_spawned(arguments: list) -> bool:
    """A child of multiprocessing: perhaps a rank, perhaps a helper such as a data loader's worker."""
    return "--multiprocessing-fork" in arguments


def install() -> None:
    settings = json.loads(os.environ[VARIABLE])
    if not isinstance(settings, dict):
        raise ValueError(f"{VARIABLE} is not a JSON object")
    if is_launcher(_launchers.command_line(), os.environ):
        _after_import(_launchers.ELASTIC, lambda: _launchers.repair(sys.modules[_launchers.ELASTIC]))
        return
    _load_native()
    _after_import("torch", lambda: _begin(settings))


def _load_native() -> None:
    """The C library starts recording on its own if the variable is set when it is loaded; here Python does."""
    wish = os.environ.pop(VARIABLE)
    try:
        from . import _native  # noqa: F401
    finally:
        os.environ[VARIABLE] = wish  # for the ranks this process may start


class _ImportHook:
    """Calls back once a module has been imported."""

    def __init__(self, name: str, then: Callable[[], None]):
        self._name = name
        self._then = then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_tell(module: Any) -> None:
                execute(module)
                try:
                    self._then()
                except Exception as problem:
                    _log.error(f"This program is not recorded: {_log.describe(problem)}")

            spec.loader.exec_module = execute_and_tell
        return spec


def _after_import(name: str, then: Callable[[], None]) -> None:
    if name in sys.modules:
        then()
    else:
        sys.meta_path.insert(0, _ImportHook(name, then))


def _begin(settings: dict) -> None:
    global _recorder
    _recorder = Recorder(settings)
    atexit.register(_recorder.close)
    if is_spawned(_launchers.command_line()):
        _steps.on_training(_recorder.open)  # a helper never gets there
    else:
        _recorder.open()
    _steps.on_step(_recorder.step_ended)


# ---- Recording --------------------------------------------------------------------------------------------------------


class Recorder:
    """Captures of this process, one after the other. Everything happens on the thread of the steps and at exit."""

    def __init__(self, settings: dict):
        self.config = make_config(settings)
        self.step = 1  # the step that runs
        self.directory: Optional[str] = None  # of the last capture
        self._window = wished_window(settings)
        self._capture: Any = None
        self._holder: Any = None
        self._only_without_steps = False  # the recording is discarded if a step ends
        self._is_warming = False  # there is a capture, and nothing is kept yet
        self._control = _control.Control(settings["control_dir"]) if settings.get("control_dir") else None
        self._next_look_s = 0.0
        self._ranks = settings.get("profile_ranks") or [-1]
        self._pid = os.getpid()

    @property
    def _has_flops(self) -> bool:
        return self.config.with_flops and self.config.mstx

    @property
    def state(self) -> str:
        if self._capture is not None and not self._only_without_steps and not self._is_warming:
            return "recording"
        return "armed" if self._window is not None else "idle"

    def is_selected(self) -> bool:
        return self._ranks == [-1] or _rank.global_rank() in self._ranks

    def open(self) -> None:
        """The program begins."""
        if self._window is not None and self.is_selected():
            self._only_without_steps = self._window.first > 1
            self._open_capture()
            self._start()
        elif self.is_selected():  # perhaps later, by a command
            preload_capture()
        self._report(force=True)

    def step_ended(self) -> None:
        # As short as can be: most steps of a training come through here with nothing to do.
        looks = self._control is not None and time.monotonic() >= self._next_look_s
        if self._capture is None and not looks and (self._window is None or not self._window.is_near(self.step + 1)):
            self.step += 1
            return
        if os.getpid() != self._pid:
            return  # a forked child
        if looks:
            self._next_look_s = time.monotonic() + _LOOK_PERIOD_S
        if self._only_without_steps:
            self._only_without_steps = False
            self._stop(keep=False)
        if self._capture is not None and not self._is_warming:
            self._capture.step_end()
        self.step += 1
        if looks:
            self._obey()
        if self._window is not None and self._window.is_over(self.step):
            self._window = self._window.next()
            self._stop(keep=True)
        if self._window is not None and self.is_selected():
            self._approach(self._window)
        self._report()

    def _approach(self, window: "Window") -> None:
        """A step of a window or before it has begun."""
        if self._capture is None and window.is_near(self.step):
            self._open_capture()
        if self._is_warming and window.has(self.step):
            self._start()
        elif self._capture is not None and not self._is_warming:
            self._capture.step_begin(self.step)

    def close(self) -> None:
        """The program ends. May be called more than once."""
        if os.getpid() != self._pid:
            return
        if self._capture is not None:  # the time after the last step is also recorded, but is not a step
            if self._only_without_steps:
                _log.warning("The program had no steps; the whole run was recorded.")
            if self._is_warming:
                _log.warning(f"The program ended during the warm-up before step {self._window.first if self._window else self.step}; "
                             "nothing was kept of it.")
            self._stop(keep=not self._is_warming)
        elif self._window is not None and self.step <= self._window.first:
            _log.warning(f"The program ended in step {self.step}; step {self._window.first} was to be recorded.")
        self._window = None
        self._report(force=True, state="ended")
        _analyse.join()

    # ---- One capture ----------------------------------------------------------------------------------------------

    def _open_capture(self) -> None:
        from ._capture import Capture

        self._holder = _session.acquire(_session.Source.COMMAND, self._yield)
        if self._holder is None:
            self._window = None
            return
        try:
            self.directory = _paths.new_capture_directory(self.config.output_dir, self.config.worker_name, "ascend_pt")
            self._capture = Capture(self.config, self.directory)
            self._capture.warmup()
            self._is_warming = True
        except Exception as problem:
            self._give_up(problem)

    def _start(self) -> None:
        """From the warm-up to the recording."""
        if self._capture is None:
            return
        try:
            self._is_warming = False
            self._capture.start()
            if self._has_flops:
                _flops().install()
            if not self._only_without_steps:
                self._capture.step_begin(self.step)
        except Exception as problem:
            self._give_up(problem)

    def _give_up(self, problem: Exception) -> None:
        _log.error(f"This program is not recorded: {_log.describe(problem)}")
        self._window = None
        self._stop(keep=False)

    def _yield(self) -> None:
        """Another surface takes the process: what was recorded is kept, and no more is wanted."""
        self._window = None
        self._stop(keep=True)

    def _stop(self, keep: bool) -> None:
        capture, self._capture = self._capture, None
        self._is_warming = False
        try:
            if capture is not None and self._has_flops:
                _flops().remove()
            if capture is not None and keep:
                capture.stop()
                capture.finalize(self._metadata())
            elif capture is not None:
                capture.discard()
        except Exception as problem:
            _log.error(f"Closing {self.directory} failed: {_log.describe(problem)}")
        _session.release(self._holder)
        self._holder = None
        if capture is not None and keep:
            self._finish(capture.directory)

    def _finish(self, directory: str) -> None:
        if not _has_operators(directory):
            shutil.rmtree(directory, ignore_errors=True)
            self.directory = None
            return
        if self.config.analyse == "no":
            _log.info(f"Recorded {directory}; analyse it with: steplens analyse {shlex.quote(directory)}")
        elif _analyse.analyse(directory, self.config.export, wait=self.config.analyse == "sync"):
            _log.info(f"Recorded {directory}")

    def _metadata(self) -> dict:
        from .torch_npu.profiler._settings import environment_metadata

        metadata: dict = {"distributed_args": {"rank": _rank.global_rank(), "world_size": _rank.world_size()}}
        if "text" in self.config.export:
            metadata["ENV_VARIABLES"] = environment_metadata()
        metadata["trace_id"] = uuid.uuid4().hex.upper()
        return metadata

    # ---- Commands while the program runs ----------------------------------------------------------------------------

    def _obey(self) -> None:
        command = self._control.poll() if self._control is not None else None
        if command is None:
            return
        if not command.is_for(_rank.global_rank()):
            self._control.answer(command, "not for this rank")
        elif command.action == "stop":
            self._obey_stop(command)
        else:
            self._obey_start(command)

    def _obey_stop(self, command: "_control.Command") -> None:
        if self._window is None:
            self._control.answer(command, "nothing was recorded or to be recorded")
            return
        end = max(command.at_step or self.step, self.step)
        self._window = Window(self._window.first, end)
        self._control.answer(command, f"recording ends before step {end}")

    def _obey_start(self, command: "_control.Command") -> None:
        first = command.at_step or self.step
        if self._capture is not None or self._window is not None:
            self._control.answer(command, "refused: a recording is running or armed")
        elif first < self.step:
            self._control.answer(command, f"too late: step {self.step} has begun")
        else:
            end = first + command.steps if command.steps else None
            self._window = Window(first, end)
            self._ranks = [-1]  # the command says who
            self._control.answer(command, f"records from step {first}" + (f" to {end - 1}" if end else " on"))

    def _report(self, force: bool = False, state: Optional[str] = None) -> None:
        if self._control is not None and (force or self._control.is_due(state or self.state)):
            self._control.report(_rank.global_rank(), {"step": self.step, "state": state or self.state,
                                                       "capture": self.directory or ""}, force)


def _flops() -> Any:
    from .torch_npu.profiler import _flops as module

    return module


def _has_operators(directory: str) -> bool:
    """Whether anything happened: operators, or ranges of the program."""
    return os.path.exists(os.path.join(directory, "FRAMEWORK", "torch.op_range"))
