#!/usr/bin/env python3
"""Monitors of answers: false alarms on shuffled streams, and rows until a shift is seen.

    python tests/benchmarks/monitor.py [--streams 1000] [PATH/segment.svm ...] [--vowel vowel.csv]

A third of the points trains, a third calibrates, the last third is shuffled anew for each stream.
The shifts: one deviation added to the first feature that matters, and one class three times as
frequent, after all rows of a stream; vowel: new speakers after held-out rows of those of training.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import agfmc  # noqa: E402
from agfmc.data.reading import read_training  # noqa: E402
from agfmc.data.types import InputFormat  # noqa: E402
from agfmc.estimators import MultiClassFromBinary  # noqa: E402

_LATER = 3000  # rows after a shift, drawn with replacement


def points_of(path):
    """x (n, d) and y (n,) of LIBSVM text, in a random order."""
    data = read_training(str(path), InputFormat("svm"))
    rows = np.random.default_rng(0).permutation(len(data.y))
    return np.asarray(data.x, dtype=float)[rows], data.y[rows]


def fitted(x, y, apart):
    """(classifier calibrated in training, classifier calibrated with other rows)."""
    model = MultiClassFromBinary("one-vs-one", normalise=True).fit(x, y)
    first = agfmc.Classifier(model.configuration_)
    model.calibrate(*apart)
    return first, agfmc.Classifier(model.configuration_)


def alarms(classifier, streams, y=None):
    """(share of streams with an alarm, rows until it, with infinity for none)."""
    delays = []
    for seed, (x, truth) in enumerate(streams):
        watch = classifier.monitor(by_truth=y is not None, seed=seed)
        watch.add(classifier.classify(x), *([] if y is None else [truth]))
        delays.append(watch.state.alarm or np.inf)
    return np.array(delays)


def shuffled(x, y, count, seed=1):
    for number in range(count):
        rows = np.random.default_rng([seed, number]).permutation(len(y))
        yield x[rows], y[rows]


def telling(classifier, x):
    """The feature whose shift by a deviation changes the probabilities of the answers most."""
    own = classifier.classify(x).winner
    changes = []
    for feature in range(x.shape[1]):
        later = x.copy()
        later[:, feature] += x[:, feature].std()
        changes.append(abs(classifier.classify(later).winner.mean() - own.mean()))
    return int(np.argmax(changes))


def shifted(x, y, feature, count):
    """Rows as they were, then rows with one deviation more in a feature."""
    later = x.copy()
    later[:, feature] += x[:, feature].std()
    for number, (first, truth) in enumerate(shuffled(x, y, count, 2)):
        rows = np.random.default_rng([3, number]).choice(len(y), _LATER)
        yield np.concatenate([first, later[rows]]), np.concatenate([truth, y[rows]])


def frequent(x, y, count):
    """Rows as they were, then rows of which one class is three times as frequent."""
    weight = np.where(y == np.unique(y)[0], 3.0, 1.0)
    for number, (first, truth) in enumerate(shuffled(x, y, count, 4)):
        rows = np.random.default_rng([5, number]).choice(len(y), _LATER, p=weight / weight.sum())
        yield np.concatenate([first, x[rows]]), np.concatenate([truth, y[rows]])


def told(name, what, delays, before=0):
    late = delays[delays > before] - before
    median = np.median(late) if len(late) and np.isfinite(np.median(late)) else np.inf
    print(
        f"{name:12} {what:44} alarms before {np.mean(delays <= before):6.3f}  median delay {median:7.0f}"
        f"  never {np.mean(np.isinf(delays)):5.2f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--vowel")
    parser.add_argument("data", nargs="*", help="LIBSVM text beside sample_data/digits.svm")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for path in (ROOT / "sample_data" / "digits.svm", *map(Path, args.data)):
        x, y = points_of(path)
        (train, apart, test), name = np.array_split(np.arange(len(y)), 3), path.stem
        in_training, anew = fitted(x[train], y[train], (x[apart], y[apart]))
        x, y = x[test], y[test]
        few = min(args.streams, 50)
        for classifier, how in (in_training, "training"), (anew, "new rows"):
            for by in None, y:
                words = f"calibrated in {how}, {'answers' if by is None else 'true classes'}"
                delays = alarms(classifier, shuffled(x, y, args.streams), by)
                told(name, f"{words}, as before", delays, len(y))
        feature = telling(anew, x)
        for by in None, y:
            words = "answers" if by is None else "true classes"
            told(
                name,
                f"{words}, one deviation in a feature",
                alarms(anew, shifted(x, y, feature, few), by),
                len(y),
            )
            told(
                name,
                f"{words}, one class three times",
                alarms(anew, frequent(x, y, few), by),
                len(y),
            )
    if args.vowel:
        vowel(args.vowel, min(args.streams, 50))


def vowel(path, few):
    data = agfmc.read_table(path, label="vowel", group="speaker", ignored=("part", "sex"))
    x, y, speaker = np.asarray(data.x, dtype=float), data.y, data.groups
    known = speaker < np.median(np.unique(speaker))
    rows = np.random.default_rng(0).permutation(np.flatnonzero(known))
    train, apart, rest = np.array_split(rows, 3)
    _, classifier = fitted(x[train], y[train], (x[apart], y[apart]))
    for by in None, y:
        streams = [
            (np.concatenate([a, b]), np.concatenate([c, d]))
            for (a, c), (b, d) in zip(
                shuffled(x[rest], y[rest], few), shuffled(x[~known], y[~known], few, 2)
            )
        ]
        words = "answers" if by is None else "true classes"
        told("vowel", f"{words}, new speakers", alarms(classifier, streams, by), len(rest))


if __name__ == "__main__":
    main()
