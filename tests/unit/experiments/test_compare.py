"""Configurations compared: each problem trained once, nothing done twice, sums that are right."""

import json
import statistics

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.errors import ControlError, UsageError
from agfmc.experiments import binary_problems
from agfmc.experiments.candidates import decoders_of, read_candidate
from agfmc.experiments.comparison import best_row, compare
from agfmc.experiments.result_cache import Ledger
from agfmc.experiments.binary_problems import Trained
from agfmc.experiments.splits import Plan
from agfmc.experiments.comparison_table import csv_table, markdown_table, plain_table, spread
from agfmc.experiments.trial import Outcome, Settings
from agfmc.models import Dataset

SCHEMES = ("one-vs-one", "one-vs-rest", "tree")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    y = np.repeat([2, 5, 9], [40, 50, 30]).astype(np.int32)
    return Dataset(rng.normal(size=(120, 3)) + y[:, None] * [0.5, -0.2, 0.0], y)


@pytest.fixture
def counted(monkeypatch):
    """The jobs that were really trained, by their sides."""
    seen = []
    fit = binary_problems.fit

    def counting(jobs, *args, **kwargs):
        seen.extend(job.sides for job in jobs)
        return fit(jobs, *args, **kwargs)

    monkeypatch.setattr(binary_problems, "fit", counting)
    return seen


def candidates(*words):
    return [read_candidate(word) for word in words]


def test_equal_problems_are_trained_once(data, counted, tmp_path):
    control = tmp_path / "same.mbt"
    control.write_text('"" 0 / 1; "" 0 1 / 2; { 2 5 9 }')
    words = [*SCHEMES, str(control)]
    result = compare(data, candidates(*words), Plan(trials=1), Settings(), Ledger(None))
    assert len(counted) == len(set(counted))
    assert len(counted) == 3 + 3 + 1  # the root of the tree mirrors one of one-vs-rest
    assert [row["decoder"] for row in result["rows"]] == \
        ["inverse", "least-squares", "recursive", "least-squares", "least-squares"]


def test_finished_work_is_not_done_again(data, counted, tmp_path):
    def run(state):
        with Ledger(str(state), keep=True) as ledger:
            return compare(data, candidates(*SCHEMES), Plan(trials=2), Settings(), ledger)

    whole = run(tmp_path / "a")
    trained = len(counted)
    counted.clear()
    again = run(tmp_path / "a")
    assert not counted
    assert json.dumps(again) == json.dumps(whole)  # the times too: they were measured once
    # the binary problems alone are enough to go on from
    with Ledger(str(tmp_path / "b"), keep=True) as ledger:
        compare(data, candidates("one-vs-one"), Plan(trials=2), Settings(), ledger)
    assert 0 < len(counted) < trained
    counted.clear()
    partly = run(tmp_path / "b")
    assert len(counted) < trained
    for one, other in zip(whole["rows"], partly["rows"]):
        assert one["accuracy"] == other["accuracy"] and one["brier_all"] == other["brier_all"]


@pytest.mark.parametrize("workers", [2, 3])
def test_threads_change_nothing(data, workers):
    one = compare(data, candidates(*SCHEMES), Plan(trials=1), Settings(), Ledger(None))
    more = compare(data, candidates(*SCHEMES), Plan(trials=1), Settings(workers=workers),
                   Ledger(None))
    for a, b in zip(one["rows"], more["rows"]):
        assert {k: v for k, v in a.items() if not k.endswith("_s") and k != "best"} == \
            {k: v for k, v in b.items() if not k.endswith("_s") and k != "best"}


def test_rows_are_summed_up_rightly(data):
    result = compare(data, candidates("one-vs-one:inverse,vote", "one-vs-rest"),
                     Plan(None, 3, 2, 4), Settings(scale=True), Ledger(None))
    assert result["splits"] == 6 and not result["mcnemar"]
    assert result["against"] == {"configuration": "one-vs-one", "decoder": "inverse"}
    inverse, vote, rest = result["rows"]
    values = inverse["accuracy"]["values"]
    assert len(values) == 6
    assert inverse["accuracy"]["mean"] == pytest.approx(statistics.mean(values))
    assert inverse["accuracy"]["sd"] == pytest.approx(statistics.stdev(values))
    assert vote["brier_all"] is None and vote["log_loss"] is None
    assert inverse["difference"] is None
    told = rest["difference"]["accuracy"]
    assert told["mean"] == pytest.approx(rest["accuracy"]["mean"] - inverse["accuracy"]["mean"])
    assert 0 <= told["p_value"] <= 1
    for column in ("accuracy", "brier_winning"):
        best = max if column == "accuracy" else min
        sound = [row for row in result["rows"] if row[column] is not None]
        top = best(row[column]["mean"] for row in sound)
        assert [row for row in sound if column in row["best"]] == \
            [row for row in sound if row[column]["mean"] == top]
    assert best_row(result["rows"], "log_loss") in (inverse, rest)


def test_one_split_is_mcnemar(data):
    result = compare(data, candidates("one-vs-one", "one-vs-rest"), Plan(trials=1), Settings(),
                     Ledger(None), against="one-vs-rest")
    assert result["mcnemar"]
    one, rest = result["rows"]
    assert rest["difference"] is None
    assert 0 < one["difference"]["accuracy"]["p_value"] <= 1
    assert one["difference"]["brier_all"]["p_value"] is None
    for against in ("nobody", "one-vs-one:vote"):
        with pytest.raises(UsageError, match="expected one of one-vs-one"):
            compare(data, candidates("one-vs-one"), Plan(trials=1), Settings(), Ledger(None),
                    against=against)


def test_direct_classifiers_take_part(data, tmp_path):
    (tmp_path / "k").write_text('"-k 5" K { 2 5 9 }')
    (tmp_path / "mixed").write_text('"" { 2 " " L { 5 9 } }')
    result = compare(data, candidates(str(tmp_path / "k"), str(tmp_path / "mixed")),
                     Plan(trials=1), Settings(), Ledger(None))
    assert [row["classifiers"] for row in result["rows"]] == [0, 1]
    assert all(row["accuracy"]["mean"] > 0.5 for row in result["rows"])
    (tmp_path / "g").write_text('"rm -rf" G { 2 5 9 }')
    with pytest.raises(ControlError, match="cannot be tried here"):
        read_candidate(str(tmp_path / "g"))


def test_a_failure_is_told_in_its_row(data):
    few = Dataset(data.x, np.where(np.arange(120) < 40, 2, 5).astype(np.int32))
    result = compare(few, candidates("one-vs-one"), Plan(trials=1),
                     Settings(options="-s 1 -n 0.999"), Ledger(None))
    assert "nu" in result["rows"][0]["error"]
    for table in (plain_table, markdown_table, csv_table):
        assert "one-vs-one" in table(result)


@pytest.mark.parametrize("text, told", [
    ('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}', ["inverse"]),
    ('"" 0 / 1 2; "" 1 / 0 2; "" 2 / 0 1; {0 1 2}', ["least-squares"]),
    ('"" 0 1 / 2 3; "" 0 2 / 1 3; "" 0 3 / 1 2; "" 0 1 2 / 3; {0 1 2 3}', ["least-squares"]),
    ('"" 0 1 / 2 3; "" 0 2 / 1 3; "" 0 3 / 1 2; "" 0 1 2 3 / 4; {0 1 2 3 4}',
     ["least-squares"]),
    ('"" {0 1}', ["recursive", "least-squares"]),
    ('"" {0 " " K {1 2}}', ["recursive"]),
])
def test_decoders_that_suit(text, told):
    if text == '"" {0 1}':  # two classes: no way to be taken down
        text = '"" {0 "" {1 2}}'
    assert [decoder.name for decoder in decoders_of(parse(text))] == told


def test_orthogonal_codes_are_known():
    from agfmc.training.design import design

    assert [d.name for d in decoders_of(design("orthogonal", range(5)))] == ["orthogonal"]
    assert [d.name for d in decoders_of(design("adjacent", range(5)))] == ["least-squares"]
    assert [d.name for d in decoders_of(design("exhaustive", range(4)))] == ["least-squares"]


def test_words_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a:b").write_text('"" {0 1}')
    assert read_candidate("a:b").tree is not None
    assert read_candidate("a:b:vote,inverse").wanted == ("vote", "inverse")
    assert read_candidate("1v1:loss:hinge").wanted == ("loss:hinge",)
    assert read_candidate("adj").name == "adjacent"
    for word, message in (("nothing", "no file 'nothing'"), ("1v1:strange", "no decoder"),
                          ("convert", "starts from a file")):
        with pytest.raises(UsageError, match=message):
            read_candidate(word)
    with pytest.raises(UsageError, match="is for trees"):
        decoders_of(parse('"" 0 / 1; "" 0 / 2; {0 1 2}'), ("recursive",))
    with pytest.raises(UsageError, match="gives no classes"):
        decoders_of(parse('"" 0 / 1; "" 0 / 2; {0 1 2}'), ("binary",))


def test_stored_work_is_checked():
    trained = Trained(np.array([0, 3]), np.array([1.0, -1.0]), 0.5, (0, 1), (1, 1), (-1.0, 0.1),
                      0.25)
    data = trained.to_bytes()
    back = Trained.from_bytes(data, 4)
    assert (back.rho, back.labels, back.n_sv, back.platt, back.seconds) == \
        (0.5, (0, 1), (1, 1), (-1.0, 0.1), 0.25)
    np.testing.assert_array_equal(back.rows, [0, 3])
    assert Trained.from_bytes(data, 3) is None  # a row that the training part has not
    for cut in range(len(data)):
        assert Trained.from_bytes(data[:cut], 4) is None
    outcome = Outcome(0, "vote", 3, 1.5, 0.5, dict.fromkeys(
        ("accuracy", "uncertainty_coefficient", "brier_all", "brier_winning", "log_loss")),
        np.array([1, -1, 7], dtype=np.int32))
    data = outcome.to_bytes()
    assert Outcome.from_bytes(0, "vote", data, 3).classes.tolist() == [1, -1, 7]
    assert Outcome.from_bytes(0, "vote", data, 2) is None
    for cut in range(len(data)):
        assert Outcome.from_bytes(0, "vote", data[:cut], 3) is None


def test_cells():
    assert spread({"mean": 0.94321, "sd": 0.00123}, "accuracy") == ".9432±.0012"
    assert spread({"mean": 0.5, "sd": None}, "log_loss") == ".5000"
    assert spread({"mean": 123.4, "sd": 5.6}, "train_s") == "123±6"
    assert spread({"mean": 0.00123, "sd": 0.0001}, "classify_s") == ".0012±.0001"
    assert spread(None, "log_loss") == "-"
