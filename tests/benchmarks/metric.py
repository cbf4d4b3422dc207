#!/usr/bin/env python3
"""A metric learned from the data: what it brings, and what it costs.

Parts:

    accuracy    one-vs-one, SVMs and landmarks, calibrated: standardised features, and those of a
                learned metric, with the rounds that it chooses (auto) and others
    peers       boosted trees (scikit-learn, LightGBM) and xrfm on the same splits, where these
                packages are installed
    table       what the state file holds of these two: means, deviations, paired differences
    rounds      a round beside one training of one-vs-rest rows
    components  few directions against all: scores, and seconds for 50,000 points
    large       a million rows, and many features: seconds and memory

    python tests/benchmarks/metric.py PART [--data DIR] [--state FILE] [--sets NAME,...]
        [--splits N] [--metrics auto,1,2,3,diagonal] [--learners svm,nystrom] [--peers NAME,...]

DIR holds segment.svm, sat.svm, pendigits.svm and letter.svm; digits and ordered are those of
sample_data. 30 % of each class are held out, in ten splits, of letter in three. Options of the
learners are searched as tune_m does, by log loss, in at most 1000 rows of the training part of the
first split, without and with a metric alike, which is learned, in one round, inside each part of
the search. Finished lines are kept in the state file. Seconds are of processor, on one core.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path
from statistics import mean, stdev

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
                                "1"))
import numpy as np  # noqa: E402
from calibration import load  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from agfmc.api import train as fit  # noqa: E402
from agfmc.data_tools.metric import (fitted_normalisation, learn_metric,  # noqa: E402
                                     MetricOptions)
from agfmc.experiments.candidates import Candidate  # noqa: E402
from agfmc.experiments.experiment import Experiment, SplitPlan  # noqa: E402
from agfmc.experiments.tuned import find_options  # noqa: E402
from agfmc.models import Dataset  # noqa: E402
from agfmc.prepare.split import split_stratified, stratified_sample  # noqa: E402
from agfmc.training.fit import TrainingSettings  # noqa: E402

LANDMARKS = {"segment": 400, "ordered": 300, "digits": 500, "sat": 1000, "pendigits": 500,
             "letter": 1500}
# of LightGBM: small trees of random features, better than its own options on most of the sets
SMALL = {"learning_rate": .03, "num_leaves": 15, "min_child_samples": 5, "subsample": .8,
         "subsample_freq": 1, "colsample_bytree": .5}
LEARNERS = {"svm": "%.0s", "nystrom": "learner=nystrom -m %d"}
SEARCHED, CLASSIFIED, LEAST = 1000, 50_000, 1e-15
SCORES = "accuracy", "log_loss"


class State:
    """Lines of JSON by their keys, in a file that later runs go on with."""

    def __init__(self, path):
        self.path, self.lines = path, {}
        if path and os.path.exists(path):
            for text in Path(path).read_text(encoding="ascii").splitlines():
                line = json.loads(text)
                self.lines[tuple(line["key"])] = line

    def add(self, key, **values):
        self.lines[key] = {"key": key, **values}
        print(json.dumps(self.lines[key]), flush=True)
        if self.path:
            with open(self.path, "a", encoding="ascii") as out:
                out.write(json.dumps(self.lines[key]) + "\n")


def points(name, args):
    """x (n, d) and y (n,) from 0 of a data set."""
    samples = ROOT / "sample_data"
    return load(name, {"ordered": samples / "ordered", "digits": samples / "digits.svm"}.get(
        name, Path(args.data) / f"{name}.svm"))


def splits(name, args):
    return range(1, (args.splits or (3 if name == "letter" else 10)) + 1)


def scores(p, y):
    """Accuracy and log loss of probabilities p (n, k) for classes y (n,)."""
    p = np.maximum(p, LEAST)
    p = p / p.sum(axis=1, keepdims=True)
    return {"accuracy": float(np.mean(p.argmax(axis=1) == y)),
            "log_loss": float(-np.log(p[np.arange(len(y)), y]).mean())}


def search(x, y, learner, name, metric):
    """Training options for points x, y, found as tune_m finds them, in some of the rows."""
    some = stratified_sample(y, SEARCHED, 1)
    settings = TrainingSettings(LEARNERS[learner] % LANDMARKS[name], scale=True, loo=True,
                                metric=metric)
    result, _ = find_options(
        Experiment(Dataset(x[some], y[some]), SplitPlan(parts=5, trials=1), settings,
                   calibrated=(True,)),
        Candidate("one-vs-one", None, "one-vs-one", design={"seed": 1}))
    return result["points"][result["best"]]["options"]


def trained(x, y, normalisation, options):
    """A calibrated configuration, one-vs-one."""
    return fit("one-vs-one", x, y, options=options, normalisation=normalisation, loo=True)


def maps(x, y, wanted):
    """{metric: (Normalisation, processor seconds)} of points; "none" is the standardisation."""
    found = {"none": (fitted_normalisation(x, y), 0.0)}
    for word in wanted:
        options = {"auto": MetricOptions(), "diagonal": MetricOptions(diagonal=True)}.get(word)
        start = time.process_time()
        made = learn_metric(x, y, found["none"][0],
                            options if options is not None else MetricOptions(rounds=int(word)))
        found[word] = made, time.process_time() - start
    return found


def accuracy(args):
    """Add lines (data, split, learner, metric) of scores to the state."""
    state, wanted, learners = State(args.state), args.metrics.split(","), args.learners.split(",")
    for name in args.sets.split(","):
        x, y = points(name, args)
        for number in splits(name, args):
            keys = {(name, number, learner, word) for learner in learners
                    for word in ("none", *wanted)} - state.lines.keys()
            if not keys:
                continue
            train, test = split_stratified(y, .3, number)
            found = maps(x[train], y[train], [word for word in wanted if any(
                key[3] == word for key in keys)])
            for _, _, learner, word in sorted(keys):
                normalisation, seconds = found[word]
                learned = normalisation.metric
                told = {"learn": seconds} | ({"rounds": learned.rounds, "losses": learned.losses}
                                             if learned else {})
                key = name, "options", learner, "learned" if learned and learned.rounds else "none"
                if key not in state.lines:
                    first, _ = split_stratified(y, .3, 1)
                    metric = MetricOptions(rounds=1) if key[3] == "learned" else None
                    state.add(key, options=search(x[first], y[first], learner, name, metric))
                start = time.process_time()
                model = trained(x[train], y[train], normalisation, state.lines[key]["options"])
                told["cpu"] = time.process_time() - start
                p = model.classifier().probabilities(x[test])
                state.add((name, number, learner, word), **scores(p, y[test]), **told)


def peers(args):
    """Add lines (data, split, package, "none") of scores to the state."""
    state = State(args.state)
    for name in args.sets.split(","):
        x, y = points(name, args)
        for number in splits(name, args):
            train, test = split_stratified(y, .3, number)
            for package in args.peers.split(","):
                if (name, number, package, "none") in state.lines:
                    continue
                start = time.process_time()
                p = PACKAGES[package](x[train], y[train], x[test], number)
                state.add((name, number, package, "none"), **scores(p, y[test]),
                          cpu=time.process_time() - start)


def boosted_sklearn(x, y, new, seed):
    """Probabilities of points by scikit-learn; the number of trees by 15 % that are held out."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    return HistGradientBoostingClassifier(
        learning_rate=.05, max_iter=1000, early_stopping=True, validation_fraction=.15,
        n_iter_no_change=20, random_state=seed).fit(x, y).predict_proba(new)


def boosted_lightgbm(x, y, new, seed, **options):
    """Probabilities of points by LightGBM: as many trees as suit 15 %, then of all points."""
    import lightgbm
    few, held_out = split_stratified(y, .15, seed + 100)
    fixed = {"learning_rate": .05, "n_jobs": 1, "verbose": -1, "random_state": seed} | options
    tried = lightgbm.LGBMClassifier(n_estimators=1500, **fixed).fit(
        x[few], y[few], eval_set=[(x[held_out], y[held_out])],
        callbacks=[lightgbm.early_stopping(20, verbose=False)])
    return lightgbm.LGBMClassifier(n_estimators=tried.best_iteration_, **fixed).fit(
        x, y).predict_proba(new)


def recursive_machine(x, y, new, seed, tempered=True):
    """Probabilities of points by xrfm; its iterations, and a temperature, are judged by 20 %."""
    import torch
    from xrfm import xRFM
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    few, held_out = split_stratified(y, .2, seed + 100)
    centre, deviation = x.mean(axis=0), x.std(axis=0)
    x, new = (((part - centre) / np.where(deviation > 0, deviation, 1)).astype(np.float32)
              for part in (x, new))
    model = xRFM(device="cpu", tuning_metric="logloss", verbose=False)
    model.fit(x[few], y[few], x[held_out], y[held_out])
    found, judged = (np.maximum(model.predict_proba(part), 1e-6) for part in (new, x[held_out]))
    powers = np.exp(np.linspace(-1, 3, 81)) if tempered else [1.0]
    best = min(powers, key=lambda power: scores(judged**power, y[held_out])["log_loss"])
    return found**best


PACKAGES = {"hgb": boosted_sklearn, "lgb": boosted_lightgbm,
            "lgb-small": partial(boosted_lightgbm, **SMALL),
            "xrfm": partial(recursive_machine, tempered=False), "xrfm-tempered": recursive_machine}


def spread(values, form=".4f"):
    """Mean and deviation as text."""
    return f"{mean(values):{form}}" + (f" ± {stdev(values):{form}}" if len(values) > 1 else "")


def table(args):
    """Print what the state holds."""
    groups = {}
    for (name, number, model, metric), line in State(args.state).lines.items():
        if number != "options":
            groups.setdefault((name, model, metric), {})[number] = line
    print("| data | model | metric | splits | accuracy | log loss | rounds | learning s | "
          "less without: log loss | accuracy |\n" + "|---" * 10 + "|")
    for (name, model, metric), lines in sorted(groups.items()):
        rows = [lines[number] for number in sorted(lines)]
        rounds = "".join(str(line.get("rounds", "-")) for line in rows)
        differences = []
        plain = groups.get((name, model, "none"), {})
        both = plain.keys() & lines.keys() if metric != "none" else ()
        for score in reversed(SCORES):
            gaps = [lines[number][score] - plain[number][score] for number in both]
            differences.append(f"{mean(gaps):+.4f} ± {stdev(gaps) / len(gaps)**.5:.4f}"
                               if len(gaps) > 1 else "")
        print("|", " | ".join([name, model, metric, str(len(rows)), *(spread(
            [line[score] for line in rows]) for score in SCORES), rounds,
            spread([line.get("learn", 0.0) for line in rows], ".1f"), *differences]), "|")


def rounds(args):
    """Print a round's seconds beside those of one training of one-vs-rest rows."""
    print("| data | rows | auto | one round | each more | one-vs-rest nystrom | svm | "
          "a round / nystrom | / svm |\n" + "|---" * 9 + "|")
    for name in args.sets.split(","):
        x, y = points(name, args)
        base = fitted_normalisation(x, y)
        calls = [partial(learn_metric, x, y, base, MetricOptions(rounds=count))
                 for count in (None, 1, 3)]
        calls += [partial(fit, "one-vs-rest", x, y, options=options, loo=True, normalisation=base)
                  for options in ("learner=nystrom", "")]
        seconds = []
        for call in calls:
            start = time.process_time()
            call()
            seconds.append(time.process_time() - start)
        auto, one, three, landmarks, svm = seconds
        print(f"| {name} | {len(y)} | {auto:.1f} | {one:.1f} | {(three - one) / 2:.1f} | "
              f"{landmarks:.1f} | {svm:.1f} | {one / landmarks:.2f} | {one / svm:.2f} |",
              flush=True)


def components(args):
    """Print the scores and seconds of few directions."""
    state = State(args.state)
    print("| data | learner | components | accuracy | log loss | support vectors | s |\n"
          + "|---" * 7 + "|")
    for name in args.sets.split(","):
        x, y = points(name, args)
        train, test = split_stratified(y, .3, 1)
        new = np.resize(x[test], (CLASSIFIED, x.shape[1]))
        for kept in (None, .99, .95, .9, .8):
            made = fitted_normalisation(x[train], y[train],
                                        metric=MetricOptions(args.rounds, components=kept))
            for learner in args.learners.split(","):
                options = state.lines.get((name, "options", learner, "learned"))
                model = trained(x[train], y[train], made,
                                options["options"] if options else
                                LEARNERS[learner] % LANDMARKS[name])
                found = scores(model.classifier().probabilities(x[test]), y[test])
                start = time.process_time()
                model.classifier().probabilities(new)
                print(f"| {name} | {learner} | {kept or 'all'}: {made.matrix.shape[1]} | "
                      f"{found['accuracy']:.4f} | {found['log_loss']:.4f} | "
                      f"{len(model.machines.sv)} | {time.process_time() - start:.1f} |",
                      flush=True)


def large(args):
    """Print seconds and memory of agf_preprocess on many rows, and on many features."""
    from growth import run
    from agfmc.formats.vectors import write_cls, write_vec
    print("| rows | features | options | s | MB |\n" + "|---" * 5 + "|")
    for n, d, options in ((1_000_000, 20, ""), (1_000_000, 20, "--learn-metric"),
                          (2000, 500, "--learn-metric"), (2000, 5000, "--learn-metric --diagonal")):
        rng = np.random.default_rng(1)
        with tempfile.TemporaryDirectory() as folder:
            x = rng.normal(size=(n, d)).astype("f4")
            # four classes, by a turned pair of features and a product of two others
            y = (x[:, 0] + x[:, 1] > .3 * x[:, 4]) + 2 * (x[:, 2] * x[:, 3] > 0)
            write_vec(Path(folder) / "train.vec", x)
            write_cls(Path(folder) / "train.cls", y.astype("i4"))
            seconds, memory = run(folder, "agf_preprocess", "-n", *options.split(), "train", "out")
        print(f"| {n} | {d} | -n {options} | {seconds:.1f} | {memory:.0f} |", flush=True)


def main():
    """Read the options and do what they say."""
    parts = {part.__name__: part for part in (accuracy, peers, table, rounds, components, large)}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=parts)
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "datasets"))
    parser.add_argument("--state")
    parser.add_argument("--sets", default=",".join(LANDMARKS))
    parser.add_argument("--splits", type=int)
    parser.add_argument("--metrics", default="auto")
    parser.add_argument("--learners", default="svm,nystrom")
    parser.add_argument("--peers", default=",".join(PACKAGES))
    parser.add_argument("--rounds", type=int, help="of `components`; by default auto")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    parts[args.part](args)


if __name__ == "__main__":
    main()
