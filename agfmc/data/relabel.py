"""New labels: 0..k-1 for old labels, classes for a continuous quantity."""

from collections.abc import Sequence

import numpy as np

from ..core.errors import DataError, UsageError


def relabel(y: np.ndarray, names: Sequence[str] | None = None) -> tuple:
    """(labels 0..k-1 in ascending order of the old, old labels (k,), names of the new).

    y (n,);  `names` (entry i names old label i) may be None, and the result is then too.
    """
    old, new = np.unique(y, return_inverse=True)
    if names is not None:
        names = tuple(names[label] for label in old.tolist())
    return new.astype(np.int32), old, names


def present(values: np.ndarray, missing: float) -> np.ndarray:
    """Those of `values` (n,) that are not above `missing`; DataError where none is left."""
    values = np.asarray(values)
    kept = values[values <= missing]
    if not len(kept):
        raise DataError(f"every value is above {missing:g}, and so missing")
    return kept


def bin_edges(values: np.ndarray, q: int, low: float | None = None, high: float | None = None,
              geometric: bool = False, ends: bool = False) -> np.ndarray:
    """The q - 1 thresholds that part low..high into q bins; with `ends`, low and high too.

    The bins are equal in width or, if `geometric`, in the ratio of their ends.
    `low` and `high` default to the least and greatest of `values` (n,).
    Raises UsageError where the arguments make no sense, DataError where it is the
    values that do not allow it.
    """
    if q < 2:
        raise UsageError(f"the number of classes must be 2 or more, not {q}")
    values = np.asarray(values)
    given = low is not None and high is not None
    kind = UsageError if given else DataError
    if not given and not len(values):
        raise DataError("there are no values")
    low = float(values.min() if low is None else low)
    high = float(values.max() if high is None else high)
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise kind(f"the least value, {low:g}, must be below the greatest, {high:g}")
    if geometric and low <= 0:
        raise kind(f"a geometric progression needs positive values, not {low:g}")
    edges = np.geomspace(low, high, q + 1) if geometric else _equal_parts(low, high, q)
    edges = np.concatenate([[low], edges[1:-1], [high]])
    check_edges(edges, kind)
    return edges if ends else edges[1:-1]


def _equal_parts(low, high, q):
    """The ends (q + 1,) of q equal bins, rounded once: of 0..1 in ten the third is 0.3."""
    steps = np.arange(q + 1)
    with np.errstate(over="ignore", invalid="ignore"):
        edges = (low * (q - steps) + high * steps) / q
    return edges if np.isfinite(edges).all() else low / q * (q - steps) + high / q * steps


def check_edges(edges, kind: type = UsageError) -> np.ndarray:
    """Thresholds as a float64 array; an error unless they are finite and strictly ascending."""
    edges = np.asarray(edges, np.float64)
    if edges.ndim != 1 or not len(edges) or not np.isfinite(edges).all():
        raise kind("thresholds must be finite numbers")
    if np.any(np.diff(edges) <= 0):
        i = int(np.argmax(np.diff(edges) <= 0))
        raise kind(f"thresholds must ascend, but {edges[i + 1]:g} comes after {edges[i]:g}")
    return edges


def classes_of(values: np.ndarray, edges: np.ndarray, ends: bool = False) -> np.ndarray:
    """Class (n,) int32 of each of `values` (n,): the number of thresholds not above it.

    Below the first threshold it is 0; a value on a threshold is in the class above it.
    With `ends` the first and the last threshold, two at least, are the ends of the first
    and of the last class; what is outside has class -1, and the last end is inside.
    """
    edges = check_edges(edges)
    if ends and len(edges) < 2:
        raise UsageError("classes with ends need two thresholds or more")
    values = np.asarray(values, np.float64)
    if not np.isfinite(values).all():
        raise DataError(f"value {int(np.argmin(np.isfinite(values)))} (from 0) is not finite")
    classes = np.searchsorted(edges, values, side="right").astype(np.int32)
    if not ends:
        return classes
    classes[values == edges[-1]] -= 1
    return np.where(values > edges[-1], np.int32(-1), classes - np.int32(1))


def class_limits(values: np.ndarray, edges: np.ndarray, ends: bool = False,
                 reach: tuple[float, float] = (np.inf, -np.inf)) -> tuple:
    """(low, high, mean), each (k,), of the classes that `classes_of` makes of values (n,).

    The first class begins with its least value, the last one ends with its greatest, but for
    `ends`;  reach: values that they reach to in any case.  NaN where there is no value.
    """
    values = np.asarray(values, np.float64)
    classes = classes_of(values, edges, ends)
    values, classes = values[classes >= 0], classes[classes >= 0]
    if not ends:
        low = values[classes == 0].min(initial=reach[0])
        high = values[classes == len(edges)].max(initial=reach[1])
        edges = np.concatenate([[low if low < np.inf else np.nan], edges,
                                [high if high > -np.inf else np.nan]])
    k = len(edges) - 1
    counts = np.bincount(classes, minlength=k)
    mean = np.full(k, np.nan)
    np.divide(np.bincount(classes, values, minlength=k), counts, out=mean, where=counts > 0)
    # a sum of equal values may be off by its last bit
    return edges[:-1], edges[1:], np.clip(mean, edges[:-1], edges[1:])
