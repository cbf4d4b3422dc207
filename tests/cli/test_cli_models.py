"""Model files of all kinds, from one to the other with mbh2mbm, and the same answers from each."""

import importlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from agfmc.formats.class_names import names_bytes
from agfmc.formats.vectors import read_cls, write_cls, write_vec

COMMANDS = ("multi_borders", "mbh2mbm", "classify_m", "mbm_info", "print_control")


def call(command, *words):
    assert command in COMMANDS
    return importlib.import_module(f"agfmc.cli.{command}").main([str(word) for word in words])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with trained configurations of classes 2, 5, 9."""
    folder = tmp_path_factory.mktemp("models")
    here = os.getcwd()
    os.chdir(folder)
    try:
        rng = np.random.default_rng(1)
        y = np.repeat([9, 2, 5], 25)
        x = rng.normal(size=(75, 3)) + np.where(y == 5, -1, 1.5 * (y == 9))[:, None]
        write_vec("trn.vec", x)
        write_cls("trn.cls", y)
        with open("trn.svm", "w", encoding="ascii") as file:
            for label, row in zip(y, x):
                file.write(f"{label} " + " ".join(f"{i}:{float(np.float32(v))!r}" for i, v in
                                                  enumerate(row, 1)) + "\n")
        for name, text in (("pairs", '"" 0 / 1;\n"" 2 / 0;\n"-c 2" 1 / 2;\n{ 2 5 9}'),
                           ("rest", '"" 1 2 / 0; "" 0 2 / 1; "" 0 1 / 2; {5 9 2}'),
                           ("tree", '"" { 5 "" { 2 9 } }'),
                           ("kernels", '"-t 0" 0 / 1; "" 0 / 2; "" 1 / 2; {2 5 9}')):
            with open("plan", "w", encoding="ascii") as file:
                file.write(text)
            assert call("multi_borders", "--quiet", "plan", "trn", name, f"{name}.mbc") == 0
            assert call("mbh2mbm", "--quiet", f"{name}.mbc", f"{name}.mbm") == 0
        assert call("multi_borders", "--quiet", "-n", "plan", "trn", "n", "n.mbc") == 0
        assert call("mbh2mbm", "--quiet", "-a", "n.std", "n.mbc", "n.mbm") == 0
    finally:
        os.chdir(here)
    return folder


@pytest.fixture
def here(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    capsys.readouterr()


def answers(capsys, model, *options, kind="trn.vec"):
    """Printed numbers (n, c) and the classes of `model`."""
    assert call("classify_m", "--quiet", *options, model, kind, "out") == 0
    out, err = capsys.readouterr()
    assert err == ""
    return np.array([line.split() for line in out.splitlines()], dtype=float), read_cls("out.cls")


def same_answers(capsys, one, other, *options):
    (a, b), (c, d) = answers(capsys, one, *options), answers(capsys, other, *options)
    np.testing.assert_allclose(a, c, rtol=0, atol=1.01e-6)  # the last digit printed
    np.testing.assert_array_equal(b, d)


@pytest.mark.parametrize("name", ["pairs", "rest", "tree"])
def test_through_libagfs_ascii_model(here, capsys, name):
    for source in (f"{name}.mbc", f"{name}.mbm"):
        assert call("mbh2mbm", "-Z", source, "a.mbaio") == 0
        assert f"{2 if name == 'tree' else 3} binary models" in capsys.readouterr().err
        assert call("mbh2mbm", "--ascii", "a.mbaio", "b.mbaio") == 0
        assert open("a.mbaio").read() == open("b.mbaio").read()
    assert call("mbh2mbm", "a.mbaio", "back.mbm") == 0
    assert "after merging" not in capsys.readouterr().err
    assert open("a.mbaio").readline() == "SVM\n"
    for model in ("a.mbaio", "back.mbm"):
        for options in ([], ["-Q", "-1"], ["-0"], ["--tree", "full"]):
            if options or name != "tree":
                same_answers(capsys, f"{name}.mbc", model, *options)


def test_through_one_libsvm_model(here, capsys):
    assert call("mbh2mbm", "--quiet", "--libsvm", "pairs.mbm", "p.model") == 0
    assert call("mbh2mbm", "--quiet", "p.model", "p.mbm") == 0
    for model in ("p.model", "p.mbm"):
        for options in ([], ["-Q", "1"], ["-Q", "3"]):
            same_answers(capsys, "pairs.mbc", model, *options)
    assert call("mbh2mbm", "--quiet", "-Z", "p.model", "p.mbaio") == 0
    same_answers(capsys, "pairs.mbc", "p.mbaio")
    assert "p.model-02" in open("p.mbaio").read()


@pytest.mark.skipif(shutil.which("svm-predict") is None, reason="svm-predict is not installed")
def test_svm_predict_agrees(here, capsys):
    assert call("mbh2mbm", "--quiet", "--libsvm", "pairs.mbc", "p.model") == 0
    subprocess.run(["svm-predict", "-b", "1", "trn.svm", "p.model", "told"], check=True,
                   stdout=subprocess.DEVNULL)
    header, *rows = open("told").read().splitlines()
    told = np.array([row.split() for row in rows], dtype=float)
    columns = [header.split().index(label) for label in ("2", "5", "9")]
    ours, classes = answers(capsys, "pairs.mbc", "-Q", "1")
    np.testing.assert_allclose(ours[:, :3], told[:, columns], rtol=0, atol=5e-3)
    sure = np.diff(np.sort(ours[:, :3], axis=1)[:, 1:], axis=1)[:, 0] > 1e-2
    assert sure.sum() > 50 and (told[:, 0] == classes)[sure].all()


@pytest.mark.skipif(shutil.which("svm-train") is None, reason="svm-train is not installed")
def test_a_model_of_svm_train(here, capsys):
    subprocess.run(["svm-train", "-q", "trn.svm", "s.model"], check=True)
    assert call("mbh2mbm", "s.model", "s.mbm") == 0
    err = capsys.readouterr().err
    assert "s.model holds no probabilities" in err and "3 binary models" in err
    subprocess.run(["svm-predict", "trn.svm", "s.model", "told"], check=True,
                   stdout=subprocess.DEVNULL)
    for model in ("s.model", "s.mbm"):
        _, classes = answers(capsys, model, "-Q", "3")
        np.testing.assert_array_equal(classes, np.loadtxt("told"))
    assert call("classify_m", "--quiet", "s.model", "trn.vec", "out") == 1
    assert "hold no probabilities" in capsys.readouterr().err
    assert call("mbh2mbm", "--quiet", "-Z", "s.mbm", "s.mbaio") == 1
    assert "s.model-00 does not hold" in capsys.readouterr().err
    assert call("mbh2mbm", "--quiet", "--libsvm", "s.mbm", "s2.model") == 0
    assert "probA" not in open("s2.model").read()
    subprocess.run(["svm-predict", "trn.svm", "s2.model", "told2"], check=True,
                   stdout=subprocess.DEVNULL)
    assert open("told").read() == open("told2").read()


def test_reference_model_of_libagf(segment, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = segment
    assert call("mbh2mbm", folder / "models" / "m_1v1.mbaio", "m.mbm") == 0
    capsys.readouterr()
    wanted = np.loadtxt(folder / "m_1v1_r64.txt")
    for model in (folder / "models" / "m_1v1.mbaio", "m.mbm"):
        r, classes = answers(capsys, model, "-Q", "-1", kind=folder / "tst.vec")
        np.testing.assert_allclose(r, wanted, rtol=0, atol=5.1e-7)
        p, _ = answers(capsys, model, kind=folder / "tst.vec")
        np.testing.assert_allclose(p[:, :7], np.loadtxt(folder / "m_1v1_Q0fixed.txt")[:, :7],
                                   rtol=0, atol=1.1e-3)
        np.testing.assert_array_equal(classes, read_cls(folder / "m_1v1_Q0fixed.cls"))


def test_y_is_where_the_models_are(made, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    shutil.copy(made / "pairs.mbc", "pairs.mbc")
    assert call("mbh2mbm", "pairs.mbc", "x.mbm") == 1
    assert "pairs.mbc:1:1: model 'pairs-00'" in capsys.readouterr().err
    assert call("mbh2mbm", "-y", made, "pairs.mbc", "x.mbm") == 0
    assert open("x.mbm", "rb").read() == open(made / "pairs.mbm", "rb").read()
    text = open("pairs.mbc").read()  # absolute names stay as they are
    with open("absolute.mbc", "w", encoding="utf-8") as file:
        file.write(text.replace("pairs-", f"{made}/pairs-"))
    assert call("mbh2mbm", "-y", "nowhere", "absolute.mbc", "y.mbm") == 0
    capsys.readouterr()
    assert call("mbh2mbm", "-y", "nowhere", "pairs.mbc", "z.mbm") == 1
    assert "pairs.mbc:1:1: model 'nowhere/pairs-00'" in capsys.readouterr().err
    assert call("mbh2mbm", "-y", ".", "x.mbm", "z.mbm") == 2
    assert "x.mbm holds its own" in capsys.readouterr().err
    assert not os.path.exists("z.mbm")


@pytest.mark.parametrize("words, status, text", [
    ("-Z --libsvm pairs.mbc x", 2, "-Z and --libsvm exclude each other"),
    ("-Z -a n.std pairs.mbc x", 2, "-a does not go with -Z: that format has no place for normal"),
    ("--libsvm -a n.std pairs.mbc x", 2, "-a does not go with --libsvm"),
    ("-Z --names names pairs.mbc x", 2, "--names does not go with -Z"),
    ("-Z n.mbm x", 1, "no place for a normalisation"),
    ("--libsvm n.mbm x", 1, "no place for a normalisation"),
    ("-Z kernels.mbc x", 1, "one kernel for all binary classifiers, these have 2"),
    ("--libsvm kernels.mbm x", 1, "one kernel for all binary classifiers, these have 2"),
    ("--libsvm rest.mbc x", 1, "one binary classifier for each of the 3 pairs"),
    ("--libsvm tree.mbm x", 1, "one binary classifier for each of the 3 pairs"),
    ("-Z pairs.mbc nowhere/x", 1, "nowhere/x: cannot write"),
    ("cut.mbaio x", 1, "cut.mbaio:"),
    ("cut.model x", 1, "cut.model:"),
])
def test_what_cannot_be_done(here, capsys, words, status, text):
    for option, name in (("-Z", "mbaio"), ("--libsvm", "model")):
        assert call("mbh2mbm", "--quiet", option, "pairs.mbc", f"p.{name}") == 0
        with open(f"p.{name}") as whole, open(f"cut.{name}", "w") as part:
            part.write(whole.read()[:-9])
    capsys.readouterr()
    assert call("mbh2mbm", *words.split()) == status
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and text in err
    assert not os.path.exists("x")


def test_names_and_normalisation_join_any_model(here, capsys):
    Path("names").write_bytes(names_bytes([f"class{i}" for i in range(10)]))
    assert call("mbh2mbm", "--quiet", "-Z", "pairs.mbc", "p.mbaio") == 0
    assert call("mbh2mbm", "--names", "names", "-a", "n.std", "p.mbaio", "named.mbm") == 0
    capsys.readouterr()
    assert call("mbm_info", "--json", "named.mbm") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["classes"] == [{"label": i, "name": f"class{i}"} for i in (2, 5, 9)]
    assert told["normalised"]
    assert call("mbm_info", "--control", "named.mbm") == 0
    assert capsys.readouterr().out.startswith("# class 2: class2\n# class 5: class5\n")
    assert call("mbh2mbm", "-a", "n.std", "named.mbm", "twice.mbm") == 1
    assert "holds its own normalisation" in capsys.readouterr().err
    assert call("mbh2mbm", "--names", "names", "pairs.mbm", "one.mbm") == 0
    assert call("mbh2mbm", "--names", "names", "pairs.mbc", "two.mbm") == 0
    assert open("one.mbm", "rb").read() == open("two.mbm", "rb").read()


def test_names_number_the_labels_of_a_libsvm_model(here, capsys):
    assert call("mbh2mbm", "--quiet", "--libsvm", "pairs.mbc", "svm") == 0
    text = open("svm").read()
    assert "\nlabel 2 5 9\n" in text
    with open("svm", "w", encoding="ascii") as file:
        file.write(text.replace("\nlabel 2 5 9\n", "\nlabel -3 5 9\n"))
    # as in training data with one class more
    Path("names").write_bytes(names_bytes(["-3", "-1", "5", "9"]))
    capsys.readouterr()
    assert call("mbh2mbm", "--quiet", "--names", "names", "svm", "named.mbm") == 0
    assert capsys.readouterr().err == ""
    assert call("mbm_info", "--json", "named.mbm") == 0
    assert json.loads(capsys.readouterr().out)["classes"] == [
        {"label": 0, "name": "-3"}, {"label": 2, "name": "5"}, {"label": 3, "name": "9"}]


@pytest.mark.parametrize("option", ["-Z", "--libsvm"])
def test_mbm_info_tells_of_all(here, capsys, option):
    assert call("mbh2mbm", "--quiet", option, "pairs.mbc", "p") == 0
    assert call("mbm_info", "p") == 0
    out = capsys.readouterr().out
    assert "coding matrix, 3 binary models" in out and "3: 2, 5, 9" in out and "rbf gamma" in out


def test_a_control_file_with_a_model_called_svm(here, capsys):
    shutil.copy("pairs-00", "SVM")
    with open("svm.mbc", "w", encoding="ascii") as file:
        file.write("SVM\n{\n 2\n 5 }\n")
    assert call("mbh2mbm", "svm.mbc", "svm.mbm") == 0
    assert "1 binary models" in capsys.readouterr().err


@pytest.mark.parametrize("base, written, names", [
    ("1m", "1m-00", ["m-00", "m-01", "m-02"]), ("./m7", "./m7-00", ["m-00", "m-01", "m-02"]),
    ("_u", "_u-00", ["m-00", "m-01", "m-02"]), ("Ünï", "Ünï-00", ["m-00", "m-01", "m-02"]),
    ("my m", '"my m-00"', ["m-00", "m-01", "m-02"]),
    ("b", "b-00", ["b-00", "b-01", "b-02"]), (None, None, None)])
def test_names_for_libagf(here, capsys, tmp_path, base, written, names):
    """A letter or a slash begins a name there: else multi_borders tells, mbh2mbm -Z changes it."""
    if base is None:
        base, written = f"{tmp_path}/1m", f"{tmp_path}/1m-00"
        names = [f"{base}-0{i}" for i in range(3)]
    with open("names.mbt", "w", encoding="ascii") as file:
        file.write('"" 0 / 1;\n"" 0 / 2;\n"" 1 / 2;\n{2 5 9}\n')
    words = ["-+", "learner=logistic", "names.mbt", "trn", base, "names.mbc"]
    assert call("multi_borders", *words) == 0
    told = capsys.readouterr().err
    plain = written[0] in "b/"
    assert told == ("" if plain else "multi_borders: warning: libAGF cannot read a control file "
                    f"with the model name '{written.strip(chr(34))}': if it is to, choose a base "
                    "name that begins with a letter or a /\n")
    with open("names.mbc", encoding="utf-8") as file:
        assert file.read().startswith(f"{written} 0 / 1;")
    assert call("multi_borders", "--only", written.strip('"'), *words) == 0
    assert "libAGF" not in capsys.readouterr().err
    assert call("mbh2mbm", "-Z", "names.mbc", "names.mbaio") == 0
    told = capsys.readouterr().err.splitlines()
    assert told[:-1] == ([] if plain else [
        f"mbh2mbm: warning: libAGF may not read the model name '{written.strip(chr(34))}': in its "
        "ASCII model the classifiers are called m-00 to m-02"])
    with open("names.mbaio", encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert [line.split()[0] for line in lines[1:4]] == names
    assert [line for line in lines if line in names] == names
    same_answers(capsys, "names.mbc", "names.mbaio")


def test_control_files_without_class_names(here, capsys):
    Path("names").write_bytes(names_bytes([f"class{i}" for i in range(10)]))
    written = {}
    for words in (("print_control", "--names", "names", "-Q", "5", "10"),
                  ("print_control", "-Q", "5", "10"),
                  ("print_control", "-Q", "9", "--no-names", "named"),
                  ("print_control", "-Q", "9", "named")):
        assert call(*words) == 0
        written[words] = capsys.readouterr().out
        if "--names" in words:
            with open("named", "w", encoding="ascii") as file:
                file.write(written[words])
    named, plain, left_out, kept = written.values()
    assert named == kept == "".join(f"# class {i}: class{i}\n" for i in range(10)) + plain
    assert left_out == plain
    assert call("print_control", "--names", "names", "--no-names", "3") == 2
    assert "--names and --no-names exclude each other" in capsys.readouterr().err
    with open("named.mbt", "w", encoding="ascii") as file:
        file.write('# class 5: five\n"" { 5 "" { 2 9 } }')
    for option in ([], ["-0"]):
        words = [*option, "-+", "learner=logistic", "named.mbt", "trn", "v"]
        assert call("multi_borders", *words, "named.mbc") == 0
        assert call("multi_borders", "--no-names", *words, "plain.mbc") == 0
        with open("named.mbc", encoding="ascii") as one, open("plain.mbc", encoding="ascii") as two:
            assert one.read() == "# class 5: five\n" + two.read()
