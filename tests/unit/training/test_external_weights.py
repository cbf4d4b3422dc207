"""Weights of samples for a program that trains: the file that @weights stands for."""

import sys
from dataclasses import replace
from shlex import join

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.core.errors import UsageError
from agfmc.data.types import InputFormat
from agfmc.learners.programs import Command
from agfmc.training.external import train_external, Trainer, TrainerOptions
from agfmc.training.fit import TrainingSettings
from agfmc.training.plan import Output, plan
from agfmc.training.request import PointsRequest
from agfmc.core.weights import Weights
from data_files import write_cls, write_vec

CODE = """import sys
*words, data, model = sys.argv[1:]
name = words[-1].split("=")[-1]
open(model, "w").write("".join(line.split()[0] + " " + weight for line, weight in
                               zip(open(data), open(name), strict=False)))
"""
Y = np.array([4, 1, 1, 4, 7, 7, 1, 4])
W = np.array([0.1, 2.0, 3.0, 1 / 3, 5.0, 6.0, 1e-5, 8.0])


def planned(text, weights, options=""):
    made = plan(
        parse('"" 0 / 1 2;\n"" 1 / 2;\n{4 1 7}', "f"),
        PointsRequest("trn", InputFormat(), TrainingSettings(options=options)),
        Output("m"),
        Trainer(Command(text)),
    )
    return replace(made, data=replace(made.data, weights=weights))


@pytest.fixture
def command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train me.py").write_text(CODE)
    write_vec("trn.vec", np.arange(16.0).reshape(8, 2))
    write_cls("trn.cls", Y)
    return join([sys.executable, "train me.py"])


@pytest.mark.parametrize(
    "words, options",
    [("-W @weights", ""), ("-x --weights=@weights", ""), ("-x", "-W @weights"), ("", None)],
)
def test_the_file_of_weights(command, tmp_path, words, options):
    if options is None:  # a shell's text, and the file among the options
        (tmp_path / "one.sh").write_text(f'exec {command} "$@"\n')
        options, command = "-W @weights", "X=1 sh one.sh"
    train_external(planned(f"{command} {words}", Weights(W), options))
    assert (tmp_path / "m-00").read_text().split("\n") == [
        "0 0.1",
        "1 2.0",
        "1 3.0",
        "0 0.3333333333333333",
        "1 5.0",
        "1 6.0",
        "1 1e-05",
        "0 8.0",
        "",
    ]
    assert (tmp_path / "m-01").read_text() == "0 2.0\n0 3.0\n1 5.0\n1 6.0\n0 1e-05\n"


@pytest.mark.parametrize(
    "words, weighted, told",
    [
        ("-x", True, "does not heed the weights of samples: expected the word @weights"),
        ("-x@weights", True, "does not heed the weights"),
        ("-W @weights", False, "the training data have no weights other than 1"),
        ("-W @weights $HOME", True, "needs a shell, which is given no file names"),
    ],
)
def test_commands_that_do_not_fit(command, tmp_path, words, weighted, told):
    work = planned(f"{command} {words}", Weights(W) if weighted else None)
    with pytest.raises(UsageError, match=told):
        train_external(work)
    assert not (tmp_path / "m-00").exists()


def test_options_of_a_control_file():
    assert TrainerOptions.parse("-c 5 -W @weights").text == "-c 5 -W @weights"
    for text in ("@weights", "-q @weights", "-W @data", "-W @weights/../x", "--weights=@weights"):
        with pytest.raises(UsageError, match="could name a file"):
            TrainerOptions.parse(text)
