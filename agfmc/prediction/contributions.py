"""Why a point is answered as it is: the contributions of columns to the margin over the next class.

The margin of class a over class b is the mean of the decision values f of the binary classifiers
that separate them, turned so that a positive one speaks for a; in an ensemble, the mean over its
members by their weights.  It is compared with that of a reference point.  For kernels that are
products over the features, K(x, s) = prod_j k_j(x_j, s_j), as the Gaussian and the Laplacian, the
Shapley values of the columns are exact: with f = sum_i c_i prod_j k_ij and b_ij = k_j(z_j, s_ij) of
the reference z

    phi_j = int_0^1 sum_i c_i (k_ij - b_ij) prod_{l != j} (b_il + t (k_il - b_il)) dt

(Owen, "Multilinear extensions of games", Management Science 1972); the integrand is a polynomial of
degree d - 1 in t, for which Gauss's rule of ceil(d/2) nodes is exact.  They sum to the difference
of the two margins.  Elsewhere the contribution of a column is what the margin loses when it has
the value of the reference (occlusion), which has no such sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.errors import UsageError
from ..core.kernels import KERNELS
from ..core.models import MergedModel
from ..kernels.machine import Machine
from ..models.configuration import Configuration
from .importance import data_columns, probability_classifier

_CELLS = 1 << 21  # numbers in a block
_SEPARABLE = {"sqeuclidean": np.square, "cityblock": np.abs}  # distances: sums over the features


class Explanation(NamedTuple):
    """Contributions of c columns to the margin of the answer over the next class.

    Attributes
    ----------
    answer, other : positions (n,) of both among the classes
    contributions : contributions (n, c)
    margin, reference : margin (n,) of the point and of the reference point
    exact : the contributions are Shapley values, which sum to margin - reference
    """

    answer: np.ndarray
    other: np.ndarray
    contributions: np.ndarray
    margin: np.ndarray
    reference: np.ndarray
    exact: bool


class Explainer:
    """The contributions of the columns of the data to the answers of a configuration.

    `reference` (d,) is the point to compare with, None for the mean of the training data that the
    normalisation has or, without one, of the support vectors. Raises `UsageError` where there is
    neither, and for configurations whose classes are not separated by binary classifiers in memory.
    """

    def __init__(self, configuration: Configuration, reference: np.ndarray | None = None):
        model = configuration.machines
        if not isinstance(model, MergedModel) or configuration.node_classifiers:
            raise UsageError("contributions of columns are computed from the decision values of "
                             "binary classifiers: expected support vector machines, least squares "
                             "on landmarks, or boosted trees")
        self.classifier = probability_classifier(configuration)
        self._normalisation, self._model = configuration.normalisation, model
        if reference is None:
            if self._normalisation is not None:
                reference = self._normalisation.parts[0].mean
            elif len(model.sv):
                reference = model.sv.mean(axis=0)
            else:
                raise UsageError("a model without a normalisation or support vectors has no mean "
                                 "of its data: expected a reference point")
        self.reference = np.asarray(reference, dtype=float)
        self.columns = data_columns(configuration.recipe, len(self.reference))
        self._sides = configuration.tree.sides()
        self._members = [range(*span) for span in _member_rows(configuration.tree)]
        self._shares = configuration.tree.weights
        self._features = self._normalised_features()

    def __call__(self, x: np.ndarray) -> Explanation:
        """The contributions to the answers for points x (n, d)."""
        classifier, columns = self.classifier, self.columns
        p = classifier.probabilities(x)
        ranking = np.argsort(-p, axis=1, kind="stable")
        answer, other = ranking[:, 0], ranking[:, 1]
        contributions = np.zeros((len(x), len(columns)))
        margin, base, exact = np.zeros(len(x)), np.zeros(len(x)), True
        for pair in np.unique(ranking[:, :2], axis=0):
            rows = np.flatnonzero((ranking[:, :2] == pair).all(axis=1))
            weights = self._weights(*classifier.classes[pair])
            used = np.flatnonzero(weights)
            margin[rows] = self._margin(x[rows], weights, used)
            base[rows] = self._margin(self.reference[None], weights, used)
            if self._features is not None and self._is_product(used):
                contributions[rows] = self._shapley(x[rows], weights, used)
                continue
            exact = False
            for number, column in enumerate(columns):
                without = x[rows].astype(float)
                features = list(column.features)
                without[:, features] = self.reference[features]
                contributions[rows, number] = \
                    margin[rows] - self._margin(without, weights, used)
        return Explanation(answer, other, contributions, margin, base, exact)

    def _weights(self, answer, other):
        """The weights (m,) of decision values, signs of the models, in a margin of two labels."""
        weights = np.zeros(self._model.count)
        for member, share in zip(self._members, self._shares):
            sides = {row: (answer in right) - (other in right)
                     for row in member for left, right in [self._sides[row]]
                     if {answer, other} <= {*left, *right}}
            parting = {row: side for row, side in sides.items() if side}
            for row, side in parting.items():
                weights[row] = share * side * self._model.orientation[row] / len(parting)
        return weights

    def _margin(self, x, weights, used):
        f = Machine(self._model, used).decision_values(self.classifier.values.prepared(x))
        return f @ weights[used]

    def _normalised_features(self):
        """Positions of the features of each column after the normalisation; None if it mixes
        features."""
        if self._normalisation is None:
            return [np.array(column.features) for column in self.columns]
        origin = []  # feature of the data that each normalised one is made of
        for part in self._normalisation.parts:
            if (np.count_nonzero(part.matrix, axis=0) != 1).any():
                return None
            origin += np.argmax(part.matrix != 0, axis=0).tolist()
        return [np.flatnonzero(np.isin(origin, column.features)) for column in self.columns]

    def _is_product(self, used):
        model = self._model
        if model.forest is not None and np.diff(model.forest.starts)[used].any():
            return False
        return all(KERNELS[model.kernels[number].kind].distance in _SEPARABLE
                   for number in set(model.kernel_of[used].tolist()))

    def _shapley(self, x, weights, used):
        model, result = self._model, np.zeros((len(x), len(self.columns)))
        x = self.classifier.values.prepared(x)
        z = self.classifier.values.prepared(self.reference[None])
        for number in set(model.kernel_of[used].tolist()):
            coef = np.zeros(len(model.sv))
            for row in used[model.kernel_of[used] == number]:
                span = slice(model.indptr[row], model.indptr[row + 1])
                np.add.at(coef, model.index[span], weights[row] * model.coef[span])
            rows = np.flatnonzero(coef)
            result += self._of_kernel(model.kernels[number], model.sv[rows], coef[rows], x, z)
        return result

    def _of_kernel(self, kernel, sv, coef, x, z):
        low, high = kernel.columns or (0, sv.shape[1])
        features = [one[(one >= low) & (one < high)] for one in self._features]
        distance = _SEPARABLE[KERNELS[kernel.kind].distance]

        def factors(points):
            return np.exp(-kernel.gamma * np.stack([
                distance(points[:, None, one] - sv[:, one]).sum(axis=2) for one in features],
                axis=2))

        nodes, node_weights = np.polynomial.legendre.leggauss(-(-len(features) // 2))
        result = np.empty((len(x), len(features)))
        absent = factors(z)
        step = max(1, _CELLS // max(1, absent.size))
        for start in range(0, len(x), step):
            change = factors(x[start:start + step]) - absent
            part = result[start:start + step]
            part[...] = 0
            for t, weight in zip((nodes + 1) / 2, node_weights / 2):
                mixed = np.maximum(absent + t * change, 1e-300)
                part += weight * np.einsum("ns,nsc->nc", coef * mixed.prod(axis=2), change / mixed)
        return result


def _member_rows(tree):
    """(start, stop) of the rows of each member of an ensemble, or of all rows."""
    ends = np.cumsum([0, *(len(node.rows) for node in tree.nodes)]).tolist()
    return [(ends[part.start], ends[part.stop]) for part in tree.parts]
