"""mbh2mbm --c and --onnx: a model as a program of another language."""

from pathlib import Path

import numpy as np
import pytest

import agfmc


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(60, 2)), np.repeat([0, 1, 2], 20)
    x[:, 0] += y
    path = str(tmp_path_factory.mktemp("model") / "a b.mbm")
    agfmc.save(path, agfmc.train("one-vs-one", x, y, options="learner=linear"))
    return path


def test_c(run, folder, model):
    run("mbh2mbm", "--c", "m.c", model).line(
        "3 binary models, 0.0",
        "decoder least-squares; cc -O3 -std=c99 -DMODEL_MAIN -o model m.c "
        "-lm makes a program of it\n",
    )
    text = Path("m.c").read_text()
    assert "int model_classify(const double *x, double *p)" in text and text.isascii()
    run("mbh2mbm", "-Q", "vote", "--c", "v.c", model).line("decoder vote;")
    assert "MODEL_CLASSES votes of the classes" in Path("v.c").read_text()


def test_onnx(run, folder, model):
    onnx = pytest.importorskip("onnx")
    for words, decoder, output in (
        ((), "least-squares", "probabilities"),
        (("-Q", "vote"), "vote", "scores"),
    ):
        run("mbh2mbm", "--onnx", "m.onnx", model, *words).line(
            "3 binary models, 0.0", f" MB of ONNX, decoder {decoder}\n"
        )
        assert [one.name for one in onnx.load("m.onnx").graph.output] == ["label", output]


@pytest.mark.parametrize(
    "words, status, message",
    [
        (("--onnx", "m.onnx", "--c", "m.c"), 2, "--onnx and --c exclude each other"),
        (("-Q", "zadrozny", "--c", "m.c"), 2, "choose another one with --decoder"),
        (("-Q", "ddag", "--c", "m.c"), 2, "it knows one class alone; choose another one"),
        (("-Q", "vote"), 2, "-Q needs --c or --onnx"),
        (("--c", "m.c", "-o", "n.mbm"), 2, "out has one format"),
        (("--c", "m.c", "n.mbm"), 2, "operands are too many"),
        (("--c", "-"), 2, "/dev/stdout"),
    ],
)
def test_refusals(words, status, message, run, folder, model):
    run("mbh2mbm", model, *words, status=status).refused(message)
