"""`DynamicProfilerMonitor`: a running job starts to record when its configuration file changes.

As a callback of a training (step_begin, step_end), or by a call of step() after each iteration.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any, Optional

from ... import _daemon, _log, _rank
from ..._channel import FILE_NAME, Channel, PlainLayout, write_default
from ..._check import is_int
from ..._machine import preload_capture
from ..._session import Source
from .._host import Callback
from . import _dynamic_config, _output
from ._dynamic_config import DynamicConfig
from ._schedule import quiet_schedule
from .profiler import Profiler, TraceHandler

_SHM_PREFIX = "DynamicProfileShm"
_DEFAULT_OUTPUT = "./dyn_profile_data"


def _callback_of_mindspore() -> Optional[type]:
    """The class that a training of MindSpore wants its callbacks to be of; None where MindSpore is not loaded."""
    real = sys.modules.get("mindspore")
    return getattr(getattr(real, "train", real), "Callback", None)


class _DynamicProfiler(Profiler):
    """Calls of the API have precedence over it."""

    _source = Source.DYNAMIC


class DynamicProfilerMonitor(Callback):
    """`cfg_path`: the folder of profiler_config.json, shared by all nodes; raises TypeError if it is not a str. Captures go to
    `output_path`/rank<r>_start<a>_stop<b>/. `poll_interval`: seconds between looks at a file that others than this host
    change; changes by this host are seen at once. Used by the training thread. Where MindSpore is loaded it is one of its callbacks."""

    def __new__(cls, *args, **kwargs):
        wanted = _callback_of_mindspore()
        if wanted is None or issubclass(cls, wanted):
            return super().__new__(cls)
        return super().__new__(type(cls.__name__, (cls, wanted), {"__module__": cls.__module__}))

    def __init__(self, cfg_path=None, output_path=_DEFAULT_OUTPUT, poll_interval=2, **kwargs):
        super().__init__()
        uses_daemon = _uses_daemon()
        if not isinstance(cfg_path, str) and not uses_daemon:
            raise TypeError(f"cfg_path must be a str, it is a {type(cfg_path).__name__}")
        if not isinstance(output_path, str):
            _log.warning(f"output_path is not a str; it is set to {_DEFAULT_OUTPUT}.")
            output_path = _DEFAULT_OUTPUT
        if not is_int(poll_interval) or poll_interval < 1:
            _log.error("poll_interval must be an int of at least 1; it is set to 2.")
            poll_interval = 2
        self._output_path = _output.absolute(output_path)
        self._rank = _rank.mindspore_rank()
        self._config: Optional[DynamicConfig] = None
        self._is_valid = True
        self._profiler: Optional[Profiler] = None
        self._used: Optional[tuple[int, int]] = None  # the steps of the last capture
        self._refused: Optional[tuple[int, int]] = None  # reported once
        self._counter = 0
        self._steps_left = 0
        self._last_step = 0
        self._channel = None if uses_daemon else self._open_channel(os.path.abspath(cfg_path), poll_interval)
        self._daemon = _daemon.DaemonClient(_rank.local_rank(), float(poll_interval), _log.info) if uses_daemon else None
        atexit.register(self._finish)
        preload_capture()

    # ---- Use by step() --------------------------------------------------------------------------------------------

    @_log.guarded(looks_for_conflict=False)
    def step(self) -> None:
        """Ends an iteration of the training loop; the first call is number 1."""
        self._counter += 1
        if self._profiler is not None:
            self._steps_left -= 1
            self._profiler.step()
            if self._steps_left == 0:
                self._stop_steps()
        self._refresh()
        if self._profiler is None and self._config is not None and self._is_due(self._config):
            self._start_steps(self._config)

    def _is_due(self, config: DynamicConfig) -> bool:
        start, stop = config.steps
        if config.steps in (self._used, self._refused) or start < 0:
            return False
        if start > stop:
            return self._refuse(config, _log.error, f"start_step {start} is after stop_step {stop}; nothing is recorded.")
        if self._counter < start:
            return False
        if self._counter > stop:
            return self._refuse(config, _log.warning, f"stop_step {stop} is over, the current step is {self._counter}; "
                                                      "nothing is recorded.")
        return True

    def _start_steps(self, config: DynamicConfig) -> None:
        start, stop = config.steps
        output = self._output_path if config.prof_path == "./" else _output.absolute(config.prof_path)
        handler = TraceHandler(config.mode_of_step_use, _output.Place())
        self._steps_left = stop - start + 1
        self._profiler = _DynamicProfiler(
            output_path=self._folder(output, config), on_trace_ready=handler,
            schedule=quiet_schedule(active=self._steps_left, skip_first=1), **config.parameters)
        self._profiler._step_label = self._counter - 1  # its own first recorded step is number 1
        self._profiler.step()
        self._used = config.steps
        self._last_step = self._counter + stop - start
        _tell(f"Rank {self._rank} starts to record at step {self._counter}, until step {self._last_step}")

    def _stop_steps(self) -> None:
        finished, self._profiler = self._profiler, None
        finished.stop()
        _tell(f"Rank {self._rank} stopped at step {self._last_step}")

    # ---- Use as a callback ----------------------------------------------------------------------------------------

    @_log.guarded()
    def step_begin(self, run_context: Any) -> None:
        self._refresh()
        config = self._config
        step = _step_number(run_context)
        if config is None or not self._callback_may_start(config, step) or config.start_step != step:
            return
        handler = TraceHandler(config.analyse_mode, _output.Place())
        started = _DynamicProfiler(
            output_path=self._folder(self._output_path, config), on_trace_ready=handler, start_profile=False,
            schedule=quiet_schedule(active=config.stop_step - config.start_step + 1), **config.parameters)
        started._step_label = step
        started.start()
        self._profiler = started
        self._used = config.steps
        _tell(f"Rank {self._rank} starts to record at step {step}")

    @_log.guarded()
    def step_end(self, run_context: Any) -> None:
        if self._profiler is None:
            return
        self._profiler.step()
        if _step_number(run_context) < self._used[1]:
            return
        finished, self._profiler = self._profiler, None
        finished.stop()
        _tell(f"Rank {self._rank} stopped at step {self._used[1]}")

    def _callback_may_start(self, config: DynamicConfig, step: int) -> bool:
        start, stop = config.steps
        if config.steps == self._refused or (self._used is not None and start == self._used[0]):
            return False
        if start <= 0 or stop <= 0:
            return False  # switched off
        if start > stop:
            return self._refuse(config, _log.error, f"start_step {start} is after stop_step {stop}; nothing is recorded.")
        if start < step or stop < step:
            return self._refuse(config, _log.error, f"start_step {start} or stop_step {stop} is before the current step "
                                                    f"{step}; nothing is recorded.")
        if self._profiler is not None:
            return self._refuse(config, _log.error, "a capture is running; wait until it is finished and change the file again.")
        return True

    # ---- Parts ----------------------------------------------------------------------------------------------------

    def apply_daemon_text(self, text: str) -> None:
        """The configuration as a host daemon sends it, lines KEY=VALUE; for clients of such a daemon."""
        config = _dynamic_config.from_daemon_text(text)
        if config is not None:
            self._config = _dynamic_config.parse(config, _log.warning)

    def _open_channel(self, folder: str, poll_interval: int) -> Channel:
        if self._rank == "0":
            write_default(os.path.join(folder, FILE_NAME), _dynamic_config.DEFAULT)
        else:
            os.makedirs(folder, mode=0o750, exist_ok=True)
        return Channel(_SHM_PREFIX, folder, PlainLayout(), float(poll_interval), lambda _text: None, marks_valid=True)

    def _refresh(self) -> None:
        text = self._daemon.poll() if self._daemon is not None else None
        if text is not None:
            self.apply_daemon_text(text)
        changed = self._channel.poll() if self._channel is not None else None
        if changed is not None:
            self._is_valid = changed.pop("is_valid", True) is True
            self._config = _dynamic_config.parse(changed, _log.warning) if self._is_valid else None
            if not self._is_valid:  # once; the next file is a new one
                _log.error("profiler_config.json is not valid JSON; nothing is started.")

    def _folder(self, output: str, config: DynamicConfig) -> str:
        return os.path.join(output, f"rank{self._rank}_start{config.start_step}_stop{config.stop_step}")

    def _refuse(self, config: DynamicConfig, say: Any, text: str) -> bool:
        self._refused = config.steps
        say(text)
        return False

    def _finish(self) -> None:
        """At exit: a running capture is closed, not analysed."""
        running, self._profiler = self._profiler, None
        if running is not None and running._machine is not None and running._machine._pid == os.getpid():
            _log.warning("The program ends while the dynamic profiler is recording; the capture is closed, not analysed.")
            running._handler = None
            running.stop()
        for source in (self._channel, self._daemon):
            if source is not None:
                source.close()
        self._channel = self._daemon = None


def _step_number(run_context: Any) -> int:
    """Of the framework: from 1."""
    return int(run_context.original_args().cur_step_num)


def _tell(text: str) -> None:
    print("[Dynamic Profiler] " + text, file=sys.stderr, flush=True)


def _uses_daemon() -> bool:
    if not _daemon.is_wanted("KINETO_USE_DAEMON", _log.error):
        return False
    _log.warning("KINETO_USE_DAEMON is set: cfg_path is ignored, the host's daemon is asked.")
    return True
