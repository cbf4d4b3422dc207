"""The search for a kernel, its parameters and C: a coarse grid, then smaller and smaller steps.

The learner `nystrom` has no C, and chooses what stands for it itself.  A `Point` stands for
training options.  First come all points of the grids.  From then on, for each kernel, the
neighbours of its best point at the current step, as long as one of them is better; then half the
step.  A best point on the border of its grid has neighbours beyond it, so the grid grows where
that is of use, and not elsewhere.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..errors import UsageError
from ..learners.protocol import parse_options
from ..models import KERNELS

__all__ = ["Axis", "BEYOND", "Grid", "Point", "Search", "SearchSpace", "fixed_words", "given_text",
           "number_text", "power", "scale_exponent"]

BEYOND = 3  # coarse steps that a search may go beyond its grid, on either side
_SEARCHED = ("-t", "-d", "-g", "-r", "-c")
_IDLE = ("-b", "-q")  # accepted, and without effect


class Point(NamedTuple):
    """A kernel, its parameters and C: log2g is None for a linear kernel, log2c for a learner
    without C, and degree and coef0 are 0 for all but polynomials."""

    kernel: str
    degree: int
    coef0: float
    log2g: float | None
    log2c: float | None

    def text(self, fixed: str = "") -> str:
        """Training options: those that the kernel needs, in one order, then the words `fixed`,
        but for a learner, which comes first."""
        return _options_text(self, None if self.log2g is None else power(self.log2g),
                             None if self.log2c is None else power(self.log2c), fixed)


def _options_text(options, gamma, cost, fixed):
    """Training options; options: has kernel, degree, coef0;  gamma, cost: None to leave it out."""
    used = KERNELS[options.kernel].parameters
    fixed = fixed.split()
    first = [fixed.pop(0)] if fixed and fixed[0].startswith("learner=") else []
    words = [] if options.kernel == "rbf" else [f"-t {KERNELS[options.kernel].number}"]
    if "degree" in used:
        words.append(f"-d {options.degree}")
    if "gamma" in used and gamma is not None:
        words.append(f"-g {number_text(gamma)}")
    if "coef0" in used and options.coef0:
        words.append(f"-r {number_text(options.coef0)}")
    if cost is not None:
        words.append(f"-c {number_text(cost)}")
    return " ".join([*first, *words, *fixed])


def power(exponent: float) -> float:
    """2^exponent; to three digits where the exponent is no whole number, for people to read."""
    value = 2.0 ** exponent
    return value if float(exponent).is_integer() else float(f"{value:.3g}")


def number_text(value: float) -> str:
    """The shortest text that is exactly this number."""
    return repr(float(value)).removesuffix(".0")


def fixed_words(base: str) -> str:
    """The words of the options `base` that no search touches and that change anything.

    Raises `UsageError` for options that the learner does not know, for a learner without a kernel
    and for a nu-SVC.
    """
    options = parse_options(base)
    if options.own_vectors:
        raise UsageError("the search is for the options of the learners svm and nystrom: another "
                         "learner= is allowed in the rows of the control file, which keep it, but "
                         "not in the options to search")
    if options.svm_type != "c_svc":
        raise UsageError("-s 1: a nu-SVC has no C to search: leave it out of the options")
    words = [word for word in base.split() if word != "learner=svm"]
    fixed = [words.pop(0)] if words and words[0].startswith("learner=") else []
    while words:
        word = words.pop(0)
        value = [] if word == "-q" else [words.pop(0)]
        if word not in _SEARCHED + _IDLE:
            fixed += [word, *value]
    return " ".join(fixed)


def given_text(base: str) -> str:
    """The options `base` written as those of a `Point` are, with C always among them if there is
    one."""
    options = parse_options(base)
    return _options_text(options, options.gamma, getattr(options, "cost", None), fixed_words(base))


class Axis(NamedTuple):
    """Exponents of 2 from `low` to `high` in steps of `step`."""

    low: float
    high: float
    step: float

    @property
    def values(self):
        """All exponents, ascending."""
        count = int((self.high - self.low) / self.step + 1e-9) + 1
        return [round(self.low + self.step * i, 9) for i in range(count)]

    @property
    def limits(self):
        """The least and the largest exponent that a search may come to; a single value stays."""
        values = self.values
        if self.low == self.high:
            return values[0], values[0]
        return (round(values[0] - BEYOND * self.step, 9),
                round(values[-1] + BEYOND * self.step, 9))

    def around(self, value, share):
        """`value` and its neighbours at that share of a step, as far as the limits allow."""
        low, high = self.limits
        moved = (round(value + move * share * self.step, 9) for move in (-1, 0, 1))
        return [exponent for exponent in moved if low <= exponent <= high]

    def moved(self, by):
        """The axis with all exponents larger by `by`."""
        return Axis(self.low + by, self.high + by, self.step)


class Grid(NamedTuple):
    """The points of one kernel.

    degree, coef0: of a polynomial, else 0;  c: `Axis` of C, None where there is none;  g: `Axis`
    of gamma, or the one exponent of a gamma that is not searched, or None for a linear kernel.
    """

    kernel: str
    degree: int
    coef0: float
    c: Axis | None
    g: Axis | float | None

    @property
    def points(self):
        """Gamma from the middle of its axis outwards, C ascending: cheap and likely ones first."""
        gammas = [self.g]
        if isinstance(self.g, Axis):
            values = self.g.values
            middle = (values[0] + values[-1]) / 2
            gammas = sorted(values, key=lambda value: (abs(value - middle), value))
        return [Point(self.kernel, self.degree, self.coef0, gamma, c)
                for gamma in gammas for c in (self.c.values if self.c else [None])]

    def neighbours(self, point, share):
        """Points around `point`, at `share` of the grid's steps and within its limits."""
        gammas = self.g.around(point.log2g, share) if isinstance(self.g, Axis) \
            else [point.log2g]
        return [point._replace(log2g=gamma, log2c=c) for gamma in gammas
                for c in (self.c.around(point.log2c, share) if self.c else [None])]


_GAMMA = Axis(-4.0, 4.0, 2.0)  # about the exponent of `scale_exponent`
_GAMMA_POLYNOMIAL = Axis(-2.0, 2.0, 2.0)
_COST = Axis(-1.0, 9.0, 2.0)


def scale_exponent(x: np.ndarray) -> float:
    """The whole number nearest to log2(1 / sum of the variances of the features of x (n, d)).

    2 to it is a gamma for which points at their typical distance have a kernel
    value of exp(-2); for normalised features it is near 1/d.
    """
    total = float(np.var(x, axis=0).sum())
    return float(round(-math.log2(total))) if 0.0 < total < math.inf else 0.0


class SearchSpace(NamedTuple):
    """The kernels that are tried, the degrees and the coefficients -r of polynomials.

    log2c, log2g: `Axis`, or None for what suits the data;  refine: how often the step of the
    grids is halved;  has_cost: False for a learner without C.
    """

    kernels: tuple = ("rbf",)
    degrees: range = range(1, 7)
    coefficients: tuple = (0.0, 1.0)
    log2c: Axis | None = None
    log2g: Axis | None = None
    refine: int = 2
    has_cost: bool = True

    def grids(self, scale: float) -> list[Grid]:
        """The `Grid`s; scale: as `scale_exponent` gives it.

        Where coef0 is 0, gamma is only another factor of C, and is not searched; all
        polynomials of degree 1 are one, and that is the linear kernel if it is there.
        """
        grids = []
        for kernel in self.kernels:
            if kernel == "linear":
                # kernel values are larger by as much as C is smaller
                grids.append(Grid("linear", 0, 0.0, self.log2c or _COST.moved(scale), None))
            elif kernel == "rbf":
                grids.append(Grid("rbf", 0, 0.0, self.log2c or _COST,
                                  self.log2g or _GAMMA.moved(scale)))
            else:
                grids += self._polynomials(scale)
        return grids if self.has_cost else [grid._replace(c=None) for grid in grids]

    def _polynomials(self, scale):
        for degree in self.degrees:
            if degree == 1 and "linear" in self.kernels:
                continue
            for coef0 in self.coefficients[:1] if degree == 1 else self.coefficients:
                gamma = scale if coef0 == 0 or degree == 1 else \
                    self.log2g or _GAMMA_POLYNOMIAL.moved(scale)
                yield Grid("polynomial", degree, coef0, self.log2c or _COST, gamma)


class Search:
    """A search over `Grid`s: it says which points are next, and takes their scores.

    grids: on equal scores the point of an earlier grid is preferred, then smaller C, then
    smaller gamma;  refine: how often the step is halved;  sign: 1 where larger
    scores are better, else -1.
    """

    def __init__(self, grids, refine=2, sign=1):
        self._grids = {grid[:3]: (number, grid) for number, grid in enumerate(grids)}
        self._sign = sign
        self._share, self._halvings = 1.0, refine
        self.scores = {}  # {point: score, or None where it could not be trained}

    def next_points(self) -> list[Point]:
        """The points to score next; [] at the end."""
        coarse = [point for _, grid in self._grids.values() for point in grid.points
                  if point not in self.scores]
        if coarse:
            return coarse
        leaders = {}
        for point in self.ranked:
            leaders.setdefault(point.kernel, point)
        while True:
            missing = [point for leader in leaders.values() for point in
                       self._grids[leader[:3]][1].neighbours(leader, self._share)
                       if point not in self.scores]
            if missing or not leaders or not self._halvings:
                return missing
            self._share /= 2
            self._halvings -= 1

    def record(self, point: Point, score: float | None) -> None:
        """Keep the score of a point, None where it could not be trained."""
        self.scores[point] = score

    @property
    def expected(self):
        """About how many points there will be."""
        coarse = sum(len(grid.points) for _, grid in self._grids.values())
        kernels = len({kernel for kernel, _, _ in self._grids})
        return max(len(self.scores), coarse) + (8 * self._halvings + 4) * kernels

    def order(self, point):
        """A key that is least for the best point."""
        number = self._grids[point[:3]][0]
        return -self._sign * self.scores[point], number, point.log2c or 0.0, point.log2g or 0.0

    @property
    def ranked(self):
        """All points that have a score, the best first."""
        return sorted(self._scored, key=self.order)

    @property
    def best(self):
        """The best point so far, or None."""
        return min(self._scored, key=self.order, default=None)

    @property
    def _scored(self):
        return (point for point, score in self.scores.items() if score is not None)

    @property
    def border(self):
        """("C" or "gamma", "low" or "high") of each limit that the best point lies on.

        Not where another point that does not lie on it is as good.
        """
        best = self.best
        if best is None:
            return []
        grid = self._grids[best[:3]][1]
        borders = []
        for name, field, axis in (("C", "log2c", grid.c), ("gamma", "log2g", grid.g)):
            if not isinstance(axis, Axis) or axis.low == axis.high:
                continue
            for side, limit in zip(("low", "high"), axis.limits):
                if getattr(best, field) == limit and not any(
                        score == self.scores[best] and getattr(point, field) != limit
                        for point, score in self.scores.items() if point[:3] == best[:3]):
                    borders.append((name, side))
        return borders
