"""Calibration maps: application, fits against known optima, the choice of a kind."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from hostile_store import calibration
from hypothesis import given, strategies as st
from scipy.optimize import minimize

from agfmc.calibration.file import format_calibration, read_calibration
from agfmc.calibration.maps import (
    apply_map,
    choose_map,
    compare_maps,
    _fit_large_matrix,
    _root,
    fit_in_training,
    fit_temperature,
    held_out_map,
    KINDS,
    MapTrial,
    refit,
)
from agfmc.core.probabilities import losses
from agfmc.core.splits import stratified_folds
from agfmc.core.errors import DataError, ModelError
from agfmc.calibration.types import DecoderCalibration, ProbabilityMap
from agfmc.decode.methods import MAP_KINDS

P = np.array(
    [
        [0.7, 0.2, 0.1],
        [0.1, 0.8, 0.1],
        [0.3, 0.3, 0.4],
        [0.6, 0.3, 0.1],
        [0.2, 0.5, 0.3],
        [0.05, 0.05, 0.9],
        [0.4, 0.35, 0.25],
        [0.9, 0.05, 0.05],
        [0.15, 0.7, 0.15],
        [0.33, 0.33, 0.34],
    ]
)
Y = np.array([0, 1, 2, 1, 1, 2, 0, 0, 2, 0])


def drawn(n, c, seed, temperature=1.0):
    """p (n, c), which are too sure by `temperature`, and classes y (n,)."""
    generator = np.random.default_rng(seed)
    q = generator.dirichlet(np.full(c, 0.4), n) + 1e-12
    q /= q.sum(axis=1)[:, None]
    y = (q.cumsum(axis=1) < generator.random(n)[:, None]).sum(axis=1).clip(0, c - 1)
    p = q**temperature
    return p / p.sum(axis=1)[:, None], y


def test_a_temperature_and_its_floor_have_the_least_loss():
    def objective(at):
        log_u, log_floor = at
        tried = ProbabilityMap("temperature", np.exp(log_u), np.zeros(3), np.exp(log_floor))
        return losses(apply_map(tried, P), Y).sum() - log_floor / 2 + log_u**2 / 2

    fitted = fit_temperature(P, Y)
    least = minimize(objective, (0, -3), method="Nelder-Mead", options={"xatol": 1e-9})
    assert [fitted.weights, fitted.floor] == pytest.approx(np.exp(least.x), rel=1e-6)
    assert losses(P, Y).mean() == pytest.approx(0.7526023585, abs=1e-10)


def test_a_map_by_hand():
    p = np.array([[0.5, 0.25, 0.25], [1, 0, 0]])
    half = ProbabilityMap("temperature", np.array(2.0), np.zeros(3), 0.3)
    np.testing.assert_allclose(
        apply_map(half, p)[0], 0.7 * np.array([4, 1, 1]) / 6 + 0.1, rtol=1e-14
    )
    vector = ProbabilityMap("vector", np.array([1, 2, 0]), np.log([1, 4, 0.5]), 0)  # of old files
    assert vector.kind == "matrix" and vector.weights.shape == (3, 3)
    np.testing.assert_allclose(apply_map(vector, p)[0], [0.4, 0.2, 0.4], rtol=1e-14)
    matrix = ProbabilityMap("matrix", np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1.0]]), np.zeros(3), 0)
    np.testing.assert_allclose(
        apply_map(matrix, p)[0], np.array([0.5, 0.5, 0.0625]) / 1.0625, rtol=1e-14
    )
    assert apply_map(ProbabilityMap("none"), p) is p


@given(
    st.integers(2, 30),
    st.integers(0, 2**32 - 1),
    st.sampled_from([kind for kind in KINDS if KINDS[kind].numbers(3)]),
)
def test_rows_alone_and_sums_of_one(c, seed, kind):
    generator = np.random.default_rng(seed)
    p = generator.dirichlet(np.full(c, 0.05), 9)
    p[0], p[1], p[0, 0], p[2, 0] = 0, -1e-3, 1, -0.2
    fitted = ProbabilityMap(
        kind,
        generator.normal(size=KINDS[kind].shape(c)) * 10 ** generator.uniform(-2, 2),
        generator.normal(size=c),
        generator.random(),
    )
    for layout in (p, np.asfortranarray(p), np.tile(p, (600, 1))[:-3]):
        found = apply_map(fitted, layout)
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
        assert found.min() >= 0
        for row, one in zip(found[:9], p):
            assert apply_map(fitted, one[None]).tobytes() == row.tobytes()
    assert found[-6].tobytes() == found[0].tobytes()  # 5394 points: several blocks


@pytest.mark.parametrize("temperature", [0.5, 1, 2])
def test_a_known_temperature_is_found(temperature):
    p, y = drawn(20000, 5, 1, temperature)
    fitted = fit_temperature(p, y)
    assert 1 / fitted.weights == pytest.approx(temperature, rel=0.03)
    assert fitted.floor < 0.005


def test_a_known_floor_is_found():
    p, y = drawn(20000, 5, 2)
    anything = np.random.default_rng(3).random(len(y)) < 0.1
    y[anything] = np.random.default_rng(4).integers(0, 5, anything.sum())
    assert fit_temperature(p, y).floor == pytest.approx(0.1, abs=0.02)


def test_zeros_of_true_classes_are_mended():
    p, y = drawn(2000, 4, 5)
    p[p < 0.05] = 0
    p /= p.sum(axis=1)[:, None]
    zeros = np.mean(p[np.arange(2000), y] == 0)
    assert zeros > 0.01
    assert losses(apply_map(fit_temperature(p, y), p), y).mean() < losses(p, y).mean() - 20 * zeros


def test_weights_are_copies():
    w = np.array([2, 1, 3, 1, 1, 2, 1, 1, 4, 1])
    one, other = fit_temperature(P, Y, w), fit_temperature(P.repeat(w, 0), Y.repeat(w))
    assert one.weights == pytest.approx(other.weights, rel=1e-9)
    assert one.floor == pytest.approx(other.floor, rel=1e-9)


def fit_many(kind, ridge=0.02):
    """The fit of a matrix map to points, true columns and weights."""
    return functools.partial(refit, MapTrial(kind, ridge, np.zeros(0)))


def large_matrix(p, y, weights=None, ridge=0.02):
    """As many classes are fitted."""
    return _fit_large_matrix(p, y, (ridge,), weights)[0]


def fit_best(p, y, kind="auto"):
    return refit(choose_map(compare_maps(p, y, kind)), p, y)


@pytest.mark.parametrize("fit", [fit_many("matrix"), large_matrix])
def test_weights_are_copies_for_many_numbers(fit):
    p, y = drawn(300, 3, 6, 1.5)
    w = np.random.default_rng(1).integers(1, 6, 300)
    one, other, alike = fit(p, y, w), fit(p.repeat(w, 0), y.repeat(w)), fit(p, y)
    for name in ("weights", "intercept", "floor"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-9)
        assert np.abs(getattr(one, name) - getattr(alike, name)).max() > 1e-4
    ones = fit(p, y, np.ones(300))
    np.testing.assert_allclose(ones.weights, alike.weights, rtol=0, atol=1e-9)


def test_weights_choose_the_map():
    """Two kinds of points: those that need a matrix decide where they weigh more."""
    right, y = drawn(300, 3, 7)
    bent = right ** np.array([1, 3, 0.5])
    bent /= bent.sum(axis=1)[:, None]
    p, true = np.concatenate([right, bent]), np.concatenate([y, y])
    for heavy, kind in ((0, "none"), (1, "matrix")):
        w = np.where(np.arange(600) // 300 == heavy, 1.0, 1e-4)
        trials = [
            *compare_maps(p, true, "none", folds=3, weights=w),
            *compare_maps(p, true, "matrix", folds=3, weights=w),
        ]
        assert choose_map(trials, w).kind == kind
    few = np.where(np.arange(600) < 40, 1.0, 1e-6)  # as 40 points alike, and 48 are needed
    assert [one.kind for one in compare_maps(p, true, folds=2, weights=few)][-1] == "temperature"


def test_training_fits_its_map_by_weights():
    q, y = drawn(600, 4, 3)
    turned = q[:, [0, 2, 1, 3]] * 0.9 + 0.1 * q  # two classes are taken for each other
    turned /= turned.sum(axis=1)[:, None]
    p, true = np.concatenate([q, turned]), np.concatenate([y, y])
    for part, kind in ((slice(600), "temperature"), (slice(600, 1200), "matrix")):
        w = np.full(1200, 1e-4)
        w[part] = 1.0
        fitted, mapped = fit_in_training(p, true, weights=w)
        assert fitted.kind == kind
        assert losses(mapped(p)[part], y).mean() < losses(p[part], y).mean() + 0.01


def test_the_weighted_standard_error():
    best, other = np.zeros(4), np.array([0.3, 0.1, -0.2, 0])
    trials = [MapTrial("none", 0, other), MapTrial("matrix", 0.1, best)]
    w = np.array([1.0, 2, 1, 4])
    mean = 0.3 / 8
    error = np.sqrt(np.sum((w * (other - mean)) ** 2) * 4 / 3) / 8
    assert mean < error and choose_map(trials, w).kind == "none"
    heavy = np.array([1.0, 2, 0.01, 0.01])  # mean .1649, error .1071
    assert choose_map(trials, heavy).kind == "matrix"
    assert choose_map(trials).kind == "none"


def test_the_standard_error_of_groups():
    trials = [
        MapTrial("none", 0, np.repeat([0.3, -0.05], 20)),
        MapTrial("matrix", 0.1, np.zeros(40)),
    ]
    assert choose_map(trials).kind == "matrix"
    assert choose_map(trials, groups=np.repeat([4, 2], 20)).kind == "none"


@pytest.mark.parametrize("n", [10, 100, 10000])
def test_no_error_seen_is_not_certainty(n):
    y = np.arange(n) % 2
    found = apply_map(fit_temperature(np.eye(2)[y], y), np.eye(2))
    # an error in half: e/2 with (1 - e/2)^n e^(1/2) largest: e/2 = 1 / (2 n + 1)
    np.testing.assert_allclose(found[0, 1], 1 / (2 * n + 1), rtol=1e-6)
    sure = fit_temperature(np.eye(2)[y] * 0.9 + 0.05, y)
    assert apply_map(sure, np.eye(2))[0, 1] > 0.4 / (2 * n + 1)


def test_points_are_needed():
    with pytest.raises(DataError, match="needs points"):
        fit_temperature(P[:0], Y[:0])


@pytest.mark.parametrize("fit", [fit_many("matrix"), large_matrix])
def test_the_penalised_loss_is_least(fit):
    p, y = drawn(300, 3, 6, 1.5)

    def objective(fitted):
        w = fitted.weights
        u = np.trace(w) / 3  # the best u of these
        return (
            losses(apply_map(fitted, p), y).mean()
            - 0.5 * np.log(fitted.floor) / 300
            + 0.5 * np.log(u) ** 2 / 300
            + 0.02 * (np.sum((w - u * np.eye(3)) ** 2) + np.sum(fitted.intercept**2))
        )

    fitted = fit(p, y)
    best = objective(fitted)
    generator = np.random.default_rng(0)
    for _ in range(50):
        near = ProbabilityMap(
            fitted.kind,
            fitted.weights + 0.02 * generator.normal(size=fitted.weights.shape),
            fitted.intercept + 0.02 * generator.normal(size=3),
            fitted.floor * np.exp(0.1 * generator.normal()),
        )
        assert objective(near) > best - 2e-5  # of u the mean is not quite the best
    limited = np.maximum(p, 1e-4)
    temperature = fit_temperature(limited, y)
    stiff = fit_many("matrix", 1e6)(p, y)
    np.testing.assert_allclose(apply_map(stiff, p), apply_map(temperature, limited), atol=1e-4)


@pytest.mark.long
def test_training_takes_a_matrix_where_it_is_worth_it():
    q, y = drawn(2000, 4, 3)
    fitted, mapped = fit_in_training(q, y)
    assert fitted.kind == "temperature"
    np.testing.assert_array_equal(mapped(q), apply_map(fitted, q))
    turned = q[:, [0, 2, 1, 3]] * 0.9 + 0.1 * q  # two classes are taken for each other
    turned /= turned.sum(axis=1)[:, None]
    fitted, mapped = fit_in_training(turned, y)
    assert fitted.kind == "matrix"
    own = apply_map(fitted, turned)
    assert losses(own, y).mean() < losses(mapped(turned), y).mean() < losses(turned, y).mean()
    np.testing.assert_array_equal(
        np.delete(mapped(turned), 7, 0),
        np.delete(mapped(np.where(np.arange(2000)[:, None] == 7, q, turned)), 7, 0),
    )  # q of a point moves no other
    assert fit_in_training(turned[:79], y[:79])[0].kind == "temperature"  # 20 numbers
    zeros = np.where(q < 0.05, 0, q)
    zeros[:, 0] += 1 - zeros.sum(axis=1)
    # zeros have no more weight than 1e-4
    one, other = fit_best(zeros, y, "matrix"), fit_best(np.maximum(zeros, 1e-4), y, "matrix")
    np.testing.assert_array_equal(one.weights, other.weights)


@pytest.mark.long
def test_auto_takes_what_is_needed():
    q, y = drawn(2000, 3, 7)
    assert fit_best(q, y).kind == "none"
    assert fit_best(q**2 / (q**2).sum(axis=1)[:, None], y).kind == "temperature"
    mixed = np.exp(np.log(q) @ np.array([[1, 1, 0], [0, 1, 1], [1, 0, -1]]))
    mixed /= mixed.sum(axis=1)[:, None]
    assert fit_best(mixed, y).kind == "matrix"
    for points, more in (
        (10, []),
        (47, []),
        (48, ["matrix"]),
    ):  # 4 for each of 12 numbers
        assert [trial.kind for trial in compare_maps(q[:points], y[:points])] == [
            "none",
            "temperature",
            *more,
        ]
    assert [trial.kind for trial in compare_maps(q[:10], y[:10], "matrix")] == ["matrix"]


def test_the_simplest_within_a_standard_error():
    generator = np.random.default_rng(0)
    best = generator.random(100)
    near = best + 0.01 + generator.normal(size=100)  # .01 is within .1
    far = best + 0.1
    trials = [
        MapTrial("none", 0, far),
        MapTrial("temperature", 0, near - near.mean() + best.mean() + 0.01),
        MapTrial("matrix", 0.1, best),
    ]
    assert choose_map(trials).kind == "temperature"
    assert choose_map([trials[0], trials[2]]).kind == "matrix"


def test_folds_have_their_share_of_each_class():
    y = np.repeat([0, 1, 2], [50, 13, 2])
    fold = stratified_folds(y, 3)
    for label in range(3):
        counts = np.bincount(fold[y == label], minlength=5)
        assert counts.max() - counts.min() <= 1
    assert (fold == stratified_folds(y, 3)).all() and (fold != stratified_folds(y, 4)).any()
    assert stratified_folds(y[:3], 1).max() == 2


def test_held_out_points_are_mapped_by_the_others():
    p, y = drawn(60, 3, 9, 2)
    fold = stratified_folds(y, 1)
    (trial,) = compare_maps(p, y, "temperature")
    found = held_out_map(trial.maps, p, fold)
    expected = apply_map(fit_temperature(p[fold != 2], y[fold != 2]), p[fold == 2])
    np.testing.assert_array_equal(found[fold == 2], expected)
    np.testing.assert_array_equal(losses(found, y), trial.losses)


def test_the_table_of_kinds():
    assert tuple(KINDS) == MAP_KINDS
    assert [[row.numbers(c) for row in KINDS.values()] for c in (3, 8)] == [
        [0, 1, 12],
        [0, 1, 72],
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_map(kind, tmp_path):
    """Its fit has the form that its row says, lowers the log loss, and is the same from a file."""
    row, (p, y) = KINDS[kind], drawn(200, 3, 11, 1.5)
    fitted = refit(MapTrial(kind, row.ridges[0], losses(p, y)), p, y)
    mapped = apply_map(fitted, p)
    before, after = losses(p, y).mean(), losses(mapped, y).mean()
    if row.numbers(3):
        assert np.shape(fitted.weights) == row.shape(3) and fitted.intercept.shape == (3,)
        assert bool(fitted.intercept.any()) is row.has_intercept and after < before
    else:
        assert fitted.weights is None is row.shape(3) and after == before
    np.testing.assert_allclose(mapped.sum(axis=1), 1, rtol=1e-12)
    assert not row.keeps_order or (mapped.argmax(axis=1) == p.argmax(axis=1)).all()
    path = tmp_path / "m.cal"

    def read_again(stored):
        path.write_text(
            format_calibration(
                replace(
                    calibration("0" * 16, (0, 2, 5), 4),
                    decoders={"inverse": DecoderCalibration(stored)},
                )
            )
        )
        return read_calibration(str(path)).decoders["inverse"].map

    np.testing.assert_array_equal(apply_map(read_again(fitted), p), mapped)
    wrong = [
        ProbabilityMap(kind, np.zeros((4, 5)), np.zeros(3)),
        replace(fitted, intercept=np.ones(2)),
    ]
    if not row.has_intercept:
        wrong.append(replace(fitted, intercept=np.ones(3)))
    for other in wrong:
        with pytest.raises(ModelError, match="calibration map"):
            read_again(other)


def test_roots_have_the_bits_of_scipy():
    from scipy.optimize import brentq

    for f in (
        np.sin,
        np.tanh,
        lambda t: t**9 - 1e-3,
        lambda t: np.exp(t) - 1.3,
        lambda t: t + 1,
        lambda t: t - 2.5,
        lambda t: 1.0 if t > 0.3 else -1.0,
        lambda t: t**3 - t - 2,
    ):
        places, theirs = [], []
        root = _root(lambda t: places.append(t) or f(t), -1.0, 2.5)
        assert root == brentq(lambda t: theirs.append(t) or f(t), -1.0, 2.5, xtol=1e-13, rtol=1e-15)
        assert places == theirs
