"""classify_m from table to table: columns by name, ids, words, sets, refusals."""

import csv
import gc
import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from agfmc.data.libagf import read_cls
from data_files import write_cls, write_vec

SPECIES = ["ant", "bee, fly", "cat"]
HEADER = ["id", "length", "width", "colour", "code", "species"]


def rows(n=120, seed=3):
    """Rows of text cells in the order of HEADER."""
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 3, n)
    x = np.array([[0, 0], [1.5, 0], [0, 2]])[y] + draw.normal(size=(n, 2)) * 0.8
    colours = np.array(["red", "dark, blue", "green"])[(y + draw.integers(0, 2, n)) % 3]
    return [
        [f"r{i}", repr(a), f"{b:.3f}", colour, str(i % 3 + 1), SPECIES[c]]
        for i, ((a, b), colour, c) in enumerate(zip(x.tolist(), colours.tolist(), y.tolist()))
    ]


def text(table, names=HEADER, mark=",", end="\n"):
    out = io.StringIO()
    csv.writer(out, delimiter=mark, lineterminator=end).writerows([names, *table])
    return out.getvalue()


def columns(table, *wanted):
    """The same table with these columns of HEADER alone."""
    return [[row[HEADER.index(name)] for name in wanted] for row in table]


@pytest.fixture(scope="module")
def models(run, tmp_path_factory):
    """A folder with models of a table: pairs.mbm, tree.mbm, filled.mbm, pairs.mbc."""
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        table = rows()
        Path("t.csv").write_text(text(table))
        for row in table[::7]:
            row[1], row[3] = "NA", ""
        Path("holes.csv").write_text(text(table))
        Path("pairs").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
        Path("tree").write_text('"" { 0 "" { 1 2 } }')
        roles = "--label", "species", "--id", "id"
        for name, plan, base, more in (
            ("pairs", "pairs", "t", ()),
            ("tree", "tree", "t", ()),
            ("filled", "pairs", "holes", ("--missing", "median")),
            ("marked", "pairs", "holes", ("--missing", "indicator")),
        ):
            if more:
                run("table2agf", "--quiet", *roles, *more, f"{base}.csv")
            run(
                "multi_borders",
                "--quiet",
                "--platt",
                "loo",
                *roles,
                plan,
                f"{base}.csv",
                f"{name}.m",
                f"{name}.mbc",
            )
            run("mbh2mbm", "--quiet", f"{name}.mbc", f"{name}.mbm")
    return folder


@pytest.fixture(autouse=True)
def here(models, folder):
    """A folder with links to the models and a table to classify, test.csv."""
    for path in models.iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "test.csv").write_text(text(rows(40, 4)))
    return folder


def answers(run, *words, out="out.csv", **keywords):
    """The rows of out.csv as {column: cell}, after a run that printed nothing."""
    found = run("classify_m", *words, out, **keywords)
    assert found.out == ""
    with open(out, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def printed(run, *words, stdin=""):
    return run("classify_m", *words, "-", stdin=stdin).out


def test_answers_are_those_of_the_points_made_of_the_table(run):
    found = answers(run, "pairs.mbm", "test.csv")
    assert list(found[0]) == ["id", "class", "p", *(f"p:{name}" for name in SPECIES)]
    run("table2agf", "--recipe", "pairs.mbc.recipe", "test.csv", "points")
    lines = run("classify_m", "pairs.mbm", "points.vec", "a").out.splitlines()
    assert [[*(one[f"p:{name}"] for name in SPECIES)] for one in found] == [
        line.split()[:-1] for line in lines
    ]
    labels = read_cls("a.cls").tolist()
    assert [one["class"] for one in found] == [SPECIES[label] for label in labels]
    assert [one["id"] for one in found] == [f"r{i}" for i in range(40)]
    assert all(one["p"] == one[f"p:{one['class']}"] for one in found)


def test_columns_are_found_by_name(run):
    run("classify_m", "pairs.mbm", "test.csv", "out.csv")
    order = ["code", "width", "species", "id", "colour", "more", "length"]
    table = [[*row, "x"] for row in rows(40, 4)]
    picked = [[dict(zip([*HEADER, "more"], row))[name] for name in order] for row in table]
    Path("other.csv").write_text(text(picked, order))
    found = run("classify_m", "pairs.mbm", "other.csv", "again.csv")
    found.line("classify_m: other.csv: column 'more' is not needed")
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()


@pytest.mark.parametrize(
    "make",
    [
        lambda table: text(table, end="\r\n").encode(),
        lambda table: b"\xef\xbb\xbf" + text(table).encode(),
        lambda table: text(table, mark=";").encode(),
        lambda table: text(table, mark="\t").encode(),
        lambda table: gzip.compress(text(table).encode()),
    ],
    ids=["crlf", "bom", ";", "tab", "gz"],
)
def test_the_same_answers_from_every_layout_and_stream(run, make):
    expected = printed(run, "pairs.mbm", "test.csv")
    data = make(rows(40, 4))
    Path("other.csv").write_bytes(data)
    assert printed(run, "pairs.mbm", "other.csv") == expected
    assert printed(run, "pairs.mbm", "-", stdin=data) == expected
    assert answers(run, "pairs.mbc", "other.csv") == list(csv.DictReader(io.StringIO(expected)))


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [("-j", "2"), ("-j", "processes:2")])
def test_the_same_bytes_from_any_workers(run, workers, monkeypatch):
    expected = printed(run, "pairs.mbm", "test.csv")
    monkeypatch.setattr("agfmc.prediction.classifier.Classifier.rows", 7)
    assert printed(run, *workers, "pairs.mbm", "test.csv") == expected


def test_every_ending_of_an_output(run):
    expected = answers(run, "--all-columns", "pairs.mbm", "test.csv")
    for name, mark in (("o.csv.gz", ","), ("o.tsv", "\t"), ("o.TSV.GZ", "\t")):
        assert run("classify_m", "--all-columns", "pairs.mbm", "test.csv", name).out == ""
        data = Path(name).read_bytes()
        if name.lower().endswith("gz"):
            assert data[4:8] == bytes(4)  # no time: another run has the same bytes
            data = gzip.decompress(data)
        assert (
            list(csv.DictReader(io.StringIO(data.decode(), newline=""), delimiter=mark)) == expected
        )
    run("classify_m", "--all-columns", "pairs.mbm", "test.csv", "o.jsonl.gz")
    lines = [json.loads(line) for line in gzip.open("o.jsonl.gz", "rt", encoding="utf-8")]
    assert [list(line)[-3:] for line in lines] == [["class", "p", "probabilities"]] * 40
    for line, row in zip(lines, expected):
        p = line.pop("probabilities")
        flat = (
            line
            | {"p": f"{line['p']:.6f}"}
            | {f"p:{name}": f"{value:.6f}" for name, value in p.items()}
        )
        assert flat == row


@pytest.mark.parametrize("ending", ["parquet", "feather", "arrow"])
@pytest.mark.parametrize(
    "words", [("--all-columns",), ("--top", "2", "--reject", "0.7"), ("--coverage", "0.8")]
)
def test_columns_in_files_of_arrow(run, monkeypatch, ending, words):
    pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    monkeypatch.setattr("agfmc.answers.arrow._ROWS", 16)
    monkeypatch.setattr("agfmc.prediction.classifier.Classifier.rows", 7)
    run("classify_m", *words, "pairs.mbm", "test.csv", f"o.{ending}")
    table = (parquet if ending == "parquet" else feather).read_table(f"o.{ending}")
    run("classify_m", *words, "pairs.mbm", "test.csv", "o.csv")
    with open("o.csv", encoding="utf-8", newline="") as file:
        expected = list(csv.DictReader(file))
    assert table.column_names == list(expected[0])
    assert [
        {
            name: f"{cell:.6f}" if isinstance(cell, float) else cell or ""
            for name, cell in row.items()
        }
        for row in table.to_pylist()
    ] == expected


def test_row_numbers_are_numbers_in_parquet(run):
    parquet = pytest.importorskip("pyarrow.parquet")
    Path("none.csv").write_text(text(columns(rows(40, 4), *HEADER[1:]), HEADER[1:]))
    run("classify_m", "pairs.mbm", "none.csv", "o.parquet")
    assert parquet.read_table("o.parquet")["row"].to_pylist() == list(range(1, 41))


def test_parquet_without_pyarrow_is_refused_before_the_work(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    run("classify_m", "pairs.mbm", "test.csv", "o.parquet", status=2).refused(
        "need PyArrow: pip install 'agfmc[table]'"
    )
    assert not Path("o.parquet").exists()


def test_pandas_reads_the_answers(run):
    pandas = pytest.importorskip("pandas")
    table = rows(40, 4)
    for row, odd in zip(table, ['say "yes"', "two\nlines", "=1+1", " blanks ", "", "ä"]):
        row[0] = odd
    Path("odd.csv").write_text(text(table))
    run("classify_m", "pairs.mbm", "odd.csv", "o.csv")
    found = pandas.read_csv("o.csv", keep_default_na=False)
    assert found["id"].tolist() == [row[0] for row in table]
    p = found[[f"p:{name}" for name in SPECIES]].to_numpy()
    assert np.array(SPECIES)[p.argmax(axis=1)].tolist() == found["class"].tolist()
    assert np.abs(p.sum(axis=1) - 1).max() < 3e-6
    run("classify_m", "pairs.mbm", "odd.csv", "o.jsonl")
    lines = pandas.read_json("o.jsonl", lines=True, dtype=False)
    assert lines["id"].tolist() == [row[0] for row in table]


def test_ids_are_those_of_training_or_named_or_numbers(run):
    assert list(answers(run, "--id", "code,id", "pairs.mbm", "test.csv")[0])[:3] == [
        "code",
        "id",
        "class",
    ]
    assert [one["length"] for one in answers(run, "--id", "2", "pairs.mbm", "test.csv")] == [
        row[1] for row in rows(40, 4)
    ]
    without = HEADER[1:]
    Path("none.csv").write_text(text(columns(rows(40, 4), *without), without))
    found = answers(run, "pairs.mbm", "none.csv")
    assert [one["row"] for one in found] == [str(i + 1) for i in range(40)]
    run("classify_m", "pairs.mbm", "none.csv", "o.jsonl")
    assert [json.loads(line)["row"] for line in Path("o.jsonl").read_text().splitlines()] == list(
        range(1, 41)
    )
    run("classify_m", "--id", "name", "pairs.mbm", "test.csv", "o.csv", status=1).refused(
        "test.csv: --id: there is no column 'name'; the columns are 'id', 'length'"
    )


def test_ids_must_differ(run):
    table = rows(40, 4)
    table[10][0] = table[2][0]  # of another code
    Path("twice.csv").write_text(text(table))
    run("classify_m", "pairs.mbm", "twice.csv", "out.csv", status=1).refused(
        "twice.csv:12: row 11: column 'id' has 'r2': the id is that of an earlier row already"
    )
    assert not Path("out.csv").exists()
    answers(run, "--id", "id,code", "pairs.mbm", "twice.csv")
    run("classify_m", "--id", "code", "pairs.mbm", "test.csv", "o.csv", status=1).refused(
        "test.csv:5: row 4: column 'code' has '1': the id is that of an earlier row"
    )


def test_columns_with_names_of_the_answers(run):
    names = ["p", *HEADER[1:5], "class"]
    Path("names.csv").write_text(text(rows(40, 4), names))
    found = answers(run, "--all-columns", "pairs.mbm", "names.csv")
    assert list(found[0])[:8] == ["input:p", *HEADER[1:5], "input:class", "class", "p"]
    assert [one["input:class"] for one in found] == [row[5] for row in rows(40, 4)]
    Path("names.csv").write_text(text([[*row, ""] for row in rows(40, 4)], [*names, "input:class"]))
    run("classify_m", "--all-columns", "pairs.mbm", "names.csv", "o.csv", status=2).refused(
        "two columns 'input:class'"
    )


def test_the_best_classes(run):
    every = answers(run, "pairs.mbm", "test.csv")
    found = answers(run, "--top", 2, "pairs.mbm", "test.csv")
    assert list(found[0]) == ["id", "class", "p", "class1", "p1", "class2", "p2"]
    for one, best in zip(every, found):
        order = sorted(SPECIES, key=lambda name: -float(one[f"p:{name}"]))
        assert [best["class1"], best["class2"]] == order[:2]
        assert [best["p1"], best["p2"]] == [one[f"p:{name}"] for name in order[:2]]
    run("classify_m", "--top", 9, "pairs.mbm", "test.csv", "o.jsonl")
    lines = [json.loads(line) for line in Path("o.jsonl").read_text().splitlines()]
    assert [[pair["class"] for pair in line["top"]] for line in lines] == [
        sorted(SPECIES, key=lambda name: -float(one[f"p:{name}"])) for one in every
    ]


@pytest.mark.parametrize(
    "words", [("--coverage", "0.8", "pairs.mbm"), ("--stop", "0.9", "tree.mbm")]
)
def test_sets(run, words):
    run("table2agf", "--recipe", "pairs.mbc.recipe", "test.csv", "points")
    run("classify_m", *words, "points.vec", "a")
    expected = [
        [SPECIES[int(word)] for word in line.split() if word != "-"]
        for line in Path("a.sets").read_text().splitlines()
    ]
    assert len(set(map(tuple, expected))) > 2
    found = answers(run, *words, "test.csv")
    assert list(found[0]) == ["id", "class", "p", "set"]
    assert [one["set"] for one in found] == [" | ".join(members) for members in expected]
    run("classify_m", *words, "test.csv", "o.jsonl")
    lines = [json.loads(line) for line in Path("o.jsonl").read_text().splitlines()]
    assert [line["set"] for line in lines] == expected
    assert [line["class"] or "" for line in lines] == [one["class"] for one in found]
    if "--stop" in words:
        assert [one["class"] for one in found] == [
            members[0] if len(members) == 1 else "" for members in expected
        ]


def test_rejected_rows_have_no_class_but_the_probability_of_the_winner(run):
    every = answers(run, "pairs.mbm", "test.csv")
    found = run("classify_m", "--reject", 0.7, "pairs.mbm", "test.csv", "o.csv")
    below = sum(float(one["p"]) < 0.7 for one in every)
    found.line(f"{below} of 40 points rejected")
    assert 0 < below < 40
    expected = [one | {"class": one["class"] if float(one["p"]) >= 0.7 else ""} for one in every]
    assert list(csv.DictReader(Path("o.csv").read_text().splitlines())) == expected
    run("classify_m", "--reject", 0.7, "pairs.mbm", "test.csv", "o.jsonl")
    assert [
        json.loads(line)["class"] or "" for line in Path("o.jsonl").read_text().splitlines()
    ] == [one["class"] for one in expected]


def test_a_tree_gives_one_probability_and_a_line_says_how_to_get_all(run):
    found = run("classify_m", "tree.mbm", "test.csv", "o.csv")
    found.line("--tree full gives those of all classes")
    path = answers(run, "--tree", "path", "tree.mbm", "test.csv")
    assert list(csv.DictReader(Path("o.csv").read_text().splitlines())) == path
    assert list(path[0]) == ["id", "class", "p"]
    full = answers(run, "--tree", "full", "tree.mbm", "test.csv")
    assert list(full[0]) == ["id", "class", "p", *(f"p:{name}" for name in SPECIES)]


def test_votes_decision_values_and_p_values_have_names_of_their_own(run):
    found = answers(run, "-Q", "vote", "pairs.mbm", "test.csv")
    assert list(found[0]) == ["id", "class", "score", *(f"score:{name}" for name in SPECIES)]
    assert all(
        one["score"] == max((one[f"score:{name}"] for name in SPECIES), key=float) for one in found
    )
    run("table2agf", "--recipe", "pairs.mbc.recipe", "test.csv", "points")
    for option, names in (("-0", ["f1", "f2", "f3"]), ("-Q-1", ["r1", "r2", "r3"])):
        lines = run("classify_m", option, "pairs.mbm", "points.vec", "a").out.splitlines()
        found = answers(run, option, "pairs.mbm", "test.csv")
        assert list(found[0]) == ["id", "class", *names]
        np.testing.assert_allclose(
            [[float(one[name]) for name in names] for one in found],
            [list(map(float, line.split()))[:3] for line in lines],
            atol=1e-6,
        )
    found = answers(run, "--p-values", "pairs.mbm", "test.csv")
    assert list(found[0]) == ["id", "class", "p", *(f"p_value:{name}" for name in SPECIES)]
    found = answers(run, "-Q", "max-win", "pairs.mbm", "test.csv")
    assert list(found[0]) == ["id", "class", "p"]


def test_expected_quantities(run):
    table = rows()
    for row in table:
        row[5] = f"{SPECIES.index(row[5])}..{SPECIES.index(row[5]) + 1}"
    Path("q.csv").write_text(text(table))
    run(
        "multi_borders",
        "--quiet",
        "--label",
        "species",
        "--id",
        "id",
        "pairs",
        "q.csv",
        "qm",
        "q.mbc",
    )
    found = answers(run, "--quantity", "--quantiles", ".1,.9", "q.mbc", "test.csv")
    assert list(found[0]) == ["id", "class", "p", "mean", "quantile:0.1", "quantile:0.9"]
    assert all(0 < float(one["quantile:0.1"]) < float(one["mean"]) < 3 for one in found)


def test_words_that_training_did_not_know_are_told_once(run):
    table = rows(40, 4)
    for row in table[5:9]:
        row[3] = "pink"
    Path("new.csv").write_text(text(table))
    found = run("classify_m", "pairs.mbm", "new.csv", "o.csv")
    found.line(
        "warning: new.csv: column 'colour' has 4 cells with words that training did not "
        "know, first 'pink' in row 6"
    )
    run("table2agf", "--recipe", "pairs.mbc.recipe", "new.csv", "points")
    lines = run("classify_m", "pairs.mbm", "points.vec", "a").out.splitlines()
    assert [
        one[f"p:{SPECIES[0]}"] for one in csv.DictReader(Path("o.csv").read_text().splitlines())
    ] == [line.split()[0] for line in lines]


@pytest.mark.parametrize("model", ["filled", "marked"])
def test_blanks_are_filled_as_in_training(run, model):
    table = rows(40, 4)
    table[3][1] = table[4][3] = "?"
    Path("blanks.csv").write_text(text(table))
    found = answers(run, f"{model}.mbm", "blanks.csv")
    run("table2agf", "--recipe", f"{model}.mbc.recipe", "blanks.csv", "points")
    lines = run("classify_m", f"{model}.mbm", "points.vec", "a").out.splitlines()
    assert [one[f"p:{SPECIES[2]}"] for one in found] == [line.split()[2] for line in lines]


@pytest.mark.parametrize(
    "at, cell, message",
    [
        (1, "long", ":12: row 11: expected a number in column 'length', found 'long'"),
        (2, "1e39", ":12: row 11: column 'width': 1e+39 is more than single precision holds"),
        (None, "", ":12: row 11: has none of the values that the model needs"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--all-columns",), ("-j", "2")])
def test_rows_that_the_model_cannot_answer(run, at, cell, message, more):
    table = rows(40, 4)
    good = answers(run, *more, "pairs.mbm", "test.csv")
    columns = [at] if at else range(1, len(HEADER))
    for row in table[10], table[30]:
        for column in columns:
            row[column] = cell
    Path("bad.csv").write_text(text(table))
    Path("out.csv").write_text("as it was")
    run("classify_m", *more, "--strict", "pairs.mbm", "bad.csv", "out.csv", status=1).refused(
        f"bad.csv{message}"
    )
    assert Path("out.csv").read_text() == "as it was"
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]
    done = run("classify_m", *more, "pairs.mbm", "bad.csv", "out.csv", status=1)
    assert done.line(f"bad.csv{message}").endswith("; 2 of 40 rows have no answer\n")
    with open("out.csv", newline="") as file:
        found = list(csv.DictReader(file))
    predicted = ["class", "p", *(f"p:{name}" for name in SPECIES)]
    for number, (one, other) in enumerate(zip(found, good, strict=True)):
        assert one["id"] == f"r{number}"
        if number in (10, 30):
            assert [one[name] for name in predicted] == [""] * 5
        else:
            assert one == other


def test_blanks_in_columns_that_had_none_in_training(run):
    table = rows(40, 4)
    lengths = sorted(float(row[1]) for row in rows())
    for row in table[3], table[30]:
        row[1] = repr((lengths[59] + lengths[60]) / 2)
    Path("expected.csv").write_text(text(table))
    for row in table[3], table[30]:
        row[1] = "?"
    Path("blanks.csv").write_text(text(table))
    assert answers(run, "pairs.mbm", "blanks.csv") == answers(run, "pairs.mbm", "expected.csv")
    table[5][3] = ""
    Path("blanks.csv").write_text(text(table))
    filled = (
        "warning: blanks.csv: 3 missing values are filled in columns that had none in training: "
        "'length' (2), 'colour' (1) (numbers become the median, words none of the categories)"
    )
    run("classify_m", "pairs.mbm", "blanks.csv", "out.csv").line(f"classify_m: {filled}")
    table[5][3] = "none of the categories"
    Path("expected.csv").write_text(text(table))
    for name in "blanks", "expected":
        done = run("calibrate_m", "--data", f"{name}.csv", "-o", f"{name}.mbm", "pairs.mbm")
        assert (f"calibrate_m: {filled}\n" in done.err) == (name == "blanks")
        run("classify_m", f"{name}.mbm", "test.csv", f"{name}.out.csv")
    assert Path("blanks.out.csv").read_bytes() == Path("expected.out.csv").read_bytes()


def test_flags_of_cells_that_are_unlike_training(run):
    table = rows(40, 4)
    table[3][1], table[3][3] = "1e9", "pink"
    table[5][2] = "-1000"
    table[7][3] = ""
    table[9][2] = "wide"
    table[11][3] = "pink"
    Path("odd.csv").write_text(text(table))
    expected = {
        3: ["length: above", "colour: unknown"],
        5: ["width: below"],
        7: ["colour: missing"],
        9: ["width: wrong"],
        11: ["colour: unknown"],
    }
    plain = run("classify_m", "pairs.mbm", "odd.csv", "plain.csv", status=1)
    for more in (), ("-j", "2"), ("--all-columns",), ("--explain", "1"):
        done = run("classify_m", "--flag", *more, "pairs.mbm", "odd.csv", "o.csv", status=1)
        assert done.err == plain.err
        with open("o.csv", newline="") as file:
            found = [(row["id"], row["flags"]) for row in csv.DictReader(file)]
        assert found == [(f"r{i}", "; ".join(expected.get(i, ()))) for i in range(40)]
    (line,) = [line for line in plain.err.splitlines() if "training did not know" in line]
    assert line.startswith(
        "classify_m: warning: odd.csv: column 'length' has 1 cell with numbers far"
    )
    assert "first '1e+09' in row 4; column 'width' has 1 cell with numbers far below" in line
    assert line.endswith(
        "'colour' has 2 cells with words that training did not know, first 'pink' in row 4"
    )
    run("classify_m", "--flag", "pairs.mbm", "odd.csv", "o.jsonl", status=1)
    lines = list(map(json.loads, Path("o.jsonl").read_text().splitlines()))
    assert [line["flags"] for line in lines] == [expected.get(i, []) for i in range(40)]
    assert list(lines[0]) == ["id", "class", "p", "probabilities", "flags"]
    assert lines[9]["class"] is lines[9]["p"] is lines[9]["probabilities"]["cat"] is None
    streamed = run("classify_m", "--flag", "--stream", "pairs.mbm", "odd.csv", status=1).out
    assert streamed.splitlines()[10] == "r9,error,,,,,"
    with open("o.csv", newline="") as file:
        whole = file.read().splitlines()
    run("classify_m", "--flag", "pairs.mbm", "odd.csv", "o.csv", status=1)
    whole = Path("o.csv").read_text().splitlines()
    del whole[10]
    assert [line for line in streamed.splitlines() if ",error," not in line] == whole
    run("classify_m", "--flag", "b.mbm", "b.vec", "b", status=2).refused("--flag is for tables")


@pytest.mark.parametrize("end", ["csv", "jsonl", "stream.csv", "stream.jsonl"])
def test_rows_without_an_answer_are_scored_as_rejected(run, end):
    table = rows(40, 4)
    table[0][2] = "wide"
    table[9][1:5] = [""] * 4
    Path("odd.csv").write_text(text(table))
    if end.startswith("stream"):
        words = "--stream", "--format", end.split(".")[1]
        Path(f"o.{end}").write_text(run("classify_m", *words, "pairs.mbm", "odd.csv", status=1).out)
    else:
        run("classify_m", "--flag", "pairs.mbm", "odd.csv", f"o.{end}", status=1)
    words = "--truth", "species", "--data", "odd.csv"
    done = run("eval_uc", *words, "--json", f"o.{end}")
    done.line(
        f"o.{end}: 2 of 40 rows have no answer: they count as rejected, with equal probabilities "
        "of all classes"
    )
    scores = json.loads(done.out)
    assert (scores["points"], scores["rejected"]) == (40, 2)
    good = [row for i, row in enumerate(rows(40, 4)) if i not in (0, 9)]
    Path("good.csv").write_text(text(good))
    run("classify_m", "pairs.mbm", "good.csv", "g.csv")
    words = "--truth", "species", "--data", "good.csv", "--json", "g.csv"
    of_good = json.loads(run("eval_uc", *words).out)
    expected = (38 * of_good["log_loss"] + 2 * np.log(3)) / 40
    assert scores["log_loss"] == pytest.approx(expected, abs=1e-9)


def test_rows_without_an_answer_in_parquet(run):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs PyArrow")
    table = rows(40, 4)
    table[9][2] = "wide"
    Path("odd.csv").write_text(text(table))
    run("classify_m", "--flag", "pairs.mbm", "odd.csv", "o.parquet", status=1)
    found = parquet.read_table("o.parquet").to_pylist()
    assert found[9] == {
        "id": "r9",
        "flags": "width: wrong",
        **dict.fromkeys(["class", "p", *(f"p:{name}" for name in SPECIES)]),
    }
    assert [row["id"] for row in found] == [f"r{i}" for i in range(40)]
    assert all(row["p"] > 0 for i, row in enumerate(found) if i != 9)


def test_points_may_have_a_table_of_answers(run):
    draw = np.random.default_rng(0)
    x = draw.normal(size=(30, 2))
    write_vec("b.vec", x)
    write_cls("b.cls", (x[:, 0] > 0) * 3 + 1)
    Path("two").write_text('"" 0 / 1; {1 4}')
    run("multi_borders", "--quiet", "two", "b", "bm", "b.mbc")
    lines = run("classify_m", "--tree", "full", "b.mbc", "b.vec", "a").out.splitlines()
    found = answers(run, "--tree", "full", "b.mbc", "b.vec")
    assert list(found[0]) == ["row", "class", "p", "p:1", "p:4"]
    assert [[one["p:1"], one["p:4"], one["class"]] for one in found] == [
        line.split() for line in lines
    ]
    run("classify_m", "b.mbc", "test.csv", "o.csv", status=1).refused(
        "b.mbc: was not trained from a table"
    )


@pytest.mark.parametrize(
    "words, message",
    [
        (
            ("pairs.mbm", "test.csv", "out"),
            "the answers to a table are a table: expected a name that ends in .csv",
        ),
        (("--header", "pairs.mbm", "test.csv", "o.csv"), "--header: a table of answers has one"),
        (("-E", "0", "pairs.mbm", "test.csv", "o.csv"), "--missing is for LIBSVM or LVQ text"),
        (("-O", "true", "pairs.mbc", "test.csv", "o.csv"), "-O: other programs read points"),
        (("--all-columns", "pairs.mbm", "p.vec", "o.csv"), "--all-columns is for tables"),
        (("--id", "x", "pairs.mbm", "p.vec", "o.csv"), "--id is for tables"),
        (("pairs.mbm", "test.csv", "test.csv"), "output would overwrite test: "),
    ],
)
def test_what_does_not_go_together(run, words, message):
    before = Path("test.csv").read_bytes()
    run("classify_m", *words, status=2).refused(message)
    assert Path("test.csv").read_bytes() == before and not Path("o.csv").exists()


def test_ids_that_stand_twice_among_all_columns(run):
    table = rows(20, 4)
    Path("twice.csv").write_text(text([*table, table[0]]))
    run("classify_m", "pairs.mbm", "twice.csv", "o.csv", status=1).refused(
        "twice.csv:22: row 21: column 'id'"
    )
    run("classify_m", "--all-columns", "pairs.mbm", "twice.csv", "o.csv")
    assert len(Path("o.csv").read_text().splitlines()) == 22
    run(
        "classify_m", "--all-columns", "--id", "id", "pairs.mbm", "twice.csv", "p.csv", status=1
    ).refused("twice.csv:22: row 21: ")


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["o.parquet", "o.feather"])
def test_an_error_behind_the_first_rows_of_an_answer_for_arrow(run, monkeypatch, name):
    unraisable = []
    monkeypatch.setattr("agfmc.answers.arrow._ROWS", 1)  # some are written by then
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    table = rows(40, 4)
    Path("twice.csv").write_text(text([*table, table[0]]))
    run("classify_m", "--id", "id", "pairs.mbm", "twice.csv", name, status=1).refused("twice.csv:")
    gc.collect()
    assert not unraisable and not Path(name).exists()
