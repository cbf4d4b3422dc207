"""Learning of a metric: what the map is, what it depends on, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from agfmc.training import metric
from agfmc.training.metric import (
    fitted_normalisation,
    learn_metric,
    machine_options,
    metric_options,
    MetricOptions,
)
from agfmc.core.errors import AgfmcError, AgfmcWarning, DataError, UsageError
from agfmc.core.lazy_points import LazyPoints, StoredTable
from agfmc.data.libagf import read_std, write_std
from agfmc.landmarks.gradients import gradient_products
from agfmc.landmarks.learner import NystromOptions
from agfmc.data.types import Dataset
from agfmc.data.normalisation import fit_normalisation, Normalisation
from agfmc.core.splits import stratified_sample
from agfmc.core.weights import Weights
from own_warnings import no_own_warnings


def options(rounds=1, landmarks=30, gamma=None, ridge=None, **other):
    return MetricOptions(
        rounds, machine=NystromOptions(landmarks=landmarks, gamma=gamma, ridge=ridge), **other
    )


def points(n=90, d=4, k=3, seed=0):
    """Points (n, d) float32 that feature 0 tells the classes of; the others are noise."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % k
    x = random.normal(size=(n, d)).astype(np.float32)
    x[:, 0] += 3 * y
    return x * np.float32(10) ** np.arange(d, dtype=np.float32), y


def fitted(x, y, made=options(), weights=None, **how):
    return fitted_normalisation(Dataset(x, y, weights=weights), metric=made, **how)


def same(one, other):
    """True if two maps have the same bytes, and the same origin."""
    a, b = one.metric, other.metric
    return (
        one.matrix.tobytes() == other.matrix.tobytes()
        and one.mean.tobytes() == other.mean.tobytes()
        and a.weights.tobytes() == b.weights.tobytes()
        and replace(a, weights=b.weights).provenance == b.provenance
        and (a.losses, a.settings) == (b.losses, b.settings)
    )


def unscaled(made, base):
    """The map (d, D) for normalised features that was learned after `base`, a diagonal one."""
    return made.matrix[base.matrix.any(axis=1)] / base.matrix[base.matrix > 0][:, None]


def by_definition(x, y, rounds, gamma, ridge, diagonal):
    """M^(1/2) (d, d) by kernel machines on all points x (n, d), of total variance d."""
    n, d = x.shape
    linear = np.eye(d)
    for _ in range(rounds):
        linear *= np.sqrt(d / (x @ linear).var(axis=0).sum())
        z = x @ linear
        apart = z[:, None] - z
        k = np.exp(-gamma * (apart**2).sum(axis=2))
        g = np.zeros((d, d))
        for c in np.unique(y):
            t = np.where(y == c, 1.0, -1.0)
            bordered = np.block(
                [[k + ridge * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]]
            )
            beta = np.linalg.solve(bordered, np.append(t, 0.0))[:n]
            gradient = -2 * gamma * np.einsum("ij,j,ijl->il", k, beta, apart) @ linear.T  # by x
            g += gradient.T @ gradient
        value, axes = np.linalg.eigh(np.diag(g.diagonal()) if diagonal else g)
        linear = axes * np.maximum(value, 0) ** 0.25 @ axes.T
    return linear * np.sqrt(d / (x @ linear).var(axis=0).sum())


@pytest.fixture(autouse=True)
def all_points(request, monkeypatch):
    """All points have a part in the learning, but for tests of those that stay apart."""
    if "apart" not in request.node.name:
        monkeypatch.setattr(metric, "_SHARE", 4)
    if "definition" in request.node.name:
        monkeypatch.setattr(metric, "_FLOOR", 0.0)


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("diagonal", [False, True])
def test_rounds_by_their_definition(rounds, diagonal):
    x, y = points(45, 3)
    base = fit_normalisation(x)
    made = unscaled(fitted(x, y, options(rounds, 45, 0.5, 0.3, diagonal=diagonal)), base)
    expected = by_definition(base.apply(x), y, rounds, 0.5, 0.3, diagonal)
    assert np.allclose(made, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("rounds", [1, None])
def test_the_same_bytes_for_any_number_of_threads(monkeypatch, rounds):
    x, y = points()
    whole = fitted(x, y, options(rounds))
    monkeypatch.setattr(metric, "_BLOCK", 16)  # several tasks
    one = fitted(x, y, options(rounds))
    assert np.allclose(one.matrix, whole.matrix, rtol=1e-5, atol=1e-9)
    assert all(same(one, fitted(x, y, options(rounds), workers=n)) for n in (2, 5))
    assert one.metric.rounds == (rounds or 3)


def test_the_same_bytes_for_any_kind_of_points(tmp_path):
    x, y = points()
    one, path = fitted(x, y), tmp_path / "x"
    path.write_bytes(x.astype("<f4").tobytes())
    with open(path, "rb") as file:
        lazy = LazyPoints(StoredTable(file.fileno(), "x", "<f4", 0, x.shape))
    for kind in x.astype(np.float64), np.asfortranarray(x), lazy:
        assert same(one, fitted(kind, y))
    assert same(one, fitted(x, y.astype(np.int64) + 0))
    assert not same(one, fitted(x, y, seed=2)) and not same(one, fitted(x, y[::-1]))


@pytest.mark.parametrize(
    "made",
    [options(1), options(3), options(2, diagonal=True), options(1, components=2), options(None)],
)
def test_total_variance_is_the_number_of_columns(made):
    x, y = points(d=5)
    std = fitted(x, y, made)
    assert std.matrix.shape == (5, 2 if made.components else 5)
    assert std.apply(x).var(axis=0).sum() == pytest.approx(std.matrix.shape[1], rel=1e-5)


def test_no_rounds_are_the_normalisation_alone():
    x, y = points()
    for how in {"scale": True}, {"scale": False, "nsv": 2}, {"nsv": 3}:
        made, plain = fitted(x, y, options(0), **how), fit_normalisation(x, **how)
        assert made.matrix.tobytes() == plain.matrix.tobytes() and made.digest() == plain.digest()
    assert np.allclose(fitted(x, y, options(0)).metric.weights, 1, rtol=1e-5)


def test_the_map_is_symmetric_for_standardised_features_and_a_diagonal_one_is_diagonal():
    x, y = points()
    base = fit_normalisation(x)
    whole = unscaled(fitted(x, y), base)
    assert np.allclose(whole, whole.T, atol=1e-6) and np.linalg.eigvalsh(whole).min() > 0
    assert np.count_nonzero(whole) == 16
    alone = unscaled(fitted(x, y, options(diagonal=True)), base)
    assert np.count_nonzero(alone) == 4 and (alone.diagonal() > 0).all()


def test_components_are_orthogonal_directions_in_order():
    x, y = points(d=6)
    base = fit_normalisation(x)
    whole = fitted(x, y)
    every = fitted(x, y, options(components=6))
    directions = unscaled(every, base)
    products = directions.T @ directions
    sizes = products.diagonal()
    assert np.allclose(products, np.diag(sizes), atol=1e-6)
    assert (directions.max(axis=0) == np.abs(directions).max(axis=0)).all()
    assert (np.diff(sizes) < 0).all()
    there, here = every.apply(x), whole.apply(x)
    for row in 0, 1, 50:
        assert np.allclose(
            ((there - there[row]) ** 2).sum(axis=1),
            ((here - here[row]) ** 2).sum(axis=1),
            rtol=1e-5,
            atol=1e-8,
        )
    for count in 1, 3:
        some = unscaled(fitted(x, y, options(components=count)), base)
        assert some.shape == (6, count)
        ratio = some / directions[:, :count]  # scaled anew, to the variance that is left
        assert np.allclose(ratio, ratio[0, 0], rtol=1e-4)
    share = np.cumsum(sizes) / sizes.sum()
    for count in 1, 2, 5:
        middle = (share[count - 1] + (share[count - 2] if count > 1 else 0)) / 2
        assert fitted(x, y, options(components=middle)).matrix.shape == (6, count)
    assert fitted(x, y, options(components=1 - 1e-16)).matrix.shape[1] in (5, 6)


def test_components_of_a_diagonal_metric_are_features():
    x, y = points()
    base = fit_normalisation(x)
    weights = unscaled(fitted(x, y, options(diagonal=True)), base).diagonal()
    made = unscaled(fitted(x, y, options(diagonal=True, components=2)), base)
    assert np.count_nonzero(made) == 2
    assert np.argmax(made, axis=0).tolist() == np.argsort(-weights)[:2].tolist()


def test_the_metric_follows_singular_vectors():
    x, y = points(d=5)
    base = fit_normalisation(x, nsv=3)
    z = base.apply(x)
    alone = learn_metric(
        Dataset(z, y),
        Normalisation(np.eye(3, dtype=np.float32), np.zeros(3, np.float32)),
        options(),
    )
    made = fitted(x, y, nsv=3)
    assert made.matrix.shape == (5, 3) and len(made.metric.weights) == 5
    assert np.allclose(made.matrix, base.matrix @ alone.matrix, rtol=1e-4, atol=1e-7)


def test_what_decides_weighs_more_than_noise():
    x, y = points(n=150)
    for made in options(), options(diagonal=True), options(3):
        weights = fitted(x, y, made).metric.weights
        assert weights.mean() == pytest.approx(1)
        assert weights[0] > 2 and weights[1:].max() < 0.8
    order = [2, 0, 3, 1]
    there = fitted(x[:, order], y).metric.weights
    assert np.allclose(there, fitted(x, y).metric.weights[order], rtol=1e-6)


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(5))
def test_auto_makes_rounds_for_structure(seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(150, 8))
    made = options(None, landmarks=60)
    # the classes are slices along one direction across all features
    along = x @ random.normal(size=8)
    found = fitted(x, np.digitize(along, np.quantile(along, [0.3, 0.6])), made).metric
    losses = [loss for loss, _ in found.losses]
    assert found.rounds > 0 and losses[found.rounds] < 0.8 * losses[0]
    assert losses[found.rounds] <= min(losses) + found.losses[found.rounds][1]


@pytest.mark.long
def test_auto_makes_no_rounds_for_noise():
    rounds = []
    for seed in range(6):  # one standard error is passed by chance now and then
        random = np.random.default_rng(seed)
        x = random.normal(size=(150, 8))
        noise = fitted(x, random.integers(0, 3, 150), options(None, landmarks=60))
        rounds.append(noise.metric.rounds)
        assert len(noise.metric.losses) == 4
        if not noise.metric.rounds:
            assert noise.matrix.tobytes() == fit_normalisation(x).matrix.tobytes()
    assert rounds.count(0) >= 4


def test_a_mark_of_few_points_is_not_lost(monkeypatch):
    random = np.random.default_rng(3)
    marked = random.random(400) < 0.03
    x = np.column_stack([random.normal(size=(400, 3)), 2 * marked])
    y = np.where(marked, 2, x[:, 0] > 0)
    weight = fitted(x, y, options(2, 100)).metric.weights[3]
    monkeypatch.setattr(metric, "_FLOOR", 0.0)
    assert weight > 0.01 > fitted(x, y, options(2, 100)).metric.weights[3]


def test_points_that_stay_apart(tmp_path):
    x, y = points(400, 4, 3)
    made = fitted(x, y)
    rows = made.metric.rows
    assert np.bincount(y[rows]).tolist() == [101, 100, 100]
    other = x.copy()
    other[np.setdiff1d(np.arange(400), rows)[:50]] *= -1  # not in the map but by the deviations
    base = fit_normalisation(x)
    one, two = (learn_metric(Dataset(z, y), base, options()) for z in (x, other))
    assert one.matrix.tobytes() == two.matrix.tobytes() and one.metric.data != two.metric.data
    apart = metric.without_part(made, y)
    assert apart.sum() == 400 - len(rows) and not apart[rows].any()
    assert metric.without_part(base, y) is None
    assert metric.without_part(fitted(x, y, options(0)), y) is None
    write_std(tmp_path / "a.std", made)
    read = read_std(tmp_path / "a.std")
    assert read.metric.rows is None and metric.without_part(read, y) is None
    np.testing.assert_array_equal(metric.with_rows(read, Dataset(x, y)).metric.rows, rows)
    assert metric.with_rows(read, Dataset(other, y)).metric.rows is None
    few = np.arange(12) % 3
    # of so small a class all have a part
    assert len(metric.learned_rows(Dataset(np.empty((12, 2)), few), 1)) == 12


def test_auto_makes_the_fewest_rounds_within_a_standard_error():
    random = np.random.default_rng(0)
    x = random.normal(size=(90, 6))
    y = (x[:, 0] + 0.5 * x[:, 1] + 0.8 * random.normal(size=90) > 0).astype(int)
    found = fitted(x, y, options(None)).metric
    losses, errors = np.array(found.losses).T
    assert found.rounds == np.flatnonzero(losses <= losses.min() + errors)[0] < np.argmin(losses)
    assert errors[np.argmin(losses)] == 0


def test_auto_makes_a_round_where_components_are_wanted_and_none_of_few_points():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(60, 5)), random.integers(0, 3, 60)
    assert fitted(x, y, options(None)).metric.rounds == 0
    for n in 60, 20:
        made = fitted(x[:n], y[:n], options(None, components=2))
        assert made.metric.rounds == 1 and made.matrix.shape == (5, 2)
    few = fitted(x[:20], y[:20], options(None)).metric
    assert (few.rounds, few.losses) == (0, ())


def test_origin():
    x, y = points()
    made = fitted(x, y, options(2, gamma=0.25, ridge=0.5, diagonal=True, components=0.9), seed=7)
    assert made.metric.settings == "-m 30 -g 0.25 -l 0.5 diagonal components 0.9 seed 7"
    assert (made.metric.rounds, made.metric.points, made.metric.classes) == (2, 90, 3)
    assert made.provenance == (
        f"normalised {made.digest()}",
        f"metric 2 rounds of 90 points, 3 classes, data {made.metric.data}",
    )
    assert MetricOptions().canonical() == "-m 1000 -g auto -l auto"


def test_constant_features_have_no_part():
    x, y = points()
    wide = np.insert(x, [1, 3], 7, axis=1)
    with pytest.warns(AgfmcWarning, match="features 1, 4"):
        made = fitted(wide, y)
    assert not made.matrix[[1, 4]].any() and made.dropped == (1, 4)
    assert made.metric.weights[[1, 4]].tolist() == [0, 0]
    assert made.metric.weights.sum() == pytest.approx(4)
    assert np.array_equal(made.matrix[[0, 2, 3, 5]], fitted(x, y).matrix)


def test_a_sample_stands_for_large_data(monkeypatch):
    x, y = points(n=300)
    whole = fitted(x, y)
    monkeypatch.setattr(metric, "_POINTS", 120)
    made, rows = fitted(x, y), stratified_sample(y, 120, 1)
    alone = learn_metric(Dataset(x[rows], y[rows]), fit_normalisation(x), options())
    assert made.matrix.tobytes() == alone.matrix.tobytes() != whole.matrix.tobytes()
    assert np.allclose(made.metric.weights, alone.metric.weights)
    assert made.metric.points == 300 and made.metric.data == whole.metric.data
    # other points than those of the sample tell apart what was learned from
    other = x.copy()
    other[np.setdiff1d(np.arange(300), rows)[0], 0] += 1
    assert fitted(other, y).metric.data != made.metric.data


def test_a_sample_without_variance(monkeypatch):
    monkeypatch.setattr(metric, "_POINTS", 100)
    x, y = np.full((300, 2), 0.1), np.arange(300) % 2
    x[np.setdiff1d(np.arange(300), stratified_sample(y, 100, 1))[0]] = 1e6, 3
    made = fitted(x, y)
    assert np.allclose(made.matrix, fit_normalisation(x).matrix, rtol=1e-6)
    assert made.metric.weights.tolist() == [1, 1]


X, Y = points(60)
WELL = {
    "a class of one point": (X, np.arange(60) == 7, options()),
    "a class of two points, parts": (X, np.arange(60) // 2 == 7, options(None)),
    "two points": (X[:2], Y[:2], options(3)),
    "two points, auto": (X[:2], Y[:2], options(None)),
    "repeated points": (np.repeat(X[:6], 10, axis=0), np.repeat(Y[:6], 10), options(2)),
    "repeated points, parts": (np.repeat(X[:6], 10, axis=0), np.repeat(Y[:6], 10), options(None)),
    "the same points in two classes": (np.repeat(X[:30], 2, axis=0), np.arange(60) % 2, options()),
    "copies of features": (np.hstack([X, X, X]), Y, options(2)),
    "more features than points": (
        np.random.default_rng(0).normal(size=(36, 80)),
        Y[:36],
        options(None),
    ),
    "many classes": (np.repeat(X, 4, axis=0), np.arange(240) % 80, options()),
    "as many classes as points": (X, np.arange(60), options(None)),
    "one feature": (X[:, :1], Y, options(2)),
    "two values": ((X > 1).astype(float), Y, options(3)),
    "a large gamma": (X, Y, options(2, gamma=1e9)),
    "a small gamma": (X, Y, options(2, gamma=1e-9)),
    "no fit at all": (X, Y, options(2, ridge=1e300)),
    "two landmarks": (X, Y, options(2, landmarks=2)),
    "more landmarks than points": (X, Y, options(1, landmarks=100_000)),
    "small and large values": (X * np.array([1e-30, 1e30, 1, 1e-5]), Y, options()),
}


@pytest.mark.few(11)
@pytest.mark.parametrize("name", WELL)
@pytest.mark.parametrize("diagonal", [False, True])
def test_unusual_data(name, diagonal):
    x, y, made = WELL[name]
    with no_own_warnings():
        std = fitted(x, y, replace(made, diagonal=diagonal))
    assert np.isfinite(std.matrix).all() and np.isfinite(std.apply(x)).all()
    weights = std.metric.weights
    assert (weights >= 0).all() and weights.mean() == pytest.approx(1)
    if std.metric.rounds:
        assert std.apply(x).var(axis=0).sum() == pytest.approx(x.shape[1], rel=1e-3)


NAN = np.where(np.arange(240).reshape(60, 4) == 5, np.nan, X)
WRONG = {
    "one class": (X, Y * 0, options(), "from two classes or more, found one"),
    "no number": (NAN, Y, options(), "learned from points without missing values"),
    "infinite": (np.where(np.isnan(NAN), np.inf, X), Y, options(), "feature 1 .* too large"),
    "constant": (X * 0, Y, options(), "every feature is constant"),
    "one point": (X[:1], Y[:1], options(), "two points or more"),
    "components": (X, Y, options(components=5), "5 components are too many: there are 4"),
    "lambda": (X[:20], Y[:20], options(ridge=1e-300), "--metric-options: -l 1e-300 is too small"),
    "lambda, in parts": (X[:40, :2], Y[:40], options(None, ridge=1e-300), "-l 1e-300 is too sma"),
    "too little": (X[:, :2] * np.array([1.2e-39, 1]), Y, options(3), "power of ten"),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused(name):
    x, y, made, message = WRONG[name]
    with no_own_warnings(), pytest.raises(DataError, match=message) as error:
        fitted(x, y, made)
    assert "\n" not in str(error.value)


def test_a_class_has_one_landmark_at_least():
    x, y = np.repeat(X, 4, axis=0), np.arange(240) % 80
    x[:, 0] += 0.1 * (np.arange(240) % 4)
    few, least, more = (
        fitted(x, y, options(landmarks=count)).matrix.tobytes() for count in (30, 80, 160)
    )
    assert few == least != more


def test_memory_is_checked_before_it_is_asked_for(monkeypatch):
    x, y = np.random.default_rng(0).normal(size=(60, 200)), np.arange(60) % 2
    monkeypatch.setattr(metric, "memory_limit", lambda: 10**6)
    with pytest.raises(DataError, match=r"a metric of 200 features needs .*--diagonal"):
        fitted(x, y)
    assert np.count_nonzero(fitted(x, y, options(diagonal=True)).matrix) == 200
    x, y = points(600)
    assert fitted(x, y).metric.rounds == 1
    with pytest.raises(DataError, match=r"from 600 landmarks and 600 points .*-m LANDMARKS"):
        fitted(x, y, options(landmarks=100_000))
    with pytest.raises(DataError, match=r"from 300 landmarks and 600 points of 300 classes"):
        fitted(x, np.arange(600) % 300)


@pytest.mark.parametrize(
    "wrong",
    [
        {"rounds": -1},
        {"rounds": 21},
        {"components": 0.0},
        {"components": 2.5},
        {"components": float("nan")},
        {"components": float("inf")},
        {"rounds": 0, "components": 2},
        {"machine": NystromOptions(gamma=1e300)},
        {"machine": NystromOptions(gamma=1e-300)},
        {"machine": NystromOptions(gamma=0.0)},
        {"machine": NystromOptions(kernel="linear")},
        {"machine": NystromOptions(weights=((0, 2.0),))},
    ],
)
def test_options_that_cannot_be(wrong):
    with pytest.raises(UsageError):
        MetricOptions(**wrong)


def test_words():
    assert machine_options("") == NystromOptions()
    assert machine_options("-m 50  -g  auto -l 0.1") == NystromOptions(landmarks=50, ridge=0.1)
    assert machine_options("-g 0.5 -l auto") == NystromOptions(gamma=0.5)
    for text in "-c 5", "-m 1", "-m", "-g x", "-l 0", "five":
        with pytest.raises(UsageError, match="--metric-options"):
            machine_options(text)
    for text in "-t 0", "-w1 2", "--loo all":
        with pytest.raises(UsageError, match="--metric-options"):
            MetricOptions(machine=machine_options(text))
    assert metric_options("learned") == MetricOptions() and metric_options(None) is None
    assert metric_options("diagonal") == MetricOptions(diagonal=True)
    with pytest.raises(AgfmcError, match="expected the metric 'learned', 'diagonal'"):
        metric_options("euclid")


@pytest.mark.parametrize("diagonal", [False, True])
def test_machine_and_gradients_of_whole_weights_are_those_of_copies(diagonal):
    random = np.random.default_rng(4)
    x, y = points(40)
    x, w = x / x.std(axis=0), random.integers(1, 4, 40)
    made = []
    for data in (
        metric._Points(x, y, 3, w.astype(float)),
        metric._Points(np.repeat(x, w, axis=0), np.repeat(y, w), 3, np.ones(w.sum())),
    ):
        learner = metric._Learner(options(1, 1000, 0.8, 0.05, diagonal=diagonal), 1, 1)
        machine = learner._trained(data, 0.8)
        beta = machine.landmarks.coefficients(machine.v)
        made.append(
            (
                beta.T @ machine.landmarks.kernel_values(x) + machine.b[:, None],
                gradient_products(machine.landmarks, beta, data.x, diagonal, data.w),
            )
        )
    for one, other in zip(*made):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-9)


def test_weights_decide_which_feature_matters():
    random = np.random.default_rng(2)
    x, y = random.normal(size=(300, 4)).astype(np.float32), np.arange(300) % 3
    half = random.permutation(300) < 150
    x[half, 0] += 3 * y[half]
    x[~half, 1] += 3 * y[~half]
    for some, feature in ((half, 0), (~half, 1)):
        made = fitted(x, y, options(2), weights=Weights(np.where(some, 1.0, 1e-3)))
        assert made.metric.weights.argmax() == feature
    one, other = (
        fitted(x, y, options(2), weights=Weights(np.full(300, factor))) for factor in (1.0, 1000.0)
    )
    assert np.allclose(one.matrix, other.matrix, rtol=1e-5)
    assert np.allclose(one.matrix, fitted(x, y, options(2)).matrix, rtol=1e-4, atol=1e-6)


def test_rounds_are_judged_by_weighted_losses():
    random = np.random.default_rng(2)
    x, y = points(180)
    wrong = random.permutation(180) < 60
    y = np.where(wrong, random.permutation(y), y)
    clear, even, plain = (
        fitted(x, y, options(None), weights=w).metric.losses
        for w in (Weights(np.where(wrong, 1e-3, 1.0)), Weights(np.ones(180)), None)
    )
    assert np.allclose([loss for loss, _ in even], [loss for loss, _ in plain], rtol=1e-6)
    assert np.allclose([error for _, error in even], [error for _, error in plain], rtol=1e-6)
    assert clear[0][0] < 0.5 * plain[0][0]


def test_the_record_is_of_points_whatever_they_weigh():
    x, y = points()
    weights = Weights(np.arange(1.0, 91))
    made, plain = fitted(x, y, weights=weights), fitted(x, y)
    assert plain.metric.data == metric.data_digest(x, y)
    assert made.metric.data == plain.metric.data  # the same points
    read = replace(made, metric=replace(made.metric, rows=None))
    assert np.array_equal(metric.with_rows(read, Dataset(x, y)).metric.rows, made.metric.rows)
    scaled = fitted_normalisation(Dataset(x, y, weights=weights))
    assert np.allclose(scaled.mean, np.average(x, axis=0, weights=weights.w), rtol=1e-5)
