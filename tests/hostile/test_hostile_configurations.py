"""A configuration of many small files takes no more than one large one; names that change hands."""

import os
import signal
import tracemalloc
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from agfmc.collate.merge import collate
from agfmc.errors import AgfmcError, DataError, ModelError
from agfmc.prediction import configuration
from agfmc.prediction.classifier import Classifier
from agfmc.prediction.configuration import load
from agfmc.formats import inputs
from agfmc.formats.libsvm_model import read_svm_model
from agfmc.formats.vectors import write_cls, write_vec
from agfmc.models import Normalisation

MODEL = """svm_type c_svc
kernel_type linear
nr_class 2
total_sv 2
rho 0
label 0 1
probA -1
probB 0
nr_sv 1 1
SV
1 1:1 {}:{}
-1 1:2
"""
WIDE = 1000
LOADS = 2 * (3 * 2 * WIDE * 8)  # a limit of which three models of that width take half


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_models(widths, k=3):
    """One-vs-one: models m0, m1... of these widths, and the control file c."""
    with open("c", "w", encoding="ascii") as file:
        for i, ((a, b), width) in enumerate(zip(combinations(range(k), 2), widths)):
            file.write(f"m{i} {a} / {b};\n")
            with open(f"m{i}", "w", encoding="ascii") as model:
                model.write(MODEL.format(width, i + 1))
        file.write("{" + " ".join(map(str, range(k))) + "}\n")


def limited(monkeypatch, limit):
    for module in ("inputs", "libsvm_model", "vectors"):
        monkeypatch.setattr(f"agfmc.formats.{module}.memory_limit", lambda: limit)


def test_support_vectors_of_all_models_fit_in_memory(here, monkeypatch):
    write_models([WIDE] * 3)
    limited(monkeypatch, LOADS)
    assert load("c").machines.sv.shape == (4, WIDE)  # one of them stands in all three
    limited(monkeypatch, LOADS - 16)
    for number in range(3):
        read_svm_model(f"m{number}")
    monkeypatch.setattr("agfmc.collate.merge.collate", None)
    with pytest.raises(DataError, match="c: the support vectors of all its models are more than"):
        load("c")


def test_support_vectors_that_are_widened_fit_in_memory(here, monkeypatch):
    write_models([2, 2, WIDE])
    limited(monkeypatch, LOADS)
    assert load("c").machines.sv.shape == (4, WIDE)
    limited(monkeypatch, LOADS - 16)
    monkeypatch.setattr("agfmc.collate.merge.collate", None)
    with pytest.raises(ModelError, match="c: 6 support vectors of 1000 features"):
        load("c")


def test_support_vectors_that_a_normalisation_widens_fit_in_memory(here, monkeypatch):
    write_models([2, 2, 2])
    wide = Normalisation(np.eye(3, WIDE), np.zeros(3))
    for more in ({}, {"unnormalised": True}):
        limited(monkeypatch, 4 * WIDE * 8 * 2)
        assert load("c", wide, **more).machines.sv.shape == (4, WIDE)
        limited(monkeypatch, 4 * WIDE * 8 * 2 - 16)
        with pytest.raises(ModelError, match="c: 4 support vectors of 1000 features"):
            load("c", wide, **more)


def write_direct():
    """Two multi-class nodes of ten points with four features each."""
    for name in "ab":
        write_vec(f"{name}.vec", np.ones((10, 4)))
        write_cls(f"{name}.cls", [0, 1] * 5)
    Path("c").write_text('a K "-k 3" { 0 b K "-k 3" { 1 2 } }')


def test_points_of_all_direct_classifiers_fit_in_memory(here, monkeypatch):
    write_direct()
    limited(monkeypatch, 2 * 2 * 10 * 4 * 8)
    assert len(load("c").node_classifiers) == 2
    limited(monkeypatch, 2 * 2 * 10 * 4 * 8 - 2)
    with pytest.raises(DataError, match="c: the points of all its multi-class nodes are more"):
        load("c")


def test_a_direct_classifier_for_which_there_is_no_memory_is_named(here, monkeypatch):
    write_direct()

    def classifier_of(model):
        raise MemoryError

    monkeypatch.setattr("agfmc.prediction.classifier.node_classifier", classifier_of)
    with pytest.raises(ModelError, match="^a: there is not enough memory for its points"):
        Classifier(load("c"))


def test_collation_holds_three_tables_at_most(here, monkeypatch):
    """That of the models, of all of them together, and one more of these."""
    monkeypatch.setattr("agfmc.collate.merge._BLOCK", 1 << 18)
    write_models([20_000] * 15, 6)
    tree = configuration.read_control("c")
    models = [read_svm_model(row.text) for row in tree.rows]
    size = sum(model.sv.nbytes for model in models)
    tracemalloc.start()
    try:
        collate(models, tree.sides(), tree.classes)
        assert tracemalloc.get_traced_memory()[1] < 2.3 * size
    finally:
        tracemalloc.stop()


@pytest.fixture
def bell():
    """What waits for a pipe fails after ten seconds."""
    def ring(number, frame):
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def to_pipe(path):
    os.mkfifo(path)


def to_device(path):
    os.symlink("/dev/zero", path)


def to_nothing(path):
    with open(path, "wb"):
        pass


SWAPS = [(to_pipe, "expected a regular file"), (to_device, "expected a regular file"),
         (to_nothing, "found an empty file")]


@pytest.mark.parametrize("swap, told", SWAPS)
@pytest.mark.parametrize("text, name", [("m0 0 / 1; {0 1}", "m0"), ('a K "-k 3" {0 1}', "a.vec"),
                                        ('a K "-k 3" {0 1}', "a.cls"), ('a L "" {0 1}', "a")])
def test_a_name_that_changes_hands_is_looked_at_when_it_is_open(
        here, bell, monkeypatch, swap, told, text, name):
    """The file is exchanged between the first look at it and the opening."""
    write_models([2])
    write_direct()
    Path("a").write_text("agfmc")
    Path("c").write_text(text)
    real = os.stat

    def stat(path, *more, **options):
        status = real(path, *more, **options)
        if path == name:
            os.unlink(name)
            swap(name)
        return status

    monkeypatch.setattr(inputs.os, "stat", stat)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with pytest.raises(AgfmcError, match=told):
        load("c")
    if before:
        assert len(os.listdir("/proc/self/fd")) == before
    assert inputs._only_regular.get() is False


def test_what_is_read_has_waiting_handles(here):
    """O_NONBLOCK is for the opening alone."""
    write_models([2])
    with inputs.regular_files(), inputs.open_input("m0") as file:
        assert os.get_blocking(file.fileno())
        with pytest.raises(DataError, match="it is a folder"), inputs.open_input("."):
            pass
        with pytest.raises(DataError, match="No such file"), inputs.open_input("none"):
            pass
