"""classify_m --priors: classes met in other proportions than in training; counts in mbm_info."""

import json
import re
import shlex
import sys

import numpy as np
import pytest

from agfmc.formats.vectors import read_cls, read_con, read_vec, write_cls, write_vec

COUNTS = {2: 30, 5: 20, 9: 45}
NEW = {2: .1, 5: .7, 9: .2}
PRIORS = "0.1,0.7,0.2"


@pytest.fixture(scope="module")
def trained(run, tmp_path_factory):
    """A folder: trn and tst of classes 2, 5, 9, and models of several configurations."""
    folder = tmp_path_factory.mktemp("priors")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        generator = np.random.default_rng(5)
        y = np.repeat(list(COUNTS), list(COUNTS.values()))
        x = generator.normal(size=(len(y), 3)) + np.array(y)[:, None] * [.3, 0, .1]
        write_vec("trn.vec", x)
        write_cls("trn.cls", y)
        write_vec("tst.vec", generator.normal(size=(700, 3)) * 2 + [1.5, 0, .5])
        (folder / "out.cls").write_bytes(b"")
        for name, text in (("one", '"" 1 / 0; "" 0 / 2; "" 1 / 2; {5 2 9}'),
                           ("rest", '"" 0 / 1 2; "" 1 / 0 2; "" 2 / 0 1; {2 5 9}'),
                           ("tree", '"" {9 "" {5 2}}'),
                           ("near", '"-k 7" K {9 2 5}'), ("logistic", '"" L {2 5 9}')):
            (folder / f"{name}.plan").write_text(text)
            run("multi_borders", "--quiet", f"{name}.plan", "trn", name, f"{name}.mbc")
            run("mbh2mbm", "--quiet", f"{name}.mbc", f"{name}.mbm")
        # as if made elsewhere
        text = (folder / "logistic").read_text()
        (folder / "silent").write_text(re.sub("; samples [0-9 ]+.*", "", text))
        (folder / "silent.mbc").write_text(
            (folder / "logistic.mbc").read_text().replace("logistic", "silent"))
        run("mbh2mbm", "--quiet", "silent.mbc", "silent.mbm")
    return folder


@pytest.fixture
def here(trained, monkeypatch):
    monkeypatch.chdir(trained)
    return trained


@pytest.fixture
def classified(here, run):
    """Function: classify_m words model -> (what is printed, output.cls, output.con), bytes."""

    def call(*words, warning=None):
        _, out, err = run("classify_m", *words, "tst.vec", "out")
        assert err == "" if warning is None else warning in err
        return out, (here / "out.cls").read_bytes(), (here / "out.con").read_bytes()

    return call


@pytest.fixture
def refused(here, run):
    """Function: a command that fails; -> its one line, or those of warnings before it, too."""

    def call(status, *words, lines=1):
        _, out, err = run(*words, "tst.vec", "never", status=status)
        assert out == "" and err.count("\n") == lines and not (here / "never.cls").exists()
        return err

    return call


def numbers(answers):
    table = np.array([line.split() for line in answers[0].splitlines()], dtype=float)
    return table[:, :-1], table[:, -1].astype(int)


def adjusted(p):
    """The formula, for columns 2, 5, 9."""
    p = p * np.array(list(NEW.values())) / np.array(list(COUNTS.values()))
    return p / p.sum(axis=1)[:, None]


@pytest.mark.parametrize("words", [["one.mbc"], ["one.mbm"], ["rest.mbm"], ["near.mbm"],
                                   ["-Q", "wu-lin-weng", "one.mbc"], ["-Q", "4", "rest.mbm"],
                                   ["--tree", "full", "tree.mbm"], ["near.mbc"]])
def test_the_formula(classified, here, words):
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
    p, _ = numbers(classified("-Q", "5", "rest.mbm"))
    assert p.min() < -1e-3
    q, _ = numbers(classified("-Q", "5", "--priors", PRIORS, "rest.mbm"))
    np.testing.assert_allclose(q, adjusted(np.maximum(p, 0)), atol=2e-5)


def test_ways_to_say_the_same(classified, here):
    wanted = classified("--priors", PRIORS, "one.mbm")
    write_cls("shares.cls", [5] * 7 + [9] * 2 + [2])
    assert classified("--priors", "9=0.2,2=0.1,5=0.7", "one.mbm") == wanted
    assert classified("--priors", "shares.cls", "one.mbm") == wanted
    assert classified("--priors", "1,7,2", "one.mbm", warning="sum to 10")[1:] == wanted[1:]
    assert classified("--priors", PRIORS, "--trained-priors", "trn.cls", "one.mbm") == wanted
    other = classified("--priors", PRIORS, "--trained-priors", "0.5,0.25,0.25", "one.mbm")
    assert other != wanted


@pytest.mark.parametrize("model", ["one.mbm", "near.mbm"])
def test_neither_threads_nor_neighbours_matter(run, classified, here, model):
    words = "--priors", PRIORS, model
    wanted = classified(*words)
    assert classified("-j", "3", *words) == wanted
    points = read_vec("tst.vec")
    for row in (0, 5, 699):
        write_vec("single.vec", points[row:row + 1])
        run("classify_m", *words, "single.vec", "alone")
        assert (here / "alone.con").read_bytes() == wanted[2][4 * row:4 * row + 4]
        assert (here / "alone.cls").read_bytes() == wanted[1][4 * row:4 * row + 4]


def test_a_class_that_is_never_met(classified, here):
    q, answers = numbers(classified("--priors", "0.5,0,0.5", "one.mbm"))
    assert 5 not in answers and not q[:, 1].any()
    write_cls("two.cls", [2, 9])
    assert numbers(classified("--priors", "two.cls", "one.mbm",
                              warning="two.cls holds no sample of class 5"))[1].tolist() == \
        answers.tolist()


def test_rejection_goes_by_the_new_probabilities(classified):
    q, answers = numbers(classified("--priors", PRIORS, "one.mbm"))
    _, some = numbers(classified("--priors", PRIORS, "--reject", "0.6", "one.mbm",
                                 warning="rejected"))
    clear = np.abs(q.max(axis=1) - .6) > 1e-5
    np.testing.assert_array_equal(some[clear], np.where(q.max(axis=1) < .6, -1, answers)[clear])
    assert 50 < (some == -1).sum() < 650


def test_models_that_do_not_tell(classified, refused, here):
    for i in range(3):
        text = (here / f"one-{i:02d}").read_text()
        assert "; seed 1; samples " in text
        (here / f"old-{i:02d}").write_text(text[:text.index("# agfmc")])
    (here / "old.mbc").write_text((here / "one.mbc").read_text().replace("one-", "old-"))
    text = refused(2, "classify_m", "--priors", PRIORS, "old.mbc")
    assert "--trained-priors" in text and "do not tell" in text
    assert "--trained-priors" in refused(2, "classify_m", "--priors", PRIORS, "silent.mbm")
    assert classified("--priors", PRIORS, "--trained-priors", "2=30,5=20,9=45", "old.mbc",
                      warning="sum to 95") == classified("--priors", PRIORS, "one.mbc")
    q, _ = numbers(classified("--priors", PRIORS, "--trained-priors", "trn.cls", "silent.mbm"))
    np.testing.assert_allclose(q, adjusted(numbers(classified("silent.mbm"))[0]), atol=2e-5)
    assert classified("--priors", PRIORS, "logistic.mbm") == classified(
        "--priors", PRIORS, "--trained-priors", "trn.cls", "silent.mbm")
    # with one of them that tells, not all classes are known; with two they are
    (here / "old-00").write_text((here / "one-00").read_text())
    refused(2, "classify_m", "--priors", PRIORS, "old.mbc")
    (here / "old-01").write_text((here / "one-01").read_text())
    assert classified("--priors", PRIORS, "old.mbc") == \
        classified("--priors", PRIORS, "one.mbc")
    # models of different samples are of no use together
    text = (here / "one-02").read_text()
    text = text[:text.index("; made from")] + "\n"  # without its checksum
    (here / "old-02").write_text(text.replace("; samples 30 45", "; samples 31 45"))
    assert "different samples" in refused(2, "classify_m", "--priors", PRIORS, "old.mbc", lines=2)


@pytest.mark.parametrize("words, says", [
    (["-Q", "vote", "one.mbm"], "not vote"), (["-Q", "2", "one.mbm"], "not vote-values"),
    (["-Q", "-1", "one.mbm"], "not binary"), (["-0", "one.mbm"], "not -0"),
    (["-Q", "ddag", "one.mbm"], "not ddag"), (["-Q", "poll", "one.mbm"], "not poll"),
    (["-Q", "loss:hinge", "rest.mbm"], "not loss:hinge"),
    (["-Q", "argmax-raw", "rest.mbm"], "not argmax-raw"),
    (["tree.mbm"], "--tree full"), (["--tree", "path", "tree.mbm"], "--tree full")])
def test_decoders_without_all_probabilities(refused, words, says):
    assert says in refused(2, "classify_m", "--priors", PRIORS, *words)


@pytest.mark.parametrize("priors, status, says", [
    ("0.5,0.5", 2, "expected 3 numbers"), ("0,0,0", 2, "nor all 0"), ("-1,1,1", 2, "not negative"),
    ("0.5", 2, "expected 3 numbers"), ("2=0.5,5=0.5", 2, "found none for 9"),
    ("2=0.5,5=0.2,7=0.3,9=0", 2, "class 7 is not one of the classes 2 5 9"),
    ("2=0.5,2=0.5", 2, "class 2 is named twice"), ("2=0.5,0.5", 2, "expected label=p"),
    ("birch=1", 2, "expected label=p"), ("2=x", 2, "expected a number"), ("1,,2", 2, "p,p,..."),
    ("nan,1,1", 2, "expected a number"), ("shares", 2, ".cls file"), ("none.cls", 1, "none.cls"),
    ("1e308,1e308,1e308", 2, "nor all 0"),
    ("strange.cls", 1, "strange.cls: holds class 3, which is not one of the classes 2 5 9")])
def test_bad_proportions(refused, here, priors, status, says):
    write_cls("strange.cls", [2, 3])
    assert says in refused(status, "classify_m", "--priors", priors, "one.mbm")


def test_bad_proportions_in_training(refused):
    assert "goes with --priors" in refused(2, "classify_m", "--trained-priors", PRIORS, "one.mbm")
    assert "--trained-priors: class 5 was trained on" in refused(
        2, "classify_m", "--priors", PRIORS, "--trained-priors", "0.5,0,0.5", "one.mbm")


def test_other_programs(here, refused, run):
    """A program that gives the left side one probability for all points."""
    (here / "program.py").write_text(
        "import sys\npoints, model, output = sys.argv[1:]\n"
        "p = {'one-00': 0.5, 'one-01': 0.75, 'one-02': 0.75}[model]\n"
        "with open(output, 'w') as file:\n"
        "    file.write('labels 0 1\\n')\n"
        "    for _ in open(points):\n"
        "        file.write(f'0 {p} {1 - p}\\n')\n")
    words = "classify_m", "--priors", PRIORS, "-O", shlex.join([sys.executable, "program.py"])
    write_vec("few.vec", read_vec("tst.vec")[:3])
    assert "--trained-priors" in refused(2, *words, "one.mbc")
    run(*words, "--trained-priors", "trn.cls", "one.mbc", "few.vec", "few.txt")
    lines = (here / "few.txt").read_text().splitlines()
    assert lines[0] == "labels 2 5 9" and len(lines) == 4
    # p = 3/7, 3/7, 1/7 of the three
    wanted = adjusted(np.array([[3 / 7, 3 / 7, 1 / 7]]))[0]
    for line in lines[1:]:
        np.testing.assert_allclose([float(word) for word in line.split()[1:]], wanted, atol=1e-5)
    assert "--tree full" in refused(2, *words, "--trained-priors", "trn.cls", "tree.mbc")


@pytest.mark.parametrize("model", ["one", "rest", "tree", "near", "logistic"])
def test_mbm_info_shows_the_numbers_of_samples(here, run, model):
    page = run("mbm_info", f"{model}.mbm").out
    assert "samples           95 in training, of the classes 30 20 45\n" in page
    assert model in ("near", "logistic") or (page.count("; seed 1") == 1 and "; samples" not in page)
    info = json.loads(run("mbm_info", "--json", f"{model}.mbm").out)
    assert [c["label"] for c in info["classes"]] == list(COUNTS)
    assert info["samples"] == list(COUNTS.values())
    for binary in info["binary_models"]:
        assert binary["samples"] == [sum(COUNTS[label] for label in binary[side])
                                     for side in ("left", "right")]


def test_mbm_info_of_models_that_do_not_tell(here, run):
    assert "samples" not in run("mbm_info", "silent.mbm").out
    assert json.loads(run("mbm_info", "--json", "silent.mbm").out)["samples"] is None


def test_the_ordered_sample_in_other_proportions(root, tmp_path, monkeypatch, run):
    """Every other class is ten times rarer: knowing that is worth a sixth of all answers."""
    monkeypatch.chdir(tmp_path)
    x, y = read_vec(root / "sample_data" / "ordered.vec"), read_cls(
        root / "sample_data" / "ordered.cls")
    generator = np.random.default_rng(1)
    order = generator.permutation(len(y))
    train, test = order[:600], order[600:]
    share = np.where(y[test] % 2 == 0, 1, .1)
    test = generator.choice(test, 1000, p=share / share.sum())
    for name, rows in (("trn", train), ("tst", test)):
        write_vec(f"{name}.vec", x[rows])
        write_cls(f"{name}.cls", y[rows])
    (tmp_path / "plan").write_text(run("print_control", "8").out)
    run("multi_borders", "--quiet", "-j", "2", "-+", "-t 0", "plan", "trn", "m", "m.mbc")
    scores = []
    for words in ([], ["--priors", "1,.1,1,.1,1,.1,1,.1", "--quiet"]):
        (tmp_path / "p.txt").write_text(run("classify_m", *words, "m.mbc", "tst.vec", "out").out)
        scores.append(json.loads(run("eval_uc", "--json", "tst.cls", "out", "p.txt").out))
    before, after = scores
    assert after["accuracy"] > before["accuracy"] + .1
    assert after["log_loss"] < .75 * before["log_loss"]
    assert after["brier_all"] < .85 * before["brier_all"]
