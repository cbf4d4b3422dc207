"""Runs of training whose classifiers share landmarks: progress, time limit, losses, changed points."""

import math
import os
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.control.build import from_rows
from agfmc.core.errors import CommandFailed, DataError
from agfmc.core.points import packed, unpacked
from agfmc.data import reading
from agfmc.landmarks import sums
from agfmc.training import run
from agfmc.data.types import InputFormat
from agfmc.training.fit import TrainingSettings
from agfmc.training.plan import Output, plan
from agfmc.training.request import PointsRequest
from agfmc.training.run import finished, train
from data_files import write_cls, write_vec

PAIRS = [((a,), (b,)) for a in range(4) for b in range(a + 1, 4)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sums, "_RANGE", (32, 32))
    rng = np.random.default_rng(1)
    y = rng.permutation(np.arange(200) % 4)
    write_vec("trn.vec", rng.normal(size=(200, 3)) + 2.0 * np.eye(4, 3)[y])
    write_cls("trn.cls", y)


def planned(base="m"):
    settings = TrainingSettings("learner=nystrom -m 12 -g .3")
    points = PointsRequest("trn", InputFormat(), settings)
    return plan(from_rows(PAIRS, range(4), {}), points, Output(base))


def models(base="m"):
    return {path.name[len(base) :]: path.read_bytes() for path in Path().glob(f"{base}[-.]*")}


def test_lower_triangle_row_by_row():
    gram = np.array([[1.0, 2, 4], [2, 3, 5], [4, 5, 6]])
    assert packed(gram).tolist() == [1, 2, 3, 4, 5, 6]
    assert np.array_equal(unpacked(packed(gram), 3), gram)


def test_progress_tells_what_is_done():
    calls = []
    train(planned(), lambda *call: calls.append(call))
    assert [call[0] for call in calls] == sorted(call[0] for call in calls)
    assert all(call[1] == 100_000 for call in calls) and calls[-1][0] == 100_000
    # of four classes in seven ranges, then of six classifiers
    words = [f"{i} of 6 classifiers" for i in range(7)]
    assert [call[2] for call in calls] == 28 * words[:1] + words[1:]


def test_time_limit_between_classifiers(monkeypatch):
    train(planned("w"))
    done = []
    with monkeypatch.context() as patch:
        patch.setattr(
            run, "time", SimpleNamespace(monotonic=lambda: math.inf if len(done) >= 2 else 0.0)
        )
        made = train(planned(), deadline=time.monotonic() + 1000, held_out=done.append)
    assert made.stopped and 2 <= made.done < 6 and len(finished(planned())) == made.done
    assert train(planned(), finished=finished(planned())).done == 6
    assert models() == models("w")


def test_lost_task_ends_training_in_one_line(monkeypatch):
    monkeypatch.setattr(
        sums,
        "run_remote",
        lambda *_, **more: iter([((0, 0, 32, (0,)), CommandFailed("sums of rows 0 to 31: gone"))]),
    )
    with pytest.raises(CommandFailed, match="sums of rows 0 to 31: gone"):
        train(planned(), workers=object())


@pytest.mark.parametrize("after", [0, 3])
def test_file_that_changes_while_sums_go_on(monkeypatch, after):
    """Also where the digests of the points are known before the training."""
    monkeypatch.setattr(reading, "_LAZY", 0)
    work, made = planned(), []
    assert finished(work) == set()
    work.origins(work.jobs[0])
    make = sums.range_sums

    def range_sums(problem, item):
        made.append(item)
        if len(made) == after + 1:
            os.utime("trn.vec", (1, 1))
        return make(problem, item)

    monkeypatch.setattr(sums, "range_sums", range_sums)
    with pytest.raises(DataError, match="trn.vec: .*changed"):
        train(work)
    assert models() == {}
