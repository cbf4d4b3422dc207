"""Multi-class classification from binary classifiers, as an estimator of scikit-learn."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from typing import Any, TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..calibration.maps import apply_map
from ..calibration.sets import fill_empty_sets, prediction_sets, quantiles, SCORES
from ..calibration.types import DecoderCalibration, ProbabilityMap
from ..decode.methods import MAP_KINDS
from ..control.learners import LEARNERS
from ..control.tree import Tree, TREE_DECODERS
from ..control.write import format_tree
from ..core.costs import cost_matrix
from ..core.errors import AgfmcError, warn_user
from ..core.points import SparsePoints
from ..data.libagf import read_std
from ..data.normalisation import named_features
from ..data.groups import with_groups
from ..data.types import Dataset
from ..data.weights import with_final_weights
from ..decode.costs import expected_costs
from ..designs import design
from ..designs.design import designed
from ..designs.given import Control, given_control
from ..designs.schemes import is_scheme
from ..designs.symbols import symbol_tree
from ..executors.threads import available_cores
from ..experiments.candidates import open_rows
from ..learners.estimators import MemberLearners
from ..learners.options import BinaryLearner
from ..learners.protocol import parse_options, unnamed
from ..models.description import training_tree
from ..models.files import load, save
from ..prediction.classifier import Classifier
from ..prediction.decision import TRAINING
from ..prediction.decoding import decoders_of, gives_probabilities
from ..prediction.known_points import answers_of_data, map_columns
from ..prediction.recalibrate import calibrated_points, recalibrate, with_decoders
from ..tables.recipe_file import format_recipe
from ..tables.types import ColumnRecipe, TableRecipe
from ..training.fit import TrainingSettings
from .functions import given_learner, scales_of, search_best, search_options, train_tree
from .labels import factors_of, labels_for, labels_in, named, weights_of

if TYPE_CHECKING:
    from typing_extensions import Self

BEST = "best"  # in the place of the name of a scheme
_MOST_CLASSES = 10_000  # that a recipe has names of
# Of scikit-learn's `check_estimator`.
EXPECTED_FAILED_CHECKS = dict.fromkeys(
    (
        "check_sample_weights_invariance",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "a sample is held out with all of its weight, but copies of it one by one",
)

_DTYPES = (np.float64, np.float32)


def _has(gives):
    """A check for `available_if`: gives(decoding, tree) of the estimator's decoder."""

    def check(estimator):
        try:
            decoding, tree = estimator._decoder_and_tree()
        except (AgfmcError, TypeError):
            return True  # the call says what is wrong
        if not gives(decoding, tree):
            raise AttributeError(f"not with the decoder {decoding.name!r}")
        return True

    return check


class MultiClassFromBinary(ClassifierMixin, BaseEstimator):
    """A multi-class classifier made of binary ones, as a control tree arranges them.

    The numbers are those of the commands print_control, multi_borders, mbh2mbm and
    classify_m with the same settings.  `agfmc.train` does without scikit-learn.

    Probabilities are calibrated: `fit` holds out training points in turn, and fits a map of the
    decoder's probabilities to them (`calibrated`).  An answer can be rejected (`reject`,
    `max_error`), or be a set that holds the true class with a given probability (`predict_set`):
    approximately, as these points were held out of single binary classifiers, and exactly after
    `calibrate` with points that `fit` has not seen.  `tune` finds kernel, gamma and C.

    Parameters
    ----------
    control : str, pathlib.Path, Tree, array or callable, default=None
        The layout of the binary classifiers: the name of a scheme ("one-vs-one" or "ovo",
        "one-vs-rest" or "ovr", "orthogonal", "adjacent", "tree", "empirical", "random",
        "ensemble", ...), with its parameters as in "empirical linkage=average"; the text of a
        control file, which holds braces; a control file as a `pathlib.Path`; an
        `agfmc.control.tree.Tree`; a coding matrix of -1, 0 and 1 with a column for each class in
        ascending order, or a function of the number of classes that returns one; or "best", the
        best one that is found within `time_limit`, with its learners and options, as by
        `agfmc.train_best`.  Where classes are not whole numbers from 0, a control file names them,
        or numbers them 0, 1, 2 ... in their order.  None: "one-vs-one", with `symbols` "random".
    scheme : as control, default=None
        Another name of `control`, which it replaces.
    decoder : str or callable, default=None
        How classes are found from the binary classifiers: "least-squares", "inverse",
        "vote", "max-win", ...; for trees also "recursive" (down the branches) and "full" (all
        of them), for ensembles "average" and "geometric"; a tree or an ensemble with another
        decoder is taken as a coding matrix.  None: "inverse" for one-vs-one, "orthogonal" for
        orthogonal codes, "recursive" for trees, "average" for ensembles, else "least-squares"; with
        an `estimator` and a code without zeros, as one-vs-rest, "learned" where that has a smaller
        log loss on the points held out, 50 of each class on average.  Or a function of decision
        values r (n, m) and the coding matrix (m, k) that returns probabilities (n, k), or what its
        attribute `gives` says, "estimates" or "votes".
    estimator : classifier of scikit-learn, or list of such, default=None
        What trains the binary classifiers: a clone for each, on labels 0 and 1.  Any classifier
        with `predict_proba` or `decision_function` will do, a pipeline too.  Each binary classifier
        takes 6 fits, for k classes 6 k in one-vs-rest and 3 k (k - 1) in one-vs-one; 1 with
        `predict_proba` and `calibrated=False`.  With `calibrated`, probabilities that are too
        extreme are corrected by a sigmoid, if this lowers the log loss of the points held out.  A
        `random_state` of None becomes that of this estimator, one more for each further member of
        an ensemble.  A list has a classifier for each member.  Such models can be pickled, but not
        saved as model files.  None: a learner of the suite.
    symbols : int, default=None
        For an `estimator` of at most so many classes: each fit tells so many groups of classes
        apart, not two.  `control` is then "one-vs-one", of blocks of half as many classes, "random",
        in fewest fits, with more rows as in "random rows=16", or "tree", with so many branches.
    learner : {"svm", "linear", "logistic", "nystrom", "trees"} or learner, default=None
        What trains the binary classifiers: LIBSVM, LIBLINEAR, logistic regression, least squares
        on landmarks, which trains all classifiers from one pass over the data, or boosted trees of
        LightGBM, which take missing values, NaN.  Either `agfmc.SVM`, `Linear`, `Logistic`,
        `Nystrom` or `Trees`, with its parameters, as `agfmc.SVM(C=10)`, which a search names
        `learner__C`; or a name, with the parameters below and `options`.  None: what `options` say,
        else "svm".
    C, coef0, tol : float, default=None
    gamma : float, "scale" or "auto", default="scale"
    kernel : {"linear", "poly", "rbf", "sigmoid", "laplacian", "exponential"}, default=None
    degree : int, default=None
        Parameters of a learner that is not given as an object.  None: what `options` say, else its
        default: for "svm" an rbf kernel and C 1.  gamma "auto" is 1 / n_features, and "scale",
        which `options` may override, 1 / (n_features * variance of X), as of SVC; with `normalise`
        that of the normalised X.
        "nystrom" has no C and no tol.
    n_landmarks : int, default=None
        Number of landmarks of "nystrom", no more than there are different points.  None: 2000,
        or as many as there are; for one-vs-one fewer are faster, each pair takes their cube.
    alpha : float or "auto", default=None
        Penalty of "nystrom" on the squared norm of the decision function.  None and "auto": the
        power of ten with the least leave-one-out error.
    n_estimators, num_leaves, min_child_samples : int, default=None
    learning_rate : float, default=None
        Parameters of "trees", as of LightGBM's classifier, but that early stopping finds the number
        of trees, up to n_estimators.  None: 400, 31, 20 and .1.
    options : str, default=""
        Further training options in the letters of the learner's own program, such as "-s 1"
        for nu-SVC.  Learner, parameters and options are for classifiers that have no options
        of their own in `control`.
    normalise : bool or "auto", default="auto"
        Divide features by their standard deviations (sparse `X` without subtracting means).  This
        is saved with the model, as the scaler of a pipeline is not.  "auto": where their scales
        differ so much that few of them would count, with a notice, for learners that use distances
        or products of points; sparse `X`, `X` of which three quarters of the values are 0, and
        `estimator` stay as they are.
    n_components : int, default=None
        Project the features on so many singular vectors.
    platt : {"auto", "loo", "cv"}, default="auto"
        Decision values that probabilities are fitted to: "loo", of samples left out by a formula
        for C-SVC, "cv", from five folds, or "auto", "loo" where it applies, else "cv".
    class_weight : dict or "balanced", default=None
        {class: factor} of the weights of its samples, 1 for a class that is not named, or
        "balanced": n_samples / (n_classes * samples of the class), by the sums of `sample_weight`
        where there are such.  A rare class keeps its weight in every binary classifier, on
        whatever side it stands.  Probabilities are those of a population in which the classes have
        these weights;  sets and `max_error` count samples, each once.
    priors : {"training"} or array-like of shape (n_classes,), default=None
        Shares of the classes, in the order of `classes_`, in the population that is asked about;
        "training": those of the training data, to which probabilities are turned back from class
        weights, as is wanted with `costs`.  None: those in training, with all weights.
    member_weights : {"held-out"}, default=None
        Learn the weights of the members of an ensemble from the training points, each held out in
        turn; None: those of the control, or equal ones.
    calibrated : bool, default=True
        Calibrate the probabilities of all classes in `fit`; False: they are the decoder's own.
    reject : float, default=None
        `predict` gives no answer, but `reject_label`, where the probability of the answer is
        below this number.  None: it answers always.
    max_error : float, default=None
        In place of `reject`: reject so much that, with probability `confidence`, no larger share
        of the answers given is wrong.  Where the calibration points cannot prove it, `fit` warns,
        and `predict` gives no answers.
    confidence : float, default=0.95
        That of `max_error`.
    costs : array-like of shape (n_classes, n_classes) or (n_classes, n_classes + 1), default=None
        `costs[i][j]`: what it costs to answer class j where i is true, in the order of `classes_`;
        the last of n_classes + 1 columns is the cost of no answer.  `predict` then gives the
        answer of the least expected cost; `predict_proba` stays what it is.  Needs a decoder that
        gives the probabilities of all classes; not with `reject` and `max_error`.
    reject_label : int, float or str, default=None
        What stands for no answer in what `predict` returns; None is -1 where classes are numbers,
        "" where they are words.  It cannot be a class.  `score` counts it as a wrong answer.
    random_state : int, RandomState instance or None, default=1
        Seed of folds and of random codes; None draws a new one for each fit.
    n_jobs : int, default=None
        Number of threads; None is 1, -1 all cores.  The model does not depend on it.
    time_limit : float, default=300.0
        Seconds of `fit` with control "best".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, ascending.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where `X` had any.
    decoder_ : str or callable
        The decoder in use.
    configuration_ : agfmc.Configuration
        The trained classifiers and their layout.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from agfmc.estimators import MultiClassFromBinary
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(MultiClassFromBinary(normalise=True), {
    ...     "control": ["one-vs-one", "one-vs-rest", "adjacent"], "C": [1, 10]}, cv=3)
    >>> model = search.fit(X, y).best_estimator_
    >>> model.predict_proba(X[:2]).shape
    (2, 3)

    Sets of classes, of which 90 % hold the true one, by holdout points:

    >>> from sklearn.model_selection import train_test_split
    >>> X, X_apart, y, y_apart = train_test_split(X, y, random_state=0)
    >>> model = MultiClassFromBinary(normalise=True).fit(X, y).calibrate(X_apart, y_apart)
    >>> model.predict_set(X[:2], coverage=0.9).shape
    (2, 3)
    """

    def __init__(
        self,
        control: Control | None = None,
        estimator: Any = None,
        *,
        scheme: Control | None = None,
        symbols: int | None = None,
        decoder: str | Callable | None = None,
        learner: BinaryLearner | str | None = None,
        C: float | None = None,
        kernel: str | None = None,
        gamma: float | str | None = "scale",
        degree: int | None = None,
        coef0: float | None = None,
        tol: float | None = None,
        n_landmarks: int | None = None,
        alpha: float | str | None = None,
        n_estimators: int | None = None,
        learning_rate: float | None = None,
        num_leaves: int | None = None,
        min_child_samples: int | None = None,
        options: str = "",
        normalise: bool | str = "auto",
        n_components: int | None = None,
        platt: str = "auto",
        class_weight: Mapping[Any, float] | str | None = None,
        priors: Any = None,
        member_weights: str | None = None,
        calibrated: bool = True,
        reject: float | None = None,
        max_error: float | None = None,
        confidence: float = 0.95,
        costs: Any = None,
        reject_label: Any = None,
        random_state: Any = 1,
        n_jobs: int | None = None,
        time_limit: float = 300.0,
    ) -> None:
        parameters = dict(locals())
        del parameters["self"]
        vars(self).update(parameters)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Train the binary classifiers on X (n_samples, n_features) with classes y (n_samples,).

        sample_weight (n_samples,): numbers of 0 or more, or None where all samples count alike: a
        weight of 2 is two copies of the sample (for learner "trees" nearly: its bins and smallest
        leaves count rows), one of 0 leaves it out.  They count in all that
        `fit` does, with `class_weight` as factors.  Where samples are held out, in folds or one by
        one, each is with all of its weight.

        groups (n_samples,): words or whole numbers, as of patients or days, or None.  Samples of
        one group are alike, and held out together.

        Raises ValueError for data, options or a control that do not go together.
        """
        with errors_as_value_error():
            data, tree, labelled, settings = self._prepare(X, y, sample_weight, groups)
            with named_features(getattr(self, "feature_names_in_", ())):
                if tree is None and self._searches:
                    _, tree = search_best(data, settings, time.monotonic() + self.time_limit)
                elif tree is None:
                    tree, settings = designed(self._layout, data, labelled.names, settings)
                decoding = self._decoder_for(tree)
                self._deciding(decoding, labelled)  # refused before the training
                configuration = train_tree(
                    tree,
                    data,
                    settings,
                    [decoding],
                    self.estimator is not None and self.decoder is None and tree.decoder is None,
                )
            if self.estimator is None and hasattr(self, "feature_names_in_"):
                configuration = replace(
                    configuration,
                    recipe=recipe_of_names(
                        self.feature_names_in_.tolist(),
                        configuration.tree,
                        "keep" if self._allows_nan else "error",
                    ),
                )
            if data.weights is None:
                self._factors = {}
            else:
                self._factors = dict(data.weights.factors)
            return self._store(configuration, labelled)

    def tune(
        self,
        X: Any,
        y: Any,
        *,
        by: str = "log_loss",
        search: str = "fast",
        time_limit: float | None = None,
        space: Any = None,
        progress: Callable | None = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> tuple[Self, dict]:
        """Fit a copy of the estimator with the parameters that a search by cross-validation finds.

        The search is that of the command tune_m: it proposes its own grid, and refines it.  Its
        points are scored on parts of the data that they were not trained on, all with the layout,
        decoder and settings of this estimator, which itself stays as it is.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        by : str, default="log_loss"
            The score that decides: "log_loss", "accuracy", "brier", "uncertainty_coefficient" ...;
            the first and the third need a decoder that gives the probabilities of all classes.
        search : {"fast", "full"}, default="fast"
            "fast": the grid is scored on a sample of the data, the best of it on more, and few on
            all;  "full": each point on all of the data.
        time_limit : float, default=None
            Seconds of the search, after which the best so far is taken.
        space : agfmc.SearchSpace or str, default=None
            Kernels and exponents of 2, such as `"C=-2:8:2 kernel=rbf"`;
            None: an rbf kernel, gamma and C around values that suit the data.
        progress : callable, default=None
            progress(done, total, words) is called again and again during the search.
        sample_weight : array-like of shape (n_samples,), default=None
            As for `fit`.  With `class_weight` it counts in the scores too.
        groups : array-like of shape (n_samples,), default=None
            As for `fit`.  No split of the search divides them.

        Returns
        -------
        estimator : MultiClassFromBinary
            A clone with the parameters found, fitted to all of the data.
        result : dict
            params: the parameters of the clone that differ from this estimator's;  points: what
            was tried, a dictionary for each with options, kernel, score, sd ... (a table for
            `pandas.DataFrame`);  best: the index of the one taken, whose score is too good, as it
            was chosen by it;  estimate: what to expect of new data (score, error, points, how), or
            None;  complete: False where the time limit ended the search;  further what tune_m
            writes as JSON.

        Raises ValueError as `fit` does, and where the time limit comes before any score.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from agfmc.estimators import MultiClassFromBinary
        >>> X, y = load_iris(return_X_y=True)
        >>> model, result = MultiClassFromBinary(normalise=True).tune(X, y, by="accuracy")
        >>> sorted(result["params"]), model.predict_proba(X[:2]).shape
        (['C', 'gamma', 'kernel'], (2, 3))
        """
        if self.estimator is not None:
            raise ValueError(
                "tune searches the options of the suite's own learners: for the "
                "parameters of an estimator, use GridSearchCV with estimator__NAME"
            )
        tuned = clone(self)
        with errors_as_value_error():
            data, tree, _, settings = tuned._prepare(X, y, sample_weight, groups)
            result, best = search_options(
                tree or self._layout,
                data,
                settings,
                None if self.decoder is None else (self.decoder,),
                by=by,
                search=search,
                time_limit=time_limit,
                space=space,
                progress=progress,
            )
            # options of nodes are written into the control
            if tree is None or any(open_rows(tree)):
                learner = parse_options(result["points"][result["best"]]["options"])
                if isinstance(self.learner, BinaryLearner):
                    parameters = {"learner": learner}
                else:
                    parameters = flat_parameters(learner)
            else:
                parameters = {"control": best}
        tuned.set_params(**parameters)
        result["params"] = {
            name: value for name, value in parameters.items() if value != getattr(self, name)
        }
        return tuned.fit(X, y, sample_weight, groups), result

    @property
    def _layout(self):
        """The control, or its alias, the scheme; ValueError for what is given by mistake."""
        layout = self.control if self.scheme is None else self.scheme
        if layout is None:
            layout = "one-vs-one" if self.symbols is None else "random"
        if isinstance(layout, type) or hasattr(layout, "fit"):
            raise ValueError(
                "the first parameter is the control, such as 'one-vs-one': a classifier is given as "
                "`estimator`"
            )
        if isinstance(self.estimator, type):
            raise ValueError(
                f"`estimator`: expected an instance, {self.estimator.__name__}(), not the class"
            )
        return layout

    @property
    def _searches(self):
        """True if `fit` looks for the best control."""
        return isinstance(self._layout, str) and self._layout == BEST

    @property
    def _has_no_learner(self):
        """True if no parameter says which binary classifiers are trained, or with what options."""
        others = self.learner, self.estimator, self.symbols
        return others == (None, None, None) and not self.options and not _given_parameters(self)

    def _prepare(self, X, y, sample_weight, groups):
        """The data that `fit` and `tune` work with, all checked: (`Dataset` with float points,
        control tree, None for a scheme, `Labelled`, `TrainingSettings`)."""
        seed = seed_of(self.random_state)
        learner = learner_of(self, seed)
        if self._searches and not self._has_no_learner:
            raise ValueError("control='best' chooses the learner and its options: leave them out")
        X, y = self._checked(X, y)
        check_classification_targets(y)
        weights = weights_of(sample_weight, y)
        if weights is None:
            classes = np.unique(y)
        else:
            classes = np.unique(y[weights.w > 0])
        codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)  # any where weights are 0
        if len(classes) < 2:
            raise ValueError("expected samples of at least 2 classes, found 1 class")
        labelled = labels_for(classes)
        labels = sorted(labelled.labels.tolist())
        if self.symbols is None:
            tree = given_control(self._layout, labels, labelled.names)
        else:
            tree = symbol_tree(self._layout, labels, self.symbols, seed, labelled.names)
        if isinstance(tree, Tree):
            tree, labelled = named(tree, labelled)
        else:
            tree = None
        self._reject_label(classes)
        data = Dataset(X, labelled.labels[codes].astype(np.int32), weights=weights)
        data = with_final_weights(
            with_groups(data, groups), classes=factors_of(self.class_weight, labelled)
        )
        w = data.weights and data.weights.w
        known = learner
        if tree is not None and "options" in tree.headings and self._has_no_learner:
            learner = ""  # the options of the control's heading
            known = parse_options(tree.headings["options"].text)
        if self._searches:
            scale = self.normalise is not False
        else:
            scale = scales_of(self.normalise, data.x, known, w)
        if isinstance(learner, BinaryLearner):
            learner = learner.checked(data.x, scale, w)
        settings = TrainingSettings(
            learner,
            seed,
            scale=scale,
            nsv=self.n_components,
            platt=self.platt,
            workers=workers_of(self.n_jobs),
            member_weights=self.member_weights,
            lone_samples=True,
            **({} if self.calibrated else {"calibration": 0}),
        )
        return data, tree, labelled, settings

    def _checked(self, *arrays, **settings):
        """X, or X and y, as `validate_data` gives them; NaN where the estimator allows it, and
        `SparsePoints` for sparse X where it keeps them, else dense points. A frame with the columns
        of the training table is made points by the recipe of the model."""
        missing = self._allows_nan
        sparse = self._keeps_sparse
        if settings.get("reset") is False:
            if self._takes_rows(arrays[0]):
                X = self.configuration_.recipe.apply(arrays[0])
                if len(arrays) > 1:
                    return (X, *map(np.asarray, arrays[1:]))
                return X
            values = self._classifier.values  # which `load` has without parameters of training
            if self.estimator is None:
                missing = (
                    missing
                    or values.takes_missing
                    or getattr(self.configuration_.recipe, "keeps_missing", False)
                )
                sparse = sparse or values.is_linear or values.takes_sparse
        takes_sparse = sparse or self.estimator is None
        finite = True
        if missing:
            finite = "allow-nan"
        checked = validate_data(
            self,
            *arrays,
            dtype=_DTYPES,
            accept_sparse=takes_sparse,
            ensure_all_finite=finite,
            **settings,
        )
        X, *y = checked if len(arrays) == 2 else (checked,)
        if hasattr(X, "toarray"):
            X = SparsePoints.of_matrix(X)
            if not sparse:
                X = np.asarray(X)
        if y:
            return (X, *y)
        return X

    def _takes_rows(self, X):
        """Return whether X has the columns of a recipe that does more than copy numbers."""
        recipe = self.configuration_.recipe
        names = getattr(X, "column_names", getattr(X, "columns", ()))  # of PyArrow, of others
        return (
            recipe is not None
            and {one.source for one in recipe.columns} <= set(names)
            and any(one != ColumnRecipe(one.name) for one in recipe.columns)
        )

    def _learner_can(self, name):
        try:
            self._layout  # whose mistakes are told first
            learner = learner_of(self)
            if isinstance(learner, str):
                learner = parse_options(learner)
            return getattr(learner, name)
        except (AgfmcError, AttributeError, ValueError):  # what `fit` raises
            return False

    @property
    def _allows_nan(self):
        return self._learner_can("allows_nan")

    @property
    def _keeps_sparse(self):
        if self.estimator is None and self.n_components:
            return False
        return self._learner_can("keeps_sparse")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_nan
        tags.input_tags.sparse = self.estimator is None or self._keeps_sparse
        return tags

    def predict(self, X: Any) -> np.ndarray:
        """The classes (n_samples,) of X (n_samples, n_features).

        With `reject` or `max_error`, points without an answer have `reject_label`.
        """
        labels = self._answers(X).classes
        if self._none is None:
            return self.classes_[self._labelled.positions(labels)]
        positions = self._labelled.positions(np.maximum(labels, self._labelled.labels.min()))
        return np.append(self.classes_, [self._none])[
            np.where(labels < 0, len(self.classes_), positions)
        ]

    @available_if(_has(gives_probabilities))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities (n_samples, n_classes), in the order of `classes_`.

        Decoders by votes or losses, and "recursive", do not give them.
        """
        return self._answers(X).columns[:, self._labelled.columns]

    @available_if(_has(gives_probabilities))
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The natural logarithms of `predict_proba`, (n_samples, n_classes); -inf for 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict_top(self, X: Any, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
        """The k most probable classes and their probabilities, in descending order.

        The probabilities are those of `predict_proba`.  For a tree with the decoder "recursive"
        they are those of "full" before calibration, found without querying all binary classifiers.
        ValueError for a decoder without probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        k : int, default=3
            Number of classes; all of them where there are fewer.

        Returns
        -------
        classes, probabilities : ndarray of shape (n_samples, k)
        """
        check_is_fitted(self)
        with errors_as_value_error():
            classifier = Classifier(
                self.configuration_, replace(self._decoder_and_tree()[0], top=k)
            )
        answers = self._answers(X, classifier)
        return self.classes_[self._labelled.positions(answers.ranked)], answers.columns

    @available_if(_has(gives_probabilities))
    def predict_set(
        self,
        X: Any,
        *,
        coverage: float = 0.95,
        by_class: bool = False,
        score: str = "lac",
        allow_empty: bool = False,
    ) -> np.ndarray:
        """Sets of classes that hold the true one with probability `coverage` or more.

        The probability is over calibration points and new points of the same kind together, and
        for all points on average.  A set may have all classes, and has the most probable one at
        least.  The probability is guaranteed after `calibrate`; with the points that `fit` has held
        out coverage is close to it in practice, but nothing proves it.  Warns where there are too
        few points: less than 1 / (1 - coverage) - 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.95
            Share of the points, at least, whose set has the true class.
        by_class : bool, default=False
            The same for the points of each class by itself, which needs as many calibration points
            of each class; rare classes share theirs.
        score : {"lac", "aps"}, default="lac"
            "lac": the smallest sets;  "aps": larger ones, whose coverage depends less on how
            difficult a point is.
        allow_empty : bool, default=False
            A set has no class where none is probable enough, so that its coverage is not above
            what was asked for: if more than this share of the answers are right, some sets must
            be empty.

        Returns
        -------
        ndarray of bool, of shape (n_samples, n_classes)
            True where a class, in the order of `classes_`, is in the set of the point.
        """
        check_is_fitted(self)
        if not 0 < coverage < 1:
            raise ValueError(f"coverage must be between 0 and 1, not {coverage!r}")
        if score not in SCORES:
            raise ValueError(f"score must be one of {', '.join(SCORES)}, not {score!r}")
        calibration = self._calibration()
        if calibration is None or calibration.points is None:
            raise ValueError(
                f"sets need calibration points of the decoder {self.decoder_!r}, and "
                "there are none: calibrate(X, y) makes them from holdout points"
            )
        limits = quantiles(
            calibration.points, self.configuration_.tree.classes, 1 - coverage, score, by_class
        )
        p = self._answers(X).columns
        sets = prediction_sets(p, limits, score)
        if not allow_empty:
            fill_empty_sets(sets, p)
        return sets[:, self._labelled.columns]

    def calibrate(
        self, X: Any, y: Any, map: str | None = None, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Calibrate a fitted model with points that it was not fitted to.

        They take the place of the calibration points of `fit`.  With the map that `fit` made,
        `predict_set` and `max_error` (if need be, set after `fit`) then have their guarantees
        exactly, for points of the same kind.  The model that is saved has the new calibration.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Their classes, of those in `classes_`.
        map : {"auto", "none", "temperature", "matrix"}, default=None
            None: keep the map, so that points are new to it too.  Else fit another one, "auto" by
            cross-validation among these kinds: for points unlike those of `fit`, or a model
            without a map.  The points are then kept as the map answers them that was fitted
            without their fold, which makes guarantees approximate again.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the points in the fit of a map, as for `fit`, with the factors of
            `class_weight` that `fit` had.  Sets and `max_error` count points, for which their
            guarantees are.
        groups : array-like of shape (n_samples,), default=None
            Groups of the points, which no fold divides, as for `fit`.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if map not in (None, "auto", *MAP_KINDS):
            raise ValueError(
                f"map must be None, 'auto' or one of {', '.join(MAP_KINDS)}, not {map!r}"
            )
        X, y = self._checked(X, y, reset=False)
        strange = ~np.isin(y, self.classes_)
        if strange.any():
            raise ValueError(f"class {y[strange][0]!r} is not one of the classes of the model")
        labels = self._labelled.labels[np.searchsorted(self.classes_, y)]
        decoder, tree = self._decoder_and_tree()
        key = decoder.calibration_key(tree)
        if key is None:
            raise ValueError(f"the decoder {self.decoder_!r} gives no probabilities to calibrate")
        present = set(labels.tolist())
        with errors_as_value_error():
            data = Dataset(X, labels, weights=weights_of(sample_weight, y))
            data = with_final_weights(
                with_groups(data, groups),
                classes={
                    label: factor for label, factor in self._factors.items() if label in present
                },
            )
            results = answers_of_data(
                self.configuration_,
                decoder,
                data,
                "binary",
                "holdout points",
                workers_of(self.n_jobs),
            )
            if map is None:
                calibration = self._calibration()
                if calibration is None:
                    old = ProbabilityMap("none")
                else:
                    old = calibration.map
                after = apply_map(old, map_columns(results)[0])
                points, _ = calibrated_points(results, after, old.kind)
                fitted = DecoderCalibration(old, points)
            else:
                fitted, _ = recalibrate(results, key, map)
            return self._store(
                with_decoders(self.configuration_, {key: fitted}, results), self._labelled
            )

    @available_if(_has(lambda decoder, tree: decoder.gives_scores))
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores (n_samples, n_classes) whose largest is the predicted class.

        They are what the decoder finds for the classes: probabilities, or votes; with `costs`
        the expected costs of the answers, negative.  For two classes (n_samples,), the second less
        the first, above 0 where the second is predicted.
        """
        answers = self._answers(X)
        scores = answers.columns[:, self._labelled.columns]
        if self.costs is not None:
            scores = -expected_costs(scores, cost_matrix(self.costs, self.classes_.tolist()).costs)
        answered = answers.classes >= 0
        positions = self._labelled.positions(
            np.where(answered, answers.classes, self._labelled.labels[0])
        )
        if len(self.classes_) == 2:
            scores = scores[:, 1] - scores[:, 0]
            return np.where(
                ~answered,
                scores,
                np.where(
                    positions == 1,
                    np.maximum(scores, np.finfo(np.float64).tiny),
                    np.minimum(scores, 0.0),
                ),
            )
        # of equal scores, which decoders break in the order of the tree, one must be the largest
        tied = np.flatnonzero(answered & (scores.argmax(axis=1) != positions))
        scores[tied, positions[tied]] = np.nextafter(scores[tied].max(axis=1), np.inf)
        return scores

    def save(self, path: str | os.PathLike) -> None:
        """Write the model as a `.mbm` file, which the commands read and `load` reads back.

        It has the names of features, by which `classify_m` finds the columns of tables, and those
        of classes that are not whole numbers from 0.  Earlier steps of a pipeline, such as a
        scaler, are not in the file: use `normalise=True`, or pickle the pipeline.
        """
        check_is_fitted(self)
        if self._labelled.nameless:
            raise ValueError(
                "a model file cannot name these classes: names are of one line, "
                f"different, and not empty ({self.classes_[:8].tolist()!r})"
            )
        with errors_as_value_error():
            save(path, self.configuration_)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike,
        *,
        normalisation: Any = None,
        models_in: str | os.PathLike | None = None,
        **parameters: Any,
    ) -> Self:
        """The fitted estimator of any model file, or of a control file and its models.

        path: a `.mbm` file, libAGF's ASCII model, a LIBSVM model, or what multi_borders
        wrote;  normalisation: a `.std` file for models without one;  models_in: folder of
        the models that a control file names;  parameters: of the estimator, such as `decoder`,
        `reject` and `n_jobs`.  Classes are the names that the model has for
        them, else its numbers.  Raises `agfmc.core.errors.AgfmcError` for what cannot be read.

        A clone is trained with the control, the learner with its options (`C`, `gamma` ...),
        `normalise` and `n_components` that the file records.  Other parameters, such as
        `class_weight`, are those given here, else defaults; so are landmarks and `alpha` of
        "nystrom", and all options of models that another program trained.
        """
        configuration = load(
            path, None if normalisation is None else read_std(normalisation), models_in
        )
        estimator = cls(**{**_recorded(configuration), **parameters})
        estimator._factors = {}
        if configuration.recipe is not None:
            estimator.feature_names_in_ = np.array(configuration.recipe.features, dtype=object)
        return estimator._store(
            configuration if estimator.calibrated else replace(configuration, calibration=None),
            labels_in(configuration.tree),
        )

    def _store(self, configuration, labelled):
        """Make `self` the estimator of a trained configuration."""
        decoder = self._decoder_for(configuration.tree, configuration.machines)
        self._none = self._reject_label(labelled.classes)
        classifier = Classifier(configuration, self._deciding(decoder, labelled))
        self.configuration_, self._labelled, self._classifier = configuration, labelled, classifier
        self.classes_ = labelled.classes
        self.decoder_ = decoder.method if callable(decoder.method) else decoder.name
        if classifier.features is not None:
            self.n_features_in_ = classifier.features
        return self

    def _decoder_for(self, tree, machines=None):
        """The `Decoding` for a tree; machines: they may hold no probabilities, only votes."""
        name = self.decoder
        if (
            name is None
            and tree.decoder is None
            and machines is not None
            and not tree.hierarchical
            and not np.isfinite(machines.a).all()
        ):
            name = "vote"
        if (
            self.member_weights is not None
            and not tree.is_ensemble
            and TREE_DECODERS.get(name) == "ensembles"
        ):
            name = None  # one member is left
        decoder = decoders_of(tree, None if name is None else (name,))[0]
        if decoder.method == "and":
            raise ValueError("the decoder 'and' leaves points without a class")
        return decoder

    def _reject_label(self, classes):
        """The label of points without an answer, beside classes (k,); None where all have one."""
        refusal = self.costs is not None and np.shape(self.costs)[1:] == (len(classes) + 1,)
        if self.reject is None and self.max_error is None and not refusal:
            return None
        label = self.reject_label
        if label is None:
            if classes.dtype.kind in "biuf":
                label = -1
            else:
                label = ""
        if label in classes.tolist():
            raise ValueError(f"reject_label: {label!r} is one of the classes")
        return label

    def _deciding(self, decoder, labelled):
        """The `Decoding` with the costs of answers, priors, or that rejects points, as wanted."""
        order = np.argsort(labelled.labels)
        priors = self.priors
        if self.costs is None:
            costs = None
        else:
            costs = cost_matrix(self.costs, labelled.classes.tolist()).taken(order)
        if priors is not None and not isinstance(priors, str):
            priors = np.asarray(priors, dtype=np.float64)
            if priors.shape != order.shape:
                raise ValueError(
                    f"priors: expected {len(order)} numbers, one for each class, "
                    f"found an array of shape {priors.shape}"
                )
            priors = priors[order].tolist()
        elif priors not in (None, TRAINING):
            raise ValueError(f"priors: expected numbers or '{TRAINING}', found {priors!r}")
        return replace(
            decoder,
            reject=self.reject,
            costs=costs,
            priors=priors,
            max_error=self.max_error,
            confidence=None if self.max_error is None else self.confidence,
        )

    def _decoder_and_tree(self):
        if hasattr(self, "_classifier"):
            tree = self.configuration_.tree
            return decoders_of(tree, (self.decoder_,))[0], tree
        if self.symbols is not None:
            tree = symbol_tree(self._layout, range(4), self.symbols)
        elif not is_scheme(self._layout):
            k = np.shape(self._layout)[-1] if isinstance(self._layout, (np.ndarray, list)) else 4
            tree = given_control(self._layout, range(k))
        elif self._searches:
            tree = design.sketch("one-vs-one")
        else:
            tree = design.sketch(self._layout)
        return self._decoder_for(tree), tree

    def _calibration(self):
        """The `DecoderCalibration` of the decoder in use, or None."""
        decoder, tree = self._decoder_and_tree()
        calibration = self.configuration_.calibration
        if calibration is None:
            return None
        return calibration.decoders.get(decoder.calibration_key(tree))

    def _answers(self, X, classifier=None):
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        with errors_as_value_error():
            answers = (classifier or self._classifier).classify(X, workers_of(self.n_jobs))
        for stop in answers.stops:
            if stop.warning():
                warn_user(stop.warning())
        return answers


# parameters of the package that the estimator calls by another name
_NAMES = {
    "workers": "n_jobs",
    "seed": "random_state",
    "svd": "n_components",
    "weight": "sample_weight",
    "group": "groups",
    "method": "decoder",
    "top": "k",
}


@contextmanager
def errors_as_value_error():
    """Raise errors of the package as ValueError, as users of scikit-learn expect."""
    try:
        yield
    except AgfmcError as error:
        text = str(error)
        if "`min_class=" in text:  # here these are rows of X and y
            text = text.partition("`min_class=")[0].rstrip(", or;")
        for name, own in _NAMES.items():
            for end in ("`", "="):
                text = text.replace(f"`{name}{end}", f"`{own}{end}")
        raise ValueError(text) from error


def recipe_of_names(names, tree, missing):
    """The `TableRecipe` of features with these names and of the classes of a tree, or None where
    no model can hold it."""
    label = "class"
    while label in names:
        label += "_"
    if tree.classes[-1] >= _MOST_CLASSES:
        return None
    classes = (tree.names.get(number, str(number)) for number in range(tree.classes[-1] + 1))
    recipe = TableRecipe(tuple(map(ColumnRecipe, names)), label, tuple(classes), missing=missing)
    try:
        format_recipe(recipe)
    except AgfmcError:
        return None
    return recipe


def _recorded(configuration):
    """Parameters to train a configuration anew, as far as its models record them."""
    tree = training_tree(configuration)
    parameters = {}
    learners = {parse_options(row.text) for row in tree.rows if row.quoted}
    if all(learner.uses_shared_landmarks for learner in learners):
        # landmarks and penalty of single classifiers, which suit no other points
        learners = {learner.changed(n_landmarks=None, alpha=None) for learner in learners}
    if len(learners) < 2:
        tree = unnamed(tree)
    for learner in learners:
        parameters = flat_parameters(learner)
    scale = configuration.normalisation
    text = format_tree(tree)
    k = len(tree.classes)
    if scale is not None and scale.keeps_features_apart:
        parameters["normalise"] = True
    elif scale is not None:
        gram = scale.matrix.T @ scale.matrix  # 1 if features were not divided before it
        parameters["n_components"] = len(gram)
        parameters["normalise"] = not np.allclose(gram, np.eye(len(gram)), atol=1e-4)
    for scheme, rows in ("one-vs-one", k * (k - 1) // 2), ("one-vs-rest", k):
        if len(tree.rows) == rows and text == format_tree(
            design.design(scheme, tree.classes, names=tree.names)
        ):
            text = scheme
    return {**parameters, "control": text}


# parameters of learners that are the estimator's too
_FLAT = (
    "kernel",
    "degree",
    "gamma",
    "coef0",
    "C",
    "tol",
    "n_landmarks",
    "alpha",
    "n_estimators",
    "learning_rate",
    "num_leaves",
    "min_child_samples",
)


def learner_of(estimator, seed=0):
    """The learner that an estimator's parameters say, not yet checked, or the `MemberLearners` of
    its estimators, or its `options`, where these are alone."""
    given = _given_parameters(estimator)
    if estimator.estimator is not None:
        others = {"learner": estimator.learner, "options": estimator.options, **given}
        for name, value in others.items():
            if value not in (None, ""):
                raise ValueError(
                    f"{name} is for the learners of agfmc: set parameters of `estimator` in itself"
                )
        estimators = estimator.estimator
        if not isinstance(estimators, (list, tuple)):
            estimators = (estimators,)
        return MemberLearners(tuple(estimators), seed, estimator.symbols is not None)
    if estimator.symbols is not None:
        raise ValueError("symbols is for an `estimator`, a classifier of so many classes")
    learner = given_learner(estimator.learner, estimator.options)
    if learner is estimator.learner and isinstance(learner, BinaryLearner):
        if given:
            name = next(iter(given))
            raise ValueError(f"{name} is a parameter of `learner`: set learner__{name}")
        return learner
    if isinstance(learner, str):
        learner = parse_options(learner)
    learner.set_params(**given)
    if estimator.gamma == "scale" and getattr(learner, "gamma", 0) is None:
        learner.set_params(gamma="scale")
    return learner


def _given_parameters(estimator):
    """Parameters of learners that are not the defaults of the estimator, {name: value}."""
    given = {name: getattr(estimator, name) for name in _FLAT}
    if given["gamma"] == "scale":  # is for learners that have a gamma, where `options` say none
        del given["gamma"]
    return {name: value for name, value in given.items() if value is not None}


def flat_parameters(learner):
    """Parameters of the estimator with which `learner_of` it means the same as a learner."""
    searched = {"kernel", *(row.field for row in LEARNERS[learner.name].searched)}
    default = type(learner)()
    flat = {
        name: value
        for name, value in learner.get_params().items()
        if name in _FLAT and (name in searched or value != getattr(default, name))
    }
    others = learner.changed(**{name: getattr(default, name) for name in flat}).text()
    parameters = {**dict.fromkeys(_FLAT), **flat, "options": others.partition(" ")[2]}
    if learner.name != "svm":
        parameters["learner"] = learner.name
    return parameters


def seed_of(random_state):
    """The seed of a run: the number itself, else one drawn as scikit-learn would."""
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise ValueError(f"random_state must be 0 or more, not {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def workers_of(n_jobs):
    """Threads for n_jobs as joblib counts: None is 1, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning: -1 stands for all cores")
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, available_cores() + 1 + int(n_jobs))
