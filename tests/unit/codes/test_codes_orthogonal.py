"""Finite fields, Hadamard matrices and the orthogonal codes made from them."""

from __future__ import annotations

import numpy as np
import pytest

from agfmc.codes import bits, fields, hadamard, matrix, orthogonal
from agfmc.errors import UsageError

ORDERS = [m for m in range(1, 261) if hadamard.is_constructible(m)]


def as_matrix(masks):
    m = len(masks)
    return np.array([[1 - 2 * (row >> j & 1) for j in range(m)] for row in masks])


def check_strict_code(rows, k):
    assert all(left and right and sorted(left + right) == list(range(k)) for left, right in rows)
    assert len({frozenset(row) for row in rows}) == len(rows)


@pytest.mark.parametrize("p, e", [(2, 1), (2, 4), (3, 1), (3, 3), (5, 2), (7, 3), (31, 1)])
def test_powers_of_a_generator_are_all_elements(p, e):
    elements = fields.powers(p, e)
    assert len(set(elements)) == len(elements) == p ** e - 1
    assert sorted(fields.number(x, p) for x in elements) == list(range(1, p ** e))


def test_prime_powers():
    found = [q for q in range(1, 33) if fields.prime_power(q)]
    expected = [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]
    assert found == expected
    assert fields.prime_power(343) == (7, 3)


@pytest.mark.parametrize("p, e", [(3, 2), (2, 3), (5, 2), (3, 3)])
def test_translates_add_digit_by_digit(p, e):
    q = p ** e

    def digits(x):
        return [x // p ** d % p for d in range(e)]

    chosen = [0, 1, q // 2, q - 2]
    for i, moved in enumerate(fields.translates(bits.mask(chosen), p, e)):
        expected = {
            sum((a + b) % p * p ** d for d, (a, b) in enumerate(zip(digits(x), digits(i))))
            for x in chosen
        }
        assert set(bits.positions(moved)) == expected


def test_differences_that_are_no_squares():
    rows = fields.squares_differ(7, 1)
    assert bits.positions(rows[0]) == (3, 5, 6)
    assert bits.positions(rows[2]) == (0, 1, 5)


@pytest.mark.parametrize("q", [3, 5, 7, 9, 13, 25, 27, 49, 81])
def test_conference_matrices(q):
    rows = [bits.row(*signed) for signed in hadamard.conference(q)]
    c = matrix.rows_to_matrix(rows, q + 1).astype(int)
    assert np.array_equal(c.T @ c, q * np.eye(q + 1))
    assert not c.diagonal().any()
    assert np.array_equal(c, c.T if q % 4 == 1 else -c.T)


def test_orders_missing_below_200():
    missing = [m for m in range(4, 200, 4) if m not in ORDERS]
    assert missing == [156, 172, 188]


def test_every_construction_is_used():
    names = {hadamard._construction(m)[0] for m in ORDERS}
    assert names == {"sylvester", "paley", "paley2", "williamson", "kronecker"}
    assert hadamard._construction(92)[0] == hadamard._construction(116)[0] == "williamson"
    assert hadamard._construction(28) == ("paley", 27)
    assert hadamard._construction(52) == ("paley2", 25)


@pytest.mark.parametrize("m", ORDERS)
def test_hadamard_matrices(m):
    h = as_matrix(hadamard.hadamard(m))
    assert np.array_equal(h.T @ h, m * np.eye(m))
    assert (h[0] == 1).all() and (h[:, 0] == 1).all()


def test_an_order_without_construction_is_refused():
    for m in (0, 3, 6, 668):
        with pytest.raises(ValueError, match="no construction"):
            hadamard.hadamard(m)


def test_next_order():
    pairs = [(4, 4), (5, 8), (26, 28), (89, 92), (113, 116), (153, 160), (665, 672), (1000, 1000)]
    assert [(k, hadamard.hadamard_order(k)) for k, _ in pairs] == pairs


@pytest.mark.parametrize("k", [*range(4, 129), 200, 668, 1000])
def test_orthogonal_codes(k):
    rows = orthogonal.orthogonal(k)
    m = len(rows)
    assert m == hadamard.hadamard_order(k) and m < 2 * k
    a = matrix.rows_to_matrix(rows, k).astype(np.float64)
    assert np.array_equal(a.T @ a, m * np.eye(k))
    if k <= 200:
        check_strict_code(rows, k)


@pytest.mark.parametrize("k", [*range(4, 129), 200])
def test_reduced_orthogonal_codes(k):
    rows = orthogonal.orthogonal(k, reduced=True)
    m = hadamard.hadamard_order(k)
    assert len(rows) == m - 1
    a = matrix.rows_to_matrix(rows, k).astype(np.float64)
    assert np.array_equal(a.T @ a, m * np.eye(k) - 1)
    check_strict_code(rows, k)
    if k <= 40:
        assert matrix.code_rank(rows, k) == k


def test_five_classes_take_sylvesters_matrix():
    a = matrix.rows_to_matrix(orthogonal.orthogonal(5), 5)
    score = a.T @ np.array([.2, -.5, .1, .9, -.3, .4, -.7, .6]) / 8
    # Projected onto the simplex all classes but 1 stay: one shift for the four.
    expected = np.array([.13125, 0, .08125, .48125, .30625])
    shift = expected - score
    np.testing.assert_allclose(shift[[0, 2, 3, 4]], shift[0], atol=1e-12)
    assert score[1] + shift[0] <= 0


def test_column_0_is_negated_unless_a_row_forbids_it():
    assert orthogonal._signs([0b0000, 0b0101], 0b1111) == 1
    assert orthogonal._signs([0b0001, 0b1101], 0b1111) == 3  # 2 is a row's complement
    assert orthogonal.orthogonal(8)[0] == ((0,), (1, 2, 3, 4, 5, 6, 7))


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("k, reason", [
    (1, "two classes"), (2, "only one partition"), (3, "only three partitions"),
])
def test_too_few_classes(k, reason, reduced):
    with pytest.raises(UsageError, match=reason):
        orthogonal.orthogonal(k, reduced)
