"""The margins of trained one-vs-one classifiers, and bounds of the error of a decision graph."""

import math

import numpy as np

from ..core.errors import ModelError
from ..core.kernels import KERNELS
from ..core.models import MergedModel
from ..decode.code_kinds import one_vs_one
from ..kernels.machine import squared_norms
from ..kernels.values import PreparedKernel
from ..models.configuration import Configuration
from ..models.description import class_samples
from .decoding import coding_matrix


def margins_of(configuration: Configuration) -> tuple[np.ndarray, dict, float, int | None]:
    """What the margins of the support vector machines of a configuration say.

    1/margin^2 (m,) of each classifier; {name, or else label: sum over its classifiers}, {} unless
    the configuration is one-vs-one; `squared_radius`; the number of samples in training, or None.
    """
    tree = configuration.tree
    model = configuration.machines
    squared = squared_norms(model)
    pairs = None
    if not tree.hierarchical and not tree.is_ensemble and model.forest is None:
        pairs = one_vs_one(coding_matrix(tree))
    if pairs is None:
        return squared, {}, math.nan, None
    sums = np.bincount(pairs.low, squared, pairs.k) + np.bincount(pairs.high, squared, pairs.k)
    try:
        samples = sum(class_samples(configuration).values())
    except ModelError:
        samples = None
    names = [tree.names.get(label, label) for label in tree.labels]
    by_class = dict(zip(names, sums.tolist()))
    return squared, by_class, squared_radius(model), samples


def squared_radius(model: MergedModel) -> float:
    """Largest K(sv, sv): the squared radius of a ball about 0 that holds the support vectors."""
    largest = 0.0
    for kernel in model.kernels:
        if KERNELS[kernel.kind].distance:  # exp(-gamma 0)
            largest = max(largest, 1.0)
            continue
        for number in range(len(model.sv)):
            sv = model.sv[number : number + 1]
            value = PreparedKernel(kernel, sv).values(sv)
            largest = max(largest, float(value[0, 0]))
    return largest


def ddag_bound(inverse_squares: float, squared_radius: float, samples: int, nodes: int) -> float:
    """Bound of the error of a DDAG, with probability .95; it says nothing above 1.

    130 R^2/m (D log2(4 e m) log2(4 m) + log2(2 (2 m)^nodes / .05)).  It assumes that every node
    separates its training samples with its margin, and that all points lie in the ball.

    Parameters
    ----------
    inverse_squares : D, the sum of 1/margin^2 over all nodes, or over those of one class, for
        which the result bounds the probability that a point is of this class and is misclassified
    squared_radius, samples : R^2 and m
    nodes : k(k-1)/2 for all nodes, k - 1 for those of a class

    References
    ----------
    Platt, Cristianini and Shawe-Taylor, 2000, theorems 1 and 2.
    """
    m = samples
    complexity = inverse_squares * math.log2(4 * math.e * m) * math.log2(4 * m)
    # the power alone has more digits than a float
    choices = 1 + nodes * math.log2(2 * m) - math.log2(0.05)
    return 130 * squared_radius / m * (complexity + choices)
