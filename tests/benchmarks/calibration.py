#!/usr/bin/env python3
"""Probabilities before and after calibration, beside scikit-learn's calibrated classifiers.

Support vector machines with the same C and gamma on random stratified splits, features
standardised with the training part: one-vs-one, one-vs-rest, orthogonal and adjacent codes and
a tree, each with the decoder's own probabilities and with the calibrated ones, and the decoder
that training fits to codes without zeros (learned); and
scikit-learn's SVC in CalibratedClassifierCV (sigmoid, isotonic, temperature; an ensemble of the
folds' machines, or one machine) and with its own probabilities.  Data sets are LIBSVM text,
known by their names; digits and the ordered sample come from sample_data.

    python tests/benchmarks/calibration.py [--state FILE] [--rows agfmc|sklearn] [--splits N]
                                           [PATH/segment.svm ... digits ordered]

Finished rows are kept in the state file, a line of JSON for each, so that a later run adds to
them; several runs can add at once.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
SAMPLES = ROOT / "sample_data"


class Protocol(NamedTuple):
    """Options of the SVMs, points for training, at most as many for testing, splits."""

    c: float
    gamma: float
    train: int
    test: int = 6000
    splits: int = 10


# C and gamma: the best accuracy of scikit-learn's SVC in a small search, 5 folds of 1500 points
PROTOCOLS = {
    "segment": Protocol(100, 0.03, 1155),
    "sat": Protocol(5, 0.05, 3000),
    "pendigits": Protocol(10, 0.1, 3000),
    "letter": Protocol(50, 0.0625, 6000, splits=3),
    "digits": Protocol(10, 0.01, 898),
    "ordered": Protocol(100, 0.005, 500),
}
OURS = ("one-vs-one", "one-vs-rest", "orthogonal", "adjacent", "tree")
THEIRS = {
    f"{method}, {'ensemble' if ensemble else 'one machine'}": (method, ensemble)
    for ensemble in (True, False)
    for method in ("sigmoid", "isotonic", "temperature")
}
PROBABILITY = "SVC(probability=True)"
SCORES = ("log_loss", "brier", "calibration_error", "accuracy")


def load(name, path):
    """x (n, d) float64 and y (n,) from 0."""
    from agfmc.data.reading import read_training
    from agfmc.data.types import InputFormat

    data = read_training(str(path), InputFormat("binary" if name == "ordered" else "svm"))
    x = data.x.toarray() if hasattr(data.x, "toarray") else np.asarray(data.x)
    return x.astype(np.float64), np.unique(data.y, return_inverse=True)[1]


def split(x, y, protocol, seed):
    """x, y for training and x, y for testing: shares of the classes as in all points."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    # spread each class evenly over (0, 1]: a cut anywhere takes the same share of all
    places = np.empty(len(y))
    for label in np.unique(y):
        rows = order[y[order] == label]
        places[rows] = (np.arange(len(rows)) + rng.random()) / len(rows)
    order = np.argsort(places)
    train, test = order[: protocol.train], order[protocol.train :][: protocol.test]
    centre, scale = x[train].mean(axis=0), x[train].std(axis=0)
    kept = scale > 0
    x = (x[:, kept] - centre[kept]) / scale[kept]
    train, test = rng.permutation(train), rng.permutation(test)
    return x[train], y[train], x[test], y[test]


def scored(p, y, classes=None):
    """The scores of p (n, k), as a dictionary; classes (n,): answers, else the largest p."""
    from agfmc.score.probabilities import calibration, expected_calibration_error
    from agfmc.core.probabilities import log_loss

    answer = p.argmax(axis=1) if classes is None else classes
    right = answer == y
    true = p[np.arange(len(y)), y]
    return {
        "log_loss": log_loss(p, y),
        "brier": float(np.mean(np.sum(p**2, axis=1) - 2 * true + 1)),
        "calibration_error": expected_calibration_error(
            calibration(p[np.arange(len(y)), answer], right, 10)
        ),
        "accuracy": float(np.mean(right)),
        "zeros": int(np.sum(true == 0)),
    }


def ours(scheme, protocol, data):
    """(name, scores) of a scheme: with the learned decoder, before and after calibration."""
    from dataclasses import replace

    import agfmc
    from agfmc.prediction.decoding import decoders_of

    x, y, new, truth = data
    start = time.process_time()
    configuration = agfmc.train(scheme, x, y, options=f"-c {protocol.c} -g {protocol.gamma}")
    seconds = time.process_time() - start
    wanted = ("full",) if scheme == "tree" else None
    decoding = decoders_of(configuration.tree, wanted)[0]
    rows = {f"{scheme} before": replace(decoding, calibrated=False), f"{scheme} after": decoding}
    if configuration.calibration.learned is not None:
        rows = {f"{scheme}, learned": agfmc.Decoding("learned", tree="flat"), **rows}
    for row, decoding in rows.items():  # the one that is asked for last
        answers = agfmc.Classifier(configuration, decoding).classify(new)
        yield row, {**scored(answers.columns, truth, answers.classes), "train_s": seconds}


def theirs(name, protocol, data):
    """(name, scores) of one of scikit-learn's classifiers."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC

    x, y, new, truth = data
    settings = {"C": protocol.c, "gamma": protocol.gamma, "random_state": 1}
    if name == PROBABILITY:
        model = SVC(**settings, probability=True)
    else:
        method, ensemble = THEIRS[name]
        model = CalibratedClassifierCV(SVC(**settings), method=method, ensemble=ensemble)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model.fit(x, y)
    yield name, {**scored(model.predict_proba(new), truth), "train_s": time.process_time() - start}


def measure(sets, rows, splits, state):
    """{(data set, row, split): scores}; what the state file lacks is computed and added."""
    done = {}
    if state is not None and Path(state).exists():
        for line in Path(state).read_text(encoding="ascii").splitlines():
            one = json.loads(line)
            done[one["data"], one["row"], one["split"]] = one
    wanted = [(ours, scheme, f"{scheme} after") for scheme in OURS if "agfmc" in rows]
    wanted += [(theirs, name, name) for name in (*THEIRS, PROBABILITY) if "sklearn" in rows]
    for name, path in sets.items():
        protocol = PROTOCOLS[name]
        x, y = load(name, path)
        for number in range(min(splits, protocol.splits)):
            missing = [
                (make, what) for make, what, last in wanted if (name, last, number) not in done
            ]
            data = split(x, y, protocol, number) if missing else None
            for make, what in missing:
                for row, scores in make(what, protocol, data):
                    one = {"data": name, "row": row, "split": number, **scores}
                    done[name, row, number] = one
                    if state is not None:
                        with open(state, "a", encoding="ascii") as file:
                            file.write(json.dumps(one) + "\n")
    return done


def told(values, digits=4):
    """Mean and standard deviation as text."""
    spread = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{mean(values):.{digits}f}{spread}"


def table(name, done):
    """Print the rows of a data set; -> [(kind, worse, share, below)] of our cells."""

    def of(row, score):
        return [
            one[score]
            for (data, other, _), one in sorted(done.items(), key=str)
            if (data, other) == (name, row)
        ]

    others = [row for row in (*THEIRS, PROBABILITY) if of(row, "log_loss")]
    best = {
        score: min((mean(of(row, score)) for row in others), default=None)
        for score in ("log_loss", "brier")
    }
    protocol = PROTOCOLS[name]
    print(f"\n{name}: -c {protocol.c} -g {protocol.gamma}, {protocol.train} points for training\n")
    print(
        "| | log loss | Brier | calibration error | accuracy | log loss lower by | below "
        "scikit-learn: log loss, Brier |\n|---|---|---|---|---|---|---|"
    )
    cells = []
    for scheme in OURS:
        for kind, row in (("map", f"{scheme} after"), ("learned", f"{scheme}, learned")):
            if not of(row, "log_loss"):
                continue
            before, after = of(f"{scheme} before", "log_loss"), of(row, "log_loss")
            share = 1 - mean(after) / mean(before)
            paired = [b - a for a, b in zip(before, after)]
            error = stdev(paired) / len(paired) ** 0.5 if len(paired) > 1 else 0.0
            worse = mean(paired) > error
            below = [
                best[score] is not None and mean(of(row, score)) < best[score] for score in best
            ]
            cells.append((kind, worse, share, *below))
            scores = [
                told(of(row, score))
                if kind == "learned"
                else f"{told(of(f'{scheme} before', score))} -> {told(of(row, score))}"
                for score in SCORES
            ]
            print(
                f"| {scheme}{', learned' if kind == 'learned' else ''} | {' | '.join(scores)} | "
                f"{share:.1%}{' WORSE' if worse else ''} | "
                f"{', '.join(('no', 'yes')[one] for one in below)} |"
            )
    for row in others:
        print(f"| {row} | " + " | ".join(told(of(row, score)) for score in SCORES) + " | | |")
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "data",
        nargs="*",
        default=["digits", "ordered"],
        help="LIBSVM text of " + ", ".join(PROTOCOLS) + "; digits, ordered",
    )
    parser.add_argument("--state", help="file of finished rows, read and added to")
    parser.add_argument("--rows", choices=("agfmc", "sklearn"), action="append")
    parser.add_argument("--splits", type=int, default=10, help="at most so many")
    args = parser.parse_args()
    own = {"digits": SAMPLES / "digits.svm", "ordered": SAMPLES / "ordered"}
    sets = {Path(path).stem: own.get(path, path) for path in args.data}
    done = measure(sets, args.rows or ("agfmc", "sklearn"), args.splits, args.state)
    cells = [cell for name in sets for cell in table(name, done)]
    for kind in ("map", "learned"):
        some = [cell for cell in cells if cell[0] == kind]
        print(
            f"\n{kind}: {len(some)} cells; {sum(cell[1] for cell in some)} worse than before by "
            "more than a standard error of the paired difference; "
            f"{sum(cell[2] >= 0.1 for cell in some)} with at least 10 % lower log loss; "
            f"{sum(cell[3] for cell in some)} below every row of scikit-learn in log loss, "
            f"{sum(cell[4] for cell in some)} in Brier score"
        )


if __name__ == "__main__":
    main()
