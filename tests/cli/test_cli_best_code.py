"""print_control -Q best-code: a code from data, from the command line to a trained model."""

from pathlib import Path

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.designs import code_search
from data_files import write_svm

FAST = ("--search-options", "-m 12 -g 0.3 -l 0.05")


@pytest.fixture
def control(run, folder, monkeypatch):
    """The command in a folder with data of four classes; -> its status, output, messages."""
    generator = np.random.default_rng(3)
    y = np.repeat([2, 3, 5, 9], 15)
    middle = np.array([[0, 0, 0], [1.5, 0, 0], [0, 2, 0], [1, 1, 2]])
    write_svm("data.svm", generator.normal(size=(60, 3)) + np.repeat(middle, 15, axis=0), y)
    write_svm("two.svm", generator.normal(size=(20, 3)), np.repeat([0, 1], 10))
    monkeypatch.setattr(code_search, "PARTS", 2)

    def call(*words, **more):
        return run("print_control", "-Q", "best-code", *words, status=None, **more)

    return call


def rows_of(out):
    return len(parse(out).rows)


def test_a_code_from_data(control, run):
    done = control("-M", *FAST, "-+", "-g 0.3", "data.svm", "5")
    assert done.status == 0 and done.err == ""
    notes = [line for line in done.out.splitlines() if line.startswith("# ")]
    assert notes[0].startswith("# best-code: 5 rows of 25 candidates; leave-one-out log loss ")
    assert notes[2].startswith("# smallest distance between rows ")
    assert notes[3] == "# evaluated by learner=nystrom -t 2 -g 0.3 -m 12 -l 0.05 --loo 5000"
    assert [line.split()[1] for line in notes[5:]] == [
        str(number) for number in range(8 - len(notes) + 3, 6)
    ]
    assert rows_of(done.out) == 5 and parse(done.out).classes == (2, 3, 5, 9)
    assert {row.text for row in parse(done.out).rows} == {"-g 0.3"}
    assert control("-M", *FAST, "-+", "-g 0.3", "--rows", 5, "-j", 3, "data.svm") == done
    Path("c").write_text(done.out)
    run("multi_borders", "-M", "c", "data.svm", "m", "m.mbc")
    assert run("classify_m", "-M", "m.mbc", "data.svm", "answers").status == 0


def test_start_and_pool(control, run):
    Path("start").write_text(run("print_control", "-M", "-Q", "tree", "data.svm").out)
    done = control("-M", *FAST, "--from", "start", "--rows", 3, "data.svm")
    assert done.status == 0 and rows_of(done.out) == 3
    few = control("-M", *FAST, "--pool", 6, "--rows", "auto", "--seed", 2, "data.svm")
    assert few.status == 0 and few.out.startswith("# best-code: ") and " of 6 cand" in few.out
    Path("trained").write_text("m0 0 / 1;\nm1 2 / 3;\nm2 0 1 / 2 3;\n{2 3 5 9}\n")
    done = control("-M", *FAST, "--from", "trained", "--rows", 4, "data.svm")
    assert done.status == 0 and {row.text for row in parse(done.out).rows} == {""}


@pytest.mark.parametrize(
    "words,status,text",
    [
        (("-M", "data.svm", 2), 2, "2 rows: expected 3 or more"),
        (("-M", "data.svm", 4, "--rows", 4), 2, "nrow and --rows are the same"),
        (
            ("-M", "data.svm", "--rows", "some"),
            2,
            "argument --rows: expected auto, or a value: expected a whole number",
        ),
        (("-M", "data.svm", "--splits", 300), 2, "--splits is for -Q best-tree"),
        (("-M", "data.svm", "--by", "error"), 2, "--by is for -Q best-tree"),
        (("-M", "data.svm", "--from", "absent"), 1, "absent"),
        (("4",), 2, "searches in data: expected training data, found the number 4"),
    ],
)
def test_what_cannot_be(control, words, status, text):
    done = control(*FAST, *words)
    assert done.status == status
    done.refused(text)


@pytest.mark.parametrize("option", ["--pool=9", "--from=c", "--rows=4"])
def test_options_of_the_search_alone(run, option):
    done = run("print_control", "-Q", "one-vs-one", option, "4", status=2)
    done.refused(f"{option.split('=')[0]} is for -Q best-code, not for one-vs-one")
