#!/usr/bin/env python3
"""Rows one by one: how long the answer to a row takes through a pipe, and from Python.

    pipe    classify_m --stream, a row sent when the answer to the last one has come: sample_data's
            penguins as CSV and as JSON (words, missing values), and its digits as LIBSVM text;
            memory after 100 rows and at the end; the answers beside those without --stream
    python  one row as a dictionary and as a DataFrame: the points, names and probabilities, the
            classifier alone, and scikit-learn's ColumnTransformer, StandardScaler and SVC

Milliseconds: the median, what 99 % of the rows take at most, and the processor's, which other
processes disturb less (the median from Python, the mean of a pipe). Every hundredth row of the pipe
is wrong with --wrong.

    python tests/benchmarks/stream.py [--rows N] [--wrong] [part ...]
"""

import argparse
import csv
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
SAMPLES = ROOT / "sample_data"
ENV = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
ROLES = "--label", "species", "--id", "id", "--ignore", "year,comments"
UNUSED = "species", "year", "comments"
WRONG = {"csv": "1,2", "json": '{"id": 1}', "svm": "1 2:3 1:4"}


def run(*words, **more):
    command, *words = words
    return subprocess.run(
        [sys.executable, ROOT / "bin" / command, *words, "--quiet"], env=ENV, check=True, **more
    )


def line(name, times, processor, more=""):
    times = np.sort(times) * 1e3
    print(
        f"{name:34} {np.median(times):8.3f} {times[int(0.99 * len(times))]:8.3f} "
        f"{processor * 1e3:9.3f}  {more}",
        flush=True,
    )


def models():
    """penguins.mbm and digits.mbm, one-vs-one, of the sample data."""
    lines = (SAMPLES / "digits.svm").read_text().splitlines(keepends=True)
    Path("digits.svm").write_text("".join(lines[:1000]))
    for name, classes, data, roles in (
        ("penguins", "3", SAMPLES / "penguins.csv", ROLES),
        ("digits", "10", "digits.svm", ("-M", "-n")),
    ):
        plan = run("print_control", "-Q", "one-vs-one", classes, capture_output=True).stdout
        Path("plan").write_bytes(plan)
        run("multi_borders", *roles, "plan", data, name, f"{name}.mbc")
        run("mbh2mbm", f"{name}.mbc", f"{name}.mbm")


def streams():
    """{name: (words, heading, rows, text of the answers without --stream)}."""
    with open(SAMPLES / "penguins-2009.csv", encoding="utf-8", newline="") as file:
        penguins = list(csv.DictReader(file))
    for row in penguins:
        for name in UNUSED:
            row.pop(name)
    text = [",".join(row) for row in (penguins[0], *(row.values() for row in penguins))]
    Path("new.csv").write_text("\n".join(text) + "\n")
    digits = (SAMPLES / "digits.svm").read_text().splitlines()[1000:]
    Path("new.svm").write_text("\n".join(digits) + "\n")
    return {
        "csv": (["penguins.mbm"], text[:1], text[1:], ["penguins.mbm", "new.csv"]),
        "json": (
            ["--format", "csv", "penguins.mbm"],
            [],
            list(map(json.dumps, penguins)),
            ["penguins.mbm", "new.csv"],
        ),
        "svm": (["-M", "digits.mbm"], [], digits, ["-M", "digits.mbm", "new.svm"]),
    }


def state(process):
    """Memory in MB, and seconds of the processor, of a process."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    used = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (
        int(status.split("VmRSS:")[1].split()[0]) / 1024,
        sum(map(int, used)) / os.sysconf("SC_CLK_TCK"),
    )


def pipe(rows, wrong):
    print(f"{f'{rows} rows through a pipe, ms':34} {'median':>8} {'99 %':>8} {'processor':>9}")
    for name, (words, heading, texts, whole) in streams().items():
        expected = run("classify_m", *whole, "-", capture_output=True).stdout.decode().splitlines()
        times, answers, started = [], [], time.perf_counter()
        with subprocess.Popen(
            [sys.executable, ROOT / "bin" / "classify_m", "--quiet", "--stream", *words, "-"],
            env=ENV,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        ) as process:
            reader = os.fdopen(process.stdout.fileno(), "rb", closefd=False)
            if heading:
                process.stdin.write(f"{heading[0]}\n".encode())
            for number, text in enumerate(itertools.islice(itertools.cycle(texts), rows)):
                row = f"{WRONG[name] if wrong and number % 100 == 50 else text}\n".encode()
                start = time.perf_counter()
                process.stdin.write(row)
                if not number:
                    answers.append(reader.readline())
                    ready = time.perf_counter() - started
                answers.append(reader.readline())
                times.append(time.perf_counter() - start)
                if number == 100:
                    before = state(process)
            after = state(process)
            process.stdin.close()
            errors = process.stderr.read().decode().splitlines()
            status = process.wait()
        answers = [answer.decode().rstrip("\n") for answer in answers]
        same = sum(a.partition(",")[2] == b.partition(",")[2] for a, b in zip(answers, expected))
        line(
            name,
            times,
            (after[1] - before[1]) / (rows - 101),
            f"first after {ready:.2f} s, {before[0]:.1f} MB, at the end {after[0]:.1f} MB, status "
            f"{status}, {len(errors)} messages, {same} of {len(expected)} lines same, "
            f"{sum(',error,' in answer for answer in answers)} errors",
        )


def timed(function, items):
    """Seconds of each call on the clock, and the median of those of the processor."""
    times, used = [], []
    for item in items:
        start, before = time.perf_counter(), time.thread_time()
        function(item)
        used.append(time.thread_time() - before)
        times.append(time.perf_counter() - start)
    return times, np.median(used)


def python(rows, wrong):
    import pandas
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.svm import SVC

    import agfmc

    warnings.simplefilter("ignore")
    train, new = (pandas.read_csv(SAMPLES / name) for name in ("penguins.csv", "penguins-2009.csv"))
    words, numbers = (
        ["island", "sex"],
        ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"],
    )
    pipeline = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), words),
            (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        ),
        SVC(probability=True),
    )
    pipeline.fit(train[words + numbers], train["species"])
    model = agfmc.load("penguins.mbm")
    classifier = agfmc.Classifier(model)
    new = new[words + numbers]
    dicts = new.where(new.notna(), None).to_dict("records")
    cycle = [number % len(new) for number in range(rows)]
    frames = [new.iloc[number : number + 1] for number in range(len(new))]
    points = model.recipe.apply(new)
    print(f"{f'{rows} rows from Python, ms':34} {'median':>8} {'99 %':>8} {'processor':>9}")
    for name, function, items in (
        ("dictionary: points", model.recipe.apply, [[row] for row in dicts]),
        ("DataFrame: points", model.recipe.apply, frames),
        ("dictionary: predict", classifier.predict, [[row] for row in dicts]),
        ("DataFrame: predict", classifier.predict, frames),
        ("points: classify", classifier.classify, [points[n : n + 1] for n in range(len(new))]),
        ("scikit-learn: DataFrame", pipeline.predict_proba, frames),
    ):
        line(name, *timed(function, [items[number] for number in cycle]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("parts", nargs="*", metavar="part", help="pipe, python (default: both)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        models()
        print("load", os.getloadavg())
        for part in args.parts or ("pipe", "python"):
            {"pipe": pipe, "python": python}[part](args.rows, args.wrong)
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
