"""Classes of any kind, and the labels and names that stand for them in control files."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..control.tree import changed, MAX_LABEL
from ..core.errors import and_more, DataError, warn_user
from ..core.weights import BALANCED
from ..data.class_names import check_names
from ..data.weights import sample_weights


class Labelled(NamedTuple):
    """classes (k,): as the user knows them, ascending;  labels (k,): the number that each
    has in control files;  names: {label: name}, {} where the labels say it all."""

    classes: np.ndarray
    labels: np.ndarray
    names: dict

    @property
    def nameless(self):
        """True if classes are numbered and have no names to identify them."""
        return not self.names and not np.array_equal(self.classes, self.labels)

    @property
    def columns(self):
        """(k,) of each class, the column in a table whose labels ascend."""
        return np.searchsorted(np.sort(self.labels), self.labels)

    def positions(self, labels):
        """(n,) of each of the control labels (n,), the position in `classes`."""
        order = np.argsort(self.labels)
        return order[np.searchsorted(self.labels[order], labels)]


def labels_for(classes):
    """The `Labelled` of classes (k,), ascending, as training data have them.

    Whole numbers from 0 are their own labels.  All others are numbered in their order,
    and have names, as words in LIBSVM text do, where a file could hold them.
    """
    if classes.dtype.kind in "iuf" and classes[0] >= 0 and classes[-1] <= MAX_LABEL:
        return Labelled(classes, classes.astype(np.int64), {})
    words = [str(int(value) if classes.dtype.kind == "f" else value) for value in classes]
    labels = np.arange(len(classes))
    try:
        check_names(words)
    except DataError:
        return Labelled(classes, labels, {})
    return Labelled(classes, labels, dict(enumerate(words)))


def labels_in(tree):
    """The `Labelled` of a trained control tree.

    Classes are the names, where each class has its own, else the labels.  Names that
    are all whole numbers, some of which no label can be, are taken as numbers.
    """
    labels = np.array(tree.classes, dtype=np.int64)
    words = [tree.names.get(label) for label in tree.classes]
    if None in words or len(set(words)) < len(words):
        return Labelled(labels, labels, {})
    classes = np.array(_numbers(words) or words)
    order = np.argsort(classes, kind="stable")
    return Labelled(classes[order], labels[order], dict(tree.names))


def _numbers(words):
    """The whole numbers that words are, if all are such and labels could not be; else None."""
    try:
        numbers = [int(word) for word in words]
    except ValueError:
        return None
    are_labels = all(0 <= number <= MAX_LABEL for number in numbers)
    if (
        are_labels
        or [str(number) for number in numbers] != words
        or not all(abs(number) < 2**63 for number in numbers)
    ):
        return None
    return numbers


def named(tree, labelled):
    """(tree, labelled) of a given control tree and the classes of the data, brought together.

    Where the tree names its classes, the names decide; else the numbers, and the tree
    gets the names.  Raises `DataError` where the names are those of other classes.
    """
    if not labelled.names:
        return tree, labelled
    label_of = {tree.names[label]: label for label in tree.labels if label in tree.names}
    if not label_of:
        return changed(
            tree,
            names={
                label: labelled.names[label] for label in tree.labels if label in labelled.names
            },
        ), labelled
    words = list(labelled.names.values())
    if set(label_of) != set(words):
        in_tree, in_data = (
            ", ".join(sorted(names)[:8]) + ", ..." * (len(names) > 8) for names in (label_of, words)
        )
        raise DataError(f"the control names the classes {in_tree}, but the data have {in_data}")
    labels = np.array([label_of[word] for word in words], dtype=np.int64)
    return tree, Labelled(labelled.classes, labels, {label_of[word]: word for word in words})


def weights_of(sample_weight, y):
    """The `Weights` of samples of classes y (n,), each 0 or more; None stays None.

    Warns of a class whose samples all have weight 0. Raises `DataError` as `sample_weights`,
    ValueError where all weights are 0.
    """
    if sample_weight is None:
        return None
    weights = sample_weights(sample_weight, len(y))
    if not weights.w.any():
        raise ValueError("sample_weight: all weights are zero")
    missing = np.setdiff1d(y, y[weights.w > 0]).tolist()
    if missing:
        warn_user(
            f"sample_weight: all samples of class {missing[0]!r}{and_more(missing)} have weight 0: "
            "the model does not have it"
        )
    return weights


def factors_of(class_weight, labelled):
    """Class weights of the classes of a `Labelled`, by their labels: as `WeightSource` has them.

    Raises ValueError for a class that is not there, and for a factor that is not above 0.
    """
    if class_weight is None or isinstance(class_weight, str) and class_weight == BALANCED:
        return class_weight
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight must be None, {BALANCED!r} or a dictionary of the weights "
            f"of classes, not {class_weight!r}"
        )
    label_of = dict(zip(labelled.classes.tolist(), labelled.labels.tolist()))
    for key, factor in class_weight.items():
        if key not in label_of:
            raise ValueError(f"class_weight: {key!r} is not one of the classes")
        if not 0 < factor < np.inf:
            raise ValueError(
                f"class_weight: expected numbers above 0, found {factor!r} for class {key!r}"
            )
    return {label_of[key]: float(factor) for key, factor in class_weight.items()}
