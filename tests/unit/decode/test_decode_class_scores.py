"""Loss-based decoding and one-vs-rest."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agfmc.decode import class_scores
from agfmc.decode.code_kinds import one_vs_rest
from agfmc.decode.front import CodeDecoder

NAIVE = {
    "hamming": lambda z: (1 - (z > 0) + (z < 0)) / 2, "linear": lambda z: -z,
    "hinge": lambda z: max(0, 1 - z), "exponential": lambda z: math.exp(-z),
    "logit": lambda z: math.log(1 + math.exp(-2 * z)), "quadratic": lambda z: (1 - z) * (1 - z)}
PAIRS = np.array([[-1, 1, 0], [-1, 0, 1], [0, -1, 1]], dtype=np.int8)


def scores_of(a, loss, g):
    return getattr(class_scores, loss)(np.array(a, dtype=np.int8))(np.array(g, dtype=float))[0]


def test_all_losses_are_tested():
    assert set(NAIVE) == set(class_scores.LOSSES)


@pytest.mark.parametrize("loss", NAIVE)
@settings(max_examples=40)
@given(st.data())
def test_as_written(loss, data):
    m, k = data.draw(st.integers(1, 6)), data.draw(st.integers(2, 5))
    row = st.lists(st.sampled_from([-1, 0, 1]), min_size=k, max_size=k)
    a = data.draw(st.lists(row, min_size=m, max_size=m))
    point = st.lists(st.one_of(st.just(0.0), st.floats(-9, 9)), min_size=m, max_size=m)
    g = data.draw(st.lists(point, min_size=1, max_size=4))
    expected = [[-sum(NAIVE[loss](float(a[i][j]) * one[i]) for i in range(m)) for j in range(k)]
                for one in g]
    np.testing.assert_allclose(scores_of(a, loss, g), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("loss", NAIVE)
def test_any_value_gives_finite_scores(loss):
    huge = [1000., -1000., 1e308, -1e308, np.inf, -np.inf, 0.]
    g = [[x, y, z] for x in huge for y in huge for z in huge]
    with np.errstate(all="raise", under="ignore"):
        scores = scores_of(PAIRS, loss, g)
    assert np.isfinite(scores).all()
    # All speak for class 2, in each of the losses that care how much.
    best = scores_of(PAIRS, loss, [[0., 1000., 1000.], [-1., 300., 300.]])
    if loss != "quadratic":
        assert best.argmax(axis=1).tolist() == [2, 2]


def test_exponential_is_cut_off_only_far_out():
    scores = scores_of([[-1, 1], [1, -1]], "exponential", [[-450., 0.], [0., -460.]])
    np.testing.assert_allclose(scores, [[-1, -math.exp(450)], [-math.exp(460), -1]], rtol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4, 9])
def test_one_vs_rest_in_any_order_and_sign(k):
    rng = np.random.default_rng(k)
    a = 2 * np.eye(k, dtype=int) - 1
    r = rng.uniform(-1, 1, (50, k))
    np.testing.assert_allclose(CodeDecoder(a, "argmax")(r).p, (1 + r) / 2)
    np.testing.assert_array_equal(CodeDecoder(a, "argmax-raw")(9 * r).p, 9 * r)
    rows, signs = rng.permutation(k), rng.choice([-1, 1], k)
    turned, r_turned = a[rows] * signs[:, None], r[:, rows] * signs
    p = CodeDecoder(turned, "argmax")(r_turned).p
    if k > 2:
        np.testing.assert_allclose(p, (1 + r) / 2)
        found = one_vs_rest(turned)
        assert rows[found.rows].tolist() == list(range(k))
        np.testing.assert_array_equal(found.signs, signs[found.rows])
    np.testing.assert_array_equal(CodeDecoder(turned, "argmax-raw")(r_turned).p, 2 * p - 1)


def test_two_classes_have_a_row_each():
    p = CodeDecoder([[-1, 1], [-1, 1]], "argmax")([[.2, .6]]).p
    np.testing.assert_allclose(p, [[.4, .8]])
