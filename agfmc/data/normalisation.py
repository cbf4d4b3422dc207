"""Normalisation by standard deviations and singular vectors; the covariance matrix."""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from ..core.errors import AgfmcNotice, DataError, one_line, UsageError, warn_user
from ..core.lazy_points import is_lazy
from ..core.memory import refuse_beyond
from ..core.points import has_missing, is_sparse, padded_blocks
from ..core.text import first_words

# Numbers of a matrix that is applied without matrix products: in training, where the digests of
# points had better be alike on all machines, and elsewhere.
_SMALL = 256 * 256, 32 * 32
_NAMES: ContextVar[tuple[str, ...]] = ContextVar("names of the features", default=())
_BLOCK = 1 << 20  # values at a time
# Numbers of a matrix, 4 GiB, whose digest is that of models that stored the matrix; it takes seconds.
_HASHED = 1 << 30
UNEVEN = 0.48  # `feature_share` below which features need a common scale
_BINARY = 0.7  # taken for the deviation of a feature of zeros and ones
_TOO_LITTLE = "which is too little to be normalised: multiply the data by a power of ten"


class Normalisation:
    """The map x' = (x - mean) matrix, with the numbers of a `.std` file.

    A missing value (NaN) is allowed where the map does not mix features, and stays missing. Such a
    map holds a feature and a factor for each column, as many features would make a large matrix.

    Parameters
    ----------
    matrix : ndarray of shape (D1, D2), float32
        The linear map.
    mean : ndarray of shape (D1,), float32
        Subtracted from the points.
    dropped : tuple of int, default=()
        Constant features that were left out, counted from 0.

    Attributes
    ----------
    column, scale : ndarrays of shape (D2,)
        The feature that each column is a multiple of, and the factor, float32; both None where
        the matrix mixes features.
    """

    def __init__(self, matrix: np.ndarray, mean: np.ndarray, dropped: tuple[int, ...] = ()):
        self.mean, self.dropped = mean, dropped
        self.column = self.scale = None
        self._matrix = matrix
        if len(matrix) == len(mean) > 0 and (np.count_nonzero(matrix, axis=0) == 1).all():
            self.column = np.argmax(matrix != 0, axis=0).astype(np.int32)
            self.scale = matrix[self.column, np.arange(len(self.column))]
            # zeros with a sign, which files may hold, have a part in the digest
            if np.count_nonzero(np.signbit(matrix)) == np.count_nonzero(np.signbit(self.scale)):
                self._matrix = None

    @classmethod
    def of_scales(
        cls,
        column: np.ndarray,
        scale: np.ndarray,
        mean: np.ndarray,
        dropped: tuple[int, ...] = (),
    ) -> Normalisation:
        """The map of which column j is feature column[j], less its mean, times scale[j]."""
        normalisation = cls.__new__(cls)
        normalisation.mean, normalisation.dropped = mean, dropped
        normalisation.column, normalisation.scale = column, scale
        normalisation._matrix = None
        return normalisation

    @classmethod
    def identity(cls, features: int) -> Normalisation:
        """The map that leaves points as they are."""
        column = np.arange(features, dtype=np.int32)
        return cls.of_scales(column, np.ones(features, np.float32), np.zeros(features, np.float32))

    @property
    def features(self) -> int:
        """D1, the number of features of the points."""
        return len(self.mean)

    @property
    def features_after(self) -> int:
        """D2, the number of features that it gives."""
        if self._matrix is None:
            return len(self.column)
        return self._matrix.shape[1]

    @property
    def is_sound(self) -> bool:
        """True if matrix and mean have as many features, and finite numbers alone."""
        if self._matrix is None:
            numbers = self.scale
        else:
            numbers = self._matrix
            if len(numbers) != len(self.mean):
                return False
        return bool(np.isfinite(numbers).all() and np.isfinite(self.mean).all())

    @property
    def is_identity(self) -> bool:
        """True if points are left as they are."""
        return (
            not self.mean.any()
            and self.keeps_features_apart
            and np.array_equal(self.column, np.arange(self.features))
            and bool((self.scale == 1).all())
        )

    @property
    def keeps_features_apart(self) -> bool:
        """True if each new feature is a multiple of one of the points."""
        return self.column is not None

    @property
    def parts(self) -> tuple[Normalisation, ...]:
        """Itself, as the only part."""
        return (self,)

    @property
    def is_compact(self) -> bool:
        """True if `column` and `scale` are all of the map."""
        return self._matrix is None

    @property
    def matrix(self) -> np.ndarray:
        """The linear map (D1, D2), float32; `DataError` where there is no memory for it."""
        if self._matrix is not None:
            return self._matrix
        what = f"the matrix of a normalisation of {self.features} features"
        refuse_beyond(4 * self.features * self.features_after, what, None)
        return self._rows(0, self.features)

    def _rows(self, start, stop):
        if self._matrix is not None:
            return self._matrix[start:stop]
        rows = np.zeros((stop - start, len(self.column)), np.float32)
        inside = np.flatnonzero((self.column >= start) & (self.column < stop))
        rows[self.column[inside] - start, inside] = self.scale[inside]
        return rows

    def used_features(self, columns):
        """True for each feature (D1,) with a part in any of the columns that `columns` (D2,) marks."""
        if self.column is None:
            return (self._matrix[:, columns] != 0).any(axis=1)
        used = np.zeros(self.features, bool)
        used[self.column[columns]] = True
        return used

    @functools.cached_property
    def _digest(self):
        digest = hashlib.sha256()
        if self._matrix is None and self.features * self.features_after > _HASHED:
            digest.update(np.ascontiguousarray(self.column, dtype="<i4"))
            digest.update(np.ascontiguousarray(self.scale, dtype="<f4"))
        else:
            step = max(1, _BLOCK // max(1, self.features_after))
            for start in range(0, self.features, step):
                rows = self._rows(start, min(start + step, self.features))
                digest.update(np.ascontiguousarray(rows, dtype="<f4"))
        digest.update(np.ascontiguousarray(self.mean, dtype="<f4"))
        return digest.hexdigest()[:16]

    def digest(self):
        """Sixteen hexadecimal digits of matrix and mean, that tell one normalisation from another."""
        return self._digest

    def apply(self, x, products=False):
        """Map x (n, D1) to (n, D2) float64; DataError where the widths differ, and for NaN where
        features are mixed. `SparsePoints` stay sparse where zeros stay zeros.

        With `products` a matrix that mixes many features is applied by matrix products, ten times
        faster: the last bits of a point do not depend on its neighbours then, but on the machine.
        """
        if not is_sparse(x):
            x = np.asarray(x)
        if x.ndim != 2 or x.shape[1] != self.features:
            if x.ndim == 2:
                dimensions = f"{x.shape[1]} features"
            else:
                dimensions = f"shape {x.shape}, not (n, d)"
            raise DataError(
                f"the data have {dimensions}, the normalisation needs {self.features} features"
            )
        if is_sparse(x):
            if self.column is not None and not self.mean.any():
                return x.scaled(self.column, self.scale.astype(np.float64))
            x = np.asarray(x)
        centred = x.astype(np.float64)
        centred -= self.mean
        if self.column is not None:
            return centred[:, self.column] * self.scale.astype(np.float64)
        if np.isnan(centred).any():
            raise DataError(
                "points hold NaN, which a normalisation that mixes features cannot take"
            )
        # the sum over the features in their order, not BLAS: a point then has the same
        # bits whatever block it comes in
        matrix = self.matrix.astype(np.float64)
        out = np.zeros((len(x), matrix.shape[1]))
        if matrix.size > _SMALL[products]:
            for part, block in padded_blocks(np.ascontiguousarray(centred), 128):
                out[part] = (block @ matrix)[: part.stop - part.start]
            return out
        for start in range(0, len(x), 1024):
            block = out[start : start + 1024]
            rows = centred[start : start + 1024]
            for j, row in enumerate(matrix):
                block += rows[:, j, None] * row
        return out


@dataclass(frozen=True, eq=False)
class JoinedNormalisation:
    """Several normalisations of the same points: their columns stand side by side."""

    parts: tuple[Normalisation, ...]

    @property
    def features(self) -> int:
        """The number of features of the points."""
        return self.parts[0].features

    def digest(self):
        """Sixteen hexadecimal digits that tell it from others."""
        return hashlib.sha256("".join(one.digest() for one in self.parts).encode()).hexdigest()[:16]

    def apply(self, x, products=False):
        """Points x (n, D1) as each part maps them, (n, sum of D2); see `Normalisation`."""
        return np.concatenate([one.apply(x, products) for one in self.parts], axis=1)


def spans(
    normalisation: Normalisation | JoinedNormalisation | None, width: int
) -> list[tuple[int, int]]:
    """(start, stop) of the columns of each part; without a normalisation, all of so many."""
    if normalisation is not None:
        ends = [0, *itertools.accumulate(one.features_after for one in normalisation.parts)]
    else:
        ends = [0, width]
    return list(itertools.pairwise(ends))


@contextmanager
def named_features(names: Sequence[str]) -> Iterator[None]:
    """Features of points have these names in messages, entry i feature i; with (), numbers."""
    token = _NAMES.set(tuple(names))
    try:
        yield
    finally:
        _NAMES.reset(token)


def feature_names(count: int) -> tuple[str, ...]:
    """The names of so many features, as `named_features` gave them, or ()."""
    names = _NAMES.get()
    if len(names) == count:
        return names
    return ()


def fit_normalisation(
    x: np.ndarray, scale: bool = True, nsv: int | None = None, w: np.ndarray | None = None
) -> Normalisation:
    """The Normalisation x' = (x - mean) M of the points x (n, d), an array or `LazyPoints`.

    `w` (n,) are weights of the points, which sums and n are made of then, or None for 1. Missing
    values, NaN, have no part in means and deviations. With `scale` M is diag(1/std), std with n -
    1. With `nsv` the data, centred (and scaled), are projected on their first `nsv` right singular
    vectors, each with its largest component positive; they are the eigenvectors of the d x d matrix
    of products, so that memory does not grow with n. Constant features are left out, with an
    AgfmcNotice that names them, or counts them from 0, and so are those that vary by so little
    that single precision cannot hold 1/std. A feature of zeros and ones is divided by .7, as by
    its deviation a rare word would be further from all others than any number. Where there are
    such features, all are also divided by the fourth root of the mean of their variances: many
    words vary little, and gamma, by default 1 / (number of features), would be too small.
    `SparsePoints` are scaled alone: the mean is 0.
    Everything is computed in float64 and rounded to float32, as a `.std` file stores it.

    Raises UsageError where the arguments make no sense, DataError where the points
    do not allow it.
    """
    if not (is_lazy(x) or is_sparse(x)):
        x = np.asarray(x)
    if not scale and nsv is None:
        raise UsageError("a normalisation needs standard deviations or singular values")
    if nsv is not None and nsv < 1:
        raise UsageError(f"the number of singular values must be 1 or more, not {nsv}")
    if x.ndim != 2 or len(x) < 2:
        raise DataError("a normalisation needs two points or more")
    if nsv is not None and has_missing(x):
        raise DataError("points hold NaN, which singular vectors cannot be found for")
    mean, std = moments(x, w)
    spread, is_binary = _spread(x)
    with np.errstate(divide="ignore", over="ignore"):
        if scale:
            factor = 1 / np.where(is_binary, _BINARY, std)
        else:
            factor = np.ones_like(std)
        varies = (spread > 0) & np.isfinite(factor.astype(np.float32))
        if scale and is_binary[varies].any():
            factor = factor / np.mean(np.square(std * factor)[varies]) ** 0.25
        rounded = factor.astype(np.float32)
        # a factor that is stored as 0 would make the feature constant silently
        stored = np.isfinite(mean.astype(np.float32)) & np.isfinite(std) & (rounded > 0)
    if not stored.all():
        raise DataError(
            f"the values of {_named([int(np.argmin(stored))], len(stored))} are too large"
        )
    used = np.flatnonzero(varies)
    dropped = np.flatnonzero(~varies)
    if not spread.any():
        raise DataError("every feature is constant")
    if not len(used):
        raise DataError(f"no feature varies by more than {spread.max():.2g}, {_TOO_LITTLE}")
    faint = spread[dropped] > 0
    for features, one, more, why in (
        (dropped[~faint], "is constant", "are constant", ""),
        (
            dropped[faint],
            "varies",
            "vary",
            f": by {spread[dropped].max(initial=0):.2g} at most, {_TOO_LITTLE}",
        ),
    ):
        if len(features):
            if len(features) == 1:
                how = f"{one} and was"
            else:
                how = f"{more} and were"
            warn_user(f"{_named(features, len(varies))} {how} left out{why}", AgfmcNotice)
    mean, dropped = mean.astype(np.float32), tuple(dropped.tolist())
    if nsv is None:
        mean = mean * (not is_sparse(x))  # zeros stay zeros
        return Normalisation.of_scales(used.astype(np.int32), rounded[used], mean, dropped)
    matrix = np.zeros((x.shape[1], nsv), np.float32)
    matrix[used] = factor[used, None] * _directions((x, w), mean, used, factor[used], nsv)
    return Normalisation(matrix, mean, dropped)


# Part of the values that are not 0, of points that stay as they are. Made texts of 20 classes and 5,000
# words: tf-idf as it is has accuracy .953, divided by deviations .450; counts .898 and .845.
_MOSTLY_ZERO = 0.25


def feature_share(x: np.ndarray, w: np.ndarray | None = None) -> float:
    """The effective share of the features of x (n, d) by which points differ, 1 if scales are alike.

    w (n,) are weights of the points, or None.  Where most values are 0, as in counts of words, 1
    too: features have one unit then, and the small deviations are those of rare words.
    With the variances v of the d features that vary it is (sum v)^2 / (d sum v^2).  Where it was
    below .45, support vector machines were better with features divided by their deviations on each
    of seven data sets, where it was .5 or more on one of seven: `UNEVEN` lies between.
    """
    if np.count_nonzero(x) < _MOSTLY_ZERO * x.size:
        return 1.0
    with np.errstate(all="ignore"):
        deviation = moments(x, w)[1]
        deviation = deviation[deviation > 0]
        variance = np.square(deviation / deviation.max(initial=0))  # squares overflow less
        share = np.sum(variance) ** 2 / max(len(variance), 1) / np.sum(np.square(variance))
    return float(share) if np.isfinite(share) else 1.0


def uneven_features(x: np.ndarray) -> tuple[int, int, float] | None:
    """The features of x (n, d) with the largest and the smallest deviation, and their ratio.

    None where the `feature_share` is not below `UNEVEN`.  Up to 4096 rows stand for all.
    """
    rows = min(4096, _BLOCK // max(1, x.shape[1]))
    if min(rows, len(x)) < 10:
        return None
    part = np.asarray(x[:: -(-len(x) // rows)], dtype=np.float64)
    if feature_share(part) >= UNEVEN:
        return None
    with np.errstate(all="ignore"):
        std = np.nanstd(part, axis=0)
    large = int(np.argmax(std))
    small = int(np.argmin(np.where(std > 0, std, np.inf)))
    return large, small, float(std[large] / std[small])


def _named(features, count):
    names = feature_names(count)
    plural = "s" * (len(features) != 1)
    if not names:
        return f"feature{plural} {', '.join(map(str, features))} (from 0)"
    return f"feature{plural} " + first_words([f"'{one_line(names[at])}'" for at in features])


def blocks(x: np.ndarray) -> Iterator[np.ndarray]:
    """The rows of x (n, d) as float64, a bounded number of values at a time."""
    step = max(1, _BLOCK // x.shape[1])
    for start in range(0, len(x), step):
        block = x[start : start + step]
        if is_sparse(block):
            yield np.asarray(block)
        else:
            yield block.astype(np.float64)


def _weighted_blocks(x, w):
    """(block (m, d), weights (m, 1), or 1 for None) of the `blocks` of x (n, d)."""
    start = 0
    for block in blocks(x):
        yield block, 1.0 if w is None else w[start : start + len(block), None]
        start += len(block)


def _spread(x):
    """The largest value less the smallest one (d,) of x (n, d), and whether all values are 0 and 1
    (d,)."""
    low = np.full(x.shape[1], np.inf)
    high = np.full(x.shape[1], -np.inf)
    is_binary = np.ones(x.shape[1], bool)
    for block in blocks(x):
        np.fmin(low, np.fmin.reduce(block), out=low)  # NaN has no part in it
        np.fmax(high, np.fmax.reduce(block), out=high)
        is_binary &= ((block == 0) | (block == 1) | np.isnan(block)).all(axis=0)
    with np.errstate(over="ignore"):
        return np.maximum(high - low, 0), is_binary


def moments(x: np.ndarray, w: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (d,) of x (n, d), in two passes.

    `w` (n,) are weights of the points, None for 1. Missing values, NaN, are left out of each
    feature. The standard deviation is over n - 1, or sum w - 1, so that whole weights are copies;
    where those above 0 are below 1 on average, such as shares that sum to 1, it is over sum w - their
    mean.
    """
    total, count = (len(x), len(x)) if w is None else (w.sum(), np.count_nonzero(w))
    point = min(1.0, total / max(count, 1))  # a point of weight 0 is no point
    with np.errstate(over="ignore", invalid="ignore"):
        sums = [
            (np.nansum(block * v, axis=0), (np.isnan(block) * v).sum(axis=0))
            for block, v in _weighted_blocks(x, w)
        ]
        total = total - sum(absent for _, absent in sums)
        mean = sum(values for values, _ in sums) / np.where(total > 0, total, 1)
        square = sum(
            np.nansum((block - mean) ** 2 * v, axis=0) for block, v in _weighted_blocks(x, w)
        )
        return mean, np.sqrt(square / np.where(total > point, total - point, 1))


def _directions(points, mean, used, factor, nsv):
    """The first `nsv` right singular vectors (used features, nsv); points: x and w or None."""
    if nsv > len(used):
        raise DataError(f"{nsv} singular values are too many: {len(used)} features vary")
    gram = np.zeros((len(used), len(used)))
    for block, w in _weighted_blocks(*points):
        block = (block[:, used] - mean[used]) * factor * np.sqrt(w)
        gram += block.T @ block
    value, vector = np.linalg.eigh(gram)
    value, vector = value[::-1], vector[:, ::-1]
    rank = int(np.count_nonzero(value > len(used) * np.finfo(float).eps * value[0]))
    if nsv > rank:
        raise DataError(f"{nsv} singular values are too many: the points span {rank} dimensions")
    vector = vector[:, :nsv]
    largest = vector[np.argmax(np.abs(vector), axis=0), np.arange(nsv)]
    return vector * np.where(largest < 0, -1.0, 1.0)


def covariance(x: np.ndarray) -> np.ndarray:
    """The covariance matrix (d, d) float64 of the points x (n, d), with n - 1.

    Entry (i, j) is sum_p (x_pi - mean_i) (x_pj - mean_j) / (n - 1).
    Raises DataError for fewer than two points and for values too large to be squared.
    """
    x = np.asarray(x)
    if x.ndim != 2 or len(x) < 2:
        raise DataError("a covariance needs two points or more")
    with np.errstate(over="ignore", invalid="ignore"):
        out = np.cov(x, rowvar=False, dtype=np.float64).reshape(x.shape[1], x.shape[1])
    if not np.isfinite(out).all():
        raise DataError("the values are too large for a covariance")
    return out
