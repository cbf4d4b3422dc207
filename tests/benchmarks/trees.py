"""Boosted trees as binary learners, beside multi-class boosters with equal work.

    python tests/benchmarks/trees.py [--rows N] [--splits N] FILE.svm ...

For each split (70 % of the points for training, N at most): log loss and accuracy on the other
points, 4000 at most, of ten random trees of binary boosters, one-vs-rest and one-vs-one by
`learner=trees`, and of LightGBM's multi-class booster (random thresholds, early stopping and
a temperature on a fifth, then all training points): one, the average of ten seeds, and the best of
eight settings by that fifth.  The last lines are means over the splits, and differences from the
ten random trees with the standard errors of paired differences.
"""

import argparse
import itertools
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import lightgbm  # noqa: E402
import numpy as np  # noqa: E402
from scipy.optimize import minimize_scalar  # noqa: E402
from sklearn.datasets import load_svmlight_file  # noqa: E402

import agfmc  # noqa: E402

CONTROLS = {"ten random trees": "ensemble", "one-vs-rest": "one-vs-rest",
            "one-vs-one": "one-vs-one"}
MOST_PAIRED = 12  # classes, for one-vs-one


def losses(p, y):
    """The log loss (n,) of each point."""
    return -np.log(np.clip(p[np.arange(len(y)), y], 1e-15, 1))


def tempered(p_valid, y_valid, p):
    """p with the temperature that suits holdout data, and a floor of .001."""
    def powered(q, t):
        q = np.clip(q, 1e-12, 1) ** t
        return q / q.sum(axis=1, keepdims=True)

    best = minimize_scalar(lambda t: losses(powered(p_valid, np.exp(t)), y_valid).mean(),
                           bounds=(-2.5, 2), method="bounded")
    return 0.999 * powered(p, np.exp(best.x)) + 0.001 / p.shape[1]


def boosters(x, y, new, k):
    """{name: p (n, k)} of LightGBM's multi-class boosters."""
    out = np.random.default_rng(0).random(len(y)) < 0.2

    def boost(seed=0, **settings):
        settings = {"objective": "multiclass", "num_class": k, "verbosity": -1, "num_threads": 1,
                    "extra_trees": True, "seed": seed, **settings}
        data = lightgbm.Dataset(x[~out], y[~out])
        first = lightgbm.train(settings, data, 400, [data.create_valid(x[out], y[out])],
                               callbacks=[lightgbm.early_stopping(20, verbose=False)])
        model = lightgbm.train(settings, lightgbm.Dataset(x, y), first.best_iteration)
        return first.predict(x[out]), model.predict(new)

    ten = [boost(seed) for seed in range(10)]
    settings = [dict(zip(("learning_rate", "num_leaves", "min_data_in_leaf"), values))
                for values in itertools.product((0.05, 0.1), (15, 63), (5, 20))]
    searched = min((boost(**one) for one in settings),
                   key=lambda pair: losses(tempered(pair[0], y[out], pair[0]), y[out]).mean())
    rows = {"one booster": ten[0], "ten boosters": tuple(sum(part) / 10 for part in zip(*ten)),
            "searched booster": searched}
    return {name: tempered(held, y[out], p) for name, (held, p) in rows.items()}


def designs(x, y, new, k):
    """{name: p (n, k)} of the configurations of binary boosters."""
    rows = {}
    for name, control in CONTROLS.items():
        if control == "one-vs-one" and k > MOST_PAIRED:
            continue
        tree = agfmc.design(control, range(k))
        model = agfmc.train(tree, x, y, options="learner=trees")
        rows[name] = agfmc.Classifier(model).probabilities(new)
    return rows


def main():
    """Print the scores of each split, then their means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("files", nargs="+", metavar="FILE.svm")
    args = parser.parse_args()
    for file in args.files:
        x, y = load_svmlight_file(file)
        x, y = x.toarray(), np.unique(y, return_inverse=True)[1].astype(np.int32)
        k, scores = int(y.max()) + 1, {}
        for split in range(args.splits):
            order = np.random.default_rng(split).permutation(len(y))
            cut = int(0.7 * len(y))
            train, test = order[:min(cut, args.rows)], order[cut:][:4000]
            for make in (designs, boosters):
                start = time.process_time()
                made = make(x[train], y[train], x[test], k)
                for name, p in made.items():
                    one = losses(p, y[test])
                    right = p.argmax(axis=1) == y[test]
                    scores.setdefault(name, []).append((one.mean(), right.mean()))
                print(f"{file} split {split}: {make.__name__} {time.process_time() - start:.0f} s, "
                      + ", ".join(f"{name} {scores[name][-1][0]:.4f}" for name in made), flush=True)
        base = np.array(scores["ten random trees"])[:, 0]
        for name, values in scores.items():
            values = np.array(values)
            difference = values[:, 0] - base
            error = difference.std(ddof=1) / np.sqrt(len(base)) if len(base) > 1 else np.nan
            print(f"{file} {name:18s} log loss {values[:, 0].mean():.4f} accuracy "
                  f"{values[:, 1].mean():.4f} less ten trees {difference.mean():+.4f} "
                  f"+- {error:.4f}", flush=True)


if __name__ == "__main__":
    main()
