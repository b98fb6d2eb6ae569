"""Every question of the registry as a method of `Job`, made when the first job is opened. A build writes their types to `_questions.pyi`."""

from __future__ import annotations

from typing import Any, Callable, Iterable

_defined = False


class Questions:
    """The methods of a job that are questions, named as in `steplens ask`."""


def as_argument(value: Any) -> Any:
    """A value as questions take it: lists of numbers become "0,3,5"."""
    if isinstance(value, (str, float)):
        return value
    if isinstance(value, (list, tuple, range, set, frozenset)):
        return ",".join(str(int(one)) for one in value)
    return int(value)


def method_name(question: str, tables: Iterable[str]) -> str:
    """As SQL names it: where a table of the capture has the name, that of a page."""
    return f"{question}_page" if question in tables else question


def define(native: Any) -> None:
    """Gives `Questions` its methods."""
    global _defined
    if _defined:
        return
    tables = set(native.table_names())
    for name, description, arguments, answer in native.questions():
        method = method_name(name, tables)
        setattr(Questions, method, _make(name, method, description, arguments, answer))
    _defined = True


def document(description: str, arguments: Any, answer: Any) -> str:
    """The text of a method's help."""
    text = description
    if arguments:
        text += "\n\n" + "\n".join(f"{name}: {doc}" + (f" (default {default})" if default else "") for name, _, default, doc in arguments)
    if len(answer) > 1:
        text += f"\n\nTables: {', '.join(answer)}"
    return text


def _make(question: str, method: str, description: str, arguments: Any, answer: Any) -> Callable[..., Any]:
    known = [name for name, *_ in arguments]

    def ask(self: Any, **given: Any) -> Any:
        unknown = [name for name in given if name not in known]
        if unknown:
            raise TypeError(f"{method}() has no argument {unknown[0]!r}; arguments: {', '.join(known) or 'none'}")
        return self.ask(question, **given)

    ask.__name__ = method
    ask.__qualname__ = f"Job.{method}"
    ask.__doc__ = document(description, arguments, answer)
    ask.__signature__ = _signature(arguments)  # type: ignore[attr-defined]
    return ask


def _signature(arguments: Any) -> Any:
    from inspect import Parameter, Signature

    own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    return Signature([own, *(Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name, *_ in arguments)])
