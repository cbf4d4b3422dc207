"""The learner nystrom: real commands, from every kind of control file to the answers."""

import re

import numpy as np
import pytest

from agfmc.models.libsvm import read_svm_model
from data_files import write_cls, write_vec

NYSTROM = "learner=nystrom -m 60 -g 0.2"
CENTRE = np.random.default_rng(5).normal(size=(5, 4)) * 1.8
NAMES = "ant bee cat dog emu".split()


def points(n, seed):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 5, n)
    return (CENTRE[y] + generator.normal(size=(n, 4))).astype(np.float32), y


def write_text(path, x, labels):
    with open(path, "w", encoding="ascii") as file:
        for row, label in zip(x.tolist(), labels):
            print(label, *(f"{j}:{v!r}" for j, v in enumerate(row, 1)), file=file)


@pytest.fixture(autouse=True)
def folder(folder):
    for name, n, seed in (("trn", 200, 1), ("tst", 100, 2)):
        x, y = points(n, seed)
        write_vec(f"{name}.vec", x)
        write_cls(f"{name}.cls", y)
    (folder / "rest").write_text(
        '"" 1 2 3 4 / 0; "" 0 2 3 4 / 1; "" 0 1 3 4 / 2; "" 0 1 2 4 / 3; "" 0 1 2 3 / 4; '
        "{0 1 2 3 4}",
        encoding="ascii",
    )
    return folder


@pytest.fixture
def pairs(folder, run):
    (folder / "pairs").write_text(run("print_control", "-Q", "1", "5").out, encoding="ascii")
    return "pairs"


def files(folder, base):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name.startswith(base)}


def accuracy(name):
    return np.mean(np.fromfile(f"{name}.cls", "<i4") == np.fromfile("tst.cls", "<i4"))


CONTROLS = {
    "full": '"" 0 1 / 2 3 4; "" 0 2 4 / 1 3; "" 0 3 / 1 2 4; "" 0 1 2 / 3 4; "" 0 / 1 2 3 4; '
    "{0 1 2 3 4}",
    "zeros": '"" 0 1 / 2 3; "" 0 2 4 / 1; "" 3 / 4; "" 1 2 / 3 4; "" 0 / 4; "" 0 3 / 1 2 4; '
    "{0 1 2 3 4}",
    "tree": '"" {"" {0 "" {3 4}} "" {1 2}}',
    "nested": '"" {"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 3} "" {2 4}}',
    "mixed": f'"-c 5" 0 / 1 2 3 4; "{NYSTROM}" 1 / 0 2 3 4; "learner=logistic" 2 / 0 1 3 4; '
    f'"{NYSTROM} -l 1" 3 / 0 1 2 4; "{NYSTROM}" 4 / 0 1 2 3; {{0 1 2 3 4}}',
    "nodes": f'"{NYSTROM}" {{"-k 5" K {{0 3 4}} "-r 2" L {{1 2}}}}',
}


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["rest", "pairs", *CONTROLS])
def test_every_kind_of_control_file(folder, run, pairs, kind):
    if kind in CONTROLS:
        (folder / kind).write_text(CONTROLS[kind], encoding="ascii")
    made = {}
    for workers in (1, 2):
        (folder / f"{workers}").mkdir()
        run(
            "multi_borders",
            "-n",
            "-a",
            f"{workers}/s",
            "-j",
            workers,
            "-y",
            workers,
            "-+",
            NYSTROM,
            kind,
            "trn",
            "m",
            f"{workers}/c",
        )
        made[workers] = files(folder / str(workers), "")
    assert made[1] == made[2]
    models = [
        read_svm_model(f"1/{name}")
        for name in made[1]
        if re.match(r"m[-.0-9]*\Z", name) and made[1][name].startswith(b"svm_type")
    ]
    shared = [model for model in models if "nystrom" in model.provenance.options]
    assert shared and (len(models) == len(shared)) == (kind != "mixed")
    for model in shared:
        np.testing.assert_array_equal(model.sv, shared[0].sv)
        assert model.provenance.probabilities == "leave-one-out" and model.provenance.left_out
        assert model.labels == (1, 0) and len(model.coef) == 60
    run("mbh2mbm", "-a", "1/s", "-y", "1", "1/c", "all.mbm")
    answers = []
    for words in (("-a", "1/s", "-y", "1", "1/c"), ("all.mbm",)):
        for workers in (1, 2):
            answers.append(run("classify_m", "-j", workers, *words, "tst.vec", "out").out)
            assert accuracy("out") > 0.75
    assert len(set(answers)) == 1


@pytest.mark.parametrize("form, end", [("--libsvm", "svm"), ("--ascii", "agf"), (None, "mbm")])
def test_exports(run, pairs, form, end):
    run("multi_borders", "-+", NYSTROM, "--uncalibrated", pairs, "trn", "m", "c")
    run("mbh2mbm", *filter(None, [form]), "c", f"all.{end}")
    for model in ("c", f"all.{end}"):
        run("classify_m", model, "tst.vec", model)
        assert accuracy(model) > 0.8
    if form != "--ascii":  # which holds six digits
        assert np.array_equal(*(np.fromfile(f"{name}.cls", "<i4") for name in ("c", f"all.{end}")))
    assert "learner=nystrom -t 2 -g 0.2 -m 60 -l " in run("mbm_info", "c").out


@pytest.mark.long
def test_words_on_standard_error(folder, run, pairs):
    words = ("--uncalibrated", "-+", "learner=nystrom  -l 1", pairs, "trn", "a", "c")
    told = run("multi_borders", *words).err
    run("multi_borders", *words).line("kept from an earlier run: 10 of 10")
    assert told == "multi_borders: learner=nystrom -l 1: 200 landmarks, lambda 1 (10 classifiers)\n"
    words = ("--uncalibrated", "-+", NYSTROM, pairs, "trn", "b", "c")
    told = run("multi_borders", *words).line(f"{NYSTROM}: 60 landmarks, lambda ", " (10 class")
    chosen = {
        read_svm_model(name).provenance.options.split("-l ")[1] for name in files(folder, "b-")
    }
    assert sorted(map(float, re.search("lambda (.*) [(]", told)[1].split(" to "))) == sorted(
        {min(map(float, chosen)), max(map(float, chosen))}
    )
    kept = run("multi_borders", *words)
    kept.line("kept from an earlier run: 10 of 10")
    quiet = run("multi_borders", "--quiet", "--retrain", *words)
    assert quiet.err == ""
    settled = run(
        "multi_borders",
        "--uncalibrated",
        "-+",
        "learner=nystrom -m 60 -l 2",
        pairs,
        "trn",
        "d",
        "c",
    )
    assert settled.err == ""
    (folder / "two").write_text(
        '"learner=nystrom -m 30 -t 1 -d 2" 0 1 / 2 3 4; "learner=nystrom -m 9 -l 1" 0 2 / 3 4;'
        '"learner=nystrom -g 1" 0 3 / 1 2 4; {0 1 2 3 4}',
        encoding="ascii",
    )
    lines = run("multi_borders", "--uncalibrated", "two", "trn", "e", "c").err.splitlines()
    assert lines[:1] == [
        "multi_borders: warning: learner=nystrom -m 30 -t 1 -d 2: 20 of 30 landmarks are left "
        "out, as they depend on the others within rounding"
    ]
    assert len(lines) == 3 and lines[1].startswith(
        "multi_borders: learner=nystrom -m 30 -t 1 -d 2: 10 landmarks, lambda "
    )
    assert re.match(r".*-g 1: \d+ landmarks, lambda \S+ \(1 classifier\)\Z", lines[2])


@pytest.mark.parametrize(
    "options, told",
    [
        ("-s 1", "no such option"),
        ("-w2 1", "weights are for the sides"),
        ("-m 201", "-m 201 is more than the number of different points of these classes, 200"),
        ("-t 1 -d 100 -g 1e9 -m 20", "kernel values of the landmarks are too large"),
    ],
)
def test_wrong_options_are_one_line_before_any_work(folder, run, options, told):
    before = files(folder, "")
    run(
        "multi_borders", "-+", f"learner=nystrom {options}", "rest", "trn", "m", "c", status=None
    ).refused(told)
    assert files(folder, "") == before
    (folder / "place").write_text(
        f'"-c 5" 0 1 / 2 3 4;\n"{NYSTROM}" 1 2 / 0 3 4;\n "learner=nystrom {options}" 1 / 0 2 3 4;'
        "{0 1 2 3 4}",
        encoding="ascii",
    )
    run("multi_borders", "place", "trn", "m", "c", status=1).refused("place:3:2: ", told)
    (folder / "place").unlink()
    assert files(folder, "") == before


@pytest.mark.parametrize(
    "words, told",
    [
        (("learner=nystrom", "-m", "50"), 'in quotes: -+ "learner=nystrom -m 50"'),
        (("nystrom -m 50",), "expected learner=nystrom, found 'nystrom'"),
    ],
)
def test_words_in_the_wrong_place(run, words, told):
    run("multi_borders", "-+", *words, "rest", "trn", "m", "c", status=2).refused(told)


def test_bad_points(folder, run):
    x, y = points(100, 3)
    write_vec("one.vec", x)
    write_cls("one.cls", np.where(np.arange(100) < 99, y % 4, 4))
    words = ("-+", NYSTROM.replace("60", "50"), "rest")
    run("multi_borders", *words, "one", "m", "c", status=1).refused(
        "rest:1:90: class 4 has one sample in one: expected at least 2, or --min-class 2"
    )
    write_cls("one.cls", y % 4)
    run("multi_borders", *words, "one", "m", "c", status=1).refused(
        "rest:1:90: class 4 has no samples in one"
    )
    write_cls("one.cls", y)
    with open("one.vec", "r+b") as file:
        file.seek(4 + 4 * (4 * 17 + 2))
        file.write(np.float32(np.nan).tobytes())
    run("multi_borders", *words, "one", "m", "c", status=1).refused(
        "one.vec: feature 2 (from 0) of row 18 is NaN"
    )
    assert not files(folder, "m") and not files(folder, "c")


def test_a_point_whose_kernel_values_are_too_large(folder, run):
    x, y = points(100, 3)
    x[17] = 3e38
    write_vec("far.vec", x)
    write_cls("far.cls", y)
    lines = run(
        "multi_borders",
        "-+",
        "learner=nystrom -t 1 -d 9 -m 20",
        "rest",
        "far",
        "m",
        "c",
        status=None,
    ).err.splitlines()
    assert len(lines) < 8 and sum("too large: normalise the data" in line for line in lines) > 0
    assert not files(folder, "m-") and not files(folder, "c")


def test_points_that_are_all_equal(folder, run):
    write_vec("same.vec", np.ones((100, 4), dtype=np.float32))
    write_cls("same.cls", np.arange(100) % 5)
    run("multi_borders", "-+", NYSTROM, "rest", "same", "m", "c", status=1).refused(
        "rest:1:1: -m 60 is more than the number of different points of these classes, 1"
    )
    told = run("multi_borders", "-+", "learner=nystrom", "rest", "same", "m", "c").err
    assert "learner=nystrom: 1 landmark, lambda " in told
    # a point that is left out is nearer to the other side: that is no reason to be sure
    assert read_svm_model("m-00").platt[0] == 0 and "log loss 1.61 -> 1.61" in told
    found = run("classify_m", "c", "same.vec", "out").out.split()
    np.testing.assert_allclose(np.array(found, float).reshape(100, -1)[:, :5], 0.2, atol=1e-3)


def test_models_of_all_left_out_values_are_not_kept_for_a_sample_of_them(folder, run, pairs):
    words = ("--uncalibrated", "-+", f"{NYSTROM} --loo 100", pairs, "trn", "m", "c")
    run("multi_borders", *words)
    plain = files(folder, "m-")
    run("multi_borders", "--cv-errors", "errors", *words)
    assert files(folder, "m-")["m-00"] != plain["m-00"]
    assert "kept" not in run("multi_borders", *words).err
    assert files(folder, "m-") == plain


@pytest.mark.long
def test_one_model_alone_and_what_is_missing(folder, run, pairs):
    words = ("-+", NYSTROM, pairs, "trn", "m", "c")
    run("multi_borders", *words)
    whole = files(folder, "m-")
    for name in ("m-03", "m-07"):
        (folder / name).unlink()
    assert run("multi_borders", "--only", "m-03", *words).err.count("\n") == 1
    assert files(folder, "m-")["m-03"] == whole["m-03"]
    told = run("multi_borders", *words).err
    assert "kept from an earlier run: 9 of 10" in told and " (1 classifier)" in told
    assert files(folder, "m-") == whole
    # another row that shares the landmarks: none of these models is that of the new group
    (folder / "fewer").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}', encoding="ascii")
    x, y = points(400, 1)
    write_vec("three.vec", x[y < 3])
    write_cls("three.cls", y[y < 3])
    assert "kept" not in run("multi_borders", "-+", NYSTROM, "fewer", "three", "m", "c").err
    run("multi_borders", "--uncalibrated", *words)
    assert not (folder / "c.cal").exists()
    for name, model in whole.items():
        found = read_svm_model(name)
        assert b"held out" not in (folder / name).read_bytes()
        assert f"probA {found.platt[0]!r}".encode() in model


def test_words_and_signs_as_labels(run):
    x, y = points(400, 1)
    new, truth = points(200, 2)
    for labels, name in (
        (lambda y: [NAMES[one] for one in y], "words"),
        (lambda y: ["-1" if one < 2 else "+1" for one in y], "signs"),
    ):
        write_text(name, x, labels(y))
        plan = run("print_control", "-M", name).out
        run("multi_borders", "-M", "-+", NYSTROM, "-", name, "m", "c", stdin=plan)
        write_text("new", new, labels(truth))
        run("classify_m", "-M", "c", "new", "out")
        found = np.fromfile("out.cls", "<i4")
        codes = truth if name == "words" else (truth >= 2).astype(int)
        assert np.mean(found == codes) > 0.8


def test_sparse_text_is_made_a_table(run):
    generator = np.random.default_rng(0)
    with open("sparse", "w", encoding="ascii") as file:
        for row in range(150):
            own = np.unique(np.r_[generator.integers(50, 9000, 10), np.arange(5) + 7 * (row % 3)])
            print(row % 3, *(f"{j + 1}:{generator.random():.3f}" for j in own), file=file)
    plan = '"" 0 / 1 2; "" 1 / 0 2; "" 2 / 0 1; {0 1 2}'
    run("multi_borders", "-M", "-+", NYSTROM, "-", "sparse", "m", "c", stdin=plan)
    run("classify_m", "-M", "c", "sparse", "out")
    assert np.mean(np.fromfile("out.cls", "<i4") == np.arange(150) % 3) > 0.9
    with open("sparse", "a", encoding="ascii") as file:
        print("1 99999999:1", file=file)
        file.writelines("2 1:1\n" for _ in range(2000))
    run(
        "multi_borders", "-M", "-+", NYSTROM, "-", "sparse", "n", "d", stdin=plan, status=1
    ).refused("sparse:", "make a table of", "above the limit of")


@pytest.mark.long
def test_a_training_part_has_fewer_points_than_landmarks(folder, run, monkeypatch):
    """A number of landmarks that all the points have is no error where a part of them is trained
    on; one that is too large for all of them is."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    words = "one-vs-rest", "trn"
    for command in (("nfold",), ("tune_m", "-n")):
        told = run(*command, "-+", "learner=nystrom -m 200", *words).err
        assert (
            "-m 200 is more than the number of different points of these classes in a "
            "training part: all of them are its landmarks there" in told
        )
        run(*command, "--quiet", "-+", "learner=nystrom -m 201", *words, status=1).line(
            "-m 201 is more than the number of different points of these classes"
        )
