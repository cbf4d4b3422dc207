"""Costs of splits of classes, by leave-one-out values of classifiers that share landmarks.

The classifier of a split (A | B) of a set S of classes is regularised least squares on landmarks
(`landmarks.learner`).  Its leave-one-out values are linear in its targets: with the values L (s, n)
of the s classifiers with target 1 in one class of S and 0 in the others, those of a split are
sum_c t_c L_c, t_c = -1 on the left and +1 on the right.  So a set takes one factorisation, and a
further split of it next to nothing.  Platt's sigmoid makes probabilities of them, and the cost of
the split is the loss of these over the points of S, in total.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import DataError
from ..core.memory import refuse_beyond
from ..core.models import Kernel
from ..core.points import packed
from ..core.probabilities import standard_error
from ..core.splits import of_rows, split_stratified, stratified_folds
from ..executors.threads import run_tasks
from ..landmarks.features import draw_landmarks, Landmarks
from ..landmarks.learner import NystromOptions, Ridge, RidgeSearch
from .best_tree import Nodes

LANDMARKS = 400  # by default, where there are as many points
LEFT_OUT = 10_000  # points that are left out, by default
SPLITS = 300_000  # of which a search is exact by default: twelve classes
GROUPS = 10  # of points, whose costs are stored separately
_VARIANCES = (0.25, 0.5, 1.0, 2.0, 4.0)  # gamma times the number of features, that are tried
_BLOCK = 2048  # points for one product
_CELLS = 1 << 18  # decision values made at once
_STEPS = 50  # of Newton's method


@dataclass(frozen=True, eq=False)
class Loss:
    """A loss of points that is a sum over the nodes of a tree.

    Attributes
    ----------
    name : "log-loss", minus the logarithm of the probability of the right side; "error", 1 on the
        wrong side; or "cost", the mean of costs[i, j] over the points j of the classes on the wrong
        side, for a point of class i there
    costs : costs (k, k) above that of the right answer, the true classes in the rows
    """

    name: str = "log-loss"
    costs: np.ndarray | None = None

    @property
    def title(self) -> str:
        """Its name in notes and pictures."""
        return {
            "log-loss": "log loss",
            "error": "errors at nodes",
            "cost": "cost above that of right answers",
        }[self.name]


@dataclass(frozen=True)
class TreeSearch:
    """Settings of a search for the best tree.

    Attributes
    ----------
    machine : options of the classifiers that splits are judged by, None for those that suit the
        data
    splits : number of splits that are tried at most
    balance : added to the loss for each classifier that is evaluated, or "auto", which takes the
        tree that evaluates the fewest within a standard error of the best
    """

    machine: NystromOptions | None = None
    splits: int = SPLITS
    loss: Loss = Loss()
    balance: float | str = 0.0


class SplitCosts:
    """The costs of splits of the classes of normalised points x (n, d), y (n,), from 0 to k - 1.

    Raises `DataError` for a class with one point, and where the kernel has no values.

    Parameters
    ----------
    options : str or None, options of the classifiers, None for those that suit the points
    seed : int, of the drawing of landmarks and of points to be left out
    w : array (n,), optional, weights, None for 1
    groups : array (n,), optional, groups of the points, which are left out as a whole

    Attributes
    ----------
    loss : loss that is the cost of a split, the log loss unless another is set
    counts, shares : numbers and shares (k,) of the points of each class, or of their weights
    rows : points (l,) left out, class after class, of `classes` (l,), in the groups 0 to GROUPS - 1
        of `point_groups` (l,), with `point_weights` (l,), whose sum is that of all points
    """

    def __init__(
        self,
        x: np.ndarray,
        y: np.ndarray,
        options: NystromOptions | None = None,
        seed: int = 1,
        workers: int = 1,
        w: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ):
        w = np.ones(len(y)) if w is None else w
        self.counts = np.bincount(y, weights=w)
        self.workers, self.loss = workers, Loss()
        self.shares = self.counts / self.counts.sum()
        options = NystromOptions(left_out=LEFT_OUT) if options is None else options
        k = len(self.counts)
        self.rows = _left_out(y, k, options.left_out, seed, groups)
        self.classes, self._weights = y[self.rows], w[self.rows]
        ends = np.cumsum([0, *np.bincount(self.classes, minlength=k)])
        self._spans = [slice(*some) for some in zip(ends, ends[1:])]
        self.groups = of_rows(groups, self.rows)
        self.point_groups = (
            (np.arange(len(self.rows)) - ends[self.classes]) % GROUPS
            if groups is None
            else stratified_folds(self.classes, seed, GROUPS, self.groups)
        )
        self.point_weights = np.concatenate(
            [
                self._weights[span] * (count / self._weights[span].sum())
                for span, count in zip(self._spans, self.counts)
            ]
        )
        p = min(options.landmarks or LANDMARKS, len(y))
        refuse_beyond(
            4 * p * p * (k + 4 * workers) + 8 * p * len(self.rows),
            f"the sums of {p} landmarks and {k} classes",
            None,
        )
        drawn = draw_landmarks(
            x, y, list(range(k)), replace(options, landmarks=p if options.landmarks else None), seed
        )[:p]
        self._x, self._y, self._w = x, y, w
        self.options = self._with_defaults_chosen(replace(options, landmarks=len(drawn)), x[drawn])
        self._prepare(Landmarks(self.options.kernel_for(x.shape[1]), x[drawn]))

    def _prepare(self, landmarks):
        self.landmarks = landmarks
        p, k = len(landmarks), len(self.counts)
        self._total, self._gram = np.zeros((k, p)), np.empty((k, p * (p + 1) // 2))
        self._phi: list = [None] * k
        for _ in run_tasks(self._sum_class, range(k), self.workers):
            pass

    def _sum_class(self, label):
        rows, p = np.flatnonzero(self._y == label), len(self.landmarks)
        gram = np.zeros((p, p))
        for start in range(0, len(rows), _BLOCK):
            some = rows[start : start + _BLOCK]
            phi = self._features(some)
            self._total[label] += phi @ self._w[some]
            phi *= np.sqrt(self._w[some])
            gram += phi @ phi.T
        self._gram[label] = packed(gram)
        self._phi[label] = self._features(self.rows[self._spans[label]])

    def _features(self, rows):
        return self.landmarks.features(self.landmarks.kernel_values(self._x[rows]))

    def _with_defaults_chosen(self, options, points):
        """The options with the gamma and lambda of the least squared error of one-vs-rest."""
        d = points.shape[1]
        if options.kernel != "rbf" or options.gamma is not None:
            kernels = [options.kernel_for(d)]
        else:
            kernels = [Kernel("rbf", float(f"{share / d:.6g}")) for share in _VARIANCES]
        unit = float(self._w.mean())
        trials = []
        for kernel in kernels:
            self._prepare(Landmarks(kernel, points))
            search = RidgeSearch(self.landmarks.scale * unit)
            if options.ridge is None:
                while search.trial is not None:
                    search.record(self._one_vs_rest_error(search.trial))
            ridge = search.best if options.ridge is None else options.ridge
            trials.append((self._one_vs_rest_error(ridge), kernel.gamma, ridge))
        _, gamma, ridge = min(trials, key=lambda trial: trial[0])
        return replace(
            options, gamma=gamma if options.kernel == "rbf" else options.gamma, ridge=ridge
        )

    def _one_vs_rest_error(self, ridge):
        try:
            values = self._class_values(range(len(self.counts)), ridge)
        except DataError:
            return float("inf")
        values[self.classes, np.arange(len(self.classes))] -= 1.0
        return float(np.mean(values**2 @ self.point_weights) / self.point_weights.sum())

    def _columns(self, classes):
        """The points (n,) left out of some classes, and their weights (n,)."""
        columns = np.concatenate(
            [np.arange(span.start, span.stop) for span in (self._spans[c] for c in classes)]
        )
        return columns, self._weights[columns]

    def _class_values(self, classes, ridge, solved=None):
        """L (s, n): leave-one-out values of the classes of a set, each against all others."""
        ridged, v, b = solved or self._solved(classes, ridge)
        if self.groups is not None:
            columns, w = self._columns(classes)
            phi = np.concatenate([self._phi[c] for c in classes], axis=1)
            t = np.equal.outer(np.asarray(classes), self.classes[columns]).astype(np.float64)
            return ridged.leave_out(t, v.T @ phi + b[:, None], phi, w, self.groups[columns])
        return np.concatenate(
            [
                ridged.leave_out(
                    t[:, None],
                    v.T @ self._phi[c] + b[:, None],
                    self._phi[c],
                    self._weights[self._spans[c]],
                )
                for t, c in zip(np.eye(len(classes)), classes)
            ],
            axis=1,
        )

    def _solved(self, classes, ridge):
        """(`Ridge`, v (p, s), b (s,)): the classifiers of each class of a set against all."""
        total, count = self._total[list(classes)], self.counts[list(classes)]
        ridged = Ridge(
            [(self._gram[c], 1.0) for c in classes], total.sum(axis=0), count.sum(), ridge
        )
        return ridged, *ridged.solve(total.T, count / count.sum())

    def held_out_values(
        self, rows: Sequence[tuple], progress: Callable | None = None
    ) -> np.ndarray:
        """r (l, m) of the points left out for rows (left, right) of classes.

        Those of the classes of a row have leave-one-out values, to which its sigmoid is fitted.
        """
        sets: dict[tuple, list[int]] = {}
        for number, (left, right) in enumerate(rows):
            sets.setdefault(tuple(sorted((*left, *right))), []).append(number)
        r = np.empty((len(self.classes), len(rows)))

        def fill(classes):
            some = sets[classes]
            right = np.array([[c in rows[number][1] for c in classes] for number in some])
            step = max(1, _CELLS // len(self.classes))
            values = self._all_values(classes)
            for start in range(0, len(some), step):
                part = slice(start, start + step)
                r[:, some[part]] = self._calibrated(classes, right[part], values).T

        for done, _ in enumerate(run_tasks(fill, sorted(sets), self.workers)):
            if progress is not None:
                progress((done + 1) / len(sets))
        return r

    def _all_values(self, classes):
        """(s, l): values of all points that are left out, for each class of a set against it."""
        _, v, b = solved = self._solved(classes, self.options.ridge)
        values = np.empty((len(classes), len(self.classes)))
        values[:, self._columns(classes)[0]] = self._class_values(classes, None, solved)
        for c in set(range(len(self.counts))).difference(classes):
            values[:, self._spans[c]] = v.T @ self._phi[c] + b[:, None]
        return values

    def _calibrated(self, classes, right, values):
        """r (m, l) of splits of a set, right (m, s) bool, from its `_all_values`."""
        f = 2.0 * (right.astype(np.float64) @ values) - 1.0
        columns, w = self._columns(classes)
        positive = right[:, np.searchsorted(classes, self.classes[columns])]
        slope, shift = fit_sigmoids(f[:, columns], positive, self._side_counts(classes, right), w)
        return np.tanh((slope[:, None] * f + shift[:, None]) / 2.0)

    def _side_counts(self, classes, right):
        """(m, 2): the points on the right and on the left side of splits of a set."""
        sizes = self.counts[list(classes)]
        many = right @ sizes
        return np.column_stack([many, sizes.sum() - many])

    def __call__(self, requests: Sequence[Nodes]) -> Iterator:
        """Yield the costs (m, GROUPS) of the splits of each of some `Nodes`, by group of points."""
        return (costs for _, costs in run_tasks(self._costs, requests, self.workers))

    def _costs(self, request):
        classes, right = request
        values, (columns, _) = (
            self._class_values(classes, self.options.ridge),
            self._columns(classes),
        )
        sums = np.zeros((len(columns), GROUPS))
        sums[np.arange(len(columns)), self.point_groups[columns]] = self.point_weights[columns]
        step = max(1, _CELLS // len(columns))
        return np.concatenate(
            [
                self._losses(classes, right[start : start + step], values) @ sums
                for start in range(0, len(right), step)
            ]
        )

    def _losses(self, classes, right, values):
        """The losses (m, n) of the points of a set for splits of it, right (m, s) bool."""
        columns, w = self._columns(classes)
        position = np.searchsorted(classes, self.classes[columns])
        f = 2.0 * (right.astype(np.float64) @ values) - 1.0
        losses, wrong = log_losses(f, right[:, position], self._side_counts(classes, right), w)
        if self.loss.name == "log-loss":
            return losses
        if self.loss.costs is None:
            return wrong.astype(np.float64)
        return wrong * self._mean_costs(classes, right)[..., position]

    def _mean_costs(self, classes, right):
        """(m, s): the mean cost of the wrong side for the points of each class of a set."""
        classes = list(classes)
        other = (right[:, :, None] != right[:, None, :]) * self.counts[classes]
        costs = self.loss.costs[np.ix_(classes, classes)]
        return np.einsum("mij,ij->mi", other, costs) / other.sum(axis=2)

    def point_losses(self, nodes: Sequence[tuple]) -> np.ndarray:
        """The losses (m, l) at m nodes, (left, right), of the points left out; 0 for others."""
        losses = np.zeros((len(nodes), len(self.classes)))

        def fill(number):
            left, right = nodes[number]
            classes = sorted((*left, *right))
            losses[number, self._columns(classes)[0]] = self._losses(
                classes,
                np.array([[c in right for c in classes]]),
                self._class_values(classes, self.options.ridge),
            )[0]

        for _ in run_tasks(fill, range(len(nodes)), self.workers):
            pass
        return losses

    def mean_and_error(
        self, values: np.ndarray, points: np.ndarray | slice = slice(None)
    ) -> tuple[float, float]:
        """The weighted mean of the values (l,) of some of the points, and its standard error."""
        values, weights = values[points], self.point_weights[points]
        return float(values @ weights / weights.sum()), standard_error(
            values, weights, of_rows(self.groups, points)
        )


def log_losses(
    f: np.ndarray, positive: np.ndarray, counts: np.ndarray, w: np.ndarray | None = None
) -> tuple:
    """(losses, wrong) (m, n) of decision values after Platt's sigmoid, as `fit_sigmoids` has it."""
    slope, shift = fit_sigmoids(f, positive, counts, w)
    z = slope[:, None] * f + shift[:, None]
    return np.logaddexp(0.0, np.where(positive, -z, z)), (z >= 0) != positive


def fit_sigmoids(
    f: np.ndarray, positive: np.ndarray, counts: np.ndarray, w: np.ndarray | None = None
) -> tuple:
    """(slope (m,), shift (m,)) of P(right side) = 1 / (1 + exp(-(slope f + shift))), row by row.

    Platt's sigmoids of decision values f (m, n), with his targets (N+ + 1) / (N+ + 2) and 1 / (N- +
    2), by damped Newton steps. `positive` (m, n) are the points on the right side, `counts` (m, 2)
    N+ and N- of all points, of which these may be some, and `w` (n,) weights of the points, None
    for 1.

    The slope is 0 or more: where there is nothing to learn, the leave-one-out value is the mean of
    the other points, which gives that of this side with the sign turned.
    """
    upper, lower = (counts[:, :1] + 1) / (counts[:, :1] + 2), 1 / (counts[:, 1:] + 2)
    target = np.where(positive, upper, lower)
    w = None if w is None or (w == w[0]).all() else w / w.mean()  # equal ones take no time
    slope, shift = np.full(len(f), 3.0), np.zeros(len(f))
    active = np.arange(len(f))
    for _ in range(_STEPS):
        line = slope[active], shift[active]
        more, further, going = _newton_step(f[active], target[active], line, w)
        slope[active] += more
        shift[active] += further
        active = active[going]
        if not len(active):
            break
    wrong = target[slope < 0]  # the problem is convex: the best with a slope of 0
    mean = wrong.mean(axis=1) if w is None else wrong @ w / w.sum()
    shift[slope < 0] = np.log(mean / (1.0 - mean))
    return np.maximum(slope, 0.0), shift


def _newton_step(f, target, line, w):
    """Changes of slope and shift (m,) for the cross-entropy of P = 1 / (1 + exp(-z)), z = slope f +
    shift, row by row, and which rows are not at their end."""
    slope, shift = line
    before, p = _entropy(f, target, slope, shift, w)
    difference, curve = p - target, p * (1.0 - p)
    if w is not None:
        difference *= w
        curve *= w
    gradient = np.einsum("ij,ij->i", difference, f), difference.sum(axis=1)
    along = curve * f
    h11 = np.einsum("ij,ij->i", along, f) + 1e-9
    h12, h22 = along.sum(axis=1), curve.sum(axis=1) + 1e-9
    determinant = h11 * h22 - h12 * h12
    first = (h12 * gradient[1] - h22 * gradient[0]) / determinant
    second = (h12 * gradient[0] - h11 * gradient[1]) / determinant
    descent = first * gradient[0] + second * gradient[1]  # not positive
    size = np.ones(len(f))
    rows = np.arange(len(f))
    for _ in range(40):  # halve the steps of rows that do not get better
        after, _ = _entropy(
            f[rows],
            target[rows],
            slope[rows] + size[rows] * first[rows],
            shift[rows] + size[rows] * second[rows],
            w,
        )
        rows = rows[~(after <= before[rows] + 1e-4 * size[rows] * descent[rows])]
        if not len(rows):
            break
        size[rows] /= 2.0
    size[rows] = 0.0
    return size * first, size * second, (size > 0) & (-descent > 1e-7 * np.maximum(before, 1.0))


def _entropy(f, target, slope, shift, w):
    """(cross-entropy (m,), P (m, n)) of points with weights w (n,), None for 1."""
    z = slope[:, None] * f + shift[:, None]
    small = np.exp(-np.abs(z))
    value = np.maximum(z, 0.0) + np.log1p(small) - target * z
    return value.sum(axis=1) if w is None else value @ w, np.where(z >= 0, 1.0, small) / (
        1.0 + small
    )


def _left_out(y, k, most, seed, groups):
    """Rows (l,) of the points that are left out: all, or `most`, the same share of each class.

    Of groups all points are left out, or none.
    """
    rows = [np.flatnonzero(y == c) for c in range(k)]
    most = len(y) if most is None else most
    if len(y) <= most:
        return np.concatenate(rows)
    if groups is not None:
        some = split_stratified(y, most / len(y), seed, groups)[1]
        return (
            some[np.argsort(y[some], kind="stable")]
            if len(np.unique(y[some])) == k
            else np.concatenate(rows)
        )
    generator = np.random.Generator(np.random.PCG64(seed))
    share = most / len(y)
    return np.concatenate(
        [np.sort(generator.permutation(some)[: max(2, round(share * len(some)))]) for some in rows]
    )
