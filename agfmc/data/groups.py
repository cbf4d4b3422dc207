"""Groups of rows that are alike, such as those of a patient or a day, in files and in memory.

A file of groups is text with the name of the group of one point in each line.  Binary data with the
base name `base` have theirs in `base.grp`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..core.errors import DataError, one_line, UsageError
from ..core.text import name_fault
from ..files.opening import read_bytes
from ..tables.places import (
    DEGREES,
    grid_cells,
    metres_of,
    pair_numbers,
    PairSurvey,
    place_columns,
)
from ..tables.survey import ordered_words
from ..tables.words import Table
from .types import Dataset, InputFormat, NO_GROUPS

ENDING = ".grp"
TEXT_ENDING = ".groups"  # added to the name of a text of points, for the groups beside it


def groups_beside(base: str) -> str | None:
    """The file of the groups of binary data with this base name, or None where there is none."""
    path = base + ENDING
    if base != "-" and os.path.exists(path):
        return path
    return None


def group_numbers_beside(base: str, n: int) -> np.ndarray | None:
    """The numbers of the groups in the file beside n binary points, or None."""
    path = groups_beside(base)
    if path is None:
        return None
    return np.unique(read_groups(path, n), return_inverse=True)[1]


def with_groups_of(data: Dataset, base: str, form: InputFormat, stdin=None) -> Dataset:
    """A Dataset with the groups in the file of `form.groups`, or beside binary points."""
    path = form.groups
    if path is None:
        if form.kind == "binary":
            path = groups_beside(base)
        else:
            path = None
    if path in (None, NO_GROUPS):
        return data
    if path == base == "-":
        raise UsageError("points and groups cannot both come from standard input")
    return with_groups(data, read_groups(path, len(data.x), stdin))


def read_groups(path: str, n: int | None = None, stdin=None) -> list[str]:
    """The names of the groups of n points, None for any number, in a file, or `-`.

    Raises `DataError` for another number of lines than n, and, with its line, for an empty one.
    """
    text = (
        read_bytes(path, stdin, expected="the group of a point in each line")
        .decode("utf-8", errors="surrogateescape")
        .removeprefix("\ufeff")
    )
    words = [line.strip() for line in text.removesuffix("\n").split("\n")]
    if "" in words:
        raise DataError(
            "expected the group of a point in each line, found an empty one",
            file=path,
            line=words.index("") + 1,
        )
    if n not in (None, len(words)):
        raise DataError(f"holds {len(words)} groups for {n} points", file=path)
    return words


def with_groups(data: Dataset, groups: Sequence | None) -> Dataset:
    """A Dataset whose points have these groups (n,), words or whole numbers; unchanged for None.

    The names are numbered in their order, whatever the order of the points. Raises `DataError` for
    another number of groups than points, and for missing ones.
    """
    if groups is None:
        return data
    words = np.asarray(groups).tolist()
    if np.shape(groups) != (len(data.x),):
        raise DataError(
            f"groups: expected {len(data.x)} words or whole numbers, one for each point"
            f", found an array of shape {np.shape(groups)}"
        )
    for row, word in enumerate(words):
        if not isinstance(word, (str, int)) and not (isinstance(word, float) and word.is_integer()):
            raise DataError(
                f"groups: expected words or whole numbers, found {word!r} in row {row} (from 0)"
            )
    words = [word if isinstance(word, str) else str(int(word)) for word in words]
    names = tuple(ordered_words(set(words)))
    number = {name: code for code, name in enumerate(names)}
    return replace(
        data,
        group_names=names,
        groups=np.fromiter(map(number.__getitem__, words), np.int32, len(words)),
    )


def _classes_in_groups(data):
    """Labels and groups (p,) of the pairs that occur in a Dataset."""
    labels, code = np.unique(data.y, return_inverse=True)
    width = data.groups.max(initial=0) + np.int64(1)
    pairs = np.unique(code * width + data.groups)
    return labels[pairs // width], pairs % width


def group_counts(data: Dataset) -> dict[int, int]:
    """{label: groups} of a Dataset with groups, the labels ascending."""
    labels, counts = np.unique(_classes_in_groups(data)[0], return_counts=True)
    return dict(zip(labels.tolist(), counts.tolist()))


def check_groups(
    data: Dataset, source: str | None = None, where: str = "", *, rows=None, remedy: bool = False
) -> None:
    """Raise `DataError` where a class of a Dataset with groups lies in one group only.

    Only the `rows` are looked at, those of a part that the words `where` are for. With `remedy` the
    error names options that help.
    """
    if data.groups is None:
        return
    part = data
    if rows is not None:
        part = replace(data, y=data.y[rows], groups=data.groups[rows])
    alone = [label for label, count in group_counts(part).items() if count == 1]
    if not alone:
        return
    labels, groups = _classes_in_groups(part)
    label = alone[0]
    group = int(groups[np.argmax(labels == alone[0])])
    if label in data.name_of:
        name = f" '{one_line(data.name_of[label])}'"
    else:
        name = ""
    if data.group_names is None:
        group = str(group)
    else:
        group = one_line(data.group_names[group])
    way = ""
    if remedy:
        least = 1 + group_counts(data)[label]
        way = (
            f"; `min_class=1,{least}` leaves out classes in fewer than {least} groups; with "
            '`group="none"` they are trained, without a promise for new groups'
        )
    raise DataError(
        f"class {label}{name} lies in one group only{where}, '{group}': it cannot be "
        f"held out and trained on; expected two groups or more{way}",
        file=source,
    )


def group_words(data: Dataset) -> list[str]:
    """The names of the groups of the points of a Dataset."""
    return [data.group_names[group] for group in data.groups.tolist()]


def groups_bytes(words: Sequence[str], path: str | None = None) -> bytes:
    """The contents of a file of groups; `DataError` for a name that could not be read back."""
    for word in set(words):
        fault = name_fault(word)
        if word.startswith("\ufeff"):
            fault = "its byte order mark would be lost"
        if fault:
            raise DataError(f"{word!r} cannot be the name of a group: {fault}", file=path)
    return "".join(f"{word}\n" for word in words).encode("utf-8", "surrogateescape")


def place_groups(table: Table, size: str) -> list[str]:
    """The names of the cells of a grid, groups of the rows of a table.

    Raises `DataError` for a table without columns of places, and for rows without a place.
    """
    metres = metres_of(size)
    places = place_columns(table.names)
    if places is None:
        positions, kind, in_degrees = [_column_of_pairs(table)], "words", True
    else:
        positions, kind = [table.names.index(name) for name in places[:2]], "number"
        in_degrees = places.in_degrees
    named = " and ".join(f"'{one_line(table.names[at])}'" for at in positions)
    where = f"column{'s' * (len(positions) > 1)} {named}"
    groups: list[str] = []
    for block in table.blocks(dict.fromkeys(positions, kind)):
        if places is None:
            cells = block[positions[0]]
            numbers = np.vstack([pair_numbers(cells.words), [[np.inf] * 2]])[cells.codes]
        else:
            numbers = np.column_stack([block[at] for at in positions])
        lacking = ~np.isfinite(numbers).all(axis=1)
        if lacking.any():
            raise block.error(
                int(np.argmax(lacking)),
                f"expected a place in {where} of every row, for `group_places`",
            )
        wrong = (np.abs(numbers) > DEGREES).any(axis=1) & in_degrees
        if wrong.any():
            raise block.error(
                int(np.argmax(wrong)),
                f"expected degrees, -90 to 90 and -360 to 360, in {where}, for `group_places`",
            )
        groups += grid_cells(*numbers.T, metres, in_degrees)
    return groups


def _column_of_pairs(table):
    """The position of the first column whose cells, as far as one block tells, are pairs."""
    block = next(iter(table.blocks(dict.fromkeys(range(len(table.names)), "words"))))
    for at in block.columns:
        pairs = PairSurvey()
        pairs.add(dict.fromkeys(block[at].words, 1))
        if pairs.holds_pairs:
            return at
    raise DataError(
        "has no columns of places, which `group_places` needs: expected lat and lon, easting and "
        "northing, or a column of cells as 47.57, 8.91",
        file=table.file,
    )
