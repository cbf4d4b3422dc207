"""Training of classifiers that share landmarks, against the same algebra on all points at once."""

import numpy as np
import pytest

from agfmc.control.build import from_rows
from agfmc.control.parse import parse
from agfmc.core.errors import DataError
from agfmc.core.points import packed
from agfmc.data.types import Dataset
from agfmc.landmarks.features import draw_landmarks, Landmarks
from agfmc.kernels.machine import decision_values
from agfmc.landmarks.learner import Nystrom, Ridge
from agfmc.learners.protocol import plan_jobs
from agfmc.landmarks import features as landmarks_of_jobs, sums, training
from agfmc.training.fit import fit, TrainingSettings, HeldOutRequest
from agfmc.landmarks.sums import row_ranges

OPTIONS = "learner=nystrom -m 12 -g .3 -l .05"
FULL = [((0,), (1, 2, 3)), ((0, 1), (2, 3)), ((0, 2), (1, 3))]
PAIRS = [((a,), (b,)) for a in range(4) for b in range(a + 1, 4)]


@pytest.fixture(scope="module")
def points():
    random = np.random.default_rng(5)
    y = random.permutation(np.arange(120, dtype=np.int32) % 4)
    return random.normal(size=(120, 3)) + 2.0 * np.eye(4, 3)[y], y


def trained(rows, x, y, options=OPTIONS, only=None, **settings):
    """{name: `Fitted`} of the rows of a code, as far as their names are in `only`."""
    jobs = plan_jobs(from_rows(rows, range(4), {}), "m", options, 1)
    jobs = [job for job in jobs if only is None or job.name in only]
    chosen = np.arange(0, len(y), 3)
    return {
        fitted.job.name: fitted
        for fitted in fit(
            jobs,
            Dataset(x, y),
            TrainingSettings(**{"workers": 1, **settings}),
            requested=HeldOutRequest.of(len(y), chosen, settings.get("calibration") == 0),
        )
    }


def values_of(model, x):
    """f (n,) of a model."""
    return decision_values(model.kernel, model.sv, model.coef, model.rho, x)


def same(one, other):
    """True where results are equal bit for bit."""
    return one.keys() == other.keys() and all(
        np.array_equal(a.model.coef, b.model.coef)
        and a.model.platt == b.model.platt
        and a.model.rho == b.model.rho
        and np.array_equal(a.model.sv, b.model.sv)
        and np.array_equal(a.values, b.values)
        for a, b in ((one[name], other[name]) for name in one)
    )


@pytest.mark.parametrize("rows", [FULL, PAIRS, FULL + PAIRS])
def test_models_are_those_of_all_points_at_once(rows, points):
    x, y = points
    for (left, right), fitted in zip(rows, trained(rows, x, y).values()):
        use = np.isin(y, left + right)
        t = np.where(np.isin(y[use], right), 1.0, -1.0)
        landmarks = Landmarks(fitted.model.kernel, x[fitted.rows])
        phi = landmarks.features(landmarks.kernel_values(x[use]))
        ridge = Ridge([(packed(phi @ phi.T), 1)], phi.sum(axis=1), len(t), 0.05)
        v, b = ridge.solve((phi @ t)[:, None], np.array([t.mean()]))
        f = (v.T @ phi + b[:, None])[0]
        assert np.allclose(values_of(fitted.model, x[use]), f, atol=1e-9)
        left = ridge.leave_out(t, f, phi, np.ones(len(t)))
        held_out = left[np.flatnonzero(use) % 3 == 0]
        assert np.allclose(fitted.values, held_out, atol=1e-5)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "options", [OPTIONS, "learner=nystrom -m 12 -g .3", "learner=nystrom -m 12 -w1 3"]
)
@pytest.mark.parametrize("rows", [FULL, PAIRS, FULL + PAIRS])
@pytest.mark.parametrize("plain", [0, 1e11])
def test_same_bytes_for_any_workers_memory_and_choice(options, rows, plain, points, monkeypatch):
    x, y = points
    monkeypatch.setattr(training, "_SEPARATE", 2)
    monkeypatch.setattr(training, "_CHEAP", 0)
    monkeypatch.setattr(training, "_FEW", 0)
    monkeypatch.setattr(sums, "_RAW", plain)
    monkeypatch.setattr(sums, "_RANGE", (32, 32))
    whole = trained(rows, x, y, options)
    assert same(trained(rows, x, y, options, workers=3), whole)
    monkeypatch.setattr(sums, "MEGABYTE", 8 * 12**2)
    for capacity in (2, 3):
        assert same(trained(rows, x, y, options, kernel_memory=capacity), whole)
    some = list(whole)[1::2]
    assert same(trained(rows, x, y, options, only=some), {name: whole[name] for name in some})


def test_sums_of_kernel_values_are_near_those_of_features(points, monkeypatch):
    x, y = points
    whole = trained(FULL, x, y)
    monkeypatch.setattr(sums, "_RAW", 0)
    for name, fitted in trained(FULL, x, y).items():
        f, expected = (values_of(one.model, x) for one in (fitted, whole[name]))
        assert np.allclose(f, expected, rtol=0, atol=1e-8) and not np.array_equal(f, expected)


def test_lambda_that_is_lost_in_the_rounding_of_large_sums(points, monkeypatch):
    monkeypatch.setattr(sums, "_RAW", 0)
    with pytest.raises(DataError, match="-l 1e-14 is lost in the rounding .* expected .* or more"):
        trained(FULL, *points, options=OPTIONS.replace(".05", "1e-14"))


def test_weights_of_a_side_are_copies_of_its_points(points):
    x, y = points
    copied = np.concatenate([np.arange(120), np.flatnonzero(y == 0)])
    (weighted,) = trained(FULL[:1], x, y, OPTIONS + " -w0 2").values()
    landmarks = Landmarks(weighted.model.kernel, x[weighted.rows])
    phi = landmarks.features(landmarks.kernel_values(x[copied]))
    t = np.where(y[copied] == 0, -1.0, 1.0)
    v, b = Ridge([(packed(phi @ phi.T), 1)], phi.sum(axis=1), len(t), 0.05).solve(
        (phi @ t)[:, None], np.array([t.mean()])
    )
    expected = v[:, 0] @ landmarks.features(landmarks.kernel_values(x)) + b
    assert np.allclose(values_of(weighted.model, x), expected, atol=1e-9)


def test_landmarks_are_different_points_of_every_class(points):
    x, y = points
    x = np.repeat(x[:40], 3, axis=0)
    rows = draw_landmarks(x, y, (0, 1, 2, 3), Nystrom(n_landmarks=20), 1)
    assert len(np.unique(x[rows], axis=0)) == 20 and set(y[rows]) == {0, 1, 2, 3}
    assert len(draw_landmarks(x, y, (0, 1, 2, 3), Nystrom(), 1)) == 40
    with pytest.raises(DataError, match="different points of these classes, 40"):
        draw_landmarks(x, y, (0, 1, 2, 3), Nystrom(n_landmarks=41), 1)


def test_landmarks_are_looked_for_among_all_points(monkeypatch):
    monkeypatch.setattr(landmarks_of_jobs, "_DRAWN", 100)
    x, y = np.repeat(np.arange(60.0), 40)[:, None], np.arange(2400, dtype=np.int32) % 2
    assert len(draw_landmarks(x, y, (0, 1), Nystrom(), 1)) == 60
    assert len(set(draw_landmarks(x, y, (0, 1), Nystrom(n_landmarks=55), 1))) == 55


def test_memory_for_sums(points):
    with pytest.raises(
        DataError, match="need AGFMC_KERNEL_MEMORY=1 or more in the environment, found 0"
    ):
        trained(FULL, *points, kernel_memory=0)


def test_held_out_sides(points):
    x, y = points
    for fitted in trained(PAIRS, x, y, calibration=0).values():
        assert len(fitted.side) == 60 and set(fitted.side) == {0, 1}
        assert np.mean(fitted.held_out == (fitted.side == 1)) > 0.7


def test_same_sides_with_other_options_are_another_group(points):
    x, y = points
    tree = parse(
        '"learner=nystrom -m 9 -g 1" 0 / 1; "learner=nystrom -m 9 -g 2" 2 / 3;'
        '"learner=nystrom -m 9 -g 2" 0 / 1; "learner=nystrom -m 9 -g 1" 2 / 3; {0 1 2 3}'
    )
    jobs = plan_jobs(tree, "m", "", 1)
    found = {fitted.job.name: fitted.model.kernel.gamma for fitted in fit(jobs, Dataset(x, y))}
    assert [found[f"m-0{i}"] for i in range(4)] == [1, 2, 2, 1]


@pytest.mark.parametrize(
    "blocks, n, count",
    [
        (1, 100, 1),
        (1, 20_000, 10),
        (1, 10**6, 24),
        (1, 10**8, 397),
        (1, 10**9, 400),
        (4, 10**6, 8),
        (4, 10**10, 400),
    ],
)
def test_ranges_are_fixed_and_not_too_many(blocks, n, count):
    ranges = row_ranges(blocks, n)
    assert len(ranges) == count and ranges[0][0] == 0 and ranges[-1][1] == n
    assert all(stop == start for (_, stop), (start, _) in zip(ranges, ranges[1:]))
    assert all(start % 2048 == 0 for start, _ in ranges)
