#!/usr/bin/env python3
"""A metric learned from the data: what it brings, and what it costs.

    accuracy    one-vs-one, SVMs and landmarks, on standardised features and with a metric
    table       what the state file holds of these: means, deviations, paired differences

    python tests/benchmarks/metric.py PART [--data DIR] [--state FILE] [--sets NAME,...]
        [--splits N] [--metrics auto,1,2,3,diagonal] [--learners svm,nystrom]

DIR holds segment.svm, sat.svm, pendigits.svm and letter.svm; digits and ordered are those of
sample_data. 30 % of each class are held out, in ten splits, of letter in three. Options of the
learners are searched as tune_m does, by log loss, in at most 3000 rows of the training part of the
first split, without and with a metric alike, which is learned, in one round, inside each part of
the search. Finished lines are kept in the state file. Seconds are of processor, on one core.
"""

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path
from statistics import mean, stdev

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402
from calibration import load  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import agfmc  # noqa: E402
from agfmc.api.functions import train as fit  # noqa: E402
from agfmc.training.metric import fitted_normalisation, learn_metric, MetricOptions  # noqa: E402
from agfmc.experiments.candidates import read_candidate  # noqa: E402
from agfmc.experiments.experiment import Experiment, SplitPlan  # noqa: E402
from agfmc.experiments.tuning import find_options  # noqa: E402
from agfmc.data.types import Dataset  # noqa: E402
from agfmc.core.splits import split_stratified, stratified_sample  # noqa: E402
from agfmc.training.fit import TrainingSettings  # noqa: E402

LANDMARKS = dict(segment=400, ordered=300, digits=500, sat=1000, pendigits=500, letter=1500)
LEARNERS = {"svm": "%.0s", "nystrom": "learner=nystrom -m %d"}
SEARCHED, LEAST = 3000, 1e-15
SCORES = "accuracy", "log_loss"


class State:
    """Lines of JSON by their keys, in a file that later runs go on with."""

    def __init__(self, path):
        self.path, self.lines = path, {}
        if path and os.path.exists(path):
            for line in map(json.loads, Path(path).read_text(encoding="ascii").splitlines()):
                self.lines[tuple(line["key"])] = line

    def add(self, key, **values):
        self.lines[key] = {"key": key, **values}
        with open(self.path or os.devnull, "a", encoding="ascii") as out:
            print(json.dumps(self.lines[key]), file=out)
        print(json.dumps(self.lines[key]), flush=True)


def points(name, args):
    """x (n, d) and y (n,) from 0 of a data set."""
    samples = ROOT / "sample_data"
    return load(
        name,
        {"ordered": samples / "ordered", "digits": samples / "digits.svm"}.get(
            name, Path(args.data) / f"{name}.svm"
        ),
    )


def splits(args):
    """(data set, number, x, y, rows for training, rows for testing) of all splits."""
    for name in args.sets.split(","):
        x, y = points(name, args)
        for number in range(1, (args.splits or (3 if name == "letter" else 10)) + 1):
            yield name, number, x, y, *split_stratified(y, 0.3, number)


def timed(function, *words, **named):
    """(what it gives, seconds of processor)."""
    start = time.process_time()
    return function(*words, **named), time.process_time() - start


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def head(*cells):
    row(*cells)
    print("|---" * len(cells) + "|")


def scores(p, y):
    """Accuracy and log loss of probabilities p (n, k) for classes y (n,)."""
    p = np.maximum(p, LEAST) / p.sum(axis=1, keepdims=True)
    return {
        "accuracy": float(np.mean(p.argmax(axis=1) == y)),
        "log_loss": float(-np.log(p[np.arange(len(y)), y]).mean()),
    }


def search(x, y, learner, name, metric):
    """Training options for points x, y, found as tune_m finds them, in some of the rows."""
    some = stratified_sample(y, SEARCHED, 1)
    experiment = Experiment(
        Dataset(x[some], y[some]),
        SplitPlan(parts=5, trials=1),
        TrainingSettings(LEARNERS[learner] % LANDMARKS[name], scale=True, loo=True, metric=metric),
        calibrated=(True,),
    )
    result, _ = find_options(experiment, read_candidate("one-vs-one"))
    return result["points"][result["best"]]["options"]


def maps(x, y, wanted):
    """{metric: (Normalisation, processor seconds)} of points; "none" is the standardisation."""
    base = fitted_normalisation(Dataset(x, y))
    options = {
        word: MetricOptions(int(word) if word.isdigit() else None, word == "diagonal")
        for word in wanted
        if word != "none"
    }
    return {"none": (base, 0.0)} | {
        word: timed(learn_metric, x, y, base, one) for word, one in options.items()
    }


def accuracy(args):
    """Add lines (data, split, learner, metric) of scores to the state."""
    state, learners = State(args.state), args.learners.split(",")
    for name, number, x, y, train, test in splits(args):
        keys = {
            (name, number, learner, word)
            for learner in learners
            for word in ("none", *args.metrics.split(","))
        } - state.lines.keys()
        found = maps(x[train], y[train], {key[3] for key in keys}) if keys else {}
        for _, _, learner, word in sorted(keys):
            normalisation, seconds = found[word]
            learned = normalisation.metric
            key = name, "options", learner, "learned" if learned and learned.rounds else "none"
            if key not in state.lines:
                first, _ = split_stratified(y, 0.3, 1)
                metric = MetricOptions(rounds=1) if key[3] == "learned" else None
                state.add(key, options=search(x[first], y[first], learner, name, metric))
            options = {"options": state.lines[key]["options"]}
            model, used = timed(
                fit,
                "one-vs-one",
                x[train],
                y[train],
                loo=True,
                normalisation=normalisation,
                **options,
            )
            told = {"rounds": learned.rounds, "losses": learned.losses} if learned else {}
            state.add(
                (name, number, learner, word),
                learn=seconds,
                cpu=used,
                **told,
                **scores(agfmc.Classifier(model).probabilities(x[test]), y[test]),
            )


def spread(values, form=".4f"):
    """Mean and deviation as text."""
    return f"{mean(values):{form}}" + (f" ± {stdev(values):{form}}" if len(values) > 1 else "")


def table(args):
    """Print what the state holds."""
    groups = {}
    for (name, number, model, metric), line in State(args.state).lines.items():
        if number != "options":
            groups.setdefault((name, model, metric), {})[number] = line
    head(
        "data",
        "model",
        "metric",
        "splits",
        "accuracy",
        "log loss",
        "rounds",
        "learning s",
        "less without: log loss",
        "accuracy",
    )
    for (name, model, metric), lines in sorted(groups.items()):
        rows = [lines[number] for number in sorted(lines)]
        plain = groups.get((name, model, "none"), {})
        gaps = [
            [lines[number][score] - plain[number][score] for number in plain.keys() & lines.keys()]
            for score in reversed(SCORES)
        ]
        differences = [
            f"{mean(one):+.4f} ± {stdev(one) / len(one) ** 0.5:.4f}"
            if metric != "none" and len(one) > 1
            else ""
            for one in gaps
        ]
        row(
            name,
            model,
            metric,
            len(rows),
            *(spread([line[score] for line in rows]) for score in SCORES),
            "".join(str(line.get("rounds", "-")) for line in rows),
            spread([line.get("learn", 0.0) for line in rows], ".1f"),
            *differences,
        )


def main():
    """Read the options and do what they say."""
    parts = {part.__name__: part for part in (accuracy, table)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=parts)
    for word, default in (
        ("data", str(ROOT.parent / "shared" / "datasets")),
        ("state", None),
        ("sets", ",".join(LANDMARKS)),
        ("metrics", "auto"),
        ("learners", ",".join(LEARNERS)),
    ):
        parser.add_argument(f"--{word}", default=default)
    parser.add_argument("--splits", type=int)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    parts[args.part](args)


if __name__ == "__main__":
    main()
