"""Weights of points of classifiers that share landmarks: a point of weight 2 is two points."""

from dataclasses import replace
from pickle import dumps

import numpy as np
import pytest

from agfmc.control.build import from_rows
from agfmc.executors.processes import ProcessPool
from agfmc.data.libagf import open_vec
from agfmc.landmarks.features import Landmarks
from agfmc.kernels.machine import decision_values
from agfmc.learners.platt import fit_sigmoid
from agfmc.learners.protocol import plan_jobs
from agfmc.core.models import Kernel
from agfmc.landmarks import sums
from agfmc.training.fit import HeldOutRequest, TrainingSettings
from agfmc.landmarks.training import train_shared
from agfmc.data.types import Dataset
from agfmc.landmarks.sums import Problem, range_sums
from agfmc.core.weights import Weights
from data_files import write_vec

ROWS = [((0,), (1, 2)), ((0,), (2,)), ((1,), (3,))]


@pytest.mark.parametrize("raw", [False, True])
def test_whole_weights_are_copies(raw):
    random = np.random.default_rng(3)
    x, y = random.normal(size=(40, 2)), np.arange(40, dtype=np.int32) % 3
    w = random.integers(0, 4, size=40)
    landmarks = Landmarks(Kernel("rbf", 0.5), x[:7])
    copies = np.repeat(np.arange(40), w)
    weighted = range_sums(Problem(landmarks, x, y, w.astype(float), raw), (0, 0, 40, (0, 2)))
    copied = range_sums(
        Problem(landmarks, x[copies], y[copies], np.ones(len(copies)), raw),
        (0, 0, len(copies), (0, 2)),
    )
    for one, other in zip(weighted, copied):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.fixture
def points():
    random = np.random.default_rng(5)
    y = random.permutation(np.arange(48, dtype=np.int32) % 4)
    return (
        random.normal(size=(48, 3)) + 2.0 * np.eye(4, 3)[y],
        y,
        random.integers(1, 4, 48).astype(float),
    )


def jobs_of(options):
    return plan_jobs(from_rows(ROWS, range(4), {}), "m", f"learner=nystrom {options}", 1)


def trained(points, options, **settings):
    """The `Fitted` of all rows; points: x, y and weights or None."""
    x, y, w = points
    wanted = HeldOutRequest(chosen=np.ones(len(y), dtype=bool))
    return list(
        train_shared(
            jobs_of(options),
            Dataset(x, y, weights=None if w is None else Weights(w)),
            TrainingSettings(**{"workers": 1, **settings}),
            None,
            wanted,
        )
    )


def values_of(model, x):
    return decision_values(model.kernel, model.sv, model.coef, model.rho, x)


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("options", ["-l .3", "-l .3 -w1 3"])
def test_classifiers_of_whole_weights_are_those_of_copies(points, options, raw, monkeypatch):
    monkeypatch.setattr(sums, "_RAW", 0 if raw else 1e12)
    x, y, w = points
    copies = np.repeat(np.arange(48), w.astype(int))
    for one, other, plain in zip(
        *(
            trained(data, f"-m 48 -g 2 {options}")
            for data in (points, (x[copies], y[copies], None), (x, y, None))
        )
    ):
        f = values_of(one.model, x)
        assert np.allclose(f, values_of(other.model, x), rtol=0, atol=1e-9)
        assert abs(one.model.rho - other.model.rho) < 1e-9
        assert not np.allclose(f, values_of(plain.model, x), atol=1e-3)


def test_a_point_that_is_left_out_goes_with_all_its_weight(points, monkeypatch):
    x, y, w = points
    monkeypatch.setattr(
        sums,
        "landmarks_of",
        lambda job, *rest: (np.arange(12), Landmarks(Kernel("rbf", 2.0), x[:12])),
    )
    for number, fitted in enumerate(trained(points, "-g 2 -l .3")):
        rows = np.flatnonzero(np.isin(y, fitted.job.labels))
        for place in (0, len(rows) - 1):
            rest = np.arange(48) != rows[place]
            alone = trained((x[rest], y[rest], w[rest]), "-g 2 -l .3")[number].model
            assert abs(values_of(alone, x[rows[place] :][:1])[0] - fitted.values[place]) < 1e-6


def test_probabilities_are_those_of_the_weighted_points(points):
    _, y, w = points
    for fitted in trained(points, "-m 24 -g 2 -l .3"):
        left, right = (np.isin(y, side) for side in fitted.job.sides)
        rows = np.flatnonzero(left | right)
        a, b, _ = fit_sigmoid(
            fitted.values.astype(float), right[rows], (w[right].sum(), w[left].sum()), w[rows]
        )
        assert np.allclose(fitted.model.platt, (a, b), atol=1e-4)
        a, b, _ = fit_sigmoid(fitted.values.astype(float), right[rows])
        assert not np.allclose(fitted.model.platt, (a, b), atol=1e-2)


def test_lambda_goes_with_a_factor_of_all_weights(points):
    x, y, w = points
    for one, other in zip(trained(points, "-m 24 -g 2"), trained((x, y, 1000 * w), "-m 24 -g 2")):
        own, large = (
            float(f.model.provenance.options.split("-l ")[1].split()[0]) for f in (one, other)
        )
        assert abs(large / own - 1000) < 1e-6
        assert np.allclose(values_of(one.model, x), values_of(other.model, x), atol=1e-9)


def test_lambda_is_chosen_by_the_weighted_errors(points):
    x, y, w = points
    random = np.random.default_rng(8)  # half of the points have labels that tell nothing
    noisy = np.arange(48) % 2 == 0
    y = np.where(noisy, random.permutation(y), y)
    clear, strange = (
        trained((x, y, np.where(noisy, one, other)), "-m 24 -g 1")
        for one, other in ((1e-3, 1.0), (1.0, 1e-3))
    )
    assert [f.model.provenance.options for f in clear] != [
        f.model.provenance.options for f in strange
    ]


def bytes_of(fitted):
    return dumps([(replace(one.model, provenance=None), one.values) for one in fitted])


@pytest.mark.few(1)
@pytest.mark.parametrize("raw", [False, True])
def test_same_bytes_on_any_workers_and_from_a_file(points, raw, tmp_path, monkeypatch):
    monkeypatch.setattr(sums, "_RANGE", (16, 16))
    monkeypatch.setattr(sums, "_RAW", 0 if raw else 1e12)
    x, y, w = points
    write_vec(tmp_path / "x.vec", x.astype(np.float32))
    points = x.astype(np.float32).astype(float), y, w
    here = bytes_of(trained(points, "-m 24 -g 2"))
    assert bytes_of(trained(points, "-m 24 -g 2", workers=3)) == here
    with ProcessPool(2) as executor:
        lazy = open_vec(tmp_path / "x.vec"), y, w
        for data in (points, lazy):
            assert bytes_of(trained(data, "-m 24 -g 2", workers=executor)) == here


def test_weights_of_one_are_no_weights(points):
    x, y, _ = points
    one, other = (trained((x, y, w), "-m 24 -g 2") for w in (np.ones(48), None))
    for a, b in zip(one, other):
        assert np.allclose(values_of(a.model, x), values_of(b.model, x), rtol=0, atol=1e-12)
        assert np.allclose(a.model.platt, b.model.platt, rtol=1e-6)
