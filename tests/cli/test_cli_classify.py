"""classify_m: every kind of model, new class proportions, decoders of pairs."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.data.class_names import names_bytes
from agfmc.data.confusions import read_pair_errors
from agfmc.data.libagf import read_cls, read_con, read_vec
from agfmc.models.files import load
from data_files import write_cls, write_vec


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
    """A folder with trained configurations of classes 2, 5, 9."""
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        rng = np.random.default_rng(1)
        y = np.repeat([9, 2, 5], 15)
        x = rng.normal(size=(45, 3)) + np.where(y == 5, -1, 1.5 * (y == 9))[:, None]
        write_vec("trn.vec", x)
        write_cls("trn.cls", y)
        with open("trn.svm", "w", encoding="ascii") as file:
            for label, row in zip(y, x):
                file.write(
                    f"{label} "
                    + " ".join(f"{i}:{float(np.float32(v))!r}" for i, v in enumerate(row, 1))
                    + "\n"
                )
        for name, text in (
            ("pairs", '"" 0 / 1;\n"" 2 / 0;\n"-c 2" 1 / 2;\n{ 2 5 9}'),
            ("rest", '"" 1 2 / 0; "" 0 2 / 1; "" 0 1 / 2; {5 9 2}'),
            ("tree", '"" { 5 "" { 2 9 } }'),
            ("kernels", '"-t 0" 0 / 1; "" 0 / 2; "" 1 / 2; {2 5 9}'),
        ):
            Path("plan").write_text(text)
            run("multi_borders", "--quiet", "--uncalibrated", "plan", "trn", name, f"{name}.mbc")
            run("mbh2mbm", "--quiet", f"{name}.mbc", f"{name}.mbm")
        run("multi_borders", "--quiet", "--uncalibrated", "-n", "plan", "trn", "n", "n.mbc")
        run("mbh2mbm", "--quiet", "-a", "n.std", "n.mbc", "n.mbm")
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


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["pairs", "rest", "tree"])
def test_through_libagfs_ascii_model(here, run, name):
    for source in (f"{name}.mbc", f"{name}.mbm"):
        done = run("mbh2mbm", "-Z", source, "a.mbaio")
        assert f"{2 if name == 'tree' else 3} binary models" in done.err
        run("mbh2mbm", "--ascii", "a.mbaio", "b.mbaio")
        assert Path("a.mbaio").read_text() == Path("b.mbaio").read_text()
    assert "after merging" not in run("mbh2mbm", "a.mbaio", "back.mbm").err
    assert Path("a.mbaio").read_text().splitlines(keepends=True)[0] == "SVM\n"
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
    subprocess.run(
        ["svm-predict", "-b", "1", "trn.svm", "p.model", "told"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    header, *rows = Path("told").read_text().splitlines()
    told = np.array([row.split() for row in rows], dtype=float)
    columns = [header.split().index(label) for label in ("2", "5", "9")]
    ours, classes = answers(run, "pairs.mbc", "-Q", "1")
    np.testing.assert_allclose(ours[:, :3], told[:, columns], rtol=0, atol=5e-3)
    sure = np.diff(np.sort(ours[:, :3], axis=1)[:, 1:], axis=1)[:, 0] > 1e-2
    assert sure.sum() > 30 and (told[:, 0] == classes)[sure].all()


@pytest.mark.skipif(shutil.which("svm-train") is None, reason="svm-train is not installed")
def test_a_model_of_svm_train(here, run):
    subprocess.run(["svm-train", "-q", "trn.svm", "s.model"], check=True)
    err = run("mbh2mbm", "s.model", "s.mbm").err
    assert "s.model holds no probabilities" in err and "3 binary models" in err
    subprocess.run(
        ["svm-predict", "trn.svm", "s.model", "told"], check=True, stdout=subprocess.DEVNULL
    )
    for model in ("s.model", "s.mbm"):
        _, classes = answers(run, model, "-Q", "3")
        np.testing.assert_array_equal(classes, np.loadtxt("told"))
    assert (
        "hold no probabilities"
        in run("classify_m", "--quiet", "s.model", "trn.vec", "out", status=1).err
    )
    done = run("mbh2mbm", "--quiet", "-Z", "s.mbm", "s.mbaio", status=1)
    assert "s.model-00 does not hold" in done.err
    run("mbh2mbm", "--quiet", "--libsvm", "s.mbm", "s2.model")
    assert "probA" not in Path("s2.model").read_text()
    subprocess.run(
        ["svm-predict", "trn.svm", "s2.model", "told2"], check=True, stdout=subprocess.DEVNULL
    )
    assert Path("told").read_text() == Path("told2").read_text()


def test_y_is_where_the_models_are(made, run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    shutil.copy(made / "pairs.mbc", "pairs.mbc")
    assert "pairs.mbc:1:1: model 'pairs-00'" in run("mbh2mbm", "pairs.mbc", "x.mbm", status=1).err
    run("mbh2mbm", "-y", made, "pairs.mbc", "x.mbm")
    assert Path("x.mbm").read_bytes() == (made / "pairs.mbm").read_bytes()
    text = Path("pairs.mbc").read_text()  # absolute names stay as they are
    Path("absolute.mbc").write_text(text.replace("pairs-", f"{made}/pairs-"), encoding="utf-8")
    run("mbh2mbm", "-y", "nowhere", "absolute.mbc", "y.mbm")
    done = run("mbh2mbm", "-y", "nowhere", "pairs.mbc", "z.mbm", status=1)
    assert "pairs.mbc:1:1: model 'nowhere/pairs-00'" in done.err
    assert "x.mbm holds its own" in run("mbh2mbm", "-y", ".", "x.mbm", "z.mbm", status=2).err
    assert not os.path.exists("z.mbm")


@pytest.mark.parametrize(
    "words, status, text",
    [
        ("-Z --libsvm pairs.mbc x", 2, "--libsvm and -Z exclude each other"),
        ("-Z -a n.std pairs.mbc x", 2, "-Z and -a exclude each other: that format cannot store it"),
        ("-Z --names names pairs.mbc x", 2, "-Z and --names exclude each other"),
        ("-Z n.mbm x", 1, "cannot store a normalisation"),
        ("--libsvm n.mbm x", 1, "cannot store a normalisation"),
        ("-Z kernels.mbc x", 1, "one kernel for all binary classifiers, these have 2"),
        ("--libsvm rest.mbc x", 1, "one binary classifier for each of the 3 pairs"),
        ("cut.mbaio x", 1, "cut.mbaio:"),
        ("cut.model x", 1, "cut.model:"),
    ],
)
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
    assert run("mbm_info", "--print-control", "named.mbm").out.startswith(
        "# class 2: class2\n# class 5: class5\n"
    )
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
    Path("names").write_bytes(
        names_bytes(["-3", "-1", "5", "9"])
    )  # as in training data with one class more
    assert run("mbh2mbm", "--quiet", "--names", "names", "svm", "named.mbm").err == ""
    done = run("mbm_info", "--json", "named.mbm")
    assert json.loads(done.out)["classes"] == [
        {"label": 0, "name": "-3"},
        {"label": 2, "name": "5"},
        {"label": 3, "name": "9"},
    ]


@pytest.mark.parametrize("option", ["-Z", "--libsvm"])
def test_mbm_info_of_every_format(here, run, option):
    run("mbh2mbm", "--quiet", option, "pairs.mbc", "p")
    out = run("mbm_info", "p").out
    assert "coding matrix, 3 binary models" in out and "3: 2, 5, 9" in out and "rbf gamma" in out


def test_a_control_file_with_a_model_called_svm(here, run):
    shutil.copy("pairs-00", "SVM")
    Path("svm.mbc").write_text("SVM\n{\n 2\n 5 }\n")
    assert "1 binary models" in run("mbh2mbm", "svm.mbc", "svm.mbm").err


@pytest.mark.parametrize(
    "base, written, names",
    [
        ("1m", "1m-00", ["m-00", "m-01", "m-02"]),
        ("./m7", "./m7-00", ["m-00", "m-01", "m-02"]),
        ("_u", "_u-00", ["m-00", "m-01", "m-02"]),
        ("Ünï", "Ünï-00", ["m-00", "m-01", "m-02"]),
        ("my m", '"my m-00"', ["m-00", "m-01", "m-02"]),
        ("b", "b-00", ["b-00", "b-01", "b-02"]),
        (None, None, None),
    ],
)
def test_names_for_libagf(here, run, tmp_path, base, written, names):
    """A letter or a slash begins a name there: else multi_borders tells, mbh2mbm -Z changes it."""
    if base is None:
        base, written = f"{tmp_path}/1m", f"{tmp_path}/1m-00"
        names = [f"{base}-0{i}" for i in range(3)]
    Path("names.mbt").write_text('"" 0 / 1;\n"" 0 / 2;\n"" 1 / 2;\n{2 5 9}\n')
    words = ["--uncalibrated", "-+", "learner=logistic", "names.mbt", "trn", base, "names.mbc"]
    told = run("multi_borders", *words).err
    plain = written[0] in "b/"
    assert told == (
        ""
        if plain
        else "multi_borders: warning: libAGF cannot read a control file "
        f"with the model name '{written.strip(chr(34))}': if it is to, choose a base "
        "name that begins with a letter or a /\n"
    )
    with open("names.mbc", encoding="utf-8") as file:
        assert file.read().startswith(f"{written} 0 / 1;")
    assert "libAGF" not in run("multi_borders", "--only", written.strip('"'), *words).err
    told = run("mbh2mbm", "-Z", "names.mbc", "names.mbaio").err.splitlines()
    assert told[:-1] == (
        []
        if plain
        else [
            f"mbh2mbm: warning: libAGF may not read the model name '{written.strip(chr(34))}': in its "
            "ASCII model the classifiers are called m-00 to m-02"
        ]
    )
    with open("names.mbaio", encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert [line.split()[0] for line in lines[1:4]] == names
    assert [line for line in lines if line in names] == names
    same_answers(run, "names.mbc", "names.mbaio")


def test_control_files_without_class_names(here, run):
    Path("names").write_bytes(names_bytes([f"class{i}" for i in range(10)]))
    written = {}
    for words in (
        ("print_control", "--names", "names", "-Q", "5", "10"),
        ("print_control", "-Q", "5", "10"),
        ("print_control", "-Q", "9", "--no-names", "named"),
        ("print_control", "-Q", "9", "named"),
    ):
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


COUNTS = {2: 30, 5: 20, 9: 45}
NEW = {2: 0.1, 5: 0.7, 9: 0.2}
PRIORS = "0.1,0.7,0.2"


@pytest.fixture(scope="module")
def trained_priors(run, tmp_path_factory):
    """A folder: trn and tst of classes 2, 5, 9, and models of several configurations."""
    folder = tmp_path_factory.mktemp("priors")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        generator = np.random.default_rng(5)
        y = np.repeat(list(COUNTS), list(COUNTS.values()))
        x = generator.normal(size=(len(y), 3)) + np.array(y)[:, None] * [0.3, 0, 0.1]
        write_vec("trn.vec", x)
        write_cls("trn.cls", y)
        write_vec("tst.vec", generator.normal(size=(700, 3)) * 2 + [1.5, 0, 0.5])
        (folder / "out.cls").write_bytes(b"")
        for name, text in (
            ("one", '"" 1 / 0; "" 0 / 2; "" 1 / 2; {5 2 9}'),
            ("rest", '"" 0 / 1 2; "" 1 / 0 2; "" 2 / 0 1; {2 5 9}'),
            ("tree", '"" {9 "" {5 2}}'),
            ("near", '"-k 7" K {9 2 5}'),
            ("logistic", '"" L {2 5 9}'),
        ):
            (folder / f"{name}.plan").write_text(text)
            run("multi_borders", "--quiet", f"{name}.plan", "trn", name, f"{name}.mbc")
            run("mbh2mbm", "--quiet", f"{name}.mbc", f"{name}.mbm")
        # as if made elsewhere
        text = (folder / "logistic").read_text()
        (folder / "silent").write_text(re.sub(', "samples": .*', "}", text))
        (folder / "silent.mbc").write_text(
            (folder / "logistic.mbc").read_text().replace("logistic", "silent")
        )
        shutil.copy(folder / "logistic.mbc.cal", folder / "silent.mbc.cal")
        run("mbh2mbm", "--quiet", "silent.mbc", "silent.mbm")
    return folder


@pytest.fixture
def prior(trained_priors, monkeypatch):
    monkeypatch.chdir(trained_priors)
    return trained_priors


@pytest.fixture
def classified(prior, run):
    """Function: classify_m words model -> (what is printed, output.cls, output.con), bytes."""

    def call(*words, warning=None):
        _, out, err = run("classify_m", *words, "tst.vec", "out")
        assert err == "" if warning is None else warning in err
        return out, (prior / "out.cls").read_bytes(), (prior / "out.con").read_bytes()

    return call


@pytest.fixture
def refused(prior, run):
    """Function: a command that fails; -> its one line, or those of warnings before it, too."""

    def call(status, *words, lines=1):
        _, out, err = run(*words, "tst.vec", "never", status=status)
        assert out == "" and err.count("\n") == lines and not (prior / "never.cls").exists()
        return err

    return call


def numbers(answers):
    table = np.array([line.split() for line in answers[0].splitlines()], dtype=float)
    return table[:, :-1], table[:, -1].astype(int)


def adjusted(p):
    """The formula, for columns 2, 5, 9."""
    p = p * np.array(list(NEW.values())) / np.array(list(COUNTS.values()))
    return p / p.sum(axis=1)[:, None]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "words",
    [
        ["one.mbc"],
        ["one.mbm"],
        ["rest.mbm"],
        ["near.mbm"],
        ["-Q", "wu-lin-weng", "one.mbc"],
        ["-Q", "4", "rest.mbm"],
        ["--tree", "full", "tree.mbm"],
        ["near.mbc"],
    ],
)
def test_the_formula(classified, prior, words):
    warning = "is for strict codes" if "4" in words else None
    p, before = numbers(classified(*words, warning=warning))
    answers = classified("--priors", PRIORS, *words, warning=warning)
    q, after = numbers(answers)
    np.testing.assert_allclose(q, adjusted(p), atol=2e-5)
    clear = np.sort(q, axis=1)[:, -1] - np.sort(q, axis=1)[:, -2] > 1e-5
    np.testing.assert_array_equal(after[clear], np.array(list(NEW))[q.argmax(axis=1)][clear])
    np.testing.assert_array_equal(read_cls("out.cls"), after)
    np.testing.assert_allclose(read_con("out.con"), (3 * q.max(axis=1) - 1) / 2, atol=1e-5)
    assert (after == 5).sum() > (before == 5).sum() + 30


def test_negative_estimates_count_as_zero(classified):
    p, _ = numbers(classified("--uncalibrated", "-Q", "5", "rest.mbm"))
    assert p.min() < -1e-3
    q, _ = numbers(classified("--uncalibrated", "-Q", "5", "--priors", PRIORS, "rest.mbm"))
    np.testing.assert_allclose(q, adjusted(np.maximum(p, 0)), atol=2e-5)


def test_ways_to_say_the_same(classified, prior):
    wanted = classified("--priors", PRIORS, "one.mbm")
    write_cls("shares.cls", [5] * 7 + [9] * 2 + [2])
    assert classified("--priors", "9=0.2,2=0.1,5=0.7", "one.mbm") == wanted
    assert classified("--priors", "shares.cls", "one.mbm") == wanted
    assert classified("--priors", "1,7,2", "one.mbm", warning="sum to 10")[1:] == wanted[1:]
    assert classified("--priors", PRIORS, "--trained-priors", "trn.cls", "one.mbm") == wanted
    other = classified("--priors", PRIORS, "--trained-priors", "0.5,0.25,0.25", "one.mbm")
    assert other != wanted


@pytest.mark.parametrize("model", ["one.mbm", "near.mbm"])
def test_neither_threads_nor_neighbours_matter(run, classified, prior, model):
    words = "--priors", PRIORS, model
    wanted = classified(*words)
    assert classified("-j", "3", *words) == wanted
    points = read_vec("tst.vec")
    for row in (0, 5, 699):
        write_vec("single.vec", points[row : row + 1])
        run("classify_m", *words, "single.vec", "alone")
        assert (prior / "alone.con").read_bytes() == wanted[2][4 * row : 4 * row + 4]
        assert (prior / "alone.cls").read_bytes() == wanted[1][4 * row : 4 * row + 4]


def test_a_class_that_is_never_met(classified, prior):
    q, answers = numbers(classified("--priors", "0.5,0,0.5", "one.mbm"))
    assert 5 not in answers and not q[:, 1].any()
    write_cls("two.cls", [2, 9])
    assert (
        numbers(
            classified(
                "--priors", "two.cls", "one.mbm", warning="two.cls holds no sample of class 5"
            )
        )[1].tolist()
        == answers.tolist()
    )


def test_rejection_goes_by_the_new_probabilities(classified):
    q, answers = numbers(classified("--priors", PRIORS, "one.mbm"))
    _, some = numbers(
        classified("--priors", PRIORS, "--reject", "0.6", "one.mbm", warning="rejected")
    )
    clear = np.abs(q.max(axis=1) - 0.6) > 1e-5
    np.testing.assert_array_equal(some[clear], np.where(q.max(axis=1) < 0.6, -1, answers)[clear])
    assert 50 < (some == -1).sum() < 650


def test_models_that_do_not_tell(classified, refused, prior):
    for i in range(3):
        text = (prior / f"one-{i:02d}").read_text()
        assert '"seed": 1, "samples": ' in text
        (prior / f"old-{i:02d}").write_text(text[: text.index("# agfmc")])
    (prior / "old.mbc").write_text((prior / "one.mbc").read_text().replace("one-", "old-"))
    shutil.copy(prior / "one.mbc.cal", prior / "old.mbc.cal")
    text = refused(2, "classify_m", "--priors", PRIORS, "old.mbc")
    assert "--trained-priors" in text and "do not record" in text
    assert "--trained-priors" in refused(2, "classify_m", "--priors", PRIORS, "silent.mbm")
    told = classified(
        "--priors", PRIORS, "--trained-priors", "2=30,5=20,9=45", "old.mbc", warning="sum to 95"
    )
    assert told == classified("--priors", PRIORS, "one.mbc")
    q, _ = numbers(classified("--priors", PRIORS, "--trained-priors", "trn.cls", "silent.mbm"))
    np.testing.assert_allclose(q, adjusted(numbers(classified("silent.mbm"))[0]), atol=2e-5)
    assert classified("--priors", PRIORS, "logistic.mbm") == classified(
        "--priors", PRIORS, "--trained-priors", "trn.cls", "silent.mbm"
    )
    # with one of them that tells, not all classes are known; with two they are
    (prior / "old-00").write_text((prior / "one-00").read_text())
    refused(2, "classify_m", "--priors", PRIORS, "old.mbc")
    (prior / "old-01").write_text((prior / "one-01").read_text())
    assert classified("--priors", PRIORS, "old.mbc") == classified("--priors", PRIORS, "one.mbc")
    # models of different samples are of no use together
    text = (prior / "one-02").read_text()
    text = text[: text.index(', "run": ')] + "}\n"  # without its checksum
    (prior / "old-02").write_text(text.replace('"samples": [30, 45]', '"samples": [31, 45]'))
    assert "different samples" in refused(2, "classify_m", "--priors", PRIORS, "old.mbc", lines=2)


@pytest.mark.parametrize(
    "words, says",
    [
        (["-Q", "vote", "one.mbm"], "not vote"),
        (["-Q", "2", "one.mbm"], "not vote-values"),
        (["-Q", "-1", "one.mbm"], "not binary"),
        (["-0", "one.mbm"], "not -0"),
        (["-Q", "ddag", "one.mbm"], "not ddag"),
        (["-Q", "poll", "one.mbm"], "not poll"),
        (["-Q", "loss:hinge", "rest.mbm"], "not loss:hinge"),
        (["-Q", "argmax-raw", "rest.mbm"], "not argmax-raw"),
        (["tree.mbm"], "--tree full"),
        (["--tree", "path", "tree.mbm"], "--tree full"),
    ],
)
def test_decoders_without_all_probabilities(refused, words, says):
    assert says in refused(2, "classify_m", "--priors", PRIORS, *words)


@pytest.mark.parametrize(
    "priors, status, says",
    [
        ("0.5,0.5", 2, "expected 3 numbers"),
        ("-1,1,1", 2, "not negative"),
        ("2=0.5,5=0.5", 2, "found none for 9"),
        ("2=0.5,5=0.2,7=0.3,9=0", 2, "class 7 is not one of the classes 2 5 9"),
        ("2=0.5,2=0.5", 2, "class 2 is named twice"),
        ("2=0.5,0.5", 2, "expected label=p"),
        ("birch=1", 2, "class birch is not one of the classes 2 5 9"),
        ("2=x", 2, "expected a number"),
        ("1,,2", 2, "p,p,..."),
        ("nan,1,1", 2, "expected a number"),
        ("shares", 2, ".cls file"),
        ("none.cls", 1, "none.cls"),
        ("1e308,1e308,1e308", 2, "nor all 0"),
        ("strange.cls", 1, "strange.cls: holds class 3, which is not one of the classes 2 5 9"),
    ],
)
def test_bad_proportions(refused, prior, priors, status, says):
    write_cls("strange.cls", [2, 3])
    assert says in refused(status, "classify_m", "--priors", priors, "one.mbm")


def test_bad_proportions_in_training(refused):
    assert "needs --priors" in refused(2, "classify_m", "--trained-priors", PRIORS, "one.mbm")
    assert "--trained-priors: class 5 was trained on" in refused(
        2, "classify_m", "--priors", PRIORS, "--trained-priors", "0.5,0,0.5", "one.mbm"
    )


def test_other_programs(prior, refused, run):
    """A program that gives the left side one probability for all points."""
    (prior / "program.py").write_text(
        "import sys\npoints, model, output = sys.argv[1:]\n"
        "p = {'one-00': 0.5, 'one-01': 0.75, 'one-02': 0.75}[model]\n"
        "with open(output, 'w') as file:\n"
        "    file.write('labels 0 1\\n')\n"
        "    for _ in open(points):\n"
        "        file.write(f'0 {p} {1 - p}\\n')\n"
    )
    words = "classify_m", "--priors", PRIORS, "-O", shlex.join([sys.executable, "program.py"])
    write_vec("few.vec", read_vec("tst.vec")[:3])
    assert "--trained-priors" in refused(2, *words, "one.mbc")
    run(*words, "--trained-priors", "trn.cls", "one.mbc", "few.vec", "few.txt")
    lines = (prior / "few.txt").read_text().splitlines()
    assert lines[0] == "labels 2 5 9" and len(lines) == 4
    # p = 3/7, 3/7, 1/7 of the three
    wanted = adjusted(np.array([[3 / 7, 3 / 7, 1 / 7]]))[0]
    for line in lines[1:]:
        np.testing.assert_allclose([float(word) for word in line.split()[1:]], wanted, atol=1e-5)
    assert "--tree full" in refused(2, *words, "--trained-priors", "trn.cls", "tree.mbc")


@pytest.mark.parametrize("model", ["one", "rest", "tree", "near", "logistic"])
def test_mbm_info_shows_the_numbers_of_samples(prior, run, model):
    page = run("mbm_info", f"{model}.mbm").out
    assert "samples           95 in training, of the classes 30 20 45\n" in page
    assert model in ("near", "logistic") or (
        page.count("; seed 1") == 1 and "; samples" not in page
    )
    info = json.loads(run("mbm_info", "--json", f"{model}.mbm").out)
    assert [c["label"] for c in info["classes"]] == list(COUNTS)
    assert info["samples"] == list(COUNTS.values())
    for binary in info["binary_models"]:
        assert binary["samples"] == [
            sum(COUNTS[label] for label in binary[side]) for side in ("left", "right")
        ]


def test_mbm_info_of_models_that_do_not_tell(prior, run):
    assert "samples" not in run("mbm_info", "silent.mbm").out
    assert json.loads(run("mbm_info", "--json", "silent.mbm").out)["samples"] is None


LABELS = (1, 4, 6, 7)


@pytest.fixture(scope="module")
def pairs(run, tmp_path_factory):
    """Data of four overlapping classes, a one-vs-one configuration with its pair errors."""
    pairs = tmp_path_factory.mktemp("asking")
    rng = np.random.default_rng(11)
    for name, n in (("trn", 60), ("tst", 50)):
        y = np.repeat(LABELS, n)
        x = rng.normal(size=(len(y), 3)) + 1.5 * np.eye(4)[np.repeat(range(4), n)][:, :3]
        order = rng.permutation(len(y))
        write_vec(pairs / f"{name}.vec", x[order].astype(np.float32))
        write_cls(pairs / f"{name}.cls", y[order].astype(np.int32))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(pairs)
        (pairs / "plan").write_text(
            " ".join(f'"" {i} / {j};' for i, j in combinations(range(4), 2)) + " {4 1 7 6}\n"
        )
        run("multi_borders", "--cv-errors", "errors", "--cv-irrelevant", "plan", "trn", "m", "ctl")
        run("mbh2mbm", "--quiet", "ctl", "all.mbm")
    return pairs


@pytest.fixture
def pairwise(pairs, monkeypatch):
    monkeypatch.chdir(pairs)
    return pairs


def test_parts_are_the_whole(pairwise, run):
    lines = run(
        "multi_borders", "-0", "--cv-errors", "part", "plan", "trn", "n", "nctl"
    ).out.splitlines()
    assert len(lines) == 6 and all("--cv-errors=part.n-0" in line for line in lines)
    for i in range(6):
        run(
            "multi_borders",
            f"--only=n-{i:02d}",
            "--options=",
            f"--cv-errors=part.{i}",
            "nctl",
            "trn",
            "n",
            "nctl",
        )
    (pairwise / "parts").write_text("".join((pairwise / f"part.{i}").read_text() for i in range(6)))
    whole, parts = read_pair_errors("errors"), read_pair_errors("parts")
    np.testing.assert_array_equal(parts.n, whole.n)
    np.testing.assert_array_equal(parts.errors, whole.errors)
    assert parts.irrelevant is None


def test_an_order_changes_the_way_and_not_the_models(pairwise, run):
    _, text, told = run("order_classes", "--errors", "errors", "ctl")
    assert "all orders were tried" in told
    (pairwise / "ordered").write_text(text)
    assert parse(text).sides() == parse((pairwise / "ctl").read_text()).sides()
    assert sorted(parse(text).labels) == list(LABELS)
    classes = {}
    for control in ("ctl", "ordered"):
        for method in ("ddag", "max-win"):
            run("classify_m", "-Q", method, control, "tst.vec", "o")
            classes[control, method] = read_cls("o.cls")
    np.testing.assert_array_equal(classes["ctl", "max-win"], classes["ordered", "max-win"])
    truth = read_cls("tst.cls")
    assert all((found == truth).mean() > 0.5 for found in classes.values())


@pytest.mark.parametrize(
    "method, asked",
    [("ddag", "3.00"), ("adag", "3.00"), ("max-win", "6.00"), ("0", "6.00"), ("poll", None)],
)
def test_count(pairwise, run, method, asked):
    _, out, told = run(
        "classify_m", "--count", "--margins", "-Q", method, "all.mbm", "tst.vec", "o"
    )
    found = re.search(
        r"([\d.]+) of 6 binary classifiers and ([\d.]+) of (\d+) kernel evaluations "
        r"per point",
        told,
    )
    total = len(load("all.mbm").machines.sv)
    assert int(found[3]) == total
    if asked is not None:
        assert found[1] == asked
    if asked == "6.00":
        assert found[2] == f"{total}.00"
    if asked == "3.00":
        assert float(found[2]) < total
    assert re.search(r"sum of 1/margin\^2 over 6 binary classifiers: \d", told)
    assert len(re.search(r"over the classifiers of a class: (.*)", told)[1].split(", ")) == 4
    assert re.search(r"error of ddag is below \S+, .*every classifier separates its samples", told)
    assert ("poll draws all pairs of the 4 classes, and saves nothing" in told) is (asked is None)
    width = 4 if method == "0" else 1
    assert all(len(line.split()) == width + 1 for line in out.splitlines())
    assert len(out.splitlines()) == 200


def test_margins_of_named_classes(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["a,b,class"]
    for name, x, y in (("low", 0, 0), ("mid", 0, 4), ("high", 4, 0)):
        rows += [f"{x + i / 20},{y + i % 3 / 20},{name}" for i in range(10)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    run("multi_borders", "-n", "one-vs-one", "t.csv", "m", "m.mbc")
    told = run("classify_m", "--margins", "m.mbc", "t.csv", "o.csv").err
    whole = float(re.search(r"over 3 binary classifiers: (\S+)", told)[1])
    sums = re.search(r"over the classifiers of a class: high (\S+), low (\S+), mid (\S+)", told)
    # each classifier is one of two classes
    assert sum(map(float, sums.groups())) == pytest.approx(2 * whole, rel=1e-5)
    assert re.search(r"of a class below high \S+, low \S+, mid .*\(R\^2 1, 30 samples;", told)


def test_and_rejects(pairwise, run):
    _, _, told = run("classify_m", "-Q", "and", "all.mbm", "tst.vec", "o")
    classes = read_cls("o.cls", negative=True)
    assert f"{np.count_nonzero(classes < 0)} of 200 points rejected" in told
    run("classify_m", "-Q", "ddag", "all.mbm", "tst.vec", "d")
    np.testing.assert_array_equal(read_cls("d.cls")[classes >= 0], classes[classes >= 0])


def test_radag(pairwise, run):
    done = run(
        "classify_m", "-Q", "radag", "--count", "--pair-errors", "errors", "all.mbm", "tst.vec", "o"
    )
    assert "3.00 of 6 binary classifiers" in done.err


@pytest.mark.parametrize(
    "words, message",
    [
        ("classify_m --finalists 2 all.mbm tst.vec o", "--finalists needs -Q poll"),
        ("classify_m -Q poll --opponents 0 all.mbm tst.vec o", "opponents"),
        ("classify_m -Q poll --opponents xlog all.mbm tst.vec o", "opponents"),
        ("classify_m -Q radag all.mbm tst.vec o", "--pair-errors"),
        ("classify_m -Q ddag --pair-errors errors all.mbm tst.vec o", "needs -Q radag"),
        ("classify_m -Q argmax all.mbm tst.vec o", "one-vs-rest"),
        ("classify_m -Q loss:zero all.mbm tst.vec o", "no decoder 'loss:zero'"),
        ("classify_m -Q loss:hinge -O cat ctl tst.vec x", "decision values"),
        ("classify_m --count -O cat ctl tst.vec x", "--count"),
        ("classify_m --quantiles .5 all.mbm tst.vec x", "--quantiles needs --quantity"),
        (
            "classify_m --quantity --quantiles .5,2 all.mbm tst.vec x",
            "expected a number from 0 to 1",
        ),
        ("classify_m --quantity -0 all.mbm tst.vec x", "needs the probabilities of all classes"),
        ("classify_m --quantity -O cat ctl tst.vec x", "-O and --quantity exclude each other"),
        ("multi_borders --cv-irrelevant plan trn m o", "needs --cv-errors"),
        (
            "multi_borders --cv-errors e -- cat plan trn m o",
            "-- COMMAND and --cv-errors exclude each other",
        ),
    ],
)
def test_what_does_not_go_together(pairwise, run, words, message):
    assert message in run(*words.split(), status=2).err


def test_errors_of_pairs_are_for_pairs(pairwise, run):
    (pairwise / "rest").write_text('"" 0 / 1 2 3; {1 4 6 7}\n')
    assert run(
        "multi_borders", "--cv-errors", "e", "rest", "trn", "x", "xctl", status=2
    ).err.startswith("multi_borders: rest:1:1: --cv-errors is for one-vs")
    assert not (pairwise / "xctl").exists()
