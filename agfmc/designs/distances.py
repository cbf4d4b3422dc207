"""Distances between classes: of their samples, or by how often one is mistaken for another.

Shapes: n samples, d features, k classes.
"""

from collections.abc import Sequence

import numpy as np

from ..control.build import from_pairs
from ..control.tree import Tree
from ..core.errors import DataError, UsageError

CHUNK = 1 << 20  # numbers in a block of work


def class_distances(
    x: np.ndarray,
    y: np.ndarray,
    labels: Sequence[int],
    metric: str = "hausdorff",
    w: np.ndarray | None = None,
) -> np.ndarray:
    """Distances (k, k) of float64 between the classes, symmetric with zeros on the diagonal.

    `x` (n, d) and `y` (n,) are samples and their labels, of which those in `labels` count, in this
    order.

    "hausdorff": max(max_l min_m |u_l - v_m|, max_m min_l |u_l - v_m|) over the points u of one
    class and v of the other.  "mean-deviation": |mu_i - mu_j| / sqrt(sigma_i sigma_j) with
    sigma = sqrt(sum |x - mu|^2 / (n_i - 1)), 0 for a single sample; where a sigma is 0 the distance
    is infinite if the means differ, else 0.

    `w` (n,) are weights of the samples, or None for 1, of which "mean-deviation" takes sums: whole
    weights are copies; where the sum of a class is below 2, half of it stands for n_i - 1. Raises
    DataError for a class without samples.
    """
    points, starts, w = _by_class(x, y, labels, w)
    if metric == "mean-deviation":
        return _mean_deviation(points, starts, w)
    if _trees_pay(points, len(starts) - 1):
        find = _farthest_by_trees
    else:
        find = _farthest_by_blocks
    return _between(points, starts, find(points, starts))


def _by_class(x, y, labels, w):
    """Samples of each label together, in the order of `labels`: (points, starts (k+1,), w)."""
    x = np.asarray(x)
    y = np.asarray(y)
    members = [np.flatnonzero(y == label) for label in labels]
    for label, member in zip(labels, members, strict=True):
        if len(member) == 0:
            raise DataError(f"class {label} has no samples")
    starts = np.concatenate([[0], np.cumsum([len(member) for member in members])])
    rows = np.concatenate(members)
    return x[rows].astype(np.float64, copy=False), starts, None if w is None else w[rows]


# Mean and deviation


def _mean_deviation(points, starts, w):
    if w is None:
        sizes = np.diff(starts)
        free = np.maximum(sizes - 1, 1)
        sums = np.add.reduceat(points, starts[:-1], axis=0)
    else:
        sizes = np.add.reduceat(w, starts[:-1])
        free = np.where(sizes < 2, sizes / 2, sizes - 1)
        sums = np.add.reduceat(points * w[:, None], starts[:-1], axis=0)
    means = sums / sizes[:, None]
    sigma = np.empty(len(sizes))
    for i, (a, b) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
        squares = (points[a:b] - means[i]) ** 2
        sigma[i] = np.sqrt((np.sum(squares) if w is None else np.sum(w[a:b] @ squares)) / free[i])
    root = np.sqrt(sigma)
    distances = np.zeros((len(sizes), len(sizes)))
    for i in range(len(sizes)):
        distance = np.sqrt(np.sum((means - means[i]) ** 2, axis=1))
        scale = root * root[i]
        distances[i] = np.divide(
            distance, scale, out=np.where(distance > 0, np.inf, 0.0), where=scale > 0
        )
    return distances


# Hausdorff: first which point of class i is farthest from class j, then how far


def _trees_pay(points, k):
    """Return True if k-d trees are faster, by rough fits to seconds on one core."""
    n, d = points.shape
    trees = 0.3 + 0.5e-6 * n * k * 1.9 ** (min(d, 40) - 2)
    blocks = (0.4 + 0.03 * d) * 1e-9 * n * n
    return trees < blocks


def _farthest_by_trees(points, starts):
    """(k, k) indices: the point of class i whose nearest neighbour in class j is farthest."""
    from scipy.spatial import cKDTree

    k = len(starts) - 1
    farthest = np.empty((k, k), dtype=np.intp)
    for j in range(k):
        nearest, _ = cKDTree(points[starts[j] : starts[j + 1]]).query(points)
        for i in range(k):
            farthest[i, j] = starts[i] + np.argmax(nearest[starts[i] : starts[i + 1]])
    return farthest


def _farthest_by_blocks(points, starts):
    """Distances from |u|^2 - 2 u.v + |v|^2, one matrix product per block of points u."""
    k = len(starts) - 1
    n, d = points.shape
    centred = points - points.mean(axis=0)
    norms = np.einsum("ij,ij->i", centred, centred)
    right = np.empty((d + 1, n))
    right[:d] = -2.0 * centred.T
    right[d] = norms
    left = np.concatenate([centred, np.ones((n, 1))], axis=1)
    farthest = np.zeros((k, k), dtype=np.intp)
    largest = np.full((k, k), -1.0)
    step = max(1, CHUNK // n)
    for i in range(k):
        for a in range(starts[i], starts[i + 1], step):
            b = min(a + step, starts[i + 1])
            nearest = np.minimum.reduceat(left[a:b] @ right, starts[:-1], axis=1)
            nearest = np.maximum(nearest + norms[a:b, None], 0.0)
            best = np.argmax(nearest, axis=0)
            value = nearest[best, np.arange(k)]
            larger = value > largest[i]
            largest[i, larger] = value[larger]
            farthest[i, larger] = a + best[larger]
    return farthest


def _between(points, starts, farthest):
    """Distances from the farthest points, by differences: no rounding from large norms."""
    k = len(starts) - 1
    directed = np.zeros((k, k))
    for j in range(k):
        other = points[starts[j] : starts[j + 1]]
        step = max(1, CHUNK // other.size)
        for a in range(0, k, step):
            chosen = points[farthest[a : a + step, j]]
            squares = np.sum((chosen[:, None, :] - other[None, :, :]) ** 2, axis=2)
            directed[a : a + step, j] = squares.min(axis=1)
    return np.sqrt(np.maximum(directed, directed.T))


def confusion_distances(
    errors: np.ndarray, samples: np.ndarray, alternatives: int | None = None
) -> np.ndarray:
    """Distances (k, k) of float64 between classes, symmetric with zeros on the diagonal.

    The share of class i that goes to j is p_ij = (errors_ij + 1/a) / (samples_i + 1), with one
    sample more for each class, so that it is never 0 and classes of all sizes count alike. The
    similarity of two classes is s_ij = (p_ij + p_ji) / 2, their distance -log s_ij.

    Parameters
    ----------
    errors : array (k, k), samples of class i that were taken for class j
    samples : array (k,) or (k, k), numbers of samples that these are of
    alternatives : int, optional, number a of possible answers, k by default, 2 for classifiers of
        pairs
    """
    errors = np.array(errors, dtype=np.float64)
    k = len(errors)
    samples = np.asarray(samples, dtype=np.float64)
    if samples.ndim == 1:
        samples = samples[:, None]
    off = ~np.eye(k, dtype=bool)
    if (errors < 0).any() or (errors > samples)[off].any():
        raise UsageError("expected counts that are not negative, nor more than there are samples")
    share = (errors + 1.0 / (alternatives or k)) / (samples + 1.0)
    distances = -np.log(0.5 * (share + share.T))
    np.fill_diagonal(distances, 0.0)
    return distances


def joined_tree(distances: np.ndarray, linkage: str = "single") -> tuple[Tree, list[float]]:
    """A decision `Tree` by agglomeration of classes, its labels the positions 0..k-1, and the
    distance between the two sides of each node; distances (k, k) and linkage as of `join`."""
    pairs, heights = join(distances, linkage)
    return from_pairs(pairs, range(len(distances))), heights


def join(distances: np.ndarray, linkage: str = "single") -> tuple[tuple, list[float]]:
    """(pairs, heights): the classes 0..k-1 as nested pairs, and the distances at which they join.

    `distances` (k, k) are symmetric, and the part below the diagonal counts; the distance of two
    groups is the smallest ("single"), largest ("complete") or mean ("average") of their members'.

    Ties: each two groups have a closest pair of members i > j, the first by (distance, i, j). Of
    groups that are equally far, those whose closest pair comes first are joined. The larger group
    goes left; of two equal ones, that which holds i. heights (k - 1,) are in the pre-order of the
    pairs. Raises DataError for NaN.
    """
    distances = np.asarray(distances, dtype=np.float64)
    k = len(distances)
    if np.isnan(distances).any():
        raise DataError("a distance between classes is not a number")
    higher, lower = np.tril_indices(k, -1)  # ordered by (i, j) already
    between = distances[higher, lower]
    order = np.argsort(between, kind="stable")
    none = len(between)
    # of each two groups, each in the place of one of its members: the sum of the distances for
    # "average", else the distance; and the place of the closest pair in `order`
    far = np.full((k, k), np.inf)
    rank = np.full((k, k), none)
    for i, j in ((higher, lower), (lower, higher)):
        far[i, j] = between
        rank[i[order], j[order]] = np.arange(none)
    combined = {"single": np.minimum, "complete": np.maximum, "average": np.add}[linkage]
    size = np.ones(k)
    group = np.arange(k)
    trees = list(range(k))
    nearest, least = np.empty(k, dtype=np.intp), np.empty(k)  # of each group

    def look(a):
        # sums are divided late: those of whole numbers are exact, and so are their ties
        if linkage == "average":
            row = far[a] / (size[a] * size)
        else:
            row = far[a]
        least[a] = row.min()
        ties = np.flatnonzero(row == least[a])
        nearest[a] = ties[np.argmin(rank[a, ties])]

    for a in range(k):
        look(a)
    height: dict[int, float] = {}  # of each pair, by its identity
    while True:
        ties = np.flatnonzero(least == least.min())
        a = ties[np.argmin(rank[ties, nearest[ties]])]
        pair = order[rank[a, nearest[a]]]
        left = int(group[higher[pair]])
        right = int(group[lower[pair]])
        if size[right] > size[left]:
            left, right = right, left
        trees[left] = (trees[left], trees[right])
        height[id(trees[left])] = float(least[a])
        size[left] += size[right]
        if size[left] == k:
            return trees[left], [
                height[id(part)] for part in parts_of(trees[left]) if isinstance(part, tuple)
            ]
        row = combined(far[left], far[right])
        closest = np.minimum(rank[left], rank[right])
        row[[left, right]], closest[[left, right]] = np.inf, none
        far[left] = far[:, left] = row
        rank[left] = rank[:, left] = closest
        far[right] = far[:, right] = least[right] = np.inf
        rank[right] = rank[:, right] = none
        group[group == right] = left
        look(left)
        # no linkage brings two groups nearer to a third than the nearer of them was
        for c in np.flatnonzero((closest < none) & ((nearest == left) | (nearest == right))):
            look(c)


def parts_of(pairs) -> list:
    """All parts of nested pairs, pairs and leaves, in pre-order; they may be thousands deep."""
    order = []
    stack = [pairs]
    while stack:
        part = stack.pop()
        order.append(part)
        if isinstance(part, tuple):
            stack += part[::-1]
    return order
