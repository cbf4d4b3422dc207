"""--group: no command divides a group, all know the same groups, and errors count
groups, not points.
"""

import inspect
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from agfmc.core import probabilities, splits
from agfmc.learners import platt
from agfmc.score import intervals
from data_files import write_cls, write_vec

CLASSES, GROUPS, EACH = 3, 15, 6
_FOLDS = ("deal_groups", "stratified_folds", "stratified_parts")
_PAIRS = ("split_stratified", "split_random", "split_fraction", "split_parts")
_ERRORS = ("standard_error", "effective_number", "resampled")


def some(*values):
    """A case of the long tests."""
    return pytest.param(*values, marks=pytest.mark.long)


@pytest.fixture(autouse=True)
def data(folder):
    """Rows of 15 groups, t.csv, b.vec, b.cls and b.grp, g.txt: a group has a class, and a place."""
    rng = np.random.default_rng(5)
    of_group = np.arange(GROUPS) % CLASSES
    group = np.repeat(np.arange(GROUPS), EACH)
    x = (3 * rng.normal(size=(GROUPS, 2)))[group] + 0.1 * rng.normal(size=(len(group), 2))
    order = rng.permutation(len(group))
    x, y, group = x[order].astype(np.float32), of_group[group][order], group[order]
    write_vec("b.vec", x)
    write_cls("b.cls", y)
    words = [f"day {number}" for number in group]
    for name in ("b.grp", "g.txt"):
        Path(name).write_text("".join(f"{word}\n" for word in words))
    Path("t.csv").write_text(
        "a,b,day,class\n"
        + "".join(
            f"{a!r},{b!r},{word},k{label}\n" for (a, b), word, label in zip(x.tolist(), words, y)
        )
    )
    return x, y, group


@pytest.fixture
def recorded(monkeypatch):
    """All splits that are made: (name of the function, groups, part of each row); and all errors
    and intervals, whose rows have themselves as parts."""
    made = []

    def wrapped(name, function):
        def split(*args, **more):
            result = function(*args, **more)
            groups = inspect.signature(function).bind(*args, **more).arguments.get("groups")
            part = groups if name in _ERRORS else result
            if name in _PAIRS:
                part = np.full(sum(map(len, result)), -1)
                for number, rows in enumerate(result):
                    part[rows] = number
            made.append((name, groups, part))
            return result

        return split

    for module, names in (
        (splits, (*_FOLDS, *_PAIRS)),
        (platt, ("folds", "folds_of")),
        (probabilities, _ERRORS[:1]),
        (intervals, _ERRORS[1:]),
    ):
        for name in names:
            original = getattr(module, name)
            for other in [one for key, one in sys.modules.items() if key.startswith("agfmc.")]:
                if getattr(other, name, None) is original and (
                    module is not probabilities or other is not intervals
                ):
                    monkeypatch.setattr(other, name, wrapped(name, original))
    return made


def check(made):
    assert made
    for name, groups, part in made:
        assert isinstance(groups, np.ndarray) and len(groups) == len(part), name
        assert all(len(set(part[groups == group])) == 1 for group in set(groups)), name
    made.clear()


def loss_of(done):
    """The log loss that training promises after the calibration."""
    return float(re.search(r"log loss .* -> ([0-9.]+) on these", done.err)[1])


@pytest.mark.parametrize(
    "options",
    [
        "-c 10",
        some("learner=nystrom -m 30"),
        some("learner=logistic"),
        some("learner=trees -n 20 -m 3"),
    ],
)
def test_training_divides_no_group(run, recorded, options):
    if "trees" in options:
        pytest.importorskip("lightgbm")
    table = ["multi_borders", "-n", "--group", "day", "-+", options, "one-vs-one", "t.csv"]
    done = run(*table, "m", "m.mbc")
    check(recorded)
    assert '"groups": 10' in Path("m-00").read_text()
    # what is held out is of no group that was seen: there is nothing to learn
    assert loss_of(done) > 0.75
    run("multi_borders", "-n", "--group", "g.txt", "-+", options, "one-vs-one", "b", "n", "n.mbc")
    check(recorded)
    assert Path("m-00").read_text() == Path("n-00").read_text()


@pytest.mark.long
def test_groups_beside_data_are_taken_unless_they_are_not_wanted(run):
    words = ["multi_borders", "-n", "-+", "-c 10 -g 1", "one-vs-one", "b"]
    done = run(*words, "m", "m.mbc")
    assert "have the groups in b.grp (--group none: they are split one by one)" in done.err
    rows = run(*words, "n", "n.mbc", "--group", "none")
    assert loss_of(rows) < 0.3 < 0.75 < loss_of(done)
    assert "groups" not in Path("n-00").read_text()


@pytest.mark.long
def test_nodes_and_designs_divide_no_group(run, recorded):
    Path("k.mbt").write_text('"" {"" K {0 1} 2}')
    for control in ("k.mbt", "empirical"):
        run("multi_borders", "-n", "-+", "learner=nystrom -m 30", control, "b", "m", "m.mbc")
        check(recorded)


def test_groups_of_a_table_may_stand_in_a_file(run):
    words = ["agf_preprocess", "--stratified", "-f", ".3", "t.csv"]
    Path("day").write_text("a file, which the column goes before\n")
    run(*words, "a.csv", "b.csv", "--group", "day")
    run(*words, "c.csv", "d.csv", "--group", "g.txt")
    assert Path("b.csv").read_bytes() == Path("d.csv").read_bytes()


def with_places(days, name="p.csv"):
    """Write t.csv with places in the place of days: all of a day within a kilometre."""
    head, *lines = Path("t.csv").read_text().splitlines()
    rows = []
    for line in lines:
        a, b, day, label = line.split(",")
        number = int(day.removeprefix("day "))
        rows.append(f"{a},{b},{45.05 + number / 10},{8.01},{label}")
    Path(name).write_text("\n".join(["a,b,lat,lon,class", *rows]) + "\n")


def test_places_are_groups_of_a_grid(run, recorded):
    with_places("p.csv")
    words = ["multi_borders", "-n", "-+", "-c 10", "--ignore", "lat,lon", "one-vs-one", "p.csv"]
    run(*words, "m", "m.mbc", "--group-places", "10km")
    check(recorded)
    assert '"groups": 10' in Path("m-00").read_text()
    run(
        *("agf_preprocess", "--stratified", "-f", ".3", "p.csv", "c.csv", "d.csv"),
        *("--group-places", "10km"),
    )
    first, second = (
        {line.split(",")[2] for line in Path(name).read_text().splitlines()[1:]}
        for name in ("c.csv", "d.csv")
    )
    assert first and second and not first & second
    run("table2agf", "p.csv", "q", "--group-places", "10km")
    assert len(set(Path("q.grp").read_text().splitlines())) == 15
    for size, message in (
        ("10", "--group-places: expected a length, as 10km or 500m, found '10'"),
        ("10km --group day", "--group"),
    ):
        run("nfold", "ovo", "p.csv", "--group-places", *size.split(), status=2).refused(message)
    run("nfold", "ovo", "t.csv", "--group-places", "5km", status=1).refused(
        "t.csv: has no columns of places, which --group-places needs"
    )
    run("nfold", "ovo", "b", "--group-places", "5km", status=2).refused("is for tables")


def test_a_model_finds_the_places_in_other_tables(run, recorded):
    with_places("p.csv")
    words = ["multi_borders", "-+", "-c 1", "ovo", "p.csv", "m", "m.mbc", "--ignore", "lat,lon"]
    run(*words, "--group-places", "10km")
    run("mbh2mbm", "m.mbc", "m.mbm")
    words = ["calibrate_m", "--map", "temperature", "m.mbm", "-o", "c.mbm", "--data"]
    recorded.clear()
    run(*words, "p.csv")
    check(recorded)
    done = run(*words, "t.csv")
    assert "t.csv: there are no columns of places, which held groups in training" in done.err


def test_what_is_wrong_with_groups_is_said(run):
    words = ["multi_borders", "one-vs-one", "b", "m", "m.mbc"]
    lines = Path("g.txt").read_text().splitlines()
    for text, message in (
        ("\n".join(lines[1:]), "holds 89 groups for 90 points"),
        ("\n".join(["", *lines[1:]]), "g.txt:1: expected the group of a point"),
    ):
        Path("g.txt").write_text(text)
        run(*words, "--group", "g.txt", status=1).refused(message)
    words[2] = "t.csv"
    run(*words, "--group", "month", status=1).refused(
        "t.csv: --group: there is no column 'month'; the columns are 'a', 'b', 'day', 'class'; "
        "there is no file of that name either"
    )
    table = Path("t.csv").read_text().splitlines()
    table = [table[0]] + [re.sub(",day [0-9]+,k1", ",one day,k1", line) for line in table[1:]]
    Path("o.csv").write_text("\n".join(table))
    words[2] = "o.csv"
    run(*words, "--group", "day", status=1).refused(
        "o.csv: class 1 'k1' lies in one group only, 'one day'"
    )
    done = run(*words, "--group", "day", "--min-class", "1")
    assert "1 of 3 classes has fewer than 2 groups and is left out: 1 'k1' (1)" in done.err
    done = run(
        "nfold",
        "--no-state",
        "-n",
        "-d",
        "2",
        "ovo",
        *words[2:3],
        "--group",
        "day",
        "--min-class",
        "1,3",
    )
    assert "1 of 3 classes has fewer than 3 groups and is left out: 1 'k1' (1)" in done.err
    run(*words, "--group", "day", "--min-class", "1,99", status=1).refused(
        "o.csv: no classes of 3 would be left in 99 groups or more: expected at least 2"
    )
    Path("o.csv").write_text("\n".join(table).replace("one day", "", 1))
    run(*words, "--group", "day", status=1).refused("has no group: expected a word in every row")
    run(
        "multi_borders", "-n", "one-vs-one", "t.csv", "m", "m.mbc", "--group", "dat", status=1
    ).refused("--group: there is no column 'dat'")


@pytest.mark.parametrize(
    "command, operands",
    [
        (["nfold", "-d", "3"], ["one-vs-rest", "t.csv", "held"]),
        some(["nfold", "-d", "3", "--report", "p.html"], ["one-vs-rest", "t.csv"]),
        some(["compare_control", "-d", "3"], ["t.csv", "one-vs-one", "empirical"]),
        some(
            ["compare_control", "-f", ".3", "--trials", "2"], ["t.csv", "one-vs-one", "one-vs-rest"]
        ),
        some(["compare_control", "-f", ".5"], ["t.csv", "one-vs-one", "one-vs-rest"]),
        some(["tune_m"], ["k.mbt", "t.csv"]),
        some(["tune_m", "-d", "loo"], ["k.mbt", "t.csv"]),
    ],
)
def test_experiments_divide_no_group(run, recorded, command, operands):
    Path("k.mbt").write_text('"" 0 / 1; "" 0 1 / 2; {0 1 2}')
    done = run(
        *command, "-n", "--no-state", "--group", "day", "-+", "learner=nystrom -m 20", *operands
    )
    check(recorded)
    assert "15, which no split divides" in done.out + done.err
    if command[0] == "nfold":
        assert "standard errors over groups: accuracy 0." in done.out
    if "held" in operands:
        words = ["eval_uc", "--json", "held.truth", "held", "held.txt"]
        low, high = json.loads(run(*words).out)["intervals"]["accuracy"]
        check(recorded)
        Path("held.grp").unlink()
        of_rows = json.loads(run(*words).out)["intervals"]["accuracy"]
        assert high - low > 1.5 * (of_rows[1] - of_rows[0])


@pytest.mark.long
def test_one_command_for_all_divides_no_group(run, recorded):
    done = run(
        "agf_train",
        "--no-state",
        "--group",
        "day",
        "--time-limit",
        "6",
        "--learners",
        "nystrom",
        "t.csv",
        "m.mbm",
    )
    check(recorded)
    assert "estimate for new data" in done.out and "--group=day" in done.out
    scores = [float(one) for one in re.findall(r"log loss ([0-9.]+)", done.out)]
    assert scores and min(scores) > 0.75


def groups_of(base):
    return Path(f"{base}.grp").read_text().split("\n")[:-1]


@pytest.mark.parametrize("split", [["--stratified"], ["-z"]])
def test_parts_of_data_have_whole_groups(run, recorded, split, data):
    for source, output in (
        (["b"], ["u", "v"]),
        (["--group", "day", "t.csv"], ["u", "v"]),
        (["--group", "day", "t.csv"], ["u.csv", "v.csv"]),
    ):
        run("agf_preprocess", *split, "-f", ".3", *source[:-1], source[-1], *output)
        check(recorded)
        parts = (
            [groups_of(name) for name in output]
            if output[0] == "u"
            else [
                [line.split(",")[2] for line in Path(name).read_text().splitlines()[1:]]
                for name in output
            ]
        )
        assert set(parts[0]).isdisjoint(parts[1]) and len(parts[0] + parts[1]) == 90
        assert 5 < len(parts[1]) < 60
        for old in Path().glob("[uv].*"):
            old.unlink()


def test_groups_go_with_their_rows(run, recorded, data):
    x, _, group = data
    run("table2agf", "--group", "day", "t.csv", "u")
    assert groups_of("u") == [f"day {number}" for number in group]
    assert '"group": "day"' in Path("u.recipe").read_text()
    run("agf_preprocess", "-d", "3", "-z", "u", "v")
    check(recorded)
    parts = [set(groups_of(f"v-0{number}")) for number in range(3)]
    assert sum(map(len, parts)) == len(set.union(*parts)) == GROUPS
    done = run("table2agf", "t.csv", "u")  # groups that are of no use do not stay
    assert "u.grp existed before, and is removed" in done.err and not Path("u.grp").exists()
    run("agf_preprocess", "b", "w", "2", "/", "0")
    assert len(groups_of("w")) == 60
    Path("t.svm").write_text("".join(f"{label} 1:1\n" for label in data[1]))
    run("agf_preprocess", "-M", "--group", "g.txt", "-f", ".3", "t.svm", "u.svm", "v.svm")
    check(recorded)
    lines = [Path(f"{name}.svm.groups").read_text().split("\n")[:-1] for name in "uv"]
    assert set(lines[0]).isdisjoint(lines[1]) and len(lines[0] + lines[1]) == 90


@pytest.mark.long
def test_holdout_points_have_groups(run, recorded):
    run("agf_preprocess", "--stratified", "-f", ".5", "--group", "day", "t.csv", "u.csv", "v.csv")
    for name, options in (("a", "-g 1"), ("c", "-g 2")):
        run(
            "multi_borders",
            "-+",
            f"learner=nystrom -m 20 {options}",
            "--group",
            "day",
            "one-vs-rest",
            "u.csv",
            name,
            f"{name}.mbc",
        )
        run("mbh2mbm", f"{name}.mbc", f"{name}.mbm")
    check(recorded)
    run("calibrate_m", "--data", "v.csv", "a.mbm", "-o", "b.mbm")  # the model knows the column
    check(recorded)
    run(
        "mbh2mbm",
        "--join",
        "a.mbm",
        "c.mbm",
        "-o",
        "d.mbm",
        "--data",
        "v.csv",
        "--member-weights",
        "held-out",
    )
    check(recorded)
    run(
        "nfold",
        "-n",
        "-d",
        "3",
        "--no-state",
        "--group",
        "day",
        "-+",
        "learner=nystrom -m 20",
        "one-vs-rest",
        "t.csv",
        "held",
    )
    assert groups_of("held") == groups_of("b")
    recorded.clear()
    run("calibrate_m", "--from", "held", "a.mbm")
    check(recorded)


def test_a_column_that_looks_like_groups_is_named(run):
    lines = Path("t.csv").read_text().splitlines()
    Path("t.csv").write_text(
        "\n".join(
            [
                lines[0].replace("day", "day,sex"),
                *(
                    line.replace(",k", f",{'mf'[number % 2]},k")
                    for number, line in enumerate(lines[1:])
                ),
            ]
        )
    )
    words = ["multi_borders", "--uncalibrated", "one-vs-one", "t.csv", "m", "m.mbc"]
    line = "t.csv: column 'day' looks like groups of rows that are alike, as of patients or days"
    assert f"{line}, which make scores too good: with --group day no split" in run(*words).err
    assert "looks like" not in run(*words, "--group", "day").err
    assert "looks like" not in run(*words, "--group", "none").err
    assert line in run(*words, "--id", "day").err  # an id that repeats
