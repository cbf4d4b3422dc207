"""Finite fields, Hadamard and weighing matrices, and the orthogonal codes made from them."""

import re

import numpy as np
import pytest

from agfmc.control import matrix
from agfmc.designs import orthogonal, random_codes, standard, weighing
from agfmc.core.errors import AgfmcWarning, UsageError

ORDERS = [m for m in range(1, 261) if orthogonal.is_constructible(m)]


def test_prime_powers():
    found = [q for q in range(1, 33) if orthogonal.prime_power(q)]
    expected = [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]
    assert found == expected and orthogonal.prime_power(343) == (7, 3)


@pytest.mark.parametrize("q", [3, 5, 7, 9, 13, 25, 27, 49, 81])
def test_conference_matrices(q):
    c = orthogonal.conference(q).astype(int)
    assert np.array_equal(c.T @ c, q * np.eye(q + 1)) and not c.diagonal().any()
    assert np.array_equal(c, c.T if q % 4 == 1 else -c.T)


def test_orders_missing_below_200():
    missing = [m for m in range(4, 200, 4) if m not in ORDERS]
    assert missing == [156, 172, 188]


def test_every_construction_is_used():
    names = {orthogonal._construction(m)[0] for m in ORDERS}
    assert names == {"sylvester", "paley", "paley2", "williamson", "kronecker"}
    assert orthogonal._construction(92)[0] == orthogonal._construction(116)[0] == "williamson"
    assert orthogonal._construction(28) == ("paley", 27)
    assert orthogonal._construction(52) == ("paley2", 25)


@pytest.mark.few(10)
@pytest.mark.parametrize("m", ORDERS)
def test_hadamard_matrices(m):
    h = orthogonal.hadamard(m).astype(int)
    assert np.array_equal(h.T @ h, m * np.eye(m))
    assert (h[0] == 1).all() and (h[:, 0] == 1).all()


def test_an_order_without_construction_is_refused():
    for m in (0, 3, 6, 668):
        with pytest.raises(ValueError, match="no construction"):
            orthogonal.hadamard(m)


def test_next_order():
    pairs = [(4, 4), (5, 8), (26, 28), (89, 92), (113, 116), (153, 160), (665, 672), (1000, 1000)]
    assert [(k, orthogonal.hadamard_order(k)) for k, _ in pairs] == pairs


@pytest.mark.few(8)
@pytest.mark.parametrize("k", [*range(4, 42), *range(42, 129, 7), 200, 668])
def test_orthogonal_codes(check_code, k):
    m = orthogonal.hadamard_order(k)
    assert m < 2 * k
    for reduced in (False, True):
        a = check_code(orthogonal.orthogonal(k, reduced), k, strict=True)
        assert len(a) == m - reduced and np.array_equal(a.T @ a, m * np.eye(k) - reduced)
        if k <= 40:
            assert np.linalg.matrix_rank(np.vstack([a, np.ones(k)])) == k


def test_five_classes_take_sylvesters_matrix():
    a = matrix.rows_to_matrix(orthogonal.orthogonal(5), 5)
    score = a.T @ np.array([0.2, -0.5, 0.1, 0.9, -0.3, 0.4, -0.7, 0.6]) / 8
    # Projected onto the simplex all classes but 1 stay: one shift for the four.
    expected = np.array([0.13125, 0, 0.08125, 0.48125, 0.30625])
    shift = expected - score
    np.testing.assert_allclose(shift[[0, 2, 3, 4]], shift[0], atol=1e-12)
    assert score[1] + shift[0] <= 0


def test_column_0_is_negated_unless_a_row_forbids_it():
    code = np.array([[1, 1, 1, 1], [1, -1, 1, -1]])
    assert orthogonal._with_both_signs(code)[:, 0].tolist() == [-1, -1]
    code[0, 0], code[1] = -1, [-1, 1, -1, -1]  # so that column 1 alone is a row's complement
    assert orthogonal._with_both_signs(code).tolist() == [[1, -1, 1, 1], [1, -1, -1, -1]]
    assert orthogonal.orthogonal(8)[0] == ((0,), (1, 2, 3, 4, 5, 6, 7))


@pytest.mark.parametrize("make", [orthogonal.orthogonal, random_codes.random_as_orthogonal])
def test_where_there_is_no_orthogonal_code(make):
    for k in (2, 3):
        with pytest.warns(AgfmcWarning, match="no orthogonal code"):
            assert make(k) == standard.one_vs_rest(k)
    with pytest.raises(UsageError, match="two classes"):
        make(1)


# Ternary orthogonal codes


def check_special(check_code, rows, k, w):
    a = check_code(rows, k)
    assert np.array_equal(a.T @ a, w * np.eye(k))


@pytest.mark.parametrize("q", [2, 3, 4, 5, 7, 8, 9])
def test_circulants(q):
    v = q * q + q + 1
    a = weighing._circulant(q).astype(int)
    assert np.array_equal(a.T @ a, q * q * np.eye(v)) and np.array_equal(np.roll(a[3], 1), a[4])


def test_weights_of_small_orders():
    expected = {
        2: {2},
        3: set(),
        4: {3, 4},
        6: {5},
        7: {4},
        8: {6, 7, 8},
        12: {10, 11, 12},
        13: {9},
        14: {8, 13},
        16: {9, 12, 14, 16},
        21: {16},
    }
    assert {m: set(weighing._weights(m)) for m in expected} == expected


@pytest.mark.parametrize("m", range(4, 41))
def test_weighing_matrices(m):
    for w in weighing._weights(m):
        for a in weighing._matrices(m, w):
            a = a.astype(int)
            assert np.array_equal(a.T @ a, w * np.eye(m)) and (np.abs(a).sum(axis=1) == w).all()


@pytest.mark.few(6)
@pytest.mark.parametrize("k", range(4, 31))
def test_every_possible_weight(check_code, k):
    weights = weighing.possible_weights(k)
    assert weights
    for w in weights:
        rows = weighing.special(k, w)
        check_special(check_code, rows, k, w)
        assert k <= len(rows) <= 2 * k
        assert matrix.code_rank(rows, k) == k


@pytest.mark.parametrize(
    "k, m, w",
    [(4, 4, 4), (5, 6, 5), (7, 7, 4), (13, 13, 9), (20, 20, 19), (21, 21, 16), (26, 26, 25)],
)
def test_default_has_the_fewest_rows_and_then_the_most_entries(check_code, k, m, w):
    rows = weighing.special(k)
    assert len(rows) == m
    check_special(check_code, rows, k, w)


def test_a_special_code_of_many_classes(check_code):
    rows = weighing.special(500, 400)
    check_special(check_code, rows, 500, 400)


def test_rows_with_two_entries_of_both_products_cannot_be_repaired():
    a = np.zeros((3, 12), dtype=int)
    a[0, :2], a[1, :2], a[2, 2:] = 1, (-1, 1), 1
    assert weighing._signs(a[:2, :2]) is None and weighing._signs(a) is None


@pytest.mark.parametrize("k, w", [(5, 4), (26, 9), (26, 0), (26, -1), (40, 10**6)])
def test_an_impossible_weight_lists_the_possible_ones(k, w):
    with pytest.raises(UsageError, match="possible: ") as caught:
        weighing.special(k, w)
    listed = [int(word) for word in re.findall(r"\d+", str(caught.value).split("possible:")[1])]
    possible = weighing.possible_weights(k)
    assert set(listed) <= set(possible) and len(listed) == min(len(possible), weighing.LISTED)
    worst = max(abs(weight - w) for weight in listed)
    assert all(abs(weight - w) >= worst for weight in set(possible) - set(listed))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_too_few_classes_for_a_special_code(k):
    with pytest.raises(UsageError, match="at least 4 classes"):
        weighing.special(k)
