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
import shutil
import sys
import uuid
from typing import Any, Callable, Optional

from . import _analyse, _control, _launchers, _log, _paths, _rank, _session, _steps

VARIABLE = "STEPLENS_RECORD"
_LAUNCHERS = (*_launchers.PROGRAMS, "torch-model-archiver", "accelerate", "deepspeed")
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
    if is_launcher(sys.orig_argv, os.environ):
        return
    _load_native()
    _after_import("torch", lambda: _begin(settings))


def _load_native() -> None:
    """The C library records by itself where the variable is set when it is loaded; here Python does it."""
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
    if is_spawned(sys.orig_argv):
        _steps.on_training(_recorder.open)  # a helper never gets there
    else:
        _recorder.open()
    _steps.on_step(_recorder.step_ended)


# ---- What to record ---------------------------------------------------------------------------------------------------


def make_config(settings: dict) -> Any:
    """The Config that the flags ask for; wrong values warn and are replaced, as in the Python interface."""
    from ._command import LEVELS
    from .torch_npu.profiler import ProfilerActivity, ProfilerLevel, _ExperimentalConfig, _settings

    def flag(name: str) -> bool:
        return bool(settings.get("profile_" + name, False))

    activities = [ProfilerActivity.NPU] + [ProfilerActivity.CPU] * bool(settings.get("profile_with_cpu", True))
    experimental = _ExperimentalConfig(
        profiler_level=LEVELS.get(settings.get("profile_level", "level0"), ProfilerLevel.Level0),
        export_type=settings.get("profile_export_type", "text"), mstx=bool(settings.get("mstx", False)),
        data_simplification=flag("data_simplification"), gc_detect_threshold=settings.get("gc_threshold_ms"),
        host_sys=settings.get("host_sys") or [])
    config = _settings.check(_settings.Settings(
        activities=activities, record_shapes=flag("record_shapes"), profile_memory=flag("with_memory"),
        with_stack=flag("with_stack"), with_modules=flag("with_modules"), experimental_config=experimental)).config
    config.analyse = settings.get("profile_analyse", "sync")
    config.output_dir = settings.get("profile_save_path") or "./profile_dir"
    return config


class Window:
    """The steps first, ..., end-1; `end` None: to the end of the program."""

    def __init__(self, first: int, end: Optional[int]):
        self.first = first
        self.end = end

    def has(self, step: int) -> bool:
        return step >= self.first and (self.end is None or step < self.end)

    def is_over(self, step: int) -> bool:
        return self.end is not None and step >= self.end


def wished_window(settings: dict) -> Optional[Window]:
    """What the flags say; None: nothing until a command comes."""
    first, end = settings.get("profile_step_start"), settings.get("profile_step_end")
    if first is None:
        return Window(1, None)
    if first == -1:
        return None
    if first < 1:
        _log.warning(f"profile_step_start is {first}, steps count from 1; 1 is used.")
        first = 1
    if end is None or end == -1:
        return Window(first, None)
    if end <= first:
        _log.warning(f"profile_step_end ({end}) is not after profile_step_start ({first}); one step is recorded.")
        end = first + 1
    return Window(first, end)


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
        self._only_without_steps = False  # what is recorded is thrown away if a step ends
        self._control = _control.Control(settings["control_dir"]) if settings.get("control_dir") else None
        self._ranks = settings.get("profile_ranks") or [-1]
        self._pid = os.getpid()

    @property
    def state(self) -> str:
        if self._capture is not None and not self._only_without_steps:
            return "recording"
        return "armed" if self._window is not None else "idle"

    def is_selected(self) -> bool:
        return self._ranks == [-1] or _rank.global_rank() in self._ranks

    def open(self) -> None:
        """The program begins."""
        if self._window is not None and self.is_selected():
            self._only_without_steps = self._window.first > 1
            self._start()
        self._report(force=True)

    def step_ended(self) -> None:
        if os.getpid() != self._pid:
            return  # a forked child
        if self._only_without_steps:
            self._only_without_steps = False
            self._stop(keep=False)
        if self._capture is not None:
            self._capture.step_end()
        self.step += 1
        self._obey()
        window = self._window
        if window is not None and window.is_over(self.step):
            self._window = None
            self._stop(keep=True)
        elif window is not None and window.has(self.step) and self._capture is None and self.is_selected():
            self._start()
        if self._capture is not None:
            self._capture.step_begin(self.step)
        self._report()

    def close(self) -> None:
        """The program ends. May be called more than once."""
        if os.getpid() != self._pid:
            return
        if self._capture is not None:  # what followed the last step is recorded, too, but is no step
            if self._only_without_steps:
                _log.warning("The program had no steps; the whole run was recorded.")
            self._stop(keep=True)
        elif self._window is not None and self.step <= self._window.first:
            _log.warning(f"The program ended in step {self.step}; step {self._window.first} was to be recorded.")
        self._window = None
        self._report(force=True, state="ended")
        _analyse.join()

    # ---- One capture ----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        from ._capture import Capture

        self._holder = _session.acquire(_session.Source.COMMAND, self._yield)
        if self._holder is None:
            self._window = None
            return
        try:
            self.directory = _paths.new_capture_directory(self.config.output_dir, None, "ascend_pt")
            self._capture = Capture(self.config, self.directory)
            self._capture.warmup()
            self._capture.start()
            if not self._only_without_steps:
                self._capture.step_begin(self.step)
        except Exception as problem:
            _log.error(f"This program is not recorded: {_log.describe(problem)}")
            self._window = None
            self._stop(keep=False)

    def _yield(self) -> None:
        """Another surface takes the process: what was recorded is kept, and no more is wanted."""
        self._window = None
        self._stop(keep=True)

    def _stop(self, keep: bool) -> None:
        capture, self._capture = self._capture, None
        try:
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
            _log.info(f"Recorded {directory}; analyse it with: steplens analyse {directory}")
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
        if self._control is not None:
            self._control.report(_rank.global_rank(), {"step": self.step, "state": state or self.state,
                                                       "capture": self.directory or ""}, force)


def _has_operators(directory: str) -> bool:
    """Whether anything happened: operators, or ranges of the program."""
    return os.path.exists(os.path.join(directory, "FRAMEWORK", "torch.op_range"))
