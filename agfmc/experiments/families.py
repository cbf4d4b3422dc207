"""The families of configurations that the search for the best one compares.

Each is scored with its default options before any of them is tuned.  To add one is to add a row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..control.build import named_as
from ..control.parse import parse
from ..core.errors import AgfmcNotice, UsageError, warn_user
from ..learners.protocol import learner_class, parse_options
from .candidates import Candidate, decoders_for, scheme_candidate, with_options
from .experiment import Experiment

MOST_PAIRED = 40  # classes of one-vs-one, which has a classifier for each two


class Family(NamedTuple):
    """A learner with a scheme, or one classifier of all classes.

    Attributes
    ----------
    name : in tables
    learner : the learner's name or, of one classifier of all classes, the letter of its node
    scheme : "" for one classifier of all classes
    kernel : name of the kernel, "" without one
    options : with which it begins, without the learner
    others : further options that are tried, the most promising first; a kernel's are searched
    seconds : function of rows, features and classes: about how many seconds of a core one training
        takes on a common machine of today, with the values that are held out
    stores_points : the time of the answer to a row grows like the training points
    """

    name: str
    learner: str
    scheme: str
    seconds: Callable[[int, int, int], float]
    stores_points: bool = False
    kernel: str = ""
    options: str = ""
    others: tuple[str, ...] = ()

    @property
    def first_options(self) -> str:
        """The options that it begins with, as a control file has them."""
        if not self.scheme:
            return self.options
        words = [self.options]
        if self.learner != "svm":
            words.insert(0, f"learner={self.learner}")
        if self.kernel:
            words.append(f"-t {self.kernel}")
        return " ".join(filter(None, words))

    def options_of(self, words: str) -> str:
        """The options with some of `others`."""
        if self.scheme:
            return f"learner={self.learner} {words}"
        return words

    def learner_of(self, options: str):
        """The learner with these options."""
        if self.scheme:
            return parse_options(options)
        return learner_class(self.learner).parse(options)

    def open_candidate(self, experiment: Experiment) -> Candidate:
        """The `Candidate` for all classes of the data, without options."""
        if self.scheme:
            scheme = scheme_candidate(self.scheme, seed=experiment.settings.seed)
            tree = experiment.design_of(scheme)[0].tree
        else:
            labels = " ".join(str(label) for label in experiment.data.counts)
            tree = named_as(parse(f'"" {self.learner} {{{labels}}}'), experiment.data.name_of)
        return Candidate(self.name, tree, None, (decoders_for(tree)[0].name,))

    def candidate(self, experiment: Experiment, options: str) -> Candidate:
        """The `Candidate` for all classes of the data, with options."""
        candidate = self.open_candidate(experiment)
        return replace(candidate, tree=with_options(candidate.tree, options))


def _boosting(boosters: int, scores: Callable[[int], float]):
    """Seconds of boosted trees: about 80 rounds, a tree for each score in each round."""

    def seconds(rows, features, classes):
        return boosters * 80 * scores(classes) * (2e-4 + 1e-8 * rows * features)

    return seconds


def _pairs(rows, features, classes):
    """Seconds of support vector machines, one for each pair of classes, by the square of its rows."""
    each = 2 * rows / classes
    return classes * (classes - 1) / 2 * (3e-3 + 2e-8 * each**2 * math.sqrt(features))


def _landmarks(rows, features, classes):
    """Seconds of least squares on landmarks: a factorisation, a pass over the rows, and values of
    all classes with several penalties."""
    landmarks = min(rows, 2000)
    return 3e-10 * landmarks**3 + rows * landmarks * (
        2e-10 * (landmarks + features) + 4e-9 * classes
    )


def _neighbours(rows, features, classes):
    """Seconds of the distances of all rows."""
    return 0.02 + 2e-9 * rows**2 * features + 1e-8 * rows * classes


def _logistic(rows, features, classes):
    """Seconds of multinomial logistic regression by Newton steps, with five folds."""
    numbers = features * classes
    # by conjugate gradients: 75 seconds of 5000 rows, 8 features and 1000 classes
    if numbers > 500:
        return 6 * 3e-7 * rows * numbers + 0.02
    return 6 * 10 * (2e-10 * rows * numbers**2 / classes + 1e-10 * numbers**3) + 0.02


_BOOSTED_OPTIONS = (
    "-x 1",
    "-r 0.05 -l 31 -m 10",
    "-l 7",
    "-m 1",
    "-x 1 -l 31",
    "-r 0.03 -l 15",
    "-m 20 -l 31 -r 0.05",
)

FAMILIES = (
    Family(
        "boosted trees of all classes",
        "T",
        "",
        _boosting(3, lambda classes: classes),
        others=_BOOSTED_OPTIONS,
    ),
    Family(
        "nearest neighbours",
        "K",
        "",
        _neighbours,
        True,
        options="-k 5",
        others=("-k 2", "-k 15", "-k 50"),
    ),
    Family(
        "logistic regression",
        "L",
        "",
        _logistic,
        options="-r 0.1",
        others=("-r 0.01", "-r 1", "-r 0.001", "-r 10"),
    ),
    Family("one-vs-one rbf", "svm", "one-vs-one", _pairs, True, "rbf"),
    Family("one-vs-one laplacian", "svm", "one-vs-one", _pairs, True, "laplacian"),
    Family("one-vs-rest landmarks rbf", "nystrom", "one-vs-rest", _landmarks, kernel="rbf"),
    Family(
        "one-vs-rest landmarks laplacian", "nystrom", "one-vs-rest", _landmarks, kernel="laplacian"
    ),
    Family(
        "one-vs-rest trees",
        "trees",
        "one-vs-rest",
        _boosting(5, lambda classes: classes),
        others=_BOOSTED_OPTIONS[:4],
    ),
    Family(
        "random trees of trees",
        "trees",
        "ensemble",
        _boosting(5, lambda classes: 10 * math.log2(max(classes, 2))),
        others=_BOOSTED_OPTIONS[:2],
    ),
)
LEARNERS = ("svm", "nystrom", "trees", "logistic", "neighbours")
KERNELS = ("rbf", "laplacian")
_WORDS = {"T": "trees", "L": "logistic", "K": "neighbours"}
_LARGE = 20_000  # rows; of more, time and memory of support vector machines are too large


def check_names(learners: Sequence[str] | None, kernels: Sequence[str] | None) -> None:
    """`UsageError` for a name that is not among the `LEARNERS` or `KERNELS`."""
    for what, words, known in (("learners", learners, LEARNERS), ("kernels", kernels, KERNELS)):
        for word in words or ():
            if word not in known:
                raise UsageError(f"`{what}`: expected some of {', '.join(known)}, found '{word}'")


def families_for(
    classes: int,
    rows: int,
    learners: Sequence[str] | None = None,
    kernels: Sequence[str] | None = None,
    has_nan: bool = False,
) -> list[Family]:
    """The `FAMILIES` that suit so many classes and rows.

    Parameters
    ----------
    learners, kernels : the only ones, of `LEARNERS` and `KERNELS`, or None for all that suit
    has_nan : points have missing values, which trees alone take

    Raises
    ------
    UsageError : for other names, and where nothing is left
    """
    check_names(learners, kernels)
    is_default = learners is None
    if is_default:
        learners = LEARNERS
        if rows > _LARGE:
            learners = [word for word in learners if word != "svm"]
        try:
            parse_options("learner=trees").made_by()
        except UsageError:
            learners = [word for word in learners if word != "trees"]
            warn_user(
                "boosted trees are not tried, because LightGBM is not installed "
                "(pip install 'agfmc[trees]')",
                AgfmcNotice,
            )
    suited = []
    for family in FAMILIES:
        if _WORDS.get(family.learner, family.learner) not in learners:
            continue
        if family.kernel and kernels and family.kernel not in kernels:
            continue
        if has_nan and not learner_class(family.learner).allows_nan:
            continue
        if family.scheme == "one-vs-one" and classes > MOST_PAIRED:
            continue
        # neighbours are quick where all else takes long, and hardly ever the best of few classes
        if family.learner == "K" and classes <= MOST_PAIRED and is_default:
            continue
        # of two classes there is one partition alone
        if classes == 2 and family.scheme == "ensemble":
            continue
        suited.append(family)
    if not suited:
        if has_nan:
            raise UsageError(
                "nothing suits these data: points with missing values are for trees, which need "
                "LightGBM (pip install 'agfmc[trees]')"
            )
        why = ""
        if classes > MOST_PAIRED and "svm" in learners:
            why = f": one-vs-one of svm is for at most {MOST_PAIRED} classes, found {classes}"
        raise UsageError(f"`learners={','.join(learners)}`: nothing suits these data{why}")
    return suited
