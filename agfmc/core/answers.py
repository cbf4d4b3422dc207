"""Answers of a classifier with their summary, and answers beside the truth, which all scores take."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .costs import CostMatrix
from .models import LearnedDecoder
from .solver_status import SolverStatus
from .splits import of_rows


@dataclass
class Summary:
    """Numbers of a run: points with an answer, rejected ones, and how the decoders stopped.

    Attributes
    ----------
    unanswered : further points, of which nothing is known
    queried, kernels : binary classifiers and kernel values that were needed, all points together,
        where they were counted
    members, empty : classes in all sets together, and sets without one
    cost : expected cost of all answers together
    changed : number of answers that are not the most probable class
    """

    points: int = 0
    unanswered: int = 0
    rejected: int = 0
    stops: SolverStatus = SolverStatus()
    queried: int = 0
    kernels: int = 0
    members: int = 0
    empty: int = 0
    cost: float = 0.0
    changed: int = 0

    def add(self, answers, counter=None):
        """Count the points of `Answers`; counter: a `KernelCounter`, or None."""
        for stop in answers.stops:
            self.stops += stop
        if answers.answered is not None:
            self.unanswered += int(np.count_nonzero(~answers.answered))
            answers = answers.of_arrays(lambda array: array[answers.answered])
        self.points += len(answers.classes)
        self.rejected += int((answers.classes < 0).sum())
        if answers.sets is not None:
            sizes = np.count_nonzero(answers.sets, axis=1)
            self.members += int(sizes.sum())
            self.empty += int(np.count_nonzero(sizes == 0))
        if answers.cost is not None:
            self.cost += float(answers.cost.sum())
            self.changed += int(np.count_nonzero(answers.classes != answers.probable))
        if answers.queried is not None:
            self.queried += int(np.count_nonzero(answers.queried))
            if counter is not None:
                self.kernels += int(counter(answers.queried).sum())


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of a `Classifier` to n points.

    Arrays that the decoding does not give are None.

    Parameters
    ----------
    classes : ndarray of shape (n,), int32
        Labels of the answers, -1 for rejected points.
    confidence : ndarray of shape (n,)
        (k p - 1) / (k - 1) for the probability p of the answer; (k p - s) / (k - s) where the
        answer is a set of s classes.
    columns : ndarray of shape (n, c) or None
        What is printed for each point: probabilities, votes or decision values.
    stops : tuple of SolverStatus
        Convergence of the solvers of the decoder.
    queried : ndarray of shape (n, m), bool
        The binary classifiers that were evaluated for each point.
    sets : ndarray of shape (n, k), bool
        The prediction sets, columns in ascending order of the labels.
    ranked : ndarray of shape (n, c)
        Labels of the most probable classes, whose probabilities are `columns`.
    winner : ndarray of shape (n,)
        Probability, or score, of the most probable class, of the set, or of the answer of the
        least expected cost.
    cost : ndarray of shape (n,)
        Expected cost of the answer.
    probable : ndarray of shape (n,)
        Labels of the most probable classes where costs decide the answer.
    explanation : Explanation
        Contributions of the columns of the data to the answers.
    answered : ndarray of shape (n,), bool
        The points that have an answer; None where all have. The others have class -1, confidence
        0, empty sets, and else NaN.
    """

    classes: np.ndarray
    confidence: np.ndarray
    columns: np.ndarray | None
    stops: tuple = ()
    queried: np.ndarray | None = None
    sets: np.ndarray | None = None
    ranked: np.ndarray | None = None
    winner: np.ndarray | None = None
    cost: np.ndarray | None = None
    probable: np.ndarray | None = None
    explanation: Any = None
    answered: np.ndarray | None = None

    def of_arrays(self, change: Callable[[np.ndarray], np.ndarray]) -> Answers:
        """The answers with each array (n, ...) changed, those of the explanation too."""
        explanation = self.explanation
        if explanation is not None:
            explanation = explanation._replace(**_changed(explanation._asdict(), change))
        return replace(self, **_changed(vars(self), change), explanation=explanation)

    def in_rows(self, answered: np.ndarray) -> Answers:
        """These answers in the rows `answered` (n,) bool, and none in the others."""

        def spread(array):
            nothing = {"i": -1, "b": False}.get(array.dtype.kind, np.nan)
            whole = np.full((len(answered), *array.shape[1:]), nothing, array.dtype)
            whole[answered] = array
            return whole

        answers = self.of_arrays(spread)
        confidence = np.where(answered, answers.confidence, 0)
        return replace(answers, confidence=confidence, answered=answered)


def _changed(fields, change):
    return {name: change(array) for name, array in fields.items() if isinstance(array, np.ndarray)}


class Sets(NamedTuple):
    """Prediction sets of the points.

    Attributes
    ----------
    size : number of classes (n,) in each set
    holds : True (n,) where the true class is in the set
    paths : numbers (3, n) of nodes, without the root, on the paths from it to the answer, to the true
        class, and on both, where the sets are nodes of a given tree, or None
    """

    size: np.ndarray
    holds: np.ndarray
    paths: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Results:
    """The results of a classification, with the true classes.

    Attributes
    ----------
    truth, result : labels (n,), -1 in result where rejected
    labels : all classes in ascending order
    k : number of classes, None where it is unknown
    winner : probability (n,) of the answer
    p : all probabilities (n, k), columns in the order of `labels`
    before : probabilities (n, k) before they were calibrated
    costs : costs of the answers, in the order of the labels
    rows : numbers (n,) of the points, from 0, unless in order
    groups : numbers (n,) of the groups of the points, which are drawn as a whole for intervals
    source : source of the points, as text
    left : as in `CalibrationPoints`, (n,), where a tree was descended
    learned : decoder that was fitted to the points, p being by fits without each point
    """

    truth: np.ndarray
    result: np.ndarray
    labels: np.ndarray
    k: int | None = None
    winner: np.ndarray | None = None
    p: np.ndarray | None = None
    weights: np.ndarray | None = None
    before: np.ndarray | None = None
    sets: Sets | None = None
    costs: CostMatrix | None = None
    rows: np.ndarray | None = None
    groups: np.ndarray | None = None
    source: str = ""
    left: np.ndarray | None = None
    learned: LearnedDecoder | None = None

    @functools.cached_property
    def y(self) -> np.ndarray:
        """The positions (n,) of the true classes among the labels."""
        return np.searchsorted(self.labels, self.truth)

    @property
    def answer(self) -> np.ndarray:
        """The positions (n,) of the answers among the labels, -1 where rejected."""
        return np.where(self.result < 0, -1, np.searchsorted(self.labels, self.result))

    @property
    def paid(self) -> np.ndarray | None:
        """The costs (n,) of the answers, or None; `UsageError` where points were rejected, and
        that has no cost."""
        if self.costs is None:
            return None
        return self.costs.paid(self.y, self.answer)

    def chosen(self, rows: np.ndarray) -> Results:
        """The results of some points, a mask (n,)."""
        parts = {
            name: of_rows(getattr(self, name), rows)
            for name in ("truth", "result", "winner", "p", "weights", "before", "groups", "left")
        }
        sets = self.sets
        if sets is not None:
            paths = None if sets.paths is None else sets.paths[:, rows]
            sets = Sets(sets.size[rows], sets.holds[rows], paths)
        if self.rows is None:
            numbers = np.arange(len(rows))
        else:
            numbers = self.rows
        return replace(self, **parts, sets=sets, rows=numbers[rows])
