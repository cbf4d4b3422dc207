"""A data set, and the format of a file of data, as frozen types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from ..core.weights import Weights, WeightSource
from ..tables.types import ColumnRoles, TableFormat, TableRecipe

if TYPE_CHECKING:
    import numpy as np

NO_GROUPS = "none"  # the word in place of a file of groups: there are none


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with their labels.

    Parameters
    ----------
    x : ndarray of shape (n, d), SparsePoints or LazyPoints
        The points.
    y : ndarray of shape (n,), int32, or None
        Their labels; None for points without labels.
    names : tuple of str, default=None
        Names of the classes: entry i is the name of label i.
    recipe : TableRecipe, default=None
        How the points were made from a table.
    weights : Weights, default=None
        Weights of the points; None: all are 1.
    rows : ndarray of shape (n,), default=None
        Row numbers of the points in their file, from 0; None: all rows, in order.
    groups : ndarray of shape (n,), int32, default=None
        Numbers of the groups of the points, which no split divides; None: there are none.
    group_names : tuple of str, default=None
        Names of the groups: entry i is the name of group i.
    """

    x: np.ndarray  # or `SparsePoints`, or `LazyPoints`
    y: np.ndarray | None
    names: tuple[str, ...] | None = None
    recipe: TableRecipe | None = None
    weights: Weights | None = None
    rows: np.ndarray | None = None
    groups: np.ndarray | None = None
    group_names: tuple[str, ...] | None = None

    def __repr__(self):
        if self.y is None:
            classes = "no labels"
        else:
            classes = f"{len(self.counts)} classes"
        return f"Dataset: {self.x.shape[0]} points, {self.x.shape[1]} features, {classes}"

    @property
    def counts(self) -> dict[int, int]:
        """{label: samples}, the labels ascending."""
        from ..core.points import label_counts

        return label_counts(self.y)

    @property
    def name_of(self) -> dict[int, str]:
        """{label: name}, empty where labels have no names."""
        return dict(enumerate(self.names or ()))


@dataclass(frozen=True)
class InputFormat:
    """The layout of points in files.

    Attributes
    ----------
    kind : "binary" (a base name of .vec, of .cls or .dat, and of .names), "svm" (LIBSVM text),
        "lvq" (LVQ text) or "table"
    missing : value of the features that a line of LIBSVM text leaves out, None for 0
    header : LVQ text begins with its number of features
    ordinates : numbers stand in place of the labels
    layout, roles : layout and columns of a table
    groups : file of the groups of the points, `NO_GROUPS`, or None for `base.grp` where that
        exists; for a table also the name of a column
    no_data : value of .vec files that are classified: a point that has it has no data
    """

    kind: str = "binary"
    missing: float | None = None
    header: bool = True
    labels: bool = True
    ordinates: bool = False
    layout: TableFormat = TableFormat()
    roles: ColumnRoles = ColumnRoles()
    weights: WeightSource = WeightSource()
    groups: str | None = NO_GROUPS
    no_data: float | None = None

    def __post_init__(self):
        if self.kind not in ("binary", "svm", "lvq", "table"):
            raise UsageError(f"there is no kind of data {self.kind!r}")

    @property
    def fill(self) -> float:
        """The value of features that a line of LIBSVM text leaves out."""
        if self.missing is None:
            return 0.0
        return self.missing
