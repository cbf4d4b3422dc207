#!/usr/bin/env python3
"""agf_train on held-out rows, beside scikit-learn's SVC after a grid search and boosted trees.

Each file is divided several times, 30 % of each class held out: LIBSVM text (.svm, labels 0 to
k-1), or a table (.csv) with a column named species, class, label or target; `made` makes a table
of 2000 rows with numbers, words, blanks and an id.  All have the same rows, and tables the same
columns: of scikit-learn's, numbers with the median for blanks, words as 0 and 1.

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

    python tests/benchmarks/agf_train.py [--splits N] [--time-limit T] [--rows N] [--before FOLDER]
        [--only METHOD,...] FILE ...
"""

import argparse
import importlib.util
import os
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
from sklearn.model_selection import cross_val_score, GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from agfmc.cli.option_types import time_span  # noqa: E402

JOBS = 2
LABELS, SEARCHED = ("species", "class", "label", "target"), 5000
LEFT_OUT = ("id", "comments", "year")


def made(rows=2000, seed=1):
    """A table with five classes of unequal sizes, overlapping; numbers, words and blanks."""
    rng = np.random.default_rng(seed)
    y = rng.choice(5, rows, p=[.4, .25, .2, .1, .05])
    z = rng.normal(size=(5, 6))[y] + 1.3 * rng.normal(size=(rows, 6))
    table = pandas.DataFrame(np.round(np.c_[z[:, :3], np.exp(z[:, 3]), z[:, 4] * z[:, 5]], 3),
                             columns=["length", "width", "height", "mass", "product"])
    table["sites"] = np.array(["north", "south", "east", "west"])[
        (y + rng.choice(4, rows, p=[.55, .15, .15, .15])) % 4]
    table["sex"] = np.where(z[:, 5] + rng.normal(size=rows) > 0, "m", "f")
    table = table.mask(rng.random(table.shape) < .04)
    table.insert(0, "id", [f"r{i}" for i in range(rows)])
    return table.assign(species=np.array(["ash", "elm", "fir", "oak", "yew"])[y])


def read(name):
    """(table of features, classes) of a file."""
    if name.endswith(".svm"):
        x, y = load_svmlight_file(name)
        x = pandas.DataFrame(x.toarray().astype(np.float32))
        return x.set_axis([f"x{i}" for i in x], axis=1), y.astype(int).astype(str)
    table = made() if name == "made" else pandas.read_csv(name)
    label = next(one for one in LABELS if one in table)
    return table.drop(columns=[label, *(set(LEFT_OUT) & set(table))]), \
        table[label].to_numpy().astype(str)


def ours(train, test, limit, root=ROOT):
    """Probabilities (n, k) of agf_train, its classes, and its comments."""
    from agfmc.data.from_table import read_table
    from agfmc.data.types import InputFormat
    from agfmc import Classifier, load
    from agfmc.tables.types import ColumnRoles

    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("train.csv", "test.csv", "m.mbm")]
        for path, (x, y) in zip(paths, (train, test)):
            x.assign(the_class=y).to_csv(path, index=False)
        done = subprocess.run(
            [sys.executable, Path(root) / "bin" / "agf_train", "--label=the_class", "-E", "median",
             "-j2", f"--time-limit={limit}", "--quiet", paths[0], paths[2]], check=True, text=True,
            capture_output=True, env={**os.environ, "PYTHONPATH": str(root)})
        model = load(paths[2])
        form = InputFormat("table", roles=ColumnRoles(label="the_class"))
        data = read_table(paths[1], form, model.recipe)
        p = Classifier(model).probabilities(np.asarray(data.x))
    comments = done.stdout.partition("mkdir")[0].splitlines()
    return p, np.array(model.recipe.classes), comments


def encoder(scaled):
    numbers = [SimpleImputer(strategy="median")] + [StandardScaler()] * scaled
    return make_column_transformer(
        (make_pipeline(*numbers), make_column_selector(dtype_include=np.number)),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(
            handle_unknown="ignore", sparse_output=False)),
         make_column_selector(dtype_exclude=np.number)))


def searched_svc(x, y):
    few = slice(None)
    if len(y) > SEARCHED:
        few = train_test_split(np.arange(len(y)), train_size=SEARCHED, stratify=y,
                               random_state=0)[0]
    d = encoder(True).fit_transform(x).shape[1]
    grid = {"svc__C": [1, 16, 256], "svc__gamma": [1 / 4 / d, 1 / d, 4 / d]}
    search = GridSearchCV(make_pipeline(encoder(True), SVC()), grid, cv=3, n_jobs=JOBS)
    search.fit(x.iloc[few], y[few])
    return search.best_estimator_.set_params(svc__probability=True).fit(x, y)


def default_lightgbm(x, y):
    return make_pipeline(encoder(False), LGBMClassifier(
        n_jobs=JOBS, verbosity=-1, random_state=0)).fit(x, y)


def extra_trees(x, y):
    return make_pipeline(encoder(False), ExtraTreesClassifier(
        500, min_samples_leaf=1, n_jobs=JOBS, random_state=0)).fit(x, y)


def searched_lightgbm(x, y, seconds):
    rng, end, best = np.random.default_rng(0), time.monotonic() + seconds, (-np.inf, None)
    while best[1] is None or time.monotonic() < end:
        model = make_pipeline(encoder(False), LGBMClassifier(
            n_jobs=JOBS, verbosity=-1, random_state=0, learning_rate=2 ** rng.uniform(-6, -2),
            num_leaves=int(2 ** rng.uniform(2, 6)), n_estimators=int(2 ** rng.uniform(5, 9)),
            min_child_samples=int(2 ** rng.uniform(1, 5)), extra_trees=bool(rng.integers(2))))
        score = cross_val_score(model, x, y, cv=5, scoring="neg_log_loss").mean()
        best = max(best, (score, model), key=lambda pair: pair[0])
    return best[1].fit(x, y)


def flaml(x, y, seconds):
    from flaml import AutoML

    model = make_pipeline(encoder(False), AutoML(
        task="classification", metric="log_loss", time_budget=seconds, n_jobs=JOBS, verbose=0,
        seed=0))
    return model.fit(x, y)


def boosting(x, y):
    return make_pipeline(encoder(False), HistGradientBoostingClassifier(
        random_state=0)).fit(x, y)


def stopped_boosting(x, y):
    return make_pipeline(encoder(False), HistGradientBoostingClassifier(
        early_stopping=True, learning_rate=.05, max_iter=300, random_state=0)).fit(x, y)


OTHERS = {"LightGBM": default_lightgbm, "SVC": searched_svc, "ExtraTrees": extra_trees,
          "boosting": boosting, "boosting, early stop": stopped_boosting}
SEARCHED_IN_TIME = {"searched": searched_lightgbm,
                    **({"FLAML": flaml} if importlib.util.find_spec("flaml")
                       and hasattr(importlib.import_module("flaml"), "AutoML") else {})}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--time-limit", default="5:00")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--before")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    roots = {"agf_train": ROOT, **({"before": args.before} if args.before else {})}
    limit = time_span(args.time_limit)
    others = {**OTHERS, **{name: partial(function, seconds=limit)
                           for name, function in SEARCHED_IN_TIME.items()}}
    methods = [name for name in (*roots, *others)
               if not args.only or name in ("agf_train", *args.only.split(","))]
    warnings.simplefilter("ignore")
    for name in args.files:
        x, y = read(name)
        if args.rows and args.rows < len(y):
            few = train_test_split(np.arange(len(y)), train_size=args.rows, stratify=y,
                                   random_state=0)[0]
            x, y = x.iloc[few].reset_index(drop=True), y[few]
        print(f"{name}: {len(y)} rows, {x.shape[1]} columns, {len(set(y))} classes", flush=True)
        scores = {}
        for split in range(args.splits):
            train, test = train_test_split(np.arange(len(y)), test_size=.3, stratify=y,
                                           random_state=split)
            for method in methods:
                start = time.perf_counter()
                if method in roots:
                    p, classes, comments = ours((x.iloc[train], y[train]), (x.iloc[test], y[test]),
                                                args.time_limit, roots[method])
                    print("\n".join(comments), flush=True)
                else:
                    model = others[method](x.iloc[train], y[train])
                    p, classes = model.predict_proba(x.iloc[test]), model.classes_
                seconds = time.perf_counter() - start
                scores.setdefault(method, []).append((
                    log_loss(y[test], p[:, np.argsort(classes)], labels=np.sort(classes)),
                    accuracy_score(y[test], classes[p.argmax(1)]), seconds))
                print(f"    {method:21s} " + "  ".join(
                    f"{value:.4f}" for value in scores[method][-1]), flush=True)
        for method, values in scores.items():
            (loss, accuracy, seconds), spread = np.mean(values, 0), np.std(values, 0, ddof=1)
            apart = np.array(values)[:, 0] - np.array(scores["agf_train"])[:, 0]
            print(f"  {method:21s} log loss {loss:.4f}±{spread[0]:.4f}  accuracy {accuracy:.4f}±"
                  f"{spread[1]:.4f}  {seconds:7.1f} s  {apart.mean():+.4f} "
                  f"(standard error {apart.std(ddof=1) / len(apart)**.5:.4f})", flush=True)


if __name__ == "__main__":
    main()
