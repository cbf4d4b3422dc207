"""Gradient boosted trees of LightGBM, cross-fitted, as a `Forest`.

The samples are dealt into B folds.  Booster j is trained on the other folds, and stops early on
fold j; the classifier is the mean of the raw scores of the B boosters, and the score of a sample
that is held out is that of the one booster that has not seen it.  So one training gives the
classifier and the values that its probabilities are calibrated with.  Two small biases of these
values are opposite: fold j has stopped its booster, and a single booster is worse than the mean
of all.

G. Ke and others, "LightGBM: a highly efficient gradient boosting decision tree", NeurIPS 2017;
cross-fitting as in V. Chernozhukov and others, "Double/debiased machine learning for treatment
and structural parameters", The Econometrics Journal 21, 2018.

A trained booster is read from LightGBM's text of a model: neither classification nor reading of
our models needs LightGBM.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from ..core.errors import DataError, needed_library, one_line
from ..core.forest import Forest
from ..core.splits import derived_seed, stratified_folds
from ..files.result_store import key_of
from .points import CatchWords

# Samples of the smaller side, or of a fold of all branches, for early stopping: the loss of fewer
# is mostly chance.  Without it a tenth of the rounds are boosted.
_FEWEST = 20
_SHORT = 0.1
_FEWEST_WORDS = 5  # LightGBM splits fewer one against the rest, as 0/1 features are split
_FEWEST_FILLED = 5  # samples with a mark: of fewer, the same number beside it may be chance
_GROUP = 20  # samples of neighbouring words; LightGBM's 100 made one-vs-one worse
_SHARE_OF_ROWS = 0.8  # drawn anew for each round
_SHARE_OF_FEATURES = 0.6  # drawn anew for each tree

_LARGEST = 1e300  # threshold that a model file holds
_MOST_REMEMBERED = 500  # fits, of about 200 KiB each
# Bits of LightGBM's `decision_type` of a node
_CATEGORICAL = 1
_MISSING_LEFT = 2
_NAN_IS_MISSING = 8


@dataclass(frozen=True, repr=False)
class Boosting:
    """Parameters of boosted trees, binary or of a node, as of `trees.Trees`."""

    n_estimators: int = 1000
    learning_rate: float = 0.08
    num_leaves: int = 15
    min_child_samples: int = 5
    early_stopping_rounds: int = 25
    extra_trees: int = 0
    n_boosters: int = 5
    seed: int = field(default=1, init=False)  # of all random choices

    letters: ClassVar[dict] = {
        "-b": ("n_boosters", 2, 100, True, False),
        "-n": ("n_estimators", 1, 100_000, True, False),
        "-r": ("learning_rate", 0, 1, False, True),
        "-l": ("num_leaves", 2, 4096, True, False),
        "-m": ("min_child_samples", 1, 10**9, True, False),
        "-e": ("early_stopping_rounds", 0, 100_000, True, False),
        "-x": ("extra_trees", 0, 1, True, False),
    }

    def made_by(self) -> str:
        """LightGBM and its version."""
        return f"lightgbm {_lightgbm().__version__}"

    def cross_fit(self, x, side, scores=1, w=None, groups=None) -> CrossFitted:
        """Train the boosters on points x (l, d), NaN being a missing value.

        Parameters
        ----------
        side : ndarray of shape (l,), the branch of each sample, from 0
        scores : int, 1 for the log-odds of branch 1 of two, else the number of branches, each of
            which has a score, whose softmax are the probabilities
        w : ndarray of shape (l,), weights of the samples, or None for 1
        groups : ndarray of shape (l,), samples of a group are held out together, or None

        Raises
        ------
        DataError : where LightGBM refuses the problem
        """
        x = np.asarray(x, dtype=np.float64)
        side = np.asarray(side, dtype=np.float64)
        key = None
        if _remembering:
            key = key_of(self.made_by(), self.canonical(), self.seed, x, side, scores, w, groups)
            if key in _remembered:
                return _remembered[key]
        try:
            with CatchWords():  # LightGBM writes the words of its exception, too
                result = self._cross_fit(x, side, scores, w, groups)
        except (ValueError, _lightgbm().basic.LightGBMError) as error:
            raise DataError(f"LightGBM refuses the problem: {one_line(str(error))}") from None
        if key is not None and len(_remembered) < _MOST_REMEMBERED:
            _remembered[key] = result
        return result

    def _cross_fit(self, x, side, scores, w, groups):
        lightgbm = _lightgbm()
        words = find_words(x)
        x = words.numbered(x)
        fold = stratified_folds(side, self.seed, self.n_boosters, groups)
        boosters = int(fold.max()) + 1
        if boosters < 2:
            raise DataError(
                "boosted trees hold groups of samples out: expected at least two groups"
            )
        start = _log_shares(side, scores, w)
        rounds, smallest_leaf, stops_early = self._limits(side, scores)
        settings = {
            "objective": "binary" if scores == 1 else "multiclass",
            "num_class": scores,
            "num_leaves": self.num_leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": smallest_leaf,
            "min_data_per_group": _GROUP,
            "bagging_fraction": _SHARE_OF_ROWS,
            "bagging_freq": 1,
            "feature_fraction": _SHARE_OF_FEATURES,
            "extra_trees": bool(self.extra_trees),
            "num_threads": 1,
            "deterministic": True,
            "force_col_wise": True,
            "verbosity": -1,
        }
        # all folds share one set of bins, which are made of the points without their branches
        binned = lightgbm.Dataset(
            x,
            side,
            weight=w,
            init_score=np.repeat(start, len(x)),
            categorical_feature=words.categories,
            params=settings,
        ).construct()
        held_out = np.empty((len(x), scores))
        parts = []
        for number in range(boosters):
            out = np.flatnonzero(fold == number)
            booster = lightgbm.train(
                settings | {"seed": derived_seed(self.seed, number)},
                binned.subset(np.flatnonzero(fold != number)),
                rounds,
                [binned.subset(out)] if stops_early else None,
                callbacks=[lightgbm.early_stopping(self.early_stopping_rounds, verbose=False)]
                if stops_early
                else None,
            )
            raw = booster.predict(x[out], raw_score=True, num_threads=1)
            held_out[out] = raw.reshape(len(out), -1) + start
            parts.append(read_trees(booster.model_to_string(), words))
        return CrossFitted(_mean(parts, start, words), held_out)

    def _limits(self, side, scores):
        """(rounds, samples of a leaf at least, whether boosters stop early) for samples of those
        sides (l,)."""
        if not self.early_stopping_rounds:
            return self.n_estimators, self.min_child_samples, False
        if scores == 1:
            few = min(np.count_nonzero(side), np.count_nonzero(side == 0))
        else:
            few = len(side) // self.n_boosters
        if few >= _FEWEST:
            return self.n_estimators, self.min_child_samples, True
        return (
            math.ceil(_SHORT * self.n_estimators),
            min(self.min_child_samples, 1 + few // 4),
            False,
        )


class CrossFitted(NamedTuple):
    """A trained forest, and scores of its samples by boosters that have not seen them.

    Attributes
    ----------
    forest : `Forest` of c scores, c = 1 for two branches
    held_out : ndarray of shape (l, c)
    """

    forest: Forest
    held_out: np.ndarray


_remembered: dict[str, CrossFitted] = {}
_remembering: list[object] = []  # an entry for each caller that is within `remembered_fits`


@contextmanager
def remembered_fits() -> Iterator[None]:
    """Within it boosters of the same samples with the same options are fitted once."""
    caller = object()
    _remembering.append(caller)
    try:
        yield
    finally:
        _remembering.remove(caller)
        if not _remembering:
            _remembered.clear()


@functools.lru_cache(maxsize=1)
def _lightgbm():
    with needed_library(
        "learner=trees needs LightGBM, which is not installed: pip install 'agfmc[trees]'"
    ):
        import lightgbm
    return lightgbm


def _log_shares(side, scores, w):
    """The scores (c,) that boosting starts from, logarithms of the shares of the branches.

    One sample more of each branch keeps them finite where a fold has all samples of a branch.
    """
    if w is None:
        scale = 1.0
    else:
        scale = len(w) / w.sum()
        w = w * scale
    counts = np.bincount(side.astype(np.int64), w, minlength=max(scores, 2)) + 1.0
    if scores == 1:
        return np.log(counts[1:] / counts[:1])
    return np.log(counts / counts.sum())


class Words(NamedTuple):
    """Which columns of the points are the words, or the numbers and the mark, of one column of a table.

    Attributes
    ----------
    features : list of range, the columns of each feature of LightGBM
    middle : ndarray of shape (d,), the middle of the values of each column
    fill : ndarray, for each feature the value in place of missing ones, whose mark is the column
        after it, or NaN
    """

    features: list
    middle: np.ndarray
    fill: np.ndarray

    @property
    def categories(self) -> list[int]:
        """The features that have several columns."""
        return [number for number, columns in enumerate(self.features) if len(columns) > 1]

    def numbered(self, x: np.ndarray) -> np.ndarray:
        """The points with the number of its word, or NaN for none, in place of several columns, and
        with NaN in place of fills and their marks."""
        if len(self.features) == x.shape[1]:
            return x
        result = x[:, [columns.start for columns in self.features]]
        for number in np.flatnonzero(~np.isnan(self.fill)):
            mark = self.features[number].stop
            result[x[:, mark] > self.middle[mark], number] = np.nan
        for number in self.categories:
            columns = self.features[number]
            part = slice(columns.start, columns.stop)
            above = x[:, part] > self.middle[part]
            result[:, number] = np.where(above.any(axis=1), above.argmax(axis=1), np.nan)
        return result


def find_words(x: np.ndarray) -> Words:
    """The columns of points x (l, d) that are words of one column of a table.

    Several columns are one feature where they look so: each has two values, no point has two of
    them above their middles, and most have one.  A column of two values is a mark of missing ones
    where the column of numbers before it has the same number in all points that are marked.
    """
    low = np.fmin.reduce(x)
    high = np.fmax.reduce(x)
    middle = (low + high) / 2
    above = np.asfortranarray(x > middle)
    has_numbers = ((low < x) & (x < high)).any(axis=0)
    fills = {}
    for column in np.flatnonzero(has_numbers[:-1] & ~has_numbers[1:]).tolist():
        filled = x[above[:, column + 1], column]
        if len(filled) >= _FEWEST_FILLED and (filled == filled[0]).all():
            fills[column] = filled[0]
    above[:, has_numbers] = True
    features = []
    start = 0
    while start < x.shape[1]:
        if start - 1 in fills:  # its mark
            start += 1
            continue
        stop = start
        taken = np.zeros(len(x), bool)
        while stop < x.shape[1] and not (taken & above[:, stop]).any():
            taken |= above[:, stop]
            stop += 1
        words = np.count_nonzero(above[:, start:stop].any(axis=0))
        if words >= _FEWEST_WORDS and taken.mean() > 0.5:
            features.append(range(start, stop))
        else:
            features += [range(column, column + 1) for column in range(start, stop)]
        start = stop
    fill = np.array([fills.get(columns.start, np.nan) for columns in features])
    return Words(features, middle, fill)


class Trees(NamedTuple):
    """The trees of one booster, nodes of a tree one after the other, its root first.

    Attributes
    ----------
    per_round : trees of each round, one for each score
    sizes : number (t,) of nodes of each tree
    feature, value, left, right, missing_left : (q,), as in `Forest`; links count from the root
    """

    per_round: int
    sizes: np.ndarray
    feature: np.ndarray
    value: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray

    def of_score(self, score: int) -> Trees:
        """The trees of one of the scores."""
        is_of_score = np.arange(len(self.sizes)) % self.per_round == score
        nodes = np.repeat(is_of_score, self.sizes)
        return Trees(1, self.sizes[is_of_score], *(array[nodes] for array in self[2:]))


def read_trees(text: str, words: Words) -> Trees:
    """The `Trees` in LightGBM's text of a model.

    A split by categories, "one of these words goes left, all else right", becomes a comparison for
    each word, one after the other.  One of numbers with a mark of missing ones begins with a comparison
    of the mark, unless the fill goes the same way.
    """
    header, *blocks = text.partition("\nend of trees")[0].split("\nTree=")
    entries = [_entries(block) for block in blocks]
    per_round = int(_entries(header)["num_tree_per_iteration"])

    def numbers(key, kind):
        return np.array(" ".join(entry.get(key, "") for entry in entries).split(), kind)

    leaves = np.array([int(entry["num_leaves"]) for entry in entries])
    splits = leaves - 1
    feature = numbers("split_feature", np.int64)
    # a split of missing values from all others has an infinite threshold
    threshold = numbers("threshold", np.float64).clip(-_LARGEST, _LARGEST)
    kind = numbers("decision_type", np.int64)
    categorical = (kind & _CATEGORICAL) > 0
    if not categorical.any():
        members = {}
    else:
        members = _members(entries, splits, threshold, categorical)
    # each split has as many comparisons as its left side has words
    steps = np.ones(len(feature), dtype=np.int64)
    for number, numbers_of_words in members.items():
        steps[number] = len(numbers_of_words)
    # without missing values in training, LightGBM takes NaN for 0
    missing_left = np.where(
        (kind & _NAN_IS_MISSING) > 0, (kind & _MISSING_LEFT) > 0, threshold >= 0
    )
    fill = words.fill[feature]
    marked = np.flatnonzero(~np.isnan(fill) & ((fill <= threshold) != missing_left))
    steps[marked] = 2
    tree_of_split = np.repeat(np.arange(len(leaves)), splits)
    comparisons = np.bincount(tree_of_split, steps, minlength=len(leaves)).astype(np.int64)
    sizes = comparisons + leaves
    roots = np.cumsum(sizes) - sizes
    # position of each split among the nodes, and of each leaf, counted from the root of its tree
    before = np.cumsum(steps) - steps
    first_split = np.cumsum(splits) - splits
    begins = np.cumsum(comparisons) - comparisons
    position = before - begins[tree_of_split]

    def link(children):
        """Positions of children, which are numbers of splits, or below 0 of leaves."""
        is_leaf = children < 0
        result = comparisons[tree_of_split] + ~children
        inner = ~is_leaf
        result[inner] = position[(first_split[tree_of_split] + children)[inner]]
        return result

    below = link(numbers("left_child", np.int64))
    above = link(numbers("right_child", np.int64))
    starts = np.array([columns.start for columns in words.features])
    count = int(sizes.sum())
    result = Trees(
        per_round,
        sizes,
        np.full(count, -1),
        np.empty(count),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.zeros(count, bool),
    )
    places = roots[tree_of_split] + position
    result.feature[places] = starts[feature]
    result.value[places] = threshold
    result.left[places] = below
    result.right[places] = above
    result.missing_left[places] = missing_left
    first = places[marked]
    for array in result[2:]:
        array[first + 1] = array[first]
    result.feature[first] += 1
    result.value[first] = words.middle[result.feature[first]]
    result.left[first] = position[marked] + 1
    result.right[first] = np.where(missing_left, below, above)[marked]
    result.missing_left[first] = True
    for number, numbers_of_words in members.items():
        chain = slice(places[number], places[number] + len(numbers_of_words))
        columns = words.features[feature[number]].start + np.array(numbers_of_words)
        result.feature[chain] = columns
        result.value[chain] = words.middle[columns]
        result.left[chain] = position[number] + 1 + np.arange(len(columns))
        result.left[chain.stop - 1] = above[number]
        result.right[chain] = below[number]
        result.missing_left[chain] = True
    leaf = np.flatnonzero(result.feature < 0)
    result.value[leaf] = numbers("leaf_value", np.float64)
    itself = leaf - np.repeat(roots, leaves)
    result.left[leaf] = itself
    result.right[leaf] = itself
    return result


def _entries(block):
    """{key: text} of the lines of a tree."""
    return dict(line.split("=", 1) for line in block.split("\n") if "=" in line)


def _members(entries, splits, threshold, categorical):
    """{number of a split: the words of its left side}, from bits of 32 words in each number."""
    result = {}
    start = 0
    for entry, count in zip(entries, splits.tolist()):
        for number in start + np.flatnonzero(categorical[start : start + count]):
            bounds = entry["cat_boundaries"].split()
            at = int(threshold[number])
            bits = entry["cat_threshold"].split()[int(bounds[at]) : int(bounds[at + 1])]
            result[int(number)] = [
                32 * place + bit
                for place, part in enumerate(bits)
                for bit in range(32)
                if int(part) >> bit & 1
            ]
        start += count
    return result


def _mean(boosters, start, words):
    """The `Forest` whose scores are `start` (c,) and the means of the scores of the boosters.

    The trees of a score begin with one of a single leaf, its start.
    """
    stump = Trees(
        1,
        np.ones(1, np.int64),
        *(np.array([entry]) for entry in (-1, 0.0, 0, 0)),
        np.zeros(1, bool),
    )
    parts = []
    starts = [0]
    for score, value in enumerate(start):
        of_score = [stump._replace(value=np.array([value]))]
        for trees in boosters:
            part = trees.of_score(score)
            leaf_value = part.value / len(boosters)
            of_score.append(part._replace(value=np.where(part.feature < 0, leaf_value, part.value)))
        starts.append(starts[-1] + sum(len(part.sizes) for part in of_score))
        parts += of_score
    sizes = np.concatenate([part.sizes for part in parts])
    roots = np.cumsum(sizes) - sizes
    root = np.repeat(roots, sizes)

    def joined(name, kind, more=0):
        return (np.concatenate([getattr(part, name) for part in parts]) + more).astype(kind)

    return Forest(
        len(words.middle),
        np.array(starts, "<i8"),
        roots.astype("<i4"),
        joined("feature", "<i4"),
        joined("value", "<f8"),
        joined("left", "<i4", root),
        joined("right", "<i4", root),
        np.concatenate([part.missing_left for part in parts]),
    )
