#!/usr/bin/env python3
"""A rare class: what weights of classes and costs of mistakes change, on held-out points.

    python tests/benchmarks/rare_class.py [--splits N] [--learner OPTIONS ...] [DATA.svm ...]

One class of each set has one point in a hundred.  Classes are answered without more ado; with
`--class-weight balanced`; with costs, where to miss the rare class costs as much as `MISSED` other
mistakes; with both; and with both after the probabilities were turned back to the proportions of
the training data, `--priors training`.  Of the test points, which have these proportions too:
recall and precision of the rare class, balanced accuracy, accuracy, mean cost, and log loss of the
probabilities; means and standard deviations over the splits.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import agfmc  # noqa: E402
from agfmc.api.functions import scores  # noqa: E402
from agfmc.data.weights import with_final_weights  # noqa: E402
from agfmc.data.libsvm import read_svm  # noqa: E402
from agfmc.data.types import Dataset, InputFormat  # noqa: E402
from agfmc.core.splits import split_stratified, stratified_sample  # noqa: E402
from agfmc.prediction.calibrate import calibrated  # noqa: E402
from agfmc.designs.design import design  # noqa: E402
from agfmc.training.fit import TrainingSettings  # noqa: E402
from agfmc.training.in_memory import train_configuration  # noqa: E402

SHARE, MISSED, POINTS = 0.01, 20.0, 6000
LEARNERS = "-c 8", "learner=nystrom -m 300", "learner=logistic"
COLUMNS = "recall", "precision", "balanced", "accuracy", "cost", "log loss"


def shuttle_like(generator):
    """Nine numbers of four classes with shares as in the shuttle data; the last class is rare."""
    y = generator.choice(4, POINTS, p=[0.78, 0.155, 0.055, SHARE])
    centre = generator.normal(size=(4, 9))
    spread = np.array([1.5, 1.0, 0.8, 0.7])
    turned = generator.normal(size=(4, 9, 9)) / 3
    x = generator.normal(size=(POINTS, 9))
    return centre[y] + spread[y, None] * np.einsum("ij,ijk->ik", x, turned[y]), y, 3


def ordered(generator):
    """Eight classes that are parts of a range, of twenty numbers, as in the ordered sample."""
    n = POINTS * 7 // 6
    x = generator.uniform(-1, 1, (n, 20))
    t = x @ np.cos(np.arange(20)) + 0.3 * generator.normal(size=n)
    y = np.searchsorted(np.quantile(t, np.arange(1, 8) / 8), t)
    return *thinned(x, y, 3, generator), 3


def thinned(x, y, rare, generator):
    """The points with so few of the class `rare` that these are one in a hundred."""
    others, own = np.flatnonzero(y != rare), np.flatnonzero(y == rare)
    keep = generator.permutation(own)[:round(len(others) * SHARE / (1 - SHARE))]
    rows = np.sort(np.concatenate([others, keep]))
    return x[rows], y[rows]


def from_file(path, generator):
    """At most so many points of LIBSVM text; its smallest class becomes the rare one."""
    data = read_svm(path, InputFormat("svm"), None)
    x, y = np.asarray(data.x), np.unique(data.y, return_inverse=True)[1]
    rows = stratified_sample(y, POINTS, 1)
    x, y = x[rows], y[rows]
    rare = int(np.bincount(y).argmin())
    return *thinned(x, y, rare, generator), rare


def answers(x, y, test, classes, learner):
    """{way: (classes, probabilities)} of the test points."""
    k = int(y.max()) + 1
    cost = np.ones((k, k)) - np.eye(k)
    cost[classes] *= MISSED
    made = {}
    for way, wanted in (("none", None), ("balanced", "balanced")):
        data = with_final_weights(Dataset(x, y), None, wanted)
        tree = design("one-vs-one", list(range(k)), x=x, y=y)
        model = calibrated(*train_configuration(
            tree, x, y, TrainingSettings(learner, scale=True), weights=data.weights))
        for name, more in (
                (way, {}), ("costs" if wanted is None else "balanced, costs", {"costs": cost}),
                ("balanced, training, costs", {"costs": cost, "priors": "training"})):
            if "priors" in more and wanted is None:
                continue
            classifier = agfmc.Classifier(model, agfmc.Decoding(**more))
            p = classifier.probabilities(test)
            made[name] = classifier.classify(test).classes, p
    return made, cost


def measured(truth, found, rare, cost):
    """The numbers of `COLUMNS`."""
    classes, p = found
    all_scores = scores(truth, classes, p, np.arange(len(cost)))
    own = all_scores["by_class"][rare]
    precision = own["precision"]
    return (own["recall"], np.nan if precision is None else precision,
            all_scores["balanced_accuracy"], all_scores["accuracy"],
            cost[truth, classes].mean(), all_scores["log_loss"])


def main():
    """Print a table for each learner and set of data."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--learner", action="append")
    parser.add_argument("data", nargs="*", help="LIBSVM text")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = [("shuttle-like", shuttle_like), ("ordered", ordered)]
    sets += [(path.split("/")[-1], lambda generator, path=path: from_file(path, generator))
             for path in args.data]
    for learner in args.learner or LEARNERS:
        for name, make in sets:
            found = {}
            for split in range(args.splits):
                x, y, rare = make(np.random.default_rng(100 + split))
                y = y.astype(np.int32)
                train, test = split_stratified(y, 0.5, split)
                made, cost = answers(x[train], y[train], x[test], rare, learner)
                for way, answer in made.items():
                    found.setdefault(way, []).append(measured(y[test], answer, rare, cost))
            print(f"\n{name}, one-vs-one, {learner}; {args.splits} splits, {len(test)} test "
                  f"points, {np.bincount(y[test])[rare]} of the rare class")
            print(f"{'':26}" + "".join(f"{column:>15}" for column in COLUMNS))
            for way, rows in found.items():
                mean, sd = np.nanmean(rows, axis=0), np.nanstd(rows, axis=0, ddof=1)
                print(f"{way:26}" + "".join(f"{a:9.3f}{f'({b:.3f})':>6}"[:16].rjust(15)
                                            for a, b in zip(mean, sd)), flush=True)


if __name__ == "__main__":
    main()
