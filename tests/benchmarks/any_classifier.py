"""Classifiers of scikit-learn in several configurations, beside its own wrappers, on held-out rows.

    python tests/benchmarks/any_classifier.py [--splits 5] [--rows 1500] [--json FILE]
        [--classifiers NAME ...] [--configurations NAME ...] --data DATA ...

DATA: a file of LIBSVM text, or `digits` or `wine` of scikit-learn.  For each classifier: accuracy,
log loss, calibration error (of the answer, ten bins) and seconds of a processor, means over the
splits; and the difference of the log loss from that of OneVsRestClassifier with the standard error
of the paired differences.
"""

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_digits, load_svmlight_file, load_wine  # noqa: E402
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402
from sklearn.multiclass import (
    OneVsOneClassifier,
    OneVsRestClassifier,  # noqa: E402
    OutputCodeClassifier,
)
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

from agfmc.estimators import MultiClassFromBinary  # noqa: E402

CLASSIFIERS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "SVC": make_pipeline(StandardScaler(), SVC(C=10)),
    "HistGradientBoosting": HistGradientBoostingClassifier(max_iter=60, random_state=0),
    "ExtraTrees": ExtraTreesClassifier(100, random_state=0),
    "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
}
CONFIGURATIONS = ("one-vs-rest", "one-vs-one", "orthogonal", "ensemble")


def contenders(classifier, k, configurations=CONFIGURATIONS):
    """{name: estimator}, the first one the reference; k: number of classes."""
    models = {
        "OneVsRestClassifier": OneVsRestClassifier(classifier),
        "OneVsOneClassifier": OneVsOneClassifier(classifier),
        "OutputCodeClassifier": OutputCodeClassifier(classifier, code_size=2, random_state=0),
        "its own": clone(classifier),
    }
    for control in configurations:
        if control != "orthogonal" or k % 4 == 0 or k == 10:
            models[control] = MultiClassFromBinary(control, estimator=classifier)
    return models


def scores(model, x, y, test, truth):
    """{name: value} of one model on one split."""
    start = time.process_time()
    classes = model.fit(x, y).predict(test)
    result = {"accuracy": float((classes == truth).mean()), "log_loss": np.nan, "error": np.nan}
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(test)
        result["log_loss"] = float(
            -np.log(np.maximum(p[np.arange(len(truth)), truth], 1e-15)).mean()
        )
        confidence, right = p.max(axis=1), p.argmax(axis=1) == truth
        bins = np.minimum((confidence * 10).astype(int), 9)
        result["error"] = float(
            sum(abs((confidence - right)[bins == number].sum()) for number in range(10))
            / len(truth)
        )
    return {**result, "seconds": time.process_time() - start}


def data(name):
    """x (n, d), y (n,) from 0."""
    if name in ("digits", "wine"):
        x, y = (load_digits if name == "digits" else load_wine)(return_X_y=True)
    else:
        x, y = load_svmlight_file(name)
        x = x.toarray()
    return x, np.unique(y, return_inverse=True)[1]


def main():
    """Print a table for each data set and classifier."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="+", required=True)
    parser.add_argument("--classifiers", nargs="+", choices=CLASSIFIERS, default=list(CLASSIFIERS))
    parser.add_argument("--configurations", nargs="*", default=CONFIGURATIONS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1500, help="training rows at most")
    parser.add_argument("--json", help="file that results are appended to")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in args.data:
        x, y = data(name)
        for kind in args.classifiers:
            results = {}
            for seed in range(1, args.splits + 1):
                a, test, ya, truth = train_test_split(
                    x, y, test_size=0.3, stratify=y, random_state=seed
                )
                a, ya = a[: args.rows], ya[: args.rows]
                for one, model in contenders(
                    CLASSIFIERS[kind], y.max() + 1, args.configurations
                ).items():
                    row = scores(model, a, ya, test, truth)
                    results.setdefault(one, []).append(row)
                    if args.json:
                        with open(args.json, "a") as file:
                            print(
                                json.dumps(
                                    {
                                        "data": Path(name).stem,
                                        "split": seed,
                                        "classifier": kind,
                                        "model": one,
                                        **row,
                                    }
                                ),
                                file=file,
                            )
            print(*table(Path(name).stem, kind, results), sep="\n", flush=True)


def table(name, kind, results):
    """The lines of a table of means over the splits."""
    yield f"{name}, {kind}"
    base = np.array([row["log_loss"] for row in results["OneVsRestClassifier"]])
    for one, rows in results.items():
        mean = {key: np.mean([row[key] for row in rows]) for key in rows[0]}
        lost = np.array([row["log_loss"] for row in rows]) - (0 if np.isnan(base).any() else base)
        error = lost.std(ddof=1) / np.sqrt(len(lost)) if len(lost) > 1 else np.nan
        yield (
            f"  {one:22s} accuracy {mean['accuracy']:.4f}  log loss {mean['log_loss']:.4f}  "
            f"difference {lost.mean():+.4f} +- {error:.4f}  calibration error "
            f"{mean['error']:.4f}  {mean['seconds']:.1f} s"
        )


if __name__ == "__main__":
    main()
