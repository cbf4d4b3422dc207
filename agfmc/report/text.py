"""The renderer of text: blocks as lines for a terminal, and their tables in Markdown."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from ..core.errors import one_line
from .blocks import Block
from .content import DataTable
from .words import clean, count

_NUMBERS = ("number", "share")  # kinds of columns
_SCREEN = 100  # columns
_NAMES = 16  # columns of the names of facts, at least
# for terminals: what a page has in the place of blanks, dashes, quotes and dots
_TYPED = str.maketrans(
    {
        "\u202f": "",
        "\u00a0": " ",
        "\u2013": "-",
        "\u2212": "-",
        "\u2026": "...",
        "\u201c": '"',
        "\u201d": '"',
    }
)


def width(text: str) -> int:
    """Columns of a screen that a text takes."""
    return sum(
        0
        if unicodedata.combining(character)
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def aligned(
    rows: Sequence[Sequence[str]], left: int | Sequence[bool] | None = None, gap: str = "  "
) -> str:
    """Rows of cells as lines, each column as wide as its widest cell; the first `left` columns, or
    those for which it is true, begin at the left, all for None, the others end at the right."""
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(*rows)]
    if left is None or isinstance(left, int):
        left = [left is None or index < left for index in range(len(widths))]
    lines = []
    for row in rows:
        blanks = [" " * (wide - width(cell)) for cell, wide in zip(row, widths)]
        lines.append(
            gap.join(
                cell + blank if begins else blank + cell
                for cell, blank, begins in zip(row, blanks, left)
            ).rstrip()
            + "\n"
        )
    return "".join(lines)


def blocks_text(blocks: Iterable[Block], folded: bool = False, star: bool = False) -> str:
    """Blocks as text, without pictures, if `folded` with the tables that a page folds.
    With `star` rows of tables that stand out have one."""
    lines = []
    for block in blocks:
        kind = block.kind
        value = block.value
        if kind in ("text", "note"):
            lines.append(f"{clean(value)}\n")
        elif kind == "heading":
            lines.append(f"\n{value}\n")
        elif kind == "facts":
            lines.append(aligned([(f"{name:{_NAMES}}", fact) for name, fact in value]))
        elif kind == "table" and (folded or not value.folded):
            lines.append(_table(value, star))
        elif kind == "matrix":
            names = [name for name, _ in value.heads]
            rows = [[name, *map(count, counts)] for name, counts in zip(names, value.rows)]
            lines += [f"{value.caption}\n", aligned([["", *names], *rows], 1, " ")]
        elif kind == "code":
            lines += [f"  {one_line(line)}\n" for line in value.split("\n") if line]
        elif kind == "beside":
            lines.append(_beside(*(blocks_text(side, folded, star) for side in value)))
    return "".join(lines).translate(_TYPED)


def _beside(left, right):
    rows = list(zip_longest(left.splitlines(), right.splitlines(), fillvalue=""))
    text = aligned(rows, 2)
    if max(map(width, text.splitlines())) <= _SCREEN:
        return text
    return f"{left}\n{right}"


def _table(table: DataTable, star):
    """A table in lines: its caption, the heads of its columns, and its rows, without prose."""
    columns = [(at, column) for at, column in enumerate(table.columns) if column.kind != "prose"]
    # typed before they are aligned: three dots are wider than one character
    rows = [
        [
            (column.text(row.cells[at]).translate(_TYPED) or "-" * (column.kind in _NUMBERS))
            + " *" * (star and row.strong and at == 0)
            for at, column in columns
        ]
        for row in table.rows
    ]
    return f"{table.caption}\n" * bool(table.caption) + aligned(
        [[column.title for _, column in columns], *rows],
        [column.kind not in _NUMBERS for _, column in columns],
    )


def markdown(blocks: Iterable[Block]) -> str:
    """The tables among blocks in Markdown, rows that stand out in bold."""
    tables = [_markdown(block.value) for block in blocks if block.kind == "table"]
    return "\n".join(tables).translate(_TYPED)


def _markdown(table):
    lines = [
        [column.title for column in table.columns],
        ["---:" if column.kind in _NUMBERS else "---" for column in table.columns],
    ]
    for row in table.rows:
        cells = [column.text(cell) for cell, column in zip(row.cells, table.columns)]
        lines.append([f"**{cell}**" if cell and row.strong else cell for cell in cells])
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n" for cells in lines
    )
