"""Kernels beside each other and beside other learners, on held-out rows of several splits.

    python tests/benchmarks/kernels.py [--splits 10] [--rows 2000] [--quick] FILE.svm ...

For each file: log loss, accuracy, number of support vectors, seconds of a processor for search and
training and for classification, means over the splits; and the differences of the log loss from
that of the Gaussian kernel with the standard error of the paired differences.  Configurations are
tuned by `agfmc.tune` on the training rows alone.  LightGBM, HistGradientBoosting and ExtraTrees (of
scikit-learn) have the same rows; LightGBM also with a random search of 8 settings.  --quick: SVMs
one-vs-one and the peers alone.
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
from sklearn.datasets import load_svmlight_file  # noqa: E402
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402

import agfmc  # noqa: E402

KERNELS = {"rbf": ("rbf",), "laplacian": ("laplacian",), "chosen": None}


def tuned(control, kernels, options=""):
    """A function of training and test rows: probabilities, support vectors, kernel chosen."""
    if kernels:  # else the options given, which are tried too, have the Gaussian kernel
        options += f" -t {kernels[0]}"

    def run(x, y, test):
        space = None if kernels is None else agfmc.SearchSpace(kernels=kernels)
        start = time.process_time()
        model, result = agfmc.tune(control, x, y, options=options, normalise=True, space=space)
        trained = time.process_time()
        p = agfmc.Classifier(model).probabilities(test)
        best = result["points"][result["best"]]["options"]
        return p, trained - start, time.process_time() - trained, len(model.machines.sv), best

    return run


def fitted(make):
    """The same for an estimator of scikit-learn's kind; make(x, y): it, fitted."""

    def run(x, y, test):
        start = time.process_time()
        model = make(x, y)
        trained = time.process_time()
        p = model.predict_proba(test)
        return p, trained - start, time.process_time() - trained, 0, ""

    return run


def lightgbm(x, y, **settings):
    """A booster that stops early, by a fifth of the rows."""
    import lightgbm as lgb

    a, b, ya, yb = train_test_split(x, y, test_size=0.2, stratify=y, random_state=0)
    model = lgb.LGBMClassifier(n_estimators=500, n_jobs=1, verbose=-1, random_state=0, **settings)
    model.fit(a, ya, eval_set=[(b, yb)], callbacks=[lgb.early_stopping(20, verbose=False)])
    return model, model.best_score_["valid_0"]["multi_logloss"]


def searched_lightgbm(x, y):
    """The best of 8 random settings on the rows that stop the boosters."""
    draw = np.random.default_rng(0)
    best = min(
        (
            lightgbm(
                x,
                y,
                num_leaves=int(draw.integers(4, 64)),
                subsample=draw.uniform(0.5, 1),
                learning_rate=10 ** draw.uniform(-2, -0.5),
                subsample_freq=1,
                min_child_samples=int(draw.integers(2, 40)),
                colsample_bytree=draw.uniform(0.3, 1),
            )
            for _ in range(8)
        ),
        key=lambda one: one[1],
    )
    return best[0]


def learners(quick):
    """{name: a function of training and test rows}."""
    made = {
        f"svm one-vs-one {name}": tuned("one-vs-one", kernels) for name, kernels in KERNELS.items()
    }
    if not quick:
        made |= {
            f"nystrom one-vs-rest {name}": tuned("one-vs-rest", kernels, "learner=nystrom -m 300")
            for name, kernels in KERNELS.items()
        }
    return made | {
        "LightGBM": fitted(lambda x, y: lightgbm(x, y)[0]),
        "LightGBM searched": fitted(searched_lightgbm),
        "HistGradientBoosting": fitted(
            lambda x, y: HistGradientBoostingClassifier(early_stopping=True, random_state=0).fit(
                x, y
            )
        ),
        "ExtraTrees": fitted(
            lambda x, y: ExtraTreesClassifier(500, random_state=0, n_jobs=1).fit(x, y)
        ),
    }


def scored(path, args):
    """{learner: list of results of the splits}."""
    x, y = load_svmlight_file(path)
    x, y = x.toarray(), np.unique(y, return_inverse=True)[1]
    results = {}
    for seed in range(1, args.splits + 1):
        a, test, ya, truth = train_test_split(x, y, test_size=0.3, stratify=y, random_state=seed)
        if len(a) > args.rows:
            a, _, ya, _ = train_test_split(
                a, ya, train_size=args.rows, stratify=ya, random_state=seed
            )
        for name, run in learners(args.quick).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                p, train_s, test_s, sv, best = run(a, ya, test)
            loss = -np.log(np.maximum(p[np.arange(len(truth)), truth], 1e-15)).mean()
            one = {
                "log_loss": float(loss),
                "accuracy": float((p.argmax(1) == truth).mean()),
                "sv": sv,
                "train_s": train_s,
                "test_s": test_s,
                "best": best,
            }
            results.setdefault(name, []).append(one)
            if args.json:
                with open(args.json, "a") as file:
                    json.dump(
                        {"file": Path(path).stem, "split": seed, "learner": name, **one}, file
                    )
                    file.write("\n")
    return results


def table(name, results):
    """The lines of a table of means over the splits."""
    yield f"{name}: {len(next(iter(results.values())))} splits"
    yield (
        f"{'learner':32s} {'log loss':>9s} {'accuracy':>9s} {'sv':>6s} {'train s':>8s} "
        f"{'test s':>7s}  log loss less that of rbf one-vs-one"
    )
    losses = {key: np.array([one["log_loss"] for one in rows]) for key, rows in results.items()}
    for key, rows in results.items():
        mean = {
            column: np.mean([one[column] for one in rows])
            for column in ("accuracy", "sv", "train_s", "test_s")
        }
        lost = losses[key] - losses["svm one-vs-one rbf"]
        error = lost.std(ddof=1) / np.sqrt(len(lost)) if len(lost) > 1 else np.nan
        yield (
            f"{key:32s} {losses[key].mean():9.4f} {mean['accuracy']:9.4f} {mean['sv']:6.0f} "
            f"{mean['train_s']:8.2f} {mean['test_s']:7.3f}  {lost.mean():+.4f} +- {error:.4f}"
        )


def main():
    """Print a table for each file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rows", type=int, default=2000, help="training rows at most")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", help="file that results are appended to")
    args = parser.parse_args()
    for path in args.files:
        print("\n".join(table(Path(path).stem, scored(path, args))), flush=True)


if __name__ == "__main__":
    main()
