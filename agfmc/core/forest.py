"""Decision trees as arrays, and the sums of their leaves for many points at once."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Annotated
import numpy as np


_DEEPEST = 1 << 17  # 4095 splits, each by 32 words
_LARGEST = 1e300  # number of a node: sums of as many leaves as memory holds are finite
_CELLS = 1 << 15  # pairs of a point and a tree at a time: what they need stays in the cache


@dataclass(frozen=True, eq=False)
class Forest:
    """The trees of m binary classifiers, whose decision values are sums of leaves.

    Attributes
    ----------
    starts : classifier i has the trees starts[i] to starts[i + 1] (m + 1,)
    roots : first node (t,) of each tree, whose nodes end before the next root
    feature : feature (q,) that a node compares, -1 for a leaf
    value : threshold (q,) of a node, or value of a leaf
    left, right : nodes (q,) that follow if the feature is at most, or above, the threshold; they
        come after their node, and may follow several; a leaf has itself
    missing_left : mask (q,) of the nodes at which a missing value goes left
    """

    features: int
    starts: Annotated[np.ndarray, "<i8", 1]
    roots: Annotated[np.ndarray, "<i4", 1]
    feature: Annotated[np.ndarray, "<i4", 1]
    value: Annotated[np.ndarray, "<f8", 1]
    left: Annotated[np.ndarray, "<i4", 1]
    right: Annotated[np.ndarray, "<i4", 1]
    missing_left: Annotated[np.ndarray, "|b1", 1]

    @classmethod
    def none(cls, features: int, count: int = 1) -> Forest:
        """Classifiers without trees, whose decision values are 0."""
        return cls(
            features,
            np.zeros(count + 1, "<i8"),
            *(np.empty(0, kind) for kind in ("<i4", "<i4", "<f8", "<i4", "<i4", bool)),
        )

    @classmethod
    def concatenate(cls, forests: list[Forest]) -> Forest:
        """The classifiers of several forests, one after the other."""
        nodes = np.cumsum([0, *(len(one.feature) for one in forests)])
        trees = np.cumsum([0, *(len(one.roots) for one in forests)])
        moved = {
            name: np.concatenate(
                [getattr(one, name) + start for one, start in zip(forests, nodes)]
            ).astype("<i4")
            for name in ("roots", "left", "right")
        }
        rest = {
            name: np.concatenate([getattr(one, name) for one in forests])
            for name in ("feature", "value", "missing_left")
        }
        starts = [
            np.zeros(1, "<i8"),
            *(one.starts[1:] + start for one, start in zip(forests, trees)),
        ]
        return cls(forests[0].features, np.concatenate(starts), **moved, **rest)

    def subset(self, start: int, stop: int) -> Forest:
        """The classifiers from start to stop."""
        first, last = np.append(self.roots, len(self.feature))[self.starts[[start, stop]]].tolist()
        return Forest(
            self.features,
            self.starts[start : stop + 1] - self.starts[start],
            self.roots[self.starts[start] : self.starts[stop]] - first,
            self.feature[first:last],
            self.value[first:last],
            self.left[first:last] - first,
            self.right[first:last] - first,
            self.missing_left[first:last],
        )

    def with_features(self, column: np.ndarray, features: int) -> Forest:
        """The trees for points in which feature i of these is number column[i] of `features`."""
        inner = self.feature >= 0
        return replace(
            self,
            features=features,
            feature=np.where(inner, column[np.where(inner, self.feature, 0)], -1).astype("<i4"),
        )

    def check(self, fail) -> None:
        """Raise fail(message) for anything that `values` takes on trust.

        All links lead forward, so that every walk ends, and from each root to all nodes before the
        next root.
        """
        nodes = np.arange(len(self.feature))
        inner = self.feature >= 0
        arrays = (self.value, self.left, self.right, self.missing_left)
        if any(len(array) != len(nodes) for array in arrays):
            raise fail("the arrays of the trees do not have the same number of nodes")
        if (
            len(self.starts) < 2
            or self.starts[0] != 0
            or self.starts[-1] != len(self.roots)
            or np.any(self.starts[1:] < self.starts[:-1])
        ):
            raise fail("the trees of the classifiers are not contiguous")
        if len(nodes) and not (-1 <= self.feature.min() and self.feature.max() < self.features):
            raise fail("a tree compares a feature that is not there")
        if not (np.abs(self.value) <= _LARGEST).all():
            raise fail("a number of a tree is not finite, or more than 1e300")
        children = np.concatenate([self.left[inner], self.right[inner]])
        entered = np.sort(np.concatenate([children, self.roots]))
        entered = entered[np.diff(entered, prepend=-1) > 0]
        tree = np.searchsorted(self.roots, nodes, side="right")
        if (
            not np.array_equal(entered, nodes)
            or np.any(np.diff(self.roots) <= 0)
            or np.any(tree[children] != np.tile(tree[inner], 2))
            or np.any(np.minimum(self.left, self.right)[inner] <= nodes[inner])
            or np.any((self.left != nodes)[~inner] | (self.right != nodes)[~inner])
        ):
            raise fail("the nodes of the trees are no trees")
        if self.depth > _DEEPEST:
            raise fail(f"a tree is deeper than {_DEEPEST} nodes")

    @property
    def depth(self) -> int:
        """The largest number of comparisons from a root to a leaf."""
        return int(self._depths.max(initial=0))

    @functools.cached_property
    def _depths(self):
        """The largest number of comparisons (t,) of each tree, at most _DEEPEST + 1."""
        node = self.roots
        depths = np.zeros(len(self.roots), np.int64)
        inner = self.feature >= 0
        waits = np.bincount(
            np.concatenate([self.left[inner], self.right[inner]]), minlength=len(inner)
        )  # for so many nodes before it
        for depth in range(1, _DEEPEST + 2):
            node = node[inner[node]]
            depths[np.searchsorted(self.roots, node, side="right") - 1] = depth
            node, count = np.unique(
                np.concatenate([self.left[node], self.right[node]]), return_counts=True
            )
            waits[node] -= count
            node = node[waits[node] == 0]
            if not len(node):
                break
        return depths

    @functools.cached_property
    def comparisons(self) -> np.ndarray:
        """The largest number of comparisons (m,) that a point costs each classifier."""
        return np.diff(np.cumsum(np.append(0, self._depths))[self.starts])

    @functools.cached_property
    def _next(self):
        """The node after node i: entry 2 i where it goes right, 2 i + 1 where it goes left."""
        return np.stack([self.right, self.left], axis=1).ravel()

    @functools.cached_property
    def _compared(self):
        return np.maximum(self.feature, 0)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The decision values f (n,) of a forest of one classifier."""
        return self.values(x, [0])[0]

    def values(self, x: np.ndarray, columns) -> np.ndarray:
        """Decision values (c, n) of the classifiers of these numbers for points x (n, d).

        NaN is a missing value. A point's values do not depend on the other points.
        """
        result = np.empty((len(columns), len(x)))
        for place, column in enumerate(columns):
            trees = np.arange(self.starts[column], self.starts[column + 1])
            trees = trees[np.argsort(-self._depths[trees], kind="stable")]
            step = max(1, _CELLS // max(1, len(trees)))
            for start in range(0, len(x), step):
                block = np.ascontiguousarray(x[start : start + step], dtype=np.float64)
                leaves = np.empty((len(trees), len(block)), self.roots.dtype)
                leaves[trees - self.starts[column]] = self._leaves(block, trees)
                # as one row for each point, whose sum does not depend on the number of points
                result[place, start : start + step] = self.value.take(leaves.T.copy()).sum(axis=1)
        return result

    def _leaves(self, x, trees):
        """The leaf (t, n) of each point in each tree, the deepest tree first."""
        cells = x.ravel()
        first = np.arange(len(x)) * x.shape[1]
        if np.isnan(cells.sum()):
            missing = np.isnan(cells)
        else:
            missing = None
        nodes = np.repeat(self.roots[trees, None], len(x), axis=1)
        depths = self._depths[trees]
        for done in range(depths.max(initial=0)):
            node = nodes[: np.count_nonzero(depths > done)]  # other trees have come to their leaves
            cell = self._compared.take(node) + first
            goes_left = cells.take(cell) <= self.value.take(node)
            if missing is not None:
                goes_left |= missing.take(cell) & self.missing_left.take(node)
            node[:] = self._next.take(2 * node + goes_left)
        return nodes
