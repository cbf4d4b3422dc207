"""multi_borders: where the probabilities come from, and tables of kernel values."""

import shlex

import numpy as np
import pytest

from agfmc.formats.vectors import write_cls, write_vec


@pytest.fixture(autouse=True)
def folder(folder):
    y = np.repeat([0, 1, 2], 40)
    write_vec("trn.vec", np.random.default_rng(1).normal(size=(120, 3)) + y[:, None])
    write_cls("trn.cls", y)
    (folder / "plan").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}', encoding="ascii")
    return folder


def models(folder, name):
    return [(folder / f"{name}-{i:02d}").read_bytes() for i in range(3)]


def test_one_fit(run, folder):
    run("multi_borders", "--platt", "loo", "plan", "trn", "one", "one.mbc")
    run("multi_borders", "--platt", "cv", "plan", "trn", "six", "six.mbc")
    run("multi_borders", "plan", "trn", "default", "default.mbc")
    assert all(b"; platt loo; seed 1" in model for model in models(folder, "one"))
    assert models(folder, "six") == models(folder, "default")


def test_the_commands_carry_the_options(folder, run):
    words = "--platt=loo", "--kernel-memory=7"
    done = run("multi_borders", *words, "-0", "plan", "trn", "m", "m.mbc")
    for line in done.out.splitlines():
        name, *printed = shlex.split(line)
        assert name == "multi_borders"  # pytest is the program that runs: it is not named
        assert set(words) <= set(printed)
        run("multi_borders", *printed)
    run("multi_borders", "--platt=loo", "plan", "trn", "w", "w.mbc")
    assert models(folder, "m") == models(folder, "w")


def test_memory_changes_nothing(run, folder):
    for name, size in (("none", 0), ("some", 512)):
        run("multi_borders", "--kernel-memory", size, "-j", 2, "plan", "trn", name, f"{name}.mbc")
    assert models(folder, "none") == models(folder, "some")


@pytest.mark.parametrize("words, told", [
    (("--platt", "other"), "--platt"),
    (("--kernel-memory", "-1"), "--kernel-memory"),
    (("--platt", "loo", "-+", "-s 1"), "--platt loo is for C-SVC only"),
    (("--platt", "loo", "--command", "svm-train"), "do not go with --"),
    (("--kernel-memory", "3", "--command", "svm-train"), "do not go with --")])
def test_what_does_not_go(words, told, run):
    run("multi_borders", *words, "plan", "trn", "m", "m.mbc", status=2).refused(told)
