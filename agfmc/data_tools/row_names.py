"""Ids of some rows, and the missing cells of a training table, read again block by block."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..formats.answer_columns import open_answers
from ..formats.table import open_table, Words
from ..models import InputFormat
from ..prepare.column_survey import column_positions
from ..tables import ROW, TableFormat, TableRecipe

__all__ = ["TableFacts", "answer_ids", "ids_beside", "table_facts"]

BETWEEN = " / "  # the cells of several columns of ids
_MOST_HEADS = 4  # columns before an answer that are taken for ids; more are a whole table


class TableFacts(NamedTuple):
    """missing: {column: missing cells} of the columns of features that have some;  ids: {row: its
    id} of the rows that were asked for, the first is 0; {} where the table has no ids."""

    missing: dict[str, int]
    ids: dict[int, str]


def table_facts(path: str, form: InputFormat, recipe: TableRecipe,
                rows: Iterable[int] = ()) -> TableFacts:
    """The `TableFacts` of the table that a recipe was made of; memory holds one block of rows.

    rows: whose ids are wanted, the first is 0.  Raises `DataError` where the table is not what it
    was.
    """
    with open_table(path, form.layout) as table:
        features = column_positions(table, [one.name for one in recipe.columns], "features")
        ids = column_positions(table, recipe.ids, "--id")
        wanted = dict.fromkeys(features, "either") | dict.fromkeys(ids, "text")
        missing = dict.fromkeys(features, 0)

        def counted():
            for block in table.blocks(wanted):
                for at in missing:
                    missing[at] += _missing(block[at])
                yield block.rows, [block[at] for at in ids]

        names = _ids(counted(), rows if ids else ())
    return TableFacts({table.names[at]: count for at, count in missing.items() if count}, names)


def _missing(cells):
    return int(np.count_nonzero(cells.codes < 0 if isinstance(cells, Words) else np.isnan(cells)))


def ids_beside(base: str, rows: Iterable[int]) -> dict[int, str]:
    """{row: id} of binary data, from base.ids, which `table2agf` writes; {} without that file."""
    path = f"{base}.ids"
    if not os.path.isfile(path):
        return {}
    with open_table(path, TableFormat(delimiter=",")) as table:
        positions = range(len(table.names))
        return _ids(((block.rows, [block[at] for at in positions])
                     for block in table.blocks(dict.fromkeys(positions, "text"))), rows)


def answer_ids(path: str, form: TableFormat, predicted: str, rows: Iterable[int],
               columns: Sequence[str] = ()) -> dict[int, str]:
    """{row: id} in a table of answers, the first row is 0.

    columns: of the ids, else those before the answers, `predicted`, as `classify_m` writes them;
    {} where these are too many to be ids.
    """
    with open_answers(path, form) as table:
        heads = tuple(columns) or table.names[:table.names.index(predicted)]
        if ROW in heads and not columns:
            heads = (ROW,)
        if not 0 < len(heads) <= _MOST_HEADS:
            return {}
        cells = table.read(dict.fromkeys(heads, "text")).cells
    return _ids([(len(cells[heads[0]]), [cells[name] for name in heads])], rows)


def _ids(blocks, rows):
    """{row: id} of some rows, of (number of rows, columns of ids) that come in their order."""
    ids, first, requested = {}, 0, np.array(sorted(set(map(int, rows))), np.int64)
    for count, columns in blocks:
        for row in requested[slice(*np.searchsorted(requested, [first, first + count]))].tolist():
            ids[row] = BETWEEN.join(column[row - first].strip() for column in columns)
        first += count
    return ids
