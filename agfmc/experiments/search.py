"""The search for the parameters of a learner: a coarse grid, then smaller and smaller steps.

Which they are its row in `LEARNERS` says: a kernel's parameters and C, C alone, the number of
neighbours, the learning rate and leaves of trees.  The learner `nystrom` has no C, and chooses what
stands for it itself.  A `Point` stands for training options.  First come all points of the grids.
From then on, for each kernel, the neighbours of its best point at the current step, as long as one
of them is better; then half the step.  A best point on the border of its grid has neighbours beyond
it, so the grid grows where that is of use, and not elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..control.learners import COST, GAMMA, LEARNERS, Parameter, PARAMETERS
from ..core.errors import UsageError
from ..core.kernels import KERNEL_NAMES, kernel_word, KERNELS, SEARCHED_KERNELS, TUNED_KERNELS
from ..core.text import numeral
from ..learners.protocol import learner_class, parse_options

BEYOND = 3  # coarse steps that a search may go beyond its grid, on either side
_KERNEL_LETTERS = ("-t", "-d", "-g", "-r")
_IDLE = ("-b", "-q")  # accepted, and without effect
_FLAGS = ("-q", "-R")  # options without a value


class Point(NamedTuple):
    """A kernel, or None, its degree and coef0, 0 for all but polynomials, and the exponents of
    gamma, or the parameter `first` in its place, and of C, or the `parameter` in its place, None
    where there is none."""

    kernel: str | None
    degree: int
    coef0: float
    log2g: float | None
    log2c: float | None
    parameter: Parameter = COST
    first: Parameter = GAMMA

    def text(self, fixed: str = "") -> str:
        """Training options: those that the kernel needs, in one order, then the words `fixed`,
        but for a learner, which comes first."""
        if self.log2c is None:
            value = None
        else:
            value = power(self.log2c)
        if value is not None and self.parameter.whole:
            value = max(round(value), 1)
        return self.options_text(None if self.log2g is None else power(self.log2g), value, fixed)

    def options_text(self, gamma, value, fixed):
        """`text` with these values of gamma and of the parameter, None to leave one out."""
        if self.kernel is None:
            used = ()
        else:
            used = KERNELS[self.kernel].parameters
        if self.kernel in (None, "rbf"):
            words = []
        else:
            words = [f"-t {kernel_word(self.kernel)}"]
        if "degree" in used:
            words.append(f"-d {self.degree}")
        if (self.kernel is None or "gamma" in used) and gamma is not None:
            words.append(f"{self.first.letter} {number_text(gamma)}")
        if "coef0" in used and self.coef0:
            words.append(f"-r {number_text(self.coef0)}")
        if value is not None:
            words.append(f"{self.parameter.letter} {number_text(value)}")
        fixed = fixed.split()
        if fixed and fixed[0].startswith("learner="):
            learner = fixed[:1]
        else:
            learner = []
        return " ".join([*learner, *words, *fixed[len(learner) :]])


def power(exponent: float) -> float:
    """2^exponent; to three digits where the exponent is no whole number, for people to read."""
    value = 2.0**exponent
    if float(exponent).is_integer():
        return value
    return float(f"{value:.3g}")


def number_text(value: float) -> str:
    """The shortest text that is exactly this number."""
    if isinstance(value, int):
        return str(value)
    return repr(float(value)).removesuffix(".0")


@dataclass(frozen=True)
class SearchedOptions:
    """The options that a search begins with, of a binary classifier or, with the letter `code` of
    its learner, of a multi-class node; `UsageError` where there is nothing to search."""

    text: str
    code: str | None = None

    def __post_init__(self):
        if not self.parameters:
            raise UsageError(
                f"there is nothing to tune: {self.learner} "
                f"({LEARNERS[self._name].title}) has no parameter to search"
            )
        if getattr(self.options, "svm_type", "") == "nu_svc":
            raise UsageError("-s 1: a nu-SVC has no C to search: leave it out of the options")

    @cached_property
    def options(self) -> Any:
        """An instance of the learner's class; checks the options."""
        if self.code is None:
            return parse_options(self.text)
        return learner_class(self.code).parse(self.text)

    @property
    def _name(self):
        first = self.code or "".join(self.text.split()[:1]).removeprefix("learner=")
        if first in LEARNERS:
            return first
        return "svm"

    @property
    def learner(self) -> str:
        """The learner, as a control file chooses it."""
        return self.code or f"learner={self._name}"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the learner that are searched."""
        if self.options:
            return LEARNERS[self._name].searched
        return ()

    @property
    def fixed(self) -> str:
        """The words that no search touches and that change anything."""
        searched = {parameter.letter for parameter in self.parameters}
        if "-g" in searched:
            searched.update(_KERNEL_LETTERS)
        words = [word for word in self.text.split() if word != "learner=svm"]
        if words and words[0].startswith("learner="):
            fixed = [words.pop(0)]
        else:
            fixed = []
        while words:
            word = words.pop(0)
            if word in _FLAGS:
                value = []
            else:
                value = [words.pop(0)]
            if word not in searched and word not in _IDLE:
                fixed += [word, *value]
        return " ".join(fixed)

    @property
    def given(self) -> str:
        """The options written as those of a `Point` are, with C always among them if there is
        one."""
        point = self.point(1)
        options = self.options
        return point.options_text(
            getattr(options, point.first.field, None),
            None if point.log2c is None else getattr(options, point.parameter.field),
            self.fixed,
        )

    def point(self, features: int) -> Point:
        """The `Point` that the options are, for data with that many features."""
        options = self.options
        first = self.parameters[0]
        last = self.parameters[-1]
        if first is GAMMA:
            kernel = options.kernel
        else:
            kernel = None
        if kernel is None:
            used = ()
        else:
            used = KERNELS[kernel].parameters
        if kernel is None and first is not last:
            return Point(
                None,
                0,
                0.0,
                *(math.log2(getattr(options, one.field)) for one in (first, last)),
                last,
                first,
            )
        return Point(
            kernel,
            options.degree if "degree" in used else 0,
            options.coef0 if "coef0" in used else 0.0,
            math.log2(options.gamma or 1.0 / features) if "gamma" in used else None,
            None if last.letter == "-g" else math.log2(getattr(options, last.field)),
            COST if last.letter == "-g" else last,
        )


class Axis(NamedTuple):
    """A range of exponents of 2 that a search tries.

    Parameters
    ----------
    low, high : float
        First and last exponent of the first grid.
    step : float
        Distance of neighbouring exponents.
    least, most : float, default=-inf, inf
        Bounds that a search that extends the grid never passes.
    """

    low: float
    high: float
    step: float
    least: float = -math.inf
    most: float = math.inf

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
        return (
            max(round(values[0] - BEYOND * self.step, 9), self.least),
            min(round(values[-1] + BEYOND * self.step, 9), self.most),
        )

    def around(self, value, share):
        """`value` and its neighbours at that share of a step, as far as the limits allow."""
        low, high = self.limits
        moved = (round(value + move * share * self.step, 9) for move in (-1, 0, 1))
        return [exponent for exponent in moved if low <= exponent <= high]

    def moved(self, by):
        """The axis with all exponents larger by `by`."""
        return self._replace(low=self.low + by, high=self.high + by)


class Grid(NamedTuple):
    """The points of one kernel: as of a `Point`, with `Axis` c of its log2c and g of its gamma, or
    the one exponent of a gamma that is not searched, None where there is none."""

    kernel: str | None
    degree: int
    coef0: float
    c: Axis | None
    g: Axis | float | None
    parameter: Parameter = COST
    first: Parameter = GAMMA

    @property
    def points(self):
        """Gamma from the middle of its axis outwards, C ascending: cheap and likely ones first."""
        gammas = [self.g]
        if isinstance(self.g, Axis):
            values = self.g.values
            middle = (values[0] + values[-1]) / 2
            gammas = sorted(values, key=lambda value: (abs(value - middle), value))
        return [
            Point(self.kernel, self.degree, self.coef0, gamma, c, self.parameter, self.first)
            for gamma in gammas
            for c in (self.c.values if self.c else [None])
        ]

    def neighbours(self, point, share):
        """Points around `point`, at `share` of the grid's steps and within its limits."""
        if isinstance(self.g, Axis):
            gammas = self.g.around(point.log2g, share)
        else:
            gammas = [point.log2g]
        return [
            point._replace(log2g=gamma, log2c=c)
            for gamma in gammas
            for c in (self.c.around(point.log2c, share) if self.c else [None])
        ]


_GAMMA_POLYNOMIAL = Axis(-2.0, 2.0, 2.0)  # about the exponent of `scale_exponent`
# of kernels whose probabilities depend less on either, so that few points find the best
_COARSE = {"log2g": Axis(-2.0, 2.0, 2.0), "log2c": Axis(1.0, 7.0, 3.0)}


def scale_exponent(x: np.ndarray, kernel: str = "rbf") -> float:
    """The whole number nearest to log2(1 / sum of the variances of the features of x (n, d)).

    2 to it is a gamma for which points at their typical distance have a kernel value of about
    exp(-2). For kernels of another distance it is that of two points whose features differ by
    their deviations.
    """
    from scipy.spatial.distance import cdist

    deviations = np.sqrt(np.var(x, axis=0))[None]
    total = float(cdist(0 * deviations, deviations, KERNELS[kernel].distance)[0, 0])
    if 0.0 < total < math.inf:
        return float(round(-math.log2(total)))
    return 0.0


class SearchSpace(NamedTuple):
    """The options that a search tries.

    Parameters
    ----------
    kernels : tuple of str, default=None
        Names of kernels; None: the kernel of the options or, where these name none,
        `SEARCHED_KERNELS`.
    degrees : range, default=range(1, 7)
        Degrees of polynomial kernels.
    coefficients : tuple of float, default=(0.0, 1.0)
        Values of coef0 of polynomial kernels.
    log2c, log2g : Axis, default=None
        Exponents of the penalty C and of gamma; None: a range that suits the data.
    refine : int, default=None
        How often the step of the grids is halved, at most; None: as often as suits the search.
    others : mapping, default={}
        The `Axis` of further parameters, by their names in `PARAMETERS`.
    searched : tuple of Parameter
        The parameters of the learner.
    """

    kernels: tuple | None = None
    degrees: range = range(1, 7)
    coefficients: tuple = (0.0, 1.0)
    log2c: Axis | None = None
    log2g: Axis | None = None
    refine: int | None = None
    others: Mapping = MappingProxyType({})
    searched: tuple[Parameter, ...] = LEARNERS["svm"].searched

    def for_options(self, options: SearchedOptions) -> SearchSpace:
        """The space for the learner and, where none are named, the kernel of these options.

        Raises `UsageError` for kernels and axes of what it does not search, and for an empty axis.
        """
        known = {row.column for row in options.parameters}
        kernels = self.kernels
        if kernels is not None and "log2g" not in known:
            raise UsageError(f"space: {options.learner} has no kernel to search")
        if kernels is None and "log2g" in known:
            if "-t" in options.text.split():
                kernels = (options.options.kernel,)
            else:
                kernels = SEARCHED_KERNELS
            if kernels[0] not in TUNED_KERNELS:
                raise UsageError(
                    f"the {kernels[0]} kernel (-t {kernel_word(kernels[0])}) "
                    "cannot be searched: choose others for the space, as in "
                    f"kernel={','.join(TUNED_KERNELS)}"
                )
        for column, axis in self._axes.items():
            if axis is None:
                continue
            row = PARAMETERS[column]
            if column not in known:
                raise UsageError(f"space: {options.learner} has no {row.word} to search")
            if not axis.values:
                raise UsageError(
                    f"space: {row.word}: there is no value from {axis.low:g} to "
                    f"{axis.high:g} in steps of {axis.step:g}"
                )
            if row.whole and axis.low < row.least:
                raise UsageError(
                    f"space: {row.word} is a whole number: "
                    f"expected exponents from {row.least:g} on, found {axis.low:g}"
                )
            if axis.values[-1] > row.most:
                raise UsageError(
                    f"space: {row.word}: expected exponents up to {row.most:g}, found {axis.values[-1]:g}"
                )
        return self._replace(searched=options.parameters, kernels=kernels)

    @property
    def _axes(self):
        return {"log2c": self.log2c, "log2g": self.log2g, **self.others}

    def _axis(self, parameter, scale):
        given = self._axes.get(parameter.column)
        axis = given or Axis(parameter.low, parameter.high, parameter.step).moved(
            parameter.scaled * scale
        )
        return axis._replace(
            least=max(axis.least, parameter.least), most=min(axis.most, parameter.most)
        )

    def grids(self, scale: float, scales: Mapping[str, float] = MappingProxyType({})) -> list[Grid]:
        """The `Grid`s for `scale`, that of `scale_exponent`, and {kernel: another exponent}.

        Where coef0 is 0, gamma is only another factor of C, and is not searched; all polynomials of
        degree 1 are one, and that is the linear kernel if it is searched.
        """
        axes = {row.letter: self._axis(row, scale) for row in self.searched}
        gamma = axes.pop("-g", None)
        *others, parameter = [row for row in self.searched if row.letter in axes] or [COST]
        c = axes.get(parameter.letter)
        if gamma is None:
            return [
                Grid(None, 0, 0.0, c, *(axes[row.letter] for row in others), parameter, *others)
                if others
                else Grid(None, 0, 0.0, c, None, parameter)
            ]
        grids = []
        for kernel in ("rbf",) if self.kernels is None else self.kernels:
            used = KERNELS[kernel].parameters
            if "gamma" not in used:
                # kernel values are larger by as much as C is smaller
                grids.append(Grid(kernel, 0, 0.0, self.log2c or c and c.moved(scale), None))
            elif kernel == "rbf":
                grids.append(Grid("rbf", 0, 0.0, c, gamma))
            elif "degree" not in used:
                grids.append(
                    Grid(
                        kernel,
                        0,
                        0.0,
                        c and (self.log2c or _COARSE["log2c"]),
                        self.log2g or _COARSE["log2g"].moved(scales.get(kernel, scale)),
                    )
                )
            else:
                grids += [
                    Grid(
                        kernel,
                        degree,
                        coef0,
                        c,
                        scale
                        if coef0 == 0 or degree == 1
                        else self.log2g or _GAMMA_POLYNOMIAL.moved(scale),
                    )
                    for degree in self.degrees
                    if degree != 1 or "linear" not in self.kernels
                    for coef0 in self.coefficients[: 1 if degree == 1 else None]
                ]
        if not grids:
            raise UsageError(
                "there is no point to try: no kernel, or no degree or -r of a polynomial"
            )
        return grids


_LARGEST = 60  # exponent of 2: C and gamma beyond it are no options of anything
STEP = 2.0  # of exponents, where none is given
MOST = 101  # values of a grid
DEGREE = 100  # the largest


def read_space(text: str, refine: int | None = None) -> SearchSpace:
    """The space of a text such as `C=-5:15:2 gamma=-10 degree=1:6 coef0=0,1 kernel=rbf,linear`.

    Parameters of learners have exponents of 2, LO:HI[:STEP] or a single one.  The last of equal
    names counts.  Raises `UsageError`.
    """
    columns = {row.word: column for column, row in reversed(PARAMETERS.items())}
    readers = {
        **dict.fromkeys(columns, _read_axis),
        "degree": _read_degrees,
        "coef0": _read_coefficients,
        "kernel": _read_kernels,
    }
    values: dict[str, Any] = {}
    for word in text.split():
        name, _, value = word.partition("=")
        if name not in readers:
            raise UsageError(
                f"space: expected NAME=VALUES, a name of {', '.join(readers)}, found '{word}'"
            )
        try:
            values[name] = readers[name](value)
        except ValueError as error:
            raise UsageError(f"space: {name}: expected {error}, found '{value}'") from None
    fields = {"degree": "degrees", "coef0": "coefficients", "kernel": "kernels"}
    space = {fields[name]: values.pop(name) for name in fields if name in values}
    axes = {columns[name]: axis for name, axis in values.items()}
    return SearchSpace(
        log2c=axes.pop("log2c", None),
        log2g=axes.pop("log2g", None),
        refine=refine,
        others=axes,
        **space,
    )


def _read_numbers(text, separator, expected, whole=False):
    try:
        return [numeral(word, whole) for word in text.split(separator)]
    except ValueError:
        raise ValueError(expected) from None


def _read_axis(text):
    expected = (
        f"exponents of 2 from -{_LARGEST} to {_LARGEST}, LO:HI[:STEP] with {MOST} values at most "
        f"and a step ({STEP:g} if left out) not above HI - LO, or a single one"
    )
    numbers = _read_numbers(text, ":", expected)
    if len(numbers) == 1:
        numbers *= 2
    if len(numbers) == 2:
        numbers.append(STEP)
    low, high, step = numbers[:3]
    in_range = -_LARGEST <= low <= high <= _LARGEST and step > 0
    fits = low == high or step <= high - low < MOST * step
    if len(numbers) > 3 or not in_range or not fits:
        raise ValueError(expected)
    return Axis(low, high, step)


def _read_degrees(text):
    expected = f"whole numbers from 1 to {DEGREE}, LO:HI or a single one"
    numbers = _read_numbers(text, ":", expected, True)
    if len(numbers) > 2 or not 1 <= numbers[0] <= numbers[-1] <= DEGREE:
        raise ValueError(expected)
    return range(numbers[0], numbers[-1] + 1)


def _read_coefficients(text):
    numbers = _read_numbers(text, ",", "numbers")
    if not all(map(math.isfinite, numbers)):
        raise ValueError("numbers")
    return tuple(dict.fromkeys(numbers))


def _read_kernels(text):
    kernels = tuple(KERNEL_NAMES.get(word.lower(), word) for word in text.split(","))
    if not set(kernels) <= set(TUNED_KERNELS):
        raise ValueError(", ".join(TUNED_KERNELS))
    return tuple(dict.fromkeys(kernels))


class Search:
    """A search over `Grid`s: it says which points are next, and takes their scores.

    On equal scores the point of an earlier grid is preferred, then smaller C, then smaller gamma.

    Parameters
    ----------
    refine : int, how often the step is halved, at most
    start : optional, points in place of the grids, whose steps were taken already where it is to
        halve them
    is_flat : function of the best point and its neighbours, whether smaller steps are useless
    is_behind : function of the best point of a kernel, whether the search drops that kernel
    """

    def __init__(
        self,
        grids,
        refine=2,
        sign=1,
        start=None,
        is_flat=lambda points: False,
        is_behind=lambda point: False,
    ):
        self._grids = {grid[:3]: (number, grid) for number, grid in enumerate(grids)}
        self._coarse = start or [point for grid in grids for point in grid.points]
        self._sign = sign
        self._is_race = start is not None
        self._is_flat, self._is_behind = is_flat, is_behind
        halved = self._is_race and refine > 0
        self._share = 0.5 if halved else 1.0
        self._halvings = refine - halved
        self.scores = {}  # {point: score, or None where it could not be trained}

    def next_points(self) -> list[Point]:
        """The points to score next; [] at the end."""
        coarse = [point for point in self._coarse if point not in self.scores]
        if coarse:
            return coarse
        best = {}  # of each kernel, the best kernel first
        for point in self.ranked:
            best.setdefault(point.kernel, point)
        leaders = [point for point in best.values() if not self._is_behind(point)]
        if self._is_race and self._share < 1.0:
            # in a race, the other kernels stand or fall with the points that came through
            leaders = leaders[:1]
        while True:
            around = {
                leader: self._grids[leader[:3]][1].neighbours(leader, self._share)
                for leader in leaders
            }
            missing = [
                point for points in around.values() for point in points if point not in self.scores
            ]
            if missing or not leaders or not self._halvings:
                return missing
            if all(
                self._is_flat(
                    [
                        leader,
                        *(
                            point
                            for point in points
                            if point != leader and self.scores[point] is not None
                        ),
                    ]
                )
                for leader, points in around.items()
            ):
                return []
            self._share /= 2
            self._halvings -= 1

    def record(self, point: Point, score: float | None) -> None:
        """Keep the score of a point, None where it could not be trained."""
        self.scores[point] = score

    @property
    def expected(self):
        """About how many points there will be."""
        kernels = len({kernel for kernel, _, _ in self._grids})
        return max(len(self.scores), len(self._coarse)) + (8 * self._halvings + 4) * kernels

    def preference(self, point):
        """A key that is least for the point that is preferred where scores are equal."""
        return self._grids[point[:3]][0], point.log2c or 0.0, point.log2g or 0.0

    @property
    def ranked(self):
        """All points that have a score, the best first."""
        return sorted(
            (point for point, score in self.scores.items() if score is not None),
            key=lambda point: (-self._sign * self.scores[point], *self.preference(point)),
        )

    @property
    def best(self):
        """The best point so far, or None."""
        return next(iter(self.ranked), None)

    def border(self, best):
        """(name of a parameter, "low" or "high") of each limit that a point lies on, where no other
        point off it is as good and values are beyond."""
        grid = self._grids[best[:3]][1]
        borders = []
        for name, field, axis in (
            (grid.parameter.name, "log2c", grid.c),
            (grid.first.name, "log2g", grid.g),
        ):
            if not isinstance(axis, Axis) or axis.low == axis.high:
                continue
            for side, limit in zip(("low", "high"), axis.limits):
                if getattr(best, field) == limit not in (axis.least, axis.most) and not any(
                    score == self.scores.get(best) and getattr(point, field) != limit
                    for point, score in self.scores.items()
                    if point[:3] == best[:3]
                ):
                    borders.append((name, side))
        return borders
