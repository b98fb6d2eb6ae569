"""Results: tables that were computed, and their ways into other libraries."""

from __future__ import annotations

from typing import Any, Iterator, Mapping, Optional, Sequence

from . import _show


class Frame:
    """What tables of a capture and results have in common: their ways into other libraries."""

    name: str

    def _chunks(self, column: str) -> list[Any]:
        raise NotImplementedError

    def _headers(self) -> list[str]:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        raise NotImplementedError

    def to_arrow(self) -> Any:
        """A pyarrow.Table over the same memory. polars and DuckDB take the table itself, without this."""
        try:
            import pyarrow
        except ImportError as problem:
            raise ImportError("to_arrow needs PyArrow 14 or newer (pip install pyarrow); other libraries that read Arrow take the "
                              "table as it is, through __arrow_c_stream__") from problem
        return pyarrow.RecordBatchReader.from_stream(self).read_all()

    def to_numpy(self) -> dict[str, Any]:
        """An array per column, by name. Numbers without a copy where the table has one rank; texts as arrays of str."""
        return {column: _array(self._chunks(column)) for column in self._headers()}

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Integers that may be missing have the nullable types; texts of a capture are categories."""
        try:
            import pandas
        except ImportError as problem:
            raise ImportError("to_pandas needs pandas (pip install pandas, or Debian's python3-pandas)") from problem
        return pandas.DataFrame({column: _series(self._chunks(column), isinstance(self, Result)) for column in self._headers()},
                                copy=False)


def _numbers(chunks: Sequence[Any]) -> Any:
    import numpy

    arrays = [numpy.asarray(chunk) for chunk in chunks]
    return arrays[0] if len(arrays) == 1 else numpy.concatenate(arrays) if arrays else numpy.empty(0, "int64")


def _missing(chunks: Sequence[Any]) -> Any:
    """True for each row without a value; None if every row has one."""
    import numpy

    if not any(chunk.null_count for chunk in chunks):
        return None
    masks = []
    for chunk in chunks:
        bits = chunk.validity
        masks.append(numpy.zeros(len(chunk), bool) if bits is None else
                     ~numpy.unpackbits(numpy.frombuffer(bits, numpy.uint8), count=len(chunk), bitorder="little").astype(bool))
    return numpy.concatenate(masks)


def _categories(chunks: Sequence[Any]) -> tuple[Any, list[str]]:
    """Numbers of texts, over all chunks, and the texts: only those that occur."""
    import numpy

    texts: dict[str, int] = {}
    out = []
    for chunk in chunks:
        codes = numpy.asarray(chunk)
        used = numpy.flatnonzero(numpy.bincount(codes)) if len(codes) else codes
        places = [texts.setdefault(text, len(texts)) for text in chunk.texts(used.tolist())]
        table = numpy.zeros(int(used[-1]) + 1 if len(used) else 1, numpy.int32)
        table[used] = places
        out.append(table[codes])
    codes = out[0] if len(out) == 1 else numpy.concatenate(out) if out else numpy.empty(0, "int32")
    missing = _missing(chunks)
    if missing is not None:
        codes = numpy.where(missing, numpy.int32(-1), codes)
    return codes, list(texts)


def _array(chunks: Sequence[Any]) -> Any:
    import numpy

    if not chunks or chunks[0].type != "text":
        return _numbers(chunks)
    codes, texts = _categories(chunks)
    return numpy.array([*texts, None], object)[codes]


def _series(chunks: Sequence[Any], is_result: bool) -> Any:
    import pandas

    if is_result and chunks[0].type == "text":
        return pandas.Series(_array(chunks), dtype=object)
    if chunks and chunks[0].type == "text":
        codes, texts = _categories(chunks)
        return pandas.Series(pandas.Categorical.from_codes(codes, categories=texts))
    values = _numbers(chunks)
    missing = _missing(chunks) if values.dtype.kind != "f" else None
    return pandas.Series(values if missing is None else pandas.arrays.IntegerArray(values, missing), copy=False)


class Result(Frame):
    """A table that was computed. Columns by name: `result["total_time_ns"]`; times are integer nanoseconds.

    Printed, it looks as in the console, where times are microseconds. In a notebook it is a table and a chart.
    """

    def __init__(self, native: Any):
        self._native = native

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the table."""
        return self._native.name

    @property
    def columns(self) -> list[str]:
        """The names of the columns, as SQL has them."""
        return [name for name, *_ in self._native.columns]

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, column: str) -> Any:
        """A column: as NumPy and Arrow take it, and with to_list()."""
        names = self.columns
        if column not in names:
            from . import _errors

            raise _errors.NotFoundError(f"the table {self.name} has no column {column!r}; columns: {', '.join(names)}")
        return self._native.column(names.index(column))

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Row by row, as tuples; None where there is no value."""
        return zip(*(self[column].to_list() for column in self.columns))

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dict per row."""
        names = self.columns
        return [dict(zip(names, row)) for row in self.rows()]

    def _chunks(self, column: str) -> list[Any]:
        return [self[column]]

    def _headers(self) -> list[str]:
        return self.columns

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._native.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return _show.result_text(self._native)

    def _repr_html_(self) -> str:
        return _show.result_html(self._native)


class Answer(Result):
    """What a question gives: its first table, with all of them in `.tables`, and in `.warnings` what the capture lacks for it."""

    def __init__(self, tables: Sequence[Any], warnings: Sequence[str], query: str):
        super().__init__(tables[0])
        self.tables: Mapping[str, Result] = {table.name: Result(table) for table in tables}
        self.warnings = list(warnings)
        self.sql: Optional[str] = query or None

    def __repr__(self) -> str:
        return _show.answer_text(self.tables.values(), self.warnings)

    def _repr_html_(self) -> str:
        return _show.answer_html(self.tables.values(), self.warnings)
