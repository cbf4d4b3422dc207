"""What a collated model must fulfil, whatever file it comes from."""

from __future__ import annotations

import numpy as np

__all__ = ["check_model"]


def check_model(model, fail):
    """Everything that later steps take on trust; fail(message) makes the exception."""
    m, s = len(model.rho), len(model.sv)
    per_model = (model.a, model.b, model.orientation, model.kernel_of, model.settings)
    if any(len(part) != m for part in per_model) or len(model.indptr) != m + 1 or \
            not (m or model.direct):
        raise fail("the arrays do not have the same number of classifiers")
    if len(model.group) != s or len(model.index) != len(model.coef):
        raise fail("the arrays do not have the same number of support vectors")
    # compared, not subtracted: a difference of lying numbers could overflow
    if (model.indptr[0] != 0 or model.indptr[-1] != len(model.index)
            or np.any(model.indptr[1:] < model.indptr[:-1])):
        raise fail("the classifiers' coefficients do not follow each other")
    for values, limit in ((model.index, s), (model.kernel_of, len(model.kernels))):
        if len(values) and not (values.min() >= 0 and values.max() < limit):
            raise fail("a number points outside its array")
    if not np.isin(model.orientation, (-1, 1)).all() or np.any(model.group[1:] < model.group[:-1]):
        raise fail("an orientation or group is not as it should be")
    for values in (model.sv, model.coef, model.rho):
        if not np.isfinite(values).all():
            raise fail("a number is not finite")
    for values in (model.a, model.b):
        if np.isinf(values).any():
            raise fail("a number is not finite")
    if np.any(np.isnan(model.a) != np.isnan(model.b)):
        raise fail("half of a classifier's probabilities is missing")
    for direct in model.direct:
        _check_direct(direct, model.sv.shape[1], fail)
    norm = model.normalisation
    if norm is not None and not (np.isfinite(norm.matrix).all() and np.isfinite(norm.mean).all()):
        raise fail("the normalisation is not finite")


def _check_direct(model, features, fail):
    """A direct classifier that has everything its code needs."""
    if model.features != features or model.branches < 2:
        raise fail("a direct classifier has the wrong size")
    if model.code == "K":
        if len(model.y) != len(model.points) or not 1 <= model.k <= len(model.points) or \
                model.y.min() < 0 or model.y.max() >= model.branches:
            raise fail("the neighbours of a direct classifier are not as they should be")
    elif len(model.weights) != model.branches:
        raise fail("the weights of a direct classifier are not as they should be")
    if not np.isfinite(model.points if model.code == "K" else model.weights).all():
        raise fail("a number is not finite")
