#!/usr/bin/env python3
"""Traps of tables: made tables of known truth, beside what the usual code of others makes of them.

Each table has numbers, three classes and one trap.  `agfmc` is multi_borders one-vs-one and
classify_m without options; the others are pandas.read_csv, a ColumnTransformer or columns of
categories, and models with defaults.  Printed: log loss and accuracy of new rows, also of the true
probabilities, and the log loss of agfmc less that of each other method, with standard errors.

    python tests/benchmarks/traps.py [--seeds N] [--before FOLDER] [--only METHOD,...] [TRAP ...]

With --before, the commands of another checkout are one method more. Needs pandas.
"""

import argparse
import os
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas
from lightgbm import LGBMClassifier
from sklearn import compose, impute, linear_model, pipeline, preprocessing, svm

COMMANDS = (
    "multi_borders --quiet one-vs-one train.csv m m.mbc && "
    "classify_m --quiet m.mbc test.csv answer.csv"
)
CLASSES = np.array(["high", "low", "middle"])
MINUTES = 730 * 1440


def slope(values):
    """Scores (n, k) that follow values (n,)."""
    return 1.5 * np.outer((values - values.mean()) / values.std(), (1, -1, 0.2))


def number(rng, n, name="level", scale=1, blanks=0, blank="", telling=False):
    """A number, blank in a share of the rows; scores follow it, or that it is blank."""
    value, absent = rng.normal(size=n), rng.random(n) < blanks
    return {name: np.where(absent, blank, np.char.mod("%.6g", (value + 3) * scale))}, slope(
        absent if telling else value
    )


def dates(rng, n, form, period=MINUTES):
    """Days, or times where the period is a day; scores follow a wave of so many minutes."""
    minutes = rng.integers(0, MINUTES, n)
    minutes -= minutes % 1440 * (period > 1440)
    when = pandas.to_datetime("2023-01-01") + pandas.to_timedelta(minutes, unit="min")
    return {"when": when.strftime(form)}, slope(np.sin(2 * np.pi * minutes / period))


def words(rng, n, many, form="site %d"):
    """Words of which some are rarer, each with scores of its own."""
    codes = (many * rng.random(n) ** 1.5).astype(int)
    return {"site": np.char.mod(form, codes)}, 1.2 * rng.normal(size=(many, 3))[codes]


def others_of(rng, n, trap):
    """Ordered words, columns of 0 and 1, or columns that say nothing."""
    codes = (rng.random((n, 6)) < [0.5, 0.3, 0.1, 0.05, 0.05, 0.02]).astype(int)
    order, size = rng.permutation(n), rng.integers(0, 3, n)
    return {
        "ordered words": ({"size": np.array(["small", "medium", "huge"])[size]}, slope(size)),
        "0/1 columns": (dict(zip("abcdef", codes.T)), codes @ (1.5 * rng.normal(size=(6, 3)))),
        "id of words": ({"id": np.char.mod("S%05d", order)}, 0),
        "id of numbers": ({"patient_id": order}, 0),
        "constant": ({"unit": np.repeat("mm", n), "rate": np.repeat(7, n)}, 0),
    }[trap]


TRAPS = {
    "dates, ISO": lambda *a: dates(*a, "%Y-%m-%d"),
    "dates, day.month.year": lambda *a: dates(*a, "%d.%m.%Y"),
    "times": lambda *a: dates(*a, "%Y-%m-%dT%H:%M", 1440),
    **{
        trap: lambda *a, trap=trap: words(*a, int(trap.split()[0]))
        for trap in ("40 words", "300 words", "40 words, some not in training")
    },
    "12 codes": lambda *a: words(*a, 12, "%d"),
    **{
        f"{share} % {name}": lambda *a, share=share, blank=blank: number(
            *a, blanks=share / 100, blank=blank
        )
        for share, name, blank in (
            (8, "blank", ""),
            (8, "NA", "NA"),
            (8, "?", "?"),
            (45, "?", "?"),
            (60, "blank", ""),
        )
    },
    "45 % blank, telling": lambda *a: number(*a, blanks=0.45, telling=True),
    "case of names": lambda *a: number(*a, name="Age"),
    "scales": lambda *a: number(*a, scale=1e6),
    **dict.fromkeys(
        ("none", "decimal commas, ;", "class with blanks", "class empty", "unequal classes"), number
    ),
    **{
        trap: lambda *a, trap=trap: others_of(*a, trap)
        for trap in ("ordered words", "0/1 columns", "id of words", "id of numbers", "constant")
    },
}


def make(trap, rng, sep):
    """Write train.csv and test.csv; -> classes y (n,) of new rows, their true p (n, k)."""
    n = 3000 if trap == "300 words" else 900
    x = rng.normal(size=(n, 3))
    columns, effect = TRAPS[trap](rng, n)
    scores = effect + x @ rng.normal(size=(3, 3)) + np.outer(x[:, 0] * x[:, 1], (1, -1, 0))
    scores += np.array([0, 3, -2]) * (trap == "unequal classes")
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    table = pandas.DataFrame({f"x{j}": np.char.mod("%.6g", x[:, j]) for j in range(3)} | columns)
    table["class"] = CLASSES[y]
    if trap == "class with blanks":
        table["class"] += np.where(rng.random(n) < 0.2, " ", "")
    if trap == "decimal commas, ;":
        table = table.map(lambda cell: cell.replace(".", ","))
    train, test = table[: n // 2].copy(), table[n // 2 :]
    if trap == "class empty":
        train.loc[rng.random(n // 2) < 0.05, "class"] = ""
    if trap == "40 words, some not in training":
        test = test.replace({"site": {"site 3": "site three"}})
    if trap == "case of names":
        test = test.rename(columns=str.lower)
    train.to_csv("train.csv", index=False, sep=sep)
    test.to_csv("test.csv", index=False, sep=sep)
    return y[n // 2 :], p[n // 2 :]


def suite(root, sep):
    """p (n, k) of new rows by the commands of a checkout."""
    done = subprocess.run(
        COMMANDS,
        shell=True,
        text=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": root, "PATH": f"{root}/bin:{os.environ['PATH']}"},
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return pandas.read_csv("answer.csv")[[f"p:{word}" for word in CLASSES]].to_numpy()


def others(model, sep):
    """p (n, k) of new rows by pandas and a model, in the code that most people write."""
    train, test = pandas.read_csv("train.csv", sep=sep), pandas.read_csv("test.csv", sep=sep)
    X, y = train.drop(columns="class"), train["class"]
    digits = X.select_dtypes("number").columns
    text = X.columns.difference(digits)
    if isinstance(model, LGBMClassifier):
        X[text], test[text] = X[text].astype("category"), test[text].astype("category")
    else:
        model = pipeline.make_pipeline(
            compose.ColumnTransformer(
                [
                    (
                        "numbers",
                        pipeline.make_pipeline(
                            impute.SimpleImputer(), preprocessing.StandardScaler()
                        ),
                        digits,
                    ),
                    ("words", preprocessing.OneHotEncoder(handle_unknown="ignore"), text),
                ]
            ),
            model,
        )
    p = model.fit(X, y).predict_proba(test[X.columns])
    return np.stack(
        [p[:, [one.strip() == word for one in model.classes_]].sum(axis=1) for word in CLASSES],
        axis=1,
    )


def main():
    """The scores of each trap, and the errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traps", nargs="*", metavar="TRAP", help="default: all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--before", metavar="FOLDER")
    parser.add_argument("--only", default="", metavar="METHOD,...")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    methods = {
        "agfmc": (suite, str(Path(__file__).resolve().parents[2])),
        "SVC": (others, svm.SVC(probability=True, random_state=1)),
        "logistic": (others, linear_model.LogisticRegression()),
        "LightGBM": (others, LGBMClassifier(verbosity=-1, n_jobs=1)),
    }
    if args.before:
        methods["before"] = (suite, args.before)
    if args.only:
        methods = {name: methods[name] for name in args.only.split(",")}
    for trap in args.traps or TRAPS:
        rows, errors, sep = [], {}, trap[-1] if ";" in trap else ","
        for seed in range(args.seeds):
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                y, truth = make(trap, np.random.default_rng([seed, 7]), sep)
                for name, (method, what) in {"truth": (lambda p, _: p, truth), **methods}.items():
                    try:
                        p = method(what, sep).clip(1e-15)
                    except Exception as error:  # is a result
                        errors[name] = f"{name}: {' '.join(str(error).split())[:200]}"
                        continue
                    rows.append(
                        (
                            seed,
                            name,
                            -np.log(p[range(len(y)), y]).mean(),
                            (p.argmax(axis=1) == y).mean(),
                        )
                    )
                os.chdir("/")
        table = pandas.DataFrame(rows, columns=["seed", "", "loss", "accuracy"])
        scores = table.groupby("", sort=False)[["loss", "accuracy"]].agg(["mean", "sem"])
        losses = table.pivot(index="seed", columns="", values="loss")
        if "agfmc" in losses:
            d = -losses.sub(losses["agfmc"], axis=0)
            scores["agfmc less this"], scores["sem"] = d.mean(), d.sem()
        print(f"\n{trap}\n{scores.round(3).to_string()}", *errors.values(), sep="\n", flush=True)


if __name__ == "__main__":
    main()
