"""Functions for Python programs: training and scores, arrays in and plain values out."""

from __future__ import annotations

import numpy as np

from .control.tree import Tree
from .errors import DataError, UsageError
from .models import Configuration
from .prediction.calibration import calibrated
from .prediction.evaluation import Asked, evaluate, Results, warn_of_no_probabilities
from .training.design import design_for
from .training.fit import TrainingSettings
from .training.memory import train_configuration

__all__ = ["scores", "train"]


def train(control: str | Tree, x: np.ndarray, y: np.ndarray, *, options: str = "",
          normalise: bool = False, seed: int = 1, **training) -> Configuration:
    """Train a configuration on points x (n, d) with classes y (n,), whole numbers from 0.

    Its probabilities are calibrated, by decision values of points that were held out.
    control: the name of a scheme ("one-vs-one", "one-vs-rest", "orthogonal", "tree" ...) or a
    training control tree, as `design` makes it;  options: training options of the binary
    classifiers, as for multi_borders;  normalise: divide features by their standard
    deviations, as a part of the configuration;  seed: of all random choices;  training:
    further fields of `training.fit.TrainingSettings`, such as `calibration=0` for
    probabilities that are not calibrated.

    One pass over the points serves the classifiers of any layout where they are least squares on
    shared landmarks, here 40 of them:

    >>> import numpy as np
    >>> import agfmc
    >>> x = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = (x[:, 0] > 0) + 2 * (x[:, 1] > 0)
    >>> model = agfmc.train("one-vs-rest", x, y, options="learner=nystrom -m 40")
    >>> model.classifier().probabilities(x[:5]).shape
    (5, 4)
    """
    if hasattr(x, "toarray"):
        raise DataError("x is sparse: expected an array, x.toarray()")
    x, y = np.asarray(x), np.asarray(y)
    if not isinstance(control, Tree):
        labels = [int(label) for label in np.unique(y)]
        control = design_for(control, x, y, labels, None, seed=seed)
    return calibrated(*train_configuration(control, x, y, TrainingSettings(
        options, seed, normalise, **training)))


def scores(truth: np.ndarray, classes: np.ndarray, probabilities: np.ndarray | None = None,
           labels: np.ndarray | None = None, **asked) -> dict:
    """All scores of classes (n,) against the truth (n,), as eval_uc gives them.

    probabilities (n, k): of the classes `labels` (k,), ascending, by default those that
    occur.  -1 in `classes` is a rejected point.  asked: fields of
    `prediction.evaluation.Asked`, as top, ordered, by_class, resamples.  Scores without their
    numbers are None.
    """
    wanted = Asked(**asked)
    truth, classes = np.asarray(truth), np.asarray(classes)
    if labels is None:
        labels = np.unique(np.concatenate([truth, classes[classes >= 0]]))
    if probabilities is None:
        return evaluate(Results(truth, classes, labels, len(labels)), asked=wanted)
    p = np.asarray(probabilities)
    if p.shape != (len(truth), len(labels)):
        raise UsageError(f"expected probabilities of shape {(len(truth), len(labels))}, a column "
                         f"for each class, found {p.shape}")
    warn_of_no_probabilities(p, "the probabilities")
    return evaluate(Results(truth, classes, labels, len(labels), p.max(axis=1), p), asked=wanted)
