"""Averages across learners, with learned weights, beside the best single one, on held-out rows.

    python -W ignore tests/benchmarks/families.py [--rows N] [--splits N] DATA ...

DATA: a file of LIBSVM text, `digits` or `wine` of scikit-learn, or vowel.csv, whose speakers are
divided neither here nor by the folds of the training.  For each split (70 % of the points for
training, N at most; 4000 others at most for the test): log loss and accuracy of three families
(one-vs-one support vector machines, and one-vs-rest by `learner=nystrom`, with options found by
cross-validation; ten random trees by `learner=trees`), of the best of them by held-out training
points, and of their average with equal and with learned weights; seconds of a processor. The last
lines are means over the splits, and differences from the best single family with the standard
errors of paired differences.
"""

import argparse
import csv
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np  # noqa: E402

import agfmc  # noqa: E402
import any_classifier  # noqa: E402
from agfmc.api.functions import search_options  # noqa: E402
from agfmc.control.build import with_heading  # noqa: E402
from agfmc.data.groups import with_groups  # noqa: E402
from agfmc.data.weights import chosen_rows  # noqa: E402
from agfmc.models.join import join  # noqa: E402
from agfmc.prediction.calibrate import fit_calibration  # noqa: E402
from agfmc.prediction.member_weights import with_learned_weights  # noqa: E402
from agfmc.prediction.decoding import decoders_of  # noqa: E402
from agfmc.training.fit import TrainingSettings  # noqa: E402
from agfmc.training.in_memory import train_configuration  # noqa: E402

FAMILIES = {
    "machines": ("one-vs-one", ""),
    "trees": ("ensemble", "learner=trees"),
    "nystrom": ("one-vs-rest", "learner=nystrom"),
}


def data(name):
    """A `Dataset` with labels from 0, and, of vowel.csv, the speakers as groups."""
    if not name.endswith(".csv"):
        (x, y), groups = any_classifier.data(name), None
    else:
        with open(name, newline="") as file:
            rows = list(csv.DictReader(file))
        x = np.array([[float(row[f"f{number}"]) for number in range(10)] for row in rows])
        y = np.unique([row["vowel"] for row in rows], return_inverse=True)[1]
        groups = [row["speaker"] for row in rows]
    return with_groups(agfmc.Dataset(x[:, x.std(axis=0) > 0], y.astype(np.int32), None), groups)


def parts(points, split, most):
    """The rows of the training part and of the test."""
    generator = np.random.default_rng(split)
    groups = np.arange(len(points.y)) if points.groups is None else points.groups
    order, names = generator.permutation(len(groups)), generator.permutation(groups.max() + 1)
    first = np.isin(groups[order], names[: int(0.7 * len(names))])
    return order[first][:most], order[~first][:4000]


def trained(name, scheme, options, points):
    """An uncalibrated configuration, and its values of points held out."""
    tree = agfmc.design(scheme, range(points.y.max() + 1))
    settings = TrainingSettings(options, scale=True)
    if "trees" not in options:
        _, tree = search_options(tree, points, settings)
    return train_configuration(tree, points, settings=settings, name=name)


def joined(configurations, values):
    """The ensemble of configurations, and the values of its points held out."""
    starts = np.cumsum([0, *(len(one.tree.rows) for one in configurations)], dtype=np.int32)
    arrays = {
        name: np.concatenate([getattr(one, name) for one in values])
        for name in ("point", "classifier", "value")
    }
    arrays["classifier"] += np.repeat(starts[:-1], [len(one.point) for one in values])
    order = np.argsort(arrays["point"], kind="stable")
    return join(configurations), replace(
        values[0], **{name: array[order] for name, array in arrays.items()}
    )


def weights_of(tree):
    """{family: weight} in an average, whose models have names that begin with the family."""
    weights = dict.fromkeys(FAMILIES, 0.0)
    for member, weight in zip(tree.members, tree.weights):
        weights[member.rows[0].text.replace("-", ".").partition(".")[0]] += weight
    return {name: round(weight, 3) for name, weight in weights.items()}


def calibrated(configuration, values, losses=None):
    """The configuration with the calibration of its decoder alone."""
    return replace(
        configuration,
        calibration=fit_calibration(
            configuration, values, decoders_of(configuration.tree)[:1], losses=losses
        ),
    )


def contenders(points):
    """Yield name, configuration, held-out log loss and seconds, the last two of single ones."""
    singles = {}
    for name, (scheme, options) in FAMILIES.items():
        start, losses = time.process_time(), {}
        singles[name] = trained(name, scheme, options, points)
        configuration = calibrated(*singles[name], losses)
        ((_, _, loss),) = losses.values()
        yield name, configuration, loss, time.process_time() - start
    configuration, values = joined(*zip(*singles.values()))
    members = [len(one.tree.roots) for one, _ in singles.values()]
    equal = " ".join(repr(1 / count) for count in members for _ in range(count))
    yield (
        "equal weights",
        calibrated(
            replace(configuration, tree=with_heading(configuration.tree, "weights", equal)), values
        ),
        np.nan,
        np.nan,
    )
    yield (
        "learned weights",
        calibrated(*with_learned_weights(configuration, values)),
        np.nan,
        np.nan,
    )


def main():
    """Print the scores of each split, then their means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("data", nargs="+")
    args = parser.parse_args()
    for name in args.data:
        points, scores = data(name), {}
        for split in range(args.splits):
            train, test = (chosen_rows(points, rows) for rows in parts(points, split, args.rows))
            best = np.inf
            for one, configuration, held, seconds in contenders(train):
                tree = configuration.tree  # a single random tree may be left
                p = agfmc.Classifier(
                    configuration, None if tree.is_ensemble or not tree.hierarchical else "full"
                ).probabilities(test.x)
                loss = -np.log(np.maximum(p[np.arange(len(p)), test.y], 1e-15)).mean()
                row = loss, (p.argmax(axis=1) == test.y).mean(), seconds
                if held < best:
                    best, best_row = held, row
                scores.setdefault(one, []).append(row)
                print(
                    f"{name} split {split}: {one} {loss:.4f} {row[1]:.4f} held-out {held:.4f}",
                    weights_of(tree) if "weights" in one else f"{seconds:.1f} s",
                    flush=True,
                )
            scores.setdefault("best single", []).append(best_row)
        base = np.array(scores["best single"])[:, 0]
        for one, rows in scores.items():
            loss, accuracy, seconds = np.mean(rows, axis=0)
            difference = [row[0] for row in rows] - base
            error = difference.std(ddof=1) / len(base) ** 0.5 if len(base) > 1 else np.nan
            print(
                f"{name} {one:16s} log loss {loss:.4f} accuracy {accuracy:.4f} seconds "
                f"{seconds:.1f} less best {difference.mean():+.4f} +- {error:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
