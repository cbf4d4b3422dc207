"""Options and decoder in the head of control files and in models, from command to command."""

import re
from pathlib import Path

import numpy as np
import pytest

from data_files import write_cls, write_vec

REST = '"" 1 2 / 0; "" 0 2 / 1; "" 0 1 / 2; {2 5 9}'
PAIRS = '"" 0 / 1; "" 0 / 2; "" 1 / 2; {2 5 9}'
TREE = '"" {2 "" {5 9}}'


@pytest.fixture
def data(folder):
    """Files train and test: 4 features, labels 2, 5, 9; control files in which %s is the head."""
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(3, 4)) * 1.5
    for name, n in (("train", 90), ("test", 30)):
        y = np.arange(n) % 3
        write_vec(f"{name}.vec", (centres[y] + rng.normal(size=(n, 4))).astype(np.float32))
        write_cls(f"{name}.cls", np.array([2, 5, 9], np.int32)[y])
    return folder


@pytest.fixture
def trained(run, data):
    """Function that trains control text and merges the models to m.mbm."""

    def trained(text, *options):
        Path("plan").write_text(text)
        done = run("multi_borders", *options, "plan", "train", "m", "m.mbc")
        run("mbh2mbm", "m.mbc", "m.mbm")
        return done

    return trained


@pytest.mark.long
def test_options_of_the_head_are_as_those_of_the_command_line(run, trained):
    def written():
        return {path.name: path.read_bytes() for path in Path().glob("m*")}

    trained(PAIRS, "-+", "-c 3 -g 0.1")
    expected = written()
    done = trained(f"# options: -c 3 -g 0.1\n{PAIRS}")
    assert written() == expected and "kept from an earlier run: 3 of 3" in done.err
    trained(f"# options: -c 7\n{PAIRS}", "-+", "-c 3 -g 0.1")
    assert written() == expected
    commands = run("multi_borders", "-0", "plan", "train", "m", "m.mbc").out
    assert commands.count("--options=-c 7'") == 3 and "--seed" in commands
    Path("plan").write_text("# options: -z 7\n" + PAIRS)
    run("multi_borders", "plan", "train", "m", "m.mbc", status=1).refused(
        "plan:1:3: unknown training option '-z'"
    )


def test_the_control_of_a_model_trains_it_again(run, trained):
    trained('# decoder: full\n"" {2 "learner=logistic" {5 9}}', "-n")
    merged = Path("m.mbm").read_bytes()
    for model in ("m.mbc", "m.mbm"):
        control = run("mbm_info", "--print-control", model).out
        assert (
            control.startswith('# decoder: full\n"-s 0 -t 2 -g 0 -c 1.0 ')
            and '"learner=logistic -c 1.0 ' in control
        )
        assert "2 of 2" in trained(control, "-n").err  # kept from the earlier run
        assert Path("m.mbm").read_bytes() == merged


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "text, decoder, same",
    [
        (REST, "inverse", ["-Q", "inverse"]),
        (REST, "learned", ["-Q", "learned"]),
        (REST, "argmax-raw", ["-Q", "argmax-raw"]),
        (PAIRS, "ddag", ["-Q", "ddag"]),
        (TREE, "full", ["--tree", "full"]),
        (TREE, "recursive", []),
    ],
)
def test_models_keep_their_decoder(run, trained, text, decoder, same):
    trained(f"# decoder: {decoder}\n{text}")
    assert Path("m.mbc").read_text().startswith(f"# decoder: {decoder}\n")
    head = run("mbm_info", "--print-control", "m.mbm").out
    assert head.startswith(f"# decoder: {decoder}\n")
    assert re.search(f"^decoder           {decoder}, unless", run("mbm_info", "m.mbm").out, re.M)
    answers = []
    for model in ("m.mbc", "m.mbm"):
        for words in ([], same):
            done = run("classify_m", *words, "--header", model, "test.vec", "out")
            answers.append((done.out, Path("out.cls").read_bytes(), Path("out.con").read_bytes()))
    assert answers == 4 * answers[:1]
    other = run("classify_m", "-Q", "least-squares", "m.mbm", "test.vec", "out").out
    assert (other == answers[0][0]) == (decoder == "recursive")


def test_a_tree_as_a_code(run, trained):
    trained(f"# decoder: least-squares\n{TREE}")
    answers = run("classify_m", "--header", "m.mbm", "test.vec", "out").out
    Path("code.mbc").write_text(run("print_control", "-Q", "convert", "m.mbc").out)
    assert Path("code.mbc").read_text().startswith("# decoder: least-squares\n")
    assert (
        run("classify_m", "--header", "--uncalibrated", "code.mbc", "test.vec", "out").out
        == run("classify_m", "--header", "--uncalibrated", "m.mbm", "test.vec", "out").out
    )
    assert answers.startswith("labels 2 5 9\n")


def test_a_decoder_is_calibrated_and_its_points_are_kept(run, trained):
    done = trained(f"# decoder: wu-lin-weng\n{PAIRS}")
    assert re.search(r"log loss .* \(wu-lin-weng, [a-z]+\)$", done.err.strip())
    run("classify_m", "--coverage", "0.9", "m.mbm", "test.vec", "out")
    done = trained(f"# decoder: learned\n{REST}")  # for which there are too few points, unasked
    assert re.search(r"log loss .* on these \(learned, temperature\)$", done.err.strip())
    assert "learned: temperature" in run("mbm_info", "m.mbm").out
    for model in ("m.mbm", "m.mbc"):
        assert (
            run("classify_m", "--uncalibrated", model, "test.vec", "out").out
            == run("classify_m", "--uncalibrated", "-Q", "learned", model, "test.vec", "out").out
        )


@pytest.mark.parametrize(
    "head, text, message",
    [
        ("# decoder: strange", PAIRS, ":1:3: '# decoder: strange': no decoder 'strange'"),
        ("\n# decoder: full", PAIRS, ":2:3: '# decoder: full': the decoder full is for trees"),
        ("# decoder: argmax", PAIRS, "the decoder argmax needs a one-vs-rest configuration"),
        ("# decoder: ddag", TREE, "the decoder ddag needs a one-vs-one configuration"),
        ("# decoder: binary", PAIRS, "binary gives no classes"),
        ("# decoder: inverse", '"" {2 "" L {5 9}}', "is no coding matrix"),
    ],
)
def test_a_decoder_that_does_not_fit_is_refused_before_any_work(run, data, head, text, message):
    Path("plan").write_text(f"{head}\n{text}")
    commands = [
        ("multi_borders", "plan", "train", "m", "m.mbc"),
        ("nfold", "plan", "train"),
        ("tune_m", "plan", "train"),
        ("compare_control", "train", "plan"),
    ]
    for words in commands:
        done = run(*words, status=None)
        assert done.status in (1, 2)
        done.refused(message, "plan:")
    assert not list(Path().glob("m*"))


@pytest.mark.long
def test_models_whose_decoder_is_not_known_take_another(run, trained):
    """As one of a later version may be."""
    trained(PAIRS)
    plain = Path("m.mbm").read_bytes()
    Path("m.mbc").write_text("# decoder: later\n" + Path("m.mbc").read_text())
    run("mbh2mbm", "m.mbc", "m.mbm")
    assert Path("m.mbm").read_bytes() != plain
    assert "decoder           later" in run("mbm_info", "m.mbm").out
    for model in ("m.mbc", "m.mbm"):
        run("classify_m", model, "test.vec", "out", status=1).refused(
            f"{model}:1:3: '# decoder: later': no decoder 'later'"
        )
        run("classify_m", "-Q", "inverse", model, "test.vec", "out")
        run("calibrate_m", "-Q", "inverse", "--data", "test", model)


@pytest.mark.long
def test_the_head_of_a_control_file_is_heeded_up_to_a_tuned_model(run, data):
    head = "# options: -c 3 -g 0.1 -e 0.01\n# decoder: wu-lin-weng\n"
    Path("best.mbt").write_text(head + PAIRS)
    Path("bare.mbt").write_text(PAIRS)
    head, bare = (
        run("nfold", "-b", *words, "train").out.splitlines()
        for words in (["best.mbt"], ["-+", "-c 3 -g 0.1 -e 0.01", "-Q", "wu-lin-weng", "bare.mbt"])
    )
    assert head[0].startswith("best.mbt, wu-lin-weng: ") and head[2:-2] == bare[2:-2]
    table = run("compare_control", "--trials", "2", "train", "best.mbt").out.splitlines()
    assert [line.split()[1] for line in table[4:6]] == ["(wu-lin-weng)", "(inverse)"]
    search = ("--space", "C=1:3:2 gamma=-3", "--refine", "0")
    tuned = run("tune_m", *search, "best.mbt", "train")
    assert " of best.mbt (decoder wu-lin-weng) were tried" in tuned.err
    assert re.search("^-g 0.1 -c 3 -e 0.01 .*given$", tuned.err, re.M)
    assert re.match('# decoder: wu-lin-weng\n"-g .* -c .* -e 0.01" 0 / 1;\n', tuned.out)
    Path("tuned.mbt").write_text(tuned.out)
    run("tune_m", *search, "tuned.mbt", "train", status=2).refused("nothing to tune", "--again")
    again = run("tune_m", "--again", *search, "tuned.mbt", "train")
    assert again.out == tuned.out
    found = tuned.out.split('"')[1]
    assert re.search(f"^{found} .*given$", again.err, re.M)
    run("multi_borders", "tuned.mbt", "train", "m", "m.mbc")
    run("mbh2mbm", "m.mbc", "m.mbm")
    assert (
        run("classify_m", "--header", "m.mbm", "test.vec", "out").out
        == run("classify_m", "--header", "-Q", "wu-lin-weng", "m.mbm", "test.vec", "out").out
    )


@pytest.mark.long
def test_again_tunes_the_rows_of_one_learner(run, data):
    rest = '"-c 4" 0 1 / 2; "-c 4" 0 / 1; "learner=logistic -c 9" 0 2 / 1; {2 5 9}'
    small = ("--again", "--space", "C=1 gamma=-3", "--refine", "0", "plan", "train")
    Path("plan").write_text('"-c 3" 0 / 2; ' + rest)
    done = run("tune_m", *small)
    rows = [line.split('"')[1] for line in done.out.splitlines()[:4]]
    assert rows == [*3 * rows[:1], "learner=logistic -c 9"]
    assert re.search("^-c 4 .*given$", done.err, re.M)
    done = run("tune_m", *small[:2], "--refine", "0", "-+", "learner=logistic", "plan", "train")
    assert [line.split('"')[1] for line in done.out.splitlines()[:3]] == ["-c 3", "-c 4", "-c 4"]
    Path("plan").write_text('"learner=logistic -c 9" 0 / 2; "" 1 / 2; ' + rest)
    rows = [line.split('"')[1] for line in run("tune_m", *small).out.splitlines()[:5]]
    assert rows == ["learner=logistic -c 9", *3 * rows[1:2], "learner=logistic -c 9"]
    Path("plan").write_text('"-c 3 -w1 2" 0 / 2; ' + rest)
    run("tune_m", *small, status=2).refused(
        "differ in options that are not searched, '' and '-w1 2': -+ gives those of all"
    )
    run("tune_m", "--again", "one-vs-one", "train", status=2).refused(
        "--again is for a control file: one-vs-one is a scheme"
    )
    Path("plan").write_text('"-z 3" 0 / 1; "" 0 / 2; "-c 4" 1 / 2; {2 5 9}')
    run("tune_m", "--again", "plan", "train", status=1).refused("plan:1:1: unknown training option")


@pytest.mark.parametrize(
    "head, message",
    [
        ("# options: -c", ":1:3: option -c: expected a value"),
        ("# options: learner=foo", ":1:3: there is no learner 'foo'"),
        ("# decoder: vote", ":1:3: the decoder vote gives no log loss: choose another decoder"),
    ],
)
def test_a_bad_head_is_a_bad_control_file(run, tmp_path, monkeypatch, head, message):
    monkeypatch.chdir(tmp_path)
    Path("plan").write_text(f"{head}\n{PAIRS}")
    Path("train.vec").write_bytes(b"")
    run("tune_m", "plan", "train", status=1).refused(f"plan{message}")
    if "options" in head:
        run("nfold", "plan", "train", status=1).refused(f"plan{message}")
        run("compare_control", "train", "plan", status=1).refused(f"plan{message}")
