"""The viewer for a job, inside of a notebook or beside it."""

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

    def __init__(self, paths: Sequence[str], height: int, timeout: float):
        self._height = height
        try:
            program = _analyse.find_program()
        except _analyse.AnalyseError as problem:
            raise _errors.NotFoundError("the program steplens was not found: set STEPLENS_PROGRAM to its path or add its folder to "
                                        "PATH") from problem
        self._process = subprocess.Popen([program, "view", "--no-browser", "--in-frame", *paths], stdin=subprocess.DEVNULL,
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
        """A frame, and a link for where frames are not allowed. Both under the name that the notebook's page has: browsers keep
        the viewer's cookie for that one."""
        address = html.escape(self.url, quote=True)
        name = f"steplens-{self._process.pid}-{time.monotonic_ns()}"
        return (f'<div id="{name}"><a href="{address}" target="_blank">open the viewer in a tab</a></div><script>(() => {{'
                f'const place = document.getElementById("{name}"), link = place.firstChild;'
                'if (!["localhost", "127.0.0.1"].includes(location.hostname)) return;'
                'link.href = link.href.replace("127.0.0.1", location.hostname);'
                'const frame = document.createElement("iframe");'
                f'frame.src = link.href; frame.width = "100%"; frame.height = "{self._height}"; frame.style.border = "0";'
                'place.appendChild(frame);'
                '})()</script>')
