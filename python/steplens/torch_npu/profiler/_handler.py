"""`tensorboard_trace_handler`: where captures go, and that they are analysed."""

from __future__ import annotations

import time
from typing import Any, Optional

from ... import _analyse, _log
from ..._check import Checker
from . import _output


class _TraceHandler:
    """An on_trace_ready that analyses the finished capture. `mode`: no, sync or async; `place`: where captures go."""

    has_place = True

    def __init__(self, mode: str, place: _output.Place):
        self.mode = mode
        self.place = place

    def __call__(self, finished: Any) -> None:
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
