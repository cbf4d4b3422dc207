"""Programs in C, compiled and run, beside the suite's own answers."""

import csv
import io
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest

from agfmc.core.errors import ModelError
from agfmc.core.kernels import KERNELS
from agfmc.decode.class_scores import LOSSES
from agfmc.deployment import c
from agfmc.deployment.c import c_program
from agfmc.deployment.steps import LinearRule, steps_of
from agfmc.tables.dates import DateRecipe
from agfmc.tables.points import TableEncoder
from agfmc.tables.reading import open_table
from agfmc.tables.types import ColumnRecipe, TableFormat, TableRecipe
from own_warnings import own_warnings

STRICT = ("-Wall", "-Wextra", "-Werror", "-std=c99")
SANITIZED = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
HOSTILE = [
    "*/ #error",
    'a"b,c',
    "back\\slash\\",
    "what??/",
    "two\nlines\r\nhere",
    "Ünïcödé 猫",
    "%s%n",
    "/* ??) '",
]


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """build(steps): run(text, *arguments) -> a finished process of the compiled program."""

    def make(steps, compiler="gcc", options=("-O0",), single=False):
        if shutil.which(compiler) is None:
            pytest.skip(f"no {compiler}")
        folder = tmp_path_factory.mktemp("c")
        (folder / "model.c").write_text(c_program(steps, single), encoding="ascii")
        subprocess.run(
            [compiler, *STRICT, *options, "-DMODEL_MAIN", "-o", "model", "model.c", "-lm"],
            cwd=folder,
            check=True,
        )
        return lambda text, *arguments: subprocess.run(
            [folder / "model", *arguments], input=text.encode(), capture_output=True
        )

    return make


def table(rows):
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def answers(process):
    """The heading, the names of the classes and p (n, k) that a program wrote; NaN without them."""
    assert process.returncode == 0 and process.stderr == b"" or process.returncode == 1
    heading, *rows = csv.reader(io.StringIO(process.stdout.decode(), newline=""))
    p = np.array([[cell or "nan" for cell in row[1:]] for row in rows], dtype=float)
    return heading, [row[0] for row in rows], p


def check(steps, run, x, text=None, most=1e-9):
    """Compare with the suite: p, and the class where it is no matter of the last digits.

    `x` are the points, and `text` the table that they stand for.
    """
    x = x.astype(np.float32).astype(float)
    process = run(table(x.tolist()) if text is None else text)
    assert (process.returncode, process.stderr) == (0, b"")
    expected, (_, classes, p) = steps.classifier.classify(x), answers(process)
    difference = np.abs(p - expected.columns) / np.maximum(1, np.abs(expected.columns))
    assert difference.max() <= most
    close = np.diff(np.sort(p, axis=1)[:, -2:])[:, 0] < 2 * most
    names = dict(zip(steps.labels, steps.names))
    assert all(
        near or name == names[label]
        for near, name, label in zip(close, classes, expected.classes.tolist())
    )
    tested = run("", "--self-test")
    assert tested.returncode == 0 and tested.stdout.startswith(b"largest difference ")


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(100))
def test_tables_of_all_kinds_of_columns(seed, random_table, build):
    check_table(random_table(seed, 300), build)


PIECES = (*"1059.,' -+<>=:%ETZ", "000", "e5", "kg", "pm", "P1D", "NA", "\xa0", "\u2212", "\u2264")


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(50))
def test_cells_that_are_cut_or_longer_are_right_or_wrong_as_for_the_suite(
    seed, random_table, build
):
    steps, _, (heading, *rows) = random_table(seed, 400)
    rng = np.random.default_rng(seed)
    for row in rows:
        column = int(rng.integers(len(row)))
        cell = row[column]
        at = int(rng.integers(len(cell) + 1))
        cut = int(rng.integers(2))
        row[column] = cell[:at] + str(rng.choice(["", *PIECES])) + cell[at + cut :]
    text = table([heading, *rows])
    layout = TableFormat().for_model(steps.recipe)
    with own_warnings(), open_table(io.StringIO(text), layout) as source:
        encoder = TableEncoder(source, steps.recipe, "most")
        x = np.concatenate([encoder.points(one) for one in source.blocks(encoder.requested)])
    x = x.astype(float)
    answered = ~np.isnan(x).all(axis=1)
    if not steps.takes_missing:
        answered &= ~np.isnan(x).any(axis=1)
    _, _, p = answers(build(steps, options=SANITIZED)(text))
    assert (np.isnan(p[:, 0]) == ~answered).all()
    sure = answered & random_table.is_sure(steps, x)
    ours = steps.classifier.classify(x[sure]).columns
    scale = max(1, np.abs(ours).max(initial=0))
    np.testing.assert_allclose(p[sure] / scale, ours / scale, rtol=0, atol=1e-6)


def check_table(table_of_steps, build, most=1e-9, **settings):
    steps, x, rows = table_of_steps
    order = np.random.default_rng(3).permutation(len(rows[0]))  # further columns are not used
    text = table([[*(row[at] for at in order), "more"] for row in rows])
    check(steps, build(steps, **settings), x, text, most)


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(50))
def test_probabilities(seed, random_steps, build):
    steps = random_steps(seed)
    check(steps, build(steps), random_steps.points(steps, 1000))


@pytest.mark.parametrize("name", ["alone", "normalised", "beside forests", "beside planes"])
def test_nodes_of_boosted_trees(name, boosted_steps, random_steps, build):
    steps = boosted_steps[name]
    run = build(steps)
    x = random_steps.points(steps, 200)
    check(steps, run, x[~np.isnan(x).any(axis=1)])
    if steps.takes_missing:
        x = np.where(np.isnan(x), np.nan, x.astype(np.float32).astype(float))
        p = answers(run(table(x.tolist())))[2]
        np.testing.assert_allclose(p, steps.classifier.classify(x).columns, rtol=0, atol=1e-9)
    else:
        assert run("1,,2").returncode == 1


@pytest.mark.long
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("seed", range(50))
def test_compilers_and_sanitizers(seed, compiler, random_steps, random_table, build):
    steps = random_steps(seed)
    for options in (("-O3",), SANITIZED):
        check_table(random_table(seed, 200), build, compiler=compiler, options=options)
        check(steps, build(steps, compiler, options), random_steps.points(steps, 200, seed=1))


@pytest.fixture(scope="module")
def pairs(random_steps):
    """A configuration of three classes and two features, and its program."""
    return next(
        steps
        for steps in map(random_steps, range(400))
        if len(steps.labels) > 2
        and len(steps.recipe.columns) == 2
        and not steps.takes_missing
        and steps.gives == "probabilities"
    )


def named(steps, features, classes):
    return replace(
        steps,
        names=tuple(classes),
        recipe=replace(steps.recipe, columns=tuple(map(ColumnRecipe, features))),
    )


def test_names_come_out_as_they_are(random_steps, build):
    steps = next(
        steps
        for steps in map(random_steps, range(400))
        if len(steps.labels) == 4
        and len(steps.recipe.columns) == 4
        and steps.gives == "probabilities"
    )
    features = [HOSTILE[i] + HOSTILE[i + 1] for i in range(0, 8, 2)]
    classes = [HOSTILE[i + 1] + HOSTILE[i] for i in range(0, 8, 2)]
    run = build(named(steps, features, classes))
    heading, found, p = answers(run(table([features[::-1], [0.5, 1, 2, 3]])))
    assert heading == ["class", *(f"p:{name}" for name in classes)]
    assert found == [classes[p.argmax()]]
    _, _, same = answers(run("3,2,1,.5"))
    np.testing.assert_array_equal(same, p)


RIGHT = [
    "1,2\n-1,.5\n",
    "a,b\n1,2\n-1,.5\n",
    "b,a\n2,1\n0.5,-1",
    'b,id,a\n2,x,1\n.5,"a\nb",-1',
    "a,b\r\n1,2\r\n-1,.5\r\n",
    " a,\tb \n1,2\n-1,.5",
    "\n\na,b\n\n1,2\n\n-1,5e-1",
    '"a","b"\r1, 2 \r"-1",.5',
    "\ufeffa,b\n1,2\n-1,.5",
    "a,b," + "c" * 100_000 + "\n1,2,\n-1,.5," + "x" * 100_000,
]
WRONG = [
    ("a,b\n1,2\n3", "line 3: expected 2 columns, found 1"),
    ("a,b\n\n1,2,3", "line 3: expected 2 columns, found 3"),
    ("1,2,3", "line 1: expected 2 columns, found 3"),
    ("a,c\n1,2\n", "line 1: expected numbers, or a heading with the column 'b', found 'a'"),
    ('a,b\n"1,2\n', "line 2: a quote is not closed"),
    ("a,b\n1,\x002\n", "line 2: expected text, found a byte of value 0"),
]
WITHOUT_ANSWER = [
    ("1,x\x01%s", "column 'b', found 'x %s'"),
    ("0x1,2", "column 'a', found '0x1'"),
    ("1e999,2", "column 'a', found '1e999'"),
    ("1e39,2", "column 'a', found '1e39'"),
    ("1,inf", "column 'b', found 'inf'"),
    ("1,", "column 'b', found ''"),
]


@pytest.mark.parametrize("options", [("-O0",), pytest.param(SANITIZED, marks=pytest.mark.long)])
def test_tables(options, pairs, build):
    program = build(named(pairs, ["a", "b"], "uvw"[: len(pairs.labels)] + "xyz"), "gcc", options)
    _, _, expected = answers(program("1,2\n-1,0.5\n"))
    for text in RIGHT:
        _, _, p = answers(program(text))
        np.testing.assert_array_equal(p, expected)
    for text, message in WRONG:
        process = program(text)
        assert (process.returncode, process.stderr.decode()) == (1, f"model: {message}\n")
    for row, message in WITHOUT_ANSWER:
        process = program(f"a,b\n1,2\n{row}\n-1,.5\n{row}\n")
        _, classes, p = answers(process)
        assert process.stderr.decode() == (
            f"model: rows without an answer: 2, the first in line 3: expected a number in {message}\n"
        )
        assert classes[1] == classes[3] == "" and np.isnan(p[1::2]).all()
        np.testing.assert_array_equal(p[::2], expected)
    process = program("", "--self-tests")
    assert process.returncode == 2 and process.stderr.startswith(b"usage: ")


def test_recipes_of_numbers(random_steps, build):
    steps = next(
        steps
        for steps in map(random_steps, range(400))
        if len(steps.labels) > 2
        and len(steps.recipe.columns) == 4
        and steps.gives == "probabilities"
    )
    configuration, decoding, *_ = steps.classifier._arguments
    recipe = TableRecipe(
        (ColumnRecipe("a"), ColumnRecipe("b", fill=1.5), ColumnRecipe("c", indicator=True)),
        "class",
        tuple("xyzuvw"),
        blanks=("?", "-9"),
    )
    steps = steps_of(
        replace(configuration, recipe=recipe), None if decoding.tree != "flat" else decoding.method
    )
    run = build(steps)
    _, _, p = answers(run("c,b,a\n?,?,1\n-9.0,-9,1\n3,2,1"))
    expected = steps.classifier.classify(
        np.array([[1, 1.5, 0, 1], [1, 1.5, 0, 1], [1, 2, 3, 0]])
    ).columns
    np.testing.assert_allclose(p, expected, atol=1e-12)
    assert b"line 2: expected a number in column 'a', found '?'\n" in run("c,b,a\n?,?,?").stderr
    words = replace(recipe, columns=(ColumnRecipe("w", ("p", "q")), *recipe.columns[:2]))
    steps = steps_of(replace(configuration, recipe=words), features=True)
    assert [one.name for one in steps.recipe.columns] == ["w=p", "w=q", "a", "b"]
    assert not steps.of_table


LAYOUTS = [
    (None, "n,w,d\n-0.5,x,31.12.2023\n"),
    (None, "n;w;d\n-0,5;x;31.12.2023\n"),
    (None, "n\tw\td\n-0.5\tx\t31.12.2023\n"),
    (TableFormat(delimiter="|", decimal=","), "n|w|d\n-0,5|x|31.12.2023\n"),
    (TableFormat(header=False), "-0.5,x,31.12.2023\n"),
]


@pytest.fixture(scope="module")
def words_and_dates(random_steps):
    """with_layout(layout): `Steps` of a number, words and dates."""
    recipe = TableRecipe(
        (
            ColumnRecipe("n", fill=0.5),
            ColumnRecipe("w", ("x", "y")),
            ColumnRecipe("d", fill=2.0, date=DateRecipe("day first", 19_720, ())),
        ),
        "class",
        tuple(f"c{label}" for label in range(20)),
    )
    steps = next(
        steps
        for steps in (random_steps(seed, recipe) for seed in range(99))
        if steps.gives == "probabilities" and steps.kernel_sums
    )

    def with_layout(layout):
        columns = steps.recipe.columns
        if layout is not None and not layout.header:
            columns = tuple(
                replace(column, name=str(number)) for number, column in enumerate(columns, 1)
            )
        return replace(steps, recipe=replace(steps.recipe, layout=layout, columns=columns))

    return with_layout


@pytest.mark.parametrize(("layout", "text"), LAYOUTS)
def test_layouts_of_the_training_table(layout, text, words_and_dates, build):
    steps = words_and_dates(layout)
    check(steps, build(steps), np.array([[-0.5, 1, 0, 2.0]]), text)


def test_words_need_a_heading_and_wrong_dates_have_no_answer(words_and_dates, build):
    run = build(words_and_dates(None))
    assert (
        run("1,x,31.12.2023").stderr
        == b"model: line 1: expected a heading with the column 'd', found '1'\n"
    )
    for date in ["31.13.2023", "30.02.2024", "1.1.24", "31.12.2023 24:00", "12/31/2023"]:
        process = run(f"n,w,d\n1,x,{date}")
        assert (
            f"in line 2: expected a date or time as in training in column 'd', found '{date}'"
            in (process.stderr.decode())
        )
    for row in [",,", "NA,z,"]:
        assert b"in line 2: no cell has a known value" in run(f"n,w,d\n{row}").stderr
    for date in ["2023-12-31", "31.12.2023 23:59:59.5Z", "2023-12-31T00:00+05:30"]:
        assert run(f"n,w,d\n1,x,{date}").returncode == 0


NAMES = [
    "double",
    "int",
    "a b",
    "a_b",
    "*/ #error",
    'a"b',
    "two\nlines",
    "what??/",
    "EOF",
    "猫",
    "",
    "n" * 3000,
    "n" * 2999 + "m",
    "__LINE__",
    "1st",
]


def test_a_struct_has_a_member_for_each_column_whatever_their_names(tmp_path, random_steps):
    recipe = TableRecipe(
        tuple(ColumnRecipe(name, fill=0.5) for name in NAMES)
        + (ColumnRecipe("word", tuple(HOSTILE), fill=HOSTILE[0]),),
        "class",
        tuple(f"c{label}" for label in range(20)),
    )
    steps = next(
        steps
        for steps in (random_steps(seed, recipe) for seed in range(99))
        if steps.gives == "probabilities" and steps.kernel_sums
    )
    text = c_program(steps)
    members = ["column_1_double", "column_2_int", "a_b", "column_4_a_b", "column_9_EOF", "word"]
    assert [name for name in members if f" {name};" not in text and f"*{name};" not in text] == []
    main = f"""
#include <stdio.h>
int main(void)
{{
    struct model_row row = {{0}};
    double p[MODEL_CLASSES];
    row.a_b = NAN;
    row.column_1_double = 2.0;
    row.word = {c._string(HOSTILE[3])};
    printf("%d", model_classify_row(&row, p));
    for (int j = 0; j < MODEL_CLASSES; j++)
        printf(" %.17g", p[j]);
    row.word = "unknown";
    row.column_2_int = INFINITY;
    printf(" %d", model_classify_row(&row, p));
    return 0;
}}
"""
    (tmp_path / "model.c").write_text(text + main, encoding="ascii")
    subprocess.run(["gcc", *STRICT, "-o", "model", "model.c", "-lm"], cwd=tmp_path, check=True)
    label, *p, refused = subprocess.check_output([tmp_path / "model"], text=True).split()
    x = np.zeros((1, len(recipe.features)))
    x[0, [0, 2]] = 2, 0.5
    x[0, len(NAMES) + 3] = 1
    ours = steps.classifier.classify(x)
    np.testing.assert_allclose(np.array(p, float), ours.columns[0], rtol=0, atol=1e-9)
    assert steps.labels[int(label)] == ours.classes[0] and refused == "-1"


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(50))
def test_single_precision(seed, random_table, build):
    check_table(random_table(seed, 300), build, single=True, most=1e-4)


def test_the_program_says_what_it_holds_and_its_licence(random_steps):
    steps = next(filter(lambda steps: steps.rows > 1, map(random_steps, range(99))))
    head = c_program(steps).partition("*/")[0]
    assert f"It holds {steps.rows} rows of the training data." in head
    assert "SPDX-License-Identifier: BSD-3-Clause" in head


def test_all_rows_of_tables_have_a_function():
    text = (Path(c.__file__).parent / "model.c").read_text()
    rows = {name: get_args(hint) for name, hint in get_type_hints(LinearRule).items()} | {
        "kernel": KERNELS,
        "rule": (*LOSSES, "least-squares", "pairs", "products", "matrix"),
    }
    assert all(c._word(kind, name) in text for kind, names in rows.items() for name in names)


def test_large_models_are_refused(pairs, monkeypatch):
    text = c_program(pairs)
    monkeypatch.setattr(c, "LARGEST", len(text) // 1000)
    with pytest.raises(ModelError, match="more than 0 MB"):
        c_program(pairs)
    monkeypatch.setattr(c, "MOST_MEMORY", 100)
    with pytest.raises(ModelError, match="memory for a point"):
        c_program(pairs)
