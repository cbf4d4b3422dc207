"""Rows as CSV, as RFC 4180 has it but for line breaks, single newlines, and files of such text."""

import csv
import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from .atomic import replacing

__all__ = ["csv_line", "csv_lines", "writing_text"]

_LEVEL = 6  # of gzip


def csv_line(cells: Sequence[str], delimiter: str = ",") -> bytes:
    """One row in UTF-8: cells that hold a delimiter, a quote or a line break are quoted."""
    return csv_lines([[cell] for cell in cells], delimiter)


def csv_lines(columns: Sequence[Sequence[str]], delimiter: str = ",") -> bytes:
    """The rows of columns of equal length."""
    out = io.StringIO()
    plain = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    if any("\r" in cell for column in columns for cell in column):  # older versions of csv do
        quoted = csv.writer(out, delimiter=delimiter, lineterminator="\n",  # not quote it
                            quoting=csv.QUOTE_ALL)
        for row in zip(*columns):
            (quoted if any("\r" in cell for cell in row) else plain).writerow(row)
    else:
        plain.writerows(zip(*columns))
    return out.getvalue().encode("utf-8", "surrogateescape")


@contextmanager
def writing_text(path: str, show: Callable[[bytes], None]) -> Iterator[Callable[[bytes], object]]:
    """A function that writes to a file, which appears whole or not at all; `-`: `show`.

    A name that ends in .gz is of a file compressed by gzip, the same bytes for the same contents.
    show(b"") ends what is shown.
    """
    if path == "-":
        yield show
        show(b"")
        return
    with replacing(path, binary=True) as file:
        if not path.lower().endswith(".gz"):
            yield file.write
            return
        with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as zipped:
            yield zipped.write
