"""Tables in Parquet, Feather and Arrow files and streams."""

import datetime
import decimal
import io
import subprocess
import sys

import numpy as np
import pytest

from agfmc.core import memory
from agfmc.core.errors import AgfmcError, DataError, UsageError
from agfmc.tables import arrow
from agfmc.tables.words import Words
from agfmc.tables.reading import open_table
from agfmc.tables.types import TableFormat

pa = pytest.importorskip("pyarrow")
import pyarrow.csv  # noqa: E402
import pyarrow.feather  # noqa: E402
import pyarrow.parquet  # noqa: E402

DAY = datetime.datetime(2020, 1, 2, 3, 4, 5)
TABLE = pa.table(
    {
        " id ": ["a", "b", "c"],
        "n": pa.array([1, None, 3]),
        "x": [0.5, float("nan"), -2.0],
        "single": pa.array([0.1, 1, 2], pa.float32()),
        "small": pa.array([9, None, 1], pa.uint8()),
        "yes": [True, None, False],
        "word": pa.array([" red", "NA", "red"]).dictionary_encode(),
        "mixed": ["7", " 8 ", None],
        "when": [DAY, None, DAY],
        "day": [DAY.date(), DAY.date(), None],
        "money": [decimal.Decimal("1.50"), None, decimal.Decimal("2.00")],
        "no": pa.array([None, None, None]),
        "large": pa.array(["x", "", "y"], pa.large_string()),
    }
)
NUMBER = {
    1: [1, None, 3],
    2: [0.5, None, -2],
    3: [float(np.float32(0.1)), 1, 2],
    4: [9, None, 1],
    7: [7, 8, None],
    10: [1.5, None, 2],
    11: 3 * [None],
}
WORD = {
    0: ["a", "b", "c"],
    5: ["True", None, "False"],
    6: ["red", "NA", "red"],
    8: ["2020-01-02 03:04:05", None, "2020-01-02 03:04:05"],
    9: ["2020-01-02", "2020-01-02", None],
    12: ["x", None, "y"],
}
TEXT = {
    0: ["a", "b", "c"],
    1: ["1", "", "3"],
    2: ["0.5", "", "-2.0"],
    3: ["0.1", "1.0", "2.0"],
    6: [" red", "NA", "red"],
    10: ["1.50", "", "2.00"],
    11: ["", "", ""],
}


def stream_of(table, kind="stream", **options):
    out = io.BytesIO()
    if kind == "parquet":
        pyarrow.parquet.write_table(table, out, **options)
    elif kind == "feather":
        pyarrow.feather.write_feather(table, out, **options)
    else:
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table, **options)
    return out.getvalue()


def read(data, wanted, form=TableFormat(), **options):
    """({position: column as a list}, numbers of rows); words for codes, None where missing."""
    with open_table("-", form, io.BytesIO(data), **options) as table:
        columns, rows = {i: [] for i in wanted}, []
        for block in table.blocks(wanted):
            rows += [block.number(i) for i in range(block.rows)]
            for i, column in columns.items():
                column += plain(block[i])
        return columns, rows


def plain(column):
    if isinstance(column, Words):
        assert list(column.words) == sorted(set(column.words)) and column.codes.dtype == np.int32
        return [None if code < 0 else column.words[code] for code in column.codes]
    if isinstance(column, np.ndarray):
        assert column.dtype == np.float64
        return [None if np.isnan(value) else value for value in column.tolist()]
    return column


def wrong(data, wanted, **options):
    with pytest.raises(DataError) as caught:
        read(data, wanted, **options)
    return str(caught.value).removeprefix("standard input: ")


@pytest.mark.parametrize("kind", ["parquet", "feather", "stream"])
def test_columns_of_all_types(kind, monkeypatch):
    data = stream_of(TABLE, kind)
    for rows in (2, 1 << 15):
        monkeypatch.setattr(arrow, "_ROWS", rows)
        with open_table("-", stdin=io.BytesIO(data)) as opened:
            assert opened.names[:3] == ("id", "n", "x") and opened.counted == "row"
        assert read(data, dict.fromkeys(NUMBER, "number")) == (NUMBER, [1, 2, 3])
        assert read(data, dict.fromkeys({**NUMBER, **WORD}, "either"))[0] == {**NUMBER, **WORD}
        assert read(data, dict.fromkeys(WORD, "words"))[0] == WORD
        assert read(data, dict.fromkeys(TEXT, "text"))[0] == TEXT
        assert read(data, {}) == ({}, [1, 2, 3])
    assert read(data, {1: "words", 3: "words"})[0] == {
        1: ["1", None, "3"],
        3: ["0.1", "1.0", "2.0"],
    }


def test_blanks_are_missing_in_numbers_too():
    data = stream_of(
        pa.table({"i": [-999, 1], "x": [-999.0, 1], "w": ["-999", "-"], "n": [None, 1]})
    )
    form = TableFormat(blanks=("-999", "-"))
    kinds = {0: "number", 1: "either", 2: "words", 3: "words"}
    assert read(data, kinds, form)[0] == {
        0: [None, 1],
        1: [None, 1],
        2: [None, None],
        3: [None, "1"],
    }


@pytest.mark.parametrize(
    "column, kind, message",
    [
        (
            pa.array(["1", "", "2,5"]),
            "number",
            "row 3: expected a number in column 'c', found '2,5': a decimal has a point, 2.5",
        ),
        (pa.array([True]), "number", "row 1: expected a number in column 'c', found 'True'"),
        (
            pa.array([1, float("inf")]),
            "number",
            "row 2: expected a number in column 'c', found 'inf'",
        ),
        (
            pa.array([DAY.date()]),
            "number",
            "row 1: expected a number in column 'c', found '2020-01-02'",
        ),
        (
            pa.array([[1]]),
            "text",
            "column 'c': expected numbers or words, found list<item: int64>: `ignored` leaves the "
            "column out",
        ),
        (pa.array([b"\xff"]), "words", "is damaged, or cannot be read by PyArrow: "),
        (pa.array([], pa.int32()), "number", "the table has no rows"),
    ],
)
def test_bad_columns(column, kind, message):
    for form in ("parquet", "stream"):
        data = stream_of(pa.table({"d": column, "c": column}), form)
        found = wrong(data, {1: kind})
        found = found.replace("element", "item")
        assert found == message or message.endswith("PyArrow: ") and found.startswith(message)


@pytest.mark.parametrize(
    "names, message",
    [
        (["a", "a"], "columns 1 and 2 have the same name 'a'"),
        (["a", " a"], "columns 1 and 2 have the same name 'a'"),
        (
            ["a", "", "b"],
            "column 2 has no name in the header: expected one line with the name of each column",
        ),
    ],
)
def test_bad_names(names, message):
    table = pa.table([pa.array([1])] * len(names), names=names)
    assert wrong(stream_of(table, "parquet"), {}) == message


def test_names_with_points():
    data = stream_of(pa.table({"a": [1], "a.b": [2], "c.d": [3]}), "parquet")
    assert read(data, {1: "number"})[0] == {1: [2]}
    assert read(data, {0: "number", 2: "number"})[0] == {0: [1], 2: [3]}


def test_a_table_in_parquet_is_that_in_text():
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "n": pa.array(rng.integers(-9, 9, 300), mask=rng.random(300) < 0.1),
            "x": pa.array(rng.normal(size=300), mask=rng.random(300) < 0.1),
            "w": pa.array(rng.choice(["red", " blue", "-", "", "7"], 300)),
            "b": pa.array(rng.choice(["True", "False"], 300)),
        }
    )
    out = io.BytesIO()
    pyarrow.csv.write_csv(table, out)
    table = table.set_column(3, "b", pa.compute.equal(table["b"], "True"))
    for kind in ("either", "words", "text"):
        wanted = dict.fromkeys(range(4), kind) if kind != "text" else {0: kind, 2: kind, 3: kind}
        if kind == "words":
            del wanted[1]  # decimals may be written otherwise
        text = read(out.getvalue(), wanted, block=1 << 20)
        assert text[1] == list(range(1, 301))
        for form in ("parquet", "feather", "stream"):
            assert read(stream_of(table, form), wanted) == (text[0], list(range(1, 301)))


def test_a_file_is_read_again_and_by_its_bytes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(stream_of(TABLE, "parquet"))
    with open(path, "rb") as file:
        for name, stdin in ((path, None), ("-", file)):
            with open_table(name, stdin=stdin, again=True) as table:
                for _ in range(2):
                    assert [plain(block[0]) for block in table.blocks({0: "text"})] == [TEXT[0]]


def test_a_word_of_some_length_is_refused_before_it_is_copied():
    word = "x" * (1 << 20)
    array = pa.DictionaryArray.from_arrays(pa.array([0] + [1] * 9999), pa.array(["a", word]))
    for column in (array, pa.array(["a", word])):
        for kind in ("parquet", "feather"):
            for wanted in ("text", "either"):
                message = wrong(stream_of(pa.table({"w": column}), kind), {0: wanted})
                assert message == "row 2: a cell of column 'w' has more than 65536 bytes"


def test_times_and_durations_are_seconds_and_pandas_names_its_index():
    table = pa.table(
        {
            "t": pa.array([datetime.time(9, 5), None], pa.time64("us")),
            "d": pa.array([datetime.timedelta(minutes=1.5), None], pa.duration("ms")),
            "__index_level_0__": [3, 4],
        }
    )
    table = table.replace_schema_metadata({"pandas": '{"index_columns": ["__index_level_0__"]}'})
    for kind in ("parquet", "feather"):
        data = stream_of(table, kind)
        assert read(data, {0: "either", 1: "number"})[0] == {0: [32700, None], 1: [90, None]}
        assert read(data, {0: "text", 1: "text"})[0] == {
            0: ["09:05:00.000000", ""],
            1: ["90.0", ""],
        }
        with open_table("-", stdin=io.BytesIO(data)) as opened:
            assert opened.index == {"__index_level_0__"}


def test_the_first_version_of_feather_is_refused():
    assert wrong(b"FEA1" + bytes(40), {}).startswith("is in version 1 of Feather: write version 2")


@pytest.mark.parametrize("kind", ["parquet", "feather", "stream"])
def test_rows_beyond_memory_are_refused(kind, monkeypatch):
    monkeypatch.setattr(memory, "memory_limit", lambda: 1 << 16)
    data = stream_of(pa.table({"a": np.arange(10_000.0)}), kind)
    assert wrong(data, {0: "number"}).startswith("the values of a group of rows are more than ")


@pytest.mark.parametrize("kind", ["parquet", "feather", "stream"])
def test_damaged_files_are_refused_in_one_line(kind):
    data = stream_of(TABLE.slice(0, 2), kind)
    rng = np.random.default_rng(1)
    told = 0
    for i in range(150):
        broken = bytearray(data)
        for at in rng.integers(4, len(data), rng.integers(1, 4)):
            broken[at] ^= 1 << rng.integers(8)
        if i % 5 == 0:
            broken = broken[: rng.integers(len(data))]
        try:
            with open_table("-", stdin=io.BytesIO(bytes(broken))) as table:
                for block in table.blocks(dict.fromkeys(range(len(table.names)), "words")):
                    for j in range(len(table.names)):
                        plain(block[j])
        except AgfmcError as error:
            assert "\n" not in str(error)
            told += 1
    assert told > 50


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_without_pyarrow_tables_are_refused(name, tmp_path):
    (tmp_path / "a.parquet").write_bytes(stream_of(TABLE, "parquet"))
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "pyarrow.py").write_text("raise ModuleNotFoundError('none')")
    code = (
        "import sys\nfrom agfmc.tables.reading import open_table\n"
        "assert 'pyarrow' not in sys.modules\n"
        f"with open_table('{name}') as table:\n    pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        text=True,
        env={"PYTHONPATH": f"{tmp_path}:{':'.join(sys.path)}"},
        capture_output=True,
    )
    assert (
        done.stderr.splitlines()[-1] == f"{UsageError.__module__}.UsageError: {name}: "
        "tables need PyArrow: pip install 'agfmc[table]'"
    )


def test_memory_that_does_not_suffice_is_no_damage(tmp_path):
    pa.feather.write_feather(pa.table({"a": [1.0]}), tmp_path / "t")
    with open(tmp_path / "t", "rb") as file:
        table = arrow.StoredTable(file, "t", TableFormat())
        with (
            pytest.raises(DataError, match="t: cannot read: there is not enough memory"),
            table.reading(),
        ):
            raise pa.ArrowMemoryError("malloc of size 64 failed")


def test_pandas_is_not_loaded(tmp_path):
    (tmp_path / "a.csv").write_text("n,w\n1,a\nNA,b\n")
    pyarrow.parquet.write_table(
        pa.table({"n": [1.0, None], "w": ["a", "b"]}), tmp_path / "a.parquet"
    )
    code = (
        "import sys\nfrom agfmc.tables.reading import open_table\n"
        "for name in ('a.csv', 'a.parquet'):\n"
        "    with open_table(name) as table:\n"
        "        list(table.blocks({0: 'either', 1: 'words'}))\n"
        "assert 'pandas' not in sys.modules"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
