"""multi_borders: where the probabilities come from, and tables of kernel values."""

import importlib
import shlex

import numpy as np
import pytest

from agfmc.formats.vectors import write_cls, write_vec


def call(*words):
    return importlib.import_module("agfmc.cli.multi_borders").main([str(word) for word in words])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y = np.repeat([0, 1, 2], 40)
    write_vec("trn.vec", np.random.default_rng(1).normal(size=(120, 3)) + y[:, None])
    write_cls("trn.cls", y)
    (tmp_path / "plan").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}', encoding="ascii")
    return tmp_path


def models(folder, name):
    return [(folder / f"{name}-{i:02d}").read_bytes() for i in range(3)]


def test_one_fit(folder):
    assert call("--platt", "loo", "plan", "trn", "one", "one.mbc") == 0
    assert call("--platt", "cv", "plan", "trn", "six", "six.mbc") == 0
    assert call("plan", "trn", "default", "default.mbc") == 0
    assert all(b"; platt loo; seed 1" in model for model in models(folder, "one"))
    assert models(folder, "six") == models(folder, "default")


def test_the_commands_carry_the_options(folder, capsys):
    words = "--platt=loo", "--kernel-memory=7"
    assert call(*words, "-0", "plan", "trn", "m", "m.mbc") == 0
    for line in capsys.readouterr().out.splitlines():
        name, *printed = shlex.split(line)
        assert name == "multi_borders"  # pytest is the program that runs: it is not named
        assert set(words) <= set(printed)
        assert call(*printed) == 0
    assert call("--platt=loo", "plan", "trn", "w", "w.mbc") == 0
    assert models(folder, "m") == models(folder, "w")


def test_memory_changes_nothing(folder):
    for name, size in (("none", 0), ("some", 512)):
        assert call("--kernel-memory", size, "-j", 2, "plan", "trn", name, f"{name}.mbc") == 0
    assert models(folder, "none") == models(folder, "some")


@pytest.mark.parametrize("words, told", [
    (("--platt", "other"), "--platt"),
    (("--kernel-memory", "-1"), "--kernel-memory"),
    (("--platt", "loo", "-+", "-s 1"), "--platt loo is for C-SVC only"),
    (("--platt", "loo", "--command", "svm-train"), "do not go with --"),
    (("--kernel-memory", "3", "--command", "svm-train"), "do not go with --"),
])
def test_what_does_not_go(words, told, capsys):
    assert call(*words, "plan", "trn", "m", "m.mbc") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and told in error
