"""Boosted trees as binary learners, beside multi-class boosters with equal work.

    python tests/benchmarks/trees.py [--rows N] [--splits N] [--smallest-leaf N] FILE.svm ...

For each split (70 % of the points for training, N at most): log loss and accuracy on the other
points, 4000 at most, of ten random trees of binary boosters, one-vs-rest and one-vs-one by
`learner=trees`, and of LightGBM's multi-class booster (random thresholds, early stopping and
a temperature on a fifth, then all training points): one, the average of ten seeds, and the best of
eight settings by that fifth; of CatBoost in the same way where it is installed; and the seconds of
a processor that each took.  All boosters of LightGBM but the searched one have the same smallest
leaf.  The last lines are means over the splits, and differences from the ten random trees with the
standard errors of paired differences.
"""

import argparse
import importlib.util
import itertools
import os
import sys
import time
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import lightgbm  # noqa: E402
import numpy as np  # noqa: E402
from scipy.optimize import minimize_scalar  # noqa: E402
from sklearn.datasets import load_svmlight_file  # noqa: E402

import agfmc  # noqa: E402

CONTROLS = {
    "ten random trees": "ensemble",
    "one-vs-rest": "one-vs-rest",
    "one-vs-one": "one-vs-one",
}
MOST_PAIRED = 12  # classes, for one-vs-one


def losses(p, y):
    """The log loss (n,) of each point."""
    return -np.log(np.clip(p[np.arange(len(y)), y], 1e-15, 1))


def tempered(p_valid, y_valid, p):
    """p with the temperature that suits holdout data, and a floor of .001."""

    def powered(q, t):
        q = np.clip(q, 1e-12, 1) ** t
        return q / q.sum(axis=1, keepdims=True)

    best = minimize_scalar(
        lambda t: losses(powered(p_valid, np.exp(t)), y_valid).mean(),
        bounds=(-2.5, 2),
        method="bounded",
    )
    return 0.999 * powered(p, np.exp(best.x)) + 0.001 / p.shape[1]


def boosters(x, y, new, k, smallest_leaf):
    """Yield name, p (n, k) of LightGBM's multi-class boosters."""
    out = np.random.default_rng(0).random(len(y)) < 0.2

    def boost(seed=0, **settings):
        settings = {
            "objective": "multiclass",
            "num_class": k,
            "verbosity": -1,
            "num_threads": 1,
            "extra_trees": True,
            "seed": seed,
            "min_data_in_leaf": smallest_leaf,
            **settings,
        }
        data = lightgbm.Dataset(x[~out], y[~out])
        first = lightgbm.train(
            settings,
            data,
            400,
            [data.create_valid(x[out], y[out])],
            callbacks=[lightgbm.early_stopping(20, verbose=False)],
        )
        model = lightgbm.train(settings, lightgbm.Dataset(x, y), first.best_iteration)
        return first.predict(x[out]), model.predict(new)

    one = boost()
    yield "one booster", tempered(one[0], y[out], one[1])
    ten = [one] + [boost(seed) for seed in range(1, 10)]
    held, p = (sum(part) / 10 for part in zip(*ten))
    yield "ten boosters", tempered(held, y[out], p)
    settings = [
        dict(zip(("learning_rate", "num_leaves", "min_data_in_leaf"), values))
        for values in itertools.product((0.05, 0.1), (15, 63), (5, 20))
    ]
    held, p = min(
        (boost(**one) for one in settings),
        key=lambda pair: losses(tempered(pair[0], y[out], pair[0]), y[out]).mean(),
    )
    yield "searched booster", tempered(held, y[out], p)


def catboost(x, y, new, k, _):
    """Yield name, p (n, k) of CatBoost, if it is installed."""
    if importlib.util.find_spec("catboost") is None:
        return
    from catboost import CatBoostClassifier

    out = np.random.default_rng(0).random(len(y)) < 0.2
    settings = {"verbose": False, "thread_count": 1, "random_seed": 0, "allow_writing_files": False}
    first = CatBoostClassifier(iterations=400, **settings)
    first.fit(x[~out], y[~out], eval_set=(x[out], y[out]), early_stopping_rounds=20)
    model = CatBoostClassifier(iterations=first.tree_count_, **settings).fit(x, y)
    yield "CatBoost", tempered(first.predict_proba(x[out]), y[out], model.predict_proba(new))


def designs(x, y, new, k, smallest_leaf):
    """Yield name, p (n, k) of the configurations of binary boosters."""
    for name, control in CONTROLS.items():
        if control == "one-vs-one" and k > MOST_PAIRED:
            continue
        tree = agfmc.design(control, range(k))
        model = agfmc.train(tree, x, y, options=f"learner=trees -m {smallest_leaf}")
        yield name, agfmc.Classifier(model).probabilities(new)


def main():
    """Print the scores of each split, then their means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--smallest-leaf", type=int, default=20)
    parser.add_argument("files", nargs="+", metavar="FILE.svm")
    args = parser.parse_args()
    for file in args.files:
        x, y = load_svmlight_file(file)
        x, y = x.toarray(), np.unique(y, return_inverse=True)[1].astype(np.int32)
        k, scores = int(y.max()) + 1, {}
        for split in range(args.splits):
            order = np.random.default_rng(split).permutation(len(y))
            cut = int(0.7 * len(y))
            train, test = order[: min(cut, args.rows)], order[cut:][:4000]
            for make in (designs, boosters, catboost):
                start = time.process_time()
                for name, p in make(x[train], y[train], x[test], k, args.smallest_leaf):
                    one, seconds = losses(p, y[test]), time.process_time() - start
                    right = p.argmax(axis=1) == y[test]
                    scores.setdefault(name, []).append((one.mean(), right.mean(), seconds))
                    print(
                        f"{file} split {split}: {name} {one.mean():.4f}, {seconds:.1f} s",
                        flush=True,
                    )
                    start = time.process_time()
        base = np.array(scores["ten random trees"])[:, 0]
        for name, values in scores.items():
            values = np.array(values)
            difference = values[:, 0] - base
            error = difference.std(ddof=1) / np.sqrt(len(base)) if len(base) > 1 else np.nan
            print(
                f"{file} {name:18s} log loss {values[:, 0].mean():.4f} accuracy "
                f"{values[:, 1].mean():.4f} seconds {values[:, 2].mean():.1f} "
                f"less ten trees {difference.mean():+.4f} +- {error:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
