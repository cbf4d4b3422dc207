"""Functions for Python programs: training and scores, arrays in and plain values out."""

from __future__ import annotations

import os
from dataclasses import fields, replace

import numpy as np

from ..control.tree import MAX_LABEL, Tree
from ..core.costs import cost_matrix, CostMatrix
from ..core.errors import UsageError
from ..core.points import as_numbers, SparsePoints
from ..data.class_names import check_names
from ..data.from_table import read_table as read_training_table, table_points
from ..data.normalisation import named_features
from ..data.types import Dataset, InputFormat
from ..data.weights import given_weights
from ..designs.design import designed
from ..experiments.candidates import Candidate
from ..experiments.experiment import Experiment, SplitPlan, with_learned
from ..experiments.search import SearchSpace
from ..experiments.tuning import find_options
from ..learners.protocol import parse_options
from ..models.configuration import Configuration
from ..prediction.calibrate import calibrated, check_weights
from ..score.evaluation import (evaluate, Results, ScoreRequest, warn_of_no_probabilities,
                                with_weights)
from ..score.probabilities import probability_of_answers
from ..tables.reading import open_table
from ..tables.types import ColumnRoles, TableFormat, TableRecipe
from ..training.fit import TrainingSettings
from ..training.in_memory import checked_points, train_configuration
from ..training.metric import metric_options, MetricOptions


def read_table(path: str, recipe: TableRecipe | None = None, labelled: bool | None = None,
               **options) -> Dataset:
    """The points of a table (.csv, .tsv, .gz, .parquet ...): a `Dataset` with x (n, d), y (n,).

    Its `names` are those of the classes.  recipe: that of a configuration, `configuration.recipe`,
    whose columns are found by their names.  labelled: with a recipe, False for y None; None: where
    the table has a column of the classes.  options: label and weight, and, without a recipe, ids,
    ignored, categorical, classes and missing, the columns by what they are for, as of
    `tables.ColumnRoles`; delimiter, header, quotes and blanks of a text, as of
    `tables.TableFormat`.

    >>> import agfmc, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "t.csv")
    ...     _ = path.write_text("size,colour,kind\\n1,red,b\\n2,blue,a\\n4,red,a\\n")
    ...     data = agfmc.read_table(path, label="kind")
    ...     _ = path.write_text("colour,size\\nred,7\\n")
    ...     new = agfmc.read_table(path, data.recipe)
    >>> data.x.tolist(), data.y.tolist(), data.names
    ([[1.0, 0.0, 1.0], [2.0, 1.0, 0.0], [4.0, 0.0, 1.0]], [1, 0, 0], ('a', 'b'))
    >>> data.recipe.features, new.x.tolist(), new.y
    (('size', 'colour=blue', 'colour=red'), [[7.0, 0.0, 1.0]], None)
    """
    several = ("ids", "ignored", "categorical", "classes", "blanks")  # one name stands for itself
    options = {name: (value,) if name in several and isinstance(value, str) else value
               for name, value in options.items()}
    roles, layout = ({field.name: options.pop(field.name) for field in fields(kind)
                      if field.name in options} for kind in (ColumnRoles, TableFormat))
    if options:
        raise UsageError(f"there is no argument '{next(iter(options))}': expected " + ", ".join(
            field.name for kind in (ColumnRoles, TableFormat) for field in fields(kind)))
    known = roles.keys() - {"label", "weight"}
    if recipe is not None and known:
        raise UsageError(f"{', '.join(sorted(known))}: the recipe tells what the columns are for")
    form = InputFormat("table", layout=TableFormat(**layout), roles=ColumnRoles(**roles))
    path = os.fspath(path)
    if recipe is not None:
        if labelled is None:
            with open_table(path, form.layout) as table:
                labelled = form.roles.label is not None or recipe.label in table.names
        if not labelled:
            x = np.concatenate(list(table_points(path, form, recipe)))
            return Dataset(x, None, recipe.classes, recipe)
    return read_training_table(path, form, recipe)


def train(control: str | Tree, x: np.ndarray | Dataset, y: np.ndarray | None = None, *,
          options: str = "", normalise: bool = False, seed: int = 1,
          metric: MetricOptions | str | None = None, **training) -> Configuration:
    """Train a configuration on points x (n, d) with classes y (n,), whole numbers or words.

    x may be a `Dataset` with both, as `read_table` gives it, or a sparse matrix of SciPy, which
    linear classifiers without normalisation keep as it is.  Words, and all classes where one is
    negative or above 2^31 - 1, are numbered in ascending order, and are names of the classes,
    `configuration.tree.names`; they, and the recipe of a `Dataset`, are kept in the configuration.
    Its probabilities are calibrated, by decision values of points that were held out.

    control: the name of a scheme ("one-vs-one", "one-vs-rest", "orthogonal", "tree", "best-tree",
    "ensemble" ...) or a training control tree, as `design` makes it;  options: training options of
    the binary classifiers, as for multi_borders;  normalise: divide features by their standard
    deviations, as a part of the configuration;  seed: of all random choices;  metric: "learned",
    to normalise and then learn a linear map of the features from the classes, after which kernels
    fit them better, "diagonal", for weights of the features alone, or an `agfmc.MetricOptions`;
    training: sample_weight (n,), weights of the points, 0 or more, as if there were so many
    copies, where the `Dataset` has none;  class_weight, {label or name: factor} of them, or
    "balanced", with which all classes count alike (the probabilities are those of a population of
    such weights);  further fields of `training.fit.TrainingSettings`, such as `calibration=0` for
    probabilities that are not calibrated, or `member_weights="held-out"` to learn the weights of
    the members of an ensemble, several configurations in one control tree.

    One pass over the points serves the classifiers of any layout where they are least squares on
    shared landmarks, here 40 of them:

    >>> import numpy as np
    >>> import agfmc
    >>> x = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = (x[:, 0] > 0) + 2 * (x[:, 1] > 0)
    >>> model = agfmc.train("one-vs-rest", x, y, options="learner=nystrom -m 40")
    >>> agfmc.Classifier(model).probabilities(x[:5]).shape
    (5, 4)

    The map is a part of the normalisation, which tells how much each feature matters, 1 on average:

    >>> metric = agfmc.MetricOptions(rounds=1, machine="-m 40")
    >>> model = agfmc.train("one-vs-one", np.hstack([x, x[::-1]]), y, metric=metric)
    >>> weights = model.normalisation.metric.weights
    >>> weights.shape, bool(weights[:2].min() > weights[2:].max())
    ((4,), True)
    """
    data = _data(x, y, training, _may_miss(control, options))
    settings = _settings(options, normalise, seed, metric, **training)
    with named_features(data.recipe.features if data.recipe else ()):
        if not isinstance(control, Tree):
            control, settings = designed(control, data.x, data.y, data.names and data.name_of,
                                         settings, data.weights)
        return _trained(control, data, settings)


def _data(x, y, training, missing):
    """The checked `Dataset` of x and y, or the one that x is, with the weights of its points.

    training: further arguments, of which sample_weight and class_weight are taken away;  missing:
    values may be NaN.
    """
    weights = [training.pop(name, None) for name in ("sample_weight", "class_weight")]
    if not isinstance(x, Dataset):
        names, classes = None, y if isinstance(y, (list, tuple)) else np.ravel(y)
        if _are_words(classes):
            words, y = np.unique(np.asarray(classes, str), return_inverse=True)
            names = tuple(words.tolist())
            check_names(names, "y")
        elif len(classes) and (numbers := np.asarray(classes)).dtype.kind in "iu" and not \
                0 <= numbers.min() <= numbers.max() <= MAX_LABEL:
            numbers, y = np.unique(numbers, return_inverse=True)
            names = tuple(map(str, numbers.tolist()))
        x = Dataset(SparsePoints.of_matrix(x) if hasattr(x, "toarray") else x, y, names)
    elif y is not None or x.y is None:
        raise UsageError("expected classes, y, and points, or both in one Dataset")
    points, labels = checked_points(x.x, x.y, missing)
    return given_weights(replace(x, x=points, y=labels), *weights)


def _may_miss(control, options):
    """Whether points may have missing values, as far as it is known before jobs are planned."""
    return isinstance(control, Tree) or parse_options(options).allows_nan


def _are_words(classes):
    return len(classes) > 0 and all(isinstance(label, str) for label in classes)


def _trained(tree, data, settings):
    check_weights(settings.member_weights, tree, settings.calibration)
    configuration = calibrated(
        *train_configuration(tree, data.x, data.y, settings, weights=data.weights),
        weights=settings.member_weights)
    if data.names is not None:
        configuration = configuration.renamed(data.name_of)
    return configuration if data.recipe is None else replace(configuration, recipe=data.recipe)


def tune(control: str | Tree, x: np.ndarray | Dataset, y: np.ndarray | None = None, *,
         by: str = "log_loss", search: str = "fast", time_limit: float | None = None,
         space: SearchSpace | None = None, **training) -> tuple[Configuration, dict]:
    """Train a configuration with the options that a search by cross-validation finds, as tune_m
    does; -> (configuration, result of the search).

    control, x, y: as for `train`;  by: the score that decides, a name of `scores`;  search:
    "fast", or "full" for all options on all of the data;  time_limit: seconds of the search, after
    which the best so far is taken;  space: kernels and grids, such as
    agfmc.SearchSpace(log2c=agfmc.Axis(-2, 8, 2)), by default around values that suit the data;
    training: as for `train`: of the options all but those searched stay, a metric is learned in
    each training part, weights count in the scores too, and `loo` says whether probabilities come
    from leaving out single samples by a formula, in the search and in the final training (by
    default in the search alone), or from folds.

    The result has, among others: points, a list of dictionaries, one for each of the options
    tried (options, score, sd ...);  best: the index of that taken, whose score is too good, as it
    was chosen by it;  estimate: what to expect of new data (score, its standard error, number of
    points that it comes from, and how), or None;  complete: False where the time limit ended the
    search.  Raises `JobsFailed` where it came before anything was scored.

    >>> import numpy as np
    >>> import agfmc
    >>> x = np.random.default_rng(0).normal(size=(120, 2))
    >>> y = (x[:, 0] > 0) + 2 * (x[:, 1] > 0)
    >>> model, result = agfmc.tune("one-vs-rest", x, y, options="learner=nystrom -m 40")
    >>> result["points"][result["best"]]["options"].startswith("learner=nystrom ")
    True
    """
    data = _data(x, y, training, _may_miss(control, training.get("options", "")))
    settings = _settings(**training)
    with named_features(data.recipe.features if data.recipe else ()):
        result, tree, learned = search_options(
            control, data, replace(settings, loo=training.get("loo", True)), by=by, search=search,
            time_limit=time_limit, space=space)
        return _trained(tree, data, with_learned(settings, learned)), result


def search_options(control, data, settings, decoders=None, **how):
    """The best options for a scheme or `Tree` by five-fold cross-validation: (result, control tree,
    the normalisation with the metric that was learned from all points, or None).

    decoders: names, or None;  how: as for `find_options`.
    """
    data = replace(data, x=np.asarray(data.x))
    experiment = Experiment(data, SplitPlan(parts=5, trials=1, seed=settings.seed), settings,
                            calibrated=(settings.calibration > 0,))
    candidate = Candidate("control", control, None, decoders) if isinstance(control, Tree) else \
        Candidate(control, None, control, decoders, {"seed": settings.seed})
    result, tree = find_options(experiment, candidate, **how)
    return result, tree, experiment.learned.get(None)


def _settings(options="", normalise=False, seed=1, metric=None, **training):
    known = [field.name for field in fields(TrainingSettings)][3:]
    for word in training:
        if word not in known:
            raise UsageError(f"there is no argument '{word}': expected options, normalise, seed or "
                             f"one of {', '.join(known)}")
    return TrainingSettings(options, seed, normalise, metric=metric_options(metric), **training)


def scores(truth: np.ndarray, classes: np.ndarray, probabilities: np.ndarray | None = None,
           labels: np.ndarray | None = None, *, sample_weight: np.ndarray | None = None,
           costs: np.ndarray | CostMatrix | None = None, **asked) -> dict:
    """All scores of classes (n,) against the truth (n,), as eval_uc gives them.

    Where the true classes are words, `classes` are words too, or numbers of an `Answers` of
    a model whose names of classes, in the order of its `classes`, are `labels`.
    probabilities (n, k): of the classes `labels` (k,), ascending, by default those that
    occur.  -1 in `classes` is a rejected point.  sample_weight (n,): how much each point counts, 0
    or more;  costs: (k, k) of answering class j (column) where class i (row) is true, or (k, k + 1)
    with that of no answer: then there is the mean cost.  asked: fields of
    `ScoreRequest`, as top, ordered, by_class, resamples.  Scores without their
    numbers are None.
    """
    request = ScoreRequest(**asked)
    if _are_words(truth):
        truth, classes, labels = _numbered(truth, classes, labels)
    truth, classes = as_numbers(truth, "truth", 1), as_numbers(classes, "classes", 1)
    if len(truth) != len(classes):
        raise UsageError(f"classes: expected {len(truth)}, as many as in truth, found "
                         f"{len(classes)}")
    if labels is None:
        labels = np.unique(np.concatenate([truth, classes[classes >= 0]]))
    winner, labels = None, as_numbers(labels, "labels", 1)
    if probabilities is not None:
        probabilities = as_numbers(probabilities, "probabilities", 2)
        if probabilities.shape != (len(truth), len(labels)):
            raise UsageError(f"expected probabilities of shape {(len(truth), len(labels))}, a "
                             f"column for each class, found {probabilities.shape}")
        warn_of_no_probabilities(probabilities, "the probabilities")
        winner = probability_of_answers(probabilities, classes, labels)
    results = Results(truth, classes, labels, len(labels), winner, probabilities,
                      costs=None if costs is None else cost_matrix(costs, labels.tolist()))
    if sample_weight is not None:
        results = with_weights(results, sample_weight)
    return evaluate(results, request=request)


def _numbered(truth, classes, labels):
    """True classes, which are words, answers, words or numbers, and labels: positions in these."""
    words = list(classes) if _are_words(classes) else []
    if labels is None and not words:
        raise UsageError("labels: expected the names of the classes, as the true classes are words "
                         "and the answers are numbers")
    position = {word: number for number, word in enumerate(
        np.unique([*truth, *words]) if labels is None else labels)}
    missing = [word for word in (*truth, *words) if word not in position]
    if missing:
        raise UsageError(f"labels: the class '{missing[0]}' is missing")
    return ([position[word] for word in truth],
            [position[word] for word in words] if words else classes, list(position.values()))
