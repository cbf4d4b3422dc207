"""Points of a search: a kernel, its parameters and C, and the training options they are.

Where to look for the best point: a coarse grid, then smaller and smaller steps.

First all points of the grids.  From then on, for each kernel, the neighbours of its best
point at the current step, as long as one of them is better; then half the step.  A
best point on the border of its grid has neighbours beyond it, so the grid grows
where that is of use, and not elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

from ..errors import UsageError
from ..learners.protocol import parse_options
from ..models import KERNELS

__all__ = ["Axis", "BEYOND", "Grid", "Point", "Search", "fixed_words", "given_text", "number_text",
           "power"]

_SEARCHED = ("-t", "-d", "-g", "-r", "-c")
_IDLE = ("-b", "-q")  # accepted, and without effect


class Point(NamedTuple):
    """What is tried: log2g is None for a linear kernel, and degree and coef0 are 0 for all but
    polynomials."""

    kernel: str
    degree: int
    coef0: float
    log2g: float | None
    log2c: float

    def text(self, fixed=""):
        """Training options: those that the kernel needs, in one order, then the words `fixed`."""
        words = [] if self.kernel == "rbf" else [f"-t {KERNELS[self.kernel].number}"]
        if self.kernel == "polynomial":
            words.append(f"-d {self.degree}")
        if self.log2g is not None:
            words.append(f"-g {number_text(power(self.log2g))}")
        if self.coef0:
            words.append(f"-r {number_text(self.coef0)}")
        words.append(f"-c {number_text(power(self.log2c))}")
        return " ".join([*words, fixed] if fixed else words)


def power(exponent):
    """2^exponent; to three digits where the exponent is no whole number, for people to read."""
    value = 2.0 ** exponent
    return value if float(exponent).is_integer() else float(f"{value:.3g}")


def number_text(value):
    """The shortest text that is exactly this number."""
    return repr(float(value)).removesuffix(".0")


def fixed_words(base):
    """The words of the options `base` that no search touches and that change anything.

    Raises `UsageError` for options that LIBSVM does not know, for another learner and for a
    nu-SVC.
    """
    options = parse_options(base)
    if options.own_vectors:
        raise UsageError("the search is for LIBSVM's options: learner= may stand in the control "
                         "file, where it is left as it is, and not in those to be searched")
    if options.svm_type != "c_svc":
        raise UsageError("-s 1: a nu-SVC has no C to search: leave it out of the options")
    words = [word for word in base.split() if word != "learner=svm"]
    fixed = []
    while words:
        word = words.pop(0)
        value = [] if word == "-q" else [words.pop(0)]
        if word not in _SEARCHED + _IDLE:
            fixed += [word, *value]
    return " ".join(fixed)


def given_text(base):
    """The options `base` written as those of a `Point` are, with C always among them."""
    options = parse_options(base)
    words = [] if options.kernel == "rbf" else [f"-t {KERNELS[options.kernel].number}"]
    used = KERNELS[options.kernel].parameters
    if "degree" in used:
        words.append(f"-d {options.degree}")
    if "gamma" in used and options.gamma is not None:
        words.append(f"-g {number_text(options.gamma)}")
    if "coef0" in used and options.coef0:
        words.append(f"-r {number_text(options.coef0)}")
    words.append(f"-c {number_text(options.cost)}")
    fixed = fixed_words(base)
    return " ".join([*words, fixed] if fixed else words)


BEYOND = 3  # coarse steps that a search may go beyond its grid, on either side


class Axis(NamedTuple):
    """Exponents of 2 from `low` to `high` in steps of `step`."""

    low: float
    high: float
    step: float

    @property
    def values(self):
        """All of them, ascending."""
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

    degree, coef0: of a polynomial, else 0;  c: `Axis` of C;  g: `Axis` of gamma, or
    the one exponent of a gamma that is not searched, or None for a linear kernel.
    """

    kernel: str
    degree: int
    coef0: float
    c: Axis
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
                for gamma in gammas for c in self.c.values]

    def neighbours(self, point, share):
        """Points around `point`, at `share` of the grid's steps and within its limits."""
        gammas = self.g.around(point.log2g, share) if isinstance(self.g, Axis) \
            else [point.log2g]
        return [point._replace(log2g=gamma, log2c=c) for gamma in gammas
                for c in self.c.around(point.log2c, share)]


class Search:
    """A search over `Grid`s that asks for points and is told their scores.

    grids: on equal scores the point of an earlier grid is preferred, then smaller C, then
    smaller gamma;  refine: how often the step is halved;  sign: 1 where larger
    scores are better, else -1.
    """

    def __init__(self, grids, refine=2, sign=1):
        self._grids = {grid[:3]: (number, grid) for number, grid in enumerate(grids)}
        self._sign = sign
        self._share, self._halvings = 1.0, refine
        self.scores = {}  # {point: score, or None where it could not be trained}

    def wanted(self):
        """The points to be scored and told before it is asked again; [] at the end."""
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

    def tell(self, point, score):
        """Note the score of a point."""
        self.scores[point] = score

    @property
    def expected(self):
        """About how many points there will be."""
        coarse = sum(len(grid.points) for _, grid in self._grids.values())
        kernels = len({kernel for kernel, _, _ in self._grids})
        return max(len(self.scores), coarse) + (8 * self._halvings + 4) * kernels

    def order(self, point):
        """What the best point has least of."""
        number = self._grids[point[:3]][0]
        gamma = 0.0 if point.log2g is None else point.log2g
        return -self._sign * self.scores[point], number, point.log2c, gamma

    @property
    def ranked(self):
        """All points that have a score, the best first."""
        return sorted((point for point, score in self.scores.items() if score is not None),
                      key=self.order)

    @property
    def best(self):
        """The best point so far, or None."""
        return min((point for point, score in self.scores.items() if score is not None),
                   key=self.order, default=None)

    @property
    def border(self):
        """("C" or "gamma", "low" or "high") of each limit that the best point lies on.

        Not where another point that does not lie on it is as good.
        """
        best = self.best
        if best is None:
            return []
        grid = self._grids[best[:3]][1]
        found = []
        for name, field, axis in (("C", "log2c", grid.c), ("gamma", "log2g", grid.g)):
            if not isinstance(axis, Axis) or axis.low == axis.high:
                continue
            for side, limit in zip(("low", "high"), axis.limits):
                if getattr(best, field) == limit and not any(
                        score == self.scores[best] and getattr(point, field) != limit
                        for point, score in self.scores.items() if point[:3] == best[:3]):
                    found.append((name, side))
        return found
