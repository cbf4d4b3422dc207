"""Tables in memory: dictionaries, frames and open files give the points of the same file."""

import datetime
import decimal
import io

import numpy as np
import pytest

import agfmc
from agfmc.core.errors import AgfmcWarning, DataError, UsageError
from agfmc.tables.memory import table_in_memory
from agfmc.tables.types import TableFormat

pytestmark = pytest.mark.filterwarnings("ignore::agfmc.core.errors.AgfmcWarning")
TEXT = (
    "kind,size,colour,day,code,ok\n"
    "a,1.5,red,2024-05-01,3,True\nb,NA,blue,2024-05-02,4,False\n"
    "a,2.25,,2024-06-03,3,True\nb,-1e-05,red,2024-07-04,5,True\n"
)
ROWS = [
    {
        "kind": "a",
        "size": 1.5,
        "colour": "red",
        "day": datetime.date(2024, 5, 1),
        "code": 3,
        "ok": True,
    },
    {
        "kind": "b",
        "size": None,
        "colour": "blue",
        "day": datetime.date(2024, 5, 2),
        "code": 4,
        "ok": False,
    },
    {
        "kind": "a",
        "size": 2.25,
        "colour": float("nan"),
        "day": datetime.datetime(2024, 6, 3),
        "code": np.int64(3),
        "ok": np.bool_(True),
    },
    {"kind": "b", "size": -1e-05, "colour": "red", "day": "2024-07-04", "code": "5", "ok": True},
]
ROLES = {"label": "kind", "categorical": "code", "missing": "mean"}


@pytest.fixture(scope="module")
def expected():
    return agfmc.read_table(io.StringIO(TEXT), **ROLES)


def frame_of(name):
    rows = [
        {
            **row,
            "day": datetime.datetime.fromisoformat(str(row["day"])[:10]),
            "code": int(row["code"]),
            "ok": bool(row["ok"]),
            "colour": None if row["colour"] != row["colour"] else row["colour"],
        }
        for row in ROWS
    ]
    if name == "pandas":
        return pytest.importorskip("pandas").DataFrame(rows)
    if name == "nullable":
        return pytest.importorskip("pandas").DataFrame(rows).convert_dtypes()
    if name == "polars":
        return pytest.importorskip("polars").DataFrame(rows)
    return pytest.importorskip("pyarrow").Table.from_pylist(rows)


LONG = "nullable", "polars", "bytes", "crlf"


SOURCES = {
    "dictionaries": lambda: ROWS,
    "text": lambda: io.StringIO(TEXT),
    "bytes": lambda: io.BytesIO(TEXT.encode()),
    "crlf": lambda: io.StringIO(TEXT.replace("\n", "\r\n")),
    **{
        name: lambda name=name: frame_of(name)
        for name in ("pandas", "nullable", "polars", "pyarrow")
    },
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in SOURCES],
)
def test_the_points_of_the_file(expected, name):
    data = agfmc.read_table(SOURCES[name](), **ROLES)
    assert data.recipe.columns == expected.recipe.columns
    assert np.array_equal(data.x, expected.x) and np.array_equal(data.y, expected.y)
    assert np.array_equal(expected.recipe.apply(SOURCES[name]()), expected.x)
    again = agfmc.read_table(SOURCES[name](), expected.recipe)
    assert np.array_equal(again.y, expected.y)


@pytest.mark.parametrize("name", ["dictionaries", "pandas"])
def test_one_row(expected, name):
    rows = SOURCES[name]()
    for row in range(4):
        assert np.array_equal(expected.recipe.apply(rows[row : row + 1]), expected.x[row : row + 1])


def test_a_structured_array(expected):
    rows = np.array(
        [(1.5, "red", "2024-05-01", 3, True), (7, "", "2024-05-02", 4, False)],
        dtype=[("size", "f8"), ("colour", "U9"), ("day", "M8[D]"), ("code", "i4"), ("ok", "?")],
    )
    x = expected.recipe.apply(rows)
    assert np.array_equal(x[0], expected.x[0]) and x[1, 0] == 7


def test_a_dictionary_is_one_row(expected):
    assert np.array_equal(expected.recipe.apply(ROWS[1]), expected.recipe.apply(ROWS[1:2]))


@pytest.mark.parametrize(
    "rows, kind, message",
    [
        ([], DataError, "table: the table has no rows"),
        (5, UsageError, "expected a table"),
        ([[1, 2]], UsageError, "found list"),
        (np.ones((2, 2)), UsageError, "found ndarray"),
        ([{"size": 1}], DataError, "table: lacks the columns 'colour', 'day'"),
        (ROWS[:1] + [{}], DataError, "table: row 2: lacks the column 'size'"),
        (
            ROWS[:1] + [{**ROWS[1], "size": "big"}],
            DataError,
            "table: row 2: expected a number in column 'size', found 'big'",
        ),
        ([{**ROWS[1], "size": float("inf")}], DataError, "found 'inf'"),
        ([{**ROWS[1], "day": "2024-02-30"}], DataError, "expected a date"),
        (
            [{**ROWS[1], "colour": ["red"]}],
            DataError,
            "row 1: expected a number or a word in column 'colour', found list",
        ),
    ],
)
def test_wrong_rows(expected, rows, kind, message):
    with pytest.raises(kind, match=message):
        expected.recipe.apply(rows)


def test_a_dictionary_of_columns_is_a_table(expected):
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    assert np.array_equal(agfmc.read_table(columns, **ROLES).x, expected.x)
    columns["size"] = np.array([1, 2])
    with pytest.raises(DataError, match="table: expected columns of the same length"):
        agfmc.read_table(columns, **ROLES)


def typed(name, **columns):
    if name == "pandas":
        return pytest.importorskip("pandas").DataFrame(columns)
    return pytest.importorskip("pyarrow").table(columns)


@pytest.mark.parametrize("name", ["pandas", "pyarrow"])
def test_one_run_names_all_columns_that_cannot_be_used(name):
    mass = [f"{i}.5 {'kg' if i % 9 else 'g'}" for i in range(30)]
    rate = [float("inf") if i == 7 else i / 7 for i in range(30)]
    columns = {
        "ok": list(range(0, 90, 3)),
        "list": [[1, 2]] * 30,
        "pair": [{"a": 1}] * 30,
        "rate": rate,
        "mass": mass,
    }
    with pytest.raises(DataError) as refused:
        agfmc.read_table(typed(name, **columns, label=["a", "b"] * 15))
    lines = str(refused.value).splitlines()
    assert [line.split("'")[1] for line in lines] == ["list", "pair", "rate", "mass"]
    assert lines[0].endswith("found list<item: int64>: `ignored` leaves the column out")
    assert 'row 8: "inf" is more than single precision holds' in lines[2]


def test_a_row_with_an_infinite_number_has_no_answer(expected):
    data = agfmc.read_table(ROWS * 6, **ROLES)
    classifier = agfmc.Classifier(agfmc.train("one-vs-rest", data, options="-c 1"))
    rows = [{**ROWS[0], "size": float("inf") if i == 2 else i + 0.5} for i in range(9)]
    pandas = pytest.importorskip("pandas")
    for frame in (pandas.DataFrame(rows), rows):
        with pytest.warns(AgfmcWarning, match="found 'inf'; 1 of 9 rows has no answer"):
            names = classifier.predict(frame)[0]
        assert [name is None for name in names] == [i == 2 for i in range(9)]


def test_wrong_cells_of_several_columns_are_counted(expected):
    data = agfmc.read_table(ROWS * 6, **ROLES)
    classifier = agfmc.Classifier(agfmc.train("one-vs-rest", data, options="-c 1"))
    rows = [{**ROWS[0], "size": "big"}, {**ROWS[0], "day": "late", "size": "big"}, ROWS[0]]
    told = (
        "found 'big'; 2 of 3 rows have no answer, as cells are wrong of columns "
        r"'size' \(2\), 'day' \(1\)"
    )
    with pytest.warns(AgfmcWarning, match=told):
        classifier.predict(rows)


def test_few_rows_of_a_frame_are_as_many(monkeypatch):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "time": [datetime.time(9 + i, 5, 30, 500_000) for i in range(12)],
            "bytes": [b"a", b"b"] * 6,
            "bins": pandas.cut([i * 7 % 12 for i in range(12)], 3),
            "label": ["x", "y", "z"] * 4,
        }
    )
    data = agfmc.read_table(frame)
    assert [column.kind for column in data.recipe.columns] == ["number", "words", "words"]
    assert data.x[0, 0] == 32730.5
    for rows in (frame[:5], frame[:5].to_dict("records")):
        assert np.array_equal(data.recipe.apply(rows), data.x[:5])


def test_long_words_are_refused():
    rows = [{"a": "x" * 65_537, "label": "b"}, {"a": "y", "label": "c"}]
    with pytest.raises(DataError, match="row 1: a cell of column 'a' has more than 65536 bytes"):
        agfmc.read_table(rows)


def test_a_series_is_no_table():
    for library in ("pandas", "polars"):
        with pytest.raises(UsageError, match="expected a table: .*, found Series"):
            agfmc.read_table(pytest.importorskip(library).Series([1.0, 2.0]))


def test_words_of_missing_values():
    table = table_in_memory(
        [{"a": "NA", "b": -999}, {"a": " x ", "b": 1}], TableFormat(blanks=("NA", "-999"))
    )
    (block,) = table.blocks({0: "words", 1: "number"})
    assert block[0].words == ("x",) and block[0].codes.tolist() == [-1, 0]
    assert np.isnan(block[1][0]) and block[1][1] == 1
    pandas = pytest.importorskip("pandas")
    (block,) = table_in_memory(
        pandas.DataFrame({"b": [-999.0, 1]}), TableFormat(blanks=("-999",))
    ).blocks({0: "number"})
    assert np.isnan(block[0][0]) and block[0][1] == 1


def test_names_and_probabilities(expected):
    data = agfmc.read_table(ROWS * 6, **ROLES)
    model = agfmc.train("one-vs-rest", data, options="-c 1", normalise=True)
    classifier = agfmc.Classifier(model)
    names, p = classifier.predict(ROWS)
    assert names == ["a", "b", "a", "b"] and classifier.names == ("a", "b")
    assert np.array_equal(p, classifier.probabilities(expected.x))
    assert classifier.predict(expected.x)[0] == names
    odd = [
        {**ROWS[0], "size": 1e9, "colour": "pink"},
        {**ROWS[1], "size": "big"},
        dict.fromkeys(ROWS[0]),
        ROWS[3],
    ]
    with pytest.warns(
        AgfmcWarning, match="row 2: expected a number .*; 2 of 4 rows have no answer"
    ):
        names, p, flags = classifier.predict(odd, flags=True)
    assert names[1:] == [None, None, "b"] and names[0] is not None
    assert np.isnan(p).all(axis=1).tolist() == [False, True, True, False]
    assert np.array_equal(p[3], classifier.probabilities(expected.x)[3])
    assert flags[0] == ["size: above", "colour: unknown"] and flags[1] == ["size: wrong"]
    assert flags[3] == [] and len(flags) == 4
    with pytest.warns(AgfmcWarning):
        assert classifier.predict(odd[1:3])[0] == [None, None]
    assert classifier.predict(expected.x, flags=True)[2] == [[]] * 4
    rejecting = agfmc.Classifier(model, agfmc.Decoding(reject=1.0))
    assert rejecting.predict(ROWS)[0] == [None] * 4
    with pytest.raises(UsageError, match="does not give the probabilities of all classes"):
        agfmc.Classifier(model, agfmc.Decoding(raw=True)).predict(ROWS)


def test_columns_that_are_numbered():
    pandas = pytest.importorskip("pandas")
    rows = [[size * 7 % 31, size % 3, "ab"[size % 2]] for size in range(30)]
    data = agfmc.read_table(pandas.DataFrame(rows), label=2, ignored=[1])
    assert data.names == ("a", "b") and data.recipe.features == ("0",)


def test_frames_through_the_door_of_arrow():
    polars = pytest.importorskip("polars")
    columns = {
        "wide": polars.Series([2**100, 1, None], dtype=polars.Int128),
        "exact": polars.Series([decimal.Decimal("1.5"), None, decimal.Decimal(2)]),
        "time": [datetime.time(9, 5), None, datetime.time(0, 0, 1)],
        "span": [datetime.timedelta(minutes=1.5), None, datetime.timedelta(0)],
        "yes": [True, None, False],
        "word": polars.Series(["NA", None, "b"], dtype=polars.Categorical),
    }
    frame = polars.DataFrame(columns)
    for source in (frame, frame.lazy(), pandas_of(frame), list(frame.iter_rows(named=True))):
        table = table_in_memory(source, TableFormat())
        kinds = {0: "number", 1: "number", 2: "text", 3: "number", 4: "words", 5: "words"}
        (block,) = table.blocks(kinds)
        np.testing.assert_array_equal(block[0], [2.0**100, 1, np.nan])
        np.testing.assert_array_equal(block[1], [1.5, np.nan, 2])
        assert [cell[:8] for cell in block[2]] == ["09:05:00", "", "00:00:01"]
        np.testing.assert_array_equal(block[3], [90, np.nan, 0])
        assert block[4].words == ("False", "True") and block[4].codes.tolist() == [1, -1, 0]
        assert block[5].words == ("NA", "b") and block[5].codes.tolist() == [0, -1, 1]


def pandas_of(frame):
    """A frame of Polars as one of pandas, of more rows than are read one by one."""
    rows = frame.rows()
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(rows, columns=frame.columns, dtype=object)


@pytest.mark.parametrize("labels", [[True, False], [7, -1], ["7", "-1"], ["True", "no"]])
@pytest.mark.parametrize("name", ["dictionaries", "frame", "stored"])
def test_labels_keep_their_kind(labels, name, tmp_path):
    pa = pytest.importorskip("pyarrow")
    feather = pytest.importorskip("pyarrow.feather")
    rows = [{"x": row % 5 + row % 2, "class": labels[row % 2]} for row in range(40)]
    source = rows
    if name != "dictionaries":
        source = pa.Table.from_pylist(rows)
    if name == "stored":
        feather.write_feather(source, tmp_path / "t.feather")
        source = tmp_path / "t.feather"
    model = agfmc.train("one-vs-rest", agfmc.read_table(source), options="-c 1")
    agfmc.save(tmp_path / "m.mbm", model)
    for configuration in (model, agfmc.load(tmp_path / "m.mbm")):
        names, _ = agfmc.Classifier(configuration).predict(rows[:9])
        expected = {"True": "true"}.get
        assert {repr(name) for name in names} <= {repr(expected(name, name)) for name in labels}
