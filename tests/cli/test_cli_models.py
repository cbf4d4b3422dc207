"""Model files of all kinds, from one to the other with mbh2mbm, and the same answers from each."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from agfmc.formats.class_names import names_bytes
from agfmc.formats.vectors import read_cls, write_cls, write_vec


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
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
            Path("plan").write_text(text)
            run("multi_borders", "--quiet", "plan", "trn", name, f"{name}.mbc")
            run("mbh2mbm", "--quiet", f"{name}.mbc", f"{name}.mbm")
        run("multi_borders", "--quiet", "-n", "plan", "trn", "n", "n.mbc")
        run("mbh2mbm", "--quiet", "-a", "n.std", "n.mbc", "n.mbm")
    finally:
        os.chdir(here)
    return folder


@pytest.fixture
def here(made, monkeypatch):
    monkeypatch.chdir(made)


def answers(run, model, *options, kind="trn.vec"):
    """Printed numbers (n, c) and the classes of `model`."""
    _, out, err = run("classify_m", "--quiet", *options, model, kind, "out")
    assert err == ""
    return np.array([line.split() for line in out.splitlines()], dtype=float), read_cls("out.cls")


def same_answers(run, one, other, *options):
    (a, b), (c, d) = answers(run, one, *options), answers(run, other, *options)
    np.testing.assert_allclose(a, c, rtol=0, atol=1.01e-6)  # the last digit printed
    np.testing.assert_array_equal(b, d)


@pytest.mark.parametrize("name", ["pairs", "rest", "tree"])
def test_through_libagfs_ascii_model(here, run, name):
    for source in (f"{name}.mbc", f"{name}.mbm"):
        done = run("mbh2mbm", "-Z", source, "a.mbaio")
        assert f"{2 if name == 'tree' else 3} binary models" in done.err
        run("mbh2mbm", "--ascii", "a.mbaio", "b.mbaio")
        assert Path("a.mbaio").read_text() == Path("b.mbaio").read_text()
    assert "after merging" not in run("mbh2mbm", "a.mbaio", "back.mbm").err
    assert open("a.mbaio").readline() == "SVM\n"
    for model in ("a.mbaio", "back.mbm"):
        for options in ([], ["-Q", "-1"], ["-0"], ["--tree", "full"]):
            if options or name != "tree":
                same_answers(run, f"{name}.mbc", model, *options)


def test_through_one_libsvm_model(here, run):
    run("mbh2mbm", "--quiet", "--libsvm", "pairs.mbm", "p.model")
    run("mbh2mbm", "--quiet", "p.model", "p.mbm")
    for model in ("p.model", "p.mbm"):
        for options in ([], ["-Q", "1"], ["-Q", "3"]):
            same_answers(run, "pairs.mbc", model, *options)
    run("mbh2mbm", "--quiet", "-Z", "p.model", "p.mbaio")
    same_answers(run, "pairs.mbc", "p.mbaio")
    assert "p.model-02" in Path("p.mbaio").read_text()


@pytest.mark.skipif(shutil.which("svm-predict") is None, reason="svm-predict is not installed")
def test_svm_predict_agrees(here, run):
    run("mbh2mbm", "--quiet", "--libsvm", "pairs.mbc", "p.model")
    subprocess.run(["svm-predict", "-b", "1", "trn.svm", "p.model", "told"], check=True,
                   stdout=subprocess.DEVNULL)
    header, *rows = Path("told").read_text().splitlines()
    told = np.array([row.split() for row in rows], dtype=float)
    columns = [header.split().index(label) for label in ("2", "5", "9")]
    ours, classes = answers(run, "pairs.mbc", "-Q", "1")
    np.testing.assert_allclose(ours[:, :3], told[:, columns], rtol=0, atol=5e-3)
    sure = np.diff(np.sort(ours[:, :3], axis=1)[:, 1:], axis=1)[:, 0] > 1e-2
    assert sure.sum() > 50 and (told[:, 0] == classes)[sure].all()


@pytest.mark.skipif(shutil.which("svm-train") is None, reason="svm-train is not installed")
def test_a_model_of_svm_train(here, run):
    subprocess.run(["svm-train", "-q", "trn.svm", "s.model"], check=True)
    err = run("mbh2mbm", "s.model", "s.mbm").err
    assert "s.model holds no probabilities" in err and "3 binary models" in err
    subprocess.run(["svm-predict", "trn.svm", "s.model", "told"], check=True,
                   stdout=subprocess.DEVNULL)
    for model in ("s.model", "s.mbm"):
        _, classes = answers(run, model, "-Q", "3")
        np.testing.assert_array_equal(classes, np.loadtxt("told"))
    assert "hold no probabilities" in run("classify_m", "--quiet", "s.model", "trn.vec", "out",
                                          status=1).err
    done = run("mbh2mbm", "--quiet", "-Z", "s.mbm", "s.mbaio", status=1)
    assert "s.model-00 does not hold" in done.err
    run("mbh2mbm", "--quiet", "--libsvm", "s.mbm", "s2.model")
    assert "probA" not in Path("s2.model").read_text()
    subprocess.run(["svm-predict", "trn.svm", "s2.model", "told2"], check=True,
                   stdout=subprocess.DEVNULL)
    assert Path("told").read_text() == Path("told2").read_text()


def test_reference_model_of_libagf(segment, tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    folder = segment
    run("mbh2mbm", folder / "models" / "m_1v1.mbaio", "m.mbm")
    wanted = np.loadtxt(folder / "m_1v1_r64.txt")
    for model in (folder / "models" / "m_1v1.mbaio", "m.mbm"):
        r, classes = answers(run, model, "-Q", "-1", kind=folder / "tst.vec")
        np.testing.assert_allclose(r, wanted, rtol=0, atol=5.1e-7)
        p, _ = answers(run, model, kind=folder / "tst.vec")
        np.testing.assert_allclose(p[:, :7], np.loadtxt(folder / "m_1v1_Q0fixed.txt")[:, :7],
                                   rtol=0, atol=1.1e-3)
        np.testing.assert_array_equal(classes, read_cls(folder / "m_1v1_Q0fixed.cls"))


def test_y_is_where_the_models_are(made, run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    shutil.copy(made / "pairs.mbc", "pairs.mbc")
    assert "pairs.mbc:1:1: model 'pairs-00'" in run("mbh2mbm", "pairs.mbc", "x.mbm", status=1).err
    run("mbh2mbm", "-y", made, "pairs.mbc", "x.mbm")
    assert Path("x.mbm").read_bytes() == open(made / "pairs.mbm", "rb").read()
    text = Path("pairs.mbc").read_text()  # absolute names stay as they are
    Path("absolute.mbc").write_text(text.replace("pairs-", f"{made}/pairs-"), encoding="utf-8")
    run("mbh2mbm", "-y", "nowhere", "absolute.mbc", "y.mbm")
    done = run("mbh2mbm", "-y", "nowhere", "pairs.mbc", "z.mbm", status=1)
    assert "pairs.mbc:1:1: model 'nowhere/pairs-00'" in done.err
    assert "x.mbm holds its own" in run("mbh2mbm", "-y", ".", "x.mbm", "z.mbm", status=2).err
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
    ("cut.model x", 1, "cut.model:")])
def test_what_cannot_be_done(here, run, words, status, text):
    for option, name in (("-Z", "mbaio"), ("--libsvm", "model")):
        run("mbh2mbm", "--quiet", option, "pairs.mbc", f"p.{name}")
        with open(f"p.{name}") as whole, open(f"cut.{name}", "w") as part:
            part.write(whole.read()[:-9])
    err = run("mbh2mbm", *words.split(), status=status).err
    assert err.count("\n") == 1 and text in err
    assert not os.path.exists("x")


def test_names_and_normalisation_join_any_model(here, run):
    Path("names").write_bytes(names_bytes([f"class{i}" for i in range(10)]))
    run("mbh2mbm", "--quiet", "-Z", "pairs.mbc", "p.mbaio")
    run("mbh2mbm", "--names", "names", "-a", "n.std", "p.mbaio", "named.mbm")
    told = json.loads(run("mbm_info", "--json", "named.mbm").out)
    assert told["classes"] == [{"label": i, "name": f"class{i}"} for i in (2, 5, 9)]
    assert told["normalised"]
    assert run("mbm_info", "--control",
               "named.mbm").out.startswith("# class 2: class2\n# class 5: class5\n")
    done = run("mbh2mbm", "-a", "n.std", "named.mbm", "twice.mbm", status=1)
    assert "holds its own normalisation" in done.err
    run("mbh2mbm", "--names", "names", "pairs.mbm", "one.mbm")
    run("mbh2mbm", "--names", "names", "pairs.mbc", "two.mbm")
    assert Path("one.mbm").read_bytes() == Path("two.mbm").read_bytes()


def test_names_number_the_labels_of_a_libsvm_model(here, run):
    run("mbh2mbm", "--quiet", "--libsvm", "pairs.mbc", "svm")
    text = Path("svm").read_text()
    assert "\nlabel 2 5 9\n" in text
    Path("svm").write_text(text.replace("\nlabel 2 5 9\n", "\nlabel -3 5 9\n"))
    Path("names").write_bytes(names_bytes(["-3", "-1", "5", "9"]))  # as in training data with one class more
    assert run("mbh2mbm", "--quiet", "--names", "names", "svm", "named.mbm").err == ""
    done = run("mbm_info", "--json", "named.mbm")
    assert json.loads(done.out)["classes"] == [
        {"label": 0, "name": "-3"}, {"label": 2, "name": "5"}, {"label": 3, "name": "9"}]


@pytest.mark.parametrize("option", ["-Z", "--libsvm"])
def test_mbm_info_of_every_format(here, run, option):
    run("mbh2mbm", "--quiet", option, "pairs.mbc", "p")
    out = run("mbm_info", "p").out
    assert "coding matrix, 3 binary models" in out and "3: 2, 5, 9" in out and "rbf gamma" in out


def test_a_control_file_with_a_model_called_svm(here, run):
    shutil.copy("pairs-00", "SVM")
    Path("svm.mbc").write_text("SVM\n{\n 2\n 5 }\n")
    assert "1 binary models" in run("mbh2mbm", "svm.mbc", "svm.mbm").err


@pytest.mark.parametrize("base, written, names", [
    ("1m", "1m-00", ["m-00", "m-01", "m-02"]), ("./m7", "./m7-00", ["m-00", "m-01", "m-02"]),
    ("_u", "_u-00", ["m-00", "m-01", "m-02"]), ("Ünï", "Ünï-00", ["m-00", "m-01", "m-02"]),
    ("my m", '"my m-00"', ["m-00", "m-01", "m-02"]),
    ("b", "b-00", ["b-00", "b-01", "b-02"]), (None, None, None)])
def test_names_for_libagf(here, run, tmp_path, base, written, names):
    """A letter or a slash begins a name there: else multi_borders tells, mbh2mbm -Z changes it."""
    if base is None:
        base, written = f"{tmp_path}/1m", f"{tmp_path}/1m-00"
        names = [f"{base}-0{i}" for i in range(3)]
    Path("names.mbt").write_text('"" 0 / 1;\n"" 0 / 2;\n"" 1 / 2;\n{2 5 9}\n')
    words = ["-+", "learner=logistic", "names.mbt", "trn", base, "names.mbc"]
    told = run("multi_borders", *words).err
    plain = written[0] in "b/"
    assert told == ("" if plain else "multi_borders: warning: libAGF cannot read a control file "
                    f"with the model name '{written.strip(chr(34))}': if it is to, choose a base "
                    "name that begins with a letter or a /\n")
    with open("names.mbc", encoding="utf-8") as file:
        assert file.read().startswith(f"{written} 0 / 1;")
    assert "libAGF" not in run("multi_borders", "--only", written.strip('"'), *words).err
    told = run("mbh2mbm", "-Z", "names.mbc", "names.mbaio").err.splitlines()
    assert told[:-1] == ([] if plain else [
        f"mbh2mbm: warning: libAGF may not read the model name '{written.strip(chr(34))}': in its "
        "ASCII model the classifiers are called m-00 to m-02"])
    with open("names.mbaio", encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert [line.split()[0] for line in lines[1:4]] == names
    assert [line for line in lines if line in names] == names
    same_answers(run, "names.mbc", "names.mbaio")


def test_control_files_without_class_names(here, run):
    Path("names").write_bytes(names_bytes([f"class{i}" for i in range(10)]))
    written = {}
    for words in (("print_control", "--names", "names", "-Q", "5", "10"),
                  ("print_control", "-Q", "5", "10"),
                  ("print_control", "-Q", "9", "--no-names", "named"),
                  ("print_control", "-Q", "9", "named")):
        written[words] = run(*words).out
        if "--names" in words:
            Path("named").write_text(written[words])
    named, plain, left_out, kept = written.values()
    assert named == kept == "".join(f"# class {i}: class{i}\n" for i in range(10)) + plain
    assert left_out == plain
    done = run("print_control", "--names", "names", "--no-names", "3", status=2)
    assert "--names and --no-names exclude each other" in done.err
    Path("named.mbt").write_text('# class 5: five\n"" { 5 "" { 2 9 } }')
    for option in ([], ["-0"]):
        words = [*option, "-+", "learner=logistic", "named.mbt", "trn", "v"]
        run("multi_borders", *words, "named.mbc")
        run("multi_borders", "--no-names", *words, "plain.mbc")
        with open("named.mbc", encoding="ascii") as one, open("plain.mbc", encoding="ascii") as two:
            assert one.read() == "# class 5: five\n" + two.read()
