"""Functions for Python programs: training and scores, arrays in and plain values out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, TYPE_CHECKING, TypedDict

import numpy as np

from ..control.tree import MAX_LABEL, Tree
from ..control.write import format_tree
from ..core.answers import Results
from ..core.costs import cost_matrix, CostMatrix
from ..core.errors import AgfmcNotice, UsageError, warn_user
from ..core.points import as_numbers, is_sparse, SparsePoints
from ..data.class_names import check_names
from ..data.from_table import read_table as read_training_table
from ..data.normalisation import feature_share, named_features, UNEVEN
from ..data.groups import with_groups
from ..data.types import Dataset, InputFormat
from ..data.weights import given_weights
from ..designs.design import designed
from ..designs.given import Control, given_control
from ..designs.schemes import is_scheme
from ..experiments.candidates import Candidate, scheme_candidate
from ..experiments.experiment import clear_worker_caches, Experiment, SplitPlan
from ..experiments.best_search import BestSearch
from ..experiments.search import SearchSpace
from ..files.result_store import ResultCache
from ..experiments.tuning import find_options
from ..learners.boosting import remembered_fits
from ..learners.options import BinaryLearner
from ..learners.protocol import parse_options
from ..learners.svm import SVM
from ..models.configuration import Configuration
from ..models.merge import assemble
from ..prediction.calibrate import calibrated
from ..prediction.decoding import requested_decodings
from ..prediction.member_weights import check_weights
from ..score.evaluation import evaluate, ScoreRequest, warn_of_no_probabilities, with_weights
from ..score.probabilities import probability_of_answers
from ..score.rows import ALL_SCORES, SCORES
from ..tables.reading import open_table
from ..tables.recipe_file import read_dialect
from ..tables.types import ColumnRoles, TableFormat, TableRecipe
from ..training.fit import TrainingSettings
from ..training.in_memory import checked_points, train_configuration

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..data.normalisation import Normalisation


class TrainingKeywords(TypedDict, total=False):
    """Further settings of `train`: what they mean is said there, and in `TrainingSettings`."""

    weight: Any
    group: Any
    class_weight: Mapping[Any, float] | str | None
    nsv: int | None
    normalisation: Normalisation | None
    platt: str
    calibration: int
    workers: Any
    kernel_memory: int | None
    decoders: Sequence[str | Callable]
    member_weights: str | None


def read_table(
    path: Any,
    recipe: TableRecipe | str | os.PathLike | None = None,
    labelled: bool | None = None,
    **options,
) -> Dataset:
    """Read points from a table.

    Parameters
    ----------
    path : str, path-like, open file, list of dictionaries or frame
        The table: a file (.csv, .tsv, .parquet, .feather, .arrow; text also with .gz), by its name,
        or opened, if it is text; or rows in memory, a list of dictionaries, a dictionary of
        columns, or a frame of named columns, such as one of pandas, Polars or PyArrow.
    recipe : TableRecipe, str or path-like, default=None
        That of a trained configuration, `configuration.recipe`: the columns are found by their
        names, and encoded as in training. Or the file of one, which says how the table is read, as
        table2agf writes it; by default the file beside the table, lakes.recipe for lakes.csv, if
        there is one and no option is given but the roles label, weight, group, ids and ignored.
    labelled : bool, default=None
        With a recipe, whether the classes are read; None: if the table has their column.
    **options
        Roles of the columns (label, weight, ids, ignored, categorical, ordered, such as
        "size=small<medium<large", min_words, fold_case, classes, missing), and the
        layout of text (delimiter, decimal, header, quotes, blanks, encoding).

    Returns
    -------
    Dataset
        Points x (n, d), labels y (n,), names of the classes, and the recipe.

    Raises
    ------
    DataError
        If the table cannot be read, with file, line and column.
    UsageError
        If options are unknown or exclude each other.

    Examples
    --------
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
    for name in ("ids", "ignored", "categorical", "ordered", "classes", "blanks"):
        if options.get(name) is not None:
            names = options[name]
            if isinstance(names, (str, int)):
                names = (names,)
            options[name] = tuple(map(str, names))
    for name in ("label", "weight", "group"):
        if options.get(name) is not None:  # names of columns may be whole numbers
            options[name] = str(options[name])
    roles, layout = (
        {field.name: options.pop(field.name) for field in fields(kind) if field.name in options}
        for kind in (ColumnRoles, TableFormat)
    )
    if options:
        raise UsageError(
            f"there is no argument '{next(iter(options))}': expected "
            + ", ".join(field.name for kind in (ColumnRoles, TableFormat) for field in fields(kind))
        )
    form = InputFormat(
        "table", layout=TableFormat(**layout), roles=ColumnRoles(**roles), groups=None
    )
    file = None
    if isinstance(recipe, (str, os.PathLike)):
        file = os.fspath(recipe)
        recipe = None
    known = roles.keys() - {"label", "weight"}
    if recipe is not None and known:
        raise UsageError(f"{', '.join(sorted(known))}: the recipe says what the columns are for")
    if isinstance(path, (str, os.PathLike)) and not layout and not known - {"ids", "ignored"}:
        source, table_format, column_roles = read_dialect(file, path)
        if recipe is not None:  # which knows the columns
            column_roles = ColumnRoles()
        form = replace(form, layout=table_format, roles=replace(column_roles, **roles))
        if source != file:
            warn_user(f"{path} is read as {source} says", AgfmcNotice)
    with open_table(
        path, form.layout if recipe is None else form.layout.for_model(recipe), again=True
    ) as table:
        if recipe is not None:
            if labelled is None:
                labelled = form.roles.label is not None or recipe.label in table.names
            if not labelled:
                return Dataset(recipe.apply(table), None, recipe.classes, recipe)
        return read_training_table(table, form, recipe)


def train(
    control: Control,
    x: np.ndarray | Dataset,
    y: np.ndarray | None = None,
    *,
    options: str = "",
    learner: BinaryLearner | None = None,
    normalise: bool | str = "auto",
    seed: int = 1,
    **training: Unpack[TrainingKeywords],
) -> Configuration:
    """Train a configuration, with calibrated probabilities.

    Labels that are words, negative or larger than 2^31 - 1 are numbered in ascending order, and
    become the names of the classes in `configuration.tree.names`. Calibration uses decision values
    of held-out training points.

    Parameters
    ----------
    control : str, path-like, Tree, array of shape (m, k), or callable
        Name of a scheme ("one-vs-one", "one-vs-rest", "orthogonal", "tree",
        "ensemble" ...), with its parameters as in "empirical linkage=average"; or an own design:
        control text with braces, the path of a control file, a tree as `design` makes it, a coding
        matrix of -1, 0 and 1 whose columns are the classes in ascending order, or a function of
        the number of classes that returns one.
    x : array or sparse matrix of shape (n, d), or Dataset
        Training points; a `Dataset` holds labels, weights and the recipe of a table too. Sparse
        points stay sparse for linear classifiers and kernels that LIBSVM has, and are normalised
        by scales alone, without means.
    y : array of shape (n,), default=None
        Labels: whole numbers or words.
    options : str, default=""
        Training options of the binary classifiers, as for multi_borders. Without these, a
        `learner` or those of control text, it is `agfmc.SVM(gamma="scale")`.
    learner : SVM, Linear, Logistic, Nystrom or Trees, default=None
        In place of options: what trains the binary classifiers, with its parameters, as
        `agfmc.SVM(C=10, gamma="scale")`.
    normalise : bool or "auto", default="auto"
        Divide features by their standard deviations, as a part of the configuration. "auto": where
        their scales differ so much that few of them would count, with a notice, and the learner
        uses distances or products of points; sparse points, and those of which three quarters of
        the values are 0, stay as they are.
    seed : int, default=1
        Seed of all random choices.
    **training
        Further settings: weight, an array of shape (n,) that counts samples like copies;
        group, an array of shape (n,) of words or whole numbers, which no fold divides;
        class_weight, a mapping from classes to factors or "balanced"; and fields of
        `agfmc.training.fit.TrainingSettings`, such as calibration=0 for uncalibrated
        probabilities, decoders=["wu-lin-weng"] to calibrate these decoders beside the one that
        answers, or member_weights="held-out" to learn the weights of the members of an ensemble.

    Returns
    -------
    Configuration
        The trained configuration.

    Raises
    ------
    UsageError
        If arguments do not go together.
    DataError
        If the data cannot be used for training.

    Examples
    --------
    One pass over the points trains all classifiers that are least squares on shared landmarks:

    >>> import numpy as np
    >>> import agfmc
    >>> x = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = (x[:, 0] > 0) + 2 * (x[:, 1] > 0)
    >>> model = agfmc.train("one-vs-rest", x, y, options="learner=nystrom -m 40")
    >>> agfmc.Classifier(model).probabilities(x[:5]).shape
    (5, 4)
    """
    if learner is None and not options and is_scheme(control):  # a control file may say others
        learner = SVM(gamma="scale")
    data, settings = _prepared(
        control, x, y, options, learner, normalise=normalise, seed=seed, **training
    )
    with named_features(data.recipe.features if data.recipe else ()):
        control = given_control(control, sorted(data.counts), data.name_of)
        if not isinstance(control, Tree):
            control, settings = designed(control, data, data.names and data.name_of, settings)
        return train_tree(control, data, settings)


def given_learner(learner, options=""):
    """The learner that is given, by its name too, with options; or the options, where there is
    none."""
    if learner is None:
        return options
    if not isinstance(learner, BinaryLearner):
        return parse_options(f"learner={learner} {options}")
    if options:
        raise UsageError("`options`: a `learner` has parameters of its own")
    return learner


def scales_of(normalise, x, learner, weights=None) -> bool:
    """Return whether points x (n, d) are to be divided by standard deviations.

    With "auto" they are where the learner needs it, which a notice says.  Raises UsageError for
    another word.
    """
    if isinstance(normalise, str) and normalise != "auto":
        raise UsageError(f"`normalise`: expected True, False or 'auto', found {normalise!r}")
    if normalise != "auto":
        return bool(normalise)
    if is_sparse(x) or not getattr(learner, "uses_distances", False) or len(x) < 2:
        return False
    share = feature_share(x, weights)
    if share >= UNEVEN:
        return False
    warn_user(
        f"scales of features differ so much that about {max(1, round(share * x.shape[1]))} of "
        f"{x.shape[1]} would count: they are divided by their standard deviations, as a part of the "
        "model (`normalise=False` leaves them as they are)",
        AgfmcNotice,
    )
    return True


def _prepared(control, x, y, options="", learner=None, **training):
    """The checked `Dataset` and the settings of training."""
    options = known = given_learner(learner, options)
    if isinstance(options, str):
        known = parse_options(options)
    # as far as is known before planning
    data = _data(x, y, training, not is_scheme(control) or known.allows_nan)
    given = training.pop("normalise", "auto")
    if given == "auto" and training.get("normalisation") is not None:
        given = False
    settings = _settings(
        options, scales_of(given, data.x, known, data.weights and data.weights.w), **training
    )
    if known is options:
        weights = data.weights and data.weights.w
        settings = replace(settings, options=known.checked(data.x, settings.scale, weights))
    return data, settings


def _data(x, y, training, missing):
    """The checked `Dataset` of x and y, or the one that x is, with the weights and groups of its
    points.

    training: further arguments, of which weight, class_weight and group are taken away;
    missing: values may be NaN.
    """
    group = training.pop("group", None)
    weights = [training.pop(name, None) for name in ("weight", "class_weight")]
    if not isinstance(x, Dataset):
        names = None
        classes = y if isinstance(y, (list, tuple)) else np.ravel(y)
        if _are_words(classes):
            words, y = np.unique(np.asarray(classes, str), return_inverse=True)
            names = tuple(words.tolist())
            check_names(names, "y")
        elif (
            len(classes)
            and (numbers := np.asarray(classes)).dtype.kind in "iu"
            and not 0 <= numbers.min() <= numbers.max() <= MAX_LABEL
        ):
            numbers, y = np.unique(numbers, return_inverse=True)
            names = tuple(map(str, numbers.tolist()))
        x = Dataset(SparsePoints.of_matrix(x) if hasattr(x, "toarray") else x, y, names)
    elif y is not None or x.y is None:
        raise UsageError("expected classes, y, and points, or both in one Dataset")
    points, labels = checked_points(x.x, x.y, missing)
    if group is not None and x.groups is not None:
        raise UsageError("the data have groups: the argument group would be others")
    return given_weights(with_groups(replace(x, x=points, y=labels), group), *weights)


def _are_words(classes):
    return len(classes) > 0 and all(isinstance(label, str) for label in classes)


def train_tree(tree, data, settings, decodings=(), chooses=False, progress=None):
    """The `Configuration` of a control tree, trained and calibrated, with the names and the recipe
    of the data; decodings, chooses: as for `calibrated`;  progress: as for `train_configuration`."""
    check_weights(settings.member_weights, tree, settings.calibration)
    requested = requested_decodings(tree, settings.decoders)
    models = {}
    configuration = calibrated(
        *train_configuration(tree, data, settings=settings, progress=progress, models=models),
        [*requested, *decodings],
        settings.member_weights,
        chooses,
    )
    tree = configuration.tree
    if {row.text for row in tree.rows} < models.keys():
        # without members that got no weight: the order of support vectors is that of the others
        configuration = replace(
            assemble(
                tree,
                [models[row.text] for row in tree.rows],
                configuration.node_classifiers,
                configuration.normalisation,
            ),
            calibration=configuration.calibration,
        )
    if data.names is not None:
        configuration = configuration.renamed(data.name_of)
    if data.recipe is None:
        return configuration
    return replace(configuration, recipe=data.recipe)


def tune(
    control: Control,
    x: np.ndarray | Dataset,
    y: np.ndarray | None = None,
    *,
    by: str = "log_loss",
    search: str = "fast",
    time_limit: float | None = None,
    space: SearchSpace | str | None = None,
    **training,
) -> tuple[Configuration, dict]:
    """Search the training options by cross-validation, then train with the best.

    Parameters
    ----------
    control : str, path-like, Tree, array of shape (m, k), or callable
        As for `train`.
    x : array or sparse matrix of shape (n, d), or Dataset
        As for `train`.
    y : array of shape (n,), default=None
        As for `train`.
    by : str, default="log_loss"
        The score that decides, a key of `scores`.
    search : {"fast", "full"}, default="fast"
        "full": score all options on all of the data.
    time_limit : float, default=None
        Seconds after which the search ends with the best options so far.
    space : SearchSpace or str, default=None
        Kernels and exponents of 2 of parameters, such as `"C=-2:8:2 kernel=rbf"`; None:
        ranges that suit the data.
    **training
        As for `train`. Options that are not searched stay.

    Returns
    -------
    configuration : Configuration
        Trained on all of the data.
    result : dict
        Among others `points`, a list of dictionaries with the options tried and their scores;
        `best`, the index of the best, whose score is too good since it was chosen by it;
        `estimate`, the score to expect on new data with its standard error, or None; `complete`,
        False if the time limit ended the search.

    Raises
    ------
    JobsFailed
        If the time limit ended the search before anything was scored.

    Examples
    --------
    >>> import numpy as np
    >>> import agfmc
    >>> x = np.random.default_rng(0).normal(size=(120, 2))
    >>> y = (x[:, 0] > 0) + 2 * (x[:, 1] > 0)
    >>> model, result = agfmc.tune("one-vs-rest", x, y, options="learner=nystrom -m 40")
    >>> result["points"][result["best"]]["options"].startswith("learner=nystrom ")
    True
    """
    data, settings = _prepared(control, x, y, **training)
    with named_features(data.recipe.features if data.recipe else ()):
        result, tree = search_options(
            control,
            data,
            settings,
            by=by,
            search=search,
            time_limit=time_limit,
            space=space,
        )
        return train_tree(tree, data, settings), result


def train_best(
    x: np.ndarray | Dataset,
    y: np.ndarray | None = None,
    *,
    by: str = "log_loss",
    time_limit: float = 300.0,
    learners: Sequence[str] | None = None,
    kernels: Sequence[str] | None = None,
    ensemble: bool | None = None,
    **training,
) -> tuple[Configuration, dict]:
    """Compare configurations with several learners, tune the best, and train the best one.

    The model is that of the command agf_train for the same data and options.

    Parameters
    ----------
    x, y : array of shape (n, d), or Dataset, and array of shape (n,)
        As for `train`.
    by : str, default="log_loss"
        The score that decides, a key of `scores`; or, with costs, "cost".
    time_limit : float, default=300
        Seconds for search and training.
    learners, kernels : list of str, default=None
        Some of "svm", "nystrom", "trees", "logistic" and "neighbours", and of "rbf" and
        "laplacian"; None: all that suit the numbers of rows and classes and are installed.
    ensemble : bool, default=None
        True for an average of several configurations, False for the best one alone; None: the
        average where it is better.
    **training
        As for `train`, without options; the default is normalise=True, with workers on all cores.
        Further `costs` as for `scores`: the answers that are compared are those of the least
        expected cost; `answer_time`, microseconds of a core that the answer to one row may take;
        `cache`, a `ResultCache` of an earlier run with the same data, and of this
        one; and `progress`, a function that is called with what is being done, "searching" or
        "training", how much of it is done, how much there is, and words.

    Returns
    -------
    configuration : Configuration
        Trained on all of the data.
    result : dict
        `entries`, all that was tried, the best first, with their scores; `left_out`, what was not
        tried and why; `choice`, with its `members` and their weights; `estimate`, the score to
        expect on new data with its standard error; `alone`, scores without features; `control`, the
        control text that is trained; `train_s`, the seconds that this took.

    Raises
    ------
    JobsFailed
        If the time limit was too short for any configuration.

    Examples
    --------
    >>> import numpy as np
    >>> import agfmc
    >>> x = np.random.default_rng(0).normal(size=(30, 2))
    >>> y = np.where(x.sum(axis=1) > 0, "up", "down")
    >>> model, result = agfmc.train_best(x, y, learners=["nystrom"], kernels=["rbf"])
    >>> result["choice"]["configuration"]
    'one-vs-rest landmarks rbf'
    """
    start = time.monotonic()
    costs, cache, progress, answer_time = (
        training.pop(name, None) for name in ("costs", "cache", "progress", "answer_time")
    )
    data = _data(x, y, training, True)
    if costs is None:
        known = SCORES
    else:
        known = ALL_SCORES
        costs = cost_matrix(costs, list(data.counts))
    if by not in known:
        raise UsageError(f"by: expected one of {', '.join(known)}, found {by!r}")
    settings = _settings("", **{"normalise": True, "workers": 0, **training})
    searching, fitting = (
        progress and partial(progress, what) for what in ("searching", "training")
    )
    # boosted trees that are chosen are those that the search has fitted
    with named_features(data.recipe.features if data.recipe else ()), remembered_fits():
        result, tree = search_best(
            data,
            settings,
            start + time_limit,
            by,
            (learners, kernels),
            cache,
            costs,
            average=ensemble,
            answer_time=answer_time,
            progress=searching,
        )
        begin = time.monotonic()
        configuration = train_tree(tree, data, settings, progress=fitting)
    return configuration, {
        **result,
        "control": format_tree(tree),
        "train_s": time.monotonic() - begin,
    }


def search_best(
    data, settings, deadline, by="log_loss", tried=(None, None), cache=None, costs=None, **how
):
    """The best configuration of a `Dataset`: (result, control tree).

    deadline: on the clock of `time.monotonic`, with the last training;  tried: learners and kernels,
    or None;  how: as of `BestSearch`.
    """
    experiment = Experiment(
        replace(data, x=np.asarray(data.x)),
        SplitPlan(None, 5, 1, settings.seed),
        settings,
        cache or ResultCache(None),
        costs=costs,
    )
    with clear_worker_caches():
        search = BestSearch(experiment, by, deadline, **how)
        choice = search.run(*tried)
    return search.result(choice), choice.tree


def search_options(control, data, settings, decoders=None, **how):
    """The best options for a scheme or `Tree` by five-fold cross-validation: (result, control tree).

    decoders: names, or None;  how: as for `find_options`.
    """
    data = replace(data, x=np.asarray(data.x))
    if not isinstance(settings.options, str):
        settings = replace(settings, options=settings.options.text())
    experiment = Experiment(
        data,
        SplitPlan(parts=5, trials=1, seed=settings.seed),
        settings,
        calibrated=(settings.calibration > 0,),
    )
    control = given_control(control, sorted(data.counts), data.name_of)
    if isinstance(control, Tree):
        candidate = Candidate("control", control, None, decoders)
    else:
        candidate = scheme_candidate(control, decoders, settings.seed)
    return find_options(experiment, candidate, **how)


def _settings(options="", normalise=False, seed=1, **training):
    known = [field.name for field in fields(TrainingSettings)][3:]
    for word in training:
        if word not in known:
            raise UsageError(
                f"there is no argument '{word}': expected options, normalise, seed or "
                f"one of {', '.join(known)}"
            )
    return TrainingSettings(options, seed, normalise, lone_samples=True, **training)


def scores(
    truth: Any,
    classes: Any,
    probabilities: Any = None,
    labels: Any = None,
    *,
    weight: np.ndarray | None = None,
    costs: np.ndarray | CostMatrix | None = None,
    **options,
) -> dict:
    """Score answers against the true classes, as eval_uc does.

    Parameters
    ----------
    truth : array of shape (n,)
        True classes: labels or words.
    classes : array of shape (n,)
        Answers: labels, -1 for a rejected point; or words where `truth` has words, or the labels
        of a model whose class names are `labels`.
    probabilities : array of shape (n, k), default=None
        Probabilities of the classes `labels`.
    labels : array of shape (k,), default=None
        The classes, ascending; None: those that occur.
    weight : array of shape (n,), default=None
        Weights of the points, 0 or more.
    costs : array of shape (k, k) or (k, k + 1), or CostMatrix, default=None
        Cost of answering class j (column) where class i (row) is true; a last column is the cost
        of no answer.
    **options
        Fields of `ScoreRequest`: top_accuracy, ordered, by_class, intervals, seed.

    Returns
    -------
    dict
        The scores by name; None where a score cannot be computed.

    Raises
    ------
    UsageError
        If arrays do not fit together.
    """
    request = ScoreRequest(**options)
    if _are_words(truth):
        truth, classes, labels = _numbered(truth, classes, labels)
    truth, classes = as_numbers(truth, "truth", 1), as_numbers(classes, "classes", 1)
    if len(truth) != len(classes):
        raise UsageError(
            f"classes: expected {len(truth)}, as many as in truth, found {len(classes)}"
        )
    if labels is None:
        labels = np.unique(np.concatenate([truth, classes[classes >= 0]]))
    winner, labels = None, as_numbers(labels, "labels", 1)
    if probabilities is not None:
        probabilities = as_numbers(probabilities, "probabilities", 2)
        if probabilities.shape != (len(truth), len(labels)):
            raise UsageError(
                f"expected probabilities of shape {(len(truth), len(labels))}, a "
                f"column for each class, found {probabilities.shape}"
            )
        warn_of_no_probabilities(probabilities, "the probabilities")
        winner = probability_of_answers(probabilities, classes, labels)
    results = Results(
        truth,
        classes,
        labels,
        len(labels),
        winner,
        probabilities,
        costs=None if costs is None else cost_matrix(costs, labels.tolist()),
    )
    if weight is not None:
        results = with_weights(results, weight)
    return evaluate(results, request=request)


def _numbered(truth, classes, labels):
    """True classes, which are words, answers, words or numbers, and labels: positions in these."""
    if _are_words(classes):
        words = list(classes)
    else:
        words = []
    if labels is None and not words:
        raise UsageError(
            "labels: expected the names of the classes, as the true classes are words "
            "and the answers are numbers"
        )
    position = {
        word: number
        for number, word in enumerate(np.unique([*truth, *words]) if labels is None else labels)
    }
    missing = [word for word in (*truth, *words) if word not in position]
    if missing:
        raise UsageError(f"labels: the class '{missing[0]}' is missing")
    return (
        [position[word] for word in truth],
        [position[word] for word in words] if words else classes,
        list(position.values()),
    )
