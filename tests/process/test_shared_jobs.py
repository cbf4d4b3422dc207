"""Training on shared landmarks by the commands that -0 prints, with the same files."""

import shlex

import numpy as np
import pytest

from data_files import write_svm

WORDS = ("-n", "-+", "learner=nystrom -m 60 -g .1", "../plan", "../big", "m", "ctl")


@pytest.fixture(scope="module")
def data(trained, tmp_path_factory):
    """A folder with big.vec and big.cls, the control file `plan`, and `whole`, a run of it."""
    here = trained.at(tmp_path_factory.mktemp("shared"))
    rng = np.random.default_rng(4)
    y = rng.integers(0, 4, 4_000)
    x = np.round(8 * (rng.normal(size=(len(y), 4)) + 1.5 * np.eye(4)[y])) / 8
    here.points("big", x, y)
    write_svm(here / "big.svm", x, y)
    (here / "plan").write_bytes(here.ok("print_control", "big"))
    here.below("whole").ok("multi_borders", *WORDS)
    return here


@pytest.fixture
def here(data, tmp_path):
    """An empty folder beside the data."""
    return data.below(tmp_path.name)


@pytest.mark.parametrize("form", ["vec", pytest.param("svm", marks=pytest.mark.long)])
def test_one_command_for_all_that_share_landmarks(data, here, form):
    """Once, and once more when all is there."""
    words = list(WORDS)
    if form == "svm":
        words[4:5] = ["-M", "../big.svm"]
    [line] = here.ok("multi_borders", "-0", *words).decode().splitlines()
    assert shlex.split(line)[1] == "--options=learner=nystrom -m 60 -g .1"
    assert here.files().keys() == {"ctl", "m.std"}
    for _ in range(2):
        here.shell(line)
        assert here.files() == data.at(data / "whole").files()


def test_commands_need_a_control_file(data, here):
    done = here.call(
        "multi_borders",
        "-0",
        *WORDS[:3],
        "-",
        *WORDS[4:],
        status=2,
        stdin=(data / "plan").read_bytes(),
    )
    done.refused("with -0, control must be a file where classifiers share landmarks")
    assert here.files() == {}
