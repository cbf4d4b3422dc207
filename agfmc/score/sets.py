"""Scores of sets of classes: how often they hold the true one, and how large they are."""

import numpy as np

from .intervals import clopper_pearson, effective_number
from .probabilities import mean

__all__ = ["set_scores"]


def set_scores(size: np.ndarray, holds: np.ndarray, y: np.ndarray, labels: np.ndarray,
               weights: np.ndarray | None = None) -> dict:
    """Scores of the sets of points: of size (n,), with the true class or not, holds (n,) bool.

    y (n,): true columns, of the labels (k,).  Keys: points, coverage with its Clopper-Pearson
    interval (low, high), mean_size, empty, sizes ([size, points], ...), by_class (label,
    points, coverage, low, high, mean_size of the points of each class).
    """
    sizes, points = np.unique(size, return_counts=True)
    k = len(labels)
    of_class = np.bincount(y, minlength=k)
    hits = np.bincount(y, weights=holds, minlength=k)
    members = np.bincount(y, weights=size, minlength=k)
    rows = [{"label": int(labels[j]), "points": int(of_class[j]),
             **_coverage(hits[j], of_class[j], members[j])} for j in range(k)]
    # weights that are no counts: for as many points as tell as much
    n = effective_number(weights, len(size))
    shares = (hits.sum(), members.sum()) if weights is None else \
        (n * mean(holds, weights), n * mean(size, weights))
    return {"points": len(size), **_coverage(shares[0], n, shares[1]),
            "empty": int(np.count_nonzero(size == 0)),
            "sizes": [[int(value), int(count)] for value, count in zip(sizes, points)],
            "by_class": rows}


def _coverage(hits, n, members):
    if not n:
        return dict.fromkeys(("coverage", "low", "high", "mean_size"))
    interval = clopper_pearson(min(float(hits), float(n)), float(n))
    return {"coverage": float(hits / n), "low": interval.low, "high": interval.high,
            "mean_size": float(members / n)}
