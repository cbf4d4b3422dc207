"""Weights of samples that stand for a population with other shares of the classes."""

from __future__ import annotations

import numpy as np

from ..errors import DataError

__all__ = ["class_weights", "mean"]


def class_weights(y, priors, labels):
    """w_i = priors[y_i] / (n_y(i) / n), which sum to n; y (n,) true columns, 0 to k - 1.

    priors (k,): shares of the classes that sum to 1; n_j: samples of class j;
    labels (k,): for messages.  Raises `DataError` for a class with a positive share
    that has no sample to stand for it.
    """
    counts = np.bincount(y, minlength=len(priors))
    absent = (counts == 0) & (priors > 0)
    if absent.any():
        j = int(np.argmax(absent))
        raise DataError(f"no sample is of class {labels[j]}, whose prior is {priors[j]:g}")
    return (priors * (len(y) / np.maximum(counts, 1)))[y]


def mean(values, weights=None):
    """Mean of values (n,), weighted where there are weights (n,)."""
    if weights is None:
        return np.mean(values)
    return np.sum(weights * values) / np.sum(weights)
