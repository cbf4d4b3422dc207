"""Models of several runs under one control file; the last model before a time limit."""

import os
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.errors import AgfmcWarning, DataError, ModelError
from agfmc.flow.fit import fit
from agfmc.flow.limits import TimeUp
from agfmc.flow.mixture import check_one_run
from agfmc.flow.planning import check_outputs, plan
from agfmc.flow.resume import replaced
from agfmc.flow.training import train
from agfmc.formats.vectors import write_cls, write_vec
from agfmc.train.jobs import plan_jobs

PAIRS = parse('a 0 / 1; b 0 / 2; c 1 / 2; {4 0 9}', "ctl")
CODE = parse('a 0 1 / 2 3; b 0 2 / 1 3; c 0 3 / 1 2; {0 1 2 3}', "ctl")


def models(*samples, more=""):
    return [SimpleNamespace(name=name, settings=f"agfmc 1; options -c 1; samples {text}{more}")
            for name, text in zip("abc", samples)]


@pytest.mark.parametrize("tree, samples, warned", [
    (PAIRS, ("5 3", "5 2", "3 2"), False), (PAIRS, ("5 3", "5 2", "4 2"), True),
    (PAIRS, ("5 3", "6 2", "3 2"), True), (CODE, ("3 7", "4 6", "5 5"), False),
    (CODE, ("3 7", "4 6", "5 6"), True), (CODE, ("300000 700000", "400000 600000",
                                                "500000 500001"), True)], ids=str)
def test_numbers_of_samples(tree, samples, warned):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check_one_run(tree, models(*samples))
    assert [warning.category for warning in told] == [AgfmcWarning] * warned


def test_normalisations():
    found = models("5 3", "5 2", "3 2", more="; normalised 0123456789abcdef")
    check_one_run(PAIRS, found)
    found[1].settings = found[1].settings.replace("cdef", "cdee")
    with pytest.raises(ModelError, match="'a' and 'b' were trained with different"):
        check_one_run(PAIRS, found)
    found[1].settings = "agfmc 1; samples 5 2"
    with pytest.raises(ModelError, match="'a' and 'b'"):
        check_one_run(PAIRS, found)
    found[1].settings = ""  # of another program: tells nothing
    check_one_run(PAIRS, found)


@pytest.fixture
def work(tmp_path, monkeypatch):
    """What a run plans in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    y = np.r_[0, 1, 2, rng.integers(0, 3, 57)]
    write_vec("trn.vec", rng.normal(size=(60, 3)) + y[:, None])
    write_cls("trn.cls", y)
    return plan(parse('"" 0 / 1; "-c 2" 0 / 2; "" 1 / 2; {0 1 2}'), "trn", "binary", "m",
                default="-c 5")


def test_a_model_that_another_run_replaced(work):
    train(work, 1)
    assert replaced(work) is None
    with open("m-00", "rb") as file:
        other = file.read()
    with open("m-01", "wb") as file:
        file.write(other)
    assert replaced(work) == "m-01"


def test_the_control_file_goes_when_a_model_does_and_not_before(work, monkeypatch):
    with open("ctl", "w") as file:
        file.write("m-00 0 / 1;")
    with open("m-00", "w") as file:
        file.write("of another run")
    with monkeypatch.context() as patched:  # a disk with no room
        def fsync(handle):
            raise OSError(28, "No space left on device")
        patched.setattr(os, "fsync", fsync)
        with pytest.raises(DataError, match="No space left"):
            train(work, 1, control_out="ctl")
    assert sorted(os.listdir()) == ["ctl", "m-00", "trn.cls", "trn.vec"]
    train(work, 1, control_out="ctl")
    assert not os.path.exists("ctl")


def test_outputs_are_known_to_be_impossible_before_the_training(work):
    os.mkdir("m-02")
    with pytest.raises(DataError, match="m-02: cannot write"):
        check_outputs(work, "ctl", [])
    check_outputs(work, "ctl", [], folders=True)  # other programs may write such models
    os.mkdir("ctl")
    with pytest.raises(DataError, match="ctl: cannot write"):
        check_outputs(work, "ctl", [], folders=True)


def test_a_model_whose_last_fit_ends_at_the_limit_is_handed_out():
    rng = np.random.default_rng(0)
    y = np.repeat([4, 0, 9], 20).astype(np.int32)
    x = rng.normal(size=(60, 2)) + y[:, None]
    jobs = plan_jobs(parse('"" 0/1; "" 0/2; "" 1/2; {4 0 9}'), "m", "-c 5", 1)
    last = 6  # fits of a job: itself and five folds

    def limit(done, total):
        if done >= last:
            raise TimeUp

    found = []
    with pytest.raises(TimeUp):
        for job, model, _ in fit(jobs, x, y, 1, limit):
            found.append(job.name)
    assert found == ["m-00"]
