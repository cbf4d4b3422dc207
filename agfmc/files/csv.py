"""Rows as CSV, as RFC 4180 has it but for line breaks, single newlines, and files of such text."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, ExitStack

from .atomic import replacing_all


def csv_line(cells: Sequence[str], delimiter: str = ",") -> bytes:
    """One row in UTF-8: cells that hold a delimiter, a quote or a line break are quoted."""
    return csv_lines([[cell] for cell in cells], delimiter)


def csv_lines(columns: Sequence[Sequence[str]], delimiter: str = ",") -> bytes:
    """The rows of columns of equal length."""
    out = io.StringIO()
    plain = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    if any("\r" in cell for column in columns for cell in column):  # older versions of csv do
        quoted = csv.writer(
            out,
            delimiter=delimiter,
            lineterminator="\n",  # not quote it
            quoting=csv.QUOTE_ALL,
        )
        for row in zip(*columns):
            (quoted if any("\r" in cell for cell in row) else plain).writerow(row)
    else:
        plain.writerows(zip(*columns))
    return out.getvalue().encode("utf-8", "surrogateescape")


def csv_of_numbers(rows: Iterable[Iterable]) -> str:
    """Rows of words and numbers, these in nine digits; nothing for None and NaN."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(
        [
            "" if cell is None or cell != cell else cell if isinstance(cell, str) else f"{cell:.9g}"
            for cell in cells
        ]
        for cells in rows
    )
    return out.getvalue()


@contextmanager
def writing_text(path: str, show: Callable[[bytes], None]) -> Iterator[Callable[[bytes], object]]:
    """As `writing_texts`, for one file: the function that writes to it."""
    with writing_texts([path], show) as (write,):
        yield write


@contextmanager
def writing_texts(
    paths: Sequence[str], show: Callable[[bytes], None]
) -> Iterator[list[Callable[[bytes], object]]]:
    """Functions that write to files, which all appear whole or not at all; `-`: `show`.

    show(b"") ends what is shown, before the files appear.
    """
    named = [path for path in paths if path != "-"]
    with ExitStack() as stack:
        files = dict(zip(named, stack.enter_context(replacing_all(named, binary=True, text=True))))
        yield [show if path == "-" else files[path].write for path in paths]
        if "-" in paths:
            show(b"")
