"""Proportions of the classes that a user gives."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from ..core.errors import AgfmcWarning, DataError, UsageError
from ..core.text import listed
from ..core.weights import SMALLEST
from .class_names import number_classes
from .libagf import read_cls, refuse_negative


def proportions(given, labels: Sequence[int], option: str = "--priors",
                names: Mapping[int, str] | None = None) -> np.ndarray:
    """Shares (k,) of the classes `labels`, ascending, which sum to 1.

    given: a sequence of k numbers in the order of the labels, {label or name: number} of all
    of them, or the name of a .cls file with samples;  names: {label: name} of the classes, which
    go before labels.  Numbers that do not sum to 1 are
    divided by their sum, with a warning.  Raises `UsageError` for what does not fit the
    classes, `DataError` for a file.
    """
    labels = [int(label) for label in labels]
    if isinstance(given, str):
        return _frequencies(given, labels)
    if isinstance(given, dict):
        label_of = {name: label for label, name in (names or {}).items()}
        given = {label_of.get(str(key), key): share for key, share in given.items()}
        strange = [label for label in given if label not in labels]
        if strange:
            raise UsageError(f"{option}: class {strange[0]} is not one of the classes "
                             + (listed(labels) if not names else ", ".join(
                                 f"{label} {names.get(label, '')}" for label in labels[:20])))
        missing = [label for label in labels if label not in given]
        if missing:
            raise UsageError(f"{option}: expected a number for each class, found none for "
                             + listed(missing))
        given = [given[label] for label in labels]
    if len(given) != len(labels):
        raise UsageError(f"{option}: expected {len(labels)} numbers, one for each class in "
                         f"ascending order ({listed(labels)}), found {len(given)}")
    numbers = np.array(given, dtype=np.float64)
    with np.errstate(over="ignore"):
        total = numbers.sum()
    if not np.isfinite(total) or numbers.min() < 0 or total == 0 or \
            (numbers[numbers > 0] / total < SMALLEST).any():
        raise UsageError(f"{option}: expected numbers that are not negative, nor all 0, and none "
                         f"below {SMALLEST:g} of a finite sum, but for 0")
    if abs(total - 1) > 1e-6:
        warnings.warn(f"{option}: the numbers sum to {total:g}: they are divided by that",
                      AgfmcWarning, stacklevel=3)
    return numbers / total


def _frequencies(path, labels):
    """Shares (k,) of the classes among the samples in a .cls file."""
    y = read_cls(path, negative=True)
    if y.min() < 0 and labels == list(range(len(labels))):
        y = number_classes(y, len(labels), path)
    refuse_negative(y, path)
    found, counts = np.unique(y, return_counts=True)
    strange = found[~np.isin(found, labels)]
    if len(strange):
        raise DataError(f"holds class {strange[0]}, which is not one of the classes "
                        + listed(labels), file=path)
    absent = sorted(set(labels) - set(found.tolist()))
    if absent:
        warnings.warn(f"{path} holds no sample of class {listed(absent)}: the proportion is 0",
                      AgfmcWarning, stacklevel=4)
    shares = dict(zip(found.tolist(), (counts / counts.sum()).tolist()))
    return np.array([shares.get(label, 0.0) for label in labels])
