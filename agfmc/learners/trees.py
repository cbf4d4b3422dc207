"""The learner `trees`: gradient boosted decision trees of LightGBM, one binary problem at a time.

Ke and others, "LightGBM: a highly efficient gradient boosting decision tree" (2017), with
thresholds drawn at random (Geurts, Ernst and Wehenkel, "Extremely randomized trees", 2006), which
makes single boosters better and the members of an ensemble different.  The number of rounds is
chosen by early stopping on a stratified fifth of the samples; the booster is then fitted to all
of them.  A model is a `Forest`, made of LightGBM's public description of its trees: neither
classification nor reading needs LightGBM.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..core.errors import DataError, needed_library, one_line
from ..core.forest import Forest
from ..core.splits import of_rows
from .options import PlaneLearner
from .platt import folds
from .points import Solution

_FEWEST = 20  # samples of the smaller side for early stopping; with fewer, _SHORT of the rounds
_SHORT = 0.1
_FEWEST_WORDS = 5  # LightGBM splits fewer one against the rest, as 0/1 features are split
_GROUP = 20  # samples of neighbouring words; LightGBM's 100 made one-vs-one worse


@dataclass(frozen=True, repr=False)
class Trees(PlaneLearner):
    """Gradient boosted trees of LightGBM as the learner of binary classifiers.

    Parameters
    ----------
    n_estimators : int, default=400
        Number of trees at most.
    learning_rate : float, default=0.1
        Factor of the contribution of each tree.
    num_leaves : int, default=31
        Leaves of a tree at most.
    min_child_samples : int, default=20
        Samples of a leaf at least.
    early_stopping_rounds : int, default=20
        Rounds without improvement after which training stops; 0: no early stopping.
    extra_trees : bool, default=True
        One random threshold for each feature and node, in place of the best one.
    weights : pairs or dict, default=()
        Factors of the weights of the sides, 0 left and 1 right: ((0, 2.0),).
    """

    n_estimators: int = 400
    learning_rate: float = 0.1
    num_leaves: int = 31
    min_child_samples: int = 20
    early_stopping_rounds: int = 20
    extra_trees: bool = True
    weights: Mapping[int, float] | tuple = ()
    seed: int = field(default=1, init=False)  # of all random choices

    name = svm_type = "trees"
    gives_probabilities = allows_nan = uses_seed = stops_early = True
    keeps_sparse = False
    letters: ClassVar[dict] = {
        "-n": ("n_estimators", 1, 100_000, True, False),
        "-r": ("learning_rate", 0, 1, False, True),
        "-l": ("num_leaves", 2, 4096, True, False),
        "-m": ("min_child_samples", 1, 10**9, True, False),
        "-e": ("early_stopping_rounds", 0, 100_000, True, False),
        "-x": ("extra_trees", 0, 1, True, False),
    }

    def seeded(self, seed: int) -> Trees:
        """These options with another seed."""
        return self.changed(seed=seed)

    def identity(self, job) -> tuple:
        """Library, options and seed."""
        return self.made_by(), self.canonical(), self.seed

    def made_by(self) -> str:
        """LightGBM and its version."""
        return f"lightgbm {_lightgbm().__version__}"

    def solve(self, packed, rows, side, w=None, groups=None) -> Solution:
        """The `Solution` of one booster, a `Forest` whose value is the log-odds of the right side.

        Of the points `packed`, NaN is a missing value; each of the `groups` (l,) stops the training
        early as a whole. Raises `DataError` if LightGBM refuses the problem.
        """
        x = np.asarray(packed[rows], dtype=np.float64)
        y = np.asarray(side, dtype=np.float64)
        for number, factor in self.weights:
            if w is None:
                w = np.ones(len(y))
            else:
                w = np.array(w)
            w[y == number] *= factor
        try:
            features, middle = _features(x)
            booster = self._boost(
                _with_categories(x, features, middle),
                y,
                w,
                groups,
                [at for at, words in enumerate(features) if len(words) > 1],
            )
            forest = _forest(booster.dump_model(), features, middle)
        except (ValueError, _lightgbm().basic.LightGBMError) as error:
            raise DataError(f"LightGBM refuses the problem: {one_line(str(error))}") from None
        return Solution.of_function(forest, x.shape[1])

    def _boost(self, x, y, w, groups=None, categories=()):
        """The booster of points x (l, d) with sides y (l,), weights w (l,), None for 1, and groups.

        Features `categories` are numbers of words.
        """
        lightgbm = _lightgbm()
        rounds = self.n_estimators
        settings = {
            "objective": "binary",
            "num_leaves": self.num_leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": self.min_child_samples,
            "min_data_per_group": _GROUP,
            "extra_trees": bool(self.extra_trees),
            "seed": self.seed,
            "num_threads": 1,
            "deterministic": True,
            "force_col_wise": True,
            "verbosity": -1,
        }
        if self.early_stopping_rounds and min(y.sum(), len(y) - y.sum()) >= _FEWEST:
            out = folds(y, self.seed, groups=groups) == 0
            train = lightgbm.Dataset(
                x[~out], y[~out], weight=of_rows(w, ~out), categorical_feature=categories
            )
            valid = train.create_valid(x[out], y[out], of_rows(w, out))
            booster = lightgbm.train(
                settings,
                train,
                rounds,
                [valid],
                callbacks=[lightgbm.early_stopping(self.early_stopping_rounds, verbose=False)],
            )
            rounds = max(1, booster.best_iteration)
        elif self.early_stopping_rounds:
            rounds = math.ceil(_SHORT * rounds)
        return lightgbm.train(
            settings, lightgbm.Dataset(x, y, weight=w, categorical_feature=categories), rounds
        )


@functools.lru_cache(maxsize=1)
def _lightgbm():
    with needed_library(
        "learner=trees needs LightGBM, which is not installed: pip install 'agfmc[trees]'"
    ):
        import lightgbm
    return lightgbm


def _features(x):
    """The columns of each feature of LightGBM, as ranges, and the middle (d,) of their values.

    Several columns are one feature where they look like the words of a column of a table: each has
    two values, no point of x (l, d) has two of them above their middles, and most have one.
    """
    low = np.fmin.reduce(x)
    high = np.fmax.reduce(x)
    middle = (low + high) / 2
    above = np.asfortranarray(x > middle)
    above[:, ((low < x) & (x < high)).any(axis=0)] = True
    features = []
    start = 0
    while start < x.shape[1]:
        stop = start
        taken = np.zeros(len(x), bool)
        while stop < x.shape[1] and not (taken & above[:, stop]).any():
            taken |= above[:, stop]
            stop += 1
        words = np.count_nonzero(above[:, start:stop].any(axis=0))
        features += (
            [range(start, stop)]
            if words >= _FEWEST_WORDS and taken.mean() > 0.5
            else [range(column, column + 1) for column in range(start, stop)]
        )
        start = stop
    return features, middle


def _with_categories(x, features, middle):
    """The points with the number of its word, or NaN for none, in place of several columns."""
    if len(features) == x.shape[1]:
        return x
    result = x[:, [words.start for words in features]]
    for at, words in enumerate(features):
        if len(words) > 1:
            above = x[:, words.start : words.stop] > middle[words.start : words.stop]
            result[:, at] = np.where(above.any(axis=1), above.argmax(axis=1), np.nan)
    return result


def _comparisons(node, features, middle):
    """Comparisons (feature, threshold, missing left), and the nodes that follow where all features
    are at most their thresholds, and where the first is above."""
    words = features[node["split_feature"]]
    left = node["left_child"]
    right = node["right_child"]
    if node["decision_type"] == "==":  # one of these words goes left, all else right
        return (
            [
                (words[int(word)], middle[words[int(word)]], True)
                for word in node["threshold"].split("||")
            ],
            right,
            left,
        )
    # without missing values in training, LightGBM takes NaN for 0
    if node["missing_type"] == "NaN":
        missing_left = node["default_left"]
    else:
        missing_left = node["threshold"] >= 0
    return [(words.start, node["threshold"], missing_left)], left, right


def _forest(description, features, middle) -> Forest:
    nodes = []
    left = []
    right = []
    roots = []
    for tree in description["tree_info"]:
        roots.append(len(nodes))
        waiting = [(tree["tree_structure"], [])]
        while waiting:
            node, entries = waiting.pop()
            number = len(nodes)
            for links, parent in entries:
                links[parent] = number
            if "split_feature" in node:
                comparisons, below, above = _comparisons(node, features, middle)
                nodes += comparisons
                left += range(number + 1, len(nodes) + 1)
                right += range(number, len(nodes))
                waiting += [
                    (above, [(right, at) for at in range(number, len(nodes))]),
                    (below, [(left, len(nodes) - 1)]),
                ]
            else:
                nodes.append((-1, node["leaf_value"], False))
                left.append(number)
                right.append(number)
    feature, value, missing_left = zip(*nodes)
    return Forest(
        len(middle),
        np.array([0, len(roots)], "<i8"),
        np.array(roots, "<i4"),
        np.array(feature, "<i4"),
        np.array(value, "<f8"),
        np.array(left, "<i4"),
        np.array(right, "<i4"),
        np.array(missing_left, bool),
    )
