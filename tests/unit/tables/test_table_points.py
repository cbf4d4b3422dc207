"""Points of tables: exact cells for every policy, medians and means, words nobody knew."""

import io
import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as extra

from agfmc.core.errors import AgfmcWarning, DataError
from agfmc.files.codec import decode, encode
from agfmc.tables.reading import open_table
from agfmc.tables import points
from agfmc.tables.survey import survey_table
from agfmc.tables.points import (
    class_numbers,
    fill_missing,
    filled_recipe,
    TableEncoder,
)
from agfmc.tables.types import ColumnRecipe, ColumnRoles, LARGEST, TableFormat, TableRecipe
from own_warnings import no_own_warnings, own_warnings, texts_of
from places import without_lines

TRAINING = "size,colour,class\n1,red,a\n,blue,b\n4,,a\n7,red,b\n1,red,a\n"


def encoded(text, recipe, block=1 << 20, form=TableFormat(), answers=None):
    """(points (n, d), `TableEncoder`) of a table after its recipe."""
    with open_table("-", form, io.BytesIO(text.encode()), block=block) as table:
        encoder = TableEncoder(table, recipe, answers)
        x = np.concatenate([encoder.points(block) for block in table.blocks(encoder.requested)])
    assert x.dtype == np.float32
    return x, encoder


def trained(text, block=1 << 20, **roles):
    """(points, recipe) of a training table."""
    with open_table("-", stdin=io.BytesIO(text.encode()), again=True, block=block) as table:
        recipe = survey_table(table, ColumnRoles(**roles)).recipe
    x, _ = encoded(text, recipe, block)
    recipe = filled_recipe(recipe, x)
    fill_missing(x, recipe)
    return x, recipe


def refused(text, recipe, *words):
    with pytest.raises(DataError) as caught:
        encoded(text, recipe)
    message = without_lines(str(caught.value)).removeprefix("standard input:").strip()
    assert all(word in message for word in words), message


@pytest.mark.parametrize("block", [80, 1000])
@pytest.mark.parametrize(
    "missing, rows",
    [
        # the number's mean and median, the most frequent word
        ("mean", [[1, 0, 1], [3.25, 1, 0], [4, 0, 1], [7, 0, 1], [1, 0, 1]]),
        ("median", [[1, 0, 1], [2.5, 1, 0], [4, 0, 1], [7, 0, 1], [1, 0, 1]]),
        (
            "indicator",
            [[1, 0, 0, 1, 0], [2.5, 1, 1, 0, 0], [4, 0, 0, 0, 1], [7, 0, 0, 1, 0], [1, 0, 0, 1, 0]],
        ),
        ("value:9", [[1, 0, 0, 1], [9, 0, 1, 0], [4, 1, 0, 0], [7, 0, 0, 1], [1, 0, 0, 1]]),
    ],
)
def test_missing_values(missing, rows, block):
    x, recipe = trained(TRAINING, block, missing=missing)
    np.testing.assert_array_equal(x, rows)
    assert not any(one.fill != one.fill for one in recipe.columns)
    # and so for later tables, by the fills of training
    again, encoder = encoded(TRAINING.replace("7", "700"), recipe, block)
    x[3, 0] = 700
    np.testing.assert_array_equal(again, x)
    filled = {} if missing == "indicator" else {("filled", "size"): 1, ("filled", "colour"): 1}
    assert {key: note[0] for key, note in encoder.notes.items()} == {**filled, ("above", "size"): 1}


def test_missing_values_that_training_had_not():
    full = "size,colour,class\n1,red,a\n2,blue,b\n4,red,a\n"
    for missing, expected in (
        ("indicator", [2, 0, 0]),
        ("error", [2, 0, 0]),
        ("median", [2, 0, 1]),
        ("mean", [np.float32(7 / 3), 0, 1]),
        ("value:9", [9, 0, 0]),
        ("keep", [np.nan, 0, 0]),
    ):
        _, recipe = trained(full, missing=missing)
        assert recipe.features == ("size", "colour=blue", "colour=red")
        np.testing.assert_array_equal(encoded("size,colour\n,\n", recipe)[0], [expected])
    _, recipe = trained(full)
    x, encoder = encoded("colour,size\nred,1\nred,NA\n?,1\n,4\n", recipe)
    np.testing.assert_array_equal(x, [[1, 0, 1], [2, 0, 1], [1, 0, 0], [4, 0, 0]])
    with own_warnings() as told:
        encoder.warn_of_cells()
    assert texts_of(told) == [
        "standard input: 3 missing values are filled in columns that had none in training: "
        "'size' (1), 'colour' (2) (numbers become the median, words none of the categories)"
    ]
    older = replace(recipe, columns=tuple(replace(one, fill=None) for one in recipe.columns))
    refused(
        "colour,size\nred,1\nred,NA\n",
        older,
        "row 2: column 'size' has a missing value, and training had none there: expected a number",
    )


def test_quantiles_of_training_say_what_is_far():
    assert ColumnRecipe("a").limits == (-np.inf, np.inf)
    for quantiles, limits in (
        ((2700, 2900, 4050, 6000, 6300), (290, 37000)),  # grams: 3.75 kg is below
        ((280, 282, 290, 300, 301), (102, 480)),  # kelvin: 20 degrees Celsius is below
        ((-5, -1, 0, 1, 7), (-21, 21)),
        ((0, 0, 0, 0, 3), (-30, 30)),
        ((0, 0, 1, 5, 70), (-50, 70)),  # training had 70
        ((-6000, -5000, -4000, -1000, -900), (-45000, -100)),
        ((4, 4, 4, 4, 4), (4, 4)),
    ):
        assert ColumnRecipe("a", quantiles=tuple(map(float, quantiles))).limits == limits
    _, recipe = trained("size,class\n0.1,a\n,b\n0.1,a\n0.1,b\n", missing="value:0.1")
    assert not encoded("size\n0.1\n", recipe)[1].notes  # in single precision it is more
    text = "size,class\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(110, 9, -1))
    for block in (30, 1000):
        _, recipe = trained(text, block)
        assert recipe.columns[0].quantiles == (10, 11, 60, 109, 110)
    x, encoder = encoded("size\n1\n1.1\n110\n1089\n1e9\n", recipe)
    assert x[:, 0].tolist() == [1, np.float32(1.1), 110, 1089, 1e9]
    assert encoder.flags(5) == [["size: below"], [], [], [], ["size: above"]]
    with pytest.warns(
        AgfmcWarning,
        match="column 'size' has 1 cell with numbers far below those of training, 10 to 110, first "
        "'1' in row 1; column 'size' has 1 cell with numbers far above those of training, 10 to "
        "110, first '1e.09' in row 5$",
    ):
        encoder.warn_of_cells()


@pytest.mark.parametrize("block", [30, 1000])
def test_rows_without_an_answer(block):
    _, recipe = trained(TRAINING + "3,blue,a\n" * 9, missing="median")
    text = "size,colour\n1,red\nbig,blue\n,\n2,\n1e300,blue\n,pink\n"
    x, encoder = encoded(text, recipe, block, answers="most")
    assert np.isnan(x).all(axis=1).tolist() == [False, True, True, False, True, True]
    np.testing.assert_array_equal(x[[0, 3]], [[1, 0, 1], [2, 1, 0]])
    assert (encoder.rows, encoder.unanswered) == (6, 4)
    assert {key: note[0] for key, note in encoder.notes.items()} == {
        ("wrong", "size"): 2,
        ("unknown", "colour"): 1,
        ("filled", "colour"): 1,
    }
    assert str(encoder.error) == (
        "standard input: row 2: expected a number in column 'size', found 'big'; 4 of 6 rows have no "
        "answer"
    )
    none = "has none of the values that the model needs"
    for row, message in (("big,red", "expected a number"), (",", none), (",pink", none)):
        with pytest.raises(DataError, match=f": row 2: .*{message}"):
            encoded(f"size,colour\n1,red\n{row}\n", recipe, block, answers="all")
    encoded("size,colour\n,pink\n", recipe)  # with classes, it is a row as others


def test_words_that_training_did_not_know():
    _, recipe = trained(TRAINING, missing="median")
    text = "size,colour\n1,red\n2,pink\n3, red \n4,pink\n5,gr\x1ben\n"
    for block in (80, 1000):
        x, encoder = encoded(text, recipe, block)
        np.testing.assert_array_equal(x, [[1, 0, 1], [2, 0, 0], [3, 0, 1], [4, 0, 0], [5, 0, 0]])
        assert encoder.notes == {("unknown", "colour"): (3, "pink", 2)}
        with pytest.warns(
            AgfmcWarning,
            match="^standard input: column 'colour' has 3 cells with "
            "words that training did not know, first 'pink' in row 2$",
        ):
            encoder.warn_of_cells()
    with own_warnings() as told:
        encoded(TRAINING, recipe)[1].warn_of_cells()
    assert texts_of(told) == [
        "standard input: 2 missing values are filled, by `missing=\"median\"` of training: 'size' (1), "
        "'colour' (1)"
    ]


def test_words_that_programs_write_in_other_ways():
    _, recipe = trained("n,t,class\n1,True,a\n2,False,b\n1,True,a\n", categorical=("n",))
    assert recipe.features == ("n=1", "n=2", "t=false", "t=true")
    x, encoder = encoded("t,n\ntrue,2.0\nFALSE,1.\n", recipe)
    np.testing.assert_array_equal(x, [[0, 1, 0, 1], [1, 0, 1, 0]])
    assert not encoder.notes


def test_words_that_are_not_among_the_categories_of_a_recipe_with_one_for_them():
    recipe = TableRecipe((ColumnRecipe("c", ("other", "red"), other="other"),), "class", ("a", "b"))
    x, encoder = encoded("c\nred\npink\nother\n", recipe)
    np.testing.assert_array_equal(x, [[0, 1], [1, 0], [1, 0]])
    assert not encoder.notes


def test_ordered_words_are_numbers():
    recipe = TableRecipe(
        (ColumnRecipe("size", fill=1.5, order=("s", "m", "l")),), "class", ("a", "b")
    )
    x, _ = encoded("size\nl\ns\n?\nm\n", recipe)
    np.testing.assert_array_equal(x[:, 0], [2, 0, 1.5, 1])
    refused("size\nl\nxl\n", recipe, "row 2: column 'size': expected s < m < l, found 'xl'")


def test_columns_that_are_there_and_others():
    _, recipe = trained(TRAINING, missing="median")
    refused("a,b\n1,2\n", recipe, "lacks the columns 'size', 'colour', which the model needs")
    refused("a,size\n1,2\n", recipe, "lacks the column 'colour', which the model needs")
    for text, words in (
        ("colour,z,class,size,id\nred,1,a,2,3\n", "column 'z' is not needed"),
        ("y,colour,z,class,size,id\n1,red,1,a,2,3\n", r"column 'y' \(and 1 more\) is not needed"),
    ):
        x, encoder = encoded(text, recipe)
        np.testing.assert_array_equal(x, [[2, 0, 1]])
        with pytest.warns(AgfmcWarning, match=words):
            encoder.warn_of_others(("class", "id"))
    with no_own_warnings():
        encoder.warn_of_others(("class", "id", "y", "z"))


def test_numbers_that_cannot_be():
    recipe = TableRecipe((ColumnRecipe("size"),), "class", ("a", "b"))
    refused("size\n1\nx\n", recipe, "row 2", "column 'size'", "expected a number")
    refused(
        f"size\n1\n{2 * LARGEST}\n",
        recipe,
        "row 2: column 'size': 6.80564693e+38 is more than single precision holds: use a larger unit",
    )
    x, _ = encoded(f"size\n{LARGEST!r}\n-{LARGEST!r}\n1e-60\n", recipe)
    np.testing.assert_array_equal(x[:, 0], np.float32([LARGEST, -LARGEST, 0]))


def test_numbers_of_classes():
    classes = {"a": 0, "2": 1}
    with open_table("-", stdin=io.BytesIO(b"x,class\n1,a\n2,2.0\n3, a\n")) as table:
        (block,) = table.blocks({1: "words"})
        assert class_numbers(table, block, 1, classes).tolist() == [0, 1, 0]
    for cell, found in (("c", "the class 'c'"), ("NA", "no class")):
        with open_table("-", stdin=io.BytesIO(f"x,class\n1,a\n2,{cell}\n".encode())) as table:
            (block,) = table.blocks({1: "words"})
            with pytest.raises(
                DataError, match=f": row 2: column 'class' has {found}, expected 'a', '2'$"
            ):
                class_numbers(table, block, 1, classes)


# Means and medians


def values_with_holes():
    few = st.sampled_from([np.nan, 0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 3e38, -3e38, 0.1])
    return extra.arrays(
        np.float32,
        st.tuples(st.integers(1, 12), st.just(3)),
        elements=st.one_of(few, st.floats(width=32, allow_infinity=False, allow_nan=False)),
    )


NUMBERS = TableRecipe(
    tuple(ColumnRecipe(name, fill=float("nan")) for name in "abc"),
    "class",
    ("u", "v"),
    missing="median",
)


def fills(x, missing="median"):
    recipe = TableRecipe(NUMBERS.columns, "class", ("u", "v"), missing=missing)
    return [one.fill for one in filled_recipe(recipe, x).columns]


@given(values_with_holes(), st.integers(1, 5), st.sampled_from([1, 20, 1000]))
def test_medians_are_exact(x, rows, gathered):
    x = np.concatenate([x, [[-2.5, 1, 0]]]).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(points, "_VALUES", rows * x.shape[1])
        patch.setattr(points, "_GATHERED", gathered)
        found = fills(x)
    expected = np.nanmedian(x.astype(np.float64), axis=0).astype(np.float32)
    np.testing.assert_array_equal(np.float32(found), expected)
    assert all(value == float(np.float32(value)) for value in found)
    recipe = filled_recipe(NUMBERS, x)
    filled = x.copy()
    fill_missing(filled, recipe)
    np.testing.assert_array_equal(filled, np.where(np.isnan(x), expected, x))


@pytest.mark.parametrize("count", [1, 2, 999, 1000])
def test_medians_and_means_of_many(count, tmp_path):
    generator = np.random.default_rng(count)
    x = np.column_stack(
        [
            np.round(generator.normal(size=count), 1),  # ties
            generator.normal(size=count) * 10.0 ** generator.integers(-30, 30, count),
            -np.abs(generator.normal(size=count)),
        ]
    ).astype(np.float32)
    x[generator.random((count, 3)) < 0.2] = np.nan
    x[0] = 0.5, -0.0, 7
    wide = x.astype(np.float64)
    expected = np.nanmedian(wide, axis=0).astype(np.float32).tolist()
    assert fills(x) == expected
    np.testing.assert_allclose(fills(x, "mean"), np.nanmean(wide, axis=0), rtol=1e-7)
    stored = np.memmap(tmp_path / "x", np.float32, "w+", shape=x.shape)
    stored[:] = x
    assert fills(stored) == expected
    recipe = filled_recipe(NUMBERS, stored)
    fill_missing(stored, recipe)
    stored.flush()
    again = np.fromfile(tmp_path / "x", np.float32).reshape(x.shape)
    np.testing.assert_array_equal(again, np.where(np.isnan(x), np.float32(expected), x))


def test_a_median_of_zero_has_no_sign():
    found = fills(np.array([[-0.0, -0.0, -1], [np.nan, 0.0, 1]], np.float32))
    assert list(map(str, found)) == ["0.0", "0.0", "0.0"]


def test_fills_that_are_known_stay():
    recipe = TableRecipe(
        (
            ColumnRecipe("c", ("u",), "u", True),
            ColumnRecipe("a", fill=4.0),
            ColumnRecipe("b"),
            ColumnRecipe("d", fill=float("nan"), indicator=True),
        ),
        "class",
        ("u", "v"),
        missing="mean",
    )
    x = np.array([[1, 0, np.nan, 5, 2, 0], [0, 1, 1, 6, np.nan, 1], [1, 0, 1, 7, 5, 0]], np.float32)
    found = filled_recipe(recipe, x)
    assert [one.fill for one in found.columns] == ["u", 4.0, None, 3.5]
    fill_missing(x, found)
    assert x[:, 2].tolist() == [4, 1, 1] and x[:, 4].tolist() == [2, 3.5, 5]
    assert found.columns[2].quantiles == (5, float(np.float32(5.02)), 6, float(np.float32(6.98)), 7)


# Properties

CELLS = {
    "number": st.integers(-9, 9).map(lambda n: repr(n / 2)),
    "word": st.sampled_from(["red", "blue", "1", "dark; red", ' a "b" ', "x,y"]),
    "hole": st.just(""),
}


@st.composite
def tables(draw):
    """(names, rows of cells): some columns of numbers or words with holes, and the class."""
    kinds = draw(st.lists(st.sampled_from(["number", "word"]), min_size=1, max_size=5))
    count = draw(st.integers(2, 9))
    rows = [[draw(st.one_of(CELLS[kind], CELLS["hole"])) for kind in kinds] for _ in range(count)]
    for at in range(len(kinds)):  # two values at least
        rows[0][at], rows[1][at] = ("1.5", "-2") if kinds[at] == "number" else ("red", "blue")
    return [f"c{at}" for at in range(len(kinds))], rows


def text_of(names, rows, order=None):
    order = range(len(names)) if order is None else order
    quoted = [[f'"{row[at]}"'.replace(' "b" ', ' ""b"" ') for at in order] for row in rows]
    return "\n".join(",".join(row) for row in [[names[at] for at in order], *quoted]) + "\n"


@given(tables(), st.data(), st.sampled_from(["mean", "median", "indicator", "value:1"]))
def test_the_order_of_columns_does_not_matter(table, data, missing):
    names, rows = table
    rows = [[*row, "ab"[at % 2]] for at, row in enumerate(rows)]
    names = [*names, "class"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x, recipe = trained(text_of(names, rows), missing=missing)
    assert np.isfinite(x).all()
    order = data.draw(st.permutations(range(len(names))))
    block = data.draw(st.sampled_from([200, 1 << 20]))
    again, encoder = encoded(text_of(names, rows, order), recipe, block)
    np.testing.assert_array_equal(again, x)
    assert not {kind for kind, _ in encoder.notes} - {"filled"}
    # and the recipe is the same when it is read again
    assert decode(TableRecipe, json.loads(json.dumps(encode(recipe))), ValueError) == recipe
