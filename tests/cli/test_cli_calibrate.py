"""calibrate_m, and what classify_m does with thresholds and sets."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from agfmc.calibration.maps import apply_map, fit_temperature
from agfmc.calibration.sets import prediction_sets, quantiles
from agfmc.calibration.thresholds import error_threshold
from agfmc.data.libagf import read_cls
from agfmc.prediction.classifier import Classifier
from agfmc.models.files import load
from agfmc.prediction.decoding import Decoding
from data_files import write_cls, write_vec

LABELS = np.array([2, 5, 9], dtype=np.int32)


def points(seed, n):
    rng = np.random.default_rng(seed)
    column = rng.integers(0, 3, n)
    x = rng.normal(size=(n, 3)) + np.where(column == 1, -1.2, 1.5 * (column == 2))[:, None]
    return x.astype(np.float32), LABELS[column]


@pytest.fixture(scope="module")
def made(run, tmp_path_factory):
    """A folder with trained configurations of classes 2, 5, 9, and points kept apart."""
    folder = tmp_path_factory.mktemp("calibrated")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, seed, n in (("trn", 1, 150), ("apart", 2, 300), ("test", 3, 200)):
            x, y = points(seed, n)
            write_vec(f"{name}.vec", x)
            write_cls(f"{name}.cls", y)
        for name, text in (
            ("pairs", '"" 0 / 1; "" 0 / 2; "" 1 / 2; {2 5 9}'),
            ("tree", '"" { 5 "" { 9 2 } }'),
        ):
            Path("plan").write_text(text)
            run("multi_borders", "--quiet", "plan", "trn", name, f"{name}.mbc")
            run("mbh2mbm", "--quiet", f"{name}.mbc", f"{name}.mbm")
        os.remove("plan")
    return folder


@pytest.fixture
def here(made, folder):
    """A copy of that folder, which is the current one."""
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return folder


def test_the_model_is_written_with_the_map(run, here):
    before = load("pairs.mbm")
    assert set(before.calibration.decoders) == {"inverse", "least-squares"}
    done = run(
        "calibrate_m", "--data", "apart", "--map", "temperature", "pairs.mbm", "-o", "pairs.mbm"
    )
    assert done.err == ""
    assert done.out.startswith("inverse, least-squares: 300 points of 3 classes; temperature ")
    x, y = points(2, 300)
    p = Classifier(before, Decoding(calibrated=False))(x).columns
    expected = fit_temperature(p, np.searchsorted(LABELS, y))
    after = load("pairs.mbm")
    found = after.calibration.decoders["least-squares"].map
    assert (found.weights, found.floor) == (expected.weights, expected.floor)
    assert after.calibration.source.endswith("; least-squares: 300 points of apart")
    np.testing.assert_array_equal(Classifier(after, Decoding())(x).columns, apply_map(expected, p))
    assert after.digest() == before.digest()


@pytest.mark.long
def test_weights_of_points_and_classes(run, here):
    x, y = points(2, 300)
    w = np.random.default_rng(1).integers(0, 4, 300)
    Path("w.txt").write_text("".join(f"{one}\n" for one in w))
    write_vec("copies.vec", x.repeat(w, 0))
    write_cls("copies.cls", y.repeat(w))
    words = ("calibrate_m", "--json", "--map", "temperature", "-Q", "least-squares", "pairs.mbm")
    done = run(*words, "--data", "apart", "--weight", "w.txt", "-o", "new.mbm")
    zeros = np.count_nonzero(w == 0)
    assert f"apart: {zeros} of 300 samples have weight 0 and are left out" in done.err
    (found,) = json.loads(done.out)
    (copies,) = json.loads(run(*words, "--data", "copies").out)
    (alike,) = json.loads(run(*words, "--data", "apart").out)
    assert found["temperature"] == pytest.approx(copies["temperature"], rel=1e-9)
    assert abs(found["temperature"] - alike["temperature"]) > 1e-3
    for score in ("log_loss", "brier", "accuracy"):
        assert found["scores"][score]["before"]["value"] == pytest.approx(
            copies["scores"][score]["before"]["value"], rel=1e-12
        )
    assert (found["points"], found["sum_of_weights"]) == (300 - zeros, w.sum())
    calibration = load("new.mbm").calibration
    assert calibration.source.endswith(f"least-squares: {300 - zeros} weighted points of apart")
    assert len(calibration.decoders["least-squares"].points.label) == 300 - zeros
    (balanced,) = json.loads(run(*words, "--data", "apart", "--class-weight", "balanced").out)
    assert balanced["sum_of_weights"] == pytest.approx(300)
    # beside the points they are taken by themselves
    write_cls("apart.cls", y)
    Path("apart.wgt").write_bytes(w.astype("<f4").tobytes())
    assert (
        run(*words, "--data", "apart").out
        == run(*words, "--data", "apart", "--weight", "w.txt").out
    )
    assert json.loads(run(*words, "--data", "apart", "--weight", "none").out) == [alike]


def test_processes_answer_as_threads_do(run, here):
    # over a second: the time that a process takes to start
    words = ("calibrate_m", "--json", "--data", "apart", "pairs.mbm")
    assert run(*words, "-j", "processes:1").out == run(*words).out


@pytest.mark.long
def test_answers_of_a_cross_validation(run, here, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
    run("nfold", "--quiet", "one-vs-one", "trn", "held")
    (report,) = json.loads(
        run("calibrate_m", "--json", "--from", "held", "pairs.mbm", "-o", "new.mbm").out
    )
    assert (report["decoder"], report["points"]) == ("inverse", 150)
    assert "stored" not in report["compared"]
    assert load("new.mbm").calibration.source.endswith("; inverse: 150 points of held")
    w = 1 + np.arange(150) % 3
    Path("held.wgt").write_bytes(w.astype("<f4").tobytes())
    words = "calibrate_m", "--json", "--from", "held", "pairs.mbm"
    assert json.loads(run(*words).out)[0]["sum_of_weights"] == w.sum()
    run("nfold", "--quiet", "one-vs-one", "trn", "held")  # its weights are of other answers
    assert json.loads(run(*words).out) == [report]


@pytest.mark.long
def test_answers_of_a_cross_validation_of_a_tree(run, here, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
    Path("tree").write_text('"" { 5 "" { 9 2 } }')
    for name, words in (("held", ()), ("own", ("--uncalibrated",))):
        run("nfold", "--quiet", *words, "-Q", "recursive", "tree", "trn", name)
    assert Path("held.raw.con").read_bytes() == Path("own.con").read_bytes()
    assert Path("held.con").read_bytes() != Path("own.con").read_bytes()
    assert not Path("own.raw.con").exists()
    one, other = (
        json.loads(run("calibrate_m", "--json", "--from", name, "tree.mbm").out)
        for name in ("held", "own")
    )
    assert one[0]["compared"] == other[0]["compared"] and one[0]["decoder"] == "recursive"
    run("nfold", "--quiet", "--uncalibrated", "-Q", "recursive", "tree", "trn", "held")
    assert not Path("held.raw.con").exists()


@pytest.mark.parametrize(
    "words, status, message",
    [
        ("--from held -M pairs.mbm", 2, "-M needs --data"),
        ("--data apart -o apart.cls pairs.mbm", 2, "--output would overwrite "),
        ("--data apart -o pairs-00 pairs.mbc", 2, "--output would overwrite "),
        ("--data apart -o - pairs.mbm", 2, "expected the name of a file for the model, found '-'"),
        ("--data apart --tree full pairs.mbm", 2, "--tree is for trees, and pairs.mbm is none"),
        ("--data apart -Q vote pairs.mbm", 2, "the decoder vote does not give the probabilities"),
        ("--data apart --map spline pairs.mbm", 2, "spline"),
    ],
)
def test_refused(run, here, words, status, message):
    run("calibrate_m", *words.split(), status=status).refused(message)


# Thresholds, sets and p values


@pytest.fixture(scope="module")
def with_points(run, made, tmp_path_factory):
    """A model with the map of points kept apart."""
    path = tmp_path_factory.mktemp("points") / "pairs.mbm"
    run(
        "calibrate_m",
        "--data",
        made / "apart",
        "--map",
        "temperature",
        made / "pairs.mbm",
        "-o",
        path,
    )
    return path


@pytest.fixture
def model(with_points, here):
    """That model, and its probabilities p (n, 3) of the test points."""
    shutil.copy(with_points, "pairs.mbm")
    configuration = load("pairs.mbm")
    return configuration, Classifier(configuration, Decoding())(points(3, 200)[0]).columns


def lines_of(text):
    return [tuple(map(int, line.split())) if line != "-" else () for line in text.splitlines()]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words", ["", "--set-score aps", "--by-class", "--by-class --priors 1,1,2"]
)
def test_sets(run, here, model, words):
    configuration, p = model
    stored = configuration.calibration.decoders["least-squares"].points
    score = "aps" if "aps" in words else "lac"
    filled = run("classify_m", "--coverage", ".9", *words.split(), "pairs.mbm", "test.vec", "out")
    assert " 0 of 200 sets empty" in filled.err and "-" not in filled.out.split()
    words = f"--allow-empty {words}"
    done = run("classify_m", "--coverage", ".9", *words.split(), "pairs.mbm", "test.vec", "out")
    for line, whole in zip(lines_of(done.out), lines_of(filled.out), strict=True):
        assert line == whole or line == () and len(whole) == 1
    found = np.array([[label in line for label in LABELS] for line in lines_of(done.out)])
    limits = quantiles(stored, LABELS, 0.1, score, "--by-class" in words)
    np.testing.assert_array_equal(found, prediction_sets(p, limits, score))
    assert Path("out.sets").read_text() == done.out
    holds = found[np.arange(200), np.searchsorted(LABELS, points(3, 200)[1])].mean()
    assert 0.84 < holds < 0.96
    assert (
        f"{found.sum() / 200:.2f} classes in a set on average, "
        f"{(found.sum(axis=1) == 0).sum()} of 200 sets empty\n" in done.err
    )
    again = run(
        "classify_m", "-j", 2, "--coverage", ".9", *words.split(), "pairs.mbm", "test.vec", "again"
    )
    assert again.out == done.out
    plain = run(
        "classify_m",
        *words.replace("--by-class", "")
        .replace("--set-score aps", "")
        .replace("--allow-empty", "")
        .split(),
        "pairs.mbm",
        "test.vec",
        "plain",
    )
    for end in (".cls", ".con"):  # the classes are answered all the same
        assert Path(f"plain{end}").read_bytes() == Path(f"out{end}").read_bytes()
    assert plain.out != done.out and not Path("plain.sets").exists()


def test_sets_are_scored(run, here, model):
    run("classify_m", "--coverage", ".9", "pairs.mbm", "test.vec", "out")
    scores = json.loads(
        run("eval_uc", "--json", "-k", 3, "--sets", "out.sets", "test.cls", "out").out
    )
    assert scores["sets"]["points"] == 200


def test_p_values_and_sets_agree(run, here, model):
    for words in ((), ("--by-class",), ("--set-score", "aps")):
        sets = lines_of(
            run(
                "classify_m",
                "--coverage",
                ".8",
                "--allow-empty",
                *words,
                "pairs.mbm",
                "test.vec",
                "out",
            ).out
        )
        done = run("classify_m", "--p-values", "--header", *words, "pairs.mbm", "test.vec", "out")
        rows = [line.split() for line in done.out.splitlines()]
        assert rows[0] == ["labels", "2", "5", "9"] and done.err == ""
        found = np.array(rows[1:], dtype=float)[:, :3] > 0.2 + 1e-9
        assert [tuple(LABELS[row].tolist()) for row in found] == sets


@pytest.mark.few(1)
@pytest.mark.parametrize("words", ["", "--confidence .5"])
def test_errors_are_bounded(run, here, model, words):
    configuration, p = model
    stored = configuration.calibration.decoders["least-squares"].points
    threshold = error_threshold(stored.p_largest, stored.right, 0.1, 0.5 if words else 0.95)[0]
    done = run("classify_m", "--max-error", ".1", *words.split(), "pairs.mbm", "test.vec", "out")
    rejected = p.max(axis=1) < threshold
    assert 0 < rejected.sum() < 150
    np.testing.assert_array_equal(
        read_cls("out.cls", negative=True), np.where(rejected, -1, LABELS[p.argmax(axis=1)])
    )
    assert done.line(f"{rejected.sum()} of 200 points rejected, below probability {threshold:g}")


@pytest.mark.parametrize(
    "words, reason",
    [
        ("--max-error .001", "at least 2995 without an error among them would be needed"),
        pytest.param(
            "--max-error .001 -j processes:2",
            "at least 2995 without an error among them would be needed",
            marks=pytest.mark.long,
        ),
    ],
)
def test_without_a_proof_every_point_is_rejected(run, here, model, words, reason, capfd):
    done = run("classify_m", *words.split(), "pairs.mbm", "test.vec", "out")
    assert (read_cls("out.cls", negative=True) == -1).all()
    assert done.err.count("every point is rejected") == 1 and reason in done.err
    assert done.err.endswith("200 of 200 points rejected\n")
    assert capfd.readouterr().err == ""  # of workers


def test_trained_models_have_points_already(run, here):
    assert (
        "classes in a set"
        in run("classify_m", "--coverage", ".9", "pairs.mbc", "test.vec", "out").err
    )


def test_all_files_or_none(run, here, model):
    os.mkdir("out.sets")
    run("classify_m", "--coverage", ".9", "pairs.mbm", "test.vec", "out", status=1)
    assert not Path("out.cls").exists() and not Path("out.con").exists()


@pytest.mark.parametrize(
    "words, status, message",
    [
        ("--coverage 1 pairs.mbm", 2, "--coverage: expected a number between 0 and 1, found 1"),
        ("--max-error 0 pairs.mbm", 2, "--max-error: expected a number between 0 and 1, found 0"),
        ("--confidence .9 pairs.mbm", 2, "--confidence needs --max-error"),
        ("--allow-empty pairs.mbm", 2, "--allow-empty needs --coverage"),
        ("--by-class pairs.mbm", 2, "--by-class needs --coverage or --p-values"),
        ("--set-score aps pairs.mbm", 2, "--set-score needs --coverage or --p-values"),
        ("--p-values --coverage .9 pairs.mbm", 2, "--coverage and --p-values exclude each other"),
        ("--max-error .1 --reject .5 pairs.mbm", 2, "--max-error and --reject exclude each other"),
        ("--max-error .1 --priors 1,1,1 pairs.mbm", 2, "cannot be combined with --priors"),
        ("--coverage .9 --priors 1,1,1 pairs.mbm", 2, "--coverage with --priors needs --by-class"),
        ("--coverage .9 --quantity pairs.mbm", 2, "--quantity and --coverage exclude each other"),
        ("--coverage .9 tree.mbm", 2, "for a tree they come with --tree full"),
        ("--coverage .9 -Q vote pairs.mbm", 2, "--coverage needs a decoder that gives"),
        ("--max-error .1 -0 pairs.mbm", 2, "not -0"),
        (
            "--coverage .9 -Q renormalised pairs.mbm",
            1,
            "--coverage needs calibration points of the decoder renormalised, and there are none: ",
        ),
        ("--max-error .1 -Q renormalised pairs.mbm", 1, "--max-error needs calibration points of"),
        ("--max-error .1 --uncalibrated pairs.mbm", 2, "combined with --uncalibrated"),
        ("--p-values -c 1 pairs.mbm", 2, "combined with -c"),
    ],
)
def test_guarantees_refused(run, here, words, status, message):
    run("classify_m", *words.split(), "test.vec", "out", status=status).refused(message)
    assert not Path("out.cls").exists()


def test_too_few_points_are_said(run, here, model):
    done = run("classify_m", "--coverage", ".999", "pairs.mbm", "test.vec", "out")
    assert (
        "a coverage of 0.999 needs 999 calibration points, there are 300: every set has all "
        "classes" in done.err
    )
    assert set(lines_of(done.out)) == {(2, 5, 9)}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words",
    [
        ("--from", "held"),  # text of six digits: the probabilities of a point sum to 1.000001
        ("--data", "apart", "-Q", "unconstrained"),
    ],
)  # estimates, which are below 0 or sum to more
@pytest.mark.parametrize("output", ["k.mbm", "pairs.mbc.cal"])
def test_what_is_written_without_a_map_can_be_used(run, here, words, output):
    y = read_cls("apart.cls")
    write_cls("held.truth", y)
    write_cls("held.cls", np.full(len(y), 2))
    Path("held.txt").write_text("labels 2 5 9\n" + "0.333334 0.333334 0.333333 2\n" * len(y))
    model = "pairs.mbc" if output.endswith(".cal") else "pairs.mbm"
    run("calibrate_m", *words, "--map", "none", model, "-o", output)
    model = model if output.endswith(".cal") else output
    run("classify_m", "--coverage", 0.9, *words[2:], model, "test.vec", "out")
    if "--from" in words:
        assert load(model).calibration.decoders["inverse"].points.cumulative.max() == pytest.approx(
            1, abs=1e-12
        )


def test_rows_are_monitored(run, here, model):
    """The state goes on from run to run, in blocks and streams of any size."""
    words = "pairs.mbm", "test.vec", "out"
    first = run("classify_m", "--monitor", "state", *words)
    assert "monitor " in first.err and "200 rows in all" in first.err
    state = Path("state").read_bytes()
    assert "400 rows in all" in run("classify_m", "--monitor", "state", *words).err
    Path("state").write_bytes(state)
    assert "400 rows in all" in run("classify_m", "-j", 2, "--monitor", "state", *words).err
    x, _ = points(3, 200)
    write_vec("moved.vec", x + np.float32(4))
    told = run("classify_m", "--monitor", "state", "pairs.mbm", "moved.vec", "out").err
    assert "moved.vec: rows are not as the calibration points were: at row " in told
    again = run("classify_m", "--monitor", "state", "pairs.mbm", "moved.vec", "out").err
    assert "rows are not" not in again  # told once
    Path("other").write_text("x")
    run("classify_m", "--monitor", "other", *words, status=1).refused("other:1: expected 'agfmc")
    run("classify_m", "--monitor", "state", "--priors", "1,1,1", *words, status=2)
    Path("test.svm").write_text("0 1:0.5 2:1 3:0\n" * 3)
    streamed = run("classify_m", "-M", "--stream", "--monitor", "state", "pairs.mbm", "test.svm")
    assert "803 rows in all" in streamed.err and len(streamed.out.splitlines()) == 4


def test_a_state_is_no_answer_and_no_point(run, here, model):
    for state in "out.cls", "test.vec", "pairs.mbm":
        told = run("classify_m", "--monitor", state, "pairs.mbm", "test.vec", "out", status=2)
        assert "--monitor" in told.err
    told = run("classify_m", "--monitor", "", "pairs.mbm", "test.vec", "out", status=2)
    assert "--monitor: expected the name of a file, found ''" in told.err
    assert not Path("out.cls").exists()


def test_rows_of_a_run_that_fails_are_not_in_the_state(run, here, model):
    """They are in it once when it is repeated."""
    write_vec("many.vec", np.zeros((30_000, 3), np.float32))
    Path("many.vec").write_bytes(Path("many.vec").read_bytes()[:-4] + np.float32(np.inf).tobytes())
    Path("few.svm").write_text("0 1:0.5 2:1 3:0\n" * 20 + "0 1:x\n")
    run("classify_m", "--monitor", "state", "pairs.mbm", "many.vec", "out", status=1)
    assert not Path("state").exists()
    run("classify_m", "-M", "--stream", "--monitor", "state", "pairs.mbm", "few.svm", status=1)
    assert json.loads(Path("state").read_text())["rows"] == 20


def test_the_page_shows_the_monitor(run, here, model):
    run("classify_m", "--monitor", "state", "pairs.mbm", "test.vec", "out")
    words = "--monitor", "state", "test.cls", "out"
    told = json.loads(run("eval_uc", "--json", *words).out)["monitor"]
    assert told["rows"] == 200 == len(told["trace"]) and told["alarm"] is None
    run("eval_uc", "--report", "page.html", *words)
    assert "Are rows as they were?" in Path("page.html").read_text()
    run("eval_uc", "--monitor", "test.cls", *words[2:], status=1).refused("test.cls:")
