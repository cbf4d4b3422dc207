"""Softmax, means with weights, losses and confidence of probabilities."""

from __future__ import annotations

import numpy as np

SMALLEST = 1e-16  # of the probabilities whose logarithm is taken
REJECTED = -1


def losses(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """-log p_i,y(i) (n,) of p (n, c), true columns y (n,); p below 2.2e-16 counts as that."""
    return -np.log(np.clip(p[np.arange(len(y)), y], np.finfo(float).eps, 1.0)) + 0.0


def log_loss(p: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean of `losses` of the probabilities p (n, k) of true columns y (n,), with weights (n,)."""
    return mean(losses(p, y), weights)


def total(values: np.ndarray, weights: np.ndarray | None = None) -> np.floating:
    """The sum of values (n,), each times its weight where there are weights (n,)."""
    if weights is None:
        return values.sum()
    return weights @ values


def refuted_probabilities(values: np.ndarray) -> str:
    """Words for values (n, k) of all classes, or (n,) of the answers, if no probabilities; else ""."""
    if values.ndim == 1:
        if values.min() > -1.0 and values.max() < 2.0:
            return ""
        found, way = "go", "percent are divided by 100"
        low = values.min()
        high = values.max()
    else:
        sums = values.sum(axis=1)
        if (
            not np.median(np.abs(sums - 1.0)) > 0.2
        ):  # some rows may be damaged, and are told of later
            return ""
        if np.median(np.abs(sums - 100.0)) < 1.0:
            return "are percent, not probabilities: their sum in a row is 100; divide them by 100"
        found, way = "have sums in a row", "divide each row by its sum if they are shares of it"
        low = sums.min()
        high = sums.max()
    span = f"{found} from {low:.6g} to {high:.6g}"
    if np.array_equal(values, np.rint(values)):
        return f"are votes, not probabilities: whole numbers that {span}"
    return f"are no probabilities: they {span}; {way}"


def softmax(z):
    """Turn z (n, c) into exp(z) with rows that sum to 1, in place."""
    z -= z.max(axis=1)[:, None]
    np.exp(z, out=z)
    z /= z.sum(axis=1)[:, None]
    return z


def as_shares(p: np.ndarray) -> np.ndarray:
    """Estimates (n, k) as probabilities: negative ones are 0, the sum of each row is 1."""
    shares = np.maximum(p, 0.0)
    total = np.cumsum(shares, axis=1)[:, -1:]  # from left to right, whatever the neighbours
    return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1.0 / p.shape[1])


def confidence(p_win: np.ndarray, k: int, size: int | np.ndarray = 1) -> np.ndarray:
    """Confidence rating (k p - s)/(k - s): 0 for equal probabilities, 1 for certainty.

    Parameters
    ----------
    p_win : float or array (n,), probability p of the answer
    k : int, number of classes
    size : int or array (n,)
        Number s of classes in the answer; the rating is 0 where they are all k.
    """
    others = k - np.asarray(size)
    return np.where(
        others == 0, 0.0, (k * np.asarray(p_win, dtype=float) - size) / np.maximum(others, 1)
    )


def probability(rating: np.ndarray, k: int) -> np.ndarray:
    """Probability (c (k - 1) + 1)/k of the winner from its confidence rating."""
    return (np.asarray(rating, dtype=float) * (k - 1) + 1.0) / k


def weights_or_ones(w: np.ndarray | None, n: int) -> np.ndarray:
    """Weights (n,), float: 1 for each of n points where they are None."""
    if w is None:
        return np.ones(n)
    return np.asarray(w, dtype=float)


def mean(values: np.ndarray, w: np.ndarray | None = None) -> float:
    """The mean of values (n,) with weights w (n,), None for 1; NaN where nothing counts."""
    if len(values) == 0 or (w is not None and not w.any()):
        return float("nan")
    if w is None:
        return float(values.mean())
    return float((w * values).sum() / w.sum())


def standard_error(
    values: np.ndarray, w: np.ndarray | None = None, groups: np.ndarray | None = None
) -> float:
    """The standard error of the `mean` of values v (n,) with weights w (n,), None for 1.

    It is sqrt(sum w^2 (v - mean)^2 n / (n - 1)) / sum w, and NaN for fewer than two values. With
    `groups` (n,) the groups are independent, not the values: w (v - mean) is summed over each group
    before it is squared, and n is the number of groups.
    """
    if w is None and groups is None and len(values) > 1:
        return float(values.std(ddof=1) / len(values) ** 0.5)
    w = weights_or_ones(w, len(values))
    deviations = w * (values - mean(values, w))
    if groups is not None:
        deviations = np.bincount(np.unique(groups, return_inverse=True)[1], deviations)
    n = len(deviations)
    if n > 1:
        return float((deviations @ deviations * n / (n - 1)) ** 0.5 / w.sum())
    return float("nan")
