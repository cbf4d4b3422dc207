"""Proportions of the classes: those that a user gives, and those that models were trained with."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from ..decode.priors import Adjustment, class_counts
from ..errors import AgfmcWarning, DataError, ModelError, UsageError
from ..formats.class_names import number_classes
from ..formats.vectors import read_cls, refuse_negative
from ..models import Configuration
from ..provenance import Provenance
from ..weights import SMALLEST

__all__ = ["TRAINING", "adjustment", "class_samples", "class_sums", "has_class_weights", "listed",
           "proportions"]

TRAINING = "training"  # priors: the proportions in training, without class weights


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


def listed(labels):
    """Labels in a message: all, or the first and how many there are."""
    text = " ".join(map(str, labels[:12]))
    return f"{text} ... ({len(labels)})" if len(labels) > 12 else text


def class_samples(configuration: Configuration) -> dict[int, int]:
    """{label: samples in training}, ascending; `ModelError` where not known.

    Each classifier made here tells how many samples it had on either side.
    """
    return _of_classes(configuration, lambda one: one.samples, False)


def class_sums(configuration: Configuration, seen: bool = False) -> dict[int, float]:
    """{label: sum of the weights of its samples}, ascending; their number where none had weights.

    seen: without class weights.  Raises `ModelError` where the models do not tell.
    """
    made = [*getattr(configuration.machines, "provenances", ()),
            *configuration.node_classifiers.values()]
    if all(_sums(one, False) is None for one in made):
        return {**class_samples(configuration)}
    return _of_classes(configuration, lambda one: _sums(one, seen), True)


def has_class_weights(configuration: Configuration) -> bool:
    """True where class weights are known to have moved its probabilities from those of the data."""
    made = [*getattr(configuration.machines, "provenances", ()),
            *(one.provenance for one in configuration.node_classifiers.values())]
    return any(one.seen != one.weights for one in made)


def _sums(one, seen):
    """The sums of the weights of the sides of a `Provenance`, or of the classifier of a node."""
    made_from = one if isinstance(one, Provenance) else one.provenance
    if made_from.weights is None and getattr(one, "w", None) is not None:  # those of neighbours
        return None if seen else np.bincount(one.y, one.w, one.branches).tolist()
    return made_from.seen if seen else made_from.weights


def _of_classes(configuration, sizes_of, weighted):
    tree = configuration.tree
    column = {label: i for i, label in enumerate(tree.classes)}
    sizes = [(sides, sizes_of(one)) for sides, one in
             zip(tree.sides(), getattr(configuration.machines, "provenances", ()))]
    branches = tree.branch_labels()
    sizes += [(branches[number], sizes_of(one))
              for number, one in configuration.node_classifiers.items()]
    totals = [([column[label] for label in labels], size) for sides, several in sizes
              if several is not None and len(several) == len(sides)
              for labels, size in zip(sides, several)]
    found = class_counts(totals, len(column), weighted) if totals else None
    if found is None:
        raise ModelError("the models do not record the number of training samples of each "
                         "class")
    return dict(zip(tree.classes, found.tolist()))


def adjustment(configuration: Configuration, priors, trained=None) -> Adjustment:
    """The `Adjustment` of probabilities in the order of the tree's labels.

    priors: as for `proportions`, or "training" for those of the training data, without class
    weights;  trained: as for `proportions`; None for what the models tell, with all weights.
    Raises `UsageError` where they do not, and for a class without share in training.
    """
    tree = configuration.tree
    classes = tree.classes

    def told(seen=False):
        try:
            return np.array(list(class_sums(configuration, seen).values()), dtype=float)
        except ModelError as error:
            raise UsageError(
                "--priors training: the models do not record the proportions without class "
                "weights: give those of the data, as --priors p,p,..." if seen else
                f"--priors: {error.message}: give their proportions in training with "
                "--trained-priors") from error

    if isinstance(priors, str) and priors == TRAINING:
        new = told(seen=True)
        new /= new.sum()
    else:
        new = proportions(priors, classes, names=tree.names)
    if trained is None:
        old = told()
    else:
        old = proportions(trained, classes, "--trained-priors", tree.names)
        if old.min() == 0:
            raise UsageError(f"--trained-priors: class {classes[int(np.argmin(old))]} was trained "
                             "on, so its proportion is not 0")
    order = np.argsort(np.argsort(tree.labels))  # rank of each label
    return Adjustment(new[order], old[order] / old.sum())
