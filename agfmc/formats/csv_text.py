"""Rows of text as CSV, as RFC 4180 has it but for line breaks, which are single newlines."""

import csv
import io
from collections.abc import Sequence

__all__ = ["csv_line", "csv_lines"]


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
