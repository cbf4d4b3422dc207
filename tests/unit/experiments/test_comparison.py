"""Comparisons of configurations, and the splits they rest on."""

import json
import statistics
from dataclasses import replace

from hypothesis import given, strategies as st
import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.core.answers import Results
from agfmc.core.errors import ControlError, DataError, UsageError
from agfmc.experiments import binary_problems, trial as trial_module
from agfmc.experiments.binary_problems import Trained
from agfmc.files.result_store import to_record
from agfmc.experiments.candidates import read_candidate
from agfmc.experiments.comparison import best_row, compare, cross_validate
from agfmc.experiments.experiment import Experiment, SplitPlan as Plan, splits
from agfmc.files.result_store import Record, ResultCache
from agfmc.training.fit import TrainingSettings
from agfmc.report.blocks import table
from agfmc.report.csv_tables import comparison_csv
from agfmc.report.text import blocks_text, markdown
from agfmc.report.trials import comparison_blocks, comparison_notes, comparison_tables
from agfmc.core.text import spread
from agfmc.experiments.trial import Outcome
from agfmc.data.types import Dataset
from agfmc.prediction.decision_values import MachineValues
from agfmc.prediction.decoding import decoders_of
from agfmc.core.splits import derived_seed, split_stratified, stratified_parts
from agfmc.score.rows import SCORES
from agfmc.designs.design import design
from agfmc.training.in_memory import train_configuration

SCHEMES = ("one-vs-one", "one-vs-rest", "tree")


def experiment(data, plan, settings=TrainingSettings(), cache=ResultCache(None)):
    return Experiment(data, plan, settings, cache, calibrated=(False,))


def plain_table(result):
    return blocks_text([table(comparison_tables(result)[0])], star=True)


def markdown_table(result):
    return markdown(map(table, comparison_tables(result)))


def candidates(*words):
    return [read_candidate(word) for word in words]


def test_equal_problems_are_trained_once(data, fits, tmp_path):
    control = tmp_path / "same.mbt"
    control.write_text('"" 0 / 1; "" 0 1 / 2; { 2 5 9 }')
    words = [*SCHEMES, str(control)]
    result = compare(experiment(data, Plan(trials=1)), candidates(*words))
    sides = [job.sides for [*jobs] in fits for job in jobs]
    assert len(sides) == len(set(sides))
    assert len(sides) == 3 + 3 + 1  # the root of the tree mirrors one of one-vs-rest
    assert [row["decoder"] for row in result["rows"]] == [
        "inverse",
        "least-squares",
        "full",
        "least-squares",
        "least-squares",
    ]


def test_finished_work_is_not_done_again(data, fits, tmp_path):
    def run(state):
        with ResultCache(str(state), keep=True) as ledger:
            return compare(experiment(data, Plan(trials=2), cache=ledger), candidates(*SCHEMES[:2]))

    whole = run(tmp_path / "a")
    trained = sum(map(len, fits))
    fits.clear()
    again = run(tmp_path / "a")
    assert not fits
    assert json.dumps(again) == json.dumps(whole)  # the times too: they were measured once
    # the binary problems alone are enough to go on from
    with ResultCache(str(tmp_path / "b"), keep=True) as ledger:
        compare(experiment(data, Plan(trials=2), cache=ledger), candidates("one-vs-one"))
    assert 0 < sum(map(len, fits)) < trained
    fits.clear()
    partly = run(tmp_path / "b")
    assert sum(map(len, fits)) < trained
    for one, other in zip(whole["rows"], partly["rows"]):
        assert one["accuracy"] == other["accuracy"] and one["brier_all"] == other["brier_all"]


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [2, 3])
def test_threads_change_nothing(data, workers):
    one = compare(experiment(data, Plan(trials=1)), candidates(*SCHEMES[:2]))
    more = compare(
        experiment(data, Plan(trials=1), TrainingSettings(workers=workers)),
        candidates(*SCHEMES[:2]),
    )
    for a, b in zip(one["rows"], more["rows"]):
        assert {k: v for k, v in a.items() if not k.endswith("_s") and k != "best"} == {
            k: v for k, v in b.items() if not k.endswith("_s") and k != "best"
        }


@pytest.mark.long
def test_rows_are_summed_up_rightly(data):
    result = compare(
        experiment(data, Plan(None, 3, 2, 4), TrainingSettings(scale=True)),
        candidates("one-vs-one:inverse,vote", "one-vs-rest"),
    )
    assert result["splits"] == 6 and not result["mcnemar"]
    assert result["against"] == {"configuration": "one-vs-one", "decoder": "inverse"}
    inverse, vote, rest = result["rows"]
    values = inverse["accuracy"]["values"]
    assert len(values) == 6
    assert inverse["accuracy"]["mean"] == pytest.approx(statistics.mean(values))
    assert inverse["accuracy"]["sd"] == pytest.approx(statistics.stdev(values))
    assert vote["brier_all"] is None and vote["log_loss"] is None
    assert inverse["difference"] is None
    paired = rest["difference"]["accuracy"]
    assert paired["mean"] == pytest.approx(rest["accuracy"]["mean"] - inverse["accuracy"]["mean"])
    assert 0 <= paired["p_value"] <= 1
    low, high = paired["interval"]
    assert low < paired["mean"] < high and (low > 0 or high < 0) == (paired["p_value"] < 0.05)
    for column, best in (("accuracy", max), ("brier_winning", min)):
        sound = [row for row in result["rows"] if row[column] is not None]
        top = best(row[column]["pooled"] for row in sound)
        assert [row for row in sound if column in row["best"]] == [
            row for row in sound if row[column]["pooled"] == top
        ]
    assert best_row(result["rows"], "log_loss") in (inverse, rest)


@pytest.mark.long
def test_classifiers_and_kernel_values_that_a_point_is_put_to(data, tmp_path):
    """A chain asks the second classifier only where the first does not say 2."""
    (tmp_path / "chain").write_text('"" {2 "" {5 9}}')
    (tmp_path / "mixed").write_text('"" {2 "learner=logistic" {5 9}}')
    plan = Plan(0.3, None, 2, 4)
    result = compare(
        experiment(data, plan),
        candidates(
            f"{tmp_path / 'chain'}:recursive,full",
            "one-vs-one:inverse,ddag",
            str(tmp_path / "mixed"),
        ),
    )
    path, full, pairs, ddag, mixed, _ = result["rows"]
    (answered,) = cross_validate(
        experiment(data, plan), read_candidate(f"{tmp_path / 'chain'}:recursive")
    )
    assert path["queried"]["pooled"] == pytest.approx(1 + (answered.results.result != 2).mean())
    assert len(path["queried"]["values"]) == 2 and full["queried"]["values"] == [2, 2]
    assert pairs["queried"]["values"] == [3, 3] and ddag["queried"]["values"] == [2, 2]
    assert path["kernel_values"]["pooled"] < full["kernel_values"]["pooled"]
    assert ddag["kernel_values"]["pooled"] < pairs["kernel_values"]["pooled"] <= 84
    assert mixed["kernel_values"] is None


def test_one_split_is_mcnemar(data):
    result = compare(
        experiment(data, Plan(trials=1)),
        candidates("one-vs-one", "one-vs-rest"),
        against="one-vs-rest",
    )
    assert result["mcnemar"]
    one, rest = result["rows"]
    assert rest["difference"] is None
    assert 0 < one["difference"]["accuracy"]["p_value"] <= 1
    assert one["difference"]["brier_all"]["p_value"] is None
    assert one["difference"]["brier_all"]["interval"] is None
    for score in ("accuracy", "log_loss"):
        low, high = one["difference"][score]["interval"]
        assert low < one["difference"][score]["pooled"] < high
    for against in ("nobody", "one-vs-one:vote"):
        with pytest.raises(UsageError, match="expected one of one-vs-one"):
            compare(experiment(data, Plan(trials=1)), candidates("one-vs-one"), against=against)


def test_with_one_split_every_row_has_mcnemars_p(data):
    result = compare(experiment(data, Plan(trials=1)), candidates("one-vs-one", "one-vs-rest"))
    _, head, one, rest, *_ = plain_table(result).splitlines()
    p_value = result["rows"][1]["difference"]["accuracy"]["p_value"]
    assert head.endswith("  p  classifiers") and rest.split()[-2] == f"{p_value:.4f}"
    assert f"{result['rows'][1]['difference']['log_loss']['mean']:+.4f}" in rest
    words = blocks_text(comparison_blocks({**result, "options": ""}))
    assert "p is that of McNemar's exact test of the accuracies, not corrected" in words


def test_the_main_scores_come_first(data):
    result = compare(experiment(data, Plan(trials=2)), candidates("one-vs-one", "one-vs-rest"))
    first, more = plain_table(result), markdown_table(result)
    assert first.count("one-vs-one (inverse) ") == 1 and more.count("one-vs-one (inverse) ") == 2
    assert first.count(" * ") == 1 and "Brier score" in more and "test s" in more
    heads = markdown_table(result).splitlines()[0].strip("| ").split(" | ")
    assert heads == [
        "configuration",
        "log loss",
        "accuracy",
        "difference",
        "95 % interval",
        "p",
        "classifiers",
    ]


@pytest.mark.long
def test_progress_names_the_split_and_the_best_so_far(data):
    told = []

    def follow(done, total, words):
        assert 0 <= done <= total
        if words not in told:
            told.append(words)

    experiment_ = experiment(data, Plan(parts=3, trials=1))
    result = compare(experiment_, candidates(*SCHEMES), by="accuracy", progress=follow)
    values = {
        row["configuration"] + ":" + row["decoder"]: row["accuracy"]["values"]
        for row in result["rows"]
    }
    best = max(values, key=lambda name: values[name][0])
    assert told[0] == "trial 1, part 1" and len(told) == 3
    assert told[1] == f"best {best}: {values[best][0]:.4f}; trial 1, part 2".replace(" 0.", " .")
    del told[:]
    (one,) = cross_validate(experiment_, candidates("tree")[0], progress=follow)
    assert told[0] == "trial 1, part 1" and len(told) == 3
    assert told[1] == "log loss {:.4f}; accuracy {:.4f}; trial 1, part 2".format(
        *(one.columns[name]["values"][0] for name in ("log_loss", "accuracy"))
    ).replace(" 0.", " .")


def test_rows_without_the_score_are_named(data):
    result = compare(experiment(data, Plan(trials=1)), candidates("one-vs-one:vote,inverse"))
    assert comparison_notes(result) == [
        "No log loss, so they cannot be chosen by it: one-vs-one (vote)"
    ]
    result["rows"][1]["zero_probability"] = 3
    assert comparison_notes(result)[0] == (
        "p = 0 for the true class of 3 held-out points: one-vs-one (inverse)"
    )


@pytest.mark.long
def test_a_learned_decoder_is_tried_where_the_points_are_enough(data):
    """For a code without zeros, on every split or on none."""
    many = Dataset(*(np.concatenate([part] * 3) for part in (data.x, data.y)))
    words = candidates("one-vs-rest", "one-vs-one")
    for some, names in (
        (data, ["least-squares", "inverse"]),
        (many, ["least-squares", "learned", "inverse"]),
    ):
        result = compare(experiment(some, Plan(trials=2)), words)
        assert [row["decoder"] for row in result["rows"]] == names
        assert all(len(row["log_loss"]["values"]) == 2 for row in result["rows"])
    own = Experiment(many, Plan(trials=1), cache=ResultCache(None), calibrated=(False,))
    assert [row["decoder"] for row in compare(own, words)["rows"]] == ["least-squares", "inverse"]
    both = Experiment(many, Plan(trials=1), cache=ResultCache(None), calibrated=(True, False))
    rows = compare(both, words[:1])["rows"]
    assert [(row["decoder"], row["calibrated"]) for row in rows] == [
        ("least-squares", True),
        ("least-squares (uncalibrated)", False),
        ("learned", True),
        ("learned (uncalibrated)", False),
    ]
    assert rows[2]["log_loss"] != rows[3]["log_loss"]


def test_direct_classifiers_take_part(data, tmp_path):
    (tmp_path / "k").write_text('"-k 5" K { 2 5 9 }')
    (tmp_path / "mixed").write_text('"" { 2 " " L { 5 9 } }')
    result = compare(
        experiment(data, Plan(trials=1)), candidates(str(tmp_path / "k"), str(tmp_path / "mixed"))
    )
    assert [row["classifiers"] for row in result["rows"]] == [0, 1]
    assert all(row["accuracy"]["mean"] > 0.5 for row in result["rows"])
    (tmp_path / "g").write_text('"rm -rf" G { 2 5 9 }')
    with pytest.raises(ControlError, match="cannot be tried here"):
        read_candidate(str(tmp_path / "g"))


def test_a_failure_stands_in_its_row(data):
    few = Dataset(data.x, np.where(np.arange(120) < 40, 2, 5).astype(np.int32))
    result = compare(
        experiment(few, Plan(trials=1), TrainingSettings("-s 1 -n 0.999")), candidates("one-vs-one")
    )
    assert "nu" in result["rows"][0]["error"]
    for text_of in (plain_table, markdown_table, comparison_csv):
        assert "one-vs-one" in text_of(result)


@pytest.mark.parametrize(
    "text, decoders",
    [
        ('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}', ["inverse"]),
        ('"" 0 / 1 2; "" 1 / 0 2; "" 2 / 0 1; {0 1 2}', ["least-squares"]),
        ('"" 0 1 / 2 3; "" 0 2 / 1 3; "" 0 3 / 1 2; "" 0 1 2 / 3; {0 1 2 3}', ["least-squares"]),
        (
            '"" 0 1 / 2 3; "" 0 2 / 1 3; "" 0 3 / 1 2; "" 0 1 2 3 / 4; {0 1 2 3 4}',
            ["least-squares"],
        ),
        ('"" {0 "" {1 2}}', ["recursive", "least-squares"]),
        ('"" {0 " " K {1 2}}', ["recursive"]),
    ],
)
def test_decoders_that_suit(text, decoders):
    assert [decoder.name for decoder in decoders_of(parse(text))] == decoders


@pytest.mark.parametrize(
    "scheme, k, decoder",
    [
        ("orthogonal", 5, "orthogonal"),
        ("adjacent", 5, "least-squares"),
        ("exhaustive", 4, "least-squares"),
    ],
)
def test_decoders_that_suit_a_scheme(scheme, k, decoder):
    assert [d.name for d in decoders_of(design(scheme, range(k)))] == [decoder]


def test_words_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a:b").write_text('"" {0 1}')
    assert read_candidate("a:b").tree is not None
    assert read_candidate("a:b:vote,inverse").decoders == ("vote", "inverse")
    assert read_candidate("1v1:loss:hinge").decoders == ("loss:hinge",)
    assert read_candidate("adj").name == "adjacent"
    for word, message in (
        ("nothing", "no file 'nothing'"),
        ("1v1:strange", "no decoder"),
        ("convert", "starts from a file"),
    ):
        with pytest.raises(UsageError, match=message):
            read_candidate(word)
    with pytest.raises(UsageError, match="is for trees"):
        decoders_of(parse('"" 0 / 1; "" 0 / 2; {0 1 2}'), ("recursive",))
    with pytest.raises(UsageError, match="gives no classes"):
        decoders_of(parse('"" 0 / 1; "" 0 / 2; {0 1 2}'), ("binary",))


def test_stored_work_is_checked():
    head, arrays = to_record(
        Trained(np.array([0, 3]), np.array([1.0, -1.0]), 0.5, (0, 1), (1, 1), (-1.0, 0.1), 0.25)
    )
    data = Record(json.loads(json.dumps(head)), arrays)
    back = Trained.from_record(data, 4)
    assert (back.rho, back.labels, back.n_sv, back.platt, back.seconds, back.rows.tolist()) == (
        0.5,
        (0, 1),
        (1, 1),
        (-1.0, 0.1),
        0.25,
        [0, 3],
    )
    assert Trained.from_record(data, 3) is None  # a row that there is not
    truth, labels = np.array([1, 7, 7]), [1, 7]
    data = to_record(
        Outcome(
            0,
            "vote",
            3,
            1.5,
            0.5,
            dict.fromkeys(SCORES),
            np.array([1, -1, 7], dtype=np.int32),
            np.full((3, 3), np.nan),
            queried=1.5,
            kernel_values=20.0,
        )
    )
    unanswered = Results(truth, truth[:0], np.array(labels))
    back = Outcome.from_record(0, "vote", data, unanswered)
    assert back.results.result.tolist() == [1, -1, 7] and (back.queried, back.kernel_values) == (
        1.5,
        20,
    )
    early = data._replace(head={**data.head, "queried": None})
    assert Outcome.from_record(0, "vote", early, unanswered) is None
    assert Outcome.from_record(0, "vote", data, replace(unanswered, truth=truth[:2])) is None


@pytest.mark.parametrize(
    "pooled, sd, text",
    [
        (0.94321, 0.00123, ".9432±.0012"),
        (0.5, None, ".5000"),
        (1.25, 0.5, "1.2500±.5000"),
        (float("nan"), None, "-"),
    ],
)
def test_cells(pooled, sd, text):
    assert spread({"pooled": pooled, "sd": sd}) == text and spread(None) == "-"


Y = np.repeat([4, 1, 9], [30, 17, 5])


def test_trials_are_those_of_the_data_tool():
    made = list(splits(Y, Plan(0.3, None, 3, 5)))
    assert [split.name for split in made] == ["trial 1", "trial 2", "trial 3"]
    for trial, split in enumerate(made):
        train, test = split_stratified(Y, 0.3, derived_seed(5, trial))
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)
    assert not np.array_equal(made[0].test, made[1].test)


def test_parts_hold_out_everyone_once():
    made = list(splits(Y, Plan(None, 4, 2, 1)))
    assert len(made) == Plan(None, 4, 2, 1).count == 8
    for trial in (made[:4], made[4:]):
        held = np.concatenate([split.test for split in trial])
        np.testing.assert_array_equal(np.sort(held), np.arange(len(Y)))
        for split in trial:
            np.testing.assert_array_equal(np.union1d(split.train, split.test), np.arange(len(Y)))
            assert len(np.intersect1d(split.train, split.test)) == 0
    assert not np.array_equal(made[0].test, made[4].test)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=60), st.integers(2, 9), st.integers(0, 99))
def test_parts_differ_by_one(y, parts, seed):
    y = np.array(y)
    if parts > len(y):
        with pytest.raises(DataError):
            stratified_parts(y, parts, seed)
        return
    part = stratified_parts(y, parts, seed)
    sizes = np.bincount(part, minlength=parts)
    assert sizes.max() - sizes.min() <= 1
    for label in np.unique(y):
        counts = np.bincount(part[y == label], minlength=parts)
        assert counts.max() - counts.min() <= 1
    np.testing.assert_array_equal(part, stratified_parts(y, parts, seed))


def test_ratio():
    assert Plan(0.25).ratio == pytest.approx(1 / 3) and Plan(None, 5).ratio == pytest.approx(1 / 4)


def test_leave_one_out_values_in_the_place_of_splits(data, tmp_path, fits):
    def run(workers=1):
        settings = TrainingSettings("learner=nystrom -m 12", workers=workers)
        with ResultCache(str(tmp_path / "cache"), keep=True) as cache:
            return compare(
                experiment(data, Plan(left_out=True), settings, cache),
                candidates("one-vs-one:inverse,vote", "one-vs-rest", "tree"),
            )

    result = run()
    assert (result["left_out"], result["splits"], result["mcnemar"]) == (120, 1, True)
    rows = result["rows"]
    assert [row["decoder"] for row in rows] == [
        "inverse",
        "vote",
        "least-squares",
        "full",
        "least-squares",
    ]  # none is learned
    assert all(row["classify_s"] is None for row in rows)
    assert " - " in plain_table(result) and comparison_csv(result)
    configuration, held_out = train_configuration(
        read_candidate("one-vs-one").tree_for(data, {}),
        data.x,
        data.y,
        TrainingSettings("learner=nystrom -m 12"),
    )
    f = MachineValues(configuration)(range(3), data.x)[0].copy()
    f[held_out.point, held_out.classifier] = held_out.value
    f = configuration.machines.a * f + configuration.machines.b
    votes = sum(
        np.eye(3)[np.where(f[:, number] > 0, other, one)]
        for number, (one, other) in enumerate([(0, 1), (0, 2), (1, 2)])
    )
    right = np.array([2, 5, 9])[votes.argmax(axis=1)] == data.y
    clear = votes.max(axis=1) == 2
    assert rows[1]["accuracy"]["pooled"] == pytest.approx(right.mean(), abs=(~clear).mean())
    fits.clear()
    assert run(2) == result and not fits


def test_all_that_cannot_be_left_out_are_named(data, tmp_path):
    (tmp_path / "own").write_text('"learner=nystrom -m 9" {"" {2 5} 9}')
    with pytest.raises(UsageError, match="learner=nystrom: one-vs-one, .*own has others"):
        compare(
            experiment(data, Plan(left_out=True)), candidates("one-vs-one", str(tmp_path / "own"))
        )
    with pytest.raises(UsageError, match="a learned decoder"):
        compare(
            experiment(data, Plan(left_out=True), TrainingSettings("learner=nystrom -m 9")),
            [read_candidate("one-vs-rest", ("learned",))],
        )


def test_a_group_that_cannot_be_trained_does_not_stop_others(data, tmp_path):
    (tmp_path / "own").write_text('"learner=nystrom -m 5000" {"learner=nystrom -m 12" {2 5} 9}')
    row, other = compare(
        experiment(data, Plan(trials=1)),
        [read_candidate(str(tmp_path / "own"), ("full",)), read_candidate("one-vs-one")],
    )["rows"]
    assert "landmarks" in row["error"] or "-m 5000" in row["error"]
    assert "error" not in other


def test_seconds_of_classifiers_that_are_trained_together(data, monkeypatch):
    clock = iter([3.0, 9.0])
    monkeypatch.setattr(binary_problems.time, "process_time", lambda: next(clock))
    rows = compare(
        replace(
            experiment(data, Plan(trials=1), TrainingSettings("learner=nystrom -m 5 -g 0.3")),
            calibrated=(False,),
        ),
        candidates("one-vs-one"),
    )["rows"]
    assert rows[0]["train_s"]["pooled"] == pytest.approx(6.0, abs=0.5)


def test_equal_partitions_that_share_landmarks_with_others_are_others(data, tmp_path):
    (tmp_path / "own").write_text('"-c 1" {"learner=nystrom -m 12 -g 0.3" {2 5} 9}')
    settings = TrainingSettings("learner=nystrom -m 12 -g 0.3")
    own = read_candidate(str(tmp_path / "own"), ("full",))
    [alone] = compare(experiment(data, Plan(trials=1), settings), [own])["rows"]
    rows = compare(experiment(data, Plan(trials=1), settings), [own, read_candidate("one-vs-one")])[
        "rows"
    ]
    assert rows[0]["log_loss"] == alone["log_loss"]


def test_shared_landmarks_are_one_array(data, monkeypatch):
    seen = []
    whole = trial_module.assemble
    monkeypatch.setattr(
        trial_module,
        "assemble",
        lambda tree, models, *more: seen.extend(models) or whole(tree, models, *more),
    )
    compare(
        experiment(data, Plan(trials=1), TrainingSettings("learner=nystrom -m 5")),
        candidates("one-vs-rest"),
    )
    assert len(seen) == 3 and len({id(model.sv) for model in seen}) == 1
