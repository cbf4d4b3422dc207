#!/usr/bin/env python3
"""What a search promises, and what comes true: its score, its estimate, and the score on the rest.

Of a data set some rows, with the shares of the classes, are searched as tune_m does; the options
found are trained on all of these rows and scored on the others. This is done with many draws of
the rows, for a search by log loss and for one by accuracy.

    python tests/benchmarks/promises.py [--draws 20] [--search fast] [--by SCORE,...]
        [--only NAME] [--state FILE] DIR

DIR holds segment.svm, sat.svm, pendigits.svm and letter.svm.
"""

import argparse
import json
import math
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from agfmc.data.training import load_training  # noqa: E402
from agfmc.experiments.candidates import read_candidate  # noqa: E402
from agfmc.experiments.experiment import Experiment, prepare_split, Split, SplitPlan  # noqa: E402
from agfmc.files.result_store import ResultCache  # noqa: E402
from agfmc.experiments.search import SearchSpace  # noqa: E402
from agfmc.experiments.trial import run_trial  # noqa: E402
from agfmc.experiments.tuning import prepare_tuning, tune  # noqa: E402
from agfmc.data.types import Dataset, InputFormat  # noqa: E402
from agfmc.core.splits import stratified_sample  # noqa: E402
from agfmc.training.fit import TrainingSettings  # noqa: E402

MOST = 4000  # rows that the result is scored on
# {name: (data, classes, rows that are searched)}
SIZES = {
    "segment, half": ("segment", 7, 1155),
    "sat, 600 rows": ("sat", 6, 600),
    "pendigits, 170 rows": ("pendigits", 9, 170),
    "letter, 170 rows": ("letter", 9, 170),
}


def draws(data, classes, rows, seed):
    """The points of some classes of a `Dataset`, their rows to be searched, and to be scored."""
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.unique(data.y))[:classes]
    there = generator.permutation(np.flatnonzero(np.isin(data.y, labels)))
    there = Dataset(data.x[there], data.y[there])
    train = np.sort(stratified_sample(there.y, rows, seed))
    return there, train, np.setdiff1d(np.arange(len(there.y)), train)[:MOST]


def promise(data, train, rest, by, search):
    """{"searched", "estimate", "error", "truth", "options"} of one search."""
    settings = TrainingSettings(scale=True)
    cache, candidate = ResultCache(None), read_candidate("one-vs-one")
    searched = Experiment(
        Dataset(data.x[train], data.y[train]), SplitPlan(None, 5, 1, 1), settings, cache
    )
    result, tree = tune(prepare_tuning(searched, candidate), SearchSpace(), by=by, search=search)
    best = result["points"][result["best"]]
    split = prepare_split(Split("all", train, rest), data, settings)
    [outcome] = run_trial(
        split,
        [replace(candidate, tree=tree)],
        Experiment(data, SplitPlan(), settings, cache),
        first=True,
    )
    told = result["estimate"] or {"score": math.nan, "error": math.nan}
    return {
        "searched": best["score"],
        "estimate": told["score"],
        "error": told["error"],
        "truth": outcome.scores[by],
        "options": best["options"],
        "how": told.get("how"),
        "tried": result["tried"],
    }


def spread(values):
    """Mean and deviation as text."""
    return f"{mean(values):.4f} ± {stdev(values):.4f}" if len(values) > 1 else f"{values[0]:.4f}"


def summary(name, by, lines):
    """Print the lines of one size and score."""
    gap = [line["estimate"] - line["truth"] for line in lines]
    within = [abs(apart) / line["error"] for apart, line in zip(gap, lines)]
    first = [line["searched"] - line["truth"] for line in lines]
    print(
        f"{name} | {by} | {len(lines)} | {spread([line['searched'] for line in lines])} | "
        f"{spread([line['estimate'] for line in lines])} | {mean(l['error'] for l in lines):.4f} "
        f"| {spread([line['truth'] for line in lines])} | {mean(first):+.4f} | {spread(gap)} | "
        f"{mean(one < 1 for one in within):.2f} {mean(one < 2 for one in within):.2f}",
        flush=True,
    )


def main():
    """Read the options and do what they say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--search", default="fast")
    parser.add_argument("--state", help="a file of lines, for later runs to go on with")
    parser.add_argument("--by", default="log_loss,accuracy")
    parser.add_argument("--only", action="append")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    state = Path(args.state) if args.state else None
    done = {}
    for text in state.read_text().splitlines() if state and state.exists() else []:
        line = json.loads(text)
        done[line["name"], line["by"], line["draw"], line["search"]] = line
    sizes = {
        name: size
        for name, size in SIZES.items()
        if not args.only or name.startswith(tuple(args.only))
    }
    points = {
        file: load_training(str(Path(args.folder) / f"{file}.svm"), InputFormat("svm"))[0]
        for file in {file for file, _, _ in sizes.values()}
    }
    scores = args.by.split(",")
    wanted = [
        (name, by, draw, args.search)
        for draw in range(args.draws)
        for by in scores
        for name in sizes
    ]
    for key in wanted:
        if key not in done:
            name, by, draw, search = key
            file, classes, rows = sizes[name]
            done[key] = dict(zip(("name", "by", "draw", "search"), key)) | promise(
                *draws(points[file], classes, rows, draw), by, search
            )
            if state:
                with state.open("a") as out:
                    out.write(json.dumps(done[key]) + "\n")
    print(
        "data | score | draws | searched | estimate | its standard error | on the rest | "
        "searched - rest | estimate - rest | share within 1 and 2 errors"
    )
    for name in sizes:
        for by in scores:
            summary(name, by, [done[key] for key in wanted if key[:2] == (name, by)])


if __name__ == "__main__":
    main()
