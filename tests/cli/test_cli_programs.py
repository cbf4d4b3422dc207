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


TABLE = "class,size,colour,day\n" + "".join(
    f"{'abc'[i % 3]},{i % 3 + i / 50},{('red', 'blue', 'red')[i % 3]},2024-01-{i % 28 + 1:02}\n"
    for i in range(60)
)


def test_columns_of_a_table(run, folder):
    onnx = pytest.importorskip("onnx")
    Path("t.csv").write_text(TABLE)
    run("multi_borders", "one-vs-one", "t.csv", "t", "t.mbc")
    run("mbh2mbm", "t.mbc", "t.mbm")
    rows = int(run("mbm_info", "t.mbm").out.split("privacy")[1].split()[1])
    run("mbh2mbm", "--c", "t.c", "t.mbm")
    text = Path("t.c").read_text()
    assert f"It holds {rows} rows of the training data" in text
    assert "double size;" in text and "const char *colour;" in text
    run("mbh2mbm", "--onnx", "t.onnx", "t.mbm")
    graph = onnx.load("t.onnx").graph
    inputs = ["size", "colour", "day (days since 1970-01-01)"]
    assert [one.name for one in graph.input] == inputs and f"holds {rows} rows" in graph.doc_string
    run("mbh2mbm", "--features", "--onnx", "t.onnx", "t.mbm")
    assert [one.name for one in onnx.load("t.onnx").graph.input] == ["x"]
    run("mbh2mbm", "--features", "--float", "--c", "t.c", "t.mbm")
    text = Path("t.c").read_text()
    assert "double colour_red;" in text and "const float *sv;" in text
    run("mbh2mbm", "--without-rows", "t.mbm", "none.mbm", status=1).refused(
        f"t.mbm: holds {rows} rows of the training data"
    )
    assert not Path("none.mbm").exists()


def test_a_model_of_planes_is_written_without_rows(run, folder, model):
    run("mbh2mbm", "--without-rows", model, "n.mbm").line("3 binary models")
    assert "holds 0 rows of the training data" in run("mbm_info", "n.mbm").out


@pytest.mark.parametrize(
    "words, status, message",
    [
        (("--features",), 2, "--features needs --c or --onnx"),
        (("--float", "--onnx", "m.onnx"), 2, "--float needs --c"),
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
