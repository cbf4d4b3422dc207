"""How far apart classes are by how often they were taken for each other.

Shapes: k classes.
"""

from __future__ import annotations

import numpy as np

from ..errors import UsageError

__all__ = ["confusion_distances"]


def confusion_distances(errors, samples, alternatives=None):
    """Distances (k, k) of float64 between classes, symmetric with zeros on the diagonal.

    errors (k, k): how many samples of class i were taken for class j;  samples (k,) or
    (k, k): of how many;  alternatives: how many answers there were to choose from,
    k by default, 2 for the classifiers of pairs.

    The share of class i that goes to j is p_ij = (errors_ij + 1/a) / (samples_i + 1), with
    one sample more for each class that is spread evenly over the a answers.  So a share is
    never 0, the less so the fewer samples were seen, and classes of all sizes count alike.
    The similarity of two classes is s_ij = (p_ij + p_ji) / 2, their distance -log s_ij: the
    sum of distances along a path belongs to the product of similarities, and the
    mean of distances to their geometric mean.
    Raises UsageError for arrays of other shapes and counts that cannot be.
    """
    errors = np.array(errors, dtype=np.float64)
    k = len(errors)
    if errors.shape != (k, k) or k < 2:
        raise UsageError(f"expected counts of shape (k, k), found {errors.shape}")
    samples = np.asarray(samples, dtype=np.float64)
    if samples.shape not in ((k,), (k, k)):
        raise UsageError(f"expected samples of shape ({k},) or ({k}, {k}), found {samples.shape}")
    samples = samples[:, None] if samples.ndim == 1 else samples
    off = ~np.eye(k, dtype=bool)
    if (errors < 0).any() or (errors > samples)[off].any():
        raise UsageError("expected counts that are not negative, nor more than there are samples")
    share = (errors + 1.0 / (alternatives or k)) / (samples + 1.0)
    distances = -np.log(0.5 * (share + share.T))
    np.fill_diagonal(distances, 0.0)
    return distances
