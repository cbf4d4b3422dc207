"""agf_preprocess from a table to tables: the rows that it chooses for binary files, as they are."""

import csv
import gzip
import io
import os
from pathlib import Path

import numpy as np
import pytest

from agfmc.data import table_parts
from agfmc.core.errors import DataError
from agfmc.data.libagf import read_cls, read_vec

LABEL = "--label", "kind"
HEADER = ["id", "a", "note", "kind"]


@pytest.fixture(autouse=True)
def rows(folder):
    """90 rows, of which `a` is the number, and a note needs quotes, in `t.csv`."""
    y = np.random.default_rng(4).permutation(np.repeat([0, 1, 2], [50, 30, 10])).tolist()
    notes = ["a, b", 'say "so"', "two\nlines", "", " NA ", "1.0", "\u00e9"]
    table = [
        [f"r{i}", f"{i}.50", notes[i % 7], ("oak", "elm tree", "ash")[y[i]]] for i in range(90)
    ]
    write("t.csv", table)
    return table


def write(path, table, header=HEADER, **how):
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, **how).writerows([header, *table] if header else table)
    Path(path).write_text(text.getvalue(), newline="")


def read(path, delimiter=","):
    data = Path(path).read_bytes()
    data = gzip.decompress(data) if path.endswith(".gz") else data
    return list(
        csv.reader(io.StringIO(data.decode(), newline=""), strict=True, delimiter=delimiter)
    )


def test_same_rows_as_in_binary_files(run, rows):
    def same(options, binary, tables, *names):
        run("agf_preprocess", "t.csv", *binary, *LABEL, "--ignore", "id,note", *options)
        told = run("agf_preprocess", "t.csv", *tables, *LABEL, *options)
        for base, name in names:
            header, *copied = read(name)
            numbers = read_vec(f"{base}.vec")[:, 0].astype(int)
            assert header == HEADER and copied == [rows[i] for i in numbers]
            assert [["ash", "elm tree", "oak"][c] for c in read_cls(f"{base}.cls")] == [
                row[3] for row in copied
            ]
            assert f"{name}: {len(copied)} rows" in told.err

    two = ("p", "q"), ("p.csv", "q.csv.gz"), ("p", "p.csv"), ("q", "q.csv.gz")
    for options in (
        ["-f", "0.3"],
        ["-f", "0.3", "-R", "--seed", "5"],
        ["-zf", "0.25"],
        ["-f", "0.4", "--stratified", "--seed", "2"],
        ["--sample", "40", "--min-per-class", "8", "-z", "-f", "0.3", "--stratified"],
    ):
        same(options, *two)
    same(["--sample", "21"], ["s"], ["s.csv"], ("s", "s.csv"))
    for options in (["-d", "4"], ["-z", "-d", "4", "--seed", "3"]):
        same(options, ["d"], ["d.csv"], *((f"d-0{i}", f"d-0{i}.csv") for i in range(4)))


def test_without_classes(run, rows):
    rows[3][3] = ""
    write("t.csv", rows)
    run("agf_preprocess", "-f", "0.5", "t.csv", "p.tsv", "q.csv")
    assert read("p.tsv", "\t")[1:] + read("q.csv")[1:] == rows
    run("agf_preprocess", "-C", "--sample", "9", "t.csv", "s.csv")
    assert len(read("s.csv")) == 10
    told = "column 'kind', row 4: no class, in 1 of 90 rows"
    for options in (["--sample", "9"], ["-z"]):
        run("agf_preprocess", *options, *LABEL, "t.csv", "x.csv", status=1).refused(told)
    assert not Path("x.csv").exists()


def test_standard_input_and_output_without_header(run, rows):
    write("n.csv", rows, None, delimiter=";")
    run("table2agf", "-H", "--label", "4", "n.csv")
    words = "agf_preprocess", "-0", "-1", "--recipe", "n.recipe", "--sample", "30"
    told = run(*words, stdin=Path("n.csv").read_bytes())
    run("agf_preprocess", "t.csv", "s.csv", "--sample", "30", *LABEL)
    assert list(csv.reader(io.StringIO(told.out, newline=""))) == read("s.csv")[1:]
    assert "standard output: 30 rows" in told.err


def test_parquet(run, rows):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = list(zip(*rows))
    whole = {"id": columns[0], "n": list(range(89)) + [None], "kind": columns[3]}
    parquet.write_table(pa.table(whole), "t.parquet")
    run("agf_preprocess", "t.parquet", "s.csv")
    assert read("s.csv") == [["id", "n", "kind"]] + [
        [row[0], str(i) if i < 89 else "", row[3]] for i, row in enumerate(rows)
    ]
    parquet.write_table(pa.table({"1": columns[0], "2": columns[3]}), "n.parquet")
    run("agf_preprocess", "n.parquet", "x.csv", status=1).refused(
        "table2agf --no-header writes a recipe that has none"
    )
    numbers = list(map(str, range(len(rows))))
    parquet.write_table(pa.table({"1": numbers, "2": columns[3]}), "n.parquet")
    run("table2agf", "-H", "--label", "2", "--categorical", "1", "n.parquet")
    run("agf_preprocess", "n.parquet", "x.csv")
    assert read("x.csv") == [[number, row[3]] for number, row in zip(numbers, rows)]


def test_refused(run):
    before = Path("t.csv").read_bytes()
    for options in (
        ["-n"],
        ["-S", "2"],
        ["-a", "f"],
        ["-F"],
        ["-U"],
        ["-B"],
        ["-L"],
        ["-P"],
        ["--id", "id"],
        ["--ignore", "a"],
    ):
        run("agf_preprocess", *options, *LABEL, "--", "t.csv", "q.csv", status=2).refused(
            f"{options[0]} is for points", "give base names for the outputs"
        )
    run("agf_preprocess", "t.csv", "q.csv", "0", "/", "1", status=2).refused("a partition is for")
    run("agf_preprocess", "-f", "0.5", "t.csv", "p.csv", "q", status=2).refused("found 'q'")
    run("agf_preprocess", "t.csv", "q.parquet", status=2).refused("found 'q.parquet'")
    run(
        "agf_preprocess", "-C", "--stratified", "-f", "0.5", "t.csv", "p.csv", "q.csv", status=2
    ).refused("-C says that there are no classes")
    run("agf_preprocess", "-d", "2", "t.csv", "-", status=2).refused("-d needs the name")
    run("agf_preprocess", "t.csv", "./t.csv", status=2).refused("output would overwrite input: ")
    run("agf_preprocess", "-f", "0.5", "t.csv", "a.csv", "no/q.csv", status=1).refused("no/q.csv")
    assert Path("t.csv").read_bytes() == before and os.listdir() == ["t.csv"]


def test_a_table_that_changes(rows):
    from agfmc.tables.reading import open_table

    with open_table("t.csv", again=True) as table:
        for n in (80, 100):
            with pytest.raises(DataError, match="has changed while it was read"):
                list(table_parts._cells(table, np.zeros(n, np.int32)))
