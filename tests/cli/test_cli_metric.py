"""Learned metrics: the file beside the normalisation, what is said of them, and their picture."""

import json
import os
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from agfmc.cli.data_options import report_metric
from agfmc.cli.messages import CommandLog, logged
from agfmc.data.convert import write_together
from agfmc.data.types import Dataset
from agfmc.training.metric import learned_rows
from agfmc.core.errors import DataError
from agfmc.data.metric_file import read_metric
from agfmc.data.libagf import read_cls, read_std, read_vec
from agfmc.data.types import InputFormat
from agfmc.data.normalisation import LearnedMetric, Normalisation
from data_files import write_cls, write_vec

LEARN = ("-n", "--learn-metric=1", "--metric-options", "-m 30")
SVM = ("-+", "-c 1 -g 0.5")


@pytest.fixture
def data(folder):
    """Points, train and part, whose classes depend on the first of four features."""
    generator = np.random.default_rng(3)
    x = np.column_stack([generator.normal(size=(120, 3)), np.ones(120)]).astype(np.float32)
    y = (np.sin(2 * x[:, 0]) > 0).astype(int) + (x[:, 0] > 0.8)
    for name, rows in (("train", 120), ("part", 90)):
        write_vec(f"{name}.vec", x[:rows])
        write_cls(f"{name}.cls", y[:rows])
    Path("names").write_text("a\nb\nc\nd\n")


def test_preprocessing_writes_it(data, run):
    told = run("agf_preprocess", *LEARN, "train", "out").err.splitlines()[-1]
    assert told == "agf_preprocess: metric: 1 round; weights of features in out.metric"
    digest, metric = read_metric("out.metric")
    assert digest == read_std("out.std").digest()
    assert (metric.rounds, metric.points, metric.classes, metric.losses) == (1, 120, 3, ())
    assert metric.weights.argmax() == 0 and metric.weights[3] == 0
    run("agf_preprocess", "-n", "train", "out")
    assert not Path("out.metric").exists()
    run("agf_preprocess", *LEARN, "-a", "n.std", "train", "out")
    assert Path("n.metric").exists() and not Path("out.metric").exists()


def test_rounds_that_were_chosen_are_told(data, run):
    told = run(
        "agf_preprocess", "-n", "--learn-metric", "--metric-options", "-m 20", "train", "out"
    ).err.splitlines()[-1]
    metric = read_std("out.std").metric
    losses = [f"{loss:.4g}" for loss, _ in metric.losses]
    assert len(losses) == 4 and metric.rounds > 0
    assert told == (
        f"agf_preprocess: metric: {metric.rounds} round{'s' * (metric.rounds > 1)}"
        f"{', the most that auto tries' * (metric.rounds == 3)}, "
        f"with which the log loss of pairs of classes falls from {losses[0]} to "
        f"{losses[metric.rounds]} for held-out points; weights of features in "
        "out.metric"
    )
    y = np.random.default_rng(1).integers(0, 2, 120)
    write_cls("train.cls", y)
    told = run(
        "agf_preprocess", "-n", "--learn-metric", "--metric-options", "-m 20", "train", "out"
    ).err.splitlines()[-1]
    assert "metric: 0 rounds, as with more the log loss of pairs of classes for held-out" in told
    assert read_std("out.std").metric.rounds == 0


def test_all_commands_that_write_a_normalisation_write_it(data, run):
    one_vs_one = run("print_control", "train").out
    run("print_control", "-Q", "empirical", *LEARN, "-a", "p.std", "train")
    Path("c.mbc").write_text(run("print_control", "-Q", "adjacent", 3).out)
    run("order_classes", "--path", *LEARN, "-a", "o.std", "c.mbc", "train")
    told = run("multi_borders", *SVM, *LEARN, "-", "train", "m", "m.mbc", stdin=one_vs_one).err
    assert "multi_borders: metric: 1 round; weights of features in m.metric\n" in told
    same = {Path(f"{name}.metric").read_bytes() for name in "pom"}
    assert len(same) == 1
    run(
        "multi_borders",
        *SVM,
        *LEARN,
        "-a",
        os.devnull,
        "-",
        "train",
        "k",
        "k.mbc",
        stdin=one_vs_one,
    )
    assert not Path("k.metric").exists()


def test_the_file_of_another_program_is_refused_before_the_work(data, run):
    for name in ("m", "n"):
        Path(f"{name}.metric").write_text("metres\n")
    Path("dd.metric").mkdir()
    Path("c.mbc").write_text(run("print_control", "-Q", "adjacent", 3).out)
    design = run("print_control", 3).out
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agfmc.training.metric.learn_metric", None)
        for words in (
            ("agf_preprocess", *LEARN, "-a", "n.std", "train", "out"),
            ("agf_preprocess", *LEARN, "-a", "dd.std", "train", "out"),
            ("print_control", "-Q", "empirical", *LEARN, "-a", "n.std", "train"),
            ("order_classes", "--path", *LEARN, "-a", "dd.std", "c.mbc", "train"),
            ("multi_borders", *SVM, *LEARN, "-", "train", "m", "m.mbc"),
        ):
            run(*words, stdin=design, status=1).refused("is no record of a learned metric")
    assert not Path("m.std").exists() and not Path("out.vec").exists()
    run(
        "multi_borders", *SVM, *LEARN, "-", "train", "k", "k.metric", stdin=design, status=2
    ).err.index("control-out would overwrite the record of the metric: ")


def test_the_record_takes_the_place_of_nothing(data, run):
    lines = "".join(f"{i % 2} 1:{i} 2:{i * i % 7}\n" for i in range(40))
    for name in ("x.svm", "y.metric"):
        Path(name).write_text(lines)
    learn = ("agf_preprocess", "-M", *LEARN)
    for words in (
        ("-a", "n.std", "x.svm", "n.metric"),
        ("-a", "n.std", "-f", ".3", "x.svm", "a", "n.metric"),
        ("-a", "n.std", "x.svm", "./n.metric"),
    ):
        run(*learn, *words, status=2).refused("n.metric; choose another name")
    run(*learn, "-a", "y.std", "y.metric", "a", status=2).refused("both are the file y.metric;")
    run(
        "print_control", "-Q", "empirical", "-M", *LEARN, "-a", "y.std", "y.metric", status=2
    ).refused("both are the file y.metric;")
    assert sorted(os.listdir()) == [
        "names",
        "part.cls",
        "part.vec",
        "train.cls",
        "train.vec",
        "x.svm",
        "y.metric",
    ]
    assert Path("y.metric").read_text() == lines
    points = Dataset(np.ones((2, 1)), None)
    with pytest.raises(DataError, match="n.metric: two outputs would go to this file"):
        write_together({"n.metric": points}, {"n.metric": b"x"}, InputFormat("lvq", labels=False))
    assert not Path("n.metric").exists()


@pytest.mark.long
def test_models_trained_with_it_tell_of_it(data, run):
    run("agf_preprocess", *LEARN, "-a", "n.std", "train", "out")
    design = run("print_control", 3).out
    told = run("multi_borders", *SVM, "-a", "n.std", "-", "train", "m", "m.mbc", stdin=design).err
    assert "warning" not in told
    run("mbh2mbm", "-a", "n.std", "m.mbc", "m.mbm")
    data_digest = read_std("n.std").metric.data
    assert (
        f"metric            learned in 1 round from 120 points of 3 classes, data "
        f"{data_digest}\n" in run("mbm_info", "m.mbm").out
    )
    info = json.loads(run("mbm_info", "--json", "m.mbm").out)
    assert info["metric"] == {"rounds": 1, "points": 120, "classes": 3, "data": data_digest}

    run("agf_preprocess", "-n", "-a", "plain.std", "train", "out")
    run("mbh2mbm", "-a", "plain.std", "m.mbc", "m.mbm", status=1).refused(
        f"another normalisation than the one given (theirs: metric 1 rounds of 120 points, 3 "
        f"classes, data {data_digest}; the one given: no learned metric that is known of)"
    )
    run("multi_borders", *SVM, "-a", "plain.std", "-", "train", "k", "k.mbc", stdin=design)
    run("classify_m", "-a", "n.std", "k.mbc", "train.vec", "out", status=1).refused(
        "(theirs: no learned metric that is known of; the one given: metric 1 rounds of 120"
    )
    assert json.loads(run("mbm_info", "--json", "k.mbc").out)["metric"] is None
    assert "\nmetric" not in run("mbm_info", "k.mbc").out


@pytest.mark.long
def test_a_note_where_the_points_are_others(data, run):
    run("agf_preprocess", *LEARN, "-a", "n.std", "train", "out")
    design = run("print_control", 3).out
    told = run("multi_borders", *SVM, "-a", "n.std", "-", "part", "m", "m.mbc", stdin=design).err
    assert told.count("warning") == 1
    assert (
        "n.std: its metric was learned from other points than these, from 120 of 3 classes; "
        "-n --learn-metric learns one from these\n" in told
    )
    os.rename("n.metric", "kept")
    told = run("multi_borders", *SVM, "-a", "n.std", "-", "part", "m", "m.mbc", stdin=design).err
    assert "warning" not in told
    # a plain normalisation takes the record of the one it replaces with it
    os.rename("kept", "n.metric")
    record = Path("n.metric").read_bytes()
    run("agf_preprocess", "-n", "-a", "n.std", "train", "out")
    assert not Path("n.metric").exists()
    Path("n.metric").write_bytes(record)
    told = run("multi_borders", *SVM, "-a", "n.std", "-", "part", "m", "m.mbc", stdin=design).err
    assert told.count("warning") == 1 and "n.std is not the map that n.metric describes" in told


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        ("nfold", "--trials", 1, "one-vs-one"),
        ("tune_m", "--log2c=0:0", "--log2g=-1:-1", "-d", 2, "one-vs-one"),
        ("print_control", "--best", "-f", ".3", "--trials", 1, "-Q", "one-vs-rest"),
    ],
)
def test_a_note_where_held_out_points_were_learned_from(data, run, command):
    run("agf_preprocess", *LEARN, "-a", "n.std", "train", "out")
    command = *command, "--no-state", "-a", "n.std"
    assert (
        "n.std: its metric was learned from these points, held-out ones among them: the "
        "scores are too good; -n --learn-metric in its place" in run(*command, "train").err
    )
    assert (
        "n.std: its metric was learned from 120 points: where held-out ones are among them, "
        "the scores are too good; -n --learn-metric" in run(*command, "part").err
    )


def test_no_note_where_nothing_was_learned(data, run):
    run("agf_preprocess", "-n", "--learn-metric=0", "-a", "n.std", "train", "out")
    told = run(
        "compare_control", "--no-state", "--trials", 1, "-a", "n.std", "train", "one-vs-one"
    ).err
    assert "its metric" not in told


def test_a_normalisation_is_described(data, run):
    run("agf_preprocess", "-n", "--learn-metric", "--metric-options", "-m 20", "train", "out")
    metric = read_std("out.std").metric
    lines = run("mbm_info", "--feature-names", "names", "out.std").out.splitlines()
    assert lines[:5] == [
        "features          4, 1 left out: d",
        "normalised        to 3, which are mixtures of features",
        f"digest            {read_std('out.std').digest()}",
        f"metric            learned in {metric.rounds} round{'s' * (metric.rounds > 1)} from 120 "
        f"points of 3 classes, data {metric.data}",
        "settings          -m 20 -g auto -l auto seed 1",
    ]
    assert [line.split()[0] for line in lines[7:11]] == ["0", "1", "2", "3"]
    assert f"     0  {metric.losses[0][0]:13.4g}  {metric.losses[0][1]:.4g}" == lines[7]
    assert lines[13] == f"{metric.weights[0]:7.4f}  0 a" and lines[-1] == " 0.0000  3 d"
    info = json.loads(run("mbm_info", "--json", "--feature-names", "names", "out.std").out)
    assert info["left_out"] == [3] and info["mixed"] and info["features_after"] == 3
    assert info["metric"]["weights"][0] == {"feature": 0, "name": "a", "weight": metric.weights[0]}
    assert info["metric"]["losses"][1] == {
        "rounds": 1,
        "loss": metric.losses[1][0],
        "error_of_difference": metric.losses[1][1],
    }

    run("agf_preprocess", "-n", "train", "out")
    text = run("mbm_info", "out.std").out
    assert "normalised        to 3, each feature by itself\n" in text
    assert text.endswith(
        "metric            none that is known of: there is no out.metric beside it\n"
    )
    assert json.loads(run("mbm_info", "--json", "out.std").out)["metric"] is None


def test_a_picture_of_weights(data, run):
    run("agf_preprocess", *LEARN, "train", "out")
    run("mbm_info", "--report", "w.svg", "--feature-names", "names", "out.std")
    assert "Learned from 120 points of 3 classes" in Path("w.svg").read_text()
    run("agf_preprocess", "-n", "train", "out")
    run("mbm_info", "--report", "x.svg", "out.std", status=1).refused("there are no weights to be")
    assert not Path("x.svg").exists()


def test_a_normalisation_of_any_name_is_described(data, run):
    run("agf_preprocess", *LEARN, "-a", "x", "train", "out")
    assert "metric            learned in 1 round from 120" in run("mbm_info", "x").out
    Path("x.metric").write_text("")
    assert "\nmetric            none that is known of\n" in run("mbm_info", "x").out
    for other, message in (
        ("train.vec", "found points (.vec)"),
        ("train.cls", "found binary data"),
        ("names", "expected"),
        ("nothing", "cannot read"),
    ):
        run("mbm_info", other, status=1).refused(f"mbm_info: {other}", message)


def test_picture_of_a_model(data, run):
    Path("tree").write_text('"" {0 "" {1 2}}')
    run("multi_borders", "tree", "train", "m", "m.mbc")
    run("mbm_info", "--report", "tree.svg", "m.mbc")
    assert "100 %: 0 / 1, 2" in Path("tree.svg").read_text()
    run("mbm_info", "--report", "m.gif", "m.mbc", status=2).refused("--report m.gif: expected")


def test_options_that_do_not_go_together(data, run):
    run("agf_preprocess", *LEARN, "train", "out")
    for words, message in (
        (("--control", "out.std"), "--control is for models: out.std is a normalisation"),
        (("-y", ".", "out.std"), "-y is for models"),
        (("--uncalibrated", "out.std"), "--uncalibrated is for models"),
        (("out.metric",), "out.metric is the record beside a normalisation: give out.std"),
        (("--feature-names", "names", "m.mbm"), "--feature-names is for a normalisation"),
    ):
        run("mbm_info", *words, status=2).refused(message)
    Path("few").write_text("a\n")
    run("mbm_info", "--feature-names", "few", "out.std", status=1).refused(
        "few: holds 1 line: expected the names of 4 features, one on each line"
    )


def test_rounds_are_a_number_or_auto(data, run):
    digest = []
    for words in (["--learn-metric"], ["--learn-metric", "auto"], ["--learn-metric=auto"]):
        run("agf_preprocess", "-n", *words, "--metric-options", "-m 20", "train", "out")
        digest.append(read_std("out.std").digest())
    assert len(set(digest)) == 1 and read_std("out.std").metric.losses
    for wrong in "x", "1.5", "-1", "21", "":
        run("nfold", "-n", f"--learn-metric={wrong}", "one-vs-one", "train", status=2).refused(
            "--learn-metric: expected auto, or a value: "
        )


MAPPED = (
    "{0}: these points went through a metric that was learned from their classes "
    "({0}.metric): the scores are too good; give the data as they were, with -n --learn-metric"
)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "command",
    [
        ("nfold", "-d", 2, "one-vs-one", "{}"),
        ("compare_control", "-d", 2, "{}", "one-vs-one"),
        ("tune_m", "--log2c=0:0", "--log2g=-1:-1", "-d", 2, "one-vs-one", "{}"),
        ("print_control", "--best", "-d", 2, "--trials", 1, "-Q", "one-vs-rest", "{}"),
    ],
)
def test_points_that_went_through_a_metric(data, run, command):
    run("agf_preprocess", *LEARN, "train", "mapped")
    assert (
        f"warning: {MAPPED.format('mapped')}\n"
        in run(
            *(str(word).format("mapped") for word in command), "--no-state", "-+", "-c 1 -g 1"
        ).err
    )


@pytest.mark.long
def test_points_that_did_not_go_through_the_metric_beside_them(data, run):
    command = "nfold", "-d", 2, "--no-state", "-+", "-c 1 -g 1", "one-vs-one"
    run("agf2ascii", "-M", "train", "train.svm")
    run("agf_preprocess", *LEARN, "-M", "train.svm", "mapped.svm")
    assert MAPPED.format("mapped.svm") in run(*command, "-M", "mapped.svm").err
    # as multi_borders writes it, beside the points that it was learned from
    run("agf_preprocess", *LEARN, "-a", "train.std", "train", "mapped")
    assert "warning" not in run(*command, "train").err
    write_vec("train.vec", read_vec("train.vec")[:, ::-1] * 2)  # later others of that name
    assert "warning" not in run(*command, "train").err
    # of no rounds, or damaged
    run("agf_preprocess", "-n", "--learn-metric=0", "train", "mapped")
    assert "warning" not in run(*command, "mapped").err
    Path("mapped.metric").write_text('{"format": "agfmc metric"')
    assert "warning" not in run(*command, "mapped").err


def test_parts_that_have_learned_from_each_other(data, run):
    words = "agf_preprocess", "-n", "-d", 2, "train", "out"
    message = "the metric was learned from the classes of all parts together: a part is no test"
    assert message in run(*words, "--learn-metric=1", "--metric-options", "-m 30").err
    for more in [], ["--learn-metric=0"]:
        assert message not in run(*words, *more).err


def told_of(run, *words, data="train"):
    return (
        run("agf_preprocess", *words, "--metric-options", "-m 20", data, "out")
        .err.splitlines()[-1]
        .removeprefix("agf_preprocess: metric: ")
    )


def test_the_report(data, run):
    assert told_of(run, "-n", "--learn-metric=0") == "0 rounds"
    assert (
        told_of(run, "-n", "--learn-metric=1", "--components", 2)
        == "1 round; 2 of 3 directions; weights of features in out.metric"
    )
    assert (
        told_of(run, "-S", 2, "--learn-metric=1", "--components=0.01")
        == "1 round; 1 of 2 directions; weights of features in out.metric"
    )
    x = read_vec("train.vec")
    write_vec("few.vec", x[:29])
    write_cls("few.cls", np.arange(29) % 2)
    assert (
        told_of(run, "-n", "--learn-metric", data="few")
        == "0 rounds, as there are too few points to choose rounds"
    )
    assert (
        told_of(run, "-n", "--learn-metric=1", data="few")
        == "1 round, learned from 29 points, which are too few to trust it; weights of features in "
        "out.metric"
    )


def test_the_most_rounds_are_told_as_such(capsys):
    learned = LearnedMetric(3, 99, 2, "", "", np.ones(2), ((4.0, 1), (3.0, 1), (2.0, 1), (1.0, 0)))
    with logged(CommandLog("p")):
        report_metric(
            Namespace(components=None, rounds=None),
            None,
            Normalisation(np.eye(2), np.zeros(2), (), learned),
            "a.std",
        )
    assert capsys.readouterr().err == (
        "p: metric: 3 rounds, the most that auto tries, with which the log loss of pairs of "
        "classes falls from 4 to 1 for held-out points; weights of features in a.metric\n"
    )


@pytest.mark.parametrize(
    "words, message",
    [
        (("agf_preprocess", *LEARN, "train", "no/o"), "no/o.vec: cannot write: No such file"),
        (
            ("agf_preprocess", *LEARN, "-f", ".3", "train", "o", "no/t"),
            "no/t.vec: cannot write: No",
        ),
        (
            ("agf_preprocess", *LEARN, "-d", 2, "-a", "n.std", "train", "no/o"),
            "no/o-00.vec: cannot",
        ),
        (("agf_preprocess", *LEARN, "-a", "no/n.std", "train", "o"), "no/n.std: cannot write: No"),
        (("agf_preprocess", *LEARN, "train", "there"), "there.cls: cannot write"),
        (
            ("multi_borders", *SVM, *LEARN, "c.mbt", "train", "no/o", "o.mbc"),
            "no/o.std: cannot write: there is no such folder",
        ),
        (
            ("multi_borders", *SVM, *LEARN, "-a", "n.std", "c.mbt", "train", "no/o", "o.mbc"),
            "no/o-00: cannot write: there is no such folder",
        ),
        (
            ("multi_borders", *SVM, *LEARN, "c.mbt", "train", "o", "no/o.mbc"),
            "no/o.mbc: cannot write",
        ),
        (
            ("multi_borders", *SVM, *LEARN, "--min-class", 2, "c.mbt", "train", "o", "no/o.mbc"),
            "no/o.mbc: cannot write",
        ),
        (
            ("print_control", "-Q", "empirical", *LEARN, "-a", "no/n.std", "train"),
            "no/n.std: cannot",
        ),
        (
            ("order_classes", "--path", *LEARN, "-a", "no/n.std", "c.mbc", "train"),
            "no/n.std: cannot",
        ),
    ],
)
def test_outputs_are_looked_at_before_the_learning(data, run, monkeypatch, words, message):
    monkeypatch.setattr("agfmc.training.metric.learn_metric", None)
    Path("there.cls").mkdir()
    Path("c.mbt").write_text(run("print_control", 3).out)
    Path("c.mbc").write_text(run("print_control", "-Q", "adjacent", 3).out)
    before = sorted(os.listdir())
    assert f": {message}" in run(*words, status=1).err.splitlines()[-1]
    assert sorted(os.listdir()) == before


@pytest.mark.long
def test_the_log_loss_that_is_told_is_of_points_without_a_part_in_the_metric(data, run):
    Path("1v1.mbt").write_text(run("print_control", "-Q", "one-vs-one", "3").out)
    told = run("multi_borders", *LEARN, *SVM, "1v1.mbt", "train", "m", "m.mbc").err
    apart = 120 - len(learned_rows(Dataset(np.empty((120, 4)), read_cls("train.cls")), 1))
    assert "calibrated with 120 held-out points, log loss " in told
    assert f" on {apart} of these, from which no metric was learned (" in told
    plain = run("multi_borders", "-n", *SVM, "1v1.mbt", "train", "p", "p.mbc").err
    assert " on these (" in plain
