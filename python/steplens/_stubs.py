"""Writes the types of the questions' methods, as every build does:  python3 -m steplens._stubs FILE"""

from __future__ import annotations

import sys

from ._native_reader import reader
from ._questions import document, method_name
from ._reading import Job

TYPES = {"integer": "int", "number": "float", "text": "str", "list": "Sequence[int] | str"}
HEAD = '''"""The types of the questions. Made by `python3 -m steplens._stubs`."""

from typing import Any, Iterable, Sequence

from ._result import Answer

def as_argument(value: Any) -> Any: ...
def method_name(question: str, tables: Iterable[str]) -> str: ...
def define(native: Any) -> None: ...
def document(description: str, arguments: Any, answer: Any) -> str: ...

class Questions:
    """The methods of a job that are questions, named as in `steplens ask`."""
'''


def stub() -> str:
    """The text of _questions.pyi."""
    native = reader()
    tables = set(native.table_names())
    text = HEAD
    for name, description, arguments, answer in native.questions():
        if name in vars(Job):
            continue  # a method of its own
        given = "".join(f", {arg}: {TYPES[kind]} | None = ..." for arg, kind, _, _ in arguments)
        indented = document(description, arguments, answer).replace("\\", "\\\\").replace("\n", "\n        ").replace("\n        \n", "\n\n")
        end = "\n        " if "\n" in indented else ""
        text += f'\n    def {method_name(name, tables)}(self{", *" if given else ""}{given}) -> Answer:\n        """{indented}{end}"""\n'
    return text


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(stub())
