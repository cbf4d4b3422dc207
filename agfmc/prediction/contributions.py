"""Why a point is answered as it is: the contributions of columns to the margin over the next class.

The margin of class a over class b is the mean of the decision values f of the classifiers that
separate them, turned so that a positive one speaks for a; that of a multi-class node of code L or T
is the difference of the scores of both branches.  In an ensemble it is the mean over its members by
their weights.  It is compared with that of a reference point.  For kernels that are
products over the features, K(x, s) = prod_j k_j(x_j, s_j), as the Gaussian and the Laplacian, the
Shapley values of the columns are exact: with f = sum_i c_i prod_j k_ij and b_ij = k_j(z_j, s_ij) of
the reference z

    phi_j = int_0^1 sum_i c_i (k_ij - b_ij) prod_{l != j} (b_il + t (k_il - b_il)) dt

(Owen, "Multilinear extensions of games", Management Science 1972); the integrand is a polynomial of
degree d - 1 in t, for which Gauss's rule of ceil(d/2) nodes is exact.  For linear kernels they are
the parts of the sum.  They sum to the difference of the two margins.  Elsewhere the contribution of
a column is what the margin loses when it has the value of the reference (occlusion), which has no
such sum.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..core.errors import DataError, UsageError
from ..core.kernels import KERNELS
from ..core.models import MergedModel
from ..core.points import as_numbers
from ..core.probabilities import REJECTED
from ..data.types import Dataset
from ..executors.threads import run_tasks
from ..kernels.machine import Machine
from ..models.configuration import Configuration
from ..models.merge import with_scores
from .classifier import Classifier
from .decision_values import MachineValues
from .importance import data_columns, probability_classifier

_CELLS = 1 << 21  # numbers in a block
_SEPARABLE = {"sqeuclidean": np.square, "cityblock": np.abs}  # distances: sums over the features


class Explanation(NamedTuple):
    """Contributions of c columns to the margin of the answer over the next class.

    Attributes
    ----------
    columns : names (c,) of the columns
    answer, other : labels (n,) of both classes
    contributions : contributions (n, c)
    margin, reference : margin (n,) of the point and of the reference point
    exact : the contributions are Shapley values, which sum to margin - reference
    """

    columns: tuple[str, ...]
    answer: np.ndarray
    other: np.ndarray
    contributions: np.ndarray
    margin: np.ndarray
    reference: np.ndarray
    exact: bool


def explain(
    configuration: Configuration,
    x: np.ndarray | Dataset,
    answer: np.ndarray | None = None,
    *,
    reference: np.ndarray | None = None,
    workers: int = 1,
) -> Explanation:
    """
    Compute what each column contributes to the answers for points.

    A contribution is positive where the column speaks for the answer and against the next class,
    the most probable other one. Contributions are parts of the margin of decision values between
    both, beyond that of a reference point: exact Shapley values for Gaussian, Laplacian and linear
    kernels; elsewhere what the margin loses when the column has the value of the reference.

    Parameters
    ----------
    configuration : Configuration
        The trained configuration, of binary classifiers and nodes of code L and T.
    x : array of shape (n, d), or Dataset
        The points.
    answer : array of shape (n,), default=None
        Labels of the answers to explain; None, or -1 for a point: the most probable class.
    reference : array of shape (d,), default=None
        The point to compare with; None: the mean of the training data, as far as the configuration
        has it in its normalisation, else of its support vectors.
    workers : int, default=1
        Number of threads.

    Returns
    -------
    Explanation
        Contributions, of all features of a column of a table together, and their margins.

    Raises
    ------
    UsageError
        If a classifier has no decision values, or no reference is known.
    DataError
        If points have the wrong number of features, or give no decision value.
    """
    explainer = Explainer(configuration, reference=reference)
    x = as_numbers(x.x if isinstance(x, Dataset) else x, "x", 2)
    if answer is None:
        answer = np.full(len(x), REJECTED)
    else:
        answer = as_numbers(answer, "answer")
    if len(answer) != len(x) or not np.isin(answer, [REJECTED, *configuration.tree.labels]).all():
        raise UsageError("answer: expected a label of the configuration, or -1, for each point")
    step = explainer.rows
    parts = [
        part
        for _, part in run_tasks(
            lambda start: explainer(x[start : start + step], answer[start : start + step]),
            range(0, max(len(x), 1), step),
            workers,
        )
    ]
    return Explanation(
        explainer.names,
        *(np.concatenate([part[at] for part in parts]) for at in range(1, 6)),
        explainer.exact,
    )


class Explainer:
    """The contributions of the columns of the data to the answers of a configuration.

    `classifier` tells the most probable other class; one with the default decoder takes its place
    where it is None, or does not give the probabilities of all classes. `reference` (d,) is the
    point to compare with, None for the mean of the training data that the normalisation has or,
    without one, of the support vectors. Raises `UsageError` where there is neither, and for
    classifiers that are programs, objects in memory or neighbours.
    """

    def __init__(
        self,
        configuration: Configuration,
        classifier: Classifier | None = None,
        reference: np.ndarray | None = None,
    ):
        self._arguments = configuration, classifier, reference
        machines = configuration.machines
        tree = configuration.tree
        if not isinstance(machines, MergedModel):
            raise UsageError(
                "contributions of columns are computed from the decision values of "
                "classifiers, which programs and objects in memory do not show: expected support "
                "vector machines, least squares on landmarks, or boosted trees"
            )
        model, scores = with_scores(machines, configuration.node_classifiers)
        for number, direct in tree.directs.items():
            if number not in scores:
                raise UsageError(
                    "contributions of columns are computed from decision values, and a classifier "
                    f"of code {direct.learner_letter} has no decision values: train with "
                    "support vector machines, boosted trees, or a node of code L or T"
                )
        if classifier is not None and classifier.gives_all_probabilities:
            self.classifier = classifier
        else:
            self.classifier = probability_classifier(configuration)
        self._normalisation = configuration.normalisation
        self._model = model
        self._prepared = MachineValues(
            replace(configuration, machines=replace(machines, any_width=False))
        ).prepared  # of the width of the support vectors
        if reference is None:
            if self._normalisation is not None:
                reference = self._normalisation.parts[0].mean
            elif len(machines.sv):
                reference = np.asarray(machines.sv).mean(axis=0)
            else:
                raise UsageError(
                    "contributions of columns are relative to the mean of the data, "
                    "and a model without a normalisation or support vectors has none: "
                    "train it with `normalise`, or give a reference point"
                )
        self.reference = as_numbers(reference, "reference", 1).astype(float)
        self._z = self._prepared(self.reference[None])
        self.columns = data_columns(configuration.recipe, len(self.reference))
        self.names = tuple(column.name for column in self.columns)
        # of many columns fewer points in a block
        self.rows = max(1, min(self.classifier.rows, _CELLS // max(1, len(self.columns))))
        ends = np.cumsum([0, *(len(node.rows) for node in tree.nodes)]).tolist()
        self._members = [range(ends[part.start], ends[part.stop]) for part in tree.parts]  # rows
        self._sides = tree.sides()
        branches = tree.branch_labels()
        score_of = {  # of each label below the node
            number: {label: at for side, at in zip(branches[number], numbers) for label in side}
            for number, numbers in scores.items()
        }
        self._scores = [
            [score_of[number] for number in score_of if part.start <= number < part.stop]
            for part in tree.parts
        ]
        self._shares = tree.weights
        self._features = self._normalised_features()
        self.exact = (
            self._features is not None
            and self._model.forest is None
            and all(
                kernel.kind == "linear" or KERNELS[kernel.kind].distance in _SEPARABLE
                for kernel in self._model.kernels
            )
        )

    def __reduce__(self):
        return Explainer, self._arguments

    @np.errstate(over="ignore", invalid="ignore")
    def __call__(self, x: np.ndarray, answer: np.ndarray) -> Explanation:
        """The `Explanation` of the answers, labels (n,), for points x (n, d), where -1 is the most
        probable class."""
        labels = self.classifier.classes
        p = self.classifier.probabilities(x)
        missing = len(self.reference) - x.shape[1]  # at the end of LIBSVM text
        if missing < 0:
            raise DataError(
                f"the points have {-missing} features more than the support vectors, "
                "which cannot be explained"
            )
        x = np.pad(x, ((0, 0), (0, missing)))
        first = np.where(answer < 0, p.argmax(axis=1), np.searchsorted(labels, answer))
        p[np.arange(len(p)), first] = -np.inf
        pairs = labels[np.column_stack([first, p.argmax(axis=1)])]
        contributions = np.zeros((len(x), len(self.columns)))
        margin = np.zeros(len(x))
        base = np.zeros(len(x))
        for pair in np.unique(pairs, axis=0):
            rows = np.flatnonzero((pairs == pair).all(axis=1))
            weights = self._weights(*pair)
            used = np.flatnonzero(weights)
            margin[rows] = self._margin(x[rows], weights, used)
            base[rows] = self._margin(self.reference[None], weights, used)
            if self.exact:
                contributions[rows] = self._shapley(x[rows], weights, used)
                continue
            for number, column in enumerate(self.columns):
                inside = np.isin(np.arange(x.shape[1]), column.features)
                without = self._margin(np.where(inside, self.reference, x[rows]), weights, used)
                contributions[rows, number] = margin[rows] - without
        return Explanation(self.names, *pairs.T, contributions, margin, base, self.exact)

    def _weights(self, answer, other):
        """The weights (m,) of decision values, signs of the models, in a margin of two labels."""
        weights = np.zeros(self._model.count)
        for member, nodes, share in zip(self._members, self._scores, self._shares):
            sides = {
                row: (answer in right) - (other in right)
                for row in member
                for left, right in [self._sides[row]]
                if {answer, other} <= {*left, *right}
            }
            parting = {row: side for row, side in sides.items() if side}
            pairs = [[score.get(answer), score.get(other)] for score in nodes]
            pairs = [pair for pair in pairs if None not in pair and pair[0] != pair[1]]
            share /= max(1, len(parting) + len(pairs))
            for row, side in parting.items():
                weights[row] = share * side * self._model.orientation[row]
            for pair in pairs:
                weights[pair] = share, -share
        return weights

    def _margin(self, x, weights, used):
        f = Machine(self._model, used).decision_values(self._prepared(x))
        return (f * weights[used]).sum(axis=1)  # by BLAS its bits would depend on the neighbours

    def _normalised_features(self):
        """Positions of the features of each column after the normalisation; None if it mixes
        features."""
        if self._normalisation is None:
            return [np.array(column.features) for column in self.columns]
        parts = self._normalisation.parts
        if not all(part.keeps_features_apart for part in parts):
            return None
        feature = np.concatenate([part.column for part in parts])
        return [np.flatnonzero(np.isin(feature, column.features)) for column in self.columns]

    def _shapley(self, x, weights, used):
        model = self._model
        result = np.zeros((len(x), len(self.columns)))
        x = self._prepared(x)
        for number in set(model.kernel_of[used].tolist()):
            coef = np.zeros(len(model.sv))
            for row in used[model.kernel_of[used] == number]:
                span = slice(model.indptr[row], model.indptr[row + 1])
                np.add.at(coef, model.index[span], weights[row] * model.coef[span])
            rows = np.flatnonzero(coef)
            result += self._of_kernel(
                model.kernels[number], np.asarray(model.sv[rows]), coef[rows], x
            )
        return result

    def _of_kernel(self, kernel, sv, coef, x):
        low, high = kernel.columns or (0, sv.shape[1])
        features = [one[(one >= low) & (one < high)] for one in self._features]
        if kernel.kind == "linear":  # a sum over the features
            changes = (x - self._z) * (coef @ sv)
            return np.stack([changes[:, one].sum(axis=1) for one in features], axis=1)
        distance = _SEPARABLE[KERNELS[kernel.kind].distance]

        def factors(points):
            return np.exp(
                -kernel.gamma
                * np.stack(
                    [distance(points[:, None, one] - sv[:, one]).sum(axis=2) for one in features],
                    axis=2,
                )
            )

        nodes, node_weights = np.polynomial.legendre.leggauss(-(-len(features) // 2))
        result = np.zeros((len(x), len(features)))
        absent = factors(self._z)
        step = max(1, _CELLS // max(1, absent.size))
        for start in range(0, len(x), step):
            change = factors(x[start : start + step]) - absent
            part = result[start : start + step]
            for t, weight in zip((nodes + 1) / 2, node_weights / 2):
                mixed = np.maximum(absent + t * change, 1e-300)
                product = coef * mixed.prod(axis=2)
                part += weight * (product[:, :, None] * change / mixed).sum(axis=1)
        return result
