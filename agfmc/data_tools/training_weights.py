"""The weights that points are trained with: without zeros, and with those of the classes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..arrays import as_numbers
from ..errors import AgfmcWarning, and_more, DataError, UsageError
from ..formats.lazy_points import is_lazy
from ..models import Dataset
from ..weights import check_range, class_factors, of_points, total_weights, Weights

__all__ = ["chosen_rows", "given_weights", "sample_weights", "settled", "with_class_weights",
           "without_zeros"]

_SMALL, _LARGE = 0.1, 10.0  # of the mean weight: beyond them weights are no numbers of samples


def given_weights(data: Dataset, sample_weight=None,
                  classes: Mapping[int | str, float] | str | None = None) -> Dataset:
    """A Dataset as it is trained on, with the weights that a Python program gives: `settled`.

    sample_weight (n,): numbers of 0 or more, or None for those that the data have;  classes: class
    weights, as of `WeightSource`.  Raises `UsageError` for weights beside those of the data, and
    `DataError` as `sample_weights` and `settled` do.
    """
    if sample_weight is not None:
        if data.weights is not None:
            raise UsageError("the data have weights: sample_weight would be others")
        data = replace(data, weights=sample_weights(sample_weight, len(data.y)))
    return settled(data, None, classes)


def sample_weights(w: object, n: int) -> Weights:
    """Weights of n samples, numbers of 0 or more, for the `weights` of a Dataset; `DataError`."""
    found = as_numbers(w, "the weights of the samples").astype(np.float64)
    if found.shape != (n,):
        raise DataError(f"the weights of the samples: expected {n} numbers, one for each point, "
                        f"found an array of shape {found.shape}")
    bad = ~((found >= 0) & (found < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"the weight of sample {row} (from 0) is {found[row]:g}: expected a number "
                        "of 0 or more")
    return Weights(found)


def settled(data: Dataset, source: str | None = None,
            classes: Mapping[int | str, float] | str | None = None) -> Dataset:
    """A Dataset as it is trained on: with class weights, and no weight of 0.

    data: its weights are as in a file, 0 or more, or None;  source: its name, for messages;
    classes: class weights, as of `WeightSource`.  Weights that are all 1 become None.  Raises
    `DataError` as `without_zeros` and `with_class_weights` do.
    """
    return with_class_weights(without_zeros(data, source), source, classes)


def without_zeros(data: Dataset, source: str | None = None,
                  small_left_out: bool = False) -> Dataset:
    """A Dataset without the points of weight 0, which a warning counts.

    small_left_out: classes may be gone then.  Else `DataError` is raised for a class all of whose
    samples have weight 0, as for data that have no others.
    """
    if data.weights is None:
        return data
    some = data.weights.w > 0
    if some.all():
        return data
    if not some.any():
        raise DataError(f"all {len(some)} samples have weight 0", file=source)
    counts, kept = data.counts, dict(zip(*_counted(data.y[some])))
    gone = [label for label in counts if label not in kept]
    if gone and not small_left_out:
        name = data.name_of.get(gone[0])
        of = f"class {gone[0]}" + f", '{name}'" * bool(name) + and_more(gone)
        raise DataError(f"{of}: all samples have weight 0: give some of them a weight, or leave "
                        "them out of the data (--min-class 1)", file=source)
    zeros = len(some) - int(np.count_nonzero(some))
    where = "" if source is None else f"{'standard input' if source == '-' else source}: "
    warnings.warn(f"{where}{zeros} of {len(some)} samples have weight 0 and are left out",
                  AgfmcWarning, stacklevel=3)
    return chosen_rows(data, np.flatnonzero(some))


def with_class_weights(data: Dataset, source: str | None = None,
                       classes: Mapping[int | str, float] | str | None = None) -> Dataset:
    """A Dataset whose weights, all above 0, have the factors of the classes in them.

    classes: as of `WeightSource`; factors that are in the weights stay.  Weights that are all 1
    become None.  Raises `DataError` for classes that are not there.
    """
    w = None if data.weights is None else data.weights.w
    if w is not None and not data.weights.factors:
        _tell_scale(w, source)
    factors: Mapping[int, float] = {} if data.weights is None else data.weights.factors
    if classes is not None:
        try:
            new = class_factors(classes, total_weights(data.y, w), data.name_of)
        except DataError as error:
            raise DataError(error.message, file=error.file or source,
                            line=error.line) from error
        with np.errstate(over="ignore", under="ignore"):
            w = of_points(new, data.y) if w is None else w * of_points(new, data.y)
        factors = {label: factor * factors.get(label, 1.0) for label, factor in new.items()}
    if w is not None:
        check_range(w, source)
    plain = w is None or bool((w == 1).all())
    return replace(data, weights=None if plain else Weights(w, factors))


def _tell_scale(w, source):
    """Warn where weights are so small or large that they cannot stand for numbers of samples."""
    mean = float(w.mean())
    if not _SMALL <= mean <= _LARGE:
        of = "the samples" if source is None else "standard input" if source == "-" else source
        warnings.warn(f"the {len(w)} weights of {of} sum to {len(w) * mean:.3g}: a weight of 1 is "
                      f"one sample, and training takes these for {'few' if mean < 1 else 'many'}: "
                      f"divide them by their mean, {mean:.3g}, unless they are meant so",
                      AgfmcWarning, stacklevel=4)


def chosen_rows(data: Dataset, rows: np.ndarray) -> Dataset:
    """The Dataset of some rows (l,), which ascend where the points stay in a file."""
    return replace(data, x=data.x.selected(rows) if is_lazy(data.x) else data.x[rows],
                   y=None if data.y is None else data.y[rows],
                   weights=None if data.weights is None else data.weights[rows],
                   rows=rows if data.rows is None else data.rows[rows])


def _counted(y):
    labels, counts = np.unique(y, return_counts=True)
    return labels.tolist(), counts.tolist()
