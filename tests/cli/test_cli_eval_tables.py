"""eval_uc on tables of answers: the scores of the binary way, rows joined by ids, refusals."""

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest

from agfmc.files.csv import csv_line, csv_lines
from agfmc.answers.libagf_text import format_points
from data_files import write_cls

NAMES = ["ash", "elm, red", "oak"]


@pytest.fixture(autouse=True)
def points(folder):
    """80 points of 3 classes: p (80, 3), answers, -1 where rejected, and truth.

    `answers.csv` and `data.csv`, whose rows are in another order, and the same as `truth.cls`,
    `out.cls`, `probs`, `out.sets`.
    """
    rng = np.random.default_rng(11)
    truth = rng.integers(0, 3, 80)
    p = rng.dirichlet(np.ones(3), 80)
    p[np.arange(80), truth] += 0.7
    p = (p / p.sum(axis=1, keepdims=True)).round(6)
    answer = np.where(p.max(axis=1) < 0.5, -1, p.argmax(axis=1))
    write_cls("truth.cls", truth)
    write_cls("out.cls", answer)
    Path("probs").write_bytes(b"labels 0 1 2\n" + format_points(p, answer))
    ids = [f"R{i}" for i in range(80)]
    write(
        "answers.csv",
        ["id", "class", "p", *[f"p:{name}" for name in NAMES]],
        [ids, [*map(word, answer)], numbers(p.max(axis=1)), *map(numbers, p.T)],
    )
    order = rng.permutation(80)
    write(
        "data.csv",
        ["x", "id", "kind"],
        [numbers(p[:, 0]), [ids[i] for i in order], [word(truth[i]) for i in order]],
    )
    return p, answer, truth


def word(number):
    return NAMES[number] if number >= 0 else ""


def numbers(values):
    return [f"{value:.6f}" for value in values]


def write(path, header, columns):
    Path(path).write_bytes(csv_line(header) + csv_lines(columns))


def scores(run, *words):
    return json.loads(run("eval_uc", "--json", *words).out)


TABLES = "answers.csv", "--truth", "kind", "--data", "data.csv"
FILES = "truth.cls", "out", "probs"


@pytest.mark.parametrize(
    "words",
    [
        ["--by-class"],
        ["--top-accuracy", "2", "--ordered"],
        ["--intervals", "20", "-q", "4"],
        ["--priors", "0.2,0.5,0.3"],
        ["-b"],
        ["-B", "-H"],
        [],
    ],
)
def test_a_table_has_the_scores_of_the_files(run, words):
    Path("truth.names").write_text("".join(name + "\n" for name in NAMES))
    table, files = (run("eval_uc", *words, *operands) for operands in (TABLES, FILES))
    assert table.out == files.out and table.err == files.err == ""


def test_json_lines_gzip_and_columns_of_the_same_table(run, points):
    p, answer, truth = points
    wanted = scores(run, *TABLES)
    assert wanted["names"] == NAMES and wanted["rejected"] == (answer < 0).sum() > 0
    lines = [
        json.dumps(
            {
                "id": f"R{i}",
                "class": word(answer[i]) or None,
                "p": p[i].max(),
                "probabilities": dict(zip(NAMES, p[i])),
            }
        )
        + "\n"
        for i in range(80)
    ]
    Path("answers.jsonl").write_text("".join(lines))
    assert scores(run, "answers.jsonl", *TABLES[1:]) == wanted
    Path("answers.jsonl.gz").write_bytes(gzip.compress("".join(lines).encode()))
    assert scores(run, "answers.jsonl.gz", *TABLES[1:]) == wanted
    write(
        "both.txt",
        ["guess", "p:oak", "p:ash", "p:elm, red", "class", "row"],
        [
            [*map(word, answer)],
            *map(numbers, p.T[[2, 0, 1]]),
            [*map(word, truth)],
            [*map(str, range(1, 81))],
        ],
    )
    found = scores(run, "both.txt", "--truth", "class", "--predicted", "guess")
    assert found["names"] == ["oak", "ash", "elm, red"]
    for name in ("accuracy", "log_loss", "brier", "macro_auc", "hand_till_auc"):
        assert found[name] == pytest.approx(wanted[name], rel=1e-12), name
    assert found == json.loads(
        run(
            "eval_uc",
            "--json",
            "-",
            "--truth",
            "5",
            "--predicted",
            "guess",
            stdin=Path("both.txt").read_text(),
        ).out
    )
    reordered = scores(
        run, "both.txt", "--truth", "class", "--predicted", "guess", "--names", names_file(NAMES)
    )
    assert reordered["names"] == NAMES and reordered["contingency"] == wanted["contingency"]


def names_file(names):
    Path("n.names").write_text("".join(name + "\n" for name in names))
    return "n.names"


def test_classes_have_their_names(run):
    table, files = (
        csv.reader(io.StringIO(run("eval_uc", "--report=-.csv", *words).out))
        for words in (TABLES, FILES)
    )
    names = {"": "", "class": "class", **{str(label): name for label, name in enumerate(NAMES)}}
    assert list(table) == [[score, names[label], *rest] for score, label, *rest in files]


def test_proportions_of_named_classes(run):
    for path in ("answers.csv", "data.csv"):
        Path(path).write_text(
            Path(path).read_text().replace('"elm, red"', "elm").replace('"p:elm, red"', "p:elm")
        )
    assert scores(run, "--priors", "oak=.1,elm=.2,ash=.7", *TABLES) == scores(
        run, "--priors", ".7,.2,.1", *TABLES
    )
    run("eval_uc", "--priors", "fir=.1,elm=.9", *TABLES, status=2).refused(
        "class fir is not one of the classes"
    )
    run("eval_uc", "--priors", "ash=.1", *FILES, status=2).refused("class ash is not one of")


def test_rows_without_ids_are_in_one_order(run, points):
    p, answer, truth = points
    write(
        "a.csv",
        ["row", "class", "p"],
        [[*map(str, range(1, 81))], [*map(word, answer)], numbers(p.max(axis=1))],
    )
    write("d.csv", ["row", "kind"], [[*map(str, range(80))], [*map(word, truth)]])
    found, wanted = scores(run, "a.csv", "--truth", "kind", "--data", "d.csv"), scores(run, *TABLES)
    for name in ("accuracy", "contingency", "brier_winning", "aurc", "calibration"):
        assert found[name] == wanted[name], name
    assert found["log_loss"] is None
    write("d.csv", ["kind"], [[*map(word, truth[:-1])]])
    run("eval_uc", "a.csv", "--truth", "kind", "--data", "d.csv", status=1).refused(
        "a.csv: has 80 answers, and d.csv has 79 rows"
    )
    run("eval_uc", "--top-accuracy", "2", "a.csv", "--truth", "kind", "--data", "d.csv", status=1)


@pytest.mark.parametrize("name", ["flags", "margin", "class1", "p_value:ash", "score"])
def test_what_answers_say_of_rows_without_ids_is_no_id(run, points, name):
    p, answer, truth = points
    columns = [[*map(str, range(1, 81))], [*map(word, answer)], numbers(p.max(axis=1))]
    write("a.csv", ["row", "class", "p", name], [*columns, ["x"] * 80])
    write("d.csv", ["kind"], [[*map(word, truth)]])
    found = scores(run, "a.csv", "--truth", "kind", "--data", "d.csv")
    assert found["contingency"] == scores(run, *TABLES)["contingency"]


def test_sets(run, points):
    p, answer, truth = points
    members = p > 0.25
    Path("out.sets").write_text(
        "".join(" ".join(map(str, np.flatnonzero(row))) + "\n" for row in members)
    )
    texts = [" | ".join(np.array(NAMES)[row]) for row in members]
    write(
        "s.csv",
        ["id", "class", "p", "set"],
        [[f"R{i}" for i in range(80)], [*map(word, answer)], numbers(p.max(axis=1)), texts],
    )
    wanted = scores(run, "--sets", "out.sets", *FILES)
    words = "s.csv", *TABLES[1:]
    assert scores(run, *words)["sets"] == wanted["sets"]
    alone = run("eval_uc", "--json", "s.csv", "--data", "data.csv")  # as of answers
    assert json.loads(alone.out)["sets"] == wanted["sets"]
    assert "the true classes are those of column 'kind'" in alone.err
    Path("s.jsonl").write_text(
        "".join(
            json.dumps(
                {
                    "id": f"R{i}",
                    "class": word(answer[i]) or None,
                    "p": 0.5,
                    "set": list(np.array(NAMES)[members[i]]),
                }
            )
            + "\n"
            for i in range(80)
        )
    )
    assert scores(run, "s.jsonl", *words[1:])["sets"] == wanted["sets"]
    run("eval_uc", "--control", "t", *TABLES, status=1)
    Path("t").write_text('"" { "" { 4 5 } 9 }')
    run("eval_uc", "--control", "t", *words, status=1).refused("t: the tree has no class 'ash'")


def test_sets_that_are_nodes_of_a_tree(run, points):
    truth = points[2]
    members = [[0, 1] if i % 3 else [int(truth[i])] for i in range(80)]
    Path("out.sets").write_text("".join(" ".join(map(str, row)) + "\n" for row in members))
    Path("plain").write_text('"" { "" { 0 1 } 2 }')
    wanted = scores(run, "--sets", "out.sets", "--control", "plain", "truth.cls", "out")["sets"]
    write(
        "b.csv",
        ["class", "p", "set", "kind"],
        [
            ["" if len(row) > 1 else str(row[0]) for row in members],
            ["0.9"] * 80,
            [" | ".join(map(str, row)) for row in members],
            [*map(str, truth)],
        ],
    )
    found = scores(run, "b.csv", "--truth", "kind", "--control", "plain")["sets"]
    assert found == wanted and "hierarchical_f" in found
    lines = Path("b.csv").read_text().splitlines()
    lines[4] = "0,0.9,0 | 2,0"
    Path("b.csv").write_text("\n".join(lines) + "\n")
    run("eval_uc", "b.csv", "--truth", "kind", "--control", "plain", status=1).refused(
        "b.csv:5: row 4: expected a class, or all classes below a node of the tree in plain, found 0 2"
    )


def test_probabilities_before_calibration_are_joined_too(run, points):
    p, answer, _ = points
    raw = (p + 1) / 4
    Path("raw").write_bytes(b"labels 0 1 2\n" + format_points(raw, answer))
    wanted = scores(run, "--before", "raw", *FILES)["before"]
    order = np.random.default_rng(3).permutation(80)
    write(
        "raw.csv",
        ["p:oak", "id", "p:ash", "p:elm, red", "class"],
        [
            numbers(raw[order, 2]),
            [f"R{i}" for i in order],
            numbers(raw[order, 0]),
            numbers(raw[order, 1]),
            [word(answer[i]) for i in order],
        ],
    )
    assert scores(run, "--before", "raw.csv", *TABLES)["before"] == wanted
    write("raw.csv", ["id", "p:ash", "class"], [["R1"], ["0.5"], ["ash"]])
    run("eval_uc", "--before", "raw.csv", *TABLES, status=1).refused("raw.csv: has the classes ")


def test_a_true_class_that_no_column_names_counts_as_wrong(run, points):
    text = Path("data.csv").read_text().replace("oak", "fir", 1)
    Path("data.csv").write_text(text)
    done = run("eval_uc", "--json", *TABLES)
    done.line(
        "answers.csv: the true class 'fir' is none of the answers': 1 row counts as wrong, "
        "with probability 0"
    )
    found = json.loads(done.out)
    assert found["names"] == [*NAMES, "fir"] and found["zero_probability"] == 1
    assert [sum(row) for row in found["contingency"]][3] == 1
    assert [row[3] for row in found["contingency"]] == [0, 0, 0, 0]


def changed(path, old, new):
    def change():
        text = Path(path).read_text()
        assert old in text
        Path(path).write_text(text.replace(old, new, 1))

    return change


@pytest.mark.parametrize(
    "change, words, status, text",
    [
        (None, ["answers.csv"], 2, "answers.csv does not show which column has the true classes"),
        (
            lambda: Path("text.svm").write_text("1 1:2 2:3\n0 1:1\n"),
            ["answers.csv", "--data", "text.svm"],
            2,
            "is a table, not LIBSVM text); found the columns",
        ),
        (None, ["truth.cls"], 2, "operands are missing"),
        (None, ["truth.vec", "answers"], 2, "truth.vec holds points: expected the true classes"),
        (None, ["truth.cls", "answers.csv"], 2, "comes first: eval_uc answers.csv [--truth COL"),
        (None, [*FILES, "--data", "data.csv"], 2, "--data is for a table of answers"),
        (None, ["answers.csv", "out", *TABLES[1:]], 2, "result is for files of numbers"),
        (None, ["answers.csv", "--truth", "class"], 2, "cannot hold the answers and the truth"),
        (None, ["answers.csv", "--truth", "id", "--id", "id"], 2, "--id joins the answers"),
        (None, ["answers.csv", "--truth", "kind"], 1, "no column 'kind'; the columns are 'id', "),
        (None, [*TABLES, "--predicted", "guess"], 1, "there is no column 'guess' of answers"),
        (None, [*TABLES, "--id", "x"], 1, "answers.csv: --id: there is no column 'x' of ids"),
        (None, ["answers.csv", "--truth", "x", "--data", "data.csv"], 1, "no answer is one of "),
        (changed("data.csv", "id,", "key,"), TABLES, 1, "data.csv: has no column that the answers"),
        (
            changed("answers.csv", "R7,", "R5,"),
            TABLES,
            1,
            "answers.csv:9: row 8: id 'R5' stands in row 6 already",
        ),
        (changed("data.csv", "R7,", "R5,"), TABLES, 1, "id 'R5' stands in row "),
        (
            changed("answers.csv", "R7,", "S7,"),
            TABLES,
            1,
            "answers.csv:9: row 8: there is no row of id 'S7' in data.csv",
        ),
        (changed("answers.csv", "R1,", "R1,x"), TABLES, 1, "has the class 'x"),
        (
            changed("answers.csv", "\n", ",t\n"),
            TABLES,
            1,
            "answers.csv:2: row 1: 6 cells, expected 7",
        ),
        (
            changed("answers.csv", "p:oak", "p: ash"),
            TABLES,
            1,
            "two columns hold the probabilities",
        ),
    ],
)
def test_refused_in_one_line(run, change, words, status, text):
    if change is not None:
        change()
    run("eval_uc", *words, status=status).refused(text)


def test_a_missing_truth_is_told_with_its_line_and_the_count(run, points):
    lines = Path("data.csv").read_text().splitlines()
    for at in (3, 7):
        lines[at] = ",".join(lines[at].split(",")[:2]) + ",NA"
    Path("data.csv").write_text("\n".join(lines) + "\n")
    run("eval_uc", *TABLES, status=1).refused(
        "data.csv:4: row 3: column 'kind' has no class (one of 2 such rows): expected the true class"
    )


@pytest.mark.parametrize(
    "values, told",
    [
        ("2,1,0", "votes, not probabilities: whole numbers that have sums in a row from 3 to 3"),
        (
            "60.5,30,9.5",
            "percent, not probabilities: their sum in a row is 100; divide them by 100",
        ),
        ("50,50,0", "percent, not probabilities: their sum in a row is 100; divide them by 100"),
        (
            "1.5,1.5,.5",
            "no probabilities: they have sums in a row from 3.5 to 3.5; divide each row",
        ),
        ("-1,-2,-.5", "no probabilities: they have sums in a row from -3.5 to -3.5; divide each"),
    ],
)
def test_other_values_are_not_scored_as_probabilities(run, points, values, told):
    lines = Path("answers.csv").read_text().splitlines()
    others = [f"{line.rsplit(',', 3)[0]},{values}" for line in lines[1:]]
    Path("answers.csv").write_text("\n".join([lines[0], *others]) + "\n")
    done = run("eval_uc", "--json", *TABLES)
    done.line(f"the values in answers.csv are {told}")
    assert json.loads(done.out)["log_loss"] is None


def test_what_is_no_line_of_json(run):
    for line, text in (
        ('{"class": ', "a.jsonl:2: expected a JSON object"),
        ("[1]", "a.jsonl:2"),
        ('{"class": "a"}', "a.jsonl:2: has no 'kind'"),
        ('{"class": "a", "kind": 1e999}', "a.jsonl:2: expected a word in 'kind'"),
        ('{"class": ["a"], "kind": "a"}', "a.jsonl:2: expected a word in 'class'"),
        ('{"class": "\\ud800", "kind": "a"}', "a.jsonl:2: expected a JSON object"),
    ):
        Path("a.jsonl").write_text('{"class": "a", "kind": "a"}\n' + line + "\n")
        run("eval_uc", "a.jsonl", "--truth", "kind", status=1).refused(text)


def test_the_real_commands_give_the_same_scores_both_ways(run, root):
    rows = (root / "sample_data" / "penguins.csv").read_text().splitlines()
    rows = [rows[0], *rows[1::4]]
    Path("t.csv").write_text("\n".join(rows) + "\n")
    words = "--label", "species", "--id", "id", "--ignore", "comments,sex", "-E", "median"
    run("table2agf", "t.csv", "b", *words)
    run("table2agf", "t.csv", *words)
    control = run("print_control", "-Q", "one-vs-one", "b").out
    run("multi_borders", "-n", "-", "t.csv", "m", "m.mbc", "-a", "m.std", stdin=control)
    run("mbh2mbm", "-a", "m.std", "m.mbc", "m.mbm")
    run("classify_m", "m.mbm", "t.csv", "a.csv")
    Path("p.txt").write_text(run("classify_m", "--header", "m.mbm", "b.vec", "out").out)
    table = scores(run, "a.csv", "--truth", "species", "--data", "t.csv")
    assert table == scores(run, "b.cls", "out", "p.txt") and table["accuracy"] > 0.9
    run("classify_m", "--all-columns", "m.mbm", "t.csv", "all.tsv.gz")
    assert scores(run, "all.tsv.gz", "--truth", "species") == table
