"""How jobs, tables and results look: aligned text in a terminal, a table and a small chart in a notebook."""

from __future__ import annotations

import html
import shutil
from typing import Any, Iterable, Optional, Sequence

ROWS_AS_TEXT = 20
ROWS_AS_HTML = 30
ROWS_OF_TABLE = 5
BARS = 12
COLORS = ("#4269d0", "#ff725c", "#efb118", "#6cc5b0")
# Parts of a step, as they lie behind each other.
STEP_PARTS = ("computing_ns", "communication_not_overlapped_ns", "free_ns")


def _width() -> int:
    return shutil.get_terminal_size((120, 24)).columns


def _shorten(text: str, length: int = 48) -> str:
    return text if len(text) <= length else text[:length - 1] + "…"


def _aligned(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [list(headers), *([_shorten(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def _html_table(headers: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> str:
    def cell(tag: str, text: str, is_number: bool) -> str:
        side = "right" if is_number else "left"
        return f'<{tag} style="text-align:{side};white-space:nowrap" title="{html.escape(text)}">{html.escape(_shorten(text))}</{tag}>'

    head = "".join(cell("th", text, is_number) for text, is_number in zip(headers, numeric))
    body = "".join("<tr>" + "".join(cell("td", text, is_number) for text, is_number in zip(row, numeric)) + "</tr>" for row in rows)
    return f'<div style="overflow-x:auto"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _more(shown: int, all_rows: int) -> str:
    return f"{all_rows - shown:,} more of {all_rows:,} rows" if all_rows > shown else ""


def result_text(native: Any) -> str:
    text = native.text(_width(), ROWS_AS_TEXT).rstrip("\n")
    more = _more(min(len(native), ROWS_AS_TEXT), len(native))
    return f"{text}\n({more})" if more else text if len(native) else f"{text}\n(no rows)"


def answer_text(tables: Iterable[Any], warnings: Sequence[str]) -> str:
    results = list(tables)
    parts = [f"{one.name}:\n{one!r}" if len(results) > 1 else repr(one) for one in results]
    return "\n\n".join([*parts, *warnings])


def result_html(native: Any, caption: str = "") -> str:
    headers = [_unit(header, kind) for _, header, kind, _ in native.columns]
    numeric = [kind != "text" for _, _, kind, _ in native.columns]
    shown = native.cells(0, ROWS_AS_HTML)
    more = _more(len(shown), len(native))
    title = f"<b>{html.escape(caption)}</b>" if caption else ""
    return title + bar_chart(native) + _html_table(headers, shown, numeric) + (f"<i>{more}</i>" if more else "")


def answer_html(tables: Iterable[Any], warnings: Sequence[str]) -> str:
    parts = [result_html(one._native, one.name) for one in tables]
    return "<br>".join(parts) + "".join(f"<p>{html.escape(warning)}</p>" for warning in warnings)


def _unit(header: str, kind: str) -> str:
    """Times are shown as microseconds: what does not say so is told."""
    return f"{header} (us)" if kind == "time" and "us" not in header.lower().replace("status", "") else header


def table_text(table: Any) -> str:
    rows = table._rows_as_text(ROWS_OF_TABLE)
    headers = table._headers()
    more = _more(len(rows), len(table))
    text = f"{table.name}: {len(table):,} rows. {table.doc}\n{_aligned(headers, rows)}"
    return f"{text}\n({more})" if more else text


def table_html(table: Any) -> str:
    rows = table._rows_as_text(ROWS_OF_TABLE)
    headers = table._headers()
    numeric = [len(rows) > 0 and all(row[i] == "" or row[i].lstrip("-").replace(".", "", 1).isdigit() for row in rows)
               for i in range(len(headers))]
    more = _more(len(rows), len(table))
    return (f"<b>{html.escape(table.name)}</b>: {len(table):,} rows. {html.escape(table.doc)}"
            f"{_html_table(headers, rows, numeric)}" + (f"<i>{more}</i>" if more else ""))


RANK_HEADERS = ("rank", "source", "format", "level", "device", "path")


def _rank_rows(ranks: Sequence[Any]) -> list[list[str]]:
    return [[str(rank.number), rank.source, rank.format, rank.level, "" if rank.device is None else str(rank.device), rank.path]
            for rank in ranks[:ROWS_AS_HTML]]


def ranks_text(ranks: Sequence[Any]) -> str:
    more = _more(min(len(ranks), ROWS_AS_HTML), len(ranks))
    return _aligned(RANK_HEADERS, _rank_rows(ranks)) + (f"\n({more})" if more else "")


def ranks_html(ranks: Sequence[Any]) -> str:
    more = _more(min(len(ranks), ROWS_AS_HTML), len(ranks))
    return _html_table(RANK_HEADERS, _rank_rows(ranks), [True, False, False, False, True, False]) + (f"<i>{more}</i>" if more else "")


def _job_line(job: Any) -> str:
    if job._native is None:
        return f"closed job: {', '.join(job.paths)}"
    return (f"job of {len(job.ranks)} rank{'' if len(job.ranks) == 1 else 's'}: {', '.join(job.paths)} "
            f"({len(job['slices']):,} slices, {len(job['kernels']):,} kernels, {len(job['steps']):,} steps)")


def job_text(job: Any) -> str:
    return "\n".join([f"<{_job_line(job)}>", *job.notes])


def job_html(job: Any) -> str:
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in job.notes)
    return f"<b>{html.escape(_job_line(job))}</b>{ranks_html(job.ranks)}{notes}"


def _value_columns(native: Any) -> list[int]:
    """What the bars show: the parts of a step, else the total time, else the first time, else the first number that is no share."""
    columns = native.columns
    names = [name for name, *_ in columns]
    if all(part in names for part in STEP_PARTS):
        return [names.index(part) for part in STEP_PARTS]
    times = [i for i, (_, _, kind, _) in enumerate(columns) if kind == "time"]
    totals = [i for i in times if names[i].startswith("total")]
    numbers = [i for i, (name, header, kind, _) in enumerate(columns) if kind == "number" and "%" not in header]
    return (totals or times or numbers)[:1]


def _label_columns(native: Any) -> list[int]:
    """What the bars are called: rank and step, and the first text."""
    columns = native.columns
    keys = [i for i, (name, _, kind, _) in enumerate(columns) if name in ("rank", "step") and kind == "integer"]
    texts = [i for i, (_, _, kind, _) in enumerate(columns) if kind == "text"]
    return keys + texts[:1]


def _number(text: str) -> Optional[float]:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value >= 0 and value != float("inf") else None


def bar_chart(native: Any) -> str:
    """The first rows as horizontal bars, an SVG; empty where there is nothing to draw."""
    values, labels = _value_columns(native), _label_columns(native)
    if not values or not labels or len(native) < 2:
        return ""
    bars = []
    for cells in native.cells(0, BARS):
        numbers = [_number(cells[i]) for i in values]
        if any(number is None for number in numbers):
            return ""
        bars.append((" · ".join(cells[i] for i in labels), numbers))
    longest = max(sum(numbers) for _, numbers in bars)
    if longest <= 0:
        return ""
    return _draw(bars, longest, [_unit(native.columns[i][1], native.columns[i][2]) for i in values])


def _draw(bars: Sequence[Any], longest: float, legend: Sequence[str]) -> str:
    left, width, height = 230, 420, 18
    parts = []
    for row, (label, numbers) in enumerate(bars):
        y = 20 + row * height
        x = float(left)
        parts.append(f'<text x="{left - 6}" y="{y + 12}" text-anchor="end">{html.escape(_shorten(label, 34))}</text>')
        for color, number in zip(COLORS, numbers):
            length = number / longest * width
            parts.append(f'<rect x="{x:.1f}" y="{y + 1}" width="{length:.1f}" height="{height - 4}" fill="{color}"/>')
            x += length
        parts.append(f'<text x="{x + 4:.1f}" y="{y + 12}">{sum(numbers):,.6g}</text>')
    x = left
    for color, text in zip(COLORS, legend):
        parts.append(f'<rect x="{x}" y="4" width="10" height="10" fill="{color}"/><text x="{x + 14}" y="13">{html.escape(text)}</text>')
        x += 30 + 7 * len(text)
    total = max(left + width + 90, x)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{total}" height="{24 + len(bars) * height}" '
            f'style="font:11px sans-serif;fill:currentColor">{"".join(parts)}</svg>')
