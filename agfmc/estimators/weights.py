"""Weights of samples and of classes, as users of scikit-learn give them."""

from collections.abc import Mapping

import numpy as np

from ..data_tools.training_weights import sample_weights
from ..weights import BALANCED

__all__ = ["factors_of", "weights_of"]


def weights_of(sample_weight, y):
    """The weights (n,) float64 of samples of classes y (n,), each 0 or more; None stays None.

    Raises `DataError` as `sample_weights`, ValueError where all weights are 0, or all those
    of a class.
    """
    if sample_weight is None:
        return None
    w = sample_weights(sample_weight, len(y)).w
    if not w.any():
        raise ValueError("sample_weight: all weights are zero")
    gone = () if w.all() else np.setdiff1d(y, y[w > 0]).tolist()
    if gone:
        raise ValueError(f"sample_weight: all samples of class {gone[0]!r} have weight 0: leave "
                         "such classes out of X and y")
    return w


def factors_of(class_weight, labelled):
    """Class weights of the classes of a `Labelled`, by their labels: as `WeightSource` has them.

    Raises ValueError for a class that is not there, and for a factor that is not above 0.
    """
    if class_weight is None or isinstance(class_weight, str):
        if class_weight not in (None, BALANCED):
            raise ValueError(f"class_weight must be None, {BALANCED!r} or a dictionary of the "
                             f"weights of classes, not {class_weight!r}")
        return class_weight
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight must be None, {BALANCED!r} or a dictionary of the weights "
                         f"of classes, not {class_weight!r}")
    label_of = dict(zip(labelled.classes.tolist(), labelled.labels.tolist()))
    factors = {}
    for key, factor in class_weight.items():
        if key not in label_of:
            raise ValueError(f"class_weight: {key!r} is not one of the classes")
        if not 0 < factor < np.inf:
            raise ValueError(f"class_weight: expected numbers above 0, found {factor!r} for class "
                             f"{key!r}")
        factors[label_of[key]] = float(factor)
    return factors
