"""Splits: every row once, the right sizes, and the same for the same seed."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.core.errors import DataError
from agfmc.core.splits import (
    shuffled,
    split_fraction,
    split_parts,
    split_random,
    split_stratified,
    stratified_rows,
)

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


def test_rows_by_largest_remainders():
    def kept(sizes, rows, least=0):
        y = np.repeat(np.arange(len(sizes)) - 3, sizes)
        drawn = stratified_rows(y, rows, least, 1)
        assert np.all(np.diff(drawn) > 0)
        return np.bincount(y[drawn] + 3, minlength=len(sizes)).tolist()

    assert kept([50, 30, 20], 10) == [5, 3, 2]
    assert kept([7, 7, 7], 11) == [4, 4, 3] and kept([60, 39, 1], 10) == [6, 4, 0]
    assert kept([60, 39, 1], 10, 1) == [5, 4, 1]  # 9 rows in 60 : 39 are 5.45 and 3.55
    # 5 and 5 leave 2 for the first, which is below 5 only after the others have theirs
    assert kept([60, 10, 30], 15, 5) == [5, 5, 5] and kept([90, 4, 6], 20, 5) == [11, 4, 5]
    assert kept([3, 2], 5, 9) == kept([3, 2], 99) == [3, 2]
    with pytest.raises(DataError, match="9 rows cannot hold 5 of each class.* needs 12"):
        kept([90, 2, 6], 9, 5)


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=8),
    st.integers(1, 200),
    st.integers(0, 12),
    st.integers(0, 9),
)
def test_every_class_keeps_its_share(sizes, rows, least, seed):
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    sizes, floor = np.array(sizes), np.minimum(sizes, least)
    if floor.sum() > rows and rows < len(y):
        with pytest.raises(DataError, match=f"needs {floor.sum()}$"):
            stratified_rows(y, rows, least, seed)
        return
    drawn = stratified_rows(y, rows, least, seed)
    kept = np.bincount(y[drawn], minlength=len(sizes))
    assert len(drawn) == min(rows, len(y)) and np.all(np.diff(drawn) > 0)
    assert np.all(kept >= floor) and np.all(kept <= sizes)
    above = kept > floor  # in one proportion, to less than one row
    assert np.max((kept[above] - 1) / sizes[above], initial=0) < np.min(
        (kept[above] + 1) / sizes[above], initial=2
    )
    share = sizes * rows / len(y)
    if np.all(share >= floor):
        assert np.all(np.abs(kept - np.minimum(share, sizes)) < 1)
    assert np.array_equal(drawn, stratified_rows(y, rows, least, seed))


def test_the_rows_are_drawn_at_random():
    y = np.repeat([0, 1], [300, 100])
    draws = [stratified_rows(y, 80, 1, seed) for seed in range(30)]
    assert len({tuple(rows.tolist()) for rows in draws}) == 30
    often = np.bincount(np.concatenate(draws), minlength=400)
    assert abs(often[:150].mean() - 6) < 1 and abs(often[150:300].mean() - 6) < 1
    assert often[300:].sum() == 600 and often.max() < 18


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


@pytest.mark.parametrize("fraction", [0.001, 0.999])
def test_drawing_that_cannot_be(fraction):
    with pytest.raises(DataError):
        split_random(3, fraction, 1)
