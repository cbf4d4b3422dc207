"""The decoder that is fitted to held-out decision values."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.decode import learned as module
from agfmc.decode.front import CodeDecoder
from agfmc.decode.learned import best_share, fit_learned, log_odds, minimise_loss, Points
from agfmc.core.errors import DataError, ModelError
from agfmc.core.models import LearnedDecoder

REST = 2 * np.eye(3, dtype=int) - 1


def draw(n, a, seed=1, noise=1.5, shift=0.0):
    """Decision values r (n, m) of a code a (m, k) with noise, and classes y (n,)."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % a.shape[1]
    return np.tanh(0.6 * a[:, y].T + noise * rng.normal(size=(n, len(a))) / 2 + shift), y


def loss(p, y):
    return -np.mean(np.log(p[np.arange(len(y)), y]))


def test_log_odds():
    r = np.array([[0, 0.5, -0.5, np.tanh(14.9), 1, -1, -(1 - 2**-53)]])
    np.testing.assert_allclose(
        log_odds(r), [[0, np.log(3), -np.log(3), 29.8, 30, -30, -30]], rtol=1e-5
    )
    assert np.abs(log_odds(r)).max() <= 30


def test_definition():
    """softmax(W l + b) of two classifiers and three classes, by hand."""
    decoder = LearnedDecoder(np.array([[1, 0], [0, 2], [-1, 0]]), np.array([0, 0, np.log(2)]))
    p = CodeDecoder([[-1, 1, 1], [-1, -1, 1]], "learned", decoder)([[0.5, -0.5], [0, 0]])[0]
    np.testing.assert_allclose(p[1], [0.25, 0.25, 0.5])  # e^0, e^0, 2
    np.testing.assert_allclose(p[0], np.array([3, 1 / 9, 2 / 3]) / (3 + 1 / 9 + 2 / 3))


def test_strong_ridge_leaves_votes(monkeypatch):
    """Without a ridge to try, W is s A^T, with the s of least loss, and b is 0."""
    monkeypatch.setattr(module, "RIDGES", (np.inf,))
    r, y = draw(300, REST)
    fitted = fit_learned(REST, r, y)
    assert fitted.votes and fitted.ridge == np.inf
    share = fitted.decoder.weights[0, 0]
    np.testing.assert_allclose(fitted.decoder.weights, share * REST.T, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(fitted.decoder.intercept, 0)
    votes = log_odds(r) @ REST

    def at(s):
        p = np.exp(s * votes)
        return loss(p / p.sum(axis=1, keepdims=True), y)

    assert at(share) < min(at(share - 1e-4), at(share + 1e-4))
    np.testing.assert_allclose(
        minimise_loss(
            Points(np.column_stack([log_odds(r), np.ones(300)]), y),
            np.column_stack([share * REST.T, np.zeros(3)]),
            1e12,
        ),
        np.column_stack([share * REST.T, np.zeros(3)]),
        atol=1e-9,
    )


def test_share_at_its_bounds():
    z = np.array([[1.0, 0], [0, 1]])
    assert best_share(z, np.array([1, 0])) == 0  # votes that are all wrong
    assert best_share(z, np.array([0, 1])) == 100  # no limit


@pytest.mark.parametrize("ridge", [1.0, 1e-3])
def test_equals_scikit_learn(ridge):
    linear_model = pytest.importorskip("sklearn.linear_model")
    r, y = draw(240, REST)
    x = np.column_stack([log_odds(r), np.ones(240)])
    w = minimise_loss(Points(x, y), np.zeros((3, 4)), ridge, accuracy=1e-15)
    peer = linear_model.LogisticRegression(
        C=1 / (ridge * 240), fit_intercept=False, tol=1e-10, solver="newton-cg", max_iter=1000
    ).fit(x, y)
    np.testing.assert_allclose(w, peer.coef_, rtol=0, atol=1e-6)


def test_weights_of_points_are_copies():
    r, y = draw(240, REST)
    x = np.column_stack([log_odds(r), np.ones(240)])
    w = np.random.default_rng(2).integers(1, 5, 240)
    copies = x.repeat(w, 0), y.repeat(w)
    one = minimise_loss(Points(x, y, w), np.zeros((3, 4)), 1e-3)
    other = minimise_loss(Points(*copies), np.zeros((3, 4)), 1e-3)
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)
    assert np.abs(one - minimise_loss(Points(x, y), np.zeros((3, 4)), 1e-3)).max() > 1e-3
    assert best_share(x[:, :3], y, w) == pytest.approx(
        best_share(copies[0][:, :3], copies[1]), rel=1e-9
    )
    # a class that weighs more is answered more
    heavy = fit_learned(REST, r, y, weights=np.where(y == 1, 50.0, 1.0))
    assert heavy.p[:, 1].mean() > fit_learned(REST, r, y).p[:, 1].mean() + 0.1
    ones = fit_learned(REST, r, y, weights=np.ones(240))
    np.testing.assert_allclose(
        ones.decoder.weights, fit_learned(REST, r, y).decoder.weights, atol=1e-6
    )


def test_weights_are_of_log_odds():
    """What is fitted gives, at its own ridge, the optimum in the log-odds themselves."""
    a = np.array([[-1, 1, 1], [-1, -1, 1]])
    r, y = draw(400, a)
    fitted = fit_learned(a, r, y)
    l = log_odds(r)
    weights, intercept = fitted.decoder.weights, fitted.decoder.intercept
    p = CodeDecoder(a, "learned", fitted.decoder)(r)[0]
    centre = best_share(l @ a, y) * a.T if fitted.votes else 0.0
    away = p - np.eye(3)[y]
    np.testing.assert_allclose(
        away.T @ l / 400 + fitted.ridge * np.mean(l**2) * (weights - centre), 0, atol=1e-5
    )
    np.testing.assert_allclose(away.mean(axis=0) + fitted.ridge * intercept, 0, atol=1e-5)


def test_better_than_votes_where_classifiers_are_copies():
    """A row that stands four times counts once; one that knows nothing not at all."""
    a = np.vstack([REST, REST[[0, 0, 0]], [[1, -1, 1]]])
    r, y = draw(3000, REST, noise=1.0)
    r = np.column_stack([r, r[:, [0, 0, 0]], np.random.default_rng(3).uniform(-0.9, 0.9, 3000)])
    train, test = slice(0, 1500), slice(1500, None)
    fitted = fit_learned(a, r[train], y[train])
    p = CodeDecoder(a, "learned", fitted.decoder)(r[test])[0]
    votes = log_odds(r) @ a
    v = np.exp(best_share(votes[train], y[train]) * votes[test])
    assert loss(p, y[test]) < 0.97 * loss(v / v.sum(axis=1, keepdims=True), y[test])
    assert np.abs(fitted.decoder.weights[:, -1]).max() < 0.2 * np.abs(fitted.decoder.weights).max()
    # losses that were not trained on: near those of other points, and not of its own fit
    assert loss(fitted.p, y[train]) > loss(
        CodeDecoder(a, "learned", fitted.decoder)(r[train])[0], y[train]
    )


def test_same_bytes_again_and_another_seed():
    r, y = draw(200, REST)
    first, again, other = (fit_learned(REST, r, y, seed) for seed in (1, 1, 2))
    assert first.decoder.weights.tobytes() == again.decoder.weights.tobytes()
    assert first.p.tobytes() == again.p.tobytes()
    assert first.p.tobytes() != other.p.tobytes()


def test_class_of_one_point():
    """It is missing among the points of one fold."""
    r, y = draw(90, REST)
    y[y == 2] = 0
    y[-1] = 2
    p = CodeDecoder(REST, "learned", fit_learned(REST, r, y).decoder)(r)[0]
    assert p[:, 2].mean() < 0.1


def test_values_that_tell_nothing():
    fitted = fit_learned(REST, np.zeros((30, 3)), np.arange(30) % 3)
    np.testing.assert_allclose(CodeDecoder(REST, "learned", fitted.decoder)(np.eye(3))[0], 1 / 3)


@pytest.mark.parametrize("seed", range(3))
def test_certain_values(seed):
    """Separable points, with values of 1 and -1, give finite weights and the right classes."""
    y = np.random.default_rng(seed).permutation(60) % 3
    fitted = fit_learned(REST, REST[:, y].T.astype(float), y, seed)
    p = CodeDecoder(REST, "learned", fitted.decoder)(REST.T)[0]
    assert np.isfinite(fitted.decoder.weights).all()
    np.testing.assert_array_equal(p.argmax(axis=1), range(3))


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 9), st.integers(1, 300))
def test_rows_sum_to_one_and_neighbours_do_not_matter(seed, k, m, n):
    rng = np.random.default_rng(seed)
    a = rng.choice([-1, 1], (m, k))
    a[:, :2] = -1, 1
    decoder = LearnedDecoder(
        rng.normal(size=(k, m)) * 10.0 ** rng.integers(-3, 4), rng.normal(size=k)
    )
    solve = CodeDecoder(a, "learned", decoder)
    r = np.tanh(rng.normal(size=(n, m)) * 10.0 ** rng.integers(-3, 3))
    p = solve(r)[0]
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-13)
    assert p.min() >= 0
    some = rng.permutation(n)[: 1 + n // 3]
    np.testing.assert_array_equal(solve(r[some])[0], p[some])
    np.testing.assert_array_equal(solve(np.asfortranarray(r))[0], p)


def test_refused():
    r, y = draw(30, REST)
    with pytest.raises(DataError, match=r"class 2 \(counted from 0\) has no calibration point"):
        fit_learned(REST, r, y % 2)
    with pytest.raises(DataError, match="decision values of calibration points are not finite"):
        fit_learned(REST, np.full((30, 3), np.nan), y)
    with pytest.raises(ModelError, match="250 classifiers and 250 classes would have 62500 weig"):
        fit_learned(np.ones((250, 250)), np.zeros((1, 250)), y)
    with pytest.raises(ModelError, match="the model has no learned decoder: `decoders=learned`"):
        CodeDecoder(REST, "learned")
    with pytest.raises(ModelError, match="decoder has 2 classifiers and 3 classes, the code 3 an"):
        CodeDecoder(REST, "learned", LearnedDecoder(np.zeros((3, 2)), np.zeros(3)))
