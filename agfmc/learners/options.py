"""Learners as records of their parameters, and the training options that say these in text.

A table of each learner, `letters`, has a row for each parameter: its letter in control files, its
name in Python, and its range.  Options are letters with values, and weights of the two sides.
"""

import copy
import math
from dataclasses import fields, replace
from typing import Any, ClassVar

import numpy as np

from ..core.errors import UsageError
from ..core.kernels import KERNEL_NAMES, kernel_word, KERNELS
from ..core.models import Kernel
from ..core.points import is_sparse
from ..core.splits import job_seed, of_rows, stratified_folds
from ..core.text import numeral
from .platt import folds_of


class _Learner:
    """The common part of most learners; see `protocol`.

    Attributes
    ----------
    letters : {letter: (parameter, smallest, largest, whole number, smallest excluded)}, parameter
        None where the value changes nothing; smallest of the kernel are the names that are allowed
    flags : letters without a value
    words : {letter: the word for a value of None}
    strange : {letter: words to be added where it is not known or has a value that cannot be}
    """

    letters: ClassVar[dict] = {}
    flags: ClassVar[tuple] = ()
    words: ClassVar[dict] = {}
    strange: ClassVar[dict] = {}
    stores_vectors = keeps_sparse = is_program = uses_shared_landmarks = streams = False
    uses_seed = allows_nan = holds_out = False
    no_loo = recognised_by = ""

    @classmethod
    def parse(cls, text, **place):
        """The learner with the options in `text`; `UsageError`, with the place given, for what is
        wrong."""
        return cls(**scan(cls, text, weighted=False, **place)[0])

    @classmethod
    def read_value(cls, letter, value, shown):
        """A value, or a word for it, of the parameter with that letter, in messages `shown`."""
        name, *limits = cls.letters[letter]
        if isinstance(value, str) and value == cls.words.get(letter):
            return None
        if name == "kernel":
            return _kernel(shown, value, limits[0])
        return check_number(shown, value, *limits)

    def changed(self, **values):
        """A copy with other values, also of what is no parameter, which `replace` would lose."""
        learner = copy.copy(self)
        vars(learner).update(values)
        return learner

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

    `name` is as in `learner=NAME`.  Its parameters are read and changed as scikit-learn does it;
    else it is frozen, and what trains has copies.
    """

    name = ""
    sides = 2
    svm_type = "c_svc"
    gives_probabilities = corrects_probabilities = False
    uses_distances = True  # or products of points: scales of features matter
    recognised_by = "seal"
    packing = "points"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.init}

    def set_params(self, **parameters):
        """Change parameters of the learner itself, which is returned; ValueError for a name that
        is none."""
        known = self.get_params()
        for name in parameters:
            if name not in known:
                raise ValueError(
                    f"{name} is not a parameter of learner='{self.name}': "
                    f"expected one of {', '.join(known)}"
                )
        vars(self).update(parameters)
        return self

    def __repr__(self):
        values = self.get_params().items()
        changed = [
            f"{name}={value!r}" for name, value in values if value != getattr(type(self), name)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def checked(self, x=None, scales=False, weights=None):
        """A copy whose values are as `parse` gives them, for points x (n, d), which are divided by
        their standard deviations in training if `scales`; `UsageError` for one that cannot be."""
        values = {}
        for letter, (name, *_) in self.letters.items():
            if name is None:
                continue
            value = getattr(self, name)
            may_be_none = letter in self.words or getattr(type(self), name) is None
            if value is not None or not may_be_none:
                values[name] = self.read_value(letter, value, f"`{name}`")
        if values.get("gamma") == 0:  # as of svm-train, 1 / (number of features)
            values["gamma"] = None
        try:
            given = dict(self.weights)
        except (TypeError, ValueError):
            raise UsageError(
                f"`weights`: expected pairs (side, factor), found {self.weights!r}"
            ) from None
        weights = {}
        for side, factor in given.items():
            side = check_number("`weights`: a side", side, 0, 1, True)
            weights[side] = check_number("`weights`: a factor", factor, 0, math.inf, False, True)
        return self.changed(**values, weights=tuple(sorted(weights.items())))

    def text(self) -> str:
        """Training options that `parse` reads as this learner, without those of default values."""
        words = [f"learner={self.name}"]
        for letter, (name, *_) in self.letters.items():
            if name is None or getattr(self, name) == getattr(type(self), name):
                continue
            words.append(letter)
            if letter not in self.flags:
                words.append(self._word(letter, getattr(self, name)))
        return " ".join(words + self.weight_words())

    def _word(self, letter, value):
        if value is None:
            return self.words[letter]
        if isinstance(value, str):
            return kernel_word(value)
        if isinstance(value, bool):
            return str(int(value))
        return repr(value)

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
        """The learner with the options in `text`, also -w0 and -w1."""
        values, weights = scan(cls, text, **place)
        try:
            return cls(weights=weights, **values).checked()
        except UsageError as error:
            message = error.message
            for letter, (name, *_) in cls.letters.items():
                message = message.replace(f"`{name}`", letter)
            raise UsageError(f"option {message}", **place) from None

    def canonical(self) -> str:
        """The settings that decide the result, in one fixed spelling."""
        return " ".join([f"learner={self.name}", super().canonical(), *self.weight_words()])

    def identity(self, job) -> tuple:
        """Library, options and seed."""
        return self.made_by(), self.canonical(), job.seed

    def weight_words(self) -> list[str]:
        """The options for the weights of the sides."""
        return [f"-w{side} {factor!r}" for side, factor in self.weights]


def _variance(x, w):
    """The variance of all values of x (n, d), whose rows have weights w (n,), or None."""
    if is_sparse(x):
        share = np.ones(len(x)) if w is None else w
        share = share / (share.sum() * x.shape[1])
        return float(share @ x.squared_lengths - (share @ x.csr.sum(axis=1)) ** 2)
    if w is None or np.ptp(w) == 0:
        return float(np.var(x, dtype=np.float64))
    share = w / (w.sum() * x.shape[1])
    mean = share @ x.sum(axis=1, dtype=np.float64)
    return float(share @ np.square(x - mean).sum(axis=1, dtype=np.float64))


class KernelLearner(BinaryLearner):
    """A learner of two sides with svm-train's letters of a kernel, -t -d -g -r.

    Their fields are kernel, degree, gamma, None for 1 / (number of features), and coef0.
    """

    @property
    def keeps_sparse(self) -> bool:
        """True if LIBSVM has the kernel: sparse points then stay sparse."""
        name = KERNEL_NAMES.get(self.kernel)
        return name is not None and KERNELS[name].in_libsvm

    def checked(self, x=None, scales=False, weights=None):
        """As of any learner; words for gamma become numbers."""
        if not isinstance(self.gamma, str):
            return super().checked()
        if self.gamma not in ("scale", "auto"):
            raise UsageError(f"`gamma`: expected 'scale', 'auto' or a number, found {self.gamma!r}")
        variance = 1.0
        if self.gamma == "scale":  # of scaled features each is 1, or 0 where they are constant
            if scales and is_sparse(x):
                variance = (x.csr.max(axis=0) - x.csr.min(axis=0)).count_nonzero() / x.shape[1]
            elif scales:
                variance = float(np.mean(np.ptp(x, axis=0) > 0))
            else:
                variance = _variance(x, weights)
        learner = self.changed(gamma=1.0 / (x.shape[1] * (variance or 1.0)))
        return super(KernelLearner, learner).checked()

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

    stores_vectors = keeps_sparse = True

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
        part = problem.samples
        p = self.classifier(model).probabilities(problem.x[rows])
        counts = np.bincount(part.side, minlength=len(job.sides))
        seed = job_seed(job.seed, job.labels, ())
        chosen = np.isin(part.rows, rows) & (counts[part.side] > 1)
        if problem.groups is None:
            fold = folds_of(part.side, np.flatnonzero(chosen), seed)
        else:
            fold = stratified_folds(part.side, seed, groups=problem.groups)
        folds = int(fold.max(initial=-1)) + 1
        for number in range(folds):
            if problem.progress is not None:
                problem.progress(number + 1, folds + 1)
            train = fold != number
            out = np.flatnonzero((fold == number) & chosen)
            fitted = self.fit(
                job,
                replace(
                    problem,
                    samples=replace(part, rows=part.rows[train], side=part.side[train]),
                    weights=of_rows(problem.weights, train),
                    groups=of_rows(problem.groups, train),
                ),
            )
            p[np.searchsorted(rows, part.rows[out])] = self.classifier(fitted).probabilities(
                problem.x[part.rows[out]]
            )
        return p


# Letters of libAGF's own trainer, class borders, and of svm-train that are not among them.
BORDERS = frozenset("-h -i -I -k -l -N -q -r -s -t -T -v -V -W".split())
LIBSVM = frozenset("-b -c -d -e -g -m -n -p -w".split())


def scan(learner, text, *, weighted=True, **place):
    """({parameter: value}, weights) of the options in `text`, by the `letters` of a learner's class.

    `weights` are ((side, factor), ...) of -w0 and -w1, sides ascending, which are known, and -q,
    which changes nothing, if `weighted`.  Raises `UsageError`, with the place given, for an option
    that is not known and for a value out of its range.
    """

    def fail(message):
        if option in learner.strange:
            message += f"; {learner.strange[option]}"
        return UsageError(message, **place)

    known = learner.letters
    values = {}
    weights = {}
    following = iter(text.split())
    for option in following:
        if weighted and option == "-q":
            continue
        if option in learner.flags:
            values[known[option][0]] = True
            continue
        if option not in known and not (weighted and option.startswith("-w")):
            raise fail(
                f"unknown training option '{option}': expected one of "
                + " ".join([*known] + ["-w0 -w1 -q"] * weighted)
            )
        word = next(following, None)
        if word is None:
            quoted = f': "{option} 1", in one pair of quotes' if len(text.split()) == 1 else ""
            raise fail(f"option {option}: expected a value after it{quoted}")
        try:
            if option in known:
                value = learner.read_value(option, word, f"option {option}")
                if known[option][0] is not None:
                    values[known[option][0]] = value
            elif option in ("-w0", "-w1"):
                weights[int(option[2:])] = check_number(
                    f"option {option}", word, 0, math.inf, False, True
                )
            else:
                raise UsageError(
                    f"option {option}: weights are for the sides of the partition, "
                    "-w0 (left) and -w1 (right)"
                )
        except UsageError as error:
            raise fail(error.message) from None
    return values, tuple(sorted(weights.items()))


def check_number(name, value, low, high, whole=False, open_low=False):
    """The number that a value, or a word, is; `UsageError` for what is none in this range."""
    try:
        if isinstance(value, str):
            number = numeral(value, whole)
        elif whole:
            number = int(value)
        else:
            number = float(value)
        if whole and not isinstance(value, str) and number != value:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        if whole:
            kind = "a whole number"
        else:
            kind = "a number"
        raise UsageError(f"{name}: expected {kind}, found {value!r}") from None
    if (
        not low <= number <= high
        or open_low
        and number == low
        or isinstance(number, float)
        and not math.isfinite(number)
    ):
        raise UsageError(f"{name}: {value} is out of range: expected {_range(low, high, open_low)}")
    return number


def _kernel(name, word, names):
    numbers = {str(KERNELS[kind].number): kind for kind in names}
    word = str(word)
    kind = numbers.get(word, KERNEL_NAMES.get(word.lower()))
    if kind not in names:
        raise UsageError(
            f"{name}: expected {', '.join(names)}, or a number, one of "
            f"{' '.join(numbers)}, found '{word}'"
        )
    return kind


def _range(low, high, open_low):
    if high == math.inf:
        if low == -math.inf:
            return "a finite number"
        if open_low:
            return f"more than {low}"
        return f"{low} or more"
    return f"{'more than ' if open_low else ''}{low} to {high:g}"
