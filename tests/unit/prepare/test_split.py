"""Splits: every row once, the right sizes, and the same for the same seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agfmc.errors import DataError, UsageError
from agfmc.prepare.split import (shuffled, split_fraction, split_parts, split_random,
                                 split_stratified)

FRACTIONS = st.floats(0.01, 0.99)


def whole(parts, n):
    return sorted(np.concatenate(parts).tolist()) == list(range(n))


def test_the_last_fraction_is_the_test_part():
    train, test = split_fraction(10, 0.3)
    assert train.tolist() == [0, 1, 2, 3, 4, 5, 6] and test.tolist() == [7, 8, 9]
    assert len(split_fraction(10, 0.25)[1]) == 3 and len(split_fraction(10, 0.05)[1]) == 1


@pytest.mark.parametrize("n, fraction", [(10, 0.04), (10, 0.96), (1, 0.5), (0, 0.5)])
def test_a_part_without_points(n, fraction):
    with pytest.raises(DataError, match="without points"):
        split_fraction(n, fraction)


@pytest.mark.parametrize("fraction", [0, 1, -0.1, 1.5, float("nan")])
def test_a_fraction_that_is_none(fraction):
    with pytest.raises(UsageError, match="between 0 and 1"):
        split_fraction(10, fraction)
    with pytest.raises(UsageError, match="between 0 and 1"):
        split_stratified([0, 0, 1, 1], fraction, 1)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), FRACTIONS, st.integers(0, 9))
def test_every_class_gives_its_fraction(y, fraction, seed):
    y = np.array(y) * 3
    sizes = dict(zip(*np.unique(y, return_counts=True)))
    expected = {c: min(int(fraction * size + 0.5), size - 1) for c, size in sizes.items()}
    if not any(expected.values()):
        with pytest.raises(DataError, match="no points for testing"):
            split_stratified(y, fraction, seed)
        return
    train, test = split_stratified(y, fraction, seed)
    assert whole((train, test), len(y))
    assert np.all(np.diff(train) > 0) and np.all(np.diff(test) > 0)
    assert {c: int((y[test] == c).sum()) for c in sizes} == expected
    again = split_stratified(y, fraction, seed)
    assert np.array_equal(again[0], train) and np.array_equal(again[1], test)


def test_the_stratified_rows_are_drawn_at_random():
    y = np.repeat([0, 1], 500)
    tests = [split_stratified(y, 0.2, seed)[1] for seed in range(20)]
    assert len({tuple(test.tolist()) for test in tests}) == 20
    drawn = np.bincount(np.concatenate(tests), minlength=1000)
    assert 0 < drawn[:100].mean() < 8 and 0 < drawn[-100:].mean() < 8
    assert abs(drawn[:250].mean() - 4) < 1 and abs(drawn[250:500].mean() - 4) < 1


@given(st.integers(1, 50), st.integers(1, 50))
def test_parts_are_runs_of_nearly_equal_size(n, parts):
    if parts > n:
        with pytest.raises(DataError, match="cannot be divided"):
            split_parts(n, parts)
        return
    got = split_parts(n, parts)
    assert np.concatenate(got).tolist() == list(range(n)) and len(got) == parts
    sizes = [len(part) for part in got]
    assert max(sizes) - min(sizes) <= 1


def test_no_parts():
    with pytest.raises(UsageError):
        split_parts(5, 0)


def test_shuffling_follows_the_seed():
    assert whole([shuffled(100, 1)], 100) and np.array_equal(shuffled(100, 1), shuffled(100, 1))
    assert not np.array_equal(shuffled(100, 1), shuffled(100, 2))


def test_each_row_is_drawn_with_the_probability():
    parts = [split_random(400, 0.2, seed) for seed in range(50)]
    assert all(whole(part, 400) for part in parts)
    sizes = [len(test) for _, test in parts]
    assert len(set(sizes)) > 5 and abs(np.mean(sizes) - 80) < 5
    drawn = np.bincount(np.concatenate([test for _, test in parts]), minlength=400)
    assert drawn.max() < 30 and abs(drawn[:50].mean() - 10) < 3
    assert np.array_equal(split_random(400, 0.2, 3)[1], parts[3][1])


@pytest.mark.parametrize("n, fraction, error", [(3, 0.0, UsageError), (3, 1.0, UsageError),
                                                (3, 0.001, DataError), (3, 0.999, DataError)])
def test_drawing_that_cannot_be(n, fraction, error):
    with pytest.raises(error):
        split_random(n, fraction, 1)
