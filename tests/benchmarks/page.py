"""The page of benchmarks of the site: class probabilities beside those of other packages.

    python tests/benchmarks/page.py               # print the page, from stored results
    python tests/benchmarks/page.py --run         # compute the results anew, and store them
    python tests/benchmarks/page.py --run --splits 2 --data wine --results FILE

Each data set is split five times, 30 % of each class held out; all methods see the same splits.
The part on agf_train is computed by `python tests/benchmarks/agf_train.py --page`.
"""

import argparse
import json
import os
import platform
import sys
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).with_name("page.json")
SEARCHES = Path(__file__).with_name("agf_train.json")
SAMPLES = ("digits", "wine", "iris", "ordered")
ABOUT = {
    "digits": "1797 images of ten digits, 64 features",
    "wine": "178 wines of 3 sorts, 13 features",
    "iris": "150 flowers of 3 species, 4 features",
    "ordered": "1000 points of 8 ordered classes that overlap, 20 features (`sample_data`)",
}
ABOUT_SEARCHES = {
    "balance": "625 loads of a balance, a rule of four numbers",
    "car": "1728 combinations of six words, a rule in steps",
    "nursery": "2500 of 12,960 combinations of eight words, a rule with exceptions",
    "sensors": "2500 moves of a robot, a rule of thresholds of 3 of 24 distances",
    "shells": "2500 shells, noise: the best possible log loss is {bound:.4f}",
    "ship": "900 passengers: numbers, words, blanks",
    "wine": ABOUT["wine"],
}


def methods():
    """{name: estimator}; the first is the reference of the differences."""
    from lightgbm import LGBMClassifier
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    from agfmc.estimators import MultiClassFromBinary

    def scaled(model):
        return make_pipeline(StandardScaler(), model)

    svm = {"learner": "svm", "gamma": "scale", "C": 1.0}
    return {
        "agfmc, one-vs-one": scaled(MultiClassFromBinary("one-vs-one", **svm)),
        "agfmc, one-vs-rest": scaled(MultiClassFromBinary("one-vs-rest", **svm)),
        "SVC(probability=True)": scaled(SVC(probability=True, random_state=0)),
        "CalibratedClassifierCV(SVC(), ensemble=False)": scaled(
            CalibratedClassifierCV(SVC(), ensemble=False)
        ),
        "CalibratedClassifierCV(SVC())": scaled(CalibratedClassifierCV(SVC())),
        "LogisticRegression": scaled(LogisticRegression(max_iter=2000)),
        "HistGradientBoostingClassifier": HistGradientBoostingClassifier(random_state=0),
        "LGBMClassifier": LGBMClassifier(verbose=-1, n_jobs=1, random_state=0),
    }


def points(name):
    """Points (n, d) and classes (n,) of a data set."""
    import numpy as np
    from sklearn import datasets

    if name == "ordered":
        base = ROOT / "sample_data" / "ordered"
        x = np.fromfile(f"{base}.vec", "<f4", offset=4)
        y = np.fromfile(f"{base}.cls", "<i4")
        return x.reshape(len(y), -1).astype(float), y
    return getattr(datasets, f"load_{name}")(return_X_y=True)


def run(names, splits):
    """The results: versions, and for each data set and method a list of scores for each split."""
    from importlib.metadata import version

    from sklearn.base import clone
    from sklearn.metrics import accuracy_score, log_loss
    from sklearn.model_selection import train_test_split

    sys.path.insert(0, str(ROOT))
    warnings.simplefilter("ignore")
    scores = {}
    for name in names:
        x, y = points(name)
        for seed in range(splits):
            train, test, truth, held = train_test_split(
                x, y, test_size=0.3, stratify=y, random_state=seed
            )
            for method, model in methods().items():
                begin = time.process_time()
                fitted = clone(model).fit(train, truth)
                seconds = time.process_time() - begin
                p = fitted.predict_proba(test)
                scores.setdefault(name, {}).setdefault(method, []).append(
                    {
                        "log_loss": log_loss(held, p),
                        "seconds": seconds,
                        "accuracy": accuracy_score(held, fitted.predict(test)),
                    }
                )
                print(name, seed, method, scores[name][method][-1], file=sys.stderr)
    return {
        "versions": {
            "Python": platform.python_version(),
            **{package: version(package) for package in ("scikit-learn", "lightgbm", "numpy")},
        },
        "splits": splits,
        "scores": scores,
    }


def table(rows):
    """The lines of a table for one data set; rows: {method: [scores of a split, ...]}."""
    reference = next(iter(rows))
    smallest = min(_mean(_of(one, "log_loss")) for one in rows.values())
    yield "| method | log loss | difference | accuracy | training (s) |"
    yield "|---|---|---|---|---|"
    for method, one in rows.items():
        loss = _mean(_of(one, "log_loss"))
        gaps = [a - b for a, b in zip(_of(one, "log_loss"), _of(rows[reference], "log_loss"))]
        gap = "reference" if method == reference else f"{_mean(gaps):+.4f} ± {_error(gaps):.4f}"
        bold = "**" if loss == smallest else ""
        yield (
            f"| {method} | {bold}{loss:.4f}{bold} | {gap} | {_mean(_of(one, 'accuracy')):.4f} "
            f"| {_mean(_of(one, 'seconds')):.2f} |"
        )


def _of(one, key):
    return [split[key] for split in one]


def _mean(values):
    return sum(values) / len(values)


def _error(values):
    """The standard error of a mean over the splits."""
    mean = _mean(values)
    return (sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)) ** 0.5


def page(stored):
    """The page, in Markdown."""
    versions = ", ".join(f"{name} {number}" for name, number in stored["versions"].items())
    lines = [
        "# Benchmarks",
        "",
        f"Class probabilities on held-out points: means over {stored['splits']} random "
        "splits with 30 % of each class for testing. All methods see the same splits. Support "
        'vector machines have C = 1 and gamma = "scale" on normalised features; '
        "every other option "
        "is the package's default. A smaller log loss is better; the smallest is bold. "
        "Differences are from the first row, with the standard error over the splits. "
        "Times are seconds of one processor for training, with calibration.",
        "",
        f"Versions: {versions}. `python tests/benchmarks/page.py --run` computes the numbers anew.",
    ]
    for name, rows in stored["scores"].items():
        lines += ["", f"## {name}", "", ABOUT[name] + ".", "", *table(rows)]
    return "\n".join([*lines, "", *search_lines(results(SEARCHES))])


def search_lines(searches):
    """The part of the page on agf_train."""
    yield "## One command"
    yield ""
    yield (
        f"`agf_train --time-limit {searches['time_limit']} -j 1` beside others on the same held-out "
        f"rows, divided {searches['splits']} times. Most of the tables are made by "
        "`tests/support/made_tables.py`, so that the truth is known. "
        "Differences are from `agf_train`, with the standard error over pairs of rows: where one is "
        "below zero by more than two errors, the other is better. Times are seconds of one processor. "
        "`python tests/benchmarks/agf_train.py --page` computes the numbers anew."
    )
    yield ""
    yield from _counts(searches["tables"])
    for name, rows in searches["tables"].items():
        yield ""
        yield f"### {name}"
        yield ""
        yield ABOUT_SEARCHES[name].format(bound=searches.get("bound", 0)) + "."
        yield ""
        yield from _search_table(rows)
    yield ""


def _counts(tables):
    """How often agf_train is better, equal and worse than each of the others."""
    yield "| beside | better | equal, within two errors | worse |"
    yield "|---|---|---|---|"
    names = dict.fromkeys(name for rows in tables.values() for name in rows)
    for name in names:
        if name == "agf_train":
            continue
        scores = [rows[name]["difference"] / rows[name]["error"] for rows in tables.values()]
        better, worse = sum(score > 2 for score in scores), sum(score < -2 for score in scores)
        yield f"| {name} | {better} | {len(scores) - better - worse} | {worse} |"


def _search_table(rows):
    smallest = min(row["log_loss"] for row in rows.values())
    yield "| method | log loss | difference | accuracy | training (s) | a row (microseconds) |"
    yield "|---|---|---|---|---|---|"
    for method, row in rows.items():
        gap = f"{row['difference']:+.4f} ± {row['error']:.4f}"
        if method == "agf_train":
            gap = "reference"
        loss = f"{row['log_loss']:.4f}"
        if row["log_loss"] == smallest:
            loss = f"**{loss}**"
        yield (
            f"| {method} | {loss} | {gap} | {row['accuracy']:.4f} | {row['seconds']:.1f} "
            f"| {row['microseconds']:.0f} |"
        )
    chosen = sorted(set(rows["agf_train"].get("chosen", ())))
    yield ""
    yield f"Chosen: {'; '.join(chosen)}."


def results(path=RESULTS):
    """The stored results."""
    return json.loads(path.read_text(encoding="utf-8"))


def main():
    """Print the page, or compute the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="store_true", help="compute the results, and store them")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--data", nargs="+", choices=SAMPLES, default=SAMPLES)
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    if args.run:
        os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
        text = json.dumps(run(args.data, args.splits), indent=1)
        args.results.write_text(text + "\n", encoding="utf-8")
    print(page(results(args.results)), end="")


if __name__ == "__main__":
    main()
