"""Commands that take training data, from tables: as from binary files made of them by hand."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agfmc.data import from_table
from agfmc.tables.recipe_file import read_recipe
from agfmc.data.libagf import read_vec
from data_files import write_cls, write_vec

NAMES = ["id", "length", "width", "colour", "code", "species"]
SPECIES = ["ant", "bee fly", "cat"]
LABEL = "--label", "species", "--id", "id"


def rows(n=90, seed=3):
    """Rows of text cells: id, length, width, colour, code, species."""
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 3, n)
    x = np.array([[0, 0], [1.5, 0], [0, 2]])[y] + draw.normal(size=(n, 2)) * 0.8
    colours = np.array(["red", "dark, blue", "green"])[(y + draw.integers(0, 2, n)) % 3]
    codes = draw.integers(1, 4, n)
    return [
        [f"r{i}", repr(a), f"{b:.3f}", colour, str(code), SPECIES[c]]
        for i, ((a, b), colour, code, c) in enumerate(
            zip(x.tolist(), colours.tolist(), codes.tolist(), y.tolist())
        )
    ]


def text(table, names=None, mark=","):
    """A table as text; names: the header, None for that of `rows`."""

    def cell(word):
        return f'"{word}"' if mark in word or '"' in word else word

    names = NAMES if names is None else names
    return "".join(mark.join(map(cell, row)) + "\n" for row in ([names] if names else []) + table)


def by_hand(base, table, columns):
    """base.vec, .cls and .names of these columns of features, as numpy makes them."""
    write_vec(f"{base}.vec", np.column_stack(columns).astype(np.float32))
    write_cls(f"{base}.cls", [SPECIES.index(row[5]) for row in table])
    Path(f"{base}.names").write_text("".join(f"{name}\n" for name in SPECIES))


def numbers(table, column):
    return np.array([float(row[column]) for row in table])


def categories(table, column):
    found = [row[column] for row in table]
    return [np.array(found) == word for word in sorted(set(found))]


def outputs(*names):
    """{name: content} of the files whose names begin with one of these."""
    return {
        path.name: path.read_bytes()
        for path in sorted(Path().iterdir())
        if path.name.startswith(names)
    }


@pytest.fixture(autouse=True)
def folder(folder):
    table = rows()
    (folder / "t.csv").write_text(text(table))
    by_hand(
        "b", table, [numbers(table, 1), numbers(table, 2), *categories(table, 3), numbers(table, 4)]
    )
    (folder / "pairs").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
    return folder


def trained(run, base, *options, out="m", **keywords):
    """What multi_borders writes: {name: content} of out and out.c."""
    run("multi_borders", "pairs", base, out, f"{out}.c", "--platt", "loo", *options, **keywords)
    return outputs(out)


def same_models(run, first, second):
    """The same models, control file and calibration from two sets of words."""
    one, two = trained(run, *first, out="m"), trained(run, *second, out="m")
    for files in (one, two):
        files.pop("m.c.recipe", None)
    assert one and one == two
    return one


def without_times(found):
    """A JSON value without what differs from run to run."""
    if isinstance(found, dict):
        return {
            key: without_times(value)
            for key, value in found.items()
            if not key.endswith("_s") and key not in ("data", "best")
        }  # best: times too
    return list(map(without_times, found)) if isinstance(found, list) else found


# --- the same answers as from binary files, with -n, which is the default of tables


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-n"],
        ["-S", "2"],
        ["--min-class", "5", "--seed", "7"],
        ["-a", "none"],
        ["-a", "none", "-S", "2"],
        ["-+", "learner=nystrom -m 20 -g 0.2"],
        ["-+", "-c 4 -g 0.3", "--platt", "cv"],
        ["-j", "threads:2"],
    ],
    ids=str,
)
def test_models_are_those_of_binary_files(run, options):
    normalise = ["-n"] * ("none" not in options)
    files = same_models(run, ["t.csv", *LABEL, *options], ["b", *normalise, *options])
    assert {"m.c", "m.c.cal", "m-00", "m-01", "m-02"} <= set(files)
    named = b"# normalisation: m.std\n" in files["m.c"]
    assert named == ("m.std" in files) == (options != ["-a", "none"])


def test_a_given_normalisation_of_a_table(run):
    trained(run, "t.csv", *LABEL, out="first")
    same_models(run, ["t.csv", *LABEL, "-a", "first.std"], ["b", "-a", "first.std"])
    assert not os.path.exists("m.std") and b"# normalisation: first.std" in outputs("m")["m.c"]


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "scheme",
    [
        "one-vs-one",
        "one-vs-rest",
        "random",
        "tree",
        "empirical",
        "adjacent-ordered",
        "random-tree",
        "ensemble",
    ],
)
def test_designs_are_those_of_binary_files(run, scheme):
    found = [
        run("print_control", "-Q", scheme, *words).out
        for words in (["t.csv", *LABEL], ["b", *["-n"] * scheme.startswith("emp")])
    ]
    assert found[0] == found[1] and "# class 1: bee fly\n" in found[0]


def test_designs_of_normalised_and_of_few_points(run, folder):
    small = folder / "small.csv"
    small.write_text(text([*rows(), *[["s", "9", "9", "red", "1", "dog"]] * 2]))
    options = "--min-class", "3"
    found = run("print_control", "-Q", "empirical", "small.csv", *LABEL, *options)
    assert "dog" in found.err
    before = run("print_control", "-Q", "empirical", "b", "-n", *options).out
    assert found.out.replace("# class 3: dog\n", "") == before
    assert (
        "# class 3: dog"
        not in run(
            "print_control", "-Q", "one-vs-one", "small.csv", *LABEL, "--min-class", "3"
        ).out.partition('"')[2]
    )


def test_cross_validation_is_that_of_binary_files(run):
    for name, *words in (["x", "t.csv", *LABEL], ["y", "b", "-n"]):
        run("nfold", "pairs", words[0], name, "-d", "3", "--no-state", *words[1:])
    one, two = outputs("x."), outputs("y.")
    assert {"x.cls", "x.txt", "x.truth"} <= set(one)
    assert list(one.values()) == list(two.values())


def test_orders_are_those_of_binary_files(run):
    for options in ([], ["--adjacent", "mean-deviation"]):
        (Path("ordered")).write_text(
            '"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}'
            if not options
            else '"" 0 / 1 2; "" 0 1 / 2; {0 1 2}'
        )
        found = [
            run("order_classes", *options, "ordered", *words)
            for words in (["t.csv", *LABEL], ["b", *["-n"] * len(options)])
        ]
        assert found[0].out == found[1].out and found[0].err == found[1].err


@pytest.mark.long
def test_calibration_by_points_of_tables(run):
    trained(run, "t.csv", *LABEL)
    run("classify_m", "-a", "none", "m.c", "t.csv", "o.csv", status=2).refused(
        "m.c was trained on normalised points, and tables are not: -a FILE"
    )
    run("classify_m", "m.c", "t.csv", "o.csv")
    other = rows(60, 4)
    permuted = [[row[5], "x", *row[3:0:-1], row[4]] for row in other]
    for name in ("words", "o.csv"):
        Path(name).write_text(
            text(permuted, ["species", "more", "colour", "width", "length", "code"])
        )
    by_hand(
        "o", other, [numbers(other, 1), numbers(other, 2), *categories(other, 3), numbers(other, 4)]
    )
    found = [
        run("calibrate_m", "--data", data, "-o", f"{data}.cal", "m.c").out
        for data in ("words", "o")
    ]
    assert found[0] == found[1]
    one, two = (json.loads(Path(f"{data}.cal").read_text()) for data in ("words", "o"))
    assert one["decoders"] == two["decoders"]
    run("calibrate_m", "-a", "none", "--data", "o.csv", "m.c", status=2).line(
        "m.c was trained on normalised points, and tables are not"
    )
    trained(run, "b", out="n")
    run("calibrate_m", "--data", "o.csv", "n.c", status=1).line(
        "o.csv: is a table, and the model has no recipe of columns"
    )


# --- preprocessing


def test_preprocessing_a_table(run):
    run("agf_preprocess", "t.csv", "p", *LABEL)
    for end in (".vec", ".cls", ".names"):
        assert Path("p" + end).read_bytes() == Path("b" + end).read_bytes()
    assert read_recipe("p.recipe").features[2:5] == (
        "colour=dark, blue",
        "colour=green",
        "colour=red",
    )
    for options in (
        ["-f", "0.3", "--stratified"],
        ["-z", "-f", "0.2"],
        ["--sample", "40", "-d", "2"],
    ):
        rest = ["q"] if "-f" in options else []
        for source, words in (("t.csv", LABEL), ("b", ())):
            out = f"{source[0]}_"
            run("agf_preprocess", source, out, *words, *options, *[out + end for end in rest])
        one = {name[1:]: content for name, content in outputs("t_").items()}
        two = {name[1:]: content for name, content in outputs("b_").items()}
        recipes = {name for name in one if name.endswith(".recipe")}
        assert len(recipes) == sum(name.endswith(".vec") for name in one) > 0
        assert {name: one[name] for name in one.keys() - recipes} == two
        assert {one[name] for name in recipes} == {Path("p.recipe").read_bytes()}
        for name in outputs("t_", "b_"):
            os.remove(name)


def test_the_recipe_goes_where_its_points_go(run):
    run("agf_preprocess", "t.csv", "p", *LABEL)
    recipe = Path("p.recipe").read_bytes()
    run("agf_preprocess", "-z", "p", "q")
    assert Path("q.recipe").read_bytes() == recipe
    run("agf_preprocess", "-U", "p", "u")
    assert Path("u.recipe").read_bytes() == recipe
    trained(run, "q")
    assert Path("m.c.recipe").read_bytes() == recipe
    for options in (["-n"], ["-F", "0", "2"], ["0", "/", "1"]):
        told = run("agf_preprocess", "t.csv", "v", *LABEL, *options)
        assert "the recipe of the table is not written" in told.err
        assert not Path("v.recipe").exists()
        run("agf_preprocess", "p", "w", *options)
        assert not Path("w.recipe").exists()
    told = run("agf_preprocess", "p", "q", "-n")
    assert "q.recipe existed before, and is removed, as it is not of these points" in told.err
    assert not Path("q.recipe").exists()
    run("agf_preprocess", "p", "q")
    Path("t.svm").write_text("0 1:2\n1 1:3\n")
    assert "q.recipe existed before, and is removed" in run("svm2agf", "t.svm", "q").err
    assert not Path("q.recipe").exists()


def test_names_of_classes_that_are_changed_later(run):
    run("table2agf", "t.csv", "p", *LABEL)
    Path("p.names").write_text("Ant\nBee fly\nCat\n")
    trained(run, "p")
    assert read_recipe("m.c.recipe").classes == ("Ant", "Bee fly", "Cat")
    Path("p.names").write_text("Ant\nBee fly\nCat\nDog\n")
    run("multi_borders", "pairs", "p", "m", "m.c", status=1).line(
        "p.recipe: has 3 classes, and there are 4 names in p.names"
    )


def test_ids_that_are_not_of_the_points(run):
    run("table2agf", "t.csv", "p", *LABEL)
    told = run("agf_preprocess", "t.csv", "p", *LABEL).err
    assert "p.ids existed before, and is not of these points: remove it" in told
    assert "the ids of the rows are not written: table2agf writes them" in told


@pytest.mark.parametrize("letter, options", [("-M", ["-M"]), ("-A", [])])
def test_the_first_bytes_of_standard_input_tell_the_kind_of_data(run, letter, options):
    words = run("agf2ascii", *options, "b").raw
    one = trained(run, "-", letter, stdin=words)
    two = run("multi_borders", "pairs", "-", "m", "m.c", "--platt", "loo", stdin=words)
    assert f"standard input is {'LIBSVM' if options else 'LVQ'} text, and read as with" in two.err
    assert outputs("m") == one
    Path("words").write_bytes(words)
    answers = {
        run("classify_m", *given, "m.c", name, "-", stdin=words).raw
        for given in ([letter], [])
        for name in ("words", "-")
    }
    assert len(answers) == 1
    run("classify_m", "m.c", "-", "o", stdin=Path("b.vec").read_bytes())  # points, as ever
    assert len(Path("o.cls").read_bytes()) == 4 * 90


def test_preprocessing_from_standard_input(run):
    run("agf_preprocess", "-0", "p", *LABEL, stdin=Path("t.csv").read_bytes())
    assert Path("p.vec").read_bytes() == Path("b.vec").read_bytes()
    run("agf_preprocess", "-C", "t.csv", "q", status=2).refused("-C and -L are not for tables")
    run("agf_preprocess", "b", "q.csv", status=2).refused("no table is written")
    assert run("agf_preprocess", "-P", "t.csv", *LABEL).out == run("agf_preprocess", "-P", "b").out


# --- every kind of table


def arrow_files(folder):
    """The table in Parquet and Feather, with types, not words."""
    pa = pytest.importorskip("pyarrow")
    feather = pytest.importorskip("pyarrow.feather")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = rows()
    made = pa.table(
        {
            name: [
                float(row[i]) if i in (1, 2) else int(row[i]) if i == 4 else row[i] for row in table
            ]
            for i, name in enumerate(NAMES)
        }
    )
    parquet.write_table(made, folder / "t.parquet")
    feather.write_feather(made, folder / "t.feather")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "kind", ["tsv", "csv.gz", "semicolons", "crlf", "bom", "parquet", "feather", "stdin", "any"]
)
def test_all_kinds_of_tables_give_the_same_models(run, folder, kind):
    before = trained(run, "t.csv", *LABEL)
    content, name, options, stdin = Path("t.csv").read_bytes(), f"t.{kind}", [], b""
    if kind == "tsv":
        Path(name).write_text(text(rows(), mark="\t"))
    elif kind == "csv.gz":
        Path(name).write_bytes(gzip.compress(content))
    elif kind == "semicolons":
        name = "s.csv"
        Path(name).write_text(text(rows(), mark=";"))
    elif kind in ("crlf", "bom"):
        name = "s.csv"
        Path(name).write_bytes(
            content.replace(b"\n", b"\r\n") if kind == "crlf" else b"\xef\xbb\xbf" + content
        )
    elif kind == "stdin":
        name, options, stdin = "-", [], content
    elif kind == "any":
        name = "t"
        Path(name).write_text(text(rows(), mark="\t"))
    else:
        arrow_files(folder)
    after = trained(run, name, *LABEL, *options, stdin=stdin)
    one, two = before.pop("m.c.recipe"), after.pop("m.c.recipe")
    expected = json.loads(one) | {"source": name}
    if kind in ("parquet", "feather"):
        expected["blanks"] = [""]  # where cells have types, NA is a word
    assert json.loads(two) == expected
    assert before == after


def test_standard_input_of_other_commands(run):
    content = Path("t.csv").read_bytes()
    for command in (
        ["print_control", "-Q", "empirical", "-"],
        ["order_classes", "pairs", "-"],
        ["tune_m", "pairs", "-", "--space", "C=0 gamma=-1", "-d", "2", "--no-state"],
    ):
        given = run(*command, *LABEL, stdin=content).out
        command[command.index("-")] = "t.csv"
        assert given == run(*command, *LABEL).out


def test_no_header_numbers_for_names_and_other_blanks(run):
    table = [
        [*row[:2], *("none" if i == 5 else cell for cell in row[2:3]), *row[3:]]
        for i, row in enumerate(rows())
    ]
    Path("h.csv").write_text(text(table, ()))
    filled = [*table[5]]
    filled[2] = "7.5"
    by_hand(
        "h",
        table,
        [numbers(table, 1), numbers([*table[:5], filled, *table[6:]], 2), *categories(table, 4)],
    )
    columns = "--label", "6", "--id", "1", "--ignore", "4"
    words = "-H", "--categorical", "5", "--blanks", "none,-", "-E", "7.5"
    done = run("table2agf", *columns, *words, "h.csv")
    assert "h.recipe: 90 rows, 5 features (2, 3, 5=1, 5=2, 5=3), classes: ant" in done.err
    assert not Path("h.ids").exists()
    assert "h.csv is read as h.recipe says" in run("nfold", "--no-state", "pairs", "h.csv").err
    same_models(run, ["h.csv"], ["h", "-n"])


def test_a_table_is_read_as_its_recipe_says_from_training_to_scores(run):
    """Numbers with commas and words of their own for missing values, said once."""
    table, points = rows(), rows()
    for row in table:
        row[1:3] = [cell.replace(".", ",") for cell in row[1:3]]
    table[3][2], points[3][2] = "none", ""
    Path("t.csv").write_text(text(points))
    Path("lakes.csv").write_text(text(table, mark="|"))
    words = ["--quiet", *LABEL, "--missing", "mean"]
    run("table2agf", *words, "t.csv")
    done = run("table2agf", *words[1:], "--decimal", ",", "--blanks", "none", "lakes.csv")
    done.line("table2agf: lakes.recipe: 90 rows, 6 features (length, ")
    assert "lakes.vec" not in os.listdir()
    recipe = read_recipe("lakes.recipe")
    assert (recipe.layout.decimal, recipe.roles.missing, recipe.roles.label) == (
        ",",
        "mean",
        "species",
    )
    same_models(run, ["lakes.csv"], ["t.csv"])
    trained(run, "lakes.csv")
    run("mbh2mbm", "m.c", "m.mbm")
    Path("new.csv").write_text(text(table, mark="|"))  # without a recipe: that of the model
    run("classify_m", "m.mbm", "new.csv", "new-answers.csv")
    run("classify_m", "m.mbm", "lakes.csv", "answers.csv")
    assert Path("new-answers.csv").read_bytes() == Path("answers.csv").read_bytes()
    scores = [
        run("eval_uc", "--json", "--data", data, "--truth", "species", *options, "answers.csv").out
        for data, options in (("lakes.csv", []), ("new.csv", ["--recipe", "lakes.recipe"]))
    ]
    assert scores[0] == scores[1]
    run("nfold", "--no-state", "-d", "2", "pairs", "new.csv", "--recipe", "lakes.recipe")
    Path("new.recipe").write_text("{}")
    run("nfold", "pairs", "new.csv", status=1).refused("new.recipe: expected 'agfmc table recipe'")


def test_a_recipe_of_an_earlier_version_changes_nothing(run):
    trained(run, "t.csv", *LABEL)
    run("table2agf", "t.csv", *LABEL, "--missing", "mean", "--delimiter", ",")
    recipe = json.loads(Path("t.recipe").read_text())
    Path("t.recipe").write_text(
        json.dumps({key: recipe[key] for key in recipe if key not in ("layout", "roles")})
    )
    before = outputs("m.c")
    assert trained(run, "t.csv", *LABEL) == {**outputs("m"), **before}
    assert "as t.recipe says" not in run("nfold", "--no-state", "pairs", "t.csv", *LABEL).err


def test_agf_train_leaves_a_recipe_for_other_commands(run):
    words = "agf_train", "t.csv", "m.mbm", *LABEL, "--time-limit", "0", "--learners", "nystrom"
    run(*words, "--quiet")
    assert not Path("m.recipe").exists()
    run(*words, "--categorical", "code")
    assert read_recipe("m.recipe").roles.categorical == ("code",)
    again = "agf_train", "t.csv", "n.mbm", "--recipe", "m.recipe", *words[-4:]
    run(*again)
    assert not Path("n.recipe").exists()
    assert Path("n.mbm").read_bytes() == Path("m.mbm").read_bytes()


def test_classes_in_an_order_of_their_own(run):
    words = "table2agf", *LABEL, "t.csv", "--classes"
    run(*words, "cat,ant", status=1).refused('row 8: "bee fly" is a class')
    run(*words, "cat,ant,bee fly")
    out = run("print_control", "-Q", "one-vs-one", "t.csv").out
    assert out.startswith("# class 0: cat\n# class 1: ant\n# class 2: bee fly\n")
    run("multi_borders", "pairs", "t.csv", "m", "m.c")
    assert "\n# class 0: cat\n# class 1: ant\n" in Path("m.c").read_text()


# --- missing values


FILLS = {  # policy: ([fill of length], [feature beside it])
    "mean": lambda seen: (np.float32(seen.mean()), []),
    "median": lambda seen: (np.median(seen), []),
    "value:-2.5": lambda seen: (-2.5, []),
    "indicator": lambda seen: (np.median(seen), ["beside"]),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("policy", FILLS)
def test_missing_values(run, policy):
    table = rows()
    for row, column, blank in ((3, 1, ""), (50, 1, "NA"), (7, 3, "?")):
        table[row][column] = blank
    Path("v.csv").write_text(text(table))
    absent = np.isin(np.arange(len(table)), (3, 50))
    seen = np.array(
        [float(row[1]) for row, gone in zip(table, absent) if not gone], np.float32
    ).astype(float)
    fill, beside = FILLS[policy](seen)
    length = np.where(
        absent, fill, [0 if gone else float(row[1]) for row, gone in zip(table, absent)]
    )
    colours = [row[3] for row in table]
    known = sorted(set(colours) - {"?"})
    if policy in ("mean", "median"):
        colours[7] = max(known, key=colours.count)
    if policy == "value:-2.5":
        colours[7], known = "-2.5", ["-2.5", *known]
    features = [
        length,
        *[absent] * len(beside),
        numbers(table, 2),
        *(np.array(colours) == word for word in known),
    ]
    if beside:
        features.append(np.arange(len(table)) == 7)
    by_hand("v", table, [*features, numbers(table, 4)])
    Path("data").mkdir()
    shutil.copy("v.csv", "data/v.csv")
    run("table2agf", *LABEL, "--missing", policy, "data/v.csv")
    same_models(run, ["data/v.csv"], ["v", "-n"])
    same_models(run, ["v.csv", "--recipe", "data/v.recipe"], ["v", "-n"])
    told = run("table2agf", "v.csv", *LABEL, "-E", "error", status=1).err.splitlines()
    assert [line.partition(": --missing")[0] for line in told] == [
        "table2agf: v.csv:5: column 'length', row 4: a missing value, one of 2",
        "table2agf: v.csv:9: column 'colour', row 8: a missing value",
    ]


# --- the recipe, earlier runs, printed commands


def test_the_recipe_lies_beside_the_control_file(run):
    trained(run, "t.csv", *LABEL)
    recipe = read_recipe("m.c.recipe")
    assert recipe.classes == ("ant", "bee fly", "cat") and recipe.ids == ("id",)
    trained(run, "b")
    assert not Path("m.c.recipe").exists()
    out = run("multi_borders", "pairs", "t.csv", "m", "-", *LABEL).out
    assert read_recipe("m.recipe") == recipe and "m-02 1 / 2;\n" in out
    run("mbh2mbm", "--calibration", "m.cal", "-", "m.mbm", stdin=out)
    run("multi_borders", "pairs", "b", "m", "-")
    assert not Path("m.recipe").exists()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["text", "parquet"])
def test_printed_commands_carry_the_options_of_the_table(run, folder, kind):
    name, options = "odd; name", ["--label", "of what, kind", "--id", "1", "--ignore", "width"]
    classes = '"cat, of course","ant, of course","bee fly, of course"'
    recipe = ["--categorical", "code", "--classes", classes, "-E", "indicator"]
    recipe += ["--delimiter", ";", "--blanks", "none"]
    if kind == "text":
        Path("plan").write_text('"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}')
        table = [
            [*row[:4], "" if i == 4 else row[4], row[5] + ", of course"]
            for i, row in enumerate(rows())
        ]
        Path(name).write_text(text(table, mark=";").replace("species", "of what, kind"))
    else:  # and with sums of shared landmarks
        row = '"learner=nystrom -m 20 -g 0.2"'
        Path("plan").write_text(f"{row} 0 / 1 2; {row} 0 1 / 2; {{0 1 2}}")
        arrow_files(folder)
        name, options, recipe = "t.parquet", [*LABEL, "-a", "none"], ["--categorical", "code"]
    columns = [word for word in options if word not in ("-a", "none")]
    run("table2agf", name, *columns, *recipe)
    command = "plan", name, "m", "m.c", *options, "--quiet"
    run("multi_borders", *command)
    before = outputs("m")
    for path in before:
        os.remove(path)
    first = run("multi_borders", "-0", *command)
    root = Path(__file__).resolve().parents[2]
    script = first.out.replace("multi_borders ", f"{sys.executable} {root}/bin/multi_borders ")
    subprocess.run(
        ["sh", "-ec", script], check=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(root)}
    )
    run("multi_borders", *command)
    assert outputs("m") == before and "m.c.recipe" in before


def test_one_model_alone(run):
    whole = trained(run, "t.csv", *LABEL)
    os.remove("m-01")
    run("multi_borders", "--only", "m-01", "pairs", "t.csv", "m", "m.c", "--platt", "loo", *LABEL)
    assert Path("m-01").read_bytes() == whole["m-01"]


@pytest.mark.skipif(shutil.which("svm-train") is None, reason="svm-train is not installed")
def test_another_program_trains(run):
    words = "--", "svm-train -q"
    run("multi_borders", *words, "pairs", "t.csv", "m", "m.c", *LABEL)
    one = {name: content for name, content in outputs("m-").items()}
    run("multi_borders", *words, "-n", "pairs", "b", "m", "m.c")
    assert one == outputs("m-") and len(one) == 3


def test_points_that_stay_in_a_file(run, monkeypatch):
    words = ["-+", "learner=nystrom -m 20 -g 0.2", "-n"]
    table = rows()
    table[8][1] = ""
    Path("t.csv").write_text(text(table))
    before = trained(run, "t.csv", *LABEL, *words)
    kept = from_table._in_a_file
    calls = []
    monkeypatch.setattr(from_table, "_LAZY", 100)
    monkeypatch.setattr(from_table, "_in_a_file", lambda *given: calls.append(1) or kept(*given))
    assert trained(run, "t.csv", *LABEL, *words, "--retrain") == before and calls == [1]


@pytest.mark.parametrize("rows_then", [85, 95])
def test_a_table_that_changes_while_it_is_read(run, folder, monkeypatch, rows_then):
    survey = from_table.survey_table

    def changing(*arguments):
        found = survey(*arguments)
        (folder / "t.csv").write_text(text(rows(95)[:rows_then]))
        return found

    monkeypatch.setattr(from_table, "survey_table", changing)
    run("agf_preprocess", "t.csv", "q", *LABEL, status=1).refused(
        "t.csv: changed while it was read"
    )


# --- options that do not fit


@pytest.mark.parametrize(
    "words, message",
    [
        (
            ["multi_borders", "pairs", "b", "m", "c", "--label", "x"],
            "--label is for tables, and 'b' is none",
        ),
        (["agf_train", "b", "m.mbm", "--blanks", ""], "--blanks is for tables"),
        (["multi_borders", "-M", "pairs", "t.csv", "m", "c", "--id", "a"], "--id is for tables"),
        (["agf_train", "t.csv", "m.mbm", "--decimal", ",", "--recipe", "r"], "exclude each other"),
        (["multi_borders", "pairs", "t.csv", "m", "c", "--decimal", ","], "writes a recipe beside"),
        (["table2agf", "-"], "expected the base name of the files to be written after the table"),
        (["nfold", "pairs", "b", "-E", "mean"], "-E needs -M"),
        (["nfold", "pairs", "-M", "b", "-E", "mean"], "expected a number, found 'mean'"),
        (
            ["compare_control", "-M", "b", "-E", "1"],
            "there is no option -E any more: svm2agf -E and",
        ),
        (["agf_train", "-M", "b", "m.mbm", "-E", "1"], "--missing is for tables"),
        (["order_classes", "pairs", "--ignore", "x"], "--ignore is for tables"),
        (["calibrate_m", "--from", "x", "--weight", "w", "m.c"], "--weight needs --data"),
        (
            ["classify_m", "-E", "mean", "m.c", "t.csv"],
            "--missing is for LIBSVM or LVQ text: a table has a recipe, which table2agf writes",
        ),
        (["calibrate_m", "--data", "t.csv", "--id", "x", "m.c"], "arguments: --id"),
        (
            ["print_control", "-Q", "one-vs-one", "4", "--weight", "w"],
            "--weight is for the samples of training data",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_options_that_do_not_fit(run, words, message):
    run(*words, status=2).refused(message)


def test_a_number_is_a_value_for_missing_ones(run):
    table = rows()
    table[0][1] = ""
    Path("t.csv").write_text(text(table))
    run("table2agf", "t.csv", *LABEL, "-E", "3")
    first = Path("t.recipe").read_bytes()
    run("table2agf", "t.csv", *LABEL, "--missing", "value:3.0")
    assert first == Path("t.recipe").read_bytes()
    assert read_recipe("t.recipe").missing == "value:3.0"
    assert read_vec("b.vec").shape == (90, 6)


@pytest.mark.parametrize(
    "words",
    [
        ("multi_borders", "plan", "t.csv", "m", "t.csv"),
        ("multi_borders", "plan", "t.csv", "x.tsv", "c"),
        ("agf_train", "t.csv", "other.csv"),
        ("mbh2mbm", "plan", "other.csv"),
        ("calibrate_m", "--data", "t.csv", "-o", "other.csv", "plan"),
    ],
)
def test_models_do_not_take_the_names_of_tables(run, words):
    Path("other.csv").write_text("data\n")
    before = Path("t.csv").read_bytes()
    refused = run(*words, status=2).err
    assert "the name of a table: is the order of the operands right?" in refused
    assert Path("other.csv").read_text() == "data\n" and Path("t.csv").read_bytes() == before
