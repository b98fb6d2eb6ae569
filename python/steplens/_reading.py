"""Reading captures: jobs, their ranks and tables, and what can be asked of them.

    import steplens
    job = steplens.open("profiles/run1")
    job.breakdown()                       # where the time of each step went
    job.slices["dur_ns"]                  # a column, as NumPy and Arrow take it
    job.query("SELECT name, sum(dur_ns) FROM slices GROUP BY name")
"""

from __future__ import annotations

import os
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from . import _errors, _questions, _show
from ._native_reader import reader
from ._result import Answer, Frame, Result

Paths = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]


def open(path: Paths, *, threads: int = 0, use_cache: bool = True, strict: bool = False) -> Job:  # noqa: A001
    """Opens a capture, a folder of captures, or several of them, as the command line does.

    threads: threads to read with; 0: one per core. use_cache: read and write the cache of the program. strict: raise
    CorruptDataError if any record of the input is unusable; otherwise `job.notes` lists what was left out.
    """
    given = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    paths = [os.fspath(one) for one in given]
    if not paths:
        raise _errors.InvalidArgumentError("open: no path was given")
    native = reader()
    _questions.define(native)
    return Job(native.open(paths, threads, use_cache, strict), paths)


def compare(base: Union[Paths, Job], comparison: Union[Paths, Job]) -> Answer:
    """What changed from one run to another, beyond noise: parts of the step, names, ranks, groups.

    Both are jobs or paths. The first table is the step and its parts; `.tables` has all.
    """
    jobs = [one if isinstance(one, Job) else open(one) for one in (base, comparison)]
    return Answer(*reader().compare(jobs[0]._opened(), jobs[1]._opened()))


class Column:
    """A column of a table over several ranks: one chunk each. A column of one rank is a chunk itself."""

    def __init__(self, name: str, chunks: Sequence[Any]):
        self.name = name
        self.chunks = tuple(chunks)

    @property
    def type(self) -> str:
        """int64, int32, uint32, float64 or text"""
        return self.chunks[0].type if self.chunks else "int64"

    @property
    def null_count(self) -> int:
        """How many rows have no value."""
        return sum(chunk.null_count for chunk in self.chunks)

    def __len__(self) -> int:
        return sum(len(chunk) for chunk in self.chunks)

    def __getitem__(self, row: int) -> Any:
        place = row + len(self) if row < 0 else row
        if place >= 0:
            for chunk in self.chunks:
                if place < len(chunk):
                    return chunk[place]
                place -= len(chunk)
        raise IndexError(f"there is no row {row}; the column has {len(self)}")

    def __iter__(self) -> Iterator[Any]:
        for chunk in self.chunks:
            yield from chunk

    def to_list(self) -> list[Any]:
        """The values; None where there is none."""
        return [value for chunk in self.chunks for value in chunk.to_list()]

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        """The values of all ranks in one array, which is a copy; texts as numbers of the dictionary of their rank."""
        import numpy

        if copy is False:
            raise ValueError("the column has a chunk per rank; one array of all is a copy")
        arrays = [numpy.asarray(chunk) for chunk in self.chunks]
        return numpy.concatenate(arrays).astype(dtype or arrays[0].dtype, copy=False) if arrays else numpy.empty(0, dtype or "int64")

    def __repr__(self) -> str:
        return f"<column {self.name}: {self.type}, {len(self):,} rows in {len(self.chunks)} chunks>"


class Table(Frame):
    """A table of the capture. Columns are where steplens has them: NumPy, pandas and Arrow libraries look at the same memory.

    `table["name"]` and `table.name` are columns; `len(table)` its rows. Columns that are computed (`depth`) and the row numbers
    (`id`) come when they are named; `columns` lists all, with their meaning.
    """

    def __init__(self, job: Any, facts: Any, rank: Optional[int], chosen: Optional[Sequence[str]] = None):
        self._job = job
        self._facts = facts
        self._rank = rank
        self.name, self.doc, described, parts = facts
        self.columns = {column: doc for column, _, doc, _ in described}
        self._chosen = chosen
        self._places = [i for i, (number, _) in enumerate(parts) if rank is None or number == rank or len(self._own_ranks()) == 0]
        self._rows = sum(parts[i][1] for i in self._places)

    def _own_ranks(self) -> Sequence[str]:
        """Tables of the whole job have no column that numbers ranks."""
        return [column for column, _, _, origin in self._facts[2] if origin == "rank"]

    def __len__(self) -> int:
        return self._rows

    @property
    def selected(self) -> list[str]:
        """The columns that exports have: those recorded, or those of `select`."""
        if self._chosen is not None:
            return list(self._chosen)
        wanted = ("stored",) if self._rank is not None else ("stored", "rank")
        return [column for column, _, _, origin in self._facts[2] if origin in wanted]

    def select(self, *columns: str) -> Table:
        """The same table with these columns only, in this order; computed ones as well."""
        for column in columns:
            self[column]
        return Table(self._job, self._facts, self._rank, columns)

    def __getitem__(self, column: str) -> Any:
        if not isinstance(column, str):
            raise TypeError(f"a column is named by a text, not by {column!r}")
        chunks = self._job.chunks(self.name, column)
        mine = [chunks[place] for place in self._places]
        return mine[0] if len(mine) == 1 else Column(column, mine)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self.columns:
            raise AttributeError(f"table {self.__dict__.get('name')} has no column {name!r}")
        return self[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.columns})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._job.stream(self.name, self.selected, self._rank if self._own_ranks() else None)

    def _chunks(self, column: str) -> list[Any]:
        chunks = self._job.chunks(self.name, column)
        return [chunks[place] for place in self._places]

    def _rows_as_text(self, count: int) -> list[list[str]]:
        columns = [_first(self._chunks(column), count) for column in self.selected]
        return [["" if value is None else str(value) for value in row] for row in zip(*columns)]

    def _headers(self) -> list[str]:
        return self.selected

    def __repr__(self) -> str:
        return _show.table_text(self)

    def _repr_html_(self) -> str:
        return _show.table_html(self)


def _first(chunks: Sequence[Any], count: int) -> list[Any]:
    values: list[Any] = []
    for chunk in chunks:
        values += chunk.to_list(0, count - len(values))
    return values


class _Tables:
    """What has tables: a job, and each of its ranks."""

    _facts: Mapping[str, Any]

    def _table(self, name: str) -> Table:
        raise NotImplementedError

    @property
    def tables(self) -> list[str]:
        """The names of the tables: those of docs/schema.md, and the csv files of the input."""
        return list(self._facts)

    def __getitem__(self, name: str) -> Table:
        if name not in self._facts:
            raise _errors.NotFoundError(f"there is no table {name!r}; tables: {', '.join(self._facts)}")
        return self._table(name)

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_") or name not in self._facts:
            raise AttributeError(f"there is no table and no question {name!r}")
        return self._table(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._facts})


class Rank(_Tables):
    """One rank of a job. Its tables have the rows of this rank, without the column `rank`."""

    def __init__(self, job: Any, facts: Mapping[str, Any], described: Mapping[str, Any]):
        self._job = job
        self._facts = facts
        self.number: int = described["number"]
        self.source: str = described["source"]
        self.format: str = described["format"]
        self.level: str = described["level"]
        self.device: Optional[int] = described["device"]
        self.path: str = described["path"]

    def _table(self, name: str) -> Table:
        return Table(self._job, self._facts[name], self.number)

    def __repr__(self) -> str:
        return f"<rank {self.number}: {self.source} {self.format}, {self.path}>"


class Ranks(Sequence[Rank]):
    """The ranks of a job, in order; `job.ranks.of(7)` is the one of that number."""

    def __init__(self, ranks: Sequence[Rank]):
        self._ranks = tuple(ranks)

    def __len__(self) -> int:
        return len(self._ranks)

    def __getitem__(self, place: Any) -> Any:
        return self._ranks[place]

    def of(self, number: int) -> Rank:
        """The rank of this number."""
        for rank in self._ranks:
            if rank.number == number:
                return rank
        known = ", ".join(str(rank.number) for rank in self._ranks[:20]) + (", ..." if len(self._ranks) > 20 else "")
        raise _errors.NotFoundError(f"there is no rank {number}; ranks: {known}")

    def __repr__(self) -> str:
        return _show.ranks_text(self._ranks)

    def _repr_html_(self) -> str:
        return _show.ranks_html(self._ranks)


class Job(_questions.Questions, _Tables):
    """What `steplens.open` gives: the ranks, their tables, and every question of `steplens ask` as a method.

    Tables and arrays keep what they need: a job may be closed or dropped while they live.
    """

    def __init__(self, native: Any, paths: Sequence[str]):
        self._native = native
        self.paths = tuple(paths)
        self._known = {facts[0]: facts for facts in native.tables()}
        self.ranks = Ranks([Rank(native, self._known, described) for described in native.ranks()])
        self.notes: list[str] = native.notes()

    def _opened(self) -> Any:
        if self._native is None:
            raise _errors.InvalidArgumentError("this job was closed")
        return self._native

    @property
    def _facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        return self.__dict__.get("_known", {})

    def _table(self, name: str) -> Table:
        return Table(self._opened(), self._known[name], None)

    def close(self) -> None:
        """Lets go of the job. Tables and arrays that were taken from it stay as they are."""
        self._native = None
        self.ranks = Ranks([])

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def query(self, sql: str, *, max_rows: Optional[int] = None) -> Result:
        """The result of one SELECT statement (SQLite's dialect) over the tables and the questions. Only reads.

        max_rows: leave out the rows beyond this many.
        """
        return Result(self._opened().query(sql, max_rows))

    def ask(self, question: str, **arguments: Any) -> Answer:
        """The answer to a question by its name; `steplens.questions()` lists them with their arguments."""
        given = {name: _questions.as_argument(value) for name, value in arguments.items() if value is not None}
        return Answer(*self._opened().ask(question, given))

    def breakdown(self, *, rank: Optional[int] = None, step: Optional[int] = None) -> Result:
        """How the time of each step is spent: computing, communication, free; as `steplens breakdown`."""
        return Result(self._opened().list("breakdown", "", "", rank, step))

    def ops(self, by: Optional[str] = None, *, communication: Optional[str] = None, rank: Optional[int] = None,
            step: Optional[int] = None) -> Result:
        """The operators that take the most time, as `steplens ops`.

        by: name, type, shape, core, api or operator; without it what the capture knows best. communication: include, exclude
        or only.
        """
        return Result(self._opened().list("ops", by or "", communication or "", rank, step))

    def cluster(self, mode: str, **options: Any) -> Answer:
        """What a mode of `steplens cluster` answers, e.g. cluster("slow_rank"); docs/cluster has a page for each."""
        return self.ask("cluster_summary" if mode == "summary" else mode, **options)

    def view(self, *, height: int = 800, timeout: float = 60) -> Any:
        """Starts the viewer for this job; the last value of a notebook cell shows it there. `.url` is its address, `.close()` ends it."""
        from . import _view

        return _view.View(self.paths, height, timeout)

    def __repr__(self) -> str:
        return _show.job_text(self)

    def _repr_html_(self) -> str:
        return _show.job_html(self)


def questions() -> list[str]:
    """The names of all questions; `help(job.NAME)` says what each answers."""
    return [name for name, *_ in reader().questions()]
