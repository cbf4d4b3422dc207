"""Ids of the rows of a table, which must all differ, in bounded memory."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from ..errors import DataError, one_line, system_reason
from ..formats.atomic import temporary_file
from ..formats.table import Block, Table

__all__ = ["RowIds"]

_RUN = 1 << 17  # rows in memory
_SHOWN = 60  # characters of a cell in a message
_EDGES = np.arange(256, dtype="<u8") << np.uint64(56)  # of parts that are compared at a time
_SEEN = np.dtype([("high", "<u8"), ("low", "<u8"), ("number", "<i8")])


class RowIds:
    """The ids of rows seen so far, each the text of the cells in some columns together.

    positions: of these columns, whose cells blocks give as text.  Rows are compared by 128 bits
    (BLAKE2b), which nobody has seen agree for two texts.  Runs of them are sorted in memory; all
    but the last go to a temporary file, of 24 bytes for each row.
    """

    def __init__(self, table: Table, positions: tuple[int, ...]):
        self._table, self._positions = table, positions
        self._waiting: list = []  # (`_SEEN` (n,), the cells) of the blocks of this run
        self._rows = self._stored = 0
        self._cuts: list = []  # of the runs in the file: where each part of the bits begins
        self._file = None

    def add(self, block: Block) -> None:
        """Take the ids of a block; `DataError` where a row of the run has one of them already."""
        cells = [block[at] for at in self._positions]
        keys = cells[0] if len(cells) == 1 else [
            "".join([f"{len(cell)}:{cell}" for cell in row]) for row in zip(*cells)]
        seen = np.empty(block.rows, dtype=_SEEN)
        digests = np.frombuffer(b"".join([
            blake2b(key.encode(), digest_size=16).digest() for key in keys]), "<u8")
        seen["high"], seen["low"] = digests[::2], digests[1::2]
        seen["number"] = block.numbers()
        self._waiting.append((seen, cells))
        self._rows += block.rows
        if self._rows >= _RUN:
            self._store(self._sorted_run())

    def finish(self) -> None:
        """Compare the runs with each other; `DataError` for the first row with an id seen before.

        Further rows cannot come.
        """
        last = self._sorted_run()
        if self._file is None:
            return
        self._store(last)
        with self._file as file:
            self._compare_runs(file)

    def _sorted_run(self):
        if not self._waiting:
            return np.empty(0, _SEEN)
        run = _ordered(np.concatenate([seen for seen, _ in self._waiting]))
        twice = _repeated(run)
        if twice is not None:
            raise self._error(*twice)
        self._waiting, self._rows = [], 0
        return run

    def _store(self, run):
        try:
            if self._file is None:
                self._file = temporary_file()
            self._file.write(run.tobytes())
        except OSError as error:
            raise DataError(f"cannot write a temporary file: {system_reason(error)}") from error
        self._cuts.append(self._stored + np.searchsorted(run["high"], _EDGES))
        self._stored += len(run)

    def _compare_runs(self, file):
        """Part by part: the bits are evenly spread, so that each part has as many rows."""
        found = []
        ends = [cuts[0] for cuts in self._cuts[1:]] + [self._stored]
        cuts = np.column_stack([self._cuts, ends])
        for part in range(len(_EDGES)):
            pieces = []
            for start, stop in cuts[:, part:part + 2].tolist():
                file.seek(start * _SEEN.itemsize)
                pieces.append(file.read((stop - start) * _SEEN.itemsize))
            twice = _repeated(_ordered(np.frombuffer(b"".join(pieces), _SEEN)))
            if twice is not None:
                found.append(twice)
        if found:
            raise self._error(*min(found))

    def _error(self, number, first):
        """number, first: of the row whose id is there already, and of the row that has it."""
        table = self._table
        line = table.counted == "line"
        shown = [self._shown(at, number) for at in range(len(self._positions))]
        names = ", ".join(f"'{one_line(table.names[at])}'{text}"
                          for at, text in zip(self._positions, shown))
        return DataError(("" if line else f"{table.counted} {number}: ")
                         + f"column{'s' * (len(shown) > 1)} {names}: the id is that of "
                         f"{table.counted} {first} already (further columns of --id may tell "
                         "them apart; classify_m --all-columns takes them as they are)",
                         file=table.file, line=number if line else None)

    def _shown(self, column, number):
        """The cell in the row of this number, if it is still there."""
        for seen, cells in self._waiting:
            row = np.flatnonzero(seen["number"] == number)
            if len(row):
                cell = one_line(cells[column][row[0]])
                return f" has '{cell if len(cell) <= _SHOWN else cell[:_SHOWN] + '...'}'"
        return ""


def _ordered(seen):
    """By their bits, and equal ones by the numbers of the rows."""
    ordered = seen[np.argsort(np.ascontiguousarray(seen["high"]))]
    if np.any(ordered["high"][1:] == ordered["high"][:-1]):  # the rest takes as long again
        return seen[np.lexsort((seen["number"], seen["low"], seen["high"]))]
    return ordered


def _repeated(seen):
    """(number, first) of the first row whose bits an earlier row has, in ordered rows; or None."""
    same = np.flatnonzero((seen["high"][1:] == seen["high"][:-1])
                          & (seen["low"][1:] == seen["low"][:-1]))
    if not len(same):
        return None
    # the second of all rows with these bits has the first one just before it
    at = same[np.argmin(seen["number"][same + 1])]
    return int(seen["number"][at + 1]), int(seen["number"][at])
