"""Dynamic profiling: a running job starts to record when its configuration file changes.

    from steplens.torch_npu.profiler import dynamic_profile as dp
    dp.init("conf")            # conf/profiler_config.json is made if it is missing
    for batch in data:
        train(batch)
        dp.step()

or PROF_CONFIG_PATH=conf and no change in the program. The n-th call of step() ends iteration n-1; `start_step` n records from
iteration n on. What happens is told in conf/log/.
"""

from __future__ import annotations

import atexit
import json
import logging
import logging.handlers
import os
import time
from typing import Any, Optional

from ... import _daemon, _launchers, _log, _optimizers, _private, _rank
from ..._channel import FILE_NAME, Channel, StampedLayout, read_config, write_default
from ..._check import is_int
from ..._machine import preload_capture
from ..._session import Source
from . import _dynamic_config, _output
from ._dynamic_config import DynamicConfig
from ._handler import _TraceHandler
from ._schedule import quiet_schedule
from .profiler import profile

__all__ = ["apply_daemon_text", "init", "set_state", "start", "status", "step"]

_SHM_PREFIX = "DynamicProfileNpuShm"
_FIRST_INTERVAL_S = 2.0
_LAUNCHERS = (*_launchers.PROGRAMS, "vllm")
_UNINITIALISED, _IDLE, _RUNNING, _READY = -1, 0, 1, 2


class _StepProfile(profile):
    """A capture of dynamic profiling: explicit calls have precedence over it."""

    _source = Source.DYNAMIC
    _step_mark = "step "


class _DaemonChannel:
    """What the daemon of this host says, as a Channel hands it over."""

    def __init__(self) -> None:
        self._client = _daemon.DaemonClient(_rank.local_rank(), _FIRST_INTERVAL_S, _log.info)

    def poll(self) -> Optional[dict]:
        text = self._client.poll()
        if text is None:
            return None
        config = _dynamic_config.from_daemon_text(text)
        if config is None:
            _log.info("The daemon asks for its own monitor; nothing is recorded for it here.")
        return config

    def set_interval(self, seconds: float) -> None:
        pass  # the daemon's time does not depend on ours

    def close(self) -> None:
        self._client.close()


class _DynamicProfile:
    """The state of the process. Used by the training thread."""

    def __init__(self) -> None:
        self.current_step = 0
        self._pid = os.getpid()
        self._folder: Optional[str] = None
        self._channel: Any = None  # a Channel or a _DaemonChannel
        self._pending: Optional[DynamicConfig] = None
        self._profile: Optional[profile] = None
        self._steps_left = 0
        self._stop_step = 0
        self._measured_from_s = 0.0
        self._told_missing_init = False
        self._logger: Optional[logging.Logger] = None
        self._monitor_logger: Optional[logging.Logger] = None

    # ---- Calls of the user ----------------------------------------------------------------------------------------

    def init(self, path: str) -> None:
        if self._channel is not None:
            _log.warning("dynamic_profile is initialised already; init has no effect.")
            return
        if not isinstance(path, str) or not path:
            raise ValueError("init needs the folder of the configuration as a str")
        if _is_launcher():
            self._told_missing_init = True
            return
        folder = os.path.abspath(os.path.expanduser(path))
        write_default(os.path.join(folder, FILE_NAME), _dynamic_config.DEFAULT)
        name = f"dp_{_rank.host_name()}_{os.getpid()}_rank_{_rank.global_rank()}.log"
        self._logger = _file_logger(os.path.join(folder, "log", name))
        self._monitor_logger = _file_logger(os.path.join(folder, "log", "monitor_" + name))
        self._folder = folder
        self._channel = Channel(_SHM_PREFIX, folder, StampedLayout(), _FIRST_INTERVAL_S, self._monitor_logger.info)
        self._logger.info("initialised with %s, owner of the configuration: %s", folder, self._channel.owned)
        atexit.register(self.close)
        preload_capture()

    def listen_to_daemon(self) -> None:
        """Configurations come from the host's daemon instead of a file."""
        if self._channel is not None:
            return
        self._told_missing_init = True
        self._channel = _DaemonChannel()
        atexit.register(self.close)
        preload_capture()

    def step(self) -> None:
        if self._folder is None and self._profile is None and not self._told_missing_init:
            self._told_missing_init = True
            if not _log.in_conflict():
                _log.error("dynamic_profile is not initialised; step has no effect before init.")
        self.current_step += 1
        self._measure()
        if self._profile is not None:
            self._go_on()
        if self._profile is None and self._channel is not None:
            changed = self._channel.poll()
            if changed is not None:
                self._take(changed, self.current_step)
        self._start_if_due()

    def start(self, config_path: Optional[str]) -> None:
        if self._profile is not None:
            self._tell_error("A capture is running; start is ignored.")
            return
        config = read_config(config_path)[0] if isinstance(config_path, str) else None
        if config is None and self._folder is not None:
            self._say(f"{config_path!r} cannot be used; the configuration of init is.")
            config = read_config(os.path.join(self._folder, FILE_NAME))[0]
        if config is None:
            raise ValueError(f"{config_path!r} is not a JSON file, and there is no other configuration")
        parsed = _dynamic_config.parse(config, self._say)
        if parsed is not None:
            self._begin(parsed)

    def set_state(self, state: dict) -> None:
        step = state.get("cur_step") if isinstance(state, dict) else None
        if not is_int(step) or step < 0:
            raise ValueError("set_state needs {'cur_step': n} with an int n of at least 0")
        self.current_step = step

    def apply_daemon_text(self, text: str) -> None:
        config = _dynamic_config.from_daemon_text(text)
        if config is not None:
            self._take(config, self.current_step + 1)

    def status(self) -> dict:
        """As the host's daemon expects it: texts."""
        state = _UNINITIALISED if self._channel is None else _IDLE
        start = -1 if self._pending is None else self._pending.start_step
        if self._pending is not None:
            state = _READY
        if self._profile is not None:
            state, start = _RUNNING, self._profile._step_label
        stop = self._stop_step if state == _RUNNING else -1
        return {"profiler_status": str(state), "current_step": str(self.current_step), "start_step": str(start),
                "stop_step": str(stop)}

    def close(self) -> None:
        if os.getpid() != self._pid:
            return  # a forked child that ends; all belongs to its parent
        if self._profile is not None:
            self._end()
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    # ---- Captures -------------------------------------------------------------------------------------------------

    def _take(self, config: dict, next_step: int) -> None:
        """A new configuration; `next_step`: the first that can be recorded."""
        parsed = _dynamic_config.parse(config, self._say)
        self._pending = None
        if parsed is None:
            _log.error("profiler_config.json is not valid JSON; nothing is started.")
            return
        if parsed.start_step == -1:
            parsed.start_step = next_step
        if parsed.start_step == 0:
            self._say("start_step is 0 and the loop is past it: the configuration is not effective.")
        elif parsed.start_step < next_step:
            text = f"start_step {parsed.start_step} is over, the current step is {self.current_step}; nothing is recorded."
            self._say(text)
            _log.warning(text)
        else:
            self._pending = parsed
            self._say(f"will record {parsed.steps} steps from step {parsed.start_step} on")

    def _start_if_due(self) -> None:
        if self._profile is None and self._pending is not None and self._pending.start_step == self.current_step:
            config, self._pending = self._pending, None
            self._begin(config)

    def _begin(self, config: DynamicConfig) -> None:
        rank = _rank.global_rank()
        if not config.wants_rank(rank):
            self._say(f"rank {rank} is not selected; it does not record.")
            return
        mode = ("async" if config.async_mode else "sync") if config.analyse else "no"
        handler = _TraceHandler(mode, _output.checked_place(config.prof_dir, None))
        started = _StepProfile(activities=config.activities, on_trace_ready=handler,
                               schedule=quiet_schedule(config.active, config.warmup),
                               experimental_config=config.experimental, **config.flags)
        started._step_label = self.current_step
        for key, value in config.metadata.items():
            started.add_metadata_json(key, json.dumps(value))
        started.start()
        self._profile = started
        self._steps_left = config.steps
        self._stop_step = self.current_step + config.steps
        self._say(f"recording from step {self.current_step} to {self._stop_step - 1}")
        _log.info(f"Start Dynamic Profiler at {self.current_step} step.")

    def _go_on(self) -> None:
        self._steps_left -= 1
        if self._steps_left > 0:
            self._profile.step()
        else:
            self._end()

    def _end(self) -> None:
        finished, self._profile = self._profile, None
        if self._steps_left == 0:
            finished.step()  # out of the last active step: the capture is complete
        finished.stop()
        self._say(f"stopped at step {self.current_step}")
        _log.info(f"Stop Dynamic Profiler at {self.current_step} step.")

    # ---- Parts ----------------------------------------------------------------------------------------------------

    def _measure(self) -> None:
        """The eleventh step gives the step time, and so how often to check the file."""
        if self.current_step == 10:
            self._measured_from_s = time.monotonic()
        elif self.current_step == 11 and self._channel is not None and self._measured_from_s:
            self._channel.set_interval(min(50.0, max(1.0, time.monotonic() - self._measured_from_s)))

    def _say(self, text: str) -> None:
        if self._logger is not None:
            self._logger.info(text)

    def _tell_error(self, text: str) -> None:
        self._say(text)
        _log.error(text)


def _file_logger(path: str) -> logging.Logger:
    os.makedirs(os.path.dirname(path), mode=0o750, exist_ok=True)
    os.close(_private.create(path, 0o640))  # the name could be guessed: not a link or a file of somebody else
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=200 * 1024, backupCount=1, encoding="utf-8", delay=False)
    handler.setFormatter(logging.Formatter("[%(asctime)s] [%(levelname)s] [%(process)d] %(message)s"))
    logger = logging.Logger(path, logging.INFO)  # our own: the program's logging is not touched
    logger.addHandler(handler)
    return logger


def _is_launcher() -> bool:
    """Launchers start the workers; they have no steps of their own."""
    return _launchers.is_launcher(_launchers.command_line(), os.environ, _LAUNCHERS, at_most=3)


_dynamic = _DynamicProfile()


@_log.guarded()
def init(path: str):
    """Watches `path`/profiler_config.json from now on."""
    _dynamic.init(path)


@_log.guarded(looks_for_conflict=False)
def step():
    """Ends an iteration of the training loop."""
    _dynamic.step()


@_log.guarded()
def start(config_path: str | None = None):
    """Records now, with the configuration in this file."""
    _dynamic.start(config_path)


@_log.guarded()
def set_state(state: dict):
    """{'cur_step': n}: the number of iterations done, e.g. after loading a checkpoint."""
    _dynamic.set_state(state)


@_log.guarded()
def apply_daemon_text(text: str):
    """The configuration as a host daemon sends it, lines KEY=VALUE; for clients of such a daemon."""
    _dynamic.apply_daemon_text(text)


@_log.guarded({})
def status() -> dict:
    """profiler_status (-1 not initialised, 0 idle, 1 running, 2 ready), current_step, start_step, stop_step; as texts."""
    return _dynamic.status()


def _start_from_environment() -> None:
    """PROF_CONFIG_PATH, or else the host's daemon: the optimizer's steps are the steps."""
    folder = os.environ.get("PROF_CONFIG_PATH")
    if not folder and not _wants_daemon():
        return
    if _is_launcher() or _log.in_conflict():
        return
    try:
        _optimizers.follow_last(step)
    except ImportError:
        _log.error("Dynamic profiling is switched on, but PyTorch cannot be imported; nothing is recorded.")
        return
    if folder:
        init(folder)
    else:
        _dynamic.listen_to_daemon()


def _wants_daemon() -> bool:
    if "MSMONITOR_USE_DAEMON" in os.environ:
        return _daemon.is_wanted("MSMONITOR_USE_DAEMON", _log.error)
    if "KINETO_USE_DAEMON" not in os.environ:
        return False
    _log.warning("KINETO_USE_DAEMON is deprecated, use MSMONITOR_USE_DAEMON.")
    return _daemon.is_wanted("KINETO_USE_DAEMON", _log.error)
