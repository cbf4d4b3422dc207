"""Ids of the rows of a table, which must all differ."""

from __future__ import annotations

from hashlib import blake2b

from ..errors import one_line
from ..formats.inputs import refuse_beyond
from ..formats.table import Block, Table

__all__ = ["RowIds"]

_BYTES = 85  # of memory for each row
_SHOWN = 60  # characters of a cell in a message


class RowIds:
    """The ids of rows seen so far, each the text of the cells in some columns together.

    positions: of these columns, whose cells blocks give as text.  A set holds 128 bits of each row
    (BLAKE2b), which nobody has seen agree for two texts.
    """

    def __init__(self, table: Table, positions: tuple[int, ...]):
        self._table, self._positions = table, positions
        self._seen: set[bytes] = set()

    def add(self, block: Block) -> None:
        """Take the ids of a block; `DataError` for the first row whose id an earlier one has."""
        refuse_beyond(_BYTES * (len(self._seen) + block.rows), "the ids of the rows",
                      self._table.file)
        cells = [block[at] for at in self._positions]
        keys = cells[0] if len(cells) == 1 else [
            "".join([f"{len(cell)}:{cell}" for cell in row]) for row in zip(*cells)]
        digests = [blake2b(key.encode(), digest_size=16).digest() for key in keys]
        if len(set(digests)) < len(digests) or not self._seen.isdisjoint(digests):
            for row, digest in enumerate(digests):
                if digest in self._seen:
                    raise self._error(block, row)
                self._seen.add(digest)
        self._seen.update(digests)

    def _error(self, block, row):
        columns = []
        for at in self._positions:
            cell = one_line(block[at][row])
            cell = cell if len(cell) <= _SHOWN else f"{cell[:_SHOWN]}..."
            columns.append(f"'{one_line(self._table.names[at])}' has '{cell}'")
        return block.error(row, f"column{'s' * (len(columns) > 1)} {', '.join(columns)}: the id is "
                                f"that of an earlier {block.counted} already (further columns of "
                                "--id may tell them apart; classify_m --all-columns takes them as "
                                "they are)")
