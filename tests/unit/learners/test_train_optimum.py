"""Trained support vector machines against the conditions of their optimum, and another program."""

import numpy as np
import pytest

from agfmc.errors import DataError
from agfmc.kernel.machine import decision_values
from agfmc.learners.nodes import Nodes
from agfmc.learners.protocol import parse_options
from agfmc.learners.libsvm import solve

TOLERANCE = 1e-5
TEXTS = ("-t 0 -c 2", "-t 2 -g 0.7 -c 3", "-t 2 -g 20 -c 0.1", "-t 1 -g 0.5 -r 1 -d 2 -c 0.5",
         "-t 2 -w0 5 -w1 0.25 -c 2", "-t 0 -c 20 -w1 3", "-t 2 -h 0")
DATA = ("plain", "contradictory", "constant", "repeated", "zeros", "one against many")


def points(kind, seed):
    """x (n, d) and side (n,), the rows of the first side first."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 60)), int(rng.integers(1, 6))
    x = rng.normal(size=(n, d))
    side = (x[:, 0] + rng.normal(size=n) > 0).astype(int)
    if kind == "contradictory":
        x[n // 2:] = x[:n - n // 2]
        side[n // 2:] = 1 - side[:n - n // 2]
    elif kind == "constant":
        x = np.hstack([x, np.full((n, 2), 3.25)])
    elif kind == "repeated":
        x = x[rng.integers(5, size=n)]
    elif kind == "zeros":
        x[rng.random((n, d)) < .6] = 0
    elif kind == "one against many":
        side[:] = 0
        side[0] = 1
    side[0], side[1] = 1, 0
    order = np.argsort(-side, kind="stable")
    return x[order], side[order]


def gram(kernel, x):
    if kernel.kind == "linear":
        return x @ x.T
    if kernel.kind == "polynomial":
        return (kernel.gamma * (x @ x.T) + kernel.coef0)**kernel.degree
    return np.exp(-kernel.gamma * ((x[:, None] - x[None])**2).sum(axis=2))


def check_optimum(kind, text, seed):
    x, side = points(kind, seed)
    options = parse_options(f"{text} -e {TOLERANCE}")
    found = solve(Nodes(x), np.arange(len(x)), side, options)
    y = np.where(side == found.labels[0], 1.0, -1.0)
    alpha = np.zeros(len(x))
    alpha[found.sv] = found.coef * y[found.sv]
    weight = dict(options.weights)
    top = np.array([options.cost * weight.get(int(one), 1.0) for one in side])
    scale = max(1.0, top.max())
    assert (alpha[found.sv] > 0).all() and (alpha <= top * (1 + 1e-12)).all()
    assert abs(alpha @ y) <= 1e-11 * scale * len(x)
    kernel = options.kernel_for(x.shape[1])
    matrix = gram(kernel, x)
    f = matrix @ (alpha * y) - found.rho
    np.testing.assert_allclose(
        decision_values(kernel, x[found.sv], found.coef, found.rho, x), f, rtol=1e-9, atol=1e-9)
    # y f >= 1 off the margin, <= 1 at the bound, = 1 between: within LIBSVM's stopping rule.
    # LIBSVM keeps kernel values in single precision.
    slack = 2 * TOLERANCE + 2e-7 * alpha.sum() * np.abs(matrix).max()
    margin = y * f - 1
    assert margin[alpha == 0].min(initial=0) >= -slack
    assert margin[alpha >= top * (1 - 1e-12)].max(initial=0) <= slack
    free = (alpha > 0) & (alpha < top * (1 - 1e-12))
    assert np.abs(margin[free]).max(initial=0) <= slack
    # The gap between both problems' values bounds the distance from the optimum.
    size = alpha * y @ matrix @ (alpha * y)
    primal = size / 2 + top @ np.maximum(1 - y * f, 0)
    dual = alpha.sum() - size / 2
    assert -1e-9 * (1 + abs(dual)) <= primal - dual <= 2 * slack * top.sum() + 1e-9 * (1 + dual)
    return x, side, f * np.where(found.labels[0] == 1, 1, -1)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", DATA)
def test_conditions_of_the_optimum(kind, text):
    check_optimum(kind, text, 1)


@pytest.mark.long
def test_conditions_of_the_optimum_many_times(record_property):
    count = 0
    for seed in range(2, 40):
        for kind in DATA:
            for text in TEXTS:
                check_optimum(kind, text, seed)
                count += 1
    record_property("problems", count)
    print("problems trained:", count)


@pytest.mark.parametrize("kind", [kind for kind in DATA if kind != "contradictory"])
@pytest.mark.parametrize("text, words", [
    ("-t 0 -c 2", dict(kernel="linear", C=2)), ("-t 2 -g 0.7 -c 3", dict(gamma=.7, C=3)),
    ("-t 1 -g 0.5 -r 1 -d 2 -c 0.5", dict(kernel="poly", gamma=.5, coef0=1, degree=2, C=.5)),
    ("-t 2 -g 0.7 -w0 5 -w1 0.25 -c 2", dict(gamma=.7, C=2, class_weight={0: 5, 1: .25}))])
def test_decision_values_are_scikit_learn_s(kind, text, words):
    svm = pytest.importorskip("sklearn.svm")
    x, side, f = check_optimum(kind, text, 9)
    theirs = svm.SVC(tol=TOLERANCE, **words).fit(x, side).decision_function(x)
    np.testing.assert_allclose(f, theirs, atol=1e-3)


@pytest.mark.parametrize("text", ["-t 0", "-t 1 -r 1", "-t 2 -g 1", "-t 3 -g 1"])
@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e150, 1e200, 1e308])
def test_huge_and_tiny_numbers_end_in_numbers_or_in_words(text, scale):
    x, side = points("plain", 4)
    x = np.clip(x, -1, 1) * scale
    options = parse_options(text)
    try:
        found = solve(Nodes(x), np.arange(len(x)), side, options)
    except DataError as error:
        assert scale > 1 and "training gave NaN or infinity" in str(error)
        return
    with np.errstate(all="ignore"):
        f = decision_values(options.kernel_for(x.shape[1]), x[found.sv], found.coef, found.rho, x)
    assert np.isfinite(f).all() or options.kernel != "rbf"
    if options.kernel == "rbf":
        # A kernel value is at most 1, whatever the scale.
        assert np.abs(f).max() <= np.abs(found.coef).sum() + abs(found.rho) + 1e-9
