"""The control of a Python program: a scheme's name, control text, a file, a tree, a coding matrix."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..control.build import from_rows
from ..control.matrix import matrix_to_rows
from ..control.parse import parse
from ..control.tree import Tree
from ..core.errors import UsageError, warn_user
from ..models.control_files import read_control
from .schemes import is_scheme

# What `given_control` takes: the annotation of public functions.
Control = str | os.PathLike | Tree | np.ndarray | Sequence | Callable[[int], Any]


def given_control(
    control: Control, labels: Sequence[int], names: Mapping[int, str] | None = None
) -> Tree | str:
    """The control tree that is given, or the text of a scheme, which data may be needed for.

    Parameters
    ----------
    control : str, path-like, Tree, array of shape (m, k), or callable
        The name of a scheme; control text, which has braces; the path of a control file; a tree;
        a coding matrix of -1, 0 and 1, whose columns are the classes in ascending order; or a
        function of the number of classes that returns any of these.
    labels : sequence of int
        The labels of the classes, ascending.
    names : mapping, default=None
        Their names.

    Raises
    ------
    UsageError
        For a matrix that is none of a code, and for anything else.
    ControlError
        For text that is no control file.
    """
    if callable(control):
        control = control(len(labels))
    if isinstance(control, Tree):
        return control
    if isinstance(control, os.PathLike):
        return read_control(os.fspath(control))
    if is_scheme(control):
        return str(control)
    if isinstance(control, str):
        return parse(control)
    if hasattr(control, "toarray"):  # sparse
        control = control.toarray()
    if hasattr(control, "__array__") or isinstance(control, Sequence):
        matrix = checked_matrix(control, len(labels))
        return from_rows(matrix_to_rows(matrix), labels, names)
    raise UsageError(
        "`control`: expected the name of a scheme, the text of a control file, a pathlib.Path, a "
        f"Tree, a coding matrix or a function of the number of classes, not {control!r:.60}"
    )


def checked_matrix(matrix: Any, k: int) -> np.ndarray:
    """A coding matrix (m, k) of int8, checked; `UsageError` says what is wrong with it.

    Warns of classes that no row tells apart.
    """
    try:
        given = np.asarray(matrix)
    except ValueError as error:
        raise UsageError("`control`: the rows of the coding matrix differ in length") from error
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise UsageError(
            "`control`: expected a coding matrix with a row of numbers for each binary classifier, "
            f"found an array of the shape {given.shape}"
        )
    if given.shape[1] != k:
        if given.shape[0] == k:
            hint = ": its transpose has, as code_book_ of scikit-learn"
        else:
            hint = ""
        raise UsageError(
            f"the coding matrix has {given.shape[1]} columns: expected one for each of the {k} "
            f"classes{hint}"
        )
    wrong = np.argwhere(~np.isin(given, (-1, 0, 1)))
    if len(wrong):
        row, column = wrong[0]
        raise UsageError(
            f"the coding matrix has {given[row, column]:g} in row {row + 1}, column {column + 1}: "
            "expected -1, 0 or 1"
        )
    one_sided = np.flatnonzero((given.min(axis=1) > -1) | (given.max(axis=1) < 1))
    if len(one_sided):
        raise UsageError(
            f"row {one_sided[0] + 1} of the coding matrix has one side: expected -1 for a class and "
            "1 for another"
        )
    unused = np.flatnonzero(~given.any(axis=0))
    if len(unused):
        raise UsageError(f"column {unused[0] + 1} of the coding matrix is 0 in all rows")
    columns, group = np.unique(given, axis=1, return_inverse=True)
    if columns.shape[1] < k:
        group = np.ravel(group)
        first, second = np.flatnonzero(group == np.argmax(np.bincount(group)))[:2]
        warn_user(
            f"the columns {first + 1} and {second + 1} of the coding matrix are the same: no "
            "classifier tells these classes apart"
        )
    return given.astype(np.int8)
