"""agfmc: multi-class classification from binary classifiers.

    configuration = agfmc.train("one-vs-one", x, y, learner=agfmc.SVM(C=50, gamma=0.01))
    classifier = agfmc.Classifier(configuration)
    p = classifier.probabilities(new_x)
    configuration.save("model.mbm")
    print(agfmc.scores(truth, classifier.classify(new_x).classes)["accuracy"])

x (n, d) are points, y (n,) their classes as whole numbers from 0, and the columns of p (n, k)
are `classifier.classes`, ascending.  `agfmc.read_table("t.csv", label="kind")` has both, and
`train` takes it in their place.  `configuration.recipe.apply(rows)` are points of new rows, of a
frame, dictionaries or a file, and `classifier.predict(rows)` their classes and probabilities.
`agfmc.train_best` chooses configuration and options, as the command agf_train does.
`agfmc.tune` is `agfmc.train` with the options that a search finds; both take
member_weights="held-out" for the members of an ensemble,
`agfmc.joined([agfmc.design("tree", labels), ...])`.  `agfmc.load` reads what `save` or the commands
wrote; `agfmc.estimators` has the same for scikit-learn.

The names are imported when they are used: importing the package alone loads no other module.
"""

from .core.errors import (
    AgfmcError,
    AgfmcNotice,
    AgfmcWarning,
    CommandFailed,
    ControlError,
    DataError,
    JobsFailed,
    ModelError,
    UsageError,
)
from .core.version import __version__

_HOMES = {
    "core.answers": ("Answers",),
    "api.functions": ("read_table", "scores", "train", "train_best", "tune"),
    "control.build": ("joined",),
    "data.normalisation": ("Normalisation",),
    "data.types": ("Dataset",),
    "designs.design": ("design",),
    "experiments.search": ("Axis", "SearchSpace"),
    "landmarks.learner": ("Nystrom",),
    "learners.linear": ("Linear",),
    "learners.logistic": ("Logistic",),
    "learners.svm": ("SVM",),
    "learners.trees": ("Trees",),
    "models.configuration": ("Configuration",),
    "models.files": ("export", "load", "save"),
    "prediction.classifier": ("Classifier", "classifier_for"),
    "prediction.contributions": ("explain",),
    "prediction.decoding": ("Decoding",),
    "prediction.importance": ("importance",),
}

__all__ = [
    "AgfmcError",
    "AgfmcNotice",
    "AgfmcWarning",
    "Answers",
    "Axis",
    "Classifier",
    "CommandFailed",
    "Configuration",
    "ControlError",
    "DataError",
    "Dataset",
    "Decoding",
    "JobsFailed",
    "Linear",
    "Logistic",
    "ModelError",
    "Normalisation",
    "Nystrom",
    "SVM",
    "SearchSpace",
    "Trees",
    "UsageError",
    "__version__",
    "classifier_for",
    "design",
    "explain",
    "export",
    "importance",
    "joined",
    "load",
    "read_table",
    "save",
    "scores",
    "train",
    "train_best",
    "tune",
]


def __getattr__(name):
    for module, names in _HOMES.items():
        if name in names:
            from .core.rows import by_name

            value = globals()[name] = by_name(f"{module}:{name}")
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
