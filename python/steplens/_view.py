"""The viewer for a job, beside a notebook or a session."""

from __future__ import annotations

import atexit
import html
import re
import selectors
import subprocess
import time
from typing import Any, Sequence

from . import _analyse, _errors


class View:
    """A viewer that runs. `url` is its address; `close()` ends it, as the end of this process does."""

    def __init__(self, paths: Sequence[str], timeout: float):
        try:
            program = _analyse.find_program()
        except _analyse.AnalyseError as problem:
            raise _errors.NotFoundError("the program steplens was not found: set STEPLENS_PROGRAM to its path or add its folder to "
                                        "PATH") from problem
        self._process = subprocess.Popen([program, "view", "--no-browser", *paths], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        atexit.register(self.close)
        self.url = self._wait_for_address(timeout)

    def _wait_for_address(self, timeout: float) -> str:
        said = b""
        end = time.monotonic() + timeout
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while time.monotonic() < end and selector.select(max(0.0, end - time.monotonic())):
                piece = self._process.stdout.read1(65536)  # type: ignore[attr-defined]
                said += piece
                found = re.search(rb"(http://\S+)\s", said)
                if found:
                    return found.group(1).decode()
                if not piece:
                    break
        self.close()
        text = said.decode("utf-8", "replace").strip()
        raise _errors.Error(text.splitlines()[-1] if text else f"the viewer did not start within {timeout:g} s")

    def close(self) -> None:
        """Ends the viewer."""
        atexit.unregister(self.close)
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "open" if self._process.poll() is None else "closed"
        return f"<viewer at {self.url}, {state}>"

    def _repr_html_(self) -> str:
        address = html.escape(self.url, quote=True)
        return f'<a href="{address}" target="_blank">open the viewer</a> (the address lets one browser in)'
