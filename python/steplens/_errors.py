"""What reading captures raises: the messages are those of the program."""

from __future__ import annotations


class Error(Exception):
    """A capture or a question that cannot be dealt with; the text says why. The base of all others."""


class InvalidArgumentError(Error, ValueError):
    """Something was asked for that makes no sense."""


class NotFoundError(Error, LookupError):
    """A path, rank, step, table, column or question that is not there."""


class CorruptDataError(Error):
    """The bytes of a file do not follow its format."""


class UnsupportedError(Error):
    """A format or a situation that steplens does not deal with."""


class InputOutputError(Error, OSError):
    """The operating system refused."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory for it."""


class InternalError(Error):
    """A mistake of steplens itself; please report it."""


# By ErrorCode of src/base/status.h. What was cancelled is an interrupt.
BY_CODE = (InvalidArgumentError, NotFoundError, CorruptDataError, UnsupportedError, InputOutputError, OutOfMemoryError,
           KeyboardInterrupt, InternalError)
