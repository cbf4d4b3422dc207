#!/usr/bin/env python3
"""agf_train on held-out rows, beside LightGBM, HistGradientBoosting and others of scikit-learn.

Each file is divided several times, 30 % of each class held out, 5000 rows at most: LIBSVM text
(.svm, labels 0 to k-1), or a table (.csv) with a column named species, class, label, target or
vowel; or a table that is made: `balance`, `car`, `nursery` (2500 rows for training) and `sensors`
are rules, `shells` is noise; `made`, `ship` and `dates` have numbers, words, blanks, an id;
passengers of a ship; times of a day and of a year; or `wine` and `digits` of scikit-learn.  With
--group COLUMN, groups are held out as a whole, in the searches too.

    agf_train   the command, with --time-limit
    LightGBM    LGBMClassifier, stopped early by a fifth of the rows; words as categories
    HistGradientBoosting  as it is, words as categories
    ExtraTrees  ExtraTreesClassifier with 500 trees; words as 0 and 1, medians for blanks
    logistic    LogisticRegression with the best C of five in as many folds, standardised
    SVC         standardised; C of 1, 16, 256 and gamma of 1/4, 1, 4 / d by the accuracy in folds
                of 5000 rows at most, calibrated
    searched    LGBMClassifier: learning rate, leaves, rounds, rows of a leaf and random thresholds
                drawn at random, the best by the log loss in five folds, for --time-limit
    before      with --before FOLDER, the agf_train of another checkout, with the same time limit

    python tests/benchmarks/agf_train.py [--splits N] [--time-limit T] [-j N] [--rows N]
        [--before FOLDER] [--only METHOD,...] [--group COLUMN] [--train-rows N] [--state FILE]
        [--pace P] FILE ...
    python tests/benchmarks/agf_train.py --page [--splits N] [--time-limit T] [--pace P] [FILE ...]

A row for each method: log loss and accuracy of the held-out rows, means over the divisions; the
log loss less that of agf_train, with its standard error by pairs of rows; processor seconds;
bytes of the model (of a peer: pickled); microseconds of the classification of a row.  A line
compares the estimates that agf_train prints with the log loss of the rows held out.

--state stores each result; results of the same data, rows, split, limit and method are reused.
--train-rows draws so many rows for the training, and holds out others.  --pace P lets the clock
of agf_train be its processor time, P times as fast (processor_clock.py), for machines at work.
--page measures the tables of the page of benchmarks, or some of them, and stores what page.py
prints.
"""

import argparse
import json
import os
import pickle
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import lightgbm
import numpy as np
import pandas
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_digits, load_svmlight_file, load_wine
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
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
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from made_tables import balance, car_rules, nursery_rules, sensors, shells  # noqa: E402

from agfmc.cli.option_types import time_span  # noqa: E402

RESULTS = Path(__file__).with_name("agf_train.json")
LABELS, SEARCHED, HELD_OUT = ("species", "class", "label", "target", "vowel"), 5000, 5000
LEFT_OUT = ("id", "comments", "year", "part")
TRAIN_ROWS = {"nursery": 2500}
PAGE = ("balance", "car", "nursery", "sensors", "shells", "ship", "wine")


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


def bound_of_shells():
    """The log loss of the true probabilities of shells: nothing can be expected to be below."""
    _, p = shells()
    return float(-(p * np.log(p)).sum(axis=1).mean())


def of_scikit_learn(load):
    data = load(as_frame=True)
    return data.data.assign(label=data.target)


MADE = {
    "made": made,
    "ship": ship,
    "dates": dates,
    "balance": lambda: pandas.DataFrame(balance()),
    "car": lambda: pandas.DataFrame(car_rules()),
    "nursery": lambda: pandas.DataFrame(nursery_rules()),
    "sensors": lambda: pandas.DataFrame(sensors()),
    "shells": lambda: pandas.DataFrame(shells()[0]),
    "wine": lambda: of_scikit_learn(load_wine),
    "digits": lambda: of_scikit_learn(load_digits),
}


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


def train_ours(train, test, limit, group=None, root=ROOT, jobs=1, pace=None):
    """Run agf_train; -> p (n, k), classes, lines, bytes of the model, s of the classification."""
    from agfmc import Classifier, load
    from agfmc.data.from_table import read_table
    from agfmc.data.types import InputFormat
    from agfmc.tables.types import ColumnRoles

    command = [sys.executable]
    if pace is not None:
        command += [Path(__file__).with_name("processor_clock.py"), str(pace)]
    command += [Path(root) / "bin" / "agf_train", "--label=the_class", f"-j{jobs}"]
    command.append(f"--time-limit={limit}")
    if group:
        command.append(f"--group={group}")
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("train.csv", "test.csv", "m.mbm")]
        for path, (x, y) in zip(paths, (train, test)):
            x.assign(the_class=y).to_csv(path, index=False)
        done = subprocess.run(
            [*command, paths[0], paths[2]],
            check=True,
            text=True,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(root), "XDG_CACHE_HOME": folder},
        )
        model = load(paths[2])
        form = InputFormat("table", roles=ColumnRoles(label="the_class"))
        data = read_table(paths[1], form, model.recipe)
        start = time.process_time()
        p = Classifier(model).probabilities(np.asarray(data.x))
        seconds, size = time.process_time() - start, os.path.getsize(paths[2])
    return p, np.array(model.recipe.classes), done.stderr.splitlines(), size, seconds


def as_categories(train, test):
    """Both tables with words as categories, those of the training."""
    train, test = train.copy(), test.copy()
    for column in train.select_dtypes(exclude="number"):
        levels = sorted(train[column].dropna().astype(str).unique())
        for table in (train, test):
            words = table[column].astype(str).where(table[column].notna())
            table[column] = pandas.Categorical(words, categories=levels)
    return train, test


def encoder():
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    words = make_pipeline(
        SimpleImputer(strategy="most_frequent"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include=np.number)),
        (words, make_column_selector(dtype_exclude=np.number)),
    )


def searched_svc(x, y, folds):
    few = np.arange(len(y))
    if len(y) > SEARCHED:
        few, _ = train_test_split(few, train_size=SEARCHED, stratify=y, random_state=0)
        folds = 3
    d = encoder().fit_transform(x).shape[1]
    grid = {"svc__C": [1, 16, 256], "svc__gamma": [1 / 4 / d, 1 / d, 4 / d]}
    search = GridSearchCV(make_pipeline(encoder(), SVC()), grid, cv=folds)
    search.fit(x.iloc[few], y[few])
    return CalibratedClassifierCV(search.best_estimator_, ensemble=False).fit(x, y)


def stopped_lightgbm(x, y, folds):
    train, held = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    model = lightgbm.LGBMClassifier(n_estimators=1000, n_jobs=1, verbosity=-1, random_state=0)
    return model.fit(
        x.iloc[train],
        y[train],
        eval_set=[(x.iloc[held], y[held])],
        callbacks=[lightgbm.early_stopping(25, verbose=False)],
    )


def histograms(x, y, folds):
    model = HistGradientBoostingClassifier(
        categorical_features="from_dtype", early_stopping=len(y) > 200, random_state=0
    )
    return model.fit(x, y)


def extra_trees(x, y, folds):
    model = ExtraTreesClassifier(500, n_jobs=1, random_state=0)
    return make_pipeline(encoder(), model).fit(x, y)


def logistic(x, y, folds):
    search = GridSearchCV(
        LogisticRegression(max_iter=500),
        {"C": [0.01, 0.1, 1, 10, 100]},
        scoring="neg_log_loss",
        cv=folds,
    )
    return make_pipeline(encoder(), search).fit(x, y)


def searched_lightgbm(x, y, folds, seconds):
    rng, end, best = np.random.default_rng(0), time.process_time() + seconds, (-np.inf, None)
    while best[1] is None or time.process_time() < end:
        model = lightgbm.LGBMClassifier(
            n_jobs=1,
            verbosity=-1,
            random_state=0,
            learning_rate=2 ** rng.uniform(-6, -2),
            num_leaves=int(2 ** rng.uniform(2, 6)),
            n_estimators=int(2 ** rng.uniform(5, 9)),
            min_child_samples=int(2 ** rng.uniform(1, 5)),
            extra_trees=bool(rng.integers(2)),
        )
        score = cross_val_score(model, x, y, cv=folds, scoring="neg_log_loss").mean()
        best = max(best, (score, model), key=lambda pair: pair[0])
    return best[1].fit(x, y)


OTHERS = {
    "LightGBM": stopped_lightgbm,
    "HistGradientBoosting": histograms,
    "ExtraTrees": extra_trees,
    "logistic": logistic,
    "SVC": searched_svc,
}


def divide(y, groups, split, train_rows=None):
    """Rows of training and of the test, and the folds of the searches in the first."""
    rows = np.arange(len(y))
    if groups is None:
        train, test = train_test_split(
            rows,
            test_size=0.3 if train_rows is None else None,
            train_size=train_rows,
            stratify=y,
            random_state=split,
        )
        return train, test[:HELD_OUT], min(5, np.unique(y[train], return_counts=True)[1].min())
    division = GroupShuffleSplit(1, test_size=0.3, random_state=split)
    ((train, test),) = division.split(rows, y, groups)
    return train, test, list(GroupKFold(5).split(train, groups=groups[train]))


def measure(method, run, train, test, folds, limit):
    """The result of a method: its scores and the log loss of each row; and its lines."""
    (x, y), (new, truth), lines = train, test, []
    start = _processor_s()
    if method in ("agf_train", "before"):
        p, classes, lines, size, seconds = run(train, test, limit)
    else:
        if method in ("LightGBM", "HistGradientBoosting", "searched"):
            x, new = as_categories(x, new)
        model = run(x, y, folds)
        middle = time.process_time()
        p, classes, size = model.predict_proba(new), model.classes_, len(pickle.dumps(model))
        seconds = time.process_time() - middle
    whole = _processor_s() - start - seconds
    position = {name: column for column, name in enumerate(classes)}
    columns = np.array([position[name] for name in truth])
    losses = -np.log(np.clip(p[np.arange(len(truth)), columns], 1e-15, 1))
    outcome = {
        "log_loss": losses.mean(),
        "accuracy": (p.argmax(axis=1) == columns).mean(),
        "seconds": whole,
        "bytes": size,
        "microseconds": 1e6 * seconds / len(truth),
        "losses": [round(loss, 6) for loss in losses],
    }
    text = "\n".join(lines)
    estimate = re.search("new data: log loss ([0-9.]+), standard error ([0-9.]+)", text)
    if estimate:
        outcome["estimate"], outcome["error"] = map(float, estimate.groups())
    chosen = re.search("chosen: (.*)", text)
    if chosen:
        outcome["chosen"] = chosen[1]
    return outcome, lines


def _processor_s():
    """Seconds of the processor, of this program and of those that it has run."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def pair_losses(outcomes, reference):
    """The mean difference of two methods' log loss over the divisions, and its standard error.

    The error is of the mean of all pairs of rows: a row that is held out twice counts twice.
    """
    differences = np.concatenate(
        [np.subtract(a["losses"], b["losses"]) for a, b in zip(outcomes, reference)]
    )
    return differences.mean(), differences.std(ddof=1) / len(differences) ** 0.5


def summarize(scores):
    """{method: mean scores, difference to agf_train and its error}."""
    summary = {}
    for method, outcomes in scores.items():
        means = {
            name: float(np.mean([outcome[name] for outcome in outcomes]))
            for name in ("log_loss", "accuracy", "seconds", "bytes", "microseconds")
        }
        difference, error = pair_losses(outcomes, scores["agf_train"])
        summary[method] = means | {"difference": float(difference), "error": float(error)}
        if "chosen" in outcomes[0]:
            summary[method]["chosen"] = [outcome["chosen"] for outcome in outcomes]
    return summary


def print_summary(scores):
    for method, row in summarize(scores).items():
        print(
            f"  {method:21s} log loss {row['log_loss']:.4f}  accuracy {row['accuracy']:.4f}  "
            f"{row['difference']:+.4f} (standard error {row['error']:.4f})  {row['seconds']:7.1f} s"
            f"  {row['bytes'] / 1e3:7.0f} kB  {row['microseconds']:5.0f} us",
            flush=True,
        )
    for method, outcomes in scores.items():
        estimates = [one for one in outcomes if "estimate" in one]
        if not estimates:
            continue
        gaps = [(abs(one["log_loss"] - one["estimate"]), one["error"]) for one in estimates]
        within = sum(gap <= 2 * error for gap, error in gaps)
        print(
            f"  the estimate of {method}: {np.mean([one['estimate'] for one in estimates]):.4f}, "
            f"truth {np.mean([one['log_loss'] for one in estimates]):.4f}; within two errors in "
            f"{within} of {len(gaps)}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--time-limit", default="60")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--before")
    parser.add_argument("--only", default="")
    parser.add_argument("--group")
    parser.add_argument("--train-rows", type=int)
    parser.add_argument("--state")
    parser.add_argument("--pace", type=float)
    parser.add_argument("--page", action="store_true")
    args = parser.parse_args()
    ours = partial(train_ours, group=args.group, jobs=args.jobs, pace=args.pace)
    methods = {"agf_train": ours, **OTHERS}
    if not args.page:
        methods["searched"] = partial(searched_lightgbm, seconds=time_span(args.time_limit))
    if args.before:
        methods["before"] = partial(ours, root=args.before)
    if args.only:
        names = ["agf_train", *args.only.split(",")]
        methods = {name: run for name, run in methods.items() if name in names}
    stored = {}
    if args.state and os.path.exists(args.state):
        with open(args.state) as file:
            stored = dict(json.loads(line) for line in file)
    warnings.simplefilter("ignore")
    summaries = {}
    names = args.files
    if args.page:
        names = args.files or PAGE
    for name in names:
        scores = measure_table(name, methods, stored, args)
        print_summary(scores)
        summaries[name] = summarize(scores)
    if args.page:
        limits = {"time_limit": args.time_limit, "splits": args.splits, "bound": bound_of_shells()}
        text = json.dumps({**limits, "tables": summaries}, indent=1)
        RESULTS.write_text(text + "\n", encoding="utf-8")


def measure_table(name, methods, stored, args):
    """{method: its outcomes, one for each division} of a table; they are printed as they come."""
    x, y = read(name)
    if args.rows and args.rows < len(y):
        rows = np.arange(len(y))
        few, _ = train_test_split(rows, train_size=args.rows, stratify=y, random_state=0)
        x, y = x.iloc[few].reset_index(drop=True), y[few]
    print(f"{name}: {len(y)} rows, {x.shape[1]} columns, {len(set(y))} classes", flush=True)
    train_rows = args.train_rows or TRAIN_ROWS.get(name)
    groups, scores = None, {}
    if args.group:
        groups = x[args.group].to_numpy()
    for split in range(args.splits):
        train, test, folds = divide(y, groups, split, train_rows)
        for method, run in methods.items():
            parts = (Path(name).stem, len(y), args.group, split, args.time_limit, method)
            key = " ".join(map(str, (*parts, train_rows, args.pace)))
            if key not in stored:
                table = x
                if args.group and method not in ("agf_train", "before"):
                    table = x.drop(columns=args.group)
                divided = ((table.iloc[rows], y[rows]) for rows in (train, test))
                stored[key], lines = measure(method, run, *divided, folds, args.time_limit)
                if lines:
                    print(*lines, sep="\n")
                if args.state:
                    with open(args.state, "a") as file:
                        print(json.dumps([key, stored[key]]), file=file)
            scores.setdefault(method, []).append(stored[key])
            print(
                f"    {method:21s} {stored[key]['log_loss']:.4f}  {stored[key]['accuracy']:.4f}"
                f"  {stored[key]['seconds']:.1f} s",
                flush=True,
            )
    return scores


if __name__ == "__main__":
    main()
