"""Proportions of the classes: as a user gives them, and as a model tells those of its training."""

from __future__ import annotations

import warnings

import numpy as np

from ..decode.priors import Adjustment, class_counts
from ..errors import AgfmcWarning, DataError, ModelError, UsageError
from ..formats.class_names import number_classes
from ..formats.vectors import read_cls, refuse_negative

__all__ = ["adjustment", "class_samples", "listed", "proportions"]

def proportions(given, labels, option="--priors"):
    """Shares (k,) of the classes `labels`, ascending, which sum to 1.

    given: a sequence of k numbers in the order of the labels, {label: number} of all
    of them, or the name of a .cls file with samples.  Numbers that do not sum to 1 are
    divided by their sum, with a warning.  Raises `UsageError` for what does not fit the
    classes, `DataError` for a file.
    """
    labels = [int(label) for label in labels]
    if isinstance(given, str):
        return _frequencies(given, labels)
    if isinstance(given, dict):
        strange = [label for label in given if label not in labels]
        if strange:
            raise UsageError(f"{option}: class {strange[0]} is not one of the classes "
                             + listed(labels))
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
    if not np.isfinite(total) or numbers.min() < 0 or total == 0:
        raise UsageError(f"{option}: expected numbers that are not negative, nor all 0")
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


def listed(labels):
    """Labels in a message: all, or the first and how many there are."""
    text = " ".join(map(str, labels[:12]))
    return f"{text} ... ({len(labels)})" if len(labels) > 12 else text


def class_samples(tree, model, directs=()):
    """{label: samples in training} of a configuration, ascending; `ModelError` where not known.

    model: its `CollatedModel`, or None; directs: its `DirectModel`s.  Each binary
    model made here tells how many samples it had on either side.
    """
    place = {label: i for i, label in enumerate(tree.classes)}
    groups = [] if model is None else [
        (sides, one.samples) for sides, one in zip(tree.sides(), model.provenances)]
    branches = tree.branch_labels()
    numbers = [number for number, direct in tree.directs.items() if not direct.learner.is_program]
    for number, direct in zip(numbers, directs):
        groups.append((branches[number], direct.samples))
    totals = [([place[label] for label in labels], count) for sides, told in groups
              if told is not None and len(told) == len(sides)
              for labels, count in zip(sides, told)]
    counts = class_counts(totals, len(place)) if totals else None
    if counts is None:
        raise ModelError("the models do not tell how many samples of each class they were "
                         "trained on")
    return dict(zip(tree.classes, counts.tolist()))


def adjustment(tree, model, directs, priors, trained=None):
    """The `Adjustment` of probabilities in the order of the tree's labels.

    priors, trained: as for `proportions`; trained: None for what the models tell.
    Raises `UsageError` where they do not, and for a class without share in training.
    """
    classes = tree.classes
    new = proportions(priors, classes)
    if trained is None:
        try:
            samples = class_samples(tree, model, directs)
        except ModelError as error:
            raise UsageError(f"--priors: {error.message}: give their proportions in training with "
                             "--trained-priors") from error
        old = np.array(list(samples.values()), dtype=float)
    else:
        old = proportions(trained, classes, "--trained-priors")
        if old.min() == 0:
            raise UsageError(f"--trained-priors: class {classes[int(np.argmin(old))]} was trained "
                             "on, so its proportion is not 0")
    order = np.argsort(np.argsort(tree.labels))  # rank of each label
    return Adjustment(new[order], old[order] / old.sum())
