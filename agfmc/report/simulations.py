"""Simulated decoders as a table, and as comma-separated values."""

from __future__ import annotations

from .blocks import Block, table
from .content import Column, DataTable, TableRow


def simulation_blocks(rows: list, top: int) -> list[Block]:
    """The block of the rows of `simulations`."""
    columns = _columns(rows, top)
    cells = zip(
        *(
            [None if value is None else format(value, form) for value in values]
            for _, _, values, form in columns
        )
    )
    heads = tuple(Column(heading, "number") for heading, *_ in columns)
    return [table(DataTable("", heads, tuple(map(TableRow, cells))))]


def simulation_csv(rows: list, top: int) -> str:
    """The rows of `simulations` as comma-separated values in full precision."""
    _, names, values, _ = zip(*_columns(rows, top))
    cells = [
        names,
        *(["" if value is None else repr(value) for value in line] for line in zip(*values)),
    ]
    return "".join(",".join(line) + "\n" for line in cells)


def _columns(rows, top):
    """[(heading, name in a file, a value for each row, its format)]."""
    decoders = [_decoders(row, top) for row in rows]
    shares = []
    for parts in zip(*decoders):
        heading, name, first = parts[0]
        shares.append((heading, name, [part["success"] for *_, part in parts], ".4f"))
        if first.get("exact") is not None:
            exact = [part["exact"] for *_, part in parts]
            shares.append(("exact", f"{name}_exact", exact, ".4f"))
    errors = [max(part["standard_error"] for *_, part in parts) for parts in decoders]

    def numbers(heading, name, form):
        return heading, name, [row[name] for row in rows], form

    columns = [
        numbers("classes", "classes", "d"),
        numbers("error", "error", "g"),
        *shares,
        ("std.err", "standard_error", errors, ".4f"),
        numbers("s1/s2", "separation", ".3f"),
        numbers("limit", "separation_limit", ".3f"),
        numbers("enough", "opponents_enough", "d"),
        numbers("bound", "opponents_bound", "d"),
    ]
    if rows[0]["error"] is None:
        of_errors = ("error", "separation_limit", "opponents_bound")
        return [column for column in columns if column[1] not in of_errors]
    return columns


def _decoders(row, top):
    """[(heading, name in a file, its shares)] of a row."""
    polls = [(poll["opponents"], poll) for poll in row["polls"]]
    return [
        ("MAX-WIN", "max_win", row["max_win"]),
        *((f"POLL {word}", f"poll_{word}", poll) for word, poll in polls),
        *((f"TOP-{top} {word}", f"poll_{word}_top_{top}", poll["top"]) for word, poll in polls),
        ("ADAG", "adag", row["adag"]),
        ("DDAG", "ddag", row["ddag"]),
    ]
