"""Models of several runs under one control file; the last model before a time limit."""

import errno
import os
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.data.types import Dataset, InputFormat
from agfmc.files import opening
from agfmc.core import memory
from agfmc.models.libsvm import format_svm_model
from agfmc.core.models import BinaryModel, Kernel
from agfmc.models.files import check_one_run, load
from agfmc.control.parse import parse
from agfmc.core.errors import AgfmcWarning, DataError, ModelError
from agfmc.training.fit import fit, TrainingSettings
from agfmc.learners.programs import Command
from agfmc.training import run
from agfmc.training.external import Trainer
from agfmc.training.plan import Output, plan
from agfmc.training.request import PointsRequest
from agfmc.training.run import replaced, TimeUp, train
from agfmc.data.libagf import read_cls, read_vec
from agfmc.core.provenance import Provenance
from agfmc.learners.protocol import plan_jobs
from data_files import write_cls, write_vec
from own_warnings import no_own_warnings, own_warnings

made = Provenance.from_line

PAIRS = parse("a 0 / 1; b 0 / 2; c 1 / 2; {4 0 9}", "ctl")
PLAN = parse('"" 0 / 1; "-c 2" 0 / 2; "" 1 / 2; {0 1 2}')
SETTINGS = TrainingSettings("-c 5")
CODE = parse("a 0 1 / 2 3; b 0 2 / 1 3; c 0 3 / 1 2; {0 1 2 3}", "ctl")


def planned(output=Output("m"), *, tree=PLAN, settings=SETTINGS, norm_file=None, trainer=None):
    return plan(tree, PointsRequest("trn", InputFormat(), settings, norm_file), output, trainer)


def models(*samples, more=""):
    return [
        SimpleNamespace(name=name, provenance=made(f"agfmc 1; options -c 1; samples {text}{more}"))
        for name, text in zip("abc", samples)
    ]


@pytest.mark.parametrize(
    "tree, samples, warned",
    [
        (PAIRS, ("5 3", "5 2", "3 2"), False),
        (PAIRS, ("5 3", "5 2", "4 2"), True),
        (PAIRS, ("5 3", "6 2", "3 2"), True),
        (CODE, ("3 7", "4 6", "5 5"), False),
        (CODE, ("3 7", "4 6", "5 6"), True),
        (CODE, ("300000 700000", "400000 600000", "500000 500001"), True),
    ],
    ids=str,
)
def test_numbers_of_samples(tree, samples, warned):
    with own_warnings() as told:
        check_one_run(tree, models(*samples), {})
    assert [warning.category for warning in told] == [AgfmcWarning] * warned


def test_landmarks_that_models_share_count_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sv = np.random.default_rng(0).normal(size=(20, 400))
    for number in range(12):
        (tmp_path / f"m{number}").write_text(
            format_svm_model(
                BinaryModel(
                    f"m{number}",
                    "c_svc",
                    Kernel("rbf", 0.1),
                    sv,
                    np.arange(20.0) - number,
                    0.0,
                    (1, 0),
                    (20, 0),
                    (-1.0, 0.0),
                )
            )
        )
    (tmp_path / "c").write_text("".join(f"m{number} 0 / 1;\n" for number in range(12)) + "{0 1}")
    for module in (opening, memory):  # room for five tables, not for twelve
        monkeypatch.setattr(module, "memory_limit", lambda: 2 * 5 * sv.nbytes)
    found = load("c").machines
    np.testing.assert_array_equal(found.sv, sv)
    assert found.coef.reshape(12, 20)[:, 0].tolist() == [-float(number) for number in range(12)]
    for number in range(12):
        text = (tmp_path / f"m{number}").read_text()
        (tmp_path / f"m{number}").write_text(text.replace(" 1:", f" 1:{number}", 1))
    with pytest.raises((DataError, ModelError), match="more than|above the limit"):
        load("c")


TAUGHT = ("4/0", "4/9", "0/9")


@pytest.mark.parametrize(
    "tree, taught, warned",
    [
        (PAIRS, TAUGHT, ""),
        (
            PAIRS,
            ("0-4/5-9", *TAUGHT[1:]),
            "'a' was trained on the classes 0-4 / 5-9, and is used here for 4 / 0: from another",
        ),
        (PAIRS, ("1-4/0", "4/9,11-13", "0-2/7-9"), ""),
        (PAIRS, ("0/4", "9/4", "9/0"), "4 / 0, and 2 more like it"),
        (PAIRS, ("4/0/9", *TAUGHT[1:]), "classes 4 / 0 / 9"),
        (PAIRS, ("4/9", *TAUGHT[1:]), "4 / 9"),
        (PAIRS, (",".join(map(str, range(0, 99, 2))) + "/1", *TAUGHT[1:]), " ... "),
        (CODE, ("0-1/2-3", "0,2/1,3", "0,3/1-2"), ""),
        (CODE, ("2-3/0-1", "0,2/1,3", "0,3/1-2"), "2-3 / 0-1, and is used here for 0-1 / 2-3"),
    ],
)
def test_other_classes(tree, taught, warned):
    found = [
        SimpleNamespace(name=name, provenance=made(f"0.1; options -c 1; classes {text}; seed 3"))
        for name, text in zip("abc", taught)
    ]
    with own_warnings() as told:
        check_one_run(tree, found, {})
    assert [warning.category for warning in told] == [AgfmcWarning] * bool(warned)
    assert all(
        warned in str(warning.message) and len(str(warning.message)) < 250 for warning in told
    )


def test_models_of_another_run_with_the_same_names(folder):
    """The same base name, the same numbers of samples, and another order of the classes."""
    pairs = "{} 0 / 1; {} 0 / 2; {} 1 / 2; {{{}}}"
    for name, order in (("one", "0 1 2"), ("two", "2 1 0")):
        train(
            planned(tree=parse(pairs.format('""', '""', '""', order)), settings=TrainingSettings())
        )
        with open(name, "w") as file:
            file.write(pairs.format("m-00", "m-01", "m-02", order))
        with warnings.catch_warnings():
            warnings.simplefilter("error", AgfmcWarning)
            warnings.filterwarnings("ignore", ".*: not calibrated", AgfmcWarning)
            load(name)
    with pytest.warns(AgfmcWarning, match="one: 'm-00' was trained on the classes 2"):
        load("one")


def test_direct_classifiers_of_another_run():
    tree = parse('a 0 / 1; { m L "" { 0 1 } 2 }', "ctl")
    found = [SimpleNamespace(name="a", provenance=made("x; classes 0-1/2"))]
    direct = [SimpleNamespace(name="m", code="L", provenance=made("x; classes 0/1"))]
    with no_own_warnings():
        check_one_run(tree, found, {1: direct[0]})
    direct[0].provenance = made("x; classes 1/0")
    with pytest.warns(AgfmcWarning, match="'m' was trained on the classes 1 / 0"):
        check_one_run(tree, found, {1: direct[0]})


def test_normalisations():
    found = models("5 3", "5 2", "3 2", more="; normalised 0123456789abcdef")
    check_one_run(PAIRS, found, {})
    found[1].provenance = made(found[1].provenance.to_line().replace("cdef", "cdee"))
    with pytest.raises(ModelError, match="'a' and 'b' were trained with different"):
        check_one_run(PAIRS, found, {})
    found[1].provenance = made("agfmc 1; samples 5 2")
    with pytest.raises(ModelError, match="'a' and 'b'"):
        check_one_run(PAIRS, found, {})
    found[1].provenance = made("")  # of another program: tells nothing
    check_one_run(PAIRS, found, {})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with data of three classes."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    y = np.r_[0, 1, 2, rng.integers(0, 3, 57)]
    write_vec("trn.vec", rng.normal(size=(60, 3)) + y[:, None])
    write_cls("trn.cls", y)


@pytest.fixture
def work(folder):
    """What a run plans."""
    return planned()


def test_a_model_that_another_run_replaced(work):
    train(work)
    assert replaced(work) is None
    with open("m-00", "rb") as file:
        other = file.read()
    with open("m-01", "wb") as file:
        file.write(other)
    assert replaced(work) == "m-01"


def test_files_that_cannot_be_opened_are_not_of_another_run(work, monkeypatch):
    train(work)

    def fail(path):
        full = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        raise DataError(f"cannot read: {full.strerror}", file=path) from full

    monkeypatch.setattr(run, "read_bytes", fail)
    with pytest.raises(DataError, match="m-00: cannot read: Too many open files"):
        replaced(work)


def test_a_normalisation_that_another_run_replaced():
    work = planned(settings=replace(SETTINGS, scale=True))
    train(work)
    assert replaced(work) is None
    table = read_vec("m.std")
    write_vec("m.std", table * 1.5)
    assert replaced(work) == "m.std"
    os.unlink("m.std")
    assert replaced(work) == "m.std"
    os.symlink("/dev/null", "m.std")  # where the user wants none: it cannot be looked at
    assert replaced(work) is None
    write_vec("a.std", table)
    given = planned(norm_file="a.std")
    train(given)
    os.unlink("a.std")  # it was read, and not written
    assert replaced(given) is None


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda: write_vec("m.01.vec", read_vec("m.01.vec")[:-1]),
        lambda: write_vec("m.01.vec", np.nextafter(read_vec("m.01.vec"), np.float32(9))),
        lambda: write_vec("m.01.vec", read_vec("m.01.vec")[:, :2]),
        lambda: write_cls("m.01.cls", 1 - read_cls("m.01.cls")),
        lambda: write_cls("m.01.cls", read_cls("m.01.cls")[1:]),
        lambda: os.unlink("m.01.vec"),
        lambda: os.unlink("m.01.cls"),
        lambda: (os.unlink("m.01.vec"), os.mkfifo("m.01.vec")),
    ],
)
def test_points_that_another_run_replaced(spoil):
    os.mkdir("models")
    work = planned(
        Output("m", "models"),
        tree=parse('"" {0 "-k 3" K {1 2}}'),
        settings=replace(SETTINGS, scale=True),
    )
    train(work)
    os.chdir("models")
    spoil()
    os.chdir(os.pardir)
    assert replaced(work) == "m.01"
    if os.path.exists("models/m.01.vec"):
        os.unlink("models/m.01.vec")  # a pipe would be written as it is
    train(work)
    assert replaced(work) is None


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
            train(work, control_out="ctl")
    assert sorted(os.listdir()) == ["ctl", "m-00", "trn.cls", "trn.vec"]
    train(work, control_out="ctl")
    assert not os.path.exists("ctl")


def test_outputs_are_known_to_be_impossible_before_the_training(work):
    os.mkdir("m-02")
    with pytest.raises(DataError, match="m-02: cannot write"):
        planned()
    program = Trainer(Command("true"))  # other programs may write such models
    planned(trainer=program)
    os.mkdir("ctl")
    with pytest.raises(DataError, match="ctl: cannot write"):
        planned(Output("m", control="ctl"), trainer=program)


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
        for fitted in fit(jobs, Dataset(x, y), TrainingSettings(platt="cv"), limit):
            found.append(fitted.job.name)
    assert found == ["m-00"]
