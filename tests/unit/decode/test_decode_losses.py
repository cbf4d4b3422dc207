"""Loss-based decoding and one-vs-rest."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agfmc.decode import front, losses, oneagainst
from agfmc.errors import UsageError

NAIVE = {
    "hamming": lambda z: (1 - (z > 0) + (z < 0)) / 2,
    "linear": lambda z: -z,
    "hinge": lambda z: max(0, 1 - z),
    "exponential": lambda z: math.exp(-z),
    "logit": lambda z: math.log(1 + math.exp(-2 * z)),
    "quadratic": lambda z: (1 - z) * (1 - z),
}


def test_all_losses_are_tested():
    assert set(NAIVE) == set(losses.LOSSES)


@pytest.mark.parametrize("loss", NAIVE)
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_as_written(loss, data):
    m, k = data.draw(st.integers(1, 6)), data.draw(st.integers(2, 5))
    row = st.lists(st.sampled_from([-1, 0, 1]), min_size=k, max_size=k)
    a = np.array(data.draw(st.lists(row, min_size=m, max_size=m)), dtype=np.int8)
    point = st.lists(st.one_of(st.just(0.0), st.floats(-9, 9)), min_size=m, max_size=m)
    g = np.array(data.draw(st.lists(point, min_size=1, max_size=4)))
    scores = losses.prepare(a, loss)(g)
    expected = [[-sum(NAIVE[loss](float(a[i, j]) * one[i]) for i in range(m)) for j in range(k)]
                for one in g.tolist()]
    np.testing.assert_allclose(scores, expected, rtol=1e-11, atol=1e-11)


def test_a_zero_of_the_code_costs_the_loss_of_nothing():
    a = np.array([[-1, 1, 0]], dtype=np.int8)
    cost = {"hamming": .5, "linear": 0, "hinge": 1, "exponential": 1, "logit": math.log(2),
            "quadratic": 1}
    for loss, value in cost.items():
        assert losses.prepare(a, loss)(np.array([[7.]]))[0, 2] == pytest.approx(-value)


def test_hamming_orders_as_votes_do():
    rng = np.random.default_rng(5)
    strict = np.array([[1, -1, -1, 1], [-1, 1, -1, 1], [1, 1, -1, -1], [1, 1, 1, -1],
                       [1, -1, 1, 1]], dtype=np.int8)
    g = rng.normal(size=(300, 5)) * 3
    g[rng.random(g.shape) < .1] = 0
    scores = losses.prepare(strict, "hamming")(g)
    votes = front.decode(strict, np.clip(g, -1, 1), "vote").p
    np.testing.assert_allclose(scores, (votes - len(strict)) / 2)
    # Where all columns have as many zeros, as in one-vs-one, too.
    pairs = np.array([[-1, 1, 0], [-1, 0, 1], [0, -1, 1]], dtype=np.int8)
    g = rng.normal(size=(300, 3))
    votes = front.decode(pairs, np.clip(g, -1, 1), "vote").p
    np.testing.assert_allclose(losses.prepare(pairs, "hamming")(g), (votes - 3) / 2)


def test_linear_is_the_weighted_vote():
    a = np.array([[-1, 1, 0], [-1, -1, 1]], dtype=np.int8)
    g = np.array([[2., -3.], [.5, 40.]])
    np.testing.assert_allclose(losses.prepare(a, "linear")(g), g @ a)


@pytest.mark.parametrize("loss", NAIVE)
def test_any_value_gives_finite_scores(loss):
    a = np.array([[-1, 1, 0], [-1, 0, 1], [0, -1, 1]], dtype=np.int8)
    huge = [1000., -1000., 1e308, -1e308, np.inf, -np.inf, 0.]
    g = np.array([[x, y, z] for x in huge for y in huge for z in huge])
    with np.errstate(all="raise", under="ignore"):
        scores = losses.prepare(a, loss)(g)
    assert np.isfinite(scores).all()
    # All speak for class 2, in each of the losses that care how much.
    best = losses.prepare(a, loss)(np.array([[0., 1000., 1000.], [-1., 300., 300.]]))
    if loss != "quadratic":
        assert best.argmax(axis=1).tolist() == [2, 2]


def test_exponential_is_cut_off_only_far_out():
    a = np.array([[-1, 1], [1, -1]], dtype=np.int8)
    scores = losses.prepare(a, "exponential")(np.array([[-450., 0.], [0., -460.]]))
    np.testing.assert_allclose(scores, [[-1, -math.exp(450)], [-math.exp(460), -1]], rtol=1e-12)


def test_unknown_loss():
    with pytest.raises(UsageError, match="hinge"):
        losses.prepare(np.array([[-1, 1]], dtype=np.int8), "mean")


def one_vs_rest(k):
    return (2 * np.eye(k) - 1).astype(np.int8)


@pytest.mark.parametrize("k", [2, 3, 4, 9])
def test_one_vs_rest_in_any_order_and_sign(k):
    rng = np.random.default_rng(k)
    a = one_vs_rest(k)
    r = rng.uniform(-1, 1, (50, k))
    np.testing.assert_allclose(oneagainst.argmax(a)(r), (1 + r) / 2)
    np.testing.assert_array_equal(oneagainst.argmax_raw(a)(9 * r), 9 * r)
    rows, signs = rng.permutation(k), rng.choice([-1, 1], k)
    turned = (a[rows] * signs[:, None]).astype(np.int8)
    p = oneagainst.argmax(turned)(r[:, rows] * signs)
    if k > 2:
        np.testing.assert_allclose(p, (1 + r) / 2)
        found, sign = oneagainst.find(turned)
        assert rows[found].tolist() == list(range(k))
        np.testing.assert_array_equal(sign, signs[found])
    np.testing.assert_array_equal(
        oneagainst.argmax_raw(turned)(r[:, rows] * signs), 2 * p - 1)


def test_two_classes_have_a_row_each():
    p = oneagainst.argmax(np.array([[-1, 1], [-1, 1]], dtype=np.int8))(np.array([[.2, .6]]))
    np.testing.assert_allclose(p, [[.4, .8]])


def test_what_is_not_one_vs_rest():
    wrong = [
        np.array([[-1, 1, 0], [-1, 0, 1], [0, -1, 1]]),           # one-vs-one
        np.array([[1, -1, -1], [1, -1, -1], [-1, -1, 1]]),        # a class twice
        np.array([[1, 1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1]]),
        np.array([[1, 0, -1], [-1, 1, -1], [-1, -1, 1]]),         # not strict
        np.array([[1, -1, -1], [-1, 1, -1]]),                     # a row too few
        np.array([[1, 1], [-1, 1]]),
        np.array([[1]]),
    ]
    for a in wrong:
        assert oneagainst.find(a.astype(np.int8)) is None
        with pytest.raises(UsageError, match="one-vs-rest"):
            oneagainst.argmax(a.astype(np.int8))
