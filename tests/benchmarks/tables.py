#!/usr/bin/env python3
"""Tables of a million rows: reading, conversion and classification, beside pandas and scikit-learn.

Each step is a process of its own; its seconds on the clock, its seconds of processor and its peak
memory are printed, and the ratio of the seconds to those of the first line of the part.  Parts:

    read      20 columns of a text table and of Parquet: pandas, PyArrow alone, and the reader of
              this suite with PyArrow, in one thread
    convert   table2agf, which reads twice, with a quarter of the rows and with all
    classify  trained on 6000 rows, and all rows answered with their probabilities as a table:
              scikit-learn's ColumnTransformer and SVC with Platt's sigmoids, and classify_m

The table has 12 columns of numbers with blanks, 6 of words, an identifier and 5 classes.

    python tests/benchmarks/tables.py [--rows N] [--keep DIR] [-j N] [part ...]
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
WORDS = (
    ("red", "green", "blue"),
    ("m", "f"),
    tuple(f"site {n}" for n in range(12)),
    ("low", "middle", "high"),
    tuple("ABCDEFGH"),
    ("yes", "no", "not, known"),
)
CLASSES = ("setosa", "versicolor", "virginica", "ensata", "pallida")
NUMBERS, SAMPLE = 12, 6000
MEASURE = """
import resource, subprocess, sys, time
start = time.perf_counter()
status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, status)
"""
PANDAS = "import pandas; pandas.read_{}({!r}{}).shape"
ARROW = "import pyarrow.csv as c, pyarrow.parquet as p; t = {}"
OURS = """
from agfmc.tables.reading import open_table
with open_table({path!r}) as table:
    wanted = {{at: "number" if name[0] == "x" else "words" for at, name in enumerate(table.names)
              if name != "id"}}
    wanted[table.names.index("id")] = "text"
    rows = 0
    for block in table.blocks(wanted):
        rows += block.rows
        for at in wanted:
            block[at]
"""
SKLEARN = """
import numpy as np, pandas
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
read = pandas.read_{kind}
train, test = read({train!r}), read({test!r})
numbers = [name for name in train if name[0] == "x"]
words = [name for name in train if name[0] == "w"]
encode = make_column_transformer(
    (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
    (make_pipeline(SimpleImputer(strategy="most_frequent"),
                   OneHotEncoder(handle_unknown="ignore")), words))
model = make_pipeline(encode, SVC(C=4, gamma=.02, probability=True, random_state=1))
model.fit(train[numbers + words], train["species"])
p = model.predict_proba(test[numbers + words])
answer = pandas.DataFrame(p, columns=["p:" + name for name in model.classes_])
answer.insert(0, "class", model.classes_[p.argmax(axis=1)])
answer.insert(0, "id", test["id"])
answer.to_csv({out!r}, index=False)
"""


def make_table(folder, rows):
    """table.csv, table.parquet, quarter.csv and train.csv, train.parquet in that folder."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    rng = np.random.default_rng(1)
    y = rng.integers(0, len(CLASSES), rows)
    centres = rng.normal(size=(len(CLASSES), NUMBERS))
    columns = {"id": pa.array(np.char.add("R", np.arange(rows).astype("U9")))}
    for j in range(NUMBERS):
        values = np.round(centres[y, j] + 1.5 * rng.normal(size=rows), 4)
        columns[f"x{j}"] = pa.array(values, mask=rng.random(rows) < 0.01)
    for j, words in enumerate(WORDS):
        codes = np.where(rng.random(rows) < 0.3, y % len(words), rng.integers(0, len(words), rows))
        columns[f"w{j}"] = pa.array(np.array(words)[codes], mask=rng.random(rows) < 0.01)
    columns["species"] = pa.array(np.array(CLASSES)[y])
    table = pa.table(columns)
    for name, part in (
        ("table", table),
        ("quarter", table.slice(0, rows // 4)),
        ("train", table.slice(rows - SAMPLE)),
    ):
        pa.csv.write_csv(part, folder / f"{name}.csv")
        pa.parquet.write_table(part, folder / f"{name}.parquet")


class Part:
    """Lines of one part, with ratios to the first."""

    def __init__(self, folder, title):
        self._folder, self._first = folder, None
        print(f"\n{title:44}{'seconds':>9}{'ratio':>8}{'processor':>11}{'MB':>8}", flush=True)

    def line(self, what, command):
        """Run a command, and print what it took; -> its seconds."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, *map(str, command)],
            stdout=subprocess.PIPE,
            cwd=self._folder,
            text=True,
            env=environment,
            check=True,
        )
        seconds, processor, memory, status = map(float, done.stdout.split())
        self._first = self._first or seconds
        failed = f"  status {status:g}" * bool(status)
        print(
            f"{what:44}{seconds:9.2f}{seconds / self._first:8.2f}{processor:11.2f}"
            f"{memory:8.0f}{failed}",
            flush=True,
        )
        return seconds


def python(text):
    """The command that runs this text in Python."""
    return sys.executable, "-c", text


def command(name, *words):
    """One of the suite's commands."""
    return sys.executable, ROOT / "bin" / name, *words


def read(folder, args):
    """Reading alone."""
    part = Part(folder, "reading table.csv")
    part.line("pandas.read_csv", python(PANDAS.format("csv", "table.csv", "")))
    part.line(
        "pandas.read_csv, engine pyarrow",
        python(PANDAS.format("csv", "table.csv", ", engine='pyarrow'")),
    )
    part.line(
        "pyarrow.csv alone, one thread",
        python(
            ARROW.format("c.read_csv('table.csv', read_options=c.ReadOptions(use_threads=False))")
        ),
    )
    part.line("agfmc", python(OURS.format(path="table.csv")))
    part = Part(folder, "reading table.parquet")
    part.line("pandas.read_parquet", python(PANDAS.format("parquet", "table.parquet", "")))
    part.line(
        "pyarrow.parquet alone, one thread",
        python(ARROW.format("p.read_table('table.parquet', use_threads=False)")),
    )
    part.line("agfmc", python(OURS.format(path="table.parquet")))


def convert(folder, args):
    """table2agf of a quarter and of all rows."""
    for ending in ("csv", "parquet"):
        part = Part(folder, f"table2agf, {ending}")
        for name in ("quarter", "table"):
            for missing in ("value:0", "median"):
                part.line(
                    f"{name}, --missing {missing}",
                    command(
                        "table2agf",
                        "--quiet",
                        "--label",
                        "species",
                        "--id",
                        "id",
                        "--missing",
                        missing,
                        f"{name}.{ending}",
                        f"{ending}-{name}",
                    ),
                )


def classify(folder, args):
    """Training on a sample, and answers for all rows."""
    for ending in ("csv", "parquet"):
        part = Part(folder, f"trained on {SAMPLE} rows, all answered, {ending}")
        part.line(
            "scikit-learn",
            python(
                SKLEARN.format(
                    kind=ending, train=f"train.{ending}", test=f"table.{ending}", out="sklearn.csv"
                )
            ),
        )
        seconds = part.line(
            "agfmc: print_control",
            command("print_control", "--label", "species", f"train.{ending}"),
        )
        with open(folder / "plan.mbt", "w") as file:
            subprocess.run(
                list(
                    map(
                        str,
                        command("print_control", "--label", "species", folder / f"train.{ending}"),
                    )
                ),
                check=True,
                stdout=file,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        seconds += part.line(
            "  multi_borders",
            command(
                "multi_borders",
                "--quiet",
                "--retrain",
                "-n",
                "-j",
                args.jobs,
                "--label",
                "species",
                "--id",
                "id",
                "-+",
                "-c 4 -g 0.02",
                "plan.mbt",
                f"train.{ending}",
                "m",
                "m.mbc",
            ),
        )
        seconds += part.line(
            "  mbh2mbm", command("mbh2mbm", "--quiet", "-a", "m.std", "m.mbc", "m.mbm")
        )
        seconds += part.line(
            f"  classify_m -j {args.jobs}",
            command(
                "classify_m", "--quiet", "-j", args.jobs, "m.mbm", f"table.{ending}", "answer.csv"
            ),
        )
        print(f"  all together{seconds:41.2f}", flush=True)
        _compare(folder)


def _compare(folder):
    """The accuracy and log loss of both answers."""
    import pandas

    truth = pandas.read_parquet(folder / "table.parquet", columns=["species"])["species"]
    rows = slice(0, len(truth) - SAMPLE)
    for name in ("sklearn", "answer"):
        answer = pandas.read_csv(folder / f"{name}.csv")
        p = answer[[f"p:{word}" for word in sorted(CLASSES)]].to_numpy()
        at = np.searchsorted(sorted(CLASSES), truth.to_numpy().astype(str))
        right = (answer["class"] == truth)[rows].mean()
        loss = -np.log(np.maximum(p[np.arange(len(p)), at], 1e-15))[rows].mean()
        print(f"  {name}: accuracy {right:.4f}, log loss {loss:.4f}", flush=True)


def main():
    """Make the table, and run the parts."""
    parts = {"read": read, "convert": convert, "classify": classify}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keep", metavar="DIR", help="make the tables there, or find them there")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("part", nargs="*", help=f"of {list(parts)}; by default all")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(args.keep or temporary)
        folder.mkdir(exist_ok=True)
        if not (folder / "train.parquet").exists():
            make_table(folder, args.rows)
        for name in args.part or parts:
            parts[name](folder, args)


if __name__ == "__main__":
    main()
