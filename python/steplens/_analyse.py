"""Analysis of captures by the program `steplens`, in a separate process: immediately, or while the training continues.

The program is looked for in $STEPLENS_PROGRAM, beside the package, in the build tree around it, and in PATH.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import shlex
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Optional, Sequence

from . import _log

_background: list["Job"] = []


class AnalyseError(Exception):
    """The analysis could not be done; the text says why."""


def find_program(in_path: bool = True, for_path: str = "PATH") -> str:
    """The path of the program; raises AnalyseError if there is none. `in_path`: also search PATH; `for_path`: what is to be analysed."""
    named = os.environ.get("STEPLENS_PROGRAM")
    if named:
        if _is_program(named):
            return named
        raise AnalyseError(f"STEPLENS_PROGRAM names {named}, which is not an executable file.")
    for place in _places_around(__file__):
        if _is_program(place):
            return place
    found = shutil.which("steplens") if in_path else None
    if found:
        return found
    raise AnalyseError("the program steplens was not found: set STEPLENS_PROGRAM to its path or add its folder to PATH. "
                       f"The recorded data is complete and can be analysed later with: {later(for_path)}")


def later(path: str) -> str:
    """The command that analyses captures, for people to copy."""
    return shlex.join(["steplens", "analyse", path])


def _places_around(module: str) -> list[str]:
    """Beside the package (installed), above it (build tree), and in the build folder of the sources it is linked to."""
    places = []
    for path in (os.path.abspath(module), os.path.realpath(module)):
        package = os.path.dirname(path)
        tree = os.path.dirname(os.path.dirname(package))
        places += [os.path.join(package, "steplens"), os.path.join(package, "bin", "steplens"),
                   os.path.join(tree, "steplens"), os.path.join(tree, "build", "steplens")]
    return places


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


class Job:
    """One run of the program."""

    def __init__(self, arguments: Sequence[str]):
        self.arguments = list(arguments)
        self._pid = os.getpid()
        self._errors: IO[bytes] = tempfile.TemporaryFile()
        command = [find_program(for_path=self.arguments[1]), *self.arguments]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=self._errors, env=_environment())
        except OSError as problem:
            self._errors.close()
            raise AnalyseError(f"{command[0]} cannot be run: {problem.strerror}") from problem

    def wait(self) -> None:
        """Waits for the end; raises AnalyseError with what the program said if it failed, and repeats its warnings if not."""
        if os.getpid() != self._pid:
            return  # a forked child; the process belongs to its parent
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode("utf-8", "replace").strip()
        self._errors.close()
        if code != 0:
            raise AnalyseError(f"{shlex.join(['steplens', *self.arguments])} ended with code {code}: "
                               f"{said.splitlines()[-1] if said else 'it said nothing'}")
        for line in said.splitlines():
            _log.warning(line.removeprefix("steplens: "))


def _environment() -> dict[str, str]:
    """The program is not part of what is recorded."""
    return {key: value for key, value in os.environ.items() if key not in ("STEPLENS_RECORD", "LD_PRELOAD")}


def refuses(path: object = "PATH") -> bool:
    """Analysis starts processes, which a daemonic process must not; says so."""
    if not multiprocessing.current_process().daemon:
        return False
    _log.error("A daemonic process cannot analyse captures. Call the analysis from a process that is not daemonic, "
               f"or later with: {later(str(path))}")
    return True


def analyse_arguments(path: str, export: Optional[Sequence[str]], jobs: Optional[int], steps: Optional[Sequence[int]] = None,
                      simplify: Optional[bool] = None) -> list[str]:
    arguments = ["analyse", path]
    if export:
        arguments += ["--export-type", ",".join(export)]
    if jobs:
        arguments += ["--jobs", str(jobs)]
    if steps:
        arguments += ["--step-list", ",".join(map(str, steps))]
    if simplify is not None:
        arguments += ["--data-simplification", "on" if simplify else "off"]
    return arguments


def analyse(path: str, export: Optional[Sequence[str]] = None, jobs: Optional[int] = None, wait: bool = True,
            steps: Optional[Sequence[int]] = None, simplify: Optional[bool] = None) -> bool:
    """Analyses one capture: all its steps, or those of `steps`. `simplify`: the exporter's files go afterwards; None: as recorded.
    Without `wait` it goes on in the background until the end of this process, which joins it. Problems are reported, not raised.
    True: done, or under way."""
    if refuses(path):
        return False
    try:
        job = Job(analyse_arguments(path, export, jobs, steps, simplify))
        if wait:
            job.wait()
        else:
            _background.append(job)
    except AnalyseError as problem:
        _log.error(f"Analysis of {path} failed: {problem}")
        return False
    return True


def analyse_all(paths: Sequence[str], export: Optional[Sequence[str]], processes: int, steps: Optional[Sequence[int]] = None,
                simplify: Optional[bool] = None) -> bool:
    """Analyses captures, a process each and at most `processes` at a time. A failed one does not stop the others."""
    if len(paths) == 1:
        return analyse(paths[0], export, processes, steps=steps, simplify=simplify)
    with ThreadPoolExecutor(max_workers=max(1, processes)) as pool:
        return all(list(pool.map(lambda path: analyse(path, export, 1, steps=steps, simplify=simplify), paths)))


def export(path: str, kind: str, output: str, metric: Optional[str] = None, device: Optional[str] = None) -> None:
    """Writes one file from a capture; `kind`: chrome_trace, stacks or memory_timeline. Raises AnalyseError."""
    arguments = ["analyse", path, "--export", kind, "--output", output]
    if metric:
        arguments += ["--metric", metric]
    if device:
        arguments += ["--device", device]
    Job(arguments).wait()


def join() -> None:
    """Waits for the analyses in the background."""
    while _background:
        job = _background.pop(0)
        try:
            job.wait()
        except AnalyseError as problem:
            _log.error(str(problem))


def _join_at_exit() -> None:
    try:
        join()
    except KeyboardInterrupt:
        pass  # the user does not want to wait; the analysis can be repeated


atexit.register(_join_at_exit)
os.register_at_fork(after_in_child=_background.clear)
