"""classify_m --costs and eval_uc --costs: answers of the least cost, and what they cost."""

import csv
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

import agfmc
from agfmc.core.costs import CostMatrix
from agfmc.data.libagf import read_cls, read_con
from data_files import write_cls, write_vec

LABELS = [2, 5, 7]
COSTS = np.array([[0, 1, 2, 0.8], [1, 0, 2, 0.8], [6, 3, 0, 0.8]])


def write_costs(path, costs=COSTS[:, :3], heads=LABELS):
    heads = [*heads, "-"][: costs.shape[1]]
    Path(path).write_text("\n".join(" ".join(map(str, row)) for row in [heads, *costs.tolist()]))


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    """A folder with pairs.mbm, turned.mbm, tree.mbm, points trn.vec and .cls, and two costs."""
    folder = tmp_path_factory.mktemp("costs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        draw = np.random.default_rng(2)
        y = draw.choice(3, 150, p=[0.5, 0.3, 0.2])
        x = np.array([[0, 0], [1.5, 0], [0, 2]])[y] + draw.normal(size=(150, 2))
        write_vec("trn.vec", x)
        write_cls("trn.cls", np.array(LABELS)[y])
        Path("pairs").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {2 5 7}')
        Path("turned").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {7 2 5}')
        Path("tree").write_text('"" { 2 "" { 5 7 } }')
        for name in ("pairs", "turned", "tree"):
            run(
                "multi_borders",
                "--quiet",
                "-+",
                "learner=nystrom -m 20",
                name,
                "trn",
                f"{name}.m",
                f"{name}.mbc",
            )
            run("mbh2mbm", "--quiet", f"{name}.mbc", f"{name}.mbm")
        write_costs("costs")
        write_costs("refusing", COSTS)
    return folder


@pytest.fixture
def here(folder, monkeypatch, tmp_path):
    """The folder as the current one; what is written goes to the path returned."""
    monkeypatch.chdir(folder)
    return tmp_path


def table_of(text):
    rows = np.array([line.split() for line in text.splitlines()], dtype=float)
    return rows[:, :-1], rows[:, -1].astype(int)


def expected(p, costs):
    """The answers by their definition, point by point."""
    sums = [
        [sum(row[i] * costs[i, j] for i in range(3)) for j in range(costs.shape[1])] for row in p
    ]
    best = [row.index(min(row)) for row in sums]
    return np.array([*LABELS, -1])[best], np.array([min(row) for row in sums])


@pytest.mark.few(1)
@pytest.mark.parametrize("name, costs", [("costs", COSTS[:, :3]), ("refusing", COSTS)])
def test_answers_of_the_least_expected_cost(run, here, name, costs):
    plain = run("classify_m", "pairs.mbm", "trn.vec", here / "plain").out
    done = run("classify_m", "--costs", name, "pairs.mbm", "trn.vec", here / "out")
    p, printed = table_of(done.out)
    wanted, cost = expected(p, costs)
    assert np.array_equal(p, table_of(plain)[0])  # the probabilities are untouched
    answers = read_cls(here / "out.cls", negative=True)
    assert np.array_equal(answers, wanted) and np.array_equal(answers, printed)
    probable = np.array(LABELS)[p.argmax(axis=1)]
    assert 3 < (answers != probable).sum() < 120 and len(set(answers.tolist())) == costs.shape[1]
    of_answer = p[np.arange(150), np.searchsorted(LABELS, np.where(answers < 0, probable, answers))]
    assert np.abs(read_con(here / "out.con") - (3 * of_answer - 1) / 2).max() < 2e-6
    told = float(done.err.split("expected cost ")[1].split()[0])
    assert abs(told - cost.mean()) < 2e-5
    shown = run(
        "classify_m",
        "--quiet",
        "--header",
        "--costs",
        name,
        "--decisions",
        "pairs.mbm",
        "trn.vec",
        here / "two",
    )
    lines = shown.out.splitlines()
    assert lines[0] == "decision cost most_probable" and shown.err == ""
    rows = np.array([line.split() for line in lines[1:]], dtype=float)
    assert np.array_equal(rows[:, 0], answers) and np.array_equal(rows[:, 2], probable)
    assert np.abs(rows[:, 1] - cost).max() < 2e-5
    for end in (".cls", ".con"):
        assert Path(f"{here}/two{end}").read_bytes() == Path(f"{here}/out{end}").read_bytes()


def test_costs_go_by_priors_too(run, here):
    p, answers = table_of(
        run(
            "classify_m",
            "--quiet",
            "--costs",
            "refusing",
            "--priors",
            ".1,.1,.8",
            "pairs.mbm",
            "trn.vec",
            here / "out",
        ).out
    )
    assert np.array_equal(answers, expected(p, COSTS)[0])


def test_zero_and_one_change_nothing(run, here):
    write_costs(here / "plain", 1 - np.eye(3))
    wanted = run("classify_m", "pairs.mbm", "trn.vec", here / "a")
    found = run(
        "classify_m", "--quiet", "--costs", here / "plain", "pairs.mbm", "trn.vec", here / "b"
    )
    assert found.out == wanted.out
    assert Path(f"{here}/a.con").read_bytes() == Path(f"{here}/b.con").read_bytes()


def test_tables_of_answers_have_both(run, here):
    text = run(
        "classify_m", "--quiet", "--costs", "refusing", "pairs.mbm", "trn.vec", here / "o"
    ).out
    p, answers = table_of(text)
    run("classify_m", "--quiet", "--costs", "refusing", "pairs.mbm", "trn.vec", here / "o.csv")
    with open(here / "o.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "row",
        "class",
        "p",
        "expected_cost",
        "most_probable",
        "p:2",
        "p:5",
        "p:7",
    ]
    assert [int(row["class"] or -1) for row in rows] == answers.tolist()
    assert [int(row["most_probable"]) for row in rows] == np.array(LABELS)[
        p.argmax(axis=1)
    ].tolist()
    assert (
        np.abs(
            np.array([float(row["expected_cost"]) for row in rows]) - expected(p, COSTS)[1]
        ).max()
        < 2e-5
    )
    run("classify_m", "--quiet", "--costs", "refusing", "pairs.mbm", "trn.vec", here / "o.jsonl")
    members = [json.loads(line) for line in (here / "o.jsonl").read_text().splitlines()]
    assert [one["most_probable"] for one in members] == [row["most_probable"] for row in rows]
    assert {one["class"] for one in members} >= {None, "5"}
    (here / "truth.csv").write_text("kind\n" + "\n".join(map(str, read_cls("trn.cls"))))
    by_file = json.loads(
        run("eval_uc", "--json", "--costs", "refusing", "trn.cls", here / "o", "-", stdin=text).out
    )
    for end in ("csv", "jsonl"):
        by_table = json.loads(
            run(
                "eval_uc",
                "--json",
                "--costs",
                "refusing",
                here / f"o.{end}",
                "--truth",
                "kind",
                "--data",
                here / "truth.csv",
            ).out
        )
        assert by_table["cost"] == by_file["cost"]
        assert by_table["intervals"]["cost"] == by_file["intervals"]["cost"]
        assert [row["cost"] for row in by_table["by_class"]] == [
            row["cost"] for row in by_file["by_class"]
        ]


def test_scores_of_costs_by_hand(run, here):
    truth = np.array([2, 2, 5, 7, 7, 7])
    write_cls(here / "t.cls", truth)
    for result, name, wanted in (
        ([5, 2, 5, 2, 7, 5], "costs", 1 + 0 + 0 + 6 + 0 + 3),
        ([-1, 2, 5, -1, 7, 5], "refusing", 0.8 + 0 + 0 + 0.8 + 0 + 3),
    ):
        write_cls(here / "r.cls", np.array(result))
        scores = json.loads(
            run("eval_uc", "--json", "--costs", name, here / "t.cls", here / "r").out
        )
        assert scores["cost"] == pytest.approx(wanted / 6, abs=1e-12)
        low, high = scores["intervals"]["cost"]
        assert low < wanted / 6 < high and list(scores["intervals"]) == ["accuracy", "cost"]
        # always 2: 1 + 3 * 6; always 5: 2 + 3 * 3; always 7: 3 * 2
        assert (scores["single_class"], scores["single_class_cost"]) == (7, 1)
    again = json.loads(
        run(
            "eval_uc",
            "--json",
            "--costs",
            "refusing",
            "--intervals",
            "1000",
            here / "t.cls",
            here / "r",
        ).out
    )
    assert again["intervals"]["cost"] == scores["intervals"]["cost"]
    page = run("eval_uc", "--costs", "refusing", here / "t.cls", here / "r").out
    assert re.search(f"\nmean cost +{wanted / 6:.4f} +{low:.4f} to {high:.4f} +1.0000\n", page)
    assert "\ncost without answers  0.8000\n" in page
    assert again["no_answer_cost"] == pytest.approx(0.8, abs=1e-15)
    lines = run("eval_uc", "--report=-.csv", "--costs", "refusing", here / "t.cls", here / "r").out
    assert f"\ncost,,{wanted / 6:.9g},{low:.9g},{high:.9g}\n" in lines
    assert "\ncost,7,1.26666667,,\n" in lines and "single_class," not in lines
    assert "cost" not in run("eval_uc", "--json", here / "t.cls", here / "r").out
    page = run("eval_uc", "--costs", "costs", here / "t.cls", here / "t").out
    assert "without answers" not in page
    shifted = json.loads(
        run(
            "eval_uc",
            "--json",
            "--costs",
            "refusing",
            "--priors",
            ".5,.25,.25",
            here / "t.cls",
            here / "r",
        ).out
    )
    assert shifted["cost"] == pytest.approx(0.5 * 0.4 + 0.25 * 0 + 0.25 * 3.8 / 3, abs=1e-12)


ERRORS = [
    ("classify_m", "--costs gone pairs.mbm trn.vec o", "gone: cannot read"),
    ("classify_m", "--costs two pairs.mbm trn.vec o", "two:1: class 7 has no column"),
    ("classify_m", "--costs costs --reject .5 pairs.mbm trn.vec o", "a last column - of the costs"),
    ("classify_m", "--costs costs --max-error .1 pairs.mbm trn.vec o", "--max-error refuses"),
    ("classify_m", "--costs costs -Q vote pairs.mbm trn.vec o", "all classes, not vote"),
    ("classify_m", "--costs costs -0 pairs.mbm trn.vec o", "all classes, not -0"),
    ("classify_m", "--costs costs --stop .6 tree.mbm trn.vec o", "combined with --costs"),
    ("classify_m", "--costs costs tree.mbm trn.vec o", "they come with --tree full"),
    ("classify_m", "--decisions pairs.mbm trn.vec o", "--decisions needs --costs"),
    ("classify_m", "--costs costs --decisions --top 2 pairs.mbm trn.vec o", "exclude each other"),
    ("classify_m", "--costs costs --decisions pairs.mbm trn.vec o.csv", "has these columns"),
    ("classify_m", "--costs - - trn.vec o", "both be standard input"),
    ("eval_uc", "--costs two trn.cls trn", "two:1: class 7 has no column"),
    ("eval_uc", "--costs costs trn.cls rejected", "3 of 150 points have no answer, whose cost is"),
]


@pytest.mark.parametrize("command, words, told", ERRORS)
def test_errors(run, here, command, words, told):
    write_costs("two", COSTS[:2, :2])
    rejected = read_cls("trn.cls").copy()
    rejected[:3] = -1
    write_cls("rejected.cls", rejected)
    done = run(command, *words.split(), status=None)
    assert done.status in (1, 2) and told in done.err and done.err.count("\n") == 1
    assert not os.path.exists("o.cls") and done.out == ""


def test_classes_in_another_order(run, here):
    p, answers = table_of(
        run("classify_m", "--quiet", "--costs", "refusing", "turned.mbm", "trn.vec", here / "o").out
    )
    assert np.array_equal(answers, expected(p, COSTS)[0])
    best = np.where(answers < 0, p.argmax(axis=1), np.searchsorted(LABELS, answers))
    assert np.abs(read_con(here / "o.con") - (3 * p[np.arange(150), best] - 1) / 2).max() < 2e-6


def test_trees_decide_by_all_their_classes(run, here):
    p, answers = table_of(
        run(
            "classify_m",
            "--quiet",
            "--costs",
            "costs",
            "--tree",
            "full",
            "tree.mbm",
            "trn.vec",
            here / "o",
        ).out
    )
    assert np.array_equal(answers, expected(p, COSTS[:, :3])[0])


# -- experiments -----------------------------------------------------------------------------------

LEARNER = ("--no-state", "-j", "1", "-+", "learner=nystrom -m 10")


def test_cross_validation_writes_decisions(run, here):
    done = json.loads(
        run(
            "nfold",
            *LEARNER,
            "--json",
            "--costs",
            "refusing",
            "-d",
            "2",
            "pairs",
            "trn",
            here / "out",
        ).out
    )
    p, answers = table_of("".join((here / "out.txt").read_text().splitlines(True)[1:]))
    assert np.array_equal(answers, expected(p, COSTS)[0])
    whole = np.column_stack([COSTS[:, :3], COSTS[:, 3]])
    paid = whole[
        np.searchsorted(LABELS, read_cls(here / "out.truth")),
        [LABELS.index(one) if one >= 0 else 3 for one in answers.tolist()],
    ]
    assert done["cost"] == pytest.approx(paid.mean(), abs=1e-12)
    assert done["over_splits"]["cost"]["pooled"] == pytest.approx(paid.mean(), abs=1e-12)
    page = run(
        "eval_uc", "--costs", "refusing", here / "out.truth", here / "out", here / "out.txt"
    ).out
    assert re.search(f"\nmean cost +{paid.mean():.4f} ", page)


@pytest.mark.long
def test_cross_validation_writes_names(run, here):
    for end in (".vec", ".cls"):
        (here / f"named{end}").write_bytes(Path(f"trn{end}").read_bytes())
    (here / "named.names").write_text("a\nb\nan ant\nc\nd\ne\ng\nf\n")
    words = (*LEARNER, "-d", "2", "-b", "pairs")
    run("nfold", *words, here / "named", here / "out")
    assert (here / "out.names").read_text() == (here / "named.names").read_text()
    (here / "by_name.csv").write_text(",an ant,e,f\nan ant,0,1,2\nf,6,3,0\ne,1,0,2\n")
    files = [here / name for name in ("out.truth", "out", "out.txt")]
    found = json.loads(run("eval_uc", "--json", "--costs", here / "by_name.csv", *files).out)
    assert found["names"] == ["an ant", "e", "f"]
    by_label = json.loads(run("eval_uc", "--json", "--costs", "costs", *files).out)
    assert found["cost"] == by_label["cost"] and "names" in by_label
    run("nfold", *words, "trn", here / "out")
    assert not (here / "out.names").exists()  # those of an earlier run
    told = run("eval_uc", "--costs", here / "by_name.csv", *files, status=1)
    told.refused("the names of the classes are not known here (eval_uc --names FILE gives them)")


def test_costs_are_a_part_of_what_is_kept(run, here):
    words = ("--state", here / "kept", *LEARNER[1:], "--json", "-d", "2", "trn", "pairs")
    first = run("compare_control", "--costs", "refusing", "--by", "cost", *words)
    again = run("compare_control", "--costs", "refusing", "--by", "cost", *words)
    assert "reused" not in first.err and "reused" in again.err
    assert json.loads(first.out)["rows"][0]["cost"] == json.loads(again.out)["rows"][0]["cost"]
    other = run("compare_control", "--costs", "costs", "--by", "cost", *words)
    assert json.loads(other.out)["rows"][0]["cost"] != json.loads(first.out)["rows"][0]["cost"]


@pytest.mark.parametrize(
    "command, words, told",
    [
        ("compare_control", "--by cost trn pairs", "--by cost needs the costs of the answers"),
        ("nfold", "--tune pairs trn", "there is no option --tune any more: tune_m searches the"),
        (
            "compare_control",
            "--search full trn pairs",
            "there is no option --search any more: tune_m",
        ),
        (
            "compare_control",
            "--by cost:costs trn pairs",
            "given separately: --by cost --costs FILE",
        ),
        ("nfold", "--costs two pairs trn", "two:1: class 7 has no column"),
    ],
)
def test_errors_of_experiments(run, here, command, words, told):
    write_costs("two", COSTS[:2, :2])
    done = run(command, "--no-state", *words.split(), status=None)
    assert done.status in (1, 2) and told in done.err and done.err.count("\n") == 1


def test_costs_in_python(run, here):
    model = agfmc.load("pairs.mbm")
    x = np.fromfile("trn.vec", "<f4", offset=4).reshape(-1, 2)
    plain = agfmc.Classifier(model).classify(x)
    for costs in (COSTS, COSTS.tolist(), CostMatrix(COSTS[:, :3], COSTS[:, 3]), "refusing"):
        found = agfmc.Classifier(model, agfmc.Decoding(costs=costs)).classify(x)
        wanted, cost = expected(found.columns, COSTS)
        assert np.array_equal(found.classes, wanted)
        assert found.cost == pytest.approx(cost, abs=1e-14)
        assert np.array_equal(found.probable, plain.classes)
        assert np.array_equal(found.columns, plain.columns)
    one = agfmc.Classifier(model, agfmc.Decoding(costs=COSTS)).classify(x[7:8])
    assert one.cost.tobytes() == found.cost[7:8].tobytes()
    for wrong in (COSTS[:2], "gone", -COSTS):
        with pytest.raises(agfmc.AgfmcError):
            agfmc.Classifier(model, agfmc.Decoding(costs=wrong))
    assert agfmc.Classifier(model).classify(x).cost is None


def test_workers_get_the_costs(run, here):
    wanted = run(
        "classify_m", "--costs", "refusing", "--decisions", "pairs.mbm", "trn.vec", here / "a"
    )
    os.rename("refusing", here / "moved")  # as from the standard input of another machine
    try:
        found = run(
            "classify_m",
            "--costs",
            "-",
            "--decisions",
            "-j",
            "processes:1",
            "pairs.mbm",
            "trn.vec",
            here / "b",
            stdin=(here / "moved").read_text(),
        )
    finally:
        os.rename(here / "moved", "refusing")
    assert found.out == wanted.out and found.err == wanted.err
