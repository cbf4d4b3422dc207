"""Sums on the workers of executors: the bytes of threads, whatever the workers see."""

import os
import pickle
from concurrent.futures import Executor, Future
from dataclasses import replace

import numpy as np
import pytest

from agfmc.control.build import from_rows
from agfmc.data.types import Dataset
from agfmc.executors.processes import ProcessPool
from agfmc.data.libagf import open_vec
from agfmc.landmarks.features import Landmarks
from agfmc.learners.protocol import plan_jobs
from agfmc.core.models import Kernel
from agfmc.data.normalisation import Normalisation
from agfmc.landmarks import sums
from agfmc.training.fit import fit, HeldOutRequest, TrainingSettings
from data_files import write_vec

ROWS = [((0,), (1, 2)), ((0,), (2,)), ((1,), (3,))]
OPTIONS = "learner=nystrom -m 12 -g .3"


class Workers(Executor):
    """An executor in this thread whose workers get copies; `sent`: the sizes of all pickles."""

    def __init__(self):
        self.sent, self.whole = [], 0

    def submit(self, function, /, *args):
        future = Future()
        try:
            data = pickle.dumps((function, args))
            self.sent.append(len(data))
            function, args = pickle.loads(data)
            future.set_result(pickle.loads(pickle.dumps(function(*args))))
        except Exception as error:
            future.set_exception(error)
        return future


class Remembering(Workers):
    """The same with `submit_with`."""

    def submit_with(self, shared, function, /, *args):
        self.whole += 1
        return self.submit(function, shared, *args)


@pytest.fixture
def points(tmp_path, monkeypatch):
    monkeypatch.setattr(sums, "_RANGE", (64, 64))
    rng = np.random.default_rng(5)
    y = rng.permutation(np.arange(300, dtype=np.int32) % 4)
    x = (rng.normal(size=(300, 3)) + 2.0 * np.eye(4, 3)[y]).astype(np.float32)
    write_vec(tmp_path / "x.vec", x)
    return x, y, str(tmp_path / "x.vec")


def trained(x, y, **settings):
    jobs = plan_jobs(from_rows(ROWS, range(4), {}), "m", OPTIONS, 1)
    return [
        replace(fitted.model, provenance=None)
        for fitted in fit(jobs, Dataset(x, y), TrainingSettings(**{"workers": 1, **settings}))
    ]


def same(one, other):
    return pickle.dumps(one) == pickle.dumps(other)


@pytest.mark.few(1)
@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("workers", [Workers, Remembering, lambda: ProcessPool(2)])
def test_same_bytes_as_threads(points, workers, raw, monkeypatch):
    monkeypatch.setattr(sums, "_RAW", 0 if raw else 1e11)
    x, y, path = points
    x = x.astype(np.float64)
    norm = Normalisation(np.diag([1, 2, 0.5]).astype(np.float32), np.ones(3, np.float32))
    lazy = open_vec(path)
    with workers() as executor:
        assert same(trained(x, y, workers=executor), trained(x, y, workers=2))
        assert same(trained(lazy, y, workers=executor), trained(x, y))
        assert same(trained(lazy.normalised(norm), y, workers=executor), trained(norm.apply(x), y))


def test_points_in_a_file_are_sent_by_its_name(points):
    x, y, path = points
    by_value, by_name = Remembering(), Remembering()
    trained(x, y, workers=by_value)
    trained(open_vec(path), y, workers=by_name)
    assert by_value.whole == 0 and by_name.whole == len(by_name.sent) == len(by_value.sent) == 15


def test_workers_that_do_not_see_the_file_get_the_points(points, monkeypatch):
    x, y, path = points
    lazy, executor = open_vec(path), Remembering()
    read = sums._Reference.points.func
    monkeypatch.setattr(
        sums._Reference, "points", property(lambda self: os.utime(path, (1, 1)) or read(self))
    )
    monkeypatch.setattr(type(lazy), "check", lambda self: None)
    assert same(trained(lazy, y, workers=executor), trained(x, y))
    assert 1 <= executor.whole < 15 < len(executor.sent)
    assert len(executor.sent) == 15 + executor.whole


def test_a_task_gets_the_points_of_its_classes_alone(points):
    x, y, _ = points
    executor = Workers()
    trained(x, y, workers=executor)
    group = sums.Group(
        plan_jobs(from_rows(ROWS, range(4), {}), "m", OPTIONS, 1),
        Dataset(x, y),
        512,
        HeldOutRequest(),
    )
    part = group.problem.part((1, 64, 128, (0, 2)))
    rows = 64 + np.flatnonzero(np.isin(y[64:128], (0, 2)))
    assert np.array_equal(part.x, x[rows]) and np.array_equal(part.y, y[rows])
    assert part.landmarks.kernel_values(x[:2]).shape == (12, 2)


@pytest.mark.parametrize("raw", [False, True])
def test_weights_travel_with_the_labels(points, raw):
    x, y, path = points
    w = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    landmarks = Landmarks(Kernel("rbf", 0.5), x[:7])
    item = (1, 64, 128, (0, 2))
    here = sums.range_sums(sums.Problem(landmarks, x, y, w, raw), item)
    there = sums.Problem(landmarks, open_vec(path), y, w, raw)
    sent = pickle.loads(pickle.dumps((there.shared(), there.with_labels(item))))
    for work in (sent, (there.part(item), item)):
        one = sums._sums_elsewhere(*work)
        assert all(map(np.array_equal, one, here))
