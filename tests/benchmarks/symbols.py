"""Classifiers of at most ten classes on many classes: codes of groups, beside other ways.

    python tests/benchmarks/symbols.py [--splits 3] [--rows 2400] [--json FILE]
        [--classifiers NAME ...] --data DATA ...

DATA: a file of LIBSVM text, or `made`, 100 classes of normal distributions.  For each way the number
of fits, and log loss and accuracy of 1000 other points, means and deviations over the splits.  All
probabilities have one temperature, fitted to a quarter of the rows, which is not trained on.
"mean of logs" is how wrappers of classifiers of few classes decode such codes; the sum of logs
differs from it by a factor alone, which the temperature takes back.
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
from sklearn.datasets import load_svmlight_file  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from agfmc.calibration.maps import apply_map, fit_temperature  # noqa: E402
from agfmc.decode.code_kinds import rows_of_groups  # noqa: E402
from agfmc.core.probabilities import losses, softmax  # noqa: E402
from agfmc.decode.front import CodeDecoder  # noqa: E402
from agfmc.designs.symbols import symbol_tree  # noqa: E402
from agfmc.estimators import MultiClassFromBinary  # noqa: E402
from agfmc.prediction.decoding import coding_matrix  # noqa: E402

CLASSIFIERS = {
    "forest": RandomForestClassifier(100, random_state=0),
    "LDA": LinearDiscriminantAnalysis(),
    "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(10)),
    "HistGradientBoosting": HistGradientBoostingClassifier(max_iter=25, random_state=0),
}
SYMBOLS = 10
CODES = ("random", "random rows=8", "random rows=16", "tree", "one-vs-one")
MOST_FITS = 60  # of a code that is tried


def data(name):
    """x (n, d), y (n,) from 0."""
    if name == "made":
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(100), 50)
        x = 1.3 * rng.normal(size=(100, 12))[y] + rng.normal(size=(len(y), 12))
        return x, y
    x, y = load_svmlight_file(name)
    return x.toarray(), np.unique(y, return_inverse=True)[1]


def logarithms(a, r, factor):
    """Softmax of the sum of the logarithms of the groups of each class, times a factor (k,)."""
    p = np.log(np.maximum((1 + r) / 2, 1e-9))
    others = np.log(np.maximum((1 - r) / 2, 1e-9))
    alone = np.zeros(len(a), dtype=bool)  # rows of two groups, of which one is the left side
    rows = [(np.flatnonzero(row < 0), np.flatnonzero(row > 0)) for row in a]
    for part in rows_of_groups(rows):
        alone[part] = part.stop == part.start + 1
    sums = p @ (a > 0) + others[:, alone] @ (a[alone] < 0)
    return softmax(sums * factor)


def ways(classifier, k, x, y):
    """Yield (name, fits, function of points that returns p)."""
    yield "its own form", 1, clone(classifier).fit(x, y).predict_proba
    for code in CODES:
        model = MultiClassFromBinary(code, estimator=classifier, symbols=SYMBOLS, calibrated=False)
        tree = symbol_tree(code, range(k), SYMBOLS)
        a = coding_matrix(tree)
        fits = len(list(rows_of_groups([(row.left, row.right) for row in tree.rows])))
        if fits > MOST_FITS:
            continue
        machines = model.fit(x, y).configuration_.machines
        cache = {}

        def values(points, machines=machines, cache=cache):
            key = id(points)
            if key not in cache:
                cache[key] = np.tanh(machines.values(points, list(range(machines.count))).T / 2)
            return cache[key]

        for decoder in ("likelihood", "least-squares"):
            solve = CodeDecoder(a, decoder)
            yield f"{code}: {decoder}", fits, lambda points: solve(values(points))[0]
        if code.startswith("random"):
            for name, factor in (("mean of logs", 1 / fits), ("sum of logs", 1.0)):
                yield (
                    f"{code}: {name}",
                    fits,
                    lambda points: logarithms(a, values(points), factor),
                )
    for control in ("one-vs-rest", "random strict=yes"):
        model = MultiClassFromBinary(control, estimator=classifier, calibrated=False).fit(x, y)
        yield f"binary {control}", len(model.configuration_.tree.rows), model.predict_proba


def main():
    """Print a table for each data set and classifier."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="+", required=True)
    parser.add_argument("--classifiers", nargs="+", choices=CLASSIFIERS, default=list(CLASSIFIERS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument(
        "--rows", type=int, default=2400, help="rows, with those of the temperature"
    )
    parser.add_argument("--json", help="file that results are appended to")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in args.data:
        x, y = data(name)
        k = y.max() + 1
        for kind in args.classifiers:
            results = {}
            for seed in range(args.splits):
                part, test, y_part, truth = train_test_split(
                    x, y, train_size=args.rows, test_size=1000, stratify=y, random_state=seed
                )
                train, apart, y_train, y_apart = train_test_split(
                    part, y_part, test_size=0.25, stratify=y_part, random_state=seed
                )
                start = time.process_time()
                for way, fits, function in ways(CLASSIFIERS[kind], k, train, y_train):
                    fitted = fit_temperature(function(apart), y_apart)
                    raw = function(test)
                    p = apply_map(fitted, raw)
                    row = {
                        "loss": losses(p, truth).mean(),
                        "raw": losses(raw, truth).mean(),
                        "accuracy": (raw.argmax(axis=1) == truth).mean(),
                        "fits": fits,
                        "seconds": time.process_time() - start,
                    }
                    start = time.process_time()
                    results.setdefault(way, []).append(row)
                    if args.json:
                        with open(args.json, "a") as file:
                            record = {"data": Path(name).stem, "classifier": kind, "split": seed}
                            print(json.dumps({**record, "way": way, **row}), file=file)
            print(f"{Path(name).stem}, {kind}")
            for way, rows in results.items():
                print(line(way, rows), flush=True)


def line(way, rows):
    """One line of the table."""
    mean = {key: np.mean([row[key] for row in rows]) for key in rows[0]}
    sd = {key: np.std([row[key] for row in rows], ddof=1) for key in rows[0]}
    return (
        f"  {way:32s} {mean['fits']:4.0f} fits  log loss {mean['loss']:.4f} +- {sd['loss']:.4f} "
        f"(raw {mean['raw']:.3f})  accuracy {mean['accuracy']:.4f} +- {sd['accuracy']:.4f}  "
        f"{mean['seconds']:.1f} s"
    )


if __name__ == "__main__":
    main()
