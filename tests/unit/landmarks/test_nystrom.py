"""The learner `nystrom`: its options, and the algebra of ridge classifiers on class sums."""

import numpy as np
import pytest

from agfmc.core.errors import DataError, UsageError
from agfmc.core.points import packed
from agfmc.landmarks.features import Landmarks
from agfmc.learners.platt import fit_sigmoid
from agfmc.landmarks.learner import Nystrom, Ridge, RidgeSearch
from agfmc.core.models import Kernel

X = np.array([0.0, 1, 2, 3, 4, 6])[:, None]
Y = np.array([0, 0, 1, 1, 2, 2])
Z = np.array([0.0, 2, 6])[:, None]
# K = exp(-.25 (x - z)^2), lambda = .1: (left, right, weights, beta, b, f, leave-one-out values)
CHECKED = [
    (
        (0,),
        (1, 2),
        np.ones(6),
        (-2.0147879678, 0.7357176482, 0.3692427334),
        0.5977726791,
        (-1.1463143233, -0.3976554813, 0.5990541721, 0.9973109679, 0.9673627579, 0.9802419067),
        (-1.5666709055, -0.0477206684, 0.2564869895, 0.9955362748, 0.9471340723, 0.8873799104),
    ),
    (
        (1,),
        (2,),
        np.ones(6),
        (0.0530950577, -1.758024539, 0.4100130502),
        0.7921087358,
        (-0.9388735721, -0.5282309164, 0.2971754925, 1.1699289959),
        (-0.8315847318, -0.1698181199, -0.1603200407, 2.0034821609),
    ),
    (
        (0,),
        (1, 2),
        np.array([1, 2, 1, 0.5, 1, 3]),
        (-2.193647967, 0.5884638969, 0.2978692548),
        0.6881219060,
        (-1.2890055314, -0.5614216818, 0.4750434804, 0.9466044435, 0.9740075866, 0.9964985354),
        (-1.8708731457, -0.0412942126, 0.0116417786, 0.9294304047, 0.9577359124, 0.9472577535),
    ),
]


def fitted(phi, t, w, ridge):
    """v, b, f and values without each of the points with features phi (p, n)."""
    made = Ridge([(packed((phi * w) @ phi.T), 1)], phi @ w, w.sum(), ridge)
    v, b = made.solve((phi @ (w * t))[:, None], np.array([w @ t / w.sum()]))
    f = (v.T @ phi + b[:, None])[0]
    return v, b, f, made.leave_out(t, f, phi, w)


@pytest.mark.parametrize("left, right, weights, beta, b, f, left_out", CHECKED)
def test_checked_values(left, right, weights, beta, b, f, left_out):
    landmarks = Landmarks(Kernel("rbf", 0.25), Z)
    use = np.isin(Y, left + right)
    w, t = weights[use], np.where(np.isin(Y[use], right), 1.0, -1.0)
    v, found, values, left = fitted(landmarks.features(landmarks.kernel_values(X[use])), t, w, 0.1)
    order = np.argsort(landmarks.pivots)
    assert np.allclose(landmarks.coefficients(v)[order, 0], beta, rtol=0, atol=1e-9)
    assert np.allclose(found, b, rtol=0, atol=1e-9)
    assert np.allclose(values, f, rtol=0, atol=1e-9)
    assert np.allclose(left, left_out, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_leave_one_out_is_leaving_out(seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(25, 3))
    t, w = np.where(random.random(25) < 0.4, 1.0, -1.0), random.gamma(2.0, size=25)
    landmarks = Landmarks(Kernel("rbf", 0.3), x[:8])
    phi = landmarks.features(landmarks.kernel_values(x))
    *_, values = fitted(phi, t, w, 0.05)
    for i in range(25):
        rest = np.arange(25) != i
        v, b, *_ = fitted(phi[:, rest], t[rest], w[rest], 0.05)
        assert values[i] == pytest.approx(float(v[:, 0] @ phi[:, i] + b[0]), abs=1e-9)


def test_features_approximate_the_kernel():
    x = np.random.default_rng(1).normal(size=(30, 4))
    landmarks = Landmarks(Kernel("rbf", 0.2), x)
    phi = landmarks.features(landmarks.kernel_values(x))
    exact = np.exp(-0.2 * ((x[:, None] - x[None]) ** 2).sum(axis=2))
    assert np.allclose(phi.T @ phi, exact, rtol=0, atol=1e-8)


def test_dependent_landmarks_are_dropped():
    x = np.array([[0.0], [1.0], [2.0], [3.0]])
    landmarks = Landmarks(Kernel("linear"), x)
    assert landmarks.pivots.tolist() == [3]
    assert np.allclose(landmarks.features(landmarks.kernel_values(x))[0], x[:, 0])


def test_kernel_that_is_not_positive_definite():
    with pytest.raises(DataError, match="not positive definite"):
        Landmarks(Kernel("polynomial", 1.0, -1.0, 3), np.array([[1.0], [0.5], [-1.2]]))


def test_lambda_below_rounding():
    phi = np.outer(np.ones(3), np.arange(9.0)) * 1e8
    with pytest.raises(DataError, match="too small"):
        fitted(phi, np.where(np.arange(9) > 4, 1.0, -1.0), np.ones(9), 1e-300)


def test_options():
    assert Nystrom.parse("") == Nystrom()
    text = "learner=nystrom -t 1 -d 2 -g 0.5 -r 1.0 -m 50 -l 0.01 --loo all -w1 2.0"
    options = Nystrom.parse("-t 1 -d 2 -g .5 -r 1 -m 50 -l .01 --loo all -w1 2")
    assert options.canonical() == text
    assert Nystrom.parse("-l auto -g 0") == Nystrom()
    assert Nystrom.parse("-l auto -l .1 --loo 500 --loo all") == Nystrom(alpha=0.1, left_out=None)
    assert Nystrom.parse("").canonical() == "learner=nystrom -t 2 -g 1/d -m 2000 -l auto"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("-m 1", "option -m: 1 is out of range: expected 2 to 100000"),
        ("-m 2.5", "expected a whole number"),
        ("-l 0", "expected more than 0"),
        ("-l nan", "out of range"),
        ("-l automatic", "expected a number"),
        ("-t 3", "landmarks need a positive definite kernel"),
        ("-c 5", "regularised by -l"),
        ("-r -1", "0 or more"),
        ("--loo 5", "out of range"),
        ("-m", "expected a value after it"),
    ],
)
def test_options_that_cannot_be(text, expected):
    with pytest.raises(UsageError, match=expected):
        Nystrom.parse(text)


@pytest.mark.parametrize("best", [-7, -3, -2, 0, 3])
def test_search_finds_the_least_error(best):
    search, tried = RidgeSearch(0.2), 0
    while search.trial is not None:
        tried += 1
        search.record(abs(np.log10(search.trial / 0.1) - best))
    assert search.best == pytest.approx(0.1 * 10.0**best)
    assert tried <= 8


def test_search_leaves_a_valley_for_a_deeper_one():
    search = RidgeSearch()
    while search.trial is not None:
        power = round(np.log10(search.trial))
        search.record({-6: 0.271, -2: 0.609}.get(power, 1.0))
    assert search.best == 1e-6


def test_search_keeps_to_what_rounding_allows():
    for least, expected in ((3e-4, 1e-3), (1e-9, 1e-7), (50.0, 100.0), (2e5, 1e6)):
        search = RidgeSearch(1.0, least)
        while search.trial is not None:
            search.record(search.trial)
        assert search.best == pytest.approx(expected)


def test_sigmoid_of_a_sample_has_the_targets_of_all_points():
    f, positive = np.array([-2.0, -1.0, 1.5, 2.0]), np.array([False, False, True, True])
    some, of_all = fit_sigmoid(f, positive), fit_sigmoid(f, positive, (50, 50))
    copies = fit_sigmoid(np.tile(f, 25), np.tile(positive, 25))
    assert of_all[:2] == pytest.approx(copies[:2], rel=1e-4) and of_all[0] < some[0] < 0


def test_estimated_leverages_are_near_exact_ones_and_large_ones_exact():
    random = np.random.default_rng(2)
    phi, w = random.normal(size=(60, 400)), np.ones(400)
    phi[:, :5] *= 8.0
    made = Ridge([(packed(phi @ phi.T), 1)], phi @ w, w.sum(), 20.0)
    t, f = np.ones(400), np.zeros(400)
    exact = made.leave_out(t, f, phi, w)
    made.estimate_leverages(np.sign(random.random((60, 200)) - 0.5))
    estimated = made.leave_out(t, f, phi, w)
    assert np.array_equal(estimated[:5], exact[:5]) and not np.array_equal(estimated, exact)
    assert np.allclose(estimated, exact, atol=0.2) and abs(np.mean(estimated - exact)) < 0.01
