"""Any classifier of scikit-learn as the learner of two sides: in memory, for Python programs.

Each binary problem trains a clone of the estimator on labels 0 (left) and 1 (right).  Where it has
`predict_proba`, f = log(P(right) / P(left)); else f is its `decision_function`, and Platt's
sigmoid is fitted to values of folds that were held out.  Where points are held out for the
calibration anyway, such a sigmoid takes the place of probabilities that have a larger log loss:
boosted trees, for example, have log-odds that are too large (Niculescu-Mizil and Caruana,
"Predicting good probabilities with supervised learning", 2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..core.errors import one_line, UsageError
from ..core.models import Kernel
from ..core.points import is_sparse
from ..core.splits import derived_seed
from .options import BinaryLearner, NodeLearner
from .points import sklearn_version, Solution

_LEAST = 1e-9  # of a probability, whose logarithm is to be finite


def decide(estimator, x: np.ndarray) -> np.ndarray:
    """f (n,) of points x (n, d) by a fitted classifier of the labels 0 and 1; f > 0 speaks for 1.

    Where it has probabilities f is the log-odds of 1, and not its decision function.
    """
    x = _matrix(x)
    if not hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.decision_function(x), dtype=np.float64)
    return log_odds(estimator.predict_proba(x))[1]


def log_odds(p: np.ndarray) -> np.ndarray:
    """The log-odds (c, n) of each column of probabilities p (n, c) against the others."""
    p = np.asarray(p, dtype=np.float64).T
    if len(p) == 2:
        others = p[::-1]
    else:
        others = 1.0 - p
    return np.log(np.clip(p, _LEAST, 1.0) / np.clip(others, _LEAST, 1.0))


@dataclass(frozen=True, eq=False)
class EstimatorOptions(BinaryLearner):
    """A classifier of scikit-learn, or of a package with its conventions, to be cloned."""

    estimator: Any

    stores_vectors = True
    recognised_by = ""
    packing = "estimator"

    @classmethod
    def of(cls, estimator, seed: int) -> EstimatorOptions:
        """The learner of an estimator whose open `random_state`s, None, become `seed`.

        Raises `UsageError` for what is no classifier with probabilities or decision values.
        """
        from sklearn.base import clone, is_classifier

        if not hasattr(estimator, "get_params") or not is_classifier(estimator):
            raise UsageError(f"estimator: expected a classifier of scikit-learn, found {estimator}")
        estimator = clone(estimator)
        learner = cls(estimator.set_params(**dict.fromkeys(_open_states(estimator), seed)))
        if not learner.gives_probabilities and not hasattr(estimator, "decision_function"):
            raise UsageError(
                f"estimator: {type(estimator).__name__} has neither predict_proba nor "
                "decision_function"
            )
        return learner

    @property
    def gives_probabilities(self) -> bool:
        """True if the estimator has probabilities."""
        return hasattr(self.estimator, "predict_proba")

    corrects_probabilities = gives_probabilities

    @property
    def no_loo(self) -> str:
        """The reason why leaving out single samples has no formula here, or ""."""
        if self.gives_probabilities:
            return ""
        return "for LIBSVM's C-SVC only, not for an estimator"

    @property
    def allows_nan(self) -> bool:
        """True if the estimator takes missing values, NaN."""
        return bool(self.estimator.__sklearn_tags__().input_tags.allow_nan)

    @property
    def keeps_sparse(self) -> bool:
        """True if the estimator takes sparse points."""
        return bool(self.estimator.__sklearn_tags__().input_tags.sparse)

    def canonical(self) -> str:
        """Its name in messages and provenances."""
        return f"estimator={type(self.estimator).__name__}"

    def made_by(self) -> str:
        """scikit-learn and its version."""
        return sklearn_version()

    def kernel_for(self, features: int) -> Kernel:
        """A kernel of no support vectors."""
        return Kernel("linear")

    def weighted(self) -> EstimatorOptions:
        """The learner itself; `UsageError` where its `fit` takes no weights."""
        from sklearn.utils.validation import has_fit_parameter

        classifier = self._last[1]
        if not has_fit_parameter(classifier, "sample_weight"):
            raise UsageError(f"estimator: {type(classifier).__name__} takes no weights of samples")
        return self

    def solve(self, packed, rows, side, w=None) -> Solution:
        """The `Solution` of a problem: a clone, fitted to the points `rows` of x (n, d)."""
        estimator = self.fit_clone(packed[rows], side, w)
        return Solution.of_function(partial(decide, estimator), packed.shape[1])

    def fit_clone(self, x, side, w=None):
        """A clone, fitted to points x (n, d) with the numbers (n,) of their sides."""
        from sklearn.base import clone

        estimator = clone(self.estimator)
        weights = {}
        if w is not None:
            weights[f"{self._last[0]}sample_weight"] = w
        return estimator.fit(_matrix(x), np.asarray(side, dtype=np.int64), **weights)

    @property
    def _last(self):
        """("STEP__" or "", classifier): the last step of a pipeline, or the estimator itself."""
        steps = getattr(self.estimator, "steps", None)
        if steps:
            return (f"{steps[-1][0]}__", steps[-1][1])
        return ("", self.estimator)


@dataclass(frozen=True, eq=False)
class RowLearner(NodeLearner):
    """The learner of rows of several groups: an estimator whose classes are the groups."""

    learner: EstimatorOptions

    def fit(self, job, problem) -> RowClassifier:
        """The classifier of the groups of a job, `sides`, for a `NodeProblem`."""
        part = problem.samples
        estimator = self.learner.fit_clone(problem.x[part.rows], part.side, problem.weights)
        return RowClassifier(estimator, len(job.sides))

    def classifier(self, model):
        """The model itself, which answers."""
        return model


@dataclass(frozen=True, eq=False)
class RowClassifier:
    """A fitted classifier of so many groups."""

    estimator: Any
    groups: int

    def probabilities(self, x) -> np.ndarray:
        """p (n, groups), 0 for a group without samples in its training."""
        p = np.zeros((x.shape[0], self.groups))
        p[:, self.estimator.classes_] = self.estimator.predict_proba(_matrix(x))
        return p

    def __call__(self, x) -> np.ndarray:
        """The log-odds (groups, n) of x (n, d)."""
        return log_odds(self.probabilities(x))


@dataclass(frozen=True, eq=False)
class MemberLearners:
    """The estimators of the members of an ensemble; any other configuration has one member.

    Attributes
    ----------
    estimators : one for all members, or one for each
    seed : seed of the first member; the others have seeds derived from it, so that members of an
        estimator that draws numbers differ, and their average gains
    several_groups : one fit is for all groups of a row
    """

    estimators: tuple[Any, ...]
    seed: int
    several_groups: bool = False

    def learner(self, member: int) -> EstimatorOptions:
        """The learner of a member by its number, from 0."""
        estimator = self.estimators[member % len(self.estimators)]
        return EstimatorOptions.of(estimator, derived_seed(self.seed, member))

    @property
    def allows_nan(self) -> bool:
        """True if all estimators take missing values, NaN."""
        return all(EstimatorOptions(estimator).allows_nan for estimator in self.estimators)

    @property
    def keeps_sparse(self) -> bool:
        """True if all estimators take sparse points."""
        return all(EstimatorOptions(estimator).keeps_sparse for estimator in self.estimators)

    def texts(self, tree) -> list[str]:
        """The texts in place of the options of each row of a tree: "", or the number of its member
        where members differ.

        Raises `UsageError` for rows with options, and for another number of members.
        """
        members = len(tree.roots)
        if len(self.estimators) not in (1, members):
            if members == 1:
                expected = "one, as the control has no members"
            else:
                expected = f"1 or {members}, the number of members"
            raise UsageError(f"estimator: expected {expected}, found {len(self.estimators)}")
        for row in tree.rows:
            if row.quoted and row.text:
                raise tree.place(row).error(
                    UsageError,
                    f"'{one_line(row.text)}' are options of the suite's own learners: "
                    "an estimator has its own parameters",
                )
        if len(self.estimators) == 1 and not _open_states(self.estimators[0]):
            return [""] * len(tree.rows)
        return [
            str(number)
            for number, part in enumerate(tree.parts)
            for node in tree.nodes[part]
            for _ in node.rows
        ]

    def parse(self, text: str, **place) -> EstimatorOptions:
        """The learner of a row, by what `texts` gave it."""
        return self.learner(int(text or 0))


def _matrix(x):
    """Points x (n, d) as scikit-learn takes them."""
    if not is_sparse(x):
        return x
    from scipy.sparse import csr_matrix  # early versions take no sparse arrays

    return csr_matrix(x.csr)


def _open_states(estimator):
    if not hasattr(estimator, "get_params"):
        return []
    return [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())
        if name.rpartition("__")[2] == "random_state" and value is None
    ]
