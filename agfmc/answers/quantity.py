"""Quantities of points from the probabilities of classes that are intervals of a quantity.

The limits of the classes are in their names (`control.limits`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..control.intervals import limits_in
from ..core.errors import UsageError


@dataclass(frozen=True, eq=False)
class Quantity:
    """The columns of the quantity of a point: its expectation, then quantiles.

    Attributes
    ----------
    order : columns (k,) of probabilities in the order of the limits
    low, high : limits (k,) of the classes in that order, ascending
    mean : typical values (k,) of the classes in that order
    levels : levels (q,) of the quantiles, in [0, 1]
    """

    order: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    levels: tuple[float, ...]

    def __call__(self, p: np.ndarray) -> np.ndarray:
        """Expectation and quantiles (n, 1 + q) for probabilities p (n, k), ascending labels.

        The expectation is sum p_j mean_j; a quantile is that of the distribution that is
        uniform within each class.  Negative estimates count as 0, and p is divided by its sum.
        """
        # sums over the columns one by one: a point then has the same bits whatever its neighbours
        p = np.maximum(p[:, self.order], 0.0)
        cumulative = np.cumsum(p, axis=1)
        nothing = cumulative[:, -1] == 0
        if nothing.any():
            p[nothing] = 1.0
            cumulative[nothing] = np.arange(1.0, p.shape[1] + 1)
        total = cumulative[:, -1]
        columns = [np.cumsum(p * self.mean, axis=1)[:, -1] / total]
        rows = np.arange(len(p))
        for level in self.levels:
            target = level * total
            at = np.argmax((cumulative >= target[:, None]) & (p > 0), axis=1)
            before = np.where(at > 0, cumulative[rows, at - 1], 0.0)
            share = np.clip((target - before) / p[rows, at], 0.0, 1.0)
            low = self.low[at]
            high = self.high[at]
            columns.append(np.minimum(low + share * (high - low), high))
        return np.column_stack(columns)

    @property
    def header(self) -> bytes:
        """The line that names the columns of `lines`."""
        return (
            " ".join(
                ["quantity", "mean", *(f"{level:g}" for level in self.levels), "class"]
            ).encode()
            + b"\n"
        )

    def lines(self, p: np.ndarray, classes: np.ndarray) -> bytes:
        """Text of a line for each point: the numbers of a call, and the class."""
        line = " %12.7g" * (1 + len(self.levels)) + " % 4d\n"
        return "".join(
            [line % (*row, label) for row, label in zip(self(p).tolist(), classes.tolist())]
        ).encode()


def quantity_of(classifier, levels: Sequence[float] = ()) -> Quantity:
    """The `Quantity` that a `Classifier` tells by its probabilities and the names of its classes.

    Raises `UsageError` where there are no probabilities of all classes, or no limits.
    """
    decoding = classifier.decoding
    tree = classifier.tree
    if (
        not classifier.all_classes
        or decoding.prints_values
        or decoding.decoder.gives not in ("probabilities", "estimates")
    ):
        raise UsageError(
            "`quantity` needs the probabilities of all classes: a decoder that gives "
            'them, and for a tree `tree="full"`'
        )
    intervals = []
    for label in classifier.classes.tolist():
        name = tree.names.get(label)
        if name is None:
            limits = None
        else:
            limits = limits_in(name)
        if limits is None:
            raise UsageError(
                "`quantity` needs classes whose names tell their limits, as "
                f"float_to_class writes them (0.5..1.2~0.8): class {label} "
                + ("has no name" if name is None else f"is named '{name}'")
            )
        intervals.append(limits)
    low, high, mean = np.array(intervals).T
    low, high = np.where(np.isnan(low), high, low), np.where(np.isnan(high), low, high)
    mean = np.where(np.isnan(mean), low + (high - low) / 2, mean)
    order = np.lexsort((high, low))
    wrong = np.flatnonzero(high[order][:-1] > low[order][1:])
    if len(wrong):
        labels = classifier.classes[order[wrong[0] : wrong[0] + 2]].tolist()
        raise UsageError(
            "`quantity` needs classes that do not overlap: "
            + " and ".join(f"'{tree.names[label]}'" for label in labels)
        )
    return Quantity(order, low[order], high[order], mean[order], tuple(levels))
