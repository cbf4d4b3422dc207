"""Columns of a table by what they are for: label, ids, weight, group, features."""

from __future__ import annotations

import os
from typing import NamedTuple

from ..core.errors import DataError, one_line
from ..core.text import first_words
from .reading import columns_called
from .words import number_of, Table
from .types import ColumnRoles, LABEL_NAMES


class Roles(NamedTuple):
    """Positions, from 0, of the columns of a table by what they are for; None for none."""

    label: int | None
    ids: tuple[int, ...]
    weight: int | None
    features: tuple[int, ...]
    categorical: frozenset[int]
    orders: dict[int, tuple[str, ...]]
    group: int | None


def resolve_roles(table: Table, roles: ColumnRoles, labelled: bool = True) -> Roles:
    """The `Roles` of the columns of a table; labelled: one of them has to be the label.

    Raises `DataError` for names that no column has, and for columns that have two parts.
    """
    if not labelled:
        label = ()
    elif roles.label is None:
        label = (_label_position(table),)
    else:
        label = column_positions(table, (roles.label,), "`label`")
    weight, group = (() if name is None else (name,) for name in (roles.weight, roles.group))
    names_of = {
        "`ids`": roles.ids,
        "`weight`": weight,
        "`group`": group,
        "`ignored`": roles.ignored,
        "`categorical`": roles.categorical,
        "`ordered`": [name for name, _ in roles.orders],
    }
    parts = {"the label": label}
    for part, names in names_of.items():
        parts[part] = column_positions(table, names, part)
    taken: dict[int, str] = {}
    for part, positions in parts.items():
        for position in positions:
            if position in taken:
                raise DataError(
                    f"column {quoted(table.names[position])} cannot be for "
                    f"{taken[position]} and for {part}",
                    file=table.file,
                )
            taken[position] = part
    features = tuple(
        position
        for position in range(len(table.names))
        if taken.get(position) in (None, "`ordered`", "`categorical`")
    )
    single = ("the label", "`weight`", "`group`")
    label, weight, group = (next(iter(parts[part]), None) for part in single)
    categorical = frozenset(parts["`categorical`"])
    orders = dict(zip(parts["`ordered`"], (words for _, words in roles.orders)))
    return Roles(label, parts["`ids`"], weight, features, categorical, orders, group)


def column_positions(table: Table, names, part: str) -> tuple[int, ...]:
    """Positions, from 0, of the columns of those names, or numbers from 1; `DataError`."""
    positions = []
    called = columns_called(table, names)
    for name in names:
        if name in called:
            positions.append(called[name])
        elif name.isascii() and name.isdigit() and 1 <= int(name) <= len(table.names):
            positions.append(int(name) - 1)
        else:
            raise DataError(
                f"{part}: there is no column {quoted(name)}; the columns are "
                + listed_names(table.names)
                + _header_hint(table.names),
                file=table.file,
            )
    return tuple(positions)


def column_or_file(table: Table, name: str, part: str) -> str | None:
    """The column of that name, or None where there is a file in its place; `DataError`."""
    if name == "-":
        return None
    try:
        return table.names[column_positions(table, (name,), part)[0]]
    except DataError as error:
        if os.path.exists(name):
            return None
        raise DataError(
            f"{error.message}; there is no file of that name either", file=table.file
        ) from None


def _header_hint(names):
    if len(names) == 1:
        return (
            ": the first line must have the names alone, without a title or comment, and "
            "`delimiter` names the character between cells"
        )
    if any(number_of(name) is not None for name in names) and names[0] != "1":
        return ": `header=False` where the first line does not name them"
    return ""


def _label_position(table):
    positions = [
        position for position, name in enumerate(table.names) if name.lower() in LABEL_NAMES
    ]
    if len(positions) == 1:
        return positions[0]
    if positions:
        names = listed_names([table.names[position] for position in positions])
        several = f"columns {names} could hold the classes"
    else:
        several = f"no column is named {', '.join(LABEL_NAMES[:-1])} or {LABEL_NAMES[-1]}"
    raise DataError(
        f"{several}: `label` names the one that does; the columns are "
        + listed_names(table.names)
        + _header_hint(table.names),
        file=table.file,
    )


def quoted(name: str) -> str:
    """The name of a column or a word in quotes, for a message."""
    return f"'{one_line(name)}'"


def listed_names(names) -> str:
    """The names in quotes, or the first of many, for a message."""
    return first_words([*map(quoted, names)])
