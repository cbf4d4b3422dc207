#!/usr/bin/env python3
"""Designs that are searched for in data, beside those that are made without a search.

    settings  which settings of the search choose trees, and which trees make ensembles, that are
              good with SVMs in held-out rows
    designs   every design with SVMs, in held-out rows, its search seeing the training part alone
    table     what the state file holds of these two: means, deviations, paired differences
    honest    the loss that the search promises, beside that in held-out rows
    shuffled  the same with classes that are permuted: nothing can be better than chance
    cost      seconds of processor, and memory, of the search

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
import os
import tempfile
import warnings
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from statistics import mean, median

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402
from metric import head, ROOT, row, search, splits, spread, State, timed  # noqa: E402

from agfmc.api.functions import train as fit  # noqa: E402
from agfmc.designs.best_tree import nodes_of, oriented  # noqa: E402
from agfmc.designs.random_trees import different_trees, drawn_tree, KINDS  # noqa: E402
from agfmc.control.build import from_pairs, from_rows, joined  # noqa: E402
from agfmc.training.metric import fitted_normalisation  # noqa: E402
from agfmc.calibration.maps import apply_map, fit_temperature  # noqa: E402
from agfmc.landmarks.learner import NystromOptions  # noqa: E402
from agfmc.prediction.calibrate import HeldOutValues  # noqa: E402
from agfmc.prediction.classifier import Classifier  # noqa: E402
from agfmc.prediction.decision_values import MachineValues  # noqa: E402
from agfmc.prediction.decoding import Decoding  # noqa: E402
from agfmc.core.splits import stratified_sample  # noqa: E402
from agfmc.score.significance import resampled_t  # noqa: E402
from agfmc.designs.design import design as make, LabelledPoints, matrix_of  # noqa: E402
from agfmc.training.fit import TrainingSettings  # noqa: E402
from agfmc.training.in_memory import train_configuration  # noqa: E402
from agfmc.designs.split_costs import GROUPS, TreeSearch  # noqa: E402
from agfmc.designs.tree_search import machine_options, TreeCosts  # noqa: E402

MEMBERS, DRAWS, LEAST = 10, 100, 1e-15
SCORES = "accuracy", "log_loss", "brier"
SPLITS, FEW_SPLITS = 60_000, 4000  # of classes, that a search tries;  in the study of settings


class Part:
    """A training and a test part, standardised, and what searches in the first come to."""

    def __init__(self, name, number, state, args, data):
        x, y, train, test = data
        key = name, "options"
        if key not in state.lines:  # the first split is the first to come
            state.add(key, options=search(x[train], y[train], "svm", name, None))
        self.name, self.number, self.options = name, number, state.lines[key]["options"]
        if args.rows:
            train = train[stratified_sample(y[train], args.rows, number)]
        base = fitted_normalisation(x[train], y[train])
        self.x, self.new = base.apply(x[train]), base.apply(x[test])
        self.y, self.true = y[train], y[test]
        self.labels = list(range(int(y.max()) + 1))
        self.ratio = len(test) / len(train)

    def unsearched(self, machine=None, count=SPLITS):
        """The `TreeCosts` of a search that has not begun."""
        return TreeCosts(LabelledPoints(self.x, self.y, self.labels), TreeSearch(
            machine=machine or machine_options(self.options), splits=count), self.number)

    def costs(self, machine=None, count=SPLITS):
        """The `TreeCosts` of a search that is over."""
        found = self.unsearched(machine, count)
        found.space.search(count, self.number)
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
    return {"accuracy": float(np.mean(p.argmax(axis=1) == y)),
            "log_loss": float(-np.log(true).mean()),
            "brier": float(np.mean((p**2).sum(axis=1) - 2 * true + 1))}


def classifier(model, calibrated=True):
    """The `Classifier` that gives the probabilities of all classes."""
    tree = "full" if model.tree.hierarchical and len(model.tree.roots) == 1 else "recursive"
    return Classifier(model, Decoding(tree=tree, calibrated=calibrated))


# Which settings are good

class Answers:
    """SVMs for splits of classes, trained once for all trees that have them, and their answers."""

    def __init__(self, part):
        self.part, self._known, self.held = part, {}, None

    def learn(self, nodes):
        """Train those that are not known."""
        part, nodes = self.part, [one for one in dict.fromkeys(nodes) if one not in self._known]
        if not nodes:
            return
        # one of all classes, as no class may be without a classifier
        rows = [*nodes, ((0,), tuple(part.labels[1:]))]
        configuration, held = train_configuration(
            from_rows(rows, part.labels), part.x, part.y, TrainingSettings(
                part.options, loo=True, calibration=len(part.y)))
        given = HeldOutValues(configuration, held)
        everyone = range(given.count)
        step = given.rows(len(part.labels))
        old = np.concatenate([given(everyone, given.load(at, min(at + step, len(held.rows))))[1]
                              for at in range(0, len(held.rows), step)])
        values = MachineValues(configuration)
        new = np.concatenate([values(everyone, part.new[at:at + step])[1]
                              for at in range(0, len(part.new), step)])
        self.held = held.y
        for number, node in enumerate(nodes):
            self._known[node] = (1 + old[:, number]) / 2, (1 + new[:, number]) / 2

    def probabilities(self, pairs):
        """Those (n, k) of training points, held out, and of new ones, by a tree."""
        nodes = nodes_of(oriented(pairs))
        self.learn(nodes)
        for which, n in enumerate((len(self.held), len(self.part.true))):
            p = np.ones((n, len(self.part.labels)))
            for node in nodes:
                for side, q in zip(node, (1 - self._known[node][which], self._known[node][which])):
                    p[:, list(side)] *= q[:, None]
            yield p

    def scores(self, trees):
        """Those of the average of some trees, with a temperature and a floor."""
        self.learn([node for pairs in trees for node in nodes_of(oriented(pairs))])
        old, new = (sum(both) / len(trees) for both in zip(*map(self.probabilities, trees)))
        return scores(apply_map(fit_temperature(old, self.held), new), self.part.true)


def machines(part, found):
    """{name: `NystromOptions`} that are tried; found: what the default comes to."""
    own, c = machine_options(part.options), float(part.options.split("-c ")[1].split()[0])
    least = len(np.unique(part.x, axis=0))
    return {f"{p} landmarks": replace(own, landmarks=p) for p in (200, 800) if p < least} | {
        f"lambda x {share:g}": replace(own, ridge=share * found.ridge)
        for share in (.1, 10, 100, 1000)} | {"lambda 1 / C": replace(own, ridge=1 / c),
                                             "own gamma": NystromOptions()}


def ensembles(part, costs):
    """{name: trees} that are tried."""
    drawn, generator = part.random(2 * DRAWS), np.random.default_rng(part.number)

    def weighted(weights):
        return [costs.best(groups=one)[0].pairs for one in weights]
    few = [np.isin(np.arange(GROUPS), generator.permutation(GROUPS)[:size]) * GROUPS / size
           for size in (2, 5) for _ in range(MEMBERS)]
    found = {kind: part.random(MEMBERS, kind) for kind in KINDS}
    return found | {
        "the best": [one.pairs for one in costs.best(MEMBERS)],
        "the best of 200 uniform": sorted(drawn, key=costs.loss_of)[:MEMBERS],
        "different best ones": costs.different(MEMBERS), "of fifths": weighted(few[:MEMBERS]),
        "of halves": weighted(few[MEMBERS:]),
        "of bootstrap weights": weighted(GROUPS * generator.dirichlet(np.ones(GROUPS), MEMBERS))}


def settings(args):
    """Add lines (data, split, "settings", name) of scores to the state."""
    state = State(args.state)
    for part in parts(args, state):
        def add(name, trees, **values):
            state.add((part.name, part.number, "settings", name), **answers.scores(trees),
                      ratio=part.ratio, **values)

        if (part.name, part.number, "settings", "cheapest tree") in state.lines:
            continue
        answers, costs = Answers(part), part.costs(count=FEW_SPLITS)
        drawn = [answers.scores([pairs]) for pairs in part.random(40)]
        state.add((part.name, part.number, "settings", "median random tree"), ratio=part.ratio,
                  **{score: median(one[score] for one in drawn) for score in SCORES})
        for name, machine in {"default": None, **machines(part, costs.splits.options)}.items():
            one = part.costs(machine, FEW_SPLITS) if machine else costs
            best = [found.pairs for found in one.best(MEMBERS)]
            add(f"{name}: best", best[:1], asked=one.queries(best[0]))
            add(f"{name}: ensemble", best)
        for name, trees in ensembles(part, costs).items():
            add(f"members: {name}", trees, different=len(set(trees)))
        add("best of 100 random", [min(part.random(DRAWS), key=costs.loss_of)])
        cheap = costs.best(balance=.01)[0].pairs
        add("cheapest tree", [cheap], asked=costs.queries(cheap))


# Designs with SVMs

def _made(scheme, part, **settings):
    return make(scheme, part.labels, x=part.x, y=part.y, options=part.options,
                      seed=part.number, **settings)


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
    "random tree": (lambda part: part.tree(drawn_tree("uniform", np.bincount(part.y),
                                                      part.number)), False),
    "best of 100 random": (lambda part: _best_of(part.random(DRAWS), part), False),
    "best tree": (lambda part: part.tree(part.searched[0].best()[0].pairs), True),
    "10 random trees": (lambda part: _ensemble(part.random(MEMBERS), part), False),
    "10 best trees": (lambda part: _ensemble(
        [one.pairs for one in part.searched[0].best(MEMBERS)], part), True),
    "10 class-balanced trees": (lambda part: _ensemble(
        part.random(MEMBERS, "class-balanced"), part), False),
    "10 different best trees": (lambda part: _ensemble(
        part.searched[0].different(MEMBERS), part), True),
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
            asked = sum(shares[list(left + right)].sum() for left, right in tree.sides()) \
                if single else len(tree.rows)
            state.add(key, **scores(p, part.true), ratio=part.ratio, asked=asked,
                      classifiers=len(set(matrix_of(tree)[0])),
                      design=seconds + search_seconds, train=used,
                      answer=answering, support_vectors=len(model.machines.sv))


def table(args):
    """Print what the state holds."""
    groups = {}
    for key, line in State(args.state).lines.items():
        if len(key) == 4:
            name, number, kind, design = key
            groups.setdefault((name, kind), {}).setdefault(design, {})[number] = line
    for (name, kind), found in groups.items():
        base = "one-vs-one" if kind == "designs" else "median random tree"
        print(f"\n{name}, {kind}: differences of log loss, and p of the corrected t test, from "
              f"{base}\n")
        head("design", "splits", *SCORES, "classifiers", "asked", "search s", "training s",
             "difference", "p")
        for design, lines in found.items():
            both = sorted(lines.keys() & found.get(base, {}).keys())
            test = resampled_t([lines[number]["log_loss"] - found[base][number]["log_loss"]
                                for number in both], next(iter(lines.values()))["ratio"])

            def average(word, form=".1f"):
                values = [line[word] for line in lines.values() if word in line]
                return f"{mean(values):{form}}" if values else ""
            row(design, len(lines), *(spread([line[score] for line in lines.values()])
                                      for score in SCORES),
                average("classifiers", ".0f"), average("asked"), average("design"),
                average("train"), f"{test.mean:+.4f}", f"{test.p_value:.3f}")


def honest(args):
    """Print the losses that searches promise beside those of the same classifiers in new rows."""
    found, state = {}, State(args.state)
    for part in parts(args, state):
        costs, _ = part.searched
        best = costs.best()[0].pairs
        model = fit(part.tree(best), part.x, part.y, options=costs.splits.options.canonical(),
                    loo=True)
        found.setdefault(part.name, []).append((costs.loss_of(best), costs.holdout()[0], *(
            scores(classifier(model, one).probabilities(part.new), part.true)["log_loss"]
            for one in (False, True))))
    head("data", "splits", "least loss", "judged apart", "new rows", "new rows, calibrated",
         "apart / least", "new / least", "new / apart")
    for name, lines in found.items():
        least, apart, new, _ = map(mean, zip(*lines))
        row(name, len(lines), *map(spread, zip(*lines)),
            *(f"{one:.3f}" for one in (apart / least, new / least, new / apart)))


def shuffled(args):
    """Print the scores of designs where classes are permuted, and what is promised there."""
    found, state = {}, State(args.state)
    for part in parts(args, state):
        part.y = np.random.default_rng(part.number).permutation(part.y)
        shares = np.bincount(part.y) / len(part.y)
        chance = shares.max(), float(-np.log(shares[part.true]).mean())
        costs, _ = part.searched
        for name in ("one-vs-one", "best tree", "10 different best trees"):
            model = fit(DESIGNS[name][0](part), part.x, part.y, options=part.options, loo=True)
            one = scores(classifier(model).probabilities(part.new), part.true)
            promised = (costs.loss_of(costs.best()[0].pairs), costs.holdout()[0]) \
                if name == "best tree" else ()
            found.setdefault((part.name, name), []).append(
                (one["accuracy"], chance[0], one["log_loss"], chance[1], *promised))
    head("data", "design", "splits", "accuracy", "largest class", "log loss", "of the shares",
         "promised", "judged apart")
    for (name, design), lines in found.items():
        row(name, design, len(lines), *map(spread, zip(*lines)))


def cost(args):
    """Print seconds and memory of print_control -Q best-tree with one thread."""
    os.environ["PYTHONPATH"] = str(ROOT)  # of the commands
    from growth import run
    from agfmc.data.libagf import write_cls, write_vec
    head("data", "rows", "options", "s", "MB")
    args.splits = 1
    for part in parts(args, State(args.state)):
        with tempfile.TemporaryDirectory() as folder:
            write_vec(Path(folder) / "train.vec", part.x.astype("f4"))
            write_cls(Path(folder) / "train.cls", part.y.astype("i4"))
            for words in ([], ["--splits", "4000"], ["--search-options", "-m 200"]):
                found = run(folder, "print_control", "-j", "1", "-Q", "best-tree", "--options",
                            part.options, *words, "train")
                row(part.name, len(part.y), " ".join(words), *(f"{one:.1f}" for one in found))


def main():
    """Read the options and do what they say."""
    known = {part.__name__: part for part in (settings, designs, table, honest, shuffled, cost)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=known)
    for word, default in (("data", str(ROOT.parent / "shared" / "datasets")), ("state", None),
                          ("sets", "segment,sat,pendigits,letter"),
                          ("designs", ",".join(DESIGNS))):
        parser.add_argument(f"--{word}", default=default)
    for word in ("splits", "rows"):
        parser.add_argument(f"--{word}", type=int)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    known[args.part](args)


if __name__ == "__main__":
    main()
