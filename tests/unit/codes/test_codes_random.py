"""Random codes."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agfmc.codes import bits, matrix, randomcode
from agfmc.errors import UsageError


def different(rows):
    return {frozenset(row) for row in rows}


def all_rows(k, strict):
    """Every row with both signs, complements once, by trying all."""
    values = (-1, 1) if strict else (-1, 0, 1)
    entries = [a for a in product(values, repeat=k) if -1 in a and 1 in a]
    return different(matrix.matrix_to_rows(entries))


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("k", range(2, 8))
def test_asking_for_all_rows_gives_all_rows(k, strict):
    expected = all_rows(k, strict)
    assert randomcode.available_rows(k, strict) == len(expected)
    rows = randomcode.random_code(k, len(expected), strict)
    assert different(rows) == expected
    assert len(rows) == len(expected)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("k", [4, 6])
def test_one_row_more_than_there_are(k, strict):
    available = randomcode.available_rows(k, strict)
    with pytest.raises(UsageError, match=f"only {available} exist"):
        randomcode.random_code(k, available + 1, strict)


def test_counts():
    assert [randomcode.available_rows(k, True) for k in (2, 3, 7)] == [1, 3, 63]
    assert [randomcode.available_rows(k) for k in (2, 3, 7)] == [1, 6, 966]


@settings(deadline=None, max_examples=60)
@given(k=st.integers(2, 30), strict=st.booleans(), seed=st.integers(0, 10 ** 9), data=st.data())
def test_properties(k, strict, seed, data):
    available = randomcode.available_rows(k, strict)
    m = data.draw(st.one_of(
        st.none(), st.integers(k - 1, min(available, 3 * k)),
        st.integers(max(k - 1, available - 2), available) if available < 200 else st.none(),
    ))
    rows = randomcode.random_code(k, m, strict, seed)
    assert len(rows) == (min(4 * -(-k // 4), available) if m is None else m)
    assert len(different(rows)) == len(rows)
    for left, right in rows:
        assert left and right and not set(left) & set(right)
        assert set(left + right) <= set(range(k))
        if strict:
            assert len(left + right) == k
    assert matrix.code_rank(rows, k) == k
    assert matrix.is_connected(rows, k)
    assert randomcode.random_code(k, m, strict, seed) == rows


def test_a_code_of_full_rank_may_not_leave_a_class_apart():
    # Rows 0/12, 1/02, 2/01 have full rank with the sum of all, yet say nothing on class 3.
    assert matrix.code_rank([((0,), (1, 2)), ((1,), (0, 2)), ((2,), (0, 1))], 4) == 4
    for seed in range(400):
        assert matrix.is_connected(randomcode.random_code(4, 3, seed=seed), 4)


def test_the_seed_decides():
    assert randomcode.random_code(10, seed=1) != randomcode.random_code(10, seed=2)
    assert randomcode.random_code(10) == randomcode.random_code(10, seed=1)


def test_deficient_codes_are_drawn_again():
    # With k-1 rows a good part of all draws is deficient.
    for seed in range(50):
        rows = randomcode.random_code(5, 4, strict=True, seed=seed)
        assert matrix.code_rank(rows, 5) == 5


def test_every_row_is_as_likely():
    seen = {}
    for seed in range(1500):
        for row in randomcode.random_code(3, 4, seed=seed):
            seen[row] = seen.get(row, 0) + 1
    assert len(seen) == 12  # six rows, each with either side on the left
    # By symmetry the three one-vs-one rows are alike, and so are the three others.
    pairs = [n for row, n in seen.items() if len(row[0] + row[1]) == 2]
    strict = [n for row, n in seen.items() if len(row[0] + row[1]) == 3]
    for counts in (pairs, strict):
        mean = sum(counts) / len(counts)
        assert all(abs(n - mean) < 6 * mean ** 0.5 for n in counts)


@pytest.mark.parametrize("strict", [True, False])
def test_ranks_and_rows_correspond(strict):
    k = 6
    unrank = randomcode._strict_row if strict else randomcode._any_row
    rows = [bits.row(*unrank(k, i)) for i in range(randomcode.available_rows(k, strict))]
    assert different(rows) == all_rows(k, strict)


def test_too_few_rows_and_classes():
    with pytest.raises(UsageError, match="9 classes apart takes at least 3 rows, not 2"):
        randomcode.random_code(9, 2)
    with pytest.raises(UsageError, match="at least 4 strict rows .without zeros., not 3"):
        randomcode.random_code(9, 3, strict=True)
    with pytest.raises(UsageError, match="at least two classes"):
        randomcode.random_code(1)


@pytest.mark.parametrize("k, m, strict", [(8, 3, True), (8, 3, False), (8, 6, False), (9, 6, True)])
def test_few_rows_still_tell_all_classes_apart(k, m, strict):
    for seed in range(20):
        rows = randomcode.random_code(k, m, strict, seed)
        assert len(rows) == m and matrix.is_connected(rows, k)
        assert len({tuple(column) for column in matrix.rows_to_matrix(rows, k).T}) == k
        assert matrix.code_rank(rows, k) == m + 1


def test_many_classes():
    rows = randomcode.random_code(200, strict=True)
    assert len(different(rows)) == 200
    assert matrix.code_rank(rows, 200) == 200
    with pytest.raises(UsageError, match=r"only about 10\^120 exist"):
        randomcode.random_code(400, 10 ** 200, strict=True)
