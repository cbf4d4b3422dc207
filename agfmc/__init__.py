"""agfmc: multi-class classification from binary classifiers.

    configuration = agfmc.train("one-vs-one", x, y, options="-c 50 -g 0.01")
    classifier = configuration.classifier()
    p = classifier.probabilities(new_x)
    configuration.save("model.mbm")
    print(agfmc.scores(truth, classifier.classify(new_x).classes)["accuracy"])

x (n, d) are points, y (n,) their classes as whole numbers from 0, and the columns of p (n, k)
are `classifier.classes`, ascending.  `agfmc.read_table("t.csv", label="kind")` has both, and
`train` takes it in their place; `agfmc.read_table("new.csv", configuration.recipe).x` are points.
`agfmc.tune` is `agfmc.train` with the options that a search finds; both take metric="learned", and
member_weights="held-out" for the members of an ensemble,
`agfmc.joined([agfmc.design("tree", labels), ...])`.  `agfmc.load` reads what `save` or the commands
wrote; `agfmc.estimators` has the same for scikit-learn.

The names are found when they are used: importing the package alone loads none of its rooms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._version import __version__
from .errors import (AgfmcError, AgfmcWarning, CommandFailed, ControlError, DataError, JobsFailed,
                     ModelError, UsageError)

if TYPE_CHECKING:
    from .api import read_table, scores, train, tune
    from .control.build import joined
    from .data_tools.metric import MetricOptions
    from .experiments.search import Axis, SearchSpace
    from .models import Configuration, Dataset, Normalisation
    from .prediction.classifier import Answers, Classifier, classifier_for
    from .prediction.configuration import export, load, save
    from .prediction.decoding import Decoding
    from .training.design import design

__all__ = ["AgfmcError", "AgfmcWarning", "Answers", "Axis", "Classifier", "CommandFailed",
           "Configuration", "ControlError", "DataError", "Dataset", "Decoding", "JobsFailed",
           "MetricOptions", "ModelError", "Normalisation", "SearchSpace", "UsageError",
           "__version__", "classifier_for", "design", "export", "joined", "load", "read_table",
           "save", "scores", "train", "tune"]

_HOMES = {
    "api": ("read_table", "scores", "train", "tune"),
    "control.build": ("joined",),
    "data_tools.metric": ("MetricOptions",),
    "experiments.search": ("Axis", "SearchSpace"),
    "models": ("Configuration", "Dataset", "Normalisation"),
    "prediction.classifier": ("Answers", "Classifier", "classifier_for"),
    "prediction.configuration": ("export", "load", "save"),
    "prediction.decoding": ("Decoding",),
    "training.design": ("design",),
}


def __getattr__(name: str):
    for module, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            value = globals()[name] = getattr(import_module(f".{module}", __name__), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
