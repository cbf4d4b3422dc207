"""Ids of the rows of a table, which must all differ."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from ..core.errors import one_line
from ..core.text import name_fault
from ..core.memory import refuse_beyond
from .reading import open_table
from .roles import column_positions
from .words import Block, missing_cells, Table
from .types import TableFormat, TableRecipe

_BYTES = 85  # of memory for each row
_SHOWN = 60  # characters of a cell in a message
BETWEEN = " / "  # the cells of several columns of ids


class RowIds:
    """The ids of rows seen so far, each the text of the cells in some columns together.

    `positions` are those of these columns, whose cells blocks give as text. A set holds 128 bits of
    each row (BLAKE2b), which nobody has seen agree for two texts.
    """

    def __init__(self, table: Table, positions: tuple[int, ...]):
        self._table, self._positions = table, positions
        self._seen: set[bytes] = set()

    def add(self, block: Block) -> None:
        """Take the ids of a block; `DataError` for the first row whose id an earlier one has, or no
        file can hold."""
        refuse_beyond(
            _BYTES * (len(self._seen) + block.rows), "the ids of the rows", self._table.file
        )
        cells = [block[position] for position in self._positions]
        for column in cells:
            if fault := name_fault("".join(column), "column"):
                row = next(row for row, cell in enumerate(column) if name_fault(cell, "column"))
                raise block.error(row, f"the id {column[row]!r} cannot be written: {fault}")
        if len(cells) == 1:
            keys = cells[0]
        else:
            keys = ["".join([f"{len(cell)}:{cell}" for cell in row]) for row in zip(*cells)]
        digests = [blake2b(key.encode(), digest_size=16).digest() for key in keys]
        if len(set(digests)) < len(digests) or not self._seen.isdisjoint(digests):
            for row, digest in enumerate(digests):
                if digest in self._seen:
                    raise self._error(block, row)
                self._seen.add(digest)
        self._seen.update(digests)

    def _error(self, block, row):
        columns = []
        for position in self._positions:
            cell = one_line(block[position][row])
            if len(cell) > _SHOWN:
                cell = f"{cell[:_SHOWN]}..."
            columns.append(f"'{one_line(self._table.names[position])}' has '{cell}'")
        return block.error(
            row,
            f"column{'s' * (len(columns) > 1)} {', '.join(columns)}: the id is "
            f"that of an earlier {block.counted} already (further columns of "
            "`ids` may tell them apart; `all_columns` takes them as they are)",
        )


class TableFacts(NamedTuple):
    """Missing cells and ids of a table.

    Attributes
    ----------
    missing : {column: missing cells} of the columns of features that have some
    ids : {row: id} of the requested rows, counted from 0; {} where the table has no ids
    """

    missing: dict[str, int]
    ids: dict[int, str]


def table_facts(path: str, form, recipe: TableRecipe, rows: Iterable[int] = ()) -> TableFacts:
    """The `TableFacts` of the table that a recipe was made of; memory holds one block of rows.

    `form` is its `InputFormat`; the ids of `rows` are read, the first is 0. Raises `DataError`
    where the table is not what it was.
    """
    with open_table(path, form.layout) as table:
        features = column_positions(table, [column.source for column in recipe.columns], "features")
        ids = column_positions(table, recipe.ids, "`ids`")
        requested = dict.fromkeys(features, "either") | dict.fromkeys(ids, "text")
        missing = dict.fromkeys(features, 0)

        def counted():
            for block in table.blocks(requested):
                for position in missing:
                    missing[position] += int(np.count_nonzero(missing_cells(block[position])))
                yield block.rows, [block[position] for position in ids]

        names = read_ids(counted(), rows if ids else ())
    return TableFacts(
        {table.names[position]: count for position, count in missing.items() if count}, names
    )


def ids_beside(base: str, rows: Iterable[int]) -> dict[int, str]:
    """{row: id} of binary data, from base.ids, which `table2agf` writes; {} without that file."""
    path = f"{base}.ids"
    if not os.path.isfile(path):
        return {}
    with open_table(path, TableFormat(delimiter=",")) as table:
        requested = dict.fromkeys(range(len(table.names)), "text")
        blocks = ((block.rows, list(block.columns.values())) for block in table.blocks(requested))
        return read_ids(blocks, rows)


def read_ids(blocks: Iterable[tuple[int, list]], rows: Iterable[int]) -> dict[int, str]:
    """{row: id} of those rows, from 0; blocks: number of rows, and the columns of their ids."""
    ids = {}
    first = 0
    requested = np.array(sorted(set(map(int, rows))), np.int64)
    for count, columns in blocks:
        for row in requested[slice(*np.searchsorted(requested, [first, first + count]))].tolist():
            ids[row] = BETWEEN.join(column[row - first].strip() for column in columns)
        first += count
    return ids
