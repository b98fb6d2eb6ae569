"""The life of captures: actions of steps become operations on a capture, as the table says.

Used by one thread at a time (the one that calls start, step and stop). Nothing here raises: a capture that fails is reported
and dropped, and the machine goes on without it. In a forked child every call does nothing.
"""

from __future__ import annotations

import atexit
import inspect
import os
import weakref
from typing import Any, Callable, Optional

from . import _analyse, _log, _session
from ._config import Config
from ._schedule import Action

NONE, WARMUP, RECORD, SAVE, END = Action

_INCORRECT = "Incorrect schedule: "
_STOPPED = _INCORRECT + "Stop profiler while current state is "

# (before, after) -> the operations, in order, and what is said first. I: make the capture, W: warm up, S: start, P: stop,
# F: finalize, R: trace ready, D: end a capture that holds nothing and remove it. What is not listed does nothing.
TABLE: dict[tuple[Action, Action], tuple[str, str]] = {
    (NONE, WARMUP): ("IW", ""),
    (NONE, RECORD): ("IS", ""),
    (NONE, SAVE): ("IS", ""),
    (WARMUP, NONE): ("SPF", _INCORRECT + "WARMUP followed by NONE"),
    (WARMUP, RECORD): ("S", ""),
    (WARMUP, SAVE): ("S", ""),
    (WARMUP, END): ("D", _STOPPED + "WARMUP which will result in empty parsed data."),
    (RECORD, NONE): ("PF", _INCORRECT + "RECORD followed by NONE"),
    (RECORD, WARMUP): ("PF", _INCORRECT + "RECORD followed by WARMUP"),
    (RECORD, END): ("PFR", _STOPPED + "RECORD which may result in incomplete parsed data."),
    (SAVE, NONE): ("PFR", ""),
    (SAVE, WARMUP): ("PFRIW", ""),
    (SAVE, RECORD): ("PFRIS", ""),
    (SAVE, SAVE): ("PFRIS", ""),
    (SAVE, END): ("PFR", "Stop profiler while current state is RECORD_AND_SAVE, "
                         "perhaps the scheduling cycle has not yet completed."),
}


def new_capture(config: Config, directory: str) -> Any:
    """A `steplens._capture.Capture`; imported late because it loads native code. Tests replace this function."""
    from ._capture import Capture

    return Capture(config, directory)


def preload_capture(with_device: bool = False) -> None:
    """Before the training's steps: the first capture would load all of it in one of them. `with_device`: the device is wanted for sure."""
    try:
        from ._capture import preload
    except Exception:  # the first capture tells
        return
    preload(with_device)


class Machine:
    """Runs the captures of one profiler object, which stops it when it is destroyed. With `keeps_empty` a capture stopped
    during its warm-up stays on disk.
    """

    def __init__(self, config: Config, source: _session.Source, new_directory: Callable[[], str],
                 metadata: Callable[[], dict], on_ready: Callable[[str], None], keeps_empty: bool = False):
        self.config = config
        self.action = NONE
        self.directory: Optional[str] = None  # of the last capture, running or finished
        self.started = False
        self.was_active = False  # a capture has been wanted
        self.on_start: Callable[[], None] = _nothing  # around the time in which records are kept
        self.on_stop: Callable[[], None] = _nothing
        self._source = source
        self.listen(new_directory, metadata, on_ready)
        self._keeps_empty = keeps_empty
        self._capture: Any = None
        self._recording = False
        self._step_open = False
        self._finished = False  # a capture was finalized by this transition
        self._holder: Optional[_session.Holder] = None
        self._pid = os.getpid()
        _machines.add(self)
        preload_capture("npu" in config.activities)

    def listen(self, new_directory: Callable[[], str], metadata: Callable[[], dict], on_ready: Callable[[str], None]) -> None:
        """`new_directory()` names the folder of the next capture; `metadata()` gives what goes into profiler_metadata.json;
        `on_ready(directory)` is called after each finished capture.

        Methods do not keep their object alive: a profiler that nobody has any more ends. An object calls this again when it is
        deleted, because references to what the garbage collector found are cleared before that."""
        self._new_directory = _weakly(new_directory)
        self._metadata = _weakly(metadata)
        self._on_ready = _weakly(on_ready)

    @property
    def is_of_this_process(self) -> bool:
        """False in a forked child: the recording belongs to the parent."""
        return os.getpid() == self._pid

    # ---- Called by the surfaces -----------------------------------------------------------------------------------

    def start(self, action: Action, step: Optional[int] = None) -> None:
        """From stopped to `action`; `step`: the number of the step range to open, None: no range."""
        self.started = True
        self._go(NONE, action)
        self._begin_step(step)

    def step(self, action: Action, step: Optional[int] = None) -> None:
        """Ends the step and begins the next, which has `action`."""
        self._end_step()
        self._go(self.action, action)
        self._begin_step(step)

    def stop(self, complains: bool = True) -> None:
        """Ends what is running. `complains` False: without a warning about an incomplete schedule."""
        self._end_step()
        self._go(self.action, END, complains)
        self.action = NONE
        self.started = False

    def tell_if_idle(self, steps: int) -> None:
        """After a stop and `steps` calls of step(): reports a schedule that never started, because the training may have been shorter than the user expected."""
        if not self.was_active and self.is_of_this_process:
            which = {0: "the training called step() never", 1: "the only step of this training was not to be recorded"}
            reason = which.get(steps, f"none of the {steps} steps of this training was to be recorded")
            _log.warning(f"The schedule recorded nothing: {reason}.")

    # ---- Transitions ----------------------------------------------------------------------------------------------

    def _go(self, before: Action, after: Action, complains: bool = True) -> None:
        self.action = after
        if before is after and after is not SAVE:
            return  # most steps of a training
        if not self.is_of_this_process:
            return
        operations, complaint = TABLE.get((before, after), ("", ""))
        if complaint and complains:
            _log.warning(complaint)
        self._finished = False
        for operation in operations:
            getattr(self, "_op_" + operation)()

    def _op_I(self) -> None:
        self.was_active = True
        self._holder = _session.acquire(self._source, self._close_early)
        if self._holder is None:
            return
        try:
            self.directory = self._new_directory()()
            self._capture = new_capture(self.config, self.directory)
        except Exception as problem:
            self._give_up("start", problem)

    def _op_W(self) -> None:
        self._attempt("warmup")

    def _op_S(self) -> None:
        self._recording = self._attempt("start")
        if self._recording:
            self._tell(self.on_start)

    def _op_P(self) -> None:
        if self._recording:
            self._tell(self.on_stop)
        self._recording = False
        self._report("stop", lambda capture: capture.stop())

    def _op_F(self) -> None:
        if self._capture is None:
            return
        self._finished = True
        self._report("finalize", lambda capture: capture.finalize(self._metadata()()))
        self._let_go()

    def _op_D(self) -> None:
        if self._keeps_empty:
            self._op_F()
            return
        self._report("discard", lambda capture: capture.discard())
        self._let_go()

    def _op_R(self) -> None:
        if self._finished:
            self._tell(lambda: self._on_ready()(self.directory))

    # ---- Parts ----------------------------------------------------------------------------------------------------

    def _attempt(self, name: str) -> bool:
        """Calls a method of the capture; one that fails costs the capture."""
        if self._capture is None:
            return False
        try:
            getattr(self._capture, name)()
        except Exception as problem:
            self._give_up(name, problem)
            return False
        return True

    def _report(self, name: str, call: Callable[[Any], None]) -> None:
        """Calls a method of the capture; a failure is only reported, since what was written stays."""
        if self._capture is None:
            return
        try:
            call(self._capture)
        except Exception as problem:
            _log.error(f"Call {name} failed. Exception: {_log.describe(problem)}")

    def _tell(self, listener: Callable[[], None]) -> None:
        try:
            listener()
        except Exception as problem:  # code of the user
            _log.error(f"Call on_trace_ready failed. Exception: {_log.describe(problem)}")

    def _give_up(self, name: str, problem: Exception) -> None:
        _log.error(f"Call {name} failed. Exception: {_log.describe(problem)}")
        if self._capture is not None:
            self._report("discard", lambda capture: capture.discard())
        self.directory = None  # there is nothing to analyse
        self._let_go()

    def _let_go(self) -> None:
        self._capture = None
        self._recording = False
        _session.release(self._holder)
        self._holder = None

    def _close_early(self) -> None:
        """Another surface takes the process: what was recorded is finished, and the rest of the cycle is silent."""
        self._end_step()
        if self._recording:
            self._op_P()
            self._op_F()
            self._op_R()
        else:
            self._op_D()

    def _begin_step(self, step: Optional[int]) -> None:
        if step is not None and self._capture is not None and self.is_of_this_process:
            self._step_open = True
            self._report("step", lambda capture: capture.step_begin(step))

    def _end_step(self) -> None:
        if self._step_open:
            self._step_open = False
            if self.is_of_this_process:
                self._report("step", lambda capture: capture.step_end())


def _weakly(call: Callable[..., Any]) -> Callable[[], Callable[..., Any]]:
    """Gives `call` back when it is called; a method is kept without its object, which is there whenever the machine works."""
    return weakref.WeakMethod(call) if inspect.ismethod(call) else lambda: call


def _nothing() -> None:
    pass


_machines: "weakref.WeakSet[Machine]" = weakref.WeakSet()


def _stop_at_exit() -> None:
    """A program that ends while it records loses nothing."""
    for machine in list(_machines):
        if machine.started and machine.is_of_this_process:
            if machine._capture is not None:
                _log.warning("The program ends while the profiler is running; the capture is closed.")
            machine.stop(complains=False)
    _analyse.join()


atexit.register(_stop_at_exit)
