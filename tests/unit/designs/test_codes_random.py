"""Random codes, and the best of many."""

from itertools import combinations, product

import pytest
from hypothesis import given, strategies as st

from agfmc.control import matrix
from agfmc.designs import random_codes
from agfmc.designs.random_codes import random_code
from agfmc.core.errors import AgfmcWarning, UsageError


def different(rows):
    return {frozenset(row) for row in rows}


def all_rows(k, strict):
    """Every row with both signs, complements once, by trying all."""
    values = (-1, 1) if strict else (-1, 0, 1)
    entries = [a for a in product(values, repeat=k) if -1 in a and 1 in a]
    return different(
        (tuple(j for j, v in enumerate(a) if v < 0), tuple(j for j, v in enumerate(a) if v > 0))
        for a in entries
    )


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("k", range(2, 8))
def test_asking_for_all_rows_gives_all_rows(k, strict):
    expected = all_rows(k, strict)
    assert random_codes.available_rows(k, strict) == len(expected)
    rows = random_code(k, len(expected), strict)
    assert different(rows) == expected and len(rows) == len(expected)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("k", [4, 6])
def test_one_row_more_than_there_are(k, strict):
    available = random_codes.available_rows(k, strict)
    with pytest.raises(UsageError, match=f"only {available} exist"):
        random_code(k, available + 1, strict)


@given(k=st.integers(2, 30), strict=st.booleans(), seed=st.integers(0, 10**9), data=st.data())
def test_properties(check_code, k, strict, seed, data):
    available = random_codes.available_rows(k, strict)
    m = data.draw(
        st.one_of(
            st.none(),
            st.integers(k - 1, min(available, 3 * k)),
            st.integers(max(k - 1, available - 2), available) if available < 200 else st.none(),
        )
    )
    rows = random_code(k, m, strict, seed)
    assert len(rows) == (min(4 * -(-k // 4), available) if m is None else m)
    check_code(rows, k, strict)
    assert matrix.code_rank(rows, k) == k and random_code(k, m, strict, seed) == rows


def test_a_code_of_full_rank_may_not_leave_a_class_apart(check_code):
    # Rows 0/12, 1/02, 2/01 have full rank with the sum of all, yet say nothing on class 3.
    assert matrix.code_rank([((0,), (1, 2)), ((1,), (0, 2)), ((2,), (0, 1))], 4) == 4
    for seed in range(400):
        check_code(random_code(4, 3, seed=seed), 4)


def test_every_row_is_as_likely():
    seen = {}
    for seed in range(1500):
        for row in random_code(3, 4, seed=seed):
            seen[row] = seen.get(row, 0) + 1
    assert len(seen) == 12  # six rows, each with either side on the left
    # By symmetry the three one-vs-one rows are alike, and so are the three others.
    pairs = [n for row, n in seen.items() if len(row[0] + row[1]) == 2]
    strict = [n for row, n in seen.items() if len(row[0] + row[1]) == 3]
    for counts in (pairs, strict):
        mean = sum(counts) / len(counts)
        assert all(abs(n - mean) < 6 * mean**0.5 for n in counts)


def test_too_few_rows_and_classes():
    with pytest.raises(UsageError, match="to separate 9 classes takes at least 3 rows, not 2"):
        random_code(9, 2)
    with pytest.raises(UsageError, match="at least 4 strict rows .without zeros., not 3"):
        random_code(9, 3, strict=True)
    with pytest.raises(UsageError, match="at least two classes"):
        random_code(1)


@pytest.mark.parametrize("k, m, strict", [(8, 3, True), (8, 3, False), (8, 6, False), (9, 6, True)])
def test_few_rows_still_tell_all_classes_apart(check_code, k, m, strict):
    for seed in range(20):
        with pytest.warns(AgfmcWarning, match=f"at least {k - 1} are needed"):
            rows = random_code(k, m, strict, seed)
        a = check_code(rows, k, strict)
        assert a.shape == (m, k) and len({tuple(column) for column in a.T}) == k
        assert matrix.code_rank(rows, k) == m + 1


def test_many_classes():
    rows = random_code(200, strict=True)
    assert len(different(rows)) == 200 and matrix.code_rank(rows, 200) == 200
    with pytest.raises(UsageError, match=r"only about 10\^120 exist"):
        random_code(400, 10**200, strict=True)


# The best of many


def worth(rows, k):
    """What the best code has most of, from the matrix and its definition."""
    a = matrix.rows_to_matrix(rows, k).astype(int)

    def far(u, v):
        return abs(u - v).sum() / 2

    columns = [far(u, v) for u, v in combinations(a.T, 2)]
    between = [min(far(u, v), far(u, -v)) for u, v in combinations(a, 2)]
    return (min(columns), min(between, default=0), sum(columns), sum(between))


@given(
    k=st.integers(3, 12), strict=st.booleans(), seed=st.integers(0, 10**6), more=st.integers(0, 8)
)
def test_more_draws_are_never_worse_and_the_code_stays_a_code(check_code, k, strict, seed, more):
    rows = min(k + more, random_codes.available_rows(k, strict))
    codes = [
        random_code(k, rows, strict, seed),
        *(random_code(k, rows, strict, seed, draws) for draws in (2, 5, 17)),
    ]
    values = [worth(code, k) for code in codes]
    assert values == sorted(values)
    for code, (columns, between, *_) in zip(codes, values):
        assert len(check_code(code, k, strict)) == rows and matrix.code_rank(code, k) == k
        assert matrix.smallest_distances(code, k) == (between if rows > 1 else None, columns)
    assert random_code(k, rows, strict, seed, 17) == codes[-1]


@pytest.mark.few(6)
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("k, rows, seed", [(6, 8, 5), (9, 12, 5), *((5, 6, i) for i in range(9))])
def test_it_is_the_best_of_the_draws(monkeypatch, connected, strict, k, rows, seed):
    drawn = []
    original = random_codes._quality

    def recorded(code, *arguments):
        drawn.append(code)
        return original(code, *arguments)

    first = random_code(k, rows, strict, seed)
    monkeypatch.setattr(random_codes, "_quality", recorded)
    best = random_code(k, rows, strict, seed, 60)
    del drawn[:-59]  # those of the first code
    usable = [
        code
        for code in drawn
        if matrix.code_rank(code, k) == k and connected(matrix.rows_to_matrix(code, k))
    ]
    values = [worth(code, k) for code in [first, *usable]]
    assert worth(best, k) == max(values)
    chosen = [first, *usable][values.index(max(values))]  # of equals the first
    assert [set(row) for row in best] == [set(row) for row in chosen]


def test_deficient_draws_are_passed_over(monkeypatch):
    first = random_code(8, 9, True, 1, 1)
    assert random_code(8, 9, True, 1, 50) != first
    judge, judged = random_codes._determines, []

    def only_the_first(*arguments):
        judged.append(judge(*arguments))
        return judged[-1] and sum(judged) == 1

    monkeypatch.setattr(random_codes, "_determines", only_the_first)
    assert random_code(8, 9, True, 1, 50) == first and len(judged) > 2


def test_columns_come_before_rows():
    few, many = (
        matrix.smallest_distances(random_code(26, 40, True, 1, draws), 26) for draws in (100, 1000)
    )
    assert many[1] > few[1] and many[0] < few[0]


def test_all_rows_there_are_are_drawn_once():
    assert random_code(4, 7, True, 3, 10**7) == random_code(4, 7, True, 3)
    assert random_code(2, draws=10**7) == random_code(2)


@pytest.mark.parametrize("k, m", [(4, 4), (5, 8), (26, 28)])
def test_as_many_rows_as_the_orthogonal_code(k, m):
    rows = random_codes.random_as_orthogonal(k, 3, 2)
    assert rows == random_code(k, m, True, 3, 2) and len(rows) == m
