"""Scores of the order that probabilities give: areas under curves, and the first K answers."""

from collections.abc import Iterable, Iterator

import numpy as np

from ..core.probabilities import weights_or_ones
from .classes import mean_of_known


def places(p: np.ndarray, y: np.ndarray) -> Iterator[tuple]:
    """The ranks of all points among those of each class, by its probability; p (n, k), true columns
    y (n,).

    Yields (points (c,) of the class, ascending; number (n,) of them with a smaller probability than
    each point; number (n,) of those whose probability is not larger).
    """
    for j in range(p.shape[1]):
        column = np.ascontiguousarray(p[:, j])
        rows = np.flatnonzero(y == j)
        rows = rows[np.argsort(column[rows])]
        order = np.argsort(column)  # sorted needles are searched much faster
        needles = column[order]
        hay = column[rows]
        left, right = np.empty((2, len(y)), dtype=np.int32)
        left[order] = np.searchsorted(hay, needles, side="left")
        right[order] = np.searchsorted(hay, needles, side="right")
        yield rows, left, right


def separation(
    places_of_classes: Iterable[tuple], y: np.ndarray, k: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """A (k, k), shares of pairs of a point of class i and one of j whose first has larger p_i.

    Ties count half; the share is NaN without points. `y` (n,) are the true columns; with `weights`
    (n,) a pair weighs their product.
    """
    w = weights_or_ones(weights, len(y))
    of_class = np.bincount(y, weights=w, minlength=k)
    area = np.full((k, k), np.nan)
    for i, (rows, left, right) in enumerate(places_of_classes):
        below = np.concatenate([[0.0], np.cumsum(w[rows])])
        above = below[-1] - 0.5 * (below[left] + below[right])
        whole = below[-1] * of_class
        np.divide(
            np.bincount(y, weights=w * above, minlength=k), whole, out=area[i], where=whole > 0
        )
    return area


def area_by_class(area: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(k,) areas under the curves of each class against the rest; shares (k,) of the classes."""
    others = np.where(np.isnan(area) | np.eye(len(area), dtype=bool), 0.0, shares)
    total = others.sum(axis=1)
    sums = np.sum(np.where(others > 0, area, 0.0) * others, axis=1)
    return np.divide(sums, total, out=np.full(len(area), np.nan), where=total > 0)


def macro_area(area: np.ndarray, shares: np.ndarray) -> float:
    """Mean of `area_by_class` over the classes that have points."""
    return mean_of_known(area_by_class(area, shares))


def hand_till(area: np.ndarray, shares: np.ndarray) -> float:
    """Mean of A over all pairs of different classes that have points, whatever their shares.

    References
    ----------
    D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC curve for multiple
        class classification problems", 2001.
    """
    return mean_of_known(area[~np.eye(len(area), dtype=bool)])


def top_shares(p: np.ndarray, y: np.ndarray, number: int) -> np.ndarray:
    """(n,): 1 where fewer than `number` classes have a larger p than the true one, else 0.

    Where equal ones stand on both sides of that number, its share of them.
    """
    chosen = p[np.arange(len(p)), y][:, None]
    greater = np.count_nonzero(p > chosen, axis=1)
    equal = np.count_nonzero(p == chosen, axis=1)
    return np.clip((number - greater) / equal, 0.0, 1.0)
