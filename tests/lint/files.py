"""Fails on files that break the rules of the house.

    python3 tests/lint/files.py [ROOT]

  * every folder of src/ has a README.md;
  * no source file in src/ is longer than 600 lines (a remark from 500 on);
  * headers of src/ that share a namespace define no two types of one name: the linker would silently take one for the other;
  * a to-do note names its issue: TODO(#12);
  * no tabs, no blanks at the end of a line, a newline at the end of the file.
"""

import pathlib
import re
import sys

MAX_LINES = 600
LONG_LINES = 500
CHECKED = {".h", ".cc", ".py", ".md", ".cmake", ".json", ".svg", ".ts", ".tsx", ".mjs", ".css", ".html"}
CHECKED_FOLDERS = ["src", "include", "python", "ui/src", "ui/tests", "ui/public", "tests", "bench", "fuzz", "examples", "docs", "scripts", "tools",
                   "cmake"]
# Data with the layout of its format, not ours.
DATA = re.compile(r"^(examples/sample|tests/(golden|data)|fuzz/corpus)/")
# The rules themselves have to spell out what they forbid.
TODO_EXEMPT = {"tests/lint/files.py", "tests/lint/files_test.py", "CONTRIBUTING.md"}
TODO = re.compile(r"\bTODO\b(?!\(#\d+\))")
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)[^;{(]*\{", re.MULTILINE)


def text_files(root):
    """Our text files, relative to `root`, in a fixed order."""
    paths = list(root.glob("*.md"))
    for folder in CHECKED_FOLDERS:
        paths += (root / folder).rglob("*")
    for path in sorted(paths):
        name = path.relative_to(root).as_posix()
        is_script = path.parent == root / "scripts"
        if path.is_file() and (path.suffix in CHECKED or is_script) and not DATA.match(name):
            yield name, path


def line_problems(name, text):
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line:
            yield f"{name}:{number}: tab"
        if line != line.rstrip():
            yield f"{name}:{number}: blank at the end of the line"
        if name not in TODO_EXEMPT and TODO.search(line):
            yield f"{name}:{number}: TODO without an issue number, write TODO(#12)"
    if text and not text.endswith("\n"):
        yield f"{name}: no newline at the end of the file"


def repeated_types(headers):
    """Of (name, text) of headers: types that a namespace has twice."""
    first = {}
    for name, text in headers:
        namespace = NAMESPACE.search(text)
        for defined in TYPE.findall(text):
            known = first.setdefault((namespace and namespace.group(1), defined), name)
            if known != name:
                yield f"{name}: {defined} is defined in {known} as well, in the same namespace"


def check(root):
    """(problems, remarks) of the tree below `root`."""
    problems, remarks, headers = [], [], []
    for folder in sorted(p for p in (root / "src").rglob("*") if p.is_dir()):
        if not (folder / "README.md").is_file():
            problems.append(f"{folder.relative_to(root).as_posix()}: no README.md")
    for name, path in text_files(root):
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            problems.append(f"{name}: not UTF-8 at byte {error.start}")
            continue
        problems += line_problems(name, text)
        if name.startswith("src/") and path.suffix == ".h":
            headers.append((name, text))
        lines = text.count("\n")
        if name.startswith("src/") and path.suffix in (".h", ".cc") and lines >= LONG_LINES:
            where = problems if lines > MAX_LINES else remarks
            where.append(f"{name}: {lines} lines; at most {MAX_LINES}, better below {LONG_LINES}")
    problems += repeated_types(headers)
    return problems, remarks


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[2]
    problems, remarks = check(root)
    for remark in remarks:
        print(f"remark: {remark}")
    for problem in problems:
        print(problem)
    print(f"files: {len(problems)} problems" if problems else "files: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
