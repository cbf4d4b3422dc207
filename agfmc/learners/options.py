"""Training options as words, and the common part of the options of all learners.

Options are letters with values in their ranges, and weights of the two sides.
"""

import math
from types import MappingProxyType
from typing import ClassVar

from ..core.errors import UsageError
from ..core.kernels import KERNEL_NAMES, kernel_word, KERNELS
from ..core.models import Kernel
from ..core.text import numeral


class _Learner:
    """The common part of most learners; see `protocol`.

    Attributes
    ----------
    letters : {option: (field, smallest, largest, whole number, smallest excluded)}, as `scan` takes
        them
    words : {option: the word for a value of None}
    strange : {option: words} for options of other learners
    """

    letters: ClassVar[dict] = {}
    words: ClassVar[dict] = {}
    strange: ClassVar[dict | None] = None
    stores_vectors = keeps_sparse = is_program = uses_shared_landmarks = streams = False
    uses_seed = allows_nan = stops_early = False
    no_loo = recognised_by = ""

    @classmethod
    def parse(cls, text, **place):
        """The options in `text`; `UsageError`, with the place given, for what is wrong."""
        return cls(**scan(text, cls.letters, weighted=False, strange=cls.strange, **place)[0])

    def canonical(self) -> str:
        """The settings that decide the result, in one fixed spelling."""
        return " ".join(
            f"{letter} {getattr(self, option[0])!r}" for letter, option in self.letters.items()
        )

    def made_by(self) -> str:
        """No library is needed."""
        return ""

    def stale_files(self, name: str) -> list[str]:
        """Files beside those of a model of that name that would be taken for its own: none."""
        return []

    def weighted(self):
        """The learner itself, which heeds weights of points."""
        return self

    def files(self, name: str) -> list[str]:
        return [name]


class BinaryLearner(_Learner):
    """A learner of two sides, with a field `weights`, ((side, factor), ...), of -w0 and -w1.

    `name` is as in `learner=NAME`.
    """

    name = ""
    sides = 2
    svm_type = "c_svc"
    gives_probabilities = corrects_probabilities = False
    recognised_by = "seal"
    packing = "points"

    @property
    def no_loo(self):
        """The reason why leave-one-out values have no formula here: LIBSVM's needs its C-SVC."""
        if self.gives_probabilities or self.uses_shared_landmarks:
            return ""
        return f"for LIBSVM's C-SVC only, not for learner={self.name}"

    def pack(self, x, rows=None):
        """The points as they are."""
        return x

    @classmethod
    def parse(cls, text, **place):
        """The options in `text`, also -w0 and -w1."""
        values, weights = scan(text, cls.letters, words=cls.words, strange=cls.strange, **place)
        return cls(weights=weights, **values)

    def canonical(self) -> str:
        """The settings that decide the result, in one fixed spelling."""
        return " ".join([f"learner={self.name}", super().canonical(), *self.weight_words()])

    @property
    def keeps_sparse(self) -> bool:
        """True if the kernel is linear: sparse points then stay sparse."""
        return self.kernel_for(1).kind == "linear"

    def identity(self, job) -> tuple:
        """Library, options and seed."""
        return self.made_by(), self.canonical(), job.seed

    def weight_words(self) -> list[str]:
        """The options for the weights of the sides."""
        return [f"-w{side} {factor!r}" for side, factor in self.weights]


class KernelLearner(BinaryLearner):
    """A learner of two sides with svm-train's letters of a kernel, -t -d -g -r.

    Their fields are kernel, degree, gamma, None for 1 / (number of features), and coef0.
    """

    def kernel_words(self) -> list[str]:
        """The letters of the kernel with the parameters that it uses, in one fixed spelling."""
        used = KERNELS[self.kernel].parameters
        words = [f"-t {kernel_word(self.kernel)}"]
        if "degree" in used:
            words.append(f"-d {self.degree}")
        if "gamma" in used:
            words.append("-g " + ("1/d" if self.gamma is None else repr(self.gamma)))
        if "coef0" in used:
            words.append(f"-r {self.coef0!r}")
        return words

    def kernel_for(self, features: int) -> Kernel:
        """The `Kernel` for data with that many features."""
        values = {
            "gamma": 1.0 / features if self.gamma is None else self.gamma,
            "coef0": self.coef0,
            "degree": self.degree,
        }
        return Kernel(
            self.kernel, **{name: values[name] for name in KERNELS[self.kernel].parameters}
        )


class PlaneLearner(BinaryLearner):
    """A learner of two sides whose models are planes, not made of points of the data."""

    stores_vectors = True

    def kernel_for(self, features: int) -> Kernel:
        """The linear `Kernel`."""
        return Kernel("linear")


class NodeLearner(_Learner):
    """A learner of as many sides as a node has branches."""

    sides = None
    stores_vectors = True

    def held_out_probabilities(self, job, problem, model, rows):
        """p (c, branches) of points in those rows (c,), ascending, by models trained without them.

        The `NodeModel` of a `NodeProblem` answers for points that are not among its samples; the
        others are held out in folds. None where neither is possible.
        """
        from dataclasses import replace

        import numpy as np

        from .platt import folds_of
        from ..core.splits import job_seed, stratified_folds

        part = problem.samples
        p = self.classifier(model).probabilities(problem.x[rows])
        counts = np.bincount(part.side, minlength=len(job.sides))
        seed = job_seed(job.seed, job.labels, ())
        chosen = np.isin(part.rows, rows) & (counts[part.side] > 1)
        if problem.groups is None:
            fold = folds_of(part.side, np.flatnonzero(chosen), seed)
        else:
            fold = stratified_folds(part.side, seed, groups=problem.groups)
        for number in range(int(fold.max(initial=-1)) + 1):
            train = fold != number
            out = np.flatnonzero((fold == number) & chosen)
            fitted = self.fit(
                job,
                replace(
                    problem, samples=replace(part, rows=part.rows[train], side=part.side[train])
                ),
            )
            p[np.searchsorted(rows, part.rows[out])] = self.classifier(fitted).probabilities(
                problem.x[part.rows[out]]
            )
        return p


# Letters of libAGF's own trainer, class borders, and of svm-train that are not among them.
BORDERS = frozenset("-h -i -I -k -l -N -q -r -s -t -T -v -V -W".split())
LIBSVM = frozenset("-b -c -d -e -g -m -n -p -w".split())


def scan(
    text, known, flags=(), *, weighted=True, words=MappingProxyType({}), strange=None, **place
):
    """({field: value}, weights) of the options in `text`.

    `weights` are ((side, factor), ...) of -w0 and -w1, sides ascending.

    Parameters
    ----------
    known : dict
        {option: (field, smallest, largest, whole number, smallest excluded)}, field None where the
        value changes nothing; smallest of the field kernel are the names that are allowed.
    flags : sequence, options without a value, which are their own field
    weighted : bool, -w0 and -w1 are known, and -q, which changes nothing
    words : mapping, {option: the word for a value of None}
    strange : dict, optional, {option: words} to be added where that option is not known or has a
        value that cannot be
    **place : place of the options in a file, for errors

    Raises
    ------
    UsageError : for an option that is not known and for a value out of its range
    """

    def fail(message):
        if strange and option in strange:
            message += f"; {strange[option]}"
        return UsageError(message, **place)

    def number(word, low, high, *, whole=False, open_low=False):
        try:
            value = numeral(word, whole)
        except ValueError:
            kind = "a whole number" if whole else "a number"
            raise fail(f"option {option}: expected {kind}, found '{word}'") from None
        if (
            not low <= value <= high
            or open_low
            and value == low
            or isinstance(value, float)
            and not math.isfinite(value)
        ):
            raise fail(
                f"option {option}: {word} is out of range: expected " + _range(low, high, open_low)
            )
        return value

    values = {}
    weights = {}
    following = iter(text.split())
    for option in following:
        if weighted and option == "-q":
            continue
        if option in flags:
            values[option] = True
            continue
        if option not in known and not (weighted and option.startswith("-w")):
            raise fail(
                f"unknown training option '{option}': expected one of "
                + " ".join([*known, *flags] + ["-w0 -w1 -q"] * weighted)
            )
        word = next(following, None)
        if word is None:
            quoted = f': "{option} 1", in one pair of quotes' if len(text.split()) == 1 else ""
            raise fail(f"option {option}: expected a value after it{quoted}")
        if word == words.get(option):
            values[known[option][0]] = None
        elif option in known:
            field, low, high, whole, open_low = known[option]
            value = (
                _kernel(word, low, fail)
                if field == "kernel"
                else number(word, low, high, whole=whole, open_low=open_low)
            )
            if field is not None:
                # a gamma of 0 is that of svm-train's default, 1 / (number of features)
                values[field] = None if field == "gamma" and value == 0 else value
        elif option in ("-w0", "-w1"):
            weights[int(option[2:])] = number(word, 0, math.inf, open_low=True)
        else:
            raise fail(
                f"option {option}: weights are for the sides of the partition, "
                "-w0 (left) and -w1 (right)"
            )
    return values, tuple(sorted(weights.items()))


def _kernel(word, names, fail):
    numbers = {str(KERNELS[name].number): name for name in names}
    name = numbers.get(word, KERNEL_NAMES.get(word.lower()))
    if name not in names:
        raise fail(
            f"option -t: expected {', '.join(names)}, or a number, one of "
            f"{' '.join(numbers)}, found '{word}'"
        )
    return name


def _range(low, high, open_low):
    if high == math.inf:
        if low == -math.inf:
            return "a finite number"
        if open_low:
            return f"more than {low}"
        return f"{low} or more"
    return f"{'more than ' if open_low else ''}{low} to {high:g}"
