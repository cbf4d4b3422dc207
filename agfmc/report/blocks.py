"""The blocks that the sections of a page are made of, as plain data; nothing here knows HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .content import DataTable, Picture


@dataclass(frozen=True)
class Matrix:
    """A table of counts, a row for each true class and a column for each answer.

    Attributes
    ----------
    heads : names of the columns, of which the first are those of the rows, with the positions of
        their classes
    """

    caption: str
    heads: tuple[tuple[str, tuple[int, ...]], ...]
    rows: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Block:
    """A part of a section.

    Attributes
    ----------
    kind : "text", "note", "heading", "facts", "table", "pictures", "matrix", "code" or
        "beside" (two sequences of blocks)
    title : title of folded code
    """

    kind: str
    value: Any
    title: str = ""


@dataclass(frozen=True)
class Section:
    """A section of a page: the name of its anchor, its title, and its blocks."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


# Makers of blocks of one value.

text = partial(Block, "text")
heading = partial(Block, "heading")  # of what follows in a section
facts = partial(Block, "facts")  # pairs of a name and a value
table = partial(Block, "table")
matrix = partial(Block, "matrix")
code = partial(Block, "code")  # in type of one width; folded below its title, where it has one


def note(words: str) -> Block:
    """A paragraph that a reader must not miss."""
    return Block("note", words if words.endswith(".") else f"{words}.")


def pictures(*items: Picture | None) -> list[Block]:
    """The block of those pictures that are there; none where no picture is."""
    shown = tuple(picture for picture in items if picture is not None)
    if shown:
        return [Block("pictures", shown)]
    return []


def beside(left: Sequence[Block], right: Sequence[Block]) -> list[Block]:
    """Blocks with others to the right of them, where there is room for both."""
    if left and right:
        return [Block("beside", (tuple(left), tuple(right)))]
    return [*left, *right]


def without_empty(table: DataTable) -> DataTable:
    """A table without the columns that are empty in all rows."""
    keep = [
        at
        for at in range(len(table.columns))
        if any(row.cells[at] not in (None, "") for row in table.rows)
    ]
    return replace(
        table,
        columns=tuple(table.columns[at] for at in keep),
        rows=tuple(replace(row, cells=tuple(row.cells[at] for at in keep)) for row in table.rows),
    )
