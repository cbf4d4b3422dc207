"""Classes of a continuous quantity: thresholds, and the classes between them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..control.intervals import names_of_limits
from ..core.errors import DataError, UsageError
from .libagf import read_con
from .training import with_source_in_errors

_NAMED = 10_000  # classes, at most, that have names


class Binning(NamedTuple):
    """Classes (n,) int32 of values, their thresholds, and (least, greatest) of the values.

    `names` are those of the classes, which say their limits, or None where a value is outside of
    all classes, as training takes class -1 for one without a name, or these are too many.
    """

    classes: np.ndarray
    edges: np.ndarray
    range: tuple
    names: tuple | None = None


def present_values(source: str, missing: float | None = None) -> np.ndarray:
    """The values in `source` (.dat) that are not above `missing`; DataError for none."""
    values = read_con(source)
    if missing is not None:
        values = values[values <= missing]
    if not len(values):
        raise DataError(f"every value is above {missing:g}, and so missing", file=source)
    return values


def classes_from_floats(
    source: str,
    bins: int | None = None,
    geometric: bool = False,
    numbers: tuple = (),
    missing: float | None = None,
    ends: bool = False,
) -> Binning:
    """The `Binning` of the values in `source` (.dat), with `bins` classes (default 2).

    `numbers` is (), or (min, max) with `bins` classes between them, or, without `bins`, the
    thresholds themselves. Values larger than `missing` do not count for the least and greatest.
    With `ends` the thresholds include both ends, and what is outside has class -1.
    """
    values = read_con(source)
    present = present_values(source, missing)
    if bins is None and numbers:
        if geometric:
            raise UsageError("`geometric` spaces thresholds between min and max: it needs `bins`")
        edges = check_edges(numbers)
    elif numbers and len(numbers) != 2:
        raise UsageError(f"with `bins`, expected min and max, found {len(numbers)} numbers")
    else:
        with with_source_in_errors(source):
            edges = bin_edges(present, bins or 2, *numbers, geometric=geometric, ends=ends)
    classes = classes_of(values, edges, ends)
    names = None
    if classes.min() >= 0 and len(edges) <= _NAMED:
        if bins is not None and numbers:
            reach = numbers
        else:
            reach = (np.inf, -np.inf)
        names = names_of_limits(*_class_limits(present, edges, ends, reach))
    return Binning(classes, edges, (float(present.min()), float(present.max())), names)


def break_down(binning: Binning, ends: bool = False) -> Iterator[str]:
    """Lines with the number of values in each class, as libAGF prints them."""
    edges = binning.edges.tolist()
    ranges = ["(%g - %g)" % pair for pair in zip(edges, edges[1:])]
    if ends:
        ranges = ["(< %g %g <)" % (edges[0], edges[-1]), *ranges]
    else:
        ranges = ["(< %g)" % edges[0], *ranges, "(> %g)" % edges[-1]]
    count = np.bincount(binning.classes + bool(ends), minlength=len(ranges)).tolist()
    yield "Class break-down:\n"
    for label, (text, number) in enumerate(zip(ranges, count), -bool(ends)):
        yield "%2d %s:  %d\n" % (label, text, number)


def bin_edges(
    values: Sequence[float],
    q: int,
    low: float | None = None,
    high: float | None = None,
    geometric: bool = False,
    ends: bool = False,
) -> np.ndarray:
    """The q - 1 thresholds that part low..high into q bins; with `ends`, low and high too."""
    if q < 2:
        raise UsageError(f"the number of classes must be 2 or more, not {q}")
    values = np.asarray(values)
    given = low is not None and high is not None
    if given:
        kind = UsageError
    else:
        kind = DataError
    if not given and not len(values):
        raise DataError("there are no values")
    low = float(values.min() if low is None else low)
    high = float(values.max() if high is None else high)
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise kind(f"the least value, {low:g}, must be below the greatest, {high:g}")
    if geometric and low <= 0:
        raise kind(f"a geometric progression needs positive values, not {low:g}")
    if geometric:
        edges = np.geomspace(low, high, q + 1)
    else:  # rounded once: of 0..1 in ten the third is 0.3
        steps = np.arange(q + 1)
        with np.errstate(over="ignore", invalid="ignore"):
            edges = (low * (q - steps) + high * steps) / q
        if not np.isfinite(edges).all():
            edges = low / q * (q - steps) + high / q * steps
    edges[[0, -1]] = low, high
    check_edges(edges, kind)
    if ends:
        return edges
    return edges[1:-1]


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
        raise DataError(f"row {int(np.argmin(np.isfinite(values))) + 1} is not finite")
    classes = np.searchsorted(edges, values, side="right").astype(np.int32)
    if not ends:
        return classes
    classes[values == edges[-1]] -= 1
    return np.where(values > edges[-1], np.int32(-1), classes - np.int32(1))


def _class_limits(values, edges, ends, reach):
    """(low, high, mean), each (k,), of the classes that `classes_of` makes of values (n,)."""
    values = values.astype(np.float64)
    classes = classes_of(values, edges, ends)
    values, classes = values[classes >= 0], classes[classes >= 0]
    if not ends:
        low = values[classes == 0].min(initial=reach[0])
        high = values[classes == len(edges)].max(initial=reach[1])
        edges = np.concatenate(
            [[low if low < np.inf else np.nan], edges, [high if high > -np.inf else np.nan]]
        )
    k = len(edges) - 1
    counts = np.bincount(classes, minlength=k)
    mean = np.full(k, np.nan)
    np.divide(np.bincount(classes, values, minlength=k), counts, out=mean, where=counts > 0)
    # a sum of equal values may be off by its last bit
    return edges[:-1], edges[1:], np.clip(mean, edges[:-1], edges[1:])
