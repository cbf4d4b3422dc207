"""Plans of classifiers that share landmarks: points that stay in a file, and digests of origins."""

import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from agfmc.control.build import from_rows
from agfmc.control.parse import parse
from agfmc.core.errors import DataError
from agfmc.data import libagf, normalisation, reading
from agfmc.core.lazy_points import is_lazy
from agfmc.data.libagf import write_std
from agfmc.data.types import InputFormat
from agfmc.data.normalisation import Normalisation
from agfmc.core import points as core_points
from agfmc.training import plan as module
from agfmc.training.fit import TrainingSettings
from agfmc.training.plan import Output, plan
from agfmc.training.request import PointsRequest
from agfmc.training.run import finished, train
from data_files import write_cls, write_svm, write_vec

OPTIONS = "learner=nystrom -m 9 -l 1"
ROWS = [((0,), (1, 2, 3, 4)), ((0, 1), (2, 3, 4)), ((3,), (4,))]


def points(n=200):
    rng = np.random.default_rng(5)
    y = np.arange(n) % 5
    return (rng.normal(size=(n, 3)) * [1, 5, 1] + y[:, None]).astype(np.float32), y


def write(x, y):
    write_vec("trn.vec", x)
    write_cls("trn.cls", y)
    write_svm("trn.svm", x, y)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(*points())


def planned(options=OPTIONS, output=Output("m"), kind="binary", **settings):
    points = PointsRequest(
        "trn.svm" if kind == "svm" else "trn",
        InputFormat(kind),
        TrainingSettings(**{"options": options, "scale": True, **settings}),
    )
    return plan(from_rows(ROWS, range(5), {}), points, output)


def paths(plan):
    return [plan.path_of(file) for job in plan.jobs for file in job.files]


def digests(made):
    return [made.origins(job) for job in made.binary]


@pytest.fixture
def lazily(monkeypatch):
    monkeypatch.setattr(reading, "_LAZY", 0)


def test_points_stay_in_their_file_where_all_learners_stream(lazily):
    assert is_lazy(planned().data.x) and is_lazy(planned(kind="svm").data.x)
    assert not is_lazy(planned("-c 2").data.x)
    only = Output("m", only="m-00")
    assert is_lazy(planned(output=only).data.x)


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", ["binary", "svm"])
@pytest.mark.parametrize(
    "raw, settings",
    [(False, {}), (True, {}), (False, {"scale": False}), (False, {"nsv": 2})],
    ids=str,
)
def test_the_same_models_and_digests_wherever_the_points_are(monkeypatch, kind, raw, settings):
    output = Output("m", unnormalised=raw)
    eager = planned(output=output, kind=kind, **settings)
    assert not is_lazy(eager.data.x) and train(eager).done == 3
    texts = [Path(path).read_text() for path in paths(eager)]
    monkeypatch.setattr(reading, "_LAZY", 0)
    lazy = planned(output=output, kind=kind, **settings)
    assert is_lazy(lazy.data.x) and (not raw or is_lazy(lazy.raw))
    assert digests(lazy) == digests(eager) and finished(lazy) == {"m-00", "m-01", "m-02"}
    for path in paths(eager):
        open(path, "w").close()
    train(lazy)
    assert [Path(path).read_text() for path in paths(eager)] == texts


def test_points_are_read_once_for_classifiers_that_are_trained_together(lazily, monkeypatch):
    monkeypatch.setattr(module, "rows_by_class", None)
    made = planned()
    expected = digests(made)
    read = []
    table = type(made.data.x._table)
    part = table.read
    monkeypatch.setattr(
        table,
        "read",
        lambda self, start, stop: (read.append((start, stop)), part(self, start, stop))[1],
    )
    again = planned()
    read.clear()
    assert digests(again) == expected
    assert read == [(0, 200)]


def test_what_the_digest_depends_on():
    x, y = points()[0], np.arange(200) % 3
    text = '"learner=nystrom -m 9 -l 1" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}'
    write_std("n.std", Normalisation(np.eye(3, dtype=np.float32), np.zeros(3, np.float32)))

    def of(
        x=x, y=y, text=text, options="learner=nystrom -m 7 -l 1", output=Output("m"), **settings
    ):
        write(x, y)
        settings = TrainingSettings(**{"options": options, "calibration": 0, **settings})
        request = PointsRequest("trn", InputFormat(), settings, "n.std")
        return digests(plan(parse(text), request, output))

    def moved(row):
        other = x.copy()
        other[row] += 1
        return of(x=other)

    expected = of()
    assert len(set(expected)) == 3 and of() == expected
    kept = lambda other: [one == another for one, another in zip(expected, other)]
    assert kept(moved(6)) == [False, False, False] and y[6] == 0
    assert kept(moved(8)) == [True, False, False] and y[8] == 2
    assert kept(of(options="learner=nystrom -m 6 -l 1")) == [True, False, False]
    # another group: as many landmarks, drawn from other classes
    assert kept(of(text=text.replace("-m 9", "-m 7"))) == [False, False, False]
    # the places of the points decide what is added first
    order = np.r_[8, :8, 9 : len(y)]
    assert kept(of(x[order], y[order])) == [False, False, False]
    assert kept(of(seed=2)) == [False, False, False]
    # the errors of all points are counted: where some would do, the sigmoid is another one
    errors = Output("m", errors="m.err")
    assert kept(of(output=errors)) == [True, True, True]
    few = {"options": "learner=nystrom -m 7 -l 1 --loo 150"}
    assert kept(of(output=errors, **few))[0]
    assert of(**few)[1:] != of(output=errors, **few)[1:]


def test_no_model_is_sealed_for_points_that_changed(lazily):
    made = planned()
    os.utime("trn.vec", ns=(0, 0))
    with pytest.raises(DataError, match="trn.vec: changed while it was read"):
        train(made)
    assert not any(os.path.exists(path) for path in paths(made))


def test_memory_holds_the_labels_and_a_block(lazily, monkeypatch):
    n = 100_000
    x, y = points(n)
    write_vec("trn.vec", np.repeat(x, 8, axis=1))  # 9.6 megabytes, as float64 twice as many
    write_cls("trn.cls", y)
    for room in (core_points, normalisation, libagf):
        monkeypatch.setattr(room, "_PIECE" if room is libagf else "_BLOCK", 1 << 14)
    tracemalloc.start()
    try:
        made = planned()
        digests(made)
        assert len(made.calibration_rows) == 5000 and is_lazy(made.data.x)
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()
