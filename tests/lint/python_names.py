"""Fails on Python that pyflakes objects to (unused imports and variables, undefined names), and on syntax of the package that is newer
than the oldest Python it is for.

    python3 tests/lint/python_names.py [ROOT]

An __init__.py imports what the package offers; a line that says "noqa" imports for the effect. Both may leave a name unused.
"""

import ast
import pathlib
import subprocess
import sys

OLDEST = (3, 9)  # of python/steplens, as setup.py says
FOLDERS = ["python", "tests", "tools", "bench", "scripts", "ui/tests"]


def sources(root):
    """Every Python file, scripts without an ending as well, in a fixed order."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix == ".py":
                yield path
            elif path.is_file() and not path.suffix and path.read_bytes()[:32].startswith(b"#!/usr/bin/env python3"):
                yield path


def is_wanted(line, root):
    """Whether a line of pyflakes is about what the rule means."""
    where, _, text = line.partition(": ")
    file, _, number = where.rpartition(":")[0].rpartition(":")
    if "imported but unused" not in text or not number.isdigit():
        return True
    if file.endswith("__init__.py"):
        return False
    return "noqa" not in (root / file).read_text(encoding="utf-8").splitlines()[int(number) - 1]


def too_new(root):
    for path in sorted((root / "python" / "steplens").rglob("*.py")):
        try:
            ast.parse(path.read_text(encoding="utf-8"), feature_version=OLDEST)
        except SyntaxError as problem:
            yield f"{path.relative_to(root)}:{problem.lineno}: {problem.msg}"


def check(root):
    names = [path.relative_to(root).as_posix() for path in sources(root)]
    done = subprocess.run(["/usr/bin/python3", "-m", "pyflakes", *names], cwd=root, capture_output=True, text=True, check=False)
    if "No module named pyflakes" in done.stderr:
        return ["pyflakes is missing: scripts/setup test installs it"]
    return [line for line in (done.stdout + done.stderr).splitlines() if is_wanted(line, root)] + list(too_new(root))


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[2]
    problems = check(root)
    for problem in problems:
        print(problem)
    print(f"python: {len(problems)} problems" if problems else "python: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
