"""Proportions of the classes: those that a user gives, and those that models were trained with."""

from __future__ import annotations


import numpy as np

from ..calibration.priors import Adjustment
from ..core.errors import ModelError, UsageError
from ..data.weights import proportions
from ..models.configuration import Configuration
from ..models.description import class_sums

TRAINING = "training"  # priors: the proportions in training, without class weights


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
