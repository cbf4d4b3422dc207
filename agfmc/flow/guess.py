"""The number of classes where nothing tells it, taken as libAGF takes it."""

from __future__ import annotations

import warnings

import numpy as np

from ..errors import AgfmcWarning, DataError

__all__ = ["MOST_COLUMNS", "guessed_classes", "refuse_many_columns", "warn_of_rejected"]

MOST_COLUMNS = 10_000  # of a table with one for each label from 0


def guessed_classes(truth, result, path):
    """The largest label of truth (n,) + 1; a warning where the labels speak against it.

    path: the file of `truth`;  result (n,): labels, or -1.
    """
    k = int(truth.max()) + 1
    found = np.unique(np.concatenate([truth, result[result >= 0]]))
    against = None
    if found[-1] >= k:
        against = f"class {found[-1]} is among the results"
    elif len(found) < k:
        against = f"only {len(found)} of them occur"
    if against is not None:
        warnings.warn(f"{k} classes are assumed, one more than the largest label in {path}, but "
                      f"{against}: tell eval_uc their number with -k", AgfmcWarning, stacklevel=2)
    return k


def refuse_many_columns(label, path, instead):
    """DataError where columns from 0 to `label` would be too many; instead: what to do then."""
    if label >= MOST_COLUMNS:
        raise DataError(f"has class {label}, and a table of all labels from 0 ends at "
                        f"{MOST_COLUMNS - 1}: {instead}", file=path)


def warn_of_rejected(result, what):
    """A warning where some of result (n,) are -1; what: how they are counted."""
    rejected = int(np.count_nonzero(result < 0))
    if rejected:
        warnings.warn(f"{rejected} of {len(result)} points were rejected: {what}",
                      AgfmcWarning, stacklevel=2)
