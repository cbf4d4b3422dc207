"""Columns of training tables: their roles, what each is taken for, and what is said of them."""

import io
import re
import warnings

import numpy as np
import pytest

from agfmc.core.errors import AgfmcWarning, DataError, UsageError
from agfmc.tables.reading import open_table
from agfmc.tables.words import Block, Table
from agfmc.tables import survey as column_survey
from agfmc.tables import facts as column_facts
from agfmc.tables.roles import column_positions, resolve_roles
from agfmc.tables.survey import survey_classes, survey_table
from agfmc.tables.number_forms import NumberForm
from agfmc.tables.types import ColumnRecipe, ColumnRoles, TableFormat
from own_warnings import own_warnings, texts_of
from places import without_lines

MANY = 24  # rows, of which all may not be different by chance


def survey(text, block=1 << 20, **roles):
    """(Survey, [warnings without the name of the file and the numbers of columns])."""
    with (
        own_warnings() as told,
        open_table("-", stdin=io.BytesIO(text.encode()), again=True, block=block) as table,
    ):
        found = survey_table(table, ColumnRoles(**roles))
    return found, [text for text in map(_without_kinds, texts_of(told)) if text]


def _without_kinds(text):
    return re.sub("^(?:standard input: )(?:columns: [^;]*(?:; )?)?", "", text)


def column(cells, name="x", block=1 << 20, **roles):
    """(ColumnRecipe or None, [warnings]) of one column beside another feature and two classes."""
    text = "".join(f"{cell},{row * row % 7},{'ab'[row % 2]}\n" for row, cell in enumerate(cells))
    found, told = survey(f"{name},other,class\n{text}", block, **roles)
    assert found.rows == len(cells)
    return next((one for one in found.recipe.columns if one.name == name), None), told


def refused(error, call, *arguments, **options):
    with pytest.raises(error) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(*arguments, **options)
    return without_lines(str(caught.value)).removeprefix("standard input:").strip()


def roles_of(names, labelled=True, **roles):
    return resolve_roles(Table("t.csv", tuple(names), frozenset()), ColumnRoles(**roles), labelled)


# Roles


def test_roles_by_names_and_numbers():
    assert roles_of("abcdef", label="c", ids=("1", "b"), weight="6", categorical=("4",)) == (
        2,
        (0, 1),
        5,
        (3, 4),
        {3},
        {},
        None,
    )
    assert roles_of(("id", "Class", "x")) == (1, (), None, (0, 2), set(), {}, None)
    assert roles_of(("id", "x"), labelled=False) == (None, (), None, (0, 1), set(), {}, None)
    # a name comes before a number
    assert roles_of(("2", "1", "target"), ignored=("1",)).features == (0,)
    assert column_positions(Table("t", ("a", "b"), frozenset()), ("b", "1"), "`ids`") == (1, 0)


@pytest.mark.parametrize(
    "names, roles, words",
    [
        (
            "abc",
            {},
            "no column is named class, label or target: `label` names the one that does; the "
            "columns are 'a', 'b', 'c'",
        ),
        (("class", "LABEL"), {}, "columns 'class', 'LABEL' could hold the classes"),
        ("abc", {"label": "d"}, "`label`: there is no column 'd'; the columns are 'a', 'b', 'c'"),
        ("abc", {"label": "4"}, "`label`: there is no column '4'"),
        ("abc", {"label": "0"}, "`label`: there is no column '0'"),
        ("abc", {"label": "\u0661"}, "`label`: there is no column"),
        ("abc", {"label": "a", "ids": ("1",)}, "column 'a' cannot be for the label and for `ids`"),
        (
            "abc",
            {"label": "a", "ignored": ("b",), "weight": "2"},
            "column 'b' cannot be for `weight` and for `ignored`",
        ),
        (
            "abc",
            {"label": "a", "ids": ("c",), "categorical": ("c",)},
            "column 'c' cannot be for `ids` and for `categorical`",
        ),
        (("a\n", *map(str, range(100, 130))), {}, r"'a\n', '100'.*'118' and 11 more"),
    ],
)
def test_roles_that_cannot_be(names, roles, words):
    with pytest.raises(DataError) as caught:
        roles_of(names, **roles)
    message = str(caught.value)
    assert message.startswith("t.csv: ")
    assert all(part in message for part in words.split(".*"))


# What a column is

NUMBERS = [0.5 * (row % 5) for row in range(MANY)]
COLOURS = [("red", "blue", " red ")[row % 3] for row in range(MANY)]


@pytest.mark.parametrize("block", [80, 1 << 20])
def test_numbers_and_words(block):
    assert column(NUMBERS, block=block) == (ColumnRecipe("x", fill=np.nan), [])
    assert column(COLOURS, block=block) == (ColumnRecipe("x", ("blue", "red")), [])
    assert column([row % 3 for row in range(MANY)], block=block, categorical=("x",)) == (
        ColumnRecipe("x", ("0", "1", "2")),
        [],
    )
    values = [("10", "9.0", "-1", "9")[row % 4] for row in range(MANY)]
    assert column(values, block=block, categorical=("1",))[0].categories == ("-1", "9", "10")
    assert column(["True", "true"] * 9 + ["FALSE"], block=block)[0].categories == ("false", "true")


@pytest.mark.parametrize("block", [80, 1 << 20])
def test_words_beside_numbers(block):
    cells = [row % 3 for row in range(MANY)]
    cells[9] = "much"
    told = [
        "column 'x' has words beside numbers, first 'much' in row 10, and all are taken as "
        "words (`blanks` names words that mean a missing value)"
    ]
    assert column(cells, block=block) == (ColumnRecipe("x", ("0", "1", "2", "much")), told)
    assert column(cells, block=block, categorical=("x",))[1] == []
    # identifiers are left out however the table was read
    cells = [row * 7 % 97 for row in range(MANY)]
    cells[9:14] = [f"much{row}" for row in range(5)]
    assert column(cells, block=block) == (
        None,
        [
            "left out: 'x' (a different value in nearly every row; `categorical` keeps it, "
            "`ids` copies it to answers)"
        ],
    )
    # a few words among many different numbers are a mistake
    cells[10:14] = range(100, 104)
    text = "x,class\n" + "".join(f"{cell},{row % 2}\n" for row, cell in enumerate(cells))
    assert refused(DataError, survey, text, block).startswith(
        "column 'x', row 10: \"much0\" is no number, as other cells are: `blanks` names"
    )
    assert column(cells, block=block, categorical=("x",))[0] is not None


@pytest.mark.parametrize(
    "cells, words",
    [
        (["3"] * MANY, "constant"),
        (["3.0", "NA"] * 12, "constant"),
        (["red"] * MANY, "constant"),
        (["NA", "?", ""] * 8, "empty"),
        (range(7, 7 + MANY), "numbers of the rows"),
        (
            [f"s{row}" for row in range(MANY)],
            "a different value in nearly every row; "
            "`categorical` keeps it, `ids` copies it to answers",
        ),
        (
            [f"s{min(row, 22)}" for row in range(MANY)],
            "a different value in nearly every row; "
            "`categorical` keeps it, `ids` copies it to answers",
        ),
    ],
)
def test_columns_that_are_left_out(cells, words):
    for block in (80, 1 << 20):
        assert column(cells, block=block, missing="median") == (None, [f"left out: 'x' ({words})"])


def test_identifiers_that_are_kept():
    cells = [row * 7 % 97 for row in range(MANY)]
    assert column(cells) == (
        ColumnRecipe("x", fill=np.nan),
        [
            "column 'x' has another whole number in every row: if it is an identifier, and not a "
            "measurement, `ignored` or `ids` leaves it out"
        ],
    )
    assert column([cells[0], *cells[:-1]])[1] == []
    assert column([cell + 0.5 for cell in cells])[1] == []
    few = [f"s{row}" for row in range(20)]
    assert len(column(few)[0].categories) == 20
    assert len(column([f"s{row}" for row in range(MANY)], categorical=("x",))[0].categories) == MANY
    # not one more than the one before in each row
    for block in (80, 1 << 20):
        assert column([*range(12), *range(13, 25)], block=block)[0] is not None


SHUFFLED = [row * 7 % 31 for row in range(MANY)]  # different, of 0 to 30


@pytest.mark.parametrize("block", [80, 1 << 20])
@pytest.mark.parametrize(
    "name, cells, is_left_out",
    [
        ("Unnamed: 0", SHUFFLED, True),
        ("__index_level_0__", SHUFFLED, True),
        ("__index_level_0__", [5, 3, 9], True),
        ("index", sorted(SHUFFLED), True),
        ("index", SHUFFLED, False),
        ("index", [0.5 * row for row in range(MANY)], False),
        ("index", [*SHUFFLED[:-1], SHUFFLED[0]], False),
        ("level_0", [row * 5 % MANY for row in range(MANY)], True),
        ("rownames", [1 + row * 5 % MANY for row in range(MANY)], True),
        ("X", [1 + row * 5 % MANY for row in range(MANY)], True),
        ("X", [2 + row * 5 % MANY for row in range(MANY)], False),
    ],
)
def test_numbers_of_rows_that_programs_store(name, cells, is_left_out, block):
    recipe, told = column(cells, name, block)
    assert (recipe is None) == is_left_out
    assert (f"left out: '{name}' (numbers of the rows)" in told) == is_left_out


def test_the_index_that_a_file_names_is_left_out():
    text = "nr,other,class\n" + "".join(
        f"{nr},{row * row % 7},{'ab'[row % 2]}\n" for row, nr in enumerate(SHUFFLED)
    )
    with (
        own_warnings() as told,
        open_table("-", stdin=io.BytesIO(text.encode()), again=True) as table,
    ):
        table.index = frozenset({"nr", "other"})
        found = survey_table(table, ColumnRoles())
    assert [one.name for one in found.recipe.columns] == ["other"]  # whose numbers repeat
    assert "left out: 'nr' (numbers of the rows)" in texts_of(told)[0]


def test_the_index_of_a_frame_in_parquet_is_left_out(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"nr": SHUFFLED, "x": NUMBERS, "class": ["a", "b"] * (MANY // 2)})
    path = str(tmp_path / "t.parquet")
    for metadata, names in (
        (None, ["nr", "x"]),
        ({"pandas": '{"index_columns": ["nr"]}'}, ["x"]),
        ({"pandas": '{"index_columns": [{"kind": "range", "start": 0}]}'}, ["nr", "x"]),
    ):
        parquet.write_table(table.replace_schema_metadata(metadata), path)
        with own_warnings(), open_table(path) as opened:
            recipe = survey_table(opened, ColumnRoles()).recipe
        assert [one.name for one in recipe.columns] == names


def test_kinds_of_columns_are_said_in_one_line():
    def told(heading, cells):
        text = f"{heading}\n" + "".join(f"{cells(row)}\n" for row in range(MANY))
        with (
            own_warnings() as told,
            open_table("-", stdin=io.BytesIO(text.encode()), again=True) as table,
        ):
            survey_table(table, ColumnRoles(ordered=("z=u<v",) if "z" in heading else ()))
        return [text.removeprefix("standard input: ") for text in texts_of(told)]

    texts = told(
        "x,y,z,when,colour,at,nr,class",
        lambda row: (
            f"{row % 5 / 2},{row % 7 / 2},{'uv'[row % 2]},2024-01-{row + 1:02},{'rgb'[row % 3]},"
            f"{row % 9}:05,{row + 1},{'ab'[row % 2]}"
        ),
    )
    assert texts[0].startswith(
        "columns: number 2, order 1, date 1, words 1, time 1, left out 1; left out: 'nr'"
    )
    # where nothing else is to be said, the commands say it
    assert told("x,c,class", lambda row: f"{row % 5 / 2},{'rgb'[row % 3]},{row % 2}") == []


def test_many_words(monkeypatch):
    monkeypatch.setattr(column_survey, "_MOST_WORDS", 8)
    cells = [f"w{row % 6}" for row in range(MANY)]
    assert column(cells)[1] == column(cells, categorical=("x",))[1] == []
    cells = [f"w{row % 9}" for row in range(MANY)]
    assert refused(DataError, column, cells) == (
        "column 'x', row 1: \"w0\" is one of 9 different words, of which each would be a feature: "
        "`categorical` makes the features, `ignored` leaves the column out"
    )
    assert len(column(cells, categorical=("x",))[0].categories) == 9
    monkeypatch.setattr(column_facts, "_TRACKED", 7)
    assert refused(DataError, column, cells, categorical=("x",)).startswith(
        "column 'x', row 1: \"w0\" is one of more than 9 different words, of which each would be a "
        "feature: `ignored` leaves the column out"
    )
    cells = [f"s{row}" for row in range(MANY)]
    assert column(cells, categorical=("x",)) == (
        None,
        ["left out: 'x' (a different value in nearly every row)"],
    )


def test_rare_words_share_a_feature():
    cells = [f"w{word:02}" for word in range(29) for _ in range(1 + 4 * (word < 3))]
    assert len(column(cells)[0].categories) == 29
    told = (
        "27 of 30 words of column 'x', in fewer than 5 rows each, share the feature 'other' "
        "(`min_words`)"
    )
    for block in (80, 1 << 20):
        assert column([*cells, "x"], block=block) == (
            ColumnRecipe("x", ("other", "w00", "w01", "w02"), other="other"),
            [told],
        )
    assert column(cells, min_words=5)[0].other == "other"
    assert column([f"w{row % 30}" for row in range(150)])[1] == [
        "each of the 30 words of column 'x' is a feature (`ignored` leaves the column "
        "out; `group` names it if the rows of a word are alike)"
    ]
    assert column([*cells, "x"], categorical=("x",))[0].other is None
    assert len(column([*cells, "x"], min_words=1)[0].categories) == 30
    # a word that is named other is one of them, and may be the most frequent
    assert column([*cells, "other"] * 2, min_words=9, missing="median")[0] == ColumnRecipe(
        "x", ("other", "w00", "w01", "w02"), "other", other="other"
    )
    assert column([f"w{row % 30}" for row in range(90)]) == (
        None,
        ["left out: 'x' (no word in 5 rows or more)"],
    )


def test_ordered_words():
    order = ("low", "mid", "high", "top")
    cells = ["high", "low", "mid", ""] * 6
    found, _ = column(cells, ordered=("x=low<mid< high<top",))
    assert repr(found) == repr(ColumnRecipe("x", None, np.nan, True, order=order))
    assert found.features == ("x", "x is missing")
    assert column(cells, ordered=("1=low<mid<high<top",), missing="value:mid")[0].fill == 1
    assert (
        column(["2024-01-01", "2024-02-01"] * 9, ordered=("x=2024-01-01<2024-02-01",))[0].date
        is None
    )
    for text in ("x", "x=low", "=low<mid", "x=low<", "x=low<mid<low"):
        assert refused(UsageError, column, cells, ordered=(text,)) == (
            "`ordered`: expected a column and its words in their order, as "
            f"size=small<medium<large, found '{text}'"
        )
    assert "cannot be for `ignored` and for `ordered`" in refused(
        DataError, column, cells, ignored=("x",), ordered=("x=a<b",)
    )


def test_nothing_is_left():
    assert refused(DataError, survey, "x,class\n1,a\n1,b\n") == (
        "no column is left to be a feature; left out: 'x' (constant)"
    )
    assert refused(DataError, survey, "x,class\n") == "the table has no rows"


def test_names_that_meet():
    text = "c,c=a,class\na,1,u\nb,2,v\n"
    assert refused(DataError, survey, text) == (
        "two features would be named 'c=a': expected columns and words that differ"
    )


def test_names_that_are_too_long(monkeypatch):
    monkeypatch.setattr(column_survey, "MOST_LETTERS", 400)
    assert len(column(COLOURS)[0].categories) == 2
    assert refused(DataError, column, COLOURS, name="x" * 100).startswith(
        "the names of the features, of column and word, are too long"
    )


# Missing values

HOLES = ["1", "", "3", "NA"] * 6


@pytest.mark.parametrize(
    "missing, numbers, colours",
    [
        ("mean", ColumnRecipe("x", fill=np.nan), ColumnRecipe("x", ("blue", "red"), "red")),
        ("median", ColumnRecipe("x", fill=np.nan), ColumnRecipe("x", ("blue", "red"), "red")),
        (
            "indicator",
            ColumnRecipe("x", None, np.nan, True),
            ColumnRecipe("x", ("blue", "red"), None, True),
        ),
        ("value:7", ColumnRecipe("x", fill=7.0), ColumnRecipe("x", ("7", "blue", "red"), "7")),
        ("value: blue", None, ColumnRecipe("x", ("blue", "red"), "blue")),
    ],
)
def test_fills_with_missing_values(missing, numbers, colours):
    cells = ["red", "", "blue", "red"] * 6
    found = column(cells, missing=missing)[0]
    assert found == colours
    if numbers is None:
        assert refused(DataError, column, HOLES, missing=missing) == (
            "column 'x', row 2: holds numbers, and `missing=\"value: blue\"` would fill it with a word: "
            "expected a number, mean, median or indicator"
        )
    else:
        assert repr(column(HOLES, missing=missing)[0]) == repr(numbers)


@pytest.mark.parametrize(
    "missing, number, word",
    [
        ("error", np.nan, None),
        ("mean", np.nan, "red"),
        ("median", np.nan, "red"),
        ("indicator", np.nan, None),
        ("value:7", 7.0, None),
        ("value:blue", None, "blue"),
    ],
)
def test_fills_for_later_tables(missing, number, word):
    assert repr(column(NUMBERS, missing=missing)[0]) == repr(ColumnRecipe("x", fill=number))
    assert column(COLOURS, missing=missing)[0] == ColumnRecipe("x", ("blue", "red"), word)


def test_constants_that_say_what_is_missing():
    cells = ["3", ""] * 12
    assert repr(column(cells, missing="indicator")[0]) == repr(
        ColumnRecipe("x", fill=np.nan, indicator=True)
    )
    assert column(cells, missing="value:0")[0] == ColumnRecipe("x", fill=0.0)
    assert column(["red", ""] * 12, missing="value:none")[0].categories == ("none", "red")


def test_missing_values_that_nobody_expects():
    text = "x,y,z,class\n1,u,5,a\n2,,6,b\n,,7,a\n5,v,8,b\n"
    for block in (80, 1000):
        assert refused(DataError, survey, text, block, missing="error") == (
            "column 'x', row 3: a missing value: "
            '`missing="median"`, mean, indicator or value:X fills them, '
            "`ignored` leaves the column out\n"
            "standard input: column 'y', row 2: a missing value, one of 2: "
            '`missing="median"`, mean, indicator or value:X fills them, '
            "`ignored` leaves the column out"
        )
    assert survey(text, ignored=("x", "y"))[0].recipe.features == ("z",)
    found, told = survey(text)
    assert found.recipe.missing == "indicator" and found.recipe.features == (
        "x",
        "x is missing",
        "y=u",
        "y=v",
        "y is missing",
        "z",
    )
    assert told == [
        "3 missing values in columns 'x' (1), 'y' (2) of 4 rows: an indicator feature "
        "for each column marks them (`missing`)"
    ]
    assert survey("x,y,class\n1,2,a\n2,3,b\n")[0].recipe.missing == "error"
    assert refused(UsageError, column, HOLES, missing="value:1e39") == (
        '`missing="value:1e39"` is more than single precision holds'
    )


class Rows(Table):
    """A table whose places are rows, as in Parquet: that of some text."""

    counted = "row"

    def __init__(self, table):
        self._table = table
        super().__init__(table.file, table.names, table.blanks)

    def blocks(self, wanted):
        for one in self._table.blocks(wanted):
            yield Block(one.rows, one.file, "row", one.columns, one.numbers)


@pytest.mark.parametrize(
    "weight, told",
    [
        ("-1", 'row 3: "-1" is no weight: expected a number of 0 or more'),
        ("1e60", 'row 3: "1e60" is no weight: expected a number of 0 or more'),
        ("much", 'row 3: "much" is no weight: expected a number of 0 or more'),
        ("", "row 3: has no weight: expected a number of 0 or more in every row"),
    ],
)
def test_weights_and_groups_are_told_with_the_other_columns(weight, told):
    rows = [f"{i % 5}.5 kg,{i % 3},1,{'ab'[i % 2]}" for i in range(30)]
    rows[2] = f"500 g,2,{weight},a"
    rows[3] = "4 kg,,1,b"
    text = "\n".join(["mass,day,w,class", *rows])
    lines = refused(DataError, survey, text, weight="w", group="day").splitlines()
    assert len(lines) == 3
    assert lines[1].endswith("'day', row 4: has no group: expected a word in every row")
    assert lines[2].endswith(f"'w', {told}")


def test_the_example_of_a_table_with_decimal_commas_is_the_wrong_cell():
    rows = [f"{i},5;{i % 7},25;{'ab'[i % 2]}" for i in range(30)]
    rows[4] = "1e39;-1,5;a"
    lines = refused(DataError, survey, "\n".join(["x;w;class", *rows]), weight="w").splitlines()
    assert ['row 5: "1e39" is more' in lines[0], 'row 5: "-1,5" is no' in lines[1]] == [True, True]


def test_places_in_tables_without_lines():
    def of_rows(text, **roles):
        with open_table("-", stdin=io.BytesIO(text.encode()), again=True) as table:
            return survey_table(Rows(table), ColumnRoles(**roles, missing="error"))

    text = "x,y,class\n1,u,a\n,,b\n3,v,a\n"
    assert "column 'x', row 2: a missing value: `missing=" in refused(DataError, of_rows, text)
    assert "column 'x', row 2: no class, in 1 of 3 rows:" in refused(
        DataError, of_rows, text, label="x", ignored=("y",)
    )
    with pytest.warns(AgfmcWarning, match="first 'u' in row 3, and all are taken as words"):
        of_rows("x,class\n1,a\n2,b\nu,a\n")


# Classes


@pytest.mark.parametrize(
    "cells, given, names, counts",
    [
        ("b a b", None, ("a", "b"), {0: 1, 1: 2}),
        ("10 9 -1 9.0", None, ("-1", "9", "10"), {0: 1, 1: 2, 2: 1}),
        ("10 9 x", None, ("10", "9", "x"), {0: 1, 1: 1, 2: 1}),
        ("True false true", None, ("false", "true"), {0: 1, 1: 2}),
        ("low high low", ("low", "high"), ("low", "high"), {0: 2, 1: 1}),
        ("1 2.0 2", ("2.0", "1"), ("2", "1"), {0: 2, 1: 1}),
    ],
)
def test_classes(cells, given, names, counts):
    text = "class,x\n" + "".join(f"{cell},{row}\n" for row, cell in enumerate(cells.split()))
    for block in (80, 1000):
        found, _ = survey(text, block, classes=given)
        assert found.recipe.classes == names
        with open_table("-", stdin=io.BytesIO(text.encode()), block=block) as table:
            assert survey_classes(table, ColumnRoles(classes=given)) == (names, counts)


@pytest.mark.parametrize(
    "cells, given, words",
    [
        (
            "a",
            ("a", "b"),
            "column 'class': no row is of class 'b', which `classes` names: there are 'a'",
        ),
        (
            "a b c",
            ("a", "b"),
            "column 'class', row 3: \"c\" is a class that `classes` does not name: 'a', 'b'",
        ),
        (
            "a b c d",
            ("a", "e", "f"),
            "column 'class': no row is of class 'e', 'f', which `classes` names: there are 'a', 'b', "
            "'c', 'd'\n"
            "standard input: column 'class', row 2: \"b\" is a class that `classes` does not name: "
            "'a', 'e', 'f'; nor does it name 'c', 'd'",
        ),
        (
            "a ? NA b",
            None,
            "column 'class', row 2: no class, in 2 of 4 rows: expected a class in every row of "
            "training data; '?' is a missing value, unless `blanks` names other words",
        ),
        (
            " ".join(map(str, range(21))),
            None,
            "column 'class', row 1: \"0\" is one of 21 different values, which look like a "
            "continuous quantity or an identifier, not like classes: `label` names another column, and "
            "of a quantity (.dat) float_to_class makes classes",
        ),
    ],
)
def test_classes_that_cannot_be(cells, given, words):
    text = "class,x\n" + "".join(f"{cell},{row % 3}\n" for row, cell in enumerate(cells.split()))
    assert refused(DataError, survey, text, classes=given) == words


@pytest.mark.parametrize(
    "cells, classes",
    [
        ([f"{i % 21}.5" for i in range(209)], None),
        ([f"{i % 21}.5" for i in range(210)], 21),
        ([2 * (i % 101) for i in range(500)], None),
        ([i % 101 for i in range(500)], 101),
        ([2 * (i % 100) for i in range(500)], 100),
        ([f"c{i % 150}" for i in range(500)], 150),
    ],
)
def test_quantities_are_no_classes(cells, classes):
    text = "class,x\n" + "".join(f"{cell},{row % 3}\n" for row, cell in enumerate(cells))
    if classes is None:
        assert "different values, which look like a continuous quantity" in refused(
            DataError, survey, text
        )
    else:
        assert len(survey(text)[0].recipe.classes) == classes


def test_classes_named_twice():
    assert refused(UsageError, survey, "class,x\n1,1\n2,2\n", classes=("1", "1.0", "2")) == (
        "`classes` names a class twice"
    )


def test_the_whole_recipe():
    text = "id,w,size,colour,kind,note\n" + "".join(
        f"a{row},1,{row % 5},{'rgb'[row % 3]},{'xy'[row % 2]},n\n" for row in range(9)
    )
    found, told = survey(text, label="kind", ids=("id",), weight="w", missing="value:0")
    assert told == ["left out: 'note' (constant)"]
    recipe = found.recipe
    assert (recipe.label, recipe.ids, recipe.weight, recipe.missing, recipe.source) == (
        "kind",
        ("id",),
        "w",
        "value:0",
        "-",
    )
    assert recipe.features == ("size", "colour=b", "colour=g", "colour=r")
    assert (found.rows, found.roles.label) == (9, 4)


@pytest.mark.parametrize(
    "cells, message",
    [
        (
            [f"{row / 10}" if row % 3 else "n.d." for row in range(60)],
            'row 1: "n.d." is no number, as other cells are: `blanks`',
        ),
        (
            [f"{row / 10} m" if row % 3 else f"{row} cm" for row in range(60)],
            'row 1: "0 cm" is in another unit than "0.1 m" (1 m is 100 cm): write all',
        ),
        (
            [f"{row}%" if row else "0.01" for row in range(60)],
            'row 1: "0.01" is in another unit than "1%" (100 % are 1): write all',
        ),
        (
            ['"1,5"', "2.5", '"3,5"'] * 9,
            'row 2: "2.5" has other marks in its digits than "1,5": write all',
        ),
        (
            ["2024-05-{row}" if row == 9 else f"2024-05-{row:02}" for row in range(1, 32)],
            'row 9: "2024-05-{row}" is not a date, year first, as other cells are: ',
        ),
        (
            [f"{row:02}.05.2024" if row % 2 else f"2024-05-{row:02}" for row in range(1, 32)],
            'row 2: "2024-05-02" is not a date, day first, as other cells are: ',
        ),
        (["1e39", *range(30)], 'row 1: "1e39" is more than single precision holds: use a larger'),
    ],
)
def test_cells_that_are_nearly_numbers_or_dates(cells, message):
    text = "x,y,class\n" + "".join(f"{cell},1.{row},{row % 2}\n" for row, cell in enumerate(cells))
    for block in (80, 1 << 20):
        assert refused(DataError, survey, text, block).startswith(f"column 'x', {message}")
    assert survey(text, categorical=("x",))[0] is not None


def test_notes_on_dates_without_order_and_on_classes():
    for words in (["01/02/2024", "02/03/2024"], ["13.10.23", "24.12.23"]):
        assert column(words * 9)[1] == [
            "column 'x' looks like dates whose order is not clear: "
            "dates are read in the form 2024-05-31"
        ]
    rows = "".join(f"{row % 7},{('oak', 'Oak', 'fir')[row % 3]}\n" for row in range(21))
    assert survey("x,class\n" + rows)[1] == [
        "column 'class': 1 word differs from others in case or blanks alone, as 'Oak', 'oak' "
        "(`fold_case` makes them one)"
    ]


def test_decimal_commas_are_no_words():
    text = "x|y|class\n" + "".join(f"{n % 5},5|{n % 7}|{'ab'[n % 2]}\n" for n in range(MANY))
    found, told = survey(text)
    assert found.recipe.columns[0] == ColumnRecipe(
        "x", fill=np.nan, numbers=NumberForm(decimal=",")
    )
    assert told == ["a decimal mark of its own, ,: 'x'"]
    found, _ = survey(text, categorical=("x",))
    assert found.recipe.columns[0].categories[:2] == ("0,5", "1,5")
    assert survey(text.replace("0,5|", "none|"))[0].recipe.columns[0].numbers.blanks == ("none",)
    message = 'column \'x\', row 3: "2.5" has other marks in its digits than "0,5": write all'
    for some in (
        text.replace("2,5|", "2.5|"),
        text.replace("2,5|", "2.5|").replace("|", ";"),  # where commas are taken
    ):
        assert refused(DataError, survey, some).startswith(message)


def test_a_first_column_without_a_name_is_no_feature():
    cells = [7 * row % 50 for row in range(MANY)]  # all different, in no order
    assert column(cells, "")[0] is None and column(cells, "size")[0] is not None
    made, told = column(cells, "row")
    assert made is None and told == ["left out: 'row' (numbers of the rows)"]


@pytest.mark.parametrize(
    "name, says",
    [("ID", True), ("patient_id", True), ("userId", True), ("acid", False), ("idle", False)],
)
def test_columns_named_as_identifiers_are(name, says):
    made, told = column([row % 20 for row in range(MANY)], name)
    assert made is not None and any("is named as identifiers are" in one for one in told) == says


@pytest.mark.parametrize("block", [60, 1 << 20])
def test_numbers_in_a_form_of_their_own(block):
    cells = [f"{row % 5} kg" for row in range(MANY)]
    assert column(cells, block=block) == (
        ColumnRecipe("x", fill=np.nan, numbers=NumberForm("kg")),
        ["units left out: 'x' (kg)"],
    )
    # numbers before and behind a word
    cells = [row * 5 % 17 for row in range(MANY)]
    cells[9] = "k.A."
    recipe, told = column(cells, block=block, missing="median")
    assert recipe.numbers == NumberForm(blanks=("k.A.",))
    assert told == ["words that mean a missing value: 'k.A.' in 'x' (1)"]
    cells[3] = "<2"
    recipe, told = column(cells, block=block, missing="median")
    assert recipe.features == ("x", "x below") and "'x' (< in 1 rows)" in told[0]
    assert column(cells, block=block, categorical=("x",))[0].numbers is None
    # what differs in every row has a unit, and is no identifier
    assert column([f"{row * 7 % 97} m" for row in range(MANY)], block=block)[1] == [
        "units left out: 'x' (m)"
    ]
    same = [f"{'<' * (row % 2)}5" for row in range(MANY)]  # is no constant
    assert column(same, block=block)[0].features == ("x", "x below")
    assert column(["5 kg", "-"] * 12, block=block, missing="median")[0] is None


def test_days_of_a_spreadsheet():
    cells = [45000 + row * 13 % 50 for row in range(MANY)]
    recipe, told = column(cells, "date")
    assert recipe.date.order == "year first" and recipe.numbers == NumberForm(serial=True)
    assert "days of a spreadsheet, taken as dates: 'date'" in told[0]
    assert column(cells, "weight")[0].date is None
    assert column([*cells, 7], "date")[0].date is None


@pytest.mark.parametrize(
    "cells, told",
    [
        ([-999, *range(20), -999, 5], {-999: 2}),
        ([-999, *range(22)], {}),  # once
        ([99, *range(60), 99], {}),  # not far
        ([99, 1, 2] * 8, {99: 8}),
        ([9999, -999, 1, 3] * 6, {-999: 6, 9999: 6}),
        ([99, 1] * 12, {}),  # nothing else differs
    ],
)
def test_numbers_that_mean_a_missing_value_are_named(cells, told):
    for block in (60, 1 << 20):
        recipe, messages = column(cells, block=block)
        named = [message for message in messages if "far from all other numbers" in message]
        assert recipe == ColumnRecipe("x", fill=np.nan) and len(named) == len(told)
        for message, (number, rows) in zip(named, told.items()):
            assert message == (
                f"column 'x' has {number} in {rows} rows, far from all other numbers: if this "
                f'means a missing value, `blanks="{number}"` takes it so'
            )


def test_words_that_differ_in_case_are_one():
    cells = ["Oak", "oak", "fir", "oak "] * 6
    assert column(cells)[1] == [
        "column 'x': 1 word differs from others in case or blanks alone, as 'Oak', 'oak' "
        "(`fold_case` makes them one)"
    ]
    assert column(cells, fold_case=True) == (ColumnRecipe("x", ("fir", "oak")), [])
    text = "x,kind\n" + "".join(
        f"{n % 5},{('Ost', 'ost', 'West', 'Ost')[n % 4]}\n" for n in range(24)
    )
    found, _ = survey(text, label="kind", fold_case=True)
    assert found.recipe.classes == ("Ost", "West") and found.recipe.key_of("OST") == "ost"
    found, _ = survey(text, label="kind", fold_case=True, classes=("West", "ost"))
    assert found.recipe.classes == ("West", "ost")


def test_all_columns_that_cannot_be_used():
    rows = [f"{n}.5 {'m' if n % 2 else 'km'},{n % 7},{n if n else 'x'},," for n in range(30)]
    text = "a,b,c,d,class\n" + "".join(f"{row}{'uv'[n % 2]}\n" for n, row in enumerate(rows))
    text = text.replace("29.5 m,1,29,,v", "29.5 m,1,29,,")
    told = refused(DataError, survey, text).splitlines()
    assert [line.removeprefix("standard input: ").partition(":")[0] for line in told] == [
        "column 'a', row 2",
        "column 'c', row 1",
        "column 'class', row 30",
    ]


def test_all_that_is_wrong_with_a_column():
    rows = [f"{n}.5 {'m' if n % 2 else 'km'},{'uv'[n % 2]}\n" for n in range(30)]
    rows[6] = "high,u\n"
    rows[9] = ",u\n"
    rows[11] = '"1,5 m",u\n'
    told = refused(DataError, survey, "a,class\n" + "".join(rows), missing="error").splitlines()
    faults = [
        'row 2: "1.5 m" is in another unit',
        'row 7: "high" is no number',
        "row 10: a missing value",
        'row 12: "1,5 m" has other marks',
    ]
    assert len(told) == len(faults) and all(map(str.__contains__, told, faults))


def test_numbers_are_blanks_beside_words():
    text = "x,y,class\n" + "".join(
        f"{n % 7},{('p', 'q', 'NA')[n % 3]},{'uv'[n % 2]}\n" for n in range(24)
    )

    def categories(*blanks):
        layout = TableFormat(blanks=blanks or None)
        with open_table("-", layout, io.BytesIO(text.encode()), again=True) as table:
            return survey_table(table, ColumnRoles()).recipe.columns[1].categories

    with own_warnings():
        assert categories() == categories("", "6") == ("p", "q")
        assert categories("") == categories("6", "none") == ("NA", "p", "q")
