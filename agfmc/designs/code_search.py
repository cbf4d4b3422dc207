"""Search for a code that suits data: rows chosen one by one from a pool, by decoded probabilities.

All rows of the pool are trained at once (`split_costs.SplitCosts.held_out_values`).  A code grows
by the row that lowers most the log loss of its probabilities by constrained least squares, and
loses those that it is better without (sequential floating selection: P. Pudil and others, Pattern
Recognition Letters 15, 1994).  Rows are chosen by probabilities with a floor, so that exact zeros
do not decide, but without a temperature: one that is fitted to each code lets few wrong answers
decide, which was worse for points that did not choose.  The code is reported and judged after a
temperature and a floor fitted to it (`decode.maps`).

Which rows deserve to be decoded is foreseen without decoding.  With K = M' M + 1 1' of the
classes that have a probability at a point (`decode.constrained`), and m the row of M that a
further classifier adds, u = K^-1 1 becomes u - K^-1 m (m' u) / (1 + m' K^-1 m).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..calibration.maps import apply_map, fit_temperature
from ..calibration.types import ProbabilityMap
from ..control.build import from_rows, named_as, to_code
from ..control.matrix import smallest_distances
from ..control.tree import Tree
from ..core.errors import DataError, UsageError
from ..core.memory import refuse_beyond
from ..core.probabilities import losses
from ..core.splits import stratified_folds
from ..decode.constrained import prepare
from ..executors.threads import run_tasks
from ..landmarks.learner import NystromOptions
from .design import LabelledPoints, matrix_of, sides_text
from .random_codes import candidate_rows
from .split_costs import SplitCosts
from .tree_search import machine_options

POOL = 2000  # rows, by default
POINTS = 5000  # that are left out, by default
PARTS = 5  # of the points: each judges the code that the others choose
FLOOR = 0.01  # of the probabilities that rows are chosen by
DECODED = 8  # rows foreseen as the best, of which the best is chosen by decoding
_MORE = 4  # times the number of classes: so many rows are added at most
_RIDGE = 1e-6  # of K, for points at which it is singular
_NONE = 1e-9  # a smaller probability is none
_LEAST = np.float32(1e-16)  # of probabilities
_NUMBERS = 1 << 22  # of systems that are held together
_CELLS = 1 << 17  # numbers made at once: more come from the system, page by page
_FORESEEN = 1 << 25  # probabilities that one step foresees
_FEWEST = 1000  # points that foresee at least


@dataclass(frozen=True)
class CodeSearch:
    """Settings of a search for the best code: options of the classifiers that rows are judged by,
    None for those that suit the data; rows, None for as many as help; candidates at most; and a
    control tree whose partitions the search starts from, or None."""

    machine: NystromOptions | None = None
    rows: int | None = None
    pool: int = POOL
    start: Tree | None = None


@dataclass(frozen=True, eq=False)
class Code:
    """Some rows of a pool, by number, and what they give: probabilities p (n, k) of all points,
    their losses (n,) with a floor, and the mean loss of those that choose."""

    rows: tuple[int, ...]
    p: np.ndarray
    losses: np.ndarray
    loss: float


class RowPool:
    """Rows a (q, k) of -1, 0 and +1 that a code may have, with their decision values r (n, q) of
    the points that are left out of `SplitCosts`, of classes y (n,) and weights (n,)."""

    def __init__(self, a: np.ndarray, r: np.ndarray, splits: SplitCosts):
        self.a, self.r, self.splits = a.astype(np.float64), r, splits
        self.y, self.weights, self.mean = (
            splits.classes,
            splits.point_weights,
            splits.mean_and_error,
        )
        size = np.abs(self.a)
        self._even = self.a - size * (self.a.sum(axis=1) / size.sum(axis=1))[:, None]

    def determined(self, rows: Sequence[int]) -> bool:
        """Return True if M p = 0 of these rows has one solution for equal probabilities."""
        k = self.a.shape[1]
        return len(rows) >= k - 1 and np.linalg.matrix_rank(self._even[list(rows)]) == k - 1

    def adding(self, rows: Sequence[int], others: np.ndarray) -> np.ndarray:
        """Which of the others (c,) bool determine something that the rows do not."""
        fixed = np.vstack([self._even[list(rows)], np.ones(self.a.shape[1])])
        _, sizes, directions = np.linalg.svd(fixed)
        free = directions[np.count_nonzero(sizes > 1e-9 * sizes[0]) :]
        return np.abs(self._even[others] @ free.T).max(axis=1) > 1e-9

    def code(self, rows: Iterable[int], points: np.ndarray) -> Code:
        """The `Code` of some rows, its loss that of the points (c,), positions."""
        rows = tuple(rows)
        p = (
            prepare(self.a[list(rows)])(np.ascontiguousarray(self.r[:, rows]))[0]
            if self.determined(rows)
            else self._nearly_even(rows)
        )
        of_points = losses((1 - FLOOR) * p + FLOOR / p.shape[1], self.y)
        return Code(rows, p, of_points, self.mean(of_points, points)[0])

    def _nearly_even(self, rows):
        """p (n, k) of rows that do not determine them: nearly the most even ones that fit."""
        u = np.concatenate(
            [
                np.linalg.inv(self._systems(rows, some)).sum(axis=2)
                for some in self._blocks(rows, np.arange(len(self.y)))
            ]
        )
        np.maximum(u, 0.0, out=u)
        return u / u.sum(axis=1, keepdims=True)

    def _blocks(self, rows, points):
        k = self.a.shape[1]
        step = max(1, _NUMBERS // (k * max(k, len(rows))))
        return (points[start : start + step] for start in range(0, len(points), step))

    def _systems(self, rows, points):
        """K (c, k, k) of some rows at points."""
        a = self.a[list(rows)].T
        m = a - np.abs(a) * self.r[np.ix_(points, rows)][:, None, :]
        systems = m @ m.transpose(0, 2, 1) + 1.0
        systems[:, range(m.shape[1]), range(m.shape[1])] += _RIDGE
        return systems

    def predict_loss(
        self, code: Code, others: Sequence[int], points: np.ndarray, less: bool = False
    ) -> np.ndarray:
        """Losses (c,), nearly, of a code with one more, or less, of the rows `others` each; a class
        without probability is taken to stay so."""
        k = self.a.shape[1]
        a = self.a[others].T.astype(np.float32)
        sign, step = np.float32(-1.0 if less else 1.0), max(1, _CELLS // a.size)
        total = 0
        for block in self._blocks(code.rows, points):
            inverse, loss = self._inverses(code, block), np.zeros(len(others))
            for start in range(0, len(block), step):
                some = block[start : start + step]
                r = self.r[np.ix_(some, others)].astype(np.float32)
                p = _updated(
                    inverse[start : start + step].astype(np.float32),
                    a - np.abs(a) * r[:, None],
                    sign,
                )
                true = p[np.arange(len(p)), self.y[some]]
                loss -= self.weights[some] @ np.log((1 - FLOOR) * true + FLOOR / k)
            total = total + loss
        return total / self.weights[points].sum()

    def _inverses(self, code, points):
        """K^-1 (c, k, k) at points, of the classes that have a probability there, else 0."""
        systems = self._systems(code.rows, points)
        out = (
            code.p[points] < _NONE
            if self.determined(code.rows)
            else np.zeros(systems.shape[:2], dtype=bool)
        )
        both = out[:, :, None] | out[:, None, :]
        systems[both] = 0.0
        systems[:, range(len(out[0])), range(len(out[0]))] += out
        inverse = np.linalg.inv(systems)
        inverse[both] = 0.0
        return inverse


def _updated(inverse, m, sign):
    """p (c, k, q) of codes with one row m (c, k, q) more, or less for sign -1; inverse: of K."""
    u = inverse.sum(axis=2)
    turned = inverse @ m
    scale = 1 + sign * np.einsum("nkq,nkq->nq", turned, m)
    turned *= (sign * np.einsum("nkq,nk->nq", m, u) / np.maximum(scale, _RIDGE))[:, None]
    p = np.subtract(u[:, :, None], turned, out=turned)
    np.maximum(p, _LEAST, out=p)
    p /= p.sum(axis=1, keepdims=True)
    return p


class _FloatingSelection:
    """A search by some of the points; best {number of rows: the best `Code` that was met}."""

    def __init__(self, pool: RowPool, points: np.ndarray):
        self.pool, self.points = pool, points
        q, k = pool.a.shape
        some = max(_FEWEST, _FORESEEN // (q * k))
        self._some = points[:: max(1, len(points) // some)]  # of all classes, which are in order
        self.best: dict[int, Code] = {}

    def run(
        self,
        start: Sequence[int],
        size: int | None,
        most: int,
        report: Callable = lambda share: None,
    ) -> _FloatingSelection:
        """Go from some rows to `size` ones; None: until one more does not help, at most `most`."""
        code = self._code(start)
        last = most if size is None else size
        while not self.pool.determined(code.rows):
            code = self._with_one_more(code)
            report(len(code.rows) / max(last, len(code.rows)))
        self._keep(code)
        while size is not None and len(code.rows) > size:
            code = self._keep(self._with_one_less(code))
        while len(code.rows) < last:
            larger = self._keep(self._with_one_more(code))
            report(len(larger.rows) / last)
            if size is None and not self._helps(code, larger):
                break
            code = self._without_idle(larger)
        return self

    def at(self, size: int) -> Code:
        """The best code of so many rows; of the next number that there is."""
        return self.best[min(self.best, key=lambda other: (abs(other - size), other))]

    def exchanged(self, size: int) -> Code:
        """The code after rows were exchanged for others as long as that helps."""
        code = self.at(size)
        while len(code.rows) < len(self.pool.a):
            other = self._with_one_less(self._with_one_more(code))
            if not self._helps(code, other):
                break
            code = self._keep(other)
        return code

    def _code(self, rows):
        return self.pool.code(rows, self.points)

    def _keep(self, code):
        stored = self.best.get(len(code.rows))
        if stored is None or code.loss < stored.loss:
            self.best[len(code.rows)] = code
        return code

    def _with_one_more(self, code):
        """The code with the row that lowers its loss most; while it is not, towards determined."""
        others = np.setdiff1d(np.arange(len(self.pool.a)), code.rows)
        determined = self.pool.determined(code.rows)
        if not determined:
            others = others[self.pool.adding(code.rows, others)]
        order = np.argsort(self.pool.predict_loss(code, others, self._some), kind="stable")
        decoded = DECODED if determined else 1
        return min(
            (self._code((*code.rows, int(row))) for row in others[order[:decoded]]),
            key=lambda larger: larger.loss,
        )

    def _with_one_less(self, code):
        """The code without the row that it needs least; itself where it needs all."""
        loose = np.array(
            [
                row
                for row in code.rows
                if self.pool.determined([other for other in code.rows if other != row])
            ],
            dtype=np.int64,
        )
        if not len(loose):
            return code
        order = np.argsort(
            self.pool.predict_loss(code, loose, self._some, less=True), kind="stable"
        )
        return min(
            (
                self._code(other for other in code.rows if other != row)
                for row in loose[order[:DECODED]]
            ),
            key=lambda smaller: smaller.loss,
        )

    def _without_idle(self, code):
        """The code without the rows that it is better without, as a code of so many rows."""
        while True:
            smaller = self._with_one_less(code)
            stored = self.best.get(len(smaller.rows))
            if smaller is code or stored is not None and not smaller.loss < stored.loss:
                return code
            code = self._keep(smaller)

    def _helps(self, code, other):
        gain, error = self.pool.mean(code.losses - other.losses, self.points)
        return gain > error

    def mapped(self, code: Code) -> tuple[ProbabilityMap, np.ndarray]:
        """The temperature and floor that suit a code at the points that choose, and its losses (n,)
        at all points after them."""
        pool, points = self.pool, self.points
        fitted = fit_temperature(code.p[points], pool.y[points], pool.weights[points])
        return fitted, losses(apply_map(fitted, code.p), pool.y)


@dataclass(frozen=True)
class CurvePoint:
    """The best code that was met with so many rows.

    Attributes
    ----------
    loss, wrong : mean log loss, and share of wrong answers
    judged, error : loss, and its standard error, of each part of the points by the code that the
        others choose
    added, dropped : rows by which it differs from the code before it, (left, right) of labels
    """

    rows: int
    loss: float
    wrong: float
    judged: float
    error: float
    added: tuple = ()
    dropped: tuple = ()


@dataclass(frozen=True)
class ChosenCode:
    """The result of `best_code`: the training control tree; its point, with the changes from the
    code of so many rows in the curve; the standard error of its loss; the best codes of all numbers
    of rows; the map of its probabilities; how many rows there were, and what they were judged
    by."""

    tree: Tree
    chosen: CurvePoint
    error: float
    curve: tuple[CurvePoint, ...]
    map: ProbabilityMap
    pool: int
    machine: NystromOptions

    @property
    def notes(self) -> list[str]:
        """Lines about the code and the search."""
        point, names = self.chosen, self.tree.names
        rows, labels = matrix_of(self.tree)
        lines = [
            f"best-code: {point.rows} rows of {self.pool} candidates; leave-one-out log loss "
            f"{point.loss:.4f} +- {self.error:.4f} a point, {100 * point.wrong:.2f} % wrong; "
            f"on points that did not choose it {point.judged:.4f} +- {point.error:.4f}",
            "decoded by least squares, after a temperature of "
            f"{1 / float(self.map.weights):.3f} and a floor of {self.map.floor:.2g}",
            "smallest distance between rows {}, between columns {}".format(
                *smallest_distances(rows, len(labels))
            ),
            f"evaluated by {self.machine.canonical()}",
            "rows    loss  wrong  others +- error: the row added (+) or removed (-)",
        ]
        exchanged = [point] if point.added else []
        for number, step in enumerate((*self.curve, *exchanged)):
            changes = "; ".join(
                f"{sign} {sides_text(*row, names)}"
                for sign, some in (("+", step.added), ("-", step.dropped))
                for row in some
            )
            text = f"{step.rows} rows" if number == 0 and step.rows > 1 else changes
            if step is point:
                text = f"chosen, rows exchanged at the end: {text}"
            lines.append(
                f"{step.rows:4d} {step.loss:7.4f} {step.wrong:6.4f} {step.judged:7.4f} "
                f"{step.error:8.4f}: {text}"
            )
        return lines


def best_code(
    points: LabelledPoints,
    *,
    code: CodeSearch | None = None,
    rows: int | None = None,
    options: str = "",
    seed: int = 1,
    workers: int = 1,
    progress: Callable | None = None,
) -> ChosenCode:
    """The best code of so many rows, by default as many as help, that a search comes to.

    `options` are training options, whose kernel the classifiers of the search have.

    Raises
    ------
    UsageError : for a number of rows that cannot be
    DataError : for two classes, for a start with other classes, and as `SplitCosts` does
    ControlError : for a start with other names
    """
    search = code or CodeSearch()
    requested = rows if search.rows is None else search.rows
    machine = search.machine or machine_options(options, POINTS)
    x, y, labels, names, weights, groups = points
    k = len(labels)
    if k < 3:
        raise DataError(f"{k} classes have one row: a search needs three or more")
    classes = points.positions()
    start = _start_rows(search.start, labels, names)
    candidates = list(dict.fromkeys([*start, *candidate_rows(k, search.pool, seed)]))
    count = len(candidates)
    if requested is not None and not k - 1 <= requested <= count:
        raise UsageError(
            f"{requested} rows: expected {k - 1} or more, which the probabilities "
            f"of {k} classes need, and {count} at most, which are the candidates"
        )
    refuse_beyond(
        8 * count * min(len(y), machine.left_out or len(y)),
        f"the decision values of {count} candidate rows",
        None,
    )

    def report(share, words):
        if progress is not None:
            progress(round(1000 * share), 1000, words)

    costs = SplitCosts(
        x, classes, machine, seed, workers, w=None if weights is None else weights.w, groups=groups
    )
    a = np.array([[(c in right) - (c in left) for c in range(k)] for left, right in candidates])
    pool = RowPool(
        a,
        costs.held_out_values(
            candidates, lambda share: report(0.3 * share, f"{count} candidate rows")
        ),
        costs,
    )
    part = (
        np.concatenate([np.arange(np.count_nonzero(pool.y == c)) % PARTS for c in range(k)])
        if groups is None
        else stratified_folds(pool.y, seed, PARTS, costs.groups)
    )
    some = [np.arange(len(part)), *(np.flatnonzero(part != other) for other in range(PARTS))]
    most = min(count, max(len(start), k) + _MORE * k)
    walks = []
    shares, lock = [0.0] * len(some), threading.Lock()

    def report_walk(number, share):
        with lock:
            shares[number] = max(shares[number], share)
            report(0.3 + 0.5 * sum(shares) / len(some), "choosing rows")

    for number, walk in run_tasks(
        lambda number: _FloatingSelection(pool, some[number]).run(
            range(len(start)), requested, most, partial(report_walk, number)
        ),
        range(len(some)),
        workers,
    ):
        walks.append(walk)
        report_walk(number, 1.0)
    curve, judged = _curve(walks, part, candidates, labels)
    size = requested or _fewest(curve, judged, pool)
    before, codes = [walk.at(size) for walk in walks], []
    for _, changed in run_tasks(lambda walk: walk.exchanged(size), walks, workers):
        codes.append(changed)
        report(0.8 + 0.2 * len(codes) / len(some), "exchanging rows")
    point, _ = _point(walks, before, part)
    other, _ = _point(
        walks, codes, part, **_changes(before[0].rows, codes[0].rows, candidates, labels)
    )
    if other.added and other.judged < point.judged:  # of few points, what they gain is noise
        point = other
    else:
        codes = before
    chosen_map, point_losses = walks[0].mapped(codes[0])
    return ChosenCode(
        from_rows([candidates[row] for row in codes[0].rows], labels, names),
        point,
        pool.mean(point_losses)[1],
        curve,
        chosen_map,
        count,
        costs.options,
    )


def _start_rows(tree, labels, names):
    if tree is None:
        return []
    rows, classes = matrix_of(to_code(tree))
    if list(classes) != list(labels):
        other = sorted(set(classes) ^ set(labels))[0]
        raise DataError(
            f"{'has' if other in classes else 'lacks'} class {other}, unlike the data: "
            "expected a configuration of the same classes",
            file=tree.source,
        )
    named_as(tree, dict(names or {}))  # refused where they disagree
    return [(left, right) if left[0] < right[0] else (right, left) for left, right in rows]


def _point(walks, codes, part, **changes):
    """The `CurvePoint` of codes of some walks, the first of all points, and losses (n,) by
    others."""
    pool = walks[0].pool
    mapped = [walk.mapped(code)[1] for walk, code in zip(walks, codes)]
    judged = np.array(mapped[1:])[part, np.arange(len(part))]
    wrong = pool.mean(codes[0].p.argmax(axis=1) != pool.y)[0]
    return CurvePoint(
        len(codes[0].rows), pool.mean(mapped[0])[0], wrong, *pool.mean(judged), **changes
    ), judged


def _changes(before, after, rows, labels):
    """The rows that came and went from one code to another: `added` and `dropped`."""
    return {
        word: tuple(
            tuple(tuple(labels[c] for c in side) for side in rows[row])
            for row in sorted(set(some).difference(others))
        )
        for word, some, others in (("added", after, before), ("dropped", before, after))
    }


def _curve(walks, part, rows, labels):
    curve, judged = [], []
    before: tuple[int, ...] = ()
    for size, code in sorted(walks[0].best.items()):
        point, others = _point(
            walks,
            [walk.at(size) for walk in walks],
            part,
            **_changes(before, code.rows, rows, labels),
        )
        curve.append(point)
        judged.append(others)
        before = code.rows
    return tuple(curve), judged


def _fewest(curve, judged, pool):
    """The least number of rows whose judged loss is within a standard error of the least."""
    least = judged[min(range(len(curve)), key=lambda at: curve[at].judged)]
    differences = [pool.mean(losses - least) for losses in judged]
    return next(
        point.rows for point, (difference, error) in zip(curve, differences) if difference <= error
    )
