"""The best of many random codes."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agfmc.codes import bits, improved, matrix, randomcode
from agfmc.codes.improved import improved_code
from agfmc.errors import UsageError


def worth(rows, k):
    """What the best code has most of, from the matrix and its definition."""
    a = matrix.rows_to_matrix(rows, k).astype(int)

    def far(u, v):
        return abs(u - v).sum() / 2

    columns = [far(u, v) for u, v in combinations(a.T, 2)]
    between = [min(far(u, v), far(u, -v)) for u, v in combinations(a, 2)]
    return (min(columns), min(between, default=0), sum(columns), sum(between))


@settings(deadline=None, max_examples=40)
@given(k=st.integers(2, 14), strict=st.booleans(), seed=st.integers(0, 10 ** 9),
       more=st.integers(0, 8))
def test_one_draw_is_the_random_code(k, strict, seed, more):
    rows = min(k - 1 + more, randomcode.available_rows(k, strict))
    assert improved_code(k, rows, strict, seed) == randomcode.random_code(k, rows, strict, seed)
    assert improved_code(k, None, strict, seed, 1) == randomcode.random_code(k, None, strict, seed)


@settings(deadline=None, max_examples=30)
@given(k=st.integers(3, 12), strict=st.booleans(), seed=st.integers(0, 10 ** 6),
       more=st.integers(0, 8))
def test_more_draws_are_never_worse_and_the_code_stays_a_code(k, strict, seed, more):
    rows = min(k + more, randomcode.available_rows(k, strict))
    codes = [improved_code(k, rows, strict, seed, draws) for draws in (1, 2, 5, 17)]
    values = [worth(code, k) for code in codes]
    assert values == sorted(values)
    for code, (columns, between, *_) in zip(codes, values):
        assert len(code) == rows
        assert matrix.code_rank(code, k) == k and matrix.is_connected(code, k)
        assert matrix.smallest_distances(code, k) == (between if rows > 1 else None, columns)
        if strict:
            assert all(len(left + right) == k for left, right in code)
        different = {frozenset(map(frozenset, row)) for row in code}
        assert len(different) == rows
    assert improved_code(k, rows, strict, seed, 17) == codes[-1]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("k, rows, seed", [(6, 8, 5), (9, 12, 5), *((5, 6, i) for i in range(9))])
def test_it_is_the_best_of_the_draws(monkeypatch, strict, k, rows, seed):
    drawn = []
    original = improved.drawn_rows

    def noted(*arguments):
        drawn.append(original(*arguments))
        return drawn[-1]

    monkeypatch.setattr(improved, "drawn_rows", noted)
    best = improved_code(k, rows, strict, seed, 60)
    assert len(drawn) == 59
    first = randomcode.random_code(k, rows, strict, seed)
    codes = [[bits.row(*signed) for signed in signed_rows] for signed_rows in drawn]
    usable = [code for code in codes
              if matrix.code_rank(code, k) == k and matrix.is_connected(code, k)]
    values = [worth(code, k) for code in [first, *usable]]
    assert worth(best, k) == max(values)
    chosen = [first, *usable][values.index(max(values))]  # of equals the first
    assert [set(row) for row in best] == [set(row) for row in chosen]


def test_deficient_draws_are_passed_over(monkeypatch):
    first = improved_code(8, 9, True, 1, 1)
    assert improved_code(8, 9, True, 1, 50) != first
    monkeypatch.setattr(improved, "determines", lambda *arguments: False)
    assert improved_code(8, 9, True, 1, 50) == first


def test_columns_come_before_rows():
    few, many = (matrix.smallest_distances(improved_code(26, 40, True, 1, draws), 26)
                 for draws in (100, 1000))
    assert many[1] > few[1] and many[0] < few[0]


def test_all_rows_there_are_are_drawn_once(monkeypatch):
    monkeypatch.setattr(improved, "drawn_rows", None)
    assert improved_code(4, 7, True, 3, 10 ** 7) == randomcode.random_code(4, 7, True, 3)
    assert improved_code(2, draws=10 ** 7) == randomcode.random_code(2)


def test_what_does_not_exist():
    for arguments in ((1,), (4, 100), (9, 2)):
        with pytest.raises(UsageError) as found:
            randomcode.random_code(*arguments)
        with pytest.raises(UsageError) as wrong:
            improved_code(*arguments, draws=9)
        assert str(found.value) == str(wrong.value)
