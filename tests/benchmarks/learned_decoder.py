#!/usr/bin/env python3
"""The learned decoder beside least squares, with and without calibration maps, on data of yours.

Each data set (LIBSVM text) is split at random some times; every scheme is trained on one part and
scored on the other: accuracy, log loss with its deviation over the splits, and how much lower or
higher that of the learned decoder is than that of least squares with its map, with the standard
error of the difference.

    python tests/benchmarks/learned_decoder.py [--splits N] [--train N] [--options TEXT] FILE ...
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import agfmc  # noqa: E402
from agfmc.core.errors import AgfmcWarning  # noqa: E402
from agfmc.data.reading import read_training  # noqa: E402
from agfmc.data.types import InputFormat  # noqa: E402
from agfmc.prediction.decoding import Decoding  # noqa: E402

SCHEMES = {"one-vs-rest": {}, "orthogonal": {}, "adjacent": {},
           "random": {"rows": 30, "strict": True}}
DECODERS = {"least squares": Decoding(calibrated=False), "with map": Decoding(),
            "learned, no map": Decoding("learned", calibrated=False),
            "learned": Decoding("learned")}


def scores(scheme, data, options, train, split):
    """{decoder: (accuracy, log loss)} of one split."""
    x, y = np.asarray(data.x), data.y
    rows = np.random.default_rng(split).permutation(len(y))
    rows, test = rows[:train], rows[train:]
    labels = [int(label) for label in np.unique(y)]
    tree = agfmc.design(scheme, labels, **{"seed": split, **SCHEMES[scheme]})
    model = agfmc.train(tree, x[rows], y[rows], options=options, normalise=True)
    column = np.searchsorted(labels, y[test])
    found = {}
    for name, decoding in DECODERS.items():
        if model.calibration.learned is None and "learned" in name:
            found[name] = np.nan, np.nan
            continue
        p = agfmc.Classifier(model, decoding).classify(x[test]).columns
        found[name] = (np.mean(p.argmax(axis=1) == column),
                       -np.mean(np.log(np.maximum(p[np.arange(len(test)), column], 1e-16))))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--splits", type=int, default=5, metavar="N")
    parser.add_argument("--train", type=int, metavar="N", help="training points (default: 70 %%)")
    parser.add_argument("--options", default="", help="training options of the classifiers")
    args = parser.parse_args()
    warnings.simplefilter("ignore", AgfmcWarning)  # of constant features, once for each split
    print(f"{'':28s}" + "".join(f"{name:>23s}" for name in DECODERS) + f"{'difference':>20s}")
    for path in args.files:
        data = read_training(path, InputFormat("svm"))
        train = args.train or int(.7 * len(data.y))
        for scheme in SCHEMES:
            found = [scores(scheme, data, args.options, train, i) for i in range(args.splits)]
            table = np.array([[one[name] for name in DECODERS] for one in found])
            spread = table.std(axis=0, ddof=1) if args.splits > 1 else 0 * table[0]
            less = table[:, 3, 1] - table[:, 1, 1]
            error = less.std(ddof=1) / np.sqrt(args.splits) if args.splits > 1 else np.nan
            print(f"{Path(path).stem:12s}{scheme:16s}" + "".join(
                f"{accuracy:9.4f}{loss:8.4f} {deviation:.3f}" for (accuracy, loss), deviation in
                zip(table.mean(axis=0), spread[:, 1])) + f"{less.mean():+12.4f} ({error:.4f})",
                flush=True)


if __name__ == "__main__":
    main()
