"""Distances of classes from how often they were taken for each other."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agfmc.codes.confusion import confusion_distances
from agfmc.errors import UsageError


def test_by_hand():
    errors = [[8, 2, 0], [1, 3, 0], [0, 0, 20]]
    d = confusion_distances(errors, [10, 4, 20])
    third = 1 / 3
    expected = [-log(((2 + third) / 11 + (1 + third) / 5) / 2),
                -log((third / 11 + third / 21) / 2), -log((third / 5 + third / 21) / 2)]
    np.testing.assert_allclose([d[0, 1], d[0, 2], d[1, 2]], expected, rtol=1e-14)
    pairs = confusion_distances([[0, 3], [1, 0]], [[0, 9], [7, 0]], 2)
    assert pairs[0, 1] == pytest.approx(-log((3.5 / 10 + 1.5 / 8) / 2), rel=1e-14)


@given(k=st.integers(2, 8), seed=st.integers(0, 10 ** 6), empty=st.booleans())
def test_a_distance_for_every_table(k, seed, empty):
    table = np.random.default_rng(seed).integers(0, 5, (k, k))
    if empty:
        table[0] = 0
    d = confusion_distances(table, table.sum(axis=1))
    assert np.isfinite(d).all() and (d >= 0).all()
    assert np.array_equal(d, d.T) and not np.diag(d).any()
    turned = np.random.default_rng(seed).permutation(k)
    moved = table[np.ix_(turned, turned)]
    np.testing.assert_allclose(confusion_distances(moved, moved.sum(axis=1)),
                               d[np.ix_(turned, turned)], rtol=1e-13)


def test_classes_of_all_sizes_count_alike_and_few_samples_say_little():
    # one tenth of each goes astray: from 0 to 1 of a large class, from 2 to 3 of a small one
    table = np.diag([900, 1000, 9, 10])
    table[0, 1], table[2, 3] = 100, 1
    d = confusion_distances(table, table.sum(axis=1))
    assert abs(d[0, 1] - d[2, 3]) < 0.4
    assert d[[0, 0, 1, 1], [2, 3, 2, 3]].min() > max(d[0, 1], d[2, 3]) + 1
    few = confusion_distances(np.diag([2, 2]), [2, 2])[0, 1]
    assert few < confusion_distances(np.diag([200, 200]), [200, 200])[0, 1]


def test_counts_that_cannot_be():
    for errors, samples in (([[0, 5], [0, 9]], [4, 9]), ([[0, -1], [0, 9]], [4, 9]),
                            ([[1]], [1]), ([[1, 2]], [3]), ([[1, 0], [0, 1]], [1, 1, 1])):
        with pytest.raises(UsageError):
            confusion_distances(errors, samples)
