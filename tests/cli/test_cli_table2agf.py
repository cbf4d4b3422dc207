"""table2agf: tables to binary files, with the points and models of the table itself."""

import os
from pathlib import Path

import numpy as np
import pytest

from agfmc.files.csv import csv_line, csv_lines
from agfmc.tables.recipe_file import read_recipe
from agfmc.data.libagf import read_cls, read_con, read_vec
from data_files import write_cls, write_vec

COLOURS = ["blue", "dark, blue", "red"]


@pytest.fixture(autouse=True)
def rows(folder):
    """60 rows (id, a, b, colour, kind): `t.csv`, in which b is missing twice."""
    rng = np.random.default_rng(5)
    kind = rng.integers(0, 3, 60)
    a, b = rng.normal(size=60) + kind, rng.normal(size=60).round(3)
    colour = rng.integers(0, 3, 60)
    table = [
        [
            f"R{i:03d}",
            repr(float(a[i])),
            repr(float(b[i])),
            COLOURS[colour[i]],
            ["oak", "elm", "ash"][kind[i]],
        ]
        for i in range(60)
    ]
    table[7][2] = table[40][2] = "NA"
    write("t.csv", table)
    return table


def write(path, table, header=("id", "a", "b", "colour", "kind")):
    Path(path).write_bytes(csv_line(header) + csv_lines(list(zip(*table))))


def by_hand(rows):
    """The points and classes of the rows, with numpy alone."""
    b = np.array([np.nan if row[2] == "NA" else np.float32(row[2]) for row in rows])
    b[np.isnan(b)] = np.median(b[~np.isnan(b)])
    x = np.column_stack(
        [
            [float(row[1]) for row in rows],
            b,
            *[[row[3] == word for row in rows] for word in COLOURS],
        ]
    )
    return x, np.array([["ash", "elm", "oak"].index(row[4]) for row in rows])


WORDS = "--label", "kind", "--id", "id", "-E", "median"


def test_points_classes_names_and_ids(run, rows):
    done = run("table2agf", "t.csv", "b", *WORDS)
    counts = [sum(row[4] == name for row in rows) for name in ("ash", "elm", "oak")]
    done.line(
        "b.vec: 60 rows, 5 features (a, b, colour=blue, colour=dark, blue, colour=red), "
        "classes: ash {}, elm {}, oak {}".format(*counts)
    )
    x, y = by_hand(rows)
    assert read_vec("b.vec").tolist() == x.astype(np.float32).tolist()
    assert read_cls("b.cls").tolist() == y.tolist()
    assert Path("b.names").read_text() == "ash\nelm\noak\n"
    assert Path("b.ids").read_text() == "id\n" + "".join(row[0] + "\n" for row in rows)
    recipe = read_recipe("b.recipe")
    assert recipe.features == ("a", "b", "colour=blue", "colour=dark, blue", "colour=red")
    assert (recipe.label, recipe.ids, recipe.source) == ("kind", ("id",), "t.csv")
    assert not Path("b.wgt").exists()


def test_models_have_the_bytes_of_those_of_the_table_and_of_files_made_by_hand(run, rows):
    run("table2agf", "t.csv", "b", *WORDS)
    x, y = by_hand(rows)
    write_vec("h.vec", x)
    write_cls("h.cls", y)
    Path("c.mbt").write_text(
        "".join(f'"" {pair};' for pair in ("0 / 1", "0 / 2", "1 / 2")) + "{0 1 2}"
    )
    run("table2agf", "t.csv", *WORDS)
    for data in ("b", "h", "t.csv"):
        run("multi_borders", "-a", "none", "c.mbt", data, "m" + data[0], data[0] + ".mbc")
    models = [[Path(f"m{data}-0{i}").read_bytes() for i in range(3)] for data in "bht"]
    assert models[0] == models[1] == models[2]
    assert Path("b.mbc.recipe").read_bytes() == Path("t.mbc.recipe").read_bytes()
    assert Path("b.mbc.cal").read_bytes() == Path("t.mbc.cal").read_bytes()
    assert not Path("h.mbc.recipe").exists()


def test_test_data_have_the_features_and_numbers_of_training(run, rows):
    run("table2agf", "t.csv", "b", *WORDS)
    few = [[row[3], row[4], row[0], row[2], row[1], "more"] for row in rows if row[4] != "ash"]
    few[0][0] = "green"
    write("few.csv", few, ["colour", "kind", "id", "b", "a", "e"])
    done = run("table2agf", "--recipe", "b.recipe", "few.csv", "f")
    assert "column 'e' is not needed" in done.err and "first 'green' in row 1" in done.err
    kept = [i for i, row in enumerate(rows) if row[4] != "ash"]
    x = read_vec("b.vec")[kept]
    x[0, 2:] = 0
    assert read_vec("f.vec").tolist() == x.tolist()
    assert read_cls("f.cls").tolist() == read_cls("b.cls")[kept].tolist()
    assert Path("f.names").read_bytes() == Path("b.names").read_bytes()
    assert Path("f.recipe").read_bytes() == Path("b.recipe").read_bytes()
    assert Path("f.ids").read_text().split() == ["id", *(row[2] for row in few)]


def test_the_reading_of_a_table_is_one_line_and_no_warning(run, rows):
    """But what may be a mistake is a warning, and a later command says what is new to it."""
    write(
        "t.csv",
        [[*row, "same", f"w{i % 31}", str(7 * i % 61)] for i, row in enumerate(rows)],
        ("id", "a", "b", "colour", "kind", "same", "word", "number"),
    )
    first, second, _ = run("table2agf", "t.csv", "b", "--label", "kind").err.splitlines()
    assert first.startswith(
        "table2agf: t.csv: columns: number 3, words 1, left out 3; left out: "
        "'id' (a different value in nearly every "
        "row; --categorical keeps it, --id copies it to answers), 'same' "
        "(constant), 'word' (no word in"
    )
    assert first.endswith(
        "; 2 missing values in column 'b' (2) of 60 rows: an indicator feature "
        "for each column marks them (--missing)"
    )
    assert second.startswith("table2agf: warning: t.csv: column 'number' has another whole number")
    rows[3][3] = "green"
    write(
        "n.csv",
        [[*row, str(i)] for i, row in enumerate(rows)],
        ("id", "a", "b", "colour", "kind", "number"),
    )
    first, second, _ = run("table2agf", "--recipe", "b.recipe", "n.csv", "n").err.splitlines()
    assert first.startswith("table2agf: warning: n.csv: column 'colour' has 1 cell with words")
    assert second == "table2agf: n.csv: column 'id' is not needed, and not used"


def test_points_without_classes(run, rows):
    run("table2agf", "t.csv", "b", *WORDS)
    write("n.csv", [row[1:4] for row in rows], ["a", "b", "colour"])
    assert "no column 'id'" in run("table2agf", "--recipe", "b.recipe", "-C", "n.csv", "n").err
    assert read_vec("n.vec").tolist() == read_vec("b.vec").tolist()
    assert {path.name for path in Path().glob("n.*")} == {"n.csv", "n.vec"}
    run("table2agf", "--recipe", "b.recipe", "n.csv", "o", status=1).refused(
        "n.csv: lacks the column 'kind' of the classes"
    )


def test_a_stream_weights_and_order_of_classes(run, rows):
    weighted = [[*row[1:], str(0.5 * i)] for i, row in enumerate(rows)]
    write("w.csv", weighted, ["a", "b", "colour", "kind", "w"])
    text = Path("w.csv").read_text().replace(",", ";").replace('"dark; blue"', '"dark, blue"')
    done = run(
        "table2agf",
        "-",
        "w",
        "--label",
        "4",
        "--weight",
        "w",
        "--ignore",
        "b,colour",
        "--classes",
        "oak,elm,ash",
        "--delimiter",
        ";",
        stdin=text,
    )
    done.line("60 rows, 1 feature (a), classes: oak ")
    assert read_con("w.wgt").tolist() == [0.5 * i for i in range(60)]
    assert Path("w.names").read_text() == "oak\nelm\nash\n"
    assert read_cls("w.cls").tolist() == (2 - by_hand(rows)[1]).tolist()


@pytest.mark.parametrize(
    "words, status, text",
    [
        (["t.csv", "b"], 1, "t.csv: no column is named class, label or target"),
        (
            ["t.csv", "b", *WORDS, "--weight", "a"],
            1,
            "is no weight: expected a number",
        ),
        (["t.csv", "b.vec", *WORDS], 2, "expected a base name"),
        (["t.csv", "b", "-C"], 2, "-C needs --recipe"),
        (
            ["t.csv", "b", "--recipe", "r.recipe", "-E", "mean"],
            2,
            "--recipe and -E exclude each other",
        ),
        (["t.csv", "b", "--recipe", "r.recipe", "-C", "--label", "kind"], 2, "exclude each other"),
        (["t.csv", "b", "--recipe", "t.csv"], 1, "t.csv:1: expected 'agfmc table recipe'"),
    ],
)
def test_refused_in_one_line_and_nothing_written(run, rows, words, status, text):
    Path("c.csv").write_text("id,a,b,colour,kind\nR,1,2,blue,oak\nS,1,2,blue\n")
    before = sorted(os.listdir())
    run("table2agf", *words, "--quiet", status=status).refused(text)
    assert sorted(os.listdir()) == before


def test_an_input_is_not_overwritten(run, rows):
    os.rename("t.csv", "t.cls")
    run("table2agf", "t.cls", "t", *WORDS, status=2).refused("both are the file ")


def test_a_column_that_single_precision_does_not_hold(run, rows):
    times = [
        [str(1_700_000_000 + 7 * i), str(i % 5 + 1e9), str(1e9 * (i % 3)), row[4]]
        for i, row in enumerate(rows)
    ]
    write("w.csv", times, ["time", "near", "far", "kind"])
    done = run("table2agf", "w.csv", "w", "--label", "kind")
    told = [line for line in done.err.splitlines() if "single precision" in line]
    assert len(told) == 2
    assert (
        "column 'time' goes from 1700000000 to 1700000413, where single precision has 4 " in told[0]
    )
    assert "column 'near' goes from 1000000000 to 1000000004" in told[1]
    for row in times:
        row[:2] = str(int(row[0]) - 1_700_000_000), str(float(row[1]) - 1e9)
    write("w.csv", times, ["time", "near", "far", "kind"])
    assert "single" not in run("table2agf", "w.csv", "w", "--label", "kind").err


# agf2ascii to tables


def test_a_table_again(run, rows):
    run("table2agf", "t.csv", "b", *WORDS)
    run("agf2ascii", "b", "again.csv")
    lines = Path("again.csv").read_text().splitlines()
    assert lines[0] == "id,a,b,colour,kind"
    assert [line.split(",")[0] for line in lines[1:]] == [row[0] for row in rows]
    assert [line.rpartition(",")[2] for line in lines[1:]] == [row[4] for row in rows]
    assert lines[8].split(",")[2] == lines[41].split(",")[2] != "NA"
    run("table2agf", "--recipe", "b.recipe", "again.csv", "c")
    for end in (".vec", ".cls", ".names", ".ids", ".recipe"):
        assert Path("b" + end).read_bytes() == Path("c" + end).read_bytes(), end
    assert run("agf2ascii", "b", "-.csv").out == Path("again.csv").read_text()
    run("agf2ascii", "-C", "b.vec", "again.tsv.gz")
    run("table2agf", "--recipe", "b.recipe", "-C", "again.tsv.gz", "d")
    assert Path("b.vec").read_bytes() == Path("d.vec").read_bytes()


def test_missing_values_that_an_indicator_tells_are_empty_again(run, rows):
    rows[3][3] = rows[9][3] = "NA"
    write("t.csv", rows)
    run("table2agf", "t.csv", "b", *WORDS[:4], "-E", "indicator")
    run("agf2ascii", "b", "again.csv")
    lines = [line.split(",") for line in Path("again.csv").read_text().splitlines()]
    assert [i for i, cells in enumerate(lines[1:]) if cells[2] == ""] == [7, 40]
    assert [i for i, cells in enumerate(lines[1:]) if cells[3] == ""] == [3, 9]
    run("table2agf", "again.csv", "c", *WORDS[:4], "-E", "indicator")
    assert Path("b.vec").read_bytes() == Path("c.vec").read_bytes()


def test_points_without_a_recipe_come_back_too(run):
    rng = np.random.default_rng(2)
    x = (rng.normal(size=(40, 3)) * 10.0 ** rng.integers(-30, 30, (40, 3))).astype(np.float32)
    x[0] = 0.1, -0.0, 16777216
    write_vec("h.vec", x)
    write_cls("h.cls", [*range(3), *[1] * 37])
    run("agf2ascii", "h", "h.csv")
    lines = Path("h.csv").read_text().splitlines()
    assert lines[:2] == ["f1,f2,f3,class", "0.1,-0,16777216,0"]
    run("table2agf", "h.csv", "g")
    for end in (".vec", ".cls"):
        assert Path("h" + end).read_bytes() == Path("g" + end).read_bytes()
    write_cls("h.cls", [-1] * 40)
    assert run("agf2ascii", "h", "-.csv").out.splitlines()[1] == "0.1,-0,16777216,"


@pytest.mark.parametrize(
    "words, status, text",
    [
        (["b", "x.parquet"], 2, "tables are written as text: expected .csv"),
        (["-M", "b", "b.csv"], 2, "-M is for text of points, and b.csv is a table by its name"),
        (["nothing", "-.csv"], 1, "nothing.vec: cannot read"),
        (["few", "-.csv"], 1, "few.ids: has not 59 rows behind its header"),
        (
            ["odd", "odd.csv"],
            1,
            "odd.vec: row 5 is not made by the recipe: "
            "expected 0 and a single 1 in the features of the column "
            "'colour'",
        ),
        (["wide", "-.csv"], 1, "wide.recipe: makes 5 features, and wide.vec has 2"),
    ],
)
def test_tables_that_cannot_be_written(run, rows, words, status, text):
    run("table2agf", "t.csv", "b", *WORDS)
    x, y = read_vec("b.vec"), read_cls("b.cls")
    for base, points in (("few", x[:59]), ("odd", x.copy()), ("wide", x[:, :2])):
        if base == "odd":
            points[4, 2:] = 1, 1, 0
        write_vec(base + ".vec", points)
        write_cls(base + ".cls", y[: len(points)])
        for end in (".names", ".recipe", ".ids"):
            Path(base + end).write_bytes(Path("b" + end).read_bytes())
    done = run("agf2ascii", *words, status=status)
    assert text in done.err and done.err.count("\n") == 1
    assert not Path("odd.csv").exists()


def test_cells_that_are_missing_values_are_kept_in_the_recipe(run):
    cells = [1, -999, -999.0, 4, 6, 2]
    Path("n.csv").write_text(
        "a,class\n" + "".join(f"{cell},{'uv'[row % 2]}\n" for row, cell in enumerate(cells))
    )
    run("table2agf", "--blanks=-999", "-E", "mean", "n.csv", "n")
    assert read_vec("n.vec").ravel().tolist() == [1, 3.25, 3.25, 4, 6, 2]
    run("table2agf", "--recipe", "n.recipe", "n.csv", "again")
    assert Path("again.vec").read_bytes() == Path("n.vec").read_bytes()
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    parquet.write_table(
        pyarrow.table({"a": pyarrow.array(map(float, cells)), "class": list("uvuvuv")}), "n.parquet"
    )
    run("table2agf", "--blanks=-999", "-E", "mean", "n.parquet", "p")
    assert Path("p.vec").read_bytes() == Path("n.vec").read_bytes()
