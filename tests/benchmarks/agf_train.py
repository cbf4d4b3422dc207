#!/usr/bin/env python3
"""agf_train on held-out rows, beside scikit-learn's SVC after a grid search and boosted trees.

Each file is divided several times, 30 % of each class held out: LIBSVM text (.svm, labels 0 to
k-1), or a table (.csv) with a column named species, class, label, target or vowel; `made`, `ship`
and `dates` are tables made here: numbers, words, blanks and an id; passengers of a ship; times
of a day and of a year.  All have the same rows, and tables the same columns: of scikit-learn's,
numbers with the median for blanks, words as 0 and 1.  With --group COLUMN, groups are held out as
a whole, in the searches too.

    agf_train   the command, with --time-limit
    SVC         standardised; C of 1, 16, 256 and gamma of 1/4, 1, 4 / d by the accuracy in three
                folds of 5000 rows at most, then trained on all, probability=True
    LightGBM    LGBMClassifier, as it is
    ExtraTrees  ExtraTreesClassifier with 500 trees
    searched    LGBMClassifier: learning rate, leaves, rounds, rows of a leaf and random thresholds
                drawn at random, the best by the log loss in five folds, for --time-limit
    FLAML       AutoML by the log loss, for --time-limit (not installed: left out)
    before      with --before FOLDER, the agf_train of another checkout, with the same time limit
    boosting    HistGradientBoostingClassifier, as it is, and with early stopping

Log loss and accuracy are means over the divisions, with the standard deviation; the seconds are on
the clock; the difference of the log loss to that of agf_train has the standard error of its mean.
Sizes are of the model (of a peer: pickled), and microseconds those of the classification of a row.
A line compares the estimates that agf_train prints with the log loss of the rows held out.

    python tests/benchmarks/agf_train.py [--splits N] [--time-limit T] [--rows N] [--before FOLDER]
        [--only METHOD,...] [--group COLUMN] [--train-rows N] [--state FILE] FILE ...

--state stores each result; results of the same data, rows, split, limit and method are reused.
--train-rows draws so many rows for the training, and holds out all others.
"""

import argparse
import importlib.util
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1")

import numpy as np
import pandas
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import (
    cross_val_score,
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from agfmc.cli.option_types import time_span  # noqa: E402

JOBS, SCORER = 2, "neg_log_loss"
LABELS, SEARCHED = ("species", "class", "label", "target", "vowel"), 5000
LEFT_OUT = ("id", "comments", "year", "part")


def made(rows=2000, seed=1):
    """A table with five classes of unequal sizes, overlapping; numbers, words and blanks."""
    rng = np.random.default_rng(seed)
    y = rng.choice(5, rows, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    z = rng.normal(size=(5, 6))[y] + 1.3 * rng.normal(size=(rows, 6))
    table = pandas.DataFrame(
        np.round(np.c_[z[:, :3], np.exp(z[:, 3]), z[:, 4] * z[:, 5]], 3),
        columns=["length", "width", "height", "mass", "product"],
    )
    table["sites"] = np.array(["north", "south", "east", "west"])[
        (y + rng.choice(4, rows, p=[0.55, 0.15, 0.15, 0.15])) % 4
    ]
    table["sex"] = np.where(z[:, 5] + rng.normal(size=rows) > 0, "m", "f")
    table = table.mask(rng.random(table.shape) < 0.04)
    table.insert(0, "id", [f"r{i}" for i in range(rows)])
    return table.assign(species=np.array(["ash", "elm", "fir", "oak", "yew"])[y])


def ship(rows=900, seed=1):
    """Passengers, two classes: numbers of very different scales, words, many blanks."""
    rng = np.random.default_rng(seed)
    deck = rng.choice(3, rows, p=[0.25, 0.2, 0.55])
    woman = rng.random(rows) < 0.35
    age = np.where(rng.random(rows) < 0.1, rng.uniform(0.5, 12, rows), rng.gamma(9, 3.6, rows))
    fare = np.exp(rng.normal([4.2, 3.1, 2.4], 0.6, (rows, 3))[np.arange(rows), deck])
    aboard = rng.poisson(0.8, rows)
    logit = (
        2.6 * woman
        - 1.1 * deck
        - 0.03 * age
        + 1.5 * (age < 10)
        - 0.3 * np.maximum(aboard - 2, 0)
        + 0.003 * fare
        + 0.4
    )
    cabin = [
        f"{letter}{number}"
        for letter, number in zip(rng.choice(list("ABCDE"), rows), rng.integers(1, 120, rows))
    ]
    table = pandas.DataFrame(
        {
            "deck": deck + 1,
            "sex": np.where(woman, "female", "male"),
            "age": np.where(rng.random(rows) < 0.2, np.nan, np.round(age, 1)),
            "fare": np.round(fare, 2),
            "aboard": aboard,
            "cabin": np.where(rng.random(rows) < np.array([0.2, 0.85, 0.97])[deck], None, cabin),
            "port": rng.choice(["C", "Q", "S", None], rows, p=[0.19, 0.08, 0.72, 0.01]),
        }
    )
    return table.assign(label=np.where(rng.random(rows) < 1 / (1 + np.exp(-logit)), "yes", "no"))


def dates(rows=1500, seed=1):
    """Five kinds of birds by the day of the year, the hour, and what a station measured."""
    rng = np.random.default_rng(seed)
    start = pandas.Timestamp("2021-03-01")
    times = start + pandas.to_timedelta(rng.integers(0, 900 * 24 * 60, rows), unit="min")
    season = np.sin(2 * np.pi * (times.dayofyear.to_numpy() - 80) / 365.25)
    hour = times.hour.to_numpy() + times.minute.to_numpy() / 60
    temperature = 12 + 10 * season + rng.normal(0, 4, rows)
    late = np.asarray((times - start).days) / 900
    station = rng.integers(0, 6, rows)
    score = np.c_[
        1.5 * season,
        -1.5 * season,
        1.8 * np.cos(2 * np.pi * (hour - 2) / 24),
        2 * late - 1 + 0.1 * (temperature - 12),
        0.8 * (station % 2),
    ]
    y = (score + rng.gumbel(size=score.shape)).argmax(1)
    return pandas.DataFrame(
        {
            "seen": times.strftime("%Y-%m-%d %H:%M"),
            "ringed": (times - pandas.to_timedelta(rng.integers(1, 400, rows), unit="D")).strftime(
                "%d.%m.%Y"
            ),
            "temperature": np.round(temperature, 1),
            "wind": np.round(rng.gamma(2, 2, rows), 1),
            "station": np.array(list("ABCDEF"))[station],
            "species": np.array(["finch", "heron", "owl", "rail", "tit"])[y],
        }
    )


MADE = {"made": made, "ship": ship, "dates": dates}


def read(name):
    """(table of features, classes) of a file."""
    if name.endswith(".svm"):
        x, y = load_svmlight_file(name)
        x = pandas.DataFrame(x.toarray().astype(np.float32))
        return x.set_axis([f"x{i}" for i in x], axis=1), y.astype(int).astype(str)
    table = MADE[name]() if name in MADE else pandas.read_csv(name)
    label = next(one for one in LABELS if one in table)
    return table.drop(columns=[label, *(set(LEFT_OUT) & set(table))]), table[
        label
    ].to_numpy().astype(str)


def ours(train, test, limit, group=None, root=ROOT):
    """Probabilities (n, k) of agf_train, its classes, its lines, bytes of the model, seconds."""
    from agfmc.data.from_table import read_table
    from agfmc.data.types import InputFormat
    from agfmc import Classifier, load
    from agfmc.tables.types import ColumnRoles

    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("train.csv", "test.csv", "m.mbm")]
        for path, (x, y) in zip(paths, (train, test)):
            x.assign(the_class=y).to_csv(path, index=False)
        done = subprocess.run(
            [
                sys.executable,
                Path(root) / "bin" / "agf_train",
                "--label=the_class",
                "-j2",
                f"--time-limit={limit}",
                *([f"--group={group}"] if group else []),
                paths[0],
                paths[2],
            ],
            check=True,
            text=True,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(root), "XDG_CACHE_HOME": folder},
        )
        model = load(paths[2])
        form = InputFormat("table", roles=ColumnRoles(label="the_class"))
        data = read_table(paths[1], form, model.recipe)
        start = time.perf_counter()
        p = Classifier(model).probabilities(np.asarray(data.x))
        seconds, size = time.perf_counter() - start, os.path.getsize(paths[2])
    comments = (done.stdout or done.stderr).partition("mkdir")[0].splitlines()
    return p, np.array(model.recipe.classes), comments, size, seconds


def encoder(scaled):
    numbers = [SimpleImputer(strategy="median")] + [StandardScaler()] * scaled
    return make_column_transformer(
        (make_pipeline(*numbers), make_column_selector(dtype_include=np.number)),
        (
            make_pipeline(
                SimpleImputer(strategy="most_frequent"),
                OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            ),
            make_column_selector(dtype_exclude=np.number),
        ),
    )


def searched_svc(x, y, folds):
    few = slice(None)
    if len(y) > SEARCHED:
        few, folds = (
            train_test_split(np.arange(len(y)), train_size=SEARCHED, stratify=y, random_state=0)[0],
            3,
        )
    d = encoder(True).fit_transform(x).shape[1]
    grid = {"svc__C": [1, 16, 256], "svc__gamma": [1 / 4 / d, 1 / d, 4 / d]}
    search = GridSearchCV(make_pipeline(encoder(True), SVC()), grid, cv=folds, n_jobs=JOBS)
    search.fit(x.iloc[few], y[few])
    return search.best_estimator_.set_params(svc__probability=True).fit(x, y)


def default_lightgbm(x, y, folds):
    return make_pipeline(
        encoder(False), LGBMClassifier(n_jobs=JOBS, verbosity=-1, random_state=0)
    ).fit(x, y)


def extra_trees(x, y, folds):
    return make_pipeline(
        encoder(False), ExtraTreesClassifier(500, min_samples_leaf=1, n_jobs=JOBS, random_state=0)
    ).fit(x, y)


def searched_lightgbm(x, y, folds, seconds):
    rng, end, best = np.random.default_rng(0), time.monotonic() + seconds, (-np.inf, None)
    while best[1] is None or time.monotonic() < end:
        model = make_pipeline(
            encoder(False),
            LGBMClassifier(
                n_jobs=JOBS,
                verbosity=-1,
                random_state=0,
                learning_rate=2 ** rng.uniform(-6, -2),
                num_leaves=int(2 ** rng.uniform(2, 6)),
                n_estimators=int(2 ** rng.uniform(5, 9)),
                min_child_samples=int(2 ** rng.uniform(1, 5)),
                extra_trees=bool(rng.integers(2)),
            ),
        )
        score = cross_val_score(model, x, y, cv=folds, scoring=SCORER).mean()
        best = max(best, (score, model), key=lambda pair: pair[0])
    return best[1].fit(x, y)


def flaml(x, y, folds, seconds):
    from flaml import AutoML

    model = make_pipeline(
        encoder(False),
        AutoML(
            task="classification",
            metric="log_loss",
            time_budget=seconds,
            n_jobs=JOBS,
            verbose=0,
            seed=0,
        ),
    )
    return model.fit(x, y)


def boosting(x, y, folds):
    return make_pipeline(encoder(False), HistGradientBoostingClassifier(random_state=0)).fit(x, y)


def stopped_boosting(x, y, folds):
    return make_pipeline(
        encoder(False),
        HistGradientBoostingClassifier(
            early_stopping=True, learning_rate=0.05, max_iter=300, random_state=0
        ),
    ).fit(x, y)


OTHERS = {
    "LightGBM": default_lightgbm,
    "SVC": searched_svc,
    "ExtraTrees": extra_trees,
    "boosting": boosting,
    "boosting, early stop": stopped_boosting,
}
SEARCHED_IN_TIME = {
    "searched": searched_lightgbm,
    **(
        {"FLAML": flaml}
        if importlib.util.find_spec("flaml") and hasattr(importlib.import_module("flaml"), "AutoML")
        else {}
    ),
}


def divided(y, groups, split, train_rows=None):
    """Rows of training and of the test, and the folds (5, else 3) of the searches in the first."""
    rows = np.arange(len(y))
    if groups is None:
        return *train_test_split(
            rows,
            test_size=0.3 if train_rows is None else None,
            train_size=train_rows,
            stratify=y,
            random_state=split,
        ), (5, 3)
    ((train, test),) = GroupShuffleSplit(1, test_size=0.3, random_state=split).split(
        rows, y, groups
    )
    return (
        train,
        test,
        [list(GroupKFold(folds).split(train, groups=groups[train])) for folds in (5, 3)],
    )


def result(method, run, train, test, folds, limit):
    """Log loss, accuracy, seconds of training, bytes, microseconds of a row, and of agf_train the
    estimate for new data with its standard error; comments."""
    (x, y), (new, truth), comments = train, test, []
    start = time.perf_counter()
    if method in ("agf_train", "before"):
        p, classes, comments, size, seconds = run(train, test, limit)
    else:
        model = run(x, y, folds[method == "SVC"])
        middle = time.perf_counter()
        p, classes, size = model.predict_proba(new), model.classes_, len(pickle.dumps(model))
        seconds = time.perf_counter() - middle
    whole = time.perf_counter() - start - seconds
    estimate = re.search(
        "estimate for new data: log loss ([0-9.]+), standard error ([0-9.]+)", "\n".join(comments)
    )
    return [
        log_loss(truth, p[:, np.argsort(classes)], labels=np.sort(classes)),
        accuracy_score(truth, classes[p.argmax(1)]),
        whole,
        size,
        1e6 * seconds / len(truth),
        *(map(float, estimate.groups()) if estimate else ()),
    ], comments


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--time-limit", default="5:00")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--before")
    parser.add_argument("--only", default="")
    parser.add_argument("--group")
    parser.add_argument("--train-rows", type=int)
    parser.add_argument("--state")
    args = parser.parse_args()
    limit = time_span(args.time_limit)
    methods = {
        "agf_train": partial(ours, group=args.group),
        **OTHERS,
        **{name: partial(function, seconds=limit) for name, function in SEARCHED_IN_TIME.items()},
    }
    if args.before:
        methods["before"] = partial(ours, group=args.group, root=args.before)
    if args.only:
        methods = {
            name: run
            for name, run in methods.items()
            if name in ("agf_train", *args.only.split(","))
        }
    stored = {}
    if args.state and os.path.exists(args.state):
        stored = dict(json.loads(line) for line in open(args.state))
    warnings.simplefilter("ignore")
    for name in args.files:
        x, y = read(name)
        if args.rows and args.rows < len(y):
            few = train_test_split(
                np.arange(len(y)), train_size=args.rows, stratify=y, random_state=0
            )[0]
            x, y = x.iloc[few].reset_index(drop=True), y[few]
        print(f"{name}: {len(y)} rows, {x.shape[1]} columns, {len(set(y))} classes", flush=True)
        groups, scores = x[args.group].to_numpy() if args.group else None, {}
        for split in range(args.splits):
            train, test, folds = divided(y, groups, split, args.train_rows)
            for method, run in methods.items():
                key = (
                    f"{Path(name).stem} {len(y)} {args.group} {split} {limit} {method}"
                    + f" {args.train_rows}" * (args.train_rows is not None)
                )
                if key not in stored:
                    table = (
                        x
                        if method in ("agf_train", "before") or not args.group
                        else x.drop(columns=args.group)
                    )
                    stored[key], comments = result(
                        method,
                        run,
                        *((table.iloc[rows], y[rows]) for rows in (train, test)),
                        folds,
                        args.time_limit,
                    )
                    print(*comments, sep="\n")
                    if args.state:
                        with open(args.state, "a") as file:
                            print(json.dumps([key, stored[key]]), file=file)
                scores.setdefault(method, []).append(stored[key])
                print(
                    f"    {method:21s} "
                    + "  ".join(f"{value:.4f}" for value in scores[method][-1]),
                    flush=True,
                )
        for method, values in scores.items():
            estimates = np.array([[one[0], *one[5:]] for one in values if len(one) > 5])
            values = [one[:5] for one in values]
            mean, spread = np.mean(values, 0), np.std(values, 0, ddof=1)
            apart = np.array(values)[:, 0] - [one[0] for one in scores["agf_train"]]
            print(
                f"  {method:21s} log loss {mean[0]:.4f}±{spread[0]:.4f}  accuracy {mean[1]:.4f}±"
                f"{spread[1]:.4f}  {mean[2]:7.1f} s  {mean[3] / 1e3:7.0f} kB  {mean[4]:5.0f} us  "
                f"{apart.mean():+.4f} (standard error {apart.std(ddof=1) / len(apart) ** 0.5:.4f})",
                flush=True,
            )
            if len(estimates):
                truth, estimate, error = estimates.T
                print(
                    f"  the estimate: {estimate.mean():.4f}, truth {truth.mean():.4f}; within "
                    f"two errors in {np.sum(abs(truth - estimate) <= 2 * error)} of "
                    f"{len(truth)}, mean error {error.mean():.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
