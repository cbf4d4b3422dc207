"""Models of an earlier run that are kept: those that training would write again; a time limit."""

import os
import threading
import time

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.data.libagf import write_std
from agfmc.data.normalisation import Normalisation
from agfmc.data.types import InputFormat
from agfmc.training.fit import TrainingSettings
from agfmc.training.plan import Output, plan
from agfmc.training.request import PointsRequest
from agfmc.training.run import finished, TimeUp, train, until
from data_files import write_cls, write_vec

PAIRS = '"" 0 / 1; "-c 2" 0 / 2; "" 1 / 2; {0 1 2}'
ALL = {"m-00", "m-01", "m-02"}
RAW = Output("m", unnormalised=True)


def points():
    rng = np.random.default_rng(5)
    y = np.r_[0, 1, 2, rng.integers(0, 3, 57)]
    return rng.normal(size=(60, 3)) + y[:, None], y


def write(x, y):
    write_vec("trn.vec", x)
    write_cls("trn.cls", y)


def planned(text=PAIRS, norm_file="n.std", output=Output("m"), **settings):
    settings = TrainingSettings(**{"options": "-c 5", "scale": True, "platt": "cv", **settings})
    return plan(parse(text), PointsRequest("trn", InputFormat(), settings, norm_file), output)


def result_of(folder):
    return folder.done, folder.errors, folder.stopped, folder.trained, folder.settled


@pytest.fixture
def x_y(tmp_path, monkeypatch):
    """Data and trained models, -n, of `PAIRS` in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    write(*points())
    assert train(planned()).done == 3
    return points()


def test_everything_is_kept(x_y):
    assert finished(planned()) == ALL


@pytest.mark.parametrize(
    "more, kept",
    [
        ({"seed": 2}, set()),
        ({"options": "-c 6"}, {"m-01"}),
        ({"options": "-c 5 -w0 2"}, {"m-01"}),
        ({"options": "-c 5 -g 0.3333"}, {"m-01"}),
        ({"platt": "loo"}, set()),
        ({"scale": False}, ALL),
        ({"scale": False, "norm_file": None}, set()),
        ({"nsv": 3}, set()),
        ({"output": RAW}, set()),
        ({"output": Output("m", only="m-02")}, {"m-02"}),
        ({"output": Output("m", "elsewhere")}, set()),
        ({"options": "-m 7 -c 5.0"}, ALL),
    ],
    ids=lambda given: repr(sorted(given) if given.__class__ is set else given),
)
def test_settings(x_y, more, kept):
    os.mkdir("elsewhere")
    assert finished(planned(**more)) == kept


@pytest.mark.parametrize(
    "text, kept",
    [
        ('"-c 5" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}', {"m-00", "m-02"}),
        ('"" 1 / 0; "-c 2" 0 / 2; "" 1 / 2; {0 1 2}', {"m-01", "m-02"}),
        ('"" 0 / 1; "-c 2" 0 / 2; "" 1 / 2; {1 0 2}', set()),  # numbers are places in the list
        ('"" 0 / 1 2; "-c 2" 0 / 2; "" 1 / 2; {0 1 2}', {"m-01", "m-02"}),
        ('\n\n"" 0 / 1;\n "-c 2" 0 / 2; "" 1 / 2;\n {0 1 2}\n', ALL),
    ],
)
def test_control_files(x_y, text, kept):
    assert finished(planned(text)) == kept


def test_points_of_a_class_concern_its_own_models(x_y):
    x, y = x_y
    row = np.flatnonzero(y == 2)[3]
    other = x.copy()
    other[row, 1] = np.nextafter(np.float32(x[row, 1]), np.float32(9))
    # with the normalisation that is there: one fitted anew would be another for all
    write(other, y)
    assert finished(planned(scale=False)) == {"m-00"}
    write(np.delete(x, row, 0), np.delete(y, row))
    assert finished(planned(scale=False)) == {"m-00"}
    write(x, y)
    assert finished(planned(scale=False)) == ALL
    other[row, 1] += 1
    write(other, y)
    assert finished(planned()) == set()


def test_labels_and_order(x_y):
    x, y = x_y
    wrong = y.copy()
    wrong[np.flatnonzero(y == 0)[2]] = 1
    write(x, wrong)
    assert finished(planned(scale=False)) == set()
    order = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y != 0)]
    write(x[order], y[order])
    # pairs of classes see the samples of either in the same order as before
    assert finished(planned(scale=False)) == ALL
    order[:2] = order[1::-1]
    write(x[order], y[order])
    assert finished(planned(scale=False)) == {"m-02"}


def test_classes_of_one_side_mixed_in_another_way(x_y):
    x, y = x_y
    text = '"" {0 "" {1 2}}'
    train(planned(text))
    assert finished(planned(text, scale=False)) == {"m", "m.01"}
    order = np.argsort(y, kind="stable")
    write(x[order], y[order])
    assert finished(planned(text, scale=False)) == {"m.01"}


def test_raw_vectors_of_a_feature_that_the_normalisation_drops(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x, y = points()
    x = np.c_[x, np.ones(len(x))]
    write(x, y)
    with pytest.warns(UserWarning, match="constant"):
        train(planned(output=RAW))
    x[:, 3] = 1.5
    for unnormalised, kept in ((True, set()), (False, ALL)):
        write(*(np.c_[x[:, :3], np.ones(len(x))], y))
        more = {"scale": False, "output": Output("m", unnormalised=unnormalised)}
        train(planned(**more))
        assert finished(planned(**more)) == ALL
        write(x, y)
        assert finished(planned(**more)) == kept


def test_the_same_raw_points_through_another_normalisation(x_y):
    more = {"scale": False, "output": RAW}
    train(planned(**more))
    assert finished(planned(**more)) == ALL
    for name, factor in (("one.std", 1), ("two.std", 2)):
        write_std(
            name, Normalisation(factor * np.eye(3, dtype=np.float32), np.zeros(3, dtype=np.float32))
        )
        assert finished(planned(norm_file=name, **more)) == set()
        train(planned(norm_file=name, **more))
    # the same numbers, but they are told to be raw
    train(planned(norm_file="one.std", **more))
    assert finished(planned(norm_file="one.std", scale=False)) == set()


def test_the_same_classes_parted_elsewhere(x_y):
    x, y = x_y
    order = np.argsort(y, kind="stable")
    write(x[order], y[order])
    train(planned('"" {0 "" {1 2}}'))
    assert finished(planned('"" {0 "" {1 2}}')) == {"m", "m.01"}
    assert finished(planned('"" {"" {0 1} 2}')) == set()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw[:-1],
        lambda raw: raw.replace(b'"seed": 1', b'"seed": 2'),
        lambda raw: raw + b"\n",
        lambda raw: raw[:40] + b"7" + raw[41:],
        lambda raw: b"",
        lambda raw: raw.split(b', "run"')[0],
    ],
)
def test_files_that_are_not_what_was_written(x_y, spoil):
    with open("m-01", "rb") as file:
        raw = file.read()
    with open("m-01", "wb") as file:
        file.write(spoil(raw))
    assert finished(planned()) == ALL - {"m-01"}


def test_no_file_and_no_regular_one(x_y):
    os.unlink("m-00")
    os.unlink("m-01")
    os.mkfifo("m-01")  # reading it would wait for ever
    assert finished(planned()) == {"m-02"}


def test_versions(x_y, monkeypatch):
    monkeypatch.setattr("agfmc.training.plan.__version__", "9.9.9")
    assert finished(planned()) == set()


def test_another_name(x_y):
    for name in ALL:
        os.rename(name, name.replace("m-", "other-"))
    assert finished(planned(output=Output("other"))) == {
        name.replace("m-", "other-") for name in ALL
    }


def test_what_is_kept_is_not_trained(x_y, monkeypatch):
    before = {name: os.stat(name).st_ino for name in ALL - {"m-01"}}
    with open("m-01", "rb") as file:
        wanted = file.read()
    os.unlink("m-01")
    os.unlink("n.std")
    told = []
    outcome = train(planned(), lambda *words: told.append(words), finished(planned()))
    assert (outcome.done, outcome.errors, outcome.stopped) == (3, (), False)
    assert {name: os.stat(name).st_ino for name in before} == before
    with open("m-01", "rb") as file:
        assert file.read() == wanted
    assert os.path.exists("n.std")
    assert told == [
        (12 + done, 18, f"{2 + (done == 6)} of 3 classifiers", 12) for done in range(1, 7)
    ]
    monkeypatch.setattr("agfmc.training.run.fit", None)
    assert result_of(train(planned(), finished=ALL)) == (3, (), False, {}, {})


def test_direct_classifiers(x_y):
    rng = np.random.default_rng(0)
    y = np.r_[0:4, rng.integers(0, 4, 56)]
    write(x_y[0], y)
    text = '"" { "-r 0.5" L {0 1} "-k 3" K {2 3} }'
    work = planned(text)
    assert train(work).done == 3 and finished(work) == {"m", "m.00"}
    assert finished(planned(text.replace("0.5", "0.25"))) == {"m"}
    ino = os.stat("m.00").st_ino
    assert result_of(train(planned(text), finished={"m", "m.00"})) == (3, (), False, {}, {})
    assert os.stat("m.00").st_ino == ino
    write(np.where((y == 0)[:, None], x_y[0] + 1, x_y[0]), y)
    assert finished(planned(text, scale=False)) == set()


def test_progress_of_direct_classifiers_that_replace_others(x_y):
    """Each is counted as done by this run, although files of their names were there."""
    y = np.r_[0:4, np.random.default_rng(0).integers(0, 4, 56)]
    write(x_y[0], y)
    work = planned('"" { "-r 0.5" L {0 1} "-k 3" K {2 3} }')
    train(work)
    with open("control", "w"):
        pass
    told = []
    train(work, lambda *seen: told.append(seen), {"m"}, control_out="control")
    assert [(done, total, earlier) for done, total, _, earlier in told] == [(1, 2, 0), (2, 2, 0)]
    assert not os.path.exists("control")


def collected(items, *more):
    """(what came, whether the time was up)"""
    found = []
    try:
        for item in until(items, *more):
            found.append(item)
    except TimeUp:
        return found, True
    return found, False


def test_no_deadline():
    assert collected(iter("abc"), None) == (["a", "b", "c"], False)


def test_a_deadline_far_away():
    assert collected((i for i in range(100)), time.monotonic() + 60) == (list(range(100)), False)


def test_errors_pass():
    def failing():
        yield 1
        raise ValueError("seven")

    with pytest.raises(ValueError, match="seven"):
        list(until(failing(), time.monotonic() + 60))


def test_a_deadline_that_has_passed():
    assert collected((1 / 0 for _ in [1]), time.monotonic()) == ([], True)


def test_an_item_that_takes_too_long():
    closed, release = threading.Event(), threading.Event()

    def slow():
        try:
            yield 1
            release.wait(60)
            yield 2
            yield 3
        finally:
            closed.set()

    assert collected(slow(), time.monotonic() + 0.3) == ([1], True) and not closed.is_set()
    release.set()
    assert closed.wait(60)


def test_many_short_items_end_too():
    now = iter(range(10**9))
    found, up = collected((i for i in range(10**9)), 1000, lambda: next(now))
    assert up and 0 < len(found) < 2000


def test_a_consumer_that_leaves():
    closed = threading.Event()

    def endless():
        try:
            while True:
                yield 1
        finally:
            closed.set()

    items = until(endless(), time.monotonic() + 60)
    next(items)
    items.close()
    assert closed.wait(60)
