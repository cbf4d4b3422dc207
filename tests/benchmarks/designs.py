#!/usr/bin/env python3
"""Designs that are searched for in data, beside those that are made without a search.

    designs   every design with SVMs, in held-out rows, its search seeing the training part alone
    table     what the state file holds of these: means, deviations, paired differences
    honest    the loss that the search promises, beside that in held-out rows

    python tests/benchmarks/designs.py PART [--data DIR] [--state FILE] [--sets NAME,...]
        [--splits N] [--rows N] [--designs NAME,...]

DIR holds segment.svm, sat.svm, pendigits.svm and letter.svm. 30 % of each class are held out, in
ten splits, of letter in three; of the rest N rows at most are used. Features are standardised.
Options of the SVMs, the same for all designs, are those that tune_m finds for one-vs-one by log
loss in at most 3000 rows of the training part of the first split; the search takes their kernel.
All probabilities are calibrated, of all classifiers of a design. Finished lines are kept in the
state file. Seconds are of processor, on one core.
"""

import argparse
import json
import os
import sys
import time
import warnings
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from statistics import mean, stdev

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402
from calibration import load  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from agfmc.api.functions import train as fit  # noqa: E402
from agfmc.designs.random_trees import different_trees, drawn_tree  # noqa: E402
from agfmc.control.build import from_pairs, joined  # noqa: E402
from agfmc.data.types import Dataset  # noqa: E402
from agfmc.data.normalisation import fit_normalisation  # noqa: E402
from agfmc.experiments.candidates import read_candidate  # noqa: E402
from agfmc.experiments.experiment import Experiment, SplitPlan  # noqa: E402
from agfmc.experiments.tuning import find_options  # noqa: E402
from agfmc.training.fit import TrainingSettings  # noqa: E402
from agfmc.prediction.classifier import Classifier  # noqa: E402
from agfmc.prediction.decoding import Decoding  # noqa: E402
from agfmc.core.splits import split_stratified, stratified_sample  # noqa: E402
from agfmc.score.significance import resampled_t  # noqa: E402
from agfmc.designs.design import design as make, LabelledPoints, matrix_of  # noqa: E402
from agfmc.designs.split_costs import TreeSearch  # noqa: E402
from agfmc.designs.tree_search import machine_options, TreeCosts  # noqa: E402

MEMBERS, DRAWS, LEAST = 10, 100, 1e-15
SCORES = "accuracy", "log_loss", "brier"
SPLITS = 60_000  # of classes, that a search tries
SEARCHED = 3000  # rows


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


def search(x, y):
    """Training options for points x, y, found as tune_m finds them, in some of the rows."""
    some = stratified_sample(y, SEARCHED, 1)
    experiment = Experiment(
        Dataset(x[some], y[some]),
        SplitPlan(parts=5, trials=1),
        TrainingSettings(scale=True, loo=True),
        calibrated=(True,),
    )
    result, _ = find_options(experiment, read_candidate("one-vs-one"))
    return result["points"][result["best"]]["options"]


def spread(values, form=".4f"):
    """Mean and deviation as text."""
    return f"{mean(values):{form}}" + (f" ± {stdev(values):{form}}" if len(values) > 1 else "")


class Part:
    """A training and a test part, standardised, and what searches in the first come to."""

    def __init__(self, name, number, state, args, data):
        x, y, train, test = data
        key = name, "options"
        if key not in state.lines:  # the first split is the first to come
            state.add(key, options=search(x[train], y[train]))
        self.name, self.number, self.options = name, number, state.lines[key]["options"]
        if args.rows:
            train = train[stratified_sample(y[train], args.rows, number)]
        base = fit_normalisation(x[train])
        self.x, self.new = base.apply(x[train]), base.apply(x[test])
        self.y, self.true = y[train], y[test]
        self.labels = list(range(int(y.max()) + 1))
        self.ratio = len(test) / len(train)

    def unsearched(self):
        """The `TreeCosts` of a search that has not begun."""
        return TreeCosts(
            LabelledPoints(self.x, self.y, self.labels),
            TreeSearch(machine=machine_options(self.options), splits=SPLITS),
            self.number,
        )

    def costs(self):
        """The `TreeCosts` of a search that is over."""
        found = self.unsearched()
        found.space.search(SPLITS, self.number)
        return found

    @cached_property
    def searched(self):
        """(the costs by the kernel of the SVMs, seconds)."""
        return timed(self.costs)

    def random(self, count, kind="uniform"):
        """So many different random trees."""
        return list(islice(different_trees(kind, np.bincount(self.y), self.number), count))

    def tree(self, pairs):
        """The control tree of nested pairs."""
        return from_pairs(pairs, self.labels)


def parts(args, state):
    """Every `Part` of the data sets."""
    for name, number, *data in splits(args):
        yield Part(name, number, state, args, data)


def scores(p, y):
    """Accuracy, log loss and Brier score of probabilities p (n, k) for classes y (n,)."""
    p = np.maximum(p, LEAST)
    true = p[np.arange(len(y)), y]
    return {
        "accuracy": float(np.mean(p.argmax(axis=1) == y)),
        "log_loss": float(-np.log(true).mean()),
        "brier": float(np.mean((p**2).sum(axis=1) - 2 * true + 1)),
    }


def classifier(model, calibrated=True):
    """The `Classifier` that gives the probabilities of all classes."""
    tree = "full" if model.tree.hierarchical and len(model.tree.roots) == 1 else "recursive"
    return Classifier(model, Decoding(tree=tree, calibrated=calibrated))


def _made(scheme, part, **settings):
    return make(
        scheme, part.labels, x=part.x, y=part.y, options=part.options, seed=part.number, **settings
    )


def _best_of(trees, part):
    return part.tree(min(trees, key=part.unsearched().loss_of))


def _ensemble(trees, part):
    return joined(map(part.tree, trees))


# {name: (function of a `Part`, True if it uses the costs of the search)}
DESIGNS = {
    "one-vs-one": (partial(_made, "one-vs-one"), False),
    "one-vs-rest": (partial(_made, "one-vs-rest"), False),
    "balanced": (partial(_made, "tree"), False),
    "empirical": (partial(_made, "empirical"), False),
    "random tree": (
        lambda part: part.tree(drawn_tree("uniform", np.bincount(part.y), part.number)),
        False,
    ),
    "best of 100 random": (lambda part: _best_of(part.random(DRAWS), part), False),
    "best tree": (lambda part: part.tree(part.searched[0].best()[0].pairs), True),
    "10 random trees": (lambda part: _ensemble(part.random(MEMBERS), part), False),
    "10 best trees": (
        lambda part: _ensemble([one.pairs for one in part.searched[0].best(MEMBERS)], part),
        True,
    ),
    "10 class-balanced trees": (
        lambda part: _ensemble(part.random(MEMBERS, "class-balanced"), part),
        False,
    ),
    "10 different best trees": (
        lambda part: _ensemble(part.searched[0].different(MEMBERS), part),
        True,
    ),
    "best code": (lambda part: _made("best-code", part, rows=len(part.labels)), False),
    "best code of its size": (partial(_made, "best-code"), False),
}


def designs(args):
    """Add lines (data, split, "designs", name) of scores and seconds to the state."""
    state = State(args.state)
    for part in parts(args, state):
        for name in args.designs.split(","):
            key = part.name, part.number, "designs", name
            if key in state.lines:
                continue
            make, searches = DESIGNS[name]
            search_seconds = part.searched[1] if searches else 0
            tree, seconds = timed(make, part)
            model, used = timed(fit, tree, part.x, part.y, options=part.options, loo=True)
            single = tree.hierarchical and len(tree.roots) == 1
            p, answering = timed(classifier(model).probabilities, part.new)
            shares = part.searched[0].splits.shares
            asked = (
                sum(shares[list(left + right)].sum() for left, right in tree.sides())
                if single
                else len(tree.rows)
            )
            state.add(
                key,
                **scores(p, part.true),
                ratio=part.ratio,
                asked=asked,
                classifiers=len(set(matrix_of(tree)[0])),
                design=seconds + search_seconds,
                train=used,
                answer=answering,
                support_vectors=len(model.machines.sv),
            )


def table(args):
    """Print what the state holds."""
    groups = {}
    for key, line in State(args.state).lines.items():
        if len(key) == 4:
            name, number, _, design = key
            groups.setdefault(name, {}).setdefault(design, {})[number] = line
    for name, found in groups.items():
        base = "one-vs-one"
        print(f"\n{name}: differences of log loss, and p of the corrected t test, from {base}\n")
        head(
            "design",
            "splits",
            *SCORES,
            "classifiers",
            "asked",
            "search s",
            "training s",
            "difference",
            "p",
        )
        for design, lines in found.items():
            both = sorted(lines.keys() & found.get(base, {}).keys())
            test = resampled_t(
                [lines[number]["log_loss"] - found[base][number]["log_loss"] for number in both],
                next(iter(lines.values()))["ratio"],
            )

            def average(word, form=".1f"):
                values = [line[word] for line in lines.values() if word in line]
                return f"{mean(values):{form}}" if values else ""

            row(
                design,
                len(lines),
                *(spread([line[score] for line in lines.values()]) for score in SCORES),
                average("classifiers", ".0f"),
                average("asked"),
                average("design"),
                average("train"),
                f"{test.mean:+.4f}",
                f"{test.p_value:.3f}",
            )


def honest(args):
    """Print the losses that searches promise beside those of the same classifiers in new rows."""
    found, state = {}, State(args.state)
    for part in parts(args, state):
        costs, _ = part.searched
        best = costs.best()[0].pairs
        model = fit(
            part.tree(best), part.x, part.y, options=costs.splits.options.canonical(), loo=True
        )
        found.setdefault(part.name, []).append(
            (
                costs.loss_of(best),
                costs.holdout()[0],
                *(
                    scores(classifier(model, one).probabilities(part.new), part.true)["log_loss"]
                    for one in (False, True)
                ),
            )
        )
    head(
        "data",
        "splits",
        "least loss",
        "judged apart",
        "new rows",
        "new rows, calibrated",
        "apart / least",
        "new / least",
        "new / apart",
    )
    for name, lines in found.items():
        least, apart, new, _ = map(mean, zip(*lines))
        row(
            name,
            len(lines),
            *map(spread, zip(*lines)),
            *(f"{one:.3f}" for one in (apart / least, new / least, new / apart)),
        )


def main():
    """Read the options and do what they say."""
    known = {part.__name__: part for part in (designs, table, honest)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=known)
    for word, default in (
        ("data", str(ROOT.parent / "shared" / "datasets")),
        ("state", None),
        ("sets", "segment,sat,pendigits,letter"),
        ("designs", ",".join(DESIGNS)),
    ):
        parser.add_argument(f"--{word}", default=default)
    for word in ("splits", "rows"):
        parser.add_argument(f"--{word}", type=int)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    known[args.part](args)


if __name__ == "__main__":
    main()
