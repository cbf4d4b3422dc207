#!/usr/bin/env python3
"""Is what --best chooses as good as every candidate? Held-out scores of the choice and of each.

Of every data set a part is drawn and split several times. On the training part the choice is
made as `print_control --best` makes it, by cross-validation inside that part; then every
candidate is trained on all of it, and scored on the other part. A candidate that is better than
the choice by more than one standard error of the difference (over the outer splits, corrected) is
marked.

    python tests/benchmarks/best_choice.py [--splits N] [--points N] [--parts N] [--trials N]
        [--fraction F] [--by SCORE] [--uncalibrated] [FILE.svm ...] [--samples NAME ...]

The files are LIBSVM text; the samples, digits.svm and ordered without --samples, are those of
sample_data. A learned decoder needs 50 points for each class in the parts that --best trains on.
"""

import argparse
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
SAMPLES = ROOT / "sample_data"

from agfmc.designs.schemes import COMPARED  # noqa: E402
from agfmc.data.training import load_training  # noqa: E402
from agfmc.experiments.candidates import read_candidates  # noqa: E402
from agfmc.experiments.comparison import find_best  # noqa: E402
from agfmc.experiments.experiment import Experiment, SplitPlan  # noqa: E402
from agfmc.experiments.pooling import difference_of, pooled, summary  # noqa: E402
from agfmc.files.result_store import ResultCache  # noqa: E402
from agfmc.experiments.trial import run_trial  # noqa: E402
from agfmc.data.types import Dataset, InputFormat  # noqa: E402
from agfmc.core.splits import split_stratified  # noqa: E402
from agfmc.score.rows import BY_OPTION, SCORES  # noqa: E402
from agfmc.training.fit import TrainingSettings  # noqa: E402

OPTIONS = {"ordered": "-c 10 -g 0.005"}  # of data sets that the others do not suit
NUMBERS = ("log_loss", "brier", "accuracy")


def read(path):
    """The `Dataset` of LIBSVM text, or of a base name."""
    kind = "svm" if path.suffix == ".svm" else "binary"
    return load_training(str(path), InputFormat(kind=kind))[0]


def drawn(data, points):
    """At most `points` of the data, with the shares of the classes."""
    if len(data.y) <= points:
        return data
    kept, _ = split_stratified(data.y, 1 - points / len(data.y), 1)
    return Dataset(data.x[kept], data.y[kept])


def choices(data, options, args):
    """(row of each choice, {row: its outcome on each outer split})."""
    settings = TrainingSettings(options, scale=True)
    inner = SplitPlan(None, args.parts, args.trials)
    outer = Experiment(
        data,
        SplitPlan(args.fraction, None, args.splits),
        settings,
        ResultCache(None),
        calibrated=(not args.uncalibrated,),
    )
    candidates = read_candidates((*COMPARED, "adjacent-ordered"))
    chosen, outcomes = [], {}
    for split in outer.splits():
        kept = np.setdiff1d(np.arange(len(data.y)), split.rows)
        part = Dataset(data.x[kept], data.y[kept])
        choice = find_best(replace(outer, data=part, plan=inner), candidates, by=BY_OPTION[args.by])
        chosen.append((choice.row["configuration"], choice.row["decoder"]))
        for outcome in run_trial(split, candidates, outer):
            if outcome.error is not None:
                raise outcome.error
            row = candidates[outcome.candidate].name, outcome.decoder
            outcomes.setdefault(row, []).append(outcome)
    return chosen, outcomes, outer.plan


def cells(parts):
    """Pooled scores of outcomes, with deviations."""
    texts = []
    for name in NUMBERS:
        values = [part.scores[name] for part in parts]
        texts.append(f"{pooled(name, parts):9.4f} ±{summary(values)['sd']:.4f}")
    return "".join(texts)


def report(name, chosen, outcomes, plan):
    """Print the table of a data set; -> how many candidates are better by more than an error."""
    best = [outcomes[row][number] for number, row in enumerate(chosen)]
    print(
        f"{name}\n{'':32s}"
        + "".join(f"{SCORES[score].head:>17s}" for score in NUMBERS)
        + f"{'log loss - that of the choice':>32s}"
    )
    print(f"{'the choice of --best':32s}{cells(best)}")
    worse = 0
    for row, parts in outcomes.items():
        found = difference_of("log_loss", best, parts, plan)
        mark = " better" if -found.gain > found.error else ""
        worse += bool(mark)
        times = chosen.count(row)
        print(
            f"{' '.join(row):32s}{cells(parts)}{found.gain:+14.4f} ±{found.error:.4f}{mark:8s}"
            f"{f'chosen {times} of {len(chosen)}' if times else ''}"
        )
    print(
        f"the choice is {'WORSE' if worse else 'not worse'} than a candidate by more than one "
        "standard error\n"
    )
    return worse


def main():
    """Read the data, choose, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--options", default="-c 10")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--points", type=int, default=1500)
    parser.add_argument("--fraction", type=float, default=0.3)
    parser.add_argument("--samples", nargs="*", default=["digits.svm", "ordered"])
    parser.add_argument("--parts", type=int, default=5)
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--by", choices=BY_OPTION, default="log-loss")
    parser.add_argument("--uncalibrated", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    worse = 0
    for path in (*args.files, *(SAMPLES / name for name in args.samples)):
        start = time.process_time()
        data = drawn(read(path), args.points)
        chosen, outcomes, plan = choices(data, OPTIONS.get(path.name, args.options), args)
        worse += report(
            f"{path.stem}: {len(data.y)} points, {len(np.unique(data.y))} classes, "
            f"{args.splits} splits",
            chosen,
            outcomes,
            plan,
        )
        print(f"{time.process_time() - start:.0f} s\n", flush=True)
    return worse > 0


if __name__ == "__main__":
    sys.exit(main())
