"""Hints: numbers of rows, columns that tell the class, columns that look like groups."""

from dataclasses import replace

import numpy as np
import pytest

from agfmc.tables.hints import columns_that_tell, group_columns, numbers_the_rows
from agfmc.tables.types import ColumnRecipe, TableRecipe


@pytest.mark.parametrize(
    "words, tells",
    [
        ([f"{i % 3}{i % 12}" for i in range(60)], True),  # grade and number
        ([f"{i % 3}{i % 12}" for i in range(31)], False),  # that may be chance
        ([f"{i % 3}{i % 12}" for i in range(59)] + ["00"], False),
        ([str(i % 3 // 2) for i in range(60)], False),
        ([f"{i}" if i % 3 else "x" for i in range(90)], False),
    ],
)  # many are there once
def test_columns_that_tell_the_class(words, tells):
    recipe = TableRecipe(
        (ColumnRecipe("size"), ColumnRecipe("grade", tuple(sorted(set(words))))),
        "class",
        ("a", "b", "c"),
    )
    x = np.array([[0.5, *(word == one for one in recipe.columns[1].categories)] for word in words])
    y = np.arange(len(words)) % 3
    assert columns_that_tell(recipe, x, y) == [("grade",)] * tells


def test_columns_that_look_like_groups():
    rng = np.random.default_rng(2)
    word, y = np.repeat(np.arange(8), 20), np.tile([0, 1], 80)
    centres = rng.normal(size=(8, 3))
    recipe = TableRecipe(
        (
            ColumnRecipe("a"),
            ColumnRecipe("b"),
            ColumnRecipe("c"),
            ColumnRecipe("who", tuple("abcdefgh")),
            ColumnRecipe("few", ("u", "v")),
        ),
        "class",
        ("no", "yes"),
    )

    def found(spread, recipe=recipe, word=word):
        x = centres[word] + spread * np.random.default_rng(1).normal(size=(160, 3))
        return group_columns(recipe, np.column_stack([x, np.eye(8)[word], np.eye(2)[y]]), y)

    assert found(0.05) == ["who"]
    assert found(1.0) == []  # as the towns that people live in
    assert found(0.05, word=word // 4) == []  # of so few it may be by chance
    named = replace(
        recipe,
        columns=tuple(
            replace(one, name="Patient ID") if one.name == "who" else one for one in recipe.columns
        ),
    )
    assert found(1.0, named) == ["Patient ID"]


@pytest.mark.parametrize(
    "kind, spread, warns",
    [
        ("stations", 1.0, True),
        ("visits", 1.0, True),  # each with a tendency towards some class
        ("stations", 0.0, False),
        ("months", 1.0, False),
        ("codes", 1.0, False),
        ("countries", 1.0, False),
    ],
)
def test_words_in_equal_numbers_with_classes_that_repeat(kind, spread, warns):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        word = {
            "stations": lambda: np.repeat(np.arange(60), 10),
            "visits": lambda: np.repeat(np.arange(60), rng.integers(8, 13, 60)),
            "months": lambda: np.repeat(np.arange(12), 50),
            "codes": lambda: rng.integers(0, 60, 600),
            "countries": lambda: np.minimum(rng.zipf(1.3, 600) - 1, 59),
        }[kind]()
        word = np.unique(word, return_inverse=True)[1]
        words = tuple(f"w{number}" for number in range(word.max() + 1))
        chances = spread * rng.normal(size=(len(words), 3))[word] + rng.gumbel(size=(len(word), 3))
        recipe = TableRecipe(
            (ColumnRecipe("a"), ColumnRecipe("where", words)), "class", ("x", "y", "z")
        )
        x = np.column_stack([rng.normal(size=len(word)), np.eye(len(words))[word]])
        assert group_columns(recipe, x, chances.argmax(axis=1)) == ["where"] * warns


@pytest.mark.parametrize(
    "name, is_index, numbers, ascending, is_number",
    [
        ("__index_level_0__", False, (7, 3, 140), False, True),
        ("Unnamed: 0", False, (7, 3, 140), False, True),
        ("row", False, (7, 3, 140), False, True),
        ("nr", True, (7, 3, 140), False, True),
        ("nr", False, (0, 1, 2), True, False),
        ("index", False, (3, 7, 140), True, True),
        ("level_0", False, (2, 0, 1), False, True),
        ("rownames", False, (2, 3, 1), False, True),
        ("X", False, (2, 3, 1), False, True),
        ("X", False, (7, 3, 140), False, False),  # a coordinate
        ("x", False, (1, 2, 3), True, False),
    ],
)
def test_columns_that_number_the_rows(name, is_index, numbers, ascending, is_number):
    low, high = min(numbers), max(numbers)
    assert numbers_the_rows(name, is_index, len(numbers), low, high, ascending) == is_number


def numbers(column, y, *others, name="nr"):
    """(`TableRecipe`, points, y) of a column of numbers and others, for three classes."""
    names = (name, *(f"x{number}" for number in range(len(others))))
    recipe = TableRecipe(tuple(map(ColumnRecipe, names)), "class", ("a", "b", "c"))
    return recipe, np.column_stack([column, *others]).astype(np.float32), y


def tells(column, y, *others):
    return ("nr",) in columns_that_tell(*numbers(column, y, *others))


def sample(rng, share=0.7, n=150):
    """Numbers and classes of rows of a table that is sorted by class."""
    rows = rng.permutation(n)[: int(share * n)]
    return rows, rows // (n // 3)


@pytest.mark.parametrize("seed", range(5))
def test_numbers_that_tell_the_class(seed):
    rng = np.random.default_rng(seed)
    rows, y = sample(rng)
    assert tells(rows, y)
    assert tells(1000 + rows, y)
    assert tells(100 * (1 + rows // 25) + rows % 25, rows // 75)  # plots 100s, 200s, 300s
    plots = np.repeat(np.arange(30), 4)
    assert tells(plots, rng.integers(0, 3, 30)[plots])  # planned, and measured four times
    assert tells(y, y)  # the class as a number
    # and what does not
    assert not tells(rng.permutation(y), y)
    assert not tells(rows + 0.5, y)
    assert not tells(rng.permutation(rows), y)
    flipped = np.where(np.arange(len(y)) % 5 == 0, (y + 1) % 3, y)
    assert not tells(rows, flipped)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", [10, 50, 1000, 100_000])
def test_a_measurement_that_separates_the_classes_does_not_tell_them(seed, scale):
    rng = np.random.default_rng(seed)
    y = np.arange(150) % 3
    length = rng.uniform(0, scale, 150) + 1.2 * scale * y
    assert not tells(np.rint(length), y)
    assert not tells(length, y)


def test_pairs_that_tell_the_class():
    rng = np.random.default_rng(3)
    block, plot = np.repeat(np.arange(5), 60), np.tile(np.repeat(np.arange(10), 6), 5)
    y = rng.integers(0, 3, 50)[10 * block + plot]
    recipe, x, y = numbers(block, y, plot, rng.normal(size=300))
    assert columns_that_tell(recipe, x, y) == [("nr", "x0")]
    assert columns_that_tell(recipe, x, rng.integers(0, 3, 300)) == []
    a, b = rng.integers(0, 5, 300), rng.integers(0, 10, 300)  # not planned: a rule of two numbers
    recipe, x, y = numbers(a, (a + b) % 3, b)
    assert columns_that_tell(recipe, x, y) == []


def units(kind, rng):
    """(numbers of units, in the order of the rows)."""
    return {
        "animals": lambda: np.repeat(np.arange(28), 25),
        "shuffled": lambda: rng.permutation(np.repeat(np.arange(28), 25)),
        "runs": lambda: np.repeat(rng.permutation(28), rng.integers(3, 60, 28)),
        "sorted": lambda: np.repeat(np.arange(28), rng.integers(3, 60, 28)),
        "hours": lambda: np.tile(np.arange(24), 28),
        "counts": lambda: rng.poisson(12, 600),
    }[kind]()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("as_words", [False, True])
@pytest.mark.parametrize(
    "kind, warns",
    [
        ("animals", (True, True)),
        ("shuffled", (True, True)),
        ("runs", (True, True)),
        ("sorted", (False, True)),
        ("hours", (False, None)),
        ("counts", (False, False)),
    ],
)
def test_repeated_units(kind, warns, as_words, seed):
    rng = np.random.default_rng(seed)
    unit = units(kind, rng)
    y = rng.integers(0, 3, len(unit))
    each = rng.normal(size=unit.max() + 1)
    if kind in ("hours", "counts"):
        each = np.sin(2 * np.pi * np.arange(len(each)) / 24)
    size = y + each[unit] + rng.normal(size=len(unit))  # differs between units more than in one
    if warns[as_words] is None:
        return
    if as_words:
        codes, code = np.unique(unit, return_inverse=True)
        words = tuple(f"w{number:02}" for number in codes)
        recipe = TableRecipe(
            (ColumnRecipe("nr", words), ColumnRecipe("size")), "class", ("a", "b", "c")
        )
        x = np.column_stack([np.eye(len(words))[code], size])
    else:
        recipe, x, y = numbers(unit, y, size)
    assert group_columns(recipe, x, y) == ["nr"] * warns[as_words]
    # where units are all alike, nothing is to be kept together
    x[:, -1] = rng.normal(size=len(unit))
    assert group_columns(recipe, x, y) == []


@pytest.mark.parametrize(
    "name, warns",
    [
        ("animal", True),
        ("Patient no", True),
        ("Plot", True),
        ("station_name", True),
        ("age", False),
    ],
)
def test_columns_named_as_units(name, warns):
    rng = np.random.default_rng(1)
    column = rng.integers(0, 9, 60)
    found = group_columns(*numbers(column, column % 2, rng.normal(size=60), name=name))
    assert found == [name] * warns
    assert (
        group_columns(*numbers(np.arange(60), column % 2, name=name)) == []
    )  # none is there twice
