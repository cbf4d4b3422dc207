"""The decoder of rows of groups: hand-computed numbers, optimality, and its neighbours."""

import numpy as np
import pytest

from agfmc.decode.front import CodeDecoder
from agfmc.control.matrix import matrix_to_rows
from agfmc.decode.code_kinds import rows_of_groups
from agfmc.designs.symbols import symbol_tree
from agfmc.prediction.decoding import coding_matrix

REST = 2 * np.eye(3, dtype=int) - 1


def random_values(a, n, seed=0, spread=1.0):
    """r (n, m) whose groups have shares of a row that sum to 1, and that no p agrees with."""
    rng = np.random.default_rng(seed)
    r = rng.uniform(-1, 1, (n, len(a)))
    for part in rows_of_groups(matrix_to_rows(a)):
        if part.stop > part.start + 1:
            shares = rng.dirichlet(np.full(part.stop - part.start, spread), n)
            r[:, part] = 2 * shares - 1
    return r


@pytest.mark.parametrize(
    "a, shares, expected",
    [
        (REST, [0.5, 0.3, 0.2], [0.5, 0.3, 0.2]),
        # of two rows of single classes the mean
        (np.vstack([REST, REST]), [0.5, 0.3, 0.2, 0.3, 0.3, 0.4], [0.4, 0.3, 0.3]),
        ([[-1, 1, 1], [-1, -1, 1]], [0.4, 0.2], [0.6, 0.2, 0.2]),
        # 0.75 log p_0 + 1.25 log p_2: class 1 has none, as its G = 0.5 / 0.625 + 0.25 / 0.375 < 2
        ([[-1, 1, 1], [-1, -1, 1]], [0.5, 0.75], [0.375, 0.0, 0.625]),
        # certain of class 0, and of class 2
        ([[-1, 1, 1], [-1, -1, 1]], [0.0, 1.0], [0.5, 0.0, 0.5]),
    ],
)
def test_three_classes_by_hand(a, shares, expected):
    p, status = CodeDecoder(np.array(a), "likelihood")(2 * np.array(shares) - 1)
    np.testing.assert_allclose(p, [expected], atol=1e-6)
    assert status.unfinished == 0


@pytest.mark.parametrize("spread", [1.0, 0.02])
def test_no_class_can_gain_and_em_ends_there(spread):
    a = coding_matrix(symbol_tree("random rows=6", range(9), 4))
    r = random_values(a, 20, spread=spread)
    p = CodeDecoder(a, "likelihood")(r)[0]
    groups = a > 0
    shares = np.maximum((1 + r) / 2, 1e-12)
    gain = (shares / (p @ groups.T)) @ groups / 6
    assert gain.max() < 1 + 1e-6
    assert np.abs(p * (gain - 1)).max() < 1e-6
    em = np.full_like(p, 1 / 9)
    for _ in range(3000):
        em *= (shares / (em @ groups.T)) @ groups / 6
    log_likelihood = [(shares * np.log(one @ groups.T)).sum(axis=1) for one in (p, em)]
    assert (log_likelihood[0] >= log_likelihood[1] - 1e-9).all()
    np.testing.assert_allclose(log_likelihood[0], log_likelihood[1], atol=1e-2)


@pytest.mark.parametrize("scheme", ["random rows=9", "tree", "one-vs-one"])
def test_two_groups_are_the_least_kullback_leibler_divergence(scheme):
    a = coding_matrix(symbol_tree(scheme, range(6), 2))
    r = random_values(a, 10)
    p, kl = (CodeDecoder(a, name)(r)[0] for name in ("likelihood", "zadrozny-kl"))
    np.testing.assert_allclose(p, kl, atol=1e-6)


def test_names_of_groups_and_neighbours_do_not_matter():
    a = coding_matrix(symbol_tree("random", range(9), 3))
    r = random_values(a, 10)
    p = CodeDecoder(a, "likelihood")(r)[0]
    turned = np.concatenate(
        [
            np.arange(part.start, part.stop)[::-1]
            for part in reversed(list(rows_of_groups(matrix_to_rows(a))))
        ]
    )
    np.testing.assert_allclose(CodeDecoder(a[turned], "likelihood")(r[:, turned])[0], p, atol=1e-9)
    alone = [CodeDecoder(a, "likelihood")(row)[0][0] for row in r]
    np.testing.assert_array_equal(alone, p)


def test_a_tree_is_the_product_of_its_branches():
    a = coding_matrix(symbol_tree("tree", range(7), 3))  # 0 1 2 | 3 4 | 5 6
    shares = [0.5, 0.3, 0.2, 0.1, 0.2, 0.7, 0.25, 0.75]
    p = CodeDecoder(a, "likelihood")(2 * np.array(shares) - 1)[0]
    expected = [0.05, 0.1, 0.35, 0.225, 0.075, 0.05, 0.15]
    np.testing.assert_allclose(p, [expected], atol=1e-8)
