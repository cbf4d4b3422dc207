"""order_classes and simulate_decoders: the orders and tables that they print."""

import json
import re
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from agfmc.designs.class_order import Problem
from agfmc.control.parse import parse
from agfmc.decode.pair_strategies import opponents_of
from agfmc.experiments.simulation import adag_success, read_similarity, similarity_family, simulate
from agfmc.data.confusions import read_pair_errors
from agfmc.data.libagf import read_std
from data_files import write_cls, write_svm, write_vec
from picture_library import need_library_of

PRIORS = [0.1, 0.1, 0.2, 0.4, 0.2]
TRAINED = "# class 4: four\nm-00 0 / 1;\nm-01 2 / 0;\n'x y' 1 / 2;\n{ 7 4 9 }\n".replace("'", '"')


@pytest.fixture
def order(run, folder):
    """The command in an empty folder; -> its status, output, messages."""

    def call(*words, command="order_classes", **more):
        return run(command, *words, status=None, **more)

    return call


@pytest.fixture
def plan(order):
    """`c`: one against one for five classes."""
    text = order("-Q", "1", "5", command="print_control")[1]
    Path("c").write_text(text)
    return parse(text)


def expected_accuracy(order, priors, e, h=None):
    return Problem(priors, e, h).values(np.array([order]))[0]


def save(base, counts, names=False, spread=0.3):
    """Classes on a line, in the order of `counts`, {label: samples}."""
    rng = np.random.default_rng(2)
    y = np.repeat(list(counts), list(counts.values()))
    place = np.repeat(np.arange(len(counts)), list(counts.values()))
    x = np.stack([place, 50 * rng.normal(size=len(y))], axis=1) + rng.normal(
        scale=spread, size=(len(y), 2)
    )
    write_vec(f"{base}.vec", x.astype(np.float32))
    write_cls(f"{base}.cls", y)
    write_svm(f"{base}.svm", x, y)


def write(name, text):
    Path(name).write_text(text)


def accuracies(message):
    return [float(x) for x in re.search(r"accuracy (\S+) before, (\S+) now", message).groups()]


def refused(answer, status, text):
    assert answer[0] == status and answer[1] == ""
    *warnings, error = answer[2].splitlines()
    assert error.startswith("order_classes: ") and all(": warning: " in one for one in warnings)
    assert text in answer[2]


def test_the_rows_tell_apart_what_they_did(order, plan):
    status, out, err = order("--priors", ",".join(map(str, PRIORS)), "c")
    tree = parse(out)
    assert status == 0 and tree.labels == (0, 2, 3, 4, 1)
    assert tree.sides() == plan.sides()
    assert [row.text for row in tree.rows] == [row.text for row in plan.rows]
    e = np.full((5, 5), 0.1)
    assert err.startswith("order_classes: greedy")
    assert accuracies(err) == pytest.approx(
        [expected_accuracy(range(5), PRIORS, e), expected_accuracy(tree.labels, PRIORS, e)],
        abs=1e-6,
    )


def test_error_rate_changes_the_report_alone(order, plan):
    words = ("--priors", ",".join(map(str, PRIORS)), "c")
    first, second = order(*words), order("--error-rate", ".3", *words)
    assert first[1] == second[1]
    assert accuracies(second[2])[1] == pytest.approx(
        expected_accuracy(parse(second[1]).labels, PRIORS, np.full((5, 5), 0.3)), abs=1e-6
    )
    assert order("--quiet", *words) == (0, first[1], "")


def test_a_trained_file_keeps_names_labels_and_sides(order):
    before = parse(TRAINED)
    status, out, _ = order("--priors", ".5,.2,.3", "-", stdin=TRAINED)  # of 4, 7, 9
    after = parse(out)
    assert status == 0 and after.labels == (7, 4, 9)
    assert order("--priors", ".1,.2,.7", "-", stdin=TRAINED)[1].split("{")[1].split("}")[
        0
    ].split() == ["4", "9", "7"]
    assert after.sides() == before.sides() and after.names == {4: "four"}
    assert [row.text for row in after.rows] == ["m-00", "m-01", "x y"]


def test_a_pipeline_and_its_own_output(order, plan):
    first = order("--priors", ".1,.3,.2,.3,.1", "c")
    again = order("--priors", ".1,.3,.2,.3,.1", "-", stdin=first[1])
    assert again[1] == first[1]
    assert accuracies(again[2])[0] == accuracies(again[2])[1] == accuracies(first[2])[1]


@pytest.mark.parametrize("words", [["trn"], ["-M", "trn.svm"], ["-A", "trn.lvq"]])
def test_priors_from_data(order, plan, words):
    save("trn", {0: 10, 1: 10, 2: 20, 3: 40, 4: 20})
    rows = "".join(
        f"{i} {label}\n"
        for i, label in enumerate([0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 0, 1, 2, 2, 3, 3, 3, 3, 4, 4])
    )
    write("trn.lvq", "1\n" + rows)
    status, out, err = order("c", *words)
    given = order("--priors", ",".join(map(str, PRIORS)), "c")
    assert (status, out, err) == given


def test_priors_are_made_to_sum_to_one(order, plan):
    status, out, err = order("--priors", "1,1,2,4,2", "c")
    given = order("--priors", ",".join(map(str, PRIORS)), "c")
    assert (status, out) == given[:2]
    warning, rest = err.split("\n", 1)
    assert warning == "order_classes: warning: the priors sum to 10: they are divided by that"
    assert rest == given[2]


def error_file(k, seed=0, third=False):
    rng = np.random.default_rng(seed)
    lines = ["# errors\n"]
    for i in range(k):
        for j in range(i):
            lines.append(f"{i} {j} {10 + i} {rng.integers(0, 5)} {10 + j} {rng.integers(0, 5)}\n")
            if third:
                lines += [
                    f"{t} {i} {j} 20 {rng.integers(0, 21)}\n" for t in range(k) if t not in (i, j)
                ]
    return "".join(lines)


@pytest.mark.parametrize("third", [False, True])
def test_errors_give_the_best_order(order, plan, third):
    write("e.txt", error_file(5, third=third))
    errors = read_pair_errors("e.txt")
    priors = np.arange(10, 15) / 60
    values = {
        some: expected_accuracy(some, priors, errors.error_rates(), errors.shares())
        for some in permutations(range(5))
        if some[0] < some[-1]
    }
    best = max(values, key=values.get)
    status, out, err = order("--errors", "e.txt", "c")
    assert status == 0 and parse(out).labels == best
    assert parse(out).sides() == plan.sides()
    assert "optimal, all orders were tried" in err
    assert "training all pairs takes 0.32 times as long as one-vs-rest" in err
    assert accuracies(err) == pytest.approx([values[tuple(range(5))], values[best]], abs=1e-6)
    assert order("--errors", "e.txt", "--seed", "2", "c")[1] == out
    other = order("--errors", "-", "--priors", "0,0,1,1,0", "c", stdin=error_file(5, third=third))
    assert accuracies(other[2])[1] != accuracies(err)[1]


def test_errors_of_more_classes_than_needed_and_of_fewer(order, plan):
    write("e.txt", error_file(7))
    assert order("--errors", "e.txt", "c")[0] == 0
    write("e.txt", error_file(4))
    refused(order("--errors", "e.txt", "c"), 1, "e.txt: has no errors of class 4")
    write("e.txt", error_file(5).replace("3 2 ", "# "))
    refused(order("--errors", "e.txt", "c"), 1, "e.txt: has no errors of the pair 2 3")
    write("e.txt", "0 1 5 6 5 5\n")
    refused(order("--errors", "e.txt", "c"), 1, "e.txt:1: 6 errors on class 0")


def test_adjacent_puts_ordered_classes_in_order(order):
    save("trn", {3: 30, 0: 40, 4: 30, 1: 20, 2: 30})
    adjacent = order("-Q", "5", "trn", command="print_control")[1]
    status, out, err = order("--adjacent", "mean-deviation", "-", "trn", stdin=adjacent)
    assert status == 0
    # the second feature is noise that hides the first
    assert parse(out).labels != (2, 1, 4, 0, 3)
    save("trn", {3: 30, 0: 40, 4: 30, 1: 20, 2: 30}, spread=0.1)
    x = np.fromfile("trn.vec", "<f4", offset=4).reshape(-1, 2)
    x[:, 1] /= 1000
    write_vec("trn.vec", x)
    for metric in ("hausdorff", "mean-deviation"):
        status, out, err = order("--adjacent", metric, "-", "trn", stdin=adjacent)
        tree = parse(out)
        assert status == 0 and tree.labels == (2, 1, 4, 0, 3)
        rows, old = tree.rows, parse(adjacent).rows
        assert [(r.text, r.left, r.right) for r in rows] == [(r.text, r.left, r.right) for r in old]
        # row i: the first i + 1 classes of the path, and the others
        assert tree.sides()[1] == ((2, 1), (4, 0, 3))
        before, now = re.search(r"length of the path (\S+) before, (\S+) now", err).groups()
        assert "the shortest path there is" in err and float(now) < float(before)
    again = order("--adjacent", "mean-deviation", "-", "trn", stdin=out)
    assert again[1] == out


def test_adjacent_normalises_as_print_control_does(order):
    save("trn", {1: 30, 0: 30, 2: 30})
    adjacent = order("-Q", "5", "3", command="print_control")[1]
    plain = order("--adjacent", "mean-deviation", "-", "trn", stdin=adjacent)
    scaled = order("--adjacent", "mean-deviation", "-n", "-a", "f.std", "-", "trn", stdin=adjacent)
    assert scaled[0] == 0 and scaled[2] != plain[2]
    assert read_std("f.std").matrix.shape == (2, 2)
    assert (
        order("--adjacent", "mean-deviation", "-a", "f.std", "-", "trn", stdin=adjacent) == scaled
    )
    assert (
        order("--adjacent", "mean-deviation", "-n", "-M", "-", "trn.svm", stdin=adjacent)[1]
        == scaled[1]
    )
    assert (
        order("--adjacent", "mean-deviation", "-n", "-S", "1", "-", "trn", stdin=adjacent)[0] == 0
    )


TREE = '"" {\n 0\n 1\n}\n'


@pytest.mark.parametrize(
    "text, message",
    [
        ('"" 0 / 1; "" 0 / 2; { 0 1 2 }', "no classifier separates classes 1 and 2"),
        ('"" 0 / 1;\n"" 0 / 2;\n"" 1 2 / 0;\n{ 0 1 2 }', "3:1: expected one class on each side"),
        (
            '"" 0 / 1;\n"" 0 / 2;\n"" 1 / 0;\n{ 0 1 2 }',
            "3:1: classes 0 and 1 are separated on line 1",
        ),
        (TREE, "expected one coding matrix, found a tree"),
        ('"" { "" 0 / 1; { 0 1 } 2 }', "found a tree"),
        ('"-k 3" K { 0 1 2 }', "found a classifier of code K"),
        ("{", "1:1:"),
    ],
)
def test_other_control_files_are_refused(order, text, message):
    refused(order("-", stdin=text), 1, message)


def test_adjacent_refuses_what_is_trained_and_trees(order):
    save("trn", {4: 9, 7: 9, 9: 9})
    refused(
        order("--adjacent", "mean-deviation", "-", "trn", stdin=TRAINED),
        1,
        "is this file trained already?",
    )
    refused(order("--adjacent", "mean-deviation", "-", "trn", stdin=TREE), 1, "found a tree")


def test_data_of_other_classes_are_refused(order, plan):
    save("few", {0: 5, 1: 5, 2: 5, 3: 5})
    save("many", {i: 5 for i in range(6)})
    for words in ([], ["--adjacent", "hausdorff"]):
        refused(order(*words, "c", "few"), 1, "class 4 has no samples in few")
        refused(order(*words, "c", "many"), 1, "hold class 5, which the control file does not name")
        assert order(*words, "c", "none")[0] == 1


@pytest.mark.parametrize(
    "words, message",
    [
        (["--adjacent", "mean-deviation", "c"], "--adjacent needs train"),
        (
            ["--adjacent", "mean-deviation", "--errors", "e", "c", "trn"],
            "--adjacent and --errors exclude each other",
        ),
        (["-n", "c", "trn"], "-n needs --adjacent"),
        (["-M", "c"], "-M needs train"),
        (["--priors", "1,2", "c", "trn"], "--priors and train exclude each other"),
        (["--priors", "1,2", "c"], "expected 5 priors, one for each class, found 2"),
        (["--priors", "1,1,1,1,-1", "c"], "not negative"),
        (["--priors", "0,0,0,0,0", "c"], "nor all 0"),
        (["--errors", "e", "--error-rate", ".1", "c"], "exclude each other"),
        (["--error-rate", "1.5", "c"], "expected a number from 0 to 1"),
        (["--errors", "-", "-"], "control and --errors cannot both be standard input"),
        (["--adjacent", "x", "c", "trn"], "invalid choice"),
    ],
)
def test_wrong_command_lines(order, plan, words, message):
    refused(order(*words), 2, message)


SMALL = ["--class-count", "4,8", "--error-rate", ".2,.1", "--rounds", "400"]


def printed(run, *words, **more):
    done = run("simulate_decoders", *words, **more)
    assert done.err == ""
    return done.out


def refused_simulate(run, *words, status=2):
    return run("simulate_decoders", *words, status=status).refused()


def test_table(run):
    heads, *lines = printed(run, *SMALL, "--opponents", "3,1log", "--finalists", "2").splitlines()
    assert re.split(" {2,}", heads) == [
        "classes",
        "error",
        "MAX-WIN",
        "POLL 3",
        "POLL 1log",
        "TOP-2 3",
        "TOP-2 1log",
        "ADAG",
        "exact",
        "DDAG",
        "exact",
        "std.err",
        "s1/s2",
        "limit",
        "enough",
        "bound",
    ]
    assert {len(heads), *map(len, lines)} == {len(heads)}
    cells = [line.split() for line in lines]
    assert [row[:2] for row in cells] == [["4", "0.2"], ["8", "0.2"], ["4", "0.1"], ["8", "0.1"]]
    found = simulate(8, rounds=400, seed=1, model=0.2, opponents=[3], top=2)
    success = {name: f"{found[name]['success']:.4f}" for name in ("max_win", "adag", "ddag")}
    (three,) = found["polls"]
    assert cells[1][2] == success["max_win"]
    assert cells[1][3] == cells[1][4] == f"{three['success']:.4f}"  # 1log2 8 = 3
    assert cells[1][5] == f"{three['top']['success']:.4f}"
    assert cells[1][7:9] == [success["adag"], f"{adag_success(8, 0.2):.4f}"]
    assert cells[1][9] == success["ddag"]
    # 5.770780 (2 * 1.6/.6)^2 log2(8/.1) + 2 = 1039.7
    assert cells[1][12:] == [f"{found['separation']:.3f}", "1.600", "-", "1040"]


def test_csv_and_json_agree(run):
    names, *lines = printed(run, *SMALL, "--report=-.csv").splitlines()
    result = json.loads(printed(run, *SMALL, "--json"))
    assert (result["rounds"], result["seed"], result["top"]) == (400, 1, 5)
    assert len(lines) == len(result["results"]) == 4
    for line, row in zip(lines, result["results"]):
        values = [float(text or "nan") for text in line.split(",")]
        cell = dict(zip(names.split(","), values, strict=True))
        assert cell["classes"] == row["classes"] and cell["error"] == row["error"]
        assert cell["opponents_bound"] == row["opponents_bound"]
        assert cell["adag"] == row["adag"]["success"]
        assert cell["adag_exact"] == row["adag"]["exact"]
        assert cell["poll_3log"] == row["polls"][1]["success"]
        assert cell["poll_5log_top_5"] == row["polls"][2]["top"]["success"]
        p = row["max_win"]["success"]
        assert row["max_win"]["standard_error"] == pytest.approx((p * (1 - p) / 400) ** 0.5)
        assert cell["standard_error"] >= row["max_win"]["standard_error"]


def test_a_line_does_not_depend_on_the_others(run):
    lines = printed(run, *SMALL, "--report=-.csv").splitlines()
    alone = printed(
        run, "--class-count", "8", "--error-rate", ".1", "--rounds", "400", "--report=-.csv"
    )
    assert alone.splitlines()[1] == lines[4]
    assert printed(run, *SMALL, "--report=-.csv", "--seed", "2").splitlines()[1:] != lines[1:]


def test_defaults_are_the_published_experiment(run):
    lines = printed(run, "--rounds", "8", "--report=-.csv").splitlines()
    assert [line.split(",")[:2] for line in lines[1:]] == [
        [str(2**c), error] for error in ("0.1", "0.3") for c in range(4, 10)
    ]
    assert "poll_1log,poll_3log,poll_5log," in lines[0]


def test_two_classes_have_no_separation(run):
    words = ["--class-count", "2", "--error-rate", "0.1", "--rounds", "100"]
    assert printed(run, *words).splitlines()[1].split()[-4:-2] == ["-", "1.800"]
    assert json.loads(printed(run, *words, "--json"))["results"][0]["separation"] is None
    assert printed(run, *words, "--report=-.csv").splitlines()[1].split(",")[-4] == ""


@pytest.mark.parametrize(
    "word, k, draws",
    [
        ("7", 512, 7),
        ("1log", 16, 4),
        ("3log", 512, 27),
        ("3log", 10, 10),
        ("0.1log", 8, 1),
        ("2.5log", 4, 5),
    ],
)
def test_opponents(word, k, draws):
    assert opponents_of(word, k) == draws


def test_similarity(run, tmp_path):
    from_values = printed(run, "--similarity", "5,3,2", "--rounds", "300")
    file = tmp_path / "r"
    file.write_text("0.5\n0.3 0.2\n")
    assert printed(run, "--similarity", str(file), "--rounds", "300") == from_values
    assert printed(run, "--similarity", "-", "--rounds", "300", stdin="50 30 20") == from_values
    assert from_values.splitlines()[0].split()[:2] == ["classes", "MAX-WIN"]
    assert "exact" not in from_values
    assert read_similarity("5,3,2") == pytest.approx([0.5, 0.3, 0.2])


def test_families_of_similarity(run):
    words = ["--class-count", "3,5", "--rounds", "300", "--json"]
    family = json.loads(printed(run, "--similarity", "geometric:0.5", *words))["results"]
    values = json.loads(printed(run, "--similarity", "4,2,1", "--rounds", "300", "--json"))
    assert [row["classes"] for row in family] == [3, 5]
    assert family[0] == values["results"][0]
    assert family[0]["error"] is family[0]["adag"]["exact"] is None
    assert similarity_family("power:2")(3) == pytest.approx([1, 1 / 4, 1 / 9])


@pytest.mark.parametrize(
    "words, told",
    [
        (["--class-count", "1"], "2 to 4096"),
        (["--class-count", "8,8"], "each value once"),
        (["--class-count", "8,x"], "whole number"),
        (["--error-rate", "1.5"], "expected a number from 0 to 1"),
        (["--opponents", "0"], "such as 3log"),
        (["--opponents", "0log"], "such as 3log"),
        (["--finalists", "0"], "1 or more"),
        (["--top", "2"], "unrecognized arguments: --top"),
        (["--report=-.csv", "--report=-.json"], "expected a file, not standard output"),
        (["file"], "unrecognized"),
        (["--error-rate", "0.1", "--similarity", "2,1"], "exclude each other"),
        (["--class-count", "4", "--similarity", "2,1"], "similarities of 2 classes"),
        (["--similarity", "geometric:2"], "0 < Q < 1"),
        (["--similarity", "power:x"], "Q > 0"),
        (["--similarity", "cubic:2"], "geometric:Q"),
        (["--similarity", "geometric:0.01", "--class-count", "512"], "span more"),
        (["--report", "picture.gif"], ".svg or .png or .pdf"),
    ],
)
def test_usage(run, words, told):
    assert told in refused_simulate(run, *words)


@pytest.mark.parametrize(
    "value, told",
    [
        ("1,2", "must be the largest"),
        ("2,2", "must be the largest"),
        ("2,-1", "not negative"),
        ("2,inf", "finite"),
        ("2,x", "'x'"),
        ("nowhere", "nowhere: cannot read"),
    ],
)
def test_bad_similarities(run, tmp_path, monkeypatch, value, told):
    monkeypatch.chdir(tmp_path)
    assert told in refused_simulate(run, "--similarity", value, status=1)


def test_a_bad_file_is_named(run, tmp_path):
    file = tmp_path / "r"
    file.write_text("0.5\n")
    assert f"{file}: expected similarities of two or more classes, found 1" in refused_simulate(
        run, "--similarity", str(file), status=1
    )


def test_without_the_library_of_the_picture_nothing_is_simulated(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    monkeypatch.setattr("agfmc.cli.work.simulate_decoders.simulations", None)
    told = refused_simulate(run, *SMALL, "--report", str(tmp_path / "a.png"))
    assert "a picture in PNG needs resvg_py: pip install 'agfmc[plot]'" in told
    assert not list(tmp_path.iterdir())


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "name, magic", [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"), ("a.pdf", b"%PDF")]
)
def test_pictures(run, tmp_path, name, magic):
    need_library_of(name)
    file = tmp_path / name
    out = printed(run, *SMALL, "--report", str(file))
    assert out == printed(run, *SMALL)
    first = file.read_bytes()
    assert first.startswith(magic)
    printed(run, *SMALL, "--report", str(file))
    assert file.read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_picture_that_cannot_be_written(run, tmp_path):
    refused_simulate(run, *SMALL, "--report", str(tmp_path / "nowhere" / "a.svg"), status=1)


def test_panels_and_lines_of_the_pictures():
    from agfmc.experiments.simulation import SimulationPlan, simulations
    from agfmc.report.chart_simulation import simulation_pictures

    rows = simulations(SimulationPlan([16, 4, 8], [0.1, 0.4], ["2", "1log"], 3, 50, 1))
    *panels, key = simulation_pictures(rows, 3)
    assert [panel.title for panel in panels] == ["error probability 0.1", "error probability 0.4"]
    words = re.findall("<text[^>]*>([^<]*)<", key.drawing.elements())
    assert {"MAX-WIN", "POLL l = 2", "POLL l = log\u2082 k + TOP-3", "DDAG"} < set(words)
    lines = [
        path.split()
        for path in re.findall('<path class="[^"]*thin" d="([^"]*)"', panels[1].drawing.elements())
    ]
    assert len(lines) == len(words) == 7
    by_k = {row["classes"]: row for row in rows if row["error"] == 0.4}
    for place, value in (
        (0, by_k[8]["max_win"]),
        (4, by_k[8]["polls"][0]),
        (1, by_k[8]["polls"][1]["top"]),
    ):
        if place:  # the order of POLL is that of the number of its opponents
            place = words.index(
                f"POLL l = {'2' if place == 4 else 'log' + chr(0x2082) + ' k'}"
                + " + TOP-3" * (place == 1)
            )
        assert float(lines[place][3]) == pytest.approx(256 - 230 * value["success"], abs=0.1)


def test_frequencies_and_distances_are_weighted(order, plan):
    save("trn", {0: 6, 1: 6, 2: 6, 3: 6, 4: 6})
    w = np.repeat([1.0, 3.0, 2.0, 5.0, 4.0], 6)
    write("w", "\n".join(map(str, w)))
    _, expected, told = order("--priors", ".0666667,.2,.1333333,.3333333,.2666667", "c")
    assert order("--weight", "w", "c", "trn") == (0, expected, told)
    assert order("--class-weight", "1=3,2=2,3=5,4=4", "c", "trn") == (0, expected, told)
    w.astype("<f4").tofile("trn.wgt")
    assert order("--min-class", "2", "c", "trn")[1] == expected
    even = order("c")[1]
    assert order("--weight", "none", "c", "trn")[1] == even != expected
    write("one", "# path\n" + "\n".join(str(1 + 40 * (row % 6 == 0)) for row in range(30)))
    plain, weighted = (
        order("--adjacent", "mean-deviation", "c", "trn", "--weight", name)[2]
        for name in ("none", "one")
    )
    assert plain != weighted
