"""Consistency of a configuration, whatever file it comes from."""

import numpy as np

__all__ = ["check_configuration"]

_MOST_FEATURES = 2**24
_FEW_FEATURES = 2**16  # where no number in the file stands for each


def check_configuration(configuration, fail):
    """Check all that later steps take on trust; fail(message) makes the exception."""
    model, classifiers = configuration.machines, configuration.node_classifiers
    _check_arrays(model, bool(classifiers), fail)
    _check_features(configuration, fail)
    for values in (model.sv, model.coef, model.rho):
        if not np.isfinite(values).all():
            raise fail("a number is not finite")
    for values in (model.a, model.b):
        if np.isinf(values).any():
            raise fail("a number is not finite")
    if np.any(np.isnan(model.a) != np.isnan(model.b)):
        raise fail("half of a classifier's probabilities is missing")
    for classifier in classifiers.values():
        _check_node_classifier(classifier, model.sv.shape[1], fail)
    norm = configuration.normalisation
    if norm is not None and not (np.isfinite(norm.matrix).all() and np.isfinite(norm.mean).all()):
        raise fail("the normalisation is not finite")
    if len(model.sv) and model.group[-1] > len(configuration.tree.labels):
        raise fail("a support vector belongs to a class that does not exist")


def _check_arrays(model, may_be_empty, fail):
    """Arrays of equal lengths, whose numbers point into each other."""
    m, s = len(model.rho), len(model.sv)
    per_model = (model.a, model.b, model.orientation, model.kernel_of, model.provenances)
    if any(len(part) != m for part in per_model) or len(model.indptr) != m + 1 or \
            not (m or may_be_empty):
        raise fail("the arrays do not have the same number of classifiers")
    if len(model.group) != s or len(model.index) != len(model.coef):
        raise fail("the arrays do not have the same number of support vectors")
    # compared, not subtracted: a difference of lying numbers could overflow
    if (model.indptr[0] != 0 or model.indptr[-1] != len(model.index)
            or np.any(model.indptr[1:] < model.indptr[:-1])):
        raise fail("the classifiers' coefficients are not contiguous")
    for values, limit in ((model.index, s), (model.kernel_of, len(model.kernels))):
        if len(values) and not (values.min() >= 0 and values.max() < limit):
            raise fail("an index is outside its array")
    if not np.isin(model.orientation, (-1, 1)).all() or np.any(model.group[1:] < model.group[:-1]) \
            or (s and model.group[0] < 0):
        raise fail("an orientation or group is invalid")
    if _repeated(model.index, model.indptr, s):
        raise fail("a classifier has the same support vector twice")


def _repeated(index, indptr, s):
    """True where a classifier has a support vector twice."""
    falls = np.flatnonzero(index[1:] <= index[:-1]) + 1
    if np.isin(falls, indptr).all():  # ascending within each, as this suite writes them
        return False
    owner = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return len(np.unique(owner * s + index)) < len(index)


def _check_features(configuration, fail):
    """Refuse a number of features that is a mere claim: points take memory for each."""
    sv, norm = configuration.machines.sv, configuration.normalisation
    widths = [sv.shape[1]] if norm is None else [sv.shape[1], len(norm.mean)]
    known = len(sv) or configuration.node_classifiers or norm is not None
    if max(widths) > (_MOST_FEATURES if known else _FEW_FEATURES) or \
            norm is not None and not len(norm.mean):
        raise fail("the number of features is invalid")


def _check_node_classifier(model, features, fail):
    """A multi-class node that has everything its code needs."""
    if model.features != features or model.branches < 2:
        raise fail("a multi-class node has the wrong size")
    if model.points is not None:
        if len(model.y) != len(model.points) or not 1 <= model.k <= len(model.points) or \
                model.y.min() < 0 or model.y.max() >= model.branches:
            raise fail("the neighbours of a multi-class node are invalid")
    elif len(model.weights) != model.branches:
        raise fail("the weights of a multi-class node are invalid")
    if not np.isfinite(model.weights if model.points is None else model.points).all():
        raise fail("a number is not finite")
